"""Scores of single items by many models, as evaluations of language models log them."""

from __future__ import annotations

import csv
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ..arguments import check_choice
from ..data.predictions import Predictions
from ..exceptions import FileError, InputError, OutfoldError, invalid
from ..io.convert import from_arrays
from ..io.untrusted import refuse_special

Missing: TypeAlias = Literal["refuse", "drop"]
PathLike: TypeAlias = str | Path
Paths: TypeAlias = PathLike | Sequence[PathLike]

TEXTS = {
    "group": (
        "group : str or None\n    What names the cluster of an item, such as the passage that several questions are about. "
        "Intervals and\n    tests then take whole clusters."
    ),
    "missing": (
        'missing : {"refuse", "drop"}\n    What to do with items that lack the score of some model or epoch: refuse the logs, '
        "or leave these\n    items out."
    ),
}


class Item(NamedTuple):
    """The score of one model on one item, in one epoch."""

    model: str
    item: str
    score: float
    repeat: int = 0
    group: str | None = None


def from_items(items: Iterable[Item], logged: Iterable[str], source: str, missing: Missing = "refuse") -> Predictions:
    """Scores by item, model and epoch, in the order in which items and models first appear.

    `logged` are the models that the logs are of: none of them may be left out because nothing of it was scored.
    """
    check_choice(missing, get_args(Missing), "missing")
    rows = list(items)
    if not rows:
        raise InputError("the logs hold no scored item", remedy="Look whether the evaluation kept its samples.")
    scored = {row.model for row in rows}
    if unscored := [model for model in logged if model not in scored]:
        problem = f"{unscored[0]!r} has no item with this score"
        raise InputError(problem, remedy="Score it, or run it again; or leave its logs out.")
    models, names = list(dict.fromkeys(row.model for row in rows)), list(dict.fromkeys(row.item for row in rows))
    repeats = sorted({row.repeat for row in rows})
    places = [{name: at for at, name in enumerate(values)} for values in (names, models)]
    epochs = {repeat: at for at, repeat in enumerate(repeats)}
    P = np.full((len(names), len(models), len(repeats)), np.nan)
    groups: dict[str, str | None] = {}
    for row in rows:
        at = places[0][row.item], places[1][row.model], epochs[row.repeat]
        if not np.isnan(P[at]):
            problem = f"{row.model!r} has two scores for item {row.item} in epoch {row.repeat}"
            raise InputError(problem, remedy="Give one log for each model, or each prompt another name.")
        P[at] = row.score
        if groups.setdefault(row.item, row.group) != row.group:
            raise InputError(f"item {row.item} belongs to two groups, {groups[row.item]} and {row.group}.")
    whole = ~np.isnan(P).any(axis=(1, 2))
    _refuse_missing(P, whole, names, models, missing)
    kept = [name for name, complete in zip(names, whole, strict=True) if complete]
    clusters = [groups[name] for name in kept]
    if any(name is None for name in clusters) and not all(name is None for name in clusters):
        lacking = kept[clusters.index(None)]
        raise invalid("group", "must name something that every item has", f"item {lacking} has none")
    known = None if clusters[0] is None else clusters
    oof = from_arrays(None, P[whole], configs=models, groups=known, samples=kept, response="pointwise")
    return replace(oof, provenance={"source": source, "items_left_out": int((~whole).sum())})


def _refuse_missing(P: Any, whole: Any, names: list[str], models: list[str], missing: Missing) -> None:
    if whole.all():
        return
    lacking = np.argwhere(np.isnan(P))[0]
    what = f"{models[lacking[1]]!r} has no score for item {names[lacking[0]]}"
    if missing == "refuse":
        n = int((~whole).sum())
        remedy = (
            f"Use `missing='drop'` to leave out the {n:,} of {len(names):,} items that lack a score, or run them again."
        )
        raise InputError(f"{what} in each epoch that others have", remedy=remedy)
    if not whole.any():
        raise InputError(f"no item has a score of every model: {what}", remedy="Read fewer models.")


# -- files --------------------------------------------------------------------------------------------------------

# What content that no tool writes can make Python raise: values of other types, damaged archives, levels below levels.
_UNEXPECTED = (
    *(LookupError, TypeError, AttributeError, ValueError, ArithmeticError, OSError, EOFError, RuntimeError),
    *(csv.Error, zipfile.BadZipFile, zlib.error),
)


@contextmanager
def reading(paths: Any, kind: str) -> Iterator[None]:
    """Whatever goes wrong because files are not of this kind, as a `FileError` that names them; our own errors say more."""
    try:
        yield
    except OutfoldError:
        raise
    except _UNEXPECTED as error:
        remedy = "Give a file as that tool wrote it."
        if isinstance(error, UnicodeDecodeError):
            remedy = "Save it with the encoding UTF-8."
        raise FileError(f"{_named(paths)} could not be read as {kind} ({_why(error)})", remedy=remedy) from error


def _named(paths: Any) -> str:
    """The names of files or folders, however they were given; of many only the first."""
    if isinstance(paths, Mapping):
        paths = list(paths.values())
    if not isinstance(paths, (list, tuple)):
        return Path(paths).name or str(paths) if isinstance(paths, (str, Path)) else str(paths)
    return ", ".join(map(_named, paths[:3])) + (", ..." if len(paths) > 3 else "")


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):  # its text is the key alone
        return f"there is no {error}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).strip().partition("\n")[0] or type(error).__name__


def files_of(paths: Paths, pattern: str, kind: str) -> list[Path]:
    """The files that are given, and those in given folders whose names fit the pattern, in the order of their names."""
    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    found: list[Path] = []
    for path in map(Path, given):
        if not path.exists():
            raise FileError(f"there is no file {path}.")
        found += sorted(path.rglob(pattern)) if path.is_dir() else [path]
    if not found:
        raise FileError(f"{', '.join(map(str, given))} holds no {kind} ({pattern}).")
    return found


def read_json(path: Path, kind: str) -> Any:
    """What a json file holds."""
    refuse_special(path)
    with reading(path, kind):
        return json.loads(path.read_text(encoding="utf-8"))


def read_lines(path: Path, kind: str) -> Iterator[Any]:
    """What the lines of a jsonl file hold."""
    refuse_special(path)
    with reading(path, kind), path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield json.loads(line)
                except json.JSONDecodeError as error:
                    raise FileError(f"line {number} of {path.name} could not be read as {kind} ({error}).") from None


def as_score(value: Any, what: str) -> float:
    """A number, or True and False, as a score."""
    if isinstance(value, (bool, int, float)):
        return float(value)
    raise InputError(f"{what} must be one number for each item; it is {value!r}.")


def number_in(text: str) -> float:
    """The number that a text is; a ValueError if it is none. Python reads 1_0 as 10, which in data is a name."""
    if "_" in text:
        raise ValueError(text)
    return float(text)


def one_of(wanted: str | None, there: Sequence[str], argument: str, what: str) -> str:
    """The name asked for, or the only one there is."""
    if wanted is None and len(there) == 1:
        return there[0]
    if wanted in there:
        return str(wanted)
    given = "there are several" if wanted is None else f"got {wanted!r}"
    if not there:
        raise invalid(argument, f"must name one of the {what}", "there are none")
    raise invalid(argument, f"must name one of the {what}: {', '.join(there)}", given)


def inside(record: Any, name: str) -> str | None:
    """The value under a name, or under a path of names with dots, as text; None if there is none."""
    for part in name.split("."):
        if not isinstance(record, Mapping) or part not in record:
            return None
        record = record[part]
    return None if record is None else str(record)
