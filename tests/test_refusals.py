"""What cannot be computed is refused before the work, or shown as NaN with the reason beside what stands."""

import ast
import itertools
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics import FID, KID, Metric

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 2))
PACKAGE = Path(nm.__file__).parent


def lines(scores, start):
    return [line for line in scores.conventions if line.startswith(start)]


@pytest.fixture
def uneven():
    return nm.Federation([X[:60], X[60:]]).with_weights([1, 1])


def test_a_refused_aggregate_leaves_the_others_and_says_why(uneven):
    scores = nm.evaluate(uneven, {"a": X, "b": X + 1}, ["fid", "precision"], progress=False)
    table = scores.table.set_index(["metric", "generator"])
    alone = nm.evaluate(uneven, {"a": X, "b": X + 1}, ["fid"], progress=False).table.set_index("generator")
    assert table.loc["fid"]["all"].tolist() == alone["all"].tolist()
    by_hand = [nm.prdc(part, X).precision for part in (X[:60], X[60:])]
    assert table.loc[("precision", "a"), "avg"] == pytest.approx(np.mean(by_hand), abs=1e-12)
    assert table.loc["precision"][["all", "gap"]].isna().all(axis=None)
    (line,) = lines(scores, "Precision all has no value: ")
    assert "proportional to their numbers of rows" in line
    assert line in scores.table.attrs["conventions"] and line in repr(scores)
    assert "proportional to their numbers of rows" in scores._repr_html_()
    assert not any("Precision" in line for line in scores.summary())


def test_under_weights_it_can_use_the_aggregate_is_there_again(uneven):
    scores = nm.evaluate(uneven, {"a": X}, ["precision"], progress=False)
    assert scores.table["all"].isna().all()
    right = scores.with_weights([60, 40])
    assert right.table["all"][0] == nm.prdc(X, X).precision
    assert not lines(right, "Precision all")


@pytest.mark.slow
def test_one_refused_replicate_costs_the_intervals_and_no_score():
    train, test, made = (
        np.concatenate([RNG.normal(size=(n, 2)) + centre for n, centre in zip(counts, ([0, 0], [90, 0], [0, 90]))])
        for counts in ((30, 30, 30), (20, 20, 20), (20, 20, 21))
    )  # one cell has more than 20 generated rows, until a replicate leaves one of them out
    client = nm.Client(train, test=test)
    scores = nm.evaluate([client], {"g": made, "h": made}, ["fid", "c_t"], uncertainty=nm.Bootstrap(20), progress=False)
    table = scores.table.set_index("metric")
    ends = [f"{part}_{end}" for part in ("avg", "all", "gap") for end in ("low", "high")]
    assert np.isfinite(table.loc[["fid"], [*ends, "avg", "all", "gap"]]).all(axis=None)
    assert np.isfinite(table.loc[["c_t"], ["avg", "all", "gap"]]).all(axis=None)
    assert table.loc[["c_t"], ends].isna().all(axis=None)
    assert scores.clients.set_index("metric").loc[["c_t"], ["low", "high"]].isna().all(axis=None)
    (line,) = lines(scores, "C_T has no intervals: ")
    assert "no cell" in line
    with pytest.raises(nm.InvalidInput, match="no cell"):
        scores.flips("c_t")


class Choosy(Metric):
    """A distance of means that refuses a client whose mean is negative."""

    name = label = "choosy"

    def summarize(self, sample):
        return float(np.mean(sample.rows))

    def pool(self, summaries, weights):
        return float(np.dot(summaries, weights))

    def terms(self, real, generated):
        if real < 0:
            raise nm.InvalidInput("rows", "have a negative mean", "Give others")
        return {"choosy": abs(real - generated)}


