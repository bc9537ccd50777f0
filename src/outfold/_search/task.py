"""One call of `SelectCV.fit`, checked."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._plan import Plan
from .._target import Target
from ..metrics import Metric
from .callbacks import Announcer
from .scorers import Scorers


class Task(NamedTuple):
    """What is predicted from what, on which folds, scored how."""

    X: Any
    y: Any
    target: Target
    kind: str
    plan: Plan
    groups: Any
    fit_params: dict[str, Any]
    seed: int
    scorers: Scorers
    response: Any
    metrics: dict[str, Metric]
    announcer: Announcer | None = None
