"""TwinsLab without a browser: its scenes, Python's numbers, its code, and the page's closed forms held to Python's."""

import itertools
import json
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import theory
from nbmetrics.figures.drawing import Drawing
from nbmetrics.labs.toolkit import modules
from nbmetrics.labs.twins.scene import PRESETS, TwinsScene
from nbmetrics.scene import History
from tests import EVIL, TESTS
from tests.labs.inside import picture_of, words_of
from tests.node import needs_node, node, ran

LABS = Path(nm.__file__).parent / "labs"
QUOTED = f'{EVIL} "\\ é'


@pytest.fixture
def twins_lab(opened):
    return partial(opened, nm.TwinsLab)


def client(x=0.0, y=0.0, width=1.0, height=1.0, angle=0.0, weight=1.0, name="A"):
    return {"name": name, "x": x, "y": y, "width": width, "height": height, "angle": angle, "weight": weight}


def answered(lab, seconds=60):
    """The result for the present scene, once no search is under way."""
    deadline = time.monotonic() + seconds
    while lab.result["rev"] != lab.scene["rev"] or lab.result.get("trying"):
        assert time.monotonic() < deadline, lab.result
        time.sleep(0.02)
    return lab.result


def assert_same_state(scene, wanted):
    for field in ("half", "shared", "construction"):
        assert scene[field] == wanted[field]
    for item, like in zip(scene["clients"], wanted["clients"], strict=True):
        assert item["name"] == like["name"]
        assert {**item, "name": 0} == pytest.approx({**like, "name": 0}, rel=1e-12, abs=1e-12)


class TestScene:
    @pytest.mark.parametrize("name", PRESETS)
    def test_a_scene_survives_json(self, name):
        scene = PRESETS[name]
        again = TwinsScene.parse(json.dumps(scene.to_json()))
        assert again == scene and again.at(7).rev == 7 and again.at(7).clients == scene.clients

    def test_shapes_are_shared_where_there_is_one(self):
        assert TwinsScene.parse({"clients": [client(), client(2, name="B")]}).shared
        assert not TwinsScene.parse({"clients": [client(), client(2, width=2, name="B")]}).shared

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"clients": []}, "clients"),
            ({"clients": "A"}, "clients"),
            ({"clients": [client(x=float("nan"))]}, r"clients\[0\].x"),
            ({"clients": [client(), client(width=-1, name="B")]}, r"clients\[1\].width"),
            ({"clients": [client(), client()]}, "client names"),
            ({"clients": [client(weight=0)]}, "client weights"),
            ({"clients": [client() | {"kind": "data"}]}, r"clients\[0\].kind"),
            ({"clients": [client(name=f"c{k}") for k in range(25)]}, "clients"),
            ({"shared": True, "clients": [client(), client(width=2, name="B")]}, "shared"),
            ({"shared": "yes"}, "shared"),
            ({"construction": "false"}, "construction"),
            ({"half": 0}, "half"),
            ({"rev": -1}, "rev"),
            ({"preset": 3}, "preset"),
            ({"generators": []}, "scene"),
        ],
    )
    def test_a_wrong_field_is_named(self, change, field):
        with pytest.raises(nm.InvalidInput, match=f"^{field}"):
            TwinsScene.parse({"clients": [client()], **change})

    def test_text_that_is_no_json_is_refused(self):
        with pytest.raises(nm.InvalidInput, match=r"^scene"):
            TwinsScene.parse("{")

    def test_history_keeps_twins_scenes(self):
        before, after = PRESETS["Two clients"], PRESETS["Three on a line"]
        history = History.parse(History().record(before).to_json(), TwinsScene.parse)
        assert history.undo(after)[1] == before

    def test_only_gaussians_in_the_plane_can_be_clients(self):
        rows = np.random.default_rng(0).normal(size=(20, 2))
        for source in (rows, nm.Gaussian([0, 0, 0])):
            with pytest.raises(nm.InvalidInput, match="hospital"):
                nm.TwinsLab([nm.Client(source, name="hospital")])

    def test_an_unknown_preset_is_named(self):
        with pytest.raises(nm.InvalidInput, match="preset"):
            nm.TwinsLab("Two cilents")


