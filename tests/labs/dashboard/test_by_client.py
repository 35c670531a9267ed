"""A Dashboard of generators with one distribution for each client: intra beside NumPy, `evaluate` and the page."""

import base64
import io
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import nbmetrics as nm
from nbmetrics.evaluation.store import Store
from nbmetrics.labs.dashboard.federation_comparison import FederationComparison
from nbmetrics.labs.dashboard.figures import VIEWS
from tests.evaluation.test_by_client import moments, own_fid, own_kid, weighed
from tests.evaluation.whole_noise import noise as whole_noise
from tests.labs.dashboard.page import said
from tests.labs.inside import answer, mixture_of, scene_of, study_of
from tests.node import needs_node
from tests.slow import by_default

NAMES = ("north", "south", "east")
OTHER_WEIGHTS = (0.2, 0.5, 0.3)


def parties(seed=0, sizes=(60, 80, 70), made=(90, 75, 80)):
    """Rows of three clients; what two generators made for each, in its place and in the next one's; and one for all."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0, 0], [3, 0], [0, 4]])
    clients = {n: rng.normal(c, 1, (k, 2)) for n, c, k in zip(NAMES, centres, sizes, strict=True)}
    own = [rng.normal(c, 1.1, (k, 2)) for c, k in zip(centres, made, strict=True)]
    honest, swapped = (dict(zip(NAMES, rows, strict=True)) for rows in (own, [*own[1:], own[0]]))
    return clients, {"honest": honest, "swapped": swapped, "shared": np.concatenate(own) + 0.2}


@pytest.fixture(scope="module")
def lab():
    lab = nm.Dashboard(*parties())
    lab.wait()
    yield lab
    lab.close()


@pytest.fixture
def fresh():
    labs = []

    def make(*arguments, **options):
        labs.append(nm.Dashboard(*arguments, **options))
        labs[-1].wait()
        return labs[-1]

    yield make
    for one in labs:
        one.close()


def told(lab, weights):
    """What Python answers about these weights, once all is known."""
    lab.weights = weights
    lab.wait()
    answer(lab, scene_of(lab))
    return lab.result


def test_intra_is_the_weighted_mean_by_numpy_and_moves_with_the_weights(fresh):
    clients, generators = parties()
    lab = fresh(clients, generators)
    real = {n: (moments([rows], [1.0]), weighed([rows], [1.0])) for n, rows in clients.items()}
    for weights in (lab.weights, OTHER_WEIGHTS, (0, 1, 0)):
        result = told(lab, weights)
        shares, table = np.array(lab.weights), lab.table.set_index(["generator", "metric"])
        for k, (metric, distance) in enumerate({"fid": own_fid, "kid": own_kid}.items()):
            for name, made in generators.items():
                rows = [made[n] if isinstance(made, dict) else made for n in NAMES]
                made_for = [(moments([x], [1.0]), weighed([x], [1.0])) for x in rows]
                own = [distance(real[n][k], x[k]) for n, x in zip(NAMES, made_for, strict=True)]
                assert lab.board["values"][metric][name] == pytest.approx(own, rel=1e-8, abs=1e-10)
                assert result["avg"][metric][name] == pytest.approx(shares @ own, rel=1e-8, abs=1e-10)
                assert table["intra"][name, metric] == pytest.approx(shares @ own, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("weights", [None, OTHER_WEIGHTS])
def test_scores_are_those_of_evaluate(fresh, weights):
    clients, generators = parties()
    lab, scores = fresh(clients, generators), nm.evaluate(clients, generators, uncertainty=nm.Influence())
    if weights:
        lab.weights, scores = weights, scores.with_weights(weights)
    pd.testing.assert_frame_equal(lab.table, scores.table, rtol=1e-9)
    pd.testing.assert_frame_equal(lab.scores.clients, scores.clients, rtol=1e-9)


def test_shared_generators_have_the_numbers_they_had_before(lab):
    clients, generators = parties()
    with FederationView(clients, {"first": generators["shared"], "shared": generators["shared"]}) as alone:
        for metric in ("fid", "kid"):
            for part in ("values", "centres"):
                mine, before = lab.board[part][metric], alone.board[part][metric]
                assert mine["shared"] == before["shared"]
    assert lab.board["generators"] == {
        "honest": {"by_client": True, "unpooled": []},
        "swapped": {"by_client": True, "unpooled": []},
        "shared": {},
    }


class FederationView:
    """A Dashboard that is closed at the end of a block."""

    def __init__(self, *arguments):
        self.lab = nm.Dashboard(*arguments)

    def __enter__(self):
        self.lab.wait()
        return self.lab

    def __exit__(self, *_):
        self.lab.close()


def test_the_mean_over_clients_is_intra_wherever_it_is_named(lab):
    assert all("avg" not in sentence for sentence in lab.verdict)
    assert lab.verdict[0].startswith(
        "On FID, only honest is among the best by intra and by all: honest wins by intra; "
    )
    assert lab.certificate().winner == "honest"


@pytest.mark.parametrize("view", by_default(VIEWS, "places", "weights"))
def test_pictures_name_intra(lab, view):
    figure, words = VIEWS[view](study_of(lab).view_model(scene_of(lab)))
    drawn = " ".join([words, *(text.get_text() for ax in figure.axes for text in ax.texts)])
    assert "avg" not in drawn and ("intra" in drawn or view in ("heat map", "weights")), drawn


def test_kid_has_no_order_of_its_own_where_a_generator_is_by_client(lab):
    """Theorem 1 is about avg and all: by intra and all KID may disagree."""
    view = study_of(lab).metric_view("kid")
    assert (view.average_label, view.is_same) == ("intra", False)
    assert (view.of([2]).average_label, view.of([2]).is_same) == ("avg", True)
    assert "by all" in study_of(lab).verdict("kid", scene_of(lab)).sentences[0]


def test_a_disagreement_of_intra_and_all_is_said(fresh):
    """`fitted` is better for each client, and what it made does not add up to the pool; `mixed` is the other way."""
    rng = np.random.default_rng(2)
    clients = {n: rng.normal(0, 1, (400, 2)) for n in NAMES}
    fitted = {n: rng.normal(0.35, 1, (400, 2)) for n in NAMES}
    angles = 2 * np.pi * np.arange(3) / 3
    mixed = {n: rng.normal([np.cos(a), np.sin(a)], 0.7, (400, 2)) for n, a in zip(NAMES, angles, strict=True)}
    lab = fresh(clients, {"fitted": fitted, "mixed": mixed}, "fid")
    said_of_both = "On FID, intra and all disagree: fitted wins by intra, mixed by all"
    assert lab.verdict[0] == f"{said_of_both}. Chance and sample size do not explain this."
    assert told(lab, (1, 1, 1))["p"] > 0.05  # the clients do not differ: their test is not about intra


def test_draws_have_the_variances_of_influence_values(lab):
    """Beside `Spread`, which adds variances up; those of draws are (n−1)/(n−3) times as large, see noise.py."""
    study = study_of(lab)
    for metric in ("fid", "kid"):
        cells = nm.evaluate(*parties(), metric, uncertainty=nm.Influence()).result(metric)
        spread = cells.noise.source.spread(cells.weights)
        noise = whole_noise(cells, count=4000)
        shares = np.array(cells.weights)
        intra = noise.by_client @ shares
        np.testing.assert_allclose(noise.by_client.std(axis=0), spread.variance["own"].root, rtol=0.08)
        np.testing.assert_allclose(intra.std(axis=0), spread.variance["intra"].root, rtol=0.08)
        np.testing.assert_allclose(noise.all.std(axis=0), spread.variance["all"].root, rtol=0.08)
        apart = (intra[:, :, None] - intra[:, None, :]).std(axis=0)
        np.testing.assert_allclose(apart, spread.apart["intra"].root, rtol=0.08, atol=1e-12)
        np.testing.assert_allclose(noise.centres, spread.own, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(noise.all_centres, spread.all, rtol=1e-9, atol=1e-12)
        pieces, whole = study._filling.noise(metric), whole_noise(cells)
        np.testing.assert_allclose(pieces.by_client, whole.by_client, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(pieces.all, whole.all, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(pieces.generated, whole.generated, rtol=1e-9, atol=1e-12)


def test_parts_that_clients_share_are_drawn_once():
    """One array for all clients, given by client, has the noise of intra that it has as avg; equal copies of it vary
    by themselves, and so less on the mean."""
    rng = np.random.default_rng(3)
    clients = {n: rng.normal(0, 1, (400, 2)) for n in NAMES}
    rows, other = rng.normal(0.5, 1, (60, 2)), rng.normal(0.5, 1, (60, 2))
    one = {
        "alike": dict.fromkeys(NAMES, rows),
        "two": {"north": rows, "south": rows, "east": other},
        "copies": {n: rows.copy() for n in NAMES},
        "whole": rows,
    }
    cells = nm.evaluate(clients, one, "kid", uncertainty=nm.Influence()).result("kid")
    noise, spread = whole_noise(cells, count=4000), cells.noise.source.spread(cells.weights)
    intra = noise.by_client @ np.array(cells.weights)
    np.testing.assert_allclose(intra.std(axis=0), spread.variance["intra"].root, rtol=0.08)
    np.testing.assert_allclose(intra[:, 0].std(), intra[:, 3].std(), rtol=0.08)
    assert intra[:, 2].std() < 0.8 * intra[:, 3].std()


def test_what_more_rows_would_do_counts_the_rows_of_all_parts(lab):
    settle = told(lab, study_of(lab).weights)["settle"]["kid"]
    assert settle["pair"] == ["honest", "shared"]
    assert settle["sizes"] == [60, 80, 70, 245, 245]
    noise, pair = study_of(lab)._filling.noise("kid"), [0, 2]
    shares = np.array(lab.weights)
    total = ((noise.by_client[:, 0] - noise.by_client[:, 2]) @ shares).var()
    assert sum(settle["variances"]) == pytest.approx(total, rel=0.25)  # 256 draws: parts are not quite uncorrelated
    generated = (noise.generated[:, pair] @ shares).var(axis=0)
    assert settle["variances"][3:] == pytest.approx(generated, rel=0.01)


def test_a_cell_is_of_what_was_made_for_its_client(fresh):
    clients, generators = parties()
    lab = fresh(clients, generators)
    study, scene = study_of(lab), replace(scene_of(lab), client="south", generator="honest")
    *_, detail = study.details(scene)
    assert sum(value for _, value in detail["terms"]) == pytest.approx(lab.board["values"]["fid"]["honest"][1])
    assert detail["rows"]["of"] == [80, 75]
    x, y = clients["south"], generators["honest"]["south"]
    kernel = lambda a, b: (a @ b.T / 2 + 1) ** 3  # noqa: E731
    among = (kernel(y, y).sum(axis=1) - np.diag(kernel(y, y))) / (len(y) - 1)
    witness = among - kernel(y, x).mean(axis=1)
    assert detail["rows"]["generator"][0]["row"] == witness.argmax()
    result = study._filling.scores.result("fid")
    assert detail["parts"]["total"] == pytest.approx(result.all[0], rel=1e-9)
    moved = replace(scene, weights=OTHER_WEIGHTS)
    *_, detail = study.details(moved)
    expected = nm.evaluate(clients, generators, "fid").with_weights(OTHER_WEIGHTS).values("fid").all[0]
    assert detail["parts"]["total"] == pytest.approx(expected, rel=1e-9)


def test_exact_distributions_are_exact():
    clients = {"cats": nm.Gaussian([-2.0]), "dogs": nm.Gaussian([2.0])}
    right = {"cats": nm.Gaussian([-2.0]), "dogs": nm.Gaussian([2.0])}
    swapped = {"cats": nm.Gaussian([2.0]), "dogs": nm.Gaussian([-2.0])}
    with FederationView(clients, {"right": right, "swapped": swapped}) as lab:
        assert lab.verdict[1:3] == [
            "Ship right (no client has a better one).",
            "These scores are exact: nothing was sampled, so chance plays no part.",
        ]
        assert "right wins by intra; right and swapped are tied by all" in lab.verdict[0]
        fid = lab.table[lab.table["metric"] == "fid"]
        assert fid["intra"].tolist() == pytest.approx([0, 16]) and fid["all"].tolist() == pytest.approx([0, 0])


@needs_node
def test_a_metric_that_cannot_weight_rows_is_compared_by_intra_alone():
    clients, generators = parties()
    with FederationView(clients, {name: generators[name] for name in ("honest", "swapped")}, ["precision"]) as lab:
        assert not study_of(lab).metric_view("precision").is_pooled
        assert lab.verdict[0].startswith("On Precision, honest is first; this may be chance: ")
        assert lab.board["generators"]["honest"] == {"by_client": True, "unpooled": ["precision"]}
        said_here = study_of(lab).verdict("precision", scene_of(lab)).sentences[0]
        assert paged(lab) == {"average": "intra", "isOne": True, "verdict": said_here}


def paged(lab):
    scene, result = scene_of(lab), told(lab, lab.weights)
    given = {"scene": scene.to_json(), "traits": {"board": lab.board, "draws": lab.draws, "result": result}}
    line = """
      const { average, isOne, verdict } = numbersOf(given.scene, { get: (name) => given.traits[name] })
        .metrics[given.scene.metric];
      say({ average, isOne, verdict: verdict.sentences[0] });
    """
    return said("metric_view.js", "numbersOf", line, given)


@needs_node
@pytest.mark.parametrize("weights", [None, OTHER_WEIGHTS, (0, 0, 1)])
def test_the_page_says_what_python_says(lab, weights):
    result = told(lab, weights or study_of(lab).weights)
    scene = scene_of(lab).to_json()
    given = {"scene": scene, "traits": {"board": lab.board, "draws": lab.draws, "result": result}}
    line = """
      const { metrics } = numbersOf(given.scene, { get: (name) => given.traits[name] });
      say(Object.values(metrics).map(({ average, avg, all, facts, verdict }) =>
        ({ average, avg, all, same: facts.same, sentences: verdict.sentences })));
    """
    page = said("metric_view.js", "numbersOf", line, given)
    for metric, shown in zip(("fid", "kid"), page, strict=True):
        assert (shown["average"], shown["same"]) == ("intra", False)
        assert shown["avg"] == pytest.approx(list(result["avg"][metric].values()), rel=1e-9)
        assert shown["all"] == pytest.approx(list(result["all"][metric].values()), rel=1e-9)
        assert shown["sentences"] == result["verdict"][metric]


@needs_node
def test_under_weights_that_python_has_not_answered_kid_all_is_not_guessed(lab):
    """avg − all is one number for all generators, intra − all is not."""
    result = told(lab, study_of(lab).weights)
    scene = {**scene_of(lab).to_json(), "metric": "kid", "weights": list(OTHER_WEIGHTS)}
    given = {"traits": {"board": lab.board, "draws": lab.draws, "result": result}, "scene": scene}
    line = """
      const of = (generators) => numbersOf({ ...given.scene, generators }, { get: (name) => given.traits[name] });
      const about = (generators) => {
        const { average, all, avg } = of(generators).metrics.kid;
        return { average, all, avg };
      };
      say([about(["honest", "shared"]), about(["shared"])]);
    """
    mixed, alone = said("metric_view.js", "numbersOf", line, given)
    values = np.array([lab.board["values"]["kid"][name] for name in ("honest", "shared")])
    assert mixed["avg"] == pytest.approx(values @ OTHER_WEIGHTS, rel=1e-12)
    assert mixed["average"] == "intra" and all(map(math.isnan, mixed["all"]))
    cells = nm.evaluate(*parties(), "kid").with_weights(OTHER_WEIGHTS).result("kid")
    assert alone["average"] == "avg" and alone["all"] == pytest.approx(cells.all_without_bias[2:], rel=1e-9)


def test_a_generator_comes_and_goes_and_the_name_with_it(fresh):
    clients, generators = parties()
    lab = fresh(clients, {"shared": generators["shared"], "other": generators["shared"] + 1})
    assert lab.verdict[0] == "On FID, shared wins, by avg and by all."
    lab.attach("honest", generators["honest"])
    assert "honest wins by intra; shared and honest are tied by all" in lab.verdict[0]
    lab.remove("honest")
    assert lab.verdict[0] == "On FID, shared wins, by avg and by all."
    lab.undo()
    assert "honest wins by intra; shared and honest are tied by all" in lab.verdict[0]
    for wrong, words in (
        ({"north": clients["north"]}, "has no source for clients 'south', 'east'"),
        ({**generators["honest"], "west": clients["north"]}, "a source for unknown client 'west'"),
    ):
        with pytest.raises(nm.InvalidInput, match=words):
            lab.attach("wrong", wrong)
    assert scene_of(lab).generators == ("shared", "other", "honest")


def test_clients_are_left_out_and_nothing_else_is_done_to_them(fresh):
    clients, generators = parties()
    lab = fresh(clients, generators)
    before = lab.verdict
    with pytest.raises(nm.InvalidInput, match="changes clients, and 'honest' has one distribution for each client"):
        lab.regroup(merge={"both": ["north", "south"]})
    assert lab.verdict == before
    lab.regroup(drop="north")
    kept = {name: clients[name] for name in NAMES[1:]}
    own = {
        name: {n: made[n] for n in NAMES[1:]} if isinstance(made, dict) else made for name, made in generators.items()
    }
    scores = nm.evaluate(kept, own, uncertainty=nm.Influence())
    pd.testing.assert_frame_equal(lab.table, scores.table, rtol=1e-9)
    other = lab.what_if(drop="east")
    assert other.table["intra"].tolist() == pytest.approx(other.table["all"].tolist())  # of one client
    other.close()
    lab.undo()
    assert lab.verdict == before


def test_a_function_of_the_client_is_drawn_as_evaluate_draws_it(fresh):
    clients, _ = parties()
    centres = dict(zip(NAMES, [[0, 0], [3, 0], [0, 4]], strict=True))
    model = nm.Generator.by_client(lambda client, n, rng: rng.normal(centres[client], 1, (n, 2)), name="model")
    lab = fresh(clients, [model], "fid")
    pd.testing.assert_frame_equal(lab.table, nm.evaluate(clients, [model], "fid", uncertainty=nm.Influence()).table)


def test_a_store_keeps_what_was_scored(tmp_path):
    clients, generators = parties()
    for is_first in (True, False):
        store = Store(tmp_path)
        study = FederationComparison(clients, generators, ("fid", "kid"), None, store)
        while (step := study.next_step()) is not None:
            step()
        assert (store.counts["computed"] > 0) == is_first
        store.close()
    expected = nm.evaluate(clients, generators, "fid", store=tmp_path)
    np.testing.assert_allclose(study.metric_view("fid").values, expected.result("fid").own, rtol=1e-12)


def test_a_mixture_is_not_sought(lab):
    mixture_of(lab).now(scene_of(lab))
    assert "generator 'honest': answers conditions, or has one distribution for each client" in lab.mixture["error"]


def pixels(strip):
    data = base64.b64decode(strip["picture"].split(",")[1])
    return np.asarray(Image.open(io.BytesIO(data)).convert("L"))


def test_pictures_are_those_of_the_client(fresh):
    """Images of which every pixel says the place: those of north from 0, of south from 100; generated, 5 brighter."""
    numbered = lambda first: np.repeat(np.arange(first, first + 40, dtype=np.uint8), 16).reshape(40, 4, 4)  # noqa: E731
    federation = nm.Federation({"north": numbered(0), "south": numbered(100)}, extractor="pixels")
    lab = fresh(federation, {"own": {"north": numbered(5), "south": numbered(105)}, "whole": numbered(60)}, "fid")
    clients, own = pixels(lab.clients_strip), pixels(lab.strips["generators"]["own"])
    tiles = slice(None, None, 5)
    np.testing.assert_array_equal(own[0, tiles], clients[0, tiles] + 5)  # at the same places, client by client
    *_, detail = study_of(lab).details(replace(scene_of(lab), client="south", generator="own"))
    first = detail["rows"]["generator"][0]
    assert pixels(first)[0, 0] == 105 + first["row"]


def test_intervals_of_shared_generators_stand_beside_those_without(fresh):
    lab = fresh(*parties(), "kid", uncertainty=nm.Jackknife())
    assert "No interval for honest and swapped: not compared." in " ".join(lab.verdict) or "chance" in lab.verdict[0]
    draws = study_of(lab).metric_view("kid").draws
    assert np.isnan(draws[:, :2]).all() and np.isfinite(draws[:, 2]).all()
