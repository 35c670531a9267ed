"""The card of what two generators disagree about: what Python sends is `Scores.disagreement`, and only when asked."""

import json
import threading

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.labs.dashboard.disagreement import largest_first, pair_of
from tests.labs.inside import send

RNG = np.random.default_rng(5)
CENTERS = {"a": 0.0, "b": 6.0, "c": 12.0}
CLIENTS = {name: RNG.normal(center, 1.0, (60, 3)) for name, center in CENTERS.items()}
GENERATORS = {
    "no c": np.concatenate([RNG.normal(center, 1.0, (60, 3)) for center in (0.0, 6.0)]),
    "even": np.concatenate([RNG.normal(center, 1.0, (40, 3)) for center in CENTERS.values()]),
}


def asked(lab):
    """What the page is sent once it asks."""
    done = threading.Event()
    lab.observe(lambda change: done.set() if change["new"].get("doing") == "" else None, "disagreement")
    send(lab, {"kind": "disagreement", "scene": lab.scene})
    assert done.wait(60)
    return json.loads(json.dumps(lab.disagreement))


def test_the_page_gets_the_modes_of_the_two_leaders_only_when_it_asks():
    lab = nm.Dashboard(CLIENTS, GENERATORS, "fid")
    lab.wait()
    assert lab.disagreement == {}
    sent = asked(lab)
    table = lab.scores.disagreement(*sent["pair"], "fid", most=6)
    shown = table[(table["first"] > 0) | (table["second"] > 0)]
    shown = shown.loc[(shown["all_change"] - shown["avg_change"]).abs().sort_values(ascending=False).index]
    assert sent["order"] == "apart" and len(shown) > 2
    assert [mode["name"] for mode in sent["modes"]] == shown["mode"].tolist()
    assert [mode["avg"] for mode in sent["modes"]] == pytest.approx(shown["avg_change"].tolist(), rel=1e-9)
    assert [mode["clients"] for mode in sent["modes"]] == shown[list(CLIENTS)].to_numpy().tolist()
    largest = sent["modes"][0]
    assert int(np.argmax(largest["clients"])) == 2  # the one that a generator lacks
    assert all("picture" not in row for row in largest["rows"]) and len(largest["features"]) == 3
    lab.close()


def test_what_changes_avg_and_all_alike_stands_by_the_size_of_the_change():
    lab = nm.Dashboard(CLIENTS, GENERATORS, "kid")
    lab.wait()
    sent = asked(lab)
    sizes = [abs(mode["avg"]) for mode in sent["modes"]]
    assert sent["order"] == "change" and len(sizes) > 2 and sizes == sorted(sizes, reverse=True)
    lab.close()


@pytest.mark.parametrize(
    ("by_avg", "by_all", "by", "places"),
    [
        ([1.0, np.nan, -2.0, 5.0], [1.5, np.nan, 2.0, 5.0], "apart", [2, 0, 3, 1]),
        ([1.0, np.nan, -2.0, 5.0], [1.0, np.nan, -2.0, 5.0 + 1e-15], "change", [3, 2, 0, 1]),
        ([np.nan, np.nan], [np.nan, np.nan], "change", [0, 1]),
        ([], [], "change", []),
    ],
)
def test_modes_of_unknown_change_are_last(by_avg, by_all, by, places):
    found, modes = largest_first(pd.DataFrame({"avg_change": by_avg, "all_change": by_all}))
    assert (found, modes.index.tolist()) == (by, places)


def test_clients_may_have_the_names_of_columns():
    lab = nm.Dashboard(dict(zip(("real", "rows", "mode"), CLIENTS.values(), strict=True)), GENERATORS, "fid")
    lab.wait()
    largest = asked(lab)["modes"][0]
    assert int(np.argmax(largest["clients"])) == 2 and max(largest["clients"]) > 0.3
    lab.close()


@pytest.mark.slow
def test_other_metrics_and_tables_say_why_there_are_none():
    lab = nm.Dashboard(CLIENTS, GENERATORS, "precision")
    lab.wait()
    assert "no influence values" in asked(lab)["error"]
    lab.close()
    table = nm.Dashboard.from_table({"a": [1.0, 2.0], "b": [2.0, 1.0]})
    assert "only scores" in asked(table)["error"]
    table.close()


def test_the_pair_is_the_two_that_win_or_the_winner_and_the_next():
    names = ("x", "y", "z")
    assert pair_of(names, "", np.array([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 2.0])) == ("x", "y")
    assert pair_of(names, "", np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])) == ("x", "z")
    assert pair_of(names, "y", np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])) == ("x", "y")
