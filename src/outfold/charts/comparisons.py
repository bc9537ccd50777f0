"""Charts of comparisons: whether configurations differ, what a test could have found, and mean ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import compare, formatting
from ..arguments import check_count
from ..data.predictions import Predictions
from ..data.scores import FoldScores
from ..metrics import MetricLike
from ..metrics._cell_scores import fold_scores
from ..results import Comparison, Comparisons, Flips, Power, Ranking, TiedSet
from ..results._diagram import cd_lines
from . import description as chart

Floats = NDArray[np.float64]
VERDICTS = tuple(
    chart.Category(*one) for one in ((-1, "worse", "peach"), (0, "not told apart", "mist"), (1, "better", "blue"))
)
_WRITTEN = 15


class Differences(NamedTuple):
    """Pairs, the clearest first; of how many; and the differences of single folds where one pair comes from predictions."""

    pairs: tuple[Comparison, ...]
    n_pairs: int
    folds: Floats | None


def differences(
    source: Any, metric: MetricLike | None, a: Any, b: Any, test: Any, level: float, rope: float | None, top: int
) -> Differences:
    """The comparison given, or the one of a and b by a test of `compare`."""
    if isinstance(source, (Comparison, Comparisons)):
        if a is not None or b is not None or metric is not None:
            needed = "takes a comparison alone, or predictions with `metric`, `a` and `b`"
            raise chart.refused("difference", needed, "this comparison is made already")
        if isinstance(source, Comparison):
            return Differences((source,), 1, None)
        order = source._order[: check_count(top, "top")]
        return Differences(tuple(source[int(i)] for i in order), len(source), None)
    if not isinstance(source, (Predictions, FoldScores)):
        needed = "needs a Comparison, as `compare.auto` gives, or predictions with the two configurations"
        raise chart.refused("difference", needed, f"got {type(source).__name__}")
    if a is None or b is None:
        needed, given = "needs two configurations for predictions", f"got a={a!r}, b={b!r}"
        raise chart.refused("difference", needed, given, "Name them: `a=..., b=...`.")
    options: dict[str, Any] = {"confidence_level": level, "rope": rope}
    found: Any = compare.auto(source, metric, a, b, **options) if test == "auto" else None
    if found is None:
        found = compare.pairs(source, metric, test=test, configs=(a, b), adjust="none", omnibus=False, **options)[0]
    by = found.metric if metric is None else metric
    scores = source if isinstance(source, FoldScores) else fold_scores(source, by)
    values = scores.values[scores.config_index(a)] - scores.values[scores.config_index(b)]
    values = values[np.isfinite(values)]
    # One test set, or single samples: there are no scores of folds.
    split = len(values) > 1 and int(scores.n_test[scores.n_test > 0].min()) > 1
    return Differences((found,), 1, values if split else None)


def difference(
    source: Any,
    metric: MetricLike | None = None,
    a: Any = None,
    b: Any = None,
    test: Any = "auto",
    level: float = 0.95,
    rope: float | None = None,
    top: int = 20,
) -> chart.Chart:
    """Differences with their intervals beside zero, and those of single folds for a pair from predictions."""
    made = differences(source, metric, a, b, test, level, rope, top)
    pairs, first = made.pairs, made.pairs[0]
    marks: list[chart.Mark] = [chart.GuideLine("x", 0.0)]
    if first.rope is not None:
        marks.insert(0, chart.Span(-first.rope, first.rope))
    for i, pair in enumerate(pairs):
        # A filled mark for a difference that was found, an open one for none.
        tone = "ink" if pair.better is None else "orange"
        tip = f"{pair.a} - {pair.b}\n{formatting.number(pair.difference, sign=True)}"
        if pair.interval is not None:
            tip += f", {formatting.interval(*pair.interval, pair.confidence_level, sign=True)}"
            marks.append(chart.Line(pair.interval, [i, i], tone, width=2, tip=tip))
        marks.append(chart.Points([pair.difference], [i], tone, "diamond", 7, open=pair.better is None, tips=[tip]))
        marks.append(chart.RowText(i, _verdict(pair)))
    against = {pair.b for pair in pairs}
    control = first.b if len(pairs) > 1 and len(against) == 1 else None
    if made.folds is not None:
        heights = 0.7 + 0.6 * (np.arange(len(made.folds)) + 0.5) / len(made.folds)
        marks.append(chart.Points(made.folds, heights, "blue", size=4, faint=True))
        won = "" if first.wins is None else f"{first.wins.better:,} better, {first.wins.worse:,} worse"
        marks.append(chart.RowText(1, won))
    shown = f"{made.n_pairs:,} pairs" if len(pairs) == made.n_pairs else f"{len(pairs):,} of {made.n_pairs:,} pairs"
    minus = "" if control is None else f" minus {control}"
    return chart.Chart(
        "difference",
        f"{first.metric}: {first.a} minus {first.b}" if made.n_pairs == 1 else f"{first.metric}: {shown}{minus}",
        _facts(first, made.n_pairs),
        "Others minus the selected configuration",
        f"{first.metric} of each configuration{minus}, with the interval of each pair. Filled: a difference was found.",
        chart.Axis(_sides(first, made.n_pairs == 1, control), hold=(0.0,), grid=True, margin=0.06),
        _row_names(made, control),
        marks,
        {"pairs": [{"a": p.a, "b": p.b, "difference": p.difference, "interval": p.interval} for p in pairs]},
        size=(6.8, 1.9 + 0.34 * len(pairs) if made.folds is None else 2.8),
    )


def _row_names(made: Differences, control: str | None) -> chart.Axis:
    if made.folds is not None:
        return chart.Axis(names=("mean", f"{len(made.folds):,} folds"))
    if len(made.pairs) == 1:
        return chart.Axis(names=("",))
    if control is not None:
        return chart.Axis(names=tuple(pair.a for pair in made.pairs))
    who = list(dict.fromkeys(name for pair in made.pairs for name in (pair.a, pair.b)))
    brief = dict(zip(who, chart.shorten(who, 24), strict=True))
    short = tuple(f"{brief[pair.a]} - {brief[pair.b]}" for pair in made.pairs)
    return chart.Axis(names=tuple(f"{pair.a} - {pair.b}" for pair in made.pairs), short=short)


def _verdict(pair: Comparison) -> str:
    if pair.probabilities is not None:
        return f"P(better) {pair.probabilities.better:.3f}"
    p = pair.pvalue if pair.adjusted is None else pair.adjusted
    return "" if p is None else f"p = {formatting.pvalue(p)}"


def _facts(pair: Comparison, n_pairs: int) -> str:
    bar = f"Bar: {100 * pair.confidence_level:g}% interval" if pair.interval is not None else "No interval"
    adjusted = ", p adjusted for the number of pairs" if n_pairs > 1 and pair.adjusted is not None else ""
    rope = "" if pair.rope is None else f"; grey: no more than {pair.rope:g} either way"
    data = chart.about_data(pair.n_samples, pair.plan)
    return f"{data}. {bar} by {pair.method}{adjusted}; filled: a difference found{rope}".lstrip(". ")


def _sides(pair: Comparison, alone: bool, control: str | None) -> str:
    side = "right" if pair.greater_is_better else "left"
    if control is not None:
        return f"difference of {pair.metric}\n{side} of 0 better than {formatting.shorten(control, 30)}"
    if not alone:
        return f"{pair.metric}, first minus second\n{side} of 0 the first is better"
    left, right = (pair.b, pair.a) if pair.greater_is_better else (pair.a, pair.b)
    sides = f"← {formatting.shorten(left, 26)} better      {formatting.shorten(right, 26)} better →"
    return f"difference of {pair.metric}\n{sides}"


def flips(found: Any) -> chart.Chart:
    """The difference in each partition with its interval, coloured by the verdict."""
    made = chart.check_result(found, Flips, "flips", "stability.flips")
    first = made.comparisons[0]
    marks: list[chart.Mark] = [chart.GuideLine("y", 0.0)]
    if made.overall is not None:
        words = f"all repeats: {formatting.number(made.overall.difference, sign=True)}"
        marks.append(chart.GuideLine("y", made.overall.difference, dashes=chart.DASHED, tip=words))
    styles: dict[str, tuple[str, chart.Marker]] = {made.a: ("orange", "circle"), made.b: ("blue", "square")}
    keys = []
    for verdict, share in made.shares.items():
        tone, marker = styles.get(verdict, ("ink", "diamond"))
        at = [i for i, said in enumerate(made.verdicts) if said == verdict]
        own, tips = [made.comparisons[i] for i in at], [_flip_tip(made, i) for i in at]
        for i, one, tip in zip(at, own, tips, strict=True):
            if one.interval is not None:
                marks.append(chart.Line([i + 1, i + 1], one.interval, tone, width=1.2, tip=tip))
        told = verdict in (made.a, made.b)
        heights = [one.difference for one in own]
        points = chart.Points([i + 1 for i in at], heights, tone, marker, 5.5, open=not told, tips=tips)
        marks.append(points)
        words = f"{formatting.shorten(verdict, 30)} is better" if told else verdict
        keys.append(chart.Key(f"{words}: {share:.0%}", points, verdict))
    bars = "" if first.interval is None else f" Bars: {100 * first.confidence_level:g}% intervals."
    of = "partition" if made.size == 1 else f"group of {made.size} repeats"
    return chart.Chart(
        "flips",
        f"{made.metric}: {made.a} minus {made.b}",
        f"{made.method} on each {of}.{bars} Dashed: all together. Two agree with probability {made.agreement:.2f}",
        "Does the verdict depend on the partition?",
        f"The difference in each {of} by {made.method}, coloured by its verdict.{bars} Dashed: all repeats together.",
        chart.Axis(of, 0.5, len(made.comparisons) + 0.5, scale="whole"),
        chart.Axis(f"difference of {chart.direction(made.metric, first.greater_is_better)}", hold=(0.0,), grid=True),
        marks,
        {"verdicts": list(made.verdicts), "difference": [one.difference for one in made.comparisons]},
        keys,
    )


def _flip_tip(made: Flips, i: int) -> str:
    one = made.comparisons[i]
    p = "" if one.pvalue is None else f", p = {formatting.pvalue(one.pvalue)}"
    return f"{i + 1}: {formatting.number(one.difference, sign=True)}{p}\n{one.decision}"


def tied(found: Any, top: int = 20) -> chart.Chart:
    """The configurations that may be the best, with their scores and p values."""
    made = chart.check_result(found, TiedSet, "tied", "compare.tied_set")
    rows = made.to_dict()["configurations"][: check_count(top, "top")]
    marks: list[chart.Mark] = []
    for i, row in enumerate(rows):
        p = f"p = {formatting.pvalue(row['pvalue'])}"
        tip = f"{row['config']}\n{made.metric} {formatting.number(row['score'])}, {p}"
        marks.append(chart.Points([row["score"]], [i], "grey" if i else "orange", size=5.5, tips=[tip]))
        marks.append(chart.RowText(i, p))
    n, of = len(made), formatting.count(made.n_candidates, "configuration")
    shown = "" if n == len(rows) else f"; the first {len(rows):,} are shown"
    return chart.Chart(
        "tied",
        f"{made.metric}: {n:,} of {of} may be the best",
        f"{100 * made.confidence_level:g}% confidence set{shown}. Dots: cross-validation scores. p: of being the best",
        "Which configurations may be the best?",
        f"The set holds the truly best configuration with a probability of at least {100 * made.confidence_level:g}%.",
        chart.Axis(made.metric, grid=True, margin=0.06),
        chart.Axis(names=tuple(row["config"] for row in rows), bold=(0,)),
        marks,
        {"rows": rows},
        size=(6.8, 1.35 + 0.27 * len(rows)),
    )


class Matrix(NamedTuple):
    """Row against column, best score first; NaN for pairs that were not compared.

    `better` is P(the row is better) where the test gives probabilities, else `pvalue` has the adjusted p values.
    """

    configs: tuple[str, ...]
    scores: Floats
    better: Floats | None
    pvalue: Floats | None
    difference: Floats


def matrix(found: Any, top: int) -> Matrix:
    """The pairs of the best configurations."""
    chart.check_result(found, Comparisons, "pairwise", "compare.pairs")
    sign = 1.0 if found.terms.greater_is_better else -1.0
    order = np.argsort(-sign * found.scores, kind="stable")[: check_count(top, "top", 2)]
    arrays = found.arrays
    part = np.ix_(order, order)
    better = pvalue = None
    if arrays.probabilities is not None:
        better = _square(found, arrays.probabilities[:, 0], arrays.probabilities[:, 2])[part]
    elif found.adjusted is not None:
        pvalue = _square(found, found.adjusted, found.adjusted)[part]
    else:
        given = f"{found.terms.method} gives neither"
        raise chart.refused("pairwise", "needs probabilities or p values of the pairs", given)
    difference = _square(found, arrays.difference, -arrays.difference)[part]
    return Matrix(tuple(found.configs[i] for i in order), found.scores[order], better, pvalue, difference)


def _square(found: Comparisons, forward: Floats, back: Floats) -> Floats:
    out = np.full((len(found.configs),) * 2, np.nan)
    first, second = found.pairs.T
    out[first, second], out[second, first] = forward, back
    return out


def pairwise(found: Any, top: int = 15) -> chart.Chart:
    """Each configuration against each other: probabilities that the row is better, or p values."""
    made = matrix(found, top)
    k, n, terms = len(made.configs), len(found.configs), found.terms
    heat, facts = _probabilities(made) if made.better is not None else _pvalues(made, found)
    data = chart.about_data(terms.n_samples, terms.plan)
    numbered = [f"{name}  {i + 1}" for i, name in enumerate(chart.shorten(made.configs))]
    return chart.Chart(
        "pairwise",
        f"{terms.metric}: row against column, {k:,} of {n:,}" if k < n else f"{terms.metric}: row against column",
        f"{data}{'. ' if data else ''}{facts}; by {terms.method}, best score first",
        "Which one is better than which?",
        f"{facts}; by {terms.method}.",
        chart.Axis(ticks=tuple((float(i), str(i + 1)) for i in range(k))),
        chart.Axis(names=made.configs, short=tuple(numbered)),
        (heat,),
        {"configs": made.configs, "better": made.better, "pvalue": made.pvalue, "difference": made.difference},
        size=(min(1.4 + 0.46 * k, 9.0) + 3.2, min(1.4 + 0.46 * k, 9.0) + 0.5),
    )


def _probabilities(made: Matrix) -> tuple[chart.HeatMap, str]:
    assert made.better is not None
    texts = np.vectorize(lambda p: f"{p:.2f}" if np.isfinite(p) else "", otypes=[object])(made.better)
    written = texts if len(made.configs) <= _WRITTEN else None
    heat = chart.HeatMap(made.better, made.configs, made.configs, words=texts, texts=written, bar="P(row is better)")
    return heat, "Probability that the row is better"


def _pvalues(made: Matrix, found: Comparisons) -> tuple[chart.HeatMap, str]:
    assert made.pvalue is not None
    alpha = found.terms.alpha
    sign = 1 if found.terms.greater_is_better else -1
    with np.errstate(invalid="ignore"):
        told = np.where(made.pvalue <= alpha, np.sign(sign * made.difference), 0.0)
    told[np.isnan(made.pvalue)] = np.nan
    texts = np.full(told.shape, "", dtype=object)
    for i, j in np.argwhere(np.isfinite(told)):
        p = made.pvalue[i, j]
        mark = {1: "▲\n", 0: "", -1: "▼\n"}[int(told[i, j])]
        texts[i, j] = f"{mark}{'<0.001' if p < 0.001 else f'{p:.3f}'}"
    written = texts if len(made.configs) <= _WRITTEN else None
    heat = chart.HeatMap(told, made.configs, made.configs, VERDICTS, texts=written, text_size=7.5)
    by = "not adjusted" if found.adjust == "none" else f"adjusted by {found.adjust}"
    return heat, f"p values, {by}; ▲ the row is better, ▼ worse, at alpha {alpha:g}"


def named_powers(given: Any) -> dict[str, Power]:
    """Powers for differences of one metric, a list by test, and by the number of samples where that differs."""
    several = isinstance(given, Sequence) and len({getattr(one, "n", None) for one in given}) > 1

    def name(found: Power) -> str:
        return f"{found.test}, n = {found.n:,}" if several else found.test

    return chart.by_name(given, Power, name, "power", "compare.power")


def power_points(found: Power) -> tuple[Floats, Floats, Floats]:
    """Differences in rising order, power, and its standard error."""
    values = (found.difference, found.power, found.standard_error)
    d, share, error = (np.atleast_1d(np.asarray(v, dtype=np.float64)) for v in values)
    order = np.argsort(d, kind="stable")
    return d[order], share[order], error[order]


def power(given: Any) -> chart.Chart:
    """How often a test finds a true difference, over the size of the difference."""
    named = named_powers(given)
    first = next(iter(named.values()))
    levels = [(alpha, f"alpha {alpha:g}") for alpha in sorted({p.alpha for p in named.values()})]
    marks: list[chart.Mark] = []
    for at, text in [(0.8, "0.8"), *levels]:
        marks.append(chart.GuideLine("y", at, dashes=chart.DOTTED, width=0.8, text=text))
    keys = []
    for short, (name, style) in zip(chart.shorten(list(named), 30), chart.styles(list(named)), strict=True):
        d, share, error = power_points(named[name])
        line = chart.Line(d, share, *style[:2], marker=style.marker)
        marks += [chart.Band(d, share - error, share + error, style.tone), line]
        keys.append(chart.Key(short, line, name))
    sizes = sorted({found.n for found in named.values()})
    n = f"{formatting.count(sizes[0], 'sample')}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} samples"
    one = f" of {first.test}" if len({found.test for found in named.values()}) == 1 else ""
    facts = f"{n}, {first.n_simulations:,} simulations a point. Bands: one standard error of the simulation"
    return chart.Chart(
        "power",
        f"power{one}: {formatting.shorten(first.a, 28)} against {formatting.shorten(first.b, 28)}",
        facts,
        "Could the test have found it?",
        f"{facts}.",
        chart.Axis(f"true difference of {first.metric}"),
        chart.Axis("share of simulations that find it", -0.02, 1.02, grid=True),
        marks,
        {name: found.to_dict() for name, found in named.items()},
        keys if len(named) > 1 else (),
        (6.8, 3.8),
    )


def critical_difference(ranking: Any) -> chart.Chart:
    """The critical difference diagram, as ``Ranking.layout`` places it: lengths are in lines of text, y goes down."""
    made = chart.check_result(ranking, Ranking, "critical_difference", "rank.nemenyi").layout()
    axis, size = made.axis, 10.0
    marks: list[chart.Mark] = [chart.Line([bar.left, bar.right], [bar.y] * 2, "blue", width=3) for bar in made.bars]
    straight = [(axis.left, axis.y, axis.right, axis.y), *((t.x, axis.y - 0.35, t.x, axis.y) for t in made.ticks)]
    marks += [chart.Text(t.x, axis.y - 0.6, str(t.rank), "ink", "center", True, size) for t in made.ticks]
    for label in made.labels:
        marks.append(chart.Line([label.x, label.x, label.text_x], [axis.y, label.y, label.y], "ink", width=0.8))
        shift, align = (-0.3, "right") if label.side == "left" else (0.3, "left")
        marks.append(chart.Text(label.text_x + shift, label.y, label.name, "ink", align, size=size, bold=label.control))  # type: ignore[arg-type]
    if made.cd is not None:
        straight += cd_lines(made.cd)
        middle = (made.cd.left + made.cd.right) / 2
        marks.append(chart.Text(middle, made.cd.y - 0.4, made.cd.text, "ink", "center", True, size))
    marks += [chart.Line([x1, x2], [y1, y2], "ink", width=0.8) for x1, y1, x2, y2 in straight]
    return chart.Chart(
        "critical_difference",
        "",
        "",
        "Which algorithms differ over many data sets?",
        "A bar joins algorithms that are not told apart.",
        chart.Axis(low=0.0, high=made.width),
        chart.Axis(low=made.height, high=0.0),
        marks,
        ranking.to_dict(),
        size=(made.width * size / 72, made.height * size / 72),
        shape="bare",
    )
