"""Generators with an ellipse for each client: their scores, swaps, code, refusals, and what is said."""

import json

import numpy as np
import pytest
from scipy.linalg import sqrtm

import nbmetrics as nm
from nbmetrics.labs.playground.headline import headline
from nbmetrics.labs.playground.numbers import compute
from tests import ROOT, TESTS
from tests.node import needs_node, node, ran

LABS = ROOT / "nbmetrics/labs"
NAME = "Right outputs, wrong owners"


def ellipse(name, x, y, width=1.0, height=0.7, angle=0.0, **more):
    return {"name": name, "x": x, "y": y, "width": width, "height": height, "angle": angle, **more}


def owned_by(name, *parts):
    return {"name": name, "kind": "by_client", "parts": list(parts)}


def random_scene(rng, count=3, **more):
    """Clients of unequal weights, a generator with an ellipse for each, and one with a single ellipse."""

    def item(name, **own):
        return ellipse(name, *rng.uniform(-3, 3, 2), *rng.uniform(0.3, 2, 2), float(rng.uniform(-90, 90)), **own)

    clients = [item(f"C{i}", weight=float(rng.uniform(0.2, 2))) for i in range(count)]
    parts = [item(client["name"]) for client in clients]
    return nm.Scene.parse({"clients": clients, "generators": [owned_by("G", *parts), item("One")], **more})


def moments(item):
    turn = np.radians(item.angle)
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) * [[item.width], [item.height]]
    return np.array([item.x, item.y]), axes.T @ axes


def frechet(first, second):
    (m, c), (n, d) = first, second
    return float(np.sum((m - n) ** 2) + np.trace(c + d - 2 * np.real(sqrtm(c @ d))))


def kernel_mean(first, second):
    """E (x·y/2 + 1)³ of two Gaussians, by Gauss–Hermite quadrature, which is exact for a polynomial."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    grid = np.stack(np.meshgrid(nodes, nodes), -1).reshape(-1, 2)
    shares = np.outer(weights, weights).ravel() / (2 * np.pi)
    x, y = (m + grid @ np.linalg.cholesky(c + 1e-300 * np.eye(2)).T for m, c in (first, second))
    return float(shares @ (x @ y.T / 2 + 1) ** 3 @ shares)


def squared_mmd(first, second):
    return kernel_mean(first, first) + kernel_mean(second, second) - 2 * kernel_mean(first, second)


def pooled(parts, weights):
    mean = sum(w * m for w, (m, _) in zip(weights, parts, strict=True))
    return mean, sum(w * (c + np.outer(m - mean, m - mean)) for w, (m, c) in zip(weights, parts, strict=True))


def test_intra_avg_and_all_by_code_of_their_own():
    for seed in range(5):
        scene = random_scene(np.random.default_rng(seed))
        clients = [moments(client) for client in scene.clients]
        weights = np.array([client.weight for client in scene.clients])
        weights /= weights.sum()
        own = {part.name: moments(part) for part in scene.generators[0].parts}
        made = [own[client.name] for client in scene.clients]
        scores = nm.evaluate(scene.federation, scene.sources, progress=False).table.set_index(["generator", "metric"])
        fid, kid = scores.loc["G", "fid"], scores.loc["G", "kid"]
        assert fid["intra"] == pytest.approx(weights @ [frechet(*pair) for pair in zip(clients, made, strict=True)])
        assert fid["avg"] == pytest.approx(weights @ [frechet(c, pooled(made, weights)) for c in clients])
        assert fid["all"] == pytest.approx(frechet(pooled(clients, weights), pooled(made, weights)))
        intra = weights @ [squared_mmd(*pair) for pair in zip(clients, made, strict=True)]
        assert kid["intra"] == pytest.approx(intra, rel=1e-9)
        inner = [[sum(s * t * kernel_mean(p, q) for s, p in [(1, a), (-1, b)] for t, q in [(1, c), (-1, d)])
                  for c, d in zip(clients, made, strict=True)] for a, b in zip(clients, made, strict=True)]  # fmt: skip
        together = weights @ np.array(inner) @ weights  # ‖Σ λᵢ δᵢ‖²
        assert kid["all"] == pytest.approx(together, rel=1e-8, abs=1e-9)
        assert kid["intra"] - kid["all"] == pytest.approx(intra - together, rel=1e-8) and intra >= together
        assert scores.loc["One", "fid"]["intra"] == pytest.approx(scores.loc["One", "fid"]["avg"], rel=1e-12)


def swapped(scene):
    """The same ellipses, the first two for each other's client."""
    value = scene.to_json()
    parts = value["generators"][0]["parts"]
    parts[0]["name"], parts[1]["name"] = parts[1]["name"], parts[0]["name"]
    return nm.Scene.parse(value)


