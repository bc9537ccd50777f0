"""Importing the package is light: what is heavy is loaded where it is used."""

from __future__ import annotations

import subprocess
import sys


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
