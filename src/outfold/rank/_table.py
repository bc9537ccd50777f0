"""Scores of algorithms on data sets, from whatever form they come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from .. import formatting, metrics
from ..arguments import check_choice, is_whole_number, known_names, nearest
from ..data.notes import Note
from ..data.predictions import Predictions
from ..exceptions import InputError, NeedError, got, invalid
from ..io.tables import read_table
from ..metrics import Metric, MetricLike
from ..metrics._scoring import Scoring
from ..stats.kernels import RELATIVE_TIE

Missing: TypeAlias = Literal["refuse", "drop"]
ScoresLike: TypeAlias = Any
"""A data frame or the path of one, a dict of columns, a matrix (data sets, algorithms), or a list or dict of Predictions."""

# Names of data sets shown in an error or a note.
_SHOWN = 3


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """(n, k) scores of algorithms on data sets."""

    scores: NDArray[np.float64]
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    greater_is_better: bool = True
    metric: str | None = None  # its name, None for scores made elsewhere
    notes: tuple[Note, ...] = ()
    slack: float = RELATIVE_TIE  # scores that differ by less than this share of the greatest are equal

    @property
    def gains(self) -> NDArray[np.float64]:
        """The scores turned so that greater is better."""
        return self.scores if self.greater_is_better else -self.scores

    def index(self, algorithm: str | int) -> int:
        if isinstance(algorithm, (int, np.integer)) and 0 <= algorithm < len(self.algorithms):
            return int(algorithm)
        if str(algorithm) in self.algorithms:
            return self.algorithms.index(str(algorithm))
        near = f"the nearest of {len(self.algorithms):,} is {nearest(str(algorithm), self.algorithms)!r}"
        raise InputError(f"no algorithm {algorithm!r}; {known_names(str(algorithm), self.algorithms, near)}.")


def read_scores(
    scores: ScoresLike,
    metric: MetricLike | None,
    method: str,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    greater_is_better: bool | None = None,
    missing: Missing = "refuse",
) -> ScoreTable:
    """The scores as a matrix with names, checked; `method` names the caller in errors."""
    check_choice(missing, get_args(Missing), "missing")
    table = _from_any(scores, method, algorithms, datasets, metric, _direction(greater_is_better))
    _refuse_twins(table.algorithms, "algorithm")
    _refuse_twins(table.datasets, "data set")
    table = _without_missing(table, missing)
    n, k = table.scores.shape
    if n < 2 or k < 2:
        given = f"there are {formatting.count(n, 'data set')} and {formatting.count(k, 'algorithm')}"
        raise NeedError(argument=method, needed="needs at least 2 data sets and 2 algorithms", given=given)
    return table


def _direction(given: Any) -> bool | None:
    """True, False or None; 0 and 1, and numpy's own, are as good, and anything else may mean either."""
    if given is None:
        return None
    if isinstance(given, (bool, np.bool_, int, np.integer)) and given in (0, 1):
        return bool(given)
    raise invalid("greater_is_better", "must be True, or False for losses", got(given))


def _from_any(
    scores: ScoresLike,
    method: str,
    algorithms: Sequence[str] | None,
    datasets: Sequence[str] | str | None,
    metric: MetricLike | None,
    greater_is_better: bool | None,
) -> ScoreTable:
    if isinstance(scores, Predictions):
        raise NeedError(
            argument=method,
            needed="needs one score of every algorithm on each of several data sets",
            given="these are predictions on one data set, whose folds share training samples, so that a rank test over them "
            "finds differences that are not there",
            remedy="Give one Predictions for each data set, or use `compare.auto`, which picks a test for them.",
        )
    if isinstance(scores, (str, PathLike)):
        scores = read_table(Path(scores))
    by_dataset = _predictions_by_dataset(scores, datasets)
    if by_dataset is not None:
        return _from_predictions(by_dataset, method, algorithms, metric, greater_is_better)
    columns = isinstance(scores, Mapping) or hasattr(scores, "columns") or hasattr(scores, "__narwhals_dataframe__")
    table = (_from_columns if columns else _from_matrix)(scores, algorithms, datasets)
    if metric is None:
        return replace(table, greater_is_better=greater_is_better is not False)
    if metric in table.algorithms and metric not in metrics.names():
        remedy = f"Call `{method}(scores, None, {metric!r}, ...)`."
        raise invalid("metric", "is the second argument", f"got the algorithm {metric!r} there", remedy)
    found = metrics.get(metric)
    _refuse_contradiction(greater_is_better, found)
    return replace(table, greater_is_better=found.greater_is_better, metric=found.name)


