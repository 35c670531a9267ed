"""What every lab does with its state: share strings, snapshots, saved pages, locks."""

import base64
import hashlib
import io
import json
import logging
import os
import re
import subprocess
import sys
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import RendererAgg
from PIL import Image

import nbmetrics as nm
from nbmetrics.figures.drawing import Drawing
from nbmetrics.labs.playground.figure import add_ellipse
from nbmetrics.labs.toolkit import modules, share
from nbmetrics.labs.toolkit.fields import BOUNDS

LABS = ["Playground", "CorrelationLab", "TwinsLab", "MemorizationLab"]
EVIL = "</script><img src=x onerror=alert(1)>"
NAMES = [EVIL, "\"quoted\" & 'so' {{state}} <!--", "😀👩‍🔬", "עברית العربية", "$x_1$ 100 %", "a\u202eb\u200d\ue000"]
VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(params=LABS)
def kind(request):
    return getattr(nm, request.param)


lengths = st.floats(0, 1e6, allow_subnormal=True)
places = st.floats(-1e6, 1e6)
ellipses = {"x": places, "y": places, "width": lengths, "height": lengths, "angle": places}
letters = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufffe\uffff")
names = st.text(letters, min_size=1, max_size=30).filter(str.strip)


@st.composite
def scenes(draw):
    counts = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    unique = draw(st.lists(names, min_size=sum(counts), max_size=sum(counts), unique=True))
    items = [draw(st.fixed_dictionaries({"name": st.just(name), **ellipses})) for name in unique]
    weights = draw(st.lists(st.floats(1e-6, 1e6), min_size=counts[0], max_size=counts[0]))
    clients = [item | {"weight": weight} for item, weight in zip(items, weights)]
    generators = [draw(generators_of(item, clients)) for item in items[counts[0] :]]
    settings = {"half": draw(st.floats(1e-3, 1e6)), "preset": draw(st.text(letters)), "rev": draw(st.integers(0, 99))}
    sampling = {"samples": draw(st.just(0) | st.integers(5, 2000)), "seed": draw(st.integers(0, 2**31))}
    return nm.Scene.parse({"clients": clients, "generators": generators, **settings, **sampling})


def generators_of(item, clients):
    named = {"name": st.just(item["name"])}
    copied = st.sampled_from([client["name"] for client in clients])
    return st.one_of(
        st.just(item),
        st.just(item | {"kind": "bumps"}),
        st.fixed_dictionaries({**named, "kind": st.just("truncated"), "psi": lengths}),
        st.fixed_dictionaries({**named, "kind": st.just("copycat"), "of": copied, "count": st.integers(2, 2000)}),
    )


def evil_lab():
    clients = [nm.Client(nm.Gaussian([k, 0]), name=name) for k, name in enumerate(NAMES)]
    return nm.Playground(nm.Federation(clients), {name + "!": nm.Gaussian([0, k]) for k, name in enumerate(NAMES)})


def moved(lab):
    """The lab after one edit, whatever its scenes are: its second preset."""
    lab.scene = {**list(lab.presets.values())[1], "rev": lab.scene["rev"] + 1}
    return lab


def unnumbered(scene):
    return {key: value for key, value in scene.items() if key != "rev"}


def test_a_shared_string_makes_the_same_lab_again(kind):
    lab = moved(kind())
    text = lab.share()
    assert re.fullmatch(r"[\w.-]+", text) and len(text) < 1500
    again = kind.from_share(text)
    assert type(again).__name__ == kind.__name__ and again is not lab
    assert unnumbered(again.scene) == unnumbered(lab.scene) != unnumbered(kind().scene)
    assert again.to_code() == lab.to_code() and again.share() == text
    assert again.history == {"past": [], "future": []}


def test_a_shared_string_loaded_into_a_lab_is_one_edit_that_can_be_undone(kind):
    text, lab = moved(kind()).share(), kind()
    before, rev = unnumbered(lab.scene), lab.scene["rev"]
    assert lab.from_share(text) is lab
    assert lab.scene["rev"] > rev and lab.share() == text
    lab.undo()
    assert unnumbered(lab.scene) == before
    lab.redo()
    assert lab.share() == text


@settings(deadline=None, max_examples=150)
@given(scenes())
def test_every_scene_survives_sharing_to_the_last_bit(scene):
    text = share.packed("Playground", scene)
    assert share.unpacked(text, "Playground", nm.Scene) == scene.at(0)
    assert share.packed("Playground", scene.at(scene.rev + 7)) == text


