"""The Playground beside images: what it says of its features, and images that are attached to it."""

from types import SimpleNamespace

import numpy as np
import pytest

import nbmetrics as nm
from tests.drawn_images import SHAPE, counting, drawn, evaluated, means, save
from tests.labs.inside import send
from tests.waiting import until


@pytest.fixture
def clients():
    return nm.Federation({"a": drawn(9, 1), "b": drawn(12, 2)}, extractor=counting())


def function(n, rng):
    return rng.integers(0, 256, (n, *SHAPE), dtype=np.uint8)


def line_of(scores):
    return next(line for line in scores.conventions if line.startswith("features"))


@pytest.mark.parametrize("extractor", [counting(), counting(lambda batch: means(batch)[:, :2])], ids=["wide", "flat"])
def test_images_are_attached_as_evaluate_takes_them_and_the_line_says_what_made_the_rows(extractor, tmp_path):
    clients = {"a": drawn(9, 1), "b": drawn(12, 2)}
    lab = nm.Playground(nm.Federation(clients, extractor=extractor), {"first": drawn(8, 3)})
    assert line_of(lab.scores()).startswith("features: mean colours; ")
    more, made = drawn(7, 4), {"second": nm.images(drawn(6, 5)), "third": drawn(5, 6)}
    lab.attach_client("c", save(tmp_path / "more", more))
    for name, images in made.items():
        lab.attach(name, images)
    lab.attach("function", function)
    until(lambda: lab.result["rev"] == lab.scene["rev"])
    federation = nm.Federation({**clients, "c": more}, extractor=extractor)
    wanted = evaluated(federation, {"first": drawn(8, 3), **made}, ("fid", "kid"))
    found = lab.scores()
    assert line_of(found).split(";")[0] == line_of(wanted).split(";")[0]
    assert "as given" not in line_of(found)
    table = found.table[found.table["generator"] != "function"]
    np.testing.assert_allclose(table[["avg", "all"]], wanted.table[["avg", "all"]], rtol=1e-6)
    lab.attach("rows", extractor.rows(drawn(6, 7)))
    assert "; features of generator 'rows' as given" in line_of(lab.scores())


def test_what_another_extractor_made_is_refused(clients):
    lab, other = nm.Playground(clients), nm.Client(drawn(4), extractor="pixels").extraction
    before = lab.scene
    for attach, source in [
        (lab.attach, nm.Generator(np.zeros((4, 3)), extraction=other)),
        (lab.attach_client, nm.Client(np.zeros((4, 3)), extractor=other)),
    ]:
        with pytest.raises(nm.InvalidInput, match=r"'new' has features by pixels.* by means"):
            attach("new", source)
    assert lab.scene == before


def test_beside_rows_images_are_refused_with_what_to_do():
    lab = nm.Playground("Two clients")
    for attach in (lab.attach, lab.attach_client):
        with pytest.raises(nm.InvalidInput, match=r"images of shape \(3, .* no extractor.*extractor="):
            attach("new", drawn(3))


def test_the_picker_offers_images_where_there_is_an_extractor(clients, monkeypatch):
    variables = {"array": drawn(5), "images": nm.images(drawn(5)), "text": "."}
    shell = SimpleNamespace(user_ns=variables, events=SimpleNamespace(trigger=print))
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    labs = nm.Playground(clients), nm.Playground("Two clients")
    for lab in labs:
        send(lab, {"kind": "names"})
    taken, refused = ({entry["name"]: entry["why"] for entry in lab.namespace} for lab in labs)
    assert taken == {"array": "", "images": ""}
    assert refused.keys() == taken.keys() and "shape" in refused["array"] and "images" in refused["images"]
    send(labs[0], {"kind": "attach", "name": "images"})
    assert labs[0].scene["generators"][-1]["name"] == "images"
