"""What cells may hold: their states, the responses of models, and the checks of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError, got, invalid
from .target import refuse_sizes

if TYPE_CHECKING:
    from .predictions import Predictions

Response = Literal["label", "score", "proba", "value", "risk", "survival", "pointwise", "none"]
RESPONSES: tuple[str, ...] = get_args(Response)
MEANING = {
    "label": "class labels",
    "score": "scores",
    "proba": "class probabilities",
    "value": "predicted values",
    "risk": "risk scores",
    "survival": "risk scores and survival curves",
    "losses": "survival curves",
    "pointwise": "per-sample scores",
    "none": "no predictions, only scores of folds",
}


# Probabilities may be outside of 0 and 1 by this much.
_ROUNDING = 1e-9
# Numbers that are looked at in one go.
_PART = 1 << 20


class State(IntEnum):
    """What is known of a cell (configuration, repeat, fold).

    Examples
    --------
    >>> import outfold as of
    >>> [state.name for state in of.State]
    ['PENDING', 'DONE', 'DROPPED', 'FAILED']
    """

    PENDING = 0
    DONE = 1
    DROPPED = 2
    FAILED = 3


def cell_mask(folds: NDArray[np.int32], cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(R, C, N) True where the cell that holds out sample i in repeat r is marked in `cells` (C, R, F); not to be written to."""
    c, r, _ = cells.shape
    if cells.all() and folds.min(initial=0) >= 0:
        return np.broadcast_to(np.True_, (r, c, folds.shape[0]))
    out = np.zeros((r, c, folds.shape[0]), dtype=bool)
    for repeat in range(r):
        held = folds[:, repeat] >= 0
        own = cells[:, repeat, np.flatnonzero(np.bincount(folds[held, repeat]))]
        whole = own.all(axis=1)
        out[repeat, slice(None) if whole.all() else whole] = held
        for j in np.flatnonzero(own.any(axis=1) & ~whole):
            out[repeat, j, held] = cells[j, repeat, folds[held, repeat]]
    return out


def cut_labels(values: NDArray[Any], several: bool, threshold: float | None) -> NDArray[np.intp]:
    """Class codes by the cut: the largest of `several` columns, or what lies above the threshold."""
    if several:
        return np.asarray(np.argmax(np.nan_to_num(values, nan=-np.inf), axis=-1), dtype=np.intp)
    assert threshold is not None
    # predict() of scikit-learn gives the first class on the boundary, hence the strict comparison.
    return np.asarray(values > np.float64(threshold)).astype(np.intp)  # not rounded to the type of the values


def own_labels(oof: Predictions, labels: NDArray[Any]) -> NDArray[np.intp] | None:
    """The models' own labels, completed by the cut where they are not known; None where they are the cut."""
    if oof.response not in ("score", "proba") or labels.shape != oof.data.shape[:3]:
        needed = f"must go with scores or probabilities and have shape {oof.data.shape[:3]}"
        raise invalid("labels", needed, f"these have shape {labels.shape} and go with {MEANING[oof.response]}")
    done = cell_mask(oof.folds, oof.state == State.DONE)
    unknown = done & (labels < 0)
    cut = oof.cut()
    if cut is None and unknown.any():
        raise invalid("labels", "of scores without a threshold must be given for every cell that is done")
    if cut is not None and not np.any(done & ~unknown & (labels != cut)):
        return None
    out = np.where(done, labels, -1).astype(np.intp)
    if cut is not None:
        out[unknown] = cut[unknown]
    assert oof.target.classes is not None
    if out.max(initial=-1) >= len(oof.target.classes):
        raise invalid("labels", f"must be class codes below {len(oof.target.classes)}", f"the largest is {out.max()}")
    return out


def check_all(oof: Predictions) -> None:
    """Refuse parts that do not fit together, and done cells without usable numbers."""
    check_parts(oof, oof.data.shape)
    _check_values(oof)


def check_parts(oof: Predictions, shape: tuple[int, ...]) -> None:
    """Refuse parts that do not fit together, without a look at the predictions, whose shape is given."""
    n, c, r = len(oof.target), len(oof.configs), oof.folds.shape[1]
    if shape[:3] != (r, c, n):
        needed = f"{n} labels, {c} configurations and {r} repeats need predictions of shape ({n}, {c}, {r})"
        raise invalid(None, needed, f"these have {(*shape[2::-1], *shape[3:])}")
    if oof.response not in RESPONSES:
        raise invalid("response", f"must be one of {', '.join(RESPONSES)}", got(oof.response))
    if c == 0:
        raise InputError("there is no configuration; at least one is needed.")
    if len(set(oof.configs)) < c:
        twice = min(name for name, n in Counter(oof.configs).items() if n > 1)
        problem = f"configuration names must differ; {twice!r} occurs more than once"
        raise InputError(problem, remedy="Rename one of them.")
    for name in ("groups", "samples"):
        values = getattr(oof, name)
        if values is not None and len(values) != n:
            raise invalid(name, f"must have one entry for each of the {n} samples", f"it has {len(values)}")
    if oof.samples is not None and not _is_rising(oof.samples) and len(set(oof.samples.tolist())) < n:
        raise invalid("samples", "must all differ", "at least one name occurs twice")
    for name, scores in oof.live_scores.items():
        if scores.shape != oof.state.shape:
            needed = f"must have one score for each cell, shape {oof.state.shape}"
            raise invalid(f"live_scores[{name!r}]", needed, f"it has shape {scores.shape}")
    curves = oof.response == "survival"
    n_times = -1 if oof.times is None else len(oof.times)
    if curves != (n_times >= 0) or (curves and (oof.target.event is None or shape[3:] != (1 + n_times,))):
        needed = "must be the times of the survival curves that follow the risk of each sample"
        raise invalid(
            "times", needed, f"the response is {oof.response!r}, and the predictions have {len(shape)} dimensions"
        )
    if oof.response in ("score", "proba", "label") and oof.target.classes is None:
        argument = f"response={oof.response!r}"
        raise invalid(argument, "needs class labels", f"y holds {oof.target.task} targets", "Use `response='value'`.")


