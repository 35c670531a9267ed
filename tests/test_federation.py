"""Clients, generators and federations: what they take, how they are weighted, named and recut."""

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from tests.slow import slow

RNG = np.random.default_rng(20261124)
X, Y = RNG.normal(size=(30, 3)), 1 + RNG.normal(size=(10, 3))
DISTRIBUTION = nm.Gaussian([0.0, 0.0, 0.0])


def all_fid(federation, source):
    return nm.evaluate(federation, [source], "fid", progress=False).table["all"][0]


def test_weights_are_the_row_counts():
    assert nm.Federation([X, Y]).weights == (0.75, 0.25)


def test_distributions_weigh_the_same():
    assert nm.Federation([DISTRIBUTION, DISTRIBUTION, DISTRIBUTION, DISTRIBUTION]).weights == (0.25,) * 4


def test_given_weights_are_divided_by_their_sum():
    federation = nm.Federation([nm.Client(X, weight=1), nm.Client(DISTRIBUTION, weight=4)])
    assert federation.weights == (0.2, 0.8)


@pytest.mark.parametrize(
    "weights", [[3, 1], {"b": 1, "a": 3}, np.array([0.75, 0.25]), [3e300, 1e300], [3e-320, 1e-320]]
)
def test_with_weights_takes_sequences_and_names(weights):
    federation = nm.Federation({"a": X, "b": Y}).with_weights(weights)
    assert federation.weights == pytest.approx((0.75, 0.25), rel=1e-3)
    assert federation.names == ("a", "b")
    assert sum(federation.weights) == pytest.approx(1.0, abs=1e-15)


def test_names_are_given_or_counted_and_never_collide():
    assert nm.Federation([X, Y]).names == ("Client 1", "Client 2")
    mixed = nm.Federation([X, nm.Client(Y, name="Client 1"), Y])
    assert len(set(mixed.names)) == 3
    assert mixed.names[1] == "Client 1"
    assert nm.Federation({"b": X, "a": Y}).names == ("b", "a")
    assert [c.name for c in mixed] == list(mixed.names)


def test_a_dict_may_hold_clients_as_well_as_data():
    federation = nm.Federation({"a": nm.Client(X), "b": nm.Client(Y)})
    assert federation.names == ("a", "b")
    assert federation.weights == (0.75, 0.25)
    np.testing.assert_array_equal(federation["a"].rows, X)


def test_a_federation_is_a_collection_of_clients():
    federation = nm.Federation({"a": X, "b": Y})
    assert len(federation) == 2
    assert [len(client.rows) for client in federation] == [30, 10]
    np.testing.assert_array_equal(federation["b"].rows, Y)
    with pytest.raises(nm.InvalidInput, match=r"'c'.*a, b"):
        federation["c"]


def test_replace_exchanges_one_client_and_leaves_the_old_federation():
    old = nm.Federation({"a": X, "b": Y}).with_weights([1, 1])
    new = old.replace("b", X + 1)
    assert new.names == ("a", "b")
    assert new.weights == (0.5, 0.5)
    np.testing.assert_array_equal(new["b"].rows, X + 1)
    np.testing.assert_array_equal(old["b"].rows, Y)
    assert old.replace("b", nm.Client(X, name="c", weight=1.5)).names == ("a", "c")
    assert nm.Federation({"a": X, "b": Y}).replace("b", X).weights == (0.5, 0.5)


def test_split_holds_rows_out_and_loses_none():
    federation = nm.Federation([nm.Client(X, condition=X + 100, name="a"), nm.Client(Y, name="b")]).split(seed=3)
    assert [(len(c.rows), len(c.test)) for c in federation] == [(24, 6), (8, 2)]
    for client, rows in zip(federation, (X, Y), strict=True):
        together = np.concatenate([client.rows, client.test])
        np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(rows, axis=0))
    np.testing.assert_array_equal(federation["a"].condition, federation["a"].rows + 100)
    again, other = (nm.Federation({"a": X, "b": Y}).split(seed=s)["a"].rows for s in (3, 4))
    np.testing.assert_array_equal(again, federation["a"].rows)
    assert (other != again).any()


