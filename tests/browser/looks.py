"""A whole page, wide in the light and narrow in the dark: free of violations, and no wider than its window."""

from tests.browser.page import painted


def assert_accessible(page, run, fits, look, name):
    """`run` and `fits` are what to evaluate: axe's violations, and whether nothing goes beyond the window."""
    backs = set()
    for scheme, width in (("light", 1280), ("dark", 320)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        painted(page)
        look(f"{name.replace('/', '-')}-{scheme}-{width}", page, full_page=True)
        backs.add(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
        assert page.evaluate(run) == [], f"{scheme}, {width}"
        assert page.evaluate(fits), f"{scheme}, {width}"
    assert len(backs) == 2
