"""Caveats of picking the best: luck, ties, early dropping, and what another partition would have picked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..arguments import is_number
from ..formatting import compact
from ..stats import selection
from ..stats.selection import argbest
from .case import Case, Check

# Report a tie when at least this many others cannot be told from the winner.
_MANY_TIED = 3
# Fewer values than this have no inside.
_INSIDE = 3
# Parameters that count passes over the data, by the last part of their name.
_PASSES = frozenset(
    [
        "epochs",
        "n_epochs",
        "max_epochs",
        "num_epochs",
        "n_estimators",
        "num_boost_round",
        "n_boost_rounds",
        "n_rounds",
        "nrounds",
        "num_round",
        "num_rounds",
        "iterations",
        "n_iter",
        "n_iterations",
        "max_iter",
        "max_steps",
        "n_steps",
        "num_iterations",
    ]
)
# Their number of estimators is no number of passes: more of them only steady the mean.
_AVERAGING = ("Forest", "ExtraTrees", "Bagging")


def optimism(case: Case) -> str | None:
    """A winner's score whose optimism is larger than the uncertainty of the estimate."""
    made = case.estimate
    if made is None or made.interval is None or made.draws is None or case.n_candidates < 2:
        return None
    # An end of the interval lies about two of them out; luck larger than one is not lost in the noise.
    spread = float(np.std(made.draws, ddof=1))
    if not made.optimism > spread:
        return None
    ends = formatting.interval(*made.interval, made.confidence_level)
    return (
        f"the winner's {case.metric.name}, {formatting.number(made.naive)}, is too good by {formatting.number(made.optimism)}, "
        f"more than the spread {formatting.number(spread)} (sd) of the draws behind the estimate "
        f"{formatting.number(made.value)}, {ends}."
    )


def many_tied(case: Case) -> str | None:
    """A winner that cannot be told from many others."""
    if case.selection is None or case.n_candidates <= _MANY_TIED or case.tied is None:
        return None
    others = len(case.tied) - (case.selection.name in case.tied)
    if others < _MANY_TIED:
        return None
    return (
        f"{case.selection.name} cannot be told from {others:,} of the {case.n_candidates - 1:,} others "
        f"({100 * case.tied.confidence_level:g}% confidence set of the best)."
    )


def edge(case: Case) -> str | None:
    """A winner at the smallest or largest value of a parameter."""
    if case.selection is None:
        return None
    found = [
        f"{name} = {compact(value)} is the {which} of {n} values tried ({compact(low)} to {compact(high)})"
        for name, value, which, n, low, high in _edges(case)
    ]
    return f"in {case.selection.name} {'; '.join(found)}." if found else None


def _edges(case: Case) -> Iterator[tuple[str, Any, str, int, Any, Any]]:
    assert case.selection is not None
    family = _family(case)
    for name, value in case.selection.params.items():
        tried = {params[name] for params in family if is_number(params[name])}
        if not is_number(value) or len(tried) < _INSIDE:
            continue
        low, high = min(tried), max(tried)
        unlimited = any(params[name] is None for params in family)
        if value == low and not _first(low):
            yield name, value, "smallest", len(tried), low, high
        elif value == high and not unlimited and not (high == 1 and low >= 0):
            yield name, value, "largest", len(tried), low, high


def _first(value: Any) -> bool:
    """Whether there can be no smaller one: 0, or the whole number 1."""
    return bool(value == 0 or (value == 1 and isinstance(value, (int, np.integer))))


def _family(case: Case) -> list[Mapping[str, Any]]:
    """Parameters of the configurations of the winner's grid: those whose names begin alike, with the same parameters."""
    assert case.selection is not None
    stem, keys = _stem(case.selection.name), case.selection.params.keys()
    pairs = zip(case.oof.configs, case.oof.params, strict=True)
    return [params for name, params in pairs if _stem(name) == stem and params.keys() == keys]


