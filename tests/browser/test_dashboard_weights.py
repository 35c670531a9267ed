"""Weights of a saved Dashboard: bars, holds, and the cards that follow them, as Python has them."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from nbmetrics.labs.dashboard.certificate import certificate_of, least_reweighting
from nbmetrics.labs.dashboard.place_ranges import standard_errors_apart
from nbmetrics.labs.dashboard.recommendation import regret
from tests.browser.labs import copied_code
from tests.browser.page import open_tab, painted, press
from tests.labs.dashboard.along_a_weight import breakpoints, with_weight
from tests.labs.dashboard.sample_size_oracle import settle, settle_sentence
from tests.labs.inside import mixture_of, scene_of, study_of

ROWS = {"north": 220, "south": 160, "east": 90, "west": 70, "few": 10}
DIM = 6
# Of each client's row its name, its first bar, which is of the winner by avg, and its mark.
BARS = """rows => rows.map(row => [row.querySelector('.nbm-regret-name').title,
  row.querySelector('.nbm-regret-bar').dataset.value, row.querySelector('small').textContent])"""


@pytest.fixture(scope="module")
def lab():
    rng = np.random.default_rng(1)
    clients = {name: rng.normal(1.2 * np.eye(DIM)[i], 1, (rows, DIM)) for i, (name, rows) in enumerate(ROWS.items())}
    generators = {
        "Middle": rng.normal(0.24, 1.1, (400, DIM)),
        "Northern": rng.normal(1.2 * np.eye(DIM)[0], 1.0, (400, DIM)),
        "Eastern": rng.normal(1.0 * np.eye(DIM)[2], 1.1, (400, DIM)),
    }
    lab = nm.Dashboard(clients, generators, ("fid", "kid"))
    lab.wait()
    mixture_of(lab).now(scene_of(lab))
    yield lab
    lab.close()


def scene(root):
    painted(root)
    made = re.search(r"lab\.scene = (\{.*?\n\})", copied_code(root), re.S).group(1)
    return json.loads(made)


def shares(root):
    weights = np.array(scene(root)["weights"])
    return weights / weights.sum()


def bar(root, name):
    return root.get_by_role("slider", name=f"{name} weight", exact=True)


def card(root, name):
    return root.get_by_role("region", name=name)


def parts_of(root, i):
    """The parts of a track: where each begins, and who wins there."""
    spans = "nodes => nodes.map(node => [Number(node.dataset.from), node.dataset.winner])"
    return root.locator(".nbm-weight-track").nth(i).locator("span").evaluate_all(spans)


def decided(lab, weights, metric="fid"):
    """What a decision sees: the clients with rows enough, and their weights."""
    known = study_of(lab).weighted_scores(metric, tuple(weights))
    counts = known.metric_view.counts
    return known, counts, weights[counts] / weights[counts].sum()


def assert_decisions_are_pythons(root, lab, metric="fid"):
    now = shares(root)
    known, counts, own = decided(lab, now, metric)
    centres, names = known.metric_view.centres[:, counts], [n for n, c in zip(ROWS, counts, strict=True) if c]
    open_tab(root, "How stable")
    sentence = str(certificate_of(study_of(lab).generators, names, centres, own))
    expect(card(root, "How stable is the winner by avg?")).to_contain_text(sentence)
    lined = np.where(counts, known.metric_view.centres, 0.0)
    for i in range(len(ROWS)):
        wanted = breakpoints(lined, now, i)
        shown = parts_of(root, i)
        assert [winner for _, winner in shown] == [study_of(lab).generators[g] for _, _, g in wanted]
        assert [at for at, _ in shown] == pytest.approx([at for at, _, _ in wanted], abs=1e-9)
    open_tab(root, "Who loses")
    lost = regret(known.metric_view.centres)[known.avg_centres.argmin()]
    for name, value, mark in root.locator(".nbm-regret-row").evaluate_all(BARS):
        i = list(ROWS).index(name)
        assert float(value) == pytest.approx(lost[i], abs=1e-9)
        assert mark.startswith(f"n = {ROWS[name]}: cannot tell") or (counts[i] and not mark)


def test_bars_move_by_mouse_keys_and_typing_and_decisions_follow_as_python_has_them(saved, lab):
    page, root = saved.open(lab)
    start = shares(root)
    assert_decisions_are_pythons(root, lab)
    box = bar(root, "north").bounding_box()
    at = box["x"] + 6 + start[0] * (box["width"] - 12)
    page.mouse.move(at, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + box["height"] / 2, steps=4)
    expect(bar(root, "north")).to_have_attribute("aria-valuetext", "100\u00a0%")
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    painted(page)
    moved = shares(root)
    assert 0.55 < moved[0] < 0.65
    np.testing.assert_allclose(
        moved, with_weight(start, 0, moved[0]), atol=1e-12
    )  # there and back left the others alone
    assert_decisions_are_pythons(root, lab)
    bar(root, "east").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    painted(page)
    by_keys = shares(root)
    assert by_keys[2] == pytest.approx(round(moved[2], 2) + 0.11)
    bar(root, "few").press("Enter")  # to its number
    page.keyboard.type("12.5")
    page.keyboard.press("Enter")
    painted(page)
    assert shares(root)[4] == pytest.approx(0.125)
    assert_decisions_are_pythons(root, lab)
    press(root, "Undo")
    np.testing.assert_allclose(shares(root), by_keys, atol=1e-12)


def test_what_is_typed_in_a_weight_stays_while_the_page_changes_and_escape_takes_it_back(saved, lab):
    page, root = saved.open(lab)
    number = root.get_by_role("spinbutton", name="few weight in percent", exact=True)
    bar(root, "few").press("Enter")
    page.keyboard.type("12")
    elsewhere = (
        "input => { input.value = 0.5; for (const e of ['input', 'change']) input.dispatchEvent(new Event(e)); }"
    )
    bar(root, "north").evaluate(elsewhere)
    expect(bar(root, "north")).to_have_attribute("aria-valuetext", "50\u00a0%")
    expect(number).to_have_value("12")
    page.keyboard.type(".5")
    page.keyboard.press("Enter")
    painted(page)
    assert shares(root)[4] == pytest.approx(0.125)
    before = shares(root)
    number.focus()
    page.keyboard.type("7")
    page.keyboard.press("Escape")
    expect(number).to_have_value("12.5")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "few weight"
    np.testing.assert_array_equal(shares(root), before)
    press(root, "All alike")
    np.testing.assert_allclose(shares(root), 0.2, atol=1e-12)
    root.get_by_label("Metric", exact=True).select_option("kid")
    assert_decisions_are_pythons(root, lab, "kid")
    press(root, "By rows")
    np.testing.assert_allclose(shares(root), np.array(list(ROWS.values())) / sum(ROWS.values()), atol=1e-12)


@pytest.mark.slow
def test_held_bars_stay_and_the_certificates_weights_dethrone(saved, lab):
    page, root = saved.open(lab)
    start = shares(root)
    held = root.get_by_role("button", name="hold south", exact=True)
    bar(root, "south").press("h")
    expect(held).to_have_attribute("aria-pressed", "true")
    bar(root, "north").focus()
    page.keyboard.press("Home")
    painted(page)
    np.testing.assert_allclose(shares(root), with_weight(start, 0, 0.0, [1]), atol=1e-12)
    bar(root, "north").focus()
    page.keyboard.press("End")
    painted(page)
    np.testing.assert_allclose(shares(root), with_weight(start, 0, 1 - start[1], [1]), atol=1e-12)
    press(root, "All alike")
    assert shares(root)[1] == pytest.approx(start[1], abs=1e-12)
    held.click()
    now = shares(root)
    _, counts, own = decided(lab, now)
    found = least_reweighting(study_of(lab).metric_view("fid").centres[:, counts], own)
    open_tab(root, "How stable")
    press(root, "Try these weights")
    known, *_ = decided(lab, shares(root))
    assert known.avg_centres.argmin() == found.rival
    assert np.abs(shares(root) - now).sum() / 2 == pytest.approx(found.moved * now[counts].sum(), abs=2e-3)


def assert_mixtures_shares_move(page, mixture, lab):
    """By typing, keys and mouse; their score is Python's of the same shares."""
    study, names, best = study_of(lab), lab.mixture["generators"], np.array(lab.mixture["alpha"])
    means = nm.best_mixture(study.federation, [study._filling.source(name) for name in names]).means
    back = mixture.get_by_role("button", name="Back to the best")

    def assert_score_is_that_of(alpha):
        shown = [float(json_number.input_value()) for json_number in mixture.get_by_role("spinbutton").all()]
        assert sorted(shown) == pytest.approx(sorted(100 * np.array(alpha)), abs=0.1)
        told = re.search(r"KID-all ([\d.]+) with these shares", mixture.inner_text()).group(1)
        assert float(told) == pytest.approx(means.score(np.array(alpha)), rel=0.06)

    expect(back).to_be_hidden()
    at = int(best.argmax())
    mixture.get_by_label(f"{names[at]} in the mixture in percent").fill("30")
    page.keyboard.press("Enter")
    typed = with_weight(best, at, 0.3)
    assert_score_is_that_of(typed)
    slider = mixture.get_by_role("slider", name=f"{names[0]} in the mixture", exact=True)
    slider.focus()
    page.keyboard.press("End")
    assert_score_is_that_of([1, 0, 0])
    page.keyboard.press("Home")
    assert_score_is_that_of(with_weight(best, 0, 0.0))
    box = slider.bounding_box()
    page.mouse.move(box["x"] + 6, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    assert_score_is_that_of(with_weight(best, 0, 0.5))
    page.keyboard.press("Escape")
    assert_score_is_that_of(with_weight(best, 0, 0.0))
    page.mouse.up()
    back.click()
    expect(back).to_be_hidden()
    expect(mixture).to_contain_text("cross-fitted")


def test_what_python_told_stands_on_the_page(saved, lab):
    page, root = saved.open(lab)
    answer = study_of(lab).answer(scene_of(lab))
    known, *_ = decided(lab, shares(root))
    open_tab(root, "How stable")
    told = answer["settle"]["fid"]
    pair = [study_of(lab).generators.index(name) for name in told["pair"]]
    away = standard_errors_apart(known.avg_centres, known.avg_draws, *pair)
    sentence = settle_sentence(
        settle(away, np.array(told["variances"]), np.array(told["sizes"])), *told["pair"], list(ROWS)
    )
    expect(card(root, "Would more rows decide it?")).to_contain_text(sentence)
    open_tab(root, "Mixture")
    mixture = card(root, "Would a mixture do better?")
    for name, alpha in zip(lab.mixture["generators"], lab.mixture["alpha"], strict=True):
        if alpha > 0:
            expect(mixture).to_contain_text(name)
    expect(mixture).to_contain_text("cross-fitted")
    assert_mixtures_shares_move(page, mixture, lab)
    bar(root, "north").focus()
    page.keyboard.press("Shift+ArrowRight")
    expect(mixture).to_contain_text("for other weights")
    open_tab(root, "How stable")
    expect(card(root, "Would more rows decide it?")).to_contain_text("For other weights")
