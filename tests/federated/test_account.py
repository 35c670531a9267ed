"""An account knows what was spent, refuses what would be too much, and never forgets, whatever ends the process."""

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import time
import zlib

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import nbmetrics as nm
from nbmetrics.federated import Account, Privacy, client
from nbmetrics.federated import account as account_module
from tests import ROOT
from tests.slow import by_default

ROWS = np.random.default_rng(0).normal(size=(400, 3))
PRIVATE = Privacy(epsilon=0.5, delta=1e-6, clip=4.0)


def release(account, privacy=PRIVATE, metrics="fid"):
    return nm.federated.client_summary(ROWS, metrics, privacy=privacy, account=account)


def epsilon_of(mus, delta):
    """ε of a Gaussian-DP composition, written out anew (Balle & Wang 2018)."""
    mu = math.sqrt(sum(m * m for m in mus))

    def excess(epsilon):
        high, low = norm.cdf(mu / 2 - epsilon / mu), norm.cdf(-mu / 2 - epsilon / mu)
        return high - math.exp(epsilon) * low - delta

    return brentq(excess, 0.0, 100.0, xtol=1e-12)


def test_the_spend_is_synced_before_the_bytes_are_made(tmp_path, monkeypatch):
    order, fsync, write = [], os.fsync, client.write
    path = tmp_path / "a"
    monkeypatch.setattr(
        os, "fsync", lambda file: (fsync(file), path.exists() and order.append(path.read_bytes().count(b"mu2")))
    )
    monkeypatch.setattr(client, "write", lambda *given: (order.append("bytes"), write(*given))[1])
    account = Account(path, epsilon=1.2, delta=1e-6)
    for spent in (1, 2):
        order.clear()
        release(account)
        assert order[-1] == "bytes" and spent in order[:-1]


def test_releases_compose_and_one_too_many_is_refused_and_not_written(tmp_path):
    account = Account(tmp_path / "a", epsilon=1.2, delta=1e-6)
    mu = 1.0 / nm.federated.noise_multiplier(0.5, 1e-6)
    for count in range(1, 10):
        before = account.path.read_bytes() if count > 1 else b""
        if epsilon_of([mu] * count, 1e-6) > 1.2:
            break
        release(account)
        assert account.spent == pytest.approx(epsilon_of([mu] * count, 1e-6), rel=1e-6)
        assert epsilon_of([mu] * count + [1.0 / nm.federated.noise_multiplier(account.left, 1e-6)], 1e-6) == (
            pytest.approx(1.2, rel=1e-5)
        )
    assert count == 6
    with pytest.raises(nm.InvalidInput, match=r"would spend ε = 1\.31 of 1\.2"):
        release(account)
    assert account.path.read_bytes() == before
    assert account.table["epsilon"].tolist() == sorted(account.table["epsilon"])
    assert account.table["about"].tolist() == ["fid"] * 5


def test_several_metrics_of_one_call_spend_its_epsilon_once(tmp_path):
    account = Account(tmp_path / "a", epsilon=2, delta=1e-6)
    release(account, metrics=["fid", nm.metrics.KID(nm.RandomFeatures(nm.RBF(1.0), 64))])
    assert account.spent == pytest.approx(0.5, rel=1e-6)


def test_all_of_it_may_be_spent_at_once(tmp_path):
    account = Account(tmp_path / "a", epsilon=0.5, delta=1e-6)
    release(account)
    assert account.left == 0.0
    with pytest.raises(nm.InvalidInput, match="would spend"):
        release(account, Privacy(epsilon=0.01, delta=1e-6, clip=4.0))


@pytest.mark.parametrize("bound", [1.5, 2.2, 3.0, 3.7])
@pytest.mark.parametrize("first", [0.0, 0.31, 0.5, 0.83])
def test_what_is_said_to_be_left_is_left(tmp_path, bound, first):
    account = Account(tmp_path / "a", epsilon=bound, delta=1e-6)
    if first:
        release(account, Privacy(epsilon=first, delta=1e-6, clip=4.0))
    said = float(str(account).removesuffix(".").rpartition("= ")[2])
    assert account.left * 0.99 < said <= bound
    release(account, Privacy(epsilon=said, delta=1e-6, clip=4.0))


