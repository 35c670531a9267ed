"""Scores that were saved and opened say what they said, and a file that is not one of scores is refused by name."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from tests.slow import by_default, slow

CALLS = ("ranks", "inversions", "worst", "regret", "flips")


def scores_of(uncertainty=None, extra=None):
    rng = np.random.default_rng(0)
    clients = {f"c{i}": nm.Client(rng.normal(0.3 * i, 1.0, (60, 4)), weight=60) for i in range(3)} | (extra or {})
    generators = {f"g{i}": rng.normal(0.2 * i, 1.0 + 0.1 * i, (80, 4)) for i in range(3)}
    return nm.evaluate(clients, generators, ["fid", "kid", "precision"], uncertainty=uncertainty)


LONE = {"few": nm.Client(np.zeros((1, 4)), weight=0)}
CASES = {
    "plain": scores_of,
    "intervals": lambda: scores_of(nm.Influence()),
    "bootstrap": lambda: scores_of(nm.Bootstrap(20, seed=0)),
    "a lone row": lambda: scores_of(extra=LONE),
    "a lone row, intervals": lambda: scores_of(nm.Influence(), LONE),
    "exact": lambda: nm.evaluate([nm.Gaussian([-1.0]), nm.Gaussian([1.0])], {"g": nm.Gaussian([0.0])}),
}


def told(call, metric):
    """What a call gives, or why it refuses."""
    try:
        return call(metric)
    except nm.InvalidInput as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::nbmetrics.BiasWarning")
@pytest.mark.parametrize("case", by_default(CASES, "plain", "bootstrap", "a lone row, intervals", "exact"))
def test_opened_scores_print_rank_and_export_as_before(tmp_path, case):
    scores = CASES[case]()
    opened = nm.Scores.open(scores.save(tmp_path / "s.json"))
    assert repr(opened) == repr(scores)
    for name in ("_repr_html_", "to_latex", "to_markdown", "to_json", "summary"):
        assert getattr(opened, name)() == getattr(scores, name)()
    for name in ("table", "clients", "ledger"):
        pd.testing.assert_frame_equal(getattr(opened, name), getattr(scores, name), check_exact=True)
    for metric in scores.metrics:
        for name in CALLS:
            first, second = (told(getattr(s, name), metric) for s in (scores, opened))
            assert first.equals(second) if isinstance(first, pd.DataFrame) else first == second
        for table in ("models", "compare_models"):
            one, other = getattr(opened, table)(metric), getattr(scores, table)(metric)
            pd.testing.assert_frame_equal(one, other, check_exact=True)
            assert one.attrs == other.attrs
        assert opened.agreement(metric) == pytest.approx(scores.agreement(metric), nan_ok=True)
        np.testing.assert_array_equal(opened.size_gap(metric), scores.size_gap(metric))
    for path in (opened.to_csv(tmp_path / "t.csv"), opened.to_csv(tmp_path / "c.csv", clients=True)):
        assert path.read_bytes() == scores.to_csv(path, clients=path.name == "c.csv").read_bytes()
    assert opened.plot("ranks").axes
    assert opened.provenance == json.loads(json.dumps(scores.provenance))


def test_what_needs_rows_or_summaries_says_so(tmp_path):
    opened = nm.Scores.open(scores_of().save(tmp_path / "s.json"))
    assert opened.with_weights(opened.weights).table.equals(opened.table)
    for call in (lambda: opened.with_weights([3, 1, 1]), lambda: opened.heterogeneity("fid")):
        with pytest.raises(nm.InvalidInput, match="opened from a file, which has no rows or summaries"):
            call()


@pytest.mark.slow
def test_what_could_not_be_opened_is_not_saved(tmp_path):
    many = {f"g{i}": nm.Gaussian([0.001 * i]) for i in range(2_001)}
    scores = nm.evaluate([nm.Gaussian([-1.0]), nm.Gaussian([1.0])], many, "fid")
    with pytest.raises(nm.InvalidInput, match=r"scores: cannot be saved: .*Save fewer generators"):
        scores.save(tmp_path / "many.json")

    class TwoLines(nm.metrics.FID):
        @property
        def convention(self):
            return "one line\nand another"

    with pytest.raises(nm.InvalidInput, match=r"scores: cannot be saved: .*texts of one line"):
        nm.evaluate([np.eye(3)], {"g": np.eye(3)}, [TwoLines()]).save(tmp_path / "lines.json")
    assert not list(tmp_path.iterdir())


def test_the_provenance_is_below_the_table_and_has_no_hash_of_rows(tmp_path):
    scores = scores_of(nm.Influence())
    made = scores.provenance
    assert made["settings"] == {"samples": None, "seed": 0, "uncertainty": "Influence(level=0.9)"}
    assert made["client_rows"] == {"c0": 60, "c1": 60, "c2": 60}
    assert made["generator_rows"] == {"g0": 80, "g1": 80, "g2": 80}
    line = f"nbmetrics {nm.__version__}, {made['date'][:10]}"
    for text in (repr(scores), scores._repr_html_(), scores.to_markdown().replace("\\", ""), scores.to_latex()):
        assert line in text
    kept = nm.evaluate({"a": np.eye(4)}, {"g": np.eye(4)}, "fid", store=tmp_path / "store")
    log = next((tmp_path / "store").glob("cells-*.log")).read_text()
    keys = [json.loads(entry[33:])["key"] for entry in log.splitlines()]
    assert keys and not any(key in kept.to_json() for key in keys)


def test_an_extractor_is_named_with_the_hash_of_its_weights():
    images = (255 * nm.datasets.digits()[0][:40]).astype(np.uint8).reshape(-1, 8, 8)
    clients = nm.Federation({"a": images[:20], "b": images[20:]}, extractor="digits-cnn")
    made = nm.evaluate(clients, {"g": images}, "fid").provenance
    assert made["extractor"]["name"] == "digits-cnn"
    assert len(made["extractor"]["fingerprint"].split("/")[2]) >= 32


def signed(content):
    """A file of this content with a right checksum."""
    content = {name: part for name, part in content.items() if name != "sha256"}
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return f'{text[:-1]},"sha256":"{hashlib.sha256(text.encode()).hexdigest()}"}}\n'


def test_damage_is_found(tmp_path):
    path = scores_of().save(tmp_path / "s.json")
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    for k in range(200):
        data = bytearray(whole)
        if k % 2:
            place = int(rng.integers(len(data)))
            data[place] ^= 1 << int(rng.integers(1, 7))
        else:
            del data[int(rng.integers(len(data))) :]
        path.write_bytes(data)
        with pytest.raises(nm.InvalidInput, match="path: "):
            nm.Scores.open(path)


HOSTILE = [None, [], {}, "x", -1, 0, True, 1e308, 10**400, "inf", "nan", [[[]]], "a\nb", "x" * 100_000, ["a"] * 50]


def paths_in(value, at=()):
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield from paths_in(item, (*at, name))


@pytest.mark.parametrize("count", [80, *slow(300)])
def test_a_file_that_was_written_by_hand_is_read_rightly_or_refused(tmp_path, count):
    path = scores_of(nm.Influence()).save(tmp_path / "s.json")
    content, rng = json.loads(path.read_text()), np.random.default_rng(0)
    places = [place for place in paths_in(content) if place]
    refused = 0
    for k in range(count):
        changed = json.loads(json.dumps(content))
        *way, last = places[int(rng.integers(len(places)))]
        target = changed
        for name in way:
            target = target[name]
        if k % 5 == 0 and isinstance(target, dict):
            del target[last]
        else:
            target[last] = HOSTILE[int(rng.integers(len(HOSTILE)))]
        path.write_text(signed(changed))
        try:
            assert repr(nm.Scores.open(path))
        except nm.InvalidInput:
            refused += 1
    assert refused > count / 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not a file of scores"),
        (b"[1]", "is not a file of scores"),
        (b'{"format": "other", "version": 1}', "format is 'other'"),
        (b"[" * 100_000, "is not a file of scores"),
        (b"\x80\x04\x95", "is not a file of scores"),
    ],
)
def test_other_files_are_refused(tmp_path, content, says):
    (tmp_path / "s.json").write_bytes(content)
    with pytest.raises(nm.InvalidInput, match=says):
        nm.Scores.open(tmp_path / "s.json")


def test_a_newer_version_is_told(tmp_path):
    path = scores_of().save(tmp_path / "s.json")
    path.write_text(signed({**json.loads(path.read_text()), "version": 2}))
    with pytest.raises(nm.InvalidInput, match=r"version is 2, and this one reads 1.*Open it with the version"):
        nm.Scores.open(path)


def test_a_path_that_is_no_file_is_refused(tmp_path):
    for wrong in (tmp_path, tmp_path / "missing.json", 7):
        with pytest.raises(nm.InvalidInput, match="cannot be read"):
            nm.Scores.open(wrong)
    with pytest.raises(nm.InvalidInput, match=r"ends in \.json"):
        scores_of().save(tmp_path / "s.txt")
