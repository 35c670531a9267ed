"""Scores inside a training loop in torch: rows come by update(), scores by compute(); imports torch at once."""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError('nbmetrics.torch needs torch. Run: pip install "nbmetrics[images]"') from error

from .score import Score

__all__ = ["Score"]


def __dir__() -> list[str]:
    return sorted(__all__)
