"""The one room that knows NumPy from torch.

Everything else is written against the array API namespace that `namespace` returns, so NumPy and torch,
CPU and CUDA, share one code path. Rows enter through `as_rows`, which checks them; sums are float64.
"""

from __future__ import annotations

import operator
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_torch_array

from .errors import InvalidInput, check_length, check_number, shown
from .tables import is_table, stacked_lists, table_rows

Array = Any

# Squares, cubes of inner products and sums of those stay inside float64 below this magnitude.
LARGEST = 1e45
# Rows in float64 that are written, read once and left stay in the cache in blocks of this size.
PASSING_BYTES = 8 * 2**20
# Where all features differ by less between rows, squares of the differences underflow or lose digits.
SMALLEST = 1e-140


@dataclass
class Memory:
    """How much a computation may hold beside its inputs: a few blocks of this size."""

    block_bytes: float = 64 * 2**20


memory = Memory()

_one_module = threading.RLock()


def set_memory_limit(megabytes: float) -> None:
    """Let later computations hold about this much beside their inputs and results (512 MB by default).

    Blocks become smaller, or larger; results stay the same to rounding. Raises InvalidInput below 16 MB.

    Examples
    --------
    >>> nm.set_memory_limit(512)
    """
    memory.block_bytes = check_number(megabytes, "megabytes", minimum=16) * 2**20 / 8


def namespace(*arrays: Array) -> Any:
    """The array API namespace the arrays share; NumPy is one itself."""
    return np if all(isinstance(x, (np.ndarray, np.generic)) for x in arrays) else array_namespace(*arrays)


def is_array(value: Any) -> bool:
    """Whether `value` is a NumPy array or a torch tensor."""
    return isinstance(value, np.ndarray) or is_torch_array(value)


def as_rows(value: Any, argument: str, *, min_rows: int = 1, dim: int | None = None) -> Array:
    """`value` as a finite (n, d) array of float32 or float64 in its own library, on its own device.

    Integers and bools become float64, half precision float32, tables (see `table_rows`) and nested lists NumPy.
    Raises `InvalidInput` for NaN or infinity, a wrong rank, width or dtype, or too few rows.
    """
    rows = _floating(value, argument)
    if rows.ndim != 2:
        fix = "For one feature use x.reshape(-1, 1)" if rows.ndim == 1 else "Flatten each item to one row"
        fix += "; for rows of images, use nm.extract(images, extractor)" * (rows.ndim in (3, 4))
        raise InvalidInput(argument, f"expected rows of shape (n, d), got shape {tuple(rows.shape)}", fix)
    n, d = rows.shape
    if d == 0:
        raise InvalidInput(argument, f"got shape {tuple(rows.shape)}, no features", "Give at least one column")
    if dim is not None and d != dim:
        raise InvalidInput(argument, f"has {d} features where {dim} were expected", "Use the same features")
    if n < min_rows:
        raise InvalidInput(argument, f"has {n} row{'s' * (n != 1)}", f"Give more rows: at least {min_rows} are needed")
    _check_magnitude(rows, argument)
    return rows


