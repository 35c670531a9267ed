"""The cards of MemorizationLab: nine scores of generated rows, and what FLD's density says of each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from ...errors import InvalidInput
from ...metrics import CT, FID, FLD, AuthPct, Precision, Recall, Sample
from ...metrics.copying import authentic, nearest_train_rows
from ...metrics.fld import Fitted, fitted_density, fitted_quality
from ...metrics.nearest_neighbors import Neighbors
from ...metrics.prdc import distinct_of
from ...summaries.rows import Rows
from .scene import CARDS as FACTS

# Where a better generator is to be found.
BETTER = {name: card["better"] for name, card in FACTS.items()}
CARDS = tuple(FACTS)
# What is computed of generated rows, in this order; the last of those shown alone.
PARTS = ("density", "nearest", *CARDS, "quality")

Card = float | None


@dataclass(frozen=True, eq=False)
class Judgement:
    """The scores and nearest rows of one generated set.

    Attributes
    ----------
    cards : by name; None where `missing` says why
    fitted, quality : of FLD's density, and how likely each row is under that of the test rows
    nearest, distance : of each row's nearest train row, in the units of the features
    """

    cards: dict[str, Card]
    missing: dict[str, str]
    fitted: Fitted
    quality: np.ndarray
    nearest: np.ndarray
    distance: np.ndarray


def ignore_part(part: str) -> None:
    """Ignore the name of the part that is computed."""


class Judge:
    """Scores generated rows against train and test rows (n, d); what depends on those alone is computed once.

    `on_part` hears the name of each part before it is computed: one of `PARTS`.
    """

    def __init__(
        self, train: np.ndarray, test: np.ndarray, seed: int, on_part: Callable[[str], None] = ignore_part
    ) -> None:
        self.seed, self.on_part = seed, on_part
        self.real = Rows.of(Sample(rows=train, test=test))
        self.fid, self.c_t = FID(), CT(seed)
        self.train, self.test = (self.fid.summarize(Sample(rows=rows)) for rows in (train, test))
        # k = 5 as in the experiments, against rows that neither the generator nor the density has seen
        self.held_out = Rows.of(Sample(rows=test))
        self.precision, self.recall = Precision(), Recall()

    @property
    def conventions(self) -> list[str]:
        """How each card is computed."""
        metrics = (FLD(self.seed), self.fid, self.c_t, AuthPct(), self.precision, self.recall)
        return [metric.convention for metric in metrics]

    def cards(self, generated: np.ndarray) -> dict[str, Card]:
        """Return the cards of generated rows (m, d) by name."""
        return self.compute_cards(generated)[0]

    def compute_cards(self, generated: np.ndarray) -> tuple[dict[str, Card], dict[str, str]]:
        """Return the cards by name, and the reasons of those that have no value."""
        return self._compute(generated)[:2]

    def judgement_of(self, generated: np.ndarray) -> Judgement:
        """Return all that is shown of generated rows (m, d)."""
        cards, missing, fitted, near = self._compute(generated)
        self.on_part("quality")
        quality = np.asarray(fitted_quality(self.real, generated))
        return Judgement(cards, missing, fitted, quality, near.index, np.sqrt(near.squared))

    def _compute(self, generated: np.ndarray) -> tuple[dict[str, Card], dict[str, str], Fitted, Neighbors]:
        """Return the cards, why some have no value, and the density and neighbours they come from."""
        rows = Rows.of(Sample(rows=generated))
        self.on_part("density")
        fitted = fitted_density(self.real, generated, self.seed)
        self.on_part("nearest")
        near = nearest_train_rows(distinct_of(rows), distinct_of(self.real))
        moments = cache(lambda: self.fid.summarize(Sample(rows=generated)))
        scores: dict[str, Callable[[], float]] = {
            "fld": lambda: fitted.fld,
            "fld_train": lambda: fitted.fld_train,
            "fld_gap": partial(_gap, fitted),
            "fid_train": lambda: self.fid.distance(self.train, moments()),
            "fid_test": lambda: self.fid.distance(self.test, moments()),
            "c_t": lambda: self.c_t.distance(self.real, rows),
            "auth_pct": lambda: authentic(near, distinct_of(self.real)),
            "precision": partial(_overlap, self.precision, self.held_out, rows),
            "recall": partial(_overlap, self.recall, self.held_out, rows),
        }
        cards: dict[str, Card] = {}
        missing: dict[str, str] = {}
        for name, score in scores.items():
            self.on_part(name)
            try:
                cards[name] = score()
            except InvalidInput as error:
                cards[name], missing[name] = None, f"{error.argument}: {error.seen}"
        return cards, missing, fitted, near


def _gap(fitted: Fitted) -> float:
    if np.isnan(fitted.gap):
        seen = "every generated row is an exact copy: neither train nor test is likely, and their gap is chance"
        raise InvalidInput("FLD gap", seen, "Read FLD, or add rows that are not copies")
    return fitted.gap


def _overlap(metric: Precision | Recall, test: Rows, made: Rows) -> float:
    fewest = min(test.rows.shape[0], made.rows.shape[0])
    if fewest < metric.min_rows:
        seen = f"{fewest} row{'s' * (fewest != 1)} on one side, and it needs {metric.min_rows}"
        raise InvalidInput(metric.label, seen, "Give more rows")
    return metric.distance(test, made)
