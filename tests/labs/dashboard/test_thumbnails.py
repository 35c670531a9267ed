"""The strips of pictures: the same places of every generator, after the first numbers, in a budget of bytes."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

import nbmetrics as nm
from nbmetrics.labs.dashboard import thumbnails
from nbmetrics.labs.dashboard.federation_comparison import FederationComparison
from nbmetrics.labs.dashboard.thumbnails import MAX_LETTERS_A_STRIP, MAX_LETTERS_OF_ALL, MAX_TILES, strip


def numbered(count, first=0):
    """Images of which each pixel says the place."""
    return np.repeat(np.arange(first, first + count, dtype=np.uint8), 16).reshape(count, 4, 4)


def noise(count, seed, size=4):
    return np.random.default_rng(seed).integers(0, 256, (count, size, size), dtype=np.uint8)


def pixels(found):
    kind, data = found["picture"].split(",")
    assert kind == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


def places(found):
    """What the tiles of `numbered` images say, from left to right."""
    shown = pixels(found)
    assert shown.shape == (4, 5 * found["count"] - 1, 3)
    return shown[0, ::5, 0].tolist()


@pytest.fixture
def federation():
    return nm.Federation({"north": numbered(40), "south": numbered(40, 100)}, extractor="pixels")


def filled(study):
    """What is done, step by step: its words, whether scores of the pooled clients and of all clients were known."""
    told = []
    while (step := study.next_step()) is not None:
        known = study._filling.computed_cells(study.metrics[0])
        told.append((step.words, bool(known.all.all()), bool(known.clients.all())))
        step()
    return told


def test_strips_come_after_the_first_numbers_and_show_the_same_places(federation):
    generators = {"a": numbered(50), "b": numbered(50), "few": numbered(2), "rows": np.zeros((9, 16)) + np.eye(9, 16)}
    study = FederationComparison(federation, generators, ("fid",), None)
    assert study.strips == {}
    told = filled(study)
    assert [(pooled, every) for words, pooled, every in told if words == "pictures"] == [(True, False)] * 4
    strips = study.strips
    assert list(strips["generators"]) == ["a", "b", "few"]
    drawn = places(strips["generators"]["a"])
    assert drawn == places(strips["generators"]["b"]) and len(set(drawn)) == MAX_TILES and max(drawn) > 5
    assert sorted(places(strips["generators"]["few"])) == [0, 1]
    assert strips["generators"]["few"]["of"] == 2 and strips["clients"]["of"] == 80
    study.remove("a")
    study.add("a", numbered(30, 200))
    filled(study)
    assert min(places(study.strips["generators"]["a"])) >= 200


def test_the_clients_are_drawn_by_their_weights(monkeypatch):
    monkeypatch.setattr(thumbnails, "MAX_TILES", 400)
    parties = [range(10_000), range(20_000, 20_500)]
    whose, which = thumbnails._places(parties, [3.0, 1.0])
    assert len(whose) > 350 and 0.7 < sum(party is parties[0] for party in whose) / len(whose) < 0.8
    assert all(0 <= place < len(party) for party, place in zip(whose, which, strict=True))


def test_strips_keep_to_their_budget_and_say_where_a_picture_is_gone():
    photos = noise(30, 0, 96)
    one = strip([photos], [1.0], MAX_LETTERS_A_STRIP)
    assert one["count"] == MAX_TILES and len(one["picture"]) <= MAX_LETTERS_A_STRIP and one["side"] >= 24
    assert strip([photos], [1.0], 100) is None
    wide = strip([np.full((9, 10, 40), 7, np.uint8)], [1.0], MAX_LETTERS_A_STRIP)
    assert pixels(wide).shape[0] == wide["side"] == 40

    class Gone(list):
        def __getitem__(self, place):
            raise nm.InvalidInput("source", "was read before, and now it is gone", "Call nm.images again")

    assert strip([Gone(range(9))], [1.0], MAX_LETTERS_A_STRIP) is None


def test_the_strips_of_twenty_generators_fit_a_page():
    clients = {"a": noise(30, 0, 48), "b": noise(30, 1, 48)}
    federation = nm.Federation(clients, extractor="pixels", progress=False)
    lab = nm.Dashboard(federation, {f"g{k}": noise(20, k + 2, 48) for k in range(20)}, "kid")
    lab.wait()
    found = lab.strips
    assert len(found["generators"]) == 20
    letters = sum(len(one["picture"]) for one in [lab.clients_strip, *found["generators"].values()])
    assert 20 * 1000 < letters <= MAX_LETTERS_OF_ALL
    lab.close()


def test_rows_have_no_strips():
    rng = np.random.default_rng(0)
    study = FederationComparison({"a": rng.normal(size=(20, 2))}, {"g": rng.normal(size=(20, 2))}, ("kid",), None)
    assert "pictures" not in [words for words, *_ in filled(study)] and study.strips == {}
