"""axe-core on every lab, light and dark, wide and narrow, in the states that a reader brings it into."""

from itertools import cycle

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import HERE, WINDOW
from tests.browser.labs import LABS, group, handle, settle
from tests.browser.page import drag, opened, painted, unfold
from tests.browser.page import press as page_press
from tests.slow import by_default

AXE = HERE.parent / "js" / "node_modules" / "axe-core" / "axe.min.js"
SEVERE = ("serious", "critical")
# What waits for Python.
DIM = ".nbm-behind, .nbm-memo-old"
RUN = """async root => {
  const { violations } = await axe.run(root, { resultTypes: ['violations'] });
  return violations.flatMap(({ id, impact, help, nodes }) =>
    nodes.map(node => ({ id, impact, help, html: node.html.slice(0, 160), why: node.failureSummary })));
}"""

pytestmark = pytest.mark.skipif(not AXE.exists(), reason="no axe-core: npm install --prefix tests/js")


def press(name):
    return lambda page, root, case: page_press(root, name)


def menu(name):
    return lambda page, root, case: opened(root, name)


def tab(name):
    return lambda page, root, case: (unfold(root), root.get_by_role("tab", name=name).click())


def choose(label, option):
    return lambda page, root, case: (unfold(root), root.get_by_label(label, exact=True).select_option(option))


def grab(page, root, case):
    if case.name == "Monitor":  # its weights are in a fold
        unfold(root)
    drag(page, handle(root, case), -30, -20, release=False)


def let_go(page, root, case):
    page.mouse.up()
    page.mouse.move(5, 5)


def guess(page, root, case):
    root.get_by_role("slider", name="Your guess").press("ArrowRight")


def answer(page, root, case):
    root.get_by_role("region", name="Question").get_by_role("button", name="RFID").click()


def regroup(page, root, case):
    unfold(root)
    root.get_by_text("Merge, drop or split clients").click()
    root.get_by_role("group", name="Clients to regroup").get_by_role("checkbox").first.check()


def pick(page, root, case):
    root.get_by_role("slider", name="Generated point").press("Enter")


def predict(page, root, case):
    for name in ("FLD notices at", "FID-test notices at"):
        root.get_by_role("slider", name=name).press("Enter")


def heat_maps(page, root, case):
    tab("Interactions")(page, root, case)
    expect(root.locator(".nbm-memo-heat")).to_have_count(3, timeout=120_000)


def table_of_moons(page, root, case):
    """Two columns, where digits have 64."""
    choose("Preset", "Honest")(page, root, case)
    press("Table view")(page, root, case)


def cell(page, root, case):
    tab("Who loses")(page, root, case)
    root.get_by_role("gridcell").first.click()
    expect(root.get_by_role("button", name="Close")).to_be_visible()


def mixture(page, root, case):
    tab("Mixture")(page, root, case)
    root.get_by_role("button", name="Find the best mixture").click()
    root.get_by_role("slider", name="in the mixture").first.press("Shift+ArrowLeft")
    expect(root.get_by_role("button", name="Back to the best")).to_be_visible()


def earlier(page, root, case):
    """One client's own curve, at a step of the past."""
    root.get_by_role("combobox", name="Client", exact=True).select_option("Client 3")
    root.get_by_role("slider", name="Step", exact=True).press("PageDown")


def coloured(page, root, case):
    tab("Who loses")(page, root, case)
    root.get_by_role("combobox", name="Colour").select_option("raw")


def code(page, root, case):
    press("Copy code")(page, root, case)
    root.locator("summary", has_text="Code").click()


AS_IT_OPENS = ("as it opens", lambda page, root, case: None)
DRAG = [("during a drag", grab), ("after a drag", let_go)]
END = [("with the table view", press("Table view")), ("with the code open", code)]
STATES = {
    "Playground": [
        *DRAG,
        *((f"on the tab {name}", tab(name)) for name in ("Terms", "Sweep", "Samples", "Clients")),
        ("with a metric from Python", choose("Metric", "fld")),
        ("with a question", choose("Lesson", "Average against pooled")),
        ("with a guess", guess),
        ("with the answer", press("Reveal")),
        ("with a task", choose("Lesson", "Make them disagree")),
        *END,
        ("with no lesson", choose("Lesson", "")),
        *((f"with the table of the tab {name}", tab(name)) for name in ("Terms", "Samples", "Clients")),
    ],
    "CorrelationLab": [
        ("with an answer", answer),
        *DRAG,
        ("with other contours", lambda page, root, case: (unfold(root), root.locator("[data-score=mfid]").click())),
        *END,
    ],
    "TwinsLab": [
        *DRAG,
        ("where Python searches", choose("Preset", "Unequal shapes (numerical)")),
        ("without a twin", choose("Preset", "Identical clients (no twin)")),
        ("as printed", press("The papers’ formula")),
        ("with the published table", press("The papers’ table")),
        ("corrected again", press("Twins")),
        *END,
    ],
    "Dashboard": [
        *DRAG,
        ("with a cell open", cell),
        ("with a mixture moved", mixture),
        *((f"on the tab {name}", tab(name)) for name in ("How stable", "Costs")),
        ("with who wins where", press("Who wins where")),
        ("in the colours of the scores", coloured),
        ("by KID", choose("Metric", "kid")),
        ("with a client to drop", regroup),
        ("with the generators to attach", menu("Attach")),
        *END,
    ],
    "Monitor": [
        *DRAG,
        ("at another step", earlier),
        (
            "at an alarm",
            lambda page, root, case: root.get_by_role("region", name="Alarms").get_by_role("button").click(),
        ),
        ("by KID", choose("Metric", "kid")),
        *END,
    ],
    "PrivacyLab": [
        *DRAG,
        ("by KID", choose("Metric", "kid")),
        ("by avg", choose("Aggregate", "avg")),
        *END,
    ],
    "MemorizationLab": [
        *DRAG,
        ("with a point chosen", pick),
        ("on the tab Curve", tab("Curve")),
        ("with a prediction", predict),
        ("with the curves", press("Reveal")),
        ("on the tab Items", tab("Items")),
        ("on the tab Interactions", heat_maps),
        ("with digits", choose("Preset", "Digits: planted copies")),
        ("with their images", tab("Items")),
        ("on the tab Cards", tab("Cards")),
        ("with the table view", table_of_moons),
        ("with the code open", code),
    ],
}


