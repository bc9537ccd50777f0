"""The counts of the last run of the faults, the soak and the spoilt files, as docs/promises.md prints them.

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
IN_CI, IN_ALL = 64, 500
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


def fuzz_counts(found: dict[str, Any]) -> dict[str, Any]:
    """How many spoilt files were read, refused, or ended in another way."""
    readers = [one for one in found.values() if isinstance(one, dict)]
    read, refused = (sum(one[how] for one in readers) for how in ("read", "refused"))
    failed = sum(len(seeds) for one in readers for seeds in one["failures"].values())
    slowest = max(one["slowest"] for one in readers)
    return {
        "read": read,
        "refused": refused,
        "failed": failed,
        "slowest": slowest,
        "megabytes": found["memory"] / 2**20,
    }


def section(results: dict[str, Any]) -> str:
    """The last section of the page."""
    faults, soak = results["faults"], results["soak"]
    early, late, fuzz = soak["early"], soak["late"], results["fuzz"]
    files = fuzz["read"] + fuzz["refused"] + fuzz["failed"]
    failed = (
        ""
        if not fuzz["failed"]
        else f" {fuzz['failed']} ended otherwise; [the changes](project/changelog.md) name what was mended."
    )
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

{files:,} spoilt files: {fuzz["read"]:,} could be read, {fuzz["refused"]:,} were refused with an error of ours.{failed}
The slowest took {fuzz["slowest"]:.1f} s. Memory grew by {fuzz["megabytes"]:.0f} MB.

`make calibrate` runs {IN_ALL} faults, 2,000 collections and 20,000 spoilt files, and writes `tests/faults/results.json`. Then
`python tests/faults/promises.py` writes this section. Every run of the tests has {IN_CI} faults, 150 collections and 2,000 files.
"""


def main() -> None:
    """Write the section into the page."""
    text = PAGE.read_text().partition(HEADING)[0]
    PAGE.write_text(text + section(json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main()
