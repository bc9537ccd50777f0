"""The command line: every command loads, makes one public call, and prints.

Results go to stdout, progress and notes to stderr. The exit code is 0 for success, 2 for wrong usage, 1 for a failure,
130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import inspect
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import estimate, select
from .._version import __version__
from ..exceptions import InputError, OutfoldError
from . import advise, check, compare, rank, report
from .arguments import MixedParser, add_command, add_file, add_format, add_work_options, names, seed
from .files import again, load, print_as

if TYPE_CHECKING:
    from ..apps.run import Result
    from ..data.predictions import Predictions
    from ..results import Estimate, Leaderboard

__all__ = ["main"]

FINE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the arguments say; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A character the terminal cannot show must not end the command.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    parser = _parser()
    try:
        args = parser.parse_args(argv)
        args.typed = shlex.join(["outfold", *(sys.argv[1:] if argv is None else argv)])
    except SystemExit as stop:  # argparse has said what is wrong, or shown the help
        return int(stop.code or FINE)
    try:
        code: int = args.command(args) or FINE
        sys.stdout.flush()
    except KeyboardInterrupt as stop:
        text = "; ".join(["interrupted", *getattr(stop, "__notes__", ())])
        return _say(_in_options(text, args.name), INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone, such as `head`: nothing is wrong.
        _close_output()
        return FINE
    except Exception as error:
        if args.debug:
            raise
        return _explain(error, args.name)
    return code


def _explain(error: Exception, command: str) -> int:
    if isinstance(error, InputError):
        return _say(f"outfold: error: {_in_options(str(error), command)}", WRONG_USAGE)
    if isinstance(error, OutfoldError):
        return _say(f"outfold: {_in_options(str(error), command)}", FAILED)
    if isinstance(error, OSError) and error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        _close_output()
        return _say(f"outfold: the output could not be written ({error.strerror}).", FAILED)
    text = str(error).strip().partition("\n")[0]
    return _say(f"outfold: unexpected {type(error).__name__}: {text} (--debug shows where)", FAILED)


def _close_output() -> None:
    """Nothing more can be written to stdout, and Python must not complain while it shuts down."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# The columns of a table, which several commands read.
_COLUMNS = {
    r"\(config=, repeat=\)": "(--config-column, --repeat)",
    r"\(config=\)": "(--config-column)",
    r"\((sample|label|prediction|fold|repeat|group)=\)": r"(--\1)",
}
_REPORT = _COLUMNS | {
    r"\bn_resamples\b": "--resamples",
    r"\bconfidence_level\b": "--level",
    r"(?<!Collect with )\bresponse='(\w+)'": r"--response \1",
    r"\bpositive=(\S+)": r"--positive \1",
}
# The library's words in its errors, and what they are called on the command line, by command.
_WORDS = {
    "run": {
        r"\bPlan\(folds=(\d+|K)\)": r"--folds \1",
        r"\binner=True\b": "--inner",
        r"\bn_jobs=(-?\d+)": r"--jobs \1",
        r"\bn_jobs\b": "--jobs",
        r"\btimeout must\b": "--timeout must",
        r"\bgroups=\.\.\.": "--group COL",
        r"\bpositive=(\S+)": r"--positive \1",
        r"\brng must\b": "--seed must",
        r"\buse another store, or delete it to start anew\b": "give another folder with -o, or delete it to start anew",
        r"\bthe same call goes on\b": "the same command goes on",
    },
    "estimate": _COLUMNS
    | {
        r"\bn_resamples\b": "--resamples",
        r"\bconfidence_level\b": "--level",
        r"(?<!Collect with )\bresponse='(\w+)'": r"--response \1",
        r"\bstratify=True\b": "--stratify",
        r"\bpositive=(\S+)": r"--positive \1",
        r"\binner=True\b": "inner=True (outfold run --inner)",
    },
    "compare": _COLUMNS
    | {
        r"\bn_resamples\b": "--resamples",
        r"'rng'": "--seed",
        r"\bconfidence_level\b": "--level",
        r"\brope must\b": "--rope must",
        r"\balternative='(\S+)'": r"--alternative \1",
        r"(?<!Collect with )\bresponse='(\w+)'": r"--response \1",
    },
    "show": _COLUMNS
    | {
        r"(?<!Collect with )\bresponse='(\w+)'": r"--response \1",
        r"\bpositive=(\S+)": r"--positive \1",
    },
    "check": _COLUMNS
    | {
        r"\bignore: ": "--ignore: ",
        r"(?<!Collect with )\bresponse='(\w+)'": r"--response \1",
        r"\bpositive=(\S+)": r"--positive \1",
    },
    "report": _REPORT,
    "open": _REPORT,
    "advise": {
        r"\b(budget|cost|precision) must\b": r"--\1 must",
        r"\bbudget needs cost\b": "--budget needs --cost",
        r"\bn_jobs must\b": "--jobs must",
        r"\bgoal='(\w+)'": r"--goal \1",
        r"\bn_samples must\b": "the number of samples must",
        r"\bn_configs must\b": "the number of configurations must",
    },
    "rank": {
        r"\bmissing='drop'": "--missing drop",
        r"Leave the column out, or name the others: algorithms=\.": "Leave the column out.",
        r"Say datasets=.*, or name the columns to compare with algorithms\.": "Leave it out, or make it text.",
    },
}


