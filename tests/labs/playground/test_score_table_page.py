"""The sentence under the page's table and that of `Scores.summary` name the same disagreement of avg and all."""

import json
import re

import numpy as np

from tests import ROOT
from tests.evaluation.test_scores import given_scores
from tests.node import needs_node, ran

# (what avg says, what all says) as the two sides write it; None stands for "cannot tell".
PAGE = r"avg (?:ranks (\w+) above|(cannot tell) \w+ from) \w+, all (?:ranks (\w+) above|(cannot tell))"
PAGE_TIED = r"all (cannot tell) \w+ from \w+, avg ranks (\w+) above"
PYTHON = r"avg prefers (\w+)(), all prefers (\w+)"


def cases(rng, count=60):
    """Scores of two generators, now and then tied on one side."""
    for _ in range(count):
        avg, pooled = rng.uniform(1, 2, 2), rng.uniform(1, 2, 2)
        kind = rng.integers(4)
        if kind == 0:
            avg[1] = avg[0]
        elif kind == 1:
            pooled[1] = pooled[0]
        yield avg.tolist(), pooled.tolist(), bool(rng.integers(2))


def verdict(avg, pooled, higher):
    """Who is preferred by avg and by all, by plain comparison."""
    sign = -1 if higher else 1
    orders = [np.sign(sign * (first - second)) for first, second in (avg, pooled)]
    if orders[0] == orders[1]:
        return "alike"
    return tuple({-1: "g0", 1: "g1", 0: None}[int(order)] for order in orders)


def read(sentence):
    """The verdict that a sentence states."""
    if "alike" in sentence:
        return "alike"
    if found := re.search(PAGE_TIED, sentence):
        return found[2], None
    if found := re.search(PAGE, sentence) or re.search(PYTHON, sentence):
        return found[1], found[3]
    raise AssertionError(sentence)


@needs_node
def test_page_and_python_name_the_same_disagreement():
    given = list(cases(np.random.default_rng(0)))
    module = (ROOT / "nbmetrics/labs/playground/view/score_table.js").as_uri()
    script = (
        f'import {{ sentences }} from "{module}";'
        "const said = JSON.parse(process.argv[1]).map(([avg, all, higher]) =>"
        ' sentences("M", { avg, all }, ["g0", "g1"], higher)[0].text);'
        "console.log(JSON.stringify(said));"
    )
    page = json.loads(ran(script, json.dumps(given)))
    wanted = [verdict(*case) for case in given]
    assert {"alike", ("g0", "g1"), ("g0", None), (None, "g1")} <= set(wanted)
    for case, sentence, expected in zip(given, page, wanted, strict=True):
        avg, pooled, higher = case
        scores, _ = given_scores([[value] for value in avg], pooled, higher_is_better=higher)
        assert read(sentence) == expected and read(scores.summary()[0]) == expected, (sentence, scores.summary())
