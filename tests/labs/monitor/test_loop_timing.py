"""What a Monitor takes of a loop stays below its share, and a loop that stalls is told from one that has ended."""

import gc
import re
import threading
import time
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.events import EventManager, available_events
from threadpoolctl import threadpool_limits

import nbmetrics as nm
from nbmetrics.labs.monitor import loop_timing
from nbmetrics.labs.monitor.loop_timing import (
    MAX_COST_SHARE,
    MAX_RARITY,
    OPENING_COST,
    OPENING_SECONDS,
    Budget,
    StepClock,
    blas_threads,
    one_blas_thread,
)

seconds = st.floats(1e-4, 1.0)


def run(budget, wait, costs, steps=400):
    """Steps come every so many seconds on a clock of their own; when each was scored, and what was spent by then."""
    taken, now = [], 1_000.0
    for step in range(steps):
        budget.advance_to(now)
        if budget.is_due(now):
            budget.begin_step(now)
            cost = costs[step % len(costs)]
            budget.draw = cost / 4
            budget.spend("loop", budget.draw)
            budget.spend("scoring", 3 * cost / 4)
            budget.end_step(3 * cost / 4)
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
        opening = (
            max(OPENING_COST, taken[0][1]) + MAX_COST_SHARE * OPENING_SECONDS + price
        )  # one may be overdue when the opening ends
        assert place == 0 or spent <= (opening + MAX_COST_SHARE * max(at - OPENING_SECONDS, 0.0)) * (1 + 1e-9)
        minute = [one for when, one in taken[: place + 1] if max(OPENING_SECONDS, at - 60.0) <= when]
        assert at < OPENING_SECONDS or sum(minute) <= MAX_COST_SHARE * 60.0 + cost
    assert taken[0][0] == 0.0 and budget.loop + budget.scoring == pytest.approx(spent)
    # the next one comes as soon as it is earned: within one wait, but for the share that lapses
    late = [one for one in taken[1:] if one[0] > (OPENING_COST + cost) / MAX_COST_SHARE]
    gaps = [b[0] - a[0] for a, b in pairwise(late)]
    assert all(gap <= cost / MAX_COST_SHARE + wait + 1e-6 for gap in gaps)


@given(st.floats(1e-4, 1.0), st.floats(0.001, 0.05))
def test_a_loop_of_ten_seconds_has_ten_scores_for_one_second_at_most(wait, cost):
    steps = int(OPENING_SECONDS / wait) + 1
    taken = run(Budget(), wait, [cost], steps)
    assert sum(price for _, price in taken) <= OPENING_COST + MAX_COST_SHARE * OPENING_SECONDS + 1e-9
    assert len(taken) >= min(steps, 10)


@given(st.lists(seconds, min_size=2, max_size=6))
def test_costs_that_change_are_paid_but_for_the_opening(costs):
    budget = Budget()
    taken = run(budget, 0.5, costs)
    longest = max(costs)
    spent = sum(price for _, price in taken)
    # by one wrong guess at most
    assert spent <= OPENING_COST + MAX_COST_SHARE * budget.elapsed + 2 * longest


def test_a_pause_is_not_followed_by_a_burst_and_losses_that_cost_much_do_not_silence_scores():
    budget = Budget()
    run(budget, 0.01, [0.01], 100)
    now = 1_000.0 + 3_600.0
    found = []
    for step in range(100):
        budget.advance_to(at := now + 0.01 * step)
        if budget.is_due(at):
            budget.begin_step(at)
            budget.spend("scoring", 0.01)
            found.append(step)
    assert len(found) <= 1 + 1.0 * MAX_COST_SHARE / 0.01
    last, count = at, 0
    for step in range(1, 1_001):
        budget.advance_to(at := last + 0.01 * step)
        budget.spend("loop", 0.005)  # half of the time
        if budget.is_due(at):
            budget.begin_step(at)
            count += 1
    assert count == pytest.approx(10.0 / (MAX_RARITY * 0.01 / MAX_COST_SHARE), abs=1)


@pytest.fixture
def shell(monkeypatch):
    """An IPython of which a test says when a cell ends: `shell.events.trigger(...)`."""
    shell = SimpleNamespace()
    shell.events = EventManager(shell, available_events)
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    return shell


def end_cell(shell):
    shell.events.trigger(loop_timing.CELL_END, None)


