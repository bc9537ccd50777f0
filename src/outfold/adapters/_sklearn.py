"""scikit-learn: searches that are fitted already, and the output of ``cross_val_predict``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import is_whole_number
from ..data.cells import State
from ..data.criterion import name_of
from ..data.notes import Note
from ..data.plan import Plan
from ..data.predictions import Predictions
from ..data.splitting import Splits
from ..data.target import Target, encode
from ..docstrings import fill_with
from ..exceptions import InputError, got, invalid
from ..io.convert import from_arrays
from ..search.space import Space, make_space
from ._fold_scores import Floats, scores_only

_document = fill_with(
    {
        "search": "search : GridSearchCV, RandomizedSearchCV or a halving search\n    The fitted search.",
        "X": "X : array-like\n    The samples that the search was fitted on.",
        "y": "y : array-like or None\n    Their labels.",
        "groups": "groups : array-like or None\n    The groups that were given to ``fit``.",
        "fitted": (
            ">>> from sklearn.datasets import load_iris\n>>> from sklearn.model_selection import GridSearchCV\n"
            ">>> from sklearn.neighbors import KNeighborsClassifier\n>>> import outfold as of\n"
            ">>> X, y = load_iris(return_X_y=True)\n"
            '>>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, cv=10).fit(X, y)'
        ),
    }
)


@_document
def from_search(search: Any, X: Any, y: Any = None, *, groups: Any = None) -> Predictions:
    """The scores of all candidates in all folds, from a search of scikit-learn that is fitted already.

    No model is fitted. ``cv_results_`` keeps scores and no predictions. `estimate.bbc_f` (one partition of 5 folds or more),
    `estimate.tt` and the tests of fold scores such as `compare.t_corrected` work on them; `collect_search` gives predictions,
    which allow everything else. All scores have the sign of scikit-learn's scorers: greater is better. Where several scorers
    were used, the one that `refit` names selects. The best mean selects, also if `refit` is a function.

    A halving search compares its last candidates on the most samples. These have scores; the others count as dropped. Where its
    resource is a parameter of the estimator, all candidates get the value of the last round.

    Parameters: {search, X, y, groups}
    Returns: {predictions}
    Examples: {fitted}
    >>> oof = of.adapters.from_search(search, X, y)
    >>> found = of.estimate.bbc_f(oof)
    >>> found.value < found.naive
    True
    """
    if isinstance(getattr(search, "oof_", None), Predictions):
        return search.oof_  # type: ignore[no-any-return]
    results = _results(search)
    cv = _cv_of(search, y)
    splits = _splits(cv, X, y, groups, int(search.n_splits_))
    candidates, last = _candidates(search, results)
    space = _space(search, candidates)
    scores, selects = _scores(search, results)
    notes, state = [], None
    if last is not None:
        scores, state = _last_round(scores, selects, len(candidates), *last)
        text = "halving dropped configurations on few samples; the estimate corrects for the last ones only."
        notes.append(Note("OF211", text))
    provenance = {"source": type(search).__name__, "splits_known": _repeatable(cv)}
    how: dict[str, Any] = {"params": list(space.configs.params.values()), "notes": notes, "provenance": provenance}
    return scores_only(list(space.configs), scores, splits, selects=selects, state=state, **how)


@_document
def collect_search(search: Any, X: Any, y: Any, *, groups: Any = None, **options: Any) -> Predictions:
    """The out-of-fold predictions of the candidates of a fitted search, on the same splits, with the same scorer.

    This fits each candidate on each fold again, because scikit-learn keeps no predictions. What candidates share is fitted once.

    Parameters: {search, X, y, groups}
    **options
        Options of `SelectCV`, such as `n_jobs`, `store` and `drop`; nothing is dropped by default.
    Returns: {predictions}
    Examples: {fitted}
    >>> oof = of.adapters.collect_search(search, X, y)
    >>> oof.n_samples, oof.n_folds, oof.response
    (150, 10, 'label')
    """
    from ..search import SelectCV

    results = _results(search)
    cv = _cv_of(search, y)
    if not _repeatable(cv):
        given = f"{cv} drew them at random and has no `random_state`"
        remedy = "Fit the search again with a `random_state` in `cv`, or use `from_search`, which needs no splits."
        raise InputError(needed="the splits of the search cannot be drawn again", given=given, remedy=remedy)
    _splits(cv, X, y, groups, int(search.n_splits_))  # refuses other data
    grid = _single_values(_candidates(search, results)[0])
    # A refit is not needed; where there are several scorers, its name says which one selects.
    refit = search.refit if search.multimetric_ and isinstance(search.refit, str) else False
    how = {"cv": cv, "scoring": search.scoring, "refit": refit, "error_score": search.error_score, "drop": False}
    made = SelectCV(search.estimator, grid, **{**how, **options})
    made.fit(X, y, **({} if groups is None else {"groups": groups}))
    return made.oof_


@_document
def from_cross_val_predict(
    y: Any,
    predicted: Any,
    cv: Any = None,
    *,
    X: Any = None,
    groups: Any = None,
    classifier: bool | None = None,
    **options: Any,
) -> Predictions:
    """Predictions that ``cross_val_predict`` of scikit-learn gave, of one model or of several.

    Parameters
    ----------
    y : array-like
        The labels.
    predicted : array-like or dict of str to array-like
        What ``cross_val_predict`` returned, or its results by the name of the model: labels, values, or one column for each
        class.
    cv : int, splitter, iterable or None
        The `cv` that ``cross_val_predict`` got; it says which fold held out which sample.
    X : array-like or None
        The samples, for a splitter that looks at them.
    groups : array-like or None
        The groups of the samples, if ``cross_val_predict`` got some.
    classifier : bool or None
        Whether the models are classifiers: with a number for `cv`, scikit-learn then stratifies. By default labels and
        predictions tell: whole numbers as labels and other numbers as predictions are a regression.
    **options
        Options of `from_arrays`, such as `response` and `positive`.
    Returns: {predictions}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import outfold as of
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> trees = {f"depth {d}": DecisionTreeClassifier(max_depth=d, random_state=0) for d in (1, 3)}
    >>> predicted = {
    ...     name: cross_val_predict(tree, X, y, cv=10, method="predict_proba") for name, tree in trees.items()
    ... }
    >>> oof = of.adapters.from_cross_val_predict(y, predicted, cv=10)
    >>> oof.leaderboard("roc_auc").configs
    ('depth 3', 'depth 1')
    """
    labels = np.asarray(y)
    classes = encode(labels).classes
    by_name = dict(predicted) if isinstance(predicted, Mapping) else {"model": predicted}
    arrays = _arrays(by_name, len(labels))
    if classifier is None:
        classifier = options.get("response") != "value" and classes is not None and not _are_values(arrays, classes)
    if not classifier and classes is not None and _are_values(arrays, classes):
        options = {"response": "value", **options}
    checked = _checked_cv(cv, labels, classifier)
    if not _repeatable(checked):
        given = f"{checked} drew them at random and has no `random_state`"
        remedy = "Give a splitter with a `random_state`, or the list of (train, test) pairs that you used."
        raise InputError(needed="the splits cannot be drawn again", given=given, remedy=remedy)
    splits = _splits(checked, np.zeros(len(labels)) if X is None else X, labels, groups, None)
    if splits.n_repeats != 1:
        raise invalid("cv", "must hold out each sample once, as cross_val_predict asks", f"got {checked}")
    P = np.stack(arrays, axis=1)[:, :, None] if arrays[0].ndim == 2 else np.stack(arrays, axis=1)
    oof = from_arrays(labels, P, splits.folds[:, 0], list(by_name), groups=groups, **options)
    return replace(oof, plan=splits.plan, train=splits.train, notes=(*oof.notes, *splits.notes))


def _arrays(by_name: Mapping[str, Any], n: int) -> list[NDArray[Any]]:
    """The predictions of each model, all of one shape."""
    if not by_name:
        raise invalid("predicted", "must hold the predictions of at least one model", "got an empty dict")
    arrays = [_array(name, values, n) for name, values in by_name.items()]
    if len({values.shape[1:] for values in arrays}) > 1:
        shapes = ", ".join(f"{name} has {values.shape}" for name, values in zip(by_name, arrays, strict=True))
        raise invalid("predicted", "must have one shape for all models", shapes, "Use one `method` for all of them.")
    return arrays


def _are_values(arrays: list[NDArray[Any]], classes: NDArray[Any]) -> bool:
    """Whether one number was predicted for each sample that is none of three labels or more: no classifier does that."""
    numbers = classes.dtype.kind in "iuf" and all(part.ndim == 1 and part.dtype.kind in "iuf" for part in arrays)
    return numbers and len(classes) > 2 and not all(np.isin(part, classes).all() for part in arrays)


def _array(name: str, values: Any, n: int) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise invalid("predicted", "must be an array for each model", f"the rows of {name} differ in length") from None
    if array.ndim == 0 or len(array) != n:
        given = f"{name} has {len(array)}" if array.ndim else f"{name} is {values!r}"
        remedy = "Give what `cross_val_predict` returned for the same samples as `y`."
        raise invalid("predicted", f"must have one prediction for each of the {n} samples", given, remedy)
    return array


# -- what a search keeps ------------------------------------------------------------------------------------------


def _results(search: Any) -> Mapping[str, Any]:
    results = getattr(search, "cv_results_", None)
    if results is None or not hasattr(search, "estimator"):
        given = f"got {type(search).__name__}"
        raise invalid(
            "search", "must be a search of scikit-learn that is fitted", given, "Call `search.fit(X, y)` first."
        )
    return results  # type: ignore[no-any-return]


def _candidates(
    search: Any, results: Mapping[str, Any]
) -> tuple[list[Mapping[str, Any]], tuple[list[int], list[int]] | None]:
    """Parameters of the candidates; for a halving search the positions of the last ones among them, and their rows.

    The last ones come first, in the order of their rows: where several are equally good, the search takes the first row.
    """
    params = list(results["params"])
    if "iter" not in results:
        return params, None
    rounds = np.asarray(results["iter"])
    last = np.flatnonzero(rounds == rounds.max()).tolist()
    # A resource that is a parameter differs between the rounds, so it cannot tell a candidate from another one.
    final = {name: value for name, value in params[last[0]].items() if name == search.resource}
    best: list[Mapping[str, Any]] = [{**params[i], **final} for i in last]
    first = [{**params[i], **final} for i in np.flatnonzero(rounds == rounds.min())]
    kept = {repr(candidate) for candidate in best}
    return best + [candidate for candidate in first if repr(candidate) not in kept], (list(range(len(best))), last)


def _last_round(
    scores: Mapping[str, Floats], selects: str, n: int, positions: list[int], rows: list[int]
) -> tuple[dict[str, Floats], NDArray[np.uint8]]:
    """(candidates, splits) scores and states: those of the last round, and nothing for what was dropped before."""
    shape = (n, scores[selects].shape[1])
    out = {name: np.full(shape, np.nan) for name in scores}
    state = np.full(shape, State.DROPPED, dtype=np.uint8)
    for name, values in scores.items():
        out[name][positions] = values[rows]
    state[positions] = np.where(np.isnan(scores[selects][rows]), State.FAILED, State.DONE)
    return out, state


def _single_values(params: list[Mapping[str, Any]]) -> list[dict[str, list[Any]]]:
    """A grid that holds exactly these candidates, in this order."""
    return [{name: [value] for name, value in part.items()} for part in params]


def _space(search: Any, params: list[Mapping[str, Any]]) -> Space:
    return make_space(search.estimator, _single_values(params), "grid", None, 0)


def _scores(search: Any, results: Mapping[str, Any]) -> tuple[dict[str, Floats], str]:
    """(rows, splits) scores by name, and the name of those that select."""
    names = [found[1] for found in (re.fullmatch(r"split0_test_(.+)", key) for key in results) if found]
    by_key = {
        name: np.stack([np.asarray(results[f"split{i}_test_{name}"], float) for i in range(search.n_splits_)], axis=1)
        for name in names
    }
    if not search.multimetric_:
        name = _scorer_name(search)
        return {name: by_key["score"]}, name
    return by_key, search.refit if search.refit in names else names[0]


def _scorer_name(search: Any) -> str:
    """What the one scorer of a search is called."""
    from sklearn.base import is_classifier, is_regressor

    if isinstance(search.scoring, str):
        return search.scoring
    if search.scoring is None:
        found = [name for name, is_so in (("accuracy", is_classifier), ("r2", is_regressor)) if is_so(search.estimator)]
        return found[0] if found else "score"
    return ("neg_" if getattr(search.scoring, "_sign", 1) < 0 else "") + name_of(search.scoring)


# -- splits -------------------------------------------------------------------------------------------------------


def _checked_cv(cv: Any, y: Any, classifier: bool) -> Any:
    from sklearn.model_selection import check_cv

    try:
        return check_cv(cv, y, classifier=classifier)
    except (TypeError, ValueError) as error:
        if cv is None or (is_whole_number(cv) and cv > 1):  # then scikit-learn could not make folds of the labels
            raise invalid("y", "must have one label for each sample", str(error)) from None
        needed = "must be a whole number of folds from 2 on, a splitter, or pairs of train and test indices"
        raise invalid("cv", needed, got(cv)) from None


def _cv_of(search: Any, y: Any) -> Any:
    """The splitter of a search, as scikit-learn makes it from `cv`."""
    from sklearn.base import is_classifier

    classifier = is_classifier(search.estimator)
    if y is None and classifier and (search.cv is None or is_whole_number(search.cv)):
        remedy = "Give the `y` of `fit`: with a number of folds, scikit-learn stratifies them by the labels."
        raise invalid("y", "must be the labels that the search was fitted on", "got None", remedy)
    return _checked_cv(search.cv, y, classifier)


def _repeatable(cv: Any) -> bool:
    """Whether the splitter gives the same splits each time."""
    seed = getattr(cv, "random_state", 0)
    return isinstance(seed, (int, np.integer)) or not getattr(cv, "shuffle", True)


def _splits(cv: Any, X: Any, y: Any, groups: Any, expected: int | None) -> Splits:
    n = _count(X)
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in cv.split(X, y, groups)]
    except (TypeError, ValueError) as error:
        lacking = "groups" if groups is None and "groups" in str(error) else "y" if y is None else None
        remedy = f"Give the `{lacking}` of `fit`." if lacking else ""
        raise invalid("cv", "must be able to split these samples", str(error), remedy) from None
    if expected is not None and len(pairs) != expected:
        needed = f"must give the {expected} splits of the search"
        remedy = "Give the X, y and groups of `fit`; if `cv` was a generator, set `search.cv` to the list of its pairs."
        raise invalid("cv", needed, f"it gives {len(pairs)} on these samples", remedy)
    splits = Plan.from_cv(pairs).split(Target("pointwise", np.zeros(n)), rng=0)
    return replace(splits, plan=replace(splits.plan, cv=cv))


def _count(X: Any) -> int:
    """The number of samples."""
    shape = getattr(X, "shape", None)  # a sparse matrix has no length
    if shape is None and hasattr(X, "__len__") and not isinstance(X, str):
        shape = (len(X),)
    if not shape:
        given = "got None" if X is None else f"got {type(X).__name__}"
        raise invalid("X", "must be the samples that were given to scikit-learn, one row for each", given)
    return int(shape[0])
