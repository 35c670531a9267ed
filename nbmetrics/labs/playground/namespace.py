"""What of the user's notebook could be a generator in the plane."""

from __future__ import annotations

from typing import Any

from ...arrays import is_array
from ...distributions import Distribution


def suitable() -> dict[str, Any]:
    """The user's variables that are rows (n, 2) or laws in the plane, by name; functions `(n, rng)` too."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        return {}
    hidden = getattr(shell, "user_ns_hidden", {})
    given = {k: v for k, v in shell.user_ns.items() if not k.startswith("_") and k not in hidden}
    return {name: value for name, value in given.items() if _fits(value)}


def _fits(value: Any) -> bool:
    if isinstance(value, type):
        return False
    if isinstance(value, Distribution):
        return value.dim == 2
    if is_array(value):
        return value.ndim == 2 and value.shape[1] == 2 and value.shape[0] >= 2
    code = getattr(value, "__code__", None)
    return code is not None and code.co_varnames[: code.co_argcount] == ("n", "rng")
