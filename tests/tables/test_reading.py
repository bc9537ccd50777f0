"""Every file gives the table that a person sees in it, or one clear sentence."""

from __future__ import annotations

import pytest
from corpus import CASES, REFUSED
from hypothesis import given, settings
from hypothesis import strategies as st

from extras import pd
from outfold import tables
from outfold.exceptions import FileError, InputError

pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")


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


# -- what is given is not guessed -----------------------------------------------------------------------


def write(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_what_is_given_is_not_guessed(tmp_path):
    path = write(tmp_path, "a;b\n1,234;x\n5,678;y\n")
    assert tables.read_file(path).frame["a"].tolist() == [1.234, 5.678]
    given = tables.read_file(path, decimal=".", thousands=",")
    assert given.frame["a"].tolist() == [1234, 5678]
    assert given.notes == ()
    whole = tables.read_file(path, separator="tab")
    assert list(whole.frame) == ["a;b"]
    assert tables.read_file(path, separator="semicolon").frame.shape == (2, 2)
    quoted = write(tmp_path, "a,b\n'x',1\n'y',2\n")
    assert tables.read_file(quoted, quote="none").frame["a"].tolist() == ["'x'", "'y'"]
    latin = write(tmp_path, "a,b\nä,1\nö,2\n".encode("cp1252"))
    assert tables.read_file(latin, encoding="latin-1").frame["a"].tolist() == ["ä", "ö"]
    assert tables.detect(latin) == tables.Dialect(encoding="cp1252")
    assert tables.detect(latin, encoding="latin-1").encoding == "latin-1"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"separator": "ab"}, "separator must be one character, or a word such as tab or semicolon; got 'ab'"),
        ({"decimal": ";"}, "decimal must be '.' or ','; got ';'"),
        ({"encoding": "klingon"}, "encoding must be an encoding that Python knows"),
        ({"encoding": "utf-8"}, "line 2 of t.csv is not valid utf-8"),
    ],
)
def test_wrong_dialects_are_refused(given, says, tmp_path):
    path = write(tmp_path, "a,b\nä,1\n".encode("latin-1"))
    with pytest.raises((InputError, FileError)) as error:
        tables.read_file(path, **given)
    assert says in str(error.value)


def test_columns_of_other_marks_are_read_by_their_own(tmp_path):
    path = write(tmp_path, "a;b;c\n1,5;0.25;x\n2,5;0.5;y\n3,5;1.5;z\n")
    found = tables.read_file(path)
    assert found.frame["b"].tolist() == [0.25, 0.5, 1.5]
    assert found.frame["a"].tolist() == [1.5, 2.5, 3.5]
    assert found.notes == ("unlike the rest of the file, 'b' has decimal points",)


@given(
    st.lists(
        st.tuples(
            st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), st.text("abcé xyz,;|\"'\n", min_size=1).map(str.strip)
        ),
        min_size=8,
        max_size=30,
    ),
    st.sampled_from([(",", "."), (";", ","), (";", "."), ("\t", ","), ("|", ".")]),
    st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
)
def test_a_table_that_pandas_wrote_comes_back(tmp_path_factory, rows, marks, encoding):
    """Whatever is in the texts, when they are in quotes."""
    separator, decimal = marks
    path = tmp_path_factory.mktemp("t") / "t.csv"
    frame = pd.DataFrame({"number": [n for n, _ in rows], "text": [f"a{t}a" for _, t in rows], "n": range(len(rows))})
    frame.to_csv(path, sep=separator, decimal=decimal, index=False, encoding=encoding, quoting=2)
    found = tables.read_file(path)
    assert found.dialect.separator == separator
    assert found.frame["text"].tolist() == frame["text"].tolist()
    assert found.frame["n"].tolist() == frame["n"].tolist()
    assert found.frame["number"].tolist() == frame["number"].tolist()


# -- files that are not text ----------------------------------------------------------------------------


