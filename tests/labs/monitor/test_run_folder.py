"""A run's folder: nothing that was written is lost, and nothing in a folder is trusted."""

import json
import math
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

from nbmetrics import InvalidInput
from nbmetrics.labs.monitor import run_folder
from nbmetrics.labs.monitor.history import read_history
from nbmetrics.labs.monitor.log_events import Point, Segment
from nbmetrics.labs.monitor.run_folder import PENDING
from tests import ROOT
from tests.waiting import until

KILLS = 20
# Writes steps with an array each into the folders it is told, for ever, and says the number of each once it is written.
WRITES = """
import os, signal, sys
import numpy as np
from nbmetrics.labs.monitor.run_folder import Writer

signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who is dead is gone
for folder in map(str.strip, sys.stdin):
    if not folder:
        os.write(1, b"told\\n")
        continue
    if os.fork():
        continue
    writer = Writer(folder)
    for step in range(1_000_000):
        place = writer.append_array(np.full(step % 50, float(step)))
        writer.append({"event": "step", "step": step, "place": list(place)})
        os.write(1, b"%d %d\\n" % (os.getpid(), step))
"""


def events(folder):
    return [event for _, event in run_folder.LogReader(folder).events()]


def is_gone(child):
    try:
        os.kill(child, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed as on Linux and macOS")
def test_a_killed_writer_loses_nothing_that_was_written(tmp_path):
    rng = random.Random(0)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen([sys.executable, "-c", WRITES], cwd=ROOT, **pipes) as process:
        for kill in range(KILLS):
            folder = tmp_path / str(kill)
            process.stdin.write(f"{folder}\n")
            for _ in range(rng.randint(1, 200)):
                child, said = map(int, process.stdout.readline().split())
            os.kill(child, signal.SIGKILL)
            until(lambda child=child: is_gone(child))
            process.stdin.write("\n")
            while (line := process.stdout.readline()) != "told\n":
                said = int(line.split()[1])
            reader = run_folder.LogReader(folder)
            found = [event for _, event in reader.events()]
            assert [event["step"] for event in found] == list(range(len(found)))
            assert said + 1 <= len(found) <= said + 2 and reader.skipped <= 1
            arrays = [reader.array(run_folder.Place(*event["place"])) for event in found]
            assert all((a == event["step"]).all() for a, event in zip(arrays, found, strict=True))
            run_folder.Writer(folder).append({"event": "more"})  # and another goes on
            assert events(folder) == [*found, {"event": "more"}]


@pytest.mark.parametrize("late", [0.0, 61.5])
def test_the_quick_line_of_losses_is_the_line_of_their_event(late):
    losses = {"d": 0.1, 'naïve \u2028 "g"': math.nan, "up": math.inf, "down": -math.inf, "count": 3}
    segment = Segment.of(["a"], [1.0], [], 0)
    plain = {name: float(value) for name, value in losses.items()}
    event = Point(segment, 7, 1.5, plain, late=late).to_json({})
    assert run_folder.encode_losses(7, 1.5, {**losses, "tensor": object()}, late) == run_folder.encode_event(event)


def test_what_was_not_yet_written_is_read_and_the_next_writer_writes_it(tmp_path):
    writer = run_folder.Writer(tmp_path)
    writer.append({"step": 0})
    lines = [run_folder.encode_event({"step": step, "text": "x" * step}) for step in range(1, 40)]
    for line in lines:
        writer.pending.add(line)
    writer.pending.keep_only(lines[20:])  # the others are in the log by now
    assert [event["step"] for event in events(tmp_path)] == [0, *range(21, 40)]
    held = (tmp_path / PENDING).read_bytes()
    (tmp_path / PENDING).write_bytes(held[:9] + b"?" + held[10:].replace(b'"step":30', b'"step":31'))
    writer._steps = os.close(writer._steps) or -1  # as one that was killed: its lock is gone
    reader = run_folder.LogReader(tmp_path)
    expected = [0, *range(22, 30), *range(31, 40)]
    assert [event["step"] for _, event in reader.events()] == expected and not reader.skipped
    again = run_folder.Writer(tmp_path)
    again.append({"step": 99})
    assert [event["step"] for event in events(tmp_path)] == [*expected, 99]
    for _ in range(3_000):  # more than there is room for: the log has them all the same
        again.pending.add(b"x" * 100 + b"\n")
    again.pending.keep_only([])
    again.close()
    assert not (tmp_path / PENDING).exists()


def test_nothing_is_lost_on_a_full_disk_but_what_did_not_fit(tmp_path):
    writer, limits = run_folder.Writer(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    for step in range(3):
        writer.append({"step": step})
    full = os.path.getsize(tmp_path / run_folder.STEPS) + 7
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (full, limits[1]))
        for _ in range(2):
            with pytest.raises(OSError):
                writer.append({"step": 3, "text": "x" * 50})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    writer.append({"step": 4})
    assert [event["step"] for event in events(tmp_path)] == [0, 1, 2, 4]


def test_damaged_lines_are_left_out_and_told_and_a_torn_end_is_put_aside(tmp_path):
    writer = run_folder.Writer(tmp_path)
    for step in range(4):
        writer.append({"step": step})
    writer.close()
    steps = tmp_path / run_folder.STEPS
    lines = steps.read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b"1}", b"7}")
    deep = b"[" * 200_000
    lines[2:2] = [b"no line", b"%08x %s" % (zlib.crc32(deep), deep), b"x" * (run_folder.MAX_LINE_BYTES + 5)]
    steps.write_bytes(b"\n".join([*lines[:-1], b"0123abcd {torn"]))
    reader = run_folder.LogReader(tmp_path)
    assert [event["step"] for _, event in reader.events()] == [0, 2, 3]
    assert reader.skipped == 5
    words = (
        "line 2: does not match its checksum",
        "line 3: has no",
        "line 4: is nested",
        "line 5: is too",
        "line 8: is torn",
    )
    assert all(told.startswith(word) for told, word in zip(reader.messages, words, strict=True)), reader.messages
    writer = run_folder.Writer(tmp_path)
    assert writer.torn == len(b"0123abcd {torn")
    assert (tmp_path / run_folder.TORN).read_bytes() == b"0123abcd {torn\n"
    writer.append({"step": 4})
    assert [event["step"] for event in events(tmp_path)] == [0, 2, 3, 4]


