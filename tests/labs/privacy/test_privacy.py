"""PrivacyLab in Python: its study, its words against the draws, code, share, and the page's numbers in Node."""

import json
import re
from itertools import repeat

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.federated.noise_study import two_digits
from nbmetrics.labs.privacy import digits_study as made
from nbmetrics.labs.privacy.numbers import headline, nearest, numbers_of
from nbmetrics.labs.privacy.scene import PrivacyScene
from nbmetrics.labs.privacy.settings import Settings
from tests import ROOT
from tests.labs.inside import scene_of
from tests.node import needs_node, node

RNG = np.random.default_rng(3)
CLIENTS = {"a": RNG.normal(0, 1, size=(300, 2)), "b": RNG.normal(1, 1, size=(200, 2))}
GENERATORS = {
    "near": nm.Gaussian([0.5, 0.5], 1.3),
    "off": nm.Gaussian([0.7, 0.5], 1.3),
    "far": nm.Gaussian([2, 2], 1.0),
}
OWN = {"clip": 4.0, "epsilons": [0.05, 1.0, 50.0], "repeats": 6, "seed": 4}
METRICS = ["fid", nm.metrics.KID(nm.RandomFeatures(count=64))]


@pytest.fixture(scope="module")
def own():
    lab = nm.PrivacyLab(CLIENTS, GENERATORS, METRICS, **OWN)
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def lab():
    lab = nm.PrivacyLab()
    yield lab
    lab.close()


def scenes(lab):
    study = lab.study
    for metric in study["metrics"]:
        for aggregate in ("avg", "all"):
            for epsilon, run in ((0.001, 1), (0.7, 2), (3.0, 5), (1000.0, len(study["drawn"][0]))):
                yield PrivacyScene(epsilon, metric["name"], aggregate, run, study["of"])


def test_the_numbers_are_those_of_rank_survival(own):
    table = nm.federated.rank_survival(CLIENTS, GENERATORS, METRICS, **OWN)
    table = table.set_index(["epsilon", "metric", "aggregate"])
    assert own.table.equals(table.reset_index())
    for scene in scenes(own):
        found = numbers_of(own.study, scene)
        row = table.loc[(found["epsilon"], scene.metric, scene.aggregate)]
        pair, names = found["pair"], own.study["generators"]
        assert pair["kept"] / 6 == row["best_kept"] and pair["kept"] == found["first"][found["order"][0]]
        assert [pair["low"], pair["high"]] == pytest.approx([row["best_low"], row["best_high"]], rel=1e-6)
        assert pair["best"] == found["order"][0] and names[pair["rival"]] == row["rival"]
        assert pair["kept_if_reversed"] / 6 == row["kept_if_reversed"] and pair["survives"] == row["survives"]
        ends = [pair["reversed_low"], pair["reversed_high"]]
        assert ends == pytest.approx([row["reversed_low"], row["reversed_high"]], rel=1e-6)
        assert [pair["apart"], pair["moved"]] == [two_digits(row["difference"]), two_digits(row["difference_error"])]
        exact = own.scores().values(scene.metric)
        np.testing.assert_allclose(found["exact"], getattr(exact, scene.aggregate), rtol=1e-6)
        drawn = np.array(found["drawn"])
        assert found["shown"] == found["drawn"][scene.run - 1] and sum(found["first"]) == len(drawn) == 6
        assert np.mean(np.abs(drawn - found["exact"])) == pytest.approx(row["error"], rel=1e-4)
        ranks = [1 + sum(other < one for other in found["shown"]) for one in found["shown"]]
        assert found["places"] == ranks
        same = sum(np.array_equal(np.argsort(run), np.argsort(found["exact"])) for run in drawn)
        assert found["same"] == same
        assert found["survives"] == own.table.attrs["survives"][scene.metric, scene.aggregate]


def test_kid_is_of_1024_random_features():
    fid, kid = Settings().metric_objects()
    assert fid.name == "fid" and kid.label == nm.metrics.KID(nm.RandomFeatures(count=1024)).label


def test_the_nearest_epsilon_is_by_ratio():
    assert [nearest([0.1, 1.0, 100.0], e) for e in (0.001, 0.31, 0.32, 9.9, 10.1, 1000.0)] == [0, 0, 1, 1, 2, 2]


def test_the_default_study_is_bounded_without_looking_at_the_rows(lab):
    """Rows are pixels in [0, 1], and the clip is the farthest that such a row can be from the middle."""
    corner = np.linalg.norm(np.full(made.DIM, made.MIDDLE))
    assert lab.study["clip"] == made.FARTHEST == corner
    np.testing.assert_allclose(lab.study["clipped"], lab.study["exact"], atol=1e-6)
    assert sum(lab.scores().weights) == pytest.approx(1.0) and lab.study["of"] == "digits"


