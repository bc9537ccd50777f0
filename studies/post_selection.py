"""Two bounds of the literature for the best of many, for comparison with the interval of `bbc`.

Both work on scores of all configurations on bootstrap samples of one test set; nothing is fitted. They are written from the
papers, for scores from 0 to 1 of which more is better.

- `zoom`: Zrnic and Fithian (2024), *A flexible defense against the winner's curse*, the grid version with bootstrap noise. A
  candidate counts for the radius only where its noise could have made it the winner.
- `tilting`: Rink and Brannath (2025), *Post-selection confidence bounds for prediction performance*, Machine Learning 114: the
  smallest tilt of the winner's samples that the maximum over all candidates does not rule out. The paper has a lower bound
  only; the upper end here is the same tilt upwards, without an adjustment, because selecting the best cannot make a score
  too low.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_STEPS = 12


def bisect(inside: Callable[[float], bool], within: float, without: float) -> float:
    """The border between a value that is `inside` and one that is not."""
    for _ in range(_STEPS):
        middle = (within + without) / 2
        within, without = (middle, without) if inside(middle) else (within, middle)
    return within


def zoom(scores: np.ndarray, drawn: np.ndarray, level: float) -> tuple[float, float]:
    """The interval of the winner from (C,) `scores` and (B, C) scores on bootstrap samples."""
    noise = np.abs(drawn - scores)
    farthest, best = noise.max(axis=0), float(scores.max())
    winner = int(scores.argmax())

    def radius(t: float) -> float:
        # How far below t a candidate may be: a third of the way from its score to t, never above t.
        gaps = np.maximum(2 / 3 * (t - scores), 0.0)
        gaps[winner] = 0.0
        active = farthest > gaps / 2
        if not active.any():  # nothing varied
            return 0.0
        part = noise[:, active]
        return float(np.quantile(np.max(np.where(part > gaps[active] / 2, part, 0.0), axis=1), level))

    reach = float(np.quantile(noise.max(axis=1), level)) + 1e-9
    low = bisect(lambda t: radius(t) > best - t, best, best - reach)
    high = bisect(lambda t: radius(t) >= t - best, best, best + reach)
    return max(low, 0.0), min(high, 1.0)


def tilting(
    counts: np.ndarray,
    drawn: np.ndarray,
    winner: int,
    score: float,
    influence: np.ndarray,
    weighted_score: Callable[[np.ndarray], float],
    level: float,
) -> tuple[float, float]:
    """The interval of the winner from (B, N) `counts`, (B, C) scores of the draws and the (N,) influence of its samples.

    NaN for an end where no tilt changes anything, as for a winner without errors.
    """
    tail = (1 - level) / 2
    ranks = np.stack([np.searchsorted(np.sort(column), column, side="right") for column in drawn.T], axis=1)
    highest = np.sort((ranks / (len(drawn) + 1)).max(axis=1))
    mine, n = drawn[:, winner], len(influence)
    scaled = influence / max(np.abs(influence).max(), 1e-300)

    def tilted(tau: float) -> np.ndarray:
        weights = np.exp(tau * scaled)
        return weights / weights.sum()

    def share_below(tau: float, strictly: bool = False) -> float:
        logs = counts @ np.log(n * tilted(tau))
        importance = np.exp(logs - logs.max())
        below = mine < score - 1e-12 if strictly else mine <= score + 1e-12
        return float(importance[below].sum() / importance.sum())

    def plausible_below(tau: float) -> bool:
        at_most = np.searchsorted(highest, share_below(tau), side="right") / len(highest)
        return 1 - at_most > tail

    if np.ptp(influence) == 0:
        return np.nan, np.nan
    ends = []
    for plausible, sign in ((plausible_below, -1.0), (lambda tau: share_below(tau) > tail, 1.0)):
        far = sign
        while plausible(far) and abs(far) < 64:
            far *= 2
        ends.append(weighted_score(tilted(bisect(plausible, 0.0, far))))
    return ends[0], ends[1]
