"""Experiments on images and on features of them: what they must show, and how images are given."""

from functools import cache

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import experiments, figures
from nbmetrics.datasets import digit_images, digits
from nbmetrics.experiments.class_generators import EXTRACTORS
from nbmetrics.experiments.federated_data import LabelledRows, class_and_noise_generators, split_halves
from nbmetrics.experiments.generalization import Material
from nbmetrics.experiments.generator_order import order_summary
from nbmetrics.features import extract
from nbmetrics.features.digits import WEIGHTS
from tests.slow import by_default

PICTURES, LABELS = digit_images()
RNG = np.random.default_rng(0)
FEW = np.arange(400)


@cache
def learned():
    return extract(PICTURES, "digits-cnn").astype(float)


# --- how images are given


def test_images_and_an_extractor_are_the_rows_that_it_makes():
    rows = extract(PICTURES, "digits-cnn")
    for items in (
        LabelledRows.of(None, None, None, "digits-cnn"),
        LabelledRows.of(None, LABELS, PICTURES, "digits-cnn"),
    ):
        np.testing.assert_array_equal(items.rows, rows)
        np.testing.assert_array_equal(items.labels, LABELS)
        assert "digits-cnn" in items.conventions[0]
    plain = LabelledRows.of(None, None)
    np.testing.assert_array_equal(plain.rows, digits()[0])
    np.testing.assert_allclose(LabelledRows.of(None, LABELS, PICTURES).rows, plain.rows, atol=0.5 / 255)


def test_a_folder_and_labels_that_images_carry_are_as_good_as_an_array(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    for k in range(100):
        Image.fromarray(PICTURES[k]).save(tmp_path / f"{k:03}.png")
    settings = {"extractor": "digits-cnn", "noise": 0.1}
    expected = experiments.class_federated(images=PICTURES[:100], y=LABELS[:100], **settings)
    assert experiments.class_federated(images=tmp_path, y=LABELS[:100], **settings).equals(expected)
    carrying = nm.images(PICTURES[:100])
    carrying.labels = LABELS[:100]
    assert experiments.class_federated(images=carrying, **settings).equals(expected)


def test_halves_of_images_keep_rows_labels_and_images_together():
    for half in split_halves(LabelledRows.of(None, LABELS[FEW], PICTURES[FEW], "pixels"), 3):
        np.testing.assert_array_equal(half.rows, np.stack(list(half.pictures)).reshape(-1, 64) / np.float32(255))
        found = {(row.tobytes(), label) for row, label in zip(half.rows, half.labels, strict=True)}
        assert found <= {
            (x.tobytes(), y) for x, y in zip(LabelledRows.of(None, LABELS, PICTURES).rows, LABELS, strict=True)
        }


def test_noise_is_put_on_images_before_they_become_rows():
    _, made = split_halves(LabelledRows.of(None, LABELS[FEW], PICTURES[FEW], "pixels"), 0)
    noisy = class_and_noise_generators(made, [0.0, 0.1], 0)
    np.testing.assert_array_equal(noisy["noise 0"], made.rows)
    inside = (made.rows > 0.4) & (made.rows < 0.6)  # noise of 0.1 is not clipped there
    assert (noisy["noise 0.1"] - made.rows)[inside].std() == pytest.approx(0.1, rel=0.1)
    assert noisy["noise 0.1"].min() == 0 and noisy["noise 0.1"].max() == 1
    features, by_hand = LabelledRows.of(None, LABELS[FEW], PICTURES[FEW], "digits-cnn"), LabelledRows(*digits())
    assert features.with_noise(0.3, np.random.default_rng(0)).shape == features.rows.shape
    assert by_hand.with_noise(0.3, np.random.default_rng(0)).min() < 0  # rows are no grey values, so nothing is clipped


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"X": learned, "images": PICTURES}, "images"),
        ({"X": learned, "y": LABELS, "extractor": "pixels"}, "extractor"),
        ({"images": PICTURES}, "y"),
        ({"y": LABELS, "extractor": "pixels"}, "y"),
        ({"images": PICTURES, "y": LABELS[:3]}, "y"),
        ({"images": 3, "y": LABELS}, "images"),
        ({"images": PICTURES, "y": LABELS, "extractor": "pixel"}, "extractor"),
    ],
)
@pytest.mark.parametrize("name", ["class_federated", "single_class", "neighbors_federated", "variance_limited"])
def test_what_does_not_go_together_is_refused(name, arguments, argument):
    with pytest.raises(nm.InvalidInput) as raised:
        getattr(experiments, name)(**arguments)
    assert raised.value.argument == argument


