"""Any function of labels and predictions, evaluated one configuration and weighting at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .base import Array, Floats


class LoopKernel:
    """A function of (labels, prediction, counts) of the rows with weight; NaN where no row has any.

    Parameters
    ----------
    function
        Called with the labels, one configuration's predictions and the counts of the rows that have weight.
    labels
        (N,) labels as the function knows them.
    predictions
        (C, N, ...) predictions as the function knows them.
    """

    def __init__(self, function: Callable[[Array, Array, Array], float], labels: Array, predictions: Array) -> None:
        self.n_configs = len(predictions)
        self._function, self._labels, self._predictions = function, labels, predictions

    def scores(self, weights: Array) -> Floats:
        """(b, C) value of every configuration under each weighting."""
        out = np.empty((len(weights), self.n_configs))
        for i, counts in enumerate(weights):
            out[i] = [self._value(counts, config) for config in range(self.n_configs)]
        return out

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) value of configuration ``chosen[i]`` under ``weights[i]``."""
        pairs = zip(weights, chosen, strict=True)
        return np.array([self._value(counts, config) for counts, config in pairs], dtype=np.float64)

    def _value(self, counts: Array, config: int) -> float:
        rows = np.flatnonzero(counts)
        if len(rows) == 0:
            return np.nan
        return self._function(self._labels[rows], self._predictions[config, rows], counts[rows])
