"""Methods and the diagram of the selected model, which a search has as its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def has(attribute: str) -> Callable[[Any], bool]:
    """A check whether the refitted model has this attribute; it raises an AttributeError with the reason if not."""

    def check(search: Any) -> bool:
        if not search.refit:
            made = f"This {type(search).__name__} was made with `refit=False`."
            only = f"{attribute} is available only after refitting on the best parameters"
            raise AttributeError(f"{made} {only}. Fit a model with best_params_, or search with refit=True.")
        getattr(search.best_estimator_ if hasattr(search, "best_estimator_") else search._prototype(), attribute)
        return True

    return check


def delegate(name: str) -> Any:
    """A method of the selected model as a method of the search."""

    def method(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)(X)

    method.__name__, method.__qualname__ = name, f"SelectCV.{name}"
    method.__doc__ = f"""Call ``{name}`` of the selected model.

    Available if the estimator has the method and `refit` is not False.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix
        The samples.

    Returns
    -------
    array
        What the model returns.
    """
    return available_if(has(name))(method)


def diagram_block(search: Any) -> Any:
    """What scikit-learn's diagram shows inside a search: the selected model or, before it is fitted, the estimator."""
    try:
        from sklearn.utils._repr_html.estimator import _VisualBlock
    except ImportError:  # scikit-learn before 1.8
        from sklearn.utils._estimator_html_repr import _VisualBlock

    shown = {"estimator": search.estimator}
    if hasattr(search, "best_estimator_"):
        shown = {"best_estimator_": search.best_estimator_}
    elif isinstance(search.estimator, Mapping):
        shown = dict(search.estimator)
    names = [f"{name}: {type(estimator).__name__}" for name, estimator in shown.items()]
    return _VisualBlock("parallel", list(shown.values()), names=names, name_details=list(map(str, shown.values())))
