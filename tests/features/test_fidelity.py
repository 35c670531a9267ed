"""Torch-fidelity's networks, beside torch-fidelity itself on the same file of random weights."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.features.batches import clean_resize
from nbmetrics.features.extractors import extractor_of
from nbmetrics.features.networks import LAYERS, NETWORKS
from tests.features.inception import odd_images, random_weights, torch_or_skip
from tests.slow import by_default

torch = torch_or_skip()
fidelity = import_module("nbmetrics.features.fidelity")
functional = torch.nn.functional


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return random_weights(tmp_path_factory.mktemp("weights") / "inception.pt")


@pytest.fixture(scope="module")
def state(weights):
    return torch.load(weights, weights_only=True)


@pytest.fixture(scope="module")
def shallow(weights):
    """Its first layer: quick."""
    return extractor_of("inception-v3-compat:64", weights=weights, device="cpu")


def theirs(images, weights, layer="2048"):
    """One image at a time: torch-fidelity takes no two sizes in a batch."""
    from torch_fidelity.utils import create_feature_extractor

    network = create_feature_extractor(
        "inception-v3-compat", [layer], cuda=False, verbose=False, feature_extractor_weights_path=str(weights)
    )
    with torch.inference_mode():
        rows = [network(torch.from_numpy(image.transpose(2, 0, 1).copy())[None])[0] for image in images]
    return torch.cat(rows).numpy()


def close(found, wanted, tolerance=1e-5):
    """Within the tolerance of how far rows of different images are apart: a scale-blind one would pass on anything."""
    return np.abs(found - wanted).max() <= tolerance * wanted.std(axis=0).mean()


def extracted(images, weights, name="inception-v3-compat", **settings):
    return extractor_of(name, weights=weights, device="cpu", **settings)(images)


@pytest.mark.slow
def test_features_are_torch_fidelitys_on_odd_sizes(weights):
    images = odd_images(3, 1)
    found, wanted = extracted(images, weights), theirs(images, weights)
    assert found.shape == (3, 2048) and found.dtype == np.float32
    assert wanted.std(axis=0).mean() > 1e-3 and close(found, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("layer", by_default(["64", "192"], "192"))  # two folders, below, are scored on layer 64
def test_other_layers_are_torch_fidelitys(weights, layer):
    images = odd_images(4, 2)
    found = extracted(images, weights, f"inception-v3-compat:{layer}")
    assert found.shape == (4, int(layer)) and close(found, theirs(images, weights, layer))


@pytest.mark.slow
def test_features_of_64_images_are_torch_fidelitys(weights):
    images = odd_images(64, 3)
    extractor = extractor_of("inception-v3-compat", weights=weights, device="cpu")
    found = np.concatenate([extractor(images[k : k + 16]) for k in range(0, 64, 16)])
    assert close(found, theirs(images, weights))


def folder_of(images, path):
    from PIL import Image

    path.mkdir()
    for k, image in enumerate(images):
        Image.fromarray(image).save(path / f"{k:03d}.png")
    return path


def scores(count, weights, path, layer):
    """FID and KID of two folders, ours and those of torch-fidelity's command, as (FID, KID)."""
    from torch_fidelity import calculate_metrics

    folders = [folder_of(odd_images(count, seed), path / str(seed)) for seed in (4, 5)]
    name = "inception-v3-compat" if layer == "2048" else f"inception-v3-compat:{layer}"
    given = {"weights": weights, "device": "cpu", "cache": False, "progress": False}
    rows = [nm.extract(folder, name, **given) for folder in folders]
    found = calculate_metrics(
        **{f"input{k}": str(folder) for k, folder in enumerate(folders, 1)},
        **{f"feature_layer_{metric}": layer for metric in ("fid", "kid")},
        **{"fid": True, "kid": True, "kid_subsets": 1, "kid_subset_size": count},
        **{"batch_size": 1, "save_cpu_ram": True, "cuda": False, "verbose": False, "cache": False},
        feature_extractor_weights_path=str(weights),
    )
    theirs = found["frechet_inception_distance"], found["kernel_inception_distance_mean"]
    return (nm.fid(*rows), nm.kid(*rows)), theirs


def test_fid_and_kid_of_two_folders_are_torch_fidelitys(weights, tmp_path):
    ours, wanted = scores(5, weights, tmp_path, "64")
    assert ours == pytest.approx(wanted, rel=1e-3)


@pytest.mark.slow
def test_fid_and_kid_of_two_folders_of_64_are_torch_fidelitys(weights, tmp_path):
    ours, wanted = scores(64, weights, tmp_path, "2048")
    assert ours == pytest.approx(wanted, rel=1e-3)


@pytest.mark.slow
def test_images_give_the_same_bits_however_they_lie_in_memory(shallow):
    images = np.stack([image[:17, :17] for image in odd_images(3, 6)])
    rows = shallow(list(images))
    fortran = [np.asfortranarray(image) for image in images]
    reversed_twice = [image[::-1][::-1] for image in images]
    strided = list(np.moveaxis(np.moveaxis(images, 3, 1).copy(), 1, 3))
    for others in (fortran, reversed_twice, strided):
        assert np.array_equal(shallow(others), rows)


