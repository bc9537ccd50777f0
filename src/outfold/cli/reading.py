"""``outfold read`` and ``outfold export``: results of other tools in, one long table out."""

from __future__ import annotations

import argparse
import inspect
import sys
from typing import Any

from .. import adapters
from ..data.predictions import Predictions
from ..exceptions import InputError, invalid
from .loading import load
from .options import COLUMNS, CommandParser, add_columns, add_command, add_file, add_option, given

# The tools by the name that ``--from`` takes, with the function that reads their files.
READERS = {
    "helm": "read_helm",
    "inspect": "read_inspect",
    "lm-eval": "read_lm_eval",
    "mlr3": "read_mlr3",
    "promptfoo": "read_promptfoo",
    "tidymodels": "read_tidymodels",
    "weka": "read_weka",
}
# Options that only some readers take. With a tool, --group is the key of an item that names its cluster, such as its passage, and
# --label the column of the outcome.
_OPTIONS = (
    "task",
    "metric",
    "filter",
    "scorer",
    "score",
    "group",
    "missing",
    "label",
    "dataset",
    "positive",
    "greater_is_better",
)
_SUMMARY = "read the results of another tool, and keep them as an .oof file"
_EXAMPLES = """examples:
  outfold read results/ --from lm-eval --metric acc -o prompts.oof
  outfold read logs/ --from inspect --group passage -o models.oof
  outfold read results.csv --from weka --dataset iris -o iris.oof
  outfold read predictions.csv -o predictions.oof      # a long or wide table
  outfold read wide.csv --sample item --group passage -o prompts.oof

Then: outfold estimate prompts.oof, outfold compare prompts.oof --all, outfold tied prompts.oof, outfold report prompts.oof."""


def add_read(commands: Any) -> None:
    """Add the command."""
    parser: CommandParser = add_command(commands, "read", _read, _SUMMARY, _EXAMPLES)
    parser.add_argument("files", nargs="+", metavar="FILE", help="files or folders of the tool")
    parser.add_argument("--from", dest="tool", choices=list(READERS), help="the tool (default: a table of predictions)")
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="the file to write, such as run.oof")
    add_option(
        parser, "--metric", metavar="M", help="lm-eval, helm, weka: the score to read, such as acc or Percent_correct"
    )
    add_option(
        parser, "--task", metavar="NAME", help="lm-eval, inspect, helm, mlr3: one task (default: all; mlr3 has one)"
    )
    add_option(parser, "--filter", metavar="NAME", help="lm-eval: the filter of the answers, such as strict-match")
    add_option(parser, "--scorer", metavar="NAME", help="inspect: the scorer")
    add_option(parser, "--score", metavar="NAME", help="promptfoo: score, success or a named score")
    drop = "drop: leave out items that lack the score of some model"
    add_option(parser, "--missing", choices=["refuse", "drop"], help=drop)
    add_option(parser, "--dataset", metavar="NAME", help="weka: the data set")
    which = "weka: whether a larger score is better, if the name of the metric does not tell"
    add_option(parser, "--greater-is-better", choices=["yes", "no"], help=which)
    add_columns(parser)


def _read(args: argparse.Namespace) -> None:
    oof = _predictions(args)
    path = oof.save(args.out)
    print(oof)
    print(f"written to {path}", file=sys.stderr)


def _predictions(args: argparse.Namespace) -> Predictions:
    if args.tool is None:
        if len(args.files) > 1:
            raise InputError("a table of predictions is one file", remedy="Name the tool with --from to read several.")
        args.file = args.files[0]
        return load(args)
    options = given(args, *_OPTIONS, *COLUMNS, "models")
    if "label" in options:
        options["label"] = options["label"][0]
    if "greater_is_better" in options:
        options["greater_is_better"] = options["greater_is_better"] == "yes"
    reader = getattr(adapters, READERS[args.tool])
    known = inspect.signature(reader).parameters
    one = "path" in known and args.tool != "weka"
    takes = [name for name in _OPTIONS if name in known or (one and name == "positive")]
    for option in options:
        if option not in takes:
            words = ", ".join(f"`{name}`" for name in takes)
            raise invalid(option, f"is not an option of --from {args.tool}, which takes {words}")
    if one and len(args.files) > 1:
        raise InputError(f"--from {args.tool} reads one file; got {len(args.files)}.")
    oof: Predictions = reader(args.files[0] if len(args.files) == 1 else args.files, **options)
    return oof


_EXPORT = "write everything that predictions hold to one long .parquet or .csv table"
_EXPORT_EXAMPLES = """examples:
  outfold export out/run.oof -o run.parquet
  outfold export out/run.oof -o run.csv"""


def add_export(commands: Any) -> None:
    """Add the command ``outfold export``."""
    parser = add_command(commands, "export", _export, _EXPORT, _EXPORT_EXAMPLES)
    add_file(parser)
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="the table to write: .parquet or .csv")


def _export(args: argparse.Namespace) -> None:
    path = adapters.write_table(load(args), args.out)
    print(f"written to {path}", file=sys.stderr)
