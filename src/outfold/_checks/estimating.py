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
        "a corrected value that cannot be",
        "caution",
        "The Tibshirani-Tibshirani correction left the range of the metric.",
        "Use `bbc`.",
        "Tsamardinos et al. 2018, sect. 2.3",
    ),
    Check(
        "OF208",
        "the winner's own score",
        "caution",
        "The number is the winner's own score, which is optimistic.",
        "Use `bbc`.",
        "Tsamardinos et al. 2015, sect. 3",
    ),
    Check(
        "OF212",
        "few groups to draw from",
        "caution",
        "The bootstrap has few groups to draw from.",
        "Read the interval as a rough one; more groups, not more samples, would help.",
        "ours",
    ),
)
