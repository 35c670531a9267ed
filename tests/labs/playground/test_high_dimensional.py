"""The Playground of rows wider than the plane: scores by evaluate of all features, a plane by scikit-learn."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.metrics.fid.metric import FID
from nbmetrics.summaries.moments import Moments
from tests import ROOT
from tests.labs.inside import picture_of, scene_of, send, words_of
from tests.labs.playground.high_dimensional_rows import (
    MODELS,
    RNG,
    SITES,
    D,
    assert_result_is,
    drawn,
    lab_of,
    table,
    wanted,
)
from tests.node import needs_node, ran
from tests.slow import slow
from tests.waiting import until


def edit(lab, **changes):
    """As the page does it."""
    lab.set_state({"scene": {**lab.scene, **changes, "rev": lab.scene["rev"] + 1}})
    until(lambda: lab.result["rev"] == lab.scene["rev"])
    assert "error" not in lab.result, lab.result["error"]["message"]


@pytest.mark.parametrize("metric", ["fid", *slow("kid_rbf", "precision"), "coverage"])
def test_the_table_is_that_of_evaluate_on_all_features(metric):
    generators = {**MODELS, "drawn": drawn, "distribution": nm.Gaussian(np.full(D, 0.2), np.linspace(0.5, 2, D))}
    lab = lab_of(generators=generators, metric=metric)
    also = {"fid": [], "kid_rbf": [nm.metrics.KID(nm.RBF(), name="kid_rbf")]}.get(metric, [metric])
    assert_result_is(lab, wanted(SITES, generators, ["fid", "kid", *also]))
    cautions = lab.result["cautions"]
    assert any("fewer than 90 rows" in line for line in cautions) and "if all clients were alike" in cautions[-1]


def test_frames_and_tensors_are_rows():
    torch = pytest.importorskip("torch")
    frames = {name: pd.DataFrame(rows, columns=[f"c{k}" for k in range(D)]) for name, rows in SITES.items()}
    tensors = {name: torch.tensor(rows) for name, rows in MODELS.items()}
    assert_result_is(lab_of(frames, tensors), wanted(SITES, MODELS))


def test_the_default_generator_is_the_pooled_gaussian():
    lab = nm.Playground(nm.Federation(SITES))
    assert lab.result["scores"]["fid"]["all"] == [pytest.approx(0, abs=1e-9)]
    assert lab.result["scores"]["fid"]["avg"][0] > 1


@pytest.fixture
def counted(monkeypatch):
    """How often moments were made of rows, and FID was computed of a client and a generator."""
    counts = {"summaries": 0, "scores": 0}
    summarize, spectrum = FID.summarize, FID._spectrum

    def count(what, call):
        def counting(self, *given):
            counts[what] += 1
            return call(self, *given)

        return counting

    monkeypatch.setattr(FID, "summarize", count("summaries", summarize))
    monkeypatch.setattr(FID, "_spectrum", count("scores", spectrum))
    return counts


def test_other_weights_summarise_nothing_again(counted):
    lab = lab_of()
    first = dict(counted)
    weights = [1.0, 5.0, 0.0]
    edit(lab, clients=[{**c, "weight": w} for c, w in zip(lab.scene["clients"], weights, strict=True)])
    assert counted["summaries"] == first["summaries"]
    assert counted["scores"] - first["scores"] <= 2 * len(MODELS)  # of the pooled rows, and of their size gap
    assert_result_is(lab, wanted(SITES, MODELS, weights=weights))


def test_what_is_removed_renamed_or_added_leaves_the_rest_as_it_is(counted):
    lab = lab_of()
    clients, before = lab.scene["clients"], counted["summaries"]
    edit(lab, clients=[{**clients[0], "data": "north", "name": "Nord"}, clients[2]])
    assert counted["summaries"] == before
    rest = {"Nord": SITES["north"], "east": SITES["east"]}
    assert_result_is(lab, wanted(rest, MODELS))
    rows, before = RNG.normal(size=(30, D)), counted["summaries"]
    lab.attach("mine", rows)
    until(lambda: lab.result["rev"] == lab.scene["rev"])
    assert counted["summaries"] - before == 2  # of its features, and of what is drawn
    assert_result_is(lab, wanted(rest, {**MODELS, "mine": rows}))


def test_a_client_is_attached_exchanged_and_undone():
    lab = lab_of()
    west = RNG.normal(3, 1, (20, D))
    lab.attach_client("west", west)
    assert_fresh(lab, wanted({**SITES, "west": west}, MODELS))
    assert [c["name"] for c in lab.scene["clients"]] == ["north", "south", "east", "west"]
    lab.attach_client("west", west + 1)
    assert_fresh(lab, wanted({**SITES, "west": west + 1}, MODELS))
    lab.undo()
    assert_fresh(lab, wanted({**SITES, "west": west}, MODELS))
    lab.attach("drawn", drawn)
    assert_fresh(lab, wanted({**SITES, "west": west}, {**MODELS, "drawn": drawn}))


def assert_fresh(lab, scores):
    until(lambda: lab.result["rev"] == lab.scene["rev"])
    assert_result_is(lab, scores)


def test_clients_are_attached_in_the_plane_too():
    lab = nm.Playground("Two clients")
    lab.attach_client("distribution", nm.Gaussian([0, 2], [1, 4]))
    rows = RNG.normal(size=(40, 2))
    lab.attach_client("rows", rows)
    federation = nm.Scene.preset_named("Two clients").federation
    clients = [*federation, nm.Client(nm.Gaussian([0, 2], [1, 4]), name="distribution", weight=1.0)]
    clients += [nm.Client(rows, name="rows", weight=1.0)]
    clients[:2] = [nm.Client(c.distribution, name=c.name, weight=1.0) for c in federation]
    expected = nm.evaluate(nm.Federation(clients), scene_of(lab).sources)
    np.testing.assert_allclose(table(lab.scores()), table(expected), rtol=1e-9)
    assert "kind" not in lab.scene["clients"][2] and lab.scene["clients"][3]["kind"] == "data"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda lab: lab.attach_client("near", SITES["north"]), "'near' is a generator"),
        (lambda lab: lab.attach("north", SITES["north"]), "'north' is a client"),
        (lambda lab: lab.attach("flat", nm.Gaussian([0, 0])), "flat: has 2 dimensions where 9"),
        (lambda lab: lab.attach("flat", np.zeros((5, 3))), "3 features where 9"),
        (lambda lab: lab.attach_client("one", np.zeros((1, D))), "one: has 1 row"),
        (lambda lab: lab.attach_client("hole", np.full((5, D), np.nan)), "hole.*NaN"),
        (lambda lab: lab.attach("text", pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})), "not numbers.*'a'"),
    ],
)
def test_a_refused_attachment_says_why_and_leaves_nothing(call, says):
    lab = lab_of()
    scene, held = dict(lab.scene), dict(lab.data)
    with pytest.raises(nm.InvalidInput, match=says):
        call(lab)
    assert lab.scene == scene and lab.data == held


def test_a_score_that_is_refused_is_no_number_and_has_its_reason():
    federation = nm.Federation(SITES).with_weights([5, 1, 1])
    lab = nm.Playground(federation, MODELS, metric="precision")
    found = lab.result["scores"]["precision"]
    assert found["all"] == [None, None] and np.isfinite(found["avg"]).all()
    assert any("Precision all has no value" in line and "weigh" in line for line in lab.result["cautions"])
    json.dumps(lab.result, allow_nan=False)
    assert picture_of(lab) is not None and "Precision" in words_of(lab)


def test_a_scene_of_wide_rows_takes_no_distribution_of_the_plane():
    lab = lab_of()
    place = {"x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0, "angle": 0.0}
    scene = {**lab.scene, "rev": 5, "generators": [{"name": "flat", **place}]}
    lab.set_state({"scene": scene})
    assert "flat: is a distribution of the plane, and this scene has 9 features" in lab.result["error"]["message"]
    lab.set_state({"scene": {**lab.scene, "rev": 6, "plane": {**lab.scene["plane"], "words": "100 % of it"}}})
    assert "plane: is another one" in lab.result["error"]["message"] and len(lab.scene["generators"]) == 2


def test_a_scene_that_lost_its_plane_does_not_score_wide_rows_as_flat_ones():
    lab = lab_of()
    flat = {key: value for key, value in lab.scene.items() if key != "plane"}
    lab.set_state({"scene": {**flat, "rev": 7}})
    until(lambda: lab.result["rev"] == 7)
    assert "has 9 features in a scene of 2" in lab.result["error"]["message"]


def test_presets_of_the_plane_open_beside_wide_rows_and_undo_returns():
    lab = lab_of()
    start = table(lab.scores())
    lab.from_share(nm.Playground("Two clients").share())
    assert "plane" not in lab.scene
    np.testing.assert_allclose(table(lab.scores()), table(nm.Playground("Two clients").scores()), rtol=1e-12)
    lab.attach("flat", nm.Gaussian([0, 0]))
    lab.undo()
    lab.undo()
    np.testing.assert_allclose(table(lab.scores()), start, rtol=1e-12)


def test_a_share_string_opens_in_the_lab_that_holds_the_rows_alone():
    lab = lab_of()
    text = lab.share()
    edit(lab, clients=[{**c, "weight": w} for c, w in zip(lab.scene["clients"], [1, 2, 3], strict=True)])
    lab.from_share(text)
    assert [c["weight"] for c in lab.scene["clients"]] == [70, 50, 40]
    for other in (nm.Playground.from_share, nm.Playground().from_share):
        with pytest.raises(nm.InvalidInput, match=r"Open nm\.Playground"):
            other(text)


@needs_node
@pytest.mark.parametrize("settings", [*slow({}, {"plane": "lda"}, {"plane": (3, 4)}), {"plane": ('c"3', "c4")}])
def test_code_of_python_and_of_the_page_rebuild_the_lab(settings):
    columns = ['c"3' if k == 3 else f"c{k}" for k in range(D)]
    frames = {name: pd.DataFrame(rows, columns=columns) for name, rows in SITES.items()}
    lab = lab_of(frames, **settings, metric="precision")
    source, scene = json.dumps((ROOT / "nbmetrics/labs/playground/view/scene.js").as_uri()), json.dumps(lab.scene)
    page = ran(f"import {{playgroundCode}} from {source}; process.stdout.write(playgroundCode({scene}))")
    assert page == lab.to_code()
    assert f"(n, {D})" in page
    head, body = page.split("\nfederation", 1)
    made: dict = {"data": {**frames, **MODELS}}
    exec("import nbmetrics as nm\nfederation" + body, made)
    assert "data = {" in head
    assert made["lab"].scene["plane"] == lab.scene["plane"]
    np.testing.assert_allclose(table(made["scores"]), table(lab.scores()), rtol=1e-9)


@pytest.mark.threads
def test_much_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("nbmetrics.labs.playground.lab.is_quick", lambda scene: False)
    gate = []
    of_rows = Moments.of_rows

    def slow(rows):
        until(lambda: gate)
        return of_rows(rows)

    lab_of()  # the plane itself is drawn at once
    monkeypatch.setattr(Moments, "of_rows", slow)
    monkeypatch.setattr("nbmetrics.labs.playground.projection.summary", lambda points: SUMMARY)
    lab = lab_of()
    assert "scores" not in lab.result and "Python computes the scores" in words_of(lab)
    assert picture_of(lab) is not None
    gate.append(True)
    until(lambda: "scores" in lab.result)
    assert_result_is(lab, wanted(SITES, MODELS))


SUMMARY = {
    "count": 9,
    "mean": [0.0, 0.0],
    "cov": [1.0, 0.0, 1.0],
    "phi": [0.0] * 10,
    "diagonal": 1.0,
    "points": [[0, 0]],
}


def test_an_exported_page_waits_for_the_numbers(monkeypatch, tmp_path):
    monkeypatch.setattr("nbmetrics.labs.playground.lab.is_quick", lambda scene: False)
    lab = lab_of()
    text = lab.export_html(tmp_path / "wide.html").read_text("utf-8")
    state = json.loads(text.split('<script type="application/json">')[1].split("</script>")[0])
    np.testing.assert_allclose(state["result"]["scores"]["fid"]["avg"], table(wanted(SITES, MODELS))[:2, 0], rtol=1e-9)
    assert "nothing can be moved here" in state["saved"] and "all 9 features" in state["saved"]


def test_the_picker_lists_what_fits_and_why_the_rest_does_not(monkeypatch):
    from nbmetrics.labs.toolkit import namespace

    torch = pytest.importorskip("torch")
    hole = SITES["north"].copy()
    hole[3, 3] = np.nan
    found = {
        "frame": pd.DataFrame(SITES["north"]),
        "tensor": torch.tensor(MODELS["near"]),
        "distribution": nm.Gaussian(np.zeros(D)),
        "drawn": drawn,
        "flat": np.zeros((5, 2)),
        "image": np.zeros((2, 3, 4)),
        "hole": hole,
        "text": pd.DataFrame({f"c{k}": (["x", "y"] if k == 2 else [1, 2]) for k in range(D)}),
        "federation": nm.Federation(SITES),
        "row": np.zeros((1, D)),
    }
    monkeypatch.setattr(namespace, "suitable", lambda: found)
    said = {entry["name"]: entry["why"] for entry in namespace.list_variables(D)}
    assert [name for name, why in said.items() if not why] == ["frame", "tensor", "distribution", "drawn"]
    reasons = {"flat": "2 features, not 9", "image": "(2, 3, 4)", "hole": "NaN", "text": "c2", "row": "1 row"}
    assert all(part in said[name] for name, part in reasons.items()) and said["federation"].startswith("a federation")
    flat = {entry["name"] for entry in namespace.list_variables(2) if not entry["why"]}
    assert flat == {"flat", "drawn"}


class Lazy:
    """As a lazy frame: it has columns, and nobody may ask how many rows."""

    columns = ("x", "y")
    to_numpy = None
    shape = (SimpleNamespace(), 2)


class Closed:
    """As a stale connection: it raises whatever it is asked for."""

    def __getattr__(self, name):
        raise RuntimeError(f"no {name}")


def test_one_odd_variable_does_not_hide_the_others(monkeypatch, opened):
    variables = {3: Closed(), "closed": Closed(), "lazy": Lazy(), "rows": np.arange(18.0).reshape(9, 2)}
    lab = opened(nm.Playground)
    shell = SimpleNamespace(user_ns=variables, events=SimpleNamespace(trigger=print))
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    send(lab, {"kind": "names"})
    assert "error" not in lab.result
    assert lab.namespace == [
        {"name": "lazy", "why": "it cannot be looked at (TypeError)"},
        {"name": "rows", "why": ""},
    ]
    send(lab, {"kind": "attach", "name": "lazy"})
    assert "it cannot be looked at (TypeError)" in lab.result["error"]["message"]
    send(lab, {"kind": "attach", "name": "rows"})
    assert lab.scene["generators"][-1]["name"] == "rows"


def test_a_scene_of_data_that_the_lab_lacks_never_takes_the_place_of_the_present_one(monkeypatch, opened):
    lab = opened(lambda: lab_of())
    monkeypatch.setattr(lab, "send", lambda answer: None)
    before = lab.scene
    flat = {key: part for key, part in before.items() if key != "plane"}
    gone = {**before, "clients": [{**before["clients"][0], "data": "gone"}, *before["clients"][1:]]}
    for wrong in ({**flat, "rev": 1}, {**gone, "rev": 1}):
        for kind in ("ask", "page", "picture"):
            send(lab, {"kind": kind, "ticket": "t", "scene": wrong})
        lab.set_state({"scene": wrong})
        assert lab.scene == before and "error" in lab.result
