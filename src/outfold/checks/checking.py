"""The public `check`: every caveat that applies to some predictions, in order of severity."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from .. import formatting
from ..data.predictions import Predictions
from ..exceptions import InputError, got
from ..metrics import MetricLike
from ..requirements import check_predictions
from ..results import SEVERITIES, Checks, Finding
from . import comparison_checks, data_checks, estimate_checks, selection_checks
from .case import Case, Check

_ALL = (
    *data_checks.CHECKS,
    *estimate_checks.CHECKS,
    *selection_checks.CHECKS,
    *comparison_checks.CHECKS,
)
# All checks by code.
CHECKS: dict[str, Check] = {check.code: check for check in sorted(_ALL, key=lambda check: check.code)}


def check(oof: Predictions, metric: MetricLike | None = None, *, ignore: Iterable[str] = (), X: Any = None) -> Checks:
    """Find every caveat that applies to these predictions and to what would be reported of them.

    Nothing is fitted. The estimate that is checked is `estimate.bbc` of the best configuration.

    Parameters
    ----------
    oof : Predictions
        Predictions of all configurations that were tried.
    metric : str, callable, Metric or None
        The metric that selects and is reported; None takes the default of the task.
    ignore : iterable of str
        Codes to leave out, such as ``["OF301", "OF307"]``.
    X : array-like, data frame or None
        The features, one row for each sample, to look for equal rows on both sides of a split. `collect` looks for them anyway.

    Returns
    -------
    Checks
        The findings, errors first.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> correct = np.random.default_rng(0).random((80, 150)) < 0.7
    >>> of.check(of.from_arrays(None, correct, response="pointwise")).codes
    ('OF531', 'OF301', 'OF307', 'OF532')
    """
    check_predictions(oof, "check")
    muted = _codes(ignore)
    return checked(Case(oof, metric, X), muted)


def checked(case: Case, muted: tuple[str, ...] = ()) -> Checks:
    """What all checks but the muted ones say of a case."""
    oof = case.oof
    findings = [finding for c in CHECKS.values() if c.code not in muted for finding in _findings(c, case)]
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    about = (
        f"{formatting.count(oof.n_configs, 'configuration')} on {formatting.count(oof.n_samples, 'sample')}, {oof.plan}"
    )
    return Checks(tuple(findings), case.metric.name, about, muted)


def _findings(check: Check, case: Case) -> list[Finding]:
    """What the check says of the case: its own sentence, or the notes that bear its code."""
    if check.find is not None:
        text = check.find(case)
        texts = [] if text is None else [text]
    else:
        texts = list(dict.fromkeys(note.text for note in case.notes if note.code == check.code))
    return [Finding(check.code, check.severity, t, check.advice, check.source, check.page) for t in texts]


def _codes(ignore: Iterable[str]) -> tuple[str, ...]:
    if not isinstance(ignore, Iterable):
        needed = "must be a list of codes such as ['OF301']"
        raise InputError(argument="ignore", needed=needed, given=got(ignore))
    codes = (ignore,) if isinstance(ignore, str) else tuple(dict.fromkeys(ignore))
    for code in codes:
        if code not in CHECKS:
            near = get_close_matches(str(code), CHECKS, n=1, cutoff=0)
            raise InputError(
                argument="ignore",
                needed="must hold codes of checks",
                given=f"there is no check {code!r}",
                remedy=f"The nearest is {near[0]}; docs/checks.md lists all.",
            )
    return codes
