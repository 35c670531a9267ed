"""Score: rows by update, scores by compute; the values of evaluate, whatever the batches and the processes."""

import copy
import importlib
import json
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import psutil
import pytest

import nbmetrics as nm
from tests.benchmarks import peers
from tests.hostile import CONTAINERS, SETTINGS, VALUES
from tests.rooms import ROOT
from tests.slow import by_default

torch = pytest.importorskip("torch")
from tests import gloo_worker  # noqa: E402

MODULE = "nbmetrics.torch.score"
BASES = by_default(["without torchmetrics", "torchmetrics"], "without torchmetrics")


@pytest.fixture(scope="module", params=BASES)
def Score(request):
    """The class on either base: its file is imported anew where the present one has the other base."""
    metrics = peers.imported("torchmetrics")
    if request.param == "torchmetrics" and metrics is None:
        pytest.skip("torchmetrics does not import here: pip install nbmetrics[bench]")
    importlib.import_module(MODULE)
    held = {name: sys.modules.pop(name, None) for name in (MODULE, "torchmetrics")}
    sys.modules["torchmetrics"] = metrics if request.param == "torchmetrics" else None
    try:
        module = importlib.import_module(MODULE)
        assert issubclass(module.Score, metrics.Metric if request.param == "torchmetrics" else torch.nn.Module)
        assert bool(module.WITHOUT_TORCHMETRICS) is (request.param != "torchmetrics")
        yield module.Score
    finally:
        for name, one in held.items():
            sys.modules.pop(name, None)
            if one is not None:
                sys.modules[name] = one


REAL, GENERATED = gloo_worker.parties(0.0)
CLIENTS = list(REAL)


def filled(score, real=REAL, generated=GENERATED, by_client=False):
    for name, rows in real.items():
        score.update(rows, real=True, client=name)
    for name, rows in generated.items():
        score.update(rows, real=False, client=name if by_client else None)
    return score


def values(score):
    return {part: float(value) for part, value in score.compute().items()}


def frechet(x, y):
    """FID by the eigenvalues of the product of the covariances."""
    (m, c), (n, d) = ((rows.mean(axis=0), np.cov(rows, rowvar=False)) for rows in (x, y))
    roots = np.sqrt(np.linalg.eigvals(c @ d).real.clip(0.0))
    return float((m - n) @ (m - n) + np.trace(c) + np.trace(d) - 2.0 * roots.sum())


def mmd(x, y):
    """KID by all pairs of rows, one after the other."""
    k = lambda a, b: (a @ b.T / a.shape[1] + 1.0) ** 3  # noqa: E731
    own = [(k(z, z).sum() - np.trace(k(z, z))) / (len(z) * (len(z) - 1)) for z in (x, y)]
    return sum(own) - 2.0 * k(x, y).mean()


ORACLES = {"fid": frechet, "kid": mmd}


# Before the others, which keep torchmetrics from being imported: lightning imports it.
def test_lightning_adds_up_and_logs():
    lightning = peers.imported("lightning") or pytest.skip("lightning does not import here: pip install lightning")
    own_score = importlib.import_module(MODULE).Score

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer, self.score = torch.nn.Linear(4, 4), own_score("fid", clients=CLIENTS)

        def training_step(self, batch, _):
            return self.layer(batch[0]).mean()

        def validation_step(self, batch, _):
            self.score.update(batch[0], real=True, client=[CLIENTS[k] for k in batch[1]])

        def on_validation_epoch_end(self):
            self.score.update(GENERATED["lyon"], real=False)
            self.log_dict({f"fid/{part}": value for part, value in self.score.compute().items()})
            self.score.reset()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    rows = torch.tensor(np.concatenate([*REAL.values()]), dtype=torch.float32)
    owners = torch.tensor(np.repeat([0, 1, 2], [len(part) for part in REAL.values()]))
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows, owners), batch_size=40, shuffle=True)
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    trainer = lightning.Trainer(accelerator="cpu", max_epochs=2, **quiet)
    trainer.fit(Model(), data, data)
    real = {name: part.astype(np.float32) for name, part in REAL.items()}
    row = nm.evaluate(real, {"g": GENERATED["lyon"]}, "fid", progress=False).table.iloc[0]
    for part in ("avg", "all", "gap"):
        assert float(trainer.callback_metrics[f"fid/{part}"]) == pytest.approx(row[part], rel=1e-4)


