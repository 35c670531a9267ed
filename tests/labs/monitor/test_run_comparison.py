"""Two runs side by side: what does not match is refused in words, and what is more than chance is."""

from functools import partial

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import InvalidInput
from nbmetrics.labs.monitor.live_run import LiveRun
from nbmetrics.labs.monitor.run_comparison import RunComparison
from tests.waiting import until

RNG = np.random.default_rng(0)
CLIENTS = {name: RNG.normal(centre, 0.7, (60, 1)) for name, centre in (("north", -1.0), ("south", 1.0))}


@pytest.fixture
def run(opened):
    """run(shifts) -> a recording of steps 0, 10, … whose rows are off by them."""

    def make(shifts, clients=CLIENTS, metrics=("fid", "kid"), samples=200, scale=1.0, kind=LiveRun, **more):
        made = opened(partial(kind, clients, metrics, keep_all=True, samples=samples, **more))
        for step, shift in enumerate(shifts):
            made.log(10 * step, lambda n, rng, shift=shift: rng.normal(shift, 1.3 * scale, (n, 1)))
        assert made.wait(60)
        return made

    return make


def words(first, second):
    return RunComparison.of(second, first, "").sentences(first.history)


def test_whose_best_is_better_is_said_with_chance_over_all_steps_of_both(run):
    near, far = run([0.4, 0.02, 0.4]), run([2.0, 1.0])
    assert words(near, far)["fid"] == (
        "Best of both runs by FID-avg and FID-all: step 10 of this run, not 10 of the other (more than chance)."
    )
    assert words(far, near)["kid"] == (
        "Best of both runs by KID-avg and KID-all: step 10 of the other, not 10 of this run (more than chance)."
    )
    alike = run([0.04, 0.02])
    assert all(said.endswith("(could be chance).") for said in words(near, alike).values())
    assert "equally" in words(near, run([0.4, 0.02, 0.4], seed=0))["fid"]


def test_under_other_weights_both_runs_are_under_them(run):
    own, other = run([-0.3]), run([-0.15])
    shares = [0.1, 0.9]
    found = own.with_weights(shares).table["avg"] > other.with_weights(shares).table["avg"]
    assert found.all() and (own.table["avg"] < other.with_weights(shares).table["avg"]).all()
    said = RunComparison.of(other, own, "").judge(own, shares)["words"]
    assert all("of the other, not 0 of this run" in sentence for sentence in said.values())


def test_a_run_behind_more_steps_than_are_compared_is_not_worse_for_that(run, monkeypatch):
    monkeypatch.setattr("nbmetrics.labs.monitor.run_comparison.MAX_COMPARED_STEPS", 2)
    many, one = run([0.12, 0.125, 0.13, 0.135]), run([0.04])
    assert all(said.endswith("(could be chance).") for said in words(many, one).values())
    assert "more than chance" in words(many, run([2.0]))["fid"]


@pytest.mark.slow
def test_runs_alike_in_truth_are_seldom_told_apart():
    """Fresh clients and rows; at 95 % about one pair in twenty."""
    apart = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        clients = {name: rng.normal(centre, 0.5, (60, 1)) for name, centre in (("a", -1.0), ("b", 1.0))}
        sides = [LiveRun(clients, "fid", keep_all=True) for _ in range(2)]
        for count, side in zip((2, 8), sides, strict=True):  # more steps to choose from are no merit
            for step in range(count):
                side.log(step, rng.normal(0.0, 2.0, (120, 1)))
            assert side.wait(60)
        apart.append("more than chance" in words(*sides)["fid"])
        for side in sides:
            side.close()
    assert np.mean(apart) <= 0.2, apart


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"clients": {"north": CLIENTS["north"], "west": CLIENTS["south"]}}, "has other clients"),
        ({"clients": {**CLIENTS, "south": CLIENTS["south"] + 0.1}}, r"other rows of \['south'\]"),
        ({"metrics": ("coverage",)}, "other metrics"),
    ],
)
def test_what_does_not_match_is_refused_in_words(run, other, why):
    with pytest.raises(InvalidInput, match=why):
        RunComparison.of(run([0.0], **other), run([0.1]), "")


def test_what_no_run_is_and_the_run_itself_are_refused(run, tmp_path):
    own = run([0.0])
    for wrong in (own, 3, [1], tmp_path / "nothing", {"fid": 1}):
        with pytest.raises(InvalidInput):
            RunComparison.of(wrong, own, "")


def test_scores_of_other_numbers_of_rows_and_rows_in_another_order_are_not_judged(run):
    own = run([0.0, 0.1])
    fewer = run([0.2], samples=100)
    found = words(own, fewer)
    assert found["fid"] == "FID is not compared: this run has 200 generated rows a step, the other 100."
    assert found["kid"].endswith("chance)."), "KID is unbiased"
    turned = run([0.4], {name: rows[::-1] for name, rows in CLIENTS.items()})
    assert words(own, turned)["fid"].endswith("(unknown whether by more than chance).")
    assert words(own, run([0.2], metrics="kid"))["fid"] == "The other run has no FID."


@pytest.mark.threads
def test_a_page_has_both_runs_under_the_same_weights_and_follows_both(run, opened, tmp_path):
    lab, other = (run(shifts, kind=nm.Monitor, **more) for shifts, more in (([0.0, 0.1], {}), ([0.3, 0.2], {})))
    kept = run([0.5], path=tmp_path / "third")
    assert lab.compare(other, "b") is lab and lab.wait(60)
    assert lab.beside["name"] == "b" and set(lab.beside["past"]["lines"]) == {"fid", "kid"}
    assert lab.result["beside"]["words"] == dict(zip(("fid", "kid"), lab.compared, strict=True))
    assert "lab.compare(other)" in lab.to_code()
    lab.scene = {**lab.scene, "weights": [1, 3]}
    until(lambda: lab.result.get("beside", {}).get("lines", {}).get("fid", {}).get("all"))
    other.log(20, lambda n, rng: rng.normal(0, 1, (n, 1)))
    before = lab.beside["past"]["lines"]["fid"]["steps"]
    until(lambda: lab.beside["past"]["lines"]["fid"]["steps"] != before)
    kept.close()
    lab.compare(tmp_path / "third")
    assert lab.wait(60) and lab.beside["name"] == "third"
    lab.compare(None)
    assert lab.wait(60) and lab.beside == {} and "beside" not in lab.result and lab.compared == []


def test_a_page_without_scores_shows_another_run_as_soon_as_it_has_some(run, caplog):
    lab, other = (run(shifts, kind=nm.Monitor, **more) for shifts, more in (([], {"metrics": "fid"}), ([0.3], {})))
    assert lab.compare(other, "b").wait(60)
    assert lab.beside["past"]["lines"] == {} and lab.compared == [] and not caplog.records
    lab.log(0, lambda n, rng: rng.normal(0, 1, (n, 1)))
    assert lab.wait(60) and set(lab.beside["past"]["lines"]) == {"fid"} and len(lab.compared) == 1


def test_what_avg_and_all_would_keep_does_not_depend_on_how_many_steps_are_compared(opened, monkeypatch):
    made = opened(partial(LiveRun, CLIENTS, "fid", keep_all=True, samples=200))
    for step, width in enumerate((1.1, 1.105, 1.11, 1.115)):
        made.log(step, lambda n, rng, width=width: rng.normal(0.1, width, (n, 1)))
    assert made.wait(60)
    (said,) = made.words
    assert "could be chance" in said
    monkeypatch.setattr("nbmetrics.labs.monitor.best_checkpoints.MAX_COMPARED_STEPS", 1)
    assert made.with_weights(made.history.weights).words == [said]
