"""A store gives back the scores that a call without one computes, whatever happened to it meanwhile."""

import errno
import json
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.evaluation.fingerprints import Fingerprints
from nbmetrics.evaluation.store import HEAD, Store, StoreWarning
from nbmetrics.metrics import Sample
from tests import ROOT

METRICS = ["fid", "kid", "precision", "cmmd"]
PARTS = ("avg", "all", "by_client")


def clients(count=5, dim=8):
    rng = np.random.default_rng(0)
    return {f"c{i}": np.maximum(rng.normal(0.1 * i, 1.0, (40, dim)), 0.0) for i in range(count)}


def generators(count=3, dim=8):
    rng = np.random.default_rng(1)
    return {f"g{i}": np.maximum(rng.normal(0.2 * i, 1.0, (60, dim)), 0.0) for i in range(count)}


def farthest(first, second):
    """The largest difference of any score, relative to the largest score of its metric."""
    differences = [0.0]
    for metric in first.metrics:
        a, b = first.values(metric), second.values(metric)
        for part in PARTS:
            one, other = getattr(a, part), getattr(b, part)
            assert np.array_equal(np.isnan(one), np.isnan(other))
            differences.append(
                float(np.nanmax(np.abs(one - other), initial=0.0) / np.nanmax(np.abs(one), initial=1e-300))
            )
    return max(differences)


def counts(scores):
    return scores.provenance["store"]


def test_a_second_call_computes_no_score_and_gives_the_same_to_the_last_bit(tmp_path):
    first = nm.evaluate(clients(), generators(), METRICS, store=tmp_path / "s")
    again = nm.evaluate(clients(), generators(), METRICS, store=tmp_path / "s")
    number = len(METRICS) * 3 * (5 + 1)
    assert counts(first) == {"found": 0, "computed": number}
    assert counts(again) == {"found": number, "computed": 0}
    assert farthest(first, again) == farthest(nm.evaluate(clients(), generators(), METRICS), again) == 0.0
    for cells in map(first.result, METRICS):
        assert [c.terms for row in cells.client_cells for c in row] == [
            c.terms for row in again.result(cells.name).client_cells for c in row
        ]


def test_one_more_party_costs_its_own_scores_and_other_weights_only_pooled_ones(tmp_path):
    nm.evaluate(clients(5), generators(2), METRICS, store=tmp_path)
    with_generator = nm.evaluate(clients(5), generators(3), METRICS, store=tmp_path)
    assert counts(with_generator)["computed"] == len(METRICS) * 6
    with_client = nm.evaluate(clients(6), generators(3), METRICS, store=tmp_path)
    assert counts(with_client)["computed"] == len(METRICS) * 3 * 2
    assert farthest(with_client, nm.evaluate(clients(6), generators(3), METRICS)) < 1e-12
    weighted = nm.Federation(clients(6)).with_weights([3, 1, 1, 1, 1, 1])
    metrics = ["fid", "kid"]
    reweighted = nm.evaluate(weighted, generators(3), metrics, store=tmp_path)
    assert counts(reweighted)["computed"] == len(metrics) * 3
    assert farthest(reweighted, nm.evaluate(weighted, generators(3), metrics)) < 1e-12


def test_terms_about_another_centre_are_not_mixed_with_those_of_this_one(tmp_path):
    nm.evaluate({"a": clients()["c0"] + 50.0}, generators(1), "kid", store=tmp_path)
    both = nm.evaluate({"a": clients()["c0"] + 50.0, "b": clients()["c1"] + 70.0}, generators(1), "kid", store=tmp_path)
    (kept, computed), *_ = both.result("kid").client_cells
    assert list(kept.terms) == ["score"]
    assert set(computed.terms) == {"real", "generated", "cross"}


