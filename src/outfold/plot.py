"""Pictures of predictions and results, by matplotlib: ``pip install 'outfold[plot]'``.

Each function describes a chart, draws it into ``ax=`` or into a new figure, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .arguments import RngLike
from .charts import collected, comparisons, estimates, mpl, responses
from .charts.description import Chart
from .data.predictions import Predictions
from .data.scores import FoldScores
from .docstrings import fill_with
from .metrics import MetricLike
from .results import (
    Comparison,
    Comparisons,
    Estimate,
    Flips,
    LearningCurve,
    Power,
    Ranking,
    Stability,
    TiedSet,
    ValidationCurve,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "calibration",
    "cells",
    "configurations",
    "confusion",
    "critical_difference",
    "difference",
    "draws",
    "flips",
    "fold_scores",
    "learning_curve",
    "optimism",
    "pairwise",
    "power",
    "precision_recall",
    "repeats",
    "roc",
    "selection",
    "tied",
    "trace",
    "validation_curve",
]

ConfigNames = Sequence[str | int] | str | int | None
_CONFIGS = """configs : str, int, sequence of str or int, or None, default=None
    The configurations to show, by name or position. If None,"""
_N_RESAMPLES = "n_resamples : int, default={}\n    Number of bootstrap draws behind intervals and bands."

_TEXTS = {
    "ax": """ax : matplotlib.axes.Axes or None, default=None
    The axes to draw into. If None, a new figure of the right size is made.

Returns
-------
matplotlib.axes.Axes
    The axes with the picture.""",
    "level": "confidence_level : float, default=0.95\n    The level of intervals and bands, between 0 and 1.",
    "draws500": _N_RESAMPLES.format(500),
    "draws1000": _N_RESAMPLES.format(1000),
    "scores": "oof : Predictions\n    Predictions of scores or probabilities.",
    "lines": f"""{_CONFIGS} the selected configuration and the next
    best two are shown; with more than two classes, only the selected configuration.
positive : label or None, default=None
    With more than two classes, the class to hold against the rest. If None, one configuration is shown with a line for
    each class.""",
    "trace": f"""source : Predictions or Stability
    Predictions, or the result of `stability.trace`.
metric : str, callable, Metric or None, default=None
    What to score predictions by. If None, the metric that they record. Leave it out for a result of `stability.trace`.
{_CONFIGS} the `top` best after the last repeat.""",
    "configs": f"{_CONFIGS} all.",
    "example": "\nExamples\n--------",
    # Data of examples that several functions share.
    "prompts": """>>> import numpy as np, outfold as of
>>> oof = of.from_arrays(None, np.random.default_rng(0).random((80, 40)) < 0.7, response="pointwise")""",
    "repeated": """>>> import numpy as np, outfold as of
>>> correct = np.random.default_rng(0).random((80, 3, 20)) < [[0.7], [0.75], [0.8]]
>>> oof = of.from_arrays(None, correct, response="pointwise")""",
    "classes": """>>> import numpy as np, outfold as of
