"""Models trained on pairs and without them, by MFID, RFID and CFID: of the papers, and of digits turned upright.

Flow: images → turned by random angles → models learn from one half of the pairs → their answers to the other half →
features of inputs, outputs and answers → scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..datasets import SOURCES, published
from ..errors import InvalidInput, check_choice, check_count, check_number
from ..figures.drawing import (
    CONDITIONAL_LOOKS,
    Drawing,
    caption,
    generator_look,
    legend,
    panels,
    plain,
    requires_columns,
)
from ..lazy_imports import unmoved_random_state
from ..metrics.conditional import CFID, MFID, RFID, cfid, mfid, rfid
from .base import CFID_PAPER, experiment
from .federated_data import extractor_list, extractor_name, feature_function, image_stack
from .image_sets import principal

Images = np.ndarray
MODELS = ("regressor", "regressor with residuals", "retrieval", "shuffler", "input")
METRICS = {"mfid": mfid, "rfid": rfid, "cfid": cfid}
# Whether a model learnt which output belongs to which input.
PAIRED = dict(zip(MODELS, ("yes", "yes", "yes", "no", "no"), strict=True))


@experiment("C4", f"{CFID_PAPER}, Section IV C")
def paired_unpaired(
    models: Any = MODELS[:4],
    *,
    images: Any = None,
    extractors: Any = None,
    angle: float = 60.0,
    components: int = 32,
    seed: int = 0,
) -> pd.DataFrame:
    """Models that turn images upright, trained on pairs and without them, by MFID, RFID and CFID.

    MFID likes whatever looks like an upright image; CFID asks whether it is the right one.

    The input is an image turned by a random angle, the output is the image itself. Half of the pairs train the models;
    the other half scores their answers.

    Parameters
    ----------
    models : some of: "regressor" (kernel ridge regression of the outputs on the inputs), "regressor with residuals"
        (the same plus errors that it made on other pairs, drawn at random), "retrieval" (the output of the nearest
        training input), "shuffler" (outputs of training in random order: it never saw a pair),
        "input" (the input as it is, which is not upright)
    images : what `nm.images` takes, images of one size; digits by default
    extractors : what makes features of inputs and of outputs: a name or several, as in `nm.extract`; by default
        "pixels" and, of digits, "digits-cnn" too
    angle : the largest, in degrees either way
    components : principal components of the features, of training inputs and of training outputs, that are scored;
        with d of them 20 d pairs are enough
    seed : of the halves, the angles and what models draw

    Returns
    -------
    DataFrame model, features, paired ("yes" or "no"), mfid, rfid, cfid, in squared units of the features, and places
    mfid_rank, rfid_rank, cfid_rank (1 = best) among the models on the same features.

    On digits the shuffler has a lower MFID than the regressor, whose blurred answers are the right ones, and by far the
    larger CFID. The paper has faces, Pix2Pix and BiCycleGAN for paired models, CycleGAN and MUNIT for unpaired ones.
    """
    chosen = [check_choice(model, MODELS, "models") for model in extractor_list(models, "models")]
    widest = check_number(angle, "angle", minimum=0, maximum=180)
    count = check_count(components, "components", maximum=1000)
    outputs = image_stack(images)
    if len(outputs) < 40:
        raise InvalidInput("images", f"has {len(outputs)} images", "Give at least 40, half of them to train on")
    rng = np.random.default_rng(seed)
    inputs = _rotate(outputs, rng.uniform(-widest, widest, len(outputs)))
    train, test = np.array_split(rng.permutation(len(outputs)), 2)
    answers = {name: ANSWERS[name](inputs, outputs, train, test, seed) for name in dict.fromkeys(chosen)}
    parts, lines = [], []
    if extractors is None:
        extractors = ("pixels", "digits-cnn") if images is None else ("pixels",)
    for name, extractor in {extractor_name(extractor): extractor for extractor in extractor_list(extractors)}.items():
        rows_of, line = feature_function(extractor)
        of_x, of_y = (principal(rows_of(pictures[train]), count) for pictures in (inputs, outputs))
        x, y = of_x(rows_of(inputs[test])), of_y(rows_of(outputs[test]))
        rows = [{"model": model, "features": name, **_scores(x, y, of_y(rows_of(z)))} for model, z in answers.items()]
        part = pd.DataFrame(rows)
        places = part[list(METRICS)].rank(method="min").astype(int).add_suffix("_rank")
        parts.append(pd.concat([part, places], axis=1))
        lines.append(f"{name}: {line}")
    table = pd.concat(parts, ignore_index=True)
    table.insert(2, "paired", table["model"].map(PAIRED))
    sizes = f"{len(train):,} pairs to train, {len(test):,} to score; turned by up to ±{widest:g}°; seed {seed}"
    reduced = f"the first {count} principal components, or fewer where there are not as many"
    table.attrs["conventions"] = [*(kind().convention for kind in (MFID, RFID, CFID)), *lines, reduced, sizes]
    return table


def _rotate(pictures: Images, angles: np.ndarray) -> Images:
    """Return each picture rotated by its angle in degrees; what comes into view is black."""
    from scipy.ndimage import rotate

    turned = [rotate(x, a, axes=(0, 1), reshape=False, order=1) for x, a in zip(pictures, angles, strict=True)]
    return np.clip(np.stack(turned), 0, 1)


def _scores(x: np.ndarray, y: np.ndarray, answer: np.ndarray) -> dict[str, float]:
    return {name: metric(x, y, answer) for name, metric in METRICS.items()}


def _regression(inputs: Images, outputs: Images, learnt: np.ndarray, asked: np.ndarray) -> Images:
    """Return kernel ridge regression of the outputs on the inputs, its kernel as wide as the inputs are apart."""
    with unmoved_random_state():
        from sklearn.kernel_ridge import KernelRidge

    flat = inputs.reshape(len(inputs), -1)
    width = 2 * flat[learnt].var(axis=0).sum()
    model = KernelRidge(kernel="rbf", gamma=1 / width if width else 1.0, alpha=0.1)
    model.fit(flat[learnt], outputs[learnt].reshape(len(learnt), -1))
    return np.clip(model.predict(flat[asked]), 0, 1).reshape(len(asked), *outputs.shape[1:])


def _regressor(inputs: Images, outputs: Images, train: np.ndarray, test: np.ndarray, seed: int) -> Images:
    return _regression(inputs, outputs, train, test)


def _with_residuals(inputs: Images, outputs: Images, train: np.ndarray, test: np.ndarray, seed: int) -> Images:
    learnt, other = np.array_split(train, 2)
    errors = outputs[other] - _regression(inputs, outputs, learnt, other)
    drawn = errors[np.random.default_rng([seed, 1]).integers(len(errors), size=len(test))]
    return np.clip(_regression(inputs, outputs, train, test) + drawn, 0, 1)


def _retrieval(inputs: Images, outputs: Images, train: np.ndarray, test: np.ndarray, seed: int) -> Images:
    with unmoved_random_state():
        from sklearn.metrics import pairwise_distances_argmin

    flat = inputs.reshape(len(inputs), -1)
    return outputs[train][pairwise_distances_argmin(flat[test], flat[train])]


def _shuffler(inputs: Images, outputs: Images, train: np.ndarray, test: np.ndarray, seed: int) -> Images:
    return outputs[np.resize(np.random.default_rng([seed, 2]).permutation(train), len(test))]


def _input(inputs: Images, outputs: Images, train: np.ndarray, test: np.ndarray, seed: int) -> Images:
    return inputs[test]


ANSWERS = dict(zip(MODELS, (_regressor, _with_residuals, _retrieval, _shuffler, _input), strict=True))


@experiment("C5", f"{CFID_PAPER}, Tables I and II, Figures 6 and 7")
def published_conditional() -> pd.DataFrame:
    """Published models by MFID, RFID and CFID, two of them trained on pairs and two without.

    Only CFID puts both paired models before both unpaired ones.

    The published scores of four models of CelebA, rotated, and of Edges2Shoes, on features of Inception-V3.

    Returns
    -------
    DataFrame dataset, model, paired ("yes" or "no"), mfid, rfid, cfid as printed, and their places among the models of
    one data set, mfid_rank, rfid_rank, cfid_rank (1 = best). In every row CFID > RFID > MFID, as the theory has it.
    """
    table = published("cfid_celeba_edges2shoes")
    for metric in ("mfid", "rfid", "cfid"):
        table[f"{metric}_rank"] = table.groupby("dataset", sort=False)[metric].rank(method="min").astype(int)
    table.attrs["conventions"] = [f"numbers as printed in {SOURCES['cfid_celeba_edges2shoes']}; ranks computed here"]
    return table


@requires_columns("dataset model paired mfid rfid cfid")
def draw_published_conditional(table: pd.DataFrame) -> Drawing:
    """MFID against CFID of each data set's models, trained on pairs and without them (C5)."""
    return _draw_models(table, "dataset")


