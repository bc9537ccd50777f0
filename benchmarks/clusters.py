"""What crosses the network of a Dask cluster, and what one driver can do: on loopback, two machines with two processes each.

Each machine is an address of its own: 127.0.0.2, 127.0.0.3. The bytes are those of the loopback device, so run this where nothing
else uses it: ``unshare -rn sh -c "ip link set lo up && python benchmarks/clusters.py --keep"``.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import joblib
import numpy as np
from measuring import Results, arguments
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

import outfold as of

MACHINES, PROCESSES = 2, 2


@contextmanager
def cluster() -> Iterator[Any]:
    """A scheduler, and workers on several addresses of loopback."""
    from distributed import Client, Nanny, Scheduler, SpecCluster

    hosts = [f"127.0.0.{2 + i}" for i in range(MACHINES) for _ in range(PROCESSES)]
    quiet = {"nthreads": 1, "dashboard": False, "silence_logs": 50}
    workers = {i: {"cls": Nanny, "options": {"host": host, **quiet}} for i, host in enumerate(hosts)}
    scheduler = {"cls": Scheduler, "options": {"host": "127.0.0.1", "dashboard": False}}
    with SpecCluster(workers=workers, scheduler=scheduler, silence_logs=50) as made, Client(made) as client:
        client.wait_for_workers(len(hosts))
        yield client


def loopback_bytes() -> int:
    """Bytes that the loopback device has received."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return next(int(line.split(":")[1].split()[0]) for line in lines if line.strip().startswith("lo:"))


def collected(configs: Any, X: Any, y: Any, **options: Any) -> tuple[of.Predictions, dict[str, float]]:
    """A collection on the cluster, with its bytes and seconds."""
    before, cpu, wall = loopback_bytes(), time.process_time(), time.perf_counter()
    with joblib.parallel_config("dask"):
        oof = of.collect(configs, X, y, rng=0, share=False, progress=False, **options)
    spent = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    return oof, {"bytes": loopback_bytes() - before, "cells": oof.state.size, **spent}


def fetched(client: Any) -> dict[str, int]:
    """Bytes that workers have fetched from each other so far, on the same machine and from others."""
    logs = client.run(lambda dask_worker: [(e["who"], e["total"]) for e in dask_worker.transfer_incoming_log])
    totals = {"same_machine": 0, "other_machine": 0}
    for address, log in logs.items():
        for who, total in log:
            same = who.rpartition(":")[0] == address.rpartition(":")[0]
            totals["same_machine" if same else "other_machine"] += total
    return totals


def shipping(client: Any, results: Results, quick: bool) -> None:
    """How often X crosses: with each task, as joblib's backend does by itself, and with packages."""
    n = 2_000 if quick else 10_000
    X = np.random.default_rng(0).normal(size=(n, 100))
    y = (X[:, 0] > 0).astype(int)
    smoothing = np.logspace(-12, -6, 6 if quick else 24)
    configs, plan = of.grid("bayes", GaussianNB(), var_smoothing=list(smoothing)), of.Plan(folds=5)
    alone = of.collect(configs, X, y, plan, rng=0, share=False, progress=False)
    for row in ("joblib alone", "packages", "packages again"):
        plainly = patch("outfold.fitting.cluster.cluster_of", lambda backend: None)
        before = fetched(client)
        with plainly if row == "joblib alone" else nullcontext():
            oof, spent = collected(configs, X, y, plan=plan)
        between = {f"fetched_{name}_X": (n - before[name]) / X.nbytes for name, n in fetched(client).items()}
        assert np.array_equal(oof.data, alone.data)
        # What comes back has to: predictions of two classes for each sample and configuration.
        times = (spent["bytes"] - oof.data.nbytes) / X.nbytes
        print(f"{row:<16}{spent['bytes'] / 1e6:10.1f} MB on loopback, {times:6.1f} times X, {spent['wall']:6.1f} s")
        print("  ".join(f"{name} {value:.2f}" for name, value in between.items()))
        results.add(row, X=X.nbytes, times_X=times, **spent, **between)


def driver(results: Results, quick: bool) -> None:
    """Cells per second, bytes and memory of the driver, with fits that cost nothing, and a store."""
    n_configs = 300 if quick else 3_000
    X = np.random.default_rng(0).normal(size=(200, 5))
    y = (X[:, 0] > 0).astype(int)
    dummies = {f"d{i}": DummyClassifier(strategy="constant", constant=i % 2) for i in range(n_configs)}
    with tempfile.TemporaryDirectory() as folder:
        of.collect({"d": DummyClassifier()}, X, y, of.Plan(folds=5), progress=False)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        _, spent = collected(dummies, X, y, plan=of.Plan(folds=5), store=Path(folder) / "run.oof")
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024
    cells = spent["cells"]
    row = {
        "cells": cells,
        "cells_per_second": cells / spent["wall"],
        "driver_cpu_us_per_cell": 1e6 * spent["cpu"] / cells,
        "bytes_per_cell": spent["bytes"] / cells,
        "memory_per_cell": memory / cells,
    }
    print("  ".join(f"{name} {value:,.0f}" for name, value in row.items()))
    results.add("driver", **row)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only-shipping", action="store_true", help="leave out what the driver can do")
    args = parser.parse_args()
    results = Results("clusters", args.keep)
    with cluster() as client:
        if not args.only_shipping:
            driver(results, args.quick)  # first: the memory of a process is its peak so far
        shipping(client, results, args.quick)


if __name__ == "__main__":
    main()
