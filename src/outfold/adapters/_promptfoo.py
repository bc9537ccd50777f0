"""promptfoo: the output of ``promptfoo eval -o results.json`` (or .jsonl)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from math import gcd
from pathlib import Path
from typing import Any, NamedTuple

from ..data.predictions import Predictions
from ..docstrings import fill_with
from ..exceptions import invalid
from ._items import TEXTS, Item, Missing, Paths, as_score, files_of, from_items, inside, read_json, read_lines, reading

_KIND = "results of promptfoo"
_ERROR = 2  # promptfoo's reason for a row whose provider failed; 1 is an answer that failed its assertions
_document = fill_with(TEXTS)

Row = Mapping[str, Any]


class _Place(NamedTuple):
    """Where a row belongs: its column of the results, by provider, prompt and number, and its test case, by text and number."""

    column: tuple[str, str, int]
    case: tuple[str, int]


@_document
def read_promptfoo(
    paths: Paths, *, score: str = "score", group: str | None = None, missing: Missing = "refuse"
) -> Predictions:
    """Scores of single test cases from promptfoo, by provider and prompt; repeats of ``--repeat`` become repeats.

    Each column of promptfoo's results is a configuration. Where two columns of one file have the same provider and prompt label,
    such as two temperatures of one model, the name of the second ends in " #2". Columns of the same name in several files are
    repeats of one configuration.

    promptfoo writes each repeat as a test case of its own. Its .json tells how often it ran each test case. Where that is not
    known, as in .jsonl, equal test cases are repeats if all test cases occur equally often; else they are different samples.

    Parameters
    ----------
    paths : path or sequence of paths
        Files that ``promptfoo eval -o`` wrote, as .json or .jsonl.
    score : str
        ``"score"``, ``"success"`` (passed or not), or the name of a metric of your assertions (a named score).
    {group}
        It is a variable of the test case, or a key of its metadata.
    {missing}
    Returns: {predictions}

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import outfold as of
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.json"
    >>> rows = [
    ...     {"promptIdx": p, "testIdx": t, "provider": {"id": "echo"}, "prompt": {"label": label}, "vars": {"q": t}, "score": s}
    ...     for p, (label, scores) in enumerate({"short": [1, 0, 0], "long": [1, 1, 0]}.items())
    ...     for t, s in enumerate(scores)
    ... ]
    >>> _ = path.write_text(json.dumps({"results": {"version": 3, "results": rows}}))
    >>> of.adapters.read_promptfoo(path).leaderboard("mean").configs
    ('long', 'short')
    """
    with reading(paths, _KIND):
        rows = [placed for path in files_of(paths, "*.json", _KIND) for placed in _placed(*_content(path))]
        names = _names(list(dict.fromkeys(place.column for place, _ in rows)))
        return from_items(_items(rows, names, score, group), names.values(), "promptfoo", missing)


def _content(path: Path) -> tuple[list[dict[str, Any]], int | None]:
    """The rows of a file, and how often promptfoo ran each test case, where the file tells."""
    if path.suffix not in (".json", ".jsonl"):
        needed, remedy = "must be a .json or .jsonl file of promptfoo", "Write one: `promptfoo eval -o results.json`."
        raise invalid(path.name, needed, f"it ends in {path.suffix or 'nothing'}", remedy)
    content = list(read_lines(path, _KIND)) if path.suffix == ".jsonl" else read_json(path, _KIND)
    repeat = None
    if isinstance(content, Mapping):
        repeat = (content.get("runtimeOptions") or {}).get("repeat")
        content = content.get("results")
    if isinstance(content, Mapping):  # version 3 has the rows one level deeper
        content = content.get("results")
    if not isinstance(content, list) or not all(isinstance(row, dict) and "prompt" in row for row in content):
        needed = "must hold results of promptfoo"
        raise invalid(path.name, needed, "there is no list of results in it", "Write it with `promptfoo eval -o`.")
    return content, repeat


def _items(rows: list[tuple[_Place, Row]], names: Mapping[Any, str], score: str, group: str | None) -> Iterator[Item]:
    seen = Counter[_Place]()
    position: dict[tuple[str, int], int] = {}
    for place, row in sorted(rows, key=lambda placed: _test(placed[1])):
        item = str(position.setdefault(place.case, len(position)))
        repeat = int(row.get("repeatIndex", seen[place]))
        seen[place] += 1
        if _failed(row):
            continue
        found = row.get(score) if score in ("score", "success") else (row.get("namedScores") or {}).get(score)
        if found is None:
            named = sorted({key for _, r in rows for key in r.get("namedScores") or ()})
            raise invalid(
                "score", f"must be score, success or a named score ({', '.join(named) or 'none'})", f"got {score!r}"
            )
        number = as_score(found, f"the score {score!r}")
        yield Item(names[place.column], item, number, repeat, _cluster(row, group, item))


def _failed(row: Row) -> bool:
    """Whether there is no answer to grade; older files do not tell why a row failed, and ``error`` may be the grader's reason."""
    reason = row.get("failureReason")
    if reason is None:
        return bool(row.get("error") and not row.get("gradingResult"))
    return bool(reason == _ERROR)


