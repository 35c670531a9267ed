"""The site in Chromium, from disk: it asks for nothing, drags at once, and works by keys, narrow, and in the dark."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from tests.browser.looks import assert_accessible
from tests.browser.page import handle, numbers, painted, press
from tests.browser.test_axe import AXE
from tests.slow import by_default

# One of each template, of which two that are like another are tried at length alone.
PAGES = [
    "index.html",
    "labs/index.html",
    "labs/twinslab.html",
    "lessons/index.html",
    "lessons/where-is-kid.html",
    "teachers.html",
    "class.html",
]
# Labs have tests of their own.
RUN = """async () => {
  const { violations } = await axe.run({ exclude: ['.nbm'] }, { resultTypes: ['violations'] });
  return violations.flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.html.slice(0, 120)}`)); }"""
FRAMES = """() => { window.frames_seen = []; let last = performance.now();
  const frame = now => { window.frames_seen.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame); }"""
FITS = "() => document.documentElement.scrollWidth <= innerWidth"
MOST_TABS = 40


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core: npm install --prefix tests/js")
@pytest.mark.parametrize("name", by_default(PAGES, "index.html", "labs/twinslab.html"))
def test_a_page_is_accessible_and_fits_in_light_and_dark(saved, site, look, name):
    page = saved.show(site / name, bypass_csp=True)  # axe is one more script
    page.add_script_tag(path=AXE)
    assert_accessible(page, RUN, FITS, look, f"site-{name}")


def test_the_landing_page_drags_at_once(saved, site, record_property):
    """Under its own security policy; how many frames it painted meanwhile is reported, as it hangs on the machine."""
    page = saved.show(site / "index.html")
    root = page.get_by_role("group", name="Playground", exact=True)
    assert root.locator(".nbm-headline, [role=heading]").first.inner_text().startswith("Best on average")
    assert page.get_by_role("combobox", name="Preset").is_hidden()
    before, box = numbers(root), handle(root, "Client 2 mean").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(FRAMES)
    for step in range(20):
        page.mouse.move(x - 10 * step, y)
    page.mouse.up()
    frames = sorted(page.evaluate("() => window.frames_seen"))
    record_property("median_frame_ms", frames[len(frames) // 2])
    print(f"frames of the drag: {len(frames)}, median {frames[len(frames) // 2]:.1f} ms, slowest {frames[-1]:.1f} ms")
    assert numbers(root) != before
    expect(root.get_by_role("heading").first).to_contain_text("Narrow")
    assert [source for source in saved.asked if not source.startswith(("data:", "blob:"))] == [page.url]


@pytest.mark.parametrize("name", by_default(["index.html", "lessons/where-is-kid.html"], "index.html"))
def test_keys_reach_a_handle_and_move_it(saved, site, name):
    page = saved.show(site / name)
    page.get_by_role("group", name="Playground", exact=True).wait_for()
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.getAttribute('role')") == "slider":
            break
    found = page.locator("[role=slider]:focus")
    before = found.get_attribute("aria-valuetext")
    found.press("ArrowRight")
    expect(found).not_to_have_attribute("aria-valuetext", before)


@pytest.mark.parametrize("width", by_default([1280, 400], 400))
def test_a_lesson_opens_with_its_question_and_leads_to_the_page_of_the_next(saved, site, width, look):
    page = saved.show(site / "lessons/average-against-pooled.html", width)
    root = page.get_by_role("group", name="Playground", exact=True)
    question, share = root.get_by_role("region", name="Question"), root.get_by_role("button", name="Share")
    painted(page)
    look(f"site-lesson-opens-{width}", page)
    assert question.bounding_box()["y"] < share.bounding_box()["y"]
    heading = question.get_by_role("heading").bounding_box()
    assert heading["y"] + heading["height"] < 450, "in the upper half of a screen"
    root.get_by_role("slider", name="Your guess").press("Enter")
    root.get_by_role("button", name="Reveal").click()
    name = page.get_by_role("navigation", name="Other lessons").get_by_role("link").last.inner_text().split("\n")[-1]
    root.get_by_role("link", name="Next lesson").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name.removeprefix("Next "))


def test_a_copy_of_a_lesson_leads_nowhere(saved, site, tmp_path):
    page = saved.show(site / "lessons/average-against-pooled.html")
    root = page.get_by_role("group", name="Playground", exact=True)
    root.get_by_role("slider", name="Your guess").press("Enter")
    root.get_by_role("button", name="Reveal").click()
    expect(root.get_by_role("link", name="Next lesson")).to_be_visible()
    with page.expect_download() as download:
        press(root, "Save page")
    download.value.save_as(tmp_path / "copy.html")
    copy = saved.show(tmp_path / "copy.html")
    expect(copy.get_by_text("One metric, two winners")).to_be_visible()
    assert copy.get_by_role("link").count() == 0


def test_a_link_to_a_preset_brings_the_lab_into_sight(saved, site):
    page = saved.show(site / "labs/twinslab.html", 400)
    link = page.get_by_role("link", name="Three on a line")
    link.click()
    root = page.get_by_role("group", name="TwinsLab", exact=True)
    expect(handle(root, "Client 3 mean")).to_be_in_viewport()


def test_a_link_to_a_preset_opens_it_and_undo_comes_back(saved, site):
    page = saved.show(site / "labs/twinslab.html")
    root = page.get_by_role("group", name="TwinsLab", exact=True)
    expect(handle(root, "Client 3 mean")).to_have_count(0)
    page.get_by_role("link", name="Three on a line").click()
    expect(handle(root, "Client 3 mean")).to_have_count(1)
    assert "#nbm1.TwinsLab." in page.url and page.get_by_role("alert").count() == 0
    root.get_by_role("button", name="Undo").click()
    expect(handle(root, "Client 3 mean")).to_have_count(0)


def test_a_copy_of_a_lab_leaves_the_site_behind(saved, site, tmp_path):
    page = saved.show(site / "labs/twinslab.html")
    root = page.get_by_role("group", name="TwinsLab", exact=True)
    with page.expect_download() as download:
        press(root, "Save page")
    download.value.save_as(tmp_path / "copy.html")
    copy = saved.show(tmp_path / "copy.html")
    expect(copy.get_by_role("heading", name="TwinsLab", level=1)).to_be_visible()
    handle(copy.get_by_role("group", name="TwinsLab", exact=True), "Client 2 mean").wait_for()
    assert copy.get_by_role("navigation").count() == 0 and copy.get_by_role("link").count() == 0


def test_the_page_of_a_class_reads_answers(saved, site):
    page = saved.show(site / "class.html")
    page.get_by_label("Answer strings").fill("Ada: nbma1.WyJXZWlnaHRzIG1hdHRlciIsLTAuNSwtMV0")
    expect(page.get_by_text("1 answer read.")).to_be_visible()
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_text("The answer is")).to_be_visible()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_any_static_host_will_do(browser, site):
    """Below a path of a plain server: pictures come, under the pages' own policy, and nothing else is asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site.parent))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, asked, wrong = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    try:
        base = f"http://127.0.0.1:{server.server_port}/site/"
        page.goto(f"{base}labs/index.html")
        page.wait_for_function("() => [...document.images].every(image => image.complete && image.naturalWidth > 100)")
        page.get_by_role("link", name="TwinsLab").click()
        page.get_by_role("group", name="TwinsLab", exact=True).wait_for()
        page.get_by_role("link", name="Lessons", exact=True).click()
        expect(page.get_by_role("heading", name="Lessons")).to_be_visible()
    finally:
        context.close()
        server.shutdown()
        server.server_close()
    assert wrong == [] and all(url.startswith((base, "data:")) for url in asked)
    assert {f"{base}{path}" for path in ("labs/index.html", "images/twinslab.png", "labs/twinslab.html")} <= set(asked)
