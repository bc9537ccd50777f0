"""The report: everything it says is asked of the library once, and can be had as html, Markdown, LaTeX, json and csv."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from .. import compare, stability
from .._version import __version__
from ..arguments import RngLike, as_seed, check_count, is_number
from ..charts import collected, comparisons, estimates, responses, values
from ..charts.description import Chart, about_data
from ..checks.case import Case
from ..checks.checking import checked
from ..citations import cite, references_of
from ..data.criterion import name_of
from ..data.ledger import LEDGER, in_words
from ..data.predictions import Predictions, State
from ..docstrings import fill_common
from ..estimate import at_threshold
from ..estimate._beside import Beside, beside
from ..estimate._calibration import calibration
from ..estimate._default import corrected
from ..estimate._threshold import at_thresholds, read_choice
from ..exceptions import FileError, InputError, invalid
from ..formatting import called, csv_cell, json_ready
from ..io.database import written_file
from ..metrics import MetricLike
from ..metrics._keeping import alone, kernels_kept
from ..metrics._scoring import Aggregate, recorded_metric, selecting
from ..requirements import check_predictions, check_requirements
from ..results import AtThreshold, Baseline, Calibration, Checks, Comparisons, Estimate, Finding, Leaderboard
from ..select import RuleLike
from ..stats.resampling import BLOCK
from . import page, text

# Draws of the bands of curves: an end of them is off by a fifth of a standard error, a twentieth of the band's width.
_BAND_DRAWS = 200
_COMPARED = 5
_MOST_CLASSES = 7
_MOST_LABELS = 30
_MOST_REPEATS_IN_GRID = 50


@fill_common
@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """One page on how good the selected configuration is, how that was found, and what to be careful about.

    `report` makes it.

    Attributes
    ----------
    title : str
        Title of the page.
    headline : str
        The answer in one sentence.
    how : tuple of (str, str)
        How the answer was found: pairs of a heading and its text.
    estimate : Estimate
        The performance of the selected configuration on new samples.
    leaderboard : Leaderboard
        All configurations by their cross-validation scores.
    rows : tuple of dict
        The same, with standard error, share of draws that select it, seconds and status for each configuration.
    comparisons : Comparisons or None
        The selected configuration against the next few; None if no test is valid.
    no_comparison : str
        Why there are no comparisons.
    checks : Checks
        The caveats that apply.
    methods : str
        A paragraph for a paper.
    provenance : tuple of (str, str)
        What you need to repeat the work: pairs of a heading and its text.
    pictures : tuple of Chart
        The charts of the page, in order.
    data : dict or None
        The table that the predictions were made from, as `report` was told; None if it was not.
    description : str or None
        The selected configuration in words for a reader; None if there are none.
    importance : tuple of dict
        How much each feature matters: ``name``, ``mean`` and ``sd``, most important first; empty if not known.
    thresholds : tuple of AtThreshold
        Sensitivity, specificity, PPV and NPV at the threshold to use and at others; empty unless there are two classes with
        probabilities or scores.
    calibration : Calibration or None
        Calibration slope and intercept of the selected configuration; None unless there are probabilities of two classes.
    beside : Beside or None
        Of survival curves, the integrated Brier score of the selected configuration (or its concordance, if that score selects);
        None for other predictions.

    Examples: {numpy_outfold}
    >>> correct = np.random.default_rng(0).random((80, 150)) < 0.7
    >>> made = of.report(of.from_arrays(None, correct, response="pointwise"))
    >>> made.to_markdown().splitlines()[0]
    '# Outfold report'
    """

    title: str
    headline: str
    how: tuple[tuple[str, str], ...]
    estimate: Estimate
    leaderboard: Leaderboard
    rows: tuple[Mapping[str, Any], ...]
    comparisons: Comparisons | None
    no_comparison: str
    checks: Checks
    methods: str
    provenance: tuple[tuple[str, str], ...]
    pictures: tuple[Chart, ...]
    data: Mapping[str, Any] | None = None
    description: str | None = None
    importance: tuple[Mapping[str, Any], ...] = ()
    thresholds: tuple[AtThreshold, ...] = ()
    calibration: Calibration | None = None
    graded: str = "probability"  # what a threshold cuts
    beside: Beside | None = None

    def __repr__(self) -> str:
        return f"<Report: {self.headline}>"

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"error {f.code}  {f.text}" for f in self.checks.errors)])

    def _repr_html_(self) -> str:
        return self.estimate._repr_html_()

    @property
    def cautions(self) -> tuple[Finding, ...]:
        """The findings that a reader of the headline must know: errors first, then cautions."""
        return tuple(f for f in self.checks if f.severity in ("error", "caution"))

    @property
    def references(self) -> tuple[str, ...]:
        """The papers behind the numbers, for `cite`."""
        tests = [] if self.comparisons is None else references_of(self.comparisons)
        curves = () if self.beside is None or self.beside.estimate is None else ("Graf 1999",)
        return (self.estimate.reference, *tests, *curves)

    @cached_property
    def bibtex(self) -> str:
        """BibTeX of the papers behind the numbers."""
        return cite(self)

    def to_dict(self) -> dict[str, Any]:
        """Every number of the page, ready for json."""
        facts: dict[str, Any] = {
            "title": self.title,
            "headline": self.headline,
            "how": dict(self.how),
            "estimate": self.estimate.to_dict(),
            "configurations": [dict(row) for row in self.rows],
            "comparisons": None if self.comparisons is None else self.comparisons.to_dict(),
            "no_comparison": self.no_comparison,
            "checks": self.checks.to_dict(),
            "methods": self.methods,
            "bibtex": self.bibtex,
            "provenance": dict(self.provenance),
            "pictures": {picture.name: picture.numbers for picture in self.pictures},
            "data": self.data,
            "description": self.description,
            "importance": [dict(row) for row in self.importance],
            "thresholds": [found.to_dict() for found in self.thresholds],
            "calibration": None if self.calibration is None else self.calibration._asdict(),
            "beside": beside_dict(self.beside),
        }
        return {key: json_ready(value) for key, value in facts.items()}

    def to_csv(self) -> str:
        """The table of configurations as csv text with a header, one line for each."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.rows[0])
        writer.writerows(map(csv_cell, row.values()) for row in self.rows)
        return out.getvalue()

    def to_html(self) -> str:
        """One html page that needs no network and no other file."""
        return page.render(self)

    def to_markdown(self) -> str:
        """The sentences and tables as Markdown, without pictures."""
        return text.markdown(self)

    def to_latex(self) -> str:
        """The methods paragraph and the tables for a paper, with booktabs rules."""
        return text.latex(self)

    def save(self, path: str | Path) -> Path:
        """Write the report to a file; an existing file is replaced as a whole.

        Parameters
        ----------
        path : str or Path
            Where to write. The ending ``.html``, ``.md`` or ``.tex`` says in which form.

        Returns
        -------
        Path
            The file.
        """
        path = Path(path)
        form = {".md": self.to_markdown, ".tex": self.to_latex, ".html": self.to_html, ".htm": self.to_html}
        if path.suffix.lower() not in form:
            raise FileError(argument="path", needed="must end in .html, .md or .tex", given=f"got {path.name}")
        target = written_file(path)
        draft = target.with_name(target.name + ".part")
        try:
            draft.write_text(form[path.suffix.lower()](), encoding="utf-8", errors="replace")
            draft.replace(target)
        except OSError as error:
            raise FileError(f"{path} cannot be written ({error.strerror or error}).") from error
        return path