@pytest.mark.parametrize(
    "changed",
    [
        {"metrics": nm.metrics.KID(nm.RBF(2.0))},
        {"metrics": nm.metrics.KID(nm.Polynomial(degree=2))},
        {"metrics": nm.metrics.KID(estimator="biased")},
        {"clients": {"c0": clients()["c0"][::-1].copy()}},
        {"clients": {"c0": clients()["c0"].astype(np.float32)}},
        {"clients": {"c0": nm.Client(clients()["c0"], test=clients()["c1"])}},
        {"generators": {"g": generators()["g0"][:59]}},
        {"version": "another"},
    ],
)
def test_what_differs_is_computed(tmp_path, monkeypatch, changed):
    nm.evaluate({"c0": clients()["c0"]}, {"g": generators()["g0"]}, "kid", store=tmp_path)
    monkeypatch.setattr("nbmetrics.evaluation.fingerprints.__version__", changed.get("version", nm.__version__))
    scores = nm.evaluate(
        changed.get("clients", {"c0": clients()["c0"]}),
        changed.get("generators", {"g": generators()["g0"]}),
        changed.get("metrics", "kid"),
        store=tmp_path,
    )
    assert counts(scores) == {"found": 0, "computed": 2}


def test_distributions_streams_and_conditional_generators_are_known_again(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 2))
    conditional = {"a": nm.Client(x + 1.0, condition=x), "b": nm.Client(x - 1.0, condition=x)}
    streams = {"a": nm.Client(lambda: iter([x[:20], x[20:]])), "b": x + 1.0}
    cases = [
        (({"a": nm.Gaussian([0.0]), "b": nm.Gaussian([1.0])}, {"g": nm.Gaussian([0.5])}, "fid"), 3),
        ((streams, {"g": nm.Stream(lambda: iter([x]))}, "fid"), 3),
        ((conditional, {"g": lambda x, rng: x + 0.5}, ["cfid", "fid"]), 6),
    ]
    for case, number in cases:
        nm.evaluate(*case, store=tmp_path)
        assert counts(nm.evaluate(*case, store=tmp_path)) == {"found": number, "computed": 0}


@pytest.mark.parametrize("block_bytes", [1 << 24, 8 * 8 * 9])  # one block of the hash, or blocks of 9 rows
def test_rows_are_the_same_in_memory_in_a_file_and_in_batches_of_any_size(tmp_path, monkeypatch, block_bytes):
    monkeypatch.setattr("nbmetrics.evaluation.fingerprints.BLOCK_BYTES", block_bytes)
    rows = clients()["c0"]
    np.save(tmp_path / "rows.npy", rows)
    given = [lambda cut=cut: (rows[k : k + cut] for k in range(0, 40, cut)) for cut in (7, 40)]
    for data in (rows, tmp_path / "rows.npy", *given):
        scores = nm.evaluate({"a": nm.Client(data)}, generators(1), "fid", store=tmp_path / "store")
        assert counts(scores)["found"] == 2 * (data is not rows)


def test_batches_of_several_types_are_no_one_array(tmp_path):
    rows = clients()["c0"]
    mixed = nm.Client(lambda: iter([rows[:20].astype(np.float32), rows[20:]]))
    for _ in range(2):
        assert counts(nm.evaluate({"a": mixed}, generators(1), "fid", store=tmp_path))["found"] == 0


class Own(nm.metrics.FID):
    """A user's metric, whose code may change without a sign."""

    name = "own"


def test_what_may_change_without_a_sign_is_computed_every_time(tmp_path):
    metrics = [Own(), nm.metrics.KID(lambda a, b: a @ b.T)]
    for _ in range(2):
        scores = nm.evaluate(clients(1), generators(1), metrics, store=tmp_path)
        assert counts(scores) == {"found": 0, "computed": 4}


def test_refusals_are_not_kept(tmp_path):
    few = {"a": nm.Client(clients()["c0"], weight=1), "b": nm.Client(clients()["c1"][:1], weight=0)}
    for number in (0, 2):
        scores = nm.evaluate(few, generators(1), "fid", store=tmp_path)
        assert np.isnan(scores.values("fid").by_client[0, 1])
        assert any("'b'" in line for line in scores.cautions)
        assert counts(scores) == {"found": number, "computed": 3 - number}


