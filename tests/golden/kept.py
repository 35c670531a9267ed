"""What calls keep in files of their own: saved scores, a store of scores, draws of a race, accounts of privacy."""

import tempfile
import warnings
from pathlib import Path

import numpy as np

import nbmetrics as nm
from nbmetrics.evaluation.store import Store
from nbmetrics.federated.privacy import PureEpsilon
from tests.golden.data import rows

KEPT = "kept.json"
CALLS = ("ranks", "inversions", "worst", "regret")
DELTA = 1e-6


def of_lists(parts):
    return {name: np.array(part) for name, part in parts.items()}


def evaluated(name, data, **settings):
    """The scores of a case, of the rows that a release kept."""
    clients, generators = of_lists(data["clients"]), of_lists(data["generators"])
    if name == "by client":
        owned = {client: part + 0.1 for client, part in clients.items()}
        generators = {**generators, "owned": nm.Generator.by_client(owned)}
    elif name == "runs":
        generators = {"model": list(generators.values()), "other": [part + 0.5 for part in generators.values()]}
    elif name == "distributions":
        clients = {"here": nm.Gaussian([-1.0, 0.0]), "Ünïcode 😀": nm.Gaussian([1.0, 0.0])}
        generators = {"narrow": nm.Gaussian([0.0, 0.0]), "wide": nm.Gaussian([0.0, 0.0], [2.0, 1.0])}
    metrics = ["fid", "kid"] if name != "plain" else ["fid", "kid", "precision"]
    has_intervals = name in ("intervals", "by client", "runs")
    settings |= {"uncertainty": nm.Influence()} if has_intervals else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nm.BiasWarning)
        return nm.evaluate(clients, generators, metrics, progress=False, **settings)


SCORES = ("plain", "intervals", "by client", "runs", "distributions")


def told(scores):
    """What scores say, as JSON keeps it."""
    parts = {name: getattr(scores, name).to_dict("list") for name in ("table", "clients", "ledger")}
    for call in CALLS:
        parts[call] = getattr(scores, call)("fid").to_dict("list")
    return {**parts, "weights": list(scores.weights)}


def raced(folder, data, budget):
    """A race of samplers of NumPy's uniform numbers, which are the same in every release of NumPy so far."""
    samplers = {
        "right": lambda n, rng: 2.0 * rng.random((n, 2)) - 1.0,
        "wide": lambda n, rng: 2.4 * rng.random((n, 2)) - 1.2,
    }
    race = nm.race(of_lists(data["racing"]), samplers, "fid", budget=budget, seed=3, store=folder, progress=False)
    return {"winner": race.winner, "draws": race.draws, "table": race.table.to_dict("list")}


def account_of(path):
    """What an account says."""
    account = nm.federated.Account.open(path)
    spent = {"epsilon": account.epsilon, "delta": account.delta, "spent": account.spent, "left": account.left}
    return {**spent, "table": account.table.to_dict("list")}


def make_account(path, data):
    """An account of a number of pure ε and two noisy summaries."""
    account = nm.federated.Account(path, epsilon=3.0, delta=DELTA)
    own = np.array(data["racing"]["north"])
    account.spend(PureEpsilon(0.1), "a norm, „0,95“ of the rows")
    for epsilon in (0.5, 1.0):
        privacy = nm.federated.Privacy(epsilon=epsilon, delta=DELTA, clip=4.0, seed=1)
        nm.federated.client_summary(own, "fid", privacy=privacy, account=account)


def make_kept(release):
    """Write all of them, and what each says."""
    rng = np.random.default_rng(20261127)
    data = {
        "clients": {"here": rows(rng, 30, 2), "Ünïcode 😀": rows(rng, 24, 2, 1)},
        "generators": {"near": rows(rng, 28, 2, 0.5), "far": rows(rng, 26, 2, 2)},
        "racing": {"north": rows(rng, 60, 2, 0, 0.6), "south": rows(rng, 50, 2, 0, 0.6)},
    }
    said = {"data": data, "scores": {}}
    release.path("kept").mkdir(parents=True)
    for name in SCORES:
        scores = evaluated(name, data)
        scores.save(release.path(f"kept/{name}.scores.json"))
        said["scores"][name] = told(scores)
    with tempfile.TemporaryDirectory() as folder:
        store, race = Path(folder) / "store", Path(folder) / "race"
        said["store"] = told(evaluated("intervals", data, store=store))
        release.pack("kept/store.zip", store)
        said["records"] = {key: record["value"] for key, record in Store(store)._cells.items()}
        said["race"] = raced(race, data, 2_000)
        release.pack("kept/race.zip", race)
    make_account(release.path("kept/ward.account"), data)
    said["account"] = account_of(release.path("kept/ward.account"))
    release.write(KEPT, said)
