"""Probabilities of WEKA's ``NaiveBayes -K`` on simulated rows.

``python weka_naive_bayes.py weka.jar`` writes the json file beside it.

The numbers of each column fill a grid, so that WEKA's rounding to its grid changes nothing. The grid is fine, so that WEKA's
probability of a cell is the density times its width.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

N_TRAIN, N_TEST = 1500, 40
LEVELS = ("low", "middle", "high")
CLASSES = ("a", "b", "c")


def simulated() -> tuple[Any, Any, Any, Any]:
    """Three numbers, a category (-1 where missing) and classes of training rows, and numbers and categories of test rows."""
    rng = np.random.default_rng(7)
    y = rng.choice(3, N_TRAIN, p=[0.5, 0.3, 0.2])
    raw = rng.normal(size=(N_TRAIN, 3)) + np.array([[0, 0, 0], [1.2, 0, 0.5], [0, -1, 1]])[y]
    raw[:, 1] *= np.where(y == 0, 3.0, 1.0)
    numbers = raw.argsort(axis=0).argsort(axis=0) / 100.0
    category = (rng.random(N_TRAIN) < 0.5 + 0.1 * y).astype(int) + (rng.random(N_TRAIN) < 0.3)
    category[::50] = -1
    tested = rng.integers(0, N_TRAIN, size=(N_TEST, 3)) / 100.0
    tested[::7, 0] = np.nan
    return numbers, category, y, (tested, rng.integers(-1, 3, size=N_TEST))


def arff(numbers: Any, category: Any, y: Any) -> str:
    head = ["@relation simulated", *(f"@attribute x{j} numeric" for j in range(3))]
    head += [f"@attribute level {{{','.join(LEVELS)}}}", f"@attribute class {{{','.join(CLASSES)}}}", "@data"]
    rows = (
        [*("?" if np.isnan(v) else f"{v:.2f}" for v in row), "?" if level < 0 else LEVELS[level], CLASSES[label]]
        for row, level, label in zip(numbers, category, y, strict=True)
    )
    return "\n".join([*head, *map(",".join, rows), ""])


def main() -> None:
    numbers, category, y, (tested, levels) = simulated()
    with TemporaryDirectory() as folder:
        train, test = Path(folder, "train.arff"), Path(folder, "test.arff")
        train.write_text(arff(numbers, category, y))
        test.write_text(arff(tested, levels, np.zeros(N_TEST, dtype=int)))
        command = ["java", "-cp", sys.argv[1], "weka.classifiers.bayes.NaiveBayes", "-K"]
        command += ["-t", str(train), "-T", str(test), "-p", "0", "-distribution"]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = [re.sub(r"[*\s]", "", line.split()[-1]).split(",") for line in printed.splitlines() if "," in line]
    proba = [list(map(float, row)) for row in found if len(row) == len(CLASSES)]
    assert len(proba) == N_TEST
    what = "WEKA 3.6.14 (Debian), weka.classifiers.bayes.NaiveBayes -K, probabilities as printed"
    Path(__file__).with_suffix(".json").write_text(json.dumps({"what": what, "proba": proba}) + "\n")


if __name__ == "__main__":
    main()
