"""Caveats of the estimates."""

from __future__ import annotations

from .declaration import Check

CHECKS = (
    Check(
        "OF201",
        "draws that could not be scored",
        "tip",
        "Some bootstrap draws could not be scored, because a class was missing among the samples drawn or left out. They were "
        "drawn again (given draws, and comparisons: left out).",
        "Fine for a few percent. Otherwise `stratify=True`, or more samples.",
        "ours",
    ),
    Check(
        "OF202",
        "the TT correction with leave-one-out",
        "caution",
        "The Tibshirani-Tibshirani correction was used with leave-one-out, where it tends to double the loss.",
        "Use `bbc`.",
        "Tsamardinos et al. 2015, sect. 9",
    ),
    Check(
        "OF203",
        "a corrected value outside the range",
        "caution",
        "The Tibshirani-Tibshirani correction left the range of the metric.",
        "Use `bbc`.",
        "Tsamardinos et al. 2018, sect. 2.3",
    ),
    Check(
        "OF208",
        "the winner's score without correction",
        "caution",
        "The number is the winner's cross-validation score, which is optimistic.",
        "Use `bbc`.",
        "Tsamardinos et al. 2015, sect. 3",
    ),
    Check(
        "OF212",
        "few groups to draw from",
        "caution",
        "The bootstrap has few groups to draw from.",
        "Treat the interval as rough; more groups, not more samples, would help.",
        "ours",
    ),
    Check(
        "OF214",
        "a score on the training samples",
        "caution",
        "The number is a score on the samples the model was fitted on, which is too optimistic.",
        "Use `point632plus`, or any other estimate.",
        "Raschka 2018, sect. 1.3 and 2.4",
    ),
    Check(
        "OF218",
        "no valid interval",
        "caution",
        "No interval is valid for this plan and metric: the splits are a time series, nothing varies, or too few draws can be "
        "scored.",
        "Hold out one test set, or collect more samples; see the page on intervals.",
        "ours",
    ),
    Check(
        "OF219",
        "an interval beyond the metric's range",
        "caution",
        "The interval goes beyond the range of the metric, because it comes from a normal or t distribution. "
        "It is reported unchanged; the end is rough.",
        '`confidence_interval(method="bca")` on a test set, or `"percentile"`, stays within the range; so may '
        "an interval from more samples.",
        "Raschka 2018, sect. 1.7",
    ),
)
