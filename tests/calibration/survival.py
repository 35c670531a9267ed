"""Is an order that noise makes ever called survived, and one that stands out of the noise always?

    python -m tests.calibration.survival [FEDERATIONS]     prints the table behind docs/federated.md (minutes)

Federations of random sizes, features, spreads and means, with two or three generators. "noise": somebody's difference
from the best is far below what noise adds to it; "signal": every difference is far above. Which is which is judged
here, by own formulas for the releases and for FID, and not by the study: the root mean square of what noise adds to a
difference, over draws of their own, beside that difference.
"""

import sys
from dataclasses import dataclass

import numpy as np

import nbmetrics as nm

FAR = 5.0
EPSILONS, DELTA = {"noise": 0.2, "signal": 1.0}, 1e-5
OWN_DRAWS = 100
FEDERATIONS = 20


@dataclass
class Case:
    """Rows of clients and generators, and how they are noised."""

    clients: list
    generators: dict
    clip: float
    epsilon: float

    @property
    def multiplier(self):
        """Of the noise, for two metrics together."""
        return nm.federated.noise_multiplier(self.epsilon, DELTA, 2)


def federation(kind, seed):
    """A random federation. Generators are a little too wide or too narrow in "noise", and far apart in "signal"."""
    rng = np.random.default_rng([seed, kind == "noise"])
    d, count = int(rng.choice([2, 4, 8])), int(rng.integers(2, 6))
    scales = np.exp(rng.normal(0, 0.4, size=d))
    sizes = rng.integers(60, 200, size=count) if kind == "noise" else rng.integers(2_000, 9_000, size=count)
    centres = rng.normal(0, 0.5, size=(count, d)) * scales
    clients = [
        c + rng.normal(size=(n, d)) * scales * rng.uniform(0.8, 1.2) for c, n in zip(centres, sizes, strict=True)
    ]
    generators, middle = {}, centres.mean(axis=0)
    for k in range(int(rng.integers(2, 4))):
        wide = 1.0 + (0.1 * (-1) ** k * rng.uniform(0.9, 1.1) if kind == "noise" else 0.0)
        away = (0.01 * rng.normal(size=d) if kind == "noise" else rng.uniform(0.5, 1.2) * k * np.eye(d)[0]) * scales
        generators[f"g{k}"] = middle + away + wide * rng.normal(size=(1_000, d)) * scales
    clip = float(3.0 * np.linalg.norm(scales) + 3.0 * np.abs(centres).max())
    return Case(clients, generators, clip, EPSILONS[kind])


def sqrt_of(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def fid(mean, cov, rows):
    """Of moments and rows, by its definition."""
    other = np.cov(rows.T).reshape(len(mean), -1)
    root = sqrt_of(other)
    cross = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ cov @ root), 0.0)).sum()
    return ((mean - rows.mean(axis=0)) ** 2).sum() + np.trace(cov) + np.trace(other) - 2 * cross


def positive(cov):
    values, vectors = np.linalg.eigh(cov)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def released(rows, clip, z, rng):
    """Mean and second moment of clipped rows with the noise of multiplier z, and the variance of the mean's noise."""
    n, d = rows.shape
    clipped = rows * np.minimum(1.0, clip / np.linalg.norm(rows, axis=1))[:, None]
    sigma = z * np.sqrt(4.5) / n
    noise = rng.normal(0, sigma, size=(d, d))
    noise = np.triu(noise, 1) / np.sqrt(2) + np.diag(np.diagonal(noise))
    noise += np.triu(noise, 1).T
    return (
        clipped.mean(axis=0) + clip * sigma * rng.normal(size=d),
        clipped.T @ clipped / n + clip**2 * noise,
        (clip * sigma) ** 2,
    )


