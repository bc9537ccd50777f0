"""Classes with fewer rows than there are folds: they are kept, merged into one class, or left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from .. import formatting
from ..arguments import check_choice
from ..exceptions import InputError
from ..tables.labels import label_text
from .table import LabelledTable, Say

RareClasses = Literal["keep", "merge", "drop"]

# What the classes that are merged are called.
MERGED = "other"


def without_rare(table: LabelledTable, folds: int, choice: RareClasses, say: Say) -> LabelledTable:
    """Do with classes that have fewer rows than there are folds what was asked for, and say so."""
    check_choice(choice, ("keep", "merge", "drop"), "rare_classes")
    if table.task != "classification":
        return table
    classes, counts = np.unique(table.y, return_counts=True)
    rare = classes[counts < folds]
    if not len(rare):
        return table
    which = formatting.listed([str(name) for name in rare])
    members = formatting.count(int(counts[counts < folds].sum()), "row")
    what = (
        f"{formatting.count(len(rare), 'class', 'classes')} with fewer rows than the {folds} folds ({which}; {members})"
    )
    if choice == "keep":
        say(f"{what}: kept, and spread over the folds (or choose --rare-classes merge or drop)")
        return table
    isin = np.isin(table.y, rare)
    if choice == "drop":
        say(f"{what}: left out")
        if len(classes) - len(rare) < 2:
            raise InputError("fewer than two classes are left.", remedy="Use `rare_classes='keep'`, or fewer folds.")
        return table.where(~isin, f"of classes with fewer rows than the {folds} folds ({which})")
    merged, taken = MERGED, set(table.y[~isin].astype(str).tolist())
    while merged in taken:
        merged += " (rare)"
    say(f"{what}: merged into {merged!r}")
    into = {label_text(name): merged for name in rare.tolist()}
    return replace(table, y=np.where(isin, merged, table.y.astype(str)), merged=into)
