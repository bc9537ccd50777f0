"""``outfold report`` and ``outfold open``: all that predictions say, on one page, in a file or in the browser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ..reporting import Report, report
from ..reporting.page import serve
from .arguments import add_command, add_file, seed
from .files import load

_REPORT = """examples:
  outfold report out/run.oof
  outfold report out/run.oof --metric roc_auc -o report.html
  outfold report out/run.oof -o report.md      # .html, .md or .tex, by the name

The html page needs no network and no other file. It prints well: the browser's "save as PDF" makes a paper of it."""

_OPEN = """examples:
  outfold open out/run.oof
  outfold open out/run.oof --metric roc_auc --no-browser --port 8000

The page is served on this computer only, until Ctrl-C."""


def add(commands: Any) -> None:
    """Add the command that writes a report."""
    parser = add_command(commands, "report", _report, "write all that predictions say to one html page", _REPORT)
    _add_options(parser)
    parser.add_argument(
        "-o", "--out", default="report.html", metavar="FILE", help="the page: .html, .md or .tex (default: %(default)s)"
    )


def add_open(commands: Any) -> None:
    """Add the command that shows a report in the browser."""
    parser = add_command(commands, "open", _open, "show the report of predictions in the browser", _OPEN)
    _add_options(parser)
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="(default: a free port)")


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--metric", metavar="M", help="metric that selects and is reported (default: that of the task)")
    parser.add_argument("--title", metavar="TEXT", help="title of the page (default: the file's name)")
    parser.add_argument(
        "--resamples", type=int, default=1000, metavar="B", help="bootstrap draws (default: %(default)s)"
    )
    parser.add_argument(
        "--level", type=float, default=0.95, metavar="L", help="confidence level (default: %(default)s)"
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the draws (default: %(default)s)")


def _made(args: argparse.Namespace) -> Report:
    return report(
        load(args),
        args.metric,
        title=args.title or Path(args.file).name,
        n_resamples=args.resamples,
        confidence_level=args.level,
        rng=args.seed,
        command=args.typed,
    )


def _report(args: argparse.Namespace) -> None:
    made = _made(args)
    path = made.save(args.out)
    print(made)
    print(f"written to {path}", file=sys.stderr)


def _open(args: argparse.Namespace) -> None:
    page = _made(args).to_html()
    serve(
        page,
        args.port,
        browser=not args.no_browser,
        say=lambda address: print(f"{address}   (Ctrl-C ends)", flush=True),
    )
