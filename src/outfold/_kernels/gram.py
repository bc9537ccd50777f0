"""Compiled kernel matrices of support vector machines, with the bits that libsvm as built into scikit-learn would compute.

Every entry is the same expression over the same BLAS dot product (numba's dot of two vectors is SciPy's ``ddot``, as
scikit-learn's is). A matrix product would be faster and differ in the last bits, and an SVM can end elsewhere for these.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from .lanes import _compiled


@_compiled
def dots(X, out):
    """Dot products of all pairs of rows; symmetric."""
    for i in range(X.shape[0]):
        for j in range(i + 1):
            out[i, j] = out[j, i] = np.dot(X[i], X[j])


@_compiled
def cross_dots(A, B, out):
    """Dot products of the rows of A with the rows of B."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            out[i, j] = np.dot(A[i], B[j])


@_compiled
def cross_squares(A, B, out):
    """Squared distances of the rows of A from the rows of B."""
    gap = np.empty(A.shape[1])
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            for k in range(A.shape[1]):
                gap[k] = A[i, k] - B[j, k]
            out[i, j] = np.dot(gap, gap)


@_compiled
def rbf_of_dots(products, gamma, out):
    """The Gaussian kernel in training, where libsvm takes the squared distance apart."""
    for i in range(products.shape[0]):
        for j in range(i + 1):
            square = products[i, i] + products[j, j] - 2 * products[i, j]
            out[i, j] = out[j, i] = math.exp(-gamma * square)


@_compiled
def rbf_of_squares(squares, gamma, out):
    """The Gaussian kernel in prediction."""
    for i in range(squares.shape[0]):
        for j in range(squares.shape[1]):
            out[i, j] = math.exp(-gamma * squares[i, j])


@_compiled
def poly_of_dots(products, gamma, coef0, degree, out):
    """The polynomial kernel, by repeated squaring."""
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            power, value, left = gamma * products[i, j] + coef0, 1.0, degree
            while left > 0:
                if left % 2 == 1:
                    value *= power
                power = power * power
                left //= 2
            out[i, j] = value


@_compiled
def sigmoid_of_dots(products, gamma, coef0, out):
    """The sigmoid kernel."""
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            out[i, j] = math.tanh(gamma * products[i, j] + coef0)
