"""Projection: the plane in which rows of any width are shown, two straight directions among their features.

It is an affine map, x ↦ (x − centre) · axes, so the mean and covariance of what is shown are those of the features,
projected. Scores never see it. A scene says in its field `plane` which features it stands for and what is shown:

    {"dim": 128, "kind": "pca", "columns": [], "words": "Across and up: …"}

`kind` is "pca", "lda", "numbered" or "named"; the last two have the two `columns`, as text.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import row_blocks, to_float64, to_numpy
from ...distributions import Distribution, Gaussian, has_moments
from ...errors import InvalidInput, check_choice, check_names, shown
from ...federation import Federation
from ...lazy_imports import unmoved_random_state
from ..plane.distributions import summary
from ..toolkit.fields import listed
from ..toolkit.schema import literal

# Numbers that a plane is fitted to: of more rows, so many evenly spread.
MAX_VALUES_FITTED = 20_000_000
# Rows drawn of a distribution, for its points and where it has no moments.
POINTS_DRAWN = 1_000
# Standard deviations of the picture within which its units are those of the features.
USUAL_SIZES = (0.01, 10_000.0)
# Rows a feature below which LDA is not believed: it finds a direction that parts few rows, whatever they are.
MIN_ROWS_PER_FEATURE = 10
# Of the spread of rows, what is left of it where they have one direction only.
ROUNDING = 1e-9
_FIX = 'Give "pca", "lda", or two columns by number or by name, such as plane=(0, 5)'


def check_columns(about: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` where the `columns` in a scene's `plane` do not fit its kind."""
    kind, columns = about["kind"], about["columns"]
    count = 2 if kind in ("numbered", "named") else 0
    listed(columns, "plane.columns", count, count)
    if kind == "numbered" and not all(c.isascii() and c.isdigit() and len(c) < 9 for c in columns):
        raise InvalidInput("plane.columns", f"got {shown(list(columns))}", "Give whole numbers as text")


def argument_of(about: Mapping[str, Any]) -> str:
    """Return the argument `, plane=…` of code, or "" for the default."""
    if about["kind"] in ("numbered", "named"):
        first, second = (c if about["kind"] == "numbered" else literal(c) for c in about["columns"])
        return f", plane=({first}, {second})"
    return "" if about["kind"] == "pca" else f", plane={literal(about['kind'])}"


@dataclass(frozen=True, eq=False)
class Projection:
    """x ↦ (x − centre) · axes, of `dim` features to the plane; `about` is what a scene says of it."""

    centre: np.ndarray
    axes: np.ndarray
    about: Mapping[str, Any]

    @classmethod
    def of(cls, federation: Federation, plane: Any = "pca") -> Projection:
        """The plane of the clients' rows (distributions by 1,000 rows drawn of each).

        Parameters
        ----------
        plane : "pca", the first two principal components of all rows together; "lda", the two directions that tell
            the clients apart best; or two columns, by number or by the names of the data frames that the clients were
            made of, each about its mean in standard deviations

        Raises
        ------
        InvalidInput
            For any other plane, columns that are not there, or LDA of clients that have one mean.
        """
        rows, owner = _some_rows(federation)
        if isinstance(plane, str):
            directions = {"pca": _principal, "lda": _discriminant}[check_choice(plane, ("pca", "lda"), "plane")]
            axes, words = directions(rows, owner)
            return cls(*_in_usual_units(rows, axes), _about(rows, plane, [], words))
        kind, pair, names = _columns(plane, federation)
        centre, spread = rows.mean(axis=0), rows[:, pair].std(axis=0)
        axes = np.zeros((federation.dim, 2))
        axes[pair, [0, 1]] = 1.0 / np.where(spread > 0, spread, 1.0)
        words = f"Across: {names[0]}, up: {names[1]}; each about its mean, in standard deviations of all rows."
        return cls(centre, axes, _about(rows, kind, names if kind == "named" else [str(p) for p in pair], words))

    def rows(self, rows: Any) -> np.ndarray:
        """Rows (n, d) in the plane, (n, 2)."""
        parts = row_blocks(len(rows), 8 * self.axes.shape[0])
        projected = [(to_numpy(to_float64(rows[part])) - self.centre) @ self.axes for part in parts]
        return np.concatenate(projected)

    def shown(self, source: Any) -> dict[str, Any]:
        """What the page draws of rows (n, d) or a distribution: mean, covariance and points in the plane
        (`distributions.summary`)."""
        if not isinstance(source, Distribution):
            return summary(self.rows(source))
        points = self.rows(source.sample(POINTS_DRAWN, np.random.default_rng(0)))
        if not has_moments(source):
            return summary(points)
        mean = (source.mean - self.centre) @ self.axes
        cov = self.axes.T @ source.cov @ self.axes
        return {**summary(Gaussian(mean, (cov + cov.T) / 2)), "points": points[:300].tolist()}


