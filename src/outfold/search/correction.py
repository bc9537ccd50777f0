"""The corrected estimate of a search: by bootstrap from stored predictions wherever they tell the score, else from folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import estimate
from ..data.predictions import Predictions, State
from ..exceptions import InputError
from ..metrics import LiveScore, Metric, MetricLike, get
from ..metrics._cell_scores import cell_scores
from ..select import Rule
from .cv_results import FromResults
from .scorers import Scorers
from .stored_model import FunctionScorer

if TYPE_CHECKING:
    from ..results import Estimate

# A metric that is a Python function is called for each draw, configuration and fold, so it gets fewer draws.
_DRAWS, _LOOPED_DRAWS = 1000, 200
# Scores of stored predictions are those of the models if they differ by less.
_SAME = 1e-9


class Correction(NamedTuple):
    """What is needed to estimate later; unlike metrics, it can be pickled."""

    scorers: Scorers
    kind: str | None
    response: str
    rule: Rule
    seed: int

    def metric(self, oof: Predictions) -> Metric:
        """The metric that selects; the first of several if a function selects."""
        found = self.scorers.metrics(self.kind, None if self.kind is None else oof.target)
        return found[self.scorers.selecting]

    def estimated(self, oof: Predictions) -> MetricLike:
        """What the estimate is of: the metric or, if predictions cannot tell the score, the score of the models."""
        metric = self.metric(oof)
        if metric.needs != "live":
            return metric
        stored = self._stored(oof, metric.name)
        return LiveScore(metric.name) if stored is None else stored

    def calls_functions(self, oof: Predictions) -> bool:
        """Whether the estimate calls functions of the user, which may take long."""
        functions = self.scorers.functions or self.scorers.own_functions
        return bool(functions) or isinstance(self.rule, FromResults) or self.metric(oof).looped

    def estimate(self, oof: Predictions) -> Estimate:
        """The estimate of the selected configuration, by the best method that the score allows."""
        metric = self.estimated(oof)
        if isinstance(metric, LiveScore):
            from ..estimate._default import corrected  # here: few searches need the methods that it chooses from

            return corrected(oof, metric, rule=self.rule, rng=self.seed)
        n = _LOOPED_DRAWS if get(metric, oof.target.task).looped else _DRAWS
        return estimate.bbc(oof, metric, rule=self.rule, aggregate="fold", n_resamples=n, rng=self.seed)

    def _stored(self, oof: Predictions, name: str) -> MetricLike | None:
        """The metric of stored predictions that gives the models' scores in every fold; None if there is none."""
        asked = self.scorers.given[name]
        if self.kind is None or isinstance(asked, str):
            return None
        try:
            if name in self.scorers.functions:
                found: MetricLike = FunctionScorer(asked, self.response).metric()
            else:
                found = self.scorers.stored_metric(name, self.kind, oof.target)
            stored = cell_scores(oof, found)
        except InputError:  # it looks at more than the model's answers
            return None
        done = oof.state == State.DONE
        same = np.isclose(stored[done], oof.live_scores[name][done], rtol=_SAME, atol=_SAME, equal_nan=True)
        return found if same.all() else None
