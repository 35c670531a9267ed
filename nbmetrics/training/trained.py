"""A trained generator: a distribution to draw from, and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import plain_array, plain_torch
from ..distributions import Rng, check_draw, random_stream
from ..errors import InvalidInput, check_number, shown
from ..files import checked_path
from ..files import write as write_file

KINDS = ("wgan-gp", "ddpm")
SUFFIX = ".safetensors"
CHUNK = 4096  # rows that are made at once
MAX_FILE_BYTES = 2 * 10**9
FIX_FILE = "Give a file that Trained.save wrote"


@dataclass(frozen=True, eq=False)
class Trained:
    """A generator as a round of training left it: a distribution that `nm.evaluate` takes, and draws from by `sample`.

    Attributes
    ----------
    kind : "wgan-gp" or "ddpm"
    dim : columns of its rows
    rounds : rounds of averaging behind it
    steps : local steps of each client behind it
    run : which run it is of, a fingerprint of data, seed and local steps
    state : torch tensors by name, weights and all that going on needs; not to be changed
    """

    kind: str
    dim: int
    rounds: int
    steps: int
    run: str = field(repr=False)
    state: Any = field(repr=False)

    def sample(self, n: int, rng: Rng, psi: float = 1.0) -> np.ndarray:
        """(n, d) float64 rows; digits in [0, 1].

        Parameters
        ----------
        n : how many
        rng : a NumPy Generator, or a seed; nothing else is drawn from
        psi : truncation ψ, 0 to 1: latents times ψ, of a DDPM all of its noise; less variety, more typical rows

        Raises InvalidInput for a number out of its range.

        Examples
        --------
        `nm.training.load("digits.safetensors").sample(100, np.random.default_rng(0), psi=0.7)`
        """
        count, stream = check_draw(n, self.dim), random_stream(rng)
        scale = check_number(psi, "psi", minimum=0, maximum=1)
        import torch

        from .models import model_of

        model, where = model_of(self.kind, self.dim), self.state["generator"].device
        parts = [np.empty((0, self.dim))]
        with plain_torch(), torch.no_grad():
            for start in range(0, count, CHUNK):
                rows = min(CHUNK, count - start)

                def normal(width: int, rows: int = rows) -> Any:
                    latents = stream.standard_normal((rows, width), dtype=np.float32)
                    return torch.from_numpy(np.float32(scale) * latents).to(where)

                parts.append(model.sample(self.state, normal).cpu().double().numpy())
        centre, size = (self.state[name].numpy() for name in ("centre", "scale"))
        rows = centre + size * np.concatenate(parts)
        if not np.isfinite(rows).all():
            seen = "has weights so large that its rows are NaN or infinite"
            raise InvalidInput("model", seen, "Train it again, or take an earlier checkpoint")
        return rows

    def images(self, n: int, rng: Rng, psi: float = 1.0) -> np.ndarray:
        """(n, 8, 8) uint8 images of a model of digits, as a federation with an extractor scores them."""
        return as_images(self.sample(n, rng, psi))

    def save(self, path: Any) -> Path:
        """Write a `.safetensors` file, which `nm.training.load` reads; returns its path."""
        target = checked_path(path, SUFFIX)
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in self.state.items()}
        about = {"format": "nbmetrics-trained-1", "kind": self.kind, "run": self.run}
        about |= {name: str(getattr(self, name)) for name in ("dim", "rounds", "steps")}
        write_arrays(target, arrays, about)
        return target


def as_images(rows: Any) -> np.ndarray:
    """(n, 64) rows in [0, 1] as (n, 8, 8) uint8 images, round(255 x): those of `nm.datasets.digit_images`.

    >>> nm.training.as_images(np.ones((2, 64))).shape
    (2, 8, 8)
    """
    pixels = plain_array(rows, "rows")
    if pixels.dtype.kind not in "biuf":
        raise InvalidInput("rows", f"has dtype {pixels.dtype}", "Give numbers from 0 to 1")
    pixels = pixels.astype(float)
    if pixels.ndim != 2 or pixels.shape[1] != 64:
        raise InvalidInput("rows", f"has shape {pixels.shape}", "Give (n, 64) rows, images of 8 × 8 as they are read")
    if len(pixels) and not (pixels.min() >= 0 and pixels.max() <= 1):
        raise InvalidInput("rows", f"has values from {pixels.min():g} to {pixels.max():g}", "Give values from 0 to 1")
    return np.round(255 * pixels).astype(np.uint8).reshape(-1, 8, 8)


def check_package(name: str) -> None:
    """Raise InvalidInput where a package that training needs is not installed."""
    if find_spec(name) is None:
        seen = f"needs {name}, which is not installed"
        raise InvalidInput("training", seen, 'Run: pip install "nbmetrics[images]"')


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], about: Mapping[str, str]) -> None:
    """Write arrays by name, and texts about them, as a safetensors file, whole or not at all."""
    check_package("safetensors")
    from safetensors.numpy import save

    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_file(path, save(contiguous, dict(about)))


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the arrays of a safetensors file, and the texts about them; InvalidInput for a file that is none."""
    check_package("safetensors")
    from safetensors import SafetensorError, safe_open

    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError("too large")
        with safe_open(path, "np") as file:
            names, about = file.keys(), file.metadata() or {}
            return {name: np.array(file.get_tensor(name)) for name in names}, about
    except (OSError, ValueError, TypeError, AttributeError, SafetensorError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        seen = f"{shown(str(path))}: {reason or 'is not a safetensors file of a trained model'}"
        raise InvalidInput("path", seen, FIX_FILE) from None


def read_model(path: Any) -> Trained:
    """Return the model in a file of `Trained.save`, all of it checked against what such a model has; needs torch."""
    import torch

    from .models import model_of

    target = checked_path(path, SUFFIX)
    arrays, about = read_arrays(target)
    try:
        kind, numbers = about["kind"], [int(about[name]) for name in ("dim", "rounds", "steps")]
        if about["format"] != "nbmetrics-trained-1" or kind not in KINDS or numbers[0] not in (2, 64):
            raise ValueError
        if not all(0 <= number < 10**15 for number in numbers):
            raise ValueError
        with plain_torch():
            fresh = model_of(kind, numbers[0]).start(torch.Generator())
        shapes = {name: tuple(part.shape) for name, part in fresh.items()} | {"centre": (numbers[0],), "scale": (1,)}
        shapes["rng"] = tuple(torch.Generator().get_state().shape)
        if {name: array.shape for name, array in arrays.items()} != shapes:
            raise ValueError
        types = {"rng": np.uint8, "centre": np.float64, "scale": np.float64}
        if any(array.dtype != types.get(name, np.float32) for name, array in arrays.items()):
            raise ValueError
        torch.Generator().set_state(torch.from_numpy(arrays["rng"]))
    except (KeyError, ValueError, RuntimeError):
        raise InvalidInput("path", f"{shown(str(target))} contains no trained model", FIX_FILE) from None
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise InvalidInput("path", f"{shown(str(target))} contains numbers that are NaN or infinite", FIX_FILE)
    state = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return Trained(kind, numbers[0], numbers[1], numbers[2], about.get("run", ""), state)
