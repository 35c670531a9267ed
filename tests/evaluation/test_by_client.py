"""Generators with one distribution for each client: intra, avg and all beside code of our own."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import sqrtm

import nbmetrics as nm
from tests.slow import by_default, slow

NAMES = ("north", "south", "east")
WEIGHTS = [(1, 1, 1), (40, 60, 50), (0.7, 0.2, 0.1), (0, 1, 3), (1, 0, 0)]
METRICS = ("fid", "kid")


@pytest.fixture(scope="module")
def parties():
    """Rows of three clients, and what two generators made for each: in its own place, and in the next one's."""
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 2, (3, 3))
    clients = {n: rng.normal(c, 1.0, (k, 3)) for n, c, k in zip(NAMES, centres, (40, 60, 50), strict=True)}
    made = [rng.normal(c, 1.1, (k, 3)) for c, k in zip(centres, (30, 45, 70), strict=True)]
    right = dict(zip(NAMES, made, strict=True))
    return clients, {"right": right, "swapped": dict(zip(NAMES, [*made[1:], made[0]], strict=True))}


def moments(rows, shares):
    """Mean and covariance of the pooled rows as numpy.cov has them, by weights of the rows."""
    x, w = (
        np.concatenate(rows),
        np.concatenate([np.full(len(r), s / len(r)) for r, s in zip(rows, shares, strict=True)]),
    )
    mean = w @ x
    return mean, ((x - mean).T * w) @ (x - mean) / (1.0 - w @ w)


def own_fid(real, generated):
    (m, c), (n, d) = real, generated
    return float((m - n) @ (m - n) + np.trace(c + d - 2.0 * sqrtm(c @ d).real))


def own_kid(real, generated):
    """Sums over all pairs, those of a row with itself left out, by weights of the rows."""
    kernel = lambda a, b: (a @ b.T / a.shape[1] + 1.0) ** 3  # noqa: E731

    def self_term(x, w):
        k, pairs = kernel(x, x), np.outer(w, w)
        np.fill_diagonal(pairs, 0.0)
        return (k * pairs).sum() / pairs.sum()

    (x, w), (y, v) = real, generated
    return float(self_term(x, w) + self_term(y, v) - 2.0 * w @ kernel(x, y) @ v)


def weighed(rows, shares):
    return np.concatenate(rows), np.concatenate(
        [np.full(len(r), s / len(r)) for r, s in zip(rows, shares, strict=True)]
    )


