"""How good the selected configuration is at a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..arguments import check_confidence_level
from ..data.notes import Note
from ..docstrings import document_result
from ..exceptions import NeedError, got, invalid
from ..formatting import count
from ._base import Facts, FrameResult, Interval, Table, TableResult


class _AtLevel(Protocol):
    def interval(self, level: float) -> Interval: ...


class Share(NamedTuple):
    """A share of right answers: how often a class is recognised, or how often a prediction is right.

    Attributes
    ----------
    name : str
        ``sensitivity``, ``specificity``, ``ppv`` or ``npv``.
    value : float
        The corrected estimate; NaN where no sample was predicted so.
    interval : Interval or None
        Its confidence interval; None where there is none.
    naive : float
        The winner's share on all out-of-fold predictions, which also chose configuration and threshold.
    n : float
        Number of samples that it is a share of, on all out-of-fold predictions.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(120) < 0.3
    >>> chance = 1 / (1 + np.exp(-rng.normal(2.0 * ill[:, None] - 1.5, 1.0, (120, 20))))  # 20 configurations
    >>> oof = of.from_arrays(ill, chance, folds=np.arange(120) % 5, response="proba")
    >>> share = of.estimate.at_threshold(oof, "roc_auc", threshold="youden", n_resamples=200)["sensitivity"]
    >>> share.name, round(share.value, 2), round(share.naive, 2)
    ('sensitivity', 0.89, 0.97)
    """

    name: str
    value: float
    interval: Interval | None
    naive: float
    n: float


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class AtThreshold(TableResult, FrameResult):
    """Sensitivity, specificity and predictive values of the selected configuration at a threshold, on new samples.

    Attributes
    ----------
    threshold : float
        The threshold to use: a sample is predicted positive if its probability or score is above it. It is chosen on all
        out-of-fold predictions of the selected configuration.
    choice, meaning : str
        How the threshold is chosen: as you named it, such as ``"youden"``, and in words.
    shares : tuple of Share
        Sensitivity, specificity, positive and negative predictive value, in this order.
    prevalence : float
        Share of the positive class among the samples. The predictive values hold for this prevalence only.
    positive, negative : str
        The two classes.
    {confidence_level}
    selected : str
        The configuration that was selected.
    metric, rule : str
        The metric that selected it, and how, in words.
    n_samples, n_positive, n_configs : int
        Number of samples that were held out, of those that are positive, and of configurations that could be selected.
    plan, fingerprint : str
        How samples were held out, and a hash of labels and splits.
    {described}
    n_groups : int or None
        Number of groups; None where samples are in none.
    {notes}
    thresholds : ndarray
        The threshold of each draw: how far they are apart says how well the threshold is known.
    chosen : ndarray
        The configuration that each draw selected.
    {details}
    spreads : dict
        What makes the interval of each share at another level.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(120) < 0.3
    >>> chance = 1 / (1 + np.exp(-rng.normal(2.0 * ill[:, None] - 1.5, 1.0, (120, 20))))  # 20 configurations
    >>> oof = of.from_arrays(ill, chance, folds=np.arange(120) % 5, response="proba")
    >>> found = of.estimate.at_threshold(oof, "roc_auc", threshold="sensitivity=0.9", n_resamples=200)
    >>> round(found.threshold, 2), round(found["specificity"].value, 2)
    (0.44, 0.91)
    """

    threshold: float
    choice: str
    meaning: str
    shares: tuple[Share, ...]
    prevalence: float
    positive: str
    negative: str
    confidence_level: float
    selected: str
    metric: str
    rule: str
    n_samples: int
    n_positive: int
    n_configs: int
    plan: str
    fingerprint: str
    description: str
    reference: str
    thresholds: NDArray[np.float64]
    chosen: NDArray[Any]
    n_groups: int | None = None
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    spreads: Mapping[str, _AtLevel | None] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Share:
        """The share of this name."""
        for share in self.shares:
            if share.name == name:
                return share
        raise invalid("the share", f"must be one of {', '.join(s.name for s in self.shares)}", got(name))

    def confidence_interval(self, name: str, confidence_level: float | None = None) -> Interval:
        """The interval of one share at another level; nothing is drawn again.

        Parameters
        ----------
        name : str
            ``sensitivity``, ``specificity``, ``ppv`` or ``npv``.
        confidence_level : float or None
            Level of the interval; that of `shares` where None.

        Returns
        -------
        Interval
            The two ends.
        """
        level = self.confidence_level if confidence_level is None else check_confidence_level(confidence_level)
        spread = self.spreads.get(self[name].name)
        if spread is None:
            raise NeedError(f"there is no interval of {name} here.")
        return spread.interval(level)

    def __repr__(self) -> str:
        return f"<AtThreshold {self.choice} {self.threshold:.4g}: {', '.join(self._words())}>"

    def _words(self) -> list[str]:
        return [f"{CALLED[share.name]} {digits_by(share)(share.value)}" for share in self.shares]

    def _title(self) -> str:
        return f"{self.selected} at threshold {formatting.cutoff(self.threshold)} ({self.meaning})"

    def _table(self, shown: int | None = None) -> Table:
        level = f"{100 * self.confidence_level:g}% CI"
        rows = []
        for share in self.shares:
            say = digits_by(share)
            ends = "-" if share.interval is None else f"[{say(share.interval.low)}, {say(share.interval.high)}]"
            rows.append([CALLED[share.name], say(share.value), ends, say(share.naive)])
        return ["", "corrected", level, "winner's"], rows

    def _facts(self) -> Facts:
        of = f"{self.n_positive:,} of {count(self.n_samples, 'sample')}"
        yield "prevalence", f"{self.prevalence:.3g}, {of} are {self.positive}; PPV and NPV hold for it only"
        low, high = np.quantile(self.thresholds, [0.05, 0.95])
        if low < high:
            yield "threshold", f"draws choose {formatting.cutoff(low)} to {formatting.cutoff(high)} (the middle 90%)"
        if self.n_configs > 1:
            yield "selected", f"{self.selected}, {self.rule}"
        yield "method", f"{self.description} [{self.reference}]"
        groups = "" if self.n_groups is None else f" in {count(self.n_groups, 'group')}"
        yield "data", f"{count(self.n_samples, 'sample')}{groups}, {self.plan}, positive class {self.positive}"
        yield from ((note.code, note.text) for note in self.notes)

    in_dict = (
        "threshold choice meaning prevalence positive negative confidence_level selected metric rule n_samples n_positive "
        "n_configs n_groups plan fingerprint description reference notes details"
    )

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; what is undefined is None."""
        shares = {share.name: formatting.json_ready(share._asdict()) for share in self.shares}
        return super().to_dict() | {"shares": shares}

    def _columns(self) -> dict[str, Any]:
        ends = [share.interval or (np.nan, np.nan) for share in self.shares]
        return {
            "share": [share.name for share in self.shares],
            "value": [share.value for share in self.shares],
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
            "naive": [share.naive for share in self.shares],
            "n": [share.n for share in self.shares],
            "threshold": [self.threshold] * len(self.shares),
            "selected": [self.selected] * len(self.shares),
        }


