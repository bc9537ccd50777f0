"""Where the time of a search goes, layer by layer: ``python benchmarks/layers.py [--quick] [--keep]``.

A profiler slows small functions down more than large ones, so that the shares are rough; the seconds are without it.
"""

from __future__ import annotations

import cProfile
import pstats
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from measuring import Results, arguments, cpu_seconds
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

import outfold as of
from outfold.learners import spaces

# (what a person would call it, file, function): cumulative times, none of which contains another (what is fitted for a
# spot check counts there only).
LAYERS = (
    ("checking arguments, splitting, templates, the plan", "fitting/job.py", "make_job"),
    ("rows and shared steps", "fitting/sharing/transform_cache.py", "follow"),
    ("fits of families", "fitting/sharing/executor.py", "_try"),
    ("predictions of families", "fitting/sharing/executor.py", "_predict"),
    ("spot checks", "fitting/sharing/executor.py", "_verified"),
    ("models on shared rows", "fitting/sharing/executor.py", "_fit_model"),
    ("configurations fitted alone", "fitting/sharing/executor.py", "fit_alone"),
    ("taking in what was predicted", "fitting/dispatcher.py", "_take"),
    ("asking who is dropped", "fitting/early_stopping.py", "_ask"),
    ("scores of all folds", "search/estimator.py", "_set_table"),
    ("selection", "search/estimator.py", "_select"),
    ("the final fit", "fitting/api.py", "refit_one"),
)


def main() -> None:
    args = arguments(__doc__).parse_args()
    results = Results("layers", args.keep)
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[: 100 if args.quick else 500]
    X, y = X[rows], y[rows]
    configs = spaces.tsamardinos2015(X)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for title, options in (
            ("exact", {"drop": None}),
            ("close", {"drop": None, "share": "close"}),
            ("close, dropping", {"share": "close"}),
        ):
            search = lambda options=options: of.SelectCV(configs, scoring="roc_auc", cv=10, **options).fit(X, y)  # noqa: E731
            results.add(title, **shares(title, search, len(y)))


def shares(title: str, search: Callable[[], Any], n: int) -> dict[str, float]:
    """The share of every layer, and the CPU seconds of the whole without the profiler."""
    seconds = min(cpu_seconds(search) for _ in range(2))
    profile = cProfile.Profile()
    profile.enable()
    search()
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in stats.values())
    print(f"\n236 configurations, {n} samples, 10 folds, {title}: {seconds:.2f} s")
    rest, out = total, {"seconds": seconds}
    for name, file, function in LAYERS:
        callers = [by for (path, _, f), (*_, by) in stats.items() if path.endswith(file) and f == function]
        found = sum(cum for by in callers for (_, _, f), (*_, cum) in by.items() if f != "_verified")
        rest -= found
        out[name] = found / total
        if found / total > 0.005:
            print(f"  {name:<52}{found / total:>6.0%}")
    print(f"  {'everything else':<52}{rest / total:>6.0%}", flush=True)
    return out | {"everything else": rest / total}


if __name__ == "__main__":
    main()
