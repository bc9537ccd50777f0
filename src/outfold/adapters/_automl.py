"""AutoGluon: the out-of-fold predictions of a predictor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.predictions import Predictions
from ..docstrings import fill_common
from ..exceptions import InputError
from ..io.convert import from_arrays


@fill_common
def from_autogluon(predictor: Any, y: Any, *, models: Sequence[str] | None = None, **options: Any) -> Predictions:
    """Out-of-fold predictions of the bagged models of an AutoGluon TabularPredictor.

    AutoGluon keeps them if it bags, as with ``presets="best_quality"`` or ``num_bag_folds=8``. It does not tell the folds, so all
    samples count as one fold: estimates of one score over all samples are as usual, and there is no mean over folds.

    Some models are left out unless you name them. Ensembles (``WeightedEnsemble_...``) were weighted on the same samples, so
    their predictions are too good. Models that were fitted again on all samples (``..._FULL``) have the predictions of the
    models that they stand for.

    Parameters
    ----------
    predictor : TabularPredictor
        The fitted predictor.
    y : array-like
        The labels of the training rows, in their order. Give the column of the training table if AutoGluon dropped some rows:
        its index says which.
    models : sequence of str or None
        The models; by default all that have out-of-fold predictions, without ensembles.
    **options
        Options of `from_arrays`, such as `groups` and `positive`.
    Returns: {predictions}

    Examples: {outfold}
    >>> of.adapters.from_autogluon(predictor, train["class"])  # doctest: +SKIP
    """
    classifies = predictor.problem_type in ("binary", "multiclass")
    names = list(models or _fitted_on_folds(predictor))
    tables, problem = {}, None
    for name in names:
        try:
            tables[name] = predictor.predict_proba_oof(model=name) if classifies else predictor.predict_oof(model=name)
        except Exception as error:  # a model without bagging; AutoGluon raises errors of several kinds
            if models is not None:
                raise InputError(f"the model {name!r} has no out-of-fold predictions ({error}).") from error
            problem = error
    if not tables:
        remedy = 'Fit with `num_bag_folds=8` or `presets="best_quality"`.'
        raise InputError(f"no model has out-of-fold predictions ({problem})", remedy=remedy)
    given: dict[str, Any] = {"response": "proba" if classifies else "value"}
    if predictor.problem_type == "binary" and getattr(predictor, "positive_class", None) is not None:
        given["positive"] = predictor.positive_class
    index = getattr(next(iter(tables.values())), "index", None)
    if hasattr(y, "index") and index is not None and y.index.is_unique and index.isin(y.index).all():
        if len(index) < len(y):
            given["samples"] = list(index)
        y = y.loc[index]
    labels = np.asarray(y)
    P = np.stack([_array(found, labels) for found in tables.values()], axis=1)
    P = P[:, :, None] if P.ndim == 3 else P
    oof = from_arrays(labels, P, configs=list(tables), **{**given, **options})
    return replace(oof, provenance={"source": "AutoGluon"})


def _array(found: Any, labels: NDArray[Any]) -> NDArray[Any]:
    """Values, or the probabilities of the classes in sorted order; a class whose rows were all dropped has a column too."""
    if hasattr(found, "columns"):
        found = found[sorted(set(found.columns) & set(labels.tolist()))]
    return np.asarray(found)


def _fitted_on_folds(predictor: Any) -> list[str]:
    """The models without ensembles, and without those that were fitted again on all samples."""
    refitted = set(predictor.model_refit_map().values()) if hasattr(predictor, "model_refit_map") else set()
    names = predictor.model_names()
    return [name for name in names if not name.startswith("WeightedEnsemble") and name not in refitted]
