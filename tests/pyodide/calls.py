"""What is called in Pyodide and in CPython: each public function once, its numbers as JSON. It imports no pytest."""

import asyncio
import json
import os
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import nbmetrics as nm
from tests.experiments.small import SMALL

RNG = np.random.default_rng(0)


def rows(n, d=4, mean=0.0, scale=1.0):
    return RNG.normal(mean, scale, (n, d))


NORTH, SOUTH = rows(120), rows(160, mean=1.0)
CLIENTS = {"north": NORTH, "south": SOUTH}
NARROW, WIDE = rows(200, mean=0.5), rows(200, mean=0.5, scale=1.4)
MODELS = {"narrow": NARROW, "wide": WIDE}
# Some rows twice, as `Distinct` counts them.
TWICE = np.concatenate([NORTH, NORTH[:30]])
TRAIN, TEST = NORTH[:80], NORTH[80:]
X, Y, Y_HAT = rows(150, 2), rows(150, 3), rows(150, 3, scale=1.3)
SHARES = np.abs(rows(90, 5)) + 0.1
SHARES /= SHARES.sum(axis=1, keepdims=True)
GAUSSIANS = nm.Federation({"left": nm.Gaussian([-2.0, 0.0]), "right": nm.Gaussian([2.0, 0.0])})
THIRD = nm.Gaussian([0.5, 0.0], [[2.0, 0.3], [0.3, 1.0]])
SPLIT = nm.Federation(CLIENTS).split(test=0.3, seed=0)


def evaluated(*names, **options):
    return nm.evaluate(SPLIT, MODELS, list(names), progress=False, **options)


def digits():
    return nm.datasets.digit_images()[0][:60]


def sampler(scale):
    return lambda n, rng: rng.normal(0.5, scale, (n, 4))


def by_metric(name):
    """Return the table of one metric, over clients whose rows are of the kind that it wants."""
    if name in ("mfid", "rfid", "cfid"):
        clients = {"a": nm.Client(Y[:70], condition=X[:70]), "b": nm.Client(Y[70:], condition=X[70:])}
        return nm.evaluate(clients, {"g": lambda x, rng: x @ np.ones((2, 3)) + 0.5}, name, progress=False).table
    if name in ("inception_score", "am_score"):
        return nm.evaluate({"a": SHARES[:40], "b": SHARES[40:]}, {"g": SHARES[20:70]}, name, progress=False).table
    if name == "log_likelihood":
        return nm.evaluate(GAUSSIANS, {"g": THIRD}, name, samples=100, progress=False).table
    return evaluated(name).table


async def watched(**options):
    monitor = nm.Monitor(CLIENTS, keep_all=True, **options)
    for step in range(3):
        monitor.log(step, WIDE / (step + 1.0), loss=float(step))
    monitor.wait()
    table = monitor.table
    monitor.close()
    return table


async def opened(lab):
    """Return a lab's answer to its scene, once it is there."""
    for _ in range(200):
        if lab.result:
            break
        await asyncio.sleep(0.05)
    result = dict(lab.result)
    lab.close()
    return {name: value for name, value in result.items() if name != "seconds"}


def account():
    kept = nm.federated.Account("spent.account", epsilon=3.0, delta=1e-6)
    private = nm.federated.Privacy(epsilon=1.0, delta=1e-6, clip=4.0, seed=0)
    nm.federated.client_summary(NORTH, "fid", privacy=private, account=kept)
    return nm.federated.Account.open("spent.account").spent


def saved():
    evaluated("fid", "kid").save("scores.json")
    return nm.Scores.open("scores.json").table


def stored():
    first = evaluated("fid", store="store").table
    return [first, evaluated("fid", store="store").table]


def summed_up():
    sent = {name: nm.federated.client_summary(part, "fid") for name, part in CLIENTS.items()}
    return nm.federated.aggregate(sent, None, MODELS, "fid").table


