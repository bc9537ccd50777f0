"""The commands that use what ``outfold run`` left: predict, confront, tied, samples-needed."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import compare, estimate, plot
from ..apps.folder import ANSWER, REPORT
from ..apps.report_again import write_again
from ..exceptions import FileError, InputError
from ..formatting import count
from ..io import ledger
from ..io.store import load as load_oof
from ..models import ModelAbout, confront, load_model
from ..models.labels import labelled_rows
from ..models.model import Model
from ..tables import read_file
from .inspecting import add_dialect, dialect_options
from .loading import load
from .options import CommandParser, add_command, add_draws, add_file, add_format, add_margins, add_option, given, names
from .printing import print_as
from .writing import DRAWN, check_file, refuse_input, save_picture

if TYPE_CHECKING:
    import pandas as pd

_PREDICT = """\
examples:
  outfold predict out/ new.csv -o predictions.csv
  outfold predict out/ new.csv -o predictions.parquet --keep age,site
  outfold predict out/ new.csv -o predictions.csv --times 365,730

The output has one row for each row of new.csv: the ids, the prediction, the probability of each class (for survival, of no event
until some times), whether the row lies outside the range of the training rows, and in which columns. Without -o it is printed as
csv. The columns of new.csv may be in any order; its columns that were ids in the training table are copied."""
_CONFRONT = """\
example:
  outfold confront out/ labelled.csv

The table needs the labels, and also the columns that the model was trained on. If the labels come alone, join them first. The
model must not have been trained on these rows. The result is kept in out/run.oof, and out/report.html shows it. Labels of rare
classes that outfold run merged are merged in the same way."""
_TIED = """\
examples:
  outfold tied out/run.oof
  outfold tied out/run.oof --picture tied.svg

