"""Bytes of clients and the scores made of them: equal to evaluate() on the rows, and nothing else is believed."""

import itertools
import json
import math

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.federated import serialization

RNG = np.random.default_rng(3)
pytestmark = pytest.mark.filterwarnings("ignore::nbmetrics.federated.FewRowsWarning")


def parties(d, offset=0.0, sizes=(40, 9, 150)):
    rng = np.random.default_rng([7, d])
    clients = [offset + rng.normal(k / 3, 1 + k / 5, size=(n, d)) for k, n in enumerate(sizes)]
    drawn = {"rows": offset + rng.normal(size=(60, d)), "distribution": nm.Gaussian(np.full(d, offset + 0.2))}
    return clients, {**drawn, "function": lambda n, rng: offset + 1.2 * rng.normal(size=(n, d))}


def both(clients, generators, metrics, weights=None, samples=300, **options):
    """The scores of evaluate and of the clients' summaries, (generators · metrics, 2) and all of evaluate's."""
    federation = nm.Federation(clients)
    federation = federation if weights is None else federation.with_weights(weights)
    there = nm.evaluate(federation, generators, metrics, samples=samples, progress=False)
    sent = [nm.federated.client_summary(rows, metrics, min_rows=1, **options) for rows in clients]
    here = nm.federated.aggregate(sent, weights, generators, metrics, samples=samples)
    return here, there


def read(rows, metric):
    """What a client, however small, sends for a metric."""
    return serialization.read(nm.federated.client_summary(rows, metric, min_rows=1), "c")[1][metric]


def without_advice(scores):
    """The cautions of scores, as they read where no rows are that `heterogeneity` could deal, or intervals come of."""
    cautions = [caution.partition(": see scores.heterogeneity(")[0] for caution in scores.cautions]
    return [caution.replace("; with uncertainty by influence, FID is corrected", "") for caution in cautions]


