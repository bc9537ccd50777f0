"""Optuna, MLflow, skore, AutoGluon and the export; stand-ins where a library is not a test dependency."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from extras import pd, pl
from internals import store
from outfold.cli import main
from outfold.exceptions import FileError, InputError

X, Y = make_classification(60, 5, flip_y=0.2, random_state=0)


def own_score(model, X, y):
    return model.score(X, y)


def simulated(folds=10):
    return of.simulate.correctness(60, 4, accuracy=0.7, folds=folds).oof


# -- Optuna --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def optuna():
    module = pytest.importorskip("optuna", reason="optuna is not installed (outfold[optuna])")
    module.logging.set_verbosity(module.logging.WARNING)
    return module


def scores_of(x, n=10):
    return (0.7 + 0.1 * x + 0.05 * np.random.default_rng(int(1000 * x)).normal(size=n)).tolist()


def test_fold_scores_of_a_study(optuna):
    def objective(trial):
        scores = scores_of(trial.suggest_float("x", 0, 1))
        trial.set_user_attr("fold_scores", scores)
        return float(np.mean(scores))

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=12)
    oof = of.adapters.from_study(study, n_samples=100, metric="auc")
    assert oof.configs[3] == "trial 3"
    assert oof.params[3] == study.trials[3].params
    assert oof.selection().score == pytest.approx(study.best_value)
    assert oof.selection().name == f"trial {study.best_trial.number}"
    found = of.estimate.bbc_f(oof)
    assert found.value < found.naive == pytest.approx(study.best_value)
    again = of.adapters.from_study(study, n_samples=100, metric="auc")
    assert again.fingerprint == oof.fingerprint
    with pytest.raises(InputError, match="n_samples must be given for scores of folds"):
        of.adapters.from_study(study)


def test_a_study_that_minimizes_and_prunes(optuna):
    def objective(trial):
        scores = scores_of(trial.suggest_float("x", 0, 1), 5)
        if trial.number == 1:
            trial.set_user_attr("fold_scores", scores[:2])
            raise optuna.TrialPruned
        trial.set_user_attr("fold_scores", scores)
        return float(np.mean(scores))

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(objective, n_trials=4)
    oof = of.adapters.from_study(study, n_samples=50)
    assert oof.selection().metric == "neg_score"
    assert -oof.selection().score == pytest.approx(study.best_value)
    assert (oof.state[1, 0] == of.State.DROPPED).tolist() == [False, False, True, True, True]


def test_predictions_of_a_study(optuna):
    def objective(trial):
        tree = DecisionTreeClassifier(max_depth=trial.suggest_int("max_depth", 1, 4), random_state=0)
        proba = cross_val_predict(tree, X, Y, cv=KFold(5), method="predict_proba")[:, 1]
        trial.set_user_attr("predictions", proba.tolist())
        return float(np.mean((proba > 0.5) == Y))

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=5)
    oof = of.adapters.from_study(study, y=Y, folds=np.repeat(range(5), 12))
    assert (oof.n_configs, oof.response, oof.n_folds) == (5, "proba", 5)
    assert of.estimate.bbc(oof, "accuracy", n_resamples=100).naive == study.best_value
    assert oof.provenance == {"source": "Optuna"}


@pytest.mark.parametrize("classes", [False, True], ids=["one column", "a column for each class"])
def test_predictions_of_trials_that_did_not_end_well(optuna, classes):
    """A pruned trial has the folds that it has; failed and running trials are left out, whatever they kept."""
    folds = np.repeat(range(5), 12)

    def objective(trial):
        trial.suggest_int("max_depth", 1, 4)
        proba = np.random.default_rng(trial.number).random(60)
        if trial.number == 1:
            proba[folds >= 2] = np.nan
        trial.set_user_attr("predictions", (np.stack([1 - proba, proba], axis=1) if classes else proba).tolist())
        if trial.number == 1:
            raise optuna.TrialPruned
        if trial.number == 2:
            raise RuntimeError("no memory")
        return float(np.mean((proba > 0.5) == Y))

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=4, catch=(RuntimeError,))
    study.ask({"max_depth": optuna.distributions.IntDistribution(1, 4)}).set_user_attr("predictions", [0.5] * 60)
    oof = of.adapters.from_study(study, y=Y, folds=folds)
    assert oof.configs == ("trial 0", "trial 1", "trial 3")
    assert oof.params[2] == study.trials[3].params
    done, dropped = of.State.DONE, of.State.DROPPED
    assert oof.state[:, 0].tolist() == [[done] * 5, [done] * 2 + [dropped] * 3, [done] * 5]
    assert oof.selection("accuracy").score == pytest.approx(study.best_value)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_words_of_a_pruned_trial_may_be_missing(optuna, missing):
    words, folds = np.where(Y == 1, "ill", "well"), np.repeat(range(5), 12)

    def objective(trial):
        kept = words.tolist()
        if trial.number == 1:
            kept[24:] = [missing] * 36
        trial.set_user_attr("predictions", kept)
        if trial.number == 1:
            raise optuna.TrialPruned
        return 1.0

    study = optuna.create_study(direction="maximize")
    study.optimize(objective, n_trials=3)
    oof = of.adapters.from_study(study, y=words, folds=folds)
    assert oof.response == "label"
    assert (oof.state[1, 0] == of.State.DROPPED).tolist() == [False] * 2 + [True] * 3
    assert oof.scores("accuracy")[[0, 2]].min() == 1


@pytest.mark.parametrize("kept", [{"0": 0.1, "1": 0.2}, "0.1, 0.2", 0.5, [[0.1, 0.2], [0.3, 0.4]], ["a", "b"]])
def test_scores_of_folds_are_a_list_of_numbers(optuna, kept):
    study = optuna.create_study()
    study.optimize(lambda trial: trial.set_user_attr("fold_scores", kept) or 0.0, n_trials=2)
    with pytest.raises(InputError, match="fold_scores must be a list of numbers, one for each fold; trial 0 has"):
        of.adapters.from_study(study, n_samples=20)


def test_what_is_no_study_and_unknown_options_are_refused(optuna, tmp_path):
    """A callback refuses them before the study begins, not in the middle of it."""
    study = optuna.create_study()
    study.optimize(lambda trial: trial.set_user_attr("fold_scores", [0.1, 0.2]) or 0.0, n_trials=2)
    with pytest.raises(
        InputError, match=r"study must be a study of Optuna; got list\. Read several studies one by one"
    ):
        of.adapters.from_study([study, study], n_samples=20)
    for call in (lambda **options: of.adapters.from_study(study, **options), of.adapters.StudyCallback):
        with pytest.raises(InputError, match=r"'positive' is not an option for scores of folds\. Options such as"):
            call(n_samples=20, positive="ill")
        with pytest.raises(InputError, match="'grops' is not an option for predictions"):
            call(y=Y, grops=Y)
        with pytest.raises(InputError, match="n_samples must be given for scores of folds"):
            call()
    with pytest.raises(FileError, match=r"the folder .*none does not exist"):
        of.adapters.StudyCallback(n_samples=20, store=tmp_path / "none" / "study.oof")


def test_a_callback_refuses_several_objectives_after_the_first_trial(optuna):
    study = optuna.create_study(directions=["maximize", "minimize"])
    with pytest.raises(InputError, match="the study has several objectives; one is needed"):
        study.optimize(lambda trial: (0.0, 0.0), n_trials=5, callbacks=[of.adapters.StudyCallback(n_samples=20)])
    assert len(study.trials) == 1


def test_predictions_of_too_few_samples_are_refused(optuna):
    study = optuna.create_study()
    study.optimize(lambda trial: trial.set_user_attr("predictions", [0.5] * 24) or 0.0, n_trials=1)
    needed = r"predictions must have one prediction for each of the 60 samples; those of trial 0 have the shape \(24,\)"
    with pytest.raises(InputError, match=needed):
        of.adapters.from_study(study, y=Y)


def test_a_callback_tells_while_the_study_runs(optuna, tmp_path):
    def objective(trial):
        scores = scores_of(trial.suggest_float("x", 0, 1))
        trial.set_user_attr("fold_scores", scores)
        return float(np.mean(scores))

    said = []
    live = of.adapters.StudyCallback(every=5, n_samples=80, store=tmp_path / "study.oof", tell=said.append)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=11, callbacks=[live])
    assert [line.partition(":")[0] for line in said] == ["5 trials", "10 trials"]
    assert live.estimate.value < live.estimate.naive
    assert study.user_attrs["outfold"]["corrected"] == live.estimate.value
    assert of.load(tmp_path / "study.oof").n_configs == 10


def test_a_callback_waits_for_the_first_trial_that_keeps_scores(optuna):
    def objective(trial):
        scores = scores_of(trial.suggest_float("x", 0, 1))
        if trial.number == 3:
            trial.set_user_attr("fold_scores", scores[:1])
            raise optuna.TrialPruned
        if trial.number > 3:
            trial.set_user_attr("fold_scores", scores)
        return float(np.mean(scores))

    said = []
    live = of.adapters.StudyCallback(every=2, n_samples=80, tell=said.append)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=8, callbacks=[live])
    assert [line.partition(":")[0] for line in said] == ["6 trials", "8 trials"]
    assert live.oof.configs == ("trial 3", "trial 4", "trial 5", "trial 6", "trial 7")


def test_a_study_without_attributes_is_refused(optuna):
    study = optuna.create_study()
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    with pytest.raises(InputError, match="no finished trial has the user attribute 'fold_scores'"):
        of.adapters.from_study(study, n_samples=10)
    with pytest.raises(InputError, match="no finished trial has the user attribute 'predictions'"):
        of.adapters.from_study(study, y=Y)


# -- MLflow ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    """The part of MLflow's interface that is used, on a folder for each run; that of the active run is `folder`."""
    store = SimpleNamespace(metrics={}, tags={}, folder=tmp_path / "abc")

    def log_artifact(local_path, artifact_path=None):
        (store.folder / artifact_path).mkdir(parents=True, exist_ok=True)
        shutil.copy(local_path, store.folder / artifact_path)

    def download_artifacts(*, run_id, artifact_path, dst_path):
        if not (tmp_path / run_id).exists():
            raise OSError("no such run")
        return shutil.copy(tmp_path / run_id / artifact_path, Path(dst_path))

    module = ModuleType("mlflow")
    module.log_metrics, module.set_tags = store.metrics.update, store.tags.update
    module.log_artifact = log_artifact
    module.artifacts = SimpleNamespace(download_artifacts=download_artifacts)
    monkeypatch.setitem(sys.modules, "mlflow", module)
    return store


