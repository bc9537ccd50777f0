import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import outfold as of
from collect_estimators import fits
from extras import pd
from internals import Roles, cli, read_table
from outfold.exceptions import InputError
from outfold.learners import spaces

FEW = ("logit(C=1)", "ridge(alpha=1)", "tree(max_depth=2, min_samples_leaf=1)", "tree(max_depth=3, min_samples_leaf=1)")


@pytest.fixture
def few(monkeypatch):
    """Three configurations of the ready space instead of all."""
    whole = spaces.make_space

    def make_space(*args):
        configs = whole(*args)
        return of.Configs({name: configs[name] for name in FEW if name in configs}, configs.params)

    monkeypatch.setattr(spaces, "make_space", make_space)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    n = 60
    frame = pd.DataFrame(
        {
            "id": [f"p{i:02d}" for i in range(n)],
            "age": rng.integers(20, 80, n),
            "x": rng.normal(size=n),
            "city": rng.choice(["a", "b", "c"], n),
            "constant": 1,
            "empty": np.nan,
            "note": [f"text {i}" for i in range(n)],
            "clinic": rng.integers(0, 12, n),
        }
    )
    value = frame["x"] + (frame["city"] == "a") + 0.5 * rng.normal(size=n)
    frame["outcome"] = np.where(value > 0.3, "yes", "no")
    frame["amount"] = value
    frame.loc[[3, 9], "x"] = np.nan
    frame.loc[5, "city"] = np.nan
    frame.loc[7, "outcome"] = np.nan
    path = tmp_path / "train.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def oof_file(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    P = 1 / (1 + np.exp(-(y[:, None] * 2 - 1 + rng.normal(scale=2, size=(60, 25)))))
    params = [{"C": float(j + 1)} for j in range(25)]
    oof = of.from_arrays(y, P, folds=np.arange(60) % 5, configs=[f"m{j}" for j in range(25)], params=params)
    return str(oof.save(tmp_path_factory.mktemp("oof") / "x.oof"))


