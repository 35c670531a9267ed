"""Whether torchvision imports beside the installed torch: what `make` asks after it has set up an environment.

python -m tests.torch_pair

A torchvision of another build (of an index for CPUs beside one for GPUs) satisfies pip, and its import fails. nbmetrics
computes with such a pair where only operators are missing, which it declares; torchmetrics and clean-fid do not import.
"""

import sys
from importlib import import_module
from importlib.util import find_spec

from nbmetrics.features.torch_environment import torchvision_failure, torchvision_fix


def note():
    """What is wrong with the pair and the command that mends it; "" where it imports, or one of both is not there."""
    if find_spec("torch") is None or find_spec("torchvision") is None:
        return ""
    try:
        import_module("torchvision")
    except Exception as error:
        fix = torchvision_fix().replace("pip install", f"{sys.executable} -m pip install")
        return f"NOTE: {torchvision_failure(error)}.\n{fix}"
    return ""


if __name__ == "__main__":
    if text := note():
        print(text)
