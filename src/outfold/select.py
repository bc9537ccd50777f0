"""Which configuration to take: rules, the same for the final choice and inside the bootstrap.

A rule is an object. Call it on predictions, ``select.best(oof, "roc_auc")``, or pass it to an estimate, ``bbc(oof, "roc_auc",
rule=select.one_standard_error(complexity="C"))``. A function on `Candidates` that returns a name or a position serves as a rule
too. Every rule breaks ties in favour of the configuration that comes first.

Predictions record the metric, the aggregate and the rule that select, as `collect` was told or as `Predictions.selecting_by`
changes them. Whatever is not asked for otherwise is taken from this record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import metrics
from .arguments import RngLike, as_seed, check_confidence_level, check_count, check_takes, is_number
from .data.criterion import Aggregate, Criterion, LostFunction, StoredRule, name_of, score_words, selection_words
from .data.predictions import Predictions
from .docstrings import fill_common, fill_with
from .exceptions import InputError, got, invalid
from .formatting import count
from .metrics import MetricLike
from .metrics._baseline import baseline
from .metrics._candidates import lost, running, why_not
from .metrics._lookup import by_name, check_direction
from .metrics._scoring import Scoring, bind, sample_bootstrap, selecting
from .requirements import check_predictions, requires
from .results import Leaderboard, Selection, TiedSet
from .stats.selection import argbest, best_pvalues, tie_ranks, tied_with_best

__all__ = ["Candidates", "Rule", "best", "one_standard_error", "within"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates and their scores, which a rule written by the user receives.

    Attributes
    ----------
    names : tuple of str
        The candidates, in the user's order.
    params : tuple of dict
        The parameters that tell them apart.
    mean : ndarray of shape (C,)
        Their scores.
    folds : ndarray of shape (C, F)
        Their scores in each fold.
    se : ndarray of shape (C,)
        Standard errors over folds.
    greater_is_better : bool
        Direction of the metric.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> right = np.random.default_rng(0).random((60, 3)) < [0.7, 0.75, 0.8]
    >>> oof = of.from_arrays(None, right, folds=np.arange(60) % 5, response="pointwise")
    >>> def steadiest(candidates):
    ...     return candidates.se.argmin()
    ...
    >>> of.estimate.bbc(oof, "mean", rule=steadiest, n_resamples=50).selected
    'config 1'
    """

    names: tuple[str, ...]
    params: tuple[Mapping[str, Any], ...]
    mean: NDArray[np.float64]
    folds: NDArray[np.float64]
    se: NDArray[np.float64]
    greater_is_better: bool


Complexity: TypeAlias = str | Mapping[str, float] | Callable[[str, Mapping[str, Any]], float]


@fill_common
class Rule:
    """A rule that picks one configuration; `best`, `one_standard_error` and `within` give such rules.

    Attributes
    ----------
    name : str
        The rule in words.

    Examples: {numpy_outfold}
    >>> oof = of.from_arrays(None, [[1, 1], [0, 1], [1, 0], [0, 1]], response="pointwise")
    >>> of.select.best(oof, "mean").name
    'config 1'
    """

    name = "rule"
    # The rule as a file keeps it; None where only the name can be kept.
    stored: StoredRule | None = None

    def phrase(self, score: str) -> str:
        """What is picked by this score, in words."""
        return f"picked by {self.name} on {score}"

    def check(self, params: Mapping[str, Mapping[str, Any]]) -> None:
        """Refuse configurations, by name, whose parameters this rule cannot use; before any fit, where they are known."""

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        """(b,) position among the candidates picked under every weighting; -1 where none can be."""
        raise NotImplementedError

    @fill_common
    def __call__(
        self, oof: Predictions, metric: MetricLike | None = None, aggregate: Aggregate | None = None
    ) -> Selection:
        """The configuration this rule picks on all predictions.

        Parameters: {oof, recorded_metric, aggregate}

        Returns
        -------
        Selection
            The configuration, its cross-validation score and how many are tied.
        """
        check_predictions(oof, "a rule")
        return choose(selecting(oof, metric, aggregate), self)

    def __repr__(self) -> str:
        return f"<rule: {self.name}>"


class _Best(Rule):
    """The configuration with the best score; the default.

    Examples
    --------
    >>> import outfold as of
    >>> oof = of.from_arrays(None, [[1, 1], [0, 1], [1, 0], [0, 1]], configs=["a", "b"], response="pointwise")
    >>> of.select.best(oof, "mean").name
    'b'
    """

    name = "best"
    stored = StoredRule("best")

    def __reduce__(self) -> str:
        return "best"  # there is one of it

    def phrase(self, score: str) -> str:
        """The best score."""
        return f"best {score}"

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        return argbest(scoring.scores(weights), scoring.metric.greater_is_better)