def beside_dict(other: Beside | None) -> dict[str, Any] | None:
    """Another metric of the selected configuration, ready for json."""
    if other is None:
        return None
    known = {"metric": other.metric, "about": other.about}
    made = None if other.estimate is None else other.estimate.to_dict()
    return known | {"estimate": made, "baseline": None if other.baseline is None else other.baseline._asdict()}


# -- making it ----------------------------------------------------------------------------------------------


@fill_common
def report(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    estimate: Estimate | None = None,
    title: str = "Outfold report",
    top: int = 15,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
    command: str | None = None,
    data: Mapping[str, Any] | None = None,
    description: str | None = None,
    importance: Mapping[str, Any] | None = None,
    threshold: str | float | None = None,
) -> Report:
    """One page on how good the selected configuration is, how that was found, and what to be careful about.

    Parameters: {oof}
    metric : str, callable, Metric or None, default=None
        The metric that selects and is reported. If None, that of `estimate`, or the one that the predictions record.
    rule : Rule, callable or None, default=None
        The rule that selects the configuration. If None, the one that the predictions record.
    aggregate : {"pooled", "within", "fold"} or None, default=None
        How configurations are scored: on all out-of-fold predictions of a repeat, on pairs of one fold, or by the mean over
        folds. If None, as `estimate`, or as the predictions record.
    estimate : Estimate or None, default=None
        The estimate to report. If None, `estimate.bbc`, or for scores of folds `estimate.bbc_f` or `estimate.tt`.
    title : str, default="Outfold report"
        Title of the page.
    top : int, default=15
        How many configurations the pictures show.
    {n_resamples}
    confidence_level : float, default=0.95
        The level of the intervals, between 0 and 1.
    {rng}
    command : str or None, default=None
        The command that made the report, for the section on how to repeat it.
    data : dict or None, default=None
        Facts about the table that the predictions were made from, for the section on the data. All keys are optional.
        ``columns``: a list of dicts, one for each column, with ``name``, ``role``, ``kind``, ``missing`` (share), ``distinct``,
        ``treatment`` and ``reason``. ``rows``: a list of dicts with ``n`` and ``reason``, for rows that were left out. ``file``:
        a dict of facts on how the file was read, such as ``{"path": "train.csv", "dialect": "separated by semicolons"}``.
    description : str or None, default=None
        One to three sentences that describe the selected configuration. If None, the page shows its name.
    importance : dict or None, default=None
        How much the score falls without each feature, by name: ``(mean, sd)``, ``{"mean": ..., "sd": ...}`` or one number.
    threshold : str, float or None, default=None
        For two classes with probabilities or scores: how the threshold is chosen, as in `estimate.at_threshold`. If None, the
        one that `predict` uses: 0.5 for probabilities.

    Returns
    -------
    Report
        The report; its `save` writes a file.

    Examples: {numpy_outfold}
    >>> correct = np.random.default_rng(0).random((80, 150)) < 0.7      # 150 equally good prompts on 80 questions
    >>> print(of.report(of.from_arrays(None, correct, response="pointwise")))
    Expect mean 0.72 (95% CI 0.62 to 0.85) on new samples; the winner's score, 0.84, is 0.12 too high.
    """
    check_predictions(oof, "report")
    top, seed = check_count(top, "top"), as_seed(rng)
    if isinstance(estimate, Estimate):
        same = estimate.metric == name_of(recorded_metric(oof))  # it may be a function, which its name does not find
        metric = estimate.metric if metric is None and not same else metric
        aggregate = cast(Aggregate, estimate.aggregate) if aggregate is None else aggregate
    oof = oof.selecting_by(metric, aggregate=aggregate, rule=rule)
    metric = recorded_metric(oof)
    with kernels_kept():
        found = estimate
        if found is None:
            found = corrected(oof, n_resamples=n_resamples, confidence_level=confidence_level, rng=seed)
        else:
            estimates.check_belongs(found, oof, selecting(oof))
        # A slow metric has few draws; the pictures then have no more.
        n = n_resamples if found.draws is None else min(n_resamples, len(found.draws))
        board = oof.leaderboard()
        compared, why_not = _comparisons(oof, metric, found, board)
        mattering = tuple(_importance(importance))
        fewer = _fewer_draws(oof, max(n, 2))
        calibrated = _calibration(oof, found, fewer, seed)
        other = _beside(oof, found, max(n, 2), seed)
        pictures = [*_pictures(oof, metric, found, compared, (top, max(n, 2), seed))]
        if mattering:
            pictures.append(values.importance(mattering, called(found.metric)))
        return Report(
            title=title,
            headline=text.headline(found),
            how=tuple(text.how(oof, found, board.baseline, description, other)),
            estimate=found,
            leaderboard=board,
            rows=tuple(_rows(oof, board, found)),
            comparisons=compared,
            no_comparison=why_not,
            checks=checked(Case(oof, made=found)),
            methods=text.methods(oof, found, compared, other),
            provenance=tuple(_provenance(oof, found, command)),
            pictures=tuple(_with_words(pictures, board.baseline, calibrated, found)),
            data=_with_ledger(oof, data),
            description=description,
            importance=mattering,
            thresholds=tuple(_thresholds(oof, found, threshold, fewer, seed)),
            calibration=calibrated,
            graded="probability" if oof.response == "proba" else "score",
            beside=other,
        )


