"""Predictions to report on."""

from __future__ import annotations

import numpy as np

import outfold as of

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "' onfocus='window.hacked = 1' tabindex='1",
    "]]><svg onload=alert(1)>",
    "=HYPERLINK(\"http://example.invalid\", 'x')",
    "$headline ${facts} &amp; \\textbf{50%} | a_b | `code`",
    "new\nline\u2028and\x00null\u202eback",
]


def two_classes(n=80, c=8, r=1, k=5, seed=0, configs=None, signal=1.0, **options) -> of.Predictions:
    """Probabilities of two classes by C configurations in R repeats of K folds."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    noise = rng.normal(size=(n, 1, 1)) + rng.normal(size=(n, c, r))
    P = np.round(1 / (1 + np.exp(-(signal * (2 * y[:, None, None] - 1) + noise))), 4)
    folds = np.stack([rng.permutation(np.arange(n) % k) for _ in range(r)], axis=1)
    labels = np.array(["stable", "worse"])[y]
    return of.from_arrays(labels, P, folds=folds, response="proba", configs=configs, positive="worse", **options)


def numbers(n=80, c=5, r=1) -> of.Predictions:
    """Predictions of a number by C configurations in R repeats of five folds."""
    rng = np.random.default_rng(0)
    y = rng.normal(100, 20, n)
    folds = np.stack([rng.permutation(np.arange(n) % 5) for _ in range(r)], axis=1)
    return of.from_arrays(y, y[:, None, None] + rng.normal(0, 12, (n, c, r)), folds=folds, response="value")


def long_classes() -> of.Predictions:
    """Probabilities of seven classes whose long names differ at the end."""
    rng = np.random.default_rng(0)
    names = np.array([f"adenocarcinoma of the lung, stage {s}" for s in ("I", "IIa", "IIb", "IIIa", "IIIb", "IV", "V")])
    y, chances = rng.integers(0, 7, 140), rng.dirichlet(np.ones(7), (140, 3, 1))
    return of.from_arrays(names[y], chances, folds=rng.permutation(np.arange(140) % 5), response="proba")


def column(name, role="feature", kind=None, missing=0.0, distinct=2, treatment="", reason="", warning=""):
    return dict(locals())


DATA = {
    "file": {"name": "patients.csv", "read as": "separated by semicolons, decimal comma, encoding cp1252"},
    "rows": [{"n": 12, "reason": "no value in the target 'outcome'"}, {"n": 3, "reason": "the same as another row"}],
    "columns": [
        column("age", kind="number", missing=0.012, distinct=61, treatment="median where missing, scaled"),
        column("sex", kind="category", treatment="one-hot"),
        column(
            "admitted", kind="date", missing=0.0004, distinct=77, treatment="year, month, days since the first date"
        ),
        column("days_until_discharge", kind="number", missing=0.35, distinct=40, warning="alone it tells the target"),
        column("patient_id", "id", distinct=80, treatment="left out", reason="a different value in every row"),
        column("outcome", "target", missing=0.13, treatment="what is predicted"),
    ],
}
IMPORTANCE = {
    "age": (0.08, 0.02),
    "days_until_discharge": (0.21, 0.05),
    "sex": (0.004, 0.01),
    "admitted": (-0.002, 0.01),
}
