"""A test of two configurations: how it is declared, found by name, and applied to one pair or to many."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..arguments import check_choice, check_confidence_level, is_number
from ..data.notes import Note
from ..data.predictions import Predictions
from ..docstrings import fill_docstring
from ..exceptions import InputError, got, invalid
from ..metrics import MetricLike
from ..metrics._scoring import recorded_metric
from ..requirements import DECLARED, Requirements, check_requirements, in_words
from ..results import Alternative, Comparison, Comparisons, ComparisonTerms, PairArrays
from ..stats.paired import Tested
from ..stats.pvalues import Tails
from ._compared import ComparedConfigs, Source
from ._measured import notes_on_errors

P = ParamSpec("P")
T = TypeVar("T")

TestLike: TypeAlias = str | Callable[..., Any]
# "greater" and "less", as in scipy, are about the metric; "better" and "worse" are about `a`.
AlternativeLike: TypeAlias = Alternative | Literal["greater", "less"]
ALTERNATIVES: tuple[str, ...] = (*get_args(Alternative), "greater", "less")


@dataclass(frozen=True)
class Hypothesis:
    """What is asked of a test, whatever the test: the arguments of the public functions."""

    alternative: str = "two-sided"
    confidence_level: float = 0.95
    rope: float | None = None
    null: float = 0.0

    def __post_init__(self) -> None:
        check_confidence_level(self.confidence_level)
        check_choice(self.alternative, ALTERNATIVES, "alternative")
        rope = self.rope
        if rope is not None and not (isinstance(rope, (int, float, np.number)) and np.isfinite(rope) and rope >= 0):
            raise invalid("rope", "must be a number from 0 on, in units of the metric", got(rope))
        if not is_number(self.null):
            raise invalid("null", "must be a difference in units of the metric, such as 0 or 0.02", got(self.null))
        object.__setattr__(self, "rope", None if rope is None else float(rope))
        object.__setattr__(self, "null", float(self.null))

    def directed(self, greater_is_better: bool) -> Hypothesis:
        """The same with ``better`` or ``worse`` for ``greater`` or ``less``, by the direction of the metric."""
        if self.alternative not in ("greater", "less"):
            return self
        better = (self.alternative == "greater") == greater_is_better
        return replace(self, alternative="better" if better else "worse")


@dataclass(frozen=True)
class Findings:
    """What a test finds for many pairs, (C,) scores, caveats for all pairs, and what to add to its description."""

    arrays: PairArrays
    scores: NDArray[np.float64]
    notes: tuple[Note, ...] = ()
    detail: str = ""


@dataclass(frozen=True)
class PairTest:
    """A test of two configurations, computed for many pairs at once."""

    name: str  # that of its function in `outfold.compare`
    description: str
    reference: str  # the paper that defines it
    statistic_name: str  # such as ``t``
    requirements: Requirements[ComparedConfigs]  # the errors, the docs and the choice of `auto` come from here
    compute: Callable[..., Findings]  # called with (compared, pairs, hypothesis, **options), pairs (P, 2) of positions
    options: Mapping[str, Any]  # those of its function, with their defaults; with ``repeat`` it reads one repeat
    metric: str | None = None  # where none is asked for and it fits the task; else the default of the task
    by_folds: bool = False  # whether it reads the scores of folds only; else it reads predictions
    by_splits: bool = False  # whether it reads predictions and how the samples were split
    directed: bool = True  # whether it can ask for better or worse
    shifts: Requirements[ComparedConfigs] = ()  # what it needs further, to test a difference other than 0

    def compared(
        self, source: Source, metric: MetricLike | None, configs: Sequence[str | int] | None = None
    ) -> ComparedConfigs:
        """The configurations by the metric asked for, or else by that of the test or of the task."""
        return ComparedConfigs(source, default_metric(source, metric, self.metric), configs)

    def run(
        self, compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis, **options: Any
    ) -> Findings:
        options = {**self.options, **options}
        compared = compared.of_repeat(options.pop("repeat", None))
        check_requirements(self.name, self.requirements, compared)
        if not self.directed and hypothesis.alternative != "two-sided":
            remedy = "Use `alternative='two-sided'`, or `t_training` for a one-sided test."
            raise invalid(self.name, "has no direction", f"got `alternative={hypothesis.alternative!r}`", remedy)
        if hypothesis.null != 0:
            check_requirements(f"{self.name} with null={hypothesis.null:g}", self.shifts, compared)
        return self.compute(compared, pairs, hypothesis, **options)


def default_metric(source: Source, metric: MetricLike | None, own: str | None) -> MetricLike | None:
    """The metric asked for, or else that of the test if it fits the task, or else None: the default of the task."""
    if metric is None and own is not None and isinstance(source, Predictions):
        return own if source.target.task in metrics.get(own).tasks else None
    return metric


# -- tests by name ------------------------------------------------------------------------------------------

TESTS: dict[str, PairTest] = {}


def find_test(test: TestLike) -> PairTest:
    """The test of that name, or of that function of `outfold.compare`."""
    name = test if isinstance(test, str) else getattr(test, "__name__", repr(test))
    if name in TESTS:
        return TESTS[name]
    near = difflib.get_close_matches(name, TESTS, n=1)
    remedy = f"Did you mean {near[0]!r}?" if near else f"The tests of a pair are {', '.join(sorted(TESTS))}."
    raise invalid("test", "must be 'auto' or a test of a pair", got(name), remedy)


def check_options(test: PairTest, options: Mapping[str, Any]) -> None:
    for option in options:
        if option not in test.options:
            known = ", ".join(f"`{name}`" for name in test.options)
            has = f"it has {known}" if known else "it has none"
            remedy = "For a margin, use `compare.non_inferior` or `compare.equivalent`." if option == "margin" else ""
            raise InputError(needed=f"`{option}` is not an option of {test.name}", given=has, remedy=remedy)


def compare_pair(
    test: TestLike,
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    hypothesis: Hypothesis,
    **options: Any,
) -> Comparison:
    named = find_test(test)
    compared = named.compared(source, metric, (a, b))
    return compare_pairs(named, compared, np.array([[0, 1]]), hypothesis, **options)[0]


def compare_pairs(
    test: PairTest, compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis, **options: Any
) -> Comparisons:
    """The test of many pairs, not adjusted for their number."""
    hypothesis = hypothesis.directed(compared.greater_is_better)
    found = test.run(compared, pairs, hypothesis, **options)
    selected = compared.notes_on_selection(pairs, "probabilities do" if found.arrays.pvalue is None else "p value does")
    notes = found.arrays.notes
    both = {i: (*notes.get(i, ()), *selected.get(i, ())) for i in sorted({*notes, *selected})}
    source = compared.source
    terms = ComparisonTerms(
        metric=compared.metric_name,
        greater_is_better=compared.greater_is_better,
        method=test.name,
        description=test.description + found.detail,
        reference=test.reference,
        statistic_name=test.statistic_name,
        plan=str(compared.plan),
        fingerprint=source.fingerprint,
        n_samples=source.n_samples,
        **vars(hypothesis),
    )
    return Comparisons(
        terms=terms,
        configs=compared.configs,
        scores=found.scores,
        pairs=pairs,
        arrays=replace(found.arrays, notes=both),
        adjust="none",
        notes=(*found.notes, *notes_on_errors(test.name, compared), *compared.notes_on_left_out()),
    )


def all_pairs(n: int) -> NDArray[np.intp]:
    """(P, 2) every pair of positions once, the earlier one first."""
    return np.stack(np.triu_indices(n, 1), axis=1).astype(np.intp)


def pairs_against(control: int, n: int) -> NDArray[np.intp]:
    """(P, 2) every other position against the control, which comes second."""
    others = [i for i in range(n) if i != control]
    return np.array([[i, control] for i in others], dtype=np.intp)


# -- what several tests compute ------------------------------------------------------------------------------


def pvalues(hypothesis: Hypothesis, tails: Tails) -> NDArray[np.float64]:
    """(P,) p values of the hypothesis, where the tail "greater" is that of "`a` is better"."""
    if hypothesis.alternative == "two-sided":
        return tails.two_sided
    return tails.greater if hypothesis.alternative == "better" else tails.less


def one_sided(hypothesis: Hypothesis, sign: int, tested: Tested) -> NDArray[np.float64]:
    """(P,) p values of the hypothesis, from two-sided ones and the sign of the statistic; `sign` is that of "better"."""
    if hypothesis.alternative == "two-sided":
        return tested.pvalue
    sign *= 1 if hypothesis.alternative == "better" else -1
    half = np.where(sign * tested.statistic > 0, tested.pvalue / 2, 1 - tested.pvalue / 2)
    return np.where(np.isnan(tested.statistic), tested.pvalue, half)


def standardised(difference: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """(P,) differences over their standard deviation, NaN where that is 0."""
    out = np.full(len(difference), np.nan)
    np.divide(difference, spread, out=out, where=spread > 0)
    return out


def notes_without_variance(
    difference: NDArray[np.float64], spread: NDArray[np.float64], at_null: NDArray[np.bool_]
) -> dict[int, tuple[Note, ...]]:
    """A caveat for every pair that has no variance at all, and whose difference is not that of the null hypothesis."""
    return {
        int(i): (Note("OF304", f"all samples differ by exactly {difference[i]:+.4g}; the p value is undefined."),)
        for i in np.flatnonzero((spread == 0) & ~at_null)
    }


# -- public functions ----------------------------------------------------------------------------------------

_TEXTS = {
    "source": """source : Predictions or FoldScores
    Predictions of `collect`, `load` or `read`, or scores of folds from `from_scores`.""",
    "predictions": """source : Predictions
    Predictions of `collect`, `load` or `read`. Several folds are taken as one test set (OF308).""",
    "predicted": """source : Predictions
    Predictions of `collect`, `load` or `read`, with their folds.""",
    "metric": (
        "metric : str, callable, Metric or None\n"
        '    What to compare by, such as ``"accuracy"``. None takes the metric that the predictions, or the fold scores, record.'
    ),
    "right_or_wrong": """metric : str, callable, Metric or None
    ``"accuracy"``, ``"error"``, or ``"mean"`` of per-sample scores that are 0 or 1. None takes the one that fits.""",
    "pair": """a, b : str or int
    The two configurations, by name or position. The difference is the metric of `a` minus the metric of `b`.""",
    "configs": """configs : sequence of str or int, or None
    The configurations to compare. None takes all but those with dropped or failed folds, which a note names.""",
    "alternative": """alternative : {"two-sided", "better", "worse", "greater", "less"}
    ``two-sided`` asks whether `a` and `b` differ. ``better`` and ``worse`` ask this of `a`, in the direction of the
    metric: a smaller loss is better. ``greater`` and ``less`` ask whether the difference of the metric is above or
    below that of the null hypothesis, whatever its direction. The interval is always two-sided.""",
    "null": """null : float
    The difference under the null hypothesis, metric of `a` minus metric of `b`. 0 asks whether the two differ at all;
    any other number is subtracted from the difference that is tested.""",
    "rope": """rope : float or None
    Half the width of the region of practical equivalence, in units of the metric. The result then says whether the
    difference is relevant, equivalent or undecided.""",
    "margins": """non_inferior, equivalent : float or None
    A margin, in units of the metric: what counts is how often the test shows that `a` is worse by less than it, or that the two
    differ by less than it, as `non_inferior` and `equivalent` do.""",
    "margin": """margin : float
    The difference that matters, in units of the metric; above 0.""",
    "margin_test": """test : str or function
    Name or function of a test of a pair that has a direction; ``"auto"`` takes the one that fits the plan.""",
    "alpha": """alpha : float
    Level of the test. The interval has the level 1 - 2 alpha.""",
    "margin_comparison": """MarginComparison
    The answer in words, p value, difference and interval, and the one-sided tests.""",
    "nearly_alike": """>>> right = [[1, 0]] * 9 + [[0, 1]] * 8 + [[1, 1]] * 250 + [[0, 0]] * 33
