"""How probable is it that A is better than B, given its scores on many splits?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..metrics import MetricLike
from ..results import Comparison, Outcome
from ..stats.paired import mean_variance, posterior, student
from ._contest import Contest, Source
from ._design import Answer, PairTest, Question, compare_pair
from ._resampling import ANY_SPLITS, check_correlation
from ._splits import PARTITIONS, Differences


def _t_bayes(contest: Contest, pairs: NDArray[np.intp], question: Question, rho: float | None = None) -> Answer:
    d = Differences("t_bayes", ANY_SPLITS, contest, pairs)
    ratio = float(d.ratios.mean())
    rho = ratio / (1 + ratio) if rho is None else check_correlation(rho)
    variance, df, rope = mean_variance(d.d, rho), d.n_splits - 1, question.rope or 0.0
    credible = student(d.mean, variance, df, question.confidence_level, d.floor).interval
    # The kernel knows greater and smaller; better and worse hang on the metric.
    mass = posterior(contest.sign * d.mean, variance, df, rope, d.floor)
    outcome = Outcome(
        difference=d.mean,
        df=(df,),
        interval=credible,
        standardised=d.standardised,
        wins=d.wins,
        unit="fold" if contest.folds.layout in PARTITIONS else "split",
        probabilities=mass,
        notes=d.flat_notes(np.isnan(credible[:, 0])),
    )
    text = f"{T_BAYES.description}, correlation {rho:.4g}, rope {rope:g}; the interval is a credible one"
    return Answer(outcome, d.scores, d.notes(), text)


T_BAYES = PairTest("t_bayes", "Bayesian correlated t test", "Benavoli et al. 2017", "t", ANY_SPLITS.words, _t_bayes)


def t_bayes(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None = None,
    *,
    rope: float = 0.0,
    rho: float | None = None,
    confidence_level: float = 0.95,
) -> Comparison:
    """Posterior probabilities that `a` is better than `b`, equivalent, or worse, by the Bayesian correlated t test.

    The mean difference has a t distribution about dbar with variance S^2 (1/J + rho/(1-rho)) and J - 1 degrees of freedom
    (Corani and Benavoli 2015; Benavoli et al. 2017). There is no p value; the interval is a credible interval.

    Parameters
    ----------
    source, a, b, metric
        As for `t_corrected`.
    rope
        Differences up to this size, in units of the metric, count as equivalent.
    rho
        Correlation of the differences of two splits; None takes the share of the samples held out, n_test / n.
    confidence_level
        Level of the credible interval.
    """
    question = Question(confidence_level=confidence_level, rope=rope)
    return compare_pair(T_BAYES, source, a, b, metric, question, rho=rho)
