"""Share strings in the page and in Python: each reads what the other wrote, and refuses what Python refuses."""

import copy
import json
import zlib

import pytest

import nbmetrics as nm
from nbmetrics.labs.toolkit import share
from tests import TESTS
from tests.labs.inside import accept, scene_of, state_kind
from tests.labs.playground.high_dimensional_rows import lab_of
from tests.labs.toolkit.common import LABS, compared, evil_lab, moved, recorded
from tests.labs.toolkit.test_share import packed_bytes
from tests.node import needs_node, node
from tests.slow import slow

WRONG = [None, "x", "", 7.5, -1, 10**9, True, [], {}, ["x"], "a\x00b", "n" * 301]


def labs():
    """Of every kind, in scenes that have all that scenes can have."""
    played = nm.Playground("Two clients", {"a": nm.scene.Bumps([0, 0], 1, 0.5), "b": nm.Gaussian([0, 1])}, samples=20)
    played.attach("c", nm.scene.Truncated(scene_of(played).distributions, 0.5))
    lesson = nm.Playground(lesson="Average against pooled")
    scene = lesson.scene
    progress = {**scene["lesson"], "guess": 1.5, "revealed": True, "answer": 1.0, "other": 2.0}
    lesson.scene = {**scene, "lesson": progress, "rev": 1}
    memo = nm.MemorizationLab(points=20)
    guess = {"name": "notice", "guess": {"fld": 0.5, "fid_test": None}, "revealed": False}
    memo.scene = {**memo.scene, "copied": 0.5, "lesson": guess, "selected": 3, "rev": 1}
    chosen = compared()
    chosen.regroup(merge={"Both": ["Client 1", "Client 3"]})
    looked = {"held": ["Client 2"], "client": "Both", "generator": "Off", "by": "worst", "rev": 2}
    chosen.scene = {**chosen.scene, "weights": [0.5, 2.0], **looked}
    watched = recorded()
    watched.scene = {**watched.scene, "weights": [0.5, 2.0, 0.0], "shown": 300, "client": "Client 2", "rev": 1}
    played = [played, lesson, evil_lab()]
    return [
        *played,
        moved(nm.CorrelationLab()),
        moved(nm.TwinsLab()),
        memo,
        lab_of(),
        chosen,
        watched,
        moved(nm.PrivacyLab()),
    ]


def state_of(lab):
    names = ("scene", "history", "presets", "lessons", "data", "base", "board", "run", "study")
    result = {field: part for field, part in lab.result.items() if field in ("rev", "scores", "of")}
    return {"result": result} | {name: getattr(lab, name) for name in names if hasattr(lab, name)}


def paths(value, path=()):
    if path:
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from paths(part, (*path, key))


def mutated(scene):
    """(what was done, the scene) for every field taken away, made something else, or put beside another."""
    for path in paths(scene):
        for wrong in ("gone", "more", *WRONG):
            changed = copy.deepcopy(scene)
            part = changed
            for key in path[:-1]:
                part = part[key]
            if wrong == "gone":
                del part[path[-1]]
            elif wrong == "more" and isinstance(part, dict):
                part["more"] = 1
            elif wrong == "more":
                part.append(copy.deepcopy(part[path[-1]]))  # twice one name, or one more than there may be
            else:
                part[path[-1]] = wrong
            yield f"{'.'.join(map(str, path))} {str(wrong)[:9]!r}", changed


def text_of(name, scene):
    return packed_bytes(name, zlib.compress(json.dumps(scene).encode()))


def scene_in_python(lab, text):
    """The scene of a share string as the lab shows it; None where it refuses it."""
    try:
        scene = share.unpack(text, type(lab).__name__, state_kind(lab))
        accept(lab, scene)
    except nm.InvalidInput:
        return None
    return {**scene.to_json(), "rev": 0}


def hostile():
    bomb = zlib.compressobj(9)
    zeros = b"".join(bomb.compress(bytes(2**20)) for _ in range(64)) + bomb.flush()
    good = nm.Playground().share()
    endless = json.dumps({**nm.Playground().scene, "half": "?"}).replace('"?"', "1e999")
    far = {**nm.Playground().scene, "half": 2e6}
    copycat = {"name": "cc", "kind": "copycat", "of": "Client 1", "count": 50_000_000}
    packed = {
        "a bomb": (zeros, "unpacks to more than 4194304 bytes"),
        "no zlib": (b"not zlib", "cannot be unpacked"),
        "with a tail": (zlib.compress(b"{}") + b"tail", "damaged"),
        "cut": (zlib.compress(b"{}" * 99)[:-5], "damaged"),
        "no JSON": (zlib.compress(b"{"), "contains no scene"),
        "no UTF-8": (zlib.compress(b'\xff{"clients": 1}'), "contains no scene"),
        "deep JSON": (zlib.compress(b"[" * 10**6), "contains no scene"),
        "deep and closed": (zlib.compress(b"[" * 10**6 + b"]" * 10**6), "nested too deep|has no fields"),
        "nothing": (zlib.compress(b"null"), "has no fields"),
        "a prototype": (zlib.compress(b'{"__proto__": {"clients": []}}'), "has no"),
        "infinite": (zlib.compress(endless.encode()), "half is Infinity, but should be from"),
    }
    yield from ((why, packed_bytes("Playground", data), said) for why, (data, said) in packed.items())
    yield "beyond its bounds", text_of("Playground", far), "half is 2000000, but should be from 0.001 to 1000000"
    yield (
        "a copycat of all memory",
        text_of("Playground", {**nm.Playground().scene, "generators": [copycat]}),
        "count is 50000000, but should be from 2 to 2000",
    )
    newer = {**nm.Playground().scene, "newer": 1}
    yield (
        "a later version's",
        text_of("Playground", newer),
        "made by a later version of nbmetrics; open it with a newer one",
    )
    yield "another lab's", nm.TwinsLab().share(), "for a TwinsLab, but this page shows a Playground"
    yield "another version's", good.replace("nbm1", "nbm2"), "has version 2, but this page reads version 1"
    yield "a letter changed", good[:40] + ("A" if good[40] != "A" else "B") + good[41:], "checksum"
    yield "a word", "hello", "After # a link has nbm1.Playground"
    yield "markup", "<img src=x onerror=alert(1)>", "After # a link has"
    yield "empty", "", "After # a link has"
    yield "of a lab with a long name", f"nbm1.{'L' * 10**6}.e", "for a LLL"
    yield "too long", "nbm1.Playground." + "e" * 10**7, "letters: no lab creates such a link"


