"""summarize, aggregate, inspect: sites and a server that have nothing but the commands and files between them."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import nbmetrics as nm
from tests import ROOT

SITES = ("north", "south")


@pytest.fixture
def sent(features, run):
    """The summaries of both sites."""
    for name in SITES:
        assert run("summarize", f"real/{name}.npy", "--out", f"{name}.nbs")[0] == 0


@pytest.mark.slow
def test_three_sites_and_a_server_as_processes_give_the_numbers_of_all_rows(features, tmp_path):
    def command(*words):
        return subprocess.Popen([sys.executable, "-m", "nbmetrics", *words], cwd=tmp_path, stdout=subprocess.DEVNULL)

    rows = {name: features[f"real/{name}"] for name in SITES}
    rows["west"] = np.random.default_rng(1).normal(size=(150, 2)) * [2, 1] - [0, 3]
    np.save(tmp_path / "real/west.npy", rows["west"])
    sites = [command("summarize", f"real/{name}.npy", "--out", f"{name}.nbs") for name in rows]
    assert [site.wait() for site in sites] == [0, 0, 0]
    sent = [f"{name}.nbs" for name in rows]
    assert command("aggregate", *sent, "--generators", "narrow.npy", "wide.npy", "--json", "out.json").wait() == 0
    report = json.loads((tmp_path / "out.json").read_text())
    scores = nm.evaluate(rows, {name: features[name] for name in ("narrow", "wide")})
    for row, expected in zip(report["table"], scores.table.to_dict("records"), strict=True):
        assert row["generator"] == expected["generator"]
        assert [row["avg"], row["all"]] == pytest.approx([expected["avg"], expected["all"]], rel=1e-10, abs=1e-12)
    described = [(client["name"], client["path"], client["rows"]) for client in report["clients"]]
    assert described == [("north", "north.nbs", 400), ("south", "south.nbs", 400), ("west", "west.nbs", 150)]
    assert [client["weight"] for client in report["clients"]] == pytest.approx([400 / 950, 400 / 950, 150 / 950])


@pytest.mark.parametrize("page", ["README.md", "docs/federated.md"])
def test_the_commands_of_the_pages_run_as_they_stand(features, run, tmp_path, page):
    np.save(tmp_path / "north.npy", features["real/north"])
    np.save(tmp_path / "gan.npy", features["wide"])
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
    lines = re.findall(r"^nbmetrics ((?:summarize|inspect|aggregate)[^#\n]*)", "\n".join(blocks), re.MULTILINE)
    assert len(lines) >= 4
    for line in lines:
        code, out, err = run(*line.replace("*.nbs", "north.nbs").split())
        assert (code, err) == (0, "") and out


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
    code, _, err = run("summarize", "few.npy", "--metrics", "fid", "--out", "few.nbs")
    assert code == 0 and err.startswith("warning: 12 rows with 20 features: ") and "add noise with --epsilon" in err
    assert "So few rows can be rebuilt from these numbers" in run("inspect", "few.nbs")[1]


def test_noise_is_told_and_spent_until_the_budget_is_gone(features, run, tmp_path):
    words = ("summarize", "real/north.npy", "--sigma", "2", "--epsilon", "1", "--clip", "5", "--account", "n.account")
    code, out, _ = run(*words, "--budget", "1.5", "--out", "one.nbs")
    assert code == 0
    assert "Each row is protected: ε = 1, δ = 1e-06" in out and "rows clipped to norm 5" in out
    account = "n.account: 1 release has spent ε = 1 of 1.5 at δ = 1e-06; one more may have ε = 1.06."
    assert account in out.splitlines() and run("inspect", "n.account")[1].splitlines()[0] == account
    assert nm.federated.Account.open(tmp_path / "n.account").spent == pytest.approx(1.0, rel=1e-6)
    assert run(*words, "--out", "two.nbs")[0] == 0
    code, _, err = run(*words, "--out", "three.nbs")
    assert code == 2 and "would spend ε" in err
    lines = run("inspect", "n.account")[1].splitlines()
    assert lines[0].startswith("n.account: 2 releases have spent ε = 1.455 of 1.5")
    assert [line.split("  ")[1] for line in lines[1:]] == ["fid, kid: ε = 1 by then", "fid, kid: ε = 1.455 by then"]
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
