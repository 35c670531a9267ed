"""How often the intervals of `nm.Influence` hold the truth: FID of one client, federations, weak regimes, KID.

    python -m tests.calibration.intervals          prints the tables of docs/intervals.md (minutes)

Isotropic, rectified and elliptical rows, whose population moments are known exactly (`tests/populations.py`).
"""

import itertools
import sys

import numpy as np

import nbmetrics as nm
from tests.calibration.kid_all import Distribution
from tests.populations import elliptical, fid, fid_avg_and_all, normal, rectified

LEVELS = 0.9, 0.95
RATIOS = (1.1, 1.25, 1.5, 2, 5, 20)
# Runs by number of features: fewer where one costs more.
RUNS = {2: 400, 16: 300, 64: 60, 256: 15}
FEDERATION_RUNS, WEAK_RUNS, KID_RUNS = 100, 400, 300
PARTS = "avg", "all", "gap"
CAUTION = "more error than the interval says"


# Distribution of the client's rows and of the generated ones, features, rows of the client and of the generator.
WEAK = (
    ("exponential", "exponential", 2, 400, 40),
    ("exponential", "exponential", 2, 400, 80),
    ("exponential", "exponential", 4, 400, 40),
    ("exponential", "exponential", 4, 400, 80),
    ("exponential", "exponential", 4, 80, 80),
    ("exponential", "exponential", 8, 160, 160),
    ("t5", "normal", 16, 32, 320),
    ("t5", "normal", 16, 80, 320),
    ("t5", "normal", 16, 320, 320),
    ("t5", "t5", 4, 80, 80),
)


def pairs(d):
    """Client and generator of each row of the grid."""
    yield "iso, perfect", normal(d), normal(d)
    yield "iso, scaled", normal(d), normal(d, scale=1.2)
    yield "rectified, perfect", rectified(d, 0), rectified(d, 0)
    yield "rectified, other", rectified(d, 0), rectified(d, 1, mean=0.05)
    yield "elliptical .1", elliptical(d, 0.1), normal(d, scale=1.1)
    yield "elliptical .5", elliptical(d, 0.5), normal(d, scale=1.1)


def drawn(distributions, sizes, generators, m, rng, weights=None):
    """A federation of rows of these distributions, and rows of the generators."""
    federation = nm.Federation(
        [distribution.sample(n, rng) for distribution, n in zip(distributions, sizes, strict=True)]
    )
    federation = federation if weights is None else federation.with_weights(weights)
    return federation, {name: distribution.sample(m, rng) for name, distribution in generators.items()}


def evaluated(distributions, sizes, generators, m, metrics, rng, weights=None, level=LEVELS[0]):
    federation, made = drawn(distributions, sizes, generators, m, rng, weights)
    return nm.evaluate(federation, made, metrics, uncertainty=nm.Influence(level), progress=False)


def tables(distributions, sizes, generator, m, metric, rng, weights=None):
    """Of one draw, the scores at each level."""
    federation, made = drawn(distributions, sizes, {"g": generator}, m, rng, weights)
    return [nm.evaluate(federation, made, metric, uncertainty=nm.Influence(level), progress=False) for level in LEVELS]


def single(d, ratio, client, generator, runs=None):
    """Rows, the true FID, bias and spread of FID∞, and coverage by level; NaN where there is no interval."""
    truth, rng, rows = round(fid(client, generator), 12), np.random.default_rng(0), []
    n = max(10, int(np.ceil(ratio * d - 1e-9)))
    m = 20 * d if d < 256 else 8 * d
    for _ in range(runs or RUNS[d]):
        both = [s.table.iloc[0] for s in tables([client], [n], generator, max(m, 40), "fid_infinity", rng)]
        has = np.isfinite(both[0]["avg_low"])
        rows.append((both[0]["avg"], *(row["avg_low"] <= truth <= row["avg_high"] if has else np.nan for row in both)))
    values, *hits = np.array(rows, dtype=float).T
    return n, truth, values.mean() - truth, values.std(), [np.mean(hit) for hit in hits]


def grid(runs=None, features=tuple(RUNS)):
    print("| rows | d | n/d | n | true FID | bias | sd | covered: 90, 95 % |\n|---|---|---|---|---|---|---|---|")
    for d, ratio in itertools.product(features, RATIOS):
        if (d == 2 and ratio < 5) or (d == 256 and ratio > 5):
            continue
        for name, client, generator in pairs(d):
            if d == 256 and "perfect" in name:
                continue
            n, truth, bias, sd, covered = single(d, ratio, client, generator, runs)
            said = "no interval" if np.isnan(covered).any() else ", ".join(f"{x:.2f}" for x in covered)
            print(f"| {name} | {d} | {ratio} | {n} | {truth:.3g} | {bias:+.2g} | {sd:.2g} | {said} |", flush=True)


