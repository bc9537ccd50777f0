"""``outfold read`` of a table: the columns can be named, as for every other command."""

from __future__ import annotations

import pytest

import outfold as of
from extras import pd
from outfold.cli import main


@pytest.fixture
def wide(tmp_path):
    rows = {"item": range(8), "passage": [i // 2 for i in range(8)], "a": [0, 1] * 4, "b": [1, 1] * 4}
    pd.DataFrame(rows).to_csv(tmp_path / "wide.csv", index=False)
    return tmp_path / "wide.csv"


def test_columns_of_a_wide_table_can_be_named(wide):
    assert main(["read", str(wide), "--sample", "item", "--group", "passage", "-o", str(wide.with_suffix(".oof"))]) == 0
    oof = of.load(wide.with_suffix(".oof"))
    assert oof.configs == ("a", "b")
    assert len(set(oof.groups)) == 4


def test_the_error_names_the_options_of_a_wide_table(wide, capsys):
    assert main(["read", str(wide), "-o", str(wide.with_suffix(".oof"))]) != 0
    text = capsys.readouterr().err
    assert "--sample COL to name what identifies a sample" in text
    assert "--group COL" in text
    assert "--models A,B" in text


def test_an_option_of_tables_is_refused_for_a_tool(wide, capsys):
    assert main(["read", str(wide), "--from", "weka", "--sample", "item", "-o", "x.oof"]) != 0
    assert "is not an option of --from weka" in capsys.readouterr().err


@pytest.mark.parametrize(("answer", "winner"), [("no", "small"), ("yes", "large")])
def test_the_direction_of_a_score_of_weka_can_be_given(tmp_path, answer, winner):
    head = "Key_Dataset,Key_Run,Key_Fold,Key_Scheme,Number_of_training_instances,Number_of_testing_instances,measureTreeSize"
    sizes = {"small": 3, "large": 90}
    rows = [f"iris,1,{k},{name},40,10,{size + k}" for name, size in sizes.items() for k in range(1, 6)]
    (tmp_path / "w.csv").write_text("\n".join([head, *rows]))
    how = ["--from", "weka", "--metric", "measureTreeSize", "--greater-is-better", answer]
    assert main(["read", str(tmp_path / "w.csv"), *how, "-o", str(tmp_path / "w.oof")]) == 0
    assert of.load(tmp_path / "w.oof").leaderboard().configs[0] == winner
