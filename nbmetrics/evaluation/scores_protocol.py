"""What is read of `Scores` by those who know them, not they it: figures, printed tables, tests of a gap, models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .cells import Cells, Values

if TYPE_CHECKING:
    import pandas as pd


class ScoresProtocol(Protocol):
    """What figures, printed tables and tests of a gap read of `Scores`, which know them, not they it."""

    names: tuple[str, ...]
    generators: tuple[str, ...]
    metrics: tuple[str, ...]
    weights: tuple[float, ...]
    groups: tuple[str | None, ...]
    provenance: dict[str, Any]

    @property
    def table(self) -> pd.DataFrame: ...

    @property
    def clients(self) -> pd.DataFrame: ...

    @property
    def conventions(self) -> list[str]: ...

    @property
    def cautions(self) -> list[str]: ...

    def summary(self) -> list[str]: ...

    def label(self, metric: str) -> str: ...

    def plain_label(self, metric: str) -> str: ...

    def result(self, metric: str) -> Cells: ...

    def losses(self, metric: str) -> Values: ...

    def values(self, metric: str) -> Values: ...
