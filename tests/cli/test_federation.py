"""summarize, aggregate, inspect: sites and a server that have nothing but the commands and files between them."""

import json
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

import nbmetrics as nm

SITES = ("north", "south")


@pytest.fixture
def sent(features, run):
    """The summaries of both sites."""
    for name in SITES:
        assert run("summarize", f"real/{name}.npy", "--out", f"{name}.nbs")[0] == 0


def test_sites_and_server_as_processes_give_the_numbers_of_all_rows(features, tmp_path):
    def command(*words):
        subprocess.run([sys.executable, "-m", "nbmetrics", *words], cwd=tmp_path, check=True, capture_output=True)

    for name in SITES:
        command("summarize", f"real/{name}.npy", "--out", f"{name}.nbs")
    command("aggregate", "north.nbs", "south.nbs", "--generators", "narrow.npy", "wide.npy", "--json", "out.json")
    report = json.loads((tmp_path / "out.json").read_text())
    rows = {name: features[f"real/{name}"] for name in SITES}
    scores = nm.evaluate(rows, {name: features[name] for name in ("narrow", "wide")})
    for row, expected in zip(report["table"], scores.table.to_dict("records"), strict=True):
        assert row["generator"] == expected["generator"]
        assert [row["avg"], row["all"]] == pytest.approx([expected["avg"], expected["all"]], rel=1e-10, abs=1e-12)
    assert report["clients"] == [{"name": name, "path": f"{name}.nbs", "rows": 400, "weight": 0.5} for name in SITES]


def test_what_is_sent_is_told_in_words(features, run, sent):
    code, out, _ = run("inspect", "north.nbs")
    assert code == 0
    assert "A summary of 400 rows with 2 features" in out
    assert "fid: mean and covariance, 5 numbers of 8 bytes" in out
    assert "Without noise: fid, kid. Whoever knows all rows but one can compute that one." in out
    assert "neither signed nor encrypted" in out and "its checksum is right" in out
    assert run("summarize", "real/north.npy", "--out", "again.nbs")[1].splitlines()[:-1] == out.splitlines()


def test_few_rows_are_told(run, tmp_path):
    np.save(tmp_path / "few.npy", np.random.default_rng(0).normal(size=(12, 20)))
    with pytest.warns(nm.federated.FewRowsWarning):
        data = nm.federated.client_summary(np.load(tmp_path / "few.npy"), "fid")
    (tmp_path / "few.nbs").write_bytes(data)
    assert "So few rows can be rebuilt from these numbers" in run("inspect", "few.nbs")[1]


def test_noise_is_told_and_spent_until_the_budget_is_gone(features, run, tmp_path):
    words = ("summarize", "real/north.npy", "--sigma", "2", "--epsilon", "1", "--clip", "5", "--account", "n.account")
    code, out, _ = run(*words, "--budget", "1.5", "--out", "one.nbs")
    assert code == 0
    assert "Each row is protected: ε = 1, δ = 1e-06" in out and "rows clipped to norm 5" in out
    assert nm.federated.Account.open(tmp_path / "n.account").spent == pytest.approx(1.0, rel=1e-6)
    assert run(*words, "--out", "two.nbs")[0] == 0
    code, _, err = run(*words, "--out", "three.nbs")
    assert code == 2 and "would spend ε" in err
    assert not (tmp_path / "three.nbs").exists()
    code, out, _ = run("aggregate", "one.nbs", "two.nbs", "--generators", "wide.npy", "--sigma", "2")
    assert code == 0 and "ε = 1, δ = 1e-06" in " ".join(out.split())


def test_a_site_that_sent_an_exact_distribution_is_reported_with_no_rows(features, run, tmp_path):
    (tmp_path / "law.nbs").write_bytes(nm.federated.client_summary(nm.Gaussian(np.zeros(2)), "fid"))
    code, _, err = run("aggregate", "law.nbs", "--generators", "wide.npy", "--metrics", "fid", "--json", "o.json")
    assert code == 0, err
    report = json.loads((tmp_path / "o.json").read_text())
    assert report["clients"] == [{"name": "law", "path": "law.nbs", "rows": 0, "weight": 1.0}]