>>> oof = of.from_arrays(None, right, configs=["small", "large"], response="pointwise")""",
    "repeat": "repeat : int or None\n    The repeat to use, where the predictions have several.",
    "options": """**options
    Further options of the test, such as ``n_resamples`` and ``rng`` of tests that draw at random.""",
    "test": """test : str or function
    Name or function of a test of a pair; ``"auto"`` takes the one that fits the plan.""",
    "control": "control : str, int or None\n    Compare each of the others with this configuration only.",
    "adjust": """adjust : {"holm", "bonferroni", "bh", "westfall_young", "none"}
    How p values of many pairs are adjusted. ``holm`` and ``bonferroni`` keep the probability of any false finding,
    ``bh`` (Benjamini and Hochberg) the expected share of false findings, ``none`` neither. ``westfall_young`` keeps what
    ``holm`` keeps and finds more where pairs depend on each other, as pairs of the same configurations do. It draws samples
    to see how they do, so it needs predictions.""",
    "simulated": "source : Predictions\n    Predictions of both configurations; the simulation keeps how much the two disagree.",
    "n": "n : int or None\n    Samples in a simulation; None takes as many as there are.",
    "n_simulations": "n_simulations : int\n    Number of simulations.",
    "simulating": """progress : bool, "always" or callable
    Show a line on the terminal; ``"always"`` also if stderr is not a terminal. A function is called with the number of
    simulations done and the total.""",
    "omnibus_level": "confidence_level : float\n    The test decides at alpha = 1 - confidence_level.",
    "omnibus": "Omnibus\n    Statistic, degrees of freedom and p value of the test of all configurations at once.",
    "comparison": "Comparison\n    Difference, interval, p value, effect sizes and caveats.",
    "folds": '>>> scores = of.from_scores({"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81]}, n_train=60, n_test=30)',
    "five_by_two": """>>> a = [0.82, 0.79, 0.85, 0.81, 0.84, 0.80, 0.83, 0.82, 0.81, 0.85]