>>> oof = of.from_arrays([0, 1] * 20, np.random.default_rng(0).random((40, 2)), response="proba")""",
}
_filled = fill_with(_TEXTS)


def _draw(ax: Axes | None, describe: Callable[..., Chart], *what: Any) -> Axes:
    mpl.check_matplotlib(ax)
    return mpl.draw(describe(*what), ax)


@_filled
def configurations(
    oof: Predictions,
    metric: MetricLike | None = None,
    top: int = 20,
    *,
    estimate: Estimate | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: RngLike = 0,
    ax: Axes | None = None,
) -> Axes:
    """Show the best configurations with intervals, and how much of the winner's score is luck.

    Each row shows a configuration's cross-validation score and the interval of `estimate.cv`. The last row shows what to
    expect of the winner on new samples. A dotted line leads there from the winner's cross-validation score.

    Parameters: {oof, recorded_metric}
    top : int, default=20
        How many configurations to show, from the best one on.
    estimate : Estimate or None, default=None
        The corrected estimate of these predictions. If None, `estimate.bbc` makes it.
    {level, draws1000, rng, ax, example, prompts}
    >>> ax = of.plot.configurations(oof, "mean", top=10)
    """
    return _draw(ax, estimates.configurations, oof, metric, top, estimate, confidence_level, n_resamples, rng)


@_filled
def optimism(found: Estimate | Iterable[Estimate] | Mapping[str, Estimate], *, ax: Axes | None = None) -> Axes:
    """Show the winner's score beside the corrected estimate: how much of the score is luck.

    Parameters
    ----------
    found : Estimate, iterable of Estimate or mapping of str to Estimate
        One estimate, several that are named by their methods, or a mapping with names of your own; all of one metric.
    {ax, example, prompts}
    >>> ax = of.plot.optimism(of.estimate.bbc(oof, "mean"))
    """
    return _draw(ax, estimates.optimism, found)


@_filled
def draws(estimate: Estimate, *, bins: int | None = None, ax: Axes | None = None) -> Axes:
    """Show the draws behind an interval: a histogram, the interval, the estimate and the winner's score.

    Parameters
    ----------
    estimate : Estimate
        An estimate with draws, as `estimate.bbc` gives.
    bins : int or None, default=None
        The number of bars. If None, the rule of Freedman and Diaconis gives it.
    {ax, example, prompts}
    >>> ax = of.plot.draws(of.estimate.bbc(oof, "mean"))
    """
    return _draw(ax, estimates.draws, estimate, bins)


@_filled
def selection(estimate: Estimate, top: int = 15, *, ax: Axes | None = None) -> Axes:
    """Show how often each configuration is selected, over the bootstrap draws or the outer folds.

    If no configuration is selected often, the data do not tell the configurations apart.

    Parameters
    ----------
    estimate : Estimate
        An estimate that selects more than once: `estimate.bbc` or `estimate.nested`.
    top : int, default=15
        How many configurations to show. The others share the last row.
    {ax, example, prompts}
    >>> ax = of.plot.selection(of.estimate.bbc(oof, "mean"), top=8)
    """
    return _draw(ax, estimates.selection, estimate, top)


@_filled
def cells(oof: Predictions, *, ax: Axes | None = None) -> Axes:
    """Show which configurations were dropped or failed, and when.

    Each row is a configuration, each column a fold, in the order of collecting. Configurations that stayed to the end are on
    top.

    Parameters
    ----------
    oof : Predictions
        Predictions, most often of a `collect` that drops configurations.
    {ax, example, numpy_outfold}
    >>> P = np.ma.masked_array(np.random.default_rng(0).random((20, 3)), mask=np.zeros((20, 3), bool))
    >>> P[10:, 2] = np.ma.masked                      # the third was not run on the second fold
    >>> oof = of.from_arrays([0, 1] * 10, P, folds=np.repeat([0, 1], 10), response="proba")
    >>> ax = of.plot.cells(oof)
    """
    return _draw(ax, collected.cells, oof)


@_filled
def fold_scores(
    oof: Predictions, metric: MetricLike | None = None, config: str | int | None = None, *, ax: Axes | None = None
) -> Axes:
    """Show the scores of one configuration in each fold of each repeat as a heat map.

    A fold without a score is crossed out.

    Parameters
    ----------
    oof : Predictions
        Predictions of at least this configuration.
    {recorded_metric}
    config : str, int or None, default=None
        The configuration, by name or position. If None, the selected configuration.
    {ax, example, numpy_outfold}
    >>> P = np.random.default_rng(0).random((40, 1, 3))
    >>> folds = np.stack([np.random.default_rng(r).permutation(np.arange(40) % 4) for r in range(3)], axis=1)
    >>> oof = of.from_arrays([0, 1] * 20, P, folds=folds, response="proba")
    >>> ax = of.plot.fold_scores(oof, "accuracy")
    """
    return _draw(ax, collected.fold_scores, oof, metric, config)


@_filled
def trace(
    source: Predictions | Stability,
    metric: MetricLike | None = None,
    configs: ConfigNames = None,
    *,
    top: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """Show how scores settle as repeats are added: running means, single repeats, and which configuration led when.

    Parameters: {trace}
    top : int, default=5
        How many configurations to show if `configs` is None.
    {ax, example, repeated}
    >>> ax = of.plot.trace(oof, "mean")
    """
    return _draw(ax, collected.trace, source, metric, configs, top)


@_filled
def repeats(
    source: Predictions | Stability,
    metric: MetricLike | None = None,
    configs: ConfigNames = None,
    *,
    top: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Show how the score of a whole repeat varies with the partition: each repeat, quartiles, median, mean and skew.

    A left skew means that the mean understates a typical repeat [1]_.

    Parameters: {trace}
    top : int, default=10
        How many configurations to show if `configs` is None.
    {ax}
    References: {raeder2010}
    {example, repeated}
    >>> ax = of.plot.repeats(oof, "mean")
    """
    return _draw(ax, collected.repeats, source, metric, configs, top)


