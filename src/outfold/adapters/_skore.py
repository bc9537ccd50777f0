"""skore: predictions from its cross-validation reports, and such a report from predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from ..arguments import check_choice
from ..data.cells import State
from ..data.plan import Plan
from ..data.predictions import Predictions
from ..data.target import Target
from ..docstrings import fill_common
from ..exceptions import FileError, InputError, NeedError, invalid
from ..io.convert import from_arrays

# skore's checks that hold for stored predictions: those of the data, of held-out scores by fold, and of a baseline that skore
# fits itself. All others need models, scores on training samples or times; without these some would be reported as passed.
_VALID_CHECKS = {"SKD003", "SKD004", "SKD005", "SKD008", "SKD009", "SKD013"}

_METHODS = ("predict", "predict_proba", "decision_function")


@fill_common
def from_skore(reports: Any, *, response_method: str = "predict", **options: Any) -> Predictions:
    """Predictions of the cross-validation reports of skore.

    Parameters
    ----------
    reports : CrossValidationReport, ComparisonReport, or dict of str to CrossValidationReport
        The reports, made on the same splits.
    response_method : {"predict", "predict_proba", "decision_function"}
        What the models are asked for.
    **options
        Options of `from_arrays`, such as `groups` and `positive`.
    Returns: {predictions}

    Examples: {outfold}
    >>> of.adapters.from_skore(report, response_method="predict_proba")  # doctest: +SKIP
    """
    check_choice(response_method, _METHODS, "response_method")
    by_name = reports if isinstance(reports, Mapping) else getattr(reports, "reports_", None)
    if not isinstance(by_name, Mapping):
        by_name = {getattr(reports, "estimator_name_", "model"): reports}
    lacking = [name for name, report in by_name.items() if not hasattr(report, "split_indices")]
    if lacking or not by_name:
        given = f"{lacking[0]!r} is of type {type(by_name[lacking[0]]).__name__}" if lacking else "there is none"
        raise invalid("reports", "must be cross-validation reports of skore", given)
    first = next(iter(by_name.values()))
    if response_method == "predict" and "regression" in str(getattr(first, "ml_task", "")):
        options = {"response": "value", **options}
    if getattr(first, "pos_label", None) is not None:
        options = {"positive": first.pos_label, **options}
    n = len(first.y)
    plan = Plan.from_cv(first.split_indices)
    splits = plan.split(Target("pointwise", np.zeros(n)), rng=0)
    columns = []
    for name, report in by_name.items():
        same = len(report.split_indices) == len(first.split_indices) and all(
            np.array_equal(one[1], other[1])
            for one, other in zip(report.split_indices, first.split_indices, strict=True)
        )
        if not same or not np.array_equal(np.asarray(report.y), np.asarray(first.y)):
            remedy = "Make all reports with the same data and a splitter with a `random_state`."
            raise InputError(f"the report {name!r} has other labels or splits than the first one", remedy=remedy)
        try:
            columns.append(_by_repeat(report, splits.cells, n, response_method))
        except AttributeError as error:
            remedy = "Take one that all have, such as `response_method='predict'`."
            raise invalid("response_method", "must be a method of each model", f"{name!r}: {error}", remedy) from error
    P = np.ma.stack(columns, axis=1)
    oof = from_arrays(first.y, P, splits.folds, list(map(str, by_name)), **options)
    return replace(oof, plan=splits.plan, train=splits.train, provenance={"source": "skore"})


def _by_repeat(report: Any, cells: list[tuple[int, int]], n: int, method: str) -> Any:
    """(N, R[, K]) predictions of one report, masked where a sample was not held out."""
    parts = [np.asarray(part) for part in report.get_predictions(data_source="test", response_method=method)]
    shape = (n, max(repeat for repeat, _ in cells) + 1, *parts[0].shape[1:])
    out = np.ma.MaskedArray(np.zeros(shape, dtype=np.result_type(*parts)), mask=np.ones(shape, dtype=bool))
    for (repeat, _), (_, test), part in zip(cells, report.split_indices, parts, strict=True):
        out[np.asarray(test), repeat] = part
    return out


@fill_common
def to_skore(oof: Predictions, X: Any, *, configs: str | Sequence[str] | None = None) -> Any:
    """A report of skore that looks up the stored out-of-fold predictions; no model is fitted.

    Its metrics and displays of held-out samples are those of these predictions. What needs a model raises an error: scores on
    training samples, and whatever predicts changed features, such as permutation importance. Checks of skore that would need
    either are removed. Times are those of looking up. skore shows the winner's cross-validation score, which is too good;
    `estimate.bbc` corrects it.

    Of two classes, only the probability of the positive one is stored. If that is not the last class in sorted order, skore gets
    1 minus it, and extreme probabilities may be rounded to ties.

    Parameters: {oof}
    X : array-like or data frame
        The features of the samples, in their order. skore describes them, and fits its baselines to them.
    configs : str, sequence of str or None
        The configurations; None is the selected one.

    Returns
    -------
    CrossValidationReport or ComparisonReport
        For one configuration the former, for a sequence the latter.

    Examples: {outfold}
    >>> of.adapters.to_skore(oof, X).metrics.summarize()  # doctest: +SKIP
    """
    try:
        import pandas as pd
        from skore import ComparisonReport, CrossValidationReport
    except ImportError:
        remedy = "Run: pip install skore."
        raise FileError("a report of skore needs skore", remedy=remedy, page="extras") from None
    _check_reportable(oof, X)
    names = [configs] if isinstance(configs, str) else list(configs or [oof.selection().name])
    rows = pd.DataFrame(X).set_axis(range(oof.n_samples), axis=0)
    splits = [(oof.splits.train_rows(*cell), oof.splits.test_rows(*cell)) for cell in oof.splits.cells]
    positive = oof.target.classes[-1] if oof.target.classes is not None and len(oof.target.classes) == 2 else None
    kind = StoredRegressor if oof.target.classes is None else StoredClassifier
    reports = {}
    for name in names:
        stored = kind(_Stored(oof.sel(config=[name]), rows))
        reports[name] = CrossValidationReport(stored, rows, oof.y, splitter=splits, pos_label=positive)
    several = not isinstance(configs, str) and len(names) > 1
    made = [*reports.values(), *([ComparisonReport(reports)] if several else [])]
    for report in made:
        for check in report.checks.available():
            if check.partition(" ")[0] not in _VALID_CHECKS:
                report.checks.remove(check.partition(" ")[0])
    return made[-1]


def _check_reportable(oof: Predictions, X: Any) -> None:
    if not isinstance(oof, Predictions):
        raise invalid("oof", "must be Predictions", f"got {type(oof).__name__}")
    if oof.response not in ("label", "score", "proba", "value"):
        needed, given = "needs predicted classes or values", f"these predictions are {oof.response}"
        raise NeedError(argument="to_skore", needed=needed, given=given)
    if oof.nothing_trained or len(oof.splits.cells) < 2:
        needed, given = "needs predictions of folds", f"these are {oof.plan}"
        raise NeedError(argument="to_skore", needed=needed, given=given)
    if len(X) != oof.n_samples:
        raise invalid("X", f"must have one row for each of the {oof.n_samples} samples", f"got {len(X)}")


class _Stored:
    """The predictions of one configuration, found by the positions of the samples in the index of a frame."""

    def __init__(self, oof: Predictions, rows: Any) -> None:
        self.oof, self.rows = oof, rows
        self._cells = {oof.splits.train_rows(*cell).tobytes(): cell for cell in oof.splits.cells}

    def cell(self, X: Any) -> tuple[int, int]:
        """The repeat and fold that these training samples belong to."""
        found = self._cells.get(np.asarray(X.index, dtype=np.intp).tobytes())
        if found is None:
            raise InputError("stored predictions have no model that was trained on these samples.")
        if self.oof.state[0, found[0], found[1]] != State.DONE:
            config, (repeat, fold) = self.oof.configs[0], found
            raise InputError(f"{config} has no predictions of fold {fold} of repeat {repeat}.")
        return found

    def positions(self, X: Any, cell: tuple[int, int]) -> NDArray[np.intp]:
        """The positions of held-out samples whose features are as they were."""
        at = np.asarray(X.index, dtype=np.intp)
        if not np.isin(at, self.oof.splits.test_rows(*cell)).all():
            raise InputError("stored predictions are of held-out samples only; there are none of training samples.")
        if not self.rows.iloc[at].equals(X):
            raise InputError("stored predictions cannot tell what a model would predict for changed features.")
        return at


class StoredModel(BaseEstimator):  # type: ignore[misc]
    """An estimator that looks up what it predicts; `fit` finds the fold that its training samples belong to."""

    def __init__(self, stored: _Stored) -> None:
        self.stored = stored

    def __sklearn_clone__(self) -> Any:
        return type(self)(self.stored)

    def __repr__(self) -> str:
        return f"Stored({self.stored.oof.configs[0]!r})"

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the fold."""
        self.cell_ = self.stored.cell(X)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any) -> Any:
        """The stored predictions: labels, or values."""
        at, oof = self.stored.positions(X, self.cell_), self.stored.oof
        found = oof.respond("predict")[self.cell_[0], 0, at]
        return found if oof.target.classes is None else np.asarray(oof.target.classes)[found]


class StoredRegressor(RegressorMixin, StoredModel):  # type: ignore[misc]
    """Looks up values."""


def _holds(response: str) -> Any:
    return available_if(lambda model: model.stored.oof.response == response)


class StoredClassifier(ClassifierMixin, StoredModel):  # type: ignore[misc]
    """Looks up labels, and probabilities or scores if they are stored."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels in sorted order, as scikit-learn has them."""
        return np.sort(np.asarray(self.stored.oof.target.classes))

    @_holds("proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The stored probabilities, in the order of `classes_`."""
        found = self.stored.oof.data[self.cell_[0], 0, self.stored.positions(X, self.cell_)]
        whole = found if found.ndim == 2 else np.column_stack([1 - found, found])
        return whole[:, np.argsort(np.asarray(self.stored.oof.target.classes))]

    @_holds("score")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """The stored scores; greater speaks for the last of two `classes_`."""
        found = self.stored.oof.data[self.cell_[0], 0, self.stored.positions(X, self.cell_)]
        order = np.argsort(np.asarray(self.stored.oof.target.classes))
        return found[:, order] if found.ndim == 2 else found if order[0] == 0 else -found