def _in_options(text: str, command: str) -> str:
    for word, option in _WORDS.get(command, {}).items():
        text = re.sub(word, option, text)
    return text


def _say(text: str, code: int = FINE) -> int:
    print(text, file=sys.stderr)
    return code


# -- commands -------------------------------------------------------------------------------------------


def _demo(args: argparse.Namespace) -> None:
    from ..apps import demo

    demo.main(args.samples, args.times, seed=args.seed, n_jobs=args.jobs)


def _run(args: argparse.Namespace) -> None:
    from ..apps.run import run
    from ..data.plan import Plan

    result = run(
        args.data,
        args.target,
        args.out,
        metric=args.metric,
        task=args.task,
        plan=Plan(folds=args.folds, repeats=args.repeats),
        group=args.group,
        sample=args.id,
        leave_out=args.drop_columns,
        positive=args.positive,
        n_jobs=args.jobs,
        seed=args.seed,
        timeout=args.timeout,
        inner=args.inner,
        command=args.typed,
        share=False if args.share == "none" else args.share,
        explain=(lambda text: print(text, file=sys.stderr, flush=True)) if args.explain else None,
        say=lambda text: print(f"note: {text}", file=sys.stderr, flush=True),
    )
    print_as(args.format, result, result.to_dict, lambda: _run_rows(result))


def _run_rows(result: Result) -> list[dict[str, Any]]:
    facts = result.to_dict()
    nested, files = facts.pop("nested", None), {k: facts[k] for k in ("predictions", "model", "report")}
    return [_estimate_row(part) for part in (facts, *([nested | files] if nested else []))]


def _show(args: argparse.Namespace) -> None:
    oof = load(args)
    board = None if args.metric is None else oof.leaderboard(args.metric)
    text = str(oof) if board is None else f"{oof}\n\n{board}\n\n{_advice_for_best(args, board)}"
    rows = _config_rows(oof) if board is None else board.to_dict()["configurations"]
    print_as(args.format, text, lambda: _facts(oof, board), lambda: rows)


def _advice_for_best(args: argparse.Namespace, board: Leaderboard) -> str:
    if len(board) < 2:
        return f"For an interval:  outfold estimate {again(args)} --metric {args.metric}"
    return (
        f"The first score is optimistic: it was picked as the best of {len(board):,}.\n"
        f"For a corrected estimate:  outfold estimate {again(args)} --metric {args.metric}"
    )


def _estimate(args: argparse.Namespace) -> None:
    method = getattr(estimate, args.method)
    options = _method_options(args, method)
    result: Estimate = method(load(args), args.metric, **options)
    print_as(args.format, result, result.to_dict, lambda: [_estimate_row(result.to_dict())])


