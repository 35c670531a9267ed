"""Names in the plane as the browser draws them: legible, apart, off the marks, and in the picture."""

import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from nbmetrics.scene import Copycat, Truncated
from tests.browser.page import handle, painted, press, unfold
from tests.slow import by_default

LONG = ["Universitätsklinikum Hamburg-Eppendorf", "W" * 24, "Städtisches Krankenhaus am Rande der Stadt"]
PRESETS = ["Two clients", "Three on a line", "Triangle (no direction left)"]
WIDTHS = by_default([1280, 400, 320], 1280, 320)
# Boxes of the plane in its pixels: all names, the marks of means, the arrow with its words, and the picture's own size.
BOXES = """() => {
  const stage = document.querySelector('.nbm-stage');
  const box = node => { const b = node.getBBox(), m = node.getCTM();
    return [b.x + m.e, b.x + b.width + m.e, b.y + m.f, b.y + b.height + m.f]; };
  const all = query => [...stage.querySelectorAll(query)].filter(n => n.getClientRects().length);
  const arrow = all('.nbm-twin-arrow line').flatMap(line => {
    const [x1, y1, x2, y2] = ['x1', 'y1', 'x2', 'y2'].map(name => line[name].baseVal.value);
    return Array.from({ length: 41 }, (_, k) => k / 40).map(t => [x1 + t * (x2 - x1), y1 + t * (y2 - y1)])
      .map(([x, y]) => [x - 1, x + 1, y - 1, y + 1]); });
  return { size: stage.clientWidth, names: all('.nbm-name').map(n => [n.textContent, box(n)]),
    taken: [...all('.nbm-mean .nbm-mark, .nbm-twin-mark, .nbm-twin-arrow text').map(box), ...arrow] }; }"""
# WCAG contrast of a text with the lab's ground, as far as it and all around it let that through.
CONTRAST = """node => {
  const rgb = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const ground = rgb(getComputedStyle(node.closest('.nbm')).backgroundColor);
  let seen = 1;
  for (let part = node; part; part = part.parentElement) seen *= Number(getComputedStyle(part).opacity);
  const ink = rgb(getComputedStyle(node).fill).map((v, i) => seen * v + (1 - seen) * ground[i]);
  const [a, b] = [ink, ground].map(c => c.map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05)).sort((p, q) => q - p);
  return a / b; }"""


def clients(names, places, weights=None):
    made = zip(names, places, weights or [1.0] * len(names), strict=True)
    return [nm.Client(nm.Gaussian(place), weight=weight, name=name) for name, place, weight in made]


def overlapping(one, other):
    return min(one[1], other[1]) > max(one[0], other[0]) and min(one[3], other[3]) > max(one[2], other[2])


def assert_apart(page):
    """No name is over another, over a mark or over the arrow, and none leaves the picture."""
    painted(page)
    plane = page.evaluate(BOXES)
    assert plane["names"] and plane["taken"]
    for i, (name, box) in enumerate(plane["names"]):
        assert min(box) >= 0 and max(box) <= plane["size"], (name, box)
        for other, its in plane["names"][:i]:
            assert not overlapping(box, its), (name, other)
        assert not [mark for mark in plane["taken"] if overlapping(box, mark)], name


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("preset", by_default(PRESETS, "Three on a line"))
def test_names_in_twinslab_keep_off_marks_and_arrow(saved, preset, width):
    page, lab = saved.open(nm.TwinsLab(preset), width=width)
    assert_apart(page)
    handle(lab, "Client 2 mean").press("Shift+ArrowUp")
    assert_apart(page)


@pytest.mark.parametrize("width", WIDTHS)
def test_long_names_are_cut_in_the_pictures_and_whole_where_they_are_read(saved, width):
    lab = nm.Playground(clients(LONG, [[-1.5, 0], [1.5, 0.2], [4.5, -3]]))
    page, root = saved.open(lab, width=width)
    assert_apart(page)
    shown = [name for name, _ in page.evaluate(BOXES)["names"]]
    assert all("…" in name for name in shown[:3]) and shown[3] == "Generator 1"
    assert root.locator(".nbm-stage title").all_text_contents() == [*LONG, ""]
    for name in LONG:
        expect(handle(root, f"{name} mean")).to_have_count(1)
    unfold(root)
    chart = root.locator(".nbm-explore .nbm-chart[role=img]").first
    assert all(name in chart.get_attribute("aria-label") for name in LONG)
    assert chart.locator(".nbm-row title").all_text_contents() == [*LONG, "", ""]
    lefts = chart.locator(".nbm-row text").evaluate_all("nodes => nodes.map(node => node.getBBox().x)")
    assert min(lefts) >= 0


@pytest.mark.parametrize("width", by_default([1280, 320], 320))
def test_long_names_leave_the_scores_of_twinslab_free(saved, width):
    page, root = saved.open(nm.TwinsLab(clients(LONG, [[-1.5, 0], [1.5, 0], [4, 0]])), width=width)
    assert_apart(page)
    ends = root.locator(".nbm-twin-row").evaluate_all("nodes => nodes.map(n => n.getBBox().x + n.getBBox().width)")
    marks = root.locator(".nbm-twin-dots .nbm-twin-mark").evaluate_all(
        "nodes => nodes.map(n => n.getCTM().e + n.getBBox().x)"
    )
    assert max(ends) < min(marks)


@pytest.mark.parametrize("scheme", by_default(["light", "dark"], "dark"))
def test_the_name_of_a_client_without_weight_is_legible_and_its_ellipse_dim(saved, scheme):
    lab = nm.Playground(clients(["A", "B"], [[-2, 0], [2, 0]], [1.0, 0.0]))
    _, root = saved.open(lab, color_scheme=scheme)
    absent = root.locator(".nbm-stage .nbm-absent")
    assert absent.locator(".nbm-name").evaluate(CONTRAST) >= 4.5
    assert absent.locator(".nbm-body").evaluate("node => Number(getComputedStyle(node).opacity)") < 0.5


def test_a_number_that_will_not_do_is_answered_by_its_label_and_range(saved):
    federation = nm.Federation(clients(["A", "B"], [[-2, 0], [2, 0]]))
    generators = {"Ideal": Truncated(federation, 0.5), "Copycat 1": Copycat(federation, "A", 50)}
    _, root = saved.open(nm.Playground(federation, generators))
    press(root, "Table view")
    for label, typed, wanted in [
        ("Copycat 1 points", "1", "Copycat 1 points: a whole number from 2 to 2000 is needed"),
        ("Copycat 1 points", "2001", "Copycat 1 points: a whole number from 2 to 2000 is needed"),
        ("Copycat 1 points", "2.5", "Copycat 1 points: a whole number from 2 to 2000 is needed"),
        ("Ideal ψ", "-1", "Ideal ψ: a number from 0 to 1000000 is needed"),
        ("A x", "1e9", "A x: a number from −1000000 to 1000000 is needed"),
        ("A weight", "-1", "A weight: a number from 0 to 1000000 is needed, not all weights 0"),
    ]:
        field = root.get_by_label(label, exact=True)
        field.fill(typed)
        field.press("Enter")
        expect(root.get_by_role("status")).to_contain_text(wanted)
