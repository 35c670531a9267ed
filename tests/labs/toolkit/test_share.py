"""What every lab does with its state: share strings, and locks."""

import base64
import json
import re
import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.labs.toolkit import share
from tests.fuzzing import examples
from tests.labs.toolkit.common import LABS, NAMES, OF_DATA, compared, evil_lab, moved
from tests.slow import by_default

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


def unnumbered(scene):
    return {key: value for key, value in scene.items() if key != "rev"}


@pytest.mark.parametrize("name", [name for name in LABS if name not in OF_DATA])
def test_a_shared_string_makes_the_same_lab_again(kind):
    lab = moved(kind())
    text = lab.share()
    assert re.fullmatch(r"[\w.-]+", text) and len(text) < 1500
    again = kind.from_share(text)
    assert type(again).__name__ == kind.__name__ and again is not lab
    assert unnumbered(again.scene) == unnumbered(lab.scene) != unnumbered(kind().scene)
    assert again.to_code() == lab.to_code() and again.share() == text
    assert again.history == {"past": [], "future": []}


@pytest.mark.parametrize("name", by_default(LABS, "Playground", "MemorizationLab", "Monitor"))
def test_a_shared_string_loaded_into_a_lab_is_one_edit_that_can_be_undone(new):
    text, lab = moved(new()).share(), new()
    before, rev = unnumbered(lab.scene), lab.scene["rev"]
    assert lab.from_share(text) is lab
    assert lab.scene["rev"] > rev and lab.share() == text
    lab.undo()
    assert unnumbered(lab.scene) == before
    lab.redo()
    assert lab.share() == text


@settings(deadline=None, max_examples=examples(160))
@given(scenes())
def test_every_scene_survives_sharing_to_the_last_bit(scene):
    text = share.pack("Playground", scene)
    assert share.unpack(text, "Playground", nm.Scene) == scene.at(0)
    assert share.pack("Playground", scene.at(scene.rev + 7)) == text


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


def test_a_dashboards_string_needs_a_dashboard_of_the_data():
    with pytest.raises(nm.InvalidInput, match=r"contains a Dashboard's settings, not its data.*same data.*from_share"):
        nm.Dashboard.from_share(compared().share())


@pytest.mark.parametrize("name", by_default(LABS, "Playground", "CorrelationLab", "Monitor"))
def test_a_link_is_an_address_with_the_string_behind_it(new):
    lab = moved(new())
    base = "https://example.org/labs/page.html?x=1"
    assert lab.share_url(base) == f"{base}#{lab.share()}"
    assert unnumbered(new().from_share(lab.share_url(base)).scene) == unnumbered(lab.scene)


@pytest.mark.parametrize(
    "base",
    [
        "",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://x.org/#here",
        "two words",
        "a\nb",
        "a\x00b",
        7,
        None,
        "h" * 2001,
    ],
)
def test_what_is_no_address_is_refused(base):
    with pytest.raises(nm.InvalidInput, match=r"^base: .*Give|^base: .*Leave"):
        nm.Playground().share_url(base)


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
        share.pack("CorrelationLab", nm.Scene.preset_named("Two clients")),
        r"for a CorrelationLab.*Use nm.CorrelationLab.from_share",
    ),
    "under another lab's name": (GOOD.replace("Playground", "CorrelationLab"), "Use nm.CorrelationLab"),
    "another version's": (GOOD.replace("nbm1", "nbm2"), "version 2.*pip install -U"),
    "no zlib": (packed_bytes("Playground", b"not zlib"), "cannot be unpacked"),
    "with a tail": (packed_bytes("Playground", zlib.compress(b"{}") + b"tail"), "unknown"),
    "cut and summed anew": (packed_bytes("Playground", zlib.compress(b"{}" * 99)[:-5]), "missing"),
    "no JSON": (packed_bytes("Playground", zlib.compress(b"{")), "contains no scene"),
    "deep JSON": (packed_bytes("Playground", zlib.compress(b"[" * 10**6)), "contains no scene"),
    "no UTF-8": (packed_bytes("Playground", zlib.compress(b"\xff{}")), "contains no scene"),
    "another scene": (packed_bytes("Playground", zlib.compress(b'{"clients": 3, "generators": []}')), "clients"),
    "a copycat of all memory": (
        packed_scene(generators=[COPYCAT]),
        r"count: got 5e\+07\. Give a number from 2 to 2000",
    ),
    "of 200,000 fields": (packed_scene(**{f"k{i}": 0 for i in range(200_000)}), "made by a later version"),
    "a name that ends lines": (packed_scene(preset="a\x00b"), "preset"),
    "of version 10000000…": (f"nbm1{0:09999}.Playground.e", "has version 1000"),
    "of a lab with a long name": (f"nbm1.{'L' * 10**6}.e", "not for a Playground"),
    "of 10 MB": ("nbm1.Playground." + "e" * 10**7, "No lab creates such a string"),
    "infinite": (packed_bytes("Playground", zlib.compress(b'{"clients":[],"generators":[],"half":1e999}')), "clients"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("on", by_default(["class", "lab"], "lab"))
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
        share.unpack(GOOD[:place] + letter + GOOD[place + 1 :], "Playground", nm.Scene)


def test_a_decompression_bomb_is_not_unpacked():
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(bytes(2**20)) for _ in range(64)) + packer.flush()
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
