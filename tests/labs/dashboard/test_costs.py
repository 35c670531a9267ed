"""What each score costs and reveals, on the Dashboard's board: the bytes that would really be sent."""

import numpy as np

import nbmetrics as nm
from nbmetrics.evaluation.influence import Influences
from nbmetrics.labs.dashboard.federation_comparison import costs

RNG = np.random.default_rng(0)
CLIENTS = {"north": RNG.normal(0, 1, (120, 3)), "south": RNG.normal(1, 1, (7, 3))}
GENERATORS = {"near": RNG.normal(0.5, 1, (90, 3)), "far": RNG.normal(3, 1, (90, 3))}


def test_the_board_has_the_bytes_that_a_client_would_send():
    lab = nm.Dashboard(CLIENTS, GENERATORS, ("fid", "kid", "precision"))
    lab.wait()
    rows = {(row["metric"], row["aggregate"]): row for row in lab.board["ledger"]}
    assert list(rows) == [(m, a) for m in ("FID", "KID", "Precision") for a in ("avg", "all")]
    for metric, label in (("fid", "FID"), ("kid", "KID")):
        sent = [len(nm.federated.client_summary(client, metric, min_rows=1)) for client in CLIENTS.values()]
        made = [len(nm.federated.client_summary(source, metric)) for source in GENERATORS.values()]
        assert rows[label, "all"]["up"] == [min(sent), max(sent)] and rows[label, "all"]["down"] == [0, 0]
        assert rows[label, "avg"]["up"] == [16, 16] and rows[label, "avg"]["down"] == [sum(made)] * 2
        assert rows[label, "avg"]["reveals"] == "one number per generator"
    every = rows["Precision", "all"]
    assert "row" in every["reveals"] and every["up"][1] > 120 * 3 * 8
    down = rows["FID", "avg"]["down"]
    lab.attach("third", GENERATORS["near"][:50])
    lab.wait()
    (now,) = [row for row in lab.board["ledger"] if (row["metric"], row["aggregate"]) == ("FID", "avg")]
    assert now["down"][0] > down[0] and now["up"] == [24, 24]
    lab.close()


def test_a_generator_that_is_exchanged_is_priced_anew():
    study = nm.Dashboard(CLIENTS, GENERATORS, "precision")._comparison

    def down():
        while (step := study.next_step()) is not None:
            step()
        return study.ledger[0]["down"][0]

    before = down()
    study.remove("far")
    study.add("far", GENERATORS["far"][:50])
    assert 0 < down() < before


def test_a_table_of_scores_has_no_ledger():
    lab = nm.Dashboard.from_table({"near": [0.1, 0.2], "far": [0.4, 0.5]})
    assert "ledger" not in lab.board
    lab.close()


def test_what_scores_cost_needs_no_interval(monkeypatch):
    """Those of the Dashboard are made pair by pair elsewhere: here they would all be made once more."""
    scores = nm.evaluate(CLIENTS, GENERATORS, "fid", uncertainty=nm.Influence(), progress=False)
    monkeypatch.setattr(Influences, "spread", lambda *_: 1 / 0)
    assert [(row["metric"], row["aggregate"]) for row in costs(scores)] == [("FID", "avg"), ("FID", "all")]
