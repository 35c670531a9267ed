"""python -m website [--out site] [--no-notebooks]: `make site`."""

import argparse
import sys

from nbmetrics.errors import InvalidInput

from .build import build


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m website", description="Write the site of nbmetrics.")
    parser.add_argument("--out", default="site", help="its folder; one that holds an older site is replaced")
    parser.add_argument(
        "--no-notebooks", action="store_true", help="leave out what takes minutes: running the notebooks"
    )
    options = parser.parse_args()
    try:
        build(options.out, notebooks=not options.no_notebooks, say=print)
    except InvalidInput as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