>>> b = [0.80, 0.80, 0.81, 0.80, 0.82, 0.79, 0.80, 0.81, 0.80, 0.81]
>>> scores = of.from_scores({"a": a, "b": b}, n_train=50, n_test=50, design="5x2cv")""",
    "blocked": """>>> a, b = [0.82, 0.79, 0.85, 0.81, 0.84, 0.80], [0.80, 0.80, 0.81, 0.80, 0.82, 0.79]
>>> scores = of.from_scores({"a": a, "b": b}, n_train=50, n_test=50, design="blocked")""",
    "errors": (
        ">>> errors = [[0.1, 0.3], [0.2, 0.2], [0.4, 0.5], [0.0, 0.3], [0.1, 0.2], [0.3, 0.2], [0.2, 0.6], [0.1, 0.1]]\n"
        '>>> oof = of.from_arrays(None, errors, configs=["a", "b"], response="pointwise")'
    ),
    "prompts": """>>> right = [[1, 0]] * 11 + [[0, 1]] + [[1, 1]] * 40
>>> oof = of.from_arrays(None, right, configs=["new prompt", "old prompt"], response="pointwise")""",
    "three_models": """>>> right = [[1, 1, 0]] * 9 + [[0, 1, 1]] * 4 + [[1, 0, 0]] * 2 + [[1, 1, 1]] * 30
