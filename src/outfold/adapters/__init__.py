"""Doors to other tools: their searches, logs and tables as `Predictions`.

A function ``from_...`` takes an object of the other library, ``read_...`` takes its files. Each one ends in `Predictions`, which
every estimate, comparison and report reads. The other libraries are imported only where one of these functions needs them.

>>> from outfold import adapters
>>> "from_search" in adapters.__all__
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..laziness import lazy_names

if TYPE_CHECKING:
    from ._automl import from_autogluon
    from ._export import to_table, write_table
    from ._helm import read_helm
    from ._inspect import read_inspect
    from ._lm_eval import read_lm_eval, read_lm_eval_results
    from ._mlflow import log_mlflow, read_mlflow
    from ._optuna import StudyCallback, from_study
    from ._promptfoo import read_promptfoo
    from ._sklearn import collect_search, from_cross_val_predict, from_search
    from ._skore import from_skore, to_skore
    from ._tables import read_mlr3, read_tidymodels
    from ._weka import read_weka, read_weka_table

_LATER = {
    "_automl": "from_autogluon",
    "_export": "to_table write_table",
    "_helm": "read_helm",
    "_inspect": "read_inspect",
    "_lm_eval": "read_lm_eval read_lm_eval_results",
    "_mlflow": "log_mlflow read_mlflow",
    "_optuna": "StudyCallback from_study",
    "_promptfoo": "read_promptfoo",
    "_sklearn": "collect_search from_cross_val_predict from_search",
    "_skore": "from_skore to_skore",
    "_tables": "read_mlr3 read_tidymodels",
    "_weka": "read_weka read_weka_table",
}
__getattr__, __dir__ = lazy_names(__name__, _LATER)

__all__ = [
    "StudyCallback",
    "collect_search",
    "from_autogluon",
    "from_cross_val_predict",
    "from_search",
    "from_skore",
    "from_study",
    "log_mlflow",
    "read_helm",
    "read_inspect",
    "read_lm_eval",
    "read_lm_eval_results",
    "read_mlflow",
    "read_mlr3",
    "read_promptfoo",
    "read_tidymodels",
    "read_weka",
    "read_weka_table",
    "to_skore",
    "to_table",
    "write_table",
]
