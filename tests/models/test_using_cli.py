"""The commands predict, confront, tied and samples-needed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import outfold as of
from extras import pd
from outfold.cli import main
from outfold.exceptions import InputError
from outfold.models import ModelAbout
from outfold.models.labels import labelled_rows
from outfold.tables import Column, Columns
from saved_model import saved_in, table

skops = pytest.importorskip("skops.io")


def call(capsys, *args):
    code = main([str(arg) for arg in args])
    out, err = capsys.readouterr()
    return code, out, err


def rows():
    """New rows, none of them outside the training range."""
    return table(40, seed=1).assign(pressure=120.5)


@pytest.fixture
def new(tmp_path):
    path = tmp_path / "new.csv"
    rows().to_csv(path, index=False)
    return path


# -- predict ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_predict_writes_what_the_model_predicts(capsys, saved, new, tmp_path, ending):
    path = tmp_path / f"predictions.{ending}"
    code, out, err = call(capsys, "predict", saved.folder, new, "-o", path)
    assert (code, err) == (0, "")
    assert out == f"40 predictions in {path}; 0 rows lie outside the training range\n"
    written = pd.read_parquet(path) if ending == "parquet" else pd.read_csv(path, keep_default_na=False)
    expected = of.load_model(saved.folder).table(rows())
    assert list(written.columns) == list(expected.columns)
    assert written["prediction"].tolist() == expected["prediction"].tolist()
    np.testing.assert_allclose(written["probability_yes"], expected["probability_yes"])


def test_predict_prints_csv_without_out(capsys, saved, new):
    code, out, _ = call(capsys, "predict", saved.folder, new, "--keep", "site")
    assert code == 0
    assert out.splitlines()[0] == "id,site,prediction,probability_no,probability_yes,outside,why"
    assert len(out.splitlines()) == 41


def test_predict_takes_the_name_of_the_model_file_too(capsys, saved, new):
    assert call(capsys, "predict", saved.folder / "model.skops", new)[0] == 0


def test_predict_reads_semicolons_and_columns_in_another_order(capsys, saved, tmp_path):
    turned = rows()[rows().columns[::-1]]
    turned.to_csv(tmp_path / "new.csv", index=False, sep=";", decimal=",")
    code, out, _ = call(capsys, "predict", saved.folder, tmp_path / "new.csv")
    assert code == 0
    expected = of.load_model(saved.folder).table(rows())
    assert [line.split(",")[1] for line in out.splitlines()[1:]] == expected["prediction"].tolist()


def test_predictions_have_commas_and_points_as_the_page_says(capsys, tmp_path):
    saved = saved_in(tmp_path, marks={"decimal": ",", "thousands": ""})
    new, out = tmp_path / "new.csv", tmp_path / "predictions.csv"
    rows().to_csv(new, index=False, sep=";", decimal=",")
    assert call(capsys, "predict", saved.folder, new, "-o", out)[0] == 0
    assert pd.read_csv(out)["probability_yes"].between(0, 1).all()
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
    assert "A `.csv` file has commas between cells and decimal points" in page


def test_predict_says_what_is_odd(capsys, saved, tmp_path):
    odd = rows().assign(extra=1)
    odd.loc[0, "site"] = "Z"
    odd.loc[1, "age"] = 150
    odd.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = call(capsys, "predict", saved.folder, tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert code == 0
    assert "'extra' (not used)" in err
    assert "'site': 'Z' in 1 row" in err
    assert "'age' in 1 row" in err
    assert "2 rows lie outside the training range" in out


def test_predict_names_all_missing_columns_and_writes_nothing(capsys, saved, tmp_path):
    table(40, seed=1).drop(columns=["age", "site"]).to_csv(tmp_path / "new.csv", index=False)
    code, out, err = call(capsys, "predict", saved.folder, tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert (code, out) == (2, "")
    assert "'age', 'site'" in err
    assert not (tmp_path / "p.csv").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["-o", "p.xlsx"], "--out must end in .csv, .csv.gz or .parquet"),
        (["-o", "nowhere/p.csv"], "--out needs a folder that is there"),
        (["--keep", "nothing"], "--keep must name columns of the table"),
    ],
)
def test_predict_refuses_wrong_options(capsys, saved, new, args, words):
    code, out, err = call(capsys, "predict", saved.folder, new, *args)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize("link", [None, "symlink_to", "hardlink_to"])
def test_predict_does_not_write_over_the_new_rows(capsys, saved, new, tmp_path, link):
    out = tmp_path / ".." / tmp_path.name / "new.csv"
    if link is not None:
        out = tmp_path / "link.csv"
        getattr(out, link)(new)
    before = new.read_bytes()
    code, printed, err = call(capsys, "predict", saved.folder, new, "-o", out)
    assert (code, printed) == (2, "")
    assert f"--out must be another file than the table of new rows; '{out}' is the file that is read. Name a new" in err
    assert new.read_bytes() == before


def test_predict_without_a_model_is_one_clear_line(capsys, new, tmp_path):
    code, _, err = call(capsys, "predict", tmp_path / "nothing", new)
    assert code == 1
    assert "there is no folder" in err
    code, _, err = call(capsys, "predict", tmp_path, new)
    assert code == 1
    assert "there is no model.json" in err


# -- confront -----------------------------------------------------------------------------------------------


def test_confront_prints_and_keeps_the_result(capsys, own, tmp_path):
    later = table(150, seed=3)
    later.loc[:4, "ill"] = None
    path = tmp_path / "labelled.csv"
    later.to_csv(path, index=False)
    code, out, err = call(capsys, "confront", own.folder, path)
    assert code == 0
    assert "left out 5 rows without a label" in err
    assert out.startswith(f"AUC of {own.about.configuration}\n")
    assert "verdict    compatible" in out
    assert "no change seen in 3 features" in out
    code, out, _ = call(capsys, "show", own.folder / "run.oof")
    assert code == 0
    assert "came true" in out
    assert "on 145 new samples" in out
    call(capsys, "confront", own.folder, path)
    assert len(of.load(own.folder / "run.oof").provenance["ledger"]) == 1


def test_confront_gives_json_and_csv_and_may_forget(capsys, own, tmp_path):
    path = tmp_path / "labelled.csv"
    later = table(60, seed=3)
    later.rename(columns={"ill": "truth"}).to_csv(path, index=False)
    args = ("confront", own.folder, path, "--target", "truth", "--forget")
    facts = json.loads(call(capsys, *args, "--format", "json")[1])
    assert facts["n_new"] == 60
    expected = of.confront(own.oof, of.load_model(own.folder), later, later["ill"])
    assert facts["pvalue"] == pytest.approx(expected.pvalue)
    assert call(capsys, *args, "--format", "csv")[1].startswith("selected,metric,estimate,observed")
    assert "ledger" not in of.load(own.folder / "run.oof").provenance


def test_confront_without_labels_is_refused(capsys, saved, tmp_path):
    path = tmp_path / "new.csv"
    table(40, seed=1).drop(columns="ill").to_csv(path, index=False)
    code, _, err = call(capsys, "confront", saved.folder, path, "--forget")
    assert code == 2
    assert "--target must name the column with the labels; there is no column 'ill'" in err


def test_errors_of_labels_and_of_tables_without_rows_name_what_was_given(capsys, saved, tmp_path):
    path = tmp_path / "new.csv"
    table(40, seed=1).replace({"ill": {"no": "nein"}}).to_csv(path, index=False)
    code, _, err = call(capsys, "confront", saved.folder, path, "--forget")
    says = "outfold: error: --target must hold the classes no, yes; it also holds nein."
    assert (code, err.splitlines()[0]) == (2, says)
    table(1, seed=1).to_csv(path, index=False)
    assert "undefined for every configuration on 1 sample:" in call(capsys, "confront", saved.folder, path)[2]
    table(40, seed=1).iloc[:0].to_csv(path, index=False)
    for command in ("predict", "confront"):
        code, _, err = call(capsys, command, saved.folder, path)
        assert (code, err.splitlines()[0]) == (2, "outfold: error: new.csv has no rows.")


def test_labels_that_come_alone_are_to_be_joined_by_the_id(capsys, tmp_path):
    saved = saved_in(tmp_path, marks={"decimal": ",", "thousands": "."})
    path = tmp_path / "truth.csv"
    table(40, seed=1)[["id", "ill"]].to_csv(path, index=False, sep=";")
    code, _, err = call(capsys, "confront", saved.folder, path, "--forget")
    assert code == 2
    assert "must also have the columns that the model was trained on" in err
    assert "It lacks 'age', 'pressure', 'site'; it has 'id', 'ill'" in err
    assert "join them by the column 'id' with the table that you predicted" in err
    assert "numbers seem to be written in another way" not in err  # there are none
    rows()[["age", "pressure", "id"]].to_csv(path, index=False)
    assert "numbers seem to be written in another way" in call(capsys, "predict", saved.folder, path)[2]


def test_labels_that_come_alone_are_refused_without_an_id_too():
    about = ModelAbout(
        configuration="a",
        target="y",
        task="binary",
        columns=Columns((Column("x", "feature", "number"), Column("y", "target"))),
        ranges={},
        n_rows=5,
        classes=(0, 1),
    )
    with pytest.raises(InputError, match="join them with the table that you predicted"):
        labelled_rows(pd.DataFrame({"y": [0, 1]}), about)


def test_confront_with_the_training_rows_is_refused(capsys, saved, tmp_path):
    path = tmp_path / "train.csv"
    saved.frame.to_csv(path, index=False)
    code, _, err = call(capsys, "confront", saved.folder, path, "--forget")
    assert code == 2
    assert "samples that the model was trained on" in err


SPACE = """
import outfold as of
from outfold.learners import spaces

