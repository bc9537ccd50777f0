"""Small files as people really have them, each with what a reader must find in it."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """The bytes of a file, and what is in it: the separator, the columns, and the values of some of them."""

    name: str
    content: bytes
    separator: str
    columns: list[str]
    values: dict[str, list[object]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    words: str = ""  # part of what the dialect prints
    file: str = "t.csv"


def case(
    name: str, text: str | bytes, separator: str, columns: str | list[str], encoding: str = "utf-8", **more
) -> Case:
    content = text if isinstance(text, bytes) else text.encode(encoding)
    names = columns.split() if isinstance(columns, str) else columns
    return Case(name, content, separator, names, **more)


LONG = "The patient came in, felt dizzy; was sent home, and came back the next day."
CASES = [
    case("plain", "a,b,y\n1,2.5,x\n3,4.5,z\n", ",", "a b y", values={"a": [1, 3], "b": [2.5, 4.5], "y": ["x", "z"]}),
    case(
        "semicolons and decimal commas",
        "age;weight;sex\n34;70,5;m\n28;61,25;f\n61;80;m\n",
        ";",
        "age weight sex",
        values={"weight": [70.5, 61.25, 80.0], "age": [34, 28, 61]},
        words="separated by semicolons, decimal comma",
    ),
    case("two columns of decimal commas", "a;b\n1,5;2,5\n3,5;4,25\n", ";", "a b", values={"b": [2.5, 4.25]}),
    case(
        "decimal commas and dots between thousands",
        "city;income\nBonn;1.234,50\nUlm;12.345,00\nAalen;987,10\n",
        ";",
        "city income",
        values={"income": [1234.5, 12345.0, 987.1]},
        words="decimal comma, dots between thousands",
    ),
    case(
        "whole thousands beside decimal commas",
        "pop;share\n1.234;0,5\n12.345;0,25\n999;0,1\n",
        ";",
        "pop share",
        values={"pop": [1234, 12345, 999], "share": [0.5, 0.25, 0.1]},
        notes=("1.234 are read as 1234",),
    ),
    *(
        case(
            f"decimal commas and {word}",
            f"a;b\n1,5;2\n2,25;3\n{word};4\n0,125;5\n",
            ";",
            "a b",
            values={"b": [2, 3, 4, 5]},
            words="separated by semicolons, decimal comma, encoding",
        )
        for word in ("k.A.", "n.b.", "n. b.", "ca. 5")
    ),
    case(
        "commas between thousands in quotes",
        'id,amount\n1,"1,234.50"\n2,12.00\n3,"1,234,567.00"\n',
        ",",
        "id amount",
        values={"amount": [1234.5, 12.0, 1234567.0]},
        words="commas between thousands",
    ),
    case(
        "only numbers such as 1,234 in quotes",
        'id,amount\n1,"1,234"\n2,"5,678"\n',
        ",",
        "id amount",
        values={"amount": [1234, 5678]},
    ),
    case(
        "only numbers such as 1,234 between semicolons",
        "id;amount\n1;1,234\n2;5,678\n",
        ";",
        "id amount",
        values={"amount": [1.234, 5.678]},
        notes=("1,234 are read as 1.234",),
    ),
    case("spaces between thousands", "a;b\n1 234,5;1\n12 345,0;2\n", ";", "a b", values={"a": [1234.5, 12345.0]}),
    case("apostrophes between thousands", "a;b\n1'234.5;1\n12'345.0;2\n", ";", "a b", values={"a": [1234.5, 12345.0]}),
    case("money and percent", "a,b\n$5.50,12%\n$7.25,8.5%\n", ",", "a b", values={"a": [5.5, 7.25], "b": [12.0, 8.5]}),
    case(
        "latin-1",
        "name,size\nKöln,1\nMünchen,2\n",
        ",",
        "name size",
        "latin-1",
        values={"name": ["Köln", "München"]},
        notes=("not UTF-8; it is read as cp1252",),
    ),
    case("cp1252", "name;price\nBœuf;5€\nThé “vert”;4€\n", ";", "name price", "cp1252", values={"price": [5.0, 4.0]}),
    case("cp850", "name;n\nMüller;5\nSchön;4\n", ";", "name n", "cp850", values={"name": ["Müller", "Schön"]}),
    case("utf-16 with a mark", "a,b\n1,é\n2,ß\n", ",", "a b", "utf-16", values={"b": ["é", "ß"]}),
    case(
        "utf-16 without a mark", "name\tsize\nabc\t1\nxyz\t2\n", "\t", "name size", "utf-16-le", values={"size": [1, 2]}
    ),
    case("utf-8 with a mark", "a;b\n1;ü\n2;x\n", ";", "a b", "utf-8-sig", values={"a": [1, 2]}),
    case("tabs", "a\tb c\ty\n1\tred, blue\t0\n2\tgreen\t1\n", "\t", ["a", "b c", "y"], file="t.tsv"),
    case("pipes", "a|b|c\n1|x;y|2\n3|z,w|4\n", "|", "a b c", values={"b": ["x;y", "z,w"]}),
    case(
        "aligned with spaces",
        "  a    b   c\n  1  2.5   3\n 10  0.5  30\n",
        " ",
        "a b c",
        values={"a": [1, 10]},
        file="t.txt",
    ),
    case(
        "quotes with new lines and separators",
        f'id,text\n1,"{LONG}\nTwice."\n2,"He said ""no"", loudly"\n3,fine\n',
        ",",
        "id text",
        values={"text": [f"{LONG}\nTwice.", 'He said "no", loudly', "fine"]},
    ),
    case("everything in quotes", '"a";"b"\n"1";"x;y"\n"2";"z"\n', ";", "a b", values={"a": [1, 2], "b": ["x;y", "z"]}),
    case("single quotes", "a,b\n1,'x, y'\n2,'z, w'\n", ",", "a b", values={"b": ["x, y", "z, w"]}, words="quoted by '"),
    case(
        "quotes after a backslash",
        'a,b\n1,"say \\"hi\\", you"\n2,"x"\n',
        ",",
        "a b",
        values={"b": ['say "hi", you', "x"]},
    ),
    case("apostrophes in words", "a,b\n1,don't\n2,it's\n3,'tis\n", ",", "a b", values={"b": ["don't", "it's", "'tis"]}),
    case("lists of numbers between commas", "id;list\n1;3,4,5\n2;6,7,8\n3;9,10,11\n", ";", "id list"),
    case("a table in a cell", 'id,note\n1,fine\n2,"like this:\na|b|c\n1|x|2\n3|y|4\n5|z|6\n7|w|8"\n', ",", "id note"),
    case(
        "inches",
        'pipe,length\n5" steel,3\n7" copper,4\n',
        ",",
        "pipe length",
        values={"pipe": ['5" steel', '7" copper']},
    ),
    case("sentences between semicolons", f'a;b\n1;"{LONG}"\n2;"Well, yes, no"\n', ";", "a b"),
    case(
        "sentences with commas, not in quotes",
        "id;note\n1;came late, left early\n2;fine, thanks\n3;ok\n",
        ";",
        "id note",
    ),
    case(
        "comments before the table",
        "# made by a machine\n# in 2020, in May\na,b\n1,2\n3,4\n",
        ",",
        "a b",
        notes=("2 lines",),
    ),
    case("a comment sign before the names", "#a,b\n1,2\n3,4\n", ",", "a b", values={"a": [1, 3]}),
    case(
        "a title before the table",
        "Export of 3 May\n\nid;age;sex\n1;30;m\n2;40;f\n",
        ";",
        "id age sex",
        notes=("left out 1 line before the table",),
    ),
    case("a line for Excel", "sep=;\na;b\n1;2\n3;4\n", ";", "a b", values={"b": [2, 4]}),
    case("one column of numbers", "x\n1.5\n2.5\n3\n", "", "x", values={"x": [1.5, 2.5, 3.0]}, words="one column"),
    case("one column of decimal commas", "x\n1,5\n2,7\n3,25\n", "", "x", values={"x": [1.5, 2.7, 3.25]}),
    case("one column of sentences", "text\nHello, you\nI like, well, cake\nno\n", "", "text"),
    case("one column of two words each", "full name\nAnn Lee\nBob Ray\nCy Coe\n", "", ["full name"]),
    case("one column of times", "when\n2020-01-02 10:00\n2020-01-03 11:30\n", "", "when"),
    case("separators at the ends of lines", "a,b,\n1,2,\n3,4,\n", ",", "a b", values={"b": [2, 4]}),
    case("separators at the ends of rows alone", "a,b\n1,2,\n3,4,\n", ",", "a b", values={"a": [1, 3], "b": [2, 4]}),
    case(
        "short lines",
        "a,b,c\n1,2,3\n4,5\n6,7,8\n",
        ",",
        "a b c",
        values={"c": [3, None, 8]},
        notes=("1 line has fewer values than there are columns, the first is line 3",),
    ),
    case("names alone", "a;b;c\n", ";", "a b c", values={"a": []}),
    case(
        "the same name twice",
        "a,b,a,a\n1,2,3,4\n5,6,7,8\n",
        ",",
        "a b a.1 a.2",
        notes=("3 columns are called 'a'; the later ones are now 'a.1', 'a.2'",),
    ),
    case(
        "no names above numbers",
        "5.1,3.5,a\n4.9,3.0,b\n4.7,3.2,a\n",
        ",",
        "column_1 column_2 column_3",
        notes=("holds values",),
    ),
    case(
        "no names above words",
        "x,o,x,won\nx,x,o,lost\no,x,x,won\nx,o,o,won\n",
        ",",
        [f"column_{i}" for i in (1, 2, 3, 4)],
    ),
    case("names that are years", "country,2019,2020\nPeru,5.5,6.5\nChad,1.5,2.5\n", ",", "country 2019 2020"),
    case(
        "names of rows as R writes them",
        '"x","y"\n"1",3,4\n"2",5,6\n',
        ",",
        ["Unnamed: 0", "x", "y"],
        notes=("names of rows",),
    ),
    case(
        "names of rows and spaces",
        '"x" "y"\n"1" 3 "a"\n"2" 5 "b"\n',
        " ",
        ["Unnamed: 0", "x", "y"],
        values={"y": ["a", "b"]},
    ),
    case("the index of pandas", ",a\n0,1.5\n1,2.5\n", ",", ["Unnamed: 0", "a"], values={"a": [1.5, 2.5]}),
    case("spaces after commas", "a, b, c\n1, x, 2\n3, y z, 4\n", ",", "a b c", values={"b": ["x", "y z"], "c": [2, 4]}),
    case("lines of Windows", b"a,b\r\n1,2\r\n3,4\r\n", ",", "a b", values={"b": [2, 4]}),
    case("lines of an old Mac", b"a,b\r1,2\r3,4\r", ",", "a b", values={"b": [2, 4]}),
    case(
        "rows of separators alone",
        "a;b;c\n1;2;3\n;;\n4;5;6\n;;\n",
        ";",
        "a b c",
        values={"a": [1, 4]},
        notes=("2 rows without any",),
    ),
    case("codes with zeros in front", "zip,n\n01067,1\n80331,2\n", ",", "zip n", values={"zip": ["01067", "80331"]}),
    case(
        "codes with zeros in front beside decimal commas",
        "PLZ;n\n01067;1,5\n80331;2,5\n",
        ";",
        "PLZ n",
        values={"PLZ": ["01067", "80331"], "n": [1.5, 2.5]},
    ),
    case(
        "zeros in front of a number among decimals",
        "a;n\n05;1,5\n7,25;2,5\n",
        ";",
        "a n",
        values={"a": [5.0, 7.25], "n": [1.5, 2.5]},
    ),
    case(
        "numbers longer than any number",
        "code,n\n12345678901234567890,1\n2,2\n",
        ",",
        "code n",
        values={"code": ["12345678901234567890", "2"]},
    ),
    case(
        "missing in several ways",
        "a,b\n1,x\nNA,\n3,NA\n-,y\n",
        ",",
        "a b",
        values={"a": [1, None, 3, None], "b": ["x", None, "NA", "y"]},
    ),
    case(
        "dates with dots",
        "when;n\n01.02.2020;1,5\n15.02.2020;2,5\n",
        ";",
        "when n",
        values={"when": ["01.02.2020", "15.02.2020"]},
    ),
    case("times with colons", "t;n\n10:30;1\n11:45;2\n", ";", "t n", values={"t": ["10:30", "11:45"]}),
    case("packed", gzip.compress(b"a;b\n1;2\n3;4\n"), ";", "a b", values={"a": [1, 3]}, file="t.csv.gz"),
    case("packed without saying so", gzip.compress(b"a;b\n1;2\n3;4\n"), ";", "a b", values={"a": [1, 3]}),
    case("a long minus", "a,b\n−1.5,2\n2.5,3\n", ",", "a b", values={"a": [-1.5, 2.5]}),
    case("exponents and signs", "a,b\n1e-3,+5\n2.5E3,-7\n", ",", "a b", values={"a": [0.001, 2500.0], "b": [5, -7]}),
    case(
        "an unknown value among decimal commas",
        "a;b\n1,5;x\nunbekannt;y\n" + "2,5;x\n" * 8,
        ";",
        "a b",
        values={"a": ["1.5", "unbekannt"] + ["2.5"] * 8},
    ),
]

# Files that no reader can make sense of, and the sentence that says so.
REFUSED = [
    ("empty", b"", "t.csv", "t.csv is empty."),
    ("only spaces", b" \n\n  \n", "t.csv", "t.csv is empty."),
    (
        "too long a line",
        b"a,b\n1,2\n3,4,5\n6,7\n",
        "t.csv",
        "line 3 of t.csv has 3 values; the first line has 2. Put quotes around a value that contains ','",
    ),
    (
        "Excel with the wrong ending",
        b"PK\x03\x04abc",
        "t.csv",
        "t.csv is an Excel or zip file, not a text file. If it is an Excel file, rename it to .xlsx.",
    ),
    ("numbers of a machine", bytes(range(256)) * 20, "t.csv", "t.csv is not a text file."),
    ("cut off", gzip.compress(b"a,b\n" * 1000)[:-20], "t.csv.gz", "cannot be unpacked"),
    ("another ending", b"a,b\n", "t.doc", "t.doc must be a .csv, .tsv, .txt, .parquet, .feather, .arff or .xlsx file."),
    ("a statistics program", b"a,b\n", "t.sav", "Save it as .xlsx or .csv."),
    ("no parquet", b"abc", "t.parquet", "t.parquet could not be read as a table"),
    ("no arff", b"a,b\n1,2\n", "t.arff", "t.arff is not an .arff file"),
]
