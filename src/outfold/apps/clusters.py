"""The address of a cluster, as ``outfold run --cluster`` takes it, and the connection to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import Any

from ..exceptions import InputError, got, invalid
from ..fitting.limits import hold_interrupts

_SHAPES = "tcp://host:8786 (Dask), ray://host:10001 (Ray) or local:4 (four processes of this machine)"
_SCHEDULER_SECONDS = 30
# Dask gives up a local worker that is not back 15 s after a crash, which a busy machine may need.
KEEP_WORKERS = {"distributed.deploy.lost-worker-timeout": "1 hour"}


def connection(address: str | None) -> AbstractContextManager[None]:
    """A context in which fits run on the cluster at this address; on this machine, if it is None.

    The address is checked now, and the connection made when the context begins.
    """
    if address is None:
        return nullcontext()
    local = re.fullmatch(r"local:([1-9]\d*)", address)
    if local:
        return _local(int(local[1]))
    if re.match(r"(tcp|tls|ws|wss)://.", address):
        return _dask(address)
    if re.match(r"ray://.", address):
        return _ray(address)
    raise invalid("cluster", f"must be {_SHAPES}", got(address))


def _library(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        remedy = f"Install it: pip install 'outfold[{extra}]'."
        given = f"it is not installed ({error})"
        raise invalid("cluster", f"needs {extra} for this address", given, remedy, page="extras") from error


@contextmanager
def _dask(address: str) -> Iterator[None]:
    distributed = _library("distributed", "dask")
    from joblib import parallel_config

    try:
        client = distributed.Client(address, timeout=_SCHEDULER_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise _not_reached("Dask scheduler", address, error) from error
    with client, parallel_config("dask", client=client):
        yield


@contextmanager
def _local(n_workers: int) -> Iterator[None]:
    """Processes of this machine, which nobody else can reach."""
    distributed = _library("distributed", "dask")
    import dask
    from joblib import parallel_config

    size = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True}
    with hold_interrupts():  # Ctrl-C is for this process, which then ends the others
        cluster = distributed.LocalCluster(**size, host="127.0.0.1", dashboard_address=None, silence_logs=50)
    with (
        dask.config.set(KEEP_WORKERS),
        cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        parallel_config("dask", client=client),
    ):
        yield


@contextmanager
def _ray(address: str) -> Iterator[None]:
    ray = _library("ray", "ray")
    from joblib import parallel_config
    from ray.util.joblib import register_ray

    if ray.is_initialized():
        raise InputError("this process is connected to a Ray cluster already.", remedy="Call `ray.shutdown()` first.")
    try:
        ray.init(address, log_to_driver=False)
    except Exception as error:  # of many kinds
        raise _not_reached("Ray cluster", address, error) from error
    try:
        register_ray()
        with parallel_config("ray"):
            yield
    finally:
        ray.shutdown()


def _not_reached(what: str, address: str, error: BaseException) -> InputError:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    remedy = "Is it running, and can this machine reach it?"
    return invalid("cluster", f"names a {what} that does not answer", f"{address}: {reason}", remedy)
