"""Concordance of risks with right-censored times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import jit
from .base import Array, Floats, ratio
from .ranks import lane_counts, sum_type
from .threads import share_out

# Largest number of (event, sample) pairs that the numpy path holds at once.
_CHUNK = 2**22


class ConcordanceKernel:
    """Harrell's C: the share of comparable pairs in which the sample with the earlier event has the higher risk.

    A pair is comparable if one sample's event was seen to come first: at an earlier time, or at the time at
    which the other was censored. Equal risks count one half. NaN where no pair is comparable.

    Parameters
    ----------
    risk
        (C, N) predicted risk, higher for an earlier event.
    time, event
        (N,) time of the event or of censoring, and which it was.
    """

    def __init__(self, risk: Floats, time: Floats, event: NDArray[np.bool_]) -> None:
        self.n_configs = len(risk)
        self._ranks = _ranks(risk)
        self._time, self._event = time, event
        self._walk = _walk(time, event)

    def scores(self, weights: Array) -> Floats:
        """(b, C) concordance of every configuration under each weighting."""
        return ratio(self._twice(weights, self._ranks).T, self._pairs(weights)[:, None])

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) concordance of configuration ``chosen[i]`` under ``weights[i]``."""
        twice = np.empty(len(weights))
        for config in np.unique(chosen):
            mine = np.flatnonzero(chosen == config)
            twice[mine] = self._twice(weights[mine], self._ranks[config : config + 1])[0]
        return ratio(twice, self._pairs(weights))

    def _pairs(self, weights: Array) -> Floats:
        """(b,) twice the number of comparable pairs."""
        drawn = weights[:, self._walk >> 1].astype(np.int64)
        compared = (self._walk & 1).astype(bool)
        entered = np.where(compared, 0, drawn).cumsum(axis=1)
        pairs: Floats = 2.0 * np.einsum("bn,bn->b", drawn[:, compared], entered[:, compared])
        return pairs

    def _twice(self, weights: Array, ranks: NDArray[np.int32]) -> Array:
        """(C, b) twice the concordant pairs plus the pairs of equal risk."""
        lanes = jit.lanes()
        if lanes is None:
            return np.array([self._numpy(weights.astype(np.float64), np.abs(r)) for r in ranks])
        counts = lane_counts(weights)
        dtype = sum_type(weights)
        height = np.abs(ranks).max(initial=0) + 1
        out = np.empty((len(ranks), counts.shape[1]), dtype=dtype)

        def walk(configs: slice) -> None:
            tree = np.empty((height, counts.shape[1]), dtype=dtype)
            lanes.concordance_lanes(ranks[configs], self._walk, counts, tree, np.empty_like(tree[0]), out[configs])

        share_out(walk, len(ranks), counts.size * len(ranks), lanes.MAX_THREADS)
        return out[:, : len(weights)]

    def _numpy(self, weights: Floats, ranks: Array) -> Floats:
        """(b,) the same for one configuration, over all pairs of an event and a sample."""
        events = np.flatnonzero(self._event)
        out = np.zeros(len(weights))
        size = max(1, _CHUNK // max(1, len(ranks)))
        for i in (events[start : start + size, None] for start in range(0, len(events), size)):
            later = (self._time[i] < self._time) | ((self._time[i] == self._time) & ~self._event)
            agreement = later * ((ranks[i] > ranks) + (ranks[i] >= ranks).astype(np.float64))
            out += np.einsum("bn,bn->b", weights[:, i[:, 0]] @ agreement, weights)
        return out


def _walk(time: Floats, event: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The rows in descending time, coded as ``lanes.concordance_lanes`` has them.

    At one time the censored enter first, then the events are compared, then the events enter.
    """
    events = np.flatnonzero(event)
    rows = np.concatenate([np.flatnonzero(~event), events, events])
    stage = np.repeat([0, 1, 2], [len(time) - len(events), len(events), len(events)])
    order = np.lexsort((stage, -time[rows]))
    walk: NDArray[np.intp] = (2 * rows + (stage == 1))[order]
    compared = np.flatnonzero(walk & 1)
    return walk[: compared[-1] + 1] if len(compared) else walk[:0]


def _ranks(risk: Floats) -> NDArray[np.int32]:
    """(C, N) dense ranks of the risk from 1, negative where a risk is not unique."""
    order = np.argsort(risk, axis=1)
    ranked = np.take_along_axis(risk, order, axis=1)
    first = np.ones(risk.shape, dtype=bool)
    first[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    unique = first.copy()
    unique[:, :-1] &= first[:, 1:]
    dense = first.cumsum(axis=1, dtype=np.int32)
    ranks = np.empty_like(dense)
    np.put_along_axis(ranks, order, np.where(unique, dense, -dense), axis=1)
    return ranks
