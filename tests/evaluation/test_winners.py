"""Who is best is one thing wherever it is said; a distance below 0 is called about 0, or is no winner."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.cli import main
from nbmetrics.evaluation.display import CellText, cells_of
from nbmetrics.evaluation.sentences import headline
from nbmetrics.evaluation.winners import AGGREGATES, winners_of
from nbmetrics.labs.playground.headline import headline as playground_headline
from nbmetrics.ranking import all_lowest, lowest
from tests.calibration.below_zero import below
from tests.evaluation.test_scores import given_scores
from tests.slow import slow

SOUTH = np.eye(8)[0]


def plain_best(values, higher):
    """The oracle: every generator that no other one beats, by comparison of each with each."""
    sign = -1 if higher else 1
    return [g for g, own in enumerate(values) if all(sign * own <= sign * other for other in values)]


def bold_rows(html, column):
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", html)
    return [g for g, row in enumerate(rows) if "<strong>" in re.findall(r"<td.*?</td>", row)[column]]


def starred(text, column, count):
    lines = text.splitlines()[1 : 1 + count]
    return [g for g, line in enumerate(lines) if line.split()[2 + column].endswith("*")]


@pytest.mark.parametrize("higher", [False, *slow(True)])
def test_every_table_marks_the_same_winners_as_the_sentences_name(higher):
    rng = np.random.default_rng(4)
    said = set()
    for _ in range(40):
        by_client, pooled = rng.integers(1, 6, (4, 2)).astype(float), rng.integers(1, 5, 4).astype(float)
        scores, name = given_scores(by_client.tolist(), pooled.tolist(), higher_is_better=higher)
        name = scores.metrics[0]
        wanted = {"avg": plain_best(by_client.mean(axis=1), higher), "all": plain_best(pooled, higher)}
        assert winners_of(scores.result(name)).best == wanted
        latex = [line for line in scores.to_latex().splitlines() if line.startswith("g") and line.endswith(r"\\")][1:]
        markdown = [line for line in scores.to_markdown().splitlines() if line.startswith("| g")][1:]
        for column, part in enumerate(AGGREGATES):
            best, ranks = wanted[part], scores.ranks(name)[part]
            assert np.flatnonzero(ranks == 1).tolist() == best
            assert bold_rows(scores._repr_html_(), column) == starred(repr(scores), column, 4) == best
            assert [g for g, line in enumerate(latex) if "mathbf" in line.split(" & ")[1 + column]] == best
            assert [g for g, line in enumerate(markdown) if "**" in line.split(" | ")[1 + column]] == best
            names = " and ".join(f"g{g}" for g in best)
            line = scores.summary()[0]
            prefers = re.search(rf"{part} prefers ([g0-9 and]+?)[,;(]", line)
            assert prefers is None or prefers[1].strip() == names, line
            if wanted["avg"] != wanted["all"]:
                assert f"-{part}: {names}." in headline(scores, name)
                way = {"avg": "on average", "all": "pooled"}[part]
                assert f"Best {way}: {names}." in playground_headline(scores, name) or len(best) > 1
        said.add(wanted["avg"] == wanted["all"])
    assert said == {True, False}


def test_the_first_notebooks_sentence_names_who_is_lowest():
    """avg and all agree on the winner, and the pair that is inverted holds neither of its two as a winner."""
    scores, _ = given_scores([[3.912], [4.300], [4.9], [6.0]], [0.0, 2.4, 1.027, 5.0])
    assert scores.table["avg"].argmin() == scores.table["all"].argmin() == 0
    wanted = "avg and all prefer g0; they order 1 of 6 pairs differently: avg ranks g1 above g2, all ranks g2 above g1."
    assert scores.summary() == [f"Given: {wanted}"] and headline(scores, "given") == ""


def test_a_pair_that_one_cannot_tell_apart_is_no_winner():
    scores, _ = given_scores([[1.0], [5.0], [5.0]], [2.0, 7.0, 4.0])
    assert scores.summary() == [
        "Given: avg and all prefer g0; avg cannot tell g2 from g1, all ranks g2 above g1.",
    ]


def test_all_of_the_lowest():
    assert all_lowest([2.0, 1.0, math.nan, 1.0]) == [1, 3] and all_lowest([math.nan]) == [] == all_lowest([])
    assert all_lowest([-math.inf, 1.0, -math.inf]) == [0, 2] and lowest([math.nan, math.nan]) == 0


@pytest.fixture(scope="module")
def rows():
    """Two clients, a copy of their rows with a little noise, an honest sample and one that is off."""
    rng = np.random.default_rng(0)
    clients = {"north": rng.normal(size=(300, 8)), "south": rng.normal(size=(300, 8)) + SOUTH}
    both = np.concatenate(list(clients.values()))
    honest = np.concatenate([rng.normal(size=(300, 8)), rng.normal(size=(300, 8)) + SOUTH])
    made = {"copier": both + 0.02 * rng.normal(size=both.shape), "honest": honest}
    return clients, made | {"off": rng.normal(size=(600, 8)) + 0.5}


@pytest.fixture(scope="module")
def copied(rows):
    return nm.evaluate(*rows, ("fid", "kid"), uncertainty=nm.Influence(), progress=False)


def test_a_distance_surely_below_zero_is_nobodys_best_and_says_what_checks_it(copied):
    row = copied.table.iloc[0]
    assert row["all_high"] < 0 and copied.table["all_corrected"].iloc[:3].argmin() == 0
    assert winners_of(copied.result("fid")).best == {"avg": [1], "all": [1]}
    (caution,) = [line for line in copied.cautions if "copier" in line and "not independent draws" in line]
    assert "(copies of" in caution and "AuthPct" in caution and "C_T" in caution and "copies" in caution
    cells = cells_of(copied, "fid")[0]
    assert cells[1].value.startswith("−") and not any(cell.best for cell in cells)
    assert "(without copier, see the caution)" in copied.summary()[0]
    assert copied.regret("fid", corrected=True).attrs["winners"]["all"] == "honest"
    assert copied.regret("fid").attrs["winners"]["all"] == "copier"  # plain, as all of it


def test_no_perfect_generator_is_called_a_copier():
    """Their 90 % intervals lie below 0 in one of 20 draws: here in some of 24, and none is cautioned."""
    intervals, cautions = below((32, 100, 300), "fixed numbers", 24)
    assert intervals > 0 == cautions
    assert below((32, 100, 300), "copies", 6)[1] > 0


def test_what_is_named_to_check_for_copies_finds_them(rows):
    clients, made = rows
    held_out = np.random.default_rng(9).normal(size=(2, 200, 8)) + np.outer([0.0, 1.0], SOUTH)[:, None]
    tested = {name: nm.Client(clients[name], test=own) for name, own in zip(clients, held_out, strict=True)}
    table = nm.evaluate(tested, made, ("auth_pct", "c_t"), progress=False).table.set_index(["metric", "generator"])
    assert table.loc[("auth_pct", "copier"), "all"] < 10 < table.loc[("auth_pct", "honest"), "all"]
    assert table.loc[("c_t", "copier"), "all"] < -10 < table.loc[("c_t", "honest"), "all"]


def test_files_keep_the_number_and_say_what_it_means(copied, tmp_path):
    back = pd.read_csv(copied.to_csv(tmp_path / "s.csv"), keep_default_na=False)
    assert back["all_corrected"].astype(float).tolist() == pytest.approx(copied.table["all_corrected"].tolist())
    notes = dict(zip(zip(back["generator"], back["metric"], strict=True), back["note"], strict=True))
    assert "not independent" in notes["copier", "fid"] and notes["off", "fid"] == notes["copier", "kid"] == ""
    assert "note" not in copied.table and "note" not in pd.read_csv(copied.to_csv(tmp_path / "c.csv", clients=True))
    for text in (copied.to_markdown(), copied.to_latex()):
        assert "not independent" in text


def test_a_distance_below_zero_by_chance_is_about_zero():
    low_and_high = {"all": 0.4, "all_corrected": -0.06, "all_low": -0.18, "all_high": 0.06}
    cell = CellText.of(low_and_high, "all", is_distance=True, best="value")
    assert str(cell) == "about 0* (−0.06 ± 0.12) (plain 0.4)"
    uneven = low_and_high | {"all_high": 0.1}
    assert str(CellText.of(uneven, "all", is_distance=True)) == "about 0 (−0.06 [−0.18, 0.1]) (plain 0.4)"
    assert str(CellText.of({"all": -0.3}, "all", is_distance=True)) == "about 0 (−0.3)"
    assert str(CellText.of(low_and_high, "all")) == "−0.06 [−0.18, 0.06] (plain 0.4)"  # no distance
    perhaps = low_and_high | {"all_low": -0.11, "all_high": -0.01}  # of 20 perfect generators one
    assert str(CellText.of(perhaps, "all", is_distance=True)).startswith("about 0 (−0.06 ±")
    surely = low_and_high | {"all_high": -0.04}
    assert str(CellText.of(surely, "all", is_distance=True)).startswith("−0.06 [")
    gap = {"gap": -0.2, "gap_corrected": -0.2, "gap_low": -0.3, "gap_high": 0.1}
    assert str(CellText.of(gap, "gap", is_distance=True)).startswith("−0.2 [")  # a gap may be below 0


@pytest.mark.parametrize("metric", ["fid", "fid_infinity"])
def test_about_zero_has_its_reason_in_every_table(metric):
    """The same law on both sides: in the first of these draws the corrected score falls below 0, by chance."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        clients, made = [rng.normal(size=(200, 4)) for _ in range(2)], {"g": rng.normal(size=(200, 4))}
        scores = nm.evaluate(clients, made, metric, uncertainty=nm.Influence(), progress=False)
        row = scores.table.iloc[0]
        if row["all_corrected"] < 0 < row["all_high"]:
            break
    reach = (row["all_high"] - row["all_low"]) / 2
    shown = f"about 0 (−{-row['all_corrected']:.3g} ± {reach:.2g})"
    assert shown in repr(scores) and shown in scores.to_markdown().replace("\\", "")
    assert "about 0<br><small>(−" in scores._repr_html_() and "about $0$ ($-" in scores.to_latex()
    reason = "a distance is never below 0"
    assert all(reason in text for text in (repr(scores), scores._repr_html_(), scores.to_markdown(), scores.to_latex()))
    assert not any("not independent" in line for line in scores.cautions)


def test_the_command_says_the_same(rows, copied, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real").mkdir()
    for name, own in rows[0].items():
        np.save(tmp_path / "real" / f"{name}.npy", own)
    for name, own in rows[1].items():
        np.save(tmp_path / f"{name}.npy", own)
    files = [f"{name}.npy" for name in rows[1]]
    main(
        [
            "score",
            "real",
            *files,
            "--metrics",
            "fid,kid",
            "--uncertainty",
            "influence",
            "--json",
            "o.json",
            "--csv",
            "o.csv",
        ]
    )
    text = capsys.readouterr().out
    fid = text[text.index("FID") : text.index("KID ")]
    lines = {line.split()[0]: line for line in fid.splitlines() if line.startswith("  ") and line.split()[0] in rows[1]}
    assert [name for name, line in lines.items() if "*" in line] == ["honest"] and lines["honest"].count("*") == 2
    found = json.loads((tmp_path / "o.json").read_text("utf-8"))
    assert "not independent" in found["table"][0]["note"] and found["table"][0]["all_corrected"] < 0
    assert "not independent" in pd.read_csv(tmp_path / "o.csv")["note"][0]
    assert "By plain" not in text and "plain FID: avg prefers" not in text.split("FID  ")[0]