def call(capsys, *argv):
    code = cli.main([str(a) for a in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def run_args(table, tmp_path, *more):
    where = ["-o", tmp_path / "out"]
    return ["run", table, "--target", "outcome", *where, "--folds", 3, "--repeats", 1, "--jobs", 1, *more]


# -- show -----------------------------------------------------------------------------------------------


def test_show_says_what_is_inside(capsys, oof_file):
    code, out, err = call(capsys, "show", oof_file)
    assert (code, err) == (0, "")
    oof = of.load(oof_file)
    assert out.startswith(f"{oof}\n\n{oof.leaderboard()}\n\n")
    assert f"outfold estimate {oof_file}\n" in out


def test_show_with_a_metric_ranks_and_warns_of_the_first(capsys, oof_file):
    code, out, _ = call(capsys, "show", oof_file, "--metric", "roc_auc")
    assert code == 0
    assert str(of.load(oof_file).leaderboard("roc_auc")) in out
    assert "optimistic: it was picked as the best of 25" in out
    assert f"outfold estimate {oof_file} --metric roc_auc" in out


def test_a_rule_that_was_a_function_is_no_option(capsys, oof_file, tmp_path):
    path = of.load(oof_file).selecting_by("roc_auc", rule=lambda scores: 0).save(tmp_path / "f.oof")
    _, shown, _ = call(capsys, "show", path)
    assert "The rule '<lambda>' is a function, which cannot be given on the command line." in shown
    assert "outfold estimate" not in shown  # it would fail
    code, _, error = call(capsys, "estimate", path)
    assert code == 2
    assert "Give the function itself in Python, not on the command line: oof.selecting_by(rule=...)." in error
    assert "--rule None" not in error
    _, shown, _ = call(capsys, "show", path, "--rule", "best")
    assert shown.endswith(f"outfold estimate {path} --rule best\n")


def test_show_as_json_and_csv(capsys, oof_file):
    board = of.load(oof_file).leaderboard("accuracy")
    _, out, _ = call(capsys, "show", oof_file, "--metric", "accuracy", "--format", "json")
    facts = json.loads(out)
    assert facts["samples"] == 60
    assert facts["classes"] == [0, 1]
    assert facts["leaderboard"]["configurations"][0]["config"] == board.configs[0]
    _, out, _ = call(capsys, "show", oof_file, "--metric", "accuracy", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [r["config"] for r in rows] == list(board.configs)
    assert float(rows[0]["score"]) == board.scores[0]
    _, out, _ = call(capsys, "show", oof_file, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert rows[0] == {"config": "m0", "pending": "0", "done": "5", "dropped": "0", "failed": "0"}


def test_json_has_null_where_a_number_is_undefined(capsys, tmp_path):
    path = of.from_arrays([0, 1, 0, 1], [[0.1], [0.9], [0.4], [0.6]]).save(tmp_path / "one.oof")
    _, out, _ = call(capsys, "show", path, "--metric", "accuracy", "--format", "json")
    assert json.loads(out)["leaderboard"]["configurations"][0]["se"] is None


# -- estimate -------------------------------------------------------------------------------------------


def test_estimate_is_the_library_call(capsys, oof_file):
    code, out, _ = call(
        capsys, "estimate", oof_file, "--metric", "roc_auc", "--resamples", 50, "--level", 0.9, "--seed", 3
    )
    expected = of.estimate.bbc(of.load(oof_file), "roc_auc", n_resamples=50, confidence_level=0.9, rng=3)
    assert code == 0
    assert out == f"{expected}\n"


def test_every_method_of_the_library_is_there(capsys, oof_file):
    _, out, _ = call(capsys, "estimate", "--help")
    assert "{" + ",".join(of.estimate.__all__) + "}" in out.replace("\n", "")
    for method in ("cvt", "tt"):
        code, out, _ = call(
            capsys, "estimate", oof_file, "--metric", "accuracy", "--method", method, "--format", "json"
        )
        assert code == 0
        assert json.loads(out)["method"] == method


def test_estimate_options(capsys, oof_file):
    cv = ["estimate", oof_file, "--metric", "accuracy", "--method", "cv", "--config", "m3", "--format", "json"]
    _, out, _ = call(capsys, *cv)
    assert json.loads(out)["selected"] == "m3"
    rule = ["--rule", "one_standard_error", "--complexity", "C", "--resamples", "20", "--stratify"]
    _, out, _ = call(capsys, "estimate", oof_file, "--metric", "accuracy", *rule, "--format", "json")
    words = "of the best pooled accuracy, of 25 configurations"
    assert json.loads(out)["rule"] == f"simplest by C within one standard error {words}"
    rule = ["--rule", "within", "--loss-percent", 2, "--complexity", "C", "--resamples", "20"]
    _, out, _ = call(capsys, "estimate", oof_file, "--metric", "accuracy", *rule, "--format", "json")
    assert json.loads(out)["rule"] == f"simplest by C within 2 percent {words}"


def test_estimate_as_csv_has_one_row(capsys, oof_file):
    _, out, _ = call(capsys, "estimate", oof_file, "--metric", "accuracy", "--resamples", 30, "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
    assert float(row["optimism"]) == pytest.approx(float(row["naive"]) - float(row["value"]))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_estimate_reads_tables_by_column_names(capsys, oof_file, tmp_path, ending):
    frame = of.load(oof_file).to_frame("pandas")
    names = {"sample": "who", "config": "model", "label": "truth", "prediction": "p", "fold": "k"}
    frame = frame.rename(columns=names)
    path = tmp_path / f"table.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    columns = ["--sample", "who", "--config-column", "model", "--label", "truth", "--prediction", "p", "--fold", "k"]
    code, out, _ = call(capsys, "estimate", path, "--metric", "roc_auc", *columns, "--format", "json")
    assert code == 0
    assert json.loads(out)["value"] == of.estimate.bbc(of.load(oof_file), "roc_auc").value
    _, out, _ = call(capsys, "show", path, "--metric", "roc_auc", *columns)
    assert f"outfold estimate {path} --sample who --config-column model" in out


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--metric", "rocauc"], "did you mean 'roc_auc'"),
        (
            ["--metric", "acuracy"],
            "did you mean 'accuracy' or 'top_k_accuracy'? Use one of accuracy, ",
        ),
        (["--metric", "accuracy", "--method", "cv", "--config", "x"], "; outfold show FILE lists the 25 there are."),
        (["--metric", "r2"], "r2 is for regression"),
        (
            ["--metric", "accuracy", "--method", "cvt", "--stratify"],
            "--stratify is not an option of cvt, which takes --rule",
        ),
        (["--metric", "accuracy", "--method", "cv", "--config", "m99"], "no configuration 'm99'"),
        (["--metric", "accuracy", "--method", "nested"], "Collect with outfold run --inner"),
        (["--metric", "accuracy", "--level", "2"], "between 0 and 1"),
        (["--metric", "accuracy", "--rule", "one_standard_error"], "needs --complexity"),
        (["--metric", "accuracy", "--complexity", "C"], "goes with --rule one_standard_error or within only"),
        (["--metric", "accuracy", "--rule", "within", "--complexity", "C"], "--rule within needs --loss-percent"),
        (["--metric", "accuracy", "--rule", "within", "--loss-percent", "2"], "--rule within needs --complexity"),
        (["--metric", "accuracy", "--loss-percent", "2"], "--loss-percent goes with --rule within only"),
        (
            ["--metric", "accuracy", "--rule", "within", "--complexity", "C", "--loss-percent", "-1"],
            "--loss-percent must be 0 or more",
        ),
        (["--metric", "accuracy", "--method", "magic"], "invalid choice: 'magic'"),
        (["--metric", "accuracy", "--sample", "id"], "needs no further arguments"),
        (["--aggregate", "folds"], "invalid choice: 'folds'"),
    ],
)
def test_wrong_usage_is_2_with_one_clear_line(capsys, oof_file, more, says):
    code, out, err = call(capsys, "estimate", oof_file, *more)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


def test_files_that_cannot_be_read_are_1(capsys, tmp_path):
    (tmp_path / "no.oof").write_text("not a database")
    for name in ("missing.oof", "no.oof", "missing.csv"):
        code, out, err = call(capsys, "estimate", tmp_path / name, "--metric", "accuracy")
        assert (code, out) == (1, "")
        assert err.startswith("outfold: ")
        assert err.count("\n") == 2
        assert err.endswith(f"\nnote: outfold explain {'files' if name.endswith('csv') else 'stores'} says more\n")


def test_a_table_without_the_column_lists_the_columns(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("who,p\n1,0.3\n")
    code, _, err = call(capsys, "estimate", path, "--metric", "accuracy")
    assert code == 2
    assert "who, p" in err


# -- run ------------------------------------------------------------------------------------------------


def test_run_gives_estimate_predictions_and_model(capsys, few, table, tmp_path):
    pytest.importorskip("skops.io")
    args = run_args(table, tmp_path, "--id", "id", "--group", "clinic", "--drop-columns", "amount")
    code, out, err = call(capsys, *args)
    assert code == 0
    assert "left out 1 row without a value of 'outcome'" in err
    assert "left out 'constant': the same value in every row" in err
    assert "left out 'empty': no value in any row" in err
    assert "left out 'note': text that differs in most rows" in err
    assert "classification of 'outcome' on 59 rows, 3 features, by roc_auc" in err
    oof = of.load(tmp_path / "out" / "run.oof")
    made = of.report(oof)
    assert out.startswith(f"{made.headline}\n\nBest pooled AUC of 3 configurations, before the correction")
    assert [name for name in oof.leaderboard().configs if f"  {name}" in out] == list(oof.leaderboard().configs)
    assert f"  {oof.selection().name}  (selected)\n" in out
    assert f"  next       outfold open {tmp_path / 'out'}\n" in out
    assert f"outfold predict {tmp_path / 'out'} new.csv -o predictions.csv" in out
    assert oof.completeness == 1.0
    assert list(oof.samples[:2]) == ["p00", "p01"]
    assert len(np.unique(oof.groups)) == 12
    model = of.load_model(tmp_path / "out")
    assert set(model.predict(pd.read_csv(table))) == {"yes", "no"}
    assert not (tmp_path / "out" / "search.oof").exists()  # nothing is left to try


def test_run_again_fits_nothing(capsys, few, table, tmp_path, monkeypatch):
    _, first, _ = call(capsys, *run_args(table, tmp_path))
    files = [tmp_path / "out" / name for name in ("model.skops", "model.json")]
    stamps = [f.stat().st_mtime_ns for f in files]
    n_fits = of.load(tmp_path / "out" / "run.oof").provenance["n_fits"]
    _, second, _ = call(capsys, *run_args(table, tmp_path))
    assert second == first
    assert [f.stat().st_mtime_ns for f in files] == stamps
    assert of.load(tmp_path / "out" / "run.oof").provenance["n_fits"] == n_fits == 9


def test_run_that_is_stopped_answers_and_goes_on_later(capsys, few, table, tmp_path, monkeypatch):
    from sklearn.tree import DecisionTreeClassifier

    with monkeypatch.context() as stopping:

        def stop(self, *args, **kwargs):
            raise KeyboardInterrupt

        stopping.setattr(DecisionTreeClassifier, "fit", stop)
        code, out, _ = call(capsys, *run_args(table, tmp_path))
    assert code == 130
    words = "stopped by Ctrl-C; the answer covers the 1 of 3 configurations that are finished."
    assert f"\nNot all configurations were tried: {words}\n" in out
    assert "run the same command again to try the others" in out
    assert of.load(tmp_path / "out" / "run.oof").configs == ("logit(C=1)",)
    assert of.load_model(tmp_path / "out").about.configuration == "logit(C=1)"
    code, resumed, _ = call(capsys, *run_args(table, tmp_path))
    assert code == 0
    _, whole, _ = call(capsys, *run_args(table, tmp_path / "other"))
    assert resumed.splitlines()[:6] == whole.splitlines()[:6]
    mine, other = (of.load(folder / "out" / "run.oof") for folder in (tmp_path, tmp_path / "other"))
    assert mine.configs == other.configs
    np.testing.assert_array_equal(mine.data, other.data)


def test_run_that_is_stopped_before_any_answer_says_how_to_go_on(capsys, few, table, tmp_path, monkeypatch):
    from sklearn.linear_model import LogisticRegression

    def stop(self, *args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(LogisticRegression, "fit", stop)
    code, out, err = call(capsys, *run_args(table, tmp_path))
    assert (code, out) == (130, "")
    assert re.fullmatch(
        rf"interrupted; 0 of 3 cells are in {tmp_path}/out/search.oof; start it again to go on\.", err.splitlines()[-1]
    )


_SLOW_SCRIPT = """
import sys
from collect_estimators import FrameTally
from outfold import cli
from outfold.fitting.configs import Configs
from outfold.learners import spaces

log, *argv = sys.argv[1:]
spaces.make_space = lambda *given: Configs({f"tally {i}": FrameTally(i + 1.0, log, 0.05) for i in range(6)})
sys.exit(cli.main(argv))
"""


@pytest.mark.parametrize(
    ("jobs", "moment", "number"),
    [(1, 12, signal.SIGINT), (2, 0, signal.SIGINT), (2, 1, signal.SIGTERM), (2, 12, signal.SIGTERM)],
)
def test_signals_in_a_terminal_leave_an_answer_or_one_line(tmp_path, scripts, jobs, moment, number):
    """A terminal sends Ctrl-C to the workers too, also to those that are just starting."""
    rng = np.random.default_rng(0)
    pd.DataFrame({"x": rng.normal(size=60), "y": np.arange(60) % 2}).to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "script.py").write_text(_SLOW_SCRIPT)
    log, store = str(tmp_path / "log"), tmp_path / "out" / "search.oof"
    command = [tmp_path / "script.py", log, "run", tmp_path / "train.csv", "--target", "y"]
    command += ["-o", tmp_path / "out", "--folds", 5, "--repeats", 1, "--jobs"]
    process = scripts.start(*command, jobs, output=tmp_path / "first")
    while not (store.exists() and fits(log) >= moment) and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.15)
    os.killpg(process.pid, number) if number == signal.SIGINT else os.kill(process.pid, number)
    code = process.wait(60)
    out, err = ((tmp_path / name).read_text() for name in ("first.out", "first.err"))
    assert code == (128 + number if out else 130)
    assert "Traceback" not in err
    if out:
        assert re.search(
            r"Not all configurations were tried: stopped by .*; the answer covers the \d of 6 configurations that are",
            out,
        )
        assert set(of.load(tmp_path / "out" / "run.oof").configs) < {f"tally {i}" for i in range(6)}
    else:
        assert moment < 12
        assert err.splitlines()[-1].endswith("search.oof; start it again to go on.")
    n, before = int(np.sum(of.load(store).state == of.State.DONE)), fits(log)
    assert n < 30
    # In one process, which starts sooner.
    assert scripts.start(*command, 1, output=tmp_path / "again").wait() == 0
    assert "Expect AUC" in (tmp_path / "again.out").read_text()
    assert fits(log) - before in (
        30 - n,
        30 - n + 1,
    )  # one on all samples, unless the answer before had the same winner
    assert of.load(tmp_path / "out" / "run.oof").completeness == 1.0


def test_run_with_another_metric_keeps_the_predictions(capsys, few, table, tmp_path):
    call(capsys, *run_args(table, tmp_path))
    code, out, _ = call(capsys, *run_args(table, tmp_path, "--metric", "log_loss", "--format", "json"))
    facts = json.loads(out)
    assert code == 0
    assert facts["metric"] == "log_loss"
    assert facts["model"] == str(tmp_path / "out" / "model.skops")
    code, out, _ = call(capsys, *run_args(table, tmp_path, "--format", "csv"))
    (row,) = csv.DictReader(io.StringIO(out))
    assert row["predictions"] == str(tmp_path / "out" / "run.oof")


def test_run_on_other_data_refuses_the_old_store(capsys, few, table, tmp_path):
    call(capsys, *run_args(table, tmp_path))
    code, out, err = call(capsys, *run_args(table, tmp_path, "--drop-columns", "x"))
    assert (code, out) == (1, "")
    assert "was made with other" in err
    assert f"delete the folder {tmp_path / 'out'} to start anew" in err


@pytest.mark.parametrize(("parameter", "got"), [("depht", "got 'depht', and the parameters are"), ("weights", "for ")])
def test_run_refuses_a_complexity_that_it_cannot_use_before_the_first_fit(
    capsys, few, table, tmp_path, monkeypatch, parameter, got
):
    monkeypatch.setattr("outfold.apps.run.collect", None)
    code, _, err = call(capsys, *run_args(table, tmp_path, "--rule", "one_standard_error", "--complexity", parameter))
    assert code == 2
    assert "outfold: error: --complexity must" in err
    assert got in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "differs"),
    [
        (["--folds", 4], "with another plan: folds 3 (now 4)"),
        (["--repeats", 2], "with another plan: repeats 1 (now 2)"),
        (["--test", 0.2], "without a test part (now with)"),
    ],
)
def test_run_with_another_plan_names_the_folder_and_both_plans(capsys, few, table, tmp_path, more, differs):
    call(capsys, *run_args(table, tmp_path))
    code, out, err = call(capsys, *run_args(table, tmp_path, *more))
    assert (code, out) == (1, "")
    assert f"outfold: the run in {tmp_path / 'out'} was made {differs}. To go on, give what it was made with." in err
    assert not (tmp_path / "out" / "search.oof").exists()


def test_run_regression_from_parquet(capsys, few, table, tmp_path):
    path = tmp_path / "train.parquet"
    pd.read_csv(table).to_parquet(path)
    args = ["run", path, "--target", "amount", "-o", tmp_path / "out", "--folds", 3, "--jobs", 1]
    code, out, err = call(capsys, *args, "--drop-columns", "outcome, id")
    assert code == 0
    assert "regression of 'amount' (--task classification if not)" in err
    assert out.startswith("Expect R2 ")


def test_run_without_skops_says_so_and_goes_on(capsys, few, table, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    code, out, err = call(capsys, *run_args(table, tmp_path))
    assert code == 0
    assert "skops is missing" in err
    assert "model.skops" not in out


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (["--target", "outcom"], 2, "Did you mean 'outcome'? The columns are: id, age"),
        (
            ["--target", "outcome", "--drop-columns", "agee"],
            2,
            "outfold: error: --drop-columns must name a column of the table; there is no column 'agee'. Did you mean 'age'? "
            "The columns are: id, age, x, city, constant, empty, note, clinic, outcome, amount.\n",
        ),
        (
            ["--target", "outcome", "--id", "city"],
            2,
            "outfold: error: --id must have a value in each row; 'city' is missing in 1 row, the first of them data row 6.\n",
        ),
        (["--target", "outcome", "--id", "clinic"], 2, "more than one row"),
        (["--target", "outcome", "--task", "regression"], 2, "Use --task classification"),
        (["--target", "outcome", "--metric", "rmse"], 2, "rmse is for regression"),
        (["--target", "outcome", "--positive", "maybe"], 2, "must name one of two classes"),
        (["--target", "empty"], 2, "missing in every row"),
        (
            ["--target", "constant"],
            2,
            "the target 'constant' must have at least two classes; it holds one class only (1).\n",
        ),
        (
            ["--target", "outcome", "--group", "constant"],
            2,
            "there is 1. Give groups that differ, or leave --group out if the samples do not belong together.\n",
        ),
        (
            ["--target", "outcome", "--repeats", "auto"],
            2,
            "must be a whole number, such as 20; got auto. Only collect(",
        ),
        (["--target", "outcome", "--repeats", "x"], 2, "must be a whole number, such as 20; got x\n"),
        (["--target", "outcome", "--seeds", "0"], 2, "--seeds must be a whole number of at least 1; got 0.\n"),
        (["--target", "outcome", "--folds", "1"], 2, "--folds must be a whole number of at least 2; got 1.\n"),
        (
            ["--target", "outcome", "--folds", "500"],
            2,
            "500 folds need at least 500 samples; there are 59. Use fewer folds.\n",
        ),
    ],
)
def test_run_wrong_usage(capsys, few, table, tmp_path, more, code, says):
    got, out, err = call(capsys, "run", table, "-o", tmp_path / "out", "--jobs", 1, *more)
    assert (got, out) == (code, "")
    assert says in err
    assert not (tmp_path / "out").exists()


