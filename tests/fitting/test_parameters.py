"""Parameters read fast are those that scikit-learn reads."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import all_estimators

from internals import (
    PipelinePath,
    SharingTemplate,
    estimator_text,
    is_untouched,
    make_templates,
    one_of_each,
    own_params,
    parts_of,
)

COMPOSED = [
    make_pipeline(StandardScaler(), make_pipeline(PCA(), LogisticRegression())),
    make_pipeline(ColumnTransformer([("a", StandardScaler(), [0]), ("b", "drop", [1])]), RandomForestClassifier()),
    make_pipeline(FeatureUnion([("a", PCA()), ("b", StandardScaler())]), BaggingClassifier(RandomForestClassifier())),
    VotingClassifier([("a", LogisticRegression()), ("b", RandomForestClassifier(random_state=3))]),
]


def same_reading(estimator):
    expected = estimator.get_params(deep=False)
    found = own_params(estimator)
    assert list(found) == list(expected)
    assert all(found[name] is expected[name] for name in expected)


def test_every_class_of_scikit_learn_that_needs_no_argument():
    n = 0
    for _, kind in all_estimators():
        try:
            made = kind()
        except TypeError:
            continue
        same_reading(made)
        assert is_untouched(made), kind
        n += 1
    assert n > 150


@pytest.mark.parametrize("estimator", COMPOSED, ids=lambda e: type(e).__name__)
def test_estimators_made_of_others(estimator):
    same_reading(estimator)
    deep = [v for v in estimator.get_params(deep=True).values() if hasattr(v, "fit")]
    assert {id(part) for part in parts_of(estimator)} == {id(estimator), *map(id, deep)}


class Strict(BaseEstimator):
    """A user's class, which reads its parameters in its own way."""

    def __init__(self, a=1):
        self.a = a

    def get_params(self, deep=True):
        return {"a": self.a, "b": 2}


class NamesByMethod(BaseEstimator):
    """Has the names of its parameters from a method of its own, as detectors of pyod have."""

    def __init__(self, a=1):
        self.a = a

    def _get_param_names(self):
        return ["a"]


def test_a_class_whose_names_come_from_a_method_is_asked():
    assert own_params(NamesByMethod(3)) == {"a": 3}


def test_a_class_with_its_own_way_is_asked():
    assert own_params(Strict()) == {"a": 1, "b": 2}
    assert not is_untouched(Strict())


def test_what_was_fitted_frozen_or_set_up_is_cloned():
    fitted = Ridge().fit(np.eye(3), np.arange(3))
    assert not is_untouched(fitted)
    assert not is_untouched(FrozenEstimator(fitted))
    assert not is_untouched(StandardScaler().set_output(transform="pandas"))
    (template,) = make_templates({"m": fitted}, pickle.dumps)
    assert not hasattr(template.make(0), "coef_")


@pytest.mark.parametrize("estimator", COMPOSED, ids=lambda e: type(e).__name__)
def test_a_template_makes_what_a_seeded_clone_is(estimator):
    (template,) = make_templates({"m": estimator}, pickle.dumps)
    made, expected = template.make(5), clone(estimator)
    seeds = [p for p, v in expected.get_params().items() if p.endswith("random_state") and v is None]
    expected.set_params(**dict.fromkeys(seeds, 5))
    assert repr(made) == repr(expected)
    assert made is not template.make(5)


class Users(BaseEstimator):
    """A user's class like any other."""

    def __init__(self, a=None):
        self.a = a

    def fit(self, X, y=None):
        return self


MODELS = [
    Ridge(alpha=0.3),
    Ridge(alpha=np.float64(0.3), random_state=7),
    KNeighborsClassifier(3),
    RandomForestClassifier(max_depth=2),
    BaggingClassifier(RandomForestClassifier()),
    MLPClassifier(hidden_layer_sizes=[3, 2]),
    Users([4]),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_model_alone_is_the_one_at_the_end_of_the_path(model, depth):
    estimator, path = model, ()
    for _ in range(depth):
        estimator, path = make_pipeline(PCA(), estimator), (1, *path)
    (template,) = make_templates({"a": estimator}, pickle.dumps)
    template = SharingTemplate.of(template, PipelinePath(0, (), path, ()))
    one, other = template.make_model(11), template.make_model(12)
    for made, seed in ((one, 11), (other, 12)):
        whole = template.make(seed)
        for i in path:
            whole = whole.steps[i][1]
        assert repr(made) == repr(whole)
        assert estimator_text(made) == estimator_text(whole)
        assert vars(made).keys() == vars(whole).keys()
    assert one is not other
    assert not {id(part) for part in parts_of(one)} & {id(part) for part in parts_of(other)}


def test_a_model_that_was_changed_leaves_the_next_one_as_it_was():
    (made,) = make_templates({"a": Ridge()}, pickle.dumps)
    template = SharingTemplate.of(made, None)
    first = template.make_model(1).set_params(alpha=5.0).fit(np.eye(3), np.arange(3))
    assert hasattr(first, "coef_")
    second = template.make_model(1)
    assert second.alpha == 1.0
    assert not hasattr(second, "coef_")


def test_one_of_each_make_and_all_of_the_users():
    configs = {
        "a": make_pipeline(PCA(), Ridge()),
        "b": make_pipeline(PCA(3), Ridge(alpha=2)),
        "c": make_pipeline(StandardScaler(), Ridge()),
        "d": Users(1),
        "e": Users(2),
    }
    assert list(one_of_each(configs)) == ["a", "c", "d", "e"]


def test_one_part_in_two_places_becomes_two():
    scaler = StandardScaler()
    (template,) = make_templates({"m": make_pipeline(scaler, PCA(), scaler, Ridge())}, pickle.dumps)
    steps = [step for _, step in template.make(0).steps]
    assert steps[0] is not steps[2]


def test_a_parameter_that_cannot_be_pickled_is_no_harm():
    pipeline = make_pipeline(FunctionTransformer(lambda X: X + 1), Ridge())
    (template,) = make_templates({"m": pipeline}, pickle.dumps)
    assert template.frozen is None
    assert template.make(0).fit(np.eye(3), np.arange(3)).predict(np.eye(3)).shape == (3,)


def test_a_generator_inside_a_splitter_is_copied_as_clone_copies_it():
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import KFold

    rng = np.random.RandomState(3)
    forest = RandomForestClassifier(2, random_state=rng)
    estimator = CalibratedClassifierCV(forest, cv=KFold(3, shuffle=True, random_state=rng))
    made = make_templates({"a": estimator}, pickle.dumps)[0].make(0)
    assert made.cv.random_state is not made.estimator.random_state