@pytest.mark.parametrize("metric", ORACLES)
def test_avg_all_and_gap_are_those_of_numpy(Score, metric):
    found, distance = values(filled(Score(metric, clients=CLIENTS))), ORACLES[metric]
    made, everyone = np.concatenate([*GENERATED.values()]), np.concatenate([*REAL.values()])
    avg = sum(len(rows) / len(everyone) * distance(rows, made) for rows in REAL.values())
    assert list(found) == ["avg", "all", "gap"]
    assert [*found.values()] == pytest.approx([avg, distance(everyone, made), avg - distance(everyone, made)], rel=1e-9)


@pytest.mark.parametrize("metric", ORACLES)
def test_intra_is_each_clients_score_with_what_was_made_for_it(Score, metric):
    weights = {"lyon": 1.0, "oslo": 2.0, "turin": 1.0}
    found = values(filled(Score(metric, clients=CLIENTS, weights=weights), by_client=True))
    own = [weights[name] / 4 * ORACLES[metric](REAL[name], GENERATED[name]) for name in CLIENTS]
    assert list(found) == ["intra", "avg", "all", "gap"]
    assert found["intra"] == pytest.approx(sum(own), rel=1e-9)
    federation = nm.Federation(REAL).with_weights(weights)
    row = nm.evaluate(federation, {"g": nm.Generator.by_client(GENERATED)}, metric, progress=False).table.iloc[0]
    assert found == pytest.approx({part: row[part] for part in found}, rel=1e-12)


@pytest.mark.parametrize("metric", ORACLES)
@pytest.mark.parametrize(("offset", "tolerance"), [(0.0, 1e-12), (1e3, 1e-9)])
def test_the_numbers_are_those_of_evaluate_whatever_the_batches(Score, metric, offset, tolerance):
    real, generated = gloo_worker.parties(offset)
    made = np.concatenate([*generated.values()])
    row = nm.evaluate(real, {"g": made}, metric, progress=False).table.iloc[0]
    rows, owners = np.concatenate([*real.values()]), np.repeat(CLIENTS, [len(part) for part in real.values()])
    order = np.random.default_rng(0).permutation(len(rows))
    for size in (1 if metric == "fid" else 5, 64, 1000):
        score = Score(metric, clients=CLIENTS)
        for start in range(0, len(rows), size):
            at = order[start : start + size]
            score.update(torch.tensor(rows[at]), real=True, client=owners[at])
        for start in range(0, len(made), size):
            score.update(made[start : start + size], real=False)
        scale = max(abs(row["avg"]), abs(row["all"]))
        assert values(score) == pytest.approx({p: row[p] for p in ("avg", "all", "gap")}, abs=tolerance * scale)


@pytest.mark.parametrize(("n", "m", "d"), [(10, 8, 20), (101, 101, 100), (40, 300, 80)])
@pytest.mark.parametrize("least", [1.0, 1e-6])
def test_fid_of_few_rows_and_of_scales_far_apart(Score, n, m, d, least):
    rng, scales = np.random.default_rng(1), np.geomspace(1.0, least, d)
    x, y = (rng.normal(size=(rows, d)) * scales for rows in (n, m))
    score = Score("fid")
    score.update(x, True)
    score.update(y, False)
    assert float(score.compute()["all"]) == pytest.approx(nm.fid(x, y), abs=1e-10 * (x.var(0).sum() + y.var(0).sum()))


def test_fid_of_features_that_depend_on_one_another(Score):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(500, 6)), rng.normal(size=(400, 2)) @ rng.normal(size=(2, 6))
    score = Score("fid")
    for rows, is_real in ((x, True), (y, False)):
        for batch in np.array_split(rows, 20):
            score.update(batch, is_real)
    assert float(score.compute()["all"]) == pytest.approx(nm.fid(x, y), abs=1e-7 * (x.var(0).sum() + y.var(0).sum()))