@_filled
def roc(
    oof: Predictions,
    configs: ConfigNames = None,
    *,
    positive: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 500,
    rng: RngLike = 0,
    ax: Axes | None = None,
) -> Axes:
    """Show ROC curves of out-of-fold predictions, the mean over repeats, with bands over samples.

    The area below a curve is the pooled roc_auc in the legend. A band holds for each single false positive rate.

    Parameters: {scores, lines, level, draws500, rng, ax, example, classes}
    >>> ax = of.plot.roc(oof)
    """
    return _draw(ax, responses.threshold_chart, "roc", oof, configs, positive, confidence_level, n_resamples, rng)


@_filled
def precision_recall(
    oof: Predictions,
    configs: ConfigNames = None,
    *,
    positive: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 500,
    rng: RngLike = 0,
    ax: Axes | None = None,
) -> Axes:
    """Show precision-recall curves of out-of-fold predictions, the mean over repeats, with bands over samples.

    The area below the steps is the pooled average_precision in the legend.

    Parameters: {scores, lines, level, draws500, rng, ax, example, classes}
    >>> ax = of.plot.precision_recall(oof)
    """
    how = (oof, configs, positive, confidence_level, n_resamples, rng)
    return _draw(ax, responses.threshold_chart, "precision_recall", *how)


@_filled
def calibration(
    oof: Predictions,
    configs: ConfigNames = None,
    *,
    positive: Any = None,
    bins: int = 10,
    confidence_level: float = 0.95,
    n_resamples: int = 500,
    rng: RngLike = 0,
    ax: Axes | None = None,
) -> Axes:
    """Show whether probabilities mean what they say: the share of positives over the mean probability of each bin.

    All bins hold about equally many predictions. Bars are percentile intervals over samples.

    Parameters
    ----------
    oof : Predictions
        Predictions of probabilities.
    {lines}
    bins : int, default=10
        The number of bins. There are fewer if many probabilities are equal.
    {level, draws500, rng, ax, example, classes}
    >>> ax = of.plot.calibration(oof, bins=4)
    """
    return _draw(ax, responses.calibration, oof, configs, positive, bins, confidence_level, n_resamples, rng)


@_filled
def confusion(oof: Predictions, config: str | int | None = None, *, ax: Axes | None = None) -> Axes:
    """Show which class is taken for which, out of fold: counts of samples, shaded by their share of the true class.

    With several repeats, counts are means over repeats.

    Parameters
    ----------
    oof : Predictions
        Predictions of classes.
    config : str, int or None, default=None
        The configuration, by name or position. If None, the selected configuration.
    {ax, example, classes}
    >>> ax = of.plot.confusion(oof)
    """
    return _draw(ax, responses.confusion, oof, config)


