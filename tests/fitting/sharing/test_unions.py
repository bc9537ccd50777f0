"""Unions that differ in one transformer have the others in common; what they give is what each gives by itself."""

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
    Restless,
    Shift,
    ShiftInPlace,
    Slow,
    Warns,
    Weighted,
    WritesIntoFrames,
)
from sklearn import config_context
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
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)

from collect_estimators import DrawsGlobally, Tally, fits
from internals import Plan, can_be_shared, collect, make_plan, transform_cache, union_of, union_parts

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
    return {f"c{i}": make_pipeline(union, model or Tally()) for i, union in enumerate(unions)}


def n_fits(configs, data, log, **options):
    """Fits that were logged for a collection on the three hold-outs of the plan, and for one without sharing."""
    before = fits(log)
    shared = collect(configs, *data, PLAN, rng=0, share_check=False, **options)
    between = fits(log)
    same(shared, collect(configs, *data, PLAN, rng=0, share=False))
    return between - before, fits(log) - between


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log"
    path.touch()
    return str(path)


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


@settings(max_examples=15)
@given(st.data(), st.integers(0, 3))
def test_random_feature_unions(drawn, seed):
    X, y = make_classification(60, 6, random_state=seed)
    configs = {}
    for i in range(drawn.draw(st.integers(2, 5))):
        chosen = drawn.draw(st.lists(st.sampled_from(STRANDS[:-1]), min_size=1, max_size=3))
        sides = [(f"{'abc'[(i + j) % 3]}{j}", strand) for j, strand in enumerate([*chosen, "drop"])]
        weights = drawn.draw(st.sampled_from([None, {sides[0][0]: 0.5}, {sides[0][0]: 2, sides[-1][0]: 3.0}]))
        configs[f"c{i}"] = make_pipeline(MaxAbsScaler(), FeatureUnion(sides, transformer_weights=weights), GaussianNB())
    # GaussianNB refuses sparse rows, in the same words.
    both(configs | {"plain": GaussianNB()}, X, y)


@settings(max_examples=15)
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
        configs[f"c{i}"] = make_pipeline(columns, LogisticRegression())
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
    oof = both(piped(*tables, model=LogisticRegression()), frame, y)
    assert oof.completeness == 1.0
    found = make_plan(list(piped(*tables).values()), "exact")
    assert [[number for _, number in path.steps[0].union_parts] for path in found.paths] == [[0], [0], [0], [0], [0]]


def test_polars_frames(data):
    pl = pytest.importorskip("polars")
    X, y = data
    frame = pl.DataFrame({f"x{i}": column for i, column in enumerate(X.T)})
    tables = [make_column_transformer((PCA(1), ["x0", "x1"]), (StandardScaler(), [f"x{i}"])) for i in (2, 3)]
    assert both(piped(*tables, model=LogisticRegression()), frame, y).completeness == 1.0


# -- how often ------------------------------------------------------------------------------------------


def test_what_unions_have_in_common_is_fitted_once(data, log):
    unions = [make_union(Shift(a, log), Shift(b + 10, log)) for a in (1, 2, 3) for b in (1, 2, 3, 4)]
    assert n_fits(piped(*unions), data, log) == (3 * 7, 3 * 24)
    behind = {f"s{i}": make_pipeline(StandardScaler(), union, Tally()) for i, union in enumerate(unions)}
    assert n_fits(piped(*unions) | behind, data, log) == (2 * 3 * 7, 2 * 3 * 24)


def test_columns_are_part_of_it(data, log):
    tables = [
        make_column_transformer((Shift(1, log), [0, 1]), (Shift(n, log), [2, 3]), remainder=Shift(9, log))
        for n in (1, 2, 3)
    ]
    assert n_fits(piped(*tables), data, log) == (3 * (1 + 3 + 1), 3 * 9)
    others = [make_column_transformer((Shift(1, log), c), (MinMaxScaler(), [3])) for c in ([0], [1], [0, 1], (0, 1))]
    assert n_fits(piped(*others), data, log) == (12, 12)
    # What is left for the remainder depends on the columns of the others.
    rests = [make_column_transformer((MinMaxScaler(), c), remainder=Shift(1, log)) for c in ([0], [1])]
    assert n_fits(piped(*rests), data, log) == (6, 6)


