"""Copies made fast are those that scikit-learn makes."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from internals import Variants, estimator_text, parts_of
from outfold.exceptions import InputError


class Users(BaseEstimator):
    """A user's class, which is asked to set its parameters itself."""

    def __init__(self, a=1):
        self.a = a

    def fit(self, X, y=None):
        return self

    def set_params(self, **params):
        return super().set_params(**{name: value * 2 for name, value in params.items()})


PIPE = make_pipeline(StandardScaler(), make_pipeline(SelectKBest(k=3), LogisticRegression()))
CASES = {
    "own": (LogisticRegression(), {"C": 0.1, "random_state": np.random.RandomState(0)}),
    "none": (PIPE, {}),
    "nested": (PIPE, {"standardscaler__with_mean": False, "pipeline__logisticregression__C": np.float64(3)}),
    "a step": (PIPE, {"standardscaler": "passthrough", "pipeline__selectkbest__k": 2}),
    "an estimator": (BaggingClassifier(), {"estimator": RandomForestClassifier(), "n_estimators": 3}),
    "inside it": (BaggingClassifier(RandomForestClassifier()), {"estimator__max_depth": 4}),
    "step and inside it": (make_pipeline(PCA(), LogisticRegression()), {"pca": SelectKBest(), "pca__k": 4}),
    "of a pipeline": (PIPE, {"verbose": True}),
    "columns": (ColumnTransformer([("a", PCA(), [0, 1])]), {"a__n_components": 1}),
    "a function": (make_pipeline(FunctionTransformer(lambda x: x), PCA()), {"pca__n_components": 1}),
    "a kernel": (GaussianProcessClassifier(RBF()), {"kernel__length_scale": 2.0}),
    "the user's": (make_pipeline(PCA(), Users()), {"users__a": 3}),
    "output": (make_pipeline(PCA(), LogisticRegression()).set_output(transform="pandas"), {"pca__whiten": True}),
    "requests": (make_pipeline(PCA(), LogisticRegression()), {"pca__whiten": True}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_clone_and_set_params_give(case):
    estimator, chosen = CASES[case]
    before = estimator_text(estimator)
    variants = Variants(estimator)
    expected = clone(estimator).set_params(**{p: clone(v, safe=False) for p, v in chosen.items()})
    made = [variants.make(chosen, case), variants.make(chosen, case)]
    for one in made:
        assert estimator_text(one) == estimator_text(expected)
        assert [vars(part).keys() for part in parts_of(one)] == [vars(part).keys() for part in parts_of(expected)]
    mine, others = ({id(part) for part in parts_of(one)} for one in made)
    assert not mine & others
    assert not mine & {id(part) for part in parts_of(estimator)}
    assert estimator_text(estimator) == before


def test_what_was_fitted_is_copied_as_new():
    fitted = PCA(1).fit(np.eye(3))
    made = Variants(fitted).make({"n_components": 2}, "a")
    assert vars(made).keys() == vars(PCA()).keys()


def test_a_frozen_estimator_stays_the_fitted_one():
    frozen = FrozenEstimator(LogisticRegression().fit(np.eye(4), [0, 1, 0, 1]))
    made = Variants(make_pipeline(PCA(), frozen)).make({"pca__n_components": 2}, "a")
    assert made[-1] is frozen


def test_lists_of_values_are_not_shared():
    sizes = [3, 4]
    variants = Variants(SelectKBest())
    first, second = (variants.make({"k": sizes}, "a") for _ in range(2))
    assert first.k == sizes
    assert first.k is not second.k


@pytest.mark.parametrize("name", ["nothing", "pca__nothing", "logisticregression__C__x"])
def test_parameters_that_are_not_there(name):
    with pytest.raises(InputError, match=rf"^configuration 'a': no parameter '{name}'; there are "):
        Variants(make_pipeline(PCA(), LogisticRegression())).make({name: 1}, "a")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("C", "'logisticregression__C'"),
        ("logisticregression__c", "'logisticregression__C'"),
        ("logreg__C", "'logisticregression__C'"),
        ("max_itr", "'logisticregression__max_iter'"),
        ("Random_State", "'logisticregression__random_state' or 'pca__random_state'"),
    ],
)
def test_parameters_that_may_be_meant(name, meant):
    with pytest.raises(InputError) as raised:
        Variants(make_pipeline(PCA(), LogisticRegression())).make({name: 1}, "a")
    assert str(raised.value) == f"configuration 'a': no parameter {name!r}; did you mean {meant}?"


def test_grids_can_still_be_pickled():
    made = Variants(PIPE).make({"pipeline__selectkbest__k": 2}, "a")
    assert estimator_text(pickle.loads(pickle.dumps(made))) == estimator_text(made)
