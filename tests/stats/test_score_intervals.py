"""Intervals of scores where hardly any unit tells how much they vary."""

import numpy as np
import pytest
from scipy.stats import t

from outfold.stats.intervals import equal_answers, wilson
from outfold.stats.training import score_interval


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("df", [1.0, 1.2, 1.5, 4.0, 30.0])
def test_one_degree_of_freedom_has_an_interval_too(df):
    """A class with one member: the quantile of Student's t is 12.7, and the normal level of that is 1 to the last digit."""
    score, variance, sizes, reach = 0.174, 0.009, (120.0, 2.0), t.ppf(0.975, df)
    low, high = score_interval(score, variance, sizes, df, (0.0, 1.0), 0.95)
    n = equal_answers(score * (1 - score), variance, *sizes)
    # The ends solve Wilson's equation: the score lies `reach` standard errors of the end away from it.
    for end in (low, high):
        assert abs(score - end) / np.sqrt(end * (1 - end) / n) == pytest.approx(reach, rel=1e-6)
    assert 0 < low < score < high < 1


def test_no_answers_tell_nothing():
    assert wilson(0, 0, 0.95) == (0.0, 1.0)
