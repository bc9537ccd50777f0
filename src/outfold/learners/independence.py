"""Tests of conditional independence of a target and a feature, which is a number or a category; many features at once.

A feature is a block of columns: a number has one, a category with L levels has L - 1. The tests are those of the R package MXM
for mixed features (Lagani et al. 2017): ``testIndLogistic``, ``testIndMultinom`` and ``testIndReg``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .mixed import Category, Codes, Column, Floats

_NEWTON_STEPS = 30
_HALVINGS = 12
_CONVERGED = 1e-9
# Keeps Hessians invertible where columns are collinear or classes separate; far below any effect.
_RIDGE = 1e-10
# Entries of a batch of designs: bounds memory at some 30 MB.
_MOST_ENTRIES = 1_000_000
# What is left of a column that the conditions explain, as a share of its size.
_NOTHING_LEFT = 1e-9
# With fewer samples for each level, the likelihood ratio is far from chi squared, and finds what is not there.
_SAMPLES_PER_LEVEL = 5


def filled_numbers(column: Floats) -> Floats:
    """The numbers with the median in the place of missing ones, as MXM does."""
    known = ~np.isnan(column)
    return column if known.all() else np.where(known, column, np.median(column[known]) if known.any() else 0.0)


def near_one(numbers: Floats) -> Floats:
    """Each column times a power of two, which changes no digit: squares of numbers of any size are then numbers, too."""
    return np.asarray(np.ldexp(numbers, -np.frexp(np.abs(numbers).max(axis=0))[1]))


def level_codes(column: Category) -> Codes:
    """The levels as 0, 1, ...; missing values are one more level."""
    codes = column.codes(column.levels())
    return np.unique(codes, return_inverse=True)[1]


class FeatureColumns:
    """The columns of all features, feature after feature; `widths` says how many each has."""

    def __init__(self, Z: Floats, widths: Sequence[int] | Codes | None = None) -> None:
        self.Z = Z
        self.widths = np.ones(Z.shape[1], dtype=np.intp) if widths is None else np.asarray(widths, dtype=np.intp)
        self._starts = np.cumsum(self.widths) - self.widths

    @classmethod
    def of(cls, columns: Sequence[Column]) -> FeatureColumns:
        """Columns of mean 0 and standard deviation 1: tests do not depend on them, and Newton's method likes one size.

        A feature that is constant has no columns.
        """
        blocks = [_dummies(column) if isinstance(column, Category) else _varying(column) for column in columns]
        raw = np.concatenate(blocks, axis=1)
        Z = (raw - raw.mean(axis=0)) / raw.std(axis=0)
        return cls(Z, [block.shape[1] for block in blocks])

    def columns(self, features: Sequence[int]) -> Floats:
        """(n, q) the columns of these features."""
        return self.Z[:, [c for j in features for c in range(self._starts[j], self._starts[j] + self.widths[j])]]

    def blocks(self, features: Codes) -> Iterator[tuple[Codes, Floats]]:
        """Features of the same width together: their positions among the given ones, and (m, n, width) their columns."""
        widths = self.widths[features]
        for width in np.unique(widths):
            places = np.flatnonzero(widths == width)
            at = self._starts[features[places], None] + np.arange(width)
            yield places, self.Z[:, at].transpose(1, 0, 2)


def _varying(column: Floats) -> Floats:
    values = near_one(filled_numbers(column))
    constant = values.std() <= 1e-12
    return values[:, None][:, : 0 if constant else 1]


def _dummies(column: Category) -> Floats:
    codes = level_codes(column)
    return np.asarray(codes[:, None] == np.arange(1, codes.max() + 1), dtype=np.float64)


def _basis(base: Floats) -> Floats:
    """Directions of length 1 at right angles that span the columns."""
    q, r = np.linalg.qr(base)
    if np.abs(np.diag(r)).min() > _NOTHING_LEFT * np.sqrt(len(base)):
        return np.asarray(q)
    directions, sizes, _ = np.linalg.svd(base, full_matrices=False)  # a city and its country, both given
    return np.asarray(directions[:, sizes > _NOTHING_LEFT * np.sqrt(len(base))])


class Linear:
    """A number as target: the F test of a linear regression with and without the feature.

    Of a number, it is the t test of a partial correlation.
    """

    def __init__(self, design: FeatureColumns, y: Floats) -> None:
        y = near_one(y)
        centred = y - y.mean()
        # The spread near 1, too.
        self._design, self._y = design, np.ldexp(centred, -int(np.frexp(centred.std())[1]))

    def log_p(self, features: Codes, given: Sequence[int]) -> Floats:
        """Log p value of every feature, given the columns of the conditions."""
        n = len(self._y)
        q = _basis(np.column_stack([np.ones(n), self._design.columns(given)]))
        df = n - q.shape[1]
        y = self._y - q @ (q.T @ self._y)
        out = np.zeros(len(features))
        for places, blocks in self._design.blocks(features):
            if blocks.shape[2] == 1:  # all numbers at once
                X = blocks[:, :, 0].T
                out[places] = _t_tests(X - q @ (q.T @ X), y, df - 1)
            else:
                out[places] = [_f_test(block - q @ (q.T @ block), y, df) for block in blocks]
        return out

    def log_p_swapped(self, features: Codes, given: Sequence[int], out: int) -> Floats:
        """Log p value of the condition `out`, given the others and each of the features in its place."""
        others = [c for c in given if c != out]
        alone = np.array([out], dtype=np.intp)
        return np.concatenate([self.log_p(alone, [*others, int(j)]) for j in features] or [np.empty(0)])


def _t_tests(X: Floats, y: Floats, df: int) -> Floats:
    """Log p value of the correlation of each column with y; both are what the conditions left."""
    from scipy.stats import t as student

    if df <= 0:
        return np.zeros(X.shape[1])
    norm = np.sqrt((X * X).sum(axis=0) * (y @ y))
    # What the conditions explain wholly has nothing left to say.
    known = norm > _NOTHING_LEFT * len(y)
    r = np.where(known, (X.T @ y) / np.where(known, norm, 1.0), 0.0)
    t = np.abs(r) * np.sqrt(df / np.maximum(1 - r * r, 1e-300))
    return np.asarray(np.log(2) + student.logsf(t, df))


def _f_test(block: Floats, y: Floats, df: int) -> float:
    """Log p value of all columns of a block together; `df` is that of a regression without them."""
    from scipy.stats import f

    tiny = _NOTHING_LEFT * np.sqrt(len(y))
    directions, sizes, _ = np.linalg.svd(block, full_matrices=False)
    directions = directions[:, sizes > tiny]
    rank = directions.shape[1]
    if not rank or df <= rank or np.linalg.norm(y) <= tiny:
        return 0.0
    gain = float(((directions.T @ y) ** 2).sum())
    left = max(float(y @ y) - gain, 1e-300)
    return float(f.logsf(gain / rank / (left / (df - rank)), rank, df - rank))


class Logistic:
    """Classes as target: twice the gain in log likelihood of a multinomial logistic regression, against chi squared."""

    def __init__(self, design: FeatureColumns, classes: Codes) -> None:
        self._design = design
        self._hot = np.eye(classes.max() + 1)[classes][:, 1:]

    def log_p(self, features: Codes, given: Sequence[int]) -> Floats:
        """Log p value of every feature."""
        base = self._base(given)
        alone = _deviances(base[:, :-1], base[None, :, -1:], self._hot)
        return self._against(alone, self.deviance(features, given), self._added(features, given))

    def log_p_swapped(self, features: Codes, given: Sequence[int], out: int) -> Floats:
        """Log p value of the condition `out`, given the others and each of the features in its place."""
        others = [c for c in given if c != out]
        alone = np.array([out], dtype=np.intp)
        added = np.array([self._added(alone, [*others, int(j)])[0] for j in features], dtype=np.intp)
        return self._against(self.deviance(features, others), self.deviance(features, given), added)

    def has_enough_samples(self, features: Codes) -> NDArray[np.bool_]:
        """Whether each feature can be tested: a number always, a category if its levels have samples enough."""
        widths = self._design.widths[features]
        return np.asarray((widths == 1) | (len(self._hot) >= _SAMPLES_PER_LEVEL * (widths + 1)))

    def deviance(self, features: Codes, given: Sequence[int]) -> Floats:
        """Deviance of the regression on the conditions and each of the features."""
        base, found = self._base(given), np.empty(len(features))
        for places, blocks in self._design.blocks(features):
            size = max(1, _MOST_ENTRIES // (base.size + blocks[0].size))
            for i in range(0, len(places), size):
                found[places[i : i + size]] = _deviances(base, blocks[i : i + size], self._hot)
        return found

    def _base(self, given: Sequence[int]) -> Floats:
        # The column of ones comes last, so that the regression without features is one with it as the feature.
        return np.column_stack([self._design.columns(given), np.ones(len(self._hot))])

    def _added(self, features: Codes, given: Sequence[int]) -> Codes:
        """How many columns each feature adds to the conditions: a city adds fewer than its own if its country is given."""
        added = self._design.widths[features]
        if (added == 1).all():
            return added
        q = _basis(self._base(given))
        for places, blocks in self._design.blocks(features):
            if blocks.shape[2] > 1:
                sizes = np.linalg.svd(blocks - q @ (q.T @ blocks), compute_uv=False)
                rank = (sizes > _NOTHING_LEFT * np.sqrt(len(q))).sum(axis=1)
                added[places] = np.maximum(rank, 1)  # the gain of rank 0 is 0
        return added

    def _against(self, smaller: Floats, larger: Floats, added: Codes) -> Floats:
        from scipy.stats import chi2

        return np.asarray(chi2.logsf(np.maximum(smaller - larger, 0.0), added * self._hot.shape[1]))


Independence = Linear | Logistic


def _deviances(base: Floats, blocks: Floats, hot: Floats) -> Floats:
    """Deviance of a logistic regression on the base and each of the blocks (m, n, width), by Newton's method for all at once."""
    m, (n, k) = len(blocks), hot.shape
    A = np.concatenate([np.broadcast_to(base, (m, *base.shape)), blocks], axis=2)
    coef = np.zeros((m, k, A.shape[2]))
    value, P = _evaluate(A, coef, hot)
    for _ in range(_NEWTON_STEPS):
        step = _newton_step(A, P, hot)
        scale = np.ones(m)
        for _ in range(_HALVINGS):
            new, P_new = _evaluate(A, coef + scale[:, None, None] * step, hot)
            worse = ~(new <= value + _CONVERGED)
            if not worse.any():
                break
            scale[worse] /= 2
        else:
            step[worse] = 0.0
            new, P_new = _evaluate(A, coef + scale[:, None, None] * step, hot)
        gain = value - new
        coef, value, P = coef + scale[:, None, None] * step, new, P_new
        if gain.max() < _CONVERGED * max(n, 1):
            break
    return value


