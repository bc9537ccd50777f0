"""Which studies there are."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from .study import Study

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "studies" / "results"
PAGES = ROOT / "docs" / "studies"
PICTURES = ROOT / "docs" / "pictures" / "studies"

# In the order of the front page: by paper. A study is in the module of its name, except one: pytest takes
# `test_errors.py` for tests.
NAMES = (
    "selection-optimism",
    "protocol-bias",
    "protocol-bias-wfs",
    "fold-number",
    "verdict-flips",
    "stopping",
    "true-tests",
    "variance-parts",
    "test-errors",
    "replicability",
    "bbc-simulation",
    "bbc-datasets",
    "small-tour",
    "intervals",
    "racing",
)

MODULES = {"test-errors": "errors_of_tests"}

# Scripts that back a claim of another page: script, what it measures, page.
OTHERS = (
    (
        "all_tests",
        "errors and power of every test of a pair on exact nulls",
        "[calibration](../calibration.md#type-i-errors)",
    ),
    ("adjusting", "p values adjusted by draws, beside Holm's", "[comparing](../comparing.md#many-pairs)"),
    ("balanced", "the balanced correction, in simulation and on real data", "[balanced](balanced.md)"),
    ("blocked", "variance components of blocked 3x2", "[comparing](../comparing.md#variance-components)"),
    ("by_fold", "intervals from the scores of small folds", "[intervals](../intervals.md#small-folds)"),
    (
        "calibration",
        "coverage, bias and type I error of the simulations of `make calibrate`",
        "[calibration](../calibration.md)",
    ),
    ("corrections", "bias of corrections for selecting", "[wmc](../methods/wmc.md)"),
    ("confronting", "how often `confront` errs", "[models](../models.md#how-often-it-errs)"),
    ("dropping", "what dropping saves and costs", "[dropping](../dropping.md)"),
    (
        "gaussians",
        "tests on two Gaussian populations",
        "[calibration](../calibration.md), [test-errors](test-errors.md)",
    ),
    (
        "interval_coverage",
        "intervals of the selected configuration",
        "[calibration](../calibration.md), [intervals](../intervals.md)",
    ),
    ("interval_metrics", "the same for other metrics, groups and repeats", "[calibration](../calibration.md)"),
    ("margins", "errors of tests at a margin", "[non_inferior](../compare/non_inferior.md)"),
    ("margins_one_set", "the same on one test set", "[t_skewed](../compare/t_skewed.md#how-often-it-errs)"),
    ("never_selected", "what `drop.NeverSelected` saves and costs", "[dropping](../dropping.md)"),
    (
        "other_intervals",
        "intervals of other estimates",
        "[calibration](../calibration.md), [intervals](../intervals.md)",
    ),
    ("noise", "bias of `bbc` on labels that are noise", "[bbc](../methods/bbc.md#labels-that-are-noise)"),
    ("plain_bias", "bias of three estimates, written without Outfold", "[calibration](../calibration.md)"),
    ("point632", "five readings of the .632+ bootstrap", "[methods](../methods.md)"),
    ("pooled_within", "AUC pooled, within folds, or the mean over folds", "[real data](real_data.md)"),
    ("power_law", "extrapolated learning curves", "[curves](../curves.md)"),
    ("power_curves", "power of five tests", "[power](power_curves.md)"),
    ("real_data", "estimates and intervals on pools of real data", "[real data](real_data.md)"),
    ("row_order", "how often the check of the row order speaks", "[OF513](../checks/OF513.md)"),
    (
        "survival_curves",
        "bias of the integrated Brier score",
        "[metrics](../methods/metrics.md#the-integrated-brier-score)",
    ),
    ("tuned", "errors of tests of tuned algorithms", "[algorithms](../compare/algorithms.md)"),
    ("thresholds", "shares at a threshold", "[calibration](../calibration.md#at-a-threshold)"),
    ("type_one_error", "type I errors of all tests", "[calibration](../calibration.md#type-i-errors)"),
)


def find(name: str) -> Study:
    """The study of a name."""
    if name not in NAMES:
        sys.exit(f"there is no study {name!r}; there are {', '.join(NAMES)}.")
    return import_module(MODULES.get(name, name.replace("-", "_"))).STUDY


def every() -> list[Study]:
    """All studies."""
    return [find(name) for name in NAMES]


def read(name: str) -> dict[str, Any] | None:
    """The committed result of a study, if there is one."""
    path = RESULTS / f"{name}.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    return found if found.get("study") == name else None


def other_rows() -> Iterator[tuple[str, str, str]]:
    """The scripts beside the harness, as rows of the front page."""
    for script, what, where in OTHERS:
        yield f"`studies/{script}.py`", what, where
