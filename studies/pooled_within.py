"""AUC, average precision and concordance on real data: pooled, of pairs within folds, or the mean over folds?

Reads the pools that ``studies/real_data.py collect`` made. Every selection (by the pooled score, by pairs within folds, by the
mean over folds) is estimated by draws scored in several ways, and every estimate gets several intervals. The truth is the score
of the selected configuration, fitted on the whole pool, on samples outside of it.

Estimates: the mean out-of-bag score, ``pooled``, ``within`` or by ``fold``; ``winner``, pooled plus what the winner gains within
folds on all samples; ``winners``, the same for the configurations that the draws select. Intervals around them: ``percentile`` of
the draws; ``own``, MOVER with the variances of the same draws; ``pooled``, MOVER with those of the pooled draws; ``excess``, the
same with all of the draws' further variance on either side; ``sampled``, with the sampling variance of scores within folds;
``1.3`` and ``1.5``, with so many times the sampling variance that `bbc` counts.

Usage: python studies/pooled_within.py evaluate POOLS FOLDER      FOLDER keeps what is evaluated, so that a stopped study goes on
       python studies/pooled_within.py table POOLS FOLDER         writes studies/results/pooled_within.json
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from real_data import METRICS, as_predictions, rounded

import outfold as of
from outfold.estimate._selected import Spread, spread_of
from outfold.metrics._scoring import Scoring, sample_bootstrap
from outfold.stats.resampling import Corrected

Floats = NDArray[np.float64]

RESULTS = Path(__file__).parent / "results" / "pooled_within.json"
LEVELS = (0.8, 0.95, 0.99)
DRAWS = 400
SIZES = (60, 150)
WAYS = ("pooled", "within", "fold")
CELLS = (
    ("proba", "roc_auc"), ("margin", "roc_auc"), ("proba", "average_precision"), ("margin", "average_precision"),
    ("value", "concordance"),
)  # fmt: skip
CENTRES = (*WAYS, "winner", "winners")
INTERVALS = ("percentile", "own", "pooled", "excess", "sampled", "1.3", "1.5")


class Draws:
    """Scores of one pool in every way: on all samples (C,), on drawn and on other samples (B, C)."""

    def __init__(self, oof: of.Predictions, metric: str, seed: int) -> None:
        # Average precision is no share of pairs: there is nothing within folds but the mean over folds.
        self.ways = [way for way in WAYS if way != "within" or of.metrics.get(metric, oof.target.task).within]
        self.scoring = {way: Scoring(oof, metric, way) for way in self.ways}
        self.counts = np.concatenate(list(sample_bootstrap(self.scoring["pooled"], False, seed).blocks(DRAWS)))
        others = (self.counts == 0).view(np.uint8)
        self.full = {way: scoring.scores()[0] for way, scoring in self.scoring.items()}
        self.drawn = {way: scoring.scores(self.counts) for way, scoring in self.scoring.items()}
        self.others = {way: scoring.scores(others) for way, scoring in self.scoring.items()}

    def selected(self, by: str) -> tuple[int, NDArray[np.intp], NDArray[np.intp]]:
        """The winner on all samples; the draws that have one and can score it pooled, and theirs."""
        defined = np.isfinite(self.drawn[by]).all(axis=1)
        chosen = np.argmax(np.where(defined[:, None], self.drawn[by], 0.0), axis=1)
        rows = np.flatnonzero(defined & np.isfinite(self.others["pooled"][np.arange(len(chosen)), chosen]))
        return int(np.nanargmax(self.full[by])), rows, chosen[rows]

    def centres(
        self, winner: int, rows: NDArray[np.intp], chosen: NDArray[np.intp]
    ) -> Iterator[tuple[str, str, float]]:
        """Name, way of the draws, and what is added to their mean."""
        for way in self.ways:
            yield way, way, 0.0
        other = "within" if "within" in self.ways else "fold"
        gain = self.full[other] - self.full["pooled"]
        yield "winner", "pooled", float(gain[winner])
        yield "winners", "pooled", float(gain[chosen].mean())

    def spread(self, way: str, winner: int, scores: Floats, rows: NDArray[np.intp], chosen: NDArray[np.intp]) -> Spread:
        """What makes the estimate uncertain, by draws that are scored in this way."""
        name = self.scoring[way].names[winner]
        some = np.isfinite(scores)
        result = Corrected(scores[some], chosen[some], 0, scores[some])
        found = spread_of(self.scoring[way], name, result, [self.counts[rows]], float(scores[some].mean()))
        assert found is not None
        return found


def intervals(
    draws: Draws, winner: int, rows: NDArray[np.intp], chosen: NDArray[np.intp]
) -> dict[tuple[str, str], Any]:
    """(centre, interval): the estimate and its two ends at every level."""
    scores = {way: draws.others[way][rows, chosen] for way in draws.ways}
    spreads = {way: draws.spread(way, winner, scores[way], rows, chosen) for way in draws.ways}
    pooled = spreads["pooled"]
    lost = max(float(draws.full["pooled"][winner] - draws.full["pooled"][chosen].mean()), 0.0)
    excess = replace(pooled, below=pooled.below + max(pooled.above - lost**2, 0.0))
    made = {"pooled": pooled, "excess": excess, "1.3": scaled(pooled, 1.3), "1.5": scaled(pooled, 1.5)}
    if "within" in spreads:
        made["sampled"] = replace(pooled, sampling=spreads["within"].sampling, n=spreads["within"].n)
    out = {}
    for centre, way, added in draws.centres(winner, rows, chosen):
        own = scores[way][np.isfinite(scores[way])] + added
        value = min(float(own.mean()), 1.0)
        ends = {"percentile": [np.quantile(own, [(1 - level) / 2, (1 + level) / 2]).tolist() for level in LEVELS]}
        for name, spread in (made | {"own": spreads[way]}).items():
            moved = replace(spread, estimate=value)
            ends[name] = [list(moved.interval(level)) for level in LEVELS]
        for name, pair in ends.items():
            out[centre, name] = [value, *np.ravel(pair)]
    return out


def scaled(spread: Spread, times: float) -> Spread:
    return replace(spread, sampling=spread.sampling * times, n=spread.n / times)


def evaluate(pools: Path, folder: Path) -> None:
    """(pools, selections, centres, intervals, 1 + 2 levels) of every data set, with what is known of the selected ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for n, (kind, metric) in ((n, cell) for n in SIZES for cell in CELLS):
        for source in sorted(pools.glob(f"{kind} * {n}.npz")):
            path = folder / f"{metric} {source.stem}.npz"
            if path.exists():
                continue
            held, of_metric = dict(np.load(source)), METRICS[kind].index(metric)
            found = np.full((len(held["y"]), len(WAYS), len(CENTRES), len(INTERVALS), 1 + 2 * len(LEVELS)), np.nan)
            known = np.full((len(found), len(WAYS), 5), np.nan)
            for i in range(len(found)):
                draws = Draws(as_predictions(kind, metric, held, i), metric, i)
                true, by_fold = held["truth"][i, of_metric], held["fold_truth"][i, of_metric].mean(axis=-1)
                # The score within folds is right on average for models of the folds: what it misses by is luck of the pool.
                luck = np.mean(draws.full[draws.ways[1]] - by_fold)
                for s, by in enumerate(WAYS):
                    if by not in draws.ways:
                        continue
                    winner, rows, chosen = draws.selected(by)
                    own = (true[winner], by_fold[winner], by_fold[chosen].mean(), draws.full[by][winner], luck)
                    known[i, s] = own
                    for (centre, name), numbers in intervals(draws, winner, rows, chosen).items():
                        found[i, s, CENTRES.index(centre), INTERVALS.index(name)] = numbers
            np.savez_compressed(path, found=found, known=known)
            print(path.stem, flush=True)


