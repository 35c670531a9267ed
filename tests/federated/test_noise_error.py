"""What the scores of noisy summaries say of their noise: how far it moves a difference, against many releases."""

import re

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.federated.noise_error import likely_covariance, nearest_weights, noise_moves, rms
from tests.calibration.noise_error import BEYOND, CASES, EPSILONS, said, truth
from tests.federated.test_summaries import header, rebuilt
from tests.slow import slow

KERNEL = nm.RandomFeatures(nm.RBF(), 64)
KID = nm.metrics.KID(KERNEL)


def release(clients, generators, metrics, epsilon, clip=12.0, seed=0, weights=None):
    sent = [
        nm.federated.client_summary(x, metrics, privacy=nm.federated.Privacy(epsilon, clip=clip, seed=seed + k))
        for k, x in enumerate(clients)
    ]
    return nm.federated.aggregate(sent, weights, generators, metrics)


def noise_lines(scores):
    return [line for line in scores.cautions if "noise moves" in line]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "epsilon"), [("too wide, too narrow", 1.0), ("digits", 1.0), *slow(("falling spreads", 3.0))]
)
def test_one_release_says_what_many_show(name, epsilon):
    case = CASES[name]()
    shares = said(case, epsilon, releases=6) / truth(case, epsilon)
    assert np.abs(np.median(shares, axis=0) - 1).max() < 0.25 and shares.min() > 0.5 and shares.max() < 1.6


@pytest.mark.parametrize("name", slow(*CASES))
def test_one_release_says_what_many_show_at_any_noise(name):
    """Within a quarter nearly everywhere, and a factor of 2.5 where the two parts of the error cancel."""
    case = CASES[name]()
    shares = np.array([np.median(said(case, e) / truth(case, e), axis=0) for e in EPSILONS])
    assert (np.abs(shares - 1) < 0.25).mean() > (0.5 if name == "too wide, too narrow" else 0.95)
    assert shares.min() > 0.4 and shares.max() < 2.5


@pytest.mark.parametrize("name", slow(*BEYOND))
def test_where_no_generator_resembles_the_clients_it_is_too_small_as_the_guide_says(name):
    shares = np.array([np.median(said(BEYOND[name](), e) / truth(BEYOND[name](), e), axis=0) for e in (1.0, 100.0)])
    assert (shares < 1).all() and 1 / 12 < shares.min() < 1 / 4


def test_kid_is_moved_as_the_closed_form_says():
    """A difference of two is linear in the noise: 2 ‖φ₁ − φ₂‖ √Σ λ² σ²."""
    rng = np.random.default_rng(1)
    clients = [rng.normal(k / 2, 1, size=(n, 3)) for k, n in enumerate((200, 400, 300))]
    generators = {"near": rng.normal(0.5, 1, size=(500, 3)), "far": rng.normal(1.5, 1, size=(500, 3))}
    scores = release(clients, generators, KID, 0.5)
    moves = noise_moves(scores.result("kid"), scores.weights, 0)
    means = [KERNEL.features(x).mean(axis=0) for x in generators.values()]
    sizes = np.array([len(x) for x in clients])
    sigma = nm.federated.noise_multiplier(0.5, 1e-5) * 2.0 / sizes
    exact = 2 * np.linalg.norm(means[0] - means[1]) * np.sqrt(((sizes / sizes.sum() * sigma) ** 2).sum())
    for p in range(2):
        assert rms(moves[:, p, 0] - moves[:, p, 1]) == pytest.approx(exact, rel=0.4)  # of 20 draws, 2.5σ
    many = np.concatenate([noise_moves(scores.result("kid"), scores.weights, seed) for seed in range(1, 26)])
    assert rms(many[:, 1, 0] - many[:, 1, 1]) == pytest.approx(exact, rel=0.1)  # of 500


@pytest.fixture(scope="module")
def wide_and_narrow():
    rng = np.random.default_rng(0)
    clients = [rng.normal(0, 1, (100, 16)) for _ in range(3)]
    return clients, {"wide": rng.normal(0, 1.5, (2000, 16)), "narrow": rng.normal(0, 0.8, (2000, 16))}


def test_a_release_that_noise_orders_says_so_for_each_metric_and_aggregate(wide_and_narrow):
    """In truth narrow is better; under this noise wide is shown, with no word before."""
    scores = release(*wide_and_narrow, ["fid", KID], 1.0)
    table = scores.table.set_index(["metric", "generator"])
    assert table.loc[("fid", "wide"), "all"] < table.loc[("fid", "narrow"), "all"]
    lines = noise_lines(scores)
    assert [line.partition(":")[0] for line in lines] == ["FID-avg", "FID-all", "KID-avg", "KID-all"]
    for line in lines:
        differ, moved = re.search(
            r"'wide' and 'narrow' differ by (\S+), and noise moves this difference by about ± (\S+): their order may",
            line,
        ).groups()
        metric, part = line.partition(":")[0].lower().split("-")
        apart = abs(table.loc[(metric, "wide"), part] - table.loc[(metric, "narrow"), part])
        assert float(differ) == pytest.approx(apart, rel=0.06) and apart < 3 * float(moved)


def test_little_noise_is_not_mentioned_and_other_weights_have_their_own_line(wide_and_narrow):
    clients, generators = wide_and_narrow
    assert noise_lines(release([np.tile(x, (40, 1)) for x in clients], generators, ["fid", KID], 500.0)) == []
    scores = release(clients, generators, "fid", 3.0)
    alone = scores.with_weights([1, 0, 0])
    first, other = (noise_lines(one) for one in (scores, alone))
    assert first and other and first != other
    assert noise_lines(scores) == first  # which is drawn once
    bare = [nm.federated.client_summary(x, "fid") for x in clients]
    assert noise_lines(nm.federated.aggregate(bare, None, generators, "fid")) == []


