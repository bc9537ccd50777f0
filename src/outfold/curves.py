"""Would more data help, and which value of a parameter? Scores on training and held-out samples, side by side.

A learning curve shows the scores as the training part grows, a validation curve as one parameter changes. If the training line is
far above the other, the models overfit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import formatting
from .arguments import RngLike, as_seed, check_choice, check_confidence_level, check_count
from .data.notes import Note
from .data.plan import Plan
from .data.predictions import Predictions
from .data.splitting import NOT_HELD_OUT, Splits, group_codes
from .docstrings import fill_with
from .exceptions import InputError, NeedError, got, invalid
from .fitting.api import run_job
from .fitting.configs import grid
from .fitting.data import Rows
from .fitting.job import Job, Options, make_job
from .metrics import Metric, MetricLike
from .metrics._cell_scores import cell_scores
from .metrics._scoring import Scoring, bind, recorded_metric, selecting
from .progress import Mode
from .results import CurveLine, LearningCurve, PowerLaw, ValidationCurve
from .select import choose, one_standard_error
from .stats.fold_means import standard_errors
from .stats.kernels import RELATIVE_TIE
from .stats.paired import mean_variance, student
from .stats.power_law import drawn_deviations, fit_power_law

__all__ = ["learning", "power_law", "validation"]

RepeatFold = tuple[int, int]
TrainingRows = Mapping[RepeatFold, Rows]

_SHARES = tuple(round(0.1 * i, 1) for i in range(1, 11))
# Streams of one seed are told apart by the first word of their spawn key (see _plan).
_SUBSET_STREAM = 0x5B5E7

_document = fill_with(
    {
        "data": (
            "X : array-like, sparse matrix, data frame or list of str\n    Features.\n"
            "y : array-like\n    Labels, values, or survival records (event, time)."
        ),
        "plan": """plan : Plan, int, splitter, iterable or None
    How samples are held out: a plan, a number of folds, a scikit-learn splitter, or (train, test) index pairs.
    None takes 5 folds for `learning` and 10 for `validation`.""",
        "collected": (
            "metric : str, callable, Metric or None\n    The score; None takes the default metric of the task.\n"
            "groups : array-like or None\n    The group of each sample; the samples of a group are held out together.\n"
            "rng : int or None\n    Seed of the splits and of the fits; None draws one.\n"
            "n_jobs : int or None\n    Number of workers; None is one, or what ``joblib.parallel_config`` says.\n"
            "fit_params : dict or None\n    Arguments of each ``fit``; arrays with one entry for each sample are split like X.\n"
            "timeout : float or None\n    Seconds that a fit may take; one that takes longer is a failed fit.\n"
            'progress : bool, "always" or callable\n'
            "    Whether to show a line on the terminal, or a function to call instead.\n"
            "positive : label or None\n    Which of two classes is the positive one; None takes the last in sorted order.\n"
            'task : {"classification", "regression", "survival"} or None\n'
            "    What is predicted, if the estimators do not say it."
        ),
    }
)


@_document
def learning(
    configs: Any,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[float] | None = None,
    plan: Plan | int | Any = None,
    metric: MetricLike | None = None,
    groups: Any = None,
    rng: int | None = 0,
    n_jobs: int | None = None,
    fit_params: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    progress: Mode = True,
    positive: Any = None,
    task: Literal["classification", "regression", "survival"] | None = None,
) -> LearningCurve:
    """Score configurations on training and held-out samples as the training part grows (Figure 4 of [1]_).

    The held-out parts are the same at every size and for every configuration, so you can compare the points. A larger part
    contains the smaller ones. Classes keep their proportions and are all present. Groups stay whole, so parts of grouped data
    only come near the size asked for. At the full size the fits are those of `collect`.

    Parameters
    ----------
    configs : Configs, dict of estimators or estimator
        Configurations as `collect` takes them; each gets a curve.
    {data}
    sizes : sequence of float or int, or None
        Shares of the training part (floats up to 1.0) or numbers of samples (whole numbers). None takes 0.1, 0.2, ..., 1.0,
        without those too small to hold every class.
    {plan, collected}

    Returns
    -------
    LearningCurve
        The band is one standard deviation over folds and repeats: where the score of a single split lies. It does not shrink
        when repeats are added.
    References: {raschka2018}

    Examples: {iris}
    >>> from sklearn.naive_bayes import GaussianNB
    >>> of.curves.learning(GaussianNB(), X, y, sizes=[15, 60, 120])
    <LearningCurve of 1 configuration by accuracy at 3 sizes>
    """
    data = {"groups": groups, "positive": positive, "task": task, "fit_params": fit_params}
    work = {"rng": rng, "n_jobs": n_jobs, "timeout": timeout, "progress": progress}
    options = Options.checked(Plan(folds=5) if plan is None else plan, **data, **work)
    job = make_job(configs, X, y, options)
    trained = _fit(job, metric, _subsets(job, sizes))
    train, test = _scores(trained)
    return LearningCurve(
        metric=trained.metric.name,
        greater_is_better=trained.metric.greater_is_better,
        configs=trained.both.configs,
        n_train=trained.n_train,
        n_test=np.array([len(job.splits.test_rows(*cell)) for cell in job.splits.cells], dtype=np.intp),
        bounds=trained.metric.bounds,
        train=_line(train),
        test=_line(test),
        plan=str(job.splits.plan),
        fingerprint=job.header.fingerprint,
        n_samples=trained.both.n_samples,
        failures=_failures(trained.both),
        notes=(*trained.both.notes, *_falling(trained, test)),
    )


@_document
def validation(
    estimator: Any,
    X: Any,
    y: Any,
    param: str,
    values: Sequence[Any],
    *,
    name: str = "model",
    simpler: Literal["smaller", "larger"] = "smaller",
    plan: Plan | int | Any = None,
    metric: MetricLike | None = None,
    groups: Any = None,
    rng: int | None = 0,
    n_jobs: int | None = None,
    fit_params: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    progress: Mode = True,
    positive: Any = None,
    task: Literal["classification", "regression", "survival"] | None = None,
) -> ValidationCurve:
    """Score an estimator on training and held-out samples over the values of one parameter (Figure 18 of [1]_).

    Parameters
    ----------
    estimator : estimator
        Any estimator or pipeline.
    {data}
    param : str
        The parameter: its full name, or the part of the name that no other parameter has.
    values : sequence
        The values to try.
    name : str
        What the configurations are called: ``model(C=0.1)``.
    simpler : {"smaller", "larger"}
        Whether smaller or larger values make a simpler model, for the one-standard-error choice.
    {plan, collected}

    Returns
    -------
    ValidationCurve
        The curve with the best value, and the simplest value within one standard error of it. The band is one standard error
        over the folds of a repeat, averaged over repeats, as in that rule. ``curve.oof`` holds the predictions.
    References: {raschka2018}

    Examples: {iris}
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> of.curves.validation(DecisionTreeClassifier(), X, y, "max_depth", [1, 2, 4], plan=5).best_value
    4
    """
    check_choice(simpler, ("smaller", "larger"), "simpler")
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise invalid("values", f"must be a list of values of {param}", got(values))
    values = list(values)
    configs = grid(name, estimator, {param: values})
    data = {"groups": groups, "positive": positive, "task": task, "fit_params": fit_params}
    work = {"rng": rng, "n_jobs": n_jobs, "timeout": timeout, "progress": progress}
    options = Options.checked(Plan() if plan is None else plan, **data, **work)
    job = make_job(configs, X, y, options)
    trained = _fit(job, metric, [{cell: job.splits.train_rows(*cell) for cell in job.splits.cells}])
    train, test = _scores(trained)
    repeats = np.array([r for r, _ in job.splits.cells])
    oof = trained.out_of_fold().selecting_by(trained.metric, aggregate="fold")
    scoring = selecting(oof, trained.metric)
    return ValidationCurve(
        metric=trained.metric.name,
        greater_is_better=trained.metric.greater_is_better,
        param=param,
        values=tuple(values),
        configs=tuple(configs),
        train=_line(train[:, 0], repeats),
        test=_line(test[:, 0], repeats),
        best=choose(scoring).index,
        one_standard_error=_simplest(scoring, dict(zip(configs, values, strict=True)), simpler, repeats),
        oof=oof,
        plan=str(oof.plan),
        failures=_failures(trained.both),
        notes=trained.both.notes,
    )


# A law has three parameters: with three sizes it would go through every point.
_LEAST_SIZES = 4


@_document
def power_law(
    curve: LearningCurve, *, n_resamples: int = 1000, confidence_level: float = 0.95, rng: RngLike = 0
) -> PowerLaw:
    """Fit an inverse power law to a learning curve, to say how scores go on with more samples.

    The score of held-out samples is taken for a - b n^-c, with n training samples, b not negative, and a not above the best
    score there is (a + b n^-c for a loss) [1]_. It is fitted by least squares to the mean score of each size. The interval comes
    from fits to draws of these means, of a t distribution. Over J folds, each mean has the variance s^2 (1/J + n_test/n_train)
    [3]_. The second part, which comes from samples that folds share, moves all sizes together.

    Parameters
    ----------
    curve : LearningCurve
        Scores at four sizes or more, on two folds or more.
    n_resamples : int
        Number of draws.
    {confidence_level, rng}

    Returns
    -------
    PowerLaw
        ``law.at(500, "logit")`` is the score to expect with 500 training samples. ``law.needed(0.9, "logit")`` says how many
        samples a score needs, or that no number is enough. ``law.best()`` is the configuration with the best law at the samples
        at hand, with its score: the IPL method of [2]_.

    Notes
    -----
    IPL corrects the error rate of the best classifier by taking that of fitted learning curves. We read it as the best of the
    fitted scores at the number of samples at hand. [2]_ cross-validate random subsamples of each size; here a size is a part
    of the training samples of a fold, so that all sizes are scored on the same held-out samples. Curves that do not follow a
    power law, and few samples, make the answer unreliable.
    References: {mukherjee2003, ding2014, nadeau2003}

    Examples: {iris}
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = of.curves.learning(GaussianNB(), X[50:, :2], y[50:], sizes=[10, 20, 40, 80], metric="roc_auc")
    >>> law = of.curves.power_law(curve)
    >>> round(law.at(200).score, 2), law.needed(0.99).n
    (0.77, None)
    """
    if not isinstance(curve, LearningCurve):
        raise invalid("curve", "must be a learning curve, as `curves.learning` gives", f"got {type(curve).__name__}")
    level, n_resamples = check_confidence_level(confidence_level), check_count(n_resamples, "n_resamples", 2)
    seed, sizes = as_seed(rng), curve.sizes
    if len(sizes) < _LEAST_SIZES:
        given, remedy = f"this one has {len(sizes)}", "Give more `sizes` to `curves.learning`."
        raise NeedError(argument="power_law", needed=f"needs {_LEAST_SIZES} sizes or more", given=given, remedy=remedy)
    sign = 1.0 if curve.greater_is_better else -1.0
    best = sign * curve.bounds[1 if curve.greater_is_better else 0]
    fits, draws, residuals = [], [], []
    for name, values in zip(curve.configs, sign * curve.test.values, strict=True):
        kept = np.isfinite(values).all(axis=0)
        if kept.sum() < 2:
            given = f"{name!r} has {int(kept.sum())}"
            raise NeedError(
                argument="power_law", needed="needs two folds or more that are scored at all sizes", given=given
            )
        scores, held = values[:, kept], curve.n_test[kept]
        ratio = float(np.mean(held / (curve.n_samples - held)))
        means = scores.mean(axis=1)
        drawn = drawn_deviations(scores, ratio, n_resamples, seed)
        found = fit_power_law(sizes, np.minimum(np.vstack([means, means + drawn]), best), best)
        fits.append(found[0])
        draws.append(found[1:])
        residuals.append(float(np.sqrt(np.mean((_at_sizes(found[0], sizes) - means) ** 2))))
    signs = np.array([sign, 1.0, 1.0])
    return PowerLaw(
        metric=curve.metric,
        greater_is_better=curve.greater_is_better,
        configs=curve.configs,
        parameters=signs * np.array(fits),
        draws=signs * np.stack(draws, axis=1),
        residual=np.array(residuals),
        sizes=sizes,
        n_samples=curve.n_samples,
        confidence_level=level,
        plan=curve.plan,
    )


def _at_sizes(law: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    a, b, c = law
    return np.asarray(a - b * sizes**-c)


@dataclass(frozen=True, eq=False)
class _Trained:
    """What fits on several training parts of each cell predict for held-out and for training samples."""

    metric: Metric
    both: Predictions  # with a repeat for each (stage, cell): fold 0 is held out, fold 1 is trained on
    job: Job  # its splits are those of the plan
    n_train: NDArray[np.intp]  # (stages, cells)

    def out_of_fold(self) -> Predictions:
        """The predictions of held-out samples of the first stage, as `collect` gives them."""
        start, both, splits = self.job.header, self.both, self.job.splits
        data, state = np.array(start.data), np.array(start.state)
        seconds = np.full(state.shape, np.nan)
        labels = None if both.labels is None else np.full(data.shape[:3], -1, dtype=np.intp)
        messages: dict[tuple[str, int, int], str] = {}
        for i, (r, k) in enumerate(splits.cells):
            rows = splits.test_rows(r, k)
            data[r][:, rows] = both.data[i][:, rows]
            state[:, r, k] = both.state[:, i, 0]
            if both.seconds is not None:
                seconds[:, r, k] = both.seconds[:, i].sum(axis=1)
            if labels is not None and both.labels is not None:
                labels[r][:, rows] = both.labels[i][:, rows]
            messages |= {(c, r, k): text for (c, at, fold), text in both.messages.items() if (at, fold) == (i, 0)}
        known: dict[str, Any] = {"data": data, "state": state, "seconds": seconds, "labels": labels}
        made = {**start.provenance, **both.provenance}
        return replace(start, **known, messages=messages, notes=both.notes, provenance=made)


def _fit(job: Job, metric: MetricLike | None, parts: Sequence[TrainingRows]) -> _Trained:
    """Fit each configuration on the training rows that each stage names for each cell of the plan.

    Each fit is one repeat of the splits: its fold 0 is the test part, its fold 1 the training part. So workers, limits, seeds
    and failed cells are those of `collect`.
    """
    job, cells = replace(job, blocks={}), job.splits.cells
    found, _ = bind(job.header, recorded_metric(job.header, metric))  # refuses a metric before the work
    splits = _two_parts(job.splits, [(cell, rows[cell]) for rows in parts for cell in cells])
    both = run_job(replace(job, splits=splits, seeds=tuple(cells) * len(parts)))
    n_train = np.array([[len(rows[cell]) for cell in cells] for rows in parts], dtype=np.intp)
    return _Trained(found, both, job, n_train)


def _two_parts(splits: Splits, fits: Sequence[tuple[RepeatFold, Rows]]) -> Splits:
    """Splits with a repeat for each fit: fold 0 is its test part, fold 1 the rows it is trained on."""
    folds = np.full((len(splits.folds), len(fits)), NOT_HELD_OUT, dtype=np.int32)
    train = {}
    for i, (cell, rows) in enumerate(fits):
        folds[splits.test_rows(*cell), i] = 0
        folds[rows, i] = 1
        train[i, 0] = train[i, 1] = rows
    plan = replace(splits.plan, kind="given", folds=2, repeats=len(fits), cv=None)
    return Splits(plan, folds, train, splits.notes)


def _scores(trained: _Trained) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(C, S, cells) scores of the training and of the held-out parts."""
    scores = cell_scores(trained.both, trained.metric)
    test, train = np.moveaxis(scores.reshape(len(scores), *trained.n_train.shape, 2), -1, 0)
    return np.ascontiguousarray(train), np.ascontiguousarray(test)


