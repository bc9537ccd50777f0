"""Our search under the names and signatures of scikit-learn's four.

GridSearchCV has no class here: `SelectCV` itself stands in for it, as for a user who changes one import.
Options have the defaults of `SelectCV`.
"""

from __future__ import annotations

import numpy as np

from outfold import SelectCV


class RandomizedSearchCV(SelectCV):
    """`SelectCV(search="random")` with the signature of RandomizedSearchCV."""

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_iter=10,
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
        verbose=0,
        pre_dispatch="2*n_jobs",
        random_state=0,
        error_score=np.nan,
        return_train_score=False,
    ):
        super().__init__(
            estimator,
            search="random",
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_distributions, self.n_iter = param_distributions, n_iter

    # Read at each fit, so that `set_params` has an effect.
    grid = property(lambda self: self.param_distributions)
    n_configs = property(lambda self: self.n_iter)


class HalvingGridSearchCV(SelectCV):
    """`SelectCV(search="halving")` with the signature of HalvingGridSearchCV.

    We halve after each fold, so the arguments that deal out samples have no effect. They are accepted because scikit-learn's
    tests give them while their module is imported.
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
            cv=cv,
            scoring=scoring,
            refit=refit,
            error_score=error_score,
            return_train_score=return_train_score,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.param_grid = param_grid
        self.factor, self.resource, self.aggressive_elimination = factor, resource, aggressive_elimination
        self.max_resources, self.min_resources = max_resources, min_resources


class HalvingRandomSearchCV(SelectCV):
    """`SelectCV(search="halving", n_configs=...)` with the signature of HalvingRandomSearchCV.

    ``n_candidates="exhaust"`` means 10 here, the default of ``search="random"``.
    """

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
            cv=cv,
            scoring=scoring,
            refit=refit,
            error_score=error_score,
            return_train_score=return_train_score,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.param_distributions, self.n_candidates = param_distributions, n_candidates
        self.factor, self.resource, self.aggressive_elimination = factor, resource, aggressive_elimination
        self.max_resources, self.min_resources = max_resources, min_resources

    grid = property(lambda self: self.param_distributions)
    n_configs = property(lambda self: 10 if self.n_candidates == "exhaust" else self.n_candidates)


# By the name that is replaced in scikit-learn.
SEARCHES = {
    "GridSearchCV": SelectCV,
    "RandomizedSearchCV": RandomizedSearchCV,
    "HalvingGridSearchCV": HalvingGridSearchCV,
    "HalvingRandomSearchCV": HalvingRandomSearchCV,
}
