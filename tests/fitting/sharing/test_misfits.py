"""Families and parameters that misbehave in ways that are easy to overlook: found out, or harmless."""

import numpy as np
import pytest
from share_estimators import Scales, Shift, TallyView
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold, f_classif
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from test_sharing import PLAN, both, same, scales

from collect_estimators import Tally
from internals import Plan, ResultBuffer, State, collect, grid
from outfold.fitting.sharing import Family, check_family

pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture(scope="module")
def data():
    return make_classification(120, 8, random_state=1)


def codes(oof):
    return [note.code for note in oof.notes]


# -- parameters -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "name", "bad"),
    [
        (SelectKBest(f_classif), "k", -1),
        (SelectPercentile(f_classif), "percentile", 200),
        (VarianceThreshold(), "threshold", -1.0),
        (PCA(), "n_components", -2),
    ],
)
def test_a_member_with_an_impossible_parameter_fails_among_others(data, step, name, bad):
    good = {"k": 3, "percentile": 50, "threshold": 0.1, "n_components": 3}[name]
    other = {"k": 2, "percentile": 20, "threshold": 0.2, "n_components": 2}[name]
    configs = grid("t", make_pipeline(step, GaussianNB()), **{name: [good, bad, other]})
    oof = both(configs, *data)
    assert [bool((states == State.FAILED).all()) for states in oof.state] == [False, True, False]
    assert all(text.startswith("InvalidParameterError") for text in oof.messages.values())


def test_generators_in_two_steps_are_two(data):
    """As clones of scikit-learn have them."""
    chance = np.random.RandomState(0)
    configs = {}
    for depth in (2, 3, 4):
        step = PCA(3, svd_solver="randomized", random_state=chance)
        tree = DecisionTreeClassifier(max_features=2, max_depth=depth, random_state=chance)
        configs[f"t{depth}"] = make_pipeline(StandardScaler(), step, tree)
    both(configs, *data)


def test_numbers_too_large_for_single_precision_fail_where_they_would(data):
    X, y = data[0].copy(), data[1]
    X[100:, 0] *= 1e40
    tree = make_pipeline(FunctionTransformer(), DecisionTreeClassifier())
    oof = both(grid("t", tree, max_leaf_nodes=[2, 4]), X, y, TimeSeriesSplit(5))
    assert {(name, k) for name, _, k in oof.messages} == {("t(max_leaf_nodes=2)", 4), ("t(max_leaf_nodes=4)", 4)}


def warned(configs, X, y, **options):
    """Fits that gave warnings, which are the same in company and alone."""
    shared = both(configs, X, y, **options).provenance
    assert shared["warnings"] == collect(configs, X, y, PLAN, share=False, **options).provenance["warnings"]
    return shared["warnings"]


def test_warnings_are_those_of_the_members_that_give_them(data):
    X, y = np.column_stack([data[0], np.ones(len(data[0]))]), data[1]
    steps = grid("k", make_pipeline(SelectKBest(f_classif), GaussianNB()), k=[2, 3, 4])
    assert warned(steps, X, y) == {"RuntimeWarning": 18, "UserWarning": 18}
    # Too many features, none at all, and a threshold that leaves none: the last is an error, not a warning.
    steps = grid("k", make_pipeline(SelectKBest(f_classif), DummyClassifier()), k=[2, 100, 3, 0])
    steps |= grid("v", make_pipeline(VarianceThreshold(), DummyClassifier()), threshold=[99.0, 0.1, 0.2])
    oof = both(steps, *data)
    assert {name for name, _, _ in oof.messages} == {"v(threshold=99)"}
    assert warned(steps, *data) == {"UserWarning": 12}


def test_penalties_that_are_fitted_by_themselves_warn_by_themselves(data):
    X = np.column_stack([data[0], data[0][:, 0] * 1e6])
    configs = grid("ridge", Ridge(), alpha=[1e-10, 1e8, 1e9])
    y = data[0][:, 0] + 1.0
    shared, alone = (collect(configs, X, y, PLAN, share=share) for share in ("exact", False))
    assert shared.provenance["warnings"] == alone.provenance["warnings"] == {"LinAlgWarning": 6}
    made = shared.provenance["sharing"]
    assert (made["models"], made["models_done"], made["families"]) == (18, 12, {"Ridge": 12})
    np.testing.assert_allclose(shared.data, alone.data, rtol=0, atol=1e-8)


# -- families -------------------------------------------------------------------------------------------


class Undecided(Scales):
    """Cannot even say whom it covers."""

    def covers(self, estimator):
        raise TypeError("what is this?")


def test_a_family_that_fails_to_say_whom_it_covers_covers_nobody(register, data):
    register(Undecided())
    assert both(scales(), *data).provenance["sharing"]["families"] == {}


class OtherLabels(Scales):
    """The right probabilities, and labels that do not go with them."""

    def fit(self, members, X, y, **fit_params):
        return [Contrary(model) for model in super().fit(members, X, y, **fit_params)]