OWN = {"fid": (moments, own_fid), "kid": (weighed, own_kid)}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("metric", METRICS)
def test_intra_avg_and_all_are_those_of_independent_code(parties, metric, weights):
    clients, generators = parties
    shares = np.array(weights) / sum(weights)
    federation = nm.Federation([nm.Client(rows, name=n, weight=w) for (n, rows), w in zip(clients.items(), weights)])
    scores = nm.evaluate(federation, generators, metric)
    of, distance = OWN[metric]
    kept = np.flatnonzero(shares)
    pool = of([clients[NAMES[i]] for i in kept], shares[kept])
    for made, row in zip(generators.values(), scores.table.to_dict("records"), strict=True):
        mixture = of([made[NAMES[i]] for i in kept], shares[kept])
        one = {n: of([clients[n]], [1.0]) for n in NAMES}
        own = [distance(one[n], of([made[n]], [1.0])) for n in NAMES]
        assert row["intra"] == pytest.approx(shares @ own, rel=1e-9, abs=1e-9)
        assert row["avg"] == pytest.approx(shares @ [distance(one[n], mixture) for n in NAMES], rel=1e-9, abs=1e-9)
        assert row["all"] == pytest.approx(distance(pool, mixture), rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(scores.clients.query(f"generator == '{row['generator']}'")["own"], own, rtol=1e-9)
    again = nm.evaluate(clients, generators, metric).with_weights(weights)
    np.testing.assert_allclose(again.table[["intra", "avg", "all"]], scores.table[["intra", "avg", "all"]], rtol=1e-9)


@pytest.mark.parametrize("uncertainty", [None, nm.Influence()])
def test_what_all_clients_share_is_one_distribution(parties, uncertainty):
    clients, _ = parties
    rows = np.random.default_rng(1).normal(size=(90, 3))
    generators = {"shared": dict.fromkeys(NAMES, rows), "one": rows}
    scores = nm.evaluate(
        clients, generators, ["fid", "kid", "precision"][: 2 if uncertainty else 3], uncertainty=uncertainty
    )
    shared, one = (scores.table[scores.table["generator"] == name].reset_index() for name in generators)
    np.testing.assert_allclose(shared["intra"], shared["avg"], rtol=1e-12)
    numbers = [name for name in shared.columns if name not in ("index", "generator", "metric")]
    np.testing.assert_allclose(shared[numbers], one[numbers], rtol=1e-12, atol=1e-15)


def test_classes_that_are_swapped_are_seen_by_intra_alone():
    """../shared/notes/opportunities.md 1.1: 0.14, 6.61 and 3.52 by FID, −0.0011, 0.3012 and 0.1567 by KID."""
    images, digits = nm.datasets.digits()
    rng = np.random.default_rng(0)
    real = {str(c): images[digits == c] for c in range(10)}
    of_class = {
        "honest": lambda c: c,
        "swapped": lambda c: (c + 1) % 10,
        "half": lambda c: c if c % 2 else (c + 1) % 10,
    }
    made = {
        name: {
            c: (own := real[str(place(int(c)))])[rng.integers(len(own), size=180)] + rng.normal(0, 0.05, (180, 64))
            for c in real
        }
        for name, place in of_class.items()
    }
    scores = nm.evaluate(real, made)
    table = scores.table.set_index(["metric", "generator"])
    assert table.loc["fid", "intra"].tolist() == pytest.approx([0.14, 6.61, 3.52], rel=0.02)
    assert table.loc["kid", "intra"].tolist() == pytest.approx([-0.0011, 0.3012, 0.1567], abs=0.003)
    honest, swapped, _ = (table.loc["fid"].loc[name] for name in of_class)
    assert abs(honest["avg"] - swapped["avg"]) < 0.03 and abs(honest["all"] - swapped["all"]) < 0.01
    assert scores.summary()[0] == "FID-intra prefers honest; it and all order 1 of 3 pairs differently."
    assert scores.ranks("kid")["intra"].tolist() == [1, 3, 2]
    assert scores.worst("kid")["worst"].tolist() == pytest.approx(
        scores.clients.query("metric == 'kid'").groupby("generator", sort=False)["own"].max().tolist()
    )
    inverted = scores.inversions("fid", between=("intra", "all"))
    assert list(inverted.columns) == ["intra_prefers", "all_prefers", "intra_margin", "all_margin"]
    assert scores.agreement("fid", between=("all", "intra")) == pytest.approx(1 / 3)


def test_metrics_that_cannot_weigh_rows_have_intra_alone(parties):
    clients, generators = parties
    scores = nm.evaluate(clients, generators, ["precision", "fld"][:1])
    table = scores.table
    shares = np.array([40, 60, 50]) / 150
    expected = [shares @ [nm.prdc(clients[n], made[n])[0] for n in NAMES] for made in generators.values()]
    assert table["intra"].tolist() == pytest.approx(expected)
    assert table[["avg", "all"]].isna().all(axis=None)
    lines = [line for line in scores.cautions if "has no avg and no all under Precision, which cannot weight" in line]
    assert [line.partition(":")[0] for line in lines] == ["Precision avg has no value", "Precision all has no value"]
    assert scores.summary() == ["Precision-intra prefers right."]


def test_exact_distributions_and_functions_by_client():
    clients = {"cats": nm.Gaussian([-2.0]), "dogs": nm.Gaussian([2.0])}
    swapped = nm.Generator.by_client({"dogs": nm.Gaussian([-2.0]), "cats": nm.Gaussian([2.0])})
    asked = []

    def drawn(client, n, rng):
        asked.append(client)
        return rng.normal(-2.0 if client == "cats" else 2.0, 1.0, (n, 1))

    generators = {"swapped": swapped, "drawn": nm.Generator.by_client(drawn)}
    table = nm.evaluate(clients, generators, ["fid", "log_likelihood"][:1]).table
    assert table["intra"][0] == pytest.approx(16.0) and table["all"][0] == pytest.approx(0.0, abs=1e-12)
    assert asked == ["cats", "dogs"] and abs(table["intra"][1]) < 0.01
    likelihood = nm.evaluate(clients, {"swapped": swapped}, "log_likelihood").table
    assert likelihood["intra"][0] == pytest.approx(-0.5 * math.log(2 * math.pi) - 0.5 - 8.0)


def test_a_folder_has_a_file_for_each_client(tmp_path, parties):
    clients, generators = parties
    for name, rows in generators["right"].items():
        np.save(tmp_path / f"{name}.npy", rows)
    scores = nm.evaluate(clients, {"folder": nm.Generator.by_client(tmp_path)}, METRICS)
    expected = nm.evaluate(clients, {"folder": generators["right"]}, METRICS)
    np.testing.assert_allclose(scores.table["intra"], expected.table["intra"], rtol=1e-12)


def test_a_folder_of_reference_statistics_or_with_loose_images(tmp_path, parties):
    clients, generators = parties
    for name, rows in generators["right"].items():
        nm.Moments.of(rows).save(tmp_path / f"{name}.npz")
    scores = nm.evaluate(clients, {"g": nm.Generator.by_client(tmp_path)}, "fid")
    expected = nm.evaluate(clients, {"g": generators["right"]}, "fid")
    np.testing.assert_allclose(columns_of(scores), columns_of(expected), rtol=1e-9)
    (tmp_path / "loose.png").write_bytes(b"")
    with pytest.raises(nm.InvalidInput, match="0 sub-folders, 3 files of arrays and 1 images of its own"):
        nm.Generator.by_client(tmp_path)


def test_images_by_client_go_through_the_extractor():
    rng = np.random.default_rng(0)
    images = {n: rng.integers(0, 255, (30, 8, 8), dtype=np.uint8) for n in ("a", "b")}
    federation = nm.Federation([nm.Client(x, name=n, extractor="pixels") for n, x in images.items()])
    table = nm.evaluate(federation, {"same": images, "one": np.concatenate(list(images.values()))}, "fid").table
    assert table["intra"][0] == pytest.approx(0.0, abs=1e-9) and table["intra"][1] > 0.01
    asked = []

    def made(client, n, rng):
        asked.append((client, n))
        return images[client][rng.integers(30, size=n)]

    nm.evaluate(federation, nm.Generator.by_client(made, name="f"), "fid", samples=100)
    assert {client for client, _ in asked} == {"a", "b"} and sum(n for _, n in asked) == 100


def test_streams_by_client_are_read_once(parties):
    clients, generators = parties
    read = []

    def batches(name):
        read.append(name)
        yield from np.array_split(generators["right"][name], 4)

    made = {name: (lambda name=name: batches(name)) for name in NAMES}
    scores = nm.evaluate(clients, {"right": made}, METRICS)
    expected = nm.evaluate(clients, {"right": generators["right"]}, METRICS)
    np.testing.assert_allclose(scores.table["intra"], expected.table["intra"], rtol=1e-9)
    assert max(read.count(name) for name in NAMES) <= 2


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (
            {"north": 1, "south": 1},
            r"generator 'g': has no source for client 'east'. The dict needs one for each client",
        ),
        (dict.fromkeys((*NAMES, "west"), 1), "has a source for unknown client 'west'"),
        ({"nord": 1, "south": 1, "east": 1}, "no source for client 'north' and has a source for unknown client 'nord'"),
        ({}, "is an empty dict"),
        ({n: {n: 1} for n in NAMES}, "client 'north': is a dict of clients again"),
    ],
)
def test_an_error_names_the_client(parties, made, says):
    clients, _ = parties
    rows = np.random.default_rng(0).normal(size=(20, 3))

    def of(value):
        return {n: of(v) for n, v in value.items()} if isinstance(value, dict) else rows[: 20 if value else 1]

    with pytest.raises(nm.InvalidInput, match=says):
        nm.evaluate(clients, {"g": of(made)}, "fid")


