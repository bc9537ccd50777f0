"""How good the selected configuration is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..arguments import check_confidence_level
from ..data.criterion import AGGREGATES
from ..data.notes import Note
from ..docstrings import document_result
from ..exceptions import NeedError, got, invalid
from ..formatting import count, number
from ..stats import intervals as kernels
from ._base import Facts, FrameResult, Interval, fact_lines

if TYPE_CHECKING:
    from ._sample_size import SamplesNeeded


class Intervals(Protocol):
    """Makes intervals of an estimate that do not come from its draws."""

    def interval(self, method: str, level: float) -> Interval:
        """The interval by this method, or by the first valid one for ``auto``; an error where none is valid."""
        ...


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class Estimate(FrameResult):
    """The performance of the selected configuration on new samples.

    Attributes
    ----------
    value, naive : float
        The estimate, and the winner's cross-validation score, before correction.
    interval : Interval or None
        Confidence interval of the estimate; None where the method gives none.
    centre : float or None
        The score that the interval lies around, where that is not `value`: an interval of Bates et al. is about models trained on
        all samples, and `value` is the score of models trained without a fold.
    {confidence_level}
    selected, method : str
        The configuration that was selected, and the short name of the method, such as ``"bbc"``.
    {metric}
    n_samples, n_configs : int
        Number of samples that were held out, and of configurations that could be selected.
    plan, fingerprint : str
        How samples were held out, and a hash of labels and splits.
    rule : str
        How the configuration was selected, in words: by which rule and score, of how many configurations.
    {described}
    aggregate : {"pooled", "within", "fold"}
        How the winner's score is made: over all out-of-fold predictions of a repeat, over pairs of one fold, or as the mean over
        folds.
    positive : str or None
        The positive class; None unless there are two classes.
    n_groups : int or None
        Number of groups; None where samples are in none.
    {notes}
    draws : ndarray or None
        What the interval is made of, so that another level costs nothing; None where there is none.
    chosen : ndarray or None
        The configuration selected in each draw, or in each outer fold; None where there is one choice only.
    {details}
    interval_method : str or None
        How the interval was made, a name for `confidence_interval`; None where there is no interval.
    intervals : Intervals or None
        Makes the intervals that do not come from the draws; None where there are none.
    named : bool
        Whether the configuration was named beforehand, not selected.
    own : str
        What the winner's score is called where it is no cross-validation score.

    Examples
    --------
    >>> import outfold as of
    >>> oof = of.simulate.correctness(80, 150, accuracy=0.7).oof  # 150 equally good prompts on 80 questions
    >>> found = of.estimate.bbc(oof, "mean")
    >>> round(found.value, 2), round(found.naive, 2), round(found.optimism, 2)
    (0.72, 0.84, 0.12)
    >>> low, high = found.confidence_interval(0.9)
    >>> print(f"{low:.2f} to {high:.2f}")
    0.63 to 0.83
    """

    value: float
    interval: Interval | None
    confidence_level: float
    naive: float
    selected: str
    method: str
    metric: str
    greater_is_better: bool
    n_samples: int
    n_configs: int
    plan: str
    rule: str
    fingerprint: str
    description: str
    reference: str
    aggregate: str = "pooled"
    positive: str | None = None
    n_groups: int | None = None
    notes: tuple[Note, ...] = ()
    draws: NDArray[np.float64] | None = None
    chosen: NDArray[Any] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    interval_method: str | None = None
    intervals: Intervals | None = None
    named: bool = False
    own: str = ""
    centre: float | None = None

    @property
    def optimism(self) -> float:
        """How much better the winner's score looks than the corrected estimate; positive means too good."""
        return (self.naive - self.value) if self.greater_is_better else (self.value - self.naive)

    def confidence_interval(self, confidence_level: float | None = None, method: str = "auto") -> Interval:
        """The interval at another level, or by another method that is valid for this plan and metric; nothing is fitted.

        Parameters
        ----------
        confidence_level : float or None
            Level of the interval; that of `interval` where None.
        method : str
            ``"auto"``, the method of `interval`; a name of `outfold.intervals` for a configuration named beforehand;
            ``"mover"``, ``"percentile"``, ``"order"`` (as printed in the paper) or ``"bbc_f"`` for the selected
            configuration.

        Returns
        -------
        Interval
            The two ends.
        """
        level = self.confidence_level if confidence_level is None else check_confidence_level(confidence_level)
        if method == "auto" and self.interval is None and self.intervals is not None:
            raise NeedError(
                next((note.text for note in self.notes if note.code == "OF218"), "there is no valid interval")
            )
        found = self._interval(level, method)
        if found.low == found.high:
            raise NeedError(f"there is no valid interval at the level {level:g}: nothing varies.")
        return found

    def _interval(self, level: float, method: str) -> Interval:
        if method == "auto" and self.interval_method is not None:
            method = self.interval_method
        if self.draws is not None and method == "percentile":
            return Interval(*kernels.percentile(self.draws, level))
        if self.draws is not None and method == "t" and self.named and self.intervals is None:
            return Interval(*kernels.student(self.draws, level))
        if self.draws is not None and method == "order":
            return Interval(*kernels.order_statistics(self.draws, level, self.greater_is_better))
        if self.intervals is not None:
            return self.intervals.interval(method, level)
        if self.draws is None:
            raise NeedError(argument=self.method, needed="gives no interval", given="use `bbc`")
        ways = "'t', 'percentile' or 'order'" if self.named else "'percentile' or 'order'"
        raise invalid(f"the interval of {self.method}", f"is by {ways}", got(method))

    def samples_needed(self, half_width: float) -> SamplesNeeded:
        """How many samples would bring the interval to this half width.

        Parameters
        ----------
        half_width : float
            Half the width of the interval that you want, in units of the metric.

        Returns
        -------
        SamplesNeeded
            The number. It is extrapolated: the width is taken to shrink with the square root of the number of samples.
        """
        from ._sample_size import SamplesNeeded

        if not (isinstance(half_width, (int, float, np.number)) and 0 < half_width < np.inf):
            raise invalid("half_width", "must be a number above 0", got(half_width))
        low, high = self.confidence_interval()
        now, n_now = (high - low) / 2, self.n_samples if self.n_groups is None else self.n_groups
        return SamplesNeeded(
            question=f"{self.metric} to ± {half_width:g}",
            n=max(n_now, int(np.ceil(n_now * (now / half_width) ** 2))),
            n_now=n_now,
            unit="sample" if self.n_groups is None else "group",
            metric=self.metric,
            half_width=float(half_width),
            half_width_now=now,
            confidence_level=self.confidence_level,
            assumes=(
                "extrapolated: the width shrinks with the square root of the number of samples",
                "new samples are like those at hand, and training on more samples does not change the score",
            ),
        )

    def __repr__(self) -> str:
        return f"<Estimate {self.method} {self.metric} {self._value(' ')}>"

    def _value(self, space: str) -> str:
        ci = "" if self.interval is None else space + formatting.interval(*self.interval, self.confidence_level)
        return number(self.value) + ci

    @property
    def title(self) -> str:
        """What is estimated, in words."""
        if self.named:
            return f"{self.metric} of {self.selected}"
        subject = {"cv": self.selected, "nested": "the whole search"}.get(self.method, "the selected configuration")
        return f"{self.metric} of {subject}"

    def __str__(self) -> str:
        own = f"  {self.own_name}"
        width = max(len(self.title), len(own) if self.corrects else 0)
        lines = [f"{self.title:<{width}}   {self._value('   ')}"]
        if self.corrects:
            optimism = number(self.optimism, sign=True)
            lines.append(f"{own:<{width}}   {number(self.naive)}   optimism {optimism}")
        return "\n".join([*lines, *fact_lines(self._facts())])

    def _repr_html_(self) -> str:
        rows = list(self._facts())
        if self.corrects:
            optimism = number(self.optimism, sign=True)
            rows = [(self.own_name, number(self.naive)), ("optimism", optimism), *rows]
        return formatting.facts_html(f"{self.title}: {self._value('   ')}", rows)

    @property
    def corrects(self) -> bool:
        """Whether the winner's score and the estimate are different numbers."""
        return not self.named and self.method not in ("cv", "cvt", "resubstitution")

    @property
    def own_name(self) -> str:
        """What the winner's score is called."""
        if self.own:
            return f"winner's {self.own}"
        if self.plan.endswith("one test set"):  # nothing was cross-validated
            return "winner's score"
        # The mean over folds is what a grid search reports; pooled is one value on all predictions of a repeat.
        return f"winner's cross-validation score, {AGGREGATES[self.aggregate]}"

    @property
    def scored_as(self) -> str:
        """How the winner's score is made, in words, where it was selected by a score that is made otherwise; else empty."""
        return self.own.partition(", ")[2]

    def _facts(self) -> Facts:
        if self.method != "cv" and not self.named:
            yield "selected", f"{self.selected}, {self.rule}"
        yield "method", self.description + (f" [{self.reference}]" if self.reference else "")
        if self.centre is not None:
            yield (
                "centre",
                f"{number(self.centre)}, extrapolated to models trained on all samples; the interval lies around it",
            )
        positive = "" if self.positive is None else f", positive class {self.positive}"
        groups = "" if self.n_groups is None else f" in {count(self.n_groups, 'group')}"
        yield "data", f"{count(self.n_samples, 'sample')}{groups}, {self.plan}{positive}"
        yield from ((note.code, note.text) for note in self.notes)

    in_dict = (
        "metric value interval centre confidence_level interval_method naive optimism selected method rule n_samples n_configs "
        "n_groups positive aggregate plan fingerprint description reference notes details"
    )

    def _columns(self) -> dict[str, Any]:
        low, high = self.interval or (np.nan, np.nan)
        names = [name for name in self.in_dict.split() if name not in ("interval", "notes", "details")]
        row = {name: getattr(self, name) for name in names}
        row |= {"low": low, "high": high, "notes": " ".join(n.code for n in self.notes)}
        return {name: [value] for name, value in row.items()}
