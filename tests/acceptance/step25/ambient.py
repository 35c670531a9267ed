"""Ambient settings change no bit: of entries that they were seen to change, then of all that tests/ambient.py has."""

from functools import cache

from tests import ambient
from tests.acceptance.harness import Part

SETTINGS = [*ambient.SETTINGS, *ambient.PROCESSES]


@cache
def expected(is_whole):
    return ambient.plain(ambient.entries() if is_whole else ambient.TELLING)


def repeat(seed):
    """One setting with the telling entries; with all of them from the second round on."""
    is_whole, place = divmod(seed, len(SETTINGS))
    entries = expected(bool(is_whole))
    return {
        "setting": SETTINGS[place],
        "entries": len(entries),
        "errors": [name for name, digest in entries.items() if len(digest) != 16],
        "different": sorted(ambient.different(entries, SETTINGS[place], entries)),
    }


def judge(results):
    lines = []
    for result in results:
        bad = result["different"] + result["errors"]
        text = f"{result['setting']}: {result['entries'] - len(bad)} of {result['entries']} entries give the same bits"
        lines.append((not bad and result["entries"] > 5, text + (f", not {', '.join(bad[:8])}" if bad else "")))
    return lines


PARTS = [Part("ambient", repeat, judge, quick=len(SETTINGS), full=2 * len(SETTINGS))]