class TestNumbers:
    @pytest.mark.parametrize("name", ["Two clients", "Three on a line", "Triangle (no direction left)"])
    def test_clients_score_alike_and_pooled_scores_differ(self, twins_lab, name):
        scores = twins_lab(name).result["scores"]
        first, second = np.array(scores["first"]), np.array(scores["second"])
        np.testing.assert_allclose(first[:-1], second[:-1], atol=1e-8 * first.max())
        assert abs(first[-1]) < 1e-12 and second[-1] > 0.1

    @pytest.mark.threads
    def test_a_twin_for_unequal_shapes_is_searched_for_and_found(self, twins_lab):
        lab = twins_lab("Unequal shapes (numerical)")
        assert lab.result["trying"] and lab.result["second"] is None
        scores = answered(lab)["scores"]
        first, second = np.array(scores["first"]), np.array(scores["second"])
        np.testing.assert_allclose(first[:-1], second[:-1], atol=1e-8 * first.max())
        assert second[-1] - first[-1] == pytest.approx(lab.twin().all_gap, rel=1e-9) and second[-1] > 0.1

    @pytest.mark.threads
    def test_a_snapshot_waits_for_the_search_and_the_view_hears_of_it(self, twins_lab, monkeypatch):
        # the snapshot is first, and the search then gives up
        monkeypatch.setattr("nbmetrics.labs.twins.lab.SECONDS_STILL", 3)
        lab = twins_lab("Unequal shapes (numerical)")
        assert lab.result["trying"]
        assert "Every client scores both generators alike" in lab.snapshot().alt
        assert answered(lab, seconds=10)["second"]

    def test_a_search_for_clients_that_moved_on_is_given_up(self, twins_lab):
        lab = twins_lab("Unequal shapes (numerical)")
        start = lab.scene
        lab.scene = {**PRESETS["Two clients"].to_json(), "rev": start["rev"] + 1}
        assert answered(lab)["scores"]["second"]
        lab.scene = {**start, "rev": start["rev"] + 2}
        assert answered(lab)["scores"]["second"]

    @pytest.mark.slow
    def test_more_scores_held_than_there_are_numbers_leave_no_twin_as_a_rule(self, twins_lab):
        rng = np.random.default_rng(5)
        distributions = [
            nm.Gaussian.ellipse(rng.normal(0, 1.5, 2), *rng.uniform(0.3, 1.5, 2), 20 * k) for k in range(6)
        ]
        result = answered(twins_lab(distributions), seconds=150)
        assert result["reason"].startswith("6 clients hold 6 scores fixed") and result["scores"]["second"] is None

    def test_copied_code_shows_the_lab_and_says_why_where_there_is_no_twin(self, twins_lab, capsys):
        made = {}
        exec(twins_lab("Identical clients (no twin)").to_code(), made)
        made["lab"].close()
        assert "the same mean and covariance" in capsys.readouterr().out and "pair" not in made

    def test_where_there_is_no_twin_the_reason_is_given(self, twins_lab):
        lab = twins_lab("Identical clients (no twin)")
        assert "the same mean and covariance" in lab.result["reason"] and lab.result["second"] is None
        with pytest.raises(theory.NoTwin, match="the same mean and covariance"):
            lab.twin()

    def test_a_client_without_weight_elsewhere_makes_no_twin_of_one_client(self, twins_lab):
        lab = twins_lab([nm.Client(nm.Gaussian([0, 0]), weight=1), nm.Client(nm.Gaussian([2, 0]), weight=0)])
        assert "the same mean and covariance" in lab.result["reason"]

    def test_the_printed_construction_does_not_score_alike(self, twins_lab):
        lab = twins_lab([nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])], construction="printed")
        scores = lab.result["scores"]
        assert scores["first"][:2] == pytest.approx([4 - 2 * np.sqrt(2)] * 2) and scores["second"][:2] == pytest.approx(
            [2, 2]
        )

    def test_the_printed_construction_needs_a_direction_orthogonal_to_the_means(self, twins_lab):
        lab = twins_lab([nm.Gaussian([-1, 1]), nm.Gaussian([1, 1])], construction="printed")
        assert "orthogonal" in lab.result["reason"] and lab.result["second"] is None

    def test_scores_are_those_of_evaluate_and_of_the_view(self, twins_lab):
        lab = twins_lab("Three on a line")
        table = lab.scores().table
        assert table["avg"].tolist() == pytest.approx([lab.result["scores"][g][-2] for g in ("first", "second")])
        assert table["all"].tolist() == pytest.approx(
            [lab.result["scores"][g][-1] for g in ("first", "second")], abs=1e-12
        )

    def test_the_published_pair_is_the_papers(self, twins_lab):
        lab = twins_lab(construction="published")
        table = nm.experiments.published("twin_generators_ffhq")
        assert lab.published["second"] == table.iloc[1, 1:].tolist() == lab.result["scores"]["second"]
        assert lab.published["clients"] == [f"Client {k}" for k in range(1, 7)]
        with pytest.raises(nm.InvalidInput, match="construction"):
            lab.twin()


