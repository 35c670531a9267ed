"""What is in the bytes that a client sends, in words: for whoever has to allow that they leave the house."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import Any

from ..errors import one_line, shown
from .client import can_be_rebuilt_from
from .serialization import NAME, NOISE, Section, has_checksum, read
from .summary_codec import REVEALS

MAX_SETTING_LETTERS = 300


def inspect(data: Any) -> list[str]:
    """What a summary of `client_summary` holds and reveals, its noise, its hash, and what it does not protect from.

    Parameters
    ----------
    data : the bytes

    Returns
    -------
    list of sentences; InvalidInput for bytes that are no summary, or damaged

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> for line in nm.federated.inspect(nm.federated.client_summary(rows, "fid"))[:2]:
    ...     print(line)
    A summary of 50 rows with 3 features, 300 bytes.
    fid: mean and covariance, 9 numbers of 8 bytes. FID: squared Fréchet distance, covariances with ddof 1
    """
    dim, sections = read(data, "summary")
    counts = sorted({section.count for section in sections.values()})
    rows = " and ".join("an exact distribution" if math.isinf(n) else f"{int(n):,} rows" for n in counts) or "no rows"
    lines = [f"A summary of {rows} with {dim:,} features, {len(data):,} bytes."]
    for section in sections.values():
        lines += _about(section, dim)
    if columns := next((section.columns for section in sections.values()), None):
        lines.append(f"It tells what the features are called: {shown(list(columns))}.")
    lines += _promises(list(sections.values()))
    version = int(data[len(NAME)])
    state = "its checksum is right" if has_checksum(data) else "it has no checksum, so damage would not be seen"
    lines.append(f"Format version {version}; {state}. SHA-256 of the file: {hashlib.sha256(data).hexdigest()}")
    return lines


def _about(section: Section, dim: int) -> Iterator[str]:
    """Yield what one metric reveals."""
    numbers = sum(array.size for array in section.arrays.values())
    held = f", {numbers:,} numbers of {section.type[-1]} bytes" if numbers else ""
    yield (
        f"{one_line(section.metric, MAX_SETTING_LETTERS)}: {REVEALS.get(section.kind, section.kind)}{held}. "
        f"{one_line(section.settings_text, MAX_SETTING_LETTERS)}"
    )
    notes = section.notes
    if "lost" in notes:
        yield f"  Directions were left out: √FID of this client is off by at most {notes['lost']:.3g}."
    if section.kind.startswith(NOISE):
        clip = f", rows clipped to norm {notes['clip']:g} about a public centre" if "clip" in notes else ""
        yield f"  Noise of standard deviation {notes['sigma']:.3g} in every number{clip}."
    elif (
        section.kind not in ("rows", "own")
        and not math.isinf(section.count)
        and can_be_rebuilt_from(section.kind, numbers, int(section.count), dim)
    ):
        yield "  So few rows can be rebuilt from these numbers, or recognized in them."


def _promises(sections: list[Section]) -> Iterator[str]:
    """Yield what noise promises, and what is not promised."""
    noisy = [section for section in sections if section.kind.startswith(NOISE)]
    bare = [section for section in sections if section.arrays and section not in noisy]
    if noisy:
        epsilon, delta = (max(s.notes.get(key, math.inf) for s in noisy) for key in ("epsilon", "delta"))
        yield f"Each row is protected: ε = {epsilon:g}, δ = {delta:g} for all noisy metrics, one row replaced."
    if bare:
        names = ", ".join(one_line(section.metric, MAX_SETTING_LETTERS) for section in bare)
        yield f"Without noise: {names}. Whoever knows all rows but one can compute that one."
    yield "It is neither signed nor encrypted: that is the transport's part (docs/federated.md)."
