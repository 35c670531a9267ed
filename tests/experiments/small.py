"""Arguments with which every experiment runs in a fraction of a second and still says something."""

import numpy as np

import nbmetrics as nm

RNG = np.random.default_rng(0)
LABELLED = {"X": RNG.normal(size=(48, 3)) + np.repeat(3 * np.eye(3), 16, axis=0), "y": np.repeat(list("abc"), 16)}
SETS = tuple(nm.TwoMoons().sample(90, k) for k in range(3))
PICTURES = dict(zip(("train", "test", "generated"), np.split(RNG.random((150, 4, 4)), [60, 100]), strict=True))
FEATURES = {name: images.reshape(-1, 16)[:, :3] for name, images in PICTURES.items()}
TINY = RNG.integers(0, 256, (60, 4, 4), dtype=np.uint8)
SMALL = {
    "gaussian_toy": {"v": (0.5, 1), "samples": 20},
    "likelihood_toy": {"v": (1, 2), "shift": (0, 1)},
    "gaussian_samples": {"points": 5},
    "class_federated": LABELLED | {"noise": (0, 0.5), "classes": 2},
    "extractors_compared": {"extractors": ("pixels", "principal components"), "noise": 0.2, "per_class": 8},
    "single_class": LABELLED | {"label": "a"},
    "published_ranks": LABELLED | {"parts": 2},
    "variance_limited": LABELLED | {"scale": (0.5, 1), "neighbors": 3, "starts": 2},
    "truncation": {"psi": (0.2, 0.5), "clients": 4, "dim": 2},
    "neighbors_federated": LABELLED | {"k": 2, "neighbors": 3, "noise": (0, 0.5)},
    "transport_federated": LABELLED | {"noise": (0, 0.5)},
    "twin_generators": {"clients": 3, "dim": 3},
    "mode_collapse": {"runs": 1, "rows": 4},
    "checkpoints": {"rows": 4},
    "moons_density": {"copies": 5, "points": 20},
    "copied_width": {"moved": (0.01, 1), "points": 30, "copies": 3},
    "bandwidth_sweep": {"bandwidth": (0.1, 0.5), "sizes": (90, 90, 150)},
    "copycat": {"data": SETS},
    "transforms": {"share": (0, 1), "names": ("rotate", "crop"), **PICTURES},
    "diversity": {"classes": 1, "copies": 2, "labels": np.arange(50) % 3, "repeats": 2, **FEATURES},
    "ranked_samples": {"copies": 2},
    "novelty": {"share": (0, 1), "data": SETS},
    "interactions": {"fidelity": (0, 1), "diversity": (1, 0.5), "novelty": (0, 0.5), "data": SETS},
    "sample_size": {"test_size": (10, 20), "repeats": 2, **FEATURES},
    "generated_size": {"size": (10, 20), "repeats": 2, **FEATURES},
    "published_models": {},
    "timing": {"train_rows": 20, "dim": 2, "others": 100, "repeats": 1},
    "correlation_contours": {"rho": (0, 0.5), "rho_hat": (0, 0.5)},
    "condition_scale": {"alpha": (0.5, 1)},
    "covariance_estimators": {"n": (3, 5), "draws": 10},
    "paired_unpaired": {"images": TINY, "extractors": "pixels", "components": 1},
    "published_conditional": {},
    "kid_estimators": {"n": (8, 16), "draws": 3, "subsets": 2, "size": 4},
}
