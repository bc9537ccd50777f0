"""How often intervals of the selected configuration hold the truth, and how wide they are, with the truth known.

``shares``: the 196 settings of Tsamardinos et al. (2018), sect. 5.1: right or wrong of every (sample, configuration) drawn on its
own, true accuracies from a beta distribution. ``alike``: the same for configurations that are equally good, or nearly so, with
and without what all of them share. ``areas``: AUC of normal scores, equally good or different configurations. With ``others``
other methods answer the same question on some of the same data: BBC-F, nested cross-validation, the zoom correction and
bootstrap tilting. Every setting is kept in a folder, so that a stopped study goes on; ``table`` puts what
there is into the result file, and prints the tables of the page on calibration.

Usage: python studies/interval_coverage.py shares|alike|areas FOLDER [others] [PART/PARTS]
       python studies/interval_coverage.py table FOLDER
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from post_selection import tilting, zoom
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

import outfold as of
from outfold.metrics._scoring import Scoring

LEVELS = (0.8, 0.95, 0.99)
METHODS = ("mover", "percentile", "order")
# Other methods take longer, so fewer repetitions ask them, at one level, and only about so many configurations at most:
# bootstrap tilting ranks the draws of each, and needs more draws than there are configurations.
OTHERS = ("mover", "percentile", "bbc_f", "nested", "zoom", "tilting")
OTHERS_TIMES, OTHERS_MOST, OTHERS_DRAWS, OTHERS_LEVEL = 10, 300, 1500, 0.95
BETAS = ((9, 6), (14, 6), (24, 6), (54, 6))
SAMPLES = (20, 40, 60, 80, 100, 500, 1000)
CONFIGS = (50, 100, 200, 300, 500, 1000, 2000)
DRAWS = 500
FOLDS = 10
RESULTS = Path(__file__).parent / "results" / "interval_coverage.json"

Setting = dict[str, Any]
Simulated = tuple[of.Predictions, np.ndarray]


# -- simulated predictions, and the truth of every configuration -----------------------------------------------


def share_settings() -> Iterator[Setting]:
    for n, c, (a, b) in product(SAMPLES, CONFIGS, BETAS):
        yield {"kind": "shares", "n": n, "c": c, "beta": [a, b], "repetitions": 400 if n <= 100 else 100}


def shares(setting: Setting, rng: np.random.Generator) -> Simulated:
    made = of.simulate.correctness(setting["n"], setting["c"], tuple(setting["beta"]), folds=FOLDS, rng=rng)
    return made.oof, made.truth


def area_settings() -> Iterator[Setting]:
    for n, area, c, shared, equal in product(
        (20, 40, 60, 100, 200), (0.7, 0.8, 0.9, 0.99), (10, 100, 500), (0.0, 0.7), (True, False)
    ):
        known = {"kind": "areas", "n": n, "c": c, "area": area, "shared": shared, "equal": equal}
        yield known | {"repetitions": 400 if n <= 100 else 100}


def areas(setting: Setting, rng: np.random.Generator) -> Simulated:
    """Normal scores; the distance of the classes sets the area. Different configurations are up to 0.15 worse."""
    n, c, shared = setting["n"], setting["c"], setting["shared"]
    y = np.arange(n) % 2
    truth = np.full(c, setting["area"]) if setting["equal"] else setting["area"] - 0.15 * rng.beta(1, 3, c)
    noise = np.sqrt(shared) * rng.normal(size=(n, 1)) + np.sqrt(1 - shared) * rng.normal(size=(n, c))
    scores = noise + y[:, None] * np.sqrt(2) * ndtri(truth)
    folds = np.empty(n, dtype=int)
    folds[rng.permutation(n)] = np.argsort(np.argsort(y, kind="stable")) % FOLDS
    return of.from_arrays(y, ndtr(scores / 3), folds=folds, response="proba"), truth


def alike_settings() -> Iterator[Setting]:
    for n, c, share, shared, equal in product(
        (20, 40, 100), (10, 30, 300), (0.7, 0.9, 0.97), (0.0, 0.7), (True, False)
    ):
        known = {"kind": "alike", "n": n, "c": c, "share": share, "shared": shared, "equal": equal}
        yield known | {"repetitions": 200}


def alike(setting: Setting, rng: np.random.Generator) -> Simulated:
    """Right or wrong by a normal factor that all configurations share in part. Different ones are up to 0.15 worse."""
    n, c, shared = setting["n"], setting["c"], setting["shared"]
    truth = np.full(c, setting["share"]) if setting["equal"] else setting["share"] - 0.15 * rng.beta(1, 3, c)
    noise = np.sqrt(shared) * rng.normal(size=(n, 1)) + np.sqrt(1 - shared) * rng.normal(size=(n, c))
    right = (noise < ndtri(truth)).astype(float)
    return of.from_arrays(None, right, folds=np.arange(n) % FOLDS, response="pointwise"), truth


KINDS: dict[str, tuple[Callable[[], Iterator[Setting]], Callable[..., Simulated], str]] = {
    "shares": (share_settings, shares, "mean"),
    "alike": (alike_settings, alike, "mean"),
    "areas": (area_settings, areas, "roc_auc"),
}


# -- running ---------------------------------------------------------------------------------------------------


def key_of(setting: Setting) -> str:
    return " ".join(str(value).replace(" ", "") for value in setting.values())


def ends_of(estimate: of.results.Estimate) -> list[list[list[float]]]:
    """The two ends by every method and level."""
    return [[ends_at(estimate, level, method) for level in LEVELS] for method in METHODS]


def ends_at(estimate: of.results.Estimate, level: float, method: str) -> list[float]:
    """The library refuses an interval without width, which the published ones can be; here it counts as the point it is."""
    try:
        return list(estimate.confidence_interval(level, method))
    except of.exceptions.NeedError:
        return [float(np.median(estimate.draws))] * 2


def ends_of_others(oof: of.Predictions, metric: str, estimate: of.results.Estimate, seed: int) -> list[Any]:
    """The same for other methods; NaN where a method gives no interval."""
    scoring = Scoring(oof, metric)
    scores, rng = scoring.scores()[0], np.random.default_rng(seed)
    counts = rng.multinomial(oof.n_samples, np.full(oof.n_samples, 1 / oof.n_samples), size=OTHERS_DRAWS)
    drawn = scoring.scores(counts)
    defined = ~np.isnan(drawn).any(axis=1)
    counts, drawn = counts[defined], drawn[defined]
    winner = int(scores.argmax())
    influence, weighted = influence_of(oof, metric, winner)
    around = estimate.intervals.spread.of_one_choice(nested_value(oof, metric, scoring))
    ways: dict[str, Callable[[float], Any]] = {
        **{way: partial(estimate.confidence_interval, method=way) for way in ("mover", "percentile", "bbc_f")},
        "nested": around.interval,
        "zoom": lambda level: zoom(scores, drawn, level),
        "tilting": lambda level: tilting(counts, drawn, winner, scores[winner], influence, weighted, level),
    }
    return [ends_or_nan(ways[name], OTHERS_LEVEL) for name in OTHERS]


def ends_or_nan(way: Callable[[float], Any], level: float) -> list[float]:
    try:
        return list(way(level))
    except of.exceptions.OutfoldError:
        return [np.nan, np.nan]


def nested_value(oof: of.Predictions, metric: str, scoring: Scoring) -> float:
    """Nested cross-validation of predictions that no training set made: the winner of the other folds scores each fold."""
    folds = oof.folds[:, 0]
    weights = np.stack([folds != k for k in range(FOLDS)]).astype(np.uint8)
    picks = scoring.scores(weights).argmax(axis=1)
    picked = oof.data[0][picks[folds], np.arange(len(folds))]
    alone = replace(oof, data=picked[None, None], state=oof.state[:1], configs=("search",), params=({},), seconds=None)
    return float(Scoring(alone, metric).scores()[0, 0])


def influence_of(oof: of.Predictions, metric: str, winner: int) -> tuple[np.ndarray, Callable[[np.ndarray], float]]:
    """(N,) how much each sample adds to the winner's score, and that score under other weights of the samples."""
    values = oof.data[0][winner]
    if metric == "mean":
        return values - values.mean(), lambda weights: float(weights @ values)
    y = oof.target.y
    n1, n0 = int(y.sum()), int(np.sum(1 - y))
    of_all, of_class = rankdata(values), np.empty(len(y))
    for k in (0, 1):
        of_class[y == k] = rankdata(values[y == k])
    above = (of_all - of_class) / np.where(y == 1, n0, n1)
    placement = np.where(y == 1, above, 1 - above)
    area = placement[y == 1].mean()
    order = np.argsort(values)

    def weighted(weights: np.ndarray) -> float:
        w, labels = weights[order], y[order]
        negatives = np.cumsum(w * (labels == 0))
        return float(np.sum(w * (labels == 1) * negatives) / (w[labels == 1].sum() * w[labels == 0].sum()))

    return len(y) / np.where(y == 1, n1, n0) * (placement - area), weighted