def test_pooled_is_the_concatenation_under_size_weights_and_the_mixture_otherwise():
    federation = nm.Federation([X, Y])
    np.testing.assert_array_equal(federation.pooled().rows, np.concatenate([X, Y]))
    mixture = federation.with_weights([1, 1]).pooled().distribution
    np.testing.assert_allclose(mixture.mean, (X.mean(0) + Y.mean(0)) / 2)
    distributions = nm.Federation([DISTRIBUTION, nm.Gaussian([3.0, 0.0, 0.0])])
    expected = nm.fid(distributions.pooled().distribution, Y)
    assert all_fid(distributions, Y) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "labels", [np.repeat([2, 0], [10, 20]), np.repeat(["u", "t"], [10, 20]), [True] * 10 + [False] * 20]
)
def test_from_labels_makes_one_client_a_label_in_sorted_order(labels):
    federation = nm.Federation.from_labels(X, labels)
    assert federation.names == tuple(str(label) for label in sorted(set(np.asarray(labels).tolist())))
    assert [len(c.rows) for c in federation] == [20, 10]
    np.testing.assert_array_equal(federation.clients[1].rows, X[:10])


@pytest.mark.parametrize(
    "make",
    [
        list,
        lambda x: x.astype(np.float32),
        pd.DataFrame,
        lambda x: iter(np.split(x, 3)),
        lambda x: list(np.split(x, [1, 7])),
    ],
    ids=["nested", "float32", "frame", "iterator of batches", "list of batches"],
)
def test_clients_and_generators_take_rows_in_any_form(make):
    np.testing.assert_allclose(nm.Client(make(X.tolist() if make is list else X)).rows, X, atol=1e-6)
    generator = nm.Generator(make(Y[:9].tolist() if make is list else Y[:9]))
    assert all_fid([X], generator) == pytest.approx(nm.fid(X, Y[:9]), rel=1e-5)


def test_npy_files_are_read_in_place(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X)
    for given in (path, str(path)):
        client = nm.Client(given)
        assert isinstance(client.rows.base, np.memmap)
        assert nm.fid(client.rows, Y) == nm.fid(X, Y)


def test_a_pickle_in_an_npy_file_is_never_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    path = tmp_path / "trap.npy"
    np.save(path, np.array([[Trap()]], dtype=object), allow_pickle=True)
    with pytest.raises(nm.InvalidInput, match=r"data.*\.npy"):
        nm.Client(path)
    assert not (tmp_path / "sprung").exists()


def test_a_function_generator_gets_the_count_and_a_seeded_rng():
    asked = []

    def source(n, rng):
        asked.append(n)
        return rng.normal(size=(n, 3))

    first, again, other = (nm.evaluate([X], [source], samples=500, seed=s, progress=False).table for s in (1, 1, 2))
    assert asked == [500] * 3  # once an evaluation, shared by both metrics
    pd.testing.assert_frame_equal(first, again)
    assert (first["avg"] != other["avg"]).all()


def test_generators_may_be_named_by_a_dict_or_stand_alone():
    scores = nm.evaluate([X], {"distribution": DISTRIBUTION, "rows": Y}, "fid", progress=False)
    assert scores.table["generator"].tolist() == ["distribution", "rows"]
    for single in (nm.Generator(Y, name="g"), Y, DISTRIBUTION, lambda n, rng: Y):
        assert len(nm.evaluate([X], single, "fid", progress=False).table) == 1


def test_a_torch_module_with_latent_dim_is_a_generator():
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        latent_dim = 5

        def __init__(self, dtype):
            super().__init__()
            self.layer = torch.nn.Linear(5, 3, dtype=dtype)

        def forward(self, z):
            return self.layer(z)

    for dtype in (torch.float32, torch.float64):
        net = Net(dtype)
        weight, bias = (p.detach().double().numpy() for p in (net.layer.weight, net.layer.bias))
        exact = nm.fid(DISTRIBUTION, nm.Gaussian(bias, weight @ weight.T))
        drawn = nm.evaluate([DISTRIBUTION], {"net": net}, "fid", samples=100_000, progress=False).table["avg"][0]
        assert drawn == pytest.approx(exact, rel=0.05)
        assert net.training


