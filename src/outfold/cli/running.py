"""The command that needs no code: ``outfold run``, from a table to a corrected estimate, a model and a report."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import suppress
from typing import Any, get_args

from ..apps.rare_classes import RareClasses
from ..apps.result import RunResult
from ..apps.run import run
from ..apps.table import TableTask
from .inspecting import FORMATS, add_dialect, add_roles, dialect_options
from .options import CommandParser, add_command, add_format, add_option, add_selection, add_work_options, given
from .options import read_rule as rule_of
from .printing import estimate_row, print_as

_SUMMARY = "try many configurations on a table; report a corrected estimate and save the fitted model"
_EPILOG = """examples:
  outfold run train.csv --target y
  outfold run train.csv --target y -o out/ --space standard --budget 10m
  outfold run patients.csv --target outcome --positive dead --threshold sensitivity=0.9 --importance

The file may be csv or tsv of any dialect, .gz, parquet, feather, arff or xlsx. `outfold inspect train.csv --target y` shows what
each column is used for, and writes a file for --columns.

The folder gets report.html (all results on one page) and report.json (to write it again), run.oof (the predictions), model.skops,
model.json and MODEL.md (the fitted model and its description) and columns.toml. During the search, `outfold open out/` shows the
progress. Ctrl-C ends the search; the answer then covers the configurations that are finished. The same command continues the
search, also with a larger space or budget. Everything that was tried in a folder counts in its estimate; use another folder for a
fresh start. Then:
  outfold open out/
  outfold predict out/ new.csv -o predictions.csv"""

# Codes of a process that was ended by a signal, as shells have them.
_CODES = {"interrupt": 130, "terminate": 143}


def add_run(commands: Any) -> CommandParser:
    """Add the command."""
    parser = add_command(commands, "run", _run, _SUMMARY, _EPILOG)
    parser.add_argument("data", help=FORMATS)
    add_option(parser, "--target", metavar="COL", help="the column to predict")
    add_option(parser, "-o", "--out", library="out store", default="out", metavar="DIR", help="folder for the files")
    _add_search(parser)
    add_option(parser, "--columns", metavar="FILE", help="roles and kinds of the columns, from outfold inspect")
    add_roles(parser)
    add_dialect(parser)
    add_selection(
        parser,
        "what to select by (default: roc_auc, accuracy or r2, depending on the task)",
        "within folds for AUC and concordance, else pooled",
        "best",
    )
    cut = "threshold for two classes: youden, f1, sensitivity=0.9, cost=5:1 or a number (default: the model's own)"
    add_option(parser, "--threshold", metavar="T", help=cut)
    matters = "measure how much each feature matters (one more fit for each fold)"
    add_option(parser, "--importance", action="store_true", help=matters)
    add_option(parser, "--timeout", type=float, metavar="S", help="longest time for one fit, in seconds")
    add_option(parser, "--inner", action="store_true", help="add an estimate by nested cross-validation (many fits)")
    closely = "how closely shared fits must match separate fits"
    add_option(parser, "--share", choices=["exact", "close", "none"], default="exact", help=closely)
    several = "fit each random model with this many seeds, and average their predictions (default: 1)"
    add_option(parser, "--seeds", type=int, default=1, metavar="N", help=several)
    parser.add_argument("--explain", action="store_true", help="first print which fits the configurations share")
    add_work_options(parser)
    where = "fit on a cluster: tcp://host:8786 (Dask), ray://host:10001 (Ray) or local:4 (processes of this machine)"
    add_option(parser, "--cluster", metavar="ADDRESS", help=where)
    add_format(parser)
    return parser


def _add_search(parser: CommandParser) -> None:
    sizes = "what to try: small (60 configurations), standard (about 250), thorough (about 1,000), a paper's, or a Python file"
    add_option(parser, "--space", default="small", metavar="NAME", help=sizes)
    enough = "total time, such as 90s, 10m or 1h30m; the answer covers the configurations that are finished by then"
    add_option(parser, "--budget", type=duration, metavar="TIME", help=enough)
    parser.add_argument("--keep-all", action="store_true", help="fit all configurations on all folds; drop none early")
    add_option(
        parser, "--task", choices=get_args(TableTask)[:2], help="kind of target (default: recognised from its values)"
    )
    folds = "number of folds (default: as outfold advise says)"
    add_option(parser, "--folds", library="folds Plan.folds", type=int, metavar="K", help=folds)
    often = "number of repeats (default: as outfold advise says)"
    add_option(parser, "--repeats", library="repeats Plan.repeats", type=_repeats, metavar="R", help=often)
    apart = "share of the rows to set aside as a test part, on which the selected configuration is scored once"
    add_option(parser, "--test", type=float, metavar="SHARE", help=apart)
    rare = "classes with fewer rows than there are folds: keep them, merge them into one class, or drop their rows"
    add_option(parser, "--rare-classes", choices=get_args(RareClasses), default="keep", help=rare)
    add_option(parser, "--positive", metavar="LABEL", help="which of two classes is the positive one")


def _repeats(text: str) -> int:
    """A whole number; advice for Python names "auto", so the error says where that works."""
    try:
        return int(text)
    except ValueError:
        only = '. Only collect(..., repeats="auto") in Python can choose the number' if text == "auto" else ""
        raise argparse.ArgumentTypeError(f"must be a whole number, such as 20; got {text}{only}") from None


_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def duration(text: str) -> float:
    """Seconds in a text such as ``90``, ``90s``, ``10m`` or ``1h30m``.

    >>> duration("1h30m"), duration("2.5m"), duration("45")
    (5400.0, 150.0, 45.0)
    """
    compact = text.strip().lower().replace(" ", "")
    parts = _PART.findall(compact)
    if not parts or "".join(f"{number}{unit}" for number, unit in parts) != compact:
        raise argparse.ArgumentTypeError(f"must be a time such as 90s, 10m or 1h30m; got {text}")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"must be more than 0 seconds; got {text}")
    return seconds


# Options whose values are those of the arguments of `run`.
_AS_TYPED = (
    *("metric", "task", "group", "sample", "time", "event", "leave_out", "positive"),
    *("columns", "space", "budget", "folds", "repeats", "test", "rare_classes"),
    *("importance", "n_jobs", "cluster", "seed", "timeout", "inner", "seeds"),
)


def _run(args: argparse.Namespace) -> int:
    result = run(
        args.data,
        args.target,
        args.out,
        **{name: getattr(args, name) for name in _AS_TYPED},
        **given(args, "aggregate"),
        rule=rule_of(args),
        drop=not args.keep_all,
        dialect=dialect_options(args),
        threshold=_threshold(args.threshold),
        command=args.typed,
        start=args.began,
        share=False if args.share == "none" else args.share,
        explain=_print_to_stderr if args.explain else None,
        say=lambda text: _print_to_stderr(f"note: {text}"),
    )
    print_as(args.format, result, result.to_dict, lambda: _rows(result))
    return _CODES.get(result.reason or "", 0)


def _threshold(text: str | None) -> str | float | None:
    if text is None:
        return None
    with suppress(ValueError):
        return float(text)
    return text


def _print_to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _rows(result: RunResult) -> list[dict[str, Any]]:
    facts = result.to_dict()
    for part in ("at_threshold", "test"):
        facts.pop(part, None)
    nested, files = facts.pop("nested", None), {k: facts[k] for k in ("predictions", "model", "report")}
    return [estimate_row(part) for part in (facts, *([nested | files] if nested else []))]
