"""MemorizationLab without a browser: its scenes, and what it must show of copies."""

import base64
import json
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

import nbmetrics as nm
from nbmetrics.figures.drawing import Drawing
from nbmetrics.labs.memorization.cards import CARDS
from nbmetrics.labs.memorization.scene import MemorizationScene, presets
from nbmetrics.labs.memorization.study import spread_of, study_of
from nbmetrics.labs.memorization.sweeps import SWEPT, curve, heat_maps
from tests.labs.inside import answer, picture_of, scene_of, send, words_of
from tests.metrics.test_fld import DEGENERATE, peers, rows
from tests.slow import by_default, slow
from tests.waiting import until

PLANTED = 50
COPY_SETS = ("copy2", "copy32", "copyshift16")


def move(lab, **changes):
    lab.scene = {**lab.scene, **changes, "rev": lab.scene["rev"] + 1}
    return until(lambda: lab.result["rev"] == lab.scene["rev"] and lab.result)


def interval(test, generators):
    table = nm.evaluate([nm.Client(test)], generators, "fid", uncertainty=nm.Bootstrap(seed=0), progress=False).table
    return table.set_index("generator")[["all", "all_low", "all_high"]]


class TestScene:
    @pytest.mark.parametrize("name", presets())
    def test_a_scene_survives_json(self, name):
        scene = presets()[name]
        assert MemorizationScene.parse(json.dumps(scene.to_json())) == scene
        assert scene.at(7).rev == 7 and scene.at(7).bare == scene.bare

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"data": "circles"}, "data"),
            ({"copied": 1.5}, "copied"),
            ({"jitter": -1}, "jitter"),
            ({"bandwidth": float("nan")}, "bandwidth"),
            ({"spread": 0}, "spread"),
            ({"points": 19}, "points"),
            ({"points": 1001}, "points"),
            ({"points": 30.5}, "points"),
            ({"seed": -1}, "seed"),
            ({"seed": 2**31 + 1}, "seed: .*from 0 to"),
            ({"selected": -1}, "selected"),
            ({"selected": 1.5}, "selected"),
            ({"view": {"panel": "map"}}, r"view\.panel"),
            ({"view": "cards"}, "view"),
            ({"lesson": {"name": "notice"}}, "lesson"),
            ({"lesson": {"name": "notice", "guess": {"kid": 1}, "revealed": False}}, r"lesson\.guess"),
            ({"preset": 3}, "preset"),
            ({"colour": "red"}, "scene"),
            ({"data": "own", "copied": 0.5}, "copied"),
        ],
    )
    def test_bad_fields_are_named(self, change, field):
        with pytest.raises(nm.InvalidInput, match=f"^{field}"):
            MemorizationScene.parse(change)

    def test_a_chosen_point_that_is_gone_is_chosen_no_more(self):
        scene = MemorizationScene.parse({"points": 100, "selected": 95})
        fewer = MemorizationScene.parse({**scene.to_json(), "points": 80})
        assert scene.selected == 95 and fewer.selected is None and fewer.points == 80

    def test_a_growing_share_adds_copies_one_by_one(self):
        study = study_of("moons", 40, 0)
        before = np.zeros(40, bool)
        for k in range(41):
            copies = study.copies(MemorizationScene(copied=k / 40, points=40))
            assert copies.sum() == k and not (before & ~copies).any()
            before = copies

    def test_more_points_leave_those_that_are_there(self):
        few, many = study_of("moons", 50, 3), study_of("moons", 60, 3)
        for name in ("train", "test", "fresh"):
            assert (getattr(few, name) == getattr(many, name)[:50]).all()


