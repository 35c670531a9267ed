"""The private quantile is as private as it says, by an account of its own, and useful; so are public rows."""

import math
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import chi2, chisquare, norm

import nbmetrics as nm
from nbmetrics.federated import Account, Privacy, recipes
from nbmetrics.federated.privacy import PureEpsilon, log_delta
from tests import ROOT
from tests.federated.test_account import epsilon_of

BOUNDS = (0.5, 2.0)


def candidates():
    """Each 0.1 % or a little less above the one before, from 0.5 to 2."""
    count = math.ceil(math.log(4.0) / math.log(1.001))
    return [0.5 * 4.0 ** (k / count) for k in range(count + 1)]


def log_probabilities(norms, quantile, epsilon):
    """Of each candidate, written out anew: exp(−ε/2 |rank − q n|) over the sum of all."""
    logs = [-epsilon / 2 * abs(sum(r <= c for r in norms) - quantile * len(norms)) for c in candidates()]
    total = math.log(math.fsum(math.exp(value) for value in logs))
    return np.array([value - total for value in logs])


NORMS = st.one_of(st.floats(0, 3), st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0]))


@settings(max_examples=60, deadline=None)
@given(st.lists(NORMS, min_size=1, max_size=6), NORMS, st.floats(0, 1), st.floats(0.01, 8))
def test_no_candidate_of_a_neighbour_is_more_than_e_to_epsilon_times_as_probable(norms, other, quantile, epsilon):
    one, two = (log_probabilities(x, quantile, epsilon) for x in (norms, [other, *norms[1:]]))
    assert np.abs(one - two).max() <= epsilon * (1 + 1e-12) + 1e-12
    grid = recipes._grid(BOUNDS)
    np.testing.assert_allclose(grid, candidates(), rtol=1e-14)
    # a norm within rounding of a candidate may count on either side of it
    if min(abs(r - c) for r in norms for c in candidates()) > 1e-12:
        np.testing.assert_allclose(
            np.log(recipes._probabilities(np.array(norms), grid, quantile, epsilon)), one, atol=1e-9
        )


def test_epsilon_is_not_much_larger_than_it_has_to_be():
    one, two = (log_probabilities(x, 0.5, 1.0) for x in ([1.9999] * 2, [1.9999, 0.5]))
    assert np.abs(one - two).max() > 0.49


@pytest.mark.parametrize("seeded", [True, False])
def test_draws_follow_the_probabilities(monkeypatch, seeded):
    norms, seeds = [0.6, 0.9, 1.0, 1.1, 1.7] * 10, iter(range(4000))
    if not seeded:  # the system's generator, made repeatable
        monkeypatch.setattr(recipes, "system_uniforms", lambda count: np.random.default_rng(next(seeds)).random(count))
    rows = np.array(norms)[:, None] * [0.6, -0.8]
    drawn = [
        nm.federated.private_norm_quantile(rows, 0.6, epsilon=1.0, bounds=BOUNDS, seed=k if seeded else None)
        for k in range(2000)
    ]
    edges = [0.0, 0.6, 0.9, 0.95, 1.0, 1.1, 1.4, 1.7, 2.1]
    inside = np.histogram(candidates(), edges, weights=np.exp(log_probabilities(norms, 0.6, 1.0)))[0]
    assert chisquare(np.histogram(drawn, edges)[0], 2000 * inside).pvalue > 0.01
    assert set(np.round(drawn, 9)) <= set(np.round(candidates(), 9)), "of a public grid, which knows no row"


def test_draws_of_the_system_differ_and_a_seed_repeats():
    rows = np.random.default_rng(0).normal(size=(4000, 2))
    free = {nm.federated.private_norm_quantile(rows, epsilon=0.1, bounds=(0.1, 10)) for _ in range(20)}
    fixed = {nm.federated.private_norm_quantile(rows, epsilon=0.1, bounds=(0.1, 10), seed=3) for _ in range(3)}
    assert len(free) > 10 and len(fixed) == 1


def delta_of_randomized_response(epsilon, other):
    """δ(ε′) of the worst release of pure ε: a bit that is told rightly with probability e^ε / (1 + e^ε)."""
    right = 1.0 / (1.0 + math.exp(-epsilon))
    return max(right - math.exp(other) * (1.0 - right), 0.0)


@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 30.0])
def test_mu_of_pure_epsilon_covers_randomized_response_and_no_smaller_one_does(epsilon):
    mu = PureEpsilon(epsilon).mu
    for other in np.linspace(0.0, 1.2 * epsilon, 60):
        assert math.exp(log_delta(other, mu)) >= delta_of_randomized_response(epsilon, other) * (1 - 1e-9)
    assert 2 * norm.cdf(mu / 2) - 1 == pytest.approx(delta_of_randomized_response(epsilon, 0.0), rel=1e-9)
    size = np.geomspace(1e-12, 1.0, 200)[:-1]
    lines = np.maximum(1 - math.exp(epsilon) * size, math.exp(-epsilon) * (1 - size))
    assert np.all(norm.cdf(norm.ppf(1 - size) - mu) <= lines + 1e-9)


