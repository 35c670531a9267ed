"""The page's functions run in Node on what Python gives them; NaN and infinities travel as the words "nan", "inf"."""

import json
import math

import numpy as np

from tests import ROOT
from tests.node import ran

VIEW = ROOT / "nbmetrics/labs/dashboard/view"
WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
READ = """
const words = { nan: NaN, inf: Infinity, "-inf": -Infinity };
const given = JSON.parse(readFileSync(0, "utf-8"), (_, value) => words[value] ?? value);
const columns = (rows) => rows && rows[0].map((_, g) => Float64Array.from(rows, (row) => row[g]));
const say = (result) => console.log(JSON.stringify(result, (_, value) => typeof value !== "number" ||
  Number.isFinite(value) ? value : Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf"));
"""


def worded(value):
    """The same as JSON can hold it."""
    if isinstance(value, dict):
        return {key: worded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [worded(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return worded(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def unworded(value):
    if isinstance(value, dict):
        return {key: unworded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [unworded(part) for part in value]
    return WORDS.get(value, value) if isinstance(value, str) else value


def said(module, names, line, given):
    """What `say(…)` in the line says, with the names imported from the module."""
    head = f'import {{ readFileSync }} from "node:fs"; import {{ {names} }} from "{(VIEW / module).as_uri()}";'
    return unworded(json.loads(ran(head + READ + line, given=json.dumps(worded(given)))))
