"""What MemorizationLab tells its page: what it refuses, and what a saved page carries."""

import json

import pytest

from tests.labs.inside import send
from tests.waiting import until


def saved_state(path):
    """What a saved page carries."""
    return json.loads(path.read_text().split('<script type="application/json">')[1].split("</script>")[0])


def test_a_scene_that_cannot_be_is_told_to_the_page_and_freezes_nothing(memo_lab):
    lab = memo_lab(points=30)
    before = lab.scene
    for kind, bad in (("commit", {"copied": 7}), ("ask", {"copied": 7}), ("commit", {"data": "own"})):
        rev = lab.result["rev"] + 5
        scene = {**before, **bad, "rev": rev}
        if kind == "commit":
            lab.set_state({"scene": scene, "history": {"past": [before], "future": []}})
        else:
            send(lab, {"kind": "ask", "scene": scene})
        assert lab.result["rev"] == rev and next(iter(bad)) in lab.result["error"]["message"]
        assert lab.scene == before and lab.history["past"] == []
    lab.set_state({"scene": {**before, "copied": 1.0, "rev": rev + 1}})
    assert until(lambda: lab.result["rev"] == rev + 1 and lab.result)["cards"]["auth_pct"] == 0


def test_what_python_shows_after_a_refusal_is_newer_than_what_the_page_shows(memo_lab):
    lab = memo_lab(points=30)
    lab.set_state({"scene": {**lab.scene, "copied": 7, "rev": 9}})
    lab.scene = {**lab.scene, "copied": 1.0, "rev": 1}
    assert lab.scene["rev"] > 9
    assert until(lambda: lab.result["rev"] == lab.scene["rev"] and lab.result)["cards"]["auth_pct"] == 0


@pytest.mark.parametrize("kind", ["curve", "interactions"])
def test_a_bad_request_is_answered_with_the_reason(memo_lab, kind):
    lab = memo_lab(points=30)
    send(lab, {"kind": kind, "scene": {"copied": 7, "rev": 4}})
    assert "copied" in lab.result["error"]["message"] and lab.result["rev"] == 4


@pytest.mark.slow
def test_a_saved_page_holds_the_points_and_their_scores(memo_lab, tmp_path):
    text = memo_lab(preset="Half copied").export_html(tmp_path / "page.html").read_text()
    assert '"kde_noise"' in text and '"memorization"' in text


def test_a_saved_page_holds_all_that_python_knows_of_the_scene_as_it_is_now(memo_lab, tmp_path):
    wanted = memo_lab(points=40, copied=0.5, seed=3)
    until(lambda: wanted.result["noise"])
    send(wanted, {"kind": "curve", "scene": wanted.scene, "key": "k"})
    until(lambda: wanted.curve.get("done") == 1)
    lab = memo_lab(points=30)
    lab.scene = {**lab.scene, "points": 40, "copied": 0.5, "seed": 3, "rev": 1}
    lab.set_state({"scene": {**lab.scene, "copied": 7, "rev": 9}})
    state, other = (saved_state(x.export_html(tmp_path / "page.html")) for x in (lab, wanted))
    for name in ("noise", "cards", "honest", "memorization"):
        assert state["result"][name] == wanted.result[name], name
    assert state["result"]["rev"] == state["scene"]["rev"] and state["base"] == wanted.base
    assert state["curve"] == other["curve"] != wanted.curve, "the one over the share copied, at every place"
    assert "are from Python" in state["saved"]


def test_a_saved_page_holds_the_cards_at_each_place_of_its_slider(memo_lab, tmp_path):
    lab = memo_lab(points=30, spread=0.5, seed=2)
    curve = saved_state(lab.export_html(tmp_path / "page.html"))["curve"]
    assert curve["key"] == 'copied ["moons",0,0,0,0.5,30,2]' and curve["parameter"] == "copied"
    assert {k / 20 for k in range(21)} <= set(curve["values"])
    for share in (0.0, 0.35, 1.0):
        place = curve["values"].index(share)
        cards = memo_lab(points=30, spread=0.5, seed=2, copied=share).result["cards"]
        assert {name: values[place] for name, values in curve["metrics"].items()} == cards


def test_a_saved_page_keeps_a_curve_over_another_slider_that_is_on_show(memo_lab, tmp_path):
    lab = memo_lab(points=30)
    lab.scene = {**lab.scene, "view": {**lab.scene["view"], "panel": "curve", "sweep": "spread"}, "rev": 1}
    send(lab, {"kind": "curve", "scene": lab.scene, "key": "k"})
    until(lambda: lab.curve.get("done") == 1)
    assert saved_state(lab.export_html(tmp_path / "page.html"))["curve"] == lab.curve


def test_a_saved_page_holds_the_numbers_of_the_presets_on_its_points(memo_lab, tmp_path):
    lab = memo_lab(points=30, copied=0.5)
    lab.scene = {**lab.scene, "copied": 1.0, "rev": 1}
    kept = saved_state(lab.export_html(tmp_path / "page.html"))["kept"]
    assert list(kept) == ["Your own"] and kept["Your own"]["noise"] == lab.result["noise"]
    assert kept["Your own"]["cards"] == memo_lab(points=30, copied=0.5).result["cards"] != lab.result["cards"]
