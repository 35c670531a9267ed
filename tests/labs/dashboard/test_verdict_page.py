"""The verdict: Python beside the page, beside a function written from the tables alone, and sentences as read."""

import math
import re

import numpy as np
import pytest

from nbmetrics.labs.dashboard.verdict import VerdictContext, aggregate, p_text, verdict
from tests.labs.dashboard.page import said
from tests.node import needs_node

NAMES = ["Narrow", "Wide", "Shifted", "Small", "Copycat", "Noisy", "Blurry", "Dim"]
FULL = {"label": "FID", "clients": 10, "scored": 10, "enough": 10}
# Independent noise of ±1 about 0 in all combinations: se of a difference is √2, whatever is drawn.
SIGNS = np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, -1).T


def noise(size, sd=0.05):
    return None if sd is None else sd * np.tile(SIGNS, 2)[:, :size]


def read(avg, pooled=None, *, plain=None, plain_pooled=None, sd=0.05, **about):
    names = NAMES[: len(avg)]
    sides = []
    for centres, shown in ((avg, plain), (pooled, plain_pooled)):
        if centres is not None:
            centres = np.array(centres, dtype=float)
            shown = centres if shown is None else np.array(shown, dtype=float)
            sides.append(aggregate(shown, centres, noise(len(names), sd)))
    return verdict(names, sides[0], sides[1] if len(sides) > 1 else None, VerdictContext(**{**FULL, **about}))


