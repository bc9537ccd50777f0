"""What tests on one set of samples share: right and wrong answers, values by sample, and what must be said of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arguments import check_count
from ..data.notes import Note
from ..data.predictions import Predictions
from ..exceptions import InputError, NeedError
from ..metrics._scoring import bind
from ..stats.pvalues import Tails
from ._contest import Contest
from ._design import Question


@dataclass(frozen=True, eq=False)
class Answers:
    """Which samples every configuration has right.

    Attributes
    ----------
    hits
        (C, N) 1 where the answer is right, else 0, whatever the direction of the metric.
    sign
        1 where the metric is the share of right answers, -1 where it is that of wrong ones.
    """

    hits: NDArray[np.integer]
    sign: int

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.hits.shape[1])

    @cached_property
    def right(self) -> NDArray[np.int64]:
        """(C,) number of right answers."""
        right: NDArray[np.int64] = self.hits.sum(axis=1, dtype=np.int64)
        return right

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """(C,) the metric."""
        return (self.right if self.sign > 0 else self.n - self.right) / self.n

    def in_units(self, interval: NDArray[np.float64]) -> NDArray[np.float64]:
        """(P, 2) an interval of differences of shares of right answers, in the direction of the metric."""
        return interval if self.sign > 0 else -interval[:, ::-1] + 0.0


def answers(contest: Contest, test: str, repeat: int | None) -> Answers:
    """Right and wrong answers, one a sample; an error where the metric or the predictions give none."""
    oof = contest.predictions(test)
    refuse_groups(oof, test)
    r = one_repeat(oof, test, repeat)
    metric, data = bind(oof, contest.metric_name if contest.metric is None else contest.metric)
    rows = np.flatnonzero(oof.folds[:, r] >= 0)
    whole = len(rows) == oof.n_samples
    values = None
    if metric.values is not None:
        values = metric.values(oof.target if whole else oof.target.take(rows), data[r] if whole else data[r][:, rows])
    if values is None or (values.dtype.kind not in "biu" and not _all_zero_one(metric.needs == "pointwise", values)):
        raise InputError(
            f"{test} needs answers that are right or wrong: accuracy, error, or the mean of scores that are 0 or 1; "
            f"{metric.name} is another kind of metric here. Use bootstrap or permutation."
        )
    if values.dtype.kind not in "biu":
        values = values.astype(np.int32)
    return Answers(values if metric.greater_is_better else 1 - values, metric.sign)


def _all_zero_one(given: bool, values: NDArray[np.float64]) -> bool:
    return given and bool(np.all((values == 0) | (values == 1)))


def zero_one(oof: Predictions) -> bool:
    """Whether scores made elsewhere are all 0 or 1, of the samples that are held out; of the others there are none."""
    data = oof.respond("pointwise")
    return all(bool(np.isin(data[r][:, oof.folds[:, r] >= 0], (0.0, 1.0)).all()) for r in range(oof.n_repeats))


def one_repeat(oof: Predictions, test: str, repeat: int | None) -> int:
    """The repeat that is meant; an error where there are several and none was named."""
    if repeat is None:
        if oof.n_repeats > 1:
            raise NeedError(
                f"{test} needs one prediction a sample; these predictions are {oof.plan}. Say which repeat with repeat=0, or use "
                "a test that takes all of them: bootstrap, permutation, or t_corrected."
            )
        return 0
    repeat = check_count(repeat, "repeat", 0)
    if repeat >= oof.n_repeats:
        raise InputError(f"repeat must be in 0..{oof.n_repeats - 1}; got {repeat}.")
    return repeat


def refuse_groups(oof: Predictions, test: str) -> None:
    """An error where samples come in groups and so do not count one each."""
    codes = oof.group_codes
    if codes is not None and int(codes.max()) + 1 < oof.n_samples:
        raise NeedError(
            f"{test} needs independent samples; these come in {int(codes.max()) + 1} groups. "
            "Use permutation or bootstrap, which take groups whole."
        )


def notes_on_pooling(contest: Contest, ranked: bool = False) -> tuple[Note, ...]:
    """What is left out where the one test set is made of several folds; `ranked` if their scores are ranked together."""
    oof = contest.oof
    if oof is None or oof.n_folds < 2:
        return ()
    notes = [
        Note(
            "OF308",
            f"the predictions of {oof.n_folds} folds are taken as one test set: chance in the samples counts, chance in the "
            "training sets does not.",
        )
    ]
    if ranked and oof.response == "score":
        notes.append(
            Note(
                "OF306",
                "scores of different folds are ranked together; margins of different models may not share a scale.",
            )
        )
    return tuple(notes)


def pvalues(question: Question, tails: Tails) -> NDArray[np.float64]:
    """(P,) p values of the question, where the tail "greater" is the one of "the first is better"."""
    if question.alternative == "two-sided":
        return tails.two_sided
    return tails.greater if question.alternative == "better" else tails.less


def standardised(difference: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """(P,) differences over their standard deviation, NaN where that is 0."""
    out = np.full(len(difference), np.nan)
    np.divide(difference, spread, out=out, where=spread > 0)
    return out


def notes_without_variance(difference: NDArray[np.float64], spread: NDArray[np.float64]) -> dict[int, tuple[Note, ...]]:
    """A caveat for every pair whose difference is not 0 and has no variance at all."""
    return {
        int(i): (Note("OF304", f"all samples differ by exactly {difference[i]:+.4g}; the p value is undefined."),)
        for i in np.flatnonzero((spread == 0) & (difference != 0))
    }
