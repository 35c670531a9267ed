"""CorrelationLab in Python: scenes, numbers against independent closed forms, code, pictures, and the page's maths."""

import json
import math

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.correlation.figure import surface
from nbmetrics.labs.correlation.scene import PRESETS, SCORES, CorrelationScene
from tests import TESTS
from tests.labs.inside import module_of, numbers_of, picture_of
from tests.node import needs_node, node
from tests.slow import by_default

WRONG = {"rho": 0.8, "rho_hat": -0.8}


def expected(rho, rho_hat, scale):
    """By the angles, and by the eigenvalues of the product of the two covariances."""
    real, made = (np.array([[scale**2, scale * r], [scale * r, 1.0]]) for r in (rho, rho_hat))
    root = np.sqrt(np.maximum(np.linalg.eigvals(real @ made).real, 0)).sum()
    return {
        "mfid": 0.0,
        "rfid": 2 * (scale**2 + 1) - 2 * root,
        "cfid": 4 * math.sin((math.acos(rho) - math.acos(rho_hat)) / 2) ** 2,
        "squared_difference": (rho - rho_hat) ** 2,
    }


def random_pairs(count, seed):
    rng = np.random.default_rng(seed)
    ends = [-1.0, 0.0, 1.0, 1 - 1e-9]
    for _ in range(count):
        pair = [float(rng.choice(ends)) if rng.integers(5) == 0 else round(rng.uniform(-1, 1), 6) for _ in range(2)]
        yield *pair, float(10 ** rng.uniform(-2, 1))


def test_the_lab_opens_on_the_wrong_sign():
    lab = nm.CorrelationLab()
    asked = {"step": 1, "answer": "open"}
    assert lab.scene == {**WRONG, "rev": 0, "preset": "Wrong sign", "scale": 1.0, "metric": "cfid", "question": asked}
    assert lab.result["scores"] == pytest.approx(
        {"mfid": 0, "rfid": 1.6, "cfid": 2.56, "squared_difference": 2.56}, abs=1e-12
    )


def test_scores_are_those_of_independent_formulas():
    for rho, rho_hat, scale in random_pairs(120, 1):
        lab = nm.CorrelationLab(rho, rho_hat, scale)
        # the oracle squares the condition of singular covariances: √1e-16 of the trace is what it can tell
        assert lab.result["scores"] == pytest.approx(expected(rho, rho_hat, scale), abs=5e-8 * max(1, scale**2))
        table = lab.scores().table.set_index("metric")
        for name in ("mfid", "rfid", "cfid"):
            assert table.loc[name, "avg"] == pytest.approx(lab.result["scores"][name], abs=1e-12)


@pytest.mark.parametrize("rho_hat", [-0.8, -0.3, 0.2])
def test_rfid_runs_from_mfid_to_cfid_and_cfid_does_not_move(rho_hat):
    scales = [0.01, 0.1, 0.5, 1, 2, 10]
    found = [nm.CorrelationLab(0.8, rho_hat, scale).result["scores"] for scale in scales]
    rfid, cfid = ([scores[name] for scores in found] for name in ("rfid", "cfid"))
    assert cfid == pytest.approx([cfid[0]] * len(scales), abs=1e-12)
    assert all(np.diff(rfid) > 0)
    assert rfid[0] < 1e-3 * cfid[0] and 0.98 * cfid[0] < rfid[-1] < cfid[0]


