"""A winner at the edge of the grid."""

import numpy as np
import pytest

import outfold as of


def grid(name, values, winner, parameter="C", others=()):
    """Predictions of a grid of one parameter, in which the value at this position wins."""
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    all_values = [(name, v) for v in values] + list(others)
    signal = np.full(len(all_values), 0.5)
    signal[winner] = 5.0
    P = 1 / (1 + np.exp(-(signal * (y[:, None] - 0.5) + 0.5 * rng.normal(size=(100, len(all_values))))))
    return of.from_arrays(
        y,
        P,
        folds=np.arange(100) // 20,
        configs=[f"{n}({parameter}={v})" for n, v in all_values],
        params=[{parameter: v} for _, v in all_values],
    )


@pytest.mark.parametrize(("winner", "value", "which"), [(0, "0.01", "smallest"), (3, "10", "largest")])
def test_fires_at_either_end(says, winner, value, which):
    oof = grid("svm", [0.01, 0.1, 1, 10], winner)
    assert says("OF533", oof) == f"in svm(C={value}) C = {value} is the {which} of 4 values tried (0.01 to 10)."


def test_only_the_winner_s_own_grid_counts(says):
    # A logit went further, which says nothing on the svm.
    oof = grid("svm", [0.1, 1, 10], 2, others=[("logit", 0.1), ("logit", 1000)])
    assert "largest of 3 values tried (0.1 to 10)" in says("OF533", oof)


def test_names_need_not_show_the_parameters(says, classes):
    oof = classes(signal=[1, 1, 1, 9], params=[{"alpha": a} for a in (0.1, 1, 10, 100)])
    assert says("OF533", oof) == "in config 3 alpha = 100 is the largest of 4 values tried (0.1 to 100)."


@pytest.mark.parametrize(
    ("values", "winner"),
    [
        ([0.01, 0.1, 1, 10], 1),  # inside
        ([1, 10], 1),  # two values have no inside
        ([5], 0),
        ([1, 3, 5], 0),  # no whole number is smaller that could be tried
        ([0.0, 0.5, 1.0], 0),  # nothing below zero
        ([0.0, 0.5, 1.0], 2),  # a share
        ([2, 4, 8, None], 2),  # unlimited was tried too
        ([2, 4, 8, None], 3),
        (["l1", "l2", "none"], 0),
        ([True, False], 0),
    ],
)
def test_silent_inside_at_natural_ends_and_without_an_order(says, values, winner):
    assert says("OF533", grid("any", values, winner)) is None


def test_silent_without_parameters(says, classes):
    assert says("OF533", classes()) is None
