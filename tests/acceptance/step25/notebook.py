"""A notebook loses nothing: no winner by the luck of a draw, keys of the notebook, labs saved after a restart."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np

import nbmetrics as nm
from nbmetrics.labs.playground.numbers import compute
from nbmetrics.labs.playground.scene import METRICS
from tests import ROOT
from tests.acceptance.harness import Part, share

DRAWN = ("precision", "recall", "density", "coverage", "fid")
POINTS = {"fid": 60}
FAR = 6.0
BROWSER = ROOT / "tests/browser/test_notebook.py"


def is_told(metric, sources, seed):
    """For avg and all, whether the numbers of one draw tell two generators apart."""
    lab = nm.Playground({name: nm.Gaussian([x, 0], np.eye(2)) for name, x in (("a", 0), ("b", 1))}, sources)
    scene = nm.Scene.parse(lab.scene)
    lab.close()
    result = compute(replace(scene, seed=seed, samples=POINTS.get(metric, 0), view={**scene.view, "metric": metric}))
    sign = -1 if METRICS[metric]["higher"] else 1
    told = {}
    for part in ("avg", "all"):
        first, second = (sign * value for value in result["scores"][metric][part])
        told[part] = bool(abs(first - second) > result["margins"][metric][part][0][1])
    return told


def headline_of_luck(seed):
    near, far = (nm.Gaussian([x, 0], np.eye(2)) for x in (0.5, FAR))
    pairs = {"alike": {"one": near, "other": near}, "unlike": {"near": near, "far": far}}
    return {
        kind: {metric: is_told(metric, sources, 1000 * seed) for metric in DRAWN} for kind, sources in pairs.items()
    }


def judge_luck(results):
    counts = {}
    for kind in ("alike", "unlike"):
        told = [answer[part] for one in results for answer in one[kind].values() for part in answer]
        counts[kind] = sum(told), len(told)
    (wrong, trials), (right, all_) = counts["alike"], counts["unlike"]
    error = (0.05 * 0.95 / max(1, trials)) ** 0.5
    return [
        (trials > 0 and wrong <= (0.05 + 3 * error) * trials, f"winners among alike: {share(wrong, trials)} of .05"),
        (
            all_ > 0 and right >= 0.9 * all_,
            f"winners named where one is {FAR:.0f} sd away: {share(right, all_)} of at least .9",
        ),
    ]


def drive(seed):
    """The tests of keys in every lab, and of a notebook saved after a restart in JupyterLab, in Chromium."""
    chosen = "wherever and plain" if seed == 0 else "after_a_drag or restarted"
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-m", "", str(BROWSER), "-k", chosen]
    done = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True)
    return {"code": done.returncode, "last": done.stdout.strip().splitlines()[-1]}


def judge_drive(results):
    return [(one["code"] == 0 and "passed" in one["last"], one["last"]) for one in results]


PARTS = [
    Part("notebook-luck", headline_of_luck, judge_luck, quick=10, full=400),
    Part("notebook-browser", drive, judge_drive, quick=1, full=2),
]
