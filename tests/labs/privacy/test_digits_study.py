"""The study that comes with the package is that of its data."""

import numpy as np
import pytest

from nbmetrics.labs.privacy.digits_study import STORED, read_study
from nbmetrics.labs.privacy.settings import Settings
from nbmetrics.labs.privacy.study import study_of_digits


@pytest.mark.slow
def test_the_stored_study_is_what_its_data_give():
    stored, computed = read_study(), study_of_digits(Settings())
    for name in STORED:
        np.testing.assert_allclose(getattr(stored, name), getattr(computed, name), rtol=1e-6, atol=1e-9)
    for name in ("epsilons", "generators", "delta", "clip"):
        assert getattr(stored, name) == getattr(computed, name)
    assert [metric.name for metric in stored.metrics] == [metric.name for metric in computed.metrics]
    np.testing.assert_allclose(stored.scores.table["avg"], computed.scores.table["avg"], rtol=1e-9)
