"""Differencing: what two summaries of a client tell about who joined between them, as docs/federated.md says it."""

import itertools
import re

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.federated import serialization
from tests import ROOT

D, DRAWS_BY_DIM = 16, 20
GUIDE = (ROOT / "docs/federated.md").read_text("utf-8")


def sent(rows, metric="fid", **options):
    """(n, arrays) that a client sends."""
    section = serialization.read(nm.federated.client_summary(rows, metric, **options), "c")[1][metric]
    return int(section.count), section.arrays


def symmetric(triangle):
    matrix = np.zeros((D, D))
    matrix[np.triu_indices(D)] = triangle
    return matrix + np.triu(matrix, 1).T


def totals(count, arrays, about):
    """Σ x and Σ (x − about)(x − about)ᵀ, of mean and covariance."""
    factor = np.zeros((D, D))
    factor[np.triu_indices(D)] = arrays["factor"]
    apart = arrays["mean"] - about
    return count * arrays["mean"], (count - 1) * factor.T @ factor + count * np.outer(apart, apart)


def one_that_joined(before, after):
    return after[0] * after[1]["mean"] - before[0] * before[1]["mean"]


def two_that_joined(before, after):
    """Their sum from the means; their difference from the covariances, of which it is the one direction left."""
    about = before[1]["mean"]
    (sum_before, square_before), (sum_after, square_after) = (totals(*one, about) for one in (before, after))
    both = sum_after - sum_before
    moved = both - 2 * about
    values, vectors = np.linalg.eigh(square_after - square_before - np.outer(moved, moved) / 2)
    apart = np.sqrt(2 * values[-1]) * vectors[:, -1]
    return np.array([both + apart, both - apart]) / 2


def errors(attack, joined, **options):
    """The largest error of the rows that an attack finds, in each of some draws of 500 rows and those that join."""
    found = []
    for seed in range(DRAWS_BY_DIM):
        rows = np.random.default_rng(seed).normal(size=(500 + joined, D))
        guessed = np.atleast_2d(attack(sent(rows[:500], **options), sent(rows, **options)))
        found.append(np.abs(guessed[:, None] - rows[500:]).max(axis=2).min(axis=0).max())
    return np.array(found)


@pytest.mark.parametrize(
    ("attack", "joined", "options", "words"),
    [
        (one_that_joined, 1, {}, r"that patient to an error of ([\d.e-]+\d) to ([\d.e-]+\d)"),
        (one_that_joined, 1, {"precision": "float32"}, r"in `float32` (\S+) to (\S+)\)"),
        (two_that_joined, 2, {}, r"both of them to an error of ([\d.e-]+\d) to ([\d.e-]+\d)"),
    ],
    ids=["one", "one in float32", "two"],
)
def test_who_joins_is_known_as_exactly_as_the_guide_says(attack, joined, options, words):
    """Another machine rounds otherwise, so within a factor of 2."""
    found = errors(attack, joined, **options)
    low, high = (float(number) for number in re.search(words, " ".join(GUIDE.split())).groups())
    assert low / 2 < found.min() < 2 * low and high / 2 < found.max() < 2 * high


def test_columns_of_0_and_1_give_exact_counts_of_one_two_and_three_at_any_number_of_rows():
    rng = np.random.default_rng(0)
    for n in (60, 5_000, 100_000):
        rows = (rng.random(size=(n, D)) < rng.uniform(0.01, 0.5, size=D)).astype(float)
        count, arrays = sent(rows, "kid")
        mean, cov = arrays["mean"], symmetric(arrays["second"])
        found = {"one": count * mean, "two": count * (cov + np.outer(mean, mean))[np.triu_indices(D, 1)]}
        there = {"one": rows.sum(axis=0), "two": (rows.T @ rows)[np.triu_indices(D, 1)]}
        triples = list(itertools.combinations_with_replacement(range(D), 3))
        of_three = [(place, t) for place, t in enumerate(triples) if len(set(t)) == 3]
        found["three"] = [
            count
            * (
                arrays["third"][p]
                + mean[i] * cov[j, k]
                + mean[j] * cov[i, k]
                + mean[k] * cov[i, j]
                + mean[[i, j, k]].prod()
            )
            for p, (i, j, k) in of_three
        ]
        there["three"] = [(rows[:, i] * rows[:, j] * rows[:, k]).sum() for _, (i, j, k) in of_three]
        for size, counts in there.items():
            assert np.abs(np.array(found[size]) - counts).max() < 1e-4
            assert (np.round(found[size]) == counts).all()
        assert min(there["three"]) < 10 or n > 60  # among them cells that nobody would publish


def test_the_difference_of_two_summaries_is_the_summary_of_those_who_joined():
    """So whoever sends again tells of the newcomers what a summary of them alone would tell."""
    rows = np.random.default_rng(3).normal(size=(540, D))
    before, after, alone = sent(rows[:500]), sent(rows), sent(rows[500:])
    about = before[1]["mean"]
    for first, second, own in zip(*(totals(*one, about) for one in (before, after, alone)), strict=True):
        np.testing.assert_allclose(second - first, own, atol=1e-10)


def test_noise_hides_who_joined():
    private = nm.federated.Privacy(epsilon=5.0, clip=8.0)
    rows = np.random.default_rng(4).normal(size=(501, D))
    first, second = (sent(x, privacy=private)[1]["mean"] * 8.0 for x in (rows[:500], rows))
    assert np.abs(501 * second - 500 * first - rows[500]).max() > 1.0
