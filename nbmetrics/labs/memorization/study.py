"""What MemorizationLab computes with: three sets of rows, the chance in the generator, and a picture of all in 2-D.

Twin: labs/memorization/view/maths.js · held by: tests/labs/memorization/test_page_maths.py

Flow: a scene → `Study` of its data → `generated` rows → `Judge` → the result that the page shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...datasets import digits
from ...densities import TwoMoons
from ...experiments.copying_data import Sets
from ...experiments.image_sets import principal
from .cards import CARDS, Card, Judge, Judgement, ignore_part
from .scene import NEUTRAL, POINTS, MemorizationScene

Map = Callable[[np.ndarray], np.ndarray]

REDRAWS = 12
# Test rows that stand in for an honest generator, where the user's own data come without one: more only take longer.
MAX_STAND_INS = 500
STAND_IN = (
    "Compared: {0} of the generated rows, and {0} of the test rows that replace an honest generator, both scored "
    "against all of train and the other {1} test rows"
)
NO_STAND_IN = "No card is compared with honest: too many test rows are equal for some to replace a generator"
# Shares of rows: their step, in the card's units, over the number of rows shared out.
SQUARED = ("fid_train", "fid_test")
SHARES = {"auth_pct": 100.0, "precision": 1.0, "recall": 1.0}


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


def stand_ins(test: np.ndarray, train: int, generated: int) -> int:
    """How many of the user's test rows (k, d) stand in for an honest generator, twice; 0 if the rest may be alike.

    At most half as many as train rows, or FLD would call an honest generator better than perfect.
    """
    count = max(1, min(generated, train // 2, len(test) // 3, MAX_STAND_INS))
    alike = int(np.unique(test, axis=0, return_counts=True)[1].max())
    return count if len(test) - 2 * count > alike else 0


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
    on_part : hears what is computed, see `Judge`
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
    on_part: Callable[[str], None] = ignore_part
    # Not cached_property: until Python 3.12 it holds up all studies while one computes.
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def judge(self) -> Judge:
        """Of generated features."""
        if "judge" not in self._cache:
            self._cache["judge"] = Judge(self.features(self.train), self.features(self.test), self.seed, self.on_part)
        return self._cache["judge"]

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

    def generated(self, scene: MemorizationScene) -> np.ndarray:
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

    def judgement_of(self, scene: MemorizationScene) -> Judgement:
        """All that is shown of the generated rows of a scene."""
        return self.judge.judgement_of(self.features(self.generated(scene)))

    @property
    def reference(self) -> tuple[dict[str, Card], dict[str, Card] | None]:
        """The cards of an honest generator; of the user's own data, those of a stand-in and what to compare them to."""
        return self._comparison[:2]

    @property
    def _comparison(self) -> tuple[dict[str, Card], dict[str, Card] | None, dict[str, str]]:
        """`reference`, and why cards of the user's own data are not compared."""
        if "reference" not in self._cache:
            self._cache["reference"] = self._compare()
        return self._cache["reference"]

    def _compare(self) -> tuple[dict[str, Card], dict[str, Card] | None, dict[str, str]]:
        if self.chance:
            return self.judge.cards(self.features(self.fresh)), None, {}
        if not self.stand_ins:
            return dict.fromkeys(CARDS), dict.fromkeys(CARDS), {}
        judge, honest, _, generated = self._stand_in(0)
        (honest_cards, missing), (made_cards, lacking) = judge.compute_cards(honest), judge.compute_cards(generated)
        return honest_cards, made_cards, {**missing, **lacking}

    def _stand_in(self, k: int) -> tuple[Judge, np.ndarray, np.ndarray, np.ndarray]:
        """A judge with a part of the test rows, two other parts of them, and as many generated rows."""
        rng = np.random.default_rng([self.seed, 8, k])
        train, test, generated = (self.features(x) for x in (self.train, self.test, self.fresh))
        test, generated, count = rng.permutation(test), rng.permutation(generated), self.stand_ins
        kept = np.ptp(test[2 * count :], axis=0) > 0
        train, test, generated = train[:, kept], test[:, kept], generated[:, kept]
        judge = Judge(train, test[2 * count :], self.seed, self.on_part)
        return judge, test[:count], test[count : 2 * count], generated[:count]

    @property
    def stand_ins(self) -> int:
        """How many test rows stand in for an honest generator."""
        if "stand_ins" not in self._cache:
            self._cache["stand_ins"] = stand_ins(self.features(self.test), len(self.train), len(self.fresh))
        return self._cache["stand_ins"]

    def honest_cards(self, k: int) -> dict[str, Card]:
        """The cards of another honest generator, the k-th; of the user's data, how two stand-ins' differ."""
        if self.redrawn is not None:
            return self.judge.cards(self.features(self.redrawn(k)))
        if not self.stand_ins:
            return dict.fromkeys(CARDS)
        judge, one, other, _ = self._stand_in(k)
        one_cards, other_cards = judge.cards(one), judge.cards(other)
        return {name: difference(name, one_cards[name], other_cards[name]) for name in CARDS}

    @property
    def noise(self) -> dict[str, Card] | None:
        """What is usual between honest generators, once `learn_noise` has found it, for whoever shows these data."""
        return self._cache.get("noise")

    def learn_noise(self, is_wanted: Callable[[], bool]) -> None:
        """Find `noise`, unless it is no longer wanted meanwhile."""
        redrawn = [self.reference[0]]
        for k in range(1, 1 + REDRAWS):
            if self.noise is not None or not is_wanted():
                return
            redrawn.append(self.honest_cards(k))
        self._cache["noise"] = self.noise_of(redrawn)

    def noise_of(self, redrawn: list[dict[str, Card]]) -> dict[str, Card]:
        """What is usual between honest generators, of the honest cards and `honest_cards(k)` for some k."""
        if self.redrawn is not None:
            return spread_of(redrawn)
        held_out = len(self.test) - 2 * self.stand_ins
        steps = {name: size / max(1, held_out if name == "recall" else self.stand_ins) for name, size in SHARES.items()}
        return usual_of(redrawn[0], redrawn[1:], steps)

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
            "stand_in": self._stand_in_words if chance is None else "",
        }

    @property
    def _stand_in_words(self) -> str:
        count = self.stand_ins
        return STAND_IN.format(f"{count:,}", f"{len(self.test) - 2 * count:,}") if count else NO_STAND_IN

    def _bump(self) -> np.ndarray:
        """(2,) standard deviation, along the axes of the picture, of a bump whose z-scored features have variance 1."""
        spread = self.features(self.test).std(axis=0, ddof=1)
        if self.plane is None:
            return spread
        turned = self.plane(np.eye(self.dim)) - self.plane(np.zeros((1, self.dim)))
        return np.sqrt(spread**2 @ turned**2)

    def result(self, judgement: Judgement) -> dict[str, Any]:
        """Python's numbers for the page."""
        honest, comparable, uncompared = self._comparison
        return {
            "key": self.key,
            "cards": judgement.cards,
            "missing": judgement.missing,
            "uncompared": uncompared,
            "honest": honest,
            "comparable": comparable,
            "noise": self.noise,
            "sigma": np.asarray(judgement.fitted.sigma).tolist() if self.plane is None else None,
            "variance": np.asarray(judgement.fitted.variance).tolist(),
            "memorization": np.asarray(judgement.fitted.memorization).tolist(),
            "quality": judgement.quality.tolist(),
            "nearest": judgement.nearest.tolist(),
            "distance": judgement.distance.tolist(),
        }


