"""Bad input is refused with the argument's name and the fix; what is accepted gives finite scores."""

import contextlib
import itertools
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import nbmetrics as nm
from tests.fuzzing import examples
from tests.slow import slow

X = np.random.default_rng(20261126).normal(size=(12, 3))
DISTRIBUTION = nm.Gaussian([0.0, 0.0, 0.0])
IMAGES = np.zeros((2, 8, 8, 3), np.uint8)
RAGGED = [[1.0, 2.0], [3.0]]


def holed(value):
    rows = X.copy()
    rows[4, 1] = value
    return rows


def evaluated(generators=X, metrics="fid", clients=(X,), **options):
    return nm.evaluate(clients, generators, metrics, progress=False, **options).table


def named(name):
    return nm.Client(X, name=name)


# what is done, the argument the message names, a part of the fix
REFUSED = {
    "NaN": (lambda: nm.fid(holed(np.nan), X), "real", "Drop or fix"),
    "infinity": (lambda: nm.kid(X, holed(-np.inf)), "generated", "Drop or fix"),
    "too large": (lambda: nm.fid(X, holed(1e200)), "generated", "Rescale"),
    "one axis": (lambda: nm.fid(X[:, 0], X), "real", r"reshape\(-1, 1\)"),
    "three axes": (lambda: nm.kid(X[None], X), "real", "Flatten"),
    "a number": (lambda: nm.fid(X, 3.0), "generated", r"\(n, d\)|Flatten"),
    "None": (lambda: nm.fid(None, X), "real", "array of real numbers"),
    "mismatched d": (lambda: nm.fid(X, X[:, :2]), "generated", "same features"),
    "mismatched distribution": (lambda: nm.fid(X, nm.Gaussian([0, 0])), "generated", "one space"),
    "no rows": (lambda: nm.fid(X[:0], X), "real", "at least"),
    "no features": (lambda: nm.fid(X[:, :0], X), "real", "at least one column"),
    "one row, fid": (lambda: nm.fid(X[:1], X), "real", "more rows"),
    "one row, kid": (lambda: nm.kid(X, X[:1]), "generated", "more rows"),
    "one row in a client": (
        lambda: evaluated(clients=[X, nm.Client(X[:1], name="tiny")]),
        "tiny",
        "more rows",
    ),
    "complex": (lambda: nm.fid(X + 0j, X), "real", "real numbers"),
    "object": (lambda: nm.fid(X.astype(object), X), "real", "real numbers"),
    "strings": (lambda: nm.kid(X, X.astype(str)), "generated", "real numbers"),
    "dates": (lambda: nm.fid(X.astype("M8[s]"), X), "real", "real numbers"),
    "ragged": (lambda: nm.fid(RAGGED, X), "real", "rectangular"),
    "integers beyond 64 bits": (lambda: nm.fid([[10**30, 1, 1]] * 2, X), "real", "real numbers"),
    "beyond float64": (lambda: nm.fid(X * np.longdouble("1e400"), X), "real", "."),
    "batches of two widths": (lambda: nm.Client([X, X[:, :2]]), "data", "same"),
    "no such file": (lambda: nm.Client("nowhere.npy"), "data", r"\.npy"),
    "test of another width": (lambda: nm.Client(X, test=X[:, :1]), "test", "same features"),
    "NaN in test": (lambda: nm.Client(X, test=holed(np.nan)), "test", "Drop or fix"),
    "condition too short": (lambda: nm.Client(X, condition=X[:5]), "condition", "one condition row"),
    "condition of a distribution": (lambda: nm.Client(DISTRIBUTION, condition=X), "condition", "each data row"),
    "negative weight": (lambda: nm.Client(X, weight=-1), "weight", "at least 0"),
    "NaN weight": (lambda: nm.Client(X, weight=np.nan), "weight", "finite"),
    "infinite weight": (lambda: nm.Federation([X, X]).with_weights([1, np.inf]), "weights", "finite"),
    "negative weights": (lambda: nm.Federation([X, X]).with_weights([2, -1]), "weights", "0 or more"),
    "weights all 0": (lambda: nm.Federation([X, X]).with_weights([0, 0]), "weights", "positive"),
    "too few weights": (lambda: nm.Federation([X, X]).with_weights([1]), "weights", "one weight each"),
    "weights of no client": (lambda: nm.Federation([X]).with_weights({"Bob": 1}), "weights", "each client"),
    "weights that are text": (lambda: nm.Federation([X]).with_weights(["a"]), "weights", "numbers"),
    "some weights": (lambda: nm.Federation([nm.Client(X, weight=1), X]), "weight", "every client"),
    "rows and distributions unweighted": (lambda: nm.Federation([X, DISTRIBUTION]), "weight", "every client"),
    "clients of two widths": (lambda: nm.Federation([X, X[:, :2]]), "clients", "same features"),
    "two clients of one name": (
        lambda: nm.Federation([named("a"), named("a")]),
        "clients",
        "a different name",
    ),
    "an empty name": (lambda: named(" "), "name", "non-empty"),
    "a name that is no text": (lambda: named(3), "name", "text"),
    "no clients": (lambda: nm.Federation([]), "clients", "at least one"),
    "clients None": (lambda: nm.Federation(None), "clients", "list of Client"),
    "label for each row": (lambda: nm.Federation.from_labels(X, [0, 1]), "y", "one label"),
    "NaN label": (lambda: nm.Federation.from_labels(X, [np.nan] + [1.0] * 11), "y", "finite"),
    "labels of two kinds": (lambda: nm.Federation.from_labels(X, np.array([1, "a"] * 6, object)), "y", "."),
    "label for each row of a client": (lambda: nm.Client(X, labels=[1, 2]), "labels", "one label"),
    "images without an extractor": (lambda: nm.Client(np.zeros((3, 8, 8))), "data", "Give extractor="),
    "no such folder": (lambda: nm.Federation.from_folder("nowhere", "pixels"), "path", "folder of folders"),
    "shards of nothing": (lambda: nm.Federation.shards(X, [0] * 12, 3, 5), "per_client", "at most 4"),
    "labels without a client": (lambda: nm.Federation.pathological(X, range(12), 3, 2), "classes", "at least 4"),
    "split of a distribution": (lambda: nm.Federation([DISTRIBUTION]).split(), "test", "Give rows"),
    "nothing left by split": (lambda: nm.Federation([X]).split(test=1.0), "test", "smaller"),
    "split seed below 0": (lambda: nm.Federation([X]).split(seed=-1), "seed", "."),
    "split seed of text": (lambda: nm.Federation([X]).split(seed="a"), "seed", "."),
    "no generators": (lambda: evaluated([]), "generators", "at least one"),
    "generators None": (lambda: evaluated(None), "generators", "list of Generator"),
    "two generators of one name": (
        lambda: evaluated([nm.Generator(X, name="g")] * 2),
        "generators",
        "a different name",
    ),
    "generator of another width": (lambda: evaluated({"odd": X[:, :2]}), "odd", "same features"),
    "function of another width": (
        lambda: evaluated({"odd": lambda n, rng: X[:, :2]}),
        "odd",
        "same features",
    ),
    "function that gives NaN": (
        lambda: evaluated({"odd": lambda n, rng: holed(np.nan)}),
        "odd",
        "Drop or fix",
    ),
    "function that gives nothing": (lambda: evaluated({"odd": lambda n, rng: None}), "odd", "real numbers"),
    "unknown metric": (lambda: evaluated(metrics="kidd"), "metrics", "Did you mean 'kid'"),
    "mixture by another metric": (lambda: nm.best_mixture([X], [X], "fid"), "metric", "Give .kid"),
    "mixture from subsets": (
        lambda: nm.best_mixture([X], [X], nm.metrics.KID(estimator="linear")),
        "metric",
        'estimator="unbiased"',
    ),
    "mixture of no generators": (lambda: nm.best_mixture([X], []), "generators", "at least one"),
    "no metrics": (lambda: evaluated(metrics=()), "metrics", "at least one"),
    "one metric twice": (lambda: evaluated(metrics=("kid", "kid")), "metrics", "a different name"),
    "metric without functions": (lambda: evaluated(metrics=[3]), "metrics", "name or a Metric"),
    "samples too few": (lambda: evaluated(samples=1), "samples", "at least 2"),
    "samples that are no count": (lambda: evaluated(samples=2.5), "samples", "whole"),
    "seed below 0": (lambda: evaluated(seed=-1), "seed", "at least 0"),
    "unknown kernel": (lambda: nm.kid(X, X, "cubic"), "kernel", "nm.Polynomial"),
    "unknown estimator": (lambda: nm.kid(X, X, estimator="unbias"), "estimator", "'unbiased'"),
    "unknown extractor": (lambda: nm.extract(IMAGES, "pixel"), "extractor", "Did you mean 'pixels'"),
    "extractor that is none": (lambda: nm.extract(IMAGES, 3), "extractor", "nm.extractors"),
    "unknown resizing": (lambda: nm.extract(IMAGES, "pixels", resize="cleen"), "resize", "Did you mean 'clean'"),
    "kernel of a wrong shape": (lambda: nm.kid(X, X, lambda x, y: x), "kernel", "each pair"),
    "kernel that gives a list": (lambda: nm.kid(X, X, lambda x, y: [1.0]), "kernel", "each pair"),
    "kernel that gives NaN": (lambda: nm.kid(X, X, lambda x, y: x @ y.T * np.nan), "kernel", "."),
    "degree 0": (lambda: nm.Polynomial(0), "degree", "from 1 to 1000"),
    "negative gamma": (lambda: nm.Polynomial(gamma=-1.0), "gamma", "from"),
    "sigma 0": (lambda: nm.RBF(0), "sigma", r"from 1e-50 to 1e\+50"),
    "unknown sigma": (lambda: nm.RBF("mean"), "sigma", "median"),
    "median of equal rows": (lambda: nm.kid(X * 0, X, nm.RBF("median")), "sigma", "as a number"),
    "mean empty": (lambda: nm.Gaussian([]), "mean", "at least one"),
    "mean NaN": (lambda: nm.Gaussian([0, np.nan]), "mean", "Drop or fix|finite"),
    "mean ragged": (lambda: nm.Gaussian(RAGGED), "mean", "."),
    "cov ragged": (lambda: nm.Gaussian([0, 0], RAGGED), "cov", "."),
    "cov of another size": (lambda: nm.Gaussian([0, 0], np.eye(3)), "cov", r"\(2, 2\)"),
    "three variances for two": (lambda: nm.Gaussian([0, 0], [1, 1, 1]), "cov", "one each"),
    "negative variance": (lambda: nm.Gaussian([0, 0], [1, -1]), "cov", "0 or more"),
    "cov not symmetric": (lambda: nm.Gaussian([0, 0], [[1, 2], [0, 1]]), "cov", r"cov \+ cov\.T"),
    "cov not positive": (lambda: nm.Gaussian([0, 0], [[1, 2], [2, 1]]), "cov", "no negative eigenvalue"),
    "cov infinite": (lambda: nm.Gaussian([0, 0], np.inf), "cov", "."),
    "negative width": (lambda: nm.Gaussian.ellipse([0, 0], -1, 1), "width", "at least 0"),
    "mixture of nothing": (lambda: nm.Mixture([]), "components", "at least one"),
    "mixture of rows": (lambda: nm.Mixture([X]), "components", "nm.Gaussian"),
    "mixture of two dimensions": (lambda: nm.Mixture([DISTRIBUTION, nm.Gaussian(0)]), "components", "one dimension"),
    "mixture weights": (lambda: nm.Mixture([DISTRIBUTION, DISTRIBUTION], [1]), "weights", "one weight each"),
    "empirical NaN": (lambda: nm.Empirical(holed(np.nan)), "rows", "Drop or fix"),
    "negative count": (lambda: DISTRIBUTION.sample(-1), "n", "at least 0"),
    "images of 0 to 255 as floats": (lambda: nm.images(np.full((2, 8, 8), 200.0)), "source", "astype"),
    "a Monitor of nothing": (lambda: nm.Monitor([]), "clients", "at least one"),
    "a Monitor of no folder": (lambda: nm.Monitor.open("nowhere"), "path", r"nm\.Monitor"),
    "a step below 0": (lambda: nm.Monitor([X]).log(-1), "step", "from 0"),
    "a step's rows of another width": (lambda: nm.Monitor([X]).log(0, X[:, :2]), "source", r"\(n, 3\)"),
    "an alarm on no column": (lambda: nm.Monitor([X]).alarm("fid_al", rises=1), "column", "Did you mean 'fid_all'"),
    "an alarm that is none": (lambda: nm.Monitor([X]).remove_alarm("colapse"), "name", "Did you mean 'collapse'"),
    "a callback that is never due": (lambda: nm.Monitor([X]).lightning(X, every=0), "every", "from 1"),
    "training of no model": (lambda: nm.training.train("gan", X, rounds=1, local_steps=1), "kind", "'wgan-gp'"),
    "training on 3 columns": (
        lambda: nm.training.train("ddpm", [X], rounds=1, local_steps=1),
        "federation",
        "2 columns",
    ),
    "images in no folder": (lambda: nm.images("no/such folder"), "source", "Give a folder"),
    "a name too long for a file": (lambda: evaluated(["a" * 300]), "source", r"\.npy"),
    "a memory of clients": (lambda: nm.Federation(memoryview(X)), "clients", "Give a list"),
    "more samples than a float of bytes": (lambda: evaluated(samples=1e308), "samples", "at most"),
    "a flag of two": (lambda: nm.prdc(X, X, inclusive=np.zeros(2)), "inclusive", "True or False"),
    "a Monitor's flag of two": (lambda: nm.Monitor([X], keep_all=np.zeros(2)), "keep_all", "True or False"),
    "a table's flag that is missing": (
        lambda: nm.Dashboard.from_table({"a": [1.0], "b": [2.0]}, higher_is_better=pd.NA),
        "higher_is_better",
        "True or False",
    ),
    "a flag of text": (lambda: nm.federated.client_summary(X, "w1", reveal_rows="no"), "reveal_rows", "True or False"),
    "labels for other images": (lambda: nm.images(np.zeros((2, 8, 8)), labels=[1]), "labels", "one per image"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.filterwarnings("error")
def test_bad_input_is_refused_by_name_with_the_fix(case):
    act, argument, fix = REFUSED[case]
    with pytest.raises(nm.InvalidInput, match=rf"(?s)\b{argument}\b.*: .*\. .*({fix})") as caught:
        act()
    assert isinstance(caught.value, ValueError)


@pytest.mark.filterwarnings("error")
def test_an_empty_file_is_refused(tmp_path):
    path = tmp_path / "empty.npy"
    path.touch()
    with pytest.raises(nm.InvalidInput, match=r"data.*\.npy"):
        nm.Client(path)


@pytest.mark.filterwarnings("error")
def test_a_file_with_a_flipped_bit_in_its_header_is_read_or_refused(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X)
    data = path.read_bytes()
    for place, bit in itertools.product(range(128), (2, 5)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
        with contextlib.suppress(nm.InvalidInput):
            nm.Client(path)


@pytest.mark.parametrize("make", ["complex", "sparse", "nan", "latent"])
def test_bad_tensors_are_refused(make):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(X)
    bad = {
        "complex": x.to(torch.complex64),
        "sparse": x.to_sparse(),
        "nan": x * np.nan,
        "latent": torch.nn.Linear(3, 3),
    }
    with pytest.raises(nm.InvalidInput, match="latent_dim" if make == "latent" else "real"):
        nm.Generator(bad[make]) if make == "latent" else nm.fid(bad[make], x)


EXTREME = {
    "degree 4": nm.Polynomial(4),
    "gamma 1e49": nm.Polynomial(gamma=1e49),
    "sigma 1e-49": nm.RBF(1e-49),
    "sigma 1e49": nm.RBF(1e49),
    "sigma 1e-9": nm.RBF(1e-9),
    "median": nm.RBF("median"),
}


@pytest.mark.parametrize("kernel", EXTREME)
@pytest.mark.parametrize("scale", [*slow(1.0), 1e44, 1e-310])
def test_extreme_kernels_give_a_finite_number_or_a_refusal(kernel, scale):
    x = X[:, :2]
    distribution, rows = nm.Gaussian(scale * x[0], scale), scale * x
    for real, generated in ((distribution, rows), (rows, scale * x[:5]), (distribution, nm.Gaussian(scale * x[1]))):
        value = judged(lambda: nm.kid(real, generated, EXTREME[kernel]))  # noqa: B023
        assert value is None or np.isfinite(value)


def test_flags_may_be_numpys_and_rows_a_memoryview():
    assert nm.prdc(X, X[:9], inclusive=np.True_) == nm.prdc(X, X[:9], inclusive=True)
    assert evaluated(clients=[memoryview(X)], generators=X + 1).equals(evaluated(generators=X + 1))


def test_a_whole_number_may_be_given_as_a_float():
    assert nm.kid(X, X[:5], nm.Polynomial(2.0)) == nm.kid(X, X[:5], nm.Polynomial(2))


def test_a_wide_flat_gaussian_has_an_rbf_kid():
    distribution = nm.Gaussian([0.0, 0.0], [[1e18, 3e18], [3e18, 9e18]])
    value = judged(lambda: nm.kid(distribution, nm.Gaussian([0.0, 0.0]), nm.RBF()))
    assert value == pytest.approx(1 / 2, abs=1e-8)  # E k of the narrow distribution with itself; all else vanishes


LEAVES = {
    "ordinary": st.floats(-10, 10),
    "any float": st.floats(allow_nan=True, allow_infinity=True),
    "finite": st.floats(allow_nan=False, allow_infinity=False),
    "denormal": st.floats(-1e-305, 1e-305),
    "huge": st.sampled_from([1e308, -1e308, 1e45, -1e45, 1e44, 9.9e22, 0.0, 1.0]),
    "few values": st.sampled_from([0.0, 1.0, 0.1]),
}
DTYPES = [
    np.float64,
    np.float32,
    np.float16,
    np.int64,
    np.int8,
    np.uint64,
    np.bool_,
    np.complex128,
    object,
    "U5",
]


@st.composite
def hostile(draw):
    """Arrays of any rank, dtype and content: constant columns, one row, n < d and duplicates among them."""
    shape = draw(
        st.sampled_from(
            [(5, 3), (2, 3), (1, 3), (12, 3), (0, 3), (5, 0), (3,), (), (2, 2, 3), (40, 3), (3, 70), (90, 70)]
        )
    )
    leaf = LEAVES[draw(st.sampled_from(sorted(LEAVES)))]
    rows = draw(arrays.arrays(np.float64, shape, elements=leaf, fill=leaf))
    if rows.ndim == 2 and rows.size:
        damage = draw(st.sampled_from(["none", "constant", "duplicates", "offset", "noise"]))
        if damage == "constant":
            rows[:, 0] = rows[0, 0]
        elif damage == "duplicates":
            rows[:] = rows[0]
        elif damage in ("offset", "noise"):
            scale = 1.0 if damage == "noise" else 1e9
            rows = np.random.default_rng(draw(st.integers(0, 9))).normal(size=shape) + scale
    kind = draw(st.sampled_from([np.float64] * 6 + DTYPES))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rows.astype(kind)


def judged(act):
    """The numbers of `act`, or None where it refused; any warning or other error is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return act()
        except nm.InvalidInput:
            return None


KERNELS = [None, nm.Polynomial(2), nm.RBF(), nm.RBF("median"), nm.RBF(1e-3), lambda x, y: x @ y.T]


@settings(max_examples=examples(250), deadline=None, derandomize=True)
@given(hostile(), hostile(), st.sampled_from(KERNELS), st.sampled_from(["biased", "unbiased"]))
def test_hostile_arrays_give_finite_scores_or_a_refusal(x, y, kernel, estimator):
    for a, b in ((x, y), (x, x)):
        fid = judged(lambda: nm.fid(a, b))  # noqa: B023
        kid = judged(lambda: nm.kid(a, b, kernel, estimator))  # noqa: B023
        assert fid is None or (type(fid) is float and np.isfinite(fid) and fid >= 0)
        assert kid is None or (type(kid) is float and np.isfinite(kid))


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(hostile(), hostile(), hostile(), st.lists(st.floats(), min_size=2, max_size=2))
def test_hostile_federations_give_finite_tables_or_a_refusal(x, y, z, weights):
    table = judged(lambda: nm.evaluate(nm.Federation([x, y]).with_weights(weights), [z], progress=False).table)
    if table is not None:
        assert np.isfinite(table[["avg", "all", "gap"]].to_numpy(float)).all()
        assert (table.loc[table["metric"] == "fid", ["avg", "all"]] >= 0).all(axis=None)


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(hostile(), hostile(), hostile(), st.booleans())
def test_hostile_gaussians_are_refused_or_scored(mean, cov, rows, square):
    if square and cov.ndim == 2 and cov.dtype.kind == "f":
        with np.errstate(all="ignore"):
            cov = cov.T @ cov
    distribution = judged(lambda: nm.Gaussian(mean, cov))
    if distribution is not None:
        for score in (nm.fid, nm.kid, lambda a, b: nm.kid(a, b, nm.RBF())):
            for other in (distribution, rows):
                value = judged(lambda: score(distribution, other))  # noqa: B023
                assert value is None or np.isfinite(value)


@pytest.mark.parametrize("make", [lambda: nm.RBF(1e-200), lambda: nm.RBF(1e200), lambda: nm.Polynomial(gamma=1e200)])
def test_kernels_refuse_scales_that_only_overflow(make):
    with pytest.raises(nm.InvalidInput, match=r"sigma|gamma"):
        make()


def test_a_value_that_is_no_number_is_told_by_its_place(tmp_path):
    with pytest.raises(nm.InvalidInput, match=r"1 value is NaN or infinite, in row 4, column 1 \(from 0\)"):
        nm.Client(holed(np.nan))
    many = np.concatenate([X, holed(np.inf), holed(np.nan)])
    with pytest.raises(nm.InvalidInput, match="2 values are NaN or infinite, the first in row 16, column 1"):
        nm.Client(many)
    with pytest.raises(nm.InvalidInput, match="data, batch 2: 1 value is NaN or infinite, in row 4"):
        nm.Client([X, holed(np.nan)])
    np.save(tmp_path / "rows.npy", holed(np.nan))
    with pytest.raises(nm.InvalidInput, match="rows from 1: 1 value is NaN or infinite, in row 4"):
        nm.Client(tmp_path / "rows.npy")


def test_a_file_that_is_no_npy_file_is_refused_without_advice_to_unpickle_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a long path is shortened
    Path("rows.csv").write_text("1,2,3\n4,5,6\n")
    with pytest.raises(nm.InvalidInput, match=r"rows\.csv' contains no array.*pandas\.read_csv") as refused:
        nm.Client(Path("rows.csv"))
    assert "pickle" not in str(refused.value)
    np.savez(Path("rows.npz"), north=X)
    with pytest.raises(
        nm.InvalidInput, match=r"contains arrays by name: \['north'\]. If 'north' is rows of features, give np"
    ):
        nm.Client(Path("rows.npz"))


def test_weights_by_wrong_names_say_which_are_lacking_and_which_nobody_has():
    scores = nm.evaluate({"north": X, "south": X + 1}, {"g": X}, "fid", progress=False)
    with pytest.raises(
        nm.InvalidInput, match=r"lacks \['south'\] and has \['South'\], which is not the name of a client"
    ):
        scores.with_weights({"north": 1, "South": 1})


def test_a_folder_that_is_not_there_is_told_before_an_extractor_is_asked_for():
    with pytest.raises(nm.InvalidInput, match="path: got 'nowhere', which is not a folder"):
        nm.Federation.from_folder("nowhere")


NAMED = [nm.Client(X, name="a"), nm.Client(X + 1, name="b")]
SUMMARIES = [nm.federated.client_summary(rows, "fid") for rows in (X, X + 1)]
# What is taken by position, as a set, which has another order in each process.
SETS = {
    "clients": lambda: nm.Federation(set(NAMED)),
    "clients of evaluate": lambda: evaluated(clients=frozenset(NAMED)),
    "weights of a federation": lambda: nm.Federation(NAMED).with_weights({0.25, 0.75}),
    "weights of scores": lambda: nm.evaluate(NAMED, X, "fid", progress=False).with_weights({0.25, 0.75}),
    "weights": lambda: nm.federated.aggregate(SUMMARIES, {0.25, 0.75}, {"g": X}, "fid"),
    "summaries": lambda: nm.federated.aggregate(set(SUMMARIES), [0.25, 0.75], {"g": X}, "fid"),
    "weights of a mixture": lambda: nm.Mixture([nm.Gaussian(0.0), nm.Gaussian(1.0)], {0.25, 0.75}),
    "components": lambda: nm.Mixture({nm.Gaussian(0.0), nm.Gaussian(1.0)}, [0.25, 0.75]),
    "generators": lambda: evaluated({nm.Generator(X), nm.Generator(X + 1)}, clients=NAMED),
    "metrics": lambda: nm.federated.flower.evaluation(X, X + 1, {"fid", "kid"}),  # the loss is by the first
    "between": lambda: nm.evaluate(NAMED, X, "fid", progress=False).inversions("fid", between={"avg", "all"}),
}


@pytest.mark.parametrize("argument", SETS)
def test_sets_are_refused_where_the_order_counts(argument):
    with pytest.raises(nm.InvalidInput) as refusal:
        SETS[argument]()
    assert refusal.value.argument == argument.split()[0] and "Give a list: a set has another" in refusal.value.fix


def test_sets_and_views_are_taken_where_they_cannot_be_mistaken():
    federation = nm.Federation([*NAMED, nm.Client(X, name="c")])
    assert federation.drop({"a", "b"}).names == ("c",)
    weights = {"a": 1.0, "b": 2.0, "c": 1.0}
    assert federation.with_weights(weights.values()).weights == federation.with_weights(weights).weights
