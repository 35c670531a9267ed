"""Runs that are killed in the middle, and two at once, in processes of their own."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from nbmetrics.features.cache import STALE_DRAFT_SECONDS
from nbmetrics.features.extract import IMAGES_PER_CHUNK
from tests import ROOT

from .counting import IMAGES, chunks, counted, direct, drafts


@pytest.fixture
def process(folder, tmp_path):
    """process(*options) -> a started run of IMAGES in a process of its own; its rows lie in `<number>.npy`."""
    np.save(tmp_path / "images.npy", IMAGES)
    started = []

    def start(*options):
        rows = tmp_path / f"{len(started)}.npy"
        command = [sys.executable, "-m", "tests.features.counting", tmp_path / "images.npy", rows, *options]
        pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        started.append(subprocess.Popen(command, cwd=ROOT, text=True, **pipes))
        return started[-1]

    yield start
    for run in started:
        run.kill()
        run.communicate()


@pytest.mark.parametrize("at", [100, IMAGES_PER_CHUNK + 100, 2 * IMAGES_PER_CHUNK + 30])
def test_after_kill_9_only_unfinished_chunks_are_computed(folder, process, at):
    assert process("--kill-at", str(at)).wait() == -signal.SIGKILL
    finished = at // IMAGES_PER_CHUNK
    assert len(chunks(folder)) == finished
    rows, seen = counted(IMAGES)
    assert seen == len(IMAGES) - finished * IMAGES_PER_CHUNK
    np.testing.assert_array_equal(rows, direct(IMAGES))


def test_killed_while_a_file_is_written_leaves_a_draft_that_is_swept_later(folder, process):
    assert process("--kill-in-write", "1").wait() == -signal.SIGKILL
    assert len(chunks(folder)) == len(drafts(folder)) == 1
    rows, seen = counted(IMAGES[: 2 * IMAGES_PER_CHUNK])
    assert seen == IMAGES_PER_CHUNK and len(drafts(folder)) == 1  # it may be of a process that is writing
    np.testing.assert_array_equal(rows, direct(IMAGES[: 2 * IMAGES_PER_CHUNK]))
    os.utime(drafts(folder)[0], (time.time() - 2 * STALE_DRAFT_SECONDS,) * 2)
    counted(IMAGES)
    assert drafts(folder) == []


def test_two_processes_at_once_are_right_and_leave_one_set_of_files(folder, process, tmp_path):
    runs = [process("--wait") for _ in range(2)]
    for run in runs:
        assert run.stdout.readline() == "ready\n"
    outs = [
        run.communicate("go\n") if k else (run.stdin.write("go\n"), run.stdin.flush()) for k, run in enumerate(runs)
    ]
    outs[0] = runs[0].communicate()
    assert [err for _, err in outs] == ["", ""]
    for k, (out, _) in enumerate(outs):
        assert 0 <= int(out) <= len(IMAGES)
        np.testing.assert_array_equal(np.load(tmp_path / f"{k}.npy"), direct(IMAGES))
    assert len(IMAGES) <= sum(int(out) for out, _ in outs)
    assert len(chunks(folder)) == 3 and drafts(folder) == []
    assert counted(IMAGES)[1] == 0
