"""The demonstration: tune on 80 patients, and let the hundreds kept aside say what the winner's score was worth."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from .. import estimate, formatting
from ..data.plan import Plan
from ..exceptions import got, invalid
from ..fitting import collect, refit
from ..fitting.configs import Configs, grid
from ..results import Estimate

METRIC = "accuracy"
FOLDS = 10
# The many samples of the picture are tuned with fewer folds, and the picture says so: it halves the time.
QUICK_FOLDS = 5
# Fewer kept samples than this would make a poor truth.
FEWEST_KEPT = 100
MOST_COLUMNS = 80


@dataclass(frozen=True)
class TunedSample:
    """One sample that was tuned on: the estimate, and the score of the refitted winner on the samples kept aside."""

    estimate: Estimate
    truth: float

    @property
    def own(self) -> float:
        """The winner's cross-validation score."""
        return self.estimate.naive

    @property
    def honest(self) -> float:
        """The estimate that corrects it."""
        return self.estimate.value

    @property
    def covered(self) -> bool:
        """Whether the interval holds the truth."""
        assert self.estimate.interval is not None
        low, high = self.estimate.interval
        return low <= self.truth <= high


def main(
    samples: int = 80,
    times: int = 30,
    *,
    configs: Mapping[str, Any] | None = None,
    folds: int = FOLDS,
    quick_folds: int = QUICK_FOLDS,
    seed: int = 0,
    n_jobs: int | None = -1,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> list[TunedSample]:
    """Tune on one small sample, then on many, and print how the scores compare with the truth.

    The truth is the score on all patients outside the sample. The picture is made of `times` further samples, tuned with
    fewer folds. The function returns the tuned samples; the first one comes first.
    """
    from joblib import Parallel, delayed

    X, y = patients()
    out, err = out or sys.stdout, err or sys.stderr
    _check_sizes(samples, times, len(y))
    configs = space() if configs is None else configs
    page = Page(out)
    page.show(
        f"{len(y)} diabetes patients, {X.shape[1]} measurements each (bundled with scikit-learn).\n"
        "Will the disease progress more than in the median patient within a year?\n"
        f"Tune on {samples} patients, keep the other {len(y) - samples} aside as the truth.\n\n"
        f"One sample of {samples}: {formatting.count(len(configs), 'configuration')}, {folds}-fold cross-validation"
    )
    tuned = [_tune(X, y, samples, configs, folds, (seed, 0))]
    page.show(_first(tuned[0], samples, len(y) - samples, page))
    # One worker tunes on a whole sample: that takes the workers less talk than sharing every sample among them.
    work = (delayed(_tune)(X, y, samples, configs, quick_folds, (seed, i)) for i in range(1, times + 1))
    for one in Parallel(n_jobs, return_as="generator")(work):
        tuned.append(one)
        _redraw(err, f"sample {len(tuned) - 1}/{times}")
    _redraw(err, "")
    page.show(_many(tuned[1:], samples, quick_folds, page))
    page.show("Your own data:  outfold run data.csv --target COLUMN")
    return tuned


def patients() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Diabetes patients of a data set that comes with scikit-learn: did the disease progress more than in most?"""
    from sklearn.datasets import load_diabetes

    X, progression = load_diabetes(return_X_y=True, scaled=False)
    return X, (progression > np.median(progression)).astype(np.intp)


def space() -> Configs:
    """150 configurations of light classifiers."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    def scaled(model: Any) -> Any:
        return make_pipeline(StandardScaler(), model)

    logit = LogisticRegression(solver="liblinear")
    penalties = np.logspace(-3, 2, 11).tolist()
    return (
        grid("logit", scaled(logit), C=penalties, l1_ratio=[0.0, 1.0])
        | grid("svm", scaled(SVC()), C=[0.1, 0.3, 1, 3, 10, 30], gamma=[0.001, 0.003, 0.01, 0.03, 0.1, 0.3])
        | grid("knn", scaled(KNeighborsClassifier()), n_neighbors=[1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 25],
               weights=["uniform", "distance"])
        | grid("tree", DecisionTreeClassifier(), criterion=["gini", "entropy"], max_depth=[1, 2, 3, 4, 5, 6, 8, None],
               min_samples_leaf=[1, 3, 5, 10])
        | grid("bayes", GaussianNB(), var_smoothing=[1e-9, 1e-5, 1e-3, 1e-1])
    )  # fmt: skip


def _check_sizes(samples: int, times: int, total: int) -> None:
    most = total - FEWEST_KEPT
    if not 2 * FOLDS <= samples <= most:
        needed = f"must lie between {2 * FOLDS} and {most}, so that {FEWEST_KEPT} or more of {total} patients are kept"
        raise invalid("samples", needed, got(samples))
    if times < 1:
        raise invalid("times", "must be 1 or more", got(times))


def _tune(
    X: NDArray[Any], y: NDArray[Any], samples: int, configs: Mapping[str, Any], folds: int, seed: tuple[int, int]
) -> TunedSample:
    order = np.random.default_rng(seed).permutation(len(y))
    tuned, kept = order[:samples], order[samples:]
    number = int(np.random.SeedSequence(seed).generate_state(1)[0])
    oof = collect(configs, X[tuned], y[tuned], Plan(folds=folds), rng=number, response="label", progress=False)
    model = refit(oof, configs, X[tuned], y[tuned], metric=METRIC)
    return TunedSample(estimate.bbc(oof, METRIC), float(np.mean(model.predict(X[kept]) == y[kept])))


# -- words ----------------------------------------------------------------------------------------------


def _first(one: TunedSample, samples: int, n_kept: int, page: Page) -> list[str]:
    own, honest, truth = one.own, one.honest, one.truth
    assert one.estimate.interval is not None
    interval = formatting.interval(*one.estimate.interval, one.estimate.confidence_level)
    rows = [
        ("winner's score", own, one.estimate.selected),
        ("corrected estimate (BBC)", honest, interval),
        ("optimism", one.estimate.optimism, "winner's score minus corrected estimate"),
        (f"truth, {n_kept} kept", truth, "the winner, fitted again on all " + str(samples)),
    ]
    width = max(len(label) for label, _, _ in rows)
    table = []
    for label, value, text in rows:
        start = f"  {label:<{width}}  {formatting.number(value, sign=label == 'optimism'):>7}  "
        table.append(start + page.shorten(text, page.width - len(start)))
    holds = "holds" if one.covered else "misses"
    sentence = (
        f"The winner's score is {_off(own - truth)}; the corrected estimate is {_off(honest - truth)}, and its "
        f"interval {holds} the truth."
    )
    return ["\n".join(table), sentence]


def _many(tuned: Sequence[TunedSample], samples: int, folds: int, page: Page) -> list[str]:
    names = {"winner's score": "own", "corrected": "honest", "truth": "truth"}
    values = {label: [getattr(one, name) for one in tuned] for label, name in names.items()}
    n = formatting.count(len(tuned), "random sample")
    title = f"The same for {n} of {samples}, {folds}-fold to save time"
    return [title, picture(values, METRIC, page.width, page.blocks), conclusion(tuned)]


def conclusion(tuned: Sequence[TunedSample]) -> str:
    """What the samples show, in words that follow the numbers."""
    own = float(np.mean([c.own - c.truth for c in tuned]))
    honest = float(np.mean([c.honest - c.truth for c in tuned]))
    above, held, n = sum(c.own > c.truth for c in tuned), sum(c.covered for c in tuned), len(tuned)
    level = f"{100 * tuned[0].estimate.confidence_level:g}%"
    nearer = abs(own) - abs(honest)
    verdict = "closer" if nearer > 0 else "no closer this time" if nearer < 0 else "as far off"
    return (
        f"The winner's score was above the truth in {above} of {n} samples, and on average {_off(own)}. "
        f"The corrected estimate was {verdict}: on average {_off(honest)}. "
        f"Its {level} interval held the truth in {held} of {n}."
    )


def _off(difference: float) -> str:
    """``0.083 too high``; what rounds to nothing is ``right to 0.001``."""
    if abs(difference) < 0.0005:
        return "right to 0.001"
    return f"{abs(difference):.3f} too {'high' if difference > 0 else 'low'}"


# -- picture --------------------------------------------------------------------------------------------

_BLOCKS = " ▁▂▃▄▅▆▇█"
_PLAIN = " .:-=+*#@"
# A score of 0.7 belongs to the bin that starts at 0.7, whatever the last bit of the edge.
_ROUNDING = 1e-9


def picture(values: Mapping[str, Sequence[float]], unit: str, width: int = MOST_COLUMNS, blocks: bool = True) -> str:
    """Histograms of one line each on a common axis, with their means at the end of the line; in plain letters or blocks."""
    margin = 2 + max(map(len, [*values, unit])) + 2
    room = max(width - margin - len("  mean 0.000"), 10)
    everything = np.concatenate([np.asarray(v, dtype=float) for v in values.values()])
    edges = _edges(float(everything.min()), float(everything.max()), room)
    counts = {label: np.histogram(v, edges - _ROUNDING)[0] for label, v in values.items()}
    tallest = max(int(c.max()) for c in counts.values())
    cell = room // (len(edges) - 1)
    lines = [
        f"  {label:<{margin - 4}}  {_bars(c, tallest, cell, blocks)}  mean {np.mean(values[label]):.3f}"
        for label, c in counts.items()
    ]
    return "\n".join([*lines, f"  {unit:<{margin - 4}}  {_axis(edges, cell)}".rstrip()])


def _edges(low: float, high: float, room: int) -> NDArray[np.float64]:
    """Edges at multiples of a round step: the finest that leaves every bin two columns, or one in little room."""
    fits = room // 2 if room >= 20 else room
    # The accuracy of 80 samples is a multiple of 1/80: finer bins than two of these would show that and no more.
    for step in (0.025, 0.05, 0.1, 0.25, 0.5, 1.0):
        first, last = np.floor((low + _ROUNDING) / step), np.floor((high + _ROUNDING) / step) + 1
        if last - first <= fits:
            break
    return np.arange(first, last + 1) * step


def _bars(counts: NDArray[Any], tallest: int, cell: int, blocks: bool) -> str:
    signs = _BLOCKS if blocks else _PLAIN
    # Any count shows, however small beside the tallest.
    heights = np.ceil(counts / tallest * (len(signs) - 1)).astype(int)
    return "".join(signs[h] * cell for h in heights)


def _axis(edges: NDArray[np.float64], cell: int) -> str:
    """Numbers below the edges they belong to, as many as have room."""
    line = ""
    for i, edge in enumerate(edges[:-1]):
        if i * cell >= len(line) + (2 if line else 0) and round(edge * 100) % 5 == 0:
            line = line.ljust(i * cell) + f"{edge:.2f}"
    return line


class Page:
    """Text for a stream, as wide as its terminal (80 columns at most) and in characters it can show."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.width = min(MOST_COLUMNS, shutil.get_terminal_size((MOST_COLUMNS, 24)).columns)
        try:
            _BLOCKS.encode(getattr(stream, "encoding", None) or "utf-8")
            self.blocks = True
        except (UnicodeEncodeError, LookupError):
            self.blocks = False

    def shorten(self, text: str, room: int) -> str:
        """The text, cut in the middle if it does not fit."""
        room = max(room, 12)
        return formatting.shorten(text, room) if self.blocks else formatting.shorten(text, room - 1).replace("…", "..")

    def show(self, text: str | Sequence[str]) -> None:
        """Print paragraphs, each followed by an empty line; lines are wrapped unless they are indented, as tables are."""
        for paragraph in [text] if isinstance(text, str) else text:
            lines = [line if line.startswith("  ") else fill(line, self.width) for line in paragraph.split("\n")]
            print("\n".join(lines), file=self.stream, end="\n\n", flush=True)


def _redraw(stream: TextIO, text: str) -> None:
    """Replace the line on the terminal."""
    if stream.isatty():
        print(f"\r\033[K{text}", end="", file=stream, flush=True)
