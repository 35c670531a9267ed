"""Sites that differ: one altered client is cautioned and named, healthy federations are not cautioned.

`draw_federation` and `draw_alteration` are what somebody else replaces: set them before the parts run. They use other
seeds, and partly other laws, than those that the limits in nbmetrics/evaluation/client_cautions.py were tuned on.
"""

import warnings

import numpy as np

import nbmetrics as nm
from tests.acceptance.harness import Part, share

KINDS = ("scale", "shift", "range")
CAUTION = ("other preprocessing", "values clipped")


def draw_federation(rng, how):
    """Rows of 3 to 20 clients, at least 20 each: "iid", or "dirichlet" for label-skewed ones with alpha .1."""
    law = rng.choice(["gaussian", "t5", "gamma", "mixture", "digits"])
    k = int(rng.integers(3, 21))
    if law == "digits":
        rows, labels = nm.datasets.digits()
        if rng.random() < 0.5:  # principal components
            centred = rows - rows.mean(axis=0)
            d = int(rng.integers(4, 33))
            rows = centred @ np.linalg.svd(centred, full_matrices=False)[2][:d].T
        k = min(k, 12)
    else:
        d, n = int(np.exp(rng.uniform(np.log(4), np.log(256)))), int(rng.integers(100, 700)) * k
        labels = rng.integers(8, size=n)
        rows = rng.normal(size=(n, d)) @ (np.eye(d) + 0.5 * rng.normal(size=(d, d)) / np.sqrt(d))
        if law == "t5":
            rows /= np.sqrt(rng.chisquare(5, size=(n, 1)) / 5)
        rows += rng.normal(size=(8, d))[labels] * (2.0 if law == "mixture" else rng.uniform(0, 1))
        if law == "gamma":
            rows = rng.gamma(2.0, np.exp(0.3 * rows))
        rows = rows * np.exp(rng.normal(0, 0.5, size=d)) + rng.normal(size=d)
    if how == "iid":
        order = rng.permutation(len(rows))
        cuts = np.sort(rng.choice(np.arange(1, len(rows) // 20), size=k - 1, replace=False)) * 20
        parts = np.split(order, cuts)
    else:
        shares = [rng.dirichlet([0.1] * k) for _ in range(labels.max() + 1)]
        owner = np.array([rng.choice(k, p=shares[label]) for label in labels])
        parts = [np.flatnonzero(owner == i) for i in range(k)]
    clients = [rows[part] for part in parts if len(part) >= 20]
    return clients if len(clients) > 2 else draw_federation(rng, how)


def draw_alteration(rng, kind, rows, pooled):
    """The rows of one client as another preprocessing gives them, and what was done, in words."""
    if kind == "scale":
        factor = rng.uniform(1.5, 3.0)
        centre = pooled.mean(axis=0) if rng.random() < 0.5 else 0.0
        return (rows - centre) * factor + centre, f"scale × {factor:.2f}"
    if kind == "shift":
        by = rng.uniform(1.0, 3.0)
        signs = rng.choice([-1.0, 1.0], size=rows.shape[1]) if rng.random() < 0.3 else 1.0
        return rows + by * signs * pooled.std(axis=0), f"shift {by:.2f} pooled sd"
    if rng.random() < 0.5:
        low, high = rows.min(axis=0), rows.max(axis=0)
        return (rows - low) / np.where(high > low, high - low, 1.0), "min-max"
    share_cut = rng.uniform(0.02, 0.2)
    low, high = np.quantile(rows, [share_cut, 1 - share_cut], axis=0)
    return np.clip(rows, low, high), f"clipped at the {share_cut:.0%} quantiles"


def cautions(clients, way, rng):
    """The cautions about sites of `evaluate`, or of `aggregate` from moments alone."""
    sites = {f"site {i}": rows for i, rows in enumerate(clients)}
    pooled = np.concatenate(clients)
    generators = {"g": pooled[rng.permutation(len(pooled))[:200]] + rng.normal(0, 0.01, size=(1, pooled.shape[1]))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way == "evaluate":
            scores = nm.evaluate(sites, generators, "fid", progress=False)
        else:
            sent = {name: nm.federated.client_summary(rows, "fid") for name, rows in sites.items()}
            scores = nm.federated.aggregate(sent, None, generators, "fid")
    return [line for line in scores.cautions if any(words in line for words in CAUTION)]


def altered(seed):
    rng = np.random.default_rng([2501, seed])
    while True:
        clients = draw_federation(rng, "dirichlet" if rng.random() < 0.3 else "iid")
        pooled = np.concatenate(clients)
        weights = np.array([len(rows) / len(pooled) for rows in clients])
        eligible = np.flatnonzero((weights >= 0.02) & (weights <= 0.5))
        if len(eligible):
            break
    site, kind = int(rng.choice(eligible)), KINDS[seed % 3]
    rows, what = draw_alteration(rng, kind, clients[site], pooled)
    about = f"{what}: {len(clients)} clients, {rows.shape[1]} features, {len(rows)} rows, weight {weights[site]:.2f}"
    clients[site] = rows
    lines = {way: cautions(clients, way, rng) for way in ("evaluate", "aggregate")}
    return {
        "about": about,
        **{way: any(line.startswith(f"'site {site}'") for line in own) for way, own in lines.items()},
        "others": sum(not line.startswith(f"'site {site}'") for line in lines["evaluate"]),
    }


def healthy(seed):
    rng = np.random.default_rng([2502, seed])
    how = ("iid", "dirichlet")[seed % 2]
    clients = draw_federation(rng, how)
    about = f"{how}: {len(clients)} clients, {clients[0].shape[1]} features, {min(map(len, clients))} rows or more"
    return {"about": about, **{way: cautions(clients, way, rng) for way in ("evaluate", "aggregate")}}


def judge_altered(results):
    total = len(results)
    named = {way: sum(result[way] for result in results) for way in ("evaluate", "aggregate")}
    missed = [result["about"] for result in results if not result["evaluate"]]
    also = sum(result["others"] > 0 for result in results)
    return [
        (named["evaluate"] >= 0.9 * total, f"evaluate names the altered site in {share(named['evaluate'], total)}"),
        (True, f"aggregate, from moments alone, in {share(named['aggregate'], total)} (clipping is hard to see there)"),
        (True, f"another site is named too in {share(also, total)}"),
        *((True, f"missed by evaluate: {about}") for about in missed),
    ]


def judge_healthy(results):
    lines = []
    for way in ("evaluate", "aggregate"):
        told = [result for result in results if result[way]]
        lines.append(
            (len(told) <= 0.05 * len(results), f"{way} cautions {share(len(told), len(results))} healthy ones")
        )
        lines += [(True, f"cautioned: {result['about']}: {result[way][0]}") for result in told]
    return lines


PARTS = [
    Part("sites-altered", altered, judge_altered, quick=15, full=60),
    Part("sites-healthy", healthy, judge_healthy, quick=20, full=60),
]
