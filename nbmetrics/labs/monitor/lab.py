"""Monitor: the live view of a run while it is recorded, or of one that was.

Flow: `log` hands over to the run (live_run.py), which scores on a thread of its own and calls a listener at each step →
the publisher's thread writes what is new to the page, at most ten times a second: `recent`, and now and then all of it
to `past` → then, less often, what takes longer: best checkpoints, alarms and scores under the weights on show, the
`result`.
"""

from __future__ import annotations

import math
import secrets
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import traitlets
from IPython.display import display, update_display

from ...errors import InvalidInput, check_choice, shown
from ...threads import cpu_seconds
from ..toolkit import modules
from ..toolkit.lab import Lab
from ..toolkit.saved import OF_MONITOR, OF_MONITOR_BY_CLIENT
from .live_run import DEFAULT_SAMPLES, LiveRun
from .page_encoding import describe_run, describe_status, encode_history, encode_previews, judge_run, metrics_of
from .publisher import MAX_TIME_SHARE, MAX_TIME_SHARE_AWAITED, MAX_TIME_SHARE_UNSEEN, Publisher
from .run_api import RunApi
from .run_comparison import RunComparison
from .scene import MonitorScene, making_of
from .step_logger import history_tail

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GIVEN, ALIKE = "As given", "All clients alike"
# New steps up to which a page gets only those: so many, and this share of a longer run; else it gets the whole run.
MIN_NEW_STEPS, NEW_STEPS_SHARE = 200, 0.05
# Seconds that a picture waits for scores that come soon.
PICTURE_WAIT_SECONDS = 1.0
# Seconds that the end of a cell waits for the last scores, where they are to be in a picture.
END_WAIT_SECONDS = 20.0


class _Open:
    """`open`: of the class the view of a folder, of a widget what opens its line to the page."""

    def __get__(self, lab: Any, kind: Any) -> Any:
        return kind._open_folder if lab is None else Lab.open.__get__(lab)


