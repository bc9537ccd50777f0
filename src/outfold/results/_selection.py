"""Configurations by score: the choice of a rule, what cannot be told from it, and how repeats, sizes and parameters move it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.notes import Note
from ..data.predictions import Predictions
from ..docstrings import document_result
from ..formatting import count, json_ready, number
from ._base import Facts, FrameResult, Result, Table, TableResult, dash


@document_result
@dataclass(frozen=True)
class Selection(Result):
    """The configuration a rule picks.

    Attributes
    ----------
    name : str
        The configuration.
    index : int
        Its position among all configurations of the predictions.
    score : float
        Its cross-validation score: optimistic, because the configuration was picked for it.
    {metric_name}
    rule : str
        How it was selected, in words: by which rule and score, of how many configurations.
    aggregate : str
        Whether the score is ``pooled`` or the mean over folds, ``fold``.
    tied, n_candidates : int
        How many configurations have the same best score, and how many the rule could pick.
    params : dict
        The parameters that tell the configuration from the others.
    has_best : bool
        Whether its score is the best one; a rule that prefers simple configurations may pick a lower score.

    Examples
    --------
    >>> import outfold as of
    >>> oof = of.from_arrays(None, [[1, 1], [0, 1], [1, 0], [0, 1]], configs=["a", "b"], response="pointwise")
    >>> found = of.select.best(oof, "mean")
    >>> found.name, found.score, found.tied
    ('b', 0.75, 1)
    """

    name: str
    index: int
    score: float
    metric: str
    rule: str
    aggregate: str
    tied: int
    n_candidates: int
    params: Mapping[str, Any] = field(default_factory=dict)
    has_best: bool = True

    in_dict = "name index score metric rule aggregate tied n_candidates params"

    def _title(self) -> str:
        return f"{self.name}   {self.metric} {number(self.score)} (score before correction, optimistic)"

    def _facts(self) -> Facts:
        yield "rule", f"{self.rule}{self._tie()}"

    def _tie(self) -> str:
        if self.tied < 2:
            return ""
        return f", {self.tied} tied for first" if self.has_best else f"; the best score is shared by {self.tied}"


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class TiedSet(TableResult, FrameResult):
    """Configurations that cannot be told from the best one, by score.

    Attributes: {metric_name}
    confidence_level : float
        The set holds the truly best configuration with this probability or more.
    {best_first}
    scores, pvalues : ndarray
        Their cross-validation scores, and p values of "this configuration is the best".
    n_candidates : int
        How many configurations were compared.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> correct = np.random.default_rng(0).random((80, 3)) < [0.9, 0.88, 0.5]
    >>> found = of.compare.tied_set(of.from_arrays(None, correct, response="pointwise"), "mean")
    >>> found.configs, found.n_candidates
    (('config 0', 'config 1'), 3)
    """

    metric: str
    confidence_level: float
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    pvalues: NDArray[np.float64]
    n_candidates: int

    def __len__(self) -> int:
        return len(self.configs)

    def __contains__(self, config: object) -> bool:
        return config in self.configs

    def __repr__(self) -> str:
        return f"<TiedSet of {len(self)} among {count(self.n_candidates, 'configuration')} by {self.metric}>"

    def _title(self) -> str:
        rest = f"cannot be told from the best ({100 * self.confidence_level:g}% confidence set)"
        return f"{len(self):,} of {count(self.n_candidates, 'configuration')} {rest}"

    rows_of = "configs"

    def _members(self) -> list[tuple[str, float, float]]:
        return list(zip(self.configs, self.scores.tolist(), self.pvalues.tolist(), strict=True))

    def _table(self, shown: int | None = None) -> Table:
        rows = [[name, number(score), number(p)] for name, score, p in self._members()[:shown]]
        return ["configuration", self.metric, "p"], rows

    in_dict = "metric confidence_level n_candidates"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        members = [{"config": name, "score": score, "pvalue": p} for name, score, p in self._members()]
        return super().to_dict() | {"configurations": members}

    def _columns(self) -> dict[str, Any]:
        return {"config": list(self.configs), self.metric: list(self.scores), "pvalue": list(self.pvalues)}


class Baseline(NamedTuple):
    """What a model that learnt nothing scores.

    Attributes
    ----------
    value : float
        Its score.
    of : str
        Which model that is, such as ``always predicting benign``.

    Examples
    --------
    >>> import outfold as of
    >>> predicted = [[0.1], [0.8], [0.6], [0.3], [0.2]]
    >>> table = of.from_arrays([0, 1, 1, 0, 0], predicted, configs=["a"]).leaderboard("accuracy")
    >>> table.baseline
    Baseline(value=0.6, of='always predicting 0')
    """

    value: float
    of: str

    def __str__(self) -> str:
        return f"{self.of}: {number(self.value)}"


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(TableResult, FrameResult):
    """Configurations by cross-validation score, best first; the first score is optimistic.

    Attributes: {metric_name, best_first}
    scores, se : ndarray
        Their cross-validation scores, and standard errors over folds; NaN for fewer than two folds.
    ranks : ndarray of int
        Their ranks, 1 for the best. Scores that differ by rounding only share a rank, in the order you gave.
    left_out : dict
        Configurations without a score, and why: dropped, failed or pending.
    selected, rule : str
        The configuration that is selected, which need not be the first, and how, in words; empty where none can be.
    baseline : Baseline or None
        The score of a model that learnt nothing, such as that of always predicting the majority class; None if it is not known.

    Examples
    --------
    >>> import outfold as of
    >>> predicted = [[0.1, 0.4], [0.8, 0.7], [0.6, 0.2], [0.3, 0.9]]
    >>> table = of.from_arrays([0, 1, 1, 0], predicted, configs=["a", "b"]).leaderboard("accuracy")
    >>> table.configs, table.scores.tolist()
    (('a', 'b'), [1.0, 0.5])
    """

    metric: str
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    se: NDArray[np.float64]
    ranks: NDArray[np.intp]
    left_out: Mapping[str, str] = field(default_factory=dict)
    selected: str = ""
    rule: str = ""
    baseline: Baseline | None = None

    def __len__(self) -> int:
        return len(self.configs)

    def __repr__(self) -> str:
        return f"<Leaderboard of {count(len(self), 'configuration')} by {self.metric}>"

    left, rows_of = (1,), "configs"

    def _title(self) -> str:
        several = len(self.configs) + len(self.left_out) > 1
        return f"selected: {self.selected}, {self.rule}" if self.selected and several else ""

    def _table(self, shown: int | None = None) -> Table:
        done = zip(self.ranks, self.configs, self.scores, self.se, strict=True)
        rows = [[f"{rank}", name, number(s), dash(e)] for rank, name, s, e in done][:shown]
        left_out = [["-", name, why, "-"] for name, why in self.left_out.items()][:shown]
        return ["rank", "configuration", self.metric, "se"], rows + left_out

    def _lines(self) -> Iterable[str]:
        return () if self.baseline is None else (str(self.baseline),)

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; a configuration that was left out has no score."""
        ranked = [
            {"rank": int(rank), "config": name, "score": float(s), "se": float(e), "status": "done"}
            for rank, name, s, e in zip(self.ranks, self.configs, self.scores, self.se, strict=True)
        ]
        others = [
            {"rank": None, "config": name, "score": None, "se": None, "status": why}
            for name, why in self.left_out.items()
        ]
        chosen = {"selected": self.selected or None, "rule": self.rule or None}
        baseline = None if self.baseline is None else self.baseline._asdict()
        return {"metric": self.metric, **chosen, "configurations": ranked + others, "baseline": baseline}

    def _columns(self) -> dict[str, Any]:
        nothing = [np.nan] * len(self.left_out)
        return {
            "config": [*self.configs, *self.left_out],
            self.metric: [*map(float, self.scores), *nothing],
            "se": [*map(float, self.se), *nothing],
            "status": ["done"] * len(self) + list(self.left_out.values()),
        }


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
