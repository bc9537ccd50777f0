"""Random artifacts: as odd as predictions can be, and still predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

import outfold as of
from outfold.exceptions import OutfoldError

KINDS = ("proba", "score", "label", "value", "classes", "risk", "pointwise", "rows of classes")
NAMES = ("a", "b c", "ä", "x(y=1)", "", "1", "nan", "A", "long " * 30)


def artifact(seed: int) -> of.Predictions:
    """Predictions that follow from the seed alone; a refusal is answered by the next ones of the same stream."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(KINDS))
    while True:
        try:
            return _artifact(rng, kind)
        except OutfoldError:
            continue


def _artifact(rng: np.random.Generator, kind: str) -> of.Predictions:
    n, c, r = _few(rng, 2, 60), int(rng.choice([1, 2, 2, 3, 3, 4, 6])), int(rng.choice([1, 1, 1, 2, 3, 5]))
    y, response = _labels(rng, kind, n)
    P = _predictions(rng, kind, y, (n, c, r))
    groups = rng.integers(0, max(2, n // 3), n) if rng.random() < 0.2 else None
    if groups is not None and rng.random() < 0.2:
        groups = np.arange(n)
    names = [f"{NAMES[j % len(NAMES)]}{j}" for j in range(c)]
    folds = _folds(rng, n, r, groups)
    return of.from_arrays(None if kind == "pointwise" else y, P, folds, names, groups=groups, response=response)


def _few(rng: np.random.Generator, least: int, most: int) -> int:
    """Often the least or little more, sometimes many."""
    return int(min(most, least + rng.geometric(0.5 if rng.random() < 0.3 else 2 / most) - 1))


def _labels(rng: np.random.Generator, kind: str, n: int) -> tuple[Any, str]:
    if kind in ("value", "pointwise"):
        return _values(rng, (n,)), kind
    if kind == "risk":
        time, event = rng.exponential(size=n), rng.random(n) < rng.choice([0.2, 0.9])
        if rng.random() < 0.3:
            time = np.round(time, 1) + 0.1
        event[rng.integers(n)] = True
        return np.stack([time * _scale(rng), event], axis=1), "risk"
    n_classes = 2 if kind in ("proba", "score") or (kind == "label" and rng.random() < 0.5) else _few(rng, 3, 6)
    codes = rng.integers(0, n_classes, n) if rng.random() < 0.7 else (np.arange(n) == 0).astype(int)
    labels = [
        np.arange(n_classes),
        np.array([f"class {k}" for k in range(n_classes)]),
        np.arange(n_classes) - 1.0,
        np.array([str(k) * 40 for k in range(n_classes)]),
    ][rng.integers(4)]
    if n_classes == 2 and rng.random() < 0.1:
        labels = np.array([False, True])
    return labels[codes], {"classes": "proba", "rows of classes": "proba"}.get(kind, kind)


def _scale(rng: np.random.Generator) -> float:
    return float(rng.choice([1.0, 1.0, 1.0, 1e-12, 1e9, 1e-70, 1e70, 1e-200, 1e200, 1e-310, 1e300]))


def _values(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of any size, with ties, or all the same."""
    how = rng.random()
    if how < 0.1:
        return np.full(shape, _scale(rng))
    drawn = rng.normal(size=shape)
    if how < 0.3:
        drawn = np.round(drawn)
    return (drawn + (1e6 if how > 0.9 else 0.0)) * _scale(rng)


def _predictions(rng: np.random.Generator, kind: str, y: Any, shape: tuple[int, int, int]) -> Any:
    c = shape[1]
    if kind == "label":
        classes = np.unique(y)
        guess = classes[rng.integers(0, len(classes), shape)]
        right = rng.random(shape) < rng.random()
        P = np.where(right, np.asarray(y)[:, None, None], guess)
    elif kind in ("classes", "rows of classes"):
        P = rng.dirichlet(np.ones(len(np.unique(y))) * rng.choice([0.05, 1.0]), shape)
    elif kind == "proba":
        P = np.clip(rng.random(shape) * rng.choice([1.0, 1e-9]), 0, 1)
        if rng.random() < 0.3:
            P = np.round(P)
    elif kind == "value" and rng.random() < 0.7:
        spread = float(np.ptp(y)) or 1.0
        P = np.asarray(y)[:, None, None] + spread * rng.normal(size=shape) * rng.choice([0.1, 1.0, 1e-16])
    else:
        P = _values(rng, shape)
    if rng.random() < 0.15:
        P = np.repeat(P[:, :1], c, axis=1)  # the same predictions by every configuration
    if rng.random() < 0.1 and P.dtype.kind == "f":
        with np.errstate(all="ignore"):
            P = P.astype(np.float32)
    if rng.random() < 0.15 and c > 1:
        mask = np.zeros(P.shape, dtype=bool)
        mask[:, rng.integers(c)] = True  # a configuration that was not run
        return np.ma.array(P, mask=mask)
    return P


def _folds(rng: np.random.Generator, n: int, r: int, groups: Any) -> Any:
    how = rng.random()
    if how < 0.2:
        return None
    if how < 0.3:  # hold-outs: a part of the samples in each repeat
        return np.where(rng.random((n, r)) < rng.choice([0.2, 0.6]), 0, -1)
    k = n if how < 0.4 else 2 if r == 5 else min(n, _few(rng, 2, 10))
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    n_units = int(units.max()) + 1
    columns = [(rng.permutation(n_units) % max(2, k))[units] for _ in range(r)]
    folds = np.stack(columns, axis=1)
    if how > 0.9:
        folds[rng.random(n) < 0.2] = -1
    return folds
