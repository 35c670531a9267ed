"""Federations of data sets and of dicts of folders, dealt without a step between; wrong arguments by their names."""

import numpy as np
import pytest

import nbmetrics as nm
from tests.drawn_images import drawn, save
from tests.test_image_federations import DEALT, LABELS


@pytest.mark.parametrize("scheme", DEALT)
def test_a_data_set_is_dealt_as_its_images_are(scheme):
    images = drawn(12)
    data = Items(list(zip(images, LABELS, strict=True)))
    given, plain = (DEALT[scheme](x, None, extractor="pixels") for x in (data, nm.images(images, labels=LABELS)))
    assert given.names == plain.names
    for client, other in zip(given, plain, strict=True):
        np.testing.assert_array_equal(client.rows, other.rows)
        assert client.labels.tolist() == other.labels.tolist()
    with pytest.raises(nm.InvalidInput, match=r"^y: has shape"):
        nm.Federation.dirichlet(data, LABELS[:3], 3, 1.0, extractor="pixels")
    with pytest.raises(nm.InvalidInput, match=r"^X: is 12 images, and no extractor is given"):
        nm.Federation.dirichlet(data, LABELS, 3, 1.0)


class Items:
    """A data set by its length and its items alone, as torch's are."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, place):
        return self.items[place]


def test_a_federation_takes_the_settings_of_its_extractor():
    federation = nm.Federation({"a": drawn(4), "b": drawn(4, 1)}, extractor="pixels", batch_size=3, cache=False)
    assert federation.extraction.batch_size == 3 and federation.extraction.cache is False
    with pytest.raises(nm.InvalidInput, match=r"^weights: .* none is given.*weight="):
        nm.Federation({"a": np.zeros((4, 2))}, weights=[1.0])


@pytest.mark.parametrize("extractor", [None, "pixels"])
def test_an_argument_that_nobody_knows_is_refused_by_its_name(extractor):
    with pytest.raises(nm.InvalidInput, match=r"^classes_per_client: is not an argument here"):
        nm.Federation.pathological(drawn(12), LABELS, 3, classes_per_client=2, extractor=extractor)


@pytest.mark.parametrize(
    "make",
    [
        lambda path: nm.Federation.from_folder(path, "pixels"),
        lambda path: nm.Federation.iid(path, 2, extractor="pixels"),
        lambda path: nm.Federation({"ward": path / "ward"}, extractor="pixels"),
    ],
)
def test_the_warning_of_unread_files_points_at_who_asked(make, tmp_path):
    save(tmp_path / "ward", drawn(6))
    (tmp_path / "ward" / "broken.png").write_bytes(b"no image")
    with pytest.warns(nm.UnreadWarning) as told:
        make(tmp_path)
    assert [line.filename for line in told] == [__file__]
