"""Noise: as much as stated, (ε, δ) by the exact formula, and an attack that it keeps below the bound."""

import math

import numpy as np
import pytest
from scipy.stats import norm

import nbmetrics as nm
from nbmetrics.federated import noisy_summaries, privacy, serialization
from nbmetrics.federated.privacy import Normals, Privacy
from tests.slow import by_default

RNG = np.random.default_rng(11)
KID_OF_MANY = nm.metrics.KID(nm.RandomFeatures(nm.RBF(1.0), 90))
KID_OF_FEATURES = nm.metrics.KID(nm.RandomFeatures(nm.RBF(1.0), 32))
# ε by dp-accounting 0.6.0, PLD with a discretization of 1e-3: noise multiplier, releases, δ, ε
ACCOUNTED = [(4.0, 50, 1e-5, 8.595865984643076), (1.0, 1, 1e-6, 4.886554804382063), (2.0, 7, 1e-4, 5.3222001310486595)]


@pytest.mark.parametrize(("z", "releases", "delta", "epsilon"), ACCOUNTED)
def test_spent_is_what_an_accountant_says(z, releases, delta, epsilon):
    assert nm.federated.spent([z] * releases, delta) == pytest.approx(epsilon, rel=1e-6)
    assert nm.federated.noise_multiplier(epsilon, delta, releases) == pytest.approx(z, rel=1e-6)


def test_spent_against_the_accountant_where_it_is_installed():
    accounting = pytest.importorskip("dp_accounting", reason="dp-accounting is not installed")
    for z, releases, delta, _ in ACCOUNTED:
        account = accounting.pld.PLDAccountant(value_discretization_interval=1e-3)
        account.compose(accounting.GaussianDpEvent(noise_multiplier=z), releases)
        assert nm.federated.spent([z] * releases, delta) == pytest.approx(account.get_epsilon(delta), rel=1e-6)


def test_delta_by_integration():
    """δ(ε) is the integral of (p − e^ε q)₊ of two normals μ apart."""
    x = np.linspace(-12, 12, 200_001)
    for mu, epsilon in ((0.3, 0.5), (1.0, 2.0), (3.0, 1.0)):
        excess = np.maximum(norm.pdf(x, mu) - math.exp(epsilon) * norm.pdf(x), 0.0)
        assert math.exp(privacy.log_delta(epsilon, mu)) == pytest.approx(np.trapezoid(excess, x), rel=1e-6)


def test_sensitivities_are_reached_and_never_passed():
    """By search over pairs in the ball, also inside it."""
    d = 3
    u, v = RNG.normal(size=(2, 40_000, d))
    u, v = (x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0) for x in (u, v))
    outer = np.einsum("ni,nj->nij", u, u) - np.einsum("ni,nj->nij", v, v)
    apart = np.sum((u - v) ** 2, axis=1) + np.sum(outer**2, axis=(1, 2))
    assert 0.99 * privacy.MOMENTS < apart.max() <= privacy.MOMENTS * (1 + 1e-12)
    lengths = [np.sum(privacy.isometric_triangle(matrix) ** 2) for matrix in outer[:5]]
    np.testing.assert_allclose(lengths, np.sum(outer[:5] ** 2, axis=(1, 2)))
    u, v = np.array([1.0, 0, 0]), np.array([-0.5, math.sqrt(0.75), 0])
    apart = np.concatenate([u - v, privacy.isometric_triangle(np.outer(u, u) - np.outer(v, v))])
    assert apart @ apart == pytest.approx(4.5)
    phi = nm.RandomFeatures(nm.RBF(0.3), 64).features(RNG.normal(size=(50, d)))
    np.testing.assert_allclose(np.sum(phi**2, axis=1), 1.0, rtol=1e-12)  # so no two are more than 2 apart


def released(rows, metric, given):
    """The numbers that one client sends, and the stated deviation of each."""
    _, sections = serialization.read(nm.federated.client_summary(rows, metric, privacy=given), "c")
    (section,) = sections.values()
    names = ("mean", "second") if "second" in section.arrays else ("mean",)
    return np.concatenate([section.arrays[name] for name in names]), section.notes["sigma"]


@pytest.mark.parametrize("metric", ["fid", KID_OF_MANY], ids=["moments", "features"])
def test_the_noise_has_the_variance_that_is_stated(metric):
    rows, given = RNG.normal(size=(20, 12)), Privacy(1.0, 1e-5, clip=3.0)
    drawn, sigma = zip(*(released(rows, metric, given) for _ in range(550)), strict=True)
    variance = np.var(drawn, axis=0, ddof=1).mean()  # 49,500 numbers, so 3 % is 4.7σ
    assert variance == pytest.approx(sigma[0] ** 2, rel=0.03)
    assert sigma[0] == pytest.approx(given.multiplier(1) * (math.sqrt(4.5) if metric == "fid" else 2) / 20)