def test_a_refused_client_leaves_the_others_and_counts_only_where_it_has_weight():
    clients = {"plus": np.full((4, 1), 3.0), "minus": np.full((4, 1), -1.0)}
    scores = nm.evaluate(clients, {"a": np.zeros((3, 1)), "b": np.ones((3, 1))}, [Choosy()], progress=False)
    values = scores.clients.set_index(["client", "generator"])["value"]
    assert values["plus"].tolist() == [3.0, 2.0] and values["minus"].isna().all()
    assert scores.table["avg"].isna().all() and scores.table["all"].tolist() == [1.0, 0.0]
    (line,) = lines(scores, "choosy has no value for 2 of 4 pairs of client and generator: client 'minus' with ")
    assert "generator 'a', rows: have a negative mean" in line
    assert line in scores.clients.attrs["conventions"]
    assert scores.with_weights([1, 0]).table["avg"].tolist() == [3.0, 2.0]


ALIKE, FEW, CLIENTS = np.ones((30, 2)), X[:3], {"north": X[:40], "south": X[40:80]}
REAL = {
    "a client of 3 rows": (
        {**CLIENTS, "small": FEW},
        {"g": X},
        "precision",
        "client 'small', precision, rows: has 3 r",
    ),
    "a generator of 2 rows": (CLIENTS, {"g": X, "h": X[:2]}, "recall", "generator 'h', recall, rows: has 2 rows"),
    "rows all alike": ({"a": ALIKE, "b": ALIKE}, {"g": ALIKE}, "rke", "sigma: the median distance between rows is 0"),
    "no probabilities": (CLIENTS, {"g": X}, "inception_score", "Give class probabilities"),
    "rows of zeros": ({**CLIENTS, "none": 0 * X[:20]}, {"g": X}, "mifid", "are all 0"),
}


@pytest.mark.parametrize(("clients", "generators", "metric", "reason"), REAL.values(), ids=REAL)
def test_rows_that_one_metric_refuses_lose_no_other_score(clients, generators, metric, reason):
    scores = nm.evaluate(clients, generators, ["fid", metric], progress=False)
    alone = nm.evaluate(clients, generators, ["fid"], progress=False)
    found = scores.table[scores.table["metric"] == "fid"][["avg", "all"]]
    assert found.to_numpy() == pytest.approx(alone.table[["avg", "all"]].to_numpy(), rel=1e-9, abs=1e-12)
    refused = scores.clients[(scores.clients["metric"] == metric) & scores.clients["value"].isna()]
    assert len(refused) and any(reason in line for line in scores.cautions)
    assert "has no value" in repr(scores) and "has no value" in scores._repr_html_()
    assert scores.ledger["bytes"].ge(0).all() and len(scores.ranks(metric)) == len(generators)


def test_a_refused_client_of_no_weight_costs_nothing_and_a_generator_its_own_scores_alone():
    federation = nm.Federation({**CLIENTS, "small": FEW}).with_weights([1, 1, 0])
    made = {"g": X[80:], "h": X[:2], "k": X[50:] + 1}
    scores = nm.evaluate(federation, made, ["recall"], progress=False)
    table = scores.table.set_index("generator")
    for name in "gk":
        assert table.loc[name, "avg"] == pytest.approx(
            np.mean([nm.prdc(c, made[name]).recall for c in CLIENTS.values()])
        )
        assert table.loc[name, "all"] == nm.prdc(X[:80], made[name]).recall
    assert table.loc["h"].drop("metric").isna().all()


@pytest.mark.parametrize(("metric", "design"), [("kid", nm.Jackknife(10)), ("density", nm.Influence())], ids=str)
def test_a_generator_of_too_few_rows_costs_its_own_intervals_alone(metric, design):
    made = {"g": X[80:], "h": X[:2], "k": X[50:] + 1}
    scores = nm.evaluate(CLIENTS, made, [metric], uncertainty=design, progress=False)
    table = scores.table.set_index("generator").drop(columns="metric")
    assert table.loc["h", ["avg_low", "all_high", "gap_low"]].isna().all()
    alone = nm.evaluate(CLIENTS, {"k": made["k"]}, [metric], uncertainty=nm.Jackknife(10), progress=False).table
    assert np.isfinite(table.loc[["g", "k"]]).all(axis=None)
    assert table.loc["k", ["avg", "all"]].tolist() == pytest.approx(alone.loc[0, ["avg", "all"]].tolist(), rel=1e-9)
    assert any("2 of 3 generators only" in line and "'h'" in line for line in scores.cautions)
    flips = scores.flips(metric)
    assert flips["avg_p"].notna().tolist() == [False, True, False]  # g and h, g and k, h and k


