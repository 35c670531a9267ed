"""A lab's scene as a short string: `nbm1.<lab>.<URL-safe base64 of a checksum and the deflated JSON>`.

Twin: labs/toolkit/view/share.js · held by: tests/labs/toolkit/test_share_page.py
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from typing import Any

from ...errors import InvalidInput, check_text, printable, shown
from .fields import UnknownField, loaded
from .history import State

MARK = "nbm1"
MAX_JSON_BYTES = 2**22  # bytes of JSON: far above any scene, and the most that reading a string may unpack
MAX_SHARE_LETTERS = 2 * MAX_JSON_BYTES  # letters of a string, line breaks too
MAX_BASE_LETTERS = 2_000  # letters of an address, as most servers and browsers take
_FORM = re.compile(r"nbm(\d+)\.(\w+)\.([A-Za-z0-9_-]*)", re.ASCII)
_SCHEME, _PAGE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I), re.compile("(https?|file)://", re.I)
_ARGUMENT = "share string"
_AGAIN = "Copy the whole string again, from what lab.share() returned"


def pack(lab: str, scene: State) -> str:
    """Return the share string of a scene; equal scenes give equal strings, whatever their revision."""
    text = json.dumps(scene.at(0).to_json(), separators=(",", ":"), allow_nan=False)
    if len(text) > MAX_JSON_BYTES:
        raise InvalidInput("scene", f"takes {len(text):,} characters", "Share one with fewer or smaller items")
    data = zlib.compress(text.encode(), 9)
    return f"{MARK}.{lab}.{base64.urlsafe_b64encode(_sum(lab, data) + data).decode().rstrip('=')}"


def link(base: Any, text: str) -> str:
    """Return the address of a page with a share string behind it, which the page opens."""
    address = check_text(base, "base", MAX_BASE_LETTERS)
    if not address or re.search(r"[\s#]", address) or (_SCHEME.match(address) and not _PAGE.match(address)):
        fix = "Give the address of a page that lab.export_html made, such as 'https://example.org/playground.html'"
        raise InvalidInput("base", f"got {shown(base)}", fix)
    return f"{address}#{text}"


def unpack(text: Any, lab: str, state: type[State]) -> Any:
    """Return the scene of a share string that `lab` made; raises InvalidInput saying what is wrong with it."""
    if not isinstance(text, str):
        raise InvalidInput(_ARGUMENT, f"is {shown(text)}", "Give the text that lab.share() returned")
    if len(text) > MAX_SHARE_LETTERS:
        raise InvalidInput(_ARGUMENT, f"has {len(text):,} letters", "No lab creates such a string")
    whole = "".join(text.split())  # mail programs break long lines
    match = _FORM.fullmatch(whole.rpartition("#")[2])  # a link ends in the string
    if not match:
        raise InvalidInput(_ARGUMENT, f"got {shown(text)}", f"It looks like {MARK}.{lab}.eNq1… {_AGAIN}")
    version, maker, body = match.groups()
    if f"nbm{version}" != MARK:
        seen = f"has version {printable(version, 20)}, but this nbmetrics reads version {MARK[3:]}"
        raise InvalidInput(_ARGUMENT, seen, "Update the older of the two: pip install -U nbmetrics")
    if maker != lab:
        maker = printable(maker, 40)
        raise InvalidInput(_ARGUMENT, f"is for a {maker}, not for a {lab}", f"Use nm.{maker}.from_share(…)")
    raw = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)) if len(body) % 4 != 1 else b""
    if raw[:4] != _sum(lab, raw[4:]):
        raise InvalidInput(_ARGUMENT, "is damaged: its checksum does not fit", _AGAIN)
    return _scene(_inflate(raw[4:]), state)


def _inflate(data: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(data, MAX_JSON_BYTES + 1)
    except zlib.error:
        raise InvalidInput(_ARGUMENT, "is damaged: it cannot be unpacked", _AGAIN) from None
    if len(text) > MAX_JSON_BYTES:
        raise InvalidInput(_ARGUMENT, f"unpacks to more than {MAX_JSON_BYTES:,} bytes", "No lab creates such a string")
    if not unpacker.eof or unpacker.unused_data:
        raise InvalidInput(_ARGUMENT, "is damaged: parts of it are missing or unknown", _AGAIN)
    return text


def _scene(text: bytes, state: type[State]) -> Any:
    try:
        value = loaded(text, "scene")
    except InvalidInput:
        raise InvalidInput(_ARGUMENT, "contains no scene", _AGAIN) from None
    try:
        return state.parse(value)
    except UnknownField:
        fix = "Open it with a newer one: pip install -U nbmetrics"
        raise InvalidInput(_ARGUMENT, "was made by a later version of nbmetrics", fix) from None
    except InvalidInput as error:
        seen = f"contains a scene that is not valid ({error})"
        raise InvalidInput(_ARGUMENT, seen, _AGAIN) from None


def _sum(lab: str, data: bytes) -> bytes:
    return zlib.crc32(data, zlib.crc32(lab.encode())).to_bytes(4, "big")


class FromShare:
    """`from_share`: on a class it makes a lab, on a lab it loads the scene into that lab."""

    def __get__(self, lab: Any, kind: Any) -> Callable[[str], Any]:
        def from_share(text: str) -> Any:
            """The lab of what `share` or `share_url` gave: a new one, or this one after one edit that can be undone."""
            scene = unpack(text, kind.__name__, kind._state)
            return kind._open(scene) if lab is None else lab._load(scene)

        return from_share
