"""The same with feature selection: Tables 9 to 14 and Figures 3 and 6 of Tsamardinos, Rakhshani and Lagani (2015).

Everything is as in `protocol_bias`, but before each of the 236 configurations the features are all kept, or selected by a
univariate test at two levels, or by SES at two levels with two sizes of conditioning sets: 1,652 configurations.
Subsamples are few, because each takes long; nested cross-validation, which takes five times as long, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import protocol_bias
from harness import Headline, Record, Size, Study, Unit, Verdict, concluded, printed
from harness.pages import table
from harness.pictures import Panel, figure
from harness.protocols import NAMES
from harness.registry import read

from outfold.learners import spaces

SUBSAMPLES = 5
SAMPLES = (20, 40, 60, 80, 100)
# As printed: Tables 9 and 12 (bias), columns as in `protocol_bias`; Tables 11 and 14 (truth).
PAPER = {
    "roc_auc": {
        "bias": printed.by_number("""
20 0.2589 0.2821 0.0651 0.0128 0.2139 0.1487 -0.0634 -0.1124
40 0.1628 0.1729 0.0698 0.0418 0.0886 0.0691 -0.0359 -0.0418
60 0.1257 0.1349 0.0540 0.0362 0.0510 0.0563 -0.0081 -0.0084
80 0.1034 0.1094 0.0475 0.0484 0.0321 0.0381 -0.0222 -0.0170
100 0.0985 0.1029 0.0595 0.0525 0.0284 0.0294 0.0174 0.0017
"""),
        "truth": printed.by_number("""
20 0.6887 0.6871
40 0.7496 0.7471
60 0.7794 0.7720
80 0.7983 0.7944
100 0.8090 0.8030
"""),
    },
    "accuracy": {
        "bias": printed.by_number("""
20 0.1439 0.1507 0.0555 0.0214 0.0763 0.0757 -0.0231 -0.0612
40 0.0855 0.0854 0.0505 0.0395 0.0236 0.0185 -0.0060 -0.0325
60 0.0690 0.0671 0.0411 0.0393 0.0121 0.0075 0.0035 0.0039
80 0.0601 0.0583 0.0368 0.0395 0.0044 0.0026 0.0095 -0.0013
100 0.0598 0.0584 0.0418 0.0378 0.0028 0.0005 0.0144 0.0132
"""),
        "truth": printed.by_number("""
