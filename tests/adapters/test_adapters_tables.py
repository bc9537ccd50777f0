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
from outfold.exceptions import FileError, InputError

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
def test_a_benchmark_of_several_tasks_needs_one(tmp_path):
    head = "task_id,learner_id,iteration,row_ids,truth,response,prob.M,prob.R,weights"
    rows = [
        f"{task},{learner},{1 + row % 2},{row},{'MR'[row % 2]},M,{p + row / 100},{1 - p - row / 100},1"
        for task in ("sonar", "spam")
        for learner, p in (("classif.rpart", 0.4), ("classif.ranger", 0.6))
        for row in range(1, 9)
    ]
    (tmp_path / "b.csv").write_text("\n".join([head, *rows]))
    with pytest.raises(InputError, match=r"task must name one of the tasks: sonar, spam; there are several"):
        read_mlr3(tmp_path / "b.csv")
    oof = read_mlr3(tmp_path / "b.csv", task="spam", positive="M")
    assert (oof.n_samples, oof.n_folds, oof.configs) == (8, 2, ("classif.rpart", "classif.ranger"))
    np.testing.assert_allclose(oof.data[0, 1], 0.6 + np.arange(1, 9) / 100)
    with pytest.raises(InputError, match=r"task needs a column task_id; the table has none"):
        read_mlr3(SAMPLES / "mlr3.csv", task="spam")


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
def test_names_and_columns_of_tune_2(tmp_path):
    """Names are pre0_mod1_post2 there; a tuned threshold varies the labels alone; Bayesian search has a column .iter."""
    head = ".pred_class,.pred_No,.pred_Yes,id,id2,Class,.row,cut,.iter,.config"
    rows = [
        f"{'Yes' if row / 12 > cut else 'No'},{1 - row / 12},{row / 12},Repeat1,Fold{1 + row % 3},{truth},{row},{cut},0,{name}"
        for cut, name in ((0.3, "pre0_mod0_post1"), (0.6, "iter01"))
        for row, truth in zip(range(1, 10), ["No"] * 5 + ["Yes"] * 4, strict=True)
    ]
    (tmp_path / "t.csv").write_text("\n".join([head, *rows]))
    oof = read_tidymodels(tmp_path / "t.csv", positive="Yes")
    assert (oof.configs, oof.n_folds, oof.n_repeats) == (("pre0_mod0_post1", "iter01"), 3, 1)
    assert oof.params == ({"cut": 0.3}, {"cut": 0.6})
    table = pd.read_csv(tmp_path / "t.csv")
    right = (table[".pred_class"] == table["Class"]).groupby(table[".config"]).mean()
    assert dict(zip(oof.configs, oof.scores("accuracy").mean(axis=(1, 2)), strict=True)) == pytest.approx(
        right.to_dict()
    )
    assert oof.scores("roc_auc").ravel().tolist() == [1] * 6


@pytest.mark.usefixtures("frames")
def test_tables_of_other_columns_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"t.csv has no column 'row_ids' or 'truth'; its columns are a, b"):
        read_mlr3(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"no column '.row' or 'id'"):
        read_tidymodels(tmp_path / "t.csv")
    with pytest.raises(InputError, match="label must be one of the columns"):
        read_tidymodels(SAMPLES / "tidymodels.csv", label="nothing")


def test_missing_labels_and_probabilities_are_named(tmp_path):
    path = tmp_path / "t.csv"
    rows = ["row_ids,truth,response,iteration", "1,a,a,1", "2,b,a,1", "3,,a,2", "4,b,b,2"]
    path.write_text("\n".join(rows))
    with pytest.raises(InputError, match=r"column 'truth' has no value in some rows; each row needs one\. Leave these"):
        read_mlr3(path)
    rows = [".row,y,.pred_class,id,.config", "1,a,a,Fold1,m", "2,b,a,Fold1,m", "3,,a,Fold2,m", "4,b,b,Fold2,m"]
    path.write_text("\n".join(rows))
    with pytest.raises(InputError, match="column 'y' has no value in some rows"):
        read_tidymodels(path)
    path.write_text("row_ids,truth,prob.a,prob.b,iteration\n1,a,0.5,0.5,1\n2,b,,,1\n3,b,0.25,0.75,2\n4,a,1,0,2")
    with pytest.raises(InputError, match="1 predictions are NaN or infinite, the first for sample 2"):
        read_mlr3(path)


