"""A fitted search goes through skops, which writes no pickle and loads only what is trusted."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import ShuffleSplit
from sklearn.tree import DecisionTreeClassifier

import outfold as of

skops = pytest.importorskip("skops.io")

pytestmark = pytest.mark.filterwarnings("ignore")

X, y = make_classification(120, 6, random_state=0)
DEPTHS = {"max_depth": [1, 2, 4]}


def depth(model, X, y):
    """A score that needs the fitted model."""
    return float(-model.get_depth())


def shallowest(results):
    """A rule that selects from the table."""
    return int(np.argmin(results["param_max_depth"]))


def there_and_back(search):
    written = skops.dumps(search)
    return skops.loads(written, trusted=skops.get_untrusted_types(data=written))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scoring": ["accuracy", "roc_auc"], "refit": "roc_auc"},
        {"scoring": depth},
        {"refit": shallowest},
        {"search": "halving", "return_train_score": True},
        {"repeats": 2, "cv": 3},
        {"cv": ShuffleSplit(3, random_state=0)},
    ],
    ids=["plain", "several scores", "function", "function selects", "halving", "repeats", "overlapping"],
)
def test_a_fitted_search_comes_back(options):
    search = of.SelectCV(DecisionTreeClassifier(random_state=0), DEPTHS, **{"cv": 4, **options}).fit(X, y)
    again = there_and_back(search)
    assert again.best_params_ == search.best_params_
    assert np.array_equal(again.predict(X), search.predict(X))
    assert again.estimate_.value == search.estimate_.value
    assert str(again.selection_) == str(search.selection_)
    assert again.oof_.fingerprint == search.oof_.fingerprint
    assert (again.oof_.train or {}).keys() == (search.oof_.train or {}).keys()
    assert again.cv_results_.keys() == search.cv_results_.keys()
    for name, column in search.cv_results_.items():
        np.testing.assert_array_equal(again.cv_results_[name], column)


def test_named_configurations_with_failed_fits_come_back():
    class_that_fails = DummyClassifier(strategy="constant", constant=7)
    search = of.SelectCV({"fails": class_that_fails, "tree": DecisionTreeClassifier(random_state=0)}, cv=3).fit(X, y)
    again = there_and_back(search)
    assert list(again.cv_results_["state"]) == ["failed", "done"]
    assert again.oof_.messages == search.oof_.messages


def test_only_trusted_types_are_loaded():
    search = of.SelectCV(DecisionTreeClassifier(random_state=0), DEPTHS, cv=3).fit(X, y)
    with pytest.raises(Exception, match="Untrusted types"):
        skops.loads(skops.dumps(search), trusted=[])