def test_a_run_of_mlflow_there_and_back(mlflow):
    oof = simulated()
    found = of.adapters.log_mlflow(oof, "mean")
    assert mlflow.metrics["outfold_estimate"] == found.value
    assert mlflow.metrics["outfold_low"] == found.interval.low
    assert mlflow.metrics["outfold_optimism"] == pytest.approx(found.naive - found.value)
    assert mlflow.tags["outfold.selected"] == found.selected
    assert "<html" in (mlflow.folder / "outfold" / "report.html").read_text()
    again = of.adapters.read_mlflow("abc")
    assert again.fingerprint == oof.fingerprint
    with pytest.raises(FileError, match=r"the run xyz has no outfold/predictions.oof \(no such run\)"):
        of.adapters.read_mlflow("xyz")


def test_names_that_several_runs_share_get_the_run_behind_them(mlflow):
    oof, other = simulated(), simulated()
    names = [(f"{i}" * 32) for i in range(3)]
    for name in names:
        mlflow.folder = mlflow.folder.with_name(name)
        of.adapters.log_mlflow(oof, "mean", report=False)
    joined = of.adapters.read_mlflow(names)
    assert joined.configs == tuple(f"{config} [{name[:8]}]" for name in names for config in oof.configs)
    assert np.array_equal(joined.data, np.concatenate([other.data] * 3, axis=1))


