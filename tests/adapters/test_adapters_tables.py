"""Tables of R and of WEKA.

``samples/mlr3.csv`` and ``samples/tidymodels.csv`` have the documented form of ``as.data.table`` and ``collect_predictions``.
``samples/weka.csv`` and ``weka.arff`` have the columns and quotes of the Experimenter of WEKA 3.9, with simulated results.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import outfold as of
from extras import pd
from outfold.adapters import read_mlr3, read_tidymodels, read_weka, read_weka_table
from outfold.cli import main
from outfold.exceptions import InputError

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture
def frames():
    pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")


@pytest.mark.usefixtures("frames")
def test_predictions_of_mlr3():
    oof = read_mlr3(SAMPLES / "mlr3.csv", positive="ill")
    table = pd.read_csv(SAMPLES / "mlr3.csv")
    assert oof.configs == ("classif.rpart", "classif.ranger")
    assert (oof.n_samples, oof.n_repeats, oof.response) == (40, 2, "proba")
    right = (table["truth"] == table["response"]).groupby(table["learner_id"]).mean()
    board = oof.leaderboard("accuracy", "pooled")
    assert dict(zip(board.configs, board.scores, strict=True)) == pytest.approx(right.to_dict())
    first = table[(table["row_ids"] == oof.samples[0]) & (table["learner_id"] == "classif.rpart")]
    assert oof.data[0, 0, 0] == pytest.approx(first["prob.ill"].iloc[0])
    assert of.estimate.bbc(oof, "roc_auc", n_resamples=100).selected in oof.configs


@pytest.mark.usefixtures("frames")
def test_splits_of_mlr3_that_overlap_are_repeats(tmp_path):
    rows = ["row_ids,truth,response,iteration", "1,1.5,1,1", "2,2.5,2,1", "2,2.5,2,2", "3,3.5,3,2"]
    (tmp_path / "rounds.csv").write_text("\n".join(rows))
    oof = read_mlr3(tmp_path / "rounds.csv", response="value")
    assert oof.n_repeats == 2
    assert (oof.folds >= 0).tolist() == [[True, False], [True, True], [False, True]]


@pytest.mark.usefixtures("frames")
def test_predictions_of_tidymodels():
    oof = read_tidymodels(SAMPLES / "tidymodels.csv", positive="ill")
    assert oof.configs == tuple(f"Preprocessor1_Model{i}" for i in (1, 2, 3))
    assert oof.params[1] == {"cost_complexity": 1e-10, "tree_depth": 4}
    assert (oof.n_samples, oof.n_repeats, oof.n_folds) == (40, 2, 4)
    table = pd.read_csv(SAMPLES / "tidymodels.csv")
    right = (table[".pred_class"] == table["outcome"]).groupby(table[".config"]).mean()
    board = oof.leaderboard("accuracy", "pooled")
    assert dict(zip(board.configs, board.scores, strict=True)) == pytest.approx(right.to_dict())


@pytest.mark.usefixtures("frames")
def test_tables_of_other_columns_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"t.csv has no column 'row_ids' or 'truth'; its columns are a, b"):
        read_mlr3(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"no column '.row' or 'id'"):
        read_tidymodels(tmp_path / "t.csv")
    with pytest.raises(InputError, match="label must be one of the columns"):
        read_tidymodels(SAMPLES / "tidymodels.csv", label="nothing")


def results():
    with (SAMPLES / "weka.csv").open() as lines:
        return list(csv.DictReader(lines, quotechar="'"))


def test_results_of_weka():
    oof = read_weka(SAMPLES / "weka.csv", dataset="iris")
    assert oof.configs == ("trees.J48", "rules.ZeroR", "bayes.NaiveBayes")
    assert (oof.n_samples, oof.n_repeats, oof.n_folds) == (50, 2, 5)
    own = [float(r["Percent_correct"]) for r in results() if r["Key_Dataset"] == "iris" and "J48" in r["Key_Scheme"]]
    assert np.array_equal(oof.scores()[0].ravel(), own)
    assert of.estimate.tt(oof).metric == "Percent_correct"
    assert of.compare.t_corrected(oof, None, "trees.J48", "rules.ZeroR").pvalue < 0.001
    errors = read_weka(SAMPLES / "weka.csv", dataset="iris", metric="Root_mean_squared_error")
    assert errors.selection().metric == "neg_Root_mean_squared_error"
    assert errors.selection().score < 0


def test_the_arff_of_weka_equals_its_csv():
    one, other = (read_weka(SAMPLES / f"weka.{ending}", dataset="wine") for ending in ("csv", "arff"))
    assert one.configs == other.configs
    assert np.allclose(one.scores(), other.scores(), atol=1e-4)


def test_means_of_weka_make_a_table_for_ranks(tmp_path):
    table = read_weka_table(SAMPLES / "weka.csv")
    assert table["dataset"] == ["iris", "wine"]
    board = read_weka(SAMPLES / "weka.csv", dataset="iris").leaderboard()
    assert table["trees.J48"][0] == pytest.approx(dict(zip(board.configs, board.scores, strict=True))["trees.J48"])
    with pytest.raises(InputError, match="dataset must name one of the data sets: iris, wine; there are several"):
        read_weka(SAMPLES / "weka.csv")
    with pytest.raises(InputError, match="metric must be one of the columns of results"):
        read_weka(SAMPLES / "weka.csv", dataset="iris", metric="Luck")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(
        InputError, match=r"t.csv must hold results of WEKA's Experimenter; there is no column Key_Dataset"
    ):
        read_weka(tmp_path / "t.csv")


def test_random_splits_of_weka(tmp_path):
    head = "Key_Dataset,Key_Run,Key_Scheme,Number_of_training_instances,Number_of_testing_instances,Percent_correct"
    rows = [f"iris,{run},{s},100,50,{80 + run + d}" for s, d in (("A", 0), ("B", 3)) for run in range(1, 11)]
    (tmp_path / "splits.csv").write_text("\n".join([head, *rows]))
    oof = read_weka(tmp_path / "splits.csv")
    assert (oof.n_samples, oof.n_repeats, oof.n_folds) == (150, 10, 1)
    assert np.all((oof.folds == 0).sum(axis=0) == 50)
    assert of.compare.t_corrected(oof, None, "A", "B").difference == pytest.approx(-3)


def test_the_command_line_reads_results_of_weka(tmp_path, capsys):
    out = tmp_path / "iris.oof"
    assert main(["read", str(SAMPLES / "weka.csv"), "--from", "weka", "--dataset", "iris", "-o", str(out)]) == 0
    assert main(["estimate", str(out)]) == 0
    assert "Percent_correct of the selected configuration" in capsys.readouterr().out
