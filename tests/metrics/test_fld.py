"""FLD beside the authors' numbers, their Adam fit written out, and what the score is meant to show."""

import json
from functools import cache

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.datasets import load_digits, make_moons

import nbmetrics as nm
from nbmetrics.metrics import mixture as mixture_fit
from nbmetrics.metrics.fld import fld, fld_gap, memorization_scores, quality_scores
from tests import golden
from tests.slow import by_default, slow

SETS = ("copy2", "copy32", "copyshift16")
# By default the hard ones: few rows, many features. MemorizationLab's tests score copy2.
OF_MANY_FEATURES = by_default(SETS, "copy32", "copyshift16")
GENERATED = ("fresh", "half_copied", "copied", "wide")
DEGENERATE = 100.0


@cache
def rows(name):
    with np.load(golden.FOLDER / f"{name}.npz") as stored:
        return dict(stored)


def peers(name, generated):
    return golden.PEERS[name][generated]


@cache
def ours(name, generated):
    """FLD-test and FLD-train averaged over 8 seeds, and the gap, as the peers report them."""
    z = rows(name)
    gap = fld_gap(z["train"], z["test"], z[generated])
    test = float(np.mean([fld(z["train"], z["test"], z[generated], seed) for seed in range(8)]))
    return {"fld_test": test, "fld_train": test + gap, "fld_gap": gap}


# --- the authors' numbers


@pytest.mark.parametrize("name", OF_MANY_FEATURES)
@pytest.mark.parametrize("generated", by_default(GENERATED, "half_copied"))
def test_golden_scores_are_the_authors(name, generated):
    for key, value in ours(name, generated).items():
        theirs = peers(name, generated)[key]
        if abs(theirs["mean"]) > DEGENERATE and abs(peers(name, generated)["fld_test"]["mean"]) > DEGENERATE:
            assert np.sign(value) == np.sign(theirs["mean"])
            continue
        allowed = max(3 * theirs["sd_over_8_shuffles"] + 1.5, 0.03 * abs(theirs["mean"]))
        assert abs(value - theirs["mean"]) <= allowed, key


@pytest.mark.parametrize("key", ["fld_test", "fld_train", "fld_gap"])
@pytest.mark.parametrize("name", OF_MANY_FEATURES)
def test_golden_order_is_the_authors(name, key):
    def order(scores):
        return sorted(("fresh", "half_copied", "copied"), key=scores.__getitem__)

    assert order({g: ours(name, g)[key] for g in GENERATED}) == order(
        {g: peers(name, g)[key]["mean"] for g in GENERATED}
    )


@pytest.mark.parametrize("name", OF_MANY_FEATURES)
def test_golden_memorization_and_quality_quantiles(name):
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    for generated in ("fresh", "half_copied", "copied"):
        z = rows(name)
        three = z["train"], z["test"], z[generated]
        for scores, key in ((memorization_scores, "memorization"), (quality_scores, "quality")):
            theirs = peers(name, generated)[f"{key}_quantiles"]
            np.testing.assert_allclose(np.quantile(scores(*three), levels), theirs, atol=0.13)


# --- the fit


def adam(train, centres, dim, epochs=50, rate=0.5):
    """The reference's fit: log σ² by Adam on all rows, ≤ 50 epochs, stopped when the loss no longer falls."""
    m = len(centres)
    apart = ((train[:, None, :] - centres) ** 2).sum(2)
    apart = np.column_stack([apart, 0.81 * ((train - train.mean(0)) ** 2).sum(1)])
    log_weight = np.append(np.full(m, -np.log(m)), 0.0)
    log_var = np.log((apart.min(0) + 1e-3) / dim)
    first, second, best, waited = np.zeros(m + 1), np.zeros(m + 1), np.inf, 0
    for step in range(1, epochs + 1):
        joint = log_weight - 0.5 * apart * np.exp(-log_var) - 0.5 * dim * log_var
        total = logsumexp(joint, axis=1)
        loss = -total.mean() / dim + 0.5 * np.log(2 * np.pi)
        waited = 0 if loss < best - 1e-4 else waited + 1
        best = min(best, loss)
        if waited > 3:
            break
        share = np.exp(joint - total[:, None])
        slope = (0.5 * share * (dim - apart * np.exp(-log_var))).mean(0) / dim
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        log_var = log_var - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        log_var = np.clip(log_var, -40, 40)
    return best


