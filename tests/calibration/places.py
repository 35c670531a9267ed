"""How often the Dashboard tells a pair of generators apart the wrong way round: 5 % are allowed, all pairs together.

    python -m tests.calibration.places [RUNS]      prints the table of docs/intervals.md (minutes)

Few rows, many features: 6 clients, 64 features of decaying scales, 4 generators × 300 rows. Truths are exact.
"""

import itertools
import sys

import numpy as np

import nbmetrics as nm
from nbmetrics.labs.dashboard.federation_comparison import FederationComparison
from nbmetrics.labs.dashboard.place_ranges import place_ranges
from tests.populations import Distribution, elliptical, fid_avg_and_all, rectified

D, CLIENTS, GENERATORS, MADE = 64, 6, 4, 300
SCALES = (1.0 + np.arange(D)) ** -0.7
DIRECTIONS = np.linalg.qr(np.random.default_rng(0).normal(size=(D, GENERATORS)))[0].T
BASES = ("normal", "elliptical .1", "rectified")
# Of the root of the total variance: how far the clients' means are from that of all.
APART = 0.3
RUNS = 200
KINDS = ("one distribution", "as far", "farther and farther")


def base(kind):
    if kind == "rectified":
        return rectified(D, 0)
    if kind == "elliptical .1":
        round_distribution = elliptical(D, 0.1)
        return Distribution(np.zeros(D), np.diag(SCALES**2), lambda n, rng: round_distribution.sample(n, rng) * SCALES)
    return Distribution(np.zeros(D), np.diag(SCALES**2), lambda n, rng: rng.normal(size=(n, D)) * SCALES)


def moved(distribution, by):
    return Distribution(distribution.mean + by, distribution.cov, lambda n, rng: distribution.sample(n, rng) + by)


def setting(kind, generators):
    """Clients of different means, and four generators."""
    distribution = base(kind)
    unit = np.sqrt(np.trace(distribution.cov))
    shifts = APART * unit * np.random.default_rng(1).normal(size=(CLIENTS, D)) / np.sqrt(D)
    clients = [moved(distribution, shift - shifts.mean(axis=0)) for shift in shifts]
    lengths = {"one distribution": [0] * 4, "as far": [0.3] * 4, "farther and farther": [0.1, 0.15, 0.2, 0.25]}[
        generators
    ]
    made = [moved(distribution, length * unit * u) for length, u in zip(lengths, DIRECTIONS, strict=True)]
    return clients, made


def truths(kind, generators, clients, made):
    """By "fid avg", "fid all" and, where it is known, "kid": the score of each generator."""
    equal = np.full(CLIENTS, 1.0 / CLIENTS)
    found = np.array([fid_avg_and_all(clients, equal, distribution) for distribution in made])
    known = {"fid avg": found[:, 0], "fid all": found[:, 1]}
    if generators == "one distribution":
        known["kid"] = np.zeros(GENERATORS)
    elif kind == "normal":
        distributions = [
            [nm.Gaussian(distribution.mean, distribution.cov) for distribution in side] for side in (clients, made)
        ]
        known["kid"] = nm.evaluate(*distributions, "kid", progress=False).values("kid").avg
    return known


def told_apart(clients, made, rows, rng):
    """Who is shown to be better than whom, by what the verdict rests on; None where there is no interval."""
    real = {f"c{i}": distribution.sample(rows, rng) for i, distribution in enumerate(clients)}
    generated = {f"g{j}": distribution.sample(MADE, rng) for j, distribution in enumerate(made)}
    study = FederationComparison(real, generated, ("fid", "kid"), None)
    for step in study._filling.steps():
        step()
    fid, kid = (study.weighted_scores(metric, study.weights) for metric in ("fid", "kid"))
    sides = {
        "fid avg": (fid.avg_centres, fid.avg_draws),
        "fid all": (fid.all_centres, fid.all_draws),
        "kid": (kid.avg_centres, kid.avg_draws),
    }
    return {
        name: None if draws is None else place_ranges(losses, draws).better for name, (losses, draws) in sides.items()
    }


def shares(kind, generators, rows, runs):
    """By score the share of runs with a pair told apart wrongly, and of pairs that differ the share told apart."""
    clients, made = setting(kind, generators)
    truth, rng = truths(kind, generators, clients, made), np.random.default_rng(2)
    wrong, right = {name: [] for name in truth}, {name: [] for name in truth}
    for _ in range(runs):
        found = told_apart(clients, made, rows, rng)
        for name, scores in truth.items():
            if found[name] is None:
                continue
            ahead = scores[:, None] < scores[None, :] - 1e-9 * np.abs(scores).max()
            wrong[name].append((found[name] & ~ahead).any())
            if generators == "farther and farther":
                right[name].append((found[name] & ahead).sum() / ahead.sum())
    return {name: (np.mean(wrong[name]), right[name]) if wrong[name] else None for name in truth}


def cell(found, name):
    if found.get(name) is None:
        return "no interval" if name in found else "–"
    wrong, right = found[name]
    return f"{wrong:.3f}, {100 * np.mean(right):.0f} %" if right else f"{wrong:.3f}"


def main(runs=None):
    print("| rows | clients | generators | FID avg | FID all | KID |\n|---|---|---|---|---|---|")
    for kind, rows, generators in itertools.product(BASES, (40, 100), KINDS):
        found = shares(kind, generators, rows, int(runs or RUNS))
        cells = " | ".join(cell(found, name) for name in ("fid avg", "fid all", "kid"))
        print(f"| {kind} | {CLIENTS} × {rows} | {generators} | {cells} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
