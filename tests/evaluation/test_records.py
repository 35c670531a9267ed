"""Records are flat, plain JSON, and say what the table says and how it was made."""

import json
import math

import numpy as np
import pytest

import nbmetrics as nm

RNG = np.random.default_rng(0)
CLIENTS = {"a": RNG.normal(size=(60, 2)), "b": RNG.normal(1, 1, (30, 2))}
OWN = {"a": RNG.normal(size=(40, 2)), "b": RNG.normal(1, 1, (40, 2))}


@pytest.mark.parametrize("uncertainty", [None, nm.Influence()])
@pytest.mark.parametrize("own", [False, True])
def test_they_are_the_rows_of_the_table_with_conventions(uncertainty, own):
    generators = {"g": RNG.normal(size=(50, 2)), **({"h": nm.Generator.by_client(OWN)} if own else {})}
    scores = nm.evaluate(CLIENTS, generators, ["fid", "kid"], uncertainty=uncertainty, progress=False)
    records = scores.to_records()
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    rows = scores.table.to_dict("records")
    assert [(r["generator"], r["metric"]) for r in records] == [(r["generator"], r["metric"]) for r in rows]
    for record, row in zip(records, rows, strict=True):
        assert not any(isinstance(value, (dict, list)) for value in record.values())
        assert {key: record[key] for key in row} == row and ("intra" in record) is own
        assert (record["intervals"] is None) is (uncertainty is None)
        assert record["convention"] == scores.result(record["metric"]).convention
        assert (record["weight/a"], record["weight/b"], record["clients"]) == (2 / 3, 1 / 3, 2)
        assert record["nbmetrics"] == nm.__version__ and record["date"] == scores.provenance["date"]
        assert record["cautions"].splitlines() == scores.cautions and record["higher_is_better"] is False


def test_a_generator_beside_runs_of_models_has_no_group():
    generators = {"ddpm": [OWN["a"], OWN["b"]], "alone": CLIENTS["a"] + 1}
    records = nm.evaluate(CLIENTS, generators, "fid", progress=False).to_records()
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    assert [record["group"] for record in records] == ["ddpm", "ddpm", None]


@pytest.mark.parametrize("clients", [False, True])
def test_csv_of_a_generator_beside_runs_of_models(clients, tmp_path):
    generators = {"=ddpm": [OWN["a"], OWN["b"]], "alone": CLIENTS["a"] + 1}
    path = nm.evaluate(CLIENTS, generators, "fid", progress=False).to_csv(tmp_path / "a.csv", clients=clients)
    groups = [line.split(",")[1] for line in path.read_text().splitlines()[1:]]
    assert sorted(set(groups)) == ['""', '"\'=ddpm"']


def test_what_has_no_value_is_none_and_a_saved_table_gives_the_same(tmp_path):
    few = {"a": CLIENTS["a"], "b": CLIENTS["b"][:3]}
    scores = nm.evaluate(few, {"g": OWN["a"]}, ["fid", "precision"], progress=False)
    records = scores.to_records()
    assert math.isnan(scores.table["avg"][1]) and records[1]["avg"] is None and records[0]["avg"] > 0
    assert "client 'b'" in records[0]["cautions"] and records[1]["higher_is_better"] is True
    assert nm.Scores.open(scores.save(tmp_path / "scores.json")).to_records() == records
