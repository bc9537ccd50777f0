"""Importing the package is light: what is heavy is loaded where it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_import_loads_nothing_heavy():
    loaded = modules_after("import outfold")
    assert "outfold.estimate" not in loaded
    for heavy in ("numpy", "pandas", "polars", "pyarrow", "numba", "matplotlib", "sklearn", "scipy.stats", "joblib"):
        assert heavy not in loaded, heavy


def test_an_estimate_of_accuracy_loads_no_scikit_learn():
    statement = (
        "import outfold as of\n"
        "oof = of.from_arrays([0, 1] * 10, [[0.2, 0.7]] * 20, response='proba')\n"
        "of.estimate.bbc(oof, 'accuracy', n_resamples=50)"
    )
    loaded = modules_after(statement)
    assert "sklearn" not in loaded
    assert "pandas" not in loaded


def test_a_small_search_loads_no_numba_and_starts_no_worker():
    statement = (
        "import sys\n"
        "from joblib.externals.loky import reusable_executor\n"
        "from sklearn.datasets import make_classification\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from outfold import SelectCV\n"
        "grid = {'C': [0.1, 1.0, 10.0]}\n"
        "search = SelectCV(LogisticRegression(), grid, cv=5, scoring='roc_auc', n_jobs=2)\n"
        "search.fit(*make_classification(200, 10, random_state=0)).estimate_\n"
        "assert reusable_executor._executor is None"
    )
    loaded = modules_after(statement)
    for heavy in (
        "numba",
        "sqlite3.dbapi2",
        "matplotlib",
        "outfold.reporting",
        "outfold.compare",
        "outfold.stats.lanes",
    ):
        assert heavy not in loaded, heavy


def test_a_search_loads_neither_estimates_nor_rules_that_it_does_not_use():
    statement = (
        "from sklearn.datasets import make_classification\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from outfold import SelectCV\n"
        "search = SelectCV(LogisticRegression(), {'C': [0.1, 1.0]}, drop=False)\n"
        "search.fit(*make_classification(60, 4, random_state=0))"
    )
    loaded = modules_after(statement)
    assert "outfold.fitting.sharing.executor" in loaded
    for later in (
        "outfold.drop",
        "outfold.estimate._bbc",
        "outfold.fitting.cluster",
        "outfold.fitting.early_stopping",
        "outfold.results._estimates",
        "outfold.search.halving",
        "outfold.search.randomized",
        "outfold.stability._stop",
    ):
        assert later not in loaded, later


@pytest.mark.parametrize("switch", ["enable", "disable"])
def test_the_garbage_collector_waits_during_an_import_and_is_left_as_it_was(switch):
    statement = (
        "import gc, outfold\n"
        f"gc.{switch}()\n"
        "seen = []\n"
        "gc.callbacks.append(lambda *args: seen.append(args))\n"
        "gc.set_threshold(1)\n"
        "outfold.metrics, outfold.Predictions\n"
        "during, enabled = len(seen), gc.isenabled()\n"
        f"assert enabled is {switch == 'enable'}\n"
        "gc.disable()\n"
        "assert 'outfold.metrics' in __import__('sys').modules\n"
        "assert during <= 20, during"
    )
    modules_after(statement)
