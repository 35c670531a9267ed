"""Generators of single classes against diverse ones, by avg and by all: digits, a published table, other features."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..datasets import published, trained_samples
from ..errors import InvalidInput, check_choice, check_count, check_flag, check_names, check_number, shown
from ..evaluation.evaluate import evaluate
from ..features import Extraction, extraction
from ..features.digits import DigitsCNN, random_weights
from ..features.extractors import Pixels
from ..federation import Federation
from ..figures.drawing import (
    GENERATORS,
    UNITS,
    Drawing,
    caption,
    generator_look,
    label,
    legend,
    panels,
    plain,
    requires_columns,
    whole_ticks,
)
from ..metrics.fid.metric import FID
from ..metrics.kid.kernels import RBF
from ..metrics.kid.metric import KID
from ..ranking import inverted_pairs, numeral
from .base import DISTRIBUTED, experiment, grid, named_kernels, wide_table
from .federated_data import (
    LabelledRows,
    add_conventions,
    class_and_noise_generators,
    extractor_list,
    extractor_name,
    split_halves,
)
from .generator_order import (
    PLACE_COLUMNS,
    SCORE_COLUMNS,
    finite_scores,
    inverted_by_metric,
    plot_places,
    plot_scatter,
    with_ranks,
)
from .image_sets import principal

PAIR_COLUMNS = "fid_inverted kid_inverted fid_avg_first fid_all_first kid_avg_first kid_all_first"
NOISE_LEVELS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
RANKED = {"fid": FID(), "kid": KID()}
COMPONENTS = 32
EXTRACTORS = ("pixels", "principal components", "digits-cnn", "untrained digits-cnn")
SCORE_KINDS = ("avg", "avg_rank", "all", "all_rank")
EXTRACTION_SETTINGS = tuple(inspect.signature(extraction).parameters)
# Of an extractor that is not at hand, or does not take these images.
REFUSED_ARGUMENTS = ("extractor", "weights", "download", "device", "source", "images")
END_COLUMNS = [f"{metric}_{what}_{end}" for metric in RANKED for what in SCORE_KINDS for end in ("first", "second")]
HATCHES = ("", "//", "..", "xx")


@experiment("E4", f"{DISTRIBUTED}, Figure 14")
def single_class(
    X: Any = None,
    y: Any = None,
    *,
    images: Any = None,
    extractor: Any = None,
    label: Any = 8,
    noise: float = 0.2,
    learned: bool = False,
    kernels: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """A single perfect class and diverse noisy copies, by avg and by all.

    In the paper FID-avg prefers the single class and FID-all the trained model.

    Half of each label's rows make the clients, one for each label. The other half makes two generators: the rows of one
    label as they are (perfect, but of one class), and all rows with Gaussian noise (diverse, but of less quality),
    which stand for the trained model of the paper.

    Parameters
    ----------
    X, y : (n, d) rows and (n,) labels; digits by default
    images, extractor : images instead of X, and what makes rows of them; see `class_federated`
    label : of the perfect generator
    noise : standard deviation of the noise, in units of X, or of grey values from 0 to 1
    learned : whether trained models stand beside them, "wgan-gp" and "ddpm", as in the paper: their last samples in
        `datasets.trained_samples`; of the digits alone
    kernels : names and kernels of KID; cubic "kid" and RBF "kid_rbf" (σ = √d) by default
    seed : of the halves and of the noise

    Returns
    -------
    DataFrame generator ("class 8", "noise 0.2", with `learned` "wgan-gp" and "ddpm"), and fid, kid, kid_rbf each with
    _avg, _all, _gap.
    On digits FID-avg prefers the single class and FID-all the copies for the labels 3, 8 and 9, and for 5 with most
    seeds; for the other six both prefer the copies. So it does for 8 on learned features (`extractor="digits-cnn"`,
    noise 0.1), and there alone; there it prefers 8 to both trained models, too, and FID-all and KID do not. In the
    paper KID prefers the perfect class slightly; on digits it prefers the noisy copies clearly. In both it does so by
    avg and by all, since the gap is one number for all generators.
    """
    level = check_number(noise, "noise", minimum=0)
    chosen = {"kid": None, "kid_rbf": RBF()} if kernels is None else kernels
    metrics = ["fid", *(KID(kernel, name=name) for name, kernel in named_kernels(chosen).items())]
    check_names(["fid", *chosen], "kernels")
    items = LabelledRows.of(X, y, images, extractor)
    kept = f"class {check_choice(str(label), items.by_label(), 'label')}"
    clients, generating = split_halves(items, seed)
    named = class_and_noise_generators(generating, [level], seed)
    generators = {name: source for name, source in named.items() if name == kept or name.startswith("noise")}
    if check_flag(learned, "learned"):
        generators |= _trained_model_samples(items, X is None and images is None)
    federation = Federation.from_labels(clients.rows, clients.labels)
    return add_conventions(wide_table(evaluate(federation, generators, metrics, progress=False)), items)


def _trained_model_samples(items: LabelledRows, are_digits: bool) -> dict[str, Any]:
    """Return the last samples of a WGAN-GP and a DDPM trained on digits, as rows like those of the items."""
    if not are_digits:
        raise InvalidInput("learned", "is True together with your own data", "The package's models know only digits")
    samples = trained_samples("checkpoints")
    last = {str(model): rows for model, rows, seed in zip(samples.model, samples.rows, samples.seed) if seed == 0}
    if items.extraction is None:
        return last
    pictures = {name: np.round(255 * rows).astype(np.uint8).reshape(-1, 8, 8) for name, rows in last.items()}
    return {name: items.extraction.rows(images) for name, images in pictures.items()}


@experiment("E5", f"{DISTRIBUTED}, Table 2 and Figure 15 right")
def published_ranks(
    table: Any = None,
    *,
    X: Any = None,
    y: Any = None,
    parts: int | None = None,
    estimator: Any = None,
    seed: int = 0,
) -> pd.DataFrame:
    """FID and KID of many generators by avg and by all: scores, places and inverted pairs.

    By default the published scores of the 100 classes of CIFAR-100 as generators, on federated CIFAR-10. Or scores of
    your own in `table`, or scores of data: half of each label's rows make the clients, one for each label, and the
    other half the generators, each label cut along its first principal component into `parts` equal ones.
    `order_summary` puts such tables side by side.

    Parameters
    ----------
    table : DataFrame whose first column names the generators, with fid_avg, fid_all, kid_avg, kid_all
    X, y : (n, d) rows and (n,) labels to compute scores of
    parts : generators made of each label of `y`, 10 by default
    estimator : of KID on X, y; by default "unbiased" on all pairs, or `nm.Subsets(100, 1000)`, the default of most
        packages
    seed : of the halves

    Returns
    -------
    DataFrame generator, fid and kid each with _avg, _all, _gap, and places _avg_rank, _all_rank (1 = best, ties
    share the best place). In the published table KID-avg − KID-all is not constant, as the theorem says it is,
    but has sd 0.0022, and 81 of 4,950 pairs are inverted. Rounding is monotone, so it inverts no pair. The paper does
    not say how its KID was estimated. Most likely on random subsets, the default of most packages: on digits these do
    the same, and KID on all pairs never does.
    """
    if X is not None or y is not None:
        if table is not None:
            raise InvalidInput("table", "is given together with X and y", "Give scores, or data to compute them from")
        count = 10 if parts is None else check_count(parts, "parts")
        scores = _class_scores(X, y, count, "unbiased" if estimator is None else estimator, seed)
    else:
        for name, value in (("parts", parts), ("estimator", estimator)):
            if value is not None:
                raise InvalidInput(name, f"is {shown(value)}, and there is no data", "Give X and y, or leave it out")
        scores = _scores_with_gaps(published("cifar100_on_federated_cifar10") if table is None else table)
    return with_ranks(scores, {"fid": FID(), "kid": KID()})


def _class_scores(X: Any, y: Any, parts: int, estimator: Any, seed: int) -> pd.DataFrame:
    clients, generating = split_halves(LabelledRows.of(X, y), seed)
    rows, generators = generating.rows, dict[str, np.ndarray]()
    for name, index in generating.by_label().items():
        if len(index) < 2 * parts:
            seen = f"is {parts}, and the half of label {shown(name)} has {len(index)} rows"
            raise InvalidInput("parts", seen, f"Give at most {len(index) // 2}, for 2 rows each")
        centred = rows[index] - rows[index].mean(axis=0)
        along = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
        cut = np.array_split(index[np.argsort(along, kind="stable")], parts)
        generators |= {f"{name}, part {k}": rows[part] for k, part in enumerate(cut, 1)}
    federation = Federation.from_labels(clients.rows, clients.labels)
    return wide_table(evaluate(federation, generators, ["fid", KID(estimator=estimator)], progress=False))


def _scores_with_gaps(table: Any) -> pd.DataFrame:
    """Return scores as printed, with their gaps; the source says how they were made."""
    columns = ["fid_avg", "fid_all", "kid_avg", "kid_all"]
    missing = [c for c in columns if c not in getattr(table, "columns", ())]
    if missing:
        raise InvalidInput("table", f"has no column {', '.join(missing)}", f"Give a DataFrame with {columns}")
    if not len(table):
        raise InvalidInput("table", "has no rows", "Give a row for each generator")
    scores = finite_scores(table, columns)
    result = pd.DataFrame({"generator": table.iloc[:, 0].astype(str).to_numpy()})
    for metric in ("fid", "kid"):
        avg, pooled = (scores[f"{metric}_{a}"].to_numpy() for a in ("avg", "all"))
        result = result.assign(**{f"{metric}_avg": avg, f"{metric}_all": pooled, f"{metric}_gap": avg - pooled})
    source = table.attrs.get("source")
    conventions = [f"scores as printed: {source}"] if source else table.attrs.get("conventions", ["scores as given"])
    result.attrs["conventions"] = conventions
    return result


@experiment("E3", f"{DISTRIBUTED}, Appendix E.1")
def class_federated(
    X: Any = None,
    y: Any = None,
    *,
    images: Any = None,
    extractor: Any = None,
    noise: Any = NOISE_LEVELS,
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
    items = LabelledRows.of(X, y, images, extractor)
    clients, generating = split_halves(items, seed)
    groups = list(generating.by_label().values())
    counts = [k for k in (2, 4, 6, 8) if k < len(groups)]
    if classes is not None:
        few = grid(classes, "classes", minimum=2, maximum=len(groups))
        counts = [check_count(k, "classes") for k in dict.fromkeys(few)]
    generators = class_and_noise_generators(generating, levels, seed)
    generators |= {f"first {k} classes": generating.rows[np.concatenate(groups[:k])] for k in counts}
    federation = Federation.from_labels(clients.rows, clients.labels)
    scores = evaluate(federation, generators, ["fid", "kid"], progress=False)
    return with_ranks(add_conventions(wide_table(scores), items), RANKED)


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
    named = _extractors_by_name(extractors)
    levels = grid(noise, "noise", minimum=0)
    count = None if per_class is None else check_count(per_class, "per_class", minimum=4)
    start = LabelledRows.of(None, y, images, "pixels")
    if count is not None:
        rng = np.random.default_rng([seed, 3])
        start = start.part(np.concatenate([rng.permutation(index)[:count] for index in start.by_label().values()]))
    parts, lines = [], []
    for name, extractor in named.items():
        try:
            table, line = _scores_by_pair(start, extractor, levels, seed)
        except InvalidInput as error:
            if error.argument not in REFUSED_ARGUMENTS:
                raise
            table, line = pd.DataFrame({"first": [""], "second": [""], "note": [str(error)]}), []
        parts.append(table.assign(extractor=name))
        lines += [f"{name}: {text}" for text in line]
    columns = ["extractor", "first", "second", "fid_inverted", "kid_inverted", *END_COLUMNS, "note"]
    result = pd.concat(parts, ignore_index=True).reindex(columns=columns)
    result.attrs["conventions"] = [*(metric.convention for metric in RANKED.values()), *lines]
    return result


def _extractors_by_name(extractors: Any) -> dict[str, Any]:
    if not isinstance(extractors, Mapping):
        return {extractor_name(extractor): extractor for extractor in extractor_list(extractors)}
    if not extractors:
        raise InvalidInput("extractors", "is empty", "Give names, or a dict name → extractor")
    for extractor in extractors.values():
        if not isinstance(extractor, (str, Mapping)) and not callable(extractor):
            raise InvalidInput("extractors", f"holds {shown(extractor)}", "Give names, functions or dicts of settings")
    return {str(name): extractor for name, extractor in extractors.items()}


def _scores_by_pair(
    start: LabelledRows, extractor: Any, levels: list[float], seed: int
) -> tuple[pd.DataFrame, list[str]]:
    """Return the pairs of generators on these features, and what the features are."""
    settled = _resolve_extractor(start, extractor, seed)
    items = LabelledRows(settled.rows(start.pictures), start.labels, start.pictures, settled)
    clients, generating = split_halves(items, seed)
    federation = Federation.from_labels(clients.rows, clients.labels)
    scores = evaluate(federation, class_and_noise_generators(generating, levels, seed), ["fid", "kid"], progress=False)
    return _pair_table(with_ranks(wide_table(scores), RANKED)), items.conventions


def _resolve_extractor(start: LabelledRows, extractor: Any, seed: int) -> Extraction:
    if isinstance(extractor, str) and extractor == "principal components":
        return Extraction(_Principal(split_halves(start, seed)[0].rows), cache=False, progress=False)
    if isinstance(extractor, str) and extractor == "untrained digits-cnn":
        return Extraction(DigitsCNN(random_weights(seed)), cache=False, progress=False)
    options = extractor if isinstance(extractor, Mapping) else {"extractor": extractor}
    for setting in options:
        check_choice(setting, EXTRACTION_SETTINGS, "extractors")
    return extraction(**{"progress": False, **options})


class _Principal:
    """The first principal components of pixels, as an extractor."""

    name = fingerprint = "principal components"

    def __init__(self, pixels: np.ndarray) -> None:
        self._pixels, self._features = Pixels(), principal(pixels, COMPONENTS)
        self.convention = f"the first {min(COMPONENTS, *pixels.shape)} principal components of the clients' pixels"

    def __call__(self, batch: Sequence[np.ndarray]) -> np.ndarray:
        return self._features(self._pixels(batch)).astype(np.float32)


def _pair_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each pair of generators, with the scores and places of both."""
    first, second = np.triu_indices(len(table), 1)
    names = table["generator"].to_numpy()
    pairs = pd.DataFrame({"first": names[first], "second": names[second], "note": ""})
    for metric in RANKED:
        turned = {frozenset(pair) for pair in inverted_pairs(table[f"{metric}_avg"], table[f"{metric}_all"]).tolist()}
        inverted = [frozenset(pair) in turned for pair in zip(first.tolist(), second.tolist(), strict=True)]
        ends = {
            f"{metric}_{column}_{end}": table[f"{metric}_{column}"].to_numpy()[index]
            for column in SCORE_KINDS
            for end, index in (("first", first), ("second", second))
        }
        pairs = pairs.assign(**{f"{metric}_inverted": inverted}, **ends)
    return pairs


