"""What clients sent of their rows, as bytes, and the scores that a server makes of it."""

import base64

import numpy as np

import nbmetrics as nm
from tests.golden.data import rows

LAW = {"mean": [0.5, 0.0, -0.5], "cov": [[1.0, 0.2, 0.0], [0.2, 2.0, 0.1], [0.0, 0.1, 0.5]]}
WEIGHTS = {"north": 3, "south": 1, "Ünïcode 😀": 0.5}
PRIVATE = {"epsilon": 50.0, "delta": 1e-5, "clip": 6.0}


def metric_of(name):
    """A metric by the name in what is kept, which stays that metric for ever."""
    features = nm.metrics.KID(nm.RandomFeatures(nm.RBF(2.0), 32), name="kid features")
    cubic = nm.metrics.KID(nm.RandomFeatures(nm.Polynomial(), 32), name="kid cubic features")
    rbf = nm.metrics.KID(nm.RBF(2.0), name="kid rbf")
    return {"kid features": features, "kid cubic features": cubic, "kid rbf": rbf}.get(name, name)


# What is sent: its metrics, the number of a client's rows, and the settings of `client_summary`.
SENT = {
    "plain": (["fid", "kid"], 40, {}),
    "float32": (["fid", "kid"], 40, {"precision": "float32"}),
    "rank": (["fid"], 40, {"rank": 1}),
    "random features": (["kid features", "kid cubic features"], 40, {}),
    "noised": (["fid", "kid features"], 400, {"privacy": PRIVATE}),
    "noised, float32": (["fid"], 400, {"privacy": PRIVATE, "precision": "float32"}),
    "of few rows": (["fid", "kid"], 3, {"min_rows": 1}),
    "every row": (["precision", "kid rbf"], 12, {"reveal_rows": True}),
    "classes": (["am_score", "vendi"], 12, {}),
}


def probabilities(rng, count, dim, tilt):
    """(count, dim) rows of class probabilities, as a list."""
    return rng.dirichlet(1.0 + tilt + np.arange(dim), count).tolist()


def make_summaries(release):
    """Write what clients sent, and the tables of scores."""
    rng, said = np.random.default_rng(11), {}
    for name, (metrics, count, settings) in SENT.items():
        made, sent, is_drawn = dict(settings), {}, name in ("every row", "classes")
        draw = probabilities if name == "classes" else rows
        for place, client in enumerate(WEIGHTS):
            if "privacy" in settings:
                made["privacy"] = nm.federated.Privacy(**settings["privacy"], seed=place)
            given = draw(rng, count + place, 3, place)
            bytes_ = nm.federated.client_summary(given, [metric_of(m) for m in metrics], **made)
            sent[client] = base64.b64encode(bytes_).decode()
        # of a law these metrics see rows that are drawn, and nobody promises the same ones for ever
        generators = {"rows": draw(rng, 20, 3, 0.5), "law": None if is_drawn else LAW}
        part = {"metrics": metrics, "generators": generators, "weights": WEIGHTS, "sent": sent}
        said[name] = {**part, "scores": scores_of(part)}
    release.write("summaries.json", said)


def scores_of(part):
    """The scores of all clients and of each, made of what they sent."""
    sent = {client: base64.b64decode(text, validate=True) for client, text in part["sent"].items()}
    generators = {"rows": part["generators"]["rows"]}
    if law := part["generators"]["law"]:
        generators["law"] = nm.Gaussian(law["mean"], law["cov"])
    found = {}
    for how, weights in (("by rows", None), ("weighted", part["weights"])):
        scores = nm.federated.aggregate(sent, weights, generators, [metric_of(m) for m in part["metrics"]])
        found[how] = scores.table[["generator", "metric", "avg", "all"]].to_dict("records")
    found["clients"] = scores.clients[["generator", "metric", "client", "value"]].to_dict("records")
    return found