@_filled
def difference(
    source: Comparison | Comparisons | Predictions | FoldScores,
    metric: MetricLike | None = None,
    a: str | int | None = None,
    b: str | int | None = None,
    *,
    test: str = "auto",
    confidence_level: float = 0.95,
    rope: float | None = None,
    top: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Show differences with their intervals beside zero; for one pair from predictions, also that of each fold.

    Parameters
    ----------
    source : Comparison, Comparisons, Predictions or FoldScores
        One comparison, several (the clearest are shown first), or predictions or fold scores to compare `a` and `b` on.
    metric : str, callable, Metric or None, default=None
        What to score predictions by. If None, the metric that the predictions record.
    a, b : str, int or None, default=None
        The two configurations, by name or position. Leave them out if `source` is a comparison.
    test : str, default="auto"
        The test of `compare` for predictions. ``"auto"`` takes one that is valid for the plan and the metric.
    {level}
    rope : float or None, default=None
        The largest difference that does not matter in practice, for predictions.
    top : int, default=20
        How many of many pairs to show.
    {ax, example, outfold}
    >>> scores = of.from_scores({"a": [0.8, 0.7, 0.9, 0.8], "b": [0.7, 0.6, 0.9, 0.7]}, n_train=60, n_test=20)
    >>> ax = of.plot.difference(scores, a="a", b="b")
    """
    return _draw(ax, comparisons.difference, source, metric, a, b, test, confidence_level, rope, top)


@_filled
def flips(found: Flips, *, ax: Axes | None = None) -> Axes:
    """Show the difference of two configurations in each partition, and whether the verdict is the same.

    Parameters
    ----------
    found : Flips
        The result of `stability.flips`.
    {ax, example, repeated}
    >>> ax = of.plot.flips(of.stability.flips(oof, "mean", "config 2", "config 0", test="mcnemar"))
    """
    return _draw(ax, comparisons.flips, found)


@_filled
def tied(found: TiedSet, top: int = 20, *, ax: Axes | None = None) -> Axes:
    """Show the configurations that may be the best: their scores, and p values of being the best.

    Parameters
    ----------
    found : TiedSet
        The result of `compare.tied_set`.
    top : int, default=20
        How many configurations to show, from the best one on.
    {ax, example, prompts}
    >>> ax = of.plot.tied(of.compare.tied_set(oof, "mean"), top=8)
    """
    return _draw(ax, comparisons.tied, found, top)


@_filled
def pairwise(found: Comparisons, top: int = 15, *, ax: Axes | None = None) -> Axes:
    """Show all configurations against each other: the probability that the row is better, or the p value of the pair.

    Parameters
    ----------
    found : Comparisons
        The result of `compare.pairs`. Probabilities are shown if the test has them (``test="t_bayes"``), else adjusted p
        values.
    top : int, default=15
        How many configurations to show, from the best one on.
    {ax, example, numpy_outfold}
    >>> draws = np.random.default_rng(0).normal(0.8, 0.02, (3, 10))
    >>> scores = of.from_scores(dict(zip("abc", draws)), n_train=90, n_test=10)
    >>> ax = of.plot.pairwise(of.compare.pairs(scores, test="t_bayes"))
    """
    return _draw(ax, comparisons.pairwise, found, top)


@_filled
def power(powers: Power | Iterable[Power] | Mapping[str, Power], *, ax: Axes | None = None) -> Axes:
    """Show how often a test finds a true difference, over the size of the difference.

    Parameters
    ----------
    powers : Power, iterable of Power or mapping of str to Power
        The result of `compare.power` for several differences. Several results (other tests, other numbers of samples) share
        the picture; a mapping gives them names of your own.
    {ax, example, numpy_outfold}
    >>> correct = np.random.default_rng(0).random((80, 2)) < 0.7
    >>> oof = of.from_arrays(None, correct, response="pointwise")
    >>> found = of.compare.power(oof, None, 0, 1, [0, 0.1, 0.2], test="permutation", n_simulations=50, n_resamples=100)
    >>> ax = of.plot.power(found)
    """
    return _draw(ax, comparisons.power, powers)


@_filled
def critical_difference(ranking: Ranking, *, ax: Axes | None = None) -> Axes:
    """Show the critical difference diagram of a ranking: mean ranks, and bars over what is not told apart.

    It looks like figure 1 of [1]_. ``Ranking.to_svg`` and ``Ranking.to_tikz`` make the same picture without matplotlib.

    Parameters
    ----------
    ranking : Ranking
        The result of a function of `rank`. Bars are drawn if it compared algorithms with each other.
    {ax}
    References: {demsar2006}
    {example, numpy_outfold}
    >>> ranking = of.rank.nemenyi(np.random.default_rng(0).random((12, 4)))
    >>> ax = of.plot.critical_difference(ranking)
    """
    mpl.check_matplotlib(ax, " `Ranking.to_svg()` makes the same picture without it.")
    return _draw(ax, comparisons.critical_difference, ranking)


@_filled
def learning_curve(curve: LearningCurve, configs: ConfigNames = None, *, ax: Axes | None = None) -> Axes:
    """Show scores as the training part grows: solid on held-out samples, dotted on those trained on.

    Parameters
    ----------
    curve : LearningCurve
        The result of `curves.learning`.
    {configs, ax, example}
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = of.curves.learning({"bayes": GaussianNB()}, *load_iris(return_X_y=True), progress=False)
    >>> ax = of.plot.learning_curve(curve)
    """
    return _draw(ax, collected.learning_curve, curve, configs)


@_filled
def validation_curve(curve: ValidationCurve, *, ax: Axes | None = None) -> Axes:
    """Show scores over the values of one parameter, with the best value and the simplest one within one standard error.

    Solid lines are of held-out samples, dotted ones of those trained on.

    Parameters
    ----------
    curve : ValidationCurve
        The result of `curves.validation`.
    {ax, example, outfold}
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree, data = DecisionTreeClassifier(), load_iris(return_X_y=True)
    >>> curve = of.curves.validation(tree, *data, "max_depth", [1, 2, 3], progress=False)
    >>> ax = of.plot.validation_curve(curve)
    """
    return _draw(ax, collected.validation_curve, curve)