# (scoring, weights, best scores (b,), winners (b,)) -> (b,) how far below the best is still good enough
Slack: TypeAlias = Callable[[Scoring, NDArray[Any] | None, NDArray[np.float64], NDArray[np.intp]], NDArray[np.float64]]


class _Simplest(Rule):
    """The simplest configuration that is good enough, as `slack` says."""

    def __init__(self, complexity: Complexity, reach: str, slack: Slack, stored: StoredRule) -> None:
        if callable(complexity):
            check_takes(complexity, ("name", "parameters"), "complexity")
        elif not isinstance(complexity, (str, Mapping)):
            needed = (
                "must be a parameter name, a mapping from configuration to number, or a callable on (name, parameters)"
            )
            raise invalid("complexity", needed, got(complexity))
        self.complexity, self.slack = complexity, slack
        what = complexity if isinstance(complexity, str) else getattr(complexity, "__name__", "complexity")
        self.name = f"simplest by {what} within {reach}"
        self.stored = stored if isinstance(complexity, str) else None

    def phrase(self, score: str) -> str:
        """The simplest of the good ones."""
        return f"{self.name} of the best {score}"

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        scores = scoring.metric.sign * scoring.scores(weights)
        winners = argbest(scores, True)
        best = scores[np.arange(len(scores)), winners]
        bar = best - self.slack(scoring, weights, best, winners)
        # Simplest first, the better of equally simple ones next, the earliest last.
        complexity = np.where(scores >= bar[:, None], self._values(scoring)[None, :], np.nan)
        simplest = complexity == np.fmin.reduce(complexity, axis=1)[:, None]
        return np.where(winners < 0, -1, argbest(np.where(simplest, scores, np.nan), True))

    def _values(self, scoring: Scoring) -> NDArray[np.float64]:
        if isinstance(self.complexity, str):
            _refuse_other_step(self.complexity, scoring)
        return self._complexities(scoring.names, scoring.params)

    def check(self, params: Mapping[str, Mapping[str, Any]]) -> None:
        if not callable(self.complexity):  # a function is asked with parameters as predictions keep them
            self._complexities(tuple(params), tuple(params.values()))

    def _complexities(self, names: Sequence[str], params: Sequence[Mapping[str, Any]]) -> NDArray[np.float64]:
        pairs = zip(names, params, strict=True)
        values = np.array([_complexity(self.complexity, name, given) for name, given in pairs], dtype=float)
        if np.isinf(values).all() and isinstance(self.complexity, str):
            known = ", ".join(sorted({k for given in params for k in given})) or "not known"
            needed = "must be a parameter for which some configuration has a number"
            raise invalid("complexity", needed, f"got {self.complexity!r}, and the parameters are {known}")
        return values


def _standard_error(
    scoring: Scoring, weights: NDArray[Any] | None, best: NDArray[np.float64], winners: NDArray[np.intp]
) -> NDArray[np.float64]:
    if max(np.bincount([r for r, _ in scoring.cells])) < 2:
        needed = "needs 2 folds or more in a repeat, to know a standard error"
        raise invalid("one_standard_error", needed, f"these predictions are {scoring.oof.plan}", "Use `select.best`.")
    se = scoring.standard_errors(scoring.fold_scores(weights))
    return np.nan_to_num(se[np.arange(len(se)), winners])


def _share(percent: float, _: Any, __: Any, best: NDArray[np.float64], ___: Any) -> NDArray[np.float64]:
    return np.abs(best) * (percent / 100)


class _UserRule(Rule):
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
        needed = f"must return the name or the position of one of {len(names)} candidates"
        raise invalid(f"the rule {self.name}", needed, f"it returned {answer!r}")


best = _Best()

_document = fill_with(
    {
        "complexity": """complexity : str, dict or callable
    What tells which configuration is simpler; smaller is simpler. A parameter name such as ``"C"`` or
    ``"n_estimators"``; ``"depth"`` or ``"n_features"``, whatever the estimator calls it (None counts as
    unlimited); a mapping from configuration name to number; or a callable on (name, parameters).""",
        "rule": "Rule\n    A rule for `rule` in estimates and searches.",
    }
)


