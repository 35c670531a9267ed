"""Clients are regrouped in a Dashboard: scores are evaluate's, and undo goes back to the former clients exactly."""

import json
import threading
import zlib

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.dashboard.changes import Change
from nbmetrics.labs.dashboard.comparison import MAX_COMPARISONS_KEPT, ComparisonCache
from nbmetrics.labs.dashboard.federation_comparison import FederationComparison
from tests.labs.inside import answer, scene_of, send, study_of
from tests.labs.toolkit.test_share import packed_bytes

RNG = np.random.default_rng(15)
SIZES = {"north": 60, "south": 40, "isle": 20}


def federation(weight=lambda name: None):
    made = [
        nm.Client(RNG.normal(k, 1, (n, 2)), labels=np.arange(n) % 2, name=name, weight=weight(name))
        for k, (name, n) in enumerate(SIZES.items())
    ]
    return nm.Federation(made)


CLIENTS = federation()
GENERATORS = {"near": RNG.normal(0.5, 1.2, (80, 2)), "far": RNG.normal(3, 1, (80, 2))}


@pytest.fixture
def lab():
    made = nm.Dashboard(CLIENTS, GENERATORS)
    yield made
    made.close()


def known_of(lab):
    """All that the page shows, without the numbers of edits."""
    lab.wait()
    answer(lab, scene_of(lab))
    return json.dumps([lab.board, lab.draws, {**lab.result, "rev": 0}, {**lab.scene, "rev": 0}])


def test_scores_are_those_of_evaluate_on_the_same_federation(lab):
    lab.regroup(merge={"coast": ["isle", "south"]})
    wanted = nm.evaluate(CLIENTS.merge("coast", ["isle", "south"]), GENERATORS, uncertainty=nm.Influence())
    assert lab.scores.names == ("north", "coast")
    for found, own in ((lab.table, wanted.table), (lab.scores.clients, wanted.clients)):
        numbers = own.select_dtypes("number").columns
        np.testing.assert_allclose(found[numbers], own[numbers], rtol=1e-9, atol=1e-12)
    assert [client["name"] for client in lab.board["clients"]] == ["north", "coast"]
    assert lab.board["regroup"] == lab.scene["regroup"]


def test_undo_and_redo_bring_back_the_same_numbers_and_compute_nothing_again(lab, monkeypatch):
    lab.scene = {**lab.scene, "weights": [0.2, 0.7, 0.1], "held": ["south"], "client": "isle", "generator": "far"}
    before, study = known_of(lab), study_of(lab)
    lab.regroup(merge={"coast": ["isle", "south"]})
    assert lab.scene["weights"] == pytest.approx([0.2, 0.8])
    assert (lab.scene["held"], lab.scene["client"], lab.scene["generator"]) == ([], "", "far")
    after = known_of(lab)
    steps = []
    monkeypatch.setattr(type(study), "after", lambda *_: steps.append("remade"))
    for _ in range(2):
        lab.undo()
        assert study_of(lab) is study and study.next_step() is None and known_of(lab) == before
        lab.redo()
        assert study_of(lab).next_step() is None and known_of(lab) == after
    assert not steps


def test_one_call_does_all_in_order_and_is_one_step_back(lab):
    lab.scene = {**lab.scene, "weights": [0.5, 0.3, 0.2]}
    lab.regroup(split="south", merge={"rest": ["south: 1", "isle"]}, drop=["north"])
    assert [client["name"] for client in lab.board["clients"]] == ["south: 0", "rest"]
    assert scene_of(lab).shares == pytest.approx([0.15 / 0.5, 0.35 / 0.5])
    assert lab.scores.names == ("south: 0", "rest")
    lab.undo()
    assert lab.scores.names == ("north", "south", "isle") and not lab.scene["regroup"]


@pytest.mark.threads
def test_weights_do_not_change_while_another_thread_looks_for_the_next_step(monkeypatch):
    """The thread that answers brings new weights while the one that fills is between two looks at them."""
    comparison, other = FederationComparison(CLIENTS, GENERATORS, ["fid", "kid"], None), []
    while (step := comparison.next_step()) is not None:
        step()
    filling = comparison._filling
    towards_all = filling._step_towards_all

    def then_answer(name, metric):
        step = towards_all(name, metric)
        if not other and (name, metric) == ("far", "kid"):
            comparison.wanted = (0.2, 0.3, 0.5)
            other.append(threading.Thread(target=comparison.next_step))
            other[0].start()
            other[0].join(0.2)
        return step

    monkeypatch.setattr(filling, "_step_towards_all", then_answer)
    assert comparison.next_step() is None
    other[0].join()
    assert comparison.next_step() is not None, "of the new weights"