@pytest.mark.parametrize(("name", "slack"), [("copy2", 0.005), ("copyshift16", 0.0), ("copy32", 0.0)])
@pytest.mark.parametrize("generated", GENERATED)
def test_the_objective_is_no_worse_than_the_references_adam(name, slack, generated):
    z = {key: value[:250].astype(float) for key, value in rows(name).items()}
    scale = mixture_fit.Scale.of(z["test"])
    fitted = mixture_fit.fit(z["train"], z[generated], scale)
    theirs = adam(scale(z["train"]), scale(z[generated]), scale.dim)
    assert -fitted.objective <= theirs + slack


def plain_em(train, centres, dim, passes):
    """EM as the formula writes it, and the objective after each pass."""
    m = len(centres)
    apart = ((train[:, None, :] - centres) ** 2).sum(2)
    apart = np.column_stack([apart, 0.81 * ((train - train.mean(0)) ** 2).sum(1)])
    log_weight = np.append(np.full(m, -np.log(m)), 0.0)
    log_var, objective = np.log((apart.min(0) + 1e-3) / dim), []
    for _ in range(passes):
        joint = log_weight - 0.5 * apart * np.exp(-log_var) - 0.5 * dim * (log_var + np.log(2 * np.pi))
        total = logsumexp(joint, axis=1)
        objective.append(total.mean() / dim)
        share = np.exp(joint - total[:, None])
        log_var = np.clip(np.log((share * apart).sum(0) / (dim * share.sum(0))), -40, 40)
    return objective


@pytest.mark.parametrize("name", by_default(SETS, "copy2"))  # where plain EM needs most passes
def test_the_fit_reaches_what_plain_em_reaches_in_fewer_passes(name):
    z = {key: value[:200].astype(float) for key, value in rows(name).items()}
    scale = mixture_fit.Scale.of(z["test"])
    fitted = mixture_fit.fit(z["train"], z["fresh"], scale)
    long = plain_em(scale(z["train"]), scale(z["fresh"]), scale.dim, 400)
    assert fitted.objective == pytest.approx(long[-1], abs=2e-4)
    steps = mixture_fit._EStep(fitted.fitted_to)
    assert steps(steps.start()).objective == pytest.approx(long[0], abs=1e-12)
    assert fitted.passes <= 60


def test_an_accepted_pass_never_lowers_the_objective(monkeypatch):
    seen = []
    call = mixture_fit._EStep.__call__
    monkeypatch.setattr(mixture_fit._EStep, "__call__", lambda self, x: seen.append(call(self, x)) or seen[-1])
    z = rows("copy2")
    fitted = mixture_fit.fit(z["train"], z["half_copied"], mixture_fit.Scale.of(z["test"]))
    assert fitted.objective >= max(point.objective for point in seen) - 1e-15
    for point in seen:
        again = call(mixture_fit._EStep(fitted.fitted_to), point.update)
        assert again.objective >= point.objective - 1e-12


def test_densities_are_those_of_the_mixture():
    rng = np.random.default_rng(3)
    train, test, made = (rng.normal(size=(n, 3)) * [1, 5, 0.2] + 7 for n in (90, 40, 60))
    scale = mixture_fit.Scale.of(test)
    np.testing.assert_allclose(scale(test), (test - test.mean(0)) / test.std(0, ddof=1), rtol=1e-12)
    fitted = mixture_fit.fit(train, made, scale)
    parts = [nm.Gaussian(c, np.exp(v)) for c, v in zip(scale(made), fitted.log_variance)]
    mixture = nm.Mixture(parts)
    np.testing.assert_allclose(fitted.at(test), mixture.log_prob(scale(test)) / 3, rtol=1e-10)
    np.testing.assert_allclose(fitted.at_fitted_rows(), mixture.log_prob(scale(train)) / 3, rtol=1e-10)
    highest = [part.log_prob(scale(train)).max() / 3 for part in parts]
    np.testing.assert_allclose(memorization_scores(train, test, made), highest, rtol=1e-10)


