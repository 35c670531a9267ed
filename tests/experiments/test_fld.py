"""FLD's Proposition 1 and the number of generated rows, as experiments."""

import numpy as np
import pytest
from scipy.special import logsumexp

import nbmetrics as nm
from nbmetrics import experiments
from nbmetrics.metrics.base import Sample
from nbmetrics.metrics.fld import fitted_density
from nbmetrics.summaries.rows import Rows


class TestCopiedWidth:
    def test_the_width_of_a_near_copy_is_its_distance_by_the_root_of_the_dimension(self):
        table = experiments.copied_width((1e-6, 1e-3, 0.01))
        np.testing.assert_allclose(table["delta"], table["moved"], rtol=1e-6)
        np.testing.assert_allclose(table["sigma"], table["delta"] / 2**0.5, rtol=1e-3)
        np.testing.assert_allclose(table["ratio"], 1, rtol=1e-3)
        assert table["found"].between(0.75, 1).all()

    def test_in_many_dimensions_every_near_copy_is_found(self):
        rng = np.random.default_rng(0)
        table = experiments.copied_width((1e-6, 0.01), data=list(rng.normal(size=(3, 100, 16))))
        np.testing.assert_allclose(table["sigma"], table["moved"] / 4, rtol=1e-3)
        assert (table["found"] == 1).all()

    def test_far_away_the_width_is_bounded_by_the_data_and_delta_is_to_the_nearest_point(self):
        table = experiments.copied_width((3.0, 10.0))
        assert (table["delta"] < table["moved"]).all() and (table["found"] <= 1).all()

    def test_where_a_bump_stays_wide_the_narrow_one_has_the_higher_likelihood(self):
        # That is the proposition's maximum; the fit ended in a lower one.
        rng = np.random.default_rng(0)
        train, test, made = (nm.TwoMoons().sample(200, rng) for _ in range(3))
        spread = test.std(axis=0, ddof=1)
        made[:20] = train[:20] + 1e-6 * spread
        variance = fitted_density(Rows.of(Sample(rows=train, test=test)), made).variance
        squared = np.sum(((train[:, None] - made) / spread) ** 2, axis=2)

        def likelihood(v):
            return np.mean(logsumexp(-squared / (2 * v) - np.log(v), axis=1))

        stuck = np.flatnonzero(variance[:20] > 1e-10)
        assert len(stuck)
        for j in stuck:
            narrow = np.where(np.arange(200) == j, squared[:, j].min() / 2, variance)
            assert likelihood(narrow) > likelihood(variance)


class TestGeneratedSize:
    def test_fld_stays_where_it_is_and_fid_falls(self):
        rng = np.random.default_rng(0)
        train, test, made = rng.normal(size=(800, 8)), rng.normal(size=(500, 8)), 1.2 * rng.normal(size=(900, 8))
        rows = {"train": train, "test": test, "generated": made}
        table = experiments.generated_size((50, 100, 400), repeats=4, **rows)
        assert (np.abs(table["fld"] - table["fld"].iloc[-1]) < 2 * table["fld_sd"].max()).all()
        assert table["fid"].is_monotonic_decreasing and table["fid"][0] > 1.5 * table["fid"].iloc[-1]

    def test_a_row_is_the_mean_over_draws(self):
        rng = np.random.default_rng(1)
        train, test, made = rng.normal(size=(3, 60, 3))
        table = experiments.generated_size((20, 60), train=train, test=test, generated=made, repeats=2)
        whole = table.iloc[1]  # all the rows there are, by two baselines
        flds = [nm.fld(train, test, made, seed) for seed in (0, 1)]
        assert whole["fld"] == pytest.approx(np.mean(flds), abs=1e-6) and flds[0] != flds[1]
        assert whole["fid"] == pytest.approx(nm.fid(test, made), rel=1e-9)
        assert whole["fid_sd"] == pytest.approx(0, abs=1e-9) and table["fid_sd"][0] > 0.01


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: experiments.copied_width(0), "moved"),
        (lambda: experiments.copied_width(copies=0), "copies"),
        (lambda: experiments.copied_width(copies=31, points=30), "copies"),
        (lambda: experiments.copied_width(points=3), "points"),
        (lambda: experiments.copied_width(data="moon"), "data"),
        (lambda: experiments.generated_size(1), "size"),
        (lambda: experiments.generated_size(repeats=1), "repeats"),
        (lambda: experiments.generated_size(train=np.eye(3)), "test"),
        (lambda: experiments.generated_size(9, train=np.eye(3), test=np.eye(3), generated=np.eye(3)), "size"),
    ],
)
def test_bad_input_is_named(call, argument):
    with pytest.raises(nm.InvalidInput, match=f"^{argument}: "):
        call()