def parts_of(estimate: of.results.Estimate) -> list[float]:
    spread = estimate.intervals.spread
    return [spread.sampling, spread.below, spread.above, spread.n, float(np.var(estimate.draws))]


def data_of(kind: str, i: int, repetition: int, setting: Setting) -> tuple[of.results.Estimate, float, of.Predictions]:
    """The estimate of one data set, the truth of the selected configuration, and the predictions."""
    _, make, metric = KINDS[kind]
    oof, truth = make(setting, np.random.default_rng(np.random.SeedSequence([i, repetition, len(kind)])))
    estimate = of.estimate.bbc(oof, metric, n_resamples=DRAWS, rng=repetition)
    return estimate, truth[oof.configs.index(estimate.selected)], oof


def simulate_setting(kind: str, i: int, setting: Setting) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"truth": [], "value": [], "naive": [], "ends": [], "parts": []}
    for repetition in range(setting["repetitions"]):
        estimate, truth, _ = data_of(kind, i, repetition, setting)
        found["truth"].append(truth)
        found["value"].append(estimate.value)
        found["naive"].append(estimate.naive)
        found["ends"].append(ends_of(estimate))
        found["parts"].append(parts_of(estimate))
    return found


def others_of_setting(kind: str, i: int, setting: Setting) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"others_truth": [], "others": []}
    for repetition in range(OTHERS_TIMES):
        estimate, truth, oof = data_of(kind, i, repetition, setting)
        found["others_truth"].append(truth)
        found["others"].append(ends_of_others(oof, KINDS[kind][2], estimate, repetition))
    return found


