"""Whatever is passed: a finite answer of the right shape, or InvalidInput; the input and the random state unmoved.

Numbers, containers and settings are those of `hostile`. No warning may come but the package's own, and NaN only where
the convention lines say why. `make fuzz` tries 50 times as many inputs as the suite.
"""

import json
import re
import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.metrics.base import _REGISTRY
from tests import fuzz_federated, fuzz_metrics, fuzz_monitor
from tests.fuzz_checks import (
    anything,
    client,
    column,
    distribution,
    federation,
    mixture,
    number,
    numbers,
    rows,
    rows_of_stream,
    rows_of_two,
)
from tests.fuzzing import Tally, examples, unmoved
from tests.hostile import CONTAINERS, SETTINGS, VALUES

METRICS = sorted(_REGISTRY)
SUBSETS = nm.Subsets(3, 5)
SMALL = np.zeros((3, 4, 4), np.uint8)


FEW = {"draws": 2, "subsets": 2}


def drawn_from(rows):
    """A sampler of these rows."""
    return lambda n, rng: rows[rng.integers(len(rows), size=n)]


def two_sample(a, b, *args, **options):
    test = nm.two_sample(a, b, *args, **{"permutations": 9, **options})
    assert 0.0 < test.p <= 1.0
    return number(test.statistic)


def raced(federation, samplers, *args, **options):
    """Race, and check what comes out: a reason, scores that are finite or explained, no more draws than the budget."""
    race = nm.race(federation, samplers, *args, **{"budget": 1_300, "progress": False, **options})
    assert race.reason.endswith(".") and (race.winner is None) == (race.stopped != "winner")
    assert sum(race.draws.values()) <= options.get("budget", 1_300)
    low, score, high = race.table[["low", "score", "high"]].to_numpy().T
    assert ((low <= score) & (score <= high) | (np.isnan(low) & np.isnan(high))).all()
    assert race.cautions or np.isfinite(low).all()