def test_nothing_is_spent_where_nothing_is_released(tmp_path):
    account = Account(tmp_path / "a", epsilon=2, delta=1e-6)
    with pytest.raises(nm.InvalidInput, match="no summary on which one row has a bounded effect"):
        release(account, metrics="precision")
    release(account, metrics="vendi")
    assert account.spent == 0.0 and len(account.table) == 0


def test_an_account_needs_privacy_and_its_own_bound(tmp_path):
    account = Account(tmp_path / "a", epsilon=2, delta=1e-6)
    with pytest.raises(nm.InvalidInput, match="and privacy="):
        nm.federated.client_summary(ROWS, "fid", account=account)
    release(account)
    with pytest.raises(nm.InvalidInput, match="has the bound ε = 2"):
        Account(tmp_path / "a", epsilon=3, delta=1e-6)
    assert Account(tmp_path / "a", epsilon=2, delta=1e-6).spent == pytest.approx(0.5, rel=1e-6)


def test_only_a_release_makes_the_file_and_no_other_file_is_written_over(tmp_path):
    account, foreign = Account(tmp_path / "a", epsilon=2, delta=1e-6), tmp_path / "foreign"
    assert account.spent == 0.0 and account.left == pytest.approx(2.0) and not account.path.exists()
    for content in (b"a text", b"\0\1\2", b'{"format": 1}', b"text\n", b"\n"):
        foreign.write_bytes(content)
        for act in (lambda: Account(foreign, epsilon=2, delta=1e-6), lambda: Account.open(foreign)):
            with pytest.raises(nm.InvalidInput, match="is no account"):
                act()
        assert foreign.read_bytes() == content


FORGED = {
    "nested deep": '{"mu2": ' + "[" * 4000,
    "text": '{"mu2": "0.01", "about": "x", "date": "d"}',
    "no date": '{"mu2": 0.01, "about": "x"}',
    "400 digits": '{"mu2": 1' + "0" * 400 + ', "about": "x", "date": "d"}',
    "sums overflow": '{"mu2": 1e308, "about": "x", "date": "d"}',
    "negative": '{"mu2": -1.0, "about": "x", "date": "d"}',
    "pure text": '{"mu2": 1.0, "pure": "1", "about": "x", "date": "d"}',
    "long": '{"mu2": 1.0, "about": "' + "x" * 10**5 + '", "date": "d"}',
    "no dict": "[1, 2]",
}
HEADS = ['{"format": 1, "epsilon": "2.0", "delta": 1e-06}', '{"format": 1, "epsilon": [], "delta": null}']


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED)
def test_a_forged_line_is_refused(tmp_path, text):
    def line(text):
        return b"%s #%08x\n" % (text.encode(), zlib.crc32(text.encode()))

    forged = [line(head) for head in HEADS] + [line(OLD_BOUND) + line(text) + line(text)]
    for content in forged:
        (tmp_path / "a").write_bytes(content)
        for act in (lambda: Account(tmp_path / "a", epsilon=2, delta=1e-6).table, lambda: Account.open(tmp_path / "a")):
            with pytest.raises(nm.InvalidInput, match="is no account, or is damaged"):
                act()


def test_a_file_of_any_size_is_refused_before_it_is_read(tmp_path):
    release(Account(tmp_path / "a", epsilon=2, delta=1e-6))
    os.truncate(tmp_path / "a", 30 << 30)
    with pytest.raises(nm.InvalidInput, match="is damaged"):
        Account.open(tmp_path / "a")


