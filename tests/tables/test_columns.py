"""Roles, kinds and what becomes of the features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras import pd
from outfold import tables
from outfold.exceptions import FileError, InputError
from outfold.tables import Column, Columns
from outfold.tables.columns import read_columns

pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")

N = 60
RNG = np.random.default_rng(0)
SENTENCE = [
    "the",
    "patient",
    "felt",
    "a",
    "little",
    "better",
    "today",
    "and",
    "slept",
    "well",
    "without",
    "any",
    "pain",
]


def look(values, name="x", **options):
    """What is found of one column beside an ordinary one."""
    frame = pd.DataFrame({"other": RNG.normal(size=len(values)), name: values})
    return tables.inspect(frame, **options)[1]


def found(values, name="x"):
    column = look(values, name)
    return column.role, column.kind


DATES = pd.date_range("2020-01-01", periods=N)


@pytest.mark.parametrize(
    ("values", "role", "kind"),
    [
        (RNG.normal(size=N), "feature", "number"),
        (RNG.integers(0, 4, N), "feature", "number"),
        (RNG.integers(0, 2, N), "feature", "number"),
        (RNG.integers(1990, 2020, N), "feature", "number"),
        (RNG.permutation(10_000)[:N], "feature", "number"),
        (np.round(RNG.normal(size=N), 3).astype(str), "feature", "number"),
        (RNG.choice(["a", "b", "c"], N), "feature", "category"),
        (RNG.choice(["01", "02", "10"], N), "feature", "category"),
        (RNG.choice(["yes", "no"], N), "feature", "boolean"),
        (RNG.choice([True, False], N), "feature", "boolean"),
        (DATES, "feature", "date"),
        (DATES.strftime("%d.%m.%Y"), "feature", "date"),
        (DATES.strftime("%Y-%m-%d %H:%M"), "feature", "date"),
        ([" ".join(RNG.choice(SENTENCE, 8)) for _ in range(N)], "feature", "text"),
        (range(N), "id", "number"),
        (range(1000, 1000 + N), "id", "number"),
        (RNG.permutation(N), "id", "number"),
        (np.cumsum(RNG.choice([1, 1, 2], N)), "id", "number"),
        ([f"p{i:03d}" for i in range(N)], "id", "category"),
        ([f"Ann Lee {i}" for i in range(N)], "id", "category"),
        ([7] * N, "constant", "number"),
        (["x"] * N, "constant", "category"),
        ([None] * N, "empty", "category"),
        ([np.nan] * N, "empty", "number"),
        (["", "NA", "?"] * (N // 3), "empty", "category"),
        ([1.5, 2.5] + [np.nan] * (N - 2), "empty", "number"),
        ([[1, 2]] * N, "unused", None),
        ([1 + 2j] * N, "unused", None),
    ],
)
def test_roles_and_kinds(values, role, kind):
    column = look(list(values) if isinstance(values, range) else values)
    assert (column.role, column.kind) == (role, kind)
    assert column.reason or role == "feature"


def test_names_tell_ids_that_numbers_alone_do_not():
    numbers = RNG.permutation(10_000)[:N]
    assert found(numbers, "income") == ("feature", "number")
    for name in ("id", "ID", "case id", "sample_id", "orderId", "record nr"):
        assert found(numbers, name) == ("id", "number"), name
    for name in ("width", "video", "identity", "idea"):
        assert found(numbers, name) == ("feature", "number"), name


def test_an_id_that_repeats_asks_for_groups():
    column = look(np.repeat(np.arange(20), 3), "patient_id")
    assert column.role == "id"
    assert "make it the group" in column.warning
    assert look(np.repeat(np.arange(20), 3), "dose").role == "feature"


def test_a_first_column_without_name_is_an_index_even_of_few_rows():
    frame = pd.DataFrame({"Unnamed: 0": [7, 2, 9, 4], "x": [1.0, 2.5, 2.0, 3.0]})
    assert tables.inspect(frame)[0].reason.startswith("a first column without a name that numbers the rows")


def test_few_odd_values_among_numbers_count_as_missing_and_are_named():
    values = [str(x) for x in np.round(RNG.normal(size=N), 3)]
    values[3] = values[9] = "not done"
    column = look(values)
    assert (column.kind, column.missing_values, column.missing) == ("number", ("not done",), 2 / N)
    assert column.reason == "numbers, except 'not done' in 2 rows, which count as missing"
    frame = pd.DataFrame({"x": values})
    X = tables.features(frame, Columns((column,)))
    assert X["x"].isna().sum() == 2
    grades = [str(i % 9) for i in range(N - 1)] + ["K"]
    assert look(grades).kind == "category"


def test_infinite_values_count_as_missing():
    column = look([np.inf, *RNG.normal(size=N - 1)])
    assert (column.missing, column.reason) == (1 / N, "infinite values count as missing")
    column = look([1.8e308, -1.8e308, 1e39, *RNG.normal(size=N - 3)])
    assert (column.missing, column.reason) == (3 / N, "values beyond 3.4e+38 count as missing")
    column = look([3e38, *RNG.normal(size=N - 1)])
    assert (column.missing, column.reason) == (0, "")


def test_dates_whose_order_cannot_be_told_come_with_a_warning_unless_other_dates_tell():
    days = [f"0{1 + i % 9}/0{1 + i % 7}/2020" for i in range(N)]
    column = look(days, "visit")
    assert column.order == "mdy"
    assert "the dates of 'visit' may be read wrongly: month before day is a guess" in column.warning
    frame = pd.DataFrame({"visit": days, "born": DATES.strftime("%d/%m/%Y")})
    visit, born = tables.inspect(frame)
    assert (visit.order, born.order, visit.warning) == ("dmy", "dmy", "")


def test_one_note_names_the_features_that_hold_past_dates():
    soon = pd.Timestamp.now() + pd.to_timedelta(np.arange(N), unit="D")
    frame = pd.DataFrame(
        {"seen": DATES, "sent home": DATES[::-1].strftime("%d.%m.%Y"), "due": soon, "x": np.arange(N) % 7}
    )
    expected = "'seen', 'sent home' hold past dates: new rows with later dates all lie outside the training range. "
    assert tables.inspect(frame).notes == (f"{expected}--drop-columns 'seen,sent home' leaves them out",)
    (note,) = tables.inspect(frame, leave_out=["sent home"]).notes
    assert note.endswith("--drop-columns seen leaves it out")
    assert tables.inspect(frame, leave_out=["seen"], sample="sent home").notes == ()


def test_copies_are_used_once():
    x = RNG.normal(size=N)
    frame = pd.DataFrame(
        {"x": x, "copy": x, "text": x.astype(str), "minus": -x, "c": ["a", "b"] * 30, "d": ["a", "b"] * 30}
    )
    columns = tables.inspect(frame)
    assert [column.role for column in columns] == [
        "feature",
        "duplicate",
        "duplicate",
        "feature",
        "feature",
        "duplicate",
    ]
    assert columns[5].reason == "the same values as 'c'"


# -- what a person decides ------------------------------------------------------------------------------


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "id": [f"p{i:02d}" for i in range(N)],
            "age": RNG.integers(20, 80, N),
            "code": RNG.integers(1, 4, N),
            "clinic": RNG.integers(0, 12, N),
            "late": RNG.normal(size=N),
            "y": RNG.choice(["yes", "no"], N),
        }
    )


def test_named_columns_have_their_roles(frame):
    columns = tables.inspect(frame, target="y", group="clinic", sample="id", leave_out=["late"])
    assert [column.role for column in columns] == ["sample", "feature", "feature", "group", "unused", "target"]
    assert list(columns.kinds.items()) == [("age", "number"), ("code", "number")]
    assert columns.named("target") == "y"
    assert columns.named("time") is None


def test_a_file_of_columns_overrides_and_the_rest_is_decided(frame):
    given = Columns.from_toml('[columns]\ncode = {kind = "category"}\nid = {role = "feature"}\ny = {role = "target"}\n')
    columns = tables.inspect(frame, given=given)
    roles = {column.name: (column.role, column.kind) for column in columns}
    assert roles["code"] == ("feature", "category")
    assert roles["id"] == ("feature", "category")
    assert roles["age"] == ("feature", "number")
    assert roles["y"] == ("target", None)
    assert columns[2].reason == "as the file of columns says"
    X = tables.features(frame, columns)
    assert set(X["code"]) == {"1", "2", "3"}


def test_the_file_of_columns_of_a_table_changes_nothing(frame):
    columns = tables.inspect(frame, target="y")
    assert tables.inspect(frame, given=Columns.from_toml(columns.to_toml())) == columns


def test_another_target_than_that_of_the_file_leaves_its_target_out(frame):
    given = tables.inspect(frame, target="y")
    columns = {column.name: column for column in tables.inspect(frame, target="late", given=given)}
    assert (columns["late"].role, columns["y"].role) == ("target", "unused")


def test_values_that_a_person_names_are_missing(frame):
    frame.loc[:4, "age"] = 999
    given = Columns.from_toml('[columns]\nage = {kind = "number", missing_values = ["999"]}\n')
    columns = tables.inspect(frame, given=given)
    assert columns[1].missing == 5 / N
    assert tables.features(frame, columns)["age"].isna().sum() == 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("columns = 3", "needs a table [columns]"),
        ("[columns]\nx = 3", "needs a table [columns]"),
        ("[columns\n", "not valid toml"),
        ('[columns]\nx = {role = "label"}', "role of the column 'x' must be one of feature, target, group"),
        ('[columns]\nx = {kind = "int"}', "kind of the column 'x' must be one of number, category"),
        ('[columns]\nx = {colour = "red"}', "colour of the column 'x' is not known"),
        ('[columns]\nx = {missing_values = "red"}', "must be a list of texts"),
    ],
)
def test_a_wrong_file_of_columns_gives_one_sentence(text, says, tmp_path):
    path = tmp_path / "columns.toml"
    path.write_text(text)
    for read in (lambda: Columns.from_toml(text), lambda: read_columns(path)):
        with pytest.raises((FileError, InputError)) as error:
            read()
        assert says in str(error.value)


def test_wrong_names(frame):
    with pytest.raises(
        InputError, match=r"target must name a column of the table; there is no column 'agee'. Did you mean 'age'\?"
    ):
        tables.inspect(frame, target="agee")
    given = Columns((Column("gone", "feature", "number"),))
    with pytest.raises(InputError, match="no column 'gone', which the file of columns has"):
        tables.inspect(frame, given=given)
    twice = Columns((Column("age", "target"), Column("y", "target")))
    with pytest.raises(InputError, match="has 'age', 'y' as the target; only one can be"):
        tables.inspect(frame, given=twice)
    with pytest.raises(InputError, match="names of columns, but no rows"):
        tables.inspect(frame.iloc[:0])
    with pytest.raises(InputError, match="two columns of the table are called 'a'"):
        tables.inspect(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="must be a pandas data frame; got list"):
        tables.inspect([1, 2])


@pytest.mark.parametrize(
    ("roles", "says"),
    [
        ({"target": "y", "group": "y"}, "group must name another column than target; both name 'y'"),
        ({"time": "age", "event": "age"}, "event must name another column than time; both name 'age'"),
        ({"target": "y", "leave_out": ["age", "y"]}, "leave_out must name another column than target"),
    ],
)
def test_a_column_that_is_named_for_two_purposes_is_refused(frame, roles, says):
    with pytest.raises(InputError, match=says):
        tables.inspect(frame, **roles)


def test_a_role_needs_one_value_in_each_cell(frame):
    frame["several"] = [[1, 2]] * len(frame)
    with pytest.raises(InputError, match="the cells of 'several' hold several"):
        tables.inspect(frame, group="several")
    assert tables.inspect(frame, leave_out=["several"]).having("unused")[-1].name == "several"


# -- toml -----------------------------------------------------------------------------------------------

NAMES = st.text(max_size=12)
COLUMNS = st.builds(
    Column,
    name=NAMES,
    role=st.sampled_from(["feature", "target", "id", "unused", "empty"]),
    kind=st.sampled_from(["number", "category", "boolean", "date", "text", None]),
    missing=st.floats(0, 1),
    distinct=st.integers(0, 10**9),
    treatment=st.text(max_size=5),
    reason=st.text(max_size=30),
    order=st.sampled_from(["", "ymd", "dmy", "mdy"]),
    missing_values=st.lists(st.text(max_size=5), max_size=3).map(tuple),
)


@given(st.lists(COLUMNS, max_size=6, unique_by=lambda column: column.name), st.text(max_size=30))
def test_columns_come_back_from_toml_and_from_rows(columns, comment):
    columns = Columns(tuple(columns), notes=(comment,))
    assert Columns.from_toml(columns.to_toml(comment)) == columns
    assert Columns.from_rows(columns.to_rows()) == columns


# -- features -------------------------------------------------------------------------------------------


def test_each_kind_has_one_type():
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "b": ["yes", "no", ""],
            "c": ["a", "NA", None],
            "d": ["01.02.2020", "", "03.02.2020"],
            "t": ["some words", None, "NA"],
        }
    )
    kinds = {"n": "number", "b": "boolean", "c": "category", "d": "date", "t": "text"}
    columns = Columns(
        tuple(Column(name, "feature", kind, order="dmy" if kind == "date" else "") for name, kind in kinds.items())
    )
    X = tables.features(frame, columns)
    assert [str(dtype) for dtype in X.dtypes] == ["float64", "float64", "object", "datetime64[ns]", "object"]
    np.testing.assert_equal(X["b"].to_numpy(), [1, 0, np.nan])
    assert X["c"].tolist() == ["a", None, None]
    assert X["t"].tolist() == ["some words", "", ""]
    np.testing.assert_equal(X["d"].to_numpy(), np.array(["2020-02-01", "NaT", "2020-02-03"], dtype="datetime64[ns]"))


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1.0, 2.0, np.nan], "category", ["1", "2", None]),
        (["1", " 2", ""], "category", ["1", "2", None]),
        ([0.5, 2, 3], "category", ["0.5", "2", "3"]),
        ([True, False, None], "boolean", [1, 0, np.nan]),
        (["True", "false", "?"], "boolean", [1, 0, np.nan]),
        ([1, 0, np.nan], "boolean", [1, 0, np.nan]),
        (["1.5", "-", "2e3"], "number", [1.5, np.nan, 2000]),
        ([np.inf, 1, -np.inf], "number", [np.nan, 1, np.nan]),
        (pd.array([1, None, 3], dtype="Int64"), "number", [1, np.nan, 3]),
        (pd.to_timedelta([1, 2, 3], unit="min"), "number", [60, 120, 180]),
        (pd.Categorical(["a", None, "b"], categories=["c", "b", "a"]), "category", ["a", None, "b"]),
        ([b"a", b"b", None], "category", ["a", "b", None]),
    ],
)
def test_the_type_of_the_table_does_not_matter(values, kind, expected):
    X = tables.features(pd.DataFrame({"x": values}), Columns((Column("x", "feature", kind),)))
    np.testing.assert_equal(X["x"].to_numpy(), np.array(expected, dtype=X["x"].dtype))


def test_time_zones_and_far_dates():
    columns = Columns((Column("x", "feature", "date"),))
    zoned = pd.DataFrame({"x": pd.to_datetime(["2020-01-01 12:00"]).tz_localize("Europe/Berlin")})
    assert tables.features(zoned, columns)["x"].tolist() == [pd.Timestamp("2020-01-01 11:00")]
    far = pd.DataFrame({"x": np.array(["9999-12-31", "2020-01-01"], dtype="datetime64[s]")})
    assert tables.features(far, columns)["x"].isna().tolist() == [True, False]


def test_rows_to_predict_go_the_same_way_whatever_the_order_and_the_other_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "n;code;sex;day\n" + "".join(f"{i},5;{i % 3};{'mf'[i % 2]};{1 + i % 28}.01.2020\n" for i in range(N))
    )
    frame = tables.read_file(path).frame
    columns = tables.inspect(frame, given=Columns.from_toml('[columns]\ncode = {kind = "category"}\n'))
    whole = tables.features(frame, columns)
    some = frame.iloc[[5, 3]][["day", "sex", "code", "n"]].assign(new=1)
    pd.testing.assert_frame_equal(tables.features(some, columns), whole.iloc[[5, 3]])


@given(st.data())
def test_no_row_changes_what_another_row_gives(data):
    kind = data.draw(st.sampled_from(["number", "category", "boolean", "date", "text"]))
    cells = {
        "number": ["1", "2.5", "NA", "", "1e3", "-7"],
        "category": ["a", "b", "NA", "", "1", " a"],
        "boolean": ["yes", "No", "", "TRUE", "f"],
        "date": ["01.02.2020", "", "3.4.2021 10:00", "2020-01-05", "NA"],
        "text": ["some words", "", "NA", "others"],
    }[kind]
    values = data.draw(st.lists(st.sampled_from(cells), min_size=1, max_size=10))
    columns = Columns((Column("x", "feature", kind, order="dmy" if kind == "date" else ""),))
    whole = tables.features(pd.DataFrame({"x": values}), columns)
    alone = pd.concat([tables.features(pd.DataFrame({"x": [v]}), columns) for v in values], ignore_index=True)
    assert [str(v) for v in whole["x"]] == [str(v) for v in alone["x"]]


@pytest.mark.parametrize(
    ("values", "kind", "says"),
    [
        (["1", "x", "2"], "number", "the column 'x' must hold numbers; data row 2 has 'x'."),
        ([1.5, np.nan], "date", "the column 'x' must hold dates; data row 1 has '1.5'."),
        (
            ["1", "x", "y"],
            "number",
            "the column 'x' must hold numbers; 2 rows do not, the first is data row 2 with 'x'.",
        ),
        (["yes", "no", "maybe"], "boolean", "must hold yes or no; data row 3 has 'maybe'"),
        ([0, 1, 2], "boolean", "must hold yes or no; data row 3 has"),
        (["2020-01-01", "soon", ""], "date", "must hold dates; data row 2 has 'soon'"),
        ([5, 6, 7], "date", "must hold dates; 3 rows do not"),
        (["a", "b", "c"], "number", "3 rows do not, the first is data row 1 with 'a'"),
    ],
)
def test_values_of_another_kind_are_refused_with_their_row(values, kind, says):
    with pytest.raises(InputError) as error:
        tables.features(pd.DataFrame({"x": values}), Columns((Column("x", "feature", kind),)))
    assert says in str(error.value)


def test_columns_that_lack_are_all_named():
    columns = Columns(tuple(Column(name, "feature", "number") for name in ("age", "size", "dose")))
    with pytest.raises(InputError, match=r"the table has no column 'age', 'dose'. It has 'Age'."):
        tables.features(pd.DataFrame({"Age": [1], "size": [2]}), columns)


# -- a table without features ---------------------------------------------------------------------------


def test_a_table_of_an_id_and_a_label_gets_a_clear_sentence():
    labels = pd.DataFrame({"id": range(N), "label": RNG.choice(["a", "b"], N)})
    (note,) = tables.inspect(labels).notes
    assert note == (
        "the table has an id, 'id', and one other column. "
        "If that is a label, join the table first with the one that has the features"
    )
    columns = tables.inspect(labels, target="label")
    says = "the table has only an id, 'id', and the target 'label'. Join it first with the table that has the features"
    assert columns.notes == (says,)
    with pytest.raises(InputError, match="the table has only an id, 'id', and the target 'label'"):
        tables.features(labels, columns)


def test_a_table_of_useless_columns_says_why():
    frame = pd.DataFrame({"a": [1] * N, "b": [None] * N, "y": RNG.normal(size=N)})
    (note,) = tables.inspect(frame, target="y").notes
    assert note == "there is no column to predict from ('a': the same value in every row; 'b': no value in any row)"


# -- leaks ----------------------------------------------------------------------------------------------


def leaks(y, **features):
    columns = tables.inspect(pd.DataFrame({**features, "y": y}), target="y")
    return {column.name for column in columns if column.warning}


def test_a_feature_that_is_the_target_in_other_words_is_flagged_and_stays_a_feature():
    y = RNG.choice(["sick", "well"], 200)
    sick = y == "sick"
    noise = RNG.normal(size=200)
    suspects = {
        "score": sick * 5 + RNG.random(200),
        "minus": -(sick * 5 + RNG.random(200)),
        "word": np.where(sick, "treated", "sent home"),
        "died on": np.where(sick, "2020-05-05", ""),
        "stay": np.where(sick, noise, np.nan),
    }
    fair = {"noise": noise, "strong": sick + 0.5 * noise, "group": RNG.choice(["a", "b"], 200)}
    assert leaks(y, **suspects, **fair) == set(suspects)
    columns = tables.inspect(pd.DataFrame({**suspects, **fair, "y": y}), target="y")
    assert "score" in columns.kinds
    assert "'score' alone predicts the target almost perfectly (AUC 1.000)" in str(columns)
    assert "Whether a value is missing in 'stay' alone" in str(columns)


def test_leaks_of_numbers_and_of_several_classes():
    y = RNG.normal(size=200)
    assert leaks(y, same=np.exp(y), noisy=y + RNG.normal(size=200), level=np.round(y, 1)) == {"same", "level"}
    classes = RNG.choice(["a", "b", "c"], 300)
    code = np.select([classes == "a", classes == "b"], [7, 3], 5)
    assert leaks(classes, code=code, other=RNG.integers(0, 3, 300)) == {"code"}


def test_chance_is_not_flagged():
    y = np.repeat(["a", "b"], 20)
    noise = {f"x{i}": RNG.normal(size=40) for i in range(300)} | {
        f"c{i}": RNG.choice(list("uvwxyz"), 40) for i in range(50)
    }
    assert leaks(y, **noise) == set()
    assert leaks(["a"] * 38 + ["b"] * 2, x=np.arange(40) + 0.5) == set()


# -- printing -------------------------------------------------------------------------------------------


def test_the_table_for_people(frame):
    frame.loc[0, "age"] = np.nan
    lines = str(tables.inspect(frame, target="y")).splitlines()
    assert lines[0].split() == ["column", "role", "kind", "distinct", "missing", "treatment"]
    assert lines[1].startswith("id ")
    assert "not used (text that differs in most rows, as names and ids do)" in lines[1]
    assert lines[2].endswith("2%  as it is; missing values are replaced and marked")
    assert lines[6].split()[:3] == ["y", "target", "-"]
    wide = tables.inspect(pd.DataFrame(RNG.normal(size=(30, 150))).rename(columns=str))
    assert str(wide).splitlines()[-1] == "… and 50 more"
