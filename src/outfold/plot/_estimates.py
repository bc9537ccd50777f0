"""How good configurations are, and how flattering the winner's own score is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .. import formatting
from ..data.predictions import Predictions
from ..metrics import MetricLike
from ..results import Estimate
from . import _theme as theme
from ._data import estimates as numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.27  # inches of a row


def configurations(
    oof: Predictions,
    metric: MetricLike,
    top: int = 20,
    *,
    estimate: Estimate | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """The best configurations with their intervals, and how much of the winner's score is luck.

    A row a configuration: its own cross-validation score and the percentile interval over samples. The last row is what to
    expect of the winner on new samples, by `estimate.bbc`; the dotted line leads from the winner's own score to it.

    Parameters
    ----------
    oof, metric
        Predictions, and what to score them by.
    top
        How many configurations, from the best one on.
    estimate
        The corrected estimate, where there is one already.
    confidence_level, n_resamples, rng
        Level of the intervals, number of bootstrap draws and their seed.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> oof = of.from_arrays(None, np.random.default_rng(0).random((80, 40)) < 0.7, response="pointwise")
    >>> ax = of.plot.configurations(oof, "mean", top=10)  # doctest: +SKIP
    """
    made = numbers.configurations(oof, metric, top, estimate, confidence_level, n_resamples, rng)
    rows, found = made.rows, made.estimate
    ax = theme.axes(ax, 1.35 + _ROW * (len(rows) + 1))
    for i, row in enumerate(rows):
        if row.interval is not None:
            ax.plot(row.interval, [i, i], color=theme.BLUE, linewidth=1.4, solid_capstyle="butt")
        ax.plot(row.score, i, "o", color=theme.BLUE, markersize=5)
    last = len(rows)
    _corrected(ax, found, last)
    ax.axhline(last - 0.5, color=theme.PALE, linewidth=0.8)
    own = next((i for i, row in enumerate(rows) if row.name == found.selected), None)
    if own is not None:
        ax.plot([rows[own].score] * 2, [own, last], color=theme.GREY, linewidth=1, linestyle=":")
        ax.plot([rows[own].score, found.value], [last, last], color=theme.GREY, linewidth=1, linestyle=":")
    theme.name_rows(ax, [*(row.name for row in rows), "winner on new samples"], fontsize=9)
    ax.get_yticklabels()[-1].set_fontweight("bold")
    left_out = f"; {made.n_left_out:,} dropped or failed" if made.n_left_out else ""
    n = found.n_configs + made.n_left_out
    shown = f"the {len(rows):,} best of {n:,}" if len(rows) < n else f"all {n:,}" if n > 1 else "the one"
    theme.dress(
        ax,
        f"{found.metric} of {shown} {'configurations' if n > 1 else 'configuration'}",
        f"{_data(found)}{left_out}. Dots: own CV score, {100 * confidence_level:g}% interval over samples. "
        f"Square: {found.method}, optimism {formatting.number(found.optimism, sign=True)}",
        x=theme.direction(found.metric, found.greater_is_better),
        grid="x",
    )
    return ax


def optimism(estimates: Estimate | Iterable[Estimate] | Mapping[str, Estimate], *, ax: Axes | None = None) -> Axes:
    """The winner's own score beside the corrected one: how much of the first is flattery.

    Parameters
    ----------
    estimates
        One estimate, a list of them (a row a method), or a dict with names of your own; all of one metric.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> oof = of.from_arrays(None, np.random.default_rng(0).random((80, 40)) < 0.7, response="pointwise")
    >>> ax = of.plot.optimism(of.estimate.bbc(oof, "mean"))  # doctest: +SKIP
    """
    named = numbers.named_estimates(estimates)
    ax = theme.axes(ax, 1.3 + 0.42 * len(named))
    for i, found in enumerate(named.values()):
        if found.method in ("cv", "cvt"):  # nothing is corrected
            _own(ax, found, i)
            continue
        ax.plot([found.naive, found.value], [i, i], color=theme.GREY, linewidth=1, linestyle=":")
        _corrected(ax, found, i)
        ax.plot(found.naive, i, "o", color="white", markeredgecolor=theme.BLUE, markersize=7, markeredgewidth=1.6)
        text = f"optimism {formatting.number(found.optimism, sign=True)}"
        theme.write(ax, 1.01, i, text, transform=ax.get_yaxis_transform(), va="center", color=theme.GREY)
    theme.name_rows(ax, list(named))
    first = next(iter(named.values()))
    if first.method not in ("cv", "cvt"):
        # Each text grows away from the other, so that they never meet.
        sides = ("right", "left") if first.value < first.naive else ("left", "right")
        theme.write(ax, first.value, -0.22, "corrected", ha=sides[0], va="bottom", color=theme.VERMILION)
        theme.write(ax, first.naive, -0.22, "winner's own score", ha=sides[1], va="bottom", color=theme.BLUE)
    ax.margins(x=0.25)
    ax.set_ylim(len(named) - 0.5, -0.75)
    same = len({(found.selected, found.n_configs) for found in named.values()}) == 1
    chosen = "" if first.method == "cv" else f", selected of {first.n_configs:,}"
    subject = f"{formatting.shorten(first.selected, 44)}{chosen}" if same else "the selected configurations"
    theme.dress(
        ax,
        f"{first.metric} of {subject}",
        f"{_data(first)}. Bar: {_level(first)}",
        x=theme.direction(first.metric, first.greater_is_better),
        grid="x",
    )
    return ax


def draws(estimate: Estimate, *, bins: int | None = None, ax: Axes | None = None) -> Axes:
    """The draws behind an interval: a histogram, the interval, the estimate, and the winner's own score.

    Parameters
    ----------
    estimate
        An estimate with draws, as `estimate.bbc` gives.
    bins
        Number of bars; by the rule of Freedman and Diaconis where None.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> oof = of.from_arrays(None, np.random.default_rng(0).random((80, 40)) < 0.7, response="pointwise")
    >>> ax = of.plot.draws(of.estimate.bbc(oof, "mean"))  # doctest: +SKIP
    """
    made = numbers.draws(estimate, bins)
    ax = theme.axes(ax, 3.6)
    ax.stairs(made.counts, made.edges, fill=True, color=theme.PALE)
    ax.stairs(made.counts, made.edges, color=theme.GREY, linewidth=0.6)
    top = float(made.counts.max()) * 1.06
    handles = [ax.plot([estimate.value] * 2, [0, top], color=theme.VERMILION, linewidth=2)[0]]
    names = [f"estimate {formatting.number(estimate.value)}"]
    if estimate.interval is not None:
        handles += ax.plot(estimate.interval, [top, top], color=theme.INK, linewidth=3, solid_capstyle="butt")
        for end in estimate.interval:
            ax.plot([end, end], [0, top], color=theme.INK, linewidth=0.8)
        names.append(formatting.interval(*estimate.interval, estimate.confidence_level))
    if estimate.method not in ("cv", "cvt"):
        handles += ax.plot([estimate.naive] * 2, [0, top], color=theme.BLUE, linewidth=2, linestyle="--")
        names.append(f"winner's own score {formatting.number(estimate.naive)}")
    ax.set_ylim(0, top * 1.03)
    theme.dress(
        ax,
        estimate.title,
        f"{_data(estimate)}, {len(estimate.draws if estimate.draws is not None else ()):,} bootstrap draws",
        x=theme.direction(estimate.metric, estimate.greater_is_better),
        y="draws",
    )
    theme.legend(ax, handles, names)
    return ax


def selection(estimate: Estimate, top: int = 15, *, ax: Axes | None = None) -> Axes:
    """How often every configuration is the one selected, over the draws of the bootstrap (or the outer folds).

    A selection that is seldom repeated says that the data do not tell the configurations apart; the estimate knows that.

    Parameters
    ----------
    estimate
        An estimate that selects more than once: `estimate.bbc` or `estimate.nested`.
    top
        How many configurations; the others share the last row.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> oof = of.from_arrays(None, np.random.default_rng(0).random((80, 40)) < 0.7, response="pointwise")
    >>> ax = of.plot.selection(of.estimate.bbc(oof, "mean"), top=8)  # doctest: +SKIP
    """
    made = numbers.selection(estimate, top)
    rows = [*made.rows, *([made.rest] if made.rest else [])]
    ax = theme.axes(ax, 1.35 + _ROW * len(rows))
    for i, row in enumerate(rows):
        colour = theme.PALE if row is made.rest else theme.BLUE if row.name == estimate.selected else theme.SKY
        ax.barh(i, row.share, height=0.72, color=colour)
        theme.write(ax, row.share, i, f" {row.share:.1%}", va="center", color=theme.GREY)
    theme.name_rows(ax, [row.name for row in rows], fontsize=9)
    for label, row in zip(ax.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if row.name == estimate.selected and row is not made.rest else "normal")
    from matplotlib.ticker import PercentFormatter

    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlim(0, max(row.share for row in rows) * 1.15)
    unit = "outer folds" if estimate.method == "nested" else "bootstrap draws"
    theme.dress(
        ax,
        f"selected by {estimate.metric} in {made.n_draws:,} {unit}",
        f"{_data(estimate)}. {made.n_chosen:,} of {formatting.count(estimate.n_configs, 'configuration')} selected at least "
        "once. Bold: selected on all samples",
        x=f"share of {unit}",
        grid="x",
    )
    return ax


def _corrected(ax: Axes, found: Estimate, row: int) -> None:
    if found.interval is not None:
        ax.plot(found.interval, [row, row], color=theme.VERMILION, linewidth=2.2, solid_capstyle="butt")
    ax.plot(found.value, row, "s", color=theme.VERMILION, markersize=7)


def _own(ax: Axes, found: Estimate, row: int) -> None:
    if found.interval is not None:
        ax.plot(found.interval, [row, row], color=theme.BLUE, linewidth=2.2, solid_capstyle="butt")
    ax.plot(found.value, row, "o", color="white", markeredgecolor=theme.BLUE, markersize=7, markeredgewidth=1.6)


def _data(found: Estimate) -> str:
    groups = "" if found.n_groups is None else f" in {formatting.count(found.n_groups, 'group')}"
    return f"{formatting.count(found.n_samples, 'sample')}{groups}, {found.plan}"


def _level(found: Estimate) -> str:
    return f"{100 * found.confidence_level:g}% interval"
