"""Failed fits, as scikit-learn's users know them: a warning with the reason, or the exception itself."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import NoReturn

import numpy as np

from ..data.predictions import Predictions, State
from ..exceptions import CollectError, FitFailedError, InputError


class InputTypeError(InputError, TypeError):
    """All fits failed with a TypeError: X or a parameter is of a type that no configuration takes."""


def warn(oof: Predictions) -> None:
    """One FitFailedWarning that counts the failed fits and names the most common reason."""
    from sklearn.exceptions import FitFailedWarning

    states = oof.state[:, oof.planned]
    n = int(np.sum(states == State.FAILED))
    if n:
        reason = Counter(oof.messages.values()).most_common(1)[0][0]
        warnings.warn(
            f"{n} of {states.size} fits failed; their configurations cannot be selected. The most common reason: "
            f"{reason} Use error_score='raise' to see the exception.",
            FitFailedWarning,
            stacklevel=3,
        )


def raise_as_sklearn(error: CollectError) -> NoReturn:
    """The exception of the fit that failed, as GridSearchCV raises it, and which fit that was; else an InputError."""
    cause = error.__cause__
    if isinstance(error, FitFailedError) and isinstance(cause, Exception):
        cause.add_note(str(error))
        raise cause
    kind = InputTypeError if "): TypeError: " in str(error) else InputError
    raise kind(str(error)) from error
