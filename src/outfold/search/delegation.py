"""Methods of the selected model as those of the search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def has(attribute: str) -> Callable[[Any], bool]:
    """Whether what the search refits has this attribute; AttributeError with the reason where not."""

    def check(self: Any) -> bool:
        if not self.refit:
            raise AttributeError(
                f"this SelectCV was made with refit=False, so it has no model and no {attribute}. "
                "Fit one with best_params_, or search with refit=True."
            )
        getattr(self.best_estimator_ if hasattr(self, "best_estimator_") else self._prototype(), attribute)
        return True

    return check


def delegate(name: str) -> Any:
    """A method of the selected model as one of the search."""

    def method(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)(X)

    method.__name__, method.__qualname__ = name, f"SelectCV.{name}"
    method.__doc__ = f"``{name}`` of the selected model; there is one if the estimator has it and refit is not False."
    return available_if(has(name))(method)