@pytest.mark.parametrize("tool", ["mlr3", "tidymodels"])
def test_regressions_of_whole_numbers(tmp_path, tool):
    """No row says that it is a regression, and 0 and 1 could be classes."""
    if tool == "mlr3":
        lines = ["row_ids,truth,response,iteration", *(f"{i},{i % 3},{0.4 * i},{1 + i % 2}" for i in range(8))]
    else:
        lines = [".row,y,.pred,id,.config", *(f"{i},{i % 2},{i % 2},Fold{1 + i % 2},m" for i in range(8))]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    read = {"mlr3": of.adapters.read_mlr3, "tidymodels": of.adapters.read_tidymodels}[tool]
    oof = read(path)
    assert (oof.response, oof.target.task) == ("value", "regression")
    if tool == "mlr3":  # 1.0 is the class 1
        path.write_text("row_ids,truth,response,iteration\n1,0,0.0,1\n2,1,1.0,1\n3,1,0.0,2\n4,0,0.0,2")
        assert read(path).response == "label"


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


def weka_of(path, metric, values=(1, 2)):
    head = f"Key_Dataset,Key_Run,Key_Scheme,Number_of_training_instances,Number_of_testing_instances,{metric}"
    rows = [f"iris,{run},{s},100,50,{value}" for s, value in zip("AB", values, strict=True) for run in range(1, 6)]
    path.write_text("\n".join([head, *rows]))
    return path


@pytest.mark.parametrize(
    "metric",
    [
        *("False_positive_rate", "False_negative_rate", "Num_false_positives", "Num_false_negatives"),
        *("Weighted_avg_false_positive_rate", "Number_incorrect", "Percent_incorrect", "Percent_unclassified"),
        *("Relative_absolute_error", "SF_mean_scheme_entropy", "UserCPU_Time_testing", "Elapsed_Time_training"),
        *("Total_cost", "measureOutOfBagError"),
    ],
)
def test_errors_and_costs_of_weka_are_better_if_smaller(tmp_path, metric):
    board = read_weka(weka_of(tmp_path / "results.csv", metric), metric=metric).leaderboard()
    assert (board.configs, board.scores[0]) == (("A", "B"), -1)


@pytest.mark.parametrize(
    "metric",
    [
        *("Number_correct", "Kappa_statistic", "True_positive_rate", "Num_true_negatives", "IR_recall", "F_measure"),
        *("Matthews_correlation", "Weighted_avg_area_under_PRC", "SF_entropy_gain", "KB_mean_information"),
        *("Correlation_coefficient", "Unweighted_macro_avg_F_measure"),
    ],
)
def test_other_scores_of_weka_are_better_if_greater(tmp_path, metric):
    assert read_weka(weka_of(tmp_path / "results.csv", metric), metric=metric).leaderboard().configs == ("B", "A")


@pytest.mark.parametrize("metric", ["measureTreeSize", "SF_prior_entropy", "Serialized_Model_Size", "Date_time"])
def test_results_of_weka_of_unknown_direction_need_one(tmp_path, metric):
    path = weka_of(tmp_path / "results.csv", metric)
    with pytest.raises(
        InputError, match=rf"whether greater is better; got '{metric}'\. Give greater_is_better=False for"
    ):
        read_weka(path, metric=metric)
    assert read_weka(path, metric=metric, greater_is_better=False).selection().metric == f"neg_{metric}"
    assert read_weka(path, metric=metric, greater_is_better=True).leaderboard().configs == ("B", "A")
    with pytest.raises(InputError, match="greater_is_better must be"):
        read_weka(path, metric=metric, greater_is_better="no")


