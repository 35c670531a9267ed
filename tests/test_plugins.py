"""Metrics and extractors of other installed packages: found by their entry points, named where they are broken."""

import sys

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.cli import main
from nbmetrics.plugins import _installed, plugins

CODE = '''
"""Another package's metric and extractor."""
import numpy as np


class Centre:
    """The squared distance of the means."""

    name, label = "centre", "Centre"

    def summarize(self, sample):
        return sample.rows.mean(axis=0)

    def pool(self, summaries, weights):
        return np.average(summaries, axis=0, weights=weights)

    def terms(self, real, generated):
        return {"shift": float(((real - generated) ** 2).sum())}


class Brightness:
    dim = 2
    __name__ = "brightness"

    def __call__(self, images):
        return np.stack([images.reshape(len(images), -1).mean(axis=1), images.reshape(len(images), -1).std(axis=1)], 1)


def impostor():
    metric = Centre()
    metric.name = "fid"
    return metric
'''


def installed(folder, package, entries, code=CODE):
    """A package beside its dist-info, as pip leaves them."""
    module, info = folder / f"{package}.py", folder / f"{package}-0.1.dist-info"
    module.write_text(code, "utf-8")
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n", "utf-8")
    groups = [
        f"[nbmetrics.{group}]\n" + "".join(f"{n} = {v}\n" for n, v in some.items()) for group, some in entries.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups), "utf-8")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder for packages, on the path for as long as the test runs."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("nbm_"):
            del sys.modules[name]


ROWS = [np.random.default_rng(k).normal(k, 1, (50, 3)) for k in range(2)]
MADE = np.random.default_rng(9).normal(size=(40, 3))


def centre_of(real):
    return ((real.mean(axis=0) - MADE.mean(axis=0)) ** 2).sum()


def test_a_metric_of_another_package_is_in_evaluate_and_in_the_command(site, capsys):
    installed(site, "nbm_centre", {"metrics": {"centre": "nbm_centre:Centre"}})
    nm.metrics.metric_of("fid")
    assert "nbm_centre" not in sys.modules
    scores = nm.evaluate(ROWS, {"g": MADE}, ["fid", "centre"], progress=False)
    row = scores.table.set_index("metric").loc["centre"]
    assert row["avg"] == pytest.approx(np.mean([centre_of(rows) for rows in ROWS]))
    assert row["all"] == pytest.approx(centre_of(np.concatenate(ROWS)))
    assert nm.evaluate(ROWS, {"g": MADE}, "Centre", progress=False).metrics == ("centre",)
    for name, rows in (("real", ROWS[0]), ("made", MADE)):
        np.save(site / f"{name}.npy", rows)
    assert main(["score", str(site / "real.npy"), str(site / "made.npy"), "--metrics", "centre"]) == 0
    assert "Centre" in capsys.readouterr().out
    with pytest.raises(nm.InvalidInput, match="Did you mean 'centre'"):
        nm.evaluate(ROWS, {"g": MADE}, "center", progress=False)


def test_an_extractor_of_another_package_is_listed_and_used(site):
    installed(site, "nbm_bright", {"extractors": {"brightness": "nbm_bright:Brightness"}})
    images = np.random.default_rng(0).integers(0, 256, (6, 4, 4), dtype=np.uint8)
    nm.extract(images, "pixels")
    assert "nbm_bright" not in sys.modules
    row = nm.extractors().set_index("name").loc["brightness"]
    assert (row["dim"], row["needs"], row["ready"]) == (2, "nbm_bright 0.1", True)
    rows = nm.extract(images, "brightness")
    assert rows == pytest.approx(np.stack([images.mean(axis=(1, 2)), images.std(axis=(1, 2))], 1), rel=1e-6)
    with pytest.raises(nm.InvalidInput, match="weights: were given with Brightness"):
        nm.extract(images, "brightness", weights="some.pth")


def test_broken_ones_are_named_and_left_out(site):
    entries = {"broken": "nbm_broken:absent", "pixels": "nbm_broken:Brightness", "Digits_CNN": "nbm_broken:Brightness"}
    installed(site, "nbm_broken", {"extractors": entries, "metrics": {"sad": "nbm_broken:absent"}})
    installed(site, "nbm_raises", {"extractors": {"raising": "nbm_raises:make"}}, "raise SystemExit('no licence')")
    with pytest.warns(nm.PluginWarning) as warned:
        table = nm.extractors()
    assert not {"broken", "raising", "Digits_CNN"} & set(table["name"])
    assert table["name"].is_unique and {"pixels", "digits-cnn"} < set(table["name"])
    said = str(warned[0].message)
    assert "'broken' of the package nbm_broken 0.1 does not load (AttributeError" in said
    assert "'raising' of the package nbm_raises 0.1 does not load (SystemExit: no licence)" in said
    assert "'pixels' of the package nbm_broken 0.1: nbmetrics has one of this name" in said
    assert "'Digits_CNN' of the package nbm_broken 0.1: nbmetrics has one of this name" in said
    assert warned[0].filename == __file__
    with pytest.raises(nm.InvalidInput, match=r"metrics: 'sad' of the package nbm_broken 0.1 does not load"):
        nm.evaluate(ROWS, {"g": MADE}, "sad", progress=False)
    with pytest.raises(nm.InvalidInput, match=r"extractor: 'raising' of the package nbm_raises"):
        nm.extract(np.zeros((2, 4, 4), np.uint8), "raising")
    assert nm.evaluate(ROWS, {"g": MADE}, "fid", progress=False).metrics == ("fid",)


def test_nobody_takes_a_name_of_ours_or_of_another_package(site):
    installed(
        site, "nbm_one", {"metrics": {"fid": "nbm_one:Centre", "twice": "nbm_one:Centre", "kiid": "nbm_one:impostor"}}
    )
    installed(site, "nbm_two", {"metrics": {"twice": "nbm_two:Centre", "K-I-D": "nbm_two:Centre"}})
    assert type(nm.metrics.metric_of("fid")) is nm.metrics.FID
    assert type(nm.metrics.metric_of("K-I-D")) is nm.metrics.KID
    with pytest.raises(nm.InvalidInput, match="metrics: got 'twice'"):
        nm.metrics.metric_of("twice")
    with pytest.raises(nm.InvalidInput, match=r"'kiid' of the package nbm_one 0\.1 calls itself 'fid'"):
        nm.metrics.metric_of("kiid")
    assert "nbm_two" not in sys.modules


def test_a_factory_of_nothing_and_a_name_that_cannot_be_shown_are_told(site):
    installed(site, "nbm_none", {"metrics": {"hole": "nbm_none:make", "fid": "nbm_none:make"}}, "make = lambda: None")
    metadata = site / "nbm_none-0.1.dist-info" / "METADATA"
    metadata.write_text(f"Metadata-Version: 2.1\nName: nbm\x1b[31m\nVersion: {'9' * 5000}\n", "utf-8")
    with pytest.raises(nm.InvalidInput, match=r"'hole' of the package nbm\\x1b\[31m 9+…* gives no metric: None has no"):
        nm.metrics.metric_of("hole")
    _, lines = plugins("nbmetrics.metrics", ["fid"])
    assert len(lines[0]) < 500 and lines[0].isprintable()


def test_packages_are_not_looked_for_before_another_name_is_asked_for():
    before = _installed.cache_info()
    nm.evaluate(ROWS, {"g": MADE}, ["FID", "kid"], progress=False)
    nm.extract(np.zeros((2, 4, 4), np.uint8), "pixels", cache=False, progress=False)
    assert _installed.cache_info() == before
