"""Ways to make a federation, tried as `test_fuzz` tries all public names: a federation, or InvalidInput."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import nbmetrics as nm
from tests.fuzz_checks import anything, client, federation, labels
from tests.fuzzing import Tally
from tests.hostile import SETTINGS
from tests.test_fuzz import A, fuzz, outcome, strange_rows

ON_ROWS = {
    "Federation by labels": (lambda a, b, c: nm.Federation.from_labels(a, labels(b)), federation),
    "Federation of labels": (lambda a, b, c: nm.Federation.from_labels(b, a), federation),
    "Federation dealt": (lambda a, b, c: nm.Federation.iid(a, 2), federation),
    "Federation by shares": (lambda a, b, c: nm.Federation.dirichlet(a, labels(b), 2, 1.0), federation),
    "Federation alike": (lambda a, b, c: nm.Federation.variance_limited(a, labels(b), 2), federation),
    "Federation in shards": (lambda a, b, c: nm.Federation.shards(a, labels(b), 2), federation),
    "Federation of classes": (lambda a, b, c: nm.Federation.pathological(a, labels(b), 3), federation),
    "Federation by a power law": (lambda a, b, c: nm.Federation.power_law(a, 2, 1.0, y=labels(b)), federation),
    "Federation by ids": (lambda a, b, c: nm.Federation.by_id(b, a, y=labels(b)), federation),
    "Federation of a data set": (lambda a, b, c: nm.Federation.from_dataset((a, labels(b))), federation),
    "Federation described": (lambda a, b, c: nm.Federation.iid(a, 2, y=labels(b)).describe(), anything),
}
ON_SETTINGS = {
    "Federation dealt": lambda v: federation(nm.Federation.iid(A, v)),
    "Federation by shares": lambda v: federation(nm.Federation.dirichlet(A, labels(A), v, 1.0)),
    "Federation alpha": lambda v: federation(nm.Federation.dirichlet(A, labels(A), 2, v)),
    "Federation alike": lambda v: federation(nm.Federation.variance_limited(A, labels(A), v)),
    "Federation labels": lambda v: federation(nm.Federation.from_labels(A, v)),
    "Federation in shards": lambda v: federation(nm.Federation.shards(A, labels(A), v)),
    "Federation of shards": lambda v: federation(nm.Federation.shards(A, labels(A), 2, v)),
    "Federation of classes": lambda v: federation(nm.Federation.pathological(A, labels(A), 3, v)),
    "Federation by a power law": lambda v: federation(nm.Federation.power_law(A, 2, v)),
    "Federation ids": lambda v: federation(nm.Federation.by_id(A, v)),
    "Federation folder": lambda v: federation(nm.Federation.from_folder(v, "pixels")),
    "Federation folder labels": lambda v: federation(nm.Federation.from_folder(".", "pixels", v)),
    "Federation data set": lambda v: federation(nm.Federation.from_dataset(v, extractor="pixels")),
    "Federation extractor": lambda v: federation(nm.Federation([A], extractor=v)),
    "Client labels": lambda v: client(nm.Client(A, labels=v)),
}


def test_rows_of_every_kind_in_every_container():
    with Tally("ways to deal rows") as tally:

        @fuzz(80)
        @given(st.sampled_from(list(ON_ROWS)), strange_rows(), st.integers(0, 2**16))
        def attempt(name, strange, seed):
            call, check = ON_ROWS[name]
            given_rows, (_, d) = strange
            others = [np.random.default_rng(seed).standard_normal((n, d)) for n in (24, 30)]
            tally.add(outcome(lambda: call(given_rows.value, *others), check, [given_rows]))

        attempt()


def test_settings_of_every_kind():
    with Tally("settings of federations") as tally:

        @fuzz(80)
        @given(st.sampled_from(list(ON_SETTINGS)), st.integers(0, len(SETTINGS) - 1))
        def attempt(name, which):
            tally.add(outcome(lambda: ON_SETTINGS[name](SETTINGS[which]), anything))

        attempt()
