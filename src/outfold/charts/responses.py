"""Charts of predictions: curves over thresholds, calibration, confusion.

Curves are exact means over repeats: the area below the curve that is drawn is the metric that is printed. Bands are
percentiles over bootstrap draws of samples (or groups); a drawn sample has its predictions of all repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import estimate as estimates
from .. import formatting, metrics
from ..arguments import RngLike, as_seed, check_confidence_level, check_count
from ..data.predictions import Predictions
from ..data.target import Target
from ..exceptions import NeedError, invalid
from ..metrics._baseline import baseline
from ..metrics._keeping import alone, kept
from ..metrics._scoring import Scoring, bind, sample_bootstrap
from ..requirements import check_predictions
from ..results import Estimate
from ..stats import rank_metrics
from ..stats.rank_metrics import Ranked
from . import description as chart

Floats = NDArray[np.float64]
CurveKind = Literal["roc", "precision_recall"]
Words = tuple[str, str, str, str, str]  # name, title, facts, question and caption of a chart

_GRID = np.linspace(0, 1, 101)
_TIPS = 21  # points of a curve that have a tip
_WRITTEN_CLASSES = 12
_DIAGONAL = chart.Line([0, 1], [0, 1], "pale", width=1, behind=True)


class Curve(NamedTuple):
    """A curve, its band on a grid, and the metric that is the area below it, as ``estimate.cv(..., "pooled")`` gives."""

    name: str  # the configuration, or the class where several classes of one configuration are shown
    x: Floats
    y: Floats
    grid: Floats
    low: Floats
    high: Floats
    estimate: Estimate


class Bins(NamedTuple):
    """Predicted probabilities in bins of about equally many: their mean, the share of positives, its interval."""

    name: str
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    n: NDArray[np.intp]
    estimate: Estimate


L = TypeVar("L", Curve, Bins)


class Lines(NamedTuple, Generic[L]):
    """The lines of one chart, the class they are about and how frequent it is, or the one configuration they are of."""

    lines: tuple[L, ...]
    positive: str | None
    share: float | None
    config: str | None


class _Kind(NamedTuple):
    metric: str
    points: Callable[[list[tuple[Floats, Floats]]], tuple[Floats, Floats]]
    path: Callable[[Floats, Floats], tuple[Floats, Floats]]
    drawn: Callable[[Ranked, NDArray[Any], Floats, NDArray[np.int64] | None], Floats]


class Held(NamedTuple):
    """Predictions of one line, repeat by repeat: rows by falling score, who is positive, the scores, the last of equals."""

    rows: list[NDArray[np.intp]]
    positive: list[NDArray[np.bool_]]
    scores: list[Floats]
    last: list[NDArray[np.bool_]]


def threshold_curves(
    kind: CurveKind, oof: Predictions, configs: Any, positive: Any, level: float, n_resamples: int, rng: RngLike
) -> Lines[Curve]:
    """ROC or precision-recall curves of some configurations, or of all classes of one."""
    check_predictions(oof, f"plot.{kind}")
    how = check_confidence_level(level), check_count(n_resamples, "n_resamples", 2), as_seed(rng)
    parts, about, config = _binary_parts(oof, configs, positive, kind)
    lines = tuple(_line(KINDS[kind], name, part, *how) for name, part in parts)
    share = float(np.mean(parts[0][1].target.y)) if about is not None else None
    return Lines(lines, about, share, config)


def _line(kind: _Kind, name: str, part: Predictions, level: float, n_resamples: int, seed: int) -> Curve:
    found = estimates.cv(
        part, kind.metric, aggregate="pooled", n_resamples=n_resamples, confidence_level=level, rng=seed
    )
    scoring = Scoring(part, kind.metric)
    held = held_out(scoring)
    x, y = kind.points([kind.path(*counts) for counts in _counts(held)])
    draws = [_drawn(kind, held, block) for block in sample_bootstrap(scoring, False, seed).blocks(n_resamples)]
    return Curve(name, x, y, _GRID, *_band(np.concatenate(draws), level), found)


def _drawn(kind: _Kind, held: Held, weights: NDArray[Any]) -> Floats:
    """(b, grid) the mean over repeats of the curve under every weighting."""
    ranked = [Ranked(rows, positive, last) for rows, positive, _, last in zip(*held, strict=True)]
    totals = None
    if all(len(one.rows) == weights.shape[1] for one in ranked):  # all repeats have the same samples
        totals = ranked[0].totals(weights)
    return np.asarray(sum(kind.drawn(one, weights, _GRID, totals) for one in ranked) / len(ranked))


def _band(draws: Floats, level: float) -> tuple[Floats, Floats]:
    """(n,) percentiles of (b, n) draws; those that are undefined do not count."""
    ends = [100 * (1 - level) / 2, 100 * (1 + level) / 2]
    # The percentiles that look for NaN make a Python call for each column.
    find = np.nanpercentile if np.isnan(draws).any() else np.percentile
    low, high = find(draws, ends, axis=0)
    return low, high


def held_out(scoring: Scoring) -> Held:
    """The predictions that count of the only configuration of a binary task; rows are positions among those that count."""
    return kept(scoring.oof, "held out", lambda: _held_out(scoring))


def _held_out(scoring: Scoring) -> Held:
    oof = scoring.oof
    data = bind(oof, "roc_auc")[1][:, 0]
    out = Held([], [], [], [])
    for r in sorted({r for r, _ in scoring.cells}):
        folds = [k for repeat, k in scoring.cells if repeat == r]
        rows = np.flatnonzero(np.isin(oof.folds[scoring.rows, r], folds))
        rows = rows[np.argsort(-data[r, scoring.rows[rows]], kind="stable")]
        scores = data[r, scoring.rows[rows]]
        out.rows.append(rows)
        out.positive.append(oof.target.y[scoring.rows[rows]] == 1)
        out.scores.append(scores.astype(np.float64))
        out.last.append(np.append(np.diff(scores) != 0, True))
    return out


def _counts(held: Held) -> Iterable[tuple[Floats, Floats]]:
    """Of every repeat, positives and negatives at or above every threshold, from the highest threshold down."""
    for _, positive, _, last in zip(*held, strict=True):
        yield np.cumsum(positive, dtype=np.float64)[last], np.cumsum(~positive, dtype=np.float64)[last]


def _roc_path(hits: Floats, false: Floats) -> tuple[Floats, Floats]:
    """False and true positive rates, with straight lines between thresholds."""
    with np.errstate(invalid="ignore"):
        return np.append(0.0, false / false[-1]), np.append(0.0, hits / hits[-1])


def _roc_points(paths: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The vertical mean of polygons: at every x that is a corner of one, the lowest and the highest value of each."""
    x = np.unique(np.concatenate([path[0] for path in paths]))
    ends = [_roc_ends(*path, x) for path in paths]
    low, high = (np.mean([end[i] for end in ends], axis=0) for i in (0, 1))
    return np.repeat(x, 2), np.stack([low, high], axis=1).ravel()


