"""Options of the commands, and the words that errors use for them.

Each option knows the library's argument that it sets: its `dest`, or the names in `library` where they differ. So an error of
the library, ```n_resamples must be ...```, becomes ``--resamples must be ...`` without a table that could lag behind.
"""

from __future__ import annotations

import argparse
import ast
import csv
import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from typing import Any, get_args

from .. import select
from ..data.criterion import Aggregate
from ..exceptions import InputError

_CALL = re.compile(r"(\w+)\((.*)\)")
_SETTING = re.compile(r"(\w+)(?:=(.*))?")


class CommandParser(argparse.ArgumentParser):
    """A parser that takes positional arguments before, between and after options, and knows the words for them."""

    _mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments by name, and those that are not known."""
        if self._mixing:
            return super().parse_known_args(args, namespace)
        # argparse's method for mixed arguments calls this one again, twice.
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False

    def word(self, code: str) -> str | None:
        """What the command line says for a piece of the library's code; None if no option stands for it.

        >>> parser = CommandParser()
        >>> add_option(parser, "--jobs", dest="n_jobs", type=int)
        >>> add_option(parser, "--folds", library="Plan.folds", type=int)
        >>> parser.word("n_jobs"), parser.word("n_jobs=-1"), parser.word("Plan(folds=10)"), parser.word("share='exact'")
        ('--jobs', '--jobs -1', '--folds 10', None)
        """
        call = _CALL.fullmatch(code)
        owner, inside = (f"{call[1]}.", call[2].split(", ")) if call else ("", [code])
        words = [self._setting(owner, text) for text in inside]
        return None if None in words else " ".join(word for word in words if word)

    def _setting(self, owner: str, text: str) -> str | None:
        """The word for ``name``, ``name=`` or ``name=value``."""
        found = _SETTING.fullmatch(text)
        action = None if found is None else self._option(owner + found[1], text)
        if found is None or action is None:
            return None
        flag = next((f for f in action.option_strings if f.startswith("--")), action.dest)
        value = found[2]
        if not value:
            return flag
        if action.nargs == 0:  # a switch
            return flag if value == "True" else None
        if value == "...":
            return f"{flag} {action.metavar or '{' + ','.join(map(str, action.choices or ())) + '}'}"
        plain = _plain(value)
        return None if action.choices and plain not in action.choices else f"{flag} {shlex.quote(plain)}"

    def _option(self, name: str, text: str) -> argparse.Action | None:
        """The option for a library argument; ``config=`` may mean another one than ``config``."""
        known = {n: action for action in self._actions for n in getattr(action, "library", ())}
        exact = [f"{name}=", name] if "=" in text else [name, f"{name}="]
        return next((known[n] for n in exact if n in known), None)


def _plain(value: str) -> str:
    """``'yes'`` without its quotes; anything else as it is."""
    try:
        found = ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return value
    return found if isinstance(found, str) else value


def add_option(container: Any, *flags: str, library: str = "", **settings: Any) -> None:
    """Add an option; its help says its default.

    `library` has the library's arguments that the option sets, separated by spaces, where `dest` is not their name. Errors use
    the first long flag. All other settings are those of ``argparse.ArgumentParser.add_argument``.
    """
    help = settings.pop("help", "")
    if settings.get("default") and "(default" not in help:
        help = f"{help} (default: %(default)s)".lstrip()
    action = container.add_argument(*flags, help=help, **settings)
    action.library = (library or action.dest).split()


def add_command(commands: Any, name: str, does: Callable[..., int | None], summary: str, epilog: str) -> CommandParser:
    """Add a command with its help."""
    how: dict[str, Any] = {"epilog": epilog, "formatter_class": argparse.RawDescriptionHelpFormatter}
    description = summary[0].upper() + summary[1:] + "."
    parser: CommandParser = commands.add_parser(name, help=summary, description=description, **how)
    parser.set_defaults(command=does, parser=parser)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


# -- options that several commands have -----------------------------------------------------------------

# Attributes that hold the columns of a table, and the names that `read` gives them.
COLUMNS = {"sample": "sample", "config_column": "config"}
COLUMNS |= {name: name for name in ("label", "prediction", "fold", "repeat", "group", "response", "positive")}


def add_file(parser: CommandParser) -> None:
    """The file with the predictions, and the columns of a table."""
    several = "an .oof file, the folder of an outfold run, or a long or wide table as .csv, .csv.gz or .parquet"
    parser.add_argument("file", help=several)
    add_columns(parser)


def add_columns(parser: CommandParser) -> None:
    """The columns of a table."""
    columns = parser.add_argument_group("columns of a .csv or .parquet table")
    what = {"sample": "name of the sample", "config-column": "name of the configuration (a model, a prompt)"}
    what |= {"fold": "fold that held the sample out", "repeat": "repeat of the cross-validation"}
    what |= {"group": "group of the sample"}
    for name, help in what.items():
        default = name.removesuffix("-column")
        add_option(columns, f"--{name}", library=f"{default}=", metavar="COL", help=f"{help} (default: {default})")
    twice = "true label; for survival give it twice: time, event"
    each = "prediction; give it once for each class, if there is a column for each"
    for name, help in (("label", twice), ("prediction", each)):
        how = {"action": "append", "metavar": "COL", "help": f"{help} (default: {name})"}
        add_option(columns, f"--{name}", library=f"{name}=", **how)
    wide = "the columns of a wide table with one column for each model; name them if Outfold cannot tell"
    add_option(columns, "--models", type=names, metavar="A,B", help=wide)
    kinds = "kind of the predictions: label, score, proba, value, risk or pointwise"
    add_option(columns, "--response", metavar="R", help=kinds)
    add_option(columns, "--positive", metavar="LABEL", help="which of two classes is the positive one")


def add_draws(parser: CommandParser, n_resamples: int | None = None, draws: str = "bootstrap draws") -> None:
    """Resamples, confidence level and seed; the library's defaults apply to those that are not given."""
    default = "" if n_resamples is None else f" (default: {n_resamples})"
    add_option(parser, "--resamples", dest="n_resamples", type=int, metavar="B", help=f"number of {draws}{default}")
    flags, help = ("--confidence-level", "--level"), "confidence level of intervals (default: 0.95)"
    add_option(parser, *flags, dest="confidence_level", type=float, metavar="L", help=help)
    add_option(parser, "--seed", dest="rng", type=_seed, metavar="N", help="seed of the draws (default: 0)")


