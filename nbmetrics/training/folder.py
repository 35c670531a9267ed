"""Checkpoints of a run in a folder: after ten rounds spread evenly, each whole or not there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, shown
from .trained import SUFFIX, Trained, loaded

KEPT = 10
_NAME = re.compile(rf"round-(\d+)\{SUFFIX}")


def checked_folder(path: Any) -> Path:
    """`path` as a folder, made where its parent is there."""
    try:
        folder = Path(path).expanduser().resolve()
        folder.mkdir(exist_ok=True)
    except (TypeError, ValueError, RuntimeError):
        raise InvalidInput("checkpoints", f"got {shown(path)}", "Give the path of a folder") from None
    except OSError as error:
        seen = f"{shown(str(path))} cannot be made ({error.strerror})"
        raise InvalidInput("checkpoints", seen, "Give a folder, or a new one in a folder that is there") from None
    return folder


def kept_rounds(rounds: int) -> set[int]:
    """The rounds after which a run of so many is kept: ten, or each of fewer, the last among them."""
    return {-(-rounds * k // KEPT) for k in range(1, KEPT + 1)}


def name_of(round_: int) -> str:
    return f"round-{round_:06d}{SUFFIX}"


def newest(folder: Path, run: str, rounds: int) -> Trained | None:
    """The last checkpoint of the run `run` in the folder, of at most `rounds` rounds; None where there is none yet.

    Raises InvalidInput where the folder holds another run.
    """
    numbered = {int(found[1]): path for path in folder.iterdir() if (found := _NAME.fullmatch(path.name))}
    fitting = [number for number in numbered if number <= rounds]
    if not fitting:
        if numbered:
            seen = f"{shown(str(folder))} holds a run of more than {rounds} rounds"
            raise InvalidInput("checkpoints", seen, "Ask for more rounds, or name another folder")
        return None
    try:
        trained = loaded(numbered[max(fitting)])
    except InvalidInput as error:
        raise InvalidInput("checkpoints", error.seen, "Move that file away, or name another folder") from None
    if trained.run != run:
        seen = f"{shown(str(folder))} holds a run of other data, or another kind, seed, start or local_steps"
        raise InvalidInput("checkpoints", seen, "Name another folder, or ask for that run again")
    return trained
