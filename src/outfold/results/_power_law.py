"""How scores go on beyond the samples at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import check_count, is_number
from ..docstrings import document_result
from ..exceptions import got, invalid
from ..formatting import count, number
from ..stats.power_law import power_law, samples_for
from ._base import FrameResult, Interval, Table, TableResult
from ._sample_size import SamplesNeeded

# No number of samples above this many times those at hand is called an answer.
_MOST_TIMES = 1000


class Extrapolated(NamedTuple):
    """The score of a configuration at some number of training samples.

    Attributes
    ----------
    config : str
        The configuration.
    n : int
        Training samples.
    score : float
        The score that the fitted law has there.
    interval : Interval or None
        Its interval; None for a configuration that was selected by this score.

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = of.curves.learning(GaussianNB(), X[50:, :2], y[50:], sizes=[10, 20, 40, 80], metric="roc_auc")
    >>> found = of.curves.power_law(curve).at(200)
    >>> found.n, round(found.score, 2)
    (200, 0.77)
    """

    config: str
    n: int
    score: float
    interval: Interval | None


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PowerLaw(TableResult, FrameResult):
    """Inverse power laws of a learning curve: score = a - b n^-c for n training samples (a + b n^-c for a loss).

    Attributes: {metric, in_order}
    parameters : ndarray of shape (C, 3)
        a, the score of endless samples; b, from 0 on; and the rate c.
    draws : ndarray of shape (B, C, 3)
        The same fitted to draws of the curve; intervals come from them.
    residual : ndarray of shape (C,)
        Root mean squared distance of the points from the curve.
    sizes : ndarray of shape (S,)
        Numbers of training samples that were fitted.
    n_samples : int
        Samples at hand. A model fitted on all of them has so many training samples.
    confidence_level : float
        Level of the intervals.
    plan : str
        How samples were held out.

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = of.curves.learning(GaussianNB(), X[50:, :2], y[50:], sizes=[10, 20, 40, 80], metric="roc_auc")
    >>> law = of.curves.power_law(curve)
    >>> law.at(200).n, law.needed(0.99).n
    (200, None)
    """

    metric: str
    greater_is_better: bool
    configs: tuple[str, ...]
    parameters: NDArray[np.float64]
    draws: NDArray[np.float64]
    residual: NDArray[np.float64]
    sizes: NDArray[np.float64]
    n_samples: int
    confidence_level: float
    plan: str

    rows_of = "configs"
    in_dict = "metric greater_is_better configs parameters residual sizes n_samples confidence_level plan"

    def __post_init__(self) -> None:
        # Printing computes nothing, so what it shows is computed here.
        n, every = self.n_samples, range(len(self.configs))
        object.__setattr__(self, "_points", [(self.at(n, j), self.at(2 * n, j)) for j in every])

    @property
    def _sign(self) -> float:
        return 1.0 if self.greater_is_better else -1.0

    def _law(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """The parameters of scores of which greater ones are better."""
        return np.asarray(parameters * [self._sign, 1.0, 1.0])

    def _position(self, config: str | int | None) -> int:
        if config is None and len(self.configs) == 1:
            return 0
        if isinstance(config, str) and config in self.configs:
            return self.configs.index(config)
        if isinstance(config, (int, np.integer)) and not isinstance(config, bool) and 0 <= config < len(self.configs):
            return int(config)
        raise invalid("config", f"must be one of {', '.join(map(repr, self.configs))}", got(config))

    def at(self, n: int, config: str | int | None = None, *, confidence_level: float | None = None) -> Extrapolated:
        """The score at n training samples, with its interval."""
        n, j = check_count(n, "n"), self._position(config)
        level = self.confidence_level if confidence_level is None else confidence_level
        drawn = self._sign * power_law(self._law(self.draws[:, j]), n)
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
        score = float(self._sign * power_law(self._law(self.parameters[j]), n))
        return Extrapolated(self.configs[j], n, score, Interval(float(low), float(high)))

    def best(self, n: int | None = None) -> Extrapolated:
        """The configuration whose law is best at n training samples, all at hand where None, with its score (IPL).

        Ding et al. (2014) report this score in place of the winner's cross-validation score: a curve through all sizes varies
        less than one score, so that the best of several curves is less optimistic. It remains the best of several.
        """
        n = self.n_samples if n is None else check_count(n, "n")
        scores = power_law(self._law(self.parameters), n)
        j = int(np.argmax(scores))
        interval = self.at(n, j).interval if len(self.configs) == 1 else None
        return Extrapolated(self.configs[j], n, float(self._sign * scores[j]), interval)

    def needed(
        self, score: float, config: str | int | None = None, *, confidence_level: float | None = None
    ) -> SamplesNeeded:
        """How many samples a model of this configuration needs to reach the score, if it is trained on all of them."""
        if not is_number(score):
            raise invalid("score", "must be a number, in units of the metric", got(score))
        j, asked = self._position(config), self._sign * float(score)
        level = self.confidence_level if confidence_level is None else confidence_level
        most = _MOST_TIMES * self.n_samples
        every = samples_for(self._law(np.concatenate([self.parameters[None, j], self.draws[:, j]])), asked)
        every = np.where(every > most, np.inf, np.ceil(every))
        tail = (1 - level) / 2
        low, high = np.quantile(every[1:], [tail, 1 - tail], method="inverted_cdf")
        least, largest = (f"{size:,.0f}" for size in (self.sizes.min(), self.sizes.max()))
        return SamplesNeeded(
            question=f"{self.metric} of {number(float(score))} with {self.configs[j]}",
            n=int(every[0]) if np.isfinite(every[0]) else None,
            n_now=self.n_samples,
            n_interval=Interval(float(low), float(high)),
            metric=self.metric,
            a=self.configs[j],
            confidence_level=level,
            assumes=(
                f"scores go on as a - b n^-c, which was fitted to {least} to {largest} training samples",
                f"more than {_MOST_TIMES:,} times the samples at hand counts as no number",
                "new samples are like those at hand, and the model is trained on all of them",
            ),
        )

    def __repr__(self) -> str:
        return f"<PowerLaw of {count(len(self.configs), 'configuration')} by {self.metric}>"

    def _title(self) -> str:
        return f"{self.metric} = a {'-' if self.greater_is_better else '+'} b n^-c for n training samples"

    def _table(self, shown: int | None = None) -> Table:
        level, n = f"{100 * self.confidence_level:g}% CI", self.n_samples
        rows = []
        points: list[tuple[Extrapolated, Extrapolated]] = vars(self)["_points"]
        for j, (name, (here, more)) in enumerate(zip(self.configs[:shown], points, strict=False)):
            ends = [
                f"[{number(one.interval.low)}, {number(one.interval.high)}]" for one in (here, more) if one.interval
            ]
            numbers = [number(float(v)) for v in (*self.parameters[j], self.residual[j], here.score)]
            rows.append([name, *numbers, ends[0], number(more.score), ends[1]])
        return ["configuration", "a", "b", "c", "residual", f"n = {n:,}", level, f"n = {2 * n:,}", level], rows

    def _columns(self) -> dict[str, Any]:
        a, b, c = self.parameters.T
        return {"config": list(self.configs), "a": a.tolist(), "b": b.tolist(), "c": c.tolist()}
