"""What a cell opens, against the functions of the package and the sums written out."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

import nbmetrics as nm
from nbmetrics.labs.dashboard import cell_details as module
from nbmetrics.labs.dashboard.cell_details import cell_details
from tests.labs.inside import send
from tests.waiting import until


def last(scores, metric, g=0, i=0):
    return list(cell_details(scores.result(metric), g, i, scores.weights))[-1]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    north = nm.Client(rng.normal(0, 1, (30, 3)), test=rng.normal(0, 1, (20, 3)), name="north")
    south = nm.Client(rng.normal(1, 2, (40, 3)), name="south")
    return nm.Federation([north, south]), {"near": rng.normal(0.5, 1, (25, 3)), "far": rng.normal(4, 1, (35, 3))}


@pytest.fixture(scope="module")
def scores(rows):
    return nm.evaluate(*rows, ("fid", "kid"), progress=False)


def test_terms_add_up_to_the_score(rows, scores):
    federation, generators = rows
    for metric, score in (("fid", nm.fid), ("kid", nm.kid)):
        found = last(scores, metric, 1, 1)
        expected = score(federation["south"].rows, generators["far"])
        assert sum(value for _, value in found["terms"]) == pytest.approx(expected, rel=1e-9)
        assert found["doing"] == found["why"] == ""


def test_carriers_are_the_rows_with_the_largest_witness(rows, scores):
    federation, generators = rows
    x, y = federation["north"].rows, generators["far"]

    def witness(own, other):
        within, across = ((a @ b.T / 3 + 1) ** 3 for a, b in ((own, own), (own, other)))
        n = len(own)
        return (within.sum(axis=1) - within.diagonal()) / (n - 1) - across.mean(axis=1)

    of = {"client": witness(x, y), "generator": witness(y, x)}
    assert of["client"].mean() + of["generator"].mean() == pytest.approx(nm.kid(x, y), rel=1e-9)
    found = last(scores, "kid", 1)["rows"]
    for side, values in of.items():
        order = [k for k in np.argsort(-values)[:10] if values[k] > 0]
        assert [carrier["row"] for carrier in found[side]] == order
        assert [carrier["pull"] for carrier in found[side]] == pytest.approx(values[order], rel=1e-9)
    assert found["of"] == found["looked"] == [30, 35]


def test_parts_of_fid_all_are_how_far_the_map_carries_each_client():
    means, spreads, weights = [[-1.0, 0.0], [2.0, 1.0]], [[1.0, 4.0], [0.25, 1.0]], [0.3, 0.7]
    clients = [nm.Client(nm.Gaussian(m, c), weight=w) for m, c, w in zip(means, spreads, weights, strict=True)]
    made = nm.Gaussian([0.5, 3.0], [2.0, 0.5])
    distribution = nm.Mixture([client.distribution for client in clients], weights)
    scores = nm.evaluate(clients, {"g": made}, "fid", progress=False)
    found = last(scores, "fid")["parts"]
    assert sum(found["parts"]) == pytest.approx(found["total"], rel=1e-9) == pytest.approx(scores.table["all"][0])
    assert found["rest"] == pytest.approx(0.0, abs=1e-9)
    # by simulation, with the map made of Cholesky factors and a polar decomposition
    half = np.linalg.cholesky(np.linalg.inv(distribution.cov))
    u, _, v = np.linalg.svd(np.linalg.solve(half, np.linalg.cholesky(made.cov)))
    across = half @ (u @ v) @ np.linalg.cholesky(made.cov).T
    rng = np.random.default_rng(0)
    for client, weight, part in zip(clients, weights, found["parts"], strict=True):
        drawn = client.distribution.sample(200_000, rng)
        far = ((drawn - (made.mean + (drawn - distribution.mean) @ across)) ** 2).sum(axis=1)
        assert part == pytest.approx(weight * far.mean(), abs=5 * weight * far.std() / 200_000**0.5)


def test_parts_of_fewer_rows_than_features_add_up_with_what_is_left_over(rows):
    rng = np.random.default_rng(3)
    clients = {"a": rng.normal(size=(4, 9)), "b": rng.normal(size=(3, 9))}
    scores = nm.evaluate(clients, {"g": rng.normal(size=(50, 9))}, "fid", progress=False)
    found = last(scores, "fid")["parts"]
    assert sum(found["parts"]) + found["rest"] == pytest.approx(scores.table["all"][0], rel=1e-9)
    assert found["rest"] > 0


def test_copies_are_by_memorization_score_where_there_are_test_rows(rows, scores):
    federation, generators = rows
    north = federation["north"]
    expected = np.asarray(nm.memorization_scores(north.rows, north.test, generators["near"]))
    found = last(scores, "kid")["copies"]["rows"]
    assert [copy["row"] for copy in found] == np.argsort(-expected)[:10].tolist()
    assert [copy["score"] for copy in found] == pytest.approx(np.sort(expected)[::-1][:10].tolist())
    assert last(scores, "kid", 0, 1)["copies"] is None


def test_of_many_rows_some_are_looked_at_and_it_is_said(scores, monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS_A_SIDE", 12)
    found = last(scores, "kid", 1, 1)["rows"]
    assert found["of"] == [40, 35] and found["looked"] == [10, 12]
    assert all(carrier["row"] % 4 == 0 for carrier in found["client"])


def test_distributions_have_terms_and_no_rows():
    scores = nm.evaluate({"a": nm.Gaussian([0.0]), "b": nm.Gaussian([1.0])}, {"g": nm.Gaussian([2.0])}, "kid")
    found = last(scores, "kid")
    assert found["rows"] is found["copies"] is found["parts"] is None and len(found["terms"]) == 3


def test_a_chosen_cell_is_opened_and_goes_into_the_page(rows, tmp_path):
    lab = nm.Dashboard(*rows)
    lab.wait()
    scene = {**lab.scene, "client": "south", "generator": "far", "metric": "kid"}
    send(lab, {"kind": "details", "scene": scene})
    until(lambda: lab.details.get("doing") == "")
    assert lab.details["cell"] == ["south", "far", "kid"] and lab.details["weights"] == scene["weights"]
    lab.scene = {**lab.scene, "client": "north", "generator": "near"}
    lab.export_html(tmp_path / "page.html")
    assert lab.details["cell"] == ["north", "near", "fid"]
    lab.close()


def test_rows_made_of_images_are_shown(tmp_path):
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 256, (2, 12, 60, 40), dtype=np.uint8)
    federation = nm.Federation({"a": pictures[0], "b": pictures[1]}, extractor="pixels").split(test=0.25, seed=0)
    made = rng.integers(0, 256, (9, 60, 40), dtype=np.uint8)
    lab = nm.Dashboard(federation, {"g": made}, "kid")
    lab.scene = {**lab.scene, "client": "b", "generator": "g"}
    lab.export_html(tmp_path / "page.html")
    for side, images in (("client", federation["b"].images), ("generator", made)):
        for carrier in lab.details["rows"][side]:
            assert carrier["picture"].startswith("data:image/png;base64,")
            with Image.open(io.BytesIO(base64.b64decode(carrier["picture"].split(",")[1]))) as found:
                assert max(found.size) == 48
                expected = Image.fromarray(images[carrier["row"]])
                expected.thumbnail((48, 48))
                np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
    lab.close()


def test_images_stand_beside_the_rows_that_they_are():
    rng = np.random.default_rng(0)
    pictures, labels = rng.integers(0, 256, (30, 8, 8), dtype=np.uint8), np.arange(30) % 3
    federation = nm.Federation.from_labels(pictures, labels, extractor="pixels").split(test=0.3, seed=1)
    for client in federation:
        again = nm.extract(client.images, "pixels")
        np.testing.assert_allclose(again, client.rows)
    assert federation.replace("0", rng.normal(size=(5, federation.dim)))["0"].images is None
