"""Where labs work: the table of the README, written by the tests that prove each row.

    python -m tests.places             runs the tests marked `place`, slow ones too, and writes the table if all passed
    python -m tests.places A.xml …     the same from runs of `pytest -m place --junitxml=A.xml` that are over

A test says what it proves: @pytest.mark.place("Voila", shows="✓", drags="✓", python="✓"). A place has what all of its
tests together prove; one that no test names is not in the table. tests/test_places.py holds the table to the marks.
"""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from tests import ROOT

README = ROOT / "README.md"
TABLE = re.compile(r"(?<=<!-- places -->\n).*?(?=<!-- /places -->)", re.DOTALL)
COLUMNS = {"shows": "shows", "drags": "drags", "python": "Python answers", "reopens": "reopens as saved"}
UNTESTED = "VS Code, Colab"
# In the order of the table.
PLACES = (
    "JupyterLab",
    "Notebook",
    "Voila",
    "marimo",
    "A saved page in Chromium",
    "A saved page in Firefox",
    "HTML by nbconvert",
    "GitHub",
)
# The packages of those that this environment has; the tests of the others say what they found.
PACKAGES = {"JupyterLab": "jupyterlab", "Notebook": "notebook", "Voila": "voila", "HTML by nbconvert": "nbconvert"}
Claims = dict[str, dict[str, str]]


def claims() -> Claims:
    """What the marks in the tests say of each place, in the order of the table."""
    found: Claims = {}
    texts = (path.read_text("utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py")))
    for text in (text for text in texts if "mark.place" in text):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.place":
                said = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
                found.setdefault(ast.literal_eval(node.args[0]), {}).update(said)
    return {place: found[place] for place in sorted(found, key=PLACES.index)}


def run(report: Path) -> Path:
    """The report of a run of all tests marked `place`."""
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-m", "place", "-o", "timeout=3600", "--junitxml"]
    subprocess.run([*command, report, "tests/browser"], cwd=ROOT)
    return report


def proven(reports: list[Path]) -> tuple[Claims, dict[str, str]]:
    """(what the tests prove, the versions they say), from reports; ends here where one did not pass."""
    all_cases = [case for report in reports for case in ElementTree.parse(report).iter("testcase")]
    cases = {(case.get("classname"), case.get("name")): case for case in all_cases}.values()  # the last of each
    if left := [case.get("name") for case in cases if {part.tag for part in case} & {"failure", "error", "skipped"}]:
        sys.exit(f"The table is as it was: not all of its tests passed: {left}")
    found: Claims = {}
    versions = {place: importlib.metadata.version(name) for place, name in PACKAGES.items()}
    for case in cases:
        for word in case.iter("property"):
            kind, _, name = str(word.get("name")).partition(" ")
            if kind == "place":
                found.setdefault(name, {}).update(ast.literal_eval(str(word.get("value"))))
            elif kind == "version":
                versions[name] = str(word.get("value"))
    return found, versions


def table(said: Claims, versions: dict[str, str]) -> str:
    """The table in Markdown."""
    rows = [["where", *COLUMNS.values()], ["---"] * (1 + len(COLUMNS))]
    for place, columns in said.items():
        rows.append([f"{place} {versions.get(place, '')}".strip(), *(columns.get(name, "") for name in COLUMNS)])
    rows.append([UNTESTED, "not tested here", *[""] * (len(COLUMNS) - 1)])
    return "".join(f"|{'|'.join(row)}|\n" for row in rows)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found, versions = proven([Path(word) for word in sys.argv[1:]] or [run(Path(folder) / "report.xml")])
    wanted = claims()
    assert found == wanted, f"marks that no test bears: {wanted} is not {found}"
    README.write_text(TABLE.sub(lambda _: table(wanted, versions), README.read_text("utf-8")), "utf-8")
    print(table(wanted, versions))
