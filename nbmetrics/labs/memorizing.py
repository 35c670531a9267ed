"""What MemorizationLab computes with: three sets of rows, the chance in the generator, and a picture of all in 2-D.

Flow: a scene → `Study` of its data → `made` rows → `Judge` → the result that the page shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..densities import TwoMoons
from ..experiments.copies import Sets
from ..experiments.data import digits
from ..experiments.images import principal
from ..scene.memorization import NEUTRAL, POINTS, MemorizationScene
from .memorizing_cards import CARDS, Card, Judge, Judged, silent

Map = Callable[[np.ndarray], np.ndarray]

REDRAWS = 12
# Test rows that stand in for an honest generator, where the user's own data come without one: more only take longer.
MOST_STAND_INS = 500
STAND_IN = (
    "Honest: {} of the test rows stand in for an honest generator and are scored against the others, and as many of "
    "the generated rows are scored in the same way beside them"
)


class Chance(NamedTuple):
    """What is random in a generator of m rows: who is copied, what is added, and in which order copies come in."""

    kde: np.ndarray
    kde_noise: np.ndarray
    partner: np.ndarray
    noise: np.ndarray
    rank: np.ndarray

    @classmethod
    def of(cls, seed: int, n: int, m: int, dim: int) -> Chance:
        """For n train rows. More points leave those that are there where they are."""
        streams = [np.random.default_rng([seed, stream]) for stream in range(3, 8)]
        order, rank = streams[2].random(POINTS[1])[:n].argsort(), streams[4].random(POINTS[1])[:m].argsort().argsort()
        normal = [stream.standard_normal((POINTS[1], dim))[:m] for stream in (streams[1], streams[3])]
        return cls((streams[0].random(m) * n).astype(int), normal[0], np.resize(order, m), normal[1], rank)


def stand_ins(test: int, generated: int) -> int:
    """How many of the user's test rows stand in for an honest generator."""
    return max(1, min(generated, test // 2, MOST_STAND_INS))


@dataclass(frozen=True, eq=False)
class Study:
    """One set of data, as long as neither it nor the number of points nor the seed changes.

    Attributes
    ----------
    train, test, fresh : rows as they are: points, pixels or the user's features; `fresh` is what an honest generator
        makes, or the user's generated rows
    chance : None for the user's own
    features : from rows to what the metrics see, (n, d)
    plane : from there to the picture, (n, 2); None where it shows the features themselves
    redrawn : (k) -> other fresh rows, None for the user's own
    shape : of a row as an image, or None
    told : hears what is computed, see `Judge`
    """

    key: str
    seed: int
    train: np.ndarray
    test: np.ndarray
    fresh: np.ndarray
    chance: Chance | None
    features: Map
    plane: Map | None
    redrawn: Callable[[int], np.ndarray] | None
    about: str
    units: str
    shape: tuple[int, ...] | None = None
    told: Callable[[str], None] = silent
    # Not cached_property: until Python 3.12 it holds up all studies while one computes.
    _found: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def judge(self) -> Judge:
        """Of generated features."""
        if "judge" not in self._found:
            self._found["judge"] = Judge(self.features(self.train), self.features(self.test), self.seed, self.told)
        return self._found["judge"]

    @property
    def dim(self) -> int:
        """The number of features that the metrics see."""
        return int(self.features(self.train[:1]).shape[1])

    def flat(self, rows: np.ndarray) -> np.ndarray:
        """Rows in the picture."""
        features = self.features(rows)
        return features if self.plane is None else self.plane(features)

    def copies(self, scene: MemorizationScene) -> np.ndarray:
        """(m,) which generated rows are copies by the scene's doing."""
        m = len(self.fresh)
        return np.zeros(m, bool) if self.chance is None else self.chance.rank < round(scene.copied * m)

    def made(self, scene: MemorizationScene) -> np.ndarray:
        """The generated rows (m, …) of a scene, as they are."""
        rows = self.fresh
        if self.chance is not None:
            chance = self.chance
            if scene.bandwidth:
                rows = self.train[chance.kde] + scene.bandwidth * chance.kde_noise
            copied = self.train[chance.partner] + scene.jitter * chance.noise
            rows = np.where(self.copies(scene)[:, None], copied, rows)
        if scene.spread == NEUTRAL["spread"]:
            return rows
        mean = rows.mean(axis=0)
        return mean + scene.spread * (rows - mean)

    def judged(self, scene: MemorizationScene) -> Judged:
        """All that is shown of the generated rows of a scene."""
        return self.judge.judged(self.features(self.made(scene)))

    @property
    def reference(self) -> tuple[dict[str, Card], dict[str, Card] | None]:
        """The cards of an honest generator; of the user's own data, those of a stand-in and what to compare them to."""
        if "reference" not in self._found:
            judge, honest, made = (self.judge, self.features(self.fresh), None) if self.chance else self._stand_in(0)
            self._found["reference"] = judge.cards(honest), None if made is None else judge.cards(made)
        return self._found["reference"]

    def _stand_in(self, k: int) -> tuple[Judge, np.ndarray, np.ndarray]:
        """A judge with a part of the test rows, other test rows, and as many generated rows."""
        rng = np.random.default_rng([self.seed, 8, k])
        train, test, made = (self.features(x) for x in (self.train, self.test, self.fresh))
        test, made = rng.permutation(test), rng.permutation(made)
        count = self.stand_ins
        kept = np.ptp(test[count:], axis=0) > 0
        train, test, made = train[:, kept], test[:, kept], made[:, kept]
        return Judge(train, test[count:], self.seed, self.told), test[:count], made[:count]

    @property
    def stand_ins(self) -> int:
        """How many test rows stand in for an honest generator."""
        return stand_ins(len(self.test), len(self.fresh))

    def honest_cards(self, k: int) -> dict[str, Card]:
        """The cards of another honest generator, the k-th."""
        if self.redrawn is not None:
            return self.judge.cards(self.features(self.redrawn(k)))
        judge, honest, _ = self._stand_in(k)
        return judge.cards(honest)

    def base(self) -> dict[str, Any]:
        """What the page draws from, all in the picture's two dimensions."""
        chance = self.chance
        flat = {name: self.flat(getattr(self, name)) for name in ("train", "test", "fresh")}
        origin = self.flat(np.zeros_like(self.train[:1]))
        low, high = (edge(np.concatenate([flat["train"], flat["test"]]), axis=0) for edge in (np.min, np.max))
        drawn = {name: [] for name in Chance._fields} if chance is None else chance._asdict()
        noises = {} if chance is None else {n: (self.flat(drawn[n]) - origin).tolist() for n in ("kde_noise", "noise")}
        return {
            "key": self.key,
            **{name: rows.tolist() for name, rows in flat.items()},
            **{name: value if isinstance(value, list) else value.tolist() for name, value in drawn.items()},
            **noises,
            "bump": self._bump().tolist(),
            "center": ((low + high) / 2).tolist(),
            "half": float(0.6 * max(high - low)),
            "sizes": {"train": len(self.train), "test": len(self.test), "generated": len(self.fresh)},
            "features": self.dim,
            "projected": self.plane is not None,
            "units": self.units,
            "about": self.about,
            "stand_in": STAND_IN.format(f"{self.stand_ins:,}") if chance is None else "",
        }

    def _bump(self) -> np.ndarray:
        """(2,) standard deviation, along the axes of the picture, of a bump whose z-scored features have variance 1."""
        spread = self.features(self.test).std(axis=0, ddof=1)
        if self.plane is None:
            return spread
        turned = self.plane(np.eye(self.dim)) - self.plane(np.zeros((1, self.dim)))
        return np.sqrt(spread**2 @ turned**2)

    def result(self, found: Judged, noise: dict[str, Card] | None) -> dict[str, Any]:
        """Python's numbers for the page."""
        honest, comparable = self.reference
        return {
            "key": self.key,
            "cards": found.cards,
            "missing": found.missing,
            "honest": honest,
            "comparable": comparable,
            "noise": noise,
            "sigma": np.asarray(found.fitted.sigma).tolist() if self.plane is None else None,
            "variance": np.asarray(found.fitted.variance).tolist(),
            "memorization": np.asarray(found.fitted.memorization).tolist(),
            "quality": found.quality.tolist(),
            "nearest": found.nearest.tolist(),
            "distance": found.distance.tolist(),
        }


def spread_of(cards: list[dict[str, Card]]) -> dict[str, Card]:
    """The standard deviation of each card over honest generators; None where one has no value."""
    found: dict[str, Card] = {}
    for name in CARDS:
        values = [known for one in cards if (known := one[name]) is not None]
        found[name] = float(np.std(values, ddof=1)) if len(values) == len(cards) else None
    return found


@lru_cache(maxsize=4)
def study_of(data: str, points: int, seed: int) -> Study:
    """The study of "moons" or "digits"."""
    return (_moons if data == "moons" else _digits)(points, seed, f"{data} {points} {seed}")


def _moons(points: int, seed: int, key: str) -> Study:
    law = TwoMoons()

    def drawn(*stream: int) -> np.ndarray:
        return law.sample(POINTS[1], np.random.default_rng([seed, *stream]))[:points]

    about = "Points of two moons; the metrics see x and y as drawn"
    chance = Chance.of(seed, points, points, 2)
    sets = Sets(drawn(0), drawn(1), drawn(2))
    return Study(
        key, seed, *sets, chance, lambda rows: rows, None, lambda k: drawn(2, 1 + k), about, "units of x and y"
    )


def _digits(points: int, seed: int, key: str) -> Study:
    """Three sets without an image in common: thirds, or more generated and fewer train and test images."""
    rows = np.random.default_rng([seed, 0]).permutation(digits()[0])
    third = len(rows) // 3
    n = min(points, (len(rows) - points) // 2)
    train, test = rows[:n], rows[third : third + n]
    unseen = np.concatenate([rows[2 * third :], rows[n:third], rows[third + n : 2 * third]])
    features = principal(train)
    about = (
        f"{len(rows):,} handwritten digits cut into sets that share no image; the metrics see the first "
        f"{features(train).shape[1]} principal components of the train pixels, the picture the first 2 of them"
    )

    def redrawn(k: int) -> np.ndarray:
        return np.random.default_rng([seed, 2, 1 + k]).choice(unseen, points)

    if n < points:
        about += f"; with {points:,} of them generated, {n:,} are left for train and as many for test"
    chance = Chance.of(seed, n, points, rows.shape[1])
    sets = Sets(train, test, unseen[:points])
    units = "pixel values from 0 to 1"
    return Study(key, seed, *sets, chance, features, lambda x: x[:, :2], redrawn, about, units, (8, 8))
