"""DDPM (Ho et al. 2020) of dense residual layers, with a cosine schedule and moving averages of its weights.

Images are predicted themselves: with a network of this size that gave a tenth of the KID that predicting the noise
gives. In the plane the noise is predicted: predicting points thins what is round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import silu

from .layers import DTYPE, Layers, State, adam, dense, weights_with_gradient, with_moments

BETAS = (0.9, 0.999)
DECAY = 0.995  # of the moving average, at each step; less among the first, so that it forgets the start
FREQUENCIES, SAMPLING_STEPS = 16, 50


class DDPM:
    """The model for rows of d columns: points about 0 of size 1, or images in [-1, 1]."""

    losses = ("loss",)

    def __init__(self, dim: int) -> None:
        self.is_plane, self.dim = dim == 2, dim
        wide, blocks, self.times = (64, 2, 100) if self.is_plane else (192, 3, 200)
        self.rate, self.reach = (2e-3, 4.0) if self.is_plane else (2e-3, 1.0)
        inner = [(wide, wide)] * (2 * blocks)
        self.layers = Layers((dim + 2 * FREQUENCIES, wide), *inner, (wide, dim))
        self.kept = _signal_shares(self.times)

    def batch(self, clients: int) -> int:
        return 128 if self.is_plane else 64 if clients == 1 else 32

    def start(self, rng: torch.Generator) -> State:
        weights = self.layers.random_weights(rng, last=0.1)
        return {**with_moments("generator", weights), "generator_ema": weights.clone()}

    def step(self, state: State, draws: Any, number: int) -> torch.Tensor:
        """One step of all clients, in place; their losses, (1, k)."""
        clean, noise = draws.rows(), draws.normal(self.dim)
        time = (draws.uniform() * self.times).long().clamp_(max=self.times - 1)
        kept = self.kept.to(clean)[time]
        noisy = kept.sqrt() * clean + (1 - kept).sqrt() * noise
        weights = weights_with_gradient(state, "generator")
        residual = self._predict(weights, noisy, time) - (noise if self.is_plane else clean)
        loss = residual.square().mean(dim=(1, 2))
        (slope,) = torch.autograd.grad(loss.sum(), weights)
        adam(state, "generator", slope, number, self.rate, BETAS)
        state["generator_ema"].lerp_(state["generator"], 1 - min(DECAY, (1 + number) / (10 + number)))
        return loss.detach()[None]

    def sample(self, state: State, normal: Callable[[int], torch.Tensor]) -> torch.Tensor:
        """(n, d) rows of a state without clients, by 50 ancestral steps; `normal(width)` gives (n, width) latents."""
        weights, x = state["generator_ema"][None], normal(self.dim)[None]
        times = torch.linspace(self.times - 1, 0, SAMPLING_STEPS, dtype=DTYPE).round().long()
        levels = [float(level) for level in self.kept[times]] + [1.0]
        for k, time in enumerate(times):
            kept, before = levels[k], levels[k + 1]
            estimate = self._predict(weights, x, torch.full((*x.shape[:2], 1), int(time), device=x.device))
            if self.is_plane:
                estimate = (x - math.sqrt(1 - kept) * estimate) / math.sqrt(kept)
            estimate = estimate.clamp(-self.reach, self.reach)
            noise_share = 1 - kept / before
            x = (math.sqrt(before) * noise_share * estimate + math.sqrt(kept / before) * (1 - before) * x) / (1 - kept)
            if before < 1:
                x = x + math.sqrt((1 - before) / (1 - kept) * noise_share) * normal(self.dim)[None]
        return x[0]

    def _predict(self, weights: torch.Tensor, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        first, *inner, last = self.layers.cut(weights)
        powers = torch.arange(FREQUENCIES, device=x.device, dtype=x.dtype) / FREQUENCIES
        angles = time.to(x) * torch.exp(-math.log(self.times) * powers)
        h = dense(torch.cat([x, angles.sin(), angles.cos()], dim=2), first)
        for one, other in zip(inner[::2], inner[1::2], strict=True):
            h = h + dense(silu(dense(silu(h), one)), other)
        return dense(silu(h), last)


def _signal_shares(times: int) -> torch.Tensor:
    """The share of the clean signal's variance left at each time (Nichol & Dhariwal 2021), float64."""
    at = torch.linspace(0, 1, times + 1, dtype=torch.float64)
    level = torch.cos((at + 0.008) / 1.008 * math.pi / 2) ** 2
    lost = (1 - level[1:] / level[:-1]).clamp(max=0.999)
    return torch.cumprod(1 - lost, dim=0)
