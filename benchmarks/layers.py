"""Where the time of a search goes, layer by layer: ``python benchmarks/layers.py``.

A profiler slows small functions down more than large ones, so that the shares are rough; the seconds are without it.
"""

from __future__ import annotations

import cProfile
import pstats
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

import outfold as of
from outfold.learners import spaces

# (what a person would call it, file, function): cumulative times, none of which contains another.
LAYERS = (
    ("checking arguments, splitting, templates and routes", "_collect/entry.py", "prepare"),
    ("rows and shared steps", "_collect/trunk.py", "reach"),
    ("fits of families", "_collect/together.py", "_try"),
    ("predictions of families", "_collect/together.py", "_read"),
    ("spot checks", "_collect/together.py", "_checked"),
    ("models on shared rows", "_collect/together.py", "_fit_model"),
    ("configurations fitted alone", "_collect/work.py", "fit_alone"),
    ("taking in what was predicted", "_collect/filling.py", "_take"),
    ("asking who is dropped", "_collect/race.py", "_ask"),
    ("scores of all folds, selection", "_search/estimator.py", "_take_stock"),
    ("the final fit", "_collect/final.py", "refit"),
)


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:500]
    X, y = X[rows], y[rows]
    configs = spaces.tsamardinos2015(X)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for title, options in (
            ("exact", {"drop": None}),
            ("close", {"drop": None, "share": "close"}),
            ("close, dropping", {"share": "close"}),
        ):
            show(title, lambda options=options: of.SelectCV(configs, scoring="roc_auc", cv=10, **options).fit(X, y))


def show(title: str, search: Callable[[], Any]) -> None:
    search()
    start = time.process_time()
    search()
    seconds = time.process_time() - start
    profile = cProfile.Profile()
    profile.enable()
    search()
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in stats.values())
    print(f"\n236 configurations, 500 samples, 10 folds, {title}: {seconds:.2f} s")
    rest = total
    for name, file, function in LAYERS:
        found = sum(cum for (path, _, f), (_, _, _, cum, _) in stats.items() if path.endswith(file) and f == function)
        rest -= found
        if found / total > 0.005:
            print(f"  {name:<52}{found / total:>6.0%}")
    print(f"  {'everything else':<52}{rest / total:>6.0%}")


if __name__ == "__main__":
    main()