def test_names_do_not_matter_and_weights_do(data, log):
    def union(a, b, weights=None):
        return FeatureUnion([(a, Shift(1, log)), (b, PCA(2))], transformer_weights=weights)

    same_node = piped(union("a", "b"), union("b", "a"), union("x", "y"))
    assert len({path.steps[0].node for path in make_plan(list(same_node.values()), "exact").paths}) == 1
    assert n_fits(same_node, data, log) == (3, 9)
    weighted = piped(union("a", "b", {"a": 2.0}), union("b", "a", {"b": 2.0}), union("a", "b", {"b": 2.0}))
    assert len({path.steps[0].node for path in make_plan(list(weighted.values()), "exact").paths}) == 2
    assert n_fits(weighted, data, log) == (3, 9)


def test_one_union_may_have_the_same_twice(data, log):
    union = FeatureUnion([("a", Shift(1, log)), ("b", Shift(1, log))], transformer_weights={"b": 3.0})
    assert n_fits(piped(union, model=LogisticRegression()), data, log) == (3, 6)


def test_arguments_of_fit(data, log):
    X, y = data
    weights = np.linspace(0.1, 3, len(y))
    configs = {f"c{n}": make_pipeline(make_union(Weighted(1, log), Weighted(n, log)), Tally()) for n in (2, 3)}
    options = {"fit_params": {"featureunion__weight": weights}}
    shared = collect(configs, X, y, PLAN, share_check=False, **options)
    assert fits(log) == 3 * 3
    same(shared, collect(configs, X, y, PLAN, share=False, **options))
    assert shared.data.tobytes() != collect(configs, X, y, PLAN).data.tobytes()


def test_seeds_are_part_of_it(data):
    unions = [
        make_union(PCA(2, svd_solver="randomized", random_state=s), SelectKBest(k=k)) for s in (1, 2) for k in (1, 2)
    ]
    found = make_plan(list(piped(*unions).values()), "exact")
    numbers = [dict(path.steps[0].union_parts)[0] for path in found.paths]
    assert numbers[0] == numbers[1] != numbers[2] == numbers[3]
    both(piped(*unions), *data)


def test_rows_beyond_the_budget_are_not_kept(data, log, monkeypatch):
    monkeypatch.setattr(transform_cache, "_BUDGET", 0)
    X, y = data
    wide = FunctionTransformer(np.tile, kw_args={"reps": (1, 40)})
    unions = [make_union(make_pipeline(Shift(1, log), wide), SelectKBest(k=k)) for k in (1, 2, 3)]
    assert n_fits(piped(*unions), data, log) == (9, 9)
    made = collect(piped(*unions), X, y, PLAN).provenance["sharing"]
    assert made["peak_bytes"] >= 40 * X.nbytes


def test_explain(data, capsys):
    unions = [make_union(PCA(p), SelectKBest(k=k)) for p in (1, 2) for k in (1, 2, 3)]
    collect(piped(*unions), *data, PLAN, explain=True)
    assert capsys.readouterr().out.splitlines() == [
        "18 fits of 6 configurations on 3 hold-outs, shared at level exact",
        "  parts   FeatureUnion  12 in 6 steps, 5 different",
        "  saved   0 of 18 fits of models, 0 of 18 fits of steps",
    ]


# -- what is left to the union ---------------------------------------------------------------------------


class Mine(FeatureUnion):
    pass