def _is_rising(samples: NDArray[Any]) -> bool:
    """Whether these are whole numbers in ascending order, such as the numbers of rows."""
    return samples.dtype.kind in "iu" and bool(np.all(samples[1:] > samples[:-1]))


def _check_values(oof: Predictions) -> None:
    """Every done cell holds usable numbers; the other cells hold none."""
    if oof.response == "none":
        return
    done = cell_mask(oof.folds, oof.state == State.DONE)
    # Most predictions are usable, and the ends of numbers say so.
    ends = ends_of(oof.data, done) if oof.data.ndim == 3 and oof.data.dtype.kind == "f" else (np.nan, np.nan)
    bad = None if np.isfinite(ends).all() else done & ~usable(oof.data, oof.response, oof.data.ndim == 4)
    if bad is not None and bad.any():
        repeat, config, sample = (int(i[0]) for i in np.nonzero(bad))
        first = f"sample {oof.samples[sample]!s} by {oof.configs[config]!r} in repeat {repeat}"  # type: ignore[index]
        problem = f"{int(bad.sum())} predictions are NaN or infinite, the first for {first}"
        remedy = "Repair them. If a model was not run on a fold, leave out its rows of it; in an array, mask them (numpy.ma)."
        raise InputError(problem, remedy=remedy)
    if oof.response == "proba":
        check_probabilities(oof.data, done)
    if oof.response in ("value", "pointwise"):
        low, high = ends if bad is None else ends_of(oof.data.astype(np.float64), done)
        refuse_sizes(max(-low, high, 0.0), "P")


def usable(data: NDArray[Any], response: str, several: bool) -> NDArray[np.bool_]:
    """Whether the predictions for each sample can be used; a model may give a risk and no survival curve, which is NaN."""
    if response == "label":
        return np.asarray((data[..., 0] if several else data) >= 0)
    if response == "survival":
        inside = (data[..., 1:] >= -_ROUNDING) & (data[..., 1:] <= 1 + _ROUNDING)
        return np.asarray(np.isfinite(data[..., 0]) & (inside.all(-1) | np.isnan(data[..., 1:]).all(-1)))
    return np.asarray(np.isfinite(data.sum(-1) if several else data))


def ends_of(data: NDArray[Any], done: NDArray[np.bool_]) -> tuple[float, float]:
    """The smallest and the largest number of done cells; NaN where one is NaN."""
    ends = [(held.min(initial=np.inf), held.max(initial=-np.inf)) for held in parts(data, done)]
    low, high = (np.array(side, dtype=np.float64) for side in zip(*ends, strict=True)) if ends else (np.empty(0),) * 2
    return float(low.min(initial=np.inf)), float(high.max(initial=-np.inf))


def check_probabilities(data: NDArray[Any], done: NDArray[np.bool_]) -> None:
    """Refuse what cannot be probabilities."""
    low, high = ends_of(data, done)
    if low < -_ROUNDING or high > 1 + _ROUNDING:
        problem = f"probabilities must lie in [0, 1]; these go from {low:.4g} to {high:.4g}"
        raise InputError(problem, remedy="Use `response='score'` for decision values.")
    if data.ndim == 4 and any(np.abs(held.sum(-1) - 1).max(initial=0) > 1e-4 for held in parts(data, done)):
        problem = "the class probabilities of a sample must sum to 1; they do not"
        raise InputError(problem, remedy="Use `response='score'` for other scores.")


def parts(data: NDArray[Any], done: NDArray[np.bool_]) -> Iterator[NDArray[Any]]:
    """``data[done]`` of some configurations or samples at a time, so that large predictions are not copied as a whole."""
    for values, mine in zip(data, done, strict=True):
        # Along the outer axis in memory: its parts are read in one go.
        if values.strides[0] < values.strides[1]:
            values, mine = values.swapaxes(0, 1), mine.T
        step = max(1, _PART // max(1, values[0].size))
        for start in range(0, len(values), step):
            some, used = values[start : start + step], mine[start : start + step]
            yield some if used.all() else some[used]
