"""The questions of CorrelationLab: verdicts, words and veil, for readers of every kind, in displays, undo and share."""

import math

import pytest
from playwright.sync_api import expect

from tests.browser.page import painted, press, run_code
from tests.browser.test_correlation import (
    LAB,
    choice,
    closed_forms,
    opened,  # noqa: F401
    point,
    question,
    settle,
    values,
)
from tests.slow import by_default

LARGE_RFID = 2 * (101 - math.sqrt(101**2 - 100 * 2.56))
SECOND = f"With ρ = 0.80 and ρ̂ = −0.80, RFID goes from 1.600 at α = 1 to {LARGE_RFID:.3f} at α = 10"
# The cells after the first, again.
RUN_AGAIN = """async () => {
  const { content } = window.__panel;
  for (let k = 1; k < content.widgets.length; k++) {
    content.activeCellIndex = k;
    await window.jupyterapp.commands.execute('notebook:run-cell');
  } }"""


def body(lab):
    return lab.locator(".nbm-pair")


def test_predict_then_reveal(opened):  # noqa: F811
    page, lab = opened
    expect(body(lab)).to_have_attribute("data-veiled", "scores")
    choice(lab, "RFID").click()
    expect(question(lab)).to_contain_text("Not RFID. MFID compares y with ŷ and ignores x: 0.000")
    expect(choice(lab, "✓ MFID")).to_be_visible()
    expect(body(lab)).to_have_attribute("data-veiled", "")
    choice(lab, "Next question").click()
    expect(body(lab)).to_have_attribute("data-veiled", "curves")
    choice(lab, "RFID").click()
    expect(question(lab)).to_contain_text(f"Yes. {SECOND}")
    assert settle(page, lab)[0]["scale"] == 10
    choice(lab, "Next question").click()
    expect(question(lab)).to_contain_text(f"RFID is now {LARGE_RFID / 2.56:.2f} of CFID")
    expect(choice(lab, "Ask me again")).to_be_hidden()
    scale = lab.get_by_role("slider", name="scale of x")
    scale.focus()
    for key in ["Shift+ArrowLeft"] * 10 + ["ArrowLeft"] * 20:
        page.keyboard.press(key)
        painted(page)
        if choice(lab, "Ask me again").is_visible():
            break
    expect(question(lab)).to_contain_text("Done.")
    scene, _ = settle(page, lab)
    _, rfid, cfid, _ = closed_forms(scene)
    assert abs(rfid / cfid - 0.5) <= 0.01
    choice(lab, "Ask me again").click()
    choice(lab, "Just show me").click()
    expect(question(lab)).to_contain_text("0.000 for any pairing")
    expect(choice(lab, "Next question")).to_be_focused()
    page.keyboard.press("Control+z")
    expect(choice(lab, "Next question")).to_be_hidden()
    assert lab.evaluate("root => root.contains(document.activeElement)"), "who goes back by keys can go on by keys"


@pytest.mark.parametrize("tried", by_default(["nothing", "the scale", "a preset"], "a preset"))
def test_a_right_answer_is_right_whatever_was_tried_before(opened, tried):  # noqa: F811
    page, lab = opened
    choice(lab, "Just show me").click()
    choice(lab, "Next question").click()
    if tried == "the scale":
        lab.get_by_role("slider", name="scale of x").press("End")
    if tried == "a preset":
        lab.get_by_label("Preset").select_option("Right pairing")
    expect(question(lab)).to_contain_text("2 of 3")
    choice(lab, "RFID").click()
    expect(choice(lab, "✓ RFID")).to_be_visible()
    expect(question(lab)).to_contain_text(f"Yes. {SECOND}")
    painted(page)
    assert values(lab)[1] == pytest.approx(LARGE_RFID), "the page shows what the words name"


def test_where_nothing_may_move_the_words_are_of_their_example(opened):  # noqa: F811
    page, lab = opened
    run_code(page, "lab.scene = {**lab.scene, 'rho_hat': 0.1}; lab.lock('drag'); print(1)")
    choice(lab, "Just show me").click()
    expect(question(lab)).to_contain_text("With ρ = 0.80 and ρ̂ = −0.80, and α = 1, they are 1.600 and 2.560")
    choice(lab, "Next question").click()
    choice(lab, "RFID").click()
    expect(question(lab)).to_contain_text(f"Yes. {SECOND}")
    scene, _ = settle(page, lab)
    assert (scene["rho_hat"], scene["scale"]) == (0.1, 1)
    choice(lab, "Next question").click()
    choice(lab, "Ask me again").click()
    expect(question(lab)).to_contain_text("1 of 3")


def test_who_explores_lifts_the_veil_and_undo_brings_it_back(opened):  # noqa: F811
    page, lab = opened
    point(lab).press("ArrowUp")
    expect(body(lab)).to_have_attribute("data-veiled", "")
    expect(choice(lab, "Just show me")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(body(lab)).to_have_attribute("data-veiled", "scores")


def test_what_is_veiled_is_hidden_from_screen_readers_too(opened):  # noqa: F811
    page, lab = opened
    press(lab, "Table view")
    painted(page)
    told = ["RFID is 0.63 of CFID", "= 2.560", "CFID 2.560", "1.600", "1.6000", "y and ŷ without x"]
    told += ["no part of the pairing"]
    assert [text for text in told if text in lab.aria_snapshot()] == []
    choice(lab, "Just show me").click()
    painted(page)
    assert [text for text in told if text not in lab.aria_snapshot()] == []
    choice(lab, "Next question").click()
    painted(page)
    told = ["1.6000", "nothing of the pairing"]
    assert [text for text in told if text in lab.aria_snapshot()] == []
    assert "1.600" in lab.aria_snapshot()


def asked(page, lab):
    """All that the card and the veil show."""
    painted(page)
    return question(lab).inner_text(), body(lab).get_attribute("data-veiled"), values(lab)


@pytest.mark.slow
def test_the_question_is_the_same_in_every_display_and_undo_goes_back_through_it(run_cells):
    page = run_cells(LAB, "lab")
    labs = [page.get_by_role("group", name="CorrelationLab").nth(k) for k in range(2)]
    labs[1].wait_for()
    steps = [asked(page, labs[0])]
    for name in ("MFID", "Next question", "CFID", "Next question"):
        choice(labs[len(steps) % 2], name).click()
        steps.append(asked(page, labs[0]))
        assert steps[-1] == asked(page, labs[1]) != steps[-2]
    for k in (3, 2, 1, 0):
        labs[k % 2].get_by_role("button", name="Undo").click()
        assert asked(page, labs[0]) == asked(page, labs[1]) == steps[k]
    for _ in range(3):
        labs[0].get_by_role("button", name="Redo").click()
    assert asked(page, labs[1]) == steps[3]
    scene, _ = settle(page, labs[0])
    assert scene["question"] == {"step": 2, "answer": "cfid"}


@pytest.mark.slow
@pytest.mark.jupyterlab
def test_the_question_goes_with_what_is_shared_and_shown_again(run_cells):
    page = run_cells(LAB, "lab", "nm.CorrelationLab.from_share(lab.share())")
    lab = page.get_by_role("group", name="CorrelationLab").first
    choice(lab, "CFID").click()
    choice(lab, "Next question").click()
    choice(lab, "MFID").click()
    told = asked(page, lab)
    settle(page, lab)
    page.evaluate(RUN_AGAIN)
    labs = [page.get_by_role("group", name="CorrelationLab").nth(k) for k in range(3)]
    for other in labs:
        expect(question(other)).to_contain_text("2 of 3")
    assert [asked(page, other) for other in labs] == [told] * 3
