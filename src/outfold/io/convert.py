"""Predictions made elsewhere: from arrays, long tables and files, and back to long tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.cells import RESPONSES, Response, State, cell_mask, parts
from ..data.plan import Plan
from ..data.predictions import Predictions
from ..data.splitting import NOT_HELD_OUT
from ..data.target import Target, encode, missing_values
from ..docstrings import fill_with
from ..exceptions import InputError, got, invalid
from ..formatting import make_frame
from .tables import PREDICTED_LABEL, LongTable, distinct_codes, not_held_out, numbers_or_codes, uniform

_document = fill_with(
    {
        "response": (
            "response : str or None\n    What the predictions are: ``label``, ``score``, ``proba``, ``value``, ``risk`` or "
            "``pointwise``. By default\n    Outfold recognises it from the labels and the numbers; if it cannot, it asks for it."
        ),
        "positive": (
            "positive : object\n    Which of two classes is the positive one; by default the last in sorted order."
        ),
        "threshold": "threshold : float or None\n    The threshold above which a score means the positive class.",
    }
)


@_document
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
    times: ArrayLike | None = None,
    copy: bool = True,
) -> Predictions:
    """Predictions from arrays, for models that were fitted elsewhere.

    Parameters
    ----------
    y : array-like or None
        (N,) labels: classes, numbers, or survival times (records of event and time, or columns time, event). With
        ``response="pointwise"`` they are not used and may be None.
    P : array-like
        Predictions of shape (N,), (N, C), (N, C, R) or (N, C, R, K) for N samples, C configurations, R repeats and
        K classes in sorted order. A masked array (`numpy.ma`) says which whole cells were not run.
    folds : array-like or None
        (N,) or (N, R): the fold that held out a sample, in any labels; -1 where none did. Labels that no two repeats
        share are numbered in every repeat anew. None for predictions on one test set.
    configs : sequence of str, str or None
        Names of the configurations; ``config 0``, ``config 1``, ... by default.
    groups : array-like or None
        (N,) groups of samples that belong together.
    {response}
    samples : array-like or None
        (N,) names of the samples.
    {positive, threshold}
    params : sequence of dict or None
        The parameters that tell configurations apart, one dict for each configuration.
    times : array-like or None
        (T,) the times of survival curves, in ascending order. P must then have shape (N, C, R, 1 + T): for each sample the risk,
        and the probability of no event until each time (NaN for a configuration without curves).
    copy : bool, default True
        Whether to copy P. With False, Outfold uses your array if it holds scores, probabilities or values as floats of 4 or 8
        bytes and every sample is held out in every repeat; do not change it later. A `numpy.memmap` is not copied if possible.
    Returns: {predictions}

    Examples: {outfold}
    >>> oof = of.from_arrays(["no", "yes", "yes", "no"], [0.1, 0.8, 0.6, 0.3], folds=[0, 0, 1, 1])
    >>> oof.response, oof.configs
    ('proba', ('config 0',))
    """
    if configs is None and np.ndim(P) == 2 and hasattr(P, "columns"):
        configs = [str(name) for name in P.columns]
    mask = np.ma.getmaskarray(P) if isinstance(P, np.ma.MaskedArray) else None
    data, words = numbers_or_codes(np.asarray(P))
    if not 1 <= data.ndim <= 4:
        raise invalid("P", "must have shape (N,), (N, C), (N, C, R) or (N, C, R, K)", f"it has {data.shape}")
    if data.size == 0:
        raise invalid("P", "must hold at least one prediction", f"it is empty, its shape is {data.shape}")
    if mask is not None and mask.ndim == 4:
        if np.any(mask.any(axis=-1) != mask.all(axis=-1)):
            raise InputError("P masks some of a sample's class columns but not all", remedy="Mask whole cells.")
        mask = mask[..., 0]
    missing, whole = None if mask is None else _by_repeat(mask), np.asarray(P).dtype.kind in "biu"
    raw = _Raw(y, _by_repeat(data), words, missing, folds, configs, groups, samples, params, whole=whole)
    raw.shared = not copy or isinstance(P, np.memmap)
    if times is not None:
        raw.times = _as_times(times)
        response = "survival" if response is None else response
    return raw.predictions(response, positive, threshold)


def _as_times(given: ArrayLike) -> NDArray[np.float64]:
    times = np.asarray(given, dtype=np.float64)
    if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0) or not np.isfinite(times).all():
        raise invalid("times", "must be two or more times in ascending order", got(given))
    return times


@_document
def from_frame(
    frame: Any,
    *,
    sample: str,
    config: str | None,
    label: str | tuple[str, str] | None,
    prediction: str | Sequence[str],
    fold: str | None = None,
    repeat: str | None = None,
    group: str | None = None,
    response: Response | None = None,
    positive: Any = None,
    threshold: float | None = None,
    predicted_label: str | None = PREDICTED_LABEL,
) -> Predictions:
    """Predictions in a long table, one row for every (sample, configuration, repeat), in any order.

    Samples and configurations stay in the order in which they first appear. Tests that go through the samples one by one
    (`compare.e_process`) use this order, and the fingerprint depends on it. A cell (configuration, repeat, fold) without any
    row counts as not run.

    Parameters
    ----------
    frame : DataFrame
        A pandas or polars data frame, or a pyarrow table.
    sample : str
        Column with the name of the sample.
    config : str or None
        Column with the name of the configuration; None where there is only one.
    label : str, tuple of two str or None
        Column with the label, or a pair of columns (time, event); None for pointwise scores.
    prediction : str or sequence of str
        Column with the prediction, or one column for each class, whose names end with the class label.
    fold : str or None
        Column with the fold that held out the sample; None for predictions on one test set.
    repeat : str or None
        Column with the repeat.
    group : str or None
        Column with the group of the sample.
    {response, positive, threshold}
    predicted_label : str or None
        Column with the label that the model predicted, if scores or probabilities do not determine it; by default
        the one that `Predictions.to_frame` writes, if there is one.
    Returns: {predictions}

    Examples: {outfold}
    >>> import pandas
    >>> table = pandas.DataFrame({"item": [1, 2, 1, 2], "model": ["a", "a", "b", "b"], "right": [1, 0, 1, 1]})
    >>> oof = of.from_frame(table, sample="item", config="model", label=None, prediction="right")
    >>> oof.scores("mean")[:, 0, 0]
    array([0.5, 1. ])
    """
    table = LongTable(frame, sample, config, repeat)
    data, words = table.predictions(prediction)
    absent = predicted_label == PREDICTED_LABEL and predicted_label not in table.frame.columns
    own = None if absent or predicted_label in (None, prediction) else table.predictions(predicted_label)
    raw = _Raw(
        y=table.labels(label),
        data=data,
        words=words,
        missing=~table.present,
        folds=table.folds(fold),
        configs=table.configs,
        groups=None if group is None else table.of_sample(group, "group"),
        samples=table.samples,
        columns=None if isinstance(prediction, str) else list(prediction),
        predicted=own,
    )
    return raw.predictions(response, positive, threshold)


def to_frame(oof: Predictions, backend: str | None = None) -> Any:
    """The table of `Predictions.to_frame`; a binary probability is that of the positive class."""
    assert oof.samples is not None
    done = cell_mask(oof.folds, oof.state == State.DONE).swapaxes(0, 1)
    config, repeat, sample = np.nonzero(done)
    columns: dict[str, Any] = {
        "sample": _pick(oof.samples, sample, backend),
        "config": _pick(np.array(oof.configs), config, backend),
        "repeat": repeat,
        "fold": oof.folds[sample, repeat],
    }
    if oof.target.event is not None:
        columns |= {"time": oof.target.y[sample], "event": oof.target.event[sample]}
    elif oof.target.task != "pointwise":
        columns["label"] = _pick(oof.y, sample, backend)
    values, classes = oof.data[repeat, config, sample], np.asarray(oof.target.classes)
    if oof.times is not None:
        columns["prediction"] = values[:, 0]
        columns |= {f"survival_{t:g}": values[:, 1 + k] for k, t in enumerate(oof.times)}
    elif values.ndim == 2:
        columns |= {f"prediction_{c!s}": values[:, k] for k, c in enumerate(classes)}
    else:
        columns["prediction"] = _pick(classes, values, backend) if oof.response == "label" else values
    if oof.labels is not None or oof.threshold is not None:  # else they follow from the predictions
        columns[PREDICTED_LABEL] = _pick(classes, oof.respond("label")[repeat, config, sample], backend)
    if oof.groups is not None:
        columns["group"] = _pick(oof.groups, sample, backend)
    return make_frame(columns, backend)


def _pick(values: NDArray[Any], index: NDArray[np.intp], backend: str | None) -> Any:
    """``values[index]`` for a frame; text is made the frame's own kind of text before, not after it is multiplied."""
    values = uniform(values)
    if values.dtype.kind != "U":
        return values[index]
    column = make_frame({"text": values}, backend)["text"]
    column = getattr(column, "array", column)  # without the index of pandas
    return column.take(index) if hasattr(column, "take") else column[index]


