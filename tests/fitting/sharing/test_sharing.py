"""Predictions are those of separate fits, whatever is shared, by whom, and whatever goes wrong."""

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from share_estimators import (
    BadScales,
    DrawingShift,
    FailsIn,
    Scales,
    Shift,
    ShiftInPlace,
    Slow,
    ViewedScales,
    Weighted,
    WholeScales,
)
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.feature_selection import SelectKBest, f_classif, mutual_info_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import HuberRegressor, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from collect_estimators import DrawsGlobally, PredictsNaN, Raises, Tally, WritesIntoX, fits, kill_at
from internals import Plan, collect, grid, known_families, modules_for
from outfold import SelectCV, drop, load
from outfold.exceptions import InputError, StoreMismatchError

pytestmark = pytest.mark.usefixtures("patient")

PLAN = Plan(folds=3, repeats=2)


@pytest.fixture(scope="module")
def data():
    return make_classification(120, 8, random_state=1)


def same(a, b):
    for one, other in ((a, b), *((a.blocks[k], b.blocks[k]) for k in a.blocks)):
        np.testing.assert_array_equal(one.state, other.state)
        assert one.data.tobytes() == other.data.tobytes()
        assert one.configs == other.configs
        assert dict(one.messages) == dict(other.messages)
        assert (one.labels is None) == (other.labels is None)
        if one.labels is not None:
            np.testing.assert_array_equal(one.labels, other.labels)


def both(configs, X, y, plan=PLAN, **options):
    """The shared collection, proved equal to the separate one."""
    shared = collect(configs, X, y, plan, **options)
    same(shared, collect(configs, X, y, plan, share=False, **options))
    return shared


# -- steps ----------------------------------------------------------------------------------------------

STEPS = {
    "impute": [SimpleImputer(), SimpleImputer(strategy="median"), "passthrough"],
    "scale": [StandardScaler(), MinMaxScaler(), None],
    "reduce": [
        PCA(3),
        PCA(2, svd_solver="randomized"),
        SelectKBest(f_classif, k=4),
        FeatureUnion([("a", PCA(2)), ("b", SelectKBest(f_classif, k=2))]),
        ColumnTransformer([("a", StandardScaler(), [0, 1]), ("b", make_pipeline(MinMaxScaler(), PCA(1)), [2, 3, 4])]),
        make_pipeline(StandardScaler(), SelectKBest(f_classif, k=3)),
    ],
    "model": [
        GaussianNB(),
        KNeighborsClassifier(3),
        DecisionTreeClassifier(max_features=2),
        LogisticRegression(max_iter=30),
        make_pipeline(MaxAbsScaler(), GaussianNB()),
    ],
}


@settings(max_examples=12)
@given(
    st.lists(st.tuples(*(st.integers(0, len(steps) - 1) for steps in STEPS.values())), min_size=2, max_size=9),
    st.integers(0, 3),
)
def test_random_pipelines(chosen, seed):
    X, y = make_classification(60, 6, random_state=seed)
    configs = {}
    for i, positions in enumerate(chosen):
        configs[f"c{i}"] = make_pipeline(*(steps[j] for steps, j in zip(STEPS.values(), positions, strict=True)))
    both(configs, X, y, Plan(folds=3), rng=seed)


def test_shared_steps_are_fitted_once(tmp_path, data):
    log = str(tmp_path / "log")
    configs = grid("t", make_pipeline(Shift(log=log), Tally()), scale=[1.0, 2.0, 3.0, 4.0])
    configs |= grid("u", make_pipeline(Shift(log=log), MinMaxScaler(), Tally()), scale=[1.0, 2.0])
    oof = collect(configs, *data, PLAN)
    assert fits(log) == 6
    made = oof.provenance["sharing"]
    assert (made["models"], made["models_done"]) == (36, 36)
    assert (made["steps"], made["steps_done"]) == (48, 12)
    assert made["peak_bytes"] == 2 * data[0].nbytes
    same(oof, collect(configs, *data, PLAN, share=False))
    assert fits(log) == 6 + 36


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_workers(data, n_jobs):
    configs = grid("t", make_pipeline(StandardScaler(), PCA(), LogisticRegression()), n_components=[2, 3], C=[0.1, 1])
    configs |= grid("f", make_pipeline(StandardScaler(), RandomForestClassifier(3)), max_depth=[2, None])
    configs |= {"bad": make_pipeline(StandardScaler(), Raises())}
    expected = collect(configs, *data, PLAN, share=False, inner=True)
    same(collect(configs, *data, PLAN, inner=True, n_jobs=n_jobs), expected)
    with joblib.parallel_config("threading", n_jobs=n_jobs):
        same(collect(configs, *data, PLAN, inner=True), expected)


