"""TwinsLab: two generators that every client scores alike and FID-all tells apart, moving with the clients."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from ...datasets import published
from ...distributions import Gaussian
from ...errors import InvalidInput, check_choice
from ...evaluation.evaluate import evaluate
from ...evaluation.scores import Scores
from ...federation import Federation
from ...metrics.fid.metric import fid
from ...ranking import numeral
from ...theory import NoTwin, Twin, printed_twin, twin
from ...theory.aggregates import pooled_gaussian
from ...theory.twins import SAME
from ..plane.items import Item
from ..toolkit import modules, saved
from ..toolkit.lab import Lab, Worker
from ..toolkit.snapshot import Snapshot
from .scene import PRESETS, TwinsScene

if TYPE_CHECKING:
    from ...figures.drawing import Drawing

OWN = "Your clients"
# Relative to the scores: differences below this are rounding, of closed forms or of a search.
SAME_SCORE = 1e-8
# Seconds for which the clients must lie still before a twin is searched: longer than a drag's commits are apart.
SECONDS_STILL = 0.15


@dataclass(frozen=True)
class Outcome:
    """A pair of generators, or the reason why there is none; `trying` says that a search still goes on."""

    pair: Twin | None = None
    reason: str = ""
    trying: str = ""


class _Searching(Exception):
    """A twin would have to be searched for."""


class TwinsLab(Lab):
    """Clients as Gaussians in the plane, the pooled Gaussian, and its twin: alike to every client, apart when pooled.

    Parameters
    ----------
    federation : clients that are 2-D Gaussians (`Federation`, or a list that makes one), or the name of a
        preset; "Two clients" by default
    shared : whether changing the shape of one client changes all; by default, where they have one shape
    construction : "corrected" (`nm.theory.twin`), "printed" (the papers' own) or "published" (the papers' table)

    Raises
    ------
    InvalidInput
        For a client that is not a 2-D Gaussian, or `shared=True` for clients of several shapes.

    Examples
    --------
    >>> lab = nm.TwinsLab()
    >>> lab.scores().table.round(2)
      generator metric   avg   all   gap
    0     First    fid  5.53  0.00  5.53
    1      Twin    fid  5.53  3.06  2.47
    """

    _esm = modules.module("twins/view/index.js")
    _css = modules.style("twins/view/style.css")
    _state = TwinsScene
    _saved_words = saved.OF_TWINS

    published = traitlets.Dict().tag(sync=True)

    def __init__(self, federation: Any = None, *, shared: bool | None = None, construction: str = "corrected") -> None:
        start = _start(federation, {} if shared is None else {"shared": shared}, construction)
        self._wanted: Any = None
        self._latest: tuple[Any, Outcome] = (None, Outcome())
        self._searcher: Worker | None = None  # its answers need a scene
        super().__init__(start, PRESETS if start.preset in PRESETS else {start.preset: start, **PRESETS})
        self._searcher = Worker(self._search, "nbmetrics TwinsLab search")
        self._outcome(self._scene)

    @traitlets.default("published")
    def _default_published(self) -> dict[str, Any]:
        table = published("twin_generators_ffhq").drop(columns="generator")
        first, second = table.to_numpy().tolist()
        names = [str(name).replace("client_", "Client ") for name in table.columns[:-2]]
        return {"clients": names, "first": first, "second": second, "source": table.attrs["source"]}

    @property
    def federation(self) -> Federation:
        """The present clients."""
        return self._scene.federation

    def twin(self) -> Twin:
        """The pair of generators of the present clients, by the present construction; `nm.theory.NoTwin` if none."""
        scene = self._scene
        if scene.construction == "published":
            fix = 'Choose another, or take nm.experiments.published("twin_generators_ffhq")'
            raise InvalidInput("construction", "is the published table; nothing is computed for it", fix)
        return printed_twin(scene.federation) if scene.construction == "printed" else _distinct_twin(scene.federation)

    def scores(self) -> Scores:
        """FID of both generators with every client, averaged and pooled, as `evaluate` gives them."""
        pair = self.twin()
        return evaluate(self._scene.federation, {"First": pair.first, "Twin": pair.second}, "fid", progress=False)

    def _computed(self, scene: TwinsScene) -> dict[str, Any]:
        outcome = self._outcome(scene)
        second = outcome.pair and Item.of_source("Twin", outcome.pair.second).to_json()
        said = {"reason": outcome.reason, "trying": outcome.trying}
        return {"second": second, "scores": self._scores(scene, outcome), **said}

    def _outcome(self, scene: TwinsScene) -> Outcome:
        """Return the pair or the reason for none; where it takes a search, that begins once the clients lie still."""
        if scene.construction == "published":
            return Outcome()
        if scene.construction == "printed":
            return _outcome_of(lambda: printed_twin(scene.federation))
        self._wanted = key = _key(scene)
        latest_for, outcome = self._latest
        if latest_for == key:
            return outcome
        try:
            return _outcome_of(lambda: _distinct_twin(scene.federation, _give_up))
        except _Searching:
            if self._searcher is not None:
                self._searcher.put(scene)
            return Outcome(trying="Searching for the twin …")

    def _search(self, scene: TwinsScene) -> None:
        """On the searcher's thread: look for the twin of clients that lie still, and let the worker answer with it."""
        key = _key(scene)
        if self._latest[0] == key:
            return

        def progress(attempt: int, most: int) -> None:
            latest_for, outcome = self._latest
            if self._wanted != key or (latest_for == key and not outcome.trying):
                raise _Searching
            self._latest = key, Outcome(trying=f"Searching for the twin: attempt {attempt} of at most {most} …")
            self._worker.put(self._scene)

        time.sleep(SECONDS_STILL)
        try:
            self._latest = key, _outcome_of(lambda: _distinct_twin(scene.federation, progress))
        except _Searching:
            if self._latest[1].trying:
                self._latest = None, Outcome()
            return
        self._worker.put(self._scene)

    def _scores(self, scene: TwinsScene, outcome: Outcome) -> dict[str, Any]:
        """Return FID with each client, avg and all of both generators; None where there is no second."""
        if scene.construction == "published":
            return {g: self.published[g] for g in ("first", "second")}
        clients = scene.federation
        first = pooled_gaussian(clients)
        second = outcome.pair and fids(clients, first, outcome.pair.second)
        return {"first": fids(clients, first, first), "second": second}

    def _saved_shows(self, scene: TwinsScene) -> bool:
        return _is_closed(scene)

    def snapshot(self) -> Snapshot:
        """The present scene as a picture, PNG and SVG with alt text; waits for a search under way."""
        scene = self._scene
        if self._outcome(scene).trying:
            self._latest = _key(scene), _outcome_of(lambda: _distinct_twin(scene.federation))
            self._worker.put(scene)
        return super().snapshot()

    def _picture(self) -> Drawing:
        """The present state as a figure."""
        from .figure import twins_lab

        scene = self._scene
        outcome = self._outcome(scene)
        names = [client.name for client in scene.clients]
        names = self.published["clients"] if scene.construction == "published" else names
        return twins_lab(scene, outcome.pair, names, self._scores(scene, outcome), self._words(scene, outcome))

    def _described(self) -> str:
        """The present state in words."""
        scene = self._scene
        clients = [f"{c.name} at x {numeral(c.x, '.2f')}, y {numeral(c.y, '.2f')}" for c in scene.clients]
        shown = "the published pair on face images" if scene.construction == "published" else ", ".join(clients)
        return f"TwinsLab, {scene.construction} construction: {shown}. {self._words(scene, self._outcome(scene))}"

    def _words(self, scene: TwinsScene, outcome: Outcome) -> str:
        scores = self._scores(scene, outcome)
        if scores["second"] is None:
            return outcome.trying or f"No twin here: {outcome.reason}"
        differences = np.subtract(scores["second"], scores["first"])
        low, high, gap = differences[:-2].min(), differences[:-2].max(), differences[-1]
        pooled = f"pooled, the second is {numeral(gap)} worse"
        if max(abs(low), abs(high)) <= SAME_SCORE * max(scores["first"]):
            return f"Every client scores both generators alike; {pooled}."
        return (
            f"The clients' scores of the second are off by {numeral(low, '+.3f')} to {numeral(high, '+.3f')}; {pooled}."
        )

    def close(self) -> None:
        """Remove every display and free both workers."""
        if (searcher := getattr(self, "_searcher", None)) is not None:  # not where __init__ refused its input
            self._wanted = None
            searcher.close()
        super().close()


