"""The command `nbmetrics`: scores, features, experiments and the cache from a shell.

    nbmetrics score CLIENTS GENERATED…      nbmetrics features FOLDER --out FILE
    nbmetrics verify REPORT CLIENTS GENERATED…
    nbmetrics summarize ROWS --out FILE     nbmetrics inspect FILE
    nbmetrics aggregate SUMMARIES… --generators FILES…
    nbmetrics experiments NAME              nbmetrics cache info|clear

Exit codes: 0 done, 1 what was found could not be written, 2 bad input (one line on stderr says what and the fix), 3 the
data give other numbers than the report, 130 interrupted. What was asked for stands on stdout; progress, warnings and
files that could not be read on stderr.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from ..errors import InvalidInput, printable
from .options import REFUSED, parser

DONE, UNWRITTEN, INTERRUPTED = 0, 1, 130
MAX_LINE_LETTERS = 2000
# Commands of federation.py; the others are in commands.py.
FEDERATED = {"summarize", "aggregate", "inspect"}
# Of a disk that is full, and of a stream that cannot be written.
FULL = {errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG, errno.EDQUOT}
# Arguments that a command takes without the name of an option.
POSITIONAL = {"clients", "generated", "rows", "summaries", "summary", "folder", "report"}
# What Python calls otherwise than a shell.
IN_A_SHELL = {
    "nm.federated.client_summary made": "nbmetrics summarize wrote",
    "KID(nm.RandomFeatures(nm.RBF(sigma), 1024))": "kid with --sigma",
    "KID with nm.RandomFeatures": "kid with --sigma",
    "Privacy(…, clip=C)": "--clip",
    "with a clip": "with --clip",
    "nm.extract(images, extractor) with the clients' extractor": (
        "nbmetrics features FOLDER --extractor NAME --out FILE.npy, with the sites' extractor"
    ),
    "leave privacy out": "leave --epsilon out",
    "name the same metrics, with the same settings": "name the same --metrics, with the same --sigma and --count",
    "privacy=": "--epsilon",
    "with privacy": "with --epsilon",
    "min_rows=": "--min-rows ",
    "min_rows": "--min-rows",
}
# Settings of Python that a refusal proposes.
_SETTING = re.compile(r"\b(download=True|reveal_rows=True|extractor='[\w-]+')")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command of the arguments and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if sys.stdout is None:
        print("error: stdout is closed. Leave it open, or redirect it to a file", file=sys.stderr)
        return UNWRITTEN
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that has no λ shows a question mark
            stream.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _print_warning
            code = _run(words)
            sys.stdout.flush()
            return code
    except KeyboardInterrupt as stop:
        print("interrupted", *getattr(stop, "__notes__", ()), sep="\n", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # what reads the output has seen enough, as `head` does
        _forget_output()
        return DONE
    except OSError as error:
        if error.errno not in FULL:
            raise
        _forget_output()
        print(f"error: the output cannot be written: {error.strerror}", file=sys.stderr)
        return UNWRITTEN


def _forget_output() -> None:
    """Send what is left in the buffer nowhere, so that it fails at no other place."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(words: list[str]) -> int:
    if words[:1] == ["experiments"]:
        from ..experiments.__main__ import main as experiments

        return experiments(words[1:], "nbmetrics experiments")
    options = parser().parse_args(words)
    try:
        module = import_module(f".{'federation' if options.command in FEDERATED else 'commands'}", __package__)
        return int(getattr(module, f"run_{options.command}")(options) or DONE)
    except InvalidInput as error:
        print(f"error: {_refusal(error, vars(options))}", file=sys.stderr)
        return REFUSED


def _print_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    print(f"warning: {_in_words_of_a_shell(printable(str(message), MAX_LINE_LETTERS))}", file=sys.stderr)


def _refusal(error: InvalidInput, options: Mapping[str, Any]) -> str:
    """Return the refusal with options where a call of Python has arguments."""
    name = error.argument
    if name in options:
        name = name.upper() if name in POSITIONAL else f"--{name.replace('_', '-')}"
    elif name == "privacy":
        name = "--epsilon"
    return f"{name}: {_in_words_of_a_shell(f'{error.seen}. {error.fix}')}"


def _in_words_of_a_shell(text: str) -> str:
    text = _SETTING.sub(_as_option, text)
    for python, shell in IN_A_SHELL.items():
        text = text.replace(python, shell)
    return text


def _as_option(setting: re.Match[str]) -> str:
    name, value = setting[0].split("=")
    return f"--{name.replace('_', '-')}" if value == "True" else f"--{name} {value.strip(chr(39))}"
