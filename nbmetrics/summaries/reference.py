"""Reference statistics: a mean and a covariance without the rows, as FID's users keep and share them.

`Moments` here is public and is all that is left of rows that are elsewhere: checked, loaded and saved, and scored in
the place of a client's or generator's rows. `moments.Moments`, its `summary`, is what FID computes with, and may hold
factors of rows. It is a summary with n and no distribution: two pool to the moments of their rows put together, where
two `nm.Gaussian` pool to those of their mixture.

Files, all of covariances with ddof 1:

    pytorch-fid, clean-fid, EDM    mu, sigma, by np.cov or the sums of it; n is not in them
    ADM (guided-diffusion)         mu, sigma, mu_s, sigma_s (spatial features), arr_0 (images, perhaps of others)
    torchmetrics                   real_ and fake_ features_sum (d,), features_cov_sum Σxxᵀ (d, d), features_num_samples
    nbmetrics                      mu, sigma, n, nbmetrics_columns
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import LARGEST, as_rows, cholesky, plain_array, to_numpy
from ..errors import InvalidInput, check_choice, check_count, shown
from ..files import checked_path, write
from ..tables import name_features, named_columns, parsed_columns
from . import moments as summaries
from .npz import ArrayFile, open_npz
from .sources import peeked
from .stream import as_stream

SUFFIX = ".npz"
# Features, of which a covariance in float64 takes 0.5 GB.
MAX_FEATURES = 8_192
MAX_COV_BYTES = 8 * MAX_FEATURES**2
# Of the largest |C_ij|, what two halves may differ by.
MAX_ASYMMETRY = 1e-4
# Of the largest variance, times d: eigenvalues down to minus the first are rounding of float32, down to minus the
# second of float64.
ROUNDING, FINE_ROUNDING = 1e-6, 1e-13
MAX_N = 10**15
SIDES = ("real", "fake")
# Of a .npz file: the names of the columns, JSON in UTF-8, as bytes.
COLUMNS = "nbmetrics_columns"
STATE = ("features_sum", "features_cov_sum", "features_num_samples")
FIX_KEYS = "Give mu (d,) and sigma (d, d), as pytorch-fid writes them"


class Moments:
    """A mean and a covariance, and of how many rows: a client's data, or a generator, of which no rows are here.

    Parameters
    ----------
    mean : (d,) array, the mean of the features
    cov : (d, d) array, their covariance (ddof 1)
    n : number of rows, 2 or more; None where nobody knows

    Attributes
    ----------
    mean, cov, n, dim : as given, float64; d
    columns : what the features are called, where they were made `of` a table; None otherwise
    notes : tuple of str, what is to be known of these numbers: tables say it below

    Notes
    -----
    FID alone is computed from it; what needs rows has no value, and there are no intervals. Clients weigh by n, as rows
    do; of several clients one of unknown n needs weights, and is pooled as if n were infinite.

    Negative eigenvalues that float32 may leave are cut off, with all that are no larger; with n ≤ d no more than n − 1
    are kept. FID of a singular float32 covariance is then right to about 1e-4, and `notes` says so.

    Raises
    ------
    InvalidInput
        For shapes that do not match, NaN, a covariance that is not symmetric or has a negative eigenvalue beyond
        rounding of float32, or more directions than n rows have.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(500, 4))
    >>> reference = nm.Moments.of(rows)
    >>> reference
    Moments(dim=4, n=500)
    >>> generated = np.random.default_rng(1).normal(size=(300, 4))
    >>> abs(nm.fid(reference, generated) - nm.fid(rows, generated)) < 1e-12
    True
    >>> nm.Moments.load(reference.save("reference.npz")).n  # pytorch-fid reads this file too
    500
    """

    columns: tuple[str, ...] | None = None

    def __init__(self, mean: Any, cov: Any, n: int | None = None) -> None:
        self.mean = _numbers(np.atleast_1d(_array(mean, "mean")), "mean", 1)
        self.dim = len(self.mean)
        self.cov = _covariance(cov, self.dim)
        self.n = None if n is None else check_count(n, "n", minimum=2, maximum=MAX_N)
        self._root, self.notes = _root(self.cov, self.n)
        name_features(self, mean, cov)
        self._freeze()

    @classmethod
    def of(cls, rows: Any) -> Moments:
        """The moments of rows (n, d), n ≥ 2; also of those that are streamed, as a `Client` may be given them."""
        stream = as_stream(peeked(rows) if isinstance(rows, Iterator) else rows)
        if stream is None:
            data = to_numpy(as_rows(rows, "rows", min_rows=2))
            _check_width(data.shape[1], "rows")
            own = summaries.Moments.of_rows(data)
        else:
            _check_width(stream.dim, "rows")
            own = summaries.Moments.of_batches(stream.batches())
            check_count(own.count, "rows", minimum=2)
        moments = cls.__new__(cls)
        moments.mean, moments.cov, moments._root = own.mean, own.cov, own.kept_root
        moments.n, moments.dim, moments.notes = int(own.count), len(own.mean), ()
        moments._freeze()
        return named_columns(moments, rows if stream is None else stream)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], side: str | None = None) -> Moments:
        """The moments in torchmetrics' FrechetInceptionDistance: `fid.state_dict()`, or its tensors by name.

        Parameters
        ----------
        state : with `real_features_sum`, `real_features_cov_sum` and `real_features_num_samples`, or those of `fake_`;
            a state dict has them after `fid.persistent(True)`
        side : "real" or "fake"; None for the only one that has rows
        """
        if not isinstance(state, Mapping):
            raise InvalidInput("state", f"got {shown(state)}", "Give a dict of torchmetrics' arrays by name")
        names = tuple(name for name in state if isinstance(name, str))
        return _of_state(names, lambda name: _array(state[name], name), side)

    @classmethod
    def load(cls, path: Any, side: str | None = None) -> Moments:
        """The moments in a .npz file of any of the kinds that the module lists.

        `side` : "real" or "fake" of a file with torchmetrics' state; None for the only one that has rows

        >>> np.savez("reference.npz", mu=np.zeros(2), sigma=np.eye(2))  # as pytorch-fid, clean-fid and EDM do
        >>> nm.Moments.load("reference.npz")
        Moments(dim=2, n unknown)
        """
        with open_npz(path) as file:
            if (moments := _in_file(file, side)) is None:
                raise file.bad(f"contains arrays by name: {shown(list(file.names))}", _fix_names(file))
            return moments

    def save(self, path: Any) -> Path:
        """Write mu, sigma and, if known, n and columns into a .npz file, whole or not at all, and return its path."""
        return write(checked_path(path, SUFFIX), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes."""
        content = io.BytesIO()
        arrays = {"mu": self.mean, "sigma": self.cov} | ({} if self.n is None else {"n": np.array(self.n)})
        if self.columns is not None:
            arrays[COLUMNS] = np.frombuffer(json.dumps(self.columns).encode(), dtype=np.uint8)
        np.savez(content, allow_pickle=False, **arrays)
        return content.getvalue()

    def summary(self) -> summaries.Moments:
        """What FID computes with: a new one each time, as who computes may change what it keeps."""
        dense = self.cov if self._root is None else None
        if self.n is None:
            return summaries.UncountedMoments(math.inf, self.mean, self._root, dense)
        return summaries.Moments(self.n, self.mean, self._root, dense)

    def _freeze(self) -> None:
        for array in (self.mean, self.cov, self._root):
            if array is not None:
                array.setflags(write=False)

    def __repr__(self) -> str:
        return f"Moments(dim={self.dim}, {'n unknown' if self.n is None else f'n={self.n}'})"