def test_mu_of_large_and_small_epsilon():
    assert PureEpsilon(1000.0).mu == pytest.approx(2 * math.sqrt(2000), rel=0.01)
    assert PureEpsilon(0.001).mu == pytest.approx(0.001 * math.sqrt(math.pi / 2), rel=1e-6)


TAILS = ("lognormal", "student", "two scales")


def heavy_tailed(tail):
    rng = np.random.default_rng(1)
    scale = {
        "lognormal": rng.lognormal(0, 1, size=(5000, 1)),
        "student": rng.chisquare(2, size=(5000, 1)) ** -0.5,
        "two scales": np.where(rng.random((5000, 1)) < 0.03, 1000.0, 1.0),
    }[tail]
    return scale * rng.normal(size=(5000, 8))


def test_it_covers_what_the_page_says():
    page = " ".join((ROOT / "docs/federated.md").read_text("utf-8").split())
    assert "With ε = 0.1 and 5,000 rows with heavy tails, 95 % of the draws covered 94 to 97 % of the rows." in page
    shares = []
    for tail in TAILS:
        rows = heavy_tailed(tail)
        lengths, wide = np.linalg.norm(rows, axis=1), {"epsilon": 0.1, "bounds": (0.01, 10_000)}
        clips = [nm.federated.private_norm_quantile(rows, 0.95, **wide, seed=k) for k in range(60)]
        shares += [np.mean(lengths <= clip) for clip in clips]
    low, high = np.quantile(shares, [0.025, 0.975])
    assert 0.935 < low < 0.95 < high < 0.978


@pytest.mark.parametrize("tail", TAILS)
def test_it_covers_about_the_share_that_was_asked_for(tail):
    rows = heavy_tailed(tail)
    lengths = np.linalg.norm(rows, axis=1)
    count = math.log(1e8) / 0.001
    for epsilon in (0.1, 1.0):
        within = 2 * math.log(count / 0.001) / (epsilon * 5000) + 1e-3
        for seed in range(20):
            clip = nm.federated.private_norm_quantile(rows, 0.9, epsilon=epsilon, bounds=(1e-4, 1e4), seed=seed)
            assert abs(np.mean(lengths <= clip) - 0.9) <= within


def test_an_epsilon_that_finds_nothing_is_refused_before_it_is_spent(tmp_path):
    """Of many draws at the least ε that is taken, hardly one covers all rows or none."""
    rows, bounds = np.random.default_rng(3).normal(size=(500, 8)), (1e-2, 1e4)
    account = Account(tmp_path / "a", epsilon=3, delta=1e-6)
    for quantile in (0.05, 0.9, 1.0):
        with pytest.raises(
            nm.InvalidInput, match=r"epsilon: got 0\.1, too little for the .* Give [\d.e+]+ or more"
        ) as why:
            nm.federated.private_norm_quantile(rows, quantile, epsilon=0.1, bounds=bounds, account=account)
        if quantile == 0.9:
            least = float(why.value.fix.split()[1])
    assert account.spent == 0.0
    lengths = np.linalg.norm(rows, axis=1)
    shares = [
        np.mean(lengths <= nm.federated.private_norm_quantile(rows, 0.9, epsilon=least, bounds=bounds, seed=k))
        for k in range(300)
    ]
    assert np.mean(np.equal(shares, 1.0)) < 0.1 and min(shares) > 0.5


def test_a_centre_and_far_bounds():
    rows = np.random.default_rng(0).normal(size=(500, 3)) + 100.0
    clip = nm.federated.private_norm_quantile(rows, 0.95, epsilon=5.0, bounds=(0.1, 50), centre=[100.0] * 3, seed=0)
    assert 2.0 < clip < 4.0
    assert nm.federated.private_norm_quantile(rows, 0.5, epsilon=50.0, bounds=(1.0, 1.0001), seed=0) in (1.0, 1.0001)


def test_it_is_spent_with_the_releases_and_refused_where_too_little_is_left(tmp_path):
    rows = np.random.default_rng(0).normal(size=(5000, 3))
    account = Account(tmp_path / "a", epsilon=1.2, delta=1e-6)
    clip = nm.federated.private_norm_quantile(rows, epsilon=0.1, bounds=(0.1, 100), account=account)
    nm.federated.client_summary(rows, "fid", privacy=Privacy(1.0, 1e-6, clip), account=account)
    assert account.spent == pytest.approx(1.1, rel=1e-6)
    assert account.left == pytest.approx(room(1.1, [1.0]), rel=1e-6)
    assert account.table["about"].tolist() == ["quantile 0.95 of the norms", "fid"]
    before = account.path.read_bytes()
    with pytest.raises(nm.InvalidInput, match="would spend"):
        nm.federated.private_norm_quantile(rows, epsilon=1.0, bounds=(0.1, 100), account=account)
    with pytest.raises(nm.InvalidInput, match="bounds: "):
        nm.federated.private_norm_quantile(rows, epsilon=0.01, bounds=(100, 0.1), account=account)
    assert account.path.read_bytes() == before