def simulate(kind: str, folder: Path, others: bool, part: int, parts: int) -> None:
    # Few samples first: these hurt.
    for i, setting in enumerate(sorted(KINDS[kind][0](), key=lambda s: s["n"])):
        path = folder / f"{key_of(setting)}{' others' if others else ''}.npz"
        if i % parts != part or path.exists() or (others and setting["c"] > OTHERS_MOST):
            continue
        found = (others_of_setting if others else simulate_setting)(kind, i, setting)
        arrays = {name: np.array(values) for name, values in found.items()}
        np.savez_compressed(path, setting=json.dumps(setting), **arrays)
        print(path.stem, flush=True)


# -- the table -------------------------------------------------------------------------------------------------


def row_of(path: Path) -> Setting:
    """Coverage and mean width by method, at every level, of one setting; of the other methods at one level."""
    held = np.load(path)
    row: Setting = json.loads(str(held["setting"]))
    row |= {
        "bias": float(np.mean(held["value"] - held["truth"])),
        "winner": float(np.mean(held["naive"] - held["truth"])),
        "coverage": {},
        "width": {},
    }
    for j, method in enumerate(METHODS):
        low, high = held["ends"][:, j, :, 0], held["ends"][:, j, :, 1]
        row["coverage"][method] = holds(low, high, held["truth"][:, None]).mean(axis=0).tolist()
        row["width"][method] = (high - low).mean(axis=0).tolist()
    return row


def others_row(held: Any) -> Setting:
    """How many intervals there are, how many hold the truth, and their width relative to `mover` on the same data."""
    out = {}
    low, high, truth = held["others"][..., 0], held["others"][..., 1], held["others_truth"]
    ours = (high - low)[:, OTHERS.index("mover")]
    for j, method in enumerate(OTHERS):
        there = ~np.isnan(low[:, j])
        inside = holds(low[there, j], high[there, j], truth[there])
        out[method] = {"intervals": int(there.sum()), "held": int(inside.sum())}
        if there.any():
            out[method]["width"] = float((high - low)[there, j].sum() / ours[there].sum())
    return out


