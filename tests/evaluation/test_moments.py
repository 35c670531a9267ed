"""Moments in the place of rows in `evaluate`: what needs no rows is the same, what needs them is refused by name."""

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.federated import aggregate, client_summary

D = 5


def draw(n, shift=0.0, seed=0):
    rng = np.random.default_rng([seed, n])
    return np.maximum(rng.normal(shift, 1, size=(n, D)) @ np.diag(np.linspace(0.5, 2, D)), -1)


ROWS = {"north": draw(300), "south": draw(120, 0.5), "few": draw(4, 1.0)}
GENERATED = {"near": draw(200, 0.2, seed=1), "far": draw(250, 1.0, seed=1)}
MOMENTS = {name: nm.Moments.of(rows) for name, rows in ROWS.items()}
LOADED = {n: nm.Moments(m.mean, m.cov, m.n) for n, m in MOMENTS.items()}  # as read from a file
UNKNOWN = nm.Moments(ROWS["north"].mean(axis=0), np.cov(ROWS["north"].T))


def weighed(clients, weights=(2, 1)):
    return [nm.Client(data, name=name, weight=w) for (name, data), w in zip(clients.items(), weights, strict=True)]


@pytest.mark.parametrize("clients", [MOMENTS, LOADED, {**ROWS, "south": MOMENTS["south"]}])
@pytest.mark.parametrize("weights", [None, (1, 2, 0.5)])
def test_what_needs_no_rows_is_that_of_the_rows(clients, weights):
    generated = {"near": GENERATED["near"], "far": nm.Moments.of(GENERATED["far"])}
    metrics = ["fid", "vendi", "inception_score"][: 2 if weights is None else 1]
    sides = [(ROWS, GENERATED), (clients, {"near": GENERATED["near"], "far": generated["far"]})]
    want, found = (nm.evaluate(real, fake, metrics, progress=False) for real, fake in sides)
    if weights is not None:
        want, found = want.with_weights(weights), found.with_weights(weights)
    assert found.weights == want.weights
    np.testing.assert_allclose(found.size_gap(), want.size_gap(), rtol=1e-9)
    for frame in (lambda s: s.table[s.table["metric"] == "fid"], lambda s: s.worst("fid"), lambda s: s.regret("fid")):
        pd.testing.assert_frame_equal(frame(found), frame(want), rtol=1e-9, atol=1e-12)
    results = [scores.result("fid") for scores in (want, found)]
    slopes = [result.metric.slopes(result.real, want.weights, result.generated[0]) for result in results]
    np.testing.assert_allclose(*slopes, rtol=1e-7, atol=1e-9)
    if weights is None:
        of_near = [s.table[(s.table["metric"] == "vendi") & (s.table["generator"] == "near")] for s in (want, found)]
        pd.testing.assert_frame_equal(*of_near)


