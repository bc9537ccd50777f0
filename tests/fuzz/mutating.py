"""Ways to spoil a file that know what is in it: values of json, tokens of text, rows of tables, pages of a database."""

from __future__ import annotations

import json
import math
import sqlite3
import struct
from random import Random
from typing import Any

# -- values ---------------------------------------------------------------------------------------------

NUMBERS = (0, -1, 1, 2, 3, 0.5, -0.0, 1e308, 1e-320, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), math.inf, math.nan)
TEXTS = ("", "x", "-1", "nan", "1e999", "\0", "\u202e", "a" * 500, "oof", "done", "[]", "null", "<U30000000", "|O", "µ")


def odd_value(rng: Random) -> Any:
    """A value of any type of json."""
    kind = rng.randrange(7)
    if kind < 2:
        return rng.choice(NUMBERS)
    if kind < 4:
        return rng.choice(TEXTS)
    return rng.choice([None, True, False, [], {}, [1, "a"], {"a": 1}, [[]], 10**400, {"__tuple__": 3}])


def mutate_json(rng: Random, value: Any) -> Any:
    """The value with one leaf, entry or level changed, at a random place."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        out = dict(value)
        step = rng.randrange(10)
        if step == 0:
            del out[key]
        elif step == 1:
            out[rng.choice(TEXTS)] = odd_value(rng)
        elif step == 2:
            out[rng.choice(list(value))] = out[key]
        else:
            out[key] = mutate_json(rng, value[key])
        return out
    if isinstance(value, list) and value and rng.random() < 0.85:
        i, out = rng.randrange(len(value)), list(value)
        step = rng.randrange(8)
        if step == 0:
            del out[i]
        elif step == 1:
            out.insert(i, out[i])
        elif step == 2:
            out[i : i + 1] = []
        else:
            out[i] = mutate_json(rng, value[i])
        return out
    if isinstance(value, (int, float)) and not isinstance(value, bool) and rng.random() < 0.5:
        return rng.choice([-value, value + 1, value - 1, value * 1e6, str(value), *NUMBERS])
    if rng.random() < 0.05:
        for _ in range(rng.choice([3, 2000])):  # levels below levels
            value = [value]
        return value
    return odd_value(rng)


def mutate_json_text(rng: Random, text: str) -> str:
    """The json with one value changed, or broken."""
    if rng.random() < 0.1:
        return mutate_text(rng, text, ("{", "}", "[", "]", ",", ":", '"', "\\", "NaN", "1e999"))
    try:
        return json.dumps(mutate_json(rng, json.loads(text)), ensure_ascii=rng.random() < 0.5)
    except (ValueError, RecursionError):
        return text[:-1]


# -- bytes and text -------------------------------------------------------------------------------------


def mutate_bytes(rng: Random, content: bytes, unit: int = 512) -> bytes:
    """The content with bits flipped, parts overwritten, moved, left out or repeated."""
    out = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5])):
        if not out:
            break
        at = rng.randrange(len(out))
        size = rng.choice([1, 2, 4, 8, 64, unit])
        step = rng.randrange(8)
        if step < 2:
            out[at] ^= 1 << rng.randrange(8)
        elif step == 2:
            out[at : at + size] = rng.randbytes(len(out[at : at + size]))
        elif step == 3:
            out[at : at + size] = bytes([rng.choice([0, 1, 0x7F, 0x80, 0xFF])]) * len(out[at : at + size])
        elif step == 4:
            other = rng.randrange(len(out))
            out[at : at + size] = out[other : other + len(out[at : at + size])]
        elif step == 5:
            del out[at : at + size]
        elif step == 6:
            out[at:at] = out[at : at + size]
        else:
            del out[at:]
    return bytes(out)


def mutate_text(rng: Random, text: str, tokens: tuple[str, ...]) -> str:
    """The text with tokens put in, and words, lines and parts changed."""
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.choice([1, 3, 10, 60]))
        step = rng.randrange(7)
        lines = text.split("\n")
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        if step < 3:
            text = text[:at] + rng.choice(tokens) + text[rng.choice([at, to]) :]
        elif step == 3:
            text = text[:at] + text[to:]
        elif step == 4:
            lines[i], lines[j] = lines[j], lines[i]
            text = "\n".join(lines)
        elif step == 5:
            text = "\n".join([*lines[:i], *lines[j : j + rng.choice([1, 3])] * rng.choice([1, 2, 50]), *lines[i:]])
        else:
            cells = lines[i].split(",")
            cells[rng.randrange(len(cells))] = rng.choice(tokens)
            lines[i] = ",".join(cells)
            text = "\n".join(lines)
    return text


# -- tables of SQLite -----------------------------------------------------------------------------------

_SCHEMA_CHANGES = (
    "CREATE TABLE more (a)",
    "CREATE VIEW more AS SELECT 1",
    "CREATE TRIGGER more AFTER INSERT ON about BEGIN DELETE FROM about; END",
    "CREATE INDEX more ON cells (state)",
    "CREATE VIRTUAL TABLE more USING fts5(a)",
    "ALTER TABLE configs ADD COLUMN more AS (position * 2)",
    "ALTER TABLE samples RENAME COLUMN label TO other",
    "DROP TABLE train",
    "ANALYZE",
)
_ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i AS position, 'c' || i AS name, '{}' AS params FROM n",
    "SELECT position, name, zeroblob(1000000000) AS params FROM more",
)


def mutate_tables(rng: Random, db: sqlite3.Connection) -> None:
    """Change the database by a statement or a few."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        step = rng.randrange(20)
        if step == 0:
            db.execute(rng.choice(_SCHEMA_CHANGES))
        elif step == 1 and rng.random() < 0.5:
            db.execute("ALTER TABLE configs RENAME TO more")
            db.execute(f"CREATE VIEW configs AS {rng.choice(_ENDLESS)}")
            return
        elif step == 2:
            db.execute(f"PRAGMA user_version = {rng.choice([0, 1, 2, 3, 4, 5, 6, -1])}")
        elif step < 5:
            _change_rows(rng, db)
        else:
            _change_value(rng, db)