def released(path, count):
    """An account of so many releases, and its lines; the first two are the bound and the head."""
    account = Account(path, epsilon=9, delta=1e-6)
    for k in range(count):
        account.spend(Privacy(epsilon=0.1 + k / 10, delta=1e-6, clip=1.0), f"release {k}")
    return account, path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_line_that_is_taken_out_is_noticed(tmp_path, count):
    account, lines = released(tmp_path / "a", count)
    changed = [lines[:k] + lines[k + 1 :] for k in range(len(lines))]
    changed += [lines[:k] for k in range(len(lines))]
    changed += [[*lines[:k], lines[k + 1], lines[k], *lines[k + 2 :]] for k in range(len(lines) - 1)]
    changed += [[*lines[:k], lines[k], *lines[k:]] for k in range(len(lines))]
    for some in changed:
        account.path.write_bytes(b"".join(some))
        with pytest.raises(nm.InvalidInput, match="damaged"):
            account.spent  # noqa: B018


def test_every_shorter_beginning_of_an_account_is_refused(tmp_path):
    account, lines = released(tmp_path / "a", 3)
    whole, spent = b"".join(lines), account.spent
    for size in range(len(whole) - 1):
        account.path.write_bytes(whole[:size])
        with pytest.raises(nm.InvalidInput, match="damaged"):
            account.spent  # noqa: B018
    account.path.write_bytes(whole[:-1])  # without the last end of a line
    assert account.spent == spent


@pytest.mark.parametrize("seed", range(4))
def test_no_random_damage_makes_an_account_too_low(tmp_path, seed):
    account, lines = released(tmp_path / "a", 4)
    whole, spent, rng = b"".join(lines), account.spent, np.random.default_rng(seed)
    for _ in range(100):
        at, width = int(rng.integers(len(whole))), int(rng.integers(1, 200))
        insert = [b"", rng.bytes(width), whole[at : at + width], b"\n"][int(rng.integers(4))]
        changed = whole[:at] + insert + whole[at + int(rng.choice([0, width])) :]
        account.path.write_bytes(changed)
        with contextlib.suppress(nm.InvalidInput):
            assert account.spent >= spent or changed == whole


class Died(BaseException):
    """The process ends here."""


def dying_after(monkeypatch, writes):
    """Let the process die in the place of the write after so many."""
    real, done = account_module._put, []

    def put(*given):
        if len(done) == writes:
            raise Died
        done.append(real(*given))

    monkeypatch.setattr(account_module, "_put", put)


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("writes", range(5))
def test_a_process_that_dies_between_two_writes_leaves_an_account_that_can_be_used(
    tmp_path, monkeypatch, writes, is_old
):
    account, path = Account(tmp_path / "a", epsilon=9, delta=1e-6), tmp_path / "a"
    if is_old:
        path.write_bytes(old_account(2))
    else:
        release(account)
        release(account)
    for spent in range(2, 6):
        with monkeypatch.context() as dying:
            dying_after(dying, writes)
            try:
                release(account)
                count = spent + 1
            except Died:
                count = len(account.table)
                assert spent <= count <= spent + 1
        if count == spent:
            release(account)
        assert len(account.table) == spent + 1


OLD_BOUND = '{"format": 1, "epsilon": 2.0, "delta": 1e-06}'


def old_account(count, epsilon=9.0):
    """The file of an account that 0.2 wrote: no head, no chain."""
    mu2 = PRIVATE.mu**2
    texts = [OLD_BOUND.replace("2.0", str(epsilon))]
    texts += [json.dumps({"mu2": mu2, "about": "fid", "date": "2026-01-01T00:00:00+00:00"})] * count
    return b"".join(b"%s #%08x\n" % (text.encode(), zlib.crc32(text.encode())) for text in texts)


