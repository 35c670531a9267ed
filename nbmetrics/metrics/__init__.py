"""Every metric is three functions (see `base`); one family a file, one line a name here."""

from .base import Metric, Sample, metric_of, register
from .conditional import CFID, JFID, MFID, RFID
from .copying import CT, AuthPct
from .diversity import RKE, RRKE, Vendi
from .fid.infinity import FIDInfinity
from .fid.metric import FID
from .fld import FLD
from .inception_score import AMScore, InceptionScore
from .kid.cmmd import CMMD
from .kid.metric import KID
from .log_likelihood import LogLikelihood
from .mifid import MiFID
from .modes import Modes
from .prdc import Coverage, Density, Precision, Recall
from .w1 import W1

register({"fid": FID, "fid_infinity": FIDInfinity, "kid": KID, "fld": FLD, "mfid": MFID, "rfid": RFID, "cfid": CFID})
register({"log_likelihood": LogLikelihood, "auth_pct": AuthPct, "c_t": CT, "w1": W1})
register({"precision": Precision, "recall": Recall, "density": Density, "coverage": Coverage})
register({"mifid": MiFID, "cmmd": CMMD, "vendi": Vendi, "rke": RKE, "rrke": RRKE, "inception_score": InceptionScore})
register({"am_score": AMScore})

__all__ = ["CFID", "CT", "FID", "FLD", "JFID", "KID", "MFID", "RFID", "W1", "AuthPct", "Coverage", "Density"]
__all__ += ["AMScore", "CMMD", "FIDInfinity", "InceptionScore", "MiFID", "RKE", "RRKE", "Vendi"]
__all__ += ["LogLikelihood", "Metric", "Modes", "Precision", "Recall", "Sample", "metric_of", "register"]


def __dir__() -> list[str]:
    return sorted(__all__)
