"""Scenes, messages, share strings and lessons that hypothesis breaks: each gets an answer or a refusal, and no more.

An answer is finite, of the right shape and can be sent; a refusal is an `InvalidInput` of bounded length, or is shown
in the view. Nothing given is changed, no global random state moves, nothing warns, and every lab answers afterwards.
"""

import base64
import copy
import json
import warnings
import zlib
from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.labs.playground.lessons import Lesson
from nbmetrics.labs.toolkit import share
from tests.fuzzing import Tally, examples, unmoved
from tests.labs.inside import send
from tests.labs.toolkit.common import compared, watched
from tests.labs.toolkit.declared import GENERATORS, PLAYED, SCENES, bounds_by_name
from tests.labs.toolkit.test_bounds import LESSONS
from tests.waiting import until

LABS = {
    "Playground": (nm.Playground, {**PLAYED, "generators": GENERATORS[:4]}),
    "TwinsLab": (nm.TwinsLab, SCENES["TwinsLab"][1]),
    "CorrelationLab": (nm.CorrelationLab, SCENES["CorrelationLab"][1]),
    "MemorizationLab": (
        lambda: nm.MemorizationLab(points=20),
        {**SCENES["MemorizationLab"][1], "lesson": None, "points": 20},
    ),
    "Dashboard": (compared, SCENES["Dashboard"][1]),
    "Monitor": (watched, SCENES["Monitor"][1]),
    "PrivacyLab": (nm.PrivacyLab, SCENES["PrivacyLab"][1]),
}
MOST_POINTS = 60  # of MemorizationLab: of more, an answer takes seconds
BOUNDS, WHOLE = bounds_by_name()
LONGEST = 3300  # letters of a message

numbers = st.one_of(
    st.integers(-3, 30),
    st.floats(),
    st.floats(-3, 3),
    st.sampled_from([end for ends in BOUNDS.values() for end in ends]),
    st.sampled_from([10**400, 2**53, 1e300, 1e-300, 5e-324, -0.0]),
)
texts = st.one_of(
    st.text(st.characters(exclude_categories=[]), max_size=12),
    st.sampled_from(
        ["fid", "kid", "fld", "precision", "cfid", "samples", "sweep", "x", "psi", "data", "copycat", "digits"]
    ),
    st.sampled_from(["n" * 10_000, "\x1b[2J", "\ud800", "</script>", "$x_1$", "Client 1", "C", "G", "1e9"]),
)
leaves = st.one_of(st.none(), st.booleans(), numbers, texts)
fields = st.sampled_from([*BOUNDS, "name", "kind", "of", "data", "view", "lesson", "metric", "panel"])
junk = st.recursive(
    leaves,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(fields | texts, parts, max_size=3),
    max_leaves=6,
)


def paths_of_numbers(value):
    """The path of every number in JSON."""
    return [path for path in places(value) if isinstance(at(value, path), (int, float))]


def at(value, path):
    for key in path:
        value = value[key]
    return value


