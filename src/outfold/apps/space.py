"""The configurations of a run: those of its space, and those that were tried in the folder before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.ledger import TEST_PART
from ..data.plan import Plan
from ..data.predictions import Predictions, State
from ..data.target import encode
from ..exceptions import InputError, OutfoldError, StoreMismatchError
from ..fitting.configs import Configs, as_configs
from ..fitting.data import as_features, digest
from ..fitting.test_part import training_rows
from ..io.store import load
from ..learners import spaces
from .folder import ANSWER, SEARCH, RunFolder
from .table import LabelledTable

SpaceLike = str | Path | Configs | Callable[[Any, Any, str], Any]


class Space(NamedTuple):
    """The configurations to try, and how many of them come from earlier runs in the folder alone."""

    configs: Configs
    name: str
    n_earlier: int = 0

    def in_words(self, n_finished: int) -> str:
        """What a model card says of the search."""
        finished = "" if n_finished == len(self.configs) else f"the {n_finished:,} that were finished of "
        earlier = f" and {self.n_earlier:,} of earlier runs in the same folder" if self.n_earlier else ""
        return f"It was selected among {finished}{formatting.count(len(self.configs), 'configuration')} ({self.name}{earlier})."


class SpaceMaker:
    """Makes spaces for the training rows of a table: those of a test part may tell nothing, not even the space."""

    def __init__(self, table: LabelledTable, plan: Plan, positive: str | None, seed: int) -> None:
        target = encode(table.y, task=table.task, positive=positive)
        rows = training_rows(plan, target, table.groups, seed)
        self.table, self.rows = table, rows
        self.X, self.y = table.X.iloc[rows].reset_index(drop=True), table.y[rows]

    def make(self, space: SpaceLike) -> Space:
        """The space that was asked for."""
        name = f"the space {str(space)!r}" if isinstance(space, str | Path) else "given in Python"
        if isinstance(space, Configs):
            return Space(space, name)
        if callable(space):
            return Space(as_configs(space(self.X, self.y, self.table.task)), name)
        return Space(self._ready(space), name)

    def with_earlier(self, space: Space, folder: RunFolder) -> Space:
        """The space with what was tried in the folder before: the best of all is selected, so all must count.

        Configurations are rebuilt from the ready spaces. An error names those that are in none.
        """
        tried = [name for name in self._tried(folder) if name not in space.configs]
        missing = set(tried)
        for name in spaces.SPACES if missing else ():
            with suppress(InputError):  # a space of another task
                ready = self._ready(name)
                if missing <= set(ready):
                    return Space(_joined(space.configs, ready, missing), space.name, len(missing))
        if missing:
            n = formatting.count(len(tried), "configuration")
            problem = f"{folder.path} has predictions of {n} that this space lacks: {formatting.listed(tried)}"
            remedy = "All that was tried must count: add them to the space, or use another `out`."
            raise StoreMismatchError(problem, remedy=remedy)
        return space

    def _ready(self, name: str | Path) -> Configs:
        table = self.table
        return spaces.make_space(name, self.X, self.y, table.task, table.columns.kinds)

    def _tried(self, folder: RunFolder) -> list[str]:
        """The configurations that are finished in the folder; none if it is of other rows, as `collect` will say."""
        found = [oof for oof in (stored(folder / name) for name in (SEARCH, ANSWER)) if oof is not None]
        if not found:
            return []
        mark = digest(as_features(self.table.X, len(self.table.y)))
        return list(dict.fromkeys(name for oof in found if _data_of(oof) == mark for name in finished_in(oof)))


def _joined(configs: Configs, ready: Configs, missing: set[str]) -> Configs:
    """Both, in the order of the ready space if that has all of them: the order decides between equal ones."""
    earlier = Configs({name: ready[name] for name in ready if name in missing}, ready.params)
    both = configs | earlier
    if not set(configs) <= set(ready):
        return both
    return Configs({name: both[name] for name in ready if name in both}, both.params)


def _data_of(oof: Predictions) -> Any:
    """The hash of the features of all rows, with those of a test part."""
    return oof.provenance.get(TEST_PART, oof.provenance).get("data")


def stored(path: Path) -> Predictions | None:
    """What a file holds; None if it cannot be read, as `collect` will say."""
    with suppress(OutfoldError):
        return load(path) if path.exists() else None
    return None


def names_in(path: Path, where: Callable[[Predictions], Iterable[str]]) -> list[str]:
    """Some of the configurations in a file; none if it cannot be read."""
    oof = stored(path)
    return [] if oof is None else list(where(oof))


def finished_in(oof: Predictions) -> list[str]:
    """The configurations with nothing left to fit."""
    return _chosen(oof, ~np.any(oof.state[:, oof.planned] == State.PENDING, axis=1))


def begun_in(oof: Predictions) -> list[str]:
    """The configurations of which something is fitted."""
    return _chosen(oof, np.any(oof.state != State.PENDING, axis=(1, 2)))


def _chosen(oof: Predictions, where: NDArray[np.bool_]) -> list[str]:
    return [name for name, there in zip(oof.configs, where, strict=True) if there]
