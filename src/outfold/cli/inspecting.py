"""``outfold inspect``: how a file is read, and what each of its columns is used for."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from ..exceptions import FileError
from ..formatting import between_commas
from ..tables import Columns, TableFile, inspect, read_file
from ..tables.columns import Role, read_columns
from .options import CommandParser, add_command, add_format, add_option, given, names

SUMMARY = "show how a table is read, and what each column is used for, before any fit"
EPILOG = """examples:
  outfold inspect data.csv
  outfold inspect data.csv --target y -o columns.toml
  outfold inspect data.csv --separator semicolon --decimal , --encoding cp1252

The .toml file has one line per column. Change roles or kinds in it, and pass it to --columns. The roles are feature, target,
group, sample, time, event, id, constant, duplicate, empty and unused; models learn from features only. The kinds are number,
category, boolean, date and text."""

FORMATS = "a .csv, .tsv, .txt (also .gz), .parquet, .feather, .arff or .xlsx file with one row per sample"
_DIALECT = ("encoding", "separator", "decimal", "thousands", "quote")
_ROLES = ("target", "group", "sample", "time", "event")


def add_dialect(parser: CommandParser) -> None:
    """How a text file is written, where the guess is wrong."""
    group = parser.add_argument_group("format of a text file (default: recognised from the file)")
    add_option(group, "--encoding", metavar="E", help="encoding, such as utf-8 or cp1252")
    add_option(
        group, "--separator", metavar="S", help="between cells: a character, or comma, semicolon, tab, pipe, space"
    )
    add_option(group, "--decimal", metavar="D", help="the decimal mark: . or ,")
    add_option(group, "--thousands", metavar="T", help="the thousands separator, or none")
    add_option(group, "--quote", metavar="Q", help="the quotation mark around cells, or none")


def dialect_options(args: argparse.Namespace) -> dict[str, Any]:
    """What was said of the dialect, as arguments of `read_file`."""
    return given(args, *_DIALECT)


def add_roles(parser: CommandParser) -> None:
    """The columns that are no features, beside the target."""
    together = "rows with the same value are held out together"
    add_option(parser, "--group", library="group groups", metavar="COL", help=together)
    naming = "column with the names of the rows; it is not a feature"
    add_option(parser, "--id", dest="sample", metavar="COL", help=naming)
    add_option(parser, "--time", metavar="COL", help="for survival: time of the event, or of the last visit")
    add_option(parser, "--event", metavar="COL", help="for survival: 1 if the event happened, else 0")
    unused = "columns not to use as features; a name with a comma in quotation marks: 'A,\"height, cm\"'"
    add_option(parser, "--drop-columns", dest="leave_out", type=names, default=[], metavar="A,B", help=unused)


def add_inspect(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "inspect", _inspect, SUMMARY, EPILOG)
    parser.add_argument("data", help=FORMATS)
    add_option(
        parser, "--target", metavar="COL", help="the column to predict; warns of features that predict it too well"
    )
    add_roles(parser)
    add_option(parser, "--columns", library="given", metavar="FILE", help="your own roles and kinds of columns")
    add_option(parser, "-o", "--out", metavar="FILE", help="write the columns to this .toml file")
    add_dialect(parser)
    add_format(parser)


def _inspect(args: argparse.Namespace) -> None:
    from .printing import print_as

    out = None if args.out is None else Path(args.out)
    if out is not None and out.suffix != ".toml":
        raise FileError(f"{out.name} must be a .toml file.")
    table = read_file(args.data, **dialect_options(args))
    roles = {role: getattr(args, role) for role in _ROLES}
    decided = None if args.columns is None else read_columns(args.columns)
    columns = inspect(table.frame, **roles, leave_out=args.leave_out, given=decided)
    for note in table.notes:
        print(f"note: {note}", file=sys.stderr, flush=True)
    print_as(args.format, f"{table}\n\n{columns}", lambda: _facts(table, columns), columns.to_rows)
    if out is not None:
        _write(out, columns.to_toml(_comment(table)))
    _say_next(args, columns, out)


def _facts(table: TableFile, columns: Columns) -> dict[str, Any]:
    dialect = None if table.dialect is None else vars(table.dialect)
    rows, notes = len(table.frame), [*table.notes, *columns.notes]
    return {"file": str(table.path), "rows": rows, "dialect": dialect, "notes": notes, "columns": columns.to_rows()}


def _comment(table: TableFile) -> str:
    return f"The columns of {table}.\nChange a role or a kind, then: outfold run {table.path.name} --columns FILE\n"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error.strerror or error}).") from None
    print(f"written to {path}", file=sys.stderr)


def _say_next(args: argparse.Namespace, columns: Columns, out: Path | None) -> None:
    """The command that follows, where one can be named."""
    if args.format != "text" or not columns.features:
        return
    predicted: tuple[Role, ...] = ("time", "event") if args.time is not None else ("target",)
    words = ["outfold", "run", args.data]
    for role in predicted:
        words += [f"--{role}", columns.named(role) or "COLUMN"]
    if out is not None:  # it has the other roles
        words += ["--columns", str(out)]
    else:
        others = {"--group": args.group, "--id": args.sample, "--drop-columns": between_commas(args.leave_out)}
        words += [word for option, name in others.items() if name for word in (option, name)]
        words += [] if args.columns is None else ["--columns", args.columns]
    print(f"\nnext   {shlex.join(words)}")
