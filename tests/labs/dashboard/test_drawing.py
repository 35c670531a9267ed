"""Draw until settled: what Python sends is `nm.race` of the functions on show, under the weights on show."""

import json
import threading

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.dashboard.drawing import draws_anew
from tests.labs.inside import send

RNG = np.random.default_rng(7)
CLIENTS = {name: RNG.normal(shift, 1.0, (200, 3)) for name, shift in (("a", 0.0), ("b", 1.0))}
NEAR, FAR = (lambda n, rng: rng.normal(0.5, 1.1, (n, 3)), lambda n, rng: rng.normal(1.4, 1.1, (n, 3)))
TWIN = lambda n, rng: rng.normal(0.5, 1.1, (n, 3))  # noqa: E731
GENERATORS = {"near": NEAR, "far": FAR, "rows": RNG.normal(0.5, 1.1, (100, 3))}


@pytest.fixture
def made():
    labs = []

    def make(*arguments):
        labs.append(nm.Dashboard(*arguments))
        labs[-1].wait()
        return labs[-1]

    yield make
    for lab in labs:
        lab.close()


def asked(lab, budget=20_000, until=lambda race: race.get("doing") == ""):
    """What the page has been sent once `until` holds, after it asked."""
    done = threading.Event()
    lab.observe(lambda change: done.set() if until(change["new"]) else None, "race")
    send(lab, {"kind": "race", "scene": lab.scene, "budget": budget})
    assert done.wait(60)
    return json.loads(json.dumps(lab.race))


@pytest.mark.parametrize("by", ["avg", "all", "worst"])
def test_it_is_the_race_of_the_functions_on_show_under_the_weights_on_show(made, by):
    lab = made(CLIENTS, GENERATORS, "fid")
    lab.scene = {**lab.scene, "weights": [0.8, 0.2], "by": by}
    sent = asked(lab)
    clients = nm.Federation(CLIENTS).with_weights([0.8, 0.2])
    race = nm.race(clients, {"near": NEAR, "far": FAR}, "fid", by, budget=20_000)
    assert sent["reason"] == race.reason and sent["noise"] == race.clients_noise and sent["label"] == f"FID-{by}"
    assert sent["spent"] == sum(race.draws.values()) and sent["left_out"] == ["rows"]
    columns = ["score", "low", "high", "draws"]
    assert [[look[name] for name in columns] for look in sent["looks"]] == race.table[columns].to_numpy().tolist()
    assert [look["state"] for look in sent["looks"]] == race.table["state"].tolist()


def test_the_race_is_by_the_metric_of_the_dashboard_and_not_by_its_name(made):
    own = nm.metrics.KID(nm.RandomFeatures(nm.RBF(1.5), 64))  # no rows against rows
    sent = asked(made(CLIENTS, GENERATORS, own))
    race = nm.race(CLIENTS, {"near": NEAR, "far": FAR}, own, "avg", budget=20_000)
    other = nm.race(CLIENTS, {"near": NEAR, "far": FAR}, "kid", "avg", budget=20_000)
    assert sent["reason"] == race.reason != other.reason


def test_those_with_a_distribution_for_each_client_race_by_intra(made):
    good, bad = ({"a": lambda n, rng, m=m: rng.normal(m, 1, (n, 3)), "b": NEAR} for m in (0.0, 2.0))
    lab = made(CLIENTS, {"good": good, "bad": bad, "near": NEAR}, "fid")
    assert {name for name, facts in lab.board["generators"].items() if facts.get("draws")} == {"good", "bad", "near"}
    sent = asked(lab)
    assert (sent["by"], sent["left_out"]) == ("intra", ["near"]) and sent["reason"].startswith(
        "good is best by FID-intra"
    )


def test_stop_ends_it_after_the_present_draws_and_keeps_what_came(made):
    lab = made(CLIENTS, {"near": NEAR, "twin": TWIN}, "fid")

    def stop(change):
        if change["new"].get("looks"):
            send(lab, {"kind": "stop race"})

    lab.observe(stop, "race")
    sent = asked(lab)
    assert sent["reason"] == "The race was interrupted, and FID-avg does not tell near and twin apart by then."
    assert sent["looks"] and 0 < sent["spent"] < 20_000


def test_a_race_that_ends_before_its_first_look_says_so(made):
    lab = made(CLIENTS, {"near": NEAR, "twin": TWIN}, "fid")

    def stop(change):
        if change["new"].get("doing") == "The clients are summarized":
            send(lab, {"kind": "stop race"})

    lab.observe(stop, "race")
    sent = asked(lab)
    assert sent["reason"] == "The race was interrupted before its first look." and sent["looks"] == []


def test_a_budget_that_is_none_is_refused(made):
    lab = made(CLIENTS, {"near": NEAR, "far": FAR}, "fid")
    for budget in (10, None, "many", 2e9, 1.5, float("nan")):
        lab.race = {}
        assert "budget" in asked(lab, budget, lambda race: bool(race.get("error")))["error"], budget


def test_without_two_functions_and_with_other_metrics_it_says_why(made):
    lab = made(CLIENTS, {"near": NEAR, "rows": GENERATORS["rows"]}, "fid")
    assert "Give functions" in asked(lab, until=lambda race: bool(race.get("error")))["error"]
    lab = nm.Dashboard(CLIENTS, {"near": NEAR, "far": FAR}, "precision")  # whose intervals take a minute here
    assert "no influence values" in asked(lab, until=lambda race: bool(race.get("error")))["error"]
    lab.close()
    table = nm.Dashboard.from_table({"a": [1.0, 2.0], "b": [2.0, 1.0]})
    assert "only scores" in asked(table, until=lambda race: bool(race.get("error")))["error"]
    table.close()


def test_what_can_be_drawn_anew():
    by_function = nm.Generator.by_client(lambda client, n, rng: rng.normal(size=(n, 2)))
    by_rows = nm.Generator.by_client({"a": np.zeros((3, 2)), "b": nm.Gaussian([0, 0])})
    wanted = {by_function: True, by_rows: False, nm.Generator(NEAR): True, nm.Generator(nm.Gaussian([0, 0])): False}
    assert {generator: draws_anew(generator) for generator in wanted} == wanted
