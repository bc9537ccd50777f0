"""Numbers of pictures that compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import compare
from ...arguments import check_count
from ...data.predictions import Predictions
from ...data.scores import FoldScores
from ...exceptions import InputError
from ...metrics import MetricLike
from ...metrics._scoring import fold_scores
from ...results import Comparison, Comparisons, Power
from .naming import by_name

Floats = NDArray[np.float64]


class Differences(NamedTuple):
    """Pairs, the clearest first; of how many; and the differences of single folds where one pair comes from predictions."""

    pairs: tuple[Comparison, ...]
    n_pairs: int
    folds: Floats | None


def differences(
    source: Any, metric: MetricLike | None, a: Any, b: Any, test: Any, level: float, rope: float | None, top: int
) -> Differences:
    """The comparison given, or the one of a and b by a test of `compare`."""
    if isinstance(source, (Comparison, Comparisons)):
        if a is not None or b is not None or metric is not None:
            raise InputError("a comparison is made already: give it alone, or predictions with a, b and metric.")
        if isinstance(source, Comparison):
            return Differences((source,), 1, None)
        order = source._order[: check_count(top, "top")]
        return Differences(tuple(source[int(i)] for i in order), len(source), None)
    if not isinstance(source, (Predictions, FoldScores)):
        raise InputError(
            "plot.difference needs a Comparison, as compare.auto gives, or predictions with the two configurations; "
            f"got {type(source).__name__}."
        )
    if a is None or b is None:
        raise InputError("plot.difference of predictions needs two configurations: a=..., b=...")
    found = _compare(source, metric, a, b, test, level, rope)
    scores = (
        source if isinstance(source, FoldScores) else fold_scores(source, found.metric if metric is None else metric)
    )
    values = scores.values[scores.config_index(a)] - scores.values[scores.config_index(b)]
    values = values[np.isfinite(values)]
    # One test set, or single samples: the scores of folds are none.
    split = len(values) > 1 and int(scores.n_test[scores.n_test > 0].min()) > 1
    return Differences((found,), 1, values if split else None)


def _compare(source: Any, metric: Any, a: Any, b: Any, test: Any, level: float, rope: float | None) -> Comparison:
    if test == "auto":
        found = compare.auto(source, metric, a, b, confidence_level=level, rope=rope)
        assert isinstance(found, Comparison)
        return found
    pairs = compare.pairs(
        source, metric, test=test, configs=(a, b), adjust="none", omnibus=False, confidence_level=level, rope=rope
    )
    return pairs[0]


class Matrix(NamedTuple):
    """Everyone against everyone, best score first: row against column; NaN for pairs that were not compared.

    Attributes
    ----------
    better
        P(the row is better) where the test gives probabilities, else None.
    pvalue
        Adjusted p values where there are some, else None.
    difference
        Score of the row minus score of the column, as the pair has it.
    """

    configs: tuple[str, ...]
    scores: Floats
    better: Floats | None
    pvalue: Floats | None
    difference: Floats


def matrix(found: Any, top: int) -> Matrix:
    """The pairs of the best configurations."""
    if not isinstance(found, Comparisons):
        raise InputError(f"plot.pairwise needs Comparisons, as compare.pairs gives; got {type(found).__name__}.")
    sign = 1.0 if found.terms.greater_is_better else -1.0
    order = np.argsort(-sign * found.scores, kind="stable")[: check_count(top, "top", 2)]
    outcome = found.outcome
    difference = _square(found, outcome.difference, -outcome.difference)
    better = pvalue = None
    if outcome.probabilities is not None:
        better = _square(found, outcome.probabilities[:, 0], outcome.probabilities[:, 2])
    elif found.adjusted is not None:
        pvalue = _square(found, found.adjusted, found.adjusted)
    else:
        raise InputError(f"{found.terms.method} gives neither probabilities nor p values for these pairs.")
    part = np.ix_(order, order)
    return Matrix(
        tuple(found.configs[i] for i in order),
        found.scores[order],
        None if better is None else better[part],
        None if pvalue is None else pvalue[part],
        difference[part],
    )


def _square(found: Comparisons, forward: Floats, back: Floats) -> Floats:
    out = np.full((len(found.configs),) * 2, np.nan)
    first, second = found.pairs.T
    out[first, second], out[second, first] = forward, back
    return out


def named_powers(given: Any) -> dict[str, Power]:
    """Powers for differences of one metric, a list by test, and by the number of samples where that differs."""
    several = isinstance(given, Sequence) and len({getattr(one, "n", None) for one in given}) > 1
    needs = "plot.power needs a Power or several, as compare.power gives"
    return by_name(given, Power, lambda found: f"{found.test}, n = {found.n:,}" if several else found.test, needs)


def power_points(found: Power) -> tuple[Floats, Floats, Floats]:
    """Differences in rising order, power, and its standard error."""
    columns = [
        np.atleast_1d(np.asarray(v, dtype=np.float64)) for v in (found.difference, found.power, found.standard_error)
    ]
    order = np.argsort(columns[0], kind="stable")
    d, power, error = (column[order] for column in columns)
    return d, power, error