# The largest p value, adjusted for the number of sizes, at which a score counts as falling.
_FALLS = 0.05


def _falling(trained: _Trained, test: NDArray[np.float64]) -> tuple[Note, ...]:
    """A caveat where more samples give a worse score: cross-validation then promises too much (Tsamardinos 2015, sect. 9).

    The largest size is compared with each smaller one on the same held-out parts, by the corrected t test (Nadeau and Bengio
    2003), adjusted for the number of sizes by Bonferroni.
    """
    metric, n_train, splits = trained.metric, trained.n_train, trained.job.splits
    n_sizes, n_cells = n_train.shape
    if n_sizes < 2 or n_cells < 2:
        return ()
    n_test = np.array([len(splits.test_rows(*cell)) for cell in splits.cells])
    rho = float(np.mean(n_test / (n_test + n_train[-1])))
    notes = []
    for config, scores in zip(trained.both.configs, test, strict=True):
        difference = metric.sign * (scores[-1] - scores[:-1])
        mean, floor = difference.mean(axis=1), RELATIVE_TIE * np.abs(scores).max(axis=1)[:-1]
        tested = student(mean, mean_variance(difference, rho), n_cells - 1, 0.95, floor)
        p = np.where(tested.statistic < 0, tested.pvalue / 2 * (n_sizes - 1), np.nan)
        if np.any(p <= _FALLS):
            at = int(np.nanargmin(p))
            ends = (
                f"{formatting.number(float(scores[i].mean()))} with {n_train[i].mean():,.0f} samples" for i in (at, -1)
            )
            text = f"the {metric.name} of {config} gets worse as the training part grows: {', '.join(ends)}"
            notes.append(Note("OF535", f"{text} (p = {formatting.pvalue(float(p[at]))})."))
    return tuple(notes)


