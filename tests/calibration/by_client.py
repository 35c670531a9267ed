"""How often intervals of intra, avg and all contain the truth where a generator has one distribution for each client.

    python -m tests.calibration.by_client [RUNS]      prints the table of docs/intervals.md (half an hour)

Normal clients of decaying scales and unlike means. `right` is 10 % too wide in its own place; `swapped` makes for each
client what is right for the next. Truths are those of the exact distributions. Weights are unequal.
"""

import sys

import numpy as np

import nbmetrics as nm

# Features, clients, rows of each client and of what is made for it.
SETTINGS = ((16, 2, 24), (16, 10, 24), (16, 4, 64), (32, 5, 96), (16, 2, 320), (8, 10, 160))
PARTS, METRICS = ("intra", "avg", "all"), ("fid", "kid")
RUNS = 1_000


def distributions(d, count):
    """The clients, with weights, and what two generators make for each, as exact distributions."""
    rng, scales = np.random.default_rng([d, count]), (1.0 + np.arange(d)) ** -0.7
    means = rng.normal(size=(count, d)) * scales
    names = [f"c{i}" for i in range(count)]
    clients = {name: nm.Gaussian(mean, np.diag(scales**2)) for name, mean in zip(names, means, strict=True)}
    wide = [nm.Gaussian(mean, np.diag((1.1 * scales) ** 2)) for mean in means]
    right = dict(zip(names, wide, strict=True))
    swapped = dict(zip(names, [*wide[1:], wide[0]], strict=True))
    return clients, 1.0 + np.arange(count) % 3, {"right": right, "swapped": swapped}


def scored(clients, weights, generators, uncertainty=None):
    parties = [nm.Client(x, name=n, weight=w) for (n, x), w in zip(clients.items(), weights, strict=True)]
    return nm.evaluate(nm.Federation(parties), generators, METRICS, uncertainty=uncertainty, progress=False).table


def draws(setting, runs):
    """Yield the table of each run, of rows drawn anew."""
    d, count, n = setting
    clients, weights, generators = distributions(d, count)
    for run in range(runs):
        rng = np.random.default_rng([d, count, n, run])
        rows = {name: distribution.sample(n, rng) for name, distribution in clients.items()}
        made = {g: {name: own.sample(n, rng) for name, own in parts.items()} for g, parts in generators.items()}
        yield scored(rows, weights, made, nm.Influence())


def coverage(setting, runs):
    """By generator, metric and aggregate the share of runs whose 90 % interval contains the truth, (4, 3)."""
    truth = scored(*distributions(*setting[:2]))[list(PARTS)].to_numpy()
    hits = np.zeros_like(truth)
    for table in draws(setting, runs):
        low, high = (table[[f"{part}_{end}" for part in PARTS]].to_numpy() for end in ("low", "high"))
        hits += (low <= truth) & (truth <= high)
    return hits / runs


def main(runs=None):
    runs = runs or RUNS
    heads = [f"{metric} {part}" for metric in METRICS for part in PARTS]
    print(f"{runs:,} runs a row\n\n| d | clients | rows | generator | {' | '.join(heads)} |")
    print("|--:|--:|--:|:--|" + "--:|" * 6)
    for setting in SETTINGS:
        keys = [(metric, generator) for metric in METRICS for generator in ("right", "swapped")]
        by_row = dict(zip(keys, coverage(setting, runs), strict=True))
        for generator in ("right", "swapped"):
            shares = [f"{share:.3f}" for m in METRICS for share in by_row[m, generator]]
            print("|", " | ".join(map(str, (*setting, generator, *shares))), "|", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)