def pooled_moments(parts: Sequence[Any], weights: Sequence[float], n: int | None) -> Moments:
    """Return the moments of Σ λ_i P_i of moments and rows, n of them in all."""
    own = [(part if isinstance(part, Moments) else Moments.of(part)).summary() for part in parts]
    pooled = summaries.Moments.pool(own, weights)
    return Moments(pooled.mean, pooled.cov, n)


def read_statistics(path: Any) -> Moments | None:
    """Return the moments in a .npz file; None of ADM's batches of images, InvalidInput of anything else."""
    with open_npz(path) as file:
        moments = _in_file(file, None)
        if moments is None and not _has_images(file):
            raise file.bad(f"contains arrays by name: {shown(list(file.names))}", _fix_names(file))
        return moments


def read_images(path: Any, most: int) -> np.ndarray:
    """Return the images (n, H, W, 3) of a .npz file, `arr_0`, as ADM's samples are kept; at most so many bytes of
    compressed ones."""
    with open_npz(path) as file:
        if not _has_images(file):
            seen = f"contains arrays by name: {shown(list(file.names))}, and no images (n, H, W, 3) of uint8 as arr_0"
            raise file.bad(seen, "Give the array itself: np.load(path)[name]")
        return file.mapped("arr_0", most)


def _in_file(file: ArrayFile, side: str | None) -> Moments | None:
    """Return the moments of a file, or None where it has none by any name that is known."""
    try:
        if {"mu", "sigma"} <= set(file.names):
            if side is not None:
                raise InvalidInput("side", f"got {shown(side)}, and the file has mu and sigma", "Leave it out")
            return _of_mu_and_sigma(file)
        if any(f"{one}_{STATE[1]}" in file.names for one in SIDES):
            return _of_state(file.names, lambda name: _read(file, name), side)
    except InvalidInput as error:
        if error.argument == "path":
            raise
        renamed = {"mean": "mu", "cov": "sigma"}.get(error.argument, error.argument)
        raise InvalidInput("path", f"{shown(str(file.path))}: {renamed} {error.seen}", error.fix) from None
    return None