20 0.7571 0.7542
40 0.8051 0.8001
60 0.8206 0.8204
80 0.8308 0.8303
100 0.8333 0.8320
"""),
    },
}


def units(size: Size) -> Iterable[Unit]:
    """The stratified ones of two subsamples first: conclusions are drawn from these."""
    if size != "full":
        return [{"data": "magic_gamma", "n": 20, "stratified": True, "subsample": 0}]
    return [
        {"data": data, "n": n, "stratified": stratified, "subsample": subsample}
        for part in (range(2), range(2, SUBSAMPLES))
        for stratified in (True, False)
        for subsample in part
        for n in SAMPLES
        for data, most in protocol_bias.SETS.items()
        if n <= most
    ]


def cost(unit: Unit) -> float:
    return 1 + unit["n"] / 30


def run(unit: Unit) -> dict[str, Any]:
    return protocol_bias.evaluate(unit, spaces.tsamardinos2015_wfs, nested=False)


def summarize(records: Sequence[Record]) -> dict[str, Any]:
    """As without feature selection, whose rows stand beside."""
    plain = read("protocol-bias") or {"rows": []}
    without = [row for row in plain["rows"] if row["stratified"] and row["n"] in SAMPLES]
    return protocol_bias.summarize(records) | {"without": without}


def verdict(result: dict[str, Any]) -> Verdict:
    headlines = []
    for n in (20, 100):
        row = protocol_bias.cell(result, "roc_auc", n)
        for i, name in enumerate(protocol_bias.PRINTED[:3]):
            if row and row[name]["mean"] is not None:
                ours = f"{row[name]['mean']:+.3f} ± {row[name]['se'] or 0:.3f}"
                headlines.append(
                    Headline(
                        f"bias of AUC, {NAMES[name]}, {n} samples", f"{PAPER['roc_auc']['bias'][n][2 * i]:+.3f}", ours
                    )
                )
    rows = [row for row in result["rows"] if row["stratified"]]
    fewest = min((row["cvm"]["n"] for row in rows), default=0)
    if fewest < 6 or {row["n"] for row in rows} != set(SAMPLES):
        return Verdict("too few repetitions", f"The fewest subsamples of a size are {fewest}.", tuple(headlines))
    pairs = [(row, protocol_bias.cell({"rows": result["without"]}, row["metric"], row["n"])) for row in rows]
    more = [row["cvm"]["mean"] - other["cvm"]["mean"] for row, other in pairs if other]
    claims = {
        "CVM is too good at every size": all(row["cvm"]["mean"] > 0 for row in rows),
        "TT lowers it": all(row["cvm"]["mean"] > row["tt"]["mean"] for row in rows),
        "on average it is more flattering than without selection": bool(more) and float(np.mean(more)) > 0,
    }
    return concluded(claims, "Few subsamples of five data sets.", headlines)


def page(result: dict[str, Any]) -> Iterator[str]:
    yield (
        "Mean bias over data sets and subsamples, in brackets as printed; NS is not stratified. The columns NFS are "
        "without feature selection, from [protocol-bias](protocol-bias.md)."
    )
    for metric, title in (
        ("roc_auc", "AUC (Tables 9 and 11, Figure 3)"),
        ("accuracy", "Accuracy (Tables 12 and 14, Figure 6)"),
    ):
        rows = list(_rows(result, metric))
        if rows:
            yield from ("", f"## {title}", "")
            header = (
                "N",
                "subsamples",
                *(f"{kind}{name}" for name in NAMES.values() for kind in ("", "NS-")),
                "CVM, NFS",
                "truth",
                "truth, NS",
            )
            yield from table(header, rows)
    yield from ("", "## Differences", "")
    yield from protocol_bias.DIFFERENCES
    yield (
        f"- At most {SUBSAMPLES} subsamples of each set and size instead of 30, and no nested cross-validation, which "
        "takes five times as long as all others. 7 x 236 = 1,652 configurations; the text says 1,729 = 7 x 247."
    )


def _rows(result: dict[str, Any], metric: str) -> Iterator[list[Any]]:
    for n in SAMPLES:
        pair = [protocol_bias.cell(result, metric, n, stratified) for stratified in (True, False)]
        if not any(pair):
            continue
        cells: list[str] = []
        for name in NAMES:
            for j, row in enumerate(pair):
                own = "" if row is None or row[name]["mean"] is None else f"{row[name]['mean']:+.3f}"
                index = protocol_bias.PRINTED.index(name) if name in protocol_bias.PRINTED else None
                cells.append(own if index is None else f"{own} ({PAPER[metric]['bias'][n][2 * index + j]:+.3f})")
        other = protocol_bias.cell({"rows": result["without"]}, metric, n)
        truths = [
            "" if row is None else f"{row['truth']:.3f} ({PAPER[metric]['truth'][n][j]:.3f})"
            for j, row in enumerate(pair)
        ]
        count = (pair[0] or pair[1])["cvm"]["n"]
        yield [n, count, *cells, "" if other is None else f"{other['cvm']['mean']:+.3f}", *truths]


def draw(result: dict[str, Any]) -> Any:
    panels = []
    for metric, title in (("roc_auc", "AUC"), ("accuracy", "accuracy")):
        for kind, found in (("with selection", result["rows"]), ("without", result["without"])):
            rows = [row for row in found if (row["metric"], row["stratified"]) == (metric, True)]
            lines = {
                label: ([row["n"] for row in rows], [row[name]["mean"] for row in rows])
                for name, label in NAMES.items()
            }
            panels.append(Panel(f"{title}, {kind}", lines, "samples", "bias", 0.0))
    return figure(panels)


STUDY = Study(
    name="protocol-bias-wfs",
    title="Bias of the protocols on real data, with feature selection",
    source="Tsamardinos, Rakhshani and Lagani (2015), Tables 9-14, Figures 3, 6",
    units=units,
    run=run,
    summarize=summarize,
    page=page,
    verdict=verdict,
    draw=draw,
    cost=cost,
)