def test_uint8_float_nchw_and_nhwc_give_the_same_bits(shallow):
    nhwc = np.random.default_rng(6).integers(0, 256, (3, 20, 24, 3), dtype=np.uint8)
    nchw = np.ascontiguousarray(nhwc.transpose(0, 3, 1, 2))
    forms = [
        nhwc,
        nchw,
        nhwc / 255,
        (nchw / 255).astype(np.float32),
        torch.from_numpy(nchw),
        torch.from_numpy(nchw) / 255,
    ]
    rows = [nm.extract(form, shallow, cache=False, progress=False) for form in forms]
    assert rows[0].std() > 0 and all(np.array_equal(other, rows[0]) for other in rows)


def test_rows_keep_their_order_and_grey_is_three_equal_channels(shallow):
    images = odd_images(5, 7)
    images[3] = images[0][::-1]  # two of one shape, apart
    grey = images[2][:, :, 0]
    images[2] = grey
    rows = shallow(images)
    alone = np.concatenate([shallow([image]) for image in images])
    assert np.allclose(rows, alone, rtol=1e-5, atol=1e-6) and len(np.unique(rows[:, 0])) == 5
    assert np.array_equal(shallow([np.stack([grey] * 3, axis=2)]), shallow([grey]))
    assert np.array_equal(shallow(images), rows)  # split alike: the same bits
    assert shallow([]).shape == (0, 64)


def test_clean_resizing_is_clean_fids_then_rounded(weights, shallow):
    images = odd_images(3, 8)
    found = extracted(images, weights, "inception-v3-compat:64", resize="clean")
    levels = [np.rint(clean_resize(image, 299)).astype(np.uint8) for image in images]
    assert np.array_equal(found, shallow(levels))
    assert not np.allclose(found, shallow(images), rtol=1e-3)


@pytest.mark.slow
def test_convention_and_fingerprint_say_weights_layer_and_resizing(weights, state, shallow):
    assert extractor_of("inception-v3-compat:64", weights=state, device="cpu").fingerprint == shallow.fingerprint
    assert "TensorFlow 1" in shallow.convention and "weights of your own" in shallow.convention
    changed = {**state, "fc.bias": state["fc.bias"] + 1e-3}
    others = [
        extractor_of("inception-v3-compat:64", weights=changed, device="cpu"),
        extractor_of("inception-v3-compat:192", weights=weights, device="cpu"),
        extractor_of("inception-v3-compat:64", weights=weights, device="cpu", resize="clean"),
    ]
    assert len({shallow.fingerprint, *(other.fingerprint for other in others)}) == 4
    assert "clean-fid" in others[2].convention and "299 × 299" in others[2].convention
    hash_of = shallow.fingerprint.split("/")[1]
    assert hash_of[:8] in shallow.convention and hash_of[:8] not in others[0].convention


@pytest.mark.slow
def test_probabilities_give_torch_fidelitys_inception_score(weights):
    from torch_fidelity.metric_isc import isc_features_to_metric

    images, name = odd_images(2, 11), "inception-v3-compat:probabilities"
    rows = extracted(images, weights, name)
    logits = torch.from_numpy(extracted(images, weights, "inception-v3-compat:logits_unbiased"))
    wanted = isc_features_to_metric(logits, splits=1, shuffle=False)["inception_score_mean"]
    assert rows.shape == (2, 1008) and wanted > 1.0001  # random weights are hardly sure
    assert nm.inception_score(rows) - 1 == pytest.approx(wanted - 1, rel=1e-2)


@pytest.fixture
def loads(monkeypatch):
    """The names of the extractors whose networks were built."""
    load, names = fidelity.load, []
    monkeypatch.setattr(fidelity, "load", lambda name, *given: (names.append(name), load(name, *given))[1])
    return names


@pytest.mark.slow
def test_a_second_run_builds_no_network_and_a_changed_weight_is_another(
    weights, state, shallow, folder, loads, tmp_path
):
    name, settings = "inception-v3-compat:64", {"device": "cpu", "progress": False}
    images = odd_images(3, 9)
    rows = nm.extract(images[:2], name, weights=weights, **settings)
    assert loads == [name]
    assert np.array_equal(nm.extract(images[:2], name, weights=weights, **settings), rows) and loads == [name]
    more = nm.extract(images, name, weights=weights, **settings)
    assert np.array_equal(more[:2], rows) and more.shape == (3, 64) and loads == [name] * 2
    lazy = extractor_of(name, weights=weights, device="cpu")
    assert (lazy.fingerprint, lazy.convention) == (shallow.fingerprint, shallow.convention) and loads == [name] * 2
    key = "Conv2d_1a_3x3.conv.weight"
    changed = tmp_path / "changed.pt"
    torch.save({**state, key: state[key] * 1.5}, changed)
    assert not np.allclose(nm.extract(images[:2], name, weights=changed, **settings), rows)