def _of_mu_and_sigma(file: ArrayFile) -> Moments:
    names = set(file.names)
    mean, cov = (file.header(name).shape for name in ("mu", "sigma"))
    if math.prod(cov) != (d := math.prod(mean)) ** 2:  # before they are read
        raise InvalidInput("cov", f"has shape {cov} for {d:,} features", f"Give shape ({d}, {d})")
    n = None if "n" not in names else _count(_read(file, "n"), "n")
    moments = Moments(_read(file, "mu"), _read(file, "sigma"), n)
    if COLUMNS in names:
        moments.columns = parsed_columns(_read(file, COLUMNS).tobytes(), moments.dim)
    if "mu_s" in names:
        moments.notes += ("mu_s and sigma_s of the file are of spatial features (sFID) and are not used",)
    if "arr_0" in names:
        count = file.header("arr_0").shape[:1]
        seen = f"arr_0 of the file, {count[0]:,} images," if count else "arr_0 of the file"
        moments.notes += (f"{seen} is not used: mu and sigma need not be of it, and in ADM's files are of others",)
    return moments


def _read(file: ArrayFile, name: str) -> np.ndarray:
    return file.read(name, MAX_COV_BYTES)


def _has_images(file: ArrayFile) -> bool:
    if "arr_0" not in file.names:
        return False
    header = file.header("arr_0")
    return header.dtype == np.uint8 and len(header.shape) == 4 and header.shape[3] == 3 and header.shape[0] > 0


def _fix_names(file: ArrayFile) -> str:
    """Return what to give instead: rows by their name, where one array may be rows."""
    for name in file.names:
        try:
            if len(file.header(name).shape) == 2 and "sigma" not in name and "cov" not in name:
                return f"If {shown(name)} is rows of features, give np.load(path)[{shown(name)}]. Else: {FIX_KEYS}"
        except InvalidInput:
            continue
    return FIX_KEYS


def _of_state(names: tuple[str, ...], read: Callable[[str], np.ndarray], side: str | None) -> Moments:
    """Return the moments of sums and sums of squares, of the one side that has rows unless it is named."""
    sides = [one for one in SIDES if all(f"{one}_{part}" in names for part in STATE)]
    chosen = sides if side is None else [check_choice(side, SIDES, "side")]
    if not sides or chosen[0] not in sides:
        lacking = f"{'real' if side is None else side}_{STATE[0]}, …_{STATE[1]} and …_{STATE[2]}"
        seen = f"has no {lacking} among {shown(list(names))}"
        raise InvalidInput("state", seen, "Call fid.persistent(True) before fid.state_dict()")
    counts = {one: _count(read(f"{one}_{STATE[2]}"), f"{one}_{STATE[2]}") for one in chosen}
    filled = [one for one, count in counts.items() if count]
    if len(filled) != 1:
        seen = f"has {counts[chosen[0]]:,} rows of {' and '.join(chosen)} images"
        fix = 'Say which: side="real" or side="fake"' if filled else "Update the metric first, with 2 images or more"
        raise InvalidInput("side" if filled else "state", seen, fix)
    (one,) = filled
    n = check_count(counts[one], f"{one}_{STATE[2]}", minimum=2, maximum=MAX_N)
    try:
        mean = _numbers(np.atleast_1d(read(f"{one}_{STATE[0]}")), "mean", 1) / n
        second = _numbers(np.atleast_2d(read(f"{one}_{STATE[1]}")), "cov", 2)
        if second.shape != 2 * mean.shape:
            seen = f"has shape {second.shape} for {len(mean)} features"
            raise InvalidInput("cov", seen, f"Give shape ({len(mean)}, {len(mean)})")
        return Moments(mean, (second - n * np.outer(mean, mean)) / (n - 1), n)
    except InvalidInput as error:
        renamed = {"mean": STATE[0], "cov": STATE[1]}.get(error.argument, error.argument)
        raise InvalidInput(f"{one}_{renamed}", error.seen, error.fix) from None


