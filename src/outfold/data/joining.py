"""Two `Predictions` as one: configurations that were collected apart, on the same samples and splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..exceptions import InputError, NeedError, got, invalid
from . import provider
from .cells import Response, State, cell_mask
from .criterion import Criterion
from .notes import Note
from .predictions import Predictions
from .seeds import SEEDED

Suffixes = tuple[str, str]


def join_predictions(first: Predictions, second: Predictions, suffixes: Suffixes | None = None) -> Predictions:
    """The configurations of both, in one `Predictions`; an error says what differs where the splits are not the same."""
    if not isinstance(second, Predictions):
        raise invalid("other", "must be Predictions, as `collect` or `load` give", f"got {type(second).__name__}")
    found = next(_differences(first, second), None)
    if found is not None:
        problem = f"only predictions of the same samples on the same splits can be joined; {found}"
        raise NeedError(problem, remedy="Collect both on the same data, plan and seed.")
    first, second = _renamed(first, second, suffixes)
    response = _common_response(first, second)
    parts = (_answering(first, response), _answering(second, response))
    threshold = first.threshold if first.threshold == second.threshold else None
    seconds = [np.full(oof.state.shape, np.nan) if oof.seconds is None else oof.seconds for oof in (first, second)]
    notes = dict.fromkeys((*first.notes, *second.notes))
    if response == "label" and first.response != second.response:
        gone = next(r for r in (first.response, second.response) if r != "label")
        notes[Note("OF105", f"{gone} and label were joined as class labels, which is what both have.")] = None
    joined = replace(
        first,
        data=np.concatenate([part.data for part in parts], axis=1),
        state=np.concatenate([first.state, second.state]),
        seconds=None if first.seconds is None and second.seconds is None else np.concatenate(seconds),
        labels=_labels(first, second, response),
        live_scores=_live_scores(first, second),
        response=response,
        times=first.times if response == "survival" else None,
        threshold=threshold if response == "score" else None,
        configs=first.configs + second.configs,
        params=first.params + second.params,
        groups=first.groups if first.groups is not None else second.groups,
        samples=second.samples if _numbered(first) else first.samples,
        blocks=_blocks(first, second),
        messages={**first.messages, **second.messages},
        notes=tuple(notes),
        provenance=_provenance(first, second),
        criterion=_criterion(first, second, response),
    )
    return replace(joined, notes=(*joined.notes, *_notes_on_selection(first, second, joined)))


def _notes_on_selection(first: Predictions, second: Predictions, joined: Predictions) -> Iterator[Note]:
    """That the record of what selects is another one now; a default that changed with the response is no record."""
    if all(oof.criterion.metric is None and oof.criterion.rule is None for oof in (first, second)):
        return
    one, other, now = (provider("criterion_words")(oof) for oof in (first, second, joined))
    if {one, other} != {now}:
        was = f"both selected the {one}" if one == other else f"one selected the {one}, the other the {other}"
        yield Note("OF109", f"{was}; joined, they select the {now}.")


def _live_scores(first: Predictions, second: Predictions) -> dict[str, NDArray[np.float64]]:
    """The scores of fitted models that both have."""
    names = [name for name in first.live_scores if name in second.live_scores]
    return {name: np.concatenate([first.live_scores[name], second.live_scores[name]]) for name in names}


def _criterion(first: Predictions, second: Predictions, response: Response) -> Criterion:
    """What selected in both; what differs, and a metric that may need more than both have, is the default again."""
    one, other, usual = first.criterion, second.criterion, Criterion()
    same = one.to_dict() == other.to_dict()
    kept = one if same else Criterion(aggregate=one.aggregate if one.aggregate == other.aggregate else usual.aggregate)
    return kept if first.response == second.response == response else replace(kept, metric=None)


def _differences(first: Predictions, second: Predictions) -> Iterator[str]:
    """What differs, the plainest first; each a sentence."""
    a, b = first.target, second.target
    if a.task != b.task:
        yield f"one is for {a.task}, the other for {b.task}."
    if len(a) != len(b):
        yield f"there are {len(a):,} against {formatting.count(len(b), 'sample')}."
    if not _numbered(first) and not _numbered(second) and not np.array_equal(first.samples, second.samples):  # type: ignore[arg-type]
        same = set(first.samples.tolist()) == set(second.samples.tolist())  # type: ignore[union-attr]
        yield "the samples are in another order." if same else "the samples have other names."
    if a.classes is not None and b.classes is not None and list(map(str, a.classes)) != list(map(str, b.classes)):
        yield f"the classes are {', '.join(map(str, a.classes))} against {', '.join(map(str, b.classes))}."
    other = a.y != b.y
    if a.event is not None and b.event is not None:
        other = other | (a.event != b.event)
    if other.any():
        yield f"{int(other.sum()):,} of {formatting.count(len(a), 'label')} differ."
    if first.group_codes is not None and second.group_codes is not None:
        pairs = set(zip(first.group_codes.tolist(), second.group_codes.tolist(), strict=True))
        if not len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs}):
            yield "the groups differ."
    yield from _fold_differences(first, second)
    if first.fingerprint != second.fingerprint:
        yield "the training parts differ."


def _fold_differences(first: Predictions, second: Predictions) -> Iterator[str]:
    if first.n_folds != second.n_folds:
        yield f"the plans are {first.plan} against {second.plan}."
    few = min(first.n_repeats, second.n_repeats)
    same = np.array_equal(first.folds[:, :few], second.folds[:, :few])
    if first.n_repeats != second.n_repeats:
        shared = "The first is" if few == 1 else f"The first {few} are"
        hint = f" {shared} the same: `sel(repeat=range({few}))` of the longer one can be joined."
        counts = f"{first.n_repeats} against {formatting.count(second.n_repeats, 'repeat')}"
        yield f"there are {counts}.{hint if same else ''}"
    if not same:
        seeds = [oof.provenance.get("seed") for oof in (first, second)]
        why = f" (seed {seeds[0]} against {seeds[1]})" if None not in seeds and seeds[0] != seeds[1] else ""
        yield f"the folds differ{why}."


def _numbered(oof: Predictions) -> bool:
    """Whether the samples have no names but their numbers."""
    assert oof.samples is not None
    return bool(oof.samples.dtype.kind in "iu" and np.array_equal(oof.samples, np.arange(oof.n_samples)))


def _renamed(first: Predictions, second: Predictions, suffixes: Suffixes | None) -> tuple[Predictions, Predictions]:
    """Both, with names that differ."""
    both = set(first.configs) & set(second.configs)
    if not both:
        return first, second
    if suffixes is None:
        name = next(c for c in first.configs if c in both)
        problem = f"both hold a configuration {name!r}" + (f" ({len(both)} names are in both)" if len(both) > 1 else "")
        raise InputError(problem, remedy="Tell them apart with `join(other, suffixes=(' old', ' new'))`.")
    pair = isinstance(suffixes, (tuple, list)) and len(suffixes) == 2 and all(isinstance(s, str) for s in suffixes)
    if not pair or suffixes[0] == suffixes[1]:
        raise invalid("suffixes", "must be two different endings, such as (' old', ' new')", got(suffixes))
    return tuple(with_ending(oof, both, end) for oof, end in zip((first, second), suffixes, strict=True))  # type: ignore[return-value]


def with_ending(oof: Predictions, names: set[str], ending: str) -> Predictions:
    """The same with an ending behind the names of some configurations."""

    def new(name: str) -> str:
        return name + ending if name in names else name

    facts = dict(oof.provenance)
    if SEEDED in facts:
        facts[SEEDED] = sorted(map(new, facts[SEEDED]))
    if "specs" in facts:
        facts["specs"] = {new(name): spec for name, spec in facts["specs"].items()}
    if "drops" in facts:
        facts["drops"] = [
            {**drop, "config": new(drop["config"]), "compared_with": new(drop["compared_with"])}
            for drop in facts["drops"]
        ]
    return replace(
        oof,
        configs=tuple(map(new, oof.configs)),
        messages={(new(c), r, k): text for (c, r, k), text in oof.messages.items()},
        blocks={name: with_ending(block, names, ending) for name, block in oof.blocks.items()},
        provenance=facts,
    )


def _common_response(first: Predictions, second: Predictions) -> Response:
    """The most that both can give."""
    one, other = first.response, second.response
    if one == other and np.array_equal(_times(first), _times(second)):
        return one
    most: tuple[Response, ...] = ("risk", "score", "label")
    for wanted in most:
        if all(_can(oof, wanted) for oof in (first, second)):
            return wanted
    problem = f"predictions of response {one!r} and {other!r} cannot be joined"
    raise NeedError(problem, remedy="Collect both with the same response.")


def _times(oof: Predictions) -> NDArray[np.float64]:
    """The times of survival curves."""
    return np.empty(0) if oof.times is None else oof.times


def _can(oof: Predictions, response: str) -> bool:
    try:
        oof.respond(response)
    except NeedError:
        return False
    return True


def _answering(oof: Predictions, response: Response) -> Predictions:
    """The same with its predictions in that response."""
    if oof.response == response:
        return oof
    data = np.array(oof.respond(response))
    if response == "label":
        data = np.where(cell_mask(oof.folds, oof.state == State.DONE), data, -1)
    return replace(oof, data=data, response=response, labels=None, threshold=None, times=None)


def _labels(first: Predictions, second: Predictions, response: Response) -> NDArray[np.intp] | None:
    """The models' own labels where the cut of the joined scores would not give them."""
    alike = first.response == second.response and first.threshold == second.threshold
    plain = alike and first.labels is None and second.labels is None
    if response not in ("score", "proba") or plain or not all(_can(oof, "label") for oof in (first, second)):
        return None
    return np.concatenate([oof.respond("label") for oof in (first, second)], axis=1)


def _blocks(first: Predictions, second: Predictions) -> dict[str, Predictions]:
    """The blocks that both have, on the same splits."""
    both = {name: (block, second.blocks[name]) for name, block in first.blocks.items() if name in second.blocks}
    return {
        name: join_predictions(one, other)
        for name, (one, other) in both.items()
        if next(_differences(one, other), None) is None and one.response == other.response
    }


def _provenance(first: Predictions, second: Predictions) -> dict[str, Any]:
    """What holds for both; drops and specifications of either."""
    a, b = first.provenance, second.provenance
    facts = {key: value for key, value in a.items() if key in b and b[key] == value}
    drops = [*a.get("drops", ()), *b.get("drops", ())]
    specs: Mapping[str, Any] = {**a.get("specs", {}), **b.get("specs", {})}
    seeded = {SEEDED: sorted({*a[SEEDED], *b[SEEDED]})} if SEEDED in a and SEEDED in b else {}
    return facts | seeded | ({"drops": drops} if drops else {}) | ({"specs": specs} if specs else {})
