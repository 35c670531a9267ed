"""Weights of networks: found, downloaded where that was asked for, checked, and read as tensors and nothing else.

weights → located (a file, or tensors; needs no torch) → read → a state dict, its source, its digest
              → passed (the same bytes made a network before: its digest, without torch)
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..errors import InvalidInput, shown
from ..files import replace_file
from .cache import cache_home
from .networks import NETWORKS, Network

SUFFIXES = (".safetensors", ".pt", ".pth")


class Weights(NamedTuple):
    """A state dict on the CPU, and where it is from, as error messages and convention lines have it.

    sha256 : of the file, "" where there is none
    """

    state: dict[str, Any]
    where: str
    is_published: bool
    sha256: str = ""


def folder() -> Path:
    """Return the folder that weights are looked for in and downloaded to."""
    return cache_home() / "weights"


def published_file(network: Network) -> Path | None:
    """Return a network's published file in this package's folder, or where torch-fidelity and torch.hub put theirs."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    hub = Path(os.environ.get("TORCH_HOME") or cache / "torch") / "hub" / "checkpoints"
    return next((place / network.file for place in (folder(), hub) if (place / network.file).is_file()), None)


def find_weights(name: str, weights: Any, download: bool) -> Path | Mapping[str, Any]:
    """Return the file of a network's weights, or the tensors given; downloaded only where `download` is True."""
    network = NETWORKS[name]
    if isinstance(weights, Mapping):
        return weights
    if weights is None:
        return published_file(network) or (_fetch_published(name, network) if download else _missing(name, network))
    if not isinstance(weights, (str, os.PathLike)):
        raise InvalidInput("weights", f"got {shown(weights)}", f"Give the path of a file ({_SUFFIXES}) or a state dict")
    path = Path(os.fsdecode(weights)).expanduser()
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput("weights", f"got {shown(str(path))}", f"Give a state dict in a file {_SUFFIXES}")
    try:
        is_file = path.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise InvalidInput("weights", f"there is no file {shown(str(path))}", "Check the path")
    return path


_SUFFIXES = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"


def _missing(name: str, network: Network) -> Path:
    checksum = f"SHA-256 {network.sha256}" if network.sha256 else "no checksum is known"
    seen = f"{name} needs {network.file} ({checksum}), which is not in {folder()}, nor where torch.hub keeps files"
    fetch = f"download=True to fetch it from {network.url}" if network.sha256 else f"fetch it from {network.url}"
    raise InvalidInput("weights", seen, f"Put it there, give its path as weights, or {fetch}")


def _fetch_published(name: str, network: Network) -> Path:
    if not network.sha256:
        _missing(name, network)
    path = folder() / network.file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _fetch(network.url, path, network.sha256)
    except (OSError, RuntimeError, ValueError) as error:  # no network, no room, or other bytes than expected
        seen = f"fetching {network.url} failed: {shown(str(error), 300)}"
        fix = f"Put the file into {folder()} yourself, or give its path as weights"
        raise InvalidInput("download", seen, fix) from None
    return path


def _fetch(url: str, path: Path, sha256: str) -> None:
    """Return the file of this checksum, whole or not at all."""
    import torch

    torch.hub.download_url_to_file(url, str(path), hash_prefix=sha256)


def read(name: str, source: Path | Mapping[str, Any]) -> Weights:
    """Return the tensors of a file, or those given; nothing that a file holds is ever run.

    Raises InvalidInput where the file is not what its place says (by its checksum), cannot be read as tensors alone, or
    has numbers that are not finite.
    """
    if isinstance(source, Mapping):
        return Weights(_check_tensors(source, "the state dict"), "the state dict", False)
    sha256_found, is_published = checksum(name, source)
    return Weights(_check_tensors(_state(source, is_published), str(source)), str(source), is_published, sha256_found)


def checksum(name: str, path: Path) -> tuple[str, bool]:
    """Return the SHA-256 of a file, and whether it is the published one; InvalidInput for another file in its place."""
    network = NETWORKS[name]
    try:
        with path.open("rb") as file:
            actual = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidInput("weights", f"{path} cannot be read: {error.strerror}", "Check the file") from None
    is_published = actual == network.sha256
    if network.sha256 and not is_published and path.name == network.file:
        seen = f"{path} has SHA-256 {actual}, not {network.sha256}: it is incomplete or another file"
        raise InvalidInput("weights", seen, "Delete it and fetch it again, or rename it if it is one of your own")
    return actual, is_published