def test_rows_too_few_for_a_score_are_named_with_their_client(parties):
    clients, generators = parties
    made = {**generators["right"], "north": np.ones((1, 3))}
    scores = nm.evaluate(clients, {"g": made, "right": generators["right"]}, "fid")
    assert np.isnan(scores.table["intra"][0]) and not scores.table.loc[1, ["intra", "avg", "all"]].isna().any()
    assert any("'g for north'" in line and "1 row" in line for line in scores.cautions)


@pytest.mark.parametrize("bad", [3, None, lambda n, rng: None, "missing-folder"])
def test_what_is_no_source_by_client_is_refused(bad):
    with pytest.raises(nm.InvalidInput, match="client"):
        nm.Generator.by_client(bad)


def test_features_of_another_width_are_refused_by_the_name_of_the_client(parties):
    clients, generators = parties
    wrong = {**generators["right"], "south": np.ones((9, 4))}
    with pytest.raises(nm.InvalidInput, match="'g for south'"):
        nm.evaluate(clients, {"g": wrong})


def test_clients_with_conditions_and_the_playground_refuse_it(parties):
    clients, generators = parties
    conditional = {n: nm.Client(rows, condition=rows) for n, rows in clients.items()}
    with pytest.raises(nm.InvalidInput, match="the clients have conditions"):
        nm.evaluate(conditional, generators)
    with pytest.raises(nm.InvalidInput, match="'right' has one distribution for each client, which is not"):
        nm.Playground(clients, generators)


