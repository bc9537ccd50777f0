"""How sizes of the training part and values of a parameter move the scores of configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.notes import Note
from ..data.predictions import Predictions
from ..docstrings import document_result
from ..formatting import count, json_ready, number
from ._base import FrameResult, Table, TableResult, dash


@dataclass(frozen=True, eq=False)
class CurveLine:
    """One line of a curve, with its band.

    Attributes
    ----------
    values : ndarray of shape (..., cells)
        Score of each fold of each repeat; NaN where a fit failed or the metric is undefined.
    mean, low, high : ndarray
        The line, and the ends of its band.

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = of.curves.learning(GaussianNB(), X, y, sizes=[15, 120])
    >>> curve.test.mean.round(2).tolist()
    [[0.94, 0.97]]
    """

    values: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Curve(TableResult, FrameResult):
    """What both curves share: the gap between their lines, cells of the table, and the lines below it."""

    metric: str
    greater_is_better: bool
    configs: tuple[str, ...]
    train: CurveLine
    test: CurveLine
    plan: str
    failures: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    band: ClassVar[str]

    @property
    def gap(self) -> NDArray[np.float64]:
        """(...) how much better the models are on what they were trained on; positive means overfitting."""
        return (1.0 if self.greater_is_better else -1.0) * (self.train.mean - self.test.mean)

    def _cells(self, at: Any) -> list[str]:
        return [_with_band(self.train, at), _with_band(self.test, at), dash(float(self.gap[at]), sign=True)]

    def _point(self, at: Any) -> dict[str, float | None]:
        ends = {"": "mean", "_low": "low", "_high": "high"}
        lines = {"train": self.train, "test": self.test}
        return {
            name + suffix: json_ready(float(getattr(line, end)[at]))
            for name, line in lines.items()
            for suffix, end in ends.items()
        }

    def _lines(self) -> Iterable[str]:
        yield f"± {self.band}; {self.plan}"
        if self.failures:
            message, _ = max(self.failures.items(), key=lambda item: item[1])
            failed = count(sum(self.failures.values()), "fit")
            yield f"failed: {failed}, most often: {formatting.shorten(message, 100)}"
        yield from map(str, self.notes)


def _with_band(line: CurveLine, at: Any) -> str:
    mean, half = float(line.mean[at]), float(line.high[at] - line.mean[at])
    # Signed numbers keep four digits after the point, however small they are.
    return dash(mean) + (f" ± {number(half, sign=True).lstrip('+')}" if np.isfinite(half) else "")


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LearningCurve(_Curve):
    """Scores of configurations as the training part grows.

    Attributes: {metric, in_order}
    n_train : ndarray of shape (S, cells)
        Number of training samples at each size.
    train, test : CurveLine
        Lines of shape (configurations, sizes): on the training samples (resubstitution), and on the held-out samples.
    n_test : ndarray of shape (cells,)
        Number of samples held out.
    bounds : tuple of float
        The range of the metric; infinite where there is none.
    {plan, n_samples, failures, notes}

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = of.curves.learning(GaussianNB(), X, y, sizes=[15, 60, 120])
    >>> curve.sizes.tolist(), curve.test.mean.shape
    ([15.0, 60.0, 120.0], (1, 3))
    """

    n_train: NDArray[np.intp]
    n_test: NDArray[np.intp]
    bounds: tuple[float, float]
    fingerprint: str
    n_samples: int

    band: ClassVar[str] = "one standard deviation over folds and repeats"

    @property
    def sizes(self) -> NDArray[np.float64]:
        """(S,) mean number of samples trained on."""
        return np.asarray(self.n_train.mean(axis=1))

    def __repr__(self) -> str:
        configs, sizes = count(len(self.configs), "configuration"), count(len(self.n_train), "size")
        return f"<LearningCurve of {configs} by {self.metric} at {sizes}>"

    def _title(self) -> str:
        return f"{self.metric} by the number of samples trained on"

    def _places(self) -> list[tuple[str, float, tuple[int, int]]]:
        """Every configuration with every size, and where they are in the lines."""
        sizes = list(enumerate(self.sizes.tolist()))
        return [(name, size, (j, s)) for j, name in enumerate(self.configs) for s, size in sizes]

    def _table(self, shown: int | None = None) -> Table:
        rows = [[name, f"{size:,.0f}", *self._cells(at)] for name, size, at in self._places()]
        return ["configuration", "samples", "training", "held out", "gap"], rows

    in_dict = "metric greater_is_better plan fingerprint n_samples band failures notes"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form: the lines and their bands."""
        points = [{"config": name, "size": size, **self._point(at)} for name, size, at in self._places()]
        return super().to_dict() | {"points": points}

    def _columns(self) -> dict[str, Any]:
        n_configs, n_sizes, n_cells = self.test.values.shape
        return {
            "config": np.repeat(self.configs, n_sizes * n_cells).tolist(),
            "size": np.tile(np.repeat(self.sizes, n_cells), n_configs).tolist(),
            "n_train": np.tile(self.n_train.ravel(), n_configs).tolist(),
            "cell": np.tile(np.arange(n_cells), n_configs * n_sizes).tolist(),
            "train": self.train.values.ravel().tolist(),
            "test": self.test.values.ravel().tolist(),
        }


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ValidationCurve(_Curve):
    """Scores of one estimator over the values of one parameter.

    Attributes: {metric}
    param : str
        The parameter.
    values : tuple
        Its values, in the user's order.
    configs : tuple of str
        The configurations that the values make.
    train, test : CurveLine
        Lines over the values: on the training samples, and on the held-out samples.
    best : int
        Position of the value with the best mean on held-out samples.
    one_standard_error : int or None
        Position of the simplest value within one standard error of the best; None if the values are not numbers, or if each
        repeat has only one fold.
    oof : Predictions
        The out-of-fold predictions: ``estimate.bbc(curve.oof)`` estimates how good the chosen value is on new samples.
    plan : str
        How samples were held out.
    {failures, notes}

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> curve = of.curves.validation(DecisionTreeClassifier(), X, y, "max_depth", [1, 2, 4], plan=5)
    >>> curve.best_value, curve.one_standard_error_value
    (4, 2)
    """

    param: str
    values: tuple[Any, ...]
    best: int
    one_standard_error: int | None
    oof: Predictions

    band: ClassVar[str] = "one standard error over the folds of a repeat"

    @property
    def best_value(self) -> Any:
        """The value with the best mean."""
        return self.values[self.best]

    @property
    def one_standard_error_value(self) -> Any:
        """The simplest value within one standard error of the best; None where that is not known."""
        return None if self.one_standard_error is None else self.values[self.one_standard_error]

    def __repr__(self) -> str:
        return f"<ValidationCurve of {self.param} by {self.metric}, {count(len(self.values), 'value')}>"

    left = (0, 4)

    def _title(self) -> str:
        return f"{self.metric} by {self.param}"

    def _table(self, shown: int | None = None) -> Table:
        rows = [[_value_text(value), *self._cells(v), self._mark(v)] for v, value in enumerate(self.values)]
        return [self.param, "training", "held out", "gap", ""], rows

    def _mark(self, v: int) -> str:
        marks = {"best": self.best, "one standard error": self.one_standard_error}
        return ", ".join(name for name, at in marks.items() if at == v)

    def _lines(self) -> Iterable[str]:
        yield from super()._lines()
        yield "the best value's score is optimistic: estimate.bbc(curve.oof) corrects it"

    in_dict = "metric greater_is_better param plan band best one_standard_error failures notes"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form: the lines, their bands and the two choices."""
        values = zip(self.configs, self.values, strict=True)
        points = [{"config": name, "value": _json(x), **self._point(v)} for v, (name, x) in enumerate(values)]
        facts = {"fingerprint": self.oof.fingerprint, "n_samples": self.oof.n_samples}
        return super().to_dict() | facts | {"points": points}

    def _columns(self) -> dict[str, Any]:
        n_values, n_cells = self.test.values.shape
        return {
            "config": np.repeat(self.configs, n_cells).tolist(),
            "value": [_json(value) for value in self.values for _ in range(n_cells)],
            "cell": np.tile(np.arange(n_cells), n_values).tolist(),
            "train": self.train.values.ravel().tolist(),
            "test": self.test.values.ravel().tolist(),
        }


def _value_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


def _json(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)
