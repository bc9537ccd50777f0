"""The estimate beside what came true: the same metric on samples that nobody had when the estimate was made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from .. import estimate as estimates
from .. import metrics
from ..arguments import RngLike, check_confidence_level
from ..data.ledger import TEST_PART
from ..data.notes import Note
from ..data.plan import Plan
from ..data.predictions import Predictions, State
from ..data.target import Target, encode
from ..docstrings import fill_with
from ..estimate._default import corrected
from ..exceptions import InputError, NeedError, invalid
from ..fitting.api import refit_one
from ..fitting.data import as_features, as_labels, digest
from ..fitting.predict import Reader
from ..fitting.test_part import parts_of
from ..io import ledger
from ..metrics import Metric, MetricLike
from ..metrics._scoring import recorded_metric
from ..results import Confrontation, Estimate, Interval
from ..stats.two_samples import Independent, difference_interval, difference_pvalue, widened
from ..tables.labels import label_text, merged_labels
from .model import Model
from .ranges import Range, as_frame, outside, ranges_of_frame
from .shifts import feature_shifts, target_shift

# An estimate is about models trained on samples like these, on average; the one model that is used may be better or worse. So
# many times its variance counts. Chosen on other data sets than those of studies/confronting.py, which measures what it does.
ONE_MODEL = 1.5
_TEST_PART, _NEW = "test samples", "new samples"

_document = fill_with(
    {"level": "confidence_level : float\n    Level of the intervals. The test decides at 1 minus it."}
)


@_document
def confront(
    oof: Predictions,
    model: Any,
    X: Any,
    y: Any,
    *,
    metric: MetricLike | None = None,
    estimate: Estimate | None = None,
    groups: Any = None,
    X_train: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: RngLike = 0,
    store: str | os.PathLike[str] | None = None,
) -> Confrontation:
    """Compare the estimate with the score of the model on new samples, whose labels came later.

    Both numbers are uncertain. Square-and-add (MOVER) combines their two intervals into one of the difference, and the numbers
    are compatible if it contains 0. The variance of the estimate is multiplied by 1.5: the estimate is about models trained on
    such samples on average, and this model may be better or worse. If the numbers are not compatible, tests of whether labels and
    features changed hint at the reason. If you compare often, one in twenty comparisons at the level 0.95 may fail by chance.

    Parameters: {oof}
    model : Model, estimator, or the configurations
        The model of `load_model`, or the estimator of `refit`. If you pass the configurations that were collected with a
        ``Plan(test=...)``, the selected one is fitted on all samples outside the test part, and scored on the test part.
    X : pandas or polars data frame, or what the estimator takes
        The features of the new samples; the model must not have been trained on any of them. For a test part, all samples, as
        `collect` got them.
    y : array-like
        Their labels.
    {recorded_metric}
    estimate : Estimate or None
        The estimate to compare with; None is that of `estimate.bbc`, as the report shows it.
    groups : array-like or None
        The group of each new sample, if they are not independent.
    X_train : what the estimator takes, or None
        The features of the training samples, to find shifts. You need not give them with a `Model`, which knows enough of them.
    {level}
    {n_resamples, rng}
    store : str, Path or None
        The .oof file whose ledger keeps the result. Results for the same samples are kept once.

    Returns
    -------
    Confrontation
        Both scores, the interval of the difference, the p value, and hints of shift.
    References: {zou2008}

    Examples: {iris}
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> trees = of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 3])
    >>> oof = of.collect(trees, X[::2], y[::2], of.Plan(folds=5), metric="accuracy", progress=False)
    >>> of.confront(oof, of.refit(oof, trees, X[::2], y[::2]), X[1::2], y[1::2]).compatible
    True
    """
    level = check_confidence_level(confidence_level)
    by = metrics.get(recorded_metric(oof, metric), oof.target.task)
    if by.needs == "live":
        needed = f"{by.name} was computed with the fitted models, so predictions cannot tell it"
        raise NeedError(needed=needed, remedy="Give another `metric`.")
    draws: dict[str, Any] = {"n_resamples": n_resamples, "confidence_level": level, "rng": rng}
    before = _estimate(oof, model, by, draws) if estimate is None else estimate
    if before.metric != by.name:
        raise invalid("estimate", f"must be of the same metric, {by.name}", f"it is of {before.metric}")
    part = _TEST_PART if isinstance(model, Mapping) else _NEW
    if part == _TEST_PART:
        (X_rest, y_rest), (X, y) = parts_of(oof, X, y)
        model = refit_one(oof, model, X_rest, y_rest, before.selected, {})
        groups = oof.provenance[TEST_PART]["groups"]
    # A test part is drawn from the same samples: there is no shift to look for.
    scored, hints = _new_samples(oof, model, X, y, groups, before.selected, X_train, looks=part == _NEW)
    after = estimates.holdout(scored, by, before.selected, **draws)
    found = _compared(before, after, level, hints | {"part": part})
    if store is not None:
        changed = [shift._asdict() for shift in found.drifted]  # of hundreds of features, only these are worth keeping
        ledger.append(store, found.to_dict() | {"shifts": changed})
    return found


def _estimate(oof: Predictions, model: Any, by: Metric, draws: Mapping[str, Any]) -> Estimate:
    """The estimate of the configuration that this metric selects; a saved model was selected by the recorded one."""
    recorded = recorded_metric(oof)
    if isinstance(model, Model) and metrics.get(recorded, oof.target.task).name != by.name:
        return estimates.bbc(oof, by, selected_by=recorded, **draws)
    return corrected(oof, by, **draws)


def _compared(before: Estimate, after: Estimate, level: float, hints: Mapping[str, Any]) -> Confrontation:
    first, second = (Independent(_centre(one), one.confidence_interval) for one in (after, before))
    second = widened(second, ONE_MODEL)
    interval, pvalue = None, None
    if before.interval is not None and after.interval is not None:
        interval, pvalue = Interval(*difference_interval(first, second, level)), difference_pvalue(first, second)
    return Confrontation(
        selected=before.selected,
        metric=before.metric,
        greater_is_better=before.greater_is_better,
        estimate=before.value,
        estimate_interval=None if before.interval is None else before.confidence_interval(level),
        observed=after.value,
        observed_interval=after.interval,
        interval=interval,
        pvalue=pvalue,
        confidence_level=level,
        method=before.method,
        n_samples=before.n_samples,
        n_new=after.n_samples,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=tuple(Note(note.code, note.text) for note in after.notes),
        **hints,
    )


def _centre(one: Estimate) -> float:
    return one.value if one.centre is None else one.centre


# -- new samples --------------------------------------------------------------------------------------------


def _new_samples(
    oof: Predictions, model: Any, X: Any, y: Any, groups: Any, selected: str, X_train: Any, looks: bool
) -> tuple[Predictions, dict[str, Any]]:
    """The predictions of the model for new samples, and what tells whether these are of another kind."""
    labels = as_labels(y)
    estimator, ranges, name, n_merged = model, None, "the target", 0
    if isinstance(model, Model):
        _refuse_another(oof, model, selected)
        labels, n_merged = merged_labels(labels, model.about.merged)
        estimator, ranges, name = model.estimator, model.about.ranges, model.about.target
        X = model.features(X)
    elif X_train is not None:
        ranges = ranges_of_frame(X_train)
    target = _as_trained(oof.target, labels)
    features = as_features(X, len(target))
    marks = {"data": digest(features), "labels": digest(labels)}
    made: Mapping[str, Any] = oof.provenance
    if marks["data"] in (made.get("data"), made.get(TEST_PART, {}).get("data")):
        problem = "X holds the samples that the model was trained on"
        raise InputError(problem, remedy="Give samples that it has not seen.")
    shifts, beyond = _drift(X, ranges)
    changed = target_shift(oof.target, target, name) if looks else None
    hints = {**marks, "target_shift": changed, "shifts": shifts, "n_outside": beyond, "n_merged": n_merged}
    return _predicted(oof, estimator, features, target, groups, selected), hints


def _drift(X: Any, ranges: Mapping[str, Range] | None) -> tuple[tuple[Any, ...], int | None]:
    if ranges is None:
        return (), None
    frame = as_frame(X)
    lacking = [name for name in ranges if name not in frame.columns]
    if lacking:
        raise invalid("X", "must have the columns of the training samples", f"there is no {lacking[0]!r}")
    return feature_shifts(frame, ranges), int(outside(frame, ranges).any(axis=1).sum())


def _refuse_another(oof: Predictions, model: Model, selected: str) -> None:
    if model.about.configuration != selected:
        given = f"the model is {model.about.configuration!r}, and the predictions select {selected!r}"
        raise invalid("model", "must be the configuration that the predictions select", given)
    made = oof.provenance
    if any(key in made and getattr(model.about, key) != made[key] for key in ("data", "labels")):
        raise invalid("model", "must be fitted on the samples of the predictions", "it was fitted on others")


def _as_trained(known: Target, labels: Any) -> Target:
    """New labels with the codes of the training labels; classes that are lacking, or of another type, do not matter."""
    if known.classes is None:
        return encode(labels, task="survival" if known.task == "survival" else "regression")
    codes = {label_text(label): code for code, label in enumerate(known.classes.tolist())}
    texts = [label_text(label) for label in labels.tolist()]
    strange = sorted({text for text in texts if text not in codes})
    if strange:
        shown = ", ".join(strange[:5])
        raise invalid("y", f"must hold the classes {', '.join(codes)}", f"it also holds {shown}")
    return Target(known.task, np.array([codes[text] for text in texts], dtype=np.intp), known.classes)


def _predicted(oof: Predictions, estimator: Any, X: Any, target: Target, groups: Any, selected: str) -> Predictions:
    """What the fitted model predicts, as predictions on one test set."""
    read = Reader(oof.response, target.classes, oof.times)(estimator, X)
    return Predictions(
        target=target,
        data=read.values[None, None],
        folds=np.zeros((len(target), 1), dtype=np.int32),
        state=np.full((1, 1, 1), State.DONE, dtype=np.uint8),
        configs=(selected,),
        response=oof.response,
        plan=Plan(folds=1, stratify=False, groups=groups is not None, kind="given"),
        groups=None if groups is None else np.asarray(groups),
        threshold=oof.threshold,
        labels=None if read.labels is None else read.labels[None, None],
        criterion=oof.criterion,
        times=oof.times,
    )