def remembered_digest(name: str, path: Path) -> tuple[str, bool] | None:
    """Return the digest of this network with the weights of this file, and whether that is the published one.

    None where no file of the same bytes has made one here.
    """
    sha256_found, is_published = checksum(name, path)
    try:
        text = _note(name, path, sha256_found).read_text("ascii")
    except (OSError, ValueError):
        return None
    return (text, is_published) if _DIGEST.fullmatch(text) else None


def remember_digest(name: str, weights: Weights, digest: str) -> None:
    """Note that a file made a network of this digest; where that cannot be written, it is made again next time."""
    if not weights.sha256:
        return
    note = _note(name, Path(weights.where), weights.sha256)
    draft = note.with_name(f"{note.name}.{secrets.token_hex(8)}.part")
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(digest, "ascii")
        replace_file(draft, note)
    except OSError:
        draft.unlink(missing_ok=True)


def _note(name: str, path: Path, sha256: str) -> Path:
    """Return where a file's digest is noted, by network, name and content of the file."""
    key = "\n".join([name, path.name, sha256, program(), __version__])
    return cache_home() / "passed" / hashlib.sha256(os.fsencode(key)).hexdigest()


_DIGEST = re.compile("[0-9a-f]{64}")


@cache
def program() -> str:
    """Return torch-fidelity and its version, which stands in the names of rows."""
    try:
        version = metadata.version("torch-fidelity")
    except metadata.PackageNotFoundError:  # a copy that no installer knows of
        version = import_module("torch_fidelity").__version__
    return f"torch-fidelity {version}"


def _state(path: Path, is_published: bool) -> Any:
    import torch

    if path.suffix.lower() == ".safetensors":
        try:
            from safetensors.torch import load_file
        except ImportError:
            fix = 'Run: pip install "nbmetrics[images]"'
            raise InvalidInput("weights", f"{path.name} needs safetensors, which is not installed", fix) from None
        reading = lambda: load_file(path)  # noqa: E731
    elif is_published and path.name.startswith("clip-"):
        # OpenAI's files are programs of TorchScript: read only where the checksum says that it is theirs.
        reading = lambda: torch.jit.load(path, map_location="cpu").state_dict()  # noqa: E731
    else:
        reading = lambda: torch.load(path, map_location="cpu", weights_only=True)  # noqa: E731
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of TorchScript: that it is old, and of what is refused here
            return reading()
    except Exception as error:  # what unpickling a broken or hostile file raises is anyone's guess
        seen = f"{path} contains something other than tensors, and was not run ({type(error).__name__})"
        fix = "Give a state dict: torch.save(module.state_dict(), path), or safetensors"
        raise InvalidInput("weights", seen, fix) from None


def _check_tensors(state: Any, where: str) -> dict[str, Any]:
    """Return the tensors of a state dict on the CPU, every one of plain finite numbers."""
    import torch

    fix = "Give a flat dict name -> tensor, as module.state_dict() returns it"
    if not isinstance(state, Mapping) or not state:
        raise InvalidInput("weights", f"{where} is {shown(state)}", fix)
    for key, value in state.items():
        if not (isinstance(key, str) and torch.is_tensor(value)):
            raise InvalidInput("weights", f"{where} has {shown(key)}: {shown(value)}", fix)
        if value.layout != torch.strided or value.is_quantized or value.is_meta or value.is_complex():
            raise InvalidInput("weights", f"{shown(key)} of {where} is not a plain tensor of numbers", fix)
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            seen = f"{shown(key)} of {where} has values that are NaN or infinite"
            raise InvalidInput("weights", seen, "Give the weights of a network that has not diverged")
    return {key: value.detach().cpu() for key, value in state.items()}


def digest(state: Mapping[str, Any]) -> str:
    """Return the SHA-256 of names, types, shapes and bytes of tensors, ordered by name: alike from any container."""
    import torch

    total = hashlib.sha256()
    for key in sorted(state):
        tensor = state[key].detach().cpu().contiguous()
        total.update(f"{key} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        total.update(tensor.reshape(-1).view(torch.uint8).numpy())
    return total.hexdigest()
