"""The models by name and width; entering it imports torch."""

from __future__ import annotations

from functools import cache
from typing import Any

from .ddpm import DDPM
from .wgan import WGAN


@cache
def model_of(kind: str, dim: int) -> Any:
    return {"wgan-gp": WGAN, "ddpm": DDPM}[kind](dim)
