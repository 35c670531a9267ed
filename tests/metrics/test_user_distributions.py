"""A distribution of the user's own, any object with dim and sample, is checked where it enters: moments once, rows
always."""

import numpy as np
import pytest

import nbmetrics as nm

X = np.random.default_rng(0).normal(size=(60, 2))


class Distribution:
    """N(mean, cov) as a user would write it, or what a user gets wrong."""

    dim = 2

    def __init__(self, mean=(0.0, 1.0), cov=((2.0, 0.5), (0.5, 1.0)), dim=2, convert=np.asarray):
        self.mean, self.cov, self.dim = convert(mean), convert(cov), dim

    def sample(self, n, rng=None):
        return np.random.default_rng(rng).multivariate_normal([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]], size=n)


class Sampler:
    """A distribution without moments, whose rows are what `make` says."""

    dim = 2

    def __init__(self, make):
        self.sample = lambda n, rng=None: make(n, np.random.default_rng(rng))


BAD_MOMENTS = {
    "NaN mean": (dict(mean=[np.nan, 0.0]), "mean", "NaN"),
    "infinite covariance": (dict(cov=[[np.inf, 0.0], [0.0, 1.0]]), "cov", "infinite"),
    "NaN covariance": (dict(cov=[[np.nan, 0.0], [0.0, 1.0]]), "cov", "NaN"),
    "indefinite": (dict(cov=[[1.0, 2.0], [2.0, 1.0]]), "cov", "not positive semi-definite"),
    "negative": (dict(cov=[[-1.0, 0.0], [0.0, -1.0]]), "cov", "not positive semi-definite"),
    "asymmetric": (dict(cov=[[1.0, 0.5], [0.0, 1.0]]), "cov", "not symmetric"),
    "mean of 3": (dict(mean=[0.0, 0.0, 0.0]), "mean", "shape"),
    "mean of one row": (dict(mean=[[0.0, 0.0]]), "mean", "shape"),
    "covariance of 3": (dict(cov=np.eye(3)), "cov", "shape"),
    "variances": (dict(cov=[1.0, 1.0]), "cov", "shape"),
    "complex": (dict(mean=[1j, 0.0]), "mean", "complex"),
    "text": (dict(mean=["a", "b"]), "mean", "dtype"),
    "lists": (dict(convert=list), "mean", "NumPy array"),
    "no dimension": (dict(dim=0), "dim", "0"),
    "half a dimension": (dict(dim=2.5), "dim", "2.5"),
}
DOORS = {
    "fid": lambda distribution: nm.fid(X, distribution),
    "client": lambda distribution: nm.Client(distribution),
    "generator": lambda distribution: nm.Generator(distribution),
    "clients": lambda distribution: nm.evaluate([distribution], [X], ["fid"]),
    "generators": lambda distribution: nm.evaluate([X], {"g": distribution}, ["fid"]),
    "component": lambda distribution: nm.Mixture([distribution]),
    "barycenter": lambda distribution: nm.theory.barycenter([distribution]),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("fault", BAD_MOMENTS)
def test_a_distribution_with_impossible_moments_is_refused_at_the_door(door, fault):
    given, argument, seen = BAD_MOMENTS[fault]
    with pytest.raises(nm.InvalidInput, match=seen) as refused:
        DOORS[door](Distribution(**given))
    assert argument in str(refused.value)


@pytest.mark.parametrize("dtype", [float, int, np.float32, np.float16, np.longdouble])
def test_a_sound_distribution_scores_as_the_gaussian_of_its_moments(dtype):
    mean, cov = np.array([1.0, -2.0]), np.array([[3.0, 1.0], [1.0, 2.0]])
    distribution = Distribution(mean.astype(dtype), cov.astype(dtype))
    assert nm.fid(X, distribution) == pytest.approx(nm.fid(X, nm.Gaussian(mean, cov)), rel=1e-12)
    assert nm.fid(distribution, distribution) == pytest.approx(0.0, abs=1e-12)


def test_a_singular_distribution_is_sound():
    flat = np.array([[1.0, 1.0], [1.0, 1.0]])
    assert nm.fid(X, Distribution([0.0, 0.0], flat)) == pytest.approx(
        nm.fid(X, nm.Gaussian([0.0, 0.0], flat)), rel=1e-12
    )


def test_names_that_a_gaussian_or_a_mixture_has_mean_nothing_on_a_users_distribution():
    distribution = Distribution()
    distribution.root, distribution.components, distribution.weights = np.full((2, 2), np.nan), [], None
    assert nm.fid(X, distribution) == pytest.approx(nm.fid(X, Distribution()), rel=1e-12)


BAD_ROWS = {
    "NaN": (lambda n, rng: np.full((n, 2), np.nan), "NaN"),
    "three features": (lambda n, rng: np.zeros((n, 3)), "features"),
    "too few": (lambda n, rng: np.zeros((n - 1, 2)), "asked for"),
    "one vector": (lambda n, rng: np.zeros(n), "shape"),
    "nothing": (lambda n, rng: None, "None"),
}


@pytest.mark.parametrize("fault", BAD_ROWS)
@pytest.mark.parametrize(
    "use",
    [
        lambda distribution: nm.kid(X, distribution),
        lambda distribution: nm.w1(distribution, X, "sliced"),
        lambda distribution: nm.evaluate([distribution], [X], ["kid"], samples=50),
        lambda distribution: nm.evaluate([X], [distribution], ["precision"]),
        lambda distribution: nm.Mixture([nm.Gaussian([0, 0]), distribution]).sample(50, 0),
        lambda distribution: nm.evaluate([nm.Client(X[:, :2], condition=X)], [distribution], ["mfid"]),
    ],
    ids=["kid", "w1", "client", "generator", "mixture", "answer"],
)
def test_rows_that_a_distribution_gives_are_checked_wherever_it_is_drawn_from(use, fault):
    make, seen = BAD_ROWS[fault]
    with pytest.raises(nm.InvalidInput, match=seen):
        use(Sampler(make))


def test_a_mixture_of_distributions_without_a_density_says_so():
    mixture = nm.Mixture([nm.Gaussian([0, 0]), nm.TwoMoons()])
    with pytest.raises(nm.InvalidInput, match="log_prob"):
        mixture.log_prob(X)
    with pytest.raises(nm.InvalidInput, match="log_prob"):
        nm.evaluate([X], [mixture], ["log_likelihood"])


@pytest.mark.parametrize(
    "distribution",
    [nm.Gaussian([0, 0]), nm.Mixture([nm.Gaussian([0, 0])]), nm.Empirical(X), nm.KernelDensity(X, 1), nm.TwoMoons()],
)
@pytest.mark.parametrize(("n", "rng", "argument"), [
    (5, -1, "rng"), (5, 2.0, "rng"), (5, "seed", "rng"), (None, 0, "n"), (2.5, 0, "n"), (-1, 0, "n"), (10**12, 0, "n"),
])  # fmt: skip
def test_every_distribution_refuses_the_same_numbers_and_streams(distribution, n, rng, argument):
    with pytest.raises(nm.InvalidInput) as refused:
        distribution.sample(n, rng)
    assert refused.value.argument == argument
    assert distribution.sample(4.0, 0).shape == distribution.sample(4, np.random.default_rng(0)).shape == (4, 2)
    assert distribution.sample(0, 0).shape == (0, 2)


def test_a_sample_of_another_width_is_refused_however_it_comes():
    with pytest.raises(nm.InvalidInput, match="3"):
        nm.fid(np.zeros((5, 3)), nm.Client(X))
    with pytest.raises(nm.InvalidInput, match="3"):
        nm.fid(np.zeros((5, 3)), nm.Client(nm.Gaussian([0, 0])))
