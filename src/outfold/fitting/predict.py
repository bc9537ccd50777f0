"""Reading predictions off fitted models in one form: columns in the order of the classes, codes for labels.

For known classifiers ``predict`` follows from their probabilities or scores, so that it need not be called. Every other
model is asked: it may have a tuned threshold, or Platt's probabilities beside an SVM.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.cells import Response, cut_labels
from ..data.target import LARGEST, look_like_classes
from ..exceptions import InputError, got, invalid
from ..stats.survival import at_times
from .data import n_rows
from .estimators import offers, said_type

ModelKind = Literal["classification", "regression", "survival"]
# What gives survival curves, in scikit-survival.
CURVES = "predict_survival_function"


class BadPrediction(ValueError):  # noqa: N818  (users read its name in the failed cell)
    """A model gave predictions that cannot be used."""


class MemberModel:
    """A model read from a fit that serves several configurations; `member` is the estimator that it equals."""

    member: Any


def kind_of(configs: Mapping[str, Any], y: Any, asked: ModelKind | None = None) -> ModelKind:
    """Classification, regression or survival: as asked, else from the estimators; survival from the labels."""
    said = {name: said_type(estimator) for name, estimator in configs.items()}
    for name, kind in said.items():
        if kind in ("clusterer", "density_estimator"):
            needed = f"configuration {name!r} finds clusters, which are no labels that could be scored"
            raise InputError(needed=needed, remedy="Give a classifier or a regressor.")
    if asked is not None:
        return asked
    if getattr(np.asarray(y).dtype, "names", None) is not None:
        return "survival"
    first: dict[ModelKind, str] = {}
    for name, kind in said.items():
        if kind not in ("classifier", "regressor"):
            kind = "classifier" if offers(configs[name], "predict_proba") else None
        if kind is None and look_like_classes(y):
            needed = f"configuration {name!r} says neither that it is a classifier nor that it is a regressor"
            also = "`collect` also takes `task='classification'` or `task='regression'`."
            remedy = f"Derive its class from ClassifierMixin or RegressorMixin; {also}"
            raise invalid(None, needed, "the labels look like classes", remedy)
        first.setdefault("classification" if kind == "classifier" else "regression", name)
    if len(first) > 1:
        given = f"{first['classification']!r} is a classifier, {first['regression']!r} a regressor"
        raise invalid(None, "all configurations must be classifiers or all regressors", given, "Collect them apart.")
    return next(iter(first))


def choose_response(asked: str, kind: ModelKind, configs: Mapping[str, Any], n_classes: int = 2) -> Response:
    """The response to collect, or an error that names the configuration which cannot give it."""
    allowed: dict[str, tuple[Response, ...]] = {
        "classification": ("proba", "score", "label"),
        "regression": ("value",),
        "survival": ("survival", "risk"),
    }
    if asked != "auto" and asked not in allowed[kind]:
        needed = f"must be {' or '.join(map(repr, ('auto', *allowed[kind])))} for a {kind}"
        raise invalid("response", needed, got(asked))
    if asked == "auto":
        return next(r for r in allowed[kind] if _lacking(r, configs, n_classes) is None)
    response = next(r for r in allowed[kind] if r == asked)
    if response == "survival":  # a model without curves gives its risk; others may come into the same store later
        return response
    lacking = _lacking(response, configs, n_classes)
    if lacking is not None and _scores_pairs(configs[lacking]):
        given = f"{lacking!r} compares classes in pairs"
        remedy = "Use `decision_function_shape='ovr'`, or `response='label'`."
        raise invalid(f"response={asked!r}", "needs a score for every class", given, remedy)
    if lacking is not None:
        needed = f"needs {' or '.join(_METHODS[asked])}, which {lacking!r} does not have"
        having = "(such as SVC(probability=True) or CalibratedClassifierCV)"
        remedy = f"Use `response='auto'`, or a configuration that has it {having}."
        raise invalid(f"response={asked!r}", needed, remedy=remedy)
    return response


# For rows nearer than this to the cut, the model's ``predict`` is called.
_NEAR = 1e-9

_METHODS: dict[str, tuple[str, ...]] = {
    "proba": ("predict_proba",),
    "score": ("decision_function", "predict_proba"),
    "label": ("predict",),
    "value": ("predict",),
    "risk": ("predict",),
    "survival": (CURVES,),
}


def _lacking(response: str, configs: Mapping[str, Any], n_classes: int) -> str | None:
    """The first configuration without a method for this response; of survival curves, if none has it."""
    methods = _METHODS[response]
    if response == "survival":
        return None if any(gives_curves(estimator) for estimator in configs.values()) else next(iter(configs))
    pairs = response == "score" and n_classes > 2
    for name, estimator in configs.items():
        # All of them can predict, that was checked.
        has = any(method == "predict" or offers(estimator, method) for method in methods)
        if not has or (pairs and _scores_pairs(estimator)):
            return name
    return None


def gives_curves(model: Any) -> bool:
    """Whether a model gives a survival curve for each row, fitted or not.

    Some of scikit-survival have the method and refuse: forests that save memory, elastic nets and boosting without a baseline.
    """
    final = _final(model)
    if hasattr(final, "gives_curves"):  # it says so itself
        return bool(final.gives_curves)
    refuses = getattr(final, "low_memory", False) or not getattr(final, "fit_baseline_model", True)
    return hasattr(model, CURVES) and not refuses and getattr(final, "loss", "coxph") == "coxph"


class RowPredictions(NamedTuple):
    """Predictions for some rows: the response, and the labels of ``predict`` where they do not follow from it."""

    values: NDArray[Any]
    labels: NDArray[np.intp] | None

    def cut(self, at: NDArray[np.intp]) -> tuple[RowPredictions, ...]:
        """The predictions for each part of the rows, which are cut before these positions."""
        values = np.split(self.values, at)
        labels = [None] * len(values) if self.labels is None else np.split(self.labels, at)
        return tuple(RowPredictions(*pair) for pair in zip(values, labels, strict=True))


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads one response off fitted models, in the same way for all configurations."""

    response: Response
    classes: NDArray[Any] | None
    times: NDArray[np.float64] | None = None  # of survival curves

    @property
    def width(self) -> int | None:
        """Number of columns of a sample's prediction; None for a single number."""
        if self.response == "survival" and self.times is not None:
            return 1 + len(self.times)
        many = self.classes is not None and len(self.classes) > 2 and self.response in ("proba", "score")
        return len(self.classes) if many and self.classes is not None else None

    def __call__(self, model: Any, X: Any) -> RowPredictions:
        """Predictions for the rows of X: (n,) or (n, K) numbers, or (n,) class codes."""
        return self._read([model], X)[0]

    def together(self, models: Sequence[Any], X: Any) -> list[RowPredictions]:
        """The same for the models of one fit; what can be checked for several at once is checked at once."""
        kinds: dict[Hashable, list[int]] = {}  # models whose predictions are read in the same way
        for i, model in enumerate(models):
            how = self._labelled(model) if self.response in ("proba", "score") else None
            kinds.setdefault((type(model), id(getattr(model, "classes_", None)), how), []).append(i)
        found: dict[int, RowPredictions] = {}
        for at in kinds.values():
            found.update(zip(at, self._read([models[i] for i in at], X), strict=True))
        return [found[i] for i in range(len(models))]

    def _read(self, models: Sequence[Any], X: Any) -> list[RowPredictions]:
        """The predictions of models of one kind; below, M is their number."""
        if self.response == "none":
            return [RowPredictions(np.full(n_rows(X), np.nan), None) for _ in models]
        if self.response == "label":
            return [RowPredictions(self._label(model, X), None) for model in models]
        if self.response in ("value", "risk"):
            return [RowPredictions(values, None) for values in self._finite(self._value(models, X))]
        if self.response == "survival":
            risks = self._finite(self._value(models, X))
            return [RowPredictions(self._with_curve(*pair, X), None) for pair in zip(models, risks, strict=True)]
        by_proba = self.response == "proba" or not hasattr(models[0], "decision_function")
        raw = _call(models, "predict_proba" if by_proba else "decision_function", X)
        columns = self._columns(models[0], raw[0])
        values = self._finite(self._proba(raw, columns, X) if by_proba else self._score(raw, columns, X))
        own = self._own_labels(models, X, raw, columns, values)
        return [RowPredictions(*pair) for pair in zip(values, own, strict=True)]

    def _own_labels(
        self, models: Sequence[Any], X: Any, raw: NDArray[Any], columns: list[int], values: NDArray[Any]
    ) -> list[NDArray[np.intp] | None]:
        """What ``predict`` of each model gives; None where that is the cut of its values."""
        how = self._labelled(models[0])
        if how == "largest":
            # predict takes the raw columns, so ties and rounding are the same.
            own = np.asarray(columns, dtype=np.intp)[raw.argmax(axis=2)]
            return [None if same else mine for mine, same in zip(own, self._are_cut(own, values), strict=True)]
        clear = self._are_clear(values) if how == "cut" else [False] * len(models)
        asked = [None if surely else self._label(model, X) for model, surely in zip(models, clear, strict=True)]
        pairs = zip(asked, values, strict=True)
        return [None if own is None or self._are_cut(own[None], v[None])[0] else own for own, v in pairs]

    def follows(self, model: Any) -> bool:
        """Whether what the model's ``predict`` gives is known to follow from its probabilities or scores."""
        return self._labelled(model) != "asked"

    def _labelled(self, model: Any) -> Literal["largest", "cut", "asked"]:
        """How to know what the model's ``predict`` gives: from its probabilities, from the cut, or by calling it."""
        by_proba = self.response == "proba" or not hasattr(model, "decision_function")
        final = _final(model)
        name = _name(final)
        if by_proba and (name in _LARGEST or (name == _NEIGHBOURS and final.weights == "uniform")):
            return "largest"
        return "cut" if _predicts_by_cut(model, self.response, len(self._known)) else "asked"

    def _are_cut(self, labels: NDArray[np.intp], values: NDArray[Any]) -> NDArray[np.bool_]:
        """For each model, whether the labels follow from its values."""
        cut = cut_labels(values, values.ndim == 3, self.threshold)
        return np.asarray((labels == cut).all(axis=1))

    def _are_clear(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """For each model, whether no row is so near the cut that rounding could put it on the other side."""
        if values.ndim == 2:
            gap = np.abs(values - self.threshold)
        else:
            top = np.partition(values, -2, axis=2)
            gap = top[..., -1] - top[..., -2]
        return np.asarray(gap.min(axis=1, initial=np.inf) > _NEAR)

    @property
    def threshold(self) -> float:
        """Where scores of two classes are cut."""
        return 0.5 if self.response == "proba" else 0.0

    def _finite(self, values: NDArray[Any]) -> NDArray[Any]:
        usable = np.abs(values) <= LARGEST if self.response == "value" else np.isfinite(values)
        if not usable.all():
            bad = ~usable.reshape(-1, values.shape[1], int(np.prod(values.shape[2:]))).all(axis=2)
            worst = int(bad.sum(axis=1).max())
            limit = f", or beyond {LARGEST:g}" if np.isfinite(values).all() else ""
            raise BadPrediction(f"{worst} of {bad.shape[1]} predictions are NaN or infinite{limit}")
        return np.ascontiguousarray(values)

    def _value(self, models: Sequence[Any], X: Any) -> NDArray[Any]:
        values = _call(models, "predict", X)
        return _shaped(values[..., 0] if values.ndim == 3 and values.shape[2] == 1 else values, (n_rows(X),))

    def _with_curve(self, model: Any, risks: NDArray[Any], X: Any) -> NDArray[Any]:
        """(n, 1 + T) the risk and the survival curve at the times; NaN for a model that gives no curve."""
        assert self.times is not None
        out = np.full((len(risks), 1 + len(self.times)), np.nan)
        out[:, 0] = risks
        if gives_curves(model):
            out[:, 1:] = survival_curves(model, X, self.times)
        return out

    def _label(self, model: Any, X: Any) -> NDArray[Any]:
        labels = _shaped(np.asarray(model.predict(X))[None], (n_rows(X),))[0]
        position = self._position
        try:
            return np.array([position[label] for label in labels.tolist()], dtype=np.intp)
        except KeyError as error:
            raise BadPrediction(f"predicted the label {error.args[0]!r}, which is none of the classes") from None

    def _proba(self, values: NDArray[Any], columns: list[int], X: Any) -> NDArray[Any]:
        values = _shaped(values, (n_rows(X), len(columns)))
        lowest, highest = values.min(initial=0.0), values.max(initial=1.0)
        if lowest < -1e-9 or highest > 1 + 1e-9:
            raise BadPrediction(f"predict_proba gave values from {lowest:.4g} to {highest:.4g}, outside [0, 1]")
        n_classes = len(self._known)
        if n_classes == 2:
            values = values[..., columns.index(1)] if 1 in columns else np.zeros(values.shape[:2])
            return values - 0.5 if self.response == "score" else values
        if values.size and np.abs(values.sum(axis=2) - 1).max() > 1e-4:
            raise BadPrediction("the class probabilities of a sample do not sum to 1")
        # A class that the training part lacks has probability 0.
        out = np.zeros((*values.shape[:2], n_classes))
        out[..., columns] = values
        return out

    def _score(self, values: NDArray[Any], columns: list[int], X: Any) -> NDArray[Any]:
        known = self._known
        if len(columns) < len(known):
            lacks = next(c for i, c in enumerate(known) if i not in columns)
            raise BadPrediction(f"the training part lacks class {lacks!s}, so the model has no score for it")
        if len(known) == 2:
            values = _shaped(values[..., 0] if values.ndim == 3 and values.shape[2] == 1 else values, (n_rows(X),))
            # decision_function is the score of the model's second class.
            return values if columns[1] == 1 else -values
        out = np.empty((len(values), n_rows(X), len(known)))
        out[..., columns] = _shaped(values, out.shape[1:])
        return out

    @cached_property
    def _known(self) -> list[Any]:
        assert self.classes is not None
        return list(self.classes.tolist())

    @cached_property
    def _position(self) -> dict[Any, int]:
        return {c: i for i, c in enumerate(self._known)}

    def _columns(self, model: Any, values: NDArray[Any]) -> list[int]:
        """The class code of every column of the model."""
        known = self._known
        own = getattr(model, "classes_", None)
        if own is None:
            if values.ndim == 2 and values.shape[1] != len(known):
                columns = f"{values.shape[1]} columns for {len(known)} classes"
                raise BadPrediction(f"{columns}, and no classes_ to tell them apart")
            return sorted(range(len(known)), key=known.__getitem__)
        try:
            return [self._position[c] for c in np.asarray(own).tolist()]
        except (KeyError, TypeError):
            raise BadPrediction(f"the model's classes_ {own!s} are not the classes of y") from None


def survival_curves(model: Any, X: Any, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, T) the probability of each row to have no event until each time."""
    steps = getattr(model, CURVES)(X)  # step functions of the same training times
    if not len(steps):
        return np.empty((0, len(times)))
    curves = np.stack([np.asarray(step.a * step.y + step.b, dtype=np.float64) for step in steps])
    found = at_times(np.asarray(steps[0].x, dtype=np.float64), curves, times)
    lowest, highest = found.min(initial=0.0), found.max(initial=1.0)
    if not (lowest >= -_NEAR and highest <= 1 + _NEAR):
        raise BadPrediction(f"survival probabilities from {lowest:.4g} to {highest:.4g}, outside [0, 1]")
    return np.clip(found, 0.0, 1.0)


def _call(models: Sequence[Any], method: str, X: Any) -> NDArray[Any]:
    """What this method of each model gives, (M, ...)."""
    return np.stack([np.asarray(getattr(model, method)(X), dtype=np.float64) for model in models])


def _shaped(values: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The values of M models, if those of each have this shape."""
    if values.shape[1:] != shape:
        raise BadPrediction(f"predictions of shape {values.shape[1:]} where {shape} was expected")
    return values


def _classes(**names: str) -> frozenset[tuple[str, str]]:
    """Classes of scikit-learn, by package."""
    return frozenset((f"sklearn.{package}", name) for package, text in names.items() for name in text.split())


# predict is the first largest of the columns of predict_proba, literally.
_LARGEST = _classes(
    tree="DecisionTreeClassifier ExtraTreeClassifier", ensemble="RandomForestClassifier ExtraTreesClassifier"
) | {("lightgbm.sklearn", "LGBMClassifier")}
# predict, predict_proba and decision_function are monotone in each other: they agree up to rounding at the cut.
_MONOTONE = _classes(
    linear_model="LogisticRegression LogisticRegressionCV SGDClassifier Perceptron RidgeClassifier RidgeClassifierCV",
    svm="LinearSVC",
    naive_bayes="GaussianNB BernoulliNB MultinomialNB ComplementNB",
    discriminant_analysis="LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    ensemble="GradientBoostingClassifier HistGradientBoostingClassifier",
    neural_network="MLPClassifier",
) | {("xgboost.sklearn", "XGBClassifier")}
# predict follows only the sign of the binary score.
_BINARY_SCORE = _classes(svm="SVC NuSVC")
_NEIGHBOURS = ("sklearn.neighbors", "KNeighborsClassifier")
_PIPELINE = ("sklearn.pipeline", "Pipeline")


def _predicts_by_cut(model: Any, response: str, n_classes: int) -> bool:
    """Whether predict is the cut of this response for every row that is not on the boundary."""
    final = _final(model)
    name = _name(final)
    # Votes weighted by distance, added up in another order than those that probabilities are made of.
    votes = name == _NEIGHBOURS and isinstance(final.weights, str)
    return votes or name in _MONOTONE or (name in _BINARY_SCORE and response == "score" and n_classes == 2)


def _scores_pairs(model: Any) -> bool:
    """Whether decision_function gives a column for each pair of classes, which no metric of scores can read."""
    final = _final(model)
    return _name(final) in _BINARY_SCORE and final.decision_function_shape == "ovo"


def _final(model: Any) -> Any:
    if isinstance(model, MemberModel):
        model = model.member
    while _name(model) == _PIPELINE:
        model = model.steps[-1][1]
    return model


def _name(model: Any) -> tuple[str, str]:
    """Package and class; a user's subclass of a known class is not known."""
    kind = type(model)
    return _package(kind.__module__), kind.__qualname__


@lru_cache(maxsize=256)
def _package(module: str) -> str:
    return ".".join(module.split(".")[:2])