@pytest.mark.parametrize("end", [b"", b"\n", b'{"mu2": 0.'])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_account_of_0_2_opens_and_is_chained_from_the_next_release_on(tmp_path, count, end):
    path, content = tmp_path / "a", old_account(count)
    path.write_bytes(content[:-1] if not end else content + end.strip(b"\n"))
    account = Account.open(path)
    assert len(account.table) == count
    release(account)
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(account.table) == count + 1 and lines[1 : count + 1] == content.splitlines(keepends=True)[1:]
    for k in range(len(lines)):
        for some in (lines[:k] + lines[k + 1 :], lines[:k]):
            path.write_bytes(b"".join(some))
            with pytest.raises(nm.InvalidInput, match="damaged"):
                account.spent  # noqa: B018
    path.write_bytes(b"".join(lines))
    release(account)
    assert len(account.table) == count + 2


def test_an_older_copy_of_the_whole_file_cannot_be_seen(tmp_path):
    account, lines = released(tmp_path / "a", 1)
    spent = account.spent
    release(account)
    account.path.write_bytes(b"".join(lines))
    assert account.spent == spent  # docs/federated.md says so


KILLED = """
import sys; sys.path.insert(0, {root!r})
from tests.federated.test_account import PRIVATE, release
from nbmetrics.federated import Account, Privacy, client
from nbmetrics.federated import account as account_module
account = Account({path!r}, epsilon=900, delta=1e-6)
for k in range(200):
    sent = release(account, Privacy(epsilon=0.5, delta=1e-6, clip=4.0))
    print(k, flush=True)
"""


@pytest.mark.parametrize("seconds", by_default([0.0, 0.005, 0.02, 0.04], 0.02))
def test_a_kill_never_makes_the_account_too_low(tmp_path, seconds):
    path = tmp_path / "a"
    script = KILLED.format(root=str(ROOT), path=str(path))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    received = 1 + len(process.stdout.read().splitlines())
    process.wait()
    account = Account(path, epsilon=900, delta=1e-6)
    assert received <= len(account.table) <= received + 1
    release(account)


@pytest.mark.slow
def test_two_processes_spend_one_after_the_other(tmp_path):
    path = tmp_path / "a"
    script = KILLED.format(root=str(ROOT), path=str(path)).replace("range(200)", "range(6)")
    both = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert len(Account(path, epsilon=900, delta=1e-6).table) == 12


def test_a_line_that_was_torn_was_no_release_and_damage_is_refused(tmp_path):
    account = Account(tmp_path / "a", epsilon=2, delta=1e-6)
    release(account)
    whole = account.path.read_bytes()
    account.path.write_bytes(whole + b'{"mu2": 0.')
    assert len(account.table) == 1
    release(account)
    assert len(account.table) == 2
    for k in range(len(whole) - 1):
        account.path.write_bytes(whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :])
        with pytest.raises(nm.InvalidInput, match="account: "):
            account.spent  # noqa: B018
    for bit in range(8):
        end = bytes([ord("\n") ^ 1 << bit])
        account.path.write_bytes(whole[:-1] + end)
        if end not in b"\x0b":
            with pytest.raises(nm.InvalidInput, match="is damaged"):
                account.spent  # noqa: B018
    for end in (b"", b"\x0b"):
        account.path.write_bytes(whole[:-1] + end)
        assert len(account.table) == 1
        release(account)
        assert len(account.table) == 2


@pytest.mark.parametrize(
    ("record", "says"),
    [({"format": 3, "epsilon": 2, "delta": 1e-6}, "is of format 3"), ({"mu2": 0.1}, "is damaged"), ([], "is damaged")],
)
def test_a_foreign_file_is_refused(tmp_path, record, says):
    text = json.dumps(record).encode()
    (tmp_path / "a").write_bytes(b"%s #%08x\n" % (text, zlib.crc32(text)))
    with pytest.raises(nm.InvalidInput, match=says):
        Account(tmp_path / "a", epsilon=2, delta=1e-6)


def test_a_path_that_is_no_file_is_refused(tmp_path):
    for wrong in (tmp_path, tmp_path / "missing" / "a", 7):
        with pytest.raises(nm.InvalidInput, match="account: "):
            Account(wrong, epsilon=2, delta=1e-6)
