"""The network of DINOv2, whose code torch.hub would fetch and run: written out, so that weights are all it needs.

After Oquab et al., DINOv2: Learning Robust Visual Features without Supervision (2023), with the names of the published
state dicts. Importing this imports torch.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

PATCH, TRAINED = 14, 37  # trained on 518 × 518 pixels: 37 × 37 patches
SIZES = {"s": (384, 12, 6), "b": (768, 12, 12), "l": (1024, 24, 16), "g": (1536, 40, 24)}
LayerNorm = partial(nn.LayerNorm, eps=1e-6)


class LayerScale(nn.Module):
    """A factor for each feature."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(dim))

    def forward(self, x: Any) -> Any:
        return x * self.gamma


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x: Any) -> Any:
        n, tokens, dim = x.shape
        q, k, v = self.qkv(x).reshape(n, tokens, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        return self.proj(functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, tokens, dim))


class Mlp(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x: Any) -> Any:
        return self.fc2(functional.gelu(self.fc1(x)))


class GatedMlp(nn.Module):
    """SwiGLU, in the largest model; its width is two thirds of the other's, rounded up to a multiple of 8."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        width = (int(4 * dim * 2 / 3) + 7) // 8 * 8
        self.w12, self.w3 = nn.Linear(dim, 2 * width), nn.Linear(width, dim)

    def forward(self, x: Any) -> Any:
        gate, value = self.w12(x).chunk(2, dim=-1)
        return self.w3(functional.silu(gate) * value)


class Block(nn.Module):
    def __init__(self, dim: int, heads: int, is_gated: bool) -> None:
        super().__init__()
        self.norm1, self.attn, self.ls1 = LayerNorm(dim), Attention(dim, heads), LayerScale(dim)
        self.norm2, self.mlp, self.ls2 = LayerNorm(dim), (GatedMlp if is_gated else Mlp)(dim), LayerScale(dim)

    def forward(self, x: Any) -> Any:
        x = x + self.ls1(self.attn(self.norm1(x)))
        return x + self.ls2(self.mlp(self.norm2(x)))


class DinoV2(nn.Module):
    """(b, 3, H, W) to the (b, dim) class token behind the last block; H = W, a multiple of 14."""

    def __init__(self, dim: int, depth: int, heads: int, is_gated: bool = False) -> None:
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + TRAINED**2, dim))
        self.mask_token = nn.Parameter(torch.zeros(1, dim))  # of its training
        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(3, dim, PATCH, PATCH)})
        self.blocks = nn.ModuleList(Block(dim, heads, is_gated) for _ in range(depth))
        self.norm = LayerNorm(dim)

    def forward(self, x: Any) -> Any:
        patches = self.patch_embed["proj"](x)
        tokens = torch.cat([self.cls_token.expand(len(x), -1, -1), patches.flatten(2).transpose(1, 2)], dim=1)
        tokens = tokens + self.places(patches.shape[-1])
        for block in self.blocks:
            tokens = block(tokens)
        return self.norm(tokens)[:, 0]

    def places(self, side: int) -> Any:
        """(1, 1 + side², dim): what is learned of places, interpolated to side × side patches with the authors' 0.1."""
        first, others = self.pos_embed[:, :1], self.pos_embed[:, 1:]
        if side == TRAINED:
            return self.pos_embed
        grid = others.reshape(1, TRAINED, TRAINED, -1).permute(0, 3, 1, 2)
        grid = functional.interpolate(grid, scale_factor=(side + 0.1) / TRAINED, mode="bicubic")
        return torch.cat([first, grid.flatten(2).transpose(1, 2)], dim=1)


def dinov2(name: str, state: dict[str, Any]) -> DinoV2:
    """The network of torch-fidelity's name, dinov2-vit-s-14 to -g-14, with these weights."""
    letter = name.split("-")[2]
    dim, depth, heads = SIZES[letter]
    network = DinoV2(dim, depth, heads, letter == "g")
    network.load_state_dict(state)
    return network