def test_nested_cross_validation_and_labels_of_their_own(data):
    configs = grid("t", make_pipeline(StandardScaler(), DecisionTreeClassifier()), max_depth=[1, 2, 3])
    both(configs, *data, Plan(folds=3), inner=True)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(data, library):
    frames = pytest.importorskip(library)
    X, y = data
    frame = frames.DataFrame({f"x{i}": column for i, column in enumerate(X.T)})
    pipeline = make_pipeline(StandardScaler().set_output(transform=library), HuberRegressor())
    configs = grid(
        "t", make_pipeline(StandardScaler().set_output(transform=library), LogisticRegression()), C=[0.1, 1, 9]
    )
    configs |= grid("u", make_pipeline(StandardScaler(), LogisticRegression()), C=[0.1, 1])
    assert both(configs, frame, y).provenance["sharing"]["steps_done"] == 12
    assert both(grid("r", pipeline, alpha=[1, 2]), frame, y.astype(float)).completeness == 1


def test_sparse_rows(data):
    X, y = data
    configs = grid("t", make_pipeline(MaxAbsScaler(), LogisticRegression()), C=[0.1, 1])
    configs |= grid("u", make_pipeline(MaxAbsScaler(), TruncatedSVD(2), LogisticRegression()), C=[0.1, 1])
    assert both(configs, sp.csr_array(X), y).provenance["sharing"]["steps_done"] == 12


def test_texts():
    words = np.array(["one", "two", "three", "four", "five", "six", "seven"])
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 6)) for _ in range(60)]
    y = np.array(["three" in text for text in texts])
    pipeline = make_pipeline(CountVectorizer(), TfidfTransformer(), MultinomialNB())
    configs = grid("t", pipeline, alpha=[0.1, 1.0], sublinear_tf=[True, False])
    assert both(configs, texts, y).provenance["sharing"]["steps_done"] == 6 + 12


def test_columns_of_a_frame(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "yes", "no")})
    columns = ColumnTransformer([("n", StandardScaler(), ["a", "b"]), ("c", OneHotEncoder(), ["c"])])
    configs = grid("t", make_pipeline(columns, LogisticRegression()), C=[0.1, 1, 9])
    assert both(configs, frame, y).provenance["sharing"]["steps_done"] == 6


def test_arguments_of_fit(data):
    X, y = data
    weights = np.linspace(0.1, 3, len(y))
    configs = grid("t", make_pipeline(Weighted(), LogisticRegression()), C=[0.1, 1])
    given = {"weighted__weight": weights, "logisticregression__sample_weight": weights[::-1]}
    oof = both(configs, X, y, fit_params=given)
    assert oof.provenance["sharing"]["steps_done"] == 6
    assert oof.data.tobytes() != collect(configs, X, y, PLAN).data.tobytes()
    # One that no step knows fails as the pipeline says it.
    configs |= {"other": make_pipeline(Weighted(), StandardScaler(), LogisticRegression())}
    oof = both(configs | {"bare": LogisticRegression()}, X, y, fit_params=given)
    assert np.all(oof.state[-1] == oof.state[-1, 0, 0])
    assert len(oof.messages) == 6


def test_a_memory_budget_changes_nothing(data, monkeypatch):
    configs = grid(
        "t", make_pipeline(StandardScaler(), PCA(), MinMaxScaler(), Tally()), scale=[1.0, 2.0], n_components=[2, 3]
    )
    monkeypatch.setattr("outfold.fitting.sharing.transform_cache._BUDGET", 0)
    monkeypatch.setattr("outfold.fitting.sharing.transform_cache.n_bytes", lambda values: 0 if values is None else 1000)
    made = both(configs, *data).provenance["sharing"]
    assert made["steps_done"] > 6 * 5


# -- what goes wrong ------------------------------------------------------------------------------------


def test_every_failure_keeps_its_own_message(data):
    configs = grid("f", make_pipeline(StandardScaler(), FailsIn(), Tally()), by=[1.0, 2.0], where=["fit", "transform"])
    configs |= grid(
        "k", make_pipeline(StandardScaler(), SelectKBest(k=3), KNeighborsClassifier()), n_neighbors=[3, 500]
    )
    configs |= {
        "raises": make_pipeline(StandardScaler(), Raises()),
        "nan": make_pipeline(StandardScaler(), PredictsNaN()),
        "logit": make_pipeline(StandardScaler(), LogisticRegression(C=-1)),
    }
    oof = both(configs, *data)
    assert {text.partition(":")[0] for text in oof.messages.values()} == {
        "RuntimeError",
        "ValueError",
        "BadPrediction",
        "InvalidParameterError",
    }
    assert "cannot transform by 2.0" in oof.messages["f(by=2, where='transform')", 0, 0]