def _stem(name: str) -> str:
    """The part of a name before the parameters; empty where the name does not show them."""
    return name.partition("(")[0] if "(" in name else ""


def passes(case: Case) -> str | None:
    """A number of passes over the data that was chosen on fewer samples than the final fit has."""
    won, oof = case.selection, case.oof
    if won is None or any(word in str(oof.provenance.get("specs", {}).get(won.name, "")) for word in _AVERAGING):
        return None
    if case.one_test_set:
        return None
    for name, value in won.params.items():
        known = name.rpartition("__")[2] in _PASSES
        if known and is_number(value) and len({params[name] for params in _family(case)}) > 1:
            n = float(np.mean([len(oof.splits.train_rows(r, k)) for r, k in case.scoring.cells]))
            return (
                f"{name} = {compact(value)} was chosen on {n:,.0f} samples; fitted on all {oof.n_samples:,}, the model "
                "may need more."
            )
    return None


# A skew of fewer repeats is noise; one beyond this many standard errors is not.
_SKEW_REPEATS, _SKEW_ERRORS = 10, 2.58
# With more samples one partition is much like another.
_FEW_SAMPLES = 500
# Fewer repeats than this leave much of the luck of the partition in.
_FEW_REPEATS = 3
# The least correlation of two halves of the repeats that rank the configurations alike.
_AGREE = 0.7


def seldom_ahead(case: Case) -> str | None:
    """A winner that led after fewer than half of the repeats."""
    scores = case.repeat_scores
    if scores is None or len(scores) < _FEW_REPEATS or case.selection is None:
        return None
    means = np.cumsum(scores, axis=0) / np.arange(1, len(scores) + 1)[:, None]
    leaders = [case.scoring.names[j] for j in argbest(means, case.metric.greater_is_better)]
    held = leaders.count(case.selection.name)
    if held * 2 >= len(leaders):
        return None
    return (
        f"{case.selection.name} held the lead after {held} of {len(leaders)} repeats; "
        f"{formatting.count(len(set(leaders)), 'configuration')} led in turn."
    )


def skewed(case: Case) -> str | None:
    """Scores over repeats whose mean says too little, or too much."""
    scores = case.repeat_scores
    if scores is None or len(scores) < _SKEW_REPEATS or case.selection is None:
        return None
    own = scores[:, [case.scoring.names.index(case.selection.name)]]
    moments = selection.running_moments(own)
    n, skew = len(own), float(moments.skew[-1, 0])
    error = np.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
    if not abs(skew) > _SKEW_ERRORS * error:
        return None
    mean, median = (formatting.number(float(m[-1, 0])) for m in (moments.mean, moments.median))
    side = "left" if skew < 0 else "right"
    return (
        f"the scores of {case.selection.name} over {n} repeats are skewed to the {side} (skew {skew:+.2f}): "
        f"their mean is {mean}, their median {median}."
    )


def few_repeats(case: Case) -> str | None:
    """Too few repeats to know the ranking, or repeats that rank differently."""
    oof = case.oof
    scores = case.repeat_scores
    if case.n_candidates < 2 or case.one_test_set or case.leave_one_out:
        return None
    if oof.n_repeats < _FEW_REPEATS:
        # Splits with training parts of their own, such as those of a time series, cannot be drawn anew.
        if len(case.scoring.rows) > _FEW_SAMPLES or oof.train is not None:
            return None
        times = formatting.count(oof.n_repeats, "partition")
        return (
            f"{times} of {formatting.count(oof.n_samples, 'sample')}: another one may rank the "
            f"{formatting.count(case.n_candidates, 'configuration')} differently."
        )
    return None if scores is None else _halves(case, scores)


def _halves(case: Case, scores: NDArray[np.float64]) -> str | None:
    """Even and odd repeats that do not rank the configurations alike."""
    if case.n_candidates < _FEW_REPEATS:
        return None
    even, odd = scores[::2].mean(axis=0), scores[1::2].mean(axis=0)
    agreement = float(selection.rank_correlations(even[None, None], odd[None, None])[0])
    if agreement >= _AGREE:
        return None
    return (
        f"even and odd ones of {len(scores)} repeats rank the {case.n_candidates:,} configurations with a correlation of "
        f"{agreement:.2f} only."
    )


