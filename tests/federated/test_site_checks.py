"""Cautions about sites: one that is there twice and one unlike the others are named, honest ones are not."""

import itertools
import re

import numpy as np
import pytest

import nbmetrics as nm

pytestmark = pytest.mark.filterwarnings("ignore::nbmetrics.federated.FewRowsWarning")
TWICE, NEARLY, UNLIKE = "sent the same numbers", "nearly the same", "other preprocessing"
FEATURES = nm.metrics.KID(nm.RandomFeatures(nm.RBF(), 64), name="features")


def said(sites, metrics="fid", options=None, **common):
    """The cautions about sites, by those that name some."""
    options = options or [{}] * len(sites)
    sent = {
        name: nm.federated.client_summary(rows, metrics, min_rows=1, **common, **own)
        for (name, rows), own in zip(sites.items(), options, strict=True)
    }
    d = next(iter(sites.values())).shape[1]
    scores = nm.federated.aggregate(sent, None, {"g": nm.Gaussian([0.0] * d)}, metrics)
    return [line for line in scores.cautions if any(words in line for words in (TWICE, NEARLY, UNLIKE))]


def sites_of(count=4, n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return {f"site {k}": rng.normal(rng.normal(size=d), 1.0, size=(n, d)) for k in range(count)}


@pytest.mark.parametrize(
    ("metrics", "common"),
    [("fid", {}), ("kid", {}), (FEATURES, {}), (["fid", "kid"], {}), ("recall", {"reveal_rows": True})],
    ids=["fid", "kid", "features", "both", "rows"],
)
def test_one_site_under_two_names_is_named_however_it_was_summarized(metrics, common):
    sites, rng = sites_of(), np.random.default_rng(1)
    again = sites["site 2"] if common else rng.permutation(sites["site 2"])
    (line,) = said({**sites, "site 9": again}, metrics, **common)
    assert line == "'site 2' and 'site 9' sent the same numbers: one site with two names counts twice."
    assert said(sites, metrics, **common) == []


def test_one_site_is_recognised_in_single_precision_among_others_and_in_three_copies():
    sites = sites_of(n=30, d=40)  # fewer rows than features: a factor is sent
    options = [{}] * 4 + [{"precision": "float32"}]
    assert len(said({**sites, "copy": sites["site 0"]}, options=options)) == 1
    assert len(said({**sites, "copy": sites["site 0"], "third": sites["site 0"]})) == 2
    noisy = nm.federated.client_summary(sites["site 1"], "fid", privacy=nm.federated.Privacy(1.0, clip=9.0))
    scores = nm.federated.aggregate({"a": noisy, "b": noisy}, None, {"g": nm.Gaussian([0.0] * 40)}, "fid")
    assert sum(TWICE in line for line in scores.cautions) == 1  # the very bytes


def test_exact_distributions_may_be_alike():
    distribution = nm.federated.client_summary(nm.Gaussian([0.0, 1.0]), "fid")
    assert (
        nm.federated.aggregate([distribution, distribution], None, {"g": nm.Gaussian([0.0, 0.0])}, "fid").cautions == []
    )


@pytest.mark.parametrize("metrics", ["fid", "kid", "recall"])
@pytest.mark.parametrize(
    ("factor", "offset", "words"),
    [
        (1000.0, 0.0, "are (9..|1,0..) times as spread"),
        (37.0, 120.0, "are 3. times as spread as the others' and lie .* standard deviations from the others'"),
        (1e-3, 0.0, "are 0.00(09.|1.?) times as spread"),
        (1.0, 120.0, "lie 1.. standard deviations from the others'"),
    ],
)
def test_a_site_of_another_scale_or_location_is_named(metrics, factor, offset, words):
    rng = np.random.default_rng(0)
    sites = {f"site {k}": rng.normal(0, 1, size=(400, 6)) for k in range(5)}
    sites["site 3"] = factor * sites["site 3"] + offset
    (line,) = said(sites, metrics, reveal_rows=metrics == "recall")
    assert re.match(f"'site 3': its values {words}", line)


def test_the_site_of_the_review_that_forgot_to_standardize():
    rng = np.random.default_rng(0)
    sites = {k: rng.normal(0, 1, size=(900, 16)) for k in ("a", "b", "c")}
    sites["c"] *= 1000
    assert [line[:4] for line in said(sites)] == ["'c':"]
    assert [line[:4] for line in said(sites, rank=4)] == ["'c':"]
    two = said({"a": sites["a"], "c": sites["c"]})
    assert re.match("The values of 'c' are 1,0.. times as spread as those of 'a': other preprocessing", *two)


@pytest.mark.parametrize("metrics", ["fid", "kid", ["fid", "kid"]])
@pytest.mark.parametrize("is_standardized", [False, True])
def test_a_late_file_with_nearly_the_same_rows_is_named(metrics, is_standardized):
    rng = np.random.default_rng(0)
    sites = {k: rng.normal(size=(n, 8)) for k, n in (("north", 500), ("south", 600), ("west", 400))}
    late = np.concatenate([sites["south"], rng.normal(size=(1, 8))])
    if is_standardized:
        sites, late = {k: standardized(x) for k, x in sites.items()}, standardized(late)
    assert [line[:18] for line in said({**sites, "late": late}, metrics)] == ["'south' and 'late'"]
    assert said(sites, metrics) == []


@pytest.mark.parametrize("metrics", ["fid", "kid", "recall"])
def test_a_generator_that_is_one_site_is_named(metrics):
    sites = sites_of()
    sent = {n: nm.federated.client_summary(x, metrics, reveal_rows=metrics == "recall") for n, x in sites.items()}
    generators = {"new": sites["site 2"] + 0.01, "copy": sites["site 1"][::-1]}
    cautions = nm.federated.aggregate(sent, None, generators, metrics).cautions
    (line,) = [line for line in cautions if "copies score better" in line]
    assert "'copy'" in line and "'site 1'" in line


def standardized(rows):
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def whitened(rows):
    rows = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(rows.T).reshape(rows.shape[1], -1))
    return rows @ (vectors / np.sqrt(np.maximum(values, 1e-12))) @ vectors.T