class Monitor(RunApi, Lab):
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
    checkpoints : of a folder that keeps the best state dicts, made where it is not there; needs safetensors
    keep : rules, each a metric and an aggregate such as ("fid", "all") or ("fid", "intra"), whose best step stays there
    state : a function that returns tensors or arrays by name; by default the state dict of the module that is logged

    Attributes
    ----------
    table : DataFrame (step, metric, avg, all, gap); of a generator with one distribution for each client metrics such
        as "fid_intra", too, whose avg is the mean of the clients with what was made for them, and which have no all
    scores : DataFrame (step, metric, client, value)
    losses : DataFrame, a row a step and a column a loss
    alarms : DataFrame (step, alarm, words)
    words : list of sentences, what each aggregate would keep
    checkpoints : dict, the file of the best step so far by each rule in `keep`
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
        samples: int = DEFAULT_SAMPLES,
        seed: int = 0,
        checkpoints: Any = None,
        keep: Any = (),
        state: Any = None,
    ) -> None:
        settings = {"path": path, "keep_all": keep_all, "samples": samples, "seed": seed}
        settings |= {"checkpoints": checkpoints, "keep": keep, "state": state}
        self._start(LiveRun(federation, metrics, **settings), is_kept=path is not None)

    @classmethod
    def _open_folder(cls, path: Any) -> Monitor:
        """A run that a Monitor wrote into a folder, without its clients or generator: to be looked at, not to go on.

        Raises InvalidInput where there is none. What was damaged is left out, and `troubles` says so.
        """
        monitor = cls.__new__(cls)
        monitor._start(LiveRun.open(path), is_kept=True)
        return monitor

    def _start(self, run: LiveRun, is_kept: bool) -> None:
        """Show a run, and what is added to it."""
        self._live_run, self._is_kept = run, is_kept
        self._publishing = threading.RLock()
        self._sent: tuple[int, Any, float] = (0, (), 0.0)  # points and segments in `past`, and its last step
        self._judgement: dict[str, Any] = {}
        self._comparison: RunComparison | None = None
        first = run.history
        self.names, self._weights, self._metrics = first.names, first.weights, tuple(metrics_of(first))
        scene = {"metric": self._metrics[0].name, "preset": GIVEN, "weights": list(self._weights)}
        alike = {**scene, "preset": ALIKE, "weights": [1.0 / len(self.names)] * len(self.names)}
        presets = {GIVEN: MonitorScene.parse(scene), ALIKE: MonitorScene.parse(alike)}
        self._is_stalled = False
        self._display_id, self._is_displayed, self._has_page = secrets.token_hex(8), False, False
        self._publisher = Publisher(self._publish, self._judge, share=self._time_share, spending=self._spending)
        super().__init__(presets[GIVEN], presets)
        self._publish()
        self._judge()
        run.on_step(self._publisher.request)
        run.clock.on_end(_weak_call(self, "_show_end"))

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all steps are scored, written and shown, or so many seconds; return whether they are."""
        return self._live_run.wait(seconds) and self._publisher.flush(seconds)

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
        self._comparison = None if other is None else RunComparison.of(other, self._live_run, name)
        if self._comparison is None:
            self._write(beside={})
        elif isinstance(self._comparison.run, LiveRun):
            self._comparison.run.on_step(_weak_request(self._publisher))
        self._publisher.request(math.inf)
        return self

    @property
    def compared(self) -> list[str]:
        """Whose best checkpoint is better, this run's or that of the run beside it, a sentence a metric."""
        return [] if self._comparison is None else list(self._comparison.sentences(self._live_run.history).values())

    def _show_new_rules(self) -> None:
        self._publisher.request(MAX_TIME_SHARE_AWAITED)

    def plot(self) -> Figure:
        """Each metric's avg and all under the weights on show, the gap below, losses, and alarms at their steps."""
        return self._picture()

    def _time_share(self) -> float:
        """The share of the time that publishing may take; a loop that stalls, or goes on, is published, too."""
        clock = self._live_run.clock
        if bool(clock.stall_message) != self._is_stalled:
            self._is_stalled = not self._is_stalled
            self._publisher.request()
        if clock.is_resting:
            return MAX_TIME_SHARE_AWAITED
        return MAX_TIME_SHARE if self._is_displayed or self._has_page else MAX_TIME_SHARE_UNSEEN

    @contextmanager
    def _spending(self) -> Iterator[None]:
        """Count what publishing takes while a loop runs."""
        is_resting, start = self._live_run.clock.is_resting, cpu_seconds()
        yield
        if not is_resting:
            self._live_run.budget.spend("telling", cpu_seconds() - start)

    def _publish(self) -> None:
        """Write what is new to `recent` where the run only went on, else everything to `past`."""
        with self._publishing:
            history = self._live_run.history
            points, segments, last = self._sent
            added = history.logged[points:]
            goes_on = bool(self.past) and history.segments == segments and tuple(metrics_of(history)) == self._metrics
            goes_on = goes_on and all(point.step > last for point in added)
            if goes_on and len(added) <= MIN_NEW_STEPS + NEW_STEPS_SHARE * points:
                recent = {"of": points, **encode_history(history_tail(history, added), last)}
                return self._write(recent=recent, told=describe_status(self._live_run))
            self._metrics = tuple(metrics_of(history))
            code = making_of(list(history.plain_metrics), self._is_kept)
            self._write(run={**describe_run(history, self._is_kept), "code": code})
            past = {"id": len(history.logged), **encode_history(history, kept=self._marked_steps)}
            self._sent = len(history.logged), history.segments, max((p.step for p in history.logged), default=-1)
            self._write(past=past, recent={}, told=describe_status(self._live_run))

    def _judge(self) -> None:
        """Write best checkpoints and alarms under the weights on show, which take longer than a frame."""
        scene = self._scene
        judgement = judge_run(self._live_run, scene.shares, self._has_own_weights(scene))
        if (comparison := self._comparison) is not None:
            judgement["beside"] = comparison.judge(self._live_run, scene.shares)
            self._write(beside=comparison.encode(self._live_run.history))
        self._judgement = judgement
        self._write(samples=encode_previews(self._live_run.history, self._marked_steps))
        self._answer(self._scene)

    @property
    def _marked_steps(self) -> list[int]:
        """The best steps, then those of alarms."""
        lines, alarms = self._judgement.get("lines", {}), self._judgement.get("alarms", ())
        best = [step for line in lines.values() for step in line["best"].values() if step is not None]
        return [*best, *(alarm["step"] for alarm in alarms)]

    def _has_own_weights(self, scene: MonitorScene) -> bool:
        return max(abs(a - b) for a, b in zip(scene.shares, self._weights, strict=True)) < 1e-12

    def _computed(self, scene: MonitorScene) -> dict[str, Any]:
        """What is known under its weights; the rest follows soon."""
        if self._judgement and self._judgement["weights"] != list(scene.shares):
            is_own = self._has_own_weights(scene)
            self._judgement = judge_run(self._live_run, scene.shares, is_own, is_whole=False)
            self._publisher.request(MAX_TIME_SHARE_AWAITED)
        return self._judgement

    def _read(self, value: Any) -> MonitorScene:
        scene: MonitorScene = super()._read(value)
        self._accept(scene)
        return scene

    def _accept(self, scene: MonitorScene) -> None:
        if len(scene.weights) != len(self.names):
            seen = f"has {len(scene.weights)} weights, and this Monitor {len(self.names)} clients"
            raise InvalidInput("scene", seen, "Open it with the run that it was made from")
        check_choice(scene.metric, [metric.name for metric in self._metrics], "metric")
        if scene.client and scene.client not in self.names:
            raise InvalidInput("scene", f"has the client {shown(scene.client)}", "Choose one of this run")

    @classmethod
    def _open(cls, scene: Any) -> Monitor:
        fix = "Open the run, and load it there: lab.from_share(…)"
        raise InvalidInput("share string", "contains a Monitor's settings, not its run", fix)

    def to_code(self) -> str:
        """Python that shows this state again, of the run in the notebook."""
        return self._scene.to_code(
            making_of(list(self._live_run.history.plain_metrics), self._is_kept, self._comparison is not None)
        )  # type: ignore[no-any-return]

    @property
    def _saved_words(self) -> str:  # type: ignore[override]
        is_by_client = any(point.is_by_client for point in self._live_run.history.logged)
        return OF_MONITOR_BY_CLIENT if is_by_client else OF_MONITOR

    def _settle(self) -> None:
        self.wait()

    def _settle_all(self) -> None:
        self.wait()
        self._publish()
        self._judge()

    def _picture(self) -> Figure:
        scene = self._scene
        return (self._live_run if self._has_own_weights(scene) else self.with_weights(scene.weights)).plot()

    def _described(self) -> str:
        words = " ".join(self.words) or "nothing is scored yet."
        return f"Monitor of {len(self._live_run.history.points):,} steps and {len(self.names):,} clients: {words}"

    def _ipython_display_(self) -> None:
        """Show the live view, in a display whose picture can follow."""
        self._is_displayed = True
        self._show(display)

    def _show(self, show: Callable[..., Any]) -> None:
        bundle = self._repr_mimebundle_()
        if bundle is not None:
            show(bundle[0], metadata=bundle[1], raw=True, display_id=self._display_id)

    def _show_end(self) -> None:
        """Show the run at its end, where no page is there to follow it: nbclient, nbconvert."""
        if self._is_displayed and not self._has_page:
            self.wait(END_WAIT_SECONDS)
            self._show(update_display)

    def _receive(self, _: Any, message: Any, buffers: Any) -> None:
        """As of every lab; a page says that it is there."""
        self._has_page = True
        super()._receive(_, message, buffers)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """As of every lab; the picture waits a moment for scores that come soon."""
        self._live_run.wait(PICTURE_WAIT_SECONDS)
        return super()._repr_mimebundle_(**kwargs)

    def close(self) -> None:
        """Score what waits, remove every display and end the threads; the run stays to be read."""
        if hasattr(self, "_publisher"):  # not where __init__ refused its input
            self._live_run.close()
            self._publisher.close()
        super().close()


def _weak_call(lab: Monitor, name: str) -> Callable[[], None]:
    """Return what calls a method of a Monitor as long as it lives."""
    reference = weakref.ref(lab)

    def call() -> None:
        if (alive := reference()) is not None:
            getattr(alive, name)()

    return call


def _weak_request(publisher: Publisher) -> Callable[[], None]:
    """Return what another run calls at each step to have this one published, and which does not keep it alive."""
    reference = weakref.ref(publisher)

    def request() -> None:
        if (publisher := reference()) is not None:
            publisher.request()

    return request
