"""Bytes and tables from elsewhere, broken in every way: an answer, a refusal, or less with the reason, and no more.

Summaries with a right and with a wrong checksum, folders of runs, images, chunks of the cache, files given to the
command, tables given to the Dashboard, batches of streams.
"""

import contextlib
import copy
import io
import json
import os
import tempfile
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.cli import main
from nbmetrics.federated import serialization
from tests.fuzz_checks import anything
from tests.fuzzing import Tally
from tests.hostile import VALUES
from tests.test_fuzz import fuzz, outcome
from tests.test_fuzz_labs import damaged, places

A, B = (np.random.default_rng(k).normal(size=(24, 2)) + k / 4 for k in range(2))
DISTRIBUTION = nm.Gaussian([0.0, 0.0], 4.0)
seeds = st.integers(0, 2**16)


@st.composite
def flipped(draw, data):
    """The bytes with some changed, cut off, doubled or put in."""
    held = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(held) - 1)))
        match draw(st.sampled_from(["bit", "bit", "byte", "cut", "doubled", "zeros"])):
            case "bit" if held:
                held[at] ^= 1 << draw(st.integers(0, 7))
            case "byte" if held:
                held[at] = draw(st.integers(0, 255))
            case "cut":
                del held[at : at + draw(st.sampled_from([1, 9, 10**6]))]
            case "doubled":
                held[at:at] = held[at : at + 40]
            case _:
                held[at:at] = bytes(draw(st.sampled_from([1, 8, 300])))
    return bytes(held)


@st.composite
def other_json(draw, value):
    """The same JSON with one to three parts replaced, left out, added or doubled."""
    made = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        if found := list(places(made)):
            part, (*parents, last) = made, draw(st.sampled_from(found))
            for key in parents:
                part = part[key]
            damaged(draw, part, last)
    return made


def as_json(value):
    """Bytes; what JSON has not, such as a lone surrogate, as it can be written."""
    return json.dumps(value).encode("utf-8", "surrogatepass")


@cache
def summaries():
    few = nm.metrics.KID(nm.RandomFeatures(nm.RBF(1.0), 8), name="few")
    noise = nm.federated.Privacy(1.0, clip=3.0, seed=0)
    return {
        "fid": ("fid", nm.federated.client_summary(A, "fid")),
        "kid": ("kid", nm.federated.client_summary(A, "kid")),
        "few": (few, nm.federated.client_summary(A, few)),
        "noised": ("fid", nm.federated.client_summary(A, "fid", privacy=noise)),
        "rows": ("precision", nm.federated.client_summary(A, "precision", reveal_rows=True)),
    }


@st.composite
def lying_summaries(draw):
    """A summary of another header, or other numbers, with a right checksum; or other bytes without one."""
    metric, sent = draw(st.sampled_from(list(summaries().values())))
    size = int.from_bytes(sent[8:12], "little")
    if draw(st.booleans()):
        return metric, draw(flipped(sent))
    head, body = json.loads(sent[12 : 12 + size]), sent[12 + size : -serialization.CHECKSUM]
    if draw(st.integers(0, 3)):
        head = draw(other_json(head))
    else:
        body = draw(flipped(body))
    raw = as_json(head)
    return metric, serialization.with_checksum(sent[:8] + len(raw).to_bytes(4, "little") + raw + body)


def scored(metric, data, beside):
    sent = [data, summaries()["fid"][1]] if beside and metric == "fid" else [data]
    scores = nm.federated.aggregate(sent, None, {"g": DISTRIBUTION} if metric != "precision" else {"g": B}, metric)
    assert repr(scores) and scores.cautions is not None


def test_summaries_of_every_kind():
    with Tally("summaries") as tally:

        @fuzz(300)
        @given(lying_summaries(), st.booleans())
        def attempt(lie, beside):
            tally.add(outcome(lambda: scored(*lie, beside), anything))

        attempt()


