"""How much of the chance in a score comes from the samples, from the partition and from the seed of the learner."""

from __future__ import annotations

import numpy as np

from ..data.predictions import Predictions
from ..data.seeds import SEEDS
from ..docstrings import fill_common
from ..exceptions import NeedError
from ..metrics import MetricLike
from ..metrics._scoring import selecting
from ..metrics._units import unit_values
from ..requirements import Requirement, block, requires
from ..results import VarianceSplit
from ..stats.nested_variance import components
from ._repeats import complete

_PARTITIONS: Requirement[Predictions] = Requirement(
    "2 repeats or more that hold out every sample",
    lambda oof: oof.n_repeats > 1 and bool(np.all(oof.folds >= 0)),
    "Collect with `Plan(folds=10, repeats=5)`.",
)


@fill_common
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
