"""Copy code: it runs, and shows the same scene again, whatever the names are; that of the page is the same text."""

import pandas as pd
import pytest

import nbmetrics as nm
from tests.labs.dashboard.page import said
from tests.labs.toolkit.common import COMPARED, NAMES, compared
from tests.node import needs_node
from tests.slow import slow

NAMED = [*NAMES, "back\\slash \"\"\" '''", "{x} %s \\u0041", "W" * 300]


def rows():
    """Of exact distributions, under names that break out of careless code."""
    federation = nm.Federation([nm.Client(nm.Gaussian([k, 0]), name=name) for k, name in enumerate(NAMED)])
    generators = {name[::-1]: nm.Gaussian([0, k]) for k, name in enumerate(NAMED)}
    given = {"federation": federation, "generators": generators}
    return nm.Dashboard(federation, generators, "fid"), given


def table():
    frame = pd.DataFrame({name: [0.1, 0.2] for name in NAMED}, index=NAMED[:2])
    return nm.Dashboard.from_table(frame, label=f'A "score" {NAMES[2]}', higher_is_better=True), {"table": frame}


def small():
    given: dict = {}
    exec(COMPARED, given)
    return compared(), given


def opening_of(lab):
    """Python that opens the lab's share string, as the page writes it."""
    given = {"making": lab.board["code"], "text": lab.share()}
    return said("../../toolkit/view/schema.js", "openingOf", "say(openingOf(given.making, given.text));", given)


def shown_by(code, given):
    made = dict(given)
    exec(code, made)
    made["lab"].wait()
    made["lab"].close()
    return {key: part for key, part in made["lab"].scene.items() if key != "rev"}, made["lab"].board["metrics"]


@needs_node
@pytest.mark.parametrize("make", [*slow(rows), table, small])
def test_the_code_shows_the_scene_again(make):
    lab, given = make()
    lab.wait()
    clients, generators = ([client["name"] for client in lab.board["clients"]], lab.scene["generators"])
    chosen = {"client": clients[0], "generator": generators[-1], "held": clients[1:2], "by": "worst"}
    weights = [0.1 + 0.2, 1e-7, *[1.0] * (len(clients) - 2)]
    lab.scene = {**lab.scene, **chosen, "weights": weights, "generators": generators[1:], "colour": "raw"}
    wanted = {key: part for key, part in lab.scene.items() if key != "rev"}, lab.board["metrics"]
    assert shown_by(lab.to_code(), given) == wanted
    assert shown_by(opening_of(lab), given) == wanted
    lab.close()
