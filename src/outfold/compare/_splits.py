"""What tests by resampling have in common: the splits they need, the differences they test, their caveats."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..data.notes import Note
from ..data.scores import Layout
from ..metrics._scoring import SMALL_FOLD
from ..requirements import Compared, Requirement, check_requirements
from ..results import PairArrays
from ..stats.paired import Tested, rounding
from ._compared import ComparedConfigs
from ._pair_test import Hypothesis

PARTITIONS: tuple[Layout, ...] = ("kfold", "balanced")
RANDOM: tuple[Layout, ...] = (*PARTITIONS, "holdout")


def _n_undefined(compared: Compared) -> int:
    """Splits in which the metric of one of the configurations is undefined."""
    folds = compared.folds
    return int(np.sum((folds.n_test > 0) & np.isnan(folds.values).any(axis=0)))


def _undefined_in_words(compared: Compared) -> str:
    folds = compared.folds
    return f"{folds.metric} is undefined in {_n_undefined(compared)} of {int(np.sum(folds.n_test > 0))}"


ALL_DEFINED: Requirement[Compared] = Requirement(
    "the scores of all splits",
    lambda compared: _n_undefined(compared) == 0,
    "Use fewer folds or a metric such as accuracy, or `t_corrected`.",
    _undefined_in_words,
)
# Most tests leave undefined scores out, so that this is not part of their design.
_TWO_DEFINED: Requirement[Compared] = Requirement(
    "the scores of two or more splits",
    lambda compared: int(np.sum(compared.folds.n_test > 0)) - _n_undefined(compared) >= 2,
    "Use fewer folds or a metric such as accuracy.",
    _undefined_in_words,
)


class SplitDifferences:
    """The fold scores of some pairs, and their differences.

    A split in which the score of one configuration is undefined is left out for all, so that all are judged on the same splits.

    Attributes
    ----------
    compared, pairs
        The configurations, and the positions of those that are compared.
    first, second
        (P, J) scores of the two of every pair in the splits that count, repeat by repeat.
    """

    def __init__(self, test: str, compared: ComparedConfigs, pairs: NDArray[np.intp]) -> None:
        check_requirements(test, (_TWO_DEFINED,), compared)
        folds = compared.folds
        planned = folds.n_test > 0
        defined = planned & ~np.isnan(folds.values).any(axis=0)
        self.compared, self.pairs = compared, pairs
        self._n_planned, self._defined = int(planned.sum()), defined
        values = folds.values[:, defined]
        self.scores: NDArray[np.float64] = values.mean(axis=1)
        self.first, self.second = values[pairs[:, 0]], values[pairs[:, 1]]

    @cached_property
    def d(self) -> NDArray[np.float64]:
        """(P, J) differences, first minus second."""
        return self.first - self.second

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """(P,) mean differences."""
        return np.asarray(self.d.mean(axis=1))

    @cached_property
    def halves(self) -> NDArray[np.float64]:
        """(P, m, 2) differences of two-fold plans."""
        return self.d.reshape(len(self.d), -1, 2)

    @cached_property
    def floor(self) -> NDArray[np.float64]:
        """(P,) what is smaller is rounding."""
        return rounding(self.first, self.second)

    @property
    def n_splits(self) -> int:
        """Splits that count, J."""
        return int(self.d.shape[1])

    @cached_property
    def ratios(self) -> NDArray[np.float64]:
        """(J,) n_test / n_train of every split that counts."""
        folds = self.compared.folds
        return folds.n_test[self._defined] / folds.n_train[self._defined]

    def notes(self) -> tuple[Note, ...]:
        """Caveats for all pairs: scores that are undefined, or taken on too few samples."""
        compared, notes = self.compared, []
        missing = self._n_planned - self.n_splits
        if missing:
            notes.append(
                Note(
                    "OF310",
                    f"{compared.metric_name} is undefined in {missing} of {self._n_planned} folds, left out for both.",
                )
            )
        smallest = int(compared.folds.n_test[self._defined].min())
        if compared.metric is not None and not compared.metric.pointwise and smallest < SMALL_FOLD:
            notes.append(Note("OF204", f"{compared.metric_name} on folds of {smallest} samples is unreliable."))
        return tuple(notes)

    def arrays(
        self,
        hypothesis: Hypothesis,
        tested: Tested,
        df: tuple[float, ...],
        *,
        directed: bool = True,
        notes: dict[int, tuple[Note, ...]] | None = None,
    ) -> PairArrays:
        """The numbers of a test with the effects; `directed` where the statistic has a sign."""
        pvalue = tested.pvalue
        if directed and hypothesis.alternative != "two-sided":
            sign = self.compared.sign * (1 if hypothesis.alternative == "better" else -1)
            one_sided = np.where(sign * tested.statistic > 0, pvalue / 2, 1 - pvalue / 2)
            pvalue = np.where(np.isnan(tested.statistic), pvalue, one_sided)
        return PairArrays(
            difference=self.mean,
            statistic=tested.statistic,
            pvalue=pvalue,
            df=df,
            interval=tested.interval,
            standardised=self.standardised,
            wins=self.wins,
            unit=self.unit,
            notes=self.flat_notes(np.isnan(tested.statistic)) | (notes or {}),
        )

    @property
    def unit(self) -> str:
        """What a split is called."""
        return "fold" if self.compared.folds.layout in PARTITIONS else "split"

    @cached_property
    def standardised(self) -> NDArray[np.float64]:
        """(P,) mean difference over the standard deviation of the differences; NaN without any."""
        sd = self.d.std(axis=1, ddof=1)
        return np.where(sd > self.floor, self.mean / np.where(sd > self.floor, sd, 1.0), np.nan)

    @cached_property
    def wins(self) -> NDArray[np.int64]:
        """(P, 3) splits in which the first is better, equal, worse."""
        d = self.compared.sign * self.d
        better, worse = d > self.floor[:, None], d < -self.floor[:, None]
        return np.stack([better.sum(axis=1), (~better & ~worse).sum(axis=1), worse.sum(axis=1)], axis=1)

    def flat_notes(self, flat: NDArray[np.bool_]) -> dict[int, tuple[Note, ...]]:
        """A note for every pair without variance."""
        out: dict[int, tuple[Note, ...]] = {}
        for i in np.flatnonzero(flat):
            if np.ptp(self.d[i]) <= self.floor[i]:
                text = f"all splits differ by exactly {0.0 if abs(self.mean[i]) <= self.floor[i] else self.mean[i]:.6g}"
            else:
                text = "the two halves of every repeat differ alike"
            out[int(i)] = (Note("OF304", f"{text}: there is no variance to test by."),)
        return out
