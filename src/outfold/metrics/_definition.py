"""What a metric is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ..data.target import Target, Task
from ..stats.kernels import Array, Kernel

Response = Literal["label", "score", "proba", "value", "risk", "pointwise", "any", "model"]

BINARY: frozenset[Task] = frozenset({"binary"})
MULTICLASS: frozenset[Task] = frozenset({"multiclass"})
CLASSES = BINARY | MULTICLASS
REGRESSION: frozenset[Task] = frozenset({"regression"})
SURVIVAL: frozenset[Task] = frozenset({"survival"})
POINTWISE: frozenset[Task] = frozenset({"pointwise"})
EVERY: frozenset[Task] = frozenset(get_args(Task))


@dataclass(frozen=True, eq=False)
class Metric:
    """How predictions are scored.

    Parameters
    ----------
    name : str
        Such as ``roc_auc``.
    greater_is_better : bool
        The direction of the best value.
    needs : str
        The response of a configuration that is scored: class ``label`` codes, a ranking ``score``, class
        probabilities (``proba``), a ``value``, a ``risk``, ``pointwise`` scores as given, ``any``, or all that a
        ``model`` would answer: the response and the labels (see `Predictions.respond`).
    tasks : frozenset of str
        The tasks it is defined for.
    kernel : callable
        ``kernel(target, predictions)`` of C configurations, (C, N) or (C, N, K) in the needed response.
    reference : callable
        ``reference(target, prediction, weights=None)`` of one configuration, by the plain and slow path.
    values : callable or None
        ``values(target, predictions)``, the (C, N) values of which a pointwise metric is the mean (integers
        where the loss is 0-1); None unless pointwise.
    bounds : tuple of two float
        Lowest and highest possible value.
    description : str
        What it is, in one line.
    looped : bool
        Whether it is a function called once per configuration and resample, and so slow.

    Examples
    --------
    >>> import outfold as of
    >>> metric = of.metrics.get("brier")
    >>> metric.needs, metric.greater_is_better, metric.bounds
    ('proba', False, (0, 2))
    """

    name: str
    greater_is_better: bool
    needs: Response
    tasks: frozenset[Task]
    kernel: Callable[[Target, Array], Kernel] = field(repr=False)
    reference: Callable[..., float] = field(repr=False)
    values: Callable[[Target, Array], Array] | None = field(default=None, repr=False)
    bounds: tuple[float, float] = (-np.inf, np.inf)
    description: str = ""
    looped: bool = False

    @property
    def pointwise(self) -> bool:
        """Whether it is a mean of per-sample values."""
        return self.values is not None

    @property
    def sign(self) -> int:
        """1 where greater is better, else -1: ``sign * value`` is always to be maximised."""
        return 1 if self.greater_is_better else -1


MetricLike: TypeAlias = str | Callable[..., Any] | Metric
