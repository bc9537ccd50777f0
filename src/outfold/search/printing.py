"""The lines that a search prints if `verbose` asks for each fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..formatting import compact


def lines_of_fits(columns: Mapping[str, Any], names: Sequence[str], n_splits: int) -> Iterator[str]:
    """``[CV 1/5] C=0.1  score=0.93`` for each configuration and split that has a score; `names` are those of scorers."""
    shown = [", ".join(f"{name}={compact(value)}" for name, value in params.items()) for params in columns["params"]]
    width = max(map(len, shown), default=0)
    for i, params in enumerate(shown):
        for split in range(n_splits):
            scores = [_score(columns, name, split, i) for name in names]
            if any(scores):
                yield f"[CV {split + 1}/{n_splits}] {params:<{width}}  {', '.join(filter(None, scores))}"


def _score(columns: Mapping[str, Any], name: str, split: int, config: int) -> str:
    """``score=0.93``, or ``score=(train=0.95, test=0.93)``; nothing where there is no score."""
    test = columns[f"split{split}_test_{name}"][config]
    train = columns.get(f"split{split}_train_{name}")
    if np.isnan(test):
        return ""
    return f"{name}={test:.3f}" if train is None else f"{name}=(train={train[config]:.3f}, test={test:.3f})"
