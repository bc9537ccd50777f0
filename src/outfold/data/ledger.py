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
    scored = f"{entry['metric']} {formatting.number(entry['observed'])} on {entry['n_new']:,} {entry['part']}"
    state = {True: "compatible with", False: "not compatible with", None: "beside"}[entry["compatible"]]
    return f"{scored} ({entry['when'][:10]}), {state} the estimate of {formatting.number(entry['estimate'])}"
