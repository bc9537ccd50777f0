"""Scores of fitted models, computed in the worker: what stored predictions cannot tell.

An estimator's own ``score``, a scorer that looks at X or at a coefficient, and weights in a score need the model itself. The
scores are kept for each fold, beside the predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Number
from typing import Any, Literal, NamedTuple

import numpy as np

from ..exceptions import got, invalid
from .data import ScoredRows
from .estimators import plain_text

# What the name of a score of the training samples starts with.
TRAIN = "train "
# The name of the score of a scorer that returns a number.
ONE = "score"

Scorer = Callable[..., Any]


class LiveScores(NamedTuple):
    """The scores of one fitted model, and why a scorer failed."""

    values: dict[str, float]
    problem: str = ""


@dataclass(frozen=True, eq=False)
class LiveScoring:
    """Which scores fitted models get in the worker.

    Attributes
    ----------
    scorers : dict of str to callable, or callable
        Functions of (estimator, X, y), by name. One function alone may return a number or a dict of numbers.
    params : dict
        Arguments of every scorer; those with one entry for each sample are split like X.
    train : bool
        Whether the training samples are scored too.
    error_score : float or "raise"
        The score where a scorer fails; ``"raise"`` makes the fit fail.
    """

    scorers: Mapping[str, Scorer] | Scorer
    params: Mapping[str, Any] = field(default_factory=dict)
    train: bool = False
    error_score: float | Literal["raise"] = np.nan

    @classmethod
    def checked(cls, given: Any, raises: bool) -> LiveScoring | None:
        """What `collect` was given as `scorers`."""
        if given is None or isinstance(given, LiveScoring):
            return given
        named = (
            isinstance(given, Mapping) and given and all(isinstance(n, str) and callable(f) for n, f in given.items())
        )
        if not named and not callable(given):
            needed = "must be functions of (estimator, X, y) by name, such as {'coefficients': count_coefficients}"
            raise invalid("scorers", needed, got(given))
        return cls(dict(given) if named else given, error_score="raise" if raises else np.nan)

    @property
    def first(self) -> str:
        """The name of the first score."""
        return next(iter(self.scorers)) if isinstance(self.scorers, Mapping) else ONE

    def names(self, name: str) -> bool:
        """Whether a score has this name."""
        return name in self.scorers if isinstance(self.scorers, Mapping) else name == ONE

    @property
    def text(self) -> str:
        """What a store must have been made with to be continued."""
        named = self.scorers if isinstance(self.scorers, Mapping) else {ONE: self.scorers}
        facts = {"scorers": dict(named), "params": dict(self.params), "train": self.train}
        if self.error_score != "raise" and not np.isnan(self.error_score):
            facts["error_score"] = float(self.error_score)
        return plain_text(facts)

    def __call__(self, model: Any, test: ScoredRows, train: ScoredRows | None) -> LiveScores:
        """The scores of a fitted model on the rows it left out and, if asked for, on those it was fitted on."""
        values, problem = self._scores(model, test)
        if self.train and train is not None:
            known, also = self._scores(model, train)
            values |= {TRAIN + name: score for name, score in known.items()}
            problem = problem or also
        return LiveScores(values, problem)

    def _scores(self, model: Any, rows: ScoredRows) -> LiveScores:
        if isinstance(self.scorers, Mapping):
            found = {name: self._score(scorer, model, rows) for name, scorer in self.scorers.items()}
        else:
            value, problem = self._score(self.scorers, model, rows)
            if not isinstance(value, Mapping):
                return LiveScores({ONE: number_of(value, ONE)}, problem)
            found = {str(name): self._or_failed(part, problem) for name, part in value.items()}
        values = {name: number_of(value, name) for name, (value, _) in found.items()}
        return LiveScores(values, next((problem for _, problem in found.values() if problem), ""))

    def _score(self, scorer: Scorer, model: Any, rows: ScoredRows) -> tuple[Any, str]:
        """What one scorer says, and why it failed if it did."""
        given = (rows.X,) if rows.y is None else (rows.X, rows.y)
        try:
            return scorer(model, *given, **rows.params), ""
        except Exception as error:  # whatever a foreign scorer raises
            # A scorer of several catches what its scorers raise: this is a mistake in how it is called.
            if self.error_score == "raise" or hasattr(scorer, "_scorers"):
                raise
            return self.error_score, f"{type(error).__name__}: {error}"

    def _or_failed(self, value: Any, problem: str) -> tuple[Any, str]:
        """A score; scikit-learn's scorer of several gives the traceback of one that failed, whose last line says why."""
        return (self.error_score, value.strip().rpartition("\n")[2]) if isinstance(value, str) else (value, problem)


def number_of(value: Any, name: str) -> float:
    """A score as a float; anything else is refused, in the words scikit-learn's users know."""
    if hasattr(value, "item") and np.size(value) == 1:
        value = value.item()
    if not isinstance(value, Number) or isinstance(value, complex):
        raise ValueError(f"scoring must return a number, got {value!s} ({type(value)}) instead. (scorer={name})")
    return float(value)  # type: ignore[arg-type]
