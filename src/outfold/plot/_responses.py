"""The predictions themselves: curves over thresholds, calibration, confusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import formatting
from ..data.predictions import Predictions
from ..results import Estimate
from . import _letters
from . import _theme as theme
from ._data import responses as numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WRITTEN_CLASSES = 12
_SQUARE = 5.0


def roc(
    oof: Predictions,
    configs: Sequence[str | int] | str | int | None = None,
    *,
    positive: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 500,
    rng: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """ROC curves of out-of-fold predictions, the mean over repeats, with bands over samples.

    The area below a curve is the pooled roc_auc that stands beside it. Bands are for every single false positive rate.

    Parameters
    ----------
    oof
        Predictions of scores or probabilities.
    configs
        The configurations; the three best where None (one for many classes).
    positive
        With more than two classes, the class that is held against the rest; where None, one configuration is shown with a
        line a class.
    confidence_level, n_resamples, rng
        Level of bands and intervals, number of bootstrap draws and their seed.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> oof = of.from_arrays([0, 1] * 20, np.random.default_rng(0).random((40, 2)), response="proba")
    >>> ax = of.plot.roc(oof)  # doctest: +SKIP
    """
    return _curves("roc", oof, configs, positive, (confidence_level, n_resamples, rng), ax)


def precision_recall(
    oof: Predictions,
    configs: Sequence[str | int] | str | int | None = None,
    *,
    positive: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 500,
    rng: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Precision-recall curves of out-of-fold predictions, the mean over repeats, with bands over samples.

    The area below the steps is the pooled average_precision that stands beside them.

    Parameters
    ----------
    oof, configs, positive, confidence_level, n_resamples, rng, ax
        As for `roc`.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> oof = of.from_arrays([0, 1] * 20, np.random.default_rng(0).random((40, 2)), response="proba")
    >>> ax = of.plot.precision_recall(oof)  # doctest: +SKIP
    """
    return _curves("precision_recall", oof, configs, positive, (confidence_level, n_resamples, rng), ax)


def _curves(
    kind: Literal["roc", "precision_recall"],
    oof: Predictions,
    configs: Any,
    positive: Any,
    draws: tuple[float, int, int],
    ax: Axes | None,
) -> Axes:
    made = numbers.curves(kind, oof, configs, positive, *draws)
    drawn = list(theme.styles([line.name for line in made.lines]))
    ax = _square(ax, len(drawn))
    handles = []
    steps: Any = {"drawstyle": "steps-pre"} if kind == "precision_recall" else {}
    for line, (_, style) in zip(made.lines, drawn, strict=True):
        ax.fill_between(line.grid, line.low, line.high, color=style.colour, alpha=0.13, linewidth=0)
        handles += ax.plot(line.x, line.y, color=style.colour, linestyle=style.dashes, linewidth=1.8, **steps)
    if kind == "roc":
        ax.plot([0, 1], [0, 1], color=theme.PALE, linewidth=1, zorder=0)
    elif made.share is not None:
        ax.axhline(made.share, color=theme.PALE, linewidth=1, zorder=0)
        theme.write(
            ax,
            0.01,
            made.share,
            f"share of {made.positive}: {made.share:.2f}",
            va="bottom",
            color=theme.GREY,
            fontsize=8,
        )
    heads = {"roc": "ROC curves", "precision_recall": "precision and recall"}
    _dress(
        ax,
        f"{heads[kind]}, {_subject(made)}",
        f"{_facts(oof, made)}. Bands: {100 * draws[0]:g}% over samples",
        *(("false positive rate", "true positive rate") if kind == "roc" else ("recall", "precision")),
    )
    _legend(ax, handles, [line.name for line in made.lines], [line.estimate for line in made.lines])
    return ax