@pytest.mark.parametrize("kernel", [nm.RandomFeatures(nm.RBF(2.0), 64), nm.RandomFeatures(nm.Polynomial(3), 50)])
def test_random_features_are_those_of_evaluate(Score, kernel):
    for estimator in ("unbiased", "stratified", "biased"):
        metric = nm.metrics.KID(kernel, estimator)
        row = nm.evaluate(REAL, {"g": np.concatenate([*GENERATED.values()])}, metric, progress=False).table.iloc[0]
        found = values(filled(Score(metric, clients=CLIENTS)))
        assert found == pytest.approx({part: row[part] for part in found}, rel=1e-9)


def test_one_client_needs_no_name(Score):
    score = Score("kid")
    score.update(torch.tensor(REAL["lyon"], dtype=torch.float32), True)
    score.update(torch.tensor(GENERATED["lyon"], dtype=torch.float32), False)
    found = values(score)
    assert found["gap"] == pytest.approx(0.0, abs=1e-12)
    rows = [rows["lyon"].astype(np.float32) for rows in (REAL, GENERATED)]
    assert found["all"] == pytest.approx(nm.kid(*rows), rel=1e-5)


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int8, torch.int64, torch.uint8, torch.bool]
)
def test_numbers_of_any_type(Score, dtype):
    rng = np.random.default_rng(0)
    x, y = (torch.tensor(rng.integers(0, 2 if dtype is torch.bool else 9, (50, 3))).to(dtype) for _ in range(2))
    score = Score("fid")
    score.update(x, True)
    score.update(y, False)
    assert float(score.compute()["all"]) == pytest.approx(nm.fid(x.double(), y.double()), rel=1e-10)


def test_labels_stand_for_clients_called_by_their_digits(Score):
    score, rows = Score("fid", clients=range(3)), np.concatenate([*REAL.values()])
    labels = torch.tensor(np.repeat([0, 1, 2], [len(part) for part in REAL.values()]))
    score.update(rows, real=True, client=labels)
    score.update(GENERATED["lyon"], real=False)
    score.update(rows[:0], real=True, client=0)
    named = filled(Score("fid", clients=CLIENTS), generated={"lyon": GENERATED["lyon"]})
    assert score.clients == ("0", "1", "2") and values(score) == pytest.approx(values(named), rel=1e-12)