_TASKS = {"value": "regression", "risk": "survival", "survival": "survival"} | dict.fromkeys(
    ("label", "score", "proba"), "classification"
)
_SUM_TOLERANCE = 1e-4


@dataclass
class _Raw:
    """Predictions as they came, in the layout of `Predictions` but with nothing known about what they are.

    `data` is (R, C, N) or (R, C, N, K); where `words` is given it holds positions in these, because the predictions
    are text. `missing` is (R, C, N). `columns` names the K outputs. `whole` numbers came as such, not as floats. `predicted`
    are the labels beside scores or probabilities, in the form of `data` and `words`. `shared` numbers are not copied where that
    is possible.
    """

    y: Any
    data: NDArray[Any]
    words: NDArray[Any] | None
    missing: NDArray[np.bool_] | None
    folds: Any
    configs: Sequence[str] | str | None = None
    groups: Any = None
    samples: Any = None
    params: Sequence[Mapping[str, Any]] | None = None
    columns: list[str] | None = None
    whole: bool = False
    predicted: tuple[NDArray[Any], NDArray[Any] | None] | None = None
    times: NDArray[np.float64] | None = None
    shared: bool = False

    def predictions(self, response: Response | None, positive: Any, threshold: float | None) -> Predictions:
        """Check everything, find out what is predicted, and build the `Predictions`."""
        if response is not None and response not in RESPONSES:
            raise invalid("response", f"must be one of {', '.join(RESPONSES)}", got(response))
        if (response == "survival") != (self.times is not None):
            given = f"got `response={response!r}` and {'no ' if self.times is None else ''}`times`"
            raise invalid("response='survival'", "goes with `times`", given, "Give both to `from_arrays`, or none.")
        n_repeats, n_configs, n = self.data.shape[:3]
        names = tuple(f"config {j}" for j in range(n_configs))
        if self.configs is not None:
            names = (self.configs,) if isinstance(self.configs, str) else tuple(map(str, self.configs))
        if len(names) != n_configs:
            raise invalid("configs", f"must name the {n_configs} configurations of P", f"it has {len(names)} names")
        params = tuple(dict(p) for p in self.params or ())
        if self.params is not None and len(params) != n_configs:
            needed = f"must have a dict for each of the {n_configs} configurations of P"
            raise invalid("params", needed, f"it has {len(params)}")
        samples = np.arange(n) if self.samples is None else _one_each(self.samples, "samples", n)
        groups = None if self.groups is None else _one_each(self.groups, "groups", n)
        if groups is not None and missing_values(groups).any():
            given = f"the group of sample {int(np.argmax(missing_values(groups)))} is missing"
            raise invalid("groups", "must have a group for each sample", given)
        folds = _fold_codes(self.folds, n, n_repeats)
        state = self._state(folds, names, samples)
        used = cell_mask(folds, state == State.DONE)
        target = self._target(response, positive, n)
        if response is None:
            response = self._infer(target, used)
        if threshold is not None and (target.task != "binary" or response not in ("score", "proba")):
            raise invalid("threshold", "cuts scores or probabilities of two classes", "these predictions are neither")
        own = self.predicted if response in ("score", "proba") else None
        return Predictions(
            target=target,
            data=self._data(target, response, used),
            folds=folds,
            state=state,
            configs=names,
            response=response,
            plan=Plan(folds=state.shape[2], repeats=n_repeats, stratify=False, groups=False, kind="given"),
            params=params,
            groups=groups,
            samples=samples,
            threshold=None if threshold is None else float(threshold),
            labels=None if own is None else _codes(*own, target, used, PREDICTED_LABEL),
            times=self.times,
        )

    def _state(self, folds: NDArray[np.int32], names: tuple[str, ...], samples: NDArray[Any]) -> NDArray[np.uint8]:
        """(C, R, F): done, or pending where all predictions of a cell are missing."""
        n_repeats, n_configs = self.data.shape[:2]
        n_folds = int(folds.max()) + 1
        state = np.zeros((n_configs, n_repeats, n_folds), dtype=np.uint8)
        for r in range(n_repeats):
            held = np.flatnonzero(folds[:, r] >= 0)
            fold = folds[held, r]
            size = np.bincount(fold, minlength=n_folds)
            if self.missing is None:
                state[:, r, size > 0] = State.DONE
                continue
            lacking = self.missing[r][:, held]
            config, sample = np.nonzero(lacking)
            lost = np.bincount(config * n_folds + fold[sample], minlength=n_configs * n_folds).reshape(-1, n_folds)
            partly = (lost > 0) & (lost < size)
            if partly.any():
                c, s = (int(i[0]) for i in np.nonzero(lacking & partly[:, fold]))
                lacks = f"{names[c]!r} lacks a prediction for sample {samples[held[s]]!s} in repeat {r}"
                remedy = "Give a cell (configuration, repeat, fold) as a whole, or not at all."
                raise InputError(f"{lacks}, but has others of the same fold", remedy=remedy)
            state[:, r][(lost == 0) & (size > 0)] = State.DONE
        return state

    def _target(self, response: str | None, positive: Any, n: int) -> Target:
        if response == "pointwise" or (response is None and self.y is None):
            target = Target("pointwise", np.zeros(n))
        elif self.y is None:
            raise invalid(f"response={response!r}", "needs labels", "y is None", "Only pointwise scores go without.")
        else:
            task = _TASKS.get(response or "") or ("survival" if np.shape(self.y)[1:] == (2,) else None)
            one_class = "For per-sample scores use `response='pointwise'`."
            target = encode(self.y, task=task, positive=positive, one_class=one_class)
        if len(target) != n:
            raise invalid("y", f"must have a label for each of the {n} samples of P", f"it has {len(target)} labels")
        return target

    def _infer(self, target: Target, used: NDArray[np.bool_]) -> Response:
        by_task: dict[str, Response] = {"pointwise": "pointwise", "survival": "risk", "regression": "value"}
        if target.task in by_task:
            return by_task[target.task]
        assert target.classes is not None
        if self.words is not None:
            return "label"
        self._refuse_class_columns(target)

        def all_are(suitable: Callable[[NDArray[Any]], Any]) -> bool:
            return all(suitable(values) for values in parts(self.data, used))

        if self.data.ndim == 4:
            # NaN is refused later, by its name.
            sum_to_one = all_are(lambda values: not (np.abs(values.sum(-1) - 1) > _SUM_TOLERANCE).any())
            return "proba" if used.any() and sum_to_one else "score"
        classes = target.classes
        if classes.dtype.kind in "biuf" and all_are(lambda values: np.isin(values, classes.astype(np.float64)).all()):
            return "label"
        if target.task == "binary":
            in_range = all_are(lambda values: values.min(initial=0) >= 0 and values.max(initial=0) <= 1)
            return "proba" if in_range else "score"
        problem = f"y has {len(target.classes)} classes and the predictions are numbers that are not among them"
        proba = "class probabilities of shape (N, C, R, K) with `response='proba'`"
        raise InputError(problem, remedy=f"Say what they are: `response='value'` for a regression, or {proba}.")

    def _refuse_class_columns(self, target: Target) -> None:
        """Refuse columns that sum to 1, one per class: they are the classes of one configuration, not several ones."""
        n_repeats, n_configs = self.data.shape[:2]
        assert target.classes is not None
        if self.whole or self.data.ndim != 3 or n_repeats != 1 or n_configs != len(target.classes):
            return
        if self.configs is None and np.abs(self.data[0].sum(axis=0) - 1).max(initial=0) <= _SUM_TOLERANCE:
            shape = f"shape (N, 1, 1, {n_configs}), as P[:, None, None, :]"
            remedy = f"Give the probabilities of one configuration in {shape}; name {n_configs} configurations with `configs`."
            raise InputError(f"P has one column for each of the {n_configs} classes, and they sum to 1", remedy=remedy)

    def _data(self, target: Target, response: Response, used: NDArray[np.bool_]) -> NDArray[Any]:
        """The numbers in their final form; NaN (-1 for codes) wherever there is no prediction."""
        several = f"P has {self.data.shape[-1]} (its last dimension)"
        if response == "label":
            if self.data.ndim == 4:
                raise invalid("response='label'", "needs one label for each sample", several)
            return _codes(self.data, self.words, target, used, "P")
        if self.words is not None:
            raise invalid(f"response={response!r}", "needs numbers", f"P holds text such as {str(self.words[0])!r}")
        data = self.data
        if response == "proba" and target.classes is not None:
            self._refuse_class_columns(target)
        if response in ("score", "proba") and target.classes is not None:
            data = self._by_class(target, target.classes, response, used)
        elif data.ndim == 4 and self.times is None:
            raise invalid(f"response={response!r}", "needs one number for each sample", several)
        if self.shared and used.all():
            return data.view()  # of its own, because it is going to be made read-only
        data = np.array(data, dtype=np.float64, order="C")
        data[~used] = np.nan
        return data

    def _by_class(
        self, target: Target, classes: NDArray[Any], response: Response, used: NDArray[np.bool_]
    ) -> NDArray[Any]:
        """Scores or probabilities in the order of the classes; one column where there are two classes."""
        data, k = self.data, len(classes)
        if data.ndim == 3:
            if target.task == "multiclass":
                shape = f"shape (N, C, R, {k}) (one configuration: (N, 1, 1, {k}))"
                needed = f"with {k} classes needs one column for each of them, {shape}"
                raise invalid(f"response={response!r}", needed, f"P has {data.ndim} dimensions or fewer")
            return data
        if data.shape[3] != k:
            needed = f"must have a column for each of the {k} classes of y"
            raise invalid("P", needed, f"it has {data.shape[3]} columns")
        data = data[..., _column_order(classes, self.columns)]
        if target.task == "multiclass":
            return data
        if response == "score":
            needed = "must have one score for each sample, larger for the positive class"
            raise invalid("P", needed, "it has two columns")
        if np.abs(data[used].sum(-1) - 1).max(initial=0) > _SUM_TOLERANCE:
            problem = "the two probabilities of a sample must sum to 1; they do not"
            raise InputError(problem, remedy="Give the column of the positive class.")
        return data[..., 1]


