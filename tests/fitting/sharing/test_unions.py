"""Feature unions and column transformers are steps as others are: shared ones give what separate fits give."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from share_estimators import (
    DrawingShift,
    FailsIn,
    Shift,
    ShiftInPlace,
    Warns,
    WritesIntoFrames,
)
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import VotingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)

from collect_estimators import DrawsGlobally, Tally
from internals import Plan, collect

pytestmark = pytest.mark.usefixtures("patient")

PLAN = Plan(folds=3)


@pytest.fixture(scope="module")
def data():
    return make_classification(90, 6, random_state=1)


def same(a, b):
    for one, other in ((a, b), *((a.blocks[k], b.blocks[k]) for k in a.blocks)):
        np.testing.assert_array_equal(one.state, other.state)
        assert one.data.tobytes() == other.data.tobytes()
        assert dict(one.messages) == dict(other.messages)
    assert a.provenance["warnings"] == b.provenance["warnings"]


def both(configs, X, y, plan=PLAN, **options):
    """The shared collection, proved equal to the separate one; no spot check is there to put it right."""
    shared = collect(configs, X, y, plan, rng=0, share_check=False, **options)
    same(shared, collect(configs, X, y, plan, rng=0, share=False))
    return shared


def piped(*unions, model=None):
    """Two models after each union, which is fitted once for both."""
    models = {"c": model or Tally(), "d": LogisticRegression(C=0.5)}
    return {f"{name}{i}": make_pipeline(union, m) for i, union in enumerate(unions) for name, m in models.items()}


# -- the same bits --------------------------------------------------------------------------------------

STRANDS = [
    PCA(2),
    PCA(2, svd_solver="randomized"),
    SelectKBest(f_classif, k=1),
    SelectKBest(f_classif, k=3),
    StandardScaler(),
    KBinsDiscretizer(3, strategy="uniform"),
    make_pipeline(MinMaxScaler(), PCA(1)),
    FeatureUnion([("a", PCA(1)), ("b", MinMaxScaler())]),
    "passthrough",
    "drop",
]
COLUMNS = [[0, 1, 2], [3, 4, 5, 1], slice(0, 3), np.array([True, False, True, True, False, False]), [-1, 2, 4]]


@settings(max_examples=7)
@given(st.data(), st.integers(0, 3))
def test_random_feature_unions(drawn, seed):
    X, y = make_classification(60, 6, random_state=seed)
    configs = {}
    for i in range(drawn.draw(st.integers(2, 5))):
        chosen = drawn.draw(st.lists(st.sampled_from(STRANDS[:-1]), min_size=1, max_size=3))
        sides = [(f"{'abc'[(i + j) % 3]}{j}", strand) for j, strand in enumerate([*chosen, "drop"])]
        weights = drawn.draw(st.sampled_from([None, {sides[0][0]: 0.5}, {sides[0][0]: 2, sides[-1][0]: 3.0}]))
        union = FeatureUnion(sides, transformer_weights=weights)
        for model in (GaussianNB(), LogisticRegression()):
            configs[f"{model} {i}"] = make_pipeline(MaxAbsScaler(), union, model)
    # GaussianNB refuses sparse rows, in the same words.
    both(configs | {"plain": GaussianNB()}, X, y)


@settings(max_examples=7)
@given(st.data(), st.integers(0, 3))
def test_random_column_transformers(drawn, seed):
    X, y = make_classification(60, 6, random_state=seed)
    configs = {}
    for i in range(drawn.draw(st.integers(2, 5))):
        chosen = drawn.draw(st.lists(st.tuples(*map(st.sampled_from, (STRANDS, COLUMNS))), min_size=1, max_size=3))
        columns = ColumnTransformer(
            [(f"{'abc'[(i + j) % 3]}{j}", *strand) for j, strand in enumerate(chosen)],
            remainder=drawn.draw(st.sampled_from(["drop", "passthrough", StandardScaler()])),
            sparse_threshold=drawn.draw(st.sampled_from([0.0, 0.3, 1.0])),
            transformer_weights=drawn.draw(st.sampled_from([None, {"remainder": 0.1}])),
        )
        for C in (0.1, 1.0):
            configs[f"c{i}({C})"] = make_pipeline(columns, LogisticRegression(C=C))
    both(configs | {"plain": GaussianNB()}, X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_workers(data, n_jobs):
    unions = [FeatureUnion([("p", PCA(p)), ("k", SelectKBest(k=k))]) for p in (1, 2, 3) for k in (1, 2)]
    configs = piped(*unions, model=LogisticRegression())
    expected = collect(configs, *data, PLAN, inner=True, share=False)
    for check in (True, False):
        same(collect(configs, *data, PLAN, inner=True, n_jobs=n_jobs, share_check=check), expected)
    with joblib.parallel_config("threading", n_jobs=n_jobs):
        same(collect(configs, *data, PLAN, inner=True, share_check=False), expected)


def test_sparse_rows_and_sparse_parts(data):
    X, y = np.abs(data[0]), data[1]
    unions = [make_union(MaxAbsScaler(), TruncatedSVD(n), StandardScaler(with_mean=False)) for n in (1, 2, 3)]
    assert both(piped(*unions, model=LogisticRegression()), sp.csr_array(X), y).completeness == 1.0
    bins = [make_union(KBinsDiscretizer(3), SelectKBest(k=k)) for k in (1, 2)]
    assert both(piped(*bins, model=LogisticRegression()), X, y).completeness == 1.0


def test_frames_by_name(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "yes", "no"), "d": X[:, 3]})
    encoder = OneHotEncoder(handle_unknown="ignore")
    numbers = make_column_selector(dtype_include="number")
    tables = [
        make_column_transformer((StandardScaler(), ["a", "b"]), (encoder, ["c"])),
        make_column_transformer((MinMaxScaler(), ["a", "b"]), (encoder, ["c"]), remainder=PCA(1)),
        make_column_transformer((StandardScaler(), numbers), (encoder, ["c"])),
        make_column_transformer((MinMaxScaler(), numbers), (encoder, ["c"])),
        make_column_transformer((StandardScaler(), slice("a", "b")), (encoder, ["c"]), remainder="passthrough"),
    ]
    assert both(piped(*tables, model=LogisticRegression()), frame, y).completeness == 1.0


def test_polars_frames(data):
    pl = pytest.importorskip("polars")
    X, y = data
    frame = pl.DataFrame({f"x{i}": column for i, column in enumerate(X.T)})
    tables = [make_column_transformer((PCA(1), ["x0", "x1"]), (StandardScaler(), [f"x{i}"])) for i in (2, 3)]
    assert both(piped(*tables, model=LogisticRegression()), frame, y).completeness == 1.0


# -- what is left to the union ---------------------------------------------------------------------------


def test_unions_that_cannot_be_fitted_keep_their_messages(data):
    pair = [("a", PCA(1)), ("b", SelectKBest(k=1))]
    unions = [
        FeatureUnion(pair),
        FeatureUnion([("a", PCA(1)), ("a", SelectKBest(k=1))]),
        FeatureUnion(pair, transformer_weights={"c": 1.0}),
        FeatureUnion([("a", PCA(1)), ("b", SelectKBest(k=-1))]),
        FeatureUnion([("a", PCA(1)), ("b", SelectKBest(k=2)), ("c", PCA(99))]),
        FeatureUnion([("a", PCA(99)), ("b", SelectKBest(k=1))]),
        FeatureUnion([("a", PCA(99)), ("b", SelectKBest(k=2))]),
        FeatureUnion([("a", PCA(2)), ("b", FailsIn(2.0, where="transform"))]),
        FeatureUnion([("a", PCA(1)), ("b", FailsIn(2.0, where="transform"))]),
        ColumnTransformer([("a", PCA(1), [0, 1]), ("b", StandardScaler(), 3)]),
        ColumnTransformer([("a", PCA(1), [0, 1]), ("b", MinMaxScaler(), 3)]),
        ColumnTransformer([("a", PCA(1), [0, 1]), ("b", MinMaxScaler(), [77])]),
    ]
    oof = both(piped(*unions), *data)
    assert {name for name, _, _ in oof.messages} == {f"{name}{i}" for i in range(1, len(unions)) for name in "cd"}


def test_parts_that_write_into_their_rows(data):
    unions = [make_union(ShiftInPlace(), SelectKBest(k=k)) for k in (1, 2)]
    unions += [make_union(SelectKBest(k=k), ShiftInPlace(), StandardScaler()) for k in (1, 2)]
    assert both(piped(*unions), *data).completeness == 1.0
    scaler = StandardScaler(copy=False)
    for where in ([0, 1], slice(0, 2)):
        columns = [
            make_column_transformer((w, where), (Shift(n), [0, 1])) for n in (1, 2) for w in (ShiftInPlace(), scaler)
        ]
        assert both(piped(*columns), *data).completeness == 1.0


def test_what_works_in_place_is_seen_by_what_stands_beside_it(data):
    """scikit-learn takes a copy of rows that are locked; those between the steps of a pipeline are not."""
    scaler = StandardScaler(copy=False)
    unions = [make_union(scaler, SelectKBest(k=k)) for k in (1, 2)]
    votes = VotingClassifier([("a", make_pipeline(scaler, GaussianNB())), ("b", Tally())], voting="soft")
    models = {f"m{i}": make_pipeline(MaxAbsScaler(), clone(votes).set_params(weights=[1, i])) for i in (1, 2)}
    configs = {f"c{i}": make_pipeline(MaxAbsScaler(), unions[0], LogisticRegression(C=i)) for i in (1, 2)}
    configs |= {f"u{i}": make_pipeline(MaxAbsScaler(), union, Tally()) for i, union in enumerate(unions)}
    assert both(configs | models | {"plain": make_pipeline(scaler, Tally())}, *data).completeness == 1.0


def test_parts_that_write_into_a_frame(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    first, second = StandardScaler(), MinMaxScaler()
    unions = [make_union(WritesIntoFrames(), first), make_union(second, first), make_union(WritesIntoFrames(), second)]
    oof = both(piped(*unions, model=LogisticRegression()), frame, y)
    assert oof.completeness == 1.0


def test_parts_that_draw_globally(data):
    unions = [make_union(DrawingShift(), SelectKBest(k=k)) for k in (1, 2)]
    unions += [make_union(DrawingShift(), DrawingShift(1.0)), make_union(DrawingShift(1.0), SelectKBest(k=1))]
    both(piped(*unions), *data)
    both(piped(*unions, model=DrawsGlobally()), *data)


def test_every_fit_keeps_its_warnings(data):
    unions = [make_union(Warns(), SelectKBest(k=k)) for k in (1, 2, 3)]
    assert both(piped(*unions), *data).provenance["warnings"] == {"UserWarning": 18, "RuntimeWarning": 18}
