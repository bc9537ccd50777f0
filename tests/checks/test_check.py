"""All checks at once: what is found, in which order, in which form, and what stays silent on healthy data."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import outfold as of
from conftest import make_predictions
from internals import CHECKS, cli
from outfold.exceptions import InputError, NeedError


@pytest.fixture(scope="module")
def troubled():
    """Groups on both sides, imbalanced classes, equal configurations."""
    rng = np.random.default_rng(0)
    y = np.array([1] * 15 + [0] * 85)
    P = rng.random((100, 6)) * 0.6
    P[:, 5] = P[:, 0]
    return of.from_arrays(y, P, folds=np.arange(100) % 5, groups=np.arange(100) // 4, response="proba")


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_diabetes])
def test_healthy_data_raise_no_alarm(load, repeats):
    X, y = load(return_X_y=True)
    if load is load_diabetes:
        configs = of.grid("ridge", make_pipeline(StandardScaler(), Ridge()), alpha=[0.1, 1, 10, 100, 1000])
        configs |= of.grid("knn", make_pipeline(StandardScaler(), KNeighborsRegressor()), n_neighbors=[5, 15])
    else:
        logit = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
        configs = of.grid("logit", logit, C=[0.001, 0.01, 0.1, 1, 10])
        configs |= of.grid("knn", make_pipeline(StandardScaler(), KNeighborsClassifier()), n_neighbors=[5, 15])
    oof = of.collect(configs, X, y, of.Plan(folds=10, repeats=repeats), progress=False)
    found = of.check(oof)
    assert found.ok
    # A winner may truly have led late, or stand at the edge of so small a grid.
    assert set(found.codes) <= {"OF533", "OF541"}
    assert {f.code for f in found if f.severity == "caution"} <= {"OF541"}


def test_errors_come_first_and_every_code_once(troubled):
    found = of.check(troubled, "accuracy")
    assert not found.ok
    severities = [("error", "caution", "tip").index(f.severity) for f in found]
    assert severities == sorted(severities)
    assert len(set(found.codes)) == len(found) == len(list(found))
    assert {"OF102", "OF501", "OF512"} <= set(found.codes)
    assert found[0].code == "OF102"
    assert found[:2] == found.findings[:2]
    for finding in found:
        check = CHECKS[finding.code]
        assert finding[3:] == (check.advice, check.source, f"checks/{check.code}.md")
        assert finding.text.endswith((".", "?"))


def test_ignored_codes_are_left_out(troubled):
    whole = of.check(troubled, "accuracy")
    found = of.check(troubled, "accuracy", ignore=["OF102", "OF512"])
    assert set(whole.codes) - set(found.codes) == {"OF102", "OF512"}
    assert found.ok
    assert found.ignored == ("OF102", "OF512")
    assert of.check(troubled, "accuracy", ignore="OF102").codes == tuple(c for c in whole.codes if c != "OF102")


@pytest.mark.parametrize(
    ("ignore", "says"),
    [
        (["OF999"], r"no check 'OF999'"),
        (["of501"], r"no check 'of501'. The nearest is OF501"),
        (501, "a list of codes"),
    ],
)
def test_unknown_codes_are_refused(troubled, ignore, says):
    with pytest.raises(InputError, match=says):
        of.check(troubled, "accuracy", ignore=ignore)


def test_other_arguments_are_refused(troubled):
    with pytest.raises(InputError, match="check needs Predictions"):
        of.check([1, 2, 3])
    with pytest.raises(InputError, match="unknown metric"):
        of.check(troubled, "acuracy")
    labels = of.from_arrays([0, 1, 0, 1], [0, 1, 1, 1], response="label")
    with pytest.raises(NeedError, match="roc_auc needs scores"):
        of.check(labels, "roc_auc")


def test_the_default_metric_is_that_of_the_task(troubled):
    assert of.check(troubled).metric == "roc_auc"
    assert of.check(make_predictions("mse")).metric == "r2"


def test_labels_are_judged_by_accuracy_where_no_metric_is_named():
    labels = of.from_arrays(np.arange(40) % 2, np.ones((40, 2), int), response="label")
    assert of.check(labels).metric == "accuracy"
    assert of.report(labels).estimate.metric == "accuracy"
    assert of.metrics.default("binary") == "roc_auc"


@pytest.mark.parametrize(
    "metric", ["accuracy", "roc_auc", "log_loss", "mse", "r2", "roc_auc_ovr", "concordance", "mean", "f1"]
)
@pytest.mark.parametrize(("repeats", "folds"), [(1, 5), (3, 4)])
def test_every_kind_of_predictions_can_be_checked(metric, repeats, folds):
    oof = make_predictions(metric, r=repeats, folds=folds)
    found = of.check(oof, metric)
    # The last configuration is a copy of the second.
    assert "OF512" in found.codes
    assert of.check(oof, metric) == found  # nothing is left to chance


def test_notes_are_findings_with_their_own_words(troubled):
    made = of.estimate.bbc(troubled, "roc_auc")
    texts = {f.code: f.text for f in of.check(troubled, "roc_auc")}
    for note in made.notes:
        assert texts[note.code] == note.text


def test_unfinished_cells_are_said():
    rng = np.random.default_rng(0)
    P = np.ma.array(rng.random((40, 3)), mask=False)
    P[:10, 1] = np.ma.masked
    oof = of.from_arrays(np.arange(40) % 2, P, folds=np.arange(40) // 10, response="proba")
    texts = {f.code: f.text for f in of.check(oof)}
    assert texts["OF206"] == "3 of 4 folds are done; the others do not count."


def test_text_frame_and_dict(troubled):
    found = of.check(troubled, "accuracy")
    text = str(found)
    assert re.match(r"1 error, \d caution.*: accuracy of 6 configurations on 100 samples, 5-fold\n", text)
    lines = text.splitlines()
    assert len(lines) == 1 + 2 * len(found)
    # Sentences and advice stand below each other.
    assert {line.index(f.text) for line, f in zip(lines[1::2], found, strict=True)} == {18}
    assert {line.index("-> ") for line in lines[2::2]} == {18}
    assert repr(found).startswith("<Checks: 1 error")
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["ok"] is False
    assert [f["code"] for f in facts["findings"]] == list(found.codes)
    pytest.importorskip("pandas", reason="a frame needs pandas")
    frame = found.to_frame("pandas")
    assert frame["code"].tolist() == list(found.codes)
    assert list(frame.columns) == ["code", "severity", "text", "advice", "source", "page"]
    assert "OF102" in found._repr_html_()


def test_nothing_found_is_said():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    P = 0.5 + 0.3 * (y - 0.5) + 0.1 * rng.normal(size=600)
    oof = of.from_arrays(y, np.clip(P, 0, 1), folds=np.arange(600) // 60)
    found = of.check(oof)
    assert found.ok
    assert len(found) == 0
    assert str(found) == "nothing found: roc_auc of 1 configuration on 600 samples, 10-fold"
    pytest.importorskip("pandas", reason="a frame needs pandas")
    assert len(found.to_frame()) == 0


# -- the command ----------------------------------------------------------------------------------------


def call(capsys, *arguments):
    code = cli.main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_command_prints_what_the_library_finds(capsys, troubled, tmp_path):
    path = troubled.save(tmp_path / "x.oof")
    all_found = of.check(troubled)
    note = f"note: outfold explain {all_found.codes[0]} says more\n"
    assert call(capsys, "check", path) == (0, f"{all_found}\n", note)
    found = of.check(troubled, "accuracy", ignore=["OF502", "OF512"])
    options = ("check", path, "--metric", "accuracy", "--ignore", "OF502,OF512")
    assert call(capsys, *options)[1] == f"{found}\n"
    assert json.loads(call(capsys, *options, "--format", "json")[1]) == json.loads(json.dumps(found.to_dict()))
    rows = list(csv.DictReader(io.StringIO(call(capsys, *options, "--format", "csv")[1])))
    assert [row["code"] for row in rows] == list(found.codes)


def test_strict_fails_on_errors_only(capsys, troubled, tmp_path):
    path = troubled.save(tmp_path / "x.oof")
    assert call(capsys, "check", path, "--strict")[0] == 1
    assert call(capsys, "check", path, "--strict", "--ignore", "OF102")[0] == 0
    assert call(capsys, "check", path)[0] == 0


def test_command_refuses_in_its_own_words(capsys, troubled, tmp_path):
    path = troubled.save(tmp_path / "x.oof")
    code, out, err = call(capsys, "check", path, "--ignore", "OF51")
    assert (code, out) == (2, "")
    assert "--ignore must hold codes of checks; there is no check 'OF51'" in err
