"""docs/coming_from.md: each block of it where the other package imports, with the numbers that its comments say.

dgm-eval and ADM's evaluator are no packages: a checkout on the path is what is tried (PYTHONPATH).
"""

import re
import warnings

import numpy as np
import pytest
import scipy

import nbmetrics as nm
from tests import ROOT
from tests.benchmarks import peers
from tests.slow import by_default

PAGE = (ROOT / "docs/coming_from.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
NEED = {
    "pytorch-fid": "pytorch_fid.fid_score",
    "clean-fid": "cleanfid.fid",
    "torch-fidelity": "torch_fidelity.metric_prc",
    "torchmetrics": "torchmetrics.image.kid",
    "dgm-eval": "dgm_eval.metrics",
    "ADM's evaluator": "evaluations.evaluator",
    "prdc": "prdc",
    "vendi-score": "vendi_score",
    "Averages over clients": "pytorch_fid.fid_score",
}
# Sections that take seconds, for their subsets of KID.
SECONDS = ("clean-fid", "torchmetrics", "torch-fidelity", "vendi-score")
CALL_SQRTM = ("pytorch-fid", "clean-fid", "dgm-eval", "ADM's evaluator", "Averages over clients")
HAS_DISP = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18)


ROWS = {}
exec(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0], ROWS)
REAL, MADE = ROWS["real"], ROWS["made"]


def peer(name, section=None):
    """The module of a package, or a skip with the reason."""
    if section in CALL_SQRTM and not HAS_DISP:
        pytest.skip("it passes disp to scipy.linalg.sqrtm, which SciPy 1.18 no longer takes")
    module = peers.imported(name)
    return module or pytest.skip(
        f"{name} does not import here: pip install nbmetrics[bench], or a checkout on the path"
    )