# --- E3


@cache
def of_classes(extractor):
    return experiments.class_federated(extractor=extractor)


@pytest.mark.parametrize("extractor", [None, "digits-cnn"])
def test_kid_orders_generators_alike_by_avg_and_by_all_and_fid_does_not(extractor):
    table = of_classes(extractor)
    summary = order_summary(table).set_index("metric")
    assert summary.loc["kid", "inversions"] == 0 and summary.loc["kid", "gap_range"] < 1e-9
    assert summary.loc["fid", "inversions"] > 3
    assert len(table) == 10 + 7 + 4 and table["generator"].is_unique
    assert any("digits-cnn" in line for line in table.attrs["conventions"]) == (extractor is not None)


def test_fid_all_falls_with_every_class_that_a_generator_has():
    table = experiments.class_federated(noise=0, classes=range(2, 11)).set_index("generator")
    more = table.loc[[f"first {k} classes" for k in range(2, 11)], "fid_all"]
    assert (np.diff(more) < 0).all()
    assert more.iloc[-1] == pytest.approx(table.loc["noise 0", "fid_all"])  # all classes are all rows


def test_its_figure_names_kinds_of_generators_and_counts_inverted_pairs():
    table = experiments.class_federated(noise=(0, 0.2))
    figure = figures.draw(table)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"one class", "several classes", "all classes with noise"} <= set(texts)
    inverted = int(order_summary(table).set_index("metric").loc["fid", "inversions"])
    assert figure.axes[0].get_title().startswith(f"{inverted} of 120 pairs inverted")


# --- E4, E6, E9, E10 on learned features


def test_on_learned_features_too_fid_may_prefer_one_class_by_avg_alone_and_kid_agrees_with_itself():
    table = experiments.single_class(extractor="digits-cnn", noise=0.1, kernels={"kid": None})
    scores = table.set_index("generator")
    kept, noisy = scores.loc["class 8"], scores.iloc[1]
    assert kept["fid_avg"] < noisy["fid_avg"] and kept["fid_all"] > noisy["fid_all"]
    assert np.ptp(scores["kid_gap"]) < 1e-9


@pytest.mark.parametrize("family", ["shrunk", "neighbors"])
def test_of_clients_of_little_variance_on_learned_features_fid_avg_wants_less_variety(family):
    table = experiments.variance_limited(
        (0.1, 0.2, 0.3, 0.5, 0.7, 1.0), extractor="digits-cnn", neighbors=(5, 20), family=family, starts=3
    )
    for _, part in table.groupby("neighbors"):
        by_avg, by_all = (part["scale"].to_numpy()[part[f"fid_{a}"].to_numpy().argmin()] for a in ("avg", "all"))
        assert by_avg <= 0.5 < by_all
        assert np.ptp(part["kid_gap"]) < 1e-10


@pytest.mark.slow
def test_precision_on_learned_features_orders_differently_and_recall_never():
    table = experiments.neighbors_federated(extractor="digits-cnn")
    one_class = order_summary(table[table["clients"] == "one class each"]).set_index("metric")
    assert one_class.loc["precision", "inversions"] > 20 and one_class.loc["recall", "inversions"] == 0