def _tables(db: sqlite3.Connection) -> dict[str, list[str]]:
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in names}


def _change_rows(rng: Random, db: sqlite3.Connection) -> None:
    """Rows that are lacking, many, or under other keys."""
    tables = _tables(db)
    table = rng.choice(list(tables))
    key = tables[table][0]
    step = rng.randrange(4)
    if step == 0:
        db.execute(f"DELETE FROM {table}")
    elif step == 1:
        db.execute(
            f"DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET ?)",
            (rng.randrange(9),),
        )
    elif step == 2:
        column = rng.choice(tables[table])
        db.execute(f'UPDATE OR IGNORE {table} SET "{column}" = "{column}" + ?', (rng.choice([1, -1, 100, 2**31]),))
    else:
        columns = ", ".join(f'"{column}"' for column in tables[table][1:])
        numbers = (
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rng.choice([3, 300, 20000])})"
        )
        db.execute(
            f"{numbers} INSERT OR IGNORE INTO {table} SELECT i + 7, {columns} FROM n, (SELECT * FROM {table} LIMIT 1)"
        )


def _change_value(rng: Random, db: sqlite3.Connection) -> None:
    """One value of one row, in a way that its type suggests."""
    tables = _tables(db)
    weights = {"about": 8, "cells": 3, "numbers": 3, "configs": 2, "samples": 2, "folds": 2, "train": 2}
    table = rng.choices(list(tables), [weights.get(name, 1) for name in tables])[0]
    rows = db.execute(f"SELECT * FROM {table}").fetchall()
    if not rows:
        return
    row, columns = rng.choice(rows), tables[table]
    at = columns.index("value") if table == "about" and rng.random() < 0.95 else rng.randrange(len(columns))
    same = " AND ".join(f'"{column}" IS ?' for column in columns)
    db.execute(f'UPDATE OR REPLACE {table} SET "{columns[at]}" = ? WHERE {same}', (_other(rng, row[at]), *row))