def _cluster(row: Row, group: str | None, item: str) -> str | None:
    if group is None:
        return None
    test = row.get("testCase") or {}
    places = (row.get("vars"), test.get("vars"), test.get("metadata"))
    found = next((value for value in (inside(place, group) for place in places) if value is not None), None)
    if found is None:
        raise invalid(
            "group", "must be a variable or a key of the metadata of every test case", f"case {item} has no {group!r}"
        )
    return found


# -- columns and test cases ---------------------------------------------------------------------------------------


def _placed(rows: list[dict[str, Any]], repeat: int | None) -> list[tuple[_Place, Row]]:
    """The rows of one file with their places; files are numbered alone, so that two runs of one evaluation are repeats."""
    columns, cases = _columns(rows), _cases(rows, repeat)
    return [(_Place(columns[_column(row)], case), row) for row, case in zip(rows, cases, strict=True)]


def _column(row: Row) -> tuple[Any, ...]:
    """What tells columns of one file apart: providers with other settings may share an id, and prompts a label."""
    who, what = _labels(row)
    return (who, what) if row.get("promptIdx") is None else (who, int(row["promptIdx"]))


def _columns(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], tuple[str, str, int]]:
    """Provider and prompt of each column, and its number among the columns that share both."""
    labels: dict[tuple[Any, ...], tuple[str, str]] = {}
    for row in sorted(rows, key=lambda row: int(row.get("promptIdx") or 0)):
        labels.setdefault(_column(row), _labels(row))
    seen, out = Counter[tuple[str, str]](), {}
    for column, (who, what) in labels.items():
        seen[who, what] += 1
        out[column] = (who, what, seen[who, what])
    return out


def _labels(row: Row) -> tuple[str, str]:
    provider, prompt = row.get("provider") or {}, row["prompt"]
    who = provider if isinstance(provider, str) else str(provider.get("label") or provider.get("id") or "")
    if not isinstance(prompt, str):
        prompt = str(prompt.get("label") or prompt.get("display") or prompt.get("raw") or "")
    return who, prompt


def _names(columns: list[tuple[str, str, int]]) -> dict[tuple[str, str, int], str]:
    """A name for each column: provider and prompt where both vary, else the one that varies, and a number where needed."""
    who, what = (len({column[i] for column in columns}) > 1 for i in (0, 1))
    out: dict[tuple[str, str, int], str] = {}
    for column in sorted(columns, key=lambda column: column[2]):  # the first columns get the names without a number
        base = " | ".join(column[:2]) if who and what else column[1] if what else column[0] or column[1]
        number = column[2]
        name = base if number == 1 else f"{base} #{number}"
        while name in out.values():  # a label may end in " #2" itself
            number += 1
            name = f"{base} #{number}"
        out[column] = name
    return out


def _cases(rows: list[dict[str, Any]], repeat: int | None) -> list[tuple[str, int]]:
    """The test case of each row: its text, and a number that tells apart cases with equal texts."""
    texts = [(_text(row), row.get("repeatIndex")) for row in rows]
    tests: dict[tuple[str, Any], list[int]] = {}
    for text, row in zip(texts, rows, strict=True):
        tests.setdefault(text, []).append(_test(row))
    distinct = {text: sorted(set(found)) for text, found in tests.items()}
    # With --repeat, each test case has as many test numbers as repeats, or a multiple where test cases are equal.
    own = {text: _own_repeat(row) for text, row in zip(texts, rows, strict=True)}
    usual = repeat or gcd(*(len(found) for text, found in distinct.items() if own[text] is None)) or 1
    return [
        (text[0], distinct[text].index(_test(row)) // (own[text] or usual))
        for text, row in zip(texts, rows, strict=True)
    ]


def _own_repeat(row: Row) -> int | None:
    """How many test numbers belong to one test case, where the row tells: one, or one for each repeat."""
    if row.get("repeatIndex") is not None:
        return 1
    options = (row.get("testCase") or {}).get("options") or {}
    return options.get("repeat")


def _test(row: Row) -> int:
    return int(row.get("testIdx", 0))


def _text(row: Row) -> str:
    """What repeats of a test case have in common: its variables and assertions."""
    test = row.get("testCase") or {}
    parts = [row.get("vars", test.get("vars")), test.get("assert"), test.get("description")]
    return json.dumps(parts, sort_keys=True, default=str)
