"""Data sets and loaders: each item an image, checked once and the same ever after; what comes once is kept on disk."""

import itertools

import numpy as np
import pytest
from PIL import Image

import nbmetrics as nm
from nbmetrics.features import loaders
from tests.features.pictures import pixels

STACK = np.stack([pixels(seed=k) for k in range(7)])


class Pairs:
    """A data set without torch: (image, label), item 2 broken."""

    def __init__(self, items=None, fails=()):
        self.items = [(Image.fromarray(image), k % 2) for k, image in enumerate(STACK)] if items is None else items
        self.fails = fails

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        if index in self.fails:
            raise OSError("a broken file")
        return self.items[index]


def same(made, expected):
    assert len(made) == len(expected)
    for image, wanted in zip(made, expected, strict=True):
        assert image.dtype == np.uint8
        np.testing.assert_array_equal(image, wanted)


ITEMS = {
    "Pillow's": [Image.fromarray(image) for image in STACK],
    "with a label": [(image, k % 2) for k, image in enumerate(STACK)],
    "in a list": [[image, np.int64(k % 2)] for k, image in enumerate(STACK)],
    "floats, channels first": [((image / 255).transpose(2, 0, 1), np.array(k % 2)) for k, image in enumerate(STACK)],
    "by name": [{"image": image, "label": k % 2} for k, image in enumerate(STACK)],
    "by a short name": [{"label": str(k % 2), "img": Image.fromarray(image)} for k, image in enumerate(STACK)],
    "with more": [(image, str(k % 2), "caption") for k, image in enumerate(STACK)],
}


@pytest.mark.parametrize("kind", ITEMS)
def test_items_of_any_kind(kind):
    made = nm.images(Pairs(ITEMS[kind]))
    same(made, STACK)
    assert made.digest(3) == nm.images(STACK).digest(3)
    if kind == "Pillow's":
        assert made.labels is None
    else:
        assert [int(label) for label in made.labels] == [0, 1, 0, 1, 0, 1, 0]


def test_labels_by_targets_where_items_have_none():
    data = Pairs(ITEMS["Pillow's"])
    data.targets = list("abcdefg")
    assert "".join(nm.images(data).labels) == "abcdefg"
    data.targets = list("abc")
    assert nm.images(data).labels is None


def test_items_that_fail_are_listed():
    made = nm.images(Pairs(fails={2}))
    same(made, STACK[[0, 1, 3, 4, 5, 6]])
    assert list(made.labels) == [0, 1, 1, 0, 1, 0]
    assert list(made.report["reason"]) == ["", "", "OSError: a broken file", "", "", "", ""]
    assert made.names[2] == "image 3"
    with pytest.raises(nm.InvalidInput, match=r"1 of 7 found cannot be read; image 2 \(OSError: a broken file\)"):
        nm.images(Pairs(fails={2}), strict=True)
    with pytest.raises(nm.InvalidInput, match="no image that can be read: 7 found; image 0"):
        nm.images(Pairs(fails=range(7)))


def test_an_item_that_fails_later_is_named():
    data = Pairs()
    made = nm.images(data)
    data.fails = {4}
    with pytest.raises(nm.InvalidInput, match="'image 4' was read before, and now: OSError: a broken file"):
        made[4]


def test_a_transform_that_draws_at_random_is_refused():
    rng = np.random.default_rng(0)

    class Noisy(Pairs):
        def __getitem__(self, index):
            return rng.integers(0, 256, (9, 13, 3), dtype=np.uint8), 0

    with pytest.raises(nm.InvalidInput, match="a transform that is not random"):
        nm.images(Noisy())[0]


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([(STACK[0] / 64 - 2, 0)], "image 0, source: is of floats from -2 to 1.* undo a normalization"),
        ([STACK[0], "a"], "image 1, source: got 'a'"),
        ([(1, 2)], "image 0, source"),
        ([], "nothing found"),
        ([{"picture": STACK[0]}], "KeyError"),
    ],
)
def test_items_that_are_no_images(items, said):
    with pytest.raises(nm.InvalidInput, match=said):
        nm.images(Pairs(items))


