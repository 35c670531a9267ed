"""Is what `aggregate` says that noise moves a difference by, of one release, what it moves it by over many?

    python -m tests.calibration.noise_error          prints the table behind docs/federated.md (minutes)

Truth: the root mean square, over releases by own formulas (`tests/calibration/survival.py`), of what noise adds to the
difference of two FIDs. Beside it the share of it that is said of single releases: the median of some, and their range.
"""

import numpy as np

import nbmetrics as nm
from nbmetrics.federated.noise_error import noise_moves, rms
from nbmetrics.labs.privacy import digits_study
from tests.calibration.survival import DELTA, released, scores

EPSILONS = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0)
OWN_DRAWS, RELEASES = 150, 10


def wide_and_narrow():
    rng = np.random.default_rng(0)
    clients = [rng.normal(0, 1, (100, 16)) for _ in range(3)]
    return clients, {"wide": rng.normal(0, 1.5, (2000, 16)), "narrow": rng.normal(0, 0.8, (2000, 16))}, 12.0


def digits():
    """Those of the PrivacyLab, about their middle."""
    rows, labels = nm.datasets.digits()
    made = nm.datasets.trained_samples("checkpoints")
    federation = nm.Federation.dirichlet(digits_study.average_pixels(rows), labels, 5, 0.5, seed=0)
    generators = {}
    for name in ("WGAN-GP late", "DDPM late"):
        model, step = digits_study.CHECKPOINTS[name]
        (place,) = np.flatnonzero((made.model == model) & (made.step == step) & (made.seed == 0))
        generators[name] = digits_study.average_pixels(made.rows[place]) - digits_study.MIDDLE
    return [np.asarray(client.rows) - digits_study.MIDDLE for client in federation], generators, digits_study.FARTHEST


def falling():
    """Features of ever smaller spread."""
    rng, scales = np.random.default_rng(0), (1.0 + np.arange(32.0)) ** -0.7
    clients = [(rng.normal(size=(1000, 32)) + 0.2 * rng.normal(size=32)) * scales for _ in range(4)]
    near, shifted = 1.05 * rng.normal(size=(3000, 32)) * scales, rng.normal(size=(3000, 32)) * scales + 0.05
    return clients, {"near": near, "shifted": shifted}, 6.0


def collapsed():
    rng = np.random.default_rng(0)
    clients = [rng.normal(k, 1, (300, 8)) for k in range(3)]
    flat = rng.normal(1, 1, (500, 8)) * np.r_[1.0, np.full(7, 0.01)]
    return clients, {"point": rng.normal(1, 0.05, (500, 8)), "line": flat}, 8.0


def few_directions():
    """Clients of 4 directions that count among 32, and generators that all have more: what no generator tells."""
    rng, scales = np.random.default_rng(0), np.r_[np.ones(4), np.full(28, 0.01)]
    clients = [(rng.normal(size=(500, 32)) + 0.3 * rng.normal(size=32)) * scales for _ in range(4)]
    made = {name: rng.normal(size=(3000, 32)) * np.maximum(scales, least) for name, least in (("a", 0.2), ("b", 0.1))}
    return clients, made, 6.0


CASES = {"too wide, too narrow": wide_and_narrow, "digits": digits, "falling spreads": falling, "collapsed": collapsed}
# Beyond what can be told from a release and its generators.
BEYOND = {"few directions": few_directions}


def truth(case, epsilon, seed=1, draws=OWN_DRAWS):
    """(2,): by avg and all, the root mean square of what noise adds to the difference of the first two generators."""
    clients, generators, clip = case
    z, sizes, rng = (
        nm.federated.noise_multiplier(epsilon, DELTA),
        [len(x) for x in clients],
        np.random.default_rng(seed),
    )
    drawn = np.array([scores([released(x, clip, z, rng) for x in clients], sizes, generators) for _ in range(draws)])
    without = scores([released(x, clip, 0.0, rng) for x in clients], sizes, generators)
    moved = drawn - without
    return np.sqrt(((moved[..., 0] - moved[..., 1]) ** 2).mean(axis=0))


def said(case, epsilon, releases=RELEASES):
    """(releases, 2): what single releases say of that, by avg and by all."""
    clients, generators, clip = case
    found = []
    for release in range(releases):
        sent = [
            nm.federated.client_summary(
                x, "fid", privacy=nm.federated.Privacy(epsilon, DELTA, clip, seed=1000 * release + c)
            )
            for c, x in enumerate(clients)
        ]
        made = nm.federated.aggregate(sent, None, generators, "fid", seed=release)
        moves = noise_moves(made.result("fid"), made.weights, release)
        found.append([rms(moves[:, p, 0] - moves[:, p, 1]) for p in range(2)])
    return np.array(found)


def main(runs=None):
    print(
        "| clients and generators | ε | FID-avg moves by | said | FID-all moves by | said |\n|---|--:|--:|--:|--:|--:|"
    )
    for name, make in {**CASES, **BEYOND}.items():
        case = make()
        for epsilon in EPSILONS:
            true = truth(case, epsilon, draws=runs or OWN_DRAWS)
            shares = said(case, epsilon, runs or RELEASES) / true
            cells = [
                f"{true[p]:.2g} | {np.median(shares[:, p]):.2f} ({shares[:, p].min():.2f}–{shares[:, p].max():.2f})"
                for p in range(2)
            ]
            print(f"| {name} | {epsilon:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
