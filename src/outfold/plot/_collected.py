"""What was collected: cells, folds, repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import formatting
from ..data.predictions import Predictions, State
from ..metrics import MetricLike
from ..results import Stability
from . import _theme as theme
from ._data import collected as numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Light to dark in grey too: still to come, done, failed, dropped.
STATES = {
    State.PENDING: "#FFFFFF",
    State.DONE: "#B9D9EE",
    State.FAILED: theme.VERMILION,
    State.DROPPED: "#4D4D4D",
}
_NAMED_ROWS = 45
_WRITTEN_CELLS = 150


def cells(oof: Predictions, *, ax: Axes | None = None) -> Axes:
    """Who left when: a row a configuration, a column a fold, in the order of collecting.

    Parameters
    ----------
    oof
        Predictions, most often of a `collect` that drops; those who stayed to the end stand on top.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> P = np.ma.masked_array(np.random.default_rng(0).random((20, 3)), mask=np.zeros((20, 3), bool))
    >>> P[10:, 2] = np.ma.masked                      # the third was not run on the second fold
    >>> oof = of.from_arrays([0, 1] * 10, P, folds=np.repeat([0, 1], 10), response="proba")
    >>> ax = of.plot.cells(oof)  # doctest: +SKIP
    """
    made = numbers.cells(oof)
    n, width = made.states.shape
    named = n <= _NAMED_ROWS
    ax = theme.axes(ax, 1.6 + (0.2 * n if named else 4.2))
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    colours = ListedColormap([STATES[State(i)] for i in range(len(State))])
    ax.imshow(made.states, cmap=colours, vmin=-0.5, vmax=len(State) - 0.5, aspect="auto", interpolation="none")
    if named:
        theme.name_rows(ax, made.configs, fontsize=8)
    for at in (i for i in range(1, width) if made.cells[i][0] != made.cells[i - 1][0]):
        ax.axvline(at - 0.5, color="white", linewidth=1.5)
    _cell_ticks(ax, made.cells, oof.n_repeats)
    facts = [formatting.count(oof.n_samples, "sample"), str(oof.plan), f"{oof.completeness:.0%} of all cells done"]
    there = [
        state for state in (State.DONE, State.DROPPED, State.FAILED, State.PENDING) if np.any(made.states == state)
    ]
    gone = " and ".join(f"{made.having(s):,} {s.name.lower()}" for s in (State.DROPPED, State.FAILED) if made.having(s))
    theme.dress(
        ax,
        f"{formatting.count(n, 'configuration')}: {gone or 'none dropped, none failed'}",
        ", ".join(facts),
        x="repeat" if oof.n_repeats > 1 else "fold",
        y="" if named else "configurations, those who left first at the bottom",
    )
    ax.spines[:].set_visible(False)
    handles = [Patch(facecolor=STATES[s], edgecolor=theme.GREY, linewidth=0.5) for s in there]
    theme.legend(ax, handles, [s.name.lower() for s in there], below=False)
    return ax


def _cell_ticks(ax: Axes, order: Sequence[tuple[int, int]], n_repeats: int) -> None:
    if n_repeats == 1:
        step = -(-len(order) // 20)
        ax.set_xticks(range(0, len(order), step), [str(order[i][1] + 1) for i in range(0, len(order), step)])
        return
    step = -(-n_repeats // 12)
    wanted = range(0, n_repeats, step)
    middles = [float(np.mean([i for i, (r, _) in enumerate(order) if r == repeat])) for repeat in wanted]
    ax.set_xticks(middles, [str(repeat + 1) for repeat in wanted])


def fold_scores(
    oof: Predictions, metric: MetricLike, config: str | int | None = None, *, ax: Axes | None = None
) -> Axes:
    """Scores of one configuration in every fold of every repeat, as a heat map; crossed where there is none.

    Parameters
    ----------
    oof, metric
        Predictions, and what to score them by.
    config
        The configuration; the best one where None.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> P = np.random.default_rng(0).random((40, 1, 3))
    >>> folds = np.stack([np.random.default_rng(r).permutation(np.arange(40) % 4) for r in range(3)], axis=1)
    >>> oof = of.from_arrays([0, 1] * 20, P, folds=folds, response="proba")
    >>> ax = of.plot.fold_scores(oof, "accuracy")  # doctest: +SKIP
    """
    made = numbers.fold_grid(oof, metric, config)
    repeats, folds = made.scores.shape
    ax = theme.axes(ax, min(max(1.6 + 0.32 * repeats, 2.7), 8.0), min(max(1.9 + 0.52 * folds, 5.2), 12.0))
    # Dark is better, whichever way the metric points.
    shades = theme.pyplot().get_cmap(theme.SCALE + ("_r" if made.greater_is_better else ""))
    image = ax.imshow(np.ma.masked_invalid(made.scores), cmap=shades, aspect="auto", interpolation="none")
    for r, k in np.argwhere(np.isnan(made.scores)):
        ax.plot([k - 0.5, k + 0.5], [r - 0.5, r + 0.5], color=theme.PALE, linewidth=0.8)
        ax.plot([k - 0.5, k + 0.5], [r + 0.5, r - 0.5], color=theme.PALE, linewidth=0.8)
    if made.scores.size <= _WRITTEN_CELLS:
        for (r, k), score in np.ndenumerate(made.scores):
            if np.isfinite(score):
                colour = theme.on(shades(image.norm(np.asarray(score))))
                theme.write(ax, k, r, f"{score:.3g}", ha="center", va="center", color=colour, fontsize=8)
    step_r, step_k = -(-repeats // 20), -(-folds // 20)
    ax.set_yticks(range(0, repeats, step_r), [str(r + 1) for r in range(0, repeats, step_r)])
    ax.set_xticks(range(0, folds, step_k), [str(k + 1) for k in range(0, folds, step_k)])
    ax.tick_params(length=0)
    ax.set_xlim(-0.5, folds - 0.5)
    ax.set_ylim(repeats - 0.5, -0.5)
    values = made.scores[np.isfinite(made.scores)]
    spread = f"{formatting.number(values.min())} to {formatting.number(values.max())}, mean {formatting.number(values.mean())}"
    theme.dress(
        ax,
        f"{made.metric} of {formatting.shorten(made.config, 50)}",
        f"{formatting.count(oof.n_samples, 'sample')}, {oof.plan}; {spread} over folds",
        x="fold",
        y="repeat",
    )
    ax.spines[:].set_visible(False)
    ax.get_figure().colorbar(image, ax=ax, pad=0.02, label=f"{made.metric} (dark is better)").outline.set_visible(False)  # type: ignore[union-attr]
    return ax


def trace(
    source: Predictions | Stability,
    metric: MetricLike | None = None,
    *,
    configs: Sequence[str | int] | None = None,
    top: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """How scores settle as repeats are added: running means, single repeats behind them, and who led when.

    Parameters
    ----------
    source
        Predictions, or what `stability.trace` gives.
    metric
        What to score predictions by.
    configs
        The configurations to show; the `top` best after the last repeat where None.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> correct = np.random.default_rng(0).random((80, 3, 20)) < [[0.7], [0.75], [0.8]]
    >>> oof = of.from_arrays(None, correct, response="pointwise")
    >>> ax = of.plot.trace(oof, "mean")  # doctest: +SKIP
    """
    found = numbers.trace_of(source, metric, "trace")
    shown = numbers.columns(found, configs, top)
    names = [found.configs[j] for j in shown]
    drawn = list(theme.styles(names))
    ax = theme.axes(ax, 4.2)
    at = np.arange(1, found.n_repeats + 1)
    handles = []
    for j, (_, style) in zip(shown, drawn, strict=True):
        ax.plot(at, found.scores[:, j], style.marker, color=style.colour, alpha=0.25, markersize=4, markeredgewidth=0)
        every = max(1, found.n_repeats // 8)
        handles += ax.plot(
            at,
            found.mean[:, j],
            color=style.colour,
            linestyle=style.dashes,
            marker=style.marker,
            markevery=every,
            markersize=5,
        )
    if len(found.configs) > 1:
        _leads(ax, found, dict(drawn))
    ax.set_xlim(0.5, found.n_repeats + 0.5)
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    theme.dress(
        ax,
        f"{found.metric} as repeats are added",
        f"{_of(len(shown), len(found.configs))}, {formatting.count(found.n_repeats, 'repeat')}. Lines: mean so far; pale: single "
        "repeats" + ("; strip: who leads" if len(found.configs) > 1 else ""),
        x="repeats",
        y=found.metric,
        grid="y",
    )
    theme.legend(ax, handles, theme.shorten(names, 30), names, below=False)
    return ax


def _leads(ax: Axes, found: Stability, styles: dict[str, theme.Style]) -> None:
    """A strip below the lines: the colour of who leads, grey for those who are not shown."""
    across = ax.get_xaxis_transform()
    for name, first, last in found.leads:
        colour = styles[name].colour if name in styles else theme.PALE
        ax.plot(
            [first + 0.5, last + 1.5], [0.015] * 2, transform=across, color=colour, linewidth=6, solid_capstyle="butt"
        )
        if first:
            ax.plot([first + 0.5] * 2, [0, 0.05], transform=across, color="white", linewidth=1.5)
    ax.margins(y=0.08)


def repeats(
    source: Predictions | Stability,
    metric: MetricLike | None = None,
    configs: Sequence[str | int] | str | int | None = None,
    *,
    top: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """How the score of a whole repeat varies with the partition: every repeat, quartiles, mean, median, and the skew.

    A left skew means that the mean understates a typical repeat (Raeder, Hoens and Chawla 2010).

    Parameters
    ----------
    source
        Predictions, or what `stability.trace` gives.
    metric
        What to score predictions by.
    configs
        The configurations to show; the `top` best after the last repeat where None.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> correct = np.random.default_rng(0).random((80, 3, 20)) < [[0.7], [0.75], [0.8]]
    >>> oof = of.from_arrays(None, correct, response="pointwise")
    >>> ax = of.plot.repeats(oof, "mean")  # doctest: +SKIP
    """
    found = numbers.trace_of(source, metric, "repeats")
    shown = numbers.columns(found, configs, top)
    ax = theme.axes(ax, 1.7 + 0.42 * max(len(shown), 2))
    for i, j in enumerate(shown):
        scores = found.scores[:, j]
        # Spread over the height by the order of the repeats, so that equal scores do not hide each other.
        heights = i - 0.28 + 0.56 * (np.arange(len(scores)) + 0.5) / len(scores)
        ax.plot(scores, heights, "o", color=theme.SKY, markersize=3, alpha=0.7, markeredgewidth=0)
        low, high = np.quantile(scores, [0.25, 0.75])
        ax.barh(i, high - low, left=low, height=0.56, facecolor="none", edgecolor=theme.GREY, linewidth=0.9)
        middle = ax.plot([found.median[-1, j]] * 2, [i - 0.28, i + 0.28], color=theme.INK, linewidth=2)
        mean = ax.plot(found.mean[-1, j], i, "D", color=theme.VERMILION, markersize=5.5)
        theme.write(ax, 1.01, i, _moments(found, j), transform=ax.get_yaxis_transform(), va="center", color=theme.GREY)
    dot = ax.plot([], [], "o", color=theme.SKY, markersize=4)
    ax.use_sticky_edges = False
    ax.autoscale_view(scaley=False)
    theme.name_rows(ax, [found.configs[j] for j in shown], fontsize=9)
    theme.dress(
        ax,
        f"{found.metric} of a whole repeat",
        f"{_of(len(shown), len(found.configs))}, {formatting.count(found.n_repeats, 'repeat')}. Box: middle half of them",
        x=found.metric,
        grid="x",
    )
    words = ["a repeat", "median", "mean"]
    theme.legend(
        ax,
        [dot[0], middle[0], mean[0]],
        words,
    )
    return ax


def _moments(found: Stability, j: int) -> str:
    sd, skew = found.sd[-1, j], found.skew[-1, j]
    parts = [f"sd {sd:.2g}" if np.isfinite(sd) else "", f"skew {skew:+.2f}" if np.isfinite(skew) else ""]
    return ", ".join(part for part in parts if part)


def _of(shown: int, n: int) -> str:
    return f"{shown:,} of {formatting.count(n, 'configuration')}" if shown < n else formatting.count(n, "configuration")
