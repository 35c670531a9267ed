"""Copies of train rows among generated ones: what metrics of overfitting see, and fidelity, diversity and novelty."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..arrays import as_rows, to_numpy
from ..errors import InvalidInput, shown
from ..figures.drawing import (
    COLOURS,
    COPYING_LABELS,
    DEGENERATE_FLD,
    GREY,
    MARKERS,
    UNITS,
    Drawing,
    caption,
    legend,
    panels,
    plain,
    requires_columns,
    short_fld,
)
from ..metrics.fld import FLD, fitted_density
from ..ranking import numeral
from .base import FLD_PAPER, experiment, grid
from .copying_data import Reference, Sets
from .federated_data import feature_function, image_stack
from .image_transforms import Transform, blur, crop, light_blur, posterize

Degrade = Callable[[np.ndarray, float, np.random.Generator], np.ndarray]
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
BLURS = (0.0, 0.4, 0.6, 0.8, 1.0)
DISTINCT = (1.0, 0.5, 0.25, 0.1, 0.05)
COPIED = (0.0, 0.25, 0.5, 0.75, 1.0)
TRANSFORMS: Mapping[str, Transform] = {
    "none": lambda rows, rng: rows,
    "noise, 0.1 sd": lambda rows, rng: _add_noise(rows, 0.1, rng),
    "noise, 0.3 sd": lambda rows, rng: _add_noise(rows, 0.3, rng),
}
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3)))


def _add_noise(rows: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    return rows + share * rows.std(axis=0) * rng.standard_normal(rows.shape)


class Material(NamedTuple):
    """Sets of rows; where these are images, flat, their shape; and what makes the rows that are scored of them."""

    sets: Sets
    shape: tuple[int, ...] | None = None
    features: Callable[[np.ndarray], np.ndarray] | None = None
    convention: str = ""

    @classmethod
    def of(cls, data: Any, source: Any, extractor: Any, seed: int) -> Material:
        """From `data`, or from images, of which features are scored; of digits, too, where there is an extractor."""
        is_digits = isinstance(data, str) and data == "digits"
        if source is None and extractor is None:
            return cls(Sets.of(data, seed), (8, 8) if is_digits else None)
        if not is_digits:
            other = "extractor" if source is None else "images"
            raise InvalidInput(other, "is given together with data", "Give images and an extractor, or data")
        pictures = image_stack(source)
        rng, flat = np.random.default_rng(seed), pictures.reshape(len(pictures), -1)
        train, test, fresh = np.split(rng.permutation(flat), [len(flat) // 2, len(flat) - len(flat) // 4])
        sets = Sets.of((train, test, fresh), seed)
        if extractor is None:
            return cls(sets, pictures.shape[1:])
        features, convention = feature_function(extractor)
        return cls(sets, pictures.shape[1:], lambda rows: features(rows.reshape(-1, *pictures.shape[1:])), convention)

    def to_features(self, rows: np.ndarray) -> np.ndarray:
        """What stands for these rows in the metrics."""
        return rows if self.features is None else self.features(rows)

    def on_images(self, change: Transform) -> Transform:
        """A change to images, for flat rows."""
        shape = self.shape or ()
        return lambda rows, rng: change(rows.reshape(-1, *shape), rng).reshape(rows.shape)

    def transforms(self) -> Mapping[str, Transform]:
        """The default ones: of images, or of other rows."""
        if self.shape is None:
            return TRANSFORMS
        height, width = (side - 2 * max(1, side // 8) for side in self.shape[:2])
        return {
            "none": lambda rows, rng: rows,
            "posterize to 5 bits": self.on_images(posterize),
            "light blur, σ = 0.5 pixels": self.on_images(light_blur),
            f"centre crop to {height} × {width}": self.on_images(crop),
            "heavy blur, σ = 1 pixel": self.on_images(lambda images, rng: blur(images, 1.0)),
        }

    def degrade(self) -> Degrade:
        """The default one: a blur of images, noise on other rows."""
        if self.shape is None:
            return _add_noise
        return lambda rows, sigma, rng: self.on_images(lambda images, _: blur(images, sigma))(rows, rng)

    def reference(self, seed: int) -> Reference:
        return Reference(self.to_features(self.sets.train), self.to_features(self.sets.test), seed)

    def conventions(self, *lines: str) -> list[str]:
        return [*lines, *filter(None, [self.convention])]


@experiment("F5", f"{FLD_PAPER}, Figure 7")
def novelty(
    share: Any = SHARES,
    *,
    data: Any = "digits",
    images: Any = None,
    extractor: Any = None,
    transforms: Mapping[str, Transform] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """FLD gap, FID gap, C_T and AuthPct as copies of train rows replace generated ones.

    A growing share of honest rows is replaced by distinct train rows, and all of them are transformed alike, so that
    fidelity and diversity stay while novelty goes. The paper finds that only the FLD gap falls under every transform.

    Parameters
    ----------
    share : shares of the generated rows that are copies, each in [0, 1]
    data : "digits" (898 train, 450 test, 449 fresh), "moons" (1,000, 1,000 and 500), or (train, test, fresh) rows,
        fresh at most half as many as train where FLD is to be about 0 for them
    images, extractor : instead of data, images of one size, as in `experiments.transforms`, and what makes features of
        them; their pixels where there is no extractor. With an extractor alone, of the digits
    transforms : name → function (rows, rng) -> rows; by default five for digits (none, posterize, light blur, crop of
        `image_transforms`, and a heavy blur of σ 1 pixel, where the paper has σ 1.4 on larger images), and none and
        noise in standard deviations of each feature for other rows
    seed : of the sets, the copies, the transforms and the metrics

    Returns
    -------
    DataFrame share, transform, fld_gap (FLD-train − FLD-test), fid_gap (FID-train − FID-test), c_t, auth_pct, fld.
    A low value of each of the first four is read as a sign of copies. Exact copies of everything have no FLD gap (NaN):
    neither train nor test is likely then, and FLD, at 10¹⁸, says so.

    What follows was seen over eight cuts of the digits into sets, from honest rows to copies only. Posterized or
    lightly blurred, copies lower all four. Under the crop AuthPct and C_T call a generator that only copies authentic
    (95 to 98 %, C_T 13 to 15). The FID gap, said in the paper to oscillate, falls by 0.02 to 0.07; but the cut alone
    moves it from −0.08 to 0.05 for honest rows, so its value tells nobody that these are copies. The FLD gap does: −6
    to −2 where honest rows have −1.2 to 3. Under the heavy blur copies move the FLD gap up as often as down, and the
    others fall by no more than the cut moves them for honest rows: none sees the copies there, where the paper's FLD
    gap, on DINOv2 features, does.

    On learned features (`extractor="digits-cnn"`), over three cuts, copies lower the FLD gap under the heavy blur too,
    by 0.2 to 1.8, and under the crop by 4.5 to 5.4, where AuthPct and C_T still call them authentic.
    """
    shares = grid(share, "share", minimum=0, maximum=1)
    material = Material.of(data, images, extractor, seed)
    sets, by_name = material.sets, material.transforms() if transforms is None else transforms
    if not isinstance(by_name, Mapping) or not by_name or not all(map(callable, by_name.values())):
        raise InvalidInput("transforms", f"got {shown(by_name)}", "Give a dict name → function (rows, rng) -> rows")
    reference = material.reference(seed)
    rows = []
    for (name, transform), part in itertools.product(by_name.items(), shares):
        generated = transform(np.concatenate(sets.with_copies(part, seed)), np.random.default_rng([seed, 2]))
        changed = to_numpy(as_rows(generated, f"transforms[{name!r}]", dim=sets.train.shape[1]))
        scores = reference.scores(material.to_features(changed))
        rows.append({"share": part, "transform": name, **scores, "fid_gap": scores["fid_train"] - scores["fid_test"]})
    table = pd.DataFrame(rows)[["share", "transform", "fld_gap", "fid_gap", "c_t", "auth_pct", "fld"]]
    table.attrs["conventions"] = material.conventions(*reference.conventions)
    return table


@experiment("F6", f"{FLD_PAPER}, Figure 8")
def interactions(
    fidelity: Any = BLURS,
    diversity: Any = DISTINCT,
    novelty: Any = COPIED,
    *,
    data: Any = "digits",
    images: Any = None,
    extractor: Any = None,
    degrade: Degrade | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """FLD over each pair of fidelity, diversity and novelty.

    The paper finds that fidelity weighs most and novelty least, until everything is a copy.

    Honest rows are spoilt in two ways at a time while the third stays at the first value of its range: train rows
    replace them, they are degraded, and a subset is repeated in place of the rest.

    Parameters
    ----------
    fidelity : strengths of `degrade`, 0 or more
    diversity : shares of distinct rows, each in (0, 1]
    novelty : shares of the rows that are copies of train rows, each in [0, 1]
    data : "digits", "moons" or (train, test, fresh) rows, as in `novelty`
    images, extractor : as in `novelty`
    degrade : function (rows, strength, rng) -> rows; by default a Gaussian blur of σ pixels for digits, and noise
        in standard deviations of each feature for other rows
    seed : of the sets, the copies, the noise and FLD's baseline

    Returns
    -------
    DataFrame fidelity, diversity, novelty, fld: the three faces of the box, one row a combination.

    On digits the paper's order holds: over three seeds the strongest blur costs 70 to 81 points, 5 % distinct rows 41
    to 44, three quarters of copies 20 to 21. Exact copies of everything end at the fit's bound, at 10¹⁸; under the
    lightest blur they cost 21 to 25 more than honest rows blurred alike.
    """
    strengths = grid(fidelity, "fidelity", minimum=0)
    distinct = grid(diversity, "diversity", minimum=1e-9, maximum=1)
    copied = grid(novelty, "novelty", minimum=0, maximum=1)
    material = Material.of(data, images, extractor, seed)
    worsen = material.degrade() if degrade is None else degrade
    if not callable(worsen):
        raise InvalidInput("degrade", f"got {shown(worsen)}", "Give a function (rows, strength, rng) -> rows")
    reference = material.reference(seed)
    centre = strengths[0], distinct[0], copied[0]
    box = itertools.product(dict.fromkeys(strengths), dict.fromkeys(distinct), dict.fromkeys(copied))
    rows = []
    for point in box:
        if sum(a != b for a, b in zip(point, centre)) <= 2:
            generated = material.to_features(_spoil_rows(material.sets, *point, worsen, seed))
            rows.append((*point, fitted_density(reference.real, generated[:, reference.kept], seed).fld))
    table = pd.DataFrame(rows, columns=["fidelity", "diversity", "novelty", "fld"])
    table.attrs["conventions"] = material.conventions(FLD(seed).convention, reference.conventions[-1])
    return table


def _spoil_rows(sets: Sets, strength: float, distinct: float, copied: float, degrade: Degrade, seed: int) -> np.ndarray:
    """Return copies and honest rows, degraded; of each part the first rows repeated, so that shares stay."""
    copies, honest = sets.with_copies(copied, seed)
    rows = np.concatenate([copies, honest])
    degraded = as_rows(degrade(rows, strength, np.random.default_rng([seed, 2])), "degrade", dim=rows.shape[1])
    parts = np.split(to_numpy(degraded), [len(copies)])
    return np.concatenate([np.resize(part[: max(1, round(distinct * len(part)))], part.shape) for part in parts])


@requires_columns("share transform fld_gap fid_gap c_t auth_pct")
def draw_novelty(table: pd.DataFrame) -> Drawing:
    """Four metrics of overfitting as copies of train rows replace generated ones (F5)."""
    figure, axes = panels(4, width=5.0, height=3.3, rows=2)
    axes[0].set_yscale("symlog", linthresh=10)  # first: limits do not follow a later change of scale
    for ax, (column, label) in zip(axes, COPYING_LABELS.items()):
        for k, (name, part) in enumerate(table.groupby("transform", sort=False)):
            inside = part[column].where(part[column].abs() < DEGENERATE_FLD)
            style = {"color": COLOURS[k % 6], "marker": MARKERS[k % len(MARKERS)], "linestyle": LINES[k % 6]}
            ax.plot(part["share"], inside, label=plain(name), markersize=5, **style)
        ax.set(xlabel="share of generated rows that are copies of train rows", ylabel=label, xlim=(-0.03, 1.03))
    _note_outside(axes[0], table, "fld_gap")
    for ax, honest in zip(axes[1:], (0, 0, 50)):
        ax.axhline(honest, color=GREY, linewidth=0.8, label="below it, the metric says: copies")
    legend(figure, *axes, columns=3)
    return caption(figure, table)


def _note_outside(ax: Any, table: pd.DataFrame, column: str) -> None:
    """Write where a point lies that would squeeze all others, and where there is none."""
    outside = table[~(table[column].abs() < DEGENERATE_FLD)]
    for position, (_, row) in enumerate(outside.iterrows()):
        where = "no value" if math.isnan(row[column]) else f"{short_fld(row[column])} ↓"
        text = f"{plain(row['transform'])}, at share {row['share']:g}: {where}"
        ax.annotate(text, (0.02, 0.03 + 0.07 * position), xycoords="axes fraction", fontsize=8)


@requires_columns("fidelity diversity novelty fld")
def draw_interactions(table: pd.DataFrame) -> Drawing:
    """FLD over each pair of fidelity, diversity and novelty (F6)."""
    arguments = table.attrs["arguments"]
    blurred = arguments.get("data") == "digits" and "degrade" in arguments
    labels = {
        "fidelity": f"fidelity: {'blur, σ in pixels' if blurred else 'strength of the degradation'}",
        "diversity": "diversity: share of distinct rows",
        "novelty": "novelty: share copied from train",
    }
    figure, axes = panels(3, width=4.3, height=4.4)
    usual = table.loc[table["fld"].abs() < DEGENERATE_FLD, "fld"]
    limits = {"vmin": usual.min(), "vmax": usual.max()}
    for ax, (x, y, fixed) in zip(
        axes,
        (
            ("diversity", "fidelity", "novelty"),
            ("novelty", "fidelity", "diversity"),
            ("novelty", "diversity", "fidelity"),
        ),
    ):
        face = table[table[fixed] == table[fixed].iloc[0]]
        cells = face.pivot(index=y, columns=x, values="fld").loc[face[y].unique(), face[x].unique()]
        image = ax.imshow(cells.to_numpy(), cmap="cividis", aspect="auto", origin="lower", **limits)
        for (i, j), value in np.ndenumerate(cells.to_numpy()):
            dark = image.norm(value) < 0.5
            text = short_fld(value) if abs(value) >= DEGENERATE_FLD else numeral(value, ".0f")
            ax.text(j, i, text, ha="center", va="center", fontsize=9, color="white" if dark else "black")
        ax.set_xticks(range(cells.shape[1]), [f"{v:g}" for v in cells.columns])
        ax.set_yticks(range(cells.shape[0]), [f"{v:g}" for v in cells.index])
        ax.set(xlabel=labels[x], ylabel=labels[y])
        ax.grid(False)
    outside = "max" if (table["fld"] >= DEGENERATE_FLD).any() else "neither"
    figure.colorbar(image, ax=list(axes), extend=outside, label=f"FLD ({UNITS['fld']}; lower is better)", shrink=0.9)
    return caption(figure, table)
