"""PrivacyLab in a saved page: its slider by keys and pointer, the chart and where it is hatched, runs, undo, widths."""

import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from nbmetrics.labs.privacy.numbers import headline as written
from nbmetrics.labs.privacy.numbers import numbers_of
from nbmetrics.labs.privacy.scene import PrivacyScene
from tests.browser.page import painted, press, unfold
from tests.browser.test_frontends import BEYOND
from tests.slow import by_default


@pytest.fixture(scope="module")
def lab():
    lab = nm.PrivacyLab()
    yield lab
    lab.close()


def headline(root):
    return root.get_by_role("heading", level=2).first


def slider(root, name="ε"):
    return root.get_by_role("slider", name=name, exact=True)


def pair(lab, epsilon, part):
    """What the study says of FID's best generator and its rival."""
    study = lab.study
    return study["pairs"][study["epsilons"].index(epsilon)][0][("avg", "all").index(part)]


def words(lab, epsilon, part):
    """The headline, by Python."""
    return written(numbers_of(lab.study, PrivacyScene(epsilon, "fid", part)))


def test_epsilon_moves_by_keys_and_the_chart_follows(saved, lab):
    page, root = saved.open(lab)
    unfold(root)
    expect(headline(root)).to_have_text(words(lab, 3.0, "all"))
    expect(headline(root)).to_contain_text(" times the score, and decides who is first.")
    chart = root.get_by_role("region", name="Survival").get_by_role("img")
    marker = root.locator(".nbm-noise-marker")
    before = float(marker.get_attribute("x1"))
    slider(root).press("ArrowLeft")
    expect(slider(root)).to_have_attribute("aria-valuetext", "ε 2")
    expect(headline(root)).to_have_text(words(lab, 2.0, "all"))
    assert float(marker.get_attribute("x1")) < before
    slider(root).press("End")
    expect(headline(root)).to_contain_text("At ε = 100 ")
    root.get_by_label("Aggregate", exact=True).select_option("avg")
    slider(root).press("Shift+ArrowLeft")
    expect(headline(root)).to_have_text(words(lab, 20.0, "avg"))
    expect(headline(root)).to_contain_text("; the best stays first in ")
    said = f"at ε = 20: by avg {pair(lab, 20.0, 'avg')['kept']}, by all {pair(lab, 20.0, 'all')['kept']}"
    assert said in chart.get_attribute("aria-label")
    ruled = [f"{e:g}" for e in lab.study["epsilons"] if not pair(lab, e, "avg")["survives"]]
    assert f"The noise decides who is first by avg at ε = {', '.join(ruled)}." in chart.get_attribute("aria-label")
    page.keyboard.press("Control+z")
    expect(headline(root)).to_contain_text("At ε = 100 ")
    press(root, "Reset")
    expect(headline(root)).to_have_text(words(lab, 3.0, "all"))


def test_where_the_noise_decides_the_chart_is_hatched_and_its_dots_are_open(saved, lab):
    _, root = saved.open(lab)
    unfold(root)
    chart, grid = root.get_by_role("region", name="Survival").locator("svg.nbm-chart"), lab.study["epsilons"]
    marker, hatch = root.locator(".nbm-noise-marker"), chart.locator(".nbm-noise-hatch path")
    for part in ("all", "avg"):
        root.get_by_label("Aggregate", exact=True).select_option(part)
        box = hatch.first.evaluate("path => { const b = path.getBBox(); return [b.x, b.x + b.width]; }")
        for epsilon in (grid[0], 10.0, 20.0, grid[-1]):
            slider(root).press("Home")
            for _ in range(grid.index(epsilon)):
                slider(root).press("ArrowRight")
            expect(slider(root)).to_have_attribute("aria-valuetext", f"ε {epsilon:g}")
            inside = box[0] - 4 <= float(marker.get_attribute("x1")) <= box[1] + 4
            assert inside != pair(lab, epsilon, part)["survives"]
        assert hatch.count() == 1  # here it decides up to some ε
        dots = chart.locator(f".nbm-noise-dots.nbm-noise-{part} circle")
        is_open = dots.evaluate_all("nodes => nodes.map((node) => node.classList.contains('nbm-noise-open'))")
        assert is_open == [not pair(lab, epsilon, part)["survives"] for epsilon in grid]
        expect(root).to_contain_text(f"Hatched, open dots: the noise decides who is first by {part}")


def test_a_press_in_the_chart_goes_to_the_nearest_epsilon(saved, lab):
    page, root = saved.open(lab)
    unfold(root)
    chart = root.get_by_role("region", name="Survival").locator("svg")
    box = chart.bounding_box()
    page.mouse.click(box["x"] + 36, box["y"] + 100)
    expect(headline(root)).to_contain_text("At ε = 0.1 ")
    page.mouse.move(box["x"] + 36, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 36, box["y"] + 100, steps=4)
    expect(headline(root)).to_contain_text("At ε = 100 ")
    page.mouse.up()
    root.get_by_role("button", name="Undo").click()
    expect(headline(root)).to_contain_text("At ε = 0.1 ")


def test_a_run_shows_its_own_order(saved, lab):
    _, root = saved.open(lab)
    unfold(root)
    names, table = lab.study["generators"], root.get_by_role("table", name="Scores")
    for run in (1, 6):
        shown = [scores[0][1] for scores in lab.study["drawn"][lab.study["epsilons"].index(3.0)]][run - 1]
        order = sorted(range(4), key=shown.__getitem__)
        expect(root).to_contain_text(f"the marks, would show {', '.join(names[g] for g in order)};")
        rows = table.locator("tbody tr")
        for row in range(4):
            g = names.index(rows.nth(row).locator("th span").inner_text())
            assert rows.nth(row).locator("td").nth(2).get_attribute("data-value") == str(1 + order.index(g))
        slider(root, "Run").press("Shift+ArrowRight")


@pytest.mark.parametrize("width", by_default([320, 400, 1280], 320))
def test_nothing_leaves_the_page(saved, lab, width, look):
    page, root = saved.open(lab, width=width)
    unfold(root)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        painted(page)
        look(f"privacy-{scheme}-{width}", page, full_page=True)
    expect(root).to_contain_text("Band: the chance that the best by all stays first")
    press(root, "Table view")
    table = root.get_by_role("table", name="Runs in which the best stays first")
    expect(table.get_by_role("columnheader", name="all: chance, 95\u00a0% interval")).to_be_visible()
    expect(table.get_by_role("columnheader", name="all: if reversed")).to_be_visible()
    expect(table.get_by_role("cell", name="no: noise decides").first).to_be_visible()
    assert root.evaluate(BEYOND) == []


def test_a_locked_lab_keeps_its_epsilon(saved):
    lab = nm.PrivacyLab()
    lab.lock("drag", "presets")
    page, root = saved.open(lab)
    unfold(root)
    expect(slider(root)).to_be_disabled()
    expect(root.get_by_label("Preset", exact=True)).to_be_hidden()
    box = root.get_by_role("region", name="Survival").locator("svg").bounding_box()
    page.mouse.click(box["x"] + 36, box["y"] + 100)
    painted(page)
    expect(headline(root)).to_contain_text("At ε = 3 ")
    expect(slider(root, "Run")).to_be_enabled()
    lab.close()
