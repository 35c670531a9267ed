"""A page that an earlier release saved opens links of then and of now, or says that a later version made them.

The page has the code of its release, so what is looked for in it is written here, and not taken from this release.
"""

import numpy as np
import pytest

import nbmetrics as nm
from tests.browser.page import until
from tests.browser.test_correlation import closed_forms
from tests.golden import pages
from tests.golden.release import releases
from tests.golden.shares import text_of

# A moment later the link was opened, or refused.
FOLLOW = "text => { location.hash = text; return new Promise(done => setTimeout(done, 100)); }"
NUMBERS = "cells => cells.map(cell => Number(cell.dataset.value))"


@pytest.fixture(params=releases(), ids=str)
def kept(request):
    return request.param


@pytest.fixture
def show(kept, saved):
    """show(text) -> (numbers, alerts) of the release's page from disk, once it was led to a share string."""
    path = saved.folder / "kept.html"
    path.write_text(pages.read(kept, pages.PAGE), "utf-8")
    return leading(saved.show(path))


def leading(page):
    """follow(text, scene) -> (numbers, alerts) of a CorrelationLab's page, once it was led to a share string."""
    cells = page.get_by_role("table", name="Scores", exact=True).locator("td[data-value]")
    cells.first.wait_for()

    def follow(text, scene):
        def read():
            return cells.evaluate_all(NUMBERS), page.get_by_role("alert").all_inner_texts()

        page.evaluate("text => { location.hash = text; }", text)
        wanted = closed_forms(scene)
        return until(page, read, lambda found: found[1] or np.allclose(found[0], wanted, rtol=1e-9, atol=1e-9))

    return follow


def test_it_opens_as_it_was_saved(kept, show):
    _, alerts = show("", kept.read("page.json")["scene"])
    assert not alerts


def test_it_opens_links_of_its_release(kept, show):
    for one in kept.read("shares/CorrelationLab.json")["scenes"]:
        _, alerts = show(one["text"].rpartition("#")[2], one["scene"])
        assert not alerts, one["what"]


def test_it_opens_links_of_this_release_or_says_that_they_are_newer(show):
    lab = nm.CorrelationLab(0.1, -0.7, 0.3, "mfid")
    for scene in [lab.scene, *lab.presets.values(), {**lab.scene, "question": {"step": 3, "answer": "shown"}}]:
        lab.scene = {**scene, "rev": lab.scene["rev"] + 1}
        _, alerts = show(lab.share(), lab.scene)
        assert not alerts or "of version" in alerts[0], alerts
    lab.close()


@pytest.fixture
def follow(saved):
    """The same, of a page that this release saves."""
    lab = nm.CorrelationLab()
    page, _ = saved.open(lab)
    lab.close()
    return leading(page)


@pytest.mark.slow
def test_the_site_opens_links_of_that_release(kept, saved, site):
    page, strings = saved.show(site / "labs/twinslab.html"), kept.read("shares/TwinsLab.json")
    handles = page.locator("[role=slider][aria-label$=' mean']")
    handles.first.wait_for()

    def read():
        return handles.evaluate_all("all => all.map(one => one.ariaLabel)"), page.get_by_role("alert").all_inner_texts()

    for one in [*strings["scenes"], *strings["fields_left_out"]]:
        page.evaluate(FOLLOW, one["text"].rpartition("#")[2])
        names = {f"{client['name']} mean" for client in one["scene"]["clients"]}
        _, alerts = until(page, read, lambda found, names=names: found[1] or names <= set(found[0]))
        assert not alerts, one["what"]


def test_pages_of_this_release_open_links_of_that(kept, follow):
    strings = kept.read("shares/CorrelationLab.json")
    for one in [*strings["scenes"], *strings["fields_left_out"]]:
        _, alerts = follow(one["text"].rpartition("#")[2], one["scene"])
        assert not alerts, one["what"]


def test_a_link_of_a_later_release_says_so(follow):
    scene = nm.CorrelationLab().scene
    _, alerts = follow(text_of("CorrelationLab", {**scene, "newer": 1}), scene | {"rho": 0.123})
    assert "made by a later version of nbmetrics; open it with a newer one" in alerts[0]
