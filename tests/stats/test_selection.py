"""Ranks of scores that may be equal up to rounding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from internals import selection


@pytest.mark.parametrize(
    ("scores", "greater", "ranks"),
    [
        ([0.3, 0.1 + 0.2, 0.5], True, [2, 2, 1]),
        ([0.1 + 0.2, 0.3, 0.5], False, [1, 1, 3]),
        ([0.7, np.nan, 0.7 - 1e-16, 0.2, np.nan], True, [1, 4, 1, 3, 4]),
        ([0.7, 0.7 - 1e-9], True, [1, 2]),
        ([np.inf, 1.0, np.inf, -np.inf], True, [1, 3, 1, 4]),
        ([np.nan, np.nan], True, [1, 1]),
        ([0.0, -0.0], True, [1, 1]),
        ([], True, []),
    ],
)
def test_what_rounding_tells_apart_shares_a_rank(scores, greater, ranks):
    assert selection.tie_ranks(np.array(scores), greater).tolist() == ranks


def test_a_chain_of_near_scores_is_not_one_tie():
    near = 1 - 0.8e-12 * np.arange(4)
    assert selection.tie_ranks(near, True).tolist() == [1, 1, 3, 3]


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=30), st.booleans())
def test_whole_numbers_have_the_ranks_of_scipy(scores, greater):
    values = np.array(scores, dtype=float)
    assert selection.tie_ranks(values, greater).tolist() == rankdata(-values if greater else values, "min").tolist()
    _, tied = selection.tied_with_best(values[None], greater)
    assert (selection.tie_ranks(values, greater) == 1).tolist() == tied[0].tolist()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_infinite_score_is_the_best_and_tied_with_its_like_only(sign):
    scores = sign * np.array([[1.0, np.inf, 2.0, np.inf], [1.0, 2.0, 3.0, -np.inf]])
    best, tied = selection.tied_with_best(scores, sign > 0)
    assert best.tolist() == [sign * np.inf, sign * 3.0]
    assert tied.tolist() == [[False, True, False, True], [False, False, True, False]]
    assert selection.argbest(scores, sign > 0).tolist() == [1, 2]