# Each takes three sets of rows, of which the first is the strangest; the first word is the public name it tries.
ON_ROWS = {
    **fuzz_federated.ON_ROWS,
    **fuzz_metrics.ON_ROWS,
    **fuzz_monitor.ON_ROWS,
    "fid": (lambda a, b, c: nm.fid(a, b), number),
    "fid of a distribution": (lambda a, b, c: nm.fid(nm.Gaussian([0.0] * c.shape[1]), a), number),
    "fid_infinity": (lambda a, b, c: nm.fid_infinity(a, b), number),
    "Moments": (lambda a, b, c: nm.fid(nm.Moments.of(a), b), number),
    "kid": (lambda a, b, c: nm.kid(a, b), number),
    "kid the other way": (lambda a, b, c: nm.kid(b, a, estimator="biased"), number),
    "kid linear": (lambda a, b, c: nm.kid(a, b, estimator="linear"), number),
    "Subsets": (lambda a, b, c: nm.kid(a, b, estimator=SUBSETS), number),
    "RBF": (lambda a, b, c: nm.kid(a, b, nm.RBF()), number),
    "RBF of the median": (lambda a, b, c: nm.kid(a, b, nm.RBF("median"), SUBSETS), number),
    "Polynomial": (lambda a, b, c: nm.kid(a, b, nm.Polynomial(2, 0.5, 0)), number),
    "fld": (lambda a, b, c: nm.fld(a, b, c), number),
    "fld of generated": (lambda a, b, c: nm.fld(c, b, a), number),
    "fld_gap": (lambda a, b, c: nm.fld_gap(b, a, c), number),
    "memorization_scores": (lambda a, b, c: column(nm.memorization_scores(b, c, a), a), anything),
    "quality_scores": (lambda a, b, c: column(nm.quality_scores(b, c, a), a), anything),
    "cfid": (lambda a, b, c: nm.cfid(a, b, b[::-1]), number),
    "cfid of answers": (lambda a, b, c: nm.cfid(b, c[: len(b)], a), number),
    "rfid": (lambda a, b, c: nm.rfid(b, a, a), number),
    "mfid": (lambda a, b, c: nm.mfid(b, a, b), number),
    "jfid": (lambda a, b, c: nm.jfid(a, b, c[: len(b)], 0.5), number),
    "prdc": (lambda a, b, c: nm.prdc(a, b), numbers),
    "prdc the other way": (lambda a, b, c: nm.prdc(b, a, 1, True), numbers),
    "auth_pct": (lambda a, b, c: nm.auth_pct(a, b), number),
    "auth_pct of generated": (lambda a, b, c: nm.auth_pct(b, a), number),
    "c_t": (lambda a, b, c: nm.c_t(a, b, c), number),
    "c_t of generated": (lambda a, b, c: nm.c_t(b, c, a), number),
    "w1": (lambda a, b, c: nm.w1(a, b), number),
    "w1 sliced": (lambda a, b, c: nm.w1(b, a, "sliced", 8), number),
    "Gaussian": (lambda a, b, c: distribution(nm.Gaussian.fit(a)), anything),
    "Gaussian of a covariance": (lambda a, b, c: distribution(nm.Gaussian(b[0], a)), anything),
    "Gaussian of a mean": (lambda a, b, c: distribution(nm.Gaussian(a)), anything),
    "Gaussian density": (lambda a, b, c: column(nm.Gaussian(b[0]).log_prob(a), a), anything),
    "Mixture": (lambda a, b, c: distribution(nm.Mixture([nm.Gaussian(b[0]), nm.Empirical(a)])), anything),
    "Empirical": (lambda a, b, c: distribution(nm.Empirical(a)), anything),
    "KernelDensity": (lambda a, b, c: distribution(nm.KernelDensity(a, 0.5)), anything),
    "KernelDensity density": (lambda a, b, c: column(nm.KernelDensity(a, 1e-3).log_prob(b), b), anything),
    "TwoMoons": (lambda a, b, c: nm.fid(nm.TwoMoons(), a), number),
    "Stream": (lambda a, b, c: rows_of_stream(nm.Stream(a)), anything),
    "Stream scored": (lambda a, b, c: nm.evaluate([lambda: [b, b]], [nm.Stream(a)], progress=False).table, anything),
    "Client": (lambda a, b, c: nm.Client(a), client),
    "Client with test rows": (lambda a, b, c: nm.Client(b, test=a), client),
    "Client with a condition": (lambda a, b, c: nm.Client(b, condition=a), client),
    "Generator": (lambda a, b, c: nm.Generator(a), anything),
    "Federation": (lambda a, b, c: nm.Federation([b, a]), federation),
    "Federation of one": (lambda a, b, c: nm.Federation(a), federation),
    "Federation split": (lambda a, b, c: nm.Federation([b, a]).split(), federation),
    "Federation pooled": (lambda a, b, c: nm.Federation({"a": a, "b": b}).with_weights([1, 3]).pooled(), client),
    "best_mixture": (lambda a, b, c: nm.best_mixture([b], [a, c], progress=False), mixture),
    "two_sample": (lambda a, b, c: two_sample(a, b), anything),
    "race": (lambda a, b, c: raced([a], {"b": drawn_from(b), "c": drawn_from(c)}), anything),
    "race of rows": (lambda a, b, c: raced([b], {"a": lambda n, rng: a, "c": drawn_from(c)}), anything),
    "theory": (lambda a, b, c: nm.theory.kid_gap([a, b]), number),
    "theory of a bound": (lambda a, b, c: nm.theory.fid_avg_bound([a, b], c), numbers),
    "theory of a barycenter": (lambda a, b, c: distribution(nm.theory.barycenter([a, b])), anything),
    "images": (lambda a, b, c: nm.images(a)[0], anything),
    "images labels": (lambda a, b, c: nm.images(np.zeros((len(b), 4, 4)), labels=a), anything),
    "experiments": (
        lambda a, b, c: nm.experiments.kid_estimators([4], real=a, generated=b, draws=2, subsets=2),
        anything,
    ),
    "experiments of classes": (
        lambda a, b, c: nm.experiments.class_federated(a, np.arange(len(b)) % 3, noise=0),
        anything,
    ),
}

A, B, T = (np.random.default_rng(k).normal(size=(24, 2)) + k / 4 for k in range(3))
PAIR = nm.Federation([A, B])
TWO_SAMPLERS = {"a": drawn_from(A), "t": drawn_from(T)}
WIDE, NARROW = nm.Gaussian([0.0, 0.0], 4.0), nm.Gaussian([1.0, 0.0])


def scores(generators=None, metrics=("fid", "kid"), federation=PAIR, **options):
    given = [T] if generators is None else generators
    return check_scores(nm.evaluate(federation, given, metrics, **{"progress": False, **options}))


