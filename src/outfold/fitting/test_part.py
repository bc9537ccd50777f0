"""A test part that nothing sees: it is cut off before `collect` begins, and only its positions are recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.ledger import TEST_PART
from ..data.plan import Plan
from ..data.predictions import Predictions
from ..data.target import Target
from ..exceptions import InputError, NeedError, invalid
from .configs import as_configs
from .data import as_features, as_given, as_labels, digest, has_rows, refuse_masked, row_names, take
from .job import Options, labels_of


def training_rows(plan: Plan, target: Target, groups: Any, rng: int) -> NDArray[np.intp]:
    """The positions of the samples that the plan does not keep apart; all of them if it has no test part."""
    if not plan.has_test_part:
        return np.arange(len(target))
    return np.flatnonzero(plan.split(target, groups, rng).folds[:, 0] >= 0)


def keep_apart(configs: Any, X: Any, y: Any, options: Options) -> tuple[Any, Any, Options]:
    """Features, labels and options without the test part of the plan; the options record which samples it has."""
    refuse_masked(X=X, y=y)
    if options.response == "none" or y is None:
        raise invalid("plan", "with a test part needs labels and predictions", "got none")
    target = labels_of(as_configs(configs), y, options)
    n, features, labels = len(target), as_features(X, len(target)), as_given(y)
    rest = training_rows(options.plan, target, options.groups, options.rng)
    test = np.setdiff1d(np.arange(n), rest)
    record = {
        "rows": test.tolist(),
        "n_samples": n,
        "data": digest(features),
        "labels": digest(as_labels(labels)),
        "groups": None if options.groups is None else options.groups[test].tolist(),
    }
    cut = {name: take(value, rest) if has_rows(value, n) else value for name, value in options.fit_params.items()}
    names = row_names(features) if options.samples is None else options.samples
    without = replace(
        options,
        plan=replace(options.plan, test=None),
        groups=None if options.groups is None else options.groups[rest],
        samples=rest if names is None else names[rest],
        fit_params=cut,
        test_part=record,
    )
    return take(features, rest), take(labels, rest), without


def parts_of(oof: Predictions, X: Any, y: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The samples that were collected, and those of the test part, from all samples as they were given to `collect`."""
    record = oof.provenance.get(TEST_PART)
    if record is None:
        needed, given = "there is no test part", f"the plan of these predictions is {oof.plan}"
        raise NeedError(needed=needed, given=given, remedy="Collect with `Plan(folds=10, test=0.3)`.")
    features, labels = as_features(X, record["n_samples"]), as_given(y)
    for name, values, key in (("X", features, "data"), ("y", as_labels(labels), "labels")):
        if digest(values) != record[key]:
            problem = f"{name} is not what was given to `collect`, so the test part cannot be found in it"
            raise InputError(problem, remedy=f"Give the same `{name}`, with all samples.")
    test: NDArray[np.intp] = np.array(record["rows"], dtype=np.intp)
    rest = np.setdiff1d(np.arange(record["n_samples"]), test)
    collected, apart = ((take(features, rows), take(labels, rows)) for rows in (rest, test))
    return collected, apart
