"""The Playground of rows wider than the plane: scores by evaluate of all features, a plane by scikit-learn."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import nbmetrics as nm
from nbmetrics.metrics.fid.metric import FID
from nbmetrics.summaries.moments import Moments
from tests.labs.inside import picture_of, scene_of, words_of
from tests.node import NODE, needs_node
from tests.waiting import until

D = 9
RNG = np.random.default_rng(5)
SITES = {"north": RNG.normal(0, 1, (70, D)), "south": RNG.normal(1, 2, (50, D)), "east": RNG.normal(-1, 1, (40, D))}
MODELS = {"near": RNG.normal(0, 1.5, (90, D)), "far": RNG.normal(2, 1, (60, D))}


def drawn(n, rng):
    return rng.normal(0.5, 1, (n, D))


def lab_of(clients=None, generators=None, **settings):
    return nm.Playground(nm.Federation(clients or SITES), generators or MODELS, **settings)


def table(scores):
    return scores.table[["avg", "all"]].to_numpy()


def wanted(clients, generators, metrics=("fid", "kid"), weights=None):
    federation = nm.Federation(clients)
    return nm.evaluate(federation if weights is None else federation.with_weights(weights), generators, metrics)


def assert_result_is(lab, scores):
    """The lab's own numbers, those of its page, and the lines under them."""
    np.testing.assert_allclose(table(lab.scores()), table(scores), rtol=1e-9)
    for metric in scores.metrics:
        avg, pooled, by_client = scores.values(metric)
        found = lab.result["scores"][metric]
        np.testing.assert_allclose(found["avg"], avg, rtol=1e-9)
        np.testing.assert_allclose(found["all"], pooled, rtol=1e-9)
        np.testing.assert_allclose(found["byClient"], by_client, rtol=1e-9)
    assert lab.result["cautions"] == scores.cautions
    json.dumps(lab.result, allow_nan=False)


def edit(lab, **changes):
    """As the page does it."""
    lab.set_state({"scene": {**lab.scene, **changes, "rev": lab.scene["rev"] + 1}})
    until(lambda: lab.result["rev"] == lab.scene["rev"])
    assert "error" not in lab.result, lab.result["error"]["message"]


@pytest.mark.parametrize("metric", ["fid", "kid_rbf", "precision", "coverage"])
def test_the_table_is_that_of_evaluate_on_all_features(metric):
    generators = {**MODELS, "drawn": drawn, "law": nm.Gaussian(np.full(D, 0.2), np.linspace(0.5, 2, D))}
    lab = lab_of(generators=generators, metric=metric)
    also = {"fid": [], "kid_rbf": [nm.metrics.KID(nm.RBF(), name="kid_rbf")]}.get(metric, [metric])
    assert_result_is(lab, wanted(SITES, generators, ["fid", "kid", *also]))
    assert (
        "fewer than 90 rows" in lab.result["cautions"][0] and "if all clients were alike" in lab.result["cautions"][-1]
    )


def test_frames_and_tensors_are_rows():
    torch = pytest.importorskip("torch")
    frames = {name: pd.DataFrame(rows, columns=[f"c{k}" for k in range(D)]) for name, rows in SITES.items()}
    tensors = {name: torch.tensor(rows) for name, rows in MODELS.items()}
    assert_result_is(lab_of(frames, tensors), wanted(SITES, MODELS))


def test_the_default_generator_is_the_pooled_gaussian():
    lab = nm.Playground(nm.Federation(SITES))
    assert lab.result["scores"]["fid"]["all"] == [pytest.approx(0, abs=1e-9)]
    assert lab.result["scores"]["fid"]["avg"][0] > 1


def pooled_rows():
    return np.concatenate(list(SITES.values())), np.repeat([0, 1, 2], [len(rows) for rows in SITES.values()])


def shown_points(lab, name):
    return np.array(lab.data[name]["points"])


def assert_same_up_to_sign(found, expected):
    for axis in (0, 1):
        same = min(np.abs(found[:, axis] - sign * expected[:, axis]).max() for sign in (1, -1))
        assert same <= 1e-9 * np.abs(expected).max()


