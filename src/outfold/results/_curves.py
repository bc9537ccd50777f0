"""Scores by the size of the training part, and by the value of one parameter."""

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
from ..formatting import make_frame


@dataclass(frozen=True, eq=False)
class CurveLine:
    """One line of a curve, with its band.

    Attributes
    ----------
    values : ndarray of shape (..., cells)
        Score of each fold of each repeat; NaN where a fit failed or the metric is undefined.
    mean, low, high : ndarray
        The line, and the ends of its band.
    """

    values: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve:
    """Scores of configurations as the training part grows.

    Attributes
    ----------
    {metric}
    configs : tuple of str
        The configurations, in the user's order.
    n_train : ndarray of shape (S, cells)
        Number of training samples at each size.
    train, test : CurveLine
        Lines of shape (configurations, sizes): on the training samples (resubstitution), and on the held-out samples.
    {plan, n_samples, failures, notes}
    """

    metric: str
    greater_is_better: bool
    configs: tuple[str, ...]
    n_train: NDArray[np.intp]
    train: CurveLine
    test: CurveLine
    plan: str
    fingerprint: str
    n_samples: int
    failures: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    band: ClassVar[str] = "one standard deviation over folds and repeats"

    @property
    def sizes(self) -> NDArray[np.float64]:
        """(S,) mean number of samples trained on."""
        return np.asarray(self.n_train.mean(axis=1))

    @property
    def gap(self) -> NDArray[np.float64]:
        """(C, S) how much better the models are on what they were trained on; positive means overfitting."""
        return _gap(self)

    def __repr__(self) -> str:
        return (
            f"<LearningCurve of {formatting.count(len(self.configs), 'configuration')} by {self.metric} at "
            f"{formatting.count(len(self.n_train), 'size')}>"
        )

    def __str__(self) -> str:
        title = f"{self.metric} by the number of samples trained on"
        return "\n".join([title, formatting.table(self._header(), self._rows()), *_footer(self)])

    def _repr_html_(self) -> str:
        return formatting.table_html(self._header(), self._rows())

    def _header(self) -> list[str]:
        return ["configuration", "samples", "training", "held out", "gap"]

    def _rows(self) -> list[list[str]]:
        return [
            [name, f"{size:,.0f}", *_pair(self, (j, s)), _score(self.gap[j, s], sign=True)]
            for j, name in enumerate(self.configs)
            for s, size in enumerate(self.sizes)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form: the lines and their bands."""
        shared = {k: getattr(self, k) for k in ("metric", "greater_is_better", "plan", "fingerprint", "n_samples")}
        points = [
            {"config": name, "size": float(size), **_point(self, (j, s))}
            for j, name in enumerate(self.configs)
            for s, size in enumerate(self.sizes)
        ]
        return shared | {"band": self.band, "points": points, **_caveats(self)}

    def to_frame(self, backend: str | None = None) -> Any:
        """Long table with a row for every configuration, size and cell."""
        n_configs, n_sizes, n_cells = self.test.values.shape
        return make_frame(
            {
                "config": np.repeat(self.configs, n_sizes * n_cells).tolist(),
                "size": np.tile(np.repeat(self.sizes, n_cells), n_configs).tolist(),
                "n_train": np.tile(self.n_train.ravel(), n_configs).tolist(),
                "cell": np.tile(np.arange(n_cells), n_configs * n_sizes).tolist(),
                "train": self.train.values.ravel().tolist(),
                "test": self.test.values.ravel().tolist(),
            },
            backend,
        )


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class ValidationCurve:
    """Scores of one estimator over the values of one parameter.

    Attributes
    ----------
    {metric}
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
        The out-of-fold predictions: ``estimate.bbc(curve.oof, metric)`` estimates how good the chosen value is on new samples.
    {failures, notes}
    """

    metric: str
    greater_is_better: bool
    param: str
    values: tuple[Any, ...]
    configs: tuple[str, ...]
    train: CurveLine
    test: CurveLine
    best: int
    one_standard_error: int | None
    oof: Predictions
    failures: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    band: ClassVar[str] = "one standard error over the folds of a repeat"

    @property
    def plan(self) -> str:
        """How samples were held out."""
        return str(self.oof.plan)

    @property
    def best_value(self) -> Any:
        """The value with the best mean."""
        return self.values[self.best]

    @property
    def one_standard_error_value(self) -> Any:
        """The simplest value within one standard error of the best; None where that is not known."""
        return None if self.one_standard_error is None else self.values[self.one_standard_error]

    @property
    def gap(self) -> NDArray[np.float64]:
        """(V,) how much better the models are on what they were trained on; positive means overfitting."""
        return _gap(self)

    def __repr__(self) -> str:
        return f"<ValidationCurve of {self.param} by {self.metric}, {formatting.count(len(self.values), 'value')}>"

    def __str__(self) -> str:
        title = f"{self.metric} by {self.param}"
        lines = [title, formatting.table(self._header(), self._rows(), left=(0, 4)), *_footer(self)]
        return "\n".join([*lines, "the best value's score is optimistic: estimate.bbc(curve.oof, metric) corrects it"])

    def _repr_html_(self) -> str:
        return formatting.table_html(self._header(), self._rows())

    def _header(self) -> list[str]:
        return [self.param, "training", "held out", "gap", ""]

    def _rows(self) -> list[list[str]]:
        return [
            [_value_text(value), *_pair(self, v), _score(self.gap[v], sign=True), self._mark(v)]
            for v, value in enumerate(self.values)
        ]

    def _mark(self, v: int) -> str:
        marks = {"best": self.best, "one standard error": self.one_standard_error}
        return ", ".join(name for name, at in marks.items() if at == v)

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form: the lines, their bands and the two choices."""
        shared = {k: getattr(self, k) for k in ("metric", "greater_is_better", "param", "plan", "band")}
        choices = {"best": self.best, "one_standard_error": self.one_standard_error}
        points = [
            {"config": name, "value": _json(value), **_point(self, v)}
            for v, (name, value) in enumerate(zip(self.configs, self.values, strict=True))
        ]
        facts = {"fingerprint": self.oof.fingerprint, "n_samples": self.oof.n_samples}
        return shared | facts | choices | {"points": points, **_caveats(self)}

    def to_frame(self, backend: str | None = None) -> Any:
        """Long table with a row for every value and cell."""
        n_values, n_cells = self.test.values.shape
        return make_frame(
            {
                "config": np.repeat(self.configs, n_cells).tolist(),
                "value": [_json(value) for value in self.values for _ in range(n_cells)],
                "cell": np.tile(np.arange(n_cells), n_values).tolist(),
                "train": self.train.values.ravel().tolist(),
                "test": self.test.values.ravel().tolist(),
            },
            backend,
        )


Curve = LearningCurve | ValidationCurve


def _gap(curve: Curve) -> NDArray[np.float64]:
    return (1.0 if curve.greater_is_better else -1.0) * (curve.train.mean - curve.test.mean)


def _score(value: float, sign: bool = False) -> str:
    return formatting.number(value, sign) if np.isfinite(value) else "-"


def _with_band(line: CurveLine, at: Any) -> str:
    mean, half = float(line.mean[at]), float(line.high[at] - line.mean[at])
    # Signed numbers keep four digits after the point, however small they are.
    return _score(mean) + (f" ± {formatting.number(half, sign=True).lstrip('+')}" if np.isfinite(half) else "")


def _pair(curve: Curve, at: Any) -> tuple[str, str]:
    return _with_band(curve.train, at), _with_band(curve.test, at)


def _point(curve: Curve, at: Any) -> dict[str, float | None]:
    lines = {"train": curve.train, "test": curve.test}
    numbers = {
        name if end == "mean" else f"{name}_{end}": float(getattr(line, end)[at])
        for name, line in lines.items()
        for end in ("mean", "low", "high")
    }
    return {name: value if np.isfinite(value) else None for name, value in numbers.items()}


def _caveats(curve: Curve) -> dict[str, Any]:
    return {
        "failures": dict(curve.failures),
        "notes": [{"code": note.code, "text": note.text} for note in curve.notes],
    }


def _footer(curve: Curve) -> Iterable[str]:
    yield f"± {curve.band}; {curve.plan}"
    if curve.failures:
        message, _ = max(curve.failures.items(), key=lambda item: item[1])
        failed = formatting.count(sum(curve.failures.values()), "fit")
        yield f"failed: {failed}, most often: {formatting.shorten(message, 100)}"
    yield from map(str, curve.notes)


def _value_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


def _json(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)
