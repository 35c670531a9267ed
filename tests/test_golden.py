"""What earlier releases wrote, this one opens: share strings, lessons, runs, summaries, models, features and pages."""

import functools
import json
import re

import nbformat
import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.features.cache import RULES
from nbmetrics.features.extractors import extractor_of
from tests import TESTS
from tests.golden import models, pages
from tests.golden.labs import LABS, content, differences, lab_of, lasting, settle
from tests.golden.release import ABOUT, number, plain, releases
from tests.golden.runs import arrays
from tests.golden.summaries import scores_of
from tests.labs.inside import history_of, state_kind
from tests.labs.toolkit.common import OF_DATA
from tests.labs.toolkit.test_share_page import run as run_share_test
from tests.labs.toolkit.test_share_page import state_of
from tests.node import needs_node, node
from tests.slow import by_default
from tests.waiting import until

TEXTS = ("metric", "client", "generator", "lesson", "string")
KINDS = ("scenes", "fields_left_out")
RUNS = ("finished", "resumed", "alarms", "long", "killed")
LARGEST = 1_500_000


@pytest.fixture(scope="module", params=releases(), ids=str)
def release(request):
    return request.param


@pytest.fixture(scope="module")
def kept_labs(release, tmp_path_factory):
    """kept_labs(name, of) -> the lab in which share strings of that data are opened."""
    labs = {}

    def get(name, of):
        if (name, of) not in labs:
            labs[name, of] = lab_of(name, of, release, tmp_path_factory.mktemp("runs"))
        return labs[name, of]

    yield get
    for lab in labs.values():
        lab.close()


@pytest.fixture(scope="module")
def opened_strings(release, kept_labs):
    """opened_strings(name, kind) -> each kept string of a lab as Python opens it, and the state of that lab then."""

    @functools.cache
    def get(name, kind):
        return [open_string(kept_labs(name, kept["of"]), kept) for kept in release.read(f"shares/{name}.json")[kind]]

    return get


def open_string(lab, kept):
    """The kept string, the scene that it was made of, and that which the lab shows now, with what its page reads."""
    text, what = kept["text"], f"{type(lab).__name__} {kept['of']}, {kept['what']}"
    try:
        lab.from_share(text)
    except nm.InvalidInput as error:
        return {"what": what, "wrong": [f"is refused: {error}"]}
    settle(lab)
    page = {"lab": type(lab).__name__, "state": state_of(lab), "text": text.rpartition("#")[2]}
    page["scene"] = {**lab.scene, "rev": 0}
    return {
        "what": what,
        "wrong": differences(lab.scene, lasting(lab, kept["scene"])),
        "page": json.loads(json.dumps(page)),
    }


def assert_table(found, kept):
    """The columns that were kept, row by row."""
    wanted = pd.DataFrame(kept)
    assert len(found) == len(wanted) > 0
    for column in wanted:
        if column in TEXTS:
            assert found[column].tolist() == wanted[column].tolist()
        else:
            values = wanted[column].map(number)
            np.testing.assert_allclose(found[column].astype(float), values, rtol=1e-9, atol=1e-12, err_msg=column)


def test_something_is_kept():
    assert releases()


@pytest.mark.parametrize("release", releases(ABOUT), ids=str)
def test_nothing_that_was_kept_is_changed(release):
    found, kept = release.sums(), release.read(ABOUT)["files"]
    assert [name for name in kept if found.get(name) != kept[name]] == []
    assert sum(path.stat().st_size for path in release.folder.rglob("*")) < LARGEST


# --- share strings


@pytest.mark.parametrize("kind", by_default(KINDS, "scenes"))
@pytest.mark.parametrize("name", LABS)
def test_python_opens_share_strings(opened_strings, name, kind):
    found = opened_strings(name, kind)
    assert len(found) > 4
    assert not {one["what"]: one["wrong"] for one in found if one["wrong"]}


@pytest.mark.parametrize("name", [name for name in LABS if name not in OF_DATA])
def test_a_class_opens_share_strings(release, opened, name):
    for kept in release.read(f"shares/{name}.json")["scenes"][:3]:
        lab = opened(getattr(nm, name).from_share, kept["text"])
        assert not differences(lab.scene, kept["scene"])


@needs_node
@pytest.mark.parametrize("kind", by_default(KINDS, "scenes"))
def test_the_page_opens_share_strings(opened_strings, tmp_path, kind):
    found = [opened_strings(name, kind) for name in LABS]
    cases = [one["page"] for some in found for one in some]
    assert len(run_share_test(tmp_path, good=cases)[0]) == len(cases) > 4 * len(found)


