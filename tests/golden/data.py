"""The rows that a release's labs are made of, few and short, so that they can be kept beside what it wrote."""

import numpy as np

COLUMNS = ["age", "dose", 'c"3', "weight", "Größe"]


def rows(rng, count, dim, centre=0.0, width=1.0):
    """(count, dim) rows of three decimals, as a list."""
    return np.round(rng.normal(centre, width, (count, dim)), 3).tolist()


def data_of_labs(rng):
    """The data of each name that `labs.lab_of` knows, as plain JSON."""
    sites = {"north": rows(rng, 9, 5, -1), "south": rows(rng, 8, 5, 1, 2)}
    models = {"near": rows(rng, 10, 5), "far": rows(rng, 7, 5, 2)}
    wide = {"clients": sites, "generators": models}
    flat = {"north": rows(rng, 8, 2, -1), "south": rows(rng, 6, 2, 1)}
    return {
        "rows": {"clients": flat, "generators": {"model": rows(rng, 7, 2)}},
        "wide": wide,
        "wide lda": {**wide, "plane": "lda", "clients": {"north": rows(rng, 60, 5, -1), "south": rows(rng, 60, 5, 1)}},
        "wide numbered": {**wide, "plane": [0, 3]},
        "wide named": {**wide, "plane": [COLUMNS[2], COLUMNS[4]], "columns": COLUMNS},
        "labelled": labelled(rng),
        "table": table(rng),
        "private": private(rng),
    }


def labelled(rng):
    """Clients whose rows have classes, so that they can be split and a class moved, and three generators."""
    names = ["north", "south", "isle", "Ünïcode 😀"]
    clients = [
        {"name": name, "weight": weight, "rows": rows(rng, 8, 2, centre), "labels": ["cat", "dog"] * 4}
        for name, weight, centre in zip(names, [1.0, 2.5, 3.0, 1e-5], [0, 1, -1, 2])
    ]
    centres = {"near": 0.5, "far": 2.0, "off": -2.0}
    return {"clients": clients, "generators": {name: rows(rng, 9, 2, c) for name, c in centres.items()}}


def table(rng):
    """Scores of many generators on many clients, made elsewhere."""
    generators = {f"model {g}": np.round(rng.gamma(2.0, 1.0, 60), 3).tolist() for g in range(20)}
    index = [f"site {c}" for c in range(60)]
    return {"scores": generators, "index": index, "weights": np.round(rng.gamma(1.0, 1.0, 60), 6).tolist()}


def private(rng):
    """A small study of noise."""
    clients = {"a": rows(rng, 40, 2), "b": rows(rng, 30, 2, 1)}
    generators = {"near": rows(rng, 30, 2, 0.5), "far": rows(rng, 30, 2, 2)}
    return {"clients": clients, "generators": generators, "clip": 5.0, "epsilons": [0.01, 1.0, 100.0], "repeats": 3}
