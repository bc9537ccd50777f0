"""Whether configurations differ, and what a test could have found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import formatting
from ..data.predictions import Predictions
from ..data.scores import FoldScores
from ..metrics import MetricLike
from ..results import Comparison, Comparisons, Power
from . import _theme as theme
from ._data import pairs as numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WRITTEN = 15
_ABOVE, _BELOW, _NEITHER = theme.BLUE, "#F6C99B", "#F4F4F4"


def difference(
    source: Comparison | Comparisons | Predictions | FoldScores,
    a: str | int | None = None,
    b: str | int | None = None,
    metric: MetricLike | None = None,
    *,
    test: str = "auto",
    confidence_level: float = 0.95,
    rope: float | None = None,
    top: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Differences with their intervals beside zero; for a pair from predictions the folds too.

    Parameters
    ----------
    source
        A comparison, many of them (the clearest first), or predictions or fold scores with `a` and `b`.
    a, b, metric, test, confidence_level, rope
        For predictions: what is compared, as for `compare.auto` or the test named.
    top
        How many pairs of many.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import outfold as of
    >>> scores = of.from_scores({"a": [0.8, 0.7, 0.9, 0.8], "b": [0.7, 0.6, 0.9, 0.7]}, n_train=60, n_test=20)
    >>> ax = of.plot.difference(scores, "a", "b")  # doctest: +SKIP
    """
    made = numbers.differences(source, metric, a, b, test, confidence_level, rope, top)
    pairs, first = made.pairs, made.pairs[0]
    height = 2.8 if made.folds is not None else 1.9 + 0.34 * len(pairs)
    ax = theme.axes(ax, height)
    if first.rope is not None:
        ax.axvspan(-first.rope, first.rope, color=theme.FAINT, zorder=0)
    ax.axvline(0, color=theme.GREY, linewidth=1)
    for i, pair in enumerate(pairs):
        _pair(ax, pair, i)
        right = ax.get_yaxis_transform()
        theme.write(ax, 1.01, i, _verdict(pair), transform=right, va="center", color=theme.GREY, fontsize=8.5)
    names, short = [f"{pair.a} - {pair.b}" for pair in pairs], None
    if made.folds is not None:
        heights = len(pairs) - 0.3 + 0.6 * (np.arange(len(made.folds)) + 0.5) / len(made.folds)
        ax.plot(
            made.folds, heights, "o", color=theme.SKY, markersize=4, markeredgecolor=theme.BLUE, markeredgewidth=0.4
        )
        theme.write(ax, 1.01, len(pairs), _wins(first), transform=right, va="center", color=theme.GREY, fontsize=8.5)
        names = ["mean", f"{len(made.folds):,} folds"]
    elif len(pairs) == 1:
        names = [""]
    else:
        who = list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
        brief = dict(zip(who, theme.shorten(who, 24), strict=True))
        short = [f"{brief[pair.a]} - {brief[pair.b]}" for pair in pairs]
    theme.name_rows(ax, names, short=short, fontsize=9)
    _beside_zero(ax)
    shown = f"{made.n_pairs:,} pairs" if len(pairs) == made.n_pairs else f"{len(pairs):,} of {made.n_pairs:,} pairs"
    theme.dress(
        ax,
        f"{first.metric}: {first.a} minus {first.b}" if made.n_pairs == 1 else f"{first.metric}: {shown}",
        _facts(first, made.n_pairs),
        x=_sides(first, made.n_pairs == 1),
        grid="x",
    )
    return ax


def _pair(ax: Axes, pair: Comparison, row: int) -> None:
    # A filled mark for a difference that was found, an open one for none.
    found = pair.better is not None
    colour = theme.VERMILION if found else theme.INK
    if pair.interval is not None:
        ax.plot(pair.interval, [row, row], color=colour, linewidth=2, solid_capstyle="butt")
    ax.plot(pair.difference, row, "D", color=colour if found else "white", markeredgecolor=colour, markersize=7)


def _beside_zero(ax: Axes) -> None:
    """Zero is always in the picture, with room on both sides."""
    low, high = ax.get_xlim()
    span = max(high, 0.0) - min(low, 0.0)
    ax.set_xlim(min(low, -0.06 * span), max(high, 0.06 * span))


