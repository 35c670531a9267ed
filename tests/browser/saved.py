"""Labs written to a file and opened from disk, with no server, no kernel and no network."""


class Saved:
    """Opens pages from disk; keeps what they asked for and what went wrong."""

    def __init__(self, browser, folder):
        self.browser, self.folder = browser, folder
        self.contexts, self.asked, self.wrong = [], [], []

    def open(self, lab, width=1280, height=900, words=None, **options):
        """The page and the lab in it; `words` are what stands on top of it, `options` those of the browser."""
        path = lab.export_html(self.folder / f"page-{len(self.contexts)}.html", **(words or {}))
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        self.contexts.append(context)
        context.set_offline(True)
        page = context.new_page()
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda line: self.wrong.append(line.text) if line.type == "error" else None)
        page.on("dialog", lambda dialog: (self.wrong.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())
        root = page.get_by_role("group", name=type(lab).__name__, exact=True)
        root.wait_for()
        return page, root
