"""CLIP, DINOv2 and VGG16 on small or random weights, beside torchvision and torch-fidelity."""

import io

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.features.extractors import extractor_of
from tests.features.inception import odd_images, torch_or_skip
from tests.slow import slow

torch = torch_or_skip()
functional = torch.nn.functional
MEAN, SD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def randomised(module, seed, sd=0.05):
    generator = torch.Generator().manual_seed(seed)
    return {key: sd * torch.randn(value.shape, generator=generator) for key, value in module.state_dict().items()}


def prepared(image, size):
    """As torch-fidelity brings a uint8 image to a network, by its own resizing."""
    from torch_fidelity.interpolate_compat_tensorflow import interpolate_bilinear_2d_like_tensorflow1x as resized

    given = torch.from_numpy(image.transpose(2, 0, 1).copy())[None].float()
    mean, sd = (torch.tensor(255 * values, dtype=torch.float32)[:, None, None] for values in (MEAN, SD))
    return (resized(given, size=(size, size), align_corners=False) - mean) / sd


def torchvision_twin(state, dim, depth, heads, side):
    """Torchvision's transformer with DINOv2's weights: the factors of its residual branches multiplied in."""
    from torchvision.models import VisionTransformer

    twin, old = VisionTransformer(14 * side, 14, depth, heads, dim, 4 * dim), state
    first, places = old["pos_embed"][:, :1], old["pos_embed"][:, 1:].reshape(1, 37, 37, dim).permute(0, 3, 1, 2)
    places = functional.interpolate(places, scale_factor=(side + 0.1) / 37, mode="bicubic").flatten(2).transpose(1, 2)
    new = {"class_token": old["cls_token"], "encoder.pos_embedding": torch.cat([first, places], 1)}
    named = {"conv_proj": "patch_embed.proj", "encoder.ln": "norm"}
    for k in range(depth):
        here, there = f"encoder.layers.encoder_layer_{k}.", f"blocks.{k}."
        named |= {f"{here}ln_{j}": f"{there}norm{j}" for j in (1, 2)} | {f"{here}mlp.0": f"{there}mlp.fc1"}
        new |= {f"{here}self_attention.in_proj_{part}": old[f"{there}attn.qkv.{part}"] for part in ("weight", "bias")}
        for ours, its, scale in (("self_attention.out_proj", "attn.proj", "ls1"), ("mlp.3", "mlp.fc2", "ls2")):
            gamma = old[f"{there}{scale}.gamma"]
            new[f"{here}{ours}.weight"] = gamma[:, None] * old[f"{there}{its}.weight"]
            new[f"{here}{ours}.bias"] = gamma * old[f"{there}{its}.bias"]
    new |= {f"{ours}.{part}": old[f"{its}.{part}"] for ours, its in named.items() for part in ("weight", "bias")}
    twin.heads = torch.nn.Identity()
    twin.load_state_dict(new)
    return twin.eval()


