"""What one release wrote, in a folder of its own beside this file: every later release has to open it."""

import hashlib
import json
import math
import zipfile
from pathlib import Path

from tests.golden import FOLDER

ABOUT = "about.json"
# In the folder of a release that has all kinds of files; one made with --kept has what calls keep alone.
WHOLE = "data.json"


class Release:
    """The folder of one release."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def __repr__(self):
        return self.folder.name

    def path(self, name):
        """The path of a file in it."""
        return self.folder / name

    def read(self, name):
        """The value of a JSON file in it."""
        return json.loads(self.path(name).read_text("utf-8"))

    def write(self, name, value):
        """Write a value as a JSON file; numbers that JSON has not become text, which `number` reads."""
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(lines(plain(value)) + "\n", "utf-8")

    def pack(self, name, source):
        """Write all files of a folder, byte by byte, as a zip; the same files give the same zip."""
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(self.path(name), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
            for path in sorted(path for path in Path(source).rglob("*") if path.is_file()):
                entry = zipfile.ZipInfo(path.relative_to(source).as_posix())
                entry.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(entry, path.read_bytes())

    def sums(self):
        """The SHA-256 of each file in it but the one that has these, by its path."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file() and path.name != ABOUT)
        return {p.relative_to(self.folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}

    def unpack(self, name, target):
        """Unpack a zip in it into a new folder, and return that."""
        with zipfile.ZipFile(self.path(name)) as file:
            file.extractall(target)
        return Path(target)


def releases(part=WHOLE):
    """Those releases of which a file of this name is kept, the oldest first."""
    return [Release(path.parent) for path in sorted(FOLDER.glob(f"v*/{part}"))]


def lines(value):
    """JSON in which each part of a dict, and each item of its lists, has a line of its own."""
    if not isinstance(value, dict):
        return json.dumps(value, allow_nan=False)
    parts = []
    for key, part in value.items():
        items = [json.dumps(item, allow_nan=False) for item in (part if isinstance(part, list) else [part])]
        text = "[\n" + ",\n".join(items) + "\n]" if isinstance(part, list) else items[0]
        parts.append(f"{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}"


def plain(value):
    """The same as JSON has it, with text for NaN and infinities."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def number(value):
    """A number that `plain` may have made a text."""
    return math.nan if value is None else float(value)