def _verdict(pair: Comparison) -> str:
    if pair.probabilities is not None:
        return f"P(better) {pair.probabilities.better:.3f}"
    p = pair.pvalue if pair.adjusted is None else pair.adjusted
    return "" if p is None else f"p = {formatting.pvalue(p)}"


def _wins(pair: Comparison) -> str:
    return "" if pair.wins is None else f"{pair.wins.better:,} better, {pair.wins.worse:,} worse"


def _facts(pair: Comparison, n_pairs: int) -> str:
    parts = []
    if pair.n_samples is not None:
        parts.append(formatting.count(pair.n_samples, "sample"))
    if pair.plan is not None:
        parts.append(pair.plan)
    adjusted = (
        ", p adjusted for the number of pairs, intervals of single ones"
        if n_pairs > 1 and pair.adjusted is not None
        else ""
    )
    bar = f"Bar: {100 * pair.confidence_level:g}% interval" if pair.interval is not None else "No interval"
    rope = "" if pair.rope is None else f"; grey: no more than {pair.rope:g} either way"
    filled = "; filled: a difference found" if pair.probabilities is None else ""
    return f"{', '.join(parts)}. {bar} by {pair.method}{adjusted}{filled}{rope}".lstrip(". ")


def _sides(pair: Comparison, alone: bool) -> str:
    left, right = (pair.b, pair.a) if pair.greater_is_better else (pair.a, pair.b)
    if not alone:
        return f"{pair.metric}, first minus second\n{'right' if pair.greater_is_better else 'left'} of 0 the first is better"
    sides = f"← {formatting.shorten(left, 26)} better      {formatting.shorten(right, 26)} better →"
    return f"difference of {pair.metric}\n{sides}"


def pairwise(comparisons: Comparisons, top: int = 15, *, ax: Axes | None = None) -> Axes:
    """Everyone against everyone: how probable it is that the row is better than the column, or the p value of the pair.

    Parameters
    ----------
    comparisons
        What `compare.pairs` gives; probabilities where the test has them (``test="t_bayes"``), else adjusted p values.
    top
        How many configurations, from the best one on.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> draws = np.random.default_rng(0).normal(0.8, 0.02, (3, 10))
    >>> scores = of.from_scores(dict(zip("abc", draws)), n_train=90, n_test=10)
    >>> ax = of.plot.pairwise(of.compare.pairs(scores, test="t_bayes"))  # doctest: +SKIP
    """
    made = numbers.matrix(comparisons, top)
    k = len(made.configs)
    side = min(1.4 + 0.46 * k, 9.0)
    ax = theme.axes(ax, side + 0.5, side + 3.2)
    facts = _probabilities(ax, made) if made.better is not None else _pvalues(ax, made, comparisons)
    numbered = [f"{name}  {i + 1}" for i, name in enumerate(theme.shorten(made.configs))]
    theme.name_rows(ax, made.configs, short=numbered, fontsize=9 if k <= 20 else 7)
    ax.set_xticks(range(k), [str(i + 1) for i in range(k)], fontsize=9 if k <= 20 else 7)
    ax.set_xlim(-0.5, k - 0.5)
    ax.tick_params(length=0)
    terms, n = comparisons.terms, len(comparisons.configs)
    data = ", ".join(
        p for p in ("" if terms.n_samples is None else formatting.count(terms.n_samples, "sample"), terms.plan) if p
    )
    theme.dress(
        ax,
        f"{terms.metric}: row against column, {k:,} of {n:,}" if k < n else f"{terms.metric}: row against column",
        f"{data}{'. ' if data else ''}{facts}; by {terms.method}, best score first",
    )
    ax.spines[:].set_visible(False)
    return ax


def _probabilities(ax: Axes, made: numbers.Matrix) -> str:
    assert made.better is not None
    shades = theme.pyplot().get_cmap("Blues")
    image = ax.imshow(
        np.ma.masked_invalid(made.better), cmap=shades, vmin=0, vmax=1, aspect="auto", interpolation="none"
    )
    if len(made.configs) <= _WRITTEN:
        for (i, j), p in np.ndenumerate(made.better):
            if np.isfinite(p):
                colour = theme.on(shades(p))
                theme.write(ax, j, i, f"{p:.2f}", ha="center", va="center", fontsize=8, color=colour)
    bar = ax.get_figure().colorbar(image, ax=ax, pad=0.03, shrink=0.8, label="P(row is better)")  # type: ignore[union-attr]
    bar.outline.set_visible(False)
    return "Probability that the row is better"


