"""docs/fuzz.md from the report of a run: python -m tests.fuzz_page report.json > docs/fuzz.md"""

import json
import sys
from pathlib import Path

HEAD = """# What happens to hostile input

`make fuzz` passes strange values (NaN, infinity, 1e-320, 1e200, ties, copies, offsets, 10⁴⁰⁰), strange containers
(arrays of every type and layout, tensors, data frames, iterators, files) and strange settings to every public function,
every metric and every lab. It also passes broken bytes to everything that reads bytes: summaries with a correct and
with a wrong checksum, folders of runs, images, chunks of the cache, files and options of the command, tables for the
Dashboard, batches of streams. Each input must be **answered** (finite numbers of the right shape, or NaN with a reason)
or **refused** (`nm.InvalidInput`, which names the argument and the fix). Anything else fails the run: another error, a
warning that is not the package's own, a changed input, or a changed random state of NumPy, torch or Python. Every run
tries the same inputs; `make fuzz HYPOTHESIS_PROFILE=search` looks for others.

It does not try: clusters, whose workers have [their own tests](../tests/cluster); pages in a browser, their links and
saved notebooks ([tests/browser](../tests/browser)); weights and files of trained models
([tests/training](../tests/training)); links, FIFOs, full disks and killed processes, which are tested for the known
cases ([a run's folder](../tests/labs/monitor/test_hostile_folders.py), [other
places](../tests/test_hostile_places.py)); two processes at once; GPUs, Windows, other locales. A fuzz test finds only
what its authors thought of: independent attacks found 17 kinds of faults in areas that it had left out.

One thing cannot be prevented: for a damaged TIFF, the library libtiff (used by Pillow) may write a line to standard
error. The file is still read, or listed as unreadable.

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
