"""One call of `SelectCV.fit`, checked."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..data.plan import Plan
from ..data.target import Target
from ..fitting.predict import Kind
from ..metrics import Metric
from .callbacks import Announcer
from .scorers import Scorers


class Task(NamedTuple):
    """What is predicted from what, on which folds, scored how."""

    X: Any
    y: Any
    target: Target
    kind: Kind
    plan: Plan
    groups: Any
    fit_params: dict[str, Any]
    seed: int
    scorers: Scorers
    response: Any
    announcer: Announcer | None = None

    @property
    def metrics(self) -> dict[str, Metric]:
        """The scorers as metrics of stored predictions."""
        return self.scorers.metrics(self.kind, self.target, self.response)

    @property
    def positive(self) -> Any:
        """The positive one of two classes."""
        classes = self.target.classes
        return classes[-1] if classes is not None and len(classes) == 2 else None

    def scored_by(self, scorers: Scorers) -> Task:
        """The same, with other scorers."""
        return self._replace(scorers=scorers)