def holds(low: np.ndarray, high: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Whether intervals hold the truth; an end that is the truth but for rounding does."""
    return (low <= truth + 1e-9) & (truth <= high + 1e-9)


def rounded(value: Any) -> Any:
    """Numbers to six digits, so that the file stays small."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 6) if isinstance(value, float) else value


ORDER = ("shares", "alike", "areas")


def page_rows(rows: list[Setting]) -> Iterator[str]:
    """The table of the documentation: coverage of the 95 percent intervals by kind and number of samples."""
    k = LEVELS.index(0.95)
    for kind, n in sorted({(row["kind"], row["n"]) for row in rows}, key=lambda pair: (ORDER.index(pair[0]), pair[1])):
        own = [row for row in rows if (row["kind"], row["n"]) == (kind, n)]
        cells = []
        for method in ("mover", "percentile"):
            covered = [row["coverage"][method][k] for row in own]
            cells.append(f"{min(covered):.3f}, {np.mean(covered):.3f}, {max(covered):.3f}")
        width = np.mean([row["width"]["mover"][k] / row["width"]["percentile"][k] for row in own])
        yield f"| {kind} | {n} | {len(own)} | {' | '.join(cells)} | {width:.2f} |"


def level_rows(rows: list[Setting]) -> Iterator[str]:
    """Coverage of the default interval at the three levels: lowest, mean and highest over settings."""
    for kind in sorted({row["kind"] for row in rows}, key=ORDER.index):
        covered = np.array([row["coverage"]["mover"] for row in rows if row["kind"] == kind])
        cells = [f"{column.min():.3f}, {column.mean():.3f}, {column.max():.3f}" for column in covered.T]
        yield f"| {kind} | {len(covered)} | {' | '.join(cells)} |"


def other_rows(rows: list[Setting]) -> Iterator[str]:
    """The other methods: data sets, share without an interval, share of intervals that hold the truth, width by ours."""
    for kind in sorted({row["kind"] for row in rows if "others" in row}, key=ORDER.index):
        own = [row["others"] for row in rows if row["kind"] == kind and "others" in row]
        for method in OTHERS:
            there, held = (sum(found[method][what] for found in own) for what in ("intervals", "held"))
            width = np.mean([found[method]["width"] for found in own if "width" in found[method]])
            none = 1 - there / (OTHERS_TIMES * len(own))
            yield f"| {kind} | `{method}` | {len(own) * OTHERS_TIMES:,} | {none:.3f} | {held / there:.3f} | {width:.2f} |"


def merged(kept: list[Setting], found: list[Setting], others: list[Any]) -> list[Setting]:
    """The rows of the result file, those that were measured again in the place of the earlier ones; what other methods gave on
    the same data is added to them."""
    rows = {place(row): row for row in kept}
    for row in found:
        earlier = rows.get(place(row), {})
        rows[place(row)] = {name: earlier[name] for name in ("others",) if name in earlier} | row
    for held in others:
        rows[place(json.loads(str(held["setting"])))]["others"] = others_row(held)
    return list(rows.values())


def place(row: Setting) -> str:
    """What makes a setting, however often it was repeated."""
    return key_of(
        {name: row[name] for name in row if name in ("kind", "n", "c", "beta", "area", "share", "shared", "equal")}
    )


def table(folder: Path) -> None:
    paths = sorted(path for path in folder.glob("*.npz") if not path.stem.endswith(" others"))
    kept = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    others = [np.load(path) for path in sorted(folder.glob("* others.npz"))]
    rows = merged(kept, [row_of(path) for path in paths], others)
    lines = ",\n".join(json.dumps(rounded(row)) for row in rows)
    RESULTS.write_text(f'{{"levels": {list(LEVELS)}, "draws": {DRAWS}, "rows": [\n{lines}\n]}}\n')
    kept = json.loads(RESULTS.read_text())["rows"]
    for part in (page_rows, level_rows, other_rows):
        print(*part(kept), "", sep="\n")


def main(what: str, folder: str, *more: str) -> None:
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if what == "table":
        return table(place)
    part, parts = map(int, more[-1].split("/")) if more and "/" in more[-1] else (0, 1)
    return simulate(what, place, "others" in more, part, parts)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
