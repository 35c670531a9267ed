"""Dashboard: which generator to ship, and who pays for it.

Flow: the constructor checks all input; a thread fills the scores, the most telling first, and writes what is known to
`board` and `draws`; the page computes every number that is linear in the weights by itself, in every frame; Python
answers with what is not: the scores of the pooled clients, their noise and the test of the clients.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import traitlets

from ...errors import InvalidInput, check_choice, check_names, printable, shown
from ...evaluation.scores import Scores
from ..toolkit import modules
from ..toolkit.lab import LONGEST_MESSAGE
from ..toolkit.namespace import listed, suitable, why_not
from ..toolkit.saved import OF_DASHBOARD
from ..toolkit.worker import Worker
from .edits import Edits
from .federated import FederationStudy
from .filler import Filler
from .scene import DashboardScene
from .study import Study
from .table import TableStudy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GIVEN, ALIKE = "As given", "All clients alike"
# Seconds that the constructor, and an answer in a drag, wait for numbers that come soon.
FIRST, SOON = 1.0, 0.08
# Seconds between two looks of the page at what is known.
OFTEN = 0.4


class Dashboard(Edits):
    """Generators side by side on the clients of a federation: who is best, by which weights, and who pays for it.

    The view is there at once, and fills in: the scores of the pooled clients first, then the clients of the leaders,
    then the rest. `scores`, `verdict`, `snapshot` and `export_html` wait until all is known.

    Parameters
    ----------
    federation, generators, metrics : as `nm.evaluate` takes them
    uncertainty : None for influence values where clients and generators are rows (exact laws do not vary); or
        `nm.Influence()`, `nm.Bootstrap(…)`, `nm.Jackknife()`

    Attributes
    ----------
    scores : `nm.Scores` of the generators under the weights on show
    table : its table
    verdict : list of sentences: who is best, and how sure that is
    weights : λ of the clients on show; can be set, and that can be undone

    Raises
    ------
    InvalidInput
        As `nm.evaluate`, before anything is computed.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> clients = {"north": rng.normal(0, 1, (300, 2)), "south": rng.normal(1, 1, (200, 2))}
    >>> generators = {"near": rng.normal(0.5, 1, (400, 2)), "far": rng.normal(3, 1, (400, 2))}
    >>> dashboard = nm.Dashboard(clients, generators)
    >>> dashboard.verdict[0]
    'On FID, near wins, by avg and by all.'
    """

    _esm = modules.module("dashboard/view/index.js")
    _css = modules.style(
        *(*modules.CHARTS, "toolkit/view/matrix.css"),
        *(f"dashboard/view/{name}.css" for name in ("style", "heat", "weights")),
    )
    _state = DashboardScene
    _saved_words = OF_DASHBOARD

    board = traitlets.Dict().tag(sync=True)
    draws = traitlets.Dict().tag(sync=True)
    # Of the chosen cell.
    details = traitlets.Dict().tag(sync=True)
    # The best mixture, once the page asked for it.
    mixture = traitlets.Dict().tag(sync=True)
    namespace: Any = traitlets.List().tag(sync=True, live=True)

    def __init__(
        self, federation: Any, generators: Any, metrics: Any = ("fid", "kid"), *, uncertainty: Any = None
    ) -> None:
        self._start(FederationStudy(federation, generators, metrics, uncertainty))

    def _start(self, study: Study) -> None:
        """Show a study, and fill it in."""
        self._study, self._given = study, study.generators
        self._told, self._doing = 0.0, ""
        self._publishing = threading.Lock()
        self._later = threading.Timer(0, self._show)
        self._changing = threading.RLock()  # generators come and go in cells and in the page
        presets = self._scenes()
        self._wanted_cell: DashboardScene | None = None
        self._opener = Worker(self._open, "nbmetrics Dashboard opens a cell")
        self._mixer = Worker(self._mix, "nbmetrics Dashboard mixes")
        self._filler = Filler(self._study.next_step, self._tell, "nbmetrics Dashboard fills")
        super().__init__(presets[GIVEN], presets)
        self._publish()
        self._filler.wake()
        try:
            self._filler.wait(FIRST)
        except Exception:
            self.close()
            raise

    @classmethod
    def from_table(
        cls, table: Any, *, weights: Any = None, label: str = "Score", higher_is_better: bool = False
    ) -> Dashboard:
        """A Dashboard of scores that were computed elsewhere, without pooled data and without intervals.

        Parameters
        ----------
        table : DataFrame (or dict of columns), a row a client, by the index, and a column a generator; or a long one
            with the columns client, generator and value
        weights : of the clients, by name (a dict or a Series) or in the order of the rows, of a long table in that in
            which they first come; equal by default
        label : what the scores are called
        higher_is_better : direction of the score

        Raises
        ------
        InvalidInput
            For a table that is empty or too large, or that holds no numbers, and names that come twice.

        Examples
        --------
        >>> table = pd.DataFrame({"a": [0.3, 0.9], "b": [0.4, 0.5]}, index=["north", "south"])
        >>> nm.Dashboard.from_table(table).table["avg"].round(2).tolist()
        [0.6, 0.45]
        """
        made = cls.__new__(cls)
        made._start(TableStudy(table, weights, label, higher_is_better))
        return made

    def _scenes(self) -> dict[str, DashboardScene]:
        study = self._study
        clients = len(study.names)
        common = {
            "metric": study.metrics[0],
            "generators": list(study.generators),
            "groups": [3 * i // clients for i in range(clients)],
        }
        weights = {GIVEN: list(study.weights), ALIKE: [1.0 / clients] * clients}
        return {name: DashboardScene.parse({"weights": w, "preset": name, **common}) for name, w in weights.items()}

    def _tell(self, doing: str) -> None:
        """On the filler's thread: show what is known now and what is done next; soon, where that was just shown."""
        self._doing = doing
        self._later.cancel()
        wait = self._told + OFTEN - time.monotonic() if doing else 0.0
        if wait <= 0:
            return self._show()
        self._later = threading.Timer(wait, self._show)  # the step that comes may be a long one
        self._later.daemon, self._later.name = True, "nbmetrics Dashboard tells"
        self._later.start()

    def _show(self) -> None:
        self._publish()
        self._worker.put(self._scene)

    def _publish(self) -> None:
        with self._publishing:  # two threads at once, and the older of two boards would stay
            self._write_board()

    def _write_board(self) -> None:
        self._told = time.monotonic()
        error = self._filler.error
        why = "" if error is None else printable(str(error) or type(error).__name__, LONGEST_MESSAGE)
        self._write(board=self._study.board(self._doing, self._filler.is_stopped, why))
        draws = self._study.draws()
        if draws != self.draws:
            self._write(draws=draws)

    def _read(self, value: Any) -> DashboardScene:
        scene: DashboardScene = super()._read(value)
        self._accept(scene)
        return scene

    def _accept(self, scene: DashboardScene) -> None:
        study = self._study
        if len(scene.weights) != len(study.names):
            seen = f"has {len(scene.weights)} weights, and this Dashboard {len(study.names)} clients"
            raise InvalidInput("scene", seen, "Open it with the data that it was made of")
        check_choice(scene.metric, study.metrics, "metric")
        for name in scene.generators:
            if name not in study.generators:
                raise InvalidInput("scene", f"has the generator {shown(name)}", "Attach it first")

    def wait(self, seconds: float | None = None) -> bool:
        """Until all is known under the weights on show, or so many seconds; whether it is."""
        self._study.wanted = self._scene.shares
        if not self._filler.is_stopped:
            self._filler.wake()
        return self._filler.wait(seconds) and self._study.next_step() is None

    def cancel(self) -> None:
        """Compute no more after the piece under way: what is known stays. `resume` goes on."""
        self._filler.stop()
        self._publish()

    def resume(self) -> None:
        """Go on after `cancel`, or after something went wrong: then without the generators that were taken off."""
        if self._filler.error is not None:
            for name in set(self._study.generators) - set(self._scene.generators):
                self._study.remove(name)
        self._filler.wake()
        self._publish()  # the piece under way may take long, and it goes on from now

    def attach(self, name: str, source: Any) -> None:
        """Show one more generator; can be undone.

        Parameters
        ----------
        name : not one that is shown already
        source : as a generator of `nm.evaluate`
        """
        (name,) = check_names([name], "name")
        with self._changing:
            scene, before = self._scene, self._history
            if name in scene.generators:
                raise InvalidInput("name", f"{shown(name)} is shown already", "Remove it first, or give another name")
            if name in self._study.generators:  # removed before, and its source may be another now
                self._study.remove(name)
            self._study.add(name, source)
            self._publish()
            self._travel((before.record(scene), replace(scene, generators=(*scene.generators, name))))
            self._filler.wake()
            try:
                self._filler.wait(FIRST)
            except Exception:  # of this source, as nothing was wrong before
                self._travel((before, replace(self._scene, generators=scene.generators)))  # weights may have moved
                self._study.remove(name)
                self._filler.wake()
                raise

    def remove(self, name: str) -> None:
        """Take a generator off; can be undone."""
        with self._changing:
            scene = self._scene
            check_choice(name, scene.generators, "name")
            if len(scene.generators) == 1:
                raise InvalidInput("name", f"{shown(name)} is the only generator", "Attach another one first")
            left = tuple(generator for generator in scene.generators if generator != name)
            chosen = "" if scene.generator == name else scene.generator
            self._travel((self._history.record(scene), replace(scene, generators=left, generator=chosen)))

    def what_if(self, *, merge: Mapping[str, Any] | None = None, drop: Any = (), split: Any = ()) -> Dashboard:
        """Another Dashboard of the same generators, on other clients; this one stays as it is.

        Parameters
        ----------
        merge : clients to take together by the name of what they become, such as `{"coast": ["isle", "south"]}`
        drop : clients to leave out, a name or several
        split : clients to cut into their classes, a name or several; they must have labels
        """
        *given, uncertainty = self._study.regrouped(merge or {}, drop, split, self._scene.generators)
        return type(self)(*given, uncertainty=uncertainty)

    @property
    def scores(self) -> Scores:  # type: ignore[override]  # an attribute here, a method of other labs
        """Of all generators, under the weights on show; waits until they are known, unless cancelled."""
        self.wait()
        return self._study.scores_of(self._scene)

    @property
    def table(self) -> Any:
        """The table of `scores`."""
        return self.scores.table

    @property
    def verdict(self) -> list[str]:
        """Who is best, and how sure that is: sentences of the metric in view, then the first of each other metric."""
        self.wait()
        scene, study = self._scene, self._study
        others = [study.verdict(m, scene).sentences[0] for m in study.metrics if m != scene.metric]
        return [*study.verdict(scene.metric, scene).sentences, *others]

    @classmethod
    def _opened(cls, scene: Any) -> Dashboard:
        fix = "Make a Dashboard of the same data, and load it there: lab.from_share(…)"
        raise InvalidInput("share string", "holds a Dashboard's settings, not its data", fix)

    def to_code(self) -> str:
        """Python that shows this state again, of the data in the notebook."""
        return self._scene.to_code(self._study.making)  # type: ignore[no-any-return]

    def _answer_to(self, kind: Any, message: Mapping[str, Any]) -> None:
        if kind == "names":
            self.namespace = listed(self._study.dim, self._study.takes_images)
        elif kind == "attach":
            sources = suitable()
            name = check_choice(message.get("name"), sources, "name")
            if why := why_not(sources[name], self._study.dim, self._study.takes_images):
                raise InvalidInput(name, f"cannot be a generator here: {why}", "Choose another")
            self.attach(name, sources[name])
        elif kind == "details":
            self._wanted_cell = self._heard(message.get("scene"))
            self._opener.put(self._wanted_cell)
        elif kind == "mixture":
            self._mixer.put(self._heard(message.get("scene")))
        elif kind in ("stop", "resume"):
            self.cancel() if kind == "stop" else self.resume()
        else:
            super()._answer_to(kind, message)

    def _open(self, scene: DashboardScene) -> None:
        """Write what the chosen cell opens, part after part, as long as no other is asked for."""
        try:
            for found in self._study.details(scene):
                if self._wanted_cell is not scene:
                    return
                self._write(details=found)
        except Exception as error:  # shown in the view instead of vanishing in a thread
            cell = {"cell": [scene.client, scene.generator, scene.metric], "weights": list(scene.weights)}
            told = printable(str(error) or type(error).__name__, LONGEST_MESSAGE)
            self._write(details={**cell, "error": told, "doing": ""})

    def _mix(self, scene: DashboardScene) -> None:
        """Write the best mixture of the generators of a scene, and meanwhile what is computed of it."""
        try:
            for found in self._study.mixture(scene):
                if self.comm is None:  # closed meanwhile
                    return
                self._write(mixture=found)
        except Exception as error:  # shown in the view instead of vanishing in a thread
            self._write(mixture={"error": printable(str(error) or type(error).__name__, LONGEST_MESSAGE), "doing": ""})

    def _computed(self, scene: DashboardScene) -> dict[str, Any]:
        self._study.wanted = scene.shares
        if self._filler.has_started and not self._filler.is_stopped:
            self._filler.wake()
            self._filler.wait(SOON)
        return self._study.answer(scene)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """As of every lab; the picture waits a moment for numbers that come soon."""
        if not self._filler.is_stopped and self._filler.has_started:
            self._filler.wait(FIRST)
        return super()._repr_mimebundle_(**kwargs)

    def _answered(self, scene: Any) -> dict[str, Any]:
        found = super()._answered(scene)
        told = self.result.get("error") if self._refused_rev == scene.rev == self.result.get("rev") else None
        return {**found, "error": told} if told else found  # what was refused stays told while more comes in

    def _settle(self) -> None:
        self.wait()

    def _settle_all(self) -> None:
        self.wait()
        self._answer(self._scene)
        if self._scene.client and self._scene.generator:
            self._wanted_cell = self._scene
            self._open(self._wanted_cell)

    def _picture(self) -> Figure:
        from .figure import dashboard

        scene = self._scene
        return dashboard(self._study.shown(scene), scene.generators, self._study.names, self._headline)

    @property
    def _headline(self) -> str:
        return self._study.verdict(self._scene.metric, self._scene).sentences[0]

    def _described(self) -> str:
        scene = self._scene
        said = self._headline if self._study.is_settled(scene.shares) else "still being computed."
        return f"Dashboard of {len(scene.generators)} generators and {len(scene.weights)} clients: {said}"

    def close(self) -> None:
        """Remove every display and free the threads."""
        if hasattr(self, "_filler"):  # not where __init__ refused its input
            self._filler.close()
            self._later.cancel()
            self._opener.close()
            self._mixer.close()
        super().close()
