"""How every scene is read: from JSON text or a dict, no field unknown, no list too long, every number within bounds.

Twin: labs/toolkit/view/bounds.js · held by: tests/labs/toolkit/test_bounds.py
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from importlib import resources
from typing import Any

from ...errors import InvalidInput, check_count, check_number, shown


def facts(package: str | None, name: str) -> Any:
    """What a JSON file beside a lab says, which its page reads too."""
    return json.loads(resources.files(package or __package__).joinpath(name).read_text("utf-8"))


_FACTS = facts(__package__, "bounds.json")
# From and to: of every number of every scene and lesson, by the name of its field.
BOUNDS: dict[str, tuple[float, float]] = {field: (low, high) for field, (low, high) in _FACTS["bounds"].items()}
# Of them those that count.
WHOLE = frozenset(_FACTS["whole"])
# Steps of a history.
REMEMBERED = int(_FACTS["remembered"])
MOST_SAMPLES = int(BOUNDS["samples"][1])


def _bounds(field: str) -> tuple[float, float]:
    if field not in BOUNDS:
        raise InvalidInput("field", f"is {shown(field)}, which no scene has", f"Take one of {', '.join(BOUNDS)}")
    return BOUNDS[field]


def number(value: Any, field: str, where: str = "") -> float:
    """`value` as a float within the bounds of `field`; InvalidInput names `where`, or the field."""
    low, high = _bounds(field)
    return check_number(_no_text(value, where or field), where or field, minimum=low, maximum=high)


def whole(value: Any, field: str, where: str = "") -> int:
    """`value` as an int within the bounds of `field`; InvalidInput names `where`, or the field."""
    low, high = _bounds(field)
    return check_count(_no_text(value, where or field), where or field, minimum=int(low), maximum=high)


def _no_text(value: Any, where: str) -> Any:
    """`value`, unless Python would read it as a number and the page would not."""
    if isinstance(value, (str, bytes, bool)):
        raise InvalidInput(where, f"got {shown(value)}", "Give a number")
    return value


def flag(value: Any, where: str) -> bool:
    """`value`, if it is True or False."""
    if not isinstance(value, bool):
        raise InvalidInput(where, f"got {shown(value)}", "Give True or False")
    return value


def listed(value: Any, where: str, least: int, most: int) -> list[Any]:
    """`value` as a list of `least` to `most` items; nothing endless is asked for its items."""
    if not isinstance(value, (list, tuple)):
        raise InvalidInput(where, f"got {shown(value)}", "Give a list")
    if not least <= len(value) <= most:
        raise InvalidInput(
            where, f"has {len(value)} items", f"Give {least} to {most}" if least < most else f"Give {most}"
        )
    return list(value)


def loaded(text: str | bytes, where: str) -> Any:
    """The value of JSON text."""
    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidInput(where, "is JSON nested too deep", "Give the JSON of a dict") from None
    except ValueError as error:
        raise InvalidInput(where, f"is not JSON: {error}", "Mend it") from None


def fields_of(value: Any, known: Collection[str], needed: Collection[str], where: str) -> Mapping[str, Any]:
    """`value`, if it is a dict with all fields of `needed` and none that is not `known`."""
    if not isinstance(value, Mapping) or not set(needed) <= set(value) <= set(known):
        seen = sorted(map(str, value)) if isinstance(value, Mapping) else value
        raise InvalidInput(where, f"got {shown(seen, 200)}", f"Give the fields {', '.join(sorted(known))}")
    return value


def scene_fields(value: Any, known: Collection[str], needed: Collection[str] = ()) -> Mapping[str, Any]:
    """The fields of a scene's dict or JSON text; InvalidInput where one is missing or unknown."""
    return fields_of(loaded(value, "scene") if isinstance(value, str) else value, known, needed, "scene")
