"""Images, one fault at a time: transformed, lacking classes or repeated; and ranked by memorization and quality.

Flow: `Pictures` (the user's, or digits cut into train, test and generated) → feature rows → `fld_and_fid_scorer`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..arrays import to_numpy
from ..errors import InvalidInput, check_choice, check_count, check_number
from ..figures.drawing import (
    COLOURS,
    MARKERS,
    Drawing,
    caption,
    legend,
    panels,
    plain,
    plot_with_spread,
    requires_columns,
    with_unit,
)
from ..lazy_imports import unmoved_random_state
from ..metrics import FID, FLD, Sample
from ..metrics.fld import memorization_scores, quality_scores
from ..ranking import numeral
from .base import FLD_PAPER, experiment, grid
from .image_sets import DIGITS, Pictures, image_setup, labelled_images, labelled_rows
from .image_transforms import IMPERCEPTIBLE, TRANSFORMS

Rows = np.ndarray
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
AGAINST_TEST = f"{FID().convention}, against test"
PALETTE = (*COLOURS, "#cc79a7")


@experiment("F3", f"{FLD_PAPER}, Figure 5")
def transforms(
    share: Any = SHARES,
    names: Iterable[str] = tuple(TRANSFORMS),
    *,
    train: Any = None,
    test: Any = None,
    generated: Any = None,
    images: Any = None,
    features: Callable[[np.ndarray], Any] | None = None,
    extractor: Any = None,
    seed: int = 0,
) -> pd.DataFrame:
    """FLD and FID as a growing share of images is transformed.

    Large transforms raise both; a light blur raises FID alone.

    Good generated images, by default digits that neither train nor test holds, a growing share of them replaced by
    transformed copies of themselves. FLD is fitted to train and scored on test; FID is against test.

    Parameters
    ----------
    share : of the generated images that are transformed, 0 to 1
    names : which of `image_transforms.TRANSFORMS`: posterize, jpeg_90, light_blur; crop, resize, rotate, elastic,
        colour
    train, test, generated : images of one shape, (n, h, w) or (n, h, w, 3) in [0, 1]; all three or none
    images : instead, images to cut at random into train (half of them), test and generated: what `nm.images` takes, a
        folder, say, all of one size
    features : function from images (n, …) to rows (n, d), image by image; None for the pixels' first 32 principal
        components, fitted on train
    extractor : instead, what makes features of images, as in `nm.extract`: "digits-cnn", "inception-v3-compat", …
    seed : of the cut of the digits, of what is transformed how, and of FLD's baseline

    Returns
    -------
    DataFrame share, transform, kind ("imperceptible" or "large"), fld, fid.

    As in the paper, FID takes a light blur for as bad as a change that anyone sees (here "colour"), and FLD does
    not. It differs in that JPEG and posterizing leave FID as it is, and that blurring and posterizing even lower
    FLD: both shrink the features, and FLD rewards mild shrinkage. Digits are grey and 8 × 8: "colour" is brightness
    and contrast, and the paper's blur of 0.5 pixels can be seen. On raw pixels
    (`features=lambda x: x.reshape(len(x), -1)`) JPEG costs FLD about 20 points and the light blur nearly 40:
    z-scores magnify the corner pixels, which are almost always black. On learned features
    (`extractor="digits-cnn"`) JPEG and posterizing lower FLD by less than a point, and the light blur costs less than
    any large change.
    """
    shares = grid(share, "share", minimum=0, maximum=1)
    chosen = _transform_names(names)
    pictures, extract, source = image_setup(train, test, generated, images, features, extractor, seed)
    generated_rows = extract(pictures.generated)
    score = fld_and_fid_scorer(extract(pictures.train), extract(pictures.test), seed)
    order = np.random.default_rng([seed, 1]).permutation(len(generated_rows))
    rows = []
    for name in chosen:
        kind = "imperceptible" if name in IMPERCEPTIBLE else "large"
        changed = extract(TRANSFORMS[name](pictures.generated, np.random.default_rng([seed, 2])))
        for s in shares:
            mixed, swapped = generated_rows.copy(), order[: round(s * len(generated_rows))]
            mixed[swapped] = changed[swapped]
            rows.append({"share": s, "transform": name, "kind": kind, **score(mixed)})
    table = pd.DataFrame(rows, columns=["share", "transform", "kind", "fld", "fid"])
    return _with_conventions(table, FLD(seed).convention, AGAINST_TEST, source)


def _transform_names(names: Any) -> list[str]:
    listed = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    if not listed:
        raise InvalidInput("names", "is empty", f"Give at least one of: {', '.join(TRANSFORMS)}")
    return [check_choice(name, TRANSFORMS, "names") for name in listed]


@experiment("F4", f"{FLD_PAPER}, Figure 6")
def diversity(
    classes: Any = None,
    copies: Any = (1, 2, 4, 8, 16),
    *,
    train: Any = None,
    test: Any = None,
    generated: Any = None,
    labels: Any = None,
    images: Any = None,
    extractor: Any = None,
    jitter: float = 0.01,
    repeats: int = 5,
    seed: int = 0,
) -> pd.DataFrame:
    """FLD and FID over the number of classes and over how often samples repeat themselves.

    Both fall with the first and rise with the second.

    First generated rows of a few classes only, the classes drawn anew each time; then rows of all classes, of which m/k
    distinct ones appear k times each, all but the first time with a little noise. Every set has as many rows m as the
    rarest class, so only diversity differs.

    Parameters
    ----------
    classes : how many classes the generated rows are of; None for ten numbers from 1 to all
    copies : how often each row appears (the paper's k), 1 or more
    train, test, generated : rows of features, (n, d); all three, with labels, or none for digits
    labels : (m,) of the generated rows, or of all images
    images, extractor : as in `transforms`; a quarter of the images is train, a fifth test, the rest generated
    jitter : standard deviation of the noise on copies, as a share of each feature's own
    repeats : draws to average over
    seed : of the cut of the digits, the draws, and FLD's baseline

    Returns
    -------
    DataFrame classes, copies, fld, fid: means over the draws, and fld_sd, fid_sd, their standard deviations (NaN for
    one draw). Rows with copies 1 are the first sweep, rows with all classes the second. The shapes are the paper's;
    it draws FLD only, and conditional generators where this has held-out digits.
    """
    repeats = check_count(repeats, "repeats")
    jitter = check_number(jitter, "jitter", minimum=0)
    if images is None and extractor is None:
        real, test_rows, sample, groups = labelled_rows(train, test, generated, labels, seed)
        source = DIGITS if train is None else "features as given"
    else:
        if train is not None or test is not None or generated is not None:
            raise InvalidInput("train", "is given together with images or an extractor", "Give rows, or images")
        real, test_rows, sample, groups, source = labelled_images(images, labels, extractor, seed)
    m, most = min(map(len, groups)), len(groups)
    swept = np.unique(np.linspace(1, most, min(most, 10)).round()) if classes is None else classes
    few = [check_count(c, "classes") for c in grid(swept, "classes", minimum=1, maximum=most)]
    if m < max(2, most):
        raise InvalidInput("labels", f"{most} classes, one of {m} rows", f"Give each at least {max(2, most)}")
    times = [check_count(k, "copies") for k in grid(copies, "copies", minimum=1, maximum=m)]
    score = fld_and_fid_scorer(real, test_rows, seed)
    rows = []
    for c, k in dict.fromkeys([*((c, 1) for c in few), *((most, k) for k in times)]):
        draws = (np.random.default_rng([seed, 1, repeat]) for repeat in range(repeats))
        scores = pd.DataFrame(
            [score(_repeat_rows(sample[_rows_of_classes(groups, c, m, rng)], k, jitter, rng)) for rng in draws]
        )
        rows.append({"classes": c, "copies": k, **scores.mean(), **scores.std().add_suffix("_sd")})
    table = pd.DataFrame(rows)
    return _with_conventions(table, FLD(seed).convention, AGAINST_TEST, source, f"{m} generated rows, {repeats} draws")


def _rows_of_classes(groups: list[np.ndarray], count: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Return m rows in random order, of `count` classes as evenly as can be; `groups` are rows by class."""
    chosen = rng.permutation(len(groups))[:count]
    parts = [rng.permutation(groups[c])[: len(range(i, m, count))] for i, c in enumerate(chosen)]
    return rng.permutation(np.concatenate(parts))


def _repeat_rows(rows: Rows, k: int, jitter: float, rng: np.random.Generator) -> Rows:
    """Return as many rows, the first 1/k of them distinct and the others noisy copies of those."""
    distinct = len(rows) // k
    noise = jitter * rows.std(axis=0) * rng.standard_normal(rows.shape)
    noise[:distinct] = 0
    return np.resize(rows[:distinct], rows.shape) + noise


@experiment("F7", f"{FLD_PAPER}, Figures 9 and 10")
def ranked_samples(
    copies: int = 10,
    *,
    train: Any = None,
    test: Any = None,
    generated: Any = None,
    images: Any = None,
    features: Callable[[np.ndarray], Any] | None = None,
    extractor: Any = None,
    jitter: float = 0.02,
    seed: int = 0,
) -> pd.DataFrame:
    """Generated images beside their nearest train images, by memorization and by quality.

    The memorization score puts copies of train first, the quality score typical images.

    By default the generated images are digits that neither train nor test holds, then `copies` train images with a
    little noise, then `copies` exact ones; give images of your own and nothing is planted.

    Parameters
    ----------
    copies : train images planted with noise, and again exactly, in the default digits
    train, test, generated : images of one shape, (n, h, w) or (n, h, w, 3) in [0, 1]; all three or none
    images, features, extractor : as in `transforms`
    jitter : standard deviation of the noise on the planted images, in pixel values
    seed : of the cut of the digits and what is planted

    Returns
    -------
    DataFrame rank (1 = highest score), by ("memorization" or "quality"), generated and train (row numbers of the
    image and of the nearest train image), distance (between their features), score (O_j or Q_j, nats per
    dimension). `attrs["pictures"]` holds the images for the figure.
    """
    copies = check_count(copies, "copies", minimum=0)
    jitter = check_number(jitter, "jitter", minimum=0)
    pictures, extract, source = image_setup(train, test, generated, images, features, extractor, seed)
    if generated is None and images is None:
        pictures = _plant_copies(pictures, copies, jitter, np.random.default_rng([seed, 1]))
    rows = {name: extract(getattr(pictures, name)) for name in ("train", "test", "generated")}
    nearest, distance = _nearest_train(rows["generated"], rows["train"])
    scores = {"memorization": memorization_scores(**rows), "quality": quality_scores(**rows)}
    parts = []
    for by, score in scores.items():
        order = np.argsort(-to_numpy(score), kind="stable")
        columns = {"generated": order, "train": nearest[order], "distance": distance[order], "score": score[order]}
        parts.append(pd.DataFrame({"rank": np.arange(1, len(order) + 1), "by": by, **columns}))
    table = pd.concat(parts, ignore_index=True)
    table.attrs["pictures"] = pictures
    scored = "scores on features z-scored by the test images, nearest by distance of the features as they are"
    return _with_conventions(table, scored, source, f"seed {seed}")


def _plant_copies(pictures: Pictures, copies: int, jitter: float, rng: np.random.Generator) -> Pictures:
    """Return the generated images, then noisy and then exact copies of train images."""
    most = len(pictures.train) // 2
    if copies > most:
        raise InvalidInput("copies", f"got {copies}", f"Give a whole number from 0 to {most}, half of the train images")
    near, exact = np.split(pictures.train[rng.permutation(len(pictures.train))[: 2 * copies]], 2)
    near = np.clip(near + jitter * rng.standard_normal(near.shape), 0, 1)
    return Pictures(pictures.train, pictures.test, np.concatenate([pictures.generated, near, exact]))


def _nearest_train(generated: Rows, train: Rows) -> tuple[np.ndarray, np.ndarray]:
    with unmoved_random_state():
        from sklearn.metrics import pairwise_distances_argmin

    nearest = pairwise_distances_argmin(generated, train)
    # scikit-learn takes distances from inner products, which leaves 1e-8 where there is nothing
    return nearest, np.linalg.norm(generated - train[nearest], axis=1)


def fld_and_fid_scorer(train: Rows, test: Rows, seed: int = 0) -> Callable[[Rows], dict[str, float]]:
    """Return a function that gives FLD (fitted to train, scored on test) and FID (against test) of rows."""
    likelihood, moments = FLD(seed), FID()
    real = likelihood.summarize(Sample(rows=train, test=test))
    test_summary = moments.summarize(Sample(rows=test))

    def score(generated: Rows) -> dict[str, float]:
        sample = Sample(rows=generated)
        fld = likelihood.distance(real, likelihood.summarize(sample))
        return {"fld": fld, "fid": moments.distance(test_summary, moments.summarize(sample))}

    return score


def _with_conventions(table: pd.DataFrame, *lines: str) -> pd.DataFrame:
    table.attrs["conventions"] = list(lines)
    return table


@requires_columns("share transform kind fld fid")
def draw_transforms(table: pd.DataFrame) -> Drawing:
    """FLD and FID against the share of transformed images, imperceptible changes dashed (F3)."""
    figure, axes = panels(2, width=5, height=4.2)
    for k, (name, rows) in enumerate(table.groupby("transform", sort=False)):
        is_large = rows["kind"].iloc[0] == "large"
        style: dict[str, Any] = {"color": PALETTE[k % len(PALETTE)], "marker": MARKERS[k % len(MARKERS)]}
        style |= {"linestyle": "-" if is_large else "--", "markerfacecolor": None if is_large else "white"}
        for ax, metric in zip(axes, ("fld", "fid"), strict=True):
            ax.plot(rows["share"], rows[metric], label=f"{plain(name)} ({rows['kind'].iloc[0]})", **style)
            ax.set_ylabel(with_unit(metric))
            ax.set_xlabel("share of transformed images")
    # What a blur costs would vanish beside a crop.
    axes[1].set_yscale("log")
    legend(figure, axes[0])
    return caption(figure, table)


@requires_columns("classes copies fld fid fld_sd fid_sd")
def draw_diversity(table: pd.DataFrame) -> Drawing:
    """FLD and FID against the number of classes and against how often each row appears (F4)."""
    parts = {
        "classes": (table[table["copies"] == 1], "classes among the generated rows"),
        "copies": (table[table["classes"] == table["classes"].max()], "times each generated row appears"),
    }
    figure, axes = panels(4, width=4.8, height=2.7, rows=2)
    for row, metric in enumerate(("fld", "fid")):
        for ax, (column, (rows, x_label)) in zip(axes[2 * row :], parts.items(), strict=False):
            plot_with_spread(ax, rows, column, metric)
            if row:
                ax.set_xlabel(x_label)
            if column == "copies":
                ax.set_xscale("log", base=2)
                ax.set_xticks(rows[column], rows[column])
    return caption(figure, table)


@requires_columns("rank by generated train distance score")
def draw_ranked_samples(table: pd.DataFrame, pairs: int = 7) -> Drawing:
    """Generated images, each left of its nearest train image, of the highest and the lowest scores (F7)."""
    pairs = check_count(pairs, "pairs")
    pictures = table.attrs.get("pictures")
    if pictures is None:
        raise InvalidInput("table", "has lost its images", "Give the result of nm.experiments.ranked_samples()")
    rows = []
    for by, part in table.groupby("by", sort=False):
        shown = min(pairs, len(part))
        rows += [(f"{by}: highest", part.head(shown)), (f"{by}: lowest", part.tail(shown))]
    figure, axes = panels(len(rows) * len(rows[0][1]), width=1.45, height=1.3, rows=len(rows))
    for axs, (name, part) in zip(np.reshape(axes, (len(rows), -1)), rows, strict=True):
        _draw_pairs(axs, part, pictures, name)
    # Pairs further from each other than their halves are.
    figure.set_layout_engine("constrained", wspace=0.2)
    figure.supxlabel("generated | nearest train image; rank, score in nats/dim, distance between features", fontsize=9)
    return caption(figure, table)


def _draw_pairs(axes: Sequence[Any], part: pd.DataFrame, pictures: Any, name: str) -> None:
    for ax, row in zip(axes, part.to_dict("records"), strict=True):
        left, right = pictures.generated[row["generated"]], pictures.train[row["train"]]
        gap = np.full((left.shape[0], max(1, left.shape[1] // 8), *left.shape[2:]), np.nan)
        ax.imshow(np.concatenate([left, gap, right], axis=1), cmap="gray", vmin=0, vmax=1)
        ax.set_title(f"#{row['rank']}: {numeral(row['score'], '.2f')}\nd = {row['distance']:.2f}", fontsize=8)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        ax.grid(False)
    axes[0].set_ylabel(name.replace(": ", "\n"), fontsize=9)
