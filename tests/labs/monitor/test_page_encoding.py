"""One message holds a run of any length: it is bounded, and what stands out is in it."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbmetrics.labs.monitor import page_encoding as packing
from nbmetrics.labs.monitor.history import RunHistory
from nbmetrics.labs.monitor.log_events import Point, Segment
from nbmetrics.labs.monitor.page_encoding import encode_history, select_steps

FID = {"name": "fid", "label": "FID", "higher_is_better": False, "best": None, "kind": "fid", "mixes": False}
KID = {**FID, "name": "kid", "label": "KID", "kind": "kid", "mixes": True}


def run(steps, clients):
    rng = np.random.default_rng(0)
    segment = Segment.of([f"c{i}" for i in range(clients)], [1 / clients] * clients, [FID, KID], 0, {})
    scores, of_all = rng.normal(size=(steps, 2, clients)).astype(np.float32), rng.normal(size=(steps, 2))
    points = [
        Point(segment, t, 0.0, {"d": 1.0, "g": float(-t)}, 9, scores[t], of_all[t], ({}, {})) for t in range(steps)
    ]
    return RunHistory([segment], points, None)


def numbers(text):
    return np.frombuffer(base64.b64decode(text), "<f8")


@pytest.mark.parametrize(("most", "clients", "is_whole"), [(2**30, 3, True), (40_000, 3, False), (40_000, 90, False)])
def test_a_message_is_bounded_whatever_the_run_and_says_what_it_leaves_out(monkeypatch, most, clients, is_whole):
    monkeypatch.setattr(packing, "MAX_MESSAGE_BYTES", most)
    history, kept = run(500, clients), [123, 321]
    found = encode_history(history, kept=kept)
    assert is_whole or len(json.dumps(found)) < most * 4 / 3 + 1_000
    lines = [found["lines"][name] for name in ("fid", "kid")]
    for line, of_run in zip(lines, history.lines.values(), strict=True):
        steps = numbers(line["steps"]).astype(int)
        assert {0, 499, *kept} <= set(steps) and (np.diff(steps) > 0).all() and is_whole == (len(steps) == 500)
        for part in ("avg", "all", "gap"):
            np.testing.assert_array_equal(numbers(line[part]), getattr(of_run, part)[steps])
        sent = np.frombuffer(base64.b64decode(line["clients"]), "<f4").reshape(-1, clients)
        np.testing.assert_allclose(sent, of_run.clients[steps])
    series = [found["losses"][name]["steps"] for name in ("d", "g")]
    sent = {step for part in (*(line["steps"] for line in lines), *series) for step in numbers(part)}
    assert found["left_out"] == 500 - len(sent) and is_whole == (not found["left_out"])


curves = st.lists(st.floats(width=32), min_size=3, max_size=200).map(np.array)


@given(curves, st.floats(0.01, 1.0))
def test_what_stands_out_is_kept(curve, share):
    steps = np.arange(len(curve))
    places = select_steps(steps, (curve,), share)
    assert set(places) <= set(steps) and {0, len(curve) - 1} <= set(places)
    assert len(places) <= max(2, share * len(curve) + 1) or share == 1.0
    finite = curve[np.isfinite(curve)]
    if len(places) > 2 and len(finite) == len(curve):
        assert curve.max() in curve[places] and curve.min() in curve[places]
    elif len(places) > 2:
        assert not np.isfinite(curve[places]).all()
