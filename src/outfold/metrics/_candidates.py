"""Which configurations and cells of predictions count, and what is left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..data.notes import Note
from ..data.predictions import Predictions, State
from ..exceptions import NeedError
from ..formatting import count

# A drop on fewer predictions than this is mostly noise (Tsamardinos 2018, sect. 5.2.2).
_EARLY_DROP = 50


def what_counts(
    oof: Predictions,
) -> tuple[NDArray[np.intp], list[tuple[int, int]], NDArray[np.bool_], tuple[Note, ...]]:
    """The candidates, the cells that count, (N, R) whose predictions these are, and what was left out."""
    candidates = running(oof)
    if not len(candidates):
        if oof.n_configs == 1:
            states, why = oof.state[0][oof.planned], why_not(oof, 0)
            lost = f"{np.sum(states != State.DONE)} of {states.size} cells of configuration {oof.configs[0]!r}"
            happened = {"failed": "failed", "dropped": "were dropped"}.get(why, "are pending")
            raise NeedError(f"{lost} {happened}", remedy="Name another configuration, or collect these cells.")
        text = "no configuration has predictions without failed or dropped cells"
        raise NeedError(text, remedy="Collect some that can be fitted.")
    done = np.all(oof.state[candidates] == State.DONE, axis=0)
    cells = [(r, k) for r, k in oof.splits.cells if done[r, k]]
    if not cells:
        remedy = "Collect the missing cells, or take the complete configurations with `sel`."
        raise NeedError("no fold has predictions of all configurations", remedy=remedy)
    counts = np.zeros((oof.n_repeats, oof.state.shape[2] + 1), dtype=bool)  # the last for samples not held out
    counts[tuple(np.transpose(cells))] = True
    used = counts[np.arange(oof.n_repeats), oof.folds]
    return candidates, cells, used, _notes_on_missing(oof, candidates, cells)


def curveless(losses: NDArray[np.float64], used: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(C,) True for configurations that lack a survival curve where they count, by their (R, C, N) losses."""
    return np.asarray((np.isnan(losses) & used.T[:, None]).any(axis=(0, 2)))


def with_curves(candidates: NDArray[np.intp], lack: NDArray[np.bool_]) -> tuple[NDArray[np.intp], tuple[Note, ...]]:
    """The candidates that lack no survival curve, and how many do."""
    n = int(lack.sum())
    if n == len(candidates):
        raise NeedError("no configuration gives survival curves", remedy="Use the metric concordance.")
    text = f"{count(n, 'configuration gives', 'configurations give')} no survival curve and cannot be selected by it."
    return candidates[~lack], (Note("OF223", text),) if n else ()


def running(oof: Predictions) -> NDArray[np.intp]:
    """Positions of the configurations that have predictions, and no cell that was dropped or failed."""
    states = oof.state[:, oof.planned]
    out = (states == State.DROPPED) | (states == State.FAILED)
    return np.flatnonzero(~out.any(axis=1) & (states == State.DONE).any(axis=1))


def _notes_on_missing(oof: Predictions, candidates: NDArray[np.intp], cells: list[tuple[int, int]]) -> tuple[Note, ...]:
    notes = []
    others = np.setdiff1d(np.arange(oof.n_configs), candidates)
    for code, state in (("OF205", State.FAILED), ("OF207", State.DROPPED)):
        n = int(np.sum([np.any(oof.state[i][oof.planned] == state) for i in others]))
        if n:
            was = "failed" if state == State.FAILED else f"{'was' if n == 1 else 'were'} dropped early"
            notes.append(Note(code, f"{n} of {oof.n_configs} configurations {was} and cannot be selected."))
    drops = [drop["n_predictions"] for drop in oof.provenance.get("drops", ()) if drop["config"] in oof.configs]
    early = [n for n in drops if n < _EARLY_DROP]
    if early:
        fewer = f"{_EARLY_DROP} samples (from {min(early)})"
        were = "configuration was" if len(early) == 1 else "configurations were"
        notes.append(Note("OF210", f"{len(early)} {were} dropped on fewer than {fewer}."))
    if len(cells) < len(oof.splits.cells):
        notes.append(Note("OF206", f"{len(cells)} of {len(oof.splits.cells)} folds are done; the others do not count."))
    return tuple(notes)


def lost(oof: Predictions) -> dict[str, int]:
    """How many configurations cannot be selected, by the reason."""
    words = {"dropped": "dropped early", "failed": "failed", "pending": "pending"}
    others = np.setdiff1d(np.arange(oof.n_configs), running(oof))
    reasons = [why_not(oof, int(i)) for i in others]
    return {said: reasons.count(reason) for reason, said in words.items()}


def why_not(oof: Predictions, config: int) -> str:
    """Why a configuration is no candidate: it failed, was dropped, gives no survival curve, or cells are pending."""
    states = oof.state[config][oof.planned]
    ended = next((s.name.lower() for s in (State.FAILED, State.DROPPED) if np.any(states == s)), "pending")
    return "no curve" if ended == "pending" and oof.response == "survival" and np.all(states == State.DONE) else ended