@pytest.fixture(scope="module")
def made():
    found = labs()
    yield found
    for lab in found:
        lab.close()


def run(tmp_path, good=(), bad=()):
    out, path = tmp_path / "written.json", tmp_path / "shared.json"
    path.write_text(json.dumps({"good": list(good), "bad": list(bad), "out": str(out)}))
    found = node("--test", TESTS / "js" / "share.test.js", NBMETRICS_SHARED=path)
    return json.loads(out.read_text()), found


@needs_node
def test_each_side_reads_what_the_other_wrote(made, tmp_path):
    assert {type(lab).__name__ for lab in made} == set(LABS)
    cases = [
        {"lab": type(lab).__name__, "state": state_of(lab), "text": lab.share(), "scene": {**lab.scene, "rev": 0}}
        for lab in made
    ]
    for lab in made[3:5] + made[:1]:
        for preset in lab.presets.values():
            text = text_of(type(lab).__name__, preset)
            scene = {**state_kind(lab).parse(preset).to_json(), "rev": 0}
            cases.append({"lab": type(lab).__name__, "state": state_of(lab), "text": text, "scene": scene})
    written, _ = run(tmp_path, good=json.loads(json.dumps(cases)))
    assert len(written) == len(cases) > 12
    for case, text in zip(cases, written, strict=True):
        lab = next(lab for lab in made if type(lab).__name__ == case["lab"])
        assert share.unpack(text, case["lab"], state_kind(lab)).to_json() == case["scene"]


# What the page lacks for a scene that Python shows: other rows and points, a teacher's lesson, what others are of.
LACKING = "about points that this page does not contain|made by a teacher|is about other rows|open it in a notebook"


@needs_node
@pytest.mark.parametrize("each", [25, *slow(12, 1)])
def test_the_page_takes_what_python_takes_and_refuses_what_it_refuses(made, tmp_path, each):
    bad, good = [], []
    for lab in made:
        name, state = type(lab).__name__, state_of(lab)
        for k, (why, scene) in enumerate(mutated({**lab.scene, "rev": 0})):
            if k % each and not why.endswith("'gone'"):
                continue
            case = {"lab": name, "state": state, "text": text_of(name, scene), "why": why}
            shown = scene_in_python(lab, case["text"])
            if shown is None:
                bad.append(case)
            else:
                good.append({**case, "scene": shown, "unless": LACKING})
    assert len(good) > 1000 / each and len(bad) > 300
    lab = nm.Playground()
    for why, text, said in hostile():
        assert scene_in_python(lab, text) is None, why
        bad.append({"lab": "Playground", "state": state_of(lab), "text": text, "why": why, "said": said})
    _, told = run(tmp_path, good=json.loads(json.dumps(good)), bad=bad)
    assert f"{len(bad)} refused" in told


@needs_node
def test_a_page_of_wider_rows_opens_only_what_it_has_the_numbers_of(tmp_path):
    lab = lab_of()
    state, scene = state_of(lab), {**lab.scene, "rev": 0}
    clients, flat = scene["clients"], {key: part for key, part in scene.items() if key != "plane"}
    heavy = [{**client, "weight": 3.0 + k} for k, client in enumerate(clients)]
    led = {**state, "scene": {**nm.Playground().scene, "rev": 4}}  # by a link to a scene of the plane, and back again
    renamed = {**scene, "clients": [{**c, "name": f"{c['name']} 2", "data": c["name"]} for c in clients]}
    good = [(state, scene), (led, scene), (state, renamed)]
    good = [{"lab": "Playground", "state": s, "text": text_of("Playground", x), "scene": x} for s, x in good]
    wrong = {
        "its rows have two features; those of this page": flat,
        "Python has to compute its numbers": {**scene, "clients": heavy},
        "it is about other rows": {**scene, "plane": {**scene["plane"], "dim": 8}},
        "this page shows rows with 9 features": {**scene, "generators": nm.Playground().scene["generators"]},
    }
    bad = [
        {"lab": "Playground", "state": state, "text": text_of("Playground", x), "why": said, "said": said}
        for said, x in wrong.items()
    ]
    assert scene_in_python(lab, text_of("Playground", flat)) is None
    written, told = run(tmp_path, good=json.loads(json.dumps(good)), bad=bad)
    assert len(written) == len(good) and f"{len(bad)} refused" in told
