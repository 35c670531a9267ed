"""The one-sided p-values of `scores.flips`: how often they are small where two generators are alike.

    python -m tests.calibration.p_values [runs] [part …]    the two tables of docs/intervals.md, in minutes

Two generators of one distribution, far from the clients': a p-value for "the first is better" is uniform then. Below,
generators that differ a little, as checkpoints of one run do: how often the order is wrong is more than the p-value
says.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import kstest

from tests.calibration.intervals import evaluated
from tests.calibration.kid_all import Distribution
from tests.populations import elliptical, fid_avg_and_all, normal, rectified

LEVELS = (0.01, 0.05, 0.1)
RUNS = 1_000


@dataclass(frozen=True)
class Setting:
    """Clients' distributions, numbers of rows, the distribution of both generators and the number of their rows."""

    clients: list[Any]
    sizes: tuple[int, ...]
    generator: Any
    made: int


def skewed(d, mean=0.0, scale=1.0, kind="exponential"):
    return Distribution(np.full(d, mean), scale * np.diag(np.arange(1.0, d + 1) ** -0.5), kind)


SETTINGS = {
    "2 × 50, d 6, normal": Setting([normal(6), normal(6, 0.5)], (50, 50), normal(6, 0.8), 150),
    "2 × 50, d 6, exponential": Setting([skewed(6), skewed(6, 0.5)], (50, 50), skewed(6, 0.8), 150),
    "10 + 10, d 2, normal": Setting([normal(2), normal(2, 2.0)], (10, 10), normal(2, 2.5), 40),
    "2 × 20, d 2, exponential": Setting([skewed(2), skewed(2, 1.0)], (20, 20), skewed(2, 2.0), 40),
    "2 × 40, d 4, t5 rows": Setting(
        [skewed(4, k, kind="t5") for k in (0, 0.5)], (40, 40), skewed(4, 1.2, kind="t5"), 60
    ),
    "20 + 40 + 200, d 4, gamma ¼": Setting(
        [skewed(4, k, kind="gamma") for k in (0, 0.3, 0.6)], (20, 40, 200), skewed(4, 1.0, kind="gamma"), 80
    ),
    "2 × 32, d 16, normal": Setting([normal(16), normal(16, 0.2)], (32, 32), normal(16, 0.6), 320),
    "2 × 32, d 16, normal, few made": Setting([normal(16), normal(16, 0.2)], (320, 320), normal(16, 0.6), 32),
    "3 × 80, d 16, elliptical .5": Setting([elliptical(16, 0.5)] * 3, (80, 80, 80), normal(16, 0.5), 200),
    "2 × 128, d 64, rectified": Setting(
        [rectified(64, 0), rectified(64, 1)], (128, 128), rectified(64, 2, mean=0.1), 256
    ),
}


def directed(row, part):
    """The p-value of "the first generator is the better one"."""
    p = row[f"{part}_p"]
    return p if row[f"{part}_prefers"] == "first" else 1.0 - p


def found(setting, runs, seed=0):
    """p-values (runs, metrics × parts), and the corrected scores in units of their standard errors."""
    rng, values, away = np.random.default_rng(seed), [], []
    for _ in range(runs):
        made = {"first": setting.generator, "second": setting.generator}
        scores = evaluated(setting.clients, setting.sizes, made, setting.made, ["fid", "kid"], rng)
        rows = [scores.flips(metric).iloc[0] for metric in ("fid", "kid")]
        values.append([directed(row, part) for row in rows for part in ("avg", "all")])
        away.append([scores.table[f"{part}_corrected"][g] for g in (0, 1) for part in ("avg", "all")])
    spread = np.std(away, axis=0)
    return np.array(values), np.mean(away, axis=0) / spread


def alike(runs):
    heads = " | ".join(f"p ≤ {level}" for level in LEVELS)
    print(f"| clients, rows | score | score / its error | {heads} | KS p |\n|---|---|---|" + "---|" * (len(LEVELS) + 1))
    for name, setting in SETTINGS.items():
        values, away = found(setting, runs)
        for which, score in enumerate(("FID avg", "FID all", "KID avg", "KID all")):
            p = values[:, which]
            p = p[np.isfinite(p)]
            if not len(p):
                print(f"| {name} | {score} | – | no p-value" + " | –" * len(LEVELS) + " |", flush=True)
                continue
            shares = [np.mean(np.concatenate([p, 1.0 - p]) <= level) for level in LEVELS]
            told = " | ".join(f"{share:.3f}" for share in shares)
            print(f"| {name} | {score} | {away[which]:.1f} | {told} | {kstest(p, 'uniform').pvalue:.2f} |", flush=True)


def close(runs):
    """Generators as close to one another as checkpoints of one run: the p-value, and the share of wrong orders."""
    print("\n| rows | p | runs | wrong order |\n|---|---|---|---|")
    for rows, distribution in (("normal", normal), ("exponential", skewed)):
        rng, said, wrong = np.random.default_rng(1), [], []
        clients = [distribution(6), distribution(6)]
        for _ in range(runs):
            generators = {"first": distribution(6, 0.25), "second": distribution(6, 0.25 + rng.uniform(-0.03, 0.03))}
            truth = {name: fid_avg_and_all(clients, [0.5, 0.5], one)[1] for name, one in generators.items()}
            row = evaluated(clients, (50, 50), generators, 150, "fid", rng).flips("fid").iloc[0]
            said.append(row["all_p"])
            wrong.append(row["all_prefers"] != min(truth, key=truth.get))
        said, wrong = np.array(said), np.array(wrong)
        for low, high in ((0, 0.05), (0.05, 0.15), (0.15, 0.25), (0.25, 0.35), (0.35, 0.51)):
            inside = (said >= low) & (said < high)
            print(f"| {rows} | {said[inside].mean():.2f} | {inside.sum()} | {wrong[inside].mean():.2f} |", flush=True)


def main(runs=None, *parts):
    for part in parts or ("alike", "close"):
        globals()[part](int(runs or RUNS))


if __name__ == "__main__":
    main(*sys.argv[1:])
