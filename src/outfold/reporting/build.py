"""`report`: everything the page says, asked of the API once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import compare, estimate, metrics, stability
from .._version import __version__
from ..arguments import check_count
from ..checks.case import Case
from ..checks.checking import checked
from ..data.predictions import Predictions, State
from ..exceptions import InputError
from ..metrics import MetricLike
from ..metrics._scoring import Scoring, kernels_kept
from ..plot._data.estimates import check_belongs
from ..requirements import Needs
from ..results import Comparisons, Estimate, Leaderboard
from . import predictions, scores, text
from .document import Report
from .picture import Picture

# Draws of the bands of curves: an end of them is off by a fifth of a standard error, a twentieth of the band's width.
_BAND_DRAWS = 200
_COMPARED = 5
_MOST_CLASSES = 7
_MOST_LABELS = 30
_MOST_REPEATS_IN_GRID = 50

_estimate = estimate  # `report` has an argument of this name


def report(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    estimate: Estimate | None = None,
    title: str = "Outfold report",
    top: int = 15,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: int = 0,
    command: str | None = None,
) -> Report:
    """One page on how good the selected configuration is, how that was found, and what to be careful about.

    Parameters
    ----------
    oof
        Predictions of all configurations that were tried.
    metric
        What selects and is reported; that of `estimate`, or the task's default, if None.
    estimate
        The estimate to report, where there is one already; `estimate.bbc` if None.
    title
        What the page is called.
    top
        How many configurations the pictures show.
    n_resamples, confidence_level, rng
        Bootstrap draws, level of the intervals, and the seed of the draws.
    command
        What was typed to get here, for the box on how to do it again.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> correct = np.random.default_rng(0).random((80, 150)) < 0.7      # 150 equally good prompts on 80 questions
    >>> print(of.report(of.from_arrays(None, correct, response="pointwise")))
    Expect mean 0.72 (95% CI 0.54 to 0.84) on new samples; the winner's own score, 0.84, is 0.12 too high.
    """
    Needs().check(oof, "report")
    top = check_count(top, "top")
    wanted = _wanted_metric(oof, metric, estimate)
    with kernels_kept():
        found = estimate
        if found is None:
            found = _estimate.bbc(oof, wanted, n_resamples=n_resamples, confidence_level=confidence_level, rng=rng)
        else:
            check_belongs(found, oof, Scoring(oof, wanted))
        # A slow metric has few draws; the pictures then have no more.
        n = n_resamples if found.draws is None else min(n_resamples, len(found.draws))
        return _build(oof, wanted, found, title, command, _Drawn(top, max(n, 2), rng))


class _Drawn(NamedTuple):
    """How the pictures are drawn."""

    top: int
    n_resamples: int
    rng: int


def _build(
    oof: Predictions, metric: MetricLike, found: Estimate, title: str, command: str | None, drawn: _Drawn
) -> Report:
    board = oof.leaderboard(metric, "fold" if found.aggregate == "fold" else "pooled")
    compared, why_not = _comparisons(oof, metric, found, board)
    return Report(
        title=title,
        headline=text.headline(found),
        how=tuple(text.how(oof, found)),
        estimate=found,
        leaderboard=board,
        rows=tuple(_rows(oof, board, found)),
        comparisons=compared,
        no_comparison=why_not,
        checks=checked(Case(oof, metric, made=found)),
        methods=text.methods(oof, found, compared),
        provenance=tuple(_provenance(oof, found, command)),
        pictures=tuple(_pictures(oof, metric, found, compared, drawn)),
    )


def _wanted_metric(oof: Predictions, metric: MetricLike | None, made: Estimate | None) -> MetricLike:
    if metric is not None:
        return metric
    return made.metric if isinstance(made, Estimate) else metrics.default(oof.target.task, oof.response)


def _comparisons(
    oof: Predictions, metric: MetricLike, found: Estimate, board: Leaderboard
) -> tuple[Comparisons | None, str]:
    """The selected configuration against the next few, where a test is valid; else why there is none."""
    rivals = _rivals(oof, found.selected, board)
    if not rivals:
        only = "one configuration only" if len(board.configs) < 2 else "no configuration that predicts otherwise"
        return None, f"There is {only}."
    try:
        made = compare.auto(
            oof,
            metric,
            configs=[found.selected, *rivals],
            control=found.selected,
            confidence_level=found.confidence_level,
        )
    except InputError as error:
        return None, str(error)
    assert isinstance(made, Comparisons)
    return made, ""


def _rivals(oof: Predictions, selected: str, board: Leaderboard) -> list[str]:
    """The best of the others; of those that predict the same, the first."""
    seen: set[bytes] = set()
    rivals: list[str] = []
    for name in (selected, *board.configs):
        j = oof.configs.index(name)
        labels = b"" if oof.labels is None else oof.labels[:, j].tobytes()
        says = oof.data[:, j].tobytes() + labels
        if says not in seen and name != selected and len(rivals) < _COMPARED:
            rivals.append(name)
        seen.add(says)
        if len(rivals) == _COMPARED:
            break
    return rivals


def _rows(oof: Predictions, board: Leaderboard, found: Estimate) -> Iterable[dict[str, Any]]:
    """A dict a configuration, best first."""
    often = None if found.chosen is None else Counter(map(str, found.chosen))
    seconds = _seconds(oof)
    for rank, entry in enumerate(board.to_dict()["configurations"], start=1):
        name = entry["config"]
        share = None if often is None else often[name] / len(found.chosen)  # type: ignore[arg-type]
        done = entry["status"] == "done"
        yield {
            "rank": rank if done else None,
            "config": name,
            "score": entry["score"],
            "se": entry["se"],
            "selected_share": share if done else None,
            "seconds": seconds.get(name),
            "status": "selected" if name == found.selected else entry["status"],
        }


def _seconds(oof: Predictions) -> dict[str, float]:
    """Time spent on every configuration, where that is known."""
    if oof.seconds is None:
        return {}
    known = zip(oof.configs, oof.seconds, strict=True)
    return {name: float(np.nansum(seconds)) for name, seconds in known if not np.isnan(seconds).all()}


_FACTS = {
    "seed": "seed",
    "data": "hash of the data",
    "labels": "hash of the labels",
    "started": "started",
    "finished": "finished",
    "outfold": "outfold that collected",
    "scikit-learn": "scikit-learn",
    "numpy": "numpy",
    "python": "python",
}


def _provenance(oof: Predictions, found: Estimate, command: str | None) -> Iterable[tuple[str, str]]:
    yield "fingerprint", oof.fingerprint
    made: Mapping[str, Any] = oof.provenance
    for key, words in _FACTS.items():
        if made.get(key) is not None:
            yield words, str(made[key])
    yield "outfold that reported", __version__
    spec = made.get("specs", {}).get(found.selected)
    if spec is not None:
        yield "selected configuration", str(spec)
    if command is not None:
        yield "command", command


# -- pictures -------------------------------------------------------------------------------------------


def _pictures(
    oof: Predictions,
    metric: MetricLike,
    found: Estimate,
    compared: Comparisons | None,
    drawn: _Drawn,
) -> Iterable[Picture]:
    """The pictures that apply, in order."""
    config = found.selected
    yield scores.optimism(found)
    yield scores.configurations(oof, metric, found, *drawn)
    if found.draws is not None:
        yield scores.draws(found)
    if found.chosen is not None and found.n_configs > 1:
        yield scores.selection(found)
    if np.any(oof.state[:, oof.planned] != State.DONE):
        yield scores.cells(oof)
    if oof.n_repeats > 1:
        traced = list(_try(lambda: stability.trace(oof, metric)))
        yield from (scores.trace(one) for one in traced)
        yield from (scores.repeats(one) for one in traced)
    if oof.n_folds > 1 and oof.n_folds < oof.n_samples:
        few = oof if oof.n_repeats <= _MOST_REPEATS_IN_GRID else oof.sel(repeat=range(_MOST_REPEATS_IN_GRID))
        yield from _try(lambda: scores.fold_scores(few, metric, config))
    yield from _pictures_of_classes(oof, config, drawn.rng)
    if compared is not None:
        yield scores.differences(list(compared))


def _pictures_of_classes(oof: Predictions, config: str, rng: int) -> Iterable[Picture]:
    classes = oof.target.classes
    if classes is None:
        return
    if len(classes) <= _MOST_CLASSES:
        yield from _try(lambda: predictions.curve("roc", oof, config, _BAND_DRAWS, rng))
        yield from _try(lambda: predictions.curve("precision_recall", oof, config, _BAND_DRAWS, rng))
        if oof.response == "proba":
            yield from _try(lambda: predictions.calibration(oof, config, _BAND_DRAWS, rng))
    if len(classes) <= _MOST_LABELS:
        yield from _try(lambda: predictions.confusion(oof, config))


def _try(make: Callable[[], Any]) -> Iterable[Any]:
    """What is made, or nothing where these predictions lack what it needs: the API refuses with an InputError."""
    try:
        return [make()]
    except InputError:
        return []