# Each takes one setting, and uses what it made.
ON_SETTINGS = {
    **fuzz_federated.ON_SETTINGS,
    **fuzz_metrics.ON_SETTINGS,
    **fuzz_monitor.ON_SETTINGS,
    "Stream columns": lambda v: rows_of_stream(nm.Stream(lambda: [A], columns=v)),
    "Stream blocks": lambda v: list(nm.Stream(lambda: [A, A]).batches(rows=v)),
    "Bootstrap": lambda v: scores(uncertainty=nm.Bootstrap(v)),
    "Bootstrap seed": lambda v: scores(uncertainty=nm.Bootstrap(20, v)),
    "Bootstrap level": lambda v: scores(uncertainty=nm.Bootstrap(20, 0, v)),
    "Jackknife": lambda v: scores(uncertainty=nm.Jackknife(v)),
    "Jackknife level": lambda v: scores(metrics=["recall"], uncertainty=nm.Jackknife(10, 0, v)),
    "Influence": lambda v: scores(uncertainty=nm.Influence(v)),
    "Subsets": lambda v: number(nm.kid(A, B, estimator=nm.Subsets(v, 5))),
    "Subsets size": lambda v: number(nm.kid(A, B, estimator=nm.Subsets(2, v))),
    "Subsets seed": lambda v: number(nm.kid(A, B, estimator=nm.Subsets(2, 5, v))),
    "RBF": lambda v: number(nm.kid(A, B, nm.RBF(v))),
    "Polynomial": lambda v: number(nm.kid(A, B, nm.Polynomial(v))),
    "Polynomial gamma": lambda v: number(nm.kid(A, WIDE, nm.Polynomial(3, v))),
    "Polynomial coef0": lambda v: number(nm.kid(A, B, nm.Polynomial(3, None, v))),
    "kid kernel": lambda v: number(nm.kid(A, B, v)),
    "kid estimator": lambda v: number(nm.kid(A, B, estimator=v)),
    "prdc": lambda v: numbers(nm.prdc(A, B, v)),
    "w1": lambda v: number(nm.w1(A, B, v)),
    "w1 projections": lambda v: number(nm.w1(A, B, "sliced", v)),
    "w1 seed": lambda v: number(nm.w1(A, B, "sliced", 4, v)),
    "c_t": lambda v: number(nm.c_t(A, B, T, v)),
    "fld": lambda v: number(nm.fld(A, B, T, v)),
    "jfid": lambda v: number(nm.jfid(A, B, T, v)),
    "Gaussian": lambda v: distribution(nm.Gaussian(v)),
    "Gaussian covariance": lambda v: distribution(nm.Gaussian([0.0, 0.0], v)),
    "Gaussian ellipse": lambda v: distribution(nm.Gaussian.ellipse([0, 0], v, 1.0, 30)),
    "Gaussian angle": lambda v: distribution(nm.Gaussian.ellipse([0, 0], 1.0, 0.0, v)),
    "Gaussian draw": lambda v: rows_of_two(WIDE.sample(v, 0)),
    "Gaussian stream": lambda v: rows((3, 2), WIDE.sample(3, v)),
    "Mixture": lambda v: distribution(nm.Mixture(v)),
    "Mixture weights": lambda v: distribution(nm.Mixture([WIDE, NARROW], v)),
    "KernelDensity": lambda v: rows((24,), nm.KernelDensity(A, v).log_prob(B)),
    "TwoMoons": lambda v: distribution(nm.TwoMoons(v)),
    "Client weight": lambda v: federation(nm.Federation([nm.Client(A, weight=v), nm.Client(B, weight=1)])),
    "Client name": lambda v: client(nm.Client(A, name=v)),
    "Generator": lambda v: scores([nm.Generator(v)]),
    "Federation": lambda v: federation(nm.Federation(v)),
    "Federation weights": lambda v: scores(federation=PAIR.with_weights(v)),
    "Federation split": lambda v: federation(PAIR.split(v)),
    "Federation seed": lambda v: federation(PAIR.split(0.5, v)),
    "Federation name": lambda v: client(PAIR[v]),
    "Moments": lambda v: number(nm.fid(nm.Moments(v, np.eye(A.shape[1])), A)),
    "Moments cov": lambda v: number(nm.fid(nm.Moments(np.zeros(A.shape[1]), v), A)),
    "Moments n": lambda v: number(nm.fid(nm.Moments(np.zeros(A.shape[1]), np.eye(A.shape[1]), v), A)),
    "Generator by_client": lambda v: scores([nm.Generator.by_client(v)]),
    "Generator of a client": lambda v: scores([dict.fromkeys(PAIR.names, v)]),
    "evaluate": lambda v: scores(generators=v),
    "evaluate metrics": lambda v: scores(metrics=v),
    "evaluate samples": lambda v: scores([WIDE], samples=v, federation=[WIDE, NARROW]),
    "evaluate seed": lambda v: scores([WIDE], ["c_t", "fld"], [nm.Client(A, test=B)], samples=30, seed=v),
    "evaluate uncertainty": lambda v: scores(uncertainty=v),
    "evaluate function": lambda v: scores([lambda n, rng: v]),
    "evaluate weights": lambda v: check_scores(nm.evaluate(PAIR, [T], progress=False).with_weights(v)),
    "experiments": lambda v: nm.experiments.kid_estimators(v, **FEW),
    "experiments draws": lambda v: nm.experiments.covariance_estimators(draws=v),
    "experiments uncertainty": lambda v: nm.experiments.bandwidth_sweep([0.1], sizes=(20, 20, 20), uncertainty=v),
    "experiments labels": lambda v: nm.experiments.class_federated(A, v, noise=0.1),
    "experiments images": lambda v: nm.experiments.class_federated(images=v, y=[0, 0, 0, 0, 1, 1, 1, 1], noise=0),
    "experiments extractor": lambda v: nm.experiments.extractors_compared(v, per_class=4, noise=0),
    "experiments models": lambda v: nm.experiments.paired_unpaired(v, extractors="pixels", components=1),
    "best_mixture": lambda v: mixture(nm.best_mixture(PAIR, v, progress=False)),
    "best_mixture metric": lambda v: mixture(nm.best_mixture(PAIR, [T, A], v)),
    "best_mixture seed": lambda v: mixture(nm.best_mixture(PAIR, [T, A], seed=v)),
    "race": lambda v: raced(PAIR, v),
    "race metric": lambda v: raced(PAIR, TWO_SAMPLERS, v),
    "race by": lambda v: raced(PAIR, TWO_SAMPLERS, "kid", v),
    "race budget": lambda v: raced(PAIR, TWO_SAMPLERS, budget=v),
    "race error": lambda v: raced(PAIR, TWO_SAMPLERS, error=v),
    "race tolerance": lambda v: raced(PAIR, TWO_SAMPLERS, tolerance=v),
    "race seed": lambda v: raced(PAIR, TWO_SAMPLERS, seed=v),
    "two_sample": lambda v: two_sample(v, A),
    "two_sample kernel": lambda v: two_sample(A, T, v),
    "two_sample permutations": lambda v: two_sample(A, T, permutations=v),
    "two_sample seed": lambda v: two_sample(A, T, seed=v),
    "theory": lambda v: number(nm.theory.kid_gap(PAIR, v)),
    "images": lambda v: nm.images(v)[0],
    "extract": lambda v: anything(nm.extract(v, "pixels", cache=False, progress=False)),
    "extract with an extractor": lambda v: anything(nm.extract(SMALL, v, cache=False, progress=False)),
    "extract in batches": lambda v: anything(nm.extract(SMALL, "pixels", batch_size=v, cache=False, progress=False)),
}

