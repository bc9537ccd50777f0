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
        "Nothing with `ties=True`. Give more digits if the ties come from rounding.",
        _DEMSAR,
    ),
    Check(
        "OF353",
        "pairs after an omnibus test that found nothing",
        "caution",
        "Pairs were compared although the omnibus test found no difference.",
        "Report the omnibus test; treat the pairs as a hint.",
        "Raschka 2018, sect. 4.5; Demšar 2006",
    ),
    Check(
        "OF354",
        "data sets left out",
        "caution",
        "Data sets with missing scores were left out.",
        "Fill in the scores: missing scores are rarely missing by chance.",
        "ours",
    ),
    Check(
        "OF355",
        "ranks of two",
        "tip",
        "Two algorithms were compared by ranks, which ignore the size of a difference.",
        "Use `rank.wilcoxon`.",
        _DEMSAR,
    ),
    Check(
        "OF356",
        "data sets in full agreement",
        "tip",
        "All data sets rank the algorithms in the same order, so F is infinite; p is the exact probability of "
        "such agreement.",
        "Nothing.",
        "ours",
    ),
    Check(
        "OF357",
        "data sets without a difference",
        "tip",
        "On some data sets two algorithms do not differ; p depends on whether these are left out, ranked or split.",
        "Say which you used: `zero_method=`, `ties=`.",
        _DEMSAR,
    ),
    Check(
        "OF358",
        "too few data sets for an interval",
        "caution",
        "Too few data sets for an interval at this level.",
        "Use more data sets, or a lower `confidence_level`.",
        "ours",
    ),
)
