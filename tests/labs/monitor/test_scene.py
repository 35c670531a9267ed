"""The Monitor's scene: what it refuses, in Python and in the page, and the code of it that both write."""

import json

import pytest

import nbmetrics as nm
from nbmetrics.labs.monitor.scene import MonitorScene, making_of
from tests import ROOT
from tests.node import needs_node, ran

VIEW = ROOT / "nbmetrics/labs/monitor/view"
SCENE = {"rev": 3, "preset": "As given", "metric": "fid", "weights": [0.2, 0.3], "shown": 400, "client": 'a "b"\n<i>'}
RUN = {"clients": ["c", 'a "b"\n<i>'], "metrics": [{"name": "fid"}, {"name": "kid"}], "kept": False}
WRONG = [
    {"weights": []},
    {"weights": [0.0, 0.0]},
    {"weights": [1.0, "2"]},
    {"shown": "4"},
    {"client": 3},
    {"metric": None},
    {"strange": 1},
]


def in_page(line, given):
    """What the page's function says of a JSON value."""
    code = f"""
      import {{ readFileSync }} from "node:fs";
      import {{ whySceneRefused }} from "{(VIEW / "shape.js").as_uri()}";
      import {{ monitorCode }} from "{(VIEW / "code.js").as_uri()}";
      const given = JSON.parse(readFileSync(0, "utf-8"));
      const model = {{ get: () => given.run }};
      console.log(JSON.stringify({line}));"""
    return json.loads(ran(code, given=json.dumps(given)))


@needs_node
def test_python_and_the_page_refuse_the_same_scenes():
    refused = in_page(
        "given.scenes.map((scene) => whySceneRefused(scene, model))",
        {"run": RUN, "scenes": [SCENE, {**SCENE, "shown": None}, *({**SCENE, **wrong} for wrong in WRONG)]},
    )
    assert [bool(why) for why in refused] == [False, False, *(True for _ in WRONG)]
    assert MonitorScene.parse({**SCENE, "client": "a"}).to_json() == {**SCENE, "client": "a"}
    for wrong in WRONG:
        with pytest.raises(nm.InvalidInput, match=next(iter(wrong))):
            MonitorScene.parse({**SCENE, **wrong})


@needs_node
@pytest.mark.parametrize("shown", [400, None])
@pytest.mark.parametrize("kept", [True, False])
def test_python_and_the_page_write_code_that_shows_the_same_scene(shown, kept):
    given = {**SCENE, "shown": shown}
    scene, run = MonitorScene.parse(given), {**RUN, "kept": kept}
    page = in_page("monitorCode(given.scene, given.run)", {"scene": given, "run": run})
    for code in (scene.to_code(making_of(["fid", "kid"], kept)), page):
        lab = run_code(code)
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
