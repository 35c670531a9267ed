"""Races: scores with the clients as given, intervals of differences, who drops out when, kept draws, refusals.

How often races err: tests/calibration/race.py.
"""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import nbmetrics as nm
from nbmetrics.evaluation import race as race_module
from nbmetrics.evaluation.influence import Variance
from nbmetrics.evaluation.race import RunningRace
from nbmetrics.evaluation.race_result import RaceLog
from nbmetrics.evaluation.race_scores import Bounds, GivenClients, SamplerScore
from nbmetrics.metrics import metric_of
from tests.calibration.race import RARE, Bandit, limit_race
from tests.slow import by_default

D = 3
RNG = np.random.default_rng(0)
CLIENTS = {"north": RNG.normal(size=(30, D)), "south": RNG.normal(0.4, 1.2, size=(20, D))}
FEDERATION = nm.Federation(CLIENTS)


def gaussian(scale, shift=0.0):
    return lambda n, rng: rng.normal(shift, scale, size=(n, D))


def by_client(scale):
    return lambda client, n, rng: rng.normal(0.4 * (client == "south"), scale, size=(n, D))


UNLIKE = {"near": gaussian(1.1, 0.2), "far": gaussian(1.4, 0.2), "farther": gaussian(2.2, 0.2)}
ALIKE = {"one": gaussian(1.3), "other": gaussian(1.3)}


def race(samplers=UNLIKE, clients=FEDERATION, *args, **options):
    return nm.race(clients, samplers, *args, **{"budget": 6_000, "progress": False, **options})


def truth(metric, by, scale, shift):
    """The score of the distribution behind a sampler, exact."""
    exact = nm.Gaussian(np.full(D, shift), scale**2)
    if by == "intra":
        made = {"north": nm.Gaussian(np.zeros(D), scale**2), "south": nm.Gaussian(np.full(D, 0.4), scale**2)}
        return nm.evaluate(FEDERATION, {"g": made}, metric, progress=False).table["intra"][0]
    scores = nm.evaluate(FEDERATION, {"g": exact}, metric, progress=False)
    return scores.worst(metric)["worst"][0] if by == "worst" else scores.table[by][0]


PAIRS = [*itertools.product(("fid", "kid"), ("all", "avg", "worst", "intra"))]


@pytest.mark.parametrize(("metric", "by"), by_default(PAIRS, ("fid", "all"), ("kid", "avg"), ("fid", "worst")))
def test_scores_are_those_of_the_clients_rows_and_the_distribution_behind_the_draws(metric, by):
    given, scale, shift, n = GivenClients(FEDERATION, metric_of(metric), by, 0), 1.3, 0.1, 200
    drawn, spread = [], []
    for run in range(150):
        rng = np.random.default_rng(run)
        parts = 2 if by == "intra" else 1
        rows = [rng.normal(0.4 * part if by == "intra" else shift, scale, size=(n, D)) for part in range(parts)]
        score = given.score(rows)
        drawn.append(score.values)
        spread.append(score.variance.root)
    drawn, spread = np.array(drawn), np.array(spread)
    error = drawn.std(axis=0) / math.sqrt(len(drawn))
    values = drawn.mean(axis=0)
    worst = int(values.argmax())
    assert abs(values[worst] - truth(metric, by, scale, shift)) < 4 * error[worst]
    # Monte Carlo: the standard error that influence values say, beside the one that is seen
    assert np.sqrt((spread**2).mean(axis=0)) == pytest.approx(drawn.std(axis=0), rel=0.25)


def test_the_clients_rows_are_given_and_no_noise():
    few = nm.Federation({"few": CLIENTS["north"][:6]})  # too few for intervals of their own
    rows = [np.random.default_rng(1).normal(size=(400, D))]
    score = GivenClients(few, metric_of("fid"), "all", 0).score(rows)
    exact = GivenClients(
        nm.Federation([nm.Gaussian(CLIENTS["north"][:6].mean(0), np.cov(CLIENTS["north"][:6].T))]),
        metric_of("fid"),
        "all",
        0,
    ).score(rows)
    assert score.values == pytest.approx(exact.values) and score.variance.root == pytest.approx(exact.variance.root)


