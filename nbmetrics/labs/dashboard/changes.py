"""What can be done to the clients: taken together, left out, cut into their classes, one class moved.

    {"do": "merge", "clients": ["isle", "south"], "name": "coast"}    {"do": "drop", "clients": ["north"], "name": ""}
    {"do": "split", "clients": ["east"], "name": ""}    {"do": "move", "clients": ["east", "west"], "name": "cat"}

A move takes the class `name` from the first client to the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import InvalidInput, check_list, check_names, shown
from ...federation import Federation
from ..toolkit.fields import facts, listed
from ..toolkit.schema import read

_FIELDS = facts(__package__, "scene.json")["fields"]
MOST_CLIENTS = int(_FIELDS["weights"]["to"])
# Fewest and most clients that each is of.
COUNTS = {"merge": (2, MOST_CLIENTS), "drop": (1, MOST_CLIENTS), "split": (1, 1), "move": (2, 2)}


@dataclass(frozen=True)
class Change:
    """One change of the clients: merge, drop, split or move.

    Attributes
    ----------
    do : one of `COUNTS`
    clients : those that it is done to
    name : of what merged clients become, or the class that is moved; "" of the others
    """

    do: str
    clients: tuple[str, ...]
    name: str = ""

    @classmethod
    def parse(cls, value: Any, where: str = "regroup") -> Change:
        """From a dict; raises `InvalidInput` naming what is wrong."""
        change = read(value, _FIELDS["regroup"]["list"], where)
        do, clients, name = change["do"], change["clients"], change["name"]
        listed(clients, f"{where}.clients", *COUNTS[do])
        clients = check_names(list(clients), f"{where}.clients")
        if do == "merge":
            (name,) = check_names([name], f"{where}.name")
        return cls(do, tuple(clients), name)

    def to_json(self) -> dict[str, Any]:
        """The dict that `parse` reads."""
        return {"do": self.do, "clients": list(self.clients), "name": self.name}

    def apply(self, federation: Federation) -> Federation:
        """Return the federation after this change; InvalidInput where it cannot be made."""
        match self.do:
            case "merge":
                return federation.merge(self.name, self.clients)
            case "drop":
                return federation.drop(self.clients)
            case "split":
                return federation.split_classes(self.clients[0])
            case _:
                return federation.move_class(self.name, *self.clients)

    def reweight(self, weights: Mapping[str, float], before: Federation, after: Federation) -> dict[str, float]:
        """Return the weights of clients of `after`: a merged client has the sum, rows that move take their share."""
        kept = {name: weights[name] for name in after.names if name in weights}
        first = self.clients[0]
        match self.do:
            case "merge":
                return {**kept, self.name: sum(weights[name] for name in self.clients)}
            case "split":
                new = [name for name in after.names if name not in before.names]
                return {**kept, **{name: weights[first] * after[name].size / before[first].size for name in new}}
            case "move":
                moved = weights[first] * (1 - after[first].size / before[first].size)
                return {**kept, first: weights[first] - moved, self.clients[1]: weights[self.clients[1]] + moved}
            case _:
                return kept


def changes_of(value: Any) -> tuple[Change, ...]:
    """Return the changes of a scene, in their order."""
    return tuple(Change.parse(change, f"regroup[{i}]") for i, change in enumerate(value))


def parse_changes(merge: Any, drop: Any, split: Any, move: Any) -> tuple[Change, ...]:
    """Return the changes that the arguments of `regroup` ask for, in the order in which they are made."""
    merge = {} if merge is None else merge
    if not isinstance(merge, Mapping):
        raise InvalidInput("merge", f"got {shown(merge)}", "Give a dict from a new name to the clients it joins")
    moves = [("move", _triple(one)) for one in _several(move, "move")]
    wanted = [
        *({"do": do, "clients": clients, "name": str(label)} for do, (label, *clients) in moves),
        *({"do": "split", "clients": [name], "name": ""} for name in _names(split, "split")),
        *({"do": "merge", "clients": _names(clients, "merge"), "name": name} for name, clients in merge.items()),
    ]
    if dropped := _names(drop, "drop"):
        wanted.append({"do": "drop", "clients": dropped, "name": ""})
    return tuple(Change.parse(one, str(one["do"])) for one in wanted)


def _names(value: Any, argument: str) -> list[Any]:
    return [value] if isinstance(value, str) else check_list(value, argument, is_ordered=False)


def _several(value: Any, argument: str) -> list[Any]:
    moves = check_list(value, argument)
    is_one = len(moves) == 3 and not any(isinstance(part, (list, tuple)) for part in moves)
    return [moves] if is_one else moves


def _triple(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)) and len(value) == 3:
        return list(value)
    fix = "Give (class, client that has it, client that gets it), or a list of such"
    raise InvalidInput("move", f"got {shown(value)}", fix)