@requires_columns("generator *_avg *_all")
def draw_single_class(table: pd.DataFrame) -> Drawing:
    """Each generator's avg joined with its all: crossing lines are an inversion, parallel ones have one gap (E4)."""
    metrics = _metrics_of(table)
    figure, axes = panels(len(metrics), width=3.4)
    for ax, metric in zip(axes, metrics, strict=True):
        ends = table[[f"{metric}_avg", f"{metric}_all"]].to_numpy()
        for k, (name, y) in enumerate(zip(table["generator"], ends, strict=True)):
            ax.plot([0, 1], y, linestyle="-" if k == 0 else "--", label=plain(name), **generator_look(k))
        ax.set_title(_verdict(*ends.T), fontsize=10)
        ax.set_xticks([0, 1], ["avg", "all"])
        ax.set_xlim(-0.25, 1.25)
        ax.set_ylabel(f"{label(metric)} ({UNITS.get(metric, UNITS['kid'])}; lower is better)")
    legend(figure, axes[0])
    return caption(figure, table)


def _verdict(avg: np.ndarray, pooled: np.ndarray) -> str:
    """Return in words whether the lines from avg to all cross."""
    if len(inverted_pairs(avg, pooled)):
        return "lines cross: avg and all disagree"
    # A gap is the difference of two scores, each of them known to a few of its last digits.
    one_gap = np.ptp(avg - pooled) <= 1e-9 * np.abs([avg, pooled]).max()
    return "parallel: one gap for both" if one_gap else "no crossing, but the gaps differ"


