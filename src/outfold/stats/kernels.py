"""Metric kernels: the metric of many configurations under many weightings at once, and the arithmetic they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]

# Integers of smaller magnitude are exact in the float type.
EXACT32 = 2**24
EXACT64 = 2**53
# Sums of floats differ in their last digits with the order of adding; values this near are one value.
RELATIVE_TIE = 1e-12
# The sum of so many bytes is below 2**32.
_FEW_BYTES = 2**24


class Scores(Protocol):
    """Scores C configurations on N samples, under many integer weightings at once."""

    def scores(self, weights: Array) -> Floats:
        """(b, C) metric of every configuration under each of the (b, N) weightings; NaN where undefined."""
        ...

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) metric of configuration ``chosen[i]`` under ``weights[i]``; NaN where undefined."""
        ...


class Kernel(Scores, Protocol):
    """A metric of some predictions."""

    n_configs: int


def is_compact(kernel: Kernel) -> bool:
    """Whether the kernel takes little more memory than the counts of many draws, as bytes, so that it may get them at once."""
    return bool(getattr(kernel, "compact", False))


def ratio(numerator: Array, denominator: Array, reuse: bool = False) -> Floats:
    """numerator / denominator in float64, NaN without a warning where the denominator is zero.

    With `reuse`, in the place of the numerator if its type allows; nobody else may need it then.
    """
    safe = np.where(denominator == 0, np.nan, denominator)
    if reuse and numerator.dtype == np.float64 and numerator.flags.c_contiguous:
        return np.divide(numerator, safe, out=numerator)
    return np.asarray(np.divide(numerator, safe, dtype=np.float64, order="C"))


def total(weights: Array) -> Floats:
    """(b,) sum of each weighting, exact below 2**53."""
    if weights.dtype == np.float64:
        return np.asarray(weights @ np.ones(weights.shape[1]))
    dtype = np.uint32 if weights.dtype == np.uint8 and weights.shape[1] < _FEW_BYTES else np.int64
    return np.asarray(weights.sum(axis=1, dtype=dtype).astype(np.float64))


def mean_ratio(numerators: Sequence[Array], denominators: Sequence[Array]) -> Floats:
    """Mean of the ratios whose denominator is not zero, elementwise; NaN where all are.

    Over a common denominator while its products are exact integers, so that equal means are equal floats;
    term by term otherwise.
    """
    top: Array = np.zeros(())
    bottom: Array = np.ones(())
    present: Array = np.zeros(())
    sizes = [max(float(d.max(initial=0)), 1.0) for d in denominators]
    exact = len(sizes) * float(np.prod(sizes)) < EXACT64
    for part, whole in zip(numerators, denominators, strict=True):
        defined = whole != 0
        safe = np.where(defined, whole, 1.0)
        present = present + defined
        if exact:
            # part is zero where whole is: an absent term adds 0/1.
            top, bottom = top * safe + part * bottom, bottom * safe
        else:
            top = top + part / safe
    return ratio(top, bottom * present)


# Numbers that a matrix product takes at once as floats: as many as stay in the cache between their cast and the product.
_PRODUCT = 1 << 18
# Columns, and rows, that are copied together where they are the wrong way round in memory.
_COLUMNS, _TOGETHER = 512, 16
# With so many or fewer values, these are kept as floats.
_KEPT = 1 << 22


