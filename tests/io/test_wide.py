"""Wide tables: one column for each model."""

from __future__ import annotations

import numpy as np
import pytest

import outfold as of
import outfold.io.tables
from extras import pd, pl
from outfold.cli import main
from outfold.exceptions import InputError

RNG = np.random.default_rng(0)
LABELS = np.array(["no", "yes"])[RNG.integers(2, size=40)]


def proba():
    return {"sample": [f"s{i}" for i in range(40)], "label": LABELS, "small": RNG.random(40), "large": RNG.random(40)}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_wide_table_equals_the_long_one(tmp_path, ending):
    wide = pd.DataFrame(proba() | {"fold": np.arange(40) % 5, "group": np.arange(40) // 2})
    long = wide.melt(["sample", "label", "fold", "group"], var_name="config", value_name="prediction")
    for name, table in (("wide", wide), ("long", long)):
        path = tmp_path / f"{name}.{ending}"
        table.to_csv(path, index=False) if ending == "csv" else table.to_parquet(path)
    one, other = (of.read(tmp_path / f"{name}.{ending}") for name in ("wide", "long"))
    assert one.configs == other.configs == ("small", "large")
    assert np.array_equal(one.data, other.data)
    assert one.fingerprint == other.fingerprint
    assert np.array_equal(one.groups, other.groups)
    assert one.n_folds == 5


def test_labels_without_a_sample_column_need_the_names_of_the_models(tmp_path):
    table = pd.DataFrame({"y": ["a", "b", "c", "a"], "m1": ["a", "b", "b", "a"], "m2": ["c", "b", "c", "a"]})
    table.to_csv(tmp_path / "labels.csv", index=False)
    with pytest.raises(InputError, match=r"name the columns of the models with models=\.\.\."):
        of.read(tmp_path / "labels.csv", label="y")
    oof = of.read(tmp_path / "labels.csv", label="y", models=["m1", "m2"])
    assert oof.response == "label"
    assert oof.scores("accuracy")[:, 0, 0].tolist() == [0.75, 0.75]


@pytest.mark.parametrize("features", [{"age": [0.1, 0.9], "weight": [0.5, 0.2]}, {"smoker": [0, 1], "male": [1, 1]}])
def test_features_from_0_to_1_are_not_taken_for_predictions(tmp_path, features):
    pd.DataFrame({"label": [0, 1], **features}).to_csv(tmp_path / "train.csv", index=False)
    with pytest.raises(InputError, match="outfold run"):
        of.read(tmp_path / "train.csv")


def test_a_column_of_long_tables_is_no_model(tmp_path):
    table = pd.DataFrame(proba() | {"repeat": 0})
    table.to_csv(tmp_path / "repeat.csv", index=False)
    with pytest.raises(InputError, match="A wide table has one row per sample"):
        of.read(tmp_path / "repeat.csv")
    assert of.read(tmp_path / "repeat.csv", models=["small", "large"]).configs == ("small", "large")


def test_numbers_without_labels_are_scores_of_items(tmp_path):
    table = pl.DataFrame({"sample": [1, 2, 3], "prompt a": [1, 0, 1], "prompt b": [0, 0, 1]})
    table.write_csv(tmp_path / "items.csv")
    oof = of.read(tmp_path / "items.csv")
    assert oof.response == "pointwise"
    assert oof.scores("mean")[:, 0, 0] == pytest.approx([2 / 3, 1 / 3])


def test_models_name_the_columns_where_values_leave_a_doubt(tmp_path):
    table = pd.DataFrame(
        {"sample": range(6), "label": [1.5, 2, 3, 4, 5, 6], "ridge": [1.0, 2, 3, 4, 5, 7], "age": range(6)}
    )
    table.to_csv(tmp_path / "values.csv", index=False)
    with pytest.raises(InputError, match="A wide table has one row per sample and one column per model"):
        of.read(tmp_path / "values.csv")
    oof = of.read(tmp_path / "values.csv", models=["ridge"])
    assert (oof.configs, oof.response) == (("ridge",), "value")
    with pytest.raises(InputError, match=r"models must be columns of the table.*got 'lasso'"):
        of.read(tmp_path / "values.csv", models=["lasso"])


def test_an_error_says_what_keeps_a_table_from_being_wide(tmp_path):
    table = pd.DataFrame(RNG.integers(0, 2, size=(12, 3)), columns=["a", "b", "c"])
    table.insert(0, "item", range(12))
    table["passage"] = [f"p{i // 2}" for i in range(12)]
    table["run"] = [1, 2] * 6
    path = tmp_path / "wide.csv"
    table.drop(columns="run").to_csv(path, index=False)
    with pytest.raises(
        InputError, match=r"If this is a wide table, say what 'passage' holds, for example group='passage'"
    ):
        of.read(path, sample="item")
    assert of.read(path, sample="item", group="passage").configs == ("a", "b", "c")
    table.to_csv(path, index=False)
    with pytest.raises(InputError, match=r"A wide table has no repeats: with repeat=..., give a long table"):
        of.read(path, sample="item", group="passage", repeat="run")


@pytest.mark.parametrize("name", ["y_true", "Label"])
def test_a_column_that_is_called_as_labels_are_is_no_model(tmp_path, name):
    """Read as one, it made scores of what are probabilities."""
    path = tmp_path / "wide.csv"
    pd.DataFrame(proba()).rename(columns={"label": name}).to_csv(path, index=False)
    with pytest.raises(InputError, match=f"If '{name}' holds the labels, say so: label='{name}'"):
        of.read(path)
    assert of.read(path, label=name).response == "proba"


def test_labels_that_are_missing_are_named(tmp_path):
    path, table = tmp_path / "wide.csv", pd.DataFrame(proba())
    table["label"] = [None, *table["label"][1:]]
    table.to_csv(path, index=False)
    with pytest.raises(InputError, match=r"The column 'label' has no value in some rows; leave these rows out\."):
        of.read(path)


@pytest.mark.parametrize("engine", ["pandas", "polars"])
def test_an_index_without_a_name_is_no_model(tmp_path, monkeypatch, engine):
    if engine == "polars":
        pytest.importorskip("polars")
    monkeypatch.setattr(outfold.io.tables, "_ENGINES", (engine,))
    path = tmp_path / "wide.csv"
    pd.DataFrame(proba()).to_csv(path)
    assert of.read(path).configs == ("small", "large")


def test_a_long_table_of_one_model_needs_no_column_config(tmp_path):
    path, table = (
        tmp_path / "one.csv",
        pd.DataFrame(proba()).drop(columns="large").rename(columns={"small": "prediction"}),
    )
    table.to_csv(path, index=False)
    oof = of.read(path)
    assert oof.n_configs == 1
    assert oof.data[0, 0].tolist() == table["prediction"].tolist()
    table["model"] = "small"  # a column that nothing explains may tell configurations apart
    table.to_csv(path, index=False)
    with pytest.raises(InputError, match=r"has no column 'config'; .* Give config=\.\.\. to name the column\.(?m:$)"):
        of.read(path)
    assert of.read(path, config="model").configs == ("small",)


def test_columns_that_may_be_models_are_named(tmp_path):
    path, table = tmp_path / "wide.CSV", pd.DataFrame(proba())
    table[["small", "large"]] *= 100
    table.to_csv(path, index=False)
    with pytest.raises(InputError, match=r"whose models are 'small', 'large', say so with models=\.\.\.\."):
        of.read(path)
    assert of.read(path, models=["small", "large"]).response == "score"
    pd.DataFrame(proba()).assign(age=50).to_csv(path, index=False)
    with pytest.raises(InputError, match="If this is a wide table, say what 'age' holds"):
        of.read(path)


def test_an_empty_field_is_a_prediction_that_was_not_made(tmp_path):
    table = pd.DataFrame(proba() | {"fold": np.arange(40) % 5})
    table.loc[table["fold"] == 2, "large"] = np.nan
    table.to_csv(tmp_path / "wide.csv", index=False)
    oof = of.read(tmp_path / "wide.csv")
    assert (oof.state[1, 0] == of.State.DONE).tolist() == [True, True, False, True, True]


def test_a_table_to_train_on_is_not_taken_for_predictions(tmp_path):
    table = pd.DataFrame(
        {"sample": range(40), "label": LABELS, "age": RNG.integers(20, 80, 40), "dose": RNG.random(40)}
    )
    table.to_csv(tmp_path / "train.csv", index=False)
    with pytest.raises(
        InputError, match="A table to train on, with one row per sample, is for the command outfold run"
    ):
        of.read(tmp_path / "train.csv")


def test_the_command_line_reads_wide_tables(tmp_path, capsys):
    pd.DataFrame(proba()).to_csv(tmp_path / "wide.csv", index=False)
    assert main(["show", str(tmp_path / "wide.csv"), "--metric", "roc_auc"]) == 0
    assert "small" in capsys.readouterr().out
    table = pd.DataFrame({"sample": range(6), "y": range(6), "ridge": range(6), "lasso": range(1, 7)})
    table.to_csv(tmp_path / "values.csv", index=False)
    assert (
        main(["show", str(tmp_path / "values.csv"), "--label", "y", "--models", "ridge,lasso", "--response", "value"])
        == 0
    )
    assert "lasso" in capsys.readouterr().out
    assert main(["show", str(tmp_path / "values.csv")]) == 2
    printed = capsys.readouterr().err
    assert "name the columns of the models with --models" in printed
    assert "sample, label, model_a, model_b" in printed
