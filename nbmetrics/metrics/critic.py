"""The papers' spectrally normalised critic: a small network trained to tell two samples apart, as an estimate of W1.

Entered only for `W1("critic")`, so torch is imported only then.
"""

from __future__ import annotations

from typing import Any

from ..arrays import to_numpy
from ..errors import InvalidInput

HIDDEN, STEPS, BATCH, RATE = 128, 400, 256, 2e-3


def critic_distance(x: Any, y: Any, x_weights: Any, y_weights: Any, seed: int) -> float:
    """E f(X) − E f(Y) for a 1-Lipschitz f trained to maximise it; below W1 by what the training misses.

    Parameters
    ----------
    x, y : (n, d) and (m, d) float64 rows
    x_weights, y_weights : their weights, each summing to 1
    seed : of the network, its training batches and nothing else

    Raises
    ------
    InvalidInput
        Where torch is not installed.
    """
    try:
        import torch
    except ImportError:
        fix = """Run: pip install "nbmetrics[images]", or use W1('sliced')"""
        raise InvalidInput("method", "'critic' needs torch, which is not installed", fix) from None
    rows = [torch.as_tensor(to_numpy(z)) for z in (x, y)]
    weights = [torch.as_tensor(to_numpy(w)) for w in (x_weights, y_weights)]
    centre = torch.cat(rows).mean(dim=0)
    scale = float((torch.cat(rows) - centre).norm(dim=1).mean())
    if scale == 0:
        return 0.0
    rows = [(z - centre) / scale for z in rows]
    with torch.random.fork_rng(devices=[]):  # the user's own random stream stays where it is
        torch.manual_seed(seed)
        network = _network(torch, rows[0].shape[1])
        _train(torch, network, rows, weights)
        with torch.no_grad():
            means = [float(w @ network(z)[:, 0]) for z, w in zip(rows, weights, strict=True)]
    return scale * abs(means[0] - means[1])


def _network(torch: Any, dim: int) -> Any:
    spectral = torch.nn.utils.parametrizations.spectral_norm
    layers = []
    for wide in (dim, HIDDEN):
        layers += [spectral(torch.nn.Linear(wide, HIDDEN, dtype=torch.float64)), torch.nn.LeakyReLU(0.2)]
    return torch.nn.Sequential(*layers, spectral(torch.nn.Linear(HIDDEN, 1, dtype=torch.float64)))


def _train(torch: Any, network: Any, rows: Any, weights: Any) -> None:
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE, betas=(0.5, 0.9))
    for _ in range(STEPS):
        parts = [z[torch.multinomial(w, BATCH, replacement=True)] for z, w in zip(rows, weights, strict=True)]
        loss = network(parts[1]).mean() - network(parts[0]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    network.eval()
