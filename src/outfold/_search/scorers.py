"""How a search scores: scikit-learn's `scoring` as metrics of stored predictions, and the response they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from .._configs import Configs
from .._kernels.loops import LoopKernel
from .._predictions import Predictions
from .._target import Target
from ..exceptions import InputError
from ..metrics import Metric, MetricLike

# GridSearchCV without `scoring` takes the estimator's own score: these, for nearly all estimators.
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
# Scorers of scikit-learn that are fast metrics here.
_FAST = (
    *("accuracy", "balanced_accuracy", "f1", "f1_macro", "matthews_corrcoef", "roc_auc", "roc_auc_ovr", "roc_auc_ovo"),
    *("average_precision", "neg_log_loss", "neg_brier_score", "r2", "neg_mean_squared_error"),
    *("neg_root_mean_squared_error", "neg_mean_absolute_error"),
)


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
    """

    given: dict[str, Any]
    scorers: dict[str, Any]
    main: str | None
    multimetric: bool = False

    @property
    def scorer(self) -> Any:
        """What ``scorer_`` is: a dict of scorers, or the only one."""
        return self.scorers if self.multimetric else self.scorers["score"]

    def refuse_own_labels(self, oof: Predictions) -> None:
        """A plain function sees probabilities or scores cut in the usual way; models with a cut of their own need another."""
        plain = [name for name, asked in self.given.items() if callable(asked) and not hasattr(asked, "_score_func")]
        if plain and oof.labels is not None:
            raise InputError(
                f"the scorer {plain[0]!r} is a function of (estimator, X, y), and the labels these estimators predict are not "
                "those of their probabilities. Use a scorer by name, such as 'accuracy', or make_scorer."
            )

    def metrics(self, kind: str, task: Any, response: str | None = None) -> dict[str, Metric]:
        """The metrics for this task; `response` is what plain functions are called with."""
        return {name: metrics.get(as_metric(asked, kind, response), task) for name, asked in self.given.items()}


def read_scoring(scoring: Any, refit: Any, estimator: Any) -> Scorers:
    """Scorers from what GridSearchCV takes: None, a name, a scorer, a function, or several of them."""
    from sklearn.metrics import check_scoring

    if scoring is None:
        return Scorers({"score": None}, {"score": check_scoring(estimator)}, "score")
    if isinstance(scoring, str) or callable(scoring):
        return Scorers({"score": scoring}, {"score": _scorer(scoring)}, "score")
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


def as_metric(asked: Any, kind: str, response: str | None = None) -> MetricLike:
    """A scorer as a metric of stored predictions: by name where a fast one is the same."""
    if asked is None:
        return _OWN_SCORE[kind]
    if isinstance(asked, str):
        return asked
    if not hasattr(asked, "_score_func"):
        return _Replayed(asked, response or "any").metric()
    return next((name for name in _FAST if _same(asked, name)), asked)


def _same(scorer: Any, name: str) -> bool:
    from sklearn.metrics import get_scorer

    other = get_scorer(name)
    parts = ("_score_func", "_kwargs", "_sign", "_response_method")
    return all(getattr(scorer, part, None) == getattr(other, part) for part in parts)


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
    return "auto" if "any" in needs.values() else "label"


_METHODS = {"proba": ("predict_proba",), "score": ("decision_function", "predict_proba")}


def _need(scorer: Any, metric: Metric) -> str:
    method = getattr(scorer, "_response_method", None)
    # One-against-rest areas rank decision values as well as probabilities; scikit-learn's scorer takes the latter.
    return "proba" if metric.needs == "score" and method == "predict_proba" else metric.needs


# -- functions of (estimator, X, y) ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Replayed:
    """A scorer that is a plain function of (estimator, X, y), called with stored predictions instead of a model."""

    function: Callable[..., Any]
    response: str

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def metric(self) -> Metric:
        def kernel(target: Target, predictions: NDArray[Any]) -> LoopKernel:
            def call(labels: NDArray[Any], prediction: NDArray[Any], counts: NDArray[Any]) -> float:
                rows = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
                return self(Replay(prediction[rows], target.classes, self.response), labels[rows])

            return LoopKernel(call, target.labels, predictions)

        def reference(target: Target, prediction: NDArray[Any], weights: NDArray[Any] | None = None) -> float:
            counts = np.ones(len(target), dtype=np.intp) if weights is None else np.asarray(weights)
            return float(kernel(target, prediction[None]).scores(counts[None])[0, 0])

        return Metric(self.name, True, "any", metrics.EVERY, kernel, reference, looped=True)

    def __call__(self, model: Replay, labels: NDArray[Any]) -> float:
        try:
            value = self.function(model, Unseen(len(labels)), labels)
        except Exception as error:
            raise InputError(
                f"the scorer {self.name} cannot score stored predictions: {type(error).__name__}: {error}. "
                "Make it a function of labels and predictions, with sklearn.metrics.make_scorer."
            ) from error
        if isinstance(value, Mapping):
            raise InputError(f"the scorer {self.name} returns several scores; give scoring a dict of scorers instead.")
        return float(value)


@dataclass(frozen=True, eq=False)
class Replay:
    """Stands in for a fitted model in a scorer: answers with the predictions it made for the held-out rows."""

    stored: NDArray[Any]
    classes_: NDArray[Any] | None
    response: str

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels or values."""
        if self.classes_ is None:
            return self.stored
        if self.response == "label":
            codes = self.stored
        elif self.stored.ndim == 2:
            codes = self.stored.argmax(axis=1)
        else:
            codes = self.stored > (0.5 if self.response == "proba" else 0.0)
        return np.asarray(self.classes_[np.asarray(codes, dtype=np.intp)])

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The class probabilities, where they were stored."""
        if self.response != "proba":
            raise AttributeError("predict_proba: some configurations have none, so none were stored")
        return self.stored if self.stored.ndim == 2 else np.stack([1 - self.stored, self.stored], axis=1)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The scores, where they were stored."""
        if self.response != "score":
            raise AttributeError("decision_function: probabilities or labels were stored instead; use predict_proba")
        return self.stored


class Unseen:
    """Stands in for X in a scorer, which may pass it on to the model and count its rows, and nothing else."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"X is not kept with the predictions (asked for {name})")