BROKEN = """
import sys; sys.path.insert(0, {root!r})
import nbmetrics as nm
from tests.evaluation.test_store import clients, generators
nm.evaluate(clients(30, 24), generators(6, 24), ["fid", "kid"], store={folder!r}, progress=False)
"""


def lines(folder):
    return [line for path in folder.glob("cells-*.log") for line in path.read_bytes().split(b"\n") if line]


def test_a_call_that_is_killed_three_times_goes_on_and_repeats_no_finished_score(tmp_path):
    folder = tmp_path / "store"
    for number in (20, 130, 260):
        script = BROKEN.format(root=str(ROOT), folder=str(folder))
        process = subprocess.Popen([sys.executable, "-c", script])
        while process.poll() is None and (not folder.is_dir() or len(lines(folder)) < number):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
    data = clients(30, 24), generators(6, 24), ["fid", "kid"]
    finished = nm.evaluate(*data, store=folder)
    assert counts(finished)["found"] >= 260
    assert farthest(finished, nm.evaluate(*data)) < 1e-12
    keys = Counter(json.loads(line[33:])["key"] for line in lines(folder) if line.endswith(b"}"))
    assert set(keys.values()) == {1}
    assert len(keys) == 2 * 6 * 31


def test_two_processes_may_fill_one_store(tmp_path):
    script = BROKEN.format(root=str(ROOT), folder=str(tmp_path / "store"))
    both = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    data = clients(30, 24), generators(6, 24), ["fid", "kid"]
    assert counts(nm.evaluate(*data, store=tmp_path / "store")) == {"found": 2 * 6 * 31, "computed": 0}


