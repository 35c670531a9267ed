"""WGAN-GP (Gulrajani et al. 2017) of dense layers: latents → generator → rows; a critic with a gradient penalty.

A step is three of the critic and one of the generator. Sizes, rates and penalties were seen to work in minutes on one
core: at d = 2 a penalty of 10 throws points far out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import leaky_relu

from .layers import Layers, State, adam, dense, weights_with_gradient, with_moments

BETAS = (0.0, 0.9)
CRITIC_STEPS = 3


class WGAN:
    """The model for rows of d columns, in the plane or images in [0, 1]."""

    losses = ("critic", "generator")

    def __init__(self, dim: int) -> None:
        self.is_plane = dim == 2
        self.latent, wide = (2, 64) if self.is_plane else (16, 128)
        self.rate, self.penalty = (1e-3, 0.5) if self.is_plane else (5e-4, 10.0)
        self.generator = Layers.chain(self.latent, wide, wide, dim)
        self.critic = Layers.chain(dim, wide, wide, 1)

    def batch(self, clients: int) -> int:
        return 128 if self.is_plane else 64 if clients == 1 else 32

    def start(self, rng: torch.Generator) -> State:
        networks = {"generator": self.generator, "critic": self.critic}
        return {
            key: part
            for name, layers in networks.items()
            for key, part in with_moments(name, layers.random_weights(rng)).items()
        }

    def step(self, state: State, draws: Any, number: int) -> torch.Tensor:
        """One step of all clients, in place; their losses of critic and generator, (2, k)."""
        for k in range(CRITIC_STEPS):
            real, latents, share = draws.rows(), draws.normal(self.latent), draws.uniform()
            with torch.no_grad():
                generated = self._generate(state["generator"], latents)
            weights = weights_with_gradient(state, "critic")
            layers = self.critic.cut(weights)
            between = torch.lerp(generated, real, share).requires_grad_()
            (slope,) = torch.autograd.grad(_criticize(between, layers).sum(), between, create_graph=True)
            excess = (slope.square().sum(dim=2) + 1e-12).sqrt() - 1
            critic_gap = _criticize(generated, layers).mean(dim=(1, 2)) - _criticize(real, layers).mean(dim=(1, 2))
            loss = critic_gap + self.penalty * excess.square().mean(dim=1)
            (slope,) = torch.autograd.grad(loss.sum(), weights)
            adam(state, "critic", slope, CRITIC_STEPS * (number - 1) + k + 1, self.rate, BETAS)
        weights = weights_with_gradient(state, "generator")
        generated = self._generate(weights, draws.normal(self.latent))
        generator_loss = -_criticize(generated, self.critic.cut(state["critic"])).mean(dim=(1, 2))
        (slope,) = torch.autograd.grad(generator_loss.sum(), weights)
        adam(state, "generator", slope, number, self.rate, BETAS)
        return torch.stack([loss.detach(), generator_loss.detach()])

    def sample(self, state: State, normal: Callable[[int], torch.Tensor]) -> torch.Tensor:
        """(n, d) rows of a state without clients; `normal(width)` gives (n, width) latents."""
        return self._generate(state["generator"][None], normal(self.latent)[None])[0]

    def _generate(self, weights: torch.Tensor, latents: torch.Tensor) -> torch.Tensor:
        *hidden, last = self.generator.cut(weights)
        x = latents
        for layer in hidden:
            x = dense(x, layer).relu()
        x = dense(x, last)
        return x if self.is_plane else x.sigmoid()


def _criticize(x: torch.Tensor, layers: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    *hidden, last = layers
    for layer in hidden:
        x = leaky_relu(dense(x, layer), 0.2)
    return dense(x, last)
