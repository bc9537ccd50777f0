"""A collection: one call of `collect`, checked and ready, and the artifact it starts from."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.duplicates import held_out_with_twin, row_codes
from ..data.notes import Note
from ..data.plan import Splits, fingerprint
from ..data.predictions import AUTO, Predictions, begun
from ..data.target import Target
from . import blocks
from .board import Board
from .configs import Configs
from .data import Samples, digest, plain_text
from .filling import Filling, Reopened
from .pool import Pool
from .progress import Mode
from .race import Race
from .recipes import Recipe, seed_of
from .repeats import Repeats
from .respond import Reader
from .schedule import Holdout, paired_holdouts
from .share_options import Sharing, sharing_notes

if TYPE_CHECKING:
    from .. import drop, stability
    from ..metrics import MetricLike
    from ..select import RuleLike


@dataclass(frozen=True, eq=False)
class Collection:
    """One call of `collect`, checked and ready: what is fitted, on what, and where."""

    configs: Configs
    samples: Samples
    target: Target
    splits: Splits
    seed: int
    reader: Reader
    recipes: list[Recipe]
    sharing: Sharing
    pool: Pool
    groups: NDArray[Any] | None
    names: NDArray[Any] | None
    inner: Splits | None = None
    fresh: Splits | None = None
    inbag: Splits | None = None
    resub: Splits | None = None
    timeout: float | None = None
    drop: drop.DropRule | None = None
    stop: stability.Stop | None = None
    repeats: Repeats | None = None
    threads: int = 1
    raises: bool = False
    # Where every repeat of the splits is one fit asked for two parts (see `trained`): the cell whose seed it takes.
    seeds: tuple[tuple[int, int], ...] | None = None

    def seed_of(self, holdout: Holdout, first_repeat: int = 0) -> int:
        """The seed of the fits on one hold-out."""
        if self.seeds is not None:
            return seed_of(self.seed, *self.seeds[holdout.repeat])
        if holdout.block == "resub":  # the model that `refit` gives
            return seed_of(self.seed)
        return seed_of(self.seed, first_repeat + holdout.repeat, *holdout.left_out)

    def fill(
        self, store: str | Path | None, retry_failed: bool, progress: Mode, fresh: MetricLike | None, rule: RuleLike
    ) -> Predictions:
        """Fit what is missing and give back everything there is."""
        if fresh is not None:
            self._check_selection(fresh, rule)
        for decides in (self.drop, self.stop):
            if decides is not None:
                decides.check(self.header)
        with ExitStack() as stack:
            opened = None if store is None else self._open(store, stack)
            board = Board(self.header if opened is None else opened.predictions(), opened)
            if self.drop is not None:
                board.forget_drops(self.configs)
            filling = Filling(self, board, retry_failed, progress)
            race = Race(self, filling)
            stack.callback(filling.progress.close)
            try:
                with filling:
                    while True:
                        try:
                            self._do(filling, race)
                            break
                        except Reopened:
                            filling.start_over()
                            race = Race(self, filling)
                    filling.refuse_if_all_failed()
                    if self.resub is not None:
                        filling.fill_resub()
                    if fresh is not None:
                        filling.fill_fresh(fresh, rule)
            except KeyboardInterrupt as stop:
                stop.add_note(_how_to_go_on(store, filling.so_far()))
                raise
            finally:
                facts = filling.facts() | race.facts()
                notes = self._notes(facts) + race.notes()
                if opened is not None:
                    opened.update(notes=notes, **facts)
            made = {**board.oof.start.provenance, **facts}
            made["specs"] = {name: text for name, text in made["specs"].items() if name in self.configs}
            oof = begun(board.predictions(provenance=made, notes=notes))
            return oof if oof.configs == tuple(self.configs) else oof.sel(list(self.configs))

    def _do(self, filling: Filling, race: Race) -> None:
        if self.drop is None and self.stop is None:
            filling.fill(filling.holdouts, self.splits)
        else:
            race.run()

    def explained(self) -> str:
        """What is going to be shared, as text."""
        n = len(self.splits.cells) + (0 if self.inner is None else len(paired_holdouts(self.splits)))
        return self.sharing.explained(n)

    def _check_selection(self, metric: MetricLike, rule: RuleLike) -> None:
        """Refuse a metric or rule that cannot select before the work, not after."""
        from ..metrics._scoring import bind
        from ..select import as_rule

        bind(self.header, metric)
        as_rule(rule)

    def _open(self, path: str | Path, stack: ExitStack) -> Any:
        from ..io.store import Store

        return stack.enter_context(Store.open(path, self.header, self.identity))

    @cached_property
    def header(self) -> Predictions:
        """The artifact before anything is fitted."""
        params = self.configs.params
        fields: dict[str, Any] = {
            "target": self.target,
            "configs": tuple(self.configs),
            "response": self.reader.response,
            "plan": self.splits.plan,
            "params": tuple({p: _plain(v) for p, v in params[name].items()} for name in self.configs),
            "groups": self.groups,
            "samples": self.names,
            "train": self.splits.train,
            "threshold": 0.0 if self.reader.response == "score" else None,
            "notes": self.splits.notes,
            "provenance": self._provenance(),
        }
        width = self.reader.width
        further = {"inner": self.inner, "fresh": self.fresh, "inbag": self.inbag, "resub": self.resub}
        parts = {k: blocks.empty_block(fields, s, width) for k, s in further.items() if s is not None}
        shape = blocks.room(self.splits, len(self.configs), len(self.target), self.reader.response, width)
        return Predictions(**fields, **shape, blocks=parts)

    def _provenance(self) -> dict[str, Any]:
        import sklearn

        from .._version import __version__

        return {
            "seed": self.seed,
            "threads": self.threads,
            "data": digest(self.samples.X),
            "labels": digest(self.samples.y),
            "twins": self._twins(),
            "specs": {recipe.name: recipe.text for recipe in self.recipes},
            "outfold": __version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "python": sys.version.split()[0],
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        } | ({} if self.stop is None else {"repeats": AUTO})

    def _twins(self) -> int | None:
        """How many samples were held out while an equal row of features was trained on; None where rows cannot be told."""
        codes = row_codes(self.samples.X)
        return None if codes is None else int(held_out_with_twin(codes, self.splits.folds, self.splits.train).sum())

    @cached_property
    def identity(self) -> dict[str, str]:
        """What must be the same for a store to go on with."""
        made = self.header.provenance
        identity = {
            "data": str(made["data"]),
            "labels": str(made["labels"]),
            "plan": self._plan_text(),
            "groups": "" if self.groups is None else digest(self.groups),
            "samples": "" if self.names is None else digest(self.names),
            "seed": str(self.seed),
            "response": self.reader.response,
            "fit_params": plain_text(dict(sorted(self.samples.fit_params.items()))),
        }
        if self.drop is not None:
            identity["drop"] = repr(self.drop)
        if self.stop is not None:
            identity["repeats"] = AUTO
        return identity | self.sharing.identity

    def _plan_text(self) -> str:
        """What the plan is, the same in every process: its numbers and what it drew, not the text of a splitter."""
        plan, folds = self.splits.plan, self.splits.folds
        words = ", ".join(f"{k} {v}" for k, v in plan.to_dict().items() if k != "cv" and v is not None)
        return f"{words}; {fingerprint(self.target, folds, self.splits.train)}"

    def _notes(self, facts: Mapping[str, Any]) -> tuple[Note, ...]:
        warned, fits = facts["warnings"], facts["n_fits"]
        notes = self.splits.notes
        if warned:
            kinds = ", ".join(f"{name} in {n:,}" for name, n in sorted(warned.items()))
            notes = (*notes, Note("OF103", f"fits gave warnings: {kinds} of {fits:,} fits."))
        return (*notes, *sharing_notes(facts["sharing"]))


def _plain(value: Any) -> Any:
    """A parameter's value as json knows it, else its text."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float, str, bool, type(None))) else plain_text(value)


def _how_to_go_on(store: str | Path | None, so_far: str) -> str:
    if store is None:
        return f"{so_far} were done. Give store='run.oof' to keep what is finished next time."
    return f"{so_far} are in {store}; start it again to go on."