def score_of(values, errors):
    """A score of targets with these standard errors, known from endless rows."""
    return SamplerScore(np.array(values, float), Variance(np.array(errors, float), np.full(len(values), 1e-9)))


def test_the_interval_of_a_difference_is_that_of_independent_normal_errors():
    bounds = score_of([3.0], [0.3]).minus(score_of([1.0], [0.4]), 0.9)
    reach = norm.ppf(0.95) * 0.5
    assert bounds == pytest.approx((2.0, 2.0 - reach, 2.0 + reach))
    back = score_of([1.0], [0.4]).minus(score_of([3.0], [0.3]), 0.9)
    assert back == pytest.approx((-bounds.value, -bounds.high, -bounds.low))


def test_the_bounds_of_a_difference_of_maxima_hold_wherever_the_targets_lie():
    rng = np.random.default_rng(2)
    for _ in range(200):
        a, b = rng.normal(size=3), rng.normal(size=3)
        bounds = score_of(a, rng.random(3)).minus(score_of(b, rng.random(3)), 0.9)
        back = score_of(b, [0.0] * 3).minus(score_of(a, [0.0] * 3), 0.9)
        assert bounds.low <= a.max() - b.max() <= bounds.high and bounds.value == a.max() - b.max()
        assert back == pytest.approx([b.max() - a.max()] * 3)  # no noise: exact
    lows = score_of([5.0, 1.0], [0.1, 9.0]).minus(score_of([0.0], [0.0]), 0.9)
    assert 4.5 < lows.low < 5.0 < lows.high  # a target that may be the highest raises the upper end alone
    assert lows.high > 10


@pytest.mark.parametrize("samplers", [2, 3, 7])
def test_the_error_is_spent_over_looks_and_the_differences_from_the_best(samplers):
    others = samplers - 1
    spent = [others * (1.0 - race_module.level_of(look, 0.05, samplers)) for look in range(1, 20_000)]
    assert spent[0] == pytest.approx(0.05 * 6 / math.pi**2)
    assert 0.0499 < math.fsum(spent) < 0.05


def test_looks_grow_by_half_from_five_rows_a_feature():
    fid, kid = metric_of("fid"), metric_of("kid")
    assert [race_module.first_rows(fid, d) for d in (2, 16, 2048)] == [50, 80, 10_240]
    assert [race_module.first_rows(kid, d) for d in (2, 16, 2048)] == [50, 80, 1_000]
    for d, rows in ((2, [50, 75, 113, 170, 255, 300, 600, 900, 1350]), (64, [320, 640, 960, 1440])):
        clients = [np.random.default_rng(0).normal(size=(80, d))]
        running = RunningRace(clients, {name: nm.Gaussian(np.zeros(d)) for name in "xy"}, "fid", "all", budget=9_000)
        counts = [0]
        for _ in rows:
            counts.append(running._grown(counts[-1]))
        assert counts[1:] == rows


def test_a_race_is_won_and_the_table_says_who_dropped_out_when():
    found = race()
    assert (found.winner, found.stopped, found.label) == ("near", "winner", "FID-all")
    assert [*found.table] == ["look", "sampler", "draws", "score", "low", "high", "state"]
    last = found.table.groupby("sampler").last()
    assert last.loc["near", "state"] == "winner" and last.loc["farther", "state"] == "out: near is better"
    assert last["draws"].to_dict() == found.draws and found.draws["farther"] < found.draws["near"]
    for name, rows in found.table.groupby("sampler"):
        assert rows["draws"].is_monotonic_increasing and rows["draws"].is_unique, name
        assert (rows["low"] < rows["score"]).all() and (rows["score"] < rows["high"]).all()
    lines = repr(found).splitlines()
    assert lines[0].startswith("near is best by FID-all with confidence 0.95: far, the next best, is worse by ")
    assert lines == [found.reason, found.clients_noise]
    (ax,) = found.plot().axes
    assert ax.get_xlabel() == "draws of the sampler\nabove, out at the first look: farther"
    low, high = ax.get_ylim()
    assert low < last.loc["near", "low"] < last.loc["far", "high"] < high < last.loc["farther", "score"]
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == [
        "near (winner)",
        "far (out)",
    ], "of those that are seen"