def spread_of(cards: list[dict[str, Card]]) -> dict[str, Card]:
    """The standard deviation of each card over honest generators; None where one has no value."""
    spreads: dict[str, Card] = {}
    for name in CARDS:
        values = [card for one in cards if (card := one[name]) is not None]
        spreads[name] = float(np.std(values, ddof=1)) if len(values) == len(cards) else None
    return spreads


def difference(name: str, a: Card, b: Card) -> Card:
    """a − b of a card, of a squared distance that of the roots; None where either is."""
    if a is None or b is None:
        return None
    return max(a, 0) ** 0.5 - max(b, 0) ** 0.5 if name in SQUARED else a - b


def usual_of(honest: dict[str, Card], differences: list[dict[str, Card]], steps: dict[str, float]) -> dict[str, Card]:
    """What a difference from an honest card is compared with, by card; None where one has no value.

    The root mean square of `difference` between two honest sets. Their rows are disjoint and scored against the same
    others, so its expected square is the variance of the difference between honest generated rows and a stand-in,
    whatever the metric. A share moves by whole rows and gets one `steps` more. Few differences tell a standard
    deviation badly: it is widened until 3 of them are as rare as under a normal distribution (Student's t). Of roots, 3
    of what is returned lead from the honest card as far as 3 of them from its root.
    """
    from scipy.stats import norm, t

    widened = float(t.isf(norm.sf(3), len(differences))) / 3
    usual_by_card: dict[str, Card] = {}
    for name in CARDS:
        values, start = [card for one in differences if (card := one[name]) is not None], honest[name]
        if start is None or len(values) < len(differences):
            usual_by_card[name] = None
            continue
        usual = widened * float(np.hypot(np.linalg.norm(values) / len(values) ** 0.5, steps.get(name, 0)))
        usual_by_card[name] = usual * (2 * max(start, 0) ** 0.5 + 3 * usual) if name in SQUARED else usual
    return usual_by_card


