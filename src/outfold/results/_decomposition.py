"""What an error is made of, and why scores and the estimate of a balanced m x 2 cross-validation vary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..docstrings import document_result
from ..formatting import count, number
from ._base import FrameResult, Table, TableResult, dash


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BiasVariance(TableResult, FrameResult):
    """The parts of the mean loss of each configuration: loss = bias + adds - saves.

    Attributes
    ----------
    kind : {"squared error", "0-1 loss"}
        The loss.
    configs : tuple of str
        The configurations.
    loss, bias, variance : ndarray of shape (C,)
        Mean loss over samples, its bias, and how far (or how often) predictions of a sample stray from their mean (their most
        frequent class).
    adds, saves : ndarray of shape (C,)
        What variance adds to the loss, and what it saves: a prediction that strays from a wrong main prediction may be right.
        The squared error has ``adds`` equal to the variance, and saves nothing.
    n_samples : int
        Samples with two predictions or more, which count.
    n_predictions : float
        Predictions of a sample, the mean over samples.
    plan : str
        How samples were held out.

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> oof = of.collect(DecisionTreeClassifier(), X[50:, :2], y[50:], plan=of.Plan.bootstrap(20), progress=False)
    >>> found = of.stability.bias_variance(oof)
    >>> bool(abs(found.loss - (found.bias + found.adds - found.saves)).max() < 1e-9)
    True
    """

    kind: str
    configs: tuple[str, ...]
    loss: NDArray[np.float64]
    bias: NDArray[np.float64]
    variance: NDArray[np.float64]
    adds: NDArray[np.float64]
    saves: NDArray[np.float64]
    n_samples: int
    n_predictions: float
    plan: str

    rows_of = "configs"
    in_dict = "kind configs loss bias variance adds saves n_samples n_predictions plan"

    def __repr__(self) -> str:
        return f"<BiasVariance of {count(len(self.configs), 'configuration')} by {self.kind}>"

    def _names(self) -> list[str]:
        return ["loss", "bias", "variance"] + (["adds", "saves"] if self.kind == "0-1 loss" else [])

    def _table(self, shown: int | None = None) -> Table:
        columns = [getattr(self, name) for name in self._names()]
        rows = [[name, *(number(float(c[j])) for c in columns)] for j, name in enumerate(self.configs[:shown])]
        return ["configuration", *self._names()], rows

    def _lines(self) -> Iterable[str]:
        each = f"{self.n_predictions:.3g} predictions of each of {count(self.n_samples, 'sample')}"
        yield f"{self.kind}, {each}, {self.plan}; noise of the labels is part of the bias"

    def _columns(self) -> dict[str, Any]:
        return {"config": list(self.configs)} | {name: getattr(self, name).tolist() for name in self._names()}


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class VarianceSplit(TableResult, FrameResult):
    """The variance of a score, split into samples, partition and seed.

    Attributes: {metric_name, in_order}
    scores, averaged : ndarray of shape (C,)
        Their mean score over single fits, and the score of the predictions averaged over seeds, which is mostly better.
    samples, partition, seed : ndarray of shape (C,)
        The variance that the samples, one partition and one seed for each fit add to the score.
    n_units, n_repeats, n_seeds : int
        Number of samples (or groups), of repeats, and of seeds in each.

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from sklearn.tree import ExtraTreeClassifier
    >>> oof = of.collect(ExtraTreeClassifier(), X, y, of.Plan(folds=5, repeats=3), seeds=3, progress=False)
    >>> found = of.stability.variance(oof, "accuracy")
    >>> found.n_units, found.n_repeats, found.n_seeds
    (150, 3, 3)
    """

    metric: str
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    averaged: NDArray[np.float64]
    samples: NDArray[np.float64]
    partition: NDArray[np.float64]
    seed: NDArray[np.float64]
    n_units: int
    n_repeats: int
    n_seeds: int

    @property
    def of_one_fit(self) -> NDArray[np.float64]:
        """(C,) the variance of the score of one partition and one seed."""
        return self.samples + self.partition + self.seed

    @property
    def of_mean(self) -> NDArray[np.float64]:
        """(C,) the variance of the mean score over all repeats and seeds."""
        return self.samples + self.partition / self.n_repeats + self.seed / (self.n_repeats * self.n_seeds)

    def __repr__(self) -> str:
        return f"<VarianceSplit of {count(len(self.configs), 'configuration')} by {self.metric}>"

    rows_of = "configs"

    def _numbers(self) -> dict[str, NDArray[np.float64]]:
        parts = {"samples": self.samples, "partition": self.partition, "seed": self.seed}
        sums = {"one_fit": self.of_one_fit, "mean": self.of_mean}
        spread = {f"sd_{name}": np.sqrt(part) for name, part in (parts | sums).items()}
        return {"score": self.scores, "averaged": self.averaged} | spread

    def _table(self, shown: int | None = None) -> Table:
        header = ["configuration", self.metric, "averaged", "sd: samples", "partition", "seed", "one fit", "mean"]
        columns = self._numbers().values()
        rows = [[name, *(number(float(column[j])) for column in columns)] for j, name in enumerate(self.configs)]
        return header, rows[:shown]

    def _lines(self) -> Iterable[str]:
        sizes = f"{count(self.n_repeats, 'repeat')} of {count(self.n_seeds, 'seed')}"
        yield f"{sizes}; averaged: score of the mean prediction of the seeds; mean: of all repeats and seeds"

    in_dict = "metric configs scores averaged samples partition seed of_one_fit of_mean n_units n_repeats n_seeds"

    def _columns(self) -> dict[str, Any]:
        return {"config": list(self.configs)} | {name: list(column) for name, column in self._numbers().items()}


@document_result
@dataclass(frozen=True, kw_only=True, repr=False)
class VarianceComponents(TableResult, FrameResult):
    """Why the mean of a balanced m x 2 cross-validation varies, and how large estimates of its variance are.

    One data set shows neither the correlations nor the variance of its mean: these are None unless there are several.

    Attributes
    ----------
    n_sets, n_repeats : int
        Independent data sets, and repeats m of two halves.
    mean : float
        Mean score.
    within, between : float
        Variance of the two halves of a repeat around their mean, and sample variance of the means of the repeats; means over data
        sets. They estimate variance (1 - rho1) and variance ((1 + rho1) / 2 - rho2).
    L, AL, careful : float
        Estimates of the variance of the mean, with weights 0, (m-1)/m and (m+1)/m of ``between``; means over data sets.
    variance, rho1, rho2 : float or None
        Variance of the score of a half, its correlation with the other half and with halves of other repeats.
    of_mean : float or None
        Variance of the mean score: variance (1 + rho1 + 2 (m-1) rho2) / (2m).

    Examples
    --------
    >>> import outfold as of
    >>> found = of.stability.variance_components([[0.81, 0.78], [0.84, 0.80], [0.79, 0.80]])
    >>> found.n_repeats, round(found.mean, 3), found.rho1 is None  # one data set does not show correlations
    (3, 0.803, True)
    """

    n_sets: int
    n_repeats: int
    mean: float
    within: float
    between: float
    L: float
    AL: float
    careful: float
    variance: float | None = None
    rho1: float | None = None
    rho2: float | None = None
    of_mean: float | None = None

    in_dict = "n_sets n_repeats mean within between L AL careful variance rho1 rho2 of_mean parts ratios"

    @property
    def parts(self) -> dict[str, float] | None:
        """What the variance of a half, and the correlations within and between repeats, add to the variance of the mean."""
        if self.variance is None or self.rho1 is None or self.rho2 is None:
            return None
        m, half = self.n_repeats, self.variance / (2 * self.n_repeats)
        return {"halves": half, "within repeats": half * self.rho1, "between repeats": half * 2 * (m - 1) * self.rho2}

    @property
    def ratios(self) -> dict[str, float] | None:
        """Variance of the mean over each estimate of it; above 1 a test by that estimate is liberal. None for one data set."""
        if self.of_mean is None:
            return None
        estimates = {"L": self.L, "AL": self.AL, "careful": self.careful}
        return {name: self.of_mean / one if one > 0 else np.nan for name, one in estimates.items()}

    def __repr__(self) -> str:
        known = "" if self.rho1 is None else f": rho1 {self.rho1:.3f}, rho2 {self.rho2:.3f}"
        return f"<VarianceComponents of {count(self.n_sets, 'data set')}, {self.n_repeats} x 2-fold{known}>"

    def _title(self) -> str:
        return f"mean score {number(self.mean)} over {count(self.n_sets, 'data set')}, {self.n_repeats} x 2-fold"

    def _table(self, shown: int | None = None) -> Table:
        ratios = self.ratios or {}
        named = {"L": "L", "AL": "AL", "careful": "careful"}
        rows = [
            [f"estimate {name}", number(getattr(self, field)), dash(ratios.get(name, np.nan))]
            for name, field in named.items()
        ]
        known = [("variance of a half", self.variance), ("rho1, within repeats", self.rho1)]
        known += [("rho2, between repeats", self.rho2), ("variance of the mean", self.of_mean)]
        rows += [[words, number(value), ""] for words, value in known if value is not None]
        return ["", "value", "variance / estimate"], rows

    def _lines(self) -> Iterable[str]:
        if self.rho1 is None:
            yield "one data set shows neither the correlations nor the variance of its mean"

    def _columns(self) -> dict[str, Any]:
        names = [name for name in self.in_dict.split() if name not in ("parts", "ratios")]
        return {name: [getattr(self, name)] for name in names}