@pytest.fixture
def mixed():
    return pd.DataFrame(
        {
            "n": [1, 2, 3],
            "x": [0.5, None, 2.5],
            "word": ["a", None, "NA"],
            "when": pd.to_datetime(["2020-01-01", "2020-02-01", None]),
            "yes": [True, False, True],
        }
    )


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_parquet_and_feather_keep_their_types(mixed, ending, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"t.{ending}"
    getattr(mixed, f"to_{ending}")(path)
    found = tables.read_file(path)
    pd.testing.assert_frame_equal(found.frame, mixed)
    assert found.dialect is None
    assert str(found) == f"t.{ending}: 3 rows, 5 columns"
    with pytest.raises(InputError, match="must be a text file"):
        tables.detect(path)


def test_an_index_with_a_name_is_a_column(mixed, tmp_path):
    pytest.importorskip("pyarrow")
    mixed.set_index("word").to_parquet(tmp_path / "t.parquet")
    assert list(tables.read_file(tmp_path / "t.parquet").frame) == ["word", "n", "x", "when", "yes"]


ARFF = """% a comment
@RELATION test
@attribute 'a b' NUMERIC
@attribute sex {0, 1}
@attribute city {'New York', "Bonn", 'it\\'s'}
@attribute note string
@attribute day date "yyyy-MM-dd"
@data
1.5,0,'New York','some, words',2020-01-02
% another one
?,1,Bonn,?,?
-2,?,'it\\'s','it\\'s',2020-03-04
"""


def test_arff(tmp_path):
    frame = tables.read_file(write(tmp_path, ARFF, "t.arff")).frame
    assert list(frame) == ["a b", "sex", "city", "note", "day"]
    assert plain(frame["a b"]) == [1.5, None, -2.0]
    assert plain(frame["sex"]) == ["0", "1", None]
    assert list(frame["city"].cat.categories) == ["New York", "Bonn", "it's"]
    assert plain(frame["note"]) == ["some, words", None, "it's"]
    assert [str(day)[:10] for day in frame["day"]] == ["2020-01-02", "NaT", "2020-03-04"]
    kinds = tables.inspect(frame).kinds
    assert (kinds["sex"], kinds["city"]) == ("category", "category")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("1.5,0", "abc,0", "'abc' in the column 'a b' of t.arff is no number"),
        ("1.5,0", "1.5,7", "'7' in the column 'sex' of t.arff is no level that its header lists"),
        ("1.5,0", "1.5", "row 1 of t.arff has 4 values; the header lists 5 columns"),
        ("1.5,0", "{0 1.5, 1 0}\n1.5,0", "t.arff is a sparse .arff file"),
        ("sex {0", "note {0", "two columns of t.arff are called 'note'"),
    ],
)
def test_wrong_arff(tmp_path, old, new, says):
    with pytest.raises(FileError, match=says):
        tables.read_file(write(tmp_path, ARFF.replace(old, new), "t.arff"))


def test_excel(mixed, tmp_path):
    pytest.importorskip("openpyxl", reason="openpyxl is not installed (outfold[excel])")
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame().to_excel(book, sheet_name="empty")
        mixed.to_excel(book, sheet_name="data", startrow=3, startcol=1, index=False)
        book.sheets["data"]["B1"] = "A title"
    found = tables.read_file(path)
    assert list(found.frame) == list(mixed)
    assert plain(found.frame["n"]) == [1, 2, 3]
    assert plain(found.frame["x"]) == [0.5, None, 2.5]
    assert plain(found.frame["word"]) == ["a", None, "NA"]
    assert str(found.frame["when"].dtype).startswith("datetime64")
    assert found.frame["yes"].dtype == bool
    assert found.notes == ("of 2 sheets, 'data' is read",)


def test_files_that_are_not_there(tmp_path):
    for name in ("t.csv", "t.parquet", "t.arff"):
        with pytest.raises(FileError, match=f"there is no file .*{name}"):
            tables.read_file(tmp_path / name)
    for folder in (tmp_path / "d.csv", tmp_path / "d.parquet", tmp_path):
        folder.mkdir(exist_ok=True)
        with pytest.raises(FileError, match="is a folder; a file is needed"):
            tables.read_file(folder)


