"""``outfold rank``: which algorithm is better over many data sets?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .. import rank
from ..arguments import check_level
from ..exceptions import FileError, InputError
from ..results import Ranking
from .arguments import add_command, add_format
from .files import print_as

# Tests of several algorithms; those of two are for the library.
_TESTS = [name for name in rank.__all__ if name in ("friedman", "nemenyi", "holm", "bonferroni_dunn")]
_EXAMPLES = """examples:
  outfold rank scores.csv
  outfold rank scores.csv --control baseline --picture cd.svg

scores.csv has a row for every data set and a column for every algorithm; a first column of text names the data sets."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "rank", _rank, "rank algorithms over many data sets", _EXAMPLES)
    parser.add_argument("scores", help="a .csv, .csv.gz or .parquet table of scores")
    parser.add_argument("--control", metavar="NAME", help="compare all others with this algorithm only")
    parser.add_argument("--test", choices=_TESTS, help="(default: nemenyi for all pairs, holm with --control)")
    parser.add_argument("--lower-is-better", action="store_true", help="the scores are losses")
    parser.add_argument(
        "--missing",
        choices=["refuse", "drop"],
        default="refuse",
        help="drop data sets without all scores (default: refuse)",
    )
    parser.add_argument("--level", type=float, default=0.95, metavar="L", help="one minus alpha (default: %(default)s)")
    parser.add_argument("--picture", metavar="FILE", help="write the diagram of the ranks as .svg or .tex")
    add_format(parser, latex=True)


def _rank(args: argparse.Namespace) -> None:
    check_level(args.level, "--level")
    if args.picture is not None:
        _check_picture(Path(args.picture))
    test = args.test or ("nemenyi" if args.control is None else "holm")
    control = _control(args.control, test)
    found: Ranking = getattr(rank, test)(
        Path(args.scores),
        **control,
        alpha=round(1 - args.level, 12),
        greater_is_better=not args.lower_is_better,
        missing=args.missing,
    )
    print_as(args.format, found, found.to_dict, lambda: found.to_dict()["algorithms"], found.to_latex)
    if args.picture is not None:
        text = found.to_svg() if args.picture.endswith(".svg") else found.to_tikz()
        _write(Path(args.picture), text)


def _check_picture(path: Path) -> None:
    """Said before any work, not after it."""
    if path.suffix not in (".svg", ".tex"):
        raise InputError(f"--picture must end in .svg or .tex; got {str(path)!r}.")
    if not path.parent.is_dir():
        raise InputError(f"--picture needs a folder that is there; there is no {str(path.parent)!r}.")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"the picture {str(path)!r} could not be written ({error.strerror}).") from error


def _control(name: str | None, test: str) -> dict[str, Any]:
    if name is None and test == "bonferroni_dunn":
        raise InputError("--test bonferroni_dunn needs --control, the algorithm that all others are compared with.")
    if name is not None and test not in ("holm", "bonferroni_dunn"):
        raise InputError(f"--control goes with --test holm or bonferroni_dunn; {test} compares all with all.")
    return {} if name is None else {"control": name}