def _other(rng: Random, value: Any) -> Any:
    if isinstance(value, bytes) and value and rng.random() < 0.8:
        return _other_blob(rng, value)
    if isinstance(value, str) and value[:1] in '{["' and rng.random() < 0.9:
        return mutate_json_text(rng, value).encode("utf-8", "replace").decode()
    if isinstance(value, (int, float)) and rng.random() < 0.7:
        return rng.choice([value + 1, -value, value * 2, value + 0.5, 2**31, 2**62, -1])
    return rng.choice([None, 0, -1, 1.5, 2**62, math.inf, b"", b"\xff" * 8, *TEXTS])


def _other_blob(rng: Random, blob: bytes) -> bytes:
    """Numbers of four or eight bytes: others, more or fewer of them."""
    size, kind = rng.choice([(4, "<i"), (8, "<d")])
    odd = (
        [-1, -2, 0, 1, 2, 100, 2**31 - 1, -(2**31)]
        if kind == "<i"
        else [math.nan, math.inf, -0.0, 1e300, -1.0, 2.0, 5e-324]
    )
    step = rng.randrange(5)
    if step == 0:
        return blob[: rng.randrange(len(blob))]
    if step == 1:
        return blob * rng.choice([2, 3, 100])
    if step == 2:
        return mutate_bytes(rng, blob, 8)
    out, at = bytearray(blob), size * rng.randrange(max(1, len(blob) // size))
    out[at : at + size] = struct.pack(kind, rng.choice(odd))
    return bytes(out[: max(len(blob), size)])


# -- pages of SQLite ------------------------------------------------------------------------------------


def mutate_pages(rng: Random, content: bytes, page: int) -> bytes:
    """The file with pages swapped, or with changed pointers, counts and sizes in their headers."""
    if rng.random() < 0.4:
        return mutate_bytes(rng, content, page)
    out, n = bytearray(content), len(content) // page
    for _ in range(rng.choice([1, 1, 2, 4])):
        start = page * rng.randrange(n)
        step = rng.randrange(6)
        header = start + (100 if start == 0 else 0)
        if step == 0:  # a number in the header of a page: type, free block, cells, content, right child
            at, size = rng.choice([(0, 1), (1, 2), (3, 2), (5, 2), (8, 4)])
            out[header + at : header + at + size] = rng.choice(_page_numbers(rng, n, size))
        elif step == 1:  # where a cell is
            at = header + 8 + 2 * rng.randrange(6)
            out[at : at + 2] = rng.randrange(page).to_bytes(2, "big")
        elif step == 2:  # the beginning of a cell: its size, or the page that is its child
            pointer = header + 8 + 4 * (out[header] in (2, 5)) + 2 * rng.randrange(4)
            at = start + int.from_bytes(out[pointer : pointer + 2], "big")
            out[at : at + 4] = rng.choice(
                [rng.randrange(1, n + 2).to_bytes(4, "big"), b"\xff\xff\xff\x7f", b"\x81\x00\x00\x00"]
            )
        elif step == 3:  # the header of the file
            at, size = rng.choice([(16, 2), (18, 1), (20, 1), (28, 4), (32, 4), (36, 4), (44, 4), (52, 4), (56, 4)])
            out[at : at + size] = rng.choice(_page_numbers(rng, n, size))
        elif step == 4:
            other = page * rng.randrange(n)
            out[start : start + page] = content[other : other + page]
        else:
            out[start + rng.randrange(page)] ^= 1 << rng.randrange(8)
    return bytes(out[: len(content)])


def _page_numbers(rng: Random, n: int, size: int) -> list[bytes]:
    return [
        (value % 256**size).to_bytes(size, "big")
        for value in (0, 1, 2, 5, 10, 13, n, n + 1, -1, rng.randrange(n + 1), 2**15)
    ]