@cache
def run_folder():
    """The files of a short run."""
    with tempfile.TemporaryDirectory() as folder:
        lab = nm.Monitor([A, B], path=folder, keep_all=True, samples=12)
        for step in range(4):
            lab.log(step, lambda n, rng, step=step: rng.normal(step / 9, 1, (n, 2)), loss=1.0 / (1 + step))
        lab.wait(60)
        lab.close()
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@st.composite
def tampered_runs(draw):
    """Files of a run, mostly with lines whose checksum is right."""
    files = dict(run_folder())
    if draw(st.integers(0, 3)) == 0:
        name = draw(st.sampled_from(sorted(files)))
        return {**files, name: draw(flipped(files[name]))}
    lines = [json.loads(line[9:]) for line in files["steps.jsonl"].splitlines()]
    texts = [as_json(event) for event in draw(other_json(lines))]
    return {**files, "steps.jsonl": b"".join(b"%08x %s\n" % (zlib.crc32(text), text) for text in texts)}


def looked_at(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        lab = nm.Monitor.open(folder)
        try:
            assert lab.wait(60)
            return lab.table, lab.losses, lab.alarms, lab.words, lab.troubles, lab.run, lab.past, lab.told
        finally:
            lab.close()
            assert {path.name: path.read_bytes() for path in Path(folder).iterdir()} == files, "a reader wrote"


def test_folders_of_runs():
    with Tally("folders of runs") as tally:

        @fuzz(150)
        @given(tampered_runs())
        def attempt(files):
            tally.add(outcome(lambda: looked_at(files), anything))

        attempt()


@cache
def pictures():
    from PIL import Image

    made, rng = {}, np.random.default_rng(0)
    for kind, mode in (("PNG", "RGB"), ("PNG", "LA"), ("JPEG", "RGB"), ("TIFF", "RGB"), ("GIF", "P"), ("WEBP", "RGB")):
        held, shape = io.BytesIO(), (12, 10, len(Image.new(mode, (1, 1)).getbands()))
        pixels = rng.integers(0, 256, shape, np.uint8)
        Image.fromarray(pixels.squeeze(), "L" if mode == "P" else mode).save(held, kind)
        made[f"{kind} {mode}"] = held.getvalue()
    return made


def federation_of(name, data):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a").mkdir()
        for place in range(3):
            (Path(folder) / f"a/good{place}.png").write_bytes(pictures()["PNG RGB"])
        (Path(folder) / f"a/odd.{name.split()[0].lower()}").write_bytes(data)
        federation = nm.Federation.from_folder(folder, "pixels")
        assert len(federation.clients[0].rows) in (3, 4) and np.isfinite(np.asarray(federation.clients[0].rows)).all()


def test_images():
    with Tally("images") as tally:

        @fuzz(200)
        @given(st.sampled_from(sorted(pictures())), st.data())
        def attempt(name, data):
            broken = data.draw(flipped(pictures()[name]))
            tally.add(outcome(lambda: federation_of(name, broken), anything))

        attempt()


def kept_and_found(change):
    """The rows of a chunk that was changed on the disk: computed again, or those that were kept."""
    from nbmetrics.features.cache import Cache

    with tempfile.TemporaryDirectory() as folder:
        cache_, images, kept = Cache(folder), [bytes([k]) * 32 for k in range(3)], A[:3].astype(np.float32)
        cache_.shelf("pixels", "a").keep(images, kept)
        [file] = cache_.files()
        file.path.write_bytes(change(file.path.read_bytes()))
        again = cache_.shelf("pixels", "a")
        assert repr(cache_.info())
        rows, is_known = again.find(images)
        assert not is_known.any() or np.array_equal(rows[is_known], kept[is_known]), "other rows than were kept"
        assert (whole := again.get(images)) is None or np.array_equal(whole, kept)


def test_chunks_of_the_cache():
    with Tally("chunks of the cache") as tally:

        @fuzz(150)
        @given(st.data())
        def attempt(data):
            tally.add(outcome(lambda: kept_and_found(lambda held: data.draw(flipped(held))), anything))

        attempt()


def commanded(files, words):
    """The command's exit code, which is 0 or 2."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.chdir(folder)
            os.mkdir("clients")
            for name, data in files.items():
                Path(name).write_bytes(data)
            said, told = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
                try:
                    code = main(["score", "clients", "g.npy", *words])
                except SystemExit as stop:
                    code = stop.code
        finally:
            os.chdir(before)
    assert code in (0, 2) and "Traceback" not in told.getvalue(), told.getvalue()
    if code == 2:
        raise nm.InvalidInput("command", told.getvalue(), "")


def npy(rows):
    held = io.BytesIO()
    np.save(held, rows)
    return held.getvalue()


def test_files_and_options_of_the_command():
    words = ["--metrics", "--uncertainty", "--seed", "--test", "--extractor", "--json", "--csv", "--markdown", "--html"]
    values = [
        "fid",
        "kid,fid",
        "precision",
        "influence",
        "none",
        "0",
        "-1",
        "1e999",
        "0.2",
        "",
        "x.json",
        "..",
        "\u03bb",
    ]
    with Tally("the command") as tally:

        @fuzz(120)
        @given(st.data(), st.sampled_from(list(VALUES)), seeds)
        def attempt(data, kind, seed):
            rows = VALUES[kind](np.random.default_rng(seed), 20, 2)
            files = {"clients/a.npy": npy(A), "clients/b.npy": npy(rows), "g.npy": npy(B)}
            if data.draw(st.booleans()):
                name = data.draw(st.sampled_from(sorted(files)))
                files[name] = data.draw(flipped(files[name]))
            given_words = data.draw(st.lists(st.sampled_from([*words, *values]), max_size=4))
            tally.add(outcome(lambda: commanded(files, given_words), anything))

        attempt()


def shown_table(table, **options):
    lab = nm.Dashboard.from_table(table, **options)
    try:
        lab.wait()
        assert "error" not in lab.result, lab.result.get("error")
        return lab.scores.table, lab.result
    finally:
        lab.close()


@st.composite
def tables(draw):
    """Scores of a few clients and generators, and mostly some of them strange."""
    clients, generators = draw(st.integers(0, 6)), draw(st.integers(0, 4))
    values = VALUES[draw(st.sampled_from(list(VALUES)))](np.random.default_rng(draw(seeds)), clients, generators)
    names = draw(st.sampled_from([list("abcdef"), ["avg", "n", "all", "x"], ["a"] * 6, [1, 2.5, None, ()], ["", "λ"]]))
    frame = pd.DataFrame(values, columns=[names[k % len(names)] for k in range(generators)])
    match draw(st.sampled_from(["frame", "frame", "dict", "text", "object", "complex", "long", "array"])):
        case "dict":
            return {str(k): list(column)[: draw(st.integers(0, 6))] for k, column in enumerate(values.T)}
        case "text":
            return frame.astype(str)
        case "object":
            return frame.astype(object).map(lambda x: draw(st.sampled_from([x, None, "1,5", 10**400, [1], True])))
        case "complex":
            return frame.astype(complex)
        case "long":
            two = [*values.ravel().tolist(), 1, 2][:2]
            return pd.DataFrame({"client": ["a", "b"], "generator": ["g", "g"], "value": two})
        case "array":
            return values
        case _:
            return frame


def test_tables():
    with Tally("tables for the Dashboard") as tally:

        @fuzz(80)
        @given(
            tables(),
            st.sampled_from([{}, {"weights": [1, 2]}, {"weights": "rows"}, {"label": 3}, {"higher_is_better": True}]),
        )
        def attempt(table, options):
            tally.add(outcome(lambda: shown_table(table, **options), anything))

        attempt()


@st.composite
def batches(draw):
    """Batches of a stream, some of them of other features, without rows, or no rows at all."""
    found = []
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["normal", "normal", *VALUES]))
        rows = VALUES[kind](np.random.default_rng(draw(seeds)), draw(st.sampled_from([0, 1, 7, 20])), 2)
        odd = draw(st.integers(0, 19))
        found.append(
            {0: rows[:, :1], 1: None, 2: "rows", 3: rows.astype(complex), 4: [rows], 5: rows[0:0]}.get(odd, rows)
        )
    return found


def streamed(parts, metrics):
    scores = nm.evaluate(
        [lambda: iter(parts), A], {"g": lambda: iter([B, B]), "distribution": DISTRIBUTION}, metrics, progress=False
    )
    table = scores.table[["avg", "all"]].to_numpy(float)
    assert not np.isinf(table).any() and repr(scores)


def test_streams():
    with Tally("streams") as tally:

        @fuzz(150)
        @given(batches(), st.sampled_from(["fid", "kid", ["fid", "kid"], "cmmd"]))
        def attempt(parts, metrics):
            tally.add(outcome(lambda: streamed(parts, metrics), anything))

        attempt()