def calibration(
    oof: Predictions,
    configs: Sequence[str | int] | str | int | None = None,
    *,
    positive: Any = None,
    bins: int = 10,
    confidence_level: float = 0.95,
    n_resamples: int = 500,
    rng: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Whether probabilities mean what they say: the share of positives beside the mean probability, bin by bin.

    Bins hold about equally many predictions. Bars are percentile intervals over samples.

    Parameters
    ----------
    oof
        Predictions of probabilities.
    configs, positive, confidence_level, n_resamples, rng, ax
        As for `roc`.
    bins
        Number of bins; fewer are made where many probabilities are equal.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> oof = of.from_arrays([0, 1] * 20, np.random.default_rng(0).random((40, 2)), response="proba")
    >>> ax = of.plot.calibration(oof, bins=4)  # doctest: +SKIP
    """
    made = numbers.calibration(oof, configs, positive, bins, confidence_level, n_resamples, rng)
    drawn = list(theme.styles([line.name for line in made.lines]))
    ax = _square(ax, len(drawn))
    ax.plot([0, 1], [0, 1], color=theme.PALE, linewidth=1, zorder=0)
    handles = []
    for line, (_, style) in zip(made.lines, drawn, strict=True):
        ax.vlines(line.predicted, line.low, line.high, color=style.colour, linewidth=1, alpha=0.7)
        handles += ax.plot(
            line.predicted,
            line.observed,
            color=style.colour,
            linestyle=style.dashes,
            marker=style.marker,
            markersize=6,
            linewidth=1.2,
        )
    each = int(np.median(np.concatenate([line.n for line in made.lines])))
    _dress(
        ax,
        f"calibration, {_subject(made)}",
        f"{_facts(oof, made)}, about {each:,} predictions a point. Bars: {100 * confidence_level:g}% over samples",
        "predicted probability",
        "observed share",
    )
    _legend(ax, handles, [line.name for line in made.lines], [line.estimate for line in made.lines])
    return ax


def confusion(oof: Predictions, config: str | int | None = None, *, ax: Axes | None = None) -> Axes:
    """Which class is taken for which, out of fold: counts of a repeat (their mean over repeats), shaded by row.

    Parameters
    ----------
    oof
        Predictions of classes.
    config
        The configuration; the most accurate one where None.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> oof = of.from_arrays([0, 1] * 20, np.random.default_rng(0).random((40, 2)), response="proba")
    >>> ax = of.plot.confusion(oof)  # doctest: +SKIP
    """
    made = numbers.confusion(oof, config)
    k = len(made.classes)
    size = min(2.6 + 0.46 * k, 8.0)
    turned = max(map(len, made.classes)) >= 60 // k
    longest = 0.075 * min(max(map(len, made.classes)), 40)
    ax = theme.axes(ax, size + (longest if turned else 0.1), max(size + 0.6 + longest, 4.6))
    shades = theme.pyplot().get_cmap("Blues")
    image = ax.imshow(made.shares, cmap=shades, vmin=0, vmax=1, aspect="auto", interpolation="none")
    if k <= _WRITTEN_CLASSES:
        for (i, j), count in np.ndenumerate(made.counts):
            if not count:
                continue
            text = f"{_count(count)}\n{made.shares[i, j]:.0%}"
            colour = theme.on(shades(made.shares[i, j]))
            theme.write(ax, j, i, text, ha="center", va="center", color=colour, fontsize=9 if k < 8 else 7.5)
        theme.name_rows(ax, made.classes)
        theme.name_rows(ax, made.classes, "x", rotation=90 if turned else 0)
    else:
        step = -(-k // 20)
        some = [_letters.drawable(made.classes[i]) for i in range(0, k, step)]
        ax.set_xticks(range(0, k, step), some, rotation=90)
        ax.set_yticks(range(0, k, step), some)
        for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
            _letters.dress(label)
    repeats = f", counts are means over {made.n_repeats} repeats" if made.n_repeats > 1 else ""
    theme.dress(
        ax,
        f"true and predicted classes, {formatting.shorten(made.config, 40)}",
        f"accuracy {formatting.number(made.accuracy)}, {formatting.count(oof.n_samples, 'sample')}, {oof.plan}{repeats}",
        x="predicted",
        y="true",
    )
    ax.spines[:].set_visible(False)
    ax.set_xlim(-0.5, k - 0.5)
    bar = ax.get_figure().colorbar(image, ax=ax, pad=0.03, shrink=0.8, label="share of the true class")  # type: ignore[union-attr]
    bar.outline.set_visible(False)
    return ax


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def _square(ax: Axes | None, n_lines: int) -> Axes:
    ax = theme.axes(ax, _SQUARE + 0.5 + 0.19 * n_lines, _SQUARE)
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.01)
    ax.set_aspect("equal")
    return ax


def _dress(ax: Axes, head: str, facts: str, x: str, y: str) -> None:
    theme.dress(ax, head, facts, x=x, y=y, grid="both")


def _subject(made: numbers.Curves | numbers.Calibration) -> str:
    return f"every class, {made.config}" if made.positive is None else f"positive class {made.positive}"


def _facts(oof: Predictions, made: numbers.Curves | numbers.Calibration) -> str:
    return f"{formatting.count(made.n_samples, 'sample')}, {oof.plan}"


def _legend(ax: Axes, handles: list[Any], names: list[str], found: list[Estimate]) -> None:
    texts = [
        f"{short}: {one.metric} {formatting.number(one.value)}{_ends(one)}"
        for short, one in zip(theme.shorten(names, 26), found, strict=True)
    ]
    theme.legend(ax, handles, texts, names, fontsize=8)


def _ends(found: Estimate) -> str:
    return "" if found.interval is None else f" [{', '.join(formatting.number(end) for end in found.interval)}]"
