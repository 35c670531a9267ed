"""Random histories of a run (logs, resumes, crashes, rollbacks, waiting scores), and what each must leave behind.

A step's rows are its two scores, avg and all, and its weights are one number, which no other log has. A crash is a copy
of the folders at that moment, at times with a torn last line: what a process that is killed leaves.
"""

import math
import random
import shutil
import threading
from dataclasses import dataclass, field, replace
from functools import cache
from types import SimpleNamespace
from unittest import mock

import numpy as np
from safetensors.numpy import load_file

from nbmetrics.labs.monitor import live_run, run_folder
from nbmetrics.labs.monitor.scoring import Scoring, StepScores

PARTS = "avg", "all"


@dataclass
class Log:
    """One call of `log`: its scores (avg, all), None where it has no generator or was not scored."""

    segment: int
    step: int
    take: int
    scores: tuple | None
    is_anew: bool
    is_kept: bool = False
    has_source: bool = True


def table_of(logs):
    """The last scored log of each step, of those that nothing replaced."""
    alive = []
    for place, log in enumerate(logs):
        first = next(i for i, other in enumerate(logs) if other.step == log.step)
        alive = [i for i in alive if logs[i].step < log.step
                 or not (logs[i].segment < log.segment * log.has_source or (log.is_anew and i >= first))]  # fmt: skip
        alive.append(place)
    return {logs[i].step: logs[i] for i in alive if logs[i].scores is not None}


def best_of(table, part):
    finite = [step for step in sorted(table) if math.isfinite(table[step].scores[part])]
    return min(finite, key=lambda step: table[step].scores[part], default=None)


@dataclass
class Model:
    """What must be there: `saved` has the takes by step of each rule, `files` and `theirs` those on the two disks."""

    rules: list
    logs: list = field(default_factory=list)
    waiting: list = field(default_factory=list)
    saved: list = field(default_factory=list)
    files: dict = field(default_factory=dict)
    theirs: dict = field(default_factory=dict)
    segment = -1
    step = takes = 0

    def open(self):
        """A process begins. It knows a file by its log; of what `on_best` saved it knows the best."""
        table, known, self.segment = table_of(self.logs), {log.take for log in self.logs}, self.segment + 1
        self.ours, self.steps, self.newest = known, set(table_of_all(self.logs)), -1
        self.newest = max(self.steps, default=-1)
        self.saved = [{s: t for s, t in self.files.items() if t in known} for _ in self.rules[:-1]]
        best = best_of(table, self.rules[-1])
        self.saved.append({} if best is None else {best: table[best].take})
        self.settle()

    def log(self, step, take, scores, has_source, is_kept, keeps_all):
        is_anew = has_source and step < self.newest and step in self.steps
        self.newest = step if is_anew else max(step, self.newest)
        self.steps.add(step)
        if has_source:
            self.files |= {step: take} if self.saved[:-1] else {}
            self.theirs[step] = take
            self.saved = [{**saved, step: take} for saved in self.saved]
            self.ours = self.ours | {take}
            for other in self.waiting[1:]:  # a newer one takes the place of one that waits
                other.scores = other.scores if keeps_all or other.is_kept else None
        self.waiting.append(Log(self.segment, step, take, scores, is_anew, is_kept, has_source))

    def publish(self):
        while self.waiting:
            self.logs.append(self.waiting.pop(0))
            if self.logs[-1].scores or not self.waiting:  # what gave way comes with the next that is scored
                self.settle()

    def settle(self):
        table, waiting = table_of(self.logs), {log.take for log in self.waiting}
        for place, (part, saved) in enumerate(zip(self.rules, self.saved, strict=True)):
            kept = best_of({s: log for s, log in table.items() if saved.get(s) == log.take}, part)
            scored = {log.step: log.take for log in table.values()}
            self.saved[place] = {s: t for s, t in saved.items() if s == kept or t in waiting
                                 or (kept is None and scored.get(s) != t)}  # fmt: skip
        gone = {s for s in saved if s not in self.saved[-1]}
        self.theirs = {s: t for s, t in self.theirs.items() if s not in gone}
        held = [saved.items() for saved in self.saved[:-1]]
        self.files = {s: t for s, t in self.files.items() if t not in self.ours or any((s, t) in own for own in held)}


def table_of_all(logs):
    """The steps that nothing replaced, scored or not."""
    return table_of([replace(log, scores=log.scores or (0, 0)) for log in logs])


@cache
def scoring():
    of_rows = Scoring([np.arange(4.0)[:, None]], "fid", 0)
    of_rows.client_arrays = dict  # nothing here is under other weights
    return of_rows


