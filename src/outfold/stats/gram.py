"""Kernel matrices of support vector machines, with the bits that libsvm as built into scikit-learn computes.

libsvm computes every entry by itself, from BLAS's dot product of two vectors and the C library's functions. So does this: a
matrix product, or numpy's own exponential, is faster and differs in the last bits, for which a machine can end elsewhere.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

_BLOCK = 64


def dots(X: Matrix) -> Matrix:
    """Dot products of all pairs of rows; symmetric."""
    out = np.empty((len(X), len(X)))
    for start in range(0, len(X), _BLOCK):
        stop = min(start + _BLOCK, len(X))
        out[start:stop, :stop] = cross_dots(X[start:stop], X[:stop])
        out[:start, start:stop] = out[start:stop, :start].T
    return out


def cross_dots(A: Matrix, B: Matrix) -> Matrix:
    """Dot products of the rows of A with those of B, each by a call of ``ddot``."""
    return np.asarray(np.vecdot(A[:, None, :], B[None, :, :]))


def cross_squares(A: Matrix, B: Matrix) -> Matrix:
    """Squared distances of the rows of A from those of B, as the dot product of the difference with itself."""
    out = np.empty((len(A), len(B)))
    for i, row in enumerate(A):
        gap = row - B
        out[i] = np.vecdot(gap, gap)
    return out


def squares_of_dots(products: Matrix) -> Matrix:
    """Squared distances of the training rows, which libsvm takes apart."""
    own = products.diagonal()
    return np.asarray(own[:, None] + own[None, :] - 2 * products)


def rbf(squares: Matrix, gamma: float) -> Matrix:
    """The Gaussian kernel."""
    return c_exp(-gamma * squares)


def polynomial(products: Matrix, gamma: float, coef0: float, degree: int) -> Matrix:
    """The polynomial kernel, by repeated squaring."""
    power, out = gamma * products + coef0, np.ones_like(products)
    while degree > 0:
        if degree % 2 == 1:
            out *= power
        power = power * power
        degree //= 2
    return out


def sigmoid(products: Matrix, gamma: float, coef0: float) -> Matrix:
    """The sigmoid kernel."""
    values = (gamma * products + coef0).ravel()
    return np.array([math.tanh(v) for v in values.tolist()]).reshape(products.shape)


def c_exp(x: Matrix) -> Matrix:
    """The exponential of the C library: the inverse Box-Cox transform of exponent 0 calls it for every number."""
    from scipy.special import inv_boxcox

    return np.asarray(inv_boxcox(x, 0.0))


def has_the_bits(X: Matrix) -> bool:
    """Whether dot products of such rows are here, as in libsvm, those of SciPy's BLAS, and the exponential that of C."""
    from scipy.linalg.blas import ddot

    first, some = X[0], X[:_BLOCK]
    found = cross_dots(some, first[None])[:, 0]
    exponents = -np.abs(found)
    return np.array_equal(found, [ddot(row, first) for row in some]) and np.array_equal(
        c_exp(exponents), [math.exp(v) for v in exponents.tolist()]
    )
