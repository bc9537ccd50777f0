"""Every file gives the table that a person sees in it, or one clear sentence."""

from __future__ import annotations

import pytest
from corpus import CASES, REFUSED

from extras import pd
from outfold import tables
from outfold.exceptions import FileError


def plain(values):
    return [None if pd.isna(value) else value for value in values.tolist()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_file_gives_the_table_that_a_person_sees(case, tmp_path):
    path = tmp_path / case.file
    path.write_bytes(case.content)
    found = tables.read_file(path)
    assert found.dialect.separator == case.separator
    assert list(found.frame) == case.columns
    for column, values in case.values.items():
        assert plain(found.frame[column]) == values, column
    assert case.words in str(found.dialect)
    for note in case.notes:
        assert any(note in said for said in found.notes), found.notes
    assert bool(case.notes) or not [note for note in found.notes if "column" in note and "names" not in note]


@pytest.mark.parametrize(("content", "file", "says"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_file_without_a_table_gives_one_sentence(content, file, says, tmp_path):
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(FileError) as error:
        tables.read_file(path)
    assert says in str(error.value)
    assert "\n" not in str(error.value)
