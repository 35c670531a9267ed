"""AuthPct and C_T beside float64 loops, scipy's Mann–Whitney test, the authors' numbers, and invariances."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import mannwhitneyu
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

import nbmetrics as nm
from nbmetrics.metrics.copying import CT, AuthPct, auth_pct, c_t
from tests import golden
from tests.slow import by_default

SETS = ("copy2", "copy32", "copyshift16")
KINDS = ("fresh", "half_copied", "copied", "wide")
RNG = np.random.default_rng(20261121)
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=25, deadline=None, derandomize=True)


@pytest.fixture(autouse=True)
def one_thread():
    """K-means on a few hundred rows spins for minutes when other processes hold its threads' cores."""
    with threadpool_limits(1):
        yield


def load(name):
    path = golden.FOLDER / f"{name}.npz"
    if not path.exists():
        pytest.fail(f"{path} is missing: copy it from the shared golden folder")
    with np.load(path) as stored:
        return dict(stored)


def naive_authentic(train, generated):
    """The definition, one generated row at a time."""
    train, generated = np.asarray(train, float), np.asarray(generated, float)
    authentic = 0
    for row in generated:
        distances = np.square(train - row).sum(axis=1)
        nearest = int(distances.argmin())
        others = np.delete(np.square(train - train[nearest]).sum(axis=1), nearest)
        authentic += distances[nearest] > others.min()
    return 100.0 * authentic / len(generated)


def naive_c_t(train, test, generated, seed=0):
    """The definition, with scipy's distances and its Mann–Whitney test."""
    sets = [np.asarray(rows, float) for rows in (train, test, generated)]
    if sets[0].shape[1] > 64:
        pca = PCA(64, random_state=seed).fit(sets[0])
        sets = [pca.transform(rows) for rows in sets]
    train, test, generated = sets
    train = train[np.argsort(np.square(train - train.mean(axis=0)).sum(axis=1), kind="stable")]  # seeds the starts
    sets[0] = train
    model = KMeans(3, n_init=10, random_state=seed).fit(train)
    total, share = 0.0, 0.0
    for cell in range(3):
        t, p, q = (rows[model.predict(rows) == cell] for rows in sets)
        if len(q) / len(generated) <= 20 / len(generated) or not len(p):
            continue
        u = mannwhitneyu(cdist(q, t).min(axis=1), cdist(p, t).min(axis=1), alternative="less").statistic
        m, n = len(q), len(p)
        z = (u - (m * n / 2 - 0.5)) / np.sqrt(m * n * (m + n + 1) / 12)
        total, share = total + z * len(p) / len(test), share + len(p) / len(test)
    return total / share


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETS)
def test_auth_pct_is_the_authors(name, kind):
    stored = load(name)
    theirs = golden.PEERS[name][kind]["authpct_minus_50"] + 50  # they keep it in float32
    assert auth_pct(stored["train"], stored[kind]) == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize("kind", by_default(KINDS, KINDS[1]))
@pytest.mark.parametrize("name", SETS)
def test_c_t_is_the_authors_within_their_seeds(name, kind):
    stored, theirs = load(name), golden.PEERS[name][kind]["c_t"]
    ours = np.mean([c_t(stored["train"], stored["test"], stored[kind], seed) for seed in range(4)])
    assert ours == pytest.approx(theirs["mean"], abs=3 * theirs["sd_over_5_seeds"] + 0.02)


def test_c_t_falls_with_copying_and_is_near_0_for_fresh_rows():
    for name in SETS:
        stored = load(name)
        scores = {kind: c_t(stored["train"], stored["test"], stored[kind]) for kind in KINDS}
        assert scores["copied"] < scores["half_copied"] < -5 < -3 < scores["fresh"] < 3
        assert scores["wide"] > scores["fresh"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 20, 90])
def test_c_t_is_the_definition(d, dtype):
    rng = np.random.default_rng(d)
    train, test, generated = (rng.normal(size=(n, d)).astype(dtype) for n in (200, 150, 180))
    generated[:40] = train[:40]
    test[:5] = train[50:55]
    for seed in (0, 3):
        assert c_t(train, test, generated, seed) == pytest.approx(
            naive_c_t(train, test, generated, seed), rel=1e-9, abs=1e-9
        )


def test_c_t_leaves_out_cells_with_20_generated_rows_or_fewer():
    rng = np.random.default_rng(1)
    centres = np.array([[0, 0], [50, 0], [0, 50]])
    train = np.repeat(centres, 40, axis=0) + rng.normal(size=(120, 2))
    test = np.repeat(centres, 30, axis=0) + rng.normal(size=(90, 2))
    generated = np.repeat(centres, [60, 21, 20], axis=0) + rng.normal(size=(101, 2))
    found = c_t(train, test, generated)
    assert found == pytest.approx(naive_c_t(train, test, generated), rel=1e-9)
    generated[-20:] += rng.normal(size=(20, 2))
    assert c_t(train, test, generated) == pytest.approx(found, rel=1e-12)
    generated[60] = centres[2]
    assert c_t(train, test, generated) != pytest.approx(found, rel=1e-3)