@pytest.mark.slow
def test_w1_on_learned_features_prefers_noise_by_avg_and_none_by_all():
    pytest.importorskip("ot", reason="W1 needs POT: pip install nbmetrics[transport]")
    table = experiments.transport_federated(extractor="digits-cnn", noise=(0, 0.15, 0.3))
    noisy = table[table["generator"].str.startswith("noise")]
    assert (np.diff(noisy["w1_avg"]) < 0).all() and (np.diff(noisy["w1_all"]) > 0).all()


# --- E14


@cache
def compared():
    return experiments.extractors_compared()


def test_each_pair_has_a_row_on_each_features_and_fid_is_that_of_evaluate():
    table = compared()
    assert table["extractor"].value_counts().to_dict() == dict.fromkeys(EXTRACTORS, 15 * 14 // 2)
    assert (table["note"] == "").all()
    clients, made = split_halves(LabelledRows.of(None, None, None, "digits-cnn"), 0)
    federation = nm.Federation.from_labels(clients.rows, clients.labels)
    scores = nm.evaluate(federation, class_and_noise_generators(made, [0.2], 0), "fid", progress=False).table
    expected = scores.set_index("generator")
    ours = table[table["extractor"] == "digits-cnn"].set_index(["first", "second"])
    row = ours.loc[("class 3", "class 8")]
    for end, name in (("first", "class 3"), ("second", "class 8")):
        for aggregate in ("avg", "all"):
            assert row[f"fid_{aggregate}_{end}"] == pytest.approx(expected.loc[name, aggregate], rel=1e-6)


def test_inverted_is_what_the_scores_of_a_pair_say():
    table = compared()
    for metric in ("fid", "kid"):
        by_avg, by_all = (np.sign(table[f"{metric}_{a}_first"] - table[f"{metric}_{a}_second"]) for a in ("avg", "all"))
        np.testing.assert_array_equal(table[f"{metric}_inverted"], by_avg * by_all < 0)
        for aggregate in ("avg", "all"):
            ranks = np.sign(table[f"{metric}_{aggregate}_rank_first"] - table[f"{metric}_{aggregate}_rank_second"])
            np.testing.assert_array_equal(ranks, by_avg if aggregate == "avg" else by_all)


def inverted_pairs_of(table, metric="fid"):
    """{extractor: {(kind of first, kind of second): inverted pairs}}."""
    kinds = [table[end].str.split().str[0] for end in ("first", "second")]
    counted = table[f"{metric}_inverted"].astype(int).groupby([table["extractor"], *kinds]).sum()
    return {name: counted.loc[name].to_dict() for name in EXTRACTORS}


def test_whether_fid_inverts_a_pair_depends_on_the_features_and_kid_never_does():
    table = compared()
    assert not table["kid_inverted"].any()
    found = inverted_pairs_of(table)
    pixels, learned_features = found["pixels"], found["digits-cnn"]
    assert pixels["class", "noise"] == 11 and pixels["noise", "noise"] == 0
    assert learned_features["class", "noise"] in (1, 2) and learned_features["noise", "noise"] == 10
    for name in ("principal components", "untrained digits-cnn"):
        assert found[name]["class", "noise"] + found[name]["noise", "noise"] < 5


def test_on_learned_features_fid_avg_prefers_one_class_and_noise_to_real_rows_of_all_classes():
    scores = of_classes("digits-cnn").set_index("generator")
    real = scores.loc["noise 0"]
    assert scores.loc["class 8", "fid_avg"] < real["fid_avg"]
    noisy = scores[scores.index.str.startswith("noise")]
    assert (np.diff(noisy["fid_avg"]) < 0).all() and (np.diff(noisy["fid_all"]) > 0).all()


def test_an_extractor_that_cannot_be_had_has_a_row_that_says_why(monkeypatch):
    table = experiments.extractors_compared(("pixels", "no such thing"), per_class=6, noise=0.2)
    last = table.iloc[-1]
    assert (last["extractor"], last["first"]) == ("no such thing", "") and "extractor" in last["note"]
    assert np.isnan(last["fid_avg_first"]) and table["note"].eq("").sum() == len(table) - 1
    figure = figures.draw(table)
    assert "no numbers here" in [text.get_text() for text in figure.axes[0].texts]


def test_few_of_each_class_are_that_many_and_a_dict_names_extractors():
    table = experiments.extractors_compared({"mine": "digits-cnn"}, per_class=6, noise=0.2)
    assert set(table["extractor"]) == {"mine"} and len(table) == 11 * 10 // 2
    images = RNG.integers(0, 256, (24, 40, 40), dtype=np.uint8)
    refused = experiments.extractors_compared("digits-cnn", images=images, y=np.arange(24) % 2, noise=0)
    assert "40 × 40" in refused["note"].item()
    settings = {"extractor": "digits-cnn", "weights": WEIGHTS}
    again = experiments.extractors_compared({"mine": settings}, per_class=6, noise=0.2)
    assert again.equals(table)
    with pytest.raises(nm.InvalidInput, match=r"extractors: got 'weight'. Did you mean 'weights'"):
        experiments.extractors_compared({"mine": {"extractor": "digits-cnn", "weight": WEIGHTS}})


# --- C4


@cache
def upright():
    return experiments.paired_unpaired().set_index(["features", "model"])


@pytest.mark.parametrize("features", ["pixels", "digits-cnn"])
def test_cfid_parts_models_that_saw_pairs_from_one_that_did_not_and_mfid_does_not(features):
    scores = upright().loc[features]
    paired, not_paired = (scores[scores["paired"] == kind] for kind in ("yes", "no"))
    assert not_paired["cfid"].min() > 4 * paired["cfid"].max()
    assert not_paired["mfid"].max() < paired["mfid"].max()
    assert (scores["cfid"] >= scores["rfid"]).all() and (scores["rfid"] >= scores["mfid"]).all()


def test_models_answer_as_they_are_said_to():
    from nbmetrics.experiments.paired_models import ANSWERS

    outputs = RNG.random((60, 4, 4))
    inputs, train, test = outputs[::-1], np.arange(30), np.arange(30, 60)
    made = {name: answer(inputs, outputs, train, test, 0) for name, answer in ANSWERS.items()}
    assert all(answers.shape == (30, 4, 4) for answers in made.values())
    np.testing.assert_array_equal(made["input"], inputs[test])
    known = {image.tobytes() for image in outputs[train]}
    for name in ("retrieval", "shuffler"):
        assert {image.tobytes() for image in made[name]} <= known
    assert len({image.tobytes() for image in made["shuffler"]}) == 30
    # Asked for what it was taught, retrieval answers what it was taught.
    np.testing.assert_array_equal(ANSWERS["retrieval"](inputs, outputs, train, train, 0), outputs[train])


def test_without_turning_the_input_is_the_answer():
    scores = experiments.paired_unpaired(("input", "shuffler"), extractors="pixels", angle=0).set_index("model")
    assert scores.loc["input", "cfid"] == pytest.approx(0, abs=1e-9)
    assert scores.loc["shuffler", "cfid"] > 1


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"models": "gan"}, "models"),
        ({"models": []}, "models"),
        ({"models": 3}, "models"),
        ({"angle": 200}, "angle"),
        ({"components": 0}, "components"),
        ({"extractors": []}, "extractors"),
        ({"extractors": "pixel"}, "extractor"),
        ({"images": PICTURES[:39]}, "images"),
    ],
)
def test_paired_unpaired_refuses(arguments, argument):
    with pytest.raises(nm.InvalidInput) as raised:
        experiments.paired_unpaired(**arguments)
    assert raised.value.argument == argument