def places(value, path=()):
    """The paths of all parts of JSON."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from places(part, (*path, key))


def within(field):
    """Numbers that a field may have, its ends among them."""
    low, high = BOUNDS[field]
    if field in WHOLE:
        return st.integers(low, high) | st.sampled_from([low, high])
    return st.floats(low, high) | st.floats(max(low, -5), min(high, 5)) | st.sampled_from([low, high])


def changed(value, path, change):
    """Let `change` have the list or dict that a path leads into, and the last key of the path."""
    *parents, last = path
    for key in parents:
        value = value[key]
    change(value, last)


@st.composite
def broken(draw, example):
    """An example with other numbers, and mostly some parts replaced, left out, added or doubled."""
    value = copy.deepcopy(draw(example))
    numbered = [path for path in paths_of_numbers(value) if path[-1] in BOUNDS]
    for path in draw(st.lists(st.sampled_from(numbered), max_size=5)) if numbered else ():
        changed(value, path, lambda part, last: part.update({last: draw(within(last))}))
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2, 3]))):
        if found := list(places(value)):
            changed(value, draw(st.sampled_from(found)), lambda part, last: damaged(draw, part, last))
    return value


def damaged(draw, part, last):
    match draw(st.sampled_from(["number", "number", "leaf", "junk", "gone", "added", "doubled"])):
        case "gone":
            del part[last]
        case "added" if isinstance(part, dict):
            part[draw(fields | texts)] = draw(junk)
        case "doubled" if isinstance(part, list):
            part.extend(copy.deepcopy(part[last]) for _ in range(draw(st.sampled_from([1, 30]))))
        case change:
            part[last] = draw({"number": numbers, "leaf": leaves}.get(change, junk))


@pytest.fixture(scope="module")
def tally():
    with Tally("labs") as found:
        yield found


@pytest.fixture(scope="module")
def labs():
    found = {name: make() for name, (make, _) in LABS.items()}
    yield found
    for lab in found.values():
        lab.close()


def judged(act, value, kind, tally, outcome=lambda: "answered"):
    """What `act` makes of `value`, or None where it refused; anything else is a failure, and is counted too."""
    before = repr(value)
    try:
        with unmoved(), warnings.catch_warnings():
            warnings.simplefilter("error")
            found = act(value)
    except nm.InvalidInput as error:
        tally.add(f"{kind}: refused" if is_short(str(error)) else f"{kind}: refused at length")
        return None
    except Exception as error:
        tally.add(f"{kind}: {type(error).__name__}")
        raise
    finally:
        assert repr(value) == before
    tally.add(f"{kind}: {outcome()}")
    return found


def is_short(message):
    return bool(message.encode()) and len(message) < LONGEST


def sent(value):
    """The JSON of what is sent to the page: raises where it has NaN, infinities or halves of pairs."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def is_slow(scene):
    return getattr(scene, "points", 0) > MOST_POINTS


def shape_of(lab, scene, found):
    """Whether numbers are as many as they should be."""
    match type(lab).__name__:
        case "Playground":
            counts = len(scene.generators), len(scene.clients)
            shapes = [(len(s["avg"]), len(s["all"]), len(s["byClient"])) for s in found["scores"].values()]
            assert all(shape == (counts[0],) * 3 for shape in shapes)
            assert all(len(row) == counts[1] for s in found["scores"].values() for row in s["byClient"])
        case "TwinsLab" if scene.construction != "published":
            assert len(found["scores"]["first"]) == len(scene.clients) + 2
        case "CorrelationLab":
            assert set(found["scores"]) == {"mfid", "rfid", "cfid", "squared_difference"}
        case "Dashboard":
            assert [len(found[part]["fid"]) for part in ("avg", "all")] == [3, 3]
            assert len(found["weights"]) == len(scene.weights)
        case "Monitor":
            assert len(found["weights"]) == len(scene.weights) and set(found["lines"]) == {"fid", "kid"}
        case "PrivacyLab":
            assert len(found["shown"]) == len(found["places"]) == 4 and len(found["drawn"]) == 20
        case "MemorizationLab":
            assert len(found["memorization"]) == len(found["nearest"]) == scene.points


# What breaks is small already, and a lab's threads make looking for a smaller one long.
slow = {"deadline": None, "suppress_health_check": list(HealthCheck), "phases": [Phase.explicit, Phase.generate]}
named = st.sampled_from(list(LABS))


@settings(max_examples=examples(100), **slow)
@given(st.data(), named)
def test_broken_scenes_are_refused_or_answered(labs, tally, data, name):
    lab = labs[name]
    value = data.draw(broken(st.just(LABS[name][1])))
    scene = judged(lab._read, value, f"{name} scene", tally)
    if scene is None:
        return
    assert lab._state.parse(json.loads(sent(scene.to_json()))) == scene
    compile(scene.to_code().encode(), "code", "exec")
    if not is_slow(scene):
        found = judged(lab._computed, scene, f"{name} numbers", tally)
        if found is not None:
            assert sent(found)
            shape_of(lab, scene, found)


traits = st.sampled_from(
    ["scene", "history", "result", "presets", "locked", "data", "lessons", "base", "layout", "_css"]
)


