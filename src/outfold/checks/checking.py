"""The public `check`: every caveat that applies to some predictions, in order of severity; and the table of all caveats."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

from .. import formatting
from ..data.criterion import Aggregate
from ..data.predictions import Predictions
from ..docstrings import fill_common
from ..exceptions import got, invalid
from ..metrics import MetricLike
from ..metrics._keeping import kernels_kept
from ..requirements import check_predictions
from ..results import SEVERITIES, Checks, Finding, Severity
from ..select import RuleLike
from . import finders, row_order  # noqa: F401  (they register what they find)
from .case import FINDERS, Case, Find


class Check(NamedTuple):
    """One caveat. ``"error"``: do not report the number before this is solved; ``"caution"``: read it with care; ``"tip"``: good
    to know. Its page in the documentation says more. Without `find` it speaks through the notes of results only.
    """

    code: str
    severity: Severity
    title: str
    source: str
    advice: str
    find: Find | None
    untrained: str  # the advice where nothing was trained, if it is another one: no plan of ours can make such repeats

    @property
    def page(self) -> str:
        """Its page, relative to the documentation."""
        return f"checks/{self.code}.md"

    @property
    def origin(self) -> str:
        """Where the caveat comes from, in words: a paper, or the authors of Outfold."""
        return "the authors of Outfold" if self.source == "ours" else self.source


# Code, severity, title, where the caveat comes from; below these, what to do, and what to do where nothing was trained.
_TABLE = """
OF101 tip | fewer folds than asked for | Tsamardinos et al. 2015, sect. 8.1
    Nothing, or join rare classes. With two or three folds prefer more repeats.
OF102 error | groups on both sides of a split | Raschka 2018, sect. 1.3
    Use `Plan(groups="auto")`, unless the groups do not matter.
OF103 caution | fits gave warnings | ours
    Scale the inputs or raise `max_iter`; the predictions are kept as they are.
OF104 tip | weights in the fits only | ours
    Nothing, or score with your own metric that knows the weights.
OF105 tip | joined as labels | ours
    Collect both with probabilities if you want to compare rankings (AUC).
OF106 tip | shared below exact | ours
    Nothing, or `share="exact"` for the numbers you report.
OF107 caution | a family gave wrong predictions | ours
    Nothing: the predictions kept are those of separate fits. Tell the author of the family.
OF108 tip | a class with fewer members than folds | Tsamardinos et al. 2015, sect. 4
    Nothing, or join rare classes: a score of the class rests on few samples, however many folds there are.
OF109 tip | joined with another selection | ours
    Say what selects, such as `joined.selecting_by("roc_auc", aggregate="fold")`, or give the metric in each call.
OF201 tip | draws that could not be scored | ours
    Fine for a few percent. Otherwise `stratify=True`, or more samples.
OF202 caution | the TT correction with leave-one-out | Tsamardinos et al. 2015, sect. 9
    Use `bbc`.
OF203 caution | a corrected value outside the range | Tsamardinos et al. 2018, sect. 2.3
    Use `bbc`.
OF204 caution | a set metric on small folds | Tsamardinos et al. 2015, sect. 8.1
    Use `bbc`, which pools the folds, or fewer folds, or stratified rounds.
OF205 caution | failed configurations | ours
    See `oof.messages`.
OF206 caution | unfinished folds | Tsamardinos et al. 2018, sect. 3
    Collect the rest: the same call with the same `store`.
OF207 tip | dropped configurations | Tsamardinos et al. 2018, sect. 4
    Nothing.
OF208 caution | the winner's score without correction | Tsamardinos et al. 2015, sect. 3
    Use `bbc`.
OF209 caution | margins of several folds in one ranking | Tsamardinos et al. 2018, footnote 2
    Prefer configurations with `predict_proba`.
OF210 caution | dropped on few predictions | Tsamardinos et al. 2018, sect. 5.2.2
    Use `drop.Bootstrap(min_predictions=50)`, the default.
