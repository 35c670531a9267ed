"""`python -m nbmetrics.experiments NAME --out figure.png --csv table.csv`: one experiment from a shell."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import experiments, figures
from ..errors import InvalidInput, check_choice
from ..theory import NoTwin

PICTURES = (".png", ".svg", ".pdf")


def main(argv: list[str] | None = None, prog: str = "python -m nbmetrics.experiments") -> int:
    """Run what the arguments say; 0, or 2 after an error in them."""
    about = f"One figure or table of the papers: {prog} NAME --out figure.png --csv table.csv"
    parser = argparse.ArgumentParser(prog=prog, description=about)
    parser.add_argument("name", nargs="?", help="the experiment's name or id, such as gaussian_toy or E1")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument("--out", metavar="FIGURE", help="write the figure: .png, .svg or .pdf")
    parser.add_argument("--csv", metavar="TABLE", help="write the table")
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="an argument of the experiment, the value as JSON: --set seed=1 --set 'v=[0,1,2]'; may be repeated",
    )
    options = parser.parse_args(argv)
    if options.list or options.name is None:
        print(experiments.titles()[["id", "name", "title"]].to_string(index=False, justify="left"))
        return 0
    try:
        _run(options)
    except (InvalidInput, NoTwin) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _run(options: Any) -> None:
    experiment = _experiment(options.name)
    arguments = _arguments(experiment, options.set)
    _check_files(options)
    table = experiment(**arguments)
    if options.csv:
        _write("--csv", options.csv, lambda path: table.to_csv(path, index=False))
    if options.out:
        figure = figures.draw(table)
        _write("--out", options.out, lambda path: figure.savefig(path, dpi=144))
    if not options.csv and not options.out:
        print(table.to_string(index=False))


def _check_files(options: Any) -> None:
    """Raise InvalidInput where a file may not be written, before anything is computed."""
    for name, path in (("--out", options.out), ("--csv", options.csv)):
        if path is None:
            continue
        if not path or Path(path).is_dir():
            raise InvalidInput(name, f"got {path!r}, which names no file", "Name the file to write")
        if not Path(path).resolve().parent.is_dir():
            raise InvalidInput(name, f"there is no folder {Path(path).parent}", "Make it first")
    if options.out and Path(options.out).suffix.lower() not in PICTURES:
        raise InvalidInput("--out", f"got {options.out!r}", f"Use {', '.join(PICTURES)}")


def _write(name: str, path: str, write: Callable[[str], Any]) -> None:
    try:
        write(path)
    except OSError as error:
        raise InvalidInput(name, f"cannot write {path}: {error.strerror or error}", "Name another file") from None


def _experiment(name: str) -> Callable[..., Any]:
    listed = experiments.titles()
    names_by_id = dict(zip(listed["id"], listed["name"], strict=True))
    name = names_by_id.get(name.upper(), name)
    return getattr(experiments, check_choice(name, names_by_id.values(), "name"))


def _arguments(experiment: Callable[..., Any], settings: list[str]) -> dict[str, Any]:
    arguments = {}
    for item in settings:
        name, equals, text = item.partition("=")
        if not equals:
            raise InvalidInput("--set", f"got {item!r}", "Write NAME=VALUE")
        parameters = inspect.signature(experiment).parameters
        if not parameters:
            raise InvalidInput("--set", f"got {name!r}", "This experiment takes no arguments")
        check_choice(name, parameters, "--set")
        try:
            arguments[name] = json.loads(text)
        except json.JSONDecodeError:
            arguments[name] = text
    return arguments


if __name__ == "__main__":
    sys.exit(main())