# --- F3 to F7 on images of one's own

OF_IMAGES = {
    "transforms": {"share": (0, 1), "names": ("crop", "light_blur")},
    "ranked_samples": {},
    "novelty": {"share": (0, 0.5)},
    "interactions": {"fidelity": (0, 1), "diversity": (1, 0.5), "novelty": (0, 0.5)},
}


@pytest.mark.parametrize("name", by_default(OF_IMAGES, "transforms", "ranked_samples", "interactions"))
def test_images_are_cut_into_sets_and_scored_on_features(name):
    run = getattr(experiments, name)
    colour = np.repeat(PICTURES[:240, :, :, None], 3, axis=3)
    on_pixels = run(images=colour, **OF_IMAGES[name])
    table = run(images=colour, extractor="digits-cnn", **OF_IMAGES[name])
    grey = run(images=PICTURES[:240], extractor="digits-cnn", **OF_IMAGES[name])
    assert list(table) == list(on_pixels) and any("digits-cnn" in line for line in table.attrs["conventions"])
    assert not table.equals(on_pixels)
    if name in ("ranked_samples", "interactions"):  # others change colours and grey values by other rules
        np.testing.assert_allclose(
            table["distance" if name == "ranked_samples" else "fld"],
            grey["distance" if name == "ranked_samples" else "fld"],
            rtol=1e-4,
            atol=1e-6,
        )
    figures.draw(table)


