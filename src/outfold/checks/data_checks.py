"""Caveats of the samples, of how they are held out, and of the fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.duplicates import held_out_with_twin, row_codes
from ..exceptions import InputError
from .case import Case, Check

# Equal rows of fewer samples than this share can hardly move a score.
_TWINS = 0.02
# Predictions that differ by less than this part of their range are the same but for rounding.
_SAME = 1e-6


def twins(case: Case) -> str | None:
    """Samples that were held out while an equal row was trained on."""
    oof = case.oof
    held = int(np.any(oof.folds >= 0, axis=1).sum())
    n = oof.provenance.get("twins") if case.X is None else _twins_in(case)
    if n is None or n < 2 or n < _TWINS * held:
        return None
    return f"{n:,} of {held:,} samples were held out while a sample with exactly the same features was trained on."


def _twins_in(case: Case) -> int:
    oof = case.oof
    X = case.X if hasattr(case.X, "shape") else np.asarray(case.X)
    if X.shape[:1] != (oof.n_samples,):
        raise InputError(f"X must have one row for each of the {oof.n_samples:,} samples; it has shape {X.shape}.")
    codes = row_codes(X)
    if codes is None:
        raise InputError(f"X must be an array, a sparse matrix or a frame; got {type(case.X).__name__}.")
    return int(held_out_with_twin(codes, oof.folds, oof.train).sum())


def same_predictions(case: Case) -> str | None:
    """Configurations that predict what another does."""
    pairs = _same_pairs(case)
    if not pairs:
        return None
    first, second = (case.scoring.names[j] for j in pairs[0])
    n = len({j for pair in pairs for j in pair})
    which = f"{first} and {second}" + (", for one" if n > 2 else "")
    return f"{n:,} of {formatting.count(case.n_candidates, 'configuration')} predict the same as another: {which}."


def _same_pairs(case: Case) -> list[tuple[int, int]]:
    """Pairs of candidates, each the nearest in a projection, whose predictions differ by rounding only."""
    data, who = case.oof.data, case.scoring.candidates
    first = data[case.scoring.cells[0][0]]
    first = (first if len(who) == len(first) else first[who]).reshape(len(who), -1)
    # Equal predictions have equal projections; what is near there is compared in full.
    weights = np.random.default_rng(0).random(first.shape[1])
    projected = first @ weights
    if np.isnan(projected).any():  # samples that were not held out
        first = np.nan_to_num(first, nan=0.0)
        projected = first @ weights
    slack = _SAME * float(np.ptp(first))
    order = np.argsort(projected, kind="stable")
    rounding = 1e-9 * float(np.abs(projected).max())
    near = np.flatnonzero(np.diff(projected[order]) <= slack * weights.sum() + rounding)
    pairs = (sorted((int(order[i]), int(order[i + 1]))) for i in near)
    return sorted((a, b) for a, b in pairs if _equal(data[:, who[a]], data[:, who[b]], slack))


def _equal(one: NDArray[Any], other: NDArray[Any], slack: float) -> bool:
    return bool(np.all((np.abs(one - other) <= slack) | (np.isnan(one) & np.isnan(other))))


# Models trained on a smaller share than this are noticeably worse than one trained on all samples.
_SMALL_TRAINING = 0.6


def split_groups(case: Case) -> str | None:
    """Groups that are on both sides of a split."""
    oof, codes = case.oof, case.oof.group_codes
    if codes is None:
        return None
    n_groups = int(codes.max()) + 1
    split = np.unique(codes[held_out_with_twin(codes, oof.folds, oof.train)])
    if not len(split):
        return None
    return f"{len(split):,} of {formatting.count(n_groups, 'group')} are on both sides of a split; the plan ignores groups."


def missing_classes(case: Case) -> str | None:
    """Folds that lack a class, which stratified ones would not."""
    oof, target = case.oof, case.oof.target
    if target.classes is None or case.leave_one_out or case.one_test_set:
        return None
    n_classes, n_folds = len(target.classes), oof.state.shape[2] + 1
    # One row for each fold; the last row has the samples that no fold holds out.
    tables = [
        np.bincount((folds % n_folds) * n_classes + target.y, minlength=n_folds * n_classes).reshape(n_folds, n_classes)
        for folds in oof.folds.T
    ]
    counts = np.array([tables[r][k] for r, k in case.scoring.cells])
    lacking = np.sum(counts == 0, axis=0)
    if not lacking.any():
        return None
    worst = int(np.argmax(lacking))
    size = int(np.sum(target.y == worst))
    return (
        f"class {target.classes[worst]!s}, {size:,} of {formatting.count(oof.n_samples, 'sample')}, is missing in "
        f"{lacking[worst]:,} of {len(counts):,} folds; the plan is not stratified by class."
    )


def small_training(case: Case) -> str | None:
    """Models that learnt from far fewer samples than the final one will."""
    oof = case.oof
    if case.one_test_set:
        return None
    sizes = [len(oof.splits.train_rows(r, k)) for r, k in case.scoring.cells]
    mean = float(np.mean(sizes))
    if not 0 < mean < _SMALL_TRAINING * oof.n_samples:
        return None
    return (
        f"the models learnt from {mean:,.0f} of {formatting.count(oof.n_samples, 'sample')} ({mean / oof.n_samples:.0%}); "
        "one fitted on all is mostly better than these scores say."
    )


def leave_one_out(case: Case) -> str | None:
    """Folds of one sample."""
    if not case.leave_one_out:
        return None
    n = case.oof.n_samples
    return (
        f"each of the {n:,} folds holds one sample, so none can be stratified, and each configuration needs {n:,} fits."
    )


CHECKS = (
    Check(
        "OF103",
        "fits gave warnings",
        "caution",
        "Fits gave warnings, most often that a solver did not converge.",
        "Scale the inputs or raise `max_iter`; the predictions are kept as they are.",
        "ours",
    ),
    Check(
        "OF104",
        "weights in the fits only",
        "tip",
        "Sample weights were used in the fits; in the scores every sample counts once.",
        "Nothing, or score with your own metric that knows the weights.",
        "ours",
    ),
    Check(
        "OF105",
        "joined as labels",
        "tip",
        "Artifacts with probabilities and with labels were joined; only the labels are kept.",
        "Collect both with probabilities if you want to compare rankings (AUC).",
        "ours",
    ),
    Check(
        "OF106",
        "shared below exact",
        "tip",
        "Some predictions come from fits shared between configurations, at a level below exact.",
        'Nothing, or `share="exact"` for the numbers you report.',
        "ours",
    ),
    Check(
        "OF107",
        "a family gave wrong predictions",
        "caution",
        "A family of shared fits predicted something else than a separate fit, and was not used.",
        "Nothing: the predictions kept are those of separate fits. Tell the author of the family.",
        "ours",
    ),
    Check(
        "OF205",
        "failed configurations",
        "caution",
        "Some configurations failed in at least one fold; they cannot be selected.",
        "See `oof.messages`.",
        "ours",
    ),
    Check(
        "OF206",
        "unfinished folds",
        "caution",
        "Not all folds are done; the estimate uses the finished ones.",
        "Collect the rest: the same call with the same `store`.",
        "Tsamardinos et al. 2018, sect. 3",
    ),
    Check(
        "OF511",
        "equal rows on both sides of a split",
        "caution",
        "Samples were held out while others with exactly the same features were trained on: a leak, if they are copies.",
        "Hold copies out together (`groups=`), and oversample inside the pipeline; coarse features make equal rows too.",
        "Raschka 2018, sect. 1.3",
        twins,
    ),
    Check(
        "OF512",
        "configurations that predict the same",
        "tip",
        "Different configurations predict the same, up to rounding: a parameter has no effect, or was not set.",
        "Look at the parameters in which they differ; remove those without an effect.",
        "ours",
        same_predictions,
    ),
    Check(
        "OF101",
        "fewer folds than asked for",
        "tip",
        "The plan has fewer folds than you asked for, because the rarest class has fewer members.",
        "Nothing, or join rare classes. With two or three folds prefer more repeats.",
        "Tsamardinos et al. 2015, sect. 8.1",
    ),
    Check(
        "OF102",
        "groups on both sides of a split",
        "error",
        "Groups were given, but the plan ignores them: samples of one group are in the training and the test part.",
        'Use `Plan(groups="auto")`, unless the groups do not matter.',
        "Raschka 2018, sect. 1.3",
        split_groups,
    ),
    Check(
        "OF521",
        "folds without a class",
        "caution",
        "Some folds lack a class, because they are not stratified; scores of these folds ignore the class.",
        "Use stratified folds, the default of `Plan`, or fewer folds.",
        "Tsamardinos et al. 2015, sect. 7",
        missing_classes,
    ),
    Check(
        "OF522",
        "training parts far smaller than the data",
        "tip",
        "The models learnt from far fewer samples than the final model will, so the scores are rather too low.",
        "Use 5 or 10 folds for the number you report; two folds are for tests.",
        "Raschka 2018, sect. 1.6; Tsamardinos et al. 2018, sect. 2",
        small_training,
    ),
    Check(
        "OF523",
        "leave-one-out",
        "tip",
        "Every fold holds one sample: no fold can be stratified, and the score varies more than that of 10 folds.",
        "Use 10 stratified folds, repeated if the fits are cheap.",
        "Tsamardinos et al. 2015, sect. 7; Raschka 2018, sect. 3.6",
        leave_one_out,
    ),
)