OF211 caution | halved on few folds | Tsamardinos et al. 2018, sect. 5.2.2
    Use `drop=True`, or no dropping, for the number you report.
OF212 caution | few groups to draw from | ours
    Treat the interval as rough; more groups, not more samples, would help.
OF213 error | the other class may be the positive class | ours
    Name the positive class: `positive=`, `--positive`.
OF214 caution | a score on the training samples | Raschka 2018, sect. 1.3 and 2.4
    Use `point632plus`, or any other estimate.
OF218 caution | no valid interval | ours
    Hold out one test set, or collect more samples; see the page on intervals.
OF219 caution | an interval beyond the metric's range | Raschka 2018, sect. 1.7
    `confidence_interval(method="bca")` on a test set, or `"percentile"`, stays within the range; so may an interval
    from more samples.
OF220 tip | a winner without an error | Wilson 1927
    Read the lower end of the interval, not the score; more samples raise it.
OF221 caution | an interval that may cover too rarely | ours
    Collect more samples, or use K-fold cross-validation and `estimate.bbc`, or `estimate.cv(..., aggregate="pooled")`.
OF222 caution | a metric that needs more samples than a draw leaves out | ours
    Read the interval, not the estimate; or use a metric without this bias, such as MSE or AUC.
OF223 tip | models without survival curves | ours
    Nothing, or give those models a curve: `fit_baseline_model=True`, `low_memory=False`.
OF301 tip | tested on the data that picked it | Raschka 2018, sect. 3.3 and 4.5
    Compare on data that was not used to pick the winner, or report `estimate.bbc` for the selected configuration.
OF302 caution | splits treated as independent | Raschka 2018, sect. 4.9 and 4.10
    Use `t_training`, or `t_corrected` for scores without predictions.
OF303 caution | two models that hardly differ | Raschka 2018, sect. 4.4
    Collect more samples.
OF304 caution | a difference without variance | ours
    Look at the predictions; such a difference usually has a technical cause.
OF305 caution | test sets that share samples | Raschka 2018, sect. 4.9
    Use `t_training`, or `t_corrected` for scores without predictions.
OF306 caution | margins of several folds in one area | Tsamardinos et al. 2018, footnote 2
    Keep probabilities, or use a test by folds. In a search, `neg_log_loss` beside the other scorers keeps them.
OF307 tip | many pairs without adjustment | Raschka 2018, sect. 4.5
    Use `adjust="holm"`, the default.
OF308 tip | folds treated as one test set | Raschka 2018, sect. 4.8
    Use `t_training` for a statement about learners.
OF309 caution | shared samples treated as different | Raschka 2018, sect. 4.2
    Use `mcnemar`.
OF310 caution | folds on which the metric is undefined | Tsamardinos et al. 2015, sect. 7
    Use stratified or fewer folds, or a metric such as accuracy.
OF311 caution | one difference against ten | Raschka 2018, sect. 4.12
    Use `t_training`, which uses all predictions.
OF312 caution | a test that finds differences too often | ours
    Use `t_training`, or collect the plan that `compare.auto` names.
OF315 tip | over repeats, not over samples | ours
    Use `over="samples"` for a statement about new samples.
OF316 tip | simulations without a test | ours
    Use more samples (`n=`), or a metric such as accuracy.
OF317 tip | algorithms as their configurations tune them | Varma and Simon 2006; Raschka 2018, sect. 4.14
    Fix algorithms and configurations before you look at scores, and report them with the result.
OF351 caution | few data sets | Raeder et al. 2010, sect. III; Demšar 2006
    Read them as a hint, or compare two algorithms with `rank.wilcoxon`, which is exact.
OF352 tip | tied scores | Raeder et al. 2010, sect. III; Demšar 2006
    Nothing with `ties=True`. Give more digits if the ties come from rounding.
OF353 caution | pairs after an omnibus test that found nothing | Raschka 2018, sect. 4.5; Demšar 2006
    Report the omnibus test; treat the pairs as a hint.