def test_one_generator_has_the_noise_of_its_score(wide_and_narrow):
    clients, generators = wide_and_narrow
    lines = noise_lines(release(clients, {"wide": generators["wide"]}, "fid", 1.0))
    assert [line.partition(" is ")[0] for line in lines] == ["FID-avg of 'wide'", "FID-all of 'wide'"]
    assert all(" and noise moves it by about ± " in line for line in lines)


def test_of_several_generators_the_best_that_is_shown_and_its_closest_rival_are_named(wide_and_narrow):
    clients, generators = wide_and_narrow
    three = {**generators, "third": generators["narrow"] * 1.02}
    scores = release(clients, three, "fid", 1.0)
    (line,) = (line for line in noise_lines(scores) if line.startswith("FID-all"))
    first = scores.table.sort_values("all")["generator"].iloc[0]
    assert repr(first) in line and line.endswith("This is so for all 3 pairs.")


def test_summaries_that_do_not_pool_or_are_only_partly_noisy_are_no_error(wide_and_narrow):
    clients, generators = wide_and_narrow
    private = nm.federated.Privacy(1.0, clip=12.0, seed=1)
    for metric, refused in (("fid", True), (KID, False)):
        sent = [
            nm.federated.client_summary(x, metric, privacy=p)
            for x, p in zip(clients, (private, None, private), strict=True)
        ]
        scores = nm.federated.aggregate(sent, None, generators, metric)
        assert any("all has no value" in line for line in scores.cautions) == refused
        assert {line.partition(":")[0][4:] for line in noise_lines(scores)} == ({"avg"} if refused else {"avg", "all"})
    apart = [
        nm.federated.client_summary(x, "fid", privacy=nm.federated.Privacy(1.0, clip=12.0, centre=[float(k)] * 16))
        for k, x in enumerate(clients)
    ]
    scores = nm.federated.aggregate(apart, None, generators, "fid")
    assert [line.partition(":")[0] for line in noise_lines(scores)] == ["FID-avg"]


def test_a_noisy_client_of_one_row_is_no_error(wide_and_narrow):
    clients, generators = wide_and_narrow
    scores = release([*clients, clients[0][:1]], generators, ["fid", KID], 1.0, weights=[1, 1, 1, 0])
    assert any("has 1 row" in line for line in scores.cautions) and noise_lines(scores) == []


@pytest.mark.parametrize("sigma", [1e-300, 1e-9, 1.0, 1e9])
@pytest.mark.parametrize(("place", "number"), [(0, 1e9), (9, 1e9), (9, 0.1)])
def test_cautions_can_be_read_whatever_a_stranger_sent(sigma, place, number):
    rng, privacy = np.random.default_rng(0), nm.federated.Privacy(1.0, clip=2.0)
    sent = [nm.federated.client_summary(rng.normal(size=(30, 4)), "fid", privacy=privacy) for _ in range(2)]
    head, numbers = header(sent[1])
    head["sections"][0]["notes"]["sigma"] = sigma
    numbers = np.frombuffer(numbers).copy()
    numbers[place] = number
    generators = {"g": nm.Gaussian([0.0] * 4), "h": nm.Gaussian([0.1] * 4)}
    scores = nm.federated.aggregate([sent[0], rebuilt(head, numbers.tobytes())], None, generators, "fid")
    assert all(isinstance(line, str) for line in scores.cautions)


def test_what_a_release_leaves_open_is_filled_in_between_the_generators_and_what_it_says():
    rng, sigma = np.random.default_rng(2), 1e-3
    basis = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    true = basis * np.geomspace(1.0, 0.01, 12) @ basis.T
    generators = [1.1 * true, 0.9 * true + 0.01 * np.eye(12)]
    noise = rng.normal(size=(12, 12))
    noise = np.triu(noise, 1) / np.sqrt(2) + np.diag(np.diagonal(noise))
    noise += np.triu(noise, 1).T
    for scale in (sigma, 0.1, 10.0):
        near = likely_covariance(true + scale * noise, generators, scale)
        assert np.linalg.norm(near - true) < min(0.6 * scale * np.linalg.norm(noise), 1.5)
        assert np.linalg.eigvalsh(near).min() > -1e-12
    far = [np.eye(12) * 50.0, np.eye(12) * 80.0]  # generators that resemble nobody
    assert np.linalg.norm(likely_covariance(true + sigma * noise, far, sigma) - true) < 3 * sigma * np.linalg.norm(
        noise
    )


def test_the_nearest_combination_is_that_of_least_squares():
    rng = np.random.default_rng(3)
    parts = [np.cov(rng.normal(size=(5, 30))) for _ in range(3)]
    np.testing.assert_allclose(nearest_weights(parts, 2 * parts[0] + 0.5 * parts[2]), [2, 0, 0.5], atol=1e-9)
    target = np.cov(rng.normal(size=(5, 30)))
    weights, apart = nearest_weights(parts, target), lambda a: np.linalg.norm(np.tensordot(a, parts, axes=1) - target)
    assert (weights >= 0).all()
    for moved in np.abs(weights + 0.05 * rng.normal(size=(300, 3))):
        assert apart(moved) >= apart(weights) - 1e-12
    twice = nearest_weights([parts[0], parts[0]], parts[0])
    assert twice.sum() == pytest.approx(1.0)
