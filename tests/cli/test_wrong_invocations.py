"""300 and more wrong invocations of a federation's commands: each ends with 2 and one line that says the mend."""

import os
import re

import numpy as np
import pytest
from PIL import Image

import nbmetrics as nm
from nbmetrics.cli import main
from tests.slow import some_of

SUMMARIZE = ("summarize", "north.npy", "--out", "x.nbs")
NOISY = (*SUMMARIZE, "--metrics", "fid", "--epsilon", "1", "--clip", "5", "--account", "old.account")
AGGREGATE = ("aggregate", "north.nbs", "--generators", "wide.npy")

FILES = {
    "broken/image.png": b"no image",
    "image.png": b"\x89PNG",
    "text.txt": b"no rows",
    "table.csv": b"a,b\n1,2\n",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with all that the invocations name: what is right, and what is not."""
    folder, rows = tmp_path_factory.mktemp("wrong"), np.random.default_rng(0).normal(size=(60, 2))
    for name, array in arrays(rows).items():
        np.save(folder / f"{name}.npy", array)
    np.save(folder / "pickled.npy", np.array([{}, None], dtype=object), allow_pickle=True)
    (folder / "truncated.npy").write_bytes((folder / "north.npy").read_bytes()[:200])
    (folder / "folder" / "deeper").mkdir(parents=True)
    for name, data in summaries(rows).items():
        (folder / f"{name}.nbs").write_bytes(data)
    (folder / "folder" / "north.nbs").write_bytes((folder / "north.nbs").read_bytes())
    for name in ("named.nbs", "named.json", "broken", "images"):
        (folder / name).mkdir()
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(folder / "images" / "black.png")
    (folder / "broken.zip").write_bytes(b"PK no zip")
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to(folder / "loop")
    account = nm.federated.Account(folder / "old.account", epsilon=1.5, delta=1e-6)
    private = nm.federated.Privacy(epsilon=1.4, delta=1e-6, clip=5.0)
    nm.federated.client_summary(rows, "fid", privacy=private, account=account)
    whole = account.path.read_bytes()
    (folder / "damaged.account").write_bytes(whole.replace(b"mu2", b"mu3"))
    (folder / "no_head.account").write_bytes(whole.partition(b"\n")[2])
    return folder


def arrays(rows):
    return {
        "north": rows,
        "wide": 2 * rows,
        "other_width": np.hstack([rows, rows[:, :1]]),
        "flat": rows[:, 0],
        "deep": rows[:, :, None],
        "nan": np.where(rows > 1, np.nan, rows),
        "huge": rows * 1e200,
        "no_rows": rows[:0],
        "no_columns": rows[:, :0],
        "texts": np.array([["a", "b"]]),
        "complex": rows + 1j,
        "one_row": rows[:1],
    }


def summaries(rows):
    sent = nm.federated.client_summary(rows, ("fid", "kid"))
    return {
        "north": sent,
        "other_width": nm.federated.client_summary(arrays(rows)["other_width"], ("fid", "kid")),
        "only_fid": nm.federated.client_summary(rows, "fid"),
        "random": nm.federated.client_summary(rows, nm.metrics.KID(nm.RandomFeatures(nm.RBF(2.0), 8))),
        "empty": b"",
        "name_only": sent[:8],
        "truncated": sent[:-1],
        "half": sent[: len(sent) // 2],
        "longer": sent + b"\0",
        "flipped": sent[:-60] + bytes([sent[-60] ^ 1]) + sent[-59:],
        "twice": sent + sent,
    }


TEXTS = ("", " ", "nan", "text", "½", "1,5", "0x10", "1 2", "\n", "🙂", "9" * 5000 + "x")
NUMBERS = (*TEXTS, "inf", "-inf", "1e400", "-1", "-1e300")
POSITIVE = (*NUMBERS, "0", "1e300")
NO_FILES = ("", "missing", "missing/x", "north.npy/x", "loop", "~nobody/x", "🙂", "x" * 300, "\0", "\ud800")
NO_ROWS = ("flat", "deep", "nan", "huge", "no_rows", "no_columns", "texts", "complex", "pickled", "truncated")
NO_SUMMARIES = ("empty", "name_only", "truncated", "half", "longer", "flipped", "twice")
NO_OUTPUTS = ("", "x", "x.npy", "missing/x{}", "folder", "north.npy/x{}", "x" * 300 + "{}", "\0{}", "loop/x{}")


def each(base, option, values, name=None):
    """The base with the option at each value and without one, and what the line has to name."""
    yield from (((*base, option, value), name or option) for value in values)
    yield (*base, option), option


def wrong_of_summarize():
    yield from each(SUMMARIZE, "--sigma", POSITIVE)
    yield from each((*SUMMARIZE, "--sigma", "2"), "--count", (*POSITIVE, "1.5"))
    yield from each(SUMMARIZE, "--min-rows", (*NUMBERS, "1.5", "61"))
    yield from each(SUMMARIZE, "--rank", (*POSITIVE[:-1], "1.5"))
    yield from each(SUMMARIZE, "--precision", ("", "float16", "float", "64"))
    yield from each(NOISY, "--epsilon", POSITIVE)
    yield from each(NOISY, "--delta", (*POSITIVE, "0.6", "1"))
    yield from each(NOISY, "--clip", POSITIVE)
    yield from each(NOISY, "--budget", POSITIVE)
    yield (*NOISY, "--budget", "2"), "bound ε = 1.5"
    yield from each(
        SUMMARIZE, "--metrics", ("", ",", "nothing", "fid,fid", "fid;kid", "precision", "fld", "mfid", "🙂")
    )
    for path in (*NO_FILES, "folder", "folder/deeper", "broken", "text.txt", "pipe", "broken.zip", "image.png"):
        yield ("summarize", path, "--out", "x.nbs", "--extractor", "pixels"), "ROWS"
    for name in NO_ROWS:
        yield ("summarize", f"{name}.npy", "--out", "x.nbs"), "ROWS"
    yield (
        ("summarize", "table.csv", "--out", "x.nbs"),
        "numpy.save('table.npy', pandas.read_csv('table.csv').to_numpy())",
    )
    yield ("summarize", "one_row.npy", "--out", "x.nbs"), "--min-rows"
    yield from each(SUMMARIZE[:2], "--out", [*(path.format(".nbs") for path in NO_OUTPUTS), "named.nbs"])
    for path in (*NO_FILES[:6], "folder", "north.npy", "north.nbs", "text.txt", "pipe", "damaged.account", "x.nbs"):
        yield (*NOISY[:-1], path), "--account"
        if path != "missing":
            yield (*NOISY[:-1], path, "--budget", "3"), "--account"
    yield (*NOISY[:-1], "no_head.account"), "--account"
    for one in (("--clip", "1"), ("--account", "a"), ("--budget", "2"), ("--delta", "1e-6")):
        yield (*SUMMARIZE, *one), one[0]
    yield (*SUMMARIZE, "--count", "8"), "--count"
    yield (*SUMMARIZE, "--metrics", "fid", "--sigma", "2"), "--sigma"
    yield NOISY, "--account"  # too little is left
    yield (*NOISY[:-2], "--budget", "3"), "--budget"
    yield (*NOISY[:-4], "--account", "new.account", "--budget", "3"), "Set --clip"
    yield (
        (*SUMMARIZE, "--epsilon", "1", "--metrics", "kid", "--account", "new.account", "--budget", "3"),
        "kid with --sigma",
    )
    yield (*NOISY, "--rank", "1"), "given with --epsilon"
    yield ("summarize", "broken", "--out", "x.nbs", "--weights", "missing.pth"), "error"
    yield (*SUMMARIZE, "--weights", "other.pth"), "--weights"
    yield ("summarize",), "ROWS"
    yield SUMMARIZE[:2], "--out"
    yield (*SUMMARIZE, "again.npy"), "again.npy. `nbmetrics summarize --help`"
    yield (*SUMMARIZE, "--clipp", "3"), "--clipp 3. `nbmetrics summarize --help`"
    yield (*SUMMARIZE, ""), "arguments: ''. "
    for option, value in {"extractor": "no", "batch-size": "0", "device": "abacus", "resize": "half"}.items():
        yield ("summarize", "broken", "--out", "x.nbs", "--extractor", "pixels", f"--{option}", value), f"--{option}"


def wrong_of_aggregate():
    yield from each(AGGREGATE, "--sigma", POSITIVE)
    yield from each((*AGGREGATE, "--sigma", "2"), "--count", (*POSITIVE, "1.5"))
    yield from each(AGGREGATE, "--samples", (*POSITIVE[:-1], "1.5"))
    yield from each(AGGREGATE, "--seed", (*NUMBERS, "1.5"))
    yield from each(AGGREGATE, "--metrics", ("", ",", "nothing", "fid,fid"))
    for name in ("precision", "fld", "mfid"):
        yield (*AGGREGATE, "--metrics", name), f"has none for {name}"
    for path in (*NO_FILES, "folder", "folder/deeper", "pipe"):
        yield ("aggregate", path, "--generators", "wide.npy"), "SUMMARIES"
    for path in ("north.npy", "text.txt", "image.png"):
        yield ("aggregate", path, "--generators", "wide.npy"), "client"
    for name in NO_SUMMARIES:
        yield ("aggregate", "only_fid.nbs", f"{name}.nbs", "--metrics", "fid", "--generators", "wide.npy"), name
    for name in ("other_width", "only_fid", "random"):
        yield ("aggregate", "north.nbs", f"{name}.nbs", "--generators", "wide.npy"), name
    for path in (*NO_FILES, "text.txt", "north.nbs", "pipe"):
        yield ("aggregate", "north.nbs", "--generators", "wide.npy", path), "--generators"
    for name in NO_ROWS:
        yield ("aggregate", "north.nbs", "--generators", f"{name}.npy"), "--generators"
    yield ("aggregate", "north.nbs", "--generators", "images"), "nbmetrics features FOLDER --extractor NAME --out"
    yield ("aggregate", "north.nbs", "--generators", "other_width.npy"), "other_width"
    for option, suffix in {"json": ".json", "html": ".html", "csv": ".csv", "markdown": ".md", "latex": ".tex"}.items():
        yield from each(AGGREGATE, f"--{option}", [path.format(suffix) for path in NO_OUTPUTS])
    yield (*AGGREGATE, "--json", "named.json"), "--json"
    yield ("aggregate", "north.nbs", "north.nbs", "--generators", "wide.npy"), "north"
    yield ("aggregate", "north.nbs", "folder/north.nbs", "--generators", "wide.npy"), "north"
    random = ("aggregate", "random.nbs", "--generators", "wide.npy", "--metrics", "kid")
    yield (*random, "--sigma", "3", "--count", "8"), "σ = 3"
    yield (*random, "--sigma", "2", "--count", "9"), "--count"
    yield (*random, "--sigma", "2", "--count", "10"), "10 random"
    yield (*AGGREGATE, "wide.npy"), "wide.npy"
    yield (*AGGREGATE, "--sigma", "2"), "north"
    yield ("aggregate",), "--generators"
    yield AGGREGATE[:2], "--generators"
    yield AGGREGATE[2:], "COMMAND"


def wrong_of_inspect():
    for path in (
        *NO_FILES,
        "folder",
        "north.npy",
        "text.txt",
        "pipe",
        "image.png",
        "damaged.account",
        "no_head.account",
    ):
        yield ("inspect", path), "SUMMARY"
    for name in NO_SUMMARIES:
        yield ("inspect", f"{name}.nbs"), name
    yield ("inspect",), "SUMMARY"
    yield ("inspect", "north.nbs", "only_fid.nbs"), "only_fid.nbs"
    yield ("inspect", "north.nbs", "--json"), "--json"
    yield ("inspekt", "north.nbs"), "inspekt"


WRONG = [*wrong_of_summarize(), *wrong_of_aggregate(), *wrong_of_inspect()]


def files(folder):
    """What lies in the folder, with its bytes."""
    found = {path: path.lstat() for path in folder.rglob("*") if path.name != "home"}
    return {path: (state.st_size, state.st_mtime_ns, state.st_ino) for path, state in found.items()}


def test_there_are_many():
    assert len(WRONG) >= 300 and len({words for words, _ in WRONG}) == len(WRONG)


@pytest.mark.parametrize(("words", "names"), some_of(WRONG, 3), ids=lambda part: str(part)[:60])
def test_it_ends_with_one_line_that_says_the_mend_and_writes_nothing(place, monkeypatch, capsys, words, names):
    monkeypatch.chdir(place)
    before = files(place)
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    assert code == 2 and out == "" and files(place) == before
    assert err.endswith("\n") and len(err.splitlines()) == 1 and len(err) < 500
    assert re.fullmatch(r"error: .*\S\. `?[A-Zn].*\n", err), "what is wrong. How to mend it"
    assert names in err