def _refuse_contradiction(greater_is_better: bool | None, metric: Metric) -> None:
    if greater_is_better not in (None, metric.greater_is_better):
        needed = f"must not contradict the metric {metric.name}"
        raise invalid("greater_is_better", needed, got(greater_is_better), "Leave it out.")


def _predictions_by_dataset(scores: ScoresLike, datasets: Sequence[str] | str | None) -> dict[str, Predictions] | None:
    """Predictions by the name of their data set; None where `scores` are something else."""
    values = list(scores.values()) if isinstance(scores, Mapping) else scores
    if not isinstance(values, (list, tuple)) or not any(isinstance(v, Predictions) for v in values):
        return None
    if not all(isinstance(v, Predictions) for v in values):
        raise invalid("scores", "must all be Predictions, one for each data set, or none", "these are mixed")
    names = list(scores) if isinstance(scores, Mapping) and datasets is None else datasets
    found = _names(names, len(values), "data set")
    _refuse_twins(found, "data set")
    by_dataset = dict(zip(found, values, strict=True))
    refuse_same_data(by_dataset)
    return by_dataset


def refuse_same_data(by_dataset: Mapping[str, Predictions]) -> None:
    """An error if two data sets are of the same samples."""
    names, values = list(by_dataset), list(by_dataset.values())
    for j, second in enumerate(values):
        i = next((i for i in range(j) if _same_data(values[i], second)), None)
        if i is not None:
            given = f"{names[i]!r} and {names[j]!r} are of the same samples"
            remedy = "Give one Predictions for each data set; for repeats, collect it with `Plan(repeats=...)`."
            raise InputError(needed="each data set counts once", given=given, remedy=remedy)


def _same_data(one: Predictions, other: Predictions) -> bool:
    """Whether two collections are of the same samples; without their features, equal labels, names and splits tell."""
    ours, theirs = ({key: p.provenance.get(key) for key in ("data", "labels")} for p in (one, other))
    if ours["data"] is not None and theirs["data"] is not None:
        return ours == theirs
    assert one.samples is not None
    assert other.samples is not None
    alike = one.fingerprint == other.fingerprint and np.array_equal(one.samples, other.samples)
    # Per-sample scores come without labels.
    return alike and (one.target.task != "pointwise" or np.array_equal(one.data, other.data))


def _from_predictions(
    by_dataset: dict[str, Predictions],
    method: str,
    algorithms: Sequence[str] | None,
    metric: MetricLike | None,
    greater_is_better: bool | None,
) -> ScoreTable:
    if metric is None:
        remedy = f"Call `{method}(scores, 'accuracy', ...)`."
        raise invalid(method, "needs a metric to score Predictions", remedy=remedy)
    first, *others = by_dataset
    for name in others:
        differing = set(by_dataset[first].configs) ^ set(by_dataset[name].configs)
        if differing and algorithms is None:
            given = f"{min(differing)!r} is in only one of {first!r} and {name!r}"
            remedy = "Collect it on both, or name the ones to compare with `algorithms`."
            raise InputError(needed="all data sets need the same configurations", given=given, remedy=remedy)
    # A position is one of the first data set; the others may have another order.
    held = by_dataset[first]
    wanted = held.configs if algorithms is None else tuple(held.configs[held.config_index(a)] for a in algorithms)
    scorings = {name: Scoring(oof.sel(config=list(wanted)), metric) for name, oof in by_dataset.items()}
    found = scorings[first].metric
    _refuse_contradiction(greater_is_better, found)
    rows = np.full((len(by_dataset), len(wanted)), np.nan)
    for row, scoring in zip(rows, scorings.values(), strict=True):
        row[scoring.candidates] = scoring.scores()[0]
    unfinished = [name for name, s in scorings.items() if any(note.code == "OF206" for note in s.notes)]
    note = Note("OF206", f"not all folds are done on {_listed(unfinished)}; the others do not count.")
    notes = (note,) if unfinished else ()
    return ScoreTable(rows, wanted, tuple(by_dataset), found.greater_is_better, found.name, notes)


