"""The Dashboard in Python: its numbers are evaluate's, its verdict follows the weights, and what it refuses."""

import threading

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.dashboard import federation_comparison
from nbmetrics.labs.dashboard.scene import DashboardScene
from tests.labs.dashboard.islands import CLIENTS, GENERATORS
from tests.labs.inside import answer, scene_of, send, study_of
from tests.slow import slow

RNG = np.random.default_rng(4)


@pytest.fixture
def dashboard():
    lab = nm.Dashboard(CLIENTS, GENERATORS)
    yield lab
    lab.close()


def weigh(lab, weights):
    lab.scene = {**lab.scene, "weights": weights}


def same_table(found, wanted):
    numbers = found.select_dtypes("number").columns
    assert list(found.columns) == list(wanted.columns) and found["generator"].tolist() == wanted["generator"].tolist()
    np.testing.assert_allclose(found[numbers], wanted[numbers], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weights", [None, [1, 1, 1], [0.2, 0.8, 0]])
def test_scores_are_those_of_evaluate_under_the_weights_on_show(dashboard, weights):
    federation = nm.Federation(CLIENTS)
    if weights is not None:
        weigh(dashboard, weights)
        federation = federation.with_weights(weights)
    wanted = nm.evaluate(federation, GENERATORS, uncertainty=nm.Influence())
    same_table(dashboard.table, wanted.table)
    same_table(dashboard.scores.clients, wanted.clients)


def test_the_answer_has_all_for_the_weights_of_its_scene(dashboard):
    weigh(dashboard, [0.5, 0.25, 0.25])
    dashboard.wait()
    metrics = ["fid", nm.metrics.KID(estimator="stratified")]
    scores = nm.evaluate(nm.Federation(CLIENTS).with_weights([2, 1, 1]), GENERATORS, metrics)
    answer = study_of(dashboard).answer(scene_of(dashboard))
    for metric in ("fid", "kid"):
        assert list(answer["all"][metric].values()) == pytest.approx(scores.values(metric).all.tolist(), rel=1e-9)
    assert answer["weights"] == [0.5, 0.25, 0.25] and 0 < answer["p"] <= 1


def test_the_slopes_are_differences_of_all(dashboard):
    """Along a move that keeps Σλ = 1; a slope is of first order, so the step is small."""
    dashboard.wait()
    start, step = np.array(scene_of(dashboard).shares), np.array([1e-4, -1e-4, 0])
    slopes = study_of(dashboard).answer(scene_of(dashboard))["slope"]["fid"]
    ends = [
        nm.evaluate(nm.Federation(CLIENTS).with_weights(start + s), GENERATORS, "fid").values("fid").all
        for s in (step, -step)
    ]
    found = [2 * float(np.dot(slopes[name], step)) for name in GENERATORS]
    np.testing.assert_allclose(found, ends[0] - ends[1], rtol=1e-3)


def test_attach_and_remove_can_be_undone(dashboard):
    dashboard.attach("good", RNG.normal(0, 1.4, (300, 3)))
    assert dashboard.scores.generators == ("narrow", "wide", "off", "good")
    dashboard.remove("narrow")
    assert dashboard.scores.generators == ("wide", "off", "good")
    dashboard.undo()
    dashboard.undo()
    assert dashboard.scores.generators == ("narrow", "wide", "off")
    dashboard.redo()
    assert "good" in dashboard.scores.generators


def test_weights_are_set_by_name_and_that_can_be_undone(dashboard):
    dashboard.weights = {"south": 1, "north": 2, "isle": 1}
    assert dashboard.weights == (0.5, 0.25, 0.25) and dashboard.scores.weights == (0.5, 0.25, 0.25)
    dashboard.undo()
    assert dashboard.weights == pytest.approx((90 / 180, 60 / 180, 30 / 180))
    before = dashboard.scene
    with pytest.raises(nm.InvalidInput, match="weights"):
        dashboard.weights = [1, 1]
    assert dashboard.scene == before


def test_reset_goes_back_to_the_settings_and_keeps_what_was_attached(dashboard):
    dashboard.attach("good", RNG.normal(0, 1.4, (300, 3)))
    dashboard.weights = [1, 2, 3]
    dashboard.remove("off")
    dashboard.reset()
    assert dashboard.scene["generators"] == ["narrow", "wide", "off", "good"]
    assert dashboard.weights == pytest.approx((90 / 180, 60 / 180, 30 / 180))
    for _ in range(4):
        dashboard.undo()
    assert all(preset["generators"] == ["narrow", "wide", "off"] for preset in dashboard.presets.values())


@pytest.mark.threads
def test_a_refused_source_is_taken_back_before_anything_else_comes_or_goes(dashboard, monkeypatch):
    free = []

    def fails(seconds=None):
        if threading.current_thread() is not threading.main_thread():
            return True
        other = threading.Thread(target=lambda: free.append(dashboard._edit_lock.acquire(blocking=False)))
        other.start(), other.join()
        weigh(dashboard, [3, 2, 1])
        raise RuntimeError("no rows today")

    monkeypatch.setattr(dashboard._filler, "wait", fails)
    with pytest.raises(RuntimeError):
        dashboard.attach("broken", RNG.normal(size=(30, 3)))
    assert free == [False] and dashboard.scene["generators"] == ["narrow", "wide", "off"]
    assert dashboard.scene["weights"] == [3, 2, 1], "what was edited meanwhile stays"


def test_a_source_that_breaks_is_not_attached_and_that_stays_told_while_more_comes_in(dashboard):
    def broken(n, rng):
        raise RuntimeError("no rows today")

    before = dashboard.scene["generators"]
    with pytest.raises(RuntimeError, match="no rows today"):
        dashboard.attach("at once", broken)
    assert dashboard.scene["generators"] == before
    assert dashboard.wait(60) and dashboard.scores.generators == ("narrow", "wide", "off")
    send(dashboard, {"kind": "attach", "name": "gone"})
    answer(dashboard, scene_of(dashboard))  # as after every step of progress
    assert "name" in dashboard.result["error"]["message"] and "all" in dashboard.result
    weigh(dashboard, [1, 1, 1])
    answer(dashboard, scene_of(dashboard))
    assert "error" not in dashboard.result


def test_what_is_wrong_is_refused_and_nothing_is_lost(dashboard):
    before = dashboard.scene
    for call in (
        lambda: dashboard.attach("narrow", GENERATORS["off"]),
        lambda: dashboard.attach("bad", np.full((5, 3), np.nan)),
        lambda: dashboard.attach("flat", np.zeros((5, 2))),
        lambda: dashboard.remove("nobody"),
        lambda: weigh(dashboard, [1, 1]),
        lambda: weigh(dashboard, [0, 0, 0]),
        lambda: weigh(dashboard, [1, -1, 1]),
        lambda: dashboard.from_share("nbm1.Dashboard.x"),
        lambda: setattr(dashboard, "scene", {**before, "metric": "fld"}),
        lambda: setattr(dashboard, "scene", {**before, "generators": ["nobody"]}),
    ):
        with pytest.raises(nm.InvalidInput):
            call()
        assert dashboard.scene == before
    with pytest.raises(nm.InvalidInput, match="metric"):
        nm.Dashboard(CLIENTS, GENERATORS, "fidd")
    with pytest.raises(nm.InvalidInput, match="generators"):
        nm.Dashboard(CLIENTS, {})


def test_a_share_string_carries_the_settings_to_the_same_data(dashboard):
    weigh(dashboard, [1, 2, 3])
    other = nm.Dashboard(CLIENTS, GENERATORS)
    other.from_share(dashboard.share())
    assert other.scene["weights"] == [1, 2, 3]
    few = nm.Dashboard({"a": CLIENTS["north"], "b": CLIENTS["south"]}, GENERATORS, "kid")
    with pytest.raises(nm.InvalidInput, match="weights"):
        few.from_share(dashboard.share())
    other.close(), few.close()


def test_cancel_keeps_what_is_known_and_resume_goes_on(monkeypatch):
    """Cancelled after two steps, whatever those are."""
    steps, next_step = [], federation_comparison.FederationComparison.next_step

    def counted(self):
        step = next_step(self)
        if self is not lab[0]._comparisons.origin:  # that of another test
            return step
        if step is not None and len(steps) >= 2 and not lab[0]._filler.is_stopped:
            lab[0].cancel()
        steps.append(step)
        return step

    lab: list = []
    start = nm.Dashboard._start
    monkeypatch.setattr(nm.Dashboard, "_start", lambda self, given: (lab.append(self), start(self, given))[1])
    monkeypatch.setattr(federation_comparison.FederationComparison, "next_step", counted)
    dashboard = nm.Dashboard(CLIENTS, GENERATORS)
    dashboard._filler.wait(60)
    progress = study_of(dashboard).progress()
    assert progress["done"] < progress["total"]
    monkeypatch.setattr(federation_comparison.FederationComparison, "next_step", next_step)
    dashboard.resume()
    assert dashboard.wait(60)
    progress = study_of(dashboard).progress()
    assert progress["done"] == progress["total"] == 18
    dashboard.close()


def test_closing_ends_its_threads():
    before = set(threading.enumerate())
    lab = nm.Dashboard(CLIENTS, GENERATORS, "kid")
    lab.wait()
    lab.close()
    own = [thread for thread in set(threading.enumerate()) - before if "Dashboard" in thread.name]
    for thread in own:
        thread.join(10)
    assert not any(thread.is_alive() for thread in own)


def test_exact_distributions_have_no_chance_in_them():
    distributions = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
    generators = {"narrow": nm.Gaussian([0, 0], [1, 1]), "wide": nm.Gaussian([0, 0], [2, 1])}
    lab = nm.Dashboard(distributions, generators, "fid")
    assert "disagree: narrow wins by avg, wide by all" in lab.verdict[0]
    assert "exact" in " ".join(lab.verdict)
    lab.close()


@pytest.mark.parametrize(
    ("clients", "generators", "said"),
    [
        ({"only": CLIENTS["north"]}, GENERATORS, "narrow wins"),
        (CLIENTS, {"one": GENERATORS["off"]}, "only one generator"),
        (CLIENTS, {"a": GENERATORS["wide"], "b": GENERATORS["wide"].copy()}, "are tied"),
        ({"flat": np.zeros((30, 3)), "north": CLIENTS["north"]}, GENERATORS, "FID"),
    ],
    ids=["one client", "one generator", "the same twice", "constant rows"],
)
def test_odd_tables_have_a_verdict_too(clients, generators, said):
    lab = nm.Dashboard(clients, generators)
    assert said.lower() in lab.verdict[0].lower()
    lab.close()


def identical(seed, rows, features=64, clients=10, generated=2_000):
    """Clients of one distribution, and generators at FID .16 (shifted) and .31 (too narrow): how FID's two orders
    come out."""
    rng = np.random.default_rng(seed)
    shifted = nm.Gaussian(np.r_[0.4, np.zeros(features - 1)], 1.0)
    narrow = nm.Gaussian(np.zeros(features), (1 - (0.31 / features) ** 0.5) ** 2)
    found = federation_comparison.FederationComparison(
        {f"c{i}": rng.normal(size=(rows, features)) for i in range(clients)},
        {"near": shifted.sample(generated, rng), "narrow": narrow.sample(generated, rng)},
        "fid",
        None,
    )
    while (step := found.next_step()) is not None:
        step()
    scene = DashboardScene("fid", found.weights, found.generators)
    scores = found.scores_of(scene).values("fid")
    return found.verdict("fid", scene), np.argmin(scores.avg) != np.argmin(scores.all)


@pytest.mark.parametrize("repeats", [1, *slow(20)])
def test_sample_size_is_not_taken_for_a_disagreement(repeats):
    found = [identical(seed, 100) for seed in range(repeats)]
    assert sum(differ for _, differ in found) >= repeats / 2  # plain FID's two orders do differ
    said = [verdict for verdict, differ in found if differ]
    assert sum(v.state == "size" and "sample size" in v.sentences[0] for v in said) >= 0.95 * len(said)
    assert not any("disagree" in " ".join(verdict.sentences) for verdict, _ in found)


def test_with_many_rows_it_names_the_winner():
    verdict, _ = identical(0, 1_000, features=16, clients=4)
    assert (verdict.state, verdict.avg, verdict.all) == ("winner", ("near",), ("near",))


@pytest.mark.slow
def test_with_5000_rows_a_client_it_names_the_winner():
    verdict, _ = identical(0, 5_000)
    assert (verdict.state, verdict.avg, verdict.all) == ("winner", ("near",), ("near",))


def test_code_shows_the_state_again(dashboard):
    weigh(dashboard, [1, 2, 3])
    made = {"federation": CLIENTS, "generators": GENERATORS}
    exec(dashboard.to_code(), made)
    kept = {name: part for name, part in dashboard.scene.items() if name != "rev"}
    assert {name: part for name, part in made["lab"].scene.items() if name != "rev"} == kept
    made["lab"].close()


def test_the_snapshot_says_the_verdict(dashboard):
    snapshot = dashboard.snapshot()
    assert dashboard.verdict[0] in snapshot.alt and snapshot.png.startswith(b"\x89PNG")


@pytest.mark.threads
def test_generators_come_and_go_from_many_threads_and_none_is_lost():
    rng = np.random.default_rng(5)
    clients = {name: rng.normal(size=(30, 2)) for name in "ab"}
    lab = nm.Dashboard(clients, {f"g{j}": rng.normal(size=(30, 2)) for j in range(8)}, "kid")

    def change(k):
        for n in range(4):
            lab.attach(f"new {k} {n}", rows[k])
            lab.remove(f"g{4 * k + n}")

    rows = rng.normal(size=(2, 30, 2))
    threads = [threading.Thread(target=change, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(lab.scene["generators"]) == [f"new {k} {n}" for k in range(2) for n in range(4)]
    assert lab.wait() and len(lab.table) == 8
    assert lab.progress["done"] == lab.progress["total"] and not lab.progress["doing"]
    lab.close()


def test_wait_says_that_not_all_is_known():
    rng = np.random.default_rng(6)
    lab = nm.Dashboard({name: rng.normal(size=(30, 2)) for name in "ab"}, {"g": rng.normal(size=(30, 2))}, "kid")
    assert lab.wait()
    lab.cancel()
    lab.attach("h", rng.normal(size=(30, 2)))
    assert lab.wait()
    lab.close()
    lab.scene = {**lab.scene, "weights": [0.2, 0.8]}
    assert not lab.wait()


@pytest.mark.filterwarnings("error")
def test_a_client_of_one_row_is_left_out_by_name_and_is_part_of_the_pool():
    rng = np.random.default_rng(7)
    clients = {"a": rng.normal(size=(30, 2)), "b": rng.normal(size=(30, 2)), "one": rng.normal(size=(1, 2))}
    lab = nm.Dashboard(clients, {name: rng.normal(far, 1, size=(40, 2)) for name, far in (("g", 0), ("h", 3))})
    assert lab.verdict[0] == "On FID, g wins, by avg and by all."
    assert 0 < study_of(lab).p(scene_of(lab).shares) <= 1
    assert "Enough rows for an interval at only 2 of 3 clients: avg leaves out one." in lab.verdict
    assert lab.board["few"]["kid"][:2] == ["", ""] and "has 1 row" in lab.board["few"]["kid"][2]
    assert lab.board["values"]["fid"]["g"][2] == "nan" and lab.table["avg"].isna().all()
    lab.scene = {**lab.scene, "weights": [1, 1, 8]}
    assert lab.verdict[0].startswith("On FID all, g is first; this may be chance: client 'one', fid, rows: has 1 row")
    lab.close()


def test_each_conditional_metric_speaks_for_itself():
    rng = np.random.default_rng(0)
    clients = {name: nm.Client(rng.normal(size=(40, 1)), condition=rng.normal(size=(40, 1))) for name in "ab"}
    lab = nm.Dashboard(clients, {"same": lambda x, rng: x, "zero": lambda x, rng: 0 * x}, ("mfid", "cfid"))
    assert "CFID" in lab.verdict[-1] and "mfid" not in lab.verdict[-1].lower()
    lab.close()


def test_a_generator_fitted_to_the_clients_rows_is_suspected():
    copied = np.concatenate(list(CLIENTS.values()))
    lab = nm.Dashboard(CLIENTS, {"copied": copied, **GENERATORS}, "fid")
    hint = (
        "FID all of copied is below 0 by more than chance, perhaps because it was fitted to these same rows. "
        "AuthPct and C_T are scores that notice copies."
    )
    assert hint in lab.verdict
    lab.remove("copied")
    assert not any("below 0" in sentence for sentence in lab.verdict)
    lab.close()


def test_other_weights_bring_their_scores_and_not_all_of_the_data_again(monkeypatch):
    monkeypatch.setattr(nm.labs.dashboard.lab, "PUBLISH_INTERVAL_SECONDS", 0.0)
    clients = {name: RNG.normal(shift, 1, (50, 3)) for name, shift in (("a", 0.0), ("b", 1.0))}
    lab = nm.Dashboard(clients, {"near": RNG.normal(0.5, 1, (60, 3)), "far": RNG.normal(2, 1, (60, 3))}, "fid")
    assert lab.wait(60)
    sent = []
    lab.observe(lambda change: sent.append(change["name"]), ["board", "draws", "progress", "result"])
    lab.weights = [0.7, 0.3]
    assert lab.wait(60) and np.isfinite(lab.table["all"]).all()
    assert set(sent) == {"progress", "result"}
    lab.close()
