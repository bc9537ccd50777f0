"""What came true beside what was estimated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import formatting
from ..data.notes import Note
from ..docstrings import document_result
from ..formatting import count, number
from ._base import Facts, FrameResult, Interval, Table, TableResult, fact_lines

# Columns that drifted, as many as are printed.
_SHOWN = 5


class Shift(NamedTuple):
    """One test of whether new samples differ from the training samples.

    Attributes
    ----------
    name : str
        The feature, or the target.
    what : str
        The event whose share changed most, such as ``"at most 55"``, ``"is B"`` or ``"missing"``.
    then, now : float
        Its share of the training samples and of the new ones.
    pvalue, adjusted : float
        The p value, and the same after Holm's adjustment for the number of tests.
    test : str
        ``"Kolmogorov-Smirnov"`` or ``"chi-square"``.

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = {"tree": DecisionTreeClassifier(max_depth=2)}
    >>> oof = of.collect(tree, X[::2], y[::2], of.Plan(folds=5), metric="accuracy", progress=False)
    >>> found = of.confront(oof, of.refit(oof, tree, X[::2], y[::2]), X[1::2], y[1::2])
    >>> shift = found.target_shift
    >>> shift.name, round(shift.pvalue, 2)
    ('the target', 1.0)
    """

    name: str
    what: str
    then: float
    now: float
    pvalue: float
    adjusted: float
    test: str

    def __str__(self) -> str:
        return f"{self.name} {self.what}: {_share(self.now)}, was {_share(self.then)} (p = {formatting.pvalue(self.adjusted)})"


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Confrontation(TableResult, FrameResult):
    """The estimate beside the score on new samples, and whether chance can explain the difference.

    Attributes
    ----------
    selected : str
        The configuration.
    {metric}
    estimate, observed : float
        The estimate that was made before, and the score on the new samples.
    estimate_interval, observed_interval : Interval or None
        Their confidence intervals.
    interval : Interval or None
        Confidence interval of the difference, observed minus estimate, from both intervals by square-and-add.
    pvalue : float or None
        P value of the test that both are of one true score; None if one of them has no interval.
    confidence_level : float
        Level of the intervals. The test decides at alpha = 1 - confidence_level.
    method : str
        The method of the estimate.
    n_samples, n_new : int
        Number of samples that the estimate was made on, and of new ones.
    part : str
        ``"new samples"``, or ``"test samples"`` for the part that the plan kept apart.
    target_shift : Shift or None
        Whether labels are distributed as in training; None if that was not tested.
    shifts : tuple of Shift
        The same for features, the smallest p value first. Holm's adjustment is over all of them.
    n_outside : int or None
        Number of new samples outside the training range; None if the range is not known.
    n_merged : int
        Number of new labels of rare classes, which count as the class that these were merged into for training.
    when, data, labels : str
        Date and time, and hashes of the new features and labels.
    {notes}

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = {"tree": DecisionTreeClassifier(max_depth=2)}
    >>> oof = of.collect(tree, X[::2], y[::2], of.Plan(folds=5), metric="accuracy", progress=False)
    >>> found = of.confront(oof, of.refit(oof, tree, X[::2], y[::2]), X[1::2], y[1::2])
    >>> round(found.estimate, 2), round(found.observed, 2), found.compatible
    (0.95, 0.95, True)
    """

    selected: str
    metric: str
    greater_is_better: bool
    estimate: float
    estimate_interval: Interval | None
    observed: float
    observed_interval: Interval | None
    interval: Interval | None
    pvalue: float | None
    confidence_level: float
    method: str
    n_samples: int
    n_new: int
    part: str = "new samples"
    target_shift: Shift | None = None
    shifts: tuple[Shift, ...] = ()
    n_outside: int | None = None
    n_merged: int = 0
    when: str = ""
    data: str = ""
    labels: str = ""
    notes: tuple[Note, ...] = ()

    in_dict = (
        "selected metric greater_is_better estimate estimate_interval observed observed_interval difference interval pvalue "
        "compatible confidence_level method n_samples n_new part target_shift shifts n_outside n_merged when data labels notes"
    )

    @property
    def difference(self) -> float:
        """Observed minus estimate."""
        return self.observed - self.estimate

    @property
    def compatible(self) -> bool | None:
        """Whether chance can explain the difference; None if that cannot be told."""
        return None if self.pvalue is None else self.pvalue > round(1 - self.confidence_level, 12)

    @property
    def drifted(self) -> tuple[Shift, ...]:
        """The features that differ from the training samples after Holm's adjustment."""
        return tuple(shift for shift in self.shifts if shift.adjusted <= round(1 - self.confidence_level, 12))

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        if self.compatible is None:
            return "whether they are compatible cannot be told: one of them has no interval"
        p = f"p = {formatting.pvalue(self.pvalue or 0.0)}"
        if self.compatible:
            return f"compatible ({p}): chance can explain the difference"
        worse = (self.difference < 0) == self.greater_is_better
        return f"not compatible ({p}): the {self.part} scored {'worse' if worse else 'better'} than chance explains"

    def __repr__(self) -> str:
        values = f"{number(self.observed)} on {self.n_new:,} {self.part}, estimate {number(self.estimate)}"
        state = {True: "compatible", False: "not compatible", None: "not tested"}[self.compatible]
        return f"<Confrontation {self.metric} {values}: {state}>"

    def _title(self) -> str:
        return f"{formatting.called(self.metric)} of {self.selected}"

    left = (0, 2)

    def _table(self, shown: int | None = None) -> Table:
        head = ["", self.metric, f"{100 * self.confidence_level:g}% CI", "samples"]
        rows = [
            ["estimate", number(self.estimate), _ends(self.estimate_interval), f"{self.n_samples:,}"],
            [self.part, number(self.observed), _ends(self.observed_interval), f"{self.n_new:,}"],
            ["difference", number(self.difference, sign=True), _ends(self.interval, sign=True), ""],
        ]
        return head, rows

    def _lines(self) -> Iterable[str]:
        return fact_lines(self._facts())

    def _facts(self) -> Facts:
        yield "verdict", self.verdict
        if self.target_shift is not None:
            changed = self.target_shift.adjusted <= round(1 - self.confidence_level, 12)
            yield "target", f"{'changed: ' if changed else 'no change seen: '}{self.target_shift}"
        if self.shifts:
            tested = len({shift.name for shift in self.shifts})
            found = self.drifted
            if not found:
                yield "features", f"no change seen in {count(tested, 'feature')}"
            for i, shift in enumerate(found[:_SHOWN]):
                yield "features" if i == 0 else "", f"changed: {shift}"
            if len(found) > _SHOWN:
                yield "", f"and {len(found) - _SHOWN} more"
        if self.n_outside:
            yield "outside", f"{self.n_outside:,} of {self.n_new:,} {self.part} lie outside the training range"
        if self.n_merged:
            of = f"{self.n_merged:,} of {count(self.n_new, 'label')}"
            yield (
                "merged",
                f"{of} {'is' if self.n_merged == 1 else 'are'} of rare classes, which were merged for training",
            )
        yield from ((note.code, note.text) for note in self.notes)

    def _columns(self) -> dict[str, Any]:
        flat = ("selected", "metric", "estimate", "observed", "difference", "pvalue", "compatible", "confidence_level")
        row = {name: getattr(self, name) for name in (*flat, "method", "n_samples", "n_new", "part", "when")}
        ends = {"": self.interval, "estimate_": self.estimate_interval, "observed_": self.observed_interval}
        for name, interval in ends.items():
            row[f"{name}low"], row[f"{name}high"] = interval or (np.nan, np.nan)
        row["drifted"] = ", ".join(dict.fromkeys(shift.name for shift in self.drifted))
        return {name: [value] for name, value in row.items()}


def _share(share: float) -> str:
    return f"{100 * share:.3g}%"


def _ends(interval: Interval | None, sign: bool = False) -> str:
    return "none" if interval is None else f"[{number(interval.low, sign)}, {number(interval.high, sign)}]"
