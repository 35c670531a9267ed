"""The options of the command line. Importing this imports nothing heavy, so that --help is there at once."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from .. import __version__

ABOUT = """\
Scores of generative models over several clients: what FID, KID and others say
on average over clients, on the pooled data, and where the two disagree."""

EXAMPLES = """\
examples:
  nbmetrics score hospitals/ ddpm/ gan/ --weights inception.pth
  nbmetrics score real/ fake/ --extractor pixels       (pytorch-fid real/ fake/)
  nbmetrics score features/ ddpm.npy gan.npy --metrics fid,kid --json out.json
  nbmetrics features hospitals/lyon --extractor digits-cnn --out lyon.npy

`nbmetrics COMMAND --help` says more of each."""

SCORE = """\
Score one or more sets of generated images, or features, for each client,
averaged over the clients, and on all their data pooled."""

SCORE_MORE = """\
CLIENTS    a folder: each of its sub-folders of images is a client. Without
           sub-folders its images are one client. A folder of .npy files of
           features, (n, d), is one client a file, and needs no extractor.
GENERATED  a folder (or zip) of images, or a .npy file of features.

examples:
  nbmetrics score hospitals/ ddpm/ gan/ --weights inception.pth
  nbmetrics score hospitals/ ddpm/ --extractor pixels --metrics kid,precision
  nbmetrics score features/ ddpm.npy --uncertainty influence --html report.html"""

FEATURES = """\
The features of a folder of images, one row an image in natural order of the
files, as a .npy file of float32, (n, d)."""

FEATURES_MORE = """\
examples:
  nbmetrics features hospitals/lyon --extractor pixels --out features/lyon.npy
  nbmetrics features fake/ --weights inception.pth --out fake.npy"""

CACHE = "The cache of features: what was computed once is found there again."


def parser() -> ArgumentParser:
    """Return the parser of the whole command line."""
    whole = _with_description(ArgumentParser(prog="nbmetrics"), ABOUT, EXAMPLES)
    whole.add_argument("--version", action="version", version=f"nbmetrics {__version__}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _score(
        _with_description(commands.add_parser("score", help="score generated images or features"), SCORE, SCORE_MORE)
    )
    features = commands.add_parser("features", help="write the features of a folder of images")
    _features(_with_description(features, FEATURES, FEATURES_MORE))
    commands.add_parser("experiments", help="figures and tables of the papers", add_help=False)
    cache = commands.add_parser("cache", help="what is kept of features computed before", description=CACHE)
    cache.add_argument("what", choices=("info", "clear"), help="say what is kept and where, or remove all of it")
    return whole


def _with_description(parser: ArgumentParser, description: str, more: str) -> ArgumentParser:
    parser.description, parser.epilog = description, more
    parser.formatter_class = RawDescriptionHelpFormatter
    return parser


def _score(score: ArgumentParser) -> None:
    score.add_argument("clients", metavar="CLIENTS", help="the real images or features, a sub-folder or file a client")
    score.add_argument("generated", metavar="GENERATED", nargs="+", help="generated images or features, one a model")
    score.add_argument(
        "--metrics", metavar="NAMES", default="fid,kid", help="such as fid,kid,precision; default %(default)s"
    )
    score.add_argument(
        "--uncertainty",
        choices=("none", "influence", "bootstrap", "jackknife"),
        default="none",
        help="intervals: by influence values, which is quick, or by resampling; default %(default)s",
    )
    score.add_argument("--samples", type=int, metavar="N", help="rows drawn where a metric needs to draw")
    score.add_argument("--seed", type=int, default=0, metavar="N", help="of what is drawn; default %(default)s")
    score.add_argument("--test", type=float, metavar="SHARE", help="of each client's rows, held out for metrics as fld")
    files = score.add_argument_group("files")
    kinds = {"json": "everything, for a program", "html": "a page for people", "csv": "the table"}
    for name, what in {**kinds, "markdown": "the table, best in bold", "latex": "the same for a paper"}.items():
        files.add_argument(f"--{name}", metavar="FILE", help=f"write {what}")
    _extractor(score)


def _features(features: ArgumentParser) -> None:
    features.add_argument("folder", metavar="FOLDER", help="a folder, with all below it, or a zip of images")
    features.add_argument("--out", metavar="FILE", required=True, help="the .npy file to write")
    _extractor(features)


def _extractor(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("from images to features")

    def add(name: str, help: str, **settings: Any) -> None:
        group.add_argument(name, help=help, **settings)

    default = "inception-v3-compat"
    add(
        "--extractor",
        "such as pixels or digits-cnn, which need no torch; default %(default)s",
        metavar="NAME",
        default=default,
    )
    add("--weights", "the file of its weights, where it wants one", metavar="FILE")
    add("--download", "fetch its published weights, once; else nothing is fetched", action="store_true")
    add(
        "--resize",
        "its own rule, or clean-fid's; default %(default)s",
        choices=("extractor", "clean"),
        default="extractor",
    )
    add("--batch-size", "images at a time; default %(default)s", type=int, metavar="N", default=64)
    add("--device", "auto, cpu, cuda, …", metavar="NAME", default="auto")
    add("--no-cache", "neither look in the cache nor fill it", dest="cache", action="store_false")
    add("--quiet", "no bar", dest="progress", action="store_const", const=False, default="auto")