# Public names that these do not try, and where they are tried.
ELSEWHERE = {
    **dict.fromkeys(["__version__", "InvalidInput", "UnreadWarning", "PluginWarning"], "nothing to pass"),
    **dict.fromkeys(["BiasWarning", "FewPairsWarning"], "nothing to pass"),
    "set_memory_limit": "changes a setting of the process: test_arrays",
    "Images": "what images returns",
    "Scores": "what evaluate returns: checked in every evaluation here",
    "Race": "what race returns: checked in every race here",
    "extractors": "nothing to pass",
    "cache": "its folder and limit: features/test_cache",
    "metrics": "by name, in evaluate",
    "datasets": "datasets/test_noto",
    "scene": "test_fuzz_labs",
    "lessons": "nothing to pass",
    "collect_answers": "of text alone, hostile text included: labs/playground/test_answers",
    "figures": "drawn from the tables of experiments: test_figures",
    **dict.fromkeys(
        ["Scene", "Playground", "CorrelationLab", "TwinsLab", "MemorizationLab", "Dashboard", "PrivacyLab"],
        "test_fuzz_labs",
    ),
}


def test_every_public_name_is_tried():
    tried = {key.split()[0] for key in (*ON_ROWS, *ON_SETTINGS)}
    assert tried | set(ELSEWHERE) == set(nm.__all__)
    assert not tried & set(ELSEWHERE)


