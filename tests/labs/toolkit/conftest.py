import pytest

import nbmetrics as nm
from tests.labs.toolkit.common import LABS


@pytest.fixture(params=LABS)
def kind(request):
    return getattr(nm, request.param)
