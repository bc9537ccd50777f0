"""`RandomizedSelectCV`: the same search with the arguments of RandomizedSearchCV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..docstrings import fill_common
from .estimator import SelectCV


@fill_common
class RandomizedSelectCV(SelectCV):
    """`SelectCV` with the arguments of RandomizedSearchCV: it draws `n_iter` configurations.

    Use it in place of RandomizedSearchCV: ``from outfold import RandomizedSelectCV as RandomizedSearchCV``. It equals
    ``SelectCV(estimator, param_distributions=..., n_iter=...)``, and has the same methods and attributes. The defaults are those
    of RandomizedSearchCV, except that `random_state` is 0.

    Parameters
    ----------
    estimator : estimator
        The estimator, whose parameters are varied.
    param_distributions : dict or list of dict
        Lists of values, or distributions of scipy, by parameter. No configuration is drawn twice.
    n_iter : int
        How many configurations to draw. If there are fewer, all of them are tried, with a warning.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch : object
        As in RandomizedSearchCV; `SelectCV` says more.
    random_state : int, RandomState or None
        Seed of the draws and of the fits. It is 0 by default, so that you can repeat a search exactly; None draws a new seed.
    error_score, return_train_score : object
        As in RandomizedSearchCV; `SelectCV` says more.
    repeats, drop, rule, store, share, seeds : object
        Those of `SelectCV`.

    Examples: {iris}
    >>> from scipy.stats import loguniform
    >>> from sklearn.svm import SVC
    >>> search = of.RandomizedSelectCV(SVC(), {"C": loguniform(0.1, 100)}, n_iter=5).fit(X, y)
    >>> len(search.cv_results_["params"])
    5
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = 0,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        repeats: Any = None,
        drop: Any = True,
        rule: Any = None,
        store: str | Path | None = None,
        share: Any = "exact",
        seeds: int = 1,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        super().__init__(given.pop("estimator"), **given)
