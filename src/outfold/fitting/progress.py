"""The progress line of `collect`: how many cells are done, and what would be selected now."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TextIO

from .. import formatting
from ..progress import Mode, ProgressLine
from ..results import Selection

# Selecting takes one part in so many of the time at most.
_LEADER_SHARE = 20


class Progress(ProgressLine):
    """Counts finished cells and shows how far the work is; `leader` tells what would be selected now."""

    def __init__(
        self,
        total: int,
        mode: Mode = True,
        leader: Callable[[], Selection | None] | None = None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__("collect", "cells", total, mode, stream, clock)
        self.failed = 0
        self._says = mode is True or mode == "always"
        self._leader = leader
        self._leads = ""  # who leads, and by which score
        self._ask_again = clock()

    def say(self, text: str) -> None:
        """Print something to know before the work begins, on a terminal or not, unless no progress is wanted."""
        if self._says:
            self.stream.write(f"note: {text}\n")
            self.stream.flush()

    def add(self, failed: bool) -> None:
        """A cell is finished, with predictions or without."""
        self.failed += failed
        self.advance()

    def _redraw(self) -> None:
        if self._clock() >= self._ask_again:
            self._ask()
        super()._redraw()

    def _ask(self) -> None:
        """Ask who leads; the longer the answer takes, the later it is asked again."""
        if self._leader is None:
            return
        start, won = self._clock(), self._leader()
        self._ask_again = self._clock() + _LEADER_SHARE * (self._clock() - start)
        self._leads = "" if won is None else f"{formatting.shorten(won.name, 40)} {won.score:.3f}, {won.rule}"

    def line(self) -> str:
        """``collect 1,240/2,360 cells  52%  310/s  4 s left  so far tree 0.871, best pooled AUC of 20 configurations``."""
        parts = [super().line()]
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        if self._leads:
            parts.append(("so far " if self.done < self.total else "") + self._leads)
        return "  ".join(parts)

    def close(self) -> None:
        """Leave the last state as a line of its own."""
        if self.shown:
            self._ask()
        super().close()
