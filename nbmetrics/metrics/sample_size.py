"""Who has too few rows, in words."""

from __future__ import annotations

from collections.abc import Sequence

from .base import Sample


def few_rows(needed: int, **sides: Sequence[Sample]) -> str:
    """Whose rows are fewer than needed, with its verb ("the client has", "2 of 3 clients have"), or nothing."""
    numbers = {name: sum(s.size is not None and s.size < needed for s in side) for name, side in sides.items()}
    who = [
        f"the {name}" if len(sides[name]) == 1 else f"{few} of {len(sides[name])} {name}s"
        for name, few in numbers.items()
        if few
    ]
    is_one = len(who) == 1 and who[0].startswith("the ")
    return f"{' and '.join(who)} {'has' if is_one else 'have'}" if who else ""
