"""What a picture of the report is."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import formatting
from ..results import Estimate, Interval


class Picture(NamedTuple):
    """A picture and the numbers it is drawn from.

    Attributes
    ----------
    name
        As in `outfold.plot`.
    title
        What it shows.
    caption
        How to read it, a sentence or two.
    svg
        The picture.
    numbers
        Json-ready form of what is drawn.
    """

    name: str
    title: str
    caption: str
    svg: str
    numbers: dict[str, Any]


def with_interval(value: float, interval: Interval | None, level: float) -> str:
    """A number and its interval, as everywhere."""
    return formatting.number(value) + ("" if interval is None else f", {formatting.interval(*interval, level)}")


# Codes of notes that call the number itself flattering, and why it is.
_FLATTERING = {
    "OF208": "the winner's own score, not corrected for having been selected",
    "OF214": "a score on the samples the model was fitted on",
}


def flattering(estimate: Estimate) -> str:
    """Why the number is not what to expect on new samples; nothing where it is."""
    return next((_FLATTERING[note.code] for note in estimate.notes if note.code in _FLATTERING), "")


def has_own(estimate: Estimate) -> bool:
    """Whether there is a winner whose own score is another number."""
    return estimate.corrects and estimate.n_configs > 1


def meaning(estimate: Estimate) -> str:
    """What the number is."""
    return flattering(estimate) or "expected on new samples"


def expected(estimate: Estimate) -> str:
    """The number in words."""
    return f"{meaning(estimate)}: {with_interval(estimate.value, estimate.interval, estimate.confidence_level)}"


def shade(share: float) -> str:
    """How opaque a cell of a heat map is, from 0 to 1: never so dark that what is written on it cannot be read."""
    return f"{0.03 + 0.57 * share:.3f}"