@pytest.mark.parametrize("side", [16, 5])
def test_dinov2_is_torchvisions_transformer_with_scaled_branches(side):
    from nbmetrics.features.dinov2 import DinoV2

    network = DinoV2(48, 3, 4)
    state = randomised(network, 1, 0.3)
    network.load_state_dict(state)
    x = torch.randn(2, 3, 14 * side, 14 * side, generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        found, wanted = network(x), torchvision_twin(state, 48, 3, 4, side)(x)
    assert wanted.std() > 0.01 and torch.allclose(found, wanted, rtol=1e-4, atol=1e-4 * float(wanted.std()))


def test_dinov2s_gate_is_silu_of_the_first_half_times_the_second():
    from nbmetrics.features.dinov2 import GatedMlp

    gated = GatedMlp(1536)
    assert gated.w12.weight.shape == (8192, 1536) and gated.w3.weight.shape == (1536, 4096)
    small = GatedMlp(6)
    x = torch.randn(5, 6, dtype=torch.float64)
    small.double()
    both = x @ small.w12.weight.T + small.w12.bias
    gate, value = both[:, :16], both[:, 16:]
    wanted = (gate / (1 + torch.exp(-gate)) * value) @ small.w3.weight.T + small.w3.bias
    assert torch.allclose(small(x), wanted)


@pytest.mark.slow
def test_a_dinov2_by_name_prepares_images_as_torch_fidelity_does():
    from nbmetrics.features.dinov2 import SIZES, DinoV2

    state = randomised(DinoV2(*SIZES["s"]), 3, 0.1)
    image = odd_images(1, 9)[0]
    found = extractor_of("dinov2-vit-s-14", weights=state, device="cpu")([image])
    with torch.inference_mode():
        wanted = torchvision_twin(state, *SIZES["s"], 16)(prepared(image, 224)).numpy()
    assert found.shape == (1, 384) and np.allclose(found, wanted, rtol=1e-3, atol=1e-3 * wanted.std())


def clip_state(name="ViT", patch=32, dim=512, grid=7):
    """One narrow layer of a vision transformer with the outer sizes of ViT-B/32."""
    from torch_fidelity.feature_extractor_clip import CLIPVisual

    network = CLIPVisual(dim, patch * grid, 1, 64, patch)
    return {**randomised(network, 4, 0.2), "text_projection": torch.zeros(3, dim), "logit_scale": torch.tensor(1.0)}


def test_clip_is_torch_fidelitys(monkeypatch):
    from torch_fidelity.feature_extractor_clip import FeatureExtractorCLIP

    class Program:
        def state_dict(self):
            return clip_state()

    image = odd_images(1, 10)[0]
    found = extractor_of("clip-vit-b-32", weights=clip_state(), device="cpu")([image])
    monkeypatch.setattr(torch.jit, "load", lambda *args, **settings: Program())
    network = FeatureExtractorCLIP("clip-vit-b-32", ["clip"], feature_extractor_weights_path="given by the patch")
    with torch.inference_mode():
        (wanted,) = network(torch.from_numpy(image.transpose(2, 0, 1).copy())[None])
    assert found.shape == (1, 512) and wanted.std() > 1e-2 and np.array_equal(found, wanted.numpy())


@pytest.mark.parametrize(
    ("name", "change", "seen"),
    [
        ("clip-vit-b-16", {}, "patches of 32, not"),
        ("clip-vit-b-32", {"dim": 640}, "640 features"),
        ("clip-vit-b-32", {"grid": 8}, "256 × 256 pixels"),
        ("clip-rn101", {}, "patches of 32, not"),
    ],
)
def test_weights_of_another_clip_are_refused(name, change, seen):
    with pytest.raises(nm.InvalidInput, match=f"^weights: .*{name}.*{seen}"):
        extractor_of(name, weights=clip_state(**change), device="cpu")


@pytest.mark.parametrize(
    "name", ["clip-vit-b-32", "clip-rn50", "dinov2-vit-s-14", *slow("vgg16"), "inception-v3-compat"]
)
def test_tensors_of_something_else_are_refused(name):
    with pytest.raises(nm.InvalidInput, match=f"^weights: the state dict does not contain the tensors of {name}"):
        extractor_of(name, weights={"a": torch.zeros(2)}, device="cpu")


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["fc2_relu", "fc2"])
def test_vgg16_is_torch_fidelitys(layer):
    from torch_fidelity.feature_extractor_vgg16 import FeatureExtractorVGG16
    from torchvision.models import vgg16

    state = randomised(vgg16(init_weights=False), 5, 0.02)
    file, image = io.BytesIO(), odd_images(1, 11)[0]
    torch.save(state, file)
    file.seek(0)
    network = FeatureExtractorVGG16("vgg16", [layer], feature_extractor_weights_path=file)
    with torch.inference_mode():
        (wanted,) = network(torch.from_numpy(image.transpose(2, 0, 1).copy())[None])
    name = "vgg16" if layer == "fc2_relu" else f"vgg16:{layer}"
    found = extractor_of(name, weights=state, device="cpu")([image])
    assert found.shape == (1, 4096) and wanted.std() > 1e-3 and np.array_equal(found, wanted.numpy())
