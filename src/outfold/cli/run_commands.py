"""Commands before there are predictions: ``outfold demo``, ``outfold advise`` and ``outfold run``."""

from __future__ import annotations

import argparse
import sys
from typing import Any, get_args

from ..advice import advise
from ..apps import demo
from ..apps.run import Result, run
from ..data.plan import Plan
from ..results import Advice
from ..results._advice import Goal, Task
from .files import estimate_row, print_as
from .options import CommandParser, add_command, add_format, add_metric, add_option, add_work_options, given, names

# -- demo -----------------------------------------------------------------------------------------------


def add_demo(commands: Any) -> None:
    """Add ``outfold demo``."""
    parser = add_command(
        commands,
        "demo",
        _demo,
        "show on real data how much too high the winner's cross-validation score is (under a minute)",
        "example:\n  outfold demo --times 10",
    )
    add_option(
        parser,
        "--samples",
        type=int,
        default=80,
        metavar="N",
        help="number of patients to tune on (default: %(default)s)",
    )
    add_option(
        parser, "--times", type=int, default=30, metavar="N", help="number of repetitions (default: %(default)s)"
    )
    add_work_options(parser)


def _demo(args: argparse.Namespace) -> None:
    demo.main(args.samples, args.times, seed=args.seed, n_jobs=args.n_jobs)


# -- advise ---------------------------------------------------------------------------------------------


def add_advise(commands: Any) -> None:
    """Add ``outfold advise``."""
    parser = add_command(
        commands,
        "advise",
        _advise,
        "recommend how to hold out samples and what to report, with reasons, before any fit",
        """examples:
  outfold advise 80 150
  outfold advise 5000 40 --goal compare --cost 2 --budget 3600 --jobs 4""",
    )
    add_option(parser, "samples", library="n_samples", type=int, help="number of samples")
    add_option(parser, "configs", library="n_configs", type=int, help="number of configurations you want to try")
    add_option(parser, "--goal", choices=get_args(Goal), default="select", help="(default: %(default)s)")
    add_option(parser, "--task", choices=get_args(Task), default="binary", help="(default: %(default)s)")
    add_option(parser, "--cost", type=float, metavar="S", help="seconds that one fit takes")
    add_option(parser, "--budget", type=float, metavar="S", help="seconds you can spend; needs --cost")
    add_option(
        parser,
        "--jobs",
        dest="n_jobs",
        type=int,
        default=1,
        metavar="N",
        help="number of workers (default: %(default)s)",
    )
    add_option(
        parser,
        "--precision",
        type=float,
        default=0.01,
        metavar="W",
        help="one test set is enough if it gives an accuracy to ± this (default: %(default)s)",
    )
    add_format(parser)


def _advise(args: argparse.Namespace) -> None:
    options = given(args, "task", "goal", "cost", "budget", "n_jobs", "precision")
    found = advise(args.samples, args.configs, **options)
    print_as(args.format, f"{found}{_run_command(found)}", found.to_dict, lambda: [_advice_row(found)])


def _run_command(advice: Advice) -> str:
    """The command that follows the advice, where there is one."""
    plan = advice.plan
    if plan.kind != "kfold" or advice.task == "survival":
        return ""
    return f"\non a table:  outfold run data.csv --target COLUMN --folds {plan.folds} --repeats {plan.repeats}"


def _advice_row(advice: Advice) -> dict[str, Any]:
    facts = advice.to_dict()
    expected = facts.pop("expected_optimism")
    facts["optimism"] = None if expected is None else expected["value"]
    return facts | {"plan": str(advice.plan), "reasons": " ".join(advice.reasons)}


# -- run ------------------------------------------------------------------------------------------------


def add_run(commands: Any) -> CommandParser:
    """Add ``outfold run``."""
    parser = add_command(
        commands,
        "run",
        _run,
        "try about 60 configurations on a table; give a corrected estimate and the fitted model",
        """example:
  outfold run train.csv --target y -o out/

The folder gets three files: run.oof (the predictions; if you stop a run, the same command continues from it), report.html (a
page with all results) and model.skops. To use the model in Python:
  import skops.io
  path = "out/model.skops"
  model = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
  model.predict(frame)        # a pandas frame with the columns of the table

Load models only from people you trust: first look at what get_untrusted_types lists.""",
    )
    parser.add_argument("data", help="a .csv, .csv.gz or .parquet file with one row per sample")
    add_option(parser, "--target", required=True, metavar="COL", help="the column to predict")
    add_option(
        parser,
        "-o",
        "--out",
        library="out store",
        default="out",
        metavar="DIR",
        help="folder for the files (default: %(default)s)",
    )
    add_metric(parser, help="what to select by (default: roc_auc, accuracy or r2, depending on the task)")
    add_option(parser, "--task", choices=["classification", "regression"], help="(default: recognised from the target)")
    add_option(
        parser,
        "--folds",
        library="folds Plan.folds",
        type=int,
        default=10,
        metavar="K",
        help="number of folds (default: %(default)s)",
    )
    add_option(
        parser,
        "--repeats",
        library="repeats Plan.repeats",
        type=int,
        default=1,
        metavar="R",
        help="how often to repeat the folds (default: %(default)s)",
    )
    add_option(
        parser, "--group", library="group groups", metavar="COL", help="rows with the same value are held out together"
    )
    add_option(parser, "--id", dest="sample", metavar="COL", help="names of the rows; not used as a feature")
    add_option(
        parser,
        "--drop-columns",
        dest="leave_out",
        type=names,
        default=[],
        metavar="A,B",
        help="columns not to use as features",
    )
    add_option(parser, "--positive", metavar="LABEL", help="which of two classes is the positive one")
    add_option(parser, "--timeout", type=float, metavar="S", help="seconds that one fit may take")
    add_option(parser, "--inner", action="store_true", help="add an estimate by nested cross-validation (more fits)")
    add_option(
        parser,
        "--share",
        choices=["exact", "close", "none"],
        default="exact",
        help="how closely shared fits must match separate fits (default: %(default)s)",
    )
    parser.add_argument("--explain", action="store_true", help="first print what the configurations share")
    add_work_options(parser)
    add_format(parser)
    return parser


def _run(args: argparse.Namespace) -> None:
    result = run(
        args.data,
        args.target,
        args.out,
        metric=args.metric,
        task=args.task,
        plan=Plan(folds=args.folds, repeats=args.repeats),
        group=args.group,
        sample=args.sample,
        leave_out=args.leave_out,
        positive=args.positive,
        n_jobs=args.n_jobs,
        seed=args.seed,
        timeout=args.timeout,
        inner=args.inner,
        command=args.typed,
        share=False if args.share == "none" else args.share,
        explain=_print_to_stderr if args.explain else None,
        say=lambda text: _print_to_stderr(f"note: {text}"),
    )
    print_as(args.format, result, result.to_dict, lambda: _run_rows(result))


def _print_to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _run_rows(result: Result) -> list[dict[str, Any]]:
    facts = result.to_dict()
    nested, files = facts.pop("nested", None), {k: facts[k] for k in ("predictions", "model", "report")}
    return [estimate_row(part) for part in (facts, *([nested | files] if nested else []))]