@_document
def one_standard_error(complexity: Complexity) -> Rule:
    """The rule that picks the simplest configuration within one standard error of the best [1]_; see section 3.10 of [2]_.

    Parameters: {complexity}
    Returns: {rule}
    References: {breiman1984, raschka2018}

    Examples: {outfold}
    >>> of.select.one_standard_error(complexity="C")
    <rule: simplest by C within one standard error>
    """
    stored = StoredRule("one_standard_error", {"complexity": complexity})
    return _Simplest(complexity, "one standard error", _standard_error, stored)


@_document
def within(loss_percent: float, complexity: Complexity) -> Rule:
    """The rule that picks the simplest configuration whose score is at most `loss_percent` percent worse than the best.

    Parameters
    ----------
    loss_percent : float
        Percent of the best score that you are willing to lose.
    {complexity}
    Returns: {rule}

    Examples: {outfold}
    >>> of.select.within(2, complexity="max_depth")
    <rule: simplest by max_depth within 2 percent>
    """
    if not is_number(loss_percent) or loss_percent < 0:
        raise invalid("loss_percent", "must be 0 or more", got(loss_percent))
    stored = StoredRule("within", {"loss_percent": loss_percent, "complexity": complexity})
    return _Simplest(complexity, f"{loss_percent:g} percent", partial(_share, loss_percent), stored)


@_document
@requires()
def tied_set(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    aggregate: Aggregate | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: RngLike = 0,
) -> TiedSet:
    """Configurations that cannot be told from the best: a confidence set for the truly best one.

    A configuration stays in the set unless another one beats it by more than chance allows. For configuration j the statistic is
    the largest studentised difference to any other, T_j = max_k (s_k - s_j) / se_kj. It is compared with the largest centred
    difference, in either direction, in bootstrap draws of the samples. The maximum over k accounts for looking at all of them, so
    the set holds the truly best configuration with probability `confidence_level` or more.

    Parameters: {oof, recorded_metric, aggregate}
    confidence_level : float
        Confidence level of the set.
    n_resamples : int
        Number of bootstrap draws, 100 or more. Groups are drawn whole.
    {rng}

    Returns
    -------
    TiedSet
        The members, best first, with their scores and p values.

    Examples: {numpy_outfold}
    >>> correct = np.random.default_rng(0).random((80, 3)) < [0.9, 0.88, 0.5]
    >>> of.compare.tied_set(of.from_arrays(None, correct, response="pointwise"), "mean").configs
    ('config 0', 'config 1')
    """
    return tied_among(selecting(oof, metric, aggregate), confidence_level, n_resamples, rng)


def tied_among(scoring: Scoring, confidence_level: float = 0.95, n_resamples: int = 1000, rng: RngLike = 0) -> TiedSet:
    """The set of `tied_set` among the candidates of a scoring that is at hand."""
    level = check_confidence_level(confidence_level)
    sign = scoring.metric.sign
    observed = sign * scoring.scores()[0]
    bootstrap = sample_bootstrap(scoring, False, as_seed(rng))
    blocks = bootstrap.blocks(check_count(n_resamples, "n_resamples", 100))
    draws = sign * np.concatenate([scoring.scores(weights) for weights in blocks])
    defined = ~np.isnan(draws).any(axis=1)
    if np.isnan(observed).any() or defined.sum() < 100:
        given = f"{scoring.metric.name} is undefined on too many of them"
        remedy = "Use a mean over samples such as accuracy or mse, or more samples."
        raise invalid("tied_set", "needs a metric that is defined on bootstrap samples", given, remedy)
    pvalues = best_pvalues(observed, draws[defined])
    members = pvalues > 1 - level
    order = [int(j) for j in np.argsort(tie_ranks(observed, True), kind="stable") if members[j]]
    names = scoring.names
    return TiedSet(
        metric=scoring.metric.name,
        confidence_level=level,
        configs=tuple(names[j] for j in order),
        scores=sign * observed[order],
        pvalues=pvalues[order],
        n_candidates=len(scoring.candidates),
    )


RuleLike: TypeAlias = Rule | Callable[[Candidates], str | int] | None


def as_rule(rule: RuleLike | StoredRule | LostFunction) -> Rule:
    """A rule, a callable made a rule, a rule as a file keeps it, or the default `best`."""
    if rule is None:
        return best
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, LostFunction):
        raise rule.error("rule")
    made_by: dict[str, Any] = {"one_standard_error": one_standard_error, "within": within}
    if isinstance(rule, StoredRule):
        return best if rule.name == best.name else _read_rule(rule, made_by)
    if rule in made_by.values():
        remedy = f"Call it: `rule=select.{rule.__name__}(...)`."
        raise invalid("rule", "must be a rule", f"got the function {rule.__name__} itself", remedy)
    if callable(rule):
        check_takes(rule, ("candidates",), "a selection rule")
        return _UserRule(rule)
    raise invalid("rule", "must be `select.best`, `select.one_standard_error(...)` or a callable", got(rule))


