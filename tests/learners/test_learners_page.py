"""The page about the learners has the numbers that were measured, and its sessions print what stands below them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "learners.md").read_text()
SEEDS = (216, 459)
MEASURED = json.loads((ROOT / "benchmarks" / "results" / "learners.json").read_text())


def rows(heading: str) -> list[str]:
    section = re.search(rf"^#+ {heading}\n(.*?)(?=^#+ |\Z)", PAGE, re.M | re.S)
    assert section is not None
    return re.findall(r"^\| .*", section[1], re.M)[2:]


def times() -> list[str]:
    sides = ("compiled ratio", "numpy ratio")
    found = {name.removeprefix("tree, "): row for name, row in MEASURED.items() if name.startswith("tree, ")}
    all_features = [name for name in found if not name.endswith("sqrt")]
    cells = ([found[f"{name}{drawn}"][side] for drawn in ("", ", sqrt") for side in sides] for name in all_features)
    return [
        f"| {name} | {' | '.join(f'{v:.1f}' for v in values)} |"
        for name, values in zip(all_features, cells, strict=True)
    ]


def published() -> list[str]:
    found = {name.removeprefix("published, "): row for name, row in MEASURED.items() if name.startswith("published")}
    keys = [f"{what} {seed}" for seed in SEEDS for what in ("seed", "reversed", "printed")]
    return [f"| {name} | {' | '.join(f'{row[key]:.4f}' for key in keys)} |" for name, row in found.items()]


def bayes_times() -> list[str]:
    found = {name.removeprefix("bayes, "): row for name, row in MEASURED.items() if name.startswith("bayes, ")}
    return [f"| {name} | {row['outfold']:.2g} s | {row['scipy']:.2g} s |" for name, row in found.items()]


def selection_times() -> list[str]:
    sides = ("Univariate, numbers", "Univariate, mixed", "SES, numbers", "SES, mixed", "scikit-learn")
    found = {name.removeprefix("selection, "): row for name, row in MEASURED.items() if name.startswith("selection, ")}
    return [f"| {name} | {' | '.join(milliseconds(row[side]) for side in sides)} |" for name, row in found.items()]


def milliseconds(seconds: float) -> str:
    """Two digits, in full."""
    value = 1000 * seconds
    return f"{value:.1f}" if value < 10 else f"{float(f'{value:.2g}'):.0f}"


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Time", times),
        ("Beside the published numbers", published),
        ("Time of naive Bayes", bayes_times),
        ("Time of a selection", selection_times),
    ],
)
def test_the_numbers_are_those_that_were_measured(heading, expected):
    assert rows(heading) == expected()


def test_a_tree_takes_at_most_five_times_as_long_as_that_of_scikit_learn():
    ratios = [row["compiled ratio"] for name, row in MEASURED.items() if name.startswith("tree, ")]
    assert max(ratios) <= 5.0


def test_the_published_numbers_are_as_near_as_the_page_says():
    found = [row for name, row in MEASURED.items() if name.startswith("published")]
    for other, words in (
        ("reversed", 'changes the AUROC by up to {} ("reversed")'),
        ("printed", "printed ones by up to {}."),
    ):
        largest = max(abs(row[f"seed {seed}"] - row[f"{other} {seed}"]) for row in found for seed in SEEDS)
        assert words.format(round(largest, 3)) in " ".join(PAGE.split())


def test_sessions_print_what_stands_below_them(capsys):
    sessions = re.findall(r"^```python\n([^`]*)^```\n```\n([^`]*)^```", PAGE, re.M)
    assert sessions
    for code, printed in sessions:
        exec(compile(code, "learners.md", "exec"), {})
        assert capsys.readouterr().out == printed
