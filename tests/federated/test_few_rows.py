"""Small clients: fewer rows than min_rows are refused, and a warning where rows can be rebuilt, which is true."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.optimize import least_squares

import nbmetrics as nm
from nbmetrics.federated import FewRowsWarning, client_summary, serialization

pytestmark = pytest.mark.filterwarnings("ignore::nbmetrics.federated.FewRowsWarning")

RNG = np.random.default_rng(9)
PRIVATE = nm.federated.Privacy(1.0, clip=3.0)
FEATURES = nm.metrics.KID(nm.RandomFeatures(nm.RBF(1.0), 64))


def rows(n, d=3):
    return RNG.normal(size=(n, d))


def warned(*args, **options):
    """The sentences of the warning that a call gives, if any."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client_summary(*args, **options)
    assert {w.category for w in caught} <= {FewRowsWarning} and all(w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


@pytest.mark.parametrize("metrics", ["fid", "kid", FEATURES, ("fid", "kid")], ids=["fid", "kid", "features", "both"])
def test_fewer_than_ten_rows_are_refused_unless_it_is_allowed_or_noise_is_added(metrics):
    with pytest.raises(
        nm.InvalidInput, match=r"^rows: has 9 rows, .* min_rows=10 or more\. Merge .* noise with privacy="
    ):
        client_summary(rows(9), metrics)
    with pytest.raises(nm.InvalidInput, match=r"^rows: has 1 row, "):
        client_summary(rows(1), metrics)
    with pytest.raises(nm.InvalidInput, match=r"^rows: has 49 rows, .* min_rows=50 or more"):
        client_summary(rows(49), metrics, min_rows=50)
    assert warned(rows(100), metrics) == warned(rows(100), metrics, min_rows=100) == []
    assert serialization.read(client_summary(rows(9), metrics, min_rows=9), "c")[0] == 3
    if metrics in ("fid", FEATURES):
        assert warned(rows(2), metrics, privacy=PRIVATE) == []


def test_every_row_is_small_cells_too():
    with pytest.raises(nm.InvalidInput, match="has 9 rows"):
        client_summary(rows(9), "recall", reveal_rows=True)
    assert warned(rows(12, 20), "recall", reveal_rows=True) == []  # which sends them all, as asked


def test_distributions_and_metrics_that_reveal_nothing_have_no_least_number():
    assert warned(nm.Gaussian([0.0, 1.0]), ("fid", "kid")) == warned(rows(2), "vendi") == []


@pytest.mark.parametrize("bad", [-1, 2.5, "ten", None])
def test_min_rows_is_a_whole_number(bad):
    with pytest.raises(nm.InvalidInput, match=r"^min_rows: "):
        client_summary(rows(20), "fid", min_rows=bad)


@pytest.mark.parametrize(
    ("metric", "most"), [("fid", 16), ("kid", 17), (nm.metrics.KID(nm.RandomFeatures(nm.RBF(), 256)), 16)]
)
def test_no_more_rows_than_features_are_warned_of(metric, most):
    """Of third moments one row more; of random features rows that hold no more numbers than are sent."""
    (line,) = warned(rows(most, 16), metric)
    assert f"{most} rows with 16 features: rows can be rebuilt from a summary of so few" in line
    assert warned(rows(most + 1, 16), metric) == []


def test_the_warning_can_be_silenced_and_made_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewRowsWarning)
        with pytest.raises(FewRowsWarning, match="rebuilt"):
            client_summary(rows(12, 20), "fid")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FewRowsWarning)
        client_summary(rows(12, 20), "fid")


def test_rows_are_rebuilt_from_mean_and_covariance_where_columns_hold_0_or_1():
    """They lie in the span of the covariance, in which few points have such columns; tried one by one."""
    n, d = 12, 30
    truth = np.c_[RNG.integers(0, 2, size=(n, 20)), RNG.normal(size=(n, 10))]
    sent = serialization.read(client_summary(truth, "fid", min_rows=1), "c")[1]["fid"].arrays
    factor = np.zeros((n - 1, d))
    factor[np.triu_indices(n - 1, m=d)] = sent["factor"]
    basis = np.linalg.qr(factor.T)[0].T  # (n − 1, d)
    chosen = np.sort(np.linalg.qr(basis[:, :20])[1].any(axis=0).nonzero()[0][: n - 1])
    patterns = np.array(list(itertools.product((0.0, 1.0), repeat=n - 1)))
    points = np.linalg.solve(basis[:, chosen].T, (patterns - sent["mean"][chosen]).T).T @ basis + sent["mean"]
    fits = np.abs(points[:, :20] - points[:, :20].round()).max(axis=1) < 1e-6
    found = points[fits & (np.abs(points[:, :20] - 0.5) < 0.75).all(axis=1)]
    assert np.abs(found[:, None] - truth).max(axis=2).min(axis=0).max() < 1e-6 and len(found) < 3 * n


def test_rows_are_rebuilt_from_a_mean_of_random_features():
    """As many equations as the rows have numbers: least squares from random starts finds them."""
    n, d, kernel = 10, 2, nm.RandomFeatures(nm.RBF(1.0), 256)
    truth = rows(n, d)
    sent = serialization.read(client_summary(truth, nm.metrics.KID(kernel)), "c")[1]["kid"].arrays["mean"]
    for _ in range(20):
        start = RNG.normal(size=n * d)
        found = least_squares(lambda x: kernel.features(x.reshape(n, d)).mean(axis=0) - sent, start)
        if found.cost < 1e-18:
            break
    guessed = found.x.reshape(n, d)
    assert np.abs(guessed[:, None] - truth).max(axis=2).min(axis=0).max() < 1e-6
