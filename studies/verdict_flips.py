"""Does the verdict depend on the partition? Table II of Raeder, Hoens and Chawla (2010).

Two trees are compared over 18 data sets by Wilcoxon's signed rank test, once for each repeat of 10-fold cross-validation.
The paper shows two repeats with opposite significant verdicts. Here every repeat is tested: how often is either tree
significantly better?
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import repeats
from harness import Headline, Record, Size, Study, Unit, Verdict, printed
from harness.pages import table
from harness.pictures import Panel, figure

import outfold as of

SETS = tuple(repeats.SETS)
ALPHA = 0.05
# AUC as printed: iteration 216 (C4.5, HDDT), iteration 459 (C4.5, HDDT).
PAPER = printed.rows("""
breast-w 0.9784 0.9753 0.9768 0.9820
bupa 0.6936 0.6913 0.6521 0.6531
credit-a 0.8996 0.8967 0.9044 0.8967
crx 0.8993 0.8877 0.9021 0.8898
heart-c 0.8431 0.8181 0.8161 0.8333
heart-h 0.8756 0.8290 0.8376 0.8404
horse-colic 0.8646 0.8848 0.8742 0.8928
ion 0.9353 0.9301 0.9247 0.9371
krkp 0.9992 0.9993 0.9988 0.9991
pima 0.7781 0.7717 0.7661 0.7696
promoters 0.8654 0.8514 0.8676 0.8774
ringnorm 0.8699 0.8533 0.8669 0.8727
sonar 0.8053 0.7929 0.8076 0.8127
threenorm 0.7964 0.7575 0.7419 0.7311
tic-tac-toe 0.9354 0.9254 0.9342 0.9273
twonorm 0.8051 0.8023 0.7722 0.7962
vote 0.9843 0.9824 0.9828 0.9835
vote1 0.9451 0.9343 0.9497 0.9426
""")
PAIRS = (("C4.5", "HDDT"), ("C4.5", "gini"))


def units(size: Size) -> Iterable[Unit]:
    if size == "full":
        return repeats.cells((10,), ("C4.5", "gini", "HDDT"), SETS)
    few = SETS[:10] if size == "quick" else SETS[1:7]
    return [
        unit
        for unit in repeats.cells((10,), ("C4.5", "gini"), few, 20 if size == "quick" else 3)
        if unit["data"] != "krkp"
    ]


def wilcoxon(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """P value, and the median difference."""
    found = of.rank.wilcoxon({"a": list(a), "b": list(b)}, None, "a", "b", greater_is_better=True)
    return (1.0 if found.pvalue is None else float(found.pvalue)), float(found.difference)


def summarize(records: Sequence[Record]) -> dict[str, Any]:
    known, found = repeats.by_learner(records, 10), {}
    for a, b in PAIRS:
        sets = [data for data in SETS if data in known.get(a, {}) and data in known.get(b, {})]
        if len(sets) < 6:
            continue
        scores = [np.array([known[name][data] for data in sets]) for name in (a, b)]
        tests = [wilcoxon(first, second) for first, second in zip(scores[0].T, scores[1].T, strict=True)]
        steady = wilcoxon(scores[0].mean(axis=1), scores[1].mean(axis=1))
        found[f"{a}; {b}"] = {
            "sets": len(sets),
            "repeats": len(tests),
            "pvalues": [round(p, 5) for p, _ in tests],
            "first": sum(p < ALPHA and d > 0 for p, d in tests),
            "second": sum(p < ALPHA and d < 0 for p, d in tests),
            "steady": {"pvalue": round(steady[0], 5), "difference": round(steady[1], 5)},
            "range": [round(min(d for _, d in tests), 5), round(max(d for _, d in tests), 5)],
        }
    return {"pairs": found, "printed": printed()}


def printed() -> dict[str, dict[str, float]]:
    """What the printed digits of both iterations give."""
    out = {}
    for name, (i, j) in {"216": (0, 1), "459": (2, 3)}.items():
        p, difference = wilcoxon([row[i] for row in PAPER.values()], [row[j] for row in PAPER.values()])
        wins = sum(row[i] > row[j] for row in PAPER.values())
        out[name] = {"pvalue": round(p, 5), "difference": round(difference, 5), "wins": wins}
    return out


def verdict(result: dict[str, Any]) -> Verdict:
    digits = result["printed"]
    headlines = [
        Headline(
            "iteration 216: is C4.5 better at 0.05?",
            "yes",
            f"p = {digits['216']['pvalue']:.4f} from the printed digits",
        ),
        Headline(
            "iteration 459: is HDDT better at 0.05?",
            "yes",
            f"p = {digits['459']['pvalue']:.3f} from the printed digits",
        ),
    ]
    for pair, own in result["pairs"].items():
        a, b = pair.split("; ")
        share = f"{own['first'] / own['repeats']:.1%}, {own['second'] / own['repeats']:.1%}"
        headlines.append(Headline(f"share of partitions at which {a}, {b} is significantly better", "", share))
    because = (
        "The printed digits of iteration 459 give no significant difference (the printed mark cannot be had from them)."
    )
    main = next((own for pair, own in result["pairs"].items() if pair.endswith("HDDT")), None)
    if main is None:
        because += (
            " The Hellinger tree has not been run on enough data sets yet; a tree by Gini impurity, see below, has."
        )
    elif main["first"] and main["second"]:
        because += " But both trees win significantly at some partitions, as the paper says."
        return Verdict("partly the same", because, tuple(headlines))
    else:
        because += (
            f" Of {main['repeats']} partitions {main['first']} favour C4.5 significantly and {main['second']} HDDT."
        )
    return Verdict("differs", because, tuple(headlines))


def page(result: dict[str, Any]) -> Iterator[str]:
    yield "## The printed table"
    yield ""
    yield "AUC of both trees at two seeds. From these digits, Wilcoxon's signed rank test (two-sided, exact) gives:"
    yield ""
    rows = [
        (name, own["wins"], f"{own['difference']:+.4f}", f"{own['pvalue']:.5f}", "significant at 0.05")
        for name, own in result["printed"].items()
    ]
    yield from table(("iteration", "C4.5 ahead, of 18", "C4.5 minus HDDT", "p", "paper says"), rows)
    yield ""
    yield (
        "The paper's text says 5-fold, its caption 10-fold. The C4.5 columns of bupa, pima and tic-tac-toe are what "
        "WEKA's J48 -U -A gives with 10 folds and these two seeds."
    )
    yield ""
    yield "## Every partition tested"
    for pair, own in result["pairs"].items():
        a, b = pair.split("; ")
        neither = own["repeats"] - own["first"] - own["second"]
        yield ""
        yield f"{a} against {b}, {own['sets']} data sets, {own['repeats']} partitions into 10 folds:"
        yield ""
        rows = [
            (f"{a} significantly better", own["first"], f"{own['first'] / own['repeats']:.1%}"),
            (f"{b} significantly better", own["second"], f"{own['second'] / own['repeats']:.1%}"),
            ("neither", neither, f"{neither / own['repeats']:.1%}"),
        ]
        yield from table(("verdict at 0.05", "partitions", "share"), rows)
        yield ""
        low, high = own["range"]
        steady = own["steady"]
        yield (
            f"The median difference of AUC runs from {low:+.4f} to {high:+.4f} over partitions. Of the means over all "
            f"partitions it is {steady['difference']:+.4f}, p = {steady['pvalue']:.3f}: one answer, which does not depend "
            "on a seed."
        )
    if not any(pair.endswith("HDDT") for pair in result["pairs"]):
        yield ""
        yield (
            "The Hellinger tree has not been run on enough data sets yet. A tree by Gini impurity, with the same leaves, "
            "stands in for it: two trees that are as alike."
        )


def draw(result: dict[str, Any]) -> Any:
    panels = []
    for pair, own in result["pairs"].items():
        ordered = sorted(own["pvalues"])
        share = [(i + 1) / len(ordered) for i in range(len(ordered))]
        panels.append(
            Panel(
                pair.replace("; ", " against "),
                {"p values": (ordered, share)},
                "p value",
                "share of partitions",
                options={"xlim": (0, 1)},
            )
        )
    return figure(panels)


STUDY = Study(
    name="verdict-flips",
    title="Does the verdict depend on the partition?",
    source="Raeder, Hoens and Chawla (2010), Table II",
    units=units,
    run=repeats.run,
    summarize=summarize,
    page=page,
    verdict=verdict,
    draw=draw,
    raw="repeats",
    cost=repeats.cost,
)
