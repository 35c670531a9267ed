"""Experiments on samples: what transforms, missing classes and copies do; ranks, sample sizes, published models."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

import nbmetrics as nm
from nbmetrics import figures
from nbmetrics.datasets import digits
from nbmetrics.errors import InvalidInput
from nbmetrics.experiments.image_transforms import IMPERCEPTIBLE, LARGE, TRANSFORMS, blur
from tests.slow import slow

run = nm.experiments


def flat(images):
    return images.reshape(len(images), -1)


@pytest.fixture(scope="module")
def transformed():
    return run.transforms((0, 0.5, 1))


@pytest.fixture(scope="module")
def ranked():
    return run.ranked_samples(6)


@pytest.fixture(scope="module")
def small_images():
    """120 train, 60 test and 60 generated images of 6 × 6 pixels, brighter to one side."""
    rng = np.random.default_rng(0)
    images = np.clip(rng.beta(2, 2, (240, 6, 6)) * np.linspace(0.3, 1, 6), 0, 1)
    return {"train": images[:120], "test": images[120:180], "generated": images[180:]}


# F3


@pytest.mark.slow
def test_large_transforms_raise_fld_and_fid_with_their_share(transformed):
    for _, rows in transformed[transformed["kind"] == "large"].groupby("transform"):
        assert rows["fld"].is_monotonic_increasing and rows["fld"].iloc[-1] > rows["fld"].iloc[0] + 4
        assert rows["fid"].is_monotonic_increasing and rows["fid"].iloc[-1] > 3 * rows["fid"].iloc[0]


@pytest.mark.slow
def test_every_large_transform_costs_more_fld_than_every_imperceptible_one(transformed):
    whole = transformed[transformed["share"] == 1].groupby("kind")["fld"]
    assert whole.min()["large"] > whole.max()["imperceptible"] + 4


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_light_blur_costs_as_much_fid_as_recolouring_and_no_fld(seed):
    table = run.transforms((0, 1), ["light_blur", "colour"], seed=seed)
    clean, blurred = table[table["transform"] == "light_blur"].to_dict("records")
    recoloured = table.iloc[-1]
    assert blurred["fid"] > 3 * clean["fid"] and blurred["fid"] > 0.9 * recoloured["fid"]
    assert blurred["fld"] < clean["fld"] < recoloured["fld"] - 4


def test_untouched_and_wholly_transformed_images_score_as_fld_and_fid_do(small_images):
    table = run.transforms((0, 1), "crop", **small_images, features=flat, seed=3)
    train, test, made = (flat(small_images[name]) for name in ("train", "test", "generated"))
    cropped = flat(LARGE["crop"](small_images["generated"], np.random.default_rng()))
    assert np.allclose(table["fld"], [nm.fld(train, test, x, seed=3) for x in (made, cropped)])
    assert np.allclose(table["fid"], [nm.fid(test, x) for x in (made, cropped)])


def test_half_a_share_transforms_half_of_the_images(small_images):
    def brightness(images):
        return np.stack([images.mean(axis=(1, 2)), images[:, 0, 0]], axis=1)

    images = {**small_images, "generated": np.ones((60, 6, 6))}
    table = run.transforms((0, 0.5), "crop", **images, features=brightness)
    corner = np.repeat([1.0, 0.0], 30)
    mixed = np.stack([np.where(corner == 1, 1, 16 / 36), corner], axis=1)
    assert np.allclose(table["fid"].iloc[1], nm.fid(brightness(images["test"]), mixed))


@pytest.mark.parametrize("shape", [(5, 8, 8), (5, 16, 12, 3)])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_keep_shape_and_range_and_leave_their_input_alone(name, shape):
    images = np.random.default_rng(0).random(shape)
    before = images.copy()
    changed = TRANSFORMS[name](images, np.random.default_rng(1))
    assert changed.shape == shape and changed.min() >= 0 and changed.max() <= 1
    assert np.array_equal(images, before) and not np.array_equal(changed, images)
    assert np.array_equal(changed, TRANSFORMS[name](images, np.random.default_rng(1)))


def test_imperceptible_transforms_move_pixels_less_than_large_ones():
    images = digits()[0][:200].reshape(-1, 8, 8)
    rng = np.random.default_rng(0)
    moved = {name: np.abs(change(images, rng) - images).mean() for name, change in TRANSFORMS.items()}
    assert max(moved[name] for name in IMPERCEPTIBLE) < min(moved[name] for name in LARGE)


def test_posterize_keeps_five_bits():
    images = np.linspace(0, 1, 256).reshape(1, 16, 16)
    levels = np.unique(np.round(TRANSFORMS["posterize"](images, np.random.default_rng()) * 255))
    assert np.array_equal(levels, np.arange(0, 256, 8))


@pytest.mark.parametrize("shape", [(2, 8, 12), (2, 9, 7, 3)])
def test_resize_keeps_the_shape_and_what_is_smooth_and_loses_what_half_the_pixels_cannot_hold(shape):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    smooth = np.full(shape, 0.4)
    checks = np.broadcast_to(
        (np.indices(shape[1:3]).sum(axis=0) % 2).reshape(shape[1:3] + (1,) * (len(shape) - 3)), shape
    )
    resized = {name: TRANSFORMS["resize"](x, rng) for name, x in (("smooth", smooth), ("checks", checks))}
    assert resized["smooth"].shape == shape and np.abs(resized["smooth"] - 0.4).max() < 1e-12
    assert resized["checks"].std() < 0.5 * checks.std()
    pixels = np.round(rng.random(shape) * 255).astype(np.uint8)
    height, width = shape[1:3]
    small = image.fromarray(pixels[1]).resize((width // 2, height // 2), image.Resampling.BICUBIC)
    wanted = np.asarray(small.resize((width, height), image.Resampling.BICUBIC)) / 255
    np.testing.assert_array_equal(TRANSFORMS["resize"](pixels / 255, rng)[1], wanted)


def test_crop_blackens_the_border_only():
    changed = TRANSFORMS["crop"](np.ones((1, 8, 8)), np.random.default_rng())
    assert changed.sum() == 36 and changed[0, 1:7, 1:7].all()


def test_light_blur_is_a_gaussian_kernel_of_half_a_pixel():
    image = np.zeros((1, 9, 9))
    image[0, 4, 4] = 1
    weights = np.exp(-(np.arange(-2, 3) ** 2) / (2 * 0.5**2))
    expected = np.outer(weights, weights) / weights.sum() ** 2
    blurred = TRANSFORMS["light_blur"](image, np.random.default_rng())[0]
    assert np.allclose(blurred[2:7, 2:7], expected) and np.isclose(blurred.sum(), 1)


def test_blurs_share_one_kernel_of_five_pixels_and_none_is_no_change():
    image = np.zeros((1, 9, 9))
    image[0, 4, 4] = 1
    assert (blur(image, 1.4)[0] > 0).sum() == 25 and np.isclose(blur(image, 1.4).sum(), 1)
    assert np.array_equal(blur(image, 0.0), image)


def test_elastic_moves_pixels_by_eight_tenths():
    ramp = np.tile(np.linspace(0, 1, 64), (50, 64, 1))
    moved = (TRANSFORMS["elastic"](ramp, np.random.default_rng(0)) - ramp)[:, 5:-5, 5:-5] * 63
    assert np.sqrt(np.mean(moved**2)) == pytest.approx(0.8, rel=0.1)


def test_rotation_is_by_fifteen_to_thirty_degrees():
    images = np.zeros((40, 65, 65))
    images[:, 30:35, 44:49] = 1  # 14 pixels right of the centre
    grid = np.indices((65, 65)) - 32
    angles = []
    for image in TRANSFORMS["rotate"](images, np.random.default_rng(0)):
        y, x = ((axis * image).sum() / image.sum() for axis in grid)
        angles.append(math.degrees(math.atan2(y, x)))
    assert min(np.abs(angles)) > 14 and max(np.abs(angles)) < 31 and min(angles) < 0 < max(angles)


# F4


def test_fld_and_fid_fall_as_classes_are_added():
    table = run.diversity((1, 3, 6, 10), 1)
    assert list(table["classes"]) == [1, 3, 6, 10] and (table["copies"] == 1).all()
    assert table["fld"].is_monotonic_decreasing and table["fld"].iloc[0] > table["fld"].iloc[-1] + 10
    assert table["fid"].is_monotonic_decreasing and table["fid"].iloc[0] > 5 * table["fid"].iloc[-1]


def test_copies_of_itself_raise_fld_and_fid():
    table = run.diversity(10, (1, 4, 16))
    assert list(table["copies"]) == [1, 4, 16] and (table["classes"] == 10).all()
    assert table["fld"].is_monotonic_increasing and table["fld"].iloc[-1] > table["fld"].iloc[0] + 20
    assert table["fid"].is_monotonic_increasing


def test_all_rows_once_score_as_fld_and_fid_do():
    rng = np.random.default_rng(0)
    train, test, made = (rng.standard_normal((n, 3)) for n in (100, 50, 40))
    labels = np.repeat(["a", "b"], 20)
    whole = run.diversity(1, 1, train=train, test=test, generated=made[:20], labels=labels[:20], repeats=2)
    assert whole["fld"].iloc[0] == pytest.approx(nm.fld(train, test, made[:20]))
    copied = run.diversity(2, 20, train=train, test=test, generated=made, labels=labels, jitter=0, repeats=1)
    alone = [nm.fid(test, np.repeat(row[None], 20, axis=0)) for row in made]
    assert np.isclose(alone, copied["fid"].iloc[-1]).any() and len(copied) == 2


# F7


def test_exact_copies_of_train_rank_first_then_noisy_ones(ranked):
    rows = ranked[ranked["by"] == "memorization"]
    made = rows["generated"].max() + 1
    assert set(rows["generated"][:6]) == set(range(made - 6, made))
    assert set(rows["generated"][6:12]) == set(range(made - 12, made - 6))
    assert (rows["distance"][:6] == 0).all() and (rows["distance"][6:] > 0).all()
    assert np.allclose(rows["score"][:6], 20 - 0.5 * math.log(2 * math.pi))  # log-variance at its floor of −40


def test_each_image_stands_beside_its_nearest_train_image(small_images):
    table = run.ranked_samples(**small_images, features=flat)
    train, test, made = (flat(small_images[name]) for name in ("train", "test", "generated"))
    far = cdist(made, train)
    for _, rows in table.groupby("by"):
        assert sorted(rows["generated"]) == list(range(60)) and list(rows["rank"]) == list(range(1, 61))
        assert np.array_equal(rows["train"], far.argmin(axis=1)[rows["generated"]])
        assert np.allclose(rows["distance"], far.min(axis=1)[rows["generated"]])
        assert rows["score"].is_monotonic_decreasing
    memorized, liked = (rows for _, rows in table.groupby("by"))
    assert np.allclose(memorized["score"], nm.memorization_scores(train, test, made)[memorized["generated"]])
    assert np.allclose(liked["score"], nm.quality_scores(train, test, made)[liked["generated"]])


def test_quality_ranks_static_last(small_images):
    made = small_images["generated"].copy()
    made[7] = np.random.default_rng(0).integers(0, 2, (6, 6))
    table = run.ranked_samples(**{**small_images, "generated": made}, features=flat)
    assert table[table["by"] == "quality"]["generated"].iloc[-1] == 7


def test_ranked_tables_copy_join_and_print(ranked):
    assert ranked.copy().attrs["pictures"] is ranked.attrs["pictures"]
    assert len(pd.concat([ranked, ranked])) == 2 * len(ranked)
    assert repr(ranked.attrs["pictures"]) == "Pictures(898 train, 450 test, 461 generated, each 8 × 8)"


# F8


def test_fid_is_biased_on_few_test_rows_and_fld_and_kid_are_not():
    table = run.sample_size((50, 100, 200, 400), repeats=5).set_index("test_size")
    change = table.iloc[0] - table.iloc[-1]
    assert table["fid"].is_monotonic_decreasing and change["fid"] > 4 * table["fid_sd"].iloc[0]
    for metric in ("fld", "kid"):
        assert abs(change[metric]) < table[f"{metric}_sd"].iloc[0]
        assert table[f"{metric}_sd"].iloc[0] > table[f"{metric}_sd"].iloc[-1]
    # a bias in proportion to 1/n: from 50 to 200 rows twice what it is from 100 to 400
    ratio = (table["fid"][50] - table["fid"][200]) / (table["fid"][100] - table["fid"][400])
    assert 1.6 < ratio < 2.5


def test_all_test_rows_score_as_the_metrics_do():
    rng = np.random.default_rng(0)
    train, test, made = (rng.standard_normal((n, 3)) for n in (100, 50, 40))
    row = run.sample_size(50, train=train, test=test, generated=made, repeats=2).iloc[0]
    assert np.allclose(row[["fld", "fid", "kid"]], [nm.fld(train, test, made), nm.fid(test, made), nm.kid(test, made)])
    assert np.allclose(row[["fld_sd", "fid_sd", "kid_sd"]], 0, atol=1e-10)


# F9


def tau(a, b):
    """Kendall's τ without ties, by counting pairs."""
    a, b = (np.sign(np.subtract.outer(x, x))[np.triu_indices(len(x), 1)] for x in map(np.asarray, (a, b)))
    assert (a != 0).all() and (b != 0).all()
    return (a * b).mean()


