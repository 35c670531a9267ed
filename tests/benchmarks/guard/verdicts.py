"""When a figure is red: slower than the parent in the first measurement and in every repeat, or more than is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

# Of the present time over the parent's.
MAX_RATIO = 1.2
REPEATS = 3
# Of a count over the stored one: memory is not the same in every run, calls are by the way a figure goes.
MAX_GROWTH = {"peak_mib": 1.15, "calls": 1.1, "eigenproblems": 1.0, "modules": 1.1, "numbers": 1.1}


class Verdict(NamedTuple):
    """One figure: its ratios in the order measured, and what is to be said of it."""

    name: str
    ratios: tuple[float, ...] = ()
    skipped: str = ""
    faults: tuple[str, ...] = ()

    @property
    def is_red(self) -> bool:
        return bool(self.faults)


def judge(name: str, measure: Callable[[], float]) -> Verdict:
    """Return the verdict on a ratio; one that is too high counts only where all repeats are too high as well."""
    ratios = [measure()]
    while ratios[-1] > MAX_RATIO and len(ratios) <= REPEATS:
        ratios.append(measure())
    if ratios[-1] <= MAX_RATIO:
        return Verdict(name, tuple(ratios))
    return Verdict(
        name, tuple(ratios), faults=(f"{min(ratios):.2f} times the parent's time or more, {len(ratios)} times",)
    )


def grown(counts: Mapping[str, float], stored: Mapping[str, float] | None) -> tuple[str, ...]:
    """Return what is to be said of counts that are more than the stored ones, and of those that are not stored."""
    if stored is None:
        return ("its counts are not stored: make bench-guard STORE=1",)
    return tuple(
        f"{what} {value:g}, stored {stored.get(what, 0):g}"
        for what, value in counts.items()
        if value > MAX_GROWTH[what] * stored.get(what, 0)
    )


def summary(verdicts: Iterable[Verdict]) -> str:
    """Return the line that ends a run: every red figure by its name."""
    red = [verdict.name for verdict in verdicts if verdict.is_red]
    return f"RED: {'; '.join(red)}" if red else "green"
