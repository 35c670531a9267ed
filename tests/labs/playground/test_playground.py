"""The Playground without a page: what is attached, distributions of other clients, metrics from points, shared
lessons."""

import threading

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.playground.numbers import ALWAYS, FROM_ROWS, MADE, compute
from nbmetrics.labs.playground.scene import METRICS
from nbmetrics.metrics import metric_of
from tests.labs.inside import answer, is_idle, scene_of, send
from tests.waiting import until

TOY = nm.Federation({"A": nm.Gaussian([-1, 0]), "B": nm.Gaussian([1, 0])})
FAR = nm.Federation({"A": nm.Gaussian([-6, 0]), "B": nm.Gaussian([6, 3])})
RNG = np.random.default_rng(0)


def numbers(lab):
    return lab.scores().table[["avg", "all"]].to_numpy()


@pytest.mark.parametrize(
    "source",
    [nm.scene.Truncated(FAR, 0.5), nm.scene.Copycat(FAR, "A", 20), nm.scene.Copycat(TOY, "A", 20, seed=7)],
    ids=["truncated", "copycat", "seed"],
)
def test_distributions_made_of_other_clients_keep_their_own_scores(source):
    lab = nm.Playground(TOY, {"g": source})
    assert lab.scene["generators"][0]["kind"] == "data"
    wanted = nm.evaluate(TOY, {"g": source}).table[["avg", "all"]].to_numpy()
    np.testing.assert_allclose(numbers(lab), wanted, rtol=1e-12)


def test_distributions_made_of_these_clients_stay_what_they_are():
    made = {"t": nm.scene.Truncated(TOY, 0.5), "c": nm.scene.Copycat(TOY, "A", 20)}
    assert [g["kind"] for g in nm.Playground(TOY, made).scene["generators"]] == ["truncated", "copycat"]


def test_attaching_again_can_be_undone_and_keeps_the_order():
    lab = nm.Playground(TOY, {"one": nm.Gaussian([0, 0]), "two": nm.Gaussian([1, 1])})
    rows = RNG.normal(size=(40, 2))
    lab.attach("mine", rows)
    before = numbers(lab)
    lab.attach("mine", np.add(rows, [4, 0]))
    assert not np.allclose(numbers(lab), before)
    lab.undo()
    np.testing.assert_array_equal(numbers(lab), before)
    lab.attach("one", rows)
    assert [g["name"] for g in lab.scene["generators"]] == ["one", "two", "mine"]


def test_a_refused_attachment_leaves_nothing_behind():
    lab = nm.Playground(TOY, {f"g{k}": nm.Gaussian([k, 0]) for k in range(12)})
    held = dict(lab.data)
    with pytest.raises(nm.InvalidInput, match="13 items"):
        lab.attach("one more", RNG.normal(size=(9, 2)))
    with pytest.raises(nm.InvalidInput):
        lab.attach("wide", RNG.normal(size=(9, 3)))
    assert lab.data == held and len(lab.scene["generators"]) == 12


def test_what_goes_wrong_in_a_function_of_the_notebook_is_shown(monkeypatch):
    def boom(n, rng):
        raise RuntimeError("no weights")

    lab = nm.Playground(TOY)
    monkeypatch.setattr("nbmetrics.labs.playground.lab.suitable", lambda: {"boom": boom})
    send(lab, {"kind": "attach", "name": "boom"})
    assert "no weights" in lab.result["error"]["message"]


def test_a_scene_that_was_asked_about_and_answered_is_committed_under_its_own_number():
    lab = nm.Playground()
    scene = {**lab.scene, "rev": 5, "half": 4.0}
    answer(lab, nm.Scene.parse(scene))
    assert lab.result["rev"] == 5 and lab.scene["rev"] == 0
    lab.set_state({"scene": scene})
    assert (lab.scene["rev"], lab.scene["half"]) == (5, 4.0)


@pytest.mark.parametrize("order", ["a commit overtakes a question", "a question overtakes a commit"])
@pytest.mark.threads
def test_the_newest_scene_is_answered_in_whatever_order_they_come(monkeypatch, order):
    lab, gate = nm.Playground(), threading.Event()
    answered = lab._answer_of
    monkeypatch.setattr(lab, "_answer_of", lambda scene: gate.wait(30) and answered(scene))
    first, committed, asked = ({**lab.scene, "rev": rev, "half": half} for rev, half in ((2, 4.0), (9, 5.0), (9, 6.0)))
    lab.set_state({"scene": first})
    until(lambda: is_idle(lab))  # under way
    if order == "a commit overtakes a question":
        lab.set_state({"scene": {**committed, "rev": 10}})
        send(lab, {"kind": "ask", "scene": asked})
    else:
        send(lab, {"kind": "ask", "scene": {**asked, "rev": 10}})
        lab.set_state({"scene": committed})
    gate.set()
    until(lambda: lab.result["rev"] == 10)


def test_what_comes_late_is_not_worked_on(memo_lab):
    lab = memo_lab(points=30)
    older, newer = ({**lab.scene, "points": points, "rev": rev} for points, rev in ((40, 5), (50, 6)))
    send(lab, {"kind": "ask", "scene": newer})
    until(lambda: lab.result["rev"] == 6)
    shown = lab.base
    lab.set_state({"scene": older})
    with pytest.raises(AssertionError):
        until(lambda: lab.base is not shown or lab.result["rev"] != 6, seconds=0.5)