def test_c_t_without_a_cell_to_score():
    rows = RNG.normal(size=(30, 2))
    with pytest.raises(nm.InvalidInput, match="no cell has more than 20 of the 18 generated rows"):
        c_t(rows, rows + 0.1, rows[:18])


def test_c_t_of_train_rows_that_are_few_or_all_equal():
    rows = RNG.normal(size=(40, 2))
    assert np.isfinite(c_t(np.zeros((10, 2)), rows, rows + 0.1))
    assert np.isfinite(c_t(rows[:2], rows, RNG.normal(size=(80, 2))))


CASES = {
    "fresh": (RNG.normal(size=(50, 4)), RNG.normal(size=(60, 4))),
    "wide": (RNG.normal(size=(30, 400)), RNG.normal(size=(20, 400)) * 0.99),
    "far from 0": (1e5 + RNG.normal(size=(40, 3)) / 8, 1e5 + RNG.normal(size=(50, 3)) / 8),
    "train repeated": (RNG.normal(size=(20, 2))[RNG.integers(0, 20, 50)], RNG.normal(size=(30, 2))),
    "lattice": (RNG.integers(0, 5, (60, 2)) * 1.0, RNG.integers(0, 5, (70, 2)) * 1.0),
    "one point": (RNG.normal(size=(30, 2)), np.zeros((25, 2))),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CASES)
