"""Bootstrap bias correction: select on the drawn samples, score on the others (Tsamardinos 2018, Algorithm 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .resample import BLOCK, Bootstrap, block_size, blocks

# A draw that cannot be scored is drawn again this often before the data are called unfit.
_ATTEMPTS = 100


# Rivals of a draw's winner: those at most this many standard errors of a difference behind it.
_NEAR = 3.0


class Scores(Protocol):
    """Scores configurations under weightings."""

    def scores(self, weights: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """(b, C) score of every configuration under every weighting."""
        ...

    def paired(self, weights: NDArray[Any], chosen: NDArray[np.intp], /) -> NDArray[np.float64]:
        """(b,) score of chosen[i] under weights[i]."""
        ...


class Picks(Protocol):
    """Selects a configuration under weightings."""

    def pick(self, scoring: Any, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        """(b,) the selected configuration, -1 where none can be."""
        ...


@dataclass(frozen=True, eq=False)
class Corrected:
    """Out-of-bag scores of the configuration selected in every draw, and how many draws could not be scored."""

    scores: NDArray[np.float64]
    chosen: NDArray[np.intp]
    n_again: int


def correct(scoring: Scores, rule: Picks, bootstrap: Bootstrap, n_resamples: int) -> Corrected:
    """Draw, select, score; a draw that cannot be scored is drawn again from the stream of its block."""
    scores, chosen, n_again = np.empty(n_resamples), np.empty(n_resamples, dtype=np.intp), 0
    for i, part in enumerate(blocks(n_resamples, block_size(bootstrap.n))):
        open_draws = np.arange(part.start, part.stop)
        counts, rng = bootstrap.block(i, len(open_draws)), None
        for _ in range(_ATTEMPTS):
            picks, values = _score(scoring, rule, counts)
            scores[open_draws], chosen[open_draws] = values, picks
            open_draws = open_draws[np.isnan(values)]
            n_again += len(open_draws)
            if not len(open_draws):
                break
            if rng is None:
                rng = bootstrap.generator(i)
                bootstrap.counts(rng, part.stop - part.start)  # those above
            counts = bootstrap.counts(rng, len(open_draws))
        else:
            return Corrected(np.empty(0), np.empty(0, dtype=np.intp), n_again)
    return Corrected(scores, chosen, n_again)


def correct_given(scoring: Scores, rule: Picks, counts: NDArray[Any]) -> Corrected:
    """The same for given draws; those that cannot be scored are left out."""
    parts = [_score(scoring, rule, counts[part]) for part in blocks(len(counts), block_size(counts.shape[1]))]
    chosen, scores = (np.concatenate(side) for side in zip(*parts, strict=True))
    defined = ~np.isnan(scores)
    return Corrected(scores[defined], chosen[defined], int(np.sum(~defined)))


def _score(scoring: Scores, rule: Picks, counts: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    picks = rule.pick(scoring, counts)
    values = scoring.paired((counts == 0).view(np.uint8), np.maximum(picks, 0))
    values[picks < 0] = np.nan
    return picks, values


def noise_share(scoring: Scores, counts: NDArray[Any], sign: int) -> float:
    """Share of the differences between rival configurations that is noise, from 0 to 1.

    Out-of-bag scores are regressed on in-bag scores within every draw, among the rivals of the draw's winner; which these
    are is known from the in-bag scores alone, so the slope s is that of the truth on the score. In-bag scores carry the noise
    of the sample and that of the draw, twice the variance of the noise v in the scores themselves: s = t / (t + 2 v), and the
    share v / (t + v) is (1 - s) / (1 + s).
    """
    drawn = sign * scoring.scores(counts)
    left_out = sign * scoring.scores((counts == 0).view(np.uint8))
    usable = np.isfinite(drawn).all(axis=1) & np.isfinite(left_out).all(axis=1)
    drawn, left_out = drawn[usable], left_out[usable]
    if len(drawn) < 2 or drawn.shape[1] < 2:
        return 1.0
    centred = drawn - drawn.mean(axis=1, keepdims=True)
    difference = np.sqrt(2 * np.mean(np.var(centred, axis=0)))
    rivals = drawn >= drawn.max(axis=1, keepdims=True) - _NEAR * difference
    x, y = _centred_among(drawn, rivals), _centred_among(left_out, rivals)
    spread = np.sum(x * x)
    slope = np.clip(np.sum(x * y) / spread, 0.0, 1.0) if spread > 0 else 0.0
    return float((1 - slope) / (1 + slope))


def _centred_among(values: NDArray[np.float64], members: NDArray[np.bool_]) -> NDArray[np.float64]:
    mean = np.sum(values * members, axis=1, keepdims=True) / np.sum(members, axis=1, keepdims=True)
    return np.asarray((values - mean) * members)


def first_block(bootstrap: Bootstrap, n_resamples: int) -> NDArray[Any]:
    """The counts of the first draws, enough to tell noise from differences."""
    return bootstrap.block(0, min(n_resamples, BLOCK, block_size(bootstrap.n)))
