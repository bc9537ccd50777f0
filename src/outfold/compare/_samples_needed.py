"""How many samples would settle which of two configurations is better."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import RngLike, check_confidence_level
from ..data.predictions import Predictions
from ..exceptions import got, invalid
from ..formatting import number
from ..metrics import MetricLike
from ..progress import Mode
from ..results import Comparison, SamplesNeeded
from ..stats.pvalues import normal_quantile
from ._auto import auto
from ._pair_test import TestLike, public
from ._power import power as power_of

# More samples than this are not simulated: how the power grows is then extrapolated.
_MOST_SIMULATED = 100_000
# No number of samples above this many times those at hand is called an answer.
_MOST_TIMES = 1000
_STEPS = 6
# A power that is nearer to the one wanted is taken for it.
_NEAR = 0.04
# A step asks for at most this many times the samples of the one before: the power of few is known too roughly.
_LEAP = 16.0


@public
def samples_needed(
    source: Predictions,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    difference: float | None = None,
    power: float = 0.8,
    test: TestLike = "auto",
    confidence_level: float = 0.95,
    n_simulations: int = 200,
    rng: RngLike = 0,
    progress: Mode = True,
    **options: Any,
) -> SamplesNeeded:
    """How many samples a test needs to find the difference between `a` and `b` with this power.

    It simulates as `power` does, with more and more samples, until the power is near the one wanted. The samples are drawn from
    those at hand and no model is fitted, so that what more training samples would improve does not count.

    Parameters: {simulated, metric, pair}
    difference : float or None
        The true difference, metric of `a` minus metric of `b`. None takes the observed one. If you chose the two for their
        scores, the true one is likely smaller.
    power : float
        The power wanted.
    {test, test_level, n_simulations, rng, simulating, options}

    Returns
    -------
    SamplesNeeded
        The number, and what it takes for granted.

    Examples: {outfold, disagreeing}
    >>> of.compare.samples_needed(oof, "mean", "new", "old", test="mcnemar", n_simulations=200).n > 80
    True
    """
    level = check_confidence_level(confidence_level)
    if not (isinstance(power, (int, float, np.number)) and 1 - level < power < 1):
        raise invalid("power", "must lie between alpha and 1, such as 0.8", got(power))
    seen = auto(source, metric, a, b, confidence_level=level)
    assert isinstance(seen, Comparison)
    wanted = seen.difference if difference is None else float(difference)
    facts: dict[str, Any] = {"metric": seen.metric, "a": seen.a, "b": seen.b, "difference": wanted, "power": power}
    facts |= {"confidence_level": level, "question": f"{seen.a} against {seen.b} by {seen.metric}"}
    n_now = int((source.folds >= 0).any(axis=1).sum())
    if abs(wanted) < 1e-12:
        reason = "the two score the same; equal models differ by chance only"
        return SamplesNeeded(n=None, n_now=n_now, assumes=(reason,), **facts)

    def at(n: int) -> float:
        settings: dict[str, Any] = {"test": test, "confidence_level": level, "n_simulations": n_simulations, "rng": rng}
        found = power_of(source, metric, a, b, wanted, n=n, progress=progress, **settings, **options)
        return float(found.power)

    n, reached, first = _search(at, n_now, float(power), level, n_simulations)
    observed = difference is None
    return SamplesNeeded(
        n=n, n_now=n_now, power_now=first, power_then=reached, assumes=_assumes(wanted, observed, reached, n), **facts
    )


def _search(
    at: Any, n_now: int, power: float, level: float, n_simulations: int
) -> tuple[int | None, float | None, float]:
    """The number of samples, its simulated power (None if it is extrapolated), and the power of those at hand."""
    first = found = at(n_now)
    n, near = n_now, min(_NEAR, 2 * float(np.sqrt(power * (1 - power) / n_simulations)))
    if found >= power:
        return n, found, first
    for _ in range(_STEPS):
        n = int(np.ceil(n * _factor(found, power, level)))
        if n > _MOST_TIMES * n_now:
            return None, None, first
        if n > _MOST_SIMULATED:
            return n, None, first
        found = at(n)
        if abs(found - power) <= near:
            break
    return n, found, first


def _factor(found: float, power: float, level: float) -> float:
    """By how much to multiply the samples: the power of a z test grows with the square root of their number."""
    critical = normal_quantile((1 + level) / 2)
    shown = critical + normal_quantile(min(max(found, 1e-3), 1 - 1e-3))
    needed = critical + normal_quantile(power)
    return float(np.clip((needed / max(shown, 1e-3)) ** 2, 1 / _LEAP, _LEAP))


def _assumes(difference: float, observed: bool, reached: float | None, n: int | None) -> tuple[str, ...]:
    out = [f"the true difference is {number(difference, sign=True)}" + (", the observed one" if observed else "")]
    if n is None:
        out.append(f"more than {_MOST_TIMES:,} times the samples at hand would be needed")
    elif reached is None:
        out.append("the number is extrapolated: the power of so many samples was not simulated")
    out.append("new samples are like those at hand, and training on more samples changes neither model")
    return tuple(out)
