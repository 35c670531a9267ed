"""Fixed populations of training runs, without training: what a generator gives at each step is drawn by a script.

Written before the rule that they judge. `healthy(seed)`, 200 of them: runs of 60 to 100 steps whose true scores, once
they came down, stay within 1.25 times their best, as the rule's null hypothesis says. `collapse(kind, seed)`: runs that
lose what they had at a step, and keep going. Clients are digits (16 principal components, one client a digit) or five
rings in the plane (one client a ring).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

import nbmetrics as nm

HEALTHY_RUNS, SEEDS = 200, 20
FAMILIES = ("noisy", "drifting down", "warm-up", "cyclic rate", "few rows", "one tiny client")
COLLAPSES = ("1 of 10 digits", "3 of 10 digits", "5 of 10 digits", "8 of 10 digits", "1 of 5 rings lost")
SWITCH, STEPS_AFTER = 30, 12
DIGIT_ROWS, RING_ROWS, TINY_ROWS, DIRECTIONS = 60, 100, 12, 16
ROWS, FEW_ROWS = 300, 50


@dataclass(frozen=True)
class Script:
    """A run.

    Attributes
    ----------
    clients : rows by name
    step_rows : returns the generator's rows (n, d) at a step
    steps : how many there are
    switch : the step from which the generator has collapsed; None in a healthy run
    """

    name: str
    clients: dict[str, np.ndarray]
    step_rows: Callable[[int], np.ndarray]
    steps: int
    switch: int | None = None


@cache
def digit_rows():
    """Digits by class, on the first principal components of all."""
    rows, labels = (np.asarray(part) for part in nm.datasets.digits())
    centred = rows - rows.mean(axis=0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:DIRECTIONS]
    return {str(c): centred[labels.astype(int) == c] @ directions.T for c in range(10)}


def ring_rows(count, rng):
    """Points of each of five rings: radius 1, centres 4 from the origin."""
    rings = {}
    for i in range(5):
        angle, turn = rng.uniform(0, 2 * np.pi, count), 2 * np.pi * i / 5
        ring = np.c_[np.cos(angle), np.sin(angle)] * (1 + 0.1 * rng.normal(size=(count, 1)))
        rings[f"ring {i}"] = 4.0 * np.array([np.cos(turn), np.sin(turn)]) + ring
    return rings


def population(is_digits, rng):
    """Return the rows of the clients, and those that generators draw from, both by name."""
    if is_digits:
        own = {name: rows[rng.permutation(len(rows))] for name, rows in digit_rows().items()}
        return {name: rows[:DIGIT_ROWS] for name, rows in own.items()}, own
    return ring_rows(RING_ROWS, rng), ring_rows(2_000, rng)


def draw(sources, names, blur, count, rng):
    """Rows of a generator that knows these clients, evenly, with noise of this many standard deviations."""
    parts = [sources[names[i % len(names)]] for i in range(count)]
    rows = np.stack([part[rng.integers(len(part))] for part in parts])
    spread = np.concatenate(list(sources.values())).std(axis=0).mean()
    return rows + blur * spread * rng.normal(size=rows.shape)


def blur_path(family, steps, rng):
    """Standard deviations of the generator's noise at each step, as shares of the rows' own."""
    time, jitter = np.arange(steps), 1.0 + 0.01 * rng.normal(size=steps)
    descent = 0.25 + 0.6 * np.exp(-time / 10.0)
    if family == "noisy":
        return descent * (1.0 + 0.015 * rng.normal(size=steps))
    if family == "drifting down":
        return 0.25 + 0.6 * np.exp(-time / steps) * jitter
    if family == "warm-up":
        return np.where(time < 15, 0.85, 0.25 + 0.6 * np.exp(-(time - 15) / 8.0)) * jitter
    if family == "cyclic rate":
        return descent * (1.0 + 0.02 * np.sin(2 * np.pi * time / 15.0)) * jitter
    return descent * jitter


def healthy(seed):
    """A run that is well; families take turns, and so do digits and rings. Every second one keeps its latents."""
    rng = np.random.default_rng([seed, 29])
    family = FAMILIES[seed % len(FAMILIES)]
    clients, sources = population(seed // len(FAMILIES) % 2 == 0, rng)
    if family == "one tiny client":
        first = next(iter(clients))
        clients = {**clients, first: clients[first][:TINY_ROWS]}
    steps, count = int(rng.integers(60, 101)), FEW_ROWS if family == "few rows" else ROWS
    blurs, names, is_paired = blur_path(family, steps, rng), list(sources), bool(rng.integers(2))

    def step_rows(step):
        return draw(sources, names, blurs[step], count, np.random.default_rng([seed, 0 if is_paired else step]))

    return Script(family, clients, step_rows, steps)


def collapse(kind, seed):
    """A run that is calm after a short descent, and loses digits or a ring, drawn by the seed, at `SWITCH`."""
    rng = np.random.default_rng([seed, 30, COLLAPSES.index(kind)])
    clients, sources = population("digits" in kind, rng)
    names = list(sources)
    kept_count = int(kind.split()[0]) if "digits" in kind else 4
    kept = sorted(rng.choice(names, kept_count, replace=False))
    blurs = blur_path("calm", SWITCH + STEPS_AFTER, rng)

    def step_rows(step):
        known = names if step < SWITCH else kept
        return draw(sources, known, blurs[min(step, SWITCH)], ROWS, np.random.default_rng([seed, step]))

    return Script(kind, clients, step_rows, SWITCH + STEPS_AFTER, SWITCH)
