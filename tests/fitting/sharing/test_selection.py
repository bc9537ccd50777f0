"""Families of transformers: feature scores, variances and principal components."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import (
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    chi2,
    f_classif,
    f_regression,
    mutual_info_classif,
)

from outfold.fitting.sharing import Unsuitable
from outfold.fitting.sharing.families.selection import KBest, Percentile, PrincipalComponents, Variance
from outfold.fitting.sharing.proof import check_company, check_family


def _data(seed: int, n: int, p: int, ties: bool = False) -> tuple[Any, Any]:
    """Counts with equal and constant columns where `ties`, else normal numbers."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, p)).astype(float) if ties else rng.normal(size=(n, p)) * rng.uniform(0.2, 3, p) + 1
    if ties and p > 2:
        X[:, p // 2] = X[:, 0]
        X[:, -1] = 2.0
    return X, rng.integers(0, 3, n)


mutual = partial(mutual_info_classif, random_state=5)


@pytest.mark.filterwarnings("ignore")  # constant features
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(12, 60),
    p=st.integers(1, 8),
    ties=st.booleans(),
    score=st.sampled_from([f_classif, f_regression, chi2]),
)
def test_features_by_score_are_those_of_separate_fits(seed, n, p, ties, score):
    X, y = _data(seed, n, p, ties)
    X = np.abs(X)
    best = [SelectKBest(score, k=k) for k in (*range(1, p + 1), "all", p + 2)]
    check_family(KBest(), best, X, y, X_test=X[:5], tolerance=0)
    check_company(KBest(), best, X, y, X_test=X[:5], rng=seed)
    share = [SelectPercentile(score, percentile=q) for q in (100 / p, 33, 50, 80, 100)]
    check_family(Percentile(), share, X, y, X_test=X[:5], tolerance=0)
    check_company(Percentile(), share, X, y, X_test=X[:5], rng=seed)


def test_mutual_information_with_a_seed():
    X, y = _data(0, 40, 5, ties=True)
    check_family(KBest(), [SelectKBest(mutual, k=k) for k in (1, 3, 4)], X, y, tolerance=0)


def test_scores_are_computed_once(monkeypatch):
    X, y = _data(0, 40, 6)
    members = [SelectKBest(f_classif, k=k) for k in (1, 2, 3)]
    calls = []
    plain = SelectKBest.fit
    monkeypatch.setattr(SelectKBest, "fit", lambda self, *args: calls.append(self.k) or plain(self, *args))
    out = KBest().fit_transform(members, X, y)
    assert calls == [1]
    assert [made.shape[1] for _, made in out] == [1, 2, 3]
    assert [model.get_params()["k"] for model, _ in out] == [1, 2, 3]


def test_members_that_warn_are_left_to_themselves():
    """More features than there are, and none."""
    X, y = _data(0, 40, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = KBest().fit_transform([SelectKBest(k=k) for k in (9, 1, 0, 3)], X, y)
    assert [one is None for one in made] == [True, False, True, False]


def test_a_member_keeps_its_kind_of_output():
    pd = pytest.importorskip("pandas")
    X, y = _data(0, 40, 3)
    frame = pd.DataFrame(X, columns=list("abc"))
    members = [SelectKBest(k=1), SelectKBest(k=2).set_output(transform="pandas")]
    (_, plain), (model, labelled) = KBest().fit_transform(members, frame, y)
    assert isinstance(plain, np.ndarray)
    alone = SelectKBest(k=2).set_output(transform="pandas").fit(frame, y)
    pd.testing.assert_frame_equal(labelled, alone.transform(frame))
    assert model.get_feature_names_out().tolist() == alone.get_feature_names_out().tolist()


def test_score_functions_that_are_refused():
    for score in (mutual_info_classif, partial(mutual_info_classif, random_state=None), lambda X, y: X[0]):
        assert not KBest().covers(SelectKBest(score))
        assert not Percentile().covers(SelectPercentile(score))
    assert KBest().covers(SelectKBest(mutual))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(5, 60), p=st.integers(3, 12), ties=st.booleans(), holes=st.booleans())