def test_rows_that_are_written_into(data):
    configs = grid("s", make_pipeline(ShiftInPlace(), Tally()), scale=[1.0, 2.0])
    configs |= grid("w", make_pipeline(StandardScaler(), WritesIntoX()), scale=[1.0, 2.0])
    configs |= grid("t", make_pipeline(StandardScaler(), Tally()), scale=[1.0, 2.0])
    assert both(configs, *data).completeness == 1.0


def test_what_cannot_be_fitted_in_company_is_tried_once(data, tmp_path):
    log = str(tmp_path / "log")
    configs = grid("w", make_pipeline(Shift(log=log), WritesIntoX()), scale=[1.0, 2.0])
    oof = collect(configs, *data, PLAN)
    assert fits(log) == 1 + 2 * 6
    same(oof, collect(configs, *data, PLAN, share=False))


def test_steps_that_draw_globally(data):
    configs = grid("s", make_pipeline(DrawingShift(), DrawsGlobally()), scale=[1.0, 2.0])
    configs |= grid("t", make_pipeline(StandardScaler(), DrawsGlobally()), scale=[1.0, 2.0])
    configs |= grid(
        "m", make_pipeline(StandardScaler(), SelectKBest(mutual_info_classif, k=2), Tally()), scale=[1.0, 2.0]
    )
    both(configs, *data, Plan(folds=3))


def test_an_infinite_number_fails_where_it_would(data):
    """Rows known to be finite are not looked at again; those of the next fold may be others."""
    X, y = np.abs(data[0]), data[1]
    X[5, 0] = 0.0
    pipeline = make_pipeline(FunctionTransformer(np.log), LogisticRegression())
    oof = both(grid("t", pipeline, C=[0.1, 1]) | {"ok": Tally()}, X, y, Plan(folds=3, repeats=3))
    assert len(oof.messages) == 2 * 9
    assert all("infinity" in text for text in oof.messages.values())


# -- families -------------------------------------------------------------------------------------------


def scales(log=None, n=5):
    return grid("t", make_pipeline(StandardScaler(), Tally(log=log)), scale=[float(i + 1) for i in range(n)])


@pytest.mark.parametrize("family", [Scales(), ViewedScales()])
def test_a_family_is_fitted_once(register, tmp_path, data, family):
    register(family)
    log = str(tmp_path / "log")
    oof = collect(scales(log), *data, PLAN, share_check=False)
    assert fits(log) == 6
    made = oof.provenance["sharing"]
    assert (made["models"], made["models_done"], made["families"]) == (30, 6, {"Tally": 30})
    same(oof, collect(scales(log), *data, PLAN, share=False))
    assert fits(log) == 6 + 30


@pytest.mark.parametrize("n_jobs", [2])
def test_families_travel_to_workers(register, data, n_jobs):
    register(Scales())
    expected = collect(scales(), *data, PLAN, share=False)
    same(collect(scales(), *data, PLAN, n_jobs=n_jobs), expected)
    with joblib.parallel_config("threading", n_jobs=n_jobs):
        same(collect(scales(), *data, PLAN), expected)


@pytest.mark.parametrize("way", ["unsuitable", "raises", "too few", "nan", "shape", "one fails"])
def test_a_family_that_cannot_is_no_loss(register, data, way):
    register(BadScales(way))
    oof = both(scales(), *data)
    assert oof.completeness == 1.0
    assert not oof.notes
    if way == "one fails":
        assert oof.provenance["sharing"]["families"] == {"Tally": 24}


def test_members_whose_own_fit_fails(register, data):
    register(Scales())
    configs = scales() | {"text": make_pipeline(StandardScaler(), Tally(scale="much"))}
    oof = both(configs, *data)
    assert set(oof.messages) == {("text", r, k) for r in range(2) for k in range(3)}


def test_a_wrong_family_is_found_out(register, data, tmp_path):
    register(BadScales("values"))
    store = tmp_path / "run.oof"
    oof = collect(scales(), *data, PLAN, store=store)
    same(oof, collect(scales(), *data, PLAN, share=False))
    (note,) = oof.notes
    assert note.code == "OF107"
    assert "exact family of Tally" in note.text
    assert "largest difference" in note.text
    again = collect(scales(n=6), *data, PLAN, store=store)
    same(again, collect(scales(n=6), *data, PLAN, share=False))
    assert again.provenance["sharing"]["families"] == {}