def test_codes_and_long_numbers_keep_every_digit(tmp_path):
    large = 2**53
    path = write(tmp_path, f"a,b,c\n{large + 1},01,1\n,02,2\n{large},10,\n")
    frame = tables.read_file(path).frame
    assert plain(frame["a"]) == [large + 1, None, large]
    assert plain(frame["b"]) == ["01", "02", "10"]
    assert plain(frame["c"]) == [1, 2, None]


def test_large_tables_are_read_without_a_loop_over_rows(tmp_path):
    """No function of Python is called once for each row: the number of calls hardly grows with the rows."""
    import cProfile

    calls = []
    for n in (2_000, 20_000):
        lines = "".join(f"{i % 97},{i % 7}.5,{'abc'[i % 3]},0{1 + i % 9}.01.2020\n" for i in range(n))
        path = write(tmp_path, f"a,b,c,d\n{lines}")
        profile = cProfile.Profile()
        profile.enable()
        frame = tables.read_file(path).frame
        tables.features(frame, tables.inspect(frame))
        profile.disable()
        calls.append(sum(row.callcount for row in profile.getstats()))
    assert calls[1] < 1.5 * calls[0]


PIECES = [*",;|#", "\t", " ", '"', "'", "\n", "\n\n", "\r\n", "\\", "NA", "1,5", "2.5", "1.234", "0012", ";;"]
MESSY = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.text(max_size=4),
    ),
    max_size=60,
).map("".join)


@given(MESSY, st.sampled_from(["utf-8", "cp1252", "utf-16"]))
@settings(max_examples=300)
def test_any_text_gives_a_table_or_one_sentence(tmp_path_factory, text, encoding):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_bytes(text.encode(encoding, errors="replace"))
    try:
        found = tables.read_file(path)
    except FileError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    assert len(set(found.frame)) == found.frame.shape[1] > 0
    if len(found.frame):
        columns = tables.inspect(found.frame)
        assert [column.name for column in columns] == list(found.frame)
        if columns.features:
            assert tables.features(found.frame, columns).shape == (len(found.frame), len(columns.features))


@given(st.binary(max_size=200), st.sampled_from(["t.csv", "t.arff", "t.csv.gz"]))
def test_any_bytes_give_a_table_or_one_sentence(tmp_path_factory, data, name):
    path = tmp_path_factory.mktemp("t") / name
    path.write_bytes(data)
    try:
        assert tables.read_file(path).frame.shape[1] > 0
    except FileError as error:
        assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_names_may_be_longer_than_what_is_sampled(rows, tmp_path, monkeypatch):
    monkeypatch.setattr("outfold.tables.dialect._SAMPLED_LETTERS", 100)
    monkeypatch.setattr("outfold.tables.layout._LETTERS", 100)
    names = [f"gene {i}" for i in range(60)]
    path = tmp_path / "genes.csv"
    path.write_text("\n".join([";".join(names), *[";".join(["1,5"] * 60)] * rows]) + "\n")
    found = tables.read_file(path).frame
    assert list(found.columns) == names
    assert found.to_numpy().tolist() == [[1.5] * 60] * rows


@pytest.mark.parametrize("before", ["", "Cohort of 2020\n"])
def test_values_in_a_first_line_longer_than_what_is_sampled_are_no_names(before, tmp_path, monkeypatch):
    monkeypatch.setattr("outfold.tables.dialect._SAMPLED_LETTERS", 100)
    monkeypatch.setattr("outfold.tables.layout._LETTERS", 100)
    rows = [[i + row / 8 for i in range(60)] for row in range(5)]
    path = tmp_path / "genes.csv"
    path.write_text(before + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    found = tables.read_file(path).frame
    assert list(found.columns)[:2] == ["column_1", "column_2"]
    assert found.to_numpy().tolist() == rows


def test_a_line_too_long_for_a_cell_is_our_error(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a" * 200_000)
    with pytest.raises(FileError, match="could not be read as a table"):
        tables.read_file(path)