FULL = """
import resource, signal, sys, warnings; sys.path.insert(0, {root!r})
import nbmetrics as nm
from tests.evaluation.test_store import clients, generators
nm.evaluate(clients(1), generators(1), "fid", store={folder!r} + "-other")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    scores = nm.evaluate(clients(), generators(), ["fid"], store={folder!r})
print(len(told), told[0].message, scores.values("fid").all.tolist())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE: Linux or macOS")
def test_a_full_disk_costs_no_score_and_the_next_call_goes_on(tmp_path):
    folder = tmp_path / "store"
    script = FULL.format(root=str(ROOT), folder=str(folder))
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    expected = nm.evaluate(clients(), generators(), ["fid"])
    assert out.startswith("1 ") and "cannot be written (the disk is full)" in out
    assert json.loads(out[out.index("[") :]) == expected.values("fid").all.tolist()
    after = nm.evaluate(clients(), generators(), ["fid"], store=folder)
    assert 0 < counts(after)["found"] < 18 == sum(counts(after).values())
    assert farthest(after, expected) < 1e-12


def test_a_store_that_cannot_be_written_is_told_once(tmp_path, monkeypatch):
    monkeypatch.setattr("nbmetrics.evaluation.store.secrets.token_hex", lambda n: "x/y" if n == 8 else "0" * 2 * n)
    (tmp_path / HEAD).write_text(json.dumps({"format": 1, "key": "0" * 64}))
    with pytest.warns(StoreWarning, match="returned, but not kept") as told:
        nm.evaluate(clients(), generators(), "fid", store=tmp_path)
    assert len(told) == 1


def test_a_number_that_was_changed_in_a_log_is_computed_again(tmp_path):
    given = clients(), generators(), "fid"
    truth = nm.evaluate(*given, store=tmp_path)
    (log,) = tmp_path.glob("cells-*.log")
    lines = log.read_text().splitlines()
    changed = [re.sub(r'"value":\d', '"value":7', line) for line in lines]
    assert changed != lines
    log.write_text("\n".join(changed) + "\n")
    again = nm.evaluate(*given, store=tmp_path)
    assert farthest(again, truth) == 0.0
    assert again.provenance["store"]["found"] == sum(a == b for a, b in zip(lines, changed, strict=True))


def test_damaged_and_foreign_lines_are_computed_again(tmp_path):
    folder = tmp_path / "s"
    expected = nm.evaluate(clients(2), generators(2), "fid", store=folder)
    (log,) = folder.glob("cells-*.log")
    whole, rng = log.read_bytes(), np.random.default_rng(0)
    for k in range(100):
        data = bytearray(whole)
        if k % 4 == 0:
            del data[rng.integers(len(data)) :]
        for place in rng.integers(len(data), size=k % 4) if data else ():
            data[place] = rng.integers(256)
        log.write_bytes(data + b"\x00\xff{}\n" * (k % 3))
        again = nm.evaluate(clients(2), generators(2), "fid", store=folder)
        assert farthest(again, expected) == 0.0
        for path in folder.glob("cells-*.log"):
            if path != log:
                path.unlink()
    other = tmp_path / "other"
    nm.evaluate(clients(2), generators(2), "fid", store=other)
    log.write_bytes(next(other.glob("cells-*.log")).read_bytes())
    assert counts(nm.evaluate(clients(2), generators(2), "fid", store=folder))["found"] == 0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"format": 2, "key": "' + "0" * 64 + '"}', "is of format 2"),
        ('{"format": 1, "key": "short"}', "is damaged"),
        ('{"format": 1}', "is damaged"),
        ("", "is damaged"),
        ("[" * 5_000, "is damaged"),
    ],
)
def test_another_store_is_refused_by_name_and_left_as_it_is(tmp_path, content, says):
    (tmp_path / HEAD).write_text(content)
    with pytest.raises(nm.InvalidInput, match=says):
        nm.evaluate(clients(), generators(), "fid", store=tmp_path)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(HEAD, content)]


def test_a_folder_of_other_files_is_no_store(tmp_path):
    (tmp_path / "data.npy").write_bytes(b"")
    with pytest.raises(nm.InvalidInput, match="contains other files"):
        nm.evaluate(clients(), generators(), "fid", store=tmp_path)
    with pytest.raises(nm.InvalidInput, match="cannot be a folder"):
        nm.evaluate(clients(), generators(), "fid", store=tmp_path / "data.npy")
    with pytest.raises(nm.InvalidInput, match="store: "):
        nm.evaluate(clients(), generators(), "fid", store=7)


def test_no_row_and_no_hash_that_another_key_gives_is_in_a_store(tmp_path):
    nm.evaluate(clients(1), generators(1), "fid", store=tmp_path)
    text = b"".join(path.read_bytes() for path in tmp_path.iterdir()).decode()
    sample = Sample(rows=clients()["c0"])
    guesses = [Fingerprints(bytes(32)).of_sample(sample), Fingerprints(bytes([1] * 32)).of_sample(sample)]
    assert guesses[0] != guesses[1]
    assert not any(guess in text for guess in guesses)
    assert (tmp_path / HEAD).stat().st_mode & 0o077 == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_dashboard_has_the_scores_of_a_store_and_adds_its_own(tmp_path):
    nm.evaluate(clients(), generators(2), ["fid", "kid"], store=tmp_path)
    dashboard = nm.Dashboard(clients(), generators(3), store=tmp_path)
    try:
        assert counts(dashboard.scores) == {"found": 2 * 2 * 6, "computed": 2 * 6}
        assert farthest(dashboard.scores, nm.evaluate(clients(), generators(3))) < 1e-12
    finally:
        dashboard.close()
    assert counts(nm.evaluate(clients(), generators(3), store=tmp_path))["computed"] == 0


def test_scores_of_all_answers_together_depend_on_every_client_and_weight(tmp_path):
    x = np.random.default_rng(0).normal(size=(50, 2))

    def both(weight, more=()):
        clients = {"a": nm.Client(x + 1.0, condition=x + 1.0, weight=weight)}
        clients |= {
            name: nm.Client(x - 1.0 - k, condition=x - 1.0 - k, weight=1) for k, name in enumerate(["b", *more])
        }
        return clients, {"g": lambda x, rng: x + 0.5}, ["fid", "kid", "cfid", "auth_pct"]

    for given in (both(1), both(5), both(5, ["c"])):
        assert farthest(nm.evaluate(*given, store=tmp_path), nm.evaluate(*given)) < 1e-12


def test_rows_that_are_changed_in_place_are_other_rows(tmp_path):
    rows, buffer = clients(3), generators(1)["g0"]
    truth = nm.evaluate(rows, {"g": buffer.copy()}, "fid").values("fid").all[0]
    dashboard = nm.Dashboard(rows, {"g": buffer}, "fid", store=tmp_path)
    try:
        dashboard.wait()
        buffer += 3.0
        dashboard.attach("h", buffer)
        dashboard.wait()
        expected = nm.evaluate(rows, {"h": buffer}, "fid").values("fid").all[0]
        assert dashboard.scores.values("fid").all[1] == pytest.approx(expected, rel=1e-12)
    finally:
        dashboard.close()
    again = nm.evaluate(rows, {"g": buffer - 3.0}, "fid", store=tmp_path)
    assert again.values("fid").all[0] == pytest.approx(truth, rel=1e-9)


def test_batches_of_several_types_are_never_taken_for_others(tmp_path):
    first = np.arange(32, dtype=np.float32).reshape(8, 4)
    for head in (first, first.view(np.float64).reshape(4, 4)):
        given = {"a": nm.Client(lambda head=head: iter([head, clients(1, 4)["c0"]]))}, generators(1, 4), "fid"
        assert farthest(nm.evaluate(*given, store=tmp_path), nm.evaluate(*given)) == 0.0


def test_a_score_about_a_centre_is_not_given_where_none_was_needed(tmp_path):
    rows = clients()["c0"]
    apart = {"a": rows + 1e4, "b": rows - 1e4}
    nm.evaluate(apart, generators(1), "kid", store=tmp_path)
    assert counts(nm.evaluate({"a": apart["a"]}, generators(1), "kid", store=tmp_path))["found"] == 0


def test_what_is_pickled_has_neither_key_nor_hash_nor_rows_of_others(tmp_path):
    np.save(tmp_path / "a.npy", clients()["c0"])
    client = nm.Client(nm.Stream(np.load(tmp_path / "a.npy", mmap_mode="r")))
    secret = clients()["c1"]
    scores = nm.evaluate({"a": client, "b": secret}, generators(1), "fid", store=tmp_path / "s")
    key = bytes.fromhex(json.loads((tmp_path / "s" / HEAD).read_text())["key"])
    for thing in (client, client.stream, nm.Federation({"a": client}), scores.provenance):
        text = pickle.dumps(thing)
        assert key not in text and secret.tobytes() not in text


def test_a_file_system_without_hard_links_has_stores_too(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr("os.link", refuse)
    nm.evaluate(clients(1), generators(1), "fid", store=tmp_path / "s")
    assert counts(nm.evaluate(clients(1), generators(1), "fid", store=tmp_path / "s"))["found"] == 2


def test_a_folder_that_is_removed_meanwhile_is_told(tmp_path, monkeypatch):
    keep = Store.keep

    def remove_first(self, *args):
        keep(self, *args)
        shutil.rmtree(self.folder, ignore_errors=True)

    monkeypatch.setattr(Store, "keep", remove_first)
    with pytest.warns(StoreWarning, match="was removed"):
        nm.evaluate(clients(), generators(), "fid", store=tmp_path / "s")


def test_hidden_files_are_no_reason_to_refuse(tmp_path):
    (tmp_path / ".DS_Store").write_bytes(b"")
    assert counts(nm.evaluate(clients(1), generators(1), "fid", store=tmp_path))["computed"] == 2