def _from_columns(
    scores: ScoresLike, algorithms: Sequence[str] | None, datasets: Sequence[str] | str | None
) -> ScoreTable:
    if isinstance(scores, Mapping):
        columns, index = {str(name): _cells(name, column) for name, column in scores.items()}, None
    else:
        columns, index = _frame_columns(scores)
    if not columns:
        needed = "must have a column for every algorithm, with a row for each data set"
        raise invalid("scores", needed, "there are no columns")
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        given = f"these have {min(lengths)} to {max(lengths)} values"
        raise InputError(needed="all columns need one score for each data set", given=given)
    if isinstance(datasets, str):
        if datasets not in columns:
            raise _no_column("datasets", datasets, columns)
        names: Sequence[Any] | None = columns.pop(datasets)
    else:
        named = next((name for name, column in columns.items() if any(isinstance(v, str) for v in column)), None)
        found = columns.pop(named) if named is not None else index
        names = found if datasets is None else datasets
    wanted = list(columns) if algorithms is None else [str(name) for name in algorithms]
    if missing := [name for name in wanted if name not in columns]:
        raise _no_column("algorithms", missing[0], columns)
    if algorithms is None and datasets is None and index is None:
        _refuse_numbered(columns)
    matrix = [_numbers(name, columns[name]) for name in wanted]
    n = lengths.pop()
    scores = np.array(matrix).reshape(len(wanted), n).T
    slack = max((_slack(columns[name]) for name in wanted), default=RELATIVE_TIE)
    return ScoreTable(scores, tuple(wanted), _names(names, n, "data set"), slack=slack)


def _no_column(argument: str, name: str, columns: Iterable[str]) -> InputError:
    given = f"there is no {name!r} among {', '.join(columns)}"
    return invalid(argument, "must name columns of the table", given)


def _cells(name: Any, column: Any) -> list[Any]:
    if isinstance(column, str) or not isinstance(column, Iterable):
        needed = f"the column {str(name)!r} must hold scores, one number for each data set"
        raise InputError(needed=needed, given=got(column))
    return list(column)


def _unknown_form(scores: Any) -> InputError:
    needed = "must be a data frame, a dict of columns, a matrix or Predictions"
    return invalid("scores", needed, f"got {type(scores).__name__}")


def _frame_columns(frame: Any) -> tuple[dict[str, list[Any]], list[Any] | None]:
    """The columns of a pandas, polars or other data frame, and the names in its index where it has such."""
    import narwhals as nw

    try:
        held = nw.from_native(frame, eager_only=True)
    except (TypeError, ValueError):
        raise _unknown_form(frame) from None
    except nw.exceptions.DuplicateError:
        needed = "must have a different name for every column"
        raise invalid("scores", needed, "two are the same", "Rename or leave out one of them.") from None
    # Single floats as they are: it decides how close two of them must be to be tied.
    columns = {
        str(column.name): list(column.to_numpy()) if column.dtype == nw.Float32 else column.to_list()
        for column in held.iter_columns()
    }
    index = nw.maybe_get_index(held)
    return columns, None if index is None or type(index).__name__ == "RangeIndex" else list(index)


def _refuse_numbered(columns: Mapping[str, Sequence[Any]]) -> None:
    """A first column of different whole numbers beside fractions is a number of the data set, not a score."""
    first, *others = columns
    whole = all(is_whole_number(v) for v in columns[first])
    if (
        whole
        and len(set(columns[first])) == len(columns[first])
        and any(isinstance(v, (float, np.floating)) for name in others for v in columns[name])
    ):
        remedy = f"Say `datasets={first!r}`, or name the columns to compare with `algorithms`."
        raise InputError(needed=f"the column {first!r} seems to number the data sets", remedy=remedy)


def _numbers(name: str, column: Sequence[Any]) -> NDArray[np.float64]:
    try:
        if any(isinstance(v, (complex, np.complexfloating)) for v in column):
            raise TypeError
        return np.array([np.nan if _is_missing(v) else v for v in column], dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"the column {name!r} must hold scores: the table needs one row for each data set and one column for each algorithm. "
            "Leave the column out, or name the others with `algorithms`."
        ) from None


