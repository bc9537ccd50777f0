"""What to do before data are seen (advice, expected optimism, simulations), and what a check finds afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, overload

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.plan import Plan
from ..data.predictions import Predictions
from ..formatting import count, number
from ._base import Facts, FrameResult, Result

if TYPE_CHECKING:
    from ..drop import DropRule

Goal = Literal["estimate", "select", "compare"]
AdviceTask = Literal["binary", "multiclass", "regression", "survival"]
Severity = Literal["error", "caution", "tip"]
SEVERITIES: tuple[str, ...] = get_args(Severity)


def _setting(n_configs: int, n_samples: int, joint: str = ", ") -> str:
    return count(n_configs, "configuration") + joint + count(n_samples, "sample")


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Predictions of simulated configurations, and how good these really are.

    Attributes
    ----------
    oof : Predictions
        Per-sample scores: 1 where a configuration is right, else 0.
    truth : ndarray of shape (C,)
        The true accuracies.

    Examples
    --------
    >>> import outfold as of
    >>> made = of.simulate.correctness(40, 3, accuracy=[0.5, 0.7, 0.9])
    >>> made.truth.tolist(), made.oof.configs
    ([0.5, 0.7, 0.9], ('config 0', 'config 1', 'config 2'))
    """

    oof: Predictions
    truth: NDArray[np.float64]

    def __repr__(self) -> str:
        shape = _setting(self.oof.n_configs, self.oof.n_samples, " on ")
        return f"<Simulation of {shape}, true accuracies {self.truth.min():.3g} to {self.truth.max():.3g}>"


@dataclass(frozen=True)
class Optimism(Result):
    """By how much the winner's accuracy is expected to be too high.

    Attributes
    ----------
    value : float
        The winner's cross-validation accuracy minus its true one, on average; also ``float(result)``.
    se : float
        Standard error of `value`; 0 where it was computed and not simulated.
    naive, truth : float
        The winner's cross-validation accuracy and its true accuracy, on average.
    n_samples, n_configs : int
        Number of samples, and of configurations.
    method : {"exact", "simulation"}
        How `value` was found.

    Examples
    --------
    >>> import outfold as of
    >>> found = of.simulate.optimism(40, 100, accuracy=0.85)
    >>> round(found.naive, 3), round(found.truth, 3), round(float(found), 3)
    (0.971, 0.85, 0.121)
    """

    value: float
    se: float
    naive: float
    truth: float
    n_samples: int
    n_configs: int
    method: Literal["exact", "simulation"]

    in_dict = "value se naive truth n_samples n_configs method"

    def __float__(self) -> float:
        return self.value

    def _title(self) -> str:
        spread = f" ± {self.se:.2g}" if self.method == "simulation" else ""
        return f"expected optimism of the winner   {number(self.value, sign=True)}{spread}"

    def _facts(self) -> Facts:
        yield "measured accuracy", number(self.naive)
        yield "true accuracy", number(self.truth)
        yield "setting", f"{_setting(self.n_configs, self.n_samples)}, {self.method}"


