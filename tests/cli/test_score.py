"""`nbmetrics score`: the scores of Python, in 80 columns, as JSON, as a page, and as CSV."""

import io
import json
import os
import re
import shutil
import warnings
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.cli import main, parties

WORDS = ("score", "real", "narrow.npy", "wide.npy")


def refused(constant):
    pytest.fail(f"{constant} is no JSON")


def read(path):
    return json.loads(path.read_text("utf-8"), parse_constant=refused)


def test_folders_of_images_give_the_scores_of_python(folder, run, tmp_path):
    clients = {name: folder(f"real/{name}", mean, 30) for name, mean in (("north", 90), ("south", 170))}
    fake = folder("fake", 130, 40)
    words = ("score", "real", "fake", "--extractor", "pixels", "--quiet")
    code, out, err = run(*words, "--json", "o.json", "--csv", "o.csv")
    rows = {name: images.reshape(len(images), -1) / 255 for name, images in clients.items()}
    table = nm.evaluate(rows, {"fake": fake.reshape(40, -1) / 255}, progress=False).table
    found = pd.DataFrame(read(tmp_path / "o.json")["table"])
    pd.testing.assert_frame_equal(found, table, rtol=1e-5, check_dtype=False)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "o.csv"), table, rtol=1e-5)
    assert code == 0 and err == "" and "features: pixels in [0, 1]" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_clients_are_told_by_name_with_their_rows(folder, run):
    for name, count in (("ward 10", 9), ("ward 2", 7)):
        folder(f"real/{name}", 90, count)
    folder("fake", 130, 8)
    _, out, _ = run("score", "real", "fake", "--extractor", "pixels", "--metrics", "kid")
    assert "2 clients: ward 2 (7 rows), ward 10 (9 rows)" in out
    _, out, _ = run("score", "real/ward 2", "fake", "--extractor", "pixels", "--metrics", "kid")
    assert " clients: " not in out


def test_files_are_written_though_nobody_reads_the_output_to_its_end(features, run, monkeypatch, tmp_path):
    def closed(report):
        raise EOFError

    monkeypatch.setattr("nbmetrics.cli.commands.as_text", closed)
    with pytest.raises(EOFError):
        run(*WORDS, "--json", "o.json", "--html", "o.html", "--csv", "o.csv", "--markdown", "o.md", "--latex", "o.tex")
    assert (tmp_path / "o.md").read_text("utf-8").startswith("| generator | ")
    assert r"\toprule" in (tmp_path / "o.tex").read_text("utf-8")
    assert len(read(tmp_path / "o.json")["table"]) == len(pd.read_csv(tmp_path / "o.csv")) == 4
    assert (tmp_path / "o.html").exists()


def test_what_disagrees_comes_first(features, run):
    code, out, _ = run(*WORDS, "--metrics", "fid")
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == "Best by FID-avg: narrow. Best by FID-all: wide."
    assert re.fullmatch(r"FID +avg +all +gap", lines[2])
    narrow, wide = (line.split() for line in lines[3:5])
    assert (narrow[0], narrow[2]) == ("narrow", "*") and (wide[0], wide[3]) == ("wide", "*")


def test_where_nothing_disagrees_the_table_comes_first(features, run):
    _, out, _ = run("score", "real", "wide.npy")
    assert out.startswith("FID ") and "says" not in out and "*" not in out


def test_features_need_no_extractor_and_clients_may_be_one_file(features, run, tmp_path):
    code, out, _ = run("score", "real/north.npy", "wide.npy", "--json", "o.json")
    found = read(tmp_path / "o.json")
    assert code == 0 and "north.npy is one client, so avg and all are the same." in " ".join(out.split())
    assert [row["gap"] for row in found["table"]] == [0, 0]
    assert found["table"][0]["avg"] == pytest.approx(nm.fid(features["real/north"], features["wide"]), rel=1e-9)


def test_a_folder_without_sub_folders_is_one_client(folder, run):
    folder("real", 90, 20)
    folder("fake", 130, 20)
    code, out, _ = run("score", "real", "fake", "--extractor", "pixels")
    assert code == 0 and "real has no sub-folders" in out


