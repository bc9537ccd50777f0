"""Decision trees of the papers: with splits by the Hellinger distance, and with Laplace's rule in the leaves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arguments import check_count, is_number, is_whole_number
from ..docstrings import fill_common
from ..exceptions import got, invalid
from ..stats import hellinger
from .weighing import positive_weights

__all__ = ["HellingerTreeClassifier", "LaplaceTreeClassifier"]

Floats = NDArray[np.float64]
MaxFeatures = int | float | Literal["sqrt", "log2"] | None
_NUMBERS_OF_FEATURES: Mapping[str, Callable[[float], float]] = {"sqrt": math.sqrt, "log2": math.log2}


@fill_common
class HellingerTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree that splits where the classes differ most, whatever their sizes (HDDT).

    A split sends a share P of one class and a share Q of the other to each side. The tree takes the split with the largest
    Hellinger distance, the root of the sum of (sqrt P - sqrt Q)^2 over both sides [1]_ [2]_. Shares do not depend on how
    frequent a class is, so a rare class counts as much as a frequent one. A node is split until it is pure.

    The papers define two classes. With more, each class is compared with all others together, and the largest distance
    counts. Hoens et al. [3]_ study this and other ways.

    The tree does not depend on the order of the rows, on the platform, or on whether numba is installed.
    Of equally good splits, it takes the first feature at the smallest value. Missing values are refused: impute them first.
    A category becomes one column for each level; then its splits are those of [2]_, one level against the others.

    Parameters
    ----------
    max_depth : int or None
        The most splits above a leaf.
    min_samples_split : int or float
        The fewest rows of a node that is split; a float is a share of all rows.
    min_samples_leaf : int or float
        The fewest rows of a leaf; a float is a share of all rows.
    max_features : int, float, {"sqrt", "log2"} or None
        How many features each node looks at: drawn at random among those that can split it. None is all of them; a float is a
        share of them.
    laplace : bool
        Smooth the probabilities by Laplace's rule, (n of the class + 1) / (n + number of classes). Otherwise they are the
        shares of the classes in the leaf.
    random_state : int, RandomState or None
        Seed of the features that are drawn. Without `max_features`, nothing is random.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    tree_ : Bunch
        One entry for each node, level by level: ``children_left``, ``children_right`` (-1 for a leaf), ``feature``,
        ``threshold``, and ``value``, the weights by class. Rows with at most the threshold go to the left.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had any.

    References: {cieslak2008, cieslak2012, hoens2012}

    Examples
    --------
    >>> from outfold.learners import HellingerTreeClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = HellingerTreeClassifier(max_depth=2).fit(X, y)
    >>> tree.tree_.feature.tolist()
    [22, 27, 19, -1, -1, -1, -1]
    >>> tree.predict_proba(X[:2]).round(3)
    array([[0.994, 0.006],
           [0.994, 0.006]])
    """

    tree_: Any

    def __init__(
        self,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        max_features: MaxFeatures = None,
        laplace: bool = True,
        random_state: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.laplace = laplace
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HellingerTreeClassifier:
        """Grow the tree; a row of weight 2 counts as two rows, one of weight 0 as none."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        limits = hellinger.Limits(
            None if self.max_depth is None else check_count(self.max_depth, "max_depth"),
            self._n_rows("min_samples_split", 2, len(X)),
            self._n_rows("min_samples_leaf", 1, len(X)),
            self._n_features(X.shape[1]),
        )
        kept, weights = positive_weights(sample_weight, len(X))
        self.classes_, codes = np.unique(y, return_inverse=True)
        sample = hellinger.Sample(codes[kept], weights)
        random = check_random_state(self.random_state)
        grown = hellinger.grow_tree(X[kept], sample, len(self.classes_), limits, random)
        self.tree_ = Bunch(**grown._asdict())
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, in the order of ``classes_``."""
        leaves = self.apply(X)
        return _shares(self.tree_.value[leaves], 1.0 if self.laplace else 0.0)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def apply(self, X: Any) -> NDArray[np.intp]:
        """The number of the leaf that each row falls into."""
        check_is_fitted(self)
        return hellinger.find_leaves(
            hellinger.Tree(**self.tree_), validate_data(self, X, dtype=np.float64, reset=False)
        )

    def get_depth(self) -> int:
        """How many splits lie above the deepest leaf."""
        check_is_fitted(self)
        return hellinger.n_levels(hellinger.Tree(**self.tree_))

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return int((self.tree_.children_left == hellinger.NO_CHILD).sum())

    def _n_rows(self, name: str, least: int, n: int) -> int:
        value = getattr(self, name)
        if is_whole_number(value) and value >= least:
            return int(value)
        if _is_share(value):
            return max(least, math.ceil(float(value) * n))
        raise invalid(name, f"must be a whole number of at least {least}, or a share between 0 and 1", got(value))

    def _n_features(self, n: int) -> int:
        value: Any = self.max_features
        if value is None:
            return n
        if isinstance(value, str) and value in _NUMBERS_OF_FEATURES:
            return max(1, int(_NUMBERS_OF_FEATURES[value](n)))
        if is_whole_number(value) and value >= 1:
            return min(int(value), n)
        if _is_share(value):
            return max(1, int(value * n))
        needed = "must be a whole number of at least 1, a share between 0 and 1, 'sqrt', 'log2' or None"
        raise invalid("max_features", needed, got(value))


def _is_share(value: Any) -> bool:
    return is_number(value) and not is_whole_number(value) and 0 < value <= 1


@fill_common
class LaplaceTreeClassifier(DecisionTreeClassifier):  # type: ignore[misc]
    """scikit-learn's decision tree with probabilities by Laplace's rule, (n of the class + 1) / (n + number of classes).

    A leaf of two samples of one class gives 3/4, and a leaf of a hundred gives 101/102. So leaves of unequal size are ranked,
    which plain shares do not do: both are 1 there. Unpruned trees rank samples far better this way [1]_ (C4.4).

    The tree is that of `sklearn.tree.DecisionTreeClassifier` with the same parameters, and so are the classes it predicts.
    Counts are weighted by `sample_weight` and `class_weight`.

    References: {provost2003}

    Examples
    --------
    >>> from outfold.learners import LaplaceTreeClassifier
    >>> tree = LaplaceTreeClassifier(random_state=0).fit([[0], [1], [2]], [0, 1, 1])
    >>> tree.predict_proba([[0], [2]])
    array([[0.66666667, 0.33333333],
           [0.25      , 0.75      ]])
    """

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Probabilities of the classes, in the order of ``classes_``; a list of them if there are several outputs."""
        check_is_fitted(self)
        leaves = self.apply(X, check_input=check_input)
        counts = self.tree_.value[leaves] * self.tree_.weighted_n_node_samples[leaves, None, None]
        n_classes = np.atleast_1d(self.n_classes_)
        found = [_shares(counts[:, output, :n], 1.0) for output, n in enumerate(n_classes)]
        return found[0] if self.n_outputs_ == 1 else found


def _shares(counts: Floats, added: float) -> Floats:
    smooth = counts + added
    return np.asarray(smooth / smooth.sum(axis=1, keepdims=True))