class TestGenerated:
    def test_copies_are_train_rows_and_the_others_are_not(self):
        for data, points in (("moons", 200), ("digits", 200), ("digits", 1000)):
            study = study_of(data, points, 0)
            scene = MemorizationScene(data=data, copied=0.3, points=points)
            made, copies = study.generated(scene), study.copies(scene)
            train = set(map(bytes, study.train))
            assert [bytes(row) in train for row in made] == copies.tolist()

    def test_digits_share_no_image_and_honest_ones_are_images(self):
        for points in (20, 449, 450, 1000):
            study = study_of("digits", points, 1)
            parts = [study.train, study.test, study.fresh]
            assert len(study.fresh) == len(study.test) == min(points, 449) == len(study.train) // 2
            assert len(study.redrawn(0)) == len(study.fresh)
            known = {bytes(row) for row in nm.experiments.digits()[0]}
            found = [bytes(row) for part in parts for row in part]
            assert set(found) <= known and len(set(found)) == len(found)

    @pytest.mark.parametrize("name", ["Half copied", "Digits: shrunk ×0.8"])
    def test_the_pages_arithmetic_is_pythons_projected(self, name):
        scene = replace(presets()[name], points=60, jitter=0.02, copied=0.4, bandwidth=0.3, spread=0.7)
        study = study_of(scene.data, 60, 0)
        base = {k: np.array(v) for k, v in json.loads(json.dumps(study.base())).items() if isinstance(v, list)}
        rows = base["train"][base["kde"]] + scene.bandwidth * base["kde_noise"]
        copied = base["train"][base["partner"]] + scene.jitter * base["noise"]
        rows = np.where((base["rank"] < round(scene.copied * 60))[:, None], copied, rows)
        rows = rows.mean(axis=0) + scene.spread * (rows - rows.mean(axis=0))
        np.testing.assert_allclose(rows, study.flat(study.generated(scene)), atol=1e-12)

    def test_a_bump_in_the_picture_is_the_bump_projected(self):
        for data in ("moons", "digits"):
            study = study_of(data, 60, 0)
            found = study.judgement_of(MemorizationScene(data=data, points=60)).fitted
            turned = np.eye(study.dim)[:, :2]
            drawn = np.sqrt(np.asarray(found.sigma) ** 2 @ turned**2)
            np.testing.assert_allclose(np.sqrt(found.variance)[:, None] * study.base()["bump"], drawn)