def test_clients_stand_in_natural_order_and_hidden_files_are_none(features, run, tmp_path):
    for name in ("c10", "c2", ".hidden"):
        np.save(tmp_path / "real" / f"{name}.npy", features["wide"])
    run("score", "real", "wide.npy", "--json", "o.json")
    assert [client["name"] for client in read(tmp_path / "o.json")["clients"]] == ["c2", "c10", "north", "south"]


def test_json_holds_everything_and_null_for_nan(features, run, tmp_path):
    np.save(tmp_path / "real" / "few.npy", features["narrow"][:6])
    code, _, _ = run(*WORDS, "--metrics", "fid,kid", "--uncertainty", "influence", "--json", "o.json")
    found = read(tmp_path / "o.json")
    assert code == 0
    assert found["versions"]["nbmetrics"] == nm.__version__ and found["options"]["seed"] == 0
    assert [client["rows"] for client in found["clients"]] == [6, 400, 400]
    assert sum(client["weight"] for client in found["clients"]) == pytest.approx(1)
    assert found["generators"][1] == {"name": "wide", "path": "wide.npy", "rows": 400}
    assert any(value is None for row in found["by_client"] for value in row.values())
    assert {"avg_low", "all_corrected"} <= set(found["table"][0]) and found["flips"]["fid"]
    assert found["ranks"]["kid"] and found["conventions"] and found["cautions"] and found["unread"] == []


def test_intervals_stand_below_their_values_in_80_columns(features, run):
    _, out, _ = run(*WORDS, "--metrics", "fid,kid", "--uncertainty", "influence")
    assert all(len(line) <= 80 for line in out.splitlines())
    assert re.search(r"\n {8,}\[[^\]]+\] +\[[^\]]+\] +\[[^\]]+\]\n", out)


def test_long_names_have_a_line_of_their_own(features, run, tmp_path):
    name = "a model with a name that leaves no room for its numbers beside it"
    (tmp_path / "wide.npy").rename(tmp_path / f"{name}.npy")
    _, out, _ = run("score", "real", "narrow.npy", f"{name}.npy", "--metrics", "kid")
    lines = out.splitlines()
    assert f"  {name}" in lines and all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize(("name", "width"), [("生成モデル", 10), ("e\u0301te\u0301", 3), ("plain", 5)])
def test_numbers_stand_below_each_other_whatever_the_letters(features, run, tmp_path, name, width):
    np.save(tmp_path / f"{name}.npy", features["wide"])
    out = run("score", "real", "wide.npy", f"{name}.npy", "--metrics", "fid")[1].splitlines()
    wide, other = (next(line for line in out if line.startswith(f"  {n} ")) for n in ("wide", name))
    assert wide[2 + len("wide") :].lstrip() == other[2 + len(name) :].lstrip()
    assert len(other) - len(name) + width == len(wide)


def test_generators_are_called_by_as_much_of_the_path_as_tells_them_apart(features, run, tmp_path):
    for name in ("a/samples", "b/samples"):
        (tmp_path / name).parent.mkdir()
        np.save(tmp_path / f"{name}.npy", features["wide"])
    run("score", "real", "a/samples.npy", "b/samples.npy", "wide.npy", "--json", "o.json")
    names = [generator["name"] for generator in read(tmp_path / "o.json")["generators"]]
    assert names[:2] == ["a/samples", "b/samples"] and names[2].endswith("/wide")


def test_a_share_may_be_held_out(features, run, tmp_path):
    code, _, _ = run(*WORDS, "--metrics", "fld", "--test", "0.25", "--json", "o.json")
    assert code == 0 and [client["rows"] for client in read(tmp_path / "o.json")["clients"]] == [300, 300]


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.text = set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.links += [value for name, value in attributes if name in {"src", "href"} or name.startswith("on")]

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", ["<script>alert(1)<", "&lt;b&gt; {verdict} {0} %s", '"><img src=x onerror=alert(1)>'])
def test_the_page_holds_names_as_text_and_nothing_from_elsewhere(features, run, tmp_path, name):
    (tmp_path / "real" / "north.npy").rename(tmp_path / "real" / f"{name}.npy")
    (tmp_path / "wide.npy").rename(tmp_path / f"g{name}.npy")
    code, _, _ = run("score", "real", "narrow.npy", f"g{name}.npy", "--metrics", "fid", "--html", "o.html")
    text = (tmp_path / "o.html").read_text("utf-8")
    page = Page(text)
    assert code == 0 and name in page.text and f"Best by FID-avg: narrow. Best by FID-all: g{name}." in page.text
    assert not page.tags & {"script", "img", "link", "iframe", "b"} and page.links == []
    assert "default-src 'none'" in text and "http" not in text.replace("http-equiv", "")


