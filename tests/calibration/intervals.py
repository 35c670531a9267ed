"""How often the intervals of `nm.Influence` hold the truth: FID of one client over d × n/d, federations, KID, flips.

    python -m tests.calibration.intervals          prints the tables of docs/intervals.md (minutes)

Isotropic, rectified and elliptical rows, whose population moments are known exactly (`tests/populations.py`).
"""

import itertools
import sys

import numpy as np

import nbmetrics as nm
from tests.populations import elliptical, fid, fid_avg_and_all, normal, rectified

LEVEL = 0.9
RATIOS = (1.1, 1.25, 1.5, 2, 5, 20)
# Runs by number of features: fewer where one costs more.
RUNS = {2: 400, 16: 300, 64: 60, 256: 15}
FEDERATION_RUNS = 100


def pairs(d):
    """Client and generator of each row of the grid."""
    yield "iso, perfect", normal(d), normal(d)
    yield "iso, scaled", normal(d), normal(d, scale=1.2)
    yield "rectified, perfect", rectified(d, 0), rectified(d, 0)
    yield "rectified, other", rectified(d, 0), rectified(d, 1, mean=0.05)
    yield "elliptical .1", elliptical(d, 0.1), normal(d, scale=1.1)
    yield "elliptical .5", elliptical(d, 0.5), normal(d, scale=1.1)


def evaluated(laws, sizes, generators, m, metrics, rng, weights=None):
    federation = nm.Federation([law.sample(n, rng) for law, n in zip(laws, sizes, strict=True)])
    federation = federation if weights is None else federation.with_weights(weights)
    made = {name: law.sample(m, rng) for name, law in generators.items()}
    return nm.evaluate(federation, made, metrics, uncertainty=nm.Influence(LEVEL), progress=False)


def single(d, ratio, client, generator):
    """Bias of plain and corrected FID, spread, and coverage; NaN coverage where no interval is given."""
    truth, rng, rows, n = fid(client, generator), np.random.default_rng(0), [], max(10, int(np.ceil(ratio * d - 1e-9)))
    m = 20 * d if d < 256 else 8 * d
    for _ in range(RUNS[d]):
        row = evaluated([client], [n], {"g": generator}, max(m, 40), "fid_infinity", rng).table.iloc[0]
        has = np.isfinite(row["avg_low"])
        rows.append((row["avg"], row["avg_low"] <= truth <= row["avg_high"] if has else np.nan))
    values, hits = np.array(rows, dtype=float).T
    return n, truth, values.mean() - truth, values.std(), np.mean(hits)


def grid(features=tuple(RUNS)):
    print("| rows | d | n/d | n | true FID | bias | sd | covered |\n|---|---|---|---|---|---|---|---|")
    for d, ratio in itertools.product(features, RATIOS):
        if (d == 2 and ratio < 5) or (d == 256 and ratio > 5):
            continue
        for name, client, generator in pairs(d):
            if d == 256 and "perfect" in name:
                continue
            n, truth, bias, sd, covered = single(d, ratio, client, generator)
            said = "no interval" if np.isnan(covered) else f"{covered:.2f}"
            print(f"| {name} | {d} | {ratio} | {n} | {truth:.3g} | {bias:+.2g} | {sd:.2g} | {said} |", flush=True)


def federations(d=64):
    sizes = (96, 96, 128, 200, 300)
    clients = {
        "alike, iso": [normal(d)] * 5,
        "means, iso": [normal(d, 0.2 * k) for k in range(5)],
        "scales .7 to 1.3, iso": [normal(d, scale=s) for s in np.linspace(0.7, 1.3, 5)],
        "alike, rectified": [rectified(d, 0)] * 5,
        "unlike, rectified": [rectified(d, k) for k in range(5)],
    }
    print(
        "\n| clients | weights | true avg, all, gap | bias | sd | covered: avg, all, gap |\n|---|---|---|---|---|---|"
    )
    for (name, laws), kind in itertools.product(clients.items(), ("sizes", "equal")):
        weights = np.array(sizes if kind == "sizes" else [1] * 5, dtype=float)
        weights /= weights.sum()
        generator, rng = rectified(d, 9) if "rect" in name else normal(d), np.random.default_rng(1)
        avg, whole = fid_avg_and_all(laws, weights, generator)
        truth, found = np.array([avg, whole, avg - whole]), []
        for _ in range(FEDERATION_RUNS):
            row = evaluated(laws, sizes, {"g": generator}, 20 * d, "fid_infinity", rng, weights).table.iloc[0]
            ends = [(row[part], row[f"{part}_low"], row[f"{part}_high"]) for part in ("avg", "all", "gap")]
            found.append([(v, low <= t <= high) for (v, low, high), t in zip(ends, truth, strict=True)])
        values, hits = np.moveaxis(np.array(found, dtype=float), 2, 0)
        cells = [", ".join(f"{x:.2g}" for x in row) for row in (truth, values.mean(0) - truth, values.std(0))]
        covered = ", ".join(f"{x:.2f}" for x in hits.mean(0))
        print(f"| {name} | {kind} | {' | '.join(cells)} | {covered} |", flush=True)


def kid_coverage():
    print("\n| kernel | clients × rows, d | generated | covered: avg, all, gap |\n|---|---|---|---|")
    laws = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0.5], [2, 1])]
    generator = nm.Gaussian([0.3, 0.8], [[1.5, 0.4], [0.4, 0.7]])
    wide = [nm.Gaussian(np.full(32, 0.1 * k)) for k in range(2)], nm.Gaussian(np.full(32, 0.2), 1.2)
    for kernel, name in ((nm.Polynomial(), "cubic"), (nm.RBF(), "RBF, σ = √d")):
        for (clients, made), n in (
            ((laws, generator), 20),
            ((laws, generator), 60),
            ((laws, generator), 200),
            (wide, 40),
        ):
            metric, rng, hits = nm.metrics.KID(kernel), np.random.default_rng(2), []
            truth = nm.evaluate(clients, {"g": made}, metric, progress=False).table.iloc[0]
            for _ in range(300):
                row = evaluated(clients, [n] * 2, {"g": made}, 2 * n, metric, rng).table.iloc[0]
                hits.append([row[f"{p}_low"] <= truth[p] <= row[f"{p}_high"] for p in ("avg", "all", "gap")])
            covered = ", ".join(f"{x:.2f}" for x in np.mean(hits, axis=0))
            print(f"| {name} | 2 × {n}, {made.dim} | {2 * n} | {covered} |", flush=True)


def flips():
    print("\n| metric | said | runs | actually the other way |\n|---|---|---|---|")
    for metric in ("fid", "kid"):
        rng, said, wrong = np.random.default_rng(3), [], []
        for k in range(600):
            laws, offset = [normal(8, 0.1 * j) for j in range(2)], 0.02 + 0.02 * (k % 6)
            first, second = normal(8, 0.3), normal(8, 0.3 + offset)
            scores = evaluated(laws, [60, 60], {"first": first, "second": second}, 240, metric, rng)
            row = scores.flips(metric).iloc[0]
            said.append(row["all_p"])
            wrong.append(row["all_prefers"] == "second")
        said, wrong = np.array(said), np.array(wrong)
        for low, high in itertools.pairwise((0, 0.05, 0.15, 0.25, 0.35, 0.5, 1.0)):
            inside = (said >= low) & (said < high)
            if inside.sum() >= 10:
                print(
                    f"| {metric} all | {said[inside].mean():.2f} | {inside.sum()} | {wrong[inside].mean():.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    for part in sys.argv[1:] or ("grid", "federations", "kid_coverage", "flips"):
        globals()[part]()
