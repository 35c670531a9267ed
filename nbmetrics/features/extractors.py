"""Extractors, which turn images into rows: by name, any module, or any function of a batch."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from ..errors import InvalidInput, caller_level, check_choice, check_flag, no_choice, shown
from ..plugins import EXTRACTORS, PluginWarning, find, plugins
from .batches import check_image
from .networks import LAYERS, NETWORKS
from .torch_environment import NUMPY_EXTRACTORS, check_packages, missing_packages
from .weights import find_weights, published_file

if TYPE_CHECKING:
    import pandas as pd

RESIZES = ("extractor", "clean")
NAMES = (*NUMPY_EXTRACTORS, *LAYERS)
FILES = (".pt", ".pth", ".onnx", ".safetensors", ".npz")


@runtime_checkable
class Extractor(Protocol):
    """A function from a batch of images to rows, and what identifies it.

    Attributes
    ----------
    name : how people call it
    fingerprint : name, hash of the weights, transform and type of numbers: rows of one fingerprint may be mixed; None
        where nothing is known to identify them, so that they are not kept
    convention : the line under a table
    """

    name: str

    @property
    def fingerprint(self) -> str | None: ...

    @property
    def convention(self) -> str: ...

    def __call__(self, batch: Sequence[np.ndarray]) -> np.ndarray:
        """(b, d) float32 rows of b images, (H, W, 3) or (H, W) uint8 each."""


class Pixels:
    """The pixels themselves, in [0, 1]: images of one size, all grey or all in colour.

    The first image settles which; another shape is refused, in later batches too.
    """

    name = "pixels"

    def __init__(self) -> None:
        self._shape: tuple[int, ...] | None = None

    @property
    def fingerprint(self) -> str:
        return "pixels/1/float32" if self._shape is None else f"pixels/1/float32/{'x'.join(map(str, self._shape))}"

    @property
    def convention(self) -> str:
        """What the rows are, for the line under a table."""
        return "pixels in [0, 1]"

    def admit(self, image: np.ndarray) -> None:
        """Settle on the shape of this image, or refuse it where another was settled on."""
        shape = check_image(image).shape
        self._shape = self._shape or shape
        if shape != self._shape:
            seen = f"has images of shapes {self._shape} and {shape}"
            fix = (
                "Pixels compare only in images of one size, all grey or all in colour; networks resize: nm.extractors()"
            )
            raise InvalidInput("source", seen, fix)

    def __call__(self, batch: Sequence[np.ndarray]) -> np.ndarray:
        """(b, d) float32 rows of b uint8 images; d = H · W · 3, or H · W of grey ones."""
        for image in batch:
            self.admit(image)
        if not len(batch):
            return np.empty((0, int(np.prod(self._shape or 0))), np.float32)
        return np.stack(batch).reshape(len(batch), -1).astype(np.float32) / np.float32(255)


def extractor_of(
    extractor: Any, *, weights: Any = None, download: bool = False, device: Any = "auto", resize: str = "extractor"
) -> Extractor:
    """Return the extractor of this name, or around this module or function; see `nm.extract`.

    Raises InvalidInput where a setting does not fit, a package is not installed, or weights are not at hand.
    """
    is_clean = check_choice(resize, RESIZES, "resize") == "clean"
    _check_no_file(extractor)
    may_download = check_flag(download, "download")
    if isinstance(extractor, str):
        if extractor not in NAMES:
            settings: dict[str, Any] = {"weights": weights, "device": device, "resize": resize}
            return _extractor_of_plugin(extractor, settings)
        name = extractor
        if name in NUMPY_EXTRACTORS:
            return _plain(name, weights, device, is_clean)
        check_packages(name)
        source = find_weights(LAYERS[name][0], weights, may_download)
        from .named import FidelityExtractor

        return FidelityExtractor(name, source, device, is_clean)
    from .custom_extractors import FunctionExtractor, ModuleExtractor

    if not callable(extractor) or isinstance(extractor, type):
        fix = "Give a name of nm.extractors(), a torch.nn.Module, or a function of a batch of images"
        raise InvalidInput("extractor", f"got {shown(extractor)}", fix)
    who = type(extractor).__name__
    if weights is not None:
        raise InvalidInput("weights", f"were given with {who}", "Load them into it before, or give a name")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(extractor, torch.nn.Module):
        return ModuleExtractor(extractor, device, is_clean)
    _refuse_settings(who, device, is_clean)
    return extractor if isinstance(extractor, Extractor) else FunctionExtractor(extractor)


def _extractor_of_plugin(name: str, settings: dict[str, Any]) -> Extractor:
    """Return the extractor of an installed package; InvalidInput for a name that none has."""
    others, _ = plugins(EXTRACTORS, NAMES)
    plugin = find(EXTRACTORS, name, NAMES)
    if plugin is None:
        raise no_choice(name, [*NAMES, *others], "extractor")
    extractor = plugin.make("extractor")
    if isinstance(extractor, str):
        raise plugin.refusal("extractor", f"gives {shown(extractor)}, which is no extractor")
    return extractor_of(extractor, **settings)


def _check_no_file(extractor: Any) -> None:
    """Raise InvalidInput for a file: whoever loads a network from one, runs what is in it."""
    if not isinstance(extractor, (str, os.PathLike)):
        return
    path = os.fsdecode(extractor)
    suffix = os.path.splitext(path)[1].lower()
    if suffix in FILES or isinstance(extractor, os.PathLike):
        seen = f"got the file {shown(path)}; a file contains weights, or a program (TorchScript, ONNX), not run here"
        fix = (
            "Load a program yourself if you trust it, and give the module, or a function of a batch of images that "
            "calls it; weights go with the name of their network: 'inception-v3-compat', weights=file"
        )
        raise InvalidInput("extractor", seen, fix)


def _plain(name: str, weights: Any, device: Any, is_clean: bool) -> Extractor:
    room, kind, _ = NUMPY_EXTRACTORS[name]
    _refuse_settings(name, device, is_clean)
    make = getattr(import_module(f".{room}", __package__), kind)
    if name == "pixels" and weights is not None:
        raise InvalidInput("weights", "were given for pixels, which have none", "Leave weights out")
    return make() if weights is None else make(weights)


def _refuse_settings(who: str, device: Any, is_clean: bool) -> None:
    if is_clean:
        seen = f"'clean' resizes images to a network's size, but {who} states none"
        raise InvalidInput("resize", seen, "Leave resize out, and resize the images yourself if they need it")
    if str(device) not in ("auto", "cpu"):
        raise InvalidInput("device", f"got {shown(device)}, but {who} does not use it", "Leave device out")


def extractors() -> pd.DataFrame:
    """The extractors that have names.

    Returns
    -------
    DataFrame with a row for each
        name : what `nm.extract` takes; after the colon, a layer other than the one that torch-fidelity takes for FID
        dim : the width of its rows, <NA> where that is the images' own, or not known
        needs : the extra to install and the file of weights, "" where it comes with the package; or the package of it
        ready : whether both are there; the file's checksum is looked at when it is used

    Nothing is fetched, and no network of nbmetrics is loaded. What other packages bring is made, to see whether it is
    ready; what does not load is left out, with a `PluginWarning` that names the package and the error.

    Examples
    --------
    >>> import nbmetrics as nm
    >>> nm.extractors().set_index("name").loc[["pixels", "inception-v3-compat"], "dim"].to_list()
    [<NA>, 2048]
    """
    import pandas as pd

    is_installed = not missing_packages()
    rows: list[tuple[str, int | None, str, bool]] = [
        (name, dim, "", True) for name, (_, _, dim) in NUMPY_EXTRACTORS.items()
    ]
    for name, (base, layer) in LAYERS.items():
        network = NETWORKS[base]
        needs = f"nbmetrics[images], {network.file}"
        rows.append((name, network.layers[layer], needs, is_installed and published_file(network) is not None))
    rows += _rows_of_plugins()
    table = pd.DataFrame(rows, columns=["name", "dim", "needs", "ready"])
    return table.astype({"dim": "Int64"})


def _rows_of_plugins() -> list[tuple[str, int | None, str, bool]]:
    """Return the rows of the extractors of other packages, and warn of those that do not load."""
    rows: list[tuple[str, int | None, str, bool]] = []
    others, lines = plugins(EXTRACTORS, NAMES)
    for name, plugin in others.items():
        try:
            dim = getattr(plugin.make("extractor"), "dim", None)
            rows.append((name, dim if type(dim) is int and dim > 0 else None, plugin.package, True))
        except InvalidInput as refusal:
            lines.append(refusal.seen)
    if lines:
        said = f"left out of nm.extractors(): {'; '.join(lines)}"
        warnings.warn(said, PluginWarning, stacklevel=caller_level())
    return rows
