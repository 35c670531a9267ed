"""DashboardScene: what a Dashboard shows of its scores, as declared in scene.json, which the page reads too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import InvalidInput, check_names, check_weights
from ..toolkit.schema import DeclaredScene, choices
from .changes import Change, changes_of


@dataclass(frozen=True)
class DashboardScene(DeclaredScene):
    """Weights of the clients, generators on show, and how they are looked at; the scores are no part of it.

    Attributes
    ----------
    metric, by, colour, order : how the scores are looked at
    weights : of the clients in their order; they count by their shares
    generators : those on show
    held : clients whose share stays while others are moved
    client, generator : the one selection, "" for none
    regroup : what was done to the clients as given, step by step; the other fields are of those that there are then
    """

    metric: str
    weights: tuple[float, ...]
    generators: tuple[str, ...]
    held: tuple[str, ...]
    by: str
    colour: str
    order: str
    client: str
    generator: str
    regroup: tuple[Change, ...]

    @classmethod
    def complete(cls, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields with each step of `regroup` as a Change."""
        return {**fields, "regroup": changes_of(fields["regroup"])}

    def check(self) -> None:
        """Raise `InvalidInput` where all weights are 0, a name occurs twice, or more are held than there are."""
        count = len(self.weights)
        check_weights(self.weights, count)
        check_names(list(self.generators), "generators")
        if self.held:
            check_names(list(self.held), "held")
        if len(self.held) > count:
            raise InvalidInput("held", f"has {len(self.held)} items", f"Give 0 to {count}")

    @property
    def shares(self) -> tuple[float, ...]:
        """λ: the weights, divided by their sum."""
        return check_weights(self.weights, len(self.weights))

    def to_code(self, making: str = "") -> str:
        """Return Python that shows this state again, in the lab that `making` makes of the data in the notebook."""
        return super().to_code(making or made_of_rows([self.metric]))


MOST_GENERATORS = int(DashboardScene.declared["fields"]["generators"]["to"])
AGGREGATES = choices(DashboardScene, "by")
COLOURS = choices(DashboardScene, "colour")
ORDERS = choices(DashboardScene, "order")
GIVEN, ALIKE = "As given", "All clients alike"


def starts(metric: str, weights: Sequence[float], generators: Sequence[str]) -> dict[str, DashboardScene]:
    """The presets: weights as given, and alike."""
    k = len(weights)
    common = {"metric": metric, "generators": list(generators)}
    given = {GIVEN: list(weights), ALIKE: [1.0 / k] * k}
    return {name: DashboardScene.parse({"weights": w, "preset": name, **common}) for name, w in given.items()}


def made_of_rows(metrics: Sequence[str]) -> str:
    """Python that makes a Dashboard of a federation."""
    given = f"federation, generators, {_text(list(metrics))}"
    return f"# federation and generators are those that this Dashboard was made from\nlab = nm.Dashboard({given})"


def made_of_table(label: str, higher_is_better: bool) -> str:
    """Python that makes a Dashboard of a table."""
    given = f"table, label={_text(label)}, higher_is_better={higher_is_better}"
    return f"# table is the one that this Dashboard was made from\nlab = nm.Dashboard.from_table({given})"


def _text(value: Any) -> str:
    """Return JSON of texts, which is Python too: but for escapes of what needs two of them."""
    return json.dumps(value, ensure_ascii=False)