@dataclass(frozen=True)
class Advice(Result):
    """What to do, and why.

    Attributes
    ----------
    goal, task : str
        What was asked for, and what is predicted, as in `advise`.
    n_samples, n_configs : int
        How many samples and configurations there are.
    plan : Plan
        How to hold samples out: ``collect(configs, X, y, advice.plan, drop=advice.drop)``.
    drop : DropRule or None
        Which configurations to drop early.
    method : str or None
        The estimate to report, a name of `outfold.estimate`; None where the goal is to compare.
    test : str or None
        The test of a difference, a name of `outfold.compare`; None where the goal is another.
    reasons : tuple of str
        Sentences, each with its source in brackets; ``[ours]`` marks what no paper says.
    fits : int
        Fits that `collect` does, at most: dropping saves some.
    expected_optimism : Optimism or None
        By how much the winner's cross-validation accuracy would be too high if configurations were independent
        (`simulate.optimism`); None where there is nothing to choose, or no accuracy.
    expected_seconds : float or None
        How long the fits take when all workers are busy all the time; None where the cost of one is not known.

    Examples
    --------
    >>> import outfold as of
    >>> advice = of.advise(80, 150)
    >>> advice.plan, advice.method, advice.fits
    (Plan(4 x 10-fold), 'bbc', 6000)
    """

    goal: Goal
    task: AdviceTask
    n_samples: int
    n_configs: int
    plan: Plan
    drop: DropRule | None
    method: str | None
    test: str | None
    reasons: tuple[str, ...]
    fits: int
    expected_optimism: Optimism | None = None
    expected_seconds: float | None = None

    in_dict = "goal task n_samples n_configs method test fits expected_seconds plan drop expected_optimism reasons"

    def _title(self) -> str:
        setting = f"{count(self.n_samples, 'sample')}, {count(self.n_configs, 'configuration')}"
        return f"To {self.goal} with {setting} ({self.task})"

    def __str__(self) -> str:
        return "\n".join([super().__str__(), "because", *(f"  - {reason}" for reason in self.reasons)])

    def _repr_html_(self) -> str:
        reasons = (("because", reason) for reason in self.reasons)
        return formatting.facts_html(self._title(), [*self._facts(), *reasons])

    def _facts(self) -> Facts:
        yield "plan", str(self.plan)
        if self.drop is not None:
            yield "drop", repr(self.drop)
        if self.method is not None:
            yield "estimate", f"estimate.{self.method}"
        if self.test is not None:
            yield "test", f"compare.{self.test}"
        yield "fits", f"{self.fits:,}" + (" at most" if self.drop is not None else "")
        if self.expected_seconds is not None:
            yield "time", formatting.seconds(self.expected_seconds)
        if self.expected_optimism is not None:
            value = number(self.expected_optimism.value, sign=True)
            yield "optimism", f"{value} in the winner's accuracy, if configurations were independent"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; what is undefined is None."""
        return super().to_dict() | {"drop": None if self.drop is None else repr(self.drop)}


class Finding(NamedTuple):
    """One caveat that applies.

    Attributes
    ----------
    code : str
        Code of the check, such as ``OF501``.
    severity : {"error", "caution", "tip"}
        ``error``: do not report the number as it is. ``caution``: read it with care. ``tip``: good to know.
    text, advice : str
        One sentence with the numbers at hand, and what to do.
    source, page : str
        Where the caveat comes from, and its page, relative to the documentation.

    Examples
    --------
    >>> import outfold as of
    >>> finding = of.check(of.simulate.correctness(80, 150, accuracy=0.7).oof)[0]
    >>> finding.code, finding.severity
    ('OF531', 'caution')
    """

    code: str
    severity: Severity
    text: str
    advice: str
    source: str
    page: str


@dataclass(frozen=True, repr=False)
class Checks(FrameResult, Sequence[Finding]):
    """The caveats that apply to some predictions: a sequence of `Finding`, errors first.

    Attributes
    ----------
    findings : tuple of Finding
        The findings.
    metric, about : str
        The metric that was checked, and the predictions in words.
    ignored : tuple of str
        Codes that were left out on request.

    Examples
    --------
    >>> import outfold as of
    >>> found = of.check(of.simulate.correctness(80, 150, accuracy=0.7).oof)
    >>> found.ok, found.codes
    (True, ('OF531',))
    """

    findings: tuple[Finding, ...]
    metric: str
    about: str
    ignored: tuple[str, ...] = ()

    in_dict = "ok metric about ignored findings"

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What must be solved before the number is reported."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings."""
        return tuple(finding.code for finding in self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Finding, ...]: ...
    def __getitem__(self, index: int | slice) -> Finding | tuple[Finding, ...]:
        return self.findings[index]

    def __repr__(self) -> str:
        return f"<Checks: {self._counts()} by {self.metric}>"

    def __str__(self) -> str:
        lines = [self._title()]
        for finding in self.findings:
            lines += [f"  {finding.severity:<8} {finding.code}  {finding.text}", f"{'':18}-> {finding.advice}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [[f.severity, f.code, f.text, f.advice, f.source] for f in self.findings]
        table = formatting.table_html(["severity", "code", "what", "what to do", "source"], rows)
        return super()._repr_html_() + (table if rows else "")

    def _columns(self) -> dict[str, Any]:
        return {name: [getattr(f, name) for f in self.findings] for name in Finding._fields}

    def _title(self) -> str:
        return f"{self._counts()}: {self.metric} of {self.about}"

    def _counts(self) -> str:
        counts = {s: sum(f.severity == s for f in self.findings) for s in SEVERITIES}
        words = [count(n, s) for s, n in counts.items() if n]
        return ", ".join(words) or "nothing found"
