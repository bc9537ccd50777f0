"""`Predictions` of a large file: what sums them up is at hand, the predictions are read when they are first asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .cells import check_parts
from .predictions import Predictions

# Predictions that are read at once, of those that come in parts.
_AT_ONCE = 1 << 21

T = TypeVar("T")


class Numbers(Protocol):
    """Predictions that are still in a file."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(R, C, N) or (R, C, N, K)."""

    def read(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields `data` and `labels` that go with the other fields, read once."""

    def part(self, part: tuple[Any, ...]) -> Numbers:
        """Those of some repeats, or of some configurations in all repeats, given as an index of the array."""

    def opened(self) -> AbstractContextManager[Numbers]:
        """The same, of a file that stays open for who reads several parts."""


class StoredPredictions(Predictions):
    """Predictions whose fields `data` and `labels` are read from a file when they are first asked for."""

    _numbers: Numbers

    @classmethod
    def of(cls, numbers: Numbers, known: dict[str, Any]) -> StoredPredictions:
        """Predictions with these numbers and all other fields."""
        out = object.__new__(cls)
        out.__dict__.update(known, _numbers=numbers)
        out.__post_init__()
        return out

    def _check(self) -> None:
        if _is_unread(self):
            check_parts(self, self._numbers.shape)
        else:  # made by `dataclasses.replace`, with arrays
            super()._check()

    @property
    def _known(self) -> dict[str, Any]:
        return {f.name: self.__dict__[f.name] for f in fields(Predictions) if f.name not in ("data", "labels")}

    @cached_property
    def _read(self) -> Predictions:
        """The same with its arrays, which have been checked."""
        known = self._known
        return Predictions(**self._numbers.read(known), **known)

    @cached_property
    def data(self) -> NDArray[Any]:
        """The predictions."""
        return self._read.data

    @cached_property
    def labels(self) -> NDArray[np.intp] | None:
        """The models' own labels."""
        return self._read.labels

    def _in_memory(self, configs: Sequence[int] | NDArray[np.intp]) -> Predictions:
        """Some configurations, which have been read."""
        some = self.sel(config=[int(i) for i in configs])
        return some._read if isinstance(some, StoredPredictions) and _is_unread(some) else some

    def _with_cells(self, part: tuple[Any, ...], **others: Any) -> Predictions:
        if _is_unread(self) and len({*part[-1]}) == len(part[-1]):
            return StoredPredictions.of(self._numbers.part(part), self._known | others)
        return super()._with_cells(part, **others)


def _is_unread(oof: Predictions) -> bool:
    return "_numbers" in oof.__dict__ and "data" not in oof.__dict__


def in_memory(oof: Predictions) -> Predictions:
    """The same without its file, which may be about to be deleted."""
    if not isinstance(oof, StoredPredictions):
        return oof
    blocks = {name: in_memory(block) for name, block in oof.blocks.items()}
    return Predictions(**{f.name: getattr(oof, f.name) for f in fields(Predictions)} | {"blocks": blocks})


def outputs_of(oof: Predictions) -> tuple[int, ...]:
    """(K,) outputs for each sample, or () for one; predictions that are in a file stay there."""
    return (oof.__dict__["_numbers"] if _is_unread(oof) else oof.data).shape[3:]


def comes_in_parts(oof: Predictions) -> bool:
    """Whether the predictions are in a file, and too many to be read at once."""
    return _is_unread(oof) and math.prod(oof.__dict__["_numbers"].shape) > _AT_ONCE


def of_parts(
    oof: Predictions, configs: Sequence[int] | NDArray[np.intp], work: Callable[[slice, Predictions], T]
) -> list[T]:
    """What `work` makes of some of these configurations at a time: it gets which ones, and predictions that nobody else holds."""
    r, _, *others = oof.__dict__["_numbers"].shape
    # Never one alone among several, which kernels take in another way.
    n = max(min(-(-len(configs) * r * math.prod(others) // _AT_ONCE), len(configs) // 2), 1)
    ends = [len(configs) * i // n for i in range(n + 1)]
    with _opened(oof) as own:
        return [work(slice(*part), own._in_memory(configs[slice(*part)])) for part in pairwise(ends)]


@contextmanager
def readable(oof: Predictions) -> Iterator[Callable[[Sequence[int]], NDArray[Any]]]:
    """A function that gives the predictions, (R, C, N) or (R, C, N, K), of some configurations; a file stays open meanwhile."""
    if not comes_in_parts(oof):
        yield lambda configs: oof.data[:, configs]
        return
    with _opened(oof) as own:
        yield lambda configs: own._in_memory(configs).data


@contextmanager
def _opened(oof: Predictions) -> Iterator[StoredPredictions]:
    """The same predictions, of a file that stays open."""
    with oof.__dict__["_numbers"].opened() as numbers:
        own = object.__new__(StoredPredictions)
        own.__dict__.update(oof.__dict__, _numbers=numbers)
        yield own
