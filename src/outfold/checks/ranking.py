"""Caveats of comparisons over many data sets."""

from __future__ import annotations

from .declaration import Check

_DEMSAR = "Raeder et al. 2010, sect. III; Demšar 2006"

CHECKS = (
    Check(
        "OF351",
        "few data sets",
        "caution",
        "Few data sets (or, for chi2, few algorithms): p values of mean ranks are rough.",
        "Read them as a hint, or compare two algorithms with `rank.wilcoxon`, which is exact.",
        _DEMSAR,
    ),
    Check(
        "OF352",
        "tied scores",
        "tip",
        "Some data sets have tied scores.",
        "Nothing with `ties=True`. More digits, where the ties come from rounding.",
        _DEMSAR,
    ),
    Check(
        "OF353",
        "pairs after an omnibus test that found nothing",
        "caution",
        "Pairs were compared although the omnibus test found no difference.",
        "Report the omnibus test; take the pairs as a hint.",
        "Raschka 2018, sect. 4.5; Demšar 2006",
    ),
    Check(
        "OF354",
        "data sets left out",
        "caution",
        "Data sets with missing scores were left out.",
        "Fill in the scores: what is missing is seldom missing by chance.",
        "ours",
    ),
    Check(
        "OF355",
        "ranks of two",
        "tip",
        "Two algorithms were compared by ranks, which know only who won.",
        "Use `rank.wilcoxon`.",
        _DEMSAR,
    ),
    Check(
        "OF356",
        "data sets in full agreement",
        "tip",
        "All data sets rank the algorithms alike, so that F is infinite; p is the exact chance of such agreement.",
        "Nothing.",
        "ours",
    ),
    Check(
        "OF357",
        "data sets without a difference",
        "tip",
        "On some data sets two algorithms do not differ; left out, ranked or shared, they change p.",
        "Say which you took: `zero_method=`, `ties=`.",
        _DEMSAR,
    ),
    Check(
        "OF358",
        "too few data sets for an interval",
        "caution",
        "Too few data sets for an interval at this level.",
        "More data sets, or a lower `confidence_level`.",
        "ours",
    ),
)
