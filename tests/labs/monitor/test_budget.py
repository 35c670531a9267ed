"""The account keeps a run at its share from the first step on, whatever a step costs and however fast they come."""

import threading
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbmetrics.labs.monitor import pulse
from nbmetrics.labs.monitor.budget import SELDOM, SHARE, Budget

seconds = st.floats(1e-4, 1.0)


def run(budget, wait, costs, steps=400):
    """Steps come every so many seconds on a clock of their own; when each was scored, and what was spent by then."""
    taken, now = [], 1_000.0
    for step in range(steps):
        budget.pass_to(now)
        if budget.is_due(now):
            budget.use(now)
            cost = costs[step % len(costs)]
            budget.draw, budget.score = cost / 4, 3 * cost / 4
            budget.spend("loop", budget.draw)
            budget.spend("scoring", budget.score)
            taken.append((now - 1_000.0, cost))
        now += wait
    return taken


@given(seconds, seconds)
def test_after_the_first_step_no_more_than_the_share_is_ever_spent_and_most_of_it_is(wait, cost):
    budget = Budget()
    taken = run(budget, wait, [cost])
    spent = 0.0
    for place, (at, price) in enumerate(taken):
        spent += price
        assert place == 0 or spent <= SHARE * at * (1 + 1e-9)
    assert taken[0][0] == 0.0 and budget.loop + budget.scoring == pytest.approx(spent)
    # the next one comes as soon as it is earned: within one wait, but for the share that lapses
    gaps = [b[0] - a[0] for a, b in pairwise(taken[1:])]
    assert all(gap <= cost / SHARE + wait + 1e-6 for gap in gaps)


@given(st.lists(seconds, min_size=2, max_size=6))
def test_costs_that_change_are_paid_back(costs):
    budget = Budget()
    taken = run(budget, 0.5, costs)
    longest = max(costs)
    spent = sum(price for _, price in taken)
    # by one wrong guess at most
    assert spent <= SHARE * budget.elapsed + 2 * longest


def test_a_pause_is_not_followed_by_a_burst_and_losses_that_cost_much_do_not_silence_scores():
    budget = Budget()
    run(budget, 0.01, [0.01], 100)
    now = 1_000.0 + 3_600.0
    found = []
    for step in range(100):
        budget.pass_to(at := now + 0.01 * step)
        if budget.is_due(at):
            budget.use(at)
            budget.spend("scoring", 0.01)
            found.append(step)
    assert len(found) <= 1 + 1.0 * SHARE / 0.01
    last, count = at, 0
    for step in range(1, 1_001):
        budget.pass_to(at := last + 0.01 * step)
        budget.spend("loop", 0.005)  # half of the time
        if budget.is_due(at):
            budget.use(at)
            count += 1
    assert count == pytest.approx(10.0 / (SELDOM * 0.01 / SHARE), abs=1)


def test_a_step_that_comes_late_is_told_unless_another_cell_logs_it():
    beats, clock = pulse.Pulse(), iter((0.0, 2.0, 4.0, 500.0, 502.0, 900.0, 902.0, 9_000.0))
    cell = "for step in range({}): found.append(beat(step))"
    found = []
    for count in (4, 2, 2):
        given = {"found": found, "beat": lambda step: beats.beat(step, 1_000.0 + next(clock))}
        exec(compile(cell.format(count), "cell", "exec"), given)
    assert found == [0.0, 0.0, 0.0, 496.0, 0.0, 0.0, 0.0, 8_098.0]


def test_a_loop_that_stands_is_told_with_its_line_and_one_that_ended_is_not(monkeypatch):
    for name, value in (("LEAST", 0.0), ("LOOK", -1.0), ("TIMES", 3.0)):
        monkeypatch.setattr(pulse, name, value)
    beats, stood, go, over, end = pulse.Pulse(), *(threading.Event() for _ in range(4))

    def batches():
        yield from range(3)
        stood.set()
        assert go.wait(60)

    def log(step):  # a helper of the loop's own
        beats.beat(step, time.monotonic() - 100.0 + step)

    def training():
        for step in batches():
            log(step)
        over.set()
        assert end.wait(60)

    thread = threading.Thread(target=training)
    thread.start()
    try:
        assert stood.wait(60)
        line = training.__code__.co_firstlineno + 1
        assert f"after step 2, and 1 s at most before; the loop is still at line {line}, in wait" in beats.words
        go.set()
        assert over.wait(60)
        assert beats.words == "" and beats.is_resting
    finally:
        go.set()
        end.set()
        thread.join()
