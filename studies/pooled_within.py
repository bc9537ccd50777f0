"""AUC, average precision and concordance on real data: pooled, of pairs within folds, or the mean over folds?

Reads the pools that ``studies/real_data.py collect`` made. Every selection (by the pooled score, by pairs within folds, by the
mean over folds) is estimated by draws scored in several ways, and every estimate gets several intervals. The truth is the score
of the selected configuration, fitted on the whole pool, on samples outside of it.

Estimates: the mean out-of-bag score, ``pooled``, ``within`` or by ``fold``; ``winner``, pooled plus what the winner gains within
folds on all samples; ``winners``, the same for the configurations that the draws select. The others correct the mean that `bbc`
takes without a correction, ``within`` where that exists, else ``pooled``: ``balanced`` adds what selecting on draws loses;
``optimism`` is the winner's score less 1/sqrt(2) of what scores of draws lose out of the bag. For average precision, ``size``
subtracts what scores on the samples left out are above those on all samples; ``large`` extrapolates this to many samples;
``ranks`` adds to ``large`` what AUC within folds is above pooled AUC on the same draws; ``both`` is ``ranks``, balanced.

Intervals around them: ``percentile`` of the draws; ``own``, MOVER with the variances of the same draws; ``pooled``, MOVER with
those of the pooled draws; ``excess``, the same with all of the draws' further variance on either side; ``sampled``, with the
sampling variance of scores within folds; ``1.3`` and ``1.5``, with so many times the sampling variance that `bbc` counts;
``straight``, as ``pooled`` without room for the bias of few samples.

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
from outfold.stats.resampling import Corrected, noise_share

Floats = NDArray[np.float64]

RESULTS = Path(__file__).parent / "results" / "pooled_within.json"
LEVELS = (0.8, 0.95, 0.99)
DRAWS = 400
# Corrections were proposed after so many pools of each data set; what later ones say alone is kept too.
FIRST = 20
SIZES = (60, 150)
WAYS = ("pooled", "within", "fold")
CELLS = (
    ("proba", "roc_auc"), ("margin", "roc_auc"), ("proba", "average_precision"), ("margin", "average_precision"),
    ("value", "concordance"),
)  # fmt: skip
LARGEST, COVERS = 0.005, (0.92, 0.98)  # the bias and the coverage that we aim at
CENTRES = (*WAYS, "winner", "winners", "balanced", "optimism", "size", "large", "ranks", "both")
INTERVALS = ("percentile", "own", "pooled", "excess", "sampled", "1.3", "1.5", "straight")
# Scores on 1/e of the samples: a bias that falls with their number is so many times its difference from that on all samples.
_TO_MANY = np.e / (np.e - 1)


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
        self.base = "within" if "within" in self.ways else "pooled"
        # The share of right pairs: right on average within folds, so what it misses by is luck; pooled, it has the bias of ranks.
        pairs = metric if self.base == "within" else "roc_auc"
        within, pooled = Scoring(oof, pairs, "within"), Scoring(oof, pairs, "pooled")
        self.right_pairs = within.scores()[0]
        self.of_ranks = within.scores(others) - pooled.scores(others)

    def selected(self, by: str) -> tuple[int, NDArray[np.intp], NDArray[np.intp]]:
        """The winner on all samples; the draws that have one and can score it pooled, and theirs."""
        defined = np.isfinite(self.drawn[by]).all(axis=1)
        chosen = np.argmax(np.where(defined[:, None], self.drawn[by], 0.0), axis=1)
        rows = np.flatnonzero(defined & np.isfinite(self.others["pooled"][np.arange(len(chosen)), chosen]))
        return int(np.nanargmax(self.full[by])), rows, chosen[rows]

    def centres(
        self, by: str, winner: int, rows: NDArray[np.intp], chosen: NDArray[np.intp]
    ) -> Iterator[tuple[str, str, float]]:
        """Name, way of the draws, and what is added to their mean."""
        for way in self.ways:
            yield way, way, 0.0
        other = "within" if "within" in self.ways else "fold"
        gain = self.full[other] - self.full["pooled"]
        yield "winner", "pooled", float(gain[winner])
        yield "winners", "pooled", float(gain[chosen].mean())
        base = self.base
        balance = self.balance(by, winner, chosen)
        yield "balanced", base, balance
        full, drawn, others = self.full[base], self.drawn[base][rows, chosen], self.others[base][rows, chosen]
        optimism = np.sqrt(0.5) * np.nanmean(drawn - others)
        yield "optimism", base, float(full[winner] - optimism - np.nanmean(others))
        if base == "pooled":
            few = float(np.mean(np.nanmean(self.others[base][rows], axis=0)[chosen] - full[chosen]))
            ranks = float(np.nanmean(self.of_ranks[rows, chosen]))
            yield "size", base, -few
            yield "large", base, -_TO_MANY * few
            yield "ranks", base, -_TO_MANY * few + ranks
            yield "both", base, -_TO_MANY * few + ranks + balance

    def balance(self, by: str, winner: int, chosen: NDArray[np.intp]) -> float:
        """What selecting on draws loses: the part that is no noise of the winner's lead over the winners of draws."""
        lead = float(self.full[by][winner] - self.full[by][chosen].mean())
        noise = noise_share(self.scoring[self.base], self.counts, 1, self.drawn[by])
        return 0.0 if np.isnan(noise) else (1 - noise) * lead

    def spread(self, way: str, winner: int, scores: Floats, rows: NDArray[np.intp], chosen: NDArray[np.intp]) -> Spread:
        """What makes the estimate uncertain, by draws that are scored in this way."""
        name = self.scoring[way].names[winner]
        some = np.isfinite(scores)
        result = Corrected(scores[some], chosen[some], 0, scores[some])
        found = spread_of(self.scoring[way], name, result, [self.counts[rows]], float(scores[some].mean()))
        assert found is not None
        return found