def _comparisons(
    oof: Predictions, metric: MetricLike, found: Estimate, board: Leaderboard
) -> tuple[Comparisons | None, str]:
    """The selected configuration against the next few, where a test is valid; else why there is none."""
    rivals = _rivals(oof, found.selected, board)
    if not rivals:
        only = "one configuration only" if len(board.configs) < 2 else "no configuration that predicts otherwise"
        return None, f"There is {only}."
    configs, level = [found.selected, *rivals], found.confidence_level
    try:
        made = compare.auto(oof, metric, configs=configs, control=found.selected, confidence_level=level)
    except InputError as error:
        return None, str(error)
    assert isinstance(made, Comparisons)
    return made, ""


def _rivals(oof: Predictions, selected: str, board: Leaderboard) -> list[str]:
    """The best of the others; of those that predict the same, the first."""
    if oof.response == "none":
        return [name for name in board.configs if name != selected][:_COMPARED]
    seen: dict[bytes, str] = {}
    for name in (selected, *board.configs):
        own = alone(oof, name)
        labels = b"" if own.labels is None else own.labels.tobytes()
        seen.setdefault(own.data.tobytes() + labels, name)
        if len(seen) > _COMPARED:
            break
    return list(seen.values())[1:]


def _rows(oof: Predictions, board: Leaderboard, found: Estimate) -> Iterable[dict[str, Any]]:
    often = None if found.chosen is None else Counter(map(str, found.chosen))
    known = () if oof.seconds is None else zip(oof.configs, oof.seconds, strict=True)
    seconds = {name: float(np.nansum(spent)) for name, spent in known if not np.isnan(spent).all()}
    for entry in board.to_dict()["configurations"]:
        name = entry["config"]
        share = None if often is None else often[name] / len(found.chosen)  # type: ignore[arg-type]
        done = entry["status"] == "done"
        yield {
            "rank": entry["rank"],
            "config": name,
            "score": entry["score"],
            "se": entry["se"],
            "selected_share": share if done else None,
            "seconds": seconds.get(name),
            "status": "selected" if name == found.selected else entry["status"],
        }


