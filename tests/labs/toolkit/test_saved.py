"""Pages and pictures written to files: saved pages that fetch nothing, and files that are not written over."""

import base64
import hashlib
import json
import os
import re
from html import escape

import pytest

import nbmetrics as nm
from nbmetrics.labs.toolkit import modules
from tests.labs.inside import module_of
from tests.labs.toolkit.common import LABS, NAMES, evil_lab, made, moved


@pytest.mark.parametrize("write", ["snapshot", "export"])
def test_only_files_are_written_over(write, tmp_path):
    lab = nm.Playground()
    ending = ".svg" if write == "snapshot" else ".html"
    save = lab.snapshot().save if write == "snapshot" else lab.export_html
    folder = tmp_path / f"folder{ending}"
    folder.mkdir()
    for path, said in [
        (folder, "not a file"),
        (tmp_path / "absent" / f"a{ending}", "there is no folder"),
        (tmp_path / "a.txt", f"ends in .*{ending}"),
        (None, "Give the path"),
        (f"a\0{ending}", "Give the path"),
    ]:
        with pytest.raises(nm.InvalidInput, match=f"path.*{said}"):
            save(path)
    pipe = tmp_path / f"pipe{ending}"
    os.mkfifo(pipe)
    with pytest.raises(nm.InvalidInput, match="not a file"):
        save(pipe)
    (tmp_path / f"old{ending}").write_text("old")
    link = tmp_path / f"link{ending}"
    link.symlink_to(tmp_path / f"old{ending}")
    assert save(link) == tmp_path / f"old{ending}"
    assert link.is_symlink() and len((tmp_path / f"old{ending}").read_text("utf-8")) > 10_000


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(nm.InvalidInput, match="No space left"):
        nm.Playground().export_html(path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def parts(path):
    text = path.read_text("utf-8")
    state = re.search(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)[1]
    script = re.search(r'<script type="module">(.*?)</script>', text, re.DOTALL)[1]
    return text, json.loads(state), script


def test_an_exported_page_holds_everything_and_fetches_nothing(new, tmp_path):
    lab = moved(new())
    text, state, script = parts(lab.export_html(tmp_path / "page.html"))
    assert text.count("<script") == text.count("</script>") == 2
    assert {"scene", "result", "history", "presets", "locked", "saved"} <= set(state)
    assert state["scene"] == lab.scene and not {"_esm", "layout", "comm", "namespace"} & set(state)
    assert "export default" not in script and not re.search(r"^import ", script, re.MULTILINE)
    without_types = re.sub(r"/\*\*.*?\*/", "", text, flags=re.DOTALL)
    assert not re.search(r"""(src|href)\s*=\s*["']|\bfetch\(|\bimport\(|XMLHttpRequest|WebSocket""", without_types)
    assert not re.search(r"url\(|@import", text.split("</style>")[0])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}'" in text


def test_an_exported_page_says_of_python_what_its_lab_has(tmp_path):
    labs = {lab: made(lab) for lab in LABS if lab != "MemorizationLab"}
    labs["MemorizationLab"] = nm.MemorizationLab(points=60)  # whose numbers come sooner
    said = {name: parts(lab.export_html(tmp_path / f"{name}.html"))[1]["saved"] for name, lab in labs.items()}
    assert [lab for lab in LABS if re.search("FLD|precision|intervals", said[lab])] == ["Playground"]
    assert [lab for lab in LABS if "twin" in said[lab]] == ["TwinsLab"]
    assert all(words.startswith("A saved page: ") for words in said.values())
    assert [lab for lab in LABS if "notebook" not in said[lab]] == ["CorrelationLab"]


def test_evil_names_cannot_break_out_of_an_exported_page(tmp_path):
    lab = evil_lab()
    text, state, _ = parts(lab.export_html(tmp_path / "page.html"))
    assert [c["name"] for c in state["scene"]["clients"]] == NAMES
    assert "<img" not in text and text.count("</script>") == 2 and "{{state}}" in text
    head = text.split("<style>")[0]
    assert head.count("<meta") == 4 and "&quot;quoted&quot; &amp; &#x27;so&#x27;" in head


def test_the_script_of_a_saved_page_can_end_nowhere_but_at_its_end(kind):
    text = module_of(kind) + modules.module("toolkit/view/saved.js")
    assert "savedLab" not in text and "</script" not in text and "<!--" not in text


def test_title_text_and_author_are_text_and_stand_above_the_lab(tmp_path):
    said = {
        "title": f"Who wins? {NAMES[0]}",
        "author": NAMES[1],
        "text": f"One {NAMES[0]}\n\n{NAMES[2]}\n{{{{state}}}}",
    }
    text, state, _ = parts(nm.TwinsLab().export_html(tmp_path / "page.html", **said))
    body = text.split("<body>")[1].split("<script")[0]
    for words in (said["title"], said["author"], *filter(None, said["text"].split("\n"))):
        assert escape(words) in body
    assert f"<title>{escape(said['title'])}</title>" in text and "<img" not in text and body.count("<p>") == 4
    assert f'<meta name="author" content="{escape(said["author"])}">' in text
    assert not set(said) & set(state)
    plain, *_ = parts(nm.TwinsLab().export_html(tmp_path / "plain.html"))
    assert "<h1>TwinsLab</h1>" in plain and 'class="lead"' not in plain and 'name="author"' not in plain


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("title", "t" * 301, "301 letters"),
        ("title", "", "non-empty"),
        ("title", 7, "is 7"),
        ("title", "a\nb", "one line"),
        ("author", "a" * 301, "301 letters"),
        ("author", "\x1b", "cannot be shown"),
        ("text", "w" * 5001, "5,001 letters"),
        ("text", ["a"], "Give a string"),
        ("text", "a\x00b", "cannot be shown"),
    ],
)
def test_what_stands_above_has_bounds(name, value, why, tmp_path):
    with pytest.raises(nm.InvalidInput, match=f"^{name}: .*{why}"):
        nm.TwinsLab().export_html(tmp_path / "page.html", **{name: value})
    assert list(tmp_path.iterdir()) == []
