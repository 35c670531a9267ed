"""How often the 90 % interval of KID-all holds the truth, and how far its mean is from it, in federations of few rows.

    python -m tests.calibration.kid_all [runs] [name …]       prints a table (an hour for 1,000 runs of each)

The first rows are the settings in which a pool of stratified rows, taken for one sample, was seen to be biased. The
others were fixed, with their distributions, weights and seeds, before the estimator that they hold was written: unequal
sizes, 2 to 256 features, a third of them skewed or heavy-tailed. The cubic kernel needs three moments alone, so the
truth of every distribution here is exact, by formulas of this file.
"""

import math
import sys
from dataclasses import dataclass, field

import numpy as np

import nbmetrics as nm

LEVEL = 0.9
# Of both ends together, in Monte Carlo errors.
BIAS, RUNS = 3.3, 1_000
CAUTION = "may hold less often than it says"


@dataclass(frozen=True)
class Distribution:
    """Rows mean + s·A e: independent e of variance 1 and third cumulant `skew`, and a length s of mean square 1."""

    mean: np.ndarray
    axes: np.ndarray
    kind: str = "normal"

    @property
    def skew(self):
        return {"exponential": 2.0, "gamma": 4.0}.get(self.kind, 0.0)

    @property
    def cov(self):
        return self.axes @ self.axes.T

    def sample(self, n, rng):
        d = self.axes.shape[1]
        if self.kind == "exponential":
            e = rng.exponential(size=(n, d)) - 1.0
        elif self.kind == "gamma":  # of shape ¼
            e = (rng.gamma(0.25, size=(n, d)) - 0.25) * 2.0
        else:
            e = rng.normal(size=(n, d))
        rows = e @ self.axes.T
        if self.kind == "t5":
            rows = rows * np.sqrt(3.0 / rng.chisquare(5, size=(n, 1)))
        if self.kind == "t5 each":
            rows = (rng.standard_t(5, size=(n, d)) * math.sqrt(0.6)) @ self.axes.T
        return rows + self.mean


@dataclass(frozen=True)
class Population:
    """Rows drawn with replacement."""

    rows: np.ndarray

    def sample(self, n, rng):
        return self.rows[rng.integers(len(self.rows), size=n)]


def mean_kernel(p, q):
    """E (x·y/d + 1)³ for independent x of p and y of q, from moments up to order three."""
    if isinstance(p, Population) and isinstance(q, Population):
        return float(np.mean((p.rows @ q.rows.T / p.rows.shape[1] + 1.0) ** 3))
    d = len(p.mean)
    m, n, c, b = p.mean, q.mean, p.cov, q.cov
    first = m @ n
    second = first**2 + m @ b @ m + n @ c @ n + np.sum(c * b)
    third = first**3 + 3 * first * (m @ b @ m + n @ c @ n + np.sum(c * b)) + 6 * m @ b @ c @ n
    for distribution, mean, cov in ((p, n, b), (q, m, c)):
        if distribution.skew:
            along, spread = distribution.axes.T @ mean, np.sum(distribution.axes * (cov @ distribution.axes), axis=0)
            third += distribution.skew * np.sum(along**3 + 3 * along * spread)
    if p.skew and q.skew:
        third += p.skew * q.skew * np.sum((p.axes.T @ q.axes) ** 3)
    return 1.0 + 3 * first / d + 3 * second / d**2 + third / d**3


def kid_all(distributions, weights, generator):
    """KID of the mixture Σ λ_i P_i of the distributions with the generator, exactly."""
    w = np.asarray(weights) / np.sum(weights)
    between = np.array([[mean_kernel(p, q) for q in distributions] for p in distributions])
    cross = np.array([mean_kernel(p, generator) for p in distributions])
    return float(w @ between @ w + mean_kernel(generator, generator) - 2 * w @ cross)