CHECKS = (
    Check(
        "OF531",
        "optimism larger than the uncertainty",
        "caution",
        "The winner's cross-validation score differs from the corrected estimate by more than one standard "
        "deviation of its draws.",
        "Report the estimate of `bbc`, never the winner's cross-validation score.",
        "Tsamardinos et al. 2018, sect. 2.1 and 3",
        optimism,
    ),
    Check(
        "OF532",
        "a winner among many equals",
        "tip",
        "The winner cannot be told from many other configurations; another data set might pick another winner.",
        "Use the simplest or the fastest of them (`select.one_standard_error`), and do not claim that one is best.",
        "Raschka 2018, sect. 3.10",
        many_tied,
    ),
    Check(
        "OF533",
        "a winner at the edge of the grid",
        "tip",
        "A parameter of the winner has the smallest or the largest value that was tried; a better one may lie beyond.",
        "Try values beyond it, and collect them into the same store, so that all tried configurations are counted.",
        "Raschka 2018, sect. 3.2",
        edge,
    ),
    Check(
        "OF534",
        "a number of epochs chosen on fewer samples",
        "tip",
        "A number of epochs or rounds was chosen on training parts, but the final model learns from all samples.",
        "Choose by something that does not depend on the sample size, such as early stopping inside the fit.",
        "Tsamardinos et al. 2015, sect. 9",
        passes,
    ),
    Check(
        "OF401",
        "stopped before it was stable",
        "caution",
        "The stop rule was not satisfied after the largest number of repeats allowed. If it names "
        "configurations and all of these were dropped, it had to be satisfied for those still running.",
        "Continue with a larger `max_repeats` and the same `store`, or accept the result.",
        "Raeder et al. 2010, sect. V",
    ),
    Check(
        "OF541",
        "a winner that rarely led",
        "caution",
        "The winner was ahead after fewer than half of the repeats, so its lead proves little.",
        'Add repeats: `repeats="auto"` adds them until the order settles.',
        "Raeder et al. 2010, sect. IV-A",
        seldom_ahead,
    ),
    Check(
        "OF542",
        "skewed scores over repeats",
        "tip",
        "The winner's scores over repeats are skewed: a typical repeat is not at their mean.",
        "Report the median beside the mean.",
        "Raeder et al. 2010, sect. IV-B",
        skewed,
    ),
    Check(
        "OF543",
        "too few repeats for a stable ranking",
        "tip",
        "One or two partitions of few samples, or repeats whose halves rank the configurations differently.",
        'Repeat the folds, `Plan(repeats=5)` or `repeats="auto"`; three or four repeats give most of the gain of ten.',
        "Tsamardinos et al. 2018, sect. 5.2.3 and 5.2.4; Raeder et al. 2010, sect. IV-A",
        few_repeats,
    ),
    Check(
        "OF207",
        "dropped configurations",
        "tip",
        "Some configurations were dropped before the end; they cannot be selected.",
        "Nothing.",
        "Tsamardinos et al. 2018, sect. 4",
    ),
    Check(
        "OF210",
        "dropped on few predictions",
        "caution",
        "Configurations were dropped when fewer than 50 samples had predictions, where a drop is mostly noise.",
        "Use `drop.Bootstrap(min_predictions=50)`, the default.",
        "Tsamardinos et al. 2018, sect. 5.2.2",
    ),
    Check(
        "OF211",
        "halved on few folds",
        "caution",
        "Successive halving dropped configurations on few folds, mostly by luck. The estimate corrects only "
        "for the choice among the last ones, so it is too optimistic.",
        "Use `drop=True`, or no dropping, for the number you report.",
        "Tsamardinos et al. 2018, sect. 5.2.2",
    ),
)