@pytest.mark.parametrize("value", [0.1, math.inf, -math.inf, math.nan, 5e-324, -1.7e308])
def test_every_number_comes_back(tmp_path, value):
    writer = run_folder.Writer(tmp_path)
    writer.append({"deep": [{"value": value}]})
    (event,) = events(tmp_path)
    assert run_folder.decode_number(event["deep"][0]["value"]) == pytest.approx(value, abs=0, rel=0, nan_ok=True)
    text = (tmp_path / run_folder.STEPS).read_text("utf-8")
    json.loads(text[9:], parse_constant=pytest.fail)  # as a browser reads it


@pytest.mark.parametrize(
    "array", [np.zeros((0, 3)), np.arange(6.0).reshape(2, 3), np.float32([[1, np.nan]]), np.array(2.0)]
)
def test_arrays_come_back(array):
    found = run_folder.unpack_array(run_folder.pack_array(array))
    assert found.dtype == array.dtype and found.shape == array.shape and found.tobytes() == array.tobytes()


def test_no_byte_of_a_frame_can_be_changed_unseen():
    frame = run_folder.pack_array(np.arange(3.0))
    for place in range(len(frame)):
        for bit in (1, 128):
            changed = bytearray(frame)
            changed[place] ^= bit
            with pytest.raises(ValueError):
                run_folder.unpack_array(bytes(changed))
    for cut in range(len(frame)):
        with pytest.raises(ValueError):
            run_folder.unpack_array(frame[:cut])


def signed(kind, shape, body, dimensions=None):
    """A frame with a right checksum, whatever it says."""
    head = struct.pack("<2sH", kind, len(shape) if dimensions is None else dimensions)
    rest = head + struct.pack(f"<{len(shape)}q", *shape) + body
    return run_folder.FRAME_MAGIC + struct.pack("<II", len(body), zlib.crc32(rest)) + rest