def test_what_is_refused_leaves_the_numbers_of_the_scene(monkeypatch):
    lab = nm.Playground(TOY, metric="fld", samples=60)
    scores = lab.result["scores"]
    monkeypatch.setattr("nbmetrics.labs.playground.lab.suitable", lambda: {"wide": RNG.normal(size=(9, 3))})
    send(lab, {"kind": "attach", "name": "wide"})
    assert lab.result["scores"] == scores and lab.result["error"]


@pytest.mark.parametrize("metric", ["fld", "precision", "recall", "coverage", "density"])
@pytest.mark.parametrize("weights", [None, [3, 1, 1]])
def test_metrics_from_points_take_rows_of_any_size_and_weight(metric, weights):
    clients = [RNG.normal(-1, 1, size=(41, 2)), RNG.normal(1, 1, size=(73, 2)), nm.Gaussian([0, 2])]
    weights = [2, 2, 1] if weights is None else weights
    federation = nm.Federation([nm.Client(c, weight=w) for c, w in zip(clients, weights, strict=True)])
    lab = nm.Playground(federation, {"g": nm.Gaussian([0, 0], 2)}, metric=metric)
    found = lab.result["scores"][metric]
    assert np.isfinite([*found["avg"], *found["all"]]).all()
    np.testing.assert_allclose(
        found["avg"][0], np.dot(scene_of(lab).distributions.weights, found["byClient"][0]), rtol=1e-12
    )


def test_precision_of_drawn_points_is_the_metric_on_them():
    lab = nm.Playground(TOY, {"g": nm.Gaussian([0, 0], 2)}, samples=50, seed=3, metric="precision")
    federation, sources = scene_of(lab).federation, scene_of(lab).sources
    wanted = nm.evaluate(federation, sources, "precision").table.iloc[0]
    found = compute(scene_of(lab))["scores"]["precision"]
    assert found["avg"] == [pytest.approx(wanted["avg"])] and found["all"] == [pytest.approx(wanted["all"])]


def test_bands_are_the_spread_of_redrawn_points_around_the_exact_value():
    lab = nm.Playground(TOY, {"g": nm.Gaussian([0, 0], [2, 1])}, samples=40, seed=5)
    scene = nm.Scene.parse({**lab.scene, "view": {**lab.scene["view"], "panel": "samples"}})
    band = compute(scene)["bands"]["fid"]["avg"]
    assert band["exact"] == [pytest.approx(1 + (1 - 2**0.5) ** 2)]
    values = []
    for k in range(1, 21):
        again = scene.drawn(40, 5 + k)
        made, shares = nm.Gaussian.fit(again.sources["g"]), again.federation.weights
        values.append(np.dot(shares, [nm.fid(nm.Gaussian.fit(c.rows), made) for c in again.federation]))
    assert band["mean"] == [pytest.approx(np.mean(values))]
    assert [*band["low"], *band["high"]] == pytest.approx(np.quantile(values, [0.05, 0.95]))
    assert band["mean"][0] > band["exact"][0]  # FID of few points reads too high


def test_the_band_of_the_gap_is_what_few_points_make_of_it():
    alike = {"a": nm.Gaussian([0, 0]), "b": nm.Gaussian([0, 0])}
    lab = nm.Playground(alike, {"g": nm.Gaussian([0, 0])}, samples=20)
    scene = nm.Scene.parse({**lab.scene, "view": {**lab.scene["view"], "panel": "samples"}})
    bands = compute(scene)["bands"]
    gaps = []
    for k in range(1, 21):
        again = scene.drawn(20, scene.seed + k)
        rows, made = [np.asarray(c.rows) for c in again.federation], nm.Gaussian.fit(again.sources["g"])
        avg = np.mean([nm.fid(nm.Gaussian.fit(x), made) for x in rows])
        gaps.append(avg - nm.fid(nm.Gaussian.fit(np.concatenate(rows)), made))
    assert bands["fid"]["gap"]["exact"] == [pytest.approx(0, abs=1e-12)]
    assert bands["fid"]["gap"]["mean"] == [pytest.approx(np.mean(gaps))]
    assert bands["fid"]["gap"]["low"] == [pytest.approx(np.quantile(gaps, 0.05))]
    # of clients that are alike, all of the gap is the number of points
    assert bands["fid"]["gap"]["alike"] == [pytest.approx(np.mean(gaps), rel=0.3)]


def test_a_teachers_own_lesson_is_not_opened_without_it():
    known = nm.Playground(lesson="Where is KID?").lessons["Where is KID?"]
    lesson = {k: v for k, v in known.items() if k != "after"} | {"name": "My own"}
    own = nm.Playground(lesson=lesson)
    with pytest.raises(nm.InvalidInput, match="My own"):
        nm.Playground.from_share(own.share())
    again = nm.Playground(lesson=lesson).from_share(own.share())
    assert again.lesson == "My own"


def test_a_lesson_brings_its_own_settings():
    with pytest.raises(nm.InvalidInput, match="lesson"):
        nm.Playground(lesson="Where is KID?", samples=50)


def test_what_the_page_says_of_metrics_is_so():
    assert set(METRICS) == {*ALWAYS, *MADE, *FROM_ROWS}
    for name, facts in METRICS.items():
        metric = MADE[name]() if name in MADE else metric_of(name)
        assert facts["higher"] == metric.higher_is_better
        assert facts["label"] == ("KID (RBF)" if name == "kid_rbf" else metric.label)
        assert ("addends" in facts) == (facts["closed"] != "never") == ("no_sum" not in facts)
