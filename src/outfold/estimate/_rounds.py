"""Bootstrap rounds scored in other ways than by the mean of their out-of-bag scores, for all configurations at once.

Each is a `Scoring`, so that the rules can select by it and the bias correction can draw from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.notes import Note
from ..data.predictions import Predictions
from ..exceptions import NeedError
from ..metrics import MetricLike
from ..metrics._scoring import Scoring, bind, running
from ..stats.kernels import MeanKernel
from ..stats.resampling import Plus, compact, point632, point632plus, weighted632plus
from ._no_information import check_known, no_information

Floats = NDArray[np.float64]


class Rounds(Scoring):
    """Scores made of those of bootstrap rounds and of the model fitted on all samples.

    Candidates are those that all the blocks it reads have predictions of.
    """

    blocks: tuple[str, ...] = ("resub",)

    def __init__(self, oof: Predictions, metric: MetricLike) -> None:
        super().__init__(oof, metric)
        before = len(self.candidates)
        for name in self.blocks:
            self.candidates = np.intersect1d(self.candidates, running(oof.blocks[name]))
        missing, blocks = before - len(self.candidates), " and ".join(self.blocks)
        if not len(self.candidates):
            raise NeedError(
                needed=f"no configuration has all its predictions in the blocks {blocks}",
                remedy="Collect some that can be fitted on all samples.",
            )
        if missing:
            text = f"{missing} more of {oof.n_configs} configurations have no predictions in the blocks {blocks}"
            self.notes = (*self.notes, Note("OF205", f"{text} and cannot be selected."))

    @cached_property
    def resub(self) -> Scoring:
        """The candidates fitted on all samples, scored on the same samples."""
        return Scoring(self.oof.blocks["resub"].sel(config=self.candidates.tolist()), self.metric)

    def on_all(self) -> Iterator[NDArray[Any]]:
        """(C, N) or (C, N, K) what the candidates of every round predict for all samples, drawn or not.

        A round at a time: all of them together would be as large as the predictions.
        """
        for r, _ in self.cells:
            outside = (self.oof.folds[:, r] >= 0).reshape(-1, *[1] * (self._data.ndim - 3))
            yield np.where(outside, self._data[r][self.candidates], self._drawn[r][self.candidates])

    @cached_property
    def _drawn(self) -> NDArray[Any]:
        return bind(self.oof.blocks["inbag"], self.metric)[1]

    def scores(self, weights: NDArray[Any] | None = None) -> Floats:
        """(b, C) the estimate for every candidate under every weighting."""
        raise NotImplementedError

    def paired(self, weights: NDArray[Any], chosen: NDArray[np.intp]) -> Floats:
        """(b,) the estimate for candidate chosen[i] under weights[i]."""
        return np.asarray(self.scores(weights)[np.arange(len(weights)), chosen])

    def apparent(self, weights: NDArray[Any] | None = None) -> Floats:
        """(b, C) the resubstitution score; without weights on all samples, held out in some round or not."""
        return self.resub.scores(self._spread(weights))

    def _spread(self, weights: NDArray[Any] | None) -> NDArray[Any]:
        """Weights of the rows that count, as weights of all samples; without weights every sample counts once."""
        if weights is None:
            return np.ones((1, self.oof.n_samples), dtype=np.uint8)
        if len(self.rows) == self.oof.n_samples:
            return weights
        out = np.zeros((len(weights), self.oof.n_samples), dtype=weights.dtype)
        out[:, self.rows] = weights
        return out


class Point632(Rounds):
    """0.368 resubstitution + 0.632 out-of-bag score.

    The out-of-bag part is averaged for every sample over the rounds that held it out, then over samples (Efron and Tibshirani
    1997, eq. 17); for a set-valued metric it is the mean over rounds.
    """

    def scores(self, weights: NDArray[Any] | None = None) -> Floats:
        """(b, C) the estimate for every candidate under every weighting."""
        return self._combine(self.apparent(weights), self.out_of_bag(weights), slice(None))

    def paired(self, weights: NDArray[Any], chosen: NDArray[np.intp]) -> Floats:
        """(b,) the estimate for candidate chosen[i] under weights[i]."""
        by = self._by_sample
        score1 = Scoring.paired(self, weights, chosen) if by is None else by.paired(weights, chosen)
        return self._combine(self.resub.paired(self._spread(weights), chosen), score1, chosen)

    def out_of_bag(self, weights: NDArray[Any] | None = None) -> Floats:
        """(b, C) the out-of-bag score."""
        if self._by_sample is None:
            return Scoring.scores(self, weights)
        return self._by_sample.scores(self.equal_weights() if weights is None else weights)

    @cached_property
    def _by_sample(self) -> MeanKernel | None:
        values = self.metric.values
        if values is None:
            return None
        total = np.zeros((len(self.candidates), self.oof.n_samples))
        times = np.zeros(self.oof.n_samples)
        for r, k in self.cells:
            rows = self.oof.splits.test_rows(r, k)
            total[:, rows] += values(self.oof.target.take(rows), self._slice(r, rows))
            times[rows] += 1
        return MeanKernel(total[:, self.rows] / times[self.rows])

    def _combine(self, score0: Floats, score1: Floats, columns: Any) -> Floats:
        return point632(score0, score1)


class Point632Plus(Point632):
    """The .632+ estimate as published; its no-information rate is that of all samples, whatever the weights."""

    def __init__(self, oof: Predictions, metric: MetricLike) -> None:
        super().__init__(oof, metric)
        check_known(self.metric, oof.target, "point632plus")

    @cached_property
    def gamma(self) -> Floats:
        """(C,) the score of every candidate without information."""
        found, data = bind(self.resub.oof, self.metric)
        return no_information(found, self.oof.target, data[0])

    def plus(self, weights: NDArray[Any] | None = None) -> Plus:
        """The loss and the overfitting rate, (b, C) each."""
        return self._plus(self.apparent(weights), self.out_of_bag(weights), slice(None))

    def _plus(self, score0: Floats, score1: Floats, columns: Any) -> Plus:
        # A loss is all that is needed, up to a constant: minus a score will do.
        sign = -self.metric.sign
        return point632plus(sign * score0, sign * score1, sign * self.gamma[columns])

    def _combine(self, score0: Floats, score1: Floats, columns: Any) -> Floats:
        return -self.metric.sign * self._plus(score0, score1, columns).loss


class Point632ByRound(Rounds):
    """The .632 of every round, then the mean (Raschka 2018, eq. 34).

    The training part is the score of the round's model on all samples, as in the program of the paper's author.
    """

    blocks = ("inbag",)

    def scores(self, weights: NDArray[Any] | None = None) -> Floats:
        """(b, C) the mean over rounds for every candidate under every weighting."""
        target, full = self.oof.target, self._spread(weights)
        kernels = (self.metric.kernel(target, predictions) for predictions in self.on_all())
        training = np.stack([kernel.scores(full) for kernel in kernels], axis=-1)
        return _mean_of_rounds(self._combine(training, self.fold_scores(weights)))

    def _combine(self, score0: Floats, score1: Floats) -> Floats:
        return point632(score0, score1)


class Point632PlusByRound(Point632ByRound):
    """The .632+ of every round with R kept from 0 to 1, then the mean (Raschka 2018, eq. 35-37)."""

    def __init__(self, oof: Predictions, metric: MetricLike) -> None:
        super().__init__(oof, metric)
        check_known(self.metric, oof.target, "point632plus")

    @cached_property
    def gamma(self) -> Floats:
        """(C, rounds) the score of every candidate of every round without information."""
        target = self.oof.target
        return np.stack([no_information(self.metric, target, predictions) for predictions in self.on_all()], axis=1)

    def _combine(self, score0: Floats, score1: Floats) -> Floats:
        sign = -self.metric.sign
        return sign * weighted632plus(sign * score0, sign * score1, sign * self.gamma).loss


class Optimism(Rounds):
    """The resubstitution score minus the mean optimism of the rounds (Harrell, Lee and Mark 1996).

    A round's optimism is its model's score on what it drew, as often as it drew it, minus its score on all samples.
    """

    blocks = ("inbag", "resub")

    def undefined(self) -> tuple[int, int]:
        """None: whether the samples a round left out can be scored does not matter here."""
        return 0, len(self.cells)

    def scores(self, weights: NDArray[Any] | None = None) -> Floats:
        """(b, C) the corrected score of every candidate under every weighting."""
        target, full, splits = self.oof.target, self._spread(weights), self.oof.splits
        gaps = []
        for cell, predictions in zip(self.cells, self.on_all(), strict=True):
            kernel = self.metric.kernel(target, predictions)
            times = np.bincount(splits.train_rows(*cell), minlength=len(target))
            drawn = compact(np.multiply(full, times, dtype=np.int64))
            gaps.append(kernel.scores(drawn) - kernel.scores(full))
        return np.asarray(self.apparent(weights) - _mean_of_rounds(np.stack(gaps, axis=-1)))


def _mean_of_rounds(rounds: Floats) -> Floats:
    """(b, C) mean over the last axis of what is defined."""
    defined = ~np.isnan(rounds)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(defined, rounds, 0.0).sum(axis=-1) / defined.sum(axis=-1))
