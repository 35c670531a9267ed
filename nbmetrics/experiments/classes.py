"""Clients of one class each: generators of few and of all classes, and the same question asked of several features."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidInput, check_choice, check_count, shown
from ..evaluation.evaluate import evaluate
from ..features import Extraction, extraction
from ..features.digits import DigitsCNN, untrained
from ..features.extractors import Pixels
from ..federation import Federation
from ..metrics.fid.metric import FID
from ..metrics.kid.metric import KID
from ..ranking import inverted_pairs
from .base import DISTRIBUTED, experiment, grid, wide
from .items import Items, as_list, call, classes_and_copies, halves, noted
from .orders import with_ranks
from .pictures import principal

NOISE = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
RANKED = {"fid": FID(), "kid": KID()}
COMPONENTS = 32
EXTRACTORS = ("pixels", "principal components", "digits-cnn", "untrained digits-cnn")
WHAT = ("avg", "avg_rank", "all", "all_rank")
SETTINGS = tuple(inspect.signature(extraction).parameters)
# Of an extractor that is not at hand, or does not take these images.
REFUSALS = ("extractor", "weights", "download", "device", "source", "images")
ENDS = [f"{metric}_{what}_{end}" for metric in RANKED for what in WHAT for end in ("first", "second")]


@experiment("E3", f"{DISTRIBUTED}, Appendix E.1")
def class_federated(
    X: Any = None,
    y: Any = None,
    *,
    images: Any = None,
    extractor: Any = None,
    noise: Any = NOISE,
    classes: Any = None,
    seed: int = 0,
) -> pd.DataFrame:
    """FID and KID of generators of few and of all classes, on clients of one class each.

    FID-avg asks what pleases single classes, FID-all what looks like all of them together.

    Half of each label's rows make the clients, one for each label. The other half makes the generators: each label, the
    first k labels together, and all rows with noise.

    Parameters
    ----------
    X, y : (n, d) rows and (n,) labels; digits by default
    images : what `nm.images` takes, with labels of its own or in `y`: a folder of a folder for each class, an array, or
        a data set that lies on your disk, such as `torchvision.datasets.CIFAR10("data")` or MNIST
    extractor : what makes rows of the images, as in `nm.extract`: "pixels" unless one is given; with neither X nor
        images, of the digits: "digits-cnn" scores them on learned features
    noise : standard deviations of the noise, in units of X, or of grey values from 0 to 1
    classes : numbers k of labels that a generator has, from 2; by default 2, 4, 6, 8 that are fewer than all
    seed : of the halves and the noise

    Returns
    -------
    DataFrame generator, fid and kid each with _avg, _all, _gap, and places, _avg_rank, _all_rank. KID-avg − KID-all is
    one number for all generators, so KID orders them alike by both. On digits FID-avg goes further on learned features
    than on pixels: it puts the single class 8, and every noisy copy, before real rows of all classes.
    """
    levels = grid(noise, "noise", minimum=0)
    items = Items.of(X, y, images, extractor)
    clients, made = halves(items, seed)
    groups = list(made.by_label().values())
    counts = [k for k in (2, 4, 6, 8) if k < len(groups)]
    if classes is not None:
        few = grid(classes, "classes", minimum=2, maximum=len(groups))
        counts = [check_count(k, "classes") for k in dict.fromkeys(few)]
    generators = classes_and_copies(made, levels, seed)
    generators |= {f"first {k} classes": made.rows[np.concatenate(groups[:k])] for k in counts}
    federation = Federation.from_labels(clients.rows, clients.labels)
    scores = evaluate(federation, generators, ["fid", "kid"], progress=False)
    return with_ranks(noted(wide(scores), items), RANKED)


@experiment("E14", f"{DISTRIBUTED}, Figure 14, on other features")
def extractors_compared(
    extractors: Any = EXTRACTORS,
    *,
    images: Any = None,
    y: Any = None,
    noise: Any = (0.1, 0.2, 0.3, 0.4, 0.5),
    per_class: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Which pairs of generators avg and all order differently, on several features of the same images.

    Whether FID-avg and FID-all disagree about two generators depends on what the features see.

    Clients of one class each, and generators of one class and of all classes with noise, as in `class_federated`. The
    images are the same for all extractors, noise included.

    Parameters
    ----------
    extractors : names of `nm.extractors()`, "principal components" (the first 32 of the pixels of the clients' images)
        and "untrained digits-cnn" (the same network with random weights); or a dict name → one of them, or settings of
        `nm.extract`, such as {"Inception": {"extractor": "inception-v3-compat", "weights": path}}. One that cannot be
        had here, as torch or weights are missing, has a row that says so
    images, y : images of one size and their labels, as in `class_federated`; digits by default
    noise : standard deviations of the noise, of grey values from 0 to 1
    per_class : take so many images of each label only (an Inception reads 8 a second); None for all
    seed : of the halves, the noise, the choice and the random weights

    Returns
    -------
    DataFrame extractor, first, second (a pair of generators), then for m of fid and kid: m_inverted (whether avg and
    all order the pair differently), and avg and all of both and their places among all generators: m_avg_first,
    m_avg_second, m_all_first, m_all_rank_first and so on; note, why there are no numbers.

    On digits it depends on the features indeed, over three seeds. On pixels FID-avg prefers single classes to noisy
    copies that FID-all prefers (11 of 50 such pairs), and both put less noise before more. On the digits-cnn's features
    hardly a class is put before copies (1 or 2 pairs), and of two noisy copies FID-avg always prefers the noisier one:
    all 10 pairs are inverted. On principal components and on untrained features few pairs of either kind are, but for
    one seed. One Inception with random weights, on 14 digits of each class, was as pixels are: it inverted 11 pairs of
    a class and a copy, and none of two copies. KID inverts none anywhere.
    """
    named = _named(extractors)
    levels = grid(noise, "noise", minimum=0)
    count = None if per_class is None else check_count(per_class, "per_class", minimum=4)
    start = Items.of(None, y, images, "pixels")
    if count is not None:
        rng = np.random.default_rng([seed, 3])
        start = start.part(np.concatenate([rng.permutation(index)[:count] for index in start.by_label().values()]))
    parts, lines = [], []
    for name, extractor in named.items():
        try:
            table, line = _on_features(start, extractor, levels, seed)
        except InvalidInput as error:
            if error.argument not in REFUSALS:
                raise
            table, line = pd.DataFrame({"first": [""], "second": [""], "note": [str(error)]}), []
        parts.append(table.assign(extractor=name))
        lines += [f"{name}: {text}" for text in line]
    columns = ["extractor", "first", "second", "fid_inverted", "kid_inverted", *ENDS, "note"]
    result = pd.concat(parts, ignore_index=True).reindex(columns=columns)
    result.attrs["conventions"] = [*(metric.convention for metric in RANKED.values()), *lines]
    return result


