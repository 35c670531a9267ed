"""What the page says and draws of who is best: beside Python's headline, barycenter, marks; and the goals' checks."""

import json
import re

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.playground.figure import look_of
from nbmetrics.labs.playground.headline import headline, with_cautions
from nbmetrics.labs.playground.scene import METRICS
from tests import ROOT
from tests.evaluation.test_scores import given_scores
from tests.node import needs_node, node
from tests.slow import by_default

VIEW = ROOT / "nbmetrics/labs/playground/view"


def ran(lines, *values):
    """What a script of modules prints as JSON; `given` are the values."""
    script = "const given = process.argv.slice(1).map((text) => JSON.parse(text));" + lines
    return json.loads(node("--input-type=module", "-e", script, *map(json.dumps, values)))


def said_of(avg, pooled, margins=None):
    """Python's headline of two lists of scores, by generator."""
    scores, metric = given_scores([[value] for value in avg], pooled)
    return headline(scores, metric.name, margins)


def page_said(cases):
    """The page's headlines of (avg, all, margins) each."""
    module = (VIEW / "headline.js").as_uri()
    return ran(
        f'import {{ headlineOf }} from "{module}";'
        "console.log(JSON.stringify(given[0].map(([avg, all, margins]) =>"
        ' headlineOf("Given", { avg, all }, { higher: false, isKernel: false }, margins ?? undefined)'
        '.map((piece) => (typeof piece === "number" ? `g${piece}` : piece)).join(""))))',
        cases,
    )


def cases(rng, count=80):
    """Scores of one to four generators, many of them tied, and margins of half of the cases."""
    for k in range(count):
        size = int(rng.integers(1, 5))
        avg, pooled = rng.integers(1, 4, (2, size)).astype(float)
        margins = {part: rng.uniform(0, 2, (size, size)).tolist() for part in ("avg", "all")}
        yield avg.tolist(), pooled.tolist(), margins if k % 2 else None


@needs_node
def test_page_and_python_say_the_same_headline():
    given = list(cases(np.random.default_rng(1)))
    said = page_said(given)
    for case, text in zip(given, said, strict=True):
        assert text == said_of(*case)
    assert len({re.sub(r"g\d", "g", text) for text in said}) > 5


@pytest.mark.parametrize(
    ("avg", "pooled", "text"),
    [
        ([1, 2], [2, 1], "Best on average: g0. Best pooled: g1."),
        ([1, 2], [1, 2], "Best on average and pooled: g0."),
        ([1, 1], [1, 1], "Best on average and pooled: g0 and g1 (tied)."),
        ([1, 1], [2, 1], "Best on average: g0 and g1 (tied). Best pooled: g1."),
        ([1, 2, 3], [1, 3, 2], "Best on average and pooled: g0. The others change places."),
        ([1, 1, 1], [3, 2, 1], "Best on average: 3 tied. Best pooled: g2."),
    ],
)
def test_headline_by_hand(avg, pooled, text):
    assert said_of(avg, pooled) == text


FAR, NEAR = [[0, 3], [3, 0]], [[0, 0.5], [0.5, 0]]


@needs_node
@pytest.mark.parametrize(
    ("avg", "pooled", "margins", "text"),
    [
        ([1, 2], [1, 2], {"avg": FAR, "all": FAR}, "Best on average and pooled: g0 and g1 (tied)."),
        ([1, 2], [2, 1], {"avg": NEAR, "all": FAR}, "Best on average: g0. Best pooled: g0 and g1 (tied)."),
        ([1, 2], [2, 1], {"avg": NEAR, "all": NEAR}, "Best on average: g0. Best pooled: g1."),
        ([1, 1], [1, 2], {"avg": [[0, 0], [0, 0]], "all": NEAR}, "Best on average: g0 and g1 (tied). Best pooled: g0."),
    ],
)
def test_scores_within_the_noise_of_their_draw_are_tied(avg, pooled, margins, text):
    assert said_of(avg, pooled, margins) == text
    assert page_said([[avg, pooled, margins]]) == [text]


