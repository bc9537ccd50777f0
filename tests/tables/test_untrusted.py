"""Tables that somebody made to harm: each is refused at once, before it takes time or memory."""

from __future__ import annotations

import gzip
import io
import os
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

import outfold as of
from extras import pd
from outfold import tables
from outfold.exceptions import FileError, OutfoldError
from outfold.tables.columns import read_columns
from outfold.tables.layout import unique_names

pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")

READERS = [pytest.param(of.read, id="predictions"), pytest.param(tables.read_file, id="samples")]
MILLION = 1_000_000
SECONDS = 5  # of CPU time, as tests/fuzz allow


def refused_soon(read, path, says):
    """The error must come in little time, and say this."""
    start = time.process_time()
    with pytest.raises(FileError, match=says):
        read(path)
    assert time.process_time() - start < SECONDS


# -- what is no file ------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize(
    ("read", "ending"),
    [
        *((of.read, ending) for ending in ("oof", "csv", "csv.gz", "parquet")),
        *((tables.read_file, ending) for ending in ("csv", "tsv.gz", "parquet", "feather", "arff", "xlsx")),
        (read_columns, "toml"),
        (of.adapters.read_inspect, "json"),
        (of.adapters.read_inspect, "eval"),
        (of.adapters.read_promptfoo, "json"),
        (of.adapters.read_promptfoo, "jsonl"),
        (of.adapters.read_helm, "csv"),
        (of.adapters.read_helm, "csv.gz"),
        (lambda path: of.adapters.read_lm_eval(path, metric="acc"), "jsonl"),
        (lambda path: of.adapters.read_weka(path, dataset="iris"), "csv"),
        (of.adapters.read_mlr3, "csv"),
    ],
)
def test_a_pipe_or_device_is_refused(tmp_path, kind, read, ending):
    """A pipe to which nobody writes gives nothing forever, a device zeros forever."""
    path = tmp_path / f"x.{ending}"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(FileError, match="is a device or a pipe, not a file"):
        read(path)


# -- too many columns or cells -----------------------------------------------------------------------------------


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("first", [",".join(map(str, range(MILLION))), ",".join(["c"] * MILLION), "," * MILLION])
def test_a_million_columns_are_refused_at_once(tmp_path, read, first):
    path = tmp_path / "x.csv"
    path.write_text(f"{first}\n{'1,' * (MILLION - 1)}1\n")
    refused_soon(
        read, path, r"x\.csv has 1,000,00[01] columns; a table may have 100,000\. Keep the columns that you need"
    )


def test_an_arff_file_of_many_columns_is_refused(tmp_path):
    path = tmp_path / "x.arff"
    path.write_text("@relation r\n" + "".join(f"@attribute a{i} numeric\n" for i in range(100_001)) + "@data\n")
    refused_soon(tables.read_file, path, "has 100,001 columns")


def test_repeated_names_take_no_square_of_the_time(tmp_path):
    names = ["c"] * 20_000
    start = time.process_time()
    found, notes = unique_names([*names, "c.5"])
    assert time.process_time() - start < 1
    assert found[:5] == ["c", "c.1", "c.2", "c.3", "c.4"]
    assert len(set(found)) == len(found) == 20_001
    assert found[5] == "c.6"  # c.5 is the name of another column
    assert notes[0].startswith("20000 columns are called 'c'")
    path = tmp_path / "x.csv"
    path.write_text(f"{','.join(names)}\n{','.join('1' for _ in names)}\n")
    refused_soon(of.read, path, "has 20,000 columns with 1 different names. Give each column a name of its own")


@pytest.mark.parametrize("read", [*READERS, pytest.param(of.adapters.read_helm, id="items")])
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("end", ["\n", "\r"])
def test_lines_that_lack_nearly_all_cells_are_refused(tmp_path, read, ending, end):
    """Readers fill them up: 20,000 names and 4,000 short lines took 2 GB."""
    path = tmp_path / f"x.{ending}"
    text = "model,instance_id,exact_match," + ",".join(f"c{i}" for i in range(20_000)) + end
    data = (text + "".join(f"a,{i},1{end}" for i in range(4000))).encode()
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    says = r"has 4,00[01] lines for 20,003 columns, and only (12,000|32,003) cells in all of them. Leave out the names"
    refused_soon(read, path, says)


def test_lines_within_quotes_are_no_rows(tmp_path):
    path = tmp_path / "x.csv"
    header = ",".join(f"model {i}" for i in range(60))
    prompt = '"' + "a line of text\n" * 100 + '"'
    path.write_text(
        f"sample,prompt,label,{header}\n" + "".join(f"{i},{prompt},{i % 2},{'1,' * 59}0\n" for i in range(1000))
    )
    assert of.read(path, sample="sample", label="label", models=[f"model {i}" for i in range(60)]).n_samples == 1000