def names_after(section):
    """What the block of a section leaves behind."""
    peer(NEED[section], section)
    names = {"np": np, "nm": nm, "real": REAL, "made": MADE}
    (block,) = re.findall(r"```python\n(.*?)```", SECTIONS[section], re.DOTALL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(block, names)
    return names, re.findall(r"^(\w+) = .*  # (-?\d+\.\d+)$", block, re.MULTILINE)


def test_every_block_has_a_test():
    assert {name for name, text in SECTIONS.items() if "```python" in text} == set(NEED)


@pytest.mark.parametrize("section", by_default(NEED, *(name for name in NEED if name not in SECONDS)))
def test_a_block_gives_the_numbers_of_its_comments(section):
    names, printed = names_after(section)
    assert printed or section == "Averages over clients"
    for name, number in printed:
        digits = len(number.partition(".")[2])
        assert float(names[name]) == pytest.approx(float(number), abs=1.5 * 10.0**-digits), name


def test_avg_and_all_are_calls_of_the_other_package():
    names, _ = names_after("Averages over clients")
    assert names["our_avg"] == pytest.approx(names["their_avg"], rel=1e-6)
    assert names["our_all"] == pytest.approx(names["their_all"], rel=1e-6)
    assert names["our_avg"] - names["our_all"] > 1


def test_pytorch_fid_in_float64_with_few_rows_and_by_n():
    module = peer("pytorch_fid.fid_score", "pytorch-fid")
    x, y = REAL.astype(float), MADE.astype(float)

    def theirs(a, b, ddof=1):
        moments = [part for z in (a, b) for part in (z.mean(axis=0), np.cov(z, rowvar=False, ddof=ddof))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(module.calculate_frechet_distance(*moments))

    assert nm.fid(x, y) == pytest.approx(theirs(x, y), rel=1e-12)
    assert theirs(x, y, ddof=0) == pytest.approx(1.55619, abs=1e-5)
    assert nm.fid(REAL[:30], MADE[:30]) == pytest.approx(theirs(REAL[:30], MADE[:30]), rel=1e-6)


def test_one_subset_of_all_rows_is_ours():
    kid = peer("torch_fidelity.metric_kid").kid_features_to_metric
    import torch

    x, y = (torch.from_numpy(z[:1500].astype(float)) for z in (REAL, MADE))
    found = kid(x, y, kid_subsets=1, kid_subset_size=1500, verbose=False)["kernel_inception_distance_mean"]
    assert nm.kid(x, y) == pytest.approx(found, rel=1e-10)


@pytest.mark.slow
def test_another_seed_of_subsets_is_another_kid():
    kid = peer("torch_fidelity.metric_kid").kid_features_to_metric
    import torch

    found = kid(torch.from_numpy(REAL), torch.from_numpy(MADE), rng_seed=1, verbose=False)
    assert found["kernel_inception_distance_mean"] == pytest.approx(0.0539, abs=1e-4)


@pytest.mark.slow
def test_a_bootstrap_of_fid_lies_above_the_score():
    names, _ = names_after("torchmetrics")
    import torch

    wrapper, quantile = peer("torchmetrics.wrappers").BootStrapper, torch.tensor([0.05, 0.95])
    torch.manual_seed(0)
    fids = wrapper(names["FrechetInceptionDistance"](feature=names["Rows"]()), num_bootstraps=100, quantile=quantile)
    fids.update(torch.from_numpy(REAL), real=True)
    fids.update(torch.from_numpy(MADE), real=False)
    assert fids.compute()["quantile"].tolist() == pytest.approx([1.84, 2.12], abs=0.04)


def test_edges_of_balls_are_inside_for_torch_fidelity_alone():
    prc = peer("torch_fidelity.metric_prc").prc_features_to_metric
    import torch

    copies = np.repeat(np.arange(8.0).reshape(-1, 1), 6, axis=0)
    found = prc(*[torch.from_numpy(copies)] * 2, save_cpu_ram=False, verbose=False)
    assert (found["precision"], found["recall"]) == (1, 1)
    assert nm.prdc(copies, copies).precision == 0 == nm.prdc(copies, copies, k=3).recall
    assert nm.prdc(copies, copies, k=3, inclusive=True).precision == 1


def test_what_only_we_have():
    row = nm.evaluate({"c": REAL}, {"g": MADE}, ["fid", "kid"], uncertainty=nm.Influence(), progress=False).table
    (fid, *ends), (kid, *kid_ends) = row[["avg_corrected", "avg_low", "avg_high"]].to_numpy().tolist()
    assert [fid, *ends] == pytest.approx([1.14, 1.00, 1.28], abs=0.006)
    assert [kid, *kid_ends] == pytest.approx([0.0543, 0.0477, 0.0611], abs=1e-4)
    assert nm.fid_infinity(REAL, MADE) == pytest.approx(1.140, abs=1e-3)


def test_the_fid_of_the_distributions_is_what_the_page_says():
    """From 30,000 fresh rows, and the FID of the page's own rows is far from it."""
    mix, fresh = np.random.default_rng(20261127).normal(size=(64, 64)) / 8, np.random.default_rng(5)
    drawn = [np.maximum(fresh.normal(size=(30_000, 64)) @ mix * s + t, 0) for s, t in ((1.0, 0.0), (1.1, 0.1))]
    assert nm.fid_infinity(*drawn) == pytest.approx(1.096, abs=0.04)
    assert nm.fid(REAL, MADE) > 1.5


def test_resized_pictures_differ_by_what_the_page_says():
    like_tensorflow = peer("torch_fidelity.interpolate_compat_tensorflow").interpolate_bilinear_2d_like_tensorflow1x
    clean = peer("cleanfid.resize").build_resizer("clean")
    import torch
    from sklearn.datasets import load_sample_image

    image = load_sample_image("china.jpg")

    def resized(picture):
        tensor = torch.from_numpy(picture.transpose(2, 0, 1).copy())[None].float()
        pytorch = torch.nn.functional.interpolate(tensor, size=(299, 299), mode="bilinear", align_corners=False)
        found = pytorch, like_tensorflow(tensor, size=(299, 299), align_corners=False)
        return [*(z[0].permute(1, 2, 0).numpy() for z in found), clean(np.ascontiguousarray(picture))]

    pytorch, fidelity, antialiased = resized(image)
    assert np.abs(pytorch - fidelity).mean() == pytest.approx(6.9, abs=0.06)
    assert np.abs(antialiased - fidelity).mean() == pytest.approx(6.1, abs=0.06)
    pytorch, fidelity, _ = resized(image[150:182, 300:332])
    assert np.abs(pytorch - fidelity).mean() == pytest.approx(8.3, abs=0.06)


def test_dgm_evals_other_numbers(capsys, monkeypatch):
    metrics = peer("dgm_eval.metrics", "dgm-eval")
    realism = metrics.compute_prdc(REAL, MADE, nearest_k=3, realism=True)["realism"]
    assert nm.realism(REAL, MADE) == pytest.approx(realism, rel=1e-6)
    extrapolated = [metrics.compute_FD_infinity(REAL, MADE) for _ in range(8)]
    assert np.mean(extrapolated) == pytest.approx(1.29, abs=0.1) and np.ptp(extrapolated) > 0.01
    module = peers.imported("dgm_eval.metrics.ct")
    test = module.mannwhitneyu
    monkeypatch.setattr(module, "mannwhitneyu", lambda a, b, **rest: test(np.ravel(a), np.ravel(b), **rest))
    assert module.compute_CTscore(REAL[:1000], REAL[1000:], MADE) == pytest.approx(12.6, abs=0.2)
    assert nm.c_t(REAL[:1000], REAL[1000:], MADE) == pytest.approx(12.53, abs=0.1)


@pytest.mark.slow
def test_vendi_score_leaves_q_out():
    vendi = peer("vendi_score").vendi if hasattr(peer("vendi_score"), "vendi") else peer("vendi_score.vendi")
    rows = REAL.astype(float)
    assert vendi.score_X(rows, q=2) == pytest.approx(vendi.score_X(rows), rel=1e-9)
    assert vendi.score_dual(rows, q=2) == pytest.approx(8.47, abs=0.01)
