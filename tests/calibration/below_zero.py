"""How often is a corrected FID-all called too low to be chance: of perfect generators, of fixed numbers, of copies?

    python -m tests.calibration.below_zero          prints the table behind docs/metrics.md (minutes)

A perfect generator draws from the clients' mixture. Fixed numbers: it draws equally many rows of each client. Copies:
half of its rows are the clients' own with a little noise.
"""

import numpy as np

import nbmetrics as nm
from nbmetrics.evaluation.winners import lies_below_zero

# Features, rows a client, generated rows.
REGIMES = ((8, 300, 900), (32, 100, 300), (64, 300, 600))
KINDS = ("perfect", "fixed numbers", "copies")


def draw(d, rows, made, kind, seed):
    """Three clients at unlike places, and a generator of one kind."""
    rng, spread = np.random.default_rng([seed, d, KINDS.index(kind)]), np.arange(1, d + 1) ** -0.5
    clients = [rng.normal(size=(rows, d)) * spread + 0.5 * k for k in range(3)]
    chosen = np.arange(made) % 3 if kind == "fixed numbers" else rng.integers(0, 3, made)
    generated = rng.normal(size=(made, d)) * spread + 0.5 * chosen[:, None]
    if kind == "copies":
        own = rng.permutation(np.concatenate(clients))[: made // 2]
        generated[: len(own)] = own + 0.01 * rng.normal(size=own.shape)
    return clients, {"generator": generated}


def below(regime, kind, runs):
    """Of how many runs the 90 % interval lies below 0, and of how many it is said that this is no chance."""
    intervals = cautions = 0
    for seed in range(runs):
        scores = nm.evaluate(*draw(*regime, kind, seed), "fid", uncertainty=nm.Influence(), progress=False)
        intervals += bool(scores.table["all_high"][0] < 0)
        cautions += bool(lies_below_zero(scores.result("fid"))[0])
    return intervals, cautions


if __name__ == "__main__":
    RUNS = 400
    print("| d | rows a client | generated rows | generator | interval below 0 | caution |\n|---|---|---|---|---|---|")
    for regime in REGIMES:
        for kind in KINDS:
            shares = (f"{count / RUNS:.1%}" for count in below(regime, kind, RUNS))
            print("|", " | ".join(map(str, (*regime, kind, *shares))), "|", flush=True)
