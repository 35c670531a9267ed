"""What the sums of a `Score` are of, kept beside them, so that sums of other clients or settings are not added."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..errors import InvalidInput, shown
from ..tables import check_same_order, parsed_columns

# Of one from a file, or four times one's own: JSON takes up to 20 times as much memory when it is parsed.
MAX_BYTES = 2**22


class Identity(NamedTuple):
    """The metric with its settings, the weights of the clients by name (None: their shares of the rows), the convention
    of the extractor (None: no image came), and what the features are called (None: no table came)."""

    metric: str
    weights: dict[str, float | None]
    extractor: str | None
    columns: tuple[str, ...] | None = None

    def to_tensor(self) -> Tensor:
        """Return this as text in bytes on the CPU, which process groups and checkpoints take."""
        text = json.dumps(self._asdict(), ensure_ascii=False).encode("utf-8", "backslashreplace")
        if len(text) > MAX_BYTES and self.columns:  # another Score would not parse it
            return self._replace(columns=None).to_tensor()
        return torch.frombuffer(bytearray(text), dtype=torch.uint8)

    @classmethod
    def parse(cls, state: Any, most: float = math.inf) -> Identity | None:
        """Return the identity in a tensor, or None where it contains none, or is of more than `most` bytes."""
        is_read = torch.is_tensor(state) and state.dtype == torch.uint8 and state.layout == torch.strided
        if not is_read or state.is_meta or state.ndim != 1 or state.numel() > most:
            return None
        try:
            identity = cls(**json.loads(state.cpu().numpy().tobytes()))
            identity = identity._replace(columns=parsed_columns(identity.columns, state.numel()))
            shares = [share for share in identity.weights.values() if share is not None]
        except (ValueError, TypeError, AttributeError, RecursionError):
            return None
        is_sound = isinstance(identity.metric, str) and isinstance(identity.extractor, str | None)
        return identity if is_sound and all(isinstance(s, float) and 0.0 <= s <= 1.0 for s in shares) else None

    def places_in(self, other: Identity) -> list[int] | None:
        """Return where each client of this is among the other's, None where the order is the same."""
        places = {name: place for place, name in enumerate(other.weights)}
        return None if [*places] == [*self.weights] else [places[name] for name in self.weights]


def check_same(named: Sequence[tuple[str, Identity]], argument: str = "") -> None:
    """Raise InvalidInput where identities, each with who has it, differ in more than the order of the clients.

    It names `argument`, or else what differs. Those without an extractor or columns fit to all others.
    """
    made = [item for item in named if item[1].extractor]
    for (here, one), (there, other) in [(side[0], later) for side in (named, made) for later in side[1:]]:
        sides = (other, one)
        unlike = [name for name in one.weights if not _is_same(one.weights[name], other.weights.get(name))]
        if one.metric != other.metric:
            what, said = "metric", [side.metric for side in sides]
        elif one.weights.keys() != other.weights.keys():
            shared = one.weights.keys() & other.weights.keys()
            what, said = "clients", [listed(sorted(side.weights, key=shared.__contains__)) for side in sides]
        elif unlike:
            what, said = "weights", [f"{side.weights[unlike[0]]} for {shown(unlike[0])}" for side in sides]
        elif one.extractor and other.extractor and one.extractor != other.extractor:
            what, said = "extractor", [shown(side.extractor, 300) for side in sides]
        else:
            continue
        seen = f"{there} has {said[0]}, {here} has {said[1]}"
        seen = f"differs in {what}: {seen}" if argument else seen
        raise InvalidInput(argument or what, seen, f"Use the same {what}{', in any order' * (what == 'clients')}")
    check_same_order([(who, one.columns) for who, one in named], argument or "columns")


def _is_same(weight: float | None, other: float | None) -> bool:
    """Whether two weights are the same but for rounding, as they were divided by their sum."""
    return math.isclose(*(-1.0 if share is None else share for share in (weight, other)), abs_tol=1e-9)


def listed(values: Iterable[Any], most: int = 5) -> str:
    """Return values as a message shows them, the first of many."""
    texts = [shown(value) for value in values]
    return ", ".join(texts[:most]) + f", … ({len(texts)} in all)" * (len(texts) > most)
