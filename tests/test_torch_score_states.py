"""States of Score from elsewhere: moved to their clients by name, or refused before anything is added."""

import io

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from tests.slow import by_default

torch = pytest.importorskip("torch")
from tests.test_torch_score import CLIENTS, GENERATED, REAL, Group, Score, filled, values  # noqa: E402

assert Score  # the fixture: the class on either base

METRICS = [
    "fid",
    "kid",
    nm.metrics.KID(estimator="biased"),
    nm.metrics.KID(nm.RandomFeatures(nm.RBF(2.0), 64)),
    nm.metrics.KID(nm.RandomFeatures(nm.Polynomial(3), 50), "stratified"),
]
NAMES = ["lyon", "oslo", "1", "été, ü", "a b"]
PARTS = 3


class Scene:
    """Rows of clients, made at random and dealt into parts, each of which names the clients in an order of its own."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.metric, self.is_by_client = METRICS[seed % len(METRICS)], bool(rng.integers(2))
        self.names = rng.permutation(NAMES)[: rng.integers(1, 6)].tolist()
        d, offset = int(rng.integers(1, 6)), rng.normal(0, 10.0 ** rng.integers(0, 3))
        parties = self.names, self.names if self.is_by_client else [None]
        self.sides = [
            {n: rng.normal(rng.normal(offset, 2, d), 1, (int(rng.integers(3 * d + 8, 60)), d)) for n in names}
            for names in parties
        ]
        self.owners = [{n: rng.integers(0, PARTS, len(rows)) for n, rows in side.items()} for side in self.sides]
        shares = rng.dirichlet(np.ones(len(self.names)))
        self.weights = dict(zip(self.names, shares, strict=True)) if rng.integers(2) else None
        self.orders = [rng.permutation(self.names).tolist() for _ in range(PARTS + 1)]

    def empty(self, Score, number, **settings):
        return Score(self.metric, clients=self.orders[number], weights=self.weights, **settings)

    def part(self, Score, number, **settings):
        score = self.empty(Score, number, **settings)
        for is_real, side, owners in zip((True, False), self.sides, self.owners, strict=True):
            for name, rows in side.items():
                score.update(rows[owners[name] == number], is_real, name)
        return score

    def wanted(self):
        federation = nm.Federation(self.sides[0])
        federation = federation.with_weights(self.weights) if self.weights else federation
        made = nm.Generator.by_client(self.sides[1]) if self.is_by_client else self.sides[1][None]
        row = nm.evaluate(federation, {"g": made}, self.metric, progress=False).table.iloc[0]
        parts = ("intra", "avg", "all", "gap") if self.is_by_client else ("avg", "all", "gap")
        return {part: float(row[part]) for part in parts}


def of_processes(scene, Score):
    def work(rank, gather):
        return values(scene.part(Score, rank, dist_sync_fn=gather, distributed_available_fn=lambda: True))

    outcomes = Group(PARTS).run(work)
    assert all(outcome == pytest.approx(outcomes[0], rel=1e-9, abs=1e-9) for outcome in outcomes), outcomes
    return outcomes[0]


def of_merged_scores(scene, Score):
    whole = scene.empty(Score, PARTS)
    for number in range(PARTS):
        whole.merge_state(scene.part(Score, number))
    return values(whole)


def of_merged_mappings(scene, Score):
    whole = scene.part(Score, 0)
    for number in range(1, PARTS):
        whole.merge_state(scene.part(Score, number).metric_state)
    return values(whole)


def saved(score):
    score.persistent(True)
    torch.save(torch.nn.ModuleDict({"score": score}).state_dict(), file := io.BytesIO())
    file.seek(0)
    return torch.load(file, weights_only=True)


def loaded(score, state):
    score.persistent(True)
    torch.nn.ModuleDict({"score": score}).load_state_dict(state)
    return score


def of_a_checkpoint(scene, Score):
    """A run that stops after each part, and goes on in a script that names the clients in another order."""
    score = scene.part(Score, 0)
    for number in range(1, PARTS):
        score = loaded(scene.empty(Score, number), saved(score))
        for is_real, side, owners in zip((True, False), scene.sides, scene.owners, strict=True):
            for name, rows in side.items():
                score.update(rows[owners[name] == number], is_real, name)
    return values(score)


WAYS = [of_processes, of_merged_scores, of_merged_mappings, of_a_checkpoint]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", by_default(range(60), *range(4)))
def test_sums_find_their_clients_by_name(Score, way, seed):
    wanted = (scene := Scene(seed)).wanted()
    assert way(scene, Score) == pytest.approx(wanted, abs=1e-9 * max(1.0, *map(abs, wanted.values())))


def features(**settings):
    return nm.metrics.KID(nm.RandomFeatures(nm.RBF(settings.pop("sigma", 1.0)), 64, **settings))


FID = {"metric": "fid", "clients": CLIENTS}
OTHERS = [  # (of one, of the other, what the message says of both)
    (FID, {**FID, "clients": ["lyon", "oslo", "rome"]}, ("clients", "'turin'", "'rome'")),
    (FID, {**FID, "clients": [*CLIENTS, "rome"]}, ("clients", "'lyon'", "'rome'")),
    (FID, {**FID, "metric": "kid"}, ("metric", "'fid' (FID: ", "'kid' (KID: ")),
    (FID, {**FID, "weights": [1, 2, 1]}, ("weights", "None for 'lyon'", "0.25 for 'lyon'")),
    ({**FID, "weights": [1, 1, 2]}, {**FID, "weights": [1, 2, 1]}, ("weights", "0.25 for 'oslo'", "0.5 for 'oslo'")),
    *(
        ({**FID, "metric": one}, {**FID, "metric": other}, ("metric", *said))
        for one, other, said in (
            (features(), features(sigma=5.0), ("σ = 1", "σ = 5")),
            (features(), features(seed=1), ("seed 0", "seed 1")),
            (nm.metrics.KID(nm.Polynomial(3, 1.0)), nm.metrics.KID(), ("γ = 1", "γ = 1/d")),
            ("kid", nm.metrics.KID(estimator="stratified"), ("unbiased", "as strata")),
        )
    ),
]


def by_settings(Score, settings):
    score = Score(**settings)
    for name in settings["clients"]:
        score.update(REAL.get(name, REAL["lyon"]), True, name)
    score.update(GENERATED["oslo"], False)
    return score


def merge_score(one, other):
    one.merge_state(other)


def merge_mapping(one, other):
    one.merge_state(other.metric_state)


def load(one, other):
    loaded(one, saved(other))


@pytest.mark.parametrize("way", [merge_score, merge_mapping, load])
@pytest.mark.parametrize(("mine", "yours", "said"), OTHERS)
def test_sums_of_others_are_refused_and_both_sides_named(Score, way, mine, yours, said):
    score = by_settings(Score, mine)
    before = {name: state.clone() for name, state in score.metric_state.items()}
    with pytest.raises(nm.InvalidInput) as refusal:
        way(score, by_settings(Score, yours))
    assert all(text in str(refusal.value) for text in said), refusal.value
    assert all(torch.equal(state, before[name]) for name, state in score.metric_state.items())


@pytest.mark.parametrize(("mine", "yours", "said"), OTHERS)
def test_processes_that_are_not_alike_all_refuse(Score, mine, yours, said):
    def work(rank, gather):
        score = by_settings(Score, {**(mine, yours)[rank], "dist_sync_fn": gather})
        score.distributed_available_fn = lambda: True
        return values(score)

    for outcome in Group(2).run(work):
        assert outcome.argument == said[0] and all(text in str(outcome) for text in said[1:]), outcome


def test_rows_of_another_network_are_refused(Score):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (60, 6, 6), dtype=np.uint8)
    torch.manual_seed(0)
    networks = [torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(36, 4)) for _ in range(2)]

    def score_of(network, **settings):
        score = Score("fid", extractor=network, **settings)
        score.update(images[:30], True)
        score.update(images[30:], False)
        return score

    with pytest.raises(nm.InvalidInput, match=r"incoming_state: differs in extractor: the state has 'Sequential"):
        score_of(networks[0]).merge_state(score_of(networks[1]))
    group = {"distributed_available_fn": lambda: True}
    refusals = Group(2).run(lambda rank, gather: values(score_of(networks[rank], dist_sync_fn=gather, **group)))
    assert all(isinstance(one, nm.InvalidInput) and one.argument == "extractor" for one in refusals), refusals

    def work(rank, gather):  # the first process has no images, and is not left waiting
        score = (
            score_of(networks[rank - 1], dist_sync_fn=gather, **group) if rank else Score(dist_sync_fn=gather, **group)
        )
        return values(score)

    refusals = Group(3).run(work)
    assert all(isinstance(one, nm.InvalidInput) and one.argument == "extractor" for one in refusals), refusals
    score = loaded(Score("fid", extractor=networks[1]), saved(score_of(networks[0])))
    assert values(score) == values(score_of(networks[0])) and score.convention == score_of(networks[0]).convention
    score.update(images, False)
    with pytest.raises(nm.InvalidInput, match="extractor: made rows as"):
        score.compute()
    assert values(loaded(Score("fid"), saved(score_of(networks[0])))) == values(score_of(networks[0]))


def of_tables(Score, orders, **settings):
    """A Score of tables with these names of columns; of rows without names for None."""
    score = Score("fid", **settings)
    for is_real, rows in ((True, REAL["lyon"]), (False, GENERATED["lyon"])):
        for names in orders:
            score.update(rows if names is None else pd.DataFrame(rows, columns=list(names)), is_real)
    return score


@pytest.mark.parametrize("way", [merge_score, merge_mapping, load])
def test_states_of_tables_with_columns_in_another_order_are_refused(Score, way):
    turned = of_tables(Score, ["acbd"])
    score = of_tables(Score, ["abcd", None])
    if way is not load:  # a checkpoint takes the place of the rows so far
        with pytest.raises(
            nm.InvalidInput, match=r"incoming_state: column 2 of 'the state' is 'c', of 'this Score' 'b'"
        ):
            way(score, turned)
        assert values(score) == values(of_tables(Score, ["abcd", None]))
    for own in ([], [None]):  # whose own rows have no names
        fresh = of_tables(Score, own)
        way(fresh, turned)
        with pytest.raises(nm.InvalidInput, match="batch: column 2 of 'batch' is 'b', of 'the first batch' 'c'"):
            fresh.update(pd.DataFrame(REAL["lyon"], columns=list("abcd")), True)
        way(fresh, of_tables(Score, ["acbd", None]))
        fresh.reset()
        way(fresh, of_tables(Score, ["abcd"]))


def test_a_batch_that_is_refused_leaves_no_names(Score):
    score = Score(**FID)
    with pytest.raises(nm.InvalidInput, match="client"):
        score.update(pd.DataFrame(REAL["lyon"], columns=list("acbd")), True, "rome")
    score.update(pd.DataFrame(REAL["lyon"], columns=list("abcd")), True, "lyon")


@pytest.mark.parametrize("first", ["abcd", None, ""])
def test_processes_with_columns_in_another_order_all_refuse(Score, first):
    orders = [[] if first == "" else [first], ["abcd"], ["acbd"]]
    group = {"distributed_available_fn": lambda: True}
    for outcome in Group(3).run(
        lambda rank, gather: values(of_tables(Score, orders[rank], dist_sync_fn=gather, **group))
    ):
        assert isinstance(outcome, nm.InvalidInput) and outcome.argument == "columns", outcome
        assert "column 2 of 'process 2' is 'c', of 'process" in str(outcome)


def test_an_extractor_that_settles_on_the_first_images_size(Score):
    images = np.random.default_rng(0).integers(0, 256, (160, 8, 8), dtype=np.uint8)
    score = Score("kid", extractor="digits-cnn")
    for start in (0, 40):
        score.update(images[start : start + 40], True)
    score.update(images[80:], False)
    rows = nm.extract(images, "digits-cnn", cache=False, progress=False)
    assert values(score)["all"] == pytest.approx(nm.kid(rows[:80], rows[80:]), rel=1e-6)
    assert "8 × 8" in score.convention
    assert values(loaded(Score("kid", extractor="digits-cnn"), saved(score))) == values(score)


# ---- states of an older version, and empty ones


def without_identity(state):
    return {name: value for name, value in state.items() if not name.endswith("identity")}


def test_a_state_without_names_is_taken_only_where_it_cannot_be_mistaken(Score):
    for settings in (FID, {"metric": "kid"}, {**FID, "clients": ["lyon"]}):
        score = Score(**settings)
        for name in CLIENTS if settings is FID else ["lyon"]:
            score.update(REAL[name], True, name if "clients" in settings else None)
        with pytest.raises(nm.InvalidInput, match="state_dict: has no client names: an older nbmetrics saved it"):
            loaded(Score(**settings), without_identity(saved(score)))
        with pytest.raises(nm.InvalidInput, match="incoming_state: has no client names"):
            Score(**settings).merge_state(without_identity(score.metric_state))
        assert not loaded(Score(**settings), without_identity(saved(Score(**settings)))).update_called
    score = Score("fid")
    score.update(REAL["lyon"], True)
    score.update(GENERATED["lyon"], False)
    assert values(loaded(Score("fid"), without_identity(saved(score)))) == values(score)


def test_an_empty_state_has_nothing_to_mistake(Score):
    score = loaded(filled(Score(**FID)), saved(Score("kid", clients=["rome", "bonn"])))
    assert not score.update_called
    assert values(filled(score)) == values(filled(Score(**FID)))


@pytest.mark.parametrize(
    "identity",
    [
        b"",
        b"{}",
        b"[" * 10**5,
        b"[" + b"[]," * 10**7 + b"[]]",
        b"\xff\xfe",
        b'{"metric": "fid", "weights": null, "extractor": null}',
        b'{"metric": "fid", "weights": {"a": null}, "extractor": null, "x": 1}',
        b'{"metric": "fid", "weights": ["a"], "extractor": null}',
        b'{"metric": "fid", "weights": {"a": NaN}, "extractor": null}',
        b'{"metric": "fid", "weights": {"a": 1}, "extractor": null}',
        b'{"metric": 3, "weights": {"a": 1.0}, "extractor": null}',
        b'{"metric": "fid", "weights": {"a": 1.0}, "extractor": []}',
        b'{"metric": "fid", "weights": {"a": 1.0}, "extractor": null, "columns": "ab"}',
        b'{"metric": "fid", "weights": {"a": 1.0}, "extractor": null, "columns": [1, 2]}',
    ],
)
def test_a_damaged_identity_is_refused(Score, identity):
    state = filled(Score(**FID)).metric_state
    broken = torch.tensor(np.frombuffer(identity, np.uint8))
    for damaged in (broken, broken.float(), broken.to("meta"), broken[None], "fid"):
        with pytest.raises(nm.InvalidInput, match="incoming_state: has a damaged identity"):
            Score(**FID).merge_state({**state, "identity": damaged})


# ---- sums that no rows have


def altered(name, change):
    def change_state(state):
        numbers = state[name].clone()
        return {**state, name: change(numbers)}

    return change_state


def times(columns, factor):
    def change(numbers):
        numbers[:, columns] *= factor
        return numbers

    return change


D = REAL["lyon"].shape[1]
IMPOSSIBLE = [
    ("fid", altered("real_sums", times(slice(1 + D, None), -1)), "'lyon' that no rows have: second moments"),
    ("fid", altered("generated_sums", times(slice(1 + D, None), -1)), "generated sums of 'all clients' that no rows"),
    ("fid", altered("real_sums", times(slice(1, 1 + D), 30)), "second moments that are not symmetric, or have a neg"),
    ("fid", altered("real_sums", times(1 + D + 1, 5)), "second moments that are not symmetric"),
    ("fid", altered("real_sums", times(0, -1)), "no rows have: -90 rows"),
    ("fid", altered("real_sums", times(0, 0.37)), "no rows have: 33.3 rows"),
    ("fid", altered("real_sums", times(0, 0)), "sums of 0 rows that are not 0"),
    ("fid", altered("real_sums", lambda sums: sums[:, :, None]), "real_sums of shape (3, 21, 1), and (3, 21) is"),
    ("fid", altered("real_sums", lambda sums: sums[:2]), "real_sums of shape (2, 21), and (3, 21) is needed"),
    ("fid", altered("generated_sums", lambda sums: sums[:, 1:]), "generated_sums of shape (1, 20)"),
    ("fid", altered("centre", lambda centre: centre[:3]), "real_sums of shape (3, 21), and (3, 13) is needed"),
    ("fid", altered("real_sums", lambda sums: sums.float()), "has numbers that are not float64"),
    ("fid", altered("generated_kind", lambda kind: kind / 2), "generated_kind is [0.5]"),
    ("kid", altered("real_sums", times(slice(1 + D, -1), -1)), "second moments that are not symmetric, or have a neg"),
    ("kid", altered("real_sums", times(-1, 0.001)), "a mean k(x, x) of"),
    ("kid", altered("real_sums", times(-1, -1)), "a mean k(x, x) of -"),
    (features(), altered("real_sums", times(-1, 1.5)), "a mean k(x, x) of 1.5, and it is 1 at every x"),
    (features(), altered("real_sums", times(slice(1, -1), 30)), "below ‖mean φ(x)‖²"),
]


@pytest.mark.parametrize(("metric", "change", "said"), IMPOSSIBLE)
def test_sums_that_no_rows_have_are_refused_before_they_are_added(Score, metric, change, said):
    score = filled(Score(metric, clients=CLIENTS))
    before, state = values(score), change(filled(Score(metric, clients=CLIENTS)).metric_state)
    for take in (score.merge_state, lambda state: score.load_state_dict(state, strict=False)):
        with pytest.raises(nm.InvalidInput) as refusal:
            take(dict(state))
        assert said in str(refusal.value)
    assert values(score) == before


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("apart", [1.0, 1e3, 1e4])
def test_sums_that_rounding_moved_are_still_taken(Score, metric, apart):
    """Clients far from one another, constant and repeated features, single rows, states moved there and back."""
    rng = np.random.default_rng(0)
    rows = {n: rng.normal(k * apart, 1, (size, 3)) for k, (n, size) in enumerate((("a", 40), ("b", 7), ("c", 1)))}
    rows = {n: np.column_stack([own, own[:, :1], np.ones(len(own)), np.zeros(len(own))]) for n, own in rows.items()}
    scores = [Score(metric, clients=["a", "b", "c"]) for _ in range(3)]
    for score, (name, own) in zip(scores, rows.items(), strict=True):
        score.update(own, True, name)
    for k in (1, 2, 0, 1):
        scores[k].merge_state(scores[(k + 1) % 3])
    count = scores[1].real_sums[:, 0].tolist()
    assert loaded(Score(metric, clients=["c", "b", "a"]), saved(scores[1])).real_sums[:, 0].tolist() == count[::-1]


# ---- what has no order


@pytest.mark.parametrize(
    ("clients", "kind"),
    [
        ({"lyon", "oslo"}, "set"),
        (frozenset(["lyon", "oslo"]), "frozenset"),
        ({"lyon": 1, "oslo": 2}, "dict"),
        ((name for name in ("lyon", "oslo")), "generator"),
        (torch.arange(3), "Tensor"),
    ],
)
def test_names_that_may_have_another_order_elsewhere(Score, clients, kind):
    with pytest.raises(nm.InvalidInput, match=f"clients: is a {kind}. Give a list"):
        Score("fid", clients=clients)


def test_names_in_an_order(Score):
    weights = {"lyon": 1.0, "oslo": 2.0}
    for clients in (weights.keys(), ("lyon", "oslo"), np.array(["lyon", "oslo"])):
        assert Score("fid", clients=clients, weights=weights).clients == ("lyon", "oslo")


def test_a_picture_is_elsewhere(Score):
    with pytest.raises(nm.InvalidInput, match=r"plot: .* use nm.Monitor"):
        filled(Score(**FID)).plot()