def _line(values: NDArray[np.float64], repeats: NDArray[np.intp] | None = None) -> CurveLine:
    """The mean with a band of one standard deviation, or of one standard error where the repeats are given."""
    mean, sd = _moments(values)
    half = sd if repeats is None else standard_errors(values, repeats)
    return CurveLine(values, mean, mean - half, mean + half)


def _moments(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation over the cells that are defined; NaN for none, and for the sd of fewer than two."""
    defined = np.isfinite(values)
    n = defined.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(defined, values, 0.0).sum(axis=-1) / np.where(n > 0, n, np.nan)
        squares = np.where(defined, (values - mean[..., None]) ** 2, 0.0).sum(axis=-1)
        return mean, np.sqrt(squares / np.where(n > 1, n - 1, np.nan))


def _failures(both: Predictions) -> dict[str, int]:
    """Messages of failed fits; a fit is in two cells, the one held out counts it."""
    return dict(Counter(text for (_, _, fold), text in both.messages.items() if fold == 0).most_common())


def _simplest(scoring: Scoring, values: Mapping[str, Any], simpler: str, repeats: NDArray[np.intp]) -> int | None:
    """Position of the simplest value within one standard error of the best, where both can be known."""
    numbers = all(
        v is None or (isinstance(v, (int, float, np.number)) and not isinstance(v, bool)) for v in values.values()
    )
    if not numbers or max(np.bincount(repeats)) < 2:
        return None
    sign = 1.0 if simpler == "smaller" else -1.0
    # None is no limit, as everywhere.
    complexity = {name: np.inf if value is None else sign * float(value) for name, value in values.items()}
    return choose(scoring, one_standard_error(complexity)).index


def _subsets(job: Job, sizes: Any) -> list[TrainingRows]:
    """For every size the rows of every cell; a larger size contains the smaller."""
    splits = job.splits
    queues = {cell: _queue(job, cell, splits.train_rows(*cell)) for cell in splits.cells}
    smallest = min(queue.n for queue in queues.values())
    wanted = _wanted(sizes, smallest, max(queue.least for queue in queues.values()), str(splits.plan))
    return [{cell: queue.first(size) for cell, queue in queues.items()} for size in wanted]


def _wanted(sizes: Any, smallest: int, least: int, plan: str) -> list[float]:
    """The sizes in ascending order, checked: shares as floats, numbers of samples as whole numbers."""
    if sizes is None:
        return [share for share in _SHARES if round(share * smallest) >= least] or [1.0]
    given = np.asarray(sizes)
    if given.ndim != 1 or not len(given) or given.dtype.kind not in "iuf":
        needed = "must be shares of the training part such as [0.1, 0.5, 1.0], or numbers of samples"
        raise invalid("sizes", needed, got(sizes))
    shares = given.dtype.kind == "f"
    if shares and not (np.all(given > 0) and np.all(given <= 1)):
        wrong = given[~((given > 0) & (given <= 1))][0]
        needed = "a share of the training part lies above 0 and is at most 1.0"
        raise InputError(needed=needed, given=f"got {wrong:g}", remedy="Whole numbers are numbers of samples.")
    if not shares and given.max() > smallest:
        size, part = (formatting.count(n, "sample") for n in (int(given.max()), smallest))
        problem = f"a size of {size} is larger than the smallest training part, {part} by {plan}"
        raise InputError(problem, remedy=f"Give at most {smallest}, or a plan with more folds.")
    tiny = min(round(float(size) * smallest) if shares else int(size) for size in given)
    if tiny < least:
        needed = f"the smallest size comes to {formatting.count(tiny, 'sample')}"
        fewest = f"a training part needs {least} at least, one of every class"
        raise InputError(needed=needed, given=fewest, remedy="Leave out the smallest sizes.")
    return [float(size) if shares else int(size) for size in np.unique(given)]


class _Queue:
    """The training rows of a cell in the order in which they join; `least` is the fewest that can be trained on."""

    def __init__(self, rows: Rows, ends: NDArray[np.intp], first: int) -> None:
        self._rows, self._ends, self._first = rows, ends, first
        self.n = len(rows)
        self.least = first if len(ends) == len(rows) else 1

    def first(self, size: float) -> Rows:
        """The rows of a share or a number of samples: whole groups, as many as come nearest, every class present."""
        wanted = round(size * self.n) if isinstance(size, float) else size
        at = int(np.argmin(np.abs(self._ends - wanted)))
        return np.sort(self._rows[: self._ends[max(at, self._first - 1)]])


def _queue(job: Job, cell: RepeatFold, rows: Rows) -> _Queue:
    target, plan = job.target, job.splits.plan
    rng = np.random.default_rng(np.random.SeedSequence(job.options.rng, spawn_key=(_SUBSET_STREAM, *cell)))
    strata = target.y if target.classes is not None else target.event
    codes = np.zeros(len(rows), dtype=np.intp) if strata is None else strata[rows].astype(np.intp)
    # A plan told to ignore groups ignores them here too; a splitter of the user's may have kept them itself.
    if job.options.groups is None or (plan.groups is False and plan.kind != "custom"):
        return _Queue(rows[_by_share(codes, rng)], np.arange(1, len(rows) + 1), len(np.unique(codes)))
    groups = group_codes(job.options.groups[rows], len(rows))
    order, first = _by_group(codes, groups, rng)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    ends = np.cumsum(np.bincount(groups)[order])
    return _Queue(rows[np.argsort(place[groups], kind="stable")], ends, first)


def _by_share(codes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """An order every beginning of which has the classes in their proportions, one member of each class first."""
    shuffled = rng.permutation(len(codes))
    key = np.empty(len(codes))
    for code in np.unique(codes):
        members = shuffled[codes[shuffled] == code]
        key[members] = (np.arange(len(members)) + 0.5) / len(members)
        key[members[0]] = 0.0
    return shuffled[np.argsort(key[shuffled], kind="stable")]


def _by_group(
    codes: NDArray[np.intp], groups: NDArray[np.intp], rng: np.random.Generator
) -> tuple[NDArray[np.intp], int]:
    """A random order of the groups, those that bring a new class first; and how many of these there are."""
    shuffled = rng.permutation(int(groups.max()) + 1)
    classes = [set(codes[groups == g].tolist()) for g in range(len(shuffled))]
    seen: set[int] = set()
    first = []
    for g in shuffled.tolist():
        if not classes[g] <= seen:
            first.append(g)
            seen |= classes[g]
    rest = [g for g in shuffled.tolist() if g not in set(first)]
    return np.array([*first, *rest], dtype=np.intp), len(first)