def test_diversity_takes_labelled_images():
    settings = {"classes": (2, 10), "copies": 1, "repeats": 2}
    table = experiments.diversity(images=PICTURES, labels=LABELS, extractor="digits-cnn", **settings)
    assert table["fid"].iloc[0] > table["fid"].iloc[-1] and "digits-cnn" in table.attrs["conventions"][2]
    same = experiments.diversity(extractor="digits-cnn", **settings)
    assert same.equals(table)
    assert not experiments.diversity(images=PICTURES, labels=LABELS, **settings).equals(table)


def test_on_learned_features_fld_gap_falls_as_copies_come():
    table = experiments.novelty((0.0, 0.5, 0.9), extractor="digits-cnn", transforms={"none": lambda x, rng: x})
    assert (np.diff(table["fld_gap"]) < 0).all() and (np.diff(table["auth_pct"]) < 0).all()


def test_on_learned_features_fld_gap_tells_cropped_copies_which_auth_pct_calls_authentic():
    of_digits = Material.of("digits", None, None, 0).transforms()
    crop = {name: change for name, change in of_digits.items() if "crop" in name}
    table = experiments.novelty((0.0, 1.0), extractor="digits-cnn", transforms=crop)
    honest, copies = table.to_dict("records")
    assert copies["fld_gap"] < honest["fld_gap"] - 4
    assert copies["auth_pct"] > 75 and copies["c_t"] > 9


@pytest.mark.slow
def test_on_learned_features_imperceptible_changes_cost_fld_less_than_large_ones():
    table = experiments.transforms((0.0, 1.0), extractor="digits-cnn")
    cost = table.pivot(index="transform", columns="share", values="fld").diff(axis=1)[1.0]
    large = set(table.loc[table["kind"] == "large", "transform"])
    assert cost["light_blur"] < min(cost[name] for name in large)
    assert -1 < cost["jpeg_90"] < 0 and -1 < cost["posterize"] < 0


@pytest.mark.parametrize(
    ("name", "arguments", "argument"),
    [
        ("transforms", {"images": PICTURES[:5]}, "images"),
        ("transforms", {"images": PICTURES, "train": PICTURES}, "test"),
        ("transforms", {"features": lambda x: x, "extractor": "pixels"}, "extractor"),
        ("transforms", {**dict.fromkeys(("train", "test", "generated"), PICTURES / 255), "images": PICTURES}, "images"),
        ("diversity", {"images": PICTURES}, "labels"),
        ("diversity", {"images": PICTURES, "labels": LABELS, "train": learned}, "train"),
        ("novelty", {"images": PICTURES, "data": "moons"}, "images"),
        ("novelty", {"extractor": "pixels", "data": "moons"}, "extractor"),
        ("interactions", {"extractor": "pixel"}, "extractor"),
    ],
)
def test_images_beside_other_data_are_refused(name, arguments, argument):
    with pytest.raises(nm.InvalidInput) as raised:
        getattr(experiments, name)(**arguments)
    assert raised.value.argument == argument
