"""The selected configuration at a threshold: configuration and threshold are both chosen inside every bootstrap draw."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import RngLike, as_seed, check_confidence_level, check_count, is_number
from ..data.notes import Note
from ..data.predictions import Predictions
from ..data.scores import is_time_series
from ..data.stored import comes_in_parts
from ..exceptions import InputError, got, invalid
from ..metrics import MetricLike
from ..metrics._keeping import kept, kernels_kept
from ..metrics._scoring import Aggregate, Scoring, bind, group_notes, sample_bootstrap, selecting
from ..requirements import Requirement, requires
from ..results import AtThreshold, Selection, Share
from ..results._threshold import CALLED
from ..select import RuleLike, recorded_rule
from ..stats import thresholds as cuts
from ..stats.intervals import equal_answers
from ..stats.kernels import Floats, ratio
from ..stats.thresholds import Counts, Criterion, RankedScores
from ..stats.training import TRAINING
from ._build import Selecting, approximate, calm, document
from ._selected import Scale, Spread

# Draws whose configurations and thresholds tell how much a share varies with the samples.
_FOR_VARIANCE = 32
# The choice of a draw rests on 63 percent of the samples, that of all samples is another one. What the winner's sensitivity and
# specificity gain together is partly luck: this share of the gain is not believed, and this share of the variance of the choice
# counts for the interval. Calibrated by simulations (studies/thresholds.py), not derived.
_LUCK, _CHOICE = 0.5, 0.5
# With fewer samples that are predicted so, the interval of a predictive value covered too rarely (studies/thresholds.py).
_FEW = 10
# Of configurations that are in a file, rankings of about this many predictions are kept.
_RANKED = 1 << 22
_NAMED = {"youden": cuts.youden, "f1": cuts.f1}
_WORDS = {"youden": "highest sensitivity + specificity", "f1": "highest F1 score"}
_SHARE = re.compile(r"(sensitivity|specificity)\s*=\s*(\d*\.?\d+)\s*(%?)")
_COST = re.compile(r"cost\s*=\s*(\d*\.?\d+)\s*:\s*(\d*\.?\d+)")

TWO_CLASSES: Requirement[Predictions] = Requirement(
    "two classes",
    lambda oof: oof.target.task == "binary",
    given=lambda oof: f"these predictions are for {oof.target.task}",
)
GRADED: Requirement[Predictions] = Requirement(
    "probabilities or scores",
    lambda oof: oof.response in ("proba", "score"),
    "Collect with `collect(response='proba')`.",
    lambda oof: "these predictions have none",
)


class Choice(NamedTuple):
    """How a threshold is chosen: as the user named it, in words, and the criterion, or the number itself."""

    name: str
    words: str
    criterion: Criterion | float


def read_choice(threshold: Any) -> Choice:
    """What the user asked for: a name, a share or costs that decide, or a number."""
    if is_number(threshold):
        return Choice(f"{threshold:g}", "fixed beforehand", float(threshold))
    text = threshold.strip().lower() if isinstance(threshold, str) else ""
    if text in _NAMED:
        return Choice(text, _WORDS[text], _NAMED[text])
    if share := _SHARE.fullmatch(text):
        wanted = float(share[2]) / (100 if share[3] else 1)
        if 0 < wanted <= 1:
            least = cuts.least_sensitivity if share[1] == "sensitivity" else cuts.least_specificity
            end = "highest" if share[1] == "sensitivity" else "lowest"
            return Choice(f"{share[1]}={wanted:g}", f"{end} threshold with {share[1]} {wanted:g}", least(wanted))
    cost = _COST.fullmatch(text)
    if cost is not None and float(cost[1]) > 0 and float(cost[2]) > 0:
        words = f"lowest cost, if a missed positive costs {cost[1]} and a false alarm {cost[2]}"
        return Choice(f"cost={cost[1]}:{cost[2]}", words, cuts.least_cost(float(cost[1]), float(cost[2])))
    try:
        return read_choice(float(text))
    except ValueError:
        pass
    needed = "must be 'youden', 'f1', 'sensitivity=0.9', 'specificity=0.9', 'cost=5:1' or a number"
    raise invalid("threshold", needed, got(threshold))


@document
@requires(TWO_CLASSES, GRADED)
def at_threshold(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    threshold: str | float = "youden",
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    stratify: bool = False,
    rng: RngLike = 0,
) -> AtThreshold:
    """Estimate sensitivity, specificity, PPV and NPV of the selected configuration at a threshold.

    A threshold that is chosen for its score looks too good, as a configuration does. So each draw of `bbc` [1]_ selects a
    configuration on the samples it drew, chooses the threshold on the same samples, and counts right and wrong predictions on the
    samples it did not draw. The shares are those of the counts of all draws, moved to the trade between sensitivity and
    specificity that the threshold to use makes: a draw chooses on fewer samples. `threshold` of the result is the one to use:
    it is chosen on all out-of-fold predictions of the selected configuration. The intervals join how much a share varies with the
    samples and how much with what is selected and where it is cut, by square-and-add ([2]_, [3]_).

    A sample is predicted positive if its probability or score is above the threshold. With repeats, the threshold is chosen on
    the predictions of all repeats together. With groups, each group is drawn or left out whole.

    Parameters: {oof, recorded_metric}
    threshold : str or float
        How to choose the threshold. ``"youden"``: highest sensitivity + specificity. ``"f1"``: highest F1 score.
        ``"sensitivity=0.9"``: the highest threshold with a sensitivity of 0.9; ``"specificity=0.9"``: the lowest one with this
        specificity. ``"cost=5:1"``: lowest cost, if a missed positive costs 5 and a false alarm 1. A number is a threshold that
        is fixed beforehand.
    {rule, aggregate, n_resamples, confidence_level}
    stratify : bool
        Whether to draw within classes.
    {rng}

    Returns
    -------
    AtThreshold
        The threshold to use, and each share with its interval.
    References: {tsamardinos2018, newcombe1998, zou2008}

    Examples: {numpy_outfold}
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(120) < 0.3
    >>> chance = 1 / (1 + np.exp(-rng.normal(2.0 * ill[:, None] - 1.5, 1.0, (120, 20))))  # 20 configurations
    >>> oof = of.from_arrays(ill, chance, folds=np.arange(120) % 5, response="proba")
    >>> found = of.estimate.at_threshold(oof, "roc_auc", threshold="youden")
    >>> round(found["sensitivity"].naive, 2) > round(found["sensitivity"].value, 2)
    True
    """
    how = {"rule": rule, "aggregate": aggregate, "n_resamples": n_resamples, "confidence_level": confidence_level}
    (found,) = at_thresholds(oof, [threshold], metric, **how, stratify=stratify, rng=rng)  # type: ignore[arg-type]
    return found


def at_thresholds(
    oof: Predictions,
    thresholds: Sequence[str | float],
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    stratify: bool = False,
    rng: RngLike = 0,
) -> list[AtThreshold]:
    """The same for several thresholds, which share the draws and what they select."""
    level, b, seed = check_confidence_level(confidence_level), check_count(n_resamples, "n_resamples", 2), as_seed(rng)
    choices = [read_choice(threshold) for threshold in thresholds]
    by = Selecting(recorded_rule(oof, rule), selecting(oof, metric, aggregate))
    _check_classes(by.scoring)
    with kernels_kept(), calm(by.scoring):
        selection, table = by.choose(), Table.of(by.scoring)
        drawn = _draw(by, table, sample_bootstrap(by.scoring, stratify, seed, True).blocks(b), choices)
    winner = by.scoring.names.index(selection.name)
    return [
        _build(by.scoring, selection, table, Found(choice, winner, *drawn[i]), level, b)
        for i, choice in enumerate(choices)
    ]


def _check_classes(scoring: Scoring) -> None:
    """Refuse a class of which draws cannot both hold and leave out a sample."""
    target, units = scoring.oof.target.take(scoring.rows), scoring.units()
    what = "samples" if scoring.oof.groups is None else "groups"
    assert target.classes is not None
    for code, label in enumerate(target.classes):
        n = len(np.unique(units[target.y == code]))
        if n < 2:
            needed = f"needs two {what} of each class, one to choose on and one to count"
            raise invalid("at_threshold", needed, f"class {label!s} has {n}")


class Table:
    """The predictions that count, ranked for each candidate when it is first asked for."""

    def __init__(self, scoring: Scoring) -> None:
        oof = self._oof = scoring.oof
        self._data = None if comes_in_parts(oof) else bind(oof, "roc_auc")[1]
        self._candidates, self._all_rows = scoring.candidates, scoring.rows
        self.positive = oof.target.y[scoring.rows] == 1
        self._held = [
            (r, np.flatnonzero(np.isin(oof.folds[scoring.rows, r], [k for repeat, k in scoring.cells if repeat == r])))
            for r in sorted({r for r, _ in scoring.cells})
        ]
        self._rows = np.concatenate([rows for _, rows in self._held])
        self._rankings: dict[int, RankedScores] = {}
        # How often a sample is held out: what all counts are divided by.
        self.times = len(self._rows) / len(scoring.rows)

    @classmethod
    def of(cls, scoring: Scoring) -> Table:
        """That of the candidates, made once while `kernels_kept`."""
        return kept(scoring.oof, ("thresholds", scoring.candidates.tobytes()), lambda: cls(scoring))

    def ranking(self, candidate: int) -> RankedScores:
        """The predictions of a candidate by falling score."""
        if candidate not in self._rankings:
            if self._data is None and (len(self._rankings) + 1) * len(self._rows) > _RANKED:
                self._rankings.clear()
            own = self._predictions(int(self._candidates[candidate]))
            scores = np.concatenate([own[r, self._all_rows[rows]] for r, rows in self._held]).astype(np.float64)
            self._rankings[candidate] = RankedScores(scores, self._rows, self.positive[self._rows])
        return self._rankings[candidate]

    def _predictions(self, config: int) -> NDArray[Any]:
        """(R, N) those of one configuration."""
        if self._data is None:
            return np.asarray(bind(self._oof.sel(config=config), "roc_auc")[1][:, 0])
        return np.asarray(self._data[:, config])


class Drawn(NamedTuple):
    """(B,) what draws chose, the counts on the samples they left out, and the counts of the same choice on all samples."""

    chosen: NDArray[np.intp]
    thresholds: Floats
    left_out: Counts
    whole: Counts


def _draw(by: Selecting, table: Table, blocks: Any, choices: Sequence[Choice]) -> list[Drawn]:
    """What every draw chooses; draws without one of the classes cannot choose and are left out."""
    criteria = [choice.criterion for choice in choices]
    parts: list[list[Drawn]] = [[] for _ in choices]
    for counts in blocks:
        picks = by.pick(None, counts)
        positives = counts @ table.positive.astype(np.int64)
        usable = (picks >= 0) & (positives > 0) & (positives < counts.sum(axis=1, dtype=np.int64))
        for candidate in np.unique(picks[usable]):
            ranking, own = table.ranking(int(candidate)), usable & (picks == candidate)
            for part, (thresholds, left_out) in zip(parts, ranking.corrected(counts[own], criteria), strict=True):
                chosen = np.full(len(thresholds), candidate)
                part.append(Drawn(chosen, thresholds, left_out, ranking.counted(thresholds)))
    found = [_joined(part) for part in parts if part]
    if not found or not all(side.sum() > 0 for side in found[0].left_out[2:]):
        needed = "at_threshold needs draws that hold and leave out samples of both classes, and there are none"
        raise InputError(needed=needed, remedy="Hold out more samples, or make more draws: `n_resamples`.")
    return found


def _joined(parts: list[Drawn]) -> Drawn:
    chosen, thresholds = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    counts = [Counts(*map(np.concatenate, zip(*(part[i] for part in parts), strict=True))) for i in (2, 3)]
    return Drawn(chosen, thresholds, *counts)


class Found(NamedTuple):
    """What was drawn for one way to choose a threshold, and the candidate that all samples select."""

    choice: Choice
    winner: int
    chosen: NDArray[np.intp]
    thresholds: Floats
    left_out: Counts
    whole: Counts


# -- the shares ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """The two numbers that a share is the ratio of, from counts of any shape."""

    name: str

    def of(self, counts: Counts) -> tuple[Floats, Floats]:
        """Right answers, and all of them."""
        hits, alarms, positives, negatives = counts
        rejected = negatives - alarms
        return {
            "sensitivity": (hits, positives),
            "specificity": (rejected, negatives),
            "ppv": (hits, hits + alarms),
            "npv": (rejected, rejected + positives - hits),
        }[self.name]


SHARES = tuple(map(Parts, ("sensitivity", "specificity", "ppv", "npv")))


def _build(
    scoring: Scoring, selection: Selection, table: Table, found: Found, level: float, n_resamples: int
) -> AtThreshold:
    oof, ranking, choice = scoring.oof, table.ranking(found.winner), found.choice
    threshold = choice.criterion
    if callable(threshold):
        threshold = float(ranking.choose(scoring.equal_weights(), [threshold])[0][0])
    own = ranking.counted(np.array([threshold]))
    corrected = _corrected(found, own, callable(choice.criterion))
    of_units = [_counts_of_units(scoring, table, found, i) for i in _for_variance(len(found.chosen))]
    spreads = {part.name: _spread(scoring, part, table, found, own, corrected, of_units) for part in SHARES}
    if is_time_series(oof.splits):
        spreads = dict.fromkeys(spreads)
    shares = tuple(_share(part, corrected, own, table, spreads[part.name], level) for part in SHARES)
    classes = oof.target.classes
    assert classes is not None
    unusable = n_resamples - len(found.chosen)
    left_out = f", {unusable:,} left out" if unusable else ""
    chosen = "fixed" if not callable(choice.criterion) else "chosen in each"
    return AtThreshold(
        threshold=threshold,
        choice=choice.name,
        meaning=choice.words,
        shares=shares,
        prevalence=float(table.positive.mean()),
        positive=str(classes[1]),
        negative=str(classes[0]),
        confidence_level=level,
        selected=selection.name,
        metric=scoring.metric.name,
        rule=selection.rule,
        n_samples=len(scoring.rows),
        n_positive=int(table.positive.sum()),
        n_configs=len(scoring.candidates),
        plan=str(oof.plan),
        fingerprint=oof.fingerprint,
        description=f"BBC-CV, {len(found.chosen):,} bootstrap draws{left_out}, threshold {chosen}",
        reference="Tsamardinos 2018, Alg. 5",
        thresholds=found.thresholds,
        chosen=np.array(scoring.names, dtype=object)[found.chosen],
        n_groups=None if oof.groups is None else int(scoring.units().max()) + 1,
        notes=(*oof.notes, *scoring.notes, *_notes(scoring, shares, unusable, n_resamples)),
        details={"n_resamples": len(found.chosen), "left_out": unusable},
        spreads=spreads,
    )


def _corrected(found: Found, own: Counts, chosen: bool) -> Counts:
    """Counts of one sample whose shares are the corrected ones: all four shares follow from two of them and the prevalence.

    The shares of a draw are those of its own choice. A threshold that is chosen on fewer samples trades sensitivity for
    specificity in another way than the one to use. So the shares are moved by as much as the shares of the winner at its
    threshold differ from those of the choices of the draws, both on all samples. What both gain by this is partly luck.
    """
    hits, alarms, positives, negatives = (float(side.sum()) for side in found.left_out)
    sensitivity, specificity = hits / positives, 1 - alarms / negatives
    if chosen:
        more, better = (float(ratio(*part.of(own))[0] - np.mean(ratio(*part.of(found.whole)))) for part in SHARES[:2])
        size = abs(more) + abs(better)
        lucky = _LUCK * max(more + better, 0.0) / size if size > 0 else 0.0
        sensitivity += more - lucky * abs(more)
        specificity += better - lucky * abs(better)
    prevalence = float(own.positives[0] / (own.positives[0] + own.negatives[0]))
    right = prevalence * min(max(sensitivity, 0.0), 1.0)
    wrong = (1 - prevalence) * (1 - min(max(specificity, 0.0), 1.0))
    return Counts(*(np.array([number]) for number in (right, wrong, prevalence, 1 - prevalence)))


def _share(part: Parts, corrected: Counts, own: Counts, table: Table, spread: Spread | None, level: float) -> Share:
    value, naive = (float(ratio(*part.of(counts))[0]) for counts in (corrected, own))
    n = float(part.of(own)[1][0]) / table.times
    return Share(part.name, value, None if spread is None else spread.interval(level), naive, n)


def _for_variance(n: int) -> NDArray[np.intp]:
    """Some draws, evenly over all."""
    return np.unique(np.linspace(0, n - 1, min(n, _FOR_VARIANCE)).astype(np.intp))


def _counts_of_units(scoring: Scoring, table: Table, found: Found, draw: int) -> Counts:
    """(U,) the counts of the choice of one draw, for each unit: a sample, or a group."""
    ranking, units = table.ranking(int(found.chosen[draw])), scoring.units()
    n, above = int(units.max()) + 1, int(ranking.above(found.thresholds[draw : draw + 1])[0])
    codes, positive = units[ranking.rows], ranking.positive
    hits, positives = (np.bincount(codes[:k], positive[:k], n) for k in (above, len(codes)))
    taken, every = (np.bincount(codes[:k], minlength=n) for k in (above, len(codes)))
    return Counts(*(side.astype(np.float64) for side in (hits, taken - hits, positives, every - positives)))


def _spread(
    scoring: Scoring,
    part: Parts,
    table: Table,
    found: Found,
    own: Counts,
    corrected: Counts,
    of_units: Sequence[Counts],
) -> Spread | None:
    """Why a share is uncertain: sampling at the choices of some draws, and how far the choices of all draws are apart."""
    value = float(ratio(*part.of(corrected))[0])
    variances, binomials, sizes = zip(*(_sampling(*part.of(counts)) for counts in of_units), strict=True)
    if not np.isfinite(value) or not np.isfinite(variances).any():
        return None
    unseen = 1.0 if scoring.one_test_set else TRAINING
    variance = unseen * float(np.nanmean(variances))
    # What the share rests on: samples, or groups, each once however often it is held out.
    rests_on = max(min(float(part.of(own)[1][0]) / table.times, float(np.mean(sizes))), 1.0)
    n = equal_answers(float(np.nanmean(binomials)), variance, rests_on, rests_on)
    whole, mine = ratio(*part.of(found.whole)), float(ratio(*part.of(own))[0])
    known = np.isfinite(whole).any()
    below = above = float(np.nanvar(whole)) if known else 0.0
    if callable(found.choice.criterion):
        below, above = _CHOICE * below, _CHOICE * above
    elif known and np.isfinite(mine):  # as in `bbc`: what selecting on fewer samples may have lost
        above += max(mine - float(np.nanmean(whole)), 0.0) ** 2
    units = int(scoring.units().max()) + 1
    return Spread(Scale(0.0, 1.0, 1), value, variance, below, above, n, max(units - 1, 1), (variance, n))


def _sampling(right: Floats, every: Floats) -> tuple[float, float, int]:
    """Variance of a share of units as that of a ratio (the units are independent), p (1 - p), and the units it rests on."""
    there = every > 0
    n, total = int(there.sum()), float(every.sum())
    if not n:
        return np.nan, np.nan, 0
    share = float(right.sum()) / total
    squares = float(np.sum((right - share * every)[there] ** 2))
    return squares / total**2 * n / max(n - 1, 1), share * (1 - share), n


def _notes(scoring: Scoring, shares: Sequence[Share], unusable: int, n_resamples: int) -> list[Note]:
    notes = group_notes(scoring)
    if unusable:
        text = f"{unusable:,} draws ({unusable / n_resamples:.1%}) could not choose a threshold: a class was missing."
        notes.append(Note("OF201", text))
    if scoring.oof.response == "score" and scoring.oof.n_folds > 1:
        text = "the threshold cuts margins of different folds at one value; those of different models may not share a scale."
        notes.append(Note("OF209", text))
    few = [CALLED[share.name] for share in shares if share.name in ("ppv", "npv") and share.n < _FEW]
    if few:
        notes.append(
            approximate(f"{' and '.join(few)} rest{'s' if len(few) == 1 else ''} on fewer than {_FEW} samples")
        )
    return notes
