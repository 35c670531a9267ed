"""A Dashboard of federated digits as a user sees it under four settings of weights, and the oracle's numbers beside it.

Ten clients of mostly one digit each, two of them with too few rows; six generators: digits, a model of principal
components, and digits with noise, without three classes, drawn to the means of their classes, and of one class alone.
"""

import json
import threading

import numpy as np

import nbmetrics as nm
from nbmetrics.datasets import digit_images
from tests.labs.dashboard import oracle
from tests.labs.inside import answer, scene_of, send

SIZES = (130, 125, 120, 115, 110, 105, 100, 98, 80, 60)
FEATURES, MADE, OF_OWN_CLASS = 64, 250, 0.9
SETTINGS = {
    "by size": SIZES,
    "equal": (1,) * 10,
    "one dominates": (1,) * 5 + (30,) + (1,) * 4,
    "one of few rows dominates": (1,) * 9 + (30,),
}
ALL = ("copies", "pca", "grainy", "collapsed", "shrunk", "eights")
THREE = ("pca", "collapsed", "eights")


def features(images):
    return nm.extract(images, "digits-cnn", cache=False, progress=False)


def federated_digits():
    """Rows of features of the clients and of the generators, by name."""
    images, labels = digit_images()
    rng = np.random.default_rng(0)
    order = rng.permutation(len(images))
    train, left, clients = order[:450], order[450:], {}
    for i, size in enumerate(SIZES):
        own = left[labels[left] == i][: int(OF_OWN_CLASS * size)]
        rest = np.setdiff1d(left, own)
        taken = np.concatenate([own, rng.permutation(rest)[: size - len(own)]])
        clients[f"client {i}"], left = images[taken], np.setdiff1d(left, taken)
    x, y = images[train].reshape(-1, FEATURES) / 255, labels[train]
    axes = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    latent = rng.normal(size=(MADE, 20)) * axes[1][:20] / np.sqrt(len(x))
    copies, grainy, shrunk = (rng.permutation(len(x))[:MADE] for _ in range(3))
    most, eights = np.flatnonzero(y < 7), np.flatnonzero(y == 8)
    means = np.array([x[y == c].mean(axis=0) for c in range(10)])
    made = {
        "copies": x[copies],
        "pca": x.mean(axis=0) + latent @ axes[2][:20],
        "grainy": x[grainy] + 0.1 * rng.normal(size=(MADE, FEATURES)),
        "collapsed": x[rng.permutation(most)[:MADE]],
        "shrunk": 0.8 * x[shrunk] + 0.2 * means[y[shrunk]],
        "eights": x[rng.choice(eights, MADE)] + 0.1 * rng.normal(size=(MADE, FEATURES)),
    }
    drawn = {name: np.round(255 * rows.clip(0, 1)).astype(np.uint8).reshape(-1, 8, 8) for name, rows in made.items()}
    return [{name: features(own) for name, own in side.items()} for side in (clients, drawn)]


class Seen:
    """What a user sees of the Dashboard under one setting of weights."""

    def __init__(self, lab, weights):
        lab.scene = {**lab.scene, "weights": [float(w) for w in weights], "generators": list(ALL), "metric": "fid"}
        self.scores, self.words = lab.scores, {"fid": lab.verdict}
        answer(lab, scene_of(lab))
        self.result, self.scene = json.loads(json.dumps(lab.result)), dict(lab.scene)
        lab.scene = {**lab.scene, "metric": "kid"}
        self.words["kid"] = lab.verdict
        lab.scene = {**lab.scene, "generators": list(THREE)}
        self.mixture = mixed_by(lab)
        lab.scene = {**lab.scene, "metric": "fid"}
        self.of_three = lab.verdict
        self.shares = np.array(weights) / sum(weights)


def mixed_by(lab):
    """The best mixture of the generators on show, as the page asks for it."""
    done = threading.Event()

    def look(change):
        if change["new"].get("doing") == "":
            done.set()

    lab.observe(look, "mixture")
    send(lab, {"kind": "mixture", "scene": lab.scene})
    assert done.wait(60)
    lab.unobserve(look, "mixture")
    return json.loads(json.dumps(lab.mixture))


class World:
    """The Dashboard's numbers, and the oracle's."""

    def __init__(self):
        clients, made = federated_digits()
        lab = nm.Dashboard(clients, made)
        self.seen = {name: Seen(lab, weights) for name, weights in SETTINGS.items()}
        self.board, self.draws = json.loads(json.dumps(lab.board)), lab.draws
        lab.close()
        self.clients, self.made = ([x.astype(float) for x in side.values()] for side in (clients, made))
        self.kernel = oracle.Kernel(self.clients, self.made)
        moments = [oracle.moments(x) for x in self.clients], [oracle.moments(x) for x in self.made]
        fid = np.array([[oracle.frechet(x, g) for x in moments[0]] for g in moments[1]])
        # A value needs 1.1 rows a feature, an interval 1.5.
        better = [[oracle.without_bias(x, g) if len(x) >= 71 else np.nan for x in self.clients] for g in self.made]
        self.values = {"fid": fid, "kid": self.kernel.scores()}
        self.centres = {"fid": np.where(np.isnan(better), fid, better), "kid": self.values["kid"]}
        self.few = {"fid": [len(x) < 1.5 * FEATURES for x in self.clients], "kid": [False] * 10}
        self.pooled = {name: self._pooled(seen.shares) for name, seen in self.seen.items()}

    def _pooled(self, shares):
        distribution = oracle.mixed(self.clients, shares)
        fid = np.array([oracle.frechet(distribution, oracle.moments(g)) for g in self.made])
        kid, peers = self.kernel.scores_of_all(shares)
        return {"fid": fid, "kid": kid, "fid of peers": fid, "kid of peers": peers}

    def published(self, kind, metric):
        """Cells of the board, (G, k)."""
        return np.array([self.board[kind][metric][name] for name in ALL], dtype=float)

    def decided(self, name, metric, shown):
        """What a decision is made from: λ of the clients that count, and by avg and by all plain, centres and draws."""
        seen, which = self.seen[name], [ALL.index(g) for g in shown]
        decided = oracle.deciding(seen.shares, self.few[metric])
        counted = seen.shares if decided is None else decided
        draws = np.stack([oracle.drawn(self.draws[metric][g]) for g in shown], axis=-1)  # (B, k, G)
        own = np.einsum("bkg,k->bg", draws[:, counted > 0], counted[counted > 0])
        plain, centres = self.values[metric][which] @ seen.shares, self.centres[metric][which] @ counted
        sides = [(plain, centres, None if decided is None else own)]
        if metric == "fid":
            all_centres = np.array([seen.result["all_centres"]["fid"][g] for g in shown])
            noise = np.stack([oracle.drawn(seen.result["all_draws"]["fid"][g])[:, 0] for g in shown], axis=1)
            sides.append((self.pooled[name]["fid"][which], all_centres, noise))
        return counted, sides

    def judged(self, name, metric, shown):
        return oracle.judged(*zip(*self.decided(name, metric, shown)[1], strict=True), self.seen[name].result["p"])