def _some_rows(federation: Federation) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of all clients in proportion to how many they have, float64, and the client of each."""
    held = [
        client.distribution.sample(POINTS_DRAWN, np.random.default_rng([0, k])) if client.rows is None else client.rows
        for k, client in enumerate(federation)
    ]
    step = max(1, math.ceil(sum(map(len, held)) * federation.dim / MAX_VALUES_FITTED))
    some = [to_numpy(to_float64(rows[::step])) for rows in held]
    return np.concatenate(some), np.repeat(np.arange(len(some)), [len(rows) for rows in some])


def _about(rows: np.ndarray, kind: str, columns: list[str], words: str) -> dict[str, Any]:
    return {"dim": rows.shape[1], "kind": kind, "columns": tuple(columns), "words": words}


def _percent(share: float) -> str:
    return f"{100 * share:.{0 if share > 0.0995 else 1}f} %"


def _principal(rows: np.ndarray, owner: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the first two principal components of all rows; the second is empty where there is one feature."""
    with unmoved_random_state():
        from sklearn.decomposition import PCA

    if not np.ptp(rows, axis=0).any():
        return np.eye(rows.shape[1], 2), "All rows of the clients are the same, so there is no direction to show."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of features so small that their squares are 0
        model: Any = PCA(min(2, *rows.shape), random_state=0).fit(rows)
    axes = np.zeros((rows.shape[1], 2))
    axes[:, : len(model.components_)] = model.components_.T
    shares = [float(s) for s in model.explained_variance_ratio_]
    if len(shares) == 1:
        return axes, "Across: the only feature." if rows.shape[1] == 1 else "Across: the only principal component."
    each = f"{_percent(shares[0])} across, {_percent(shares[1])} up"
    return (
        axes,
        f"First two principal components of all clients’ rows: {_percent(sum(shares))} of the variance ({each}).",
    )


def _discriminant(rows: np.ndarray, owner: np.ndarray) -> tuple[np.ndarray, str]:
    """Linear discriminants of the clients; beside a single one, the first principal component of the rest."""
    with unmoved_random_state():
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    if owner[-1] == 0:
        raise InvalidInput("plane", "is 'lda', but there is only one client", 'Give plane="pca"')
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # collinear features, which the words below speak of
            model: Any = LinearDiscriminantAnalysis().fit(rows, owner)
        directions = np.asarray(model.scalings_)[:, :2]
    except (ValueError, IndexError, np.linalg.LinAlgError):
        directions = np.zeros((rows.shape[1], 0))
    if not directions.size or not np.isfinite(directions).all():
        raise InvalidInput("plane", "is 'lda', and the clients have one mean or no variance", 'Give plane="pca"')
    kept = directions.shape[1] if owner[-1] > 1 else 1
    few = len(rows) < MIN_ROWS_PER_FEATURE * rows.shape[1]
    doubt = " With so few rows per feature, LDA separates even clients that are alike." if few else ""
    if kept == 2:
        return directions, f"Across and up: the two directions that tell the clients apart best (LDA).{doubt}"
    first = directions[:, 0]
    away = rows - rows.mean(axis=0)
    across = away @ first
    rest = away - np.outer(across, first / (first @ first))
    second = _principal(rest, owner)[0][:, 0]
    up = away @ second
    words = "Across: the direction that tells the clients apart best (LDA)"
    if (up - across * ((across @ up) / (across @ across))).std() <= ROUNDING * away.std(axis=0).max():
        return np.column_stack([first, np.zeros_like(first)]), f"{words}; there is no other to show.{doubt}"
    axes = np.column_stack([first, second * (across.std() / up.std())])
    return axes, f"{words}, up: the first principal component of the rest.{doubt}"


def _in_usual_units(rows: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return centre and axes, scaled by a power of ten where the picture would not fit a plane."""
    centre = rows.mean(axis=0)
    size = float(((rows - centre) @ axes).std(axis=0).max())
    if size == 0 or USUAL_SIZES[0] <= size <= USUAL_SIZES[1]:
        return centre, axes
    return centre, axes * 10.0 ** -round(math.log10(size))


def _columns(plane: Any, federation: Federation) -> tuple[str, list[int], list[str]]:
    """Return "numbered" or "named", the numbers of the two columns, and their names."""
    if not isinstance(plane, (list, tuple)) or len(plane) != 2:
        raise InvalidInput("plane", f"got {shown(plane)}", _FIX)
    if all(isinstance(c, (int, np.integer)) and not isinstance(c, bool) for c in plane):
        pair = [int(c) for c in plane]
        if min(pair) < 0 or max(pair) >= federation.dim:
            raise InvalidInput("plane", f"got {shown(pair)}", f"Give numbers from 0 to {federation.dim - 1}")
        kind, names = "numbered", [f"feature {c}" for c in pair]
    elif all(isinstance(c, str) for c in plane):
        columns = _names(federation)
        pair = [columns.index(check_choice(c, columns, "plane")) for c in plane]
        kind, names = "named", list(check_names(columns, "columns")[p] for p in pair)
    else:
        raise InvalidInput("plane", f"got {shown(plane)}", _FIX)
    if pair[0] == pair[1]:
        raise InvalidInput("plane", f"got {shown(plane)}", "Give two columns that are not the same")
    return kind, pair, names


def _names(federation: Federation) -> tuple[str, ...]:
    """Return the names of the features, where the clients came as data frames of the same columns."""
    names = {client.columns for client in federation if client.columns is not None}
    if not names:
        raise InvalidInput("plane", "names columns, but the clients are not data frames", "Give numbers: plane=(0, 5)")
    if len(names) > 1:
        raise InvalidInput("plane", "names columns, but the clients have them in different orders", "Give all the same")
    return names.pop()
