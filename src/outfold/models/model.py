"""A model that was saved by ``outfold run``, ready to predict new rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..docstrings import fill_with
from ..exceptions import FileError, InputError, invalid
from ..fitting.predict import Reader, gives_curves, survival_curves
from ..results._base import Facts, Result
from ..tables import Columns, features
from . import saving
from .about import ModelAbout, read_about
from .card import rounded
from .ranges import outside
from .trust import skops_io, trusted_types

if TYPE_CHECKING:
    import pandas as pd

# Roles of columns that tell rows apart.
_NAMES = ("sample", "id")

_TEXTS = {
    "frame": (
        "frame : pandas or polars data frame\n    The rows, with the columns of the training table; their order does not matter."
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class FrameCheck(Result):
    """How a table of new rows compares with the table that the model was trained on.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    missing, unexpected : tuple of str
        Features that the table lacks, and columns that the training table did not have.
    wrong : mapping
        Features with values of another type, and what is wrong.
    unseen : mapping
        For each category that has levels that no training row had: how many rows have each.
    outside : mapping
        For each number or date: how many rows lie outside the range of the training rows.
    n_outside : int
        Number of rows that lie outside in at least one feature, unseen levels included.
    """

    n_rows: int
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    wrong: Mapping[str, str]
    unseen: Mapping[str, Mapping[str, int]]
    outside: Mapping[str, int]
    n_outside: int

    in_dict = "ok n_rows missing unexpected wrong unseen outside n_outside"

    @property
    def ok(self) -> bool:
        """Whether the model can predict these rows."""
        return not (self.missing or self.wrong)

    def __repr__(self) -> str:
        state = "ok" if self.ok else "cannot be predicted"
        return f"<FrameCheck of {formatting.count(self.n_rows, 'row')}: {state}, {self.n_outside:,} outside>"

    def _title(self) -> str:
        rows = formatting.count(self.n_rows, "row")
        return rows if self.ok else f"{rows} that the model cannot predict"

    def _facts(self) -> Facts:
        if self.missing:
            yield "missing", formatting.listed(self.missing, 10)
        yield from (("wrong type", words) for words in self.wrong.values())
        if self.unexpected:
            yield "unexpected", f"{formatting.listed(self.unexpected, 10)} (not used)"
        for name, levels in self.unseen.items():
            rows = formatting.count(sum(levels.values()), "row")
            yield "new levels", f"{name!r}: {formatting.listed(tuple(levels), 10)} in {rows}"
        for name, n in self.outside.items():
            yield "outside", f"{name!r} in {formatting.count(n, 'row')}"
        if self.ok:
            yield "in all", f"{self.n_outside:,} of {formatting.count(self.n_rows, 'row')} outside the training range"


@fill_with(_TEXTS)
@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A fitted model with what is known of it: `load_model` gives one.

    Attributes
    ----------
    estimator : estimator
        The fitted scikit-learn estimator. It takes the features in one form; use the methods of the model for your tables.
    about : ModelAbout
        What the model was fitted from, what it expects, and how good it is estimated to be.
    """

    estimator: Any
    about: ModelAbout

    def features(self, frame: Any) -> pd.DataFrame:
        """The features of the rows, as the estimator takes them; an error names columns that are missing or of another type.

        Parameters: {frame}

        Returns
        -------
        pandas data frame
            The features.
        """
        return features(as_pandas(frame), self.about.columns)

    def check(self, frame: Any) -> FrameCheck:
        """Compare a table with the one that the model was trained on.

        Parameters: {frame}

        Returns
        -------
        FrameCheck
            What is missing, unexpected, of another type, or outside the training range.
        """
        frame = as_pandas(frame)
        known = {column.name for column in self.about.columns}
        missing = tuple(name for name in self.about.ranges if name not in frame.columns)
        unexpected = tuple(str(name) for name in frame.columns if name not in known)
        wrong: dict[str, str] = {}
        parts: dict[str, pd.DataFrame] = {}
        for column in self.about.columns.features:
            if column.name not in missing:
                try:
                    parts[column.name] = features(frame, Columns((column,)))
                except InputError as error:
                    wrong[column.name] = str(error)
        ranges = {name: self.about.ranges[name] for name in parts}
        found = {name: outside(parts[name], {name: known})[:, 0] for name, known in ranges.items()}
        unseen = {
            name: {str(level): int(n) for level, n in parts[name].loc[rows, name].value_counts().items()}
            for name, rows in found.items()
            if ranges[name].kind == "category" and rows.any()
        }
        beyond = {name: int(rows.sum()) for name, rows in found.items() if ranges[name].ordered and rows.any()}
        n_outside = int(np.any([*found.values(), np.zeros(len(frame), dtype=bool)], axis=0).sum())
        return FrameCheck(len(frame), missing, unexpected, wrong, unseen, beyond, n_outside)

    def predict(self, frame: Any) -> NDArray[Any]:
        """Labels, cut at the model's threshold if it has one; for a regression values.

        Parameters: {frame}

        Returns
        -------
        ndarray of shape (rows,)
            The predictions.
        """
        return self._predict(self.features(frame))

    def predict_proba(self, frame: Any) -> NDArray[np.float64]:
        """Probabilities of the classes.

        Parameters: {frame}

        Returns
        -------
        ndarray of shape (rows, classes)
            Probabilities, in the order of ``about.classes``: the positive one of two classes is the last.
        """
        return self._predict_proba(self.features(frame))

    def predict_survival(self, frame: Any, times: Sequence[float] | None = None) -> NDArray[np.float64]:
        """Probabilities of no event until some times.

        Parameters: {frame}
        times : sequence of float or None
            The times; None is those of ``about.observed``, the quartiles of the event times of the training rows.

        Returns
        -------
        ndarray of shape (rows, times)
            Probabilities.
        """
        return self._predict_survival(self.features(frame), self._times(times))

    def table(self, frame: Any, keep: Sequence[str] = (), times: Sequence[float] | None = None) -> pd.DataFrame:
        """The predictions as a table, with a row for each row.

        Parameters: {frame}
        keep : sequence of str
            Further columns of the frame to copy. The names of the samples, and other columns that were ids in the training
            table, are copied if they are there: they tell which row is which.
        times : sequence of float or None
            Of a survival model: the times of the probabilities, as in `predict_survival`.

        Returns
        -------
        pandas data frame
            The column ``prediction``; ``probability_<class>`` for each class; ``survival_<time>`` for each time, if the model
            gives survival curves; ``outside``, True if the row lies outside the training range; and ``why``, which names the
            columns by which it does.
        """
        import pandas as pd

        frame = as_pandas(frame)
        survives = times is not None or (self.about.observed is not None and gives_curves(self.estimator))
        at = self._times(times) if survives else ()
        made = self._names(at)
        _refuse_keep(keep, frame, made)
        X = self.features(frame)
        columns: list[Any] = [self._predict(X)]
        if self._classes:
            columns += [*self._predict_proba(X).T]
        if survives:
            columns += [*self._predict_survival(X, at).T]
        beyond, ranges = outside(X, self.about.ranges), list(self.about.ranges)
        why = [", ".join(ranges[j] for j in np.flatnonzero(row)) for row in beyond]
        out = dict(zip(made, [*columns, beyond.any(axis=1), why], strict=True))
        names = [column.name for column in self.about.columns if column.role in _NAMES and column.name in frame]
        copied = [name for name in dict.fromkeys([*names, *keep]) if name not in out]
        return pd.DataFrame({name: frame[name].to_numpy() for name in copied} | out)

    def describe(self) -> str:
        """The model, what it was fitted on and how good it is estimated to be, in a few sentences.

        Returns
        -------
        str
            The text.
        """
        about = self.about
        lines = [about.description or f"The configuration {about.configuration}."]
        lines.append(f"It predicts {about.target!r} and was fitted on {formatting.count(about.n_rows, 'row')}.")
        if about.estimate is not None:
            value, *ends = rounded(about.estimate.value, about.estimate.low, about.estimate.high)
            interval = f" ({100 * about.estimate.level:g}% interval {' to '.join(ends)})" if ends else ""
            metric = formatting.called(about.estimate.metric)
            lines.append(
                f"On new rows its {metric} is estimated to be {value}{interval}, corrected for picking the best."
            )
        if about.beside is not None:
            value, *ends = rounded(about.beside.value, about.beside.low, about.beside.high)
            interval = f" ({' to '.join(ends)})" if ends else ""
            lines.append(f"Its {formatting.called(about.beside.metric)} is estimated to be {value}{interval}.")
        return " ".join(lines)

    def __repr__(self) -> str:
        return f"<Model {self.about.configuration} of {self.about.target!r}, {self.about.task}>"

    @property
    def _classes(self) -> tuple[Any, ...]:
        """The classes that have probabilities; none if the model gives no probabilities."""
        return tuple(self.about.classes or ()) if self._has_probabilities else ()

    def _names(self, times: Sequence[float]) -> list[str]:
        """The columns of `table` that the model makes, in their order."""
        probabilities = [f"probability_{label}" for label in self._classes]
        return ["prediction", *probabilities, *(f"survival_{t:g}" for t in times), "outside", "why"]

    # -- on features ------------------------------------------------------------------------------------

    @property
    def _has_probabilities(self) -> bool:
        return hasattr(self.estimator, "predict_proba")

    def _predict(self, X: pd.DataFrame) -> NDArray[Any]:
        threshold, classes = self.about.threshold, self.about.classes
        if threshold is None or classes is None or len(classes) != 2:
            return np.asarray(self.estimator.predict(X))
        response: Any = threshold.response
        values = Reader(response, np.array(classes))(self.estimator, X).values
        positive = values > threshold.value  # as `estimate.at_threshold` counted
        return np.asarray(np.array(classes)[positive.astype(np.intp)])

    def _times(self, asked: Sequence[float] | None) -> tuple[float, ...]:
        """The times of survival probabilities; nobody knows what happens after the last training row was observed."""
        observed = self.about.observed
        if observed is None or not gives_curves(self.estimator):
            problem = f"this model ({self.about.configuration}) gives no survival curves"
            raise InputError(problem, remedy="Use `predict`.")
        times = observed.times if asked is None else tuple(map(float, asked))
        if not times or not all(0 <= time <= observed.until for time in times):
            needed = f"must be times from 0 to {observed.until:g}, when the last training row was observed"
            raise invalid("times", needed, f"got {', '.join(f'{time:g}' for time in times) or 'none'}")
        return times

    def _predict_survival(self, X: pd.DataFrame, times: Sequence[float]) -> NDArray[np.float64]:
        return survival_curves(self.estimator, X, np.array(times))

    def _predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        classes = self.about.classes
        if classes is None or not self._has_probabilities:
            problem = f"this model ({self.about.configuration}) gives no probabilities"
            raise InputError(problem, remedy="Use `predict`.")
        theirs = self.estimator.classes_.tolist()
        return np.asarray(self.estimator.predict_proba(X)[:, [theirs.index(label) for label in classes]])


