"""Charts of estimates: how good configurations are, and how much of the winner's score is luck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..arguments import RngLike, as_seed, check_confidence_level, check_count
from ..data.predictions import Predictions
from ..estimate._default import corrected
from ..estimate._intervals import interval_of_each
from ..exceptions import invalid
from ..metrics import MetricLike
from ..metrics._scoring import Aggregate, Scoring, selecting
from ..requirements import check_predictions
from ..results import Estimate, Interval
from ..stats.selection import tie_ranks
from . import description as chart

Floats = NDArray[np.float64]
_NEW = "winner on new samples"
# Draws that differ by less, relative to their size, differ by rounding.
_ROUNDING = 1e-13
_DIAMOND = chart.Points([0], [0], "blue", "diamond", 7)
_DOT = chart.Points([0], [0], "orange", "circle", 6)

# Codes of notes that call the number itself too optimistic, and why it is.
_OPTIMISTIC = {
    "OF208": "the winner's cross-validation score, not corrected for picking the best",
    "OF214": "a score on the samples the model was fitted on",
}


def why_optimistic(estimate: Estimate) -> str:
    """Why the number is not what to expect on new samples; nothing where it is."""
    return next((_OPTIMISTIC[note.code] for note in estimate.notes if note.code in _OPTIMISTIC), "")


def has_own(estimate: Estimate) -> bool:
    """Whether there is a winner whose cross-validation score is another number than the estimate."""
    return estimate.corrects and estimate.n_configs > 1


def meaning(estimate: Estimate) -> str:
    """What the number is."""
    return why_optimistic(estimate) or "expected on new samples"


def _expected(estimate: Estimate) -> str:
    return f"{meaning(estimate)}: {chart.with_interval(estimate.value, estimate.interval, estimate.confidence_level)}"


def _own(estimate: Estimate) -> str:
    return f"winner's score: {formatting.number(estimate.naive)}"


def _data(found: Estimate) -> str:
    groups = "" if found.n_groups is None else f" in {formatting.count(found.n_groups, 'group')}"
    return chart.about_data(found.n_samples, found.plan, groups)


def _estimate_marks(found: Estimate, row: int) -> Iterator[chart.Mark]:
    tip = f"{found.metric} {_expected(found)}"
    if found.interval is not None:
        yield chart.Line(found.interval, [row, row], "blue", width=3, tip=tip)
    yield chart.Points([found.value], [row], "blue", "diamond", 7, tips=[tip])


class ConfigurationScore(NamedTuple):
    """A configuration, its score, and the interval that `estimate.cv` gives the score; None where none is valid."""

    name: str
    score: float
    interval: Interval | None


class BestConfigurations(NamedTuple):
    """The best configurations, best first, and what to expect of the selected configuration."""

    rows: tuple[ConfigurationScore, ...]
    estimate: Estimate
    n_left_out: int


def best_configurations(
    oof: Predictions,
    metric: MetricLike | None,
    top: int,
    estimate: Estimate | None,
    level: float,
    n_resamples: int,
    rng: RngLike,
) -> BestConfigurations:
    """Scores that select, with the intervals of `estimate.cv`; the estimate is the one of `corrected`."""
    check_predictions(oof, "plot.configurations")
    top, level, seed = check_count(top, "top"), check_confidence_level(level), as_seed(rng)
    found = estimate
    if found is None:
        found = corrected(oof, metric, n_resamples=n_resamples, confidence_level=level, rng=seed)
    scoring = selecting(oof, metric, cast(Aggregate, found.aggregate) if isinstance(found, Estimate) else None)
    check_belongs(found, oof, scoring)
    scores = scoring.scores()[0]
    order = np.argsort(tie_ranks(scores, scoring.metric.greater_is_better), kind="stable")[:top].tolist()
    order = [j for j in order if np.isfinite(scores[j])]
    ends = interval_of_each(scoring, order, level, check_count(n_resamples, "n_resamples", 2), seed)
    rows = [
        ConfigurationScore(scoring.names[j], float(scores[j]), interval)
        for j, interval in zip(order, ends, strict=True)
    ]
    return BestConfigurations(tuple(rows), found, oof.n_configs - len(scoring.candidates))


def check_belongs(found: Any, oof: Predictions, scoring: Scoring) -> None:
    """Refuse an estimate of other predictions or by another metric."""
    if not isinstance(found, Estimate):
        needed, given = "must be an Estimate, as `estimate.bbc` gives", f"got {type(found).__name__}"
        raise invalid("estimate", needed, given)
    if (found.fingerprint, found.metric) != (oof.fingerprint, scoring.metric.name):
        needed = f"must be of these predictions, {oof.fingerprint}, by {scoring.metric.name}"
        given = f"it is of {found.fingerprint} by {found.metric}"
        remedy = "Give the estimate of the same predictions and metric, or none."
        raise invalid("estimate", needed, given, remedy)


def configurations(
    oof: Predictions,
    metric: MetricLike | None,
    top: int,
    estimate: Estimate | None,
    level: float,
    n_resamples: int,
    rng: RngLike,
) -> chart.Chart:
    """The best configurations with intervals, and what to expect of the selected configuration."""
    made = best_configurations(oof, metric, top, estimate, level, n_resamples, rng)
    rows, found = made.rows, made.estimate
    last, score = len(rows), "score" if oof.nothing_trained else "cross-validation score"
    marks: list[chart.Mark] = []
    for i, row in enumerate(rows):
        # One interval for each quantity: the selected configuration has that of the corrected estimate.
        ends = None if row.name == found.selected and has_own(found) else row.interval
        tip = f"{row.name}\n{score}: {chart.with_interval(row.score, ends, level)}"
        if ends is not None:
            marks.append(chart.Line(ends, [i, i], "pale", width=3, tip=tip))
        tone = "orange" if row.name == found.selected else "grey"
        marks.append(chart.Points([row.score], [i], tone, size=5.5, tips=[tip]))
    own = next((i for i, row in enumerate(rows) if row.name == found.selected), None)
    if own is not None and has_own(found):
        at = rows[own].score
        marks.insert(0, chart.Line([at, at, found.value], [own, last, last], "orange", chart.DOTTED, 1))
    marks += _estimate_marks(found, last)
    bold = (last,) if own is None else (own, last)
    left_out = f"; {made.n_left_out:,} dropped or failed" if made.n_left_out else ""
    n = found.n_configs + made.n_left_out
    shown = f"the {last:,} best of {n:,}" if last < n else f"all {n:,}" if n > 1 else "the one"
    candidates = oof.n_configs - made.n_left_out
    return chart.Chart(
        "configurations",
        f"{found.metric} of {shown} {'configurations' if n > 1 else 'configuration'}",
        f"{_data(found)}{left_out}. Dots: {score}s with {100 * level:g}% intervals. "
        f"Diamond: {found.method}, optimism {formatting.number(found.optimism, sign=True)}",
        f"The {last} best of {candidates:,}" if last < candidates else "All configurations",
        f"Each dot is the configuration's {score} with its {100 * level:g}% interval, not corrected for "
        f"picking the best. The orange one was selected. Diamond: {meaning(found)}, with the interval to read.",
        chart.Axis(chart.direction(found.metric, found.greater_is_better), grid=True),
        chart.Axis(names=(*(row.name for row in rows), _NEW if has_own(found) else meaning(found)), bold=bold),
        marks,
        {"rows": [row._asdict() for row in rows], "n_left_out": made.n_left_out},
        size=(6.8, 1.35 + 0.27 * (last + 1)),
    )


def named_estimates(given: Any) -> dict[str, Estimate]:
    """Estimates of one metric, a list by method."""
    return chart.by_name(given, Estimate, lambda found: found.method, "optimism", "estimate.bbc")


def optimism(given: Any) -> chart.Chart:
    """The winner's score beside the corrected estimate: the distance is luck."""
    named = named_estimates(given)
    first = next(iter(named.values()))
    marks: list[chart.Mark] = []
    for i, found in enumerate(named.values()):
        if has_own(found):
            ends = [found.value, found.value, found.naive, found.naive]
            marks.append(chart.Line(ends, [i, i - 0.3, i - 0.3, i], "orange", chart.DOTTED))
        marks += _estimate_marks(found, i)
        if has_own(found):
            gain = f"optimism {formatting.number(found.optimism, sign=True)}"
            marks.append(chart.Points([found.naive], [i], "orange", size=7, tips=[f"{_own(found)}\n{gain}"]))
            marks.append(chart.RowText(i, gain))
    same = len({(found.selected, found.n_configs) for found in named.values()}) == 1
    chosen = "" if first.method == "cv" else f", selected of {first.n_configs:,}"
    subject = f"{formatting.shorten(first.selected, 44)}{chosen}" if same else "the selected configurations"
    caption = f"Diamond and bar: {meaning(first)}, with its interval."
    keys = [chart.Key(meaning(first), _DIAMOND)]
    if has_own(first):
        luck = " The dotted bracket between them is luck." if first.optimism > 0 else ""
        own = first.own_name.partition(",")[0]
        caption += f" Dot: the {own}.{luck}"
        keys.append(chart.Key(own, _DOT))
    return chart.Chart(
        "optimism",
        f"{first.metric} of {subject}",
        f"{_data(first)}. Bar: {100 * first.confidence_level:g}% interval",
        "How much of the winner's score is luck",
        caption,
        chart.Axis(chart.direction(first.metric, first.greater_is_better), grid=True, margin=0.12),
        chart.Axis(names=tuple(named)),
        marks,
        {"value": first.value, "interval": first.interval, "naive": first.naive, "optimism": first.optimism},
        keys,
        (6.8, 1.6 + 0.42 * len(named)),
    )