def fids(clients: Federation, pooled: Gaussian, distribution: Gaussian) -> list[float]:
    """FID of a distribution with each client, averaged by their weights, and with the pooled Gaussian."""
    own = [fid(client.distribution, distribution) for client in clients]
    return [*own, float(np.dot(clients.weights, own)), fid(pooled, distribution)]


def _start(federation: Any, shared: dict[str, Any], construction: str) -> TwinsScene:
    if isinstance(federation, TwinsScene):
        return replace(federation, preset=federation.preset or OWN)
    if federation is None or isinstance(federation, str):
        name = check_choice("Two clients" if federation is None else federation, PRESETS, "preset")
        return TwinsScene.parse({**PRESETS[name].to_json(), **shared, "construction": construction})
    return TwinsScene.of(federation, preset=OWN, construction=construction, **shared)


def _distinct_twin(clients: Federation, progress: Any = None) -> Twin:
    pair = twin(clients, progress=progress)
    if pair.all_gap <= SAME * np.trace(pair.first.cov):
        raise NoTwin("The clients are almost identical: the score of each equals FID-all to the last digits.")
    return pair


def _is_closed(scene: TwinsScene) -> bool:
    """Whether the twin, or why there is none, is known without a search."""
    try:
        _outcome_of(lambda: _distinct_twin(scene.federation, _give_up))
    except _Searching:
        return False
    return True


def _outcome_of(make: Callable[[], Twin]) -> Outcome:
    try:
        return Outcome(make())
    except NoTwin as reason:
        return Outcome(reason=str(reason).removeprefix("No twin: "))


def _give_up(attempt: int, most: int) -> None:
    raise _Searching


def _key(scene: TwinsScene) -> tuple[Any, ...]:
    """Return the part of a scene that a twin depends on."""
    return tuple((c.x, c.y, c.width, c.height, c.angle, c.weight) for c in scene.clients)
