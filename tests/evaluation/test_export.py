"""Scores as CSV, Markdown and LaTeX: read back by other readers, hostile names as text, the best in bold."""

import csv
import html
import io
import math
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.mathtext import MathTextParser

import nbmetrics as nm
from tests import EVIL
from tests.evaluation.test_scores import POOLED, VALUES, given_scores

NAMES = [
    *("=1+1", "+1", "-2+3", "@SUM(A1)", "'quoted", "  =1", "＝1", 'x";=1', "a;=1", "a,=1", "a\u00a0b"),
    *("a|b", "a_b", "*bold*", "`code`", "[link](x)", EVIL, "$x^2$", "\\(x\\)", "50% & #1", "{brace}", "~tilde^", "a\\"),
    *("[x", "*", "--", "&amp;", "naïve 猫"),
]


def scored(names=NAMES, metrics=("fid", "kid")):
    rng = np.random.default_rng(0)
    clients = {"=north": rng.normal(size=(20, 2)), "south": rng.normal(1, 1, size=(30, 2))}
    return nm.evaluate(clients, {name: rng.normal(k / 9, 1, size=(9, 2)) for k, name in enumerate(names)}, metrics)


@pytest.fixture(scope="module")
def hostile():
    return scored()


def restored(text):
    return text.removeprefix("'")


def test_csv_is_the_table_and_gives_every_number_and_name_back(hostile, tmp_path):
    path = hostile.to_csv(tmp_path / "scores.csv")
    assert path == (tmp_path / "scores.csv").resolve()
    back = pd.read_csv(path).assign(generator=lambda frame: frame["generator"].map(restored))
    pd.testing.assert_frame_equal(back, hostile.table, check_dtype=False, rtol=1e-15)
    clients = pd.read_csv(hostile.to_csv(str(tmp_path / "c.CSV"), clients=True))
    assert clients["client"].map(restored).tolist() == hostile.clients["client"].tolist()
    assert scored(["plain"]).to_csv(path).read_text("utf-8").splitlines()[1].startswith('"plain","fid",')


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_cell_of_a_csv_is_a_formula_whatever_separates_them(hostile, tmp_path, delimiter):
    text = hostile.to_csv(tmp_path / "s.csv", clients=True).read_text("utf-8")
    cells = [cell for line in csv.reader(io.StringIO(text), delimiter=delimiter) for cell in line]
    risky = [cell for cell in cells if cell.strip()[:1] in ("=", "+", "-", "@", "＝")]
    assert all(re.fullmatch(r"-?[0-9.e+-]+", cell) for cell in risky)


def test_csv_of_what_is_no_finite_number(tmp_path):
    scores, _ = given_scores([[math.nan], [math.inf], [-math.inf]], [1.0, 2.0, 3.0])
    back = pd.read_csv(scores.to_csv(tmp_path / "s.csv"))
    np.testing.assert_array_equal(back["avg"], [math.nan, math.inf, -math.inf])