def test_a_client_of_too_few_rows_costs_the_intervals_and_no_score():
    reason = "client 'small' has 3 rows. Intervals need 10"
    scores = nm.evaluate({**CLIENTS, "small": FEW}, {"g": X}, ["kid"], uncertainty=nm.Bootstrap(20), progress=False)
    assert np.isfinite(scores.table.loc[0, ["avg", "all"]].tolist()).all() and np.isnan(scores.table.loc[0, "avg_low"])
    assert lines(scores, "KID has no intervals: ")[0].endswith(reason)
    with pytest.raises(nm.InvalidInput, match=reason):  # where no client has more
        nm.evaluate({"small": FEW}, {"g": X}, ["kid"], uncertainty=nm.Bootstrap(20), progress=False)


def test_where_nothing_would_stand_the_reason_is_raised():
    with pytest.raises(nm.InvalidInput, match="negative mean"):
        nm.evaluate([np.full((4, 1), -1.0)], [np.zeros((3, 1))], [Choosy()], progress=False)


@pytest.mark.parametrize("design", [nm.Jackknife(), nm.Bootstrap(20), nm.Influence()])
@pytest.mark.parametrize("metric", ["fid", "kid", "log_likelihood"])
def test_intervals_of_exact_distributions_have_no_width(metric, design):
    distributions = nm.Gaussian([0.0, 0.0]), nm.Gaussian([1.0, 0.0], 2.0)
    scores = nm.evaluate(distributions, [distributions[1]], [metric], uncertainty=design, progress=False)
    table = scores.table
    for part in ("avg", "all", "gap"):
        ends = table[[f"{part}_low", f"{part}_high"]].to_numpy()
        assert ends == pytest.approx(np.column_stack([table[part]] * 2), abs=1e-12)


def test_a_refusal_survives_pickling():
    error = nm.InvalidInput("rows", "have a negative mean", "Give others").of("client 'a'")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is nm.InvalidInput
    assert (str(again), again.argument, again.seen, again.fix) == (str(error), error.argument, error.seen, error.fix)


class Untouched(FID):
    """FID that must not be reached."""

    name = "untouched"

    def terms(self, real, generated):
        raise AssertionError("a score was computed before the refusal")


@pytest.mark.parametrize(
    ("metric", "settings", "seen"),
    [
        ("c_t", {}, "compares with rows not seen by the generator"),
        ("fld", {}, "compares with rows not seen by the generator"),
        ("cfid", {}, "condition"),
        ("precision", {"uncertainty": 3}, "uncertainty"),
        (KID(estimator="linear"), {"uncertainty": nm.Bootstrap(20)}, "uncertainty"),
        ("fid", {"samples": 1}, "samples"),
        ("fid", {"seed": -1}, "seed"),
        ("fid", {"progress": "never"}, "progress"),
        ("fid", {"cluster": "local"}, "cluster"),
    ],
)
def test_what_is_known_beforehand_is_refused_before_any_score(metric, settings, seen):
    with pytest.raises(nm.InvalidInput, match=seen):
        nm.evaluate([X], [X], [Untouched(), metric], **{"progress": False, **settings})


def test_bandwidth_sweep_refuses_its_uncertainty_before_the_work(monkeypatch):
    from nbmetrics.experiments import moons

    monkeypatch.setattr(moons, "TwoMoons", lambda noise: pytest.fail("points were drawn before the refusal"))
    with pytest.raises(nm.InvalidInput, match="uncertainty"):
        nm.experiments.bandwidth_sweep(uncertainty="x")


