"""`Predictions`: out-of-fold predictions of every configuration that was tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..arguments import known_names
from ..docstrings import fill_with
from ..exceptions import InputError, got, invalid
from . import provider
from .cells import Response as Response
from .cells import State as State
from .cells import check_all, cut_labels, own_labels
from .criterion import Aggregate, Criterion
from .notes import Note
from .plan import Kind, Plan
from .responses import in_response
from .seeds import SEEDS
from .splitting import Splits, fingerprint, group_codes
from .survival import losses
from .target import Target

if TYPE_CHECKING:
    from ..metrics import MetricLike
    from ..results import Leaderboard, Selection

# In the provenance: repeats are added until it is enough.
AUTO = "auto"
# Blocks that have one repeat, or several next to each other, for each repeat: one for every outer fold, round or seed.
_BY_REPEAT = ("inner", "inbag", SEEDS)


_TEXTS = {
    "metric": "metric : str, callable, Metric or None\n    What to score by; None is the recorded metric.",
    "aggregate": (
        'aggregate : {"pooled", "within", "fold"} or None\n'
        "    Score all samples of a repeat together, pairs of one fold only, or take the mean over folds; None is as recorded."
    ),
    "rule": "rule : Rule, callable or None\n    How a configuration is picked by its score; None is the recorded rule.",
    "oof_of_two": (
        ">>> import outfold as of\n>>> predicted = [[0.1, 0.4], [0.8, 0.7], [0.6, 0.2], [0.3, 0.9]]\n"
        '>>> oof = of.from_arrays([0, 1, 1, 0], predicted, configs=["a", "b"])'
    ),
    "oof_of_one": ">>> import outfold as of\n>>> oof = of.from_arrays([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3])",
}


@fill_with(_TEXTS)
class WithConfigs:
    """What has named configurations."""

    configs: tuple[str, ...]

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
        Examples: {oof_of_two}
        >>> oof.config_index("b")
        1
        """
        if isinstance(config, (int, np.integer)) and 0 <= config < len(self.configs):
            return int(config)
        try:
            return self.configs.index(str(config))
        except ValueError:
            there = known_names(str(config), self.configs, f"`oof.configs` lists the {len(self.configs):,} there are")
            raise InputError(f"no configuration {config!r}; {there}.") from None


