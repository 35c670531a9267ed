"""The papers' theorems as functions that return both sides: what avg and all have to do with each other.

A federation holds distributions or rows, a generator is either; rows count as `evaluate` counts them (ddof 1, unbiased
KID). Five claims are wrong as printed. Two are at the root: FID-avg is not the FID to the barycenter plus a constant
(`fid_avg_bound`), and the papers' twin generators do not score alike (`printed_twin`; `twin` mends them). Three follow
from these: the gap's constant (`printed_gap`; `fid_gap_identity` mends it), an order (`printed_order`) and a bound
(`printed_twin_bound`).

Numbers are those of Wang et al., arXiv 2310.11714: Theorem 1 is KID's, Theorem 2 FID's. Their submission, which has
them the other way round, is named where it is meant.
"""

from .aggregates import (
    ConditionalOrder,
    Sides,
    conditional_order,
    convexity,
    fid_all_identity,
    fid_gap_identity,
    kid_gap,
    kid_gap_identity,
    linearity,
)
from .barycenter import AvgBound, Minimizers, barycenter, barycenter_residual, fid_avg_bound, minimizers
from .collapse import Collapse, collapse
from .intra import intra_convexity, kid_intra_identity
from .printed import printed_gap, printed_order, printed_twin_bound
from .twins import NoTwin, Twin, printed_twin, twin, twin_differences

__all__ = ["AvgBound", "Collapse", "ConditionalOrder", "Minimizers", "NoTwin", "Sides", "Twin", "barycenter"]
__all__ += ["barycenter_residual", "collapse", "conditional_order", "convexity", "fid_all_identity", "fid_avg_bound"]
__all__ += ["fid_gap_identity", "intra_convexity", "kid_gap", "kid_gap_identity", "kid_intra_identity", "linearity"]
__all__ += [
    "minimizers",
    "printed_gap",
    "printed_order",
    "printed_twin",
    "printed_twin_bound",
    "twin",
    "twin_differences",
]


def __dir__() -> list[str]:
    return sorted(__all__)
