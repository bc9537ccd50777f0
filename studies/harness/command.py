"""The command line of studies: run a study, write its result, picture and page, and the front page."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from . import data, registry
from .pages import index_page, made_of, study_page
from .pictures import save
from .runner import RawFile, run_units
from .study import Record, Result, Study

RAW = registry.ROOT / "studies" / "raw"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 130 after Ctrl-C."""
    asked = _parser().parse_args(arguments)
    if asked.data is not None:
        os.environ[data.VARIABLE] = str(asked.data.resolve())
    try:
        for name in asked.names:
            _one(registry.find(name), asked)
        if asked.full or asked.page or not asked.names:
            write_index()
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here.", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="studies/run.py", description="Run a study; without a name, write the front page of all studies."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(registry.NAMES)}")
    parser.add_argument(
        "--full", action="store_true", help="the whole study, for the page in docs/studies; else a quick part"
    )
    parser.add_argument("--minutes", type=float, help="stop after so many minutes, and use the units that are finished")
    parser.add_argument("--page", action="store_true", help="run nothing: page and picture of the committed result")
    parser.add_argument("--jobs", type=int, default=1, help="processes that work at the same time")
    parser.add_argument("--raw", type=Path, default=RAW, help="folder of finished units (default: studies/raw)")
    parser.add_argument("--data", type=Path, help="folder of the data sets (default: ../shared/data)")
    return parser


def _one(study: Study, asked: argparse.Namespace) -> None:
    if asked.page:
        result = registry.read(study.name)
        if result is None:
            sys.exit(f"{study.name} has no result file yet; run it with --full.")
        write(study, result, registry.PAGES, registry.PICTURES)
        return
    result = run(study, asked.raw, full=asked.full, jobs=asked.jobs, minutes=asked.minutes)
    if asked.full:
        write(study, result, registry.PAGES, registry.PICTURES, registry.RESULTS)
    else:
        quick = asked.raw / "quick"
        write(study, result, quick, quick, quick)


def run(study: Study, raw: Path, *, full: bool, jobs: int = 1, minutes: float | None = None) -> Result:
    """Run the units, and make the result of those that are finished."""
    units = list(study.units("full" if full else "quick"))
    file = RawFile(raw / f"{study.raw_name}.jsonl", study.version)
    done = list(run_units(study, units, file, jobs=jobs, minutes=minutes).values())
    if not done:
        sys.exit(f"{study.name}: no unit is finished; give it more time.")
    return as_result(study, done)


def as_result(study: Study, done: Sequence[Record]) -> Result:
    """The result file: what the study makes of its units, and how many they are."""
    found = study.summarize(done)
    work = {"units": len(done), "of": len(list(study.units("full")))}
    return {"study": study.name, **work, "cpu_seconds": round(sum(record.seconds for record in done), 1)} | found


def write(study: Study, result: Result, pages: Path, pictures: Path, results: Path | None = None) -> None:
    """Write page and picture, and the result file if it is new."""
    for folder in (pages, pictures, results or pages):
        folder.mkdir(parents=True, exist_ok=True)
    if results is not None:
        (results / f"{study.name}.json").write_text(json.dumps(result, indent=1) + "\n")
        result = json.loads((results / f"{study.name}.json").read_text())
    (pages / f"{study.name}.md").write_text(study_page(study, result))
    save(study.draw(result), pictures / f"{study.name}.svg")
    print(f"{study.name}: {study.verdict(result).kind}; {made_of(result)}; {pages / study.name}.md")


def index_text() -> str:
    """The front page, from the result files."""
    results = {name: found for name in registry.NAMES if (found := registry.read(name)) is not None}
    return index_page(registry.every(), results, registry.other_rows())


def write_index() -> None:
    """Write the front page."""
    (registry.PAGES / "index.md").write_text(index_text())