@lru_cache(maxsize=4)
def study_of(data: str, points: int, seed: int) -> Study:
    """The study of "moons" or "digits"."""
    return (_moons if data == "moons" else _digits)(points, seed, f"{data} {points} {seed}")


def _moons(points: int, seed: int, key: str) -> Study:
    """As many generated as train points: what copies them all is perfect by FID-train."""
    distribution = TwoMoons()

    def drawn(*stream: int) -> np.ndarray:
        return distribution.sample(POINTS[1], np.random.default_rng([seed, *stream]))[:points]

    about = (
        "Points of two moons; the metrics see x and y as drawn. There are as many generated points as train points, so "
        "that a copycat can copy them all; FLD then scores honest ones better than perfect, on average by 4 with 300 "
        "points and by 15 with 20"
    )
    chance = Chance.of(seed, points, points, 2)
    sets = Sets(drawn(0), drawn(1), drawn(2))
    return Study(
        key, seed, *sets, chance, lambda rows: rows, None, lambda k: drawn(2, 1 + k), about, "units of x and y"
    )


def _digits(points: int, seed: int, key: str) -> Study:
    """Three sets without an image in common, train twice as large as the others: FLD of honest digits is about 0."""
    rows = np.random.default_rng([seed, 0]).permutation(digits()[0])
    quarter = len(rows) // 4
    m = min(points, quarter)
    train, test = rows[: 2 * m], rows[2 * quarter : 2 * quarter + m]
    unseen = np.concatenate([rows[3 * quarter :], rows[2 * m : 2 * quarter], rows[2 * quarter + m : 3 * quarter]])
    features = principal(train)
    about = (
        f"{len(rows):,} handwritten digits cut into sets that share no image, {2 * m:,} for train and {m:,} for test; "
        f"the metrics see the first {features(train).shape[1]} principal components of the train pixels, the picture "
        "the first 2 of them"
    )

    def redrawn(k: int) -> np.ndarray:
        return np.random.default_rng([seed, 2, 1 + k]).choice(unseen, m)

    if m < points:
        about += f"; {m:,} are generated, half as many as train"
    chance = Chance.of(seed, 2 * m, m, rows.shape[1])
    sets = Sets(train, test, unseen[:m])
    units = "pixel values from 0 to 1"
    return Study(key, seed, *sets, chance, features, lambda x: x[:, :2], redrawn, about, units, (8, 8))