def test_the_guide_has_the_numbers_of_the_lab_as_it_opens(lab):
    """A run may flip where another machine rounds otherwise, two do not."""
    text = (ROOT / "docs/federated.md").read_text("utf-8")
    found = re.findall(r"^\| ([\d.]+) \| (\d+), (\d+) \| (\d+), (\d+) \| (\d+), (\d+) \|$", text, re.M)
    assert len(found) == 7
    for epsilon, *counts in found:
        fid, kid = lab.study["pairs"][lab.study["epsilons"].index(float(epsilon))]
        assert kid[0] == kid[1]
        there = [pair[part] for pair in (*fid, kid[0]) for part in ("kept", "kept_if_reversed")]
        assert np.abs(np.subtract(there, [int(count) for count in counts])).max() <= 1


def test_the_page_is_small_and_says_what_it_shows(lab, tmp_path):
    text = lab.export_html(tmp_path / "noise.html").read_text("utf-8")
    assert len(text) < 230_000 and "not private" in text
    named = {text.get_text() for text in lab._picture().legends[0].get_texts()}
    hatched = "hatched, open marks: the noise decides"
    assert named == {"bands: 95 % interval for the chance, at each ε", "avg", "all", hatched}
    assert headline(lab.result) in lab.snapshot().alt
    assert lab.snapshot().png.startswith(b"\x89PNG")


def test_the_page_that_opens_says_where_the_noise_decides(lab):
    """At ε = 3 it decides, at the least noise it does not."""
    assert re.search(r"At ε = 3 the noise is 2\d times the score, and decides who is first\.", lab._described())
    scene = PrivacyScene(100.0, "fid", "all")
    numbers = numbers_of(lab.study, scene)
    assert numbers["pair"]["survives"] and numbers["survives"] <= 100.0
    assert headline(numbers).endswith("; the best stays first in 20 of 20 runs.")
    for m in range(2):
        for p in range(2):
            for pairs in lab.study["pairs"]:
                least = min(pairs[m][p]["kept"], pairs[m][p]["kept_if_reversed"])
                assert not pairs[m][p]["survives"] or least >= 19


def test_the_noise_is_the_median_distance_from_the_true_score_of_the_best(lab):
    numbers = numbers_of(lab.study, scene_of(lab))
    best = numbers["order"][0]
    scores = np.array(numbers["drawn"])[:, best]
    expected = np.median(np.abs(scores - numbers["exact"][best])) / numbers["exact"][best]
    assert numbers["noise"] == pytest.approx(expected, rel=1e-12)
    assert 20 < numbers["noise"] < 30


def test_an_order_that_noise_makes_is_told_apart_from_one_that_clipping_makes():
    """Three clients, a generator too wide and one too narrow: noise prefers the wide one, a narrow clip the other."""
    rng = np.random.default_rng(0)
    clients = {f"s{k}": rng.normal(0, 1, (100, 16)) for k in range(3)}
    wide, _ = rng.normal(0, 1.15, (2000, 16)), rng.normal(0, 0.87, (2000, 16))
    generators = {"wide": wide, "narrow": rng.normal(0, 0.80, (2000, 16))}
    lab = nm.PrivacyLab(clients, generators, "fid", clip=12.0, epsilons=[0.1, 1.0, 30.0])
    lab.scene = {**lab.scene, "epsilon": 0.1, "rev": lab.scene["rev"] + 1}
    pair = lab.result["pair"]
    assert (pair["kept"], pair["kept_if_reversed"], pair["survives"], lab.result["survives"]) == (20, 0, False, None)
    assert re.search(r"At ε = 0\.1 the noise is [\d.]+ times the score, and decides who", lab._described())
    clipped = nm.PrivacyLab(clients, generators, "fid", clip=1.5, epsilons=[500.0, 1000.0], repeats=3)
    assert ", and with clipping it decides who is first." in clipped._described()
    for one in (lab, clipped):
        one.close()


@needs_node
def test_page_and_python_agree(lab, own, tmp_path):
    view = made.__file__.rpartition("/")[0] + "/view"
    cases = [{"study": one.study, "scene": scene.to_json()} for one in (lab, own) for scene in scenes(one)]
    asked = tmp_path / "asked.json"
    asked.write_text(json.dumps(cases), "utf-8")
    script = f"""
import {{ readFileSync }} from "node:fs";
import {{ numbersOf }} from "{view}/numbers.js";
import {{ headlineWords }} from "{view}/numbers.js";
const found = JSON.parse(readFileSync("{asked}", "utf8")).map(({{ study, scene }}) => {{
  const numbers = numbersOf(scene, {{ get: () => study }});
  return {{ numbers, words: headlineWords(numbers) }};
}});
console.log(JSON.stringify(found));
"""
    page = tmp_path / "page.mjs"
    page.write_text(script, "utf-8")
    found = json.loads(node(page))
    assert len(found) == len(cases) == 32
    for case, page in zip(cases, found, strict=True):
        scene = PrivacyScene.parse(case["scene"])
        assert page["numbers"] == numbers_of(case["study"], scene)
        assert page["words"] == headline(page["numbers"])


