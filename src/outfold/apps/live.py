"""How far a run is: a line for the person who waits, and a file that the live page reads."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Literal, TextIO

from .. import formatting
from ..data.predictions import Predictions
from ..estimate._default import corrected
from ..exceptions import InputError
from ..io.untrusted import refuse_special
from .anytime import Standing

State = Literal["running", "finished", "stopped", "failed"]

FILE = "progress.json"
# A bar is redrawn so often, a line written so often where there is no terminal, and the file so often.
_REDRAW, _LINE, _WRITE = 0.2, 30.0, 1.0
_BAR = 24
# The estimate so far is for looking: fewer draws than in the end.
_DRAWS = 200
# It takes one part in so many of the time at most.
_SHARE = 10
_FEW_SECONDS = 5.0


class Live:
    """Shows how far a search is, on a stream and in the folder of the run."""

    def __init__(self, folder: Path, title: str, stream: TextIO | None = None, shown: bool = True) -> None:
        self.folder, self.title = folder, title
        self.stream = sys.stderr if stream is None else stream
        self._shown, self._terminal = shown, self.stream.isatty()
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._begin = monotonic()
        self._drawn = self._written = -1e9
        self._last_line = self._begin  # a short run needs no line
        self._width = 0
        self._oof: Predictions | None = None
        self._best: dict[str, Any] | None = None
        self._ask_again = 0.0
        self._last = Standing(0)
        self._told = False

    def __call__(self, standing: Standing) -> None:
        """Show where the search stands."""
        now, self._last = monotonic(), standing
        if standing.oof is not self._oof and (now >= self._ask_again or self._best is None):
            self._look(standing.oof, now)
        if now - self._written >= _WRITE:
            self._write("running", standing)
        if not self._shown:
            return
        if self._terminal and now - self._drawn >= _REDRAW:
            self._draw(self.line(standing))
        elif not self._terminal and (now - self._last_line >= _LINE or self._is_news(standing)):
            self._last_line = now
            self.stream.write(self.line(standing) + "\n")
            self.stream.flush()

    def _is_news(self, standing: Standing) -> bool:
        """Whether it is known for the first time that a budget does not allow all."""
        news = not self._told and self._allowed(standing) != ""
        self._told |= news
        return news

    def search_ended(self, answer_seconds: float) -> None:
        """Leave the last state of the search as a line of its own; the answer is expected to take so long."""
        if self._shown and self._terminal:
            self._draw(self.line(self._last))
            self.stream.write("\n")
            self.stream.flush()
        if self._last.n_configs:
            self._last = replace(self._last, seconds_left=answer_seconds)
            self._write("running", self._last)

    def end(self, state: State) -> None:
        """Nothing more comes: what the page looks for is there, or never will be."""
        if self._last.n_configs:  # else nothing was begun, and the file may be that of another run
            self._write(state, self._last)

    def line(self, standing: Standing) -> str:
        """``[#####...]  120/250 configurations (31 dropped early)  1 min 20 s left  best AUC so far 0.871, corrected 0.842``."""
        share = standing.n_finished / max(standing.n_configs, 1)
        filled = round(_BAR * share)
        start = f"[{'#' * filled}{'.' * (_BAR - filled)}]  " if self._terminal else "outfold run: "
        dropped = f" ({standing.n_dropped:,} dropped early)" if standing.n_dropped else ""
        parts = [f"{start}{standing.n_finished:,}/{standing.n_configs:,} configurations{dropped}"]
        if standing.seconds_left is not None and standing.n_finished < standing.n_configs:
            parts.append(f"{left_in_words(standing.seconds_left)} left{self._allowed(standing)}")
        if self._best is not None:
            best = f"best {self._best['metric']} so far {self._best['score']:.3f}"
            if self._best["corrected"] is not None:
                best += f", corrected {self._best['corrected']:.3f}"
            parts.append(best)
        return "  ".join(parts)

    @staticmethod
    def _allowed(standing: Standing) -> str:
        """What a budget allows, if that is not all."""
        n = standing.n_expected
        return "" if n is None or n >= standing.n_configs else f", enough for about {n:,}"

    def _look(self, oof: Predictions | None, now: float) -> None:
        """Select and estimate by what is finished, as the run will do in the end."""
        self._oof = oof
        if oof is None:
            return
        try:
            won = oof.selection()
            found = corrected(oof, n_resamples=_DRAWS)
        except InputError:  # too little is known so far
            return
        low, high = found.interval or (None, None)
        self._best = {
            "config": won.name,
            "score": won.score,
            "metric": formatting.called(found.metric),
            "corrected": found.value,
            "low": low,
            "high": high,
        }
        self._ask_again = monotonic() + _SHARE * (monotonic() - now)

    def _write(self, state: State, standing: Standing) -> None:
        self._written = monotonic()
        facts = {
            "format": 1,
            "state": state,
            "title": self.title,
            "process": os.getpid(),
            "started": self._started,
            "updated": datetime.now(UTC).isoformat(timespec="seconds"),
            "configurations": {
                "finished": standing.n_finished,
                "dropped": standing.n_dropped,
                "all": standing.n_configs,
                "expected": standing.n_expected,
            },
            "seconds": round(standing.seconds, 1),
            "seconds_left": None if standing.seconds_left is None else round(standing.seconds_left, 1),
            "best": self._best,
        }
        draft = self.folder / f"{FILE}.part"
        with suppress(OSError):  # a full disk must not end the search for the sake of the page
            draft.write_text(json.dumps(formatting.json_ready(facts), indent=1) + "\n", encoding="utf-8")
            draft.replace(self.folder / FILE)

    def _draw(self, line: str) -> None:
        room = shutil.get_terminal_size((120, 24)).columns - 1
        line = line if len(line) <= room else line[: room - 1] + "…"
        self.stream.write("\r" + line.ljust(self._width))
        self.stream.flush()
        self._width, self._drawn = len(line), monotonic()


def left_in_words(seconds: float) -> str:
    """``a few seconds``, ``12 s``, ``3 min 05 s``: the last seconds are too few to promise a number."""
    if seconds < _FEW_SECONDS:
        return "a few seconds"
    return f"{seconds:.0f} s" if seconds < 59.5 else formatting.seconds(seconds)


def standing_of(folder: Path) -> dict[str, Any] | None:
    """What the file of a run says; None if there is none, or it cannot be read."""
    with suppress(OSError, ValueError, RecursionError):
        refuse_special(folder / FILE)
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if isinstance(found, dict) and found.get("format") == 1:
            return found
    return None