def test_distances_not_kept_give_the_same_fit(monkeypatch):
    z = rows("copy32")
    expected = fld(z["train"], z["test"], z["half_copied"])
    monkeypatch.setattr(mixture_fit, "KEPT_BYTES", 0)
    monkeypatch.setattr(mixture_fit.memory, "block_bytes", 2**16)
    monkeypatch.setattr(mixture_fit, "CACHE_BYTES", 2**13)
    assert fld(z["train"], z["test"], z["half_copied"]) == pytest.approx(expected, abs=1e-8)


# --- what it is meant to show


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("jitter", [0.0, 1e-4])
def test_planted_copies_come_first_by_memorization(dtype, jitter):
    rng = np.random.default_rng(5)
    train, test, made = (100 + rng.normal(size=(400, 48)) for _ in range(3))
    planted = [3, 77, 250, 399]
    made[planted] = train[[11, 12, 13, 14]]
    made[planted] += jitter * rng.normal(size=(4, 48))
    three = [x.astype(dtype) for x in (train, test, made)]
    scores = memorization_scores(*three)
    assert set(np.argsort(scores)[-4:]) == set(planted)
    if jitter == 0:
        np.testing.assert_allclose(scores[planted], 20 - 0.5 * np.log(2 * np.pi), rtol=1e-12)
    else:
        assert 5 < scores[planted].min() < scores[planted].max() < 10
    rest = np.delete(scores, planted)
    assert rest.max() < 0


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_an_exact_copy_is_at_distance_zero_and_near_ones_keep_their_digits(offset):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(500, 64)) + offset
    y = np.concatenate([x[:5], x[5:10] + 1e-5 * rng.normal(size=(5, 64)), rng.normal(size=(90, 64))])
    scale = mixture_fit.Scale(np.zeros(64), np.ones(64), None)
    distances = mixture_fit.SquaredDistances(x, mixture_fit.Centres(y, scale))
    found = np.concatenate([part for _, part in distances.blocks()])
    direct = ((x[:, None, :] - y) ** 2).sum(2)
    np.testing.assert_allclose(found, direct, rtol=1e-8, atol=0)
    assert (found[range(5), range(5)] == 0).all()


def test_a_generator_that_copies_is_found_out():
    z = rows("copy2")
    noise = 1e-4 * np.random.default_rng(0).normal(size=z["train"].shape)
    copied = z["train"] + noise
    assert fld(z["train"], z["test"], copied) > fld(z["train"], z["test"], z["fresh"]) + 100
    assert fld_gap(z["train"], z["test"], copied) < fld_gap(z["train"], z["test"], z["fresh"]) - 100
    assert np.isfinite(fld(z["train"], z["test"], z["train"]))


def shrunk(x, share):
    return x.mean(0) + share * (x - x.mean(0))


def test_blind_spot_mild_shrinkage_scores_better_than_perfect_on_digits():
    x = load_digits().data
    x = x[np.random.default_rng(0).permutation(len(x))]
    train, test, made = x[:700], x[700:1200], x[1200:]
    with pytest.warns(mixture_fit.ConstantFeatureWarning, match="constant in the test rows"):
        perfect, short = (fld(train, test, g) for g in (made, shrunk(made, 0.8)))
    assert short < perfect - 2


@pytest.mark.parametrize("share", [*slow(0.7, 0.8), 0.9])
def test_no_blind_spot_on_two_moons(share):
    train, test, made = (make_moons(600, noise=0.1, random_state=seed)[0] for seed in range(3))
    assert fld(train, test, shrunk(made, share)) > fld(train, test, made)


# --- input


