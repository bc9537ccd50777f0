"""What the benchmarks share: CPU time of sides that take turns, and the files that keep what was measured."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of this process, which other work on the machine disturbs less than the clock on the wall."""
    start = time.process_time()
    work()
    return time.process_time() - start


def in_turns(sides: Mapping[str, Callable[[], object]], turns: int = 5) -> dict[str, float]:
    """The best CPU seconds of every side; the sides take turns, so that a busy hour meets all of them."""
    seconds = [{name: cpu_seconds(side) for name, side in sides.items()} for _ in range(turns)]
    return {name: min(turn[name] for turn in seconds) for name in sides}


class Results:
    """Rows of numbers, kept in benchmarks/results/NAME.json if the command line says so; other rows stay as they were."""

    def __init__(self, name: str, kept: bool) -> None:
        self.path, self.kept = RESULTS / f"{name}.json", kept

    def add(self, row: str, **numbers: float) -> None:
        """Keep a row, to five digits."""
        if not self.kept:
            return
        rows: dict[str, Any] = json.loads(self.path.read_text()) if self.path.exists() else {}
        rows[row] = {name: float(f"{value:.5g}") for name, value in numbers.items()}
        self.path.write_text(json.dumps(rows, indent=1) + "\n")


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that all benchmarks have."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="less work, to see that it runs")
    parser.add_argument("--keep", action="store_true", help="keep the numbers in benchmarks/results")
    return parser