@requires_columns(f"generator {SCORE_COLUMNS} {PLACE_COLUMNS}")
def draw_published_ranks(table: pd.DataFrame) -> Drawing:
    """FID and KID of many generators: avg against all, and their places, inverted pairs joined (E5)."""
    return _draw_avg_against_all(table)


@requires_columns(f"generator {SCORE_COLUMNS} {PLACE_COLUMNS}")
def draw_class_federated(table: pd.DataFrame) -> Drawing:
    """FID and KID on clients of one class: avg against all, and their places, inverted pairs joined (E3)."""
    return _draw_avg_against_all(table)


def _draw_avg_against_all(table: pd.DataFrame) -> Drawing:
    figure, axes = panels(4, width=4.8, rows=2)
    for column, metric in enumerate(("fid", "kid")):
        pairs = inverted_by_metric(table, metric)
        gap = table[f"{metric}_gap"]
        mean, spread = gap.mean(), numeral(gap.std(), ".2g", beside=gap.mean())
        counted = f"{len(pairs):,} of {len(table) * (len(table) - 1) // 2:,} pairs inverted"
        plot_scatter(axes[column], table, metric, pairs)
        axes[column].set_title(f"{counted}; avg − all = {numeral(mean, '.3g')}, sd {spread}", fontsize=10)
        plot_places(axes[column + 2], table, metric, pairs)
    legend(figure, *axes)
    return caption(figure, table)