def test_a_second_run_in_another_process_needs_no_torch(weights, folder):
    code = """
import sys, numpy as np, nbmetrics as nm
rows = nm.extract(np.zeros((1, 20, 20, 3), np.uint8), "inception-v3-compat:64", weights=sys.argv[1], device="cpu")
print(rows.shape, "torch" in sys.modules)
"""
    nm.extract(np.zeros((1, 20, 20, 3), np.uint8), "inception-v3-compat:64", weights=weights, device="cpu")
    found = subprocess.run([sys.executable, "-c", code, weights], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "(1, 64) False"


@pytest.mark.slow
def test_a_file_that_is_refused_is_refused_again_and_one_that_changed_makes_no_rows(weights, state, folder, tmp_path):
    path = tmp_path / "inception.pt"
    torch.save({"fc.bias": state["fc.bias"]}, path)
    for _ in range(2):
        with pytest.raises(nm.InvalidInput, match="does not contain the tensors"):
            extractor_of("inception-v3-compat:64", weights=path)
    path.write_bytes(weights.read_bytes())
    extractor_of("inception-v3-compat:64", weights=path)
    remembered = extractor_of("inception-v3-compat:64", weights=path)
    torch.save({**state, "fc.bias": state["fc.bias"] + 1}, path)
    with pytest.raises(nm.InvalidInput, match=r"^weights: .*inception\.pt has changed since"):
        remembered(odd_images(1, 10))


def test_loading_leaves_torchs_random_stream_where_it_is(state):
    before = torch.get_rng_state()
    extractor_of("inception-v3-compat:64", weights=state)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        pytest.param(lambda state: state.pop("fc.bias"), "fc.bias", id="missing", marks=pytest.mark.slow),
        pytest.param(lambda state: state.update(more=torch.zeros(1)), "more", id="unexpected"),
        pytest.param(lambda state: state.update({"fc.bias": torch.zeros(3)}), "fc.bias", id="another shape"),
    ],
)
def test_other_weights_are_refused_by_key(state, change, seen):
    changed = dict(state)
    change(changed)
    with pytest.raises(
        nm.InvalidInput, match=rf"^weights: the state dict does not contain .*inception-v3-compat.*{seen}"
    ):
        extractor_of("inception-v3-compat", weights=changed)


def test_other_weights_are_refused_by_file(tmp_path):
    torch.save({"fc.bias": torch.zeros(1008)}, tmp_path / "changed.pth")
    with pytest.raises(nm.InvalidInput, match=r"changed\.pth does not contain the tensors of inception-v3-compat"):
        extractor_of("inception-v3-compat", weights=tmp_path / "changed.pth")


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "meta", "", 3, None, "xla"])
def test_devices_that_are_not_there_are_refused(weights, device):
    with pytest.raises(nm.InvalidInput, match=r"^device: .*Give 'auto'"):
        extractor_of("inception-v3-compat:64", weights=weights, device=device)


@pytest.mark.parametrize(
    "image",
    [np.zeros((8, 8, 4), np.uint8), np.zeros((8, 8, 3)), np.zeros((0, 8, 3), np.uint8), [[1, 2]], None],
    ids=["alpha", "float", "empty", "list", "None"],
)
def test_what_is_no_image_is_refused(shallow, image):
    with pytest.raises(nm.InvalidInput, match=r"^source: "):
        shallow([np.zeros((8, 8, 3), np.uint8), image])


def test_the_table_of_networks_is_torch_fidelitys():
    from torch_fidelity import feature_extractor_clip as theirs_clip
    from torch_fidelity import feature_extractor_inceptionv3 as theirs_inception
    from torch_fidelity.feature_extractor_dinov2 import MODEL_METADATA
    from torch_fidelity.registry import FEATURE_EXTRACTORS_REGISTRY as KINDS
    from torchvision.models import VGG16_Weights

    assert set(NETWORKS) == set(KINDS)
    urls = {
        "inception-v3-compat": theirs_inception.URL_INCEPTION_V3,
        "vgg16": VGG16_Weights.IMAGENET1K_V1.url,
        **theirs_clip.MODEL_URLS,
    }
    for name, network in NETWORKS.items():
        assert set(network.layers) == set(KINDS[name].get_provided_features_list())
        assert next(iter(network.layers)) == KINDS[name].get_default_feature_layer_for_metric("fid")
        assert getattr(KINDS[name], "INPUT_IMAGE_SIZE", network.size) == network.size
        assert urls.get(name, network.url) == network.url
        if name in theirs_clip.MODEL_METADATA:
            sha256 = theirs_clip.MODEL_METADATA[name]["hash"]
            assert network.sha256 == sha256 and network.file == f"{name}-{sha256}.pt"
        if name in MODEL_METADATA:
            assert f"/{MODEL_METADATA[name]}/" in network.url
    for name in ("inception-v3-compat", "vgg16"):
        (prefix,) = torch.hub.HASH_REGEX.search(NETWORKS[name].file).groups()
        assert len(prefix) == 8 and NETWORKS[name].sha256.startswith(prefix)
    assert {len(network.sha256) for network in NETWORKS.values()} == {0, 64}
    assert set(LAYERS) >= set(NETWORKS)