CASES = {
    "not tested yet": (
        dict(avg=[1, 2], pooled=[2, 1], testing=True),
        "testing",
        ["On FID, Narrow is first by avg and Wide by all so far; testing whether that is chance …"],
    ),
    "noise not known yet": (
        dict(avg=[1, 2], pooled=[1, 2], sd=None, testing=True),
        "testing",
        ["On FID, Narrow is first by avg and by all so far; testing whether that is chance …"],
    ),
    "tested": (
        dict(avg=[1, 2], pooled=[1, 2], p=0.3, testing=True),
        "winner",
        [
            "On FID, Narrow wins, by avg and by all.",
            "Narrow is ahead of Wide: one-sided p < 0.001, unadjusted.",
            "Checked: the clients are not shown to differ by more than chance (p = 0.3).",
            "Checked: enough rows for an interval at 10 of 10 clients.",
        ],
    ),
    "winner": (
        dict(avg=[1, 2], pooled=[1, 2], p=0.3),
        "winner",
        [
            "On FID, Narrow wins, by avg and by all.",
            "Narrow is ahead of Wide: one-sided p < 0.001, unadjusted.",
            "Checked: the clients are not shown to differ by more than chance (p = 0.3).",
            "Checked: enough rows for an interval at 10 of 10 clients.",
        ],
    ),
    "tie of two": (
        dict(avg=[1.05, 1], pooled=[1.05, 1], p=0.012, enough=7),
        "tie",
        [
            "On FID, Wide and Narrow are tied, by avg and by all.",
            "Wide is ahead of Narrow: one-sided p = 0.24, unadjusted.",
            "Checked: the clients differ by more than chance (p = 0.012).",
            "Enough rows for an interval at only 7 of 10 clients.",
        ],
    ),
    "intra and all disagree, whatever the test of the clients says": (
        dict(avg=[1, 2], pooled=[2, 1], p=0.4, average="intra", testing=True),
        "winner",
        [
            "On FID, intra and all disagree: Narrow wins by intra, Wide by all. "
            "Chance and sample size do not explain this.",
            "Narrow is ahead of Wide by intra: one-sided p < 0.001, unadjusted.",
            "Wide is ahead of Narrow by all: one-sided p < 0.001, unadjusted.",
            "Checked: enough rows for an interval at 10 of 10 clients.",
        ],
    ),
    "intra by few rows": (
        dict(
            avg=[1, 1.04],
            pooled=[1, 1.04],
            plain=[2, 1.5],
            corrected=True,
            p=0.01,
            average="intra",
            enough=9,
            few=("x",),
        ),
        "size",
        [
            "On FID, Wide is first by intra and Narrow by all, which sample size may explain. "
            "Corrected for few rows, Narrow and Wide are tied.",
            "Narrow is ahead of Wide: one-sided p = 0.29, unadjusted.",
            "Enough rows for an interval at only 9 of 10 clients: intra leaves out x.",
        ],
    ),
    "few rows, and below 0": (
        dict(avg=[-1, 2], pooled=[-1, 2], p=0.3, enough=6, few=("a", "b", "c", "d"), distance=True),
        "winner",
        [
            "On FID, Narrow wins, by avg and by all.",
            "Narrow is ahead of Wide: one-sided p < 0.001, unadjusted.",
            "Checked: the clients are not shown to differ by more than chance (p = 0.3).",
            "Enough rows for an interval at only 6 of 10 clients: avg leaves out a, b, c and 1 more.",
            "FID all of Narrow is below 0 by more than chance, perhaps because it was fitted to these same rows. "
            "AuthPct and C_T are scores that notice copies.",
        ],
    ),
    "below 0 by more than chance": (
        dict(avg=[-0.15, -0.17], distance=True, enough=9, few=("north",)),
        "tie",
        [
            "On FID, Wide and Narrow are tied.",
            "Wide is ahead of Narrow: one-sided p = 0.39, unadjusted.",
            "Enough rows for an interval at only 9 of 10 clients: without north.",
            "FID of Wide is below 0 by more than chance, perhaps because it was fitted to these same rows. "
            "AuthPct and C_T are scores that notice copies.",
        ],
    ),
    "tie of three": (
        dict(avg=[1, 1.02, 1.01, 3], pooled=[1, 1.02, 1.01, 3]),
        "tie",
        [
            "On FID, there is a tie of 3, by avg and by all: Narrow, Shifted and Wide.",
            "Narrow is ahead of Shifted: one-sided p = 0.44, unadjusted.",
            "Not tested: whether the clients differ by more than chance.",
            "Checked: enough rows for an interval at 10 of 10 clients.",
        ],
    ),
    "all tied": (
        dict(avg=[1, 1, 1], pooled=[1, 1, 1], sd=0.0),
        "tie",
        [
            "On FID, all 3 generators are tied, by avg and by all: Narrow, Wide and Shifted.",
            "These scores are exact: nothing was sampled, so chance plays no part.",
            "Checked: enough rows for an interval at 10 of 10 clients.",
        ],
    ),
    "a tie by one of them": (
        dict(avg=[1, 1.02], pooled=[1, 2], enough=None, p=0.01),
        "tie",
        [
            "On FID, only Narrow is among the best by avg and by all: "
            "Narrow and Wide are tied by avg; Narrow wins by all.",
            "Narrow is ahead of Wide: one-sided p = 0.39, unadjusted.",
            "Checked: the clients differ by more than chance (p = 0.01).",
        ],
    ),
    "disagree": (
        dict(avg=[1, 2], pooled=[2, 1], p=0.002, enough=None),
        "winner",
        [
            "On FID, avg and all disagree: Narrow wins by avg, Wide by all. "
            "Chance and sample size do not explain this.",
            "Narrow is ahead of Wide by avg: one-sided p < 0.001, unadjusted.",
            "Wide is ahead of Narrow by all: one-sided p < 0.001, unadjusted.",
            "Checked: the clients differ by more than chance (p = 0.002).",
        ],
    ),
    "disagree exactly": (
        dict(avg=[1, 2, 3], pooled=[2, 1, 1], sd=0.0, enough=None),
        "winner",
        [
            "On FID, avg and all disagree: Narrow wins by avg; Wide and Shifted are tied by all. "
            "Chance and sample size do not explain this.",
            "These scores are exact: nothing was sampled, so chance plays no part.",
        ],
    ),
    "sample size": (
        dict(avg=[1, 2], pooled=[1, 2], plain=[2, 1], p=0.4, corrected=True, enough=None),
        "size",
        [
            "On FID, Wide is first by avg and Narrow by all, which sample size alone can explain. "
            "Corrected for few rows, Narrow wins.",
            "Narrow is ahead of Wide: one-sided p < 0.001, unadjusted.",
            "Checked: the clients are not shown to differ by more than chance (p = 0.4).",
        ],
    ),
    "sample size, untested": (
        dict(avg=[1, 1.02], pooled=[1.02, 1], enough=None),
        "size",
        [
            "On FID, Narrow is first by avg and Wide by all, which sample size may explain (not tested). "
            "Allowing for chance, Narrow and Wide are tied.",
            "Narrow is ahead of Wide by avg: one-sided p = 0.39, unadjusted.",
            "Wide is ahead of Narrow by all: one-sided p = 0.39, unadjusted.",
            "Not tested: whether the clients differ by more than chance.",
        ],
    ),
    "sample size, though clients differ": (
        dict(avg=[1, 1.02], pooled=[1.02, 1], p=0.0001, enough=None),
        "size",
        [
            "On FID, Narrow is first by avg and Wide by all, which sample size may still explain. "
            "Allowing for chance, Narrow and Wide are tied.",
            "Narrow is ahead of Wide by avg: one-sided p = 0.39, unadjusted.",
            "Wide is ahead of Narrow by all: one-sided p = 0.39, unadjusted.",
            "Checked: the clients differ by more than chance (p < 0.001).",
        ],
    ),
    "few rows mislead both": (
        dict(avg=[1, 2], pooled=[1, 2], plain=[2, 1], plain_pooled=[2, 1], p=0.4, corrected=True, enough=None),
        "winner",
        [
            "On FID, Narrow wins, by avg and by all.",
            "Narrow is ahead of Wide: one-sided p < 0.001, unadjusted.",
            "Without the correction for few rows, Wide would be first by avg and by all.",
            "Checked: the clients are not shown to differ by more than chance (p = 0.4).",
        ],
    ),
    "no intervals": (
        dict(avg=[1, 2], pooled=[2, 1], sd=None),
        "unknown",
        ["On FID, Narrow is first by avg and Wide by all; this may be chance: no intervals were computed."],
    ),
    "no intervals, one order": (
        dict(avg=[1, 1, 2], pooled=[1, 1, 2], sd=None, why="few rows"),
        "unknown",
        ["On FID, Narrow and Wide are first by avg and by all; this may be chance: few rows."],
    ),
    "no noise of the first": (
        dict(avg=[1, 2], pooled=[1, 2], sd=math.nan, why="north has too few rows", p=0.2),
        "unknown",
        ["On FID, Narrow is first by avg and by all; this may be chance: north has too few rows."],
    ),
    "one column": (
        dict(avg=[1, 2], label="KID", same=True),
        "winner",
        [
            "On KID, Narrow wins; avg and all always agree.",
            "Narrow is ahead of Wide: one-sided p < 0.001, unadjusted.",
            "Checked: enough rows for an interval at 10 of 10 clients.",
        ],
    ),
    "so far": (
        dict(avg=[1, 1.02, 1.01], label="KID", same=True, scored=34, clients=100, enough=None),
        "tie",
        [
            "So far, 34 of 100 clients: on KID, all 3 generators are tied: Narrow, Shifted and Wide; "
            "avg and all always agree.",
            "Narrow is ahead of Shifted: one-sided p = 0.44, unadjusted.",
        ],
    ),
    "NaN and infinite": (
        dict(avg=[math.nan, 1, math.inf], pooled=[math.nan, 1, math.inf], p=0.2, enough=None),
        "winner",
        [
            "On FID, Wide wins, by avg and by all.",
            "Wide is ahead of Shifted: one-sided p < 0.001, unadjusted.",
            "Checked: the clients are not shown to differ by more than chance (p = 0.2).",
            "No score for Narrow.",
        ],
    ),
    "one generator": (dict(avg=[1]), "unknown", ["Only one generator, Narrow: there is nothing to compare on FID."]),
    "one score": (
        dict(avg=[math.nan, 3]),
        "unknown",
        ["Only one generator, Wide, has a score on FID."],
    ),
    "no score": (dict(avg=[math.nan] * 2), "unknown", ["On FID, no generator has a score."]),
    "no score by all": (
        dict(avg=[1, 2], pooled=[math.nan] * 2, label="Precision"),
        "unknown",
        ["On Precision, no generator has a score by all."],
    ),
    "no score by either": (
        dict(avg=[math.nan] * 2, pooled=[math.nan] * 2),
        "unknown",
        ["On FID, no generator has a score."],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_said(case):
    given, state, sentences = CASES[case]
    told = read(**given)
    assert (told.state, list(told.sentences)) == (state, sentences)


def test_every_co_leader_is_named_up_to_five():
    many = read([1] * 5 + [9] * 3, sd=0.0)
    assert many.sentences[0] == "On FID, there is a tie of 5: Narrow, Wide, Shifted, Small and Copycat."
    assert read([1] * 7 + [9], sd=0.0).sentences[0] == "On FID, there is a tie of 7: Narrow, Wide, Shifted and 4 more."
    assert len(read([1] * 7 + [9], sd=0.0).avg) == 7


@pytest.mark.parametrize(
    ("p", "words"),
    [(0.5, "p = 0.5"), (0.394, "p = 0.39"), (0.0126, "p = 0.013"), (0.0006, "p = 0.001"), (0.0004, "p < 0.001")],
)
def test_p_values_in_words(p, words):
    assert p_text(p) == words


def from_tables(plain, centres, draws, p):
    """State and leaders by avg and by all, from the tables alone; draws as lists of rows, p None or a number."""

    def ahead(losses, rows):
        margin = {}
        pairs = [(a, b) for a in range(len(losses)) for b in range(a)]
        spread = {(a, b): np.std([row[a] - row[b] for row in rows]) for a, b in pairs}
        tops = [max([abs(r[a] - r[b]) / s for (a, b), s in spread.items() if s > 1e-12] or [0]) for r in rows]
        c = sorted(tops)[min(math.ceil((len(rows) + 1) * 0.95), len(rows)) - 1]
        for (a, b), s in spread.items():
            margin[a, b] = margin[b, a] = c * s if s > 1e-12 else 1e-9 * max(abs(losses[a]), abs(losses[b]))
        best = min(range(len(losses)), key=lambda g: losses[g])
        return {g for g in range(len(losses)) if g == best or losses[g] - losses[best] <= margin[best, g]}

    if draws is None:
        return "unknown", *[{g for g, x in enumerate(one) if x == min(one)} for one in plain]
    lead = [ahead(losses, rows) for losses, rows in zip(centres, draws, strict=True)]
    tops = [ahead(losses, [[0.0] * len(losses)]) for losses in plain]
    exact = plain == centres and not np.any(draws)
    if not lead[0] & lead[1] and (exact or (p is not None and p <= 0.05)):
        return "winner", *lead
    if not tops[0] & tops[1]:
        return "size", *lead
    return ("winner" if lead[0] == lead[1] and len(lead[0]) == 1 else "tie"), *lead


def worlds(rng, count):
    for _ in range(count):
        size, kind = int(rng.integers(2, 6)), rng.integers(5)
        centres = rng.integers(1, 4, (2, size)) + rng.normal(0, 0.1, (2, size)) * (kind > 0)
        centres[1] = np.where(rng.integers(2), centres[0], centres[1])
        plain = centres + rng.choice([0.0, 1.0]) * rng.normal(size=(2, size)) * (kind > 1)
        sd = 0.0 if kind < 2 else rng.choice([0.02, 0.2, 1.0])
        draws = None if kind == 4 and rng.integers(2) else rng.normal(0, sd, (2, 40, size))
        p = [None, 0.05, 0.3, 0.002][rng.integers(4)]
        yield plain, centres, draws, p


def sides_of(plain, centres, draws):
    return [aggregate(plain[k], centres[k], None if draws is None else draws[k]) for k in (0, 1)]


def test_state_and_leaders_are_those_of_the_tables():
    seen = {}
    for plain, centres, draws, p in worlds(np.random.default_rng(0), 300):
        told = verdict(NAMES[: plain.shape[1]], *sides_of(plain, centres, draws), VerdictContext("FID", p=p))
        tables = [one if one is None else one.tolist() for one in (plain, centres, draws)]
        state, *lead = from_tables(*tables, p)
        assert (told.state, *map(set, (told.avg, told.all))) == (state, *[{NAMES[g] for g in one} for one in lead])
        text = " ".join(told.sentences)
        is_real = state == "winner" and not lead[0] & lead[1]
        assert ("disagree" in text) == is_real and (state != "size" or "sample size" in text)
        for name in {*told.avg, *told.all}:
            assert name in told.sentences[0]
        seen[state, is_real] = seen.get((state, is_real), 0) + 1
    assert len(seen) == 5 and min(seen.values()) >= 10, seen


@needs_node
def test_page_and_python_say_the_same():
    cases = []
    for given, *_ in CASES.values():
        given = {"pooled": None, "plain": None, "plain_pooled": None, "sd": 0.05, **given}
        cases.append((read(**given), given))
    tried = []
    for _, given in cases:
        size = len(given["avg"])
        about = {key: value for key, value in given.items() if key in VerdictContext.__dataclass_fields__}
        sides = [
            (given["plain"] or given["avg"], given["avg"]),
            (given["plain_pooled"] or given["pooled"], given["pooled"]),
        ]
        tried.append([NAMES[:size], *[[*side, noise(size, given["sd"])] for side in sides], {**FULL, **about}])
    told = [one for one, _ in cases]
    for plain, centres, draws, p in worlds(np.random.default_rng(1), 150):
        names, about = NAMES[: plain.shape[1]], {"label": "FID", "p": p, "corrected": True}
        told.append(verdict(names, *sides_of(plain, centres, draws), VerdictContext(**about)))
        tried.append([names, *[[plain[k], centres[k], None if draws is None else draws[k]] for k in (0, 1)], about])
    found = said(
        "verdict.js",
        "aggregate, verdict",
        "const side = ([plain, centres, draws]) => centres && aggregate(plain, centres, columns(draws));"
        "say(given.map(([names, avg, all, about]) => verdict(names, side(avg), side(all), about)));",
        tried,
    )
    for page, python in zip(found, told, strict=True):
        assert page["sentences"] == list(python.sentences)
        assert (page["state"], page["avg"], page["all"]) == (python.state, list(python.avg), list(python.all))
    assert len({re.sub("|".join(NAMES), "g", page["sentences"][0]) for page in found}) > 20
