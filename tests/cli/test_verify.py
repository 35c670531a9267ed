"""`nbmetrics verify`: a report's numbers come out again of its data, and of no other."""

import json

import numpy as np
import pytest

REPORT = "report.json"


@pytest.fixture
def report(features, run, tmp_path):
    """A report on two generators, with intervals, and a store beside it."""
    words = ("--uncertainty", "influence", "--seed", "3", "--json", REPORT, "--store", "store", "--quiet")
    assert run("score", "real", "narrow.npy", "wide.npy", *words)[0] == 0
    return tmp_path / REPORT


def test_the_same_data_give_the_same_numbers_in_any_order(report, run):
    code, out, _ = run("verify", REPORT, "real", "wide.npy", "narrow.npy", "--quiet")
    assert (code, out) == (0, "80 of 80 numbers come out again, to 7 digits.\n")


@pytest.mark.parametrize("words", [("--uncertainty", "bootstrap"), ("--uncertainty", "influence", "--samples", "40")])
def test_what_is_drawn_comes_out_in_any_order_too(features, run, words):
    assert run("score", "real", "narrow.npy", "wide.npy", *words, "--json", REPORT, "--quiet")[0] == 0
    code, out, _ = run("verify", REPORT, "real", "wide.npy", "narrow.npy", "--quiet")
    assert code == 0, out


def test_one_row_that_differs_is_told_by_number(report, run, features, tmp_path):
    rows = features["narrow"].copy()
    rows[7, 1] += 1e-3
    np.save(tmp_path / "narrow.npy", rows)
    code, out, _ = run("verify", REPORT, "real", "narrow.npy", "wide.npy", "--quiet")
    assert code == 3
    assert "fid avg of narrow:" in out and "of wide:" not in out


def test_a_number_that_was_changed_in_the_report_is_found(report, run):
    content = json.loads(report.read_text())
    content["table"][0]["avg"] *= 1.001
    report.write_text(json.dumps(content))
    code, out, _ = run("verify", REPORT, "real", "narrow.npy", "wide.npy", "--quiet")
    assert code == 3
    assert out.startswith("79 of 80 numbers")


def test_words_of_a_report_are_one_line_without_escapes(report, run):
    content = json.loads(report.read_text())
    content["versions"]["nbmetrics"] = "0\x1b[31m\n80 of 80 numbers come out again"
    report.write_text(json.dumps(content))
    out = run("verify", REPORT, "real", "narrow.npy", "wide.npy", "--quiet")[1]
    assert len(out.splitlines()) == 2 and "\x1b" not in out


def test_what_is_only_rounding_or_has_no_score_comes_out(features, run, tmp_path):
    np.save(tmp_path / "real" / "one.npy", np.zeros((1, 2)))
    np.save(tmp_path / "copy.npy", features["real/north"])
    words = ("--metrics", "fid,vendi", "--quiet")
    assert run("score", "real", "copy.npy", *words, "--json", REPORT)[0] == 0
    content = json.loads((tmp_path / REPORT).read_text())
    for row in content["by_client"]:
        if row["metric"] == "fid" and row["client"] == "north":
            assert abs(row["value"]) < 1e-9
            row["value"] = 1.5e-14
    (tmp_path / REPORT).write_text(json.dumps(content))
    assert run("verify", REPORT, "real", "copy.npy", "--quiet")[0] == 0


def test_another_version_is_told(report, run):
    content = json.loads(report.read_text())
    content["versions"]["nbmetrics"] = "0.0.0"
    report.write_text(json.dumps(content))
    assert "made by nbmetrics 0.0.0" in run("verify", REPORT, "real", "narrow.npy", "wide.npy", "--quiet")[1]


def test_other_generators_are_refused_by_name(report, run):
    code, _, err = run("verify", REPORT, "real", "narrow.npy", "--quiet")
    assert code == 2
    assert "of wide and fid" in err


@pytest.mark.parametrize(
    "change",
    [
        lambda content: [],
        lambda content: {**content, "options": {}},
        lambda content: {**content, "options": None},
        lambda content: {**content, "options": {**content["options"], "seed": -1}},
        lambda content: {**content, "options": {**content["options"], "metrics": 7}},
        lambda content: {**content, "table": [1]},
        lambda content: {**content, "table": [{**content["table"][0], "avg": "x"}]},
        lambda content: {**content, "versions": 3},
        lambda content: {**content, "table": [{"generator": "wide", "metric": "fid"}], "by_client": []},
        lambda content: {**content, "table": [*content["table"], {**content["table"][0], "avg": 99.0}]},
        lambda content: {**content, "by_client": []},
        lambda content: {name: part for name, part in content.items() if name != "table"},
    ],
)
def test_a_report_written_by_hand_is_refused(report, run, change):
    report.write_text(json.dumps(change(json.loads(report.read_text()))))
    code, _, err = run("verify", REPORT, "real", "narrow.npy", "wide.npy", "--quiet")
    assert code == 2
    assert "REPORT" in err and "Traceback" not in err


def test_paths_and_downloads_of_a_report_are_not_used(report, run):
    content = json.loads(report.read_text())
    content["options"] |= {
        "clients": "/nowhere",
        "generated": ["/nowhere"],
        "download": True,
        "json": "/nowhere/x.json",
    }
    report.write_text(json.dumps(content))
    assert run("verify", REPORT, "real", "narrow.npy", "wide.npy", "--quiet")[0] == 0


def test_a_store_computes_what_is_missing_and_a_folder_that_is_none_is_refused(report, run, tmp_path):
    again = run("score", "real", "narrow.npy", "wide.npy", "--json", "again.json", "--store", "store", "--quiet")
    assert again[0] == 0
    assert json.loads((tmp_path / "again.json").read_text())["provenance"]["store"] == {"found": 12, "computed": 0}
    code, _, err = run("score", "real", "narrow.npy", "--store", "real", "--quiet")
    assert code == 2
    assert "contains other files and is not a store" in err
