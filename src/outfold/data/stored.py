"""`Predictions` of a large file: what sums them up is at hand, the predictions are read when they are first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .cells import check_parts
from .predictions import Predictions


class Numbers(Protocol):
    """Predictions that are still in a file."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(R, C, N) or (R, C, N, K)."""

    def read(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields `data` and `labels` that go with the other fields, read once."""

    def part(self, part: tuple[Any, ...]) -> Numbers:
        """Those of some repeats, or of some configurations in all repeats, given as an index of the array."""


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

    def _with_cells(self, part: tuple[Any, ...], **others: Any) -> Predictions:
        if _is_unread(self) and len({*part[-1]}) == len(part[-1]):
            return StoredPredictions.of(self._numbers.part(part), self._known | others)
        return super()._with_cells(part, **others)


def _is_unread(oof: Predictions) -> bool:
    return "_numbers" in oof.__dict__ and "data" not in oof.__dict__


def outputs_of(oof: Predictions) -> tuple[int, ...]:
    """(K,) outputs for each sample, or () for one; predictions that are in a file stay there."""
    return (oof.__dict__["_numbers"] if _is_unread(oof) else oof.data).shape[3:]