@pytest.mark.threads
def test_weights_that_change_while_they_are_taken_are_taken_next():
    class Restless(FederationComparison):
        """Other weights are wanted at each look."""

        wanted = property(lambda self: next(self.looks, (0.2, 0.3, 0.5)), lambda self, weights: None)
        looks = iter([(0.5, 0.3, 0.2), (0.1, 0.1, 0.8)])

    comparison = Restless(CLIENTS, GENERATORS, ["fid"], None)
    comparison.tree = object()
    comparison.next_step()
    assert comparison._current_weights == comparison._filling.weights


def test_a_class_moves_with_its_rows_and_their_weight(lab):
    lab.regroup(move=(1, "north", "isle"))
    moved = CLIENTS.move_class(1, "north", "isle")
    assert moved.describe()[["n", "share of 1"]].values.tolist() == [[30, 0], [40, 0.5], [50, 0.8]]
    assert scene_of(lab).shares == pytest.approx([30 / 120, 40 / 120, 50 / 120]) == moved.weights
    assert lab.scores.values("fid").all == pytest.approx(nm.evaluate(CLIENTS, GENERATORS, "fid").values("fid").all)
    given = federation(lambda name: 0.3).move_class("1", "north", "isle")
    assert given.weights == pytest.approx([0.15 / 0.9, 0.3 / 0.9, 0.45 / 0.9])
    for label, source, target in ((7, "north", "isle"), (1, "north", "north"), (1, "nobody", "isle")):
        with pytest.raises(nm.InvalidInput):
            CLIENTS.move_class(label, source, target)
    with pytest.raises(nm.InvalidInput, match="no other class"):
        moved.move_class(0, "north", "south")


def test_generators_that_come_later_are_scored_with_the_clients_before_too(lab):
    lab.regroup(drop="isle")
    lab.attach("late", GENERATORS["near"] + 0.1)
    assert lab.scores.generators == ("near", "far", "late")
    lab.scene = {**lab.scene, "regroup": [], "weights": [1, 1, 1]}
    assert lab.scores.names == ("north", "south", "isle") and lab.scores.generators == ("near", "far", "late")
    lab.regroup(drop="isle")
    lab.remove("late"), lab.attach("late", GENERATORS["near"] + 9)
    assert lab.table.query("generator == 'late' and metric == 'fid'")["avg"].item() > 50


def test_share_strings_and_code_carry_it(lab):
    lab.regroup(merge={"coast": ["isle", "south"]}, split="north")
    other = nm.Dashboard(CLIENTS, GENERATORS)
    other.from_share(lab.share())
    given = {"federation": CLIENTS, "generators": GENERATORS}
    exec(lab.to_code(), given)
    for made in (other, given["lab"]):
        assert {**made.scene, "rev": 0} == {**lab.scene, "rev": 0} and known_of(made) == known_of(lab)
        made.close()
    old = {field: part for field, part in lab.presets["As given"].items() if field != "regroup"}
    assert lab._state.parse(old).regroup == (), "a string from before there was such a field"


DROP = {"do": "drop", "clients": ["isle"], "name": ""}


HOSTILE = [
    None,
    "drop",
    [DROP] * 51,
    [{"do": "drop"}],
    [{**DROP, "more": 1}],
    [{**DROP, "do": "explode"}],
    [{**DROP, "clients": []}],
    [{**DROP, "clients": "isle"}],
    [{**DROP, "clients": ["isle", "isle"]}],
    [{**DROP, "clients": ["nobody"]}],
    [{**DROP, "clients": ["__class__"]}],
    [{**DROP, "name": "n" * 10_000}],
    [{**DROP, "clients": list(SIZES)}],
    [DROP, DROP],
    [{"do": "merge", "clients": ["isle"], "name": "m"}],
    [{"do": "merge", "clients": ["isle", "south"], "name": ""}],
    [{"do": "merge", "clients": ["isle", "south"], "name": "north"}],
    [{"do": "split", "clients": ["isle", "south"], "name": ""}],
    [{"do": "move", "clients": ["isle", "south"], "name": "none of these"}],
    [DROP, {"do": "split", "clients": ["isle"], "name": ""}],
    [DROP],  # three weights for two clients
]