class Contrary(TallyView):
    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmin(axis=1)]


def test_wrong_labels_are_found_out(register, data):
    register(OtherLabels())
    oof = both(scales(), *data)
    assert codes(oof) == ["OF107"]
    assert oof.provenance["sharing"]["checks"] == 1


class LooseLabels(OtherLabels):
    level = "close"


def test_what_was_thrown_away_is_not_told_of(register, data, monkeypatch):
    register(LooseLabels())
    late = lambda batch, groups, group, n: 0 if batch.holdout.left_out == (2,) else None  # noqa: E731
    monkeypatch.setattr("outfold.fitting.sharing.executor.member_to_verify", late)
    oof = collect(scales(), *data, PLAN, share="close")
    same(oof, collect(scales(), *data, PLAN, share=False))
    assert codes(oof) == ["OF107"]
    assert oof.provenance["sharing"]["families"] == {}


class Blurred(Scales):
    """Probabilities drawn towards a half by a fifth, labels as they were."""

    level = "close"

    def fit(self, members, X, y, **fit_params):
        return [Blur(model) for model in super().fit(members, X, y, **fit_params)]


class Blur(TallyView):
    def predict_proba(self, X):
        return 0.8 * self.member.predict_proba(X) + 0.1


class Tolerant(Blurred):
    close_limit = 0.25


@pytest.mark.parametrize(("family", "found"), [(Blurred, ["OF107"]), (Tolerant, ["OF106"])])
def test_a_close_family_states_its_own_limit(register, data, family, found):
    register(family())
    assert codes(collect(scales(), *data, PLAN, share="close")) == found


def test_a_family_is_checked_with_members_it_is_for(data):
    with pytest.raises(AssertionError, match=r"Scales.estimator is 'collect_estimators.Tally', but Shift\(\) is a"):
        check_family(Scales(), [Shift()], *data)


class Remembers(Scales):
    """Fits once in its life; later folds get the model of the first, which has seen what they hold out."""

    def __init__(self):
        self.kept = {}

    def fit(self, members, X, y, **fit_params):
        if not self.kept:
            self.kept["model"] = Tally().fit(X, y)
        for member in members:
            member.classes_, member.means_ = self.kept["model"].classes_, self.kept["model"].means_
        return list(members)


def test_a_family_takes_nothing_from_one_fit_to_the_next(register, data):
    register(Remembers())
    shared = collect(scales(), *data, PLAN, share_check=False)
    assert shared.provenance["sharing"]["families"] == {"Tally": 30}
    same(shared, collect(scales(), *data, PLAN, share=False))


class Framed(ClassifierMixin, BaseEstimator):
    """Moves the frame it is given, in place."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.mean_ = float(X["a"].mean())
        return self

    def predict_proba(self, X):
        X["a"] -= self.mean_ + 0.5
        p = 1 / (1 + np.exp(-self.scale * X["a"].to_numpy()))
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[self.predict_proba(X.copy()).argmax(axis=1)]


class FramedScales(Family):
    estimator = f"{__name__}.Framed"
    varies = frozenset({"scale"})

    def fit(self, members, X, y, **fit_params):
        return [member.fit(X, y) for member in members]


def test_models_that_write_into_a_frame_do_not_disturb_their_fellows(register, data):
    pd = pytest.importorskip("pandas")
    register(FramedScales())
    X = pd.DataFrame({"a": data[0][:, 0], "b": data[0][:, 1]})
    configs = grid("t", Framed(), scale=[1.0, 2.0, 3.0])
    shared = collect(configs, X, data[1], PLAN, share_check=False)
    assert shared.provenance["sharing"]["families"] == {"Framed": 18}
    same(shared, collect(configs, X, data[1], PLAN, share=False))


def test_an_end_while_a_family_is_refused_leaves_nothing_of_it(register, data, tmp_path, monkeypatch):
    """Predictions are thrown away before the refusal is recorded, for the next call would trust those it finds."""
    register(OtherLabels())
    late = lambda batch, groups, group, n: 0 if batch.holdout.left_out == (1,) else None  # noqa: E731
    monkeypatch.setattr("outfold.fitting.sharing.executor.member_to_verify", late)
    store, reopen = tmp_path / "run.oof", ResultBuffer.reopen

    def ends(self, names):
        raise KeyboardInterrupt

    monkeypatch.setattr(ResultBuffer, "reopen", ends)
    with pytest.raises(KeyboardInterrupt):
        collect(scales(), *data, PLAN, store=store)
    monkeypatch.setattr(ResultBuffer, "reopen", reopen)
    oof = collect(scales(), *data, PLAN, store=store)
    same(oof, collect(scales(), *data, PLAN, share=False))
    assert codes(oof) == ["OF107"]


def test_explain_of_members_that_differ_in_nothing(data, capsys):
    collect({"ridge": RidgeClassifier()}, *data, Plan(folds=2), explain=True)
    assert "  family  RidgeClassifier  1 member (exact)" in capsys.readouterr().out.splitlines()
