"""Federated averaging: the clients stacked along the first axis take their steps together, then their average counts.

Everything random comes from one torch.Generator on the CPU, whose state goes into every checkpoint. An average is the
first client plus the weighted differences from it: alike clients, and a client alone, keep every bit.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ..arrays import plain_torch
from ..progress import progress_bar
from .checkpoints import checkpoint_name, checkpoint_rounds, newest_checkpoint
from .layers import DTYPE, State
from .models import model_of
from .trained import Trained

# What is no weight or moment: kept beside them in every state.
CARRIED_STATE = ("centre", "scale", "rng")


class Plan(NamedTuple):
    """The arguments of a run, checked."""

    kind: str
    dim: int
    rounds: int
    local_steps: int
    seed: int
    device: torch.device
    run: str


class Draws:
    """Batches of every client's rows, and noise for them, (k, b, ·)."""

    def __init__(self, data: Any, batch: int, rng: torch.Generator, device: torch.device) -> None:
        counts = torch.tensor([len(rows) for rows in data.rows])
        self._rows = torch.cat([torch.from_numpy(rows) for rows in data.rows]).to(device)
        self._counts, self._first = counts[:, None], (counts.cumsum(0) - counts)[:, None]
        self._shape, self._rng, self._device = (len(counts), batch), rng, device

    def rows(self) -> torch.Tensor:
        shares = torch.rand(self._shape, generator=self._rng, dtype=torch.float64)
        places = self._first + (shares * self._counts).long().clamp(max=self._counts - 1)
        return self._rows[places.to(self._device)]

    def normal(self, width: int) -> torch.Tensor:
        return torch.randn((*self._shape, width), generator=self._rng, dtype=DTYPE).to(self._device)

    def uniform(self) -> torch.Tensor:
        return torch.rand((*self._shape, 1), generator=self._rng, dtype=DTYPE).to(self._device)


def run_rounds(plan: Plan, data: Any, start: Trained | None, monitor: Any, folder: Path | None) -> Trained:
    """Return the model after the rounds of the plan; those that the folder holds are not done again."""
    checkpoint = None if folder is None else newest_checkpoint(folder, plan.run, plan.rounds)
    with plain_torch():
        if checkpoint is None:
            model, rng = _initial_model(plan, data, start)
        else:
            model, rng = _to_device(checkpoint, plan), torch.Generator()
            rng.set_state(checkpoint.state["rng"])
        network, kept_rounds = model_of(plan.kind, plan.dim), checkpoint_rounds(plan.rounds)
        draws = Draws(data, network.batch(len(data.rows)), rng, plan.device)
        weights = torch.tensor(data.weights, dtype=torch.float32, device=plan.device)[:, None]
    bar = progress_bar("auto", plan.rounds, plan.kind, " rounds", initial=model.rounds)
    with bar:
        while model.rounds < plan.rounds:
            with plain_torch():  # not what the monitor does
                state, losses = _average_round(network, model, draws, weights, plan.local_steps)
                means = (losses @ weights)[:, 0].tolist()
            state["rng"] = rng.get_state()
            model = replace(model, rounds=model.rounds + 1, steps=model.steps + plan.local_steps, state=state)
            if monitor is not None:
                named = zip(network.losses, means, strict=True)
                hand_over = getattr(monitor, "keep", monitor.log) if model.rounds == plan.rounds else monitor.log
                hand_over(model.steps, _source(model, monitor), **dict(named))
            if folder is not None and model.rounds in kept_rounds:
                model.save(folder / checkpoint_name(model.rounds))
            bar.update()
    return model


def _initial_model(plan: Plan, data: Any, start: Trained | None) -> tuple[Trained, torch.Generator]:
    """Return the model before the first round: of fresh weights, or those of `start`."""
    rng = torch.Generator().manual_seed(plan.seed)
    if start is not None:
        state = {name: part.to(plan.device) for name, part in start.state.items() if name not in CARRIED_STATE}
    else:
        state = {name: part.to(plan.device) for name, part in model_of(plan.kind, plan.dim).start(rng).items()}
    size = torch.tensor([data.scale], dtype=torch.float64)
    state |= {"centre": torch.tensor(data.centre), "scale": size, "rng": rng.get_state()}
    return Trained(plan.kind, plan.dim, 0, 0 if start is None else start.steps, plan.run, state), rng


def _to_device(checkpoint: Trained, plan: Plan) -> Trained:
    state = {name: part if name in CARRIED_STATE else part.to(plan.device) for name, part in checkpoint.state.items()}
    return replace(checkpoint, state=state)


def _average_round(
    model: Any, current: Trained, draws: Draws, weights: torch.Tensor, local_steps: int
) -> tuple[State, torch.Tensor]:
    """Return the state after a round, and the mean losses of each client in it, (losses, k)."""
    shared = {name: part for name, part in current.state.items() if name not in CARRIED_STATE}
    state = {name: part.repeat(len(weights), 1) for name, part in shared.items()}
    losses = torch.zeros(len(model.losses), len(weights), dtype=DTYPE, device=weights.device)
    for step in range(1, local_steps + 1):
        losses += model.step(state, draws, current.steps + step)
    averages = {name: average(part, weights) for name, part in state.items()}
    return {**averages, **{name: current.state[name] for name in CARRIED_STATE}}, losses / local_steps


def average(stacked: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """(k, p) rows by weights (k, 1), Σ = 1, to (p,): the first and the weighted differences from it."""
    return stacked[0] + (weights * (stacked - stacked[0])).sum(dim=0)


def _source(now: Trained, monitor: Any) -> Any:
    """Return what the monitor draws from: the model's rows, or its images where its federation has an extractor."""
    extraction = getattr(getattr(monitor, "federation", None), "extraction", None)
    return now.sample if extraction is None else now.images
