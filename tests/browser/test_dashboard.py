"""The top of the Dashboard's page: the verdict in words and the leaderboard, on a saved page, as Python has them."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from nbmetrics.labs.dashboard.lab import Dashboard
from nbmetrics.labs.dashboard.place_ranges import place_ranges
from nbmetrics.labs.dashboard.verdict import percent
from tests.browser.page import open_tab, painted, press, unfold
from tests.labs.inside import scene_of, study_of
from tests.labs.toolkit.common import NAMES
from tests.slow import by_default
from website import examples

# Of each row: the name, and text and number of each column by its class.
ROWS = """table => [...table.tBodies[0].rows].map(row => ({
  name: row.cells[0].firstElementChild.title,
  cells: Object.fromEntries([...row.cells].slice(1).map(cell => [cell.className.slice(14),
    { text: cell.textContent, value: cell.dataset.value === undefined ? null : Number(cell.dataset.value) }])),
}))"""
# What is wider than the place it has, but for what scrolls by itself.
WIDER = """parts => parts.flatMap(part => [part, ...part.querySelectorAll('*')])
  .filter(node => node.clientWidth && node.scrollWidth > node.clientWidth + 1 && !node.closest('svg'))
  .map(node => node.className)"""


def rows_about(centre, spread, n, d=6, seed=0):
    return np.random.default_rng(seed).normal(centre, spread, (n, d))


@pytest.fixture(scope="module")
def disagreeing():
    """Clients about different centres: a narrow generator pleases each, one that is wide as all pleases the pool."""
    clients = {f"c{i}": rows_about(np.eye(6)[i] * 2.5, 1, 300 + 60 * i, seed=i) for i in range(4)}
    middle = np.mean([np.eye(6)[i] * 2.5 for i in range(4)], axis=0)
    rng = np.random.default_rng(9)
    generators = {
        "Narrow": rng.normal(middle, 1.05, (900, 6)),
        "Wide": rng.normal(middle, 1.4, (900, 6)),
        "Far": rng.normal(middle + 2, 1, (900, 6)),
        "Farther": rng.normal(middle + 2.05, 1, (900, 6)),
    }
    lab = Dashboard(clients, generators)
    yield lab
    lab.close()


def rows_of(root):
    painted(root)
    return root.get_by_role("table", name="Leaderboard", exact=True).evaluate(ROWS)


def place_text(losses, ranges, g):
    low, high = ranges.low[g], ranges.high[g]
    return f"{low}" if low == high else f"{1 + int((losses < losses[g]).sum())} ({low}–{high})"


def heading(root):
    return root.get_by_role("heading").first


def weight(root, name):
    return root.get_by_role("slider", name=f"{name} weight", exact=True)


def assert_numbers_are_pythons(root, lab, shares, metric, parts):
    known = study_of(lab).weighted_scores(metric, tuple(shares))
    losses = {"avg": known.avg_centres, "all": known.all_centres}
    draws = {"avg": known.avg_draws, "all": known.all_draws}
    shown = rows_of(root)
    assert [row["name"] for row in shown] == [study_of(lab).generators[g] for g in np.argsort(losses["avg"])]
    for row in shown:
        g = study_of(lab).generators.index(row["name"])
        for part in parts:
            ranges = place_ranges(losses[part], draws[part])
            assert row["cells"][part]["value"] == pytest.approx(losses[part][g], rel=1e-9)
            assert row["cells"][f"{part}Place"]["text"] == place_text(losses[part], ranges, g)
        if "all" in parts:
            gap = losses["avg"][g] - losses["all"][g]
            assert row["cells"]["gap"]["value"] == pytest.approx(gap, rel=1e-9)
        centres = known.metric_view.centres[g]
        worst = row["cells"]["worst"]
        assert worst["value"] == pytest.approx(centres.max(), rel=1e-9)
        assert worst["text"].endswith(study_of(lab).names[int(centres.argmax())])


def test_verdict_and_leaderboard_are_pythons_under_any_weights(saved, disagreeing):
    lab = disagreeing
    said = lab.verdict
    assert "disagree" in said[0]
    _page, root = saved.open(lab)
    expect(heading(root)).to_have_text(said[0])
    expect(root.get_by_text("Merge, drop or split clients")).to_be_hidden()  # which Python does
    expect(root.locator(".nbm-dashboard-todo")).to_have_text(said[1])
    open_tab(root, "How stable")
    expect(root.locator(".nbm-dashboard-why")).to_have_text(" ".join(said[2:-1]))
    assert_numbers_are_pythons(root, lab, scene_of(lab).shares, "fid", ("avg", "all"))
    table = lab.table[lab.table["metric"] == "fid"].set_index("generator")
    for row in rows_of(root):
        assert f"plain {table['avg'][row['name']]:.4g}" in row["cells"]["avg"]["text"]
    crossed = root.locator(".nbm-dashboard-slope").evaluate_all("all => all.map(line => line.dataset.crossed)")
    assert crossed == ["real", "real", "", ""]

    unfold(root)
    root.get_by_role("combobox", name="Preset").select_option("All clients alike")
    alike = np.full(4, 0.25)
    assert_numbers_are_pythons(root, lab, alike, "fid", ("avg",))
    assert all(row["cells"]["all"]["text"].count("≈") == 1 for row in rows_of(root))
    expect(heading(root)).to_contain_text(
        "On FID avg, Narrow wins. The winner by all is not computed for these weights yet."
    )
    weight(root, "c2").press("End")  # all is its data
    for row in rows_of(root):
        assert row["cells"]["all"] == row["cells"]["avg"] and row["cells"]["gap"]["value"] == 0
    press(root, "All alike")
    painted(root)  # a key goes on from what its slider shows
    weight(root, "c0").press("Shift+ArrowRight")
    weight(root, "c0").press("Shift+ArrowRight")  # too far for a guess
    expect(root.locator("td.nbm-dashboard-all")).to_have_text(["–"] * 4)
    expect(heading(root)).to_contain_text("The winner by all is not computed for these weights yet.")
    expect(root.locator("td.nbm-dashboard-all").first).to_have_attribute("title", re.compile("needs a notebook"))
    press(root, "All alike")

    root.get_by_role("button", name="KID:").click()
    expect(heading(root)).to_contain_text("avg and all always agree")
    expect(root.locator(".nbm-dashboard-ribbon")).to_be_hidden()
    expect(root.get_by_role("columnheader", name="place by all")).to_be_hidden()
    assert_numbers_are_pythons(root, lab, alike, "kid", ("avg",))


def test_rows_are_chosen_and_sorted_by_keys_and_the_table_says_all(saved, disagreeing):
    page, root = saved.open(disagreeing)
    name = root.get_by_role("button", name="Narrow", exact=True)
    expect(root.get_by_role("button", name="worst client")).to_be_hidden()
    press(root, "Table view")
    root.get_by_role("button", name="worst client").focus()
    page.keyboard.press("Tab")
    expect(name).to_be_focused()
    page.keyboard.press("ArrowDown")
    wide = root.get_by_role("button", name="Wide", exact=True)
    expect(wide).to_be_focused()
    page.keyboard.press("Enter")
    expect(wide).to_have_attribute("aria-pressed", "true")
    assert root.locator(".nbm-dashboard-slope.nbm-selected").get_attribute("data-generator") == "Wide"
    page.keyboard.press("Enter")
    expect(wide).to_have_attribute("aria-pressed", "false")
    root.get_by_role("button", name="all", exact=True).press("Enter")
    board = root.get_by_role("table", name="Leaderboard", exact=True)
    expect(board.get_by_role("columnheader", name="all", exact=True)).to_have_attribute("aria-sort", "ascending")
    assert rows_of(root)[0]["name"] == "Wide"
    numbers = root.get_by_role("table", name="Numbers of the leaderboard")
    known = disagreeing._comparison.weighted_scores("fid", disagreeing._scene.shares)
    low = known.avg_centres[0] - 1.959964 * known.avg_draws[:, 0].std()
    expect(numbers.locator("tbody tr").first).to_contain_text(f"{low:.6g}")


def test_hostile_names_are_text_and_fit_a_narrow_page(saved):
    names = [*NAMES, "W" * 300]
    clients = {name: rows_about(0, 1, 80, 2, seed=i) for i, name in enumerate(names)}
    generators = {name[:299] + "!": rows_about(0.1 * i, 1, 90, 2, seed=20 + i) for i, name in enumerate(names)}
    lab = Dashboard(clients, generators, "fid")
    _page, root = saved.open(lab, width=400)
    assert sorted(row["name"] for row in rows_of(root)) == sorted(generators)
    assert root.locator("img").count() == 0
    parts = ".nbm-dashboard-verdict, .nbm-dashboard-leaderboard"
    assert root.locator(parts).evaluate_all(WIDER) == []
    lab.close()


@pytest.mark.parametrize(
    "case",
    by_default(["one generator", "identical", "one client", "distributions", "few rows"], "identical", "few rows"),
)
def test_edges(saved, case):
    clients = {"a": rows_about(0, 1, 100), "b": rows_about(0.5, 1, 100, seed=1)}
    generators = {"g": rows_about(0, 1, 200, seed=2), "h": rows_about(0.4, 1, 200, seed=3)}
    if case == "one generator":
        generators.pop("h")
    if case == "identical":
        generators = {"g": generators["g"], "h": generators["g"].copy()}
    if case == "one client":
        clients.pop("b")
    if case == "few rows":  # of a client that decisions leave out
        clients["c"] = rows_about(3, 1, 4, seed=5)
    if case == "distributions":
        clients = {"a": nm.Gaussian([0, 0]), "b": nm.Gaussian([2, 0])}
        generators = {"g": nm.Gaussian([1, 0]), "h": nm.Gaussian([1, 0], 1.5)}
    lab = Dashboard(clients, generators)
    said = lab.verdict
    _page, root = saved.open(lab)
    expect(heading(root)).to_have_text(said[0])
    shown = rows_of(root)
    known = study_of(lab).weighted_scores("fid", scene_of(lab).shares)
    order = np.argsort(known.avg_centres, kind="stable")
    assert [row["name"] for row in shown] == [list(generators)[g] for g in order]
    if case == "identical":
        assert [row["cells"]["avgPlace"]["text"] for row in shown] == ["1 (1–2)"] * 2
    if case == "one client":
        expect(root.get_by_role("columnheader", name="gap")).to_be_hidden()
    if case == "few rows":
        assert any(known.metric_view.few) and not np.isnan(known.avg_centres).any()
        counts = np.array(list(scene_of(lab).shares)) * known.metric_view.counts
        plain = (known.metric_view.values[:, :2] @ counts[:2]) / counts.sum()
        centres = known.metric_view.centres[:, :2]
        for row in shown:
            g = list(generators).index(row["name"])
            assert f"plain {plain[g]:.3f}" in row["cells"]["avg"]["text"] or not known.metric_view.is_corrected
            assert row["cells"]["gap"]["text"] == "–"
            assert row["cells"]["worst"]["value"] == pytest.approx(centres[g].max(), rel=1e-9)
        share = percent(scene_of(lab).shares[2])
        expect(root.locator(".nbm-dashboard-legend")).to_contain_text(f"leave out c (4 rows), {share} of the weight")
        assert [row["cells"]["avg"]["value"] for row in shown] == pytest.approx(sorted(known.avg_centres), rel=1e-9)
    if case == "distributions":
        expect(root.locator(".nbm-dashboard-legend")).to_contain_text("Exact")
    lab.close()


# What says only the beginning of its text.
CUT = """nodes => nodes
  .filter(node => getComputedStyle(node).overflowX === "hidden" && node.scrollWidth > node.clientWidth)
  .map(node => node.textContent)"""


@pytest.mark.parametrize("is_of_the_site", by_default([False, True], False))
def test_no_score_is_cut_off(saved, disagreeing, is_of_the_site):
    """A number whose end is missing reads as another."""
    _page, root = saved.open(examples.dashboard() if is_of_the_site else disagreeing, width=1200)
    assert root.locator(".nbm-dashboard-board td *").evaluate_all(CUT) == []