@needs_node
def test_words_where_the_best_survives_in_between_only(own, tmp_path):
    """Clipping alone may put another first, and then a middling ε keeps the best by luck."""
    pair = own.study["pairs"][0][0][0]
    study = {**own.study, "pairs": [[[{**pair, "survives": kept}] * 2] * 2 for kept in (False, True, False)]}
    view = made.__file__.rpartition("/")[0] + "/view"
    page = tmp_path / "page.mjs"
    page.write_text(
        f"""
import {{ numbersOf }} from "{view}/numbers.js";
import {{ survivalWords }} from "{view}/numbers.js";
const study = {json.dumps(study)};
console.log(survivalWords(study, numbersOf({json.dumps(own.scene)}, {{ get: () => study }})));
""",
        "utf-8",
    )
    said = node(page)
    assert said.startswith("Up to ε = 50 the noise decides: the order survives at none of these ε.")


def test_code_and_share_string_rebuild_the_scene(lab, own):
    lab.scene = {**lab.scene, "epsilon": 20.0, "metric": "kid", "run": 7, "rev": lab.scene["rev"] + 1}
    names: dict = {}
    exec(lab.to_code(), names)
    assert scene_of(names["lab"]).at(0) == scene_of(lab).at(0)
    again = nm.PrivacyLab.from_share(lab.share())
    assert scene_of(again).at(0) == scene_of(lab).at(0)
    lab.undo() if lab.history["past"] else lab.reset()
    names = {"nm": nm, "federation": CLIENTS, "generators": GENERATORS, "metrics": METRICS}
    exec(own.to_code(), names)
    assert names["lab"].study == own.study
    with pytest.raises(nm.InvalidInput, match="not its data"):
        nm.PrivacyLab.from_share(own.share())
    with pytest.raises(nm.InvalidInput, match="other data"):
        lab.from_share(own.share())
    for one in (again, names["lab"]):
        one.close()


def test_one_and_the_same_metric_object_is_named_in_the_code():
    kid = nm.metrics.KID(nm.RandomFeatures(nm.RBF(2.0), 64))
    options = {"clip": 4.0, "epsilons": [1, 10], "repeats": 2, "delta": 1e-6, "centre": [0.5, 0.5]}
    lab = nm.PrivacyLab(CLIENTS, GENERATORS, kid, **options, samples=np.int64(50))
    assert "federation, generators, metrics, centre" in lab.to_code() and "delta=1e-06" in lab.to_code()
    names = {"federation": CLIENTS, "generators": GENERATORS, "metrics": kid, "centre": [0.5, 0.5]}
    exec(lab.to_code(), names)
    assert names["lab"].study == lab.study
    for one in (lab, names["lab"]):
        one.close()


@pytest.mark.parametrize(
    ("arguments", "options", "argument"),
    [
        ((), {"clip": 3.0}, "clip"),
        ((), {"samples": 100}, "samples"),
        ((CLIENTS,), {"clip": 3.0}, "generators"),
        ((None, GENERATORS), {"clip": 3.0}, "federation"),
        ((CLIENTS, GENERATORS), {}, "clip"),
        ((CLIENTS, {"one": nm.Gaussian([0, 0])}), {"clip": 3.0}, "generators"),
        ((CLIENTS, GENERATORS), {"clip": 3.0, "epsilons": [1.0]}, "epsilons"),
        ((CLIENTS, GENERATORS), {"clip": 3.0, "epsilons": [1.0, 0.0]}, "epsilons"),
        ((CLIENTS, GENERATORS), {"clip": 3.0, "epsilons": [1.0, 2000.0]}, "epsilons"),
        ((CLIENTS, GENERATORS), {"clip": 3.0, "samples": 0}, "samples"),
        ((CLIENTS, GENERATORS), {"clip": 3.0, "delta": 0.9}, "delta"),
        ((CLIENTS, GENERATORS), {"clip": -3.0}, "clip"),
        ((CLIENTS, GENERATORS), {"clip": 3.0, "repeats": 1000, "epsilons": np.geomspace(0.1, 10, 50)}, "repeats"),
        ((CLIENTS, GENERATORS, "precision"), {"clip": 3.0}, "metrics"),
        ((CLIENTS, GENERATORS, "vendi"), {"clip": 3.0}, "metrics"),
        ((CLIENTS, GENERATORS, 3), {"clip": 3.0}, "metric"),
        ((CLIENTS, GENERATORS, repeat("fid")), {"clip": 3.0}, "metrics"),
    ],
)
def test_bad_input_is_refused_by_name(arguments, options, argument):
    with pytest.raises(nm.InvalidInput, match=f"^{argument}"):
        nm.PrivacyLab(*arguments, **options)


def test_scenes_that_the_study_lacks_are_refused(lab):
    for change, said in (({"run": 21}, "run"), ({"metric": "fld"}, "metric"), ({"of": "own"}, "data")):
        with pytest.raises(nm.InvalidInput, match=said):
            lab.scene = {**lab.scene, **change, "rev": lab.scene["rev"] + 1}
