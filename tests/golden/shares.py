"""Share strings of every lab, each beside the scene that it stands for, and histories."""

import base64
import itertools
import json
import zlib

import nbmetrics as nm
from nbmetrics.labs.correlation.scene import SCORES, CorrelationScene
from nbmetrics.labs.dashboard.scene import AGGREGATES, COLOURS, ORDERS
from nbmetrics.labs.memorization.scene import CHOICES
from nbmetrics.labs.plane.items import MOST
from nbmetrics.labs.playground.lessons import builtin_lessons
from nbmetrics.labs.playground.scene import METRICS, PANELS, SWEEPS
from nbmetrics.labs.toolkit import schema
from tests.golden.labs import content, lab_of, settle
from tests.golden.lessons import OWN
from tests.labs.inside import accept, state_kind
from tests.labs.toolkit.common import NAMES

SITE = "https://example.org/lab.html"
HUGE, TINY = 1e6, 1e-5
ROUND = {"x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0, "angle": 0.0}
# Made before a CorrelationLab had a question.
WITHOUT_QUESTION = (
    "nbm1.CorrelationLab.TO3SkXjaq1YqyshXsjLQMzLVATHjMxJLlKx0DfSA3OLkxJxUJSsjPQMdpdzUkqLMZCUrpaK0zBQlHaWCotTiVKBK"
    "pcj80iKF_PI8oFhRahnQpFoA_qQY-A"
)


def shares(release, folder):
    """The JSON of each lab, by its name."""
    found = {}
    for name, make in MAKERS.items():
        found[name] = {"scenes": [], "fields_left_out": [], "histories": []}
        for place, (of, start, edits) in enumerate(make()):
            lab = lab_of(name, of, release, folder / f"{name} {of}")
            settle(lab)
            base = {**lab.scene, **start}
            found[name]["scenes"] += [*as_presets(lab, of), *edited(lab, of, base, edits)]
            if not place:
                found[name]["fields_left_out"] += left_out(lab, of, base)
            found[name]["histories"].append(history(lab, of, base, [changes for _, changes in edits]))
            lab.close()
    old = {"what": "before there was a question", "of": "", "text": WITHOUT_QUESTION}
    opened = nm.CorrelationLab.from_share(WITHOUT_QUESTION)
    found["CorrelationLab"]["fields_left_out"].append({**old, "scene": content(opened.scene)})
    return found


def as_presets(lab, of):
    """Each of a lab's presets, of one with data the first alone, and a link to the last."""
    presets = list(lab.presets.items())[: 1 if of else None]
    found = [shared(lab, of, f"preset {name}", preset) for name, preset in presets]
    return [{**found[-1], "what": "a link", "text": lab.share_url(SITE)}, *found]


def edited(lab, of, base, edits):
    """The base scene with each of the changes, and with nothing changed."""
    return [shared(lab, of, what, {**base, **changes}) for what, changes in [("as the others start", {}), *edits]]


def shared(lab, of, what, scene):
    """A scene as the lab shares it."""
    lab.scene = {**scene, "rev": lab.scene["rev"] + 1}
    settle(lab)
    return {"what": what, "of": of, "text": lab.share(), "scene": content(lab.scene)}


def left_out(lab, of, base):
    """The base scene without each of the fields that Python fills in, without all of them, and parts of parts."""
    shorter = [(field, {f: part for f, part in base.items() if f != field}) for field in base]
    for field, inner in base.items():
        if isinstance(inner, dict):
            shorter += [
                (f"{field}.{name}", {**base, field: {n: part for n, part in inner.items() if n != name}})
                for name in inner
            ]
    found = [(what, scene) for what, scene in shorter if parsed(lab, scene) is not None]
    names = {what for what, _ in found}
    fewest = {field: part for field, part in base.items() if field not in names}
    if parsed(lab, fewest) is not None:
        found.append(("all of them", fewest))
    return [
        {"what": what, "of": of, "text": text_of(type(lab).__name__, scene), "scene": content(parsed(lab, scene))}
        for what, scene in found
    ]


def parsed(lab, scene):
    """The scene that this lab reads, as JSON; None where it refuses it."""
    try:
        found = state_kind(lab).parse(scene)
        accept(lab, found)
    except nm.InvalidInput:
        return None
    return found.to_json()


def text_of(name, scene):
    """A scene as the string that an older version would have made of it."""
    data = zlib.compress(json.dumps(scene, separators=(",", ":")).encode(), 9)
    raw = zlib.crc32(data, zlib.crc32(name.encode())).to_bytes(4, "big") + data
    return f"nbm1.{name}.{base64.urlsafe_b64encode(raw).decode().rstrip('=')}"


def history(lab, of, base, changes):
    """A lab's history in the middle of some edits, from its first preset on, and the scene on show."""
    lab.history = {"past": [], "future": []}
    lab.scene = {**next(iter(lab.presets.values())), "rev": lab.scene["rev"] + 1}
    for change in [{}, *changes[:2]]:
        lab.from_share(text_of(type(lab).__name__, {**base, **change}))
    lab.undo()
    return {"of": of, "scene": content(lab.scene), "history": lab.history}


def choices(**fields):
    """Scenes in which every choice of each field occurs: as many as the longest list has."""
    most = max(map(len, fields.values()))
    columns = {field: itertools.islice(itertools.cycle(values), most) for field, values in fields.items()}
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


def item(name, kind="gaussian", **fields):
    """An item of a scene in the plane."""
    if kind in ("gaussian", "bumps", "data"):
        fields = {**ROUND, **fields}
    return {"name": name, **fields, **({} if kind == "gaussian" else {"kind": kind})}


def playgrounds():
    """(data, where its scenes start, changes) for each Playground."""
    clients = [item("A", weight=1.0, x=-2.0, angle=30.5), item("B", weight=0.25, y=1e-3), item("C", weight=3.0)]
    made = [item("g", width=2.5), item("two", "bumps", height=0.3), item("ideal", "truncated", psi=0.75)]
    made.append(item("thief", "copycat", of="B", count=33))
    start = {"preset": "Mine", "half": 7.5, "clients": clients, "generators": made, "samples": 20, "seed": 7}
    start["view"] = {"metric": "cfid", "panel": "sweep", "sweep": "psi", "aligned": True}
    start["lesson"] = {**LESSON, "about": {"Generator": "g"}, "guess": 1 / 3, "revealed": True, "answer": TINY}
    views = choices(metric=list(METRICS), panel=PANELS, sweep=SWEEPS, aligned=(False, True))
    edits = [(f"view {view['metric']} {view['sweep']}", {"view": view}) for view in views]
    edits += [("extreme numbers", extremes()), ("as many items as there may be", crowd()), *in_lessons()]
    yield "", start, edits
    named = [item("North Sea", "data", data="north", weight=2.0), item("south", "data", weight=1e-5)]
    yield "rows", {"preset": "Mine"}, [("renamed", {"clients": [*named, item("law", weight=1.0)]})]
    for of in ("wide", "wide lda", "wide numbered", "wide named"):
        yield of, {"preset": "Mine", "half": 12.5}, [("charted", {"view": {**start["view"], "metric": "kid"}})]
    yield "own lesson", {}, [("guessed", {"lesson": {**LESSON, "name": OWN, "guess": 0.5, "about": {}}})]


LESSON = {"name": "Average against pooled", "revealed": False, "answer": None, "other": None}


def extremes():
    """Numbers at their bounds, tiny ones, and those that JSON writes in its own way."""
    clients = [
        item("far", weight=HUGE, x=-HUGE, y=HUGE, angle=-HUGE),
        item("point", weight=TINY, width=0.0, height=0.0),
    ]
    clients += [item("thin", weight=5e-324, width=TINY, height=1e-300), item("none", weight=0.0, x=0.1 + 0.2)]
    made = [item("vast", width=HUGE, height=HUGE, x=-0.0), item("shrunk", "truncated", psi=HUGE)]
    made += [item("all", "copycat", of="far", count=2000), item("tiny", "bumps", width=TINY, height=5e-324)]
    return {"clients": clients, "generators": made, "half": 0.001, "samples": 2000, "seed": 2**31, "lesson": None}


def crowd():
    """As many clients and generators as a scene may have, some with names that break out of careless pages."""
    names = [*NAMES, *(f"client {k}" for k in range(MOST["clients"] - len(NAMES)))]
    clients = [item(name, weight=1.0 + k / 7, x=k / 3, angle=-k) for k, name in enumerate(names)]
    made = [item(f"{name}!", y=-k / 3, width=1 + k / 9) for k, name in enumerate(names[: MOST["generators"]])]
    return {"clients": clients, "generators": made, "half": 1e6, "samples": 0, "lesson": None, "preset": NAMES[0]}


def in_lessons():
    """Each lesson as it opens, and once it was answered."""
    for name, lesson in builtin_lessons().items():
        scene = content(lesson.start.to_json())
        answered = {**scene["lesson"], "guess": -0.5, "revealed": True, "answer": 1e-17, "other": 1e100}
        yield f"lesson {name}", scene
        yield f"lesson {name}, answered", {**scene, "lesson": answered}


def correlations():
    """The same for CorrelationLab."""
    start = {"rho": 0.25, "rho_hat": -0.5, "scale": 2.5, "metric": "rfid", "preset": "Mine"}
    start["question"] = {"step": 2, "answer": "rfid"}
    edits = [
        ("tiny", {"rho": TINY, "rho_hat": -TINY, "scale": 0.01}),
        ("tinier", {"rho": 5e-324, "rho_hat": -0.0}),
        ("ends", {"rho": -1, "rho_hat": 1, "scale": 10}),
        ("nearly one", {"rho": 1 - 2**-53, "rho_hat": 0.1 + 0.2}),
    ]
    asked = choices(metric=SCORES, step=(1, 2, 3), answer=schema.choices(CorrelationScene, "question", "answer"))
    for one in asked:
        question = {"step": one["step"], "answer": one["answer"]}
        edits.append((f"question {question}", {"metric": one["metric"], "question": question}))
    yield "", start, edits


def twins():
    """The same for TwinsLab."""
    clients = [item(f"Client {k}", x=k / 3, y=-k, weight=1.0 + k) for k in range(3)]
    start = {"clients": clients, "half": 7.5, "construction": "printed", "shared": True, "preset": "Mine"}
    many = [item(name, weight=TINY, x=k / 7) for k, name in enumerate([*NAMES, *map(str, range(18))])]
    far = [item("far", x=-HUGE, y=HUGE, width=HUGE, height=TINY, angle=HUGE, weight=HUGE), item("b", weight=TINY)]
    edits = [(f"construction {name}", {"construction": name}) for name in ("corrected", "published")]
    edits += [("many", {"clients": many}), ("extreme numbers", {"clients": far, "shared": False, "half": 1e6})]
    yield "", start, edits


def memorizations():
    """The same for MemorizationLab."""
    start = {"data": "moons", "copied": 0.37, "jitter": 0.001, "bandwidth": 0.5, "spread": 2.98, "points": 40}
    start |= {"seed": 5, "view": {"panel": "curve", "sweep": "jitter", "sort": "quality"}, "selected": 39}
    start |= {"lesson": {"name": "notice", "guess": {"fld": 0.5, "fid_test": None}, "revealed": True}, "preset": "Mine"}
    views = [(f"view {view}", {"view": view}) for view in choices(**CHOICES)]
    edits = [
        ("tiny", {"copied": 1e-300, "jitter": TINY, "bandwidth": 5e-324, "spread": 0.1, "points": 20}),
        ("ends", {"copied": 1, "jitter": 1, "bandwidth": 10, "spread": 3, "points": 1000, "seed": 2**31}),
        ("digits", {"data": "digits", "points": 449, "selected": 0, "lesson": None}),
        ("part of a guess", {"lesson": {**start["lesson"], "guess": {"fid_test": TINY}}}),
        ("no guess", {"lesson": {**start["lesson"], "guess": None, "revealed": False}}),
    ]
    yield "", start, [*edits, *views]


def dashboards():
    """The same for Dashboard."""
    names = ["north", "south", "isle", "Ünïcode 😀"]
    start = {"weights": [0.5, 2.0, TINY, 1e6], "held": names[1:3], "client": names[3], "generator": "off", "by": "all"}
    start |= {"generators": ["off", "near"], "metric": "kid", "order": "name", "colour": "raw"}
    start |= {"preset": "Mine", "regroup": []}
    looks = choices(by=AGGREGATES, colour=COLOURS, order=ORDERS)
    edits = [(" ".join(look.values()), look) for look in looks]
    alone = {"held": [], "client": "", "generator": ""}
    for what, changes, weights in regrouped():
        edits.append((what, {**alone, "regroup": changes, "weights": weights}))
    yield "labelled", start, edits
    many = {"weights": [1.0 / (1 + k) for k in range(60)], "preset": "Mine"}
    many |= {"held": ["site 0", "site 59"], "client": "site 7", "generator": "model 3", "order": "weight"}
    yield "table", many, [("worst", {"by": "worst", "generators": ["model 19"]})]


def regrouped():
    """What can be done to the clients, alone and one after the other, and weights for those that there are then."""
    merge = {"do": "merge", "clients": ["isle", "south"], "name": "coast"}
    drop = {"do": "drop", "clients": ["north"], "name": ""}
    split = {"do": "split", "clients": ["north"], "name": ""}
    move = {"do": "move", "clients": ["north", "south"], "name": "cat"}
    yield "merged", [merge], [1.0, 2.0, 3.0]
    yield "dropped", [drop], [1.0, 2.0, 3.0]
    yield "split", [split], [1.0, 2.0, 3.0, 4.0, 5.0]
    yield "moved", [move], [1.0, 2.0, 3.0, 4.0]
    yield (
        "moved, split, merged and dropped",
        [move, {**split, "clients": ["south"]}, {**drop, "clients": ["isle"]}],
        [
            *(1.0, 2.0, 3.0, 4.0),
        ],
    )


def monitors():
    """The same for Monitor."""
    start = {"metric": "kid", "weights": [0.5, 2.0, 0.0], "shown": 300, "client": "south", "preset": "Mine"}
    extreme = {"weights": [HUGE, TINY, 5e-324], "shown": 2**53 - 1}
    yield "finished", start, [("newest", {"shown": None}), ("extreme numbers", extreme), ("fid", {"metric": "fid"})]
    yield "resumed", start, [("first step", {"shown": 0})]


def privacies():
    """The same for PrivacyLab."""
    start = {"epsilon": 3.0, "metric": "kid", "aggregate": "avg", "run": 7, "preset": "Mine"}
    edits = [("least", {"epsilon": 0.001, "run": 1}), ("most", {"epsilon": 1000, "run": 20, "metric": "fid"})]
    yield "", start, [*edits, ("between two", {"epsilon": 0.1 + 0.2, "aggregate": "all"})]
    yield "private", {"metric": "fid", "run": 3, "preset": "Mine"}, [("least", {"epsilon": 0.01, "run": 1})]


MAKERS = {
    "Playground": playgrounds,
    "CorrelationLab": correlations,
    "TwinsLab": twins,
    "MemorizationLab": memorizations,
    "Dashboard": dashboards,
    "Monitor": monitors,
    "PrivacyLab": privacies,
}
