"""How often intervals of the selected configuration hold the truth: metrics other than shares and areas, groups, repeats, rules.

It goes on from `interval_coverage.py`, which has the shares and areas. Here are, with the truth of every configuration known:

- ``counts`` (balanced accuracy, F1, MCC) and ``precision`` (average precision) of normal scores, half or a fifth positive;
- ``values``: the mean of values from 0 to 1 that are neither right nor wrong, close together or far apart;
- ``probabilities``: Brier score and log loss of probabilities that are blurred;
- ``losses``: squared and absolute error and R² of residuals that are normal or have long tails (t with 5 degrees of freedom);
- ``grouped``: accuracy and AUC of 10 to 40 groups of 5 samples that are alike, held out whole;
- ``repeats``: three repeats, whose predictions of a sample are alike; ``rules``: the simplest within one standard error.

Every setting is kept in a folder, so that a stopped study goes on; ``table`` makes the result file, and prints the page's tables.

Usage: python studies/interval_metrics.py all|KIND FOLDER [PART/PARTS]
       python studies/interval_metrics.py table FOLDER
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np
from interval_coverage import LEVELS, Setting, Simulated, ends_of, key_of, parts_of, rounded, row_of
from scipy.special import expit, ndtr, ndtri

import outfold as of

DRAWS, FOLDS, GROUP_FOLDS, REPEATS, OF_GROUP = 300, 10, 5, 3, 5
SIZES, CONFIGS = (30, 60, 100, 200), (10, 100)
# How much of the noise of a score samples of one group, and of one sample in several repeats, have in common.
IN_GROUP, IN_REPEATS = 0.3, 0.8
FALLS = 0.15  # different configurations have areas, or means, up to so much below the best
RESULTS = Path(__file__).parent / "results" / "interval_metrics.json"
METRICS = {
    "counts": ("balanced_accuracy", "f1", "mcc"),
    "precision": ("average_precision",),
    "values": ("mean",),
    "probabilities": ("brier", "log_loss"),
    "losses": ("mse", "mae", "r2"),
    "grouped": ("accuracy", "roc_auc"),
    "repeats": ("accuracy", "roc_auc"),
    "rules": ("accuracy", "mse"),
}


def settings() -> Iterator[Setting]:
    """Every number of samples and configurations, easy or hard, equal or different; with several metrics each has half of it."""
    for kind, metrics in METRICS.items():
        sizes = (10, 20, 40) if kind == "grouped" else SIZES
        for (m, metric), (i, n), (j, c), hard, equal in product(
            enumerate(metrics), enumerate(sizes), enumerate(CONFIGS), (False, True), (False, True)
        ):
            if len(metrics) > 1 and (i + j + hard + equal + m) % 2:
                continue
            shared, special = 0.7 * ((j + i // 2 + m) % 2), bool((hard + j * equal + i + m // 2) % 2)
            known = {"kind": kind, "metric": metric, "n": n, "c": c, "hard": hard, "equal": equal, "shared": shared}
            yield known | {"special": special, "repetitions": 200 if n <= 100 else 100}


# -- simulated predictions, and the truth of every configuration -----------------------------------------------


def truths(setting: Setting, easy: float, hard: float, rng: np.random.Generator) -> np.ndarray:
    """(C,) the best is as good as `easy` or `hard` says; others are worse unless all are equal."""
    best = np.full(setting["c"], hard if setting["hard"] else easy)
    return best if setting["equal"] else best - FALLS * rng.beta(1, 3, setting["c"])


def noise_of(setting: Setting, n: int, rng: np.random.Generator) -> np.ndarray:
    """(N, C) standard normal noise, partly the same for all configurations."""
    shared = setting["shared"]
    return np.sqrt(shared) * rng.normal(size=(n, 1)) + np.sqrt(1 - shared) * rng.normal(size=(n, setting["c"]))


def repeated(setting: Setting, n: int, rng: np.random.Generator) -> np.ndarray:
    """(N, C, R) the same in repeats, or in groups."""
    if setting["kind"] == "repeats":
        own = np.stack([noise_of(setting, n, rng) for _ in range(REPEATS)], axis=2)
        return np.sqrt(IN_REPEATS) * noise_of(setting, n, rng)[:, :, None] + np.sqrt(1 - IN_REPEATS) * own
    if setting["kind"] == "grouped":
        of_groups = np.repeat(noise_of(setting, n // OF_GROUP, rng), OF_GROUP, axis=0)
        return (np.sqrt(IN_GROUP) * of_groups + np.sqrt(1 - IN_GROUP) * noise_of(setting, n, rng))[:, :, None]
    return noise_of(setting, n, rng)[:, :, None]


def classes(setting: Setting, rng: np.random.Generator) -> Simulated:
    """Normal scores of two classes, cut halfway. `special`: a fifth is positive; in groups: all samples of one are alike."""
    n, rare = setting["n"], 0.2 if setting["special"] else 0.5
    if setting["kind"] == "grouped":
        rare, groups = 0.5, np.repeat(np.arange(n), OF_GROUP)
        n *= OF_GROUP
        y = (groups if setting["special"] else np.arange(n)) % 2
        folds = rng.permutation(np.arange(setting["n"]) % GROUP_FOLDS)[groups][:, None]
    else:
        groups, y = None, (np.arange(n) < rare * n).astype(int)
        folds = np.stack([stratified(y, rng) for _ in range(REPEATS if setting["kind"] == "repeats" else 1)], axis=1)
    apart = np.sqrt(2) * ndtri(truths(setting, 0.995, 0.8, rng))
    scores = repeated(setting, n, rng) + (y[:, None, None] - 0.5) * apart[:, None]
    params = [{"size": j} for j in range(setting["c"])]
    oof = of.from_arrays(y, ndtr(scores / 3), folds=folds, response="proba", groups=groups, params=params)
    return oof, truth_of_classes(setting["metric"], apart, rare)


def stratified(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    folds = np.empty(len(y), dtype=int)
    order = rng.permutation(len(y))
    folds[order[np.argsort(y[order], kind="stable")]] = np.arange(len(y)) % FOLDS
    return folds


def truth_of_classes(metric: str, apart: np.ndarray, rare: float) -> np.ndarray:
    """(C,) the metric of a population whose positives, a share `rare`, score `apart` higher than the others."""
    found = ndtr(apart / 2)  # of the positives, and of the negatives
    tp, fn, fp, tn = rare * found, rare * (1 - found), (1 - rare) * (1 - found), (1 - rare) * found
    if metric in ("accuracy", "balanced_accuracy"):
        return found
    if metric == "f1":
        return 2 * tp / (2 * tp + fn + fp)
    if metric == "mcc":
        return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    if metric == "roc_auc":
        return ndtr(apart / np.sqrt(2))
    at = ndtri((np.arange(2000) + 0.5) / 2000)[:, None]  # scores of positives, about their mean
    above = rare * ndtr(-at)
    return np.mean(above / (above + (1 - rare) * ndtr(-at - apart)), axis=0)


def values(setting: Setting, rng: np.random.Generator) -> Simulated:
    """Values from 0 to 1, close together or (`special`) nearly right or wrong."""
    spread, truth = 2.0 if setting["special"] else 0.5, truths(setting, 0.97, 0.7, rng)
    made = ndtr(np.sqrt(1 + spread**2) * ndtri(truth) + spread * noise_of(setting, setting["n"], rng))
    return of.from_arrays(None, made, folds=np.arange(setting["n"]) % FOLDS, response="pointwise"), truth


def probabilities(setting: Setting, rng: np.random.Generator) -> Simulated:
    """Blurred log odds. `special`: about a fifth is positive."""
    n, slope = setting["n"], 1.5 if setting["hard"] else 6.0
    start = ndtri(0.2) * np.sqrt(2.9 + slope**2) if setting["special"] else 0.0
    worse = np.zeros(setting["c"]) if setting["equal"] else rng.beta(1, 3, setting["c"])
    y = np.zeros(n, dtype=int)
    while len(np.unique(y)) < 2:  # both classes must occur
        odds = start + slope * rng.normal(size=n)
        y = (rng.random(n) < expit(odds)).astype(int)
    blurred = expit(odds[:, None] + blur(slope, worse) * noise_of(setting, n, rng))
    at, known = truth_of_blur(setting["metric"], slope, start)
    return of.from_arrays(y, blurred, folds=stratified(y, rng), response="proba"), np.interp(worse, at, known)


def blur(slope: float, worse: np.ndarray) -> np.ndarray:
    return slope * (0.3 + 0.5 * worse)


@cache
def truth_of_blur(metric: str, slope: float, start: float) -> tuple[np.ndarray, np.ndarray]:
    """The metric as a function of how much worse a configuration is, from a grid of log odds and noise."""
    grid = ndtri((np.arange(600) + 0.5) / 600)
    true, at, known = expit(start + slope * grid)[:, None], np.linspace(0, 1, 41), []
    for wide in blur(slope, at):
        odds = start + slope * grid[:, None] + wide * grid
        if metric == "brier":
            loss = (expit(odds) - true) ** 2 + true * (1 - true)
        else:
            loss = true * np.logaddexp(0, -odds) + (1 - true) * np.logaddexp(0, odds)
        known.append(loss.mean())
    return at, np.array(known)


def losses(setting: Setting, rng: np.random.Generator) -> Simulated:
    """Residuals of a number with variance 1, part of it noise that no model can know. `special`: long tails."""
    n, shared = setting["n"], setting["shared"]
    best, worse = 0.7 if setting["hard"] else 0.05, np.ones(setting["c"])
    if not setting["equal"]:
        worse = 1 + 0.6 * rng.beta(1, 3, setting["c"])
    unknown, own = tailed(setting["special"], (n, 1), rng), tailed(setting["special"], (n, setting["c"]), rng)
    y = np.sqrt(1 - best * shared) * rng.normal(size=n) + np.sqrt(best * shared) * unknown[:, 0]
    residuals = np.sqrt(best * worse) * (np.sqrt(shared) * unknown + np.sqrt(1 - shared) * own)
    params = [{"size": j} for j in range(setting["c"])]
    oof = of.from_arrays(y, y[:, None] - residuals, folds=np.arange(n) % FOLDS, response="value", params=params)
    squared = best * worse
    if setting["metric"] == "mae":
        return oof, np.sqrt(squared) * mean_size(setting["special"], shared)
    return oof, 1 - squared if setting["metric"] == "r2" else squared


def tailed(tails: bool, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Noise of variance 1."""
    return rng.standard_t(5, shape) / np.sqrt(5 / 3) if tails else rng.normal(size=shape)