DRAWN = [("fld", 0), ("precision", 0), ("recall", 0), ("density", 0), ("coverage", 0), ("fid", 60), ("kid", 60)]


@pytest.mark.parametrize(("metric", "samples"), by_default(DRAWN, ("precision", 0), ("fid", 60)))
def test_no_winner_is_told_of_generators_that_are_alike_and_one_that_is_not_is_found(metric, samples):
    """Two that are alike tie, and both beat one that is far away: in the numbers of an open lab."""
    clients = {name: nm.Gaussian([x, 0], np.eye(2)) for name, x in (("a", 0), ("b", 1))}
    near, far = (nm.Gaussian([x, 0], np.eye(2)) for x in (0.5, 6))
    for generators, text in (
        ({"one": near, "other": near}, "Best on average and pooled: g0 and g1 (tied)."),
        ({"one": near, "other": far}, "Best on average and pooled: g0."),
    ):
        lab = nm.Playground(clients, generators, metric=metric, samples=samples)
        scores, margins = lab.result["scores"][metric], lab.result["margins"]
        lab.close()
        sign = -1 if METRICS[metric]["higher"] else 1
        avg, pooled = ([sign * value for value in scores[part]] for part in ("avg", "all"))
        assert margins["samples"] == samples
        assert avg[0] != avg[1], "each has points of its own"
        assert said_of(avg, pooled, margins[metric]) == text


CAUTIONED = (
    ["FID: few rows"],
    ["FID gap of g0: 17; about 16.9 would remain even if all clients were alike"],
    ["KID: few rows"],
    ["FIDO: another"],
    [],
)


@needs_node
def test_page_and_python_hedge_the_same_headline():
    module = (VIEW / "headline.js").as_uri()
    given = [[samples, cautions] for samples in (0, 20, 2000) for cautions in CAUTIONED]
    said = ran(
        f'import {{ withCautions }} from "{module}";'
        'const said = given[0].map(([n, cautions]) => withCautions(["Best: g0."], "FID", n, cautions));'
        'console.log(JSON.stringify(said.map((pieces) => pieces.join(""))));',
        given,
    )
    assert said == [with_cautions("Best: g0.", "FID", samples, cautions) for samples, cautions in given]
    assert said[0] == said[1] == "Best: g0. See the cautions." and said[2:5] == ["Best: g0."] * 3
    assert said[-1] == "From 2,000 points each: Best: g0."


def test_a_winner_by_number_of_rows_alone_is_not_told_without_its_cautions():
    """The first generator is perfect and has few rows; the second is too narrow, by FID 2.6, and has many."""
    rng = np.random.default_rng(0)
    clients = [rng.normal(size=(60, 64)) for _ in range(10)]
    generators = {"perfect": rng.normal(size=(200, 64)), "narrow": 0.8 * rng.normal(size=(2000, 64))}
    lab = nm.Playground(nm.Federation(clients), generators)
    scores = lab.scores()
    assert headline(scores, "fid") == "Best on average and pooled: narrow."
    assert with_cautions(headline(scores, "fid"), "FID", 0, scores.cautions).endswith("See the cautions.")
    assert lab.result["cautions"] == scores.cautions
    lab.close()


def test_opening_scene_disagrees_and_goes_on_to_in_every_first_drag():
    lab = nm.Playground()
    assert headline(lab.scores(), "fid") == "Best on average: Narrow. Best pooled: Wide."
    assert headline(lab.scores(), "kid").startswith("KID averaged and pooled always agree: ")
    scene = lab.scene
    for kind in ("clients", "generators"):
        for index, item in enumerate(scene[kind]):
            for turn in np.linspace(0, 2 * np.pi, 8, endpoint=False):
                moved = {**item, "x": item["x"] + np.cos(turn), "y": item["y"] + np.sin(turn)}
                items = [moved if k == index else other for k, other in enumerate(scene[kind])]
                after = nm.Scene.parse({**scene, kind: items})
                scores = nm.evaluate(after.federation, after.sources, ["fid"], progress=False)
                assert headline(scores, "fid") == "Best on average: Narrow. Best pooled: Wide.", (item["name"], turn)
    lab.close()