@pytest.mark.parametrize("samples", [1e3, "1000", np.float32(1000), np.array(1000)])
def test_samples_may_be_any_whole_number(samples):
    given = nm.evaluate([nm.Gaussian([0, 0])], [nm.Gaussian([1, 0])], ["fid", "kid"], samples=samples, progress=False)
    plain = nm.evaluate([nm.Gaussian([0, 0])], [nm.Gaussian([1, 0])], ["fid", "kid"], samples=1000, progress=False)
    assert given.table.equals(plain.table) and given.conventions == plain.conventions


def test_counts_that_are_whole_numbers_of_another_type_are_counts():
    assert nm.Bootstrap(2e1, 1.0, "0.9") == nm.Bootstrap(20, 1, 0.9)
    assert nm.Jackknife(1e1, 1.0) == nm.Jackknife(10, 1)
    assert nm.Subsets(3.0, 5.0, 1.0) == nm.Subsets(3, 5, 1)
    assert nm.kid(X, X + 1, estimator=nm.Subsets(3.0, 5.0)) == nm.kid(X, X + 1, estimator=nm.Subsets(3, 5))
    assert nm.kid(X, X + 1, nm.Polynomial(2.0, "0.5", "1")) == nm.kid(X, X + 1, nm.Polynomial(2, 0.5, 1.0))
    assert nm.kid(X, X + 1, nm.RBF(np.float32(2))) == nm.kid(X, X + 1, nm.RBF(2))
    assert nm.RBF(2) == nm.RBF(2.0) and "σ = 2" in str(nm.RBF(2))


def is_check(node):
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("check_count", "check_number", "whole")


