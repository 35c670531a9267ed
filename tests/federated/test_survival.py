"""At which ε the order of generators survives: the table, its extremes, and its picture."""

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm

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
    assert curve.columns.tolist() == ["epsilon", "metric", "aggregate", "agreement", "best_kept", "error"]
    assert len(curve) == 4 * 2 * 2 and sorted(set(curve["epsilon"])) == [0.003, 3.0, 100.0, np.inf]
    known = curve.set_index(["epsilon", "metric", "aggregate"])
    assert (known.loc[100.0, "agreement"] == 1.0).all() and (known.loc[100.0, "best_kept"] == 1.0).all()
    assert (known.loc[0.003, "agreement"] < 0.9).all()
    for metric in ("fid", "kid"):
        for part in ("avg", "all"):
            errors = [known.loc[(e, metric, part), "error"] for e in (0.003, 3.0, 100.0, np.inf)]
            assert errors == sorted(errors, reverse=True)
            assert curve.attrs["survives"][metric, part] in (3.0, 100.0)
    # KID-avg and KID-all order alike whatever the noise: Theorem 2 holds of noisy kernel means too
    for epsilon in (0.003, 3.0):
        pair = known.loc[(epsilon, "kid"), "agreement"]
        assert pair["avg"] == pytest.approx(pair["all"])
    assert known.loc[(np.inf, "kid"), "error"].max() < 1e-12  # features are bounded, nothing is clipped


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
}


@pytest.mark.parametrize("argument", REFUSED)
def test_bad_settings_are_refused(argument):
    with pytest.raises(nm.InvalidInput, match=argument):
        nm.federated.rank_survival(CLIENTS, GENERATORS, **{"clip": 6.0, "metrics": "fid", **REFUSED[argument]})
