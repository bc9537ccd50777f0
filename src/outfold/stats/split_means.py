"""Means over splits of the same samples as draws from a normal distribution, and what selecting the best of them gives (WMC)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import Floats
from .resampling import block_size, blocks
from .selection import argbest

_MEANS_STREAM = 0x3EA5


@dataclass(frozen=True, eq=False)
class NormalMeans:
    """How far the means of (V, J) scores over J splits may lie from their true values: normal draws, made block by block.

    The covariance of the means is S (1/J + n_test/n_train), with S the sample covariance of the scores over splits: lemma 1 of
    Nadeau and Bengio (2003). S has rank J - 1 at most, so it is never formed: a draw is a random combination of the splits.
    """

    scores: Floats
    ratio: float  # n_test / n_train
    n_resamples: int
    seed: int

    def __iter__(self) -> Iterator[Floats]:
        """(b, V) deviations; the same whenever they are asked for."""
        n_values, n_splits = self.scores.shape
        centred = self.scores - self.scores.mean(axis=1, keepdims=True)
        factor = np.sqrt((1 / n_splits + self.ratio) / max(n_splits - 1, 1)) * centred.T
        for i, part in enumerate(blocks(self.n_resamples, block_size(n_values))):
            rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(_MEANS_STREAM, i)))
            yield rng.standard_normal((part.stop - part.start, n_splits)) @ factor


class Weighted(NamedTuple):
    """The weighted mean, (C,) how often each configuration is the best, (b,) which one is, and how far means were shrunk."""

    value: float
    weights: Floats
    chosen: NDArray[np.intp]
    shrinkage: float


def weighted_mean(scores: Floats, deviations: Iterable[Floats], shrink: bool) -> Weighted:
    """The mean of the configurations' means, weighted by how often each is the best of a draw; greater (C, J) scores are better.

    WMC of Bernau, Augustin and Boulesteix (2013). With `shrink` it is WMCS: before weights are taken, all means are moved towards
    their mean by the share that makes up for the optimism of the best one. What is weighted are the means as they were.
    """
    means = scores.mean(axis=1)
    shrinkage = _shrinkage(means, deviations) if shrink else 0.0
    expected = means - shrinkage * (means - means.mean())
    chosen = np.concatenate([argbest(expected + block, True) for block in deviations])
    weights = np.bincount(chosen, minlength=len(means)) / len(chosen)
    return Weighted(float(weights @ means), weights, chosen, shrinkage)


def _shrinkage(means: Floats, deviations: Iterable[Floats]) -> float:
    """How far the best mean is above its true value where it is the best, over how far it is above the mean of all; 0 to 1."""
    best = int(argbest(means[None], True)[0])
    lead = float(means[best] - means.mean())
    gains = np.concatenate([block[argbest(means + block, True) == best, best] for block in deviations])
    if lead <= 0 or not len(gains):
        return 1.0
    return float(np.clip(gains.mean() / lead, 0.0, 1.0))
