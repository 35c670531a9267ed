"""Trains the digits-cnn: `python -m nbmetrics.features.train_digits [--out FILE] [--epochs 60] [--seed 0]`.

digits → augmented batches → the network of `digits.py` with a last layer that names the class → without that layer,
scaled, as float16 in an .npz. One thread, everything from one seed: the same machine makes the same file again.
Half a minute on one core.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError:
    raise ImportError('training needs torch, which is not installed: pip install "nbmetrics[images]"') from None

from ..datasets import digit_images
from ..errors import check_count
from .digits import DIM, SHAPES, WEIGHTS, DigitsCNN, accuracy, split

BATCH, RATE, DECAY, SMOOTHING = 64, 3e-3, 1e-2, 0.05


def network() -> nn.Sequential:
    """Images (b, 1, 8, 8) in [0, 1] to features (b, 64).

    No ReLU comes last: with one 17 of 64 features were 0 on all digits, and their covariance singular.
    """
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU()),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(192, DIM)),
    )


def _layers(net: nn.Sequential) -> dict[str, Any]:
    return dict(zip(SHAPES, (layer for layer in net if hasattr(layer, "weight")), strict=True))


def arrays_of(net: nn.Sequential) -> dict[str, np.ndarray]:
    """The weights as `digits.SHAPES` has them: (places × channels in, channels out)."""
    arrays = {}
    for name, layer in _layers(net).items():
        weight = layer.weight.detach()
        # What is left before the linear layer is 48 channels of 2 × 2.
        kernel = weight if weight.ndim == 4 else weight.reshape(DIM, 48, 2, 2)
        arrays[name] = kernel.permute(2, 3, 1, 0).reshape(SHAPES[name]).numpy()
        arrays[f"{name}_bias"] = layer.bias.detach().numpy()
    return arrays


def network_of(arrays: dict[str, np.ndarray]) -> nn.Sequential:
    """The network with these weights: `arrays_of` backwards."""
    net = network()
    with torch.no_grad():
        for name, layer in _layers(net).items():
            side = 3 if layer.weight.ndim == 4 else 2
            kernel = torch.tensor(arrays[name], dtype=torch.float32).reshape(side, side, -1, SHAPES[name][1])
            layer.weight.copy_(kernel.permute(3, 2, 0, 1).reshape(layer.weight.shape))
            layer.bias.copy_(torch.tensor(arrays[f"{name}_bias"]))
    return net


def augment(x: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
    """Images (b, 1, 8, 8) in [0, 1], each turned, scaled, shifted, perhaps blurred, of other contrast, with noise."""
    n = len(x)

    def drawn(low: float, high: float) -> torch.Tensor:
        return low + (high - low) * torch.rand(n, 1, 1, 1, generator=rng)

    def moved(x: torch.Tensor) -> torch.Tensor:
        angle, zoom, aspect = drawn(-0.125, 0.125), drawn(0.85, 1.6), drawn(0.85, 1.15)
        across, down = drawn(-1, 1), drawn(-1, 1)  # pixels; the width of 8 of them is 2 in units of the grid
        rows = (
            (zoom * aspect * angle.cos(), -zoom * aspect * angle.sin(), across / 4),
            (zoom / aspect * angle.sin(), zoom / aspect * angle.cos(), down / 4),
        )
        theta = torch.stack([torch.cat([v.reshape(n, 1) for v in row], dim=1) for row in rows], dim=1)
        # Twice as large while it is moved: on 8 × 8 pixels a bilinear move is a blur.
        fine = functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        grid = functional.affine_grid(theta, list(fine.shape), align_corners=False)
        return functional.avg_pool2d(functional.grid_sample(fine, grid, align_corners=False), 2)

    x = moved(x)
    binomial = torch.tensor([1.0, 2.0, 1.0]) / 4
    blurred = functional.conv2d(x, torch.outer(binomial, binomial)[None, None], padding=1)
    x = torch.where(drawn(0, 1) < 0.25, blurred, x).clamp(min=0)
    x = drawn(0.7, 1) * x ** drawn(-0.4, 0.4).exp()
    return (x + drawn(0, 0.15) * torch.randn(x.shape, generator=rng)).clamp(0, 1)


def train(epochs: int = 60, seed: int = 0) -> tuple[dict[str, np.ndarray], float]:
    """The weights as arrays of float16, and the share of held-out digits that the last layer, now dropped, got right.

    The features are scaled together by one number, so that their mean variance over the training digits is 1.
    """
    pictures, labels = digit_images()
    x = torch.tensor(pictures)[:, None] / 255
    y = torch.tensor(labels, dtype=torch.long)
    kept, held_out = (torch.tensor(part) for part in split(labels))
    rng = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net, head = network(), nn.Sequential(nn.LeakyReLU(0.1), nn.Linear(DIM, 10))
    optimizer = torch.optim.AdamW([*net.parameters(), *head.parameters()], lr=RATE, weight_decay=DECAY)
    steps = -(-len(kept) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=epochs * steps)
    for _ in range(epochs):
        for batch in kept[torch.randperm(len(kept), generator=rng)].split(BATCH):
            optimizer.zero_grad()
            logits = head(net(augment(x[batch], rng)))
            functional.cross_entropy(logits, y[batch], label_smoothing=SMOOTHING).backward()
            optimizer.step()
            schedule.step()
    with torch.no_grad():
        right = (head(net(x[held_out])).argmax(dim=1) == y[held_out]).float().mean().item()
        scale = net(x[kept]).var(dim=0, correction=0).mean().sqrt()
        for parameter in net[-1].parameters():
            parameter /= scale
    return {name: array.astype(np.float16) for name, array in arrays_of(net).items()}, right


def save(arrays: dict[str, np.ndarray], path: Any) -> float:
    """Write the weights with the accuracy of their features as they will be read, which is returned."""
    pictures, labels = digit_images()
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "draft.npz"
        np.savez(draft, accuracy=np.float64(0), **arrays)  # type: ignore[arg-type]
        reached = accuracy(DigitsCNN(draft)(list(pictures)), labels)
    np.savez(path, accuracy=np.float64(reached), **arrays)  # type: ignore[arg-type]
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m nbmetrics.features.train_digits", description="Train digits-cnn.")
    parser.add_argument("--out", default="digits-cnn.npz", help=f"file to write; the package reads {WEIGHTS.name}")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    epochs = check_count(options.epochs, "epochs", maximum=10_000)
    seed = check_count(options.seed, "seed", minimum=0, maximum=2**63 - 1)
    # Sums in another order would be another network.
    torch.set_num_threads(1)
    arrays, right = train(epochs, seed)
    reached = save(arrays, options.out)
    print(f"held-out accuracy: last layer {right:.3f}, logistic regression on the features {reached:.3f}")
    print(f"written to {options.out}: {Path(options.out).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
