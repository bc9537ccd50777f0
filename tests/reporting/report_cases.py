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
