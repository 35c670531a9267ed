"""Dashboard: which generator to ship, and who pays for it.

Flow: the constructor checks all input; a thread fills the scores, the most telling first, and writes what is known to
`board` and `draws`; the page computes every number that is linear in the weights by itself, in every frame; Python
answers with what is not: the scores of the pooled clients, their noise and the test of the clients.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import traitlets

from ...errors import InvalidInput, check_choice, printable, shown
from ...evaluation.scores import Scores
from ...evaluation.store import Store
from ...threads import Timer
from ..toolkit import modules
from ..toolkit.lab import MAX_MESSAGE_LETTERS
from ..toolkit.namespace import list_variables, suitable, why_not
from ..toolkit.saved import OF_DASHBOARD
from ..toolkit.snapshot import Snapshot
from .actions import FIRST_WAIT_SECONDS, DashboardActions
from .background_evaluation import BackgroundEvaluation
from .certificate import Certificate
from .changes import Change
from .comparison import Comparison, ComparisonCache
from .drawing import DrawRequest
from .federation_comparison import FederationComparison
from .on_demand import OnDemand
from .scene import GIVEN, DashboardScene, starts
from .table_comparison import TableComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Seconds that an answer in a drag waits for numbers that come soon.
DRAG_WAIT_SECONDS = 0.08
# Seconds between two looks of the page at what is known.
PUBLISH_INTERVAL_SECONDS = 0.4


class Dashboard(DashboardActions):
    """Generators side by side on the clients of a federation: who is best, by which weights, and who pays for it.

    The view is there at once, and fills in: the scores of the pooled clients first, then the clients of the leaders,
    then the rest. `scores`, `verdict`, `snapshot` and `export_html` wait until all is known.

    Where a generator on show has one distribution for each client (`nm.Generator.by_client`), each cell is a client's
    score with what was made for it, and the mean of the cells is intra = Σ λ_i D(S_i, S_{G,i}) in the place of avg.

    Parameters
    ----------
    federation, generators, metrics : as `nm.evaluate` takes them
    uncertainty : None for influence values where clients and generators are rows (exact distributions do not vary); or
        `nm.Influence()`, `nm.Bootstrap(…)`, `nm.Jackknife()`
    store : of a folder that keeps every score, as for `nm.evaluate`

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
        *(f"dashboard/view/{name}.css" for name in ("style", "heat", "weights", "modes", "draw")),
    )
    _state = DashboardScene
    _saved_words = OF_DASHBOARD

    board = traitlets.Dict().tag(sync=True)
    # How much of it is known, and what is under way.
    progress = traitlets.Dict().tag(sync=True)
    draws = traitlets.Dict().tag(sync=True)
    # Some pictures of each generator and of the clients, see `pictures`.
    strips = traitlets.Dict().tag(sync=True)
    # Of the clients' own images: not in a saved page, which may go to others.
    clients_strip = traitlets.Dict().tag(sync=True, live=True)
    # Of the chosen cell.
    details = traitlets.Dict().tag(sync=True)
    # The best mixture, once the page asked for it.
    mixture = traitlets.Dict().tag(sync=True)
    # What two generators disagree about, once the page asked for it.
    disagreement = traitlets.Dict().tag(sync=True)
    # More draws of the generators that are functions, once the page asked for them.
    race = traitlets.Dict().tag(sync=True)
    namespace: Any = traitlets.List().tag(sync=True, live=True)

    _store: Store | None = None

    def __init__(
        self,
        federation: Any,
        generators: Any,
        metrics: Any = ("fid", "kid"),
        *,
        uncertainty: Any = None,
        store: Any = None,
    ) -> None:
        if store is not None:
            self._store = Store(store)
        self._start(FederationComparison(federation, generators, metrics, uncertainty, self._store))

    def _start(self, comparison: Comparison) -> None:
        """Show a comparison, and start to compute its scores."""
        self._comparisons = ComparisonCache(comparison)
        self._initial_generators = comparison.generators
        self._published_at, self._current_step = 0.0, ""
        self._publish_lock = threading.Lock()
        self._publish_timer = Timer(0, self._show, "nbmetrics Dashboard tells")
        self._edit_lock = threading.RLock()  # generators and clients come and go in cells and in the page
        presets = starts(comparison.metrics[0], comparison.weights, comparison.generators)
        of, write = self._comparison_of, self._writer
        self._details = OnDemand(
            lambda scene: of(scene).details(scene),
            write("details"),
            "nbmetrics Dashboard opens a cell",
            comparison.about_cell,
        )
        self._mixture: OnDemand[DashboardScene] = OnDemand(
            lambda scene: of(scene).mixture(scene), write("mixture"), "nbmetrics Dashboard mixes"
        )
        self._disagreement: OnDemand[DashboardScene] = OnDemand(
            lambda scene: of(scene).disagreement(scene), write("disagreement"), "nbmetrics Dashboard finds modes"
        )
        self._race: OnDemand[DrawRequest] = OnDemand(
            lambda request: of(request.scene).draw_until_settled(request), write("race"), "nbmetrics Dashboard draws"
        )
        self._draw_request: DrawRequest | None = None
        self._on_demand: tuple[OnDemand[Any], ...] = (
            self._details,
            self._mixture,
            self._disagreement,
            self._race,
        )
        self._filler = BackgroundEvaluation(
            lambda: self._comparison.next_step(), self._show_progress, "nbmetrics Dashboard fills"
        )
        super().__init__(presets[GIVEN], presets)
        self._publish()
        self._filler.wake()
        try:
            self._filler.wait(FIRST_WAIT_SECONDS)
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
        dashboard = cls.__new__(cls)
        dashboard._start(TableComparison(table, weights, label, higher_is_better))
        return dashboard

    def _show_progress(self, step: str) -> None:
        """Show what is computed by now and what is next, on the background thread; later, where it was just shown."""
        self._current_step = step
        self._publish_timer.cancel()
        wait = self._published_at + PUBLISH_INTERVAL_SECONDS - time.monotonic() if step else 0.0
        if wait <= 0:
            return self._show()
        # the step that comes may be a long one
        self._publish_timer = Timer(wait, self._show, "nbmetrics Dashboard tells")
        self._publish_timer.start()

    def _show(self) -> None:
        self._publish()
        self._worker.put(self._scene)

    def _publish(self) -> None:
        with self._publish_lock:  # two threads at once, and the older of two boards would stay
            self._write_board()

    def _write_board(self) -> None:
        self._published_at = time.monotonic()
        error, scene = self._filler.error, self._scene
        comparison, regroup = self._comparison_of(scene), [change.to_json() for change in scene.regroup]
        why = "" if error is None else printable(str(error) or type(error).__name__, MAX_MESSAGE_LETTERS)
        board = {"regroup": regroup, "code": comparison.constructor_code, **comparison.board()}
        work = {"doing": self._current_step, "stopped": self._filler.is_stopped, "why": why}
        strips = dict(comparison.strips)
        traits = {
            "board": board,
            "progress": {**comparison.progress(), **work},
            "draws": comparison.draws(),
            "clients_strip": strips.pop("clients", {}),
            "strips": strips,
        }
        if self.board.get("regroup", regroup) != regroup:  # what was open is of other clients
            for on_demand in self._on_demand:
                on_demand.drop()
            traits |= {"details": {}, "mixture": {}, "disagreement": {}, "race": {}}
        with self._lock, self.hold_sync():  # the page must not see one without the other
            self._write(**{name: value for name, value in traits.items() if value != getattr(self, name)})

    def _read(self, value: Any) -> DashboardScene:
        scene: DashboardScene = super()._read(value)
        self._accept(scene)
        return scene

    def _accept(self, scene: DashboardScene) -> None:
        try:
            clients = len(self._comparisons.names(scene.regroup))
        except InvalidInput as error:
            seen = f"regroups the clients in a way that does not fit these ({error})"
            raise InvalidInput("scene", seen, "Open it with the data that it was made from") from None
        comparison = self._comparisons.origin
        if len(scene.weights) != clients:
            seen = f"has {len(scene.weights)} weights, and this Dashboard {clients} clients"
            raise InvalidInput("scene", seen, "Open it with the data that it was made from")
        check_choice(scene.metric, comparison.metrics, "metric")
        for name in scene.generators:
            if name not in comparison.generators:
                raise InvalidInput("scene", f"has the generator {shown(name)}", "Attach it first")

    def wait(self, seconds: float | None = None) -> bool:
        """Until all is known under the weights on show, or so many seconds; whether it is."""
        self._comparison.wanted = self._scene.shares
        if not self._filler.is_stopped:
            self._filler.wake()
        return self._filler.wait(seconds) and self._comparison.next_step() is None

    def cancel(self) -> None:
        """Compute no more after the piece under way: what is known stays. `resume` goes on."""
        self._filler.stop()
        self._publish()

    def resume(self) -> None:
        """Go on after `cancel`, or after something went wrong: then without the generators that were taken off."""
        if self._filler.error is not None:
            for name in set(self._comparison.generators) - set(self._scene.generators):
                self._comparisons.remove(name)
        self._filler.wake()
        self._publish()  # the piece under way may take long, and it goes on from now

    @property
    def scores(self) -> Scores:  # type: ignore[override]  # an attribute here, a method of other labs
        """Of all generators, under the weights on show; waits until they are known, unless cancelled."""
        self.wait()
        scene = self._scene
        return self._comparison_of(scene).scores_of(scene)

    @property
    def table(self) -> Any:
        """The table of `scores`."""
        return self.scores.table

    @property
    def verdict(self) -> list[str]:
        """Who is best, and how sure that is: sentences of the metric in view, then the first of each other metric."""
        self.wait()
        scene = self._scene
        comparison = self._comparison_of(scene)
        others = [comparison.verdict(m, scene).sentences[0] for m in comparison.metrics if m != scene.metric]
        return [*comparison.verdict(scene.metric, scene).sentences, *others]

    def certificate(self) -> Certificate:
        """Return the least re-weighting that dethrones the winner by avg, or by intra, on the metric in view.

        Waits until all is known, unless cancelled. Clients with too few rows take no part, as in the verdict.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"a": [0.3, 0.9], "b": [0.4, 0.5]}, index=["north", "south"])
        >>> certificate = nm.Dashboard.from_table(table).certificate()
        >>> certificate.winner, certificate.rival, round(certificate.moved, 2), certificate.target
        ('b', 'a', 0.3, 'north')
        >>> print(certificate)
        Move 30\u00a0% of the weight from south to north, and a overtakes b.
        """
        self.wait()
        scene = self._scene
        return self._comparison_of(scene).certificate(scene)

    @classmethod
    def _open(cls, scene: Any) -> Dashboard:
        fix = "Make a Dashboard of the same data, and load it there: lab.from_share(…)"
        raise InvalidInput("share string", "contains a Dashboard's settings, not its data", fix)

    def to_code(self) -> str:
        """Python that shows this state again, of the data in the notebook."""
        return self._scene.to_code(self._comparison.constructor_code)  # type: ignore[no-any-return]

    def _answer_to(self, kind: Any, message: Mapping[str, Any]) -> None:
        if kind == "names":
            self.namespace = list_variables(self._comparison.dim, self._comparison.takes_images)
        elif kind == "attach":
            sources = suitable()
            name = check_choice(message.get("name"), sources, "name")
            if why := why_not(sources[name], self._comparison.dim, self._comparison.takes_images):
                raise InvalidInput(name, f"cannot be a generator here: {why}", "Choose another")
            self.attach(name, sources[name])
        elif kind == "details":
            self._details.put(self._scene_from_page(message.get("scene")))
        elif kind == "mixture":
            self._mixture.put(self._scene_from_page(message.get("scene")))
        elif kind == "disagreement":
            self._disagreement.put(self._scene_from_page(message.get("scene")))
        elif kind == "race":
            self._stop_draws()
            request = DrawRequest(self._scene_from_page(message.get("scene")), message.get("budget"))
            self._draw_request = request
            self._race.put(request)
        elif kind == "stop race":
            self._stop_draws()
        elif kind == "regroup":
            self._regroup((Change.parse(message.get("change"), "change"),))
        elif kind in ("stop", "resume"):
            self.cancel() if kind == "stop" else self.resume()
        else:
            super()._answer_to(kind, message)

    def _stop_draws(self) -> None:
        """End the draws under way after the present ones; what came of them stays."""
        if self._draw_request is not None:
            self._draw_request.stop.set()

    def _writer(self, trait: str) -> Callable[[dict[str, Any]], None]:
        return lambda value: self._write(**{trait: value})

    def _computed(self, scene: DashboardScene) -> dict[str, Any]:
        comparison, regroup = self._comparison_of(scene), [change.to_json() for change in scene.regroup]
        comparison.wanted = scene.shares
        if self.board.get("regroup", regroup) != regroup:
            self._show_clients()
        is_filling = self._filler.has_started and not self._filler.is_stopped
        if is_filling and self._comparison.next_step() is not None:  # its end is told by this, and would wake it again
            self._filler.wake()
            self._filler.wait(DRAG_WAIT_SECONDS)
        return {"regroup": regroup, **comparison.answer(scene)}

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """As of every lab; the picture waits a moment for numbers that come soon."""
        if not self._filler.is_stopped and self._filler.has_started:
            self._filler.wait(FIRST_WAIT_SECONDS)
        return super()._repr_mimebundle_(**kwargs)

    def _answer_of(self, scene: Any) -> dict[str, Any]:
        answer = super()._answer_of(scene)
        refusal = self.result.get("error") if self._refused_rev == scene.rev == self.result.get("rev") else None
        return {**answer, "error": refusal} if refusal else answer  # what was refused stays told while more comes in

    def _settle(self) -> None:
        self.wait()

    def _settle_all(self) -> None:
        self.wait()
        self._answer(self._scene)
        if self._scene.client and self._scene.generator:
            self._details.now(self._scene)

    def _picture(self) -> Figure:
        from .figures import summary_figure

        scene = self._scene
        comparison = self._comparison_of(scene)
        return summary_figure(
            comparison.view_model(scene).weighted_scores, scene.generators, comparison.names, self._headline
        )

    def snapshot(self, view: str | None = None) -> Snapshot:
        """A view of the present scene as a picture, PNG and SVG with alt text; `save` writes it.

        Parameters
        ----------
        view : "leaderboard", "places" (by avg and by all), "heat map", "regret" (who pays), "weights"; by default
            the most telling of it in one picture

        Examples
        --------
        >>> dashboard.snapshot("heat map").save("heat.svg")  # doctest: +SKIP
        """
        if view is None:
            return super().snapshot()
        from .figures import VIEWS, draw_view

        check_choice(view, VIEWS, "view")
        self._settle()
        scene = self._scene
        return Snapshot.of(*draw_view(view, self._comparison_of(scene).view_model(scene), self._headline))

    @property
    def _headline(self) -> str:
        return self._comparison.verdict(self._scene.metric, self._scene).sentences[0]

    def _described(self) -> str:
        scene = self._scene
        said = self._headline if self._comparison.has_verdict(scene.shares) else "still being computed."
        return f"Dashboard of {len(scene.generators)} generators and {len(scene.weights)} clients: {said}"

    def close(self) -> None:
        """Remove every display and free the threads."""
        if hasattr(self, "_filler"):  # not where __init__ refused its input
            self._filler.close()
            self._publish_timer.cancel()
            self._stop_draws()
            for on_demand in self._on_demand:
                on_demand.close()
        if self._store is not None:
            self._store.close()
        super().close()