def test_a_step_that_comes_late_is_told_unless_a_cell_ended_before_it(shell):
    clock, times = StepClock(), (0.0, 2.0, 4.0, 500.0, 502.0, 900.0, 902.0, 9_000.0)
    stop = loop_timing.watch_cells(clock)
    waits = []
    for step, time_of_step in enumerate(times):
        if step in (4, 6):
            end_cell(shell)
        waits.append(clock.tick(step, 1_000.0 + time_of_step))
    assert waits == [0.0, 0.0, 0.0, 496.0, 0.0, 0.0, 0.0, 8_098.0]
    stop()
    stop()  # twice is no harm
    assert not shell.events.callbacks[loop_timing.CELL_END]


@pytest.mark.threads
def test_a_step_of_another_thread_is_never_late():
    clock = StepClock()
    assert [clock.tick(step, 1_000.0 + step) for step in range(3)] == [0.0, 0.0, 0.0]
    late = []
    other = threading.Thread(target=lambda: late.append(clock.tick(3, 9_000.0)))
    other.start()
    other.join()
    assert late == [0.0]


@pytest.mark.threads
def test_a_loop_that_stalls_is_told_while_its_thread_lives_and_its_cell_runs(shell):
    clock, is_done = StepClock(), threading.Event()
    loop_timing.watch_cells(clock)
    ticked = threading.Event()

    def train():
        for step in range(3):
            clock.tick(step, time.monotonic() - 100.0 + step)
        ticked.set()
        assert is_done.wait(60)

    thread = threading.Thread(target=train)
    thread.start()
    try:
        assert ticked.wait(60)
        assert re.fullmatch("no step for 9[89] s after step 2, and 1 s at most before", clock.stall_message)
        assert clock.is_resting and time.time() - clock.last_time < 60
        end_cell(shell)  # of another thread than the loop's
        assert clock.stall_message
    finally:
        is_done.set()
        thread.join()
    assert clock.stall_message == "", "its thread has ended"
    for step in range(3, 6):
        clock.tick(step, time.monotonic() - 100.0 + step)
    assert clock.stall_message
    end_cell(shell)
    assert clock.stall_message == "", "its cell has ended"


def test_a_clock_that_is_gone_leaves_ipython(shell):
    clock = StepClock()
    loop_timing.watch_cells(clock)
    assert len(shell.events.callbacks[loop_timing.CELL_END]) == 1
    del clock
    gc.collect()
    assert not shell.events.callbacks[loop_timing.CELL_END]


def test_a_monitor_watches_the_cells_until_it_is_closed(shell, opened):
    monitor = opened(lambda: nm.Monitor([np.zeros((9, 1)), np.ones((9, 1))], samples=9))
    assert len(shell.events.callbacks[loop_timing.CELL_END]) == 1
    monitor.log(0, loss=1.0)
    assert monitor.wait(60) and time.time() - monitor.told["last_step"] < 60
    monitor.close()
    assert not shell.events.callbacks[loop_timing.CELL_END]


def test_what_is_spent_once_on_the_clients_takes_no_scores_from_the_first_seconds():
    def scored(preparing):
        budget, count = Budget(), 0
        for step in range(2_000):
            now = 100.0 + step * 5e-3
            budget.advance_to(now)
            if budget.is_due(now):
                if not count:
                    budget.spend("scoring", preparing)
                budget.begin_step(now)
                budget.spend("scoring", 0.08)
                budget.end_step(0.08)
                count += 1
        return count

    assert scored(0.0) == scored(0.9) >= 10


def test_scores_have_one_thread_of_linear_algebra_and_others_have_theirs_back():
    before = blas_threads()
    with one_blas_thread:
        assert blas_threads() == 1
    assert blas_threads() == before


def test_threads_come_back_though_two_monitors_score_in_turn_and_the_first_ends_first():
    with threadpool_limits(3, user_api="blas"):
        one_blas_thread.__enter__()
        one_blas_thread.__enter__()
        one_blas_thread.__exit__()
        assert blas_threads() == 1
        one_blas_thread.__exit__()
        assert blas_threads() == 3


def test_a_loop_of_half_a_minute_is_scored_to_its_end():
    budget, at = Budget(), []
    for step in range(5_000):
        now = 100.0 + step * 5e-3
        budget.advance_to(now)
        budget.spend("loop", 5e-5)
        if budget.is_due(now):
            budget.begin_step(now)
            budget.spend("scoring", 0.04)
            budget.end_step(0.04)
            at.append(now - 100.0)
    first, late = (sum(low <= t < high for t in at) for low, high in ((0.0, 10.0), (10.0, 25.0)))
    assert first >= 10 and late >= 10
    assert 0.04 * late + 5e-5 * 3_000 <= MAX_COST_SHARE * 15.0 + 0.05
