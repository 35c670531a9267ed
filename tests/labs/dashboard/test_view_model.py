"""Pictures of each view of the Dashboard, what they say, and that they order and group as the page does."""

import io
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import nbmetrics as nm
from nbmetrics.labs.dashboard.figures import VIEWS, draw_view
from nbmetrics.labs.dashboard.place_ranges import crossings, place_ranges, sort_by_loss, tiers
from nbmetrics.labs.dashboard.scene import ORDERS, DashboardScene
from nbmetrics.labs.dashboard.table_comparison import TableComparison
from tests.labs.dashboard.page import said
from tests.slow import by_default

# Distributions, so that their scores are exact and have no bias to take off.
CLIENTS = {f"c{i}": nm.Gaussian([3.0 * (i == 0), 2.0 * (i == 1)]) for i in range(3)}
GENERATORS = {"Narrow": nm.Gaussian([1, 0.7]), "Wide $x$ <b>": nm.Gaussian([1, 0.7], 3.0), "Of c2": nm.Gaussian([0, 0])}


@pytest.fixture(scope="module")
def lab():
    made = nm.Dashboard(CLIENTS, GENERATORS)
    made.wait()
    yield made
    made.close()


@pytest.mark.parametrize("view", by_default(VIEWS, "heat map"))
def test_each_view_is_a_picture_with_words(lab, view, tmp_path):
    shot = lab.snapshot(view)
    assert np.asarray(Image.open(io.BytesIO(shot.png)).convert("L")).std() > 10
    root = ElementTree.fromstring(shot.svg)
    assert root[0].text == shot.title == f"Dashboard: {view}" and root[1].text == shot.alt
    assert shot.alt.startswith(f"Dashboard, {view}: {lab.verdict[0]}")
    assert any(name in shot.alt.removeprefix(lab.verdict[0]) for name in (*GENERATORS, *CLIENTS))
    for name in ("a.png", "b.SVG"):
        assert shot.save(tmp_path / name).stat().st_size > 1000
    with pytest.raises(nm.InvalidInput, match=r"\.png or \.svg"):
        shot.save(tmp_path / "c.pdf")


def test_the_numbers_of_the_views_are_those_of_the_scores(lab):
    scores = lab.scores
    table = scores.table.query("metric == 'fid'").set_index("generator")
    told = lab.snapshot("leaderboard").alt
    for name in GENERATORS:
        assert f"avg {table['avg'][name]:.4g}, all {table['all'][name]:.4g}" in told.split(f"{name} place")[1]
    regret = scores.regret("fid")
    winner, column = regret.attrs["winners"]["avg"], regret.set_index("client")["by_avg"]
    told = f"With {winner}, first by avg"
    assert told in (alt := lab.snapshot("regret").alt)
    assert f"{column.idxmax()} loses most, {column.max():.4g}" in alt.split(told)[1]
    assert "c0 33\u00a0%; c1 33\u00a0%; c2 33\u00a0%" in lab.snapshot("weights").alt


def test_what_cannot_be_drawn_is_refused(lab):
    with pytest.raises(nm.InvalidInput, match="heat map"):
        lab.snapshot("heat")
    before = lab.scene
    lab.scene = {**before, "metric": "kid"}
    with pytest.raises(nm.InvalidInput, match="one order, by avg and by all"):
        lab.snapshot("places")
    lab.scene = {**before, "generators": ["Wide $x$ <b>"]}
    with pytest.raises(nm.InvalidInput, match="there is only one generator"):
        lab.snapshot("regret")
    lab.scene = before


def test_views_take_odd_tables():
    """NaN, infinity, one client, one generator, more cells than have numbers."""
    odd = {"a": [0.3, np.nan, 1.0], "b": [np.inf, 0.5, 1.0], "c": [0.0, 0.4, 1.0]}
    many = {f"g{g}": np.random.default_rng(g).random(80) for g in range(6)}
    for table, views in (
        (odd, ("leaderboard", "heat map", "regret", "weights")),
        (many, ("heat map",)),
        ({"alone": [1.0]}, ("leaderboard", "heat map", "weights")),
    ):
        study = TableComparison(table, None, "Score", False)
        common = {"metric": "score", "weights": study.weights, "generators": study.generators}
        for view in views:
            scene = DashboardScene.parse({**common, "colour": "raw" if len(table) > 1 else "regret"})
            figure, _, words = draw_view(view, study.view_model(scene), "")
            figure.canvas.draw()
            assert next(iter(table)) in words or str(len(table)) in words


