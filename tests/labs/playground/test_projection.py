"""The plane in which the Playground shows wider rows: scikit-learn's, stated, and refused where there is none."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import nbmetrics as nm
from tests.labs.inside import picture_of, words_of
from tests.labs.playground.high_dimensional_rows import MODELS, RNG, SITES, D, assert_result_is, lab_of


def pooled_rows():
    return np.concatenate(list(SITES.values())), np.repeat([0, 1, 2], [len(rows) for rows in SITES.values()])


def shown_points(lab, name):
    return np.array(lab.data[name]["points"])


def assert_same_up_to_sign(found, expected):
    for axis in (0, 1):
        same = min(np.abs(found[:, axis] - sign * expected[:, axis]).max() for sign in (1, -1))
        assert same <= 1e-9 * np.abs(expected).max()


def test_the_plane_is_scikit_learns_pca():
    lab = lab_of()
    rows, _ = pooled_rows()
    model = PCA(D, svd_solver="full").fit(rows)
    for name, given in {**SITES, **MODELS}.items():
        assert_same_up_to_sign(shown_points(lab, name), model.transform(given)[:, :2])
    share = 100 * model.explained_variance_ratio_[:2].sum()
    assert f": {share:.0f} % of the variance" in lab.scene["plane"]["words"]


def test_the_plane_is_scikit_learns_lda():
    lab = lab_of(plane="lda")
    model = LinearDiscriminantAnalysis().fit(*pooled_rows())
    for name, given in {**SITES, **MODELS}.items():
        assert_same_up_to_sign(shown_points(lab, name), model.transform(given))
    assert "(LDA)" in lab.scene["plane"]["words"] and "alike" not in lab.scene["plane"]["words"]


def test_beside_a_single_discriminant_stands_the_rest():
    two = {name: SITES[name] for name in ("north", "south")}
    lab = lab_of(two, plane="lda")
    rows = np.concatenate(list(two.values()))
    across = LinearDiscriminantAnalysis().fit(rows, np.repeat([0, 1], [70, 50]))
    found = np.concatenate([shown_points(lab, name) for name in two])
    np.testing.assert_allclose(np.abs(np.corrcoef(found[:, 0], across.transform(rows)[:, 0])[0, 1]), 1, rtol=1e-9)
    assert found[:, 1].std() > 0 and "principal component of the rest" in lab.scene["plane"]["words"]


@pytest.mark.parametrize("direction", [[1.0], [1.0, -2.0, 0.5]])
def test_where_rows_have_one_direction_lda_shows_no_other(direction):
    along = np.random.default_rng(0).normal([[[0.0]], [[3.0]]], 1.0, (2, 40, 1))
    lab = nm.Playground(dict(zip("ab", along @ [direction], strict=True)), plane="lda")
    points = np.concatenate([shown_points(lab, name) for name in "ab"])
    assert points[:, 0].std() > 1 and not points[:, 1].any()
    assert "no other" in lab.scene["plane"]["words"] and "the rest" not in lab.scene["plane"]["words"]


def test_lda_of_few_rows_pulls_apart_clients_that_are_alike_and_says_so():
    rng = np.random.default_rng(0)
    alike = {name: rng.normal(size=(20, 30)) for name in "ab"}
    lab = lab_of(alike, {name: rng.normal(size=(20, 30)) for name in ("g", "h")}, plane="lda")

    def apart(one, other):
        first, second = (shown_points(lab, name)[:, 0] for name in (one, other))
        return abs(first.mean() - second.mean()) / np.hypot(first.std(), second.std())

    assert apart("a", "b") > 2 > 1 > apart("g", "h")
    assert "separates even clients that are alike" in lab.scene["plane"]["words"]


@pytest.mark.parametrize("plane", [(2, 7), ("c2", "c7")])
def test_two_columns_are_shown_in_standard_deviations(plane):
    frames = {name: pd.DataFrame(rows, columns=[f"c{k}" for k in range(D)]) for name, rows in SITES.items()}
    lab = lab_of(frames, plane=plane)
    rows, _ = pooled_rows()
    for name, given in {**SITES, **MODELS}.items():
        scaled = (given - rows.mean(axis=0)) / rows.std(axis=0)
        np.testing.assert_allclose(shown_points(lab, name), scaled[:, [2, 7]], rtol=1e-9, atol=1e-12)
    assert all(word in lab.scene["plane"]["words"] for word in ("2", "7"))


def test_names_of_columns_survive_a_partition():
    frame = pd.DataFrame(pooled_rows()[0], columns=[f"c{k}" for k in range(D)])
    federation = nm.Federation.from_labels(frame, pooled_rows()[1])
    assert nm.Playground(federation, MODELS, plane=("c0", "c1")).scene["plane"]["columns"] == ["c0", "c1"]


def test_what_is_drawn_has_the_moments_of_the_features():
    distribution = nm.Gaussian(np.arange(D) / 4, np.linspace(0.5, 2, D))
    lab = lab_of(SITES, {**MODELS, "distribution": distribution})
    axes = PCA(2, svd_solver="full").fit(pooled_rows()[0])
    for name, (mean, cov) in {
        "north": (SITES["north"].mean(axis=0), np.cov(SITES["north"].T)),
        "distribution": (distribution.mean, distribution.cov),
    }.items():
        found, (a, b, c) = lab.data[name]["mean"], lab.data[name]["cov"]
        np.testing.assert_allclose(np.abs(found), np.abs(axes.transform([mean])[0]), rtol=1e-9)
        inside = axes.components_ @ cov @ axes.components_.T
        np.testing.assert_allclose([a, abs(b), c], [inside[0, 0], abs(inside[0, 1]), inside[1, 1]], rtol=1e-9)


@pytest.mark.parametrize(
    ("clients", "generators", "settings", "says"),
    [
        ({"a": np.zeros((5, 3)), "b": np.zeros((5, 4))}, None, {}, "'b' has 4 features, 'a' has 3"),
        (SITES, {"g": np.zeros((5, 4))}, {}, "g: has 4 features where 9"),
        (SITES, {"g": nm.Gaussian([0, 0])}, {}, "g: has 2 dimensions where 9"),
        ({"a": np.full((5, 3), np.nan)}, None, {}, "NaN"),
        ({"a": pd.DataFrame({"x": [1.0, 2.0], "city": ["Rome", "Oslo"]})}, None, {}, "not numbers.*city"),
        ({"a": pd.DataFrame({"x": pd.array([1, None], "Int64"), "y": 1, "z": 2})}, None, {}, "1 value is missing"),
        ({f"c{k}": np.eye(4) + k for k in range(50)}, None, {}, "clients: are 50. Show 24 at most"),
        (SITES, {f"g{k}": MODELS["near"] for k in range(13)}, {}, "generators: are 13. Show 12"),
        (SITES, MODELS, {"metric": "cfid"}, "metric: is 'cfid': it reads the two axes"),
        (SITES, MODELS, {"metric": "fld"}, "held-out rows"),
        (SITES, MODELS, {"samples": 40}, "samples: works with two features"),
        (SITES, MODELS, {"plane": "lfa"}, "Did you mean 'lda'"),
        (SITES, MODELS, {"plane": (0, 9)}, "Give numbers from 0 to 8"),
        (SITES, MODELS, {"plane": (-1, 2)}, "Give numbers from 0 to 8"),
        (SITES, MODELS, {"plane": (3, 3)}, "not the same"),
        (SITES, MODELS, {"plane": ("a", "b")}, "not data frames"),
        (SITES, MODELS, {"plane": (0, "b")}, "two columns"),
        (SITES, MODELS, {"plane": 7}, "plane: got 7"),
        ({"a": SITES["north"]}, MODELS, {"plane": "lda"}, "one client"),
        ({"a": np.ones((5, 3)), "b": np.ones((5, 3))}, None, {"plane": "lda"}, "one mean or no variance"),
        ({"a": np.eye(2), "b": np.eye(2)}, None, {"plane": "pca"}, "already a plane"),
        ([nm.Client(SITES["north"], condition=SITES["north"])], MODELS, {}, "have a condition"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_the_reason(clients, generators, settings, says):
    with pytest.raises(nm.InvalidInput, match=says):
        nm.Playground(nm.Federation(clients), generators, **settings)


def constant(rows):
    return {"a": np.c_[rows, np.ones(len(rows))], "b": np.c_[rows + 1, np.ones(len(rows))]}


@pytest.mark.parametrize(
    "clients",
    [
        constant(RNG.normal(size=(30, 5))),
        {"a": np.ones((6, 4)), "b": np.ones((5, 4))},
        {"one": RNG.normal(size=(40, 6))},
        {"few": RNG.normal(size=(4, 40)), "more": RNG.normal(size=(6, 40))},
        {"a": RNG.normal(size=(9, 1)), "b": RNG.normal(2, 1, size=(8, 1))},
        {"huge": RNG.normal(size=(9, 3)) * 1e9, "b": RNG.normal(size=(8, 3)) * 1e9},
        {"tiny": RNG.normal(size=(9, 3)) * 1e-9, "b": RNG.normal(size=(8, 3)) * 1e-9},
        {"offset": 1e7 + RNG.normal(size=(9, 3)), "b": 1e7 + RNG.normal(size=(8, 3))},
        {f"c{k}": RNG.normal(size=(5, 3)) for k in range(24)},
        {"distribution": nm.Gaussian(np.zeros(5)), "rows": nm.Client(RNG.normal(size=(20, 5)), weight=2.0)},
    ],
    ids=["constant feature", "constant", "one", "n < d", "d = 1", "huge", "tiny", "offset", "24", "distribution"],
)
def test_hostile_rows_are_shown_and_scored(clients):
    parts = [c if isinstance(c, nm.Client) else nm.Client(c, weight=1.0) for c in clients.values()]
    federation = nm.Federation({name: p for name, p in zip(clients, parts, strict=True)})
    rows = federation.clients[-1].rows
    lab = nm.Playground(federation, {"g": rows[::-1] * 1.1})
    assert_result_is(lab, nm.evaluate(federation, {"g": rows[::-1] * 1.1}))
    assert 0.001 <= lab.scene["half"] <= 1e6
    assert picture_of(lab) is not None and lab.scene["plane"]["words"] in words_of(lab)
