"""Whom an estimate is about: a configuration named beforehand, or the selected configuration, corrected for the selection."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import select
from ..arguments import RngLike, as_seed, check_count
from ..data.notes import Note
from ..data.predictions import Predictions
from ..exceptions import InputError
from ..metrics._scoring import Scoring, group_notes, sample_bootstrap
from ..results import Estimate, Interval
from ..select import RuleLike, as_rule
from ..stats.resampling import Corrected, correct
from ._build import build, calm, cannot_score


class Subject:
    """One configuration or the choice among several, as the arguments of an estimate say."""

    def __init__(
        self, oof: Predictions, config: str | int | None, rule: RuleLike, n_resamples: int, rng: RngLike
    ) -> None:
        if config is not None and rule is not None:
            raise InputError(
                needed="give `config=` for a configuration named beforehand, or `rule=` to select one", given="got both"
            )
        self.oof = oof if config is None else oof.sel(config=config)
        self.rule = as_rule(rule)
        self.n_resamples, self.rng = check_count(n_resamples, "n_resamples", 2), as_seed(rng)

    @property
    def named(self) -> bool:
        """Whether there was nothing to select."""
        return self.oof.n_configs == 1


def of_subject(
    subject: Subject,
    scoring: Scoring,
    method: str,
    *,
    description: str,
    reference: str,
    own: str,
    draws: NDArray[np.float64] | None = None,
    interval: Interval | None = None,
    level: float = 0.95,
    keeps_draws: bool = False,
    details: dict[str, Any] | None = None,
    notes: tuple[Note, ...] = (),
) -> Estimate:
    """The score of a configuration named beforehand; of a selected one the bias-corrected score (as `bbc` has it).

    `draws` and `interval` are those of a named one; a selected one has an interval only where it `keeps_draws`.
    """
    selection = select.choose(scoring, subject.rule)
    common: dict[str, Any] = {"reference": reference, "level": level, "own": own}
    if subject.named:
        selection = replace(selection, rule="named beforehand")
        return build(
            scoring,
            selection,
            method,
            value=selection.score,
            description=description,
            draws=draws,
            interval=interval,
            notes=notes,
            details=details,
            named=True,
            **common,
        )
    result = corrected(subject, scoring)
    return build(
        scoring,
        selection,
        method,
        value=float(result.scores.mean()),
        description=f"{description}; corrected for the selection by {len(result.scores):,} draws",
        draws=result.scores if keeps_draws else None,
        chosen=np.array(scoring.names, dtype=object)[result.chosen],
        notes=(*notes, *group_notes(scoring)),
        details=(details or {}) | {"n_resamples": len(result.scores), "redrawn": result.n_again},
        **common,
    )


def corrected(subject: Subject, scoring: Scoring) -> Corrected:
    """Select on drawn samples, score on those never drawn."""
    bootstrap = sample_bootstrap(scoring, False, subject.rng)
    with calm(scoring):
        result = correct(scoring, subject.rule, bootstrap, subject.n_resamples)
    if not len(result.scores):
        raise cannot_score(scoring)
    return result
