"""How often models that do not differ are said to differ by more than their runs: at most 5 % is allowed.

    python -m tests.calibration.models [RUNS]      prints the tables of docs/intervals.md (a quarter of an hour)

Scores drawn from distributions of run effects, and rows: FID of one client and normal rows, models of equal mean FID.
The limit of every share is .05 + 2 standard errors of so many draws, save in `BEYOND`. A first run, with t and the
bound 1/C(r₁ + r₂, r₁) in the place of the deals of the labels, broke it in one of 54 cells: .102 of half far worse,
2 and 5.
"""

import math
import sys

import numpy as np

import nbmetrics as nm
from nbmetrics.evaluation.run_statistics import ErrorPart, mean_and_spread, p_of_labels, p_value

ALPHA = 0.05
DRAWS, EVALUATIONS = 4_000, 400
COUNTS = ((2, 2), (3, 3), (4, 4), (5, 5), (2, 5), (3, 5))


def collapse(share, rng, size):
    """Runs of spread 0.01, a share of which is worse by 1."""
    return 0.01 * rng.normal(size=size) + (rng.random(size) < share)


# The run effects of both models, then the spreads of the first and the second.
EFFECTS = {
    "normal": (lambda rng, n: rng.normal(size=n), 1.0, 1.0),
    "normal, spreads 3 : 1": (lambda rng, n: rng.normal(size=n), 3.0, 1.0),
    "normal, spreads 10 : 1": (lambda rng, n: rng.normal(size=n), 10.0, 1.0),
    "normal, spreads 1 : 10": (lambda rng, n: rng.normal(size=n), 1.0, 10.0),
    "t, 2 degrees of freedom": (lambda rng, n: rng.standard_t(2, size=n), 1.0, 1.0),
    "t, 2 degrees of freedom, spreads 10 : 1": (lambda rng, n: rng.standard_t(2, size=n), 10.0, 1.0),
    "lognormal": (lambda rng, n: rng.lognormal(size=n), 1.0, 1.0),
    "a tenth far worse": (lambda rng, n: collapse(0.1, rng, n), 1.0, 1.0),
    "half far worse": (lambda rng, n: collapse(0.5, rng, n), 1.0, 1.0),
}
# Where no test of so few runs can hold its level: measured, not limited.
BEYOND = {
    "lognormal about its mean, spreads 10 : 1": (lambda rng, n: rng.lognormal(size=n) - math.exp(0.5), 10.0, 1.0),
    "half far worse in one model, never in the other": (lambda rng, n: collapse(0.5, rng, n) - 0.5, 1.0, 0.0),
}


def limit(draws):
    return ALPHA + 2.0 * math.sqrt(ALPHA * (1.0 - ALPHA) / draws)


def shares_of_effects(effect, counts, draws, seed=3, difference=0.0):
    """The share of draws with p at most .05, of scores alone."""
    sample, *spreads = effect
    rng, found = np.random.default_rng([seed, *counts]), 0
    for _ in range(draws):
        sides = [spread * sample(rng, count) for spread, count in zip(spreads, counts, strict=True)]
        sides[0] = sides[0] + difference
        (first, s), (second, t) = (mean_and_spread(side.tolist()) for side in sides)
        parts = [ErrorPart(v * v / n, n - 1) for v, n in zip((s, t), counts, strict=True)]
        found += max(p_value(first - second, parts), p_of_labels(*sides)) <= ALPHA
    return found / draws


# Rows: features, real rows and rows of each run, runs of the models. Models are moved as far from the real mean.
FEATURES, MOVED = 16, 1.0
ROWS = (24, 64, 320)
RUN_COUNTS = ((3, 3), (4, 4), (2, 5))
# Along one axis or another, and the half-range of the squared lengths of the runs' moves.
ROW_SETTINGS = {
    "one axis, no run effect": ((0, 0), (0.0, 0.0)),
    "one axis, runs differ": ((0, 0), (0.5, 0.5)),
    "one axis, one model differs more": ((0, 0), (0.1, 0.9)),
    "two axes, no run effect": ((0, 1), (0.0, 0.0)),
    "two axes, runs differ": ((0, 1), (0.5, 0.5)),
}


def models_of_rows(setting, counts, n, rng):
    """The rows of the runs of both models, whose FID is 1 on average."""
    made = {}
    for name, axis, apart, count in zip("ab", *setting, counts, strict=True):
        squares = MOVED * (1.0 + rng.uniform(-apart, apart, size=count))
        made[name] = [rng.normal(size=(n, FEATURES)) + math.sqrt(s) * np.eye(FEATURES)[axis] for s in squares]
    return made


def share_of_rows(setting, counts, n, evaluations, uncertainty):
    """The shares of evaluations with p at most .05, and of 90 % intervals of model a that contain its mean FID."""
    rejected, covered = 0, 0
    for run in range(evaluations):
        rng = np.random.default_rng([3, n, *counts, run])
        real = rng.normal(size=(n, FEATURES))
        generators = models_of_rows(setting, counts, n, rng)
        scores = nm.evaluate([real], generators, "fid", uncertainty=uncertainty, progress=False)
        rejected += bool(scores.compare_models("fid")["p"][0] <= ALPHA)
        low, high = scores.models("fid")[["all_low", "all_high"]].iloc[0]
        covered += bool(low <= MOVED <= high)
    return rejected / evaluations, covered / evaluations


def main(runs=None):
    draws, evaluations = runs or DRAWS, runs or EVALUATIONS
    heads = " | ".join(f"{r} and {s}" for r, s in COUNTS)
    print(f"{draws:,} draws a cell, limit {limit(draws):.3f}\n\n| run effects | {heads} |\n|:--|{'--:|' * len(COUNTS)}")
    for name, effect in (EFFECTS | BEYOND).items():
        shares = [f"{shares_of_effects(effect, counts, draws):.3f}" for counts in COUNTS]
        print(f"| {name} | {' | '.join(shares)} |", flush=True)
    print(f"\n{evaluations:,} evaluations a row, limit {limit(evaluations):.3f}\n")
    print("| models | rows, features | runs | with uncertainty | interval of a mean holds | without |")
    print("|:--|--:|--:|--:|--:|--:|")
    for name, setting in ROW_SETTINGS.items():
        for n in ROWS:
            for counts in RUN_COUNTS:
                sure, covered = share_of_rows(setting, counts, n, evaluations, nm.Influence())
                plain, _ = share_of_rows(setting, counts, n, evaluations, None)
                row = (name, f"{n}, {FEATURES}", f"{counts[0]} and {counts[1]}")
                print("|", " | ".join((*row, f"{sure:.3f}", f"{covered:.3f}", f"{plain:.3f}")), "|", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