def intervals(
    draws: Draws, by: str, winner: int, rows: NDArray[np.intp], chosen: NDArray[np.intp]
) -> dict[tuple[str, str], Any]:
    """(centre, interval): the estimate and its two ends at every level."""
    scores = {way: draws.others[way][rows, chosen] for way in draws.ways}
    spreads = {way: draws.spread(way, winner, scores[way], rows, chosen) for way in draws.ways}
    pooled = spreads["pooled"]
    lost = max(float(draws.full["pooled"][winner] - draws.full["pooled"][chosen].mean()), 0.0)
    excess = replace(pooled, below=pooled.below + max(pooled.above - lost**2, 0.0))
    made = {"pooled": pooled, "excess": excess, "1.3": scaled(pooled, 1.3), "1.5": scaled(pooled, 1.5)}
    made["straight"] = replace(pooled, leans=0.0)
    if "within" in spreads:
        made["sampled"] = replace(pooled, sampling=spreads["within"].sampling, n=spreads["within"].n)
    out = {}
    for centre, way, added in draws.centres(by, winner, rows, chosen):
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


def evaluated(kind: str, metric: str, held: dict[str, NDArray[Any]], i: int, seed: int) -> tuple[Floats, Floats]:
    """(selections, centres, intervals, 1 + 2 levels) of a pool, and what is known of what each way selects."""
    pairs, of_metric = METRICS[kind].index("concordance" if kind == "value" else "roc_auc"), METRICS[kind].index(metric)
    found = np.full((len(WAYS), len(CENTRES), len(INTERVALS), 1 + 2 * len(LEVELS)), np.nan)
    known = np.full((len(WAYS), 5), np.nan)
    draws = Draws(as_predictions(kind, metric, held, i), metric, seed)
    true, by_fold = held["truth"][i, of_metric], held["fold_truth"][i, of_metric].mean(axis=-1)
    luck = np.mean(draws.right_pairs - held["fold_truth"][i, pairs].mean(axis=-1))
    for s, by in enumerate(WAYS):
        if by not in draws.ways:
            continue
        winner, rows, chosen = draws.selected(by)
        known[s] = (true[winner], by_fold[winner], by_fold[chosen].mean(), draws.full[by][winner], luck)
        for (centre, name), numbers in intervals(draws, by, winner, rows, chosen).items():
            found[s, CENTRES.index(centre), INTERVALS.index(name)] = numbers
    return found, known


