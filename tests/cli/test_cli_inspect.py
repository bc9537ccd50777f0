"""``outfold inspect``."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import tomllib

import numpy as np
import pytest

from extras import pd
from internals import cli


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    n = 60
    frame = pd.DataFrame(
        {
            "id": [f"p{i:02d}" for i in range(n)],
            "weight": rng.normal(70, 10, n).round(1),
            "sex": rng.choice(["m", "f"], n),
            "seen": pd.date_range("2020-01-01", periods=n).strftime("%d.%m.%Y"),
            "y": rng.choice(["yes", "no"], n),
        }
    )
    frame["later"] = np.where(frame["y"] == "yes", "treated", "sent home")
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    return path


def call(capsys, *argv):
    code = cli.main(["inspect", *map(str, argv)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_it_prints_how_the_file_is_read_and_what_each_column_is(capsys, table):
    code, out, err = call(capsys, table, "--target", "y")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "data.csv: 60 rows, 6 columns; separated by semicolons, decimal comma, encoding utf-8"
    assert [line.split()[:3] for line in lines[3:9]] == [
        ["id", "id", "category"],
        ["weight", "feature", "number"],
        ["sex", "feature", "category"],
        ["seen", "feature", "date"],
        ["y", "target", "-"],
        ["later", "feature", "category"],
    ]
    assert "note: 'later' alone predicts the target almost perfectly" in out
    assert lines[-1] == f"next   outfold run {table} --target y"


def test_the_file_of_columns_can_be_changed_and_given_back(capsys, table, tmp_path):
    path = tmp_path / "columns.toml"
    code, _, err = call(capsys, table, "--target", "y", "-o", path)
    assert (code, err) == (0, f"written to {path}\n")
    text = path.read_text()
    assert text.startswith("# The columns of data.csv: 60 rows, 6 columns; separated by semicolons")
    assert tomllib.loads(text)["columns"]["seen"]["order"] == "dmy"
    path.write_text(text.replace('sex = {role = "feature"', 'sex = {role = "unused"'))
    code, out, _ = call(capsys, table, "--columns", path, "--format", "json")
    assert code == 0
    facts = json.loads(out)
    roles = {column["name"]: column["role"] for column in facts["columns"]}
    assert roles == {
        "id": "id",
        "weight": "feature",
        "sex": "unused",
        "seen": "feature",
        "y": "target",
        "later": "feature",
    }
    assert facts["dialect"]["separator"] == ";"
    assert facts["rows"] == 60


def test_csv_has_a_row_for_each_column(capsys, table):
    _, out, _ = call(capsys, table, "--group", "sex", "--id", "id", "--drop-columns", "later", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["role"] for row in rows] == ["sample", "feature", "group", "feature", "feature", "unused"]


def test_the_next_command_has_what_was_named(capsys, table, tmp_path):
    def following(*argv):
        return call(capsys, table, *argv)[1].splitlines()[-1].removeprefix("next   ")

    path = tmp_path / "columns.toml"
    roles = ("--time", "weight", "--event", "y", "--group", "sex", "--id", "id", "--drop-columns", "later")
    assert following(*roles) == f"outfold run {table} {' '.join(roles)}"
    assert following(*roles, "-o", path) == f"outfold run {table} --time weight --event y --columns {path}"
    assert following("--columns", path, "--target", "y") == f"outfold run {table} --target y --columns {path}"
    assert following() == f"outfold run {table} --target COLUMN"


def test_columns_whose_names_have_commas_can_be_left_out(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        '"height, cm",seen,kg,y\n' + "".join(f"{150 + i % 7},{i % 5},{i % 11},{i % 2}\n" for i in range(40))
    )
    left_out = 'seen,"height, cm"'
    code, out, _ = call(capsys, path, "--target", "y", "--drop-columns", left_out, "--format", "csv")
    assert code == 0
    roles = {row["name"]: row["role"] for row in csv.DictReader(io.StringIO(out))}
    assert roles == {"height, cm": "unused", "seen": "unused", "kg": "feature", "y": "target"}
    _, out, _ = call(capsys, path, "--target", "y", "--drop-columns", left_out)
    assert out.splitlines()[-1].endswith(f"--drop-columns {shlex.quote(left_out)}")


def test_the_dialect_can_be_given(capsys, table):
    _, out, _ = call(capsys, table, "--decimal", ".", "--encoding", "cp1252")
    assert out.splitlines()[0].endswith("separated by semicolons, encoding cp1252")
    code, _, err = call(capsys, table, "--separator", "abc")
    assert code == 2
    assert "--separator must be one character" in err


def test_notes_on_the_file_go_to_stderr(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("Liste\n\nstadt;a;b\nKöln;1;2\nBonn;3;4\n".encode("latin-1"))
    code, out, err = call(capsys, path)
    assert code == 0
    assert err.splitlines() == [
        "note: the file is not UTF-8; it is read as cp1252",
        "note: left out 1 line before the table",
    ]
    assert "encoding cp1252" in out


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (["--target", "z"], 2, "--target must name a column of the table; there is no column 'z'"),
        (["-o", "columns.txt"], 1, "columns.txt must be a .toml file."),
        (["--columns", "no.toml"], 1, "there is no file no.toml. outfold inspect writes one."),
        (["--encoding", "klingon"], 2, "--encoding must be an encoding that Python knows"),
    ],
)
def test_what_cannot_be_done_gives_one_sentence(capsys, table, more, code, says):
    found, out, err = call(capsys, table, *more)
    assert (found, out) == (code, "")
    assert says in err
    assert err.count("\n") == 2
    assert re.search(r"\nnote: outfold explain (tables|files|arguments) says more\n$", err)


def test_a_table_of_an_id_and_a_label(capsys, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("id,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(30)))
    _, out, _ = call(capsys, path, "--target", "label")
    assert "note: the table has only an id, 'id', and the target 'label'. Join it first" in out
    assert "next" not in out


def test_help_has_examples(capsys):
    code, out, _ = call(capsys, "--help")
    assert code == 0
    assert "\n  outfold inspect data.csv --target y -o columns.toml" in out
