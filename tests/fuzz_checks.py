"""What answers to hostile input must look like: finite, of the right shape."""

import math

import numpy as np
import pytest


def number(value):
    assert isinstance(value, float) and math.isfinite(value), value


def numbers(value):
    for part in value:
        number(part)


def rows(shape, value):
    assert tuple(value.shape) == shape and np.isfinite(np.asarray(value)).all(), value


def rows_of_two(value):
    rows((len(value), 2), value)


def rows_of_stream(value):
    found = list(value.batches())
    assert value.size == sum(map(len, found)) and all(part.shape[1] == value.dim for part in found)
    assert all(np.isfinite(part).all() for part in found)


def column(value, given_rows):
    rows((len(given_rows),), value)


def distribution(value):
    assert value.mean.shape == (value.dim,) and value.cov.shape == (value.dim, value.dim)
    assert np.isfinite(value.mean).all() and np.isfinite(value.cov).all()
    rows((3, value.dim), value.sample(3, 0))


def federation(value):
    assert math.fsum(value.weights) == pytest.approx(1) and min(value.weights) >= 0
    assert len(set(value.names)) == len(value) == len(value.weights)
    for client in value:
        assert client.rows is None or np.isfinite(np.asarray(client.rows)).all()


def client(value):
    assert value.dim >= 1
    if value.rows is not None:
        rows((len(value.rows), value.dim), value.rows)


def anything(value):
    """What is passed is looked at later, by whom it is for."""


def labels(x):
    return np.arange(len(x)) % 3


def mixture(found):
    """Shares of one whole, whose score is finite and not above that of a single generator."""
    weights = np.array(list(found.weights.values()))
    assert (weights >= 0).all() and abs(weights.sum() - 1) < 1e-9
    assert np.isfinite(found.score) and found.score <= found.best_single_score
    assert np.isfinite(found.cross_fitted) or "too few rows" in found.note
