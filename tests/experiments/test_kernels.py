"""K1: which estimators of KID are right on average, which are noisy, and why kernels do not compare."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

import nbmetrics as nm

DIM = 16
estimators = nm.experiments.kid_estimators


@pytest.fixture(scope="module")
def table():
    return estimators((16, 32, 64, 128), draws=60, subsets=4, size=8)


@pytest.fixture(scope="module")
def overlapping():
    return estimators((20, 128), kernels="cubic", draws=40, subsets=50, size=64)


def gaussian_cubic(shift, scale=1, kept=DIM):
    """KID of N(0, I) and N(m, I), d features, m = shift each, from the moments of x·y: kernel ((x·y)/d + 1)³.

    Both times `scale`, and with only `kept` of the features, the others 0.
    """
    m, unit = kept * shift**2, scale**2 / DIM

    # the moments of s = x·y for independent x ~ N(a, I), y ~ N(b, I), with p = a·b and q = |a|² + |b|²
    def mean(p, q):
        first, second = p, p**2 + q + kept
        third = p**3 + 3 * p * (q + kept) + 6 * p
        return 1 + 3 * first * unit + 3 * second * unit**2 + third * unit**3

    return mean(0, 0) + mean(m, 2 * m) - 2 * mean(0, m)


def gaussian_rbf(shift, scale=1, kept=DIM):
    """The same under the RBF kernel: σ² = d, E k = (d / (d + 2s²))^{kept/2} exp(−s²|m|² / 2(d + 2s²))."""
    wide = DIM + 2 * scale**2
    return 2 * (DIM / wide) ** (kept / 2) * (1 - np.exp(-kept * (scale * shift) ** 2 / (2 * wide)))


@pytest.mark.slow
def test_the_exact_value_is_the_moment_formula(table):
    cubic = table[table["kernel"] == "cubic"]
    np.testing.assert_allclose(cubic["kid_exact"], gaussian_cubic(0.25), rtol=1e-12)


def test_the_exact_value_of_rbf_is_its_integral(table):
    np.testing.assert_allclose(table[table["kernel"] == "RBF"]["kid_exact"], gaussian_rbf(0.25), rtol=1e-12)


@pytest.mark.parametrize("name", ["kid_unbiased", "kid_linear", "kid_subsets"])
def test_three_estimators_are_right_on_average_at_every_n(table, name):
    error = table[f"{name}_sd"] / np.sqrt(60)
    assert (abs(table[name] - table["kid_exact"]) < 4 * error).all()


def test_the_biased_estimator_is_too_large_by_a_constant_over_n(table):
    for _, rows in table.groupby("kernel"):
        bias = rows["kid_biased"] - rows["kid_exact"]
        assert (bias > 4 * rows["kid_biased_sd"] / np.sqrt(60)).all()
        # the two differ by (E k(x, x) − E k(x, x′) + the same of y) / n, with less noise than either has
        constant = rows["n"] * (rows["kid_biased"] - rows["kid_unbiased"])
        np.testing.assert_allclose(constant, constant.mean(), rtol=0.1)


def test_linear_time_and_few_subsets_cost_precision(table):
    assert (table["kid_linear_sd"] > 1.5 * table["kid_unbiased_sd"]).all()
    assert (table["kid_subsets_sd"] > 1.2 * table["kid_unbiased_sd"]).all()


@pytest.mark.slow
def test_kid_std_is_no_uncertainty(overlapping):
    whole, half = overlapping.iloc[0], overlapping.iloc[1]
    # each subset is the whole sample: no spread between them, though the score varies as ever
    assert whole["kid_std"] < 1e-12 < 0.01 < whole["kid_subsets_sd"]
    assert whole["kid_subsets"] == pytest.approx(whole["kid_unbiased"], rel=1e-10)
    # subsets of half the rows are far from independent
    assert half["kid_subsets_sd"] > 4 * half["kid_std"] / np.sqrt(50)


def test_kernels_differ_in_unit_and_order_generators_differently():
    real = nm.Gaussian([0] * DIM)
    shifted = nm.Gaussian([0.25] * DIM)
    outliers = nm.Mixture([real, nm.Gaussian([4] * DIM)], [0.98, 0.02])
    scores = {}
    for name, generated in (("shifted", shifted), ("outliers", outliers)):
        table = estimators(64, real=real, generated=generated, draws=4, subsets=2, size=8)
        scores[name] = table.set_index("kernel")["kid_exact"]
    assert scores["shifted"]["cubic"] < 0.2 * scores["outliers"]["cubic"]
    assert scores["outliers"]["RBF"] < 0.2 * scores["shifted"]["RBF"]


def test_papers_print_it_times_100(table):
    np.testing.assert_array_equal(table["kid_x100"], 100 * table["kid_unbiased"])


def test_the_same_distributions_have_other_values_in_other_features(table):
    for name, value in (("cubic", gaussian_cubic), ("RBF", gaussian_rbf)):
        rows = table[table["kernel"] == name]
        np.testing.assert_allclose(rows["kid_doubled"], value(0.25, scale=2), rtol=1e-11)
        np.testing.assert_allclose(rows["kid_pca"], value(0.25, kept=DIM // 2), rtol=1e-11)


def test_features_order_generators_in_their_own_way():
    real = nm.Gaussian([0] * 4, [4, 3, 1, 1])
    scores = {}
    for name, mean in (("leading", [0.6, 0, 0, 0]), ("trailing", [0, 0, 0, 0.8])):
        table = estimators(8, kernels="cubic", real=real, generated=nm.Gaussian(mean, real.cov), draws=2, subsets=2)
        scores[name] = table.iloc[0]
    assert scores["leading"]["kid_exact"] < scores["trailing"]["kid_exact"]
    assert scores["leading"]["kid_pca"] > 1e-3 > abs(scores["trailing"]["kid_pca"])


def test_other_features_of_rows_are_those_of_the_rows():
    rng = np.random.default_rng(5)
    real, generated = rng.normal(3, (3, 1, 0.5), (40, 3)), rng.normal(2.5, 1, (30, 3))
    row = estimators(8, kernels="cubic", real=real, generated=generated, draws=2, subsets=2).iloc[0]
    assert row["kid_doubled"] == pytest.approx(nm.kid(2 * real, 2 * generated, estimator="biased"), rel=1e-10)
    model = PCA(2).fit(real)
    rebuilt = [model.inverse_transform(model.transform(rows)) for rows in (real, generated)]
    assert row["kid_pca"] == pytest.approx(nm.kid(*rebuilt, estimator="biased"), rel=1e-9)


def test_rows_are_the_population_that_is_drawn_from():
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(60, 3)), rng.normal(0.4, 1, size=(50, 3))
    table = estimators(30, real=real, generated=generated, draws=80, subsets=2, size=8)
    for _, row in table.iterrows():
        kernel = nm.Polynomial(3) if row["kernel"] == "cubic" else nm.RBF()
        assert row["kid_exact"] == pytest.approx(nm.kid(real, generated, kernel, "biased"), rel=1e-10)
        assert abs(row["kid_unbiased"] - row["kid_exact"]) < 4 * row["kid_unbiased_sd"] / np.sqrt(80)


def test_estimates_are_the_scores_of_kid():
    table = estimators(40, kernels={"narrow": nm.RBF(2)}, draws=2, subsets=2, size=16, seed=7).iloc[0]
    distributions = nm.Gaussian([0] * DIM), nm.Gaussian([0.25] * DIM)
    pairs = []
    for draw in range(2):
        rng = np.random.default_rng([7, 40, draw])
        pairs.append([distribution.sample(40, rng) for distribution in distributions])
    for name in ("biased", "unbiased", "linear"):
        values = [nm.kid(*pair, nm.RBF(2), name) for pair in pairs]
        assert table[f"kid_{name}"] == pytest.approx(np.mean(values), rel=1e-12)
        assert table[f"kid_{name}_sd"] == pytest.approx(np.std(values, ddof=1), rel=1e-10)
    parts = np.array([[nm.kid(*pair, nm.RBF(2), nm.Subsets(1, 16, seed)) for seed in (7, 8)] for pair in pairs])
    assert table["kid_subsets"] == pytest.approx(parts.mean(), rel=1e-12)
    assert table["kid_std"] == pytest.approx(parts.std(axis=1).mean(), rel=1e-10)


def test_whole_numbers_may_be_floats():
    some = {"kernels": "cubic", "draws": 2, "subsets": 2}
    assert estimators(8, size=4, seed=1, **some).equals(estimators(8.0, size=4.0, seed=1.0, **some))


def test_the_median_bandwidth_is_settled_once():
    table = estimators((8, 16), kernels={"median": nm.RBF("median")}, draws=2, subsets=2, size=8)
    assert table["kid_exact"].nunique() == 1 and "median" not in table.attrs["conventions"][0].split("σ = ")[1]


@pytest.mark.parametrize(
    ("arguments", "blamed"),
    [
        ({"n": [16, 1]}, "n"),
        ({"kernels": "cubid"}, "kernels"),
        ({"kernels": []}, "kernels"),
        ({"kernels": 3}, "kernels"),
        ({"kernels": {"narrow": "rbf"}}, "kernels['narrow']"),
        ({"kernels": {"user's": lambda x, y: x @ y.T}}, "real"),
        ({"real": nm.TwoMoons(), "generated": nm.Gaussian([0, 0])}, "real"),
        ({"real": nm.Gaussian([0, 0]), "generated": nm.Gaussian([0, 0, 0])}, "generated"),
        ({"real": nm.Gaussian([0, 0])}, "generated"),
        ({"draws": 1}, "draws"),
        ({"subsets": 1}, "subsets"),
        ({"size": 1}, "size"),
        ({"seed": 0.5}, "seed"),
    ],
)
def test_bad_arguments_are_named(arguments, blamed):
    with pytest.raises(nm.InvalidInput) as raised:
        estimators(**arguments)
    assert raised.value.argument == blamed


def test_means_and_spreads_are_drawn_for_each_kernel(table):
    figure = nm.figures.draw(table)
    assert [ax.get_title() for ax in figure.axes] == ["cubic kernel", "RBF kernel", "", ""]
    assert all(ax.get_xlabel() == "rows a side, n" and ax.get_xscale() == "log" for ax in figure.axes)
    assert ["mean" in ax.get_ylabel() for ax in figure.axes] == [True, True, False, False]
    drawn = {line.get_label(): line for line in figure.axes[1].get_lines()}
    rbf = table[table["kernel"] == "RBF"]
    np.testing.assert_array_equal(drawn["unbiased"].get_ydata(), rbf["kid_unbiased"])
    np.testing.assert_array_equal(drawn["exact"].get_ydata(), rbf["kid_exact"].iloc[0])
    exact = 100 * rbf.iloc[0][["kid_exact", "kid_doubled", "kid_pca"]].astype(float)
    assert [line.split(": ")[1] for line in figure.axes[1].texts[0].get_text().splitlines()[1:]] == [
        f"{value:.3g}" for value in exact
    ]
    below = {line.get_label(): line for line in figure.axes[3].get_lines()}
    np.testing.assert_allclose(below["kid_std / √subsets"].get_ydata(), rbf["kid_std"] / 2)
    figure.canvas.draw()