def add_margins(parser: CommandParser) -> None:
    """Margins within which the first of two configurations may be as good as the second."""
    worse = "is the first worse than the second by less than M, if at all?"
    add_option(parser, "--non-inferior", type=float, metavar="M", help=worse)
    add_option(parser, "--equivalent", type=float, metavar="M", help="do the two differ by less than M?")


def add_format(parser: CommandParser, *further: str) -> None:
    """How the result is printed; `further` formats are those for a paper, latex and prose."""
    choices = ["text", "json", "csv", *further]
    parser.add_argument("--format", choices=choices, default="text", help="output format (default: %(default)s)")


def add_work_options(parser: CommandParser) -> None:
    """Workers and seed."""
    workers = "number of workers (default: one per core)"
    add_option(parser, "--jobs", dest="n_jobs", type=_jobs, default=-1, metavar="N", help=workers)
    seed = "seed of all random numbers (default: %(default)s)"
    add_option(parser, "--seed", library="rng seed", type=_seed, default=0, metavar="N", help=seed)


def _number(allowed: Callable[[int], bool], needed: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        with suppress(ValueError):
            if allowed(int(text)):
                return int(text)
        raise argparse.ArgumentTypeError(f"must be {needed}; got {text}")

    return read


_jobs = _number(bool, "a number of workers, or -1 for one per core")
_seed = _number(lambda number: number >= 0, "a whole number from 0")


def names(text: str) -> list[str]:
    """Names between commas; one with a comma of its own is in quotation marks, as in a csv file.

    >>> names('age, "height, cm"')
    ['age', 'height, cm']
    """
    rows = csv.reader(text.splitlines(keepends=True), skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


def given(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """The options of these names that were given, as arguments of a library call."""
    return {name: getattr(args, name) for name in names if getattr(args, name) is not None}


# -- what selects ---------------------------------------------------------------------------------------------

_RECORDED = "as the file records"


def add_selection(
    parser: CommandParser,
    by: str = "metric that selects and is reported (default: the one that the file records)",
    default_aggregate: str = _RECORDED,
    default_rule: str = _RECORDED,
) -> None:
    """What selects: the metric, the aggregate and the rule."""
    add_option(parser, "--metric", metavar="M", help=by)
    ways = "score all predictions of a repeat together, pairs within folds, or take the mean over folds"
    folds = f"{ways} (default: {default_aggregate})"
    add_option(parser, "--aggregate", choices=get_args(Aggregate), help=folds)
    rules = [name for name in select.__all__ if name.islower()]
    add_option(parser, "--rule", choices=rules, help=f"how the configuration is selected (default: {default_rule})")
    keep = "for one_standard_error and within: the parameter to keep small"
    add_option(parser, "--complexity", metavar="PARAM", help=keep)
    lose = "for within: percent of the best score that you are willing to lose"
    add_option(parser, "--loss-percent", type=float, metavar="P", help=lose)


def read_rule(args: argparse.Namespace) -> select.Rule | None:
    """The rule that the options name."""
    simplest, within = args.rule in ("one_standard_error", "within"), args.rule == "within"
    if args.complexity is not None and not simplest:
        raise InputError("--complexity goes with --rule one_standard_error or within only.")
    if args.loss_percent is not None and not within:
        raise InputError("--loss-percent goes with --rule within only.")
    if simplest and args.complexity is None:
        raise InputError(f"--rule {args.rule} needs --complexity, the parameter to keep small, such as C.")
    if within and args.loss_percent is None:
        raise InputError("--rule within needs --loss-percent, the percent of the best score you may lose, such as 2.")
    if args.rule is None:
        return None
    named: Any = getattr(select, args.rule)
    made: select.Rule = named(*given(args, "loss_percent").values(), args.complexity) if simplest else named
    return made