# What the options are called in the library; those not given stay the library's own defaults.
_OPTIONS = {
    "rule": "rule",
    "resamples": "n_resamples",
    "level": "confidence_level",
    "stratify": "stratify",
    "seed": "rng",
    "config": "config",
}


def _method_options(args: argparse.Namespace, method: Callable[..., Estimate]) -> dict[str, Any]:
    known = inspect.signature(method).parameters
    given = {option: getattr(args, option) for option in _OPTIONS if getattr(args, option) is not None}
    for option in given:
        if _OPTIONS[option] not in known:
            fitting = [f"--{o}" for o, name in _OPTIONS.items() if name in known]
            raise InputError(f"--{option} is no option of {args.method}, which takes {', '.join(fitting)}.")
    if args.complexity is not None and args.rule != "one_standard_error":
        raise InputError("--complexity goes with --rule one_standard_error only.")
    out = {_OPTIONS[option]: value for option, value in given.items()}
    if "rule" in out:
        out["rule"] = _rule(args.rule, args.complexity)
    return out


def _rule(name: str, complexity: str | None) -> Any:
    if name != "one_standard_error":
        return getattr(select, name)
    if complexity is None:
        raise InputError("--rule one_standard_error needs --complexity, the parameter to keep small, such as C.")
    return select.one_standard_error(complexity)


# -- rows and facts ------------------------------------------------------------------------------------


def _estimate_row(facts: dict[str, Any]) -> dict[str, Any]:
    low, high = facts.pop("interval") or (None, None)
    codes = " ".join(note["code"] for note in facts.pop("notes"))
    facts.pop("details")
    value = {"metric": facts.pop("metric"), "value": facts.pop("value"), "low": low, "high": high}
    return value | facts | {"notes": codes}


def _facts(oof: Predictions, board: Leaderboard | None) -> dict[str, Any]:
    out = {
        "samples": oof.n_samples,
        "task": oof.target.task,
        "classes": oof.target.classes,
        "groups": None if oof.group_codes is None else len(set(oof.group_codes.tolist())),
        "plan": str(oof.plan),
        "repeats": oof.n_repeats,
        "folds": oof.n_folds,
        "response": oof.response,
        "completeness": oof.completeness,
        "blocks": list(oof.blocks),
        "fingerprint": oof.fingerprint,
        "notes": [{"code": n.code, "text": n.text} for n in oof.notes],
        "provenance": {k: v for k, v in oof.provenance.items() if k != "specs"},
        "configurations": _config_rows(oof),
    }
    return out if board is None else out | {"leaderboard": board.to_dict()}


def _config_rows(oof: Predictions) -> list[dict[str, Any]]:
    from ..data.predictions import State

    states = oof.state[:, oof.planned]
    return [
        {"config": name} | {s.name.lower(): int((states[i] == s).sum()) for s in State}
        for i, name in enumerate(oof.configs)
    ]