def scores(parts, sizes, generators):
    """(2, generators): FID avg and all of releases, by shares of the rows."""
    shares = np.array(sizes) / np.sum(sizes)

    def covariance(mean, second, variance, lost):
        return positive(second - np.outer(mean, mean) + variance * np.eye(len(mean))) / (1.0 - lost)

    avg = np.zeros(len(generators))
    for (mean, second, variance), n, share in zip(parts, sizes, shares, strict=True):
        cov = covariance(mean, second, variance, 1.0 / n)
        avg += share * np.array([fid(mean, cov, g) for g in generators.values()])
    mean, second = (sum(w * part[k] for w, part in zip(shares, parts, strict=True)) for k in (0, 1))
    lost, variance = (shares**2 / sizes).sum(), sum(w * w * part[2] for w, part in zip(shares, parts, strict=True))
    cov = covariance(mean, second, variance, lost)
    return np.array([avg, [fid(mean, cov, g) for g in generators.values()]])


def ratios(case, seed):
    """(2, rivals): what noise adds to the difference of the best and each rival, over that difference; avg and all."""
    rng, z = np.random.default_rng([seed, 7]), case.multiplier
    sizes = [len(rows) for rows in case.clients]
    silent = [released(rows, 1e9, 0.0, rng) for rows in case.clients]
    true = scores(silent, sizes, case.generators)
    draws = ([released(rows, case.clip, z, rng) for rows in case.clients] for _ in range(OWN_DRAWS))
    drawn = np.array([scores(parts, sizes, case.generators) for parts in draws])
    found = []
    for p in range(2):
        best = true[p].argmin()
        apart = np.delete(true[p] - true[p, best], best)
        shown = np.delete(drawn[:, p] - drawn[:, p, [best]], best, axis=1)
        found.append(np.sqrt(((shown - apart) ** 2).mean(axis=0)) / apart)
    return found


def kid_ratios(case, kernel):
    """The same of KID of random features, whose noise adds a normal to a difference: in closed form."""
    z, sizes = case.multiplier, np.array([len(rows) for rows in case.clients])
    shares = sizes / sizes.sum()
    means = {name: kernel.features(rows).mean(axis=0) for name, rows in case.generators.items()}
    sigma = z * 2.0 * np.sqrt(((shares / sizes) ** 2).sum())
    table = nm.evaluate(case.clients, case.generators, nm.metrics.KID(kernel), progress=False).table
    loss = dict(zip(table["generator"], table["all"], strict=True))
    best = min(loss, key=loss.get)
    rivals = [name for name in loss if name != best]
    lengths = np.array([np.linalg.norm(means[name] - means[best]) for name in rivals])
    return 2.0 * sigma * lengths / np.array([loss[name] - loss[best] for name in rivals])


def judged(kind, seed):
    """By metric and aggregate: (largest ratio of error and difference, said to survive, best first in 95 %)."""
    case = federation(kind, seed)
    kernel = nm.RandomFeatures(nm.RBF(), 64)
    options = {"clip": case.clip, "epsilons": [case.epsilon], "seed": seed, "progress": False}
    metrics = ["fid", nm.metrics.KID(kernel)]
    table = nm.federated.rank_survival(case.clients, case.generators, metrics, **options)
    said = table[table["epsilon"] == case.epsilon].set_index(["metric", "aggregate"])
    own = dict(zip((("fid", "avg"), ("fid", "all")), ratios(case, seed), strict=True))
    own |= {("kid", part): kid_ratios(case, kernel) for part in ("avg", "all")}
    stays = said["best_kept"] >= 0.95
    return {key: (found.max(), bool(said["survives"][key]), bool(stays[key])) for key, found in own.items()}


def verdicts(kind, federations):
    """By metric and aggregate, of so many federations of a kind: in how many it is said to survive, and stays first."""
    counts, seed = {}, 0
    while not counts or min(there for there, _, _ in counts.values()) < federations:
        for key, (largest, survives, stays) in judged(kind, seed).items():
            there, said, first = counts.setdefault(key, (0, 0, 0))
            is_of_kind = largest > FAR if kind == "noise" else largest < 1 / FAR
            if is_of_kind and there < federations:
                counts[key] = there + 1, said + survives, first + stays
        seed += 1
    return counts


def main(federations=None):
    print("| what orders | by | federations | said to survive | best first in 95 % of runs |\n|---|---|---|---|---|")
    for kind in ("noise", "signal"):
        for (metric, part), numbers in verdicts(kind, int(federations or FEDERATIONS)).items():
            print(f"| {kind} | {metric.upper()}-{part} | {' | '.join(map(str, numbers))} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
