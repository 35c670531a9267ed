"""Conditional metrics inside evaluate(): answers client by client, weights, ledger; and bad input."""

import warnings

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics.base import score_pair
from nbmetrics.metrics.conditional import CFID, JFID, MFID, RFID, FewPairsWarning, cfid, jfid, mfid, rfid
from tests.metrics.test_conditional import FAMILY, pair, triple

RNG = np.random.default_rng(20261128)
pytestmark = pytest.mark.filterwarnings("ignore::nbmetrics.metrics.conditional.FewPairsWarning")


def paired_federation(sizes=(300, 500), seed=11):
    """Clients whose y is their x turned by a right angle, plus noise; x differs from client to client."""
    rng = np.random.default_rng(seed)
    clients = []
    for k, n in enumerate(sizes):
        x = rng.normal(size=(n, 2)) * (1 + k) + k
        y = x @ [[0.0, 1.0], [-1.0, 0.0]] + 0.3 * rng.normal(size=(n, 2))
        clients.append(nm.Client(y, condition=x, name=f"c{k}"))
    return nm.Federation(clients)


class Counted:
    """A conditional generator that counts its calls."""

    def __init__(self, answer):
        self.answer, self.calls = answer, 0

    def __call__(self, x, rng):
        self.calls += 1
        return self.answer(x, rng)


def regressor(x, rng):
    return x @ [[0.0, 1.0], [-1.0, 0.0]] + 0.3 * rng.normal(size=x.shape)


def shuffler(x, rng):
    return rng.permutation(regressor(x, rng))


MODELS = {"paired": regressor, "unpaired": shuffler}
ALL = [MFID(), RFID(), CFID()]


def cell(scores, metric, generator, column):
    table = scores.table
    return float(table[(table["metric"] == metric) & (table["generator"] == generator)][column].iloc[0])


def test_a_paired_and_an_unpaired_model_look_alike_to_mfid_only():
    scores = nm.evaluate(paired_federation(), MODELS, ALL, progress=False)
    for column in ("avg", "all"):
        low, high = cell(scores, "cfid", "paired", column), cell(scores, "cfid", "unpaired", column)
        assert max(cell(scores, "mfid", g, column) for g in MODELS) < 0.05
        assert low < 0.05
        assert high > 2
        assert cell(scores, "mfid", "unpaired", column) < cell(scores, "rfid", "unpaired", column) < high
    assert scores.ranks("cfid")["avg"].tolist() == [1, 2]


def test_avg_and_all_are_what_cfid_says_of_the_same_answers():
    federation, seen = paired_federation(), {}

    def recorded(x, rng):
        seen[len(x)] = regressor(x, rng)
        return seen[len(x)]

    scores = nm.evaluate(federation, {"g": recorded}, ALL, progress=False)
    x, y, g = ([*p] for p in zip(*((c.condition, c.rows, seen[len(c.rows)]) for c in federation), strict=True))
    for name, score in FAMILY.items():
        each = [score(*rows) for rows in zip(x, y, g, strict=True)]
        assert cell(scores, name, "g", "avg") == pytest.approx(np.dot(federation.weights, each), rel=1e-12)
        whole = score(*map(np.concatenate, (x, y, g)))
        assert cell(scores, name, "g", "all") == pytest.approx(whole, rel=1e-11)


def test_other_metrics_see_all_answers_as_one_generator():
    federation, seen = paired_federation(), {}

    def recorded(x, rng):
        seen[len(x)] = shuffler(x, rng)
        return seen[len(x)]

    scores = nm.evaluate(federation, {"g": recorded, "h": regressor}, ["fid", "kid", *ALL], progress=False)
    whole = np.concatenate([seen[len(c.rows)] for c in federation])
    for name, score in (("fid", nm.fid), ("kid", nm.kid)):
        each = [score(c.rows, whole) for c in federation]
        assert cell(scores, name, "g", "avg") == pytest.approx(np.dot(federation.weights, each), rel=1e-10)
        pooled = score(np.concatenate([c.rows for c in federation]), whole)
        assert cell(scores, name, "g", "all") == pytest.approx(pooled, rel=1e-9, abs=1e-10)
    gaps = scores.table.loc[scores.table["metric"] == "kid", "gap"]
    assert np.ptp(gaps) <= 1e-10 * abs(gaps).max()


