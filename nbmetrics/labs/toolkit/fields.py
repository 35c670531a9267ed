"""How every scene is read: from JSON text or a dict, no field unknown, no list too long, every number within bounds."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from ...errors import InvalidInput, check_count, check_number, shown

MOST_SAMPLES = 2000
# Farther than any score of points in the plane.
_FAR = 1e100
_PLACE, _LENGTH = (-1e6, 1e6), (0, 1e6)
# From and to: of every number of every scene and lesson, by the name of its field. js/bounds.js has the same.
BOUNDS: dict[str, tuple[float, float]] = {
    "rev": (0, 2**53 - 1),  # the page counts in float64
    "half": (1e-3, 1e6),
    "samples": (0, MOST_SAMPLES),
    "seed": (0, 2**31),
    # of an item
    "x": _PLACE,
    "y": _PLACE,
    "width": _LENGTH,
    "height": _LENGTH,
    "angle": _PLACE,
    "weight": _LENGTH,
    "psi": _LENGTH,
    "count": (2, MOST_SAMPLES),
    # of a lesson and of the answer to it
    "guess": (-_FAR, _FAR),
    "answer": (-_FAR, _FAR),
    "other": (-_FAR, _FAR),
    "axis": (-_FAR, _FAR),
    "redraws": (0, 100),
    "by": (0, _FAR),
    "within": (0, _FAR),
    "value": (-_FAR, _FAR),
    # of CorrelationLab
    "rho": (-1, 1),
    "rho_hat": (-1, 1),
    "scale": (0.01, 10),
    "step": (1, 3),
    # of MemorizationLab
    "copied": (0, 1),
    "jitter": (0, 1),
    "bandwidth": (0, 10),
    "spread": (0.1, 3),
    "points": (1, 10**7),  # of a user's own; those that the lab draws have narrower ones
    "selected": (0, 10**7),
    "fid_test": (0, 1),
    "fld": (0, 1),
}
# Of them those that count; js/bounds.js has the same.
WHOLE = frozenset({"rev", "samples", "seed", "count", "redraws", "step", "points", "selected"})


def number(value: Any, field: str, where: str = "") -> float:
    """`value` as a float within the bounds of `field`; InvalidInput names `where`, or the field."""
    low, high = BOUNDS[field]
    return check_number(_no_text(value, where or field), where or field, minimum=low, maximum=high)


def whole(value: Any, field: str, where: str = "") -> int:
    """`value` as an int within the bounds of `field`; InvalidInput names `where`, or the field."""
    low, high = BOUNDS[field]
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
