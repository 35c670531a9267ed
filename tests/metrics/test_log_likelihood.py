"""The log-likelihood metric beside SciPy, Monte Carlo and the identity LL-avg = LL-all."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import nbmetrics as nm
from nbmetrics.densities import KernelDensity, TwoMoons
from nbmetrics.metrics.base import Sample
from nbmetrics.metrics.log_likelihood import LogLikelihood

RNG = np.random.default_rng(20261120)
COV = np.array([[2.0, 0.6], [0.6, 0.5]])
G = nm.Gaussian([0.5, -1.0], COV)
MIXTURE = nm.Mixture([nm.Gaussian([-1, 0], 1.0), nm.Gaussian([2, 1], [0.3, 2.0])], [0.3, 0.7])


def score(real, distribution, metric=None):
    metric = metric or LogLikelihood()
    sides = [Sample.of(x, "x") for x in (real, distribution)]
    return metric.distance(*map(metric.summarize, sides))


def test_rows_score_the_mean_log_density():
    x = RNG.normal(size=(300, 2))
    expected = multivariate_normal(G.mean, G.cov).logpdf(x).mean()
    assert score(x, G) == pytest.approx(expected, rel=1e-12)
    assert score(x.tolist(), G) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "real",
    [nm.Gaussian([1, 1], [3.0, 0.0]), MIXTURE, TwoMoons(0.2), KernelDensity(RNG.normal(size=(20, 2)), 0.3)],
    ids=str,
)
def test_a_distribution_under_a_gaussian_has_the_closed_form(real):
    expected = multivariate_normal(G.mean, G.cov).logpdf(real.mean) - 0.5 * np.trace(np.linalg.solve(G.cov, real.cov))
    assert score(real, G) == pytest.approx(expected, rel=1e-10)
    drawn = G.log_prob(real.sample(200_000, 1))
    assert abs(score(real, G) - drawn.mean()) < 5 * drawn.std() / np.sqrt(len(drawn))


def test_a_distribution_under_itself_scores_minus_its_entropy():
    assert score(G, G) == pytest.approx(-multivariate_normal(G.mean, G.cov).entropy(), rel=1e-12)


def test_a_distribution_under_a_mixture_is_sampled_with_a_seed():
    fine = score(G, MIXTURE, LogLikelihood(samples=200_000))
    coarse = score(G, MIXTURE, LogLikelihood(samples=5_000, seed=1))
    assert coarse == score(G, MIXTURE, LogLikelihood(samples=5_000, seed=1))
    assert coarse == pytest.approx(fine, abs=0.1)
    assert coarse != fine


@pytest.mark.parametrize("distribution", [G, MIXTURE, KernelDensity(RNG.normal(size=(30, 2)), 0.5)], ids=str)
@pytest.mark.parametrize("kind", ["rows", "distributions"])
def test_average_and_pooled_are_the_same_number(distribution, kind):
    if kind == "rows":
        clients = [nm.Client(RNG.normal(size=(n, 2)) + i, weight=w) for i, (n, w) in enumerate([(40, 3), (90, 1)])]
    else:
        clients = [nm.Gaussian([1, 0], 0.5), MIXTURE, nm.Gaussian([-1, 0], COV)]
    federation = nm.Federation(clients)
    table = nm.evaluate(federation, {"g": distribution}, metrics=[LogLikelihood()], progress=False).table
    assert table["gap"].abs().max() <= 1e-12 * abs(table["avg"][0])


def test_pooling_weighs_rows_by_client():
    parts, distribution = [RNG.normal(size=(n, 2)) for n in (50, 10)], G
    federation = nm.Federation([nm.Client(x, weight=0.5) for x in parts])
    table = nm.evaluate(federation, {"g": distribution}, metrics=[LogLikelihood()], progress=False).table
    assert table["all"][0] == pytest.approx(np.mean([distribution.log_prob(x).mean() for x in parts]), rel=1e-12)


@pytest.mark.parametrize("weights", [[0.5, 0.2, 0.3], [1.0, 0.0, 1e-9]], ids=str)
def test_of_a_distribution_for_each_client_avg_and_all_take_their_mixture(weights):
    rows = {name: RNG.normal(k, 1.0, size=(20 + k, 2)) for k, name in enumerate("abc")}
    shares = np.array(weights) / sum(weights)
    made = {name: nm.Gaussian([0.4 * k, 0.0], [1.0 + k, 0.5]) for k, name in enumerate("abc")}
    clients = nm.Federation({name: nm.Client(rows[name], weight=w) for name, w in zip("abc", weights, strict=True)})
    row = nm.evaluate(clients, [nm.Generator.by_client(made, name="g")], "log_likelihood", progress=False).table.iloc[0]
    densities = {name: multivariate_normal(g.mean, g.cov) for name, g in made.items()}
    mixed = [
        np.log(sum(w * densities[other].pdf(rows[name]) for other, w in zip("abc", shares, strict=True))).mean()
        for name in "abc"
    ]
    own = [densities[name].logpdf(rows[name]).mean() for name in "abc"]
    assert row[["avg", "all"]].tolist() == pytest.approx([shares @ mixed] * 2, rel=1e-12)
    assert row["intra"] == pytest.approx(shares @ own, rel=1e-12)


def test_the_truer_generator_ranks_first():
    federation = nm.Federation([nm.Gaussian([-1, 0], 1.0), nm.Gaussian([1, 0], 1.0)])
    distributions = {
        "wide": nm.Gaussian([0, 0], [2, 1]),
        "narrow": nm.Gaussian([0, 0], 1.0),
        "pool": federation.pooled().distribution,
    }
    scores = nm.evaluate(federation, distributions, metrics=[LogLikelihood()], progress=False)
    assert list(scores.ranks("log_likelihood").set_index("generator")["all"][["pool", "wide", "narrow"]]) == [1, 2, 3]


def test_zero_weight_clients_do_not_count():
    metric = LogLikelihood()
    inside, outside = (metric.summarize(Sample(rows=np.full((3, 2), v))) for v in (0.0, 1e30))
    pooled = metric.pool([inside, outside], [1.0, 0.0])
    made = metric.summarize(Sample(distribution=G))
    assert metric.distance(pooled, made) == metric.distance(inside, made)


def test_torch_rows_score_as_numpy_rows():
    torch = pytest.importorskip("torch")
    x = RNG.normal(size=(50, 2))
    assert score(torch.from_numpy(x), G) == pytest.approx(score(x, G), rel=1e-12)


@pytest.mark.parametrize(
    "made", [RNG.normal(size=(20, 2)), nm.Empirical(np.eye(2)), TwoMoons()], ids=["rows", "empirical", "moons"]
)
def test_a_generator_without_a_density_is_told_what_it_needs(made):
    with pytest.raises(nm.InvalidInput, match=r"nm\.KernelDensity\(rows, bandwidth\)"):
        nm.evaluate([RNG.normal(size=(9, 2))], {"g": made}, metrics=[LogLikelihood()], progress=False)


def test_bad_densities_are_told():
    class Odd:
        dim, value = 2, np.zeros((3, 1))

        def sample(self, n, rng=None):
            return np.zeros((n, 2))

        def log_prob(self, x):
            return self.value

    with pytest.raises(nm.InvalidInput, match=r"gave shape \(3, 1\)"):
        score(np.zeros((3, 2)), Odd())
    Odd.value = np.array([0.0, np.nan, 0.0])
    with pytest.raises(nm.InvalidInput, match="NaN"):
        score(np.zeros((3, 2)), Odd())
    with pytest.raises(nm.InvalidInput, match="singular"):
        score(np.zeros((3, 2)), nm.Gaussian([0, 0], [1.0, 0.0]))


def test_summaries_know_their_size():
    metric = LogLikelihood()
    assert metric.summarize(Sample(rows=np.zeros((10, 3)))).nbytes == 240
    assert metric.summarize(Sample(distribution=G)).nbytes == 8 * 5
