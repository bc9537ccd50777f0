"""One test on many data sets at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import outfold as of


def pvalues(test: str, plan: of.Plan, differences: np.ndarray, n: int, null: float = 0.0) -> np.ndarray:
    """(M,) p values of "the difference is `null`", of the differences (M, splits) of M data sets of n samples.

    Each data set is compared as if it were an algorithm, with one that has no errors. NaN where all splits differ by the same
    other number, so that the test has no p value.
    """
    n_test = round(n * (plan.test if plan.kind == "holdout" else 1 / plan.folds))
    scores = {"nothing": np.zeros(differences.shape[1])}
    scores |= {str(i): row for i, row in enumerate(np.asarray(differences, dtype=float) - null)}
    given = of.from_scores(
        scores, n_train=n - n_test, n_test=n_test, design=plan, metric="error", greater_is_better=False
    )
    found = of.compare.pairs(given, None, test=test, control="nothing", adjust="none", omnibus=False)
    return np.array([np.nan if one.pvalue is None else one.pvalue for one in found])


def paper_names(tests: Mapping[str, tuple[str, str]]) -> str:
    """A sentence with links: which of our tests, on which plan, a label of the paper means."""
    names = (f"{label} is [`{test}`](../compare/{test}.md) ({plan})" for test, (plan, label) in tests.items())
    return f"The labels are those of the paper: {', '.join(names)}."
