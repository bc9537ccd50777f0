"""Metrics: their names, directions, the response they need, and how they are computed.

``get`` turns a name, a scikit-learn scorer or a function into a ``Metric``; ``names`` lists the built-in ones.
A metric is a mean of per-sample values (*pointwise*) or defined on a set of samples only. Under the labels of
a resample it may be undefined, and is then NaN; what depends on the predictions alone follows scikit-learn.
"""

from ..data.criterion import LiveScore
from ._builtin import EVERY as EVERY
from ._builtin import Metric, default, names
from ._builtin import MetricLike as MetricLike
from ._lookup import get, make
from ._lookup import is_known as is_known

__all__ = ["LiveScore", "Metric", "default", "get", "make", "names"]