def _read_rule(rule: StoredRule, made_by: Mapping[str, Any]) -> Rule:
    if rule.name not in made_by:
        problem = (
            f"these predictions were selected by the rule {rule.name!r}, which this version of outfold does not know"
        )
        raise InputError(problem, remedy="Give another: `rule=select.best`.")
    try:
        made: Rule = made_by[rule.name](**rule.parameters)
    except TypeError as error:
        problem = (
            f"these predictions were selected by the rule {rule.name!r} with parameters that it does not have ({error})"
        )
        raise InputError(problem, remedy="Give another: `rule=select.best`.") from None
    return made


def recorded_rule(oof: Predictions, rule: RuleLike = None) -> Rule:
    """The rule asked for, or else the recorded one."""
    return as_rule(oof.criterion.rule if rule is None else rule)


# -- what predictions record ------------------------------------------------------------------------------------


def criterion_of(oof: Predictions, metric: MetricLike | None, aggregate: Aggregate | None, rule: RuleLike) -> Criterion:
    """The record of the predictions with those parts replaced that are given; refused where they cannot select."""
    check_direction(oof.criterion.metric, metric)
    given = None if metric is None else by_name(metric, oof.target.task)
    if given is not None:
        bind(
            oof.sel(config=0, repeat=0), given
        )  # one configuration tells whether the response is what the metric needs
    return oof.criterion.changed(given, aggregate, None if rule is None else _recorded_form(as_rule(rule)))


def _recorded_form(rule: Rule) -> Rule | StoredRule:
    """A rule of ours by its name, so that equal ones are recorded alike."""
    return rule if rule.stored is None else rule.stored


def criterion_words(oof: Predictions) -> str:
    """What the record says, in words: ``best pooled AUC``."""
    kept = oof.criterion
    metric = metrics.default(oof.target.task, oof.response) if kept.metric is None else name_of(kept.metric)
    score = score_words(metric, _said(oof, kept.aggregate))
    try:
        return as_rule(kept.rule).phrase(score)
    except InputError:  # a file says no more than its name
        return f"picked by {kept.rule.name} on {score}"


def _said(oof: Predictions, aggregate: Aggregate) -> Aggregate | None:
    """The aggregate, where it makes a difference."""
    return aggregate if oof.n_folds > 1 else None


def in_words(scoring: Scoring, rule: Rule) -> str:
    """How the rule selects by these scores: ``best pooled AUC of 150 configurations (15 dropped early)``."""
    oof = scoring.oof
    if oof.n_configs == 1:
        return "the only configuration"
    picked = rule.phrase(score_words(scoring.metric.name, _said(oof, scoring.aggregate)))
    curveless = (
        {"without a curve": len(running(oof)) - len(scoring.candidates)} if scoring.metric.needs == "losses" else {}
    )
    return selection_words(picked, oof.n_configs, lost(oof) | curveless)


def selected(
    oof: Predictions, metric: MetricLike | None = None, aggregate: Aggregate | None = None, rule: RuleLike = None
) -> Selection:
    """The configuration that is selected by the record, or by what is asked for instead."""
    return choose(selecting(oof, metric, aggregate), recorded_rule(oof, rule))


def leaderboard(oof: Predictions, metric: MetricLike | None = None, aggregate: Aggregate | None = None) -> Leaderboard:
    """Candidates by score, best first, ties in the user's order; the others with the reason they have none."""
    scoring = selecting(oof, metric, aggregate)
    scores = scoring.scores()[0]
    se = scoring.standard_errors(scoring.fold_scores())[0]
    ranks = tie_ranks(scores, scoring.metric.greater_is_better)
    order = np.argsort(ranks, kind="stable")
    names = scoring.names
    others = np.setdiff1d(np.arange(oof.n_configs), scoring.candidates)
    left_out = {oof.configs[i]: why_not(oof, i) for i in others}
    try:
        won = choose(scoring, recorded_rule(oof))
    except InputError:  # the metric is undefined for all, or the rule is not at hand
        won = None
    return Leaderboard(
        scoring.metric.name,
        tuple(names[i] for i in order),
        scores[order],
        se[order],
        ranks[order],
        left_out,
        "" if won is None else won.name,
        "" if won is None else won.rule,
        baseline(scoring.metric, oof.target.take(scoring.rows), oof.times),
    )


