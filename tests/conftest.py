"""One thread for each test process, and the same examples in every run.

The matrices of the tests are small, and pytest-xdist fills the cores: threads of several BLAS and OpenMP pools that
wait for one another there make the tests take twice the time and more. It must be set before NumPy is imported.

Hypothesis tries the same examples each time, so that a commit passes or fails alike everywhere; to look for others:
HYPOTHESIS_PROFILE=search make test-python
"""

import os
from functools import partial

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture
def opened():
    """opened(kind, *args, **settings) -> a lab of that class, closed after the test."""
    labs = []

    def make(kind, *args, **settings):
        labs.append(kind(*args, **settings))
        return labs[-1]

    yield make
    for lab in labs:
        lab.close()


@pytest.fixture
def memo_lab(opened):
    """memo_lab(*args, **settings) -> MemorizationLab, closed after the test."""
    import nbmetrics as nm

    return partial(opened, nm.MemorizationLab)
