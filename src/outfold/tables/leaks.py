"""Features that by themselves predict the target almost perfectly, which often means that they were known only after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.target import MOST_CLASSES

if TYPE_CHECKING:
    import pandas as pd

ALMOST = 0.99  # AUC, rank correlation, or share of what was to be gained
_ROWS = 4_000  # that are looked at
_LEAST, _LEAST_IN_CLASS = 20, 5
_MOST_LEVELS = 50  # distinct numbers that are compared one by one
_AT_ONCE = 500  # columns whose ranks are computed together

Numbers = NDArray[np.float64]
Codes = NDArray[np.intp]


def rows_to_look_at(target: pd.Series[Any]) -> Codes:
    """Enough rows that have a target, from the whole table."""
    rows = np.flatnonzero(target.notna().to_numpy())
    return rows[:: max(1, -(-len(rows) // _ROWS))]


def find_leaks(X: pd.DataFrame, target: pd.Series[Any]) -> dict[str, str]:
    """What to say of each suspicious feature, by its name; `X` is what `features` gives for the same rows."""
    y = _Target(target)
    if len(target) < _LEAST or not y.usable:
        return {}
    found = _by_ranks(X, y) | _by_levels(X, y)
    return {name: found[name] for name in X.columns if name in found}


class _Target:
    """The target as codes of classes or as numbers, and which rows predict which others."""

    def __init__(self, values: pd.Series[Any]) -> None:
        import pandas as pd

        codes, classes = pd.factorize(values)
        numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        numbers = values.to_numpy(dtype=np.float64) if numeric else None
        self.numbers: Numbers | None = None
        if numbers is not None and (len(classes) > MOST_CLASSES or (numbers != np.round(numbers)).any()):
            self.numbers = numbers
        self.codes, self.n_classes = np.asarray(codes, dtype=np.intp), len(classes)
        counts = np.bincount(self.codes, minlength=1)
        enough = self.n_classes > 1 and (counts >= _LEAST_IN_CLASS).sum() > 1 and self.n_classes < len(values) / 2
        self.usable = bool(np.isfinite(self.numbers).all()) if self.numbers is not None else bool(enough)
        self.half = np.random.default_rng(0).permutation(len(values)) % 2 == 0

    def gain(self, levels: Codes) -> float:
        """The share of errors that levels of a feature avoid, in the other half of the rows than they were learnt from."""
        left = avoidable = 0.0
        for learns in (self.half, ~self.half):
            if self.numbers is None:
                right, base = self._hits(levels, learns)
                left, avoidable = left + right - base, avoidable + (~learns).sum() - base
            else:
                error, base = self._squares(self.numbers, levels, learns)
                left, avoidable = left + base - error, avoidable + base
        return left / avoidable if avoidable > 0 else 0.0

    def _hits(self, levels: Codes, learns: NDArray[np.bool_]) -> tuple[float, float]:
        counts = np.zeros((levels.max() + 1, self.n_classes))
        np.add.at(counts, (levels[learns], self.codes[learns]), 1)
        majority = int(np.argmax(counts.sum(axis=0)))
        best = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), majority)
        held = self.codes[~learns]
        return float((best[levels[~learns]] == held).sum()), float((held == majority).sum())

    def _squares(self, numbers: Numbers, levels: Codes, learns: NDArray[np.bool_]) -> tuple[float, float]:
        n = np.bincount(levels[learns], minlength=levels.max() + 1)
        sums = np.bincount(levels[learns], numbers[learns], minlength=len(n))
        mean = numbers[learns].mean()
        means = np.where(n > 0, sums / np.maximum(n, 1), mean)
        held = numbers[~learns]
        return float(((held - means[levels[~learns]]) ** 2).sum()), float(((held - mean) ** 2).sum())


def _by_ranks(X: pd.DataFrame, y: _Target) -> dict[str, str]:
    """Numbers and dates that order the rows as the target does: the AUC of two classes, or the rank correlation."""
    from scipy.stats import rankdata

    if y.numbers is None and y.n_classes != 2:
        return {}
    truth = y.codes.astype(np.float64) if y.numbers is None else rankdata(y.numbers)
    what = "AUC" if y.numbers is None else "rank correlation"
    names = [name for name in X.columns if X[name].dtype.kind in "fM"]
    found = {}
    for start in range(0, len(names), _AT_ONCE):
        part = names[start : start + _AT_ONCE]
        values = np.column_stack([_as_numbers(X[name]) for name in part])
        missing = np.isnan(values)
        ranks = rankdata(np.where(missing, -np.inf, values), axis=0)
        score = _auc(ranks, truth) if y.numbers is None else _correlation(ranks, truth)
        for name, value, gone in zip(part, score, missing.mean(axis=0), strict=True):
            if value >= ALMOST and gone < 0.5:
                found[name] = _sentence(name, f"{what} {value:.3f}")
    return found


def _as_numbers(values: pd.Series[Any]) -> Numbers:
    if values.dtype.kind == "M":
        days = values.to_numpy(dtype="datetime64[ns]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
    return values.to_numpy(dtype=np.float64)


def _auc(ranks: Numbers, truth: Numbers) -> Numbers:
    n_1 = truth.sum()
    n_0 = len(truth) - n_1
    auc = ((ranks * truth[:, None]).sum(axis=0) - n_1 * (n_1 + 1) / 2) / (n_0 * n_1)
    return np.asarray(np.maximum(auc, 1 - auc))


def _correlation(ranks: Numbers, truth: Numbers) -> Numbers:
    ranks, truth = ranks - ranks.mean(axis=0), truth - truth.mean()
    spread = np.sqrt((ranks**2).sum(axis=0) * (truth**2).sum())
    return np.abs(ranks.T @ truth) / np.where(spread > 0, spread, np.inf)


def _by_levels(X: pd.DataFrame, y: _Target) -> dict[str, str]:
    """Categories, numbers of few levels, and whether a value is missing."""
    import pandas as pd

    found = {}
    for name in X.columns:
        values = X[name]
        gone = (values.isna() | (values == "") if values.dtype == object else values.isna()).to_numpy()
        codes, distinct = pd.factorize(values)
        few = len(distinct) <= _MOST_LEVELS or (values.dtype == object and len(distinct) < len(values) / 2)
        if few and len(distinct) > 1 and (gain := y.gain(np.where(codes < 0, len(distinct), codes))) >= ALMOST:
            found[name] = _sentence(name, _saved(gain, y))
        elif gone.any() and not gone.all() and (gain := y.gain(gone.astype(np.intp))) >= ALMOST:
            found[name] = _sentence(name, _saved(gain, y), "Whether a value is missing in ")
    return found


def _saved(gain: float, y: _Target) -> str:
    return f"it explains {gain:.1%} of the variance" if y.numbers is not None else f"it avoids {gain:.1%} of the errors"


def _sentence(name: str, score: str, subject: str = "") -> str:
    who = f"{subject}{name!r} alone" if subject else f"{name!r} alone"
    return (
        f"{who} predicts the target almost perfectly ({score}). Leave it out if you will not know it before the target"
    )