def test_noise_of_the_system_is_normal_and_never_repeats():
    drawn = Normals(None).draw(200_000)
    assert len(np.unique(drawn)) == len(drawn) and drawn.var() == pytest.approx(1.0, abs=0.02)
    for q in (0.001, 0.1, 0.5, 0.9, 0.999):
        assert np.mean(drawn < norm.ppf(q)) == pytest.approx(q, abs=5 * math.sqrt(q * (1 - q) / len(drawn)))
    rows, given = RNG.normal(size=(9, 2)), Privacy(1.0, clip=3.0)
    sent = {nm.federated.client_summary(rows, "fid", privacy=given) for _ in range(5)}
    seeded = {nm.federated.client_summary(rows, "fid", privacy=Privacy(1.0, clip=3.0, seed=4)) for _ in range(5)}
    assert len(sent) == 5 and len(seeded) == 1


def attack(metric, worst, other, sigma_factor, runs=1_000):
    """True and false positive rates at every threshold of the likelihood ratio of two neighbouring clients.

    The adversary knows all rows but one, and the noise: nobody can do better (Neyman and Pearson).
    """
    given, rest = Privacy(EPSILON, DELTA, clip=1.0, seed=5), np.zeros((4, 2))
    one, two = (nm.metrics.Sample(rows=np.vstack([rest, row])) for row in (worst, other))
    z, normals = sigma_factor * given.multiplier(1), Normals(5)

    def numbers(sample, multiplier, source):
        section = noisy_summaries.with_noise(noisy_summaries.bounded_section(metric, sample, given), multiplier, source)
        return np.concatenate([section.arrays[n] for n in ("mean", "second") if n in section.arrays])

    class Silent:
        draw = staticmethod(np.zeros)

    first, second = (numbers(sample, z, Silent) for sample in (one, two))
    ratios = []
    for sample in (one, two):
        found = np.array([numbers(sample, z, normals) for _ in range(runs)])
        ratios.append((found - (first + second) / 2) @ (first - second))
    thresholds = np.quantile(np.concatenate(ratios), np.linspace(0.1, 0.9, 81))
    return [(ratio[:, None] > thresholds).mean(axis=0) for ratio in ratios]


EPSILON, DELTA = 1.0, 1e-5
WORST_MOMENTS = np.array([[1.0, 0.0], [-0.5, math.sqrt(0.75)]])
# Two points at which the features are as far apart as a few thousand random ones get.
CLOUD = np.random.default_rng(0).uniform(-20, 20, size=(400, 2))


def worst_of_features():
    phi = KID_OF_FEATURES.kernel.features(CLOUD)
    return CLOUD[list(np.unravel_index(np.argmin(phi @ phi.T), (400, 400)))]


@pytest.mark.parametrize("what", by_default(["moments", "features"], "moments"))
def test_a_membership_attack_stays_below_the_bound_and_breaks_less_noise(what):
    metric = nm.metrics.FID() if what == "moments" else KID_OF_FEATURES
    worst, other = WORST_MOMENTS if what == "moments" else worst_of_features()

    def beyond(sigma_factor):
        """How far the attack gets beyond what (ε, δ) allows at some threshold, and beyond the exact trade-off."""
        true, false = attack(metric, worst, other, sigma_factor)
        allowed = np.minimum(math.exp(EPSILON) * false + DELTA, 1 - math.exp(-EPSILON) * (1 - DELTA - false))
        exact = norm.cdf(norm.ppf(np.clip(false, 1e-9, 1 - 1e-9)) + 1.0 / Privacy(EPSILON, DELTA).multiplier(1))
        return np.max(true - allowed), np.max(true - exact)

    slack = 0.08  # of two rates of 1,000 runs each, 3.6σ at most; seeded
    over, over_exact = beyond(1.0)
    assert over < 0 and over_exact < slack
    if what == "moments":
        assert over_exact > -slack  # the worst row reaches what the account says: no noise is wasted
    assert beyond(1 / 12)[0] > slack  # a twelfth of the noise breaks the promise
    assert beyond(1e-9)[0] > 0.5


def test_metrics_share_the_budget():
    rows, given = RNG.normal(size=(30, 3)), Privacy(2.0, 1e-6, clip=3.0)
    _, both = serialization.read(nm.federated.client_summary(rows, ["fid", KID_OF_FEATURES], privacy=given), "c")
    sensitivity = {"fid": math.sqrt(4.5) / 30, "kid": 2 / 30}
    multipliers = [both[name].notes["sigma"] / sensitivity[name] for name in ("fid", "kid")]
    assert nm.federated.spent(multipliers, 1e-6) == pytest.approx(2.0, rel=1e-6)
    note = nm.federated.aggregate(
        [nm.federated.client_summary(rows, "fid", privacy=Privacy(e, 1e-6, clip=3.0)) for e in (1, 3)],
        None,
        {"g": nm.Gaussian([0.0] * 3)},
        "fid",
    ).conventions
    assert any("ε = 3, δ = 1e-06" in line for line in note)  # clients are disjoint: the weakest counts


