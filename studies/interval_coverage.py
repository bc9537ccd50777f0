"""How often intervals of the selected configuration hold the truth, and how wide they are, with the truth known.

``shares``: the 196 settings of Tsamardinos et al. (2018), sect. 5.1: right or wrong of every (sample, configuration) drawn on its
own, true accuracies from a beta distribution. ``areas``: AUC of normal scores, equally good or different configurations, with
and without what all of them share. Every setting is kept in a folder, so that a stopped study goes on; ``table`` makes the
result file of what there is, and prints the table of the page on calibration.

Usage: python studies/interval_coverage.py shares FOLDER [PART/PARTS]
       python studies/interval_coverage.py areas FOLDER [PART/PARTS]
       python studies/interval_coverage.py table FOLDER
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

import outfold as of

LEVELS = (0.8, 0.95, 0.99)
METHODS = ("mover", "percentile", "order", "bbc_f")
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
        (20, 40, 60, 100, 200), (0.7, 0.8, 0.9, 0.95, 0.99), (10, 100, 500), (0.0, 0.7), (True, False)
    ):
        known = {"kind": "areas", "n": n, "c": c, "area": area, "shared": shared, "equal": equal}
        yield known | {"repetitions": 400 if n <= 100 else 200}


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


KINDS: dict[str, tuple[Callable[[], Iterator[Setting]], Callable[..., Simulated], str]] = {
    "shares": (share_settings, shares, "mean"),
    "areas": (area_settings, areas, "roc_auc"),
}


# -- running ---------------------------------------------------------------------------------------------------


def key_of(setting: Setting) -> str:
    return " ".join(str(value).replace(" ", "") for value in setting.values())


def ends_of(estimate: of.results.Estimate) -> list[list[list[float]]]:
    """The two ends by every method and level; NaN where a method gives none."""
    out = []
    for method in METHODS:
        try:
            out.append([list(estimate.confidence_interval(level, method)) for level in LEVELS])
        except of.exceptions.OutfoldError:
            out.append([[np.nan, np.nan]] * len(LEVELS))
    return out


def parts_of(estimate: of.results.Estimate) -> list[float]:
    spread = estimate.intervals.spread
    return [spread.sampling, spread.below, spread.above, spread.n, float(np.var(estimate.draws))]


def simulate(kind: str, folder: Path, part: int, parts: int) -> None:
    settings, make, metric = KINDS[kind]
    # Few samples first: these hurt.
    for i, setting in enumerate(sorted(settings(), key=lambda s: s["n"])):
        path = folder / f"{key_of(setting)}.npz"
        if i % parts != part or path.exists():
            continue
        found: dict[str, list[Any]] = {"truth": [], "value": [], "naive": [], "ends": [], "parts": []}
        for repetition in range(setting["repetitions"]):
            seed = np.random.SeedSequence([i, repetition, len(kind)])
            oof, truth = make(setting, np.random.default_rng(seed))
            estimate = of.estimate.bbc(oof, metric, n_resamples=DRAWS, rng=repetition)
            found["truth"].append(truth[oof.configs.index(estimate.selected)])
            found["value"].append(estimate.value)
            found["naive"].append(estimate.naive)
            found["ends"].append(ends_of(estimate))
            found["parts"].append(parts_of(estimate))
        np.savez_compressed(path, setting=json.dumps(setting), **{name: np.array(v) for name, v in found.items()})
        print(key_of(setting), np.round(row_of(path)["coverage"]["mover"], 3), flush=True)


# -- the table -------------------------------------------------------------------------------------------------


def row_of(path: Path) -> Setting:
    """Coverage and mean width by method, at every level, of one setting."""
    held = np.load(path)
    truth, ends = held["truth"][:, None], held["ends"]
    row: Setting = json.loads(str(held["setting"]))
    row |= {
        "bias": float(np.mean(held["value"] - held["truth"])),
        "winner": float(np.mean(held["naive"] - held["truth"])),
    }
    row["coverage"], row["width"] = {}, {}
    for j, method in enumerate(METHODS):
        low, high = ends[:, j, :, 0], ends[:, j, :, 1]
        if np.isnan(low).all():
            continue
        # An end that is the truth but for rounding holds it.
        inside = (low <= truth + 1e-9) & (truth <= high + 1e-9)
        row["coverage"][method] = [float(np.mean(inside[:, k])) for k in range(len(LEVELS))]
        row["width"][method] = [float(np.mean((high - low)[:, k])) for k in range(len(LEVELS))]
    return row


def rounded(value: Any) -> Any:
    """Numbers to six digits, so that the file stays small."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 6) if isinstance(value, float) else value


def page_rows(rows: list[Setting]) -> Iterator[str]:
    """The table of the documentation: coverage of the 95 percent intervals by kind and number of samples."""
    k = LEVELS.index(0.95)
    for kind, n in sorted({(row["kind"], row["n"]) for row in rows}, key=lambda pair: (pair[0] != "shares", pair[1])):
        own = [row for row in rows if (row["kind"], row["n"]) == (kind, n)]
        cells = []
        for method in ("mover", "percentile"):
            covered = [row["coverage"][method][k] for row in own]
            cells.append(f"{min(covered):.3f}, {np.mean(covered):.3f}, {max(covered):.3f}")
        width = np.mean([row["width"]["mover"][k] / row["width"]["percentile"][k] for row in own])
        yield f"| {kind} | {n} | {len(own)} | {' | '.join(cells)} | {width:.2f} |"


def table(folder: Path) -> None:
    rows = [row_of(path) for path in sorted(folder.glob("*.npz"))]
    RESULTS.parent.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(rounded(row)) for row in rows)
    RESULTS.write_text(f'{{"levels": {list(LEVELS)}, "draws": {DRAWS}, "rows": [\n{lines}\n]}}\n')
    print(*page_rows(json.loads(RESULTS.read_text())["rows"]), sep="\n")
    for kind in sorted({row["kind"] for row in rows}):
        own = [row for row in rows if row["kind"] == kind]
        for method, (k, level) in product(METHODS, enumerate(LEVELS)):
            covered = np.array([row["coverage"][method][k] for row in own if method in row["coverage"]])
            ratio = [row["width"][method][k] / row["width"]["percentile"][k] for row in own if method in row["width"]]
            if len(covered):
                numbers = f"{covered.min():.3f} {covered.mean():.3f} {covered.max():.3f}, width {np.mean(ratio):.2f}"
                print(f"{kind:<8} {method:<10} {level:.2f} of {len(own)} settings: {numbers}")


def main(what: str, folder: str, *more: str) -> None:
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if what == "table":
        return table(place)
    part, parts = map(int, more[-1].split("/")) if more and "/" in more[-1] else (0, 1)
    return simulate(what, place, part, parts)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
