"""Type I error of the tests by resampling, in the setting of Wang et al. (2014), Table 6.

Two Gaussian classes in the plane, N(0, I) and N(1, s I); a least-squares regression tree against linear regression, both cut at
0.5. The paper does not say how its tree is grown. The defaults of R's `tree` make its null hypothesis nearly hold:
nodes of at least 10 samples are split into leaves of at least 5, unless their deviance is below a hundredth of the root's. With
these the two algorithms are about equally good at n/2, but not at other sizes. So every test is also put to the true
difference of its own design, the mean over all data sets, where the null hypothesis holds exactly. Where all splits differ
alike there is no p value: such data sets do not count as rejections, and their share is printed.

Usage: python studies/gaussians.py [N_DATA_SETS]     writes studies/results/gaussians.json
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

import outfold as of

SETTINGS = {"simulation 1": (200, 1 / 6), "simulation 2": (2000, 0.173)}
PLANS = {
    "2-fold": of.Plan(folds=2),
    "5x2": of.Plan.five_by_two(),
    "blocked 3x2": of.Plan.blocked(3),
    "balanced 7x2": of.Plan.blocked(7),
    "10-fold": of.Plan(folds=10),
    "3 x 10-fold": of.Plan(folds=10, repeats=3),
    "10 hold-outs": of.Plan.repeated_holdout(10, 0.1),
}
RESULT = Path(__file__).parent / "results" / "gaussians.json"
N_NEW = 20_000
compare = of.compare
# (test, plan): its function, and what Table 6 prints for simulations 1 and 2.
TESTS: dict[tuple[str, str], tuple[Callable[..., of.results.Comparison], tuple[str, str]]] = {
    ("t_kfold", "2-fold"): (compare.t_kfold, ("0.08", "0.07")),
    ("t_corrected_kfold", "2-fold"): (compare.t_corrected_kfold, ("0.07", "0.05")),
    ("t_5x2cv", "5x2"): (compare.t_5x2cv, ("0.05", "0.04")),
    ("f_5x2cv", "5x2"): (compare.f_5x2cv, ("0.04", "0.05")),
    ("t_blocked_3x2", "blocked 3x2"): (compare.t_blocked_3x2, ("0.05", "0.05")),
    ("t_blocked_mx2", "balanced 7x2"): (compare.t_blocked_mx2, ("", "")),
    ("t_corrected", "5x2"): (compare.t_corrected, ("", "")),
    ("t_kfold", "10-fold"): (compare.t_kfold, ("", "")),
    ("t_corrected_kfold", "10-fold"): (compare.t_corrected_kfold, ("", "")),
    ("t_corrected", "10-fold"): (compare.t_corrected, ("", "")),
    ("t_corrected", "3 x 10-fold"): (compare.t_corrected, ("", "")),
    ("t_resampled", "10 hold-outs"): (compare.t_resampled, ("", "")),
    ("t_corrected", "10 hold-outs"): (compare.t_corrected, ("", "")),
}


def draw(n: int, s: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 2))
    X[y == 1] = 1 + np.sqrt(s) * X[y == 1]
    return X, y


def tree_labels(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    X, X_test = X.astype(np.float32), X_test.astype(np.float32)  # as the tree does itself, at the cost of many checks
    model = DecisionTreeRegressor(min_samples_leaf=5, min_samples_split=10, random_state=0).fit(X, y, check_input=False)
    nodes = model.tree_
    deviance = nodes.impurity * nodes.n_node_samples
    # A node below a hundredth of the root's deviance is not split: the greedy tree without the branches under it.
    for children in (nodes.children_left, nodes.children_right):
        children[deviance < 0.01 * deviance[0]] = -1
    return model.predict(X_test, check_input=False) > 0.5


def linear_labels(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    beta = np.linalg.lstsq(np.c_[np.ones(len(X)), X], y, rcond=None)[0]
    return beta[0] + X_test @ beta[1:] > 0.5


def full_labels(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """A tree grown until its leaves are pure."""
    return DecisionTreeRegressor(random_state=0).fit(X, y).predict(X_test) > 0.5


def rpart_labels(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """A tree with the defaults of R's `rpart`: leaves of 7, nodes of 20, each split at least a hundredth of the deviance."""
    options = {"min_samples_leaf": 7, "min_samples_split": 20, "min_impurity_decrease": 0.01 * y.var()}
    return DecisionTreeRegressor(**options, random_state=0).fit(X, y).predict(X_test) > 0.5


LEARNERS = {"tree": tree_labels, "linear": linear_labels, "full tree": full_labels, "rpart": rpart_labels}


def fold_errors(X: np.ndarray, y: np.ndarray, plan: of.Plan, seed: int) -> np.ndarray:
    """(2, splits) errors of the tree and of linear regression."""
    splits = plan.split(y, rng=seed)
    out = []
    for r, k in splits.cells:
        train, test = splits.train_rows(r, k), splits.test_rows(r, k)
        out.append([np.mean(f(X[train], y[train], X[test]) != y[test]) for f in (tree_labels, linear_labels)])
    return np.array(out).T


