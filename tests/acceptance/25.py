"""Step 25, no wrong number, no lost weights, no blank cell: `python -m tests.acceptance.25 --quick` or `--full`."""

import importlib
import pkgutil

from tests.acceptance import step25
from tests.acceptance.harness import main

if __name__ == "__main__":
    modules = [
        importlib.import_module(f"{step25.__name__}.{info.name}") for info in pkgutil.iter_modules(step25.__path__)
    ]
    main("25", [part for module in modules for part in module.PARTS])
