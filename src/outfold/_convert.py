"""Predictions made elsewhere: from arrays, long tables and files, and back to long tables."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._frames import make_frame
from ._plan import NOT_HELD_OUT, Plan
from ._predictions import RESPONSES, Predictions, Response, State, cell_mask
from ._target import Target, encode
from .exceptions import FileError, InputError

if TYPE_CHECKING:
    import narwhals as nw

_SUM_TOLERANCE = 1e-4


def from_arrays(
    y: Any,
    P: ArrayLike,
    folds: Any = None,
    configs: Sequence[str] | str | None = None,
    groups: Any = None,
    response: Response | None = None,
    samples: Any = None,
    *,
    positive: Any = None,
    threshold: float | None = None,
    params: Sequence[Mapping[str, Any]] | None = None,
) -> Predictions:
    """Predictions that are at hand as arrays.

    Parameters
    ----------
    y
        (N,) labels: classes, numbers, or survival times (records of event and time, or columns time, event). Not
        used, and may be None, for ``response="pointwise"``.
    P
        Predictions of shape (N,), (N, C), (N, C, R) or (N, C, R, K) for N samples, C configurations, R repeats and
        K classes in sorted order. A masked array (`numpy.ma`) says which whole cells were not run.
    folds
        (N,) or (N, R): the fold that held out a sample, in any labels; -1 where none did. None for predictions on
        one test set.
    configs
        Names of the configurations; ``config 0``, ``config 1``, ... by default.
    groups
        (N,) groups of samples that belong together.
    response
        What the predictions are: ``label``, ``score``, ``proba``, ``value``, ``risk`` or ``pointwise``. Told from the
        labels and the numbers where they leave no doubt.
    samples
        (N,) names of the samples.
    positive
        Which of two classes is the positive one; by default the last in sorted order.
    threshold
        Where scores are cut to give labels.
    params
        The parameters that tell configurations apart, one dict a configuration.

    Examples
    --------
    >>> oof = from_arrays(["no", "yes", "yes", "no"], [0.1, 0.8, 0.6, 0.3], folds=[0, 0, 1, 1])
    >>> oof.response, oof.configs
    ('proba', ('config 0',))
    """
    mask = np.ma.getmaskarray(P) if isinstance(P, np.ma.MaskedArray) else None
    values = np.asarray(np.ma.getdata(P) if mask is not None else P)
    if not 1 <= values.ndim <= 4:
        raise InputError(f"P must have shape (N,), (N, C), (N, C, R) or (N, C, R, K); it has {values.shape}.")
    codes = _LabelCodes.of(values) if values.dtype.kind in "OUSb" else None
    table = _Table(
        y=y,
        data=_by_repeat(values if codes is None else codes.codes),
        names=None if codes is None else codes.names,
        missing=None if mask is None else _by_repeat(mask),
        folds=folds,
        configs=(configs,) if isinstance(configs, str) else configs,
        groups=groups,
        samples=samples,
    )
    return table.predictions(response, positive, threshold, params)


def _by_repeat(P: NDArray[Any]) -> NDArray[Any]:
    """(N[, C[, R[, K]]]) as (R, C, N[, K])."""
    return np.swapaxes(P.reshape(P.shape + (1,) * (3 - P.ndim)), 0, 2)


@dataclass
class _LabelCodes:
    """Labels that are not numbers, as codes of their distinct values."""

    codes: NDArray[np.intp]
    names: NDArray[Any]

    @classmethod
    def of(cls, values: NDArray[Any]) -> _LabelCodes | None:
        if values.dtype.kind == "O":
            with_numbers = _numbers_or_none(values)
            if with_numbers is not None:
                return None
        return cls(*_unique_codes(values))