>>> oof = of.from_arrays(None, right, response="pointwise")""",
    "disagreeing": """>>> right = [[1, 0]] * 15 + [[0, 1]] * 5 + [[1, 1]] * 60
>>> oof = of.from_arrays(None, right, configs=["new", "old"], response="pointwise")""",
}


def public(function: Callable[P, T]) -> Callable[P, T]:
    """Publish a function: fill its docstring, and say where the metric belongs."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        _refuse_misplaced(function.__name__, args, kwargs)
        return function(*args, **kwargs)

    return fill_docstring(checked, _TEXTS)


def pair_test(
    description: str,
    reference: str,
    statistic_name: str,
    requirements: Requirements[ComparedConfigs],
    compute: Callable[..., Findings],
    **more: Any,
) -> Callable[[Callable[P, Comparison]], Callable[P, Comparison]]:
    """Declare a public function to be a test of a pair, which `compute` does; its name and options are the function's.

    Its docstring gets a sentence on what the test needs, before the parameters.
    """

    def decorate(function: Callable[P, Comparison]) -> Callable[P, Comparison]:
        every = inspect.signature(function).parameters.values()
        asked = {field.name for field in fields(Hypothesis)}
        options = {p.name: p.default for p in every if p.kind is p.KEYWORD_ONLY and p.name not in asked}
        name = function.__name__
        DECLARED[name] = requirements
        TESTS[name] = PairTest(name, description, reference, statistic_name, requirements, compute, options, **more)
        if function.__doc__ is not None:
            before, heading, after = function.__doc__.partition("Parameters")
            function.__doc__ = f"{before}This test needs {in_words(requirements)}.\n\n    {heading}{after}"
        return public(function)

    return decorate


def _refuse_misplaced(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse a configuration in the place of the metric, and a metric in the place of a configuration."""
    given = {"named": kwargs.get("metric")} | kwargs | dict(zip(("source", "metric", "a", "b"), args, strict=False))
    source, metric = given.get("source"), given.get("metric")
    configs = getattr(source, "configs", ())
    known = metrics.names()
    several = isinstance(metric, (list, tuple))
    if several or isinstance(metric, (int, np.integer)) or (metric in configs and metric not in known):
        what = "a list" if several else f"the configuration {metric!r}"
        remedy = f"Call `{name}({_right_order(source, given)})`."
        raise invalid("metric", "is the second argument", f"got {what} there", remedy)
    for option in ("a", "b"):
        value = given.get(option)
        if isinstance(value, str) and value in known and value not in configs:
            remedy = f"The metric is the second argument: `{name}({_right_order(source, given)})`."
            raise invalid(option, "must be a configuration", f"got the metric {value!r}", remedy)


def _right_order(source: Any, given: Mapping[str, Any]) -> str:
    """The arguments in the right order, as text: source, metric, configurations."""
    values = [given[name] for name in ("named", "metric", "a", "b") if given.get(name) is not None]
    flat = [item for value in values for item in (value if isinstance(value, (list, tuple)) else [value])]
    named: list[Any] = [v for v in flat if isinstance(v, str) and v in metrics.names()]
    configs = [v for v in flat if v in getattr(source, "configs", ()) or isinstance(v, (int, np.integer))]
    if not named:
        named = [recorded_metric(source, None) if isinstance(source, Predictions) else source.metric]
    return ", ".join(["source", repr(named[0]), *map(repr, configs), *(["..."] if len(configs) < 2 else [])])
