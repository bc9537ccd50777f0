"""The predictions in the file or the folder that a command was given."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..apps.folder import ANSWER
from ..data.predictions import Predictions
from ..exceptions import FileError, InputError
from ..io.files import read
from .options import COLUMNS


def load(args: argparse.Namespace) -> Predictions:
    """The predictions of the file, by the columns that were named."""
    named = {name: getattr(args, option) for option, name in COLUMNS.items() if getattr(args, option) is not None}
    for several in ("label", "prediction"):
        if several in named:
            values = named[several]
            named[several] = values[0] if len(values) == 1 else tuple(values)
    try:
        return read(predictions_in(args.file), models=args.models, **named)
    except InputError as error:
        if error.argument in COLUMNS.values():
            error.argument = f"{error.argument}="  # the column, where another option has the same name
        raise


def predictions_in(name: str) -> Path:
    """The file itself, or that with the predictions in the folder of a run."""
    path = Path(name)
    if not path.is_dir():
        return path
    if not (path / ANSWER).is_file():
        remedy = "Give a file, or the folder of an outfold run that has ended."
        raise FileError(f"the folder {path} has no file {ANSWER}", remedy=remedy)
    return path / ANSWER
