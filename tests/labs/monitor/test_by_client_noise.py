"""Standard errors of steps with one distribution for each client, beside how own scores scatter over other rows."""

import math
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.errors import check_weights
from nbmetrics.labs.monitor.alarm_rules import DEFAULT_RULES
from nbmetrics.labs.monitor.alarms import find_alarms
from nbmetrics.labs.monitor.best_checkpoints import line_errors, noise_draws
from nbmetrics.labs.monitor.history import STORED
from nbmetrics.labs.monitor.live_run import LiveRun
from nbmetrics.labs.monitor.run_comparison import RunComparison
from nbmetrics.labs.monitor.run_folder import decode_event, encode_event, pack_array
from nbmetrics.labs.monitor.scoring import Scoring
from nbmetrics.labs.monitor.step_noise import MAX_NOISY_CLIENTS
from tests.slow import slow

NAMES, WEIGHTS, OTHERS = tuple("abcd"), (0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.0, 0.7)
CASES = [((0.35, 0.35, 0.3, 0.0), True), *slow((WEIGHTS, False), (WEIGHTS, True))]
REPLICATIONS, SCORED, DIM = 200, 30, 3
CENTRES = np.array([[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [5.0, 2.0, 0.0], [-2.0, 3.0, 1.0]])
HUGE = np.diag([1e308, -1e308, 1e308, 1e308])
ROWS, MADE_ROWS = (90, 60, 70, 80), (80, 60, 50, 40)


@pytest.fixture
def monitored(opened):
    return partial(opened, LiveRun)


def real_rows(rng):
    return [
        rng.normal(centre, 0.6 + 0.2 * i, (n, DIM)) for i, (centre, n) in enumerate(zip(CENTRES, ROWS, strict=True))
    ]


def made_rows(rng, *, is_shared=False, shift=0.5):
    """Rows for each client; of `is_shared` the first two have the very same ones."""
    parts = zip(CENTRES, MADE_ROWS, strict=True)
    rows = [rng.normal(centre + shift, 0.9, (n, DIM)) for centre, n in parts]
    return [rows[0], rows[0], *rows[2:]] if is_shared else rows


def federation(rows, weights=WEIGHTS):
    return nm.Federation([nm.Client(r, name=n, weight=w) for r, n, w in zip(rows, NAMES, weights, strict=True)])


def mixture_of(means, covariances, weights):
    mean = weights @ means
    apart = means - mean
    return mean, np.tensordot(weights, covariances, 1) + (weights[:, None] * apart).T @ apart


def frechet(first, second):
    (m, c), (n, d) = first, second
    return ((m - n) ** 2).sum() + np.trace(c) + np.trace(d) - 2 * np.sqrt(np.linalg.eigvals(c @ d).real).sum()


def fid_scores(real, made, weights):
    """Scores of each client with the mixture and with what was made for it, and of all with the mixture."""
    sides = [[(x.mean(axis=0), np.cov(x.T)) for x in side] for side in (real, made)]
    together, mixture = (mixture_of(*map(np.array, zip(*side, strict=True)), weights) for side in sides)
    with_mixture = [frechet(client, mixture) for client in sides[0]]
    own = [frechet(*pair) for pair in zip(*sides, strict=True)]
    return np.array(with_mixture), np.array(own), frechet(together, mixture)


def kid_scores(real, made, weights):
    """The same of the unbiased KID with parts as strata; rows that are shared are one sample."""
    singles = list({id(x): x for x in made}.values())
    parts, where = [*real, *singles], [next(i for i, x in enumerate(singles) if x is own) for own in made]
    rows, ends = np.concatenate(parts), np.cumsum([0, *map(len, parts)])
    kernel = (rows @ rows.T / DIM + 1) ** 3
    np.fill_diagonal(kernel, 0.0)
    n = np.diff(ends)
    sums = np.add.reduceat(np.add.reduceat(kernel, ends[:-1], axis=0), ends[:-1], axis=1)
    means = sums / (np.outer(n, n) - np.diag(n))
    k, shares = len(real), np.bincount(where, weights, len(singles))
    within, between = means[k:, k:], means[:k, k:]
    with_mixture = np.diag(means)[:k] + shares @ within @ shares - 2 * between @ shares
    own = [means[i, i] + within[j, j] - 2 * between[i, j] for i, j in enumerate(where)]
    of_all = weights @ means[:k, :k] @ weights + shares @ within @ shares - 2 * weights @ between @ shares
    return with_mixture, np.array(own), of_all


SCORES = {"fid": fid_scores, "kid": kid_scores}


@cache
def scatter(metric, weights, is_shared, is_fixed):
    """Standard deviations over replications: of the clients, avg, all and gap; of the clients' own scores and intra."""
    seen, first, weights = [], real_rows(np.random.default_rng(99)), np.array(weights)
    for seed in range(REPLICATIONS):
        rng = np.random.default_rng([7, seed])
        real = first if is_fixed else real_rows(rng)
        clients, own, of_all = SCORES[metric](real, made_rows(rng, is_shared=is_shared), weights)
        avg = weights @ clients
        seen.append([*clients, avg, of_all, avg - of_all, *own, weights @ own])
    return np.std(seen, axis=0, ddof=1)


def noises(weights, is_shared, is_fixed):
    """The noise that the Monitor tells of, by metric, for a few sets of rows."""
    first, told = real_rows(np.random.default_rng(99)), {"fid": [], "kid": []}
    scoring = None
    for seed in range(SCORED):
        rng = np.random.default_rng([8, seed])
        if scoring is None or not is_fixed:
            scoring = Scoring(federation(first if is_fixed else real_rows(rng), weights))
        made = dict(zip(NAMES, made_rows(rng, is_shared=is_shared), strict=True))
        for name, scores in scoring.score(made, is_paired=False, position=1 + seed)[0].items():
            told[name].append(scores.noise)
    return told


def rms(values):
    return np.sqrt(np.mean(np.square(values), axis=0))


def assert_alike(told, seen, low=0.8, high=1.25):
    """200 replications know a standard deviation to 5 %, 128 draws of the noise to 6 %."""
    ratio = rms(told) / seen
    assert ((ratio > low) & (ratio < high)).all(), ratio


@pytest.mark.parametrize(("weights", "is_shared"), CASES)
def test_errors_are_how_much_scores_scatter_over_other_rows_of_clients_and_generators(weights, is_shared):
    told = noises(weights, is_shared, False)
    for metric, found in told.items():
        seen = scatter(metric, weights, is_shared, False)
        avg, of_all, gap, intra = seen[4], seen[5], seen[6], seen[-1]
        if metric == "fid":
            assert_alike([[*one.errors, one.own_error] for one in found], [avg, of_all, gap, intra])
        else:  # the gap is the same at every step
            assert_alike([[*one.errors[:2], one.own_error] for one in found], [avg, of_all, intra])
            assert all(math.isnan(one.errors[2]) for one in found)


@pytest.mark.parametrize(("weights", "is_shared"), CASES)
def test_errors_of_the_generated_rows_alone_are_how_scores_scatter_over_other_generated_rows(weights, is_shared):
    told = noises(weights, is_shared, True)
    for metric, found in told.items():
        seen = scatter(metric, weights, is_shared, True)
        if metric == "kid":
            assert seen[6] < 1e-12, "no generator moves the gap of KID, that of a mixture neither"
        assert_alike([one.row_errors for one in found], seen[:6])
        assert_alike([one.own_row_errors for one in found], seen[7:])


def step(seed, **options):
    return dict(zip(NAMES, made_rows(np.random.default_rng([9, seed]), **options), strict=True))


def logged(run, sources):
    for place, source in enumerate(sources):
        assert run.log(place, source)
    assert run.wait(60) and not run.troubles
    return run


def clients(weights=WEIGHTS):
    return federation(real_rows(np.random.default_rng(99)), weights)


def test_one_sample_for_all_clients_has_the_errors_of_one_distribution():
    scoring, rows = Scoring(clients()), made_rows(np.random.default_rng(0))[0]
    plain, shared = (
        scoring.score(given, is_paired=False, position=1)[0] for given in (rows, dict.fromkeys(NAMES, rows))
    )
    for metric in ("fid", "kid"):
        one, other = plain[metric].noise, shared[metric].noise
        np.testing.assert_allclose(other.errors, one.errors, rtol=1e-5)
        np.testing.assert_allclose(other.own_error, one.errors[0], rtol=1e-5)
        np.testing.assert_allclose(other.row_errors, one.row_errors, rtol=1e-10)
        np.testing.assert_allclose(other.own_row_errors, one.row_errors[:-1], rtol=1e-10)
        np.testing.assert_allclose(other.own, one.clients, rtol=1e-5)
        assert np.isfinite(one.errors[:2]).all() and one.own is None


def test_steps_of_the_same_latents_have_the_same_noise_and_no_errors_of_their_rows(monitored):
    source = nm.Generator.by_client(lambda client, n, rng: rng.normal(CENTRES["abcd".index(client)], 1, (n, DIM)))
    run = logged(monitored(clients(), keep_all=True, samples=200), [source, source, step(0)])
    for name in ("kid", "kid_intra"):
        line = run.history.lines[name]
        first, second, other = (noise_draws(run.history, line, place, "avg") for place in range(3))
        np.testing.assert_array_equal(first, second)
        assert not np.allclose(first, other, rtol=0.1)
        assert np.isnan(line.row_errors[:2]).all() and np.isfinite(line.row_errors[2, :5]).all()


def errors_of(history, name):
    return line_errors(history, history.lines[name])


def test_under_other_weights_intra_has_its_errors_and_the_mixture_none(monitored, tmp_path):
    sources = [step(0), step(1), step(2, is_shared=True)]
    live = logged(monitored(clients(), path=tmp_path, keep_all=True), sources)
    expected = logged(monitored(clients(OTHERS), keep_all=True), sources).history
    for run in (live, LiveRun.open(tmp_path)):
        moved = run.with_weights(OTHERS).history
        for metric in ("fid", "kid"):
            for name in (metric, f"{metric}, 210 rows"):
                if name in moved.lines:
                    assert np.isnan(errors_of(moved, name)).all()
                    assert np.isnan(moved.lines[name].row_errors).all()
                    assert noise_draws(moved, moved.lines[name], 0, "avg") is None
                    assert noise_draws(moved, moved.lines[name], 0, "all") is None
            for name in (name for name in moved.lines if name.startswith(f"{metric}_intra")):
                told = errors_of(moved, name)
                np.testing.assert_allclose(told[:, 0], expected.lines[name].errors[:, 0], rtol=1e-5)
                assert np.isfinite(told[:, 0]).all() and np.isnan(told[:, 1:]).all()
                found, right = moved.lines[name].row_errors, expected.lines[name].row_errors
                np.testing.assert_allclose(found[:, :4], right[:, :4], rtol=1e-5)
                np.testing.assert_allclose(found[:, 4], right[:, :4] @ OTHERS, rtol=1e-5)
                assert (found[:, 4] >= right[:, 4] * 0.999).all(), "of their mean at most as if they were one"
        assert run.with_weights(OTHERS).best_set("kid_intra")["avg"]


def test_a_folder_keeps_errors_and_one_without_them_opens_with_none(monitored, tmp_path):
    live = logged(monitored(clients(), path=tmp_path, keep_all=True), [step(0), step(1)])
    live.close()
    opened = LiveRun.open(tmp_path).history
    for name, line in live.history.lines.items():
        again = opened.lines[name]
        np.testing.assert_array_equal(again.errors, line.errors)
        np.testing.assert_array_equal(again.row_errors, line.row_errors)
        assert np.isfinite(again.errors[:, 0]).all() and np.isfinite(again.row_errors[:, :5]).all()
        assert live.best_set(name) == LiveRun.open(tmp_path).best_set(name)
    log = next(tmp_path.glob("*.jsonl"))
    events = [decode_event(line) for line in log.read_bytes().splitlines()]
    for event in (event for event in events if event["event"] == "step"):
        del event["errors"], event["own errors"]
        event["frames"] = {name: at for name, at in event["frames"].items() if not name.endswith("row errors")}
        event["frames"] = {name: at for name, at in event["frames"].items() if "noise" not in name}
    log.write_bytes(b"".join(map(encode_event, events)))
    old = LiveRun.open(tmp_path)
    assert not old.troubles and old.table.equals(live.table) and old.alarms.equals(live.alarms)
    for name, line in old.history.lines.items():
        assert np.isnan(line.errors).all() and np.isnan(line.row_errors).all()
        with pytest.raises(nm.InvalidInput, match="logged without it"):
            old.best_set(name)


@pytest.mark.parametrize("name", ["errors", "own errors", "row errors", "own row errors"])
def test_a_standard_error_below_zero_is_left_out_and_said(monitored, tmp_path, name):
    logged(monitored(clients(), path=tmp_path, keep_all=True), [step(0), step(1)]).close()
    log, rows = next(tmp_path.glob("*.jsonl")), tmp_path / "rows.bin"
    events = [decode_event(line) for line in log.read_bytes().splitlines()]
    first = next(event for event in events if event["event"] == "step")
    if "row" in name:
        frame = pack_array(np.full((2, 5 if "own" in name else 6), -1.0))
        first["frames"][name] = [rows.stat().st_size, len(frame)]
        rows.write_bytes(rows.read_bytes() + frame)
    else:
        first[name] = [-1.0, 1.0] if "own" in name else [[1.0, 1.0, -1.0], [1.0, 1.0, 1.0]]
    log.write_bytes(b"".join(map(encode_event, events)))
    run = LiveRun.open(tmp_path)
    assert run.table["step"].unique().tolist() == [1] and "below 0" in " ".join(run.troubles)


@pytest.mark.parametrize(("damage", "said"), [("shape", "standard errors of shape"), ("count", "every intra")])
def test_damaged_errors_are_left_out_and_said(monitored, tmp_path, damage, said):
    logged(monitored(clients(), path=tmp_path, keep_all=True), [step(0), step(1)]).close()
    log = next(tmp_path.glob("*.jsonl"))
    events = [decode_event(line) for line in log.read_bytes().splitlines()]
    first = next(event for event in events if event["event"] == "step")
    if damage == "shape":
        first["frames"]["own row errors"] = first["frames"]["own noise fid"]
    else:
        first["own errors"] = first["own errors"][:1]
    log.write_bytes(b"".join(map(encode_event, events)))
    run = LiveRun.open(tmp_path)
    assert run.table["step"].unique().tolist() == [1] and said in " ".join(run.troubles)


def test_weights_that_are_divided_by_their_sum_again_are_the_same_weights(monitored, tmp_path):
    """A folder's are when it is read: what was scored before a run went on stays what it was, and has its errors."""
    weights = next(w for n in range(9, 99) if check_weights(w := check_weights([n, 7, 5], 3), 3) != w)
    rng = np.random.default_rng(0)
    parties = [nm.Client(rng.normal(size=(80, 70)), name=n, weight=w) for n, w in zip("abc", weights, strict=True)]
    made = {name: rng.normal(0.2, 1, (80, 70)) for name in "abc"}
    for first in (0, 1):
        run = monitored(nm.Federation(parties), "fid", path=tmp_path, keep_all=True)
        run.log(first, made)
        assert run.wait(60)
        run.close()
    for history in (run.history, run.with_weights(weights).history, LiveRun.open(tmp_path).history):
        line = history.lines["fid"]
        assert np.isfinite(line.all).all() and np.isfinite(line.errors).all() and set(line.kinds) == {STORED}


def test_steps_of_a_segment_with_other_weights_have_the_errors_of_the_rows_under_these(monitored, tmp_path):
    for place, weights in enumerate((OTHERS, WEIGHTS)):
        run = monitored(clients(weights), path=tmp_path, keep_all=True)
        run.log(2 * place, step(0)["a"])
        run.log(2 * place + 1, step(0))
        assert run.wait(60)
        run.close()
    for name in ("kid", "kid_intra"):
        errors = run.history.lines[name].row_errors
        at_most = errors[:, :4] @ WEIGHTS
        np.testing.assert_allclose(errors[0, 4], at_most[0], rtol=1e-6)
        assert errors[-1, 4] < 0.99 * at_most[-1], "as it was logged"
    assert run.history.lines["kid"].row_errors[0, 5] == run.history.lines["kid"].row_errors[0, 4]
    assert np.isnan(run.history.lines["kid"].row_errors[1]).all()


def test_of_many_clients_avg_and_intra_have_noise_under_the_weights_given_alone(monitored):
    rng, count = np.random.default_rng(0), MAX_NOISY_CLIENTS + 1
    parties = {f"c{i}": rng.normal(i / 9, 1, (12, 1)) for i in range(count)}
    made = {name: rng.normal(i / 9, 1, (6, 1)) for i, name in enumerate(parties)}
    run = logged(monitored(parties, keep_all=True), [made, np.concatenate(list(made.values()))])
    moved = run.with_weights(rng.random(count)).history
    for metric in ("fid", "kid"):
        line = run.history.lines[f"{metric}_intra"]
        draws = noise_draws(run.history, line, 0, "avg")
        assert line.errors[0, 0] == pytest.approx(draws.std(ddof=1), rel=1e-5)
        assert noise_draws(moved, moved.lines[f"{metric}_intra"], 0, "avg") is None
        assert np.isnan(errors_of(moved, f"{metric}_intra")).all()
        assert len(noise_draws(run.history, run.history.lines[metric], 1, "avg")) == len(draws)
        assert noise_draws(moved, moved.lines[metric], 1, "avg") is None, "one distribution neither"


def test_errors_stay_where_nothing_can_be_known(monitored):
    """Of distributions there are none; of few rows, more than 512 features and of precision they are not known."""
    exact = {name: nm.Gaussian(centre) for name, centre in zip(NAMES, CENTRES, strict=True)}
    part = {**step(0), "d": nm.Gaussian(CENTRES[3])}
    few = {**step(0), "a": step(0)["a"][:3]}
    run = logged(monitored(clients(), ("fid", "precision"), keep_all=True), [step(0), exact, part, few])
    lines = run.history.lines
    whole, mixed, of_few = lines["fid_intra"], lines["fid_intra, 190 rows"], lines["fid_intra, 153 rows"]
    assert np.isnan(lines["fid_intra, exact"].errors).all() and (lines["fid_intra, exact"].row_errors == 0).all()
    assert mixed.row_errors[0, 3] == 0.0 and (mixed.row_errors[0, :3] > 0).all()
    assert 0.0 < mixed.errors[0, 0] < whole.errors[0, 0]
    assert np.isnan(of_few.row_errors[0, [0, 4]]).all() and np.isfinite(of_few.row_errors[0, 1:4]).all()
    assert np.isnan(of_few.errors).all()
    assert np.isfinite(lines["fid, 153 rows"].errors).all(), "they are enough beside the others"
    assert np.isnan(lines["precision_intra"].errors).all()
    wide = {name: np.random.default_rng(i).normal(size=(40, 513)) for i, name in enumerate("ab")}
    of_wide = logged(monitored(wide, keep_all=True), [{name: rows + 1 for name, rows in wide.items()}]).history.lines
    assert np.isnan(of_wide["fid_intra"].errors).all() and np.isnan(of_wide["fid"].errors).all()
    assert np.isfinite(of_wide["kid_intra"].errors[0, 0]) and np.isfinite(of_wide["kid"].errors[0, :2]).all()


@pytest.mark.filterwarnings("error")
def test_errors_beyond_single_precision_are_no_warning(monitored):
    rows = dict.fromkeys(NAMES, step(0)["a"] * 1e25)
    point = logged(monitored(clients(), "fid", keep_all=True), [{**rows, "d": step(0)["d"]}]).history.points[0]
    assert np.isinf(point.own_row_errors).any() and np.isfinite(point.own).all()


@pytest.mark.parametrize("name", ["noise fid", "own noise fid", "noise kid", "own noise kid"])
def test_noise_of_another_shape_is_none(monitored, name):
    run = logged(monitored(clients(), keep_all=True), [step(0), step(1)])
    for odd in (np.array(1.0), np.zeros(0), np.zeros((2, 2)), np.zeros((3, 4, 2)), np.full((3, 4), np.nan), HUGE):
        run.history.logged[0].frames[name] = odd
        for weights in (WEIGHTS, OTHERS):
            history = run.with_weights(weights).history
            line = history.lines[f"{name[-3:]}_intra" if name.startswith("own") else name[-3:]]
            assert noise_draws(history, line, 0, "avg") is None
            assert len(line_errors(history, line)) == 2


def test_few_rows_of_a_client_without_weight_leave_the_errors_of_the_others():
    rows, made = real_rows(np.random.default_rng(99)), step(0)
    parties = federation([*rows[:3], rows[3][:3]], (0.5, 0.3, 0.2, 0.0))
    for given in (made["a"], {**made, "d": made["d"][:3]}):
        for scores in Scoring(parties).score(given, is_paired=False, position=1)[0].values():
            noise = scores.noise
            assert np.isnan(noise.row_errors[3]) and np.isfinite(np.delete(noise.row_errors, 3)).all()
            assert np.isfinite(noise.errors[:2]).all()
            if isinstance(given, dict):
                assert np.isfinite(noise.own_error) and np.isfinite(noise.own_row_errors[4])


def test_sets_of_best_steps_tell_apart_what_chance_does_not_explain(monitored):
    sources = [step(i, shift=shift) for i, shift in enumerate((0.5, 0.5, 1.5))]
    run = logged(monitored(clients(), keep_all=True), sources)
    other = logged(monitored(clients(), keep_all=True), [step(7, shift=2.5), step(8, shift=1.5)])
    alike = logged(monitored(clients(), keep_all=True), [step(9, shift=0.5)])
    for name in ("fid", "kid", "fid_intra", "kid_intra"):
        assert run.best_set(name)["avg"] == [0, 1]
        said = RunComparison.of(other, run, "").sentences(run.history)[name]
        assert "(more than chance)" in said and "unknown" not in said
        assert "(could be chance)" in RunComparison.of(alike, run, "").sentences(run.history)[name]
    moved = run.with_weights(OTHERS)
    assert moved.best_set("fid_intra")["avg"] == [0, 1]
    with pytest.raises(nm.InvalidInput, match="noise"):
        moved.best_set("fid")
    unlike = RunComparison.of(other.with_weights(OTHERS), moved, "").sentences(moved.history)
    assert "unknown whether by more than chance" in unlike["fid"] and "(more than chance)" in unlike["fid_intra"]


def test_no_set_leaves_out_a_mixture_whose_noise_is_not_known(monitored):
    one_for_all = np.concatenate(made_rows(np.random.default_rng(3)))
    run = logged(monitored(clients(), keep_all=True), [one_for_all, step(0, shift=0.9), one_for_all + 1.0])
    moved = run.with_weights((0.41, 0.3, 0.2, 0.09))
    for name in ("fid", "kid"):
        assert run.best_set(name)["avg"] and moved.best(name)["avg"] == 0
        with pytest.raises(nm.InvalidInput, match="not under these weights"):
            moved.best_set(name)


def test_an_alarm_of_intra_knows_the_noise_of_a_few_steps(monitored):
    """Before the run itself has shown how much it varies; at last each client has what the next one should have had."""
    sources = [step(i) for i in range(6)]
    sources[4:] = [dict(zip(NAMES, [*list(made.values())[1:], made["a"]], strict=True)) for made in sources[4:]]
    run = logged(monitored(clients((1, 1, 1, 1)), "fid", keep_all=True), sources)
    assert "far from best" in run.alarms.query("step == 5")["alarm"].tolist()
    assert run.alarms["words"].str.startswith("FID intra").all()
    points = [replace(point, own_row_errors=None) for point in run.history.logged]
    assert not find_alarms(run.history.with_points(points), DEFAULT_RULES)