def _roc_ends(fpr: Floats, tpr: Floats, x: Floats) -> tuple[Floats, Floats]:
    first = np.flatnonzero(np.append(True, fpr[1:] != fpr[:-1]))  # rates rise
    own = fpr[first]
    low, high = tpr[first], tpr[np.append(first[1:], len(fpr)) - 1]
    right = np.searchsorted(own, x)
    left = np.maximum(right - 1, 0)
    width = np.where(right == left, 1.0, own[right] - own[left])
    between = high[left] + (low[right] - high[left]) * (x - own[left]) / width
    met = own[right] == x
    return np.where(met, low[right], between), np.where(met, high[right], between)


def _pr_path(hits: Floats, false: Floats) -> tuple[Floats, Floats]:
    """Recall and precision, in steps as average precision sums them."""
    with np.errstate(invalid="ignore"):
        return hits / hits[-1], hits / (hits + false)


def _pr_points(paths: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    x = np.unique(np.concatenate([path[0] for path in paths]))
    x = x[x > 0]
    y = np.mean([_pr_step(*path, x) for path in paths], axis=0)
    return np.append(0.0, x), np.append(y[0], y)


def _pr_step(recall: Floats, precision: Floats, x: Floats) -> Floats:
    """Precision at the first threshold that reaches this recall."""
    return np.asarray(precision[np.minimum(np.searchsorted(recall, x), len(recall) - 1)])


KINDS = {"roc": _Kind("roc_auc", _roc_points, _roc_path, rank_metrics.roc)}
KINDS["precision_recall"] = _Kind("average_precision", _pr_points, _pr_path, rank_metrics.precision)


def _binary_parts(
    oof: Predictions, configs: Any, positive: Any, picture: str
) -> tuple[list[tuple[str, Predictions]], str | None, str | None]:
    """Two-class predictions of one configuration each, with names; what is positive in all; whose classes they are."""
    classes = oof.target.classes
    if classes is None:
        raise _no_classes(oof, picture)
    names = _names(oof, configs, positive)
    if len(classes) == 2:
        if positive is not None and str(positive) != str(classes[1]):
            needed = "must be the positive class of the predictions or be left out"
            given = f"the positive class of these predictions is {classes[1]!s}, and `positive` is {positive!r}"
            raise invalid("positive", needed, given)
        return [(name, alone(oof, name)) for name in names], str(classes[1]), None
    if positive is not None:
        code = _code(classes, positive)
        return [(name, against_rest(alone(oof, name), code)) for name in names], str(classes[code]), None
    if len(names) > 1:
        needed = "shows all classes of one configuration, or one class of several"
        given = f"{len(classes)} classes and {len(names)} configurations are too much for one picture"
        raise chart.refused(picture, needed, given, "Name one configuration, or a class: `positive=...`.")
    one = alone(oof, names[0])
    return [(str(label), against_rest(one, code)) for code, label in enumerate(classes)], None, names[0]


def _no_classes(oof: Predictions, picture: str) -> NeedError:
    given = f"these predictions are for {oof.target.task}"
    return NeedError(argument=f"plot.{picture}", needed="needs classes", given=given)


def _names(oof: Predictions, configs: Any, positive: Any) -> list[str]:
    """The configurations asked for; where None, the selected one and those with the best scores."""
    if configs is None:
        many = oof.target.classes is not None and len(oof.target.classes) > 2
        names = dict.fromkeys([oof.selection().name, *oof.leaderboard().configs])
        return list(names)[: 1 if many and positive is None else 3]
    wanted: Sequence[Any] = [configs] if isinstance(configs, (str, int, np.integer)) else list(configs)
    if not wanted:
        raise invalid("configs", "must name one configuration at least", "got an empty list")
    return [oof.configs[oof.config_index(config)] for config in wanted]


def _code(classes: NDArray[Any], positive: Any) -> int:
    found = [i for i, label in enumerate(classes) if label == positive or str(label) == str(positive)]
    if not found:
        needed, given = "must be a class of the predictions", f"there is no class {positive!r}"
        remedy = f"The classes are {', '.join(map(str, classes[:10]))}."
        raise invalid("positive", needed, given, remedy)
    return found[0]


def against_rest(oof: Predictions, code: int) -> Predictions:
    """Predictions of one class against all others."""
    if oof.data.ndim != 4:
        needed = "needs scores or probabilities of each class, to hold one against the rest"
        raise NeedError(argument="positive", needed=needed, given="these predictions are labels")
    assert oof.target.classes is not None
    label = str(oof.target.classes[code])
    target = Target("binary", (oof.target.y == code).astype(np.intp), np.array([f"not {label}", label], dtype=object))
    return replace(oof, target=target, data=np.ascontiguousarray(oof.data[..., code]), labels=None, blocks={}, notes=())


def calibration_bins(
    oof: Predictions, configs: Any, positive: Any, bins: int, level: float, n_resamples: int, rng: RngLike
) -> Lines[Bins]:
    """Bins of about equally many predictions, all repeats together."""
    check_predictions(oof, "plot.calibration")
    if oof.response != "proba":
        remedy = "Collect with `collect(response='proba')`."
        given = "these predictions have none"
        raise NeedError(argument="plot.calibration", needed="needs class probabilities", given=given, remedy=remedy)
    how = check_confidence_level(level), check_count(n_resamples, "n_resamples", 2), as_seed(rng)
    bins = check_count(bins, "bins", 2)
    parts, about, config = _binary_parts(oof, configs, positive, "calibration")
    return Lines(tuple(_bins(name, part, bins, *how) for name, part in parts), about, None, config)


def _bins(name: str, part: Predictions, bins: int, level: float, n_resamples: int, seed: int) -> Bins:
    found = estimates.cv(part, "brier", aggregate="pooled", n_resamples=n_resamples, confidence_level=level, rng=seed)
    scoring = Scoring(part, "brier")
    held = held_out(scoring)
    rows, positive, p = np.concatenate(held.rows), np.concatenate(held.positive), np.concatenate(held.scores)
    # Edges between distinct values: equal probabilities stay together.
    edges = np.unique(np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1], method="inverted_cdf"))
    code = np.unique(np.searchsorted(edges, p), return_inverse=True)[1]
    k = int(code.max()) + 1
    # Draws weigh samples, so what every sample has in every bin is counted once.
    cells = rows * k + code
    all_, hits = (np.bincount(cells, w, len(scoring.rows) * k).reshape(-1, k) for w in (None, positive))
    draws = []
    for block in sample_bootstrap(scoring, False, seed).blocks(n_resamples):
        weights = block.astype(np.float64)
        with np.errstate(invalid="ignore"):
            draws.append((weights @ hits) / (weights @ all_))
    low, high = _band(np.concatenate(draws), level)
    count = np.bincount(code, minlength=k)
    observed = np.bincount(code, positive, k) / count
    return Bins(name, np.bincount(code, p, k) / count, observed, low, high, count, found)


