"""Playground: drag clients and generators in the plane and see their scores, averaged and pooled, move along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import traitlets

from ...errors import LONGEST_NAME, InvalidInput, check_choice, shown
from ...evaluation.evaluate import evaluate
from ...evaluation.scores import Scores
from ...ranking import numeral
from ..plane.distributions import summary
from ..toolkit import modules, saved
from ..toolkit.lab import Lab
from ..toolkit.namespace import list_variables, suitable, why_not
from .answers import answer_table
from .attach import add_item, clients_of
from .high_dimensional import SAVED_WIDE, Kept, is_quick, wide_scene
from .lessons import Lesson, builtin_lessons, lesson_of
from .numbers import compute, metrics_of
from .projection import Projection
from .scene import Scene, presets
from .score_cache import ScoreCache

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

OWN = "Your clients"


class Playground(Lab):
    """Clients and generators in the plane, with live scores averaged over clients and on the pooled data.

    Clients of more features than two are shown in a plane and scored on all of their features, by Python, as
    `evaluate` does; their weights can be changed, clients and generators added and removed, and nothing is dragged.

    Parameters
    ----------
    federation : clients, Gaussians or rows of any width (`Federation`, or what makes one), or the name of a
        preset; "Two clients", the papers' toy, by default
    generators : list or dict of generators of that width: rows, distributions, functions `(n, rng) -> rows`, torch
        modules, in the plane also `nm.scene.Bumps`, `Truncated` and `Copycat`, and a dict client -> `nm.Gaussian`, an
        ellipse for each client; the pooled Gaussian by default
    plane : of clients wider than it, what is shown: "pca", the first two principal components of all their rows (the
        default), "lda", the directions that tell the clients apart best, or two columns by number or by name
    samples : points drawn of every item, 5 to 2,000; 0 for exact distributions. Rows are used as they are.
    seed : of the points
    metric : what is charted beside FID and KID, such as "cfid" (the axes read as x → y) or "fld"
    lesson : a lesson to open with, instead of clients and generators: its name, such as "Average against pooled", or
        one of your own, as a dict that `make_lesson` gives, or the path of such a JSON file

    Raises
    ------
    InvalidInput
        For clients and generators of unlike widths, a plane that is not there, or a lesson with a field that is wrong.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sites = {"north": rng.normal(0, 1, size=(200, 16)), "south": rng.normal(1, 1, size=(100, 16))}
    >>> lab = nm.Playground(sites, {"model": rng.normal(0, 1, size=(300, 16))})
    >>> print(lab.scene["plane"]["words"])
    First two principal components of all clients’ rows: 33 % of the variance (26 % across, 7.0 % up).
    """

    _esm = modules.module("playground/view/index.js")
    _css = modules.style(
        *modules.CHARTS, "playground/view/lesson.css", "playground/view/explore.css", "playground/view/hero.css"
    )
    _state = Scene
    _saved_words = saved.OF_PLAYGROUND

    data = traitlets.Dict().tag(sync=True)
    lessons = traitlets.Dict().tag(sync=True)
    namespace: Any = traitlets.List().tag(sync=True, live=True)

    def __init__(
        self,
        federation: Any = None,
        generators: Any = None,
        *,
        plane: Any = None,
        samples: int = 0,
        seed: int = 0,
        metric: str = "fid",
        lesson: Any = None,
    ) -> None:
        presets_by_name, lessons_by_name = presets(), builtin_lessons()
        if lesson is not None:
            arguments = [federation, generators, plane]
            if any(g is not None for g in arguments) or (samples, seed, metric) != (0, 0, "fid"):
                seen = "already has clients, generators and settings"
                raise InvalidInput("lesson", seen, "Give a lesson, or clients, generators and settings")
            chosen = Lesson.read(lesson)
            new = {} if chosen.name in lessons_by_name else {chosen.name: chosen}
            lessons_by_name = {**new, **lessons_by_name, chosen.name: chosen}
            federation = chosen.start
        settings: dict[str, Any] = {"samples": samples, "seed": seed, "view": {"metric": metric}}
        federation = clients_of(federation, plane)
        wide: dict[str, Any] = {}
        self._kept, self._memory = Kept(), ScoreCache()
        self._projection: Projection | None = None
        if isinstance(federation, Scene):
            start = federation
        elif federation is None or isinstance(federation, str):
            start = Scene.preset_named(next(iter(presets_by_name)) if federation is None else federation)
            if generators is not None:
                start = Scene.of(start.federation, generators, OWN, **settings)
            else:
                start = Scene.parse({**start.to_json(), **settings})
        elif federation.dim != 2:
            self._projection = Projection.of(federation, "pca" if plane is None else plane)
            start, wide = wide_scene(federation, generators, self._projection, OWN, **settings)
        else:
            start = Scene.of(federation, generators, OWN, **settings)
        if start.preset not in {**presets_by_name, **lessons_by_name}:
            presets_by_name = {start.preset or OWN: start, **presets_by_name}
        self._data, self._extracted = dict(start.data), dict(start.extracted)
        # What the learner came to in each lesson, by its name.
        self._progress: dict[str, Any] = {}
        self._is_later = start.plane is not None and not is_quick(start)
        super().__init__(start, presets_by_name)
        self.data = wide or {name: summary(source) for name, source in self._data.items()}
        if "doing" in self.result:
            self._worker.put(start)
        self.lessons = {name: one.to_json() for name, one in lessons_by_name.items()}

    @property
    def lesson(self) -> str | None:
        """The name of the lesson under way."""
        return (self.scene["lesson"] or {}).get("name")

    def make_lesson(
        self,
        *,
        question: str,
        flag: Any = None,
        answer: str | None = None,
        name: str = "My lesson",
        metric: str | None = None,
        aggregate: str | None = None,
        generator: str | None = None,
        then: Any = None,
        check: Any = None,
        solution: Any = None,
        hint: str | None = None,
        tries: Any = None,
        minutes: float | None = None,
        aim: str | None = None,
    ) -> dict[str, Any]:
        """A lesson about the present scene, a dict of plain JSON: `nm.Playground(lesson=that)` opens it.

        Parameters
        ----------
        question : what the learner reads first
        flag : what the learner places a flag on. The parameter that is swept, "variance", "height", "scale", "x", "y",
            "angle" or "psi", to guess where the score is lowest; or two numbers, such as (0, 6), to guess how large it
            becomes `then`. Without one the learner looks, or does the task of `check`.
        answer : what to say after Reveal. The number itself is computed by the page. Without a flag and an answer it
            is the sentence on which generators avg and all prefer.
        name : in the menu of lessons
        metric, aggregate, generator : which score the flag is about: "fid" or what the lab charts, "avg" (or "all"; of
            a number also "gap" and "intra"), and the first generator that has the parameter
        then : for a number, what Reveal shows: the fields of the scene that change, such as {"samples": 20}, or
            `lab.scene` after it was changed
        check : a task, such as {"kind": "inversion", "by": 0.3}; the other kinds are "agreement", {"kind":
            "gap_constant", "within": 0.01} and {"kind": "below", "aggregate": "gap", "generator": …, "value": 0.1}
        solution : the fields of a scene in which the task is done, or `lab.scene` there: for Show me
        hint : for who is stuck for a while
        tries : what to try afterwards, a list of sentences
        minutes, aim : for your own list of lessons

        Raises
        ------
        InvalidInput
            For a field that is wrong, and for a scene with rows of data, which a lesson does not hold.

        Examples
        --------
        >>> import nbmetrics as nm
        >>> lab = nm.Playground([nm.Gaussian([-2, 0]), nm.Gaussian([2, 0])])
        >>> mine = lab.make_lesson(question="At which x is FID avg lowest?", flag="x", answer="In the middle.")
        >>> nm.Playground(lesson=mine).lesson
        'My lesson'
        """
        settings = {"name": name, "metric": metric, "aggregate": aggregate, "generator": generator, "then": then}
        settings |= {"check": check, "solution": solution, "hint": hint, "tries": tries, "minutes": minutes, "aim": aim}
        if flag is None and answer is None:
            answer = " ".join(self.scores().summary()) or None
        return lesson_of(self._scene, question, flag, answer, **settings)

    def answers(self) -> pd.DataFrame:
        """What the learner predicted in this lab, a row for each lesson that was opened, in that order.

        Returns
        -------
        DataFrame with the columns lesson, guess (where the flag was at the first Reveal, or is now), answer (what
        Reveal found), off (how far the guess is from it), revealed, and string: the short text to hand to a teacher,
        whose `nm.collect_answers` reads it. NaN and "" where there is nothing yet.
        """
        return answer_table(self._progress.values())

    @traitlets.observe("scene")
    def _note_progress(self, change: Any) -> None:
        """Keep what was guessed: the first Reveal counts, whatever is placed after it."""
        progress = change["new"].get("lesson")
        if progress and not self._progress.get(progress["name"], {}).get("revealed"):
            self._progress[progress["name"]] = progress

    @property
    def _starts(self) -> dict[str, Any]:
        starts = {name: one["scene"] for name, one in self.lessons.items()}
        under_way = {self.lesson: starts[self.lesson]} if self.lesson in starts else {}
        return {**starts, **self.presets, **under_way}

    @property
    def _scene(self) -> Scene:
        return self._held(super()._scene)

    def _held(self, scene: Scene) -> Scene:
        """A scene with what its data stand for."""
        return replace(scene, data=self._data, extracted=self._extracted)

    def scores(self) -> Scores:
        """The numbers of the present scene, as `evaluate` gives them.

        FID, KID, and the metric that is charted where it has a closed form (FLD, precision, … are in `result`).
        """
        scene = self._scene
        if scene.plane is not None:
            return self._kept.scores(scene)
        return evaluate(scene.federation, scene.models, metrics_of(scene), progress=False)

    def attach(self, name: str, source: Any) -> None:
        """Add a generator of your own, or exchange the one of that name; can be undone.

        Parameters
        ----------
        name : how the view calls it
        source : rows (n, d), a distribution of d features, a torch module, or a function `(n, rng) -> rows`; d is 2, or
            the width of the clients' rows. In the plane also a dict client -> `nm.Gaussian`, and beside clients of
            images also images, as `Generator` takes them
        """
        self._add("generators", name, source)

    def attach_client(self, name: str, source: Any) -> None:
        """Add a client of your own, or exchange the data of the one of that name, whose weight stays; can be undone.

        A new one weighs as much a row as the others do, or, beside distributions, as much as they do on average.

        Parameters
        ----------
        name : how the view calls it
        source : rows (n, d) or a distribution of d features, 2 or the width of the other clients' rows. Beside clients
            of images also images, as `Client` takes them
        """
        self._add("clients", name, source)

    def _add(self, kind: str, name: str, source: Any) -> None:
        following, drawn = add_item(self._scene, kind, name, source, self._projection, self._free_key)
        self._data, self._extracted = dict(following.data), dict(following.extracted)
        self.data = {**self.data, **drawn}
        self._load(following)

    def _free_key(self, name: str) -> str:
        """Under what another source is held: one of that name may be in the history."""
        keys = (f"{name[: LONGEST_NAME // 2]} {number}" for number in count(len(self._data) + 1))
        return next(key for key in keys if key not in self._data)

    def _answer_to(self, kind: Any, message: Mapping[str, Any]) -> None:
        if kind == "names":
            self.namespace = list_variables(self._scene.dim, self._scene.extraction is not None)
        elif kind == "attach":
            sources = suitable()
            name = check_choice(message.get("name"), sources, "name")
            if why := why_not(sources[name], self._scene.dim, self._scene.extraction is not None):
                raise InvalidInput(name, f"cannot be a generator here: {why}", "Choose another")
            self.attach(name, sources[name])
        else:
            super()._answer_to(kind, message)

    def _computed(self, scene: Scene) -> dict[str, Any]:
        scene = self._held(scene)
        return compute(scene, self._memory) if scene.plane is None else self._kept.result(scene)

    def _answer_of(self, scene: Any) -> dict[str, Any]:
        if self._is_later:  # the constructor asks first, and does not wait for what takes long
            self._is_later = False
            return {"rev": scene.rev, "doing": True}
        return super()._answer_of(scene)

    def _settle_all(self) -> None:
        scene = self._scene
        self._saved_words = saved.OF_PLAYGROUND if scene.plane is None else SAVED_WIDE.format(dim=scene.dim)
        if scene.plane is not None and (self.result["rev"] != scene.rev or "doing" in self.result):
            self._answer(scene)

    def _read(self, value: Any) -> Scene:
        scene: Scene = super()._read(value)
        if scene.plane is not None and (self._projection is None or scene.plane != self._projection.about):
            fix = "Open nm.Playground(federation, generators) with these data, and call from_share on that lab"
            raise InvalidInput("plane", f"is another one, with {scene.dim} features", fix)
        held = self._held(scene)
        for item in (*scene.clients, *scene.generators):
            if item.kind == "data":
                held.data_of(item)
        return scene

    def _accept(self, scene: Scene) -> None:
        if scene.lesson is not None and scene.lesson["name"] not in self.lessons:
            fix = "Open it as the teacher does, with nm.Playground(lesson=…), and call from_share on that lab"
            raise InvalidInput(
                "lesson", f"{shown(scene.lesson['name'])} was made by a teacher and is not part of the string", fix
            )
        for item in () if scene.plane else (*scene.clients, *scene.generators):
            if item.kind == "data" and item.key not in self._data:
                fix = "Open a Playground with these data, or attach them, and call lab.from_share(…)"
                raise InvalidInput(item.name, "is data, which a shared string does not contain", fix)
        self._read(scene.to_json())

    def _picture(self) -> Figure:
        from .figure import plane

        return plane(self._scene, self._shown_scores, self.data, self.result.get("margins"))

    @property
    def _has_owners(self) -> bool:
        return any(item.parts for item in self._scene.generators)

    @property
    def _shown_scores(self) -> Scores | None:
        """The scores, unless they take long and are not there yet."""
        scene = self._scene
        is_there = scene.plane is None or "doing" not in self.result or self._kept.has(scene)
        return self.scores() if is_there else None

    def _described(self) -> str:
        scene = self._scene
        placed = [
            f"{client.name} at ({numeral(client.x or 0.0, '.2f')}, {numeral(client.y or 0.0, '.2f')}), "
            f"σ {client.width:.2f} and {client.height:.2f}"
            for client in scene.clients
        ]
        where = "Playground." if scene.plane is None else f"Playground. {scene.plane['words']}"
        scores = self._shown_scores
        if scores is None:
            return f"{where} Clients: {'; '.join(placed)}. Python computes the scores."
        numbers = [
            f"{generator} {scores.label(metric)}-avg {numeral(avg, '.3f')}, all {numeral(pooled, '.3f')}"
            + (f", intra {numeral(scores.result(metric).intra[g], '.3f')}" if self._has_owners else "")
            for metric in scores.metrics
            for g, (generator, avg, pooled, *_) in enumerate(
                zip(scores.generators, *scores.values(metric), strict=True)
            )
        ]
        return " ".join([f"{where} Clients: {'; '.join(placed)}. Generators: {'; '.join(numbers)}.", *scores.summary()])
