"""At which ε the order of generators survives: the table, its extremes, and its picture."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import nbmetrics as nm
from nbmetrics.federated.noise_study import noise_study
from nbmetrics.federated.noisy_summaries import bounded_section, with_noise
from nbmetrics.federated.privacy import Normals
from nbmetrics.federated.serialization import write
from nbmetrics.federated.survival import wilson
from tests.slow import slow

RNG = np.random.default_rng(5)
CLIENTS = {"a": RNG.normal(0, 1, size=(400, 3)), "b": RNG.normal(1, 1, size=(300, 3))}
GENERATORS = {f"off by {s}": nm.Gaussian([0.5 + s] * 3, 1.2) for s in (0.0, 0.5, 1.0, 2.0)}
KID_OF_FEATURES = nm.metrics.KID(nm.RandomFeatures(nm.RBF(), 64))


@pytest.fixture(scope="module")
def curve():
    metrics = ["fid", KID_OF_FEATURES]
    return nm.federated.rank_survival(
        CLIENTS, GENERATORS, metrics, clip=6.0, epsilons=[100, 0.003, 3], repeats=12, samples=200
    )


def test_noise_hides_the_order_and_a_large_epsilon_keeps_it(curve):
    names = ["epsilon", "metric", "aggregate", "agreement", "best_kept", "error", "best_low", "best_high", "rival"]
    names += ["kept", "kept_low", "kept_high", "kept_if_reversed", "reversed_low", "reversed_high"]
    assert curve.columns.tolist() == [*names, "difference", "difference_error", "survives"]
    assert len(curve) == 4 * 2 * 2 and sorted(set(curve["epsilon"])) == [0.003, 3.0, 100.0, np.inf]
    known = curve.set_index(["epsilon", "metric", "aggregate"])
    assert (known.loc[100.0, "agreement"] == 1.0).all() and (known.loc[100.0, "best_kept"] == 1.0).all()
    assert (known.loc[0.003, "agreement"] < 0.9).all()
    for metric in ("fid", "kid"):
        for part in ("avg", "all"):
            errors = [known.loc[(e, metric, part), "error"] for e in (0.003, 3.0, 100.0, np.inf)]
            assert errors == sorted(errors, reverse=True)
            assert curve.attrs["survives"][metric, part] in (3.0, 100.0)
    # KID-avg and KID-all order alike whatever the noise: Theorem 1 holds of noisy kernel means too
    for epsilon in (0.003, 3.0):
        pair = known.loc[(epsilon, "kid"), "agreement"]
        assert pair["avg"] == pytest.approx(pair["all"])
    assert known.loc[(np.inf, "kid"), "error"].max() < 1e-12  # features are bounded, nothing is clipped


def test_every_draw_is_what_a_server_would_score():
    """The study takes a shorter way than bytes and `aggregate`; the numbers are the same."""
    metrics, clients = [nm.metrics.FID(), KID_OF_FEATURES], nm.Federation(CLIENTS)
    options = {"clip": 2.0, "epsilons": [0.3, 5.0], "repeats": 2, "samples": 200}
    study = noise_study(clients, GENERATORS, metrics, **options)
    for e, (epsilon, multiplier) in enumerate(zip(study.epsilons, study.multipliers, strict=True)):
        assert multiplier == pytest.approx(nm.federated.noise_multiplier(epsilon, 1e-5, 2))
        streams = [Normals([0, c]) for c in range(len(clients))]
        for r in range(2):
            sent = []
            for client, normals in zip(clients, streams, strict=True):
                private = nm.federated.Privacy(epsilon, 1e-5, 2.0)
                sections = [bounded_section(metric, client.to_sample(), private) for metric in metrics]
                sent.append(write(3, [with_noise(section, multiplier, normals) for section in sections]))
            scores = nm.federated.aggregate(sent, None, GENERATORS, metrics, samples=200)
            for m, name in enumerate(("fid", "kid")):
                np.testing.assert_allclose(study.drawn[e, r, m], scores.values(name)[:2], rtol=1e-12)
    assert (study.clipped[0] != study.exact[0]).all() and study.rows == (400, 300)


def test_few_draws_are_said_with_their_interval(curve):
    """Wilson's interval against its definition: the chances p whose z-test of the count is not beyond 1.96."""
    z = scipy.stats.norm.ppf(0.975)
    for count, draws in ((0, 20), (12, 20), (20, 20), (3, 7)):
        for p, end in zip(wilson(count, draws), ("low", "high"), strict=True):
            if (count, end) in ((0, "low"), (draws, "high")):
                assert p == (end == "high")
            else:
                assert abs(count / draws - p) / np.sqrt(p * (1 - p) / draws) == pytest.approx(z)
    drawn = curve[np.isfinite(curve["epsilon"])]
    assert (drawn["best_low"] <= drawn["best_kept"]).all() and (drawn["best_kept"] <= drawn["best_high"]).all()
    assert (drawn["best_high"] - drawn["best_low"]).min() > 0.2  # of 12 draws
    without = curve[~np.isfinite(curve["epsilon"])]
    assert (without["best_low"] == without["best_high"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("studies", [240, *slow(400)])
def test_the_interval_holds_the_chance_as_often_as_it_says_at_each_epsilon(studies):
    """Where the chance is known: one client, two generators under KID of features, whose difference is then normal.

    Runs share their noise between ε, so that what is kept at one is kept at every larger one, and not within an ε.
    """
    kernel, rng, runs = nm.RandomFeatures(nm.RBF(1.0), 16), np.random.default_rng(0), 20
    rows, near, far = rng.normal(size=(30, 1)), rng.normal(0.3, 1, size=(400, 1)), rng.normal(0.8, 1, size=(400, 1))
    options = {"clip": 1.0, "epsilons": [0.1, 0.5, 1.0, 1.5], "repeats": studies * runs}
    study = noise_study([rows], {"near": near, "far": far}, nm.metrics.KID(kernel), **options)
    kept = study.drawn[:, :, 0, 1, 0] < study.drawn[:, :, 0, 1, 1]
    assert (kept[:-1] <= kept[1:]).all()  # a smaller ε keeps no other run
    apart = kernel.features(near).mean(axis=0) - kernel.features(far).mean(axis=0)
    deviation = 2.0 * np.array(study.multipliers) * (2.0 / 30) * np.linalg.norm(apart)
    for p, found in zip(scipy.stats.norm.cdf((study.exact[0, 1] @ [-1, 1]) / deviation), kept, strict=True):
        assert found.mean() == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / found.size))
        low, high = wilson(found.reshape(-1, runs).sum(axis=1), runs)
        low_of, high_of = wilson(np.arange(runs + 1), runs)
        exact = scipy.stats.binom.pmf(np.arange(runs + 1), runs, p) @ ((low_of <= p) & (p <= high_of))
        assert 0.92 < exact < 0.98
        assert np.mean((low <= p) & (p <= high)) == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / studies))