class Confusion(NamedTuple):
    """(true, predicted) counts, the mean over repeats; `accuracy` the pooled score of the API."""

    config: str
    classes: tuple[str, ...]
    counts: Floats
    accuracy: float
    n_repeats: int

    @property
    def shares(self) -> Floats:
        """Rows that sum to 1: of the samples of a class, where they went."""
        totals = self.counts.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(self.counts, totals, out=np.zeros_like(self.counts), where=totals > 0))


def confusion_counts(oof: Predictions, config: str | int | None) -> Confusion:
    """Which class is taken for which, out of fold; of the selected configuration where None."""
    check_predictions(oof, "plot.confusion")
    classes = oof.target.classes
    if classes is None:
        raise _no_classes(oof, "confusion")
    name = oof.selection().name if config is None else oof.configs[oof.config_index(config)]
    scoring = Scoring(alone(oof, name), "accuracy")
    labels = bind(scoring.oof, "accuracy")[1][:, 0]
    k, tables = len(classes), []
    for r in sorted({r for r, _ in scoring.cells}):
        held = np.isin(oof.folds[:, r], [fold for repeat, fold in scoring.cells if repeat == r])
        pairs = oof.target.y[held] * k + labels[r, held].astype(np.intp)
        tables.append(np.bincount(pairs, minlength=k * k).reshape(k, k))
    accuracy = float(scoring.scores()[0, 0])
    return Confusion(name, tuple(map(str, classes)), np.mean(tables, axis=0), accuracy, len(tables))


