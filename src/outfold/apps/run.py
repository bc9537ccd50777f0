"""The main job in one call: a table in, a corrected estimate, the predictions and the fitted model out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import estimate, formatting, metrics, select
from ..data.criterion import Aggregate
from ..data.plan import Plan
from ..data.predictions import Predictions
from ..data.target import MOST_CLASSES, encode
from ..exceptions import FileError, InputError, invalid
from ..fitting import collect, refit
from ..fitting.job import Share
from ..io.tables import SEMICOLONS, not_a_table
from ..learners import spaces
from ..reporting import report
from ..results import Baseline, Estimate, Finding

if TYPE_CHECKING:
    import pandas as pd

TableTask = Literal["classification", "regression"]
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Features and labels of the rows that have a label; groups and names of these rows, where they were asked for."""

    X: pd.DataFrame
    y: NDArray[Any]
    task: TableTask
    groups: NDArray[Any] | None = None
    samples: NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class RunResult:
    """The estimate, files of predictions, model (None where it could not be saved) and page, and what to read it with."""

    estimate: Estimate
    predictions: Path
    model: Path | None
    report: Path
    nested: Estimate | None = None
    baseline: Baseline | None = None
    errors: tuple[Finding, ...] = ()  # what must be solved before the number is reported

    def __str__(self) -> str:
        fitted = f"the selected configuration, fitted on all {self.estimate.n_samples:,} samples"
        facts = [
            *([] if self.baseline is None else [("baseline", str(self.baseline))]),
            *(("error", f"{found.code}  {found.text}") for found in self.errors),
            ("files", f"{self.predictions} (predictions of all configurations)"),
            *([] if self.model is None else [("", f"{self.model} ({fitted})")]),
            ("", f"{self.report} (all of it on one page)"),
            ("next", f"outfold show {self.predictions}"),
        ]
        nested = [] if self.nested is None else ["", str(self.nested)]
        return "\n".join([str(self.estimate), *(f"  {key:<10} {words}" for key, words in facts), *nested])

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        model = None if self.model is None else str(self.model)
        files = {"predictions": str(self.predictions), "model": model, "report": str(self.report)}
        out = self.estimate.to_dict() | files
        return out if self.nested is None else out | {"nested": self.nested.to_dict()}


def run(
    path: str | Path,
    target: str,
    out: str | Path = "out",
    *,
    metric: str | None = None,
    aggregate: Aggregate = "pooled",
    rule: select.RuleLike = None,
    task: TableTask | None = None,
    plan: Plan | None = None,
    group: str | None = None,
    sample: str | None = None,
    leave_out: Sequence[str] = (),
    positive: str | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    timeout: float | None = None,
    inner: bool = False,
    share: Share = "exact",
    explain: Say | None = None,
    configs: Callable[[Any, TableTask], Any] | None = None,
    command: str | None = None,
    say: Say = lambda text: None,
) -> RunResult:
    """Performance of the best of about 60 configurations on a table, and that configuration fitted on all of it.

    The folder `out` gets ``run.oof``, ``model.skops``, ``model.json`` (what the model was fitted from) and ``report.html``;
    a call that was stopped goes on from what it holds. The task is told from the target by default: text, bool and few
    distinct whole numbers are classes. `configs` makes the configurations for the features and the task; it is
    `spaces.tabular` by default. `explain` is called with what is going to be shared, `say` with every note a person should
    read. `command` is what was typed to get here. All other arguments are those of `collect`.
    """
    table = read_table(path, target, task=task, group=group, sample=sample, leave_out=leave_out, say=say)
    found = encode(table.y, task=table.task, positive=positive, what=f"the target {target!r}")
    chosen = metrics.get(metric or metrics.default(found.task), found.task).name
    say(_what_is_done(table, target, task, chosen, metric))
    if configs is None and len(table.y) > spaces.MOST_ROWS_SVM:
        say(f"no SVMs are tried: they take too long on more than {spaces.MOST_ROWS_SVM:,} rows")
    space = (configs or spaces.tabular)(table.X, table.task)
    folder = Path(out)
    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"the folder {folder} cannot be made ({error.strerror})."
        raise FileError(problem, remedy="Use another `out`.") from error
    rows: dict[str, Any] = {"groups": table.groups, "samples": table.samples, "positive": positive}
    selects: dict[str, Any] = {"metric": chosen, "aggregate": aggregate, "rule": rule}
    work: dict[str, Any] = {"rng": seed, "n_jobs": n_jobs, "timeout": timeout, "share": share, "inner": inner}
    try:
        store = folder / "run.oof"
        oof = collect(space, table.X, table.y, plan, store=store, explain=explain or False, **rows, **selects, **work)
    except InputError:
        if new:
            with suppress(OSError):  # it holds a store
                folder.rmdir()
        raise
    model = _keep_model(folder, oof, space, table, say)
    nested = estimate.nested(oof) if inner else None
    corrected = estimate.bbc(oof)
    page = report(oof, estimate=corrected, title=f"{Path(path).name}: {target}", command=command)
    saved, about = page.save(folder / "report.html"), (page.leaderboard.baseline, page.checks.errors)
    return RunResult(corrected, store, model, saved, nested, *about)


