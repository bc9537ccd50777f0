"""What a method needs, declared once: the declaration checks, words the error, fills the docs and tells `auto`.

A requirement has words, a test and a remedy. A method declares a tuple of requirements, which are tested in their order:

>>> import numpy as np, outfold as of
>>> oof = of.from_arrays(None, np.eye(4), response="pointwise")
>>> requirements = (least_folds(2), block("inner"))
>>> in_words(requirements)
'2 folds or more; the block `inner`'
>>> met(requirements, oof)
False
>>> check_requirements("nested", requirements, oof)
Traceback (most recent call last):
outfold.exceptions.NeedError: nested needs 2 folds or more; these predictions are one test set. Collect with ... or use bbc.
outfold explain needs says more

An estimate declares with the decorator `requires`; a test of a pair or an interval holds its tuple and calls
`check_requirements` before it computes. Words and remedies put code of the library between backticks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

import numpy as np

from . import metrics
from .data.predictions import Predictions, State
from .data.scores import FoldScores, Layout
from .exceptions import InputError, NeedError, invalid
from .metrics import Metric

A = ParamSpec("A")
T = TypeVar("T")
S = TypeVar("S", contravariant=True)


def source_in_words(source: Any) -> str:
    """The clause on what was given instead: the plan of predictions, of fold scores or of what is made of either."""
    scores_only = isinstance(source, FoldScores) or getattr(source, "oof", source) is None
    return f"{'these scores are of' if scores_only else 'these predictions are'} {source.plan}"


def _repeats_one_set(source: Any) -> bool:
    """Whether all repeats predict the same test set, and nothing was trained for it."""
    oof = getattr(source, "oof", source)
    return isinstance(oof, Predictions) and oof.nothing_trained and oof.n_repeats > 1


@dataclass(frozen=True)
class Requirement(Generic[S]):
    """One precondition of a method on what it is given."""

    words: str  # the object of "needs", such as "5 repeats of 2 folds"
    is_met: Callable[[S], bool]
    remedy: str = ""  # sentences
    given: Callable[[S], str] = source_in_words  # the clause that says what the source is instead
    raises: type[InputError] = NeedError  # InputError where an argument such as the metric is at fault, not the source
    untrained: str = ""  # the remedy for repeats of one test set, which no plan of ours can make

    def error(self, method: str, source: S, remedy: str = "") -> InputError:
        """The error for a source that does not meet it; `remedy` replaces that of the declaration."""
        given = self.given(source)
        remedy = remedy or (self.untrained if _repeats_one_set(source) else "") or self.remedy
        page = method if self in DECLARED.get(method, ()) else NeedError.page
        return self.raises(argument=method, needed=f"needs {self.words}", given=given, remedy=remedy, page=page)


Requirements = tuple[Requirement[S], ...]
# What each public method needs, by its name: `outfold explain nested` lists it.
DECLARED: dict[str, Requirements[Any]] = {}


def met(requirements: Requirements[S], source: S) -> bool:
    """Whether the source meets all of them; those after the first unmet one are not tested."""
    return all(requirement.is_met(source) for requirement in requirements)


def check_requirements(method: str, requirements: Requirements[S], source: S, remedy: str = "") -> None:
    """Raise the error of the first requirement that the source does not meet; `remedy` replaces that of the declaration."""
    for requirement in requirements:
        if not requirement.is_met(source):
            raise requirement.error(method, source, remedy)


def in_words(requirements: Requirements[Any], without: str = "any predictions") -> str:
    """What is needed, for a table; `without` where nothing is."""
    return "; ".join(requirement.words for requirement in requirements) or without


def check_predictions(oof: Any, method: str) -> None:
    """Refuse what is not Predictions."""
    if not isinstance(oof, Predictions):
        needed = "needs Predictions, as `collect`, `from_arrays` or `load` give"
        raise invalid(method, needed, f"got {type(oof).__name__}", of_search(oof))


def of_search(given: Any) -> str:
    """What to do where a search was given in place of its predictions; empty for anything else."""
    return (
        "Give the predictions of the search: `search.oof_`."
        if isinstance(getattr(given, "oof_", None), Predictions)
        else ""
    )


def requires(
    *requirements: Requirement[Predictions],
) -> Callable[[Callable[Concatenate[Predictions, A], T]], Callable[Concatenate[Predictions, A], T]]:
    """Declare the requirements of a public method whose first argument is the predictions, and check them at each call.

    The method then has them as its attribute ``requirements``.
    """

    def decorate(method: Callable[Concatenate[Predictions, A], T]) -> Callable[Concatenate[Predictions, A], T]:
        @wraps(method)
        def checked(oof: Predictions, *args: A.args, **kwargs: A.kwargs) -> T:
            check_predictions(oof, method.__name__)
            metric = kwargs.get("metric", args[0] if args else None)
            if isinstance(metric, str) and metric in oof.configs and metric not in metrics.names():
                remedy = f"Call `{method.__name__}(oof, {metrics.default(oof.target.task, oof.response)!r}, ...)`."
                raise invalid("metric", "is the second argument", f"got the configuration {metric!r} there", remedy)
            check_requirements(method.__name__, requirements, oof)
            return method(oof, *args, **kwargs)

        checked.requirements = DECLARED[method.__name__] = requirements  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]  # the first argument may also go by name

    return decorate


# -- requirements on predictions ----------------------------------------------------------------------------


# What to do with several repeats of one test set.
UNTRAINED_ESTIMATE = "Nothing was trained here: use `cv` for one configuration, `bbc` for the selected configuration."
UNTRAINED_SPREAD = "Nothing was trained here: use `trace` or `bias_variance` to see how repeats differ."
_UNTRAINED_TEST = (
    "Nothing was trained here: use `permutation` or `bootstrap`, which average the repeats of each sample."
)


def least_folds(least: int) -> Requirement[Predictions]:
    """A number of folds in each repeat."""
    remedy = "Collect with `Plan(folds=10)`, give `folds`, or use `bbc`."
    words = f"{least} folds or more"
    return Requirement(words, lambda oof: oof.n_folds >= least, remedy, untrained=UNTRAINED_ESTIMATE)


# How samples can be held out: in words, and the plan that does it.
_DESIGNS = {
    "bootstrap": ("bootstrap rounds", "Plan.bootstrap(200)"),
    "holdout": ("one hold-out", "Plan.holdout()"),
    "repeated_holdout": ("repeated hold-outs", "Plan.repeated_holdout(50)"),
    "loo": ("leave-one-out", "Plan.leave_one_out()"),
    "three_way": ("a three-way hold-out", "Plan.three_way()"),
}


def design(kind: str) -> Requirement[Predictions]:
    """One way to hold samples out."""
    words, plan = _DESIGNS[kind]
    remedy = f"Collect with `{plan}`, or use `bbc`."
    return Requirement(words, lambda oof: _design_of(oof) == kind, remedy, untrained=UNTRAINED_ESTIMATE)


def _design_of(oof: Predictions) -> str:
    """How samples were held out, found from the splits where the plan was made elsewhere."""
    if oof.plan.kind in ("bootstrap", "three_way"):
        return oof.plan.kind
    if _repeats_one_set(oof):
        return "one test set"
    if oof.n_folds == 1:
        return "holdout" if oof.n_repeats == 1 else "repeated_holdout"
    one_by_one = oof.n_repeats == 1 and np.all(np.bincount(oof.folds[oof.folds >= 0]) == 1)
    return "loo" if oof.plan.kind == "loo" or one_by_one else oof.plan.kind


_BLOCKS = {
    "inner": "Collect with `inner=True`, or `inner=2` for two inner folds.",
    "fresh": "Collect with `fresh=<metric>`, the metric that selects.",
    "inbag": "Collect with `Plan.bootstrap(200)`.",
    "resub": "Collect with `resub=True`.",
    "seeds": "Collect with `seeds=5`.",
}


def block(name: str) -> Requirement[Predictions]:
    """A block that was collected with the predictions."""
    return Requirement(
        f"the block `{name}`",
        lambda oof: name in oof.blocks,
        _BLOCKS[name],
        lambda oof: "these predictions have none",
        untrained=UNTRAINED_SPREAD if name == "seeds" else UNTRAINED_ESTIMATE,
    )


def in_fresh(config: str, part: str, metric: str) -> Requirement[Predictions]:
    """The selected configuration in the block ``fresh``, which holds those that the metric at that time selected."""
    return Requirement(
        f"{config!r} on the {part}",
        lambda oof: bool(np.any(oof.blocks["fresh"].state[oof.config_index(config)] == State.DONE)),
        f"Collect with `fresh={metric!r}` and the same rule.",
        lambda oof: "the block `fresh` was collected for another metric or rule",
    )


# -- requirements on configurations that are compared -------------------------------------------------------


class Compared(Protocol):
    """Configurations that are compared, on predictions or on fold scores only (without predictions and metric)."""

    @property
    def oof(self) -> Predictions | None: ...  # noqa: D102

    @property
    def metric(self) -> Metric | None: ...  # noqa: D102

    @property
    def folds(self) -> FoldScores: ...  # noqa: D102


PREDICTIONS: Requirement[Compared] = Requirement(
    "predictions",
    # A score that was computed with the fitted models is known for whole folds only, whatever predictions are kept beside it.
    lambda source: source.oof is not None and (source.metric is None or source.metric.needs != "live"),
    "Use a test by resampling, such as `t_corrected`.",
    lambda source: "these are scores of folds",
)

INDEPENDENT_SAMPLES: Requirement[Compared] = Requirement(
    "independent samples",
    lambda source: source.oof is None or _n_groups(source.oof) in (0, source.oof.n_samples),
    "Use `permutation` or `bootstrap`, which take groups whole.",
    lambda source: f"these come in {_n_groups(source.oof)} groups",
)

MEAN_OVER_SAMPLES: Requirement[Compared] = Requirement(
    "a metric that is a mean over samples, such as accuracy, brier or mae",
    lambda source: source.metric is not None and source.metric.pointwise,
    given=lambda source: f"{source.folds.metric} is defined on sets of samples only",
)


def _n_groups(oof: Predictions | None) -> int:
    codes = None if oof is None else oof.group_codes
    return 0 if codes is None else int(codes.max()) + 1


def splits(
    words: str, remedy: str, layouts: tuple[Layout, ...], n_repeats: int | None = None, n_folds: int | None = None
) -> Requirement[Compared]:
    """Two or more splits of one of these layouts; None allows any number of repeats or folds."""

    def fits(source: Compared) -> bool:
        scores = source.folds
        repeats, folds = scores.n_test.shape
        return (
            scores.layout in layouts
            and n_repeats in (None, repeats)
            and n_folds in (None, folds)
            and int(np.sum(scores.n_test > 0)) > 1
        )

    return Requirement(words, fits, remedy, untrained=_UNTRAINED_TEST)
