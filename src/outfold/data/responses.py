"""Predictions in the response that a metric needs, as far as they can be given in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NeedError
from .cells import MEANING

if TYPE_CHECKING:
    from .predictions import Predictions

_ADVICE = {
    "label": "Use `collect(response='label')` or `collect(response='proba')`, or the metric roc_auc.",
    "losses": "Collect models that have `predict_survival_function`, as those of scikit-survival do; or use concordance.",
    "pointwise": "Use a metric of this response, such as accuracy or mse, or give `response='pointwise'`.",
} | {
    needs: f"Keep them with `SelectCV(scoring=['accuracy', '{scorer}'], refit='accuracy')` or `collect(response='{needs}')`; "
    "or use a metric of labels such as accuracy."
    for needs, scorer in (("score", "roc_auc"), ("proba", "neg_log_loss"))
}
_OTHER_ADVICE = "Give predictions with `response='{}'`, or use another metric."


def in_response(oof: Predictions, needs: str) -> NDArray[Any]:
    """As `Predictions.respond`, which says what `needs` may be."""
    if needs == "predict":
        needs = "any" if oof.target.classes is None else "label"
    if oof.response == "survival" and needs in ("risk", "any", "model", "losses"):
        return oof._losses if needs == "losses" else oof._risks
    anything = needs == "any" and oof.response != "none"
    if anything or needs in (oof.response, "live") or (needs, oof.response) == ("score", "proba"):
        return oof.data
    if needs == "model" and oof.response != "none":
        if oof.target.classes is None:
            return oof.data
        values = oof.data if oof.data.ndim == 4 else oof.data[..., None]
        return np.concatenate([values, oof.respond("label")[..., None]], axis=-1, dtype=np.float64)
    if needs == "label" and oof.labels is not None:
        return oof.labels
    if needs == "label" and (oof.response == "proba" or (oof.response == "score" and oof.threshold is not None)):
        return np.asarray(oof.cut())
    given = f"these predictions are {MEANING[oof.response]}"
    remedy = _ADVICE.get(needs, _OTHER_ADVICE.format(needs))
    raise NeedError(argument="the metric", needed=f"needs {MEANING[needs]}", given=given, remedy=remedy)
