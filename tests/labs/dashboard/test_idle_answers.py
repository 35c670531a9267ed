"""A Dashboard that knows all there is does nothing."""

import time

import numpy as np

import nbmetrics as nm
from tests.labs.inside import is_idle, study_of


def test_nothing_is_done_once_all_is_known(monkeypatch):
    rng = np.random.default_rng(0)
    lab = nm.Dashboard([rng.normal(size=(40, 3)) for _ in range(3)], {"g": nm.Gaussian(np.zeros(3))}, "fid")
    try:
        lab.wait()
        until = time.monotonic() + 30
        while not is_idle(lab) and time.monotonic() < until:
            time.sleep(0.01)
        study, asked = study_of(lab), []
        monkeypatch.setattr(study, "answer", lambda scene, answer=study.answer: asked.append(scene) or answer(scene))
        time.sleep(0.3)
        assert len(asked) <= 1  # the end itself may still be told
    finally:
        lab.close()