def room(epsilon, releases):
    """ε of one more release within (ε, 1e-6), by bisection."""
    mus = [1 / nm.federated.noise_multiplier(release, 1e-6) for release in releases]
    mu = brentq(lambda mu: epsilon_of([*mus, mu], 1e-6) - epsilon, 1e-6, 10.0, xtol=1e-13)
    return epsilon_of([mu], 1e-6)


@pytest.mark.parametrize(("pure", "count", "is_by_mu"), [(0.1, 1, True), (0.1, 40, True), (1.0, 30, False)])
def test_pure_epsilon_counts_by_its_mu_or_by_its_sum_whichever_is_less(tmp_path, pure, count, is_by_mu):
    account = Account(tmp_path / "a", epsilon=100, delta=1e-6)
    account.spend(Privacy(2.0, 1e-6))
    for _ in range(count):
        account.spend(PureEpsilon(pure))
    mus = [1 / nm.federated.noise_multiplier(2.0, 1e-6)] + count * [-2 * norm.ppf(1 / (1 + math.exp(pure)))]
    by_mu, by_sum = epsilon_of(mus, 1e-6), 2.0 + count * pure
    assert (by_mu < by_sum) == is_by_mu
    assert account.spent == pytest.approx(min(by_mu, by_sum), rel=1e-6)


KILLED = """
import sys; sys.path.insert(0, {root!r})
from nbmetrics.federated import Account, private_norm_quantile
account = Account({path!r}, epsilon=900, delta=1e-6)
for k in range(500):
    print(private_norm_quantile([[1.0], [2.0]] * 20, 0.6, epsilon=1.2, bounds=(0.1, 10), account=account), flush=True)
"""


@pytest.mark.slow
def test_a_kill_never_makes_the_account_too_low(tmp_path):
    path = tmp_path / "a"
    script = KILLED.format(root=str(ROOT), path=str(path))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    received = 1 + len(process.stdout.read().splitlines())
    process.wait()
    assert received <= len(Account(path, epsilon=900, delta=1e-6).table) <= received + 1


def test_public_rows_give_quantile_and_median():
    rows = np.random.default_rng(0).normal(size=(300, 4)) + 1.0
    lengths = sorted(math.dist(row, [1.0] * 4) for row in rows)
    clip = nm.federated.clip_from_public(rows, 0.9, centre=[1.0] * 4)
    assert lengths[268] <= clip <= lengths[270]
    apart = [math.dist(rows[i], rows[j]) for i in range(300) for j in range(i)]
    assert nm.federated.sigma_from_public(rows) == pytest.approx(np.median(apart), rel=1e-12)
    many = np.random.default_rng(0).normal(size=(20_000, 4))
    assert nm.federated.sigma_from_public(many) == pytest.approx(math.sqrt(2 * chi2.ppf(0.5, 4)), rel=0.03)


ROWS = [[1.0, 2.0], [3.0, 4.0]] * 500
PRIVATE = {"epsilon": 1.0, "bounds": (0.1, 10.0)}
WRONG = {
    "rows": [{"rows": []}, {"rows": [[math.nan]]}, {"rows": "text"}, {"rows": [1.0, 2.0]}],
    "quantile": [{"quantile": q} for q in (-0.1, 1.1, math.nan, "much", None)],
    "epsilon": [{"epsilon": e} for e in (0, -1, math.inf, 1e9, "1 or so", None, 0.1)],
    "bounds": [
        {"bounds": b} for b in ((2, 1), (1, 1), (0, 1), (-1, 1), (1,), (1, 2, 3), 5, (1, math.inf), "1,2", None)
    ],
    "centre": [{"centre": c} for c in ([0.0], [0.0] * 3, [math.nan] * 2, "here", 3.0)],
    "account": [{"account": a} for a in ("a path", 3)],
    "seed": [{"seed": s} for s in (-1, 1.5, "x")],
}


@pytest.mark.parametrize(("argument", "change"), [(name, one) for name, all_ in WRONG.items() for one in all_], ids=str)
def test_bad_input_is_refused_by_name(argument, change):
    with pytest.raises(nm.InvalidInput) as why:
        nm.federated.private_norm_quantile(**{"rows": ROWS, **PRIVATE, **change})
    assert why.value.argument == argument


def test_public_rows_that_say_nothing_are_refused():
    for rows in ([[0.0, 0.0]], [[1e-13]], [[1e13]]):
        with pytest.raises(nm.InvalidInput, match="have norms of"):
            nm.federated.clip_from_public(rows)
    with pytest.raises(nm.InvalidInput, match=r"rows: has 1 row\. Give more rows"):
        nm.federated.sigma_from_public([[1.0]])
    with pytest.raises(nm.InvalidInput, match=r"rows: the median distance between rows is 0\. Give rows that differ"):
        nm.federated.sigma_from_public([[1.0]] * 3)