def table(_: Path, folder: Path) -> None:
    rows: list[dict[str, Any]] = []
    for n, (kind, metric) in ((n, cell) for n in SIZES for cell in CELLS):
        parts = [np.load(path) for path in sorted(folder.glob(f"{metric} {kind} * {n}.npz"))]
        if not parts:
            continue
        found, known = (np.concatenate([part[key] for part in parts]) for key in ("found", "known"))
        cell = {"metric": metric, "response": kind, "n": n, "sets": len(parts), "pools": len(found)}
        for s, by in enumerate(WAYS):
            if np.isfinite(known[0, s, 0]):
                rows.append(cell | {"select": by} | selection(found[:, s], known[:, s]))
    text = ",\n".join(json.dumps(row) for row in rows)
    head = f'"levels": {list(LEVELS)}, "draws": {DRAWS}, "intervals": {json.dumps(INTERVALS)}'
    RESULTS.write_text(f'{{{head}, "rows": [\n{text}\n]}}\n')
    print(*page_rows(rows), sep="\n")


NAMES = {"proba": "probabilities", "margin": "margins", "value": "simulated survival"}


def page_rows(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The table of the page: bias of every estimate, and coverage and width of intervals at 95 percent."""
    for row in rows:
        if row["select"] == "within":
            continue
        estimates = row["estimates"]
        bias = [f"{estimates[way]['bias']:+.3f}" if way in estimates else "" for way in WAYS]
        used = "within" if "within" in estimates else "pooled"
        ends = estimates[used]["intervals"]
        cells = [estimates["pooled"]["intervals"]["percentile"], *(ends[name] for name in ("pooled", "excess", "1.3"))]
        cover = [f"{own['coverage'][1]:.3f} ({own['width']:.2f})" for own in cells]
        by = "mean over folds" if row["select"] == "fold" else "pooled"
        first = [row["metric"], NAMES[row["response"]], str(row["n"]), by, f"{row['truth']:.3f}"]
        yield f"| {' | '.join([*first, *bias, *cover])} |"


def cell(rows: list[dict[str, Any]], metric: str, response: str, n: int, select: str) -> dict[str, Any]:
    """What was found for one cell of the table."""
    wanted = {"metric": metric, "response": response, "n": n, "select": select}
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def words(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What the page says of the table."""
    pairs = [row for row in rows if "within" in row["estimates"] and row["select"] != "within"]
    precise = [row for row in rows if row["metric"] == "average_precision"]
    cells = {tuple(row[key] for key in ("metric", "response", "n")) for row in pairs}
    apart = [abs(cell(rows, *of, "pooled")["truth"] - cell(rows, *of, "fold")["truth"]) for of in cells]
    yield f"Selected by the pooled score or by the mean over folds, the mean true score differs by {max(apart):.3f} at most."
    bias = {way: span([row["estimates"][way]["bias"] for row in pairs], "+") for way in WAYS}
    yield f"AUC and concordance: pooled draws are biased by {bias['pooled']}, draws within folds by {bias['within']}."
    of_draws = span([row["selection_on_draws"] for row in pairs], "+")
    smaller = span([row["smaller_training_sets"] for row in pairs], "+")
    yield f"Of this, {of_draws} is that draws select on fewer samples, {smaller} that models of folds are fitted on fewer."
    for name, what in (("pooled", "The intervals of `bbc`"), ("1.3", "With 1.3 times as much sampling variance, they")):
        held = [row["estimates"]["within"]["intervals"][name]["coverage"][1] for row in pairs]
        yield f"{what} hold the truth in {span(held)} of the pools, in {np.mean(held):.3f} on average."
    bias = {way: span([row["estimates"][way]["bias"] for row in precise], "+") for way in ("pooled", "fold")}
    yield f"Average precision: draws by fold are biased by {bias['fold']}, pooled draws by {bias['pooled']}."
    held = [row["estimates"]["pooled"]["intervals"]["pooled"]["coverage"][1] for row in precise]
    yield f"The intervals of `bbc` around pooled draws hold the truth in {span(held)}, in {np.mean(held):.3f} on average."


def span(values: list[float], sign: str = "") -> str:
    return f"{min(values):{sign}.3f} to {max(values):{sign}.3f}"


def selection(found: Floats, known: Floats) -> dict[str, Any]:
    """What a way to select finds, and how each estimate and interval does."""
    true, by_fold, of_draws, score, luck = known.T
    out: dict[str, Any] = {
        "truth": true.mean(),
        "winner": np.mean(score - true),
        # Parts of every estimate's bias: models of the folds have fewer samples, and draws select on fewer.
        "smaller_training_sets": np.mean(by_fold - true),
        "selection_on_draws": np.mean(of_draws - by_fold),
        "estimates": {},
    }
    for c, centre in enumerate(CENTRES):
        error = found[:, c, 0, 0] - true
        if np.isnan(error).all():
            continue
        # With what all configurations miss by taken out, the mean error is known better.
        slope = np.cov(error, luck)[0, 1] / np.var(luck, ddof=1)
        rest = error - slope * (luck - luck.mean()) if abs(luck.mean()) > 0.02 else error - slope * luck
        own = {
            "bias": error.mean(), "se": error.std() / np.sqrt(len(error)), "without_luck": rest.mean(),
            "se_without_luck": rest.std() / np.sqrt(len(error)), "rmse": np.sqrt(np.mean(error**2)),
        }  # fmt: skip
        own["intervals"] = {name: held(found[:, c, k, 1:], true) for k, name in enumerate(INTERVALS)}
        own["intervals"] = {name: ends for name, ends in own["intervals"].items() if ends}
        out["estimates"][centre] = own
    return tidy(out)


def held(ends: Floats, true: Floats) -> dict[str, Any]:
    """Coverage at every level; at 95 percent also the mean width and how often the truth lies below."""
    low, high = np.moveaxis(ends.reshape(len(ends), -1, 2), -1, 0)
    if np.isnan(low).all():
        return {}
    inside = (low <= true[:, None] + 1e-9) & (true[:, None] <= high + 1e-9)
    k = LEVELS.index(0.95)
    below = float(np.mean(true < low[:, k] - 1e-9))
    return {"coverage": inside.mean(axis=0).tolist(), "below": below, "width": float(np.mean(high[:, k] - low[:, k]))}


def tidy(value: Any) -> Any:
    return {key: tidy(own) for key, own in value.items()} if isinstance(value, dict) else rounded(value)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    what, pools, folder = sys.argv[1:]
    {"evaluate": evaluate, "table": table}[what](Path(pools), Path(folder))
