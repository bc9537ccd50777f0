"""The tables of studies/type_one_error.py, made from its result file: for the documentation, and for `compare.auto`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "type_one_error.json"
RATES = Path(__file__).parents[1] / "src" / "outfold" / "compare" / "error_rates.json"

Setting = dict[str, Any]

# Designs that share their tests.
KINDS = {
    "K-fold": ("10-fold", "5-fold"),
    "repeated K-fold": ("2 x 10-fold", "3 x 10-fold", "10 x 10-fold", "3 x 5-fold"),
    "5 x 2-fold": ("5 x 2-fold",),
    "blocked": ("blocked 3 x 2", "blocked 7 x 2"),
    "repeated hold-out": ("10 hold-outs of 1/3", "30 hold-outs of 1/10"),
    "leave-one-out": ("leave-one-out",),
    "one test set": ("one test set, these models",),
    "large test set": (),
    "one test set, learners": ("one test set",),
}


def kind_of(design: str, row: Setting) -> str:
    """The kind of design; a large test set has at least 50 samples of each class."""
    if design == "one test set, these models" and row["n"] == 400 and row["null"] == "halves":
        return "large test set"
    return next(kind for kind, designs in KINDS.items() if design in designs)


METRICS = {
    "accuracy": ("accuracy",),
    "AUC": ("roc_auc",),
    "squared error": ("brier", "mse"),
    "other": ("f1", "balanced_accuracy", "mcc", "average_precision"),
}


# Where a test that auto takes errs more often than this, it is measured again.
AGAIN_ABOVE = 0.055
# What `compare.auto` takes for the scores of one K-fold, where there are no predictions.
SCORES_ALONE = "t_corrected_kfold(rho=1.5/K)"


def is_taken(design: str, metric: str, test: str, row: Setting) -> bool:
    """Whether `compare.auto` takes this test there, and its level is to be kept; on few samples none keeps it for AUC."""
    if design == "one test set, these models":
        if metric == "roc_auc":
            return test == "delong" and kind_of(design, row) == "large test set"
        return test == ("mcnemar" if metric == "accuracy" else "permutation")
    return design not in ("leave-one-out", "one test set") and test in ("t_training", SCORES_ALONE)


def cells(rows: list[Setting], power: bool = False) -> Iterator[tuple[str, str, str, float, Setting]]:
    """Design, metric, test, share of rejections and setting of every cell."""
    for row in rows:
        if (row["null"] == "difference") == power:
            for design, by_metric in row["rejected"].items():
                for metric, by_test in by_metric.items():
                    yield from ((design, metric, test, rate, row) for test, rate in by_test.items())


def largest_errors(rows: list[Setting]) -> dict[str, dict[str, dict[str, float]]]:
    """By kind of design, test and kind of metric: the largest type I error of all cells."""
    out: dict[str, dict[str, dict[str, float]]] = {kind: {} for kind in KINDS}
    for design, metric, test, rate, row in cells(rows):
        own = out[kind_of(design, row)].setdefault(test, {})
        group = next(group for group, metrics in METRICS.items() if metric in metrics)
        own[group] = max(round(rate, 3), own.get(group, 0.0))
    return {kind: dict(sorted(tests.items())) for kind, tests in out.items()}


def error_rates(rows: list[Setting]) -> str:
    """The text of src/outfold/compare/error_rates.json."""
    found = largest_errors(rows)
    del found["one test set, learners"]  # another question than that of the tests of one test set
    return json.dumps(found, indent=1) + "\n"


def page_rows(rows: list[Setting]) -> Iterator[str]:
    """The table of the documentation: for each kind of design and test the largest error by metric, and the mean of all."""
    every = list(cells(rows))
    for kind, tests in largest_errors(rows).items():
        for test in tests:
            own = [cell for cell in every if kind_of(cell[0], cell[4]) == kind and cell[2] == test]
            found = []
            for names in METRICS.values():
                of_metric = [cell for cell in own if cell[1] in names]
                if not of_metric:
                    found.append("")
                    continue
                worst = max(of_metric, key=lambda cell: cell[3])
                found.append(f"{worst[3]:.3f} ({worst[4]['learner']}, {worst[4]['null']}, n = {worst[4]['n']})")
            yield f"| {kind} | `{test}` | {' | '.join(found)} | {np.mean([cell[3] for cell in own]):.3f} |"


def coverage_rows(rows: list[Setting]) -> Iterator[str]:
    """Lowest and mean coverage by design and metric, of `training` and of `corrected_t`, and how their widths compare."""
    for design in (design for designs in list(KINDS.values())[:4] for design in designs):
        found = []
        for metrics in (("accuracy",), ("roc_auc",), ("brier", "mse")):
            own = np.array([v for row in rows for m, v in row["covered"].get(design, {}).items() if m in metrics])
            ratio = np.mean(own[:, 1] / own[:, 3])
            new, old = own[:, 0], own[:, 2]
            found.append(f"{new.min():.3f}, {new.mean():.3f} | {old.min():.3f}, {old.mean():.3f} | {ratio:.2f}")
        yield f"| {design} | {' | '.join(found)} |"


def power_rows(rows: list[Setting]) -> Iterator[str]:
    """Mean power over learners, 50 and 100 samples, of the tests that can be compared; 400 samples have fewer plans."""
    every = list(cells([row for row in rows if row["n"] <= 100], power=True))
    for kind in list(KINDS)[:5]:
        for design in KINDS[kind]:
            found = []
            for test, metric in product(("t_training", "t_corrected"), ("accuracy", "roc_auc", "brier")):
                own = [cell[3] for cell in every if cell[:3] == (design, metric, test)]
                found.append(f"{np.mean(own):.3f}")
            yield f"| {design} | {' | '.join(found)} |"


def words(rows: list[Setting]) -> Iterator[str]:
    """What the page says of the tables."""
    held = np.array([v for row in rows for by_metric in row["covered"].values() for v in by_metric.values()])
    lowest, mean, other = held[:, 0].min(), held[:, 0].mean(), held[:, 2].min()
    yield f"`training` covers at least {lowest:.3f}, and {mean:.3f} on average; `corrected_t` falls to {other:.3f}"
    many = sum(row["n"] == 400 for row in rows)
    yield f"There are 50 and 100 samples, and 400 in {many} of the {sum(row['n'] == 100 for row in rows)} settings"
    again = {
        (id(row), design, metric, test)
        for row in rows
        for design, by_metric in row.get("again", {}).items()
        for metric, by_test in by_metric.items()
        for test in by_test
    }
    above = {
        (id(row), design, metric, test)
        for design, metric, test, rate, row in cells(rows)
        if is_taken(design, metric, test, row) and rate > AGAIN_ABOVE
    }
    yield f"{len(again)} of the {len(again | above)} cells above {AGAIN_ABOVE} were measured again"
    largest = largest_errors(rows)
    plans = list(KINDS)[:5]
    most = max(error for kind in plans for error in largest[kind]["t_training"].values())
    yield f"`t_training` errs in at most {most:.3f} of the data sets, in any plan but leave-one-out."
    alone = max(largest["K-fold"][SCORES_ALONE].values())
    yield f"`t_corrected_kfold` with a correlation of 1.5/K errs in at most {alone:.3f}, by the scores of one K-fold alone."
    one, several = (max(largest[kind]["t_corrected"].values()) for kind in ("K-fold", "repeated K-fold"))
    yield f"`t_corrected` errs in at most {one:.3f} on one K-fold."
    yield f"and it errs in up to {several:.3f}."
    f, t = (max(largest["5 x 2-fold"][test].values()) for test in ("f_5x2cv", "t_5x2cv"))
    yield f"`f_5x2cv` and `t_5x2cv` err in up to {f:.3f} and {t:.3f}."
