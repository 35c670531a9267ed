"""What the fuzz tries of the metrics that have tables of their own here: see test_fuzz, which joins them to its own."""

import numpy as np

import nbmetrics as nm
from tests.fuzz_checks import anything, number


def _each(value, given_rows):
    value = np.asarray(value)
    assert value.shape == (len(given_rows),) and (value >= 0).all()  # infinite for a copy


def _shares(x):
    """Class probabilities, where `x` can be rows of anything."""
    rows = np.abs(np.asarray(x, dtype=float)) + 1.0
    return rows / rows.sum(axis=-1, keepdims=True)


def _modes(a, b, c):
    """The shares and p-values of modes, between 0 and 1."""
    scores = nm.evaluate({"a": a, "c": c}, {"g": b}, nm.metrics.Modes(2.0, count=8), progress=False)
    table = scores.modes("g", permutations=2, most=3)
    shares = table[["generated", "real", "a", "c"]].to_numpy(float)
    assert ((shares >= 0.0) & (shares <= 1.0)).all()
    return scores.table["all"][0]


ON_ROWS = {
    "evaluate modes": (_modes, number),
    "mifid": (lambda a, b, c: nm.mifid(a, b), number),
    "mifid of generated": (lambda a, b, c: nm.mifid(b, a), number),
    "cmmd": (lambda a, b, c: nm.cmmd(a, b), number),
    "vendi": (lambda a, b, c: nm.vendi(a), number),
    "vendi of points": (lambda a, b, c: nm.vendi(a, nm.RBF()), number),
    "rke": (lambda a, b, c: nm.rke(a), number),
    "rrke": (lambda a, b, c: nm.rrke(a, b), number),
    "rrke of generated": (lambda a, b, c: nm.rrke(b, a), number),
    "inception_score": (lambda a, b, c: nm.inception_score(a), number),
    "inception_score of shares": (lambda a, b, c: nm.inception_score(_shares(b)), number),
    "am_score": (lambda a, b, c: nm.am_score(_shares(b), a), number),
    "am_score of shares": (lambda a, b, c: nm.am_score(_shares(b), _shares(c)), number),
    "realism": (lambda a, b, c: _each(nm.realism(a, b), b), anything),
    "realism of generated": (lambda a, b, c: _each(nm.realism(b, a), a), anything),
}

A, B = (np.random.default_rng(k).normal(size=(24, 2)) + k / 4 for k in range(2))


def _modes_of(sigma):
    return nm.evaluate({"a": A}, {"g": B}, nm.metrics.Modes(sigma, count=8), progress=False).table["all"][0]


ON_SETTINGS = {
    "mifid": lambda v: number(nm.mifid(A, B, v)),
    "cmmd": lambda v: number(nm.cmmd(A, B, v)),
    "vendi": lambda v: number(nm.vendi(A, v)),
    "rke": lambda v: number(nm.rke(A, v)),
    "rrke": lambda v: number(nm.rrke(A, B, v)),
    "inception_score": lambda v: number(nm.inception_score(_shares(A), v)),
    "realism": lambda v: _each(nm.realism(A, B, v), B),
    "evaluate Modes sigma": lambda v: number(_modes_of(v)),
    "RBF scale": lambda v: number(nm.kid(A, B, nm.RBF(1.0, v))),
}
