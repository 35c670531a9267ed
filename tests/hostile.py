"""What the fuzz tries: values that strain the arithmetic, and containers that rows come in.

`VALUES` gives the numbers, (n, d) float64, by kind; `CONTAINERS` puts such numbers into what a user may pass, good or
bad; `SETTINGS` are what a user may pass where a number, a name or an object is asked for. `Given.held()` is the bytes
behind a container, which no call may change.
"""

import atexit
import itertools
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

try:
    import torch
except ImportError:
    torch = None

_FOLDER = tempfile.TemporaryDirectory()
_NUMBERS = itertools.count()
atexit.register(_FOLDER.cleanup)


def with_one(value):
    """Normal rows with one entry exchanged."""

    def make(rng, n, d):
        rows = rng.standard_normal((n, d))
        rows[n // 2 :, :][:1, d // 2 : d // 2 + 1] = value
        return rows

    return make


def normal(scale=1.0, offset=0.0):
    return lambda rng, n, d: offset + scale * rng.standard_normal((n, d))


VALUES = {
    "normal": normal(),
    "constant": lambda rng, n, d: np.full((n, d), float(rng.standard_normal())),
    "zeros": lambda rng, n, d: np.zeros((n, d)),
    "negative zeros": lambda rng, n, d: -np.zeros((n, d)),
    "copies of one row": lambda rng, n, d: np.tile(rng.standard_normal((1, d)), (n, 1)),
    "duplicates": lambda rng, n, d: rng.standard_normal((max(n // 4, 1), d))[rng.integers(max(n // 4, 1), size=n)],
    "ties": lambda rng, n, d: rng.integers(3, size=(n, d)).astype(float),
    "one line": lambda rng, n, d: rng.standard_normal((n, 1)) * np.arange(1.0, d + 1),
    "one constant column": lambda rng, n, d: rng.standard_normal((n, d)) * (np.arange(d) > 0) + 1.0,
    "huge": normal(1e40),
    "large": normal(1e12),
    "too large": normal(1e200),
    "small": normal(1e-12),
    "tiny": normal(1e-100),
    "underflowing": normal(1e-200),
    "denormal": lambda rng, n, d: rng.integers(-9, 9, size=(n, d)) * 5e-324,
    "offset": normal(1.0, 1e6),
    "large offset": normal(1.0, 1e12),
    "an outlier": with_one(1e30),
    "NaN": with_one(np.nan),
    "infinity": with_one(-np.inf),
    "integers": lambda rng, n, d: rng.integers(-100, 100, size=(n, d)).astype(float),
}


@dataclass
class Given:
    """What is passed, and the arrays whose bytes it stands on."""

    value: Any
    arrays: list = field(default_factory=list)

    def held(self):
        return [np.asarray(a).tobytes() for a in self.arrays]


def _numpy(change):
    def make(x):
        with np.errstate(all="ignore"):
            array = change(x)
        return Given(array, [array])

    return make


def _tensor(change):
    def make(x):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tensor = change(torch.from_numpy(np.array(x)))
        plain = tensor.layout == torch.strided and not (tensor.is_meta or tensor.is_quantized)
        return Given(tensor, [tensor.detach().to(torch.complex128).numpy()] if plain else [])

    return make


def _read_only(x):
    x = x.copy()
    x.setflags(write=False)
    return x


def _halves(x):
    return [x[: len(x) // 2], x[len(x) // 2 :]]


def _saved(x):
    path = Path(_FOLDER.name) / f"{next(_NUMBERS)}.npy"
    np.save(path, x)
    return path


def _path(x):
    return Given(_saved(x), [x])


def _memmap(x):
    mapped = np.load(_saved(x), mmap_mode="r")
    return Given(mapped, [mapped])


def _integers(dtype):
    info = np.iinfo(dtype)
    low, high = max(info.min, -(2**53)), min(info.max, 2**53)  # as float64 has them
    return _numpy(lambda x: np.nan_to_num(x).clip(low, high).astype(dtype))


CONTAINERS = {
    "array": _numpy(np.array),
    "Fortran order": _numpy(np.asfortranarray),
    "reversed": _numpy(lambda x: np.array(x)[::-1, ::-1]),
    "every second": _numpy(lambda x: np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::2]),
    "broadcast": _numpy(lambda x: np.broadcast_to(x[:1], x.shape)),
    "read-only": _numpy(_read_only),
    "float32": _numpy(lambda x: x.astype(np.float32)),
    "float16": _numpy(lambda x: x.astype(np.float16)),
    "longdouble": _numpy(lambda x: x.astype(np.longdouble)),
    "big-endian": _numpy(lambda x: x.astype(">f8")),
    "int64": _integers(np.int64),
    "uint8": _integers(np.uint8),
    "bool": _numpy(lambda x: x > 0),
    "complex": _numpy(lambda x: x.astype(complex)),
    "objects": _numpy(lambda x: x.astype(object)),
    "texts": _numpy(lambda x: x.astype(str)),
    "dates": _numpy(lambda x: np.zeros(x.shape, "datetime64[s]")),
    "structured": _numpy(lambda x: np.zeros(len(x), [("a", float), ("b", float)])),
    "masked": _numpy(lambda x: np.ma.masked_greater(x, 0)),
    "masked nowhere": _numpy(lambda x: np.ma.masked_array(x)),
    "one vector": _numpy(np.ravel),
    "three axes": _numpy(lambda x: x[:, :, None]),
    "subclass": _numpy(lambda x: np.rec.array(np.array(x))),
    "nested list": lambda x: Given(x.tolist()),
    "nested tuple": lambda x: Given(tuple(map(tuple, x.tolist()))),
    "list of vectors": lambda x: Given(list(x), [x]),
    "ragged list": lambda x: Given([row[: 1 + k % 2] for k, row in enumerate(x.tolist())]),
    "list of batches": lambda x: Given(_halves(x), [x]),
    "generator of batches": lambda x: Given((part for part in _halves(x)), [x]),
    "function of batches": lambda x: Given(lambda: _halves(x), [x]),
    "iterator of rows": lambda x: Given(iter(x), [x]),
    "endless": lambda x: Given(itertools.cycle(x.tolist() or [[0.0]])),
    "DataFrame": lambda x: Given(frame := pd.DataFrame(x), [frame.to_numpy()]),
    "DataFrame of texts": lambda x: Given(pd.DataFrame(x).assign(name="a")),
    "nullable DataFrame": lambda x: Given(pd.DataFrame(x).astype("Float64")),
    "Series": lambda x: Given(pd.Series(x.ravel())),
    "path": _path,
    "memory map": _memmap,
    "text": lambda x: Given("rows"),
    "nothing": lambda x: Given(None),
    "number": lambda x: Given(3.0),
    "empty list": lambda x: Given([]),
    "dict": lambda x: Given({"rows": x}, [x]),
    "object": lambda x: Given(object()),
}
if torch is not None:
    CONTAINERS |= {
        f"tensor {name}": _tensor(change)
        for name, change in {
            "float64": lambda t: t,
            "float32": lambda t: t.float(),
            "float16": lambda t: t.half(),
            "bfloat16": lambda t: t.bfloat16(),
            "int64": lambda t: t.nan_to_num().clamp(-1e9, 1e9).long(),
            "bool": lambda t: t > 0,
            "transposed": lambda t: t.T.contiguous().T,
            "of a gradient": lambda t: t.requires_grad_(),
            "complex": lambda t: t.to(torch.complex64),
            "meta": lambda t: t.to("meta"),
            "quantised": lambda t: torch.quantize_per_tensor(t.float(), 0.1, 0, torch.qint8),
            "sparse": lambda t: t.to_sparse(),
        }.items()
    }

SETTINGS = [
    *(None, True, False, "", "x", "5", "median", "unbiased", b"x", object(), lambda *_: 0),
    *(-1, 0, 1, 2, 3, 7, 1000, 2**31, 2**32, 2**64, 10**12, 10**400, -(10**400)),
    *(0.0, -0.0, 0.5, 1.0, 2.0, 1e3, 1e-12, 1e-200, 1e-320, 1e45, 1e200, float("nan"), float("inf"), -float("inf")),
    *(1j, np.float32(2), np.int8(3), np.array(2), np.array([2]), np.array([1.0, 2.0]), np.nan, np.zeros((2, 2))),
    *(
        [],
        [1],
        [1, 1],
        (1, 2, 3),
        [[1], [1, 2]],
        {},
        {"a": 1},
        {1, 2},
        range(3),
        [float("nan"), 1],
        [-1, 2],
        ["a", "b"],
    ),
]
if torch is not None:
    SETTINGS += [torch.tensor(2.0), torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor(2.0, device="meta")]
