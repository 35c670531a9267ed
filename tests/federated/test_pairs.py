"""Whether an order survives noise: the definition pair by pair, noise that prefers the best generator, calibration."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.federated.noise_study import noise_study, pair_survival
from nbmetrics.federated.survival import wilson
from tests.calibration.survival import verdicts
from tests.slow import slow


def by_definition(exact, drawn):
    """By rival: (kept, kept if reversed), draw by draw as the definition says it."""
    best, found = min(range(len(exact)), key=exact.__getitem__), {}
    for rival in set(range(len(exact))) - {best}:
        delta, kept, opposite = exact[rival] - exact[best], 0, 0
        for draw in drawn:
            e = (draw[rival] - draw[best]) - delta
            kept += np.sign(delta + e) == np.sign(delta)
            opposite += np.sign(-delta + e) == -np.sign(delta)
        found[rival] = int(kept), int(opposite)
    return best, found


@pytest.mark.parametrize("noise", [0.1, 0.6, 5.0])
@pytest.mark.parametrize("bias", [0.0, 1.0, -1.0])
def test_pairs_are_compared_as_defined(noise, bias):
    rng = np.random.default_rng(3)
    for _ in range(40):
        count, draws = int(rng.integers(2, 6)), int(rng.integers(5, 40))
        exact = rng.normal(size=count)
        drawn = (
            exact + bias * np.arange(count) + noise * rng.normal(size=(draws, count)) + 50 * rng.normal(size=(draws, 1))
        )
        best, pairs = by_definition(exact.tolist(), drawn.tolist())
        found = pair_survival(exact, drawn)
        assert found.best == best and (found.kept, found.kept_if_reversed) == pairs[found.rival]
        assert min(pairs[found.rival]) == min(min(pair) for pair in pairs.values())
        first = sum(int(np.argmin(draw)) == best for draw in drawn)
        least = min(first, *(min(pair) for pair in pairs.values()))
        assert found.first == first and found.survives == (least / draws >= 0.95)
        errors = (drawn[:, found.rival] - drawn[:, best]) - (exact[found.rival] - exact[best])
        assert found.error == pytest.approx(np.sqrt(np.mean(errors**2)))  # the common noise, 50, is not in it
        assert found.difference == exact[found.rival] - exact[best]


def test_the_closest_of_rivals_that_survive_alike_is_named():
    found = pair_survival(np.array([3.0, 1.0, 2.0, 9.0]), np.tile([3.0, 1.0, 2.0, 9.0], (20, 1)))
    assert (found.best, found.rival, found.survives) == (1, 2, True)


def test_generators_that_are_one_keep_their_tie():
    found = pair_survival(np.array([1.0, 1.0]), np.repeat(np.arange(20.0)[:, None], 2, axis=1))
    assert found.survives and found.error == 0.0


def test_19_of_20_survive_and_18_do_not():
    def shown(wrong):
        return np.array([[0.0, -1.0]] * wrong + [[0.0, 1.0]] * (20 - wrong))

    assert pair_survival(np.array([0.0, 1.0]), shown(1)).survives
    assert not pair_survival(np.array([0.0, 1.0]), shown(2)).survives
    beyond = np.array([[0.0, 2.5]] * 2 + [[0.0, 1.0]] * 18)  # noise that would hide the opposite order
    found = pair_survival(np.array([0.0, 1.0]), beyond)
    assert (found.kept, found.kept_if_reversed, found.survives) == (20, 18, False)


@pytest.fixture(scope="module")
def wide_and_narrow():
    """Three clients of 100 rows, a generator that is too wide and one that is too narrow, a little worse by all."""
    rng = np.random.default_rng(0)
    clients = {f"s{k}": rng.normal(0, 1, (100, 16)) for k in range(3)}
    wide, _ = rng.normal(0, 1.15, (2000, 16)), rng.normal(0, 0.87, (2000, 16))
    return clients, {"wide": wide, "narrow": rng.normal(0, 0.80, (2000, 16))}


def test_an_order_that_noise_makes_does_not_survive(wide_and_narrow):
    """Noise of a covariance prefers the wider generator, which by luck is the better one: first in 20 of 20 runs."""
    table = nm.federated.rank_survival(*wide_and_narrow, metrics=["fid"], clip=12.0)
    rows = table[table["aggregate"] == "all"].set_index("epsilon")
    for epsilon in (0.1, 0.3, 1.0):
        row = rows.loc[epsilon]
        assert (row["best_kept"], row["kept"], row["kept_if_reversed"], row["rival"]) == (1.0, 1.0, 0.0, "narrow")
        assert row["difference_error"] > 50 * row["difference"]
        assert (row["kept_low"], row["kept_high"]) == pytest.approx(wilson(20, 20))
        assert (row["reversed_low"], row["reversed_high"]) == pytest.approx(wilson(0, 20))
    assert (rows.loc[30.0, "kept"], rows.loc[30.0, "kept_if_reversed"]) == (0.05, 1.0)
    assert not rows.loc[:30.0, "survives"].any() and rows.loc[np.inf, "survives"]
    assert table.attrs["survives"]["fid", "all"] is None
    assert rows.loc[0.1, "error"] > 20 * rows.loc[0.1, "difference_error"]  # most of it is common to both


def test_what_clipping_alone_decides_does_not_survive_either(wide_and_narrow):
    """A clip below the rows makes them narrow: without noise the wrong one is first, or would be in either case."""
    clients, generators = wide_and_narrow
    study = noise_study(clients, generators, "fid", clip=1.5, epsilons=[1000.0], repeats=3)
    shown = study.clipped[0, :, 0] - study.clipped[0, :, 1]
    assert (shown > 0.5).all()  # "narrow" is better by far
    table = nm.federated.rank_survival(clients, generators, "fid", clip=1.5, epsilons=[1000.0], repeats=3)
    assert not table["survives"].any()


@pytest.mark.slow
@pytest.mark.parametrize("federations", [2, *slow(20)])
def test_an_order_survives_where_it_stands_out_of_the_noise_and_nowhere_else(federations):
    """Of federations whose differences are below a fifth of what noise adds to them none survives, above five all."""
    for there, said, _ in verdicts("noise", federations).values():
        assert (there, said) == (federations, 0)
    for there, said, _ in verdicts("signal", federations).values():
        assert (there, said) == (federations, federations)
