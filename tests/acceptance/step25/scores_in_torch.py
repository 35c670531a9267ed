"""Scores in torch know their clients: sums moved by name across processes, merges and checkpoints, others refused."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from torch import distributed

import nbmetrics as nm
from nbmetrics.torch import Score
from tests.acceptance.harness import Part, share
from tests.rooms import ROOT
from tests.test_torch_score_states import PARTS as SHARES
from tests.test_torch_score_states import WAYS, Scene, loaded, values

# Of the larger score, or of 1: with more rows than features.
TOLERANCE = 1e-9
SCENES_OF_GLOO = 12


def error(found, wanted):
    scale = max(1.0, *map(abs, wanted.values()))
    return max(abs(found[part] - wanted[part]) for part in wanted) / scale


def impostors(scene, rng):
    """States beside this scene's that are not of it: another name, weight or metric, and sums that no rows have."""
    names, state = scene.orders[0], scene.part(Score, 0).metric_state
    settings = {"clients": names, "weights": scene.weights}
    others = [
        (scene.metric, {**settings, "clients": [*names[1:], "rome"], "weights": None}),
        (nm.metrics.KID(nm.RandomFeatures(nm.RBF(7.0), 64)), settings),
        (scene.metric, {**settings, "weights": rng.dirichlet(np.ones(len(names))) if len(names) > 1 else None}),
    ]
    for metric, changed in others[: 2 + (len(names) > 1)]:
        yield Score(metric, **changed).metric_state | {n: state[n] for n in state if n != "identity"}
    for name in ("real_sums", "generated_sums"):
        broken = state[name].clone()
        broken[int(rng.integers(len(broken))), 1 + state["centre"].numel() :] *= -1.0
        yield {**state, name: broken}
    broken = state["real_sums"].clone()
    broken[int(rng.integers(len(broken))), 0] += float(rng.choice([0.5, -1e6]))
    yield {**state, "real_sums": broken}


def is_refused(take, state):
    try:
        take({name: value.clone() for name, value in state.items()})
    except nm.InvalidInput:
        return True
    return False


def scene_of_states(seed):
    scene, rng = Scene(10_000 + seed), np.random.default_rng(seed)
    wanted = scene.wanted()
    errors = {way.__name__: error(way(scene, Score), wanted) for way in WAYS}
    asked = refused = 0
    for state in impostors(scene, rng):
        for take in (scene.part(Score, 0).merge_state, lambda state: loaded(scene.empty(Score, 0), prefixed(state))):
            asked, refused = asked + 1, refused + is_refused(take, state)
    return {"errors": errors, "asked": asked, "refused": refused}


def prefixed(state):
    return {f"score.{name}": value for name, value in state.items()}


def judge_states(results):
    lines = []
    for way in results[0]["errors"]:
        largest = max(result["errors"][way] for result in results)
        lines.append((largest <= TOLERANCE, f"{way}: {len(results)} scenes, largest error {largest:.2g} of the score"))
    asked, refused = (sum(result[key] for result in results) for key in ("asked", "refused"))
    lines.append((asked == refused, f"other names, weights, metrics, impossible sums: refused {share(refused, asked)}"))
    return lines


# ---- processes


def in_process(rank, file, seed):
    distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=SHARES)
    outcomes = []
    for k in range(SCENES_OF_GLOO):
        scene = Scene(20_000 + SCENES_OF_GLOO * seed + k)
        outcomes.append(values(scene.part(Score, rank)))
        stranger = Score(scene.metric, clients=[*scene.names, "rome"][: len(scene.names) + (rank == 1)])
        try:
            outcomes.append(values(stranger))
        except nm.InvalidInput as refusal:
            outcomes.append(str(refusal))
    print(json.dumps(outcomes), flush=True)
    distributed.barrier()
    os._exit(0)  # torch ends gloo's threads in an order that may abort the process


def scenes_of_processes(seed):
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.acceptance.step25.scores_in_torch"]
        where = [str(Path(folder) / "group"), str(seed)]
        started = [
            subprocess.Popen([*command, str(rank), *where], cwd=ROOT, stdout=subprocess.PIPE, text=True)
            for rank in range(SHARES)
        ]
        outcomes = [json.loads(process.communicate(timeout=300)[0]) for process in started]
    wanted = [Scene(20_000 + SCENES_OF_GLOO * seed + k).wanted() for k in range(SCENES_OF_GLOO)]
    errors = [error(found, w) for own in outcomes for found, w in zip(own[::2], wanted, strict=True)]
    refusals = [text for own in outcomes for text in own[1::2]]
    named = sum(str(text).startswith("clients: process 1 has 'rome', ") for text in refusals)
    return {"error": max(errors), "scenes": SCENES_OF_GLOO, "refused": named, "asked": len(refusals)}


def judge_processes(results):
    largest, scenes = max(r["error"] for r in results), sum(r["scenes"] for r in results)
    asked, refused = (sum(r[key] for r in results) for key in ("asked", "refused"))
    return [
        (largest <= TOLERANCE, f"{SHARES} gloo processes, {scenes} scenes: largest error {largest:.2g} of the score"),
        (asked == refused, f"a client more in one process: refused in every process, by name {share(refused, asked)}"),
    ]


PARTS = [
    Part("score_states", scene_of_states, judge_states, quick=30, full=1_000),
    Part("score_processes", scenes_of_processes, judge_processes, quick=1, full=10),
]


if __name__ == "__main__":
    in_process(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
