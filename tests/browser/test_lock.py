"""What a teacher locks cannot be done in JupyterLab, says why, and comes back when it is unlocked."""

import re

from playwright.sync_api import expect

from tests.browser.page import drag, handle, numbers, opened, press, run_code

LAB = "import nbmetrics as nm\nlab = nm.Playground('Two clients'); lab"
WHY = "Locked by the teacher"
BUTTONS = {
    "items": ["Add", "Remove"],
    "history": ["Undo", "Reset"],
    "code": ["Copy code"],
}


def lock(page, *names):
    run_code(page, f"lab.lock(*{names!r}); print(1)")


def test_nothing_can_be_moved_resized_turned_or_typed(playground):
    page, lab = playground
    lock(page, "drag")
    expect(handle(lab, "Client 2 mean")).to_have_attribute("aria-disabled", "true")
    before = numbers(lab)
    for name, dx, dy in [("Client 2 mean", 80, -40), ("Generator 1 width", 40, 0), ("Client 1 angle", 0, -60)]:
        drag(page, handle(lab, name), dx, dy)
    handle(lab, "Client 1 mean").press("Shift+ArrowRight")
    assert numbers(lab) == before
    weight = lab.get_by_label("Client 1 weight")
    expect(weight).to_be_disabled()
    expect(weight).to_have_attribute("title", WHY)
    expect(lab.get_by_label("Client 1 name")).to_be_disabled()
    expect(lab.locator(".nbm-stage").locator("..")).to_have_attribute("title", WHY)
    lab.get_by_label("Preset").select_option("Heterogeneous six")
    expect(handle(lab, "Client 6 mean")).to_have_attribute("aria-disabled", "true")
    expect(lab.get_by_label("Client 6 weight")).to_be_disabled()
    run_code(page, "lab.unlock(); print(1)")
    expect(lab.get_by_label("Client 6 weight")).to_be_enabled()
    expect(lab.locator("[aria-disabled], [title='Locked by the teacher']")).to_have_count(0)
    before = numbers(lab)
    drag(page, handle(lab, "Client 6 mean"), 80, -40)
    assert numbers(lab) != before


def control(lab, name):
    """A button, or an item of a menu, whether that is open or not."""
    return lab.locator("button", has_text=re.compile(rf"^{name}\W*$"))


def test_buttons_are_hidden_and_nothing_else_does_it(playground):
    page, lab = playground
    for what, names in BUTTONS.items():
        drag(page, handle(lab, "Client 2 mean"), 20, -20)
        moved = numbers(lab)
        opened(lab, "More")
        for name in names:
            expect(control(lab, name)).not_to_have_class(re.compile("nbm-locked"))
        lock(page, what)
        for name in names:
            expect(control(lab, name)).to_be_hidden()
        lab.locator(".nbm-status").click()
        expect(lab.get_by_role("menu")).to_have_count(0)
        handle(lab, "Client 2 mean").focus()
        if what == "items":
            page.keyboard.press("Delete")
            assert numbers(lab) == moved
        if what == "history":
            page.keyboard.press("Control+z")
            assert numbers(lab) == moved
        page.keyboard.press("ArrowRight")
        assert numbers(lab) != moved
        run_code(page, "lab.unlock(); print(1)")
        expect(control(lab, names[0])).not_to_have_class(re.compile("nbm-locked"))


def test_presets_and_open_code_are_hidden(playground):
    page, lab = playground
    press(lab, "Copy code")
    expect(lab.get_by_text("Code", exact=True)).to_be_visible()
    lock(page, "presets", "code")
    expect(lab.get_by_label("Preset")).to_be_hidden()
    expect(lab.get_by_text("Code", exact=True)).to_be_hidden()
    run_code(page, "lab.unlock('presets'); print(1)")
    expect(lab.get_by_label("Preset")).to_be_visible()


def test_a_lock_ends_the_drag_under_way(playground):
    page, lab = playground
    before = numbers(lab)
    drag(page, handle(lab, "Client 1 mean"), -60, 30, release=False)
    assert numbers(lab) != before
    lock(page, "drag")
    expect(handle(lab, "Client 1 mean")).to_have_attribute("aria-valuetext", "x -1.00, y 0.00")
    page.mouse.move(10, 10)
    page.mouse.up()
    assert numbers(lab) == before


def test_a_locked_lab_is_locked_in_every_display_and_looks_so(run_cells, theme, shot):
    page = run_cells("import nbmetrics as nm\nlab = nm.Playground(); lab.lock(); lab", "lab")
    labs = page.get_by_role("group", name="Playground")
    expect(labs).to_have_count(2)
    for k in range(2):
        expect(labs.nth(k).get_by_role("button", name="Share", exact=True)).to_be_visible()
        expect(labs.nth(k).get_by_role("button", name="Add", exact=True)).to_be_hidden()
    shot("locked-light", labs.first)
    theme("JupyterLab Dark")
    shot("locked-dark", labs.first)
