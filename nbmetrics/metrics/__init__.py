"""Every metric is three functions (see `base`); one family a file, one line a name here."""

from .base import Metric, Sample, metric_of, register
from .conditional import CFID, JFID, MFID, RFID
from .frechet import FID
from .kernel import KID
from .likelihood import FLD, LogLikelihood

register({"fid": FID, "kid": KID, "fld": FLD, "log_likelihood": LogLikelihood})
register({"mfid": MFID, "rfid": RFID, "cfid": CFID})

__all__ = ["CFID", "FID", "FLD", "JFID", "KID", "MFID", "RFID"]
__all__ += ["LogLikelihood", "Metric", "Sample", "metric_of", "register"]
