"""How often `compare.non_inferior` and `compare.equivalent` say yes where the truth lies at the margin: their type I error.

The data are those of `type_one_error.py` with the null ``difference``: one learner on two halves of the features, of which the
first has more signal. The margin is the true difference of the design, the mean over all data sets. So the second
configuration is worse by exactly the margin, and a yes is an error; 5 percent at most are allowed at alpha 0.05.

Usage: python studies/margins.py [N_SETS]      writes results/margins.json
       python studies/margins.py check         compares with the public functions
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from all_tests import Held, t_training
from fast_learners import LEARNERS
from type_one_error import FOUR, draw, splits

import outfold as of
from outfold.stats import paired, training

RESULTS = Path(__file__).parent / "results" / "margins.json"
N_SETS = 2000
ALPHA = 0.05
SIZES = (50, 100, 400)
# Designs, the plan of the other study that they are the first repeats of, and how many.
DESIGNS = {"10-fold": ("10 x 10-fold", 1), "3 x 10-fold": ("10 x 10-fold", 3), "5 x 2-fold": ("5 x 2-fold", 5)}
METRICS = ("accuracy", "roc_auc", "brier")
TESTS = ("t_training", "t_corrected")


def data_sets(n: int, learner: str, plan: str, repeats: int, seeds: range) -> Held:
    """Predictions of both configurations on many data sets."""
    setting = {"null": "difference", "signal": "weak", "n": n, "learner": learner}
    found = []
    for seed in seeds:
        rng = np.random.default_rng([n, seed, *map(ord, learner)])
        first, second, y = draw(setting, rng)
        folds = splits(plan, n, "halves", seed)[:repeats]
        found.append((y, folds, [LEARNERS[learner](X, y, folds, rng) for X in (first, second)]))
    y, folds, scores = (np.array(part) for part in zip(*found, strict=True))
    return Held(y, folds, np.moveaxis(scores, 1, 0))


def only(held: Held, repeats: int) -> Held:
    """The first repeats."""
    return Held(held.y, held.folds[:, :repeats], held.scores[:, :, :repeats])


def differences(held: Held, metric: str) -> tuple[np.ndarray, float]:
    """(B, R, N) what each sample adds to the difference, second minus first, as a gain of the second; and its mean."""
    first, second = held.values[metric]
    d = first - second if metric == "brier" else second - first
    return d, float(d.mean())


def one_sided(held: Held, metric: str, test: str, null: float) -> np.ndarray:
    """(B,) p values of "the second gains no more than the null", by the kernels of the library."""
    d, _ = differences(held, metric)
    if test == "t_training":
        allowance = training.ZERO_ONE if metric == "accuracy" else training.OTHER_LOSS
        two_sided, parts = t_training(held, d - null, allowance, metric != "roc_auc")
        above = parts[:, 0] > 0
    else:
        by_fold = held.fold_scores(metric)
        folds = (by_fold[1] - by_fold[0]).reshape(len(d), -1) * (-1 if metric == "brier" else 1)
        ratio, floor = held.ratio, np.full(len(d), 1e-12)
        variance = paired.mean_variance(folds, ratio / (1 + ratio))
        tested = paired.student(folds.mean(axis=1), variance, folds.shape[1] - 1, 0.95, floor, null)
        two_sided, above = tested.pvalue, tested.statistic > 0
    return np.where(above, two_sided / 2, 1 - two_sided / 2)


def rates(held: Held, metric: str, test: str) -> dict[str, float]:
    """How often each question is answered by yes, at the margin that is the true difference."""
    if metric == "roc_auc" and test == "t_corrected" and np.isnan(held.fold_scores(metric)).any():
        return {}
    _, true = differences(held, metric)
    if test == "t_corrected" and metric == "roc_auc":  # of folds, not of all samples at once
        true = float((held.fold_scores(metric)[1] - held.fold_scores(metric)[0]).mean())
    worse, better = one_sided(held, metric, test, true), one_sided(held, metric, test, -true)
    # Not worse by the margin; and not better by it either.
    both = np.maximum(worse, 1 - better)
    return {
        "margin": -true,
        "non_inferior": float(np.mean(worse <= ALPHA)),
        "equivalent": float(np.mean(both <= ALPHA)),
    }


def measured(n_sets: int) -> Iterator[dict[str, object]]:
    for n, learner in product(SIZES, FOUR):
        plans = {plan: max(r for p, r in DESIGNS.values() if p == plan) for plan, _ in DESIGNS.values()}
        made = {plan: data_sets(n, learner, plan, r, range(n_sets)) for plan, r in plans.items()}
        for (design, (plan, repeats)), metric, test in product(DESIGNS.items(), METRICS, TESTS):
            found = rates(only(made[plan], repeats), metric, test)
            if found:
                yield {"n": n, "learner": learner, "design": design, "metric": metric, "test": test, **found}
        print(f"{n} samples, {learner}", flush=True)


def page_rows(rows: list[dict[str, object]]) -> list[str]:
    """The rows of the table in the docs: the mean and the largest error over learners and sizes."""
    out = []
    for design, test in product(DESIGNS, TESTS):
        cells = []
        for metric, question in product(METRICS, ("non_inferior", "equivalent")):
            mine = [r[question] for r in rows if (r["design"], r["test"], r["metric"]) == (design, test, metric)]
            cells.append(f"{np.mean(mine):.3f} ({max(mine):.3f})" if mine else "")
        out.append(f"| {design} | `{test}` | {' | '.join(cells)} |")
    return out


def words(study: dict[str, Any]) -> Iterator[str]:
    """What the page says of the table."""
    n = study["data_sets"]
    yield f"{n:,} data sets each"
    yield f"standard error of a single setting at 0.05 is {np.sqrt(0.05 * 0.95 / n):.3f}"
    # The mean of the largest of twelve normal values is 1.63 standard deviations above their mean.
    yield f"the largest of twelve would be about {0.05 + 1.63 * np.sqrt(0.05 * 0.95 / n):.3f} by chance alone"
    for test in TESTS:
        mine = [row for row in study["rows"] if row["test"] == test]
        means = [np.mean([row[q] for row in mine]) for q in ("non_inferior", "equivalent")]
        yield f"`{test}` wrongly says yes in {means[0]:.1%} (not worse) and {means[1]:.1%} (equivalent) on average"


def check(n_sets: int = 3) -> None:
    """Compare with the public functions, on a few data sets."""
    for (design, (plan, repeats)), metric, test in product(DESIGNS.items(), METRICS, TESTS):
        held = data_sets(100, "centroid", plan, repeats, range(n_sets))
        margin = 0.05
        own = one_sided(held, metric, test, -margin)
        for i in range(n_sets):
            P = np.moveaxis(held.scores[:, i], 2, 0)
            oof = of.from_arrays(held.y[i], P, folds=held.folds[i].T, configs=["first", "second"], response="proba")
            found = of.compare.non_inferior(oof, metric, "second", "first", margin=margin, test=test)
            assert np.isclose(found.pvalue, own[i], atol=1e-9), (design, metric, test)
    print("the public functions give the same p values")


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        check()
    else:
        n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else N_SETS
        rows = list(measured(n_sets))
        RESULTS.write_text(json.dumps({"data_sets": n_sets, "alpha": ALPHA, "rows": rows}, indent=1) + "\n")
        print(*page_rows(rows), sep="\n")