def _pvalues(ax: Axes, made: numbers.Matrix, found: Comparisons) -> str:
    assert made.pvalue is not None
    from matplotlib.colors import ListedColormap

    alpha = found.terms.alpha
    sign = 1 if found.terms.greater_is_better else -1
    with np.errstate(invalid="ignore"):
        told = np.where(made.pvalue <= alpha, np.sign(sign * made.difference), 0.0)
    told = np.ma.masked_where(np.isnan(made.pvalue), told)
    colours = [_BELOW, _NEITHER, _ABOVE]
    ax.imshow(told, cmap=ListedColormap(colours), vmin=-1.5, vmax=1.5, aspect="auto", interpolation="none")
    if len(made.configs) <= _WRITTEN:
        for (i, j), p in np.ndenumerate(made.pvalue):
            if np.isfinite(p):
                which = int(told[i, j])
                mark = {1: "▲\n", 0: "", -1: "▼\n"}[which]
                text = f"{mark}{'<0.001' if p < 0.001 else f'{p:.3f}'}"
                theme.write(ax, j, i, text, ha="center", va="center", fontsize=7.5, color=theme.on(colours[which + 1]))
    by = "not adjusted" if found.adjust == "none" else f"adjusted by {found.adjust}"
    return f"p values, {by}; ▲ the row is better, ▼ worse, at alpha {alpha:g}"


def power(powers: Power | Iterable[Power] | Mapping[str, Power], *, ax: Axes | None = None) -> Axes:
    """How often a test finds a true difference, over the size of the difference.

    Parameters
    ----------
    powers
        What `compare.power` gives for several differences; several of them (tests, numbers of samples) as a list, or as a
        dict with names of your own.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> correct = np.random.default_rng(0).random((80, 2)) < 0.7
    >>> oof = of.from_arrays(None, correct, response="pointwise")
    >>> found = of.compare.power("permutation", [0, 0.1, 0.2], source=oof, a=0, b=1, n_simulations=50, n_resamples=100)
    >>> ax = of.plot.power(found)  # doctest: +SKIP
    """
    named = numbers.named_powers(powers)
    drawn = list(theme.styles(list(named)))
    ax = theme.axes(ax, 3.8)
    handles = []
    for found, (_, style) in zip(named.values(), drawn, strict=True):
        d, share, error = numbers.power_points(found)
        ax.fill_between(d, share - error, share + error, color=style.colour, alpha=0.18, linewidth=0)
        handles += ax.plot(d, share, color=style.colour, linestyle=style.dashes, marker=style.marker, markersize=5)
    first = next(iter(named.values()))
    alphas = {found.alpha for found in named.values()}
    for level, text in [(0.8, "0.8"), *((alpha, f"alpha {alpha:g}") for alpha in sorted(alphas))]:
        ax.axhline(level, color=theme.GREY, linewidth=0.8, linestyle=":")
        across: Any = ax.get_yaxis_transform()
        theme.write(ax, 1.005, level, text, transform=across, va="center", color=theme.GREY, fontsize=8)
    ax.set_ylim(-0.02, 1.02)
    sizes = sorted({found.n for found in named.values()})
    n = f"{formatting.count(sizes[0], 'sample')}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} samples"
    one = f" of {first.test}" if len({found.test for found in named.values()}) == 1 else ""
    theme.dress(
        ax,
        f"power{one}: {formatting.shorten(first.a, 28)} against {formatting.shorten(first.b, 28)}",
        f"{n}, {first.n_simulations:,} simulations a point. Bands: one standard error of the simulation",
        x=f"true difference of {first.metric}",
        y="share of simulations that find it",
        grid="y",
    )
    if len(named) > 1:
        theme.legend(
            ax,
            handles,
            theme.shorten(list(named), 30),
            list(named),
        )
    return ax
