"""How a search scores: scikit-learn's `scoring` as metrics of stored predictions, and the response they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import metrics
from ..data.predictions import Predictions
from ..data.target import Target
from ..exceptions import InputError
from ..fitting.configs import Configs
from ..metrics import Metric, MetricLike
from .matching import fast_name, positive_class, response_methods, with_positive
from .standin import OneScore, Replayed

# GridSearchCV without `scoring` uses the estimator's `score`: these, for nearly all estimators.
_OWN_SCORE = {"classification": "accuracy", "regression": "r2", "survival": "concordance"}
# Names of this package for what scikit-learn calls otherwise, with its sign.
_SCIKIT_NAMES = {
    "mcc": "matthews_corrcoef",
    "log_loss": "neg_log_loss",
    "brier": "neg_brier_score",
    "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "error": "accuracy",
}


@dataclass(frozen=True, eq=False)
class Scorers:
    """What `scoring` and `refit` mean.

    Attributes
    ----------
    given
        What was asked for by the name in ``cv_results_``, ``"score"`` where there is one only.
    scorers
        The same as scikit-learn's scorers, for ``score``.
    main
        The one that selects; None where none was named.
    multimetric
        Whether several were asked for by name.
    whole
        The function that returns all of them, where it is one.
    """

    given: dict[str, Any]
    scorers: dict[str, Any]
    main: str | None
    multimetric: bool = False
    whole: Any = None

    @property
    def scorer(self) -> Any:
        """What ``scorer_`` is: a dict of scorers, or the only one."""
        if self.whole is not None:
            return self.whole
        return self.scorers if self.multimetric else self.scorers["score"]

    def positive(self, target: Target) -> Any:
        """The label that the scorer which selects takes as positive, or the first that takes one; None for none."""
        first = [] if self.main is None else [self.main]
        found = [positive_class(self.scorers[name], target) for name in (*first, *self.scorers)]
        position = next((p for p in found if p is not None), None)
        return None if position is None or target.classes is None else target.classes[position]

    def metrics(self, kind: str, target: Target, response: str | None = None) -> dict[str, Metric]:
        """The metrics for these labels; `response` is what plain functions are called with."""
        return {name: metrics.get(self.metric(name, kind, target, response), target.task) for name in self.given}

    def metric(self, name: str, kind: str, target: Target, response: str | None = None) -> MetricLike:
        """One scorer as a metric of stored predictions: by name where a fast one is the same."""
        asked, scorer = self.given[name], self.scorers[name]
        if asked is None:
            return _OWN_SCORE[kind]
        if not hasattr(scorer, "_score_func"):
            return asked if isinstance(asked, str) else Replayed(scorer, response or "any").metric()
        fast = asked if isinstance(asked, str) else fast_name(scorer)
        if fast == "average_precision" and target.task == "multiclass":
            return metrics.make(scorer._score_func, name=fast, needs="score")
        position = positive_class(scorer, target)
        if position == 0 and target.classes is not None:  # another scorer's positive class is the last
            return with_positive(scorer, target.classes[0])  # type: ignore[no-any-return]
        return scorer if fast is None else fast

    def expanded(self, oof: Predictions, refit: Any) -> Scorers:
        """With one scorer for each score of a function that returns several of them."""
        function = self.given.get("score")
        if self.multimetric or not callable(function) or hasattr(function, "_score_func"):
            return self
        function = function.function if isinstance(function, OneScore) else function
        keys = Replayed(function, oof.response).keys(oof)
        if keys is None:
            return self
        parts = {key: OneScore(function, key) for key in keys}
        return Scorers(dict(parts), dict(parts), _main(refit, parts), True, function)


def read_scoring(scoring: Any, refit: Any, estimator: Any) -> Scorers:
    """Scorers from what GridSearchCV takes: None, a name, a scorer, a function, or several of them."""
    from sklearn.metrics import check_scoring

    if scoring is None:
        _refuse_other_score(estimator)
        return Scorers({"score": None}, {"score": check_scoring(estimator)}, "score")
    if isinstance(getattr(scoring, "_scorers", None), Mapping):  # what check_scoring makes of several names
        scoring = dict(scoring._scorers)
    if isinstance(scoring, str) or callable(scoring):
        scorer = _scorer(scoring)
        if isinstance(refit, str) and callable(scoring) and not hasattr(scoring, "_score_func"):
            scorer = scoring = OneScore(scoring, refit)
        return Scorers({"score": scoring}, {"score": scorer}, "score")
    if not isinstance(scoring, Mapping):
        given = list(scoring) if isinstance(scoring, (Sequence, set, frozenset)) else []
        if not given or not all(isinstance(name, str) for name in given) or len(set(given)) < len(given):
            raise InputError(
                f"scoring must be a name, a scorer, a list of different names or a dict of scorers; got {scoring!r}."
            )
        scoring = {name: name for name in given}
    if not scoring or not all(isinstance(name, str) for name in scoring):
        raise InputError(f"scoring must name every scorer by text, such as {{'auc': 'roc_auc'}}; got {scoring!r}.")
    return Scorers(dict(scoring), {name: _scorer(s) for name, s in scoring.items()}, _main(refit, scoring), True)


def _refuse_other_score(estimator: Any) -> None:
    """Generalised linear models score themselves by their deviance, which is not the R2 it would be taken for."""
    from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor

    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    powers = ((PoissonRegressor, 1), (GammaRegressor, 2), (TweedieRegressor, getattr(estimator, "power", 0)))
    power = next((power for kind, power in powers if isinstance(estimator, kind)), None)
    if power is not None:
        raise InputError(
            f"{type(estimator).__name__}'s `score` is the share of deviance explained, not R2; say what selects, such as "
            f"scoring=make_scorer(d2_tweedie_score, power={power})."
        )


def _main(refit: Any, scoring: Mapping[str, Any]) -> str | None:
    if refit is False or callable(refit):
        return None
    if isinstance(refit, str) and refit in scoring:
        return refit
    raise InputError(
        "with several scorers refit must name the one that selects, be False, or be a function of cv_results_; "
        f"got {refit!r}. The names are {', '.join(scoring)}."
    )


def _scorer(asked: Any) -> Any:
    """Scikit-learn's scorer of a name; a scorer or function as it is."""
    from sklearn.metrics import get_scorer, get_scorer_names

    if callable(asked):
        return asked
    if not isinstance(asked, str):
        raise InputError(f"a scorer is a name, a scorer made by make_scorer or a function; got {asked!r}.")
    if asked in get_scorer_names():
        return get_scorer(asked)
    if asked in _SCIKIT_NAMES:
        raise InputError(
            f"scores of a search are better when greater; give scoring={_SCIKIT_NAMES[asked]!r}, not {asked!r}."
        )
    if asked == "concordance":
        return _own_score
    metrics.get(asked)  # says which names are near
    raise InputError(f"scoring={asked!r} is not a scorer of scikit-learn; see sklearn.metrics.get_scorer_names().")