def threshold_chart(
    kind: CurveKind, oof: Predictions, configs: Any, positive: Any, level: float, n_resamples: int, rng: RngLike
) -> chart.Chart:
    """What another threshold would give: ROC or precision-recall curves."""
    made = threshold_curves(kind, oof, configs, positive, level, n_resamples, rng)
    x_name, y_name = ("false positive rate", "true positive rate") if kind == "roc" else ("recall", "precision")
    marks: list[chart.Mark] = []
    if kind == "roc":
        marks.append(_DIAGONAL)
    elif made.share is not None:
        share = f"share of {made.positive}: {made.share:.2f}"
        marks.append(chart.GuideLine("y", made.share, "pale", tip=share))
        marks.append(chart.Text(0.01, made.share, share, above=True, size=8))
    bands: list[chart.Mark] = []
    lines: list[chart.Mark] = []
    keys, numbers = [], []
    for curve, (_, style) in zip(made.lines, chart.styles([line.name for line in made.lines]), strict=True):
        defined = np.isfinite(curve.low) & np.isfinite(curve.high)
        bands.append(chart.Band(curve.grid[defined], curve.low[defined], curve.high[defined], style.tone))
        line = chart.Line(curve.x, curve.y, *style[:2], 1.8, steps=kind == "precision_recall")
        at = np.unique(np.linspace(0, len(curve.x) - 1, _TIPS).astype(int))
        whose, say = _whose(curve.name, made.config), formatting.number
        places = zip(curve.x[at].tolist(), curve.y[at].tolist(), strict=True)
        tips = [f"{whose}\n{x_name} {say(a)}\n{y_name} {say(b)}" for a, b in places]
        lines += [line, chart.Points(curve.x[at], curve.y[at], style.tone, "hidden", 8, tips=tips)]
        keys.append(line)
        shown = {what: getattr(curve.estimate, what) for what in ("metric", "value", "interval")}
        numbers.append({"name": curve.name} | shown)
    about = " Each line is a class." if made.positive is None else f" Positive class: {made.positive}."
    area = "The area below the curve" if kind == "roc" else "The average precision"
    words = (
        kind,
        f"{'ROC curves' if kind == 'roc' else 'precision and recall'}, {_subject(made)}",
        f"{chart.about_data(oof.n_samples, oof.plan)}. Bands: {100 * level:g}% over samples",
        "ROC curve" if kind == "roc" else "Precision and recall",
        f"The selected configuration{', mean over repeats' if oof.n_repeats > 1 else ''}. {area} is not corrected for having "
        f"been selected.{about} Band: {100 * level:g}% over samples.",
    )
    return _square(words, (x_name, y_name), [*marks, *bands, *lines], made, numbers, keys)