def _column_order(classes: NDArray[Any], columns: list[str] | None) -> list[int]:
    """Which column belongs to which class: by the end of its name; arrays have their columns in sorted order."""
    if columns is None:
        return [int(i) for i in np.argsort(np.argsort(classes))]
    # A class as the end of a column's name: 1.0 is 1, True is true.
    labels = [int(c) if isinstance(c, float) and c.is_integer() else c for c in classes.tolist()]
    words = [str(label).casefold() for label in labels]
    # The longest match, because the name of one class may be the end of another's.
    ends = [max((w for w in words if name.casefold().endswith(w)), key=len, default=None) for name in columns]
    if sorted(ends, key=str) != sorted(words):
        needed = f"must name columns that end with the names of the classes, {', '.join(words)}"
        raise invalid("prediction", needed, f"the columns are {', '.join(columns)}", "Rename them.")
    return [ends.index(w) for w in words]


def _codes(
    data: NDArray[Any], words: NDArray[Any] | None, target: Target, used: NDArray[np.bool_], what: str
) -> NDArray[np.intp]:
    """Predicted labels as class codes; -1 where there is no prediction."""
    assert target.classes is not None
    labels, codes = (words, data) if words is not None else distinct_codes(data)
    code_of = {label: code for code, label in enumerate(target.classes.tolist())}
    code_of_label = np.array([code_of.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    out = np.where(used, code_of_label[codes], -1)
    unknown = used & (out < 0)
    if unknown.any():
        needed = f"must hold labels of y, which are {', '.join(map(repr, target.classes[:10].tolist()))}"
        raise invalid(what, needed, got(labels[codes[unknown][0]].item()))
    return np.ascontiguousarray(out)


def _by_repeat(P: NDArray[Any]) -> NDArray[Any]:
    """(N[, C[, R[, K]]]) as (R, C, N[, K])."""
    return np.swapaxes(P.reshape(P.shape + (1,) * (3 - P.ndim)), 0, 2)


def _one_each(values: Any, what: str, n: int) -> NDArray[Any]:
    if np.ma.is_masked(values):
        raise invalid(what, "must have an entry for each sample", "some are masked")
    out = np.array(values)  # a copy: it is going to be made immutable
    if out.shape != (n,):
        needed = f"must have one entry for each of the {n} samples, shape ({n},)"
        raise invalid(what, needed, f"its shape is {out.shape}")
    return out


def _fold_codes(folds: Any, n: int, n_repeats: int) -> NDArray[np.int32]:
    """(N, R) folds as 0..F-1 in sorted order of their labels, -1 where a sample was not held out."""
    if folds is None:
        return np.zeros((n, n_repeats), dtype=np.int32)
    if np.ma.is_masked(folds):
        raise invalid("folds", "must not be masked", "some entries are", "Use -1 where a sample was not held out.")
    labels = uniform(np.asarray(folds))
    labels = labels[:, None] if labels.ndim == 1 else labels
    if labels.shape != (n, n_repeats):
        raise invalid("folds", f"must have shape ({n}, {n_repeats}), samples x repeats", f"it has {np.shape(folds)}")
    out = not_held_out(labels)
    known = [np.unique(labels[~out[:, r], r]) for r in range(n_repeats)]
    empty = [r for r, names in enumerate(known) if len(names) == 0]
    if empty:
        needed = "must hold out samples in every repeat"
        raise invalid("folds", needed, f"none is held out in repeat {empty[0]}", "Leave that repeat out.")
    names = np.unique(np.concatenate(known))
    if len(names) < sum(map(len, known)):
        known = [names] * n_repeats  # one numbering for all, so that fold 3 is fold 3 in every repeat
    columns = [np.where(out[:, r], NOT_HELD_OUT, np.searchsorted(known[r], labels[:, r])) for r in range(n_repeats)]
    return np.stack(columns, axis=1).astype(np.int32)