@cache
def mean_size(tails: bool, shared: float) -> float:
    """The mean absolute value of such noise, by four million draws."""
    one, other = tailed(tails, (2, 4_000_000), np.random.default_rng(1))
    return float(np.mean(np.abs(np.sqrt(shared) * one + np.sqrt(1 - shared) * other)))


# -- running ---------------------------------------------------------------------------------------------------


def maker(setting: Setting) -> Callable[[Setting, np.random.Generator], Simulated]:
    if setting["kind"] in ("values", "probabilities"):
        return {"values": values, "probabilities": probabilities}[setting["kind"]]
    return losses if setting["metric"] in METRICS["losses"] else classes


def simulate_setting(setting: Setting) -> Setting:
    found: Setting = {"truth": [], "value": [], "naive": [], "ends": [], "parts": []}
    rule = of.select.one_standard_error("size") if setting["kind"] == "rules" else None
    seed = crc32(key_of(setting).encode())
    for repetition in range(setting["repetitions"]):
        oof, truth = maker(setting)(setting, np.random.default_rng([seed, repetition]))
        estimate = of.estimate.bbc(oof, setting["metric"], rule=rule, n_resamples=DRAWS, rng=repetition)
        for name, value in zip(
            found,
            (
                truth[oof.configs.index(estimate.selected)],
                estimate.value,
                estimate.naive,
                ends_of(estimate),
                parts_of(estimate),
            ),
            strict=True,
        ):
            found[name].append(value)
    return found


