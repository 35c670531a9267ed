"""The relative KL of two generators with densities, by Gao, Sun and Su's own formula and by `flips` of log_likelihood.

    python -m tests.benchmarks.relative_kl [runs]      the tables of docs/intervals.md, in minutes

Their simulation (Statistical Inference for Generative Model Comparison, arXiv 2501.18897; `simu_ours.py` of
sylydya/compare-generative-models): 1,000 rows of N(b, diag(a²)) in 10 features; the first generator is that
distribution, the second is scaled by 1 + ε and moved by ε. `lines` returns a row of the table of
`python -m tests.benchmarks`.
"""

from __future__ import annotations

import math
import sys
from statistics import NormalDist

import numpy as np

import nbmetrics as nm

from .distributions import MILD

ROWS, FEATURES = 1_000, 10
EPSILONS = (0.01, 0.02, 0.03, 0.05)
# Runs of the statistics that need densities, and of FID and KID, which need rows.
RUNS, RUNS_OF_ROWS = 200, 100
TAIL = 0.05


def parameters(epsilon: float, is_level: bool = False):
    """Return the centre and standard deviations of the real rows, and of the two generators: three pairs.

    `is_level` : both generators lie as far from the real rows, ε to either side, so that their relative KL is 0
    """
    rng = np.random.RandomState(1)
    scale, centre = rng.uniform(0.8, 1.2, FEATURES), rng.normal(0, 1, FEATURES)
    real, away = (centre, scale), (centre + epsilon, scale if is_level else scale * (1 + epsilon))
    return real, (centre - epsilon, scale) if is_level else real, away


def rows_of(distribution, rng, n: int = ROWS) -> np.ndarray:
    centre, scale = distribution
    return rng.normal(size=(n, FEATURES)) * scale + centre


def relative_kl(rows, first, second) -> tuple[float, float]:
    """Return KL(real ‖ second) − KL(real ‖ first) in nats, estimated as in `simu_ours.py`, and its standard error."""
    z, other = (((rows - centre) / scale) ** 2 for centre, scale in (first, second))
    values = 0.5 * (other - z).sum(axis=1)
    estimate = np.log(second[1] / first[1]).sum() + values.mean()
    return float(estimate), float(values.std() / math.sqrt(len(rows)))


def expected(epsilon: float, n: int = ROWS, is_level: bool = False) -> tuple[float, float]:
    """The relative KL and the standard error of its estimate in closed form, for N(b, diag(a²))."""
    (centre, scale), first, second = parameters(epsilon, is_level)
    squares, slopes, mean = 0.0, 0.0, 0.0
    for sign, (other, width) in ((-1, first), (1, second)):
        ratio, shift = scale / width, (centre - other) / width
        squares, slopes = squares + sign * ratio**2 / 2, slopes + sign * ratio * shift
        mean += sign * float((np.log(width) + (ratio**2 + shift**2) / 2).sum())
    return mean, float(np.sqrt((2 * squares**2 + slopes**2).sum() / n))


def power(mean: float, error: float) -> float:
    """How often a normal estimate is beyond its tail on either side."""
    z = NormalDist().inv_cdf(1 - TAIL)
    return NormalDist().cdf(mean / error - z) + NormalDist().cdf(-mean / error - z)


def scores_of(rows, first, second, uncertainty=None):
    """Scores of both densities."""
    generators = {name: nm.Gaussian(centre, scale**2) for name, (centre, scale) in (("1", first), ("2", second))}
    uncertainty = uncertainty or nm.Influence()
    return nm.evaluate({"c": rows}, generators, "log_likelihood", uncertainty=uncertainty, progress=False)


def difference(scores) -> float:
    """Log-likelihood of the first generator less that of the second: our relative KL."""
    first, second = scores.table["avg"]
    return float(first - second)


def rejects(scores, metric: str) -> bool:
    return bool(scores.flips(metric)["avg_p"][0] < TAIL)


def density_row(epsilon: float, runs: int, is_level: bool = False) -> list[str]:
    """Of one ε: the relative KL, the power in closed form, both rates of rejection, and in how many runs they agree."""
    real, first, second = parameters(epsilon, is_level)
    theirs, ours, apart = np.zeros(runs, bool), np.zeros(runs, bool), 0.0
    for run in range(runs):
        rows = rows_of(real, np.random.default_rng([run, round(1_000 * epsilon), is_level]))
        estimate, error = relative_kl(rows, first, second)
        theirs[run] = NormalDist().cdf(-abs(estimate) / error) < TAIL
        scores = scores_of(rows, first, second)
        ours[run] = rejects(scores, "log_likelihood")
        apart = max(apart, abs(difference(scores) - estimate))
    mean, error = expected(epsilon, is_level=is_level)
    shares = (f"{share:.3f}" for share in (power(mean, error), theirs.mean(), ours.mean()))
    return [f"{epsilon:g}", f"{mean:.5f}", *shares, f"{(theirs == ours).sum()} of {runs}", f"{apart:.0e}"]


def rows_row(epsilon: float, runs: int) -> list[str]:
    """Of one ε: how often FID and KID, which see rows alone, tell the two generators apart."""
    real, *generators = parameters(epsilon)
    told = dict.fromkeys(("fid", "kid"), 0)
    for run in range(runs):
        rng = np.random.default_rng([run, round(1_000 * epsilon), 2])
        rows, *made = (rows_of(distribution, rng) for distribution in (real, *generators))
        pair = dict(zip("12", made, strict=True))
        scores = nm.evaluate({"c": rows}, pair, [*told], uncertainty=nm.Influence(), progress=False)
        for metric in told:
            told[metric] += rejects(scores, metric)
    return [f"{epsilon:g}", str(runs), *(f"{count / runs:.2f}" for count in told.values())]


def lines(distribution: str = MILD):
    """A row of the table: a hundred data sets of their simulation, estimate and error of each."""
    from .__main__ import Line, same, timed

    real, first, second = parameters(0.03)
    data = [rows_of(real, np.random.default_rng(run)) for run in range(100)]

    def ours():
        scores = [scores_of(rows, first, second) for rows in data]
        return sum(difference(one) for one in scores if len(one.flips("log_likelihood")))

    def theirs():
        return sum(relative_kl(rows, first, second)[0] for rows in data)

    seconds, own, a, b = timed(theirs, ours)
    same(a, b, 1e-9)
    task = f"relative KL with its p-value, 100 times {ROWS:,} rows, d = {FEATURES}"
    yield Line(task, "Gao, Sun and Su's formula", seconds, own, rows=distribution)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    columns = ("ε", "relative KL, nats", "power", "their test", "`flips`", "same decision", "estimates apart")
    print("|", " | ".join(columns), "|\n" + "|---" * len(columns) + "|")
    for epsilon in EPSILONS:
        print("|", " | ".join(density_row(epsilon, runs)), "|", flush=True)
    print("\nequally far, ε to either side:\n|", " | ".join(density_row(0.05, runs, is_level=True)), "|", flush=True)
    print("\n| ε | runs | FID | KID |\n|---|---|---|---|")
    for epsilon in (0.0, *EPSILONS, 0.1):
        print("|", " | ".join(rows_row(epsilon, min(runs, RUNS_OF_ROWS))), "|", flush=True)


if __name__ == "__main__":
    main()
