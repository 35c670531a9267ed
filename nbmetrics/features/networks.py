"""Torch-fidelity's registry as facts that need no torch: names, layers, sizes, and the files of their weights.

Twin: torch_fidelity.registry; tests/features/test_extractors.py holds names, layers and addresses together. The SHA-256
are those of the published files: CLIP's stand in torch-fidelity, those of Inception and VGG16 begin as their names end,
and DINOv2's files carry none, so theirs are the ones that people who fetched them wrote down.
"""

from __future__ import annotations

from typing import NamedTuple


class Network(NamedTuple):
    """A network of torch-fidelity.

    layers : what it can give, with its width; the first is what torch-fidelity takes for FID
    size : images are brought to size × size
    patch : pixels of a side of a transformer's patch, 0 for others
    file, sha256, url : its published weights; sha256 is "" where none is known
    """

    layers: dict[str, int]
    size: int
    patch: int
    file: str
    sha256: str
    url: str


# file: width, size, patch, SHA-256
CLIP = {
    "RN50": (1024, 224, 0, "afeb0e10f9e5a86da6080e35cf09123aca3b358a0c3e3b6c78a7b63bc04b6762"),
    "RN101": (512, 224, 0, "8fa8567bab74a42d41c5915025a8e4538c3bdbe8804a470a72f30b0d94fab599"),
    "RN50x4": (640, 288, 0, "7e526bd135e493cef0776de27d5f42653e6b4c8bf9e0f653bb11773263205fdd"),
    "RN50x16": (768, 384, 0, "52378b407f34354e150460fe41077663dd5b39c54cd0bfd2b27167a4a06ec9aa"),
    "RN50x64": (1024, 448, 0, "be1cfb55d75a9666199fb2206c106743da0f6468c9d327f3e0d0a543a9919d9c"),
    "ViT-B-32": (512, 224, 32, "40d365715913c9da98579312b702a82c18be219cc2a73407c4526f58eba950af"),
    "ViT-B-16": (512, 224, 16, "5806e77cd80f8b59890b7e101eabd078d9fb84e6937f9e85e4ecb61988df416f"),
    "ViT-L-14": (768, 224, 14, "b8cca3fd41ae0c99ba7e8951adf17d267cdb84cd88be6f7c2e0eca1737a03836"),
    "ViT-L-14-336px": (768, 336, 14, "3035c92b350959924f9f00213499208652fc7ea050643e8b385c2dac08641f02"),
}
# letter: width, SHA-256
DINOV2 = {
    "s": (384, "b938bf1bc15cd2ec0feacfe3a1bb553fe8ea9ca46a7e1d8d00217f29aef60cd9"),
    "b": (768, "0b8b82f85de91b424aded121c7e1dcc2b7bc6d0adeea651bf73a13307fad8c73"),
    "l": (1024, "d5383ea8f4877b2472eb973e0fd72d557c7da5d3611bd527ceeb1d7162cbf428"),
    "g": (1536, ""),
}


def _inception() -> Network:
    layers = {"2048": 2048, "768": 768, "192": 192, "64": 64, "logits_unbiased": 1008, "logits": 1008}
    sha256 = "6726825d0af5f729cebd5821db510b11b1cfad8faad88a03f1befd49fb9129b2"
    file = "weights-inception-2015-12-05-6726825d.pth"
    return Network(
        layers, 299, 0, file, sha256, f"https://github.com/toshas/torch-fidelity/releases/download/v0.2.0/{file}"
    )


def _vgg16() -> Network:
    sha256 = "397923af8e79cdbb6a7127f12361acd7a2f83e06b05044ddf496e83de57a5bf0"
    file = "vgg16-397923af.pth"
    return Network({"fc2_relu": 4096, "fc2": 4096}, 224, 0, file, sha256, f"https://download.pytorch.org/models/{file}")


def _clip(model: str) -> Network:
    dim, size, patch, sha256 = CLIP[model]
    url = f"https://openaipublic.azureedge.net/clip/models/{sha256}/{model}.pt"
    return Network({"clip": dim}, size, patch, f"clip-{model.lower()}-{sha256}.pt", sha256, url)


def _dinov2(letter: str) -> Network:
    dim, sha256 = DINOV2[letter]
    model = f"dinov2_vit{letter}14"
    url = f"https://dl.fbaipublicfiles.com/dinov2/{model}/{model}_pretrain.pth"
    return Network({"dinov2": dim}, 224, 14, f"{model}_pretrain.pth", sha256, url)


NETWORKS = {
    "inception-v3-compat": _inception(),
    "vgg16": _vgg16(),
    **{f"clip-{model.lower()}": _clip(model) for model in CLIP},
    **{f"dinov2-vit-{letter}-14": _dinov2(letter) for letter in DINOV2},
}

# Every layer by a name: "vgg16" is its first, "vgg16:fc2" another.
LAYERS = {
    name if k == 0 else f"{name}:{layer}": (name, layer)
    for name, network in NETWORKS.items()
    for k, layer in enumerate(network.layers)
}
# The classes' probabilities, which the Inception Score is of: the softmax of these logits.
PROBABILITIES = "inception-v3-compat:probabilities"
LAYERS[PROBABILITIES] = ("inception-v3-compat", "logits_unbiased")
