"""Three clients and three generators, of few rows, that the tests of the Dashboard share."""

import numpy as np


def islands(isle=30, **spreads):
    """Clients north, south and isle, of `isle` rows, and generators by name: mean, spread and rows of each."""
    rng = np.random.default_rng(3)
    clients = {"north": (-1, 1, 90), "south": (1, 1, 60), "isle": (0, 2, isle)}
    drawn = [{name: rng.normal(m, s, (n, 3)) for name, (m, s, n) in of.items()} for of in (clients, spreads)]
    return drawn[0], drawn[1]


CLIENTS, GENERATORS = islands(narrow=(0, 1, 200), wide=(0, 1.5, 200), off=(2, 1, 200))
