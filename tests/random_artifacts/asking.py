"""Questions that any artifact answers, with finite numbers or with one of our errors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import questions as snapshot

import outfold as of
from outfold.exceptions import OutfoldError

Ask = Callable[[of.Predictions, str], Any]

PICTURES: dict[str, Ask] = {
    "configurations": of.plot.configurations,
    "draws": lambda oof, m: of.plot.draws(of.estimate.bbc(oof, m, n_resamples=50)),
    "selection": lambda oof, m: of.plot.selection(of.estimate.bbc(oof, m, n_resamples=50)),
    "optimism": lambda oof, m: of.plot.optimism(of.estimate.bbc(oof, m, n_resamples=50)),
    "cells": lambda oof, m: of.plot.cells(oof),
    "fold scores": of.plot.fold_scores,
    "trace": of.plot.trace,
    "repeats": of.plot.repeats,
    "roc": lambda oof, m: of.plot.roc(oof, oof.configs[0]),
    "precision and recall": lambda oof, m: of.plot.precision_recall(oof, oof.configs[0]),
    "calibration": lambda oof, m: of.plot.calibration(oof, oof.configs[0]),
    "confusion": lambda oof, m: of.plot.confusion(oof, oof.configs[0]),
    "pairwise": lambda oof, m: of.plot.pairwise(of.compare.pairs(oof, m)),
}


def _question(ask: Callable[..., Any]) -> Ask:
    def asked(oof: of.Predictions, m: str) -> Any:
        a, b = snapshot.two(oof)
        return ask(oof, m, a, b)

    return asked


def _ranking(ask: Callable[..., Any]) -> Ask:
    def asked(oof: of.Predictions, m: str) -> Any:
        a, b = snapshot.two(oof)
        return ask(snapshot.table(oof, m), snapshot.better(m), a, b)

    return asked


def _report(oof: of.Predictions, m: str) -> Any:
    assert "<html" in of.report(oof, m, n_resamples=50).to_html()


QUESTIONS: dict[str, Ask] = {
    **{f"estimate {name}": ask for name, ask in snapshot.ESTIMATES.items()},
    **{f"select {name}": ask for name, ask in snapshot.SELECTIONS.items()},
    **{f"rule {name}": ask for name, ask in snapshot.RULES.items()},
    **{f"metric {name}": ask for name, ask in snapshot.METRICS.items()},
    **{f"compare {name}": _question(ask) for name, ask in snapshot.COMPARISONS.items()},
    **{f"power {name}": _question(ask) for name, ask in snapshot.POWERS.items()},
    **{f"rank {name}": _ranking(ask) for name, ask in snapshot.RANKS.items()},
    **{f"about {name}": lambda oof, m, ask=ask: ask(oof) for name, ask in snapshot.ABOUT.items()},
    **{f"plot {name}": ask for name, ask in PICTURES.items()},
    "report": _report,
}


def answer(oof: of.Predictions, question: str, metric: str) -> str:
    """Ask, with every warning an error; what was said: an answer, or the name of our error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = QUESTIONS[question](oof, metric)
            repr(found)
        except OutfoldError as error:
            return type(error).__name__ if str(error) else "an error without words"
        finally:
            plt.close("all")
    assert_finite(found)
    return "answered"


def assert_finite(found: Any) -> None:
    """The headline of a result has finite numbers."""
    if isinstance(found, of.results.Estimate):
        assert math.isfinite(found.value), found
        if found.interval is not None:
            assert_interval(found.interval)
    if isinstance(found, of.results.Comparison):
        assert math.isfinite(found.difference), found
        assert found.pvalue is None or 0 <= found.pvalue <= 1, found
        if found.interval is not None:
            assert_interval(found.interval)
    if isinstance(found, of.results.Comparisons):
        for pair in found:
            assert_finite(pair)


def assert_interval(interval: Any) -> None:
    low, high = interval
    assert not np.isnan([low, high]).any(), interval
    assert low <= high, interval
