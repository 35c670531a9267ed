"""`train` and `load`: all arguments are checked before anything is computed; torch is needed only then."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from ..arrays import to_numpy
from ..errors import InvalidInput, check_choice, check_count, shown
from ..federation import Client, Federation
from .checkpoints import checkpoint_folder
from .trained import KINDS, Trained, check_package, read_model

MAX_ROUNDS, MAX_LOCAL_STEPS, MAX_TRAINING_CLIENTS = 1_000_000, 100_000, 200
FIX_DIM = "Give points of 2 columns, or digits as 64 columns in [0, 1], such as nm.datasets.digits()"


class Data(NamedTuple):
    """Clients' rows in the model's coordinates (x − centre) / scale, float32, and their weights."""

    rows: list[np.ndarray]
    weights: list[float]
    centre: np.ndarray
    scale: float


def train(
    kind: str,
    federation: Any,
    *,
    rounds: int,
    local_steps: int,
    seed: int = 0,
    monitor: Any = None,
    checkpoints: Any = None,
    device: Any = "auto",
    start: Trained | None = None,
) -> Trained:
    """Train a generator over clients by federated averaging (FedAvg, McMahan et al. 2017).

    In each round every client takes `local_steps` steps on batches of its own rows, from the weights that all share;
    then weights, and the moments of Adam with them, are averaged with the federation's weights. One client is ordinary
    training, bit for bit, whatever `local_steps`. Sizes follow the data: 2 columns are points in the plane, 64 are
    digits of 8 × 8.

    Parameters
    ----------
    kind : "wgan-gp" (Gulrajani et al. 2017; a step is three of the critic and one of the generator) or "ddpm" (Ho et
        al. 2020; images are predicted themselves, in the plane the noise is; samples are of the moving average)
    federation : clients with rows, (n, 2), or (n, 64) in [0, 1]; points are centred and scaled as a whole
    rounds : 1 to 1,000,000 rounds of averaging, in all, those that `checkpoints` already holds among them
    local_steps : 1 to 100,000 steps between two averages: 1 for clients of one class, which drift apart (at 10 KID of
        digits is several times as large, at the papers' 160 they are blurs); for milder mixtures 10 and more
    seed : of weights, batches and noise
    monitor : an `nm.Monitor`, or any object with `log(step, source, **losses)`, called after each round with the steps
        behind the model, the `sample` of that round's model (its `images` where `monitor.federation` has an extractor),
        and the mean losses of the round, after the last one by `keep` where it has that. Training's bits are the same
        with and without it
    checkpoints : a folder for the models of ten rounds spread evenly; a run that was interrupted goes on from the
        newest, with the bits that it would have had
    device : "auto", "cpu", "cuda", … Noise and batches are drawn on the CPU, so a seed means the same on every device
    start : a model to go on from, on any federation of the same columns. A collapse is training that goes on with one
        class or one point; a client left out is `federation.drop(name)`

    Returns
    -------
    Trained, with `.sample(n, rng, psi=1.0)` and `.save(path)`.

    Raises
    ------
    InvalidInput
        For clients without rows, rows that are features of images or of other widths, and numbers out of range.

    Examples
    --------
    `federation = nm.Federation.from_labels(*nm.datasets.digits())`, then
    `trained = nm.training.train("ddpm", federation, rounds=1200, local_steps=1)`, a minute or two on one core, and
    `nm.evaluate(federation, {"ddpm": trained})`. A collapse to the class 8:
    `nm.training.train("wgan-gp", [federation["8"]], rounds=300, local_steps=1, start=trained)`.
    """
    check_choice(kind, KINDS, "kind")
    federation = federation if isinstance(federation, Federation) else Federation(federation)
    rounds = check_count(rounds, "rounds", maximum=MAX_ROUNDS)
    local_steps = check_count(local_steps, "local_steps", maximum=MAX_LOCAL_STEPS)
    seed = check_count(seed, "seed", minimum=0, maximum=2**63 - 1)
    if monitor is not None and not callable(getattr(monitor, "log", None)):
        raise InvalidInput("monitor", f"got {shown(monitor)}", "Give an nm.Monitor, or an object with a method log")
    _check_start(start, kind, federation.dim)
    data = _data(federation, kind, start)
    for package in ("torch", *["safetensors"] * (checkpoints is not None)):
        check_package(package)
    from ..features.torch_environment import device_of
    from . import loop

    where = device_of(device)
    folder = None if checkpoints is None else checkpoint_folder(checkpoints)
    run = _run_fingerprint(data, kind, local_steps, seed, start)
    plan = loop.Plan(kind, federation.dim, rounds, local_steps, seed, where, run)
    return loop.run_rounds(plan, data, start, monitor, folder)


def load(path: Any) -> Trained:
    """The model in a `.safetensors` file that `Trained.save` or a checkpoint wrote, on the CPU.

    Raises InvalidInput for any other file; nothing in it is run.
    """
    check_package("torch")
    return read_model(path)


def _check_start(start: Any, kind: str, dim: int) -> None:
    if start is None:
        return
    if not isinstance(start, Trained):
        raise InvalidInput("start", f"got {shown(start)}", "Give the result of nm.training.train or .load")
    if (start.kind, start.dim) != (kind, dim):
        seen = f"is a {start.kind} of {start.dim} columns, but a {kind} of {dim} is needed"
        raise InvalidInput("start", seen, "Continue with the same kind and the same columns")


def _data(federation: Federation, kind: str, start: Trained | None) -> Data:
    parts = [(c, w) for c, w in zip(federation, federation.weights, strict=True) if w]
    if len(parts) > MAX_TRAINING_CLIENTS:
        fix = f"Train over at most {MAX_TRAINING_CLIENTS}: merge or drop some"
        raise InvalidInput("federation", f"has {len(parts)} clients of positive weight", fix)
    rows, weights = [_rows_of(client) for client, _ in parts], [weight for _, weight in parts]
    if start is not None:
        centre, scale = start.state["centre"].numpy(), float(start.state["scale"])
    elif federation.dim == 64:
        # a DDPM wants data about 0
        centre, scale = np.full(64, 0.5 if kind == "ddpm" else 0.0), 0.5 if kind == "ddpm" else 1.0
    else:
        centre = sum(w * x.mean(axis=0) for x, w in zip(rows, weights, strict=True))
        square = sum(w * ((x - centre) ** 2).sum(axis=1).mean() for x, w in zip(rows, weights, strict=True))
        scale = float(np.sqrt(square)) or 1.0
    return Data([((x - centre) / scale).astype(np.float32) for x in rows], weights, centre, scale)


def _rows_of(client: Client) -> np.ndarray:
    who = f"client {shown(client.name)}"
    if client.extraction is not None:
        fix = "Train on pixels as rows, images.reshape(len(images), -1) / 255; score the model's images on features"
        raise InvalidInput("federation", f"{who} has features of images, from which no image comes back", fix)
    if client.rows is None:
        fix = "Draw rows first: nm.Client(distribution.sample(1000, rng))"
        raise InvalidInput("federation", f"{who} is {client.without_rows}, and has no rows", fix)
    if client.condition is not None:
        fix = "Leave the conditions out: these models take none"
        raise InvalidInput("federation", f"{who} has a condition", fix)
    if client.dim not in (2, 64):
        raise InvalidInput("federation", f"{who} has {client.dim} columns", FIX_DIM)
    rows = to_numpy(client.rows).astype(np.float64)
    if client.dim == 64 and not (rows.min() >= 0 and rows.max() <= 1):
        seen = f"{who} has 64 columns with values from {rows.min():g} to {rows.max():g}"
        raise InvalidInput("federation", seen, "Give digits in [0, 1]: divide by the largest value, such as 16 or 255")
    return rows


def _run_fingerprint(data: Data, kind: str, local_steps: int, seed: int, start: Trained | None) -> str:
    """Return what two runs share exactly when one can go on where the other stopped."""
    total = hashlib.sha256(repr((kind, local_steps, seed, data.weights, list(map(len, data.rows)))).encode())
    for part in (*data.rows, data.centre, np.array(data.scale)):
        total.update(part.tobytes())
    if start is not None:
        total.update(f"{start.run} {start.rounds}".encode())
        total.update(start.state["generator"].cpu().numpy().tobytes())
    return total.hexdigest()[:16]