def test_scores_of_noisy_summaries_are_unbiased_where_they_say_so():
    """Little noise gives the scores of the clipped rows; the covariance and KID are unbiased before the repair."""
    rng = np.random.default_rng(1)
    clients, generators = [rng.normal(k / 2, 1, size=(50, 3)) for k in (0, 1)], {"g": nm.Gaussian([0.2] * 3)}
    generators["rows"] = rng.normal(size=(80, 3))
    metrics = ["fid", KID_OF_FEATURES]
    clipped = [x / np.maximum(np.linalg.norm(x, axis=1) / 2.0, 1.0)[:, None] for x in clients]
    there = nm.evaluate(clipped, generators, metrics, progress=False).table
    faint = [nm.federated.client_summary(x, metrics, privacy=Privacy(1000, 0.5, clip=2.0, seed=3)) for x in clients]
    here = nm.federated.aggregate(faint, None, generators, metrics).table
    np.testing.assert_allclose(here["all"][:2], there["all"][:2], atol=0.05)
    spreads, scores = [], []
    for seed in range(200):
        given = Privacy(20.0, 1e-3, clip=2.0, seed=seed)
        sent = [nm.federated.client_summary(x, metrics, privacy=given) for x in clients]
        dim, sections = serialization.read(sent[0], "c")
        made = noisy_summaries.NoisyMoments.of(sections["fid"], dim)
        spreads.append(made.second - np.outer(made.mean, made.mean) + made.variance * np.eye(3))
        means = [noisy_summaries.noisy_mean(KID_OF_FEATURES, serialization.read(data, "c")[1]["kid"]) for data in sent]
        scores.append(nm.metrics.KID.pool(KID_OF_FEATURES, means, [0.5, 0.5]).self_mean())
    error = np.std(spreads, axis=0) / math.sqrt(200)
    assert (np.abs(np.mean(spreads, axis=0) - np.cov(clipped[0].T, ddof=0)) < 5 * error).all()
    exact = KID_OF_FEATURES.pool([KID_OF_FEATURES.summarize(nm.metrics.Sample(rows=x)) for x in clients], [0.5, 0.5])
    assert abs(np.mean(scores) - exact.self_mean()) < 5 * np.std(scores) / math.sqrt(200)


REFUSED = {
    "no clip": (lambda: summary(privacy=Privacy(1.0)), "clip"),
    "another metric": (lambda: summary("kid", privacy=Privacy(1.0, clip=1.0)), "RandomFeatures"),
    "a sketch": (lambda: summary(sketched(), privacy=Privacy(1.0, clip=1.0)), "RandomFeatures"),
    "a distribution": (
        lambda: nm.federated.client_summary(nm.Gaussian([0.0]), "fid", privacy=Privacy(1.0, clip=1.0)),
        "distribution",
    ),
    "rank": (lambda: summary(rank=2, privacy=Privacy(1.0, clip=1.0)), "rank"),
    "a number": (lambda: summary(privacy=1.0), "Privacy"),
    "epsilon 0": (lambda: Privacy(0.0), "epsilon"),
    "epsilon of infinity": (lambda: Privacy(math.inf), "epsilon"),
    "delta 1": (lambda: Privacy(1.0, 1.0), "delta"),
    "clip 0": (lambda: Privacy(1.0, clip=0), "clip"),
    "centre": (lambda: summary(privacy=Privacy(1.0, clip=1.0, centre=[0.0])), "centre"),
    "no releases": (lambda: nm.federated.spent([], 1e-5), "noise_multipliers"),
    "two centres": (lambda: mixed(Privacy(1.0, clip=1.0), Privacy(1.0, clip=1.0, centre=[1.0] * 3)), "one point"),
    "some without": (lambda: mixed(Privacy(1.0, clip=1.0), None), "all add noise"),
}


def summary(metric="fid", **options):
    return nm.federated.client_summary(np.zeros((50, 3)), metric, **options)


def sketched():
    return nm.metrics.KID(nm.RandomFeatures(nm.Polynomial(), 16))


def mixed(*given):
    scores = nm.federated.aggregate([summary(privacy=p) for p in given], None, {"g": nm.Gaussian([0.0] * 3)}, "fid")
    raise nm.InvalidInput("conventions", " ".join(scores.conventions), "")


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_protected_is_refused(case):
    call, said = REFUSED[case]
    with pytest.raises(nm.InvalidInput, match=said):
        call()
