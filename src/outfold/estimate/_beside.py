"""The other number that readers of survival models ask for: curves beside concordance, or concordance beside curves."""

from __future__ import annotations

from typing import NamedTuple

from .. import metrics
from ..arguments import RngLike
from ..data.predictions import Predictions
from ..data.survival import span
from ..exceptions import InputError
from ..metrics._baseline import baseline
from ..metrics._scoring import recorded_metric
from ..results import Baseline, Estimate
from ._bbc import bbc

# Which metric is told beside which.
_OTHER = {"concordance": "integrated_brier", "integrated_brier": "concordance"}


class Beside(NamedTuple):
    """Another metric of the selected configuration: its estimate, or why there is none, and what learning nothing gives."""

    metric: str
    estimate: Estimate | None
    baseline: Baseline | None
    about: str  # why there is no estimate; for curves, at which times they are compared with what happened


def beside(
    oof: Predictions, *, n_resamples: int = 1000, confidence_level: float = 0.95, rng: RngLike = 0
) -> Beside | None:
    """The other metric of the configuration that the record selects; None unless there are survival curves."""
    by = recorded_metric(oof)
    name = _OTHER.get(metrics.get(by, oof.target.task).name)
    if oof.times is None or name is None:
        return None
    how = {"n_resamples": n_resamples, "confidence_level": confidence_level, "rng": rng}
    none = baseline(metrics.get(name, oof.target.task), oof.target, oof.times)
    try:
        found = bbc(oof, name, selected_by=by, **how)  # type: ignore[arg-type]
    except InputError as error:
        return Beside(name, None, none, str(error.given or error))
    return Beside(name, found, none, f"at {span(oof.times)}" if name == "integrated_brier" else "")
