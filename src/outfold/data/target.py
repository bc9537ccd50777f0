"""What is predicted, encoded once: classes, numbers, survival times, or nothing at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..exceptions import got, invalid

Task = Literal["binary", "multiclass", "regression", "survival", "pointwise"]

# More distinct whole numbers than this are an amount, not classes.
MOST_CLASSES = 20
# Sizes of numbers whose fourth power is still a number: the interval of a squared error needs it.
SMALLEST, LARGEST = 1e-75, 1e75


@dataclass(frozen=True, eq=False)
class Target:
    """The labels of N samples."""

    task: Task
    # (N,) class codes (intp), values or survival times (float64); zeros for "pointwise", where predictions are scores.
    y: NDArray[Any]
    # Of a classification: the class labels in code order; the last of two is the positive class.
    classes: NDArray[Any] | None = None
    # Of survival: (N,) True where the event was observed.
    event: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def labels(self) -> NDArray[Any]:
        """The labels as the user knows them: class labels, values, or (time, event) records."""
        if self.classes is not None:
            return np.asarray(self.classes[self.y])
        if self.event is not None:
            out = np.empty(len(self), dtype=[("event", bool), ("time", float)])
            out["event"], out["time"] = self.event, self.y
            return out
        return self.y

    def take(self, rows: NDArray[Any]) -> Target:
        """The target of a part of the samples (indices or a mask); the classes stay all known."""
        event = None if self.event is None else self.event[rows]
        return Target(self.task, self.y[rows], self.classes, event)

    def balance(self) -> str:
        """How many samples each class has, or what else there is to say: text in brackets, or none."""
        if self.classes is not None:
            counts = np.bincount(self.y, minlength=len(self.classes))
            shown = ", ".join(f"{c!s}: {n:,}" for c, n in zip(self.classes[:5], counts, strict=False))
            return f" ({len(counts)} classes, {shown}{', …' if len(counts) > 5 else ''})"
        if self.event is not None:
            return f" ({int(self.event.sum()):,} events, {int((~self.event).sum()):,} censored)"
        if self.task == "regression":
            return f" (values {formatting.number(self.y.min())} to {formatting.number(self.y.max())})"
        return ""


def encode(y: Any, *, task: str | None = None, positive: Any = None, what: str = "y", one_class: str = "") -> Target:
    """Labels as a `Target`; an error says why they cannot be used.

    `y` holds class labels, numbers, or survival times (structured with one bool and one float field, or two columns: time,
    event). Where `task` is None the labels tell: text, bool and whole numbers are classes, other numbers are values,
    structured records are survival. `positive` names the positive one of two classes, by default the last in sorted order.
    `one_class` is what to do where there is one class only.
    """
    if np.ma.is_masked(y):
        n = int(np.sum(np.ma.getmaskarray(y)))
        given = f"{formatting.count(n, 'label is', 'labels are')} masked"
        raise invalid(what, "must have a label for each sample", given, "Leave out the samples without a label.")
    labels = np.asarray(y)
    if labels.dtype.names is not None or task == "survival":
        return _encode_survival(labels, what)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 0:
        raise invalid(what, "must have one label for each sample, shape (N,)", got(y))
    if labels.ndim != 1:
        remedy = "For survival give records (event, time) or columns time, event."
        raise invalid(what, "must have one label for each sample, shape (N,)", f"it has shape {labels.shape}", remedy)
    if len(labels) == 0:
        raise invalid(what, "must have at least two samples", "it is empty")
    _refuse_missing(labels, what)
    continuous = labels.dtype.kind == "f" and bool(np.any(labels != np.round(labels)))
    if task == "regression" or (task is None and continuous):
        try:
            values = labels.astype(np.float64)
        except (TypeError, ValueError):
            given = f"it holds {labels.dtype} labels"
            raise invalid(what, "must be numbers for a regression", given) from None
        refuse_sizes(float(np.abs(values).max()), what)
        return Target("regression", values)
    return _encode_classes(labels, positive, what, one_class)


def look_like_classes(y: Any) -> bool:
    """Whether these labels are classes rather than amounts: text, bool, or few distinct whole numbers."""
    labels = np.asarray(y)
    if labels.dtype.kind not in "iufO":
        return labels.dtype.kind in "bUST"
    try:
        distinct = np.unique(labels.astype(np.float64))
    except (TypeError, ValueError):  # objects that are no numbers
        return True
    return len(distinct) <= MOST_CLASSES and bool(np.all(distinct % 1 == 0))


def refuse_sizes(largest: float, what: str) -> None:
    """Refuse numbers so large or so small that their squares are not numbers any more."""
    if largest > LARGEST or 0 < largest < SMALLEST:
        need = f"must have numbers whose largest is between {SMALLEST:g} and {LARGEST:g}, or all 0"
        remedy = "Divide labels and predictions by a constant."
        raise invalid(what, need, f"the largest is {largest:.3g}", remedy)


def missing_values(values: NDArray[Any]) -> NDArray[np.bool_]:
    """(N,) True for None, NaN and the like."""
    return np.array(
        [v is None or type(v).__name__ in ("NAType", "NaTType") or v != v for v in values.tolist()], dtype=bool
    )


def _refuse_missing(labels: NDArray[Any], what: str) -> None:
    if labels.dtype.kind == "O":
        missing = missing_values(labels)
    elif labels.dtype.kind == "f":
        missing = ~np.isfinite(labels)
    elif labels.dtype.kind in "mM":
        missing = np.isnat(labels)
    else:
        return
    if missing.any():
        n, where = int(missing.sum()), int(np.argmax(missing))
        given = f"1 label is missing or infinite, at row {where}"
        if n > 1:
            given = f"{n:,} labels are missing or infinite, the first at row {where}"
        raise invalid(what, "must have a finite label for each sample", given, "Leave out the samples without a label.")


def _encode_classes(labels: NDArray[Any], positive: Any, what: str, one_class: str) -> Target:
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        given = "it mixes labels that cannot be sorted, such as text and numbers"
        raise invalid(what, "must have labels of one type", given, "Use one type.") from None
    if len(classes) < 2:
        raise invalid(what, "must have at least two classes", f"it holds one class only ({classes[0]!s})", one_class)
    codes = codes.astype(np.intp)
    if positive is not None:
        found = [i for i, c in enumerate(classes) if c == positive or str(c) == str(positive)]
        if not found or len(classes) != 2:
            given = f"{got(positive)}, and `{what}` has {len(classes)}: {', '.join(map(str, classes[:10]))}"
            raise invalid("positive", "must name one of two classes", given)
        if found[0] == 0:
            classes, codes = classes[::-1], 1 - codes
    return Target("binary" if len(classes) == 2 else "multiclass", codes, classes)


def _encode_survival(labels: NDArray[Any], what: str) -> Target:
    need = "must be records with one bool field (event) and one number field (time), or two columns time, event"
    if labels.dtype.names is not None:
        bools = [n for n in labels.dtype.names if labels.dtype[n].kind == "b"]
        numbers = [n for n in labels.dtype.names if labels.dtype[n].kind in "fiu"]
        if len(bools) != 1 or len(numbers) != 1:
            raise invalid(what, need, f"it has fields {', '.join(labels.dtype.names)}")
        time, event = labels[numbers[0]].astype(np.float64), labels[bools[0]].copy()
    elif labels.ndim == 2 and labels.shape[1] == 2:
        time = labels[:, 0].astype(np.float64)
        if not np.isin(labels[:, 1].astype(np.float64), (0.0, 1.0)).all():
            raise invalid(what, need, "the second column holds values other than 0 and 1")
        event = labels[:, 1].astype(bool)
    else:
        raise invalid(what, need, f"it has shape {labels.shape}")
    _refuse_missing(time, what)
    if not event.any():
        raise invalid(what, "must have at least one observed event, to compare risks", "it has none")
    return Target("survival", time, event=event)
