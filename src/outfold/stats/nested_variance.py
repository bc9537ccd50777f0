"""Variance components of repeated cross-validation: samples, partitions, and seeds within partitions.

Values are (C, R, M, U), for configurations, repeats, seeds of a repeat and units: v = mu + a_u + p_r + s_rm + (ap)_ur + (as)_urm.
Units are crossed with repeats and seeds, and seeds are nested in repeats. The estimators are those of the analysis of variance
(Searle, Casella and McCulloch 1992, ch. 3): expected mean squares are solved for the components.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .kernels import RELATIVE_TIE, Floats


class Components(NamedTuple):
    """(C,) the variances that samples, one partition and one seed add to a score."""

    samples: Floats  # var(a) / U
    partition: Floats  # var(p) + var(ap) / U
    seed: Floats  # var(s) + var(as) / U


def components(values: Floats) -> Components:
    """Unbiased estimates of the components of (C, R, M, U) values, R, M and U above 1; they may be below 0."""
    _, r, m, u = values.shape
    scores = values.mean(axis=3)  # (C, R, M)
    seed = scores.var(axis=2, ddof=1).mean(axis=1)
    # The mean over the seeds of a repeat varies by the partition and, M times less, by its seeds.
    partition = scores.mean(axis=2).var(axis=1, ddof=1) - seed / m
    by_repeat = values.mean(axis=2)  # (C, R, U)
    of_units = by_repeat.mean(axis=1)
    apart = by_repeat - of_units[:, None] - by_repeat.mean(axis=2)[..., None] + of_units.mean(axis=1)[:, None, None]
    interaction = (apart**2).sum(axis=(1, 2)) / ((r - 1) * (u - 1))
    samples = (of_units.var(axis=1, ddof=1) - interaction / r) / u
    # Below this, they are the rounding of floats.
    floor = (RELATIVE_TIE * np.abs(scores).max(axis=(1, 2))) ** 2
    return Components(*(np.where(np.abs(part) > floor, part, 0.0) for part in (samples, partition, seed)))