# Experiments that score thousands of rows or all digits, take times, or want POT.
LEFT_OUT = {"bandwidth_sweep", "checkpoints", "mode_collapse", "timing", "transport_federated"}
# Calls whose rows pass a network or a regression in float32, which no two processors round alike.
IN_FLOAT32 = {"extract", "experiments.extractors_compared", "experiments.paired_unpaired"}
# Public functions without a call here, and why.
NOT_CALLED = {
    **dict.fromkeys((f"experiments.{name}" for name in LEFT_OUT), "more than a browser's test can wait for"),
    "w1": "wants POT",
    "datasets.emoji": "wants a font",
    **dict.fromkeys(("training.train", "training.load", "training.as_images"), "want torch"),
}
METRICS = (
    *("fid", "fid_infinity", "kid", "cmmd", "fld", "log_likelihood", "precision", "recall", "density", "coverage"),
    *("auth_pct", "c_t", "mifid", "vendi", "rke", "rrke", "mfid", "rfid", "cfid", "inception_score"),
    "am_score",
)
CALLS = {
    **{f"evaluate {name}": lambda name=name: by_metric(name) for name in METRICS},
    "fid": lambda: nm.fid(NORTH, WIDE),
    "fid_infinity": lambda: nm.fid_infinity(NORTH, WIDE),
    "kid": lambda: [
        nm.kid(NORTH, WIDE),
        nm.kid(NORTH, WIDE, nm.RBF("median")),
        nm.kid(NORTH, WIDE, estimator="linear"),
    ],
    "Subsets": lambda: nm.kid(NORTH, WIDE, estimator=nm.Subsets(10, 50)),
    "RandomFeatures": lambda: nm.kid(NORTH, WIDE, nm.RandomFeatures(nm.RBF(2.0), 64), "biased"),
    "RandomFeatures of a polynomial": lambda: nm.kid(NORTH, WIDE, nm.RandomFeatures(nm.Polynomial(3), 64), "biased"),
    "cmmd": lambda: nm.cmmd(NORTH, WIDE),
    "fld": lambda: nm.fld(TRAIN, TEST, WIDE),
    "fld_gap": lambda: nm.fld_gap(TRAIN, TEST, WIDE),
    "memorization_scores": lambda: nm.memorization_scores(TRAIN, TEST, WIDE),
    "quality_scores": lambda: nm.quality_scores(TRAIN, TEST, WIDE),
    "prdc": lambda: [*nm.prdc(NORTH, WIDE), *nm.prdc(TWICE, WIDE, k=3)],
    "realism": lambda: nm.realism(TWICE, WIDE),
    "auth_pct": lambda: nm.auth_pct(TWICE, WIDE),
    "c_t": lambda: nm.c_t(TRAIN, TEST, WIDE),
    "mifid": lambda: nm.mifid(TWICE, WIDE),
    "vendi": lambda: nm.vendi(TWICE),
    "rke": lambda: nm.rke(TWICE),
    "rrke": lambda: nm.rrke(TWICE, WIDE),
    "inception_score": lambda: nm.inception_score(SHARES, splits=3),
    "am_score": lambda: nm.am_score(SHARES[:40], SHARES[40:]),
    "cfid": lambda: nm.cfid(X, Y, Y_HAT),
    "rfid": lambda: nm.rfid(X, Y, Y_HAT),
    "mfid": lambda: nm.mfid(X, Y, Y_HAT),
    "jfid": lambda: nm.jfid(X, Y, Y_HAT, alpha=2.0),
    "two_sample": lambda: nm.two_sample(NORTH, WIDE, permutations=99)[:2],
    "best_mixture": lambda: list(nm.best_mixture(SPLIT, MODELS, progress=False).weights.values()),
    "race": lambda: nm.race(CLIENTS, {"a": sampler(1.0), "b": sampler(2.0)}, budget=4000, progress=False).table,
    "race with a store": lambda: (
        nm.race(CLIENTS, {"a": sampler(1.0), "b": sampler(2.0)}, budget=4000, store="race", progress=False).table
    ),
    "Stream": lambda: nm.evaluate({"a": nm.Stream(iter([NORTH, SOUTH]))}, MODELS, "fid", progress=False).table,
    "Moments": lambda: nm.fid(nm.Moments(NORTH.mean(0), np.cov(NORTH.T), 120), WIDE),
    "distributions": lambda: (
        nm.evaluate(
            {
                "mixture": nm.Mixture([nm.Gaussian([0.0, 0.0]), nm.Gaussian([3.0, 0.0])]),
                "moons": nm.TwoMoons(),
                "kernel": nm.KernelDensity(NORTH[:, :2], 0.3),
                "empirical": nm.Empirical(NORTH[:, :2]),
            },
            {"g": THIRD},
            ["fid", "kid"],
            samples=200,
            progress=False,
        ).table
    ),
    "Bootstrap": lambda: evaluated("fid", "kid", uncertainty=nm.Bootstrap(20)).table,
    "Jackknife": lambda: evaluated("fid", "precision", uncertainty=nm.Jackknife(20)).table,
    "Influence": lambda: evaluated("fid", "kid", uncertainty=nm.Influence()).table,
    "flips": lambda: evaluated("fid", uncertainty=nm.Influence()).flips("fid"),
    "heterogeneity": lambda: evaluated("fid").heterogeneity("fid"),
    "ranks": lambda: evaluated("fid").ranks("fid"),
    "modes": lambda: evaluated("fid").modes("wide", permutations=9),
    "regret": lambda: evaluated("fid").regret("fid"),
    "store=": stored,
    "save and open": saved,
    "extract": lambda: nm.extract(digits(), "digits-cnn", progress=False),
    "extract pixels": lambda: nm.extract(digits(), "pixels", progress=False),
    "images": lambda: len(nm.images(digits())),
    "extractors": lambda: list(nm.extractors()["name"]),
    "set_memory_limit": lambda: nm.set_memory_limit(512),
    "partitions": lambda: [
        nm.Federation.dirichlet(NORTH, np.arange(120) % 3, 4, 0.5, seed=0).describe(),
        nm.Federation.iid(NORTH, 4, seed=0).describe(),
        nm.Federation.shards(NORTH, np.arange(120) % 4, 3, 2, seed=0).describe(),
        nm.Federation.pathological(NORTH, np.arange(120) % 4, 3, 2, seed=0).describe(),
        nm.Federation.variance_limited(NORTH, np.arange(120) % 4, 10, seed=0).describe(),
        nm.Federation.by_id(NORTH, np.arange(120) % 5).describe(),
    ],
    "lessons": lambda: list(nm.lessons()["name"]),
    "collect_answers": lambda: nm.collect_answers("Ada: nbma1.WyJXZWlnaHRzIG1hdHRlciIsLTAuNSwtMV0").table,
    "theory.barycenter": lambda: nm.theory.barycenter(SPLIT).cov,
    "theory.barycenter_residual": lambda: nm.theory.barycenter_residual(GAUSSIANS, THIRD),
    "theory.collapse": lambda: nm.theory.collapse(GAUSSIANS, [0.5, 0.0]),
    "theory.conditional_order": lambda: nm.theory.conditional_order(
        nm.Gaussian([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]]), nm.Gaussian([0.0, 0.0], [[1.0, 0.1], [0.1, 1.0]])
    ),
    "theory.convexity": lambda: nm.theory.convexity(GAUSSIANS, THIRD),
    "theory.fid_all_identity": lambda: nm.theory.fid_all_identity(GAUSSIANS, THIRD),
    "theory.fid_avg_bound": lambda: nm.theory.fid_avg_bound(GAUSSIANS, THIRD),
    "theory.fid_gap_identity": lambda: nm.theory.fid_gap_identity(GAUSSIANS, THIRD),
    "theory.intra_convexity": lambda: nm.theory.intra_convexity(
        GAUSSIANS, nm.Generator.by_client({"left": nm.Gaussian([-1.0, 0.0]), "right": nm.Gaussian([1.0, 0.0])})
    ),
    "theory.kid_gap": lambda: nm.theory.kid_gap(SPLIT),
    "theory.kid_gap_identity": lambda: nm.theory.kid_gap_identity(GAUSSIANS, THIRD),
    "theory.kid_intra_identity": lambda: nm.theory.kid_intra_identity(
        GAUSSIANS, nm.Generator.by_client({"left": nm.Gaussian([-1.0, 0.0]), "right": nm.Gaussian([1.0, 0.0])})
    ),
    "theory.linearity": lambda: nm.theory.linearity(GAUSSIANS, THIRD),
    "theory.minimizers": lambda: [each.cov for each in nm.theory.minimizers(GAUSSIANS)],
    "theory.printed_gap": lambda: nm.theory.printed_gap(GAUSSIANS, THIRD),
    "theory.printed_order": lambda: nm.theory.printed_order(GAUSSIANS, THIRD, nm.Gaussian([0.0, 0.0])),
    "theory.printed_twin": lambda: nm.theory.printed_twin(GAUSSIANS).all_gap,
    "theory.printed_twin_bound": lambda: nm.theory.printed_twin_bound(GAUSSIANS),
    "theory.twin": lambda: nm.theory.twin(GAUSSIANS).all_gap,
    "theory.twin_differences": lambda: nm.theory.twin_differences(GAUSSIANS, nm.theory.twin(GAUSSIANS)),
    "federated.Account": account,
    "federated.aggregate": summed_up,
    "federated.inspect": lambda: nm.federated.inspect(nm.federated.client_summary(NORTH, "fid"))[:1],
    "federated.ledger": lambda: nm.federated.ledger(evaluated("fid")),
    "federated.clip_from_public": lambda: nm.federated.clip_from_public(NORTH),
    "federated.sigma_from_public": lambda: nm.federated.sigma_from_public(NORTH),
    "federated.noise_multiplier": lambda: nm.federated.noise_multiplier(1.0, 1e-6, 3),
    "federated.spent": lambda: nm.federated.spent([2.0, 3.0], 1e-6),
    "federated.private_norm_quantile": lambda: nm.federated.private_norm_quantile(
        NORTH, epsilon=8.0, bounds=(0.1, 50.0), seed=0
    ),
    "federated.rank_survival": lambda: nm.federated.rank_survival(CLIENTS, MODELS, clip=4.0, epsilons=(1.0, 10.0)),
    "experiments.digits": lambda: [part.sum() for part in nm.experiments.digits()],
    "experiments.published": lambda: nm.experiments.published("cfid_celeba_edges2shoes"),
    "federated.client_summary": lambda: len(nm.federated.client_summary(NORTH, ("fid", "kid"))),
    "federated.flower.evaluation": lambda: nm.federated.flower.evaluation(NORTH, WIDE, "fid")[:2],
    "federated.plot_survival": lambda: len(
        nm.federated.plot_survival(
            nm.federated.rank_survival(CLIENTS, MODELS, "fid", clip=4.0, epsilons=(1.0, 10.0))
        ).axes
    ),
    "datasets.digits": lambda: [part.sum() for part in nm.datasets.digits()],
    "datasets.covered": lambda: nm.datasets.covered().shape,
    "datasets.digit_images": lambda: [part.sum() for part in nm.datasets.digit_images()],
    "datasets.published": lambda: nm.datasets.published("fld_models"),
    "datasets.trained_samples": lambda: nm.datasets.trained_samples("collapse")[0].shape,
    **{
        f"experiments.{name}": lambda name=name: getattr(nm.experiments, name)(**SMALL[name])
        for name in sorted(SMALL.keys() - LEFT_OUT)
    },
    "experiments.catalogue": lambda: nm.experiments.catalogue().shape,
    "experiments.titles": lambda: list(nm.experiments.titles()["id"]),
    "experiments.order_summary": lambda: nm.experiments.order_summary(
        nm.experiments.single_class(**SMALL["single_class"])
    ),
    "plot": lambda: type(evaluated("fid").plot("scatter")).__name__,
    "Playground": lambda: opened(nm.Playground()),
    "CorrelationLab": lambda: opened(nm.CorrelationLab()),
    "TwinsLab": lambda: opened(nm.TwinsLab()),
    "MemorizationLab": lambda: opened(nm.MemorizationLab()),
    "PrivacyLab": lambda: opened(nm.PrivacyLab(CLIENTS, MODELS, "fid", clip=4.0)),
    "Dashboard": lambda: nm.Dashboard(CLIENTS, MODELS, "fid").table,
    "export_html": lambda: Path(nm.Playground().export_html("p.html")).stat().st_size > 10**5,
    "Monitor": watched,
    "Monitor(path=)": lambda: watched(path="run"),
}


def plain(value):
    """A result as JSON: numbers, texts and lists of them."""
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return {str(name): plain(list(column)) for name, column in value.items()}
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (bool, np.bool_)) or value is None:
        return value if value is None else bool(value)
    return float(value) if isinstance(value, (int, float, np.number)) else str(value)


async def results():
    """Return {call: [value, seconds]}, or the traceback in the place of the value."""
    done = {}
    for name, call in CALLS.items():
        start = time.perf_counter()
        try:
            value = call()
            value = {"value": plain(await value if asyncio.iscoroutine(value) else value)}
        except Exception:
            value = {"error": traceback.format_exc()[-1500:]}
        done[name] = {**value, "seconds": time.perf_counter() - start}
    return done


async def report():
    """Return the results as JSON; what the calls write goes into a folder of their own."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["NBMETRICS_CACHE"] = folder
        text = json.dumps(await results())
        os.chdir("/")
    return text


if __name__ == "__main__":
    print(asyncio.run(report()))