@pytest.mark.parametrize("name", LABS)
def test_undo_and_redo_go_through_a_kept_history(release, kept_labs, name):
    for kept in release.read(f"shares/{name}.json")["histories"]:
        lab, (past, future) = kept_labs(name, kept["of"]), kept["history"].values()
        lab.scene = {**kept["scene"], "rev": lab.scene["rev"] + 1}
        lab.history = kept["history"]
        for move, wanted in ((lab.undo, past[-1]), (lab.redo, kept["scene"]), (lab.redo, future[0])):
            move()
            assert not differences(lab.scene, lasting(lab, content(wanted)))


# --- lessons


def test_lessons_open_as_they_were(release, opened, tmp_path):
    for kept in release.read("lessons.json"):
        path = tmp_path / "lesson.json"
        path.write_text(json.dumps(kept["lesson"]), "utf-8")
        for source in (kept["lesson"], path):
            lab = opened(nm.Playground, lesson=source)
            assert lab.lesson == kept["lesson"]["name"]
            assert not differences(lab.scene, kept["scene"])
            assert not differences(lab.lessons[lab.lesson], kept["page"], "lesson")


def test_python_reads_the_answers_of_learners(release):
    kept = release.read("answers.json")
    found = nm.collect_answers(f"{row['lesson']}: {row['string']}" for row in kept)
    assert found.unreadable == 0 and found.table["lesson"].tolist() == [row["lesson"] for row in kept]
    for part in ("guess", "answer"):
        np.testing.assert_allclose(found.table[part], [number(row[part]) for row in kept], rtol=1e-5)


@needs_node
def test_the_page_reads_the_answers_of_learners(release, tmp_path):
    kept = release.read("answers.json")
    answers = [None if row["answer"] == "nan" else row["answer"] for row in kept]
    progress = [{"name": row["lesson"], "guess": row["guess"], "answer": a} for row, a in zip(kept, answers)]
    given = {"progress": progress, "strings": [row["string"] for row in kept], "broken": []}
    run_in_node("answers", "NBMETRICS_ANSWERS", given, tmp_path)


def run_in_node(name, variable, given, tmp_path):
    """Run tests/js/<name>.test.js on a JSON file."""
    path = tmp_path / "given.json"
    path.write_text(json.dumps(given), "utf-8")
    node("--test", TESTS / "js" / f"{name}.test.js", **{variable: path})


# --- runs of a Monitor


@pytest.fixture
def run_folder(release, tmp_path):
    """run_folder(name) -> a copy of the folder of a run."""
    return lambda name: release.unpack(f"runs/{name}.zip", tmp_path / name)


def without_bias(table, run, weights=None):
    """A kept table of a run in the first format, its KID-all with each client a stratum, as runs are shown since."""
    history = history_of(run)
    (segment, *_) = [s for s in history.segments if "gap 1" in s.frames]
    found = history.array(segment.frames["gap 1"])
    if found.shape[0] == found.shape[1]:
        return table
    w = np.array(segment.weights if weights is None else weights)
    cross, own, n = found[:, :-2], found[:, -2], found[:, -1]
    square = w @ cross @ w
    plain = (square - np.sum(w**2 * own / n)) / (1 - np.sum(w**2 / n))
    strata = square - np.sum(w**2 * (own - np.diag(cross)) / (n - 1))
    frame = pd.DataFrame(table)
    frame.loc[frame["metric"] == "kid", "all"] += strata - plain
    frame.loc[frame["metric"] == "kid", "gap"] -= strata - plain
    return frame


@pytest.mark.parametrize("name", RUNS)
def test_a_run_says_what_it_said(release, opened, run_folder, name):
    run, kept = opened(nm.Monitor.open, run_folder(name)), release.read("runs.json")[name]
    assert_table(run.table, without_bias(kept["table"], run))
    assert_table(run.scores, kept["scores"])
    assert_table(run.losses, kept["losses"])
    assert_table(run.with_weights(kept["others"]).table, without_bias(kept["reweighted"], run, kept["others"]))
    assert {metric: run.best(metric) for metric in kept["best"]} == kept["best"]
    assert {step for step, _ in kept["alarms"]} <= set(run.alarms["step"])  # two rules for one event are one entry now
    named = {name for _, name in kept["alarms"]} & set(run.alarms["alarm"])
    assert named or not kept["alarms"]
    assert plain(arrays(history_of(run))) == kept["arrays"]
    assert (not run.troubles) == kept["is_whole"]


