"""What goes wrong with input, said so that the reader can mend it.

Every check raises `InvalidInput`, which names the argument, shows what was seen and says the fix.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping, MappingView, Sequence, Set
from itertools import islice
from numbers import Complex, Real
from typing import Any

# An iterator that has given so many items is taken for an endless one.
MAX_ITEMS = 1_000_000
LONGEST_NAME = 300
MAX_TEXT_LETTERS = 10_000
# Letters of each part of a message: those of the package are shorter, and what a user gave may have any length.
MAX_MESSAGE_PART_LETTERS = 1000
# Of the largest weight; the squares of smaller shares have no room beside anything.
MIN_WEIGHT_SHARE = 1e-100
# What a terminal, XML or UTF-8 cannot take in one line: control characters, ends of lines, halves of pairs.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_LINE_BREAKS = "\t\n\r"
# User and password of a URL, also of one in a chain ("zip://a.npy::http://…"); what follows a question mark.
_USER = re.compile(r"([A-Za-z0-9+.-]{2}:/+)(?:[^/\n\"']*@|[^/:\s]*:(?!:|\d*/)\S*?@)")
_QUERY = re.compile(r"(:/+[^?\s]*)\?(?!…)\S+")
# Of a text that has URLs: longer than any that is opened.
MAX_SEARCHED_LETTERS = 10_000
# Of lists in lists: `repr` of more takes seconds, and of what is shared within them gigabytes.
MAX_ITEMS_WRITTEN = 100_000
_PLAIN = {int, float, bool, str}
# What arrays, tables and buffers have, whose items are there already.
_OF_ARRAYS = ("__array__", "__array_interface__", "tobytes")


class InvalidInput(ValueError):
    """Bad input: which argument, what was seen, how to fix it.

    Attributes
    ----------
    argument : str
        The name of the argument as the caller knows it.

    Examples
    --------
    >>> try:
    ...     nm.fid([[0.0]], [[1.0], [2.0]])
    ... except nm.InvalidInput as why:
    ...     print(why)
    real: has 1 row. Give more rows: at least 2 are needed
    """

    def __init__(self, argument: str, seen: str, fix: str) -> None:
        self.argument, self.seen, self.fix = (
            printable(without_secrets(part), MAX_MESSAGE_PART_LETTERS) for part in (argument, seen, fix)
        )
        super().__init__(f"{self.argument}: {self.seen}. {self.fix}")

    def __reduce__(self) -> tuple[Any, ...]:
        return InvalidInput, (self.argument, self.seen, self.fix)

    def of(self, who: str) -> InvalidInput:
        """The same complaint, about one of several: `who` it is comes first."""
        return InvalidInput(f"{who}, {self.argument}", self.seen, self.fix)


def refusal_of(*items: Any) -> InvalidInput | None:
    """The first of these that is no summary or score, but the reason why there is none."""
    return next((item for item in items if isinstance(item, InvalidInput)), None)


def caller_level() -> int:
    """The stacklevel with which a warning points at the line of the user's own code."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("nbmetrics."):
        frame, level = frame.f_back, level + 1
    return level


def without_secrets(text: str) -> str:
    """A text without the users, passwords and queries of the URLs in it."""
    if ":/" not in text:
        return text
    return _QUERY.sub(r"\1?…", _USER.sub(r"\1", text[:MAX_SEARCHED_LETTERS]))