@needs_node
def test_page_draws_the_barycenter_of_theory():
    rng = np.random.default_rng(2)
    scenes = []
    for size in (1, 2, 3, 6):
        items = [
            {
                "name": f"c{i}",
                "x": rng.normal(),
                "y": rng.normal(),
                "width": rng.uniform(0.2, 2),
                "height": rng.uniform(0.2, 2),
                "angle": rng.uniform(-90, 90),
                "weight": rng.uniform(0.1, 3),
            }
            for i in range(size)
        ]
        scenes.append({"clients": items, "generators": [{**items[0], "name": "g"}]})
    for scene in scenes:
        scene["generators"][0].pop("weight")
    distributions, best = (
        (VIEW.parent.parent / "plane/view/distributions.js").as_uri(),
        (VIEW / "best_generators.js").as_uri(),
    )
    found = ran(
        f'import {{ distributionsOf }} from "{distributions}"; import {{ barycenterOf }} from "{best}";'
        "console.log(JSON.stringify(given[0].map((scene) => {"
        " const { clients, shares } = distributionsOf(scene, {}); return barycenterOf(clients, shares); })))",
        scenes,
    )
    for scene, ours in zip(scenes, found, strict=True):
        distribution = nm.theory.barycenter(nm.Scene.parse(scene).federation)
        np.testing.assert_allclose([ours["x"], ours["y"]], distribution.mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose([ours["a"], ours["b"], ours["c"]], distribution.cov[[0, 0, 1], [0, 1, 1]], atol=1e-7)


def test_the_figure_draws_the_marks_of_the_page():
    corners = look_of(1).marker.vertices
    np.testing.assert_allclose(corners, [[-4.8, 4.8], [4.8, 4.8], [4.8, -4.8], [-4.8, -4.8], [-4.8, 4.8]])
    drawn = [tuple(map(tuple, look_of(g).marker.vertices)) for g in range(12)]
    assert len(set(drawn)) == 12


@needs_node
def test_goals_are_reached_by_what_they_ask_for_and_by_nothing_else():
    start = nm.Scene.preset_named("Narrow or wide").to_json()

    def changed(kind, *changes):
        return {**start, kind: [{**item, **change} for item, change in zip(start[kind], changes, strict=True)]}

    together = changed("clients", {"x": -0.4}, {"x": 0.4})
    weights = changed("clients", {"weight": 1}, {"weight": 12})
    narrow = changed("generators", {"y": 0, "width": 2.2}, {})
    tried = [
        ["together", together, "reached"],
        ["together", start, "open"],
        ["together", narrow, "elsewhere"],
        ["weight", weights, "reached"],
        ["weight", together, "elsewhere"],
        ["weight", start, "open"],
        ["narrow", narrow, "reached"],
        ["narrow", together, "elsewhere"],
        ["narrow", weights, "elsewhere"],
        ["narrow", start, "open"],
        *(["weight", {**start, "view": {**start["view"], "metric": other}}, "open"] for other in ("cfid", "mfid")),
    ]
    module = (VIEW / "goals.js").as_uri()
    scores = (VIEW.parent.parent / "plane/view/scores.js").as_uri()
    states = ran(
        f'import {{ agreedOn, CHECKS }} from "{module}"; import {{ numbersOf }} from "{scores}";'
        "console.log(JSON.stringify(given[0].map(([check, scene]) => {"
        " const { metric } = scene.view;"
        " const best = agreedOn({ metric, numbers: numbersOf(scene, {}, [metric])[metric], higher: false });"
        " return CHECKS[check]({ scene, start: given[1], best, isKernel: false, edits: 1 }); })))",
        tried,
        start,
    )
    assert states == [state for *_, state in tried]
