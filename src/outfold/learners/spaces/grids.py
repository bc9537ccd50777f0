"""The grids that the ready spaces are made of: one method for each family of models, for classes or for numbers.

A method leaves its grid out if the table is too large for the family, or if a class has too few members for it. Columns that
are selected or combined first come as `Before`: a name for the front of the configurations' names, and a transformer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np

from ...arguments import check_choice
from ...fitting.configs import Configs, grid
from .papers import elastic_net
from .table import Kind, look_at

TableTask = Literal["classification", "regression"]

# The time of a kernel SVM grows with the square of the rows: above this many it would take longer than all others.
MOST_ROWS_SVM = 5000
# So does the time that all rows need to find their neighbours.
MOST_ROWS_KNN = 20_000
MOST_ROWS_LINEAR_SVM = 50_000
# A forest draws at most this many rows for each tree.
MOST_ROWS_TREE = 50_000
# Rows times columns up to which an elastic net converges in seconds.
MOST_ENTRIES_NET = 500_000
# A discriminant analysis keeps a matrix of columns by columns, principal components take time of columns squared.
MOST_COLUMNS_SQUARED = 1000
# SES tests sets of columns.
MOST_COLUMNS_SES = 200
MOST_ROWS_SES = 2000
# With fewer columns there is nothing to select.
FEWEST_COLUMNS = 3
# Half the rows are the smallest training part of any plan, and the inner folds of a calibrated SVM need three of each class.
FEWEST_OF_A_CLASS = 6

STRENGTHS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0]
NEIGHBOURS = [1, 3, 5, 9, 15, 25]
WEIGHTS = ["uniform", "distance"]
ROUNDS = [30, 300]  # besides 100
LEAVES = [1, 3, 10]

Values = Mapping[str, Any]


class Before(NamedTuple):
    """What comes between the scaled columns and the model."""

    prefix: str
    step: Any


NOTHING = Before("", None)


class Grids:
    """Makes grids for one table and one task."""

    def __init__(self, X: Any, y: Any, task: TableTask, kinds: Mapping[str, Kind] | None) -> None:
        check_choice(task, ("classification", "regression"), "task")
        self.table = look_at(X, kinds)
        self.classes = task == "classification"
        self.n_rows, self.n_columns = self.table.n_rows, self.table.n_columns
        counts = np.unique(np.asarray(y), return_counts=True)[1] if self.classes and y is not None else None
        self.n_classes = 2 if counts is None else len(counts)
        self.smallest = FEWEST_OF_A_CLASS if counts is None else int(counts.min())

    # -- linear models -----------------------------------------------------------------------------------

    def linear(self, before: Before = NOTHING, strengths: Sequence[float] = tuple(STRENGTHS), **fixed: Any) -> Configs:
        """Logistic regression with an L2 penalty, or ridge regression; of texts, they see all words."""
        from sklearn.linear_model import LogisticRegression, Ridge

        model = LogisticRegression(max_iter=2000) if self.classes else Ridge()
        pipeline = self.table.scaled(model, before.step, wide=before.step is None)
        if self.classes:
            return grid(f"{before.prefix}logit", pipeline, **fixed, C=list(strengths))
        return grid(f"{before.prefix}ridge", pipeline, **fixed, model__alpha=[1 / c for c in strengths])

    def balanced_linear(self, before: Before = NOTHING) -> Configs:
        """The same with classes of equal weight, for metrics that count each class alike."""
        if not self.classes:
            return Configs()
        return self.linear(before, [0.01, 0.1, 1.0, 10.0], class_weight="balanced")

    def net(self, before: Before = NOTHING, mixes: Sequence[float] = (0.5, 1.0)) -> Configs:
        """Elastic net and lasso, as logistic regressions or of a scaled target."""
        if self.n_rows * self.n_columns * (self.n_classes - 1) > MOST_ENTRIES_NET:
            return Configs()
        if self.classes:
            # Weak penalties take saga thousands of rounds, and `linear` has them.
            pipeline = self.table.scaled(elastic_net().set_params(tol=1e-3, max_iter=3000), before.step)
            return grid(
                f"{before.prefix}net", pipeline, l1_ratio=list(mixes), C=[0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
            )
        from sklearn.linear_model import ElasticNet

        pipeline = self.table.scaled(_scaled_target(ElasticNet(max_iter=10_000)), before.step)
        alphas = [0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8]
        return grid(f"{before.prefix}net", pipeline, l1_ratio=list(mixes), model__regressor__alpha=alphas)

    def discriminant(self, before: Before = NOTHING) -> Configs:
        """Linear discriminant analysis with a shrunken covariance matrix."""
        if not self.classes or self.n_columns > MOST_COLUMNS_SQUARED:
            return Configs()
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        pipeline = self.table.scaled(LinearDiscriminantAnalysis(solver="lsqr"), before.step)
        return grid(f"{before.prefix}lda", pipeline, shrinkage=["auto", 0.1, 0.5, 0.9])

    def linear_svm(self, before: Before = NOTHING) -> Configs:
        """Linear support vector machines."""
        if self.n_rows > MOST_ROWS_LINEAR_SVM or self.smallest < FEWEST_OF_A_CLASS:
            return Configs()
        from sklearn.svm import LinearSVC, LinearSVR

        # Of few columns, the primal problem has a unique solution that is found without random numbers.
        model = LinearSVC(dual="auto") if self.classes else LinearSVR(dual="auto", loss="squared_epsilon_insensitive")
        pipeline = self.table.scaled(self._with_probabilities(model), before.step)
        return grid(f"{before.prefix}linear svm", pipeline, C=[0.001, 0.01, 0.1, 1.0])

    def bayes(self, before: Before = NOTHING) -> Configs:
        """Naive Bayes with normal densities."""
        if not self.classes:
            return Configs()
        from sklearn.naive_bayes import GaussianNB

        return grid(
            f"{before.prefix}bayes", self.table.scaled(GaussianNB(), before.step), var_smoothing=[1e-9, 0.01, 0.1]
        )

    # -- kernels and neighbours --------------------------------------------------------------------------

    def svm(self, values: Values, before: Before = NOTHING) -> Configs:
        """Support vector machines with a kernel."""
        if self.n_rows > MOST_ROWS_SVM or self.smallest < FEWEST_OF_A_CLASS:
            return Configs()
        from sklearn.svm import SVC, SVR

        pipeline = self.table.scaled(self._with_probabilities(SVC() if self.classes else SVR()), before.step)
        return grid(f"{before.prefix}svm", pipeline, values)

    def knn(self, before: Before = NOTHING, **fixed: Any) -> Configs:
        """Nearest neighbours; numbers of them that the rows cannot fill are left out."""
        if self.n_rows > MOST_ROWS_KNN:
            return Configs()
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

        model = KNeighborsClassifier() if self.classes else KNeighborsRegressor()
        few = [k for k in NEIGHBOURS if k <= max(1, self.n_rows // 2)]
        pipeline = self.table.scaled(model, before.step)
        return grid(f"{before.prefix}knn", pipeline, **fixed, n_neighbors=few, weights=WEIGHTS)

    def _with_probabilities(self, model: Any) -> Any:
        """Probabilities from a sigmoid that inner folds fit; of numbers, a target whose scale the parameters know."""
        if not self.classes:
            return _scaled_target(model)
        from sklearn.calibration import CalibratedClassifierCV

        return CalibratedClassifierCV(model, cv=3, ensemble=False)

    # -- trees -------------------------------------------------------------------------------------------

    def tree(self, values: Values) -> Configs:
        """Single trees."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        model = DecisionTreeClassifier() if self.classes else DecisionTreeRegressor()
        return grid("tree", self.table.plain(model), values)

    def forest(self, values: Values, before: Before = NOTHING) -> Configs:
        """Random forests."""
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        model = RandomForestClassifier() if self.classes else RandomForestRegressor()
        return grid(f"{before.prefix}forest", self._unscaled(self._few_rows(model), before), values)

    def extra(self, values: Values, before: Before = NOTHING) -> Configs:
        """Extremely randomized trees."""
        from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

        model = ExtraTreesClassifier() if self.classes else ExtraTreesRegressor()
        return grid(f"{before.prefix}extra", self._unscaled(self._few_rows(model), before), values)

    def boost(self, values: Values, before: Before = NOTHING) -> Configs:
        """Boosting of histograms; without early stopping, so that one fit serves several numbers of rounds."""
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        kind = HistGradientBoostingClassifier if self.classes else HistGradientBoostingRegressor
        return grid(f"{before.prefix}boost", self._unscaled(kind(early_stopping=False), before), values)

    def light(self, values: Values) -> Configs:
        """LightGBM, where it is installed."""
        if find_spec("lightgbm") is None:
            return Configs()
        from lightgbm import LGBMClassifier, LGBMRegressor

        kind = LGBMClassifier if self.classes else LGBMRegressor
        # One thread, as everywhere: the workers share the cores.
        return grid("lightgbm", self.table.plain(kind(n_jobs=1, verbose=-1)), values)

    def _unscaled(self, model: Any, before: Before) -> Any:
        # After a selection the columns are scaled, so that all models share the selection.
        return self.table.plain(model) if before.step is None else self.table.scaled(model, before.step)

    def _few_rows(self, forest: Any) -> Any:
        # Half the rows are the smallest training part of any plan, and a tree cannot draw more rows than there are.
        if self.n_rows > 2 * MOST_ROWS_TREE:
            forest.set_params(bootstrap=True, max_samples=MOST_ROWS_TREE)
        return forest

    # -- selections --------------------------------------------------------------------------------------

    def univariate(self, alpha: float) -> Before | None:
        """The columns that a test finds associated with the target; None if there are too few to select from."""
        if self.n_columns < FEWEST_COLUMNS:
            return None
        from ..univariate import Univariate

        task: TableTask = "classification" if self.classes else "regression"
        return Before(f"univariate(alpha={alpha:g}) ", Univariate(alpha, task))

    def ses(self, alpha: float, k: int) -> Before | None:
        """The columns that SES selects; None if there are too many columns or rows to test sets of them."""
        if not FEWEST_COLUMNS <= self.n_columns <= MOST_COLUMNS_SES or self.n_rows > MOST_ROWS_SES:
            return None
        from ..ses import SES

        return Before(
            f"ses(alpha={alpha:g}, k={k}) ", SES(alpha, k, "classification" if self.classes else "regression")
        )

    def pca(self, share: float) -> Before | None:
        """The principal components that have this share of the variance."""
        if self.n_columns < FEWEST_COLUMNS or min(self.n_rows, self.n_columns) > MOST_COLUMNS_SQUARED:
            return None
        from sklearn.decomposition import PCA

        return Before(f"pca(share={share:g}) ", PCA(share, svd_solver="full"))

    def ranks(self) -> Before:
        """Ranks of the values between 0 and 1, which outliers and skewed columns do not disturb."""
        from sklearn.preprocessing import QuantileTransformer

        return Before("ranks ", QuantileTransformer(n_quantiles=min(100, max(2, self.n_rows // 2)), subsample=None))


def _scaled_target(model: Any) -> Any:
    # Penalties and margins are in units of the target, which only scaling makes comparable.
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(model, transformer=StandardScaler())