def shown(value: Any, limit: int = 80) -> str:
    """A short text of any value, safe to put in a message."""
    try:
        value = os.fspath(value) if isinstance(value, os.PathLike) else value
        if isinstance(value, (list, tuple, dict)) and _count_items(value) > MAX_ITEMS_WRITTEN:
            return f"a {type(value).__name__} of {len(value):,} items"
        text = repr(without_secrets(value) if type(value) is str else value)
    except Exception as error:  # a repr of the user's own may raise anything
        text = f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    text = without_secrets(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _count_items(value: Any) -> int:
    """Return how many items a list or dict has in all, also those of lists within it, counted as far as it matters."""
    left, count = [value], 0
    while left and count <= MAX_ITEMS_WRITTEN:
        item, count = left.pop(), count + 1
        if isinstance(item, (list, tuple, dict)):
            left += islice(item.values() if isinstance(item, dict) else item, MAX_ITEMS_WRITTEN)
    return count


def one_line(text: str, longest: int) -> str:
    """A stranger's text as one line that can be printed."""
    return " ".join(printable(text, longest).split())


def printable(text: str, limit: int) -> str:
    """At most `limit` letters of a text, cut at its end, with \\x1b and \\ud800 for what cannot be shown."""
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return _UNPRINTABLE.sub(_escape, text)


def encodable(text: str) -> str:
    """The text with ? for what stdout cannot write, as γ where Windows redirects it: `print` would raise an error."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def _escape(match: re.Match[str]) -> str:
    return match[0] if match[0] in _LINE_BREAKS else match[0].encode("unicode_escape").decode()


def check_choice(value: Any, choices: Iterable[str], argument: str) -> str:
    """`value`, if it is one of `choices`; otherwise the closest name is offered."""
    names = list(choices)
    if isinstance(value, str) and value in names:
        return value
    raise no_choice(value, names, argument)


def no_choice(value: Any, names: Sequence[str], argument: str) -> InvalidInput:
    """The complaint about a value that is none of these names, with the closest one."""
    text = (value if isinstance(value, str) else shown(value)).lower()[:LONGEST_NAME]
    close = [name for name in names if sorted(name) == sorted(text)]
    close = close or difflib.get_close_matches(text, names, n=1, cutoff=0.4)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    return InvalidInput(argument, f"got {shown(value)}", f"{hint}Choose one of: {', '.join(names)}")


def _number(value: Any) -> float:
    """`value` as a float, NaN where it is no number."""
    if isinstance(value, Complex) and not isinstance(value, Real):
        return math.nan
    try:
        # an array of one number converts, but NumPy warns; so does torch, of a number that needs a gradient
        return math.nan if getattr(value, "ndim", 0) else float(value.detach() if hasattr(value, "detach") else value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return math.nan


def check_length(value: Any, argument: str, depth: int = 3) -> None:
    """Raise InvalidInput for a sequence, or one in a list, that makes too many items one by one, as `range` does."""
    if isinstance(value, (list, tuple)):
        for item in value if depth and not set(map(type, value)) <= _PLAIN else ():
            check_length(item, argument, depth - 1)
    elif not isinstance(value, (str, Mapping)) and (count := _length(value)) > MAX_ITEMS:
        # an array, but for one that is shorter than a byte an item, such as a RangeIndex or a sparse column
        if any(hasattr(value, name) for name in _OF_ARRAYS) and getattr(value, "nbytes", count) >= count:
            return
        seen = f"makes {count:,} items one by one"
        raise InvalidInput(argument, seen, f"Give an array, or at most {MAX_ITEMS:,} items")


def _length(value: Any) -> int:
    """Return how many items a value says it has; 0 where it does not say."""
    try:
        return len(value)
    except OverflowError:  # more than an index reaches
        return sys.maxsize
    except Exception:  # of an iterator, or of the user's own: what takes its items says what is wrong
        return 0


def check_list(items: Iterable[Any], argument: str, most: int = MAX_ITEMS, *, is_ordered: bool = True) -> list[Any]:
    """What `items` gives, one after the other; an endless iterator is stopped after `most`, a set refused."""
    if is_ordered:
        check_order(items, argument)
    is_long = _length(items) > most
    try:
        entries = [] if is_long else list(islice(items, most + 1))
    except (TypeError, NotImplementedError):  # the latter of a memoryview of several axes
        raise InvalidInput(argument, f"got {shown(items)}", "Give a list") from None
    if is_long or len(entries) > most:
        raise InvalidInput(argument, f"gives more than {most:,} items", "Give an iterator that ends sooner")
    return entries


def check_order(items: Any, argument: str) -> None:
    """Raise InvalidInput for a set; views of a dict have its order."""
    if isinstance(items, Set) and not isinstance(items, MappingView):
        fix = "Give a list: a set has another order in each process and each run"
        raise InvalidInput(argument, f"is a {type(items).__name__}", fix)


def check_number(value: Any, argument: str, *, minimum: float = -math.inf, maximum: float = math.inf) -> float:
    """`value` as a finite float within [minimum, maximum]."""
    number = _number(value)
    if not math.isfinite(number):
        raise InvalidInput(argument, f"got {shown(value)}", "Give a finite number")
    if not minimum <= number <= maximum:
        both = f"from {minimum:g} to {maximum:g}"
        limits = f"of at least {minimum:g}" if maximum == math.inf else both
        raise InvalidInput(argument, f"got {number:g}", f"Give a number {limits}")
    return number


def check_count(value: Any, argument: str, *, minimum: int = 1, maximum: float = math.inf) -> int:
    """`value` as an int within [minimum, maximum]."""
    if type(value) is int and minimum <= value <= min(maximum, sys.maxsize):
        return value
    number = check_number(value, argument, minimum=minimum, maximum=maximum)
    if number != int(number):
        raise InvalidInput(argument, f"got {shown(value)}", "Give a whole number")
    return int(value) if isinstance(value, int) else int(number)  # a float does not hold every digit


# By name: this module imports nothing heavy.
NUMPY_BOOLS = {("numpy", "bool"), ("numpy", "bool_")}


def check_flag(value: Any, argument: str) -> bool:
    """`value` as a bool: True or False, also of NumPy."""
    if isinstance(value, bool) or (type(value).__module__, type(value).__name__) in NUMPY_BOOLS:
        return bool(value)
    raise InvalidInput(argument, f"got {shown(value)}", "Give True or False")


def check_named_weights(weights: Any, names: Sequence[str], argument: str = "weights") -> tuple[float, ...]:
    """Weights in the order of `names`, divided by their sum; given in that order, or by name: a dict, or a pandas
    Series whose index holds names."""
    weight_by_name = dict(weights.items()) if hasattr(weights, "items") else None
    if weight_by_name is not None and list(weight_by_name) != list(range(len(names))):  # a Series may be numbered only
        lacking = [name for name in names if name not in weight_by_name]
        odd = [name for name in weight_by_name if name not in names]
        if lacking or odd:
            which = [f"lacks {shown(lacking)}"] * bool(lacking) + [
                f"has {shown(odd)}, which is not the name of a client"
            ] * bool(odd)
            raise InvalidInput(argument, " and ".join(which), "Give one for each client, 0 to leave one out")
        weights = [weight_by_name[name] for name in names]
    elif weight_by_name is not None:
        weights = list(weight_by_name.values())
    return check_weights(weights, len(names), argument)


def check_weights(weights: Any, count: int, argument: str = "weights") -> tuple[float, ...]:
    """`count` non-negative finite weights, divided by their sum; those below 1e-100 of the largest count as 0."""
    check_order(weights, argument)
    try:
        items = list(islice(weights, count + 1))
    except TypeError:
        raise InvalidInput(argument, f"got {shown(weights)}", "Give a sequence of numbers") from None
    if len(items) != count:
        seen = f"got {max(len(items), _length(weights)):,} weights for {count} parts"
        raise InvalidInput(argument, seen, "Give one weight each")
    values = [_number(w) for w in items]
    for position, value in enumerate(values):
        if not math.isfinite(value) or value < 0:
            seen = f"weight {position} is {shown(items[position])}"
            raise InvalidInput(argument, seen, "Weights are finite numbers, 0 or more")
    largest = max(values)
    if largest == 0:
        raise InvalidInput(argument, "all weights are 0", "Make at least one of them positive")
    scaled = [share if (share := v / largest) >= MIN_WEIGHT_SHARE else 0.0 for v in values]
    total = math.fsum(scaled)
    return tuple(v / total for v in scaled)


def check_names(names: Sequence[Any], argument: str) -> tuple[str, ...]:
    """`names` as distinct, non-empty texts of one line that every table, figure and file can hold."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(argument, f"a name is {shown(name)}", "Give every item a non-empty text name")
        if len(name) > LONGEST_NAME:
            said = f"the name {shown(name)} has {len(name):,} letters"
            raise InvalidInput(argument, said, f"Give at most {LONGEST_NAME}")
        if letter := _UNPRINTABLE.search(name):
            said = f"the name {shown(name)} has the letter {shown(letter[0])}, which cannot be shown"
            raise InvalidInput(
                argument, said, "Give names of one line, without control characters or halves of surrogate pairs"
            )
        if name in seen:
            raise InvalidInput(argument, f"the name {shown(name)} appears twice", "Give every item a different name")
        seen.add(name)
    return tuple(names)


def check_text(value: Any, argument: str, longest: int = MAX_TEXT_LETTERS) -> str:
    """`value` as a text of any number of lines that can be shown, of at most `longest` letters."""
    if not isinstance(value, str):
        raise InvalidInput(argument, f"got {shown(value)}", "Give a string")
    if len(value) > longest:
        raise InvalidInput(argument, f"{shown(value)} has {len(value):,} letters", f"Give at most {longest:,}")
    for letter in _UNPRINTABLE.finditer(value):
        if letter[0] not in _LINE_BREAKS:
            seen = f"{shown(value)} has the letter {shown(letter[0])}, which cannot be shown"
            raise InvalidInput(argument, seen, "Leave out control characters and halves of surrogate pairs")
    return value
