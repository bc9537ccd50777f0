"""What a model that learnt nothing scores, and where it is printed."""

import numpy as np
import pytest

import outfold as of
from internals import baseline, cli

Y = np.array(["a"] * 60 + ["b"] * 25 + ["c"] * 15)
TWO = np.array(["no"] * 86 + ["yes"] * 14)


def of_constant(y, label, metric):
    """The score of always predicting a label."""
    return of.from_arrays(y, np.full((len(y), 1), label), response="label").leaderboard(metric)


@pytest.mark.parametrize("metric", ["accuracy", "error", "balanced_accuracy", "recall_macro", "mcc", "cohen_kappa"])
@pytest.mark.parametrize(("y", "most"), [(Y, "a"), (TWO, "no")])
def test_labels_that_are_always_those_of_the_largest_class(y, most, metric):
    board = of_constant(y, most, metric)
    assert board.baseline.value == pytest.approx(board.scores[0], abs=1e-12)
    assert board.baseline.of == f"always predicting {most if metric in ('accuracy', 'error') else 'one class'}"


@pytest.mark.parametrize("metric", ["f1", "f2", "precision", "jaccard"])
def test_labels_that_are_always_positive(metric):
    board = of_constant(TWO, "yes", metric)
    assert board.baseline == (pytest.approx(board.scores[0], abs=1e-12), "always predicting yes")


@pytest.mark.parametrize("metric", ["log_loss", "roc_auc_ovr", "d2_log_loss_score"])
def test_shares_of_three_classes_as_probabilities(metric):
    P = np.broadcast_to([0.6, 0.25, 0.15], (100, 3))
    board = of.from_arrays(Y, P[:, None, None], response="proba").leaderboard(metric)
    assert board.baseline.value == pytest.approx(board.scores[0], abs=1e-12)


def test_unknown_levels_are_left_out():
    target = of.from_arrays(TWO, np.zeros(100), response="proba").target
    assert baseline(of.metrics.get("recall"), target) is None
    assert baseline(of.metrics.get("f1_macro"), target) is None
    points = of.from_arrays(None, np.ones((5, 2)), response="pointwise").leaderboard("mean")
    assert points.baseline is None
    assert points.to_dict()["baseline"] is None
    assert str(points).splitlines()[-1].lstrip().startswith("1  config 1")


def test_only_samples_that_count(tmp_path):
    # The first half is held out; it has the other majority.
    y = np.array([1] * 30 + [0] * 20 + [0] * 50)
    folds = np.where(np.arange(100) < 50, 0, -1)
    oof = of.from_arrays(y, np.full((100, 1), 0.5), folds=folds, response="proba")
    assert oof.leaderboard("accuracy").baseline == (0.6, "always predicting 1")


def test_leaderboard_command_and_report_print_it(tmp_path, capsys):
    rng = np.random.default_rng(0)
    P = np.clip(0.2 + 0.3 * (TWO == "yes")[:, None] + 0.1 * rng.normal(size=(100, 3)), 0, 1)
    oof = of.from_arrays(TWO, P, folds=rng.permutation(100) % 5, response="proba")
    line = "always predicting no: 0.8600"
    assert str(oof.leaderboard("accuracy")).splitlines()[-1] == line
    assert oof.leaderboard("accuracy").to_dict()["baseline"] == {"value": 0.86, "of": "always predicting no"}
    path = oof.save(tmp_path / "x.oof")
    assert cli.main(["show", str(path), "--metric", "accuracy"]) == 0
    assert f"\n{line}\n" in capsys.readouterr().out
    report = of.report(oof, "accuracy")
    rounded = "always predicting no: 0.86"  # digits of a report follow the interval
    assert ("baseline", rounded) in report.how
    assert rounded in report.to_html()
    assert rounded in report.to_markdown()
