"""What the sums of a `Score` are of, kept beside them, so that sums of other clients or settings are not added."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from ..errors import InvalidInput, shown

MAX_BYTES = 2**28
# Relative: weights that were divided by their sum in another order differ by rounding.
SAME_WEIGHT = 1e-9
# Texts that a message shows of each side.
MAX_TEXT = 300


@dataclass(frozen=True)
class Identity:
    """The metric with its settings, the clients, their weights, and what made rows of images.

    Attributes
    ----------
    weights : in the order of the clients; None where they are the shares of the rows
    extractor : the convention of the extractor; None where no image came
    """

    metric: str
    convention: str
    clients: tuple[str, ...]
    weights: tuple[float, ...] | None
    extractor: str | None

    def to_tensor(self) -> Tensor:
        """Return this as text in bytes, which every process group and checkpoint takes; on the CPU."""
        text = json.dumps(asdict(self), ensure_ascii=False).encode("utf-8", "backslashreplace")
        return torch.frombuffer(bytearray(text), dtype=torch.uint8)

    @classmethod
    def parse(cls, state: Any) -> Identity | None:
        """Return the identity in a tensor, or None where it contains none."""
        is_read = torch.is_tensor(state) and state.dtype == torch.uint8 and state.layout == torch.strided
        if not is_read or state.is_meta or state.ndim != 1 or state.numel() > MAX_BYTES:
            return None
        try:
            facts = json.loads(state.cpu().numpy().tobytes())
            clients, weights = facts.pop("clients"), facts.pop("weights")
            identity = cls(**facts, clients=tuple(clients), weights=None if weights is None else tuple(weights))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        texts = [identity.metric, identity.convention, *identity.clients, identity.extractor or ""]
        numbers = identity.weights or ()
        is_sound = all(isinstance(text, str) for text in texts) and len(set(clients)) == len(clients) > 0
        is_sound = is_sound and all(isinstance(w, float) and 0.0 <= w <= 1.0 for w in numbers)
        return identity if is_sound and (weights is None or len(numbers) == len(clients)) else None

    def order_of(self, other: Identity, here: str, there: str, argument: str = "") -> list[int] | None:
        """Return where each client of this is among the other's, None where the order is the same.

        Raises InvalidInput that names `argument`, or else what differs, and both sides as `here` and `there`.
        """
        if difference := self._difference(other):
            what, own, others, fix = difference
            seen = f"{there} has {others}, {here} has {own}"
            raise InvalidInput(argument or what, f"differs in {what}: {seen}" if argument else seen, fix)
        if self.clients == other.clients:
            return None
        places = {name: place for place, name in enumerate(other.clients)}
        return [places[name] for name in self.clients]

    def _difference(self, other: Identity) -> tuple[str, str, str, str] | None:
        """Return what differs, how it is in this and in the other, and the fix."""
        if self._settings != other._settings:
            fix = "Use the same metric with the same settings"
            return "metric", self._settings, other._settings, fix
        if {*self.clients} != {*other.clients}:
            fix = "Use the same clients, in any order"
            return "clients", self._names(other), other._names(self), fix
        if (self.weights is None) != (other.weights is None):
            own, others = ("none" if one.weights is None else _some(one.weights) for one in (self, other))
            return "weights", own, others, "Use the same weights, or leave them out everywhere"
        shares = dict(zip(other.clients, other.weights or (), strict=False))
        for name, weight in zip(self.clients, self.weights or (), strict=False):
            if not math.isclose(weight, shares[name], rel_tol=SAME_WEIGHT, abs_tol=SAME_WEIGHT):
                own, others = (f"{share:.6g} for {shown(name)}" for share in (weight, shares[name]))
                return "weights", own, others, "Use the same weights"
        if self.extractor and other.extractor and self.extractor != other.extractor:
            own, others = (shown(one.extractor, MAX_TEXT) for one in (self, other))
            return "extractor", own, others, "Make all rows with the same network, which is not trained in between"
        return None

    @property
    def _settings(self) -> str:
        return f"{shown(self.metric)} ({shown(self.convention, MAX_TEXT)})"

    def _names(self, other: Identity) -> str:
        """The names as a message shows them, those that the other lacks first."""
        theirs = {*other.clients}
        return _some(sorted(self.clients, key=theirs.__contains__))


def _some(values: Sequence[Any], most: int = 5) -> str:
    return ", ".join(map(shown, values[:most])) + f", … ({len(values)} in all)" * (len(values) > most)
