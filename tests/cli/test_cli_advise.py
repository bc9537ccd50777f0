"""The command that gives advice."""

import csv
import io
import json

import pytest

import outfold as of
from internals import cli


def call(capsys, *arguments):
    code = cli.main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_advise_is_the_library_call_and_says_how_to_follow_it(capsys):
    code, out, err = call(capsys, "advise", 80, 150, "--cost", 0.02, "--jobs", 2)
    advice = of.advise(80, 150, cost=0.02, n_jobs=2)
    assert (code, err) == (0, "")
    assert out.startswith(f"{advice}\n")
    assert out.endswith("outfold run data.csv --target COLUMN --folds 10 --repeats 4\n")


def test_advise_in_other_formats(capsys):
    options = ("advise", 5000, 4, "--goal", "compare", "--task", "multiclass")
    advice = of.advise(5000, 4, task="multiclass", goal="compare")
    assert json.loads(call(capsys, *options, "--format", "json")[1]) == json.loads(json.dumps(advice.to_dict()))
    (row,) = csv.DictReader(io.StringIO(call(capsys, *options, "--format", "csv")[1]))
    assert (row["plan"], row["test"], int(row["fits"])) == (str(advice.plan), advice.test, advice.fits)
    assert call(capsys, *options)[1].endswith("--folds 2 --repeats 5\n")
    # No command holds out a single test set.
    assert "outfold run" not in call(capsys, "advise", 100_000, 4)[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((1, 10), "samples must"),
        ((100, 0), "configs must"),
        ((100, 1), "--goal select needs at least 2 configurations"),
        ((100, 10, "--budget", 60), "--budget needs --cost"),
        ((100, 10, "--cost", -1), "--cost must"),
        ((100, 10, "--jobs", 0), "--jobs must"),
        ((100, 10, "--precision", 0), "--precision must"),
    ],
)
def test_advise_refuses_in_the_words_of_the_command_line(capsys, arguments, says):
    code, out, err = call(capsys, "advise", *arguments)
    assert (code, out) == (2, "")
    assert says in err