def test_a_users_own_distribution_needs_only_dim_and_sample():
    class Coin:
        dim = 3

        def sample(self, n, rng=None):
            return np.random.default_rng(rng).choice([-1.0, 1.0], size=(n, 3))

    exact = nm.fid(X, nm.Empirical(np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T))
    assert nm.evaluate([X], [Coin()], "fid", samples=50_000, progress=False).table["all"][0] == pytest.approx(
        exact, rel=0.02
    )
    assert nm.evaluate([Coin(), DISTRIBUTION], [Y], ("fid", "kid"), progress=False).table["avg"].notna().all()


@pytest.mark.parametrize(
    "mix", ["two clients", "client and distribution", "client and generator", "distribution and generator"]
)
def test_numpy_and_torch_work_side_by_side(mix):
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(X)
    cases = {
        "two clients": ([tensor, Y], [X, Y], X + 1, X + 1),
        "client and distribution": ([nm.Client(tensor, weight=1), nm.Client(DISTRIBUTION, weight=1)],
                           [nm.Client(X, weight=1), nm.Client(DISTRIBUTION, weight=1)], Y, Y),
        "client and generator": ([tensor], [X], Y, Y),
        "distribution and generator": ([DISTRIBUTION], [DISTRIBUTION], tensor, X),
    }  # fmt: skip
    mixed, plain, source, plain_source = cases[mix]
    ours = nm.evaluate(mixed, [source], progress=False).table
    np.testing.assert_allclose(ours["all"], nm.evaluate(plain, [plain_source], progress=False).table["all"], rtol=1e-9)


def test_frames_with_the_same_columns_in_another_order_are_refused():
    first = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 3)), columns=["a", "b", "c"])
    turned = first[["a", "c", "b"]]
    seen = r"column 2 of '\w+' is 'c', of '\w+' 'b'"
    with pytest.raises(nm.InvalidInput, match=seen):
        nm.Federation({"north": first, "south": turned})
    for generators in ({"g": turned}, [turned], [nm.Generator(turned, name="g")]):
        with pytest.raises(nm.InvalidInput, match=r"generators.*column 2 of"):
            nm.evaluate([first, first], generators, "fid", progress=False)
    other = first.rename(columns={"c": "d"})
    nm.evaluate([first, first.to_numpy()], {"g": first, "other": other}, "fid", progress=False)


TURNED = {
    "fid": lambda a, b: nm.fid(a, b),
    "fid_infinity": lambda a, b: nm.fid_infinity(a, b),
    "kid": lambda a, b: nm.kid(a, b),
    "w1": lambda a, b: nm.w1(a, b),
    "prdc": lambda a, b: nm.prdc(a, b),
    "auth_pct": lambda a, b: nm.auth_pct(a, b),
    "c_t": lambda a, b: nm.c_t(a, b, a),
    "fld": lambda a, b: nm.fld(a, a, b),
    "fld_gap": lambda a, b: nm.fld_gap(a, a, b),
    "memorization_scores": lambda a, b: nm.memorization_scores(a, b, a),
    "quality_scores": lambda a, b: nm.quality_scores(a, a, b),
    "cfid": lambda a, b: nm.cfid(a, a, b),
    "jfid": lambda a, b: nm.jfid(a, a, b, 0.5),
    "test": lambda a, b: nm.Client(a, test=b),
    "lab": lambda a, b: nm.MemorizationLab(a, a, b),
    "function": lambda a, b: nm.evaluate([a], {"g": lambda n, rng: b}, "fid"),
    "function by client": lambda a, b: nm.evaluate([a], {"g": nm.Generator.by_client(lambda c, n, rng: b)}, "fid"),
    "answers": lambda a, b: nm.evaluate([nm.Client(a, condition=a)], {"g": lambda x, rng: b}, "fid"),
    "third": lambda a, b: nm.Federation([b.rename(columns=str.upper), a, b]),
}


@pytest.mark.parametrize("call", TURNED.values(), ids=TURNED)
def test_no_function_takes_columns_in_another_order(call):
    first = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["a", "b", "c"])
    with pytest.raises(
        nm.InvalidInput, match=r"column 2 of .* 'c', of .* 'b'\. Give the same columns in the same order"
    ):
        call(first, first[["a", "c", "b"]])


def test_labels_stay_with_their_rows():
    federation = nm.Federation([nm.Client(X, labels=range(30), name="a"), nm.Client(Y, labels=range(30, 40), name="b")])
    known = np.concatenate([X, Y])
    for other in (federation, federation.split(0.3, seed=4), federation.with_weights([1, 1])):
        for client in (*other, other.pooled()):
            if client.labels is not None:
                np.testing.assert_array_equal(known[client.labels], client.rows)
    assert len(federation.split(0.3)["a"].labels) == 21
    assert len(federation.pooled().labels) == 40


