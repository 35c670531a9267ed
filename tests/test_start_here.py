"""What notebook 00 says of its Playground, and the answers of its exercises: done as told, and wrong on purpose."""

import nbformat
import numpy as np
import pytest

import nbmetrics as nm
from tests import ROOT

BOOK = nbformat.read(ROOT / "notebooks/00_start_here.ipynb", as_version=4)
TEXT = "\n".join(cell.source for cell in BOOK.cells if cell.cell_type == "markdown")
PARTS = ["avg", "all"]


def scores_of(scene):
    return nm.Playground(nm.Scene.parse(scene)).scores()


def numbers(scores, metric="fid"):
    """(generators, 2): avg and all."""
    return scores.table.query("metric == @metric")[PARTS].to_numpy()


def changed(scene, kind, index, **fields):
    items = [item | fields if i == index else item for i, item in enumerate(scene[kind])]
    return {**scene, kind: items}


@pytest.fixture
def opening():
    return nm.Playground().scene


def test_it_opens_with_a_picture_and_goes_on_to_the_first_lesson():
    first, second = BOOK.cells[:2]
    assert first.cell_type == "markdown" and 'src="images/playground.png"' in first.source
    assert second.cell_type == "code" and second.source.endswith("lab = nm.Playground()\nlab")
    assert TEXT.count("(01_average_or_pooled.ipynb)") >= 1
    code = "\n".join(cell.source for cell in BOOK.cells if cell.cell_type == "code")
    assert "#" not in code, "what explains is text, which does not run out of view"


def test_fid_disagrees_with_itself_until_the_clients_are_close_and_kid_never_does(opening):
    assert "*FID avg* prefers Narrow" in TEXT and "*FID all* prefers Wide" in TEXT and "Narrow is best by both" in TEXT
    (near, far), names = (client["x"] for client in opening["clients"]), [g["name"] for g in opening["generators"]]
    for way, wanted in ((0, ["Narrow", "Wide"]), (0.6, ["Narrow", "Narrow"]), (1, ["Narrow", "Narrow"])):
        scores = scores_of(changed(opening, "clients", 1, x=far + way * (near - far)))
        assert [names[g] for g in numbers(scores).argmin(axis=0)] == wanted
        assert len(scores.inversions("kid")) == 0
        gaps = np.diff(numbers(scores, "kid"), axis=1)[:, 0]
        np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)


@pytest.mark.parametrize("client", [0, 1])
@pytest.mark.parametrize("metric", ["fid", "kid"])
def test_a_weight_moves_every_all_and_no_avg_until_narrow_stands_apart(opening, metric, client):
    assert "Every <i>all</i> moves" in TEXT and "No <i>avg</i> does" in TEXT
    before, after = (numbers(scores_of(s), metric) for s in (opening, changed(opening, "clients", client, weight=5)))
    np.testing.assert_allclose(after[:, 0], before[:, 0], rtol=1e-12)
    assert (np.abs(after[:, 1] / before[:, 1] - 1) > 0.05).all()
    apart = changed(opening, "generators", 0, x=-1)
    before, after = (numbers(scores_of(s), metric) for s in (apart, changed(apart, "clients", client, weight=5)))
    assert abs(after[0, 0] / before[0, 0] - 1) > 0.05


def test_generator_3_of_the_six_is_best_by_avg_and_worst_by_all_only_as_the_answer_says():
    assert "(0.5 by 0.5) and drag it to the middle" in TEXT
    six = nm.Playground("Heterogeneous six").scene

    def places(**fields):
        found = numbers(scores_of(changed(six, "generators", 2, **fields)))
        return [int(rank) for rank in (found < found[2]).sum(axis=0) + 1]

    for x, y in ((0, 0), (0, 0.2), (-0.1, 0.1), (0.2, 0.2)):
        assert places(x=x, y=y, width=0.5, height=0.5) == [1, 3]
    assert places(x=0, y=0.2, width=2.5, height=2) == [3, 1], "as wide as all clients together"
    assert places(x=2, y=2, width=0.5, height=0.5)[0] > 1, "away from the middle"


def test_kid_orders_any_generator_of_the_six_alike():
    assert "With KID it is impossible" in TEXT
    six, rng = nm.Playground("Heterogeneous six").scene, np.random.default_rng(0)
    for _ in range(8):
        x, y = rng.uniform(-4, 4, 2)
        width, height = rng.uniform(0.2, 3, 2)
        moved = changed(six, "generators", 2, x=x, y=y, width=width, height=height)
        assert len(scores_of(moved).inversions("kid")) == 0


def test_the_gaussian_and_the_other_digits_are_what_the_text_calls_them():
    names = {"nm": nm}
    exec(next(cell.source for cell in BOOK.cells if "load_digits" in cell.source), names)
    made, clients = names["generators"], names["federation"]
    assert len(clients) == 10 and "Ten clients" in TEXT
    assert sum(len(client.rows) for client in clients) == np.ceil(len(names["images"]) / 2)
    assert len(made["fresh digits"]) == len(names["images"]) // 2 and len(made) == 4
