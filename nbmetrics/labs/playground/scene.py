"""Scene: what the Playground shows, as an immutable, validated value that is plain JSON.

Twin: labs/plane/view/distributions.js, labs/plane/view/edits.js · held by: tests/labs/plane/test_scores_page.py
Twin: labs/playground/view/shape.js · held by: tests/labs/toolkit/test_share_page.py

    {"rev": 3, "preset": "Two clients", "half": 5,
     "clients":    [{"name", "x", "y", "width", "height", "angle", "weight"}, …],
     "generators": [{"name", "x", "y", "width", "height", "angle"}, …],
     "samples": 0, "seed": 0, "view": {"metric", "panel", "sweep", "aligned"}, "lesson": null}

A scene of rows that are wider than the plane has a field `plane` too, see `projection`: all its items are data.
Items are described in `items`. `half` is half the side of the square in view, weights are relative, `samples` points
are drawn of every item (0: exact distributions), and `rev` numbers the edits: the higher one is newer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import Any

import numpy as np

from ...arrays import as_rows, to_numpy
from ...distributions import Distribution, Empirical, Gaussian, Mixture
from ...errors import LONGEST_NAME, InvalidInput, check_choice, check_names, check_text, check_weights, shown
from ...federation import Client, Federation, Generator, as_generators
from ...metrics.kid.metric import KID
from ..plane.distributions import Bumps, Copycat, Truncated, draw
from ..plane.items import MOST, Item, check_reach, text
from ..toolkit.fields import BOUNDS, MOST_SAMPLES, facts, fields_of, flag, listed, number, scene_fields, whole
from .projection import about_of, argument_of

SCENE_FIELDS = {"rev", "preset", "half", "clients", "generators", "samples", "seed", "view", "lesson", "plane"}
PANELS = ("clients", "terms", "sweep", "samples")
# What can be charted, and where its numbers come from.
METRICS: dict[str, dict[str, Any]] = facts(__package__, "metrics.json")
PROGRESS = {"name", "guess", "revealed", "about", "answer", "other"}
SWEEPS = ("variance", "height", "scale", "x", "y", "angle", "psi", "weight")
VIEW: dict[str, Any] = {"metric": "fid", "panel": "clients", "sweep": "variance", "aligned": False}


@dataclass(frozen=True)
class Scene:
    """Clients and generators in the plane; `data` holds what items of the kind "data" stand for, by name.

    `extracted` holds, by the same name, the `Extraction` that made rows out of images.
    """

    clients: tuple[Item, ...]
    generators: tuple[Item, ...]
    half: float = 5.0
    preset: str = ""
    rev: int = 0
    samples: int = 0
    seed: int = 0
    view: Mapping[str, Any] = field(default_factory=lambda: dict(VIEW))
    lesson: Mapping[str, Any] | None = None
    plane: Mapping[str, Any] | None = None
    data: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    extracted: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def parse(
        cls, value: Any, data: Mapping[str, Any] | None = None, extracted: Mapping[str, Any] | None = None
    ) -> Scene:
        """A scene from a dict (or JSON text); raises `InvalidInput` naming the field that is wrong."""
        value = scene_fields(value, SCENE_FIELDS, ("clients", "generators"))
        parts = {kind: _items(value[kind], kind) for kind in ("clients", "generators")}
        check_names([item.name for items in parts.values() for item in items], "scene names")
        check_weights([item.weight for item in parts["clients"]], len(parts["clients"]), "client weights")
        for item in parts["generators"]:
            if item.kind == "copycat":
                check_choice(item.of, [client.name for client in parts["clients"]], f"{item.name}.of")
        scene = cls(
            **parts,
            half=number(value.get("half", 5.0), "half"),
            preset=check_text(value.get("preset", ""), "preset", LONGEST_NAME),
            rev=whole(value.get("rev", 0), "rev"),
            samples=_sample_count(value.get("samples", 0)),
            seed=whole(value.get("seed", 0), "seed"),
            view=_view(value.get("view", {})),
            lesson=_progress(value.get("lesson")),
            plane=about_of(value.get("plane")),
            data=data or {},
            extracted=extracted or {},
        )
        return scene if scene.plane is None else scene._checked_wide()

    @classmethod
    def of(cls, federation: Any, generators: Any = None, preset: str = "", **settings: Any) -> Scene:
        """The scene of a federation in the plane; the generator defaults to the pooled Gaussian."""
        if not isinstance(federation, Federation):
            federation = Federation(federation)
        data: dict[str, Any] = {}
        clients = [
            _item(c.name or "", c.distribution if c.rows is None else c.rows, data, weight)
            for c, weight in zip(federation, _readable(federation.weights), strict=True)
        ]
        if generators is None:
            distribution = federation.pooled().distribution
            distribution = Gaussian.fit(federation.pooled().rows) if distribution is None else distribution
            names = (f"Generator {k}" for k in range(1, MOST["clients"] + 2))
            free = next(name for name in names if name not in federation.names)
            generators = {free: Gaussian(distribution.mean, distribution.cov)}
        seed = settings.get("seed", 0)
        drawn = [g.through(federation.extraction) for g in as_generators(generators)]
        made = [_generator(g.name or "", g.source, data, federation, seed) for g in drawn]
        placed = [i for i in [*clients, *made] if i.x is not None]
        reach = max(max(abs(i.x), abs(i.y)) + 2 * max(i.width, i.height) for i in placed)  # type: ignore
        half = 5.0 if 1.0 <= reach <= 5.0 else min(max(reach * 1.1, BOUNDS["half"][0]), BOUNDS["half"][1])
        scene = cls(tuple(clients), tuple(made), half=half, preset=preset)
        return cls.parse({**scene.to_json(), **settings}, data, extracted_of((*federation, *drawn)))

    @classmethod
    def preset_named(cls, name: str) -> Scene:
        """One of the scenes that come with the package."""
        return presets()[check_choice(name, presets(), "preset")]

    def _checked_wide(self) -> Scene:
        """This scene, if all that it holds can be of rows wider than the plane."""
        dim = (self.plane or {})["dim"]
        for item in (*self.clients, *self.generators):
            if item.kind != "data":
                seen = f"is a distribution of the plane, and this scene has {dim} features"
                raise InvalidInput(
                    item.name, seen, f"Attach rows (n, {dim}) or a distribution: lab.attach(name, source)"
                )
        for name, given, fix in (("samples", self.samples, "Give 0"), ("lesson", self.lesson, "Leave it out")):
            if given:
                raise InvalidInput(name, f"is for the plane, and this scene has {dim} features", fix)
        metric = self.view["metric"]
        if "plane_only" in METRICS[metric]:
            known = ", ".join(name for name, facts in METRICS.items() if "plane_only" not in facts)
            raise InvalidInput("metric", f"is {metric!r}: {METRICS[metric]['plane_only']}", f"Give one of {known}")
        return self

    def to_json(self) -> dict[str, Any]:
        """The dict that `parse` reads and the view shows."""
        wide = {} if self.plane is None else {"plane": {**self.plane, "columns": [*self.plane["columns"]]}}
        return {
            **wide,
            "rev": self.rev,
            "preset": self.preset,
            "half": self.half,
            "clients": [item.to_json() for item in self.clients],
            "generators": [item.to_json() for item in self.generators],
            "samples": self.samples,
            "seed": self.seed,
            "view": dict(self.view),
            "lesson": None if self.lesson is None else dict(self.lesson),
        }

    def at(self, rev: int) -> Scene:
        """The same scene as revision `rev`."""
        return replace(self, rev=rev)

    def drawn(self, samples: int, seed: int | None = None) -> Scene:
        """The same scene with `samples` points of every item (0: exact distributions), from another seed where one
        is given."""
        return replace(self, samples=_sample_count(samples), seed=self.seed if seed is None else seed)

    @property
    def dim(self) -> int:
        """Features of what its items stand for: 2, but for a scene with a `plane`."""
        return 2 if self.plane is None else int(self.plane["dim"])

    @cached_property
    def distributions(self) -> Federation:
        """The clients as exact distributions, or the rows they were given as."""
        return Federation([self._client(item, self._distribution(item)) for item in self.clients])

    @property
    def federation(self) -> Federation:
        """The clients, as `evaluate` takes them: distributions, or `samples` points of each."""
        if not self.samples:
            return self.distributions
        distributions = [self._distribution(item) for item in self.clients]
        rows = [
            self._rows(item, distribution, 2 * i)
            for i, (item, distribution) in enumerate(zip(self.clients, distributions, strict=True))
        ]
        return Federation([self._client(item, source) for item, source in zip(self.clients, rows, strict=True)])

    @property
    def sources(self) -> dict[str, Any]:
        """What the generators are: distributions, or `samples` points of each."""
        clients = self.distributions
        distributions = [self._distribution(item, clients) for item in self.generators]
        pairs = enumerate(zip(self.generators, distributions, strict=True))
        return {item.name: self._rows(item, distribution, 2 * g + 1) for g, (item, distribution) in pairs}

    @property
    def models(self) -> list[Generator]:
        """The generators, as `evaluate` takes them, with what made rows of their images."""
        made = zip(self.generators, self.sources.values(), strict=True)
        return [Generator(s, name=i.name, extraction=self._extraction_of(i)) for i, s in made]

    @property
    def extraction(self) -> Any:
        """How images become rows here; None in a scene that came to be without images."""
        return next(iter(self.extracted.values()), None)

    def _extraction_of(self, item: Item) -> Any:
        return self.extracted.get(item.key) if item.kind == "data" else None

    def _client(self, item: Item, source: Any) -> Client:
        return Client(source, weight=item.weight, name=item.name, extractor=self._extraction_of(item))

    def _distribution(self, item: Item, clients: Federation | None = None) -> Any:
        if item.kind == "data":
            return self.data_of(item)
        if item.kind == "truncated" and clients is not None:
            return Truncated(clients, item.psi or 0.0)
        if item.kind == "copycat" and clients is not None:
            return Copycat(clients, item.of or "", item.count or 2, seed=self.seed)
        center, *axes = item.ellipse
        return ellipse(item.name, item.kind == "bumps", tuple(center), *axes)

    def data_of(self, item: Item) -> Any:
        """What the lab holds for an item of data; InvalidInput where it holds none, or of another width."""
        if item.key not in self.data:
            fix = "Attach it again: lab.attach(name, source)"
            raise InvalidInput(item.name, "stands for data that only its own lab holds", fix)
        held = self.data[item.key]
        if (dim := held.dim if isinstance(held, Distribution) else held.shape[1]) != self.dim:
            raise InvalidInput(item.name, f"has {dim} features in a scene of {self.dim}", "Use one space")
        return held

    def _rows(self, item: Item, distribution: Any, stream: int) -> Any:
        return (
            distribution
            if not self.samples or item.kind == "data"
            else points(distribution, self.seed, stream, self.samples)
        )

    def to_code(self) -> str:
        """Python that rebuilds exactly this scene; rows it was given go by the name `data`."""
        clients = [
            f"    nm.Client({i.code(self.seed)}, weight={i.weight!r}, name={text(i.name)})," for i in self.clients
        ]
        made = [f"    {text(i.name)}: {i.code(self.seed)}," for i in self.generators]
        held = [i.name for i in (*self.clients, *self.generators) if i.kind == "data"]
        lines = ["import nbmetrics as nm", ""]
        if held:
            own = ", ".join(f"{text(name)}: ..." for name in held)
            lines += [f"data = {{{own}}}  # your own rows (n, {self.dim}) or distributions", ""]
        lines += ["federation = nm.Federation([", *clients, "])", "generators = {", *made, "}"]
        settings = f", samples={self.samples}, seed={self.seed}" if self.samples or self.seed else ""
        settings += argument_of(self.plane, text) if self.plane else ""
        settings += f", metric={text(self.view['metric'])}" if self.view["metric"] != VIEW["metric"] else ""
        lines += [f"lab = nm.Playground(federation, generators{settings})", "scores = lab.scores()", "lab", ""]
        return "\n".join(lines)


# In a drag one item moves: the distributions of the others, and their points, are the same objects as before, so that
# what is # remembered of them holds.
@lru_cache(maxsize=64)
def points(distribution: Any, seed: int, stream: int, count: int) -> np.ndarray:
    """The points that `draw` gives, which nobody can change."""
    drawn = draw(distribution, seed, stream, count)
    drawn.flags.writeable = False
    return drawn


@lru_cache(maxsize=256)
def ellipse(name: str, is_bumps: bool, center: tuple[float, float], *axes: float) -> Gaussian | Bumps:
    """The distribution of the item of that name: one object as long as it is not moved."""
    return Bumps(center, *axes) if is_bumps else Gaussian.ellipse(center, *axes)


@cache
def presets() -> dict[str, Scene]:
    """The scenes that come with the package, by name.

    Examples
    --------
    >>> list(nm.scene.presets())[:2]
    ['Narrow or wide', 'Two clients']
    """
    content = resources.files(__package__).joinpath("presets.json").read_text("utf-8")
    return {name: replace(Scene.parse(scene), preset=name) for name, scene in json.loads(content).items()}


def extracted_of(parties: Iterable[Client | Generator]) -> dict[str, Any]:
    """The extractions of those whose rows were images, by name."""
    return {party.name or "": party.extraction for party in parties if party.extraction is not None}


def held(source: Any, who: str) -> Any:
    """What a lab keeps of a source that is no drawable distribution: rows (n, 2), or a distribution with closed
    forms."""
    if isinstance(source, Distribution):
        if source.dim != 2:
            raise InvalidInput(who, f"has {source.dim} dimensions", "The Playground shows the plane: give 2")
        if isinstance(source, Mixture) and KID().has_closed_form(source):
            return source
        return as_rows(source.sample(1000, 0), who, dim=2, min_rows=2)
    if callable(source):
        return as_rows(source(1000, np.random.default_rng(0)), f"rows from {who}", dim=2, min_rows=2)
    return np.array(to_numpy(as_rows(source, who, dim=2, min_rows=2)))  # the user may change theirs


def _item(name: str, source: Any, data: dict[str, Any], weight: float | None = None) -> Item:
    if isinstance(source, (Gaussian, Bumps, Truncated, Copycat)):
        if source.dim != 2:
            raise InvalidInput(name, f"has {source.dim} dimensions", "The Playground shows the plane: give 2")
        return Item.of_source(name, source, weight)
    data[name] = held(source, name)
    is_distribution = isinstance(data[name], Distribution)
    check_reach(name, data[name] if is_distribution else Empirical(to_numpy(data[name])))
    distribution = data[name] if is_distribution else Gaussian.fit(data[name])
    return replace(Item.of_source(name, Gaussian(distribution.mean, distribution.cov), weight), kind="data")


def _generator(name: str, source: Any, data: dict[str, Any], federation: Federation, seed: int) -> Item:
    """The item of a generator; distributions made of other clients, or of another seed, are held as the data they
    are."""
    if isinstance(source, (Truncated, Copycat)):
        same = isinstance(source, Truncated) or (source.client in federation.names and source.seed == seed)
        again = same and (
            Truncated(federation, source.psi)
            if isinstance(source, Truncated)
            else Copycat(federation, source.client, source.count, seed=seed)
        )
        if not again or not np.allclose([*again.mean, *again.cov.flat], [*source.mean, *source.cov.flat], rtol=1e-9):
            distribution = Mixture(source.components, source.weights) if isinstance(source, Truncated) else source
            data[name] = distribution
            return replace(Item.of_source(name, Gaussian(distribution.mean, distribution.cov)), kind="data")
    return _item(name, source, data)


def _items(value: Any, kind: str) -> tuple[Item, ...]:
    return tuple(Item.parse(item, kind, k) for k, item in enumerate(listed(value, kind, 1, MOST[kind])))


def _sample_count(value: Any) -> int:
    count = whole(value, "samples")
    if 0 < count < 5:
        raise InvalidInput(
            "samples", f"got {count}", f"Give 0 for exact distributions, or 5 to {MOST_SAMPLES} points an item"
        )
    return count


def _view(value: Any) -> dict[str, Any]:
    view = {**VIEW, **fields_of(value, VIEW, (), "view")}
    for name, choices in (("metric", METRICS), ("panel", PANELS), ("sweep", SWEEPS)):
        check_choice(view[name], choices, f"view.{name}")
    return {**view, "aligned": flag(view["aligned"], "view.aligned")}


def _progress(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    fields_of(value, PROGRESS, PROGRESS, "lesson")
    numbers = {
        name: None if value[name] is None else number(value[name], name, f"lesson.{name}")
        for name in ("guess", "answer", "other")
    }
    return {
        "name": check_names([value["name"]], "lesson.name")[0],
        "guess": numbers["guess"],
        "revealed": flag(value["revealed"], "lesson.revealed"),
        "about": _about(value["about"]),
        "answer": numbers["answer"],
        "other": numbers["other"],
    }


def _about(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or len(value) > MOST["generators"]:
        raise InvalidInput("lesson.about", f"got {shown(value)}", "Give the present name of each generator, by its own")
    return {name: check_names([value[name]], "lesson.about")[0] for name in check_names([*value], "lesson.about")}


def _readable(weights: tuple[float, ...]) -> list[float]:
    """Equal weights as ones, others as they are: what a person would type."""
    return [1.0] * len(weights) if max(weights) == min(weights) else list(weights)
