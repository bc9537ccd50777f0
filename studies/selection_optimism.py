"""How good the best of several equally good models looks: Table 1 of Tsamardinos, Rakhshani and Lagani (2015), exactly.

The paper simulates 10,000 times. With C independent models of accuracy p on M samples, the number of right answers of the best
has the distribution function G(k)^C, where G is that of the binomial(M, p). Mean and percentiles follow without simulating.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from harness import Headline, Record, Size, Study, Unit, Verdict, printed
from harness.pages import table
from harness.pictures import Panel, figure
from scipy.special import bdtr

import outfold as of

ACCURACY = 0.85
SAMPLES = (20, 40, 80, 100, 500, 1000)
# As printed, by the number of models: mean, 5th and 95th percentile for each number of samples.
PAPER = printed.by_number("""
5 0.935 0.85 1.00  0.913 0.85 0.97  0.895 0.86 0.94  0.891 0.86 0.93  0.868 0.85 0.89  0.863 0.85 0.88
10 0.959 0.90 1.00  0.930 0.90 0.97  0.908 0.88 0.94  0.902 0.87 0.93  0.874 0.86 0.89  0.867 0.86 0.88
20 0.977 0.95 1.00  0.946 0.90 0.97  0.920 0.89 0.95  0.913 0.89 0.94  0.879 0.87 0.89  0.871 0.86 0.88
50 0.993 0.95 1.00  0.961 0.93 1.00  0.933 0.91 0.96  0.925 0.90 0.95  0.885 0.87 0.90  0.875 0.87 0.88
100 0.999 1.00 1.00  0.971 0.95 1.00  0.941 0.93 0.96  0.932 0.91 0.95  0.889 0.88 0.90  0.878 0.87 0.89
1000 1.000 1.00 1.00  0.994 0.97 1.00  0.962 0.95 0.97  0.952 0.94 0.97  0.899 0.89 0.91  0.885 0.88 0.89
""")
# What 10,000 simulations leave to chance, three standard errors and half a digit.
CHANCE = 0.001


def units(size: Size) -> Iterable[Unit]:
    return [{"models": c, "samples": m} for c in PAPER for m in SAMPLES]


def percentile(c: int, m: int, share: float) -> float:
    """The smallest k/M with G(k)^C >= share."""
    below = bdtr(np.arange(m + 1), m, ACCURACY) ** c
    return float(np.argmax(below >= share)) / m


def run(unit: Unit) -> dict[str, Any]:
    c, m = unit["models"], unit["samples"]
    mean = of.simulate.expected_best(ACCURACY, n_configs=c, n_samples=m)
    return {"mean": round(mean, 5), "low": percentile(c, m, 0.05), "high": percentile(c, m, 0.95)}


def summarize(records: Sequence[Record]) -> dict[str, Any]:
    cells = []
    for unit, row, _ in records:
        place = 3 * SAMPLES.index(unit["samples"])
        mean, low, high = PAPER[unit["models"]][place : place + 3]
        cells.append(unit | row | {"paper": [mean, low, high]})
    gaps = [abs(cell["mean"] - cell["paper"][0]) for cell in cells]
    ends = [(cell[name], cell["paper"][i]) for cell in cells for i, name in ((1, "low"), (2, "high"))]
    same = sum(f"{own:.2f}" == f"{printed:.2f}" for own, printed in ends)
    return {"cells": cells, "largest_gap": round(max(gaps), 5), "ends": len(ends), "same_ends": same}


def verdict(result: dict[str, Any]) -> Verdict:
    largest, same, ends = result["largest_gap"], result["same_ends"], result["ends"]
    because = f"All means agree to {largest:.4f}, and {same} of {ends} percentiles have the printed digits."
    few = next(cell for cell in result["cells"] if (cell["models"], cell["samples"]) == (100, 20))
    headline = Headline(
        "accuracy reported for the best of 100 models of 0.85, 20 samples", "0.999", f"{few['mean']:.3f}"
    )
    return Verdict("matched" if largest <= CHANCE and same == ends else "differs", because, (headline,))


def page(result: dict[str, Any]) -> Iterator[str]:
    cells = {(cell["models"], cell["samples"]): cell for cell in result["cells"]}
    header = ("models", *(f"{m:,} samples" for m in SAMPLES))
    yield (
        "Ours are exact, from `simulate.expected_best` and the distribution function behind it. The paper's are of "
        f"10,000 simulations. Each model is right with probability {ACCURACY}. Mean accuracy of the best, in brackets "
        "as printed:"
    )
    yield ""
    rows = [[f"{c:,}", *(f"{cells[c, m]['mean']:.3f} ({cells[c, m]['paper'][0]:.3f})" for m in SAMPLES)] for c in PAPER]
    yield from table(header, rows)
    yield ""
    yield (
        f"The largest difference is {result['largest_gap']:.4f}, which 10,000 simulations leave to chance. 5th and "
        f"95th percentiles; {result['same_ends']} of {result['ends']} are the printed ones to both digits:"
    )
    yield ""
    rows = [[f"{c:,}", *(f"{cells[c, m]['low']:.3f}; {cells[c, m]['high']:.3f}" for m in SAMPLES)] for c in PAPER]
    yield from table(header, rows)


def draw(result: dict[str, Any]) -> Any:
    lines = {
        f"{c:,} models": (SAMPLES, [cell["mean"] for cell in result["cells"] if cell["models"] == c]) for c in PAPER
    }
    options = {"xscale": "log"}
    return figure(
        [Panel("Reported accuracy of the best", lines, "test samples", "mean", ACCURACY, options=options)], height=3.2
    )


STUDY = Study(
    name="selection-optimism",
    title="How flattering is the best of many?",
    source="Tsamardinos, Rakhshani and Lagani (2015), Table 1",
    units=units,
    run=run,
    summarize=summarize,
    page=page,
    verdict=verdict,
    draw=draw,
)
