"""Distribution clients under every metric, and what a review once found wrong."""

import pickle

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import arrays

DISTRIBUTIONS = [nm.Gaussian([k, 0]) for k in range(3)]
ROWS = ["precision", "density", "coverage", "recall", "auth_pct"]


@pytest.mark.parametrize("weights", [[1, 1, 1], [0.31234, 0.68766, 0.2], [1, 1, 0]])
def test_metrics_on_rows_take_distributions_with_any_weights(weights):
    federation = nm.Federation(DISTRIBUTIONS).with_weights(weights)
    scores = nm.evaluate(federation, {"g": nm.Gaussian([0, 0])}, ROWS, samples=500, progress=False)
    assert np.isfinite(scores.table[["avg", "all"]]).all(axis=None)
    moved = scores.with_weights([5, 1, 1])
    assert np.isfinite(moved.table["avg"]).all()
    assert moved.table[moved.table["metric"] == "precision"]["all"].isna().all()
    assert any(line.startswith("Precision all has no value") and "proportional" in line for line in moved.conventions)


def test_intervals_of_neighbour_metrics_hold_their_score():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(150, 3)), rng.normal(size=(150, 3)) + 0.3
    for design in (nm.Jackknife(), nm.Bootstrap(20)):
        table = nm.evaluate([x], {"g": y}, ["recall", "precision"], uncertainty=design, progress=False).table
        assert ((table["avg_low"] <= table["avg"]) & (table["avg"] <= table["avg_high"])).all()
        assert (table["avg_high"] <= 1).all()


@pytest.mark.parametrize("estimator", ["linear", nm.Subsets(5, 10)])
def test_order_dependent_estimators_refuse_resampling(estimator):
    x = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(nm.InvalidInput, match="uncertainty"):
        nm.evaluate([x], {"g": x + 1}, nm.metrics.KID(estimator=estimator), uncertainty=nm.Bootstrap(20))


def test_too_few_rows_for_intervals_are_refused():
    x = np.random.default_rng(0).normal(size=(4, 3))
    with pytest.raises(nm.InvalidInput, match="has 4 rows"):
        nm.evaluate([x], {"g": x + 1}, "kid", uncertainty=nm.Bootstrap(20))


def test_fld_depends_on_neither_units_nor_order():
    rng = np.random.default_rng(1)
    train, test, made = (rng.normal(size=(n, 5)) for n in (200, 150, 180))
    base = nm.fld(train, test, made)
    assert nm.fld(2 * train, 2 * test, 2 * made) == pytest.approx(base, abs=1e-8)
    assert nm.fld(train + 1, test + 1, made + 1) == pytest.approx(base, abs=1e-8)
    assert nm.fld(train[:, ::-1], test[:, ::-1], made[:, ::-1]) == pytest.approx(base, abs=1e-8)
    assert nm.fld(rng.permutation(train), test, made) == pytest.approx(base, abs=1e-8)


def test_a_torch_module_is_seeded_and_left_as_it_was():
    torch = pytest.importorskip("torch")

    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5))
    module.latent_dim = 3
    before, stream = module[1].running_mean.clone(), torch.random.get_rng_state()
    client = np.random.default_rng(0).normal(size=(50, 4))
    values = {nm.evaluate([client], {"g": module}, samples=200, progress=False).table["avg"][0] for _ in range(2)}
    assert len(values) == 1
    assert module.training
    assert torch.equal(before, module[1].running_mean)
    assert torch.equal(stream, torch.random.get_rng_state())


def test_an_impossible_row_costs_no_warning_and_no_nan():
    distribution = nm.Gaussian([0.0, 0.0], 1e-6)
    clients = [np.zeros((20, 2)), np.full((20, 2), 1e200**0.1)]
    with np.errstate(all="raise"):
        table = nm.evaluate(clients, {"g": distribution}, "log_likelihood", progress=False).table
    assert not table["gap"].isna().any()


@pytest.mark.parametrize(("metric", "words"), [("fid", "fewer than 30 rows"), ("fld", "fewer than 500 train rows")])
def test_what_is_mostly_bias_is_said_once_and_warned_of_with_uncertainty(metric, words):
    rng = np.random.default_rng(0)
    clients = [nm.Client(rng.normal(size=(25, 3)), test=rng.normal(size=(20, 3))) for _ in range(2)]
    generated = {"g": rng.normal(size=(40, 3))}
    assert sum(words in line for line in nm.evaluate(clients, generated, metric).conventions) == 1
    with pytest.warns(nm.BiasWarning, match=words) as caught:
        nm.evaluate(clients, generated, metric, uncertainty=nm.Bootstrap(20))
    assert len([w for w in caught if w.category is nm.BiasWarning]) == 1


def test_scores_can_be_pickled():
    rng = np.random.default_rng(0)
    scores = nm.evaluate([rng.normal(size=(30, 3))] * 2, {"g": rng.normal(size=(30, 3))}, progress=False)
    copy = pickle.loads(pickle.dumps(scores))
    assert copy.with_weights([1, 3]).table.equals(scores.with_weights([1, 3]).table)


def test_every_table_says_how_it_was_made():
    scores = nm.evaluate([np.eye(12)], {"g": np.eye(12), "h": np.eye(12) + 1}, progress=False)
    for frame in (scores.table, scores.clients, scores.ranks("fid"), scores.inversions("fid"), scores.ledger):
        assert "12 rows per client" in " ".join(frame.attrs["conventions"])


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (
            lambda: nm.Federation({"north": np.eye(2), "south": np.full((3, 2), np.nan)}),
            "client 'south', data: 6 values",
        ),
        (lambda: nm.evaluate(np.eye(3), [np.eye(3)]), "is one array.*rows_a"),
        (lambda: nm.evaluate([np.eye(3)], [{"g": np.eye(3)}]), "has a source for unknown client 'g'"),
        (lambda: nm.evaluate([np.eye(3)], {"bad": np.full((2, 3), np.inf)}), "generator 'bad', source"),
        (lambda: nm.fid(np.ma.masked_equal(np.eye(3), 1), np.eye(3)), "masked"),
        (lambda: nm.evaluate([np.eye(3)], [np.eye(3)], "fdi"), "Did you mean 'fid'"),
    ],
)
def test_errors_name_the_culprit(act, words):
    with pytest.raises(nm.InvalidInput, match=words):
        act()


def test_a_memory_limit_makes_blocks_smaller_and_changes_no_result(monkeypatch):
    rng = np.random.default_rng(2)
    train, test, made = (rng.normal(size=(400, 80)) for _ in range(3))

    def results():
        return [nm.fid(train, made), nm.kid(train, made), nm.fld(train, test, made), *nm.prdc(train, made)]

    monkeypatch.setattr(arrays.memory, "block_bytes", arrays.memory.block_bytes)
    usual, blocks = results(), len(list(arrays.row_blocks(10_000, 16_000)))
    nm.set_memory_limit(16)
    assert len(list(arrays.row_blocks(10_000, 16_000))) > 20 * blocks
    np.testing.assert_allclose(results(), usual, rtol=1e-9)
    with pytest.raises(nm.InvalidInput, match="megabytes"):
        nm.set_memory_limit(1)