@requires_columns(f"extractor first second {PAIR_COLUMNS}")
def draw_extractors_compared(table: pd.DataFrame) -> Drawing:
    """How many pairs of generators avg and all order differently on each kind of features (E14)."""
    metrics, names = ("fid", "kid"), list(table["extractor"].unique())
    figure, axes = panels(len(metrics), width=5.2, height=1.2 + 0.55 * len(names))
    pairs_by_extractor = table[table["first"].notna() & (table["first"] != "")]
    for ax, metric in zip(axes, metrics, strict=True):
        start = np.zeros(len(names))
        for k, (kind, rows) in enumerate(pairs_by_extractor.groupby(_kind_of_pair(pairs_by_extractor), sort=False)):
            inverted = rows.groupby("extractor")[f"{metric}_inverted"].sum().reindex(names).fillna(0).to_numpy(float)
            color = GENERATORS[k % len(GENERATORS)]
            look: dict[str, Any] = {"color": color, "hatch": HATCHES[k % len(HATCHES)], "edgecolor": "white"}
            ax.barh(np.arange(len(names)), inverted, left=start, height=0.6, label=f"inverted: {kind}", **look)
            start += inverted
        counts = pairs_by_extractor.groupby("extractor").size().reindex(names)
        for row, (count, pair_count) in enumerate(zip(start, counts, strict=True)):
            text = "no numbers here" if np.isnan(pair_count) else f"{count:.0f} of {pair_count:.0f}"
            ax.annotate(text, (count, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9)
        ax.set_yticks(np.arange(len(names)), [plain(name) for name in names])
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.set_xlim(0, max(1.0, 1.3 * start.max()))
        whole_ticks(ax.xaxis)
        ax.set_xlabel(f"pairs that {label(metric)}-avg and -all order differently")
    if len(pairs_by_extractor):
        legend(figure, axes[0])
    return caption(figure, table)


def _kind_of_pair(table: pd.DataFrame) -> pd.Series:
    """Return the kind of each pair, such as "class and noise", by the first words of both names."""
    words = [table[end].astype(str).str.split().str[0] for end in ("first", "second")]
    return words[0] + " and " + words[1]


def _metrics_of(table: pd.DataFrame) -> list[str]:
    names = [str(c).removesuffix("_avg") for c in table if str(c).endswith("_avg")]
    return [metric for metric in names if f"{metric}_all" in table]
