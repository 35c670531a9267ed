"""Read JSON from elsewhere: text or a dict, no field unknown, no list too long."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from importlib import resources
from typing import Any

from ...errors import InvalidInput, shown


class UnknownField(InvalidInput):
    """A dict has a field that this version does not know: a typing error, or what a later version wrote."""


def facts(package: str | None, name: str) -> Any:
    """Return the content of a JSON file beside a lab, which its page reads too."""
    return json.loads(resources.files(package or __package__).joinpath(name).read_text("utf-8"))


def listed(value: Any, where: str, least: int, most: int) -> list[Any]:
    """Return `value` as a list of `least` to `most` items; nothing endless is asked for its items."""
    if not isinstance(value, (list, tuple)):
        raise InvalidInput(where, f"got {shown(value)}", "Give a list")
    if not least <= len(value) <= most:
        raise InvalidInput(
            where, f"has {len(value)} items", f"Give {least} to {most}" if least < most else f"Give {most}"
        )
    return list(value)


def loaded(text: str | bytes, where: str) -> Any:
    """Return the value of JSON text."""
    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidInput(where, "is JSON nested too deep", "Give the JSON of a dict") from None
    except ValueError as error:
        raise InvalidInput(where, f"is not JSON: {error}", "Mend it") from None


def fields_of(value: Any, known: Collection[str], needed: Collection[str], where: str) -> Mapping[str, Any]:
    """Return `value`, if it is a dict with all fields of `needed` and none that is not `known`."""
    if not isinstance(value, Mapping) or not set(needed) <= set(value) <= set(known):
        seen = sorted(map(str, value)) if isinstance(value, Mapping) else value
        is_newer = isinstance(value, Mapping) and set(needed) <= set(value)
        kind = UnknownField if is_newer else InvalidInput
        raise kind(where, f"got {shown(seen, 200)}", f"Give the fields {', '.join(sorted(known))}")
    return value