# Facts of the provenance in order, and what some of them are called.
_FACTS = ("seed", "data", "labels", "started", "finished", "outfold", "scikit-learn", "numpy", "python")
_CALLED = {"data": "hash of the data", "labels": "hash of the labels", "outfold": "outfold that collected"}


def _provenance(oof: Predictions, found: Estimate, command: str | None) -> Iterable[tuple[str, str]]:
    yield "fingerprint", oof.fingerprint
    made: Mapping[str, Any] = oof.provenance
    for key in _FACTS:
        if made.get(key) is not None:
            yield _CALLED.get(key, key), str(made[key])
    yield "outfold that reported", __version__
    spec = made.get("specs", {}).get(found.selected)
    if spec is not None:
        yield "selected configuration", str(spec)
    if command is not None:
        yield "command", command


def _with_ledger(oof: Predictions, data: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What is known of the data, with what came true later."""
    ledger = [in_words(entry) for entry in oof.provenance.get(LEDGER, ())]
    return {**(data or {}), "ledger": ledger} if ledger else data


# Predictions that all draws of thresholds and of the calibration look at. With more, there are fewer draws: their mean is
# known well enough, because many samples are left out in each.
_PREDICTIONS_DRAWN = 1 << 21


def _fewer_draws(oof: Predictions, n_resamples: int) -> int:
    """As many draws as were asked for; fewer where samples and repeats are many, in whole blocks that are at hand already."""
    blocks = _PREDICTIONS_DRAWN // (oof.n_samples * oof.n_repeats * BLOCK)
    return min(n_resamples, max(blocks, 1) * BLOCK)


# Thresholds that stand beside the one to use.
_OTHERS = ("youden", "sensitivity=0.9", "specificity=0.9")


def _thresholds(
    oof: Predictions, found: Estimate, threshold: str | float | None, n_resamples: int, seed: int
) -> list[AtThreshold]:
    """The selected configuration at the threshold to use, and at others; nothing where these predictions have no threshold."""
    own = 0.5 if oof.threshold is None and oof.response == "proba" else oof.threshold
    wanted = [threshold, own, *_OTHERS]
    some = list({read_choice(one).name: one for one in wanted if one is not None}.values())
    named = alone(oof, found.selected) if found.named else oof
    how = {"n_resamples": n_resamples, "confidence_level": found.confidence_level, "rng": seed}

    def make() -> list[AtThreshold]:
        check_requirements("at_threshold", at_threshold.requirements, oof)  # type: ignore[attr-defined]
        return at_thresholds(named, some, **how)  # type: ignore[arg-type]

    if threshold is not None:
        return make()
    made: list[AtThreshold] = next(iter(_try(make)), [])
    # An estimate that was made elsewhere may be of another choice, which the draws would not repeat.
    return made if made and made[0].selected == found.selected else []


def _calibration(oof: Predictions, found: Estimate, n_resamples: int, seed: int) -> Calibration | None:
    """Calibration slope and intercept of the selected configuration; None where these predictions have none."""
    chosen = alone(oof, found.selected) if found.named else oof
    how: dict[str, Any] = {"n_resamples": n_resamples, "confidence_level": found.confidence_level, "rng": seed}
    made: list[Calibration | None] = list(_try(lambda: calibration(chosen, **how)))
    return made[0] if made and chosen.selection().name == found.selected else None


def _beside(oof: Predictions, found: Estimate, n_resamples: int, seed: int) -> Beside | None:
    """The other metric of survival curves; None where there is none, or where another configuration is selected."""
    chosen = alone(oof, found.selected) if found.named else oof
    if chosen.selection().name != found.selected:
        return None
    return beside(chosen, n_resamples=n_resamples, confidence_level=found.confidence_level, rng=seed)


def _with_words(
    pictures: Iterable[Chart], baseline: Baseline | None, calibrated: Calibration | None, found: Estimate
) -> Iterable[Chart]:
    """The pictures of scores also say what a model scores that learnt nothing, that of calibration its slope and intercept."""
    for picture in pictures:
        words = ""
        if baseline is not None and picture.name in ("optimism", "configurations"):
            words = f" {_sentence(baseline.of)} scores {text.Rounding(found)(baseline.value)}."
        if calibrated is not None and picture.name == "calibration":
            words = f" Corrected for having been selected: calibration {calibrated}."
        yield replace(picture, caption=picture.caption + words) if words else picture


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _importance(given: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The importance of each feature, most important first; an error where it is no number."""
    rows = []
    for name, value in ({} if given is None else given).items():
        mean: Any
        if isinstance(value, Mapping):
            mean, sd = value.get("mean"), value.get("sd")
        else:
            mean, sd = value if isinstance(value, (tuple, list)) and len(value) == 2 else (value, None)
        if not is_number(mean) or not (sd is None or is_number(sd)):
            needed = "must give a mean, or a mean and a standard deviation, for each feature"
            raise invalid("importance", needed, f"got {value!r} for {name!r}")
        rows.append({"name": str(name), "mean": float(mean), "sd": None if sd is None else float(sd)})
    return sorted(rows, key=lambda row: -row["mean"])


def _pictures(
    oof: Predictions, metric: MetricLike, found: Estimate, compared: Comparisons | None, drawn: tuple[int, int, int]
) -> Iterable[Chart]:
    top, n_resamples, seed = drawn
    config = found.selected
    yield estimates.optimism(found)
    yield estimates.configurations(oof, metric, top, found, found.confidence_level, n_resamples, seed)
    if found.draws is not None:
        yield estimates.draws(found)
    if found.chosen is not None and found.n_configs > 1:
        yield estimates.selection(found)
    if np.any(oof.state[:, oof.planned] != State.DONE):
        yield collected.cells(oof)
    if oof.n_repeats > 1:
        traced = list(_try(lambda: stability.trace(oof, metric)))
        yield from (collected.trace(one) for one in traced)
        yield from (collected.repeats(one) for one in traced)
    if oof.n_folds > 1 and oof.n_folds < oof.n_samples:
        few = oof if oof.n_repeats <= _MOST_REPEATS_IN_GRID else oof.sel(repeat=range(_MOST_REPEATS_IN_GRID))
        yield from _try(lambda: collected.fold_scores(few, metric, config))
    yield from _pictures_of_classes(oof, config, found.confidence_level, seed)
    for made in _try(lambda: values.predicted_values(oof, config)):
        about = about_data(oof.n_samples, oof.plan)
        yield from (values.predicted(made, about), values.residuals(made, about))
    if compared is not None:
        yield comparisons.difference(compared)


def _pictures_of_classes(oof: Predictions, config: str, level: float, seed: int) -> Iterable[Chart]:
    classes = oof.target.classes
    if classes is None:
        return
    if len(classes) <= _MOST_CLASSES:
        how = (oof, config, None, level, _BAND_DRAWS, seed)
        yield from _try(lambda: responses.threshold_chart("roc", *how))
        yield from _try(lambda: responses.threshold_chart("precision_recall", *how))
        if oof.response == "proba":
            yield from _try(lambda: responses.calibration(*how[:3], 10, *how[3:]))
    if len(classes) <= _MOST_LABELS:
        yield from _try(lambda: responses.confusion(oof, config))


def _try(make: Callable[[], Any]) -> Iterable[Any]:
    """What is made, or nothing if these predictions lack what it needs, which the library says by an InputError."""
    try:
        return [make()]
    except InputError:
        return []