def test_a_store_keeps_scores_with_what_was_made_for_a_client(tmp_path, parties):
    clients, generators = parties
    plain = nm.evaluate(clients, generators, METRICS)
    first, again = (nm.evaluate(clients, generators, METRICS, store=tmp_path) for _ in range(2))
    columns = ["intra", "avg", "all"]
    for scores in (first, again):
        np.testing.assert_allclose(scores.table[columns], plain.table[columns], rtol=1e-12)
    assert again.provenance["store"]["computed"] == 0
    changed = {**generators, "right": {**generators["right"], "north": generators["right"]["north"] + 1.0}}
    moved = nm.evaluate(clients, changed, METRICS, store=tmp_path)
    np.testing.assert_allclose(moved.table[columns], nm.evaluate(clients, changed, METRICS).table[columns], rtol=1e-12)


@pytest.mark.parametrize("uncertainty", [None, nm.Influence()])
def test_saved_scores_say_the_same(tmp_path, parties, uncertainty):
    scores = nm.evaluate(*parties, METRICS, uncertainty=uncertainty)
    opened = nm.Scores.open(scores.save(tmp_path / "s.json"))
    assert repr(opened) == repr(scores)
    for name in ("_repr_html_", "to_latex", "to_markdown", "to_json", "summary"):
        assert getattr(opened, name)() == getattr(scores, name)()
    for name in ("table", "clients", "ledger"):
        assert getattr(opened, name).equals(getattr(scores, name))
    for call in ("ranks", "worst", "regret", *(["flips"] if uncertainty else [])):
        assert getattr(opened, call)("fid").equals(getattr(scores, call)("fid"))


def test_summaries_of_sites_give_the_same(parties):
    clients, generators = parties
    sent = {name: nm.federated.client_summary(rows, METRICS) for name, rows in clients.items()}
    scores = nm.federated.aggregate(sent, None, generators, METRICS)
    expected = nm.evaluate(clients, generators, METRICS)
    columns = ["intra", "avg", "all"]
    np.testing.assert_allclose(scores.table[columns], expected.table[columns], rtol=1e-10, atol=1e-12)


def test_the_ledger_says_what_comes_down_for_intra(parties):
    ledger = nm.evaluate(*parties, "fid").ledger
    assert ledger["aggregate"].tolist() == ["intra", "avg", "all"] * 3
    assert (ledger.query("aggregate == 'intra'")["bytes"] == 16).all()
    assert (ledger["bytes_down"] > 0).tolist() == [True, True, False] * 3


