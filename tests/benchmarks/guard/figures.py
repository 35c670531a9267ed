"""The figures: by name, a function that makes the rows and returns what is timed. Public names alone, so that an older
commit makes them too; the rows have decaying spectra, stand twice or have heavy tails, as real features do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import nbmetrics as nm

from ..distributions import DECAYING, DISTRIBUTIONS, features
from .frames import Page, frames_of

TREE = Path(nm.__file__).parents[1]
TWICE, HEAVY = DISTRIBUTIONS[2:]
FIGURES: dict[str, Callable[[], Callable[[], Any]]] = {}
# For what another thread answers.
TIMEOUT = 60.0


class Timed(NamedTuple):
    """What a figure says that is timed in another process."""

    seconds: float
    counts: dict[str, float]


def figure(name: str) -> Callable[..., Any]:
    def add(make: Callable[[], Callable[[], Any]]) -> Callable[[], Callable[[], Any]]:
        FIGURES[name] = make
        return make

    return add


def rows(n: int, d: int, seed: int, distribution: str = DECAYING, dtype: Any = np.float32) -> np.ndarray:
    return features(n, d, seed, dtype, distribution)


def sources(count: int, n: int, d: int, seed: int) -> dict[str, np.ndarray]:
    return {f"g{i}": rows(n, d, seed + i) for i in range(count)}


def clients(count: int, d: int, n: int = 100) -> list[np.ndarray]:
    """Clients of unequal sizes and spectra, every fourth with each row twice."""
    return [rows(n + 5 * i, d, i, TWICE if i % 4 == 3 else DECAYING) for i in range(count)]


@figure("import nbmetrics, and its evaluate")
def import_time() -> Callable[[], Timed]:
    code = "import numpy, time; t = time.perf_counter(); import nbmetrics as nm; nm.evaluate; "
    code += "s = time.perf_counter() - t; import sys; print(s, len(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": str(TREE)}

    def act() -> Timed:
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        seconds, modules = done.stdout.split()
        return Timed(float(seconds), {"modules": int(modules)})

    return act


@figure("FID of one pair, 1,200 × 2,048")
def fid_pair() -> Callable[[], Any]:
    return partial(nm.fid, rows(1200, 2048, 1), rows(1200, 2048, 2))


@figure("FID of a client of 400 rows, generator ready")
def fid_ready() -> Callable[[], Any]:
    from nbmetrics.metrics import FID, Sample

    metric, client = FID(), rows(400, 2048, 1)
    ready = metric.summarize(Sample(rows=rows(1200, 2048, 2)))
    return lambda: metric.distance(metric.summarize(Sample(rows=client)), ready)


@figure("FID of a client of 100 rows, each twice, generator ready")
def fid_small() -> Callable[[], Any]:
    from nbmetrics.metrics import FID, Sample

    metric, client = FID(), rows(100, 2048, 1, TWICE)
    ready = metric.summarize(Sample(rows=rows(1200, 2048, 2)))
    return lambda: metric.distance(metric.summarize(Sample(rows=client)), ready)


@figure("FID of kept clients, a second call")
def fid_second_call() -> Callable[[], Any]:
    federation = nm.Federation(clients(10, 512))
    return partial(nm.evaluate, federation, sources(1, 1000, 512, 20), "fid", progress=False)


@figure("KID exact, 3,000 × 3,000 × 2,048")
def kid_exact() -> Callable[[], Any]:
    return partial(nm.kid, rows(3000, 2048, 1), rows(3000, 2048, 2))


@figure("KID exact, heavy tails, float64")
def kid_heavy() -> Callable[[], Any]:
    return partial(nm.kid, *(rows(1500, 512, seed, HEAVY, np.float64) for seed in (1, 2)))


@figure("KID exact, few features, 4,000 × 4,000 × 32")
def kid_few_features() -> Callable[[], Any]:
    return partial(nm.kid, rows(4000, 32, 1), rows(4000, 32, 2))  # passes over blocks, not products, take the time


@figure("KID by clients")
def kid_clients() -> Callable[[], Any]:
    federation = nm.Federation(clients(10, 2048, 150))
    return partial(nm.evaluate, federation, sources(2, 1000, 2048, 20), "kid", progress=False)


@figure("study of 20 clients × 4 generators")
def study() -> Callable[[], Any]:
    given, made = clients(20, 128), sources(4, 500, 128, 40)
    return lambda: nm.evaluate(nm.Federation(given), made, ("fid", "kid"), progress=False)


@figure("intervals of FID and KID")
def intervals() -> Callable[[], Any]:
    given, made = clients(6, 64), sources(2, 500, 64, 40)
    asked = partial(nm.evaluate, metrics=("fid", "kid"), uncertainty=nm.Influence(), progress=False)
    return lambda: asked(nm.Federation(given), made)


@figure("precision, recall, density, coverage")
def prdc() -> Callable[[], Any]:
    x, y = (rows(2000, 64, seed, HEAVY, np.float64) for seed in (1, 2))
    return lambda: nm.prdc(x.copy(), y.copy())  # neighbors are kept for the same array


@figure("FLD")
def fld() -> Callable[[], Any]:
    x, y, z = (rows(800, 32, seed, distribution, np.float64) for seed, distribution in enumerate((HEAVY, HEAVY, TWICE)))
    return lambda: nm.fld(x.copy(), y.copy(), z.copy())


def answered(lab: Any, scene: dict[str, Any]) -> Any:
    """Show a scene and wait until Python has answered it, as a page would."""
    found = threading.Event()

    def on_result(change: Any) -> None:
        if change["new"]["rev"] >= scene["rev"]:
            found.set()

    lab.observe(on_result, "result")
    lab.scene = scene
    if lab.result["rev"] < scene["rev"] and not found.wait(TIMEOUT):
        raise TimeoutError(f"no answer to revision {scene['rev']}")
    lab.unobserve(on_result, "result")
    return lab.result


def answers(lab: Any) -> Callable[[], Any]:
    """Answer the lab's scene with its first client moved, a little farther each time."""

    def act() -> Any:
        rev = lab.scene["rev"] + 1
        first, *others = lab.scene["clients"]
        return answered(lab, {**lab.scene, "clients": [{**first, "x": (rev % 50) / 20}, *others], "rev": rev})

    return act


