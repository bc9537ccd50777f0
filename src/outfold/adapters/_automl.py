"""Reports and predictors that hold out-of-fold predictions: skore and AutoGluon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.plan import Plan
from ..data.predictions import Predictions
from ..data.target import Target
from ..docstrings import fill_common
from ..exceptions import InputError, invalid
from ..io.convert import from_arrays


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
    by_name = reports if isinstance(reports, Mapping) else getattr(reports, "reports_", None)
    if not isinstance(by_name, Mapping):
        by_name = {getattr(reports, "estimator_name_", "model"): reports}
    lacking = [name for name, report in by_name.items() if not hasattr(report, "split_indices")]
    if lacking:
        given = f"{lacking[0]!r} is a {type(by_name[lacking[0]]).__name__}"
        raise invalid("reports", "must be cross-validation reports of skore", given)
    first = next(iter(by_name.values()))
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
        columns.append(_by_repeat(report, splits.cells, n, response_method))
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
def from_autogluon(predictor: Any, y: Any, *, models: Sequence[str] | None = None, **options: Any) -> Predictions:
    """Out-of-fold predictions of the bagged models of an AutoGluon TabularPredictor.

    AutoGluon keeps them if it bags, as with ``presets="best_quality"`` or ``num_bag_folds=8``. It does not tell the folds, so all
    samples count as one fold: estimates of one score over all samples are as usual, and there is no mean over folds. Ensembles
    (``WeightedEnsemble_...``) were weighted on the same samples, so their predictions are too good; they are left out unless you
    name them.

    Parameters
    ----------
    predictor : TabularPredictor
        The fitted predictor.
    y : array-like
        The labels of the training rows, in their order.
    models : sequence of str or None
        The models; by default all that have out-of-fold predictions, without ensembles.
    **options
        Options of `from_arrays`, such as `groups` and `positive`.
    Returns: {predictions}

    Examples: {outfold}
    >>> of.adapters.from_autogluon(predictor, train["class"])  # doctest: +SKIP
    """
    classifies = predictor.problem_type in ("binary", "multiclass")
    names = list(models or [name for name in predictor.model_names() if not name.startswith("WeightedEnsemble")])
    columns, kept, problem = [], [], None
    for name in names:
        try:
            found = predictor.predict_proba_oof(model=name) if classifies else predictor.predict_oof(model=name)
        except Exception as error:  # a model without bagging; AutoGluon raises errors of several kinds
            if models is not None:
                raise InputError(f"the model {name!r} has no out-of-fold predictions ({error}).") from error
            problem = error
            continue
        if classifies and hasattr(found, "columns"):
            found = found[sorted(found.columns)]
        columns.append(np.asarray(found))
        kept.append(name)
    if not columns:
        remedy = 'Fit with `num_bag_folds=8` or `presets="best_quality"`.'
        raise InputError(f"no model has out-of-fold predictions ({problem})", remedy=remedy)
    P = np.stack(columns, axis=1)
    P = P[:, :, None] if P.ndim == 3 else P
    oof = from_arrays(np.asarray(y), P, configs=kept, **options)
    return replace(oof, provenance={"source": "AutoGluon"})
