"""The examples in docstrings are run as they stand; `nm` and `np` are what everybody imports."""

import doctest

import numpy as np
import pytest

import nbmetrics as nm

SHOWN = {
    "Gaussian": nm.Gaussian,
    "RandomFeatures": nm.RandomFeatures,
    "Client": nm.Client,
    "Federation": nm.Federation,
    "Federation.by_id": nm.Federation.by_id,
    "Federation.describe": nm.Federation.describe,
    "Federation.from_dataset": nm.Federation.from_dataset,
    "Federation.from_labels": nm.Federation.from_labels,
    "Federation.pathological": nm.Federation.pathological,
    "Federation.power_law": nm.Federation.power_law,
    "Federation.shards": nm.Federation.shards,
    "Federation.split": nm.Federation.split,
    "Federation.with_weights": nm.Federation.with_weights,
    "Scores.heterogeneity": nm.Scores.heterogeneity,
    "Scores.inversions": nm.Scores.inversions,
    "Scores.ledger": nm.Scores.ledger,
    "Scores.ranks": nm.Scores.ranks,
    "Scores.regret": nm.Scores.regret,
    "Scores.table": nm.Scores.table,
    "Scores.to_markdown": nm.Scores.to_markdown,
    "Scores.with_weights": nm.Scores.with_weights,
    "Scores.worst": nm.Scores.worst,
    "am_score": nm.am_score,
    "auth_pct": nm.auth_pct,
    "barycenter": nm.theory.barycenter,
    "best_mixture": nm.best_mixture,
    "c_t": nm.c_t,
    "cfid": nm.cfid,
    "collapse": nm.theory.collapse,
    "cmmd": nm.cmmd,
    "evaluate": nm.evaluate,
    "federated.Privacy": nm.federated.Privacy,
    "federated.client_summary": nm.federated.client_summary,
    "federated.flower.Aggregation": nm.federated.flower.Aggregation,
    "federated.flower.evaluation": nm.federated.flower.evaluation,
    "federated.ledger": nm.federated.ledger,
    "federated.noise_multiplier": nm.federated.noise_multiplier,
    "federated.rank_survival": nm.federated.rank_survival,
    "federated.spent": nm.federated.spent,
    "fid": nm.fid,
    "fid_infinity": nm.fid_infinity,
    "fld": nm.fld,
    "gaussian_toy": nm.experiments.gaussian_toy,
    "images": nm.images,
    "inception_score": nm.inception_score,
    "kid": nm.kid,
    "kid_gap": nm.theory.kid_gap,
    "mifid": nm.mifid,
    "prdc": nm.prdc,
    "realism": nm.realism,
    "rke": nm.rke,
    "rrke": nm.rrke,
    "twin": nm.theory.twin,
    "vendi": nm.vendi,
    "w1": nm.w1,
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_example_is_what_it_says(name):
    if name == "w1":
        pytest.importorskip("ot", reason="POT is not installed")
    doc = SHOWN[name].__doc__
    test = doctest.DocTestParser().get_doctest(doc, {"nm": nm, "np": np}, name, None, 0)
    assert test.examples
    told = []
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=told.append)
    assert not failed, "".join(told)
