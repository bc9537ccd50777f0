"""Unions taken to pieces: the transformers that a feature union or a column transformer has side by side.

They are called strands. Every strand is fitted on the rows that the union is given, whatever the others do; two that
are equal in everything but their names give the same bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from .keys import key_of
from .parameters import own_params, parts_of

# Where the classes that are understood keep their transformers; each item is (name, transformer) or has columns too.
_LISTS = {
    ("sklearn.pipeline", "FeatureUnion"): "transformer_list",
    ("sklearn.compose._column_transformer", "ColumnTransformer"): "transformers",
}
_WEIGHTS, _REMAINDER = "transformer_weights", "remainder"


class Union(NamedTuple):
    """What a union is made of.

    `key` is equal for unions that give the same bits on the same rows, whatever they call their strands; `strands` are
    (place, key) of those that can be fitted outside it. The last place is that of the remainder.
    """

    key: Hashable
    strands: tuple[tuple[int, Hashable], ...]


def union_of(estimator: Any) -> Union | None:
    """A plain union taken to pieces; None for everything else, which is left to itself."""
    attribute = _attribute(estimator)
    if attribute is None:
        return None
    try:
        if not _is_plain(estimator):
            return None
        entries = _entries(estimator, attribute)
        weights = _weights(estimator, [entry[0] for entry in entries])
    except Exception:  # it will say so itself when it is fitted
        return None
    if any(callable(columns) and not _is_selector(columns) for entry in entries for columns in entry[2:]):
        return None
    places = tuple(key_of(entry[1:]) for entry in entries)
    rest = {name: key_of(v) for name, v in own_params(estimator).items() if name not in (attribute, _WEIGHTS)}
    key = (type(estimator), places, weights, tuple(sorted(rest.items(), key=lambda item: item[0])))
    strands = [(i, places[i]) for i, entry in enumerate(entries) if _is_strand(entry[1])]
    remainder = getattr(estimator, _REMAINDER, None)
    if _is_strand(remainder):  # which columns are left depends on what the others take
        strands.append((len(entries), (rest[_REMAINDER], tuple(key_of(entry[2]) for entry in entries))))
    return Union(key, tuple(strands))


def strands_at(union: Any, places: Mapping[int, int]) -> dict[int, Any]:
    """The transformers at these places."""
    found = dict(enumerate(entry[1] for entry in getattr(union, _attribute(union) or "")))
    found[len(found)] = getattr(union, _REMAINDER, None)
    return {place: found[place] for place in places}


def replace_strands(union: Any, others: Mapping[int, Any]) -> None:
    """Put others in the place of some transformers."""
    attribute = _attribute(union) or ""
    entries = getattr(union, attribute)
    changed = [(entry[0], others.get(i, entry[1]), *entry[2:]) for i, entry in enumerate(entries)]
    setattr(union, attribute, changed)
    if len(entries) in others:
        union.remainder = others[len(entries)]


def takes_copies(union: Any) -> bool:
    """Whether the strands get rows of their own, and none sees what another writes into them."""
    entries = getattr(union, _attribute(union) or "")
    return all(len(entry) == 3 and isinstance(entry[2], list) for entry in entries)


def _attribute(estimator: Any) -> str | None:
    kind = type(estimator)
    return _LISTS.get((kind.__module__, kind.__qualname__))


def _is_plain(estimator: Any) -> bool:
    """Whether it gives arrays, fits its strands one after the other, and tells nobody meanwhile."""
    from sklearn import get_config

    if get_config()["transform_output"] != "default" or estimator.n_jobs is not None:
        return False
    return not hasattr(estimator, "_metadata_request") and all(map(_is_quiet, parts_of(estimator)))


def _is_quiet(estimator: Any) -> bool:
    output = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    speaks = getattr(estimator, "verbose", False) or getattr(estimator, "_skl_callbacks", None)
    return output in (None, "default") and not speaks


def _entries(estimator: Any, attribute: str) -> list[tuple[Any, ...]]:
    """The items of the list; an error where the union would not take them."""
    entries = getattr(estimator, attribute)
    size = 2 if attribute == "transformer_list" else 3
    names = [entry[0] for entry in entries]
    if type(entries) is not list or any(type(entry) is not tuple or len(entry) != size for entry in entries):
        raise ValueError
    if not all(isinstance(name, str) and name != _REMAINDER for name in names):
        raise ValueError
    estimator._validate_names(names)
    return entries


def _weights(estimator: Any, names: list[str]) -> tuple[Hashable, ...]:
    """The weights by place, that of the remainder last."""
    given = estimator.transformer_weights
    allowed = {*names, _REMAINDER} if hasattr(estimator, _REMAINDER) else set(names)
    if given is not None and (type(given) is not dict or not given.keys() <= allowed):
        raise ValueError
    return tuple(key_of((given or {}).get(name)) for name in (*names, _REMAINDER))


def _is_selector(columns: Any) -> bool:
    """scikit-learn's choice of columns by type or name, which is the same for the same rows."""
    from sklearn.compose import make_column_selector

    return type(columns) is make_column_selector


def _is_strand(transformer: Any) -> bool:
    return hasattr(transformer, "fit_transform") and not isinstance(transformer, type)