def test_presets_say_what_they_show():
    found = {name: numbers_of(nm.CorrelationLab, scene)["scores"] for name, scene in PRESETS.items()}
    assert found["Right pairing"] == dict.fromkeys(SCORES, 0.0)
    assert found["Deterministic"] == pytest.approx({"mfid": 0, "rfid": 4, "cfid": 4, "squared_difference": 4})
    assert found["Paired against unpaired"]["cfid"] == pytest.approx(0.64 + 0.16)
    assert found["Tiny unit of x"]["rfid"] < 0.02 * found["Tiny unit of x"]["cfid"]
    assert found["Too sure of itself"]["cfid"] > 2 * found["Too sure of itself"]["squared_difference"]
    assert all(scores["mfid"] == 0 for scores in found.values())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"rho": 1.01}, "rho"),
        ({"rho_hat": -2}, "rho_hat"),
        ({"rho": float("nan")}, "rho"),
        ({"rho_hat": "much"}, "rho_hat"),
        ({"scale": 0}, "scale"),
        ({"scale": 11}, "scale"),
        ({"metric": "cfdi"}, "metric"),
    ],
)
def test_bad_values_are_refused_by_name(change, named):
    with pytest.raises(nm.InvalidInput) as error:
        CorrelationScene.parse({**WRONG, **change})
    assert error.value.argument == named
    with pytest.raises(nm.InvalidInput):
        nm.CorrelationLab(**{**WRONG, **change})


@pytest.mark.parametrize(
    ("question", "named"),
    [
        (None, "question"),
        (2, "question"),
        ({"step": 2}, "question"),
        ({"step": 2, "answer": "open", "guess": 1}, "question"),
        ({"step": 0, "answer": "open"}, "question.step"),
        ({"step": 4, "answer": "open"}, "question.step"),
        ({"step": 1.5, "answer": "open"}, "question.step"),
        ({"step": 1, "answer": "squared_difference"}, "question.answer"),
        ({"step": 1, "answer": None}, "question.answer"),
    ],
)
def test_a_question_that_is_none_is_refused_by_name(question, named):
    with pytest.raises(nm.InvalidInput) as error:
        CorrelationScene.parse({**WRONG, "question": question})
    assert error.value.argument == named


def asked(lab, step, answer):
    lab.scene = {**lab.scene, "rho": 0.5, "question": {"step": step, "answer": answer}}
    return lab.scene["question"]


def test_the_question_is_shared_and_what_was_shared_before_there_was_one_still_opens():
    lab = nm.CorrelationLab()
    question = asked(lab, 2, "rfid")
    again = nm.CorrelationLab.from_share(lab.share())
    assert again.scene["question"] == question
    again.from_share(nm.CorrelationLab().share())
    assert again.scene["question"] == {"step": 1, "answer": "open"}
    again.undo()
    assert again.scene["question"] == question
    old = (
        "nbm1.CorrelationLab.TO3SkXjaq1YqyshXsjLQMzLVATHjMxJLlKx0DfSA3OLkxJxUJSsjPQMdpdzUkqLMZCUrpaK0zBQlHaWCotTiVKBK"
        "pcj80iKF_PI8oFhRahnQpFoA_qQY-A"
    )
    opened = nm.CorrelationLab.from_share(old).scene
    assert (opened["rho"], opened["question"]) == (0.25, {"step": 1, "answer": "open"})


def test_the_question_stays_when_python_resets_the_pair():
    lab = nm.CorrelationLab()
    question = asked(lab, 3, "explored")
    lab.reset()
    assert (lab.scene["rho"], lab.scene["question"]) == (0.8, question)


@pytest.mark.parametrize("value", [None, [], "scene", {}, {"rho": 0.1}, {**WRONG, "alpha": 1}])
def test_what_is_no_scene_is_refused(value):
    with pytest.raises(nm.InvalidInput) as error:
        CorrelationScene.parse(value)
    assert error.value.argument == "scene"


@pytest.mark.parametrize(("field", "bad"), [("preset", 3), ("rev", -1), ("rev", 0.5)])
def test_bad_bookkeeping_is_refused(field, bad):
    with pytest.raises(nm.InvalidInput) as error:
        CorrelationScene.parse({**WRONG, field: bad})
    assert error.value.argument == field


def test_a_scene_survives_json_and_a_lab_refuses_a_bad_one():
    scene = CorrelationScene.parse({"rho": 0.1, "rho_hat": 1, "scale": 2, "metric": "rfid", "preset": "p", "rev": 4})
    assert CorrelationScene.parse(json.loads(json.dumps(scene.to_json()))) == scene
    lab = nm.CorrelationLab()
    with pytest.raises(nm.InvalidInput):
        lab.scene = {**lab.scene, "rho": 7}
    assert lab.scene["rho"] == 0.8


