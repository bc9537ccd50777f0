"""The artifact: out-of-fold predictions of every configuration that was tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..exceptions import InputError, NeedError, got, invalid
from . import provider
from .notes import Note
from .plan import NOT_HELD_OUT, Plan, Splits, fingerprint, group_codes
from .target import Target

if TYPE_CHECKING:
    from ..metrics import MetricLike
    from ..results import Leaderboard

Response = Literal["label", "score", "proba", "value", "risk", "pointwise"]
RESPONSES: tuple[str, ...] = get_args(Response)


# In the provenance: repeats are added until it is enough.
AUTO = "auto"


class State(IntEnum):
    """What is known of a cell (configuration, repeat, fold).

    Examples
    --------
    >>> import outfold as of
    >>> [state.name for state in of.State]
    ['PENDING', 'DONE', 'DROPPED', 'FAILED']
    """

    PENDING = 0
    DONE = 1
    DROPPED = 2
    FAILED = 3


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Out-of-fold predictions of every configuration that was tried.

    Made by `collect`, `from_arrays`, `from_frame`, `read` or `load`; immutable. Everything this package says about a
    model is a function of this object.

    Attributes
    ----------
    target : Target
        The labels.
    data : ndarray
        (R, C, N) or (R, C, N, K): predictions by repeat, configuration, sample (and class). Class codes for
        ``label``; the probability of the positive class for a binary ``proba``. Cells that are not done hold
        NaN (-1 for codes); `state` says why.
    folds : ndarray of int32
        (N, R) the fold that held out a sample in a repeat; -1 where none did.
    state : ndarray of uint8
        (C, R, F) `State` of every cell.
    configs : tuple of str
        Names of the configurations, in the order you gave them.
    response : str
        What the numbers are: label, score, proba, value, risk or pointwise.
    plan : Plan
        How samples were held out.
    params : tuple of dict
        The parameters that tell configurations apart, one dict for each configuration.
    groups : ndarray or None
        (N,) group labels.
    samples : ndarray
        (N,) sample names.
    train : dict or None
        Training positions by (repeat, fold), only where they are not simply all other samples.
    threshold : float or None
        Where scores are cut to give labels; None where only you could know.
    blocks : mapping
        Named further predictions: ``inner`` (nested CV), ``fresh`` (of the selected configuration, on a new partition or
        the test part), ``inbag`` (of bootstrap rounds for the samples they drew), ``resub`` (of models fitted on all samples
        for the same samples).
    messages : mapping
        Why cells failed, by (configuration, repeat, fold).
    notes : tuple of Note
        What you should know about the splits.
    provenance : mapping
        Seed, versions, hashes and times: how the predictions came about, in types that json can hold.
    seconds : ndarray or None
        (C, R, F) how long fitting and predicting took in every cell, NaN where that is not known; None for predictions
        made elsewhere.
    labels : ndarray or None
        (R, C, N) class codes that ``predict`` of the models gave, -1 where there is no prediction; None where cutting
        the scores or probabilities gives the same, as it mostly does.

    Examples
    --------
    >>> import outfold as of
    >>> oof = of.from_arrays([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3], folds=[0, 0, 1, 1])
    >>> oof.n_samples, oof.n_configs, oof.n_folds
    (4, 1, 2)
    """

    target: Target
    data: NDArray[Any]
    folds: NDArray[np.int32]
    state: NDArray[np.uint8]
    configs: tuple[str, ...]
    response: Response
    plan: Plan
    params: tuple[Mapping[str, Any], ...] = ()
    groups: NDArray[Any] | None = None
    samples: NDArray[Any] | None = None
    train: dict[tuple[int, int], NDArray[np.intp]] | None = None
    threshold: float | None = None
    blocks: Mapping[str, Predictions] = field(default_factory=dict)
    messages: Mapping[tuple[str, int, int], str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    seconds: NDArray[np.float64] | None = None
    labels: NDArray[np.intp] | None = None

    def __post_init__(self) -> None:
        if not self.params:
            object.__setattr__(self, "params", tuple({} for _ in self.configs))
        if self.samples is None:
            object.__setattr__(self, "samples", np.arange(len(self.target)))
        _check(self)
        if self.labels is not None:
            object.__setattr__(self, "labels", _own_labels(self, self.labels))
        arrays = (
            self.data,
            self.folds,
            self.state,
            self.target.y,
            self.target.event,
            self.groups,
            self.samples,
            self.seconds,
            self.labels,
        )
        for array in arrays:
            if array is not None:
                array.setflags(write=False)
        for name in ("blocks", "messages", "provenance"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        # The read-only mappings cannot be pickled; what is made again from plain ones is checked and read-only again.
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return _made_again, ({k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in values.items()},)

    # -- sizes and parts --------------------------------------------------------------------------------

    @property
    def n_samples(self) -> int:
        """Number of samples N."""
        return len(self.target)

    @property
    def n_configs(self) -> int:
        """Number of configurations C."""
        return len(self.configs)

    @property
    def n_repeats(self) -> int:
        """Number of repeats R."""
        return int(self.folds.shape[1])

    @property
    def n_folds(self) -> int:
        """Largest number of folds in any repeat."""
        return int(self.state.shape[2])

    @property
    def y(self) -> NDArray[Any]:
        """The labels as the user knows them."""
        return self.target.labels

    @property
    def P(self) -> NDArray[Any]:  # noqa: N802  (the papers' name)
        """Predictions by sample, configuration, repeat (and class)."""
        return np.swapaxes(self.data, 0, 2)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of labels and splits; a paired comparison needs equal fingerprints."""
        return fingerprint(self.target, self.folds, self.train)

    @cached_property
    def splits(self) -> Splits:
        """The splits these predictions were made on."""
        return Splits(self.plan, self.folds, self.train, self.notes)

    @cached_property
    def planned(self) -> NDArray[np.bool_]:
        """(R, F) True for the cells that hold out at least one sample."""
        out = np.zeros(self.state.shape[1:], dtype=bool)
        for r, k in self.splits.cells:
            out[r, k] = True
        return out

    @property
    def group_codes(self) -> NDArray[np.intp] | None:
        """Groups as codes, or None."""
        return None if self.groups is None else group_codes(self.groups, self.n_samples)

    @property
    def completeness(self) -> float:
        """Share of the planned cells that are done."""
        return float(np.mean(self.state[:, self.planned] == State.DONE))

    def config_index(self, config: str | int) -> int:
        """Position of a configuration given by name or by position.

        Parameters
        ----------
        config : str or int
            The configuration.

        Returns
        -------
        int
            Its position in `configs`.

        Examples
        --------
        >>> import outfold as of
        >>> oof = of.from_arrays([0, 1, 1, 0], [[0.1, 0.4], [0.8, 0.7], [0.6, 0.2], [0.3, 0.9]], configs=["a", "b"])
        >>> oof.config_index("b")
        1
        """
        if isinstance(config, (int, np.integer)) and 0 <= config < self.n_configs:
            return int(config)
        try:
            return self.configs.index(str(config))
        except ValueError:
            raise InputError(
                f"no configuration {config!r} among {formatting.count(self.n_configs, 'configuration')}; "
                f"the nearest name is {_nearest(str(config), self.configs)!r}."
            ) from None

    def sel(
        self,
        config: str | int | Sequence[str | int] | None = None,
        repeat: int | Sequence[int] | None = None,
    ) -> Predictions:
        """The part with the given configurations and repeats, in the order given.

        Parameters
        ----------
        config : str, int, sequence of these or None
            Configurations by name or position; None for all.
        repeat : int, sequence of int or None
            Repeats by number, from 0; None for all.

        Returns
        -------
        Predictions
            The part.

        Examples
        --------
        >>> import outfold as of
        >>> oof = of.from_arrays([0, 1, 1, 0], [[0.1, 0.4], [0.8, 0.7], [0.6, 0.2], [0.3, 0.9]], configs=["a", "b"])
        >>> oof.sel("b").configs
        ('b',)
        """
        out = self
        if config is not None:
            names = [config] if isinstance(config, (str, int, np.integer)) else list(config)
            out = out._sel_configs([self.config_index(c) for c in names])
        if repeat is not None:
            wanted = list(repeat) if isinstance(repeat, Iterable) else [repeat]
            wrong = [r for r in wanted if not isinstance(r, (int, np.integer)) or not 0 <= r < self.n_repeats]
            if wrong or not wanted:
                raise invalid("repeat", f"must be in 0..{self.n_repeats - 1}", got(repeat))
            out = out._sel_repeats(wanted)
        return out

    def _sel_configs(self, index: list[int]) -> Predictions:
        if not index:
            raise invalid("config", "must name at least one configuration", got([]))
        names = tuple(self.configs[i] for i in index)
        return replace(
            self,
            data=self.data[:, index],
            state=self.state[index],
            seconds=None if self.seconds is None else self.seconds[index],
            labels=None if self.labels is None else self.labels[:, index],
            configs=names,
            params=tuple(self.params[i] for i in index),
            blocks={k: b._sel_configs(index) for k, b in self.blocks.items()},
            messages={k: v for k, v in self.messages.items() if k[0] in names},
        )

    def _sel_repeats(self, index: list[int]) -> Predictions:
        train = None
        if self.train is not None:
            train = {(new, k): rows for new, r in enumerate(index) for (old, k), rows in self.train.items() if old == r}
        messages = {(c, index.index(r), k): v for (c, r, k), v in self.messages.items() if r in index}
        return replace(
            self,
            data=self.data[index],
            folds=np.ascontiguousarray(self.folds[:, index]),
            state=np.ascontiguousarray(self.state[:, index]),
            seconds=None if self.seconds is None else np.ascontiguousarray(self.seconds[:, index]),
            labels=None if self.labels is None else self.labels[index],
            plan=replace(self.plan, repeats=len(index))
            if self.plan.kind != "blocked"
            else replace(self.plan, kind="given", repeats=len(index)),
            train=train,
            blocks={k: _block_repeats(k, index, b, self) for k, b in self.blocks.items() if k in _BY_REPEAT},
            messages=messages,
        )

    def join(self, other: Predictions, *, suffixes: tuple[str, str] | None = None) -> Predictions:
        """The configurations of both in one artifact, so that those of one file can be compared with those of another.

        Both must hold the same labels and the same splits: equal fingerprints. Where one has probabilities and the other
        scores or labels, what both have is kept. ``a | b`` is the same.

        Parameters
        ----------
        other : Predictions
            Predictions on the same samples and splits.
        suffixes : tuple of two str or None
            Endings for the names that both have. Without them such names are an error.

        Returns
        -------
        Predictions
            The configurations of both.

        Examples
        --------
        >>> import outfold as of
        >>> oof = of.from_arrays([0, 1, 1, 0], [[0.1, 0.4], [0.8, 0.7], [0.6, 0.2], [0.3, 0.9]], configs=["a", "b"])
        >>> oof.join(oof, suffixes=(" old", " new")).configs
        ('a old', 'b old', 'a new', 'b new')
        """
        joined: Predictions = provider("join")(self, other, suffixes)
        return joined

    def __or__(self, other: Predictions) -> Predictions:
        return self.join(other)

    # -- responses --------------------------------------------------------------------------------------

    def respond(self, needs: str) -> NDArray[Any]:
        """Predictions in the response that a metric needs; an error says what to do where they cannot be given so.

        Parameters
        ----------
        needs : str
            The response: ``label``, ``score``, ``proba``, ``value``, ``risk``, ``pointwise``, ``any`` or ``model`` (the
            response with the class codes in a last column).

        Returns
        -------
        ndarray
            (R, C, N) or (R, C, N, K) predictions.

        Examples
        --------
        >>> import outfold as of
        >>> oof = of.from_arrays([0, 1, 1, 0], [[0.1, 0.4], [0.8, 0.7], [0.6, 0.2], [0.3, 0.9]], configs=["a", "b"])
        >>> oof.respond("label")[0, 0]
        array([0, 1, 1, 0])
        """
        if needs in (self.response, "any"):
            return self.data
        if needs == "model":
            return _all_answers(self)
        if needs == "label" and self.labels is not None:
            return self.labels
        convert = _CONVERT.get((self.response, needs))
        if convert is None or (self.response == "score" and needs == "label" and self.threshold is None):
            given = f"these predictions are {_MEANING[self.response]}"
            raise NeedError(
                argument="the metric", needed=f"needs {_MEANING[needs]}", given=given, remedy=_advice(needs)
            )
        return np.asarray(convert(self))

    def cut(self) -> NDArray[np.intp] | None:
        """Class codes by cutting scores or probabilities.

        Returns
        -------
        ndarray or None
            (R, C, N) class codes; None where no cut is known.

        Examples
        --------
        >>> import outfold as of
        >>> oof = of.from_arrays([0, 1, 1, 0], [[0.1, 0.4], [0.8, 0.7], [0.6, 0.2], [0.3, 0.9]], configs=["a", "b"])
        >>> oof.cut()[0, 1]
        array([0, 1, 0, 1])
        """
        by_threshold = self.response == "score" and self.data.ndim == 3
        if (self.response, "label") not in _CONVERT or (by_threshold and self.threshold is None):
            return None
        return _labels_of_scores(self)

    # -- scores -----------------------------------------------------------------------------------------

    def scores(self, metric: MetricLike) -> NDArray[np.float64]:
        """The metric of every cell.

        Parameters
        ----------
        metric : str, callable or Metric
            How to score.

        Returns
        -------
        ndarray
            (configurations, repeats, folds) scores; NaN where the cell is not done or the metric is undefined.

        Examples
        --------
        >>> import outfold as of
        >>> oof = of.from_arrays([0, 1, 1, 0], [[0.1, 0.4], [0.8, 0.7], [0.6, 0.2], [0.3, 0.9]], configs=["a", "b"])
        >>> oof.scores("accuracy")[:, 0, 0]
        array([1. , 0.5])
        """
        scores: NDArray[np.float64] = provider("scores")(self, metric)
        return scores

    def leaderboard(self, metric: MetricLike, aggregate: Literal["pooled", "fold"] = "pooled") -> Leaderboard:
        """Configurations in the order of their cross-validation score, best first.

        The first score is optimistic, because it is the best of many; `outfold.estimate.bbc` says by how much.

        Parameters
        ----------
        metric : str, callable or Metric
            How to score.
        aggregate : {"pooled", "fold"}, default "pooled"
            Score all samples of a repeat together, or take the mean over folds.

        Returns
        -------
        Leaderboard
            Names, scores and standard errors.

        Examples
        --------
        >>> import outfold as of
        >>> oof = of.from_arrays([0, 1, 1, 0], [[0.1, 0.4], [0.8, 0.7], [0.6, 0.2], [0.3, 0.9]], configs=["a", "b"])
        >>> oof.leaderboard("accuracy").configs
        ('a', 'b')
        """
        ranked: Leaderboard = provider("leaderboard")(self, metric, aggregate)
        return ranked

    @property
    def drop_log(self) -> Any:
        """Frame of the configurations dropped while collecting: when, how sure, compared with what, on how many samples."""
        drops = [drop for drop in self.provenance.get("drops", ()) if drop["config"] in self.configs]
        columns = {key: [drop[key] for drop in drops] for key in _DROP_COLUMNS}
        columns["probability"] = [np.nan if p is None else p for p in columns["probability"]]
        return formatting.make_frame(columns)

    # -- out --------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write one .oof file (SQLite, no pickle); an existing file is replaced as a whole.

        Parameters
        ----------
        path : str or Path
            The file; its folder must exist.

        Returns
        -------
        Path
            The file that was written.

        Examples
        --------
        >>> import os, tempfile
        >>> import outfold as of
        >>> oof = of.from_arrays([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     oof.save(os.path.join(folder, "run.oof")).name
        'run.oof'
        """
        saved: Path = provider("save")(self, path)
        return saved

    def to_frame(self, backend: str | None = None) -> Any:
        """A long table with a row for every (sample, configuration, repeat) that has a prediction.

        Parameters
        ----------
        backend : str or None
            ``"pandas"`` or ``"polars"``; by default the first of them that is installed.

        Returns
        -------
        DataFrame
            Columns sample, config, repeat, fold, label (or time and event; none for pointwise scores), prediction (or
            ``prediction_<class>``), and group where there are groups.

        Examples
        --------
        >>> import outfold as of
        >>> import pandas
        >>> oof = of.from_arrays([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3])
        >>> oof.to_frame("pandas").shape
        (4, 6)
        """
        return provider("to_frame")(self, backend)

    def __repr__(self) -> str:
        return (
            f"<Predictions of {formatting.count(self.n_configs, 'configuration')} on "
            f"{formatting.count(self.n_samples, 'sample')}, {self.plan}, {self.response}, {self.fingerprint}>"
        )

    def __str__(self) -> str:
        return formatting.facts("Predictions", self._facts())

    def _repr_html_(self) -> str:
        return formatting.facts_html("Predictions", self._facts())

    def _facts(self) -> Iterable[tuple[str, str]]:
        yield "samples", formatting.count(self.n_samples, "sample").split()[0] + _balance(self.target)
        if self.groups is not None:
            yield "groups", f"{len(np.unique(group_codes(self.groups, self.n_samples))):,}"
        names = ", ".join(formatting.shorten(c, 30) for c in self.configs[:3])
        yield "configurations", f"{self.n_configs:,} ({names}{', …' if self.n_configs > 3 else ''})"
        yield "plan", str(self.plan)
        yield "response", _MEANING[self.response]
        yield "cells", _cells_text(self)
        if self.messages:
            message, n = Counter(self.messages.values()).most_common(1)[0]
            yield (
                "failed",
                f"{formatting.shorten(message, 100)} ({n:,} of {formatting.count(len(self.messages), 'failed cell')})",
            )
        if self.blocks:
            yield "blocks", ", ".join(self.blocks)
        yield "fingerprint", self.fingerprint
        for note in self.notes:
            yield note.code, note.text


def _made_again(values: dict[str, Any]) -> Predictions:
    return Predictions(**values)


_DROP_COLUMNS = ("config", "repeat", "fold", "probability", "compared_with", "n_predictions")

_MEANING = {
    "label": "class labels",
    "score": "scores",
    "proba": "class probabilities",
    "value": "predicted values",
    "risk": "risk scores",
    "pointwise": "per-sample scores",
}


def _advice(needs: str) -> str:
    if needs in ("score", "proba"):
        return f"Use `collect(response='{needs}')`, or a metric of labels such as accuracy."
    if needs == "label":
        return "Use `collect(response='label')` or `collect(response='proba')`, or the metric roc_auc."
    if needs == "pointwise":
        return "Use a metric of this response, such as accuracy or mse, or give `response='pointwise'`."
    return f"Give predictions with `response='{needs}'`, or use another metric."


def _labels_of_scores(oof: Predictions) -> NDArray[np.intp]:
    return cut_labels(oof.data, oof.data.ndim == 4, 0.5 if oof.threshold is None else oof.threshold)


def _all_answers(oof: Predictions) -> NDArray[Any]:
    """(R, C, N, K + 1) the response and, for classes, the codes of the labels in a last column."""
    if oof.target.classes is None:
        return oof.data
    values = oof.data if oof.data.ndim == 4 else oof.data[..., None]
    return np.concatenate([values, oof.respond("label")[..., None]], axis=-1, dtype=np.float64)


def cut_labels(values: NDArray[Any], several: bool, threshold: float | None) -> NDArray[np.intp]:
    """Class codes by the cut: the largest of `several` columns, or what lies above the threshold."""
    if several:
        return np.asarray(np.argmax(np.nan_to_num(values, nan=-np.inf), axis=-1), dtype=np.intp)
    # predict() of scikit-learn gives the first class on the boundary, hence the strict comparison.
    return np.asarray(values > threshold).astype(np.intp)


def _own_labels(oof: Predictions, labels: NDArray[Any]) -> NDArray[np.intp] | None:
    """The models' own labels, completed by the cut where they are not known; None where they are the cut."""
    if oof.response not in ("score", "proba") or labels.shape != oof.data.shape[:3]:
        needed = f"must go with scores or probabilities and have shape {oof.data.shape[:3]}"
        raise invalid("labels", needed, f"these have shape {labels.shape} and go with {_MEANING[oof.response]}")
    done = cell_mask(oof.folds, oof.state == State.DONE)
    unknown = done & (labels < 0)
    cut = oof.cut()
    if cut is None and unknown.any():
        raise invalid("labels", "of scores without a threshold must be given for every cell that is done")
    if cut is not None and not np.any(done & ~unknown & (labels != cut)):
        return None
    out = np.where(done, labels, -1).astype(np.intp)
    if cut is not None:
        out[unknown] = cut[unknown]
    assert oof.target.classes is not None
    if out.max(initial=-1) >= len(oof.target.classes):
        raise invalid("labels", f"must be class codes below {len(oof.target.classes)}", f"the largest is {out.max()}")
    return out


# Probabilities serve as scores; labels come from either by the cut or the largest.
_CONVERT = {
    ("proba", "score"): lambda oof: oof.data,
    ("proba", "label"): _labels_of_scores,
    ("score", "label"): _labels_of_scores,
}


def _balance(target: Target) -> str:
    if target.classes is not None:
        counts = np.bincount(target.y, minlength=len(target.classes))
        shown = ", ".join(f"{c!s}: {n:,}" for c, n in zip(target.classes[:5], counts, strict=False))
        return f" ({len(counts)} classes, {shown}{', …' if len(counts) > 5 else ''})"
    if target.event is not None:
        return f" ({int(target.event.sum()):,} events, {int((~target.event).sum()):,} censored)"
    if target.task == "regression":
        return f" (values {formatting.number(target.y.min())} to {formatting.number(target.y.max())})"
    return ""


def _cells_text(oof: Predictions) -> str:
    states = oof.state[:, oof.planned]
    total = states.size
    if np.all(states == State.DONE):
        return f"all {total:,} done"
    parts = [f"{int(np.sum(states == s)):,} {s.name.lower()}" for s in State if np.any(states == s)]
    return f"{', '.join(parts)} of {total:,}"


# Blocks that belong to repeats or to none; another one was made for a choice among all of them.
_BY_REPEAT = ("inner", "inbag", "resub")


def _block_repeats(name: str, index: list[int], block: Predictions, oof: Predictions) -> Predictions:
    """The part of a block that belongs to the given repeats."""
    if name == "resub":
        return block
    return block._sel_repeats(_inner_repeats(index, block, oof) if name == "inner" else index)


def _inner_repeats(index: list[int], block: Predictions, oof: Predictions) -> list[int]:
    """Repeats of the block ``inner`` that belong to the given outer repeats: one for every outer fold."""
    per_repeat = block.n_repeats // oof.n_repeats
    return [r * per_repeat + k for r in index for k in range(per_repeat)]


def inner_folds(folds: NDArray[np.int32], n_folds: int) -> NDArray[np.int32]:
    """Folds of the block ``inner``: repeat r * K + k is the inner CV of outer fold k, whose samples are left out."""
    columns = []
    for r in range(folds.shape[1]):
        for k in range(n_folds):
            columns.append(np.where(folds[:, r] == k, NOT_HELD_OUT, folds[:, r]))
    return np.stack(columns, axis=1).astype(np.int32)


def begun(oof: Predictions) -> Predictions:
    """Where repeats are added until it is enough: without those that were planned up to the cap but not needed."""
    if oof.provenance.get("repeats") != AUTO:
        return oof
    n = oof.provenance.get("stopped_after")
    if n is None:  # still going on, or interrupted
        touched = np.flatnonzero(np.any((oof.state == State.DONE) | (oof.state == State.FAILED), axis=(0, 2)))
        n = int(touched[-1]) + 1 if len(touched) else 1
    return oof if n >= oof.n_repeats else oof.sel(repeat=range(n))


# -- invariants -----------------------------------------------------------------------------------------


def _check(oof: Predictions) -> None:
    n, c, r = len(oof.target), len(oof.configs), oof.folds.shape[1]
    if oof.data.shape[:3] != (r, c, n):
        raise InputError(
            f"{n} labels, {c} configurations and {r} repeats need predictions of shape ({n}, {c}, {r}); "
            f"these have {tuple(np.swapaxes(oof.data, 0, 2).shape)}."
        )
    if oof.response not in RESPONSES:
        raise invalid("response", f"must be one of {', '.join(RESPONSES)}", got(oof.response))
    if c == 0:
        raise InputError("there is no configuration; at least one is needed.")
    duplicates = (
        sorted({name for name in oof.configs if oof.configs.count(name) > 1}) if len(set(oof.configs)) < c else []
    )
    if duplicates:
        raise InputError(
            f"configuration names must differ; {duplicates[0]!r} occurs more than once", remedy="Rename one of them."
        )
    for name in ("groups", "samples"):
        values = getattr(oof, name)
        if values is not None and len(values) != n:
            raise invalid(name, f"must have one entry for each of the {n} samples", f"it has {len(values)}")
    if oof.samples is not None and len(set(oof.samples.tolist())) < n:
        raise invalid("samples", "must all differ", "at least one name occurs twice")
    _check_values(oof)


def _check_values(oof: Predictions) -> None:
    """Every done cell holds usable numbers; the other cells hold none."""
    done = cell_mask(oof.folds, oof.state == State.DONE)
    values = oof.data if oof.data.ndim == 3 else oof.data[..., 0]
    ok = (values >= 0) if oof.response == "label" else np.isfinite(oof.data if oof.data.ndim == 3 else oof.data.sum(-1))
    bad = done & ~ok
    if bad.any():
        repeat, config, sample = (int(i[0]) for i in np.nonzero(bad))
        raise InputError(
            f"{int(bad.sum())} predictions are NaN or infinite, the first for sample {oof.samples[sample]!s} by "  # type: ignore[index]
            f"{oof.configs[config]!r} in repeat {repeat}",
            remedy="Repair them, or mask whole cells (numpy.ma) to say they were not run.",
        )
    if oof.response == "proba":
        check_probabilities(oof.data, done)
    if oof.response in ("score", "proba", "label") and oof.target.classes is None:
        argument = f"response={oof.response!r}"
        raise invalid(argument, "needs class labels", f"y holds {oof.target.task} targets", "Use `response='value'`.")


def check_probabilities(data: NDArray[Any], done: NDArray[np.bool_]) -> None:
    """Refuse what cannot be probabilities."""
    held = data[done]
    if held.size and (held.min() < -1e-9 or held.max() > 1 + 1e-9):
        problem = f"probabilities must lie in [0, 1]; these go from {held.min():.4g} to {held.max():.4g}"
        raise InputError(problem, remedy="Use `response='score'` for decision values.")
    if data.ndim == 4 and held.size and np.abs(held.sum(-1) - 1).max() > 1e-4:
        problem = "the class probabilities of a sample must sum to 1; they do not"
        raise InputError(problem, remedy="Use `response='score'` for other scores.")


def cell_mask(folds: NDArray[np.int32], cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(R, C, N) True where the cell that holds out sample i in repeat r is marked in `cells` (C, R, F)."""
    c, r, _ = cells.shape
    out = np.zeros((r, c, folds.shape[0]), dtype=bool)
    for repeat in range(r):
        held = folds[:, repeat] >= 0
        out[repeat][:, held] = cells[:, repeat, folds[held, repeat]]
    return out


def _nearest(wanted: str, names: Sequence[str]) -> str:
    """The name most like the one wanted, where 1.0 and 1 are the same number."""
    import re
    from difflib import get_close_matches

    def settled(name: str) -> str:
        return re.sub(r"(?<![\w.])\d+(\.\d*)?(e[-+]?\d+)?(?![\w.])", lambda m: f"{float(m[0]):.15g}", name)

    by_text = {settled(name): name for name in reversed(names)}
    return by_text[get_close_matches(settled(wanted), list(by_text), n=1, cutoff=0)[0]]
