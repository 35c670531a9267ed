"""The account of a client's privacy: what its rows have spent by now, in a file of lines (`account_lines.py`).

A release of multiplier z is Gaussian-DP with μ = 1/z, and releases on the same rows compose to √Σμ² exactly (Dong, Roth
& Su 2022). A private quantile has pure ε: it counts with the smallest μ that covers it, or its ε is added to that of
the others, whichever gives less. A line, and then the head that counts it, are written and synced before the bytes that
they are about are returned: a process that dies before has spent what nobody received, and never the other way round.
One process writes at a time. An older copy of the whole file looks as it did then: nothing in it shows that later
releases were there.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from decimal import ROUND_DOWN, Context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput, check_number, check_text, encodable, shown
from ..files import lock_file, open_plain, read_plain, write_once
from .account_lines import FORMAT, FORMATS, MAX_LINE_BYTES, Log, first_lines, head_line, line_of, parse, record_of
from .privacy import MAX_DELTA, MAX_EPSILON, MIN_DELTA, MIN_EPSILON, Privacy, PureEpsilon, noise_multiplier, spent

if TYPE_CHECKING:
    import pandas as pd

MAX_BYTES, MAX_ABOUT_LETTERS = 1 << 26, 500
# Of ε: what rounding may add where all of it is spent.
SLACK = 1e-8
FIX_DAMAGED = "Restore the last copy, and count what was sent since; a new account would forget what was spent"


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
            first = read_plain(Path(path).expanduser(), MAX_LINE_BYTES).partition(b"\n")[0]
            bound = record_of(first)
            return cls(path, epsilon=bound["epsilon"], delta=bound["delta"])
        except OSError as error:
            seen = f"{shown(path)} cannot be read ({error.strerror})"
            raise InvalidInput("account", seen, "Give the path of an account") from None
        except InvalidInput:
            raise
        except (TypeError, ValueError, KeyError, RecursionError):
            raise _damaged(path) from None

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
            log = self._log(file)
            after = self._epsilon_of([*log.releases, release])
            if after > self.epsilon * (1.0 + SLACK):
                before = self._epsilon_of(log.releases)
                seen = f"would spend ε = {after:.4g} of {self.epsilon:g} at δ = {self.delta:g}; {before:.4g} is spent"
                raise InvalidInput("account", seen, "Send the last summary again, which is free, or a larger noise")
            self._append(file, log, {**release, "date": datetime.now(UTC).isoformat(timespec="seconds")})

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
            return self._log(file).releases

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Yield the descriptor of the file, which no other process has meanwhile; a new one is whole from the start."""
        try:
            if not self.path.exists():
                write_once(self.path, first_lines(self.epsilon, self.delta))
                _sync_folder(self.path.parent)
            descriptor = open_plain(self.path, os.O_RDWR)
        except OSError as error:
            seen = f"{shown(str(self.path))} cannot be opened ({error.strerror})"
            raise InvalidInput("account", seen, "Give the path of a file that can be written") from None
        try:
            lock_file(descriptor, wait=True)
            yield descriptor
        finally:
            os.close(descriptor)

    def _append(self, file: int, log: Log, record: dict[str, Any]) -> None:
        """Write a line, in the place of one that was torn, whose bytes nobody has got; then the head."""
        try:
            if log.is_behind or log.bound["format"] != FORMAT:
                log = self._renew_head(file, log)
            line = line_of(record, log.links[-1])
            os.ftruncate(file, log.end)
            try:
                _put(file, log.end, b"\n" * log.lacks_end + line)
            except OSError:
                os.ftruncate(file, log.end)
                raise
            _put(file, log.head, head_line(self._log(file)))
        except OSError as error:
            seen = f"{shown(str(self.path))} cannot be written ({error.strerror})"
            raise InvalidInput("account", seen, "Make room; nothing was released") from None

    def _renew_head(self, file: int, log: Log) -> Log:
        """Write the head of what is there; in a file of format 1 first the head, and then that it is of format 2."""
        if log.head:
            _put(file, log.head, head_line(log))
        else:
            os.ftruncate(file, log.end)
            _put(file, log.end, b"\n" * log.lacks_end + head_line(log))
        if log.bound["format"] != FORMAT:
            _put(file, 0, line_of({**log.bound, "format": FORMAT}))
        return self._log(file)

    def _log(self, file: int) -> Log:
        """Return what the file says; InvalidInput where it is damaged or of another bound."""
        try:
            log = parse(_content(file))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise _damaged(self.path, str(error) if type(error) is ValueError else "") from None
        bound = log.bound
        if bound["format"] not in FORMATS:
            seen = f"{shown(str(self.path))} is of format {shown(bound['format'])}, and this version reads {FORMAT}"
            raise InvalidInput("account", seen, "Use the version of nbmetrics that wrote it")
        if (bound["epsilon"], bound["delta"]) != (self.epsilon, self.delta):
            seen = f"{self.path.name} has the bound ε = {bound['epsilon']:g}, δ = {bound['delta']:g}"
            raise InvalidInput("account", seen, "Give that bound: earlier releases were counted under it")
        return log


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
    """Return all bytes of the file; ValueError where they are more than any account has."""
    size = os.fstat(file).st_size
    if size > MAX_BYTES:
        raise ValueError("is too long")
    os.lseek(file, 0, os.SEEK_SET)
    return os.read(file, size)


def _put(file: int, place: int, data: bytes) -> None:
    """Write at a place, on the disk when this returns."""
    os.lseek(file, place, os.SEEK_SET)
    if os.write(file, data) != len(data):
        raise OSError(0, "the disk is full")
    os.fsync(file)


def _damaged(path: Path, why: str = "") -> InvalidInput:
    seen = f"{shown(path)} is no account, or is damaged{f': it {why}' * bool(why)}"
    return InvalidInput("account", seen, FIX_DAMAGED)
