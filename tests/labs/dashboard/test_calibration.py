"""How often the verdict names a winner among generators that are alike: rows drawn anew, from the rows to the sentence.

Few rows, decaying spectra and heavy tails, where intervals of FID go wrong first.
"""

import math
import re
from contextlib import closing

import numpy as np
import pytest

import nbmetrics as nm

CLIENTS = np.random.default_rng(99).normal(size=(4, 1)) / 2
DRAWN = {
    "decaying": lambda rng, n, d: rng.normal(size=(n, d)) * np.arange(1, d + 1) ** -0.75,
    "heavy tails": lambda rng, n, d: rng.standard_t(5, size=(n, d)) * np.arange(1, d + 1) ** -0.75,
    "rectified": lambda rng, n, d: np.maximum(rng.normal(size=(n, d)), 0.0),
}


def verdict(world, kind, rows, d, metric, widths):
    """What is said of four clients and of one generator a width, all drawn anew."""
    rng, draw = np.random.default_rng([17, world]), DRAWN[kind]
    clients = [shift + draw(rng, rows, d) for shift in CLIENTS]
    generators = {f"g{i}": width * draw(rng, rows, d) for i, width in enumerate(widths)}
    with closing(nm.Dashboard(clients, generators, metric)) as lab:
        lab.wait()
        return lab.verdict[0]


def names_a_winner(sentence):
    """Whether it says, without a word on chance, sample size or ties, that some are better than others."""
    return not any(word in sentence for word in ("all 4 generators are tied", "chance", "sample size"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "rows", "d", "metric"),
    [
        ("decaying", 60, 32, "fid"),
        ("decaying", 40, 64, "fid"),
        ("heavy tails", 50, 16, "fid"),
        ("rectified", 150, 64, "fid"),
        ("decaying", 60, 32, "kid"),
    ],
)
def test_alike_generators_are_told_apart_in_five_of_a_hundred_worlds_at_most(kind, rows, d, metric):
    worlds = 100
    told = sum(names_a_winner(verdict(world, kind, rows, d, metric, [1.3] * 4)) for world in range(worlds))
    assert told / worlds <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / worlds)


def of_two_by_client(world, kind, rows, d, metric, case):
    """What is said of two generators with one distribution a client: alike by intra, or alike by all, and not by both.

    "one shift": each part is as far from its client, so intra is the same; of the second the shifts cancel in the pool.
    "swapped": the second makes for each client what the first makes for the next one, so all is the same.
    """
    rng, draw = np.random.default_rng([18, world]), DRAWN[kind]
    clients = {f"c{i}": shift + draw(rng, rows, d) for i, shift in enumerate(CLIENTS)}
    moves = {"one shift": ([1, 1, 1, 1], [1, -1, 1, -1]), "swapped": ([0] * 4, [0] * 4)}[case]
    made = [
        [shift + move * np.eye(d)[0] + draw(rng, rows, d) for shift, move in zip(CLIENTS, own, strict=True)]
        for own in moves
    ]
    if case == "swapped":
        made[1] = made[1][1:] + made[1][:1]
    generators = {f"g{k}": dict(zip(clients, own, strict=True)) for k, own in enumerate(made)}
    with closing(nm.Dashboard(clients, generators, metric)) as lab:
        lab.wait()
        return lab.verdict[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "rows", "d", "metric", "case"),
    [
        ("decaying", 60, 32, "fid", "one shift"),
        ("heavy tails", 50, 16, "fid", "one shift"),
        ("decaying", 60, 32, "fid", "swapped"),
        ("rectified", 150, 64, "fid", "swapped"),
        ("decaying", 60, 32, "kid", "swapped"),
    ],
)
def test_intra_and_all_disagree_without_reason_in_five_of_a_hundred_worlds_at_most(kind, rows, d, metric, case):
    worlds = 100
    told = sum("intra and all disagree" in of_two_by_client(w, kind, rows, d, metric, case) for w in range(worlds))
    assert told / worlds <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / worlds)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["fid", "kid"])
def test_a_generator_that_is_better_is_named(metric):
    said = [verdict(world, "decaying", 200, 16, metric, [1.0, 2.5, 2.6, 2.7]) for world in range(2)]
    assert all(re.search(r"g0 (wins|is first by avg and by all)", sentence) for sentence in said), said
    assert all(map(names_a_winner, said))
