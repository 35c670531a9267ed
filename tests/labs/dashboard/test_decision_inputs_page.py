"""The page's decided numbers and a client's say, run in Node beside NumPy."""

import numpy as np
import pytest

from tests.labs.dashboard.page import said
from tests.node import needs_node


@needs_node
def test_clients_with_few_rows_have_no_say_and_no_part_in_the_decision():
    centres = np.random.default_rng(0).gamma(2.0, size=(3, 4))
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    given = {"centres": centres, "shares": shares, "few": ["", "", "n = 3", ""]}
    line = """
    const centres = given.centres.map((own) => Float64Array.from(own));
    const found = decidedOf({ centres, avgLosses: [2, NaN, 1] }, given.shares, given.few);
    say({ ...found, centres: found.centres.map((own) => [...own]), lined: found.lined.map((own) => [...own]),
      says: influencesOf(found.lined, given.shares) })"""
    found = said("decision_inputs.js", "decidedOf, influencesOf", line, given)
    counted = [0, 1, 3]
    assert found["counted"] == counted and found["winner"] == 2
    assert found["weights"] == pytest.approx(shares[counted] / 0.8)
    np.testing.assert_allclose(found["centres"], centres[:, counted])
    says = shares * centres.std(axis=0) * [1, 1, 0, 1]
    assert found["says"] == pytest.approx(says / says.sum())
    # Too little of the weight is left: nobody is left out.
    alone = said("decision_inputs.js", "decidedOf, influencesOf", line, {**given, "few": ["n = 3", "n = 2", "", ""]})
    assert alone["counted"] == [0, 1, 2, 3] and alone["weights"] == pytest.approx(shares)
