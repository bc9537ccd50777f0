"""Spaces by their names, or from a Python file."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from ...arguments import check_choice
from ...docstrings import fill_with
from ...exceptions import FileError, InputError, invalid
from ...fitting.configs import Configs, as_configs
from . import papers, ready
from .table import Kind
from .texts import TEXTS

# What sends estimators to workers: joblib's own copy of cloudpickle up to joblib 1.5, cloudpickle itself since.
_PICKLERS = ("joblib.externals.cloudpickle", "cloudpickle")

Task = Literal["classification", "regression", "survival"]
MakeSpace = Callable[[Any, Any, Task, Mapping[str, Kind] | None], Configs]


def _ready(name: Literal["small", "standard", "thorough"]) -> MakeSpace:
    def make(X: Any, y: Any, task: Task, kinds: Mapping[str, Kind] | None = None) -> Configs:
        if task == "survival":
            from . import survival

            return survival.SPACES[name](X, kinds)
        # By its name, so that whoever replaces a space in this module is heard.
        space: Configs = getattr(ready, name)(X, y, task, kinds)
        return space

    return make


def _of_paper(name: str) -> MakeSpace:
    def make(X: Any, y: Any, task: Task, kinds: Mapping[str, Kind] | None = None) -> Configs:
        if task != "classification":
            raise invalid(f"the space {name!r}", "is for classes", f"the task is {task}", "Use `space='standard'`.")
        if name == "tsamardinos2018":
            return papers.tsamardinos2018(X, y, kinds=kinds)
        space: Configs = getattr(papers, name)(X, kinds)
        return space

    return make


# What makes each space, from X, y, the task and the kinds of the columns.
SPACES: Mapping[str, MakeSpace] = {
    "small": _ready("small"),
    "standard": _ready("standard"),
    "thorough": _ready("thorough"),
    "tsamardinos2015": _of_paper("tsamardinos2015"),
    "tsamardinos2015_wfs": _of_paper("tsamardinos2015_wfs"),
    "tsamardinos2018": _of_paper("tsamardinos2018"),
}


@fill_with(TEXTS)
def make_space(
    name_or_file: str | Path, X: Any, y: Any, task: Task, kinds: Mapping[str, Kind] | None = None
) -> Configs:
    """The configurations of a space, for a table and a task.

    Parameters
    ----------
    name_or_file : str or path
        ``"small"`` (60 configurations), ``"standard"`` (about 250), ``"thorough"`` (about 1,000), ``"tsamardinos2015"`` (236),
        ``"tsamardinos2015_wfs"`` (1652) or ``"tsamardinos2018"`` (610), or a Python file. The file must define
        ``configs(X, y, task)``, which gives what `collect` takes: a `Configs`, or a dict of estimators by name.
    {X}
    y : array-like
        The labels. The ready spaces look at the number of classes, and of members of the smallest one.
        ``tsamardinos2018`` also chooses penalties by y.
    task : {"classification", "regression", "survival"}
        What is predicted.
    {kinds, configs}
    >>> from outfold.learners.spaces import make_space
    >>> make_space("small", np.zeros((100, 4)), np.arange(100) % 2, "classification")
    <Configs: 60 configurations (logit(C=0.001), logit(C=0.003), logit(C=0.01), logit(C=0.03), …)>
    """
    check_choice(task, ("classification", "regression", "survival"), "task")
    if str(name_or_file) in SPACES:
        return SPACES[str(name_or_file)](X, y, task, kinds)
    path = Path(name_or_file)
    if path.suffix != ".py":
        near = get_close_matches(str(name_or_file), SPACES, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        needed = f"must be one of {', '.join(map(repr, SPACES))}, or a Python file that ends with .py"
        raise invalid("space", needed, f"got {str(name_or_file)!r}", f"{hint}".strip())
    return _from_file(path, X, y, task)


def _from_file(path: Path, X: Any, y: Any, task: Task) -> Configs:
    if not path.is_file():
        raise FileError(f"there is no file {path}.")
    made = getattr(_load(path), "configs", None)
    if not callable(made):
        raise InputError(f"{path.name} must define the function configs(X, y, task)")
    configs = as_configs(made(X, y, task))
    if not configs:
        raise InputError(f"configs of {path.name} gave no configuration")
    return configs


def _load(path: Path) -> ModuleType:
    """The module of a file. Workers get its classes by value: they could not import it."""
    name = f"outfold_space_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        problem = f"{path} cannot be run ({type(error).__name__}: {error})."
        raise InputError(problem, remedy="Run it with python to see where.") from error
    for pickler in _PICKLERS:
        with suppress(ImportError):
            importlib.import_module(pickler).register_pickle_by_value(module)
    return module