def _own_score(estimator: Any, X: Any, y: Any) -> float:
    return float(estimator.score(X, y))


# -- metrics --------------------------------------------------------------------------------------------


def choose_response(scorers: Scorers, found: Mapping[str, Metric], kind: str, configs: Configs) -> str:
    """The least that all metrics can be taken of, read off models the way scikit-learn's scorers do."""
    if kind != "classification":
        return "auto"
    needs = {name: _need(scorers.scorers[name], metric) for name, metric in found.items()}
    for response, methods in _METHODS.items():
        name = next((name for name, need in needs.items() if need == response), None)
        if name is None:
            continue
        lacking = next((c for c, e in configs.items() if not any(hasattr(e, m) for m in methods)), None)
        if lacking is not None:
            raise InputError(
                f"{found[name].name} needs {' or '.join(methods)}, which {lacking!r} does not have. Use a scorer of "
                "labels such as 'accuracy', or an estimator that has it (CalibratedClassifierCV gives probabilities)."
            )
        # Without a decision_function, probabilities are what scikit-learn ranks by, and they serve more metrics.
        ranks_by_proba = response == "score" and not any(hasattr(e, "decision_function") for e in configs.values())
        return "proba" if ranks_by_proba else response
    return "auto" if {"any", "model"} & set(needs.values()) else "label"


_METHODS = {"proba": ("predict_proba",), "score": ("decision_function", "predict_proba")}


def _need(scorer: Any, metric: Metric) -> str:
    # One-against-rest areas rank decision values as well as probabilities; scikit-learn's scorer takes the latter.
    if metric.needs == "score" and response_methods(scorer)[0] == "predict_proba":
        return "proba"
    return metric.needs