def calibration(
    oof: Predictions, configs: Any, positive: Any, bins: int, level: float, n_resamples: int, rng: RngLike
) -> chart.Chart:
    """Whether probabilities mean what they say."""
    made = calibration_bins(oof, configs, positive, bins, level, n_resamples, rng)
    marks: list[chart.Mark] = [_DIAGONAL]
    keys, numbers = [], []
    for bin_, (_, style) in zip(made.lines, chart.styles([line.name for line in made.lines]), strict=True):
        line = chart.Line(bin_.predicted, bin_.observed, *style[:2], 1.2, style.marker)
        bars = zip(bin_.predicted, bin_.low, bin_.high, strict=True)
        marks += [chart.Line([p, p], ends, style.tone, width=1) for p, *ends in bars if np.isfinite(ends[0])]
        tips = [
            f"{_whose(bin_.name, made.config)}\npredicted {formatting.number(float(p))}\nobserved "
            f"{chart.with_interval(float(o), (float(low), float(high)), level)}\n{formatting.count(int(n), 'prediction')}"
            for p, o, low, high, n in zip(*bin_[1:6], strict=True)
        ]
        marks += [line, chart.Points(bin_.predicted, bin_.observed, style.tone, "hidden", 8, tips=tips)]
        keys.append(line)
        columns = {k: np.asarray(getattr(bin_, k)).tolist() for k in ("predicted", "observed", "low", "high", "n")}
        numbers.append({"name": bin_.name, "brier": bin_.estimate.value} | columns)
    each = int(np.median(np.concatenate([line.n for line in made.lines])))
    words = (
        "calibration",
        f"calibration, {_subject(made)}",
        f"{chart.about_data(oof.n_samples, oof.plan)}, about {each:,} predictions per point. Bars: {100 * level:g}% over samples",
        "Do probabilities mean what they say?",
        f"The selected configuration: the share{'' if made.positive is None else f' of {made.positive}'} among samples of about "
        "equal predicted probability. On the diagonal, probabilities mean what they say.",
    )
    return _square(words, ("predicted probability", "observed share"), marks, made, numbers, keys)


