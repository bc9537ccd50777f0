"""``outfold check``: every caveat that applies to the predictions of a file."""

from __future__ import annotations

import argparse
from typing import Any

from ..checks import check
from .arguments import add_command, add_file, add_format, names
from .files import load, print_as

_EXAMPLES = """examples:
  outfold check out/run.oof
  outfold check out/run.oof --metric balanced_accuracy --ignore OF301,OF307 --strict

The exit code is 0 whatever is found; with --strict it is 1 where there is an error. Every code has a page in docs/checks."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "check", _check, "list the caveats that apply to predictions, and what to do about them", _EXAMPLES
    )
    add_file(parser)
    parser.add_argument("--metric", metavar="M", help="metric that selects and is reported (default: that of the task)")
    parser.add_argument("--ignore", type=names, default=[], metavar="A,B", help="codes to leave out")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if there is an error")
    add_format(parser)


def _check(args: argparse.Namespace) -> int:
    found = check(load(args), args.metric, ignore=args.ignore)
    print_as(args.format, found, found.to_dict, lambda: [finding._asdict() for finding in found])
    return 1 if args.strict and not found.ok else 0