def test_auth_pct_is_the_definition(case, dtype):
    train, generated = (rows.astype(dtype) for rows in CASES[case])
    assert auth_pct(train, generated) == pytest.approx(naive_authentic(train, generated), abs=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_copies_and_jitter_of_rows_far_from_0(dtype):
    rng = np.random.default_rng(2)
    train = (50 + rng.normal(size=(200, 64))).astype(dtype)
    test = (50 + rng.normal(size=(200, 64))).astype(dtype)
    jitter = train + dtype(1e-4) * rng.normal(size=train.shape).astype(dtype)
    assert auth_pct(train, train) == 0
    assert auth_pct(train, jitter) == 0
    assert auth_pct(train, test) == pytest.approx(naive_authentic(train, test))
    twice = np.concatenate([train, train])
    assert auth_pct(twice, train) == 0  # at distance 0 of rows whose neighbour is at distance 0
    assert auth_pct(twice, jitter) == 100
    assert c_t(train, test, train) < -8
    assert c_t(train, test, jitter) < -8


@given(seeds)
@quick
def test_auth_pct_invariances(seed):
    rng = np.random.default_rng(seed)
    train, generated = rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
    generated[:10] = train[:10] + 0.01
    before = auth_pct(train, generated)
    assert 0 <= before <= 100
    for other in (
        auth_pct(rng.permutation(train), rng.permutation(generated)),
        auth_pct(train + 2.5, generated + 2.5),
        auth_pct(train * 0.37, generated * 0.37),
    ):
        assert other == pytest.approx(before, abs=1e-12)


@given(seeds)
@settings(max_examples=8, deadline=None, derandomize=True)
def test_c_t_invariances(seed):
    rng = np.random.default_rng(seed)
    train, test, generated = (rng.normal(size=(n, 3)) for n in (60, 50, 90))
    before = c_t(train, test, generated)
    assert c_t(train, rng.permutation(test), rng.permutation(generated)) == pytest.approx(before, rel=1e-9)
    assert c_t(train * 4, test * 4, generated * 4) == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("d", [3, 80])
def test_c_t_of_rows_at_any_offset_and_in_any_unit_is_the_same(d):
    rng = np.random.default_rng(3)
    three = [scale * rng.normal(size=(n, d)) for n, scale in ((200, 1), (100, 1), (150, 1.1))]
    three = [np.round(rows * 2**10) / 2**10 for rows in three]  # so that an offset rounds nothing away
    expected = naive_c_t(*three)
    assert expected != 0
    for offset in (0.0, 2.0**24, 2.0**30, 2.0**40):
        assert c_t(*(rows + offset for rows in three)) == pytest.approx(expected, abs=1e-9)
    for unit in (2.0**-460, 2.0**-50, 2.0**140):
        assert c_t(*(rows * unit for rows in three)) == pytest.approx(expected, abs=1e-9)
    for unit in (2.0**-1000, 2.0**-532, 2.0**-470):
        with pytest.raises(nm.InvalidInput, match="too little to square"):
            c_t(*(rows * unit for rows in three))


def test_generators_are_ranked_by_how_far_c_t_is_from_0():
    rng = np.random.default_rng(5)
    train, test, fresh = (rng.normal(size=(400, 2)) for _ in range(3))
    made = {"far": fresh + 4, "fresh": fresh, "copies": train + 1e-3 * fresh}
    scores = nm.evaluate(nm.Federation([nm.Client(train, test=test)]), made, ["c_t"], progress=False)
    found = scores.table.set_index("generator")["all"]
    assert found["copies"] < -5 < found["fresh"] < 5 < found["far"]
    places = scores.ranks("c_t").set_index("generator")["all"]
    assert places["fresh"] == 1 and places.tolist() == np.abs(found).rank().tolist()


def federation(weights=None):
    parts = [RNG.normal(size=(n, 3)) + n / 100 for n in (60, 90)]
    made = nm.Federation(parts).split(test=1 / 3, seed=0)
    return made if weights is None else made.with_weights(weights)


def test_avg_and_all_in_a_federation():
    clients, generated = federation(), RNG.normal(size=(120, 3)) + 0.7
    scores = nm.evaluate(clients, {"g": generated}, [AuthPct(), CT(seed=1)], progress=False)
    table = scores.table.set_index("metric")
    parts = [(c.rows, c.test) for c in clients]
    train, test = (np.concatenate(x) for x in zip(*parts, strict=True))
    auths = [naive_authentic(rows, generated) for rows, _ in parts]
    c_ts = [naive_c_t(rows, held, generated, 1) for rows, held in parts]
    assert table.avg["auth_pct"] == pytest.approx(np.average(auths, weights=[40, 60]))
    assert table["all"]["auth_pct"] == pytest.approx(naive_authentic(train, generated))
    assert table.avg["c_t"] == pytest.approx(np.average(c_ts, weights=[40, 60]))
    assert table["all"]["c_t"] == pytest.approx(naive_c_t(train, test, generated, 1))


def test_c_t_does_not_depend_on_the_order_of_the_rows():
    train, test, generated = (RNG.normal(size=(n, 4)) for n in (150, 80, 100))
    values = {round(c_t(RNG.permutation(train), RNG.permutation(test), generated), 9) for _ in range(4)}
    assert len(values) == 1


@pytest.mark.parametrize("kind", [AuthPct, CT])
def test_weights_that_are_no_row_counts_are_refused(kind):
    scores = nm.evaluate(federation([1, 1]), {"g": np.eye(90)[:, :3]}, [kind()], progress=False)
    assert np.isfinite(scores.table["avg"]).all() and scores.table["all"].isna().all()
    assert re.search(f"{kind.name}-all.*proportional to their numbers of rows", scores.conventions[-1])


def test_a_client_without_test_rows_is_told_how_to_get_them():
    with pytest.raises(nm.InvalidInput, match=re.escape("federation.split(test=0.2, seed=0)")):
        nm.evaluate(nm.Federation([np.eye(5)]), {"g": np.eye(5)}, [CT()], progress=False)


def test_conventions_and_direction():
    assert AuthPct().higher_is_better
    assert CT.best == 0
    assert "seed 7" in CT(seed=7).convention
    assert "percent" in AuthPct().convention


@pytest.mark.parametrize(
    ("act", "match"),
    [
        (lambda: auth_pct(np.eye(1), np.eye(1)), "train: has 1 row"),
        (lambda: auth_pct(np.eye(3), np.eye(4)), "generated: has 4 features"),
        (lambda: auth_pct(np.full((3, 3), np.inf), np.eye(3)), "train: .* infinite"),
        (lambda: c_t(np.eye(3), np.eye(4), np.eye(3)), "test: has 4 features"),
        (lambda: c_t(np.eye(3), np.eye(3), np.full((30, 3), np.nan)), "generated: .* NaN"),
        (lambda: c_t(np.eye(3), np.eye(3), np.eye(3), seed=-1), "seed"),
    ],
)
def test_bad_input(act, match):
    with pytest.raises(nm.InvalidInput, match=match):
        act()


def test_torch_gives_the_same():
    torch = pytest.importorskip("torch")
    train, test, generated = (RNG.normal(size=(n, 5)) for n in (80, 70, 90))
    generated[:20] = train[:20]
    tensors = [torch.from_numpy(x) for x in (train, test, generated)]
    assert auth_pct(tensors[0], generated) == auth_pct(train, generated)
    assert c_t(*tensors) == pytest.approx(c_t(train, test, generated), rel=1e-12)


def test_a_row_far_off_leaves_fewer_cells_and_no_warning():
    rng = np.random.default_rng(31)
    train, test, made = rng.normal(size=(60, 7)), rng.normal(size=(40, 7)), rng.normal(size=(50, 7))
    train[3, 2] = 1e40
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(nm.c_t(train, test, made))
