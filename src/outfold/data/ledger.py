"""What the provenance of predictions says of samples that took no part: a test part, and a ledger of what came true later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import formatting

LEDGER = "ledger"
# Which samples a plan kept apart, before anything was fitted.
TEST_PART = "test_part"


def in_words(entry: Mapping[str, Any]) -> str:
    """One confrontation of the estimate with new samples, on one line."""
    ends = entry.get("observed_interval")  # whatever a file says
    known = isinstance(ends, (list, tuple)) and [type(end) for end in ends] == [float, float]
    say = formatting.Digits.of_width(ends[1] - ends[0] if known and ends is not None else 0.0)
    scored = f"{formatting.called(entry['metric'])} {say(entry['observed'])} on {entry['n_new']:,} {entry['part']}"
    state = {True: "compatible with", False: "not compatible with", None: "beside"}[entry["compatible"]]
    return f"{scored} ({entry['when'][:10]}), {state} the estimate of {say(entry['estimate'])}"