def _is_missing(value: Any) -> bool:
    """None, pandas' NA (which need not be installed), or a masked entry."""
    return value is None or value is np.ma.masked or type(value).__name__ == "NAType"


def _slack(values: Any) -> float:
    """Four units in the last place of the coarsest floats among the values, but no less than scores in doubles have."""
    types = {values.dtype.type} if isinstance(values, np.ndarray) else set(map(type, values))
    coarse = [t for t in types if issubclass(t, (np.float16, np.float32))]
    return max([RELATIVE_TIE, *(4 * float(np.finfo(t).eps) for t in coarse)])


def _from_matrix(
    scores: ScoresLike, algorithms: Sequence[str] | None, datasets: Sequence[str] | str | None
) -> ScoreTable:
    try:
        # A masked score is missing; rows may be masked one by one.
        held = scores if isinstance(scores, np.ndarray) else _stacked(scores)
        if np.iscomplexobj(held):
            raise invalid("scores", "must be real numbers", "these are complex")
        matrix = np.asarray(np.ma.filled(np.ma.asarray(held, dtype=np.float64), np.nan))
    except InputError:
        raise
    except (TypeError, ValueError):
        raise _unknown_form(scores) from None
    if matrix.ndim != 2:
        raise invalid("scores", "must have shape (data sets, algorithms)", got(matrix.shape))
    if isinstance(datasets, str):
        raise invalid("datasets", "must be a list of names for a matrix", got(datasets))
    n, k = matrix.shape
    return ScoreTable(matrix, _names(algorithms, k, "algorithm"), _names(datasets, n, "data set"), slack=_slack(held))


def _stacked(rows: ScoresLike) -> NDArray[Any]:
    if isinstance(rows, (list, tuple)) and any(isinstance(row, np.ma.MaskedArray) for row in rows):
        return np.ma.stack([np.ma.asarray(row) for row in rows])
    return np.asarray(rows)


def _names(given: Sequence[Any] | str | None, n: int, what: str) -> tuple[str, ...]:
    if given is None:
        return tuple(f"{what} {i}" for i in range(n))
    names = [given] if isinstance(given, str) else list(given)
    if len(names) != n:
        raise InputError(needed=f"{formatting.count(n, what)} need as many names", given=f"got {len(names)}")
    return tuple(map(str, names))


_TWINS = {
    "algorithm": "Give every algorithm a different name.",
    "data set": "Average repeats on the same data set first: they are not independent.",
}


def _refuse_twins(names: tuple[str, ...], what: str) -> None:
    if len(set(names)) < len(names):
        twin = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(needed=f"the {what} {twin!r} is in the scores {names.count(twin)} times", remedy=_TWINS[what])


def _without_missing(table: ScoreTable, missing: Missing) -> ScoreTable:
    if np.isinf(table.scores).any():
        i, j = (int(v[0]) for v in np.nonzero(np.isinf(table.scores)))
        given = f"that of {table.algorithms[j]!r} on {table.datasets[i]!r} is infinite"
        raise invalid("scores", "must be finite", given)
    holes = np.isnan(table.scores)
    if not holes.any():
        return table
    gaps = np.flatnonzero(holes.any(axis=1))
    if missing == "refuse":
        i = int(gaps[0])
        j = int(np.argmax(holes[i]))
        total = f" ({int(holes.sum())} scores are missing in all)" if holes.sum() > 1 else ""
        needed = f"{table.algorithms[j]!r} has no score on {table.datasets[i]!r}{total}"
        raise InputError(needed=needed, remedy="Fill it in, or leave such data sets out with `missing='drop'`.")
    kept = np.setdiff1d(np.arange(len(holes)), gaps)
    lost = [table.datasets[i] for i in gaps]
    left_out = f"{len(lost)} of {formatting.count(len(holes), 'data set')} left out"
    note = Note("OF354", f"{left_out} for missing scores: {_listed(lost)}.")
    return replace(
        table, scores=table.scores[kept], datasets=tuple(table.datasets[i] for i in kept), notes=(*table.notes, note)
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