OF354 caution | data sets left out | ours
    Fill in the scores: missing scores are rarely missing by chance.
OF355 tip | ranks of two | Raeder et al. 2010, sect. III; Demšar 2006
    Use `rank.wilcoxon`.
OF356 tip | data sets in full agreement | ours
    Nothing.
OF357 tip | data sets without a difference | Raeder et al. 2010, sect. III; Demšar 2006
    Say which you used: `zero_method=`, `ties=`.
OF358 caution | too few data sets for an interval | ours
    Use more data sets, or a lower `confidence_level`.
OF401 caution | stopped before it was stable | Raeder et al. 2010, sect. V
    Continue with a larger `max_repeats` and the same `store`, or accept the result.
OF501 caution | accuracy near that of the trivial classifier | Tsamardinos et al. 2015, sect. 8.1 and 8.2
    Select and report by `balanced_accuracy`, `roc_auc` or `mcc`.
OF502 caution | no better than chance | Tsamardinos et al. 2015, sect. 8.1
    Do not claim that anything was learnt; collect more samples, or better features.
OF503 caution | a perfect score | Raschka 2018, sect. 3.9
    Look for features that are known only when the label is, and for preprocessing outside the pipeline.
OF504 error | no estimate can be made | ours
    Use a metric that is a mean over samples, such as accuracy, or more samples.
OF505 caution | labels no better than always predicting one class | Tsamardinos et al. 2015, sect. 8.1
    Choose the threshold inside the pipeline (`TunedThresholdClassifierCV`), weight the classes, or use the ranking only.
OF511 caution | equal rows on both sides of a split | Raschka 2018, sect. 1.3
    Hold copies out together (`groups=`), and oversample inside the pipeline; coarse features make equal rows too.
OF512 tip | configurations that predict the same | ours
    Look at the parameters in which they differ; remove those without an effect.
OF513 error | neighbouring rows on both sides of a split | ours
    Rows in time order: `Plan.from_cv(TimeSeriesSplit())`. Several rows of one patient or place: `groups=`. Otherwise hold out
    blocks of rows: `Plan.from_cv(KFold(10))`. If the order of the rows means nothing, shuffle them before you collect.
OF521 caution | folds without a class | Tsamardinos et al. 2015, sect. 7
    Use stratified folds, the default of `Plan`, or fewer folds.
OF522 tip | training parts far smaller than the data | Raschka 2018, sect. 1.6; Tsamardinos et al. 2018, sect. 2
    Use 5 or 10 folds for the number you report; two folds are for tests.
OF523 tip | leave-one-out | Tsamardinos et al. 2015, sect. 7; Raschka 2018, sect. 3.6
    Use 10 stratified folds, repeated if the fits are cheap.
OF524 error | predictions turned round by the held-out labels | Kohavi 1995
    Use stratified folds, such as `Plan(folds=10)`, and read the score against the baseline of the leaderboard.
OF531 caution | optimism larger than the uncertainty | Tsamardinos et al. 2018, sect. 2.1 and 3
    Report the estimate of `bbc`, never the winner's cross-validation score.
OF532 tip | a winner among many equals | Raschka 2018, sect. 3.10
    Use the fastest or the simplest of them (`select.one_standard_error`), and do not claim that one is best.
OF533 tip | a winner at the edge of the grid | Raschka 2018, sect. 3.2
    Try values beyond it, and collect them into the same store, so that all tried configurations are counted.
OF534 tip | a number of epochs chosen on fewer samples | Tsamardinos et al. 2015, sect. 9
    Choose by something that does not depend on the sample size, such as early stopping inside the fit.
OF535 caution | a score that falls as training grows | Tsamardinos et al. 2015, sect. 2 and 9
    Look at a learning curve (`curves.learning`); let the fit find what depends on the number of samples, such as epochs.