def _count(value: np.ndarray, name: str) -> int:
    """Return a number of rows; of floats those that are whole."""
    if value.size != 1 or not np.isfinite(value).all() or value.item() != int(value.item()) or value.item() < 0:
        raise InvalidInput(name, f"is {shown(value.tolist())}", "Give a whole number of rows")
    return int(value.item())


def _array(value: Any, argument: str) -> np.ndarray:
    array = plain_array(value, argument)
    if array.dtype.kind not in "fiu":
        raise InvalidInput(argument, f"is of type {array.dtype}", "Give an array of numbers")
    return array


def _numbers(array: np.ndarray, argument: str, axes: int) -> np.ndarray:
    """Return a new float64 array, if it is finite numbers with so many axes, none too long."""
    if array.ndim != axes or not array.size:
        shape = "(d,)" if axes == 1 else "(d, d)"
        raise InvalidInput(argument, f"has shape {array.shape}", f"Give an array of shape {shape}")
    _check_width(max(array.shape), argument)
    numbers = np.array(array, dtype=np.float64)
    if not np.abs(numbers).max() <= LARGEST:  # NaN too
        raise InvalidInput(argument, f"has NaN, infinity or numbers beyond {LARGEST:g}", "Give finite numbers")
    return numbers


def _check_width(dim: int, argument: str) -> None:
    if dim > MAX_FEATURES:
        raise InvalidInput(argument, f"has {dim:,} features", f"Give at most {MAX_FEATURES:,}")


def _covariance(cov: Any, dim: int) -> np.ndarray:
    values = _array(cov, "cov")
    matrix = _numbers(np.atleast_2d(values) if dim == 1 else values, "cov", 2)
    if matrix.shape != (dim, dim):
        raise InvalidInput("cov", f"has shape {matrix.shape} for {dim} features", f"Give shape ({dim}, {dim})")
    if np.abs(matrix - matrix.T).max() > MAX_ASYMMETRY * np.abs(matrix).max():
        raise InvalidInput("cov", "is not symmetric", "Use (cov + cov.T) / 2 if it should be")
    return (matrix + matrix.T) / 2


def _root(cov: np.ndarray, n: int | None) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Return a factor of a singular covariance, its rows from large to small, and a note where it is cut off.

    None of one that is positive definite.
    """
    dim = len(cov)
    if (n is None or n > dim) and cholesky(cov) is not None:
        return None, ()
    values, vectors = np.linalg.eigh(cov)
    unit = dim * float(np.diagonal(cov).max())
    if values[0] < -ROUNDING * unit or unit < 0:
        seen = f"is not positive semi-definite: its lowest eigenvalue is {values[0]:.3g}, its largest {values[-1]:.3g}"
        raise InvalidInput("cov", seen, "A covariance has no negative eigenvalue")
    kept = values > max(-values[0], FINE_ROUNDING * unit, 0.0)
    if n is not None and n <= dim:
        if values[: dim - n + 1].sum() > ROUNDING * unit:
            seen = f"is {n}, and the covariance has more than {n - 1} directions, which n rows have at most"
            raise InvalidInput("n", seen, "Give the number of rows that it was made of, or None")
        kept[: dim - n + 1] = False
    root = (vectors[:, kept] * np.sqrt(values[kept])).T[::-1]
    if values[0] >= -FINE_ROUNDING * unit:
        return np.ascontiguousarray(root), ()
    share = -values[0] / values[-1]
    note = f"singular up to rounding of float32 ({share:.1g} of the largest eigenvalue), cut off: FID is right to 1e-4"
    return np.ascontiguousarray(root), (note,)