def test_run_without_the_file_or_the_folder(capsys, table, tmp_path):
    code, _, err = call(capsys, "run", tmp_path / "none.csv", "--target", "y")
    assert (code, err) == (
        1,
        f"outfold: there is no file {tmp_path / 'none.csv'}.\nnote: outfold explain tables says more\n",
    )
    code, _, err = call(capsys, "run", table, "--target", "outcome", "-o", table)
    assert code == 1
    assert "cannot be made or used" in err


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 3] * 10, "classification"),
        ([1.0, 2.0, np.nan] * 10, "classification"),
        ([True, False] * 10, "classification"),
        (["a", "b"] * 10, "classification"),
        (list(range(30)), "regression"),
        ([0.5, 1.5] * 10, "regression"),
    ],
)
def test_task_is_told_from_the_target(tmp_path, values, kind):
    path = tmp_path / "t.csv"
    pd.DataFrame({"x": np.sin(range(len(values))), "y": values}).to_csv(path, index=False)
    table = read_table(path, Roles("y"))
    assert table.task == kind
    if kind == "classification":
        assert table.y.dtype.kind in "ibU"


def test_the_index_of_a_frame_is_no_feature(tmp_path):
    frame, said = pd.DataFrame({"x": [1.0, 2.5, 2.0, 3.0], "y": list("abab")}), []
    for index in (range(4), range(1, 5), [7, 2, 9, 4]):
        frame.set_axis(index).to_csv(tmp_path / "t.csv")
        assert list(read_table(tmp_path / "t.csv", Roles("y"), say=said.append).X) == ["x"]
        assert said.pop().startswith("left out 'Unnamed: 0': a first column without a name that numbers the rows")
    frame.insert(0, "number", range(4))
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert list(read_table(tmp_path / "t.csv", Roles("y")).X) == ["number", "x"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a,y\nKöln,1\n".encode("latin-1"), "Save it with the encoding UTF-8.\n"),
        (b"a;t;y\n1;x, y;1\n1;x, y, z;1\n1;x;1\n", "t.csv seems to be separated by semicolons. Save it with commas.\n"),
        (b"sample\tlabel\ta\n1\t0\t0.5\n", "t.csv seems to be separated by tabs. Save it with commas.\n"),
    ],
)
def test_tables_of_predictions_that_cannot_be_read_come_with_advice(capsys, tmp_path, content, says):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    code, _, err = call(capsys, "estimate", path, "--metric", "accuracy")
    assert code in (1, 2)
    assert says in err


