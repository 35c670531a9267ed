"""The Dashboard's tab of what each score costs and reveals, in a saved page, while nothing of it moves in a drag."""

from playwright.sync_api import expect

from tests.browser.labs import LABS
from tests.browser.page import drag, open_tab, painted
from tests.browser.test_frontends import BEYOND

HEAD = "What each score costs and reveals"


def test_what_each_score_costs_stands_on_a_tab(saved, look):
    lab = LABS["Dashboard"].new()
    page, root = saved.open(lab)
    table = root.get_by_role("table", name=HEAD, exact=True)
    expect(table).to_be_hidden()
    open_tab(root, "Costs")
    expect(table).to_be_visible()
    rows = table.locator("tbody tr")
    for row, known in zip(rows.all(), lab.board["ledger"], strict=True):
        expect(row).to_contain_text(f"{known['metric']} {known['aggregate']}")
        expect(row).to_contain_text(known["reveals"])
        expect(row.locator("td").first).to_contain_text(f"{known['up'][0]:,}")
    table.evaluate("""table => { window.changes = 0;
      new MutationObserver(found => { window.changes += found.length; }).observe(
        table, { subtree: true, childList: true, characterData: true, attributes: true }); }""")
    drag(page, root.get_by_role("slider", name="Client 2 weight", exact=True), -40, 0)
    painted(root)
    assert page.evaluate("window.changes") == 0
    page.set_viewport_size({"width": 320, "height": 900})
    painted(root)
    look("costs-320", root)
    assert root.evaluate(BEYOND) == []
    lab.close()