def test_other_weights_pool_both_sides_and_ask_the_generator_nothing():
    federation, model = paired_federation(), Counted(shuffler)
    metrics = ["fid", "kid", *ALL]
    scores = nm.evaluate(federation, {"g": model, "distribution": nm.Gaussian([0.0, 1.0])}, metrics, progress=False)
    scores.table  # noqa: B018
    assert model.calls == 2
    other = scores.with_weights([0.9, 0.1])
    assert model.calls == 2
    direct = nm.evaluate(
        federation.with_weights([0.9, 0.1]),
        {"g": shuffler, "distribution": nm.Gaussian([0.0, 1.0])},
        metrics,
        progress=False,
    )
    for frame in ("table", "clients"):
        columns = ["avg", "all", "gap"] if frame == "table" else ["value"]
        np.testing.assert_allclose(
            getattr(other, frame)[columns], getattr(direct, frame)[columns], rtol=1e-10, atol=1e-10
        )
    back = other.with_weights(federation.weights)
    np.testing.assert_allclose(back.table[["avg", "all"]], scores.table[["avg", "all"]], rtol=1e-12, atol=1e-14)
    assert cell(other, "cfid", "g", "all") != pytest.approx(cell(scores, "cfid", "g", "all"), rel=1e-2)


def test_answers_are_seeded_by_generator_and_client():
    federation = paired_federation((50, 50))
    rows = {}

    def keep(name):
        def model(x, rng):
            rows[name, float(x[0, 0])] = noise = rng.normal(size=x.shape)
            return noise

        return model

    one = nm.evaluate(federation, {"a": keep("a"), "b": keep("b")}, CFID(), progress=False)
    assert len({float(noise[0, 0]) for noise in rows.values()}) == 4
    again = nm.evaluate(federation, {"a": keep("a"), "b": keep("b")}, CFID(), progress=False)
    np.testing.assert_array_equal(one.table["avg"], again.table["avg"])
    other = nm.evaluate(federation, {"a": keep("a")}, CFID(), seed=1, progress=False)
    assert other.table["avg"][0] != one.table["avg"][0]


def test_distributions_and_latent_networks_answer_without_looking_at_x():
    torch = pytest.importorskip("torch")
    module = torch.nn.Linear(3, 2)
    module.latent_dim = 3
    scores = nm.evaluate(
        paired_federation(),
        {"distribution": nm.Gaussian([0.0, 0.0], 4.0), "net": module},
        ["fid", CFID()],
        progress=False,
    )
    assert np.isfinite(scores.table["all"]).all()
    assert (scores.clients.query("metric == 'cfid'")["value"] > 1).all()


def test_joint_distributions_and_rows_read_their_axes_as_x_and_y():
    federation = nm.Federation([pair(0.8), pair(0.8, mean=(1.0, 2.0))])
    metrics = ["fid", *(m(condition_dim=1) for m in (MFID, RFID, CFID))]
    scores = nm.evaluate(federation, {"g": pair(-0.8)}, metrics, progress=False)
    assert cell(scores, "cfid", "g", "avg") == pytest.approx(2.56 + 0.5 * 2.8**2, abs=1e-12)
    drawn = nm.evaluate(federation, {"g": pair(-0.8)}, metrics, samples=100_000, progress=False)
    for metric in ("mfid", "rfid", "cfid"):
        assert cell(drawn, metric, "g", "all") == pytest.approx(cell(scores, metric, "g", "all"), rel=0.03)


def test_pooled_client_keeps_the_condition():
    federation = paired_federation()
    pooled = federation.pooled()
    assert pooled.condition.shape == (800, 2)
    alone = nm.evaluate([pooled], {"g": lambda x, rng: 0 * x}, CFID(), progress=False)
    both = nm.evaluate(federation, {"g": lambda x, rng: 0 * x}, CFID(), progress=False)
    assert cell(alone, "cfid", "g", "all") == pytest.approx(cell(both, "cfid", "g", "all"), rel=1e-12)


def test_ledger_counts_the_summaries_of_the_answers():
    federation = paired_federation()
    ledger = nm.evaluate(federation, MODELS, ["fid", CFID()], progress=False).ledger
    sent = ledger.set_index(["client", "metric", "aggregate"])["bytes"]
    assert sent["c0", "cfid", "avg"] == 2 * 8
    assert sent["c0", "cfid", "all"] == 3 * 8 * (4 + 10 + 1)
    assert sent["c0", "fid", "avg"] == 2 * 8 + 2 * 8 * (2 + 3 + 1)
    own = len(nm.federated.client_summary(federation["c0"].rows, "fid"))
    assert sent["c0", "fid", "all"] == own + 2 * 8 * (2 + 3 + 1)


# ---- what goes wrong


