"""Transformers of unions, fitted once for all unions that have them.

A union is put together by scikit-learn itself: weights, columns, stacking and the choice between dense and sparse rows
are its own. Only the transformers in it are replaced by others that know what they would have said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NoReturn

import numpy as np

from .data import frames_are_safe, lock, n_bytes
from .limits import listening
from .unions import replace_strands, strands_at, takes_copies


@dataclass
class Strand:
    """What a transformer of a union made of the rows it was fitted on, and of held-out rows by their number.

    The transformer itself, which may hold as much, is kept until it has seen them all.
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
    def lasts(self) -> bool:
        """Whether nobody can change what it made."""
        return all(isinstance(X, np.ndarray) or hasattr(X, "tocsr") for X in (self.X, *self.tests.values()))


class Bench:
    """The strands of one union while it is fitted: those that are known, and those that it adds.

    `test` is the number of the held-out rows that are transformed now.
    """

    def __init__(self, known: Mapping[int, Strand]) -> None:
        self.known = known
        self.used: dict[int, Strand] = {}
        self.test = 0

    def seat(self, union: Any, numbers: Mapping[int, int]) -> None:
        """Put stand-ins into a union that is to be fitted; `numbers` are those of its strands, by their place."""
        found = strands_at(union, numbers)
        replace_strands(union, {place: StandIn(made, numbers[place], self) for place, made in found.items()})

    @property
    def lent(self) -> list[Strand]:
        """What had been fitted before."""
        return [strand for number, strand in self.used.items() if number in self.known]

    def settled(self) -> dict[int, Strand]:
        """What was fitted now and can be lent to others, after the union has transformed all rows."""
        new = {n: strand for n, strand in self.used.items() if n not in self.known and strand.lasts}
        for strand in new.values():
            strand.fitted = None
        return new

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of all strands, known or not."""
        return tuple(name for strand in self.used.values() for name in strand.warnings)


class StandIn:
    """Takes the place of a transformer in a union, and fits it unless an equal one was fitted on the same rows."""

    def __init__(self, transformer: Any, number: int, bench: Bench) -> None:
        self._transformer, self._number, self._bench = transformer, number, bench

    def fit_transform(self, X: Any, y: Any = None, **arguments: Any) -> Any:
        """What the transformer makes of the rows it is fitted on."""
        bench, number = self._bench, self._number
        strand = bench.used.get(number) or bench.known.get(number)
        if strand is None:
            start = perf_counter()
            with listening() as heard:
                out = self._transformer.fit_transform(X, y, **arguments)
            lock(out)
            strand = Strand(self._transformer, out, perf_counter() - start, heard)
        bench.used[number] = strand
        return strand.X

    def transform(self, X: Any) -> Any:
        """What it makes of the held-out rows that the bench has come to."""
        strand, test = self._bench.used[self._number], self._bench.test
        if test not in strand.tests:
            start = perf_counter()
            with listening() as heard:
                out = strand.fitted.transform(X)
            lock(out)
            strand.tests[test] = out
            strand.seconds += perf_counter() - start
            strand.warnings += heard
        return strand.tests[test]

    def __sklearn_clone__(self) -> StandIn:
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        return get_tags(self._transformer)

    def __reduce__(self) -> NoReturn:
        raise TypeError("What is fitted for several unions stays in its process.")


def can_be_shared(union: Any, X: Any, trusted: bool) -> bool:
    """Whether no strand of a union can change the rows that another one is fitted on.

    Arrays are locked; of everything else only the transformers that are `trusted` leave their rows alone, and before pandas
    3 not even they, where they are told to work in place.
    """
    if isinstance(X, np.ndarray):
        return True
    return trusted and (not hasattr(X, "iloc") or frames_are_safe() or takes_copies(union))
