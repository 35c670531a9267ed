"""Clients with weights, and the generators to score: checked once here, so that every later room can trust them.

client.py            one holder of real data      generator.py          what is scored
federation.py        clients with weights         by_client.py          what a generator makes for each client
partition_schemes.py federations of one data set  regroup.py            the same clients, put together anew
image_sources.py     what counts as images        folder.py             clients in folders
composition.py       sizes and classes, a table   figure.py             the same as a picture
runs.py              several runs of one model
"""

from .client import Client
from .federation import Federation
from .generator import Generator, as_generator, as_generators
from .image_sources import UnreadWarning, are_images, check_one_space
from .runs import check_models

__all__ = [
    "Client",
    "Federation",
    "Generator",
    "UnreadWarning",
    "are_images",
    "as_generator",
    "as_generators",
    "check_models",
    "check_one_space",
]