def _evaluate(A: Floats, coef: Floats, hot: Floats) -> tuple[Floats, Floats]:
    """Deviances, and the probabilities of all classes but the first."""
    eta = A @ coef.transpose(0, 2, 1)
    top = np.maximum(eta.max(axis=2), 0.0)
    weights = np.exp(eta - top[:, :, None])
    total = weights.sum(axis=2) + np.exp(-top)
    likelihood = (eta * hot).sum(axis=2) - top - np.log(total)
    return -2 * likelihood.sum(axis=1), weights / total[:, :, None]


def _newton_step(A: Floats, P: Floats, hot: Floats) -> Floats:
    m, _, d = A.shape
    k = hot.shape[1]
    turned = A.transpose(0, 2, 1)
    gradient = ((hot - P).transpose(0, 2, 1) @ A).reshape(m, k * d)
    hessian = np.empty((m, k * d, k * d))
    for a in range(k):
        for b in range(k):
            weight = P[:, :, a] * ((a == b) - P[:, :, b])
            hessian[:, a * d : (a + 1) * d, b * d : (b + 1) * d] = turned @ (A * weight[:, :, None])
    hessian += (_RIDGE * len(hot)) * np.eye(k * d)
    return np.asarray(np.linalg.solve(hessian, gradient[:, :, None])).reshape(m, k, d)