@figure("a Playground's answer")
def playground_answer() -> Callable[[], Any]:
    lab = nm.Playground()
    lab.scene = {**lab.presets["Heterogeneous six"], "rev": lab.scene["rev"] + 1}
    return answers(lab)


@figure("a Playground's answer from 2,000 points")
def playground_points() -> Callable[[], Any]:
    lab = nm.Playground()
    lab.scene = {**lab.scene, "samples": 2000, "rev": lab.scene["rev"] + 1}
    return answers(lab)


def page_figure(name: str, make: Callable[[], Any]) -> None:
    @figure(f"numbers of a frame: {name}")
    def frames() -> Callable[[], Timed]:
        lab = make()
        page = Page(lab, frames_of(lab))

        def act() -> Timed:
            milliseconds, numbers = page.run()
            return Timed(milliseconds / 1000, {"numbers": numbers})

        return act


def playground() -> Any:
    lab = nm.Playground()
    lab.scene = {**lab.presets["Heterogeneous six"], "rev": lab.scene["rev"] + 1}
    return lab


def dashboard() -> Any:
    lab = nm.Dashboard(clients(20, 16), sources(6, 200, 16, 40), uncertainty=nm.Influence())
    lab.wait()
    return lab


def monitor() -> Any:
    rng = np.random.default_rng(0)
    lab = nm.Monitor([rng.normal(i, 1.0, (60, 4)) for i in range(10)], samples=60, keep_all=True)
    for step in range(40):
        lab.log(step, rng.normal(5 - step / 8, 2.0, (60, 4)), loss=1.0)
    lab.wait()
    return lab


for name, make in {
    "Playground": playground,
    "CorrelationLab": lambda: nm.CorrelationLab(),
    "TwinsLab": lambda: nm.TwinsLab(),
    "MemorizationLab": lambda: nm.MemorizationLab(),
    "Dashboard of 20 × 6": dashboard,
    "Monitor of 40 steps": monitor,
    "PrivacyLab": lambda: nm.PrivacyLab(),
}.items():
    page_figure(name, make)
