"""Small generators trained by federated averaging: WGAN-GP and DDPM for points in the plane and for 8 × 8 digits.

    trained = nm.training.train("wgan-gp", federation, rounds=400, local_steps=5, monitor=monitor)
    nm.evaluate(federation, {"wgan": trained})

run.py          what is asked for, checked      loop.py           rounds, the clients' steps, the average (torch)
trained.py      a model, its samples, its file  wgan.py, ddpm.py  the models, by name in models.py, of layers.py (torch)
checkpoints.py  of a run in a folder, and going on from the newest

Importing it imports no torch; training and sampling do.
"""

from .run import load, train
from .trained import Trained, as_images

__all__ = ["Trained", "as_images", "load", "train"]


def __dir__() -> list[str]:
    return sorted(__all__)