def test_published_models_are_ranked_alike_with_the_exceptions_the_paper_names():
    table = run.published_models()
    assert len(table) == 46 and table.columns[0] == "model"
    by_group = {key: rows.set_index("model") for key, rows in table.groupby(["features", "dataset"])}
    taus = {key: tau(rows["fld"], rows["fid"]) for key, rows in by_group.items()}
    for key, rows in by_group.items():
        assert tau(rows["fld_rank"], rows["fid_rank"]) == pytest.approx(taus[key])
        assert sorted(rows["fld_rank"]) == sorted(rows["fid_rank"]) == list(range(1, len(rows) + 1))
    # "FLD yields a similar model ranking as FID with some exceptions (for example MHGAN vs BigGAN-Deep on CIFAR10)"
    assert min(value for (features, _), value in taus.items() if features == "DINOv2") > 0.75
    swapped = by_group["DINOv2", "CIFAR10"].loc[["MHGAN", "BigGAN-Deep"]]
    assert list(swapped["fld_rank"]) == [5, 6] and list(swapped["fid_rank"]) == [6, 5]
    # Table 2: "many models obtain a better NLL than the train set on ImageNet"
    assert (by_group["Inception-V3", "ImageNet256"]["fld"] < 0).sum() == 4
    assert min(taus, key=taus.get) == ("Inception-V3", "ImageNet256")