def test_memory_does_not_grow_with_the_rows(Score):
    score, rng = Score("kid", clients=["a", "b"]), np.random.default_rng(0)
    batches = [torch.tensor(rng.normal(size=(4000, 4))) for _ in range(5)]
    count = 0

    def take(times):
        nonlocal count
        for k in range(times):
            score.update(batches[k % 5], real=k % 2 == 0, client="ab"[k % 4 // 2] if k % 2 == 0 else None)
            count += len(batches[0])

    take(20)
    before = psutil.Process().memory_info().rss
    take(230)
    assert count == 10**6
    assert psutil.Process().memory_info().rss - before < 16 * 2**20  # the rows would take 32 MB
    assert sum(state.numel() for state in score.metric_state.values()) < 1000
    assert np.isfinite([*values(score).values()]).all()


def test_cautions_are_those_of_evaluate(Score):
    rng = np.random.default_rng(0)
    real = {name: rng.normal(size=(n, 20)) for name, n in (("a", 60), ("b", 90))}
    made = rng.normal(size=(70, 20))
    score = filled(Score("fid", clients=["a", "b"]), real, {"g": made})
    assert score.cautions == []
    score.compute()
    cautions = nm.evaluate(real, {"the generator": made}, "fid", progress=False).cautions
    assert any("fewer than 200 rows" in line for line in cautions) and any(
        "gap of the generator" in c for c in cautions
    )
    assert score.cautions == [line.partition(": see scores.")[0] for line in cautions]
    score.reset()
    assert score.cautions == []
    own = {"a": made, "b": made[:30]}
    filled(score, real, own, by_client=True).compute()
    table = nm.evaluate(real, {"the generator": nm.Generator.by_client(own)}, "fid", progress=False)
    assert score.cautions == [line.partition(": see scores.")[0] for line in table.cautions]


# ---- the interface


@pytest.mark.filterwarnings("ignore:The ``compute`` method")
def test_reset_copies_and_states(Score, tmp_path):
    score = filled(Score("kid", clients=CLIENTS))
    wanted = values(score)
    assert values(copy.deepcopy(score)) == wanted
    assert not score.state_dict()
    score.persistent(True)
    torch.save(score.state_dict(), tmp_path / "state.pt")
    other = Score("kid", clients=CLIENTS)
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert values(other) == wanted
    module = torch.nn.ModuleDict({"score": score})
    assert set(module.half().state_dict()) == {f"score.{name}" for name in score.metric_state}
    assert score.real_sums.dtype == torch.float64 and values(score.to("cpu")) == wanted
    score.reset()
    with pytest.raises(nm.InvalidInput, match="there are no real rows yet"):
        score.compute()
    assert values(filled(score)) == pytest.approx(wanted, rel=1e-12)


def test_it_pickles():
    Own = importlib.import_module(MODULE).Score  # the one that pickle finds by its name
    score = filled(Own("fid", clients=CLIENTS))
    assert values(pickle.loads(pickle.dumps(score))) == values(score)


def test_states_in_and_out_of_inference_mode(Score):
    score = Score("fid", clients=CLIENTS)
    with torch.inference_mode():
        filled(score, generated={})
        score.metric_state["real_sums"].clone()
        score.real_sums = score.real_sums.clone()  # as torchmetrics leaves it after a compute
    filled(score, real={})
    assert values(score) == pytest.approx(values(filled(Score("fid", clients=CLIENTS))), rel=1e-12)
    wide = torch.tensor(REAL["lyon"], requires_grad=True)
    score.update(wide, real=True, client="lyon")
    assert not score.real_sums.requires_grad


def test_a_checkpoint_that_was_loaded_stays_as_it_is(Score):
    saved = filled(Score("fid", clients=CLIENTS)).metric_state
    copies = {name: state.clone() for name, state in saved.items()}
    loaded = Score("fid", clients=CLIENTS)
    loaded.load_state_dict(saved, strict=False)
    loaded.update(REAL["lyon"], True, "lyon")
    assert all(torch.equal(saved[name], copies[name]) for name in saved)


@pytest.mark.parametrize("by_client", [False, True])
def test_states_are_merged_about_one_centre(Score, by_client):
    for metric in ORACLES:
        whole = filled(Score(metric, clients=CLIENTS), by_client=by_client)
        parts = [Score(metric, clients=CLIENTS) for _ in range(3)]
        filled(parts[0], {"lyon": REAL["lyon"], "oslo": REAL["oslo"]}, {})
        filled(parts[1], {"turin": REAL["turin"]}, GENERATED, by_client)
        parts[2].merge_state(parts[0])
        parts[2].merge_state(parts[1].metric_state)
        assert values(parts[2]) == pytest.approx(values(whole), rel=1e-11)
    with pytest.raises(nm.InvalidInput, match="the same metric"):
        parts[0].merge_state(Score("fid", clients=CLIENTS))


def test_images_by_an_extractor(Score):
    rng = np.random.default_rng(0)
    real, made = (rng.integers(0, 256, (30, 6, 6), dtype=np.uint8) for _ in range(2))
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(36, 4))
    for extractor in ("pixels", network):
        score = Score("fid", extractor=extractor)
        for start in (0, 10):
            score.update(real[start : start + 10], True)
        score.update(torch.tensor(real[20:]), True)
        score.update(made, False)
        rows = [nm.extract(images, extractor, cache=False, progress=False) for images in (real, made)]
        assert float(score.compute()["all"]) == pytest.approx(nm.fid(*rows), rel=1e-5)
        assert "pixels" in score.convention or "module" in score.convention
    with torch.no_grad():
        network[1].weight += 1.0
    score.update(made, False)
    with pytest.raises(nm.InvalidInput, match="extractor: made rows as"):
        score.compute()


# ---- several processes


class Group:
    """Processes that are threads: each hands a tensor in, and takes those of all."""

    def __init__(self, count):
        self.count, self.barrier, self.held = count, threading.Barrier(count, timeout=30), [None] * count

    def gather(self, rank):
        def gathered(tensor, group=None):
            self.held[rank] = tensor.clone()
            self.barrier.wait()
            parts = [part.clone() for part in self.held]
            self.barrier.wait()
            return parts

        return gathered

    def run(self, work):
        """What `work(rank, gather)` returns or raises, by rank."""
        outcomes = [None] * self.count

        def one(rank):
            try:
                outcomes[rank] = work(rank, self.gather(rank))
            except nm.InvalidInput as refusal:
                outcomes[rank] = refusal

        threads = [threading.Thread(target=one, args=(rank,)) for rank in range(self.count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return outcomes


def in_group(Score, settings, *feeds):
    """(values, values of a second compute after one more batch) of each process, which takes what its feed gives."""

    def work(rank, gather):
        score = Score(**settings, dist_sync_fn=gather, distributed_available_fn=lambda: True)
        for batch, real, client in feeds[rank]:
            score.update(batch, real, client)
        local = {name: state.clone() for name, state in score.metric_state.items()}
        try:
            return values(score)
        finally:
            for name, state in score.metric_state.items():  # each has its own again
                assert torch.equal(state, local[name])

    return Group(len(feeds)).run(work)


@pytest.mark.filterwarnings("ignore:The ``compute`` method")
@pytest.mark.parametrize("metric", ORACLES)
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_processes_that_saw_little_or_nothing(Score, metric, offset):
    real, generated = gloo_worker.parties(offset)
    made = [(rows, False, None) for rows in generated.values()]
    feeds = [[], [(real["lyon"], True, "lyon")], [(real["oslo"], True, "oslo"), (real["turin"], True, "turin")], made]
    row = nm.evaluate(real, {"g": np.concatenate([*generated.values()])}, metric, progress=False).table.iloc[0]
    for outcome in in_group(Score, {"metric": metric, "clients": CLIENTS}, *feeds):
        scale = max(abs(row["avg"]), abs(row["all"]))
        wanted = {part: row[part] for part in ("avg", "all", "gap")}
        assert outcome == pytest.approx(wanted, abs=(1e-9 if offset else 1e-12) * scale)


@pytest.mark.parametrize(
    ("mine", "yours", "said"),
    [
        ([(REAL["lyon"], True, "lyon")], [(REAL["lyon"][:, :3], True, "lyon")], "3 features in one process and 4"),
        ([(REAL["lyon"], False, "lyon")], [(REAL["lyon"], False, None)], "named for some generated rows"),
        ([(REAL["lyon"], True, "lyon")], [(REAL["oslo"], True, "oslo")], "there are no generated rows yet"),
        ([(REAL["lyon"], True, "lyon")], [(REAL["oslo"], False, None)], "client 'oslo': has no rows"),
    ],
)
def test_every_process_refuses_what_does_not_belong_together(Score, mine, yours, said):
    outcomes = in_group(Score, {"metric": "fid", "clients": CLIENTS}, mine, yours)
    assert all(isinstance(outcome, nm.InvalidInput) and said in str(outcome) for outcome in outcomes), outcomes


@pytest.mark.parametrize("base", BASES)
def test_two_processes_of_gloo_give_the_scores_of_all_rows(base, tmp_path):
    if base == "torchmetrics" and peers.imported("torchmetrics") is None:
        pytest.skip("torchmetrics does not import here: pip install nbmetrics[bench]")
    command = [sys.executable, "-m", "tests.gloo_worker", base]
    options = {"cwd": ROOT, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen([*command, str(rank), "2", str(tmp_path / "group")], **options) for rank in range(2)]
    outcomes = [json.loads(process.communicate(timeout=120)[0]) for process in started]
    for (scores, epochs, _), process in zip(outcomes, started, strict=True):
        assert process.returncode == 0
        for offset in gloo_worker.OFFSETS:
            real, generated = gloo_worker.parties(offset)
            for metric in gloo_worker.METRICS:
                by_client = {"g": nm.Generator.by_client(generated)}
                row = nm.evaluate(real, by_client, metric, progress=False).table.iloc[0]
                found, tolerance = scores[f"{metric} {offset}"], 1e-9 if offset else 1e-12
                scale = max(abs(row["avg"]), abs(row["all"]))
                assert found == pytest.approx({part: row[part] for part in found}, abs=tolerance * scale)
        rows = np.random.default_rng(3).normal(size=(60, 4))
        assert [found for found, _ in epochs] == pytest.approx([nm.fid(rows, made) for _, made in epochs], rel=1e-10)
    assert [epoch[0] for epoch in outcomes[0][1]] == [epoch[0] for epoch in outcomes[1][1]]
    for *_, unlike in outcomes:
        gloo_worker.check_disagreeing(unlike)


# ---- what is refused


def with_state(score, **changes):
    score.load_state_dict({**filled(type(score)("fid", clients=CLIENTS)).metric_state, **changes}, strict=False)


def with_sums(Score, change):
    sums = filled(Score("fid", clients=CLIENTS)).real_sums
    with_state(Score("fid", clients=CLIENTS), real_sums=change(sums))


ROWS = REAL["lyon"]
NAN = np.where(np.arange(4) == 2, np.nan, ROWS)
FEATURES = [nm.metrics.KID(nm.RandomFeatures(nm.RBF(1.0), 64, seed=seed)) for seed in (0, 1)]
ONE_ROW = {**REAL, "turin": REAL["turin"][:1]}


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda S: S("precision"), "metric: 'precision' has no sums that add up"),
        (lambda S: S("cmmd"), "metric: the kernel RBF"),
        (lambda S: S(nm.metrics.KID(estimator="linear")), "metric: 'kid' has no sums"),
        (lambda S: S(nm.metrics.KID(nm.RandomFeatures(nm.RBF("median"), 64))), "Give sigma a number"),
        (lambda S: S("kid").update(np.zeros((5, 65)), True), "at most 64 features, and these are 65"),
        (lambda S: S("fid", clients="lyon"), "clients: got 'lyon'. Give a list of names"),
        (lambda S: S("fid", clients=[]), "clients: is empty"),
        (lambda S: S("fid", clients=["a", "a"]), "appears twice"),
        (lambda S: S("fid", clients=["a", "b"], weights=[1]), "weights: got 1 weights for 2 parts"),
        (lambda S: S("fid", clients=CLIENTS).update(ROWS, True), "client: is missing"),
        (lambda S: S("fid", clients=CLIENTS).update(ROWS, True, "lion"), "Did you mean 'lyon'"),
        (lambda S: S("fid", clients=CLIENTS).update(ROWS, True, ["lyon"] * 3), "has 3 names for 90 rows"),
        (lambda S: S("fid", clients=CLIENTS).update(ROWS, True, True), "client: got True"),
        (lambda S: S("fid").update(ROWS, True, "lyon"), "this Score has no clients"),
        (lambda S: S("fid").update(ROWS, 1), "real: got 1. Give True or False"),
        (lambda S: S("fid").update(NAN, True), "90 values are NaN or infinite"),
        (lambda S: S("fid").update(np.zeros((2, 3, 8, 8)), True), "is images of shape (2, 3, 8, 8), and there is no"),
        (lambda S: S("fid").update(ROWS[0], True), "expected rows of shape (n, d)"),
        (lambda S: filled(S("fid", clients=CLIENTS)).update(ROWS[:, :3], False), "has 3 features where 4"),
        (lambda S: filled(S("fid", clients=CLIENTS)).update(ROWS, False, "lyon"), "Name it for all generated batches"),
        (lambda S: filled(S("fid", clients=CLIENTS), {}).compute(), "compute: there are no real rows yet"),
        (lambda S: filled(S("fid", clients=CLIENTS), REAL, {}).compute(), "there are no generated rows yet"),
        (lambda S: filled(S("fid", clients=CLIENTS), {"lyon": ROWS}).compute(), "client 'oslo': has no rows"),
        (lambda S: filled(S("fid", clients=CLIENTS), ONE_ROW).compute(), "client 'turin': has 1 row"),
        (lambda S: filled(S("kid", clients=CLIENTS), REAL, {"g": ROWS[:1]}).compute(), "generated rows: has 1 row"),
        (
            lambda S: filled(S("fid", clients=CLIENTS), REAL, {"lyon": ROWS}, True).compute(),
            "generated rows for client 'oslo': has no rows",
        ),
        (lambda S: with_state(S("fid", clients=["a"])), "state_dict: differs in clients: the state has"),
        (lambda S: with_state(S("kid", clients=CLIENTS)), "state_dict: differs in metric: the state has 'fid' (FID: "),
        (
            lambda S: with_state(S("fid", clients=CLIENTS), centre=torch.full((4,), np.nan, dtype=torch.float64)),
            "state_dict: has numbers that are not float64, not finite",
        ),
        (
            lambda S: with_sums(S, lambda sums: sums.to("meta")),
            "state_dict: has numbers that are not float64, not finite",
        ),
        (
            lambda S: with_sums(S, lambda sums: sums.to_sparse()),
            "state_dict: has numbers that are not float64, not finite",
        ),
        (lambda S: with_sums(S, lambda sums: sums * 1e16), "real sums of 'lyon' that no rows have: 9e+17 rows"),
        (
            lambda S: with_sums(S, lambda sums: sums + 1e200 * (torch.arange(sums.shape[1]) > 0)),
            "state_dict: has numbers",
        ),
        (lambda S: S("fid").merge_state({"centre": torch.zeros(3)}), "incoming_state: lacks"),
        (lambda S: S("fid").merge_state(None), "incoming_state: got None"),
        (lambda S: S(FEATURES[0]).merge_state(S(FEATURES[1])), "incoming_state: differs in metric"),
        (lambda S: S("fid").update(np.zeros((2, 10**6)), True), "batch: has 1,000,000 features"),
        (lambda S: S("fid", clients=range(10**5)).update(np.repeat(ROWS, 100, 1), True, 7), "batch: has 400 features"),
    ],
)
def test_what_is_refused(Score, use, said):
    with pytest.raises(nm.InvalidInput) as refusal:
        use(Score)
    assert said in str(refusal.value)


