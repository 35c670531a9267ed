"""One process of a group that scores rows, prints JSON: python -m tests.gloo_worker "torchmetrics" RANK WORLD FILE."""

import json
import os
import sys

import numpy as np
import pytest
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import nbmetrics as nm
from tests.benchmarks import peers

OFFSETS = (0.0, 1e3)
METRICS = ("fid", "kid")


def parties(offset):
    """Rows of three clients, and those that were generated for each, of spread about 1."""
    rng = np.random.default_rng(7)
    mix = rng.normal(size=(4, 4)) / 2
    real = {name: rng.normal(k, 1 + k / 4, (n, 4)) @ mix + offset for k, (name, n) in enumerate(SIZES.items())}
    generated = {name: rng.normal(k + 0.1, 1, (50, 4)) @ mix + offset for k, name in enumerate(SIZES)}
    return real, generated


SIZES = {"lyon": 90, "oslo": 61, "turin": 40}


def shares(rank, world, rows):
    """The rows of one process: each client's dealt in turn, and turin's to the first process alone."""
    dealt = {name: own[rank::world] for name, own in rows.items() if name != "turin"}
    return dealt if rank else {**dealt, "turin": rows["turin"]}


def scored(Score, rank, world):
    values = {}
    for offset in OFFSETS:
        real, generated = parties(offset)
        for metric in METRICS:
            score = Score(metric, clients=list(SIZES))
            for is_real, rows in ((True, real), (False, generated)):
                for name, own in shares(rank, world, rows).items():
                    for batch in np.array_split(own, 3):
                        score(torch.tensor(batch), real=is_real, client=name)
            first = {part: float(value) for part, value in score.compute().items()}
            assert {part: float(value) for part, value in score.compute().items()} == first
            score.update(real["lyon"][:0], real=True, client="lyon")
            values[f"{metric} {offset}"] = first
    return values


def scored_in_a_loop(Score, rank, world):
    """A model under DistributedDataParallel that is trained, and scored after each epoch."""
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(4, 4, dtype=torch.float64))
    optimizer, score = torch.optim.SGD(model.parameters(), 0.1), Score("fid", clients=range(3))
    rng, values = np.random.default_rng(3), []
    rows, labels = rng.normal(size=(60, 4)), np.arange(60) % 3
    latents = torch.tensor(rng.normal(size=(2, 40, 4)))
    for epoch in range(2):
        batches, owners = (np.array_split(part[rank::world], 4) for part in (rows, labels))
        for batch, clients in zip(batches, owners, strict=True):
            loss = (model(latents[epoch, :8]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            score.update(torch.tensor(batch), real=True, client=torch.tensor(clients))
        made = model(latents[epoch])
        score.update(made[rank::world], real=False)
        values.append([float(score.compute()["all"]), made.detach().tolist()])
        score.reset()
    return values


def disagreeing(Score, rank, world):
    """What comes of scores that are not made alike in all processes: values, or why there are none."""
    first, outcomes = rank == 0, {}
    real, generated = parties(0.0)
    features = [nm.metrics.KID(nm.RandomFeatures(nm.RBF(sigma), 64)) for sigma in (1.0, 5.0)]
    settings = {
        "order": {"clients": list(SIZES)[:: 1 if first else -1]},
        "more clients": {"clients": [*SIZES, "bonn"][: 3 if first else 4]},
        "metric": {"metric": "fid" if first else "kid"},
        "sigma": {"metric": features[rank]},
        "weights": {"weights": [1, 1, 1] if first else [1, 2, 3]},
        "no rows of turin": {"clients": list(SIZES)[:: 1 if first else -1]},
    }
    for what, changed in settings.items():
        score = Score(**{"metric": "fid", "clients": list(SIZES), **changed})
        for name, own in shares(rank, world, real).items():
            if what != "no rows of turin" or (name == "lyon") is first:
                score.update(own, real=True, client=name)
        score.update(generated["lyon"][rank::world], real=False)
        try:
            outcomes[what] = {part: float(value) for part, value in score.compute().items()}
        except nm.InvalidInput as refusal:
            outcomes[what] = str(refusal)
    return outcomes


def check_disagreeing(outcomes):
    """What every process must have of `disagreeing`: values, and texts that begin so."""
    real, generated = parties(0.0)
    row = nm.evaluate(real, {"g": generated["lyon"]}, "fid", progress=False).table.iloc[0]
    features = "'kid' (KID: unbiased MMD² on all rows, 64 random Fourier features of RBF exp(−‖x−y‖²/2σ²), σ = "
    assert outcomes.pop("order") == pytest.approx({part: row[part] for part in ("avg", "all", "gap")}, rel=1e-12)
    texts = {
        "more clients": "clients: process 1 has 'bonn', 'lyon', 'oslo', 'turin', process 0 has 'lyon', 'oslo', 'turin'",
        "metric": "metric: process 1 has 'kid' (KID: unbiased MMD² on all rows, (γ x·y + 1)^3, γ = 1/d), process 0 has",
        "sigma": f"metric: process 1 has {features}5, seed 0), process 0 has {features}1, seed 0)",
        "weights": "weights: process 1 has 0.16666666666666666 for 'lyon', process 0 has 0.333333333",
        "no rows of turin": "client 'turin': has no rows",
    }
    assert list(outcomes) == list(texts)
    assert all(outcomes[what].startswith(text) for what, text in texts.items()), outcomes


def main(base, rank, world, file):
    sys.modules["torchmetrics"] = peers.imported("torchmetrics") if base == "torchmetrics" else None
    from nbmetrics.torch import Score

    assert (Score.__mro__[1].__module__ == "torchmetrics.metric") is (base == "torchmetrics")
    place = int(rank), int(world)
    distributed.init_process_group("gloo", init_method=f"file://{file}", rank=place[0], world_size=place[1])
    print(json.dumps([work(Score, *place) for work in (scored, scored_in_a_loop, disagreeing)]), flush=True)
    distributed.barrier()
    os._exit(0)  # torch ends gloo's threads in an order that may abort the process


if __name__ == "__main__":
    main(*sys.argv[1:])
