"""How many samples an answer needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formatting import count, number
from ._base import Facts, FrameResult, Interval


@dataclass(frozen=True, kw_only=True, repr=False)
class SamplesNeeded(FrameResult):
    """How many samples would settle a question, and what that answer takes for granted.

    Attributes
    ----------
    question : str
        What is asked, in words.
    n : int or None
        Samples needed in all; None if no number is enough.
    n_now : int
        Samples at hand.
    n_interval : Interval or None
        Interval of `n`, if there is one; an end is infinite where no number is enough.
    unit : {"sample", "group"}
        What is counted: groups, if samples come in groups.
    metric : str
        Name of the metric.
    a, b : str or None
        The two configurations, if they are compared.
    difference : float or None
        The true difference that is assumed, metric of `a` minus metric of `b`.
    margin : float or None
        The margin within which `a` is to be shown not inferior or equivalent to `b`; None if a difference is to be shown.
    power, power_now, power_then : float or None
        The power wanted; the simulated power with the samples at hand, and with `n` (None if that was not simulated).
    half_width, half_width_now : float or None
        Half the width of the interval that is wanted, and that of the samples at hand.
    confidence_level : float
        Level of the interval or of the test.
    assumes : tuple of str
        What the answer takes for granted. Read it: the answer looks beyond the samples at hand.

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 0]] * 15 + [[0, 1]] * 5 + [[1, 1]] * 60
    >>> oof = of.from_arrays(None, right, configs=["new", "old"], response="pointwise")
    >>> found = of.compare.samples_needed(oof, "mean", "new", "old", test="mcnemar", n_simulations=50)
    >>> found.n_now, found.n > found.n_now
    (80, True)
    >>> print(found.assumes[0])
    the true difference is +0.1250, the observed one
    """

    question: str
    n: int | None
    n_now: int
    unit: str = "sample"
    metric: str = ""
    a: str | None = None
    b: str | None = None
    difference: float | None = None
    margin: float | None = None
    power: float | None = None
    power_now: float | None = None
    power_then: float | None = None
    half_width: float | None = None
    half_width_now: float | None = None
    confidence_level: float = 0.95
    assumes: tuple[str, ...] = ()
    n_interval: Interval | None = None

    in_dict = (
        "question n n_interval n_now more unit metric a b difference margin power power_now power_then half_width half_width_now "
        "confidence_level assumes"
    )

    @property
    def more(self) -> int | None:
        """Samples that are lacking; None if no number is enough."""
        return None if self.n is None else max(0, self.n - self.n_now)

    def __repr__(self) -> str:
        return f"<SamplesNeeded {'no number is enough' if self.n is None else f'{self.n:,}, have {self.n_now:,}'}>"

    def _title(self) -> str:
        if self.n is None:
            return f"{self.question}: no number of {self.unit}s is enough{self._ends()}"
        if not self.more:
            return f"{self.question}: the {count(self.n_now, self.unit)} at hand are enough{self._ends()}"
        more = _rounded(self.more)
        about = f"about {self.n_now + more:,} {self.unit}s in all, {more:,} more"
        return f"{self.question}: {about}{self._ends()}"

    def _ends(self) -> str:
        """The interval of what is lacking, in words: `` (95% CI 300 to 700 more)``."""
        if self.n_interval is None:
            return ""
        low, high = (
            "no number" if np.isinf(end) else f"{_rounded(max(0, int(end) - self.n_now)):,} more"
            for end in self.n_interval
        )
        first = low if high == "no number" else low.removesuffix(" more")
        span = low if low == high == "no number" else f"{first} to {high}"
        return f" ({100 * self.confidence_level:g}% CI {span})"

    def _facts(self) -> Facts:
        yield "now", f"{count(self.n_now, self.unit)}{self._now()}"
        if self.power_then is not None:
            yield "then", f"power {self.power_then:.2f}, simulated with {self.n:,} {self.unit}s"
        yield from (("assumes", text) for text in self.assumes)

    def _now(self) -> str:
        if self.half_width_now is not None:
            return f", half width {number(self.half_width_now)}"
        return "" if self.power_now is None else f", power {self.power_now:.2f}"

    def _columns(self) -> dict[str, Any]:
        names = [name for name in self.in_dict.split() if name not in ("assumes", "n_interval")]
        return {name: [getattr(self, name)] for name in names}


def _rounded(n: int) -> int:
    """Two digits say all that such a number knows."""
    digits = len(str(n)) - 2
    return n if digits <= 0 else -(-n // 10**digits) * 10**digits
