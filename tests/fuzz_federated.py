"""What the fuzz tries of the room federated: rows and settings of clients, bytes and settings of the server."""

import numpy as np

import nbmetrics as nm
from tests.fuzz_checks import anything, number

A, B = (np.random.default_rng(k).normal(size=(24, 2)) + k / 4 for k in range(2))
DISTRIBUTION = nm.Gaussian([0.0, 0.0], 4.0)
METRICS = ["fid", "kid", nm.metrics.KID(nm.RandomFeatures(nm.RBF(), 8), name="few")]
NOISY = [METRICS[0], METRICS[2]]
SENT = nm.federated.client_summary(A, METRICS)


def finite(scores):
    assert np.isfinite(scores.table[["avg", "all"]].to_numpy()).all()
    assert (scores.ledger["bytes"] > 0).all()
    return scores


def there_and_back(rows, others, metrics=METRICS, **options):
    """Scores of two clients' summaries, with a generator of rows and one of a distribution."""
    sent = [nm.federated.client_summary(x, metrics, **options) for x in (rows, others)]
    generators = {"rows": others[:9], "distribution": nm.Gaussian(others[0])}
    return finite(nm.federated.aggregate(sent, [1, 2], generators, metrics))


def private(rows, others):
    return there_and_back(rows, others, NOISY, privacy=nm.federated.Privacy(1.0, clip=2.0))


def scored(summaries=(SENT, SENT), weights=None, generators=DISTRIBUTION, metrics=METRICS, **options):
    return finite(nm.federated.aggregate(summaries, weights, generators, metrics, **options))


def survival(**options):
    given = {"metrics": "fid", "clip": 3.0, "epsilons": [1.0], "repeats": 2, "samples": 20, **options}
    return nm.federated.rank_survival([A, B], [DISTRIBUTION, nm.Gaussian([1.0, 0.0])], **given)


def quantile(rows=A, **options):
    return number(nm.federated.private_norm_quantile(rows, **{"epsilon": 100.0, "bounds": (0.1, 10.0), **options}))


def told(v):
    return nm.federated.flower.Aggregation(DISTRIBUTION, METRICS)(v)


ON_ROWS = {
    "federated": (lambda a, b, c: there_and_back(a, b), anything),
    "federated in float32": (lambda a, b, c: there_and_back(a, b, precision="float32", rank=1), anything),
    "federated with noise": (lambda a, b, c: private(a, b), anything),
    "federated with rows": (lambda a, b, c: there_and_back(a, b, nm.metrics.KID(nm.RBF()), reveal_rows=True), anything),
    "federated in Flower": (lambda a, b, c: nm.federated.flower.evaluation(b, a), anything),
    "federated quantile": (lambda a, b, c: quantile(a, centre=b[0]), number),
    "federated clip of public rows": (lambda a, b, c: nm.federated.clip_from_public(a), number),
    "federated sigma of public rows": (lambda a, b, c: nm.federated.sigma_from_public(a), number),
    "RandomFeatures": (lambda a, b, c: nm.kid(a, b, nm.RandomFeatures(count=8)), number),
    "RandomFeatures of a cubic kernel": (lambda a, b, c: nm.kid(b, a, nm.RandomFeatures(nm.Polynomial(), 9)), number),
}
ON_SETTINGS = {
    "RandomFeatures": lambda v: number(nm.kid(A, B, nm.RandomFeatures(v))),
    "RandomFeatures count": lambda v: number(nm.kid(A, B, nm.RandomFeatures(count=v))),
    "RandomFeatures seed": lambda v: number(nm.kid(A, B, nm.RandomFeatures(count=4, seed=v))),
    "federated client": lambda v: nm.federated.client_summary(v),
    "federated client metrics": lambda v: nm.federated.client_summary(A, v),
    "federated precision": lambda v: there_and_back(A, B, precision=v),
    "federated rank": lambda v: there_and_back(A, B, rank=v),
    "federated privacy": lambda v: there_and_back(A, B, "fid", privacy=v),
    "federated epsilon": lambda v: there_and_back(A, B, "fid", privacy=nm.federated.Privacy(v, clip=1.0)),
    "federated delta": lambda v: there_and_back(A, B, "fid", privacy=nm.federated.Privacy(1.0, v, 1.0)),
    "federated clip": lambda v: there_and_back(A, B, "fid", privacy=nm.federated.Privacy(1.0, clip=v)),
    "federated centre": lambda v: there_and_back(A, B, "fid", privacy=nm.federated.Privacy(1.0, clip=1.0, centre=v)),
    "federated noise seed": lambda v: there_and_back(A, B, "fid", privacy=nm.federated.Privacy(1.0, clip=1.0, seed=v)),
    "federated summaries": lambda v: scored(v),
    "federated summary": lambda v: scored([SENT, v]),
    "federated weights": lambda v: scored(weights=v),
    "federated generators": lambda v: scored(generators=v),
    "federated metrics": lambda v: scored(metrics=v),
    "federated samples": lambda v: scored(samples=v),
    "federated seed": lambda v: scored(seed=v),
    "federated ledger": lambda v: nm.federated.ledger(scored(), rank=v),
    "federated quantile": lambda v: quantile(quantile=v),
    "federated quantile rows": lambda v: quantile(v),
    "federated quantile epsilon": lambda v: quantile(epsilon=v),
    "federated quantile bounds": lambda v: quantile(bounds=v),
    "federated quantile bound": lambda v: quantile(bounds=(1e-3, v)),
    "federated quantile centre": lambda v: quantile(centre=v),
    "federated quantile seed": lambda v: quantile(seed=v),
    "federated quantile account": lambda v: quantile(account=v),
    "federated clip of public rows": lambda v: number(nm.federated.clip_from_public(v)),
    "federated clip quantile": lambda v: number(nm.federated.clip_from_public(A, v)),
    "federated clip centre": lambda v: number(nm.federated.clip_from_public(A, centre=v)),
    "federated sigma of public rows": lambda v: number(nm.federated.sigma_from_public(v)),
    "federated spent": lambda v: number(nm.federated.spent(v, 1e-5)),
    "federated spent delta": lambda v: number(nm.federated.spent(1.0, v)),
    "federated multiplier": lambda v: number(nm.federated.noise_multiplier(v, 1e-5)),
    "federated releases": lambda v: number(nm.federated.noise_multiplier(1.0, 1e-5, v)),
    "federated rank_survival": lambda v: survival(epsilons=v),
    "federated repeats": lambda v: survival(repeats=min(v, 3) if isinstance(v, int) else v),
    "federated plot": lambda v: nm.federated.plot_survival(v),
    "federated Flower": told,
}
