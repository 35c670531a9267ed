"""The options of the command line. Importing this imports nothing heavy, so that --help is there at once."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from typing import Any, NoReturn

from .. import __version__
from ..errors import one_line, shown

ABOUT = """\
Scores of generative models over several clients: what FID, KID and others say
on average over clients, on the pooled data, and where the two disagree."""

EXAMPLES = """\
examples:
  nbmetrics score hospitals/ ddpm/ gan/ --weights inception.pth
  nbmetrics score real/ fake/ --extractor pixels       (pytorch-fid real/ fake/)
  nbmetrics score features/ ddpm.npy gan.npy --metrics fid,kid --json out.json
  nbmetrics features hospitals/lyon --extractor digits-cnn --out lyon.npy
  nbmetrics verify out.json features/ ddpm.npy gan.npy
  nbmetrics summarize north.npy --out north.nbs        (at each site)
  nbmetrics aggregate *.nbs --generators gan.npy       (at the server)

`nbmetrics COMMAND --help` explains each command."""

SCORE = """\
Score one or more sets of generated images, or features, for each client,
averaged over the clients, and on all their data pooled."""

SCORE_MORE = """\
CLIENTS    a folder: each of its sub-folders of images is a client. Without
           sub-folders its images are one client. A folder of .npy files of
           features, (n, d), is one client per file; it needs no extractor.
GENERATED  a folder (or zip) of images, or a .npy file of features.
On either side, a .npz file is a mean and a covariance of features (mu, sigma),
as pytorch-fid, clean-fid, EDM and ADM write them, or images (arr_0).

examples:
  nbmetrics score hospitals/ ddpm/ gan/ --weights inception.pth
  nbmetrics score hospitals/ ddpm/ --extractor pixels --metrics kid,precision
  nbmetrics score features/ ddpm.npy --uncertainty influence --html report.html
  nbmetrics score classes/ made/ --by-class  (classes/cat with made/cat, …)
  nbmetrics score features/ ddpm/ gan/ --runs      (ddpm/seed1.npy, …)
  nbmetrics score ref.npz ddpm.npy --metrics fid"""

FEATURES = """\
The features of a folder of images, one row per image in natural order of the
files, as a .npy file of float32, (n, d); or with --stats their mean and
covariance, as a .npz file that pytorch-fid reads too."""

FEATURES_MORE = """\
examples:
  nbmetrics features hospitals/lyon --extractor pixels --out features/lyon.npy
  nbmetrics features fake/ --weights inception.pth --out fake.npy
  nbmetrics features real/ --weights inception.pth --stats --out ref.npz"""

VERIFY = """\
Score the data anew with the settings of a report that `score --json` wrote,
and say which of its numbers come out again."""

VERIFY_MORE = """\
CLIENTS and GENERATED are as for `nbmetrics score`; paths in the report are
not read. Exit code 0: all numbers come out; 3: some do not.

examples:
  nbmetrics verify out.json features/ ddpm.npy gan.npy"""

RESIZES = ("extractor", "clean")
DESIGNS = ("none", "influence", "bootstrap", "jackknife")

SUMMARIZE = """\
Write what a site sends in the place of its rows, and say what it reveals."""

SUMMARIZE_MORE = """\
ROWS is a .npy file of features, (n, d), or a folder (or zip) of images.
Nothing is sent, signed or encrypted: transport is another tool's part, such as
  minisign -Sm north.nbs      and      age -r SERVER_KEY north.nbs > north.nbs.age

examples:
  nbmetrics summarize north.npy --out north.nbs
  nbmetrics summarize north.npy --metrics fid --epsilon 1 --clip 30 \\
      --account north.account --budget 3 --out north.nbs"""

AGGREGATE = """\
Score generators on sites of which only summaries are here: the numbers of
`nbmetrics score` on all their rows."""

AGGREGATE_MORE = """\
examples:
  nbmetrics aggregate north.nbs south.nbs --generators gan.npy ddpm.npy
  nbmetrics aggregate *.nbs --generators gan.npy --metrics fid --html out.html"""

INSPECT = """\
Say in words what is in a summary: what it reveals, its noise, its hash; or what
the releases of an account have spent."""

CACHE = "The cache of features: it keeps what was computed once."


RANDOM_FEATURES, DELTA = 1024, 1e-6
REFUSED, MAX_REFUSAL_LETTERS, GIVE = 2, 300, ". Give a "


class OneLineParser(ArgumentParser):
    """A parser that refuses in one line, as the commands do."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the options of the words; words left over are told with the help of their command."""
        options, left = self.parse_known_args(args, namespace)
        if left:
            self.prog = f"{self.prog} {options.command}"
            self.error(f"unrecognized arguments: {' '.join(word or repr(word) for word in left)}")
        return options

    def error(self, message: str) -> NoReturn:
        """End with 2."""
        said = one_line(message.removeprefix("argument "), MAX_REFUSAL_LETTERS)
        self.exit(REFUSED, f"error: {said}" + f". `{self.prog} --help` says more" * (GIVE not in said) + "\n")


