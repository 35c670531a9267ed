"""What a Tab and a question mark show of nbmetrics: public names, first lines that are sentences, plain signatures."""

import inspect
import re

import pytest

import nbmetrics as nm

ROOMS = {"nm": nm, **{f"nm.{name}": getattr(nm, name) for name in nm.__all__ if inspect.ismodule(getattr(nm, name))}}
NAMES = [(room, name) for room, module in ROOMS.items() for name in module.__all__ if not name.startswith("_")]
CALLED = [
    (room, name)
    for room, name in NAMES
    if callable(made := getattr(ROOMS[room], name))
    and not (
        inspect.isclass(made) and issubclass(made, (tuple, Warning, Exception))
    )  # are returned or raised, not called
]
NOISE = re.compile(r"<[^>]*>|0x[0-9a-f]{6}|ForwardRef|nbmetrics\.|\bnp\.float64|lambda")
LONGEST = 120
# Its fields of mappings show as <factory>: it is made by Scene.preset_named and Scene.parse.
MADE_OTHERWISE = "Scene"


@pytest.mark.parametrize("room", ROOMS)
def test_completion_lists_public_names_alone(room):
    module = ROOMS[room]
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in dir(module))


def test_every_name_has_a_first_line_that_is_a_sentence():
    wrong = {}
    for room, name in NAMES:
        lines = (inspect.getdoc(getattr(ROOMS[room], name)) or "").split("\n\n")[0].splitlines()
        if not (len(lines) == 1 and 20 <= len(lines[0]) <= LONGEST and re.search(r"[.:?)]$", lines[0])):
            wrong[f"{room}.{name}"] = lines
    assert wrong == {}


def test_signatures_show_nothing_that_is_internal():
    shown = {f"{room}.{name}": str(inspect.signature(getattr(ROOMS[room], name))) for room, name in CALLED}
    wrong = {name: text for name, text in shown.items() if NOISE.search(text) and not name.endswith(MADE_OTHERWISE)}
    assert len(shown) > 150 and wrong == {}


def test_methods_of_what_is_handed_out_have_first_lines_too():
    kinds = [made for room, name in NAMES if inspect.isclass(made := getattr(ROOMS[room], name))]
    bare = {
        f"{kind.__name__}.{name}"
        for kind in kinds
        for name, member in vars(kind).items()
        if not name.startswith("_") and inspect.isfunction(member) and not inspect.getdoc(getattr(kind, name))
    }
    assert bare == set()