def choose(scoring: Scoring, rule: RuleLike = None) -> Selection:
    """The configuration the rule picks on all samples that count."""
    rule = as_rule(rule)
    picked = int(rule.pick(scoring)[0])
    metric = scoring.metric
    scores = scoring.scores()
    if picked < 0 and len(scoring.cells) == len(scoring.rows) and scoring.aggregate == "fold":
        problem = f"{metric.name} is undefined in every fold: each holds out one sample only"
        remedy = "Use folds of several samples, or a metric that is a mean over samples, such as accuracy or mse."
        raise InputError(problem, remedy=remedy)
    if picked < 0:
        samples = count(len(scoring.rows), "sample")
        problem = f"{metric.name} is undefined for every configuration on {samples}"
        why = "a class, a comparable pair or any spread of the labels is missing"
        raise InputError(f"{problem}: {why}", remedy="Use another metric or more samples.")
    tied = tied_with_best(scores, metric.greater_is_better)[1][0]
    return Selection(
        name=scoring.names[picked],
        index=int(scoring.candidates[picked]),
        score=float(scores[0, picked]),
        metric=metric.name,
        rule=in_words(scoring, rule),
        aggregate=scoring.aggregate,
        tied=int(tied.sum()),
        n_candidates=len(scoring.candidates),
        params=scoring.params[picked],
        has_best=bool(tied[picked]),
    )


# What estimators call the same thing.
_ALIASES = {"depth": ("depth", "max_depth"), "n_features": ("n_features", "k", "n_features_to_select", "n_components")}


def values_of(parameter: str, params: Mapping[str, Any]) -> Iterator[Any]:
    """The values that a configuration has for a parameter, by its whole name or its last part; none if it lacks it."""
    names = _ALIASES.get(parameter, (parameter,))
    # Parameters of one step only go by their last part: "svc__C" is kept as "C".
    full = (parameter, parameter.rpartition("__")[2])
    return (v for k, v in params.items() if k in full or k.rpartition("__")[2] in names)


def _refuse_other_step(parameter: str, scoring: Scoring) -> None:
    """Refuse ``pca__C`` where only the step ``svc`` has a C: the parameters are kept as ``C``, so that any step would do."""
    short = parameter.rpartition("__")[2]
    if short == parameter or any(parameter in params for params in scoring.params):
        return
    specs: Mapping[str, str] = scoring.oof.provenance.get("specs", {})
    there = {full for name in scoring.names for full in _names_in(specs.get(name, ""))}
    ours = sorted(full for full in there if full.rpartition("__")[2] == short)
    # Predictions that were not collected here have no specs; there the step cannot be checked.
    if ours and not any(full == parameter or full.endswith(f"__{parameter}") for full in ours):
        needed = "must be a parameter for which some configuration has a number"
        remedy = f"Give {' or '.join(repr(name) for name in [*ours[:3], short])}."
        raise invalid("complexity", needed, f"got {parameter!r}, and {short} is a parameter of another step", remedy)


# In the text of an estimator: a named step, an estimator as a parameter, a parameter, and what these may be inside of.
_SPEC = re.compile(
    r"""tuple\((?P<quote>['"])(?P<step>.*?)(?P=quote),|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|"""
    r"""(?P<outer>\w+)=[\w<>]+\.[\w.<>]+\(|(?P<parameter>\w+)=|(?P<open>[(\[{])|(?P<close>[)\]}])"""
)


@lru_cache(maxsize=4096)
def _names_in(spec: str) -> frozenset[str]:
    """The full names of the parameters in the text of an estimator, such as ``svc__C``."""
    found, inside = set(), list[str]()
    for token in _SPEC.finditer(spec):
        parameter = token["outer"] or token["parameter"]
        if parameter:
            found.add("__".join([*filter(None, inside), parameter]))
        if token["close"] and inside:
            inside.pop()
        elif token["step"] is not None or token["outer"] or token["open"]:
            inside.append(token["step"] or token["outer"] or "")
    return frozenset(found)


def _complexity(key: Any, name: str, params: Mapping[str, Any]) -> float:
    """A number, infinity too; None is unlimited."""
    if callable(key):
        value = key(name, params)
    elif isinstance(key, str):
        # A configuration without the parameter is not simpler than one with it: it comes last.
        value = next(values_of(key, params), None)
    elif name in key:
        value = key[name]
    else:
        raise invalid("complexity", "must have an entry for each configuration", f"there is none for {name!r}")
    if value is None:
        return np.inf
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise invalid("complexity", "must give a number for each configuration", f"for {name!r} it gave {value!r}")
    try:
        return float(value)
    except OverflowError:  # a whole number that no float can hold
        return np.inf if value > 0 else -np.inf