@requires_columns("model features paired mfid rfid cfid")
def draw_paired_unpaired(table: pd.DataFrame) -> Drawing:
    """MFID against CFID of models that turn images upright, on each kind of features (C4)."""
    return _draw_models(table, "features")


def _draw_models(table: pd.DataFrame, group: str) -> Drawing:
    groups = list(table.groupby(group, sort=False))
    figure, axes = panels(len(groups), width=4.8, height=4.0)
    looks: dict[str, dict[str, Any]] = {
        "yes": {"label": "trained on pairs", **generator_look(0)},
        "no": {"label": "trained without pairs", **generator_look(1)},
    }
    for ax, (name, rows) in zip(axes, groups, strict=True):
        for paired, look in looks.items():
            part = rows[rows["paired"] == paired]
            ax.scatter(part["mfid"], part["cfid"], s=46, edgecolors="white", linewidths=0.5, **look)
        for k, row in enumerate(rows.sort_values("cfid").to_dict("records")):
            where = {"xytext": (0, 7 if k % 2 else -7), "va": "bottom" if k % 2 else "top", "ha": "center"}
            place = (row["mfid"], row["cfid"])
            ax.annotate(plain(row["model"]), place, textcoords="offset points", fontsize=8, **where)
        apart = [CONDITIONAL_LOOKS[m]["label"] for m in CONDITIONAL_LOOKS if _separates_kinds(rows, m)]
        ax.set_title(f"{plain(name)}: {', '.join(apart) or 'no score'} parts the two kinds", fontsize=10)
        ax.margins(0.2)
        ax.set_xlabel("MFID (squared units)")
        ax.set_ylabel("CFID (squared units)")
    legend(figure, axes[0])
    return caption(figure, table)


def _separates_kinds(rows: pd.DataFrame, metric: str) -> bool:
    """Return whether all models trained on pairs are better than all others."""
    paired = rows["paired"] == "yes"
    return bool(rows.loc[paired, metric].max() < rows.loc[~paired, metric].min())
