"""Files of a mean and a covariance on the command line, on either side, and of images as ADM writes them."""

import json

import numpy as np
import pytest

import nbmetrics as nm


@pytest.fixture
def written(tmp_path, features):
    """ref.npz as pytorch-fid writes it, gen.npz as nbmetrics does, and the rows of both."""
    north, narrow = features["real/north"], features["narrow"]
    np.savez(tmp_path / "ref.npz", mu=north.mean(axis=0), sigma=np.cov(north, rowvar=False))
    nm.Moments.of(narrow).save(tmp_path / "gen.npz")
    return north, narrow


@pytest.mark.parametrize("words", [("ref.npz", "narrow.npy"), ("real/north.npy", "gen.npz"), ("ref.npz", "gen.npz")])
def test_either_side_may_be_a_mean_and_a_covariance(words, written, run, tmp_path):
    code, out, err = run("score", *words, "--metrics", "fid", "--json", "o.json")
    (row,) = json.loads((tmp_path / "o.json").read_text("utf-8"))["table"]
    assert (code, err) == (0, "") and row["avg"] == pytest.approx(nm.fid(*written), rel=1e-9)
    assert ("unknown number of rows" in " ".join(out.split())) == (words[0] == "ref.npz")
    assert all(len(line) <= 80 for line in out.splitlines())
    assert run("verify", "o.json", *words)[0] == 0


def test_a_folder_may_hold_rows_and_statistics(written, run, tmp_path, features):
    _, before, _ = run("score", "real", "narrow.npy", "--metrics", "fid")
    (tmp_path / "real" / "north.npy").unlink()
    nm.Moments.of(written[0]).save(tmp_path / "real" / "north.npz")
    code, after, err = run("score", "real", "narrow.npy", "--metrics", "fid")
    assert code == 0 and err == "" and "2 clients: north (400 rows), south (400 rows)" in after
    assert after.splitlines()[:3] == before.splitlines()[:3]
    np.savez(tmp_path / "real" / "north.npz", mu=written[0].mean(axis=0), sigma=np.cov(written[0].T))
    code, _, err = run("score", "real", "narrow.npy")
    assert code == 2 and "'north' is a mean and a covariance of an unknown number of rows" in err


def test_what_needs_rows_says_so(written, run):
    code, out, _ = run("score", "ref.npz", "narrow.npy")
    said = " ".join(out.split())
    assert code == 0 and "client 'ref': is a mean and a covariance, and KID needs rows" in said
    assert run("score", "ref.npz", "narrow.npy", "--metrics", "kid")[0] == 2
    code, _, err = run("score", "ref.npz", "narrow.npy", "--metrics", "fid", "--uncertainty", "influence")
    assert code == 2 and "intervals need rows" in err


def test_a_bad_file_is_named(run, features, tmp_path):
    (tmp_path / "bad.npz").write_bytes(b"PK")
    np.savez(tmp_path / "rows.npz", feats=features["narrow"])
    for words in (("bad.npz", "narrow.npy"), ("real", "bad.npz")):
        code, _, err = run("score", *words)
        assert code == 2 and "bad.npz" in err and len(err.splitlines()) == 1
    code, _, err = run("score", "rows.npz", "narrow.npy")
    assert code == 2 and "np.load(path)['feats']" in err


def test_features_can_be_written_as_statistics(folder, run, tmp_path):
    images = folder("real", 120, 30)
    words = ("features", "real", "--extractor", "pixels", "--quiet", "--stats", "--out")
    code, out, _ = run(*words, "ref.npz")
    assert code == 0 and out.startswith("Mean and covariance of 30 rows of 16 features in ")
    rows = images.reshape(30, -1) / 255
    with np.load(tmp_path / "ref.npz", allow_pickle=False) as file:
        np.testing.assert_allclose(file["mu"], rows.mean(axis=0), rtol=1e-6)
        np.testing.assert_allclose(file["sigma"], np.cov(rows, rowvar=False), rtol=1e-4, atol=1e-8)
        assert file["n"] == 30
    assert run(*words, "ref.npy")[0] == 2
    np.save(tmp_path / "rows.npy", rows)
    assert run("features", "rows.npy", "--stats", "--out", "r.npz")[0] == 0
    assert nm.Moments.load(tmp_path / "r.npz").n == 30
    assert run("features", "ref.npz", "--out", "x.npy")[0] == 2


def test_images_in_an_npz_are_images(folder, run, tmp_path):
    pixels = np.repeat(folder("fake", 120, 40)[..., None], 3, axis=3)
    np.savez(tmp_path / "samples.npz", pixels)
    words = ("--extractor", "pixels", "--metrics", "fid", "--quiet")
    code, out, err = run("score", "samples.npz", "samples.npz", *words)
    assert code == 0 and "samples" in out
    code, _, err = run("features", "samples.npz", "--extractor", "pixels", "--quiet", "--stats", "--out", "ref.npz")
    assert code == 0 and nm.Moments.load(tmp_path / "ref.npz").n == 40
    code, out, err = run("score", "ref.npz", "samples.npz", *words)
    assert code == 0 and err == "" and float(out.splitlines()[1].split()[1]) == pytest.approx(0.0, abs=1e-9)
