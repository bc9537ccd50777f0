"""Time to import outfold, against the import of scikit-learn's model_selection, in new processes and in turns."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np


def seconds(statement: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def main() -> None:
    statements = {
        "outfold": "import outfold",
        "sklearn.model_selection": "import sklearn.model_selection",
        "nothing": "",
    }
    times: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(7):
        for name, statement in statements.items():
            times[name].append(seconds(statement))
    median = {name: float(np.median(t)) for name, t in times.items()}
    for name, value in median.items():
        print(f"{name:<28}{value:6.2f} s")
    print(f"outfold / sklearn.model_selection   {median['outfold'] / median['sklearn.model_selection']:.2f}")


if __name__ == "__main__":
    main()