def test_hostile_strings_are_refused_and_nothing_has_changed(lab):
    before = lab.scene
    for regroup in HOSTILE:
        text = packed_bytes("Dashboard", zlib.compress(json.dumps({**before, "regroup": regroup}).encode()))
        with pytest.raises(nm.InvalidInput):
            lab.from_share(text)
        with pytest.raises(nm.InvalidInput):
            lab.scene = {**before, "regroup": regroup}
        assert lab.scene == before and not lab.history["past"]


def test_what_cannot_be_done_is_refused_in_words_and_nothing_has_changed(lab):
    before = lab.scene
    for given, said in (
        ({}, "changes nothing"),
        ({"merge": ["a"]}, "merge"),
        ({"merge": {"m": "isle"}}, "merge"),
        ({"drop": list(SIZES)}, "Keep at least one"),
        ({"split": "nobody"}, "nobody"),
        ({"move": "isle"}, "move"),
        ({"move": [(1, "isle")]}, "move"),
        ({"move": (5, "isle", "north")}, "Its classes are 0, 1"),
    ):
        with pytest.raises(nm.InvalidInput, match=said):
            lab.regroup(**given)
    send(lab, {"kind": "regroup", "change": {"do": "drop", "clients": ["nobody"], "name": ""}})
    assert "nobody" in lab.result["error"]["message"]
    assert lab.scene == before and not lab.history["past"]
    table = nm.Dashboard.from_table({"a": [1.0, 2.0]})
    with pytest.raises(nm.InvalidInput, match="no rows to regroup"):
        table.regroup(drop="0")
    assert table.scene["regroup"] == []
    table.close()


def test_a_page_asks_for_it_and_undoes_it_by_itself(lab):
    before = lab.scene
    send(lab, {"kind": "regroup", "change": DROP})
    assert [client["name"] for client in lab.board["clients"]] == ["north", "south"]
    lab.set_state({"scene": {**before, "rev": lab.scene["rev"] + 1}})
    answer(lab, scene_of(lab))
    assert [client["name"] for client in lab.board["clients"]] == list(SIZES) and lab.board["regroup"] == []
    assert lab.result["regroup"] == [] and len(lab.result["weights"]) == 3


def test_a_few_studies_are_kept_and_the_others_made_again(lab):
    studies = ComparisonCache(study_of(lab))
    drops = [(Change("drop", (name,)),) for name in SIZES]
    more = [(Change("split", (name,)),) for name in SIZES]
    first = studies.of(drops[0])
    for changes in (*drops[1:], *more[: MAX_COMPARISONS_KEPT - 3]):
        studies.of(changes)
    assert studies.of(drops[0]) is first
    for changes in (*drops[1:], *more):
        studies.of(changes)
    assert studies.of(drops[0]) is not first and studies.of(()) is study_of(lab)
    assert studies.names(drops[0]) == ("south", "isle")


def test_a_function_is_not_called_again_for_other_clients():
    calls = []

    def drawn(n, rng):
        calls.append(n)
        return rng.normal(0.5, 1, (n, 2))

    made = nm.Dashboard(CLIENTS, {"drawn": drawn, "far": GENERATORS["far"]}, "fid")
    before = len(calls)
    made.regroup(drop="isle")
    assert made.wait() and len(calls) == before
    wanted = nm.evaluate(CLIENTS.drop("isle"), {"drawn": drawn, "far": GENERATORS["far"]}, "fid")
    assert made.scores.values("fid").avg == pytest.approx(wanted.values("fid").avg, rel=1e-9)
    made.close()


def test_studies_that_take_much_memory_are_fewer(lab, monkeypatch):
    studies, changes = ComparisonCache(study_of(lab)), [(Change("drop", (name,)),) for name in SIZES]
    monkeypatch.setattr(type(study_of(lab)), "bytes", 0.6e9)
    kept = [studies.of(one) for one in changes[:2]]
    assert studies.of(changes[1]) is kept[1] and studies.of(changes[0]) is not kept[0]
