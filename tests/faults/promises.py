"""The counts of the last run of the faults and of the soak, as docs/promises.md prints them.

``python tests/faults/promises.py`` writes them into the page, from the file that ``make calibrate`` writes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "promises.md"
IN_CI, IN_ALL = 62, 500
HEADING = "## The last run\n"


def record(path: Path, **facts: Any) -> None:
    """Keep facts of a run in a file, beside what it has."""
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(known | facts, indent=1, sort_keys=True) + "\n")


def counts(faults: Iterable[Any]) -> dict[str, Any]:
    """How many faults happened, by kind and by mode."""
    chosen = list(faults)
    by = {name: dict(Counter(getattr(fault, name) for fault in chosen)) for name in ("kind", "mode")}
    return {"n": len(chosen), "with_workers": sum(fault.n_jobs > 1 for fault in chosen), **by}


def section(results: dict[str, Any]) -> str:
    """The last section of the page."""
    faults, soak = results["faults"], results["soak"]
    early, late = soak["early"], soak["late"]
    grown = (late["kilobytes"] - early["kilobytes"]) / 1024
    rows = [f"| {kind} | {n} |" for kind, n in sorted(faults["kind"].items())]
    modes = ", ".join(f"{mode} {n}" for mode, n in sorted(faults["mode"].items()))
    shorter = "" if faults["n"] >= IN_ALL else f" This run had fewer faults than the {IN_ALL} of `make calibrate`."
    return f"""{HEADING}
{faults["n"]} faults, {faults["with_workers"]} of them with worker processes. All ended with the right result, lost no
acknowledged cell and left no process.{shorter} By mode: {modes}.

| fault | times |
| --- | --- |
{chr(10).join(rows)}

{soak["n"]:,} collections in one process: from the first third to the end, memory grew by {grown:.1f} MB. Open files went from
{early["files"]} to {late["files"]}, and threads from {early["threads"]} to {late["threads"]}.

`make calibrate` runs {IN_ALL} faults and 2,000 collections, and writes `tests/faults/results.json`. Then
`python tests/faults/promises.py` writes this section. Every run of the tests has {IN_CI} faults and 150 collections.
"""


def main() -> None:
    """Write the section into the page."""
    text = PAGE.read_text().partition(HEADING)[0]
    PAGE.write_text(text + section(json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main()