def evaluate(pools: Path, folder: Path) -> None:
    """Evaluate what is not yet in `folder`, a file for each data set, size and metric."""
    folder.mkdir(parents=True, exist_ok=True)
    for n, (kind, metric) in ((n, cell) for n in SIZES for cell in CELLS):
        for source in sorted(pools.glob(f"{kind} * {n}.npz")):
            path = folder / f"{metric} {source.stem}.npz"
            if path.exists():
                continue
            held = dict(np.load(source))
            of_each = [evaluated(kind, metric, held, i, i) for i in range(len(held["y"]))]
            found, known = (np.stack(part) for part in zip(*of_each, strict=True))
            np.savez_compressed(path, found=found, known=known)
            print(path.stem, flush=True)


def table(_: Path, folder: Path) -> None:
    rows: list[dict[str, Any]] = []
    for n, (kind, metric) in ((n, cell) for n in SIZES for cell in CELLS):
        parts = [np.load(path) for path in sorted(folder.glob(f"{metric} {kind} * {n}.npz"))]
        if not parts:
            continue
        found, known = (np.concatenate([part[key] for part in parts]) for key in ("found", "known"))
        later = np.concatenate([np.arange(len(part["found"])) >= FIRST for part in parts])
        cell = {"metric": metric, "response": kind, "n": n, "sets": len(parts), "pools": len(found)}
        for s, by in enumerate(WAYS):
            if np.isfinite(known[0, s, 0]):
                rows.append(cell | {"select": by} | selection(found[:, s], known[:, s], later))
    text = ",\n".join(json.dumps(row) for row in rows)
    head = f'"levels": {list(LEVELS)}, "draws": {DRAWS}, "intervals": {json.dumps(INTERVALS)}'
    RESULTS.write_text(f'{{{head}, "rows": [\n{text}\n]}}\n')
    print(*page_rows(rows), sep="\n")


NAMES = {"proba": "probabilities", "margin": "margins", "value": "simulated survival"}
CORRECTIONS = ("balanced", "optimism", "size", "large", "ranks", "both")


USED = {"roc_auc": "within", "concordance": "balanced", "average_precision": "ranks"}


def used(row: dict[str, Any]) -> str:
    """The estimate that `bbc` is by default."""
    return USED[row["metric"]]


def of_bbc(row: dict[str, Any]) -> dict[str, Any]:
    """The estimate of `bbc`: its bias, and its interval."""
    own: dict[str, Any] = row["estimates"][used(row)]
    return own | own["intervals"]["straight"]


