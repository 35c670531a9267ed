"""The tests: the same tree as the package, and what they share."""

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
# A name that is markup to a page that does not treat it as text.
EVIL = "<img src=x onerror=alert(1)>"