def test_a_length_that_cannot_be_had_or_is_absurd():
    class Wrong(Pairs):
        def __len__(self):
            return self.length

    data = Wrong()
    data.length = 10**9
    with pytest.raises(nm.InvalidInput, match="source, its length"):
        nm.images(data)
    with pytest.raises(nm.InvalidInput, match="its length is not available"):
        nm.images(Wrong())


def test_what_comes_once_is_kept_within_a_limit(monkeypatch):
    made = loaders.Spool((image, k) for k, image in enumerate(STACK))
    same([made.read(k)[0] for k in (3, 0, 6)], STACK[[3, 0, 6]])
    monkeypatch.setattr(loaders, "MAX_SPOOL_BYTES", 10**6)
    with pytest.raises(nm.InvalidInput, match="gives more than"):
        loaders.Spool((image, 0) for image in itertools.cycle(STACK))


def _iterable(torch, items):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(items)

    return Stream()


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def test_tensors_in_any_layout(torch):
    first = torch.from_numpy(STACK.transpose(0, 3, 1, 2).copy())
    for tensor in (
        *(
            first,
            torch.from_numpy(STACK),
            first / 255,
            first.double() / 255,
            (first / 255).half(),
            (first / 255).bfloat16(),
        ),
        (first / 255).requires_grad_(),
        first.to(memory_format=torch.channels_last),
    ):
        same(nm.images(tensor), STACK)
    same(nm.images(list(first)), STACK)
    same(nm.images(first[:, :1]), STACK[..., 0])
    for wrong in (first.to_sparse(), first.to("meta"), first * 1j, first.long(), first * 1.0, first.flatten()):
        with pytest.raises(nm.InvalidInput, match="source"):
            nm.images(wrong)


def test_data_sets_of_torch(torch):
    from torch.utils.data import ConcatDataset, Subset, TensorDataset

    data = TensorDataset(torch.from_numpy(STACK.transpose(0, 3, 1, 2).copy()), torch.arange(7))
    same(nm.images(data), STACK)
    part = nm.images(Subset(data, [5, 1]))
    same(part, STACK[[5, 1]])
    assert list(part.labels) == [5, 1]
    assert list(nm.images(ConcatDataset([data, data])).labels) == [*range(7), *range(7)]


def test_loaders_stand_for_their_data_set(torch):
    from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset, WeightedRandomSampler

    data = TensorDataset(torch.from_numpy(STACK), torch.arange(7))
    for options in ({}, {"shuffle": True, "batch_size": 3}, {"batch_size": 4, "drop_last": True}, {"batch_size": None}):
        made = nm.images(DataLoader(data, **options))
        same(made, STACK)
        assert list(made.labels) == list(range(7))
    for options, own in (
        ({"sampler": SubsetRandomSampler([1, 2])}, "sampler"),
        ({"sampler": WeightedRandomSampler([1.0] * 7, 7)}, "sampler"),
        ({"batch_sampler": [[0, 1], [2]]}, "sampler"),
        ({"collate_fn": list}, "collate_fn"),
    ):
        with pytest.raises(nm.InvalidInput, match=f"a DataLoader with a {own} of its own. Give loader.dataset"):
            nm.images(DataLoader(data, **options))


def test_iterable_ones_are_read_once(torch):
    pairs = [(torch.from_numpy(image), k) for k, image in enumerate(STACK)]
    made = nm.images(_iterable(torch, pairs))
    same(made, STACK)
    same(made[::-1], STACK[::-1])
    assert list(made.labels) == list(range(7)) and made.digest(3) == nm.images(STACK).digest(3)
    loader = torch.utils.data.DataLoader(_iterable(torch, pairs), batch_size=3)
    same(nm.images(loader), STACK)
    assert list(nm.images(loader).labels) == list(range(7))
    same(nm.images(torch.utils.data.DataLoader(_iterable(torch, [t for t, _ in pairs]), batch_size=2)), STACK)
    with pytest.raises(nm.InvalidInput, match="no image"):
        nm.images(_iterable(torch, []))
    with pytest.raises(nm.InvalidInput, match="floats from"):
        nm.images(_iterable(torch, [t * 1.0 for t, _ in pairs]))
