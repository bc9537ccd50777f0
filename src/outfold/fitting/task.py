"""What goes into a task and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.plan import Splits
from .data import Samples
from .limits import Expired, Watchdog, alarm
from .respond import Reader
from .schedule import Holdout
from .sharing import Family

CRASHED = "the worker process ended (crash or out of memory)"


@dataclass(frozen=True, eq=False)
class Setting:
    """What all tasks of a collection share.

    Attributes
    ----------
    token
        Tells collections apart in a worker that outlives one.
    samples, reader
        The data, and how to read predictions.
    own_process
        The worker is a process of its own: it sets its limits itself.
    limited
        The worker sets its OpenMP threads itself; else the process it works in has done so.
    threads
        OpenMP threads a fit may use.
    timeout
        Seconds a fit may take, or None.
    folder
        Where watchdogs leave records, or None where a process must not be ended.
    config
        The settings of scikit-learn where the collection was started, which workers do not share by themselves.
    shared_process
        Other fits go on in this process at the same time, so that its global random numbers are not ours.
    patience
        Seconds after which a task gives back what is finished, whatever is left of its batch.
    raises
        The first failed fit ends the collection: its exception is kept, and what comes after it is left.
    lean
        Leave out the checks of scikit-learn that a configuration has passed before.
    families
        Families by number of their group; pickled where the worker is a process of its own.
    spot_check
        Fit a member of every group alone too, now and then, to prove the family.
    """

    token: str
    samples: Samples
    reader: Reader
    own_process: bool = False
    limited: bool = False
    threads: int = 1
    timeout: float | None = None
    folder: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    shared_process: bool = False
    patience: float = np.inf
    raises: bool = False
    lean: bool = False
    families: bytes | Mapping[int, Family] = field(default_factory=dict)
    spot_check: bool = True


class Share(NamedTuple):
    """What a fit had in common with others.

    `own` are the seconds it took by itself; `nodes` the transformers reached anew on the way to it, with their seconds;
    `legs` the number of transformers on its route, and `steps` of the fits of them that were done for it; `leads` says
    that the fit of its family is counted here; `peak` is the largest number of bytes of transformed rows; `copied` says that
    an equal model had been fitted on equal rows already.
    """

    own: float
    nodes: tuple[tuple[int, float], ...] = ()
    legs: int = 0
    steps: int = 0
    group: int | None = None
    leads: bool = True
    peak: int = 0
    copied: bool = False


class Refusal(NamedTuple):
    """A family that does not keep its promise: the group, the configuration it was found with, and what differed."""

    group: int
    name: str
    text: str


class Outcome(NamedTuple):
    """What one fit gave: predictions for every fold it left out, or a message why there are none.

    `labels` has what ``predict`` gave for every fold where it is not the cut of the predictions; `error` the exception,
    where the collection is to raise it; `share` what it had in common with others, `n_checks` how many members were
    fitted alone to prove the families, and `refusals` those that failed.
    """

    holdout: Holdout
    name: str
    values: tuple[NDArray[Any], ...] | None
    message: str
    seconds: float
    warnings: tuple[str, ...]
    labels: tuple[NDArray[np.intp] | None, ...] | None = None
    error: BaseException | None = None
    share: Share | None = None
    n_checks: int = 0
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, eq=False)
class Place:
    """Where a fit takes place: the hold-out, its splits and its seed, in a worker."""

    setting: Setting
    holdout: Holdout
    splits: Splits
    seed: int
    seed_globals: Callable[[int], None] | None
    families: Mapping[int, Family] = field(default_factory=dict)
    # Groups whose family was found wanting in this task.
    refused: set[int] = field(default_factory=set)

    def start_random(self) -> None:
        """Every fit begins with the same global random numbers."""
        if self.seed_globals is not None:
            self.seed_globals(self.seed)

    @contextmanager
    def guard(self, name: str, spent: float = 0.0, shared: bool = False) -> Iterator[None]:
        """Raise `Expired` where this takes longer than a fit may, of which some seconds are spent already."""
        timeout = self.setting.timeout
        if timeout is None:
            yield
            return
        left, start = max(timeout - spent, 1e-3), perf_counter()
        with Watchdog(self.setting.folder, left).guard(self.holdout, name, shared), alarm(left):
            yield
        if perf_counter() - start > left:  # where no alarm can ring
            raise Expired


def describe(error: BaseException) -> str:
    """``ExceptionType: first line``, in characters that every file and terminal takes."""
    lines = [line for line in said(error).splitlines() if line.strip()]
    out = f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__
    return out.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def said(error: BaseException) -> str:
    """The text of an exception, where it has one."""
    try:
        return str(error)
    except Exception:  # one that cannot even say what it is
        return ""


def expired_message(timeout: float | None) -> str:
    """Why a fit that took too long has no predictions."""
    return f"TimeoutError: no result after {timeout:g} s"