@pytest.mark.parametrize("by", ["all", "avg", "worst", "intra"])
def test_every_aggregate_and_kid_race(by):
    samplers = {"near": by_client(1.1), "far": by_client(2.5)} if by == "intra" else UNLIKE
    for metric in ("fid", "kid"):
        found = race(samplers, FEDERATION, metric, by)
        assert found.winner == "near", (metric, found)
    assert found.label == f"KID-{by}"


def test_alike_samplers_spend_the_budget_or_tie():
    spent = race(ALIKE, budget=3_001)
    assert (spent.winner, spent.stopped) == (None, "budget spent") and sum(spent.draws.values()) in (3_000, 3_001)
    assert spent.reason == "The budget of 3,001 draws is spent, and FID-all does not tell one and other apart."
    tied = race(ALIKE, tolerance=0.6)
    assert (tied.winner, tied.stopped) == (None, "tie within the tolerance")
    assert "one and other tie: by FID-all they lie within 0.6" in tied.reason
    assert set(tied.table.groupby("look")["state"].last().tail(1)) == {"tied"}
    assert tied.clients_noise == "The clients' rows are taken as given."


@pytest.mark.parametrize(("name", "runs"), by_default([(name, 8) for name in RARE], ("1 % garbage, d 8, KID", 8)))
def test_garbage_that_the_first_rows_do_not_show_does_not_win(name, runs):
    races = [limit_race(name, run)[0] for run in range(runs)]
    assert sum(race.winner == "garbage" for race in races) <= 1 + runs * (1 - RARE[name][1]) ** 600


class Changing:
    """A sampler that gives other rows once it has given some."""

    def __init__(self, first, rows, then):
        self.first, self.rows, self.then = first, rows, then

    def __call__(self, n, rng):
        sampler = self.first if self.rows > 0 else self.then
        self.rows -= n
        return sampler(n, rng)


def test_who_is_out_is_compared_again_and_may_win():
    found = race({"unlucky": Changing(gaussian(4.0), 50, gaussian(1.1, 0.2)), "far": gaussian(2.2, 0.2)}, budget=20_000)
    states = found.table[found.table["sampler"] == "unlucky"]["state"].tolist()
    assert states[0] == "out: far is better" and states[-1] == "winner" == found.stopped


def test_a_winner_wins_by_the_new_rows_alone_too():
    fading = {"fading": Changing(gaussian(1.1, 0.2), 300, gaussian(3.0, 0.2)), "far": gaussian(3.0, 0.2)}
    found = race(fading, budget=1_200)
    assert found.winner is None and found.table["state"].tolist()[-1] == "out: fading is better"
    spent = "The budget of 1,200 draws is spent, and fading leads by FID-all, but new rows alone have not confirmed it"
    assert found.reason.startswith(spent)


@pytest.mark.parametrize("by", ["all", "intra"])
def test_a_verdict_has_600_rows_and_says_what_they_may_not_have_shown(by):
    far = {"near": by_client(1.1), "far": by_client(5.0)} if by == "intra" else UNLIKE
    for found in (race(far, by=by), race(far, by=by, tolerance=1e6), race(far, by=by, budget=600 * len(far))):
        n = found.draws["near"]
        assert n >= 600 and min(found.draws.values()) >= 350
        assert f" A kind of rows rarer than 3/{n} may not have been seen: here {300 / n:.2g} %." in found.reason
    assert {*found.table[found.table["look"] == found.table["look"].max()]["sampler"]} == {*far}  # all drew once more


def test_the_sentence_of_a_winner_carries_the_caution():
    heavy = {"near": lambda n, rng: rng.standard_t(4, size=(n, D)), "far": gaussian(9.0)}
    found = race(heavy)
    assert found.winner == "near" and f" (near: {found.cautions['near']}). A kind" in found.reason


def test_a_tolerance_keeps_in_the_race_what_is_better_by_less():
    scores = {"a": score_of([1.0], [0.01]), "b": score_of([1.2], [0.01]), "c": score_of([2.0], [0.01])}
    bounds = race_module.differences(scores, 0.95)
    assert race_module.beaten(bounds, [*scores], 0.0) == {"b": "a", "c": "a"}
    assert race_module.beaten(bounds, [*scores], 0.5) == {"c": "a"}
    assert race_module.beaten(bounds, [*scores], 5.0) == {}


