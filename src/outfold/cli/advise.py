"""``outfold advise``: which plan, which estimate, which test, before any data are seen."""

from __future__ import annotations

import argparse
from typing import Any, get_args

from ..advice import advise
from ..results import Advice
from ..results._advice import Goal, Task
from .arguments import add_command, add_format
from .files import print_as

_EXAMPLES = """examples:
  outfold advise 80 150
  outfold advise 5000 40 --goal compare --cost 2 --budget 3600 --jobs 4"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "advise", _advise, "say how to hold out samples, what to report and why, before any fit", _EXAMPLES
    )
    parser.add_argument("samples", type=int, help="number of samples")
    parser.add_argument("configs", type=int, help="number of configurations to try")
    parser.add_argument("--goal", choices=get_args(Goal), default="select", help="(default: %(default)s)")
    parser.add_argument("--task", choices=get_args(Task), default="binary", help="(default: %(default)s)")
    parser.add_argument("--cost", type=float, metavar="S", help="seconds per fit")
    parser.add_argument("--budget", type=float, metavar="S", help="seconds available; needs --cost")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="workers (default: %(default)s)")
    parser.add_argument(
        "--precision",
        type=float,
        default=0.01,
        metavar="W",
        help="one test set is enough if it measures an accuracy to ± this (default: %(default)s)",
    )
    add_format(parser)


def _advise(args: argparse.Namespace) -> None:
    found = advise(
        args.samples,
        args.configs,
        args.task,
        args.goal,
        args.cost,
        args.budget,
        args.jobs,
        precision=args.precision,
    )
    print_as(args.format, f"{found}{_command(found)}", found.to_dict, lambda: [_row(found)])


def _command(advice: Advice) -> str:
    """The command that follows the advice, where there is one."""
    plan = advice.plan
    if plan.kind != "kfold" or advice.task == "survival":
        return ""
    return f"\non a table:  outfold run data.csv --target COLUMN --folds {plan.folds} --repeats {plan.repeats}"


def _row(advice: Advice) -> dict[str, Any]:
    facts = advice.to_dict()
    expected = facts.pop("expected_optimism")
    facts["optimism"] = None if expected is None else expected["value"]
    return facts | {"plan": str(advice.plan), "reasons": " ".join(advice.reasons)}
