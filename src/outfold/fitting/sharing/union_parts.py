"""Union parts: the transformers that a feature union or a column transformer has side by side.

Each part is fitted on the rows that the union is given, whatever the others do. Two parts that are equal in everything but
their names give the same bits, so unions on the same rows that have a part in common fit it once. scikit-learn itself puts a
union together: it applies weights, selects columns, stacks, and chooses between dense and sparse rows. Only the transformers
inside are replaced by cached ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..data import frames_are_safe, lock, n_bytes
from ..estimators import key_of, own_params, parts_of
from ..limits import record_warnings

# Where the classes that are understood keep their transformers; each item is (name, transformer) or has columns too.
_LISTS = {
    ("sklearn.pipeline", "FeatureUnion"): "transformer_list",
    ("sklearn.compose._column_transformer", "ColumnTransformer"): "transformers",
}
_WEIGHTS, _REMAINDER = "transformer_weights", "remainder"


class Union(NamedTuple):
    """What a union is made of.

    `key` is equal for unions that give the same bits on the same rows, whatever the names of their parts; `parts` are
    (place, key) of those that can be fitted outside it. The last place is that of the remainder.
    """

    key: Hashable
    parts: tuple[tuple[int, Hashable], ...]


def union_of(estimator: Any) -> Union | None:
    """A plain union taken to pieces; None for everything else."""
    attribute = _attribute(estimator)
    if attribute is None:
        return None
    try:
        if not _is_plain(estimator):
            return None
        entries = _entries(estimator, attribute)
        weights = _weights(estimator, [entry[0] for entry in entries])
    except Exception:  # its own fit raises the same
        return None
    if any(callable(columns) and not _is_selector(columns) for entry in entries for columns in entry[2:]):
        return None
    places = tuple(key_of(entry[1:]) for entry in entries)
    rest = {name: key_of(v) for name, v in own_params(estimator).items() if name not in (attribute, _WEIGHTS)}
    key = (type(estimator), places, weights, tuple(sorted(rest.items(), key=lambda item: item[0])))
    parts = [(i, places[i]) for i, entry in enumerate(entries) if _is_part(entry[1])]
    remainder = getattr(estimator, _REMAINDER, None)
    if _is_part(remainder):  # which columns are left depends on what the others take
        parts.append((len(entries), (rest[_REMAINDER], tuple(key_of(entry[2]) for entry in entries))))
    return Union(key, tuple(parts))


def _parts_at(union: Any, places: Mapping[int, int]) -> dict[int, Any]:
    """The transformers at these places."""
    found = dict(enumerate(entry[1] for entry in getattr(union, _attribute(union) or "")))
    found[len(found)] = getattr(union, _REMAINDER, None)
    return {place: found[place] for place in places}


def _replace_parts(union: Any, others: Mapping[int, Any]) -> None:
    """Put other transformers at these places."""
    attribute = _attribute(union) or ""
    entries = getattr(union, attribute)
    changed = [(entry[0], others.get(i, entry[1]), *entry[2:]) for i, entry in enumerate(entries)]
    setattr(union, attribute, changed)
    if len(entries) in others:
        union.remainder = others[len(entries)]


def _takes_copies(union: Any) -> bool:
    """Whether each part gets rows of its own, so that none sees what another writes into them."""
    entries = getattr(union, _attribute(union) or "")
    return all(len(entry) == 3 and isinstance(entry[2], list) for entry in entries)


def _attribute(estimator: Any) -> str | None:
    kind = type(estimator)
    return _LISTS.get((kind.__module__, kind.__qualname__))


def _is_plain(estimator: Any) -> bool:
    """Whether it gives arrays, fits its parts one after the other, prints nothing and has no callbacks."""
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


def _is_part(transformer: Any) -> bool:
    return hasattr(transformer, "fit_transform") and not isinstance(transformer, type)


# -- fitting --------------------------------------------------------------------------------------------


@dataclass
class UnionPart:
    """A fitted part: the rows it was fitted on, transformed, and held-out rows by their number.

    The transformer itself, which may hold as much memory, is kept until it has transformed them all.
    """

    fitted: Any
    X: Any
    seconds: float
    warnings: list[str]
    tests: dict[int, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of the rows kept here."""
        return sum(map(n_bytes, (self.X, *self.tests.values())))

    @property
    def is_locked(self) -> bool:
        """Whether nobody can change what it made."""
        return all(isinstance(X, np.ndarray) or hasattr(X, "tocsr") for X in (self.X, *self.tests.values()))


class UnionFit:
    """The parts of one union while it is fitted: those that were fitted before, and those that it adds.

    `test` is the number of the held-out rows that are transformed now.
    """

    def __init__(self, known: Mapping[int, UnionPart]) -> None:
        self.known = known
        self.used: dict[int, UnionPart] = {}
        self.test = 0

    def prepare(self, union: Any, numbers: Mapping[int, int]) -> None:
        """Put cached transformers into a union that is to be fitted; `numbers` are those of its parts, by their place."""
        found = _parts_at(union, numbers)
        _replace_parts(union, {place: CachedTransformer(made, numbers[place], self) for place, made in found.items()})

    @property
    def reused(self) -> list[UnionPart]:
        """The parts that had been fitted before."""
        return [part for number, part in self.used.items() if number in self.known]

    def new_parts(self) -> dict[int, UnionPart]:
        """The parts that were fitted now and that others may use, after the union has transformed all rows."""
        new = {n: part for n, part in self.used.items() if n not in self.known and part.is_locked}
        for part in new.values():
            part.fitted = None
        return new

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of all parts."""
        return tuple(name for part in self.used.values() for name in part.warnings)


class CachedTransformer:
    """Takes the place of a transformer in a union, and fits it unless an equal one was fitted on the same rows."""

    def __init__(self, transformer: Any, number: int, union_fit: UnionFit) -> None:
        self._transformer, self._number, self._union_fit = transformer, number, union_fit

    def fit_transform(self, X: Any, y: Any = None, **arguments: Any) -> Any:
        """The rows that it is fitted on, transformed."""
        fit, number = self._union_fit, self._number
        part = fit.used.get(number) or fit.known.get(number)
        if part is None:
            start = perf_counter()
            with record_warnings() as names:
                out = self._transformer.fit_transform(X, y, **arguments)
            lock(out)
            part = UnionPart(self._transformer, out, perf_counter() - start, names)
        fit.used[number] = part
        return part.X

    def transform(self, X: Any) -> Any:
        """The held-out rows of the current number, transformed."""
        part, test = self._union_fit.used[self._number], self._union_fit.test
        if test not in part.tests:
            start = perf_counter()
            with record_warnings() as names:
                out = part.fitted.transform(X)
            lock(out)
            part.tests[test] = out
            part.seconds += perf_counter() - start
            part.warnings += names
        return part.tests[test]

    def __sklearn_clone__(self) -> CachedTransformer:
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        return get_tags(self._transformer)

    def __reduce__(self) -> NoReturn:
        raise TypeError("A transformer that is fitted for several unions stays in its process.")


def can_be_shared(union: Any, X: Any, trusted: bool) -> bool:
    """Whether no part of a union can change the rows that another one is fitted on.

    Arrays are read-only. Other rows are safe if the transformers are `trusted`; before pandas 3 they are not, since a
    transformer may be told to work in place.
    """
    if isinstance(X, np.ndarray):
        return True
    return trusted and (not hasattr(X, "iloc") or frames_are_safe() or _takes_copies(union))
