"""Lessons that a teacher made, and what learners answered, each with what it says."""

import nbmetrics as nm
from tests import EVIL
from tests.golden.labs import content

OWN = "Mein „Maß“ 🚩"


def own_lesson():
    """A lesson with every field that `make_lesson` takes."""
    lab = nm.Playground("Heterogeneous six", metric="cfid")
    lesson = lab.make_lesson(
        name=OWN,
        question="At which variance is CFID all lowest?",
        flag="variance",
        answer="Where the pool is.",
        metric="cfid",
        aggregate="all",
        generator="Generator 2",
        check={"kind": "below", "aggregate": "gap", "generator": "Generator 3", "value": 1e-5},
        solution=nm.Playground("Heterogeneous six").scene,
        hint="Look at the terms.",
        tries=["Move a client.", f"Call one {EVIL}."],
        minutes=2.5,
        aim="The pool is wider.",
    )
    lab.close()
    return lesson


def lessons():
    """Lessons as dicts, each with what the page of a lab that opens it reads."""
    lab = nm.Playground("Two clients")
    number = {"flag": (0, 6.5), "then": {"samples": 20, "seed": 3}, "aggregate": "gap", "answer": "So far."}
    made = [
        own_lesson(),
        lab.make_lesson(question="Lowest where?", flag="x"),
        lab.make_lesson(question="How large?", name="A number", **number),
        lab.make_lesson(question="Make them disagree.", name="A task", check={"kind": "inversion", "by": 0.3}),
        {"name": "Only what is needed", "question": "What do you see?", "scene": "Identical clients"},
        {"name": "A scene of few fields", "question": "And here?", "scene": few_fields(lab)},
    ]
    lab.close()
    return [{"lesson": lesson, **opened(lesson)} for lesson in made]


def few_fields(lab):
    """The scene of a lab with only the fields that are needed."""
    return {kind: lab.scene[kind] for kind in ("clients", "generators")}


def opened(lesson):
    """The scene with which a lesson opens, and what the page reads of it."""
    lab = nm.Playground(lesson=lesson)
    found = {"scene": content(lab.scene), "page": lab.lessons[lesson["name"]]}
    lab.close()
    return found


def answers():
    """Strings that learners copied from `lab.answers()`, with the prediction that each holds."""
    given = [
        ("Weights matter", {"guess": -0.5, "revealed": True, "answer": -1.0, "other": -1.0}),
        ("Average against pooled", {"guess": 1 / 3}),
        ("Where is KID?", {"guess": 1e-5, "revealed": True, "answer": 1e-17, "other": 0.0}),
        ("Sample size and bias", {"guess": -1e100, "revealed": True, "answer": 1e100, "other": None}),
    ]
    return [answered(nm.Playground(lesson=name), progress) for name, progress in given] + [
        answered(nm.Playground(lesson=own_lesson()), {"guess": 2, "revealed": True, "answer": 123456.789})
    ]


def answered(lab, progress):
    """The string of a lab once its learner came so far."""
    lab.scene = {**lab.scene, "lesson": {**lab.scene["lesson"], **progress}, "rev": lab.scene["rev"] + 1}
    (row,) = lab.answers()[["lesson", "guess", "answer", "string"]].to_dict("records")
    lab.close()
    return row
