"""Labels are read in one way, for rows to learn from and for rows whose labels come later."""

import numpy as np
import pytest

from extras import pd
from internals import Roles
from outfold.apps.table import labelled_table as to_learn_from
from outfold.exceptions import InputError
from outfold.models import ModelAbout
from outfold.models.labels import labelled_rows as to_confront
from outfold.tables import Column, Columns, TableFile
from outfold.tables.labels import label_values, merged_labels


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([1.0, 2.0, None, 2.0, 1.0], "classification"),  # whole numbers that a missing one made floats
        ([0.5, 1.5, 0.5, 1.5, None], "classification"),
        ([True, False, True, True, False], "classification"),
        (["a", "b", None, "01", "b"], "classification"),
        ([3, 1, 2, 5, 4], "regression"),
        ([3.5, 1.0, None, 5.0, 4.0], "regression"),
    ],
)
def test_both_ways_give_the_same_labels(values, task, tmp_path):
    frame = pd.DataFrame({"x": [0.1, 0.4, 0.3, 0.9, 0.5], "y": values})
    first = to_learn_from(TableFile(tmp_path / "t.csv", frame), Roles("y"), task=task)
    columns = Columns((Column("x", "feature", "number"), Column("y", "target")))
    classes = None if task == "regression" else tuple(np.unique(first.y).tolist())
    about = ModelAbout(
        configuration="a", target="y", task="multiclass", columns=columns, ranges={}, n_rows=5, classes=classes
    )
    then = to_confront(frame, about)
    np.testing.assert_array_equal(first.y, then.y)
    assert first.y.dtype == then.y.dtype
    assert then.n_left_out == sum(value is None for value in values)


def test_classes_that_are_no_whole_numbers_are_texts():
    values = pd.Series([0.5, 1.0, 2.25, 1.0])
    assert label_values(values, "classification").tolist() == ["0.5", "1", "2.25", "1"]
    assert label_values(values, "regression").tolist() == values.tolist()


def test_text_is_no_number():
    with pytest.raises(InputError, match="the target 'y' holds text, not numbers"):
        label_values(pd.Series(["a", "b"], name="y"), "regression")


def test_classes_are_merged_by_their_text():
    labels, n = merged_labels(np.array([1.0, 2.0, 3.0]), {"3": "other", "2": "other"})
    assert (labels.tolist(), n) == (["1", "other", "other"], 2)
    plain = np.array([1, 2])
    assert merged_labels(plain, {}) == (plain, 0)


TWENTY = [f"{i / 8}" for i in range(21)]


@pytest.mark.parametrize(
    ("values", "task", "kept"),
    [
        (["yes", "no", "NA", "yes", "?"], "binary", ["yes", "no", "yes"]),
        ([*TWENTY, "not done"], "regression", [float(text) for text in TWENTY]),
    ],
)
def test_words_for_no_label_are_left_out_in_both_ways(values, task, kept, tmp_path):
    frame = pd.DataFrame({"x": np.arange(len(values)) % 7 + 0.5, "y": values})
    first = to_learn_from(TableFile(tmp_path / "t.csv", frame), Roles("y"))
    columns = Columns((Column("x", "feature", "number"), Column("y", "target")))
    classes = None if task == "regression" else ("no", "yes")
    about = ModelAbout(configuration="a", target="y", task=task, columns=columns, ranges={}, n_rows=5, classes=classes)
    then = to_confront(frame, about)
    assert first.y.tolist() == then.y.tolist() == kept
    assert then.n_left_out == sum(part.n for part in first.left_out) == len(values) - len(kept)


def test_an_event_that_is_not_known_is_no_lost_patient(tmp_path):
    frame = pd.DataFrame({"x": [0.1, 0.4, 0.3, 0.9], "t": [3.0, 2.0, 5.0, 4.0], "e": ["dead", "NA", "alive", "dead"]})
    table = to_learn_from(TableFile(tmp_path / "t.csv", frame), Roles(time="t", event="e"), happened="dead")
    assert table.y["event"].tolist() == [True, False, True]
    assert table.left_out == ((1, "without a value of 'e' ('NA' counts as none)"),)


def test_a_class_of_the_training_table_may_be_called_na(tmp_path):
    columns = Columns((Column("x", "feature", "number"), Column("y", "target")))
    about = ModelAbout(
        configuration="a", target="y", task="binary", columns=columns, ranges={}, n_rows=5, classes=("NA", "EU")
    )
    found = to_confront(pd.DataFrame({"x": [0.1, 0.2, 0.3], "y": ["NA", "EU", "?"]}), about)
    assert (found.y.tolist(), found.n_left_out) == (["NA", "EU"], 1)