def test_images_of_a_site_become_rows(folder, run, tmp_path):
    images = folder("site", 90, 30)
    assert run("summarize", "site", "--extractor", "pixels", "--metrics", "fid", "--out", "s.nbs", "--quiet")[0] == 0
    rows = images.reshape(len(images), -1) / np.float32(255)
    np.save(tmp_path / "g.npy", rows)
    run("aggregate", "s.nbs", "--generators", "g.npy", "--metrics", "fid", "--json", "o.json")
    assert json.loads((tmp_path / "o.json").read_text())["table"][0]["all"] == pytest.approx(0.0, abs=1e-10)


WRONG = [
    ("summarize",),
    ("summarize", "real/north.npy"),
    ("summarize", "missing.npy", "--out", "x.nbs"),
    ("summarize", "real/north.npy", "--out", "x.npy"),
    ("summarize", "real/north.npy", "--out", "missing/x.nbs"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--metrics", "precision"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--metrics", "nothing"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--metrics", ","),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--epsilon", "0"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--epsilon", "nan"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--epsilon", "1"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--epsilon", "1", "--metrics", "fid"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--clip", "1"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--account", "a"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--budget", "2"),
    (
        "summarize",
        "real/north.npy",
        "--out",
        "x.nbs",
        "--metrics",
        "fid",
        "--epsilon",
        "1",
        "--clip",
        "2",
        "--account",
        "a",
    ),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--metrics", "fid", "--sigma", "2"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--sigma", "-2"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--sigma", "2", "--count", "0"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--rank", "0"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--min-rows", "500"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--min-rows", "-1"),
    ("summarize", "real/north.npy", "--out", "x.nbs", "--precision", "float16"),
    ("summarize", "real", "--out", "x.nbs", "--extractor", "pixels"),
    ("aggregate",),
    ("aggregate", "north.nbs"),
    ("aggregate", "missing.nbs", "--generators", "wide.npy"),
    ("aggregate", "wide.npy", "--generators", "wide.npy"),
    ("aggregate", "north.nbs", "north.nbs", "--generators", "wide.npy"),
    ("aggregate", "north.nbs", "--generators", "missing.npy"),
    ("aggregate", "north.nbs", "--generators", "wide.npy", "--metrics", "precision"),
    ("aggregate", "north.nbs", "--generators", "wide.npy", "--sigma", "2"),
    ("aggregate", "north.nbs", "--generators", "wide.npy", "--json", "x.txt"),
    ("aggregate", "north.nbs", "--generators", "wide.npy", "--seed", "-1"),
    ("aggregate", "real", "--generators", "wide.npy"),
    ("inspect",),
    ("inspect", "missing.nbs"),
    ("inspect", "wide.npy"),
    ("inspect", "real"),
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_wrong_invocation_ends_with_one_line_and_writes_nothing(features, run, sent, tmp_path, words):
    before = {path for path in tmp_path.rglob("*") if path.name not in {"home", "features"}}
    with suppress(SystemExit):  # of argparse, whose usage comes before its line
        code, _, err = run(*words)
        assert code == 2
        assert len(err.splitlines()) == 1 and err.startswith("error: ")
    assert {path for path in tmp_path.rglob("*") if path.name not in {"home", "features"}} == before


def test_a_damaged_summary_is_refused_by_name(features, run, sent, tmp_path):
    whole, rng = (tmp_path / "north.nbs").read_bytes(), np.random.default_rng(0)
    for k in range(40):
        data = bytearray(whole)
        if k % 2:
            data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        else:
            del data[int(rng.integers(len(data))) :]
        (tmp_path / "north.nbs").write_bytes(data)
        code, _, err = run("aggregate", "north.nbs", "south.nbs", "--generators", "wide.npy")
        assert code == 2 and "north" in err
        assert run("inspect", "north.nbs")[0] == 2
