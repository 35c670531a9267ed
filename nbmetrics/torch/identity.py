"""What the sums of a `Score` are of, kept beside them, so that sums of other clients or settings are not added."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..errors import InvalidInput, shown

# Of one from a file, or four times one's own: JSON takes up to 20 times as much memory when it is parsed.
MAX_BYTES = 2**22


class Identity(NamedTuple):
    """The metric with its settings, the weights of the clients by name (None: their shares of the rows), and the
    convention of the extractor (None: no image came)."""

    metric: str
    weights: dict[str, float | None]
    extractor: str | None

    def to_tensor(self) -> Tensor:
        """Return this as text in bytes on the CPU, which process groups and checkpoints take."""
        text = json.dumps(self._asdict(), ensure_ascii=False).encode("utf-8", "backslashreplace")
        return torch.frombuffer(bytearray(text), dtype=torch.uint8)

    @classmethod
    def parse(cls, state: Any, most: float = math.inf) -> Identity | None:
        """Return the identity in a tensor, or None where it contains none, or is of more than `most` bytes."""
        is_read = torch.is_tensor(state) and state.dtype == torch.uint8 and state.layout == torch.strided
        if not is_read or state.is_meta or state.ndim != 1 or state.numel() > most:
            return None
        try:
            metric, weights, extractor = identity = cls(**json.loads(state.cpu().numpy().tobytes()))
            shares = [share for share in weights.values() if share is not None]
        except (ValueError, TypeError, AttributeError, RecursionError):
            return None
        is_sound = isinstance(metric, str) and isinstance(extractor, str | None)
        return identity if is_sound and all(isinstance(s, float) and 0.0 <= s <= 1.0 for s in shares) else None

    def order_of(self, other: Identity, here: str, there: str, argument: str = "") -> list[int] | None:
        """Return where each client of this is among the other's, None where the order is the same.

        Raises InvalidInput that names `argument`, or else what differs, and both sides as `here` and `there`.
        """
        (metric, weights, extractor), sides = self, (other, self)
        unlike = [name for name in weights if not _is_same(weights[name], other.weights.get(name))]
        if metric != other.metric:
            what, said = "metric", [one.metric for one in sides]
        elif weights.keys() != other.weights.keys():
            shared = weights.keys() & other.weights.keys()
            what, said = "clients", [listed(sorted(one.weights, key=shared.__contains__)) for one in sides]
        elif unlike:
            what, said = "weights", [f"{one.weights[unlike[0]]} for {shown(unlike[0])}" for one in sides]
        elif extractor and other.extractor and extractor != other.extractor:
            what, said = "extractor", [shown(one.extractor, 300) for one in sides]
        else:
            places = {name: place for place, name in enumerate(other.weights)}
            return None if [*places] == [*weights] else [places[name] for name in weights]
        seen = f"{there} has {said[0]}, {here} has {said[1]}"
        seen = f"differs in {what}: {seen}" if argument else seen
        raise InvalidInput(argument or what, seen, f"Use the same {what}{', in any order' * (what == 'clients')}")


def _is_same(weight: float | None, other: float | None) -> bool:
    """Whether two weights are the same but for rounding, as they were divided by their sum."""
    return math.isclose(*(-1.0 if share is None else share for share in (weight, other)), abs_tol=1e-9)


def listed(values: Iterable[Any], most: int = 5) -> str:
    """Return values as a message shows them, the first of many."""
    texts = [shown(value) for value in values]
    return ", ".join(texts[:most]) + f", … ({len(texts)} in all)" * (len(texts) > most)
