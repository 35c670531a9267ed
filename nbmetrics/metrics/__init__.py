"""Every metric is three functions (see `base`); one family a file, one line a name here."""

from .base import Metric, Sample, metric_of, register
from .frechet import FID
from .kernel import KID

register({"fid": FID, "kid": KID})

__all__ = ["FID", "KID", "Metric", "Sample", "metric_of", "register"]
