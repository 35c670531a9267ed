"""What of the user's notebook could be a client or a generator of a lab, and why the rest could not."""

from __future__ import annotations

import os
from typing import Any

from ...arrays import as_rows, is_array
from ...distributions import Distribution
from ...errors import InvalidInput, printable
from ...federation import Federation, are_images

# Variables that a lab lists.
MAX_VARIABLES_LISTED = 200
MAX_REASON_LETTERS = 160
# Numbers of one of them that are read for a list; more are read when it is chosen.
MAX_VALUES_READ = 2_000_000


def suitable() -> dict[str, Any]:
    """Return the user's variables that a lab may take (rows, frames, distributions, functions), by name."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        return {}
    hidden = getattr(shell, "user_ns_hidden", {})
    named = {k: v for k, v in shell.user_ns.items() if isinstance(k, str)}
    variables = {k: v for k, v in named.items() if not k.startswith("_") and k not in hidden}
    data = {name: value for name, value in variables.items() if _may_be_data(value)}
    return dict(sorted(data.items())[:MAX_VARIABLES_LISTED])


def list_variables(dim: int, takes_images: bool = False) -> list[dict[str, str]]:
    """Return each variable's name, and why a lab of `dim` features cannot take it, or ""."""
    return [{"name": name, "why": why_not(value, dim, takes_images)} for name, value in suitable().items()]


def why_not(value: Any, dim: int, takes_images: bool = False) -> str:
    """Return why a variable cannot stand beside `dim` features, or ""; functions are not called."""
    try:
        return _why_not(value, dim, takes_images)
    except Exception as error:  # an object of the user's own, such as a lazy frame, may raise anything when looked at
        return f"it cannot be looked at ({type(error).__name__})"


def _why_not(value: Any, dim: int, takes_images: bool) -> str:
    if isinstance(value, Federation):
        return "a federation: open another lab with it"
    if isinstance(value, Distribution):
        return "" if value.dim == dim else f"{_features(value.dim)}, not {dim}"
    if are_images(value) and (takes_images or not is_array(value)):
        return "" if takes_images else "images, but the clients of this lab are rows"
    if not _is_frame(value) and not is_array(value):
        return ""
    shape = tuple(value.shape)
    if len(shape) != 2:
        return f"shape {shape}, not rows (n, {dim})"
    if shape[1] != dim:
        return f"{_features(shape[1])}, not {dim}"
    if shape[0] * shape[1] > MAX_VALUES_READ:
        return ""
    try:
        as_rows(value, "it", min_rows=2)
    except InvalidInput as error:
        return printable(error.seen, MAX_REASON_LETTERS)
    return ""


def _may_be_data(value: Any) -> bool:
    try:
        return _is_data(value)
    except Exception:  # as in why_not: one odd variable must not hide the others
        return False


def _is_data(value: Any) -> bool:
    if isinstance(value, type):
        return False
    if isinstance(value, (Distribution, Federation)) or _is_frame(value) or hasattr(value, "latent_dim"):
        return True
    if is_array(value):
        return value.ndim > 0
    if not isinstance(value, (str, os.PathLike)) and are_images(value):
        return True
    code = getattr(value, "__code__", None)
    return code is not None and code.co_varnames[: code.co_argcount] == ("n", "rng")


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "to_numpy") and hasattr(value, "shape")


def _features(count: int) -> str:
    return f"{count} feature{'s' * (count != 1)}"