@pytest.mark.parametrize("most", [0, 1 << 26], ids=["left in the file", "read at once"])
def test_predictions_of_mlflow_outlive_the_files_they_came_in(mlflow, monkeypatch, most):
    monkeypatch.setattr(store, "_AT_ONCE", most)
    grid = of.grid("tree", DecisionTreeClassifier(random_state=0), max_depth=[1, 2])
    one = of.collect(grid, X, Y, of.Plan(folds=3), inner=True, progress=False)
    other = of.collect({"logit": LogisticRegression()}, X, Y, of.Plan(folds=3), inner=True, progress=False)
    of.adapters.log_mlflow(one, "accuracy", report=False)
    mlflow.folder = mlflow.folder.with_name("def")
    of.adapters.log_mlflow(other, "accuracy", report=False)
    again = of.adapters.read_mlflow("abc")
    assert np.array_equal(again.data, one.data)
    assert np.array_equal(again.blocks["inner"].data, one.blocks["inner"].data, equal_nan=True)
    both = of.adapters.read_mlflow(["abc", "def"])
    assert both.configs == (*one.configs, "logit")
    assert np.array_equal(both.data, np.concatenate([one.data, other.data], axis=1))


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(InputError, match=r"MLflow is not installed. Run: pip install mlflow"):
        of.adapters.read_mlflow("abc")