@pytest.mark.parametrize(("d", "offset"), [(1, 0.0), (2, 0.0), (3, 300.0), (20, 0.0), (70, 0.0)])
def test_scores_of_summaries_are_those_of_the_rows(d, offset):
    features = nm.metrics.KID(nm.RandomFeatures(nm.RBF(2.0), 64), name="kid_features")
    clients, generators = parties(d, offset)
    for weights in (None, [3, 1, 2]):
        here, there = both(clients, generators, ["fid", "kid", features], weights)
        np.testing.assert_allclose(here.table[["avg", "all"]], there.table[["avg", "all"]], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(here.clients["value"], there.clients["value"], rtol=1e-12, atol=1e-12)
    assert here.cautions == without_advice(there)
    assert here.names == there.names and here.weights == there.weights


def test_metrics_that_need_rows_say_so_and_get_them_on_demand():
    clients, generators = parties(3)
    clients = [nm.Client(rows, test=rows[::3] + 0.1) for rows in clients]
    metrics = ["auth_pct", "recall", "fid_infinity", "vendi", nm.metrics.KID(nm.RBF(), name="kid_rbf")]
    for name in ("fld", "recall", "w1", "fid_infinity", metrics[-1]):
        with pytest.raises(nm.InvalidInput, match=r"needs every row of a client.*reveal_rows=True"):
            nm.federated.client_summary(clients[0], name)
    here, there = both(clients, {"rows": generators["rows"]}, metrics, reveal_rows=True)
    np.testing.assert_allclose(here.table[["avg", "all"]], there.table[["avg", "all"]], rtol=1e-12)


def test_distributions_and_a_single_row_are_clients_too():
    generators = {"g": nm.Gaussian([0.5, 0.0])}
    distributions = [nm.Gaussian([0, 1], [[2, 1], [1, 1]]), nm.Gaussian([3, 1], 0)]
    here, there = both(distributions, generators, ["fid", "kid"], samples=None)
    np.testing.assert_allclose(here.table[["avg", "all"]], there.table[["avg", "all"]], rtol=1e-12)
    with_one = [RNG.normal(size=(9, 2)), RNG.normal(size=(8, 2)), np.ones((1, 2))]
    here, there = both(with_one, generators, ["fid", "kid"], [1, 1, 0])
    np.testing.assert_allclose(here.table[["avg", "all"]], there.table[["avg", "all"]], rtol=1e-12)
    assert here.cautions == without_advice(there)
    sent = [nm.federated.client_summary(rows, min_rows=1) for rows in with_one]
    with pytest.raises(nm.InvalidInput, match="'Client 3', fid, rows: has 1 row"):
        nm.federated.aggregate(sent, None, generators)


def test_moments_of_few_rows_do_not_carry_the_rows():
    """The factor that the package computes with gives the rows back; what is sent depends on the covariance alone."""
    rows = RNG.normal(size=(6, 10))
    turn = np.linalg.qr(np.c_[np.ones(6), RNG.normal(size=(6, 5))])[0]
    spin = np.linalg.qr(RNG.normal(size=(5, 5)))[0]
    mixing = turn @ np.block([[np.eye(1), np.zeros((1, 5))], [np.zeros((5, 1)), spin]]) @ turn.T  # keeps mean and cov
    others = mixing @ rows
    assert np.abs(others - rows).max() > 0.5
    np.testing.assert_allclose(np.cov(others.T), np.cov(rows.T), atol=1e-12)
    first, second = (read(x, "fid").arrays for x in (rows, others))
    for name, array in first.items():
        np.testing.assert_allclose(array, second[name], atol=1e-12)
    kept = [nm.metrics.FID().summarize(nm.metrics.Sample(rows=x)).root for x in (rows, others)]
    assert np.abs(kept[0] - kept[1]).max() > 0.1  # so the claim is one


def test_a_covariance_of_few_rows_tells_who_is_a_member():
    """So docs/federated.md says, and nobody shall believe a small summary private."""
    rows, strangers = RNG.normal(size=(2, 8, 20))
    sent = read(rows, "fid").arrays
    mean, factor = sent["mean"], np.zeros((7, 20))
    factor[np.triu_indices(7, m=20)] = sent["factor"]
    basis = np.linalg.qr(factor.T)[0]

    def off(x):
        return np.linalg.norm((x - mean) - (x - mean) @ basis @ basis.T, axis=1)

    assert off(rows).max() < 1e-9 and off(strangers).min() > 0.5


def test_third_moments_of_few_rows_give_the_rows_back():
    """By eigenvectors: the moments are those of Σ z⊗z⊗z, z = (1, x), whose components are unique (Jennrich)."""
    d, n = 9, 7
    rows = RNG.normal(size=(n, d))
    sent = read(rows, "kid").arrays
    third = np.empty((d, d, d))
    for p in ("ijk", "ikj", "jik", "jki", "kij", "kji"):
        index = dict(zip("ijk", np.array(list(itertools.combinations_with_replacement(range(d), 3))).T, strict=True))
        third[tuple(index[letter] for letter in p)] = sent["third"]
    cov = np.zeros((d, d))
    cov[np.triu_indices(d)] = sent["second"]
    cov += np.triu(cov, 1).T
    one, two = RNG.normal(size=(2, d))
    # slices of the tensor of z = (1, y), y about the mean: E zzᵀ (1 + a·y)
    slices = []
    for a in (one, two):
        corner, side = 1.0, cov @ a
        slices.append(np.block([[np.array([[corner]]), side[None]], [side[:, None], cov + third @ a]]))
    values, vectors = np.linalg.eig(slices[0] @ np.linalg.pinv(slices[1], rcond=1e-9))
    found = vectors[:, np.argsort(-np.abs(values))[:n]].real.T
    found = sent["mean"] + found[:, 1:] / found[:, :1]
    assert np.abs(found[:, None] - rows).max(axis=2).min(axis=0).max() < 1e-5


def header(data):
    """The header, and the bytes of numbers."""
    length = int.from_bytes(data[8:12], "little")
    return json.loads(data[12 : 12 + length]), data[12 + length : -serialization.CHECKSUM]


def rebuilt(head, numbers):
    """A summary whose checksum is right, as a forger makes it."""
    return framed(json.dumps(head).encode(), numbers)


def framed(text, numbers=b""):
    return serialization.with_checksum(serialization.MAGIC + len(text).to_bytes(4, "little") + text + numbers)


def numbered(numbers):
    """A summary that ends with other numbers."""
    head, there = header(GOOD)
    return rebuilt(head, there[: -8 * len(numbers)] + np.array(numbers).tobytes())


def changed(**changes):
    """A summary of which the header of the first section says something else."""
    head, numbers = header(GOOD)
    head["sections"][0].update(changes)
    return rebuilt(head, numbers)


def negative():
    """A summary whose covariance is none."""
    head, numbers = header(GOOD)
    head["sections"][0]["arrays"] = [["mean", [4]], ["covariance", [10]]]
    return rebuilt(head, numbers[:-80] + (-np.ones(10)).tobytes())


GOOD = nm.federated.client_summary(RNG.normal(size=(30, 4)), "fid")
DEEP = b"[" * 100_000
BAD = {
    "a text": "NBMETSM",
    "nothing": b"",
    "a pickle": b"\x80\x04\x95" + bytes(40),
    "a zip": b"PK\x03\x04" + bytes(40),
    "another version": GOOD[:7] + b"\x03" + GOOD[8:],
    "an older version that it is not": GOOD[:7] + b"\x01" + GOOD[8:],
    "cut": GOOD[:-1],
    "cut and sealed": serialization.with_checksum(GOOD[: -serialization.CHECKSUM - 1]),
    "longer": GOOD + b"\0",
    "longer and sealed": serialization.with_checksum(GOOD[: -serialization.CHECKSUM] + b"\0"),
    "cut in the header": GOOD[:40],
    "a name alone": serialization.MAGIC,
    "a name alone, sealed": serialization.with_checksum(serialization.MAGIC),
    "a header of 4 GB": serialization.with_checksum(
        serialization.MAGIC + b"\xff" * 4 + GOOD[12 : -serialization.CHECKSUM]
    ),
    "no JSON": framed(b"\xff\xfe{}"),
    "deep JSON": framed(DEEP),
    "a list": rebuilt([], b""),
    "no sections": rebuilt({"dim": 4, "sections": []}, b""),
    "1e12 numbers": changed(arrays=[["mean", [10**12]]]),
    "10**30 numbers": changed(arrays=[["mean", [10**15, 10**15]]]),
    "negative lengths": changed(arrays=[["mean", [-4]], ["factor", [18]]]),
    "a length of True": changed(arrays=[["mean", [True]], ["factor", [13]]]),
    "other shapes": changed(arrays=[["mean", [5]], ["factor", [9]]]),
    "other names": changed(arrays=[["mean", [4]], ["facto", [10]]]),
    "one name twice": changed(arrays=[["mean", [4]], ["mean", [10]]]),
    "a covariance that is none": negative(),
    "pickled objects": changed(type="|O"),
    "another kind": changed(kind="rows"),
    "another metric": changed(metric="kid"),
    "a metric that is a number": changed(metric=3),
    "a count of 1e300": changed(count=10**300),
    "a count of a half": changed(count=0.5),
    "a count of NaN": changed(count=math.nan),
    "notes that are none": changed(notes=[1]),
    "NaN": numbered([np.nan]),
    "infinity": numbered([np.inf]),
    "1e200": numbered([1e200]),
}


@pytest.mark.parametrize("case", BAD)
def test_hostile_bytes_are_refused_by_the_clients_name(case):
    with pytest.raises(nm.InvalidInput, match="eve"):
        nm.federated.aggregate({"adam": GOOD, "eve": BAD[case]}, [1, 1], {"g": np.zeros((3, 4))}, "fid")


def test_forged_bytes_are_read_or_refused():
    """Other bytes with a checksum of their own: it finds damage, not forgery."""
    rng, refused = np.random.default_rng(0), 0
    for _ in range(300):
        data = bytearray(GOOD[: -serialization.CHECKSUM])
        for place in rng.integers(len(data), size=rng.integers(1, 4)):
            data[place] = rng.integers(256)
        try:
            scores = nm.federated.aggregate(
                [GOOD, serialization.with_checksum(bytes(data))], [1, 1], {"g": nm.Gaussian([0.0] * 4)}, "fid"
            )
            assert np.isfinite(scores.table["all"]).all()
        except nm.InvalidInput:
            refused += 1
    assert 100 < refused < 300


@pytest.mark.parametrize("shape", [[], [1], [1, 1, 1]], ids=str)
@pytest.mark.parametrize(("metric", "place"), [("am_score", 0), ("am_score", 1), ("precision", 0), ("kid", 3)])
def test_arrays_of_another_rank_are_refused_by_the_clients_name(metric, place, shape):
    good = nm.federated.client_summary(np.full((1, 4), 0.25), metric, min_rows=1, reveal_rows=True)
    head, numbers = header(good)
    arrays = head["sections"][0]["arrays"]
    size = 8 * math.prod(arrays[place][1])
    assert arrays[place][1] != shape or pytest.skip("its own")
    start = 8 * sum(math.prod(there) for _, there in arrays[:place])
    arrays[place][1] = shape
    bad = rebuilt(head, numbers[: start + 8] + numbers[start + size :])
    with pytest.raises(nm.InvalidInput, match="client 'eve'"):
        nm.federated.aggregate({"adam": good, "eve": bad}, [1, 1], {"g": np.full((9, 4), 0.25)}, metric)


EXTREMES = [1e99, -1e99, 1e60, -1e30, 1e10, 1e-300, 0.0, -1.0, 5e-324]


@pytest.mark.parametrize("what", ["plain", "few rows", "noise", "rank", "rows"])
def test_extreme_numbers_are_scored_or_refused_with_a_reason(what):
    rng, few = np.random.default_rng(1), nm.metrics.KID(nm.RandomFeatures(nm.RBF(), 8), name="few")
    metrics = {"noise": ["fid", few], "rank": ["fid"], "rows": ["recall"]}.get(what, ["fid", "kid", few])
    options = {"noise": {"privacy": nm.federated.Privacy(1.0, clip=2.0)}, "rank": {"rank": 2}}.get(what, {})
    rows = RNG.normal(size=(3 if what == "few rows" else 30, 4))
    good = nm.federated.client_summary(rows, metrics, reveal_rows=what == "rows", min_rows=1, **options)
    generators, found = {"g": nm.Gaussian([0.0] * 4), "r": RNG.normal(size=(9, 4))}, []
    for _ in range(15):
        head, numbers = header(good)
        numbers = np.frombuffer(numbers).copy()
        numbers[rng.integers(len(numbers), size=rng.integers(1, 5))] = rng.choice(EXTREMES)
        for section in head["sections"]:
            section["count"] = [section["count"], 1, 2, 10**15, None][rng.integers(5)]
            for note in section.get("notes", {}):
                section["notes"][note] = [section["notes"][note], 0, -1.0, 1e99, 5][rng.integers(5)]
        try:
            bad = rebuilt(head, numbers.tobytes())
            scores = nm.federated.aggregate([good, bad], [1, 2], generators, metrics, samples=20)
            refused = any(" no value" in line for line in scores.cautions)
            assert refused or np.isfinite(scores.table[["avg", "all"]].to_numpy()).all()
            found.append("refused" if refused else "scored")
        except nm.InvalidInput:
            found.append("refused")
    assert "refused" in found


def test_summaries_that_do_not_belong_together_are_refused():
    rows, generators = RNG.normal(size=(30, 4)), {"g": nm.Gaussian([0.0] * 4)}
    wide = nm.federated.client_summary(RNG.normal(size=(30, 5)), "fid")
    with pytest.raises(nm.InvalidInput, match="'Client 2' has 5 features, 'Client 1' has 4"):
        nm.federated.aggregate([GOOD, wide], None, generators, "fid")
    with pytest.raises(nm.InvalidInput, match="'Client 1' has none for kid, but for 'fid'"):
        nm.federated.aggregate([GOOD], None, generators, "kid")
    steep = nm.federated.client_summary(rows, nm.metrics.KID(nm.Polynomial(3, gamma=2)))
    with pytest.raises(nm.InvalidInput, match=r"'Client 1' made kid by .*γ = 2.* here it is .*γ = 1/d"):
        nm.federated.aggregate([steep], None, generators, "kid")
    distribution = nm.federated.client_summary(nm.Gaussian([0.0] * 4), "fid")
    with pytest.raises(nm.InvalidInput, match="some clients are distributions"):
        nm.federated.aggregate([GOOD, distribution], None, generators, "fid")
    with pytest.raises(nm.InvalidInput, match="is one bytes"):
        nm.federated.aggregate(GOOD, None, generators, "fid")
    with pytest.raises(nm.InvalidInput, match="is empty"):
        nm.federated.aggregate([], None, generators, "fid")


def test_rows_that_are_not_here_are_asked_for_in_vain():
    g, private = {"g": RNG.normal(size=(40, 4))}, nm.federated.Privacy(epsilon=2.0, clip=9.0, seed=0)
    scores = nm.federated.aggregate([GOOD, GOOD], None, g, "fid")
    assert not any("heterogeneity" in caution for caution in scores.cautions)
    assert scores.size_gap("fid") > 0
    with pytest.raises(nm.InvalidInput, match=r"'Client 1' sent a summary, .* stayed with it.*size_gap\('fid'\)"):
        scores.heterogeneity("fid")
    noisy = nm.federated.client_summary(RNG.normal(size=(30, 4)), "fid", privacy=private)
    with pytest.raises(nm.InvalidInput, match=r"stayed with it\. Evaluate where the rows are"):
        nm.federated.aggregate([noisy, noisy], None, g, "fid").heterogeneity("fid")
    distribution = nm.federated.client_summary(nm.Gaussian([0.0] * 4), "fid")
    with pytest.raises(nm.InvalidInput, match=r"is an exact distribution, .* where the gap is exact$"):
        nm.federated.aggregate([distribution, distribution], None, g, "fid").heterogeneity("fid")


def test_advice_on_scores_of_summaries_can_be_followed():
    """What `aggregate` cannot be asked for is not asked for: intervals, other metrics, rows, an extractor."""
    rows = RNG.normal(size=(40, 4))
    sent = [nm.federated.client_summary(rows, "kid")] * 2
    scores = nm.federated.aggregate(sent, None, {"g": rows[:20], "h": rows}, "kid")
    for ask in (scores.flips, lambda m: scores.worst(m, corrected=True), lambda m: scores.regret(m, corrected=True)):
        with pytest.raises(nm.InvalidInput, match=r"summaries.* where the rows are: nm\.evaluate\(…, uncertainty"):
            ask("kid")
    for metric in ("kid", "fid"):  # no way to one that was not evaluated, as it would need the rows too
        with pytest.raises(nm.InvalidInput, match=r"stayed with it\. Evaluate where the rows are$"):
            scores.heterogeneity(metric)
    few = nm.federated.aggregate([GOOD], None, {"g": rows[:20], "h": rows}, "fid")
    assert any(line.endswith("compare equal numbers, or fid_infinity.") for line in few.cautions)
    with pytest.raises(nm.InvalidInput, match=r"'g': is images, .*nm\.extract"):
        nm.federated.aggregate([GOOD], None, {"g": np.zeros((3, 8, 8, 3), dtype=np.uint8)}, "fid")
    for metric in ("fld", "c_t"):
        with pytest.raises(nm.InvalidInput, match=r"^rows: have no test rows.* nm\.Client\(rows, test=…\)"):
            nm.federated.client_summary(rows, metric, reveal_rows=True)
    head, numbers = header(nm.federated.client_summary(nm.Client(rows, test=rows), "fld", reveal_rows=True))
    (section,) = head["sections"]
    section["arrays"] = [array for array in section["arrays"] if array[0] != "test"]
    with pytest.raises(nm.InvalidInput, match="client 'Client 1' has no test rows, which FLD needs"):
        nm.federated.aggregate([rebuilt(head, numbers[: 8 * rows.size])], None, {"g": rows}, "fld")


@pytest.mark.parametrize("kind", [nm.metrics.MFID, nm.metrics.RFID, nm.metrics.JFID, nm.metrics.CFID])
def test_metrics_of_pairs_are_those_of_evaluate_where_rows_are_revealed(kind):
    """Clients with conditions: a generator answers to them, which the server can ask as it has the rows."""
    metric, rng, clients = kind(), np.random.default_rng(8), {}
    for k, who in enumerate(("a", "b")):
        x = rng.normal(k, 1, size=(80, 2))
        clients[who] = nm.Client(x @ [[1.0], [0.5]] + rng.normal(0, 0.3, size=(80, 1)), condition=x)
    generators = {
        "right": lambda x, rng: x @ [[1.0], [0.5]] + rng.normal(0, 0.3, size=(len(x), 1)),
        "blind": lambda x, rng: rng.normal(0.5, 1.2, size=(len(x), 1)),
    }
    for client in clients.values():
        with pytest.raises(nm.InvalidInput, match="reveal_rows"):
            nm.federated.client_summary(client, metric)
    sent = {who: nm.federated.client_summary(client, metric, reveal_rows=True) for who, client in clients.items()}
    here = nm.federated.aggregate(sent, None, generators, metric).table
    there = nm.evaluate(clients, generators, metric, progress=False).table
    np.testing.assert_allclose(here[["avg", "all"]], there[["avg", "all"]], rtol=1e-12)
    assert (here["all"] > 0).all() and here["all"].is_unique
