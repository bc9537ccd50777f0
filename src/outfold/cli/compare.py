"""``outfold compare``: is A really better than B?"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from .. import compare
from ..compare._auto import ADJUSTMENTS
from ..compare._pair_test import ALTERNATIVES, TESTS
from ..exceptions import InputError
from ..results import Comparison
from ..results._comparison import comparison_row
from .arguments import add_command, add_file, add_format, seed
from .files import load, print_as

if TYPE_CHECKING:
    from ..data.predictions import Predictions

# What the options are called in the library; those not given stay the library's own defaults.
_OPTIONS = {
    "alternative": "alternative",
    "level": "confidence_level",
    "rope": "rope",
    "resamples": "n_resamples",
    "seed": "rng",
}
_EXAMPLES = """examples:
  outfold compare out/run.oof "logit(C=0.1)" "forest(max_depth=8)" --metric accuracy
  outfold compare old.oof --with new.oof old_model new_model --metric roc_auc
  outfold compare out/run.oof --all --adjust holm --metric accuracy
  outfold compare out/run.oof --control "logit(C=0.1)" --format latex
The test is chosen by how the samples were held out; --test takes another, and docs/comparing.md says which is for what."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "compare", _compare, "say whether configurations really differ", _EXAMPLES)
    add_file(parser)
    parser.add_argument("configs", nargs="*", metavar="CONFIG", help="the two configurations; more with --all")
    parser.add_argument("--with", dest="other", metavar="FILE", help="predictions of the same splits in another file")
    parser.add_argument("--metric", metavar="M", help="such as accuracy or roc_auc (default: by the task)")
    names = [name for name in compare.__all__ if name in TESTS]
    parser.add_argument("--test", choices=["auto", *names], default="auto", help="(default: %(default)s)")
    parser.add_argument("--all", action="store_true", help="all pairs of the configurations")
    parser.add_argument("--control", metavar="CONFIG", help="all others against this one")
    parser.add_argument("--adjust", choices=ADJUSTMENTS, help="of p values for many pairs (default: holm)")
    parser.add_argument("--alternative", choices=ALTERNATIVES, help="is the first better, worse? (default: two-sided)")
    parser.add_argument("--level", type=float, metavar="L", help="confidence level (default: 0.95)")
    parser.add_argument("--rope", type=float, metavar="W", help="differences up to this size do not matter")
    parser.add_argument("--resamples", type=int, metavar="B", help="draws of bootstrap and permutation")
    parser.add_argument("--seed", type=seed, metavar="N", help="seed of the draws (default: 0)")
    add_format(parser, latex=True)


def _compare(args: argparse.Namespace) -> None:
    many = args.all or args.control is not None
    if not many and len(args.configs) != 2:
        raise InputError(f"give the two configurations to compare, or --all or --control; got {len(args.configs)}.")
    if not many and args.adjust is not None:
        raise InputError("--adjust goes with --all or --control only.")
    oof, configs = _joined(args)
    options = {_OPTIONS[o]: getattr(args, o) for o in _OPTIONS if getattr(args, o) is not None}
    if many:
        adjust = {} if args.adjust is None else {"adjust": args.adjust}
        found: Any = compare.pairs(
            oof, args.metric, test=args.test, configs=configs or None, control=args.control, **adjust, **options
        )
    elif args.test == "auto":
        found = compare.auto(oof, args.metric, *configs, **options)
    else:
        # One pair by the same path as many: options that the test does not have are refused in the same words.
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
        # The first is of the first file, the second of the other, whatever else they hold.
        first, second = first.sel(config=args.configs[0]), second.sel(config=args.configs[1])
    endings = [f" [{os.path.basename(name)}]" for name in (args.file, args.other)]
    if set(first.configs) & set(second.configs) and os.path.samefile(args.file, args.other):
        raise InputError(
            f"both sides are {first.configs[0]!r} of the same file, {args.file}; name another file with --with, or two "
            "different configurations."
        )
    if endings[0] == endings[1]:
        endings = [f" [{name}]" for name in (args.file, args.other)]
    joined = first.join(second, suffixes=(endings[0], endings[1]) if set(first.configs) & set(second.configs) else None)
    return joined, list(joined.configs) if len(joined.configs) == 2 else list(args.configs)