def test_the_plane_is_scikit_learns_pca():
    lab = lab_of()
    rows, _ = pooled_rows()
    model = PCA(D, svd_solver="full").fit(rows)
    for name, given in {**SITES, **MODELS}.items():
        assert_same_up_to_sign(shown_points(lab, name), model.transform(given)[:, :2])
    share = 100 * model.explained_variance_ratio_[:2].sum()
    assert f": {share:.0f} % of the variance" in lab.scene["plane"]["words"]


def test_the_plane_is_scikit_learns_lda():
    lab = lab_of(plane="lda")
    model = LinearDiscriminantAnalysis().fit(*pooled_rows())
    for name, given in {**SITES, **MODELS}.items():
        assert_same_up_to_sign(shown_points(lab, name), model.transform(given))
    assert "(LDA)" in lab.scene["plane"]["words"] and "alike" not in lab.scene["plane"]["words"]


def test_beside_a_single_discriminant_stands_the_rest():
    two = {name: SITES[name] for name in ("north", "south")}
    lab = lab_of(two, plane="lda")
    rows = np.concatenate(list(two.values()))
    across = LinearDiscriminantAnalysis().fit(rows, np.repeat([0, 1], [70, 50]))
    found = np.concatenate([shown_points(lab, name) for name in two])
    np.testing.assert_allclose(np.abs(np.corrcoef(found[:, 0], across.transform(rows)[:, 0])[0, 1]), 1, rtol=1e-9)
    assert found[:, 1].std() > 0 and "principal component of the rest" in lab.scene["plane"]["words"]


def test_lda_of_few_rows_pulls_apart_clients_that_are_alike_and_says_so():
    rng = np.random.default_rng(0)
    alike = {name: rng.normal(size=(20, 30)) for name in "ab"}
    lab = lab_of(alike, {name: rng.normal(size=(20, 30)) for name in ("g", "h")}, plane="lda")

    def apart(one, other):
        first, second = (shown_points(lab, name)[:, 0] for name in (one, other))
        return abs(first.mean() - second.mean()) / np.hypot(first.std(), second.std())

    assert apart("a", "b") > 2 > 1 > apart("g", "h")
    assert "pulls apart even clients that are alike" in lab.scene["plane"]["words"]


@pytest.mark.parametrize("plane", [(2, 7), ("c2", "c7")])
def test_two_columns_are_shown_in_standard_deviations(plane):
    frames = {name: pd.DataFrame(rows, columns=[f"c{k}" for k in range(D)]) for name, rows in SITES.items()}
    lab = lab_of(frames, plane=plane)
    rows, _ = pooled_rows()
    for name, given in {**SITES, **MODELS}.items():
        scaled = (given - rows.mean(axis=0)) / rows.std(axis=0)
        np.testing.assert_allclose(shown_points(lab, name), scaled[:, [2, 7]], rtol=1e-9, atol=1e-12)
    assert all(word in lab.scene["plane"]["words"] for word in ("2", "7"))


def test_names_of_columns_survive_a_partition():
    frame = pd.DataFrame(pooled_rows()[0], columns=[f"c{k}" for k in range(D)])
    federation = nm.Federation.from_labels(frame, pooled_rows()[1])
    assert nm.Playground(federation, MODELS, plane=("c0", "c1")).scene["plane"]["columns"] == ["c0", "c1"]


def test_what_is_drawn_has_the_moments_of_the_features():
    law = nm.Gaussian(np.arange(D) / 4, np.linspace(0.5, 2, D))
    lab = lab_of(SITES, {**MODELS, "law": law})
    axes = PCA(2, svd_solver="full").fit(pooled_rows()[0])
    for name, (mean, cov) in {
        "north": (SITES["north"].mean(axis=0), np.cov(SITES["north"].T)),
        "law": (law.mean, law.cov),
    }.items():
        found, (a, b, c) = lab.data[name]["mean"], lab.data[name]["cov"]
        np.testing.assert_allclose(np.abs(found), np.abs(axes.transform([mean])[0]), rtol=1e-9)
        inside = axes.components_ @ cov @ axes.components_.T
        np.testing.assert_allclose([a, abs(b), c], [inside[0, 0], abs(inside[0, 1]), inside[1, 1]], rtol=1e-9)


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
    lab.attach_client("law", nm.Gaussian([0, 2], [1, 4]))
    rows = RNG.normal(size=(40, 2))
    lab.attach_client("rows", rows)
    federation = nm.Scene.preset_named("Two clients").federation
    clients = [*federation, nm.Client(nm.Gaussian([0, 2], [1, 4]), name="law", weight=1.0)]
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


