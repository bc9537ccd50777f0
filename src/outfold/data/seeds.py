"""Several seeds for each fit: the block that keeps the predictions of each seed, and how many fits a cell takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .splitting import Splits

# The block of the predictions of each seed, and in the provenance the number of seeds.
SEEDS = "seeds"
# In the provenance: the configurations that were fitted with several seeds.
SEEDED = "seeded"


def each_seed(splits: Splits, n_seeds: int) -> Splits:
    """The splits of the block ``seeds``: repeat r * m + s is repeat r, fitted with seed s."""
    train = splits.train and {
        (r * n_seeds + s, k): rows for (r, k), rows in splits.train.items() for s in range(n_seeds)
    }
    folds = np.repeat(splits.folds, n_seeds, axis=1)
    return Splits(replace(splits.plan, kind="given", repeats=folds.shape[1]), folds, train)


def n_seeds(provenance: Mapping[str, Any]) -> int:
    """Seeds for each fit."""
    return int(provenance.get(SEEDS, 1))


def seeds_made(n: int, seeded: Sequence[str], before: Mapping[str, Any]) -> dict[str, Any]:
    """What the provenance records, with what earlier calls on the same store did; nothing for one seed."""
    return {} if n == 1 else {SEEDS: n, SEEDED: sorted({*seeded, *before.get(SEEDED, ())})}


def fits_of_cells(provenance: Mapping[str, Any], configs: Sequence[str]) -> NDArray[np.intp]:
    """(C,) how many fits a cell of each configuration takes: one for each seed, or one if it has no seed to vary."""
    n, seeded = n_seeds(provenance), set(provenance.get(SEEDED, ()))
    return np.array([n if name in seeded else 1 for name in configs], dtype=np.intp)
