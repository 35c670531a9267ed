"""What a test has to know of each lab to try the same things on all of them."""

from typing import Any, NamedTuple

import numpy as np
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.page import press, told, unfold
from tests.labs.toolkit.common import COMPARED, RECORDED, made
from tests.slow import by_default
from tests.waiting import until

CORRELATION_SCORES = ("mfid", "rfid", "cfid", "squared_difference")


class LabCase(NamedTuple):
    name: str  # of the class, and of the group in the page
    handle: str
    preset: str
    # The rows of the Scores table, or the cards, from a lab with its result.
    rows: Any
    arguments: str = ""
    # Python before it, which gives what the arguments and the lab's own code name.
    before: str = "import nbmetrics as nm\n"
    # For a saved page that is soon there: its numbers are computed before it is written.
    few: Any = None
    # Within which the page and Python agree: what a page holds of many steps is in single precision.
    rtol: float = 1e-8

    def new(self):
        return made(self.name) if self.few is None else getattr(nm, self.name)(**self.few)

    @property
    def source(self):
        return f"{self.before}lab = nm.{self.name}({self.arguments}); lab"

    def lab_of(self, code):
        """The lab of the page's code, in this process."""
        names: dict = {}
        exec(self.before + code, names)
        return names["lab"]


def plane_rows(lab):
    scores = lab.result["scores"]
    return np.column_stack([scores[metric][part] for metric in ("fid", "kid") for part in ("avg", "all")])


def correlation_rows(lab):
    return [[lab.result["scores"][name]] for name in CORRELATION_SCORES]


def twin_rows(lab):
    first, second = (np.array(lab.result["scores"][name]) for name in ("first", "second"))
    return np.column_stack([first, second, second - first])


def card_rows(lab):
    return [[value] for value in lab.result["cards"].values()]


def board_rows(lab):
    """avg, all, their gap and the worst client, the best by avg first."""
    scores = lab.scores
    table, clients = scores.table, scores.clients
    rows = [
        [
            one.avg,
            one.all,
            one.avg - one.all,
            clients.query("metric == 'fid' and generator == @one.generator").value.max(),
        ]
        for one in table[table["metric"] == "fid"].itertuples()
    ]
    return sorted(rows)


def watched_rows(lab):
    """avg, all and their gap of each metric at the step on show."""
    table = lab.with_weights(lab.scene["weights"]).table
    last = table.step.max() if lab.scene["shown"] is None else lab.scene["shown"]
    return table[table.step == last][["avg", "all", "gap"]].to_numpy().tolist()


def noised_rows(lab):
    """Of each generator, the best first: the score without noise, that of the run, its place, runs in which first."""
    until(lambda: lab.result["rev"] == lab.scene["rev"])
    found = lab.result
    return [[found[part][g] for part in ("exact", "shown", "places", "first")] for g in found["order"]]


LABS = {
    case.name: case
    for case in (
        LabCase("Playground", "Client 2 mean", "Heterogeneous six", plane_rows),
        LabCase("CorrelationLab", "correlations", "Paired against unpaired", correlation_rows),
        LabCase("TwinsLab", "Client 2 mean", "Three on a line", twin_rows),
        # few points, so that its numbers come soon, and a slider that has room on both sides
        # the one whose numbers come in later, and whose code is of the data in the notebook
        LabCase("Dashboard", "Client 2 weight", "All clients alike", board_rows, "federation, generators", COMPARED),
        LabCase(
            "MemorizationLab", "Share copied", "Half copied", card_rows, "points=60, copied=0.4", few={"points": 60}
        ),
        LabCase(
            "Monitor",
            "Client 2 weight",
            "All clients alike",
            watched_rows,
            "federation, path=path",
            RECORDED,
            rtol=1e-5,
        ),
        LabCase("PrivacyLab", "ε", "Most noise", noised_rows),
    )
}
# For tests that say the same of every lab: the one of closed forms and the one of samples, the others in make test-all.
MOST_UNLIKE = ("Playground", "MemorizationLab")
TWO_OF_LABS = by_default(LABS, *MOST_UNLIKE)

TABLE = "table:is([aria-label=Scores], [aria-label=Leaderboard])"
NUMBERS = f"{TABLE} td[data-value], .nbm-memo-number[data-value]"
ROWS = f"""root => {{
  const table = root.querySelector('{TABLE}');
  const rows = table ? [...table.tBodies[0].rows] : [...root.getElementsByClassName('nbm-memo-card')];
  const digits = cell => Number(Number(cell.dataset.value).toPrecision(12));
  return rows.map(row => [...row.querySelectorAll('[data-value]')].map(digits)); }}"""
# What the status says, once it is about the revision that is shown, no numbers are marked as older, and both stay so
# for two frames.
STATUS = """async root => {
  const shown = root.querySelector('TABLE, .nbm-memo-picture');
  const status = root.querySelector('.nbm-status');
  const frame = () => new Promise(requestAnimationFrame);
  const isOld = () => [...root.querySelectorAll('[data-current=false]')].some(node => node.getClientRects().length);
  const isAbout = () => status.dataset.rev === shown.dataset.rev && !isOld() &&
    /Python (agrees|computed)/.test(status.textContent);
  for (const end = performance.now() + 60000; performance.now() < end; await frame()) {
    if (!isAbout()) continue;
    await frame(); await frame();
    if (isAbout()) return { rev: Number(shown.dataset.rev) };
  }
  return { told: `of ${status.dataset.rev} for ${shown.dataset.rev}, older: ${isOld()}: ${status.textContent}` };
}""".replace("TABLE", TABLE)


def group(page, case):
    """The lab's root, once it shows numbers."""
    root = page.get_by_role("group", name=case.name, exact=True)
    root.locator(NUMBERS).first.wait_for()
    return root


def handle(root, case):
    """What a test drags; where it stands in a fold, folds are opened."""
    slider = root.get_by_role("slider", name=case.handle, exact=True)
    if not slider.count():
        unfold(root)
    return slider


def shown(root):
    """The numbers behind the cells of the Scores table, row by row, or behind the cards.

    To 12 digits: Python may answer for one scene twice, and two runs of one eigensolver differ in the last bit.
    """
    return root.evaluate(ROWS)


def settle(root):
    """Until Python has answered what the page shows; the revision of that."""
    seen = root.evaluate(STATUS)
    assert "rev" in seen, f"the status is {seen['told']}"
    return seen["rev"]


def copied_code(root):
    """The page's code of its scene, which it keeps up once it was copied."""
    if not root.locator("summary", has_text="Code").is_visible():
        press(root, "Copy code")
        expect(told(root)).to_contain_text("into a cell")
    return root.locator(".nbm-code").input_value()


def assert_python_has_the_same_numbers(root, case):
    """Python's numbers of the page's scene, taken from its code and computed in this process."""
    settle(root)
    lab = case.lab_of(copied_code(root))
    wanted = case.rows(lab)
    lab.close()
    np.testing.assert_allclose(shown(root), wanted, rtol=case.rtol, atol=1e-8)