def checks_thrown_away(source):
    """Lines that check a name or an attribute, throw the checked value away, and have the unchecked one used later."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
                continue
            if is_check(node.value):
                given = ast.unparse(node.value.args[0])
                earlier = [n for n in ast.walk(function) if isinstance(n, ast.Assign) and n.lineno < node.lineno]
                if any(is_check(n.value) and ast.unparse(n.targets[0]) == given for n in earlier):
                    continue  # a number already, whose limits are checked
                later = (n for n in ast.walk(function) if getattr(n, "lineno", 0) > node.end_lineno)
                if "self." in given or any(isinstance(n, ast.Name) and n.id == given for n in later):
                    yield node.lineno, given


def test_what_was_checked_is_what_is_used():
    assert list(checks_thrown_away("def f(n):\n    check_count(n, 'n')\n    return range(n)"))
    assert list(checks_thrown_away("def f(self):\n    check_count(self.n, 'n')"))
    assert not list(checks_thrown_away("def f(n):\n    n = check_count(n, 'n')\n    return range(n)"))
    found = {
        f"{path.relative_to(PACKAGE)}:{line} {given}"
        for path in PACKAGE.rglob("*.py")
        if "check_" in path.read_text() or "whole(" in path.read_text()
        for line, given in checks_thrown_away(path.read_text())
    }
    assert not found


HUGE = {
    "samples": lambda: nm.evaluate([nm.Gaussian([0, 0])], [X], samples=10**12),
    "replicates": lambda: nm.Bootstrap(10**10),
    "clients": lambda: nm.Federation.dirichlet(X, np.zeros(100), 10**12, 1.0),
    "iid": lambda: nm.Federation.iid(X, 10**12),
    "projections": lambda: nm.w1(X, X, "sliced", projections=10**10),
    "count": lambda: nm.Subsets(10**9),
    "degree": lambda: nm.Polynomial(10**9),
    "starts": lambda: nm.theory.twin(nm.Federation([nm.Gaussian([0, 0]), nm.Gaussian([1, 0])]), starts=10**9),
    "k": lambda: nm.prdc(X, X, k=10**12),
    "draw": lambda: nm.Gaussian([0, 0]).sample(10**12),
    "numbers": lambda: nm.Client(itertools.count()),
    "rows": lambda: nm.Generator(itertools.cycle([[1.0, 2.0]])),
    "weights": lambda: nm.Federation([X, X]).with_weights(itertools.count(1)),
    "federation": lambda: nm.Federation(itertools.repeat(X[:2])),
    "generators": lambda: nm.evaluate([X], itertools.repeat(X[:2])),
    "metrics": lambda: nm.evaluate([X], [X], itertools.repeat("fid")),
    "components": lambda: nm.Mixture(itertools.repeat(nm.Gaussian([0, 0]))),
    "mixture": lambda: nm.Mixture([nm.Gaussian([0, 0])], itertools.count(1)),
    "grid": lambda: nm.experiments.kid_estimators(itertools.count(2)),
}


@pytest.mark.parametrize("what", HUGE)
def test_absurd_numbers_and_endless_iterators_are_refused(what):
    with pytest.raises(nm.InvalidInput):
        HUGE[what]()


@pytest.mark.parametrize("seed", [2**32, 2**64 + 1, 2**200])
def test_a_seed_of_any_size_is_one_seed(seed):
    test, made = RNG.normal(size=(80, 2)), RNG.normal(size=(80, 2))
    for score in (nm.c_t, nm.fld):
        assert np.isfinite(first := score(X, test, made, seed=seed))
        assert score(X, test, made, seed=seed) == first
    assert nm.evaluate([nm.Gaussian([0, 0])], [X], samples=50, seed=seed, progress=False).table.notna().all(axis=None)


def test_w1_without_its_library_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(nm.InvalidInput, match=r"pip install POT"):
        nm.w1(np.eye(3), np.eye(3))


@pytest.mark.parametrize("terms", [[1.0], None, 3.0, "fid", {}, {"a": "x"}, {"a": 1j}, {"a": 10**400}])
def test_a_metric_whose_terms_are_no_dict_is_told(terms):
    metric = Choosy()
    metric.terms = lambda real, generated: terms
    with pytest.raises(nm.InvalidInput, match=r"terms of 'choosy' gave .*dict"):
        nm.evaluate([X], [X], [metric], progress=False)


@pytest.mark.parametrize("label", [None, "", "two\nlines"])
def test_a_metric_whose_label_cannot_be_shown_is_told(label):
    metric = Choosy()
    metric.label = label
    with pytest.raises(nm.InvalidInput, match=r"metrics, label of 'choosy'"):
        nm.evaluate([X], [X], [metric], progress=False)


@pytest.mark.parametrize(
    "use",
    [
        lambda: nm.Mixture(None),
        lambda: nm.Federation([X, X]).with_weights([10**400, 1]),
        lambda: nm.Federation.from_labels(X, [[1], [1, 2]]),
        lambda: nm.experiments.kid_estimators([[2], [2, 3]]),
        lambda: nm.experiments.kid_estimators("wide"),
        lambda: nm.KernelDensity(X, 1e300),
        lambda: nm.KernelDensity(X, 1e-300),
        lambda: nm.TwoMoons(1e300),
    ],
)
def test_other_bad_input_is_named(use):
    with pytest.raises(nm.InvalidInput):
        use()


@pytest.mark.parametrize("bandwidth", [1e-100, 1e-30, 1e-8, 1e8, 1e30, 1e45])
def test_a_density_is_right_at_every_bandwidth_it_takes(bandwidth):
    from mpmath import mp

    rows, x = X[:3], np.concatenate([X[:1], X[5:7]])
    found = nm.KernelDensity(rows, bandwidth).log_prob(x)
    with mp.workdps(60):
        h = mp.mpf(bandwidth)
        for point, value in zip(x, found, strict=True):
            squares = [sum((mp.mpf(a) - mp.mpf(b)) ** 2 for a, b in zip(point, row)) for row in rows]
            density = [-s / (2 * h**2) for s in squares]
            largest = max(density)
            exact = largest + mp.log(sum(mp.exp(d - largest) for d in density) / 3) - mp.log(2 * mp.pi * h**2)
            assert value == pytest.approx(float(exact), rel=1e-12)
