"""What `SelectCV.fit` is asked to do: its options and data, checked before any work; its callbacks; its failed fits."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple, NoReturn

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets

from .. import formatting
from ..arguments import is_whole_number
from ..data.plan import Plan
from ..data.predictions import Predictions, State
from ..data.target import Target
from ..exceptions import CollectError, FitFailedError, InputError, InputTypeError, got, invalid
from ..fitting.estimators import check_estimator
from ..fitting.predict import ModelKind
from ..metrics import Metric
from .scorers import Scorers
from .space import is_sampler

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


class FitRequest(NamedTuple):
    """What is predicted from what, on which folds, and how it is scored."""

    X: Any
    y: Any
    target: Target
    kind: ModelKind
    plan: Plan
    groups: Any
    fit_params: dict[str, Any]
    seed: int
    scorers: Scorers
    response: Any
    callbacks: Callbacks | None = None

    @property
    def metrics(self) -> dict[str, Metric]:
        """The scorers as metrics of stored predictions."""
        return self.scorers.metrics(self.kind, self.target, self.response)

    @property
    def positive(self) -> Any:
        """The positive one of two classes."""
        classes = self.target.classes
        return classes[-1] if classes is not None and len(classes) == 2 else None


class Callbacks:
    """Tells scikit-learn's callbacks of a search when its fit begins, when a cell is finished, and when the fit ends."""

    def __init__(self, search: Any, X: Any, y: Any) -> None:
        self._search, self._data = search, {"X": X, "y": y}
        self._fit = search._init_callback_context(task_name="fit", max_subtasks=None)
        self._fit.call_on_fit_task_begin(estimator=search, **self._data)

    @classmethod
    def of(cls, search: Any, X: Any, y: Any) -> Callbacks | None:
        """The callbacks of a search; None if it has none."""
        listening = getattr(search, "_skl_callbacks", None) or hasattr(search, "_parent_callback_ctx")
        return cls(search, X, y) if listening else None

    def __call__(self, done: int, total: int) -> None:
        """One more cell is finished."""
        cell = self._fit.subcontext(task_name="cell")
        cell.call_on_fit_task_begin(estimator=self._search, **self._data)
        cell.call_on_fit_task_end(estimator=self._search, **self._data)

    def end(self) -> None:
        """The fit is done."""
        self._fit.call_on_fit_task_end(estimator=self._search, **self._data)


def check_options(search: Any) -> None:
    """Refuse options of a search that contradict each other or mean nothing."""
    estimator, sampler = search._prototype(), is_sampler(search.search)
    check_estimator(estimator, None)
    tags, name = get_tags(estimator), type(estimator).__name__
    if tags.estimator_type == "clusterer":
        problem = f"{name} finds clusters and predicts no labels that could be scored."
        raise InputError(problem, remedy="Use GridSearchCV for it.")
    if tags.input_tags.pairwise:
        takes = f"{name} takes kernels or distances between samples as X"
        remedy = "Give features and a kernel by name or function, such as `kernel='rbf'`."
        raise InputError(f"{takes}, whose columns would have to be held out too.", remedy=remedy)
    if search.grid is not None and search.param_grid is not None:
        raise InputError("`grid` and `param_grid` are two names for one thing.", remedy="Give one of them.")
    if sampler and isinstance(search.estimator, Mapping):
        remedy = "Give an estimator and a grid of distributions."
        raise InputError("a sampler sets the parameters of one estimator.", remedy=remedy)
    if sampler and search.repeats == "auto":
        remedy = "Give a number of `repeats` instead of 'auto'."
        raise InputError("a sampler needs scores of the same folds each time.", remedy=remedy)
    if not sampler and search.search not in ("grid", "random", "halving"):
        needed = "must be 'grid', 'random', 'halving' or an Optuna sampler or study"
        raise invalid("search", needed, got(search.search))
    if callable(search.refit) and search.rule is not None:
        raise InputError("`rule` and a `refit` function both select the configuration.", remedy="Give one of them.")
    if not (isinstance(search.refit, (bool, str, np.bool_)) or callable(search.refit)):
        needed = "must be True, False, the name of a scorer or a function of cv_results_"
        raise invalid("refit", needed, got(search.refit))
    if not (isinstance(search.error_score, Real) or search.error_score == "raise"):
        raise invalid("error_score", "must be a number or 'raise'", got(search.error_score))
    if search.return_train_score:
        needed = "needs predictions of the training samples, which are not collected"
        remedy = "Leave it out, and use `sklearn.model_selection.validation_curve` to see training scores."
        raise invalid("return_train_score=True", needed, remedy=remedy)
    if search.search == "halving" and search.drop is not True:
        problem = "`search='halving'` decides itself which configurations to drop."
        raise InputError(problem, remedy="Leave `drop=True`, or use `search='grid'`.")


def seed_of_random_state(random_state: Any) -> int:
    """The seed that a `random_state` means."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if is_whole_number(random_state) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise invalid("random_state", "must be a whole number from 0, or None to draw one", got(random_state))


def checked_labels(y: Any, estimator: Any) -> Any:
    """Labels in one dimension; some refusals use the words that scikit-learn's estimator checks look for."""
    if y is None:
        raise InputError("This SelectCV estimator requires y to be passed, but the target y is None.")
    plain = np.asarray(y)
    if plain.dtype.names is not None:
        return y
    if plain.ndim == 2 and plain.shape[1] > 1:
        problem = f"y should be a 1d array, got an array of shape {plain.shape}"
        remedy = "Search for each column separately."
        raise InputError(f"{problem}: a search compares predictions of one column.", remedy=remedy)
    y = column_or_1d(y, warn=True)
    if len(y) < 2:
        n = formatting.count(len(y), "sample")
        raise InputError(f"a search needs samples to hold out and to fit on; there is {n}.")
    if is_classifier(estimator):
        check_classification_targets(y)
    return y


def warn_of_failures(oof: Predictions) -> None:
    """One FitFailedWarning that counts the failed fits and names the most common reason."""
    states = oof.state[:, oof.planned]
    n = int(np.sum(states == State.FAILED))
    if n:
        reason = Counter(oof.messages.values()).most_common(1)[0][0]
        failed = f"{n} of {states.size} fits failed; their configurations cannot be selected."
        why = f"The most common reason: {reason} Use error_score='raise' to see the exception."
        warnings.warn(f"{failed} {why}", FitFailedWarning, stacklevel=3)


def raise_as_sklearn(error: CollectError) -> NoReturn:
    """Raise the exception of the fit that failed, as GridSearchCV does, with a note on which fit; else an InputError."""
    cause = error.__cause__
    if isinstance(error, FitFailedError) and isinstance(cause, Exception):
        cause.add_note(str(error))
        raise cause
    kind = InputTypeError if "): TypeError: " in str(error) else InputError
    raise kind(str(error)) from error
