"""Texts that several docstrings share, written once: parameters, results, and papers by their key in ``references.bib``."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, TypeVar

from .citations import reference

F = TypeVar("F", bound=Callable[..., Any])
_PLACEHOLDER = re.compile(r"^( *+)(?:(\w++): )?\{(\w+(?:, \w+)*)\}$", re.MULTILINE)

# Texts that are the same in the whole package.
COMMON = {
    "rng": """rng : int, Generator, SeedSequence or None
    Seed of the draws. The same int gives the same result; None draws a new seed.""",
    "outfold": ">>> import outfold as of",
    "iris": (
        ">>> import outfold as of\n>>> from sklearn.datasets import load_iris\n>>> X, y = load_iris(return_X_y=True)"
    ),
    "numpy_outfold": ">>> import numpy as np, outfold as of",
    "n_resamples": "n_resamples : int\n    Number of random draws.",
    "oof": "oof : Predictions\n    Predictions of `collect`, `load` or `from_arrays`, of all configurations that were tried.",
    "predictions": "Predictions\n    The predictions, which every method reads.",
    "metric": """metric : str, callable or Metric
    What to score by: a name such as ``"accuracy"``, a scikit-learn scorer or a function.""",
    "task_metric": """metric : str, callable, Metric or None
    What to score by; None takes the metric that selects.""",
    "recorded_metric": """metric : str, callable, Metric or None
    What to score by: a name such as ``"accuracy"``, a scikit-learn scorer or a function. None is the metric that the
    predictions record.""",
    "aggregate": """aggregate : {"pooled", "within", "fold"} or None
    How a configuration is scored: by one score over all out-of-fold predictions of a repeat, by the same of pairs of samples of
    one fold (for AUC and concordance; other metrics are pooled), or by the mean over folds. None is what the predictions
    record.""",
    "confidence_level": "confidence_level : float\n    Level of the interval.",
    "test_level": """confidence_level : float
    Level of the confidence interval. The test decides at alpha = 1 - confidence_level.""",
}


def fill_docstring(function: F, texts: Mapping[str, str]) -> F:
    """Replace each line of the docstring that is one or more names in braces by the texts of those names.

    Before the braces there may be the name of a section, which gets its heading. Under ``References`` the names are keys of
    papers, which are numbered. Of a class, the docstrings of its methods are filled too.

    >>> def table(n, m):
    ...     '''Some rows.
    ...
    ...     Parameters: {n, m}
    ...     References: {holm1979}
    ...     '''
    >>> print(fill_docstring(table, {"n": "n : int\\n    Number of rows.", "m": "m : int\\n    Number of columns."}).__doc__)
    Some rows.
    <BLANKLINE>
        Parameters
        ----------
        n : int
            Number of rows.
        m : int
            Number of columns.
    <BLANKLINE>
        References
        ----------
        .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6,
           65-70.
    <BLANKLINE>
    """
    every = {**COMMON, **texts}

    def fill(line: re.Match[str]) -> str:
        indent, section, names = line[1], line[2], line[3].split(", ")
        if section == "References":
            cited = (f".. [{number}] {reference(key)}" for number, key in enumerate(names, start=1))
            wrapping: dict[str, Any] = {"subsequent_indent": "   ", "break_on_hyphens": False}
            parts = [textwrap.fill(text, 120 - len(indent), **wrapping) for text in cited]
        else:
            parts = [every[name] for name in names]
        if section is not None:
            parts = [section, "-" * len(section), *parts]
        follows_blank = section is None or line.string.endswith("\n\n", 0, line.start())
        return ("" if follows_blank else "\n") + textwrap.indent("\n".join(parts), indent)

    members = vars(function).values() if isinstance(function, type) else ()
    methods = [getattr(member, "__func__", member) for member in members]  # of a class method, its function
    for documented in (function, *(method for method in methods if isinstance(method, FunctionType))):
        if documented.__doc__ is not None:  # None under python -OO
            documented.__doc__ = _PLACEHOLDER.sub(fill, documented.__doc__)
    return function


def fill_with(texts: Mapping[str, str]) -> Callable[[F], F]:
    """A decorator that fills docstrings with these texts."""

    def decorate(function: F) -> F:
        return fill_docstring(function, texts)

    return decorate


# Fills docstrings that need no other texts.
fill_common = fill_with({})

_FIELDS = {
    "metric_name": "metric : str\n    Name of the metric.",
    "metric": "metric : str\n    Name of the metric.\ngreater_is_better : bool\n    Direction of the metric.",
    "pair": "a, b : str\n    The two configurations.",
    "configs": "configs : tuple of str\n    The configurations.\nscores : ndarray of shape (C,)\n    Their scores.",
    "in_order": "configs : tuple of str\n    The configurations, in the user's order.",
    "best_first": "configs : tuple of str\n    The configurations, best first.",
    "test": (
        "statistic, pvalue : float\n    The statistic of the test, and the p value.\n"
        "df : tuple of float\n    The degrees of freedom."
    ),
    "described": "description, reference : str\n    The method in words, and the paper that defines it.",
    "level": "confidence_level : float\n    Level of the interval. The test decides at alpha = 1 - confidence_level.",
    "alternative": """alternative : {"two-sided", "better", "worse"}
    Whether the test asks if `a` differs from `b`, is better or is worse.""",
    "plan": "plan, fingerprint : str or None\n    How samples were held out, and a hash of labels and splits.",
    "n_samples": "n_samples : int or None\n    Number of samples; None if it is not known.",
    "reason": "reason : str\n    Why `auto` chose this test; empty if you named it.",
    "failures": "failures : dict of str to int\n    Messages of failed fits, and how many there were of each.",
    "notes": "notes : tuple of Note\n    Caveats, each with the code of its check.",
    "details": "details : dict\n    Further numbers of the method.",
}
_TERMS = "\n".join(
    [
        _FIELDS["metric"],
        "method : str\n    Name of the function of `compare` or `rank`.",
        _FIELDS["described"],
        "statistic_name : str\n    Such as ``t``, ``chi2`` or ``z``.",
        *(_FIELDS[name] for name in ("plan", "n_samples", "alternative", "level")),
        "rope : float or None\n    Half the width of the region of practical equivalence, in units of the metric.",
        "null : float\n    The difference under the null hypothesis.",
        "algorithms : tuple of TunedAlgorithm\n    What `compare.algorithms` tuned; empty for single configurations.",
    ]
)

# Fills the docstrings of results with the attributes that several of them have.
document_result = fill_with({**_FIELDS, "terms": _TERMS})
