"""What selects: the metric, how its values on the folds become one score, and the rule.

Predictions keep their criterion, so that every estimate, table, report and progress line names the same winner, and says in the
same words how it was selected. What a file keeps of it is text: the name of the metric, the aggregate, and a rule of `select`
with its parameters. Of a function the user wrote only the name is kept.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from ..arguments import check_choice
from ..exceptions import NeedError
from ..formatting import called, count

Aggregate = Literal["pooled", "within", "fold"]

# How a score is made, in words.
AGGREGATES: dict[str, str] = {"pooled": "pooled", "within": "within folds", "fold": "mean over folds"}
# The score of a configuration, in words around the name of the metric.
_SCORES: dict[str, str] = {"pooled": "pooled {}", "within": "{} within folds", "fold": "mean {} over folds"}
_NOT_KEPT = "function"
_LIVE = "live"
_UP = "greater_is_better"


@dataclass(frozen=True)
class StoredRule:
    """A rule of `select` as a file keeps it: its name and its parameters."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LostFunction:
    """A metric or a rule that the user wrote, of which a file keeps the name, and of a metric whether greater is better."""

    name: str
    greater_is_better: bool | None = None

    def error(self, what: Literal["metric", "rule"]) -> NeedError:
        """The error where the function itself is needed."""
        needed = f"these predictions were selected by the {what} {self.name!r}, a function that a file cannot hold"
        given = self.name if self.name.isidentifier() else "..."
        where = "the scorer as you gave it, with its options" if what == "metric" else "the function itself"
        remedy = f"Give {where}, in Python, not on the command line: `oof.selecting_by({what}={given})`. "
        return NeedError(needed, remedy=f"{remedy}With `{what}=...`, another {what} selects.")


@dataclass(frozen=True)
class LiveScore:
    """A score that fitted models got in the worker, of which the values on folds are kept under a name.

    Use it as a metric where a name alone would mean a metric of predictions.

    Parameters
    ----------
    name : str
        A name of ``oof.live_scores``.

    Examples
    --------
    >>> import outfold as of
    >>> of.metrics.LiveScore("deviance").name
    'deviance'
    """

    name: str


@dataclass(frozen=True)
class Criterion:
    """What selects a configuration.

    Attributes
    ----------
    metric : str, callable, Metric or None
        What scores; None is the default metric of the task.
    aggregate : {"pooled", "within", "fold"}
        One score over all out-of-fold predictions of a repeat; the same of pairs of samples of the same fold, for shares of pairs
        such as AUC; or the mean over folds.
    rule : Rule, callable or None
        How a configuration is picked by its score; None is `select.best`.
    """

    metric: Any = None
    aggregate: Aggregate = "pooled"
    rule: Any = None

    def __post_init__(self) -> None:
        check_choice(self.aggregate, get_args(Aggregate), "aggregate")

    def changed(self, metric: Any = None, aggregate: Aggregate | None = None, rule: Any = None) -> Criterion:
        """The same with those parts replaced that are given."""
        parts = {"metric": metric, "aggregate": aggregate, "rule": rule}
        return replace(self, **{name: part for name, part in parts.items() if part is not None})

    def to_dict(self) -> dict[str, Any]:
        """What a file keeps."""
        return {"metric": _kept_metric(self.metric), "aggregate": self.aggregate, "rule": _kept_rule(self.rule)}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Criterion:
        """The criterion that a file keeps."""
        metric, rule = kept["metric"], kept["rule"]
        if isinstance(metric, Mapping):
            metric = LiveScore(metric[_LIVE]) if _LIVE in metric else LostFunction(metric[_NOT_KEPT], metric.get(_UP))
        if rule is not None:
            parameters = {key: value for key, value in rule.items() if key != "name"}
            rule = LostFunction(rule[_NOT_KEPT]) if _NOT_KEPT in rule else StoredRule(rule["name"], parameters)
        return cls(metric, kept["aggregate"], rule)

    def __reduce__(self) -> tuple[Any, ...]:
        # Of what cannot be pickled, such as a lambda, the name is left, as in a file.
        plain = Criterion.from_dict(self.to_dict())
        parts = {
            name: getattr(self if _can_pickle(getattr(self, name)) else plain, name) for name in ("metric", "rule")
        }
        return Criterion, (parts["metric"], self.aggregate, parts["rule"])

    def __deepcopy__(self, memo: Any) -> Criterion:
        return self


def _can_pickle(value: Any) -> bool:
    try:
        pickle.dumps(value)
    except Exception:  # whatever a user's object raises
        return False
    return True


def _kept_metric(metric: Any) -> str | dict[str, Any] | None:
    if isinstance(metric, LiveScore):
        return {_LIVE: metric.name}
    if metric is None or isinstance(metric, str):
        return metric
    up = direction_of(metric)
    return {_NOT_KEPT: name_of(metric)} | ({} if up is None else {_UP: up})


def direction_of(metric: Any) -> bool | None:
    """Whether greater values of a metric or a scorer are better; None where it does not say."""
    sign = getattr(metric, "_sign", None)  # a scorer of scikit-learn
    found = getattr(metric, "greater_is_better", None if sign is None else sign > 0)
    return None if found is None else bool(found)


def _kept_rule(rule: Any) -> dict[str, Any] | None:
    if rule is None:
        return None
    stored = rule if isinstance(rule, StoredRule) else getattr(rule, "stored", None)
    return {_NOT_KEPT: name_of(rule)} if stored is None else {"name": stored.name, **stored.parameters}


def name_of(value: Any) -> str:
    """What a metric, a scorer, a rule or a function is called."""
    if isinstance(value, str):
        return value
    inner = getattr(value, "_score_func", value)
    return str(getattr(inner, "name", None) or getattr(inner, "__name__", None) or type(inner).__name__)


# -- in words ---------------------------------------------------------------------------------------------------


def score_words(metric: str, aggregate: str | None) -> str:
    """The score of a configuration: ``pooled AUC``, ``mean accuracy over folds``; None where there is one fold only."""
    if aggregate is None:
        return called(metric)
    words = _SCORES[aggregate]
    return (words.removeprefix("mean ") if called(metric).startswith("mean") else words).format(called(metric))


def selection_words(picked: str, n_configs: int, lost: Mapping[str, int]) -> str:
    """``best pooled AUC of 150 configurations (15 dropped early)``: what is picked, of how many, and why some could not be."""
    comma = "" if picked.startswith("best ") else ","
    why = ", ".join(f"{n:,} {what}" for what, n in lost.items() if n)
    return f"{picked}{comma} of {count(n_configs, 'configuration')}" + (f" ({why})" if why else "")