def test_bad_paths_are_refused_before_anything_is_written(hostile, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    wrong = [tmp_path / "s.txt", tmp_path / "no" / "s.csv", tmp_path / "folder.csv", "", None, 3, "a\0.csv", b"s.csv"]
    for path in wrong:
        with pytest.raises(nm.InvalidInput, match=r"^path: "):
            hostile.to_csv(path)
    assert [p.name for p in tmp_path.iterdir()] == ["folder.csv"]


def parsed(markdown):
    """Rows of cells, each (text, bold texts), and the notes, by another program."""
    mistune = pytest.importorskip("mistune", reason="mistune is not installed")
    tokens = mistune.create_markdown(renderer=None, plugins=["table", "strikethrough"])(markdown)
    table, notes = (next(t for t in tokens if t["type"] == kind) for kind in ("table", "list"))
    head, body = table["children"]
    rows = [head["children"], *(row["children"] for row in body["children"])]
    return [[_read(cell) for cell in row] for row in rows], [_read(item)[0] for item in notes["children"]]


def _read(token, is_bold=False):
    kind = token["type"]
    assert kind in {"text", "strong", "table_cell", "list_item", "block_text", "softbreak"}, token
    if "children" not in token:
        text = html.unescape(token.get("raw", ""))
        return text, [text] if is_bold else []
    parts = [_read(child, is_bold or kind == "strong") for child in token["children"]]
    return "".join(text for text, _ in parts), [bold for _, some in parts for bold in some]


def test_markdown_names_are_text_to_another_program(hostile):
    rows, notes = parsed(hostile.to_markdown())
    heads = [f"{metric} {part}" for metric in ("FID", "KID") for part in ("avg", "all", "gap")]
    assert [text for text, _ in rows[0]] == ["generator", *heads]
    assert [row[0][0] for row in rows[1:]] == [flat(name) for name in NAMES]
    assert all(len(row) == 7 for row in rows)
    assert notes[0] == "bold: best by avg, best by all (lowest FID, KID)"
    assert sorted(flat(note) for note in notes[1:]) == sorted(flat(line) for line in hostile.conventions)


def flat(text):
    return " ".join(text.split())


@pytest.mark.parametrize(("higher", "best"), [(False, [0, 3, 1]), (True, [2, 2])])
def test_the_best_of_each_column_is_bold_and_equals_are_all_bold(higher, best):
    scores, _ = given_scores(VALUES, POOLED, higher_is_better=higher)
    rows, notes = parsed(scores.to_markdown())
    bold = [(c, g) for c in (1, 2, 3) for g, row in enumerate(rows[1:]) if row[c][1]]
    assert bold == [(1, g) for g in best[:-1]] + [(2, best[-1])]
    assert notes[0] == f"bold: best by avg, best by all ({'highest' if higher else 'lowest'} Given)"
    latex = [line for line in scores.to_latex().splitlines() if line.startswith("g") and line.endswith(r"\\")][1:]
    cells = [line.removesuffix(r"\\").split(" & ") for line in latex]
    assert [(c, g) for c in (1, 2, 3) for g, row in enumerate(cells) if "mathbf" in row[c]] == bold


def test_a_score_best_at_a_number_one_generator_and_nan():
    around, _ = given_scores([[6.0], [1.0], [4.0]], [8.0, math.nan, math.nan], best=5.0)
    rows, notes = parsed(around.to_markdown())
    assert [bool(row[1][1]) for row in rows[1:]] == [True, False, True]
    assert [row[2][1] for row in rows[1:]] == [["8"], [], []] and rows[2][2][0] == "–"
    assert notes[0] == "bold: best by avg, best by all (nearest to 5 Given)"
    one = given_scores([[1.0]], [1.0])[0]
    assert "**" not in one.to_markdown() and "mathbf" not in one.to_latex() and "bold" not in one.to_latex()


def test_intervals_stand_beside_the_corrected_score_and_the_best_shown_is_bold():
    rng = np.random.default_rng(1)
    made = {"few": rng.normal(0.2, 1, size=(30, 4)), "many": rng.normal(0.3, 1, size=(900, 4))}
    scores = nm.evaluate([rng.normal(size=(300, 4))], made, "fid", uncertainty=nm.Influence())
    assert scores.table["avg"].argmin() == 1 and scores.table["avg_corrected"].argmin() == 0  # few rows only look worse
    rows, _ = parsed(scores.to_markdown())
    for row, found in zip(scores.table.to_dict("records"), rows[1:], strict=True):
        number, low, high, plain = map(float, re.findall(r"-?[0-9.]+", found[1][0].replace("−", "-")))
        wanted = [row[f"avg{end}"] for end in ("_corrected", "_low", "_high", "")]
        assert [number, low, high, plain] == pytest.approx(wanted, rel=1e-2)
    assert [bool(row[1][1]) for row in rows[1:]] == [True, False]


ESCAPED = re.compile(r"\\[&%$#_{}]|\\text[a-z]+\{\}|\\ldots\{\}")


def test_latex_has_a_row_for_each_name_and_no_command_of_theirs(hostile):
    lines = hostile.to_latex().splitlines()
    start, end = lines.index(r"\midrule") + 1, lines.index(r"\bottomrule")
    assert end - start == len(NAMES)
    for line in lines[start:end]:
        body = line.removesuffix(r" \\")
        assert body != line
        bare = ESCAPED.sub("", body)
        assert bare.count("&") == 6 and not set(bare.split("&")[0]) & set("%#~^_$\\")
        assert line.lstrip()[0] not in "[*"  # \\ and \midrule would take it for an option
        depth = np.cumsum([(c == "{") - (c == "}") for c in bare])
        assert depth.min() >= 0 and depth[-1] == 0
    assert lines[0] == r"% \usepackage{booktabs}" and lines[-1] == r"\end{table}"
    assert r"\caption{FID, KID with 2 clients: avg over them, all of them pooled, and gap = avg $-$ all.}" in lines
    notes = lines[lines.index(r"\par\smallskip{\footnotesize\raggedright") + 1 : lines.index("}")]
    assert len(notes) == 1 + len(hostile.conventions) and all(note.endswith(r".\par") for note in notes)
    assert any("MMD$^2$ on all rows" in note for note in notes) and "seed 0" in " ".join(notes)


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:matplotlib")
def test_every_formula_of_a_latex_table_is_one():
    values = [[-1.5e-7], [2e20], [math.inf], [-math.inf], [0.0], [1.0]]
    scores, _ = given_scores(values, [1.0, 2.0, 3.0, 4.0, 5.0, math.nan])
    text = scores.to_latex().split(r"\caption")[0]
    formulas = re.findall(r"\$[^$]+\$", text)
    assert {r"$-1.5 \times 10^{-7}$", r"$2 \times 10^{20}$", r"$\infty$", r"$\mathbf{-\infty}$", "$0$"} <= set(formulas)
    for formula in formulas:
        MathTextParser("path").parse(formula)
