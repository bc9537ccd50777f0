"""Arguments of a search, checked before any work: its options, seed, plan and labels."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets

from .. import formatting
from ..data.plan import Plan
from ..exceptions import InputError
from ..fitting.estimators import check_estimator
from .asking import is_sampler


def check_options(search: Any) -> None:
    """Refuse options of a search that contradict each other or mean nothing."""
    check_estimator(search._prototype(), None)
    _refuse_other_kinds(search._prototype())
    if search.grid is not None and search.param_grid is not None:
        raise InputError("grid and param_grid are two names for one thing; give one of them.")
    if is_sampler(search.search) and isinstance(search.estimator, Mapping):
        raise InputError("a sampler sets parameters of one estimator; give an estimator and a grid of distributions.")
    if is_sampler(search.search) and search.repeats == "auto":
        raise InputError("a sampler is told scores of the same folds; give a number of repeats instead of 'auto'.")
    if not is_sampler(search.search) and search.search not in ("grid", "random", "halving"):
        raise InputError(
            f"search must be 'grid', 'random', 'halving' or an Optuna sampler or study; got {search.search!r}."
        )
    if callable(search.refit) and search.rule is not None:
        raise InputError("rule and a refit function both select the configuration; give one of them.")
    if not (isinstance(search.refit, (bool, str, np.bool_)) or callable(search.refit)):
        raise InputError(
            f"refit must be True, False, the name of a scorer or a function of cv_results_; got {search.refit!r}."
        )
    if not (isinstance(search.error_score, Real) or search.error_score == "raise"):
        raise InputError(f"error_score must be a number or 'raise'; got {search.error_score!r}.")
    if search.return_train_score:
        raise InputError(
            "return_train_score=True needs predictions of the samples that models were fitted on, which are not collected. "
            "Leave it out, and use sklearn.model_selection.validation_curve to see training scores."
        )
    if search.search == "halving" and search.drop is not True:
        raise InputError("search='halving' is a way to drop configurations; leave drop=True, or use search='grid'.")


def _refuse_other_kinds(estimator: Any) -> None:
    """What has no labels to predict, or wants its X split by columns too."""
    tags = get_tags(estimator)
    name = type(estimator).__name__
    if tags.estimator_type == "clusterer":
        raise InputError(f"{name} finds clusters and predicts no labels that could be scored; use GridSearchCV for it.")
    if tags.input_tags.pairwise:
        raise InputError(
            f"{name} takes kernels or distances between samples as X, whose columns would have to be held out too. Give "
            "features and a kernel by name or function, such as kernel='rbf'."
        )


def as_seed(random_state: Any) -> int:
    """The seed that a random_state means."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise InputError(f"random_state must be a whole number from 0, or None to draw one; got {random_state!r}.")


def as_plan(cv: Any) -> Plan:
    """The plan that a cv means."""
    if cv is None:
        return Plan()
    if isinstance(cv, Plan):
        return cv
    if isinstance(cv, (bool, str)):
        raise InputError(f"cv must be a number of folds, a Plan or a splitter of scikit-learn; got {cv!r}.")
    return Plan(folds=int(cv)) if isinstance(cv, (int, np.integer)) else Plan.from_cv(cv)


def checked_labels(y: Any, estimator: Any) -> Any:
    """Labels in one dimension, refused in scikit-learn's words where its own tests know them."""
    if y is None:
        raise InputError("This SelectCV estimator requires y to be passed, but the target y is None.")
    plain = np.asarray(y)
    if plain.dtype.names is not None:
        return y
    if plain.ndim == 2 and plain.shape[1] > 1:
        raise InputError(
            f"y should be a 1d array, got an array of shape {plain.shape}: a search compares predictions of one column. Search "
            "for every column apart."
        )
    y = column_or_1d(y, warn=True)
    if len(y) < 2:
        raise InputError(
            f"a search needs samples to hold out and to fit on; there is {formatting.count(len(y), 'sample')}."
        )
    if is_classifier(estimator):
        check_classification_targets(y)
    return y
