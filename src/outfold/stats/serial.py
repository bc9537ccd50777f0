"""Serial correlation: whether values depend on those of their neighbours in a sequence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import Floats

_FEWEST = 4  # with fewer rows the variance over permutations is not defined


class Serial(NamedTuple):
    """Correlation of neighbours, and by how many standard deviations it exceeds that of a random order."""

    correlation: float
    z: float


def serial_correlation(values: Floats) -> Serial:
    """Correlation of each row with the next one, the last with the first; rows are numbers (N,) or vectors (N, K).

    The mean and the variance are those over all orders of the rows (Wald and Wolfowitz 1943, here for vectors), so the
    distribution of the values does not matter.
    """
    rows = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    rows = rows - rows.mean(axis=0)
    n, squares = len(rows), np.einsum("ik,ik->i", rows, rows)
    total = squares.sum()
    if n < _FEWEST or total <= 1e-12 * n:
        return Serial(0.0, 0.0)
    products = np.einsum("ik,ik->", rows, np.roll(rows, -1, axis=0))
    fourth, spread = (squares**2).sum(), ((rows.T @ rows) ** 2).sum()
    mean = -total / (n - 1)
    variance = (spread - fourth) / (n - 1) + (total**2 - 2 * fourth) / ((n - 1) * (n - 2)) - mean**2
    if variance <= 1e-12 * total**2:
        return Serial(0.0, 0.0)
    return Serial(float((products - mean) / total), float((products - mean) / np.sqrt(variance)))


def n_turns(values: NDArray[np.floating]) -> int:
    """How often a sequence turns from rising to falling, or back; 0 where it is sorted."""
    steps = np.sign(np.diff(values))
    steps = steps[steps != 0]
    return int(np.sum(steps[1:] != steps[:-1]))


def n_runs(codes: NDArray[np.integer]) -> int:
    """How many runs of equal codes there are; as many as codes where they are sorted."""
    return int(np.sum(np.diff(codes) != 0)) + 1