# -- skore and AutoGluon -----------------------------------------------------------------------------------------------------


class Report:
    """The part of skore's CrossValidationReport that is used."""

    def __init__(self, estimator, cv):
        self.estimator, self.y, self.split_indices = estimator, Y, tuple(cv.split(X, Y))

    def get_predictions(self, *, data_source, response_method="predict"):
        assert data_source == "test"
        fitted = ((self.estimator.fit(X[train], Y[train]), test) for train, test in self.split_indices)
        return [getattr(model, response_method)(X[test]) for model, test in fitted]


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_reports_of_skore_give_what_collect_gives(method):
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0)
    models = {"logit": LogisticRegression(), "tree": DecisionTreeClassifier(max_depth=2, random_state=0)}
    reports = {name: Report(model, cv) for name, model in models.items()}
    oof = of.adapters.from_skore(reports, response_method=method)
    collected = of.collect(models, X, Y, of.Plan.from_cv(cv), progress=False)
    assert oof.fingerprint == collected.fingerprint
    assert np.allclose(oof.scores("accuracy"), collected.scores("accuracy"))
    assert of.adapters.from_skore(SimpleNamespace(reports_=reports)).configs == ("logit", "tree")


def test_what_a_model_of_skore_cannot_predict_is_named():
    reports = {"tree": Report(DecisionTreeClassifier(), KFold(3))}
    with pytest.raises(
        InputError, match=r"response_method must be a method of each model; 'tree': .*decision_function"
    ):
        of.adapters.from_skore(reports, response_method="decision_function")
    with pytest.raises(InputError, match="response_method must be 'predict', 'predict_proba' or 'decision_function'"):
        of.adapters.from_skore(reports, response_method="proba")
    with pytest.raises(InputError, match="reports must be cross-validation reports of skore; there is none"):
        of.adapters.from_skore({})


def test_reports_of_skore_on_other_splits_are_refused():
    reports = {str(seed): Report(LogisticRegression(), KFold(4, shuffle=True, random_state=seed)) for seed in (0, 1)}
    with pytest.raises(InputError, match="the report '1' has other labels or splits than the first one"):
        of.adapters.from_skore(reports)
    with pytest.raises(InputError, match="reports must be cross-validation reports of skore"):
        of.adapters.from_skore(SimpleNamespace())