@pytest.mark.parametrize(
    ("clients", "generators", "settings", "says"),
    [
        ({"a": np.zeros((5, 3)), "b": np.zeros((5, 4))}, None, {}, "'b' has 4 features, 'a' has 3"),
        (SITES, {"g": np.zeros((5, 4))}, {}, "g: has 4 features where 9"),
        (SITES, {"g": nm.Gaussian([0, 0])}, {}, "g: has 2 dimensions where 9"),
        ({"a": np.full((5, 3), np.nan)}, None, {}, "NaN"),
        ({"a": pd.DataFrame({"x": [1.0, 2.0], "city": ["Rome", "Oslo"]})}, None, {}, "not numbers.*city"),
        ({f"c{k}": np.eye(4) + k for k in range(50)}, None, {}, "clients: are 50. Show 24 at most"),
        (SITES, {f"g{k}": MODELS["near"] for k in range(13)}, {}, "generators: are 13. Show 12"),
        (SITES, MODELS, {"metric": "cfid"}, "metric: is 'cfid': it reads the two axes"),
        (SITES, MODELS, {"metric": "fld"}, "held-out rows"),
        (SITES, MODELS, {"samples": 40}, "samples: is for the plane"),
        (SITES, MODELS, {"plane": "lfa"}, "Did you mean 'lda'"),
        (SITES, MODELS, {"plane": (0, 9)}, "Give numbers from 0 to 8"),
        (SITES, MODELS, {"plane": (-1, 2)}, "Give numbers from 0 to 8"),
        (SITES, MODELS, {"plane": (3, 3)}, "not the same"),
        (SITES, MODELS, {"plane": ("a", "b")}, "no data frames"),
        (SITES, MODELS, {"plane": (0, "b")}, "two columns"),
        (SITES, MODELS, {"plane": 7}, "plane: got 7"),
        ({"a": SITES["north"]}, MODELS, {"plane": "lda"}, "one client"),
        ({"a": np.ones((5, 3)), "b": np.ones((5, 3))}, None, {"plane": "lda"}, "one mean or no variance"),
        ({"a": np.eye(2), "b": np.eye(2)}, None, {"plane": "pca"}, "a plane themselves"),
        ([nm.Client(SITES["north"], condition=SITES["north"])], MODELS, {}, "carry a condition"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_the_reason(clients, generators, settings, says):
    with pytest.raises(nm.InvalidInput, match=says):
        nm.Playground(nm.Federation(clients), generators, **settings)


def constant(rows):
    return {"a": np.c_[rows, np.ones(len(rows))], "b": np.c_[rows + 1, np.ones(len(rows))]}


@pytest.mark.parametrize(
    "clients",
    [
        constant(RNG.normal(size=(30, 5))),
        {"a": np.ones((6, 4)), "b": np.ones((5, 4))},
        {"one": RNG.normal(size=(40, 6))},
        {"few": RNG.normal(size=(4, 40)), "more": RNG.normal(size=(6, 40))},
        {"a": RNG.normal(size=(9, 1)), "b": RNG.normal(2, 1, size=(8, 1))},
        {"huge": RNG.normal(size=(9, 3)) * 1e9, "b": RNG.normal(size=(8, 3)) * 1e9},
        {"tiny": RNG.normal(size=(9, 3)) * 1e-9, "b": RNG.normal(size=(8, 3)) * 1e-9},
        {"offset": 1e7 + RNG.normal(size=(9, 3)), "b": 1e7 + RNG.normal(size=(8, 3))},
        {f"c{k}": RNG.normal(size=(5, 3)) for k in range(24)},
        {"law": nm.Gaussian(np.zeros(5)), "rows": nm.Client(RNG.normal(size=(20, 5)), weight=2.0)},
    ],
    ids=["constant feature", "constant", "one", "n < d", "d = 1", "huge", "tiny", "offset", "24", "law"],
)
def test_hostile_rows_are_shown_and_scored(clients):
    parts = [c if isinstance(c, nm.Client) else nm.Client(c, weight=1.0) for c in clients.values()]
    federation = nm.Federation({name: p for name, p in zip(clients, parts, strict=True)})
    rows = federation.clients[-1].rows
    lab = nm.Playground(federation, {"g": rows[::-1] * 1.1})
    assert_result_is(lab, nm.evaluate(federation, {"g": rows[::-1] * 1.1}))
    assert 0.001 <= lab.scene["half"] <= 1e6
    assert picture_of(lab) is not None and lab.scene["plane"]["words"] in words_of(lab)


def test_a_scene_of_wide_rows_takes_no_law_of_the_plane():
    lab = lab_of()
    place = {"x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0, "angle": 0.0}
    scene = {**lab.scene, "rev": 5, "generators": [{"name": "flat", **place}]}
    lab.set_state({"scene": scene})
    assert "flat: is a law of the plane, and this scene has 9 features" in lab.result["error"]["message"]
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
@pytest.mark.parametrize("settings", [{}, {"plane": "lda"}, {"plane": (3, 4)}, {"plane": ('c"3', "c4")}])
def test_code_of_python_and_of_the_page_rebuild_the_lab(settings):
    columns = ['c"3' if k == 3 else f"c{k}" for k in range(D)]
    frames = {name: pd.DataFrame(rows, columns=columns) for name, rows in SITES.items()}
    lab = lab_of(frames, **settings, metric="precision")
    edits = Path(nm.__file__).parent / "labs/plane/view/edits.js"
    script = (
        f"import {{codeOf}} from {json.dumps(edits.as_uri())}; process.stdout.write(codeOf({json.dumps(lab.scene)}))"
    )
    command = [NODE, "--input-type=module", "-e", script]
    page = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for code in (lab.to_code(), page):
        assert f"(n, {D})" in code
        head, body = code.split("\nfederation", 1)
        made: dict = {"data": {**frames, **MODELS}}
        exec("import nbmetrics as nm\nfederation" + body, made)
        assert "data = {" in head
        assert made["lab"].scene["plane"] == lab.scene["plane"]
        np.testing.assert_allclose(table(made["scores"]), table(lab.scores()), rtol=1e-9)


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
    assert "nothing moves here" in state["saved"] and "all 9 features" in state["saved"]


def test_the_picker_lists_what_fits_and_why_the_rest_does_not(monkeypatch):
    from nbmetrics.labs.playground import namespace

    torch = pytest.importorskip("torch")
    hole = SITES["north"].copy()
    hole[3, 3] = np.nan
    found = {
        "frame": pd.DataFrame(SITES["north"]),
        "tensor": torch.tensor(MODELS["near"]),
        "law": nm.Gaussian(np.zeros(D)),
        "drawn": drawn,
        "flat": np.zeros((5, 2)),
        "image": np.zeros((2, 3, 4)),
        "hole": hole,
        "text": pd.DataFrame({f"c{k}": (["x", "y"] if k == 2 else [1, 2]) for k in range(D)}),
        "federation": nm.Federation(SITES),
        "row": np.zeros((1, D)),
    }
    monkeypatch.setattr(namespace, "suitable", lambda: found)
    said = {entry["name"]: entry["why"] for entry in namespace.listed(D)}
    assert [name for name, why in said.items() if not why] == ["frame", "tensor", "law", "drawn"]
    reasons = {"flat": "2 features, not 9", "image": "(2, 3, 4)", "hole": "NaN", "text": "c2", "row": "1 row"}
    assert all(part in said[name] for name, part in reasons.items()) and "nm.Playground" in said["federation"]
    flat = {entry["name"] for entry in namespace.listed(2) if not entry["why"]}
    assert flat == {"flat", "drawn"}