def number(text: str) -> float:
    """Return the finite number that an option is given."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ArgumentTypeError(f"got {shown(text)}{GIVE}finite number")
    return value


def integer(text: str) -> int:
    """Return the whole number that an option is given."""
    try:
        return int(text)
    except ValueError:
        value = number(text)
    if value != int(value):
        raise ArgumentTypeError(f"got {shown(text)}{GIVE}whole number")
    return int(value)


def parser() -> ArgumentParser:
    """Return the parser of the whole command line."""
    whole = _with_description(OneLineParser(prog="nbmetrics"), ABOUT, EXAMPLES)
    whole.add_argument("--version", action="version", version=f"nbmetrics {__version__}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _score(
        _with_description(commands.add_parser("score", help="score generated images or features"), SCORE, SCORE_MORE)
    )
    verify = commands.add_parser("verify", help="say whether given data still give the numbers of a report")
    _verify(_with_description(verify, VERIFY, VERIFY_MORE))
    summarize = commands.add_parser("summarize", help="write what a site sends in the place of its rows")
    _summarize(_with_description(summarize, SUMMARIZE, SUMMARIZE_MORE))
    together = commands.add_parser("aggregate", help="score generators on sites that sent summaries")
    _aggregate(_with_description(together, AGGREGATE, AGGREGATE_MORE))
    inspect = commands.add_parser("inspect", help="say what is in a summary or an account", description=INSPECT)
    inspect.add_argument("summary", metavar="SUMMARY", help="a file that summarize wrote: .nbs, or an account")
    features = commands.add_parser("features", help="write the features of a folder of images")
    _features(_with_description(features, FEATURES, FEATURES_MORE))
    commands.add_parser("experiments", help="figures and tables of the papers", add_help=False)
    cache = commands.add_parser("cache", help="show or clear the cache of computed features", description=CACHE)
    cache.add_argument("what", choices=("info", "clear"), help="show what is kept and where, or remove all of it")
    return whole


def _with_description(parser: ArgumentParser, description: str, more: str) -> ArgumentParser:
    parser.description, parser.epilog = description, more
    parser.formatter_class = RawDescriptionHelpFormatter
    return parser


def _parties(parser: ArgumentParser) -> None:
    parser.add_argument(
        "clients", metavar="CLIENTS", help="the real images or features, one sub-folder or file per client"
    )
    parser.add_argument(
        "generated", metavar="GENERATED", nargs="+", help="generated images or features, one path per model"
    )
    parser.add_argument(
        "--store", metavar="FOLDER", help="keep every score there, so that a run that was killed goes on"
    )


def _verify(verify: ArgumentParser) -> None:
    verify.add_argument("report", metavar="REPORT", help="the file that --json wrote")
    _parties(verify)
    _running(verify.add_argument_group("from images to features"))


def _score(score: ArgumentParser) -> None:
    _parties(score)
    score.add_argument(
        "--metrics", metavar="NAMES", default="fid,kid", help="such as fid,kid,precision; default %(default)s"
    )
    score.add_argument(
        "--uncertainty",
        choices=DESIGNS,
        default="none",
        help="intervals: by influence values, which is quick, or by resampling; default %(default)s",
    )
    score.add_argument(
        "--by-class",
        action="store_true",
        help="GENERATED has a sub-folder, or .npy file, for each client: adds intra, the score of each client "
        "with what was made for it",
    )
    score.add_argument(
        "--runs",
        action="store_true",
        help="GENERATED is a model with a sub-folder, or .npy file, for each of its runs: adds means over runs, and "
        "whether models differ by more than their runs do",
    )
    score.add_argument(
        "--samples", type=integer, metavar="N", help="number of rows to sample where a metric needs samples"
    )
    score.add_argument("--seed", type=integer, default=0, metavar="N", help="seed of all sampling; default %(default)s")
    score.add_argument(
        "--test", type=number, metavar="SHARE", help="share of each client's rows to hold out, for metrics such as fld"
    )
    _files(score)
    _extractor(score)


def _files(parser: ArgumentParser) -> None:
    files = parser.add_argument_group("files")
    kinds = {"json": "all results as JSON", "html": "a report as a web page", "csv": "the table as CSV"}
    for name, what in {
        **kinds,
        "markdown": "the table as Markdown, best in bold",
        "latex": "the table as LaTeX",
    }.items():
        files.add_argument(f"--{name}", metavar="FILE", help=f"write {what}")


def _kernel(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--metrics",
        metavar="NAMES",
        default="fid,kid",
        help="the same at all sites and the server; default %(default)s",
    )
    parser.add_argument(
        "--sigma",
        type=number,
        metavar="S",
        help="KID by random features of a Gaussian kernel of this width, which noise can protect, and which any width "
        "of rows allows",
    )
    parser.add_argument(
        "--count", type=integer, metavar="N", help=f"how many random features; default {RANDOM_FEATURES}"
    )


def _summarize(summarize: ArgumentParser) -> None:
    summarize.add_argument("rows", metavar="ROWS", help="the site's features or images")
    summarize.add_argument("--out", metavar="FILE", required=True, help="the .nbs file to write")
    _kernel(summarize)
    summarize.add_argument(
        "--min-rows",
        type=integer,
        metavar="N",
        default=10,
        help="refuse fewer rows without noise; default %(default)s",
    )
    summarize.add_argument(
        "--precision", choices=("float64", "float32"), default="float64", help="of numbers; default %(default)s"
    )
    summarize.add_argument("--reveal-rows", action="store_true", help="allow metrics that take every row")
    summarize.add_argument("--rank", type=integer, metavar="R", help="for FID, send only so many directions")
    noise = summarize.add_argument_group("noise that hides every single row")
    noise.add_argument("--epsilon", type=number, metavar="E", help="of this release; without it there is no noise")
    noise.add_argument("--delta", type=number, metavar="D", help=f"of this release; default {DELTA:g}")
    noise.add_argument("--clip", type=number, metavar="C", help="for FID: the norm to which rows are clipped")
    noise.add_argument("--account", metavar="FILE", help="counts the ε spent; a release beyond the budget is refused")
    noise.add_argument("--budget", type=number, metavar="E", help="of a new account: what all releases may spend")
    _extractor(summarize)


def _aggregate(aggregate: ArgumentParser) -> None:
    aggregate.add_argument("summaries", metavar="SUMMARIES", nargs="+", help="files that summarize wrote, one a site")
    aggregate.add_argument("--generators", metavar="FILE", nargs="+", required=True, help=".npy files of features")
    _kernel(aggregate)
    aggregate.add_argument(
        "--samples", type=integer, metavar="N", help="number of rows to sample where a metric needs them"
    )
    aggregate.add_argument(
        "--seed", type=integer, default=0, metavar="N", help="seed of all sampling; default %(default)s"
    )
    _files(aggregate)


def _features(features: ArgumentParser) -> None:
    features.add_argument("folder", metavar="FOLDER", help="a folder of images with its sub-folders, or a zip")
    features.add_argument("--out", metavar="FILE", required=True, help="the .npy file to write, .npz with --stats")
    features.add_argument("--stats", action="store_true", help="write mean and covariance (mu, sigma, n) alone")
    _extractor(features)


def _extractor(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("from images to features")
    group.add_argument(
        "--extractor",
        help="such as pixels or digits-cnn, which need no torch; default %(default)s",
        metavar="NAME",
        default="inception-v3-compat",
    )
    group.add_argument(
        "--resize",
        help="how to resize images: the extractor's own rule, or clean-fid's; default %(default)s",
        choices=RESIZES,
        default=RESIZES[0],
    )
    _running(group)


def _running(group: Any) -> None:
    """Add the options that say how features are computed, and not which."""

    def add(name: str, help: str, **settings: Any) -> None:
        group.add_argument(name, help=help, **settings)

    add("--weights", "the file of its weights, if it needs one", metavar="FILE")
    add("--download", "download its published weights once; without this, nothing is downloaded", action="store_true")
    add("--batch-size", "images per batch; default %(default)s", type=integer, metavar="N", default=64)
    add("--device", "auto, cpu, cuda, …", metavar="NAME", default="auto")
    add("--no-cache", "do not use the cache", dest="cache", action="store_false")
    add("--quiet", "no progress bar", dest="progress", action="store_const", const=False, default="auto")
