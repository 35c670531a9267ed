"""A run while it is recorded: Python's half of the Monitor, which its view is told of.

Flow: `log` draws and hands over → the recorder scores and writes → the point joins the history, alarms are read again,
and whoever listens is told. Everything that is shown is read from the history, live or opened from a folder.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ...distributions import check_draw
from ...errors import InvalidInput, caller_level, check_count, check_names, printable, shown
from . import alarms as rules
from .budget import Budget
from .drawing import Sampler
from .events import LAST_STEP, MOST_LOSSES, Point, Segment
from .history import History, read
from .log import Reader, Writer, folder_of, losses_line
from .pulse import Pulse
from .recorder import Handed, Recorder
from .run import Run
from .scoring import Scoring

SAMPLES = 1_000
# Seconds that the end of a program waits for scores under way.
PATIENCE = 10.0
# Of the time, what one's own calls of alarms may take.
CALLING = 0.01

_writing: weakref.WeakValueDictionary[Path, Recording] = weakref.WeakValueDictionary()


class MonitorWarning(UserWarning):
    """Something of a run could not be drawn, scored or written; the training goes on."""


class Cost(NamedTuple):
    """What a Monitor costs.

    Attributes
    ----------
    loop, scoring, telling : seconds so far: of the loop, mostly for drawing; of a processor on other threads, for
        scores and for the page
    elapsed : seconds from the first step to the last that was logged
    share : of the elapsed time, all three together: what the loop loses where it has one processor alone
    every : seconds that earn one more scored step at 5 %; 0 where all are scored
    skipped : steps that came sooner, of which only the losses were kept
    dropped : steps that were drawn, and not scored because a newer one came
    """

    loop: float
    scoring: float
    telling: float
    elapsed: float
    share: float
    every: float
    skipped: int
    dropped: int


class Recording(Run):
    """What `nm.Monitor` holds, with the same parameters: draws, has scored, writes, and answers questions.

    Examples
    --------
    >>> recording = Recording({"a": nm.Gaussian(-1.0), "b": nm.Gaussian(1.0)}, "fid", keep_all=True)
    >>> recording.log(0, nm.Gaussian(0.0)) and recording.wait()
    True
    >>> recording.best("fid")
    {'avg': 0, 'all': 0}
    """

    def __init__(
        self,
        federation: Any,
        metrics: Any = ("fid", "kid"),
        *,
        path: Any = None,
        keep_all: bool = False,
        samples: int = SAMPLES,
        seed: int = 0,
    ) -> None:
        scoring = Scoring(federation, metrics, seed)
        count = check_draw(samples, scoring.federation.dim, "samples", minimum=2)
        of_images = scoring.extraction is not None
        self._sampler: Sampler | None = Sampler(count, scoring.seed, scoring.federation.dim, of_images)
        self.path = folder_of(tempfile.mkdtemp(prefix="nbmetrics-run-") if path is None else path)
        if path is None:
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        if (other := _writing.get(self.path)) is not None:
            other.close()
        writer = Writer(self.path)
        try:
            self._begin(*_opened(self.path, scoring.names))
            scoring.prepare()  # here, so that the loop need not pay for it
        except InvalidInput:
            writer.close()
            raise
        number = len(self._segments)
        self._recorder: Recorder | None = Recorder(
            scoring, writer, self._take, self._call, bool(keep_all), number, self.budget
        )
        self._segments.append(Segment.of(scoring.names, scoring.weights, scoring.described(), number))
        self._history = None
        self._recorder.begin()
        if writer.torn:
            self._recorder.troubles.tell(f"the last line was torn ({writer.torn:,} bytes) and is put aside")
        _writing[self.path] = self
        atexit.register(_close, weakref.ref(self))

    def _begin(self, history: History, reader: Reader) -> None:
        """Show a history, and wait for more."""
        super().__init__(history)
        self._reader = reader
        self._segments, self._points = list(history.segments), list(history.logged)
        self._lock = threading.RLock()
        self._calls: list[tuple[rules.Rule, rules.Call]] = []
        self._listeners: list[Callable[[], Any]] = []
        self._called: set[rules.Alarm] = set()
        self.budget, self.pulse = Budget(), Pulse()
        self._skipped, self._judged, self._judging, self._warm = 0, 0.0, 0.0, False

    @classmethod
    def open(cls, path: Any) -> Recording:
        """A run that a Monitor wrote into a folder, without its clients or generator: to be read, not to go on.

        Raises InvalidInput where there is none. What was damaged is left out, and `troubles` says so.
        """
        made = cls.__new__(cls)
        made._sampler = made._recorder = None
        history, reader = read(path)
        if not any(segment.metrics for segment in history.segments):
            why = f" ({reader.told[0]})" if reader.told else ""
            seen = f"{shown(str(reader.folder))} holds no run: its log has no line that names clients and metrics{why}"
            raise InvalidInput("path", seen, "Give the folder of a run, or a whole copy of this one")
        made.path = reader.folder
        made._begin(history, reader)
        return made

    def log(self, step: int, source: Any = None, **losses: Any) -> bool:
        """See `nm.Monitor.log`."""
        return self.hand_over(step, source, losses)

    def keep(self, step: int, source: Any = None, **losses: Any) -> bool:
        """See `nm.Monitor.keep`."""
        return self.hand_over(step, source, losses, is_kept=True)

    def check(self, source: Any) -> None:
        """Refuse what can be seen to be no generator of these clients."""
        if self._sampler is None:
            raise InvalidInput("monitor", "was opened to be read", "To go on: nm.Monitor(federation, path=…)")
        self._sampler.check(source)

    def hand_over(self, step: int, source: Any, losses: dict[str, Any], is_kept: bool = False) -> bool:
        """`log`, or `keep`, with the losses as a dict, whatever their names."""
        now = time.monotonic()
        self.check(None)
        step = check_count(step, "step", minimum=0, maximum=LAST_STEP)
        check_names(list(losses), "losses")
        if len(losses) > MOST_LOSSES:
            raise InvalidInput("losses", f"are {len(losses):,}", f"Give at most {MOST_LOSSES:,}")
        kept = {name: value.detach().clone() if hasattr(value, "detach") else value for name, value in losses.items()}
        assert self._recorder is not None
        if self._recorder.is_closed:
            warnings.warn("the Monitor is closed, and keeps no more steps", MonitorWarning, stacklevel=caller_level())
            return False
        self.budget.pass_to(now)
        late = self.pulse.beat(step, now)
        drawn = None
        if source is not None and (is_kept or self._is_due(now)):
            self.check(source)
            self.budget.use(now)
            drawn = self._drawn(step, source)
            if self._warm:  # the first draw loads what others find
                self.budget.draw = time.monotonic() - now
            self._warm = True
        at = time.time()
        line = losses_line(step, at, kept, late)
        self._recorder.put(Handed(step, at, kept, drawn, is_kept, late, line))
        self.budget.spend("loop", time.monotonic() - now)
        return drawn is not None

    def _is_due(self, now: float) -> bool:
        """Whether a step is to be scored now: all are, or no other is under way and the time has earned it."""
        assert self._recorder is not None
        is_due = self._recorder.keep_all or (not self._recorder.is_scoring and self.budget.is_due(now))
        self._skipped += not is_due
        return is_due

    def _drawn(self, step: int, source: Any) -> Any:
        assert self._sampler is not None
        try:
            return self._sampler.draw(source)
        except Exception as error:  # of the user's own function: days of training must not end for it
            self._tell(f"step {step} was not drawn: {type(error).__name__}: {error}")
            return None

    def _tell(self, what: str) -> None:
        if self._recorder is not None and self._recorder.troubles.tell(what):
            warnings.warn(printable(what, 500), MonitorWarning, stacklevel=caller_level())

    def _take(self, found: Segment | list[Point]) -> None:
        """On the recorder's thread: the segment, or more points."""
        with self._lock:
            if isinstance(found, Segment):
                self._segments[-1] = found  # the same, and what is known of its clients
            else:
                self._points.extend(found)
            self._history = None
        if not isinstance(found, Segment):
            if time.monotonic() - self._judged >= self._judging / CALLING:
                self._call()
            for listener in self._listeners:
                listener()

    def _call(self) -> None:
        """Call what new alarms are to call."""
        now = time.monotonic()
        if not self._calls:
            return
        assert self._recorder is not None
        for rule, call in list(self._calls):
            for alarm in rules.sounded(self.history, [rule]):
                if alarm in self._called:
                    continue
                self._called.add(alarm)
                try:
                    call(alarm)
                except Exception as error:  # the user's own
                    self._recorder.troubles.tell(f"the call of alarm {alarm.alarm!r} raised {error!r}")
        self._judged = time.monotonic()
        self._judging = self._judged - now

    def listen(self, told: Callable[[], Any]) -> None:
        """Have `told()` called after each step that is recorded, on the recorder's thread."""
        self._listeners.append(told)

    def wait(self, seconds: float | None = None) -> bool:
        """Until all that was handed over is scored and written, or so many seconds; whether it is."""
        return True if self._recorder is None else self._recorder.wait(seconds)

    @property
    def history(self) -> History:
        """What is known by now, as a value."""
        with self._lock:
            if self._history is None:
                self._history = History(self._segments, self._points, self._reader.array)
            return self._history

    def alarm(
        self, column: str, *, rises: float | None = None, falls: float | None = None, for_: int = 1, call: Any = None
    ) -> None:
        """See `nm.Monitor.alarm`."""
        if call is not None and not callable(call):
            raise InvalidInput("call", f"got {shown(call)}", "Give a function of one alarm")
        super().alarm(column, rises=rises, falls=falls, for_=for_)
        if call is not None:
            rule = self._rules[-1]
            self._called.update(rules.sounded(self.history, [rule]))
            self._calls.append((rule, call))

    def remove_alarm(self, name: str) -> None:
        """See `nm.Monitor.remove_alarm`."""
        super().remove_alarm(name)
        self._calls = [(rule, call) for rule, call in self._calls if rule.name != name]

    @property
    def cost(self) -> Cost:
        """What the Monitor cost the loop."""
        recorder, spent = self._recorder, self.budget
        keeps_all, dropped = (True, 0) if recorder is None else (recorder.keep_all, recorder.dropped)
        every = 0.0 if keeps_all else spent.every
        seconds = spent.loop, spent.scoring, spent.telling, spent.elapsed
        return Cost(*seconds, spent.share, every, self._skipped, dropped)

    @property
    def troubles(self) -> list[str]:
        found = list(self._reader.told)
        more = self._reader.skipped
        found = [f"{more:,} lines of the log were left out", *found] if more else found
        late = self.pulse.words
        return found if self._recorder is None else [*found, *self._recorder.troubles.lines, *([late] if late else [])]

    def close(self) -> None:
        """Score what waits, and end the thread; the run stays to be read."""
        if self._recorder is not None:
            self._recorder.close(PATIENCE)


def _opened(path: Path, names: Any) -> tuple[History, Reader]:
    """What is there already; InvalidInput where it is a run of other clients."""
    history, reader = read(path)
    if history.segments and history.names != tuple(names):
        seen = f"{shown(str(path))} holds a run of other clients: {shown(list(history.names))}"
        raise InvalidInput("path", seen, "Choose another folder")
    return history, reader


def _close(monitor: weakref.ref[Recording]) -> None:
    if (found := monitor()) is not None:
        found.close()