def test_reports_of_skore_tell_the_task_and_the_positive_class():
    reports = {"tree": Report(DecisionTreeClassifier(random_state=0), KFold(4))}
    reports["tree"].pos_label = 0
    assert of.adapters.from_skore(reports, response_method="predict_proba").target.classes.tolist() == [1, 0]
    whole = np.arange(len(Y))  # whole numbers, as many as samples: only the report tells that they are no classes
    reports["tree"] = Report(DecisionTreeClassifier(), KFold(4))
    reports["tree"].y, reports["tree"].ml_task = whole, "regression"
    reports["tree"].get_predictions = lambda **_: [test + 0.5 for _, test in reports["tree"].split_indices]
    assert of.adapters.from_skore(reports).scores("mae").ravel().tolist() == [0.5] * 4


@pytest.fixture
def skore():
    return pytest.importorskip("skore", reason="skore is not installed")


@pytest.mark.parametrize(
    ("model", "labels", "metrics"),
    [
        (GaussianNB(), Y, {"accuracy": "accuracy", "roc_auc": "roc_auc", "brier_score": "brier"}),
        (RidgeClassifier(), np.where(Y, "yes", "no"), {"accuracy": "accuracy", "roc_auc": "roc_auc"}),
        (GaussianNB(), np.arange(len(Y)) % 3, {"accuracy": "accuracy", "log_loss": "log_loss"}),
        (Ridge(), X[:, 0] * 10, {"r2": "r2", "mae": "mae"}),
    ],
)
def test_a_report_of_skore_has_the_stored_predictions(skore, model, labels, metrics):
    oof = of.collect({"m": model}, X, labels, of.Plan(folds=4, repeats=2), progress=False)
    report = of.adapters.to_skore(oof, X)
    shown = report.metrics.summarize().frame(aggregate="mean").squeeze()
    for theirs, ours in metrics.items():
        assert shown[theirs] == pytest.approx(oof.scores(ours).mean()), theirs
    method = "predict" if oof.response in ("label", "value") else oof.response.replace("proba", "predict_proba")
    back = of.adapters.from_skore(report, response_method=method.replace("score", "decision_function"))
    assert back.fingerprint == oof.fingerprint
    np.testing.assert_array_equal(back.data, oof.data)


def test_a_report_of_skore_says_what_stored_predictions_cannot_tell(skore):
    models = {"nb": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2)}
    oof = of.collect(models, X, Y, of.Plan(folds=4), progress=False)
    report = of.adapters.to_skore(oof, X, configs=["nb", "tree"])
    assert isinstance(report, skore.ComparisonReport)
    one = report.reports_["nb"]
    with pytest.raises(InputError, match="of held-out samples only"):
        one.metrics.accuracy(data_source="train")
    with pytest.raises(InputError, match="what a model would predict for changed features"):
        one.inspection.permutation_importance()
    codes = {check.partition(" ")[0] for check in one.checks.available()}
    assert "SKD003" in codes
    assert not codes & {"SKD001", "SKD002", "SKD010", "SKD012"}  # they would pass without having looked


def test_models_that_look_up_what_they_predict():
    from outfold.adapters import _skore as module

    oof = of.collect({"nb": GaussianNB()}, X, Y, of.Plan(folds=4, repeats=2), progress=False)
    rows = pytest.importorskip("pandas").DataFrame(X)
    model = clone(module.StoredClassifier(module._Stored(oof, rows)))
    train, test = oof.splits.train_rows(1, 2), oof.splits.test_rows(1, 2)
    model.fit(rows.iloc[train], Y[train])
    np.testing.assert_array_equal(model.predict_proba(rows.iloc[test])[:, 1], oof.data[1, 0, test])
    assert model.predict(rows.iloc[test]).tolist() == oof.respond("label")[1, 0, test].tolist()
    assert not hasattr(model, "decision_function")
    with pytest.raises(InputError, match="no model that was trained on these samples"):
        model.fit(rows.iloc[train[1:]])
    with pytest.raises(InputError, match="of held-out samples only"):
        model.predict(rows.iloc[train])
    with pytest.raises(InputError, match="changed features"):
        model.predict(rows.iloc[test] + 1)


