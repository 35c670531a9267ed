"""KID of many clients: one number whichever way it is made, and work that grows with them, not with their square."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import nbmetrics as nm
from nbmetrics import arrays
from nbmetrics.metrics import KID
from nbmetrics.metrics.kid import block_sums
from nbmetrics.metrics.kid.embedding import Embedding
from nbmetrics.metrics.kid.polynomial import Polynomial

RNG = np.random.default_rng(20261125)


def cubic(x, y):
    return (x.astype(float) @ y.astype(float).T / x.shape[1] + 1) ** 3


def rbf(x, y):
    return np.exp(-cdist(x.astype(float), y.astype(float), "sqeuclidean") / 18)


def naive(k, clients, made, shares):
    """KID-avg and KID-all by double sums over all rows, and the mean kernel for scale."""
    x, w = np.concatenate(clients), np.concatenate([np.full(len(c), s / len(c)) for c, s in zip(clients, shares)])
    kxx, kyy, kxy = k(x, x), k(made, made), k(x, made)
    own = (kyy.sum() - np.trace(kyy)) / (len(made) * (len(made) - 1))
    cuts = np.cumsum([0, *map(len, clients)])
    avg = own
    for s, a, b in zip(shares, cuts, cuts[1:]):
        block = kxx[a:b, a:b]
        avg += s * ((block.sum() - np.trace(block)) / ((b - a) * (b - a - 1)) - 2 * kxy[a:b].mean())
    whole = own + (w @ kxx @ w - w**2 @ np.diag(kxx)) / (1 - w @ w) - 2 * (w @ kxy).mean()
    return avg, whole, max(np.abs(k).mean() for k in (kxx, kyy, kxy))


SIZES = {
    "pairs": ([5, 9, 2, 4], 11, 8),
    "embedded pool": ([40, 31, 17, 22], 15, 5),
    "embedded generator, clients too": ([30, 21, 25, 2], 900, 8),
    "polynomial at rows": ([2, 3, 2, 2, 3, 2], 900, 8),
    "everything embedded": ([90, 150], 400, 3),
    "wide": ([9, 4, 30, 7], 12, 150),
    "more than a stack": ([600, 700, 3, 500], 1100, 30),
}


KERNELS = {"cubic": (nm.Polynomial(), cubic), "rbf": (nm.RBF(3.0), rbf)}
ALL_AT_ONCE, HARDLY_ANYTHING = 64 * 2**20, 700
CASES = [
    *((kernel, case, "numpy", ALL_AT_ONCE) for kernel in KERNELS for case in SIZES),
    *(("cubic", case, "numpy", HARDLY_ANYTHING) for case in SIZES if case != "more than a stack"),
    *((kernel, "pairs", kind, ALL_AT_ONCE) for kernel in KERNELS for kind in ("float32", "torch", "mixed")),
    *(("cubic", "embedded generator, clients too", kind, ALL_AT_ONCE) for kind in ("float32", "torch", "mixed")),
]


@pytest.mark.parametrize(("kernel", "case", "kind", "memory"), CASES)
def test_every_way_to_the_kernel_means_is_one_number(kernel, case, kind, memory, monkeypatch):
    (kernel, oracle), (sizes, m, d) = KERNELS[kernel], SIZES[case]
    torch = pytest.importorskip("torch") if kind in ("torch", "mixed") else None
    monkeypatch.setattr(arrays.memory, "block_bytes", memory)
    clients, made = [RNG.normal(size=(n, d)) for n in sizes], 0.3 + RNG.normal(size=(m, d))
    if kind == "float32":
        clients, made = [c.astype(np.float32) for c in clients], made.astype(np.float32)
    as_tensor = {"torch": (0, 1), "mixed": (1,)}.get(kind, ())
    given = [torch.from_numpy(c) if i % 2 in as_tensor else c for i, c in enumerate(clients)]
    scores = nm.evaluate(given, {"g": made, "h": made[:40] - 1.0}, KID(kernel), progress=False)
    shares = RNG.uniform(size=len(sizes))
    for weighed in (scores, scores.with_weights(shares), scores.with_weights([0.0, *shares[1:]])):
        for row, y in enumerate((made, made[:40] - 1.0)):
            avg, whole, scale = naive(oracle, clients, y, weighed.weights)
            tolerance = 1e-12 * scale
            assert weighed.table["avg"][row] == pytest.approx(avg, abs=tolerance)
            assert weighed.table["all"][row] == pytest.approx(whole, abs=tolerance)


def test_distributions_beside_rows_in_one_pool_are_bilinear():
    kernel, distribution = nm.Polynomial(), nm.Gaussian(np.full(3, 0.2), 0.5)
    rows = [RNG.normal(size=(n, 3)) for n in (5, 400)]
    metric = KID(kernel, "biased")
    summaries = [metric.summarize(nm.metrics.Sample(rows=r)) for r in rows]
    summaries.append(metric.summarize(nm.metrics.Sample(distribution=distribution)))
    assert isinstance(summaries[1].parts[0].content, Embedding)
    weights = (0.2, 0.5, 0.3)
    contents = [*rows, distribution]
    expected = sum(v * w * kernel.mean(a, b) for v, a in zip(weights, contents) for w, b in zip(weights, contents))
    assert metric.pool(summaries, weights).self_mean(unbiased=False) == pytest.approx(expected, rel=1e-13)


def work(clients, rows, d, generators, made, monkeypatch):
    """Pairs of rows that a kernel is taken of, and rows that are embedded or at which a polynomial is taken."""
    pairs, features = [], []
    block, contracted, witness = Polynomial.block, Polynomial.sum_of_features, Polynomial._row_means
    monkeypatch.setattr(Polynomial, "block", lambda s, x, y: pairs.append(len(x) * len(y)) or block(s, x, y))
    monkeypatch.setattr(Polynomial, "sum_of_features", lambda s, x, w: features.append(len(x)) or contracted(s, x, w))
    monkeypatch.setattr(Polynomial, "_row_means", lambda s, x, c: features.append(len(x)) or witness(s, x, c))
    scores = nm.evaluate(
        [RNG.normal(size=(rows, d)) for _ in range(clients)],
        {f"g{g}": RNG.normal(size=(made, d)) for g in range(generators)},
        "kid",
        progress=False,
    )
    assert np.isfinite(scores.table["gap"]).all()
    monkeypatch.undo()
    return sum(pairs), sum(features)


@pytest.mark.parametrize(("rows", "d", "made"), [(10, 16, 600), (40, 16, 600), (3, 8, 30)])
def test_work_is_linear_in_clients_and_generators(rows, d, made, monkeypatch):
    few, more = (work(clients, rows, d, 3, made, monkeypatch) for clients in (100, 200))
    for before, after in zip(few, more, strict=True):
        assert after <= 2.05 * before
    few, more = (work(100, rows, d, generators, made, monkeypatch) for generators in (3, 6))
    for before, after in zip(few, more, strict=True):
        assert after <= 2.05 * before


def test_every_embedding_is_made_once(monkeypatch):
    clients, rows, d, generators, made = 30, 60, 16, 5, 600
    pairs, features = work(clients, rows, d, generators, made, monkeypatch)
    assert features == clients * rows + generators * made
    assert pairs == 0


def test_pairs_are_taken_where_they_are_fewer(monkeypatch):
    pairs, features = work(4, 10, 64, 2, 20, monkeypatch)
    assert features == 0
    assert pairs <= (4 * 10) ** 2 + 2 * 20**2 + 40 * 40


def test_stacks_hold_every_part_once():
    parts = [np.zeros((n, 1)) for n in (1000, 24, 1, 5000, 3, 2, 1022)]
    found = block_sums.stacks(parts)
    assert [p for s in found for p in range(s.start, s.stop)] == list(range(7))
    assert all(sum(len(p) for p in parts[s]) <= 1024 or s.stop - s.start == 1 for s in found)
    assert block_sums.stacks([]) == []


def cubic(x, y):
    return (x @ y.T / x.shape[1] + 1) ** 3


def two_clients(seed, offset):
    rng = np.random.default_rng(seed)
    small, large = rng.normal(size=(20, 2)) - [2, 0], 1.4 * rng.normal(size=(200, 2)) + [2, 1]
    return nm.Federation([small + np.array([offset, 0]), large + np.array([offset, 0])]).with_weights([1, 1])


@pytest.mark.parametrize("offset", [0, 3, 60])
def test_what_other_weights_make_of_kid_all_is_said_and_right(offset):
    federation, half = two_clients(0, offset), np.array([0.5, 0.5])
    x = [client.rows for client in federation]
    scores = nm.evaluate(federation, {"near": np.concatenate([x[0], x[1][:20]])}, "kid")
    own = [(cubic(a, a).sum() - np.diag(cubic(a, a)).sum()) / (len(a) * (len(a) - 1)) for a in x]
    cross = cubic(x[0], x[1]).mean()
    stratified = half @ [[own[0], cross], [cross, own[1]]] @ half
    w = np.concatenate([np.full(len(a), 0.5 / len(a)) for a in x])
    k = cubic(np.concatenate(x), np.concatenate(x))
    weighted = (w @ k @ w - w**2 @ np.diag(k)) / (1 - w @ w)
    (line,) = [line for line in scores.cautions if "sampling bias" in line]
    assert line.startswith("KID all: ") and f"by about {weighted - stratified:.3g} for" in line
    corrected = nm.evaluate(federation, {"near": np.concatenate([x[0], x[1][:20]])}, KID(estimator="stratified"))
    assert corrected.table["all"][0] == pytest.approx(scores.table["all"][0] - (weighted - stratified), rel=1e-9)
    assert corrected.table["avg"][0] == scores.table["avg"][0]
    assert not any("sampling bias" in line for line in corrected.cautions)


def test_the_bias_is_said_of_all_generators_or_of_none_and_which_number_has_it():
    rng = np.random.default_rng(0)
    clients = {"here": rng.normal(size=(10, 2)), "there": rng.normal([3, 0], size=(10, 2))}
    near, far = nm.Gaussian([1.5, 0.0], 1.5), nm.Gaussian([6.0, 0.0], 1.5)
    scores = nm.evaluate(clients, {"near": near, "far": far}, "kid")
    by_name = scores.table.set_index("generator")["all"].abs()
    (line,) = [line for line in scores.cautions if "sampling bias" in line]
    bias = float(line.split("about ")[1].split(" ")[0])
    assert 0.1 * by_name["near"] < -bias < 0.1 * by_name["far"]  # large beside the one, small beside the other
    assert line.startswith("KID all: ") and "for every generator" in line
    assert bias == pytest.approx(-(scores.table["gap"][0] + bias) / 19, rel=1e-2)
    assert "all is the U statistic of the pooled rows" in scores.conventions[0]
    assert not nm.evaluate(clients, {"far": far}, "kid").cautions
    sure = nm.evaluate(clients, {"near": near, "far": far}, "kid", uncertainty=nm.Influence())
    assert any(said.startswith("plain KID all: ") for said in sure.cautions)


@pytest.mark.parametrize("metric", ["fid", KID(estimator="stratified"), KID(estimator="biased"), "kid"])
def test_only_the_u_statistic_of_several_clients_rows_is_called_one(metric):
    rng = np.random.default_rng(0)
    rows, same = {"one": rng.normal(size=(30, 2))}, {"same": nm.Gaussian([0.0, 0.0])}
    clients = rows if metric == "kid" else rows | {"two": rng.normal(size=(20, 2))}
    assert "U statistic" not in nm.evaluate(clients, same, metric).conventions[0]
    exact = nm.evaluate({"a": nm.Gaussian([0.0, 0.0]), "b": nm.Gaussian([3.0, 0.0])}, same, metric)
    assert "U statistic" not in exact.conventions[0]


def test_that_bias_is_the_bias():
    truth = nm.Federation([nm.Gaussian([1, 0]), nm.Gaussian([5, 1], 1.96)]).with_weights([1, 1])
    far = {"far": nm.Gaussian([0, 0])}
    expected = nm.evaluate(truth, far, "kid").table["all"].item()
    kid, found = nm.metrics.KID(), []
    for seed in range(225):
        clients = [kid.summarize(client.to_sample()) for client in two_clients(seed, 3)]
        pooled = kid.pool(clients, [0.5, 0.5])
        value = kid.distance(pooled, kid.summarize(nm.metrics.Sample(distribution=far["far"])))
        found.append((value, pooled.self_bias))
    value, bias = np.array(found).T
    error = value.std() / 15
    assert abs(np.mean(value - bias) - expected) < 3 * error
    assert np.mean(bias) > 0.1 * error