def test_a_constant_feature_is_dropped_with_one_warning():
    z = rows("copyshift16")
    with_constant = [np.insert(z[k].astype(float), 4, 3.0, axis=1) for k in ("train", "test", "fresh")]
    expected = fld(z["train"], z["test"], z["fresh"])
    with pytest.warns(mixture_fit.ConstantFeatureWarning) as caught:
        assert fld(*with_constant) == pytest.approx(expected, abs=1e-9)
    assert len(caught) == 1
    assert "1 feature is constant" in str(caught[0].message)
    assert caught[0].filename == __file__
    with_constant[0][0, 4], with_constant[1][:, 4] = 1e40, 1e-200 * with_constant[1][:, 0]
    with pytest.warns(mixture_fit.ConstantFeatureWarning):
        assert fld(*with_constant) == pytest.approx(expected, abs=1e-9)
    with pytest.raises(nm.InvalidInput, match="same value in every row"):
        fld(z["train"], np.ones((5, 16)), z["fresh"])


def test_the_order_of_rows_does_not_matter():
    z, rng = rows("copy32"), np.random.default_rng(8)
    train, test, made = z["train"], z["test"], z["fresh"]
    expected = fld(train, test, made, seed=3)
    shuffled = [rng.permutation(x) for x in (train, test, made)]
    assert fld(*shuffled, seed=3) == pytest.approx(expected, abs=1e-7)
    order = rng.permutation(len(made))
    for scores in (memorization_scores, quality_scores):
        np.testing.assert_allclose(scores(train, test, made[order]), scores(train, test, made)[order], atol=1e-8)


def test_float32_and_float64_of_the_same_numbers_score_alike():
    z = rows("copy32")
    three = [z[k] for k in ("train", "test", "half_copied")]
    assert fld(*three) == pytest.approx(fld(*(x.astype(float) for x in three)), abs=1e-9)


def test_units_of_a_feature_do_not_matter():
    z, unit = rows("copyshift16"), np.geomspace(1e-3, 1e3, 16)
    three = [z[k].astype(float) for k in ("train", "test", "fresh")]
    assert fld_gap(*(5 + x * unit for x in three)) == pytest.approx(fld_gap(*three), abs=1e-6)


@pytest.mark.parametrize("name", by_default(SETS, "copy32"))
def test_torch_equals_numpy(name):
    torch = pytest.importorskip("torch")
    three = [rows(name)[k][:200] for k in ("train", "test", "half_copied")]
    tensors = [torch.from_numpy(x) for x in three]
    for score in (fld, fld_gap):
        assert score(*tensors) == pytest.approx(score(*three), rel=1e-8, abs=1e-8)
    mixed = three[0], tensors[1], three[2]
    assert fld(*mixed) == pytest.approx(fld(*three), rel=1e-8, abs=1e-8)
    for scores in (memorization_scores, quality_scores):
        found = scores(*tensors)
        assert found.dtype == torch.float64
        np.testing.assert_allclose(found.numpy(), scores(*three), rtol=1e-8, atol=1e-8)
        assert isinstance(scores(*three), np.ndarray)


@pytest.mark.parametrize(
    ("train", "test", "made", "words"),
    [
        (np.ones((1, 2)), np.eye(2), np.eye(2), "train.*baseline needs 2"),
        (np.eye(2), np.ones((1, 2)), np.eye(2), "test.*t least 2"),
        (np.eye(2), np.eye(2), np.eye(3), "generated.*3 features"),
        (np.eye(2), np.full((2, 2), np.nan), np.eye(2), "test.*NaN"),
        (np.eye(2), np.eye(2), np.ones(2), "generated.*shape"),
    ],
)
def test_bad_input_is_named(train, test, made, words):
    with pytest.raises(nm.InvalidInput, match=words):
        fld(train, test, made)


def test_the_smallest_input_scores():
    rng = np.random.default_rng(1)
    assert np.isfinite(fld(*(rng.normal(size=(n, 3)) for n in (2, 2, 1))))
    far = 1e9 * np.ones((3, 3))
    assert np.isfinite(fld(rng.normal(size=(20, 3)), rng.normal(size=(20, 3)), far))


def test_peers_json_holds_the_sets():
    assert all(set(GENERATED) <= set(golden.PEERS[name]) for name in SETS), json.dumps(SETS)
