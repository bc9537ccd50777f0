"""Many collections in one process, as a script: ``python soak.py N FILE`` writes what they leave behind.

Memory, open files and threads are measured after a third of the collections, when caches are full, and at the end.
"""

from __future__ import annotations

import contextlib
import gc
import json
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

import outfold as of
from collect_estimators import Interrupts, Raises, Tally
from outfold.exceptions import OutfoldError

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), np.arange(40) % 2


def collection(i: int, folder: Path) -> None:
    """One of many: with a store or without, continued, dropped, failed or interrupted."""
    store, configs = folder / f"{i}.oof", {f"c{j}": Tally(j + 1.0) for j in range(3)}
    how = {"plan": of.Plan(folds=3), "rng": i, "progress": False}
    kind = i % 5
    if kind == 0:
        of.collect(configs, X, Y, **how)
    elif kind == 1:
        of.collect(configs, X, Y, store=store, **how)
        oof = of.collect(configs | {"more": Tally(9.0)}, X, Y, store=store, **how)
        of.estimate.bbc(of.load(store), "roc_auc", n_resamples=20)
        assert oof.completeness == 1
    elif kind == 2:
        of.collect(configs, X, Y, store=store, **({"drop": True} if i % 2 else {"inner": True}), **how)
    elif kind == 3:
        with contextlib.suppress(OutfoldError):
            of.collect({"bad": Raises()}, X, Y, store=store, **how)
    else:
        with contextlib.suppress(KeyboardInterrupt):
            of.collect({"a": Interrupts(log=str(folder / f"{i}.log"))}, X, Y, store=store, **how)
    store.unlink(missing_ok=True)


def left_behind() -> dict[str, int]:
    """What this process holds: kilobytes of memory, open files, threads."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(list(Path("/proc/self/fd").iterdir()))
    return {"kilobytes": pages * 4, "files": files, "threads": threading.active_count()}


def main(n: int, path: Path) -> None:
    """Collect so often, and write what was left behind."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(n):
            if i == n // 3:
                found.append(left_behind())
            collection(i, Path(folder))
        found.append(left_behind())
    path.write_text(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
