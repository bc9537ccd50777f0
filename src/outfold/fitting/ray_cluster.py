"""A Ray cluster, as ``joblib.parallel_config("ray")`` names it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from time import sleep
from typing import Any

from ..exceptions import CollectError, InputError
from .cluster import Cluster, ClusterTask, DataLost, MissingPackages, WorkerLost, run_on_worker
from .worker import FitOutcome


class RayCluster(Cluster):
    """The Ray cluster that this process is connected to.

    Ray's own backend for joblib gives no results before all are there, and with ``n_jobs=None`` it fits in this process. So
    tasks are handed to Ray itself.
    """

    name = "Ray"

    def __init__(self, backend: Any) -> None:
        import ray

        if not ray.is_initialized():
            needed = "the 'ray' backend needs a Ray cluster, and this process is connected to none"
            raise InputError(needed=needed, remedy="Call `ray.init(address='auto')` first.")
        self._ray = ray
        options = {"num_cpus": 1, **(getattr(backend, "ray_remote_args", None) or {})}
        self._remote = ray.remote(**options)(_run_here)
        self._open: dict[Hashable, Any] = {}

    def n_slots(self) -> int:
        """The processors of all nodes."""
        try:
            return int(self._ray.cluster_resources().get("CPU", 0))
        except Exception as error:  # Ray has several kinds, and some of them are private
            problem = f"the connection to Ray is lost ({type(error).__name__})."
            remedy = "Start Ray and call again; the `store` keeps what is finished."
            raise CollectError(problem, remedy=remedy) from error

    def put(self, packed: bytes) -> Any:
        """Put bytes into the object store, of which each machine fetches a copy when it needs one."""
        return self._ray.put(packed)

    def submit(self, task: ClusterTask, packages: Mapping[str, Any], worker: str | None) -> Hashable:
        """Hand out a task; Ray chooses the worker."""
        reference = self._remote.remote(task, tuple(packages), *packages.values())
        self._open[reference] = None
        return reference  # type: ignore[no-any-return]

    def finished(self, seconds: float) -> list[tuple[Hashable, Any]]:
        """What is finished."""
        if not self._open:
            sleep(seconds)
            return []
        references = list(self._open)
        ready, _ = self._ray.wait(references, num_returns=1, timeout=seconds)
        if ready:  # and what else is there by now
            ready, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
        for reference in ready:
            del self._open[reference]
        return [(reference, self._answer(reference)) for reference in ready]

    def cancel(self, tickets: Iterable[Hashable]) -> None:
        """Cancel these tasks; a fit that has begun goes on to its end, and its result is thrown away."""
        for ticket in list(tickets):
            if ticket in self._open:
                del self._open[ticket]
                with suppress(Exception):  # without a cluster there is nothing to cancel
                    self._ray.cancel(ticket, force=False)

    def _answer(self, reference: Any) -> Any:
        from ray import exceptions

        try:
            return self._ray.get(reference)
        except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError) as error:
            return WorkerLost(str(error))
        except (exceptions.ObjectLostError, exceptions.NodeDiedError, exceptions.TaskCancelledError) as error:
            return DataLost(str(error))
        except Exception as error:
            return error


def _run_here(task: ClusterTask, names: tuple[str, ...], *packed: bytes) -> list[FitOutcome] | MissingPackages:
    """What a Ray worker does: one task at a time in a process of its own."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    return run_on_worker(task, dict(zip(names, packed, strict=True)), node, shared_process=False)
