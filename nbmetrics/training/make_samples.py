"""Makes the samples of `nm.datasets`: `python -m nbmetrics.training.make_samples checkpoints|collapse [--out FILE]`.

checkpoints : WGAN-GP (2,000 steps) and DDPM (1,500) on all digits, seeds 0 and 1; 500 rows at each tenth of the steps
collapse    : WGAN-GP on all digits, seeds 0 to 4; 250 rows at steps 700 to 1,200; from there on each of three targets
              alone, 250 rows at 5 to 300 steps after

Rows are rounded to the 17 grey levels of digits. One thread, everything from the seeds: the same machine makes the same
rows again.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets import digits
from ..datasets.trained import LEVELS, TARGETS, collapse_target
from ..errors import check_choice
from .run import train
from .trained import Trained

STEPS = {"wgan-gp": 2000, "ddpm": 1500}
BEFORE, AFTER = (700, 800, 900, 1000, 1100, 1200), (5, 10, 20, 40, 80, 160, 300)


class SampleRecorder:
    """A monitor that keeps samples at some steps, with the same latents at each."""

    def __init__(self, steps: Any, rows: int, **about: Any) -> None:
        self.samples: list[dict[str, Any]] = []
        self._steps, self._rows, self._about = set(steps), rows, about

    def log(self, step: int, source: Any, **losses: float) -> None:
        if step in self._steps:
            rows = source(self._rows, np.random.default_rng([self._about["seed"], 1]))
            levels = np.round(LEVELS * rows).astype(np.uint8)
            self.samples.append({"levels": levels, "step": step, **self._about})


def checkpoints() -> list[dict[str, Any]]:
    rows, _ = digits()
    samples = []
    for kind, steps in STEPS.items():
        for seed in (0, 1):
            monitor = SampleRecorder(range(steps + 1), 500, model=kind, seed=seed, target="")
            _train(f"{kind} {seed}", kind, [rows], rounds=10, local_steps=steps // 10, seed=seed, monitor=monitor)
            samples += monitor.samples
    return samples


def collapse() -> list[dict[str, Any]]:
    rows, labels = digits()
    samples = []
    for seed in range(5):
        monitor = SampleRecorder(BEFORE, 250, model="wgan-gp", seed=seed, target="")
        options: dict[str, Any] = {"rounds": 12, "local_steps": 100, "seed": seed, "monitor": monitor}
        model = _train(f"all, seed {seed}", "wgan-gp", [rows], **options)
        samples += monitor.samples
        for target in TARGETS:
            after = [model.steps + step for step in AFTER]
            recorder = SampleRecorder(after, 250, model="wgan-gp", seed=seed, target=target)
            options = {"rounds": 60, "local_steps": 5, "seed": seed, "monitor": recorder, "start": model}
            _train(f"{target}, seed {seed}", "wgan-gp", [collapse_target(target, seed, rows, labels)], **options)
            samples += recorder.samples
    return samples


def _train(what: str, kind: str, clients: Any, **options: Any) -> Trained:
    began = time.process_time()
    model = train(kind, clients, device="cpu", **options)
    steps, seconds = options["rounds"] * options["local_steps"], time.process_time() - began
    print(f"{what}: {steps:,} steps, {seconds:.0f} CPU seconds")
    return model


def save(samples: list[dict[str, Any]], path: Any) -> None:
    arrays = {name: np.array([one[name] for one in samples]) for name in samples[0]}
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(prog="python -m nbmetrics.training.make_samples", description="Train, and sample.")
    parser.add_argument("name", help="checkpoints or collapse")
    parser.add_argument("--out", help="file to write; the package reads nbmetrics/datasets/NAME.npz")
    options = parser.parse_args()
    makers = {"checkpoints": checkpoints, "collapse": collapse}
    make, path = makers[check_choice(options.name, makers, "name")], options.out or f"{options.name}.npz"
    # Sums in another order would be other rows.
    torch.set_num_threads(1)
    save(make(), path)
    print(f"written to {path}: {Path(path).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
