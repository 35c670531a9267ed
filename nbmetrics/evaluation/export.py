"""Scores to take away: CSV for programs and spreadsheets, Markdown for an issue, LaTeX for a paper.

Names are text everywhere: whatever a reader of such a file would take for a formula, markup or a command is escaped.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .display import CellText, cells_of, parts_of, reading_notes
from .model_sentences import model_lines
from .scores_protocol import ScoresProtocol

if TYPE_CHECKING:
    import pandas as pd

# A spreadsheet takes a cell that begins so for a formula; full-width forms too, in some languages.
FORMULA = re.compile(r"\s*['=+\-@＝＋－＠]")


def as_csv(frame: pd.DataFrame) -> bytes:
    """A tidy frame; texts in quotes, so that no separator in a name begins a cell, and no name begins a formula."""
    texts = frame.select_dtypes(exclude="number").fillna("")  # a generator without group
    safe = frame.assign(**{str(name): ["'" * bool(FORMULA.match(t)) + t for t in texts[name]] for name in texts})
    return safe.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").encode("utf-8")


def as_records(scores: ScoresProtocol, note: str, provenance: Mapping[str, Any]) -> list[dict[str, Any]]:
    """See `Scores.to_records`."""
    origin = {"nbmetrics": provenance.get("nbmetrics"), "date": provenance.get("date")}
    cautions = "\n".join(scores.cautions)
    weights = {f"weight/{name}": float(weight) for name, weight in zip(scores.names, scores.weights, strict=True)}
    records = []
    groups = dict(zip(scores.generators, scores.groups, strict=True))
    for row in scores.table.to_dict("records"):
        cells = scores.result(row["metric"])
        own = ("intra",) * bool(cells.own_cells) + ("avg", "all", "gap") + tuple(cells.intervals())
        interval = None if cells.noise is None else str(cells.noise.design)
        records.append(
            {
                "generator": row["generator"],
                **({"group": groups[row["generator"]]} if "group" in row else {}),
                "metric": row["metric"],
                **{part: _json_number(row[part]) for part in own},
                "higher_is_better": bool(cells.metric.higher_is_better),
                "convention": cells.convention,
                "intervals": interval,
                "note": note,
                "cautions": cautions,
                "clients": len(scores.names),
                **weights,
                **origin,
            }
        )
    return records


def _json_number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def _rows(scores: ScoresProtocol) -> list[list[CellText]]:
    """Return the cells of each generator, metric by metric."""
    by_metric = [cells_of(scores, metric) for metric in scores.metrics]
    return [[cell for row in rows for cell in row] for rows in zip(*by_metric, strict=True)]


def _notes(scores: ScoresProtocol) -> list[str]:
    """How the table is to be read, what its runs say of their models, cautions, and how the numbers were made."""
    cautions = scores.cautions
    lines = [line for line in scores.conventions if line not in cautions]
    return [*reading_notes(scores, "bold"), *model_lines(scores), *cautions, *lines]


def as_markdown(scores: ScoresProtocol) -> str:
    """See `Scores.to_markdown`."""
    heads = ["generator", *(f"{scores.label(m)} {part}" for m in scores.metrics for part in parts_of(scores, m))]
    lines = [_pipes(map(_markdown, heads)), _pipes([":--", *["--:"] * (len(heads) - 1)])]
    for name, row in zip(scores.generators, _rows(scores), strict=True):
        cells = (_format_cell(cell, _markdown, "**{}**".format) for cell in row)
        lines.append(_pipes([_markdown(name), *cells]))
    return "\n".join([*lines, "", *(f"- {_markdown(line)}" for line in _notes(scores))]) + "\n"


def _pipes(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _format_cell(cell: CellText, escape: Callable[[str], str], bold: Callable[[str], str]) -> str:
    """A cell: the number, its interval, and the plain number in brackets, the best in bold."""
    number, interval, plain = map(escape, (cell.value, cell.interval, cell.plain))
    said = [bold(number) if cell.best == "value" else number, interval]
    if plain:
        said.append(f"({bold(plain) if cell.best == 'plain' else plain})")
    return " ".join(filter(None, said))


# A backslash as an entity: before a bracket even two of them would open a formula in a notebook.
_MARKDOWN = {"\\": "&#92;", "&": "&amp;"} | {letter: f"\\{letter}" for letter in "`*_{}[]<>|~$^#"}


def _markdown(text: str) -> str:
    return "".join(_MARKDOWN.get(letter, letter) for letter in " ".join(text.split()))


def as_latex(scores: ScoresProtocol) -> str:
    """See `Scores.to_latex`."""
    count, parts = len(scores.metrics), parts_of(scores, scores.metrics[0])
    wide = len(parts)
    tops = "".join(rf" & \multicolumn{{{wide}}}{{c}}{{{_latex(scores.label(m))}}}" for m in scores.metrics)
    rules = "".join(rf"\cmidrule(lr){{{wide * m + 2}-{wide * (m + 1) + 1}}}" for m in range(count))
    body = []
    for name, row in zip(scores.generators, _rows(scores), strict=True):
        cells = (_format_cell(cell, _latex_number, _latex_bold) for cell in row)
        body.append(f"{_latex(name)} & {' & '.join(cells)} \\\\")
    return "\n".join(
        [
            "% \\usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{l{'r' * wide * count}}}",
            r"\toprule",
            rf"{tops.strip()} \\",
            rules,
            rf"generator{''.join(f' & {part}' for part in parts) * count} \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{_latex(_caption(scores))}.}}",
            r"\par\smallskip{\footnotesize\raggedright",
            *(rf"{_latex(note.removesuffix('.'))}.\par" for note in _notes(scores)),
            "}",
            r"\end{table}",
            "",
        ]
    )


def _caption(scores: ScoresProtocol) -> str:
    """What the table is, in a line; how it was made stands below."""
    count, labels = len(scores.names), ", ".join(map(scores.label, scores.metrics))
    intra = "intra, each with what was made for it, " * ("intra" in parts_of(scores, scores.metrics[0]))
    of = f"{labels} with {count} client{'s' * (count != 1)}"
    return f"{of}: {intra}avg over them, all of them pooled, and gap = avg − all"


# Brackets and stars after the end of a row would be its options.
_LATEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {letter: f"{{{letter}}}" for letter in "[]*`"}
_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
# What the package's own notes are written in.
_LATEX |= {"−": "$-$", "–": "--", "²": "$^2$", "½": "$1/2$", "∞": r"$\infty$", "√": r"$\surd$", "·": r"$\cdot$"}
_LATEX |= {"≥": r"$\ge$", "≤": r"$\le$", "×": r"$\times$", "Σ": r"$\Sigma$", "‖": r"$\|$", "′": "$'$", "…": r"\ldots{}"}
_GREEK = {"α": "alpha", "γ": "gamma", "λ": "lambda", "μ": "mu", "σ": "sigma", "τ": "tau", "ψ": "psi"}
_LATEX |= {letter: rf"$\{name}$" for letter, name in _GREEK.items()}


def _latex(text: str) -> str:
    escaped = "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()).replace("--", "-\0-"))
    return escaped.replace("-\0-", "-{}-")  # two would join into a dash


_NUMBER = re.compile(r"(−?)(inf|[0-9]+(?:\.[0-9]+)?)(?:e([+−]?)0*([0-9]+))?")


def _latex_number(text: str) -> str:
    """Every number of a cell as a formula; the words and brackets between them as they are."""
    return _NUMBER.sub(lambda match: f"${_formula(*match.groups())}$", text).replace("±", r"$\pm$")


def _formula(sign: str, digits: str, power_sign: str | None, power: str | None) -> str:
    shown = ("-" if sign else "") + (r"\infty" if digits == "inf" else digits)
    return shown if power is None else shown + rf" \times 10^{{{'-' if power_sign == '−' else ''}{power}}}"


def _latex_bold(text: str) -> str:
    return text.replace("$", r"$\mathbf{", 1).removesuffix("$") + "}$"