def _square(
    words: Words, axes: Sequence[str], marks: list[chart.Mark], made: Lines[Any], numbers: Any, lines: Any
) -> chart.Chart:
    x, y = (chart.Axis(label, -0.01, 1.01, grid=True) for label in axes)
    drawn = {"config": made.config or made.lines[0].name, "positive": made.positive, "lines": numbers}
    keys = _keys(made, lines)
    return chart.Chart(*words, x, y, marks, drawn, keys, (5.0, 5.5 + 0.19 * len(keys)), "square")


def confusion(oof: Predictions, config: str | int | None = None) -> chart.Chart:
    """Which class is taken for which."""
    made = confusion_counts(oof, config)
    k, classes = len(made.classes), made.classes
    texts, words = np.full((2, k, k), "", dtype=object)
    for (i, j), count in np.ndenumerate(made.counts):
        shown = f"{count:,.0f}" if count == round(count) else f"{count:,.1f}"
        words[i, j] = f"{count:g} samples, {made.shares[i, j]:.1%} of the class"
        texts[i, j] = f"{shown}\n{made.shares[i, j]:.0%}" if count else ""
    written = k <= _WRITTEN_CLASSES
    rows, columns = ([f"{which} {name}" for name in classes] for which in ("true", "predicted"))
    how: dict[str, Any] = {"texts": texts if written else None, "text_size": 9 if k < 8 else 7.5}
    heat = chart.HeatMap(made.shares, rows, columns, words=words, bar="share of the true class", **how)
    longest = 0.075 * min(max(map(len, classes)), 40)
    side = min(2.6 + 0.46 * k, 8.0)
    some = None if written else tuple((float(i), classes[i]) for i in range(0, k, -(-k // 20)))
    mean = f" Counts are means over {made.n_repeats} repeats." if made.n_repeats > 1 else ""
    always = baseline(metrics.get("accuracy", oof.target.task), oof.target)
    assert always is not None  # of classes it is known
    say = formatting.Digits.of_width(2 / np.sqrt(oof.n_samples))  # four standard errors of a share, at most
    return chart.Chart(
        "confusion",
        f"true and predicted classes, {formatting.shorten(made.config, 40)}",
        f"accuracy {formatting.number(made.accuracy)}, {chart.about_data(oof.n_samples, oof.plan)}.{mean}".rstrip("."),
        "Which class is taken for which?",
        f"The selected configuration, out of fold: counts of samples. The stronger the colour, the larger their share of the "
        f"true class. Accuracy: {say(made.accuracy)}; {always.of}: {say(always.value)}.{mean}",
        chart.Axis("predicted", names=classes if written else (), ticks=some),
        chart.Axis("true", names=classes if written else (), ticks=some),
        (heat,),
        {"config": made.config, "classes": classes, "counts": made.counts.tolist(), "accuracy": made.accuracy},
        size=(max(side + 0.6 + longest, 4.8), side + (longest if max(map(len, classes)) >= 60 // k else 0.1)),
    )


def _keys(made: Lines[Any], lines: Sequence[chart.Line]) -> tuple[chart.Key, ...]:
    names = [line.name for line in made.lines]
    texts, brief = [], []
    short_names = zip(chart.shorten(names, 26), chart.shorten(names, 20), strict=True)
    for (short, brief_name), found in zip(short_names, [line.estimate for line in made.lines], strict=True):
        ends = "" if found.interval is None else f" [{', '.join(formatting.number(end) for end in found.interval)}]"
        value = f"{found.metric} {formatting.number(found.value)}"
        texts.append(f"{short}: {value}{ends}")
        # The report has one interval for each quantity, that of the corrected estimate.
        rounded = _rounded(found)
        brief.append(rounded if len(names) == 1 else f"{brief_name}: {rounded}")
    return tuple(map(chart.Key, texts, lines, names, brief))


def _rounded(found: Estimate) -> str:
    """The metric and its value, as many digits as its interval leaves meaningful."""
    width = np.nan if found.interval is None else found.interval.high - found.interval.low
    return f"{formatting.called(found.metric)} {formatting.Digits.of_width(width)(found.value)}"


def _subject(made: Lines[Any]) -> str:
    return f"all classes, {made.config}" if made.positive is None else f"positive class {made.positive}"


def _whose(name: str, config: str | None) -> str:
    return name if config is None else f"{config}\nclass {name}"
