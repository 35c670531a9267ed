"""The verdict on one metric, in words: a winner, a tie, an order that sample size explains, or not enough data.

Twin: labs/dashboard/view/verdict.js · held by: tests/labs/dashboard/test_verdict_page.py

Flow: the leaders by avg and by all → whether they contradict one another, and whether that is shown to be more than
chance and sample size → the state → a headline that names every leader → how sure it is → what was checked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...ranking import all_lowest, lowest, order, same_scores
from .place_ranges import Ranges, leaders, order_pvalue, place_ranges, standard_errors_apart

# Clients differ by more than chance where the p-value of their permutation test is at most this.
SIGNIFICANCE_LEVEL = 0.05
MAX_NAMES_LISTED, NAMES_LISTED_OF_MORE = 5, 3
# Standard errors beyond which a score below 0 is no chance, one-sided 1 in 2,000; as in evaluation/winners.py.
SURE_ERRORS = 3.29
ROWS_AT, ROWS_AT_ONLY = "Checked: enough rows for an interval at", "Enough rows for an interval at only"


@dataclass(frozen=True, eq=False)
class Aggregate:
    """The generators by avg, or by all, as losses: lower is better.

    Attributes
    ----------
    plain : (G,) as the table shows them
    centres : (G,) without the bias of few rows where that can be taken off
    draws : (B, G) their noise, 0 where they are exact; None where it is not known
    ranges : the places that follow
    """

    plain: np.ndarray
    centres: np.ndarray
    draws: np.ndarray | None
    ranges: Ranges


@dataclass(frozen=True)
class VerdictContext:
    """What is known of a metric beside its losses.

    Attributes
    ----------
    label : the metric, as users read it
    same : whether avg and all have one order by nature (KID)
    corrected : whether the centres are without the bias of few rows
    clients, scored : how many clients there are, and with how many of them every generator was scored
    enough : how many clients have rows enough to tell generators apart; None where nobody looked
    p : of the test that clients differ by chance only; None where it was not made
    why : the reason why there are no draws
    few : names of the clients that have not
    average : what the weighted mean over clients is called: avg or intra
    distance : whether a true score is never below 0, and an estimate may be
    testing : whether what is not known yet is still computed
    """

    label: str
    same: bool = False
    corrected: bool = False
    clients: int = 0
    scored: int = 0
    enough: int | None = None
    p: float | None = None
    why: str = "no intervals were computed"
    few: tuple[str, ...] = ()
    distance: bool = False
    testing: bool = False
    average: str = "avg"

    @property
    def by(self) -> tuple[str, str]:
        """The names of the two aggregates."""
        return self.average, "all"

    @property
    def is_of_clients(self) -> bool:
        """Whether avg and all can differ by chance alone only if the clients do not differ, so that p decides.

        intra and all differ for alike clients, too, where a generator's parts differ: the intervals decide alone.
        """
        return self.average == "avg"


@dataclass(frozen=True)
class Verdict:
    """Attributes
    ----------
    state : "winner", "tie", "size", "unknown", or "testing" while one of them is still computed
    avg, all : names of the leaders by each, best first
    sentences : the headline, how sure it is, and what was checked
    """

    state: str
    avg: tuple[str, ...]
    all: tuple[str, ...]
    sentences: tuple[str, ...]


def aggregate(plain: np.ndarray, centres: np.ndarray, draws: np.ndarray | None) -> Aggregate:
    """Return losses with the ranges of places that follow from them."""
    return Aggregate(plain, centres, draws, place_ranges(centres, draws))


def verdict(names: Sequence[str], avg: Aggregate, pooled: Aggregate | None, about: VerdictContext) -> Verdict:
    """Return what can be said of who is best.

    `pooled` is None where there is one list of leaders: where avg and all have one order, or there is one client.
    """
    sides = [avg] if pooled is None else [avg, pooled]
    placed = [g for g in range(len(names)) if not any(np.isnan(side.centres[g]) for side in sides)]
    below = _scores_below_zero(names, sides, about)
    if len(placed) < 2:
        winners = [placed] * len(sides)
        missing = _missing_aggregate(sides, about.by)
        body = _too_few_generators([names[g] for g in placed], len(names), about.label, missing)
        return _verdict("unknown", names, winners, [body, *below], about)
    sure = [g for g in placed if not any(_is_unsure(side, g) for side in sides)]
    is_known = len(sure) >= 2 and all(_is_known(side) for side in sides)
    is_tested = len(sides) < 2 or not about.is_of_clients or _is_tested(about.p)
    if about.testing and not (is_known and (is_tested or _is_exact(sides))):
        winners = [all_lowest(side.plain) for side in sides]
        first = _first_by_scores(names, winners, about.by)
        body = f"on {about.label}, {first} so far; testing whether that is chance …"
        return _verdict("testing", names, winners, [body, *_generators_without_score(names, placed)], about)
    if not is_known:
        winners = [all_lowest(side.plain) for side in sides]
        body = f"on {about.label}, {_first_by_scores(names, winners, about.by)}; this may be chance: {about.why}."
        return _verdict("unknown", names, winners, [body, *_generators_without_score(names, placed), *below], about)
    winners = [[g for g in leaders(side.ranges, side.centres) if g in sure] for side in sides]
    state, body = _state_and_headline(names, sides, winners, about, len(sure))
    more = [*_p_values(names, sides, sure, about.by), *_winners_without_correction(names, sides, winners, about, state)]
    lost = [
        *_generators_without_interval(names, [g for g in placed if g not in sure]),
        *_generators_without_score(names, placed),
    ]
    return _verdict(state, names, winners, [body, *more, *_checked_sentences(sides, about), *lost, *below], about)


def _state_and_headline(
    names: Sequence[str],
    sides: Sequence[Aggregate],
    winners: Sequence[list[int]],
    about: VerdictContext,
    size: int,
) -> tuple[str, str]:
    """Return the state and its headline."""
    on, average = f"on {about.label}, ", about.average
    tops = [all_lowest(side.plain) for side in sides]
    is_shown = _is_exact(sides) or not about.is_of_clients or _clients_differ(about.p)
    is_real = not set(winners[0]) & set(winners[-1]) and is_shown
    if is_real:
        more = "Chance and sample size do not explain this"
        return "winner", f"{on}{average} and all disagree: {_leaders_by_each(names, winners, about.by)}. {more}."
    if not set(tops[0]) & set(tops[-1]):
        fix = "Corrected for few rows" if about.corrected else "Allowing for chance"
        cause, corrected = _sample_size_clause(about), _corrected_leaders(names, winners, about.by)
        return "size", f"{on}{_first_by_scores(names, tops, about.by)}, {cause}. {fix}, {corrected}."
    by = f", by {average} and by all" if len(sides) > 1 else ""
    always = f"; {average} and all always agree" if about.same else ""
    if set(winners[0]) != set(winners[-1]):
        by_both = [g for g in winners[0] if g in winners[-1]]
        doubt = "" if by_both else ", which may be chance"
        head = "there is no single winner"
        if len(by_both) == 1:
            head = f"only {names[by_both[0]]} is among the best by {average} and by all"
        return "tie", f"{on}{head}: {_leaders_by_each(names, winners, about.by)}{doubt}."
    if len(winners[0]) == 1:
        return "winner", f"{on}{join_names(names, winners[0])} wins{by}{always}."
    if len(winners[0]) == 2:
        return "tie", f"{on}{join_names(names, winners[0])} are tied{by}{always}."
    tie = f"all {size} generators are tied" if len(winners[0]) == size else f"there is a tie of {len(winners[0])}"
    return "tie", f"{on}{tie}{by}: {join_names(names, winners[0])}{always}."


def _verdict(
    state: str,
    names: Sequence[str],
    winners: Sequence[list[int]],
    sentences: Sequence[str],
    about: VerdictContext,
) -> Verdict:
    is_partial = about.scored < about.clients
    prefix = f"So far, {about.scored} of {about.clients} clients: " if is_partial else ""
    headline = prefix + sentences[0] if is_partial else sentences[0][0].upper() + sentences[0][1:]
    by = [tuple(names[g] for g in one) for one in winners]
    return Verdict(state, by[0], by[-1], (headline, *sentences[1:]))


def _missing_aggregate(sides: Sequence[Aggregate], by: Sequence[str]) -> str:
    """Return " by all" where no generator has a score by all and some have one by avg, or the reverse."""
    missing = [part for side, part in zip(sides, by, strict=False) if np.isnan(side.centres).all()]
    return f" by {missing[0]}" if len(missing) < len(sides) and missing else ""


def _too_few_generators(placed: Sequence[str], size: int, label: str, missing: str) -> str:
    if not placed:
        return f"on {label}, no generator has a score{missing}."
    if size == 1:
        return f"only one generator, {placed[0]}: there is nothing to compare on {label}."
    return f"only one generator, {placed[0]}, has a score on {label}."


def _is_known(side: Aggregate) -> bool:
    """Whether there are draws of the one in front, so that it can be told from anyone."""
    return side.draws is not None and bool(np.isfinite(side.draws[:, lowest(side.centres)]).all())


def _is_exact(sides: Sequence[Aggregate]) -> bool:
    """Whether nothing was drawn: neither noise nor bias."""
    return all(
        side.draws is not None
        and not side.draws.any()
        and bool((same_scores(side.plain, side.centres) | (np.isnan(side.plain) & np.isnan(side.centres))).all())
        for side in sides
    )


def _is_tested(p: float | None) -> bool:
    return p is not None and not math.isnan(p)


def _clients_differ(p: float | None) -> bool:
    return p is not None and p <= SIGNIFICANCE_LEVEL


def _sample_size_clause(about: VerdictContext) -> str:
    """Return whether sample size may explain two orders, as a clause."""
    p = about.p
    if not about.is_of_clients:
        return "which sample size may explain"
    if p is None or math.isnan(p):
        return "which sample size may explain (not tested)"
    if _clients_differ(p):
        return "which sample size may still explain"
    return "which sample size alone can explain"


def join_names(names: Sequence[str], which: Sequence[int], most_named: int = MAX_NAMES_LISTED) -> str:
    """Return all names, or the first of many and how many more, as text."""
    if len(which) > most_named:
        first = ", ".join(names[g] for g in which[:NAMES_LISTED_OF_MORE])
        return f"{first} and {len(which) - NAMES_LISTED_OF_MORE} more"
    *most, last = [names[g] for g in which]
    return f"{', '.join(most)} and {last}" if most else last


def _verb(which: Sequence[int], one: str, many: str) -> str:
    return one if len(which) == 1 else many


def _first_by_scores(names: Sequence[str], firsts: Sequence[list[int]], by: tuple[str, str]) -> str:
    """Return who is first by the plain scores, in one clause where both aggregates agree."""
    said = f"{join_names(names, firsts[0])} {_verb(firsts[0], 'is', 'are')} first"
    if len(firsts) == 1:
        return said
    if set(firsts[0]) == set(firsts[1]):
        return f"{said} by {by[0]} and by {by[1]}"
    return f"{said} by {by[0]} and {join_names(names, firsts[1])} by {by[1]}"


def _leaders_by_each(names: Sequence[str], winners: Sequence[list[int]], by: tuple[str, str]) -> str:
    """Return who leads by each aggregate, in words."""
    if len(winners[0]) == len(winners[1]) == 1:
        return f"{names[winners[0][0]]} wins by {by[0]}, {names[winners[1][0]]} by {by[1]}"
    parts = [f"{join_names(names, one)} {_verb(one, 'wins', 'are tied')}" for one in winners]
    return f"{parts[0]} by {by[0]}; {parts[1]} by {by[1]}"


def _corrected_leaders(names: Sequence[str], winners: Sequence[list[int]], by: tuple[str, str]) -> str:
    if set(winners[0]) != set(winners[-1]):
        return _leaders_by_each(names, winners, by)
    return f"{join_names(names, winners[0])} {_verb(winners[0], 'wins', 'are tied')}"


def _p_values(
    names: Sequence[str], sides: Sequence[Aggregate], placed: Sequence[int], by: tuple[str, str]
) -> list[str]:
    """Return how easily chance puts the leader before its closest rival: once where both aggregates name one pair."""
    if _is_exact(sides):
        return ["These scores are exact: nothing was sampled, so chance plays no part."]
    closest = [_leader_and_rival(side, placed) for side in sides]
    pairs = [(leader, rival) for leader, rival, _ in closest]
    tied = [not side.ranges.better[pair] for side, pair in zip(sides, pairs, strict=True)]
    alone = [_multiplicity_note(p, is_tied, len(placed)) for (*_, p), is_tied in zip(closest, tied, strict=True)]
    if pairs[0] == pairs[-1]:
        p = float(np.max([p for *_, p in closest]))
        return [_pvalue_sentence(names, *pairs[0], p, "", _multiplicity_note(p, any(tied), len(placed)))]
    parts = zip(closest, by, alone, strict=True)
    return [_pvalue_sentence(names, *one, f" by {part}", more) for one, part, more in parts]


def _multiplicity_note(p: float, is_tied: bool, size: int) -> str:
    """Return why a small p-value is no separation where many pairs are compared."""
    if not is_tied or not p < SIGNIFICANCE_LEVEL or size < 3:
        return ""
    return f" (not small enough for {size * (size - 1) // 2} pairs compared at once)"


def _leader_and_rival(side: Aggregate, placed: Sequence[int]) -> tuple[int, int, float]:
    """Return the leader, the rival that is fewest standard errors behind it, and the p-value of their order."""
    leader = leaders(side.ranges, side.centres)[0]
    rivals = [int(g) for g in order(side.centres) if g != leader and g in placed]
    away = [standard_errors_apart(side.centres, side.draws, leader, g) for g in rivals]
    rival = rivals[lowest(np.nan_to_num(away, nan=np.inf))]
    return leader, rival, order_pvalue(side.centres, side.draws, leader, rival)


def _pvalue_sentence(names: Sequence[str], leader: int, rival: int, p: float, by: str, more: str) -> str:
    if math.isnan(p):
        return f"No p-value for {names[leader]} over {names[rival]}{by}."
    if p == 0.5:
        return f"{names[leader]} and {names[rival]} score the same{by}."
    return f"{names[leader]} is ahead of {names[rival]}{by}: one-sided {p_text(p)}, unadjusted{more}."


def _winners_without_correction(
    names: Sequence[str],
    sides: Sequence[Aggregate],
    winners: Sequence[list[int]],
    about: VerdictContext,
    state: str,
) -> list[str]:
    """Return sentences where the table shows another generator first than the verdict does."""
    if state == "size" or not about.corrected:
        return []
    tops = [all_lowest(side.plain) for side in sides]
    turned: dict[str, list[str]] = {}
    for top, one, by in zip(tops, winners, about.by, strict=False):
        if not set(top) & set(one):
            turned.setdefault(f"{join_names(names, top)} would be first", []).append(
                f"by {by}" if len(sides) > 1 else ""
            )
    return [
        f"Without the correction for few rows, {who} {' and '.join(by)}".rstrip() + "." for who, by in turned.items()
    ]


def _checked_sentences(sides: Sequence[Aggregate], about: VerdictContext) -> list[str]:
    """Return what was checked, with either outcome, so that silence is never good news."""
    said = []
    if len(sides) > 1 and about.is_of_clients and not _is_exact(sides):
        if about.p is None or math.isnan(about.p):
            said.append("Not tested: whether the clients differ by more than chance.")
        else:
            how = "differ" if _clients_differ(about.p) else "are not shown to differ"
            said.append(f"Checked: the clients {how} by more than chance ({p_text(about.p)}).")
    if about.enough is not None:
        rows = ROWS_AT_ONLY if about.enough < about.clients else ROWS_AT
        whose = f"{about.average} leaves out" if len(sides) > 1 else "without"
        left = f": {whose} {join_names(about.few, range(len(about.few)), NAMES_LISTED_OF_MORE)}" if about.few else ""
        said.append(f"{rows} {about.enough} of {about.clients} clients{left}.")
    return said


def _scores_below_zero(names: Sequence[str], sides: Sequence[Aggregate], about: VerdictContext) -> list[str]:
    """Return who scores better than a perfect generator by more than chance, as one that was fitted to these rows."""
    side = sides[-1]
    if not about.distance or side.draws is None:
        return []
    with np.errstate(invalid="ignore"):
        ends = side.centres + SURE_ERRORS * side.draws.std(axis=0)
    which = [g for g in range(len(names)) if ends[g] < 0.0]
    if not which:
        return []
    by = " all" if len(sides) > 1 else ""
    they = "it was" if len(which) == 1 else "they were"
    said = f"{about.label}{by} of {join_names(names, which)} is below 0 by more than chance"
    return [f"{said}, perhaps because {they} fitted to these same rows. AuthPct and C_T are scores that notice copies."]


def p_text(p: float) -> str:
    """Return a p-value as it is read: "p = 0.12"."""
    if p < 0.0005:
        return "p < 0.001"
    places = 1000 if p < 0.1 else 100
    return f"p = {math.floor(p * places + 0.5) / places:g}"


def _is_unsure(side: Aggregate, g: int) -> bool:
    """Whether the noise of one generator is not known."""
    return side.draws is None or bool(np.isnan(side.draws[:, g]).any())


def _generators_without_interval(names: Sequence[str], unsure: Sequence[int]) -> list[str]:
    """Return which generators have no interval, as a sentence."""
    return [f"No interval for {join_names(names, unsure)}: not compared."] if unsure else []


def _generators_without_score(names: Sequence[str], placed: Sequence[int]) -> list[str]:
    without = [g for g in range(len(names)) if g not in placed]
    return [f"No score for {join_names(names, without)}."] if without else []


def percent(share: float) -> str:
    """Return a share from 0 to 1 in percent: one decimal below 10, none above."""
    if 0 < share < 0.0005:
        return "less than 0.1\u00a0%"
    tenths = math.floor(1000 * share + 0.5)
    return f"{tenths / 10 if tenths < 100 else math.floor(100 * share + 0.5):g}\u00a0%"
