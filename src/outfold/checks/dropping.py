"""Caveats of having given up on configurations early."""

from __future__ import annotations

from .declaration import Check

CHECKS = (
    Check(
        "OF207",
        "dropped configurations",
        "tip",
        "Some configurations were dropped before the end; they cannot be selected.",
        "Nothing.",
        "Tsamardinos et al. 2018, sect. 4",
    ),
    Check(
        "OF210",
        "dropped on few predictions",
        "caution",
        "Configurations were dropped when fewer than 50 samples had predictions, where a drop is mostly noise.",
        "Use `drop.Bootstrap(min_predictions=50)`, the default.",
        "Tsamardinos et al. 2018, sect. 5.2.2",
    ),
    Check(
        "OF211",
        "halved on few folds",
        "caution",
        "Successive halving dropped configurations on few folds, mostly by luck. The estimate corrects only "
        "for the choice among the last ones, so it is too optimistic.",
        "Use `drop=True`, or no dropping, for the number you report.",
        "Tsamardinos et al. 2018, sect. 5.2.2",
    ),
)
