"""AutoGluon: the out-of-fold predictions of a predictor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.predictions import Predictions
from ..docstrings import fill_common
from ..exceptions import InputError
from ..io.convert import from_arrays


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
