"""A model in two or three sentences for a reader, instead of the text of a pipeline."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from .. import formatting

_C, _LEAF = {"C": "C = {}"}, {"min_samples_leaf": "at least {} in a leaf"}
_KERNEL = {"kernel": "{} kernel", **_C, "gamma": "gamma = {}"}
_NEIGHBOURS = {"n_neighbors": "{} of them", "weights": "{} weights"}
_TREE = {"max_depth": "depth at most {}", **_LEAF}
_FOREST = {"n_estimators": "{} trees", "max_features": "{} at each split", **_LEAF}
_RATE = {"learning_rate": "learning rate {}"}
_HIST = {"max_iter": "{} rounds", **_RATE, "max_leaf_nodes": "trees of at most {} leaves"}
_LIGHT = {"n_estimators": "{} rounds", **_RATE, "num_leaves": "trees of at most {} leaves"}
_RANDOMIZED = "forest of extremely randomized trees"
_SURVIVAL = "random survival forest"
# How a model is called, and which of its parameters a reader wants to know; those that are None are not told.
_MODELS: dict[str, tuple[str, dict[str, str]]] = {
    "Ridge": ("ridge regression", {"alpha": "penalty {}"}),
    "ElasticNet": ("linear regression with an elastic net", {"alpha": "penalty {}", "l1_ratio": "L1 share {}"}),
    "LinearDiscriminantAnalysis": ("linear discriminant analysis", {"shrinkage": "shrinkage {}"}),
    "LinearSVC": ("linear support vector machine", _C),
    "LinearSVR": ("linear support vector regression", _C),
    "SVC": ("support vector machine", _KERNEL),
    "SVR": ("support vector regression", _KERNEL),
    "GaussianNB": ("naive Bayes with normal densities", {"var_smoothing": "smoothing {}"}),
    "KernelNaiveBayes": ("naive Bayes with kernel densities", {"bandwidth": "bandwidth {}"}),
    "KNeighborsClassifier": ("vote of the nearest neighbours", _NEIGHBOURS),
    "KNeighborsRegressor": ("mean of the nearest neighbours", _NEIGHBOURS),
    "DecisionTreeClassifier": ("decision tree", _TREE),
    "DecisionTreeRegressor": ("regression tree", _TREE),
    "HellingerTreeClassifier": ("decision tree by the Hellinger distance", _TREE),
    "LaplaceTreeClassifier": ("decision tree with Laplace's rule", _TREE),
    "RandomForestClassifier": ("random forest", _FOREST),
    "RandomForestRegressor": ("random forest", _FOREST),
    "ExtraTreesClassifier": (_RANDOMIZED, _FOREST),
    "ExtraTreesRegressor": (_RANDOMIZED, _FOREST),
    "HistGradientBoostingClassifier": ("gradient boosting of histograms", _HIST),
    "HistGradientBoostingRegressor": ("gradient boosting of histograms", _HIST),
    "LGBMClassifier": ("gradient boosting by LightGBM", _LIGHT),
    "LGBMRegressor": ("gradient boosting by LightGBM", _LIGHT),
    "CoxPHSurvivalAnalysis": ("Cox regression with a ridge penalty", {"alpha": "penalty {}"}),
    "CoxnetSurvivalAnalysis": (
        "Cox regression with an elastic net",
        {"alphas": "penalty {}", "l1_ratio": "L1 share {}"},
    ),
    "RandomSurvivalForest": (_SURVIVAL, _FOREST),
    "SurvivalForest": (_SURVIVAL, _FOREST),
    "SurvivalExtraTrees": ("forest of extremely randomized survival trees", _FOREST),
    "SurvivalSVM": ("support vector machine for survival times", {"alpha": "penalty {}"}),
    "GradientBoostingSurvivalAnalysis": (
        "gradient boosting of survival times",
        {"n_estimators": "{} rounds", **_RATE, "max_depth": "trees of depth at most {}"},
    ),
}
_KERNELS = {"rbf": "Gaussian", "poly": "polynomial", "sigmoid": "sigmoid", "linear": "linear"}
_WEIGHTS = {"uniform": "equal", "distance": "inverse distance as"}
_SHARES = {"sqrt": "as many columns as the square root of their number"}
# Parameters that say how a model is fitted, and not which model it is; or that have their own words.
_NOT_TOLD = {"n_jobs", "verbose", "max_iter", "early_stopping", "solver", "dual", "loss", "class_weight", "max_samples"}
_NOT_TOLD |= {"low_memory", "fit_baseline_model", "tol"}


def describe(pipeline: Any, columns: Any = None) -> str:
    """A configuration of a ready space in words.

    Parameters
    ----------
    pipeline : estimator
        A configuration, fitted or not. Of a model that the ready spaces do not have, its class is named, with the parameters
        that differ from their defaults.
    columns : Columns, or mapping of str to kind, optional
        What the columns of the table are, to count booleans apart from numbers. By default the pipeline tells.

    Returns
    -------
    str
        Two or three sentences.

    Examples
    --------
    >>> import numpy as np
    >>> from outfold.learners import describe, spaces
    >>> print(describe(spaces.classification(np.zeros((100, 4)))["logit(C=0.1)"]))
    Logistic regression with an L2 penalty (C = 0.1) on 4 numbers. The columns are scaled to mean 0 and standard deviation 1.
    """
    steps = dict(getattr(pipeline, "steps", [("model", pipeline)]))
    model = list(steps.values())[-1]
    kinds = getattr(columns, "kinds", columns)
    found = _columns_in_words(steps.get("columns"), kinds)
    inner, around = _unwrapped(model)
    first = f"{_model_in_words(inner)}{f' on {found}' if found else ''}."
    return " ".join([first[0].upper() + first[1:], *_steps_in_words(steps), *around])


# -- the model -------------------------------------------------------------------------------------------


def _model_in_words(model: Any) -> str:
    kind = type(model).__name__
    if kind == "LogisticRegression":
        params = model.get_params(deep=False)
        return f"logistic regression {_penalty(params)}{_balance(params)}"
    if kind not in _MODELS:
        return _class_in_words(model)
    name, wanted = _MODELS[kind]
    params = model.get_params(deep=False)
    told = [words.format(_value(p, params[p])) for p, words in wanted.items() if params.get(p) is not None]
    told += [f"{p} = {formatting.compact(value)}" for p, value in _changed(model).items() if p not in wanted]
    return f"{name} ({', '.join(told)}){_balance(params)}"


def _changed(model: Any) -> dict[str, Any]:
    """Parameters of the model that differ from their defaults."""
    defaults = inspect.signature(type(model)).parameters
    params = model.get_params(deep=False)
    kept = {p: value for p, value in params.items() if p in defaults and p not in _NOT_TOLD and p != "random_state"}
    return {
        p: value for p, value in kept.items() if isinstance(value, (int, float, str)) and value != defaults[p].default
    }


def _unwrapped(model: Any) -> tuple[Any, list[str]]:
    """The model inside of one that calibrates it or scales its target, and a sentence on what is around it."""
    if type(model).__name__ == "CalibratedClassifierCV":
        return model.estimator, ["A sigmoid, fitted by inner folds, turns its scores into probabilities."]
    if type(model).__name__ == "TransformedTargetRegressor":
        return model.regressor, ["The target is scaled in the same way before the fit."]
    return model, []


def _penalty(params: Mapping[str, Any]) -> str:
    strength, share = params["C"], params.get("l1_ratio") or 0.0
    if strength == float("inf"):
        return "without a penalty"
    size = f"(C = {formatting.compact(strength)})"
    if share == 1.0:
        return f"with an L1 penalty {size}"
    return f"with an L2 penalty {size}" if share == 0.0 else f"with an elastic net of L1 share {share:g} {size}"


def _balance(params: Mapping[str, Any]) -> str:
    return ", with classes of equal weight" if str(params.get("class_weight")).startswith("balanced") else ""


def _value(parameter: str, value: Any) -> str:
    named = {"kernel": _KERNELS, "weights": _WEIGHTS, "max_features": _SHARES}.get(parameter, {})
    if isinstance(value, str):
        return named.get(value, value)
    if parameter == "max_features" and isinstance(value, float):
        return "all columns" if value == 1.0 else f"{value:.0%} of the columns"
    return formatting.compact(value[0] if isinstance(value, list) and len(value) == 1 else value)


def _class_in_words(model: Any) -> str:
    from sklearn.base import clone

    text = " ".join(repr(clone(model)).split()) if hasattr(model, "get_params") else type(model).__name__
    return formatting.shorten(text, 200)


# -- the columns -----------------------------------------------------------------------------------------


def _columns_in_words(step: Any, kinds: Mapping[str, str] | None) -> str:
    parts = {name: (transformer, list(of)) for name, transformer, of in _transformers(step)}
    words = []
    if "numbers" in parts:
        imputer, of = parts["numbers"]
        imputer = dict(getattr(imputer, "steps", [("fill", imputer)]))["fill"]
        filled = " (missing ones replaced by the median, with an indicator)" if imputer.add_indicator else ""
        booleans = [column for column in of if (kinds or {}).get(column) == "boolean"]
        counted = [(len(of) - len(booleans), "number"), (len(booleans), "yes-or-no column")]
        words.append(_listed([formatting.count(n, what) for n, what in counted if n]) + filled)
    if "categories" in parts:
        encoder, of = parts["categories"]
        words.append(
            f"{formatting.count(len(of), 'category', 'categories')} (one column for each level{_rare(encoder)})"
        )
    if "dates" in parts:
        _, of = parts["dates"]
        words.append(f"{formatting.count(len(of), 'date')} (parts of each date, and days since the first one)")
    if "texts" in parts:
        transformer, of = parts["texts"]
        words.append(f"{formatting.count(len(of), 'text')} (tf-idf of up to {transformer.n_words:,} words)")
    return _listed(words)


def _transformers(step: Any) -> list[Any]:
    """Of the step that makes numbers of the columns, also where it selects them."""
    return list(getattr(getattr(step, "columns", step), "transformers", []))


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _rare(encoder: Any) -> str:
    least = encoder.min_frequency
    if least is None:
        return ""
    limit = f"in fewer than {least} rows" if isinstance(least, int) else f"in less than {least:.0%} of the rows"
    return f", levels {limit} together"


_SELECTIONS = {
    "Univariate": "Before the model, a test of each column at level {alpha:g} selects the columns.",
    "SES": "Before the model, SES at level {alpha:g} with sets of at most {max_conditions} selects the columns.",
    "PCA": "Before the model, principal components that have {n_components:.0%} of the variance replace the columns.",
    "QuantileTransformer": "Before the model, ranks between 0 and 1 replace the values.",
}


def _steps_in_words(steps: Mapping[str, Any]) -> list[str]:
    out = []
    inside = _transformers(steps.get("columns"))
    if "scale" in steps:
        out.append("The columns are scaled to mean 0 and standard deviation 1.")
    elif any(hasattr(transformer, "steps") for _, transformer, _ in inside):
        out.append("Numbers are scaled to mean 0 and standard deviation 1.")
    between = list(steps.values())[:-1]
    # A step that selects whole columns brings them to numbers first.
    for step in [getattr(step, "selector", step) for step in between]:
        words = _SELECTIONS.get(type(step).__name__)
        if words is not None:
            out.append(words.format(**step.get_params(deep=False)))
    return out