def test_evil_names_and_a_preset_of_ones_own_survive_in_a_new_lab():
    lab = evil_lab()
    again = nm.Playground.from_share(lab.share())
    assert [c["name"] for c in again.scene["clients"]] == NAMES
    again.reset()
    assert unnumbered(again.scene) == unnumbered(lab.scene)


def test_a_string_from_a_lab_with_data_opens_only_where_the_data_are():
    rows = np.random.default_rng(0).normal(size=(50, 2))
    clients = [nm.Client(rows, name="mine", weight=1), nm.Client(nm.Gaussian([1, 1]), name="b", weight=2)]
    lab, same = (nm.Playground(nm.Federation(clients)) for _ in range(2))
    moved = {**lab.scene, "clients": [lab.scene["clients"][0], {**lab.scene["clients"][1], "x": 3.0}], "rev": 1}
    lab.scene = moved
    assert unnumbered(same.from_share(lab.share()).scene) == unnumbered(moved)
    for opener in (nm.Playground, nm.Playground()):
        with pytest.raises(nm.InvalidInput, match=r"mine.*data.*attach"):
            opener.from_share(lab.share())


def packed_bytes(lab, data, mark=share.MARK):
    body = base64.urlsafe_b64encode(share._sum(lab, data) + data).decode().rstrip("=")
    return f"{mark}.{lab}.{body}"


def packed_scene(**changes):
    scene = {**nm.Scene.preset_named("Two clients").to_json(), **changes}
    return packed_bytes("Playground", zlib.compress(json.dumps(scene).encode()))


COPYCAT = {"name": "cc", "kind": "copycat", "of": "Client 1", "count": 50_000_000}
GOOD = nm.Playground().share()
BAD = {
    "truncated": (GOOD[:-9], "damaged.*Copy the whole string again"),
    "a letter changed": (GOOD[:40] + ("A" if GOOD[40] != "A" else "B") + GOOD[41:], "checksum"),
    "empty": ("", "looks like nbm1.Playground"),
    "a word": ("hello", "Copy the whole string again"),
    "not text": (7, "is 7. Give the text"),
    "another lab's": (
        share.packed("CorrelationLab", nm.Scene.preset_named("Two clients")),
        r"of a CorrelationLab.*Use nm.CorrelationLab.from_share",
    ),
    "under another lab's name": (GOOD.replace("Playground", "CorrelationLab"), "Use nm.CorrelationLab"),
    "another version's": (GOOD.replace("nbm1", "nbm2"), "version 2.*pip install -U"),
    "no zlib": (packed_bytes("Playground", b"not zlib"), "cannot be unpacked"),
    "with a tail": (packed_bytes("Playground", zlib.compress(b"{}") + b"tail"), "foreign"),
    "cut and summed anew": (packed_bytes("Playground", zlib.compress(b"{}" * 99)[:-5]), "missing"),
    "no JSON": (packed_bytes("Playground", zlib.compress(b"{")), "holds no scene"),
    "deep JSON": (packed_bytes("Playground", zlib.compress(b"[" * 10**6)), "holds no scene"),
    "no UTF-8": (packed_bytes("Playground", zlib.compress(b"\xff{}")), "holds no scene"),
    "another scene": (packed_bytes("Playground", zlib.compress(b'{"clients": 3, "generators": []}')), "clients"),
    "a copycat of all memory": (
        packed_scene(generators=[COPYCAT]),
        r"count: got 5e\+07\. Give a number from 2 to 2000",
    ),
    "of 200,000 fields": (packed_scene(**{f"k{i}": 0 for i in range(200_000)}), "holds a scene that is not valid"),
    "a name that ends lines": (packed_scene(preset="a\x00b"), "preset"),
    "of version 10000000…": (f"nbm1{0:09999}.Playground.e", "of version 1000"),
    "of a lab with a long name": (f"nbm1.{'L' * 10**6}.e", "not of a Playground"),
    "of 10 MB": ("nbm1.Playground." + "e" * 10**7, "No lab makes such a string"),
    "infinite": (packed_bytes("Playground", zlib.compress(b'{"clients":[],"generators":[],"half":1e999}')), "clients"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("on", ["class", "lab"])
def test_a_bad_string_is_refused_with_what_to_do(case, on):
    text, said = BAD[case]
    lab = nm.Playground()
    before = lab.scene
    with pytest.raises(nm.InvalidInput, match=f"(?s)share string.*{said}") as caught:
        (nm.Playground if on == "class" else lab).from_share(text)
    assert len(str(caught.value)) < 2500
    assert lab.scene == before and lab.history["past"] == []


def test_line_breaks_from_a_mail_do_no_harm():
    broken = "\n".join(GOOD[i : i + 40] for i in range(0, len(GOOD), 40)) + " \n"
    assert nm.Playground.from_share(broken).share() == GOOD


@given(st.data())
def test_no_changed_letter_goes_unnoticed(data):
    place = data.draw(st.integers(len("nbm1.Playground."), len(GOOD) - 2))  # the last letter has unused bits
    letter = data.draw(st.sampled_from("ABCxyz019-_").filter(lambda c: c != GOOD[place]))
    with pytest.raises(nm.InvalidInput):
        share.unpacked(GOOD[:place] + letter + GOOD[place + 1 :], "Playground", nm.Scene)


def test_a_decompression_bomb_is_not_unpacked():
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(bytes(2**20)) for _ in range(300)) + packer.flush()
    # In a process of its own: tracing memory is not safe beside the threads of other labs.
    code = """
import sys, tracemalloc, nbmetrics as nm
bomb, Lab = sys.stdin.read(), nm.Playground
tracemalloc.start()
try:
    Lab.from_share(bomb)
except nm.InvalidInput as error:
    print(tracemalloc.get_traced_memory()[1], error)
"""
    command, bomb = [sys.executable, "-c", code], packed_bytes("Playground", data)
    said = subprocess.run(command, input=bomb, capture_output=True, text=True, check=True).stdout
    peak, words = said.split(" ", 1)
    assert "unpacks to more than" in words and int(peak) < 30e6


def test_a_snapshot_is_a_picture_with_words(kind, tmp_path):
    lab = moved(kind())
    shot = lab.snapshot()
    pixels = np.asarray(Image.open(io.BytesIO(shot.png)).convert("L"))
    assert pixels.shape[1] >= 600 and pixels.std() > 10
    root = ElementTree.fromstring(shot.svg)
    assert [child.tag.split("}")[1] for child in root[:2]] == ["title", "desc"]
    assert (root[0].text, root[1].text, root.get("role")) == (kind.__name__, shot.alt, "img")
    assert shot.alt.startswith(kind.__name__) and len(shot.alt) > 80
    assert shot.save(tmp_path / "a.png").read_bytes() == shot.png
    assert shot.save(str(tmp_path / "b.svg")).read_text("utf-8") == shot.svg
    data, metadata = shot._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]) == shot.png and data["text/plain"] == shot.alt
    assert metadata["image/png"]["alt"] == shot.alt