def test_a_wrong_family_is_used_where_nobody_looks(register, data):
    register(BadScales("values"))
    oof = collect(scales(), *data, PLAN, share_check=False)
    assert not oof.notes
    assert oof.data.tobytes() != collect(scales(), *data, PLAN, share=False).data.tobytes()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_family_found_out_late(register, data, n_jobs, monkeypatch):
    """What it gave before is fitted again, and what was dropped for it is decided again."""
    register(BadScales("values"))
    late = lambda batch, groups, group, n: 0 if batch.holdout.left_out == (1,) and batch.holdout.repeat == 1 else None  # noqa: E731
    if n_jobs == 1:
        monkeypatch.setattr("outfold.fitting.sharing.executor.member_to_verify", late)
    for rule in (None, True):
        oof = collect(scales(), *data, PLAN, drop=rule, n_jobs=n_jobs)
        same(oof, collect(scales(), *data, PLAN, share=False, drop=rule))
        assert [note.code for note in oof.notes if note.code == "OF107"] == ["OF107"]


def test_whole_families_do_not_depend_on_what_is_left(register, data, tmp_path):
    register(WholeScales())
    options = {"share": "close", "share_check": False}
    whole = collect(scales(), *data, PLAN, **options)
    (note,) = whole.notes
    assert str(note) == "OF106  30 of 30 fits were shared at a level below exact: Tally 30 (close)."
    assert whole.data.tobytes() != collect(scales(), *data, PLAN).data.tobytes()

    def out(oof):
        return ["t(scale=2)", "t(scale=4)"] if oof.completeness < 0.6 else []

    dropped = collect(scales(), *data, PLAN, drop=out, **options)
    kept = np.isfinite(dropped.data)
    assert 0.4 < kept.mean() < 0.95
    np.testing.assert_array_equal(dropped.data[kept], whole.data[kept])
    same(collect(scales(), *data, PLAN, n_jobs=2, **options), whole)


def test_dropping(register, data):
    register(Scales())
    configs = scales() | grid("c", make_pipeline(StandardScaler(), LogisticRegression()), C=[0.1, 1])
    configs |= grid(
        "tree", make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1)), max_depth=[1, 2, 9]
    )
    rule = drop.Bootstrap(min_predictions=20, threshold=0.8)
    oof = collect(configs, *data, PLAN, drop=rule)
    expected = collect(configs, *data, PLAN, drop=rule, share=False)
    same(oof, expected)
    assert len(oof.drop_log) > 1
    assert oof.drop_log.equals(expected.drop_log)
    same(collect(configs, *data, PLAN, drop=rule, n_jobs=2), expected)


def test_levels_and_stores(register, data, tmp_path):
    register(WholeScales())
    store = tmp_path / "run.oof"
    collect(scales(), *data, PLAN, store=store, share="close", share_check=False)
    with pytest.raises(StoreMismatchError, match=r"share='close' \(now 'exact'\)"):
        collect(scales(), *data, PLAN, store=store)
    other = tmp_path / "other.oof"
    collect(scales(), *data, PLAN, store=other)
    same(collect(scales(), *data, PLAN, store=other, share=False), collect(scales(), *data, PLAN))


@pytest.mark.parametrize("option", [{"share": True}, {"share": "loose"}, {"share": None}, {"share_check": 1}])
def test_options_that_are_none(data, option):
    with pytest.raises(InputError, match=next(iter(option))):
        collect(scales(), *data, PLAN, **option)


def test_a_shared_fit_that_takes_too_long_is_left(register, data):
    register(BadScales("slow"))
    oof = collect(scales(n=2), *data, Plan(folds=2), timeout=0.5)
    assert oof.completeness == 1.0
    assert oof.provenance["sharing"]["families"] == {}


@pytest.mark.parametrize(("way", "options"), [("stuck", {"timeout": 1.0}), ("crashes", {})])
def test_a_family_that_ends_its_process_is_left(register, data, way, options):
    register(BadScales(way))
    oof = collect(scales(n=2), *data, Plan.holdout(), n_jobs=2, **options)
    same(oof, collect(scales(n=2), *data, Plan.holdout(), share=False))