def fuzz(count):
    """Try `count` examples, times NBMETRICS_FUZZ."""
    return settings(max_examples=examples(count), deadline=None, suppress_health_check=list(HealthCheck))


def outcome(call, check, inputs=()):
    """ "refused" or "answered", once the call has done nothing that it should not."""
    before = [given.held() for given in inputs]
    with unmoved(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check(call())
            found = "answered"
        except nm.InvalidInput:
            found = "refused"
    foreign = [w for w in caught if not w.category.__module__.startswith("nbmetrics")]
    assert not foreign, [str(w.message) for w in foreign]
    assert before == [given.held() for given in inputs], "an input was changed"
    return found


def check_scores(found):
    """Every number of the tables is finite, or NaN with its reason in the convention lines; the views do not break."""
    table, by_client = found.table, found.clients
    assert len(table) == len(found.generators) * len(found.metrics)
    assert len(by_client) == len(table) * len(found.names)
    for frame in (table, by_client):
        for metric, part in frame.groupby("metric"):
            values = part.drop(columns=["generator", "metric", "client"], errors="ignore").to_numpy(float)
            said = [line for line in frame.attrs["conventions"] if line.startswith(found.label(metric))]
            few = r"\d of \d+ scores.*\bno\b|has intervals for \d+ of \d+ generators only"
            reasons = [line for line in said if " has no " in line or re.search(few, line)]
            assert np.isfinite(values).all() or (np.isnan(values[~np.isfinite(values)]).all() and reasons), part
    for metric in found.metrics:
        assert len(found.ranks(metric)) == len(found.generators)
        found.inversions(metric)
        found.agreement(metric)
        assert len(found.worst(metric)) == len(found.generators) and len(found.regret(metric)) == len(found.names)
    assert len(json.loads(json.dumps(found.to_records(), allow_nan=False))) == len(table)
    assert found.to_markdown() and found.to_latex() and repr(found) and found._repr_html_()
    assert (found.ledger["bytes"] >= 0).all()
    return found


shapes = st.tuples(st.sampled_from([0, 1, 2, 3, 6, 24, 24, 24, 24, 24]), st.sampled_from([1, 2, 2, 2, 3, 7]))


@st.composite
def strange_rows(draw, containers=tuple(CONTAINERS)):
    """Rows of one kind in one container, and their shape."""
    shape, seed = draw(shapes), draw(st.integers(0, 2**16))
    made = VALUES[draw(st.sampled_from(list(VALUES)))](np.random.default_rng(seed), *shape)
    return CONTAINERS[draw(st.sampled_from(containers))](made), shape


def test_rows_of_every_kind_in_every_container():
    with Tally("functions of rows") as tally:

        @fuzz(250)
        @given(st.sampled_from(list(ON_ROWS)), strange_rows(), st.integers(0, 2**16))
        def attempt(name, strange, seed):
            call, check = ON_ROWS[name]
            given_rows, (_, d) = strange
            rng = np.random.default_rng(seed)
            others = [rng.standard_normal((24, d)), rng.standard_normal((30, d)) + 0.5]
            held = [o.tobytes() for o in others]
            tally.add(outcome(lambda: call(given_rows.value, *others), check, [given_rows]))
            assert held == [o.tobytes() for o in others]

        attempt()


def test_settings_of_every_kind():
    with Tally("settings") as tally:

        @fuzz(200)
        @given(st.sampled_from(list(ON_SETTINGS)), st.integers(0, len(SETTINGS) - 1))
        def attempt(name, which):
            tally.add(outcome(lambda: ON_SETTINGS[name](SETTINGS[which]), anything))

        attempt()


class Plain:
    """A distribution of a user's own."""

    def __init__(self, mean, cov, make):
        self.mean, self.cov, self.dim, self.make = mean, cov, 2, make

    def sample(self, n, rng=None):
        return self.make(np.random.default_rng(rng), n, 2)

    def log_prob(self, x):
        return -0.5 * np.sum(np.asarray(x, dtype=float) ** 2, axis=1)


MOMENTS = [np.eye(2), -np.eye(2), np.zeros((2, 2)), np.full((2, 2), np.nan), np.eye(3), [[1, 2], [2, 1]], None]
MOMENTS += [
    np.array(m) for m in ([[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]], [[1e40, 0], [0, 1e-40]], [1.0, 1.0])
]
sane = [name for name in VALUES if name not in ("NaN", "infinity", "too large")]
plain_distributions = st.builds(
    lambda k, moment, kind: Plain([np.zeros(2), np.array([np.nan, 0]), [0, 0], np.zeros(3)][k], moment, VALUES[kind]),
    st.sampled_from([0] * 12 + [1, 2, 3]),
    st.sampled_from([np.eye(2), np.zeros((2, 2))] * 6 + MOMENTS),
    st.sampled_from(["normal"] * 40 + list(VALUES)),
)
good_distributions = st.sampled_from(
    [WIDE, NARROW, nm.Mixture([WIDE, NARROW]), nm.Empirical(A), nm.KernelDensity(B, 0.3), nm.TwoMoons()]
)


@st.composite
def parties(draw):
    """Rows (mostly) or a distribution, in two features."""
    if draw(st.integers(0, 4)) == 3:
        return draw(st.one_of(good_distributions, plain_distributions))
    n, kind = draw(st.sampled_from([1, 2, 5, 12, 24, 24, 40, 40, 40])), draw(st.sampled_from(sane))
    return VALUES[kind](np.random.default_rng(draw(st.integers(0, 99))), n, 2)


@st.composite
def clients(draw, conditional):
    data = draw(parties())
    test = draw(st.none() | st.sampled_from(sane).map(lambda kind: VALUES[kind](np.random.default_rng(5), 12, 2)))
    if conditional and not isinstance(data, np.ndarray):
        data = A
    return dict(data=data, test=test, condition=data[:, :1] + 1 if conditional else None)


def answer(x, rng):
    return rng.standard_normal((x if np.ndim(x) == 0 else len(x), 2))


@st.composite
def studies(draw):
    """The arguments of one evaluation, small enough to be quick."""
    conditional = draw(st.integers(0, 3)) == 2
    made = draw(st.lists(clients(conditional), min_size=1, max_size=3))
    count = len(made) + (draw(st.integers(0, 19)) == 7)
    shares = [0, 1, 1, 1, 2, 2, 3, 1e-9, 1e9, 1e-300, *([-1, np.nan] if draw(st.integers(0, 9)) == 7 else [])]
    weights = draw(st.lists(st.sampled_from(shares), min_size=count, max_size=count))
    generators = draw(st.lists(parties() | st.just(answer), min_size=1, max_size=3))
    samples = draw(st.sampled_from([None, 8, 20, 60]))
    exact = ["fid", "kid", "log_likelihood"]  # of distributions; the others would draw 10,000 rows, and take seconds
    distributions = any(not isinstance(p, np.ndarray) for p in (*generators, *(c["data"] for c in made)))
    names = exact if samples is None and distributions else METRICS
    metrics = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    slow = {"c_t", "fld"} & set(metrics)  # every replicate is fitted anew
    design = None if slow else draw(st.sampled_from([None, None, nm.Influence(), nm.Bootstrap(20), nm.Jackknife(10)]))
    options = dict(samples=samples, uncertainty=design, seed=draw(st.integers(0, 9)))
    return made, weights, generators, metrics, options


def test_every_metric_on_studies_of_every_kind():
    with Tally("evaluate") as tally:

        @fuzz(150)
        @given(studies())
        def attempt(study):
            made, weights, generators, metrics, options = study
            passed = [x for part in (*(c.values() for c in made), generators) for x in part]
            arrays = [x for x in passed if isinstance(x, np.ndarray)]
            held = [x.tobytes() for x in arrays]

            def call():
                federation = nm.Federation([nm.Client(**c, weight=1) for c in made])
                found = nm.evaluate(federation.with_weights(weights), generators, metrics, progress=False, **options)
                check_scores(found.with_weights([1] * len(made)))
                return found

            tally.add(outcome(call, check_scores))
            assert held == [x.tobytes() for x in arrays], "an input was changed"

        attempt()
