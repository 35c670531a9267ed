"""The study of a PrivacyLab: the one that comes with it, one of the user's data, and as plain JSON for the page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ...federated.noise_study import NoiseStudy, PairSurvival, noise_study, two_digits
from ...federated.noisy_summaries import check_is_bounded
from ...federated.survival import wilson
from ...federation import Federation, as_generators
from .digits_study import DIM, FARTHEST, FILE, MIDDLE, STORED, digits_data, read_study
from .settings import Settings

# Scores that a page takes, of all ε, runs, metrics, aggregates and generators.
MAX_SCORES_SENT = 100_000


def study_of(federation: Any, generators: Any, settings: Settings) -> tuple[NoiseStudy, str]:
    """Return the study, and "digits" where it comes with the lab, else "own"."""
    if federation is None and generators is None:
        for name in ("clip", "centre", "samples"):
            if getattr(settings, name) is not None:
                fix = "Leave it out, or give federation and generators"
                raise InvalidInput(name, "is for your own data, but the lab shows its digits", fix)
        return (study_of_digits(settings), "own") if settings.others else (read_study(), "digits")
    for name, value in (("federation", federation), ("generators", generators)):
        if value is None:
            raise InvalidInput(
                name, "is missing", "Give federation and generators, or neither for the lab's own digits"
            )
    if settings.clip is None:
        fix = "Give the norm to which rows are clipped, such as clip=4.0, not chosen by looking at them"
        raise InvalidInput("clip", "is missing", fix)
    federation = federation if isinstance(federation, Federation) else Federation(federation)
    return _study(federation, as_generators(generators), settings), "own"


def study_of_digits(settings: Settings) -> NoiseStudy:
    """Return the study of the digits that come with the lab."""
    federation, generators = digits_data()
    bounded = replace(settings, clip=FARTHEST, centre=np.full(DIM, MIDDLE))
    return _study(federation, generators, bounded, progress=False)


def _study(federation: Federation, generators: Any, settings: Settings, progress: str | bool = "auto") -> NoiseStudy:
    metrics = settings.metric_objects()
    sample = next(iter(federation)).to_sample()
    for metric in metrics:
        if check_is_bounded(metric, sample) == "nothing":
            fix = "Take 'fid', 'kid' or KID(nm.RandomFeatures(…))"
            raise InvalidInput(
                "metrics", f"{metric.label} looks at the generator alone, so noise does not change it", fix
            )
    scores = len(settings.epsilons) * settings.repeats * len(metrics) * 2 * len(generators)
    if scores > MAX_SCORES_SENT:
        fix = "Give fewer repeats, epsilons, metrics or generators"
        raise InvalidInput("repeats", f"makes {scores:,} scores, and a page takes {MAX_SCORES_SENT:,}", fix)
    assert settings.clip is not None
    return noise_study(
        federation,
        generators,
        metrics,
        clip=settings.clip,
        epsilons=settings.epsilons,
        delta=settings.delta,
        centre=settings.centre,
        repeats=settings.repeats,
        samples=settings.samples,
        seed=settings.seed,
        hours=settings.hours,
        progress=progress,
    )


def page_json(study: NoiseStudy, of: str, about: str, code: str) -> dict[str, Any]:
    """Return the study as JSON for the page, scores to seven digits, as both sides read them.

    `about` is what it is of, in words; `code` is Python that makes the lab again.
    """
    exact, clipped, drawn = map(_brief, (study.exact, study.clipped, study.drawn))
    study, runs = replace(study, exact=exact, clipped=clipped, drawn=drawn), study.drawn.shape[1]
    return {
        "of": of,
        "about": about,
        "code": code,
        "epsilons": list(study.epsilons),
        "multipliers": list(study.multipliers),
        "metrics": [{"name": metric.name, "label": metric.label} for metric in study.metrics],
        "generators": list(study.generators),
        "exact": study.exact.tolist(),
        "clipped": study.clipped.tolist(),
        "drawn": study.drawn.tolist(),
        "clips": [[not pair.survives for pair in by_part] for by_part in study.survival_of_draws(study.clipped[None])],
        "pairs": [[[_of_pair(pair, runs) for pair in by_part] for by_part in by_metric] for by_metric in study.pairs],
        "delta": study.delta,
        "clip": study.clip,
        "rows": [min(study.rows), max(study.rows)],
        "clients": len(study.rows),
    }


def _of_pair(pair: PairSurvival, runs: int) -> dict[str, Any]:
    """Return what is said at one ε of the best generator and the rival whose order survives least.

    - best, rival: their positions
    - kept: in how many runs the best stays first of all; low, high: Wilson's 95 % interval for the chance
    - kept_if_reversed, reversed_low, reversed_high: the same of the opposite order of the two, had that been true
    - apart, moved: by how much the two differ, and how far noise and clipping move that, in words
    - survives: whether the order survives, or noise decides
    """
    (low, high), (reversed_low, reversed_high) = (
        map(float, _brief(np.array(wilson(count, runs)))) for count in (pair.first, pair.kept_if_reversed)
    )
    return {
        "best": pair.best,
        "rival": pair.rival,
        "kept": pair.first,
        "low": low,
        "high": high,
        "kept_if_reversed": pair.kept_if_reversed,
        "reversed_low": reversed_low,
        "reversed_high": reversed_high,
        "apart": two_digits(pair.difference),
        "moved": two_digits(pair.error),
        "survives": pair.survives,
    }


def _brief(array: np.ndarray) -> np.ndarray:
    """Return the numbers to seven digits."""
    return np.array([float(f"{value:.7g}") for value in array.ravel()]).reshape(array.shape)


def write_study_of_digits() -> None:
    """Compute the study that comes with the package and write its file."""
    study = study_of_digits(Settings())
    arrays: dict[str, Any] = {name: np.asarray(getattr(study, name)) for name in STORED}
    np.savez_compressed(str(FILE), **arrays)


if __name__ == "__main__":
    write_study_of_digits()
