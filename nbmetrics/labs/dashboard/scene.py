"""DashboardScene: what a Dashboard shows of its scores, as an immutable, validated value that is plain JSON.

Twin: labs/dashboard/view/shape.js · held by: tests/labs/toolkit/test_share_page.py
Twin: labs/dashboard/view/code.js · held by: tests/labs/dashboard/test_code_page.py

    {"rev": 3, "preset": "As given", "metric": "fid", "weights": [120, 340, …], "held": ["north"], "by": "avg",
     "colour": "regret", "order": "similarity", "generators": ["a", "b", …], "client": "north", "generator": "",
     "groups": [0, 0, 1, …], "regroup": [{"do": "merge", "clients": ["isle", "south"], "name": "coast"}]}

`regroup` is what was done to the clients as given, step by step; the other fields are of those that there are then.
`weights` and `groups` stand for the clients in their order; weights count by their shares. `held` are clients whose
share stays while others are moved. `generators` are those on show. `client` and `generator` are the one selection, ""
for none, and `groups` says which corner of the triangle of weights a client belongs to. The scores are no part of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...errors import LONGEST_NAME, InvalidInput, check_choice, check_names, check_text, check_weights
from ..toolkit.fields import facts, listed, number, scene_fields, whole
from .changes import MOST_CLIENTS, Change, changes_of

_FACTS = facts(__package__, "facts.json")
MOST_GENERATORS = int(_FACTS["most_generators"])
AGGREGATES = tuple(_FACTS["aggregates"])
COLOURS = tuple(_FACTS["colours"])
ORDERS = tuple(_FACTS["orders"])
GIVEN, ALIKE = "As given", "All clients alike"
NEEDED = {"metric", "weights", "generators"}
FIELDS = NEEDED | {"rev", "preset", "held", "by", "colour", "order", "client", "generator", "groups", "regroup"}


@dataclass(frozen=True)
class DashboardScene:
    """Weights of the clients, generators on show, and how they are looked at."""

    metric: str
    weights: tuple[float, ...]
    generators: tuple[str, ...]
    held: tuple[str, ...] = ()
    by: str = AGGREGATES[0]
    colour: str = COLOURS[0]
    order: str = ORDERS[0]
    client: str = ""
    generator: str = ""
    groups: tuple[int, ...] = ()
    regroup: tuple[Change, ...] = ()
    preset: str = ""
    rev: int = 0

    @classmethod
    def parse(cls, value: Any) -> DashboardScene:
        """A scene from a dict (or JSON text); raises `InvalidInput` naming the field that is wrong."""
        value = scene_fields(value, FIELDS, NEEDED)
        weights = _weights(value["weights"])
        return cls(
            metric=check_text(value["metric"], "metric", LONGEST_NAME),
            weights=weights,
            generators=_names(value["generators"], "generators", 1, MOST_GENERATORS),
            held=_names(value.get("held", ()), "held", 0, len(weights)),
            by=check_choice(value.get("by", AGGREGATES[0]), AGGREGATES, "by"),
            colour=check_choice(value.get("colour", COLOURS[0]), COLOURS, "colour"),
            order=check_choice(value.get("order", ORDERS[0]), ORDERS, "order"),
            client=check_text(value.get("client", ""), "client", LONGEST_NAME),
            generator=check_text(value.get("generator", ""), "generator", LONGEST_NAME),
            groups=_groups(value.get("groups", ()), len(weights)),
            regroup=changes_of(value.get("regroup", ())),
            preset=check_text(value.get("preset", ""), "preset", LONGEST_NAME),
            rev=whole(value.get("rev", 0), "rev"),
        )

    def to_json(self) -> dict[str, Any]:
        """The dict that `parse` reads and the view shows."""
        fields = {name: list(part) if isinstance(part, tuple) else part for name, part in asdict(self).items()}
        return {**fields, "regroup": [change.to_json() for change in self.regroup]}

    def at(self, rev: int) -> DashboardScene:
        """The same scene as revision `rev`."""
        return replace(self, rev=rev)

    @property
    def shares(self) -> tuple[float, ...]:
        """λ: the weights, divided by their sum."""
        return check_weights(self.weights, len(self.weights))

    def to_code(self, making: str = "") -> str:
        """Python that shows this state again, in the lab that `making` makes of the data in the notebook."""
        making = making or made_of_rows([self.metric])
        scene = {name: part for name, part in self.to_json().items() if name != "rev"}
        return f"import nbmetrics as nm\n\n{making}\nlab.scene = {_literal(scene, 4)}\nlab\n"


def starts(metric: str, weights: Sequence[float], generators: Sequence[str]) -> dict[str, DashboardScene]:
    """The presets: weights as given, and alike."""
    k = len(weights)
    common = {"metric": metric, "generators": list(generators), "groups": list(thirds(k))}
    given = {GIVEN: list(weights), ALIKE: [1.0 / k] * k}
    return {name: DashboardScene.parse({"weights": w, "preset": name, **common}) for name, w in given.items()}


def made_of_rows(metrics: Sequence[str]) -> str:
    """Python that makes a Dashboard of a federation."""
    given = f"federation, generators, {_literal(list(metrics))}"
    return f"# federation and generators are those that this Dashboard was made of\nlab = nm.Dashboard({given})"


def made_of_table(label: str, higher_is_better: bool) -> str:
    """Python that makes a Dashboard of a table."""
    given = f"table, label={_literal(label)}, higher_is_better={higher_is_better}"
    return f"# table is the one that this Dashboard was made of\nlab = nm.Dashboard.from_table({given})"


def _literal(value: Any, indent: int | None = None) -> str:
    """JSON of texts and numbers, which is Python too: but for escapes of what needs two of them."""
    return json.dumps(value, indent=indent, ensure_ascii=False)


def _weights(value: Any) -> tuple[float, ...]:
    given = listed(value, "weights", 1, MOST_CLIENTS)
    weights = tuple(number(weight, "weights", f"weights[{i}]") for i, weight in enumerate(given))
    check_weights(weights, len(weights))
    return weights


def thirds(clients: int) -> tuple[int, ...]:
    """The corner of the triangle that each client belongs to, unless somebody says."""
    return tuple(3 * i // clients for i in range(clients))


def _groups(value: Any, count: int) -> tuple[int, ...]:
    given = listed(value, "groups", 0, count)
    if given and len(given) != count:
        raise InvalidInput("groups", f"has {len(given)} for {count} weights", "Give one for each client")
    return tuple(whole(group, "groups", f"groups[{i}]") for i, group in enumerate(given))


def _names(value: Any, where: str, least: int, most: int) -> tuple[str, ...]:
    given = listed(value, where, least, most)
    return tuple(check_names(given, where)) if given else ()