def test_what_cannot_be_a_report_of_skore_is_refused(skore):
    oof = of.collect({"nb": GaussianNB()}, X, Y, of.Plan(folds=4), progress=False)
    with pytest.raises(InputError, match=f"X must have one row for each of the {len(Y)} samples; got 3"):
        of.adapters.to_skore(oof, X[:3])
    with pytest.raises(InputError, match="to_skore needs predictions of folds; these are one test set"):
        of.adapters.to_skore(of.from_arrays(Y, oof.data[0, 0]), X)
    with pytest.raises(InputError, match="to_skore needs predicted classes or values; these predictions are pointwise"):
        of.adapters.to_skore(of.from_arrays(None, np.eye(6), response="pointwise"), X[:6])


class Predictor:
    """The part of AutoGluon's TabularPredictor that is used."""

    def __init__(self, problem_type):
        self.problem_type = problem_type

    def model_names(self):
        return ["Good_BAG_L1", "Bad_BAG_L1", "Single", "WeightedEnsemble_L2"]

    def _found(self, model):
        if model == "Single":
            raise AssertionError("Model Single is not a bagged model")
        rng = np.random.default_rng(len(model))
        return rng, 2.0 if "Good" in model else 0.2

    def predict_proba_oof(self, model):
        rng, skill = self._found(model)
        p = 1 / (1 + np.exp(-skill * (2 * Y - 1) - rng.normal(size=60)))
        return pd.DataFrame({"yes": p, "no": 1 - p})

    def predict_oof(self, model):
        rng, skill = self._found(model)
        return Y + rng.normal(size=60) / skill


def test_predictions_of_autogluon():
    oof = of.adapters.from_autogluon(Predictor("binary"), np.array(["no", "yes"])[Y])
    assert oof.configs == ("Good_BAG_L1", "Bad_BAG_L1")
    assert oof.response == "proba"
    assert oof.leaderboard("roc_auc").configs[0] == "Good_BAG_L1"
    values = of.adapters.from_autogluon(Predictor("regression"), Y + 0.5)
    assert values.response == "value"
    with pytest.raises(InputError, match="the model 'Single' has no out-of-fold predictions"):
        of.adapters.from_autogluon(Predictor("binary"), Y, models=["Single"])


class Refitted(Predictor):
    """It dropped the row of a rare class, put the others into another order, and fitted a model again on all samples."""

    positive_class = "no"

    def model_names(self):
        return [*super().model_names(), "Good_BAG_L1_FULL"]

    def model_refit_map(self):
        return {"Good_BAG_L1": "Good_BAG_L1_FULL"}

    def predict_proba_oof(self, model):
        return super().predict_proba_oof(model)[:0:-1].assign(rare=0.0)


def test_dropped_rows_and_refitted_models_of_autogluon():
    whole = of.adapters.from_autogluon(Predictor("binary"), np.array(["no", "yes"])[Y], positive="no")
    labels = pd.Series(np.array(["no", "yes"])[Y])
    labels[0] = "rare"
    oof = of.adapters.from_autogluon(Refitted("binary"), labels)
    assert oof.configs == ("Good_BAG_L1", "Bad_BAG_L1")
    assert oof.target.classes.tolist() == ["yes", "no"]
    assert oof.samples.tolist() == list(range(59, 0, -1))
    assert np.array_equal(oof.data, whole.data[:, :, :0:-1])
    assert np.array_equal(oof.y, whole.y[:0:-1])
    with pytest.raises(InputError, match="y must have a label for each of the 59 samples"):
        of.adapters.from_autogluon(Refitted("binary"), np.array(["no", "yes"])[Y])


def test_whole_numbers_as_labels_of_a_regression_of_autogluon():
    assert of.adapters.from_autogluon(Predictor("regression"), Y).response == "value"


