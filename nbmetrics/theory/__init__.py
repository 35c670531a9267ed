"""The papers' theorems as functions that return both sides: what avg and all have to do with each other.

A federation holds laws or rows, a generator is either; rows count as `evaluate` counts them (ddof 1, unbiased KID).
Two claims are wrong as printed: FID-avg is not the FID to the barycenter plus a constant (`fid_avg_bound`), and the
papers' twin generators do not score alike (`printed_twin`; `twin` mends them).
"""

from .aggregates import (
    ConditionalOrder,
    Sides,
    conditional_order,
    convexity,
    fid_all_identity,
    kid_gap,
    kid_gap_identity,
    linearity,
)
from .barycenter import AvgBound, Minimizers, barycenter, barycenter_residual, fid_avg_bound, minimizers
from .twins import NoTwin, Twin, printed_twin, twin, twin_differences

__all__ = ["AvgBound", "ConditionalOrder", "Minimizers", "NoTwin", "Sides", "Twin", "barycenter"]
__all__ += ["barycenter_residual", "conditional_order", "convexity", "fid_all_identity", "fid_avg_bound", "kid_gap"]
__all__ += ["kid_gap_identity", "linearity", "minimizers", "printed_twin", "twin", "twin_differences"]