def test_what_could_not_be_read_is_told(folder, run, tmp_path):
    folder("real/north", 90, 20)
    folder("real/south", 170, 20)
    folder("fake", 130, 20)
    for name in ("real/south", "fake"):
        (tmp_path / name / "text\x1b[31m.png").write_text("no image", "utf-8")
        (tmp_path / name / ".hidden").write_text("no image", "utf-8")
    code, _, err = run("score", "real", "fake", "--extractor", "pixels", "--json", "o.json", "--html", "o.html")
    assert code == 0 and err.count("warning: ") == err.count("\n") == 2
    assert err.count("files was not read") == 2 and "\x1b" not in err
    unread = read(tmp_path / "o.json")["unread"]
    assert {row["of"] for row in unread if "text" in row["file"]} == {"south", "fake"}
    assert all(row["reason"] for row in unread)
    assert "Files not read" in (tmp_path / "o.html").read_text("utf-8")


def test_folders_that_hold_no_client_are_passed_over(folder, run, tmp_path):
    for name in ("a10", "a2", ".thumbnails", "__MACOSX"):
        folder(f"real/{name}", 90, 20)
    folder("fake", 130, 20)
    code, _, err = run("score", "real", "fake", "--extractor", "pixels", "--json", "o.json")
    clients = read(tmp_path / "o.json")["clients"]
    assert code == 0, err
    assert [client["name"] for client in clients] == ["a2", "a10"] and clients[0]["path"].endswith("a2")


def test_images_that_belong_to_no_client_are_refused(folder, run, tmp_path):
    folder("real/north", 90, 20)
    folder("fake", 130, 20)
    (tmp_path / "fake" / "img000.png").rename(tmp_path / "real" / "loose.png")
    code, out, err = run("score", "real", "fake", "--extractor", "pixels")
    assert (code, out) == (2, "") and "loose.png" in err and "CLIENTS" in err


def test_a_zip_of_folders_is_as_many_clients(folder, run, tmp_path):
    for k, name in enumerate(("ward 10", "ward 2")):
        folder(f"real/{name}", 90, 20 + k)
    folder("fake", 130, 20)
    shutil.make_archive(str(tmp_path / "real"), "zip", tmp_path / "real")
    tables = []
    for clients in ("real", "real.zip"):
        code, out, err = run("score", clients, "fake", "--extractor", "pixels", "--json", "o.json")
        assert code == 0 and "one client" not in out, err
        found = read(tmp_path / "o.json")
        tables.append((found["table"], [(client["name"], client["rows"]) for client in found["clients"]]))
    assert tables[0] == tables[1] and tables[0][1] == [("ward 2", 21), ("ward 10", 20)]


def test_images_beside_features_are_refused(folder, features, run, tmp_path):
    folder("fake", 130, 1)
    (tmp_path / "fake" / "img000.png").rename(tmp_path / "real" / "loose.png")
    code, out, err = run("score", "real", "wide.npy")
    assert (code, out) == (2, "") and "2 .npy files and 1 images, such as 'loose.png'" in err


def test_what_is_both_real_and_generated_is_told(features, folder, run, tmp_path):
    np.save(tmp_path / "real" / "fake.npy", features["wide"])
    for name in ("pictures/a", "pictures/b/fake"):
        folder(name, 90, 20)
    of_rows = run("score", "real", "real/fake.npy", "wide.npy")[1]
    of_images = run("score", "pictures", "pictures/b/fake", "--extractor", "pixels")[1]
    assert of_rows.count("lies in client") == 1 and "fake lies in client fake, " in of_rows
    assert "fake lies in client b, " in of_images and "lies in" not in run("score", *WORDS[1:])[1]


class Gone(io.StringIO):
    """What nobody reads any more."""

    def write(self, text):
        raise BrokenPipeError