def _floating(value: Any, argument: str) -> Array:
    if is_torch_array(value):
        torch = sys.modules["torch"]
        if value.is_complex():
            raise InvalidInput(argument, f"has dtype {value.dtype}", "Give real numbers")
        if value.layout != torch.strided:
            raise InvalidInput(argument, f"is a sparse tensor ({value.layout})", "Use x.to_dense()")
        if value.is_quantized:
            raise InvalidInput(argument, f"is a quantized tensor ({value.dtype})", "Use x.dequantize()")
        if value.is_meta:
            raise InvalidInput(argument, "is a meta tensor, which contains no numbers", "Give a tensor on a device")
        value = value.detach()
        if value.dtype in (torch.float32, torch.float64):
            return value
        return value.to(torch.float32 if value.is_floating_point() else torch.float64)
    if np.ma.is_masked(value):
        raise InvalidInput(argument, "has masked values", "Drop those rows, or fill them, first")
    try:
        is_plain = type(value) is np.ndarray and value.dtype.names is None
        array = value if is_plain else table_rows(value, argument) if is_table(value) else plain_array(value, argument)
    except InvalidInput:
        raise
    except (TypeError, ValueError, RuntimeError):
        raise InvalidInput(argument, f"got {shown(value)}", "Give a rectangular array of numbers") from None
    if array.dtype == object and (stacked := stacked_lists(array, argument)) is not None:
        array = stacked
    if array.dtype.kind not in "biuf":
        seen = f"has dtype {array.dtype}" if array.ndim else f"got {shown(value)}"
        fix = "Give an array of real numbers, shape (n, d)"
        fix += "; of numbers kept as objects: x.astype(float)" * (array.dtype == object and array.ndim > 0)
        fix += "; for a folder of images, use nm.extract(folder)" * isinstance(value, (str, os.PathLike))
        raise InvalidInput(argument, seen, fix)
    if array.dtype in (np.float32, np.float64):
        return array
    with np.errstate(over="ignore"):  # a longdouble too large becomes infinite, which as_rows reports
        return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def _check_magnitude(rows: Array, argument: str) -> None:
    xp = namespace(rows)
    if rows.shape[0] == 0:
        return
    # min and max carry NaN and infinity along without a boolean copy of the data
    lows, highs = xp.min(rows, axis=0), xp.max(rows, axis=0)
    low, high = float(xp.min(lows)), float(xp.max(highs))
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = xp.reshape(xp.astype(~xp.isfinite(rows), xp.int64), (-1,))
        count, (row, column) = int(xp.sum(bad)), divmod(int(xp.argmax(bad)), rows.shape[1])
        which = "1 value is NaN or infinite, in" if count == 1 else f"{count} values are NaN or infinite, the first in"
        raise InvalidInput(argument, f"{which} row {row}, column {column} (from 0)", "Drop or fix those rows first")
    if (largest := max(-low, high)) > LARGEST:
        fix = f"Rescale the features below {LARGEST:g}"
        raise InvalidInput(argument, f"has values of magnitude {largest:.3g}", fix)
    if 0.0 < (spread := float(xp.max(to_float64(highs) - to_float64(lows)))) < SMALLEST:
        seen = f"has features that differ by at most {spread:.3g}, too little to square"
        raise InvalidInput(argument, seen, f"Rescale the features above {SMALLEST:g}")


def to_float64(x: Array) -> Array:
    """`x` in float64 (itself where it already is)."""
    xp = namespace(x)
    return x if x.dtype == xp.float64 else xp.astype(x, xp.float64)


def to_numpy(x: Array) -> np.ndarray:
    """`x` as a NumPy array in main memory."""
    return x.cpu().numpy() if is_torch_array(x) else np.asarray(x)


def is_on_host(x: Array) -> bool:
    """Whether the array is in main memory, so that `to_numpy` copies nothing."""
    return not is_torch_array(x) or x.device.type == "cpu"


def host_view(x: Array) -> Array:
    """`x` in NumPy where that copies nothing; an array on another device itself."""
    return to_numpy(x) if is_on_host(x) else x


def plain_array(value: Any, argument: str, fix: str = "Give a rectangular array of numbers") -> np.ndarray:
    """`value` as a NumPy array of any kind, on the host."""
    check_length(value, argument)
    try:
        return to_numpy(value.detach()) if hasattr(value, "detach") else np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        raise InvalidInput(argument, f"got {shown(value)}", fix) from None


def count_each(positions: np.ndarray, count: int = 0) -> np.ndarray:
    """Return how often 0, 1, … appear among the positions, for at least `count` of them.

    `np.bincount` takes no int64 where `np.intp` has 32 bits, as in Pyodide.
    """
    return np.bincount(positions.astype(np.intp, copy=False), minlength=count)


def take_rows(x: Array, positions: np.ndarray) -> Array:
    """The rows of `x` at these positions, on its device."""
    xp = namespace(x)
    return xp.take(x, xp.asarray(positions, device=device(x)), axis=0)


