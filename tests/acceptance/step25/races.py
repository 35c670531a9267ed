"""A race names no winner that is worse for what was seen, says what it may not have seen, and still decides."""

import math

import nbmetrics as nm
from tests.acceptance.harness import Part, share
from tests.calibration.race import BY, HEAVY, RARE, TOLERANCE, limit, limit_race, setting, truths

# Twice the draws that races took before winners were confirmed, with samplers that differ or a tolerance.
BUDGETS = {
    "Gaussians, d 16": 6_542,
    "Gaussians, d 64": 6_604,
    "digits": 10_372,
    "emoji features": 3_502,
    "KID, d 16": 18_226,
    "avg, d 16": 6_126,
    "worst, d 16": 13_270,
    "intra, d 16": 8_192,
    "skewed, d 8": 7_332,
    "loose, d 16": 24_754,
    "two alike, tolerance": 7_096,
}


def named(seed):
    """A race in each setting of rare garbage and heavy tails: its winner, whether it is wrong, whether it is told."""
    results = {}
    for name in (*RARE, *HEAVY):
        race, is_wrong = limit_race(name, 10_000 + seed)
        rows = race.draws.get(race.winner, 0)
        says = f"rarer than 3/{rows} may not have been seen: here " in race.reason
        says = says and all(caution in race.reason for caution in [*race.cautions.values()][:1])
        results[name] = [race.winner, bool(is_wrong), rows, says]
    return results


def judge_named(results):
    for name in (*RARE, *HEAVY):
        winners = [result[name] for result in results if result[name][0]]
        wrong, most = sum(winner[1] for winner in winners), limit(name, len(results))
        line = f"{name}: wrong winners {share(wrong, len(results))}, at most {most:.3f}; {len(winners)} named"
        yield wrong <= most * len(results), line
        silent = sum(not winner[3] for winner in winners)
        few = sum(winner[2] < 600 for winner in winners)
        yield not silent and not few, f"  sentences without 3/n or caution: {silent}; winners below 600 rows: {few}"


def decided(seed):
    """A race in each setting that can be decided, with twice the draws that it took before."""
    results = {}
    for name, budget in BUDGETS.items():
        clients, generators = setting(name, 10_000 + seed)
        metric, by, tolerance = "kid" if "KID" in name else "fid", BY.get(name, "all"), TOLERANCE.get(name, 0.0)
        samplers = {g: sampler for g, (_, sampler) in generators.items()}
        options = {"budget": budget, "tolerance": tolerance, "seed": seed, "progress": False}
        race = nm.race(clients, samplers, metric, by, **options)
        truth = truths(clients, generators, metric, by)
        is_wrong = race.winner is not None and truth[race.winner] > min(truth.values())
        if race.stopped.startswith("tie"):
            tied = race.table[race.table["state"] == "tied"]["sampler"]
            is_wrong = max(truth[sampler] for sampler in tied) > min(truth.values()) + tolerance
        is_decided = race.stopped in ("winner", "tie within the tolerance")
        results[name] = [is_decided, bool(is_wrong), sum(race.draws.values())]
    return results


def judge_decided(results):
    total = len(results)
    slack = 2.0 * math.sqrt(0.95 * 0.05 / total)
    for name, budget in BUDGETS.items():
        decided, wrong, draws = (sum(result[name][k] for result in results) for k in range(3))
        line = (
            f"{name}: won or tied {share(decided, total)} with {budget:,} draws at most (mean {draws / total:,.0f}), "
        )
        yield decided >= (0.95 - slack) * total, f"{line}wrong {share(wrong, total)}"


PARTS = [
    Part("races", named, lambda results: [*judge_named(results)], quick=10, full=400),
    Part("races-decide", decided, lambda results: [*judge_decided(results)], quick=2, full=200),
]
