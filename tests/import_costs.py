"""What each base dependency costs to import: the numbers of docs/dependencies.md.

python -m tests.import_costs

Each import runs in five fresh processes under -X importtime, once alone and once after NumPy; the median counts.
"""

import re
import statistics
import subprocess
import sys

RUNS = 5
# The part of each dependency that the package imports first.
PARTS = {
    "numpy": "numpy",
    "scipy": "scipy.linalg",
    "pandas": "pandas",
    "matplotlib": "matplotlib.figure",
    "scikit-learn": "sklearn.neighbors",
    "ipywidgets": "ipywidgets",
    "anywidget": "anywidget",
    "array-api-compat": "array_api_compat",
    "tqdm": "tqdm",
}
# What a user does first, and which dependencies are in memory then.
STEPS = {
    "import nbmetrics": "import nbmetrics as nm",
    "evaluate": "nm.evaluate([rows, rows[1:]], {'g': rows}, 'fid', progress=False)",
    "print(scores)": "str(nm.evaluate([rows, rows[1:]], {'g': rows}, 'fid', progress=False))",
    "Playground": "nm.Playground()",
}
SETTING = "import random, sys, nbmetrics as nm; rows = [[random.random(), random.random()] for _ in range(12)]"


def milliseconds(module, before=""):
    """The median time that importing a module takes, with all that it imports, after the module `before`."""
    code = f"import {before}; import {module}" if before else f"import {module}"
    seen = []
    for _ in range(RUNS):
        told = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True
        )
        seen.append(sum(roots(told.stderr, module.split(".")[0])) / 1e3)
    return statistics.median(seen)


def roots(report, package):
    """The microseconds of those imports of a package that no other import asked for."""
    rows = re.findall(r"^import time: +\d+ \| +(\d+) \| ([\w.]+)$", report, re.MULTILINE)
    return [int(total) for total, name in rows if name.split(".")[0] == package]


def dependencies_after(code):
    """The base dependencies that are imported once the code ran."""
    show = f"print(*[name for name, part in {PARTS}.items() if part.split('.')[0] in sys.modules])"
    told = subprocess.run(
        [sys.executable, "-c", f"{SETTING}\n{code}\n{show}"], capture_output=True, text=True, check=True
    )
    return told.stdout.split()


def main():
    """Print both tables."""
    for name, part in PARTS.items():
        after = "" if name == "numpy" else f", after numpy {milliseconds(part, 'numpy'):.0f} ms"
        print(f"{name}: import {part}, {milliseconds(part):.0f} ms{after}")
    for step, code in STEPS.items():
        print(f"{step}: {', '.join(dependencies_after(code))}")


if __name__ == "__main__":
    main()