The set contains the truly best configuration with at least the probability given by --level."""
_NEEDED = """\
examples:
  outfold samples-needed out/run.oof --width 0.02
  outfold samples-needed out/run.oof "logit(C=1)" "tree(max_depth=3)" --power 0.9
  outfold samples-needed out/run.oof "tree(max_depth=3)" "logit(C=1)" --non-inferior 0.02"""


def add_using(commands: Any) -> None:
    """Add the commands, in the order of the help."""
    for add in (_add_predict, _add_confront, _add_tied, _add_samples_needed):
        add(commands)


def folder_of(text: str) -> Path:
    """The folder of a run, from its name or that of a file in it."""
    path = Path(text)
    if path.is_file():
        return path.parent
    if not path.is_dir():
        raise FileError(f"there is no folder {path}", remedy="Give the folder that outfold run wrote.")
    return path


def read_rows(args: argparse.Namespace, about: ModelAbout) -> pd.DataFrame:
    """The table of new rows; what is odd about the file, or other than in the training file, is printed to stderr."""
    asked = dialect_options(args)
    read = read_file(args.data, **asked)
    for note in read.notes:
        _note(note)
    if not len(read.frame):
        raise InputError(f"{read.path.name} has no rows.")
    has_numbers = any(name in read.frame.columns for name in _numbers_of(about))  # else the marks are only guesses
    differ = any(read.dialect and getattr(read.dialect, name) != mark for name, mark in about.marks.items())
    if differ and has_numbers and not {"decimal", "thousands"} & set(asked):
        options = " ".join(f"--{name} {shlex.quote(mark or 'none')}" for name, mark in about.marks.items())
        _note(f"numbers seem to be written in another way than in the training table; if they are not, add {options}")
    return read.frame


def _numbers_of(about: ModelAbout) -> list[str]:
    """The columns of the training table that are read as numbers."""
    numbers = [name for name, kind in about.columns.kinds.items() if kind == "number"]
    times = [column.name for column in about.columns.having("time")]
    return [*numbers, *times, *([about.target] if about.task == "regression" else [])]


def _note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr, flush=True)


def _add_table(parser: CommandParser, what: str) -> None:
    parser.add_argument("folder", help="the folder that outfold run wrote")
    parser.add_argument("data", help=what)
    trusted = "types to trust, if the model contains estimators of your own"
    add_option(parser, "--trust", type=names, default=[], metavar="A,B", help=trusted)
    add_dialect(parser)


# -- predict ------------------------------------------------------------------------------------------------


def _add_predict(commands: Any) -> None:
    parser = add_command(commands, "predict", _predict, "predict new rows with the model of a run", _PREDICT)
    _add_table(parser, "a table with the columns of the training table")
    add_option(parser, "-o", "--out", metavar="FILE", help="where to write: .csv, .csv.gz or .parquet")
    add_option(parser, "--keep", type=names, default=[], metavar="A,B", help="further columns to copy to the output")
    until = "for survival: give the probability of no event until each of these times (default: three times)"
    add_option(parser, "--times", type=_numbers, metavar="T,U", help=until)


def _predict(args: argparse.Namespace) -> None:
    if args.out is not None:
        check_file("out", Path(args.out), ".csv", ".csv.gz", ".parquet")
        refuse_input("out", Path(args.out), Path(args.data))
    model = load_model(folder_of(args.folder), args.trust)
    frame = read_rows(args, model.about)
    _report_check(model, frame)
    table = model.table(frame, keep=args.keep, times=args.times)
    if args.out is None:
        table.to_csv(sys.stdout, index=False)
        return
    try:
        if args.out.endswith(".parquet"):
            table.to_parquet(args.out, index=False)
        else:
            table.to_csv(args.out, index=False)
    except (OSError, ImportError) as error:
        raise FileError(f"{args.out} could not be written ({error}).") from error
    n = int(table["outside"].sum())
    outside = "1 row lies" if n == 1 else f"{n:,} rows lie"
    print(f"{count(len(table), 'prediction')} in {args.out}; {outside} outside the training range")


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in names(text)]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers between commas; got {text}") from None


def _report_check(model: Model, frame: pd.DataFrame) -> None:
    """Print what is odd about the rows; an error if the model cannot predict them."""
    found = model.check(frame)
    if not found.ok:
        raise InputError(f"the model cannot predict these rows.\n{found}")
    odd = found.unexpected or found.unseen or found.outside
    if odd:
        print(found, file=sys.stderr)


# -- confront -----------------------------------------------------------------------------------------------


def _add_confront(commands: Any) -> None:
    summary = "compare the estimate of a run with the score on new, labelled rows"
    parser = add_command(commands, "confront", _confront, summary, _CONFRONT)
    _add_table(parser, "a table of new rows with their labels")
    labels = "the column with the labels (default: as in the training table)"
    add_option(parser, "--target", library="target y", metavar="COL", help=labels)
    add_option(parser, "--metric", metavar="M", help="metric (default: the one that selected)")
    parser.add_argument("--forget", action="store_true", help="do not keep the result in the ledger of run.oof")
    add_draws(parser, 1000)
    add_format(parser)


def _confront(args: argparse.Namespace) -> None:
    folder = folder_of(args.folder)
    oof, model = load_oof(folder / ANSWER), load_model(folder, args.trust)
    rows = labelled_rows(read_rows(args, model.about), model.about, args.target)
    if rows.n_left_out:
        _note(f"left out {count(rows.n_left_out, 'row')} without a label")
    options = given(args, "metric", "n_resamples", "confidence_level", "rng")
    store = None if args.forget else folder / ANSWER
    found = confront(oof, model, rows.frame, rows.y, groups=rows.groups, store=store, **options)
    print_as(args.format, found, found.to_dict, lambda: found.to_frame("pandas").to_dict("records"))
    if store is not None:
        _update_report(folder, len(ledger.entries(oof)))


def _update_report(folder: Path, n_before: int) -> None:
    """Write the report of the folder again if the ledger has become longer, and say so."""
    if len(ledger.entries(load_oof(folder / ANSWER))) == n_before:
        _note("these rows are in the ledger already")
        return
    page = write_again(folder)
    if page is not None:
        _note(f"{page} shows it too")
        return
    if (folder / REPORT).exists():
        command = f"outfold report {folder / ANSWER} -o {folder / REPORT}"
        _note(f"{folder / REPORT} does not show it: an older outfold wrote this folder. A new page: {command}")


# -- tied, samples-needed -----------------------------------------------------------------------------------


def _add_tied(commands: Any) -> None:
    summary = "list the configurations that may be as good as the best"
    parser = add_command(commands, "tied", _tied, summary, _TIED)
    add_file(parser)
    add_option(parser, "--metric", metavar="M", help="metric (default: the one recorded in the file)")
    add_draws(parser, 1000)
    add_option(parser, "--picture", metavar="FILE", help="write the scores of the set as .svg, .png or .pdf")
    add_format(parser, "latex")


def _tied(args: argparse.Namespace) -> None:
    if args.picture is not None:
        check_file("picture", Path(args.picture), *DRAWN)
    found = compare.tied_set(load(args), args.metric, **given(args, "n_resamples", "confidence_level", "rng"))
    try:  # the picture comes first: whoever reads the text may close the pipe
        if args.picture is not None:
            save_picture(args.picture, lambda: plot.tied(found))
    finally:
        rows = found.to_dict()["configurations"]
        print_as(args.format, found, found.to_dict, lambda: rows, {"latex": found.to_latex})


def _add_samples_needed(commands: Any) -> None:
    summary = "say how many samples would settle a comparison, or narrow an interval"
    parser = add_command(commands, "samples-needed", _samples_needed, summary, _NEEDED)
    add_file(parser)
    parser.add_argument("configs", nargs="*", metavar="CONFIG", help="the two configurations to compare")
    add_option(parser, "--metric", metavar="M", help="metric (default: the one recorded in the file)")
    wanted = "half the width of the interval you want"
    add_option(parser, "--width", library="half_width", type=float, metavar="W", help=wanted)
    sure = "the probability with which the test should find the difference"
    add_option(parser, "--power", type=float, default=0.8, metavar="P", help=sure)
    true = "the true difference (default: the observed one; 0 with a margin)"
    add_option(parser, "--difference", type=float, metavar="D", help=true)
    add_margins(parser)
    add_draws(parser)
    add_format(parser)


def _samples_needed(args: argparse.Namespace) -> None:
    if args.width is not None and given(args, "non_inferior", "equivalent"):
        raise InputError("--non-inferior and --equivalent go with two configurations, not with --width.")
    if (args.width is None) == (not args.configs) or len(args.configs) not in (0, 2):
        raise InputError("give two configurations to compare, or --width for the interval of the estimate.")
    oof = load(args)
    if args.width is not None:
        found = estimate.bbc(oof, args.metric, **given(args, "n_resamples", "confidence_level", "rng"))
        needed = found.samples_needed(args.width)
    else:
        options = given(args, "difference", "non_inferior", "equivalent", "power", "confidence_level", "rng")
        needed = compare.samples_needed(oof, args.metric, *args.configs, **options)
    print_as(args.format, needed, needed.to_dict, lambda: [{k: v[0] for k, v in needed._columns().items()}])
