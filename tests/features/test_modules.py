"""Torch modules of the user's own as extractors: fed in [0, 1], left as they were, known by what they compute."""

import copy
import os
import subprocess
import sys

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.features.batches import clean_resize
from nbmetrics.features.extractors import extractor_of

torch = pytest.importorskip("torch", reason="a module is torch's: pip install nbmetrics[images]")
nn = torch.nn
RNG = np.random.default_rng(0)


def images(*shapes):
    return [RNG.integers(0, 256, shape, dtype=np.uint8) for shape in shapes]


def network(channels=3, seed=0):
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return nn.Sequential(nn.Conv2d(channels, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.5), nn.AdaptiveAvgPool2d(2))


def by_hand(module, image):
    given = torch.from_numpy(image.astype(np.float32) / np.float32(255)).permute(2, 0, 1)[None]
    with torch.no_grad():
        return copy.deepcopy(module).eval()(given).flatten(1).numpy()


def test_rows_are_those_of_the_module_in_evaluation_mode_on_images_in_0_to_1():
    module, batch = network().train(), images((9, 7, 3), (5, 5, 3), (9, 7, 3))
    before = {key: value.clone() for key, value in module.state_dict().items()}
    stream = torch.get_rng_state()
    module[2].eval()
    rows = extractor_of(module)(batch)
    assert rows.shape == (3, 16) and rows.dtype == np.float32
    assert np.allclose(rows, np.concatenate([by_hand(module, image) for image in batch]), rtol=1e-5, atol=1e-6)
    assert [part.training for part in module] == [True, True, False, True] and module.training
    assert all(torch.equal(before[key], value) for key, value in module.state_dict().items())
    assert torch.equal(torch.get_rng_state(), stream)


def test_channels_are_those_of_the_first_convolution():
    colour, grey = images((8, 8, 3), (8, 8))
    one, three = network(1), network(3)
    as_three = np.stack([grey] * 3, axis=2)
    assert np.array_equal(extractor_of(three)([grey]), extractor_of(three)([as_three]))
    assert np.allclose(extractor_of(one)([grey]), by_hand(one, grey[:, :, None]), rtol=1e-5, atol=1e-6)
    with pytest.raises(nm.InvalidInput, match=r"^source: .*colour.*one channel"):
        extractor_of(one)([colour])
    assert extractor_of(nn.Flatten())([grey]).tolist() == [(grey.ravel() / np.float32(255)).tolist()]
    assert extractor_of(nn.Flatten())([colour]).shape == (1, 192)


def test_clean_brings_images_to_the_modules_size_without_rounding():
    module, batch = nn.Flatten(), images((9, 7, 3), (30, 31, 3), (4, 4))
    with pytest.raises(nm.InvalidInput, match=r"^resize: .*image_size"):
        extractor_of(module, resize="clean")
    module.image_size = 6
    found = extractor_of(module, resize="clean")
    rows = found(batch[:2])
    wanted = [clean_resize(image, 6).transpose(2, 0, 1).ravel() / np.float32(255) for image in batch[:2]]
    assert np.array_equal(rows, np.stack(wanted))
    assert "6 × 6" in found.convention and found.fingerprint != extractor_of(module).fingerprint
    module.image_size = 0
    with pytest.raises(nm.InvalidInput, match="image_size"):
        extractor_of(module, resize="clean")


class Giving(nn.Module):
    def __init__(self, give):
        super().__init__()
        self.give = give

    def forward(self, x):
        return self.give(x)


@pytest.mark.parametrize(
    "give", [lambda x: (x, None), lambda x: [x], lambda x: x.double(), lambda x: x.flatten(1), lambda x: x.bfloat16()]
)
def test_the_first_of_a_tuple_counts_and_axes_are_flattened(give):
    (image,) = images((4, 4, 3))
    image[:] = 255
    rows = extractor_of(Giving(give))([image])
    assert rows.shape == (1, 48) and (rows == 1).all()


@pytest.mark.parametrize(
    ("give", "seen"),
    [
        (lambda x: None, "None"),
        (lambda x: {"rows": x}, "rows"),
        (lambda x: (), r"\(\)"),
        (lambda x: x.sum(), r"shape \(\)"),
        (lambda x: x[:1], r"shape \(1, 3, 4, 4\) for 2 images"),
        (lambda x: x * float("nan"), "NaN"),
        (lambda x: x[:, :0], "no features"),
    ],
)
def test_what_a_module_gives_is_checked(give, seen):
    with pytest.raises(nm.InvalidInput, match=f"^extractor: .*{seen}"):
        extractor_of(Giving(give))(images((4, 4, 3), (4, 4, 3)))


def test_a_module_runs_in_the_type_of_its_parameters():
    batch = images((8, 8, 3))
    module = network()
    rows = extractor_of(module)(batch)
    double = extractor_of(copy.deepcopy(module).double())(batch)
    assert double.dtype == np.float32 and np.allclose(double, rows, rtol=1e-4, atol=1e-5)


def test_a_module_runs_where_it_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_fidelity", None)  # which a module of one's own does not need
    module = network()
    assert extractor_of(module, device="cpu")(images((8, 8, 3))).shape == (1, 16)
    for device in ("cuda:77", "meta", "nowhere"):
        with pytest.raises(nm.InvalidInput, match=r"^device: "):
            extractor_of(module, device=device)


