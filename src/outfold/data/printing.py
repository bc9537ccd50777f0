"""What `Predictions` print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .. import formatting
from . import provider
from .cells import MEANING, State
from .ledger import LEDGER, TEST_PART, in_words
from .survival import span

if TYPE_CHECKING:
    from .predictions import Predictions


def facts_of(oof: Predictions) -> Iterator[tuple[str, str]]:
    """What predictions say of themselves, line by line: what it is about, and the words."""
    yield "samples", formatting.count(oof.n_samples, "sample").split()[0] + oof.target.balance()
    if (codes := oof.group_codes) is not None:
        yield "groups", f"{len(np.unique(codes)):,}"
    names = ", ".join(formatting.shorten(c, 30) for c in oof.configs[:3])
    yield "configurations", f"{oof.n_configs:,} ({names}{', …' if oof.n_configs > 3 else ''})"
    yield "plan", str(oof.plan)
    yield "response", MEANING[oof.response]
    if oof.times is not None:
        yield "curves", f"at {span(oof.times)}"
    if oof.live_scores:
        yield "scored live", ", ".join(oof.live_scores)
    states = oof.state[:, oof.planned]
    parts = [f"{int(np.sum(states == s)):,} {s.name.lower()}" for s in State if np.any(states == s)]
    done = bool(np.all(states == State.DONE))
    yield "cells", f"all {states.size:,} done" if done else f"{', '.join(parts)} of {states.size:,}"
    if oof.messages:
        message, n = Counter(oof.messages.values()).most_common(1)[0]
        among = formatting.count(len(oof.messages), "failed cell")
        yield "failed", f"{formatting.shorten(message, 100)} ({n:,} of {among})"
    if oof.blocks:
        yield "blocks", ", ".join(oof.blocks)
    yield "selects", provider("criterion_words")(oof)
    if TEST_PART in oof.provenance:
        yield "test part", f"{formatting.count(len(oof.provenance[TEST_PART]['rows']), 'sample')} kept apart"
    for entry in oof.provenance.get(LEDGER, ()):
        yield "came true", in_words(entry)
    yield "fingerprint", oof.fingerprint
    for note in oof.notes:
        yield note.code, note.text
