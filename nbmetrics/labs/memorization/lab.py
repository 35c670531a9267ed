"""MemorizationLab: watch a generator copy its training set, and which score notices."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from ...errors import InvalidInput, check_count, check_text
from ...experiments.image_sets import all_or_none
from ...ranking import order as order_by_score
from ..toolkit import modules, saved
from ..toolkit.lab import Lab
from ..toolkit.worker import Worker
from .cards import BETTER, CARDS, PARTS, Card, Judgement
from .items import Items
from .own_data import STEPS, WORDS, is_quick, no_settings, own_rows, own_study
from .scene import LABELS, MemorizationScene, presets, starting_scene
from .study import Study, study_of
from .sweeps import Request, curve, heat_maps, saved_curve

if TYPE_CHECKING:
    import pandas as pd

    from ...figures.drawing import Drawing

OWN = "Your data"
# What the picture shows of scores that are not known yet.
UNKNOWN: dict[str, Any] = {"cards": dict.fromkeys(CARDS), "comparable": None, "honest": None, "sigma": None}
# Seconds for which a set of data must stay before honest generators are redrawn for it: longer than a drag's steps.
SECONDS_STILL = 0.3


class MemorizationLab(Lab):
    """Train, test and generated points, and nine scores of whether the generator repeats what it learnt from.

    Parameters
    ----------
    train, test, generated : your own rows of features, (n, d), (k, d) and (m, d): what the generator learnt from, what
        it never saw, and what it made. Without them, the lab shows points of its own.
    items : the images behind the rows, in [0, 1] or uint8: a dict with "generated" (m, h, w) or (m, h, w, 3) and
        "train" (n, …), or one array of m + n images, the generated first; channels first and Pillow's are taken too
    preset : the name of a scene to start from, such as "Copycat" or "Digits: planted copies"
    data : "moons" or "digits"
    copied : share of the generated points that are train points, 0 to 1
    jitter : standard deviation of what is added to copies, 0 to 1; 0 for exact ones
    bandwidth : of a kernel density around the train points that makes the others, 0 to 10; 0 for fresh draws
    spread : how much further than drawn the generated points are from their mean, 0.1 to 3
    points : generated, 20 to 1,000, and as many test points; of moons as many train points, of digits twice as many,
        and at most 449 generated, a quarter of the 1,797 images
    seed : of the points and of FLD's baseline

    Of many rows of your own, the scores take a while: the view says how far they are, `result` has them under "cards"
    once they are known, and `scores`, `most_memorized`, `snapshot` and `export_html` wait for them.

    Raises
    ------
    InvalidInput
        For rows that are no finite numbers or of another width, too few of them, items that do not fit, or a setting
        out of range.

    Examples
    --------
    >>> lab = nm.MemorizationLab(data="moons", copied=0.5, points=100)
    >>> lab.scene["copied"]
    0.5
    """

    _esm = modules.module("memorization/view/index.js")
    _css = modules.style(*modules.CHARTS, "memorization/view/style.css")
    _state = MemorizationScene
    _saved_words = saved.OF_PYTHON

    base = traitlets.Dict().tag(sync=True)
    pictures = traitlets.Dict().tag(sync=True)
    curve = traitlets.Dict().tag(sync=True)
    interactions = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        train: Any = None,
        test: Any = None,
        generated: Any = None,
        items: Any = None,
        *,
        preset: str | None = None,
        data: str | None = None,
        copied: float | None = None,
        jitter: float | None = None,
        bandwidth: float | None = None,
        spread: float | None = None,
        points: int | None = None,
        seed: int | None = None,
    ) -> None:
        numbers = {"data": data, "copied": copied, "jitter": jitter, "bandwidth": bandwidth, "spread": spread}
        settings = {name: value for name, value in {**numbers, "points": points}.items() if value is not None}
        self._own: Study | None = None
        self._items: Items | None = None
        if all_or_none(train=train, test=test, generated=generated):
            no_settings(settings if preset is None else {"preset": preset, **settings})
            sets = own_rows(train, test, generated)
            start = MemorizationScene.parse(
                {"data": "own", "points": len(sets.fresh), "seed": seed or 0, "preset": OWN}
            )
            self._own = own_study(sets, start.seed, self._tell)
            self._items = None if items is None else Items.of(items, len(sets.train), len(sets.fresh))
            presets_by_name = {OWN: start}
        elif items is not None:
            raise InvalidInput("items", "are given without rows", "Give train, test and generated as well")
        else:
            start = starting_scene(preset, settings if seed is None else {**settings, "seed": seed})
            presets_by_name = presets() if start.preset in presets() else {start.preset: start, **presets()}
        self._is_later = self._own is not None and not is_quick(sets)
        self._steps, self._is_telling = 0, False
        # One thread computes what others then find: the worker, the user's, or the one that redraws honest rows.
        self._judging = threading.RLock()
        self._wanted: dict[str, Any] = {}
        self._last: tuple[MemorizationScene | None, Judgement | None] = (None, None)
        jobs: dict[str, Callable[[Any], None]] = {
            "noise": self._redraw,
            "curve": self._curve,
            "interactions": self._heat_maps,
        }
        self._background = {kind: Worker(job, f"nbmetrics MemorizationLab {kind}") for kind, job in jobs.items()}
        super().__init__(start, presets_by_name)
        self._show(start)
        if "doing" in self.result:
            self._worker.put(start)

    def _study(self, scene: MemorizationScene) -> Study:
        if scene.data != "own":
            return study_of(scene.data, scene.points, scene.seed)
        if self._own is None:
            fix = "Open nm.MemorizationLab(train, test, generated) with them"
            raise InvalidInput("data", "are a user's own features, which this lab does not have", fix)
        return self._own

    def _accept(self, scene: MemorizationScene) -> None:
        own = self._own
        if (scene.data == "own") != (own is not None):
            fix = "Open nm.MemorizationLab() for the scenes that come with it"
            raise InvalidInput("data", f"are {scene.data!r}, and this lab shows other data", fix)
        if own is None:
            return
        for name, value, kept in (("seed", scene.seed, own.seed), ("points", scene.points, len(own.fresh))):
            if value != kept:
                fix = f"Leave it at {kept}, or open nm.MemorizationLab(train, test, generated, seed=…) again"
                raise InvalidInput(name, f"is {value}, and this lab shows your own rows with {kept}", fix)

    def _read(self, value: Any) -> MemorizationScene:
        scene: MemorizationScene = super()._read(value)
        self._accept(scene)
        return scene

    def _computed(self, scene: MemorizationScene) -> dict[str, Any]:
        started = time.perf_counter()
        study = self._study(scene)
        with self._judging:
            result = study.result(self._judgement_of(scene))
        apart = {} if self._items is None else {"apart": self._items.apart(result["nearest"])}
        return {**result, **apart, "seconds": time.perf_counter() - started}

    def _answer_of(self, scene: Any) -> dict[str, Any]:
        if self._is_later:  # the constructor asks first, and does not wait for what takes long
            self._is_later = False
            return {"rev": scene.rev, "doing": WORDS[PARTS[0]], "done": 0.0}
        return super()._answer_of(scene)

    def _tell(self, part: str) -> None:
        """Show what is computed of the user's rows, and how far that is."""
        if "doing" not in self.result or self._is_telling:  # who hears of it may ask for the scores at once
            return
        self._steps += 1
        if not self._lock.acquire(blocking=False):  # who writes meanwhile may wait for just these scores
            return
        self._is_telling = True
        try:
            done = min(1.0, (self._steps - 1) / STEPS)
            self.result = {"rev": self.scene["rev"], "doing": WORDS[part], "done": done}
        finally:
            self._is_telling = False
            self._lock.release()

    def _judgement_of(self, scene: MemorizationScene) -> Judgement:
        """Return all that is shown of the generated rows of a scene, computed once for each set of rows."""
        with self._judging:
            shown = scene.bare
            judged_for, judgement = self._last
            if judgement is None or judged_for != shown:
                judgement = self._study(scene).judgement_of(scene)
                self._last = shown, judgement
            return judgement

    def _answer(self, scene: Any) -> None:
        """On the worker's thread: what the page draws from first, if that has changed, then the numbers."""
        if scene.rev < self.result["rev"]:
            return
        with suppress(Exception):  # what goes wrong here does so again in the numbers, where it is told
            self._show(scene)
        is_answered = "cards" in self.result and (self.result["rev"], self._last[0]) == (scene.rev, scene.bare)
        if not is_answered:  # the page asks, and then commits the same
            super()._answer(scene)
        self._add_noise()

    def _show(self, scene: MemorizationScene) -> None:
        study = self._study(scene)
        if self.base.get("key") != study.key:
            self._write(base=study.base())
        self._show_pictures(study, scene)
        self._wanted["noise"] = study.key
        if study.noise is None:
            self._background["noise"].put(scene)

    def _show_pictures(self, study: Study, scene: MemorizationScene) -> None:
        if study.shape is not None:
            shown = Items.of_rows(study.train, study.generated(scene), study.shape).to_json()
        elif self._items is not None:
            shown = self._items.to_json()
        else:
            shown = {}
        if {**self.pictures, "rev": None} != {**shown, "rev": None}:
            self._write(pictures={**shown, "rev": scene.rev} if shown else {})

    def _redraw(self, scene: MemorizationScene) -> None:
        """On a thread of its own: how much the cards of honest generators differ, once the data stay as they are."""
        study = self._study(scene)
        time.sleep(SECONDS_STILL)
        self._learn_noise(study, lambda: self._wanted.get("noise") == study.key)
        self._add_noise()

    def _learn_noise(self, study: Study, is_wanted: Callable[[], bool] = lambda: True) -> None:
        with self._judging:
            _ = study.reference
        study.learn_noise(is_wanted)

    def _add_noise(self) -> None:
        """Add the noise of honest generators to numbers that were computed before it was known."""
        with self._lock:
            study = self._study(self._scene)
            if study.noise is not None and self.result.get("key") == study.key and self.result["noise"] is None:
                self.result = {**self.result, "noise": study.noise}

    def _answer_to(self, kind: Any, message: Mapping[str, Any]) -> None:
        if kind not in ("curve", "interactions"):
            super()._answer_to(kind, message)
            return
        request = Request(self._scene_from_page(message.get("scene")), check_text(message.get("key", ""), "key"))
        self._wanted[kind] = request
        self._background[kind].put(request)

    def _curve(self, request: Request) -> None:
        """On a thread of its own: the curve over the chosen slider, value by value."""
        scene, key = request
        try:
            for part in curve(self._study(scene), scene):
                if self._wanted.get("curve") is not request:
                    return
                self._write(curve={"key": key, **part})
        except Exception as error:  # shown in the view instead of vanishing in a thread
            self._write(curve={"key": key, "error": str(error)})

    def _heat_maps(self, request: Request) -> None:
        """On a thread of its own: FLD over two faults at a time."""
        scene, key = request
        try:
            maps = heat_maps(self._study(scene))
        except Exception as error:  # shown in the view instead of vanishing in a thread
            maps = {"error": str(error)}
        if self._wanted.get("interactions") is request:
            self._write(interactions={"key": key, **maps})

    def scores(self) -> pd.DataFrame:
        """The cards as a table.

        Returns
        -------
        DataFrame with a row per score: label, value, honest (the value of an honest generator), better ("lower",
        "higher", "near honest" or "near 0"). Of your own data, `honest` is of test rows that stand in for such a
        generator and are scored against the others, and `comparable` of as many generated rows scored beside them.
        """
        import pandas as pd

        study = self._study(self._scene)
        with self._judging:
            cards, (honest, comparable) = self._judgement_of(self._scene).cards, study.reference
        table = pd.DataFrame({"label": LABELS, "value": cards, "honest": honest}, index=pd.Index(CARDS, name="score"))
        if comparable is not None:
            table["comparable"] = pd.Series(comparable)
        table = table.astype({name: float for name in table.columns[1:]}).assign(better=pd.Series(BETTER))
        table.attrs["conventions"] = [*study.judge.conventions, study.about]
        return table

    def most_memorized(self, n: int = 20) -> pd.DataFrame:
        """The generated rows most likely copied from train, by FLD's memorization score.

        Parameters
        ----------
        n : how many, from the highest score on

        Returns
        -------
        DataFrame rank, generated and train (row numbers: the generated row and its nearest train row), distance (of
        the features), memorization (O_j, nats per dimension of z-scored features), variance (of the row's bump).
        """
        import pandas as pd

        count = check_count(n, "n")
        judgement = self._judgement_of(self._scene)
        score = np.asarray(judgement.fitted.memorization)
        order = order_by_score(-score)[:count]
        columns = {
            "rank": np.arange(1, len(order) + 1),
            "generated": order,
            "train": judgement.nearest[order],
            "distance": judgement.distance[order],
            "memorization": score[order],
            "variance": np.asarray(judgement.fitted.variance)[order],
        }
        return pd.DataFrame(columns)

    def to_code(self) -> str:
        """Python that rebuilds exactly this state; your own rows, and their images, go by the constructor's names."""
        return str(self._scene.to_code() if self._items is None else self._scene.fill_template("own_items"))

    def share(self) -> str:
        """A short string that holds exactly this state; your own data cannot be shared so."""
        if self._own is not None:
            fix = "Share the arrays along with lab.to_code()"
            raise InvalidInput("scene", "is your own features, which a short string does not contain", fix)
        return super().share()

    @property
    def _is_known(self) -> bool:
        """Whether the scores are there without much waiting."""
        return self._own is None or self._last[1] is not None

    def _settle(self) -> None:
        """Compute what is not known yet, or wait for the thread that does."""
        self._judgement_of(self._scene)
        if "doing" in self.result:
            self._answer(self._scene)

    def _settle_all(self) -> None:
        """Have all that the page shows of the scene, with how much honest generators differ."""
        scene = self._scene
        study = self._study(scene)
        self._show(scene)
        if study.noise is None:
            self._wanted["noise"] = ""  # the thread that learns it may stop
            self._learn_noise(study)
        if self.result["rev"] != scene.rev or not self.result.get("noise"):
            self._write(result={"rev": scene.rev, **self._computed(scene)})

    def _saved_shows(self, scene: MemorizationScene) -> bool:
        """Presets of the points on show; not where each has images of its own, or all is the user's."""
        same = all(getattr(scene, name) == self.scene[name] for name in ("data", "points", "seed"))
        is_preset = any(self._state.parse(one).bare == scene.bare for one in self.presets.values())
        return same and is_preset and not self.pictures and self._own is None

    @property
    def _saved_answers(self) -> dict[str, Any]:
        study = self._study(self._scene)
        starts = {name: self._state.parse(one) for name, one in self._saved_starts.items()}
        return {n: study.result(study.judgement_of(start)) for n, start in starts.items()}

    @property
    def _saved_traits(self) -> dict[str, Any]:
        """The curve over the share copied, which has the cards at each place of the slider of a page without Python."""
        view = self._scene.view
        is_other = view["panel"] == "curve" and view["sweep"] != "copied"
        if self._own is not None or self.pictures or is_other:
            return {}
        return {"curve": saved_curve(self._study(self._scene), self._scene)}

    def _picture(self) -> Drawing:
        from .figure import memorization_lab

        scene = self._scene
        study = self._study(scene)
        numbers = self._computed(scene) if self._is_known else UNKNOWN
        return memorization_lab(study.base(), study.flat(study.generated(scene)), study.copies(scene), numbers)

    def _described(self) -> str:
        scene = self._scene
        cards = self._judgement_of(scene).cards if self._is_known else UNKNOWN["cards"]
        said = [f"{LABELS[name]} {_short(cards[name])}" for name in CARDS]
        counts = ", ".join(f"{count} {name}" for name, count in self._study(scene).base()["sizes"].items())
        return f"MemorizationLab, {scene.preset or OWN}: {counts} points. {scene.words} {', '.join(said)}."

    def close(self) -> None:
        """Remove every display and free the workers."""
        if hasattr(self, "_background"):  # not where __init__ refused its input
            self._wanted = {}
            for worker in self._background.values():
                worker.close()
        super().close()


def _short(value: Card) -> str:
    return "none" if value is None else f"{value:.3g}"