def test_undo_redo_and_reset():
    lab = nm.CorrelationLab(0.5, 0.1, 2.0, "rfid")
    assert lab.scene["preset"] == "Your own"
    lab.from_share(nm.CorrelationLab(0.8, -0.7).share())
    assert lab.scene["rho"] == 0.8
    lab.undo()
    assert (lab.scene["rho"], lab.scene["metric"]) == (0.5, "rfid")
    lab.redo()
    lab.reset()
    assert (lab.scene["rho"], lab.scene["rho_hat"], lab.scene["scale"]) == (0.5, 0.1, 2.0)


def test_a_share_string_holds_the_whole_state():
    lab = nm.CorrelationLab(0.123456789, -1.0, 0.05, "mfid")
    again = nm.CorrelationLab.from_share(lab.share())
    assert {**again.scene, "rev": 0} == lab.scene
    assert again.to_code() == lab.to_code()


def test_code_rebuilds_the_lab_with_the_same_numbers():
    for rho, rho_hat, scale in random_pairs(20, 2):
        lab = nm.CorrelationLab(rho, rho_hat, scale, "rfid")
        made: dict = {}
        exec(lab.to_code(), made)
        assert made["lab"].scene == lab.scene
        found = made["scores"].table.set_index("metric")["avg"]
        for name in ("mfid", "rfid", "cfid"):
            assert found[name] == pytest.approx(lab.result["scores"][name], abs=1e-12)


def test_the_contours_in_the_picture_are_the_metrics():
    for rho, rho_hat, scale in random_pairs(40, 3):
        scores = nm.CorrelationLab(rho, rho_hat, scale).result["scores"]
        drawn = {name: float(surface(name, rho, rho_hat, scale)) for name in SCORES}
        assert drawn == pytest.approx(scores, abs=1e-9 * max(1, scale**2))


@pytest.mark.parametrize("metric", by_default(SCORES, "cfid"))
def test_the_picture_shows_the_map_with_the_point_and_both_clouds(metric):
    lab = nm.CorrelationLab(0.6, -0.2, 0.5, metric)
    figure = picture_of(lab)
    chart, clouds = figure.axes
    assert "correlation of x and y" in chart.get_xlabel() and "ŷ" in chart.get_ylabel()
    assert any(line.get_xydata().tolist() == [[0.6, -0.2]] for line in chart.lines)
    assert [c.get_label() for c in clouds.collections] == ["real (x, y)", "generated (x, ŷ)"]
    assert f"{lab.result['scores']['cfid']:.3f}" in figure.get_suptitle()
    snapshot = lab.snapshot()
    assert snapshot.png.startswith(b"\x89PNG")
    assert "correlation 0.60" in snapshot.alt and f"{lab.result['scores']['rfid']:.3f}" in snapshot.alt


@needs_node
def test_page_and_python_agree_on_golden_vectors(tmp_path):
    cases = []
    for k, (rho, rho_hat, scale) in enumerate(random_pairs(400, 4)):
        scene = CorrelationScene(rho, rho_hat, float(f"{scale:.3g}"), SCORES[k % 4])
        scores = numbers_of(nm.CorrelationLab, scene)["scores"]
        cases.append({"scene": scene.to_json(), "scores": scores, "code": scene.to_code()})
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps(cases))
    test = TESTS / "js" / "correlation.test.js"
    run = node("--test", str(test), NBMETRICS_CORRELATIONS=path)
    assert "compared 400 pairs" in run


@needs_node
def test_the_joined_module_is_valid_javascript(tmp_path):
    path = tmp_path / "correlation.mjs"
    path.write_text(module_of(nm.CorrelationLab))
    node("--check", path)
    assert "export default" in module_of(nm.CorrelationLab)
