"""The Monitor's scene: what it refuses, and the code of it (the page's: tests/labs/toolkit/test_schema_page.py)."""

import pytest

import nbmetrics as nm
from nbmetrics.labs.monitor.scene import MonitorScene, making_of

SCENE = {"rev": 3, "preset": "As given", "metric": "fid", "weights": [0.2, 0.3], "shown": 400, "client": 'a "b"\n<i>'}
WRONG = [
    {"weights": []},
    {"weights": [0.0, 0.0]},
    {"weights": [1.0, "2"]},
    {"shown": "4"},
    {"client": 3},
    {"metric": None},
    {"strange": 1},
]


def test_a_wrong_scene_is_refused_by_name():
    assert MonitorScene.parse({**SCENE, "client": "a"}).to_json() == {**SCENE, "client": "a"}
    for wrong in WRONG:
        with pytest.raises(nm.InvalidInput, match=next(iter(wrong))):
            MonitorScene.parse({**SCENE, **wrong})


@pytest.mark.parametrize("shown", [400, None])
@pytest.mark.parametrize("kept", [True, False])
def test_the_code_shows_the_same_scene(shown, kept):
    scene = MonitorScene.parse({**SCENE, "shown": shown})
    lab = run_code(scene.to_code(making_of(["fid", "kid"], kept)))
    assert lab.given == (("p",) if kept else ("f", ["fid", "kid"]))
    assert MonitorScene.parse({**lab.scene, "rev": 3}) == scene


def run_code(code):
    """The Monitor that the code makes, where making one needs no run."""

    class Monitor:
        def __init__(self, *given):
            self.given = given

        open = classmethod(lambda cls, path: cls(path))

    names = {"federation": "f", "path": "p", "nm": type("nm", (), {"Monitor": Monitor})}
    exec(code.replace("import nbmetrics as nm", ""), names)
    return names["lab"]