def test_pooled_moments_are_those_of_the_rows_together():
    together = np.concatenate([*ROWS.values()])
    scores = nm.evaluate(LOADED, GENERATED, "fid")
    expected = [nm.fid(together, rows) for rows in GENERATED.values()]
    np.testing.assert_allclose(scores.table["all"], expected, rtol=1e-10)
    pooled = nm.Federation(LOADED).pooled().moments
    np.testing.assert_allclose(pooled.cov, np.cov(together.T), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(pooled.mean, together.mean(axis=0), rtol=1e-12)
    assert pooled.n == len(together)
    merged = nm.Federation({**ROWS, "south": LOADED["south"]}).merge("both", ["north", "south"])
    assert nm.evaluate(merged, GENERATED, "fid").table["all"].to_numpy() == pytest.approx(expected, rel=1e-10)
    # the law of a Gaussian pools otherwise: the trap that this is not
    laws = [nm.Client(nm.Gaussian(m.mean, m.cov), weight=m.n) for m in MOMENTS.values()]
    assert abs(nm.evaluate(laws, GENERATED, "fid").table["all"][0] / expected[0] - 1) > 1e-3


def test_metrics_that_need_rows_have_no_value_and_say_why():
    names = ["fid", "kid", "fid_infinity", "precision", "w1", "mifid", "log_likelihood", "cmmd", "rke", "rrke"]
    clients = {"ref": MOMENTS["north"], "south": ROWS["south"]}
    scores = nm.evaluate(clients, {"g": GENERATED["near"], "m": nm.Moments.of(GENERATED["far"])}, names, progress=False)
    table = scores.table.set_index(["metric", "generator"])
    assert table.loc["fid"].notna().all(axis=None)
    assert (
        table.loc["rke"].loc["g"].notna().all() and table.loc["rke"].loc["m"].isna().all()
    )  # looks at generators alone
    needy = [name for name in names if name not in ("fid", "rke", "log_likelihood")]
    assert table.loc[needy].isna().all(axis=None)
    by_client = scores.clients.set_index(["metric", "generator", "client"])["value"]
    assert by_client.loc["kid", "g", "south"] == pytest.approx(nm.kid(ROWS["south"], GENERATED["near"]))
    said = "\n".join(scores.conventions)
    for label in ("KID", "FID∞", "Precision", "W1", "MiFID", "CMMD", "RRKE"):
        assert f"client 'ref': is a mean and a covariance, and {label} needs rows" in said
    with pytest.raises(nm.InvalidInput, match="client 'ref': is a mean and a covariance, and KID needs rows"):
        nm.evaluate({"ref": MOMENTS["north"]}, GENERATED, "kid")
    with pytest.raises(nm.InvalidInput, match="generator 'g': is a mean and a covariance, and KID needs rows"):
        nm.evaluate(ROWS, {"g": MOMENTS["north"]}, "kid")
    with pytest.raises(nm.InvalidInput, match="generated: is a mean and a covariance, and KID needs rows"):
        nm.kid(ROWS["north"], MOMENTS["south"])


def test_a_metric_of_the_users_own_is_not_given_moments():
    class Means:
        name = "means"

        def summarize(self, sample):
            return np.mean(sample.rows, axis=0)

        def pool(self, summaries, weights):
            return np.average(summaries, axis=0, weights=weights)

        def terms(self, real, generated):
            return {"means": float(np.sum((real - generated) ** 2))}

    class OwnFID(nm.metrics.FID):
        name = "own"

        def summarize(self, sample):
            assert sample.rows is not None
            return super().summarize(sample)

    scores = nm.evaluate({"ref": MOMENTS["north"]}, GENERATED, [Means(), OwnFID(), "fid"])
    assert scores.table.set_index("metric")["avg"].isna().to_dict() == {"means": True, "own": True, "fid": False}


def test_unknown_n_is_plain_fid_alone():
    scores = nm.evaluate({"ref": UNKNOWN}, GENERATED, "fid")
    expected = [nm.fid(ROWS["north"], generated) for generated in GENERATED.values()]
    assert scores.table["avg"].tolist() == pytest.approx(expected, rel=1e-9)
    assert scores.size_gap() == pytest.approx(0.0, abs=1e-12)  # of one client
    assert any(
        "a client or generator is a mean and a covariance of an unknown number of rows" in c for c in scores.cautions
    )
    assert not scores.provenance["client_rows"]["ref"]
    with pytest.raises(nm.InvalidInput, match="'ref' is a mean and a covariance of an unknown number of rows"):
        nm.Federation({"ref": UNKNOWN, "south": ROWS["south"]})
    both = weighed({"ref": UNKNOWN, "south": ROWS["south"]})
    two = nm.evaluate(both, GENERATED, "fid")
    assert two.table.notna().all(axis=None) and np.isnan(two.size_gap()).all()
    assert nm.Federation(both).describe()["n"].isna().tolist() == [True, False]


@pytest.mark.parametrize(
    "design", [nm.Influence(), nm.Jackknife(), nm.Bootstrap(20)], ids=["influence", "jackknife", "bootstrap"]
)
@pytest.mark.filterwarnings("ignore::nbmetrics.BiasWarning")
def test_there_are_no_intervals_without_rows(design):
    reason = "client 'ref' is a mean and a covariance, and intervals need rows"
    for moments in (MOMENTS["north"], UNKNOWN):
        with pytest.raises(nm.InvalidInput, match=reason):
            nm.evaluate({"ref": moments}, GENERATED, "fid", uncertainty=design)
    clients = {"ref": MOMENTS["north"], "south": ROWS["south"]}
    scores = nm.evaluate(clients, GENERATED, "fid", uncertainty=design)
    assert scores.table[["avg", "all"]].notna().all(axis=None)
    assert scores.table[["avg_corrected", "all_low", "gap_high"]].isna().all(axis=None)
    assert any(reason in line for line in scores.conventions)
    by_generator = nm.evaluate(
        {"south": ROWS["south"]},
        {"g": GENERATED["near"], "m": nm.Moments.of(GENERATED["far"])},
        "fid",
        uncertainty=design,
    )
    assert by_generator.table["avg_low"].isna().tolist() == [False, True]
    assert any("generator 'm' is a mean and a covariance" in line for line in by_generator.conventions)


@pytest.mark.parametrize("clients", [ROWS["south"][:40], MOMENTS["few"]])
@pytest.mark.parametrize("generator", [GENERATED["near"], nm.Moments.of(GENERATED["near"])])
def test_a_correction_for_few_rows_is_promised_only_where_there_is_one(clients, generator):
    clients = {"few": clients, "north": ROWS["north"]}
    plain = nm.evaluate(clients, {"g": generator}, "fid")
    (line,) = [line for line in plain.cautions if "much of the plain FID is bias" in line]
    try:
        table = nm.evaluate(clients, {"g": generator}, "fid", uncertainty=nm.Influence()).table
        has_correction = bool(table["avg_corrected"].notna().all())
    except nm.InvalidInput:
        has_correction = False
    assert has_correction == ("FID is corrected" in line)


def test_rows_are_not_drawn_shuffled_or_held_out():
    scores = nm.evaluate({"ref": MOMENTS["north"], "south": ROWS["south"]}, GENERATED, "fid")
    with pytest.raises(nm.InvalidInput, match="client 'ref' is a mean and a covariance, and has no rows to shuffle"):
        scores.heterogeneity()
    assert not any("heterogeneity" in line for line in scores.cautions)
    drawn = nm.evaluate({"ref": MOMENTS["north"]}, GENERATED, "fid", samples=500)
    assert drawn.table["avg"].tolist() == nm.evaluate({"ref": MOMENTS["north"]}, GENERATED, "fid").table["avg"].tolist()
    with pytest.raises(nm.InvalidInput, match="'ref' is a mean and a covariance"):
        nm.Federation({"ref": MOMENTS["north"]}).split()
    for beside in ({"test": ROWS["south"]}, {"condition": ROWS["south"]}, {"labels": ["a"] * 300}):
        with pytest.raises(nm.InvalidInput, match="whose rows are not here"):
            nm.Client(MOMENTS["north"], **beside)


def test_stores_files_and_ledgers_know_them(tmp_path):
    clients = {"ref": LOADED["north"], "south": ROWS["south"]}
    generated = {"g": GENERATED["near"], "m": LOADED["few"]}
    scores = nm.evaluate(clients, generated, "fid", store=tmp_path / "store")
    again = nm.evaluate(clients, generated, "fid", store=tmp_path / "store")
    assert again.provenance["store"] == {"found": 6, "computed": 0}
    pd.testing.assert_frame_equal(again.table, scores.table)
    near = nm.Moments(LOADED["north"].mean + 1e-9, LOADED["north"].cov, 300)
    other = nm.evaluate({**clients, "ref": near}, generated, "fid", store=tmp_path / "store")
    assert other.provenance["store"] == {"found": 2, "computed": 4}
    longer = nm.Moments(LOADED["north"].mean, LOADED["north"].cov, 301)
    assert nm.evaluate({"a": longer}, generated, "fid", store=tmp_path / "store").provenance["store"]["found"] == 0
    pd.testing.assert_frame_equal(nm.Scores.open(scores.save(tmp_path / "s.json")).table, scores.table)
    sent = scores.ledger[scores.ledger["aggregate"] == "all"]
    assert sent["reveals"].tolist() == ["mean and covariance"] * 2 and (sent["bytes"] > 8 * 20).all()


def test_a_site_sends_them_as_it_sends_rows():
    sent = {name: client_summary(moments, "fid", min_rows=2) for name, moments in LOADED.items() if name != "few"}
    rows = {name: ROWS[name] for name in sent}
    pd.testing.assert_frame_equal(
        aggregate(sent, None, GENERATED, "fid").table, nm.evaluate(rows, GENERATED, "fid").table, rtol=1e-9
    )
    for moments, settings, match in (
        (UNKNOWN, {}, "unknown number of rows"),
        (LOADED["few"], {}, "min_rows=10"),
        (LOADED["north"], {"metrics": "kid"}, "KID needs rows"),
        (LOADED["north"], {"privacy": nm.federated.Privacy(1.0, 1e-6, clip=3.0)}, "no rows to protect"),
    ):
        with pytest.raises(nm.InvalidInput, match=match):
            client_summary(moments, settings.pop("metrics", "fid"), **settings)


def test_theory_and_one_call_take_them():
    assert abs(nm.theory.fid_all_identity(LOADED, GENERATED["near"]).difference) < 1e-9
    assert nm.fid(MOMENTS["north"], MOMENTS["south"]) == pytest.approx(nm.fid(ROWS["north"], ROWS["south"]), rel=1e-12)
    with pytest.raises(nm.InvalidInput, match="dimension 3 where 5"):
        nm.fid(ROWS["north"], nm.Moments(np.zeros(3), np.eye(3)))
    with pytest.raises(nm.InvalidInput, match="'south' has 3 features"):
        nm.Federation({"north": MOMENTS["north"], "south": nm.Moments(np.zeros(3), np.eye(3), 9)})


def test_an_npz_of_images_is_images(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pixels = {name: rng.integers(0, 256, size=(n, 4, 4, 3), dtype=np.uint8) for name, n in (("real", 40), ("fake", 50))}
    np.savez("real.npz", pixels["real"])
    np.savez_compressed("fake.npz", pixels["fake"], np.arange(50))  # with ADM's labels
    for name, array in pixels.items():
        given = nm.images(f"{name}.npz")
        assert len(given) == len(array)
        np.testing.assert_array_equal(given[7], array[7])
    federation = nm.Federation({"real": "real.npz"}, extractor="pixels")
    scores = nm.evaluate(federation, {"fake": "fake.npz"}, "fid", progress=False)
    rows = [array.reshape(len(array), -1) / 255 for array in pixels.values()]
    assert scores.table["avg"][0] == pytest.approx(nm.fid(*rows), rel=1e-5)
    with pytest.raises(nm.InvalidInput, match="no extractor"):
        nm.Client("real.npz")
    np.savez("both.npz", mu=np.mean(rows[0], axis=0), sigma=np.cov(rows[0].T), arr_0=pixels["real"])
    assert len(nm.images("both.npz")) == 40 and nm.Client("both.npz").moments.dim == 48
    np.savez("no.npz", rows=np.zeros((5, 3)))
    for bad in ("no.npz", "missing.npz"):
        with pytest.raises(nm.InvalidInput, match=bad):
            nm.images(bad)


def test_an_npz_of_images_that_was_cut_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pixels = np.random.default_rng(0).integers(0, 256, size=(40, 4, 4, 3), dtype=np.uint8)
    np.savez("whole.npz", pixels)
    assert len(nm.images("whole.npz")) == 40
    content = (tmp_path / "whole.npz").read_bytes()
    for name, cut in (("end", content[:-900]), ("middle", content[:500] + content[600:])):
        (tmp_path / f"{name}.npz").write_bytes(cut)
        with pytest.raises(nm.InvalidInput, match=f"{name}.npz"):
            nm.images(f"{name}.npz")


def test_labs_take_them_or_say_why_not():
    clients = {"ref": MOMENTS["north"], "south": ROWS["south"]}
    board = nm.Dashboard(clients, GENERATED, "fid")
    pd.testing.assert_frame_equal(
        board.scores.table[["avg", "all", "gap"]], nm.evaluate(clients, GENERATED, "fid").table[["avg", "all", "gap"]]
    )
    assert "intervals need rows" in board._described()
    with pytest.raises(nm.InvalidInput, match="'ref' is a mean and a covariance, of which no points can be drawn"):
        nm.Playground(clients)
    with pytest.raises(nm.InvalidInput, match="'g' is a mean and a covariance, of which no points can be drawn"):
        nm.Playground(ROWS, {"g": MOMENTS["north"]})
