"""A search as a learner: what the inner folds of each outer fold select, and its predictions for that outer fold.

`estimate.nested` scores one search, `compare.algorithms` compares several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from .data.inner import leaves_out_pairs
from .data.notes import Note
from .data.predictions import Predictions, State
from .exceptions import NeedError
from .metrics._scoring import Scoring
from .select import Rule, best, choose

OuterFold = tuple[int, int]  # repeat and fold


@dataclass(frozen=True, eq=False)
class Tuned:
    """A search inside each outer fold: which configuration it selects there, by position, and by which scores."""

    whole: Scoring  # of the same search on all samples
    picks: Mapping[OuterFold, int]
    searches: tuple[Scoring, ...]

    @property
    def chosen(self) -> list[str]:
        """The configuration that each search selects, in the order of the outer folds."""
        return [self.whole.oof.configs[j] for j in self.picks.values()]

    def notes(self) -> tuple[Note, ...]:
        """What the searches lacked: configurations, or folds."""
        notes = []
        fewest, n = min(len(inner.candidates) for inner in self.searches), len(self.whole.candidates)
        if fewest < n:
            notes.append(Note("OF205", f"an inner search had {fewest} of {n} configurations to choose from."))
        lacking = sum(len(inner.cells) < len(inner.oof.splits.cells) for inner in self.searches)
        if lacking:
            text = f"{lacking} of {len(self.searches)} inner searches lack folds; collect the missing cells."
            notes.append(Note("OF206", text))
        return tuple(notes)


def tune(whole: Scoring, rule: Rule, folds: Iterable[OuterFold]) -> Tuned:
    """Search inside each of these outer folds, as the whole search does on all samples."""
    if whole.metric.needs == "live" and leaves_out_pairs(whole.oof):
        needed = "needs inner folds of their own: a model that leaves out two folds is scored on one of them only"
        given, remedy = "these were collected with `inner=True`", "Collect with `inner=2`."
        raise NeedError(argument=whole.metric.name, needed=needed, given=given, remedy=remedy)
    searches = {fold: _inner_scoring(whole, fold) for fold in folds}
    picks = {}
    for fold, inner in searches.items():
        # Of one candidate, a rule may not know what it asks for, such as a parameter.
        picks[fold] = whole.oof.config_index(choose(inner, rule if len(inner.candidates) > 1 else best).name)
    return Tuned(whole, picks, tuple(searches.values()))


def _inner_scoring(whole: Scoring, outer: OuterFold) -> Scoring:
    """Scores for the search without the samples of one outer fold."""
    oof, (repeat, fold) = whole.oof, outer
    usable = np.flatnonzero(oof.state[:, repeat, fold] == State.DONE)
    inner = oof.blocks["inner"].sel(repeat=repeat * oof.n_folds + fold)
    return Scoring(inner.sel(config=usable.tolist()), whole.metric, whole.aggregate)


def outer_predictions(oof: Predictions, picks: Mapping[str, Mapping[OuterFold, int]]) -> Predictions:
    """Out-of-fold predictions of searches, each as if it were one configuration, from what each picks in the outer folds."""
    n, shape = len(picks), oof.data.shape
    data = np.full((shape[0], n, *shape[2:]), -1 if oof.response == "label" else np.nan, dtype=oof.data.dtype)
    labels = None if oof.labels is None else np.full(data.shape[:3], -1, dtype=np.intp)
    state = np.zeros((n, *oof.state.shape[1:]), dtype=np.uint8)
    live = {name: np.full(state.shape, np.nan) for name in oof.live_scores}
    for i, of_search in enumerate(picks.values()):
        for (r, k), j in of_search.items():
            rows = oof.splits.test_rows(r, k)
            data[r, i, rows] = oof.data[r, j, rows]
            if labels is not None and oof.labels is not None:
                labels[r, i, rows] = oof.labels[r, j, rows]
            state[i, r, k] = State.DONE
            for name, scores in oof.live_scores.items():
                live[name][i, r, k] = scores[j, r, k]
    return replace(
        oof,
        data=data,
        labels=labels,
        state=state,
        configs=tuple(picks),
        params=tuple({} for _ in picks),
        seconds=None,
        blocks={},
        messages={},
        notes=(),
        live_scores=live,
    )