@pytest.mark.parametrize(
    "frame",
    [
        signed(b"f8", (2**40,), bytes(8)),
        signed(b"f8", (-1, -1), bytes(8)),
        signed(b"f8", (2**33, 2**33), b""),
        signed(b"O8", (1,), bytes(8)),
        signed(b"f8", (1, 1, 1, 1, 1), bytes(8)),
        signed(b"f8", (1,), bytes(8), dimensions=4),
    ],
)
def test_a_hostile_frame_is_refused_before_memory_is_taken(frame):
    with pytest.raises(ValueError):
        run_folder.unpack_array(frame)


def test_places_outside_of_the_file_are_refused(tmp_path):
    writer = run_folder.Writer(tmp_path)
    offset, length = writer.append_array(np.arange(3.0))
    reader = run_folder.LogReader(tmp_path)
    assert reader.array(run_folder.Place(offset, length)).tolist() == [0, 1, 2]
    for place in ((offset + 1, length), (-1, length), (offset, 2**50), (2**62, 1), (offset, 0)):
        with pytest.raises(ValueError):
            reader.array(run_folder.Place(*place))


def test_a_folder_has_one_writer_and_is_a_run_of_this_format(tmp_path):
    writer = run_folder.Writer(tmp_path / "run")
    with pytest.raises(InvalidInput, match="another process"):
        run_folder.Writer(tmp_path / "run")
    writer.close()
    run_folder.Writer(tmp_path / "run").close()
    for path in (tmp_path, tmp_path / "absent", 3, tmp_path / "run" / run_folder.STEPS):
        with pytest.raises(InvalidInput):
            run_folder.LogReader(path)
    with pytest.raises(InvalidInput, match=r"no folder|written"):
        run_folder.Writer(tmp_path / "run" / run_folder.STEPS / "below")
    (tmp_path / "run" / run_folder.META).write_text('{"version": 99}', "utf-8")
    with pytest.raises(InvalidInput, match="newer"):
        run_folder.LogReader(tmp_path / "run")


HOSTILE = [
    {"event": "segment"},
    {"event": "segment", "names": ["a", "a"], "weights": [1, 1], "metrics": []},
    {"event": "segment", "names": ["a"], "weights": ["nan"], "metrics": []},
    {"event": "segment", "names": ["a"], "weights": [1], "metrics": [{}]},
    {"event": "segment", "names": 3, "weights": {}, "metrics": "x"},
    {"event": "segment", "names": ["a"] * 20_000, "weights": [1], "metrics": []},
    {"event": "segment", "names": ["\x1b[2J"], "weights": [1], "metrics": []},
    {"event": "step", "step": 0, "time": 0},
    {"event": "other"},
    {"event": ["step"]},
]
IN_SEGMENT = [
    {"event": "step"},
    {"event": "step", "step": -1, "time": 0},
    {"event": "step", "step": True, "time": 0},
    {"event": "step", "step": 10**400, "time": 0},
    {"event": "step", "step": 0, "time": "soon"},
    {"event": "step", "step": 0, "time": 0, "losses": [1]},
    {"event": "step", "step": 0, "time": 0, "losses": {"a": None}},
    {"event": "step", "step": 0, "time": 0, "losses": {"x" * 999: 1}},
    {"event": "step", "step": 0, "time": 0, "count": 5, "frames": {}},
    {"event": "step", "step": 0, "time": 0, "count": 5, "frames": {"clients": [0, 2**40]}, "all": [], "terms": []},
    {"event": "step", "step": 0, "time": 0, "count": 5, "frames": {"clients": [0, -8]}, "all": [], "terms": []},
]
GOOD = {"event": "segment", "names": ["a"], "weights": [1], "metrics": []}


@pytest.mark.parametrize("event", [*HOSTILE, *IN_SEGMENT], ids=lambda event: str(event)[:80])
def test_a_hostile_event_is_left_out_and_told(tmp_path, event):
    before = [] if event in HOSTILE else [GOOD]
    lines = [b"%08x %s\n" % (zlib.crc32(t), t) for t in (json.dumps(e).encode() for e in [*before, event])]
    (tmp_path / run_folder.STEPS).write_bytes(b"".join(lines))
    history, reader = read_history(tmp_path)
    assert reader.skipped == 1 and history.points == () and len(history.segments) == len(before)