def _refuse_keep(keep: Sequence[str], frame: pd.DataFrame, made: Sequence[str]) -> None:
    """Refuse to copy columns that are not there, or have the name of one that the model makes."""
    absent = [name for name in keep if name not in frame.columns]
    if absent:
        raise invalid("keep", "must name columns of the table", f"there is no {formatting.listed(absent, 10)}")
    taken = [name for name in keep if name in made]
    if taken:
        given = f"the table of predictions has its own {formatting.listed(taken, 10)}"
        raise invalid("keep", "must name columns with other names", given, "Rename yours first.")


def load_model(folder: str | Path, trust: Sequence[str] = ()) -> Model:
    """The model in a folder that ``outfold run`` wrote.

    A model file from a stranger can be harmful. So it is loaded only if all types in it are plain values, estimators of
    scikit-learn, or classes of scikit-learn, LightGBM, XGBoost, scikit-survival and `outfold.learners` that ``model.json`` lists.

    Parameters
    ----------
    folder : str or Path
        The folder, with ``model.skops`` and ``model.json``.
    trust : sequence of str
        Names of further types that you trust, such as those of your own estimators.

    Returns
    -------
    Model
        The model, with methods for tables of new rows.

    Raises
    ------
    FileError
        There is no model, it is damaged, or it contains types that are not trusted.

    Examples
    --------
    >>> import outfold as of
    >>> of.load_model("nowhere")
    Traceback (most recent call last):
        ...
    outfold.exceptions.FileError: there is no model.json in nowhere. Give the folder that outfold run wrote.
    outfold explain models says more
    """
    if isinstance(trust, str):
        raise invalid("trust", "must be a list of names of types", f"got the text {trust!r}")
    folder = Path(folder)
    about, path = read_about(folder), folder / saving.FILE
    trusted = trusted_types(path, about.trusted, trust)
    if saving.sha256_of(path) != about.sha256:
        problem = f"{path} is not the model that model.json describes"
        raise FileError(problem, remedy="Run the same outfold run again, or restore both files from one copy.")
    try:
        estimator = skops_io().load(path, trusted=trusted)
    except Exception as error:
        versions = ", ".join(f"{name} {version}" for name, version in about.versions.items())
        problem = f"{path} cannot be loaded here ({type(error).__name__}: {error})"
        raise FileError(problem, remedy=f"It was made with {versions}: use these versions.") from error
    _refuse_other(estimator, about, path)
    return Model(estimator, about)


def _refuse_other(estimator: Any, about: ModelAbout, path: Path) -> None:
    """Refuse a model with other classes or features than ``model.json`` says."""
    classes, names = getattr(estimator, "classes_", None), getattr(estimator, "feature_names_in_", None)
    same_classes = about.classes is None or (
        classes is not None and {*about.classes} == {*np.asarray(classes).tolist()}
    )
    lacking = set() if names is None else {*map(str, names)} - {column.name for column in about.columns.features}
    if not same_classes or lacking or {column.name for column in about.columns.features} - about.ranges.keys():
        problem = f"{path} has other classes or features than model.json says"
        raise FileError(problem, remedy="Run the same outfold run again, or restore both files from one copy.")


def as_pandas(frame: Any) -> pd.DataFrame:
    """A pandas frame with at least one row, from one of pandas or polars."""
    import narwhals as nw

    try:
        found: pd.DataFrame = nw.from_native(frame, eager_only=True).to_pandas()
    except TypeError:
        raise invalid("frame", "must be a pandas or polars data frame", f"got {type(frame).__name__}") from None
    if not len(found):
        raise invalid("frame", "must have at least one row", "it has none")
    return found.reset_index(drop=True)