def simulate(kind: str, folder: Path, part: int, parts: int) -> None:
    # Few samples first: these hurt.
    for i, setting in sorted(enumerate(settings()), key=lambda pair: pair[1]["n"]):
        path = folder / f"{key_of(setting)}.npz"
        if kind not in ("all", setting["kind"]) or i % parts != part or path.exists():
            continue
        arrays = {name: np.array(found) for name, found in simulate_setting(setting).items()}
        np.savez_compressed(path, setting=json.dumps(setting), **arrays)
        print(path.stem, flush=True)


# -- the tables ------------------------------------------------------------------------------------------------

MANY = 100  # from so many samples on, the interval must be narrower than the percentiles
K = LEVELS.index(0.95)


def few_and_many(rows: list[Setting]) -> Iterator[tuple[str, str, list[Setting]]]:
    """The rows of every kind and metric: those of few samples, and those of many."""
    for kind, metrics in METRICS.items():
        for metric in metrics:
            own = [row for row in rows if (row["kind"], row["metric"]) == (kind, metric)]
            samples = [row["n"] * (OF_GROUP if kind == "grouped" else 1) for row in own]
            for many in (False, True):
                part = [row for row, n in zip(own, samples, strict=True) if (n >= MANY) == many]
                sizes = sorted({row["n"] for row in part})
                yield f"{kind} | `{metric}`", ", ".join(map(str, sizes)), part


def spans(coverage: np.ndarray) -> str:
    return f"{coverage.min():.3f}, {coverage.mean():.3f}, {coverage.max():.3f}"


def page_rows(rows: list[Setting]) -> Iterator[str]:
    """Coverage of the 95 percent intervals, and their width relative to the percentiles'."""
    for what, sizes, own in few_and_many(rows):
        covered = {way: np.array([row["coverage"][way][K] for row in own]) for way in ("mover", "percentile")}
        width = np.mean([row["width"]["mover"][K] / row["width"]["percentile"][K] for row in own])
        yield f"| {what} | {sizes} | {len(own)} | {spans(covered['mover'])} | {spans(covered['percentile'])} | {width:.2f} |"


def level_rows(rows: list[Setting]) -> Iterator[str]:
    """Coverage of the default interval at the three levels."""
    for kind in METRICS:
        covered = np.array([row["coverage"]["mover"] for row in rows if row["kind"] == kind])
        yield f"| {kind} | {len(covered)} | {' | '.join(spans(column) for column in covered.T)} |"


def table(folder: Path) -> None:
    rows = [row_of(folder / f"{key_of(setting)}.npz") for setting in settings()]
    lines = ",\n".join(json.dumps(rounded(row)) for row in rows)
    RESULTS.write_text(f'{{"levels": {list(LEVELS)}, "draws": {DRAWS}, "rows": [\n{lines}\n]}}\n')
    kept = json.loads(RESULTS.read_text())["rows"]
    for part in (page_rows, level_rows):
        print(*part(kept), "", sep="\n")


def main(what: str, folder: str, part: str = "0/1") -> None:
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if what == "table":
        return table(place)
    mine, parts = map(int, part.split("/"))
    return simulate(what, place, mine, parts)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
