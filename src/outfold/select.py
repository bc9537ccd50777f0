"""Which configuration to take: the rules, the same for the final choice and inside the bootstrap.

A rule is called on predictions, ``select.best(oof, "roc_auc")``, and is passed to estimates, ``bbc(oof, "roc_auc",
rule=select.one_standard_error(complexity="C"))``. Any callable on `Candidates` that returns a name or a position is a rule
too. Ties go to the earliest configuration in the user's order, everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._kernels.choose import argbest, tied_with_best
from ._predictions import Predictions
from ._results import Selection
from ._scoring import Aggregate, Scoring
from .exceptions import InputError
from .metrics import MetricLike

__all__ = ["Candidates", "Rule", "best", "one_standard_error"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a rule written by the user is given: the candidates and their scores.

    Attributes
    ----------
    names, params
        The candidates, in the user's order, and the parameters that tell them apart.
    mean
        (C,) their scores.
    folds
        (C, F) their scores in every fold.
    se
        (C,) standard errors over folds.
    greater_is_better
        Direction of the metric.
    """

    names: tuple[str, ...]
    params: tuple[Mapping[str, Any], ...]
    mean: NDArray[np.float64]
    folds: NDArray[np.float64]
    se: NDArray[np.float64]
    greater_is_better: bool


class Rule:
    """A configuration selection strategy."""

    name = "rule"

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        """(b,) position among the candidates picked under every weighting; -1 where none can be."""
        raise NotImplementedError

    def __call__(self, oof: Predictions, metric: MetricLike, aggregate: Aggregate = "pooled") -> Selection:
        """The configuration this rule picks on all predictions."""
        return choose(Scoring(oof, metric, aggregate), self)

    def __repr__(self) -> str:
        return f"<rule: {self.name}>"


class _Best(Rule):
    """The configuration with the best mean score; the default."""

    name = "best mean"

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        return argbest(scoring.scores(weights), scoring.metric.greater_is_better)


class _OneStandardError(Rule):
    """The simplest configuration within one standard error of the best."""

    def __init__(self, complexity: str | Mapping[str, float] | Callable[[str, Mapping[str, Any]], float]) -> None:
        self.complexity = complexity
        what = complexity if isinstance(complexity, str) else getattr(complexity, "__name__", "complexity")
        self.name = f"simplest by {what} within one standard error"

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        if max(np.bincount([r for r, _ in scoring.cells])) < 2:
            raise InputError(
                "one_standard_error needs at least 2 folds a repeat to know a standard error; use select.best."
            )
        sign = 1.0 if scoring.metric.greater_is_better else -1.0
        scores = sign * scoring.scores(weights)
        winners = argbest(scores, True)
        se = scoring.standard_errors(scoring.fold_scores(weights))
        draw = np.arange(len(scores))
        bar = scores[draw, winners] - np.nan_to_num(se[draw, winners])
        # Simplest first, the better of equally simple ones next, the earliest last: one pass over a lexical order.
        within = np.where(scores >= bar[:, None], self._values(scoring)[None, :], np.inf)
        simplest = within == within.min(axis=1, keepdims=True)
        picked = argbest(np.where(simplest, scores, np.nan), True)
        return np.where(winners < 0, -1, picked)

    def _values(self, scoring: Scoring) -> NDArray[np.float64]:
        return np.array(
            [_complexity(self.complexity, n, p) for n, p in zip(scoring.names, scoring.params, strict=True)],
            dtype=float,
        )


class _Custom(Rule):
    """A rule written by the user."""

    def __init__(self, function: Callable[[Candidates], str | int]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "custom rule")

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        scores, folds = scoring.scores(weights), scoring.fold_scores(weights)
        se = scoring.standard_errors(folds)
        out = np.full(len(scores), -1, dtype=np.intp)
        for b in range(len(scores)):
            if not np.all(np.isnan(scores[b])):
                candidates = Candidates(
                    scoring.names, scoring.params, scores[b], folds[b], se[b], scoring.metric.greater_is_better
                )
                out[b] = self._position(self.function(candidates), scoring.names)
        return out

    def _position(self, answer: Any, names: tuple[str, ...]) -> int:
        if isinstance(answer, str) and answer in names:
            return names.index(answer)
        if isinstance(answer, (int, np.integer)) and 0 <= answer < len(names):
            return int(answer)
        raise InputError(
            f"the rule {self.name} must return the name or the position of one of {len(names)} candidates; "
            f"it returned {answer!r}."
        )


best = _Best()


def one_standard_error(
    complexity: str | Mapping[str, float] | Callable[[str, Mapping[str, Any]], float],
) -> Rule:
    """The simplest configuration within one standard error of the best (Breiman et al. 1984; Raschka 2018, sect. 3.10).

    Parameters
    ----------
    complexity
        A parameter name such as ``"C"`` or ``"max_depth"`` (None counts as unlimited), a mapping from configuration name to
        number, or a callable on (name, parameters). Smaller is simpler.

    Examples
    --------
    >>> one_standard_error(complexity="C")
    <rule: simplest by C within one standard error>
    """
    return _OneStandardError(complexity)


RuleLike: TypeAlias = Rule | Callable[[Candidates], str | int] | None


def as_rule(rule: RuleLike) -> Rule:
    """A rule, a callable made a rule, or the default `best`."""
    if rule is None:
        return best
    if isinstance(rule, Rule):
        return rule
    if callable(rule):
        return _Custom(rule)
    raise InputError(f"rule must be select.best, select.one_standard_error(...) or a callable; got {rule!r}.")


def choose(scoring: Scoring, rule: RuleLike = None) -> Selection:
    """The configuration the rule picks on all samples that count."""
    rule = as_rule(rule)
    picked = int(rule.pick(scoring)[0])
    metric = scoring.metric
    scores = scoring.scores()
    if picked < 0:
        raise InputError(
            f"{metric.name} is undefined for every configuration on these {len(scoring.rows)} samples: "
            "a class, a comparable pair or any spread of the labels is missing. Use another metric or more samples."
        )
    tied = int(tied_with_best(scores, metric.greater_is_better)[1][0].sum())
    return Selection(
        name=scoring.names[picked],
        index=int(scoring.candidates[picked]),
        score=float(scores[0, picked]),
        metric=metric.name,
        rule=rule.name,
        tied=tied,
        n_candidates=len(scoring.candidates),
        params=scoring.params[picked],
    )


def _complexity(key: Any, name: str, params: Mapping[str, Any]) -> float:
    if callable(key):
        return float(key(name, params))
    if isinstance(key, str):
        found = [v for k, v in params.items() if k == key or k.endswith("__" + key)]
        # A configuration without the parameter is not simpler than one with it: it comes last.
        if not found:
            return np.inf
        return np.inf if found[0] is None else float(found[0])
    if name not in key:
        raise InputError(f"complexity has no entry for the configuration {name!r}.")
    return float(key[name])