@dataclass(frozen=True)
class Setting:
    """A federation: the distributions of its clients, how many rows each has, λ (None: by rows), and the generator's
    rows."""

    name: str
    distributions: list
    sizes: tuple
    generator: object
    generated: int = 0
    weights: tuple | None = None
    seed: int = 0
    is_skewed: bool = field(default=False)

    @property
    def shares(self):
        return np.asarray(self.sizes if self.weights is None else self.weights, dtype=float)

    def truth(self):
        return kid_all(self.distributions, self.shares, self.generator)

    def evaluated(self, run):
        """One run: the row of the table, and the cautions beside it."""
        rng = np.random.default_rng([self.seed, run])
        rows = [distribution.sample(n, rng) for distribution, n in zip(self.distributions, self.sizes, strict=True)]
        made = self.generator.sample(self.generated, rng) if self.generated else gaussian(self.generator)
        clients = nm.Federation(rows).with_weights(self.shares / self.shares.sum())
        scores = nm.evaluate(clients, {"g": made}, "kid", uncertainty=nm.Influence(LEVEL), progress=False)
        return scores.table.iloc[0], scores.cautions


def gaussian(distribution):
    return nm.Gaussian(distribution.mean, distribution.cov)


def iso(d, mean=0.0, variance=1.0, kind="normal"):
    return Distribution(np.full(d, float(mean)), math.sqrt(variance) * np.eye(d), kind)


def along_first(d, mean, variance=1.0, kind="normal"):
    distribution = iso(d, 0.0, variance, kind)
    return Distribution(np.r_[float(mean), np.zeros(d - 1)], distribution.axes, kind)


def decaying(d, seed, mean=0.0, kind="normal", decay=0.7):
    """A random rotation of the spectrum (1 + i)^{−2 decay}."""
    rng = np.random.default_rng([d, seed])
    turned = np.linalg.qr(rng.normal(size=(d, d)))[0] * (1.0 + np.arange(d)) ** -decay
    return Distribution(mean * rng.normal(size=d) * (1.0 + np.arange(d)) ** -decay, turned, kind)


def digits():
    """Ten populations, one a class, and all of them."""
    rows, labels = (np.asarray(a) for a in nm.datasets.digits())
    rows = rows.astype(float)
    classes = [Population(rows[labels == label]) for label in np.unique(labels)]
    return classes, Population(rows)


def digit_settings():
    classes, _ = digits()
    each = min(len(own.rows) for own in classes)
    classes = [Population(own.rows[:each]) for own in classes]
    everybody = Population(np.concatenate([own.rows for own in classes]))  # the equal mixture of the classes
    return [
        Setting(f"ten digit clients x {n}, perfect", classes, (n,) * 10, everybody, 400, seed=10 + n)
        for n in (5, 10, 30, 100)
    ]


def seen_settings():
    """Where the estimate was seen to be biased, or its interval to fail."""
    two = [iso(2), along_first(2, 3.0)]
    made = along_first(2, 1.5, 1.5)
    return [
        Setting("10 + 10, d 2", two, (10, 10), made, seed=1),
        Setting("20 + 40, d 2", two, (20, 40), made, seed=2),
        Setting("100 + 100, d 2", two, (100, 100), made, seed=3),
        Setting("5 + 300, weights 9:1", two, (5, 300), made, weights=(9, 1), seed=4),
        *digit_settings(),
    ]


def normal_settings():
    mixed = [decaying(16, k, 0.5) for k in range(5)]
    return [
        Setting(
            "means .5 k, d 2", [iso(2, 0.5 * k) for k in range(4)], (12, 20, 35, 60), iso(2, 0.8, 1.3), 80, seed=21
        ),
        Setting("alike, d 2", [iso(2)] * 3, (10, 15, 25), iso(2), 60, seed=22),
        Setting("scales, d 4", [iso(4, 0, v) for v in (0.5, 1, 2)], (15, 30, 45), iso(4, 0.2), 90, (1, 1, 1), 23),
        Setting("far, d 4", [along_first(4, m) for m in (-3, 0, 3)], (10, 20, 40), iso(4), 100, (5, 3, 2), 24),
        Setting("means, d 8", [iso(8, 0.3 * k) for k in range(6)], (12, 14, 18, 25, 40, 80), iso(8, 0.7), 150, seed=25),
        Setting("ten small, d 8", [along_first(8, 0.4 * k) for k in range(10)], (10,) * 10, iso(8, 0.2), 200, seed=26),
        Setting("decaying, d 16", mixed, (20, 30, 40, 60, 100), decaying(16, 9, 0.2), 200, seed=27),
        Setting("decaying, d 16, odd weights", mixed, (20, 30, 40, 60, 100), decaying(16, 9), 200, (5, 1, 1, 2, 1), 28),
        Setting(
            "decaying, d 32", [decaying(32, k, 1.0) for k in range(4)], (15, 25, 60, 120), decaying(32, 8), 300, seed=29
        ),
        Setting("alike, d 64", [decaying(64, 0)] * 5, (10, 20, 30, 40, 50), decaying(64, 0), 200, seed=30),
        Setting(
            "far, d 64",
            [decaying(64, k, 2.0) for k in range(8)],
            (12, 12, 16, 16, 24, 24, 40, 40),
            decaying(64, 9),
            300,
            seed=31,
        ),
        Setting(
            "decaying, d 128",
            [decaying(128, k, 1.0) for k in range(3)],
            (30, 50, 90),
            decaying(128, 7),
            250,
            (1, 2, 3),
            32,
        ),
        Setting(
            "decaying, d 256",
            [decaying(256, k, 1.0) for k in range(4)],
            (20, 30, 50, 100),
            decaying(256, 9, 0.5),
            300,
            seed=33,
        ),
    ]


