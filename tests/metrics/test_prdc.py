"""Precision, recall, density and coverage beside float64 loops, the prdc package, its numbers, and invariances."""

import contextlib
import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.metrics import nearest_neighbors as distances
from nbmetrics.metrics import prdc as neighbors
from nbmetrics.metrics.nearest_neighbors import Distinct, kth_between, kth_within
from nbmetrics.metrics.prdc import PRDC, Coverage, Density, Precision, Recall, prdc
from tests import golden
from tests.slow import slow, some_of

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=25, deadline=None, derandomize=True)
ALL = (Precision, Recall, Density, Coverage)


def squared(x, y):
    """Every squared distance as a float64 sum of squared differences, one pair at a time."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    return np.array([[np.square(a - b).sum() for b in y] for a in x])


def naive(real, generated, k=5, inclusive=False):
    """The definitions, word by word."""

    def radii(rows):
        every = squared(rows, rows)
        return np.array([np.sort(np.delete(row, i))[k - 1] for i, row in enumerate(every)])

    cross, inside = squared(real, generated), (np.less_equal if inclusive else np.less)
    in_real, in_generated = inside(cross, radii(real)[:, None]), inside(cross, radii(generated)[None, :])
    return PRDC(
        in_real.any(axis=0).mean(),
        in_generated.any(axis=1).mean(),
        in_real.sum() / (k * len(generated)),
        in_real.any(axis=1).mean(),
    )


def package(real, generated, k=5):
    peer = pytest.importorskip("prdc")
    with contextlib.redirect_stdout(io.StringIO()):
        found = peer.compute_prdc(real, generated, k)
    return PRDC(*(float(found[name]) for name in PRDC._fields))


def close(a, b):
    assert a == pytest.approx(b, rel=0, abs=1e-12)


RNG = np.random.default_rng(20261120)
POINTS = RNG.normal(size=(40, 3))
CASES = {
    "overlapping": (RNG.normal(size=(40, 4)), RNG.normal(size=(55, 4)) * 0.8 + 0.3),
    "one feature": (RNG.normal(size=(30, 1)), RNG.normal(size=(20, 1))),
    "wide": (RNG.normal(size=(25, 300)), RNG.normal(size=(20, 300)) * 0.98),
    "far apart": (RNG.normal(size=(30, 3)), RNG.normal(size=(30, 3)) + 1e6),
    "far from 0": (1e5 + RNG.normal(size=(40, 3)) / 8, 1e5 + RNG.normal(size=(40, 3)) / 8),
    "huge": (1e40 * POINTS, 1e40 * RNG.normal(size=(40, 3))),
    "tiny": (1e-30 * POINTS, 1e-30 * RNG.normal(size=(40, 3))),
    "an outlier": (np.vstack([POINTS, [[1e7, 0, 0]]]), RNG.normal(size=(40, 3))),
    "tight clusters far apart": (
        np.repeat(1e4 * POINTS[:4], 10, axis=0) + 1e-3 * POINTS,
        np.repeat(1e4 * POINTS[:4], 10, axis=0) + 1e-3 * RNG.normal(size=(40, 3)),
    ),
    "generated copies real": (POINTS, POINTS.copy()),
    "near copies": (POINTS, POINTS + 1e-9 * RNG.normal(size=POINTS.shape)),
    "every row twice": (np.repeat(POINTS, 2, axis=0), np.repeat(POINTS, 2, axis=0)),
    "rows often repeated": (np.repeat(POINTS[:6], 9, axis=0), np.repeat(POINTS[3:9], 8, axis=0)),
    "collapsed generator": (POINTS, np.repeat(POINTS[:1] + 0.01, 30, axis=0)),
    "all rows equal": (np.full((9, 2), 0.1), np.full((12, 2), 0.1)),
    "a lattice": tuple(RNG.integers(0, 4, size=(60, 2)).astype(float) for _ in range(2)),
    "corners of a simplex": (np.eye(30), np.eye(30)[:20]),
}


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize(
    ("case", "dtype"),
    [*((case, np.float64) for case in CASES), *some_of((case, np.float32) for case in CASES if case != "huge")],
)
def test_prdc_is_the_definition(case, dtype, inclusive):
    real, generated = (rows.astype(dtype) for rows in CASES[case])
    for k in (1, 5):
        close(prdc(real, generated, k, inclusive), naive(real, generated, k, inclusive))


def test_blocks_and_both_precisions_join_seamlessly(monkeypatch):
    real, generated = RNG.normal(size=(150, 6)), RNG.normal(size=(130, 6))
    real[70:] = real[:80] + 1e-7 * real[:80]
    expected = naive(real, generated)
    for cache, ample, pending in ((600, 48, 2**20), (600, 0, 0), (4000, 1, 10)):
        monkeypatch.setattr(distances, "CACHE_BYTES", cache)
        monkeypatch.setattr(distances, "MAX_OPEN_PAIRS_PER_ROW", ample)
        monkeypatch.setattr(distances, "MAX_OPEN_PAIRS", pending)
        neighbors.forget()
        close(prdc(real, generated), expected)


@pytest.mark.parametrize("name", golden.NAMES)
def test_prdc_is_the_peers_on_the_golden_sets(name):
    clients, generators = golden.load(name)
    peers = golden.PEERS[name]
    for g, generated in enumerate(generators):
        for c, real in enumerate(clients):
            close(prdc(real, generated)._asdict(), peers["prdc_k5_by_client"][g][c])
        close(prdc(np.concatenate(clients), generated)._asdict(), peers["prdc_k5_all"][g])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_prdc_is_the_package(dtype):
    real, generated = (RNG.normal(size=(n, 40)).astype(dtype) + 3 for n in (700, 650))
    for k in (1, 3, 7):
        close(prdc(real, generated, k), package(real, generated, k))


def test_near_duplicates_in_float32_are_told_apart():
    """Jitter far below what a float32 product sees, about rows far from 0."""
    rng = np.random.default_rng(5)
    centres = (100 + rng.normal(size=(30, 64))).astype(np.float32)
    real = np.repeat(centres, 8, axis=0) + 1e-4 * rng.normal(size=(240, 64)).astype(np.float32)
    generated = np.repeat(centres, 7, axis=0) + 1e-4 * rng.normal(size=(210, 64)).astype(np.float32)
    close(prdc(real, generated), naive(real, generated))


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("case", [name for name in CASES if name != "tiny"])
def test_bounds_hold(case, fine):
    real, generated = CASES[case]
    exact = squared(real, generated)
    bounds = distances.Bounds(real, generated, fine=fine)
    for rows, columns, low, high in bounds.blocks():
        part = exact[rows, columns] * bounds.unit
        assert (low <= part).all()
        assert (part <= high).all()
        assert ((high - low) <= 100 * (1e-14 if fine else 1e-5) * 4 * real.shape[1]).all()


def test_convention_decides_on_duplicates():
    rows = np.repeat(np.arange(8.0).reshape(-1, 1), 6, axis=0)
    close(prdc(rows, rows), PRDC(0, 0, 0, 0))
    close(prdc(rows, rows, inclusive=True), PRDC(1, 1, 6 / 5, 1))


@given(seeds, st.integers(1, 4), st.booleans())
@quick
def test_neighbors_are_those_of_a_full_table(seed, k, repeated):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(30, 3)), rng.normal(size=(25, 3))
    if repeated:
        x, y = x[rng.integers(0, 12, 30)], np.vstack([x[rng.integers(0, 12, 10)], y[rng.integers(0, 6, 15)]])
    across, own = squared(x, y), squared(x, x)
    own[np.diag_indices(30)] = np.inf
    between, within = kth_between(Distinct.of(x), Distinct.of(y), k), kth_within(Distinct.of(x), k)
    np.testing.assert_array_equal(between.squared, np.sort(across, axis=1)[:, k - 1])
    np.testing.assert_array_equal(within.squared, np.sort(own, axis=1)[:, k - 1])
    if k == 1:
        np.testing.assert_array_equal(between.index, across.argmin(axis=1))


@given(seeds)
@quick
def test_invariances(seed):
    rng = np.random.default_rng(seed)
    real, generated = rng.normal(size=(40, 4)), rng.normal(size=(35, 4)) * rng.uniform(0.5, 1.5)
    before = prdc(real, generated)
    close(prdc(rng.permutation(real), rng.permutation(generated)), before)
    close(prdc(real + 1.5, generated + 1.5), before)
    close(prdc(real * 0.37, generated * 0.37), before)
    swapped = prdc(generated, real)
    close((swapped.precision, swapped.recall), (before.recall, before.precision))


@given(st.lists(st.floats(0.01, 10), min_size=3, max_size=3))
@quick
def test_recall_avg_is_recall_all_under_any_weights(weights):
    table = golden.scores("overlap8", [Recall()], weights).table
    np.testing.assert_allclose(table["avg"], table["all"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("samples", [50, 101, *slow(None)])
def test_recall_avg_is_recall_all_of_distributions_drawn_in_whole_numbers(samples):
    clients = nm.Federation([nm.Gaussian(np.full(2, mean)) for mean in range(3)]).with_weights([0.5, 0.3, 0.2001])
    made = {"g": nm.Gaussian(np.ones(2), 0.1)}
    scores = nm.evaluate(clients, made, ["recall", "precision"], samples=samples, progress=False)
    table = scores.table.set_index("metric")
    assert abs(table.loc["recall", "gap"]) < 1e-12
    by_client = scores.clients[scores.clients["metric"] == "recall"]["value"]
    assert table.loc["recall", "all"] == pytest.approx(np.dot(clients.weights, by_client), abs=1e-12)
    assert np.ptp(by_client) > 0.1 and np.isfinite(table.loc["precision", "all"])


def test_intervals_of_distributions_drawn_in_whole_numbers():
    clients = nm.Federation([nm.Gaussian(np.full(2, mean)) for mean in range(3)]).with_weights([0.5, 0.3, 0.2001])
    scores = nm.evaluate(clients, [nm.Gaussian(np.ones(2))], ["precision"], samples=101, uncertainty=nm.Jackknife(10))
    assert (scores.table["all_low"] < scores.table["all_high"]).all()


def test_avg_and_all_of_the_four_in_one_pass(monkeypatch):
    passes = []
    whole = neighbors._overlap
    monkeypatch.setattr(neighbors, "_overlap", lambda *a: passes.append(1) or whole(*a))
    neighbors.forget()
    scores = golden.scores("overlap8", [kind() for kind in ALL])
    assert len(scores.table) == 12
    assert len(passes) == 3 * (3 + 1)
    for row in scores.table.itertuples():
        g = list(scores.table.generator.unique()).index(row.generator)
        peers = [p[row.metric] for p in golden.PEERS["overlap8"]["prdc_k5_by_client"][g]]
        assert row.avg == pytest.approx(np.average(peers, weights=[300, 200, 500]), abs=1e-12)
        assert row.all == pytest.approx(golden.PEERS["overlap8"]["prdc_k5_all"][g][row.metric], abs=1e-12)


@pytest.mark.parametrize("kind", [Precision, Density, Coverage])
def test_weights_that_are_no_row_counts_are_refused(kind):
    scores = golden.scores("overlap8", [kind()], [1, 1, 1])
    assert np.isfinite(scores.table["avg"]).all() and scores.table["all"].isna().all()
    assert re.search(f"{kind.name}-all.*proportional to their numbers of rows", scores.conventions[-1])


def test_rows_changed_in_place_are_seen():
    real, generated = RNG.normal(size=(30, 2)), RNG.normal(size=(30, 2))
    assert prdc(real, generated).recall > 0
    generated += 100
    assert prdc(real, generated).recall == 0


@pytest.mark.parametrize("kind", ALL)
def test_too_few_rows_and_bad_settings(kind):
    with pytest.raises(nm.InvalidInput, match=rf"has 5 rows, and {kind().label} needs 6"):
        nm.evaluate(nm.Federation([np.eye(5)]), {"g": np.eye(9)[:, :5]}, [kind()], progress=False)
    with pytest.raises(nm.InvalidInput, match="k: "):
        kind(k=0)
    assert kind().higher_is_better
    assert "k = 5" in kind().convention
    assert "<" in kind().convention
    assert "≤" in kind(inclusive=True).convention


@pytest.mark.parametrize(
    ("real", "generated", "match"),
    [
        (np.eye(5), np.eye(5), "real: has 5 rows"),
        (np.eye(6), np.eye(5), "generated: has 5 features"),
        (np.eye(6) * np.nan, np.eye(6), "NaN"),
        (np.eye(6), np.zeros((6, 2)), "features"),
        (np.zeros(6), np.eye(6), "shape"),
    ],
)
def test_bad_rows(real, generated, match):
    with pytest.raises(nm.InvalidInput, match=match):
        prdc(real, generated)


@pytest.mark.parametrize("precision", ["highest", "medium"])
def test_torch_gives_the_same(precision):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(9)
    real, generated = (rng.normal(size=(n, 33)).astype(np.float32) for n in (210, 190))
    real[100:] = real[:110] + np.float32(1e-6)
    expected = prdc(real, generated)
    neighbors.forget()
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision(precision)
        close(prdc(torch.from_numpy(real), torch.from_numpy(generated)), expected)
        neighbors.forget()
        close(prdc(real, torch.from_numpy(generated)), expected)
    finally:
        torch.set_float32_matmul_precision(before)


def test_distributions_are_drawn():
    assert prdc(nm.Gaussian([0, 0]), RNG.normal(size=(50, 2))).precision > 0.9


@pytest.mark.parametrize("inclusive", [False, True])
def test_a_generator_collapsed_on_a_real_row(inclusive):
    """One distinct generated row is a block of one column, and its distances tie the radii of real rows."""
    lattice = RNG.integers(0, 4, size=(60, 2)).astype(float)
    for real, row in ((POINTS, POINTS[3]), (lattice, lattice[7]), (lattice, lattice[7] + [9, 0])):
        generated = np.repeat(row[None], 50, axis=0)
        for x, y in ((real, generated), (generated, real)):
            close(prdc(x, y, inclusive=inclusive), naive(x, y, inclusive=inclusive))


@given(seeds, st.integers(1, 4), st.booleans(), st.sampled_from([1, 2, 5]))
@quick
def test_ties_and_last_blocks_of_one_row_or_column(seed, k, inclusive, step):
    """Integer rows tie; blocks of `step` rows leave a last one of a single row or column."""
    rng = np.random.default_rng(seed)
    sizes = k + 2 + step * rng.integers(1, 5, size=2)
    pool = np.unique(rng.integers(-2, 3, size=(60, rng.integers(1, 3))), axis=0).astype(float)
    real, generated = (
        np.concatenate([rng.permutation(pool)[: step + 1], pool[rng.integers(0, len(pool), n)]]) for n in sizes
    )
    neighbors.forget()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "CACHE_BYTES", 4 * step * step)
        close(prdc(real, generated, k, inclusive), naive(real, generated, k, inclusive))


@pytest.mark.parametrize("scale", [1e-145, 1e-170, 1e-300])
def test_rows_whose_squared_distances_underflow_are_refused(scale):
    constant = np.ones((40, 1))
    for rows in (scale * POINTS, np.hstack([constant, scale * POINTS])):
        for score in (prdc, nm.fid, nm.auth_pct):
            with pytest.raises(nm.InvalidInput, match=r"differ by at most"):
                score(rows, rows[:20])


@pytest.mark.parametrize("scale", [1e-139, 1e-60, 1e44])
def test_scores_do_not_depend_on_the_unit(scale):
    real, generated = POINTS, POINTS[::2] * 0.9
    close(prdc(scale * real, scale * generated), prdc(real, generated))
    assert nm.auth_pct(scale * real, scale * generated) == nm.auth_pct(real, generated)
    assert nm.fid(scale * real, scale * generated) / scale / scale == pytest.approx(nm.fid(real, generated), rel=1e-9)
