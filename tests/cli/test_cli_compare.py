"""The commands that compare and rank."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import outfold as of
from extras import pd
from internals import TESTS, cli
from outfold import compare, rank


@pytest.fixture(scope="module")
def artifact():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    strength = np.array([4.0, 1.0, 1.0, 1.0])
    P = 1 / (1 + np.exp(-(strength * (y[:, None] - 0.5) + rng.normal(size=(120, 4)))))
    return of.from_arrays(y, P, folds=np.arange(120) % 5, configs=["good", "x", "y", "z"], response="proba")


@pytest.fixture(scope="module")
def file(artifact, tmp_path_factory):
    return str(artifact.save(tmp_path_factory.mktemp("compare") / "x.oof"))


def call(capsys, *argv):
    code = cli.main([str(a) for a in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_one_pair_is_the_library_call(capsys, file, artifact):
    code, out, err = call(capsys, "compare", file, "good", "x", "--metric", "accuracy")
    assert (code, err) == (0, "")
    assert out == f"{compare.auto(artifact, 'accuracy', 'good', 'x')}\n"
    options = ["--test", "t_kfold", "--level", "0.9", "--alternative", "better", "--rope", "0.01"]
    _, out, _ = call(capsys, "compare", file, "good", "x", "--metric", "accuracy", *options, "--format", "json")
    expected = compare.t_kfold(artifact, "accuracy", "good", "x", confidence_level=0.9, alternative="better", rope=0.01)
    facts = json.loads(out)
    assert facts["pvalue"] == expected.pvalue
    assert facts["interval"] == list(expected.interval)
    assert facts["relevance"] == expected.relevance


def test_resampling_options_go_to_tests_that_have_them(capsys, file, artifact):
    pair = ["compare", file, "good", "x", "--metric", "f1"]
    _, out, _ = call(capsys, *pair, "--test", "bootstrap", "--resamples", 500, "--seed", 3, "--format", "json")
    expected = compare.bootstrap(artifact, "f1", "good", "x", n_resamples=500, rng=3)
    assert json.loads(out)["interval"] == list(expected.interval)
    code, _, err = call(capsys, *pair, "--test", "t_kfold", "--resamples", 500)
    assert code == 2
    assert "is not an option of t_kfold" in err


def test_every_test_of_a_pair_is_there(capsys):
    _, out, _ = call(capsys, "compare", "--help")
    text = "".join(out.split())
    assert all(name in text for name in TESTS)
    assert "examples:" in out


def test_all_pairs_and_a_control(capsys, file, artifact):
    _, out, _ = call(capsys, "compare", file, "--all", "--adjust", "bh", "--metric", "accuracy")
    assert out == f"{compare.pairs(artifact, 'accuracy', adjust='bh')}\n"
    _, out, _ = call(capsys, "compare", file, "--control", "x", "--metric", "accuracy", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(r["a"], r["b"]) for r in rows] == [("good", "x"), ("y", "x"), ("z", "x")]
    expected = compare.pairs(artifact, "accuracy", control="x")
    assert [float(r["adjusted"]) for r in rows] == pytest.approx(expected.adjusted)
    _, out, _ = call(capsys, "compare", file, "x", "y", "z", "--all", "--metric", "accuracy", "--format", "latex")
    assert out == f"{compare.pairs(artifact, 'accuracy', configs=['x', 'y', 'z']).to_latex(caption=True)}\n"


def test_two_files(capsys, artifact, tmp_path):
    one, two = artifact.sel(config=["good", "x"]).save(tmp_path / "one.oof"), artifact.save(tmp_path / "two.oof")
    _, out, _ = call(capsys, "compare", one, "--with", two, "good", "y", "--metric", "accuracy", "--format", "json")
    assert json.loads(out)["pvalue"] == compare.auto(artifact, "accuracy", "good", "y").pvalue
    _, out, _ = call(capsys, "compare", one, "--with", two, "x", "x", "--metric", "accuracy", "--format", "json")
    assert (json.loads(out)["a"], json.loads(out)["b"]) == ("x [one.oof]", "x [two.oof]")
    _, out, _ = call(capsys, "compare", one, "--with", two, "--all", "--metric", "accuracy")
    assert "15 pairs of 6 configurations" in out


def test_two_files_of_other_splits_are_refused(capsys, artifact, tmp_path):
    one = artifact.save(tmp_path / "one.oof")
    other = of.from_arrays(artifact.y, artifact.P, folds=np.arange(120) % 4, configs=list("abcd"), response="proba")
    code, out, err = call(capsys, "compare", one, "--with", other.save(tmp_path / "two.oof"), "good", "a")
    assert (code, out) == (2, "")
    assert "the plans are 5-fold against 4-fold" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["good"], "give the two configurations to compare, or --all or --control; got 1"),
        (["good", "nobody"], "no configuration 'nobody'"),
        (["good", "roc_auc"], "'roc_auc' is a metric, not a configuration. Use --metric roc_auc."),
        (
            ["good", "x", "--metric", "good"],
            "--metric must be a metric, such as accuracy; got the configuration 'good'",
        ),
        (["good", "x", "--test", "f_5x2cv"], "f_5x2cv needs 5 repeats of 2 folds; these predictions are 5-fold"),
        (["good", "x", "--adjust", "bh"], "--adjust goes with --all, --control or --by only"),
        (["good", "x", "--level", "3"], "--confidence-level must lie between 0 and 1"),
        (["good", "x", "--rope", "-1"], "--rope must be a number from 0 on"),
        (["good", "x", "--test", "anova"], "invalid choice: 'anova'"),
    ],
)
def test_wrong_usage_is_2_with_one_clear_line(capsys, file, arguments, says):
    code, out, err = call(capsys, "compare", file, *arguments)
    assert (code, out) == (2, "")
    assert says in err


# -- rank -----------------------------------------------------------------------------------------------


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal([0.9, 0.8, 0.7, 0.7], 0.03, size=(15, 4)), columns=["a", "b", "c", "d"])
    frame.insert(0, "data", [f"set {i}" for i in range(15)])
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    return path


def test_rank_is_the_library_call(capsys, scores):
    frame = pd.read_csv(scores)
    code, out, err = call(capsys, "rank", scores)
    assert (code, err) == (0, "")
    assert out == f"{rank.nemenyi(frame, greater_is_better=True)}\n"
    _, out, _ = call(capsys, "rank", scores, "--control", "b", "--format", "json")
    assert json.loads(out)["pairs"] == rank.holm(frame, control="b", greater_is_better=True).to_dict()["pairs"]
    _, out, _ = call(capsys, "rank", scores, "--test", "friedman", "--lower-is-better", "--format", "json")
    assert json.loads(out)["greater_is_better"] is False
    _, out, _ = call(capsys, "rank", scores, "--format", "latex")
    assert out == f"{rank.nemenyi(frame, greater_is_better=True).to_latex(caption=True)}\n"
    assert r"\caption{Mean ranks of 4 algorithms over" in out
    assert "Critical difference" in out
    _, out, _ = call(capsys, "rank", scores, "--format", "prose")
    assert out == f"{rank.nemenyi(frame, greater_is_better=True).to_prose()}\n"


@pytest.mark.parametrize(("ending", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_rank_and_compare_draw_pictures_by_matplotlib(capsys, scores, artifact, tmp_path, ending, begins):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (outfold[plot])")
    path = tmp_path / f"picture.{ending}"
    assert call(capsys, "rank", scores, "--picture", path)[0] == 0
    assert path.read_bytes().startswith(begins)
    file = artifact.save(tmp_path / "run.oof")
    path.unlink()
    assert call(capsys, "compare", file, "x", "y", "--metric", "accuracy", "--picture", path)[0] == 0
    assert path.read_bytes().startswith(begins)


@pytest.mark.parametrize(("ending", "begins"), [("svg", "<svg"), ("tex", r"\begin{tikzpicture}")])
def test_rank_draws_the_picture(capsys, scores, tmp_path, ending, begins):
    path = tmp_path / f"cd.{ending}"
    assert call(capsys, "rank", scores, "--picture", path)[0] == 0
    assert begins in path.read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--test", "bonferroni_dunn"], "needs --control"),
        (["--test", "nemenyi", "--control", "a"], "nemenyi compares all with all"),
        (["--picture", "cd.gif"], "must end in .svg, .png, .pdf or .tex"),
        (["--control", "e"], "no algorithm 'e'"),
        (["--alpha", "5"], "--alpha must lie between 0 and 1"),
    ],
)
def test_rank_refuses(capsys, scores, arguments, says):
    code, out, err = call(capsys, "rank", scores, *arguments)
    assert (code, out) == (2, "")
    assert says in err


def test_rank_refuses_a_folder_that_is_not_there_before_it_reads(capsys, tmp_path):
    code, out, err = call(capsys, "rank", tmp_path / "none.csv", "--picture", tmp_path / "nowhere" / "cd.svg")
    assert (code, out) == (2, "")
    assert "--picture needs a folder that is there" in err


def test_rank_says_when_the_picture_cannot_be_written(capsys, scores, tmp_path):
    (tmp_path / "cd.svg").mkdir()
    code, _, err = call(capsys, "rank", scores, "--picture", tmp_path / "cd.svg")
    assert code != 0
    assert "could not be written" in err
    assert "unexpected" not in err


def test_rank_drops_data_sets_with_missing_scores(capsys, scores):
    frame = pd.read_csv(scores)
    frame.loc[3, "b"] = np.nan
    frame.to_csv(scores, index=False)
    code, _, err = call(capsys, "rank", scores)
    assert code == 2
    assert "--missing drop" in err
    code, out, _ = call(capsys, "rank", scores, "--missing", "drop")
    assert code == 0
    assert "1 of 15 data sets left out" in out


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("data,algorithm,score\na,x,.1\na,y,.2\n", "Leave the column out, or name the others with --algorithms."),
        ("id,a,b\n1,.1,.2\n2,.3,.4\n", "Say --datasets id, or name the columns to compare with --algorithms."),
    ],
)
def test_rank_refuses_a_table_in_the_words_of_its_options(capsys, tmp_path, table, says):
    path = tmp_path / "scores.csv"
    path.write_text(table)
    code, _, err = call(capsys, "rank", path)
    assert code == 2
    assert says in err
    assert "algorithms=" not in err
    assert "datasets=" not in err


def test_compare_of_a_file_with_itself(capsys, file):
    name = of.read(file).configs[0]
    code, _, err = call(capsys, "compare", file, "--with", file, name, name)
    assert code == 2
    assert "of the same file" in err
    assert "suffixes" not in err


def test_the_folder_of_a_run_is_the_file_with_its_predictions(capsys, artifact, tmp_path):
    for folder in ("new", "old"):
        (tmp_path / folder).mkdir()
        artifact.save(tmp_path / folder / "run.oof")
    new = tmp_path / "new"
    for file, other in ((new, new / "run.oof"), (new, f"{new}/"), (new / "run.oof", new)):
        code, _, err = call(capsys, "compare", file, "--with", other, "good", "good")
        assert (code, "of the same file" in err) == (2, True)
    out = call(capsys, "compare", f"{new}/", "--with", tmp_path / "old", "good", "good")[1]
    assert "good [new]" in out
    assert "good [old]" in out
    (new / "run.oof").unlink()
    code, _, err = call(capsys, "estimate", new)
    assert code == 1
    assert "the folder " in err
    assert "has no file run.oof. Give a file, or the folder of an outfold run that has ended." in err


def test_columns_are_called_as_the_options_are(capsys, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("id,model,p,y\n1,x,.1,0\n2,x,.2,1\n")
    for options, says in (
        ([], "long.csv has no column 'sample' or 'config' or 'prediction'; its columns are id, model, p, y."),
        (
            [],
            "Give --sample COL, --config-column COL, --prediction COL to name what holds the predictions of a long table.",
        ),
        ([], "A table to train on, with one row per sample, is for the command outfold run."),
        (["--sample", "id"], "has no column 'config' or 'prediction'"),
        (["--sample", "i"], "has no column 'config' or 'prediction'"),
        (["--sample", "i", "--config-column", "model", "--prediction", "p"], "--sample must be one of the columns"),
        (["--sample", "id", "--config-column", "m", "--prediction", "p"], "--config-column must be one of the columns"),
        (
            ["--sample", "id", "--config-column", "model", "--prediction", "q"],
            "--prediction must be one of the columns",
        ),
    ):
        code, _, err = call(capsys, "estimate", path, "--metric", "accuracy", *options)
        assert code == 2
        assert says in err