def test_few_pairs_are_said_once_and_at_the_users_line():
    x, y, y_hat = triple(RNG, 49, 2, 3)
    with pytest.warns(FewPairsWarning, match=r"49 pairs with dim x = 2 and dim y = 3.*50 or more") as caught:
        cfid(x, y, y_hat)
    assert [w.filename for w in caught] == [__file__]
    with pytest.warns(FewPairsWarning, match=r"n ≤ dim x \+ 1 = 3") as caught:
        cfid(x[:3], y[:3], y_hat[:3])
    clients = [nm.Client(y[:k], condition=x[:k]) for k in (40, 20, 49)]
    with pytest.warns(FewPairsWarning, match="20 pairs") as caught:
        nm.evaluate(clients, {"g": lambda x, rng: x @ np.ones((2, 3))}, ALL, progress=False)
    assert [w.filename for w in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mfid(x, y, y_hat)
        cfid(*triple(RNG, 50, 2, 3))
        score_pair(CFID(condition_dim=1), pair(0.1), pair(0.2))


X, Y, Y_HAT = triple(np.random.default_rng(1), 60, 2, 3)


def holed(rows):
    rows = rows.copy()
    rows[3, 1] = np.nan
    return rows


def evaluated(client, source, metric):
    return nm.evaluate([client], {"g": source}, metric, progress=False)


PAIRS = nm.Client(Y, condition=X)
REFUSED = {
    "NaN in x": (lambda: cfid(holed(X), Y, Y_HAT), "x", "Drop or fix"),
    "NaN in y_hat": (lambda: rfid(X, Y, holed(Y_HAT)), "y_hat", "Drop or fix"),
    "one axis": (lambda: cfid(X[:, 0], Y, Y_HAT), "x", r"reshape\(-1, 1\)"),
    "fewer y": (lambda: mfid(X, Y[:9], Y_HAT), "y", "one row for each row of x"),
    "fewer y_hat": (lambda: cfid(X, Y, Y_HAT[:9]), "y_hat", "one row for each row of x"),
    "fewer x": (lambda: cfid(X[:9], Y, Y_HAT), "y", "one row for each row of x"),
    "another width": (lambda: rfid(X, Y, Y_HAT[:, :2]), "y_hat", "same features"),
    "one pair": (lambda: cfid(X[:1], Y[:1], Y_HAT[:1]), "x", "2"),
    "complex": (lambda: cfid(X, Y + 0j, Y_HAT), "y", "real numbers"),
    "negative alpha": (lambda: jfid(X, Y, Y_HAT, -1), "alpha", r"from 0 to 1e\+45"),
    "alpha that is text": (lambda: JFID("x"), "alpha", "finite number"),
    "empty name": (lambda: JFID(1.0, name=""), "name", "non-empty"),
    "condition_dim 0": (lambda: CFID(condition_dim=0), "condition_dim", "at least 1"),
    "all of it x": (lambda: score_pair(CFID(condition_dim=2), pair(0), pair(0)), "condition_dim", "fewer"),
    "no condition": (lambda: evaluated(Y, Y_HAT, CFID()), "condition", r"nm\.Client\(y, condition=x\)"),
    "a distribution without x": (
        lambda: evaluated(pair(0), pair(0), RFID()),
        "condition",
        r"nm\.Client\(y, condition=x\)",
    ),
    "rows that answer": (lambda: evaluated(PAIRS, Y_HAT, CFID()), "source", r"\(x, rng\)"),
    "too few answers": (lambda: evaluated(PAIRS, lambda x, rng: Y[:7], CFID()), "'g'", "one row for each row of x"),
    "too wide answers": (lambda: evaluated(PAIRS, lambda x, rng: X, CFID()), "'g'", "same features"),
    "NaN answers": (lambda: evaluated(PAIRS, lambda x, rng: holed(Y), "fid"), "'g'", "Drop or fix"),
    "some conditions": (lambda: nm.evaluate([PAIRS, Y], {"g": Y}, "fid"), "condition", "for all"),
    "conditions of two widths": (
        lambda: nm.evaluate([PAIRS, nm.Client(Y, condition=X[:, :1])], {"g": Y}, "fid"),
        "condition",
        "same columns",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_by_name_with_the_fix(case):
    act, argument, fix = REFUSED[case]
    with pytest.raises(nm.InvalidInput, match=rf"(?s){argument}.*: .*\. .*({fix})"):
        act()


def test_rows_are_still_scored_by_the_metrics_that_need_no_x():
    assert evaluated(PAIRS, Y_HAT, "fid").table["avg"][0] == pytest.approx(nm.fid(Y, Y_HAT), rel=1e-12)


@pytest.mark.parametrize(("n", "said"), [(39, ["mfid", "rfid", "cfid"]), (79, ["rfid", "cfid"]), (80, [])])
def test_few_pairs_are_said_beside_the_scores(n, said):
    rng = np.random.default_rng(0)
    clients = [nm.Client(rng.normal(size=(n, 4)), condition=rng.normal(size=(n, 4))) for _ in range(2)]
    scores = nm.evaluate(nm.Federation(clients), {"g": lambda x, rng: x}, ["mfid", "rfid", "cfid"])
    few = [line for line in scores.cautions if "bias" in line]
    assert [line.split(":")[0].lower() for line in few] == said
    assert all("2 of 2 clients" in line and "avg − all" in line for line in few)