def test_variances_are_those_of_separate_fits(seed, n, p, ties, holes):
    X, y = _data(seed, n, p, ties)
    if holes:
        X[0, 0] = np.nan
    largest = np.nanvar(X, axis=0).max()
    members = [VarianceThreshold(t) for t in (0.0, 0.1 * largest, 0, 0.5 * largest, 0.9 * largest)]
    check_family(Variance(), members, X, y, X_test=X[:5], tolerance=0)
    check_company(Variance(), members, X, y, X_test=X[:5], rng=seed)


def test_a_threshold_that_leaves_no_feature_is_left_to_itself():
    X, y = _data(0, 20, 3)
    members = [VarianceThreshold(1e6), VarianceThreshold(0.1), VarianceThreshold(0.2)]
    assert [one is None for one in Variance().fit_transform(members, X, y)] == [True, False, False]
    with pytest.raises(ValueError, match="No feature in X meets"):
        Variance().fit_transform(members[:1], X, y)


LEARNED = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "noise_variance_",
    "mean_",
    "n_components_",
    "n_samples_",
    "n_features_in_",
)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(4, 150),
    p=st.integers(1, 12),
    ties=st.booleans(),
    whiten=st.booleans(),
    solver=st.sampled_from(["auto", "full", "covariance_eigh"]),
    dtype=st.sampled_from([np.float64, np.float32, np.int64]),
)
def test_principal_components_are_bit_for_bit_those_of_separate_fits(seed, n, p, ties, whiten, solver, dtype):
    X, y = _data(seed, n, p, ties)
    X = X.astype(dtype)
    most = min(n, p)
    wanted = [*range(1, most + 1), None, 0.5, 0.9, 0.999] + (["mle"] if n >= p > 1 else [])
    members = [PCA(k, whiten=whiten, svd_solver=solver) for k in wanted]
    check_family(PrincipalComponents(), members, X, y, X_test=X[: n // 2], tolerance=0)
    check_company(PrincipalComponents(), members, X, y, X_test=X[: n // 2], rng=seed)
    found = PrincipalComponents().fit_transform([clone(m) for m in members], X, y)
    for member, one in zip(members, found, strict=True):
        if one is None:
            assert member.n_components == "mle" or dtype == np.float32 or (solver == "covariance_eigh" and n < p)
            continue
        (model, made), alone = one, clone(member)
        expected = alone.fit_transform(X)
        assert made.flags.f_contiguous == expected.flags.f_contiguous
        for name in LEARNED:
            want, got = getattr(alone, name), getattr(model, name)
            assert np.array_equal(got, want), name
            assert np.asarray(got).flags.f_contiguous == np.asarray(want).flags.f_contiguous, name


def test_components_of_a_random_solver_are_fitted_apart():
    X, y = _data(0, 520, 60)
    members = [PCA(k, random_state=1) for k in (3, 10, 59, None)]  # the first two are randomized
    check_family(PrincipalComponents(), members, X, y, X_test=X[:30], tolerance=0)
    check_company(PrincipalComponents(), members, X, y, X_test=X[:30])


def test_locked_rows_are_left_as_they_are():
    X, y = _data(0, 50, 6)
    before = X.copy()
    X.flags.writeable = False
    members = [PCA(k) for k in (1, 2, 6)]
    check_family(PrincipalComponents(), members, X, y, tolerance=0)
    assert np.array_equal(X, before)


def test_components_that_are_refused():
    family = PrincipalComponents()
    assert not family.covers(PCA(svd_solver="randomized"))
    assert not family.covers(PCA(svd_solver="arpack"))
    assert not family.covers(PCA(copy=False))
    pytest.importorskip("pandas")
    assert not family.covers(PCA().set_output(transform="pandas"))
    X, y = _data(0, 20, 3)
    with config_context(transform_output="pandas"), pytest.raises(Unsuitable, match="as arrays"):
        family.fit_transform([PCA(1)], X, y)
    with pytest.raises(Unsuitable, match="dense X"):
        family.fit_transform([PCA(1)], csr_array(X), y)