class Process:
    """A run at work; while `hold` is set its scores wait."""

    def __init__(self, folder, theirs, rules, keeps_all, has_thread):
        self.theirs, self.take, self.go, self.is_busy = theirs, 0, threading.Event(), threading.Event()
        self.go.set()
        keep = [("fid", PARTS[part]) for part in rules[:-1]]
        with mock.patch.object(live_run, "Scoring", return_value=scoring()):
            self.run = live_run.LiveRun(
                None, path=folder / "run", keep_all=keeps_all, samples=2, checkpoints=folder / "best", keep=keep,
                state=lambda: {"w": np.array([self.take])},
            )  # fmt: skip
        self.run._is_due = lambda now: True
        self.run._scoring_thread._is_threadless = not has_thread
        self.run._scoring_thread._scoring = SimpleNamespace(score=self.score)
        self.run.on_best(("fid", PARTS[rules[-1]]), self.save, lambda step: theirs.pop(step, None))

    def save(self, step):
        self.theirs[step] = self.take

    def score(self, rows, **_):
        self.is_busy.set()
        self.go.wait(60)
        return {"fid": StepScores(rows[:1, 0].copy(), float(rows[1, 0]), {})}, {}

    def log(self, step, take, scores, has_source, is_kept):
        self.take = take
        log = self.run.keep if is_kept else self.run.log
        log(step, np.array(scores)[:, None] if has_source else None, loss=float(take))

    def close(self):
        self.go.set()
        self.run.close()


def found(process, folder):
    run = process.run
    line = run.history.line("fid")
    table = {step: (a, b) for step, a, b in zip(line.steps.tolist(), line.avg.tolist(), line.all.tolist(), strict=True)}
    files = {int(path.stem[5:]): int(load_file(path)["w"][0]) for path in (folder / "best").glob("*.safetensors")}
    kept = {PARTS.index(part): int(path.stem[5:]) for (_, part), path in run.checkpoints.items()}
    return table, run.best("fid"), files, kept, process.theirs


def expected(model):
    table = table_of(model.logs)
    best = [best_of(table, part) for part in (0, 1)]
    rules = zip(model.rules[:-1], model.saved, strict=False)
    kept = {part: best[part] for part, own in rules if best[part] in own and own[best[part]] == table[best[part]].take}
    scores = {step: table[step].scores for step in sorted(table)}
    return scores, dict(zip(PARTS, best, strict=True)), model.files, kept, model.theirs


def difference(one, other):
    """Where what was found is unlike what was expected; "" where it is alike."""
    names = "table", "best", "files", "checkpoints", "on_best"
    pairs = zip(names, one, other, strict=True)
    return "; ".join(f"{name} {a}, expected {b}" for name, a, b in pairs if repr(a) != repr(b) and a != b)


def tear(folder, model, rng):
    """Cut the last line of the log short, if it is a step's; its file is then of no log."""
    log = folder / "run" / "steps.jsonl"
    lines = log.read_bytes().split(b"\n")[:-1]
    if b'"event":"step"' in lines[-1]:
        log.write_bytes(log.read_bytes()[: -1 - int(rng.random() * len(lines[-1]))])
        model.logs.pop()


def log_some(process, model, rng, counts, is_held, keeps_all):
    """Log one to four times; unless scores are held back, each is scored before the next."""
    for nth in range(rng.randint(1, 4)):
        back = rng.random()
        model.step = model.step + 1 if back < 0.7 else rng.randint(0, model.step + 2) if back < 0.9 else model.step
        counts["rollbacks"] += back >= 0.7
        has_source, is_kept = is_held or rng.random() < 0.85, rng.random() < 0.2
        scores = tuple(rng.choice([math.nan, *map(float, range(1, 9))]) for _ in PARTS)
        model.takes, scores = (
            model.takes + 1,
            (model.takes + rng.random(), *scores[1:]) if rng.random() < 0.1 else scores,
        )
        given = model.step, model.takes, scores if has_source else None, has_source, is_kept
        counts["logs"] += 1
        model.log(*given, keeps_all)
        process.log(*given)
        if is_held and not nth:
            process.is_busy.wait(60)
        if not is_held:
            process.run.wait(60)
            model.publish()


@mock.patch.object(run_folder, "PENDING_BYTES", 2**13)  # to copy less
def play(seed, folder):
    """Play a history; return what was wrong first, "" where nothing was, and how many logs, crashes … it had."""
    rng = random.Random(seed)
    rules = [*rng.sample((0, 1), rng.randint(0, 2)), rng.randint(0, 1)]
    model, theirs = Model(rules), {}
    counts = dict.fromkeys(("logs", "crashes", "torn", "rollbacks", "held"), 0)
    place = folder / "0"
    for number in range(rng.randint(1, 4)):
        keeps_all, has_thread = rng.random() < 0.7, rng.random() < 0.4
        process = Process(place, theirs, rules, keeps_all, has_thread)
        model.open()
        try:
            for _ in range(rng.randint(0, 4)):
                if wrong := difference(found(process, place), expected(model)):
                    return wrong, counts
                is_held = has_thread and rng.random() < 0.6
                if is_held:
                    process.go.clear(), process.is_busy.clear()
                log_some(process, model, rng, counts, is_held, keeps_all)
                counts["held"] += is_held
                if is_held and (is_last := rng.random() < 0.3):
                    break
                process.go.set()
                process.run.wait(60)
                model.publish()
            else:
                is_last = False
            if not is_last and (wrong := difference(found(process, place), expected(model))):
                return wrong, counts
            before, place = place, folder / str(number + 1)
            shutil.copytree(before, place)
            theirs = dict(theirs)
        finally:
            process.close()
        shutil.rmtree(before)
        counts["crashes"] += 1
        for log in model.waiting:  # their lines were pending
            log.scores = None
        model.logs, model.waiting = [*model.logs, *model.waiting], []
        if not is_last and model.logs and rng.random() < 0.3:
            tear(place, model, rng)
            counts["torn"] += 1
    return "", counts