class TestOutcomes:
    def test_the_copycat_is_perfect_by_fid_train_and_the_worst_by_fld(self, memo_lab):
        tables = {name: memo_lab(preset=name).scores() for name, s in presets().items() if s.data == "moons"}
        fld = {name: table.loc["fld", "value"] for name, table in tables.items()}
        fid = {name: table.loc["fid_train", "value"] for name, table in tables.items()}
        assert max(fld, key=fld.get) == "Copycat" and min(fid, key=fid.get) == "Copycat"
        assert abs(fid["Copycat"]) < 1e-9 and fld["Copycat"] > 1e6
        assert tables["Copycat"].loc["auth_pct", "value"] == 0 and tables["Copycat"].loc["c_t", "value"] < -5
        assert tables["Copycat"].loc["recall", "value"] > 0.9

    def test_shrinking_digits_is_the_blind_spot(self, memo_lab):
        table = memo_lab(preset="Digits: shrunk ×0.8").scores()
        assert table.loc["fld", "value"] < table.loc["fld", "honest"] - 2
        assert table.loc["recall", "value"] < table.loc["recall", "honest"] - 0.05

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", [0, 1])
    def test_below_the_best_bandwidth_fld_rises_and_fid_test_stays(self, seed):
        scene = MemorizationScene(points=1000, seed=seed)
        study = study_of("moons", 1000, seed)
        widths = (1e-4, 1e-3, 0.01, 0.02, 0.05, 0.1, 0.3)
        made = {h: study.generated(replace(scene, bandwidth=h)) for h in widths}
        fld = {h: study.judge.cards(x)["fld"] for h, x in made.items()}
        best = min(fld, key=fld.get)
        assert 0.02 <= best <= 0.1
        below = [h for h in widths if h < best]
        assert fld[below[0]] > fld[best] + 50 and [fld[h] for h in below] == sorted(fld[h] for h in below)[::-1]
        fid = interval(study.test, {f"{h}": x for h, x in made.items()})
        best_low, best_high = fid.loc[f"{best}", ["all_low", "all_high"]]
        assert all(best_low <= fid.loc[f"{h}", "all"] <= best_high for h in below)

    @pytest.mark.slow
    def test_planted_digits_are_found(self, memo_lab):
        study = study_of("digits", 1000, 0)
        train, test, fresh = (study.features(x) for x in (study.train, study.test, study.fresh))
        fresh = np.concatenate([fresh, study.features(study.redrawn(0))[: 2 * PLANTED]])
        rng = np.random.default_rng(0)
        exact, near = np.split(rng.permutation(len(train))[: 2 * PLANTED], 2)
        made = fresh.copy()
        made[:PLANTED] = train[exact]
        made[PLANTED : 2 * PLANTED] = train[near] + 1e-3 * rng.standard_normal(train[near].shape)
        lab = memo_lab(train, test, made)
        found = lab.most_memorized(len(made)).set_index("generated")
        top = found[found["rank"] <= 2 * PLANTED]
        planted = np.arange(PLANTED)
        assert top.index.isin(planted).sum() == PLANTED
        assert top.index.isin(planted + PLANTED).sum() >= 0.95 * PLANTED
        assert found.loc[2 * PLANTED :, "memorization"].max() < found.loc[planted, "memorization"].min()
        assert (found.loc[planted, "train"] == exact).all() and (found.loc[planted, "distance"] == 0).all()
        self.the_gap_flags_and_fid_test_does_not(lab, test, fresh, made)

    def the_gap_flags_and_fid_test_does_not(self, lab, test, fresh, made):
        noise = until(lambda: lab.result["noise"])
        result = lab.result
        assert result["comparable"]["fld_gap"] < result["honest"]["fld_gap"] - 10 * noise["fld_gap"]
        fid = interval(test, {"honest": fresh, "planted": made})
        low, high = fid.loc["honest", ["all_low", "all_high"]]
        assert abs(fid.loc["planted", "all"] - fid.loc["honest", "all"]) < high - low

    @pytest.mark.parametrize("name", COPY_SETS)
    @pytest.mark.parametrize("generated", by_default(["fresh", "half_copied", "copied"], "half_copied"))
    def test_golden_sets_score_as_the_authors_do(self, memo_lab, name, generated):
        z = rows(name)
        cards = memo_lab(z["train"], z["test"], z[generated]).result["cards"]
        theirs = peers(name, generated)
        for key, ours in (("fld_test", "fld"), ("fld_train", "fld_train"), ("fld_gap", "fld_gap")):
            mean = theirs[key]["mean"]
            if abs(mean) > DEGENERATE and abs(theirs["fld_test"]["mean"]) > DEGENERATE:
                assert np.sign(cards[ours]) == np.sign(mean)
            else:
                allowed = max(3 * theirs[key]["sd_over_8_shuffles"] + 1.5, 0.03 * abs(mean))
                assert abs(cards[ours] - mean) <= allowed, key

    def test_the_cards_are_the_packages_own_scores(self, memo_lab):
        z = rows("copy2")
        train, test, made = z["train"], z["test"], z["half_copied"]
        lab = memo_lab(train, test, made)
        overlap = nm.prdc(test, made)
        expected = {
            "fld": nm.fld(train, test, made),
            "fld_gap": nm.fld_gap(train, test, made),
            "fid_train": nm.fid(train, made),
            "fid_test": nm.fid(test, made),
            "c_t": nm.c_t(train, test, made),
            "auth_pct": nm.auth_pct(train, made),
            "precision": overlap.precision,
            "recall": overlap.recall,
        }
        assert {k: lab.result["cards"][k] for k in expected} == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert lab.result["memorization"] == pytest.approx(nm.memorization_scores(train, test, made).tolist())
        assert lab.result["quality"] == pytest.approx(nm.quality_scores(train, test, made).tolist())
        distance, nearest = (found[:, 0] for found in NearestNeighbors(n_neighbors=1).fit(train).kneighbors(made))
        assert lab.result["distance"] == pytest.approx(distance.tolist(), abs=1e-9)
        assert lab.result["nearest"] == nearest.tolist()