@pytest.mark.parametrize(("option", "says"), [("--seed", "a whole number from 0"), ("--jobs", "a number of workers")])
def test_numbers_that_are_none(capsys, option, says):
    code, _, err = call(capsys, "run", "t.csv", "--target", "y", option, "x")
    assert code == 2
    assert f"argument {option}: must be {says}" in err
    assert err.endswith("got x\n")


def test_infinite_features_count_as_missing_and_dates_are_features(tmp_path):
    path = tmp_path / "t.parquet"
    dates = pd.date_range("2020-01-01", periods=4)
    pd.DataFrame({"x": [1.0, np.inf, 2.0, 3.0], "when": dates, "y": list("abab")}).to_parquet(path)
    said = []
    table = read_table(path, Roles("y"), say=said.append)
    assert table.X["x"].isna().tolist() == [False, True, False, False]
    assert table.columns.kinds == {"x": "number", "when": "date"}
    assert any("infinite" in text and "'x'" in text for text in said)
    with pytest.raises(InputError, match="no column to predict from"):
        read_table(path, Roles("y", leave_out=("x", "when")))


# -- all commands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["demo", "run", "show", "estimate"])
def test_help_has_an_example(capsys, command):
    code, out, _ = call(capsys, command, "--help")
    assert code == 0
    assert f"\n  outfold {command}" in out.partition("example")[2]