# F11


def test_every_metric_takes_some_time():
    table = run.timing((50, 100), dim=4, others=100, repeats=1)
    names = [f"{name}_seconds" for name in ("fid", "kid", "fld", "c_t", "auth_pct", "prdc")]
    assert list(table) == ["train_rows", *names] and list(table["train_rows"]) == [50, 100]
    assert (table[names] > 0).all(axis=None)


# All of them

ROWS = np.random.default_rng(0).standard_normal((30, 2))
IMAGES = np.zeros((30, 4, 4))
LABELLED = {"train": ROWS, "test": ROWS, "generated": ROWS}


@pytest.mark.parametrize(
    ("name", "arguments", "argument"),
    [
        ("transforms", {"share": 1.2}, "share"),
        ("transforms", {"names": ["blur"]}, "names"),
        ("transforms", {"names": []}, "names"),
        ("transforms", {"train": IMAGES}, "test"),
        ("transforms", {"train": ROWS, "test": IMAGES, "generated": IMAGES}, "train"),
        ("transforms", {"train": IMAGES + 2, "test": IMAGES, "generated": IMAGES}, "train"),
        ("transforms", {"train": IMAGES, "test": IMAGES[:, :3], "generated": IMAGES}, "test"),
        ("transforms", {"features": lambda images: np.zeros((1, 2))}, "features"),
        ("transforms", {"features": 3}, "features"),
        ("ranked_samples", {"features": "pixels"}, "features"),
        ("transforms", {"seed": -1}, "seed"),
        ("diversity", {"classes": 11}, "classes"),
        ("diversity", {"copies": 0}, "copies"),
        ("diversity", {"copies": 1000}, "copies"),
        ("diversity", {"repeats": 0}, "repeats"),
        ("diversity", {"jitter": -1}, "jitter"),
        ("diversity", LABELLED, "labels"),
        ("diversity", LABELLED | {"labels": [1, 2]}, "labels"),
        ("diversity", LABELLED | {"labels": range(30)}, "labels"),
        ("diversity", LABELLED | {"labels": [*[1.0] * 10, *[2.0] * 10, *[np.nan] * 10]}, "labels"),
        ("diversity", LABELLED | {"labels": [*["a"] * 29, None]}, "labels"),
        ("ranked_samples", {"copies": -1}, "copies"),
        ("ranked_samples", {"copies": 500}, "copies"),
        ("sample_size", {"test_size": 1}, "test_size"),
        ("sample_size", {"test_size": 5000}, "test_size"),
        ("sample_size", {"repeats": 1}, "repeats"),
        ("sample_size", {"train": ROWS, "test": ROWS[:, :1], "generated": ROWS}, "test"),
        ("sample_size", {"train": ROWS, "test": ROWS, "generated": ROWS, "test_size": 9, "seed": -1}, "seed"),
        ("timing", {"train_rows": 5}, "train_rows"),
        ("timing", {"metrics": ["fod"]}, "metrics"),
        ("timing", {"metrics": []}, "metrics"),
        ("timing", {"others": 10}, "others"),
    ],
)
def test_bad_arguments_are_named(name, arguments, argument):
    with pytest.raises(InvalidInput) as error:
        getattr(run, name)(**arguments)
    assert error.value.argument == argument


