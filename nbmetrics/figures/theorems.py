"""Both sides of a theorem, drawn against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidInput, shown
from ..ranking import numeral
from .drawing import COLOURS, GREY, MARKERS, Drawing, legend, panels, plain


def sides(claims: Mapping[str, Mapping[str, Sequence[Any]]]) -> Drawing:
    """One panel a claim, such as "FID-all ≤ FID-avg; squared units": its left side upwards, its right side across.

    A claim "left = right" puts every point on the diagonal, "left ≤ right" none above it, where the panel is shaded.
    The title says what came out.

    Parameters
    ----------
    claims : claim -> name of a group of points -> pairs (left, right), such as `nm.theory.Sides` or
        `nm.theory.AvgBound`; the claim may end in the unit of both sides, after a semicolon

    Raises
    ------
    InvalidInput
        Where there is no claim, one has neither = nor ≤, or a group is not (k, 2) finite numbers with k ≥ 1.
    """
    if not isinstance(claims, Mapping) or not claims:
        raise InvalidInput("claims", f"got {shown(claims)}", "Give a dict claim → group → pairs (left, right)")
    figure, axes = panels(len(claims), width=4.2, height=4.2)
    looks: dict[str, dict[str, Any]] = {}
    for ax, (claim, groups) in zip(axes, claims.items(), strict=True):
        relation, left, right = _read(claim)
        if not isinstance(groups, Mapping) or not groups:
            raise InvalidInput(f"claims[{claim!r}]", f"got {shown(groups)}", "Give a dict group → pairs (left, right)")
        points_of = {name: _pairs(name, pairs) for name, pairs in groups.items()}
        for name, points in points_of.items():
            k = len(looks)
            look = looks.setdefault(name, {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]})
            style = {"s": 36, "edgecolors": "white", "linewidths": 0.5, "zorder": 2}
            ax.scatter(points[:, 1], points[:, 0], label=plain(name), **look, **style)
        _line(ax, relation, np.concatenate(list(points_of.values())))
        ax.set(xlabel=right, ylabel=left)
    legend(figure, *axes, columns=2 * len(claims))
    return figure


def _read(claim: Any) -> tuple[str, str, str]:
    """The relation of a claim and the labels of its two sides."""
    text, _, unit = plain(claim).partition("; ")
    for relation in ("≤", "="):
        left, sign, right = text.partition(f" {relation} ")
        if sign:
            end = f" ({unit})" if unit else ""
            return relation, left + end, right + end
    raise InvalidInput("claims", f"a claim is {shown(claim)}", "Write it as 'left = right' or 'left ≤ right'")


def _line(ax: Any, relation: str, points: np.ndarray) -> None:
    """The diagonal, the side of it where an inequality fails, and what came out."""
    low, high = points.min(), points.max()
    margin = 0.06 * (high - low) or 1.0
    ends = low - margin, high + margin
    ax.plot(ends, ends, color=GREY, linewidth=1, label="both sides equal", zorder=1)
    if relation == "≤":
        ax.fill_between(ends, ends, ends[1], color=GREY, alpha=0.15, linewidth=0, label="where the claim fails")
    ax.set(xlim=ends, ylim=ends, aspect="equal")
    ax.set_title(_verdict(relation, points), fontsize=10)


def _pairs(name: str, group: Any) -> np.ndarray:
    try:
        points = np.array([tuple(pair) for pair in group], dtype=float)
    except (TypeError, ValueError):
        points = np.empty((0, 2))
    if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
        raise InvalidInput(f"claims, {name!r}", f"got {shown(group)}", "Give pairs (left, right) of finite numbers")
    return points


def _verdict(relation: str, points: np.ndarray) -> str:
    """How far the sides are apart, or how many points are above the diagonal by more than rounding."""
    apart = points[:, 0] - points[:, 1]
    if relation == "=":
        furthest = numeral(np.abs(apart).max(), ".1g", beside=np.abs(points).max())
        return f"apart by {furthest} at most"
    above = int((apart > 1e-9 * np.abs(points).max()).sum())
    return f"holds for {len(points) - above} of {len(points)}"
