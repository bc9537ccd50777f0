"""The page about the spaces lists what the code makes."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from outfold.learners import spaces

PAGE = (Path(__file__).parents[2] / "docs" / "spaces.md").read_text()
MEASURED = json.loads((Path(__file__).parents[2] / "benchmarks" / "results" / "spaces.json").read_text())
READY = ("small", "standard", "thorough")


def table() -> list[str]:
    """Rows of the page's table: how many configurations each space has of each family, and after each selection."""
    X, y = np.zeros((100, 10)), np.arange(100) % 2
    counts = {
        (name, task): Counter(row_of(stem) for stem in map(spaces.stem, spaces.make_space(name, X, y, task)))
        for name in READY
        for task in ("classification", "regression")
    }
    rows = dict.fromkeys(row for count in counts.values() for row in count)
    ordered = sorted(rows, key=lambda row: "model" in row)
    totals = [
        " / ".join(str(counts[name, task].total()) for task in ("classification", "regression")) for name in READY
    ]
    return [*(f"| {' | '.join([row, *cells(counts, row)])} |" for row in ordered), f"| all | {' | '.join(totals)} |"]


def row_of(stem: str) -> str:
    before = re.match(r"(ranks|\w+\(.*\)) ", stem)
    linear = stem in ("logit", "ridge")
    return f"`{before[1]}`, then a model" if before else "`logit` / `ridge`" if linear else f"`{stem}`"


def cells(counts, row):
    for name in READY:
        classes, numbers = (counts[name, task][row] for task in ("classification", "regression"))
        yield f"{classes or '-'} / {numbers or '-'}" if classes or numbers else ""


def test_the_table_lists_every_family():
    pytest.importorskip("lightgbm")
    found = re.search(r"^\| classes / numbers \|.*\n\| ---.*\n((?:\|.*\n)+)", PAGE, re.M)
    assert found is not None
    assert found[1].splitlines() == table()


def order_table() -> list[str]:
    """Scores on other rows of what was selected among the first quarter and among all."""
    parts = [f"{metric}, {part}, other rows" for metric in ("accuracy", "roc_auc") for part in ("quarter", "all")]
    found = {name.partition(", ")[2]: row for name, row in MEASURED.items() if "draws" in row}
    lines = [f"| {name} | {' | '.join(f'{row[part]:.2f}' for part in parts)} |" for name, row in found.items()]
    means = [np.mean([row[part] for row in found.values()]) for part in parts]
    return [*lines, f"| mean | {' | '.join(f'{mean:.3f}' for mean in means)} |"]


def time_table() -> list[str]:
    found = {tuple(name.split(", ")): row for name, row in MEASURED.items() if "seconds" in row}
    sizes = list(dict.fromkeys(size for _, size in found))
    names = list(dict.fromkeys(name for name, _ in found))
    rows = [[f"`{name}`", *(f"{found[name, size]['seconds']:.0f} s" for size in sizes)] for name in names]
    return [f"| {' | '.join(row)} |" for row in rows]


@pytest.mark.parametrize(("heading", "rows"), [("Order", order_table), ("Time", time_table)])
def test_the_numbers_are_those_that_were_measured(heading, rows):
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    assert section is not None
    assert re.findall(r"^\| .*", section[1], re.M)[2:] == rows()


def test_the_page_names_every_space_and_its_size():
    X, y = np.random.default_rng(0).normal(size=(100, 10)), np.arange(100) % 2
    section = PAGE.partition("## Which space?")[2].partition("\n## ")[0]
    said = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.M))
    assert set(spaces.SPACES) <= set(said)
    for name in spaces.SPACES:
        n = len(spaces.make_space(name, X, y, "classification"))
        number = int(said[name].removeprefix("about ").replace(",", ""))
        assert abs(n - number) <= (0.05 * number if said[name].startswith("about") else 0), name


def test_the_page_says_the_limits_of_the_code():
    from outfold.learners.spaces import grids, table

    limits = (
        f"no kernel machines above {grids.MOST_ROWS_SVM:,} rows",
        f"no nearest neighbours above {grids.MOST_ROWS_KNN:,}",
        f"vector machines above {grids.MOST_ROWS_LINEAR_SVM:,}",
        f"if rows times columns exceed {grids.MOST_ENTRIES_NET:,}",
        f"With more than {2 * grids.MOST_ROWS_TREE:,} rows, each tree of a forest draws at most {grids.MOST_ROWS_TREE:,}",
        f"Discriminant analysis needs at most {grids.MOST_COLUMNS_SQUARED:,} columns",
        f"Principal components need at most {grids.MOST_COLUMNS_SQUARED:,} columns",
        f"SES needs at most {grids.MOST_COLUMNS_SES} columns and {grids.MOST_ROWS_SES:,} rows",
        f"a class has fewer than {grids.FEWEST_OF_A_CLASS} members",
        f"up to {table.MOST_WORDS:,} words, other models up to {table.MOST_DENSE_WORDS}",
        f"in fewer than {table.FEWEST_OF_A_LEVEL} training rows share one column",
        f"levels in less than {table.RARE_SHARE:.0%} of the rows",
        f"one column for each level, at most {table.MOST_CATEGORIES}",
    )
    text = " ".join(PAGE.split())
    assert [limit for limit in limits if limit not in text] == []
