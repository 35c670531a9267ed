"""Labs written to a file and opened from disk, with no server, no kernel and no network."""

LOOKS = {"color_scheme": "light", "reduced_motion": "no-preference"}


class Saved:
    """Opens pages from disk; keeps what they asked for and what went wrong.

    A new page starts a process and takes a second of a processor, a page that is there a tenth. So one page for each
    set of the browser's options serves the session, and what a test opens next replaces what it opened before; a page
    that cannot be as it was, after a clock was put into it, is opened `alone`.
    """

    def __init__(self, browser):
        self.browser = browser
        self.kept, self.own = {}, []
        self.opened, self.asked, self.wrong = 0, [], []

    def begin(self, folder):
        self.folder, self.opened = folder, 0
        self.asked.clear()
        self.wrong.clear()

    def open(self, lab, width=1280, height=900, words=None, **options):
        """The page and the lab in it; `words` are what stands on top of it, `options` those of `show`."""
        path = lab.export_html(self.folder / f"page-{self.opened}.html", **(words or {}))
        page = self.show(path, width, height, **options)
        root = page.get_by_role("group", name=type(lab).__name__, exact=True)
        root.wait_for()
        return page, root

    def show(self, path, width=1280, height=900, alone=False, **options):
        """The page of a file; `options` are those of the browser."""
        looks = {name: options.pop(name, usual) for name, usual in LOOKS.items()}
        key = repr(sorted(options.items()))
        page = None if alone else self.kept.get(key)
        if page is None or page.is_closed():
            page = self._new_page(options)
            self.own.append(page.context) if alone else self.kept.update({key: page})
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(**looks)
        self.opened += 1
        page.goto(path.as_uri())
        return page

    def _new_page(self, options):
        context = self.browser.new_context(**options)
        context.set_offline(True)
        page = context.new_page()
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda line: self.wrong.append(line.text) if line.type == "error" else None)
        page.on("dialog", lambda dialog: (self.wrong.append(dialog.message), dialog.dismiss()))
        return page

    def end(self):
        """What went wrong and what was asked for elsewhere; the pages are empty then."""
        for context in self.own:
            context.close()
        self.own.clear()
        for page in self.kept.values():
            for other in page.context.pages:
                if other is not page:
                    other.close()
            if page.url != "about:blank":
                page.mouse.up()  # a drag that a test left
                page.mouse.move(0, 0)
                page.goto("about:blank")
        asked = [url for url in self.asked if url != "about:blank"]
        foreign = [url for url in asked if not url.startswith(("file:", "blob:"))]
        assert self.wrong == [] and foreign == [] and len(asked) >= self.opened