def configs(X, y, task):
    whole = spaces.make_space("small", X, y, task)
    names = [name for name in whole if name.startswith("logit")][:{}]
    return of.Configs({{name: whole[name] for name in names}}, {{name: whole.params[name] for name in names}})
"""


def test_a_run_that_goes_on_keeps_what_came_true(capsys, tmp_path):
    train, later, space, out = (tmp_path / name for name in ("train.csv", "later.csv", "space.py", "out"))
    table(80).to_csv(train, index=False)
    table(60, seed=3).to_csv(later, index=False)
    run = ("run", train, "--target", "ill", "--id", "id", "-o", out, "--space", space, "--folds", "3", "--jobs", "1")
    space.write_text(SPACE.format(2))
    assert call(capsys, *run)[0] == 0
    # As a run that was stopped leaves it: a store beside the answer.
    (out / "search.oof").write_bytes((out / "run.oof").read_bytes())
    assert call(capsys, "confront", out, later)[0] == 0
    (before,) = of.load(out / "run.oof").provenance["ledger"]
    space.write_text(SPACE.format(4))
    assert call(capsys, *run)[0] == 0
    oof = of.load(out / "run.oof")
    assert oof.n_configs == 4
    assert oof.provenance["ledger"] == [before]


# -- tied, samples-needed -----------------------------------------------------------------------------------


def test_tied_prints_the_set(capsys, saved):
    code, out, _ = call(capsys, "tied", saved.folder / "run.oof")
    expected = of.compare.tied_set(saved.oof)
    assert code == 0
    assert out == f"{expected}\n"
    for command in ("tied", "estimate", "show"):
        of_file, of_folder = (call(capsys, command, place)[1] for place in (saved.folder / "run.oof", saved.folder))
        assert of_folder.replace(str(saved.folder), "") == of_file.replace(str(saved.folder / "run.oof"), "")
    facts = json.loads(call(capsys, "tied", saved.folder, "--format", "json", "--metric", "accuracy")[1])
    assert facts["metric"] == "accuracy"


def test_tied_and_estimate_draw_pictures(capsys, saved, tmp_path):
    pytest.importorskip("matplotlib")
    for command in ("tied", "estimate"):
        path = tmp_path / f"{command}.svg"
        plain = call(capsys, command, saved.folder / "run.oof")[1]
        assert call(capsys, command, saved.folder / "run.oof", "--picture", path) == (0, plain, "")
        assert "<svg" in path.read_text()
        code, out, err = call(capsys, command, saved.folder / "run.oof", "--picture", tmp_path / "p.gif")
        assert (code, out) == (2, "")
        assert "--picture must end in .svg, .png or .pdf" in err
    code, _, err = call(capsys, "estimate", saved.folder / "run.oof", "--threshold", "youden", "--picture", path)
    assert code == 2
    assert "--picture shows one estimate; it does not go with a threshold" in err


def test_samples_needed_answers_both_questions(capsys, saved):
    code, out, _ = call(capsys, "samples-needed", saved.folder, "--width", "0.01")
    assert code == 0
    assert out == f"{of.estimate.bbc(saved.oof).samples_needed(0.01)}\n"
    assert "extrapolated" in out
    pair = saved.oof.configs[0], saved.oof.configs[2]
    args = ("samples-needed", saved.folder, *pair, "--metric", "accuracy", "--difference", "0.05", "--format", "json")
    code, out, _ = call(capsys, *args)
    assert code == 0
    facts = json.loads(out)
    assert (facts["a"], facts["b"], facts["difference"]) == (*pair, 0.05)


@pytest.mark.parametrize("args", [[], ["a"], ["a", "b", "--width", "0.1"], ["a", "b", "c"]])
def test_samples_needed_wants_one_question(capsys, saved, args):
    code, _, err = call(capsys, "samples-needed", saved.folder, *args)
    assert code == 2
    assert "give two configurations to compare, or --width" in err