class TestLab:
    def test_the_newest_scene_is_answered_and_the_base_follows(self, memo_lab):
        lab = memo_lab(points=60)
        for step in range(20):
            lab.scene = {**lab.scene, "copied": step / 20, "rev": lab.scene["rev"] + 1}
        result = move(lab, copied=1.0)
        assert result["cards"]["auth_pct"] == 0
        assert lab.base["key"] == "moons 60 0"
        move(lab, points=70, data="digits")
        assert lab.base["key"] == "digits 70 0" and len(lab.base["fresh"]) == len(lab.result["memorization"]) == 70

    @pytest.mark.threads
    def test_what_a_thread_writes_while_the_page_writes_is_not_lost(self, memo_lab):
        lab, seen, over, before = memo_lab(points=30), [], threading.Event(), sys.getswitchinterval()
        lab.observe(lambda change: seen.append(lab.curve["at"]), "curve")

        def page():
            while not over.is_set():
                lab.set_state({"history": {**lab.history, "future": [dict(lab.scene)] * (len(seen) % 2)}})

        thread = threading.Thread(target=page)
        sys.setswitchinterval(1e-6)
        try:
            thread.start()
            for k in range(5000):
                lab._write(curve={"at": k})
        finally:
            sys.setswitchinterval(before)
            over.set()
            thread.join()
        assert seen == list(range(5000))

    def test_a_scene_asked_and_then_committed_is_answered_once(self, memo_lab):
        lab, seen = memo_lab(points=30), []
        until(lambda: lab.result["noise"])
        lab.observe(lambda change: seen.append(change["new"]["rev"]), "result")
        scene = {**lab.scene, "copied": 0.5, "rev": 1}
        answer(lab, MemorizationScene.parse(scene))
        answer(lab, MemorizationScene.parse(scene))
        assert seen == [1]
        answer(lab, MemorizationScene.parse({**scene, "copied": 0.2}))
        assert seen == [1, 1] and lab.result["cards"] != lab.result["honest"]

    def test_noise_that_became_known_meanwhile_is_not_left_out(self, memo_lab):
        lab = memo_lab(points=30)
        noise = until(lambda: lab.result["noise"])
        lab.result = {**lab.result, "noise": None}
        lab._add_noise()
        assert lab.result["noise"] == noise
        lab.result = {**lab.result, "noise": None, "key": "moons 40 0"}
        lab._add_noise()
        assert lab.result["noise"] is None

    def test_fewer_digits_than_asked_for_are_told(self, memo_lab):
        assert "are generated" not in memo_lab(data="digits", points=449).base["about"]
        lab = memo_lab(data="digits", points=900)
        assert lab.base["sizes"] == {"train": 898, "test": 449, "generated": 449}
        assert "; 449 are generated, half as many as train" in lab.base["about"]

    def test_fld_of_honest_digits_is_about_0(self):
        honest = [study_of("digits", 400, seed).reference[0]["fld"] for seed in range(3)]
        assert abs(np.mean(honest)) < 2.5  # −8 with as many digits generated as train

    def test_a_collapsed_density_has_no_gap(self, memo_lab):
        lab = memo_lab(data="digits", copied=1, points=60)
        assert lab.result["cards"]["fld"] > 1e10 and lab.result["cards"]["fld_gap"] is None
        assert "neither train nor test is likely" in lab.result["missing"]["fld_gap"]
        assert memo_lab(copied=1, points=60).result["cards"]["fld_gap"] < -300

    def test_what_only_the_page_minds_is_not_computed_again(self, memo_lab):
        lab = memo_lab(points=60)
        known = lab._judgement_of(scene_of(lab))
        move(lab, selected=3, view={"panel": "items"})
        assert lab._judgement_of(scene_of(lab)) is known
        move(lab, copied=0.5)
        assert lab._judgement_of(scene_of(lab)) is not known

    @pytest.mark.threads
    def test_the_noise_of_honest_generators_comes_after_and_stays(self, memo_lab):
        lab = memo_lab(points=100)
        assert lab.result["noise"] is None
        noise = until(lambda: lab.result["noise"])
        assert set(noise) == set(CARDS) and 0 < noise["fld"] < 20
        assert move(lab, copied=0.5)["noise"] == noise

    def test_the_curve_comes_value_by_value_and_the_newest_wins(self, memo_lab):
        lab = memo_lab(points=60)
        seen = []
        lab.observe(lambda change: seen.append(change["new"]), "curve")
        for key, sweep in (("first", "bandwidth"), ("second", "copied")):
            scene = {**lab.scene, "view": {"sweep": sweep}}
            send(lab, {"kind": "curve", "scene": scene, "key": key})
        found = until(lambda: lab.curve.get("done") == 1 and lab.curve["key"] == "second" and lab.curve)
        assert found["parameter"] == "copied" and found["values"] == sorted(map(float, SWEPT["copied"]))
        fld = found["metrics"]["fld"]
        assert None not in fld and fld[-1] == max(fld) and fld[0] == pytest.approx(lab.result["cards"]["fld"])
        assert seen[-1] is found and sum(part["key"] == "second" for part in seen) == len(found["values"])

    @pytest.mark.slow
    def test_fid_test_sleeps_through_the_curve_that_wakes_fld(self):
        study = study_of("moons", 400, 0)
        *_, found = curve(study, MemorizationScene())
        noise = spread_of([study.honest_cards(k) for k in range(6)])
        values = {name: np.array(found["metrics"][name]) for name in ("fld", "fid_test")}
        moved = {name: np.abs(v - v[0]) > 3 * noise[name] for name, v in values.items()}
        assert moved["fld"][found["values"].index(0.5)] and not moved["fid_test"].any()

    @pytest.mark.parametrize("data", ["moons", "digits"])
    def test_the_heat_maps_are_the_experiments_faces(self, memo_lab, data):
        lab = memo_lab(data=data, points=40)
        send(lab, {"kind": "interactions", "scene": lab.scene, "key": "k"})
        found = until(lambda: lab.interactions)
        assert found["key"] == "k" and json.loads(json.dumps(found)) == found
        for table in found["tables"]:
            assert np.shape(table["fld"]) == (len(table["ys"]), len(table["xs"])) and np.isfinite(table["fld"]).all()
        assert {table["x"] for table in found["tables"]} == {"diversity", "copied"}
        assert found["tables"][0]["fld"][0][0] == found["tables"][1]["fld"][0][0]

    def test_own_rows_make_heat_maps_too(self, memo_lab):
        lab = memo_lab(*(np.random.default_rng(k).standard_normal((40, 5)) for k in range(3)))
        assert len(heat_maps(lab._own)["tables"]) == 3

    def test_digits_come_as_pixels(self, memo_lab):
        lab = memo_lab(data="digits", points=40, copied=0.5)
        study, pictures = lab._study(scene_of(lab)), lab.pictures
        assert (pictures["width"], pictures["height"], pictures["channels"]) == (8, 8, 1)
        made = np.frombuffer(base64.b64decode(pictures["generated"]), np.uint8).reshape(40, 64)
        copies = study.copies(scene_of(lab))
        partners = study.train[study.chance.partner[copies]]
        np.testing.assert_array_equal(made[copies], np.round(255 * partners))
        move(lab, copied=1.0)
        assert lab.pictures["generated"] != pictures["generated"] and lab.pictures["train"] == pictures["train"]
        move(lab, data="moons")
        assert lab.pictures == {}

    def test_code_rebuilds_the_scene_and_its_scores(self, memo_lab, capsys):
        lab = memo_lab(data="digits", copied=1, jitter=0.001, bandwidth=0.5, spread=0.9, points=80, seed=3)
        space = {}
        exec(lab.to_code(), space)
        again = space["lab"]
        assert scene_of(again).bare == scene_of(lab).bare
        assert again.result["cards"] == pytest.approx(lab.result["cards"], rel=1e-12)
        again.close()

    def test_a_share_string_holds_the_state(self, memo_lab):
        lab = memo_lab(copied=0.25, points=60, seed=4)
        again = nm.MemorizationLab.from_share(lab.share())
        assert scene_of(again).bare == scene_of(lab).bare
        until(lambda: again.base == lab.base and again.result["cards"] == lab.result["cards"])
        again.close()

    def test_presets_undo_and_reset(self, memo_lab):
        lab = memo_lab(preset="Half copied")
        assert lab.scene["preset"] == "Half copied" and list(lab.presets) == list(presets())
        lab.from_share(memo_lab(copied=0.1).share())
        lab.undo()
        assert lab.scene["copied"] == 0.5
        assert memo_lab(copied=0.5).scene["preset"] == "Half copied"
        assert memo_lab(copied=0.45).scene["preset"] == "Your own"
        with pytest.raises(nm.InvalidInput, match=r"^preset.*Copycat"):
            nm.MemorizationLab(preset="Copy cat")

    @pytest.mark.parametrize("name", [*slow("Copycat"), "Digits: planted copies"])
    def test_it_is_drawn_and_described(self, memo_lab, name):
        lab = memo_lab(preset=name)
        assert isinstance(picture_of(lab), Drawing) and picture_of(lab)._repr_png_()[:4] == b"\x89PNG"
        assert name in words_of(lab) and "AuthPct" in words_of(lab)