def test_help_of_all_commands_ends_with_first_steps(capsys):
    _, out, _ = call(capsys, "--help")
    first_steps = ["New here?", "Your own data?", "Predictions, eval logs?"]
    assert [line.split("  ")[0] for line in out.splitlines()[-3:]] == first_steps


def test_help_of_compare_names_configurations_of_a_run(capsys, table):
    _, out, _ = call(capsys, "compare", "--help")
    data = read_table(table, Roles("outcome"))
    assert set(re.findall(r'"(.+?)"', out)) <= set(spaces.make_space("small", data.X, data.y, data.task))
    assert "\n\nThe plan of the predictions" in out


def test_help_of_run_names_every_file(capsys, few, table, tmp_path):
    call(capsys, *run_args(table, tmp_path))
    _, out, _ = call(capsys, "run", "--help")
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert len(files) == 8
    assert all(name in out for name in files - {"progress.json"})


def test_demo(capsys, monkeypatch):
    called = {}
    monkeypatch.setattr("outfold.apps.demo.main", lambda *args, **options: called.update(args=args, **options))
    code, _, _ = call(capsys, "demo", "--samples", 40, "--times", 2, "--seed", 5, "--jobs", 1)
    assert code == 0
    assert called == {"args": (40, 2), "seed": 5, "n_jobs": 1}