def test_weights_go_into_the_module_and_not_beside_it():
    with pytest.raises(nm.InvalidInput, match=r"^weights: .*Load them"):
        extractor_of(network(), weights={})


class Scaled(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return x.flatten(1) * self.scale


class Shifted(Scaled):
    def forward(self, x):
        return x.flatten(1) + self.scale


def times(factor):
    return lambda x: x * factor


def test_a_fingerprint_is_of_weights_attributes_and_code():
    one = network()
    assert extractor_of(one).fingerprint == extractor_of(copy.deepcopy(one).train()).fingerprint
    trained = copy.deepcopy(one)
    with torch.no_grad():
        trained[0].bias[0] += 1e-6
    different = [one, trained, network(seed=1), nn.Sequential(*one[:2], nn.AdaptiveAvgPool2d(3))]
    different += [Scaled(1.0), Scaled(2.0), Shifted(1.0), nn.Sequential(nn.ReLU(), nn.Flatten())]
    different += [
        nn.Sequential(nn.ELU(), nn.Flatten()),
        Scaled(torch.ones(1)),
        Scaled(np.full(1, 2.0)),
        Scaled([1.0, 2]),
    ]
    different += [Giving(lambda x: x), Giving(lambda x: -x), Giving(times(2)), Giving(times(3)), Giving(torch.relu)]
    assert len({extractor_of(module).fingerprint for module in different}) == len(different)


def test_a_fingerprint_is_of_the_module_as_it_is_now():
    module = network()
    found = extractor_of(module)
    before = found.fingerprint, found.convention
    with torch.no_grad():
        module[0].weight += 1
    assert found.fingerprint != before[0] and found.convention != before[1]


def test_what_the_code_of_a_class_computes_counts_and_not_where_it_stands():
    def made(text, lines):
        held = {}
        exec("\n" * lines + f"def forward(self, x):\n    return x.flatten(1) {text}\n", held)
        return type("Own", (nn.Module,), {"forward": held["forward"]})()

    prints = [
        extractor_of(made(*given)).fingerprint for given in (("* 2.0", 0), ("* 2.0", 7), ("* 3.0", 0), ("+ 2.0", 0))
    ]
    assert prints[0] == prints[1] and len(set(prints)) == 3


CLASS = """
import torch
SCALE = {scale}
def doubled(x):
    return {times} * x if x.ndim else doubled(x)
class Net(torch.nn.Module):
    factor = {factor}
    def forward(self, x):
        return self.flat(doubled(x))
    def flat(self, x):
        return x.flatten(1) * self.factor * SCALE + {add}
"""


def test_what_a_class_holds_and_names_counts():
    def made(scale=1.0, times=2, factor=1.0, add=0):
        held = {"__name__": "notebook"}
        exec(CLASS.format(scale=scale, times=times, factor=factor, add=add), held)
        return extractor_of(held["Net"]()).fingerprint

    assert made() is not None and made() == made()
    assert len({made(), made(scale=2.0), made(times=3), made(factor=2.0), made(add=1)}) == 5


def test_code_is_the_same_in_every_session():
    code = "_code((lambda x: x in {'p', 'q', 'r', 's'}).__code__)"
    code = f"from nbmetrics.features.custom_extractors import _code; print({code})"
    sessions = [{**os.environ, "PYTHONHASHSEED": str(seed)} for seed in (1, 2, 3)]
    found = {subprocess.run([sys.executable, "-c", code], env=env, capture_output=True).stdout for env in sessions}
    assert len(found) == 1 and b"q" in found.pop()


def test_nothing_is_kept_of_a_module_with_hooks_or_hidden_content_or_by_its_own_word():
    for hidden in (object(), torch.zeros(1, device="meta"), network().forward):
        assert extractor_of(Scaled(hidden)).fingerprint is None
    itself = [1]
    itself.append(itself)
    assert extractor_of(Scaled(itself)).fingerprint is None
    module = network()
    module[1].register_forward_hook(lambda part, given, made: made * 2)
    assert extractor_of(module).fingerprint is None
    module = network()
    module.fingerprint = "net of Tuesday"
    assert "net of Tuesday" in extractor_of(module).fingerprint
    module.fingerprint = None
    assert extractor_of(module).fingerprint is None


def test_features_are_computed_without_tf32_and_the_setting_is_the_users_again():
    """A GPU would round the inputs of convolutions to 10 bits; of two extractions at once the last one restores it."""
    from nbmetrics.arrays import full_precision

    def settings():
        return [(place.fp32_precision) for place in (torch.backends.cudnn.conv, torch.backends.cuda.matmul)]

    if not hasattr(torch.backends.cudnn, "conv"):
        pytest.skip("this torch has one setting of TF32; torch 2.9 and newer run this")
    before, inside = settings(), []

    class Watching(torch.nn.Flatten):
        def forward(self, x):
            inside.append(settings())
            return super().forward(x)

    module = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), Watching())
    with full_precision:
        nm.extract(np.zeros((2, 5, 5), np.uint8), module, cache=False)
        assert settings()[0] == "ieee" and settings()[1] in ("ieee", "none")  # which is full precision, too
    assert inside == [["ieee", "ieee" if before[1] != "none" else "none"]]
    assert settings() == before
    with pytest.raises(ZeroDivisionError), full_precision:
        raise ZeroDivisionError
    assert settings() == before
