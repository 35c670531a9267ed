"""The lines of an account's file: each ends with its checksum, and that of a release continues that of the one before.

    first line    the bound that must not be passed: {"format": 2, "epsilon", "delta"}
    head          {"count", "link"}: how many lines follow it, and the checksum of the last of them
    other lines   one a release: {"mu2": μ², "about", "date"}, of a private quantile also "pure": ε

A line that is taken out breaks the chain, and the head, which is written over after each release, counts those that are
cut off at the end. It may be one release behind, as a process may die between the two writes. In format 1, of 0.2, no
line is chained and there is no head; one that is written behind the releases of such a file continues all of them.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass, field
from typing import Any

FORMAT, FORMATS = 2, (1, 2)
MAX_LINE_BYTES = 1 << 13
# Letters of the head's JSON, the same for every count, so that it can be written over.
HEAD_LETTERS = 48
# Of μ² and ε: their sums stay finite.
LARGEST_NUMBER = 1e100
NUMBERS, TEXTS = ("epsilon", "delta", "mu2", "pure"), ("about", "date")


@dataclass
class Log:
    """What the lines of a file say.

    Attributes
    ----------
    bound, releases : the first line, and those of releases
    head : where the head begins; 0 without one
    links : the checksums that each line behind the head continues, and the one that the next line does
    end, lacks_end : where the next line begins; whether the last one has no end yet
    is_behind : whether the head does not count the last line
    """

    bound: dict[str, Any]
    releases: list[dict[str, Any]] = field(default_factory=list)
    head: int = 0
    links: list[int] = field(default_factory=lambda: [0])
    end: int = 0
    lacks_end: bool = False
    is_behind: bool = False

    @property
    def count(self) -> int:
        """How many lines follow the head."""
        return len(self.links) - 1


def parse(content: bytes) -> Log:
    """Return what a file says, without what was torn at its end; ValueError or RecursionError where it is damaged."""
    *lines, last = content.split(b"\n")
    log, count, link = Log({}), 0, ""
    for number, line in enumerate([*lines, *[last] * bool(last)]):
        is_last, chained = number == len(lines), log.links[-1] if log.head else 0
        match = _checked(line, chained)
        if match is None or match[3].strip():
            # a whole line with something else than its end behind it was not torn, it is damaged
            if not is_last or match is not None:
                raise ValueError(f"has a damaged line, or lacks the one before it (line {number + 1})")
            break
        record = record_of(line, chained)
        if number == 0:
            log.bound = record
            if record["format"] not in FORMATS:
                return log
            if line_of(record) != line + b"\n":  # it is written over when the format rises
                raise ValueError("has another first line than is written")
            log.links = [_link_of(record)]
        elif "count" in record and not log.head:
            log.head, count, link = log.end, record["count"], record["link"]
        else:
            if not {"mu2", *TEXTS} <= record.keys():
                raise ValueError("has a line that is of no release")
            log.releases.append(record)
            log.links.append(zlib.crc32(match[1], log.links[-1]))
            del log.links[: 0 if log.head else -1]
        log.end += len(line) + (not is_last)
        log.lacks_end = is_last
    log.is_behind = log.count == count + 1
    if log.head and (log.count - log.is_behind != count or f"{log.links[count]:08x}" != link):
        raise ValueError(f"has {log.count} releases where its head counts {count}")
    if not log.bound or (log.bound["format"] == FORMAT and not log.head):
        raise ValueError("is cut off before its releases begin")
    return log


def first_lines(epsilon: float, delta: float) -> bytes:
    """Return a file without releases."""
    bound = {"format": FORMAT, "epsilon": epsilon, "delta": delta}
    return line_of(bound) + head_line(Log(bound, links=[_link_of(bound)]))


def head_line(log: Log) -> bytes:
    """Return the head of what follows it."""
    text = _text({"count": log.count, "link": f"{log.links[-1]:08x}"}).ljust(HEAD_LETTERS)
    return b"%s #%08x\n" % (text, zlib.crc32(text))


def line_of(record: dict[str, Any], link: int = 0) -> bytes:
    """Return a line, whose checksum continues this one."""
    text = _text(record)
    return b"%s #%08x\n" % (text, zlib.crc32(text, link))


def record_of(line: bytes, link: int = 0) -> dict[str, Any]:
    """Return what a line says; ValueError or RecursionError where it is damaged or says what no account does."""
    match = _checked(line, link)
    if len(line) > MAX_LINE_BYTES or match is None or match[3].strip():
        raise ValueError("has a damaged line")
    record = json.loads(match[1])
    if not isinstance(record, dict):
        raise ValueError("has a line that is no dict")
    numbers = [record[name] for name in NUMBERS if name in record]
    are_numbers = all(type(number) in (int, float) and 0 < number <= LARGEST_NUMBER for number in numbers)
    if not are_numbers or not all(isinstance(record[name], str) for name in TEXTS if name in record):
        raise ValueError("has values that no account has")
    return record


def _link_of(bound: dict[str, Any]) -> int:
    return zlib.crc32(_text({"epsilon": bound["epsilon"], "delta": bound["delta"]}))


def _text(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=True, allow_nan=False).encode()


def _checked(line: bytes, link: int) -> re.Match[bytes] | None:
    """Return the text, the checksum and the end of a line; None where the checksum is not that of the text."""
    match = re.match(rb"(.*) #([0-9a-f]{8})(.*)", line, re.DOTALL)
    return match if match is not None and int(match[2], 16) == zlib.crc32(match[1], link) else None
