"""Optuna, MLflow, skore, AutoGluon and the export; stand-ins where a library is not a test dependency."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from extras import pd, pl
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
    assert of.estimate.bbc(oof, "accuracy", n_resamples=100).naive == pytest.approx(study.best_value, abs=0.02)


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


def test_a_study_without_attributes_is_refused(optuna):
    study = optuna.create_study()
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    with pytest.raises(InputError, match="no trial has the user attribute 'fold_scores' or 'predictions'"):
        of.adapters.from_study(study, n_samples=10)


# -- MLflow ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    """The part of MLflow's interface that is used, on a folder."""
    store = SimpleNamespace(metrics={}, tags={}, folder=tmp_path / "run")

    def log_artifact(local_path, artifact_path=None):
        (store.folder / artifact_path).mkdir(parents=True, exist_ok=True)
        shutil.copy(local_path, store.folder / artifact_path)

    def download_artifacts(*, run_id, artifact_path, dst_path):
        if run_id not in ("abc", "def"):
            raise OSError("no such run")
        return shutil.copy(store.folder / artifact_path, Path(dst_path))

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
    assert of.adapters.read_mlflow(["abc", "def"]).n_configs == 8
    with pytest.raises(FileError, match=r"the run xyz has no outfold/predictions.oof \(no such run\)"):
        of.adapters.read_mlflow("xyz")


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


def test_reports_of_skore_on_other_splits_are_refused():
    reports = {str(seed): Report(LogisticRegression(), KFold(4, shuffle=True, random_state=seed)) for seed in (0, 1)}
    with pytest.raises(InputError, match="the report '1' has other labels or splits than the first one"):
        of.adapters.from_skore(reports)
    with pytest.raises(InputError, match="reports must be cross-validation reports of skore"):
        of.adapters.from_skore(SimpleNamespace())


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


def test_configurations_and_fold_scores_have_a_table_for_notebooks():
    grid = of.grid("tree<1>", DecisionTreeClassifier(), max_depth=[1, 2])
    assert "<td>tree&lt;1&gt;(max_depth=2)</td><td>DecisionTreeClassifier</td>" in grid._repr_html_()
    scores = of.from_scores({"a": [0.8, 0.7, 0.9], "b": [0.7, np.nan, 0.8]}, n_train=60, n_test=30)
    assert "<td>b</td><td>0.7500</td>" in scores._repr_html_()
