"""One line on the terminal, or in a notebook, that says how far the work is, redrawn in place."""

from __future__ import annotations

import html
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from time import monotonic
from typing import Any, Literal, TextIO

from . import formatting

# Whether to show the line (on a terminal only, or always), or a function of what is done and the total to call instead.
Mode = bool | Literal["always"] | Callable[[int, int], None]

_REDRAW_SECONDS = 0.2


class ProgressLine:
    """Counts what is done of a total, and shows it: ``collect 1,240/2,360 cells  52%  310/s  4 s left``."""

    def __init__(
        self,
        work: str,
        units: str,
        total: int,
        mode: Mode = True,
        stream: TextIO | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.stream = sys.stderr if stream is None else stream
        self._tell = mode if callable(mode) else None
        self._output = _notebook_output() if mode in (True, "always") and stream is None else None
        self.shown = mode == "always" or (mode is True and (self.stream.isatty() or self._output is not None))
        self.work, self.units, self.total, self.done = work, units, total, 0
        self.at_most = False  # the total is a cap, and the work may end earlier
        self._clock = clock
        self._started = self._drawn = clock()
        self._width = 0

    def advance(self, n: int = 1) -> None:
        """So many more are done."""
        self.done += n
        if self._tell is not None:
            self._tell(self.done, self.total)
        if self.shown and self._clock() - self._drawn >= _REDRAW_SECONDS:
            self._redraw()

    def _redraw(self) -> None:
        line, room = self.line(), shutil.get_terminal_size((120, 24)).columns - 1
        # A line that wraps cannot be redrawn in place. What matters most stands first.
        too_long = self.stream.isatty() and len(line) > room
        self._draw(line[: room - 1] + "…" if too_long else line)

    def line(self) -> str:
        """How far the work is."""
        elapsed = max(self._clock() - self._started, 1e-9)
        rate = self.done / elapsed
        parts = [
            f"{self.work} {self.done:,}/{self.total:,} {self.units}",
            f"{100 * self.done // max(self.total, 1)}%",
            f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s",
        ]
        if 0 < self.done < self.total:
            bound = "at most " if self.at_most else ""
            parts.append(f"{bound}{formatting.seconds((self.total - self.done) / rate)} left")
        return "  ".join(parts)

    def close(self) -> None:
        """Leave the last state as a line of its own."""
        if self.shown:
            elapsed = formatting.seconds(self._clock() - self._started)
            self._draw(self.line() + f"  in {elapsed}")
            if self._output is None:
                self.stream.write("\n")
                self.stream.flush()
            self.shown = False

    def _draw(self, line: str) -> None:
        if self._output is not None:
            bar = f'<progress value="{self.done}" max="{max(self.total, 1)}"></progress>'
            self._output.update({"text/plain": line, "text/html": f"{bar} <code>{html.escape(line)}</code>"}, raw=True)
        else:
            # Blanks wipe what is left of a longer line before.
            self.stream.write("\r" + line.ljust(self._width))
            self.stream.flush()
        self._width, self._drawn = len(line), self._clock()


def _notebook_output() -> Any:
    """An output of the notebook's cell that can be replaced; None outside of notebooks."""
    ipython: Any = sys.modules.get("IPython")  # whoever runs in a notebook has imported it
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):  # IPython in a terminal has no kernel
        return None
    show = import_module("IPython.display").display
    return show({"text/plain": "", "text/html": ""}, raw=True, display_id=True)
