"""The progress line of `collect`: one line on the terminal, redrawn in place."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from time import monotonic
from typing import Any, Literal, TextIO

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.predictions import Response
from ..data.target import Target

Mode = bool | Literal["always"] | Callable[[int, int], None]

_REDRAW_SECONDS = 0.2


class Progress:
    """Counts finished cells and shows how far the work is; `score` and its name `metric` tell the current best."""

    def __init__(
        self,
        total: int,
        mode: Mode = True,
        score: Callable[[NDArray[Any], NDArray[np.intp]], float] | None = None,
        metric: str = "",
        stream: TextIO | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.stream = sys.stderr if stream is None else stream
        self._tell = mode if callable(mode) else None
        self.shown = mode == "always" or (mode is True and self.stream.isatty())
        self.total, self.done, self.failed = total, 0, 0
        self.at_most = False  # the total is a cap, and the work may end earlier
        self._score, self._metric, self._clock = score, metric, clock
        self._sums: dict[str, tuple[float, int]] = {}
        self._started = self._drawn = clock()
        self._width = 0

    def add(self, name: str, values: NDArray[Any] | None, rows: NDArray[np.intp]) -> None:
        """A cell is finished, with predictions or without."""
        self.done += 1
        self.failed += values is None
        if self._tell is not None:
            self._tell(self.done, self.total)
        if not self.shown:
            return
        if values is not None and self._score is not None:
            score = self._score(values, rows)
            if np.isfinite(score):
                total, n = self._sums.get(name, (0.0, 0))
                self._sums[name] = (total + score, n + 1)
        if self._clock() - self._drawn >= _REDRAW_SECONDS:
            self._draw(self.line())

    def line(self) -> str:
        """``collect 1,240/2,360 cells  52%  310/s  4 s left  best logit(C=0.1) 0.871 roc_auc``."""
        elapsed = max(self._clock() - self._started, 1e-9)
        rate = self.done / elapsed
        parts = [
            f"collect {self.done:,}/{self.total:,} cells",
            f"{100 * self.done // max(self.total, 1)}%",
            f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s",
        ]
        if 0 < self.done < self.total:
            bound = "at most " if self.at_most else ""
            parts.append(f"{bound}{formatting.seconds((self.total - self.done) / rate)} left")
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        if self._sums:
            means = {name: total / n for name, (total, n) in self._sums.items()}
            best = max(means, key=means.__getitem__)
            parts.append(f"best {formatting.shorten(best, 40)} {means[best]:.3f} {self._metric}")
        return "  ".join(parts)

    def close(self) -> None:
        """Leave the last state as a line of its own."""
        if self.shown:
            elapsed = formatting.seconds(self._clock() - self._started)
            self._draw(self.line() + f"  in {elapsed}")
            self.stream.write("\n")
            self.stream.flush()
            self.shown = False

    def _draw(self, line: str) -> None:
        room = shutil.get_terminal_size((120, 24)).columns - 1
        line = formatting.shorten(line, room) if self.stream.isatty() else line
        # Blanks wipe what is left of a longer line before.
        self.stream.write("\r" + line.ljust(self._width))
        self.stream.flush()
        self._width, self._drawn = len(line), self._clock()


def quick_score(
    target: Target, response: Response
) -> tuple[str, Callable[[NDArray[Any], NDArray[np.intp]], float]] | None:
    """Name and function of a cheap score of one cell; higher is better."""
    y = target.y
    if target.task == "binary" and response in ("proba", "score"):
        return "roc_auc", lambda values, rows: _auc(y[rows], values)
    if target.task in ("binary", "multiclass"):
        return "accuracy", lambda values, rows: float(np.mean(_codes(values) == y[rows]))
    if target.task == "regression":
        return "r2", lambda values, rows: _r2(y[rows], values)
    return None


def _codes(values: NDArray[Any]) -> NDArray[Any]:
    return values.argmax(axis=1) if values.ndim == 2 else values


def _auc(y: NDArray[Any], scores: NDArray[Any]) -> float:
    positive, negative = scores[y == 1], np.sort(scores[y == 0])
    if not len(positive) or not len(negative):
        return np.nan
    below = np.searchsorted(negative, positive, "left") + np.searchsorted(negative, positive, "right")
    return float(below.sum() / (2 * len(positive) * len(negative)))


def _r2(y: NDArray[Any], values: NDArray[Any]) -> float:
    spread = np.sum((y - y.mean()) ** 2)
    return float(1 - np.sum((y - values) ** 2) / spread) if spread > 0 else np.nan
