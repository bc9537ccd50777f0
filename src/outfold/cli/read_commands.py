"""Commands on stored predictions: ``outfold show``, ``estimate``, ``check``, ``report`` and ``open``."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import estimate, select
from ..checks import check
from ..data.predictions import Predictions, State
from ..exceptions import InputError
from ..reporting import Report, report
from ..reporting.page import serve
from ..results import Estimate, Leaderboard
from .files import estimate_row, load, print_as, typed_again
from .options import CommandParser, add_command, add_draws, add_file, add_format, add_metric, add_option, given, names

# -- show -----------------------------------------------------------------------------------------------


def add_show(commands: Any) -> None:
    """Add ``outfold show``."""
    parser = add_command(
        commands,
        "show",
        _show,
        "print what predictions a file holds, and how the configurations rank",
        "example:\n  outfold show out/run.oof --metric roc_auc",
    )
    add_file(parser)
    add_metric(parser, help="rank the configurations by it")
    add_format(parser)


def _show(args: argparse.Namespace) -> None:
    oof = load(args)
    board = None if args.metric is None else oof.leaderboard(args.metric)
    text = str(oof) if board is None else f"{oof}\n\n{board}\n\n{_next_step(args, board)}"
    rows = _config_rows(oof) if board is None else board.to_dict()["configurations"]
    print_as(args.format, text, lambda: _facts(oof, board), lambda: rows)


def _next_step(args: argparse.Namespace, board: Leaderboard) -> str:
    command = f"outfold estimate {typed_again(args)} --metric {args.metric}"
    if len(board) < 2:
        return f"For an interval:  {command}"
    return (
        f"The first score is optimistic: it was picked as the best of {len(board):,}.\n"
        f"For a corrected estimate:  {command}"
    )


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
    states = oof.state[:, oof.planned]
    return [
        {"config": name} | {s.name.lower(): int((states[i] == s).sum()) for s in State}
        for i, name in enumerate(oof.configs)
    ]


# -- estimate -------------------------------------------------------------------------------------------

# Options that only some methods have.
_METHOD_OPTIONS = ("rule", "n_resamples", "confidence_level", "stratify", "rng", "config")


def add_estimate(commands: Any) -> None:
    """Add ``outfold estimate``."""
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
    add_metric(parser, required=True, help="such as roc_auc, accuracy, r2, or any scikit-learn scorer")
    parser.add_argument("--method", choices=estimate.__all__, default="bbc", help="(default: %(default)s)")
    add_option(parser, "--rule", choices=rules, help="how the configuration is selected (default: best)")
    parser.add_argument("--complexity", metavar="PARAM", help="for one_standard_error: the parameter to keep small")
    add_draws(parser, 1000)
    add_option(parser, "--stratify", action="store_true", default=None, help="draw within classes")
    add_option(parser, "--config", metavar="NAME", help="a configuration you named beforehand, for methods such as cv")
    add_format(parser)


def _estimate(args: argparse.Namespace) -> None:
    method = getattr(estimate, args.method)
    options = _method_options(args, method)
    result: Estimate = method(load(args), args.metric, **options)
    print_as(args.format, result, result.to_dict, lambda: [estimate_row(result.to_dict())])


def _method_options(args: argparse.Namespace, method: Callable[..., Estimate]) -> dict[str, Any]:
    known = inspect.signature(method).parameters
    options = given(args, *_METHOD_OPTIONS)
    for option in options:
        if option not in known:
            takes = ", ".join(f"`{name}`" for name in _METHOD_OPTIONS if name in known)
            raise InputError(argument=option, needed=f"is no option of {args.method}, which takes {takes}")
    if args.complexity is not None and args.rule != "one_standard_error":
        raise InputError("--complexity goes with --rule one_standard_error only.")
    if "rule" in options:
        options["rule"] = _rule(args.rule, args.complexity)
    return options


def _rule(name: str, complexity: str | None) -> Any:
    if name != "one_standard_error":
        return getattr(select, name)
    if complexity is None:
        raise InputError("--rule one_standard_error needs --complexity, the parameter to keep small, such as C.")
    return select.one_standard_error(complexity)


# -- check ----------------------------------------------------------------------------------------------


def add_check(commands: Any) -> None:
    """Add ``outfold check``."""
    parser = add_command(
        commands,
        "check",
        _check,
        "list the caveats that apply to predictions, and what to do about them",
        """examples:
  outfold check out/run.oof
  outfold check out/run.oof --metric balanced_accuracy --ignore OF301,OF307 --strict

The exit code is 0, whatever is found; with --strict it is 1 if there is an error. docs/checks has a page for each code.""",
    )
    add_file(parser)
    add_metric(parser, help="metric that selects and is reported (default: that of the task)")
    add_option(parser, "--ignore", type=names, default=[], metavar="A,B", help="codes to leave out")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if there is an error")
    add_format(parser)


def _check(args: argparse.Namespace) -> int:
    found = check(load(args), args.metric, ignore=args.ignore)
    print_as(args.format, found, found.to_dict, lambda: [finding._asdict() for finding in found])
    return 1 if args.strict and not found.ok else 0


# -- report and open ------------------------------------------------------------------------------------


def add_report(commands: Any) -> None:
    """Add ``outfold report``."""
    parser = add_command(
        commands,
        "report",
        _report,
        "write everything that predictions show to one html page",
        """examples:
  outfold report out/run.oof
  outfold report out/run.oof --metric roc_auc -o report.html
  outfold report out/run.oof -o report.md      # the ending decides: .html, .md or .tex

The html page needs no network and no other file. To make a PDF, print it from the browser.""",
    )
    _add_report_options(parser)
    parser.add_argument(
        "-o", "--out", default="report.html", metavar="FILE", help="the page: .html, .md or .tex (default: %(default)s)"
    )


def add_open(commands: Any) -> None:
    """Add ``outfold open``."""
    parser = add_command(
        commands,
        "open",
        _open,
        "show the report of predictions in the browser",
        """examples:
  outfold open out/run.oof
  outfold open out/run.oof --metric roc_auc --no-browser --port 8000

Only this computer can see the page. Press Ctrl-C to end.""",
    )
    _add_report_options(parser)
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="(default: any free one)")


def _add_report_options(parser: CommandParser) -> None:
    add_file(parser)
    add_metric(parser, help="metric that selects and is reported (default: that of the task)")
    add_option(parser, "--title", metavar="TEXT", help="title of the page (default: the file's name)")
    add_draws(parser, 1000)


def _make_report(args: argparse.Namespace) -> Report:
    options = given(args, "n_resamples", "confidence_level", "rng")
    title = args.title or Path(args.file).name
    return report(load(args), args.metric, title=title, command=args.typed, **options)


def _report(args: argparse.Namespace) -> None:
    made = _make_report(args)
    path = made.save(args.out)
    print(made)
    print(f"written to {path}", file=sys.stderr)


def _open(args: argparse.Namespace) -> None:
    serve(
        _make_report(args).to_html(),
        args.port,
        browser=not args.no_browser,
        say=lambda address: print(f"{address}   (Ctrl-C ends)", flush=True),
    )