@pytest.mark.parametrize("lab", [nm.Playground, nm.TwinsLab])
@pytest.mark.parametrize(
    ("half", "size"), [(BOUNDS["half"][0], {}), (5.0, {"width": 1e6, "height": 3e5, "angle": 30.0})]
)
def test_a_snapshot_draws_nothing_far_beyond_its_window(lab, half, size, monkeypatch):
    """Within the bounds of a scene no path is many windows wide: the renderer would dash it for minutes."""
    reach, draw = [], RendererAgg.draw_path

    def measured(self, gc, path, transform, rgbFace=None):
        if len(path.vertices):
            reach.append(np.ptp(transform.transform(path.vertices), axis=0).max())
        return draw(self, gc, path, transform, rgbFace)

    made = lab()
    first, *others = made.scene["clients"]
    changes = {"half": half, "clients": [{**first, **size}, *others], "rev": 1}
    made.scene = {**made.scene, **changes, **({"shared": False} if "shared" in made.scene else {})}
    monkeypatch.setattr(RendererAgg, "draw_path", measured)
    pixels = np.asarray(Image.open(io.BytesIO(made.snapshot().png)))
    assert 0 < max(reach) < 10 * max(pixels.shape)


def test_of_a_huge_ellipse_the_part_near_the_window_is_drawn_where_it_is():
    ax = Drawing().add_axes((0, 0, 1, 1))
    ax.set(xlim=(-1, 1), ylim=(-1, 1))
    add_ellipse(ax, (3e5, 4e5), 5e5, 5e5, 77.0)  # through 0, where it is across the way to its middle
    add_ellipse(ax, (9e6, 0), 1e3, 1.0, 0.0)
    near, far = (patch.get_path().vertices for patch in ax.patches)
    seen = near[np.abs(near).max(axis=1) < 1]
    assert len(seen) > 50 and np.abs(seen @ [0.6, 0.8]).max() < 1e-5 and len(far) == 0


