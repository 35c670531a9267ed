"""nbmetrics: what FID, KID, FLD and CFID say averaged over clients, on pooled data, and where the two disagree.

Names are resolved when first used: importing the package imports neither torch, matplotlib, pandas nor widgets.
"""

from importlib import import_module as _import
from typing import Any as _Any

__version__ = "0.2.0"

_ROOMS = {
    "errors": ["InvalidInput"],
    "plugins": ["PluginWarning"],
    "arrays": ["set_memory_limit"],
    "summaries.stream": ["Stream"],
    "summaries.reference": ["Moments"],
    "distributions": ["Gaussian", "Mixture", "Empirical"],
    "densities": ["KernelDensity", "TwoMoons"],
    "metrics.conditional": ["cfid", "rfid", "mfid", "jfid", "FewPairsWarning"],
    "metrics.copying": ["auth_pct", "c_t"],
    "metrics.prdc": ["prdc"],
    "metrics.realism": ["realism"],
    "metrics.mifid": ["mifid"],
    "metrics.diversity": ["vendi", "rke", "rrke"],
    "metrics.inception_score": ["inception_score", "am_score"],
    "metrics.w1": ["w1"],
    "metrics.fid.metric": ["fid"],
    "metrics.fid.infinity": ["fid_infinity"],
    "metrics.kid.metric": ["kid"],
    "metrics.kid.cmmd": ["cmmd"],
    "metrics.fld": ["fld", "fld_gap", "memorization_scores", "quality_scores"],
    "metrics.kid.kernels": ["RBF"],
    "metrics.kid.polynomial": ["Polynomial"],
    "metrics.kid.random_features": ["RandomFeatures"],
    "metrics.kid.estimators": ["Subsets"],
    "evaluation.influence": ["Influence"],
    "evaluation.resampling": ["Bootstrap", "Jackknife"],
    "federation": ["Client", "Generator", "Federation", "UnreadWarning"],
    "evaluation.evaluate": ["evaluate", "BiasWarning"],
    "evaluation.scores": ["Scores"],
    "evaluation.race": ["race"],
    "evaluation.two_sample": ["two_sample"],
    "evaluation.race_result": ["Race"],
    "theory.best_mixture": ["best_mixture"],
    "features.images": ["Images", "images"],
    "features.extract": ["extract"],
    "features.extractors": ["extractors"],
    "features.cache": ["cache"],
    "scene": ["Scene"],
    "labs.playground.lessons": ["lessons"],
    "labs.playground.answers": ["collect_answers"],
    "labs": ["Playground", "CorrelationLab", "TwinsLab", "MemorizationLab", "Dashboard", "Monitor", "PrivacyLab"],
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}
_MODULES = ("metrics", "scene", "theory", "experiments", "figures", "datasets", "training", "federated")
# Of no `import *`, which would put it in the place of torch itself.
_UNLISTED = ("torch",)

__all__ = ["__version__", *_HOME, *_MODULES]


def __getattr__(name: str) -> _Any:
    if name in _HOME:
        value = getattr(_import(f".{_HOME[name]}", __name__), name)
    elif name in _MODULES or name in _UNLISTED:
        value = _import(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
