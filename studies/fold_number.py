"""Do more folds give higher estimates? Table I of Raeder, Hoens and Chawla (2010).

Estimates of AUC by 2, 5 and 10 folds are ranked on every data set: rank 1 is the highest. "Canonical" estimates have
about ten fits each (5 x 2, 2 x 5, 1 x 10); the steady state is the mean of all repeats. Bonferroni and Dunn's critical
difference says which mean ranks differ from that of 2 folds (canonical) or 10 folds (steady state).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import repeats
from harness import Headline, Record, Size, Study, Unit, Verdict
from harness.pages import table
from harness.pictures import Panel, figure

import outfold as of

FOLDS = (2, 5, 10)
NAMES = ("C4.5", "5-NN", "HDDT", "NB", "SMO", "MLP")
KINDS = {"canonical": "2", "steady": "10"}  # and the control that each is compared with
# Mean ranks as printed, of 2, 5 and 10 folds.
PAPER = {
    "canonical": {
        "C4.5": (2.50, 1.60, 1.90), "HDDT": (2.30, 1.85, 1.85), "MLP": (2.50, 1.95, 1.55),
        "5-NN": (2.85, 1.73, 1.43), "NB": (2.65, 1.95, 1.40), "SMO": (2.60, 1.65, 1.75),
    },
    "steady": {
        "C4.5": (3.00, 1.82, 1.18), "HDDT": (3.00, 1.90, 1.10), "MLP": (2.70, 1.88, 1.43),
        "5-NN": (2.95, 1.90, 1.05), "NB": (2.90, 1.95, 1.15), "SMO": (2.85, 1.70, 1.45),
    },
}  # fmt: skip


def units(size: Size) -> Iterable[Unit]:
    if size == "full":
        return repeats.cells(FOLDS, NAMES, tuple(repeats.SETS))
    few = ("bupa", "heart-c", "promoters", "sonar") if size == "quick" else ("bupa", "promoters")
    return repeats.cells(
        FOLDS, ("C4.5", "5-NN", "NB") if size == "quick" else ("5-NN",), few, 20 if size == "quick" else 5
    )


def estimates(records: Sequence[Record]) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Canonical and steady estimates by 2, 5 and 10 folds, of every learner on the data sets that are complete."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {kind: {} for kind in KINDS}
    by_folds = {folds: repeats.by_learner(records, folds) for folds in FOLDS}
    for name in NAMES:
        own = [by_folds[folds].get(name, {}) for folds in FOLDS]
        for data in [data for data in repeats.SETS if all(data in part for part in own)]:
            scores = [part[data] for part in own]
            first = [values[: repeats.CANONICAL[folds]].mean() for folds, values in zip(FOLDS, scores, strict=True)]
            found["canonical"].setdefault(name, {})[data] = np.round(first, 5).tolist()
            if all(len(values) > repeats.CANONICAL[folds] for folds, values in zip(FOLDS, scores, strict=True)):
                found["steady"].setdefault(name, {})[data] = np.round([values.mean() for values in scores], 5).tolist()
    return found


def summarize(records: Sequence[Record]) -> dict[str, Any]:
    found = estimates(records)
    ranks: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
    for kind, control in KINDS.items():
        for name, rows in found[kind].items():
            if len(rows) > 1:
                scores = {str(folds): [row[i] for row in rows.values()] for i, folds in enumerate(FOLDS)}
                ranking = of.rank.bonferroni_dunn(scores, None, control=control, greater_is_better=True)
                mean = dict(zip(ranking.algorithms, np.round(ranking.mean_ranks, 3).tolist(), strict=True))
                ranks[kind][name] = {
                    "sets": len(rows),
                    "cd": round(ranking.cd, 3),
                    "ranks": [mean[str(f)] for f in FOLDS],
                }
    counts = {
        name: [
            next((u["repeats"] for u, *_ in records if (u["learner"], u["folds"]) == (name, f)), None) for f in FOLDS
        ]
        for name in NAMES
    }
    return {"ranks": ranks, "estimates": found, "repeats": counts}


def agreeing(result: dict[str, Any]) -> tuple[int, int]:
    """How many steady-state columns have the order 10, 5, 2, and how many there are."""
    columns = [own["ranks"] for own in result["ranks"]["steady"].values()]
    return sum(two > five > ten for two, five, ten in columns), len(columns)


def verdict(result: dict[str, Any]) -> Verdict:
    steady = result["ranks"]["steady"]
    headlines = tuple(
        Headline(
            f"steady state, {name}: mean ranks of 2, 5, 10 folds", _three(PAPER["steady"][name]), _three(own["ranks"])
        )
        for name, own in steady.items()
        if name in ("C4.5", "NB")
    )
    fewest = min((own["sets"] for own in steady.values()), default=0)
    if fewest < 10:
        return Verdict("too few repetitions", f"{fewest} data sets are complete.", headlines)
    same, of_all = agreeing(result)
    missing = [name for name in NAMES if name not in steady]
    because = f"In the steady state {same} of {of_all} learners rank 10 folds above 5 and 5 above 2, as in the paper"
    because += f"; without {' and '.join(missing)} there." if missing else "."
    return Verdict("same conclusion" if same == of_all else "partly the same", because, headlines)


def _three(ranks: Sequence[float]) -> str:
    return ", ".join(f"{rank:.2f}" for rank in ranks)


def page(result: dict[str, Any]) -> Iterator[str]:
    yield (
        "Mean ranks of the estimates over data sets, in brackets as printed; 1 is the highest AUC. A star marks "
        "ranks that differ from that of 2 folds (canonical) or of 10 folds (steady state) by more than the critical "
        "difference at 0.05."
    )
    for kind, control in KINDS.items():
        known = result["ranks"][kind]
        if not known:
            continue
        yield from ("", f"## {'Canonical estimates' if kind == 'canonical' else 'Steady state'}", "")
        names = [name for name in NAMES if name in known]
        rows = []
        for i, folds in enumerate(FOLDS):
            rows.append(
                [
                    f"{folds}-fold",
                    *(_cell(known[name], i, FOLDS.index(int(control)), PAPER[kind][name][i]) for name in names),
                ]
            )
        rows.append(["data sets (paper: 20)", *(known[name]["sets"] for name in names)])
        rows.append(["critical difference (paper: 0.709)", *(f"{known[name]['cd']:.3f}" for name in names)])
        if kind == "steady":
            counts = (", ".join(map(str, result["repeats"][name])) for name in names)
            rows.append(["repeats by 2, 5, 10 folds (paper: 500)", *counts])
        yield from table(("", *names), rows)
    yield from ("", "## Differences", "")
    yield (
        f"- The paper has 20 data sets, two of which are not public; ours are the {len(repeats.SETS)} of its Table "
        "II. Three of these are generated anew."
    )
    yield "- The learners are not WEKA's: `studies/repeats.py` says what stands in for each."
    if "MLP" not in result["ranks"]["steady"]:
        yield "- A network takes too long for hundreds of repeats, so it has no steady state."
    yield "- A canonical estimate is of one partition, so its ranks are noisy: another seed moves them by some tenths."


def _cell(own: dict[str, Any], i: int, control: int, printed: float) -> str:
    rank = own["ranks"][i]
    star = "\\*" if abs(rank - own["ranks"][control]) > own["cd"] else ""
    return f"{rank:.2f}{star} ({printed:.2f})"


def draw(result: dict[str, Any]) -> Any:
    panels = []
    for kind, title in (("canonical", "Canonical estimates"), ("steady", "Steady state")):
        known = result["ranks"][kind]
        lines = {name: (("2", "5", "10"), own["ranks"]) for name, own in known.items()}
        panels.append(Panel(title, lines, "folds", "mean rank (1: highest)", options={"ylim": (3.1, 0.9)}))
    return figure(panels)


STUDY = Study(
    name="fold-number",
    title="Do more folds give higher estimates?",
    source="Raeder, Hoens and Chawla (2010), Table I",
    units=units,
    run=repeats.run,
    summarize=summarize,
    page=page,
    verdict=verdict,
    draw=draw,
    raw="repeats",
    cost=repeats.cost,
)