@pytest.mark.parametrize("samples", [0, 40])
def test_a_swap_moves_neither_avg_nor_all_of_clients_of_one_weight_and_intra_jumps(samples):
    scene = nm.scene.presets()[NAME].drawn(samples)
    before, after = (nm.evaluate(s.federation, s.sources, progress=False).table for s in (scene, swapped(scene)))
    np.testing.assert_allclose(after[["avg", "all"]], before[["avg", "all"]], rtol=1e-12, atol=1e-12)
    honest = before["generator"] == "Honest"
    assert (after["intra"][honest] > 8 * before["intra"][honest]).all()
    np.testing.assert_allclose(after["intra"][~honest], before["intra"][~honest], rtol=1e-12)
    heavy = nm.Scene.parse(
        {**scene.to_json(), "clients": [{**scene.clients[0].to_json(), "weight": 3}, scene.clients[1].to_json()]}
    )
    one, other = (nm.evaluate(s.federation, s.sources, "fid", progress=False).table for s in (heavy, swapped(heavy)))
    assert abs(one["all"][0] - other["all"][0]) > 0.1, (
        "of clients that weigh otherwise, a swap weighs ellipses otherwise"
    )


def test_each_ellipse_draws_points_of_its_own_and_keeps_them_whoever_it_is_for():
    scene = random_scene(np.random.default_rng(1), samples=30)
    before, after = scene.sources["G"], swapped(scene).sources["G"]
    np.testing.assert_array_equal(before["C0"], after["C1"])
    np.testing.assert_array_equal(before["C2"], after["C2"])
    clouds = [*before.values(), scene.sources["One"], *(client.rows for client in scene.federation)]
    centred = [(rows - rows.mean(axis=0)).ravel() for rows in clouds]
    assert np.abs(np.corrcoef(centred) - np.eye(len(centred))).max() < 0.5


def test_code_share_and_undo_keep_whom_each_ellipse_is_for(tmp_path):
    lab = nm.Playground(NAME)
    lab.scene = {**swapped(lab._scene).to_json(), "rev": lab.scene["rev"] + 1, "samples": 25}
    code = lab.to_code()
    assert 'nm.Generator.by_client({\n        "Dogs": nm.Gaussian.ellipse([-2.0, 0.5]' in code
    names = {}
    exec(code, names)
    kept = ("clients", "generators", "samples", "seed", "half")
    assert {k: names["lab"].scene[k] for k in kept} == {k: lab.scene[k] for k in kept}
    table = names["scores"].table
    np.testing.assert_allclose(table["intra"], lab.scores().table["intra"], rtol=1e-12)
    assert nm.Playground.from_share(lab.share()).scene["generators"] == lab.scene["generators"]
    assert '"by_client"' in lab.export_html(tmp_path / "page.html").read_text("utf-8")


def test_a_dict_of_gaussians_opens_and_what_is_no_gaussian_of_the_plane_is_refused_by_name():
    clients = {"a": nm.Gaussian([0, 0]), "b": nm.Gaussian([2, 0])}
    lab = nm.Playground(clients, {"g": {"b": nm.Gaussian([2, 1]), "a": nm.Gaussian([0, 1])}})
    assert [part["name"] for part in lab.scene["generators"][0]["parts"]] == ["b", "a"]
    assert lab.result["scores"]["fid"]["intra"] == pytest.approx([1.0])
    flat, each = nm.Gaussian([0, 0]), "'g' has one distribution for each client, and that for 'a'"
    for source, words in [
        ({"a": np.zeros((5, 2)), "b": flat}, each),
        ({"a": nm.Gaussian([0, 0, 0]), "b": nm.Gaussian([0, 0, 0])}, each),
        (nm.Generator.by_client(lambda client, n, rng: rng.normal(size=(n, 2))), each),
        ({"a": flat}, "has no source for client 'b'"),
        ({"a": flat, "b": flat, "c": flat}, "unknown client 'c'"),
    ]:
        with pytest.raises(nm.InvalidInput, match=words):
            nm.Playground(clients, {"g": source})
        with pytest.raises(nm.InvalidInput, match=words):
            lab.attach("g", source)
    rows = {name: np.random.default_rng(0).normal(size=(30, 3)) for name in "ab"}
    with pytest.raises(nm.InvalidInput, match="has one distribution for each client, which is not compared here"):
        nm.Playground(rows, {"g": rows})


def test_clients_come_with_an_ellipse_and_a_metric_without_mixtures_is_refused():
    lab = nm.Playground(NAME)
    lab.attach_client("Birds", nm.Gaussian([0, 2], [0.25, 1.0]))
    for generator in lab.scene["generators"]:
        assert generator["parts"][-1] == ellipse("Birds", 0.0, 2.0, 0.5, 1.0)
    own = lab.scores().clients.set_index(["metric", "client"])["own"].loc["fid", "Birds"]
    assert own.to_numpy() == pytest.approx([0.0, 0.0], abs=1e-12)
    for metric in ("cfid", "fld", "precision"):
        with pytest.raises(nm.InvalidInput, match=f"metric: is '{metric}'.*Give one of fid, kid, kid_rbf"):
            nm.Playground(NAME, metric=metric)
    scene = lab.presets[NAME]
    part = scene["generators"][0]["parts"][0]
    for parts in ([part], [part, part], [part, {**part, "name": "Cows"}]):
        with pytest.raises(nm.InvalidInput, match=r"Honest\.parts: has ellipses for"):
            nm.Scene.parse({**scene, "generators": [owned_by("Honest", *parts)]})


