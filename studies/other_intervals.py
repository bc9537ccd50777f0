"""How often the intervals of nested cross-validation, hold-outs and the bootstrap hold the truth, with models that are fitted.

Two normal classes in ten dimensions, of which four tell the classes apart, or a number that the same four tell with normal
noise. Nine configurations of k-NN and of naive Bayes and logistic regression, or of k-NN and ridge regression. The truth is the
score, on new samples, of the configuration that was selected, or named beforehand, fitted on all samples of the data set; for
plans that train one model, also that of this model. Every data set is kept in a folder, so that a stopped study goes on.
``collect`` fits, ``evaluate`` estimates from the predictions that were kept, ``table`` makes the result file.

Usage: python studies/other_intervals.py collect FOLDER [DATA_SETS]
       python studies/other_intervals.py evaluate FOLDER
       python studies/other_intervals.py table FOLDER
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import outfold as of

SIZES, DATA_SETS, NEW, DRAWS, LEVEL = (40, 100), 200, 2500, 500, 0.95
METRICS = {"classes": ("accuracy", "roc_auc"), "values": ("r2", "mse")}
NAMED = {"classes": "logit(C=1)", "values": "ridge(alpha=10)"}
SHIFT = np.array([0.6, 0.5, 0.4, 0.3, 0, 0, 0, 0, 0, 0])
RESULTS = Path(__file__).parent / "results" / "other_intervals.json"
PLANS: dict[str, tuple[of.Plan, dict[str, Any]]] = {
    "new": (of.Plan(folds=10), {"fresh": True}),
    "nested": (of.Plan(folds=5), {"inner": True}),
    "holdout": (of.Plan.holdout(0.4), {}),
    "three_way": (of.Plan.three_way(), {"fresh": True}),
    "repeated_holdout": (of.Plan.repeated_holdout(10, 0.2), {}),
    "loo": (of.Plan.leave_one_out(), {}),
    "bootstrap": (of.Plan.bootstrap(25), {"resub": True}),
}
ONE_MODEL = ("holdout", "three_way")
# Estimates of the selected configuration from the predictions of each plan; and those of one that was named beforehand.
SELECTED = {
    "new": ("bbc", "tt", "cvm_cv"),
    "nested": ("nested",),
    "bootstrap": ("oob", "point632", "point632plus"),
    **{plan: (plan,) for plan in ("holdout", "three_way", "repeated_holdout", "loo")},
}
NAMED_TOO: dict[str, tuple[str, ...]] = {
    "new": ("cv",),
    "holdout": ("holdout",),
    "repeated_holdout": ("repeated_holdout",),
    "loo": ("loo",),
}
NAMED_TOO["bootstrap"] = ("oob", "point632", "point632plus")


# -- fitting ---------------------------------------------------------------------------------------------------


def configs(task: str) -> of.fitting.Configs:
    if task == "values":
        near = of.grid("knn", KNeighborsRegressor(), n_neighbors=[1, 3, 5, 9, 15])
        return near | of.grid("ridge", Ridge(), alpha=[1, 10, 100, 1000])
    near = of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 3, 5, 9, 15, 21])
    return near | of.grid("logit", LogisticRegression(max_iter=500), C=[0.03, 1]) | of.grid("bayes", GaussianNB())


def sample(task: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, len(SHIFT)))
    if task == "values":
        return X, X @ SHIFT + rng.normal(size=n)
    y = np.arange(n) % 2
    return X + np.outer(y, SHIFT), y


def scores_on(model: Any, task: str, new: np.ndarray, labels: np.ndarray) -> list[float]:
    """The score of a fitted model on new samples, by each metric of the task."""
    from sklearn.metrics import r2_score, roc_auc_score

    predicted = model.predict(new)
    if task == "values":
        return [float(r2_score(labels, predicted)), float(np.mean((labels - predicted) ** 2))]
    return [float(np.mean(predicted == labels)), float(roc_auc_score(labels, model.predict_proba(new)[:, 1]))]


def collect_one(place: Path, task: str, n: int, seed: int) -> None:
    """Fit one data set by every plan; keep the predictions, and the true scores of all models of interest."""
    from sklearn.base import clone

    rng = np.random.default_rng([n, seed, len(task)])
    X, y = sample(task, rng, n)
    new, labels = sample(task, rng, NEW)
    every = configs(task)
    truth = {"all": {name: scores_on(clone(model).fit(X, y), task, new, labels) for name, model in every.items()}}
    for plan, (how, more) in PLANS.items():
        if plan == "loo" and (n > min(SIZES) or seed % 2):  # as many fits as samples
            continue
        # Only the winner by one metric is fitted again on two of three parts, or on a new partition.
        for metric in METRICS[task] if plan in ("three_way", "new") else METRICS[task][:1]:
            oof = of.collect(every, X, y, how, rng=seed, metric=metric, n_jobs=1, progress=False, **more)
            oof.save(place / f"{plan} {metric}.oof")
        if plan == "holdout":
            rows = oof.splits.train_rows(0, 0)
        elif plan == "three_way":
            rows = np.flatnonzero(oof.blocks["fresh"].folds[:, 0] < 0)
        else:
            continue
        truth[plan] = {
            name: scores_on(clone(model).fit(X[rows], y[rows]), task, new, labels) for name, model in every.items()
        }
    (place / "truth.json").write_text(json.dumps(truth))


def places(folder: Path) -> Iterator[tuple[Path, str, int, int]]:
    for seed in range(DATA_SETS):
        for task in METRICS:
            for n in SIZES:
                yield folder / f"{task} {n} {seed}", task, n, seed


def collect(folder: Path, data_sets: int = DATA_SETS) -> None:
    for place, task, n, seed in places(folder):
        if seed < data_sets and not (place / "truth.json").exists():
            place.mkdir(parents=True, exist_ok=True)
            collect_one(place, task, n, seed)


# -- estimating ------------------------------------------------------------------------------------------------


def estimates_of(plan: str, oof: of.Predictions, metric: str, named: str) -> Iterator[tuple[str, str, Any, Any]]:
    """Method, whose score, the estimate, and its interval, by every method that answers from these predictions."""
    for who, methods, config in (("selected", SELECTED, {}), ("named", NAMED_TOO, {"config": named})):
        other: Any = None
        for method in methods.get(plan, ()):
            if method == "point632plus" and metric == "r2":  # its value without information is not known
                continue
            drawn = {} if method in ("tt", "cvm_cv") else {"n_resamples": DRAWS}
            found = getattr(of.estimate, method)(oof, metric, **config, **drawn)
            yield method, who, found, found.interval
            if method in ("bbc", "oob"):
                other = found.intervals
            if method == "bbc":
                yield "bbc_f", who, found, found.confidence_interval(method="bbc_f")
            if found.interval is None and who == "selected":  # what if it had one
                yield f"{method}, borrowed", who, found, other.of_one_choice(found.value).interval("mover", LEVEL)


def evaluate_one(place: Path, task: str, n: int, seed: int) -> list[dict[str, Any]]:
    truth, rows = json.loads((place / "truth.json").read_text()), []
    for i, metric in enumerate(METRICS[task]):
        for plan, (_, more) in PLANS.items():
            path = place / f"{plan} {metric if 'fresh' in more else METRICS[task][0]}.oof"
            if not path.exists():
                continue
            for method, who, found, ends in estimates_of(plan, of.load(path), metric, NAMED[task]):
                row = {"n": n, "seed": seed, "method": method, "who": who, "metric": metric, "value": found.value}
                row |= {"truth": truth["all"][found.selected][i], "ends": None if ends is None else list(ends)}
                if plan in ONE_MODEL:
                    row["of_model"] = truth[plan][found.selected][i]
                rows.append(row)
    return rows


def evaluate(folder: Path) -> None:
    for place, task, n, seed in places(folder):
        path = place / "estimates.json"
        if (place / "truth.json").exists() and not path.exists():
            path.write_text(json.dumps(evaluate_one(place, task, n, seed)))


# -- the table -------------------------------------------------------------------------------------------------


def covered(rows: list[dict[str, Any]], truth: str) -> float:
    return float(np.mean([row["ends"][0] <= row[truth] <= row["ends"][1] for row in rows]))


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    there = [row for row in rows if row["ends"] is not None]
    found = {"data_sets": len(rows), "bias": round(float(np.mean([r["value"] - r["truth"] for r in rows])), 4)}
    if there:
        widths = [row["ends"][1] - row["ends"][0] for row in there]
        found |= {"coverage": round(covered(there, "truth"), 4), "width": round(float(np.median(widths)), 4)}
        if "of_model" in there[0]:
            found["of_model"] = round(covered(there, "of_model"), 4)
    return found


def page_rows(settings: dict[str, Any]) -> list[str]:
    """The table of the documentation: one row for each method and whose score it is, one cell for each metric and size."""
    cells = [(metric, n) for metrics in METRICS.values() for metric in metrics for n in SIZES]
    lines = []
    for method, who in dict.fromkeys(tuple(key.split("; ")[:2]) for key in settings):
        found = [settings.get(f"{method}; {who}; {metric}; {n}") for metric, n in cells]
        name, _, rest = method.partition(",")
        words = [f"`{name}`{',' if rest else ''}{rest}", who]
        lines.append(f"| {' | '.join([*words, *('' if cell is None else cell_of(cell) for cell in found)])} |")
    return lines


def cell_of(found: dict[str, Any]) -> str:
    if "coverage" not in found:
        return f"{found['bias']:+.2f}"
    of_model = f" ({found['of_model']:.2f})" if "of_model" in found else ""
    return f"{found['coverage']:.2f}{of_model}, {found['bias']:+.2f}, {found['width']:.2f}"


def span(settings: dict[str, Any], methods: str, who: str, metrics: str, what: str = "coverage") -> str:
    """The lowest and the highest of some settings."""
    keys = (f"{m}; {who}; {metric}; {n}" for m in methods.split("/") for metric in metrics.split() for n in SIZES)
    found = [settings[key][what] for key in keys if key in settings]
    return f"{min(found):{'+' if what == 'bias' else ''}.2f} to {max(found):{'+' if what == 'bias' else ''}.2f}"


def words(settings: dict[str, Any]) -> list[str]:
    """What the table says, for the page on calibration."""
    others, every = "accuracy roc_auc mse", "accuracy roc_auc r2 mse"
    rest = "nested/holdout/repeated_holdout/three_way/loo/oob"

    def of_them(methods: str, who: str = "selected", metrics: str = others, what: str = "coverage") -> str:
        return span(settings, methods, who, metrics, what)

    return [
        f"Accuracy, AUC and MSE of the selected configuration: `nested` covers {of_them('nested')}, `holdout` "
        f"{of_them('holdout')}, `repeated_holdout` {of_them('repeated_holdout')}, `three_way` {of_them('three_way')}, `loo` "
        f"{of_them('loo')}, `oob` {of_them('oob')}.",
        f"R² of the selected configuration is covered too rarely: `bbc` {of_them('bbc', metrics='r2')}, the others "
        f"{of_them(rest, metrics='r2')}, `bbc_f` {of_them('bbc_f', metrics='r2')}.",
        f"A configuration named beforehand: `cv` covers {of_them('cv', 'named', every)}, `holdout` "
        f"{of_them('holdout', 'named', every)} (its model {of_them('holdout', 'named', every, 'of_model')}), `repeated_holdout` "
        f"{of_them('repeated_holdout', 'named', every)}, `loo` {of_them('loo', 'named', every)}, `oob` "
        f"{of_them('oob', 'named', every)}.",
        f"A borrowed interval would cover {of_them('tt, borrowed', metrics=every)} for `tt`, "
        f"{of_them('cvm_cv, borrowed', metrics=every)} for `cvm_cv`, {of_them('point632, borrowed', metrics=every)} for "
        f"`point632` and {of_them('point632plus, borrowed', metrics=every)} for `point632plus`.",
        f"The bias of `tt` is {of_them('tt', metrics='accuracy roc_auc', what='bias')} by accuracy and AUC, that of `cvm_cv` "
        f"{of_them('cvm_cv', metrics='accuracy roc_auc', what='bias')}, that of `point632` "
        f"{of_them('point632', metrics='accuracy roc_auc', what='bias')}.",
    ]


def table(folder: Path) -> None:
    rows = [row for path in sorted(folder.glob("*/estimates.json")) for row in json.loads(path.read_text())]
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        kinds.setdefault(f"{row['method']}; {row['who']}; {row['metric']}; {row['n']}", []).append(row)
    order = [m for methods in SELECTED.values() for m in methods] + ["cv"]
    order.sort(key=["bbc", "nested", "holdout", "repeated_holdout", "loo", "three_way", "oob"].count, reverse=True)
    keys = sorted(kinds, key=lambda key: (key.split("; ")[1] == "named", order.index(name_of(key)), key.split("; ")[0]))
    RESULTS.write_text(json.dumps({"draws": DRAWS, "settings": {k: summary(kinds[k]) for k in keys}}, indent=1) + "\n")
    settings = json.loads(RESULTS.read_text())["settings"]
    print(*page_rows(settings), *words(settings), sep="\n")


def name_of(key: str) -> str:
    return {"bbc_f": "bbc"}.get(name := key.split("; ")[0].split(",")[0], name)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    task, place = sys.argv[1], Path(sys.argv[2])
    if task == "collect":
        collect(place, *map(int, sys.argv[3:]))
    elif task == "evaluate":
        evaluate(place)
    else:
        table(place)