# Tried beside Python: what a saved page, without Python, does not come to.
LIVE = {
    "Playground": {"with a metric from Python"},
    "CorrelationLab": set(),
    "TwinsLab": {"where Python searches"},
    "Dashboard": {
        "with a cell open",
        "with a client to drop",
        "with a mixture moved",
        "with the generators to attach",
    },
    "Monitor": set(),
    "PrivacyLab": set(),
    "MemorizationLab": {state for state, _ in STATES["MemorizationLab"]},
}
# Hardly different from another: tried at length alone.
ALIKE = {
    "during a drag",
    "on the tab Terms",
    "on the tab Samples",
    "with a metric from Python",
    "with a guess",
    "with a task",
    "with the table of the tab Terms",
    "with the table of the tab Samples",
    "with the table of the tab Clients",
    "with other contours",
    "as printed",
    "corrected again",
    "by KID",
    "by avg",
    "in the colours of the scores",
    "with a prediction",
    "on the tab Curve",
    "on the tab Items",
    "on the tab Cards",
}
# One of them for each state, in turn; all four of each at length.
LOOKS = [("dark", 320), ("light", None)]


def set_width(root, width):
    root.evaluate("(root, width) => { root.parentElement.style.width = width && `${width}px`; }", width)
    painted(root)


def severe(page, root):
    return [f for f in root.evaluate(RUN) if f["impact"] in SEVERE]


def report(found):
    lines = [
        f"{state}: {f['impact']} {f['id']}: {f['help']}\n    {f['html']}\n    {f['why']}"
        for state, failures in found.items()
        for f in failures
    ]
    return "\n".join(lines)


def assert_nothing_severe(page, root, case, states, show, looks, skipped=frozenset()):
    """In each of the states, brought about one after another wide and in light colours, in one of the looks."""
    page.add_script_tag(path=AXE)
    found, turns = {}, cycle(looks)
    for state, bring in states:
        bring(page, root, case)
        if state in skipped:
            continue
        colours, width = next(turns)
        show(colours, width)
        painted(root)
        if failures := severe(page, root):
            found[state, colours, width] = failures
        show(*looks[-1])
    assert not found, report(found)


@pytest.fixture
def tall(lab_view):
    lab_view.set_viewport_size({"width": 1280, "height": 2400})
    yield
    lab_view.set_viewport_size(WINDOW)


@pytest.fixture
def live(run_cells, tall, theme):
    """live(lab) -> its page, its root, and show(colours, width)."""

    def open_lab(lab):
        page = run_cells(LABS[lab].source)
        root = group(page, LABS[lab])
        settle(root)

        def show(colours, width):
            theme(f"JupyterLab {colours.title()}")
            set_width(root, width)
            expect(root.locator(DIM).filter(visible=True)).to_have_count(0, timeout=60_000)

        return page, root, show

    return open_lab


@pytest.mark.parametrize(
    "lab", by_default([lab for lab in LABS if lab != "MemorizationLab"], "Playground", "Dashboard")
)
def test_no_serious_violations_in_a_saved_page(saved, lab):
    case, states = LABS[lab], [AS_IT_OPENS, *((s, bring) for s, bring in STATES[lab] if s not in LIVE[lab])]
    page, root = saved.open(case.new(), height=2400, bypass_csp=True)  # axe is one more script

    def show(colours, width):
        page.emulate_media(color_scheme=colours)
        page.set_viewport_size({"width": width or 1280, "height": 2400})

    assert_nothing_severe(page, root, case, states, show, LOOKS, ALIKE)


@pytest.mark.slow
@pytest.mark.parametrize("lab", [lab for lab in LABS if LIVE[lab]])
def test_no_serious_violations_beside_python(live, lab):
    states = [(s, bring) for s, bring in STATES[lab] if s in LIVE[lab]]
    page, root, show = live(lab)
    assert_nothing_severe(page, root, LABS[lab], states, show, LOOKS, ALIKE)


@pytest.mark.slow
@pytest.mark.parametrize("width", [None, 320])
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("lab", LABS)
def test_no_serious_violations_in_any_state(live, shot, lab, colours, width):
    page, root, show = live(lab)
    show(colours, width and 400)
    shot(f"{lab}-{colours}-{400 if width else 1280}", root)
    show(colours, width)
    states = [AS_IT_OPENS, *STATES[lab]]
    assert_nothing_severe(page, root, LABS[lab], states, lambda *_: None, [(colours, width)])


def test_axe_finds_what_is_wrong(run_cells):
    """A picture without a name, put into the lab, is reported: what the other tests look for can be found."""
    case = LABS["Playground"]
    page = run_cells(case.source)
    root = group(page, case)
    page.add_script_tag(path=AXE)
    root.evaluate("root => root.append(document.createElement('img'))")
    assert [f["id"] for f in severe(page, root)] == ["image-alt"]
