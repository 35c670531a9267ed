"""Count the functions, files and changes of file on the way from rows to the table of one FID score.

python -m tests.evaluation.call_path            the three numbers
python -m tests.evaluation.call_path --trace    every function of the package, in the order of its first call
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

import nbmetrics as nm

PACKAGE = str(Path(nm.__file__).parent)


# Code that is no function of its own to a reader.
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


class CallPath(NamedTuple):
    """What a reader follows: functions and files that take part, and how often a call or a return changes the file."""

    functions: list[str]
    files: list[str]
    file_changes: int


def score_once() -> None:
    """Score two clients of rows and one generator by FID, and read the table."""
    rng = np.random.default_rng(0)
    clients = {"a": rng.normal(size=(50, 3)), "b": rng.normal(size=(60, 3))}
    generators = {"g": rng.normal(size=(80, 3))}
    nm.evaluate(clients, generators, "fid").table  # noqa: B018


def count_calls(run: Callable[[], None]) -> CallPath:
    """Return the call path of `run`, of functions of the package alone."""
    codes: dict[CodeType, None] = {}
    file_changes, last = 0, ""

    def record(frame: FrameType, event: str, _: Any) -> None:
        nonlocal file_changes, last
        code = frame.f_code
        if event not in ("call", "return") or code.co_name in COMPREHENSIONS:
            return
        if code.co_filename.startswith(PACKAGE):
            codes.setdefault(code)
            file_changes += last not in ("", code.co_filename)
            last = code.co_filename

    sys.setprofile(record)
    try:
        run()
    finally:
        sys.setprofile(None)
    named = [f"{Path(code.co_filename).relative_to(PACKAGE)} {code.co_qualname}" for code in codes]
    return CallPath(named, sorted({name.split()[0] for name in named}), file_changes)


def main() -> None:
    score_once()  # the first call imports
    path = count_calls(score_once)
    if "--trace" in sys.argv:
        print("\n".join(path.functions))
    print(f"{len(path.functions)} functions in {len(path.files)} files, {path.file_changes} changes of file")


if __name__ == "__main__":
    main()
