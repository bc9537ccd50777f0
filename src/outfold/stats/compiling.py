"""Compiled loops and threads: numba is optional and imported only when needed; thread counts of the numerical libraries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from types import ModuleType
from typing import Any, Literal

# Modules of this package whose loops are compiled.
CompiledModule = Literal["lanes", "saga", "hellinger_loops", "drawing"]


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of arrays; numba caches it where it can write. No operation is reordered or fused."""
    import numba

    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no directory to write the cache to
        return numba.njit(**options)(function)  # type: ignore[no-any-return]


def has_numba() -> bool:
    """Whether numba is installed, without importing it."""
    return find_spec("numba") is not None


@cache
def load(name: CompiledModule) -> ModuleType | None:
    """The module of this package whose loops are compiled, or None where numba is missing or unusable."""
    try:
        return import_module(f"outfold.stats.{name}")
    except ImportError:
        return None


# Loading numba and its loops takes as long as this many steps of NumPy, of about 2 ns each.
_LOADING = 2**28


class _Plain:
    """How many steps NumPy has done in this process in the place of compiled loops."""

    steps = 0


def load_if_worth(name: CompiledModule, steps: int) -> ModuleType | None:
    """The compiled module, or None while NumPy does these steps in less time than loading takes.

    For kernels that give the same bits either way. The steps of a process add up, so that many small calls load it too.
    """
    if f"{__package__}.{name}" not in sys.modules:
        _Plain.steps += steps
        if _Plain.steps < _LOADING:
            return None
    return load(name)


# Rows times lanes times configurations per thread: below it, starting one costs more than it saves.
_WORTH = 2**24


def share_out(function: Callable[[slice], None], n_configs: int, work: int, most: int) -> None:
    """Call the function on slices that together are all configurations, in at most this many threads.

    For compiled kernels, which take each by itself and release the interpreter.
    Every configuration is computed alone: the results do not depend on the number of threads.
    """
    n = max(min(most, n_configs, work // _WORTH), 1)
    ends = [n_configs * i // n for i in range(n + 1)]
    first, *others = (slice(start, stop) for start, stop in pairwise(ends))
    if not others:
        return function(first)
    # Made anew each time: threads kept for later do not survive a fork.
    with ThreadPoolExecutor(len(others)) as pool:
        started = [pool.submit(function, part) for part in others]
        function(first)
        for future in started:
            future.result()
    return None


# Modules of this package bring no libraries; what they import counts by itself.
_OWN = f"{__name__.partition('.')[0]}."


@lru_cache(maxsize=1)
def _thread_pools(n_foreign: int) -> Any:
    """The libraries that are loaded; looked for again when foreign modules were imported, which may have brought their own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def limit_threads(library: Literal["blas", "openmp"], n: int = 1) -> Any:
    """Context: this library uses this many threads, by default one.

    BLAS always one, so that sums are taken in the same order whatever the number of workers; OpenMP as many as the user
    says, one by default, for the same reason.
    """
    import scipy.linalg  # noqa: F401  (its BLAS must be loaded to be found)
    import threadpoolctl  # noqa: F401

    n_foreign = sum(not name.startswith(_OWN) for name in tuple(sys.modules))  # another thread may import
    return _thread_pools(n_foreign).limit(limits=n, user_api=library)