# -- arguments ------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="outfold",
        description="How good is the model you picked, really? Estimates that are corrected for picking the best.",
        epilog="New here?  outfold demo    Your own data?  outfold run data.csv --target COLUMN",
    )
    parser.add_argument("--version", action="version", version=f"outfold {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=MixedParser)
    for add in (
        _add_demo,
        advise.add,
        _add_run,
        _add_show,
        _add_estimate,
        check.add,
        compare.add,
        rank.add,
        report.add,
        report.add_open,
    ):
        add(commands)
    return parser


def _add_demo(commands: Any) -> None:
    parser = add_command(
        commands,
        "demo",
        _demo,
        "see on real data how much too high the winner's score is (under a minute)",
        "example:\n  outfold demo --times 10",
    )
    parser.add_argument(
        "--samples", type=int, default=80, metavar="N", help="samples to tune on (default: %(default)s)"
    )
    parser.add_argument(
        "--times", type=int, default=30, metavar="N", help="how many such samples (default: %(default)s)"
    )
    add_work_options(parser)


def _add_run(commands: Any) -> None:
    parser = add_command(
        commands,
        "run",
        _run,
        "try about 60 configurations on a table; give a corrected estimate and the fitted model",
        """example:
  outfold run train.csv --target y -o out/

The folder gets run.oof (the predictions; a stopped run continues from it), report.html (the report) and
model.skops. In Python:
  import skops.io
  path = "out/model.skops"
  model = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
  model.predict(frame)        # a pandas frame with the columns of the table

Load only models from people you trust: look at what get_untrusted_types lists first.""",
    )
    parser.add_argument("data", help="a .csv, .csv.gz or .parquet file with one row for each sample")
    parser.add_argument("--target", required=True, metavar="COL", help="the column to predict")
    parser.add_argument("-o", "--out", default="out", metavar="DIR", help="folder for the files (default: %(default)s)")
    parser.add_argument(
        "--metric", metavar="M", help="what to select by (default: roc_auc, accuracy or r2, by the task)"
    )
    parser.add_argument("--task", choices=["classification", "regression"], help="(default: inferred from the target)")
    parser.add_argument("--folds", type=int, default=10, metavar="K", help="folds (default: %(default)s)")
    parser.add_argument(
        "--repeats", type=int, default=1, metavar="R", help="repeats of the folds (default: %(default)s)"
    )
    parser.add_argument("--group", metavar="COL", help="rows of a group are held out together")
    parser.add_argument("--id", metavar="COL", help="names of the rows; not used for learning")
    parser.add_argument("--drop-columns", type=names, default=[], metavar="A,B", help="columns not to learn from")
    parser.add_argument("--positive", metavar="LABEL", help="the positive class of two")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds a fit may take")
    parser.add_argument("--inner", action="store_true", help="estimate by nested cross-validation too (more fits)")
    parser.add_argument(
        "--share",
        choices=["exact", "close", "none"],
        default="exact",
        help="how closely shared fits must match separate fits (default: %(default)s)",
    )
    parser.add_argument("--explain", action="store_true", help="first list what the configurations share")
    add_work_options(parser)
    add_format(parser)


def _add_show(commands: Any) -> None:
    parser = add_command(
        commands,
        "show",
        _show,
        "say what predictions a file holds, and how the configurations rank",
        "example:\n  outfold show out/run.oof --metric roc_auc",
    )
    add_file(parser)
    parser.add_argument("--metric", metavar="M", help="rank the configurations by it")
    add_format(parser)


def _add_estimate(commands: Any) -> None:
    parser = add_command(
        commands,
        "estimate",
        _estimate,
        "estimate the performance of the selected configuration on new samples",
        """examples:
  outfold estimate out/run.oof --metric roc_auc
  outfold estimate predictions.csv --metric accuracy --sample id --label y --prediction p --config-column model""",
    )
    add_file(parser)
    rules = [name for name in select.__all__ if name.islower()]
    parser.add_argument(
        "--metric", required=True, metavar="M", help="such as roc_auc, accuracy, r2, or any scikit-learn scorer"
    )
    parser.add_argument("--method", choices=estimate.__all__, default="bbc", help="(default: %(default)s)")
    parser.add_argument("--rule", choices=rules, help="how the configuration is selected (default: best)")
    parser.add_argument("--complexity", metavar="PARAM", help="for one_standard_error: the parameter to keep small")
    parser.add_argument("--resamples", type=int, metavar="B", help="bootstrap draws (default: 1000)")
    parser.add_argument("--level", type=float, metavar="L", help="confidence level (default: 0.95)")
    parser.add_argument("--seed", type=seed, metavar="N", help="seed of the draws (default: 0)")
    parser.add_argument("--stratify", action="store_true", default=None, help="draw within classes")
    parser.add_argument(
        "--config", metavar="NAME", help="a configuration named beforehand, for methods that take one such as cv"
    )
    add_format(parser)