def page_rows(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The tables of the page: bias of draws, coverage and width of intervals at 95 percent; then the corrections."""
    rows = [row for row in rows if row["select"] != "within"]
    for row in rows:
        estimates, bbc = row["estimates"], of_bbc(row)
        bias = [f"{estimates[way]['bias']:+.3f}" if way in estimates else "" for way in WAYS]
        bias.append(f"{bbc['bias']:+.3f} ({bbc['se']:.3f})")
        wider = estimates[used(row)]["intervals"]["1.3"]
        cells = [estimates["pooled"]["intervals"]["percentile"], bbc, wider]
        cover = [f"{own['coverage'][1]:.3f} ({own['width']:.2f})" for own in cells]
        yield f"| {' | '.join([*place(row), str(row['pools']), format(row['truth'], '.3f'), *bias, *cover])} |"
    for row in rows:
        estimates = row["estimates"]
        plain = "within" if "within" in estimates else "pooled"
        errors = [estimates.get(name) for name in (plain, *CORRECTIONS)]
        shown = [f"{own['without_luck']:+.3f}, {own['rmse']:.3f}" if own else "" for own in errors]
        bbc = of_bbc(row)
        later = f"{bbc['later']['bias']:+.3f} ({bbc['later']['se']:.3f})" if "later" in bbc else ""
        last = [f"{bbc['without_luck']:+.3f} ({bbc['se_without_luck']:.3f})", later]
        yield f"| {' | '.join([*place(row), *shown, *last])} |"


def place(row: dict[str, Any]) -> list[str]:
    """Which cell a row is of."""
    by = "mean over folds" if row["select"] == "fold" else "pooled"
    return [row["metric"], NAMES[row["response"]], str(row["n"]), by]


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
    rest = {
        metric: span([other(row) for row in pairs if row["metric"] == metric], "+")
        for metric in ("roc_auc", "concordance")
    }
    yield f"The rest, without luck, is {rest['roc_auc']} for AUC and {rest['concordance']} for concordance."
    bias = {way: span([row["estimates"][way]["bias"] for row in precise], "+") for way in ("pooled", "fold")}
    yield f"Average precision: draws by fold are biased by {bias['fold']}, pooled draws by {bias['pooled']}."
    of_metric = {metric: [row for row in pairs if row["metric"] == metric] for metric in ("roc_auc", "concordance")}
    cases = (("AUC", of_metric["roc_auc"]), ("concordance", of_metric["concordance"]), ("average precision", precise))
    for what, some in cases:
        own, held = [of_bbc(row)["without_luck"] for row in some], [of_bbc(row)["coverage"][1] for row in some]
        plain = [row["estimates"]["pooled" if some is precise else "within"]["without_luck"] for row in some]
        yield (
            f"`bbc` of {what}: without luck the bias is {span(own, '+')}; without a correction it is {span(plain, '+')}. "
            f"The intervals hold the truth in {span(held)} of the pools, in {np.mean(held):.3f} on average."
        )
    yield reached([*pairs, *precise])
    more = [of_bbc(row)["rmse"] / row["estimates"]["pooled"]["rmse"] for row in precise]
    cost = f"the root mean squared error is {min(more):.2f} to {max(more):.2f} times that of pooled draws"
    yield f"The corrections of average precision cost variance: {cost}."


def other(row: dict[str, Any]) -> float:
    """The bias of draws within folds that neither selecting on draws nor smaller training sets explain."""
    known = row["smaller_training_sets"] + row["selection_on_draws"]
    return float(row["estimates"]["within"]["without_luck"] - known)


def reached(rows: list[dict[str, Any]]) -> str:
    """In how many cells the bias is small and the coverage right, and where they are not."""
    found = [(abs(of_bbc(row)["without_luck"]), of_bbc(row)["se_without_luck"], row) for row in rows]
    small = sum(bias <= LARGEST for bias, _, _ in found)
    rest = [(bias - 2 * se <= LARGEST, row) for bias, se, row in found if bias > LARGEST]
    text = f"Without luck, the bias of `bbc` is at most {LARGEST} in {small} of {len(found)} cells"
    for near, what in ((True, "larger by less than two standard errors"), (False, "larger by more")):
        cells = [", ".join(place(row)) for close, row in rest if close == near]
        text += f"; {what} in {len(cells)}" + (f" ({'; '.join(cells)})" if cells else "")
    held = [(of_bbc(row)["coverage"][1], row) for row in rows]
    outside = [f"{share:.3f}: {', '.join(place(row))}" for share, row in held if not COVERS[0] <= share <= COVERS[1]]
    text += f". Its interval covers {COVERS[0]} to {COVERS[1]} in {len(held) - len(outside)} of {len(held)} cells"
    return text + (f" (else {'; '.join(outside)})." if outside else ".")


def span(values: list[float], sign: str = "") -> str:
    return f"{min(values):{sign}.3f} to {max(values):{sign}.3f}"


def selection(found: Floats, known: Floats, later: NDArray[np.bool_]) -> dict[str, Any]:
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
        rest = error - slope * luck
        own = {
            "bias": error.mean(), "se": error.std() / np.sqrt(len(error)), "without_luck": rest.mean(),
            "se_without_luck": rest.std() / np.sqrt(len(error)), "rmse": np.sqrt(np.mean(error**2)),
        }  # fmt: skip
        if later.any():
            own["later"] = {"pools": int(later.sum()), "bias": rest[later].mean()}
            own["later"]["se"] = rest[later].std() / np.sqrt(later.sum())
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
