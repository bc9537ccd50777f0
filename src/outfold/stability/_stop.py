"""How many repeats are enough: rules that end a collection whose number of repeats is open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import estimate
from ..arguments import check_between, check_choice, check_count, is_number
from ..data.predictions import Predictions, State
from ..docstrings import fill_with
from ..exceptions import got, invalid
from ..metrics import MetricLike
from ..metrics._scoring import bind, selecting
from ..requirements import check_predictions
from ..stats import selection

document = fill_with(
    {
        "configs": """configs : list of str or None
    Names of the configurations it must hold for; all that are still running where None, or where all that are
    named were dropped.""",
        "share": "float\n    From 0 to 1.",
    }
)


@document
class Stop:
    """What stop rules have in common: each says whether the repeats are enough.

    Examples: {numpy_outfold}
    >>> oof = of.from_arrays(None, np.ones((4, 2, 3)), response="pointwise")
    >>> isinstance(of.stability.Fixed(3), of.stability.Stop), of.stability.Fixed(3).holds(oof)
    (True, True)
    """

    metric: MetricLike | None = None
    configs: Sequence[str] | None = None

    @property
    def by_fold(self) -> bool:
        """Whether the rule is asked after every fold, and may end the work within a repeat."""
        return False

    def holds(self, oof: Predictions, configs: Iterable[str] | None = None) -> bool:
        """Whether the repeats are enough for these configurations, all by default.

        Repeats that are not complete for them do not count.
        """
        check_predictions(oof, f"stability.{type(self).__name__}")
        done = self._done(oof, configs)
        return done is not None and self._holds(done)

    def check(self, oof: Predictions) -> None:
        """Refuse predictions for which the rule can never hold, before anything is fitted."""
        if self.metric is not None:
            bind(oof, self.metric)
        named = () if self.configs is None else self.configs
        if isinstance(named, str) or not isinstance(named, Iterable):
            raise invalid("configs", "must be a list of names", got(self.configs))
        for name in named:
            oof.config_index(name)  # says which names there are where this is none of them

    def forecast(self, oof: Predictions, configs: Iterable[str] | None = None) -> int | None:
        """How many repeats it will take in all, as far as can be told; None where nothing can."""
        return None

    def _holds(self, oof: Predictions) -> bool:
        raise NotImplementedError

    def _done(self, oof: Predictions, configs: Iterable[str] | None) -> Predictions | None:
        """The complete repeats of the configurations that count: those named in the rule, as far as they are there."""
        names = list(oof.configs if configs is None else configs)
        named = [name for name in names if self.configs is not None and name in self.configs]
        return complete(oof.sel(config=named or names)) if names else None


@document
@dataclass(frozen=True)
class Rank(Stop):
    """Enough when another repeat leaves the samples in the order they had.

    Every sample has a running mean, over repeats, of its predicted probability (score, value; for labels, of being right);
    Spearman's correlation of these means before and after the last repeat must reach `threshold` (Raeder, Hoens and Chawla
    2010, sect. V; at 1 - 10^-3 it stops too early, at 1 - 10^-5 perhaps never).

    Parameters
    ----------
    threshold : float
        Least correlation, 0.9999 as in the paper.
    {configs}
    References: {raeder2010}

    Examples: {outfold}
    >>> of.stability.Rank()
    Rank(threshold=0.9999, configs=None)
    """

    threshold: float = 0.9999
    configs: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.threshold != 1:
            check_between(self.threshold, "threshold", 0.9999)

    def _holds(self, oof: Predictions) -> bool:
        return oof.n_repeats >= 2 and bool(np.all(self._correlations(oof) >= self.threshold))

    def _correlations(self, oof: Predictions) -> NDArray[np.float64]:
        values = np.moveaxis(_per_sample(oof), 1, 0)
        return selection.rank_correlations(values[:, :-1], values)

    def forecast(self, oof: Predictions, configs: Iterable[str] | None = None) -> int | None:
        """A mean over r repeats moves by 1/r at the next one, so 1 minus the correlation falls like 1/r^2."""
        done = self._done(oof, configs)
        if done is None or done.n_repeats < 3 or self.threshold == 1:
            return None
        gap = 1 - float(np.min(self._correlations(done)))
        return int(np.ceil(done.n_repeats * np.sqrt(max(gap / (1 - self.threshold), 1.0))))


@document
@dataclass(frozen=True)
class KS(Stop):
    """Enough when the scores of even and of odd repeats have nearly the same distribution.

    The two-sample Kolmogorov-Smirnov distance between them must not exceed `threshold` (Raeder, Hoens and Chawla 2010,
    sect. V). Takes about 200 repeats at 0.1 and 50 at 0.2, whatever the data.

    Parameters
    ----------
    threshold : float
        Largest distance, 0.1 or 0.2 in the paper.
    {task_metric, configs}
    References: {raeder2010}

    Examples: {outfold}
    >>> of.stability.KS()
    KS(threshold=0.1, metric=None, configs=None)
    """

    threshold: float = 0.1
    metric: MetricLike | None = None
    configs: Sequence[str] | None = None

    def __post_init__(self) -> None:
        check_between(self.threshold, "threshold", 0.1)

    def _holds(self, oof: Predictions) -> bool:
        if oof.n_repeats < 2:
            return False
        scores = selecting(oof, self.metric).repeat_scores()
        return bool(np.all(selection.ks_distance(scores[::2].T, scores[1::2].T) <= self.threshold))


@document
@dataclass(frozen=True)
class Width(Stop):
    """Enough when the interval of the estimate is narrower than `width`.

    The interval is that of `estimate.bbc` for the selected configuration. Repeats take away what the partition adds to it,
    not what the samples do: with few samples no number of repeats reaches a narrow one, and the cap ends the work.

    Parameters
    ----------
    width : float
        Largest width of the interval.
    {task_metric}
    after : {{"repeat", "fold"}}
        When to look at the interval. With ``"fold"`` the work may end within a repeat, so that some samples are never held out:
        the incomplete cross-validation of [1]_ (sect. 3). Estimates then use the folds that are done, and say so (OF206).
    References: {tsamardinos2018}

    Examples: {outfold}
    >>> of.stability.Width(0.05, after="fold")
    Width(width=0.05, metric=None, after='fold')
    """

    width: float = 0.02
    metric: MetricLike | None = None
    after: Literal["repeat", "fold"] = "repeat"

    def __post_init__(self) -> None:
        if not is_number(self.width) or not self.width > 0:
            raise invalid("width", "must be above 0, such as 0.02", got(self.width))
        check_choice(self.after, ("repeat", "fold"), "after")

    @property
    def by_fold(self) -> bool:
        """Whether the interval is looked at after every fold."""
        return self.after == "fold"

    def _done(self, oof: Predictions, configs: Iterable[str] | None) -> Predictions | None:
        """With ``after="fold"`` all that is done counts, in whole repeats or not."""
        if not self.by_fold:
            return super()._done(oof, configs)
        names = list(oof.configs if configs is None else configs)
        return oof.sel(config=names) if names else None

    def _holds(self, oof: Predictions) -> bool:
        interval = estimate.bbc(oof, self.metric).interval
        return interval is not None and interval.high - interval.low < self.width


@document
@dataclass(frozen=True)
class Fixed(Stop):
    """Enough after `n` repeats.

    Parameters
    ----------
    n : int
        Number of repeats.

    Examples: {outfold}
    >>> of.stability.Fixed(20)
    Fixed(n=20)
    """

    n: int = 20

    def __post_init__(self) -> None:
        check_count(self.n, "n", 1)

    def _holds(self, oof: Predictions) -> bool:
        return oof.n_repeats >= self.n

    def forecast(self, oof: Predictions, configs: Iterable[str] | None = None) -> int | None:
        """The number itself."""
        return self.n


def as_stop(stop: Any) -> Stop:
    """A stop rule, or the default for None."""
    if stop is None:
        return Rank()
    if isinstance(stop, Stop):
        return stop
    raise invalid("stop", "must be a rule such as `stability.Rank()` or `stability.Fixed(20)`", got(stop))


def complete(oof: Predictions) -> Predictions | None:
    """The repeats of which all configurations have done every fold; None where there is no such repeat."""
    whole = np.all((oof.state == State.DONE) | ~oof.planned, axis=(0, 2))
    return oof.sel(repeat=np.flatnonzero(whole).tolist()) if whole.any() else None


def _per_sample(oof: Predictions) -> NDArray[np.float64]:
    """(R, C, N) or (R, C, N K): what is predicted for every sample; of labels, whether it is right. NaN where nothing is."""
    if oof.response == "label":
        right = (oof.data == oof.target.y).astype(np.float64)
        return np.where(oof.data < 0, np.nan, right)
    return np.asarray(oof.data, dtype=np.float64).reshape(*oof.data.shape[:2], -1)
