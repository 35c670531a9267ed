from functools import partial

import pytest

import nbmetrics as nm
from tests.labs.toolkit.common import LABS, made


@pytest.fixture(params=LABS)
def name(request):
    """Of the class of each lab."""
    return request.param


@pytest.fixture
def kind(name):
    return getattr(nm, name)


@pytest.fixture
def new(name):
    """new() -> a lab of that class, as it starts."""
    return partial(made, name)
