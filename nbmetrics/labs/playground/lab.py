"""Playground: drag clients and generators in the plane and see their scores, averaged and pooled, move along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import traitlets

from ...errors import LONGEST_NAME, InvalidInput, check_choice, check_names, shown
from ...evaluation.evaluate import evaluate
from ...evaluation.scores import Scores
from ..plane.laws import summary
from ..toolkit import modules, saved
from ..toolkit.lab import Lab
from .answers import answer_table
from .lessons import Lesson, shipped
from .namespace import suitable
from .numbers import computed, metrics_of
from .scene import Scene, presets
from .teaching import lesson_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

OWN = "Your clients"


class Playground(Lab):
    """Clients and generators in the plane, with live scores averaged over clients and on the pooled data.

    Parameters
    ----------
    federation : clients in 2-D, Gaussians or rows (`Federation`, or a list that makes one), or the name of a
        preset; "Two clients", the papers' toy, by default
    generators : list or dict of 2-D generators: Gaussians, `nm.scene.Bumps`, `Truncated` and `Copycat`, rows, other
        laws or functions `(n, rng) -> rows`; the pooled Gaussian by default
    samples : points drawn of every item, 5 to 2,000; 0 for exact laws. Rows are used as they are.
    seed : of the points
    metric : what is charted beside FID and KID, such as "cfid" (the axes read as x → y) or "fld"
    lesson : a lesson to open with, instead of clients and generators: its name, such as "Average against pooled", or
        one of your own, as a dict that `make_lesson` gives, or the path of such a JSON file

    Raises
    ------
    InvalidInput
        For a client or generator that is not in the plane, or a lesson with a field that is wrong.
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
        samples: int = 0,
        seed: int = 0,
        metric: str = "fid",
        lesson: Any = None,
    ) -> None:
        known, offered = presets(), shipped()
        if lesson is not None:
            if federation is not None or generators is not None or (samples, seed, metric) != (0, 0, "fid"):
                seen = "brings clients, generators and settings of its own"
                raise InvalidInput("lesson", seen, "Give a lesson, or clients, generators and settings")
            chosen = Lesson.read(lesson)
            offered = {**({} if chosen.name in offered else {chosen.name: chosen}), **offered, chosen.name: chosen}
            federation = chosen.start
        settings: dict[str, Any] = {"samples": samples, "seed": seed, "view": {"metric": metric}}
        if isinstance(federation, Scene):
            start = federation
        elif federation is None or isinstance(federation, str):
            start = Scene.preset_named(next(iter(known)) if federation is None else federation)
            if generators is not None:
                start = Scene.of(start.federation, generators, OWN, **settings)
            else:
                start = Scene.parse({**start.to_json(), **settings})
        else:
            start = Scene.of(federation, generators, OWN, **settings)
        if start.preset not in {**known, **offered}:
            known = {start.preset or OWN: start, **known}
        self._data = dict(start.data)
        # What the learner came to in each lesson, by its name.
        self._progress: dict[str, Any] = {}
        super().__init__(start, known)
        self.data = {name: summary(source) for name, source in self._data.items()}
        self.lessons = {name: one.to_json() for name, one in offered.items()}

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
            a number also "gap"), and the first generator that has the parameter
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
        return {**self.presets, **{name: one["scene"] for name, one in self.lessons.items()}}

    @property
    def _scene(self) -> Scene:
        return replace(super()._scene, data=self._data)

    def scores(self) -> Scores:
        """The numbers of the present scene, as `evaluate` gives them.

        FID, KID, and the metric that is charted where it has a closed form (FLD, precision, … are in `result`).
        """
        scene = self._scene
        return evaluate(scene.federation, scene.sources, metrics_of(scene), progress=False)

    def attach(self, name: str, source: Any) -> None:
        """Add a generator of your own, or exchange the one of that name; can be undone.

        Parameters
        ----------
        name : how the view calls it
        source : rows (n, 2), a 2-D law, or a function `(n, rng) -> rows`, which gives 1,000 rows
        """
        scene = self._scene
        name = check_names([name], "name")[0]
        if name in [client.name for client in scene.clients]:
            raise InvalidInput("name", f"{shown(name)} is a client", "Give the generator another name")
        made = Scene.of(scene.laws, {name: source}, seed=scene.seed)
        item, key = made.generators[0].to_json(), self._free_key(name)
        data = dict(self._data)
        if name in made.data:
            item, data = {**item, "data": key}, {**data, key: made.data[name]}
        names = [g.name for g in scene.generators]
        place = names.index(name) if name in names else len(names)
        listed = [g.to_json() for g in scene.generators]
        following = Scene.parse({**scene.to_json(), "generators": [*listed[:place], item, *listed[place + 1 :]]}, data)
        self._data = data
        if key in data:
            self.data = {**self.data, key: summary(data[key])}
        self._loaded(following)

    def _free_key(self, name: str) -> str:
        """Under what another source is held: one of that name may be in the history."""
        keys = (f"{name[: LONGEST_NAME // 2]} {number}" for number in count(len(self._data) + 1))
        return next(key for key in keys if key not in self._data)

    def _answer_to(self, kind: Any, message: Mapping[str, Any]) -> None:
        if kind == "names":
            self.namespace = sorted(suitable())
        elif kind == "attach":
            sources = suitable()
            name = check_choice(message.get("name"), sources, "name")
            self.attach(name, sources[name])
        else:
            super()._answer_to(kind, message)

    def _computed(self, scene: Scene) -> dict[str, Any]:
        return computed(replace(scene, data=self._data))

    def _accept(self, scene: Scene) -> None:
        if scene.lesson is not None and scene.lesson["name"] not in self.lessons:
            fix = "Open it as its teacher does, nm.Playground(lesson=…), and use from_share on that lab"
            raise InvalidInput(
                "lesson", f"{shown(scene.lesson['name'])} is a teacher's own, which is not in the string", fix
            )
        for item in (*scene.clients, *scene.generators):
            if item.kind == "data" and item.key not in self._data:
                fix = "Open a Playground with these data, or attach them, and use from_share on it: lab.from_share(…)"
                raise InvalidInput(item.name, "stands for data, which a shared string does not hold", fix)

    def _picture(self) -> Figure:
        from .figure import plane

        return plane(self._scene, self.scores())

    def _described(self) -> str:
        scene = self._scene
        placed = [
            f"{client.name} at ({client.x:.2f}, {client.y:.2f}), σ {client.width:.2f} and {client.height:.2f}"
            for client in scene.clients
        ]
        scores = self.scores()
        numbers = [
            f"{row['generator']} {scores.label(row['metric'])}-avg {row['avg']:.3f}, all {row['all']:.3f}"
            for row in scores.table.to_dict("records")
        ]
        return " ".join(
            [f"Playground. Clients: {'; '.join(placed)}. Generators: {'; '.join(numbers)}.", *scores.summary()]
        )
