"""The digits-cnn: as torch has it, what its features see, what it refuses, and that its script makes it again."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

import nbmetrics as nm
from nbmetrics.datasets import digit_images
from nbmetrics.features import extract
from nbmetrics.features.digits import DIM, SHAPES, WEIGHTS, DigitsCNN, _area, accuracy, split
from nbmetrics.features.extractors import extractor_of

IMAGES, LABELS = digit_images()
RNG = np.random.default_rng(0)
ORDER = RNG.permutation(len(IMAGES))
FIRST, SECOND = (IMAGES[ORDER[:898]], IMAGES[ORDER[898:]])


def rows(images):
    return DigitsCNN()(list(images))


@pytest.fixture(scope="module")
def features():
    return rows(IMAGES)


@pytest.fixture(scope="module")
def against():
    """FID against one half of the digits, of changed copies of the other."""
    real = rows(FIRST)
    return lambda images: nm.fid(real, rows(images))


def as_bytes(values):
    """Grey values in [0, 1] as uint8, those outside clipped."""
    return np.round(255 * np.clip(values, 0, 1)).astype(np.uint8)


# The forward pass


@pytest.mark.parametrize("side", [8, 16, 24])
def test_numpy_computes_what_torch_computes(side):
    torch = pytest.importorskip("torch", reason="compares with torch: pip install nbmetrics[images]")
    from nbmetrics.features.train_digits import network_of

    images = IMAGES if side == 8 else RNG.integers(0, 256, (300, side, side), dtype=np.uint8)
    x = torch.nn.functional.avg_pool2d(torch.tensor(images)[:, None].to(torch.float32) / 255, side // 8)
    with torch.no_grad():
        expected = network_of(DigitsCNN().arrays)(x).numpy()
    assert expected.std() > 0.1
    np.testing.assert_allclose(rows(images), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("side", [9, 12, 28])
def test_larger_images_become_the_means_of_8_x_8_squares(side):
    small = RNG.random((20, side, side), dtype=np.float32)
    fine = np.kron(small, np.ones((1, 8, 8)))  # so fine that each of the squares is made of whole pixels
    expected = fine.reshape(20, 8, side, 8, side).mean(axis=(2, 4))
    np.testing.assert_allclose(_area(side) @ small @ _area(side).T, expected, atol=1e-6)
    cnn = DigitsCNN()
    cnn([np.zeros((side, side), np.uint8)])
    assert f"{side} × {side}" in cnn.convention and "area average" in cnn.convention


def test_an_enlarged_digit_in_whole_steps_has_the_features_of_the_digit(features):
    np.testing.assert_allclose(rows(np.kron(IMAGES[:50], np.ones((1, 3, 3), np.uint8))), features[:50], atol=1e-5)


def test_an_image_has_its_features_whatever_is_beside_it(features):
    np.testing.assert_array_equal(rows(IMAGES[ORDER]), features[ORDER])
    np.testing.assert_array_equal(rows(IMAGES[:1]), features[:1])
    assert DigitsCNN()([]).shape == (0, DIM)


def test_colours_become_grey_by_pillows_rule(features):
    Image = pytest.importorskip("PIL.Image")
    colour = RNG.integers(0, 256, (9, 8, 8, 3), dtype=np.uint8)
    grey = np.stack([np.asarray(Image.fromarray(image).convert("L")) for image in colour])
    np.testing.assert_array_equal(rows(colour), rows(grey))
    np.testing.assert_array_equal(rows(np.repeat(IMAGES[:50, :, :, None], 3, axis=3)), features[:50])


def test_extract_knows_it_by_name(features):
    found = extract(IMAGES, "digits-cnn")
    assert found.shape == (1797, DIM) and found.dtype == np.float32
    np.testing.assert_array_equal(found, features)


# What its features see


def test_its_accuracy_is_what_it_says(features):
    measured, said = accuracy(features, LABELS), float(DigitsCNN().arrays["accuracy"])
    assert measured == pytest.approx(said, abs=0.005) and measured > 0.97
    assert f"gets {100 * said:.1f} %" in " ".join(DigitsCNN.__doc__.split())
    assert f"{100 * said:.1f} %" in DigitsCNN().convention


def test_training_and_held_out_digits_are_apart_and_have_all_classes_alike():
    train, held_out = split(LABELS)
    assert (len(train), len(held_out)) == (1347, 450)
    assert sorted([*train, *held_out]) == list(range(1797))
    shares = [np.bincount(LABELS[part]) / len(part) for part in (train, held_out)]
    np.testing.assert_allclose(*shares, atol=0.002)


def test_no_feature_is_dead_and_their_scale_is_1(features):
    train, _ = split(LABELS)
    assert features[train].var(axis=0).mean() == pytest.approx(1, rel=0.01)
    assert features.var(axis=0).min() > 0.05
    assert np.linalg.eigvalsh(np.cov(features.T)).min() > 1e-5


def test_balanced_halves_are_as_far_apart_as_two_samples_of_one_distribution(features):
    halves = [np.concatenate([np.flatnonzero(label == LABELS)[k::2] for label in range(10)]) for k in (0, 1)]
    found = nm.fid(*(features[half] for half in halves))
    classes = [features[label == LABELS] for label in range(10)]
    distributions = [(rows.mean(axis=0), np.cov(rows.T), len(rows) // 2) for rows in classes]

    def drawn():  # the same numbers of each class, from Gaussians in their place
        return np.concatenate([RNG.multivariate_normal(*distribution) for distribution in distributions])

    floor = np.mean([nm.fid(drawn(), drawn()) for _ in range(10)])
    assert 0.5 * floor < found < 2 * floor < 0.01 * features.var(axis=0).sum()


def rising(values):
    return (np.diff(values) > 0).all()


def test_noise_blur_and_contrast_cost_the_more_the_more_there_is(against):
    noise, pixels = np.random.default_rng(1).standard_normal(SECOND.shape), SECOND / 255
    floor = against(SECOND)
    assert rising([floor, *(against(as_bytes(pixels + sd * noise)) for sd in (0.1, 0.2, 0.3, 0.5))])
    blurred = [gaussian_filter(pixels, sd, axes=(1, 2)) for sd in (0.6, 0.8, 1.2)]
    assert rising([floor, *(against(as_bytes(image)) for image in blurred)])
    assert rising([floor, *(against(as_bytes(c * pixels)) for c in (0.7, 0.5, 0.2))])


def test_missing_classes_cost_the_more_the_more_are_missing(against):
    second = LABELS[ORDER[898:]]
    assert rising([against(SECOND[second < kept]) for kept in (10, 9, 8, 6, 4, 2, 1)])


def test_what_is_no_digit_at_all_is_far(against):
    others = {
        "copies": np.repeat(SECOND[:1], 500, axis=0),
        "noise": RNG.integers(0, 256, (500, 8, 8), dtype=np.uint8),
        "black": np.zeros((500, 8, 8), np.uint8),
        "shuffled": RNG.permuted(SECOND.reshape(-1, 64), axis=1).reshape(-1, 8, 8),
    }
    worst_of_real = against(as_bytes(0.7 * SECOND / 255))
    assert all(against(images) > 3 * worst_of_real for images in others.values())


# What it refuses


@pytest.mark.parametrize(
    ("image", "said"),
    [
        (np.zeros((7, 7), np.uint8), "7 × 7"),
        (
            np.zeros((29, 29, 3), np.uint8),
            "29 × 29 .*Use another extractor: .pixels., or .inception-v3-compat.*Or resize",
        ),
        (np.zeros((8, 9), np.uint8), "8 × 9"),
        (np.zeros((8, 8, 4), np.uint8), r"\(8, 8, 4\)"),
        (np.zeros((8, 8)), "float64"),
        (np.zeros(8, np.uint8), r"\(8,\)"),
        ("8.png", "8.png"),
    ],
)
def test_other_images_are_refused_before_anything_is_computed(image, said, monkeypatch):
    monkeypatch.setattr(DigitsCNN, "_features", None)
    with pytest.raises(nm.InvalidInput, match=rf"^source.*{said}"):
        DigitsCNN()([image])


def test_sizes_are_not_mixed_in_one_batch_nor_in_one_extraction():
    large = np.zeros((12, 12), np.uint8)
    with pytest.raises(nm.InvalidInput, match="8 × 8 and of 12 × 12 pixels in one extraction"):
        DigitsCNN()([IMAGES[0], large])
    cnn = DigitsCNN()
    cnn([large])
    with pytest.raises(nm.InvalidInput, match="12 × 12 and of 8 × 8"):
        cnn([IMAGES[0]])


def test_the_fingerprint_tells_weights_and_sizes_apart(tmp_path):
    arrays = DigitsCNN().arrays
    changed = {**arrays, "linear_bias": arrays["linear_bias"] + np.float16(0.125)}
    np.savez(tmp_path / "same.npz", **arrays)
    np.savez(tmp_path / "changed.npz", **changed)
    same, other = (DigitsCNN(tmp_path / f"{name}.npz") for name in ("same", "changed"))
    assert same.fingerprint == DigitsCNN().fingerprint != other.fingerprint
    seen = DigitsCNN(), DigitsCNN()
    for cnn, side in zip(seen, (8, 12), strict=True):
        cnn.admit(np.zeros((side, side), np.uint8))
    assert len({cnn.fingerprint for cnn in (same, *seen)}) == 3


class Malicious:
    def __reduce__(self):
        return pytest.fail, ("a pickle ran",)


@pytest.mark.parametrize(
    "kind", ["none", "text", "npy", "pickle", "shape", "nan", "extra", "integers", "huge", "accuracy"]
)
def test_other_files_are_refused(kind, tmp_path):
    path, arrays = tmp_path / "weights.npz", DigitsCNN().arrays
    wrong = {
        "pickle": {"linear": np.array([Malicious()], dtype=object)},
        "shape": {"linear": arrays["linear"].T},
        "nan": {"linear": arrays["linear"] * np.float16(np.nan)},
        "extra": {"more": np.zeros(2)},
        "accuracy": {"accuracy": np.array(7.0)},
        "integers": {"linear": np.zeros(SHAPES["linear"], int)},
        "huge": {"linear": np.zeros((10_000, 1000), np.float16)},
    }
    if kind in wrong:
        np.savez_compressed(path, **{**arrays, **wrong[kind]})
    elif kind == "npy":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    elif kind == "text":
        path.write_text("weights")
    with pytest.raises(nm.InvalidInput, match=r"^weights"):
        extractor_of("digits-cnn", weights=path)


# The file and the script


def test_the_file_is_small_and_half_as_exact():
    assert WEIGHTS.stat().st_size <= 200_000
    arrays = DigitsCNN().arrays
    assert {a.dtype for name, a in arrays.items() if name != "accuracy"} == {np.dtype(np.float16)}
    assert sum(a.size for a in arrays.values()) == 31_674 - 650 + 1  # without the last layer, with the accuracy


@pytest.fixture
def script():
    pytest.importorskip("torch", reason="trains a torch network: pip install nbmetrics[images]")
    from nbmetrics.features import train_digits

    return train_digits


@pytest.mark.slow
def test_training_again_makes_the_same_weights(script):
    import torch

    before = torch.random.get_rng_state()
    (first, right), (again, _), (other, _) = (script.train(2, seed) for seed in (0, 0, 1))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["linear"], other["linear"])
    assert right > 0.3  # two epochs of sixty; guessing gets 0.1
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.slow
def test_the_script_writes_what_the_extractor_reads(script, tmp_path, monkeypatch, capsys):
    import torch

    path, threads = tmp_path / "own.npz", torch.get_num_threads()
    monkeypatch.setattr("sys.argv", ["train_digits", "--out", str(path), "--epochs", "1", "--seed", "3"])
    try:
        script.main()
    finally:
        torch.set_num_threads(threads)
    own = extractor_of("digits-cnn", weights=path)
    assert accuracy(own(list(IMAGES)), LABELS) == own.arrays["accuracy"] > 0.5
    assert f"{own.arrays['accuracy']:.3f}" in capsys.readouterr().out


def test_weights_go_into_the_network_and_out_again(script):
    arrays = {name: np.asarray(a, np.float32) for name, a in DigitsCNN().arrays.items() if name != "accuracy"}
    back = script.arrays_of(script.network_of(arrays))
    assert arrays.keys() == back.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array)


def test_augmented_images_are_images_and_most_are_of_their_class(script, features):
    import torch
    from sklearn.linear_model import LogisticRegression

    x = torch.tensor(IMAGES)[:, None] / 255
    changed = script.augment(x, torch.Generator().manual_seed(0))
    assert changed.shape == x.shape and changed.min() >= 0 and changed.max() <= 1
    assert (changed - x).abs().mean() > 0.05
    model = LogisticRegression(max_iter=5000).fit(features, LABELS)
    assert model.score(rows(as_bytes(changed[:, 0].numpy())), LABELS) > 0.5
