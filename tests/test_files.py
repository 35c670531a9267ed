"""What differs on Windows, simulated: locks of bytes, and files that cannot be replaced while they are open."""

import errno
import os
import subprocess
import sys
import time
import types

import pytest

from nbmetrics import files, threads
from tests import ROOT

BLOCK = """
import os, sys
from pathlib import Path
from nbmetrics.files import lock_file
lock_file(os.open(sys.argv[1], os.O_RDWR), wait=False)
"""


def test_a_locked_file_is_refused_to_another_process_until_it_is_closed(tmp_path):
    path = tmp_path / "log"
    path.touch()
    file = os.open(path, os.O_RDWR)
    files.lock_file(file, wait=False)
    command = [sys.executable, "-c", BLOCK, str(path)]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert "BlockingIOError" in refused.stderr
    os.close(file)
    assert subprocess.run(command).returncode == 0


@pytest.fixture
def windows(monkeypatch):
    """No fcntl; an msvcrt in which a test says how many of the next locks are refused; and no file is replaced then."""
    system = types.SimpleNamespace(refusals=0, LK_NBLCK=2, calls=[])

    def locking(descriptor, mode, count):
        system.calls.append((os.lseek(descriptor, 0, os.SEEK_CUR), mode, count))
        if system.refusals:
            system.refusals -= 1
            raise PermissionError(errno.EACCES, "Permission denied")

    system.locking = locking
    moved = os.replace

    def replace(draft, target):
        if system.refusals:
            system.refusals -= 1
            raise PermissionError(errno.EACCES, "Access is denied")
        moved(draft, target)

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", system)
    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(files, "REPLACE_PAUSE_SECONDS", 0.0)
    return system


def test_windows_locks_one_byte_far_away_and_leaves_the_position(windows, tmp_path):
    file = os.open(tmp_path / "log", os.O_RDWR | os.O_CREAT)
    os.write(file, b"abc")
    files.lock_file(file, wait=False)
    assert windows.calls == [(files.LOCKED_BYTE, windows.LK_NBLCK, 1)]
    assert os.lseek(file, 0, os.SEEK_CUR) == 3
    windows.refusals = 1
    with pytest.raises(BlockingIOError):
        files.lock_file(file, wait=False)
    windows.refusals = 3
    files.lock_file(file, wait=True)
    assert windows.refusals == 0 and os.lseek(file, 0, os.SEEK_CUR) == 3
    os.close(file)


def test_windows_replaces_a_file_once_its_readers_are_done(windows, tmp_path, monkeypatch):
    windows.refusals = 2
    (tmp_path / "draft").write_text("new")
    draft, target = tmp_path / "draft", tmp_path / "target"
    with pytest.raises(PermissionError):  # on other systems it is a lack of rights, at once
        files.replace_file(draft, target)
    assert windows.refusals == 1
    with monkeypatch.context() as context:
        context.setattr(files.os, "name", "nt")
        files.replace_file(draft, target)
    assert target.read_text() == "new"


def test_windows_says_so_where_a_file_stays_open(windows, tmp_path, monkeypatch):
    windows.refusals = 10**9
    (tmp_path / "draft").touch()
    monkeypatch.setattr(files, "MAX_REPLACE_SECONDS", 0.05)
    draft, target = tmp_path / "draft", tmp_path / "target"
    with monkeypatch.context() as context:
        context.setattr(files.os, "name", "nt")
        with pytest.raises(PermissionError):
            files.replace_file(draft, target)


@pytest.fixture
def pyodide(monkeypatch):
    """Neither locks nor hard links, nor a clock of one thread."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    monkeypatch.delattr(os, "link")
    monkeypatch.delattr(time, "thread_time")


def test_pyodide_has_no_locks_no_hard_links_and_one_clock(pyodide, tmp_path):
    with open(tmp_path / "a", "wb") as file:
        files.lock_file(file.fileno(), wait=False)
        files.lock_file(file.fileno(), wait=True)
    for content in (b"first", b"second"):
        files.write_once(tmp_path / "b", content)
    assert (tmp_path / "b").read_bytes() == b"first" and sorted(os.listdir(tmp_path)) == ["a", "b"]
    assert 0.0 <= threads.cpu_seconds() <= time.process_time()


def test_a_full_disk_leaves_no_file_that_looks_whole(monkeypatch, tmp_path):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write_once(tmp_path / "b", b"content")
    assert os.listdir(tmp_path) == []


# What Pyodide lacks, or takes only 32 bits for, and the one file that may use it; a cluster does not run there.
ELSEWHERE = {
    "np.bincount(": "arrays.py",
    "time.thread_time": "threads.py",
    '"thread_time"': "threads.py",
    "os.link(": "files.py",
    "import fcntl": "files.py",
    ".read(1 <<": "",
}


@pytest.mark.parametrize("words", ELSEWHERE)
def test_what_pyodide_lacks_is_used_in_one_file(words):
    package = ROOT / "nbmetrics"
    users = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if words in path.read_text("utf-8")}
    assert {user for user in users if not user.startswith("cluster/")} <= {ELSEWHERE[words]}
