"""What every scene checks first: JSON text or a dict, and no field that it does not know."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from ..errors import InvalidInput, shown


def fields_of(value: Any, known: Collection[str], needed: Collection[str] = ()) -> Mapping[str, Any]:
    """The fields of a scene's dict or JSON text; InvalidInput where one is missing or unknown."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise InvalidInput("scene", f"is not JSON: {error}", "Give the dict of a lab's scene") from None
    if not isinstance(value, Mapping) or not set(needed) <= set(value) <= set(known):
        seen = sorted(map(str, value)) if isinstance(value, Mapping) else shown(value)
        raise InvalidInput("scene", f"got {seen}", f"Give the fields {', '.join(sorted(known))}")
    return value
