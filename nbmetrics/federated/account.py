"""The account of a client's privacy: what its rows have spent by now, in a file that is only appended to.

    first line    the bound that must not be passed: {"format": 1, "epsilon", "delta"}
    other lines   one a release: {"mu2": μ², "about", "date"}, of a private quantile also "pure": ε
                  every line ends with its checksum

A release of multiplier z is Gaussian-DP with μ = 1/z, and releases on the same rows compose to √Σμ² exactly (Dong, Roth
& Su 2022). A private quantile has pure ε: it counts with the smallest μ that covers it, or its ε is added to that of
the others, whichever gives less. A line is written and synced before the bytes that it is about are returned: a process
that dies between the two has spent what nobody received, and never the other way round. One process writes at a time.
"""

from __future__ import annotations

import json
import math
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from decimal import ROUND_DOWN, Context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput, check_number, check_text, encodable, shown
from ..files import lock_file, open_plain
from .privacy import MAX_DELTA, MAX_EPSILON, MIN_DELTA, MIN_EPSILON, Privacy, PureEpsilon, noise_multiplier, spent

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
MAX_BYTES, MAX_LINE_BYTES, MAX_ABOUT_LETTERS = 1 << 26, 1 << 12, 500
# Of ε: what rounding may add where all of it is spent.
SLACK = 1e-8
FIX_DAMAGED = "Name another file, or restore this one from a copy: a new one would forget what was spent"


