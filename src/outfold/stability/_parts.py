"""What errors and scores vary with: bias and variance of predictions, samples, partition and seed, halves of m x 2 folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.predictions import Predictions
from ..data.scores import layout
from ..data.seeds import SEEDS
from ..exceptions import NeedError, got, invalid
from ..metrics import MetricLike
from ..metrics._scoring import Scoring, selecting
from ..metrics._units import unit_values
from ..requirements import UNTRAINED_SPREAD, Requirement, block, requires, source_in_words
from ..results import BiasVariance, VarianceComponents, VarianceSplit
from ..stats.decomposition import correlations, squared_error_parts, zero_one_parts
from ..stats.nested_variance import components
from ..stats.paired import balanced_variance, between_repeats, within_halves
from ._stop import complete, document

_BY_LABEL, _BY_VALUE = ("accuracy", "error"), ("mse", "neg_mean_squared_error")
_PARTITIONS: Requirement[Predictions] = Requirement(
    "2 repeats or more that hold out every sample",
    lambda oof: oof.n_repeats > 1 and bool(np.all(oof.folds >= 0)),
    "Collect with `Plan(folds=10, repeats=5)`.",
)


@document
@requires()
def bias_variance(oof: Predictions, metric: MetricLike | None = None) -> BiasVariance:
    """Split the mean loss of each configuration into bias and variance over training sets.

    The predictions of a sample come from models that were trained on different sets: from the repeats, or from the bootstrap
    rounds that left the sample out. For squared errors the loss is the squared error of the mean prediction plus the variance of
    the predictions. For 0-1 loss it is the loss of the most frequent class, plus what straying from it adds where it is right,
    minus what straying saves where it is wrong [2]_.

    Parameters: {oof}
    metric : {{"accuracy", "error", "mse", "neg_mean_squared_error"}} or None
        0-1 loss or squared error. None takes the one that fits the task.

    Returns
    -------
    BiasVariance
        Loss, bias and variance of each configuration.

    Notes
    -----
    [1]_ defines bias and variance (eq. 8 and 9) for an estimator, and leaves losses to [2]_. The noise of the labels cannot be
    told from the bias, so the bias contains it. The training sets of repeats share samples, so the variance is smaller than
    that of independent training sets; bootstrap rounds share fewer. For squared errors both parts are unbiased for any number
    of predictions. For 0-1 loss take many rounds: of few predictions, the most frequent class follows each of them.
    References: {raschka2018, domingos2000}

    Examples: {iris}
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> oof = of.collect(DecisionTreeClassifier(), X[50:, :2], y[50:], plan=of.Plan.bootstrap(30), progress=False)
    >>> parts = of.stability.bias_variance(oof)
    >>> print(f"bias {parts.bias[0]:.2f}, variance {parts.variance[0]:.2f}")
    bias 0.44, variance 0.19
    """
    classes = oof.target.classes
    by_label = classes is not None
    found = Scoring(oof, ("error" if by_label else "mse") if metric is None else metric)
    known = _BY_LABEL if by_label else _BY_VALUE
    if found.metric.name not in known:
        needed = "is for 0-1 loss (accuracy, error) and for squared error (mse)"
        raise invalid("bias_variance", needed, f"got {found.metric.name}", f"Use {known[0]!r}.")
    held = np.zeros((oof.n_repeats, oof.n_samples), dtype=bool)
    for r, k in found.cells:
        held[r, oof.splits.test_rows(r, k)] = True
    often = held.sum(axis=0)
    rows = np.flatnonzero(often >= 2)
    if not len(rows):
        remedy = "Collect with `repeats=10`, or with `Plan.bootstrap(100)`."
        raise NeedError(
            argument="bias_variance", needed="needs two predictions of a sample", given="each has one", remedy=remedy
        )
    data, seen = oof.respond(found.metric.needs)[:, found.candidates][:, :, rows], held[:, None, rows]
    if classes is not None:
        parts = zero_one_parts(oof.target.y[rows], np.where(seen, data, -1), len(classes))
    else:
        parts = squared_error_parts(oof.target.y[rows], np.where(seen, data, np.nan))
    return BiasVariance(
        kind="0-1 loss" if by_label else "squared error",
        configs=found.names,
        **parts._asdict(),
        n_samples=len(rows),
        n_predictions=float(often[rows].mean()),
        plan=str(oof.plan),
    )


@document
@requires(block(SEEDS), _PARTITIONS)
def variance(oof: Predictions, metric: MetricLike | None = None) -> VarianceSplit:
    """Variance of the score of one fit per fold, split into samples, partition and seed.

    In repeat r, the models of seed s give the score t_rs, the mean over N samples of what each adds, v_irs. These are taken for
    v_irs = mu + a_i + p_r + s_rs + (ap)_ir + (as)_irs, seeds nested in partitions, both crossed with samples. With R repeats and
    m seeds, a bar for a mean, and var for the variance with one degree less than there are terms:

    - seed = mean_r var_s(t_rs), which is var(s) + var(as) / N;
    - partition = var_r(tbar_r) - seed / m, which is var(p) + var(ap) / N;
    - samples = [var_i(vbar_i) - I / R] / N, which is var(a) / N, where I is the mean square of vbar_ir - vbar_i - vbar_r + vbar,
      with (N - 1)(R - 1) degrees of freedom.

    These are the estimators of the analysis of variance [2]_. One that is below 0 is given as 0. The mean over all repeats and
    seeds varies by samples + partition / R + seed / (R m): averaging helps with the last two only. That another data set would
    give other training sets is in none of the parts, and one data set does not show it.

    The parts are of scores of single models, and so is their mean. The score of the averaged predictions, which the other methods
    read, is given beside it; it is mostly better. Scores are pooled over folds.

    Parameters
    ----------
    oof : Predictions
        Predictions of ``collect(..., seeds=m)`` with several repeats. Only configurations without failed or dropped cells and
        repeats that all of them have done count.
    {recorded_metric}

    Returns
    -------
    VarianceSplit
        The three variances of each configuration. A configuration that was fitted once has no variance of seeds.
    References: {tsamardinos2015, searle1992}

    Examples: {iris}
    >>> from sklearn.tree import ExtraTreeClassifier
    >>> oof = of.collect(ExtraTreeClassifier(), X, y, of.Plan(folds=5, repeats=4), seeds=3)
    >>> split = of.stability.variance(oof, "accuracy")
    >>> [round(float(part[0]) ** 0.5, 3) for part in (split.samples, split.partition, split.seed)]
    [0.013, 0.0, 0.018]
    """
    scoring = selecting(oof, metric)
    if scoring.metric.needs == "live":
        remedy = "Use a metric of predictions, such as accuracy."
        raise NeedError(argument="variance", needed="needs predictions", given="a live score has none", remedy=remedy)
    done = complete(oof.sel(config=list(scoring.names)))
    if done is None or done.n_repeats < 2:
        given = "there is none" if done is None else "there is 1"
        needed, remedy = "needs 2 complete repeats or more", "Collect the missing cells first."
        raise NeedError(argument="variance", needed=needed, given=given, remedy=remedy)
    each = done.blocks[SEEDS]
    m = each.n_repeats // done.n_repeats
    values = unit_values(each, scoring.metric).values.reshape(done.n_configs, done.n_repeats, m, -1)
    return VarianceSplit(
        metric=scoring.metric.name,
        configs=scoring.names,
        scores=values.mean(axis=(1, 2, 3)),
        averaged=selecting(done, scoring.metric).by("pooled").scores()[0],
        **{name: np.maximum(part, 0.0) for name, part in components(values)._asdict().items()},
        n_units=values.shape[3],
        n_repeats=done.n_repeats,
        n_seeds=m,
    )


@document
def variance_components(
    scores: Predictions | Sequence[Predictions] | ArrayLike,
    metric: MetricLike | None = None,
    config: str | int | None = None,
) -> VarianceComponents:
    """Variance components of a balanced m x 2 cross-validation, such as the blocked 3x2, and estimates of its variance.

    The score of a half has the correlation rho1 with the other half of its repeat, and rho2 with halves of other repeats. The
    variance of the mean over m repeats is variance (1 + rho1 + 2 (m-1) rho2) / (2m) (eq. 3.2 of [1]_). Its estimates L, AL and
    a more careful one are sum_i s_i^2 / (2m) + weight S_between^2 with weights 0, (m-1)/m and (m+1)/m. They come from each
    data set; the correlations come from several independent data sets only, such as simulated ones.

    Parameters
    ----------
    scores : Predictions, list of Predictions, or array-like of shape (data sets, m, 2) or (m, 2)
        Predictions of ``Plan.blocked(m)`` for one data set or for several independent ones; or the scores of the halves.
    {task_metric}
    config : str, int or None
        The configuration, where the predictions have several.

    Returns
    -------
    VarianceComponents
        The estimates and, from two data sets on, correlations and variance.
    References: {wang2014}

    Examples: {outfold}
    >>> round(of.stability.variance_components([[0.81, 0.78], [0.84, 0.80], [0.79, 0.80]]).AL, 6)
    0.000356
    """
    table = _halves(scores, metric, config)
    n, m, _ = table.shape
    estimates = {name: float(balanced_variance(table, weight).mean()) for name, weight in _weights(m).items()}
    found = correlations(table) if n > 1 else None
    known = {} if found is None else {**found._asdict(), "of_mean": found.of_mean(m)}
    within, between = float(within_halves(table).mean() / m), float(between_repeats(table).mean())
    return VarianceComponents(
        n_sets=n, n_repeats=m, mean=float(table.mean()), within=within, between=between, **estimates, **known
    )


def _weights(m: int) -> dict[str, float]:
    """Weights of the variance between repeats: eq. 4.1 to 4.3 of Wang et al. (2014), for any m."""
    return {"L": 0.0, "AL": (m - 1) / m, "careful": (m + 1) / m}


def _halves(scores: Any, metric: MetricLike | None, config: str | int | None) -> NDArray[np.float64]:
    """(data sets, m, 2) scores of halves."""
    sets = [scores] if isinstance(scores, Predictions) else scores
    if isinstance(sets, (list, tuple)) and len(sets) and all(isinstance(one, Predictions) for one in sets):
        tables = [_halves_of(oof, metric, config) for oof in sets]
        if len({len(table) for table in tables}) > 1:
            raise invalid("variance_components", "needs the same plan for each data set")
        return np.stack(tables)
    try:
        table = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        given = f"got {type(scores).__name__}"
        raise invalid("variance_components", "needs predictions or an array of scores", given) from None
    table = table[None] if table.ndim == 2 else table
    if table.ndim != 3 or table.shape[2] != 2 or table.shape[1] < 2 or not len(table) or not np.isfinite(table).all():
        needed = "must be finite, of shape (data sets, m, 2) or (m, 2), two repeats m or more"
        raise invalid("scores", needed, f"got shape {np.shape(scores)}")
    return table


def _halves_of(oof: Predictions, metric: MetricLike | None, config: str | int | None) -> NDArray[np.float64]:
    """(m, 2) scores of one configuration."""
    one = oof if config is None else oof.sel(config=config)
    if one.n_configs > 1:
        raise invalid("config", "must name one of the configurations", got(config))
    if layout(one) != "balanced":
        remedy = UNTRAINED_SPREAD if one.nothing_trained else "Collect with `Plan.blocked(3)`."
        needed = "needs two folds, repeated so that the halves of any two repeats share a quarter of the samples"
        raise NeedError(argument="variance_components", needed=needed, given=source_in_words(one), remedy=remedy)
    folds = selecting(one, metric, "fold").fold_scores()[0, 0]
    if len(folds) < len(one.splits.cells) or np.isnan(folds).any():
        needed, remedy = (
            "needs the scores of all halves",
            "Collect the missing cells, or take a metric such as accuracy.",
        )
        raise NeedError(argument="variance_components", needed=needed, given="some are missing", remedy=remedy)
    return np.asarray(folds.reshape(-1, 2))