@pytest.mark.parametrize("name", by_default(RUNS, "resumed", "alarms", "killed"))
def test_a_run_goes_on(release, opened, run_folder, name):
    folder, kept, rng = run_folder(name), release.read("runs.json")[name], np.random.default_rng(0)
    old = opened(nm.Monitor.open, folder)
    clients = [
        nm.Client(rng.normal(size=(9, 2)), name=client, weight=weight)
        for client, weight in zip(old.names, old.scene["weights"])
    ]
    run = opened(nm.Monitor, nm.Federation(clients), path=folder, keep_all=True, samples=9)
    run.log(9_000, rng.normal(size=(9, 2)), loss=0.5)
    run.wait()
    run.close()
    again = opened(nm.Monitor.open, folder)
    assert_table(again.table[again.table["step"] < 9_000], without_bias(kept["table"], again))
    assert again.losses["step"].tolist() == [*(row["step"] for row in kept["losses"]), 9_000]
    assert (again.table["step"] == 9_000).sum() == 2


@needs_node
def test_the_page_reads_a_run_as_it_was_sent(release, tmp_path):
    kept = release.read("runs.json")["long"]
    run_in_node("golden", "NBMETRICS_RUN", kept, tmp_path)


# --- what clients sent


def test_summaries_give_their_scores(release):
    for kept in release.read("summaries.json").values():
        found = scores_of(kept)
        assert found.keys() == kept["scores"].keys() == {"by rows", "weighted", "clients"}
        for part in found:
            assert_table(pd.DataFrame(found[part]), kept["scores"][part])


# --- models and features


@pytest.mark.parametrize("kind", models.KINDS)
def test_a_trained_model_draws_its_rows_and_goes_on(release, kind, tmp_path):
    pytest.importorskip("torch", reason="pip install nbmetrics[images]")
    path, said = release.path(f"models/{kind}.safetensors"), release.read("models.json")
    model, kept = nm.training.load(path), said[kind]
    assert {name: getattr(model, name) for name in kept["about"]} == kept["about"]
    assert {name: models.sums(model).get(name) for name in kept["sums"]} == kept["sums"]
    assert_rows(models.drawn(model), kept["drawn"], 1e-5)
    (tmp_path / "round-000002.safetensors").write_bytes(path.read_bytes())
    longer = nm.training.train(kind, [said["rows"]], **{**said["training"], "rounds": 3}, checkpoints=tmp_path)
    assert_rows(models.drawn(longer), kept["after 3 rounds"], 1e-4)


def assert_rows(found, kept, tolerance):
    for how, rows in kept.items():
        np.testing.assert_allclose(found[how], rows, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", models.EXTRACTORS)
def test_a_cache_of_features_is_found_and_still_right(release, name, tmp_path, monkeypatch):
    kept = release.read("features.json")
    images = np.array(kept["images"], np.uint8)
    is_same = (kept["rules"], kept["fingerprints"][name]) == (RULES, models.fingerprint(name, images))
    release.unpack("features.zip", tmp_path / "features")
    monkeypatch.setenv("NBMETRICS_HOME", str(tmp_path))
    kind, computed = type(extractor_of(name)), []
    extract = kind.__call__
    monkeypatch.setattr(kind, "__call__", lambda self, batch: computed.append(batch) or extract(self, batch))
    found = nm.extract(images, name, progress=False)
    assert is_same == (not computed)
    if is_same:  # rows of before and of now are scored together
        for rows in (found, nm.extract(images, name, cache=False, progress=False)):
            np.testing.assert_allclose(rows, kept["rows"][name], rtol=1e-5, atol=1e-5)


# --- notebooks and pages, whose own code shows them: tests/browser/test_golden.py


def test_the_state_of_a_saved_notebook_is_that_of_labs(release):
    book, wanted = nbformat.reads(pages.read(release, pages.NOTEBOOK), as_version=4), release.read("notebook.json")
    nbformat.validate(book)
    states = pages.labs_of(book)
    assert states.keys() == wanted.keys()
    for name, kept in wanted.items():
        kind = state_kind(getattr(nm, name))
        assert not differences(kind.parse(states[name]["scene"]).to_json(), lasting(getattr(nm, name), kept["scene"]))
        assert len(states[name]["history"]["past"]) == len(kept["history"]["past"])
        for scene, past in zip(states[name]["history"]["past"], kept["history"]["past"]):
            assert not differences(kind.parse(scene).to_json(), content(past))
        assert all(kind.parse(preset).to_json() for preset in states[name]["presets"].values())


def test_the_state_of_a_saved_page_is_that_of_a_lab(release, opened):
    text, kept = pages.read(release, pages.PAGE), release.read("page.json")
    state = json.loads(re.search(r'json">(.*?)</script>', text)[1])
    lab = opened(nm.CorrelationLab)
    lab.scene = {**state["scene"], "rev": 1}
    assert not differences(lab.scene, kept["scene"])
    until(lambda: lab.result["rev"] == lab.scene["rev"])
    for found in (state["result"]["scores"], lab.result["scores"]):
        assert found == pytest.approx(kept["scores"], rel=1e-9, abs=1e-12)
