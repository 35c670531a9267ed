"""Modes: planted kinds of rows are found, shares and p-values are those of an own NumPy, and rows may stay away."""

import math

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.stats import binomtest

import nbmetrics as nm
from nbmetrics.evaluation.mode_influence import ModeParts, ScoredRows
from nbmetrics.evaluation.modes import wilson
from nbmetrics.metrics.kid.random_features import _directions
from tests.calibration import modes as calibration
from tests.slow import slow

pytestmark = pytest.mark.filterwarnings("ignore::nbmetrics.federated.FewRowsWarning")
SIGMA, COUNT = 6.0, 64
METRIC = nm.metrics.Modes(sigma=SIGMA, count=COUNT)


def features(rows):
    """The oracle's φ of rows, with the package's frequencies."""
    angles = rows @ _directions(0, rows.shape[1], COUNT // 2) / SIGMA
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / math.sqrt(COUNT // 2)


def second_moment(rows):
    phi = features(rows)
    return sum(np.outer(row, row) for row in phi) / len(phi)


@pytest.fixture(scope="module")
def data():
    clients, generated, *_ = calibration.planted(calibration.Gaussians, 9, 0)
    return clients, {"g": generated, "h": np.concatenate(list(clients.values()))[::2] + 0.1}


@pytest.fixture(scope="module")
def scores(data):
    return nm.evaluate(*data, ["fid", "kid", METRIC], progress=False)


def test_planted_classes_are_the_first_two_modes_with_shares_in_their_intervals():
    results = [calibration.one(calibration.FarGaussians, 1, draw) for draw in range(2)]
    assert all(found for found, *_ in results)
    assert np.mean([held for _, held, _ in results]) >= 0.75
    assert not calibration.one(type("Alike", (calibration.Gaussians,), {"rows": _noise}), 1, 0)[0]


def _noise(self, labels, rng):
    return rng.normal(size=(len(labels), 16))


def test_second_moments_pool_exactly(data, scores):
    clients, generators = data
    cells = scores.result("modes")
    for summary, rows in zip(cells.real, clients.values(), strict=True):
        np.testing.assert_allclose(summary.matrix, second_moment(rows), atol=1e-12)
    np.testing.assert_allclose(cells.together.matrix, second_moment(np.concatenate(list(clients.values()))), atol=1e-12)
    tree = METRIC.pool_operator(16)
    halves = [tree(cells.real[:2], [0.5, 0.5]), tree(cells.real[2:], [0.25] * 4)]
    np.testing.assert_allclose(tree(halves, [1 / 3, 2 / 3]).matrix, cells.together.matrix, atol=1e-12)
    values = np.linalg.eigvalsh(second_moment(generators["g"]) - cells.together.matrix)
    assert cells.all[0] == pytest.approx(values[-1] - values[0], abs=1e-12)


def test_table_is_that_of_an_own_computation(data, scores):
    clients, generators = data
    table = scores.modes("g", floor=0.25, permutations=0)
    real = np.concatenate(list(clients.values()))
    values, vectors = np.linalg.eigh(second_moment(generators["g"]) - second_moment(real))
    first = np.argsort(-np.abs(values))[:6]
    np.testing.assert_allclose(table.attrs["eigenvalues"], np.abs(values[first]), atol=1e-12)
    kinds = ["too often" if values[k] > 0 else "too rarely" for k in first]
    assert [name.rpartition(" ")[0] for name in table["mode"]] == kinds
    squared = {
        name: (features(rows) @ vectors[:, first]) ** 2 for name, rows in {**clients, "g": generators["g"]}.items()
    }
    shares = {
        name: [np.mean((s.argmax(axis=1) == k) & (s.max(axis=1) >= 0.25)) for k in range(6)]
        for name, s in squared.items()
    }
    for name in clients:
        np.testing.assert_allclose(table[name], shares[name], atol=1e-12)
    np.testing.assert_allclose(table["generated"], shares["g"], atol=1e-12)
    np.testing.assert_allclose(table["real"], np.mean([shares[name] for name in clients], axis=0), atol=1e-12)
    nearest = table["rows"][kinds.index("too often")]
    mode = kinds.index("too often")
    own = np.where(squared["g"].argmax(axis=1) == mode, squared["g"][:, mode], 0.0)
    assert [name for name, _ in nearest] == ["g"] * 5
    np.testing.assert_allclose(own[[k for _, k in nearest]], np.sort(own)[::-1][:5], rtol=1e-9)


def test_eta_is_how_much_oftener_counts(data, scores):
    clients, generators = data
    table = scores.modes("g", nm.metrics.Modes(SIGMA, COUNT, eta=4.0), permutations=0)
    real, generated = second_moment(np.concatenate(list(clients.values()))), second_moment(generators["g"])
    largest = [np.linalg.eigvalsh(a - 4.0 * b)[-1] for a, b in ((generated, real), (real, generated))]
    assert table.attrs["eigenvalues"][0] == pytest.approx(max(largest), abs=1e-12)


def test_interval_is_wilsons():
    for hits, n in ((0, 20), (7, 90), (90, 90)):
        low, high = wilson(np.array([hits / n]), n)
        expected = binomtest(hits, n).proportion_ci(0.95, method="wilson")
        assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_p_finds_modes_and_is_over_all_of_them(scores):
    """One-sided by ranks: the p of a mode falls with its eigenvalue, and alike rows have none that is small."""
    p = scores.modes("g", permutations=39)["p"].to_numpy()
    assert p[0] == p[1] == 1 / 40 and (np.diff(p) >= 0).all()
    alike = [calibration.p_alike(draw) for draw in range(2)]
    assert np.mean(alike) > 0.15 and max(alike) <= 1.0
    weighted = scores.with_weights([1, 2, 3, 4, 5, 6]).modes("g", permutations=9)
    assert weighted["p"].isna().all()
    assert any("weights" in line for line in weighted.attrs["conventions"])


def test_federated_modes_and_shares_are_those_of_the_rows(data, scores):
    clients, generators = data
    sent = {name: nm.federated.client_summary(rows, METRIC) for name, rows in clients.items()}
    here = nm.federated.aggregate(sent, None, generators, METRIC)
    assert here.ledger["bytes"].max() >= 8 * COUNT * (COUNT + 1) // 2
    assert f"σ = {SIGMA}" in sent["c0"].decode(errors="ignore") and "seed 0" in sent["c0"].decode(errors="ignore")
    table, there = here.modes("g"), scores.modes("g", permutations=0)
    assert table["real"].isna().all() and table["p"].isna().all()
    assert any("stayed with the clients" in line for line in table.attrs["conventions"])
    np.testing.assert_allclose(table.attrs["eigenvalues"], there.attrs["eigenvalues"], atol=1e-12)
    vectors = [t.attrs["assignment"].vectors for t in (table, there)]
    np.testing.assert_allclose(np.abs(np.sum(vectors[0] * vectors[1], axis=0)), 1.0, atol=1e-9)
    shares = {name: table.attrs["assignment"].shares(rows) for name, rows in clients.items()}
    whole = here.modes("g", client_shares=shares)
    columns = ["generated", "real", "real_low", "real_high", *clients]
    np.testing.assert_allclose(whole[columns].to_numpy(float), there[columns].to_numpy(float), atol=1e-9)
    with pytest.raises(nm.InvalidInput, match="client_shares"):
        here.modes("g", client_shares={**shares, "c0": [2.0] * 6})
    with pytest.raises(nm.InvalidInput, match="sigma"):
        nm.federated.client_summary(clients["c0"], nm.metrics.Modes())


def test_streams_give_what_rows_give(data, scores):
    clients, generators = data
    streams = {name: nm.Stream(lambda r=rows: iter(np.array_split(r, 7))) for name, rows in clients.items()}
    streamed = nm.evaluate(streams, generators, METRIC, progress=False)
    assert streamed.table["all"].tolist() == pytest.approx(scores.result("modes").all.tolist(), abs=1e-12)
    table, there = streamed.modes("g", permutations=0), scores.modes("g", permutations=0)
    np.testing.assert_allclose(table["real"], there["real"], atol=1e-12)
    fold, other = METRIC.fold(16), METRIC.fold(16)
    fold.take(clients["c0"]), other.take(clients["c1"])
    fold.merge(other)
    np.testing.assert_allclose(
        fold.end().matrix, second_moment(np.concatenate([clients["c0"], clients["c1"]])), atol=1e-12
    )


def test_subspace_is_that_of_fincs_published_algorithm(data, scores):
    """FINC as published (algorithm_utils.py): outer products of rows, their mean, eigh of the difference."""
    clients, generators = data
    real = np.concatenate(list(clients.values()))
    x, y = features(generators["g"])[:, :, None], features(real)[:, :, None]
    difference = np.mean(x @ x.transpose(0, 2, 1), axis=0) - np.mean(y @ y.transpose(0, 2, 1), axis=0)
    leading = np.linalg.eigh(difference)[1][:, ::-1][:, :2]
    table = scores.modes("g", most=20, permutations=0)
    often = [k for k, name in enumerate(table["mode"]) if name.startswith("too often")][:2]
    angle = np.rad2deg(subspace_angles(table.attrs["assignment"].vectors[:, often], leading).max())
    assert angle < 5.0


def test_disagreement_is_checked_against_leaving_the_rows_out(data, scores):
    clients, generators = data
    table = scores.disagreement("g", "h", "fid", most=3)
    which, _ = table.attrs["assignment"].assign(generators["g"])
    other, _ = table.attrs["assignment"].assign(generators["h"])
    kept = {"g": generators["g"][which != 0], "h": generators["h"][other != 0]}
    before = nm.evaluate(clients, generators, "fid", uncertainty=nm.Influence(), progress=False).table
    after = nm.evaluate(clients, kept, "fid", uncertainty=nm.Influence(), progress=False).table
    for part in ("avg", "all"):
        change = np.subtract(*after[f"{part}_corrected"]) - np.subtract(*before[f"{part}_corrected"])
        assert table[f"{part}_change"][0] == pytest.approx(change, rel=1e-6)
        assert table.attrs["differences"][part] == pytest.approx(np.subtract(*before[f"{part}_corrected"]), rel=1e-6)
    assert (table["avg_part"].isna() == (table["avg_error"] > 0.2)).all()
    assert all("without these rows g − h changes by " in line for line in table.attrs["sentences"])
    assert not any("-" in line.replace("FID-a", "") for line in table.attrs["sentences"]), "a true minus sign"


def test_a_part_has_the_sign_that_its_words_say(data):
    clients, generators = data
    table = nm.evaluate(clients, generators, "kid", progress=False).disagreement("g", "h", "kid", METRIC)
    shown = table.dropna(subset=["avg_part"])
    assert len(shown) and np.allclose(shown["avg_part"], -shown["avg_change"], rtol=0.25)
    assert any("to first order −change" in line for line in table.attrs["conventions"])


@pytest.mark.parametrize("names", [("real", "mode"), ("first", "avg_part"), ("client real", "real"), ("rows", "p")])
def test_a_client_with_the_name_of_a_column_keeps_its_shares_and_its_words(names):
    rng = np.random.default_rng(0)
    near, far = rng.normal(size=(60, 2)), rng.normal(6.0, 1.0, size=(60, 2))
    generators = {"a": rng.normal(size=(80, 2)), "b": np.concatenate([rng.normal(size=(40, 2)), far[:40] + 0.1])}
    tables = [
        nm.evaluate(dict(zip(own, (near, far), strict=True)), generators, "kid", progress=False).disagreement(
            "a", "b", "kid", nm.metrics.Modes(sigma=2.0), most=2
        )
        for own in (("x", "y"), names)
    ]
    places = [tables[0].columns.get_loc(name) for name in "xy"]
    assert len(set(tables[1].columns)) == tables[0].shape[1]
    np.testing.assert_array_equal(tables[1].iloc[:, places], tables[0][["x", "y"]])
    told = [line.replace(" at y (", f" at {names[1]} (") for line in tables[0].attrs["sentences"]]
    told = [line.replace(" at x (", f" at {names[0]} (") for line in told]
    assert told and tables[1].attrs["sentences"] == told


def test_modes_that_change_avg_and_all_alike_are_told_in_their_order(data):
    """KID changes by as much by avg as by all, and rounding is no order."""
    clients, generators = data
    table = nm.evaluate(clients, generators, "kid", progress=False).disagreement("g", "h", "kid", METRIC)
    told = [line.split(" (")[0].removeprefix("Mode ") for line in table.attrs["sentences"]]
    modes = [f"{m.split()[-1]}, more in {'gh'['second' in m]}" for m in table["mode"]]
    assert len(told) > 2 and told == [mode for mode in modes if mode in told]


def test_parts_are_the_first_order_of_leaving_few_rows_out(data):
    """Of few rows the influence values and the exact change are alike; a planted wrong sign is not shown."""
    clients, generators = data
    rows = generators["g"]
    for metric in (nm.metrics.FID(), nm.metrics.KID()):
        metric = metric.resolve([nm.metrics.Sample(rows=r) for r in clients.values()])
        pairs = [(metric.summarize(nm.metrics.Sample(rows=r)), r) for r in clients.values()]
        scored = ScoredRows(metric, pairs, [1 / 6] * 6)
        whole, without = scored.influence(rows), scored.influence(rows[20:])
        parts = ModeParts(
            (whole.values[:, :20].sum(axis=1) / (len(rows) - 20))[None], (whole.scores - without.scores)[None]
        )
        assert (parts.errors < 0.2).all() and not np.isnan(parts.shown).any()
        assert np.isnan(ModeParts(-parts.parts, parts.exact).shown).all()


@pytest.mark.parametrize("order", [1, *slow(-1)])
def test_clients_with_the_names_of_columns_keep_their_shares(data, order):
    clients, generators = data
    names = ["real", "rows", "mode", "avg_change", "p", "client p"]
    expected = nm.evaluate(clients, generators, "fid").disagreement("g", "h", settings=METRIC)
    renamed = dict(list(zip(names, clients.values(), strict=True))[::order])
    scores = nm.evaluate(renamed, generators, "fid")
    table = scores.disagreement("g", "h", settings=METRIC)
    columns = ["client real", "client rows", "client mode", "client avg_change", "client client p", "client p"]
    for name, column in zip(clients, columns, strict=True):
        np.testing.assert_allclose(table[column], expected[name], atol=1e-9)
        assert column in scores.modes("g", METRIC, permutations=0)
    if order < 0:  # of clients that hold as much, another is the first
        return
    new_name = dict(zip(clients, names, strict=True))
    for said, before in zip(table.attrs["sentences"], expected.attrs["sentences"], strict=True):
        name = before.partition("most frequent at ")[2].partition(" ")[0]
        assert said == before.replace(f"at {name} ", f"at {new_name[name]} ")


def test_refusals_say_the_way_out(data, scores, tmp_path):
    clients, generators = data
    with pytest.raises(nm.InvalidInput, match="generator"):
        scores.modes("nobody")
    opened = nm.Scores.open(scores.save(tmp_path / "scores.json"))
    for ask in (lambda: opened.modes("g"), lambda: opened.disagreement("g", "h")):
        with pytest.raises(nm.InvalidInput, match=r"opened from a file.*Evaluate again"):
            ask()
    exact = nm.evaluate({"a": nm.Gaussian([0.0, 0.0])}, {"g": nm.Gaussian([1.0, 0.0])}, "fid")
    with pytest.raises(nm.InvalidInput, match=r"have no rows of 'a'.*nm.metrics.Modes"):
        exact.modes("g")
    drawn = nm.evaluate({"a": nm.Gaussian([0.0, 0.0])}, {"g": nm.Gaussian([3.0, 0.0])}, METRIC, samples=100)
    assert drawn.modes("g", permutations=0)["real"].between(0, 1).all()
    sent = [nm.federated.client_summary(rows, "fid") for rows in clients.values()]
    with pytest.raises(nm.InvalidInput, match=r"no second moments.*nm.metrics.Modes"):
        nm.federated.aggregate(sent, None, generators, "fid").modes("g")
    for bad in ({"most": 0}, {"floor": 2.0}, {"permutations": -1}, {"settings": "x"}):
        with pytest.raises(nm.InvalidInput, match=next(iter(bad))):
            scores.modes("g", **bad)
    for bad in ({"sigma": 0.0}, {"count": 3}, {"count": 10**6}, {"eta": 0.0}, {"seed": -1}):
        with pytest.raises(nm.InvalidInput, match=next(iter(bad))):
            nm.metrics.Modes(**bad)