class TestCode:
    @pytest.mark.parametrize(
        ("name", "construction"), list(itertools.product(PRESETS, ["corrected", "printed", "published"]))
    )
    def test_code_rebuilds_the_scene(self, twins_lab, name, construction):
        lab = twins_lab(name, construction=construction)
        lines = [line for line in lab.to_code().splitlines(keepends=True) if not line.startswith(("pair", "diff"))]
        made: dict = {}
        exec("".join(lines), made)
        made["lab"].close()
        assert_same_state(made["lab"].scene, lab.scene)

    def test_code_makes_the_pair_of_the_view(self, twins_lab):
        for name, construction in [("Triangle (no direction left)", "corrected"), ("Two clients", "printed")]:
            lab = twins_lab(name, construction=construction)
            made: dict = {}
            exec(lab.to_code(), made)
            made["lab"].close()
            scores = lab.result["scores"]
            gaps = np.subtract(scores["second"], scores["first"])
            assert made["pair"].all_gap == pytest.approx(gaps[-1], rel=1e-12)
            np.testing.assert_allclose(made["differences"], gaps[:-2], atol=1e-12)

    def test_code_keeps_a_switch_that_the_shapes_do_not_tell(self, twins_lab):
        lab = twins_lab("Two clients", shared=False)
        assert "shared=False" in lab.to_code() and not lab.scene["shared"]

    @needs_node
    def test_the_pages_code_is_python_that_rebuilds_the_scene(self):
        clients = [client(-1.25, 0.5, 1.5, 0.5, 30, 2.5, name=QUOTED), client(1e-7, 3, 1, 1, 0, 1, name="B")]
        scene = TwinsScene.parse({"clients": clients, "construction": "printed"})
        source = json.dumps((LABS / "twins/view/index.js").as_uri())
        script = f"import {{twinsCode}} from {source}; process.stdout.write(twinsCode({json.dumps(scene.to_json())}))"
        code = ran(script)
        assert code == scene.to_code()
        made: dict = {}
        exec(code, made)
        made["lab"].close()
        assert_same_state(made["lab"].scene, scene.to_json())


