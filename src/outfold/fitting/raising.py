"""The exception of a failed fit, brought from the worker that met it to the caller who asked to see it."""

from __future__ import annotations

import pickle
import traceback
from typing import NoReturn

from ..exceptions import FitFailedError


def as_sent(error: BaseException, own_process: bool) -> BaseException | None:
    """The exception as the caller can have it; None where it cannot be sent from another process."""
    if not own_process:
        return error
    try:
        error.add_note("In the worker:\n" + "".join(traceback.format_exception(error)).rstrip())
        pickle.loads(pickle.dumps(error))  # some can be packed and not unpacked
    except Exception:
        return None
    return error


def raise_failed(name: str, repeat: int, fold: int, message: str, error: BaseException | None) -> NoReturn:
    """Say which fit failed, with its exception as the cause."""
    raise FitFailedError(f"{name!r} failed in repeat {repeat}, fold {fold}: {message}") from error
