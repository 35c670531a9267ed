"""The tests: the same tree as the package, and what they share."""

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