@st.composite
def messages(draw, name):
    """(how it is sent, message) for a lab: traits, or a message of one's own."""
    scenes = broken(st.just(LABS[name][1]))
    histories = broken(st.fixed_dictionaries({"past": st.lists(scenes, max_size=2), "future": st.just([])}))
    if draw(st.booleans()):
        value = draw(st.one_of(scenes.map(lambda s: {"scene": s}), histories.map(lambda h: {"history": h})))
        return "traits", draw(st.just(value) | st.dictionaries(traits, junk, max_size=2) | junk)
    dashboards = ["attach", "details", "mixture", "stop", "resume"]
    dashboards += ["disagreement", "regroup", "race", "stop race"]
    kinds = st.sampled_from(["ask", "curve", "interactions", "names", *dashboards])
    parts = {part: junk for part in ("name", "key", "budget", "change")}
    custom = st.fixed_dictionaries({"kind": kinds | junk}, optional={"scene": scenes | junk, **parts})
    return "custom", draw(custom | junk)


def answered(lab):
    """The numbers of a good scene, committed after whatever came before."""
    rev = max(lab.scene["rev"], lab.result["rev"]) + 1
    scene = {**LABS[type(lab).__name__][1], "rev": rev, "preset": f"the one of {rev}"}
    lab.set_state({"scene": scene})
    found = until(lambda: lab.result["rev"] >= rev and "doing" not in lab.result and lab.result)
    assert found["rev"] == rev and "error" not in found
    return found


def said(lab):
    """Tells whether the view has come to say that something cannot be."""
    before = lab.result
    return lambda: "said in the view" if lab.result is not before and "error" in lab.result else "taken"


def scene_of(lab, message):
    try:
        return lab._state.parse(message["scene"])
    except (nm.InvalidInput, TypeError, KeyError, IndexError):
        return None


@settings(max_examples=examples(40), **slow)
@given(st.data(), named)
def test_labs_outlive_broken_messages(labs, tally, data, name):
    lab = labs[name]
    for how, message in data.draw(st.lists(messages(name), min_size=1, max_size=4)):
        if is_slow(scene_of(lab, message)):
            continue
        give = lab.set_state if how == "traits" else partial(send, lab)
        judged(give, message, f"{name} {how}", tally, said(lab))
        assert sent(dict(lab.result)) and sent(dict(lab.scene)) and sent(dict(lab.history))
        assert "error" not in lab.result or is_short(lab.result["error"]["message"])
    assert sent(answered(lab))
    tally.add(f"{name}: answers afterwards")


@st.composite
def strings(draw, name):
    """A share string: of a broken scene, of junk, of a bomb, or with letters changed, cut or doubled."""
    value = draw(broken(st.just(LABS[name][1])) | junk)
    text = draw(
        st.just(json.dumps(value).encode()) | st.binary(max_size=60) | st.sampled_from([bytes(2**23), b"[" * 10**5])
    )
    data = zlib.compress(text, 9) if draw(st.integers(0, 9)) else text
    sum_of = share._sum(draw(st.sampled_from([name, name, name, "Playground"])), data)
    string = f"nbm1.{name}.{base64.urlsafe_b64encode(sum_of + data).decode().rstrip('=')}"
    if draw(st.integers(0, 2)):
        return string
    start, end = sorted(draw(st.tuples(*[st.integers(0, len(string))] * 2)))
    return string[:start] + draw(texts) + string[end:]


@settings(max_examples=examples(60), **slow)
@given(st.data(), named)
def test_broken_share_strings_are_refused_or_are_scenes(labs, tally, data, name):
    state = labs[name]._state
    text = data.draw(strings(name))
    scene = judged(lambda given: share.unpack(given, name, state), text, f"{name} share string", tally)
    if scene is not None:
        assert share.unpack(share.pack(name, scene), name, state) == scene.at(0)


@settings(max_examples=examples(40), **slow)
@given(st.data())
def test_broken_lessons_are_refused_or_can_be_shown(tally, tmp_path_factory, data):
    value = data.draw(broken(st.sampled_from(LESSONS)))
    read = Lesson.read
    if data.draw(st.booleans()):
        folder = tmp_path_factory.getbasetemp()
        content = data.draw(st.just(json.dumps(value).encode()) | st.binary(max_size=60) | st.just(b"[" * 10**5))
        value = folder / "fuzzed.json"
        value.write_bytes(content)
    lesson = judged(read, value, "lesson", tally)
    if lesson is not None:
        page = json.loads(sent(lesson.to_json()))
        assert nm.Scene.parse(page["scene"]) == lesson.start and nm.Scene.parse(page["after"]) == lesson.after
