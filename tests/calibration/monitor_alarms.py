"""Does the Monitor keep silent in healthy runs, and hear collapses?

    python -m tests.calibration.monitor_alarms        prints the table behind docs/training.md (minutes)

Runs are those of `monitor_runs`: written, with their seeds, before the rule.
"""

import sys
import time

import nbmetrics as nm
from nbmetrics.labs.monitor.live_run import LiveRun
from tests.calibration import monitor_runs

# An alarm within so many scored steps of the switch has heard the collapse, in words that say from which score.
HEARD_WITHIN = 5
# Where each client is given what another should have, from this step on.
SWAP, STEPS_AFTER_SWAP = 35, 15
# Seconds of a step of the loop in which not all steps are scored, and in which a run must end.
STEP_SECONDS, MAX_SECONDS = 0.002, 120.0


def alarms_of(script, metrics=("fid", "kid")):
    """The alarms of a run of which every step is scored."""
    run = LiveRun(script.clients, metrics, keep_all=True)
    for step in range(script.steps):
        run.log(step, script.step_rows(step))
    assert run.wait(600)
    run.close()
    return run.history, run.alarms


def by_client(script, step, is_swapped=False):
    """The rows of a step by client: generators know the clients in turn. Swapped, each has those of the next."""
    rows, count = script.step_rows(step), len(script.clients)
    return {name: rows[(i + is_swapped) % count :: count] for i, name in enumerate(script.clients)}


def alarms_by_client(script, is_swapped=False):
    """The alarms of a run with one distribution for each client; swapped, avg and all stay what they were."""
    run = LiveRun(script.clients, keep_all=True)
    for step in range(SWAP + STEPS_AFTER_SWAP if is_swapped else script.steps):
        run.log(step, by_client(script, step, is_swapped and step >= SWAP))
    assert run.wait(600)
    run.close()
    return run.history, run.alarms


def alarms_by_default(script):
    """The alarms of a loop that goes on until enough steps after the switch were scored."""
    run, count, after, end = LiveRun(script.clients), 0, 0, time.monotonic() + MAX_SECONDS
    rows = {True: script.step_rows(script.switch - 1), False: script.step_rows(script.switch)}
    while after <= HEARD_WITHIN and time.monotonic() < end:
        scored = len(run.history.lines["fid"].steps) if count and count % 10 == 0 and run.history.lines else 0
        if count % 10 == 0 and scored >= 12 and rows:
            switch = rows.setdefault("switch", count)
            after = int((run.history.lines["fid"].steps >= switch).sum())
        run.log(count, rows["switch" not in rows])
        count += 1
        time.sleep(STEP_SECONDS)
    run.wait(60)
    run.close()
    return run.history, run.alarms, rows["switch"]


def is_heard(history, alarms, switch):
    """Whether an alarm within `HEARD_WITHIN` scored steps of the switch says how far a score is from its best."""
    steps = next(iter(history.lines.values())).steps
    after = steps[steps >= switch][:HEARD_WITHIN]
    found = alarms[alarms["step"].isin(after)]
    return bool(len(found)) and ", after " in found["words"].iloc[0]


def healthy_table(seeds):
    loud = {}
    for seed in seeds:
        script = monitor_runs.healthy(seed)
        _, alarms = alarms_of(script)
        if len(alarms):
            loud[seed] = script.name, alarms.to_numpy().tolist()
    return loud


def heard_count(kind, seeds, is_default=False, metrics=("fid", "kid")):
    heard = 0
    for seed in seeds:
        script = monitor_runs.collapse(kind, seed)
        if is_default:
            history, alarms, switch = alarms_by_default(script)
        else:
            (history, alarms), switch = alarms_of(script, metrics), script.switch
        heard += is_heard(history, alarms, switch)
        if not is_heard(history, alarms, switch):
            print("   silent:", kind, seed, alarms.to_numpy().tolist(), flush=True)
    return heard


def collapse_table(seeds):
    for kind in monitor_runs.COLLAPSES:
        whole, fast = heard_count(kind, seeds), heard_count(kind, seeds, is_default=True)
        print(f"{kind}: heard {whole} with keep_all, {fast} by default, of {len(seeds)}", flush=True)


def by_client_table(count):
    loud = sum(len(alarms_by_client(monitor_runs.healthy(seed))[1]) > 0 for seed in range(count))
    print(f"one distribution for each client: {loud} of {count} healthy runs with an alarm", flush=True)
    families = len(monitor_runs.FAMILIES)
    swaps = [alarms_by_client(monitor_runs.healthy(families * k), is_swapped=True) for k in range(count // 10)]
    heard = sum(is_heard(history, alarms, SWAP) for history, alarms in swaps)
    print(f"clients given what others should have: heard {heard} of {len(swaps)}", flush=True)


def main(runs=None):
    count = int(runs or monitor_runs.HEALTHY_RUNS)
    seeds, start = range(min(count, monitor_runs.SEEDS)), time.process_time()
    collapse_table(seeds)
    by_client_table(count)
    loud = healthy_table(range(count))
    print(f"nbmetrics {nm.__version__}: {len(loud)} of {count} healthy runs with an alarm", flush=True)
    for seed, (family, alarms) in loud.items():
        print(f"   seed {seed}, {family}: {alarms}")
    print(f"{time.process_time() - start:.0f} s of the processor")


if __name__ == "__main__":
    main(*sys.argv[1:])
