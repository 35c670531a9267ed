"""Checkpoints of a run in a folder: after ten rounds spread evenly, each whole or not there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, shown
from .trained import SUFFIX, Trained, read_model

CHECKPOINTS_PER_RUN = 10
_NAME = re.compile(rf"round-(\d+)\{SUFFIX}")


def checkpoint_folder(path: Any) -> Path:
    """Return `path` as a folder, made where its parent is there."""
    try:
        folder = Path(path).expanduser().resolve()
        folder.mkdir(exist_ok=True)
    except (TypeError, ValueError, RuntimeError):
        raise InvalidInput("checkpoints", f"got {shown(path)}", "Give the path of a folder") from None
    except OSError as error:
        seen = f"{shown(str(path))} cannot be made ({error.strerror})"
        raise InvalidInput("checkpoints", seen, "Give a folder, or a new one in an existing folder") from None
    return folder


def checkpoint_rounds(rounds: int) -> set[int]:
    """Return the rounds after which a run of so many is kept: ten, or each of fewer, the last among them."""
    return {-(-rounds * k // CHECKPOINTS_PER_RUN) for k in range(1, CHECKPOINTS_PER_RUN + 1)}


def checkpoint_name(round_: int) -> str:
    return f"round-{round_:06d}{SUFFIX}"


def newest_checkpoint(folder: Path, run: str, rounds: int) -> Trained | None:
    """Return the last checkpoint of the run in the folder, of at most `rounds` rounds; None where there is none yet.

    Raises InvalidInput where the folder holds another run.
    """
    numbered = {int(match[1]): path for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))}
    candidates = [number for number in numbered if number <= rounds]
    if not candidates:
        if numbered:
            seen = f"{shown(str(folder))} contains a run of more than {rounds} rounds"
            raise InvalidInput("checkpoints", seen, "Ask for more rounds, or name another folder")
        return None
    try:
        trained = read_model(numbered[max(candidates)])
    except InvalidInput as error:
        raise InvalidInput("checkpoints", error.seen, "Move that file away, or name another folder") from None
    if trained.run != run:
        seen = f"{shown(str(folder))} contains a run of other data, or another kind, seed, start or local_steps"
        raise InvalidInput("checkpoints", seen, "Name another folder, or ask for that run again")
    return trained