def test_only_plain_unions_are_taken_to_pieces():
    pair = [("a", PCA(1)), ("b", SelectKBest(k=1))]
    assert [place for place, _ in union_of(FeatureUnion(pair)).parts] == [0, 1]
    table = ColumnTransformer([("a", PCA(1), [0]), ("b", "drop", [1])], remainder=PCA())
    assert [place for place, _ in union_of(table).parts] == [0, 2]
    left = [
        Mine(pair),
        FeatureUnion(pair, n_jobs=1),
        FeatureUnion(pair, verbose=True),
        FeatureUnion(pair).set_output(transform="pandas"),
        FeatureUnion([("a", PCA(1).set_output(transform="pandas")), ("b", PCA(2))]),
        FeatureUnion([("a", make_pipeline(PCA(1), verbose=True)), ("b", PCA(2))]),
        FeatureUnion([("a", PCA(1)), ("a", PCA(2))]),
        FeatureUnion([("a__b", PCA(1))]),
        FeatureUnion(pair, transformer_weights={"c": 1.0}),
        FeatureUnion(tuple(pair)),
        FeatureUnion("ab"),
        ColumnTransformer([("a", PCA(1), lambda X: [0])]),
        ColumnTransformer([("remainder", PCA(1), [0])]),
        ColumnTransformer(pair),
        PCA(1),
    ]
    assert [union_of(union) for union in left] == [None] * len(left)
    with config_context(transform_output="pandas"):
        assert union_of(FeatureUnion(pair)) is None


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
    assert {name for name, _, _ in oof.messages} == {f"c{i}" for i in range(1, len(unions))}


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


def test_rows_that_cannot_be_locked(data, monkeypatch):
    pd = pytest.importorskip("pandas")
    X = data[0]
    frame, union = pd.DataFrame(X), make_union(PCA(1), PCA(2))
    copies, views = (make_column_transformer((PCA(1), where)) for where in ([0, 1], slice(0, 2)))
    assert can_be_shared(union, X, trusted=False)
    assert can_be_shared(union, sp.csr_array(X), trusted=True)
    assert not can_be_shared(union, sp.csr_array(X), trusted=False)
    for safe in (True, False):  # frames of pandas 3, and those before it
        monkeypatch.setattr(union_parts, "frames_are_safe", lambda safe=safe: safe)
        assert [can_be_shared(u, frame, trusted=True) for u in (union, copies, views)] == [safe, True, safe]
        assert not any(can_be_shared(u, frame, trusted=False) for u in (union, copies, views))


def test_parts_that_draw_globally(data):
    unions = [make_union(DrawingShift(), SelectKBest(k=k)) for k in (1, 2)]
    unions += [make_union(DrawingShift(), DrawingShift(1.0)), make_union(DrawingShift(1.0), SelectKBest(k=1))]
    both(piped(*unions), *data)
    both(piped(*unions, model=DrawsGlobally()), *data)


def test_every_fit_keeps_its_warnings(data):
    unions = [make_union(Warns(), SelectKBest(k=k)) for k in (1, 2, 3)]
    assert both(piped(*unions), *data).provenance["warnings"] == {"UserWarning": 9, "RuntimeWarning": 9}


def test_the_time_of_what_is_lent_counts_too(data):
    configs = piped(*(make_union(Slow(), Shift(n)) for n in (1, 2)), model=Tally(pause=0.3)) | {"ok": Tally()}
    oof = collect(configs, *data, Plan(folds=2), timeout=0.5)
    assert set(oof.messages) == {(name, 0, k) for name in ("c0", "c1") for k in (0, 1)}
    assert set(oof.messages.values()) == {"TimeoutError: no result after 0.5 s"}


def test_a_difference_ends_it(data, log):
    """One that gives something else every time cannot be proved; from the first check on, every union fits its own."""
    configs = piped(*(make_union(Restless(1.0, log), SelectKBest(k=k)) for k in (1, 2, 3)))
    oof = collect(configs, *data, PLAN)
    assert oof.provenance["sharing"]["checks"] == 1
    assert fits(log) == 9  # the second union had it from the first, and then from its own fit
    collect(configs, *data, PLAN, share_check=False)
    assert fits(log) == 9 + 3
