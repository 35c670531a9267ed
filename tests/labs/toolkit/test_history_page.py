"""history.js and Python go back and forth alike, whatever is done in whatever order."""

import json
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from nbmetrics.errors import InvalidInput
from nbmetrics.labs.toolkit.history import History
from tests import ROOT
from tests.node import needs_node, ran

# More edits than are kept for undo.
MORE = 150
PAGE = """
const steps = JSON.parse(process.argv[1]);
let [history, scene, seen] = [{ past: [], future: [] }, { rev: 0 }, []];
for (const step of steps) {
  const travelled = step === "undo" ? undoEdit(history, scene) : step === "redo" ? redoEdit(history, scene) : null;
  if (travelled) ({ history, scene } = travelled);
  else if (typeof step === "number") [history, scene] = [recordEdit(history, scene), { rev: step }];
  seen.push([scene.rev, history.past.map((s) => s.rev), history.future.map((s) => s.rev)]);
}
console.log(JSON.stringify(seen));
"""


@dataclass(frozen=True)
class Numbered:
    rev: int

    def at(self, rev):
        return replace(self, rev=rev)


def followed(steps):
    """[present, past, future] after each step, in Python."""
    history, scene, seen = History(), Numbered(0), []
    for step in steps:
        if isinstance(step, int):
            history, scene = history.record(scene), Numbered(step)
        else:
            with suppress(InvalidInput):  # nothing to undo, or to redo
                history, scene = getattr(history, step)(scene)
        seen.append([scene.rev, [s.rev for s in history.past], [s.rev for s in history.future]])
    return seen


@needs_node
def test_page_and_python_travel_alike():
    rng = np.random.default_rng(0)
    steps = [k if rng.random() < 0.5 else str(rng.choice(["undo", "redo"])) for k in range(1, 200)]
    steps += [*range(200, 200 + MORE), *["undo"] * 30, *["redo"] * 12]
    module = (ROOT / "nbmetrics/labs/toolkit/view/store.js").as_uri()
    script = f'import {{ recordEdit, redoEdit, undoEdit }} from "{module}";{PAGE}'
    found = json.loads(ran(script, json.dumps(steps)))
    assert found == followed(steps)
    assert 30 < max(len(past) for _, past, _ in found) < MORE and any(future for _, _, future in found)