class Counter:
    """(b, C) weighted sums of small integers ``values`` (C, N), exact, by the fastest matrix product that is."""

    def __init__(self, values: Array) -> None:
        self._values = values if values.size > _KEPT else values.astype(np.float32)
        self._largest = _largest(values)

    def __call__(self, weights: Array, totals: Floats | None = None) -> Array:
        """(b, C) sums under the (b, N) weights, whose totals may be given."""
        heaviest = (total(weights) if totals is None else totals).max(initial=0)
        dtype = np.float32 if heaviest * self._largest < EXACT32 else np.float64
        sums: Array = np.zeros((len(weights), len(self._values)), dtype=dtype)
        for rows in self._parts(len(weights)):
            own: Array = self._values[:, rows].astype(dtype, copy=False)
            some: Array = weights[:, rows].astype(dtype)
            sums += some @ own.T
        return sums

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) sums of the chosen rows of values."""
        sums = np.zeros(len(weights))
        parts = self._parts(len(weights))
        heaviest = float(weights.max(initial=0)) * self._largest * (parts[0].stop if parts else 0)
        dtype = np.float32 if heaviest < EXACT32 else np.float64  # within a part
        for rows in parts:
            own: Array = self._values[:, rows][chosen].astype(dtype, copy=False)
            some: Array = weights[:, rows].astype(dtype)
            sums += np.einsum("bn,bn->b", some, own)
        return sums

    def _parts(self, b: int) -> list[slice]:
        """Columns that are taken together: whole numbers have the same sum in whatever order."""
        c, n = self._values.shape
        size = max(_PRODUCT // max(b, c, 1), 1)
        return [slice(start, start + size) for start in range(0, n, size)]


def _largest(values: Array) -> float:
    """The largest magnitude, without a copy of the values."""
    return max(abs(float(values.max(initial=0))), abs(float(values.min(initial=0))))


def in_rows(data: Array) -> Array:
    """The (C, N[, K]) array with the values of a row side by side in memory, copied where they are not."""
    if data.ndim != 2 or data.strides[0] >= data.strides[1]:
        return np.ascontiguousarray(data)
    # The columns are rows in memory. Some at a time are still in the cache when the next row is written.
    out = np.empty(data.shape, dtype=data.dtype)
    for start in range(0, data.shape[1], _COLUMNS):
        out[:, start : start + _COLUMNS] = data[:, start : start + _COLUMNS]
    return out


def distinct(columns: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First index of each distinct ``columns[j]``, and for each j the position of its equal among those.

    Many configurations predict the same: scoring each distinct column once is faster and makes their scores equal. Columns are
    told apart by hashes, and those that have the same hash by their bytes, so that nothing is kept.
    """
    first: list[int] = []
    seen: dict[int, list[int]] = {}
    inverse = np.empty(len(columns), dtype=np.intp)
    for start in range(0, len(columns), _TOGETHER):
        for j, column in enumerate(in_rows(columns[start : start + _TOGETHER]), start):
            own = column.tobytes()
            alike = seen.setdefault(hash(own), [])
            found = next((i for i in alike if columns[first[i]].tobytes() == own), None)
            if found is None:
                found = len(first)
                alike.append(found)
                first.append(j)
            inverse[j] = found
    return np.array(first, dtype=np.intp), inverse


class Expanded:
    """A kernel of distinct configurations, seen through the position of each configuration's equal."""

    def __init__(self, kernel: Kernel, inverse: NDArray[np.intp]) -> None:
        self.n_configs = len(inverse)
        self._kernel, self._inverse = kernel, inverse
        self.compact = is_compact(kernel)

    def scores(self, weights: Array) -> Floats:
        """(b, C) metric of every configuration."""
        return self._kernel.scores(weights)[:, self._inverse]

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) metric of the chosen configurations."""
        return self._kernel.paired(weights, self._inverse[chosen])


def merged(predictions: Array, build: Callable[[Array], Kernel]) -> Kernel:
    """The kernel that ``build`` makes of the predictions, with equal columns evaluated once."""
    first, inverse = distinct(predictions)
    if len(first) == len(inverse):
        return build(predictions)
    return Expanded(build(predictions[first]), inverse)


class Mapped:
    """A function of a metric, such as its root."""

    def __init__(self, kernel: Kernel, function: Callable[[Floats], Floats]) -> None:
        self.n_configs = kernel.n_configs
        self._kernel, self._function = kernel, function

    def scores(self, weights: Array) -> Floats:
        """(b, C) function of each configuration's metric."""
        return self._function(self._kernel.scores(weights))

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) function of the metric of the chosen configurations."""
        return self._function(self._kernel.paired(weights, chosen))


def negated(kernel: Kernel) -> Kernel:
    """Minus a metric: scikit-learn's ``neg_`` scorers."""
    return Mapped(kernel, lambda scores: 0.0 - scores)  # not unary minus, which makes a zero loss -0.0


