"""How many samples would settle which of two configurations is better."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from ._pair_test import Hypothesis, TestLike, public
from ._power import Asked
from ._power import power as power_of

# More samples than this are not simulated: how the power grows is then extrapolated.
_MOST_SIMULATED = 5_000
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
    non_inferior: float | None = None,
    equivalent: float | None = None,
    power: float = 0.8,
    test: TestLike = "auto",
    confidence_level: float = 0.95,
    n_simulations: int = 200,
    rng: RngLike = 0,
    progress: Mode = True,
    **options: Any,
) -> SamplesNeeded:
    """How many samples a test needs to find the difference between `a` and `b` with this power, or that they are as good.

    It simulates as `power` does, with more and more samples, until the power is near the one wanted. The samples are drawn from
    those at hand and no model is fitted, so that what more training samples would improve does not count.

    Parameters: {simulated, metric, pair}
    difference : float or None
        The true difference, metric of `a` minus metric of `b`. None takes the observed one, or 0 with a margin. If you chose
        the two for their scores, the true one is likely smaller.
    {margins}
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
    asked = Asked.checked(Hypothesis("two-sided", level), non_inferior, equivalent)
    observed = difference is None and asked.question is None
    wanted = float(seen.difference if observed else difference or 0.0)
    facts: dict[str, Any] = {"metric": seen.metric, "a": seen.a, "b": seen.b, "difference": wanted, "power": power}
    facts |= {"confidence_level": level, "question": _question(seen, asked), "margin": asked.margin}
    n_now = int((source.folds >= 0).any(axis=1).sum())
    hopeless = _hopeless(asked, wanted, seen.greater_is_better)
    if hopeless:
        return SamplesNeeded(n=None, n_now=n_now, assumes=(hopeless,), **facts)

    def at(n: int) -> float:
        settings: dict[str, Any] = {"test": test, "confidence_level": level, "n_simulations": n_simulations, "rng": rng}
        settings |= {"non_inferior": non_inferior, "equivalent": equivalent}
        found = power_of(source, metric, a, b, wanted, n=n, progress=progress, **settings, **options)
        return float(found.power)

    n, reached, first = _search(
        at, n_now, float(power), lambda found, most: _factor(found, float(power), asked, most), n_simulations
    )
    return SamplesNeeded(
        n=n,
        n_now=n_now,
        power_now=first,
        power_then=reached,
        assumes=(*_assumes(wanted, observed, reached, n), *_picked(seen, observed), *_in_groups(source, n, n_now)),
        **facts,
    )


def _picked(seen: Comparison, observed: bool) -> Iterator[str]:
    """That the observed difference is too large if one of the two was picked for its score."""
    if observed and any(note.code == "OF301" for note in seen.notes):
        yield (
            "the observed difference is no luck of picking, although one of the two is the best of all (OF301): "
            "the true difference is likely smaller, and more samples are then needed"
        )


def _in_groups(source: Predictions, n: int | None, n_now: int) -> Iterator[str]:
    """How many groups that many samples are, if samples come in groups."""
    if source.groups is not None and n is not None:
        groups = len(np.unique(source.groups))
        yield f"new samples come in new groups of the size of those at hand: about {round(n / n_now * groups):,} groups in all"


def _question(seen: Comparison, asked: Asked) -> str:
    by = f"{seen.a} against {seen.b} by {seen.metric}"
    return by if asked.question is None else f"{by}, {asked.question} within {asked.margin:g}"


def _hopeless(asked: Asked, difference: float, greater_is_better: bool) -> str:
    """Why no number of samples is enough, if that is so."""
    if asked.question is None:
        same = abs(difference) < 1e-12
        return "the two score the same; equal models differ by chance only" if same else ""
    hypotheses = asked.of(greater_is_better)
    beyond = [h for h in hypotheses if (difference - h.null) * (1 if h.null < 0 else -1) <= 0]
    return "the true difference is not within the margin: more samples would show that" if beyond else ""


def _search(
    at: Callable[[int], float], n_now: int, power: float, factor: Callable[[float, float], float], n_simulations: int
) -> tuple[int | None, float | None, float]:
    """The number of samples, its simulated power (None if it is extrapolated), and the power of those at hand."""
    first = found = at(n_now)
    n, near = n_now, min(_NEAR, 2 * float(np.sqrt(power * (1 - power) / n_simulations)))
    if found >= power:
        return n, found, first
    for _ in range(_STEPS):
        extrapolated = n >= _MOST_SIMULATED and found < power
        wanted = int(np.ceil(n * factor(found, np.inf if extrapolated else _LEAP)))
        if wanted > _MOST_TIMES * n_now:
            return None, None, first
        if extrapolated:
            return wanted, None, first
        n = min(wanted, max(_MOST_SIMULATED, n_now))
        found = at(n)
        if abs(found - power) <= near:
            break
    return n, found, first


def _factor(found: float, power: float, asked: Asked, most: float) -> float:
    """By how much to multiply the samples, by `most` at the most.

    The power of a z test grows with the square root of their number. Within a margin the test is one-sided.
    Two of them both reject, at a difference of 0, with the power 2 Phi(z) - 1.
    """
    critical = normal_quantile(1 - asked.alpha / (2 if asked.question is None else 1))
    both = asked.question == "equivalent"

    def reach(share: float) -> float:
        share = min(max(share, 1e-3), 1 - 1e-3)
        return critical + normal_quantile((1 + share) / 2 if both else share)

    shown, needed = reach(found), reach(power)
    return float(np.clip((needed / max(shown, 1e-3)) ** 2, 1 / most, most))


def _assumes(difference: float, observed: bool, reached: float | None, n: int | None) -> tuple[str, ...]:
    out = [f"the true difference is {number(difference, sign=True)}" + (", the observed one" if observed else "")]
    if n is None:
        out.append(f"more than {_MOST_TIMES:,} times the samples at hand would be needed")
    elif reached is None:
        out.append("the number is extrapolated: the power of that many samples was not simulated")
    out.append("new samples are like those at hand, and training on more samples changes neither model")
    return tuple(out)
