"""One language of colour: figures and pages mean the same by it, and it is never colour alone."""

import math
import re

import pytest
from matplotlib.colors import to_hex

import nbmetrics as nm
from nbmetrics.figures import drawing
from nbmetrics.ranking import numeral
from tests.rooms import PACKAGE

CSS = (PACKAGE / "labs" / "toolkit" / "view" / "lab.css").read_text("utf-8")
# What the page calls what a figure draws; generators beyond the first where the page has hues for them.
VARIABLES = {
    "client": drawing.CLIENT,
    "generator": drawing.GENERATORS[0],
    "text": drawing.TEXT,
    "quiet": drawing.QUIET,
    "gap": drawing.GAP,
    "violet": drawing.VIOLET,
    "green": drawing.GREEN,
    "olive": drawing.OLIVE,
    "brown": drawing.BROWN,
    **{f"g{k}": hue for k, hue in enumerate(drawing.GENERATORS)},
}


def light():
    """The variables of the page as it is in a light theme, those that stand for others followed."""
    block = CSS[: CSS.index("container-type")]
    found = dict(re.findall(r"--nbm-([\w-]+): (?:var\([^,]+, )?(var\(--nbm-[\w-]+\)|#\w+)", block))
    return {name: found[value[10:-1]] if value.startswith("var(") else value for name, value in found.items()}


def same(one, other):
    return to_hex(one) == to_hex(other)


def test_the_page_and_the_figures_have_one_palette():
    page = light()
    known = set(VARIABLES) & set(page)
    assert {"client", "generator", "text", "quiet", "gap"} <= known
    assert {name: page[name] for name in known if not same(page[name], VARIABLES[name])} == {}


def test_one_generator_has_one_hue_and_mark_in_every_panel():
    distributions = {f"g{k}": nm.Gaussian([k, 0.0]) for k in range(5)}
    scores = nm.evaluate({"a": nm.Gaussian([0.0, 0.0]), "b": nm.Gaussian([2.0, 0.0])}, distributions, progress=False)
    looks = [drawing.generator_look(k) for k in range(5)]
    assert len({(look["color"], look["marker"]) for look in looks}) == 5
    for ax in scores.plot("ranks").axes:
        assert [(line.get_color(), line.get_marker()) for line in ax.lines] == [tuple(look.values()) for look in looks]
    for ax in scores.plot("clients").axes:
        assert [line.get_color() for line in ax.lines] == [look["color"] for look in looks]
    for ax in scores.plot("scatter").axes:
        assert [to_hex(points.get_facecolor()[0]) for points in ax.collections] == [look["color"] for look in looks]


@pytest.mark.parametrize(
    ("value", "spec", "beside", "text"),
    [
        (-0.25, ".3f", 1.0, "−0.250"),
        (-0.0001, ".3f", 1.0, "0.000"),
        (4e-17, ".2g", 1.0, "0"),
        (-2e-7, ".1e", 1.0, "−2.0e−07"),
        (3e-4, ".2g", 1e6, "0"),
        (0.5, "+.1f", 1.0, "+0.5"),
        (-0.01, "+.1f", 1.0, "0.0"),
        (-math.inf, ".3f", 1.0, "−inf"),
        (math.nan, ".3f", 1.0, "nan"),
        (-1234.5, ",.0f", 1.0, "−1,234"),
    ],
)
def test_numbers_as_people_read_them(value, spec, beside, text):
    assert numeral(value, spec, beside=beside) == text
