"""Bootstrap bias correction: select on the drawn samples, score on the others (Tsamardinos 2018, Algorithm 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .resample import Bootstrap, block_size, blocks

# A draw that cannot be scored is drawn again this often before the data are called unfit.
_ATTEMPTS = 100


class Scores(Protocol):
    """Scores chosen configurations under weightings."""

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
        rng = bootstrap.generator(i)
        open_draws = np.arange(part.start, part.stop)
        for _ in range(_ATTEMPTS):
            picks, values = _score(scoring, rule, bootstrap.counts(rng, len(open_draws)))
            scores[open_draws], chosen[open_draws] = values, picks
            open_draws = open_draws[np.isnan(values)]
            n_again += len(open_draws)
            if not len(open_draws):
                break
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
