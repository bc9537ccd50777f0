"""Areas under ROC curves of several models on the same samples (DeLong, DeLong and Clarke-Pearson 1988)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .base import Array, Floats


def placements(scores: Floats, positive: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """(C, m) share of negatives each positive beats and (C, n) share of positives that beat each negative.

    A tie counts one half. By ranks, as in Sun and Xu (2014): every model is sorted once.
    """
    above, below = np.sort(scores[:, positive], axis=1), np.sort(scores[:, ~positive], axis=1)
    m, n = above.shape[1], below.shape[1]
    of_positives = np.empty((len(scores), m))
    of_negatives = np.empty((len(scores), n))
    for k, row in enumerate(scores):
        of_positives[k] = _not_above(below[k], row[positive]) / n
        of_negatives[k] = 1 - _not_above(above[k], row[~positive]) / m
    return of_positives, of_negatives


def _not_above(ordered: Floats, values: Floats) -> Floats:
    """How many of the ordered lie below each value, ties one half."""
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2


def area_variances(positives: Floats, negatives: Floats) -> Floats:
    """(P,) variance of the means of placements, or of differences of placements, (P, m) and (P, n)."""
    out: Floats = (
        positives.var(axis=1, ddof=1) / positives.shape[1] + negatives.var(axis=1, ddof=1) / negatives.shape[1]
    )
    return out


def clustered_variances(positives: Floats, negatives: Floats, codes: tuple[Array, Array]) -> Floats:
    """The same where samples come in groups, with codes of the positives' and of the negatives' (Obuchowski 1997)."""
    m, n = positives.shape[1], negatives.shape[1]
    n_groups = int(max(code.max() for code in codes)) + 1
    a, b = (_group_sums(part, code, n_groups) for part, code in zip((positives, negatives), codes, strict=True))
    with_positives, with_negatives = (len(np.unique(code)) for code in codes)
    out: Floats = (
        _inflated(with_positives) * np.einsum("pg,pg->p", a, a) / m**2
        + _inflated(with_negatives) * np.einsum("pg,pg->p", b, b) / n**2
        + 2 * _inflated(n_groups) * np.einsum("pg,pg->p", a, b) / (m * n)
    )
    return np.maximum(out, 0.0)


def _group_sums(values: Floats, codes: Array, n_groups: int) -> Floats:
    centred = values - values.mean(axis=1, keepdims=True)
    members = np.zeros((len(codes), n_groups))
    members[np.arange(len(codes)), codes] = 1.0
    sums: Floats = centred @ members
    return sums


def _inflated(n: int) -> float:
    return n / (n - 1)