def test_the_playgrounds_words_name_everyone_and_their_scores():
    lab = nm.Playground("Heterogeneous six")
    alt = lab.snapshot().alt
    for name in [item["name"] for kind in ("clients", "generators") for item in lab.scene[kind]]:
        assert name in alt
    for value in lab.scores().table[["avg", "all"]].to_numpy().ravel():
        assert f"{value:.3f}" in alt
    assert "avg prefers Generator 1, all prefers Generator 2" in alt


def test_snapshots_take_evil_names():
    shot = evil_lab().snapshot()
    assert "img" not in {node.tag for node in ElementTree.fromstring(shot.svg).iter()}
    words = ElementTree.fromstring(shot.svg)[1].text
    assert EVIL in words and "😀" in words and "עברית" in words


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


def test_an_exported_page_holds_everything_and_fetches_nothing(kind, tmp_path):
    lab = moved(kind())
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
    said = {lab: parts(getattr(nm, lab)().export_html(tmp_path / f"{lab}.html"))[1]["saved"] for lab in LABS}
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


def test_the_live_view_brings_its_picture_along():
    lab = nm.Playground()
    data, metadata = lab._repr_mimebundle_()
    assert data[VIEW]["model_id"] == lab.model_id
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == metadata["image/png"]["alt"] == lab.snapshot().alt


def test_the_live_view_shows_even_where_no_picture_can_be_made(monkeypatch, caplog):
    lab = nm.Playground()
    monkeypatch.setattr(type(lab), "_picture", lambda self: 1 / 0)
    with caplog.at_level(logging.WARNING):
        data, _ = lab._repr_mimebundle_()
    assert VIEW in data and "image/png" not in data
    assert "No picture" in caplog.text and "ZeroDivisionError" in caplog.text


def test_a_closed_lab_shows_nothing():
    lab = nm.Playground()
    lab.close()
    assert lab._repr_mimebundle_ is None


def test_only_pictures_bring_in_matplotlib(tmp_path):
    code = (
        "import nbmetrics as nm, sys; lab = nm.Playground(); lab.share(); lab.scores(); lab.export_html(sys.argv[1]); "
        "print('matplotlib' in sys.modules); lab._repr_mimebundle_(); print('matplotlib' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "page.html")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]


def test_locks_are_named_and_bad_names_get_the_closest():
    lab = nm.Playground()
    assert lab.locked == []
    lab.lock("history", "drag")
    lab.lock("drag", "code")
    assert lab.locked == ["drag", "history", "code"]
    lab.unlock("history")
    assert lab.locked == ["drag", "code"]
    with pytest.raises(nm.InvalidInput, match=r"what.*Did you mean 'presets'"):
        lab.lock("drag", "preset")
    assert lab.locked == ["drag", "code"]
    lab.lock()
    assert lab.locked == ["drag", "items", "presets", "history", "code"]
    lab.unlock()
    assert lab.locked == []
    with pytest.raises(Exception, match="locked"):
        lab.locked = ["everything"]


def test_python_can_still_do_what_is_locked():
    lab = nm.Playground()
    lab.lock()
    lab.from_share(moved(nm.Playground()).share())
    lab.undo()
    assert unnumbered(lab.scene) == unnumbered(nm.Playground().scene)


def test_the_script_of_a_saved_page_can_end_nowhere_but_at_its_end(kind):
    text = kind._esm + modules.module("toolkit/view/saved.js")
    assert "savedLab" not in text and "</script" not in text and "<!--" not in text


def test_nbconvert_and_github_show_the_picture(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    from nbconvert import HTMLExporter

    cell = nbformat.v4.new_code_cell("import nbmetrics as nm\nlab = nm.Playground()\nlab")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbclient.NotebookClient(notebook, timeout=120, store_widget_state=False).execute()
    (output,) = [o for o in notebook.cells[0].outputs if "data" in o]
    png = output["data"]["image/png"].strip()
    assert VIEW in output["data"] and output["metadata"]["image/png"]["alt"].startswith("Playground")
    html, _ = HTMLExporter().from_notebook_node(notebook)
    assert f"data:image/png;base64,{png}" in html.replace("\n", "")