def test_intervals_are_about_scores_without_bias(parties):
    """One client: intra, avg and all are one; beside a plain generator, whose intra is its avg."""
    clients, generators = parties
    plain = nm.evaluate(clients, {"one": generators["right"]["north"]}, METRICS, uncertainty=nm.Influence())
    both = nm.evaluate(
        clients, {"one": generators["right"]["north"], **generators}, METRICS, uncertainty=nm.Influence()
    )
    for part in ("avg", "all", "gap"):
        columns = [f"{part}_{end}" for end in ("corrected", "low", "high")]
        own = both.table[both.table["generator"] == "one"]
        np.testing.assert_allclose(own[columns], plain.table[columns], rtol=1e-12)
        if part == "avg":
            intra = own[[f"intra_{end}" for end in ("corrected", "low", "high")]]
            np.testing.assert_allclose(intra, own[columns], rtol=1e-9)
    lone = nm.evaluate(
        {"north": clients["north"]}, {"g": {"north": generators["right"]["north"]}}, METRICS, uncertainty=nm.Influence()
    ).table
    for end in ("corrected", "low", "high"):
        np.testing.assert_allclose(lone[f"intra_{end}"], lone[f"avg_{end}"], rtol=1e-12)
        np.testing.assert_allclose(lone[f"intra_{end}"], lone[f"all_{end}"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_clients_vary_apart_so_variances_of_intra_add_up(parties, weights):
    scores = nm.evaluate(*parties, METRICS, uncertainty=nm.Influence()).with_weights(weights)
    shares = np.array(scores.weights)
    for metric in METRICS:
        spread = scores.result(metric).noise.source.spread(scores.weights)
        own = spread.variance["own"].root
        np.testing.assert_allclose(spread.variance["intra"].root ** 2, own**2 @ shares**2, rtol=1e-9)
        for g, made in enumerate(parties[1].values()):
            one = {"north": parties[0]["north"]}
            lone = nm.evaluate(one, {"g": made["north"]}, metric, uncertainty=nm.Influence()).result(metric)
            assert own[g, 0] == pytest.approx(lone.noise.source.spread((1.0,)).variance["avg"].root[0], rel=1e-9)


def test_resampling_refuses_what_has_one_distribution_a_client(parties):
    with pytest.raises(nm.InvalidInput, match="no intervals by resampling"):
        nm.evaluate(*parties, "precision", uncertainty=nm.Jackknife())
    scores = nm.evaluate(*parties, ["fid", "precision"], uncertainty=nm.Influence())
    assert scores.table["intra_low"].isna().tolist() == [False, False, True, True]
    assert any(line.startswith("Precision has no intervals") for line in scores.cautions)


@pytest.mark.parametrize("uncertainty", [nm.Jackknife(), nm.Bootstrap(40)], ids=repr)
@pytest.mark.parametrize("metric", by_default(["precision", "kid"], "kid"))
def test_a_generator_beside_one_by_client_has_the_intra_of_its_avg_by_resampling(parties, metric, uncertainty):
    clients, generators = parties
    plain = {name: np.concatenate(list(made.values())) + k for k, (name, made) in enumerate(generators.items())}
    scores = nm.evaluate(clients, {"own": generators["right"], **plain}, metric, uncertainty=uncertainty)
    rows, cells = scores.table[1:], scores.clients.query("generator != 'own'")
    for end in ("corrected", "low", "high"):
        assert rows[f"intra_{end}"].tolist() == rows[f"avg_{end}"].tolist() and rows[f"intra_{end}"].notna().all()
        assert cells[f"own_{end}"].tolist() == cells[end].tolist()
    flips = scores.flips(metric).iloc[-1]
    assert flips["intra_p"] == flips["avg_p"]


def test_few_rows_are_counted_by_generator(parties):
    clients, generators = parties
    few = {name: {client: rows[:20] for client, rows in made.items()} for name, made in generators.items()}
    cautions = nm.evaluate(clients, few, "fid").cautions
    assert any("2 of 2 generators have fewer than 30 rows" in line for line in cautions)


def test_a_dashboard_shows_a_table_of_each_client_with_its_own(parties):
    scores = nm.evaluate(*parties, "fid")
    table = scores.clients[["client", "generator", "own"]].rename(columns={"own": "value"})
    dashboard = nm.Dashboard.from_table(table, weights=dict(zip(NAMES, scores.weights, strict=True)), label="FID")
    try:
        np.testing.assert_allclose(dashboard.table["avg"], scores.table["intra"])
    finally:
        dashboard.close()


def test_plots_show_intra_and_each_client_with_its_own(parties):
    scores = nm.evaluate(*parties, ["fid", "precision"])
    scatter, ranks, clients = (scores.plot(kind).axes for kind in ("scatter", "ranks", "clients"))
    assert "intra" in scatter[0].get_ylabel() and scatter[1].get_title() == "Precision: not every score is known"
    assert [[tick.get_text() for tick in axes.get_xticklabels()] for axes in ranks] == [
        ["intra", "avg", "all"],
        ["intra"],
    ]
    own = scores.clients.query("generator == 'right' and metric == 'fid'")["own"]
    np.testing.assert_allclose(clients[0].lines[0].get_ydata(), own)


def columns_of(scores):
    return scores.table.drop(columns=["generator", "metric"]).to_numpy(float)


def stream_of(rows):
    return lambda: iter(np.array_split(rows, 3))


@pytest.mark.parametrize("shared", [np.asarray, np.ndarray.tolist, pd.DataFrame, stream_of])
def test_what_some_clients_share_counts_once(parties, shared):
    """A distribution for two of three clients, as with clusters of clients, is that of one client of their weight."""
    clients, _ = parties
    rng = np.random.default_rng(5)
    rows, east, real = rng.normal(size=(60, 3)), rng.normal(size=(70, 3)), np.array([40, 60, 50]) / 150
    both = shared(rows)
    scores = nm.evaluate(clients, {"g": {"north": both, "south": both, "east": east}}, METRICS)
    for metric in METRICS:
        of, distance = OWN[metric]
        mixture = of([rows, east], [real[0] + real[1], real[2]])
        expected = real @ [distance(of([clients[n]], [1.0]), mixture) for n in NAMES]
        row = scores.table.query(f"metric == '{metric}'").iloc[0]
        assert row["avg"] == pytest.approx(expected, rel=1e-9)
        assert row["all"] == pytest.approx(distance(of([clients[n] for n in NAMES], real), mixture), rel=1e-9)


def test_what_all_clients_share_has_scores_that_cannot_weigh_rows(parties):
    clients, _ = parties
    rows = np.random.default_rng(1).normal(size=(90, 3)).tolist()
    shared, one = columns_of(nm.evaluate(clients, {"s": dict.fromkeys(NAMES, rows), "one": rows}, "precision"))
    np.testing.assert_allclose(shared, one)


@pytest.mark.slow
def test_intervals_of_what_some_clients_share_are_those_of_simulations():
    errors, centres = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        of = zip((0, 0.2, 2), NAMES, (2, 3, 1), strict=True)
        clients = [nm.Client(rng.normal(k, 1, (90, 2)), name=n, weight=w) for k, n, w in of]
        both, east = rng.normal(0.8, 1.1, (40, 2)), rng.normal(2.2, 1.2, (60, 2))
        made = {"north": both, "south": both, "east": east}
        scores = nm.evaluate(nm.Federation(clients), {"g": made}, METRICS, uncertainty=nm.Influence(), progress=False)
        spreads = [scores.result(m).noise.source.spread(scores.weights) for m in METRICS]
        centres.append([[s.intra[0], s.avg[0]] for s in spreads])
        errors.append([[s.variance["intra"].root[0], s.variance["avg"].root[0]] for s in spreads])
    ratio = np.sqrt(np.mean(np.square(errors), axis=0)) / np.std(centres, axis=0, ddof=1)
    assert (ratio > 0.75).all() and (ratio < 1.35).all()


def test_the_store_tells_shared_rows_from_equal_ones(tmp_path, parties):
    clients, _ = parties
    rows = np.random.default_rng(1).normal(size=(50, 3))
    for made in ({n: rows.copy() for n in NAMES}, dict.fromkeys(NAMES, rows)):
        kept = nm.evaluate(clients, {"g": made}, METRICS, store=tmp_path)
        np.testing.assert_allclose(columns_of(kept), columns_of(nm.evaluate(clients, {"g": made}, METRICS)), rtol=1e-12)


def test_the_same_path_is_one_distribution(tmp_path, parties):
    clients, generators = parties
    np.save(tmp_path / "g.npy", generators["right"]["north"])
    made = {n: str(tmp_path / "g.npy") for n in NAMES}
    np.testing.assert_allclose(
        columns_of(nm.evaluate(clients, {"g": made}, "kid")),
        columns_of(nm.evaluate(clients, {"g": dict.fromkeys(NAMES, generators["right"]["north"])}, "kid")),
        rtol=1e-12,
    )


@pytest.mark.parametrize("which", [NAMES, NAMES[1:2]])
def test_columns_in_another_order_are_refused(parties, which):
    """Rows are taken by position: a frame with the columns z, y, x would be scored as x, y, z."""
    clients, generators = parties
    frames, made = (
        {n: pd.DataFrame(rows, columns=list("xyz")) for n, rows in side.items()}
        for side in (clients, generators["right"])
    )
    made |= {n: made[n][["z", "y", "x"]] for n in which}
    with pytest.raises(nm.InvalidInput, match=f"'g for {which[0]}' is 'z', of 'north' 'x'"):
        nm.evaluate(frames, {"g": made}, "fid")
    for check in (nm.theory.kid_intra_identity, nm.theory.intra_convexity):
        with pytest.raises(nm.InvalidInput, match="is 'z', of 'north' 'x'"):
            check(frames, made)


def test_heterogeneity_says_why_it_has_none(parties):
    with pytest.raises(nm.InvalidInput, match="'right' has one distribution for each client, which belong to"):
        nm.evaluate(*parties, "fid").heterogeneity("fid")


@pytest.mark.parametrize("between", ["intra", ("intra",), ([], {}), ("all", "all"), None, ("intra", "gap")])
def test_between_that_is_no_pair_is_refused(parties, between):
    with pytest.raises(nm.InvalidInput, match="between"):
        nm.evaluate(*parties, "fid").inversions("fid", between=between)


def test_figures_show_what_was_made_for_each_client(parties):
    clients, generators = parties
    scores = nm.evaluate(clients, {**generators, "one": generators["right"]["north"]}, "precision")
    (panel,) = scores.plot(metric="precision", kind="clients").axes
    np.testing.assert_allclose(np.ravel([line.get_ydata() for line in panel.lines]), scores.clients["own"])
    assert panel.get_ylabel() == "Precision, each client with its own"
    assert not scores.plot(metric="precision", kind="regret").axes[0].patches  # hatches, where there is no score


def test_a_mixture_of_mixtures_and_a_module_are_refused(parties):
    with pytest.raises(nm.InvalidInput, match="'right' has one distribution for each client, which is not"):
        nm.best_mixture(*parties)

    class Module:
        def __call__(self, *latents): ...

        def state_dict(self): ...

    with pytest.raises(nm.InvalidInput, match=r"module .+ is given no client"):
        nm.Generator.by_client(Module())


def test_a_single_row_is_part_of_the_mixture(parties):
    """As a single row of a client is part of the pool: rows or a stream, what stands is not lost."""
    clients, generators = parties
    row = generators["right"]["north"][:1]
    shares = np.array([40, 60, 50]) / 150
    for made in (row, lambda: iter([row])):
        scores = nm.evaluate(clients, {"g": {**generators["right"], "north": made}}, METRICS)
        assert scores.table["intra"].isna().all()
        for metric in METRICS:
            of, distance = OWN[metric]
            mixture = of([row, generators["right"]["south"], generators["right"]["east"]], shares)
            expected = shares @ [distance(of([clients[n]], [1.0]), mixture) for n in NAMES]
            assert scores.table.query(f"metric == '{metric}'")["avg"].item() == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "most"), [(60, 0.12), *slow((120, 0.12))])
def test_p_values_of_intra_are_those_of_draws_of_two_equal_generators(runs, most):
    """Two generators of one law a client, four features: a one-sided p below .1 in a fifth of the runs, either side."""
    below = np.zeros((2, 2))
    for seed in range(runs):
        rng = np.random.default_rng([7, seed])
        clients = {name: rng.normal(k, 1.0, (60, 4)) for k, name in enumerate("ab")}
        made = {g: {name: rng.normal(k + 0.3, 1.0, (50, 4)) for k, name in enumerate("ab")} for g in "gh"}
        scores = nm.evaluate(clients, made, METRICS, uncertainty=nm.Influence(), progress=False)
        for m, metric in enumerate(METRICS):
            flips = scores.flips(metric).iloc[0]
            below[m] += flips["intra_p"] < 0.1, flips["avg_p"] < 0.1
    assert (np.abs(below / runs - 0.2) < most).all(), below