OF541 caution | a winner that rarely led | Raeder et al. 2010, sect. IV-A
    Add repeats: `outfold run --repeats 20`, or in Python `repeats="auto"`, which adds them until the order settles.
    untrained: Run each configuration more often on the same samples until the order settles, or do not rely on the lead.
OF542 tip | skewed scores over repeats | Raeder et al. 2010, sect. IV-B
    Report the median beside the mean.
OF543 tip | repeats that rank differently | Tsamardinos et al. 2018, sect. 5.2.3 and 5.2.4; Raeder et al. 2010, sect. IV-A
    Add repeats, `Plan(repeats=10)` or `repeats="auto"`, or do not rely on the order.
    untrained: Run each configuration more often on the same samples, or do not rely on the order.
"""
_ENTRY = re.compile(
    r"^(OF\d{3}) (\w+) \| (.*) \| (.*)\n((?:    (?!untrained:).*\n)+)(?:    untrained: (.*)\n)?", re.MULTILINE
)
# All checks by code.
CHECKS = {
    code: Check(code, severity, title, source, " ".join(advice.split()), FINDERS.get(code), untrained)
    for code, severity, title, source, advice, untrained in _ENTRY.findall(_TABLE)
}


@fill_common
def check(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    ignore: Iterable[str] = (),
    X: Any = None,
) -> Checks:
    """Find every caveat that applies to these predictions and to the estimate that you would report.

    Nothing is fitted. The estimate is `estimate.bbc` of the selected configuration.

    Parameters: {oof, recorded_metric}
    rule : Rule, callable or None
        How the configuration is selected; None is the rule that the predictions record.
    {aggregate}
    ignore : iterable of str
        Codes to leave out, such as ``["OF502", "OF512"]``.
    X : array-like, data frame or None
        The features, one row for each sample, to find equal rows on both sides of a split. `collect` has looked for them already.

    Returns
    -------
    Checks
        The findings, errors first.

    Examples: {numpy_outfold}
    >>> correct = np.random.default_rng(0).random((80, 150)) < 0.7
    >>> of.check(of.from_arrays(None, correct, response="pointwise")).codes
    ('OF531',)
    """
    check_predictions(oof, "check")
    muted = _codes(ignore)
    with kernels_kept():
        return checked(Case(oof.selecting_by(metric, aggregate=aggregate, rule=rule), None, X), muted)


def checked(case: Case, muted: tuple[str, ...] = ()) -> Checks:
    """What all checks but the muted ones say of a case."""
    oof = case.oof
    findings = [finding for c in CHECKS.values() if c.code not in muted for finding in _findings(c, case)]
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    tried, samples = formatting.count(oof.n_configs, "configuration"), formatting.count(oof.n_samples, "sample")
    return Checks(tuple(findings), case.metric.name, f"{tried} on {samples}, {oof.plan}", muted)


def _findings(check: Check, case: Case) -> list[Finding]:
    """What the check says of the case: its own sentence, or the notes that bear its code."""
    if check.find is not None:
        texts = [case.says(check.code)]
    else:
        texts = list(dict.fromkeys(note.text for note in case.notes if note.code == check.code))
    advice = (check.untrained if case.oof.nothing_trained else "") or check.advice
    about = advice, check.source, check.page
    return [Finding(check.code, check.severity, text, *about) for text in texts if text is not None]


def _codes(ignore: Iterable[str]) -> tuple[str, ...]:
    if not isinstance(ignore, Iterable):
        needed = "must be a list of codes such as ['OF502']"
        raise invalid("ignore", needed, got(ignore))
    codes = (ignore,) if isinstance(ignore, str) else tuple(dict.fromkeys(ignore))
    for code in codes:
        if code not in CHECKS:
            near = get_close_matches(str(code), CHECKS, n=1, cutoff=0)
            given, remedy = f"there is no check {code!r}", f"The nearest is {near[0]}; docs/checks.md lists all."
            raise invalid("ignore", "must hold codes of checks", given, remedy)
    return codes
