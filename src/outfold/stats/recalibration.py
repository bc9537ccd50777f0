"""Do probabilities mean what they say? The calibration intercept and slope of Cox (1958), with their standard errors.

The slope is that of a logistic regression of the label on the logit of the predicted probability: below 1 probabilities are too
extreme, above 1 too timid. The intercept is fitted with the slope held at 1 ("calibration in the large"): above 0 the
probabilities are too low on the whole, below 0 too high.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import Floats

# Probabilities beyond these have no logit, or one that a single sample would decide the slope with.
MOST_CERTAIN = 0.001
_STEPS = 50
_CONVERGED = 1e-10
# A fit that separates the classes has no finite slope.
_SEPARATED = 50.0


class Coefficient(NamedTuple):
    """A number and its standard error."""

    value: float
    error: float


class Recalibration(NamedTuple):
    """Intercept and slope, and how many independent units they rest on."""

    intercept: Coefficient
    slope: Coefficient
    n_units: int


def recalibrate(
    chances: Floats, positive: NDArray[np.bool_], units: NDArray[np.intp], weights: Floats
) -> Recalibration | None:
    """Intercept and slope of (M,) probabilities; None where the classes are separated, or all probabilities are the same.

    Predictions with the same unit, (M,), are of one sample or one group: only units are independent. The weights of the
    predictions of one sample add up to 1.
    """
    x, y = logits(chances), positive.astype(np.float64)
    slope = _fitted(np.stack([np.ones_like(x), x]), (y, weights), np.zeros_like(x), units)
    intercept = _fitted(np.ones((1, len(x))), (y, weights), x, units)
    if slope is None or intercept is None or abs(slope[1].value) > _SEPARATED:
        return None
    return Recalibration(intercept[0], slope[1], len(np.unique(units)))


def logits(chances: Floats) -> Floats:
    """Logits of probabilities, none beyond that of 0.001 and 0.999."""
    p = np.clip(chances, MOST_CERTAIN, 1 - MOST_CERTAIN)
    return np.asarray(np.log(p / (1 - p)))


def _fitted(
    design: Floats, weighted: tuple[Floats, Floats], offset: Floats, units: NDArray[np.intp]
) -> list[Coefficient] | None:
    """The coefficients of a logistic regression on the (k, M) design, by Newton's method; None where there are none.

    `weighted` are the labels and their weights.
    """
    y, weights = weighted
    beta = np.zeros(len(design))
    for _ in range(_STEPS):
        mean = 1 / (1 + np.exp(-np.clip(beta @ design + offset, -500, 500)))
        information = (design * (weights * mean * (1 - mean))) @ design.T
        try:
            step = np.linalg.solve(information, design @ (weights * (y - mean)))
        except np.linalg.LinAlgError:
            return None
        beta = beta + np.clip(step, -5, 5)
        if not np.isfinite(beta).all() or np.abs(beta).max() > 2 * _SEPARATED:
            return None
        if np.abs(step).max() < _CONVERGED:
            break
    else:
        return None
    inverse = np.asarray(np.linalg.inv(information), dtype=np.float64)
    errors = _errors(design, weights * (y - mean), inverse, units)
    return [Coefficient(float(b), float(e)) for b, e in zip(beta, errors, strict=True)]


def _errors(design: Floats, residuals: Floats, inverse: Floats, units: NDArray[np.intp]) -> Floats:
    """Standard errors: those of the model or those that hold for any units (Liang and Zeger 1986), whichever are larger."""
    codes = np.unique(units, return_inverse=True)[1]
    n = int(codes.max()) + 1
    scores = np.stack([np.bincount(codes, row * residuals, n) for row in design])
    robust = inverse @ (scores @ scores.T) @ inverse * n / max(n - 1, 1)
    return np.asarray(np.sqrt(np.maximum(np.diag(robust), np.diag(inverse))))