def test_the_interval_of_20_runs_holds_a_chance_as_often_as_the_guide_says():
    """In 95 % on average, 92 % or more of 6 to 94 %, and 84 % at worst of a chance nearer to 0 or 1."""
    p, runs = np.linspace(0, 1, 4001)[1:-1, None], np.arange(21)
    low, high = wilson(runs, 20)
    covered = (scipy.stats.binom.pmf(runs, 20, p) * ((low <= p) & (p <= high))).sum(axis=1)
    assert covered.mean() == pytest.approx(0.95, abs=0.005)
    assert covered[np.abs(p[:, 0] - 0.5) < 0.44].min() > 0.92 and 0.835 < covered.min() < 0.845


def test_the_order_of_calls_and_the_seed_do_not_matter(curve):
    options = {"clip": 6.0, "epsilons": [0.003], "repeats": 4, "samples": 200}
    first, again = (nm.federated.rank_survival(CLIENTS, GENERATORS, "fid", **options) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    other = nm.federated.rank_survival(CLIENTS, GENERATORS, "fid", **options, seed=1)
    assert (other["error"] != first["error"]).any()


def test_clients_are_noised_apart():
    """Equal rows at two clients are noised by different numbers, so that the noise of all is less."""
    twice = {"a": CLIENTS["a"], "b": CLIENTS["a"].copy()}
    options = {"clip": 6.0, "epsilons": [0.1], "repeats": 30, "samples": 200}
    table = nm.federated.rank_survival(twice, GENERATORS, "fid", **options).set_index(["epsilon", "aggregate"])
    assert table.loc[(0.1, "all"), "error"] < 0.8 * table.loc[(0.1, "avg"), "error"]


def test_the_picture_draws_every_curve(curve):
    figure = nm.federated.plot_survival(curve)
    axes = [ax for ax in figure.axes if ax.get_visible()]
    assert len(axes) == 4 and all(ax.get_xscale() == "log" for ax in axes)
    kept = curve.query("metric == 'fid' and aggregate == 'all' and epsilon < 1000").sort_values("epsilon")
    drawn = [np.asarray(line.get_ydata()).tolist() for line in axes[1].lines]
    assert kept["best_kept"].tolist() in drawn
    (named,) = figure.legends
    assert sum("95 % interval" in text.get_text() for text in named.get_texts()) == 1
    for bad in (None, curve[["epsilon"]], curve[:0]):
        with pytest.raises(nm.InvalidInput, match="table"):
            nm.federated.plot_survival(bad)


REFUSED = {
    "epsilons": {"epsilons": []},
    "epsilon": {"epsilons": [0.0]},
    "repeats": {"repeats": 0},
    "clip": {"clip": -1.0},
    "metrics": {"metrics": "kid"},
    "seed": {"seed": -1},
    "generators": {"generators": {"one": nm.Gaussian([0.0] * 3)}},
}


@pytest.mark.parametrize("argument", REFUSED)
def test_bad_settings_are_refused(argument):
    with pytest.raises(nm.InvalidInput, match=argument):
        nm.federated.rank_survival(
            CLIENTS, **{"generators": GENERATORS, "clip": 6.0, "metrics": "fid", **REFUSED[argument]}
        )