def test_demo_with_a_wrong_size_is_2(capsys):
    code, _, err = call(capsys, "demo", "--samples", 5)
    assert code == 2
    assert "--samples must lie between 20 and 342" in err


@pytest.mark.parametrize("more", [("--jobs", "0"), ("--seed", "-1"), ("--seed", "x")])
def test_numbers_that_make_no_sense_are_2(capsys, more):
    code, out, err = call(capsys, "demo", *more)
    assert (code, out) == (2, "")
    assert more[0] in err


def test_no_command_is_wrong_usage(capsys):
    code, out, err = call(capsys)
    assert (code, out) == (2, "")
    assert "COMMAND" in err


def test_the_unexpected_is_one_line_and_a_traceback_with_debug(capsys, oof_file, monkeypatch):
    def broken(args):
        raise ZeroDivisionError("first line\nsecond line")

    monkeypatch.setattr("outfold.cli.commands.load", broken)
    code, out, err = call(capsys, "show", oof_file)
    assert (code, out) == (1, "")
    assert err == "outfold: unexpected ZeroDivisionError: first line (--debug shows where)\n"
    with pytest.raises(ZeroDivisionError):
        cli.main(["show", oof_file, "--debug"])


def test_a_reader_that_went_away_is_no_error(capsys, oof_file, monkeypatch):
    def gone(args):
        raise BrokenPipeError

    monkeypatch.setattr("outfold.cli.commands.load", gone)
    assert call(capsys, "show", oof_file) == (0, "", "")


def process(*argv, **env):
    source = os.path.dirname(os.path.dirname(of.__file__))
    path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", *argv], capture_output=True, env={**os.environ, "PYTHONPATH": path, **env}, check=False
    )


