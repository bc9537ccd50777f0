"""Tells scikit-learn's callbacks what a search does, as its own searches do (scikit-learn 1.9 and later).

The tree of tasks is theirs: the fit, in it the search with one task for each configuration and split, then the refit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..data.splitting import Splits
from ..exceptions import got, invalid
from ..fitting.data import FitRows

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


class Callbacks:
    """The callbacks of one fit of a search.

    It is called around every fit of a model, in the worker; so it is sent there, without the data.
    """

    def __init__(self, search: Any, X: Any, y: Any, weights: Any) -> None:
        self._owner, self._raises = search, search.error_score == "raise"
        self._data = {"X": X, "y": y, "metadata": _metadata(weights)}
        self._root = search._init_callback_context(max_subtasks=1 + (search.refit is not False))
        self._root.call_on_fit_task_begin(estimator=search, **self._data)
        self._search: Any = None
        self._positions: dict[str, int] = {}
        self._n_folds = self._n_cells = 0
        self._more = ""

    @classmethod
    def of(cls, search: Any, X: Any, y: Any, weights: Any) -> Callbacks | None:
        """The callbacks of a search; None if nobody listens."""
        listening = getattr(search, "_skl_callbacks", None) or hasattr(search, "_parent_callback_ctx")
        if listening and search.seeds > 1:
            needed = "must be 1 if the search has callbacks, which follow single fits"
            raise invalid(
                "seeds", needed, got(search.seeds), "Remove the callbacks; `verbose=1` shows a progress line."
            )
        return cls(search, X, y, weights) if listening else None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_data": {}}

    def begin_search(self, names: list[str], splits: Splits, more: str = "") -> None:
        """The configurations and splits are known, except that ``"configs"`` or ``"repeats"`` of `more` may follow."""
        self._n_folds, self._n_cells, self._more = splits.n_folds, splits.n_repeats * splits.n_folds, more
        for name in names:
            self._positions.setdefault(name, len(self._positions))
        if self._search is None:  # a sampler begins once, and asks many times
            n = None if more else len(names) * len(splits.cells)
            self._search = self._root.subcontext("search", max_subtasks=n, sequential_subtasks=False)
            self._search.call_on_fit_task_begin(estimator=self._owner)

    def end_search(self) -> None:
        """All fits of the search are done."""
        self._search.call_on_fit_task_end(estimator=self._owner)

    @contextmanager
    def __call__(self, name: str, cell: tuple[int, int], model: Any, rows: FitRows) -> Iterator[None]:
        """Around the fit of one configuration on one split."""
        task = self._search.subcontext("candidate-split-evaluation", task_id=self._task_id(name, cell))
        data = {"X": rows.X, "y": rows.y, "metadata": _metadata(rows.fit_params.get("sample_weight"))}
        try:
            with task.propagate_callback_context(model):
                task.call_on_fit_task_begin(estimator=self._owner, **data)
                yield
        except Exception:
            if not self._raises:  # the search goes on
                task.call_on_fit_task_end(estimator=self._owner, **data)
            raise
        task.call_on_fit_task_end(estimator=self._owner, **data)

    def _task_id(self, name: str, cell: tuple[int, int]) -> int:
        """A number for each configuration and split; what may be added later counts slower."""
        position, split = self._positions[name], cell[0] * self._n_folds + cell[1]
        return split * len(self._positions) + position if self._more == "repeats" else position * self._n_cells + split

    @contextmanager
    def refitting(self, model: Any) -> Iterator[None]:
        """Around the fit of the selected configuration on all samples."""
        task = self._root.subcontext("refit-with-best-params")
        with task.propagate_callback_context(model):
            task.call_on_fit_task_begin(estimator=self._owner, **self._data)
            yield
        task.call_on_fit_task_end(estimator=self._owner, **self._data)

    def end(self) -> None:
        """The fit of the search is done."""
        self._root.call_on_fit_task_end(estimator=self._owner, **self._data)


def _metadata(weights: Any) -> dict[str, Any] | None:
    return None if weights is None else {"sample_weight": weights}
