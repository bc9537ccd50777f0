"""All checks by code."""

from __future__ import annotations

from . import data, dropping, estimating, metric, plan, ranking, selection, stability, testing
from .declaration import Check

_ALL = (
    *data.CHECKS,
    *plan.CHECKS,
    *metric.CHECKS,
    *estimating.CHECKS,
    *selection.CHECKS,
    *stability.CHECKS,
    *dropping.CHECKS,
    *testing.CHECKS,
    *ranking.CHECKS,
)

CHECKS: dict[str, Check] = {check.code: check for check in sorted(_ALL, key=lambda check: check.code)}
