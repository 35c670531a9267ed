"""The tests of what changed: `python -m tests.changed` names them, one a line, for `make check`.

Changed is what differs from the commit where this branch left BASE (main, unless the environment names another), and
what git does not know yet. Tests in a browser, which take longer, are not among them.
"""

import os
import subprocess
from pathlib import PurePosixPath

from tests import ROOT

ALWAYS = ["tests/test_rooms.py"]
# What is tested elsewhere than its name says.
ELSEWHERE = {
    "README.md": ["tests/test_readme.py"],
    "docs/teaching.md": ["tests/test_teaching.py"],
    "notebooks": [f"tests/test_{about}.py" for about in ("boxes", "exercises", "notebooks", "teaching")],
    "tests/golden": ["tests/test_golden.py"],
    "website": ["tests/test_website.py"],
    "binder": ["tests/test_binder.py"],
    "binder/jupyter_server_config.py": ["tests/test_server_config.py"],
}


def git(*words):
    run = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return run.stdout.split("\n")[:-1] if run.returncode == 0 else None


def changed(base):
    """Paths under the root that differ from where HEAD left `base`; from HEAD where there is no such branch."""
    left = git("merge-base", "HEAD", base) or ["HEAD"]
    return [*(git("diff", "--name-only", *left) or []), *(git("ls-files", "--others", "--exclude-standard") or [])]


def there(pattern):
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))


def tests_of(path):
    """The test files and folders of one changed file."""
    path = PurePosixPath(path)
    for place in (path, *path.parents):
        if str(place) in ELSEWHERE:
            return ELSEWHERE[str(place)]
    if path.parts[:2] == ("tests", "browser"):
        return []
    if path.parts[0] == "tests" and path.suffix == ".py":
        own = path if path.name.startswith("test_") else path.parent
        return there(str(own)) if len(own.parts) > 1 else []
    return _of_module(path.relative_to("nbmetrics")) if path.parts[0] == "nbmetrics" else []


def _of_module(path):
    """From the module's own tests to those of its room, whichever are there first."""
    for part in (path.with_suffix(""), *path.parents[:-1]):
        folder = PurePosixPath("tests") / part
        found = there(str(folder)) or there(f"{folder.parent}/test_{folder.name}*.py")
        if found:
            return found
    return []


def selected(paths):
    """Test paths for pytest, in order, none inside another."""
    found = {test for path in paths for test in tests_of(path)}
    inside = {test for test in found if any(str(above) in found for above in PurePosixPath(test).parents)}
    return [*ALWAYS, *sorted(found - inside - set(ALWAYS))]


if __name__ == "__main__":
    print(*selected(changed(os.environ.get("BASE") or "main")), sep="\n")
