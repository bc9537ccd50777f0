"""What a study is: units of work, what to make of their results, and the words for the page."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

# "tiny" takes a second or two, for tests; "quick" less than three minutes; "full" is what pages are made of.
Size = Literal["tiny", "quick", "full"]
# Words and numbers that tell a unit from all others; its seeds follow from them.
Unit = dict[str, Any]
Result = dict[str, Any]
Kind = Literal["matched", "same conclusion", "partly the same", "differs", "ours", "too few repetitions"]


class Record(NamedTuple):
    """A finished unit: what it found, and the CPU seconds it took."""

    unit: Unit
    row: dict[str, Any]
    seconds: float


class Headline(NamedTuple):
    """One number of the front page, as the paper prints it and as we find it."""

    what: str
    paper: str
    ours: str


class Verdict(NamedTuple):
    """What came of a study, in words for the front page."""

    kind: Kind
    because: str
    headlines: tuple[Headline, ...]


def concluded(claims: Mapping[str, bool], why: str, headlines: Sequence[Headline]) -> Verdict:
    """A verdict by the conclusions of a paper: which of them hold here, and why the numbers differ."""
    hold, fail = ([claim for claim, holds in claims.items() if holds == wanted] for wanted in (True, False))
    parts = [f"{words}: {'; '.join(which)}." for words, which in (("Holds", hold), ("Does not hold", fail)) if which]
    kind: Kind = "same conclusion" if not fail else "partly the same" if hold else "differs"
    return Verdict(kind, " ".join([*parts, why]), tuple(headlines))


@dataclass(frozen=True)
class Study:
    """One study: how its work is cut into units, and what is made of them.

    `units` lists the work of a size; those of a smaller size are among those of a larger one, and the order is such that a run
    that stops early has some of everything. `run` does one unit. `summarize` makes the result file from the finished units.
    `page` gives the lines of the page below its head, `draw` the picture, `verdict` the line of the front page: all three from
    the result alone. Studies that share their fits name the same `raw` file. A new `version` makes old units worthless.
    `cost` says which units take longer than others, for the time left.
    """

    name: str
    title: str
    source: str
    units: Callable[[Size], Iterable[Unit]]
    run: Callable[[Unit], dict[str, Any]]
    summarize: Callable[[Sequence[Record]], Result]
    page: Callable[[Result], Iterable[str]]
    verdict: Callable[[Result], Verdict]
    draw: Callable[[Result], Any]
    version: int = 1
    raw: str = ""
    cost: Callable[[Unit], float] = lambda unit: 1.0

    @property
    def raw_name(self) -> str:
        """The stem of the file of finished units."""
        return self.raw or self.name


def key_of(unit: Unit) -> str:
    """A unit as text: the same for the same words and numbers, in any order."""
    return json.dumps(unit, sort_keys=True)


def generator(unit: Unit, *more: int) -> np.random.Generator:
    """Random numbers that follow from the words of a unit alone."""
    return np.random.default_rng([zlib.crc32(key_of(unit).encode()), *more])