def test_a_step_that_takes_too_long_fails_every_configuration(data):
    configs = {f"t{i}": make_pipeline(Slow(), Tally(float(i))) for i in (1, 2)} | {"ok": Tally()}
    oof = collect(configs, *data, Plan(folds=2), timeout=0.15)
    assert set(oof.messages.values()) == {"TimeoutError: no result after 0.15 s"}
    assert len(oof.messages) == 4


def test_explain(register, data, capsys):
    register(Scales())
    configs = scales() | grid("c", make_pipeline(StandardScaler(), MinMaxScaler(), LogisticRegression()), C=[0.1, 1])
    collect(configs | {"nb": GaussianNB()}, *data, PLAN, explain=True)
    assert capsys.readouterr().out.splitlines() == [
        "48 fits of 8 configurations on 6 hold-outs, shared at level exact",
        "  step    StandardScaler                 7 configurations",
        "  step    StandardScaler > MinMaxScaler  2 configurations",
        "  family  Tally                          5 members, scale (exact)",
        "  saved   24 of 48 fits of models, 42 of 54 fits of steps",
    ]
    collect(GaussianNB(), *data, PLAN, explain=True)
    assert capsys.readouterr().out == "6 fits of 1 configuration on 6 hold-outs; nothing is shared\n"


def test_families_and_levels_in_the_search(register, data):
    register(WholeScales())
    search = {share: SelectCV(scales(n=3), cv=3, drop=False, share=share).fit(*data) for share in ("exact", "close")}
    assert search["exact"].oof_.provenance["sharing"]["families"] == {}
    assert search["close"].oof_.provenance["sharing"]["families"] == {"Tally": 9}
    # The model is fitted alone: no family has moved its means.
    model = search["close"].best_estimator_
    expected = clone(search["close"].best_estimator_).fit(*data)
    np.testing.assert_array_equal(model[-1].means_, expected[-1].means_)


_SCRIPT = """
import sys
import outfold as of
from outfold.fitting.sharing import register_family
from collect_estimators import Tally
from share_estimators import Scales, Shift
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline


class MyScales(Scales):
    name = "of this script"

register_family(MyScales())
path, log, n_jobs = sys.argv[1:]
X, y = make_classification(80, 6, random_state=2)
configs = of.grid("t", make_pipeline(Shift(), Tally(log=log, pause=0.05)), scale=[0.5, 1.0, 2.0], by=[0.0, 1.0])
of.collect(configs, X, y, of.Plan(folds=4, repeats=3), rng=5, store=path, n_jobs=int(n_jobs))
"""


@pytest.mark.parametrize(("n_jobs", "points"), [(1, (10,)), (2, (10,))])
def test_kill_and_resume_with_a_family_of_the_script(tmp_path, scripts, n_jobs, points):
    script, store, log = tmp_path / "script.py", tmp_path / "run.oof", str(tmp_path / "log")
    script.write_text(_SCRIPT)
    kill_at(points, lambda: scripts.start(script, store, log, n_jobs), log)
    scripts.run(script, store, log, 1)
    oof = load(store)
    assert oof.provenance["sharing"]["families"] == {"of this script": pytest.approx(72, abs=24)}
    X, y = make_classification(80, 6, random_state=2)
    configs = grid("t", make_pipeline(Shift(), Tally(log=log, pause=0.05)), scale=[0.5, 1.0, 2.0], by=[0.0, 1.0])
    same(oof, collect(configs, X, y, Plan(folds=4, repeats=3), rng=5, share=False))


def test_predictions_do_not_depend_on_the_other_configurations(data):
    X, y = data
    many = grid("ridge", make_pipeline(StandardScaler(), Ridge()), alpha=[0.1, 1, 10])
    one = {name: many[name] for name in list(many)[1:2]}
    together = collect(many, X, y.astype(float), PLAN)
    alone = collect(one, X, y.astype(float), PLAN)
    assert together.sel(list(one)).data.tobytes() == alone.data.tobytes()


def test_a_family_with_many_groups_is_proved_not_each_group(data):
    X, y = data
    configs = grid("ridge", RidgeClassifier(), tol=[1e-4 * i for i in range(1, 21)])
    shared = collect(configs, X, y, Plan(folds=2))
    assert 1 <= shared.provenance["sharing"]["checks"] <= 10
    assert shared.provenance["sharing"]["families"] == {"RidgeClassifier": 40}


def test_the_families_of_an_estimator_are_found_in_the_modules_of_its_package():
    for family in known_families():
        kind = type(family).__module__.rpartition(".")[2]
        module, _, name = family.estimator.rpartition(".")
        assert kind in modules_for(module), f"{name} has its family in {kind}"