# -- export ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_the_long_table_has_all_blocks(backend):
    pytest.importorskip(backend)
    grid = of.grid("tree", DecisionTreeClassifier(random_state=0), max_depth=[1, 2])
    oof = of.collect(grid, X, Y, of.Plan(folds=3), inner=True, progress=False)
    table = of.adapters.to_table(oof, backend)
    names = table["block"].to_list()
    assert names.count("oof") == 120
    assert set(names) == {"oof", "inner"}
    assert json.loads(table["params"].to_list()[0]) == {"max_depth": 1}
    with pytest.raises(InputError, match="scores of folds, without predictions"):
        of.adapters.to_table(of.collect(grid, X, Y, 3, response="none", scorers={"own": own_score}, progress=False))


def test_an_unknown_library_of_tables_and_a_folder_that_is_not_there_are_refused(tmp_path):
    oof = of.from_arrays([0, 1], [0.1, 0.8])
    for backend in ("zz", 3):
        with pytest.raises(InputError, match=f"backend must be 'pandas', 'polars' or 'pyarrow'; got {backend!r}"):
            of.adapters.to_table(oof, backend)
    for name in ("all.csv", "all.parquet"):
        with pytest.raises(FileError, match=r"the folder .*nofolder does not exist\. Make it"):
            of.adapters.write_table(oof, tmp_path / "nofolder" / name)


def test_the_rows_of_the_block_oof_are_read_back(tmp_path):
    grid = of.grid("tree", DecisionTreeClassifier(random_state=0), max_depth=[1, 2])
    oof = of.collect(grid, X, Y, of.Plan(folds=3), inner=True, progress=False)
    table = pd.read_csv(of.adapters.write_table(oof, tmp_path / "all.csv"))
    table[table["block"] == "oof"].to_csv(tmp_path / "oof.csv", index=False)
    again = of.read(tmp_path / "oof.csv")
    assert again.configs == oof.configs
    assert np.array_equal(again.data, oof.data)
    with pytest.raises(InputError, match="one row for each is needed"):
        of.read(tmp_path / "all.csv")


def test_pyarrow_tables_there_and_back():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (outfold[frames])")
    oof = of.from_arrays(
        np.array(["no", "yes"])[Y], X[:, :2], configs=["a", "b"], folds=np.arange(60) % 5, response="score"
    )
    table = oof.to_frame("pyarrow")
    assert isinstance(table, pa.Table)
    columns = {name: name for name in ("sample", "config", "label", "prediction", "fold", "repeat")}
    again = of.from_frame(table, **columns, response="score")
    assert again.fingerprint == oof.fingerprint
    assert np.array_equal(again.data, oof.data)
    assert of.adapters.to_table(oof, "pyarrow").num_rows == 120


def test_export_writes_one_file(tmp_path, capsys):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (outfold[frames])")
    file = simulated().save(tmp_path / "run.oof")
    assert main(["export", str(file), "-o", str(tmp_path / "all.parquet")]) == 0
    table = pl.read_parquet(tmp_path / "all.parquet")
    assert table.height == 240
    assert main(["export", str(file), "-o", str(tmp_path / "all.txt")]) == 2
    assert "must end in .parquet or .csv" in capsys.readouterr().err


@pytest.mark.parametrize("package", [of.adapters, of.learners], ids=lambda package: package.__name__)
def test_names_that_are_imported_at_need_are_listed(package):
    assert {*package.__all__} <= {*dir(package)}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing


def test_configurations_and_fold_scores_have_a_table_for_notebooks():
    grid = of.grid("tree<1>", DecisionTreeClassifier(), max_depth=[1, 2])
    assert "<td>tree&lt;1&gt;(max_depth=2)</td><td>DecisionTreeClassifier</td>" in grid._repr_html_()
    scores = of.from_scores({"a": [0.8, 0.7, 0.9], "b": [0.7, np.nan, 0.8]}, n_train=60, n_test=30)
    assert "<td>b</td><td>0.7500</td>" in scores._repr_html_()