def test_underscores_of_weka_are_no_numbers(tmp_path):
    path = weka_of(tmp_path / "results.csv", "Percent_correct", values=("1_0", 2))
    assert np.isnan(read_weka(path).scores()[0]).all()
    path.write_text(path.read_text().replace("iris,1,", "iris,1_0,"))
    with pytest.raises(FileError, match=r"results\.csv could not be read .*'?1_0'?"):
        read_weka(path)


@pytest.mark.parametrize("read", [read_weka, read_weka_table])
def test_two_results_of_weka_in_one_place_are_refused(tmp_path, read):
    path = weka_of(tmp_path / "results.csv", "Percent_correct")
    with pytest.raises(InputError, match=r"two results of A on iris in run 1\. Give each file once"):
        read([path, path])
    path.write_text(folds_of_weka(145, 10, {"fold": 1}))
    with pytest.raises(InputError, match=r"two results of J48 on iris in run 1, fold 1\."):
        read(path)


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


def folds_of_weka(n, folds, changed=None):
    """The lines of one scheme on n samples; `changed` replaces texts of the second fold."""
    head = "Key_Dataset,Key_Run,Key_Fold,Key_Scheme,Number_of_training_instances,Number_of_testing_instances,Percent_correct"
    sizes = [n // folds + (k < n % folds) for k in range(folds)]
    rows = [{"run": 1, "fold": k + 1, "train": n - size, "test": size} for k, size in enumerate(sizes)]
    rows[1] |= changed or {}
    return "\n".join([head, *("iris,{run},{fold},J48,{train},{test},{fold}0".format(**row) for row in rows)])


def test_folds_of_weka_of_different_sizes_have_all_samples(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(folds_of_weka(145, 10))
    assert read_weka(path).n_samples == 145


@pytest.mark.parametrize(
    ("changed", "error", "match"),
    [
        (
            {"test": "?"},
            InputError,
            r"Number_of_testing_instances must be a whole number .* it is '\?' for J48 in run 1",
        ),
        ({"train": "20261118.0559"}, InputError, "Number_of_training_instances must be a whole number"),
        ({"run": "first"}, FileError, r"results.csv could not be read as results of WEKA's .* \(could not convert"),
        ({"run": "inf"}, FileError, "results.csv could not be read as results of WEKA's Experimenter"),
    ],
    ids=["an unknown size", "a size that is none", "a text as run", "a run without end"],
)
def test_results_of_weka_that_are_none_are_refused(tmp_path, changed, error, match):
    path = tmp_path / "results.csv"
    path.write_text(folds_of_weka(145, 10, changed))
    with pytest.raises(error, match=match):
        read_weka(path)


@pytest.mark.parametrize("read", [read_weka, read_weka_table])
def test_results_of_weka_in_another_encoding_are_refused(tmp_path, read):
    path = tmp_path / "results.csv"
    path.write_bytes(folds_of_weka(145, 10, {"run": "é"}).encode("latin-1"))
    with pytest.raises(FileError, match=r"results.csv could not be read as .*\. Save it with the encoding UTF-8\."):
        read(path)


@pytest.mark.usefixtures("frames")
def test_an_unknown_option_is_no_fault_of_the_file():
    with pytest.raises(TypeError, match="unexpected keyword argument 'luck'"):
        read_mlr3(SAMPLES / "mlr3.csv", luck=1)


def test_the_command_line_reads_results_of_weka(tmp_path, capsys):
    out = tmp_path / "iris.oof"
    assert main(["read", str(SAMPLES / "weka.csv"), "--from", "weka", "--dataset", "iris", "-o", str(out)]) == 0
    assert main(["estimate", str(out)]) == 0
    assert "Percent_correct of the selected configuration" in capsys.readouterr().out