def _what_is_done(table: LabelledTable, target: str, task: TableTask | None, metric: str, asked: str | None) -> str:
    rows = f"{formatting.count(len(table.y), 'row')}, {formatting.count(table.X.shape[1], 'feature')}"
    other = "regression" if table.task == "classification" else "classification"
    doubtful = task is None and table.y.dtype.kind in "if"
    override = f" (--task {other} if not)" if doubtful else ""
    instead = "" if asked else " (--metric for another)"
    return f"{table.task} of {target!r}{override} on {rows}, by {metric}{instead}"


def _keep_model(folder: Path, oof: Predictions, space: Any, table: LabelledTable, say: Say) -> Path | None:
    """Save the selected configuration fitted on all samples, unless the file at hand is that already."""
    try:
        import skops.io
    except ImportError:
        say("the model is not saved: skops is missing. pip install 'outfold[model]', and the same command saves it.")
        return None
    path, label = folder / "model.skops", folder / "model.json"
    made, selected = oof.provenance, oof.selection().name
    wanted = {"configuration": selected, "specification": made["specs"].get(selected)}
    wanted |= {key: made[key] for key in ("seed", "data", "labels", "scikit-learn")}
    with suppress(OSError, ValueError):  # no label, or a damaged one
        if path.exists() and json.loads(label.read_text(encoding="utf-8")) == wanted:
            return path
    model = refit(oof, space, table.X, table.y)
    draft = path.with_suffix(".part")
    try:
        # The label goes first and comes last, so that a kill in between leaves a model that is made again.
        label.unlink(missing_ok=True)
        skops.io.dump(model, draft)
        draft.replace(path)
        label.write_text(json.dumps(wanted, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        problem = f"{path} cannot be written ({error.strerror or error})."
        raise FileError(problem, remedy="Use another `out`.") from error
    return path


# -- the table ------------------------------------------------------------------------------------------


def read_table(
    path: str | Path,
    target: str,
    *,
    task: TableTask | None = None,
    group: str | None = None,
    sample: str | None = None,
    leave_out: Sequence[str] = (),
    say: Say = lambda text: None,
) -> LabelledTable:
    """Features, labels, groups and names in a file, with a note on everything that was left out."""
    frame = _read(Path(path), target)
    roles = {"target": target, "group": group, "sample": sample}
    for role, column in [*roles.items(), *(("leave_out", c) for c in leave_out)]:
        _check_column(frame, column, role)
    frame = _labelled(frame, target, say)
    kind = task or _kind_of(frame[target])
    named = {column for column in (*roles.values(), *leave_out) if column is not None}
    X, y = _features(frame.drop(columns=list(named)), say), _labels(frame[target], kind)
    groups = None if group is None else _complete(frame[group], "group")
    return LabelledTable(X, y, kind, groups, None if sample is None else _names(frame[sample]))


def _read(path: Path, target: str) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError:
        raise FileError(f"reading {path.name} needs pandas.", remedy="pip install 'outfold[frames]'") from None
    if not path.is_file():
        raise FileError(f"there is no file {path}.")
    if not path.name.endswith((".csv", ".csv.gz", ".parquet")):
        raise FileError(f"{path.name} must be a .csv, .csv.gz or .parquet file.")
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        frame = pd.read_csv(path, low_memory=False)
        if target in frame.columns:
            frame[target] = _exact_target(path, frame[target])
        return frame
    except ImportError:
        raise FileError(f"reading {path.name} needs pyarrow.", remedy="pip install 'outfold[frames]'") from None
    except Exception as error:
        raise not_a_table(path, error) from error


def _exact_target(path: Path, values: pd.Series[Any]) -> pd.Series[Any]:
    """The target as written in a .csv file: "NA" may be a class, and whole numbers stay whole where some are missing."""
    import pandas as pd

    if not values.isna().any():
        return values
    if pd.api.types.is_float_dtype(values) and not values.isna().all():
        try:
            return pd.read_csv(path, usecols=[values.name], dtype="Int64")[values.name]
        except (TypeError, ValueError):  # not all of them are whole
            return values
    # A value among texts is text, whatever it reads like; only an empty cell is none.
    return pd.read_csv(path, usecols=[values.name], dtype=str, keep_default_na=False, na_values=[""])[values.name]


def _check_column(frame: pd.DataFrame, column: str | None, role: str) -> None:
    if column is None or column in frame.columns:
        return
    near = get_close_matches(column, map(str, frame.columns), n=1, cutoff=0.6)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    shown = ", ".join(map(str, frame.columns[:40])) + (", ..." if frame.shape[1] > 40 else "")
    semicolons = f" {SEMICOLONS}" if frame.shape[1] == 1 and ";" in str(frame.columns[0]) else ""
    needed, given = "must name a column of the table", f"there is no column {column!r}"
    raise invalid(role, needed, given, f"{hint}The columns are: {shown}.{semicolons}")


def _labelled(frame: pd.DataFrame, target: str, say: Say) -> pd.DataFrame:
    missing = frame[target].isna()
    if missing.all():
        raise InputError(f"the target {target!r} is missing in every row.", remedy="Name another column: `target=`.")
    if missing.any():
        say(f"left out {formatting.count(int(missing.sum()), 'row')} without a value of {target!r}")
        frame = frame[~missing]
    return frame.reset_index(drop=True)


def _kind_of(values: pd.Series[Any]) -> TableTask:
    import pandas as pd

    if pd.api.types.is_bool_dtype(values) or not pd.api.types.is_numeric_dtype(values):
        return "classification"
    distinct = values.unique()
    whole = bool(np.all(np.asarray(distinct, dtype=float) % 1 == 0))
    return "classification" if whole and len(distinct) <= MOST_CLASSES else "regression"


def _labels(values: pd.Series[Any], kind: TableTask) -> NDArray[Any]:
    import pandas as pd

    if kind == "regression":
        if not pd.api.types.is_numeric_dtype(values):
            problem = f"the target {values.name!r} holds text, not numbers."
            raise InputError(problem, remedy="Use `task='classification'`.")
        return values.to_numpy(dtype=np.int64 if pd.api.types.is_integer_dtype(values) else float)
    if pd.api.types.is_bool_dtype(values):
        return values.to_numpy(dtype=bool)
    if pd.api.types.is_integer_dtype(values):
        return values.to_numpy(dtype=np.uint64 if str(values.dtype).lower() == "uint64" else np.int64)
    if pd.api.types.is_numeric_dtype(values):
        numbers = values.to_numpy(dtype=float)
        # Whole numbers become floats by a missing label alone, and "1.0" is no name for a class.
        return numbers.astype(np.int64) if np.all(numbers % 1 == 0) else numbers
    return values.astype(str).to_numpy(dtype=np.str_)


def _complete(values: pd.Series[Any], role: str) -> NDArray[Any]:
    """Groups or names: a value in each row, as a number or as text."""
    import pandas as pd

    missing = int(values.isna().sum())
    if missing:
        first = int(np.argmax(values.isna())) + 1
        rows = formatting.count(missing, "row")
        given = f"{values.name!r} is missing in {rows}, the first of them data row {first}"
        raise invalid(role, "must have a value in each row", given)
    if pd.api.types.is_integer_dtype(values) or pd.api.types.is_float_dtype(values):
        return values.to_numpy()
    return values.astype(str).to_numpy(dtype=np.str_)


def _names(values: pd.Series[Any]) -> NDArray[Any]:
    names = _complete(values, "sample")
    if values.duplicated().any():
        twice = values[values.duplicated()].tolist()[0]
        given = f"{twice!r} is in more than one row of {values.name!r}"
        raise invalid("sample", "must name a column of unique values", given)
    return names


def _features(frame: pd.DataFrame, say: Say) -> pd.DataFrame:
    """The columns that something can be learnt from; a note names the others."""
    import pandas as pd

    frame = frame.copy()
    left_out: dict[str, list[str]] = {}
    for column in frame.columns:
        values = frame[column]
        if pd.api.types.is_float_dtype(values) and np.isinf(values.to_numpy(dtype=float, na_value=np.nan)).any():
            frame[column] = values = values.replace([np.inf, -np.inf], np.nan)
            say(f"infinite values of {column!r} count as missing")
        reason = _useless(values)
        if reason:
            left_out.setdefault(reason, []).append(str(column))
    for reason, columns in left_out.items():
        say(f"left out {_listed(columns)}: {reason}")
    frame = frame.drop(columns=[c for columns in left_out.values() for c in columns])
    if frame.shape[1] == 0:
        raise InputError("there is no column to predict from.", remedy="The table needs at least one that varies.")
    return frame


def _useless(values: pd.Series[Any]) -> str | None:
    import pandas as pd

    n_values = values.nunique(dropna=False)
    if values.isna().all():
        return "no value in any row"
    if n_values == 1:
        return "the same value in every row"
    if values.name == "Unnamed: 0" and pd.api.types.is_integer_dtype(values) and n_values == len(values):
        return "a first column without a name that numbers the rows, as pandas writes its index"
    if pd.api.types.is_datetime64_any_dtype(values) or pd.api.types.is_timedelta64_dtype(values):
        return "dates and times are not used; make numbers of them to learn from them"
    if not pd.api.types.is_numeric_dtype(values) and n_values > max(MOST_CLASSES, len(values) // 2):
        return "text that differs in most rows, as names and ids do"
    return None


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
