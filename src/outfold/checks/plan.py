"""Caveats of how samples are held out."""

from __future__ import annotations

import numpy as np

from .. import formatting
from ..data.duplicates import held_out_with_twin
from .case import Case
from .declaration import Check

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
    return f"each of the {n:,} folds holds one sample, so none can be stratified, and each configuration needs {n:,} fits."


CHECKS = (
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