def simulate(
    n: int, s: float, n_sets: int, plans: dict[str, of.Plan] = PLANS, progress: bool = False
) -> dict[str, np.ndarray]:
    """(data sets, 2, splits) errors under every plan."""
    errors: dict[str, list[np.ndarray]] = {name: [] for name in plans}
    start = time.perf_counter()
    for seed in range(n_sets):
        X, y = draw(n, s, np.random.default_rng([n, seed]))
        for name, plan in plans.items():
            errors[name].append(fold_errors(X, y, plan, seed))
        if progress and (seed + 1) % 200 == 0:
            print(f"  n = {n}: {seed + 1} data sets, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return {name: np.stack(values) for name, values in errors.items()}


def as_scores(errors: np.ndarray, plan: of.Plan, n: int) -> of.FoldScores:
    """Errors of one data set, as the tests take them."""
    share = plan.test if plan.kind == "holdout" else 1 / plan.folds
    n_test = round(n * share)
    return of.from_scores(
        {"tree": errors[0], "linear": errors[1]},
        n_train=n - n_test,
        n_test=n_test,
        design=plan,
        metric="error",
        greater_is_better=False,
    )


def pvalues(
    test: Callable[..., of.results.Comparison], errors: np.ndarray, plan: of.Plan, n: int, mu: float
) -> np.ndarray:
    """(data sets,) p values of "the difference is mu"; NaN where all splits differ by the same other number."""
    shift = np.array([[mu], [0.0]])
    found = [test(as_scores(e - shift, plan, n), None, 0, 1) for e in errors]
    return np.array([np.nan if f.pvalue is None else f.pvalue for f in found])


def variance_ratio(errors: np.ndarray, m: int, weight: float) -> tuple[float, float, float]:
    """Var(mean) / E(variance estimate) of a balanced m x 2 plan, and the correlations rho_1 and rho_2 behind it."""
    from outfold.stats.paired import balanced_variance

    d = (errors[:, 0] - errors[:, 1]).reshape(-1, m, 2)
    ratio = d.mean(axis=(1, 2)).var(ddof=1) / balanced_variance(d, weight).mean()
    correlation = np.corrcoef(d.reshape(len(d), -1).T)
    same = np.kron(np.eye(m), np.ones((2, 2))) - np.eye(2 * m) > 0
    other = np.kron(1 - np.eye(m), np.ones((2, 2))) > 0
    return float(ratio), float(correlation[same].mean()), float(correlation[other].mean())


def new_errors(n_train: int, s: float, n_sets: int) -> dict[str, float]:
    """Mean errors on new samples after training on `n_train`; the difference of tree and regression, and its standard error."""
    errors = []
    for seed in range(n_sets):
        rng = np.random.default_rng([n_train, seed, 1])
        (X, y), (X_new, y_new) = draw(n_train, s, rng), draw(N_NEW, s, rng)
        errors.append([np.mean(labels(X, y, X_new) != y_new) for labels in LEARNERS.values()])
    found = np.array(errors)
    difference = found[:, 0] - found[:, 1]
    return dict(zip(LEARNERS, found.mean(axis=0).tolist(), strict=True)) | {
        "difference": float(difference.mean()),
        "se": float(difference.std(ddof=1) / np.sqrt(n_sets)),
    }


def rejections(errors: dict[str, np.ndarray], n: int) -> dict[str, dict[str, float]]:
    """How often every test rejects 0 and the true difference, and how often it has no p value."""
    rates = {}
    for (test, plan), (function, _) in TESTS.items():
        true = float((errors[plan][:, 0] - errors[plan][:, 1]).mean())
        zero, own = (pvalues(function, errors[plan], PLANS[plan], n, mu) for mu in (0.0, true))
        rates[f"{test}, {plan}"] = {
            "true": true,
            "zero": float(np.mean(zero <= 0.05)),
            "own": float(np.mean(own <= 0.05)),
            "none": float(np.mean(np.isnan(zero))),
        }
    return rates


def ratios(errors: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Variance ratios of the balanced plans under three weights, and what the two correlations predict for the default."""
    found = {}
    for plan, m in (("blocked 3x2", 3), ("balanced 7x2", 7)):
        for weight in (0.0, (m - 1) / m, (m + 1) / m):
            ratio, rho1, rho2 = variance_ratio(errors[plan], m, weight)
            predicted = (1 + rho1 + 2 * (m - 1) * rho2) / (2 * m - 1 - rho1 - 2 * (m - 1) * rho2)
            row = {"ratio": ratio, "rho1": rho1, "rho2": rho2}
            found[f"{plan}, {weight:.3f}"] = row | ({"predicted": predicted} if weight == (m - 1) / m else {})
    return found


def rate_rows(found: dict[str, Any], name: str) -> Iterator[str]:
    """The lines of the table of one simulation, as the page has them."""
    for (test, plan), (_, printed) in TESTS.items():
        own = found[name]["tests"][f"{test}, {plan}"]
        rates = " | ".join(f"{own[key]:.3f}" for key in ("zero", "own", "none"))
        yield f"| `{test}` | {plan} | {own['true']:+z.4f} | {rates} | {printed[list(SETTINGS).index(name)]} |"


def ratio_rows(found: dict[str, Any]) -> Iterator[str]:
    """The lines of the table of variance ratios."""
    for name, (n, _) in SETTINGS.items():
        for key, row in found[name]["ratios"].items():
            plan, weight = key.split(", ")
            yield f"| {n} | {plan} | {weight} | {row['ratio']:.2f} | {row['rho1']:z.2f} | {row['rho2']:z.2f} |"


def main() -> None:
    n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    found: dict[str, Any] = {"data_sets": n_sets}
    for name, (n, s) in SETTINGS.items():
        errors = simulate(n, s, n_sets, progress=True)
        found[name] = {
            "new samples": new_errors(n // 2, s, n_sets),
            "tests": rejections(errors, n),
            "ratios": ratios(errors),
        }
        print(f"\n{name}: n = {n}\n{found[name]['new samples']}")
        print(*rate_rows(found, name), sep="\n", flush=True)
    print(*ratio_rows(found), sep="\n")
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
