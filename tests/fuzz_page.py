"""docs/fuzz.md from the report of a run: python -m tests.fuzz_page report.json > docs/fuzz.md"""

import json
import sys
from pathlib import Path

HEAD = """# What became of hostile input

`make fuzz` passes strange values (NaN, infinity, 1e-320, 1e200, ties, copies, offsets, 10⁴⁰⁰), strange containers
(arrays of every type and layout, tensors, data frames, iterators, files) and strange settings to every public function,
every metric and every lab. Each input ends as **answered** (finite numbers of the right shape, or NaN with its reason
beside it) or **refused** (`nm.InvalidInput`, which names the argument and says the fix). Anything else fails the run:
another error, a warning that is not the package's own, an input that was changed, a moved random state of NumPy, torch
or Python. Every run tries the same inputs; `make fuzz HYPOTHESIS_PROFILE=search` looks for others.

The last run:

"""


def page(counts):
    """The page for {"tally": {"outcome": count}}."""
    lines = ["| inputs to | outcome | inputs |", "| --- | --- | ---: |"]
    lines += [f"| {name} | {o} | {n:,} |" for name, found in sorted(counts.items()) for o, n in sorted(found.items())]
    total = sum(n for found in counts.values() for n in found.values())
    return HEAD + "\n".join([*lines, f"| all | | {total:,} |"]) + "\n"


if __name__ == "__main__":
    print(page(json.loads(Path(sys.argv[1]).read_text())), end="")
