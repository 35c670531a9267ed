"""Networks and functions of the user's own as extractors. Torch is used where a module is given, which brought it."""

from __future__ import annotations

import dis
import hashlib
import sys
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any

import numpy as np

from ..arrays import evaluation_mode, first_parameter, full_precision, without_autocast
from ..errors import InvalidInput, check_count, shown
from .batches import CLEAN_CONVENTION, clean_resize, rows_by_shape
from .torch_environment import arithmetic_of
from .weights import digest

MAX_SHRUNK_SIDE = 10_000  # of a side


class ModuleExtractor:
    """Any `torch.nn.Module`: (k, C, H, W) float32 in [0, 1] to one row for each image.

    C is 1 for grey images and 3 for colour; where the module's first `Conv2d` takes 3, grey becomes three equal
    channels, and where it takes 1, colour is refused. Images come in the size they have, those of one shape in a batch
    together, and nothing is subtracted or divided: let `forward` do what the network was trained with. With
    resize="clean" they are brought to module.image_size (pixels a side) first, as clean-fid does, and not rounded.
    Of a tuple or list the first tensor counts; what has more than two axes is flattened to (k, d).

    The module runs where it is, in evaluation mode, without gradients, with torch's stream seeded by 0, in the type of
    its parameters, and is left as it was. What identifies its rows in the cache: weights and attributes in it, code
    and attributes of its classes, and plain values and functions of their files that this code names, but not what it
    imports: set `module.fingerprint` to a text of your own where that matters, or to None so that nothing is kept.
    Nothing is kept either of a module with hooks, or with attributes that have no plain content.
    """

    def __init__(self, module: Any, device: Any = "auto", is_clean: bool = False) -> None:
        self._module, self.name = module, type(module).__name__
        self._size = _image_size(module) if is_clean else None
        self._channels = _channels(module)
        _check_device(module, device)

    @property
    def fingerprint(self) -> str | None:
        """As the module is now; it may have been trained since."""
        module = self._module
        if hasattr(module, "fingerprint"):
            own = _object_fingerprint(module, self.name)
            return own and f"{own}/{self._resize}"
        if any(part._forward_hooks or part._forward_pre_hooks for part in module.modules()):
            return None
        try:
            weights = digest(_tensors(module))
            parts = [_describe_part(name, part) for name, part in module.named_modules()]
        except _HIDDEN:
            return None
        text = hashlib.sha256("\n".join(parts).encode("utf-8", "backslashreplace")).hexdigest()
        arithmetic = arithmetic_of(first_parameter(module).device.type)
        default = str(sys.modules["torch"].get_default_dtype())  # of what `forward` makes, which is the user's
        own = "" if default == "torch.float32" else f"/{default}"
        return f"{self.name}/{weights}/{text}/{self._resize}/{arithmetic}{own}"

    @property
    def convention(self) -> str:
        """What the rows are, for the line under a table."""
        size = f"{self._size} × {self._size}"
        resized = f"images resized to {size} {CLEAN_CONVENTION}" if self._size else "images in their own size"
        try:
            weights = f", weights {digest(_tensors(self._module))[:8]}"
        except _HIDDEN:
            weights = ""
        grey = ", grey as three equal channels" if self._channels == 3 else ""
        return f"{self.name} (a module of your own{weights}), {resized}, in [0, 1]{grey}"

    @property
    def _resize(self) -> str:
        return f"clean {self._size}" if self._size else "extractor"

    def __call__(self, batch: Sequence[np.ndarray]) -> np.ndarray:
        """(b, d) float32 rows of b uint8 images, (H, W, 3) or (H, W)."""
        return rows_by_shape(batch, self._rows)

    def _rows(self, images: np.ndarray) -> Any:
        torch = sys.modules["torch"]
        if images.ndim == 4 and self._channels == 1:
            seen = f"has colour images, and the first convolution of {self.name} takes one channel"
            raise InvalidInput("source", seen, "Make them grey first")
        levels = images
        if self._size:
            levels = np.stack([clean_resize(image, self._size) for image in images])
        pixels = torch.from_numpy(np.ascontiguousarray(levels, dtype=np.float32) / np.float32(255))
        pixels = pixels[:, None] if pixels.ndim == 3 else pixels.permute(0, 3, 1, 2).contiguous()
        if pixels.shape[1] == 1 and self._channels == 3:
            pixels = pixels.repeat(1, 3, 1, 1)
        with evaluation_mode(self._module, 0) as first, without_autocast(), full_precision:
            outputs = self._module(pixels.to(device=first.device, dtype=first.dtype))
        return _flatten_rows(outputs, len(images))


class FunctionExtractor:
    """Any function of images, (k, H, W, 3) or (k, H, W) uint8, that returns (k, d) real numbers, NumPy or torch.

    Of a batch, images of one shape come together. A function says nothing of what it depends on, so its rows are not
    kept in the cache, unless it has an attribute `fingerprint`, a text that you change whenever it changes.
    """

    def __init__(self, function: Callable[[np.ndarray], Any]) -> None:
        self._function = function
        self.name = str(getattr(function, "__name__", type(function).__name__))

    @property
    def fingerprint(self) -> str | None:
        return _object_fingerprint(self._function, self.name)

    @property
    def convention(self) -> str:
        """What the rows are, for the line under a table."""
        return f"{self.name} (a function of your own) of uint8 images"

    def __call__(self, batch: Sequence[np.ndarray]) -> np.ndarray:
        """(b, d) float32 rows of b uint8 images, (H, W, 3) or (H, W)."""
        return rows_by_shape(batch, self._function)