class Column:
    """One configuration of a kernel as a kernel of its own; `last` holds the last weights and scores, for all columns."""

    n_configs = 1

    def __init__(self, kernel: Kernel, config: int, last: list[Array]) -> None:
        self._kernel, self._config, self._last = kernel, config, last

    def scores(self, weights: Array) -> Floats:
        """(b, 1) metric of the configuration."""
        if not self._last or self._last[0] is not weights:
            self._last[:] = [weights, self._kernel.scores(weights)]
        return np.asarray(self._last[1][:, [self._config]])

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) metric of the configuration, whichever of one was chosen."""
        return self._kernel.paired(weights, np.full(len(chosen), self._config))


def _integral(values: Array) -> bool:
    """Whether all values are integers small enough for an exact matrix product."""
    if values.dtype.kind not in "bui" and not np.array_equal(values, np.rint(values)):
        return False
    return _largest(values) < EXACT32


class MeanKernel:
    """Weighted mean of the (C, N) ``values / divisor``: integers are summed exactly and divided once, at the end.

    So equal means are equal floats. The divisor may be the number of repeats that the values were summed over.
    """

    def __init__(self, values: Array, divisor: float = 1.0) -> None:
        self.n_configs = len(values)
        self._divisor = divisor
        first, self._inverse = distinct(values)
        self._merged = len(first) < len(values)
        self._values = values[first] if self._merged else values
        self._count = Counter(self._values) if _integral(values) else None
        self.compact = self._count is not None

    def scores(self, weights: Array) -> Floats:
        """(b, C) mean of every configuration under each weighting."""
        if self._count is None:
            weights = weights.astype(np.float64, copy=False)
        totals = total(weights)
        return ratio(self.sums(weights, totals), totals[:, None] * self._divisor, reuse=True)

    def sums(self, weights: Array, totals: Floats) -> Array:
        """(b, C) sum of the values of every configuration under each weighting, whose totals are given."""
        sums = weights @ self._values.T if self._count is None else self._count(weights, totals)
        return sums[:, self._inverse] if self._merged else sums

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) mean of configuration ``chosen[i]`` under ``weights[i]``."""
        chosen = self._inverse[chosen]
        if self._count is not None:
            return ratio(self._count.paired(weights, chosen), total(weights) * self._divisor)
        weights = weights.astype(np.float64, copy=False)
        values = self._values[chosen].astype(np.float64, copy=False)
        return ratio(np.einsum("bn,bn->b", weights, values), total(weights) * self._divisor)


class LoopKernel:
    """A function of the labels, one configuration's predictions and the counts of the rows with weight; NaN without any.

    Labels (N,) and predictions (C, N, ...) are as the function knows them.
    """

    def __init__(self, function: Callable[[Array, Array, Array], float], labels: Array, predictions: Array) -> None:
        self.n_configs = len(predictions)
        self._function, self._labels, self._predictions = function, labels, predictions

    def scores(self, weights: Array) -> Floats:
        """(b, C) value of every configuration under each weighting."""
        out = np.empty((len(weights), self.n_configs))
        for i, counts in enumerate(weights):
            out[i] = [self._value(counts, config) for config in range(self.n_configs)]
        return out

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) value of configuration ``chosen[i]`` under ``weights[i]``."""
        pairs = zip(weights, chosen, strict=True)
        return np.array([self._value(counts, config) for counts, config in pairs], dtype=np.float64)

    def _value(self, counts: Array, config: int) -> float:
        rows = np.flatnonzero(counts)
        if len(rows) == 0:
            return np.nan
        return self._function(self._labels[rows], self._predictions[config, rows], counts[rows])
