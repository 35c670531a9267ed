"""How far noise moves the difference of two scores, from a release alone: its bytes say how much noise is in them.

Flow: the released summaries are brought near to those without noise (`likely_before_noise`) → noise of the same scale
is added to these, some times over, and all is scored → the root mean square of how far that moves the difference of two
scores. What noise adds to both alike cancels.

What a release leaves open is filled in from the generators that are scored, as these are made to resemble the
clients. Let Ĉ be the covariance that was released, and P the mean of the generators'. P is moved to the combination Σ
a_g C_g + a I, a ≥ 0, that is nearest to Ĉ, by the share of that move which noise alone would not make (James and
Stein's). What is left, Ĉ − P, is kept entry by entry, in the eigenvectors of P: with v_i its eigenvalues, entry ij
counts as τ² v_i v_j of truth beside the noise, τ² by moments. The mean is moved from the generators' towards the
released one likewise. Where the clients have far fewer directions than any of the generators the error is found too
small.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from typing import Any, cast

import numpy as np
from scipy.optimize import nnls

from ..arrays import to_numpy
from ..errors import refusal_of
from ..evaluation.cells import Cells
from ..ranking import lowest
from .noise_study import PARTS, avg_and_all, two_digits
from .noisy_summaries import server_summaries, with_noise
from .privacy import Normals, isometric_triangle, symmetric_matrix
from .serialization import Section
from .summary_codec import Thrift, arrays_of_summary

# A difference of less than so many times its error may be the noise's.
SAFETY_FACTOR = 3.0
# Draws by number of features: of many they are more alike, and take longer.
DRAWS_BY_DIM = ((128, 20), (512, 8), (math.inf, 4))
# In units of the clip, within which all clients are.
CLIP_REACH = 1e6


@dataclass(frozen=True, eq=False)
class NoisyCells(Cells):
    """A result of summaries with noise, whose cautions say where noise may have made an order.

    `names` are the generators', `seed` that of the draws.
    """

    names: tuple[str, ...] = ()
    seed: int = 0

    @classmethod
    def of(cls, result: Cells, names: Sequence[str], seed: int) -> NoisyCells:
        """Return the same result, with these cautions."""
        values = {field.name: getattr(result, field.name) for field in fields(Cells)}
        return cls(**values, names=tuple(names), seed=seed)

    def remarks(self) -> list[str]:
        """Return the remarks of any result, and what noise may have done under these weights."""
        return [*super().remarks(), *self._noise_remarks]

    @cached_property
    def _noise_remarks(self) -> list[str]:
        return list(self._noise_cautions())

    def _noise_cautions(self) -> Iterator[str]:
        shown = np.array([self.avg, self.all])
        moves = noise_moves(self, self.weights, self.seed)
        for part, scores, drawn in zip(PARTS, shown, np.moveaxis(moves, 1, 0), strict=True):
            line = _single_caution if len(scores) == 1 else _pair_caution
            yield from line(f"{self.label}-{part}", self.names, scores, drawn)


def has_noise(result: Cells) -> bool:
    """Return whether a client added noise to what it sent for this metric."""
    return any(map(is_noisy, result.sent))


def is_noisy(section: Section) -> bool:
    """Return whether there is noise in a section, by its kind and its notes."""
    return section.kind.startswith("noisy ") and section.notes.get("sigma", 0.0) > 0.0


def _single_caution(score: str, names: Sequence[str], scores: np.ndarray, moves: np.ndarray) -> Iterator[str]:
    error = rms(moves[:, 0])
    if abs(scores[0]) < SAFETY_FACTOR * error:
        yield f"{score} of {names[0]!r} is {two_digits(scores[0])}, and noise moves it by about ± {two_digits(error)}."


def _pair_caution(score: str, names: Sequence[str], scores: np.ndarray, moves: np.ndarray) -> Iterator[str]:
    """Yield a caution on the pair that noise may most easily have ordered, pairs of the best generator first."""
    pairs = [(g, h, abs(scores[g] - scores[h]), rms(moves[:, g] - moves[:, h])) for g, h in _finite_pairs(scores)]
    unsafe = [(g, h, apart, error) for g, h, apart, error in pairs if apart < SAFETY_FACTOR * error]
    if not unsafe:
        return
    best = lowest(scores)
    g, h, apart, error = min(unsafe, key=lambda pair: (best not in pair[:2], pair[2] / pair[3]))
    share = f"all {len(pairs):,}" if len(unsafe) == len(pairs) else f"{len(unsafe):,} of {len(pairs):,}"
    count = f" This is so for {share} pairs." if len(pairs) > 1 else ""
    moved = f"noise moves this difference by about ± {two_digits(error)}: their order may be due to noise."
    yield f"{score}: {names[g]!r} and {names[h]!r} differ by {two_digits(apart)}, and {moved}{count}"


def _finite_pairs(scores: np.ndarray) -> Iterator[tuple[int, int]]:
    return combinations(map(int, np.flatnonzero(np.isfinite(scores))), 2)


def rms(values: np.ndarray) -> float:
    """Return the root mean square."""
    return math.sqrt(float(np.mean(values**2)))


def noise_moves(result: Cells, weights: Sequence[float], seed: int) -> np.ndarray:
    """Return (draws, 2, generators): how far noise, drawn anew, moves each score by avg and all, or NaN."""
    scored_generators = [g for g, summary in enumerate(result.generated) if not refusal_of(summary)]
    generated = [result.generated[g] for g in scored_generators]
    with np.errstate(all="ignore"):
        near = [likely_before_noise(section, generated) for section in result.sent]

    def score_draw(multiplier: float, streams: Sequence[Normals]) -> np.ndarray:
        metric, clients = result.metric, []
        for section, summary, normals in zip(near, result.real, streams, strict=True):
            if is_noisy(section):
                metric, (summary,) = server_summaries(result.metric, [with_noise(section, multiplier, normals)])
            clients.append(summary)
        return avg_and_all(metric, clients, generated, weights)

    count = next(draws for most, draws in DRAWS_BY_DIM if result.clients[0].dim <= most)
    streams = [Normals([seed, c]) for c in range(len(near))]
    moves = np.full((count, 2, len(result.generated)), np.nan)
    if not scored_generators or refusal_of(*result.real):
        return moves  # a client has no score
    with np.errstate(all="ignore"):  # what strangers sent may be of any size, and is NaN then
        without = score_draw(0.0, streams)
        for draw in moves:
            draw[:, scored_generators] = score_draw(1.0, streams) - without
    return moves


def likely_before_noise(section: Section, generated: Sequence[Any]) -> Section:
    """Return the section as it may have been before noise, whose `sigma` is in its notes; others as they are."""
    if not is_noisy(section) or not generated:
        return section
    sigma, mean = section.notes["sigma"], section.arrays["mean"]
    if section.kind == "noisy features":
        prior = np.mean([arrays_of_summary("features", s, Thrift())[0]["mean"] for s in generated], axis=0)
        return replace(section, arrays={"mean": shrink_towards(prior, mean, sigma)})
    clip, centre = section.notes["clip"], section.arrays["centre"]
    means = [to_numpy(s.mean) for s in generated]
    covariances = [to_numpy(s.cov) / clip**2 for s in generated]
    if not max(float(np.abs(part).max()) for part in (*means, *covariances)) <= CLIP_REACH:
        return section  # no such generator resembles the clients
    prior = (np.mean(means, axis=0) - centre) / clip
    released = (
        symmetric_matrix(section.arrays["second"], mean.size) - np.outer(mean, mean) + sigma**2 * np.eye(mean.size)
    )
    try:
        near, middle = likely_covariance(released, covariances, sigma), shrink_towards(prior, mean, sigma)
    except np.linalg.LinAlgError:
        return section  # its numbers are of no size that a client sends
    arrays = {"mean": middle, "second": isometric_triangle(near + np.outer(middle, middle)), "centre": centre}
    return replace(section, arrays=arrays)


def shrink_towards(prior: np.ndarray, released: np.ndarray, sigma: float) -> np.ndarray:
    """Return what was released, moved towards the prior by the share that noise alone makes (James and Stein's)."""
    return prior + kept_share(float(((released - prior) ** 2).sum()), released.size * sigma**2) * (released - prior)


def kept_share(square: float, noise: float) -> float:
    """Return 1 − noise / square, and not below 0."""
    return max(0.0, 1.0 - noise / square) if square > 0.0 else 0.0


def likely_covariance(released: np.ndarray, covariances: Sequence[np.ndarray], sigma: float) -> np.ndarray:
    """Return a covariance near the released one, whose isometric triangle has noise σ in each number."""
    dim = len(released)
    parts = [*covariances, np.eye(dim)]
    prior = cast(np.ndarray, np.mean(covariances, axis=0))
    nearest = np.tensordot(nearest_weights(parts, released), parts, axes=1)
    gain = float(((released - prior) ** 2).sum() - ((released - nearest) ** 2).sum())
    prior = prior + kept_share(gain, len(parts) * sigma**2) * (nearest - prior)
    values, vectors = np.linalg.eigh(prior)
    values = np.maximum(values, 0.0)
    truth, noise = np.outer(values, values), np.where(np.eye(dim, dtype=bool), 1.0, 0.5) * sigma**2
    left = vectors.T @ (released - prior) @ vectors
    total = float((truth**2 / noise**2).sum())
    spread = max(0.0, float(((left**2 - noise) * truth / noise**2).sum()) / total) if total > 0.0 else 0.0
    left *= spread * truth / (spread * truth + noise)
    return clip_negative(np.diag(values) + left, vectors)


def nearest_weights(parts: Sequence[np.ndarray], target: np.ndarray) -> np.ndarray:
    """Return the a ≥ 0 for which Σ a_k parts_k is nearest to the target, by least squares of all entries."""
    gram = np.array([[np.vdot(one, other) for other in parts] for one in parts])
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-12 * values[-1]
    root, vectors = np.sqrt(values[kept])[:, None], vectors[:, kept].T
    return np.asarray(
        nnls(root * vectors, (vectors @ [np.vdot(part, target) for part in parts]) / root[:, 0], maxiter=1_000)[0]
    )


def clip_negative(matrix: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return the matrix, given in a basis, with negative eigenvalues at 0 and its trace kept where that is positive."""
    values, vectors = np.linalg.eigh(basis @ matrix @ basis.T)
    positive = np.maximum(values, 0.0)
    if positive.sum() > 0.0:
        positive *= max(values.sum(), 0.0) / positive.sum()
    return np.asarray((vectors * positive) @ vectors.T)
