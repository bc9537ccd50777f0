"""Progress through scikit-learn's callbacks, where its version has them."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


__all__ = ["Announcer", "CallbackSupportMixin", "with_callbacks"]


class Announcer:
    """Tells the callbacks of a search when its fit begins, when a cell is finished, and when it ends."""

    def __init__(self, search: Any, X: Any, y: Any) -> None:
        self._search, self._data = search, {"X": X, "y": y}
        self._fit = search._init_callback_context(task_name="fit", max_subtasks=None)
        self._fit.call_on_fit_task_begin(estimator=search, **self._data)

    @classmethod
    def of(cls, search: Any, X: Any, y: Any) -> Announcer | None:
        """An announcer where somebody listens, else None."""
        listening = getattr(search, "_skl_callbacks", None) or hasattr(search, "_parent_callback_ctx")
        return cls(search, X, y) if listening else None

    def __call__(self, done: int, total: int) -> None:
        """One more cell is finished."""
        cell = self._fit.subcontext(task_name="cell")
        cell.call_on_fit_task_begin(estimator=self._search, **self._data)
        cell.call_on_fit_task_end(estimator=self._search, **self._data)

    def end(self) -> None:
        """The fit is done."""
        self._fit.call_on_fit_task_end(estimator=self._search, **self._data)