def test_the_most_copies_there_can_be_are_told_as_a_whole_number():
    with pytest.raises(InvalidInput, match=r"^copies: got 10000\. Give a whole number from 0 to 449"):
        run.ranked_samples(10_000)


@pytest.mark.parametrize(
    ("name", "arguments", "labels", "lines"),
    [
        *slow(
            ("transforms", {"share": (0, 1), "names": ["crop", "posterize"]}, ["FLD", "FID"], [2, 2]),
            ("diversity", {"classes": (1, 10), "copies": (1, 2), "repeats": 2}, ["FLD", "FLD", "FID", "FID"], None),
            ("published_models", {}, [""] * 6, [8, 9, 6] * 2),
        ),
        ("sample_size", {"test_size": (50, 100), "repeats": 2}, ["FLD", "FID", "KID"], None),
        ("timing", {"train_rows": (50, 100), "dim": 2, "others": 100, "repeats": 1}, ["time (s)"], [6]),
    ],
)
def test_each_table_has_its_figure(name, arguments, labels, lines):
    figure = figures.draw(getattr(run, name)(**arguments))
    axes = [ax for ax in figure.axes if ax.get_visible()]
    assert len(axes) == len(labels) and all(ax.lines for ax in axes)
    assert all(ax.get_ylabel().startswith(label) for ax, label in zip(axes, labels, strict=True))
    if lines:
        assert [len(ax.lines) for ax in axes] == lines
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_ranked_pairs_show_the_images_they_name(ranked):
    figure = figures.ranked_samples(ranked, 3)
    shown = [ax.images[0].get_array().filled(np.nan) for ax in figure.axes]
    assert len(shown) == 12
    pictures, first = ranked.attrs["pictures"], ranked.iloc[0]
    assert np.array_equal(shown[0][:, :8], pictures.generated[first["generated"]])
    assert np.array_equal(shown[0][:, -8:], pictures.train[first["train"]])
    assert np.array_equal(shown[0][:, :8], shown[0][:, -8:])
    last = ranked.iloc[-1]
    assert np.array_equal(shown[-1][:, -8:], pictures.train[last["train"]])
    with pytest.raises(InvalidInput, match="lost its images"):
        figures.ranked_samples(pd.DataFrame(ranked.to_dict("list")))