def test_places_are_those_of_the_page():
    rng = np.random.default_rng(1)
    given, wanted = [], []
    for _ in range(10):
        losses, noise = rng.normal(0, 1, (2, 6)), rng.normal(0, 0.2, (2, 64, 6))
        ranges = [place_ranges(own, draws) for own, draws in zip(losses, noise, strict=True)]
        groups = [tiers(r, own) for r, own in zip(ranges, losses, strict=True)]
        orders = [[g for group in side for g in group] for side in groups]
        given.append({"losses": losses, "better": [r.better.astype(int) for r in ranges]})
        wanted.append({"groups": groups, "crossed": crossings(*orders, *ranges), "order": sort_by_loss(losses[0])})
    line = """say(given.map(({ losses, better }) => {
        const ranges = better.map((better) => ({ better }));
        const groups = losses.map((own, k) => tiers(ranges[k], own));
        const [left, right] = groups.map((side) => side.flat());
        return { groups, crossed: crossings(left, right, ...ranges), order: sortByLoss(losses[0]) }; }));"""
    assert said("place_ranges.js", "crossings, sortByLoss, tiers", line, given) == wanted
    assert {"", "chance", "real"} == {kind for own in wanted for kind in own["crossed"]}


def sight_of(table, **changes):
    study = TableComparison(table, [5, 1, 2], "Score", False)
    base = {"metric": study.metrics[0], "weights": [5, 1, 2], "generators": list(table)}
    return study.view_model(DashboardScene.parse({**base, **changes}))


def test_who_has_no_weight_is_not_the_worst_client():
    sight = sight_of({"a": [1.0, 5.0, 9.0], "b": [2.0, 3.0, np.nan]}, weights=[1, 1, 0])
    assert sight.losses["worst"].tolist() == [5, 3]


def test_clients_stand_as_in_the_page():
    table = {"a": [0.3, 0.9, 1.0], "b": [0.5, 0.1, 2.0]}
    sight = sight_of(table)
    sight = replace(sight, clients=("c 10", "c 9", "B"), sizes=(3, 3, 8), leaves=[2, 0, 1])
    metric = {
        "centres": sight.metric_view.centres,
        "avgLosses": sight.losses["avg"],
        "worstLosses": sight.losses["worst"],
    }
    clients = [{"name": n, "rows": r} for n, r in zip(sight.clients, sight.sizes, strict=True)]
    ways = [{"order": order, "by": by, "metric": "score"} for order in ORDERS for by in ("avg", "worst")]
    numbers = {"clients": clients, "shares": sight.scene.shares, "metrics": {"score": metric}}
    given = {"ways": ways, "numbers": numbers, "board": {"leaves": sight.leaves}}
    line = "say(given.ways.map((scene) => clientOrder(scene, given.numbers, given.board)));"
    own = [replace(sight, scene=replace(sight.scene, order=way["order"], by=way["by"])).client_order() for way in ways]
    assert own == said("client_order.js", "clientOrder", line, given)


def test_winners_are_those_of_the_page():
    for table in ({"a": [0.3, 0.9, 1.0], "b": [0.5, 0.1, 0.9]}, {"a": [0.3, 0.9, 1.0], "b": [0.4, 0.4, 1.2]}):
        sight = sight_of(table)
        given = {
            "average": sight.labels["avg"],
            "avgLosses": sight.losses["avg"],
            "allLosses": [],
            "worstLosses": sight.losses["worst"],
            "byAll": None,
            "isNear": False,
            "facts": {"same": False},
        }
        page = said("regret_card.js", "choicesOf", "say(choicesOf(given));", given)
        assert sight.choices() == [(choice["g"], choice["words"]) for choice in page]
