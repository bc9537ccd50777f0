"""The command line: each command loads, makes one public call, and prints.

Results go to stdout, progress and notes to stderr. The exit code is 0 for success, 2 for wrong usage, 1 for a failure,
130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import shlex
import sys
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..exceptions import InputError, OutfoldError
from .clock import LOADED

if TYPE_CHECKING:
    from .options import CommandParser

__all__ = ["main"]

FINE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130

_FIRST_STEPS = """\
New here?                  outfold demo
Your own data?             outfold run data.csv --target COLUMN
Predictions, eval logs?    outfold read FILE -o my.oof, then outfold estimate my.oof"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command with these arguments, or those of the process; the exit code is returned."""
    for stream in (sys.stdout, sys.stderr):
        # A character the terminal cannot show must not end the command.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        return _run(argv)
    except KeyboardInterrupt as stop:
        return _say("; ".join(["interrupted", *getattr(stop, "__notes__", ())]), INTERRUPTED)


def _run(argv: Sequence[str] | None) -> int:
    parser, run_parser = build_parser()
    try:
        args = parser.parse_args(argv)
        args.began = LOADED if argv is None else monotonic()  # whoever gives arguments has loaded this long before
        args.typed = shlex.join(["outfold", *(sys.argv[1:] if argv is None else argv)])
    except SystemExit as stop:  # argparse has printed what is wrong, or the help
        return int(stop.code or FINE)
    try:
        code: int = args.command(args) or FINE
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone, such as `head`: nothing is wrong.
        _close_output()
        return FINE
    except OutfoldError as error:
        if args.debug:
            raise
        wrong = isinstance(error, InputError)
        text = error.in_words(lambda code: _word(code, args.parser, run_parser))
        message = f"outfold: {'error: ' if wrong else ''}{text}\nnote: {error.hint}"
        return _say(message, WRONG_USAGE if wrong else FAILED)
    except Exception as error:
        if args.debug:
            raise
        return _explain(error)
    return code


def build_parser() -> tuple[argparse.ArgumentParser, CommandParser]:
    """The parser of all commands, and that of ``outfold run``."""
    # Loading takes a second or more, and Ctrl-C must end that too without a traceback.
    from .commands import add_commands
    from .options import CommandParser

    parser = argparse.ArgumentParser(
        prog="outfold",
        description="How good is the model you picked, really? Estimates that are corrected for picking the best.",
        epilog=_FIRST_STEPS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"outfold {__version__}")
    how: dict[str, Any] = {"metavar": "COMMAND", "required": True, "parser_class": CommandParser}
    commands = parser.add_subparsers(title="commands", **how)
    return parser, add_commands(commands)


def _word(code: str, parser: CommandParser, run_parser: CommandParser) -> str | None:
    """The command line's word for a piece of the library's code; what only `collect` takes is an option of ``outfold run``."""
    if code == "oof.configs":
        return "outfold show FILE"
    word = parser.word(code)
    if word is not None or "=" not in code:
        return word
    inside = code[len("collect(") : -1] if code.startswith("collect(") else code
    word = run_parser.word(inside)
    return word if word is None or parser is run_parser else f"outfold run {word}"


def _explain(error: Exception) -> int:
    if isinstance(error, OSError) and error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        _close_output()
        return _say(f"outfold: the output could not be written ({error.strerror}).", FAILED)
    text = str(error).strip().partition("\n")[0]
    return _say(f"outfold: unexpected {type(error).__name__}: {text} (--debug shows where)", FAILED)


def _close_output() -> None:
    """Nothing more can be written to stdout, and Python must not complain while it shuts down."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(text: str, code: int) -> int:
    if not (text.isascii() and text.isprintable()):
        # Not for "interrupted": after Ctrl-C during an import, NumPy may be half loaded and cannot be imported again.
        from ..formatting import clean

        text = clean(text)
    print(text, file=sys.stderr)
    return code
