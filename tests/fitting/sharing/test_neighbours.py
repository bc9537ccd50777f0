"""k-NN: every member predicts bit for bit what scikit-learn does, ties and duplicates included."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from share_estimators import check_company
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils.fixes import parse_version

from internals import check_family, neighbours
from outfold.fitting.sharing import Unsuitable, family_of

KINDS = ("normal", "rounded", "counts", "duplicates", "far", "single", "one", "constant")
OTHERS = (
    {},
    {"algorithm": "brute"},
    {"algorithm": "kd_tree", "leaf_size": 3},
    {"metric": "manhattan"},
    {"p": 3},
    {"p": 1, "algorithm": "brute"},
    {"metric": "cosine"},
    {"metric": "chebyshev"},
)


def rows(rng, kind, n, p):
    X = rng.normal(size=(n, 1 if kind == "one" else p))
    if kind == "rounded":
        return np.round(X, 1)
    if kind == "counts":
        return rng.integers(0, 3, size=(n, p))
    if kind == "duplicates":
        return X[rng.integers(0, n, size=n)]
    if kind == "far":
        return X + 1e5
    if kind == "single":
        return X.astype(np.float32)
    if kind == "constant":
        X[:, 0] = 1.5
    return X


def split(rng, kind, n, p):
    """Training rows, and test rows of which some are among them."""
    X = rows(rng, kind, n + 12, p)
    train, test = X[:n].copy(), np.concatenate([X[n:], X[:4]])
    if rng.random() < 0.3:
        train = np.asfortranarray(train)
    if rng.random() < 0.3:
        test = np.asfortranarray(test)
    train.setflags(write=False)
    return train, test


def family(estimator):
    return family_of(estimator, ("exact",))


def members(kind, ks, **others):
    return [kind(n_neighbors=int(k), weights=w, **others) for k in ks for w in ("uniform", "distance")]


cases = given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    others=st.sampled_from(OTHERS),
    n=st.integers(4, 70),
    p=st.integers(1, 20),
)


@cases
@settings(max_examples=60, deadline=None)
def test_classifier_bit_for_bit(seed, kind, others, n, p):
    rng = np.random.default_rng(seed)
    X, test = split(rng, kind, n, p)
    # In scikit-learn 1.7, predict_proba fails on classes that are text with some metrics.
    names = (
        np.array(list("badcjihgfek"))
        if parse_version(sklearn.__version__) >= parse_version("1.8")
        else np.array([1, 0, 3, 2, 9, 8, 7, 6, 5, 4, 10])
    )
    y = rng.choice(names[: rng.integers(1, 12)], size=n)
    ks = rng.permutation(np.arange(1, n + 1))[:6]
    some = members(KNeighborsClassifier, ks, **others)
    check_family(family(some[0]), some, X, y, X_test=test, tolerance=0)
    check_company(family(some[0]), some, X, y, X_test=test, rng=seed, subsets=2)


@cases
@settings(max_examples=60, deadline=None)
def test_regressor_bit_for_bit(seed, kind, others, n, p):
    rng = np.random.default_rng(seed)
    X, test = split(rng, kind, n, p)
    y = [rng.normal(size=n), rng.integers(0, 3, size=n), rng.normal(size=n).astype(np.float32)][seed % 3]
    ks = rng.permutation(np.arange(1, n + 1))[:6]
    some = members(KNeighborsRegressor, ks, **others)
    check_family(family(some[0]), some, X, y, X_test=test, tolerance=0)
    check_company(family(some[0]), some, X, y, X_test=test, rng=seed, subsets=2)


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
def test_iris_has_many_ties(kind):
    X, y = load_iris(return_X_y=True)
    test = np.arange(len(y)) % 5 == 0
    some = members(kind, range(1, 31))
    check_family(family(some[0]), some, X[~test], y[~test], X_test=X[test], tolerance=0)


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
def test_frames(kind):
    pd = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    some = members(kind, (1, 4, 9))
    check_family(family(some[0]), some, frame[:140], y[:140], X_test=frame[140:], tolerance=0)


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
def test_distances_at_the_ends_of_the_number_range(kind):
    X = np.array([0, 1e-310, 1e-200, 1e-160, 1.0, 1e160, 1e200, 1e300])[:, None]
    y = np.array([0, 1, 0, 1, 1, 0, 1, 0])
    for algorithm in ("brute", "kd_tree"):
        some = members(kind, (1, 2, 3), algorithm=algorithm)
        with np.errstate(all="ignore"):
            check_family(family(some[0]), some, X, y, X_test=X[:5] + 1e-250, tolerance=0)


def test_votes_for_every_k_alone(monkeypatch):
    monkeypatch.setattr(neighbours, "_MOST_VOTES", 10)
    X, y = load_iris(return_X_y=True)
    some = members(KNeighborsClassifier, (1, 4, 9, 30, 80))
    check_family(family(some[0]), some, X, y, tolerance=0)


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
def test_a_query_too_large_for_all_is_left_to_each(kind, monkeypatch):
    monkeypatch.setattr(neighbours, "_MOST", 10)
    X, y = load_iris(return_X_y=True)
    some = members(kind, (1, 4, 9))
    check_family(family(some[0]), some, X, y, tolerance=0)


def test_more_neighbours_than_rows_is_said_by_that_member_alone():
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 1, 0])
    few, many = family(KNeighborsClassifier()).fit(members(KNeighborsClassifier, (3, 7))[::2], X, y)
    assert np.array_equal(few.predict(X), KNeighborsClassifier(3).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="Expected n_neighbors <= n_samples_fit"):
        many.predict(X)


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
@pytest.mark.parametrize(
    "others",
    [
        {"weights": lambda d: d},
        {"weights": None},
        {"metric": "precomputed"},
        {"metric": "haversine"},
        {"metric": lambda a, b: 0.0},
        {"metric_params": {"w": [1.0]}},
        {"p": 0.5},
        {"algorithm": "ball_tree"},
        {"n_neighbors": 0},
        {"n_neighbors": 2.0},
        {"n_neighbors": True},
        {"n_neighbors": None},
    ],
    ids=lambda others: "-".join(map(str, others)),
)
def test_what_is_not_covered(kind, others):
    assert family(kind()) is not None
    assert family(kind(**others)) is None


def test_unsuitable_data():
    shared = family(KNeighborsClassifier())
    X, y = np.eye(6), np.array([0, 1, 0, 1, 1, 0])
    some = members(KNeighborsClassifier, (1, 2))
    for args, params in (
        ((sp.csr_array(X), y), {}),
        ((X, np.column_stack([y, y])), {}),
        ((X, y[:, None]), {}),
        ((X, y), {"sample_weight": np.ones(6)}),
    ):
        with pytest.raises(Unsuitable):
            shared.fit(some, *args, **params)