def histogram(estimate: Any, bins: int | None) -> tuple[NDArray[np.intp], Floats]:
    """Counts of draws between edges; bins by Freedman and Diaconis, between 10 and 60, or as many as asked for."""
    values = chart.check_result(estimate, Estimate, "draws", "estimate.bbc").draws
    if values is None:
        given = f"{estimate.method} has no draws"
        raise chart.refused("draws", "needs an estimate with draws", given, "Use `estimate.bbc`.")
    spread, size = np.ptp(values), np.max(np.abs(values))
    differ = spread > _ROUNDING * size
    if bins is None:
        bins = int(np.clip(len(np.histogram_bin_edges(values, "fd")) - 1, 10, 60)) if differ else 10
    # Draws that differ by rounding alone are one value, with as much room around it as numpy gives equal values.
    middle = np.median(values)
    around = None if differ else (middle - 0.5 * max(1.0, size), middle + 0.5 * max(1.0, size))
    counts, edges = np.histogram(values, check_count(bins, "bins"), range=around)
    return counts, edges


def draws(estimate: Estimate, bins: int | None = None) -> chart.Chart:
    """Where the interval comes from."""
    counts, edges = (values.tolist() for values in histogram(estimate, bins))
    low, high = estimate.interval or (np.nan, np.nan)
    say = formatting.Digits.of_width(high - low)
    top = float(max(counts)) * 1.06
    marks: list[chart.Mark] = []
    for n, low, high in zip(counts, edges, edges[1:], strict=False):
        tip = f"{formatting.number(low)} to {formatting.number(high)}: {formatting.count(n, 'draw')}"
        marks.append(chart.Box(low, high, 0.0, float(n), "soft", tip=tip))
    keys = []
    if estimate.interval is not None:
        ends = [chart.Line([end, end], [0, top], "blue", chart.DASHED, 1.2) for end in estimate.interval]
        marks += ends
        words = " to ".join(say(end) for end in estimate.interval)
        keys = [chart.Key(f"{100 * estimate.confidence_level:g}% CI {words}", ends[0])]
    value = chart.Line([estimate.value] * 2, [0, top], "blue", width=2.2, tip=_expected(estimate))
    marks.append(value)
    keys.insert(0, chart.Key(f"estimate {say(estimate.value)}", value))
    caption = "Each draw selects on the samples it drew and scores on the others. Blue: their mean, which is the estimate, and "
    caption += "the ends of its interval (dashed)."
    if estimate.method not in ("cv", "cvt"):
        own = chart.Line([estimate.naive] * 2, [0, top], "orange", (8, 2), 2.2, tip=_own(estimate))
        marks.append(own)
        keys.append(chart.Key(f"winner's score {say(estimate.naive)}", own))
        caption += " Orange: the winner's score."
    return chart.Chart(
        "draws",
        estimate.title,
        f"{_data(estimate)}, {sum(counts):,} bootstrap draws",
        "Where the interval comes from",
        caption,
        chart.Axis(chart.direction(estimate.metric, estimate.greater_is_better), margin=0.03),
        chart.Axis("draws", 0.0, top * 1.03, scale="whole"),
        marks,
        {"counts": counts, "edges": edges},
        keys,
        (6.8, 3.6),
    )


