"""``outfold compare``: is A really better than B? And ``outfold rank``: which algorithm is better over many data sets?"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, get_args

from .. import compare, rank
from ..compare._auto import ADJUSTMENTS
from ..compare._pair_test import TESTS
from ..data.predictions import Predictions
from ..exceptions import FileError, InputError
from ..results import Alternative, Comparison, Ranking
from ..results._comparison import comparison_row
from .files import load, print_as
from .options import add_command, add_draws, add_file, add_format, add_metric, add_option, given, names

# -- compare --------------------------------------------------------------------------------------------


def add_compare(commands: Any) -> None:
    """Add ``outfold compare``."""
    parser = add_command(
        commands,
        "compare",
        _compare,
        "test whether configurations really differ",
        """examples:
  outfold compare out/run.oof "logit(C=0.1)" "forest(max_depth=8)" --metric accuracy
  outfold compare old.oof --with new.oof old_model new_model --metric roc_auc
  outfold compare out/run.oof --all --adjust holm --metric accuracy
  outfold compare out/run.oof --control "logit(C=0.1)" --format latex
The plan of the predictions decides on the test; --test takes another. docs/comparing.md explains them.""",
    )
    add_file(parser)
    parser.add_argument("configs", nargs="*", metavar="CONFIG", help="the two configurations; more with --all")
    parser.add_argument("--with", dest="other", metavar="FILE", help="predictions of the same splits in another file")
    add_metric(parser, help="such as accuracy or roc_auc (default: that of the task)")
    tests = [name for name in compare.__all__ if name in TESTS]
    add_option(parser, "--test", choices=["auto", *tests], default="auto", help="(default: %(default)s)")
    parser.add_argument("--all", action="store_true", help="compare all pairs of the configurations")
    add_option(parser, "--control", metavar="CONFIG", help="compare all others with this one")
    add_option(parser, "--adjust", choices=ADJUSTMENTS, help="how p values of many pairs are adjusted (default: holm)")
    add_option(
        parser,
        "--alternative",
        choices=get_args(Alternative),
        help="is the first one better, worse? (default: two-sided)",
    )
    add_option(parser, "--rope", type=float, metavar="W", help="differences up to this size do not matter")
    add_draws(parser, draws="bootstrap or permutation draws")
    add_format(parser, latex=True)


def _compare(args: argparse.Namespace) -> None:
    many = args.all or args.control is not None
    if not many and len(args.configs) != 2:
        raise InputError(f"give the two configurations to compare, or --all or --control; got {len(args.configs)}.")
    if not many and args.adjust is not None:
        raise InputError("--adjust goes with --all or --control only.")
    oof, configs = _joined(args)
    options = given(args, "alternative", "confidence_level", "rope", "n_resamples", "rng")
    if many:
        options |= given(args, "adjust", "control")
        found: Any = compare.pairs(oof, args.metric, test=args.test, configs=configs or None, **options)
    elif args.test == "auto":
        found = compare.auto(oof, args.metric, *configs, **options)
    else:
        # `pairs` refuses options that the test does not have, for one pair as for many.
        found = compare.pairs(oof, args.metric, test=args.test, configs=configs, adjust="none", **options)[0]
    pairs = [found] if isinstance(found, Comparison) else found
    print_as(args.format, found, found.to_dict, lambda: map(comparison_row, pairs), found.to_latex)


def _joined(args: argparse.Namespace) -> tuple[Predictions, list[str]]:
    """The predictions of one file or of two, and the configurations by the names they have there."""
    first = load(args)
    if args.other is None:
        return first, list(args.configs)
    second = load(argparse.Namespace(**{**vars(args), "file": args.other}))
    if len(args.configs) == 2 and not args.all and args.control is None:
        # The first configuration is in the first file, the second in the other one, whatever else the files hold.
        first, second = first.sel(config=args.configs[0]), second.sel(config=args.configs[1])
    shared = set(first.configs) & set(second.configs)
    if shared and os.path.samefile(args.file, args.other):
        raise InputError(
            f"both sides are {first.configs[0]!r} of the same file, {args.file}.",
            remedy="Name another file with --with, or two different configurations.",
        )
    endings = [f" [{os.path.basename(name)}]" for name in (args.file, args.other)]
    if endings[0] == endings[1]:
        endings = [f" [{name}]" for name in (args.file, args.other)]
    joined = first.join(second, suffixes=(endings[0], endings[1]) if shared else None)
    return joined, list(joined.configs) if len(joined.configs) == 2 else list(args.configs)


# -- rank -----------------------------------------------------------------------------------------------

# Tests of several algorithms; those of two are for the library.
_RANK_TESTS = ("bonferroni_dunn", "friedman", "holm", "nemenyi")


def add_rank(commands: Any) -> None:
    """Add ``outfold rank``."""
    parser = add_command(
        commands,
        "rank",
        _rank,
        "rank algorithms over many data sets",
        """examples:
  outfold rank scores.csv
  outfold rank scores.csv --control baseline --picture cd.svg

scores.csv has one row per data set and one column per algorithm. A first column of text names the data sets.""",
    )
    parser.add_argument("scores", help="a .csv, .csv.gz or .parquet table of scores")
    add_option(parser, "--datasets", metavar="COL", help="the column with the names of the data sets")
    add_option(parser, "--algorithms", type=names, metavar="A,B", help="the columns to compare (default: all)")
    add_option(parser, "--control", metavar="NAME", help="compare all others with this algorithm only")
    parser.add_argument("--test", choices=_RANK_TESTS, help="(default: nemenyi for all pairs, holm with --control)")
    parser.add_argument("--lower-is-better", action="store_true", help="the scores are losses")
    add_option(
        parser,
        "--missing",
        choices=["refuse", "drop"],
        default="refuse",
        help="drop: leave out data sets that lack a score (default: refuse)",
    )
    add_option(
        parser, "--alpha", type=float, default=0.05, metavar="A", help="level of the tests (default: %(default)s)"
    )
    add_option(parser, "--picture", metavar="FILE", help="write the diagram of the ranks as .svg or .tex")
    add_format(parser, latex=True)


def _rank(args: argparse.Namespace) -> None:
    if args.picture is not None:
        _check_picture(Path(args.picture))
    test = args.test or ("nemenyi" if args.control is None else "holm")
    if args.control is None and test == "bonferroni_dunn":
        raise InputError("--test bonferroni_dunn needs --control, the algorithm that all others are compared with.")
    if args.control is not None and test not in ("holm", "bonferroni_dunn"):
        raise InputError(f"--control goes with --test holm or bonferroni_dunn; {test} compares all with all.")
    found: Ranking = getattr(rank, test)(
        Path(args.scores),
        **given(args, "control", "datasets", "algorithms", "alpha", "missing"),
        greater_is_better=not args.lower_is_better,
    )
    print_as(args.format, found, found.to_dict, lambda: found.to_dict()["algorithms"], found.to_latex)
    if args.picture is not None:
        text = found.to_svg() if args.picture.endswith(".svg") else found.to_tikz()
        _write(Path(args.picture), text)


def _check_picture(path: Path) -> None:
    """Refuse a file that cannot be written before any work, not after it."""
    if path.suffix not in (".svg", ".tex"):
        raise InputError(argument="picture", needed="must end in .svg or .tex", given=f"got {str(path)!r}")
    if not path.parent.is_dir():
        raise InputError(
            argument="picture", needed="needs a folder that is there", given=f"there is no {str(path.parent)!r}"
        )


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"the picture {str(path)!r} could not be written ({error.strerror}).") from error