def federations(runs=None, d=64):
    sizes = (96, 96, 128, 200, 300)
    clients = {
        "alike, iso": [normal(d)] * 5,
        "means, iso": [normal(d, 0.2 * k) for k in range(5)],
        "scales .7 to 1.3, iso": [normal(d, scale=s) for s in np.linspace(0.7, 1.3, 5)],
        "alike, rectified": [rectified(d, 0)] * 5,
        "unlike, rectified": [rectified(d, k) for k in range(5)],
    }
    print(
        "\n| clients | weights | true avg, all, gap | bias | sd | 90 % covered: avg, all, gap | 95 % |\n"
        "|---|---|---|---|---|---|---|"
    )
    for (name, distributions), kind in itertools.product(clients.items(), ("sizes", "equal")):
        weights = np.array(sizes if kind == "sizes" else [1] * 5, dtype=float)
        weights /= weights.sum()
        generator, rng = rectified(d, 9) if "rect" in name else normal(d), np.random.default_rng(1)
        avg, whole = fid_avg_and_all(distributions, weights, generator)
        truth, found = np.array([avg, whole, avg - whole]), []
        for _ in range(runs or FEDERATION_RUNS):
            both = [
                s.table.iloc[0] for s in tables(distributions, sizes, generator, 20 * d, "fid_infinity", rng, weights)
            ]
            found.append([(both[0][part], *held(both, part, t)) for part, t in zip(PARTS, truth, strict=True)])
        values, *hits = np.moveaxis(np.array(found, dtype=float), 2, 0)
        cells = [", ".join(f"{x:.2g}" for x in row) for row in (truth, values.mean(0) - truth, values.std(0))]
        covered = " | ".join(", ".join(f"{x:.2f}" for x in hit.mean(0)) for hit in hits)
        print(f"| {name} | {kind} | {' | '.join(cells)} | {covered} |", flush=True)


def held(both, part, truth):
    """Whether the interval of each level holds the truth."""
    return [row[f"{part}_low"] <= truth <= row[f"{part}_high"] for row in both]


def weak(runs=None):
    """Regimes in which fewer intervals hold than they say, and the share of the runs that have a caution."""
    runs = runs or WEAK_RUNS
    heads = "| rows, generated ones, features | rows | generated | runs | interval | covered | caution |"
    print(f"\n{heads}\n|---|---|---|---|---|---|---|")
    for own, made, d, n, m in WEAK:
        rng, found, has, warned = np.random.default_rng(4), [], 0, 0
        client, generator = (
            Distribution(np.full(d, mean), np.eye(d), kind) for mean, kind in ((0.0, own), (0.3, made))
        )
        truth = fid(client, generator)
        for _ in range(runs):
            both = tables([client], [n], generator, m, "fid_infinity", rng)
            warned += any(CAUTION in line for line in both[0].cautions)
            rows = [scores.table.iloc[0] for scores in both]
            if np.isfinite(rows[0]["avg_low"]):
                has += 1
                found.append(held(rows, "avg", truth))
        covered = ", ".join(f"{x:.2f}" for x in np.mean(found, axis=0)) if found else "–"
        print(
            f"| {own}, {made}, d {d} | {n} | {m} | {runs} | {has / runs:.2f} | {covered} | {warned / runs:.2f} |",
            flush=True,
        )


def kid_coverage(runs=None):
    print("\n| kernel | clients × rows, d | generated | 90 % covered: avg, all, gap | 95 % |\n|---|---|---|---|---|")
    distributions = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0.5], [2, 1])]
    generator = nm.Gaussian([0.3, 0.8], [[1.5, 0.4], [0.4, 0.7]])
    wide = [nm.Gaussian(np.full(32, 0.1 * k)) for k in range(2)], nm.Gaussian(np.full(32, 0.2), 1.2)
    for kernel, name in ((nm.Polynomial(), "cubic"), (nm.RBF(), "RBF, σ = √d")):
        for (clients, made), n in (
            ((distributions, generator), 20),
            ((distributions, generator), 60),
            ((distributions, generator), 200),
            (wide, 40),
        ):
            metric, rng, hits = nm.metrics.KID(kernel), np.random.default_rng(2), []
            truth = nm.evaluate(clients, {"g": made}, metric, progress=False).table.iloc[0]
            for _ in range(runs or KID_RUNS):
                both = [s.table.iloc[0] for s in tables(clients, [n] * 2, made, 2 * n, metric, rng)]
                hits.append([held(both, part, truth[part]) for part in PARTS])
            covered = " | ".join(", ".join(f"{x:.2f}" for x in level) for level in np.mean(hits, axis=0).T)
            print(f"| {name} | 2 × {n}, {made.dim} | {2 * n} | {covered} |", flush=True)


def main(runs=None, *parts):
    for part in parts or ("grid", "federations", "weak", "kid_coverage"):
        globals()[part](runs)


if __name__ == "__main__":
    main(None, *sys.argv[1:])
