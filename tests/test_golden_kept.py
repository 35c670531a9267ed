"""Files that calls of earlier releases kept open with this one: saved scores, stores, races, accounts of privacy."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.evaluation.store import Store
from tests import ROOT
from tests.golden.kept import DELTA, KEPT, SCORES, account_of, evaluated, raced, told
from tests.golden.release import number, plain, releases


@pytest.fixture(scope="module", params=releases(KEPT), ids=str)
def release(request):
    return request.param


@pytest.fixture(scope="module")
def kept(release):
    return release.read(KEPT)


def is_number(value):
    return isinstance(value, (int, float)) or value in ("nan", "inf", "-inf")


def assert_says(found, kept, where="", tolerance=1e-9):
    """What was kept is said still; a later release may say more."""
    if isinstance(kept, dict):
        for name, part in kept.items():
            assert name in found, f"{where}.{name} is lost"
            assert_says(found[name], part, f"{where}.{name}", tolerance)
    elif isinstance(kept, list):
        assert len(found) == len(kept), where
        for k, (one, other) in enumerate(zip(found, kept)):
            assert_says(one, other, f"{where}[{k}]", tolerance)
    elif is_number(kept) and not isinstance(kept, bool):
        np.testing.assert_allclose(number(found), number(kept), rtol=tolerance, atol=tolerance, err_msg=where)
    else:
        assert found == kept, where


def test_something_is_kept():
    assert releases(KEPT)


@pytest.mark.parametrize("name", SCORES)
def test_saved_scores_open_and_say_what_they_said(release, kept, name, tmp_path):
    scores = nm.Scores.open(release.path(f"kept/{name}.scores.json"))
    assert_says(plain(told(scores)), kept["scores"][name], tolerance=0)
    assert scores.provenance["nbmetrics"] == release.read("about.json")["version"]
    again = nm.Scores.open(scores.save(tmp_path / "again.json"))
    assert_says(plain(told(again)), kept["scores"][name], tolerance=0)
    if name == "runs":
        pd.testing.assert_frame_equal(again.models("fid"), scores.models("fid"))


@pytest.mark.parametrize("name", SCORES)
def test_rows_give_the_scores_that_were_saved(kept, name):
    assert_says(plain(told(evaluated(name, kept["data"]))), kept["scores"][name], tolerance=1e-7)


def test_a_store_opens_and_has_its_scores(release, kept, tmp_path):
    folder = release.unpack("kept/store.zip", tmp_path / "store")
    store = Store(folder)
    values = {key: store.get(key)["value"] for key in kept["records"]}
    store.close()
    assert values == kept["records"]


def test_a_store_of_another_version_is_gone_on_with(release, kept, tmp_path):
    folder = release.unpack("kept/store.zip", tmp_path / "store")
    scores = evaluated("intervals", kept["data"], store=folder)
    assert_says(plain(told(scores)), kept["store"], tolerance=1e-7)
    again = evaluated("intervals", kept["data"], store=folder)
    assert again.provenance["store"]["computed"] == 0


def test_a_race_goes_on_in_the_folder_of_its_draws(release, kept, tmp_path):
    folder = release.unpack("kept/race.zip", tmp_path / "race")
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    race = plain(raced(folder, kept["data"], 2_000))
    after = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert before.items() < after.items()  # nothing that was kept is written anew
    said, told = (scores_by_draws(table) for table in (race["table"], kept["race"]["table"]))
    shared = said.keys() & told.keys()  # the rules are others since: more rows before a winner
    assert len(shared) > 3 and {key: said[key] for key in shared} == pytest.approx({key: told[key] for key in shared})
    assert sum(race["draws"].values()) > sum(kept["race"]["draws"].values())


def scores_by_draws(table):
    return {(name, draws): score for name, draws, score in zip(table["sampler"], table["draws"], table["score"])}


def test_an_account_knows_what_was_spent_and_refuses_more(release, kept, tmp_path):
    path = shutil.copy(release.path("kept/ward.account"), tmp_path / "ward.account")
    assert_says(plain(account_of(path)), kept["account"])
    account = nm.federated.Account.open(path)
    rows = np.array(kept["data"]["racing"]["north"])
    too_much = nm.federated.Privacy(epsilon=account.left + 0.1, delta=DELTA, clip=4.0)
    with pytest.raises(nm.InvalidInput, match="is spent"):
        nm.federated.client_summary(rows, "fid", privacy=too_much, account=account)
    last = nm.federated.Privacy(epsilon=account.left * 0.9, delta=DELTA, clip=4.0)
    nm.federated.client_summary(rows, "fid", privacy=last, account=account)
    assert len(account.table) == len(kept["account"]["table"]["date"]) + 1


def test_the_page_on_stability_names_tests_that_there_are():
    page = (ROOT / "docs/stability.md").read_text("utf-8")
    rows = re.findall(r"^\| [^|]+ \| [^|]+ \| [^|]+ \| (.+) \|$", page, re.MULTILINE)[1:]
    tests = [path for row in rows for path in re.findall(r"\]\(\.\./(tests/[\w/.]+)\)", row)]
    assert len(tests) >= len(rows) > 9 and all((ROOT / path).exists() for path in tests)
