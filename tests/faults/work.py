"""Work that faults happen to: one small collection, search or run in every mode, as a script.

``python work.py MODE FOLDER LOGS N_JOBS FAULT AFTER``: the store is in FOLDER. What must survive is logged in LOGS, outside of
it: each cell that the store has acknowledged, and a digest of the result. FAULT is done to the store itself, AFTER so many
transactions.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import outfold as of
from collect_estimators import FrameTally, Shaken, Tally
from outfold.exceptions import OutfoldError
from outfold.io import schema
from outfold.io import store as stores

STORE, DIGEST, WRITTEN, ERROR = "run.oof", "digest.json", "written.jsonl", "error.txt"
PAUSE = 0.002
# The exit code of work that ends with one of our errors.
REFUSED = 3


def data() -> tuple[np.ndarray, np.ndarray]:
    """Few samples of two classes, easy enough that hopeless configurations are dropped."""
    rng = np.random.default_rng(4)
    y = np.arange(60) % 2
    return rng.normal(size=(60, 3)) + 1.5 * y[:, None], y


def configs() -> dict[str, Any]:
    """Cheap classifiers: three alike, one that depends on its seed, two that are hopeless."""
    good = {f"tally {i}": Tally(1.0 + i, pause=PAUSE) for i in range(3)}
    return good | {"shaken": Shaken(pause=PAUSE)} | {f"hopeless {i}": Tally(-1.0 - i, pause=PAUSE) for i in range(2)}


def collected(**how: Any) -> Callable[[Path, int], of.Predictions]:
    """A mode of `collect`."""

    def work(folder: Path, n_jobs: int) -> of.Predictions:
        plan = how.get("plan", of.Plan(folds=4, repeats=2))
        options = how | {"plan": plan, "store": folder / STORE, "n_jobs": n_jobs, "progress": False, "rng": 5}
        return of.collect(configs(), *data(), **options)

    return work


def searched(folder: Path, n_jobs: int) -> of.Predictions:
    """A search as in scikit-learn."""
    grid = {"scale": [-1.0, 0.5, 1.0, 2.0, 4.0]}
    search = of.SelectCV(Tally(pause=PAUSE), grid, cv=4, repeats=2, n_jobs=n_jobs, store=folder / STORE)
    return search.fit(*data()).oof_


def run(folder: Path, n_jobs: int) -> of.Predictions:
    """``outfold run`` on a table."""
    from outfold.apps import run as app

    X, y = data()
    table = folder.parent / "table.csv"
    lines = [",".join(map(repr, [*map(float, x), int(label)])) for x, label in zip(X, y, strict=True)]
    table.write_text("a,b,c,y\n" + "\n".join(lines) + "\n")
    space = of.Configs({f"tally {i}": FrameTally(1.0 + i, pause=PAUSE) for i in range(4)})
    say: Callable[[str], None] = lambda text: None  # noqa: E731
    app.run(table, "y", folder, space=lambda *_: space, folds=4, repeats=2, n_jobs=n_jobs, progress=False, say=say)
    return of.load(folder / "run.oof")


def on_dask(folder: Path, n_jobs: int) -> of.Predictions:
    """On a Dask cluster of processes of this machine."""
    from outfold.apps.clusters import connection

    with connection(f"local:{n_jobs}"):
        return collected()(folder, n_jobs)


MODES: dict[str, Callable[[Path, int], of.Predictions]] = {
    "plain": collected(),
    "Dask": on_dask,
    "drop": collected(drop=of.drop.Bootstrap(0.95, 15, 100), plan=of.Plan(folds=4, repeats=3)),
    "repeats auto": collected(
        repeats="auto", stop=of.stability.Fixed(3), max_repeats=4, drop=True, plan=of.Plan(folds=4)
    ),
    "inner": collected(inner=True, plan=of.Plan(folds=4)),
    "fresh": collected(fresh="log_loss"),
    "seeds": collected(seeds=2),
    "bootstrap": collected(plan=of.Plan.bootstrap(6)),
    "SelectCV": searched,
    "run": run,
}


def digest(oof: of.Predictions) -> str:
    """A hash of everything but times: predictions bit for bit, states, folds, messages and drops, of all blocks."""
    found = hashlib.sha256()
    for name, block in sorted({"oof": oof, **oof.blocks}.items()):
        labels = np.empty(0) if block.labels is None else block.labels
        for array in (block.data, block.state, block.folds, labels):
            found.update(repr((name, array.shape, array.dtype.str)).encode() + np.ascontiguousarray(array).tobytes())
        found.update(repr((block.configs, sorted(block.messages.items()))).encode())
    dropping = [oof.provenance.get(fact) for fact in ("drops", "fits_saved")]
    found.update(json.dumps(dropping, sort_keys=True).encode())
    return found.hexdigest()


@contextmanager
def logged(path: Path) -> Iterator[None]:
    """Log each cell that the store says to hold, after it has said so."""
    write = stores.Store.write

    def writes(self: stores.Store, cells: Any) -> None:
        cells = list(cells)
        write(self, cells)
        with open(path, "a") as log:
            for cell in cells:
                log.write(json.dumps([cell.block, cell.config, cell.repeat, cell.fold, int(cell.state)]) + "\n")

    stores.Store.write = writes  # type: ignore[method-assign]
    yield


def sabotaged(fault: str, after: int) -> None:
    """Make SQLite itself refuse to write: the disk is full, or the file read-only, from a transaction on."""
    begin, seen = schema.transaction, [0]
    pragma = {"full disk": "PRAGMA max_page_count = 1", "read-only": "PRAGMA query_only = 1"}[fault]

    @contextmanager
    def transaction(db: Any) -> Iterator[None]:
        seen[0] += 1
        if seen[0] == after:
            db.execute(pragma).fetchall()
        with begin(db):
            yield

    schema.transaction = transaction


def warm_up() -> None:
    """Import what the modes need at some time, so that copies of this process have it."""
    for name in ("outfold.search", "numba", "skops.io", "pyarrow.pandas_compat", "distributed"):
        if importlib.util.find_spec(name.partition(".")[0]) is not None:
            importlib.import_module(name)


def main(mode: str, folder: str, logs: str, n_jobs: str, fault: str, after: str) -> int:
    """Do the work; its exit code."""
    log = Path(logs)
    if fault in ("full disk", "read-only"):
        sabotaged(fault, int(after))
    with logged(log / WRITTEN):
        try:
            oof = MODES[mode](Path(folder), int(n_jobs))
        except OutfoldError as error:
            (log / ERROR).write_text(f"{type(error).__name__}: {error}")
            return REFUSED
    try:
        kept = of.load(Path(folder) / STORE)
    except OutfoldError as error:  # it was deleted after the work
        (log / ERROR).write_text(f"{type(error).__name__}: {error}")
        return REFUSED
    (log / DIGEST).write_text(json.dumps([digest(oof), digest(kept)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