def test_ctrl_c_while_a_command_loads_is_one_line(capsys, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("outfold.cli.build_parser", interrupted)
    assert call(capsys, "demo") == (130, "", "interrupted\n")
    # What takes long to load is loaded where Ctrl-C is looked for; half loaded, NumPy cannot be imported again.
    code = (
        "import sys\n"
        "from outfold import cli\n"
        "def stop(): raise KeyboardInterrupt\n"
        "cli.build_parser = stop\n"
        "sys.exit(cli.main(['demo']) + ('numpy' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 130


def test_as_a_process(oof_file):
    done = process("outfold", "--version")
    assert (done.returncode, done.stdout.split()) == (0, [b"outfold", of.__version__.encode()])
    assert process("outfold", "estimate", "nothing.oof", "--metric", "accuracy").returncode == 1


def test_a_terminal_without_unicode_is_served(oof_file):
    done = process("outfold", "show", oof_file, "--metric", "roc_auc", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"and 5 more" in done.stdout


# -- targets as they stand in the file ------------------------------------------------------------------


def target_of(tmp_path, cells, **options):
    path = tmp_path / "t.csv"
    rows = [f"{i / 7},{cell}" for i, cell in enumerate(cells)]
    path.write_text("\n".join(["x,y", *rows]) + "\n")
    notes = []
    table = read_table(path, Roles("y"), say=notes.append, **options)
    return table, notes


def test_words_for_missing_are_no_classes(tmp_path):
    table, notes = target_of(tmp_path, ["NA", "EU", "None", "nan", "", "EU", "NA"])
    assert table.y.tolist() == ["EU", "None", "EU"]
    what = (
        "left out 4 rows without a value of 'y' ('NA', 'nan' count as none); if it is a label, write it in another way"
    )
    assert notes[0] == what
    assert [(part.n, part.why) for part in table.left_out] == [
        (4, what.partition("left out 4 rows ")[2].partition(";")[0])
    ]


def test_two_words_are_two_classes_whatever_they_mean(tmp_path):
    table, notes = target_of(tmp_path, ["None", "nan", "None", "nan"])
    assert table.y.tolist() == ["None", "nan", "None", "nan"]
    assert notes == []


def test_a_word_that_may_mean_missing_is_named(tmp_path):
    table, notes = target_of(tmp_path, ["US", "EU", "unknown", "EU", "US"])
    assert table.y.tolist() == ["US", "EU", "unknown", "EU", "US"]
    assert "'unknown' is taken as a class (1 row); empty these cells if they have no label" in notes


def test_few_words_among_many_numbers_are_no_labels(tmp_path):
    numbers = [f"{i / 4:.2f}" for i in range(40)]
    table, notes = target_of(tmp_path, [*numbers, "not done", "NA"])
    assert (table.task, table.y.tolist()) == ("regression", [i / 4 for i in range(40)])
    assert notes[0] == "left out 2 rows without a value of 'y' ('not done', 'NA' count as none)"
    few, _ = target_of(tmp_path, ["1", "2", "3", "high", "1", "2", "3", "high", "1", "2"])
    assert few.y.tolist() == ["1", "2", "3", "high", "1", "2", "3", "high", "1", "2"]


def test_codes_are_classes(tmp_path):
    table, _ = target_of(tmp_path, ["01", "02", "10", "01", "02", "10"])
    assert table.y.tolist() == ["01", "02", "10", "01", "02", "10"]


def test_a_target_of_names_is_refused(tmp_path):
    with pytest.raises(
        InputError, match=r"the target .y. has 30 classes in 40 rows .* repeat too seldom\. Name another"
    ):
        target_of(tmp_path, [f"Mr {i % 30}" for i in range(40)])


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d.%m.%Y", None])
def test_a_date_is_refused_as_a_target(tmp_path, written):
    dates = pd.date_range("2020-01-30", periods=40, freq="9D")
    path = tmp_path / "table.parquet"
    pd.DataFrame({"x": np.arange(40.0), "y": dates.strftime(written) if written else dates}).to_parquet(path)
    for task in (None, "regression"):
        with pytest.raises(
            InputError, match=r"the target 'y' is a date, such as .*2020.* Predict a number, .* use time and event"
        ):
            read_table(path, Roles("y"), task=task)


def test_dates_that_repeat_may_be_classes(tmp_path):
    table, _ = target_of(tmp_path, ["2020-01-30", "2021-01-30"] * 10)
    assert (table.task, set(table.y.tolist())) == ("classification", {"2020-01-30", "2021-01-30"})


def test_words_for_missing_among_numbers_are_missing(tmp_path):
    table, notes = target_of(tmp_path, ["1.5", "NA", "2.5", "", "4"])
    assert (table.task, table.y.tolist()) == ("regression", [1.5, 2.5, 4.0])
    assert notes == ["left out 2 rows without a value of 'y'"]


@pytest.mark.parametrize("missing", [[], [""]])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_whole_numbers_stay_exact(tmp_path, missing, task):
    large = 2**53
    table, _ = target_of(tmp_path, [large, large + 1, *missing, large, large + 1], task=task)
    assert table.y.dtype.kind == "i"
    assert table.y.tolist() == [large, large + 1, large, large + 1]


# -- help where something is wrong ----------------------------------------------------------------------


def test_semicolons_are_recognised(capsys, few, table, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sample;label;y\n1;0;0.3\n")
    for argv in (["show", path], ["estimate", path, "--metric", "accuracy"]):
        code, _, err = call(capsys, *argv)
        assert code == 1  # the command is right, the file is not
        assert "t.csv seems to be separated by semicolons. Save it with commas." in err
    path.write_text("sample,label\n1,0\n")
    assert "semicolons" not in call(capsys, "show", path)[2]
    pd.read_csv(table).to_csv(path, index=False, sep=";", decimal=",")
    code, _, err = call(capsys, *run_args(path, tmp_path))
    assert code == 0
    assert "note: t.csv is separated by semicolons, decimal comma" in err


def test_run_with_inner_gives_nested_cross_validation_too(capsys, few, table, tmp_path):
    code, out, err = call(capsys, *run_args(table, tmp_path, "--inner"))
    assert code == 0, err
    assert "nested CV" in out
    code, out, _ = call(capsys, *run_args(table, tmp_path, "--inner", "--format", "json"))
    facts = json.loads(out)
    assert facts["nested"]["method"] != facts["method"]
    assert facts["nested"]["n_samples"] == facts["n_samples"]
    code, out, _ = call(capsys, *run_args(table, tmp_path, "--inner", "--format", "csv"))
    assert code == 0
    assert out.count("\n") == 3


def test_run_explains_and_shares(capsys, few, table, tmp_path):
    code, out, err = call(capsys, *run_args(table, tmp_path, "--explain", "--format", "json"))
    assert code == 0, err
    assert json.loads(out)["metric"] == "roc_auc"
    assert "configurations on 3 hold-outs" in err
    assert of.load(tmp_path / "out" / "run.oof").provenance["sharing"]["level"] == "exact"
    code, _, err = call(capsys, *run_args(table, tmp_path, "--share", "none", "--explain"))
    assert code == 0, err
    assert "nothing is shared" in err
    code, _, err = call(capsys, *run_args(table, tmp_path, "--share", "close"))
    assert code == 1
    assert "share='exact' (now 'close')" in err


def test_errors_speak_of_options(capsys, few, table, tmp_path):
    code, _, err = call(capsys, *run_args(table, tmp_path, "--inner", "--folds", 2))
    assert code == 2
    assert "--inner needs at least 3 folds" in err
    assert "Use --folds 3 or more" in err
    code, _, err = call(capsys, *run_args(table, tmp_path, "--timeout", "nan"))
    assert code == 2
    assert "--timeout must be a number of seconds above 0" in err
    call(capsys, *run_args(table, tmp_path))
    code, _, err = call(capsys, *run_args(table, tmp_path, "--seed", 5))
    assert code == 1
    assert f"Use another --out, or delete the folder {tmp_path / 'out'} to start anew." in err
    assert not (tmp_path / "out" / "search.oof").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_output_that_cannot_be_written_is_one_line(oof_file):
    source = os.path.dirname(os.path.dirname(of.__file__))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "outfold", "show", oof_file],
            stdout=full,
            stderr=subprocess.PIPE,
            env=env,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"outfold: the output could not be written (No space left on device).\n"


# -- words ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "code", "word"),
    [
        ("run", "n_jobs", "--jobs"),
        ("run", "n_jobs=-1", "--jobs -1"),
        ("run", "inner=True", "--inner"),
        ("run", "inner=False", None),
        ("run", "Plan(folds=10)", "--folds 10"),
        ("run", "Plan(folds=10, repeats=3)", "--folds 10 --repeats 3"),
        ("run", "Plan.bootstrap(200)", None),
        ("run", "positive='very good'", "--positive 'very good'"),
        ("run", "groups=...", "--group COL"),
        ("run", "store", "--out"),
        ("run", "task='survival'", None),
        ("estimate", "n_resamples", "--resamples"),
        ("estimate", "confidence_level=0.9", "--confidence-level 0.9"),
        ("estimate", "config=", "--config-column"),
        ("estimate", "config", "--config"),
        ("show", "config", "--config-column"),
        ("estimate", "inner=True", "outfold run --inner"),
        ("estimate", "Plan(folds=3)", "outfold run --folds 3"),
        ("estimate", "response='value'", "--response value"),
        ("estimate", "collect(response='proba')", None),
        ("estimate", "collect(inner=True)", "outfold run --inner"),
        ("estimate", "rule=...", "--rule {best,one_standard_error,within}"),
        ("estimate", "metric=...", "--metric M"),
        ("estimate", "rule=mine", None),
        ("compare", "rng", "--seed"),
        ("advise", "n_samples", "samples"),
    ],
)
def test_the_words_for_the_code_of_the_library(command, code, word):
    parser, run_parser = cli.build_parser()
    needed = {"run": ["x.csv", "--target", "y"], "estimate": ["x.oof", "--metric", "m"], "advise": ["80", "10"]}
    args = parser.parse_args([command, *needed.get(command, ["x.oof"])])
    assert cli._word(code, args.parser, run_parser) == word
