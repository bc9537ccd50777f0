"""Survival curves of predictions: the times at which they are kept, and what they lose for each sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NeedError
from ..stats import survival
from .target import Target


def times_of(target: Target) -> NDArray[np.float64] | None:
    """The times at which curves are kept for these samples; None if they are no survival times, or events come all at once."""
    if target.event is None:
        return None
    times = survival.curve_times(target.y, target.event)
    return times if len(times) else None


def span(times: NDArray[np.float64]) -> str:
    """``20 times from 281 to 1,526``."""
    return f"{len(times)} times from {times[0]:,.4g} to {times[-1]:,.4g}"


def losses(data: NDArray[Any], target: Target, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R, C, N) what the curves in (R, C, N, 1 + T) data lose: the mean over samples is the integrated Brier score.

    The weights for censored samples come from all samples, as in Graf et al. (1999).
    """
    time, event = target.y, target.event
    assert event is not None
    if survival.not_censored(time, event, times[-1:])[0] == 0:
        needed = f"needs samples that are observed after {times[-1]:,.4g}"
        given = f"the last of these is observed at {time.max():,.4g}"
        remedy = "Use the metric concordance, or wait until they were observed for longer."
        raise NeedError(argument="integrated_brier", needed=needed, given=given, remedy=remedy)
    return np.stack([survival.brier_losses(part[..., 1:], time, event, times) for part in data])