@pytest.mark.parametrize("labels", [[1, 2], 3, "ab", [np.nan] * 30, [[1]] * 30, [1, "a"] * 15, None])
def test_labels_are_one_for_each_row(labels):
    if labels is None:
        assert nm.Client(X, labels=labels).labels is None
        return
    given = np.array(labels, object) if labels == [1, "a"] * 15 else labels
    with pytest.raises(nm.InvalidInput, match=r"^labels"):
        nm.Client(X, labels=given)
    with pytest.raises(nm.InvalidInput, match=r"^labels"):
        nm.Client(DISTRIBUTION, labels=given)


def described(federation):
    return federation.describe().set_index("client")


def test_a_federation_says_what_its_clients_are_made_of():
    clients = [nm.Client(X, labels=[2, 10, 10] * 10, name="a"), nm.Client(Y, labels=[10] * 10, test=X, name="b")]
    table = described(nm.Federation(clients))
    assert table["n"].tolist() == [30, 10]
    assert table["weight"].tolist() == [0.75, 0.25]
    assert table["test"].tolist() == [0, 30]
    assert list(table)[3:] == ["share of 2", "share of 10"]
    np.testing.assert_allclose(table[["share of 2", "share of 10"]], [[1 / 3, 2 / 3], [0, 1]])


def test_what_is_not_known_of_a_client_is_missing():
    clients = {
        "a": nm.Client(X, labels=["x"] * 30, weight=1),
        "b": nm.Client(Y, weight=1),
        "c": nm.Client(DISTRIBUTION, weight=2),
    }
    table = described(nm.Federation(clients))
    assert table["n"].isna().tolist() == [False, False, True]
    assert table["share of x"].isna().tolist() == [False, True, True]
    assert list(described(nm.Federation([DISTRIBUTION]))) == ["n", "weight", "test"]


@pytest.mark.parametrize(
    ("classes", "clients"), [(2, 100), (12, 2), (13, 2), (100, 100), *slow((2, 2), (12, 100), (13, 100), (100, 2))]
)
def test_a_plot_shows_every_client_and_class(clients, classes):
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(1200, 2)), np.arange(1200) % classes
    federation = nm.Federation.iid(rows, clients, y=labels).split()
    figure = federation.plot()
    mix, sizes = figure.axes[:2]
    shares = federation.describe().filter(like="share of ").to_numpy()
    if mix.images:
        np.testing.assert_allclose(mix.images[0].get_array(), shares)
    else:
        drawn = [[bar.get_width() for bar in bars] for bars in mix.containers]
        np.testing.assert_allclose(np.transpose(drawn), shares)
        looks = {(bars[0].get_facecolor(), bars[0].get_hatch()) for bars in mix.containers}
        assert len(looks) == classes == len(figure.legends[0].texts)
    assert [bar.get_width() for bar in sizes.containers[0]] == [len(c.rows) for c in federation]
    assert mix.get_yticklabels()[0].get_text() == "Client 1"


def test_a_plot_of_clients_without_labels_or_rows_is_of_sizes_or_weights():
    assert len(nm.Federation([X, Y]).plot().axes) == 1
    axes = nm.Federation([DISTRIBUTION, DISTRIBUTION]).plot().axes
    assert [bar.get_width() for bar in axes[0].containers[0]] == [0.5, 0.5]
    assert "weight" in axes[0].get_xlabel()


def test_names_of_classes_and_clients_are_drawn_as_they_are():
    names = ["$a$", "_hidden", "b_{"]
    figure = nm.Federation.from_labels(X, names * 10).plot()
    figure.draw_without_rendering()
    assert [text.get_text().strip() for text in figure.legends[0].texts] == [r"\$a\$", "_hidden", "b_{"]
    assert [text.get_text().strip() for text in figure.axes[0].get_yticklabels()] == [r"\$a\$", "_hidden", "b_{"]


def test_a_share_of_nothing_is_refused():
    with pytest.raises(nm.InvalidInput, match=r"^test: is 0"):
        nm.Federation({"a": np.zeros((50, 2))}).split(test=0)