# -- what unpacks to far more than its size -------------------------------------------------------------


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("content", [b"1,a,0,0.5\n" * 7 * MILLION, b"0" * 70 * MILLION], ids=["rows", "one line"])
def test_a_bomb_of_gzip_is_refused(tmp_path, read, content):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"sample,config,label,prediction\n" + content))
    refused_soon(read, path, r"bytes of memory or more, \d+ times its size\. If you trust it, unpack it first: gunzip")


def test_a_bomb_of_gzip_is_refused_among_items(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"model,instance_id,exact_match\n" + b"a,q,1\n" * 10 * MILLION))
    refused_soon(of.adapters.read_helm, path, "times its size. If you trust it, unpack it first")


@pytest.mark.parametrize("read", READERS)
def test_what_packs_well_is_read(tmp_path, read):
    """Labels that repeat pack a hundred times."""
    path = tmp_path / "x.csv.gz"
    rows = "".join(f"{i},{model},{i % 2},{(i + model) % 2}\n" for i in range(2000) for model in (0, 1))
    path.write_bytes(gzip.compress(f"sample,config,label,prediction\n{rows}".encode()))
    read(path)


def parquet(**columns):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, compression="zstd", store_schema=False)
    return stream.getvalue()


def _zeros():
    zeros = np.zeros(20 * MILLION)
    return {"sample": zeros, "prediction": zeros}


def _one_text(n_letters, n_rows):
    """A column with the same text in each row; the file has it once."""
    pa = pytest.importorskip("pyarrow")
    return pa.DictionaryArray.from_arrays(
        np.zeros(n_rows, dtype=np.int32), pa.array(["x" * n_letters], pa.large_string())
    )


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("columns", "says"),
    [
        pytest.param(lambda: _zeros(), "asks for 2", id="zeros"),
        pytest.param(lambda: {"sample": _one_text(MILLION, 200_000)}, "asks for 200,000,000,000", id="one text"),
        pytest.param(lambda: {"sample": ["x" * 150 * MILLION] * 2}, "asks for 300,000,0", id="long text"),
    ],
)
def test_a_bomb_of_parquet_is_refused(tmp_path, read, columns, says):
    path = tmp_path / "x.parquet"
    path.write_bytes(parquet(**columns()))
    assert path.stat().st_size < 300_000
    refused_soon(read, path, f"{says}.* times its size. If you trust it, save it as .csv")


def test_indicators_of_one_category_are_read(tmp_path):
    """A column of zeros and ones for each of 300 values, some of them frequent: 130 times smaller when packed."""
    path, n_rows, n = tmp_path / "x.csv.gz", 45_000, 300
    shares = 1 / np.arange(1, n + 1)
    drawn = np.random.default_rng(0).choice(n, n_rows, p=shares / shares.sum())
    lines = {i: ",".join("1" if i == j else "0" for j in range(n)) + "\n" for i in range(n)}
    text = ",".join(f"c{i}" for i in range(n)) + "\n" + "".join(map(lines.get, drawn))
    path.write_bytes(gzip.compress(text.encode()))
    assert len(text) > max(25 * MILLION, 100 * path.stat().st_size)
    assert tables.read_file(path).frame.shape == (n_rows, n)


def test_parquet_with_constant_columns_is_read(tmp_path):
    path, n_rows = tmp_path / "x.parquet", 140_000
    path.write_bytes(parquet(**dict.fromkeys([f"c{i}" for i in range(100)], np.zeros(n_rows)), y=np.arange(n_rows) % 2))
    assert 8 * 100 * n_rows > max(100 * MILLION, 400 * path.stat().st_size)
    assert tables.read_file(path).frame.shape == (n_rows, 101)


def test_parquet_with_a_text_in_many_rows_is_read(tmp_path):
    """Each of the texts may be the long one, as far as sizes tell; most are short."""
    path = tmp_path / "x.parquet"
    words = ["x" * 20_000, *("a" for _ in range(20_000))]
    path.write_bytes(parquet(sample=words, prediction=np.arange(20_001.0)))
    assert tables.read_file(path).frame["sample"].tolist() == words


def test_a_bomb_of_polars_is_refused_without_pyarrow(tmp_path, monkeypatch):
    pytest.importorskip("polars")
    path = tmp_path / "x.parquet"
    path.write_bytes(parquet(**_zeros()))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    monkeypatch.setattr("outfold.io.tables._ENGINES", ("polars",))
    refused_soon(of.read, path, "asks for 320,000,000 bytes of memory or more")


