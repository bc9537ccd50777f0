"""Our search under the names and signatures of scikit-learn's four.

GridSearchCV and RandomizedSearchCV have no class here: `SelectCV` and `RandomizedSelectCV` take their place, as for a user who
changes one import.
Options have the defaults of `SelectCV`.
"""

from __future__ import annotations

import numpy as np

from outfold import RandomizedSelectCV, SelectCV


class HalvingGridSearchCV(SelectCV):
    """`SelectCV(search="halving")` with the signature of HalvingGridSearchCV.

    We halve after each fold: samples are not dealt out.
    """

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        factor=3,
        resource="n_samples",
        max_resources="auto",
        min_resources="exhaust",
        aggressive_elimination=False,
        cv=None,
        scoring=None,
        refit=True,
        error_score=np.nan,
        return_train_score=False,
        random_state=0,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            estimator,
            search="halving",
            param_grid=param_grid,
            factor=factor,
            resource=resource,
            max_resources=max_resources,
            min_resources=min_resources,
            aggressive_elimination=aggressive_elimination,
            cv=cv,
            scoring=scoring,
            refit=refit,
            error_score=error_score,
            return_train_score=return_train_score,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )


class HalvingRandomSearchCV(SelectCV):
    """`SelectCV(search="halving", n_candidates=...)` with the signature of HalvingRandomSearchCV."""

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_candidates="exhaust",
        factor=3,
        resource="n_samples",
        max_resources="auto",
        min_resources="smallest",
        aggressive_elimination=False,
        cv=None,
        scoring=None,
        refit=True,
        error_score=np.nan,
        return_train_score=False,
        random_state=0,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            estimator,
            search="halving",
            param_distributions=param_distributions,
            n_candidates=n_candidates,
            factor=factor,
            resource=resource,
            max_resources=max_resources,
            min_resources=min_resources,
            aggressive_elimination=aggressive_elimination,
            cv=cv,
            scoring=scoring,
            refit=refit,
            error_score=error_score,
            return_train_score=return_train_score,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )


# By the name that is replaced in scikit-learn.
SEARCHES = {
    "GridSearchCV": SelectCV,
    "RandomizedSearchCV": RandomizedSelectCV,
    "HalvingGridSearchCV": HalvingGridSearchCV,
    "HalvingRandomSearchCV": HalvingRandomSearchCV,
}