def _object_fingerprint(value: Any, name: str) -> str | None:
    own = getattr(value, "fingerprint", None)
    if own is not None and not isinstance(own, str):
        raise InvalidInput("extractor", f"its fingerprint is {shown(own)}", "Make it a text, or None: nothing is kept")
    return None if own is None else f"{name}/{own!a}"


def _image_size(module: Any) -> int:
    size = getattr(module, "image_size", None)
    if size is None:
        seen = f"'clean' needs a size, and {type(module).__name__} has no image_size"
        raise InvalidInput("resize", seen, "Set module.image_size = 224, or what it takes")
    return check_count(size, "module.image_size", maximum=MAX_SHRUNK_SIDE)


def _channels(module: Any) -> int | None:
    """Return how many channels its first convolution takes, where that decides."""
    torch = sys.modules["torch"]
    first = next((part for part in module.modules() if isinstance(part, torch.nn.Conv2d)), None)
    return first.in_channels if first is not None and first.in_channels in (1, 3) else None


def _tensors(module: Any) -> dict[str, Any]:
    return {**module.state_dict(), **dict(module.named_buffers())}


def _check_device(module: Any, device: Any) -> None:
    if isinstance(device, str) and device == "auto":
        return
    from .torch_environment import device_of

    wanted, module_device = device_of(device), first_parameter(module).device
    if (wanted.type, wanted.index or 0) != (module_device.type, module_device.index or 0):
        seen = f"got {shown(str(wanted))}, and the module is on {module_device}"
        raise InvalidInput("device", seen, "Move it first: module.to(device)")


class _NoContentError(Exception):
    """Something whose content cannot be written down."""


# What looking for content raises: endless nesting, empty closures, tensors that are quantised or on no device.
_HIDDEN = (_NoContentError, RuntimeError, ValueError, TypeError, AttributeError)


def _describe_part(name: str, part: Any) -> str:
    """Return a part of a module as text: what may change its rows, its parameters and buffers apart."""
    torch = sys.modules["torch"]
    every = vars(torch.nn.Module())
    held = {key: value for key, value in sorted(vars(part).items()) if key not in every}
    return f"{name} {_content(type(part))} {_content(held)} {_content(type(part).forward)} {_members(type(part))}"


def _members(kind: type) -> str:
    """Return attributes and methods of a class and those above it, up to torch's own."""
    members = {}
    for above in reversed(kind.__mro__):
        if above.__module__.split(".")[0] not in ("builtins", "torch"):
            members.update({key: value for key, value in vars(above).items() if not key.startswith("__")})
    return f"{[(key, _content_or_type(value, ())) for key, value in sorted(members.items())]}"


def _content_or_type(value: Any, above: tuple[Any, ...]) -> str:
    """Return the content of what a class or a file holds, or the type of what has none."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, property):
        value = [value.fget]
    try:
        return _content(value, above)
    except _HIDDEN:
        return type(value).__qualname__


def _content(value: Any, above: tuple[Any, ...] = ()) -> str:
    """A value as text that is the same in another session, and another where the value is; `above` are functions that
    name it."""
    torch = sys.modules["torch"]
    if isinstance(value, (bool, int, float, str, bytes, type(None), torch.dtype, torch.device)):
        return repr(value)
    if torch.is_tensor(value):
        return digest({"": value})
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_content(held, above) for held in value)}]"
    if isinstance(value, (set, frozenset)):
        return f"set {sorted(_content(held, above) for held in value)}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_content(key, above)}: {_content(held, above)}' for key, held in value.items())}}}"
    if isinstance(value, (type, BuiltinFunctionType)):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, FunctionType):
        return value.__qualname__ if value in above else _function(value, (*above, value))
    raise _NoContentError


def _function(value: FunctionType, above: tuple[Any, ...]) -> str:
    """Return the code of a function, and what that takes from around it; of what it imports, nothing."""
    captured = [cell.cell_contents for cell in value.__closure__ or ()]
    global_values = value.__globals__ if str(value.__module__).split(".")[0] != "torch" else {}
    named = {name: global_values[name] for name in sorted(_global_names(value.__code__)) if name in global_values}
    own = [
        (name, _content_or_type(held, above))
        for name, held in named.items()
        if not isinstance(held, (FunctionType, type)) or held.__module__ == value.__module__
    ]
    return f"{_code(value.__code__)} {_content([captured, value.__defaults__, value.__kwdefaults__], above)} {own}"


def _global_names(code: CodeType) -> set[str]:
    names = {str(step.argval) for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(_global_names(value) for value in code.co_consts if isinstance(value, CodeType)))


def _code(code: CodeType) -> str:
    """Return what a function does, whatever file and line it stands in."""
    inner = [_code(value) if isinstance(value, CodeType) else _constant(value) for value in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {inner}"


def _constant(value: Any) -> str:
    """Return a constant of code as text; a set has another order in another session."""
    return str(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _flatten_rows(output: Any, count: int) -> Any:
    torch = sys.modules["torch"]
    first = output[0] if isinstance(output, (tuple, list)) and output else output
    if not torch.is_tensor(first) or first.ndim == 0 or len(first) != count:
        seen = f"gave {shown(first)}" if not torch.is_tensor(first) else f"gave a tensor of shape {tuple(first.shape)}"
        raise InvalidInput("extractor", f"{seen} for {count} images", "Let forward return one row for each image")
    return first.detach().reshape(count, -1).cpu()