def take_columns(x: Array, positions: np.ndarray) -> Array:
    """The columns of `x` at these positions, on its device."""
    xp = namespace(x)
    return xp.take(x, xp.asarray(positions, device=device(x)), axis=1)


class _ProcessSettings:
    """Settings of the whole process at our values, from the first thread that asks for them to the last.

    `settings()` lists them: (read, write, our value).
    """

    def __init__(self, settings: Callable[[], list[tuple[Callable[[], Any], Callable[[Any], None], Any]]]) -> None:
        self._settings, self._lock, self._holders = settings, threading.Lock(), 0
        self._before: list[tuple[Callable[[Any], None], Any]] = []

    def __enter__(self) -> None:
        with self._lock:
            for read, write, ours in () if self._holders else self._settings():
                if (value := read()) != ours:
                    self._before.append((write, value))
                    write(ours)
            self._holders += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._holders -= 1
            while self._before and not self._holders:
                write, value = self._before.pop()
                write(value)


def _precisions() -> Any:
    backends = sys.modules["torch"].backends
    if not hasattr(backends.cuda.matmul, "fp32_precision"):  # before torch 2.9, which forbids mixing these with its own
        torch, cudnn = sys.modules["torch"], backends.cudnn
        convolutions = partial(getattr, cudnn, "allow_tf32"), partial(setattr, cudnn, "allow_tf32"), False
        return [convolutions, (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest")]
    name, processors = "fp32_precision", (backends.cudnn, backends.mkldnn)
    places = [backends.cuda.matmul, backends.mkldnn.matmul, *(part for p in processors for part in (p.conv, p.rnn))]
    rounding = [place for place in places if getattr(place, name) != "none"]  # which is full precision, too
    return [(partial(getattr, place, name), partial(setattr, place, name), "ieee") for place in rounding]


# Float32 products and convolutions in float32. Torch may be told to round factors to TF32, with 10 bits of mantissa (of
# convolutions on a GPU it does so by default: features of Inception were then 9e-4 off those of a CPU), or to bfloat16.
full_precision = _ProcessSettings(_precisions)
float32_by_default = _ProcessSettings(
    lambda: [(torch.get_default_dtype, torch.set_default_dtype, torch.float32) for torch in [sys.modules["torch"]]]
)


@contextmanager
def without_autocast() -> Iterator[None]:
    """No autocast in this thread."""
    torch = sys.modules["torch"]
    with ExitStack() as stack:
        for kind in ("cpu", "cuda", "mps", "xpu"):  # where it may be on
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        yield


@contextmanager
def plain_torch() -> Iterator[None]:
    """Torch as it starts: no autocast, products in full precision, gradients, and what names no device is on the CPU.

    The default type is left to the user's other threads: name a type for each tensor.
    """
    torch = sys.modules["torch"]
    place = nullcontext() if torch.get_default_device().type == "cpu" else torch.device("cpu")
    with without_autocast(), full_precision, torch.inference_mode(False), torch.enable_grad(), place:
        yield


def _exactly(operation: Callable[[Array, Array], Array], x: Array, y: Array) -> Array:
    if not is_torch_array(x) or x.dtype.itemsize > 4:  # what nothing rounds
        return operation(x, y)
    with without_autocast(), full_precision:
        return operation(x, y)


def product(x: Array, y: Array) -> Array:
    """x @ y, of float32 in full precision, whatever torch is told."""
    return _exactly(operator.matmul, x, y)


def row_products(x: Array, y: Array) -> Array:
    """x_a·y_a of each row, (n,), in the same way."""
    return _exactly(namespace(x, y).vecdot, x, y)


@contextmanager
def keeping_buffers(*modules: Any) -> Iterator[None]:
    """Afterwards the buffers of torch modules hold what they did, whatever a `forward` wrote there or put in its place.

    Nothing waits for a device, and what was not written is left alone.
    """
    torch = sys.modules.get("torch")
    parts = dict.fromkeys(part for module in modules for part in module.modules())
    held = [(part, name, x) for part in parts for name, x in part.named_buffers(recurse=False)]
    before = [(x.detach().clone(), None if x.is_inference() else x._version) for *_, x in held]
    try:
        yield
    finally:
        for (part, name, x), (copy, version) in zip(held, before, strict=True):
            if getattr(part, name, None) is not x:
                setattr(part, name, x)
            if version is None or x._version != version:
                with torch.inference_mode(version is None), torch.no_grad():  # type: ignore[union-attr]
                    x.copy_(copy)


def first_parameter(module: Any) -> Array:
    """The first parameter of a torch module that is not of integers, or else an empty one."""
    torch = sys.modules["torch"]
    empty = torch.zeros(0, dtype=torch.float32, device="cpu")
    return next((p for p in module.parameters() if p.is_floating_point()), empty)


@contextmanager
def evaluation_mode(module: Any, seed: int) -> Iterator[Array]:
    """A torch module in evaluation mode, without gradients, its own randomness seeded; gives its first parameter.

    The mode and buffers of every submodule and torch's random stream are left as they were. Modules draw from
    torch's one stream and may share submodules, so calls from several threads take turns, whichever module they have. A
    thread of the user's own that draws from torch, or trains the module, at the same time still gets in the way.
    """
    torch = sys.modules["torch"]
    parameter = first_parameter(module)
    gpu = [parameter.device] if parameter.device.type == "cuda" else []
    with _one_module, torch.no_grad(), torch.random.fork_rng(devices=gpu), keeping_buffers(module):
        modes = {part: part.training for part in module.modules()}
        module.eval()
        try:
            torch.default_generator.manual_seed(seed)  # torch.manual_seed would seed all other devices too
            for place in gpu:
                with torch.cuda.device(place):
                    torch.cuda.manual_seed(seed)
            yield parameter
        finally:
            for part, mode in modes.items():
                part.training = mode


def run_module(module: Any, latent: np.ndarray, seed: int) -> Array:
    """What a torch module makes of latents, `evaluation_mode`."""
    with evaluation_mode(module, seed) as parameter:
        rows = module(parameter.new_tensor(latent))
    if not is_torch_array(rows):
        raise InvalidInput("source", f"the module gives {shown(rows)}", "Let forward return one tensor of rows")
    return rows.detach()


def module_source(module: Any) -> Callable[..., Any]:
    """A module with `latent_dim` as a function `(n, rng) -> rows`; n may also be the rows x of a condition."""
    size = getattr(module, "latent_dim", None)
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
        held = "no latent_dim" if size is None else f"latent_dim {shown(size)}"
        seen = f"the module {type(module).__name__} has {held}"
        fix = "Set module.latent_dim to 1 or more, or give a function (n, rng) -> rows"
        if hasattr(getattr(module, "module", None), "latent_dim"):  # as DistributedDataParallel holds it
            fix = "Give its .module, which has one"
        elif size is None and hasattr(module, "original_name"):
            fix = "TorchScript leaves out class attributes: set latent_dim on the scripted module"
        raise InvalidInput("source", seen, fix)

    def source(n: Any, rng: np.random.Generator) -> Any:
        # a network of latents alone gives as many rows as there are conditions, whatever they are
        latent = rng.standard_normal((n if np.ndim(n) == 0 else len(n), size)).astype(np.float32)
        return run_module(module, latent, int(rng.integers(2**31)))

    return source


def align(*arrays: Array) -> tuple[Array, ...]:
    """The arrays in one library and on one device: torch wins over NumPy, an accelerator over the CPU."""
    if not any(map(is_torch_array, arrays)):
        return arrays
    torch = sys.modules["torch"]
    held = [x.copy() if isinstance(x, np.ndarray) and min(x.strides, default=0) < 0 else x for x in arrays]
    tensors = [x if is_torch_array(x) else torch.from_numpy(np.require(x, requirements=("C", "W"))) for x in held]
    target = next((x.device for x in tensors if x.device.type != "cpu"), tensors[0].device)
    return tuple(x.to(target) for x in tensors)


def subtract(a: Array, b: Array) -> Array:
    """a − b, in one library and on one device."""
    a, b = align(a, b)
    return a - b


def concat(arrays: Sequence[Array]) -> Array:
    """The arrays below each other, in one library and on one device."""
    return namespace(*(aligned := align(*arrays))).concat(aligned)


def like(value: Any, other: Array) -> Array:
    """`value` as a float64 array in `other`'s library and on its device."""
    xp = namespace(other)
    return xp.asarray(value, dtype=xp.float64, device=device(other))


def row_blocks(n: int, bytes_per_row: float, limit: float | None = None) -> Iterator[slice]:
    """Slices that cover range(n), each of rows worth at most `limit` bytes."""
    limit = memory.block_bytes if limit is None else min(limit, memory.block_bytes)
    step = max(1, int(limit // max(bytes_per_row, 1)))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def scatter(rows: Array, mean: Array) -> Array:
    """The (d, d) float64 matrix (rows - mean)ᵀ(rows - mean), accumulated in row blocks."""
    return scatter_of([rows], mean)


def scatter_of(parts: Iterable[Array], mean: Array) -> Array:
    """The same of all rows of several parts, each in memory only while it is added."""
    d = mean.shape[0]
    if is_torch_array(mean):
        total = namespace(mean).zeros((d, d), dtype=mean.dtype, device=device(mean))
        for rows in parts:
            for block in row_blocks(rows.shape[0], 16 * d):
                centred = to_float64(rows[block, :]) - mean
                total += centred.T @ centred
        return total
    from scipy.linalg.blas import dsyrk  # adds in place to one triangle; numpy's product would copy and mirror

    half, centred = np.zeros((d, d), order="F"), np.empty((0, d))
    for rows in parts:
        for block in row_blocks(rows.shape[0], 8 * d, PASSING_BYTES):
            n = block.stop - block.start
            if len(centred) < n:  # one for all: fresh pages cost as much as the subtraction
                centred = np.empty((n, d))
            half = dsyrk(1.0, np.subtract(rows[block, :], mean, out=centred[:n]).T, beta=1.0, c=half, overwrite_c=1)
    return mirror_upper(half)


def mirror_upper(upper: np.ndarray) -> np.ndarray:
    """The symmetric matrix whose upper triangle is given, in place, in tiles that stay in the cache."""
    for rows in uniform_blocks(len(upper), 256):
        upper[rows.stop :, rows] = upper[rows, rows.stop :].T
        tile = np.triu(upper[rows, rows])
        upper[rows, rows] = tile + np.triu(tile, 1).T
    return upper


def clear_lower(a: np.ndarray) -> np.ndarray:
    """Set what is below the diagonal of a square matrix to 0, in place."""
    for rows in uniform_blocks(len(a), 256):
        a[rows, : rows.start] = 0.0
        a[rows, rows] = np.triu(a[rows, rows])
    return a


def mean_rows(rows: Array) -> Array:
    """The (d,) float64 mean of the rows, by two passes: accurate at a large common offset too."""
    xp = namespace(rows)
    shift = to_float64(rows[0, :])
    total = xp.zeros_like(shift)
    for block in row_blocks(rows.shape[0], 8 * rows.shape[1], PASSING_BYTES):
        total += xp.sum(to_float64(rows[block, :]) - shift, axis=0)
    return shift + total / rows.shape[0]


def triangular(a: Array) -> Array:
    """R of a QR decomposition: RᵀR = aᵀa without squaring the condition number."""
    if is_torch_array(a):
        return sys.modules["torch"].linalg.qr(a, mode="r")[1]
    return np.linalg.qr(a, mode="r")  # the other factor, which nobody needs, would cost as much again


def svdvals(a: Array) -> Array:
    """Singular values, largest first; a failed divide-and-conquer is tried again on the transpose."""
    xp = namespace(a)
    try:
        return xp.linalg.svdvals(a)
    except Exception as error:
        if type(error).__name__ != "LinAlgError":
            raise
        return xp.linalg.svdvals(triangular(a.T))


def psd_root(c: Array) -> Array:
    """A factor R with RᵀR = c for a positive semi-definite c; rank-deficient ones give fewer rows.

    Cholesky where it succeeds; otherwise eigenvectors, dropping eigenvalues below d·eps·λmax.
    """
    factor = cholesky(c)
    return spectral_root(c) if factor is None else factor.T


def spectral_root(c: Array) -> Array:
    """A factor R with RᵀR = c, rows from small to large, without eigenvalues below d·eps·λmax."""
    xp = namespace(c)
    values, vectors = xp.linalg.eigh(c)
    keep = values > c.shape[0] * xp.finfo(xp.float64).eps * values[-1]
    return (vectors[:, keep] * xp.sqrt(values[keep])).T


def cholesky(c: Array, *, overwrite: bool = False) -> Array | None:
    """The lower triangle L with LLᵀ = c, or None where c is not numerically positive definite."""
    if is_torch_array(c):
        factor, info = sys.modules["torch"].linalg.cholesky_ex(c)
        return factor if int(info) == 0 else None
    import scipy.linalg

    try:
        return scipy.linalg.cholesky(c, lower=True, check_finite=False, overwrite_a=overwrite)
    except np.linalg.LinAlgError:
        return None


def squared_distances(x: Array, y: Array, tolerance: float) -> Array:
    """The (n, m) matrix of ‖x_a − y_b‖², to within `tolerance` (absolute).

    A matrix product gives them fast but loses digits at a large common offset or among near-duplicates; where
    a bound on that loss exceeds `tolerance` they are summed directly.
    """
    xp = namespace(x, y)
    centre = xp.mean(y, axis=0)[None, :]
    p, q = x - centre, y - centre
    across, along = xp.sum(p * p, axis=1), xp.sum(q * q, axis=1)
    if 4 * float(xp.finfo(x.dtype).eps) * (float(xp.max(across)) + float(xp.max(along))) <= tolerance:
        squared = -2.0 * product(p, q.T)
        squared += across[:, None]
        squared += along[None, :]
        return xp.clip(squared, 0.0, None)
    if is_torch_array(x):
        distance = sys.modules["torch"].cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")
        return distance * distance
    from scipy.spatial.distance import cdist

    return cdist(x, y, "sqeuclidean")


def median_distance(x: Array) -> float:
    """The median of ‖x_a − x_b‖ over pairs of rows."""
    if is_torch_array(x):
        ordered = sys.modules["torch"].pdist(x).sort().values
        pairs = ordered.shape[0]
        return float(ordered[(pairs - 1) // 2] + ordered[pairs // 2]) / 2.0
    from scipy.spatial.distance import pdist

    return float(np.median(pdist(x)))


def total(x: Array) -> float:
    """The float64 sum of all entries, whatever their type."""
    xp = namespace(x)
    return float(xp.sum(x, dtype=xp.float64))


def uniform_blocks(n: int, step: int) -> Iterator[slice]:
    """Slices of `step` rows that cover range(n)."""
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def unit_rows(rows: Array) -> Array:
    """Return each row (n, d) divided by its length, in its own type; a row of zeros has no direction and stays 0."""
    xp = namespace(rows)
    parts = []
    for block in row_blocks(rows.shape[0], 32 * rows.shape[1]):
        wide = to_float64(rows[block, :])
        # squares of the largest or smallest features would overflow, or be 0
        largest = xp.max(xp.abs(wide), axis=1, keepdims=True)
        wide = wide / xp.where(largest > 0.0, largest, 1.0)
        length = xp.sqrt(xp.sum(wide * wide, axis=1, keepdims=True))
        parts.append(xp.astype(wide / xp.where(length > 0.0, length, 1.0), rows.dtype))
    return xp.concat(parts)


def has_direction(unit: Array) -> Array:
    """Return (n,) whether each row of `unit_rows` is not 0."""
    return namespace(unit).any(unit != 0.0, axis=1)