class SelectionShare(NamedTuple):
    """How often a configuration was selected: in how many draws, and in which share of them."""

    name: str
    times: int
    share: float


class SelectionShares(NamedTuple):
    """Configurations by how often they were selected, and how many draws (and others) the rest have."""

    rows: tuple[SelectionShare, ...]
    rest: SelectionShare | None
    n_draws: int
    n_chosen: int


def selection_shares(estimate: Any, top: int) -> SelectionShares:
    """Counts of ``estimate.chosen``, most often first, ties by name."""
    chosen = chart.check_result(estimate, Estimate, "selection", "estimate.bbc").chosen
    if chosen is None:
        needed, given = "needs an estimate that selects in every draw", f"{estimate.method} selects once only"
        raise chart.refused("selection", needed, given, "Use `estimate.bbc`.")
    counted = sorted(Counter(map(str, chosen)).items(), key=lambda item: (-item[1], item[0]))
    n, top = len(chosen), check_count(top, "top")
    rows = tuple(SelectionShare(name, count, count / n) for name, count in counted[:top])
    left = sum(count for _, count in counted[top:])
    rest = SelectionShare(f"{len(counted) - top:,} others", left, left / n) if counted[top:] else None
    return SelectionShares(rows, rest, n, len(counted))


def selection(estimate: Estimate, top: int = 10) -> chart.Chart:
    """How often each configuration is selected."""
    made = selection_shares(estimate, top)
    rows = [*made.rows, *([made.rest] if made.rest else [])]
    marks: list[chart.Mark] = []
    for i, row in enumerate(rows):
        tone = "pale" if row is made.rest else "orange" if row.name == estimate.selected else "soft"
        tip = f"{row.name}\nselected in {row.times:,} of {formatting.count(made.n_draws, 'draw')} ({row.share:.1%})"
        marks.append(chart.Box(0.0, row.share, i + 0.36, i - 0.36, tone, tip=tip))
        marks.append(chart.Text(row.share, i, f" {row.share:.1%}"))
    unit = "outer folds" if estimate.method == "nested" else "bootstrap draws"
    of_all = formatting.count(estimate.n_configs, "configuration")
    bold = tuple(i for i, row in enumerate(made.rows) if row.name == estimate.selected)
    return chart.Chart(
        "selection",
        f"selected by {estimate.metric} in {made.n_draws:,} {unit}",
        f"{_data(estimate)}. {made.n_chosen:,} of {of_all} selected at least once. Bold: selected on all samples",
        "Would other samples have selected another?",
        f"In {made.n_draws:,} {unit}, {formatting.count(made.n_chosen, 'configuration')} "
        f"{'was' if made.n_chosen == 1 else 'were'} selected at least once. Bold: the one selected on all samples.",
        chart.Axis(f"share of {unit}", 0.0, max(row.share for row in rows) * 1.15, scale="percent", grid=True),
        chart.Axis(names=tuple(row.name for row in rows), bold=bold),
        marks,
        {"rows": [row._asdict() for row in rows], "n_draws": made.n_draws, "n_chosen": made.n_chosen},
        size=(6.8, 1.35 + 0.27 * len(rows)),
    )