def exponential_settings():
    return [
        Setting(
            "exponential, d 2",
            [iso(2, 0.5 * k, 1, "exponential") for k in range(3)],
            (20, 40, 80),
            iso(2, 0.4, 1, "exponential"),
            120,
            seed=34,
            is_skewed=True,
        ),
        Setting(
            "exponential, d 16",
            [decaying(16, k, 0.5, "exponential") for k in range(4)],
            (20, 30, 50, 90),
            decaying(16, 8, 0.5),
            200,
            seed=35,
            is_skewed=True,
        ),
        Setting(
            "exponential, d 64",
            [decaying(64, k, 1.0, "exponential") for k in range(3)],
            (30, 60, 90),
            decaying(64, 8, 0.0, "exponential"),
            200,
            seed=37,
            is_skewed=True,
        ),
    ]


def heavy_settings():
    """More skewed than an exponential, or heavy-tailed."""
    return [
        Setting(
            "gamma ¼, d 8",
            [iso(8, 0.3 * k, 1, "gamma") for k in range(3)],
            (25, 50, 75),
            iso(8, 0.3, 1, "gamma"),
            150,
            (1, 1, 1),
            36,
            True,
        ),
        Setting(
            "t5 rows, d 4",
            [iso(4, 0.5 * k, 1, "t5") for k in range(3)],
            (20, 40, 60),
            iso(4, 0.4),
            120,
            seed=38,
            is_skewed=True,
        ),
        Setting(
            "t5 rows, d 32",
            [decaying(32, k, 1.0, "t5") for k in range(3)],
            (20, 50, 80),
            decaying(32, 8, 0.5, "t5"),
            200,
            seed=39,
            is_skewed=True,
        ),
        Setting(
            "t5 features, d 16",
            [iso(16, 0.2 * k, 1, "t5 each") for k in range(4)],
            (15, 25, 40, 60),
            iso(16, 0.3),
            150,
            (4, 3, 2, 1),
            40,
            True,
        ),
    ]


def new_settings():
    """Twenty federations."""
    return normal_settings() + exponential_settings() + heavy_settings()


def settings():
    return [*seen_settings(), *new_settings()]


def measured(setting, runs):
    """Bias in Monte Carlo errors, coverage, and the share of runs with a caution about the interval."""
    truth, values, held, said = setting.truth(), [], [], []
    for run in range(runs):
        row, cautions = setting.evaluated(run)
        values.append(row["all_corrected"])
        held.append(row["all_low"] <= truth <= row["all_high"])
        said.append(any(CAUTION in line for line in cautions))
    error = np.std(values, ddof=1) / math.sqrt(runs)
    return truth, np.mean(values), (np.mean(values) - truth) / error, np.mean(held), np.mean(said)


def main(runs=None, *names):
    print("| federation | truth | mean | bias, Monte Carlo errors | covered | caution |\n|---|---|---|---|---|---|")
    for setting in settings():
        if names and not any(name in setting.name for name in names):
            continue
        truth, mean, bias, covered, said = measured(setting, int(runs or RUNS))
        print(f"| {setting.name} | {truth:.5g} | {mean:.5g} | {bias:+.2f} | {covered:.3f} | {said:.2f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
