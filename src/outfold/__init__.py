"""Outfold: how good is the model you picked, really?

Keep the out-of-fold predictions of every configuration you try; everything else is a function of them.

>>> import outfold as of
>>> of.Plan(folds=5, repeats=3)
Plan(3 x 5-fold)
"""

import gc
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__
from .data import register_methods

if TYPE_CHECKING:
    from . import (
        adapters,
        compare,
        curves,
        drop,
        estimate,
        exceptions,
        intervals,
        learners,
        metrics,
        plot,
        rank,
        results,
        select,
        simulate,
        stability,
        tables,
    )
    from .advice import advise
    from .checks import check
    from .citations import cite
    from .data.cells import State
    from .data.plan import Plan
    from .data.predictions import Predictions
    from .data.scores import FoldScores, from_scores
    from .data.splitting import Splits
    from .fitting import collect, refit
    from .fitting.configs import Configs, grid
    from .io.convert import from_arrays, from_frame
    from .io.files import read
    from .io.store import load
    from .models import confront, load_model
    from .reporting import report
    from .search import RandomizedSelectCV, SelectCV

__all__ = [
    "Configs",
    "FoldScores",
    "Plan",
    "Predictions",
    "RandomizedSelectCV",
    "SelectCV",
    "Splits",
    "State",
    "adapters",
    "advise",
    "check",
    "cite",
    "collect",
    "compare",
    "confront",
    "curves",
    "drop",
    "estimate",
    "exceptions",
    "from_arrays",
    "from_frame",
    "from_scores",
    "grid",
    "intervals",
    "learners",
    "load",
    "load_model",
    "metrics",
    "plot",
    "rank",
    "read",
    "refit",
    "report",
    "results",
    "select",
    "simulate",
    "stability",
    "tables",
]

# Where names come from; a name that is not here is a module. A module is imported when a name of it is first used, so
# that `import outfold` costs next to nothing and a worker process loads the part that fits.
_NAMES = {
    "advice": ["advise"],
    "checks": ["check"],
    "citations": ["cite"],
    "data.cells": ["State"],
    "data.plan": ["Plan"],
    "data.predictions": ["Predictions"],
    "data.scores": ["FoldScores", "from_scores"],
    "data.splitting": ["Splits"],
    "fitting": ["collect", "refit"],
    "fitting.configs": ["Configs", "grid"],
    "io.convert": ["from_arrays", "from_frame"],
    "io.files": ["read"],
    "io.store": ["load"],
    "models": ["confront", "load_model"],
    "reporting": ["report"],
    "search": ["RandomizedSelectCV", "SelectCV"],
}
_SOURCES = {name: module for module, names in _NAMES.items() for name in names}

register_methods(
    join="outfold.data.joining.join_predictions",
    scores="outfold.metrics._cell_scores.cell_scores",
    leaderboard="outfold.select.leaderboard",
    selection="outfold.select.selected",
    criterion="outfold.select.criterion_of",
    criterion_words="outfold.select.criterion_words",
    save="outfold.io.store.save",
    to_frame="outfold.io.convert.to_frame",
)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    source = _SOURCES.get(name)
    if source is None:
        return _load(name)
    found = getattr(_load(source), name)
    globals()[name] = found
    return found


def _load(module: str) -> ModuleType:
    """Import a module of this package while the garbage collector waits: it would look at every object of scikit-learn."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(f".{module}", __name__)
    finally:
        if collects:
            gc.enable()


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