def test_a_bomb_of_feather_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.feather"
    pd.DataFrame(_zeros()).to_feather(path, compression="zstd")
    refused_soon(tables.read_file, path, "times its size. If you trust it, save it as .csv")


def test_a_bomb_in_a_log_is_refused(tmp_path):
    path = tmp_path / "x.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b'{"eval": {}, "x": "' + b" " * 200 * MILLION + b'"}')
    refused_soon(of.adapters.read_inspect, path, "times its size. If you trust it, convert it: inspect log convert")


# -- Excel ----------------------------------------------------------------------------------------------

_SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%b</sheetData></worksheet>'


def excel(path, content):
    """An .xlsx file whose sheet holds this xml."""
    pytest.importorskip("openpyxl", reason="openpyxl is not installed (outfold[excel])")
    pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_excel(path, index=False)
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, part in members.items():
            new.writestr(name, _SHEET % content if name == "xl/worksheets/sheet1.xml" else part)
    return path


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(
            b'<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
            "1,048,576 rows and 16,384 columns, and values in only 2 cells. Delete what is far from the table",
            id="a cell far away",
        ),
        pytest.param(
            b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (i, i) for i in range(1, 20_001)),
            "20,000 rows and 16,384 columns",
            id="a column far away",
        ),
        pytest.param(b'<row r="999999999"/>', "999,999,999 rows", id="a row beyond the last"),
        pytest.param(
            b"<row>" * 2000 + b"</row>" * 2000,
            "parts of it are inside of others, 2,002 times. Save the table as",
            id="deep",
        ),
        pytest.param(b"<row><c><v>1</v></c></row>" * MILLION, "times its size. If you trust it", id="bomb"),
    ],
)
def test_an_excel_file_that_is_made_to_harm_is_refused(tmp_path, content, says):
    refused_soon(tables.read_file, excel(tmp_path / "x.xlsx", content), says)


def test_an_excel_file_with_few_cells_beside_the_table_is_read(tmp_path):
    rows = b'<row r="1"><c r="A1"><v>7</v></c></row><row r="2"><c r="A2"><v>1</v></c><c r="ZZ2"><v>5</v></c></row>'
    assert tables.read_file(excel(tmp_path / "x.xlsx", rows)).frame.shape[1] == 2


def test_a_large_sheet_with_many_empty_cells_is_read(tmp_path):
    """One cell in 25 is filled, as in a questionnaire with many branches."""
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed (outfold[excel])")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append([f"c{j}" for j in range(500)])
    for i in range(4200):
        sheet.append([1 if (i + j) % 25 == 0 else None for j in range(500)])
    book.save(tmp_path / "x.xlsx")
    assert tables.read_file(tmp_path / "x.xlsx").frame.shape == (4200, 500)


# -- texts that take long to read -----------------------------------------------------------------------


def test_short_lines_do_not_take_many_times_their_size(tmp_path):
    """Each line as a list of its cells would take 95 times the memory of the text."""
    path = tmp_path / "x.csv"
    path.write_text("a,b,c\n" + "1\n" * 50_000)
    tables.read_file(path)  # what is imported does not count
    tracemalloc.start()
    try:
        found = tables.read_file(path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.frame.shape == (50_000, 3)
    assert "50,000 lines have fewer values than there are columns, the first is line 2" in " ".join(found.notes)
    assert most < 75 * path.stat().st_size


def test_numbers_of_many_digits_are_codes(tmp_path):
    """Python reads no more than 4,300 digits as a number."""
    path = tmp_path / "x.csv"
    path.write_text("9" * 5000 + ",b\n" + "".join(f"{i}{'1' * 5000},-{'2' * 5000}\n" for i in range(1, 5)))
    found = tables.read_file(path).frame
    assert found.iloc[0].tolist() == ["1" * 5001, "-" + "2" * 5000]
    tables.inspect(found)


@pytest.mark.parametrize(
    "content", ["columns = " + "[" * 100_000, "[columns]\n" + ".".join(["a"] * 50_000) + " = 1", f"a = {'9' * 5000}"]
)
def test_a_file_of_columns_that_is_made_to_harm_is_refused(tmp_path, content):
    path = tmp_path / "columns.toml"
    path.write_text(content)
    refused_soon(read_columns, path, "the file of columns is not valid toml")


def test_a_long_name_makes_no_long_message(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x" * MILLION + ",b\n1,2\n")
    with pytest.raises(OutfoldError) as caught:
        of.read(path)
    assert len(str(caught.value)) < 2000