@needs_node
def test_page_and_python_say_the_same_of_intra():
    scenes = [nm.scene.presets()[NAME], *(random_scene(np.random.default_rng(k)) for k in range(12))]
    script = (
        f'import {{ numbersOf }} from "{(LABS / "plane/view/scores.js").as_uri()}";'
        f'import {{ headlineOf }} from "{(LABS / "playground/view/headline.js").as_uri()}";'
        f'import {{ sentences }} from "{(LABS / "playground/view/score_table.js").as_uri()}";'
        "const said = JSON.parse(process.argv[1]).map((scene) => {"
        " const { fid } = numbersOf(scene); const names = scene.generators.map((g) => g.name);"
        ' const pieces = headlineOf("FID", fid, { higher: false, isKernel: false });'
        ' const head = pieces.map((piece) => (typeof piece === "number" ? names[piece] : piece)).join("");'
        ' return [head, sentences("FID", fid, names)[0].text]; });'
        "console.log(JSON.stringify(said));"
    )
    page = json.loads(ran(script, json.dumps([scene.to_json() for scene in scenes])))
    for scene, (head, sentence) in zip(scenes, page, strict=True):
        scores = nm.evaluate(scene.federation, scene.sources, "fid", progress=False)
        assert head == headline(scores, "fid")
        assert sentence == scores.summary()[0].replace("FID-intra", "FID intra")
    assert page[0] == [
        "Best on average and pooled: Honest and Swapped (tied). Best by intra: Honest.",
        "FID intra prefers Honest.",
    ]
    assert len({head.count("intra") for head, _ in page}) == 2, "in some scenes all prefers the same"


@needs_node
def test_the_page_weighs_the_ellipses_in_a_sweep_over_a_weight(tmp_path):
    cases = []
    for metric in ("fid", "kid", "kid_rbf"):
        scene = random_scene(np.random.default_rng(3), view={"metric": metric, "panel": "sweep", "sweep": "weight"})
        low, high = 0.0, 2.0 * (scene.clients[1].weight + scene.clients[2].weight)
        value = low + (high - low) * 24 / 60
        clients = [{**scene.clients[0].to_json(), "weight": value}, *(c.to_json() for c in scene.clients[1:])]
        moved = nm.Scene.parse({**scene.to_json(), "clients": clients})
        scores = compute(moved)["scores"][metric]
        expected = {part: scores[part][0] for part in ("avg", "all")}
        cases.append({"scene": scene.to_json(), "metric": metric, "at": [24, value], "expected": expected})
    path = tmp_path / "sweeps.json"
    path.write_text(json.dumps({"cases": cases}))
    assert node("--test", TESTS / "js" / "owners.test.js", NBMETRICS_SWEEPS=path)


def test_the_lesson_answers_as_python_does_and_its_claims_hold():
    lesson = nm.Playground(lesson=NAME).lessons[NAME]
    before, after = (nm.Scene.parse(lesson[key]) for key in ("scene", "after"))
    one, other = (nm.evaluate(s.federation, s.sources, progress=False).table for s in (before, after))
    np.testing.assert_allclose(other[["avg", "all"]], one[["avg", "all"]], rtol=1e-12)
    assert one["intra"][0] == pytest.approx(0.25) and other["intra"][0] == pytest.approx(16.25)
    assert (other["intra"] >= other["all"]).all()
    sides = nm.theory.kid_intra_identity(after.federation, after.sources["Model"])
    assert sides.difference == pytest.approx(0, abs=1e-9) and sides.left == pytest.approx(
        other["intra"][1] - other["all"][1]
    )
    solved = nm.Scene.parse(lesson["solution"])
    assert nm.evaluate(solved.federation, solved.sources, "fid", progress=False).table["intra"][0] < 0.1
    low, high = lesson["predict"]["axis"]
    assert low < 16.25 < high


def test_a_teacher_asks_about_intra_and_not_for_a_shape_that_such_a_generator_lacks():
    lab = nm.Playground(NAME)
    after = swapped(lab._scene).to_json()
    mine = lab.make_lesson(question="How large?", flag=(0, 20), aggregate="intra", then=after, answer="So large.")
    assert nm.Playground(lesson=mine).lesson == "My lesson"
    with pytest.raises(nm.InvalidInput, match="'Honest' has an ellipse for each client"):
        lab.make_lesson(question="Where?", flag="x", generator="Honest")
