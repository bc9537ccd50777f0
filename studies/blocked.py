"""Variance components of blocked 3x2 cross-validation in the simulated experiments 2 and 3 of Wang et al. (2014).

Two classes, X | Y=0 ~ N(0, I_5) and X | Y=1 ~ N(1, 2 I_5), each with probability 1/2; 0-1 loss. Experiment 2 has logistic
regression without penalty (the paper's Table 2), experiment 3 naive Bayes (Table 4). The paper takes 100,000 data sets for each
number of samples. The four blocks have the classes in equal shares. The coverage is that of `intervals.blocked_t` for the mean
score of models trained on half the samples, by the three weights of the variance between repeats.

All data sets are fitted at once, so that this takes a few minutes.

Usage: python studies/blocked.py [N_DATA_SETS]     writes studies/results/blocked.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

import outfold as of
from outfold.stats.paired import balanced_df, balanced_variance

# What the paper prints, by the number of samples: rho1 and rho2 (Table 2 has 1 - 2 rho1 and 2 rho2).
PRINTED = {
    "logistic": {
        150: (0.124, 0.416),
        300: (0.105, 0.429),
        400: (0.083, 0.435),
        500: (0.064, 0.444),
        1000: (0.050, 0.454),
    },
    "naive Bayes": {
        40: (0.305, 0.334),
        80: (0.203, 0.371),
        160: (0.113, 0.400),
        400: (0.050, 0.434),
        800: (0.029, 0.453),
    },
}
WEIGHTS = {"L": 0.0, "AL": 2 / 3, "careful": 4 / 3}
FEATURES, STEPS, AT_ONCE = 5, 12, 250
RIDGE = 1e-6  # keeps the steps finite in the rare data sets that can be separated
RESULT = Path(__file__).parent / "results" / "blocked.json"


def draw(sets: int, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(sets, n, 5) features and (sets, n) labels, the zeros first."""
    y = np.sort((rng.random((sets, n)) < 0.5).astype(float), axis=1)
    X = rng.normal(size=(sets, n, FEATURES))
    return np.where(y[..., None] == 1, 1 + np.sqrt(2) * X, X), y


def logistic(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """(sets, m) whether new samples are said to be ones, by Newton's method."""
    X, new = (np.concatenate([np.ones((*rows.shape[:2], 1)), rows], axis=-1) for rows in (X, new))
    w, penalty = np.zeros((len(X), X.shape[2])), RIDGE * np.eye(X.shape[2])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(np.einsum("snk,sk->sn", X, w), -30, 30)))
        gradient = np.einsum("snk,sn->sk", X, y - p) - RIDGE * w
        hessian = np.einsum("snk,snl->skl", X * (p * (1 - p))[..., None], X) + penalty
        w = w + np.clip(np.linalg.solve(hessian, gradient[..., None])[..., 0], -5, 5)
    return np.einsum("snk,sk->sn", new, w) > 0


def naive_bayes(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """(sets, m) the same, by normal densities of single features."""
    evidence = np.zeros(new.shape[:2])
    for c in (0, 1):
        own = (y == c).astype(float)
        n = own.sum(axis=1)[:, None]
        mean = np.einsum("snk,sn->sk", X, own) / n
        variance = np.einsum("snk,sn->sk", (X - mean[:, None]) ** 2, own) / (n - 1)
        distance = np.sum((new - mean[:, None]) ** 2 / variance[:, None], axis=2)
        evidence += (2 * c - 1) * (np.log(n) - np.log(variance).sum(axis=1, keepdims=True) / 2 - distance / 2)
    return evidence > 0


LEARNERS: dict[str, Callable[..., np.ndarray]] = {"logistic": logistic, "naive Bayes": naive_bayes}


def halves(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of the six fits: Table 1 of the paper, on blocks that share each class equally."""
    block, out = np.arange(n) % 4, []
    for one in ((0, 1), (0, 2), (0, 3)):
        first, second = np.flatnonzero(np.isin(block, one)), np.flatnonzero(~np.isin(block, one))
        out += [(first, second), (second, first)]
    return out


def scores(learner: str, sets: int, n: int) -> np.ndarray:
    """(sets, 3, 2) error rates."""
    rng, found = np.random.default_rng(n), []
    for start in range(0, sets, AT_ONCE):
        X, y = draw(min(AT_ONCE, sets - start), n, rng)
        said = [LEARNERS[learner](X[:, train], y[:, train], X[:, test]) for train, test in halves(n)]
        wrong = [np.mean(s != (y[:, test] == 1), axis=1) for s, (_, test) in zip(said, halves(n), strict=True)]
        found.append(np.stack(wrong, axis=1).reshape(-1, 3, 2))
    return np.concatenate(found)


def coverage(table: np.ndarray, weight: float) -> float:
    """How often the 95% interval of a data set has the mean over all of them."""
    mean, reach = table.mean(axis=(1, 2)), stdtrit(balanced_df(weight, 3), 0.975)
    return float(np.mean(np.abs(mean - mean.mean()) <= reach * np.sqrt(balanced_variance(table, weight))))


def measure(sets: int) -> dict[str, Any]:
    out: dict[str, Any] = {"data_sets": sets, "settings": {}}
    for learner, printed in PRINTED.items():
        for n in printed:
            table = scores(learner, sets, n)
            found = of.stability.variance_components(table)
            tenths = [of.stability.variance_components(part) for part in np.array_split(table, 10)]
            errors = {k: float(np.std([getattr(t, k) for t in tenths], ddof=1) / np.sqrt(10)) for k in ("rho1", "rho2")}
            row = {"rho1": round(found.rho1, 4), "rho2": round(found.rho2, 4)}
            row["errors"] = {k: round(v, 4) for k, v in errors.items()}
            row["ratios"] = {k: round(v, 3) for k, v in found.ratios.items()}
            row["coverage"] = {name: round(coverage(table, weight), 4) for name, weight in WEIGHTS.items()}
            out["settings"][f"{learner}; {n}"] = row
            print(learner, n, row, flush=True)
    return out


def page_rows(study: dict[str, Any]) -> Iterator[str]:
    """The table of the page on comparing: ours, and the paper's in brackets."""
    for title, row in study["settings"].items():
        learner, n = title.split("; ")
        rho1, rho2 = PRINTED[learner][int(n)]
        ours = f"{row['rho1']:.3f} ({rho1:.3f}) | {row['rho2']:.3f} ({rho2:.3f})"
        each = " | ".join(f"{row['ratios'][name]:.2f}, {row['coverage'][name]:.3f}" for name in WEIGHTS)
        yield f"| {learner} | {n} | {ours} | {each} |"


def words(study: dict[str, Any]) -> Iterator[str]:
    """What the page says of the table."""
    apart = {
        learner: max(
            abs(study["settings"][f"{learner}; {n}"][name] - value)
            for n, pair in printed.items()
            for name, value in zip(("rho1", "rho2"), pair, strict=True)
        )
        for learner, printed in PRINTED.items()
    }
    yield f"Naive Bayes agrees with the paper to within {apart['naive Bayes']:.3f}"
    yield f"logistic regression differs by up to {apart['logistic']:.3f}"
    covered = {name: [row["coverage"][name] for row in study["settings"].values()] for name in WEIGHTS}
    spans = {name: f"{min(values):.3f} to {max(values):.3f}" for name, values in covered.items()}
    yield f"The interval by AL covers {spans['AL']}, by L {spans['L']}, by the careful weight {spans['careful']}"


if __name__ == "__main__":
    RESULT.write_text(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000), indent=1) + "\n")
