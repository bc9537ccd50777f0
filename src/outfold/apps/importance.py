"""How much the out-of-fold score falls when the values of one feature are shuffled: permutation importance of the winner."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..data.predictions import Predictions
from ..data.seeds import n_seeds
from ..fitting.data import as_given
from ..fitting.estimators import make_templates, seeds_of
from ..fitting.limits import own_random_state
from ..fitting.predict import Reader
from ..fitting.seed_averaging import average
from ..io.convert import from_arrays
from ..metrics._scoring import recorded_metric
from ..stats.compiling import limit_threads

if TYPE_CHECKING:
    import pandas as pd

# Streams of one seed are told apart by the first word of their spawn key.
_SHUFFLE_STREAM = 0x1A9B
# Numbers that are kept at once: more features or rows mean fewer shuffles of each.
_MOST_NUMBERS = 20_000_000
_SHUFFLES = 5


def permutation_importance(oof: Predictions, config: Any, X: pd.DataFrame, y: Any) -> dict[str, dict[str, float]]:
    """For each feature the fall of the score, as mean and standard deviation over shuffles.

    The configuration is fitted again on the training part of each fold of the first repeat. In the part that was held out, the
    values of a feature are shuffled, and all folds are scored together. A feature that another one can stand in for counts
    little, so two that say the same may both look unimportant.
    """
    seed = int(oof.provenance.get("seed", 0))
    n_shuffles = max(1, min(_SHUFFLES, _MOST_NUMBERS // max(1, len(X) * X.shape[1])))
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_SHUFFLE_STREAM,)))
    reader, folds = Reader(oof.response, oof.target.classes, oof.times), oof.folds[:, 0]
    width = () if reader.width is None else (reader.width,)
    P = np.full((len(X), 1 + X.shape[1] * n_shuffles, *width), np.nan)
    (template,) = make_templates({"winner": config}, pickle.dumps)
    labels, seeds = as_given(y), seeds_of(n_seeds(oof.provenance) if template.seeded else 1, seed)
    with limit_threads("blas"), own_random_state() as seed_globals:
        for fold in np.unique(folds[folds >= 0]):
            test = np.flatnonzero(folds == fold)
            train = np.flatnonzero((folds != fold) & (folds >= 0))
            models = []
            for one in seeds:
                seed_globals(one)
                models.append(template.make(one).fit(X.iloc[train], labels[train]))
            P[test] = _shuffled_predictions(reader, models, X.iloc[test], n_shuffles, rng)
    held, classes = folds >= 0, oof.target.classes
    names = ["as it is", *(f"{i} {j}" for i in range(X.shape[1]) for j in range(n_shuffles))]
    made = from_arrays(
        labels[held],
        P[held][:, :, None] if width else P[held],
        folds=folds[held],
        configs=names,
        response=oof.response,
        positive=classes[-1] if classes is not None and len(classes) == 2 else None,
        times=oof.times,
    )
    metric = recorded_metric(oof)
    board = made.leaderboard(metric, oof.criterion.aggregate)
    scores = dict(zip(board.configs, board.scores.tolist(), strict=True))
    better = metrics.get(metric, oof.target.task).greater_is_better
    return _falls(list(X.columns), np.array([scores.get(name, np.nan) for name in names]), n_shuffles, better)


def _shuffled_predictions(
    reader: Reader, models: list[Any], X: pd.DataFrame, n_shuffles: int, rng: np.random.Generator
) -> NDArray[Any]:
    """(rows, 1 + features x shuffles[, classes]): the predictions as they are, and with each feature shuffled."""

    def predicted(table: pd.DataFrame) -> NDArray[Any]:
        return average([reader(model, table) for model in models], reader, True).values

    parts = [predicted(X)]
    for name in X.columns:
        for _ in range(n_shuffles):
            changed = X.copy(deep=False)
            changed[name] = X[name].to_numpy()[rng.permutation(len(X))]
            parts.append(predicted(changed.astype({name: X[name].dtype})))
    return np.stack(parts, axis=1)


def _falls(
    names: list[Any], scores: NDArray[np.float64], n_shuffles: int, greater_is_better: bool
) -> dict[str, dict[str, float]]:
    falls = (scores[0] - scores[1:]).reshape(len(names), n_shuffles) * (1 if greater_is_better else -1)
    spread = falls.std(axis=1, ddof=1) if n_shuffles > 1 else np.zeros(len(names))
    pairs = zip(names, falls.mean(axis=1), spread, strict=True)
    return {str(name): {"mean": float(mean), "sd": float(sd)} for name, mean, sd in pairs}