class TestPicture:
    @pytest.mark.parametrize(
        ("name", "construction", "panels", "words"),
        [
            ("Two clients", "corrected", 2, "alike"),
            ("Two clients", "printed", 2, "off by +2.472"),
            ("Identical clients (no twin)", "corrected", 2, "No twin here"),
            ("Two clients", "published", 1, "90.440 worse"),
        ],
    )
    def test_draws_and_describes_the_state(self, twins_lab, name, construction, panels, words):
        lab = twins_lab(name, construction=construction)
        figure = picture_of(lab)
        assert isinstance(figure, Drawing) and len(figure.axes) == panels
        rows = [label.get_text() for label in figure.axes[-1].get_yticklabels()]
        assert rows[-2:] == ["avg", "all"] and figure.axes[-1].get_xlabel().startswith("FID")
        assert words in words_of(lab)


def random_clients(rng, trial):
    """Clients of every sort that has a closed form, and of some that have none."""
    count = int(rng.integers(1, 7))
    kind = ("line", "through", "plane", "unequal", "identical", "near")[trial % 6]
    along, start = rng.normal(size=2), rng.normal(size=2) * (kind != "through")
    places = rng.normal(0, rng.uniform(0.3, 3), size=(count, 2))
    if kind in ("line", "through"):
        places = start + rng.normal(0, 2, size=(count, 1)) * along
    elif kind == "near":
        places = start + 10 ** rng.uniform(-5, -1) * places
    elif kind == "identical":
        places = np.tile(start, (count, 1))
    shapes = np.column_stack([np.exp(rng.uniform(-2, 1, size=(count, 2))), rng.uniform(-180, 180, count)])
    if kind != "unequal":
        shapes[:] = shapes[0]
        if trial % 7 == 0:
            shapes[:, trial % 2] = 0.0
    weights = rng.uniform(0.05, 3, count) * (rng.uniform(size=count) > 0.1)
    weights[0] = 1.0
    values = np.column_stack([places, shapes, weights]).tolist()
    return [client(*row, name=f"c{k}") for k, row in enumerate(values)]


def expected(scene):
    """What Python says of the pair; "search" where it would have to search."""

    def refuse(attempt, most):
        raise InterruptedError

    make = theory.printed_twin if scene.construction == "printed" else lambda f: theory.twin(f, progress=refuse)
    pooled = scene.federation.pooled().distribution
    scale = float(np.trace(pooled.cov))
    try:
        pair = make(scene.federation)
    except InterruptedError:
        return {"how": "search", "scale": scale}
    except theory.NoTwin:
        return {"how": "none", "scale": scale}
    if scene.construction == "corrected" and pair.all_gap <= 1e-12 * scale:
        return {"how": "none", "scale": scale}
    clients = [c.distribution for c in scene.federation]
    scores = [
        [*(nm.fid(c, distribution) for c in clients), nm.fid(pooled, distribution)]
        for distribution in (pair.first, pair.second)
    ]
    return {
        "how": "pair",
        "scores": scores,
        "mean": pair.second.mean.tolist(),
        "cov": pair.second.cov.ravel().tolist(),
        "scale": scale,
    }


@needs_node
def test_the_pages_closed_forms_are_pythons(tmp_path):
    rng = np.random.default_rng(11)
    cases = []
    for trial, construction in itertools.product(range(180), ("corrected", "printed")):
        scene = TwinsScene.parse({"clients": random_clients(rng, trial), "construction": construction})
        cases.append({"scene": scene.to_json(), "expected": expected(scene)})
    for scene in PRESETS.values():
        cases.append({"scene": scene.to_json(), "expected": expected(scene)})
    path = tmp_path / "twins.json"
    path.write_text(json.dumps(cases))
    run = node("--test", TESTS / "js/twins.test.js", NBMETRICS_TWINS=path)
    counts = json.loads(run.split("compared ")[1].splitlines()[0])
    assert counts["offset"] > 40 and counts["covariance"] > 15 and counts["printed"] > 40
    assert counts["search"] > 15 and counts["none"] > 30, counts


@needs_node
def test_the_joined_module_is_one_that_node_can_read(tmp_path):
    path = tmp_path / "twins.mjs"
    path.write_text(modules.module("twins/view/index.js"))
    node("--check", path)
