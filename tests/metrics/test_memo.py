"""What is remembered of a summary: once, for as long as it lives, and not in it."""

import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import nbmetrics as nm
from nbmetrics.metrics import FID, FLD, Sample
from nbmetrics.metrics.weak_cache import remember
from nbmetrics.summaries.rows import Rows

RNG = np.random.default_rng(0)


def rows(n=30, d=3):
    return RNG.normal(size=(n, d))


def test_a_thing_is_made_once_for_each_summary_and_name():
    first, second, calls = Rows.of(Sample(rows=rows())), Rows.of(Sample(rows=rows())), []

    def found(summary, what):
        return remember(summary, what, lambda: calls.append(what) or len(calls))

    assert [found(first, "a"), found(first, "b"), found(second, "a"), found(first, "a")] == [1, 2, 3, 1]
    assert calls == ["a", "b", "a"]


def test_threads_share_what_the_first_of_them_found():
    summary = Rows.of(Sample(rows=rows()))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: remember(summary, "it", object), range(64)))
    assert len(set(map(id, found))) == 1


def test_it_goes_with_the_summary():
    metric = FLD()
    summary = metric.summarize(Sample(rows=rows(60), test=rows()))
    metric.terms(summary, metric.summarize(Sample(rows=rows())))
    left = weakref.ref(summary)
    assert remember(summary, "fld", lambda: None) is not None
    del summary
    gc.collect()
    assert left() is None


def test_summaries_are_values_scored_or_not():
    metric, clients = FID(), [Sample(rows=rows(10, 80)) for _ in range(3)]
    real = [metric.summarize(client) for client in clients]
    made = metric.summarize(Sample(rows=rows(300, 80)))
    for pairs in metric.all_terms(real, [made]):
        assert len(list(pairs)) == 3
    assert set(vars(made)) <= {"count", "mean", "kept_root", "kept_dense", "graded", "trace"}
    again = pickle.loads(pickle.dumps(made))
    assert metric.terms(real[0], again)["mean"] == metric.terms(real[0], made)["mean"]


def test_all_pairs_at_once_score_as_one_by_one():
    clients, made = [Sample(rows=rows(n, 80)) for n in (10, 20, 200)], [Sample(rows=rows(300, 80)) for _ in range(2)]
    for metric in (FID(), nm.metrics.KID(), nm.metrics.KID(estimator="linear"), nm.metrics.Recall()):
        sides = [[metric.summarize(sample) for sample in side] for side in (clients, made)]
        again = [[metric.summarize(sample) for sample in side] for side in (clients, made)]
        for pairs, other in zip(metric.all_terms(*sides), again[1], strict=True):
            for terms, client in zip(pairs, again[0], strict=True):
                alone = metric.terms(client, other)
                np.testing.assert_allclose(list(terms.values()), list(alone.values()), rtol=1e-9, atol=1e-12)


def test_a_refused_pair_leaves_the_others():
    class Choosy(nm.metrics.Metric):
        def summarize(self, sample):
            return float(sample.rows.mean())

        def pool(self, summaries, weights):
            return float(np.dot(summaries, weights))

        def terms(self, real, generated):
            if real < 0:
                raise nm.InvalidInput("rows", "are negative", "Give others")
            return {"apart": abs(real - generated)}

    ((first, second),) = (list(pairs) for pairs in Choosy().all_terms([1.0, -1.0], [3.0]))
    assert first == {"apart": 2.0} and isinstance(second, nm.InvalidInput)