@fill_with(_TEXTS)
@dataclass(frozen=True, eq=False, repr=False)
class Predictions(WithConfigs):
    """Out-of-fold predictions of every configuration that was tried.

    `collect`, `from_arrays`, `from_frame`, `read` and `load` make this object; it cannot be changed. All estimates, tests and
    reports are computed from it.

    Attributes
    ----------
    target : Target
        The labels.
    data : ndarray
        (R, C, N) or (R, C, N, K): predictions by repeat, configuration, sample (and class). Class codes for
        ``label``; the probability of the positive class for a binary ``proba``. For ``survival``, the risk is followed by the
        probabilities of no event until each of `times`, NaN for a model that gives none. Cells that are not done hold
        NaN (-1 for codes); `state` says why.
    folds : ndarray of int32
        (N, R) the fold that held out a sample in a repeat; -1 where none did.
    state : ndarray of uint8
        (C, R, F) `State` of every cell.
    configs : tuple of str
        Names of the configurations, in the order you gave them.
    response : str
        What the numbers are: label, score, proba, value, risk, survival or pointwise; none where only `live_scores` are kept.
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
        The threshold above which a score means the positive class; None if it is not known.
    blocks : mapping
        Named further predictions: ``inner`` (nested CV), ``fresh`` (of the selected configuration, on a new partition or
        the test part), ``inbag`` (of bootstrap rounds for the samples they drew), ``resub`` (of models fitted on all samples
        for the same samples), ``seeds`` (of each seed, where predictions are means over several).
    messages : mapping
        Why cells failed, by (configuration, repeat, fold).
    notes : tuple of Note
        What you should know about the splits.
    provenance : mapping
        Where the predictions come from: seed, versions, hashes and times, in types that json can hold.
    seconds : ndarray or None
        (C, R, F) how long fitting and predicting took in every cell, NaN if that is not known; None for predictions
        made elsewhere.
    labels : ndarray or None
        (R, C, N) class codes that ``predict`` of the models gave, -1 where there is no prediction; None if the scores or
        probabilities give the same labels, as they usually do.
    live_scores : mapping
        Scores that need the fitted models, computed right after the fits: (C, R, F) by name, NaN where a cell is not done. Names
        that start with "train " are for the training samples.
    criterion : Criterion
        What selects a configuration: the metric, the aggregate and the rule that all methods use unless you pass others;
        `selecting_by` changes it.
    times : ndarray or None
        (T,) the times of survival curves; None unless the response is ``survival``.

    Examples: {outfold}
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
    live_scores: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    criterion: Criterion = field(default_factory=Criterion)
    times: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if not self.params:
            object.__setattr__(self, "params", tuple({} for _ in self.configs))
        if self.samples is None:
            object.__setattr__(self, "samples", np.arange(len(self.target)))
        if self.train is not None:
            object.__setattr__(self, "train", dict(self.train))
        self._check()
        for value in (self.target.y, self.target.event, *self.__dict__.values(), *self.live_scores.values()):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        for name in ("blocks", "messages", "provenance", "live_scores"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def _check(self) -> None:
        check_all(self)
        if self.labels is not None:
            object.__setattr__(self, "labels", own_labels(self, self.labels))

    def __reduce__(self) -> tuple[Any, ...]:
        # The read-only mappings cannot be pickled; what is made again from plain ones is checked and read-only again.
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        plain = {name: dict(v) if isinstance(v, MappingProxyType) else v for name, v in values.items()}
        for name in ("messages", "train"):  # skops writes no dicts with keys of several parts
            plain[name] = None if plain[name] is None else list(plain[name].items())
        return Predictions, tuple(plain.values())

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
    def nothing_trained(self) -> bool:
        """Whether the predictions came without folds: each repeat predicts all samples, with models made beforehand."""
        return self.plan.kind == "given" and self.n_folds == 1 and not self.folds.any()

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
        Examples: {oof_of_two}
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
        names = {self.configs[i]: None for i in index}
        return self._with_cells(
            (slice(None), index),
            state=self.state[index],
            seconds=None if self.seconds is None else self.seconds[index],
            live_scores={name: scores[index] for name, scores in self.live_scores.items()},
            configs=tuple(self.configs[i] for i in index),
            params=tuple(self.params[i] for i in index),
            blocks={k: b._sel_configs(index) for k, b in self.blocks.items()},
            messages={k: v for k, v in self.messages.items() if k[0] in names},
        )

    def _with_cells(self, part: tuple[Any, ...], **fields: Any) -> Predictions:
        """The same with the predictions of a part of the repeats and configurations, and with other fields to go with them."""
        labels = None if self.labels is None else self.labels[part]
        return replace(self, data=self.data[part], labels=labels, **fields)

    def _sel_repeats(self, index: list[int]) -> Predictions:
        train = self.train
        if train is not None:
            train = {(new, k): rows for new, r in enumerate(index) for (old, k), rows in train.items() if old == r}
        kind: Kind = "given" if self.plan.kind == "blocked" else self.plan.kind
        messages = {(c, index.index(r), k): v for (c, r, k), v in self.messages.items() if r in index}
        # Another block was made for a choice among all repeats.
        blocks = {name: block for name, block in self.blocks.items() if name in (*_BY_REPEAT, "resub")}
        for name in _BY_REPEAT:
            if name in blocks:
                n = blocks[name].n_repeats // self.n_repeats
                blocks[name] = blocks[name]._sel_repeats([r * n + k for r in index for k in range(n)])
        return self._with_cells(
            (index,),
            folds=np.ascontiguousarray(self.folds[:, index]),
            state=np.ascontiguousarray(self.state[:, index]),
            seconds=None if self.seconds is None else np.ascontiguousarray(self.seconds[:, index]),
            live_scores={name: np.ascontiguousarray(scores[:, index]) for name, scores in self.live_scores.items()},
            plan=replace(self.plan, kind=kind, repeats=len(index)),
            train=train,
            blocks=blocks,
            messages=messages,
        )

    def join(self, other: Predictions, *, suffixes: tuple[str, str] | None = None) -> Predictions:
        """The configurations of both in one `Predictions`, so that those of one file can be compared with those of another.

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
        Examples: {oof_of_two}
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
            The response: ``label``, ``score``, ``proba``, ``value``, ``risk``, ``pointwise``, ``any``, ``predict`` (of a
            classification the labels, else ``any``), ``model`` (the response with the class codes in a last column) or
            ``losses`` (what survival curves lose for each sample: their mean is the integrated Brier score).

        Returns
        -------
        ndarray
            (R, C, N) or (R, C, N, K) predictions.
        Examples: {oof_of_two}
        >>> oof.respond("label")[0, 0]
        array([0, 1, 1, 0])
        """
        return in_response(self, needs)

    @cached_property
    def _risks(self) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.data[..., 0])

    @cached_property
    def _losses(self) -> NDArray[np.float64]:
        assert self.times is not None
        return losses(self.data, self.target, self.times)

    def cut(self) -> NDArray[np.intp] | None:
        """Class codes by cutting scores or probabilities.

        Returns
        -------
        ndarray or None
            (R, C, N) class codes; None where no cut is known.
        Examples: {oof_of_two}
        >>> oof.cut()[0, 1]
        array([0, 1, 0, 1])
        """
        several = self.data.ndim == 4
        if self.response == "proba" or (self.response == "score" and (several or self.threshold is not None)):
            return cut_labels(self.data, several, 0.5 if self.threshold is None else self.threshold)
        return None

    # -- scores -----------------------------------------------------------------------------------------

    def scores(self, metric: MetricLike | None = None) -> NDArray[np.float64]:
        """The metric of every cell.

        Parameters: {metric}

        Returns
        -------
        ndarray
            (configurations, repeats, folds) scores; NaN where the cell is not done or the metric is undefined.
        Examples: {oof_of_two}
        >>> oof.scores("accuracy")[:, 0, 0]
        array([1. , 0.5])
        """
        scores: NDArray[np.float64] = provider("scores")(self, metric)
        return scores

    def leaderboard(self, metric: MetricLike | None = None, aggregate: Aggregate | None = None) -> Leaderboard:
        """Configurations in the order of their cross-validation score, best first.

        The first score is optimistic, because it is the best of many; `outfold.estimate.bbc` says by how much.

        Parameters: {metric, aggregate}

        Returns
        -------
        Leaderboard
            Names, scores and standard errors, and the configuration that the recorded rule selects.
        Examples: {oof_of_two}
        >>> oof.leaderboard("accuracy").configs
        ('a', 'b')
        """
        ranked: Leaderboard = provider("leaderboard")(self, metric, aggregate)
        return ranked

    def selecting_by(
        self, metric: MetricLike | None = None, *, aggregate: Aggregate | None = None, rule: Any = None
    ) -> Predictions:
        """The same predictions with another record of what selects; whatever is not given stays as it is.

        Parameters: {metric, aggregate, rule}

        Returns
        -------
        Predictions
            The predictions, not copied.
        Examples: {oof_of_two}
        >>> oof = oof.selecting_by("accuracy", aggregate="fold")
        >>> oof.selection().rule
        'best accuracy of 2 configurations'
        """
        return recording(self, provider("criterion")(self, metric, aggregate, rule))

    def selection(
        self, metric: MetricLike | None = None, *, aggregate: Aggregate | None = None, rule: Any = None
    ) -> Selection:
        """The configuration that is selected: by the recorded metric, aggregate and rule, or by others.

        Parameters: {metric, aggregate, rule}

        Returns
        -------
        Selection
            The configuration, its cross-validation score and how many are tied.
        Examples: {oof_of_two}
        >>> oof.selection("accuracy").name
        'a'
        """
        selected: Selection = provider("selection")(self, metric, aggregate, rule)
        return selected

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
            The file, such as ``run.oof``; its folder must exist. Endings of other formats, such as ``.csv``, are refused.

        Returns
        -------
        Path
            The file that was written.
        Examples: {oof_of_one}
        >>> import os, tempfile
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
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; by default the first of the former two that is installed.

        Returns
        -------
        DataFrame
            Columns sample, config, repeat, fold, label (or time and event; none for pointwise scores), prediction (or
            ``prediction_<class>``), predicted_label where it does not follow from the prediction, and group where there
            are groups.
        Examples: {oof_of_one}
        >>> import pandas
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
        from .printing import facts_of  # here: most predictions are never printed

        return facts_of(self)


_DROP_COLUMNS = ("config", "repeat", "fold", "probability", "compared_with", "n_predictions")


def recording(oof: Predictions, criterion: Criterion) -> Predictions:
    """The same predictions with this record of what selects; nothing that was checked or computed depends on it."""
    return _with(oof, criterion=criterion)


def made_by(oof: Predictions, provenance: Mapping[str, Any]) -> Predictions:
    """The same predictions with this provenance; nothing that was checked or computed depends on it."""
    return _with(oof, provenance=MappingProxyType(dict(provenance)))


def _with(oof: Predictions, **fields: Any) -> Predictions:
    out = object.__new__(type(oof))
    out.__dict__.update(oof.__dict__, **fields)
    return out


def begun(oof: Predictions) -> Predictions:
    """Where repeats are added until it is enough: without those that were planned up to the cap but not needed."""
    if oof.provenance.get("repeats") != AUTO:
        return oof
    n = oof.provenance.get("stopped_after")
    if n is None:  # still going on, or interrupted
        touched = np.flatnonzero(np.any((oof.state == State.DONE) | (oof.state == State.FAILED), axis=(0, 2)))
        n = int(touched[-1]) + 1 if len(touched) else 1
    return oof if n >= oof.n_repeats else oof.sel(repeat=range(n))
