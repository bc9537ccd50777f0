"""Results as people paste them into a paper: a LaTeX table with a caption, and a paragraph in prose."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..formatting import called, count, interval, number, pvalue
from ..latex import escape_latex
from ._base import SHOWN

if TYPE_CHECKING:
    from ._comparison import Comparison
    from ._comparisons import Comparisons, Ranking

# The least size of a standardised difference that has the name (Cohen 1988).
_SIZES = ((0.8, "large"), (0.5, "medium"), (0.2, "small"), (0.0, "negligible"))


def with_caption(tabular: str, caption: str, label: str) -> str:
    """The table as a float with its caption above it."""
    head = [r"\begin{table}", r"\centering", rf"\caption{{{escape_latex(caption)}}}", rf"\label{{tab:{label}}}"]
    return "\n".join([*head, tabular, r"\end{table}"])


def size_in_words(standardised: float) -> str:
    """``small``, ``medium`` or ``large``, as Cohen named standardised differences; below these ``negligible``."""
    return next(word for least, word in _SIZES if abs(standardised) >= least)


# -- one pair, several pairs ---------------------------------------------------------------------------------------


def pair_caption(result: Comparison) -> str:
    """What was tested, how, and what came out."""
    test = f" Result: {_test(result)}." if _test(result) else ""
    method = _method(result.description, result.plan)
    return f"Difference in {called(result.metric)}. Test: {method}.{test}{_caveats([result])}"


def pairs_caption(results: Comparisons, adjusted: str) -> str:
    """What was tested, how, and how p values are adjusted."""
    level = f"{100 * results.terms.confidence_level:g}%"
    by = f" P values are adjusted by {adjusted}." if adjusted else ""
    method = _method(results.terms.description, results.terms.plan)
    what = f"Differences in {called(results.terms.metric)} with {level} confidence intervals of single pairs."
    return f"{what} Test: {method}.{by}{_caveats(results)}"


def pair_prose(result: Comparison) -> str:
    """One paragraph: scores, difference with interval, its size in words, the test."""
    first, second = map(number, result.scores)
    metric = called(result.metric)
    sentences = [f"The {metric} of {result.a} was {first}, that of {result.b} was {second}."]
    difference = number(result.difference, sign=True)
    within = "" if result.interval is None else f" ({interval(*result.interval, result.confidence_level, sign=True)})"
    sentences.append(f"The difference was {difference}{within}{_size(result)}.")
    if result.probabilities is not None:
        sentences.append(f"A Bayesian test ({_method(result.description, result.plan)}) found: {result.decision}.")
    elif result.pvalue is not None:
        sentences.append(_verdict(result))
    return " ".join(sentences) + _caveats([result])


def _verdict(result: Comparison) -> str:
    """Which hypothesis was tested, how, and whether the test rejected it."""
    found = "found" if result.significant and (result.null or result.better is not None) else "did not find"
    sides, what = "A", "a difference" + (f" from {number(result.null, sign=True)}" if result.null else "")
    if result.alternative != "two-sided":
        beyond = f" by more than {number(result.null, sign=True)}" if result.null else ""
        sides, what = "A one-sided", f"that {result.a} is {result.alternative} than {result.b}{beyond}"
    by = _method(result.description, result.plan)
    return f"{sides} test ({by}) {found} {what} at the {100 * result.alpha:g}% level ({_test(result)})."


def pairs_prose(results: Comparisons, adjusted: str) -> str:
    """One paragraph: how many pairs differ, and which."""
    pairs = list(results)
    if not pairs:
        return "No pair was compared."
    told = [pair for pair in pairs if pair.better is not None]
    by = f", with p values adjusted by {adjusted}" if adjusted else ""
    terms = results.terms
    sentences = [
        f"We compared {count(len(pairs), 'pair')} of configurations by {called(terms.metric)} "
        f"({_method(terms.description, terms.plan)}{by})."
    ]
    if not told:
        sentences.append(f"No pair differed at the {100 * terms.alpha:g}% level.")
        return " ".join(sentences) + _caveats(pairs)
    verb = "differs" if len(told) == 1 else "differ"
    sentences.append(f"{count(len(told), 'pair')} {verb} at the {100 * terms.alpha:g}% level.")
    strongest = max(told, key=lambda pair: abs(pair.difference))
    loser = strongest.b if strongest.better == strongest.a else strongest.a
    size = number(abs(strongest.difference))
    sentences.append(f"The largest difference is that of {strongest.better} and {loser}: {size}{_size(strongest)}.")
    return " ".join(sentences) + _caveats(pairs)


def _caveats(pairs: Iterable[Comparison]) -> str:
    """What the notes say, each once: a paper needs the caveats of a p value beside it."""
    texts = list(dict.fromkeys(note.text for pair in pairs for note in pair.notes))
    return f" Caveat{'s' if len(texts) > 1 else ''}: {' '.join(texts)}" if texts else ""


def _size(result: Comparison) -> str:
    if result.standardised is None or not np.isfinite(result.standardised):
        return ""
    return f", a {size_in_words(result.standardised)} effect (standardised {number(abs(result.standardised))})"


def _test(result: Comparison) -> str:
    parts = []
    if result.statistic is not None and result.statistic_name:
        parts.append(f"{result.statistic_name} = {result.statistic:.3f}")
    if result.df:
        parts.append(f"df = {' and '.join(f'{d:g}' for d in result.df)}")
    if result.pvalue is not None:
        parts.append(f"p = {pvalue(result.pvalue)}")
    return ", ".join(parts)


def _method(description: str, plan: str | None) -> str:
    return description if plan is None else f"{description}, {plan}"


# -- many data sets ------------------------------------------------------------------------------------------------


def ranking_caption(result: Ranking) -> str:
    """What was ranked, the test of all, and the critical difference."""
    over = count(result.n_datasets, "data set")
    by = "" if result.metric is None else f" by {called(result.metric)}"
    cd = "" if result.cd is None else f" Critical difference {number(result.cd)} ({result.description})."
    return (
        f"Mean ranks of {count(len(result.algorithms), 'algorithm')} over {over}{by}; 1 is best. {result.omnibus}.{cd}"
    )


def ranking_prose(result: Ranking) -> str:
    """One paragraph: the test of all, the order, and which pairs differ."""
    over, n = count(result.n_datasets, "data set"), count(len(result.algorithms), "algorithm")
    found = "found a difference" if result.significant else "found no difference"
    sentences = [f"We ranked {n} on {over}. The test of all algorithms {found} ({result.omnibus})."]
    ranks = dict(zip(result.algorithms, result.mean_ranks.tolist(), strict=True))
    order = ", ".join(f"{name} ({ranks[name]:.2f})" for name in result.order)
    sentences.append(f"Mean ranks, best first: {order}.")
    if result.cd is not None:
        sentences.append(f"Mean ranks that are {number(result.cd)} or more apart differ ({result.description}).")
    told = [pair for pair in result.pairs if pair.different]
    if result.pairs and not told:
        sentences.append(f"No pair differed at the {100 * result.alpha:g}% level.")
    elif told:
        words = [f"{p.better} was better than {p.b if p.better == p.a else p.a}" for p in told[:SHOWN]]
        more = f", and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
        level, total = f"{100 * result.alpha:g}%", count(len(result.pairs), "pair")
        sentences.append(f"{len(told)} of {total} differed at the {level} level: {', '.join(words)}{more}.")
    return " ".join(sentences)
