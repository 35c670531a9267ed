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
    outcomes = sorted({outcome for found in counts.values() for outcome in found})
    rows = [["inputs to", *outcomes, "tried"]]
    rows += [[name, *(found.get(o, 0) for o in outcomes), sum(found.values())] for name, found in counts.items()]
    rows += [["all", *(sum(found.get(o, 0) for found in counts.values()) for o in outcomes)]]
    rows[-1].append(sum(rows[-1][1:]))
    lines = [" | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in row) for row in rows]
    rule = "|".join([" --- ", *[" ---: "] * (len(rows[0]) - 1)])
    return HEAD + "\n".join(f"| {line} |" for line in (lines[0], rule, *lines[1:])) + "\n"


if __name__ == "__main__":
    print(page(json.loads(Path(sys.argv[1]).read_text())), end="")
