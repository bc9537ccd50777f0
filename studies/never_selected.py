"""What `drop.NeverSelected` saves and costs, by the harness of studies/dropping.py, on a smaller set of searches.

The simulations are those of that study, with fewer repetitions. On real data three of its data sets are searched, on 100 and on
300 rows, by the grids that are fitted fast.

A last part ends cross-validation within the repeat as soon as the interval is narrow enough (`stability.Width(after="fold")`), on
the same simulations with ten folds: how many folds are done, and how biased the estimate is then.

Usage: python studies/never_selected.py [REPETITIONS [DATA_FOLDER]]     writes studies/results/never_selected.json
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dropping
import numpy as np
from harness.protocols import so_far

import outfold as of

RULES = {"Bootstrap": of.drop.Bootstrap(), "NeverSelected": of.drop.NeverSelected()}
REPETITIONS = 60
SETS, SIZES, GRIDS = ("magic_gamma", "yeast", "biodeg"), (100, 300), ("logistic, 8", "k-NN, 20", "tree, 32")
# Samples, configurations and true accuracies of the part that ends early; and the width of the interval that is enough.
ENDING = ((200, 50, 0.7), (200, 50, 0.9), (500, 50, 0.7), (500, 50, 0.9))
FOLDS, WIDTHS = 10, (0.2, 0.15, 0.1)
RESULT = Path(__file__).parent / "results" / "never_selected.json"


def real(folder: Path) -> list[dict[str, dict[str, float]]]:
    """Every search on real data."""
    out = []
    for n in SIZES:
        for name in SETS:
            case = dropping.case(folder, name, n, 0)
            for grid in GRIDS:
                configs, metric = case.grids[grid]
                if np.unique(case.y[case.tune], return_counts=True)[1].min() < dropping.FOLDS:
                    continue
                oof, truth = dropping.collect(case, configs, metric)
                out.append(dropping.evaluate_cell(oof, truth, metric, rules=RULES))
    return out


def ended(n: int, c: int, accuracy: float, width: float, seed: int) -> tuple[int, float, float]:
    """Folds that were done, and the error of the estimate then and after all folds."""
    rng = np.random.default_rng([n, seed])
    right = (rng.random((n, c)) < accuracy).astype(float)
    oof = of.from_arrays(None, right, folds=np.arange(n) * FOLDS // n, response="pointwise")
    rule, last = of.stability.Width(width, after="fold"), FOLDS - 1
    for fold in range(FOLDS):
        if rule.holds(so_far(oof, fold)):
            last = fold
            break
    early = of.estimate.bbc(so_far(oof, last), "mean").value
    return last + 1, early - accuracy, of.estimate.bbc(oof, "mean").value - accuracy


def measure(repetitions: int, folder: Path) -> dict[str, Any]:
    out: dict[str, Any] = {"repetitions": repetitions, "simulated": {}, "real": {}, "ending": {}}
    for n, c, accuracy in ENDING:
        for width in WIDTHS:
            done, early, whole = np.array([ended(n, c, accuracy, width, seed) for seed in range(repetitions)]).T
            error = early.std(ddof=1) / np.sqrt(repetitions)
            row = {"folds": done.mean(), "bias": early.mean(), "bias_se": error, "bias_of_all": whole.mean()}
            title = f"{n}; {c}; {accuracy}; {width}"
            out["ending"][title] = {key: round(float(value), 4) for key, value in row.items()}
            print(title, out["ending"][title], flush=True)
    for n, c, equal in dropping.SIMULATED:
        rows = [dropping.simulated(n, c, equal, seed, rules=RULES) for seed in range(repetitions)]
        for rule in RULES:
            title = f"{n}, {c}, {'all 0.8' if equal else 'Beta(9, 6)'}; {rule}"
            out["simulated"][title] = dropping.summary([row[rule] for row in rows])
            dropping.show(title, out["simulated"][title])
    searches = real(folder)
    for rule in RULES:
        out["real"][f"all; {rule}"] = dropping.summary([row[rule] for row in searches])
        dropping.show(rule, out["real"][f"all; {rule}"])
    return out


def simulated_rows(study: dict[str, Any]) -> Iterator[str]:
    """The table of the simulations."""
    yield from dropping.simulated_rows(study)


def ending_rows(study: dict[str, Any]) -> Iterator[str]:
    """The table of what ends within a repeat."""
    for title, row in study["ending"].items():
        bias = f"{row['bias']:+.4f} ± {row['bias_se']:.4f} | {row['bias_of_all']:+.4f}"
        yield f"| {' | '.join(title.split('; '))} | {row['folds']:.1f} | {bias} |"


def words(study: dict[str, Any]) -> Iterator[str]:
    """What the page on dropping says."""
    most = [max(r["shift"] for k, r in study["simulated"].items() if k.endswith(rule)) for rule in RULES]
    yield f"`NeverSelected` raised the corrected estimate by up to {most[1]:.3f}, `Bootstrap` by up to {most[0]:.3f}"
    real = [study["real"][f"all; {rule}"] for rule in RULES]
    saved = f"it saved {real[1]['saved']:.0%} of the fits, `Bootstrap` {real[0]['saved']:.0%}"
    yield f"In {real[1]['searches']} searches on real data {saved}"
    yield f"it named another winner in {real[1]['other_winner']:.0%} of them, and lost {real[1]['loss']:.4f} on average"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    data = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).resolve().parents[2] / "shared" / "data"
    RESULT.write_text(json.dumps(measure(asked, data), indent=1) + "\n")
