"""promptfoo: the output of ``promptfoo eval -o results.json`` (or .jsonl)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..data.predictions import Predictions
from ..docstrings import fill_with
from ..exceptions import invalid
from ._items import TEXTS, Item, Missing, Paths, as_score, files_of, from_items, inside, read_json, read_lines

_KIND = "results of promptfoo"
_document = fill_with(TEXTS)


@_document
def read_promptfoo(
    paths: Paths, *, score: str = "score", group: str | None = None, missing: Missing = "refuse"
) -> Predictions:
    """Scores of single test cases from promptfoo, by provider and prompt; repeats of ``--repeat`` become repeats.

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
    rows = [row for path in files_of(paths, "*.json", _KIND) for row in _rows(path)]
    return from_items(_items(rows, score, group), "promptfoo", missing)


def _rows(path: Path) -> list[dict[str, Any]]:
    content = list(read_lines(path, _KIND)) if path.suffix == ".jsonl" else read_json(path, _KIND)
    if isinstance(content, Mapping):
        content = content.get("results")
    if isinstance(content, Mapping):  # version 3 has the rows one level deeper
        content = content.get("results")
    if not isinstance(content, list) or not all(isinstance(row, dict) and "prompt" in row for row in content):
        needed = "must hold results of promptfoo"
        raise invalid(path.name, needed, "there is no list of results in it", "Write it with `promptfoo eval -o`.")
    return content


def _items(rows: list[dict[str, Any]], score: str, group: str | None) -> Iterator[Item]:
    names, seen = _names(rows), Counter[tuple[str, str]]()
    position: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: int(row.get("testIdx", 0))):
        name, case = names[_key(row)], _case(row)
        item = str(position.setdefault(case, len(position)))
        repeat = int(row.get("repeatIndex", seen[name, case]))
        seen[name, case] += 1
        if row.get("error") and not row.get("gradingResult"):  # no answer was graded
            continue
        found = row.get(score) if score in ("score", "success") else (row.get("namedScores") or {}).get(score)
        if found is None:
            named = sorted({key for r in rows for key in r.get("namedScores") or ()})
            raise invalid(
                "score", f"must be score, success or a named score ({', '.join(named) or 'none'})", f"got {score!r}"
            )
        yield Item(name, item, as_score(found, f"the score {score!r}"), repeat, _cluster(row, group, item))


def _case(row: Mapping[str, Any]) -> str:
    """What makes a test case: repeats of one have the same variables and assertions."""
    test = row.get("testCase") or {}
    parts = [row.get("vars", test.get("vars")), test.get("assert"), test.get("description")]
    return json.dumps(parts, sort_keys=True, default=str)


def _cluster(row: Mapping[str, Any], group: str | None, item: str) -> str | None:
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


def _key(row: Mapping[str, Any]) -> tuple[str, str]:
    provider, prompt = row.get("provider") or {}, row["prompt"]
    who = provider if isinstance(provider, str) else str(provider.get("label") or provider.get("id") or "")
    what = prompt if isinstance(prompt, str) else str(prompt.get("label") or prompt.get("raw") or "")
    return who, what


def _names(rows: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """A name for each provider and prompt: both where both vary, else the one that varies."""
    keys = list(dict.fromkeys(map(_key, rows)))
    who, what = ({key[i] for key in keys} for i in (0, 1))
    if len(who) > 1 and len(what) > 1:
        return {key: f"{key[0]} | {key[1]}" for key in keys}
    return {key: key[1] if len(what) > 1 else key[0] or key[1] for key in keys}