def honest(kind, rng):
    """Clients of one honest federation of a kind; as many rows each, which is where copies are looked for."""
    k, d, n = int(rng.integers(2, 9)), int(rng.integers(1, 12)), int(rng.integers(15, 120))
    rows = [rng.normal(size=(n, d)) for _ in range(k)]
    centres, spreads = rng.normal(0, 3, size=(k, d)), np.exp(rng.normal(0, 0.7, size=(k, 1, 1)))
    kinds = {
        "alike": lambda x, c, s: x,
        "apart": lambda x, c, s: x + c,
        "of unlike spread": lambda x, c, s: s * x + c,
        "heavy tails": lambda x, c, s: s * np.sign(x) * np.expm1(np.abs(x)) + c,
        "far from 0": lambda x, c, s: x + 1e6,
        "each standardized": lambda x, c, s: standardized(x),
        "each whitened": lambda x, c, s: whitened(x),
        "counts": lambda x, c, s: np.floor(np.exp(x + c / 3)),
        "rectified": lambda x, c, s: np.maximum(x + c, 0.0),
    }
    return {f"s{i}": kinds[kind](*parts) for i, parts in enumerate(zip(rows, centres, spreads, strict=True))}


KINDS = ("alike", "apart", "of unlike spread", "heavy tails", "far from 0", "each standardized", "each whitened")
KINDS += ("counts", "rectified")
# Clients of one kind of rows, and kinds whose clients differ by orders of magnitude, so that one of few stands out.
MOST_TOLD = {"alike": 0, "apart": 2, "far from 0": 1, "each standardized": 0, "each whitened": 0}


@pytest.mark.slow
def test_honest_federations_get_hardly_a_caution_and_never_one_of_copies():
    rng = np.random.default_rng(7)
    told = dict.fromkeys(KINDS, 0)
    for kind, _ in itertools.product(KINDS, range(20)):
        lines = said(honest(kind, rng), "fid" if rng.random() < 0.5 else ["fid", "kid"])
        told[kind] += bool(lines)
        assert not any(TWICE in line or NEARLY in line for line in lines)
    assert {kind: told[kind] for kind in MOST_TOLD if told[kind] > MOST_TOLD[kind]} == {}
    assert max(told.values()) <= 8


def test_unequal_shares_of_the_digits_get_no_caution():
    rows, labels = nm.datasets.digits()
    middle = rows[:, 16:48:2]
    dealt = [nm.Federation.dirichlet(middle, labels, 6, alpha, seed=0) for alpha in (0.05, 0.5)]
    for clients in (*dealt, nm.Federation.from_labels(middle, labels)):
        assert said({c.name: np.asarray(c.rows) for c in clients}) == []
