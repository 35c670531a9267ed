"""Dashboard: which generator to ship, and who pays for it.

Flow: the constructor checks all input; a thread fills the scores, the most telling first, and writes what is known to
`board` and `draws`; the page computes every number that is linear in the weights by itself, in every frame; Python
answers with what is not: the scores of the pooled clients, their noise and the test of the clients.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import traitlets

from ...errors import InvalidInput, check_choice, printable, shown
from ...evaluation.scores import Scores
from ..toolkit import modules
from ..toolkit.lab import MAX_MESSAGE_LETTERS
from ..toolkit.namespace import list_variables, suitable, why_not
from ..toolkit.saved import OF_DASHBOARD
from ..toolkit.snapshot import Snapshot
from .asked import Asked
from .background_evaluation import BackgroundEvaluation
from .changes import Change
from .edits import FIRST, Edited
from .federated import FederationStudy
from .scene import GIVEN, DashboardScene, starts
from .studies import Studies
from .study import Study
from .table import TableStudy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Seconds that an answer in a drag waits for numbers that come soon.
SOON = 0.08
# Seconds between two looks of the page at what is known.
OFTEN = 0.4


class Dashboard(Edited):
    """Generators side by side on the clients of a federation: who is best, by which weights, and who pays for it.

    The view is there at once, and fills in: the scores of the pooled clients first, then the clients of the leaders,
    then the rest. `scores`, `verdict`, `snapshot` and `export_html` wait until all is known.

    Parameters
    ----------
    federation, generators, metrics : as `nm.evaluate` takes them
    uncertainty : None for influence values where clients and generators are rows (exact distributions do not vary); or
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
        *(*modules.CHARTS, "toolkit/view/heat_colors.css", "toolkit/view/matrix.css"),
        *(f"dashboard/view/{name}.css" for name in ("style", "heat", "weights")),
    )
    _state = DashboardScene
    _saved_words = OF_DASHBOARD

    board = traitlets.Dict().tag(sync=True)
    draws = traitlets.Dict().tag(sync=True)
    # Some pictures of each generator and of the clients, see `pictures`.
    strips = traitlets.Dict().tag(sync=True)
    # Of the clients' own images: not in a saved page, which may go to others.
    clients_strip = traitlets.Dict().tag(sync=True, live=True)
    # Of the chosen cell.
    details = traitlets.Dict().tag(sync=True)
    # The best mixture, once the page asked for it.
    mixture = traitlets.Dict().tag(sync=True)
    # Who wins by all in the weights of three groups, once the page asked for it.
    winners = traitlets.Dict().tag(sync=True)
    namespace: Any = traitlets.List().tag(sync=True, live=True)

    def __init__(
        self, federation: Any, generators: Any, metrics: Any = ("fid", "kid"), *, uncertainty: Any = None
    ) -> None:
        self._start(FederationStudy(federation, generators, metrics, uncertainty))

    def _start(self, study: Study) -> None:
        """Show a study, and fill it in."""
        self._studies = Studies(study)
        self._given = study.generators
        self._told, self._doing = 0.0, ""
        self._publishing = threading.Lock()
        self._later = threading.Timer(0, self._show)
        self._changing = threading.RLock()  # generators and clients come and go in cells and in the page
        presets = starts(study.metrics[0], study.weights, study.generators)
        of, write = self._study_of, self._writer
        self._details = Asked(
            lambda scene: of(scene).details(scene),
            write("details"),
            "nbmetrics Dashboard opens a cell",
            study.about_cell,
        )
        self._mixture = Asked(lambda scene: of(scene).mixture(scene), write("mixture"), "nbmetrics Dashboard mixes")
        self._winners = Asked(self._map, write("winners"), "nbmetrics Dashboard maps winners")
        self._filler = BackgroundEvaluation(lambda: self._study.next_step(), self._tell, "nbmetrics Dashboard fills")
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
        >>> import pandas as pd
        >>> table = pd.DataFrame({"a": [0.3, 0.9], "b": [0.4, 0.5]}, index=["north", "south"])
        >>> nm.Dashboard.from_table(table).table["avg"].round(2).tolist()
        [0.6, 0.45]
        """
        made = cls.__new__(cls)
        made._start(TableStudy(table, weights, label, higher_is_better))
        return made

    def _tell(self, doing: str) -> None:
        """On the evaluation's thread: show what is known now and what is done next; soon, where that was just shown."""
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
        error, scene = self._filler.error, self._scene
        study, regroup = self._study_of(scene), [change.to_json() for change in scene.regroup]
        why = "" if error is None else printable(str(error) or type(error).__name__, MAX_MESSAGE_LETTERS)
        board = {"regroup": regroup, "code": study.making, **study.board(self._doing, self._filler.is_stopped, why)}
        strips = dict(study.strips)
        found = {"board": board, "draws": study.draws(), "clients_strip": strips.pop("clients", {}), "strips": strips}
        if self.board.get("regroup", regroup) != regroup:  # what was open is of other clients
            for asked in (self._details, self._mixture, self._winners):
                asked.drop()
            found |= {"details": {}, "mixture": {}, "winners": {}}
        with self._lock, self.hold_sync():  # the page must not see one without the other
            self._write(**{name: value for name, value in found.items() if value != getattr(self, name)})

    def _read(self, value: Any) -> DashboardScene:
        scene: DashboardScene = super()._read(value)
        self._accept(scene)
        return scene

    def _accept(self, scene: DashboardScene) -> None:
        try:
            clients = len(self._studies.names(scene.regroup))
        except InvalidInput as error:
            seen = f"regroups the clients as these cannot be ({error})"
            raise InvalidInput("scene", seen, "Open it with the data that it was made of") from None
        study = self._studies.origin
        if len(scene.weights) != clients:
            seen = f"has {len(scene.weights)} weights, and this Dashboard {clients} clients"
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
                self._studies.remove(name)
        self._filler.wake()
        self._publish()  # the piece under way may take long, and it goes on from now

    @property
    def scores(self) -> Scores:  # type: ignore[override]  # an attribute here, a method of other labs
        """Of all generators, under the weights on show; waits until they are known, unless cancelled."""
        self.wait()
        scene = self._scene
        return self._study_of(scene).scores_of(scene)

    @property
    def table(self) -> Any:
        """The table of `scores`."""
        return self.scores.table

    @property
    def verdict(self) -> list[str]:
        """Who is best, and how sure that is: sentences of the metric in view, then the first of each other metric."""
        self.wait()
        scene = self._scene
        study = self._study_of(scene)
        others = [study.verdict(m, scene).sentences[0] for m in study.metrics if m != scene.metric]
        return [*study.verdict(scene.metric, scene).sentences, *others]

    @classmethod
    def _open(cls, scene: Any) -> Dashboard:
        fix = "Make a Dashboard of the same data, and load it there: lab.from_share(…)"
        raise InvalidInput("share string", "holds a Dashboard's settings, not its data", fix)

    def to_code(self) -> str:
        """Python that shows this state again, of the data in the notebook."""
        return self._scene.to_code(self._study.making)  # type: ignore[no-any-return]

    def _answer_to(self, kind: Any, message: Mapping[str, Any]) -> None:
        if kind == "names":
            self.namespace = list_variables(self._study.dim, self._study.takes_images)
        elif kind == "attach":
            sources = suitable()
            name = check_choice(message.get("name"), sources, "name")
            if why := why_not(sources[name], self._study.dim, self._study.takes_images):
                raise InvalidInput(name, f"cannot be a generator here: {why}", "Choose another")
            self.attach(name, sources[name])
        elif kind == "details":
            self._details.put(self._scene_from_page(message.get("scene")))
        elif kind == "mixture":
            self._mixture.put(self._scene_from_page(message.get("scene")))
        elif kind == "regroup":
            self._regroup((Change.parse(message.get("change"), "change"),))
        elif kind == "winners":
            self._winners.put(self._scene_from_page(message.get("scene")))
        elif kind == "no winners":
            self._winners.drop()
        elif kind in ("stop", "resume"):
            self.cancel() if kind == "stop" else self.resume()
        else:
            super()._answer_to(kind, message)

    def _writer(self, trait: str) -> Callable[[dict[str, Any]], None]:
        return lambda found: self._write(**{trait: found})

    def _map(self, scene: DashboardScene) -> Iterator[dict[str, Any] | None]:
        """Who wins by all in the weights of three groups, whenever nothing else is to be computed."""
        while not self._filler.wait(OFTEN):
            yield None
        for found in self._study_of(scene).winners(scene):
            yield found
            while not self._filler.wait(OFTEN):
                yield None

    def _computed(self, scene: DashboardScene) -> dict[str, Any]:
        study, regroup = self._study_of(scene), [change.to_json() for change in scene.regroup]
        study.wanted = scene.shares
        if self.board.get("regroup", regroup) != regroup:
            self._clients_changed()
        is_filling = self._filler.has_started and not self._filler.is_stopped
        if is_filling and self._study.next_step() is not None:  # its end is told by this, and would wake it again
            self._filler.wake()
            self._filler.wait(SOON)
        return {"regroup": regroup, **study.answer(scene)}

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """As of every lab; the picture waits a moment for numbers that come soon."""
        if not self._filler.is_stopped and self._filler.has_started:
            self._filler.wait(FIRST)
        return super()._repr_mimebundle_(**kwargs)

    def _answer_of(self, scene: Any) -> dict[str, Any]:
        found = super()._answer_of(scene)
        told = self.result.get("error") if self._refused_rev == scene.rev == self.result.get("rev") else None
        return {**found, "error": told} if told else found  # what was refused stays told while more comes in

    def _settle(self) -> None:
        self.wait()

    def _settle_all(self) -> None:
        self.wait()
        self._answer(self._scene)
        if self._scene.client and self._scene.generator:
            self._details.now(self._scene)

    def _picture(self) -> Figure:
        from .figure import dashboard

        scene = self._scene
        study = self._study_of(scene)
        return dashboard(study.sight(scene).known, scene.generators, study.names, self._headline)

    def snapshot(self, view: str | None = None) -> Snapshot:
        """A view of the present scene as a picture, PNG and SVG with alt text; `save` writes it.

        Parameters
        ----------
        view : "leaderboard", "places" (by avg and by all), "heat map", "regret" (who pays), "weights" (and who wins
            where); by default the most telling of it in one picture

        Examples
        --------
        >>> dashboard.snapshot("heat map").save("heat.svg")  # doctest: +SKIP
        """
        if view is None:
            return super().snapshot()
        from .views import VIEWS, drawn

        check_choice(view, VIEWS, "view")
        self._settle()
        scene = self._scene
        return Snapshot.of(*drawn(view, self._study_of(scene).sight(scene), self._headline))

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
            for asked in (self._details, self._mixture, self._winners):
                asked.close()
        super().close()
