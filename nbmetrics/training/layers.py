"""Dense layers of many clients at once: one flat row of weights a client, one batched product a layer, and Adam."""

from __future__ import annotations

import itertools

import torch

State = dict[str, torch.Tensor]
DTYPE = torch.float32  # named everywhere, as the default type is the user's


class Layers:
    """Where the layers of a network lie in one flat row: weights (in, out), then biases, layer after layer.

    A row of all weights keeps averages, moments and moving averages one operation each, whatever the network is.
    """

    def __init__(self, *widths: tuple[int, int]) -> None:
        self.widths = widths
        self.sizes = [size for wide, out in widths for size in (wide * out, out)]

    @classmethod
    def chain(cls, *widths: int) -> Layers:
        return cls(*itertools.pairwise(widths))

    def random_weights(self, rng: torch.Generator, last: float = 1.0) -> torch.Tensor:
        """Random weights, (p,), normal of variance 1/in, those of the last layer `last` times as large; biases are 0.

        Uniform within ±1/√in, which torch's layers begin with, left digits with two to three times the KID.
        """
        parts = []
        for position, (wide, out) in enumerate(self.widths):
            scale = wide**-0.5 * (last if position == len(self.widths) - 1 else 1.0)
            parts += [scale * torch.randn(wide * out, generator=rng, dtype=DTYPE), torch.zeros(out, dtype=DTYPE)]
        return torch.cat(parts)

    def cut(self, flat: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Weights (k, in, out) and biases (k, 1, out) of each layer, out of (k, p)."""
        parts, k = flat.split(self.sizes, dim=1), len(flat)
        pairs = zip(parts[::2], parts[1::2], self.widths, strict=True)
        return [(weight.view(k, wide, out), bias.view(k, 1, out)) for weight, bias, (wide, out) in pairs]


def dense(x: torch.Tensor, layer: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """(k, b, in) through a layer of each of the k clients: (k, b, out)."""
    weight, bias = layer
    return torch.baddbmm(bias, x, weight)


def with_moments(name: str, weights: torch.Tensor) -> State:
    """The weights of a network by this name, with Adam's moments, which start at 0."""
    return {name: weights, f"{name}_m": torch.zeros_like(weights), f"{name}_v": torch.zeros_like(weights)}


def weights_with_gradient(state: State, name: str) -> torch.Tensor:
    """The weights (k, p) of a network as what gradients are taken for."""
    return state[name].detach().requires_grad_()


@torch.no_grad()
def adam(state: State, name: str, slope: torch.Tensor, time: int, rate: float, betas: tuple[float, float]) -> None:
    """Step number `time` (from 1) of Adam (Kingma & Ba 2015), in place."""
    first, second = state[f"{name}_m"], state[f"{name}_v"]
    first.lerp_(slope, 1 - betas[0])
    second.mul_(betas[1]).addcmul_(slope, slope, value=1 - betas[1])
    root = (second / (1 - betas[1] ** time)).sqrt_().add_(1e-8)
    state[name].addcdiv_(first, root, value=-rate / (1 - betas[0] ** time))