class Account:
    """What releases on the same rows may spend together, (ε, δ), and have spent.

    Parameters
    ----------
    path : of the file; the first release makes it
    epsilon, delta : the bound, for all releases together; of a file that is there it must be the same

    Attributes
    ----------
    spent, left : ε at this δ that is spent, and that one more release may have
    table : DataFrame date, about, multiplier (of the release), epsilon (of all releases up to it)

    Raises
    ------
    InvalidInput
        For a file of another bound, that is damaged, or that cannot be written.

    Examples
    --------
    >>> account = nm.federated.Account("ward.account", epsilon=3.0, delta=1e-6)
    >>> rows = np.random.default_rng(0).normal(size=(5000, 4))
    >>> private = nm.federated.Privacy(epsilon=2.0, delta=1e-6, clip=4.0)
    >>> sent = nm.federated.client_summary(rows, "fid", privacy=private, account=account)
    >>> round(account.spent, 6), account.left > 2.0
    (2.0, True)
    >>> print(account)
    ward.account: 1 release has spent ε = 2 of 3 at δ = 1e-06; one more may have ε = 2.09.
    """

    def __init__(self, path: Any, *, epsilon: float, delta: float) -> None:
        self.epsilon = check_number(epsilon, "epsilon", minimum=MIN_EPSILON, maximum=MAX_EPSILON)
        self.delta = check_number(delta, "delta", minimum=MIN_DELTA, maximum=MAX_DELTA)
        try:
            self.path = Path(path).expanduser().resolve()
        except (TypeError, ValueError, RuntimeError):
            raise InvalidInput("account", f"got {shown(path)}", "Give the path of a file") from None
        if not self.path.parent.is_dir():
            raise InvalidInput("account", f"there is no folder {shown(str(self.path.parent))}", "Make it first")
        self._read()

    @classmethod
    def open(cls, path: Any) -> Account:
        """The account of a file that is there, with its bound."""
        try:
            with open(open_plain(Path(path).expanduser(), os.O_RDONLY), "rb") as file:
                head = _record(file.readline(MAX_LINE_BYTES).rstrip(b"\n"), Path(path))
            return cls(path, epsilon=head["epsilon"], delta=head["delta"])
        except OSError as error:
            seen = f"{shown(str(path))} cannot be read ({error.strerror})"
            raise InvalidInput("account", seen, "Give the path of an account") from None
        except (TypeError, ValueError, KeyError):
            raise _damaged(Path(str(path))) from None

    def __str__(self) -> str:
        count = len(self._read())
        releases = "1 release has" if count == 1 else f"{count:,} releases have"
        more = f"one more may have ε = {_rounded_down(left):g}" if (left := self.left) else "nothing is left"
        spent_text = f"spent ε = {self.spent:.4g} of {self.epsilon:g} at δ = {self.delta:g}"
        return encodable(f"{self.path.name}: {releases} {spent_text}; {more}.")

    @property
    def spent(self) -> float:
        """ε that all releases have spent, at the account's δ; 0 before the first."""
        return self._epsilon_of(self._read())

    @property
    def left(self) -> float:
        """The largest ε, at the account's δ, of one more release."""
        releases = self._read()
        pure, noisy = _parts(releases)
        return self._gaussian(max(self._room(self.epsilon, _squares(releases)), self._room(self.epsilon - pure, noisy)))

    @property
    def table(self) -> pd.DataFrame:
        """The releases, with what was spent after each."""
        import pandas as pd

        releases = self._read()
        after = [self._epsilon_of(releases[: k + 1]) for k in range(len(releases))]
        columns = {"date": [r["date"] for r in releases], "about": [r["about"] for r in releases]}
        return pd.DataFrame({**columns, "multiplier": [r["mu2"] ** -0.5 for r in releases], "epsilon": after})

    def spend(self, privacy: Privacy | PureEpsilon, about: str = "") -> None:
        """Write what one release spends, before it is made; InvalidInput, and nothing is written, where it is too much.

        Parameters
        ----------
        privacy : of the release
        about : a line that says which it is
        """
        release: dict[str, Any] = {"mu2": privacy.mu**2, "about": check_text(about, "about", MAX_ABOUT_LETTERS)}
        if isinstance(privacy, PureEpsilon):
            release["pure"] = privacy.epsilon
        with self._locked() as file:
            releases = self._releases(file)
            after = self._epsilon_of([*releases, release])
            if after > self.epsilon * (1.0 + SLACK):
                before = self._epsilon_of(releases)
                seen = f"would spend ε = {after:.4g} of {self.epsilon:g} at δ = {self.delta:g}; {before:.4g} is spent"
                raise InvalidInput("account", seen, "Send the last summary again, which is free, or a larger noise")
            self._append(file, {**release, "date": datetime.now(UTC).isoformat(timespec="seconds")})

    def _epsilon_of(self, releases: list[dict[str, Any]]) -> float:
        pure, noisy = _parts(releases)
        return min(self._gaussian(_squares(releases)), pure + self._gaussian(noisy))

    def _gaussian(self, square: float) -> float:
        """Return ε of Gaussian-DP with this μ²."""
        return spent(square**-0.5, self.delta) if square else 0.0

    def _room(self, epsilon: float, square: float) -> float:
        """Return the μ² that may be added to this one within ε."""
        most = noise_multiplier(epsilon, self.delta) ** -2 if epsilon >= MIN_EPSILON else 0.0
        return rest if (rest := most - square) > most * SLACK else 0.0

    def _read(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        with self._locked() as file:
            return self._releases(file)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Yield the descriptor of the file, which no other process has meanwhile; the bound is its first line."""
        try:
            descriptor = open_plain(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            seen = f"{shown(str(self.path))} cannot be opened ({error.strerror})"
            raise InvalidInput("account", seen, "Give the path of a file that can be written") from None
        try:
            lock_file(descriptor, wait=True)
            self._begin(descriptor)
            yield descriptor
        finally:
            os.close(descriptor)

    def _begin(self, file: int) -> None:
        """Write the first line, where it is missing or was torn; no other content is ever replaced."""
        head, content = {"format": FORMAT, "epsilon": self.epsilon, "delta": self.delta}, _content(file)
        if b"\n" in content or _is_whole(content):
            return
        if not _line(head).startswith(content):
            raise _damaged(self.path)
        self._append(file, head)

    def _append(self, file: int, record: dict[str, Any]) -> None:
        """Write a line; in the place of one that was torn, whose bytes nobody has got."""
        line, content = _line(record), _content(file)
        last = content[content.rfind(b"\n") + 1 :]
        line, size = b"\n" * _is_whole(last) + line, len(content) - len(last) * (not _is_whole(last))
        try:
            os.ftruncate(file, size)
            if os.write(file, line) != len(line):
                raise OSError(0, "the disk is full")
            os.fsync(file)
            if size == 0:
                _sync_folder(self.path.parent)
        except OSError as error:
            os.ftruncate(file, size)
            seen = f"{shown(str(self.path))} cannot be written ({error.strerror})"
            raise InvalidInput("account", seen, "Make room; nothing was released") from None

    def _releases(self, file: int) -> list[dict[str, Any]]:
        """Return the releases of the file; InvalidInput where it is damaged or of another bound."""
        *lines, last = _content(file).split(b"\n")
        if _is_more_than_a_line(last):
            raise _damaged(self.path)
        head, *releases = [_record(line, self.path) for line in [*lines, *[last] * _is_whole(last)]] or [{}]
        if not {"format", "epsilon", "delta"} <= set(head) or not all("mu2" in release for release in releases):
            raise _damaged(self.path)
        if head["format"] != FORMAT:
            seen = f"{shown(str(self.path))} is of format {shown(head['format'])}, and this version reads {FORMAT}"
            raise InvalidInput("account", seen, "Use the version of nbmetrics that wrote it")
        if (head["epsilon"], head["delta"]) != (self.epsilon, self.delta):
            seen = f"{self.path.name} has the bound ε = {head['epsilon']:g}, δ = {head['delta']:g}"
            raise InvalidInput("account", seen, "Give that bound: earlier releases were counted under it")
        return releases


def _rounded_down(number: float) -> float:
    """Return ε with 3 digits, not larger than it is but for rounding: what is said to be left is left."""
    return float(Context(prec=3, rounding=ROUND_DOWN).create_decimal_from_float(number * (1.0 + SLACK)))


def _squares(releases: list[dict[str, Any]]) -> float:
    return math.fsum(release["mu2"] for release in releases)


def _parts(releases: list[dict[str, Any]]) -> tuple[float, float]:
    """Return the sum of ε of those that are pure, and of μ² of the others."""
    pure = math.fsum(release["pure"] for release in releases if "pure" in release)
    return pure, _squares([release for release in releases if "pure" not in release])


def _sync_folder(folder: Path) -> None:
    """Put the name of a new file on the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _content(file: int) -> bytes:
    """Return all bytes of the file."""
    os.lseek(file, 0, os.SEEK_SET)
    parts = []
    while part := os.read(file, MAX_BYTES):
        parts.append(part)
    return b"".join(parts)


def _line(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=True, allow_nan=False).encode()
    return b"%s #%08x\n" % (text, zlib.crc32(text))


def _is_whole(line: bytes) -> bool:
    """Whether only the end of the line is missing."""
    text, _, checksum = line.rpartition(b" #")
    return bool(re.fullmatch(rb"[0-9a-f]{8}\s*", checksum)) and int(checksum, 16) == zlib.crc32(text)


def _is_more_than_a_line(last: bytes) -> bool:
    """Whether a whole line stands here with something else than its end behind it: it was not torn, it is damaged."""
    found = re.match(rb"(.*) #([0-9a-f]{8})", last, re.DOTALL)
    return not _is_whole(last) and found is not None and int(found[2], 16) == zlib.crc32(found[1])


def _record(line: bytes, path: Path) -> dict[str, Any]:
    """Return one line of an account."""
    try:
        if not _is_whole(line):
            raise ValueError
        record = dict(json.loads(line.rpartition(b" #")[0]))
        if not all(0.0 < float(record[key]) < math.inf for key in ("mu2", "pure") if key in record):
            raise ValueError
        return record
    except (ValueError, TypeError):
        raise _damaged(path) from None


def _damaged(path: Path) -> InvalidInput:
    return InvalidInput("account", f"{shown(str(path))} is no account, or is damaged", FIX_DAMAGED)