def share_won(error, runs=50):
    """Of races of two alike how many name a winner."""
    options = {"budget": 4_000, "error": error}
    return np.mean([race(ALIKE, FEDERATION, seed=run, **options).winner is not None for run in range(runs)])


@pytest.mark.slow
def test_few_races_of_alike_samplers_are_won(monkeypatch):
    assert share_won(0.05) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 50)
    monkeypatch.setattr(race_module, "level_of", lambda look, error, samplers: 0.5)  # every look spends far more
    assert share_won(0.05) > 0.2


def test_the_bonus_beside_races_is_the_one_that_was_published():
    """What `bonus` of yannxiaoyanhu/dgm-online-eval at 842d77a gave for N(0, 1.44 I) beside N(0, I), 64 features."""
    bandit = Bandit({"a": np.zeros((2, 64))}, has_bonus=True)
    bandit.mean, bandit.root_trace = np.zeros(64), 64.0
    for n, published in ((200, 77.79), (500, 57.45), (2_000, 37.80)):
        rows = np.random.default_rng(n).normal(0, 1.2, size=(n, 64))
        assert bandit.bonus(rows.mean(axis=0), np.cov(rows.T), n) == pytest.approx(published, rel=0.03)


def test_the_rows_of_a_sampler_do_not_depend_on_who_else_races():
    pair = race({"far": UNLIKE["far"], "near": UNLIKE["near"]})
    score = lambda found: found.table.query("sampler == 'far' and look == 1")["score"].item()  # noqa: E731
    assert score(pair) == pytest.approx(score(race()))
    assert score(race(seed=1)) != pytest.approx(score(pair))


class Counting:
    """A sampler that counts its rows, and stops the race after some calls."""

    def __init__(self, sampler, calls=math.inf, error=KeyboardInterrupt):
        self.sampler, self.calls, self.rows, self.error = sampler, calls, 0, error

    def __call__(self, n, rng):
        if self.calls <= 0:
            raise self.error
        self.calls, self.rows = self.calls - 1, self.rows + n
        return self.sampler(n, rng)


def same(first, second):
    return first.table.equals(second.table) and repr(first) == repr(second)