# What the shares are called in tables and sentences.
CALLED = {"sensitivity": "sensitivity", "specificity": "specificity", "ppv": "PPV", "npv": "NPV"}


def digits_by(share: Share) -> formatting.Digits:
    """As many digits as the interval of the share leaves meaningful."""
    width = np.nan if share.interval is None else share.interval.high - share.interval.low
    return formatting.Digits.of_width(width)


class Calibration(NamedTuple):
    """Do the probabilities of the selected configuration mean what they say?

    Attributes
    ----------
    slope : float
        1 is right; below 1 the probabilities are too extreme, above 1 too timid.
    slope_interval : Interval
        Its confidence interval.
    intercept : float
        0 is right; above 0 the probabilities are too low on the whole, below 0 too high.
    intercept_interval : Interval
        Its confidence interval.
    confidence_level : float
        Level of the intervals.

    Examples
    --------
    >>> from outfold.results import Calibration, Interval
    >>> found = Calibration(0.8, Interval(0.5, 1.1), 0.1, Interval(-0.3, 0.5), 0.95)
    >>> found.slope_interval.high > 1  # a slope of 1, which is perfect, cannot be excluded
    True
    """

    slope: float
    slope_interval: Interval
    intercept: float
    intercept_interval: Interval
    confidence_level: float

    def __str__(self) -> str:
        parts = []
        for name, value, (low, high), right in (
            ("slope", self.slope, self.slope_interval, "1"),
            ("intercept", self.intercept, self.intercept_interval, "0"),
        ):
            say = formatting.Digits.of_width(high - low)
            ends = f"{100 * self.confidence_level:g}% CI {say(low)} to {say(high)}"
            parts.append(f"{name} {say(value)} ({ends}; {right} is right)")
        return ", ".join(parts)