def test_a_batch_that_is_refused_adds_nothing(Score):
    score = filled(Score("fid", clients=CLIENTS))
    before = values(score)
    for batch, client in ((NAN, "lyon"), (ROWS, ["lyon"] * 89 + ["rome"]), (ROWS[:, :2], "lyon")):
        with pytest.raises(nm.InvalidInput):
            score.update(batch, real=True, client=client)
    assert values(score) == before


def test_a_weight_of_zero_leaves_a_client_out(Score):
    two = {name: REAL[name] for name in CLIENTS[:2]}
    score = filled(Score("fid", clients=CLIENTS, weights=[90, 61, 0]), two)
    assert values(score) == pytest.approx(values(filled(Score("fid", clients=CLIENTS[:2]), two)), rel=1e-12)


def test_strange_rows_and_settings_are_answered_or_refused(Score):
    """Whatever comes as a batch, a name or a setting: finite scores, or InvalidInput."""
    outcomes = {"answered": 0, "refused": 0}

    def attempt(**given):
        settings = {key: given[key] for key in ("metric", "clients", "weights", "extractor") if key in given}
        try:
            score = Score(**{"metric": "fid", "clients": ["a", "b"], **settings})
            for client in "ab":
                score.update(given.get("batch", ROWS), given.get("real", True), given.get("client", client))
                score.update(ROWS if client == "a" else ROWS + 1, True, client)
            score.update(given.get("made", ROWS), False, given.get("made_for"))
            assert np.isfinite([*values(score).values()]).all()
            outcomes["answered"] += 1
        except nm.InvalidInput:
            outcomes["refused"] += 1

    rng = np.random.default_rng(0)
    for make in VALUES.values():
        for metric in ("fid", "kid"):
            attempt(metric=metric, batch=make(rng, 24, 4))
            attempt(metric=metric, made=make(rng, 24, 4))
    for contain in CONTAINERS.values():
        attempt(batch=contain(rng.normal(size=(24, 4))).value)
    names = ("metric", "clients", "weights", "batch", "made", "real", "client", "made_for")
    for k, setting in enumerate(SETTINGS):
        for name in (names[k % 8], names[(k + 3) % 8]):
            attempt(**{name: setting})
    assert min(outcomes.values()) > 20, outcomes


def test_the_blocks_of_the_guide_run(Score):
    guide = (ROOT / "docs/torch.md").read_text("utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    names = {}
    exec(
        block.replace("from nbmetrics.torch import Score\n", "").replace("score.compute()", "found = score.compute()"),
        {"Score": Score},
        names,
    )
    assert list(names["found"]) == ["avg", "all", "gap"]


def test_an_import_of_everything_leaves_torch_alone():
    assert "torch" not in nm.__all__ and nm.torch.__name__ == "nbmetrics.torch"