def test_a_race_that_was_killed_goes_on_from_its_store(tmp_path):
    close = {"one": gaussian(1.3), "other": gaussian(1.4)}
    whole = race(close)
    assert whole.table["look"].max() > 4
    with pytest.raises(RuntimeError):
        race({**close, "other": Counting(close["other"], 5, RuntimeError("killed"))}, store=tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    again = {name: Counting(sampler) for name, sampler in close.items()}
    assert same(race(again, store=tmp_path), whole)
    assert names < {path.name for path in tmp_path.iterdir()}
    assert 0 < again["other"].rows < whole.draws["other"]
    third = {name: Counting(sampler) for name, sampler in close.items()}
    assert same(race(third, store=tmp_path), whole)
    assert [sampler.rows for sampler in third.values()] == [4, 4]  # the rows that tell whether it is the same sampler


def test_a_larger_budget_goes_on_and_damaged_files_are_drawn_again(tmp_path):
    small, large = race(ALIKE, budget=1_500, store=tmp_path), race(ALIKE, budget=3_000)
    assert small.stopped == "budget spent"
    for path in sorted(tmp_path.glob("*.npy"))[::2]:
        path.write_bytes(path.read_bytes()[:100])
    assert same(race(ALIKE, budget=3_000, store=tmp_path), large)


def npy(shape, content=b""):
    """A .npy file that claims this shape."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


DAMAGED = {
    "zip": b"PK\x03\x04 and no more",
    "endless": npy("(10000000000000,)"),
    "beyond a number": npy(f"({2**70},)"),
    "open brackets": npy("(((("),
    "huge numbers": npy(f"(50, {D})", np.full((50, D), 1e300).tobytes()),
    "infinite numbers": npy(f"(50, {D})", np.full((50, D), np.inf).tobytes()),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_whatever_a_file_of_the_store_holds_it_is_drawn_again(kind, tmp_path):
    whole = race(ALIKE, budget=1_200, store=tmp_path)
    for path in tmp_path.glob("*-50-0.npy"):
        path.write_bytes(DAMAGED[kind])
    assert same(race(ALIKE, budget=1_200, store=tmp_path), whole)


@pytest.mark.parametrize(
    "stuck",
    [
        lambda n, rng: np.random.default_rng(0).normal(size=(n, D)),
        lambda n, rng: np.resize(CLIENTS["north"], (n, D)),
    ],
)
def test_a_sampler_that_repeats_its_rows_is_refused(stuck):
    with pytest.raises(nm.InvalidInput, match="sampler 'stuck': gives the rows of its first look again"):
        race({"stuck": stuck, "so too": stuck})


def test_a_sampler_of_few_kinds_of_rows_may_repeat_them():
    corners = lambda n, rng: np.where(rng.random((n, 1)) < 1e-3, 1.0, np.zeros(D))  # noqa: E731
    assert race({"corners": corners, "constant": lambda n, rng: np.ones((n, D))}, tolerance=1e9).stopped


def test_samplers_without_spread_are_drawn_without_a_warning():
    constant = lambda n, rng: np.ones((n, D))  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        race({"one": constant, "other": constant}, budget=1_200).plot()


def test_a_tiny_error_is_no_certainty():
    assert "with confidence 0.999999999:" in race({"near": gaussian(1.1), "far": gaussian(9.0)}, error=1e-9).reason


def test_a_store_refuses_another_model_seed_or_folder(tmp_path):
    race(ALIKE, budget=1_200, store=tmp_path)
    with pytest.raises(nm.InvalidInput, match="sampler 'other' gives other rows"):
        race({**ALIKE, "other": gaussian(1.31)}, store=tmp_path)
    with pytest.raises(nm.InvalidInput, match="the same seed"):
        race(ALIKE, store=tmp_path, seed=1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("")
    with pytest.raises(nm.InvalidInput, match="is no race"):
        race(ALIKE, store=tmp_path / "full")


def test_an_interrupt_keeps_what_is_there():
    stopped = race({**ALIKE, "other": Counting(ALIKE["other"], 3)})
    assert stopped.stopped == "interrupted" and stopped.winner is None
    assert stopped.reason.startswith("The race was interrupted, and FID-all does not tell one and other apart")
    assert stopped.table["look"].max() == 3 and stopped.draws["one"] > stopped.draws["other"]
    with pytest.raises(KeyboardInterrupt):
        race({**ALIKE, "other": Counting(ALIKE["other"], 0)})


def test_an_interrupt_after_the_last_look_keeps_the_winner(monkeypatch):
    def interrupted(*inputs, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("nbmetrics.evaluation.race_result.evaluate", interrupted)
    found = race()
    assert found.winner == "near" and found.stopped == "winner"
    assert found.clients_noise.endswith("could change the winner: it was interrupted.")


def test_the_clients_own_noise_is_that_of_an_evaluation():
    rng = np.random.default_rng(3)
    few = nm.Federation({"few": rng.normal(size=(25, D))})
    shifted = {"left": gaussian(1.0, -0.06), "right": gaussian(1.0, 0.06)}
    found = race(shifted, few, budget=60_000)
    loser = next(name for name in shifted if name != found.winner)
    assert f"the winner could be {loser} (p = " in found.clients_noise
    p = float(found.clients_noise.split("p = ")[1].split(")")[0])
    difference = lambda rows: nm.fid(rows, nm.Gaussian(np.full(D, -0.06))) - nm.fid(rows, nm.Gaussian(np.full(D, 0.06)))  # noqa: E731
    again = [difference(few["few"].rows[rng.integers(25, size=25)]) for _ in range(400)]
    share = np.mean(np.array(again) * (1 if found.winner == "right" else -1) < 0)  # of bootstrapped clients
    assert share == pytest.approx(p, abs=0.12)
    sure = race(UNLIKE, nm.Federation([rng.normal(size=(400, D))]))
    assert sure.clients_noise.startswith("With the clients' own noise, too, near is better than every other sampler")
    assert "have no noise" in race(UNLIKE, [nm.Gaussian(np.zeros(D))]).clients_noise


def test_images_go_through_the_extractor_of_the_clients():
    rng = np.random.default_rng(4)
    images = lambda level: lambda n, rng: rng.integers(0, level, size=(n, 2, 2), dtype=np.uint8)  # noqa: E731
    clients = nm.Federation({"a": images(200)(80, rng)}, extractor="pixels")
    found = race({"same": images(200), "dark": images(100)}, clients)
    assert found.winner == "same"


def test_heavy_tails_have_no_interval_and_the_reason_says_so():
    tailed = {name: lambda n, rng: rng.standard_t(1.5, size=(n, D)) for name in ("x", "y")}
    found = race(tailed, budget=1_200)
    assert found.stopped == "budget spent" and ("lengths of rows vary" in found.reason or not found.cautions)
    assert found.cautions


def frames(columns):
    return lambda n, rng: pd.DataFrame(rng.normal(size=(n, D)), columns=list(columns))


FRAMES = {"a": frames("xyz")(40, RNG)}
REFUSED = {
    "one sampler": (lambda: race({"a": gaussian(1)}), "samplers", "at least 2"),
    "no name": (lambda: race({None: gaussian(1), "b": gaussian(1)}), "sampler None", "names"),
    "no dict": (lambda: race([gaussian(1)] * 2), "samplers", "dict name"),
    "rows": (lambda: race({"a": CLIENTS["north"], "b": gaussian(1)}), "sampler 'a'", "function"),
    "few rows": (lambda: race({"a": lambda n, rng: np.zeros((n - 1, D)), "b": gaussian(1)}), "'a'", "Return n rows"),
    "too wide": (lambda: race({"a": lambda n, rng: np.zeros((n, 9)), "b": gaussian(1)}), "'a'", "same features"),
    "dimension": (lambda: race({"a": nm.Gaussian([3.0]), "b": gaussian(1)}), "sampler 'a'", "one space"),
    "columns": (lambda: race({"a": frames("yxz"), "b": gaussian(1)}, FRAMES), "generator 'a'", "the same order"),
    "one argument": (lambda: race({"a": lambda n: None, "b": gaussian(1)}), "sampler 'a'", "n, rng"),
    "by client": (lambda: race({"a": {"north": gaussian(1), "south": gaussian(1)}, "b": gaussian(1)}), "'a'", "intra"),
    "intra of two arguments": (lambda: race(ALIKE, FEDERATION, "fid", "intra"), "'one'", "client, n, rng"),
    "metric": (lambda: race(metric="vendi"), "metric", '"kid"'),
    "metric of the clients": (lambda: race(metric="fid_infinity"), "metric", '"fid"'),
    "by": (lambda: race(by="gap"), "by", "worst"),
    "budget": (lambda: race(budget=1_799), "budget", "at least 1,800"),
    "error": (lambda: race(error=0), "error", "number from"),
    "tolerance": (lambda: race(tolerance=-1), "tolerance", "at least 0"),
    "seed": (lambda: race(seed=-1), "seed", "at least 0"),
    "progress": (lambda: race(progress="often"), "progress", "auto"),
    "store": (lambda: race(store=3), "store", "folder"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_by_name_with_the_fix(case):
    call, argument, fix = REFUSED[case]
    with pytest.raises(nm.InvalidInput) as refusal:
        call()
    assert argument in refusal.value.argument and fix in refusal.value.fix


def test_an_error_in_a_sampler_is_told_with_its_name():
    def broken(n, rng):
        raise ZeroDivisionError("of its own")

    with pytest.raises(ZeroDivisionError) as caught:
        nm.race(FEDERATION, {"fine": lambda n, rng: rng.normal(size=(n, FEDERATION.dim)), "broken": broken})
    assert caught.value.__notes__ == ["while generator 'broken' was drawn from"]


def test_the_lower_end_of_a_winners_margin_does_not_read_as_zero():
    looks, draws = [{"look": 1, "sampler": "a"}], {"a": 600, "b": 350}
    log = RaceLog("FID-all", 0.05, 0.0, 1_200, looks=looks, stopped="winner", left=["a"], draws=draws)
    log.margin = "b", Bounds(0.0961, 0.0021, 0.1901)
    assert "is worse by 0.096 (0.002 to 0.190). " in log.reason
    log.margin = "b", Bounds(1.0, 0.5, 1.5)
    assert "is worse by 1.0 (0.5 to 1.5). " in log.reason
