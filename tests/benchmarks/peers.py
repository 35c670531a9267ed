"""What the field runs: its own functions where they can be imported, their formulas written out where not."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import scipy.linalg

_KEPT: list = []


def imported(module: str):
    """A peer's module or None; beside a CPU-only torch, torchvision imports once two schemas are declared."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None
    except RuntimeError as error:
        if "torchvision::nms" not in str(error) or _KEPT:
            return None
    import torch

    _KEPT.append(torch.library.Library("torchvision", "DEF"))
    for name in ("nms", "qnms"):
        _KEPT[0].define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return imported(module)


def sqrtm_fid(mean, cov, mean_g, cov_g) -> float:
    """scipy.linalg.sqrtm of the product of covariances, as pytorch-fid, clean-fid and fld have it."""
    root = scipy.linalg.sqrtm(cov @ cov_g)
    shift = mean - mean_g
    return float(shift @ shift + np.trace(cov) + np.trace(cov_g) - 2 * np.trace(root.real))


def pytorch_fid():
    """The name and function of the matrix-root peer: (mean, cov, mean, cov) -> FID."""
    module = imported("pytorch_fid.fid_score")
    if module is None or tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18):
        return "sqrtm (pytorch-fid's formula)", sqrtm_fid

    def distance(*moments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return float(module.calculate_frechet_distance(*moments))

    return "pytorch-fid (sqrtm)", distance


def eigvals_fid(mean, cov, mean_g, cov_g) -> float:
    """Eigenvalues of the product of covariances, as torch-fidelity and torchmetrics have it."""
    shift = mean - mean_g
    cross = np.sqrt(np.linalg.eigvals(cov @ cov_g).astype(complex)).real.sum()
    return float(shift @ shift + np.trace(cov) + np.trace(cov_g) - 2 * cross)


def torch_fidelity_fid():
    """The name and function of the eigenvalue peer: (mean, cov, mean, cov) -> FID."""
    module = imported("torch_fidelity.metric_fid")
    if module is None:
        return "eigvals (torch-fidelity's formula)", eigvals_fid

    def distance(mean, cov, mean_g, cov_g):
        first, second = {"mu": mean, "sigma": cov}, {"mu": mean_g, "sigma": cov_g}
        found = module.fid_statistics_to_metric(first, second, verbose=False)
        return float(found[module.KEY_METRIC_FID])

    return "torch-fidelity (eigvals)", distance


def subset_kid(x, y, subsets=100, size=1000) -> float:
    """The mean of unbiased cubic MMD² over random subsets, as torch-fidelity has it."""
    rng, values = np.random.default_rng(0), []
    for _ in range(subsets):
        a, b = (z[rng.choice(len(z), size, replace=False)] for z in (x, y))
        kaa, kbb, kab = ((p @ q.T / x.shape[1] + 1) ** 3 for p, q in ((a, a), (b, b), (a, b)))
        own = sum(float(k.sum(dtype=float)) - float(np.trace(k)) for k in (kaa, kbb))
        values.append(own / (size * (size - 1)) - 2 * float(kab.mean(dtype=float)))
    return float(np.mean(values))


def torch_fidelity_kid():
    """The name and function of the subset peer: (rows, rows) -> KID over 100 subsets of 1,000."""
    module = imported("torch_fidelity.metric_kid")
    if module is None:
        return "100 x 1,000 subsets (torch-fidelity's formula)", subset_kid
    import torch

    def subsets(x, y):
        a, b = torch.from_numpy(x), torch.from_numpy(y)
        found = module.kid_features_to_metric(a, b, kid_subsets=100, kid_subset_size=1000, verbose=False)
        return float(found[module.KEY_METRIC_KID_MEAN])

    return "torch-fidelity (100 x 1,000 subsets)", subsets


def torchmetrics_mifid():
    """The name and function of the peer, (train, generated) -> MiFID, or None.

    It averages over the rows of its first side, and FID does not care which is which: it sees them exchanged.
    """
    module = imported("torchmetrics.image.mifid")
    if module is None:
        return None
    import torch

    def score(train, generated):
        sides = [torch.from_numpy(rows).double() for rows in (generated, train)]
        return float(module._mifid_compute(*(part for z in sides for part in (z.mean(0), torch.cov(z.T), z))))

    return "torchmetrics (its two sides exchanged)", score


def torch_fidelity_isc():
    """The name and function of the peer, (logits, splits, shuffle) -> Inception Score, or None."""
    module = imported("torch_fidelity.metric_isc")
    if module is None:
        return None
    import torch

    def score(logits, splits=1, shuffle=False):
        found = module.isc_features_to_metric(torch.from_numpy(logits), splits=splits, shuffle=shuffle)
        return float(found[module.KEY_METRIC_ISC_MEAN])

    return "torch-fidelity", score
