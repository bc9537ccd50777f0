"""A Dask cluster, as ``joblib.parallel_config("dask")`` names it."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from ..exceptions import CollectError
from .cluster import PATIENCE_SECONDS, Cluster, ClusterTask, DataLost, MissingPackages, WorkerLost, run_on_worker
from .worker import FitOutcome

# What joblib's backend waits for workers if the user does not say how long.
_JOBLIB_SECONDS = 10


class DaskCluster(Cluster):
    """The workers of a `distributed.Client`."""

    name = "Dask"

    def __init__(self, backend: Any) -> None:
        self.client = backend.client
        asked = getattr(backend, "wait_for_workers_timeout", _JOBLIB_SECONDS)
        self.patience = PATIENCE_SECONDS if asked in (None, _JOBLIB_SECONDS) else float(asked)
        self._submit_options = dict(getattr(backend, "submit_kwargs", {}))
        self._futures: dict[Hashable, Any] = {}
        self._done: SimpleQueue[Hashable] = SimpleQueue()

    def n_slots(self) -> int:
        """The threads of all workers."""
        if self.client.status in ("closed", "closing"):
            problem = "the connection to the Dask scheduler is lost."
            raise CollectError(
                problem, remedy="Start the scheduler and call again; the `store` keeps what is finished."
            )
        try:
            return sum(self.client.ncores().values())
        except (OSError, TimeoutError):  # it may come back
            return 0

    def put(self, packed: bytes) -> Any:
        """Send bytes to one worker on each machine; the others on a machine fetch them from there."""
        try:
            workers = list({address.rpartition(":")[0]: address for address in self.client.ncores()}.values())
            if not workers:
                raise DataLost("there is no worker")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about large bytes: scattering is what it advises
                return self.client.scatter(packed, workers=workers, broadcast=True, hash=False)
        except (OSError, TimeoutError, KeyError, ValueError) as error:  # a worker has just gone
            raise DataLost(str(error)) from error

    def submit(self, task: ClusterTask, packages: Mapping[str, Any], worker: str | None) -> Hashable:
        """Hand out a task."""
        key = f"outfold-{uuid4().hex}"
        options = dict(self._submit_options)
        if worker is not None and "workers" not in options:
            options |= {"workers": [worker], "allow_other_workers": True}
        future = self.client.submit(
            _run_here, task, tuple(packages), *packages.values(), key=key, pure=False, **options
        )
        self._futures[key] = future
        future.add_done_callback(lambda done: self._done.put(done.key))
        return key

    def finished(self, seconds: float) -> list[tuple[Hashable, Any]]:
        """What is finished; the results of all of them are fetched at once."""
        keys = self._finished_keys(seconds)
        futures = {key: self._futures.pop(key) for key in keys if key in self._futures}
        good = {key: future for key, future in futures.items() if future.status == "finished"}
        results: dict[Hashable, Any] = {}
        with suppress(Exception):  # some were lost on the way: each is looked at below
            results = dict(zip(good, self.client.gather(list(good.values())), strict=True))
        return [(key, results[key] if key in results else _answer(future)) for key, future in futures.items()]

    def _finished_keys(self, seconds: float) -> list[Hashable]:
        keys = []
        with suppress(Empty):
            keys.append(self._done.get(timeout=seconds))
            while True:
                keys.append(self._done.get_nowait())
        return keys

    def cancel(self, tickets: Iterable[Hashable]) -> None:
        """Cancel these tasks; a fit that has begun goes on to its end, and its result is thrown away."""
        futures = [self._futures.pop(ticket) for ticket in list(tickets) if ticket in self._futures]
        if futures:
            with suppress(Exception):  # without a scheduler there is nothing to cancel
                self.client.cancel(futures)


def _run_here(task: ClusterTask, names: tuple[str, ...], *packed: bytes) -> list[FitOutcome] | MissingPackages:
    """What a Dask worker does."""
    from distributed import get_worker

    worker = get_worker()
    return run_on_worker(
        task, dict(zip(names, packed, strict=True)), worker.address, shared_process=worker.state.nthreads > 1
    )


def _answer(future: Any) -> Any:
    """The result of one task, or the exception that stands for what became of it."""
    from concurrent.futures import CancelledError

    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    try:
        return future.result(timeout=60)
    except KilledWorker as error:
        return WorkerLost(str(error))
    except (CancelledError, FutureCancelledError, TimeoutError, OSError) as error:
        return DataLost(str(error))
    except Exception as error:
        return error
