"""The paper has JOSS's form, cites what its bibliography has, and takes every number from a page that it names."""

import re

import pytest
import yaml

from tests import ROOT

PAPER = (ROOT / "paper/paper.md").read_text("utf-8")
_, HEAD, BODY = re.split(r"^---$", PAPER, maxsplit=2, flags=re.MULTILINE)
BIBLIOGRAPHY = (ROOT / "paper/paper.bib").read_text("utf-8")
ENTRIES = dict(re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", BIBLIOGRAPHY, re.MULTILINE | re.DOTALL))
SECTIONS = [
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Checks",
    "Research impact statement",
    "AI usage disclosure",
    "Acknowledgements",
    "References",
]
SOURCE = re.compile(r"<!-- source: (.+?) -->")
# A number of two digits and more, or with a decimal point; no names such as FID∞ and no years of citations.
NUMBER = re.compile(r"(?<![\w@.])(?:\d[\d,]*\.\d+|\d[\d,]*\d|\.\d+)(?![\w])")


def claims():
    """(text, pages) of what stands before each comment that names its source."""
    for paragraph in BODY.split("\n\n"):
        *parts, _ = SOURCE.split(paragraph)
        yield from zip(parts[::2], (pages.split(", ") for pages in parts[1::2]))


def fields(entry):
    return dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, re.MULTILINE))


def test_it_has_the_sections_and_the_length_that_joss_asks_for():
    assert re.findall(r"^# (.+)$", BODY, re.MULTILINE) == SECTIONS
    assert 750 <= len(SOURCE.sub("", BODY).split()) <= 1750
    head = yaml.safe_load(HEAD)
    assert head["bibliography"] == "paper.bib" and {"title", "tags", "authors", "affiliations", "date"} <= head.keys()


def test_what_is_cited_is_in_the_bibliography_and_the_other_way_round():
    assert set(re.findall(r"@(\w+)", BODY)) == set(ENTRIES)
    assert BIBLIOGRAPHY.count("\n@") + 1 == len(ENTRIES)


@pytest.mark.parametrize("key", ENTRIES)
def test_each_reference_has_an_address_that_agrees_with_itself(key):
    found = fields(ENTRIES[key])
    assert {"title", "author", "year"} <= found.keys() and found["year"] == re.search(r"\d{4}", key)[0]
    if "doi" in found:
        assert re.fullmatch(r"10\.\d{4,}/\S+", found["doi"])
    else:
        assert re.fullmatch(r"\d{4}\.\d{5}", found["eprint"]) and found["archivePrefix"] == "arXiv"
        assert found["url"] == f"https://arxiv.org/abs/{found['eprint']}"


def test_every_number_stands_on_the_page_that_is_named_beside_it():
    found = list(claims())
    assert len(found) > 8
    for text, pages in found:
        known = " ".join((ROOT / page).read_text("utf-8") for page in pages)
        lacking = [number for number in NUMBER.findall(text) if not re.search(rf"(?<![\d.]){re.escape(number)}", known)]
        assert not lacking, f"{pages} lack {lacking}"


def test_no_number_stands_without_a_source():
    rest = SOURCE.sub("", BODY)
    for text, _ in claims():
        rest = rest.replace(text, "")
    assert NUMBER.findall(re.sub(r"@\w+", "", rest)) == []


def test_references_of_the_papers_are_those_of_the_citation():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["references"]
    urls = {reference["url"].rpartition("/")[2]: reference["title"] for reference in cited if "url" in reference}
    titles = {fields(entry).get("eprint"): fields(entry)["title"] for entry in ENTRIES.values()}
    shared = urls.keys() & titles.keys()
    assert len(shared) >= 4
    assert all(re.sub(r"[{}]", "", titles[key]).lower() == urls[key].lower() for key in shared)
