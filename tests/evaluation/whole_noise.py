"""The noise of all scores of a metric at once, which the pieces of a Dashboard are held against."""

import numpy as np

from nbmetrics.evaluation.influence import Influences, mixture_strata
from nbmetrics.evaluation.noise import InfluenceNoise, Multipliers, Noise, NoiseColumn, resampled_noise, split
from nbmetrics.evaluation.resampling import ResampledScores
from nbmetrics.labs.dashboard.incremental_metric import NO_DESIGN


def noise(cells, count=256, seed=0):
    """Return the noise of all scores, of `count` draws; of a bootstrap all its replicates, at most so many."""
    weights, scores = cells.weights, np.column_stack([cells.by_client, cells.all_without_bias])
    if cells.noise is None:
        samples = (*cells.clients, *cells.generators)
        if all(sample is not None and sample.distribution is not None for sample in samples):
            return Noise.of(*zip(*(split(NoiseColumn.exact(count, own)) for own in scores), strict=True))
        columns = [split(NoiseColumn.unknown(count, scores.shape[1], NO_DESIGN)) for _ in scores]
        return Noise.of(*zip(*columns, strict=True))
    source, places = cells.noise.source, cells.noise.places
    reasons = [str(refusal or NO_DESIGN) for refusal in cells.noise.refusals]
    columns = [split(NoiseColumn.unknown(count, scores.shape[1], reason)) for reason in reasons]
    if isinstance(source, Influences):
        together = source.metric.pool_strata(source.real, weights)
        for place, generated in zip(places, source.generated, strict=True):
            own = InfluenceNoise(source.metric, generated, place, Multipliers(count, seed))
            mixture = mixture_strata(source.metric, generated, weights)
            columns[place] = own.clients(source.real), own.all(together, mixture, weights)
    elif isinstance(source, ResampledScores):
        for g, place in enumerate(places):
            columns[place] = split(resampled_noise(source, g, scores[place], weights, count, seed))
    return Noise.of(*zip(*columns, strict=True))
