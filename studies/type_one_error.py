"""How often each test of `compare` finds a difference where there is none: nulls that hurt, in every design a test accepts.

The nulls:

- ``halves``: one learner on two exchangeable halves of the features, with no, a weak or a strong signal.
- ``uneven``: halves, with one positive in five.
- ``seeds``: two seeds of a learner that draws at random in every fit.
- ``groups``: halves, samples in groups of five that share label and features in part; groups are held out whole.
- ``values``: halves, where y is a number and the metric is the squared error.
- ``gaussians``: the populations of Wang et al. (2014), tree against least squares. These two are not equally good, so the
  tests are put to the true difference of their design, the mean over all data sets.
- ``models``: one test set, where a coin decides for each sample which of the two answers whose: both are equally good there.
  In all other nulls the two are equally good over all training sets; on one test set, that is another question.

``difference`` is no null: the first half has more signal, and the share of rejections is the power.

Every setting (null, signal, n, learner) is kept in a folder, so that a stopped study goes on; ``table`` puts what there is
into the result file and prints the tables of the page on calibration. The tests are computed by the kernels of the library for
all data sets at once; ``check`` compares them with the public functions.

``light`` leaves out leave-one-out, single test sets, and the tests that take all held-out samples as one test set, which take
nine tenths of the time. ``table`` then keeps the rates that an earlier run had of these. Both see the same predictions, so the
file is the one that ``run`` would give.

``again`` measures the tests that `compare.auto` takes once more, on ten times as many new data sets, in the settings where they
erred most. A rate that is looked at because it is the largest of many is too high, so there the new rate counts.

Usage: python studies/type_one_error.py run FOLDER [N ...]
       python studies/type_one_error.py light FOLDER [N ...]
       python studies/type_one_error.py table FOLDER
       python studies/type_one_error.py again FOLDER      reads the table, which is then made once more
       python studies/type_one_error.py check
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from all_tests import AREA_DRAWS, DRAWS, Held, apply_light_tests, apply_tests, by_samples, public, single_scores
from fast_learners import LEARNERS
from scipy.special import stdtrit
from type_one_tables import (
    AGAIN_ABOVE,
    RATES,
    RESULTS,
    cells,
    coverage_rows,
    error_rates,
    is_taken,
    page_rows,
    power_rows,
)

import outfold as of
from outfold.stats import training

N_SETS = 1000
# New data sets that measure again what erred most.
N_AGAIN = 10_000
AT_ONCE = 250
THESE_MODELS = "one test set, these models"
FEATURES = 10
GROUP = 5
ALPHA = 0.05

PLANS = {
    "10 x 10-fold": of.Plan(folds=10, repeats=10),
    "3 x 5-fold": of.Plan(folds=5, repeats=3),
    "5 x 2-fold": of.Plan.five_by_two(),
    "blocked 3 x 2": of.Plan.blocked(3),
    "blocked 7 x 2": of.Plan.blocked(7),
    "10 hold-outs of 1/3": of.Plan.repeated_holdout(10),
    "30 hold-outs of 1/10": of.Plan.repeated_holdout(30, 0.1),
    "leave-one-out": of.Plan.leave_one_out(),
    "one test set": of.Plan.holdout(1 / 3),
}
# Designs that are the first repeats of another one.
FIRST = {
    "10 x 10-fold": {"10-fold": 1, "2 x 10-fold": 2, "3 x 10-fold": 3, "10 x 10-fold": 10},
    "3 x 5-fold": {"5-fold": 1, "3 x 5-fold": 3},
}
# Separations of the classes along two of the features, in standard deviations: of each half, Bayes accuracy 0.5, 0.69, 0.93.
SIGNALS = {"none": 0.0, "weak": 1.0, "strong": 3.0}
FOUR = ("centroid", "5-NN", "tree", "linear")

Setting = dict[str, Any]
Predicted = tuple[np.ndarray, dict[str, tuple[np.ndarray, np.ndarray]]]


def settings() -> Iterator[Setting]:
    for n, (null, signals, learners) in product((50, 100, 400), NULLS):
        if null == "groups" and n == 50:  # too few groups for ten folds
            continue
        for signal, learner in product(signals, learners):
            yield {"null": null, "signal": signal, "n": n, "learner": learner}


NULLS = (
    ("halves", ("none", "weak", "strong"), FOUR),
    ("uneven", ("weak",), FOUR),
    ("seeds", ("weak", "strong"), ("random tree", "random network")),
    ("groups", ("none", "weak"), FOUR),
    ("values", ("weak", "strong"), FOUR[1:]),
    ("gaussians", ("strong",), ("tree against linear",)),
    ("difference", ("weak",), FOUR),
)


# -- data ------------------------------------------------------------------------------------------------------


def labels(setting: Setting) -> np.ndarray:
    n = setting["n"]
    if setting["null"] == "uneven":
        return (np.arange(n) % 5 == 0).astype(int)
    return np.arange(n) // GROUP % 2 if setting["null"] == "groups" else np.arange(n) % 2


def groups(setting: Setting) -> np.ndarray | None:
    return np.arange(setting["n"]) // GROUP if setting["null"] == "groups" else None


def draw(setting: Setting, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of the first and of the second configuration, and y."""
    n, null, y = setting["n"], setting["null"], labels(setting)
    if null == "gaussians":
        X = rng.normal(size=(n, 2))
        X[y == 1] = 1 + np.sqrt(1 / 6) * X[y == 1]
        return X, X, y
    halves = rng.normal(size=(2, n, FEATURES))
    if null == "groups":
        halves = (halves + np.repeat(rng.normal(size=(2, n // GROUP, FEATURES)), GROUP, axis=1)) / np.sqrt(2)
    shift = SIGNALS[setting["signal"]] / np.sqrt(2)
    if null == "values":
        return *halves, shift * (halves[:, :, 0] + halves[:, :, 1]).sum(axis=0) / 2 + rng.normal(size=n)
    halves[:, :, :2] += shift * y[:, None]
    if null == "difference":
        halves[0, :, :2] += 0.6 * shift * y[:, None]
    return (halves[0], halves[0], y) if null == "seeds" else (*halves, y)


@cache
def splits(name: str, n: int, null: str, seed: int) -> np.ndarray:
    """(R, N) folds of one data set; the same for all settings with the same labels."""
    y = labels({"n": n, "null": null})
    if null == "groups":  # all of one size and one class: dealt like samples
        return np.repeat(PLANS[name].split(y[::GROUP], rng=seed).folds.T, GROUP, axis=1)
    return np.ascontiguousarray(PLANS[name].split(y, rng=seed).folds.T)


def plan_names(setting: Setting) -> list[str]:
    """All plans, but for those that take too long: the networks' leave-one-out, and most plans of 400 samples."""
    if setting["null"] == "groups":
        return list(PLANS)[:3]
    if setting["n"] == 400:
        return ["10 x 10-fold", "3 x 5-fold", "5 x 2-fold", "blocked 3 x 2", "10 hold-outs of 1/3", "one test set"]
    return [name for name in PLANS if name != "leave-one-out" or "network" not in setting["learner"]]


def predict(setting: Setting, seed: int, wanted: set[str] | None = None) -> Predicted:
    """y of one data set, and for each plan its folds (R, N) and the predictions (2, R, N) of the two configurations."""
    rng = np.random.default_rng([setting["n"], seed, *map(ord, setting["null"] + setting["signal"])])
    first, second, y = draw(setting, rng)
    names = ("tree", "linear") if setting["null"] == "gaussians" else (setting["learner"],) * 2
    kind = setting["null"] if setting["null"] in ("uneven", "groups") else "halves"
    out = {}
    for plan in plan_names(setting):
        if wanted is not None and plan not in wanted:
            continue
        folds = splits(plan, setting["n"], kind, seed)
        if plan == "10 x 10-fold" and setting["n"] == 400:
            folds = folds[:3]
        out[plan] = (
            folds,
            np.stack([LEARNERS[name](X, y, folds, rng) for name, X in zip(names, (first, second), strict=True)]),
        )
    return y, out


# -- running ---------------------------------------------------------------------------------------------------


def key_of(setting: Setting) -> str:
    return " ".join(map(str, setting.values()))


def stacked(drawn: list[Predicted], plan: str) -> tuple[np.ndarray, np.ndarray]:
    """Folds (B, R, N) and predictions (2, B, R, N) of B data sets."""
    return np.stack([one[1][plan][0] for one in drawn]), np.stack([one[1][plan][1] for one in drawn], axis=1)


def held_out(setting: Setting, drawn: list[Predicted], plan: str) -> Iterator[tuple[str, Held]]:
    """The designs that a plan serves, with what they hold out."""
    y = np.stack([one[0] for one in drawn])
    folds, scores = stacked(drawn, plan)
    for design, repeats in FIRST.get(plan, {plan: folds.shape[1]}).items():
        if repeats <= folds.shape[1]:
            kept = folds[:, :repeats], scores[:, :, :repeats]
            yield design, Held(y, *kept, groups(setting), setting["null"] == "values")


def p_values(
    setting: Setting, drawn: list[Predicted], tests: Callable[..., dict[str, np.ndarray]]
) -> Iterator[tuple[str, np.ndarray]]:
    """P values of every (design | metric | test), one for each data set."""
    for plan in drawn[0][1]:
        for design, held in held_out(setting, drawn, plan):
            for name, values in tests(held, design, shifted=setting["null"] == "gaussians").items():
                yield f"{design} | {name}", values


def simulate(setting: Setting, seeds: range, light: bool) -> dict[str, np.ndarray]:
    """P values of every (design | metric | test), one for each data set; and what intervals of single scores are made of."""
    wanted = set(PLANS) - {"leave-one-out", "one test set"} if light else None
    drawn = [predict(setting, seed, wanted) for seed in seeds]
    found = all_p_values(setting, seeds, drawn, light)
    for plan in drawn[0][1]:
        for design, held in held_out(setting, drawn, plan):
            for name, values in single_scores(held).items():
                found[f"{design} | {name}"] = values
    return found


def all_p_values(setting: Setting, seeds: range, drawn: list[Predicted], light: bool) -> dict[str, np.ndarray]:
    """P values of every (design | metric | test), one for each data set."""
    found = dict(p_values(setting, drawn, apply_light_tests if light else apply_tests))
    if setting["null"] in ("halves", "uneven") and not light:
        for name, values in apply_tests(exchanged(setting, drawn, seeds), "one test set").items():
            found[f"{THESE_MODELS} | {name}"] = values
    return found


def exchanged(setting: Setting, drawn: list[Predicted], seeds: range) -> Held:
    """One test set, on which a coin decides for each sample which of the two answers whose."""
    y = np.stack([one[0] for one in drawn])
    folds, scores = stacked(drawn, "one test set")
    coins = np.random.default_rng([setting["n"], *seeds]).integers(0, 2, (len(seeds), 1, y.shape[1])).astype(bool)
    return Held(y, folds, np.stack([np.where(coins, *scores), np.where(coins, *scores[::-1])]))


def batches(setting: Setting, start: int, stop: int) -> Iterator[range]:
    """Seeds of data sets that are made at once: the Gaussians need the mean over all data sets, the others less memory."""
    at_once = N_SETS if setting["null"] == "gaussians" else AT_ONCE
    return (range(first, first + at_once) for first in range(start, stop, at_once))


def run(folder: Path, sizes: list[int], light: bool = False) -> None:
    for setting in settings():
        path = folder / f"{key_of(setting)}.npz"
        if setting["n"] not in sizes or path.exists():
            continue
        clock = time.perf_counter()
        parts = [simulate(setting, seeds, light) for seeds in batches(setting, 0, N_SETS)]
        found = {
            name: np.concatenate([part[name] for part in parts], axis=-2 if "single" in name else 0)
            for name in parts[0]
        }
        np.savez_compressed(path, **{name: v.astype(np.float32) for name, v in found.items()})
        worst = sorted(((np.mean(v <= ALPHA), k) for k, v in found.items() if k.endswith("| t_training")), reverse=True)
        seconds = time.perf_counter() - clock
        print(f"{key_of(setting)}: {seconds:.0f} s;", *(f"{r:.3f} {k};" for r, k in worst[:3]), flush=True)


def again(folder: Path) -> None:
    """Measure tests that `compare.auto` takes on new data sets, where they erred most by the result file."""
    (folder / "again").mkdir(exist_ok=True)
    for row in json.loads(RESULTS.read_text())["rows"]:
        setting = {name: row[name] for name in ("null", "signal", "n", "learner")}
        path = folder / "again" / f"{key_of(setting)}.npz"
        worst = [
            f"{design} | {metric} | {test}"
            for design, metric, test, rate, _ in cells([row])
            if rate > AGAIN_ABOVE and is_taken(design, metric, test, row)
        ]
        if worst and not path.exists():
            np.savez_compressed(path, **rejected_again(setting, worst))
            print(path.stem, *worst, sep="; ", flush=True)


def rejected_again(setting: Setting, names: list[str]) -> dict[str, np.ndarray]:
    """Of every (design | metric | test) its p values on new data sets."""
    designs = {name.split(" | ")[0].removesuffix(", these models") for name in names}
    wanted = {plan for plan in PLANS if designs & set(FIRST.get(plan, {plan: 0}))}
    parts = []
    for seeds in batches(setting, N_SETS, N_SETS + N_AGAIN):
        drawn = [predict(setting, seed, wanted) for seed in seeds]
        parts.append(dict(p_values(setting, drawn, apply_light_tests)))
        for name in (name for name in names if name.startswith(THESE_MODELS)):
            _, metric, test = name.split(" | ")
            held = exchanged(setting, drawn, seeds)
            first, second = held.values[metric]
            tests = by_samples(held, metric, first - second, "one test set")
            parts[-1][name] = next(values for own, values in tests if own == test)
    return {name: np.concatenate([part[name] for part in parts]).astype(np.float32) for name in names}


# -- the public functions --------------------------------------------------------------------------------------


def check(n_sets: int = 3) -> None:
    """Compare the p values of all tests with those of the public functions, on a few data sets of some settings."""
    kinds = (("halves", "centroid"), ("uneven", "5-NN"), ("groups", "tree"), ("values", "linear"))
    for null, learner in kinds:
        setting = {"null": null, "signal": "weak", "n": 100, "learner": learner}
        drawn = [predict(setting, seed) for seed in range(n_sets)]
        compared, largest = 0, 0.0
        for plan in drawn[0][1]:
            for design, held in held_out(setting, drawn, plan):
                for name, found in apply_tests(held, design).items():
                    metric, test = name.split(" | ")
                    if found.ndim > 1 or (test == "t_training" and design == "leave-one-out"):
                        continue
                    draws = {"n_resamples": AREA_DRAWS if metric == "roc_auc" else DRAWS}
                    options = draws if test in ("permutation", "bootstrap") else {}
                    own = [public(held, PLANS[plan], i, test, metric, **options) for i in range(n_sets)]
                    assert np.allclose(own, found, atol=1e-9, equal_nan=True), (null, design, name, own, found)
                    compared, largest = compared + n_sets, max(largest, np.nanmax(np.abs(own - found)))
        print(f"{null}, {learner}: {compared} p values, largest deviation {largest:.1e}", flush=True)


# -- tables ----------------------------------------------------------------------------------------------------


def row_of(path: Path) -> Setting:
    """The share of rejections of one setting, by design, metric and test; under "again" the first ones where `rejected` has those
    of `again`."""
    held = np.load(path)
    row: Setting = next(setting for setting in settings() if key_of(setting) == path.stem)
    row |= {"sets": 0, "rejected": {}, "covered": {}}
    for name in held.files:
        design, metric, test = name.split(" | ")
        if test == "single" and row["null"] in ("halves", "uneven", "values"):
            row["covered"].setdefault(design, {})[metric] = covered(row, design, metric, held[name])
        if test not in ("parts", "single"):
            row["sets"] = len(held[name])
            by_metric = row["rejected"].setdefault(design, {}).setdefault(metric, {})
            by_metric[test] = round(float(np.mean(held[name] <= ALPHA)), 4)
    return row


def with_again(row: Setting, later: Path) -> Setting:
    """The row with the rates that `again` measured, if it did."""
    if later.exists():
        row = first_rates(row)
        row["again"] = {}
        for name, values in np.load(later).items():
            design, metric, test = name.split(" | ")
            first = row["again"].setdefault(design, {}).setdefault(metric, {})
            first[test] = row["rejected"][design][metric][test]
            row["rejected"][design][metric][test] = round(float(np.mean(values <= ALPHA)), 4)
    return row


def first_rates(row: Setting) -> Setting:
    """The row as it was before `again`."""
    for design, by_metric in row.pop("again", {}).items():
        for metric, by_test in by_metric.items():
            row["rejected"][design][metric] |= by_test if isinstance(by_test, dict) else {"t_training": by_test}
    return row


def merged(before: Setting, row: Setting) -> Setting:
    """The row, with the rates of tests that only an earlier run has; what `again` measured counts no more."""
    before = before and first_rates(before)
    for design, by_metric in before.get("rejected", {}).items():
        for metric, by_test in by_metric.items():
            now = row["rejected"].setdefault(design, {}).setdefault(metric, {})
            row["rejected"][design][metric] = by_test | now
    return row


def covered(row: Setting, design: str, metric: str, single: np.ndarray) -> list[float]:
    """How often 95 percent intervals of single scores hold their mean over all data sets, and their mean widths: `training`
    of the score of all samples, then `corrected_t` of the mean over folds."""
    scores, *parts, by_fold, corrected = single.reshape(-1, single.shape[-1]).T.astype(float)
    n, n_folds = row["n"], int(design.removesuffix("-fold").split()[-1])
    bounds = of.metrics.get(metric).bounds
    allowance = training.ZERO_ONE if metric == "accuracy" else training.OTHER_LOSS
    allowance = allowance if np.isfinite(bounds).all() else training.UNBOUNDED
    spread = training.variance_of_mean(training.Parts(*parts), training.Design.of_splits(n, 1 / n_folds), allowance)
    y = labels(row)
    ones, zeros = np.sum(y == 1), np.sum(y == 0)
    area = metric == "roc_auc"
    sizes = (n, 4 * ones * zeros / n) if area else (n, n)
    df = min(ones, zeros) - 1 if area else n - 1
    ends = [training.score_interval(m, v, sizes, df, bounds, 0.95) for m, v in zip(scores, spread, strict=True)]
    n_splits = n_folds * (int(design.removeprefix("blocked ").split()[0]) if " x " in design else 1)
    reach = stdtrit(n_splits - 1, 0.975) * np.sqrt(corrected)
    found = []
    for low, high, truth in ((*np.transpose(ends), scores.mean()), (by_fold - reach, by_fold + reach, by_fold.mean())):
        found += [float(np.mean((low <= truth) & (truth <= high))), float(np.mean(high - low))]
    return [round(value, 4) for value in found]


def table(folder: Path) -> None:
    kept = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    found = {key_of({name: row[name] for name in ("null", "signal", "n", "learner")}): row for row in kept}
    for name in map(key_of, settings()):
        if (folder / f"{name}.npz").exists():
            found[name] = merged(found.get(name, {}), row_of(folder / f"{name}.npz"))
        if name in found:
            with_again(found[name], folder / "again" / f"{name}.npz")
    rows = [found[name] for name in map(key_of, settings()) if name in found]
    lines = ",\n".join(json.dumps(row) for row in rows)
    RESULTS.write_text(f'{{"alpha": {ALPHA}, "rows": [\n{lines}\n]}}\n')
    print(*page_rows(rows), "", *power_rows(rows), "", *coverage_rows(rows), sep="\n")
    RATES.write_text(error_rates(rows))


def main(what: str, *more: str) -> None:
    if what == "check":
        return check()
    folder = Path(more[0])
    folder.mkdir(parents=True, exist_ok=True)
    if what in ("run", "light"):
        return run(folder, [int(n) for n in more[1:]] or [50, 100, 400], what == "light")
    return {"again": again, "table": table}[what](folder)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
