"""Monitor: the live view of a run while it is recorded, or of one that was.

Flow: `log` hands over to the recording (recording.py), which scores on a thread of its own and tells of each step → one
more thread writes what is new to the page, at most ten times a second: `recent`, and now and then all of it to `past` →
then, less often, what takes longer: best checkpoints, alarms and scores under the weights on show, the `result`.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import traitlets

from ...errors import InvalidInput, check_choice, shown
from ..toolkit import modules
from ..toolkit.lab import Lab
from ..toolkit.saved import OF_MONITOR
from . import recording as engine
from .beside import Beside
from .history import History
from .packed import metrics_of, packed
from .samples import samples_of
from .scene import MonitorScene, making_of
from .teller import SHARE, SOON_SHARE, Teller
from .telling import judged, run_of, told_of
from .watched import Watched

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GIVEN, ALIKE = "As given", "All clients alike"
# Steps after which all of a run is written anew, and what of a longer run.
FEW, PART = 200, 20
# Seconds that a picture waits for scores that come soon.
FIRST = 1.0


class _Open:
    """`open`: of the class the view of a folder, of a widget what opens its line to the page."""

    def __get__(self, lab: Any, kind: Any) -> Any:
        return kind._opened_at if lab is None else Lab.open.__get__(lab)


class Monitor(Watched, Lab):
    """The scores of a generator while it trains: avg, all and gap by step, the best checkpoint by each, and alarms.

    Parameters
    ----------
    federation, metrics : as for `nm.evaluate`
    path : of a folder that keeps the run, made where it is not there; a run that is there goes on as a new segment. By
        default the run lives as long as the Monitor
    keep_all : whether every logged step is scored, however long that takes; by default the loop pays at most 5 %: steps
        that come too soon, or while one waits, are left out and counted (`cost`)
    samples : rows that are drawn of a function or module at each step, always of the same latents
    seed : of the latents

    Attributes
    ----------
    table : DataFrame (step, metric, avg, all, gap)
    scores : DataFrame (step, metric, client, value)
    losses : DataFrame, a row a step and a column a loss
    alarms : DataFrame (step, alarm, words)
    words : list of sentences, what each aggregate would keep
    cost, troubles : what it costs the loop; what could not be drawn, written or read, as the training goes on

    Raises
    ------
    InvalidInput
        As `nm.evaluate`, before anything is computed; for a folder that cannot be written, that another process writes,
        or that holds a run of other clients.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> clients = {"north": rng.normal(-1, 1, (200, 2)), "south": rng.normal(1, 1, (200, 2))}
    >>> monitor = nm.Monitor(clients, keep_all=True, samples=200)
    >>> for step in range(3):
    ...     _ = monitor.log(step, lambda n, rng, width=step: rng.normal(0, 0.5 + width, (n, 2)), loss=1.0)
    >>> monitor.wait()
    True
    >>> monitor.best("fid")
    {'avg': 0, 'all': 1}
    """

    _esm = modules.module("monitor/view/index.js")
    _css = modules.style(*modules.CHARTS, "toolkit/view/heat_colors.css", "monitor/view/style.css")
    _state = MonitorScene
    _saved_words = OF_MONITOR

    open = _Open()
    # What of the run does not change: clients, weights, metrics, the table of KID's gap.
    run = traitlets.Dict().tag(sync=True)
    past = traitlets.Dict().tag(sync=True)
    recent = traitlets.Dict().tag(sync=True)
    # In words: what it costs, what was left out, what went wrong.
    told = traitlets.Dict().tag(sync=True)
    samples = traitlets.Dict().tag(sync=True)
    # The run beside this one.
    beside = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        federation: Any,
        metrics: Any = ("fid", "kid"),
        *,
        path: Any = None,
        keep_all: bool = False,
        samples: int = engine.SAMPLES,
        seed: int = 0,
    ) -> None:
        given = {"path": path, "keep_all": keep_all, "samples": samples, "seed": seed}
        self._start(engine.Recording(federation, metrics, **given), is_kept=path is not None)

    @classmethod
    def _opened_at(cls, path: Any) -> Monitor:
        """A run that a Monitor wrote into a folder, without its clients or generator: to be looked at, not to go on.

        Raises InvalidInput where there is none. What was damaged is left out, and `troubles` says so.
        """
        made = cls.__new__(cls)
        made._start(engine.Recording.open(path), is_kept=True)
        return made

    def _start(self, record: engine.Recording, is_kept: bool) -> None:
        """Show a record, and what is added to it."""
        self._record, self._is_kept = record, is_kept
        self._publishing = threading.RLock()
        self._sent: tuple[int, Any, float] = (0, (), 0.0)  # points and segments in `past`, and its last step
        self._judged: dict[str, Any] = {}
        self._beside: Beside | None = None
        first = record.history
        self.names, self._weights, self._metrics = first.names, first.weights, tuple(metrics_of(first))
        scene = {"metric": self._metrics[0].name, "preset": GIVEN, "weights": list(self._weights)}
        alike = {**scene, "preset": ALIKE, "weights": [1.0 / len(self.names)] * len(self.names)}
        presets = {GIVEN: MonitorScene.parse(scene), ALIKE: MonitorScene.parse(alike)}
        self._late = ""
        self._teller = Teller(self._publish, self._judge, share=self._pace, spending=self._spending)
        super().__init__(presets[GIVEN], presets)
        self._publish()
        self._judge()
        record.listen(self._teller.want)

    def wait(self, seconds: float | None = None) -> bool:
        """Until all that was handed over is scored, written and shown, or so many seconds; whether it is."""
        return self._record.wait(seconds) and self._teller.settle(seconds)

    def compare(self, other: Any, name: str = "") -> Monitor:
        """Show another run of the same clients beside this one, under the same weights and one scrubber.

        Parameters
        ----------
        other : a Monitor, live or opened, or the folder of a run; None for none
        name : what it is called in the legend, by default that of its folder

        Returns
        -------
        Monitor : this one, so that a notebook shows it; `compared` says whose best checkpoint is better

        Raises
        ------
        InvalidInput
            For what is no run, and one of other clients, other rows of them, or without a metric of this one.
        """
        self._beside = None if other is None else Beside.of(other, self._record, name)
        if self._beside is None:
            self._write(beside={})
        elif isinstance(self._beside.run, engine.Recording):
            self._beside.run.listen(_waking(self._teller))
        self._teller.want(math.inf)
        return self

    @property
    def compared(self) -> list[str]:
        """Whose best checkpoint is better, this run's or that of the run beside it, a sentence a metric."""
        return [] if self._beside is None else list(self._beside.words(self._record.history).values())

    def _rules_changed(self) -> None:
        self._teller.want(SOON_SHARE)

    def plot(self) -> Figure:
        """Each metric's avg and all under the weights on show, the gap below, losses, and alarms at their steps."""
        return self._picture()

    def _pace(self) -> float:
        """Of the time, what telling the page may take; a loop that has come to stand is told, too."""
        late = self._record.pulse.words
        if bool(late) != bool(self._late):
            self._late = late
            self._teller.want()
        return SOON_SHARE if self._record.pulse.is_resting else SHARE

    def _spending(self) -> AbstractContextManager[None]:
        """What it takes is counted while a loop runs."""
        record = self._record
        return nullcontext() if record.pulse.is_resting else record.budget.spending("telling")

    def _publish(self) -> None:
        """Write what is new: to `recent` where it only goes on, else everything to `past`."""
        with self._publishing:
            history = self._record.history
            points, segments, last = self._sent
            added = history.logged[points:]
            goes_on = bool(self.past) and history.segments == segments
            goes_on = goes_on and all(point.step > last for point in added)
            if goes_on and len(added) <= FEW + points // PART:
                recent = {"of": points, **packed(self._tail(history, added), last)}
                return self._write(recent=recent, told=told_of(self._record))
            self._metrics = tuple(metrics_of(history))
            code = making_of([m.name for m in self._metrics], self._is_kept)
            self._write(run={**run_of(history, self._is_kept), "code": code})
            past = {"id": len(history.logged), **packed(history, kept=self._told_steps)}
            self._sent = len(history.logged), history.segments, max((p.step for p in history.logged), default=-1)
            self._write(past=past, recent={}, told=told_of(self._record))

    def _tail(self, history: History, added: Any) -> History:
        """Of those points alone; the first of each segment says which number of rows has the line of the metric."""
        firsts = {}
        for point in history.logged:
            if point.is_scored and point.segment.number not in firsts:
                firsts[point.segment.number] = point
                if len(firsts) == len(history.segments):
                    break
        return history.with_points([*firsts.values(), *added])

    def _judge(self) -> None:
        """Best checkpoints and alarms under the weights on show, which take longer than a frame."""
        scene = self._scene
        found = judged(self._record, scene.shares, self._is_given(scene))
        if (beside := self._beside) is not None:
            found["beside"] = beside.judged(self._record, scene.shares)
            self._write(beside=beside.told(self._record.history))
        self._judged = found
        self._write(samples=samples_of(self._record.history, self._told_steps))
        self._answer(self._scene)

    @property
    def _told_steps(self) -> list[int]:
        """The best ones, then those of alarms."""
        lines, alarms = self._judged.get("lines", {}), self._judged.get("alarms", ())
        best = [step for line in lines.values() for step in line["best"].values() if step is not None]
        return [*best, *(alarm["step"] for alarm in alarms)]

    def _is_given(self, scene: MonitorScene) -> bool:
        return max(abs(a - b) for a, b in zip(scene.shares, self._weights, strict=True)) < 1e-12

    def _computed(self, scene: MonitorScene) -> dict[str, Any]:
        """What is known under its weights; the rest follows soon."""
        if self._judged and self._judged["weights"] != list(scene.shares):
            self._judged = judged(self._record, scene.shares, self._is_given(scene), is_whole=False)
            self._teller.want(SOON_SHARE)
        return self._judged

    def _read(self, value: Any) -> MonitorScene:
        scene: MonitorScene = super()._read(value)
        self._accept(scene)
        return scene

    def _accept(self, scene: MonitorScene) -> None:
        if len(scene.weights) != len(self.names):
            seen = f"has {len(scene.weights)} weights, and this Monitor {len(self.names)} clients"
            raise InvalidInput("scene", seen, "Open it with the run that it was made of")
        check_choice(scene.metric, [metric.name for metric in self._metrics], "metric")
        if scene.client and scene.client not in self.names:
            raise InvalidInput("scene", f"has the client {shown(scene.client)}", "Choose one of this run")

    @classmethod
    def _open(cls, scene: Any) -> Monitor:
        fix = "Open the run, and load it there: lab.from_share(…)"
        raise InvalidInput("share string", "holds a Monitor's settings, not its run", fix)

    def to_code(self) -> str:
        """Python that shows this state again, of the run in the notebook."""
        return self._scene.to_code(making_of([m.name for m in self._metrics], self._is_kept, self._beside is not None))  # type: ignore[no-any-return]

    def _settle(self) -> None:
        self.wait()

    def _settle_all(self) -> None:
        self.wait()
        self._publish()
        self._judge()

    def _picture(self) -> Figure:
        scene = self._scene
        return (self._record if self._is_given(scene) else self.with_weights(scene.weights)).plot()

    def _described(self) -> str:
        said = " ".join(self.words) or "nothing is scored yet."
        return f"Monitor of {len(self._record.history.points):,} steps and {len(self.names):,} clients: {said}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """As of every lab; the picture waits a moment for scores that come soon."""
        self._record.wait(FIRST)
        return super()._repr_mimebundle_(**kwargs)

    def close(self) -> None:
        """Score what waits, remove every display and end the threads; the run stays to be read."""
        if hasattr(self, "_teller"):  # not where __init__ refused its input
            self._record.close()
            self._teller.close()
        super().close()


def _waking(teller: Teller) -> Callable[[], None]:
    """What another run calls when a step is recorded, and which does not keep this Monitor."""
    kept = weakref.ref(teller)

    def wake() -> None:
        if (found := kept()) is not None:
            found.want()

    return wake
