"""The README is short and shows what it must; the Python in it and in the guides runs as printed."""

import re

import numpy as np
import pytest
import yaml

import nbmetrics as nm
from tests import ROOT
from tests.drawn_images import drawn, save

README = (ROOT / "README.md").read_text("utf-8")
METRICS = (ROOT / "docs/metrics.md").read_text("utf-8")
# Pages of which the blocks follow one another and run as they stand.
RUN = (
    "README.md",
    "docs/metrics.md",
    "docs/intervals.md",
    "docs/index.md",
    "docs/method.md",
    "docs/race.md",
    *(f"docs/howto/{p.name}" for p in (ROOT / "docs/howto").glob("*.md")),
)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
LONGEST = 900  # words
SCREEN = 24  # lines of text that one sees before one scrolls


def block_with(words):
    return next(block for block in PYTHON.findall(METRICS) if words in block)


@pytest.mark.parametrize("page", RUN)
def test_every_python_block_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k, folder in enumerate(("hospitals/north", "hospitals/south", "ddpm", "gan")):
        save(tmp_path / folder, drawn(30, k, (8, 8)))
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 3))
    names = {"real_rows": rows, "more_rows": rows + 2, "generated_rows": rows + 1}
    names |= {"rows_a": rows, "rows_b": rows + 2, "made": rows + 1, "others": rows[::2]}
    names["dataset"] = nm.images(drawn(100, 9, (8, 8)), labels=np.arange(100) % 5)
    blocks = PYTHON.findall((ROOT / page).read_text("utf-8"))
    assert blocks or page == "docs/howto/add_a_lab.md"
    for block in blocks:
        exec(block, names)
        names |= {"clients": [rows, rows + 1], "generators": {"g": rows + 2}}


def test_it_is_short_and_its_first_screen_has_the_picture_and_the_commands():
    assert len(README.split()) <= LONGEST
    screen = "\n".join(README.splitlines()[:SCREEN])
    assert re.search(r"!\[[^]]{50,}\]\(docs/images/[\w-]+\.webp\)", screen)
    assert "make lab " in screen and "make test " in screen and "nm.evaluate(" in screen


def test_default_weights_are_what_it_says():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    assert "weighs by its number of rows** (distributions equally)" in " ".join(README.split())
    assert nm.Federation([rows[:10], rows[10:]]).weights == (0.25, 0.75)
    assert nm.Federation([nm.Gaussian(0.0), nm.Gaussian(1.0), nm.Gaussian(2.0)]).weights == pytest.approx([1 / 3] * 3)
    scores = nm.evaluate([rows[:10], rows[10:] + 1], {"g": rows}, "fid")
    assert scores.with_weights([1, 1]).table["avg"][0] == pytest.approx(scores.clients["value"].mean())


def test_recipes_beyond_images_show_what_they_say_and_tell_what_nobody_ran():
    page, names = (ROOT / "docs/beyond_images.md").read_text("utf-8"), {}
    for block in PYTHON.findall(page):
        exec(block, names)
    assert set(re.findall(r"```(\w+)\n", page)) == {"python", "py"}
    assert all(block.startswith("# not run here: needs ") for block in re.findall(r"```py\n(.*?)```", page, re.DOTALL))
    for recipe, metric in (("audio", "fid_infinity"), ("text", "kid"), ("text", "recall")):
        assert set(names[recipe].ranks(metric).query("avg == 1")["generator"]) == {"both"}
    wine = names["table"].table.set_index(["metric", "generator"])
    assert wine["avg"]["fid", "near copies"] < wine["avg"]["fid", "one normal"]
    assert wine["avg"]["precision", "near copies"] > wine["avg"]["precision", "one normal"]
    assert wine["all"]["auth_pct", "near copies"] == 0 and wine["all"]["auth_pct", "one normal"] == pytest.approx(
        84, abs=2
    )
    assert [(client.name, len(client.rows)) for client in names["hospitals"]] == [("lyon", 150), ("turin", 250)]
    assert (names["cells"].heterogeneity("fid")["p"] <= 0.05).all()


def test_its_papers_are_those_of_the_citation():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["references"]
    by_title = {reference["title"]: reference for reference in cited}
    named = re.findall(r"^- \*(.+)\*: ((?:.|\n  )+?),\s+\[arXiv:\S+\]\((\S+)\)", README, re.MULTILINE)
    assert len(named) >= 3
    for title, authors, url in named:
        reference = by_title[title]
        listed = [f"{author['given-names']} {author['family-names']}" for author in reference["authors"]]
        assert (" ".join(authors.split()).split(", "), url) == (listed, reference["url"])


def test_each_speed_says_whether_it_was_measured():
    rows = [line for line in README.splitlines() if re.match(r"\|.*\d (s|h)[, ]", line)]
    assert len(rows) >= 2
    assert all(len(re.findall(r"\((?:measured|extrapolated\b[^)]*)\)", row)) == 2 for row in rows)
    table = (ROOT / "docs/speed.md").read_text("utf-8")
    multiplied = [line for line in table.splitlines() if re.search(r", × [\d,]+ \|", line)]
    assert multiplied and all(line.endswith("| extrapolated |") for line in multiplied)


def test_avg_and_all_prefer_what_the_guide_says():
    names = {}
    exec(block_with("avg prefers narrow, all prefers wide").split("nm.fid(")[0], names)
    found = names["scores"].inversions("fid").iloc[0]
    assert (found["avg_prefers"], found["all_prefers"]) == ("narrow", "wide")


def test_a_federated_score_is_what_its_page_says():
    page = (ROOT / "docs/howto/read_a_federated_score.md").read_text("utf-8")
    names = {}
    exec(PYTHON.findall(page)[0], names)
    scores = names["scores"]
    shown = [line.removeprefix("# ") for line in page.splitlines() if line.startswith("# ") and "   " in line]
    assert shown == scores.table.round(1).to_string().replace("-0.0", "0.0").splitlines()
    assert scores.inversions("fid")["avg_prefers"].tolist() == ["narrow"]
    assert scores.ranks("kid")[["avg", "all"]].to_numpy().tolist() == [[2, 2], [1, 1]]
    found = scores.heterogeneity("fid").set_index("generator").loc["narrow"]
    assert "here 0.1 of `narrow`'s 2.6" in page and found.round(1)[["shuffled", "gap"]].tolist() == [0.1, 2.6]
    told = scores.ledger.groupby(["metric", "aggregate"])["reveals"].first()
    assert (told["fid", "avg"], told["fid", "all"]) == ("one number per generator", "mean and covariance")


def test_the_metric_of_the_guide_gives_what_it_says():
    rng = np.random.default_rng(1)
    clients, generated = [rng.normal(size=(n, 2)) for n in (20, 60)], rng.normal(size=(30, 2))
    names = {"nm": nm, "clients": clients, "generators": {"g": generated}}
    exec(block_with("class MeanShift").replace("nm.evaluate", "found = nm.evaluate"), names)
    row = names["found"].table.query("metric == 'mean_shift'").iloc[0]
    shifts = [np.sum((c.mean(axis=0) - generated.mean(axis=0)) ** 2) for c in clients]
    pooled = (np.concatenate(clients).mean(axis=0) - generated.mean(axis=0)) ** 2
    np.testing.assert_allclose(
        [row["avg"], row["all"]], [0.25 * shifts[0] + 0.75 * shifts[1], pooled.sum()], rtol=1e-12
    )
