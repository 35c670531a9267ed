"""How often the tests of `Scores.heterogeneity` reject at 5 %, where clients are alike (level) and where not (power).

    python -m tests.calibration.heterogeneity          prints the table of docs/heterogeneity.md

Few rows, fewer rows than features, unequal sizes and weights, rectified and long-tailed rows.
"""

import sys
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from nbmetrics.evaluation.heterogeneity import Parties, fid_gaps, p_kid, p_value
from nbmetrics.summaries.moments import Moments

SHUFFLES, KID_SHUFFLES = 19, 199
EXACT = 1e-9


class Case(NamedTuple):
    name: str
    distribution: str
    d: int
    sizes: tuple[int, ...]
    weights: tuple[float, ...] | None = None  # in proportion to the sizes
    shift: float = 0.0  # every client's mean is off by so many standard normals in every feature
    scale: float = 0.0  # scales of the clients are evenly spread over 1 ± this
    runs: int = 400

    @property
    def is_null(self):
        return self.shift == self.scale == 0.0


UNEQUAL, FEW, LOPSIDED = (20, 40, 60, 80, 100), (32,) * 10, (15, 60)
CASES = [
    Case("few rows, unequal sizes", "iso", 16, UNEQUAL),
    Case("few rows, unequal sizes", "rectified", 16, UNEQUAL),
    Case("unequal sizes, equal weights", "iso", 16, UNEQUAL, (0.2,) * 5),
    Case("half as many rows as features", "iso", 64, FEW, runs=200),
    Case("half as many rows as features", "rectified", 64, FEW, runs=200),
    Case("two clients, long tails", "long tails", 5, LOPSIDED, runs=600),
    Case("two clients, long tails, equal weights", "long tails", 5, LOPSIDED, (0.5, 0.5), runs=600),
    Case("means", "iso", 16, UNEQUAL, shift=0.15),
    Case("means", "rectified", 16, UNEQUAL, shift=0.15),
    Case("means, half as many rows as features", "rectified", 64, FEW, shift=0.15, runs=200),
    Case("scales ± 20 %", "rectified", 16, (60,) * 5, scale=0.2),
    Case("scales ± 20 %, large clients wide", "iso", 16, UNEQUAL, scale=0.2),
]


def draw(distribution, n, d, rng):
    """Rows of N(0, I), of rectified features that share factors, or of a multivariate t with 3 degrees of freedom."""
    rows = rng.standard_normal((n, d))
    if distribution == "iso":
        return rows
    if distribution == "long tails":
        return rows / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)
    mixing = np.random.default_rng(7).standard_normal((d, d)) / np.sqrt(d)
    return np.maximum(0.0, rows * np.arange(1, d + 1) ** -0.7 @ mixing)


def p_values(case, run):
    """p of the FID gap by rank, by a t statistic, and of the KID gap, in one simulated federation."""
    rng = np.random.default_rng([11, run])
    shifts = case.shift * rng.standard_normal((len(case.sizes), case.d))
    spread = np.linspace(1 - case.scale, 1 + case.scale, len(case.sizes))
    deviation = (
        1.0
        if case.distribution == "iso"
        else float(draw(case.distribution, 2000, case.d, np.random.default_rng(8)).std())
    )
    rows = [
        scale * draw(case.distribution, n, case.d, rng) + deviation * shift
        for n, shift, scale in zip(case.sizes, shifts, spread, strict=True)
    ]
    weights = case.weights or tuple(n / sum(case.sizes) for n in case.sizes)
    parties = Parties(np.concatenate(rows), case.sizes, weights)
    made = Moments.of_rows(draw(case.distribution, 20 * case.d, case.d, rng))
    [(gaps, tie)] = fid_gaps(parties, parties.deals(SHUFFLES, [run]), [made])
    reach = gaps[1:].std(ddof=1) * np.sqrt(1 + 1 / SHUFFLES)
    by_t = float(student.sf((gaps[0] - gaps[1:].mean()) / reach, SHUFFLES - 1))
    return p_value(gaps, tie), by_t, p_kid(parties, run, KID_SHUFFLES)


def rejected(case, runs=None):
    """Shares of runs with p ≤ 5 % by rank, by t and of KID, and by t with p ≤ 1 %."""
    found = np.array([p_values(case, run) for run in range(case.runs if runs is None else runs)])
    return [*np.mean(found <= 0.05 + EXACT, axis=0), np.mean(found[:, 1] <= 0.01)]


def main(runs=None):
    print("| clients | rows | d | sizes | FID, p | FID, t | FID, t at 1 % | KID, p_kid | runs |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case in CASES:
        by_rank, by_t, kid, far = rejected(case, runs)
        many = len(set(case.sizes)) == 1 and len(case.sizes) > 3
        sizes = f"{len(case.sizes)} × {case.sizes[0]}" if many else ", ".join(map(str, case.sizes))
        name = f"alike: {case.name}" if case.is_null else f"unlike: {case.name}"
        rates = " | ".join(f"{rate:.3f}" for rate in (by_rank, by_t, far, kid))
        print(f"| {name} | {case.distribution} | {case.d} | {sizes} | {rates} | {runs or case.runs} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
