"""Columns as a small toml file: one line for each column, which people can edit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..formatting import clean

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
_UNPRINTED = re.compile('[\x00-\x1f"\\\\\x7f]')


def text(value: str) -> str:
    """A basic string of toml."""
    return '"' + _UNPRINTED.sub(lambda found: _ESCAPES.get(found[0], f"\\u{ord(found[0]):04x}"), value) + '"'


def key(name: str) -> str:
    """A key of toml, in quotes where it needs them."""
    return name if _BARE.fullmatch(name) else text(name)


def value(given: Any) -> str:
    """A bool, a number, a text or a list of texts."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, (int, float)):
        return repr(given)
    if isinstance(given, str):
        return text(given)
    return "[" + ", ".join(text(str(item)) for item in given) + "]"


def line(name: str, facts: Mapping[str, Any]) -> str:
    """``name = {a = 1, b = "x"}``."""
    return f"{key(name)} = {{{', '.join(f'{key(k)} = {value(v)}' for k, v in facts.items())}}}"


def table(name: str, rows: Iterable[tuple[str, Mapping[str, Any]]], comment: str = "") -> str:
    """A table of toml with one line for each row, below a comment."""
    head = [f"# {clean(words)}".rstrip() for words in comment.splitlines()]
    return "\n".join([*head, f"[{key(name)}]", *(line(row, facts) for row, facts in rows)]) + "\n"
