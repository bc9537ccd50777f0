"""Threads: configurations shared out to them, and how many the numerical libraries may use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

# Rows times lanes times configurations a thread: below it, starting one costs more than it saves.
_WORTH = 2**24


def share_out(function: Callable[[slice], None], n_configs: int, work: int, most: int) -> None:
    """Call the function on slices that together are all configurations, in at most so many threads.

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


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> Any:
    """The libraries that are loaded; looked for again when modules were imported, which may have brought their own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def limit_threads(library: Literal["blas", "openmp"], n: int = 1) -> Any:
    """Context: this library uses so many threads, by default one.

    BLAS always one, so that sums are taken in the same order whatever the number of workers; OpenMP as many as the user
    says, one by default, for the same reason.
    """
    import scipy.linalg  # noqa: F401  (its BLAS must be loaded to be found)
    import threadpoolctl  # noqa: F401

    return _thread_pools(len(sys.modules)).limit(limits=n, user_api=library)
