"""Caveats of comparisons of two configurations, and of comparisons over many data sets."""

from __future__ import annotations

from ..compare._auto import unadjusted_notes
from ..compare._compared import selected_note
from .case import Case, Check


def selected_here(case: Case) -> str | None:
    """A winner that these predictions chose, and that they cannot test."""
    if case.selection is None or case.n_candidates < 3:
        return None
    return selected_note(case.selection.name, case.oof.n_configs, "p value of a comparison with it does").text


def many_pairs(case: Case) -> str | None:
    """How many pairs there are to compare."""
    notes = unadjusted_notes(case.n_candidates * (case.n_candidates - 1) // 2)
    return notes[0].text if notes else None


_DEMSAR = "Raeder et al. 2010, sect. III; Demšar 2006"


CHECKS = (
    Check(
        "OF301",
        "tested on the data that picked it",
        "tip",
        "One of the two is the best of all configurations on these same predictions; the p value does not "
        "account for that choice.",
        "Compare on data that was not used to pick the winner, or report `estimate.bbc` for the selected "
        "configuration.",
        "Raschka 2018, sect. 3.3 and 4.5",
        selected_here,
    ),
    Check(
        "OF302",
        "splits treated as independent",
        "caution",
        "The test treats splits of the same samples as independent, and finds differences too often.",
        "Use `t_corrected`.",
        "Raschka 2018, sect. 4.9 and 4.10",
    ),
    Check(
        "OF303",
        "two models that hardly differ",
        "caution",
        "The two models differ on fewer than ten samples, so hardly any test can tell them apart.",
        "Collect more samples.",
        "Raschka 2018, sect. 4.4",
    ),
    Check(
        "OF304",
        "a difference without variance",
        "caution",
        "All samples (splits) differ by exactly the same amount: there is no variance, and no p value.",
        "Look at the predictions; such a difference usually has a technical cause.",
        "ours",
    ),
    Check(
        "OF305",
        "test sets that share samples",
        "caution",
        "Test sets of different splits share samples, which the test does not account for.",
        "Use `t_corrected`.",
        "Raschka 2018, sect. 4.9",
    ),
    Check(
        "OF306",
        "margins of several folds in one area",
        "caution",
        "An area under the ROC curve ranks scores of different folds together. Margins, unlike probabilities, may have a "
        "different scale in every fold.",
        "Prefer configurations with `predict_proba`, or a test by folds.",
        "Tsamardinos et al. 2018, footnote 2",
    ),
    Check(
        "OF307",
        "many pairs without adjustment",
        "tip",
        "Three or more pairs were compared without adjusting the p values: some differ by chance alone.",
        'Use `adjust="holm"`, the default.',
        "Raschka 2018, sect. 4.5",
        many_pairs,
    ),
    Check(
        "OF308",
        "folds treated as one test set",
        "tip",
        "Predictions of several folds are treated as one test set. The test covers chance in the samples, not "
        "chance in the training sets: it is about these models, not about what the learners would do on other "
        "data.",
        "Use a test by resampling, such as `t_corrected`, for a statement about learners.",
        "Raschka 2018, sect. 4.8",
    ),
    Check(
        "OF309",
        "shared samples treated as different",
        "caution",
        "The test assumes that the two models were tested on different samples, but they share them.",
        "Use `mcnemar`.",
        "Raschka 2018, sect. 4.2",
    ),
    Check(
        "OF310",
        "folds on which the metric is undefined",
        "caution",
        "The metric is undefined in some folds, for example because a class is missing there; these are left "
        "out for both.",
        "Use stratified or fewer folds, or a metric such as accuracy.",
        "Tsamardinos et al. 2015, sect. 7",
    ),
    Check(
        "OF311",
        "one difference against ten",
        "caution",
        "The 5x2cv t test uses the first of ten differences; here it has the opposite sign of their mean.",
        "Use `f_5x2cv`, which uses all ten.",
        "Raschka 2018, sect. 4.12",
    ),
    Check(
        "OF315",
        "over repeats, not over samples",
        "tip",
        "The comparison runs over repeats: it is about all partitions of this data set, not about new samples.",
        'Use `over="samples"` for a statement about new samples.',
        "ours",
    ),
    Check(
        "OF316",
        "simulations without a test",
        "tip",
        "In some simulations the test is undefined, for example because a class is missing there; they count "
        "as nothing found.",
        "Use more samples (`n=`), or a metric such as accuracy.",
        "ours",
    ),
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