def test_files_are_written_where_nobody_reads_the_table(features, run, tmp_path, monkeypatch):
    with open(os.devnull, "w") as sink, monkeypatch.context() as patched:
        gone = Gone()
        gone.fileno = sink.fileno
        patched.setattr("sys.stdout", gone)
        code = main(["score", "real", "wide.npy", "--json", "o.json", "--csv", "o.csv"])
    assert code == 0 and len(read(tmp_path / "o.json")["table"]) == 2
    assert (tmp_path / "o.csv").read_text().count("\n") == 3


def test_rows_of_nan_are_told_by_their_file(features, run, tmp_path):
    np.save(tmp_path / "bad.npy", np.full((9, 2), np.nan))
    code, out, err = run("score", "real", "wide.npy", "bad.npy")
    assert (code, out) == (2, "") and err.startswith("error: GENERATED 'bad.npy', ") and "NaN" in err


REFUSED = {
    "no clients": (("score", "nowhere", "wide.npy"), "error: CLIENTS: there is no 'nowhere'"),
    "no name of clients": (("score", "", "wide.npy"), "error: CLIENTS: there is no ''"),
    "no name of generated": (("score", "real", ""), "error: GENERATED: there is no ''"),
    "no generated": (("score", "real", "nowhere"), "error: GENERATED: there is no 'nowhere'"),
    "a table": (("score", "real", "table.csv"), "GENERATED: 'table.csv' has the name of neither images nor features"),
    "a table of clients": (
        ("score", "table.csv", "wide.npy"),
        "CLIENTS: 'table.csv' has the name of neither images nor features",
    ),
    "a folder of features": (("score", "real", "real"), "contains 2 .npy files and no images. Name the files"),
    "given twice": (("score", "real", "wide.npy", "./wide.npy"), "is given twice"),
    "both kinds": (("score", ".", "wide.npy"), "sub-folders and 2 .npy files"),
    "unknown metric": ((*WORDS, "--metrics", "fidd"), "Did you mean 'fid'"),
    "no metric": ((*WORDS, "--metrics", " , "), "error: --metrics"),
    "a metric twice": ((*WORDS, "--metrics", "fid,fid"), "appears twice"),
    "a metric of held-out rows": ((*WORDS, "--metrics", "fld"), "--test 0.2"),
    "a metric of inputs": ((*WORDS, "--metrics", "cfid"), "nm.Client(y, condition=x)"),
    "a share of more than all": ((*WORDS, "--test", "2"), "error: --test"),
    "seed below 0": ((*WORDS, "--seed", "-1"), "error: --seed"),
    "no samples": ((*WORDS, "--samples", "0"), "error: --samples"),
    "JSON into no folder": ((*WORDS, "--json", "nowhere/o.json"), "error: --json: there is no folder"),
    "JSON of another name": ((*WORDS, "--json", "o.txt"), "ends in .json"),
    "a page into a folder": ((*WORDS, "--html", "page.html"), "exists and is not a file"),
    "CSV of no name": ((*WORDS, "--csv", ""), "error: --csv"),
    "LaTeX of another name": ((*WORDS, "--latex", "t.txt"), "error: --latex"),
    "unknown extractor": (("score", "pictures", "wide.npy", "--extractor", "pixle"), "error: --extractor"),
    "classes of other features": (
        ("score", "pictures", "wide.npy", "--extractor", "digits-cnn", "--metrics", "fid,inception_score"),
        "Use --extractor inception-v3-compat:probabilities, in a separate run",
    ),
    "batches of none": (
        ("score", "pictures", "wide.npy", "--extractor", "pixels", "--batch-size", "0"),
        "error: --batch-size",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_before_anything_is_read(features, folder, run, tmp_path, monkeypatch, case):
    folder("pictures", 90, 3)
    (tmp_path / "page.html").mkdir()
    (tmp_path / "table.csv").write_text("1,2\n3,4\n")
    monkeypatch.setattr(parties.PartyReader, "federation", lambda *_: pytest.fail("a file was read first"))
    before = sorted(tmp_path.rglob("*"))
    words, said = REFUSED[case]
    code, out, err = run(*words)
    assert (code, out) == (2, "") and err.startswith("error: ") and err.count("\n") == 1
    assert said in err and sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\x93NUMPY\x01\x00v\x00{'descr': [('a', '<f4'", "pickle", "images"], ids=repr
)
def test_a_file_that_holds_no_rows_is_refused(features, run, tmp_path, content):
    if content == "pickle":
        np.save(tmp_path / "bad.npy", np.array([{}], dtype=object), allow_pickle=True)
    elif content == "images":
        np.save(tmp_path / "bad.npy", np.zeros((4, 8, 8, 3), np.uint8))
    else:
        (tmp_path / "bad.npy").write_bytes(content)
    code, out, err = run("score", "real", "bad.npy")
    assert (code, out) == (2, "") and err.startswith("error: GENERATED 'bad.npy', ")


def test_rows_that_a_metric_refuses_lose_no_other_score(features, run, tmp_path):
    np.save(tmp_path / "real" / "small.npy", features["real/north"][:3])
    words = (*WORDS, "--metrics", "fid,precision,inception_score")
    code, out, err = run(*words, "--uncertainty", "influence", "--json", "out.json", "--csv", "out.csv")
    told, table = " ".join(out.split()), pd.read_csv("out.csv").set_index("metric")
    assert code == 0 and all(line.startswith("warning: ") for line in err.splitlines())
    assert max(map(len, out.splitlines())) <= 80
    assert "client 'small', precision, rows: has 3 rows" in told and "Give class probabilities" in told
    assert table.drop("fid")[["avg", "all"]].isna().all(axis=None)
    flips = read(tmp_path / "out.json")["flips"]
    assert len(flips["fid"]) == 1 and not flips["precision"]
    assert run(*WORDS, "--metrics", "fid", "--uncertainty", "influence", "--csv", "alone.csv")[0] == 0
    alone = pd.read_csv("alone.csv").set_index("metric").loc["fid"]
    pd.testing.assert_frame_equal(table.loc["fid"], alone, rtol=1e-9)


def test_rows_of_other_features_are_refused(features, run, tmp_path):
    np.save(tmp_path / "odd.npy", features["wide"][:, :1])
    code, _, err = run("score", "real", "odd.npy")
    assert code == 2 and "odd" in err and "same features" in err


def test_an_interrupt_says_how_to_go_on(features, run, monkeypatch):
    def stopped(*_):
        stop = KeyboardInterrupt()
        stop.add_note("128 of 600 images are in the cache: run the same again")
        raise stop

    monkeypatch.setattr(parties.PartyReader, "federation", stopped)
    code, out, err = run(*WORDS)
    assert (code, out) == (130, "") and err == "interrupted\n128 of 600 images are in the cache: run the same again\n"


def test_settings_of_python_that_a_refusal_proposes_are_options_here(features, run, monkeypatch):
    def refused(*_):
        raise nm.InvalidInput("weights", "are not here", "Use download=True, or extractor='digits-cnn'")

    monkeypatch.setattr(parties.PartyReader, "federation", refused)
    assert run(*WORDS)[2] == "error: --weights: are not here. Use --download, or --extractor digits-cnn\n"


def test_warnings_are_one_line_each(features, run, monkeypatch):
    def warned(*_):
        warnings.warn("look\x1b out", UserWarning, stacklevel=1)
        raise nm.InvalidInput("CLIENTS", "are gone", "Look for them")

    monkeypatch.setattr(parties.PartyReader, "federation", warned)
    _, _, err = run(*WORDS)
    assert err.splitlines()[0] == "warning: look\\x1b out"


def test_nothing_is_told_that_only_python_can_do(run, tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "sites").mkdir()
    for name in ("a", "b"):
        np.save(tmp_path / "sites" / f"{name}.npy", rng.normal(size=(60, 32)))
    np.save(tmp_path / "made.npy", rng.normal(size=(400, 32)))
    out = run("score", tmp_path / "sites", tmp_path / "made.npy", "--metrics", "fid")[1]
    assert "would remain even if all clients were alike" in " ".join(out.split()) and "scores." not in out


def test_by_class_compares_each_client_with_what_was_made_for_it(features, run, tmp_path):
    for name, order in (("right", ("north", "south")), ("swapped", ("south", "north"))):
        (tmp_path / name).mkdir()
        for client, other in zip(("north", "south"), order, strict=True):
            np.save(tmp_path / name / f"{client}.npy", features[f"real/{other}"] + 0.1)
    code, out, err = run("score", "real", "right", "swapped", "--by-class", "--metrics", "fid", "--json", "o.json")
    assert code == 0, err
    report = json.loads((tmp_path / "o.json").read_text())
    right, swapped = report["table"]
    assert right["intra"] == pytest.approx(0.02, abs=1e-9) and swapped["intra"] > 3.0
    assert right["all"] == pytest.approx(swapped["all"], rel=1e-9)
    assert [row["rows"] for row in report["generators"]] == [800, 800]
    assert "FID-intra prefers right" in " ".join(out.split())
    assert run("verify", "o.json", "real", "right", "swapped")[0] == 0
    assert run("score", "real", "narrow.npy", "--by-class")[0] == 2
    (tmp_path / "right" / "south.npy").rename(tmp_path / "right" / "west.npy")
    code, _, err = run("score", "real", "right", "--by-class")
    assert code == 2 and "'south'" in err and "'west'" in err


def test_runs_are_those_of_models(features, run, tmp_path):
    rng = np.random.default_rng(0)
    for name, shift in (("near", 0.1), ("far", 2.0)):
        (tmp_path / name).mkdir()
        for k in (1, 2, 3):
            rows = features["real/north"] + shift + 0.05 * rng.normal()
            np.save(tmp_path / name / f"seed{k}.npy", rows)
    code, out, err = run(
        "score",
        "real",
        "near",
        "far",
        "--runs",
        "--metrics",
        "fid",
        "--json",
        "o.json",
        "--csv",
        "o.csv",
        "--html",
        "o.html",
    )
    assert code == 0, err
    assert "<title>Scores of near, far</title>" in (tmp_path / "o.html").read_text()
    report = json.loads((tmp_path / "o.json").read_text())
    assert [row["group"] for row in report["table"]] == ["near"] * 3 + ["far"] * 3
    assert [row["runs"] for row in report["models"]["fid"]] == [3, 3]
    assert report["model_comparisons"]["fid"]["all"][0]["p"] == pytest.approx(0.05)
    said = " ".join(out.split())
    assert said.count("near is better than far") == 2, "by avg and by all, and not once more below"
    assert said.index("near is better than far") < said.index("near/seed1"), "models stand above their runs"
    assert "near is better than far" in report["verdict"][-1]
    assert run("verify", "o.json", "real", "near", "far")[0] == 0
    assert run("score", "real", "near", "far", "--runs", "--by-class")[0] == 2
    code, _, err = run("score", "real", "narrow.npy", "--runs")
    assert code == 2 and "--runs" in err


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("nowhere", path)])
def test_a_client_that_is_no_file_is_not_left_out_unseen(make, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(20, 2))
    for folder in ("real", "made"):
        Path(folder).mkdir()
        for name in ("north", "south"):
            np.save(f"{folder}/{name}.npy", rows)
    make("made/west.npy")
    code, _, err = run("score", "real", "made", "--by-class")
    assert code == 2 and "west.npy' is a link to nothing, or no regular file" in err
    make("real/west.npy")
    for words in (("real", "made/north.npy"), ("real", "made", "--by-class")):
        code, _, err = run("score", *words)
        assert code == 2 and "west.npy' is a link to nothing, or no regular file" in err


def test_a_pickle_is_not_advised(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("rows.npy", np.ones((9, 2)))
    Path("pickle.npy").write_bytes(b"no array")
    code, _, err = run("score", "rows.npy", "pickle.npy")
    assert code == 2 and "contains no array of numbers" in err and "pickle=" not in err


def test_by_class_reads_folders_of_images(folder, run, tmp_path):
    for name, mean in (("cats", 60), ("dogs", 180)):
        folder(f"classes/{name}", mean, 40)
        folder(f"made/{name}", mean, 40, seed=1)
    code, out, err = run(
        "score", "classes", "made", "--by-class", "--extractor", "pixels", "--metrics", "fid", "--quiet"
    )
    assert code == 0, err
    assert "intra" in out.split("\n")[0]


@pytest.mark.parametrize("words", [WORDS, ("features", "narrow.npy", "--stats", "--out", "o.npz")])
def test_weights_that_nothing_would_use_are_refused(features, run, words, tmp_path):
    code, out, err = run(*words, "--weights", "other.pth")
    assert code == 2 and out == "" and "--weights: is given, and all files contain rows" in err
    assert not (tmp_path / "o.npz").exists()