def _named(extractors: Any) -> dict[str, Any]:
    if not isinstance(extractors, Mapping):
        return {call(extractor): extractor for extractor in as_list(extractors)}
    if not extractors:
        raise InvalidInput("extractors", "is empty", "Give names, or a dict name → extractor")
    for extractor in extractors.values():
        if not isinstance(extractor, (str, Mapping)) and not callable(extractor):
            raise InvalidInput("extractors", f"holds {shown(extractor)}", "Give names, functions or dicts of settings")
    return {str(name): extractor for name, extractor in extractors.items()}


def _on_features(start: Items, extractor: Any, levels: list[float], seed: int) -> tuple[pd.DataFrame, list[str]]:
    """The pairs of generators on these features, and what the features are."""
    settled = _settled(start, extractor, seed)
    items = Items(settled.rows(start.pictures), start.labels, start.pictures, settled)
    clients, made = halves(items, seed)
    federation = Federation.from_labels(clients.rows, clients.labels)
    scores = evaluate(federation, classes_and_copies(made, levels, seed), ["fid", "kid"], progress=False)
    return _pairs(with_ranks(wide(scores), RANKED)), items.conventions


def _settled(start: Items, extractor: Any, seed: int) -> Extraction:
    if isinstance(extractor, str) and extractor == "principal components":
        return Extraction(_Principal(halves(start, seed)[0].rows), cache=False, progress=False)
    if isinstance(extractor, str) and extractor == "untrained digits-cnn":
        return Extraction(DigitsCNN(untrained(seed)), cache=False, progress=False)
    given = extractor if isinstance(extractor, Mapping) else {"extractor": extractor}
    for setting in given:
        check_choice(setting, SETTINGS, "extractors")
    return extraction(**{"progress": False, **given})


class _Principal:
    """The first principal components of pixels, as an extractor."""

    name = fingerprint = "principal components"

    def __init__(self, pixels: np.ndarray) -> None:
        self._pixels, self._features = Pixels(), principal(pixels, COMPONENTS)
        self.convention = f"the first {min(COMPONENTS, *pixels.shape)} principal components of the clients' pixels"

    def __call__(self, batch: Sequence[np.ndarray]) -> np.ndarray:
        return self._features(self._pixels(batch)).astype(np.float32)


def _pairs(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each pair of generators, with the scores and places of both."""
    first, second = np.triu_indices(len(table), 1)
    names = table["generator"].to_numpy()
    pairs = pd.DataFrame({"first": names[first], "second": names[second], "note": ""})
    for metric in RANKED:
        turned = {frozenset(pair) for pair in inverted_pairs(table[f"{metric}_avg"], table[f"{metric}_all"]).tolist()}
        inverted = [frozenset(pair) in turned for pair in zip(first.tolist(), second.tolist(), strict=True)]
        ends = {
            f"{metric}_{column}_{end}": table[f"{metric}_{column}"].to_numpy()[index]
            for column in WHAT
            for end, index in (("first", first), ("second", second))
        }
        pairs = pairs.assign(**{f"{metric}_inverted": inverted}, **ends)
    return pairs
