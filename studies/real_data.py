"""Pools of real data whose truth is known: what configurations predict out of fold, and how good they are on all other samples.

A pool is a random sample of a large data set. Its configurations are fitted in 10 folds, and once on the whole pool. The truth
of a configuration is the score of the latter on samples outside the pool, up to 4,000 of them; the mean score of its ten models
of the folds there is kept too. Every data set and size is kept in a folder, so that a stopped study goes on, and other studies
can read the pools without fitting. ``nested`` fits what nested cross-validation needs, of some more pools and 12 configurations.
``evaluate`` estimates the score of the selected configuration on all of them, by every method that has an interval, and by TT.

Usage: python studies/real_data.py collect POOLS [DATA]     fits; DATA is the folder of the data sets, ../shared/data by default
       python studies/real_data.py nested POOLS [DATA]
       python studies/real_data.py evaluate POOLS           estimates, after `collect`, what is not yet in POOLS/estimated
       python studies/real_data.py table POOLS              writes studies/results/real_data.json
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import outfold as of
from outfold.data.target import Target
from outfold.stats.training import TRAINING

Floats = NDArray[np.float64]

RESULTS = Path(__file__).parent / "results" / "real_data.json"
LEVELS = (0.8, 0.95, 0.99)
DRAWS = 500
FOLDS = 10
POOLS = {60: 40}  # of each data set; 20 of other sizes
REST, FOLD_REST = 4000, 1000  # samples outside a pool that score the model of the pool, and those of the folds
# Rare positives are enriched to this share, so that a pool of 40 has some.
ENRICHED = {"bank": 0.25, "sylva": 0.2}
CLASSES = (
    "magic_gamma", "bank", "jasmine", "sylvine", "madeline", "ada", "kr_vs_kp", "ringnorm_delve", "twonorm_delve", "letter",
    "sylva",
)  # fmt: skip
# The column that is predicted from the others.
COLUMNS = {
    "magic_gamma": "x0", "bank": "x0", "jasmine": "x42", "sylvine": "x9", "ada": "x19", "twonorm_delve": "x0",
    "letter": "x3", "sylva": "x59", "ozone_8h": "x0", "yeast": "x1", "seismic_bumps": "x4",
}  # fmt: skip
SIZES = {"proba": (60, 150, 40, 80, 160), "margin": (60, 150), "value": (40, 80, 160, 60, 150)}
COVERAGE_SIZES = (40, 80, 160)
COVERED = (("proba", "accuracy"), ("proba", "roc_auc"), ("value", "r2"))
# Instead of the 1.3 times that the sampling variance counts for training sets.
TIMES = (1.0, 1.6, 2.0)
NESTED_SIZE, NESTED_POOLS = 80, 5
METRICS = {
    "proba": ("accuracy", "roc_auc", "average_precision"),
    "margin": ("roc_auc", "average_precision"),
    "value": ("r2", "concordance"),
}


# -- data ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """Inputs and target; for regression also who would be censored, and when, if the target were a time."""

    X: Floats
    y: NDArray[Any]
    censored: Floats

    def target(self, metric: str, rows: NDArray[np.intp]) -> Target:
        """What a metric compares predictions with."""
        y = self.y[rows]
        if self.y.dtype.kind in "iu":
            return Target("binary", y.astype(np.intp), np.array([0, 1]))
        if metric != "concordance":
            return Target("regression", y)
        # The target as a time that censoring, independent of everything, may cut.
        return Target("survival", np.minimum(y, self.censored[rows]), event=y <= self.censored[rows])


def load(kind: str, name: str, folder: Path) -> Data:
    import pandas as pd

    frame, rng = pd.read_parquet(folder / f"{name}.parquet"), np.random.default_rng(0)
    if kind == "value":
        frame = frame.drop(columns="target")
        y = frame.pop(COLUMNS[name]).to_numpy(dtype=float)
    else:
        label = frame.pop("target")
        y = (label > "M").to_numpy() if name == "letter" else label.to_numpy() == label.value_counts().index[-1]
        y = y.astype(int)
    numbers = frame.select_dtypes("number").astype(float)
    words = frame.drop(columns=numbers.columns)
    parts = [numbers.fillna(numbers.median())] + ([pd.get_dummies(words, drop_first=True)] if words.shape[1] else [])
    X, known = pd.concat(parts, axis=1).to_numpy(dtype=float), np.isfinite(y)
    X, y = X[known], y[known]
    if kind != "value" and name in ENRICHED:
        own, other = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        kept = rng.choice(other, round(len(own) / ENRICHED[name]) - len(own), replace=False)
        rows = np.sort(np.concatenate([own, kept]))
        X, y = X[rows], y[rows]
    censored = np.where(rng.random(len(y)) < 0.5, rng.permutation(y), np.inf)
    return Data(X, y, censored)


# -- configurations: each family gives the predictions of its members for the test samples ------------------------
# In NumPy where that is short: of a million small fits by a general program, most of the time goes into checks.

Family = Callable[[Floats, NDArray[Any], Floats], Iterator[Floats]]


def logistic(X: Floats, y: NDArray[Any], Z: Floats) -> Iterator[Floats]:
    """Ridge logistic regression by Newton's method, the weights in the space of the samples; every C starts from the last."""
    u, s, vt = np.linalg.svd(X, full_matrices=False)
    inner, outer = np.c_[np.ones(len(X)), u * s], np.c_[np.ones(len(Z)), Z @ vt.T]
    weights, ridge = np.zeros(inner.shape[1]), np.ones(inner.shape[1])
    ridge[0] = 1e-6
    for C in (0.001, 0.01, 0.03, 0.1, 1.0, 10.0, 100.0):
        for _ in range(25):
            p = _logistic(inner @ weights)
            slope = inner.T @ (p - y) + ridge * weights / C
            curve = (inner.T * (p * (1 - p))) @ inner + np.diag(ridge / C)
            step = np.linalg.solve(curve, slope)
            weights = weights - step * min(1.0, 5.0 / max(np.abs(inner @ step).max(), 1e-12))
            if np.abs(step).max() < 1e-6:
                break
        yield _logistic(outer @ weights)


def _logistic(x: Floats) -> Floats:
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x))


def neighbours(X: Floats, y: NDArray[Any], Z: Floats) -> Iterator[Floats]:
    """The mean label of the k nearest, by one search for all k."""
    distance = (X**2).sum(axis=1) - 2 * Z @ X.T
    near = y[np.argsort(distance, axis=1, kind="stable")[:, :21]]
    for k in (1, 3, 5, 7, 11, 15, 21):
        yield near[:, :k].mean(axis=1)


def trees(X: Floats, y: NDArray[Any], Z: Floats) -> Iterator[Floats]:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    for depth, leaf in ((1, 1), (2, 1), (3, 1), (3, 5), (None, 1), (None, 8)):
        settings = {"max_depth": depth, "min_samples_leaf": leaf, "random_state": 0}
        if y.dtype.kind == "f":
            yield DecisionTreeRegressor(**settings).fit(X, y).predict(Z)
        else:
            yield DecisionTreeClassifier(**settings).fit(X, y).predict_proba(Z)[:, 1]


def bayes(X: Floats, y: NDArray[Any], Z: Floats) -> Iterator[Floats]:
    """Gaussian naive Bayes, variances raised by a share of the largest."""
    classes = [X[y == label] for label in (0, 1)]
    least = X.var(axis=0).max()
    for smoothing in (1e-9, 1e-2, 0.1, 1.0):
        odds = np.log(len(classes[1]) / len(classes[0]))
        for sign, own in zip((-1, 1), classes, strict=True):
            mean, spread = own.mean(axis=0), own.var(axis=0) + smoothing * least
            quadratic = (Z**2) @ (1 / spread) - 2 * Z @ (mean / spread) + np.sum(mean**2 / spread)
            odds = odds - sign * 0.5 * (quadratic + np.log(spread).sum())
        yield _logistic(odds)


def discriminant(X: Floats, y: NDArray[Any], Z: Floats) -> Iterator[Floats]:
    """Linear discriminants, the covariance shrunk towards a sphere; all shrinkages from one decomposition."""
    means = np.array([X[y == label].mean(axis=0) for label in (0, 1)])
    _, s, vt = np.linalg.svd(X - means[y], full_matrices=False)
    variances, between = s**2 / len(X), means[1] - means[0]
    inside, prior = vt @ between, np.log(y.mean() / (1 - y.mean()))
    for shrinkage in (0.05, 0.2, 0.5, 0.9):
        sphere = shrinkage * variances.sum() / X.shape[1]
        direction = (between - vt.T @ inside) / sphere + vt.T @ (inside / ((1 - shrinkage) * variances + sphere))
        yield _logistic(prior + (Z - means.mean(axis=0)) @ direction)


def kernels(X: Floats, Z: Floats, gammas: tuple[float, ...]) -> Iterator[Floats]:
    """(n, n_train) radial kernels of the rows of Z with those of X."""
    squares = (Z**2).sum(axis=1)[:, None] + (X**2).sum(axis=1) - 2 * Z @ X.T
    for gamma in gammas:
        yield np.exp(-gamma / X.shape[1] * np.maximum(squares, 0.0))


def vectors(X: Floats, y: NDArray[Any], Z: Floats) -> Iterator[Floats]:
    from sklearn.svm import SVC

    both = np.concatenate([X, Z])
    linear = both @ X.T
    radial = [(own, C) for own in kernels(X, both, (0.3, 1.0)) for C in (0.3, 1.0, 10.0)]
    squared = [((1 + linear / X.shape[1]) ** 2, C) for C in (0.1, 1.0)]
    for kernel, C in [*((linear, C) for C in (0.001, 0.01, 0.1, 1.0)), *radial, *squared]:
        model = SVC(kernel="precomputed", C=C).fit(kernel[: len(X)], y)
        yield kernel[len(X) :, model.support_] @ model.dual_coef_[0] + model.intercept_


def ridge(X: Floats, y: NDArray[Any], Z: Floats) -> Iterator[Floats]:
    """All penalties from one decomposition."""
    mean, centre = y.mean(), X.mean(axis=0)
    u, s, vt = np.linalg.svd(X - centre, full_matrices=False)
    along, spread = u.T @ (y - mean), (Z - centre) @ vt.T
    for penalty in (0.1, 1.0, 10.0, 30.0, 100.0, 300.0, 1000.0):
        yield mean + spread @ (s / (s**2 + penalty) * along)


def regression_vectors(X: Floats, y: NDArray[Any], Z: Floats) -> Iterator[Floats]:
    from sklearn.svm import SVR

    centre, scale = y.mean(), y.std() or 1.0
    both = np.concatenate([X, Z])
    for kernel, costs in zip(kernels(X, both, (0.3, 1.0)), ((1.0, 10.0), (0.3, 1.0, 10.0)), strict=True):
        for C in costs:
            model = SVR(kernel="precomputed", C=C).fit(kernel[: len(X)], (y - centre) / scale)
            yield centre + scale * (kernel[len(X) :, model.support_] @ model.dual_coef_[0] + model.intercept_)


FAMILIES: dict[str, tuple[Family, ...]] = {
    "proba": (logistic, neighbours, trees, bayes, discriminant),
    "margin": (vectors,),
    "value": (ridge, neighbours, trees, regression_vectors),
}


def predictions(kind: str, X: Floats, y: NDArray[Any], Z: Floats) -> Floats:
    """(C, n) what the configurations, fitted on standardised X, predict for Z."""
    from sklearn import config_context

    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1.0
    X, Z = (X - mean) / scale, (Z - mean) / scale
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return np.array([own for family in FAMILIES[kind] for own in family(X, y, Z)])


# -- pools -----------------------------------------------------------------------------------------------------


def draw(data: Data, n: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows of a pool, and of those that tell the truth about it. A pool has 10 percent of either class at least."""
    while True:
        order = rng.permutation(len(data.y))
        pool, rest = order[:n], order[n : n + REST]
        if data.y.dtype.kind == "f" or np.bincount(data.y[pool], minlength=2).min() >= n / 10:
            return pool, rest


def deal(y: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int8]:
    """The fold of every sample: dealt like cards, class after class."""
    mixed = rng.permutation(len(y))
    order = mixed if y.dtype.kind == "f" else mixed[np.argsort(y[mixed], kind="stable")]
    folds = np.empty(len(y), dtype=np.int8)
    folds[order] = np.arange(len(y)) % FOLDS
    return folds


def truth(kind: str, data: Data, rows: NDArray[np.intp], predicted: Floats) -> list[Floats]:
    """(C,) the score of every configuration by each metric of the kind."""
    found = []
    for name in METRICS[kind]:
        target, own = data.target(name, rows), -predicted if name == "concordance" else predicted
        if name == "accuracy":
            found.append(np.mean((own > 0.5) == target.y, axis=1))
            continue
        kernel = of.metrics.get(name, target.task).kernel(target, np.ascontiguousarray(own))
        found.append(kernel.scores(np.ones((1, len(rows)), dtype=np.uint8))[0])
    return found


def pool_of(kind: str, data: Data, n: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    pool, rest = draw(data, n, rng)
    X, y = data.X[pool], data.y[pool]
    folds = deal(y, rng)
    beside = rest[:FOLD_REST]
    out, by_fold = None, []
    for k in range(FOLDS):
        test = folds == k
        made = predictions(kind, X[~test], y[~test], np.concatenate([X[test], data.X[beside]]))
        out = np.empty((len(made), n)) if out is None else out
        out[:, test] = made[:, : test.sum()]
        by_fold.append(truth(kind, data, beside, made[:, test.sum() :]))
    own = truth(kind, data, rest, predictions(kind, X, y, data.X[rest]))
    return {
        "y": y, "censored": data.censored[pool], "folds": folds, "P": out, "truth": np.array(own),
        "fold_truth": np.moveaxis(np.array(by_fold), 0, -1),
    }  # fmt: skip


def settings() -> Iterator[tuple[str, str, int]]:
    """Kind, data set and size of every file, those that most questions need first."""
    for i in range(max(map(len, SIZES.values()))):
        for kind, sizes in SIZES.items():
            for name in (COLUMNS if kind == "value" else CLASSES) if i < len(sizes) else ():
                yield kind, name, sizes[i]


def collect(pools: Path, folder: Path) -> None:
    """Fit what is not yet kept in `pools`. Its files hold (pools, ...) arrays; those of truth have a row for each metric."""
    pools.mkdir(parents=True, exist_ok=True)
    for i, (kind, name, n) in enumerate(settings()):
        path = pools / f"{kind} {name} {n}.npz"
        if path.exists():
            continue
        data = load(kind, name, folder)
        seeds = np.random.SeedSequence([len(kind), *map(ord, name), n]).spawn(POOLS.get(n, 20))
        made = [pool_of(kind, data, n, np.random.default_rng(seed)) for seed in seeds]
        np.savez_compressed(path, **{key: np.stack([own[key] for own in made]) for key in made[0]})
        best = np.nanmean(np.max([own["truth"] for own in made], axis=2), axis=0)
        print(i, path.stem, dict(zip(METRICS[kind], np.round(best, 3), strict=True)), flush=True)


# -- nested cross-validation -----------------------------------------------------------------------------------


def searched(kind: str) -> dict[str, Any]:
    """Twelve configurations, as scikit-learn has them."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    def scaled(model: Any) -> Any:
        return make_pipeline(StandardScaler(), model)

    classes = kind == "proba"
    neighbours, tree = (
        (KNeighborsClassifier, DecisionTreeClassifier) if classes else (KNeighborsRegressor, DecisionTreeRegressor)
    )
    linear = (
        of.grid("logit", scaled(LogisticRegression(max_iter=1000)), C=[0.001, 0.01, 0.1, 1.0])
        if classes
        else of.grid("ridge", scaled(Ridge()), alpha=[1.0, 10.0, 100.0, 1000.0])
    )
    near = of.grid("knn", scaled(neighbours()), n_neighbors=[1, 3, 7, 15])
    return linear | near | of.grid("tree", tree(random_state=0), max_depth=[1, 2, 3, None])


def nested(pools: Path, folder: Path) -> None:
    """Fit what nested cross-validation needs; keep the predictions, and the truth of every configuration."""
    place = pools / "nested"
    place.mkdir(parents=True, exist_ok=True)
    for i, (kind, names) in product(range(NESTED_POOLS), (("proba", CLASSES), ("value", tuple(COLUMNS)))):
        for name in names:
            path = place / f"{kind} {name} {i}.npz"
            if path.exists():
                continue
            data, rng = load(kind, name, folder), np.random.default_rng([i, len(kind), *map(ord, name)])
            pool, rest = draw(data, NESTED_SIZE, rng)
            configs, X, y = searched(kind), data.X[pool], data.y[pool]
            response = "value" if kind == "value" else "proba"
            task = "regression" if kind == "value" else "classification"
            oof = of.collect(
                configs, X, y, of.Plan(folds=FOLDS), response=response, task=task, inner=True, progress=False
            )
            oof.save(path.with_suffix(".oof"))
            models = [model.fit(X, y) for model in configs.values()]
            made = [m.predict(data.X[rest]) if kind == "value" else m.predict_proba(data.X[rest])[:, 1] for m in models]
            np.savez_compressed(path, truth=np.array(truth(kind, data, rest, np.array(made))))
            print(path.stem, flush=True)


def of_nested(kind: str, metric: str, path: Path) -> dict[str, list[float]]:
    """Truth, value and ends by nested cross-validation, and by BBC of the same predictions."""
    oof, true = of.load(path.with_suffix(".oof")), np.load(path)["truth"][METRICS[kind].index(metric)]
    found = {}
    for name, method in (("nested", of.estimate.nested), ("mover, as nested", of.estimate.bbc)):
        estimate = method(oof, metric, n_resamples=DRAWS)
        ends = [[np.nan, np.nan]] * len(LEVELS)
        if estimate.interval is not None:
            ends = [list(method(oof, metric, n_resamples=DRAWS, confidence_level=level).interval) for level in LEVELS]
        found[name] = [true[oof.configs.index(estimate.selected)], estimate.value, *np.ravel(ends)]
    return found


# -- the table -------------------------------------------------------------------------------------------------


def as_predictions(kind: str, metric: str, held: dict[str, NDArray[Any]], i: int) -> of.Predictions:
    """The out-of-fold predictions of one pool."""
    y, own = held["y"][i], held["P"][i].T
    if metric == "concordance":
        late = held["censored"][i]
        times = np.minimum(y, late)
        y, own = np.c_[times - times.min() + 1.0, y <= late], -own
    response = "risk" if metric == "concordance" else "score" if kind == "margin" else kind
    return of.from_arrays(y, own, folds=held["folds"][i], response=response)


def estimated(kind: str, metric: str, held: dict[str, NDArray[Any]], i: int) -> dict[str, list[float]]:
    """Truth, value, and the ends at every level, by every method."""
    oof = as_predictions(kind, metric, held, i)
    true = held["truth"][i][METRICS[kind].index(metric)]
    found = {}
    bbc = of.estimate.bbc(oof, metric, n_resamples=DRAWS, rng=i)
    for method in ("mover", "percentile", "order", "bbc_f"):
        ends = [[np.nan, np.nan]] * len(LEVELS)
        with suppress(of.exceptions.OutfoldError):  # folds without one of the classes
            ends = [list(bbc.confidence_interval(level, method)) for level in LEVELS]
        found[method] = [true[oof.configs.index(bbc.selected)], bbc.value, *np.ravel(ends)]
    spread = bbc.intervals.spread
    for times in TIMES:
        factor = times / TRAINING
        other = replace(spread, sampling=spread.sampling * factor, n=spread.n / factor)
        ends = [list(other.interval(level)) for level in LEVELS]
        found[f"{times} times"] = [*found["mover"][:2], *np.ravel(ends)]
    found["winner"] = [true[oof.configs.index(bbc.selected)], bbc.naive, *[np.nan] * 2 * len(LEVELS)]
    tt = of.estimate.tt(oof, metric)
    ends = [list(tt.confidence_interval(level)) if tt.interval else [np.nan, np.nan] for level in LEVELS]
    found["tt"] = [true[oof.configs.index(tt.selected)], tt.value, *np.ravel(ends)]
    return found


def summary(rows: NDArray[Any]) -> dict[str, Any]:
    """Bias, root mean squared error, coverage and mean width at every level; pools without an interval do not count."""
    true, value, ends = rows[:, 0], rows[:, 1], rows[:, 2:].reshape(len(rows), -1, 2)
    out = {"pools": len(rows), "truth": np.mean(true), "bias": np.mean(value - true)}
    out |= {"se": np.std(value - true) / np.sqrt(len(rows)), "rmse": np.sqrt(np.mean((value - true) ** 2))}
    some = np.isfinite(ends).all(axis=(1, 2))
    if some.any():
        low, high = ends[some, :, 0], ends[some, :, 1]
        inside = (low <= true[some, None] + 1e-9) & (true[some, None] <= high + 1e-9)
        out |= {"intervals": int(some.sum()), "coverage": inside.mean(axis=0).tolist()}
        out |= {"below": np.mean(true[some, None] < low - 1e-9, axis=0).tolist()}
        out |= {"width": (high - low).mean(axis=0).tolist()}
    return {key: rounded(value) for key, value in out.items()}


def rounded(value: Any) -> Any:
    return [rounded(own) for own in value] if isinstance(value, list) else round(value, 4) if value % 1 else int(value)


def evaluate(pools: Path, _: Path) -> None:
    """Estimate what is not yet estimated; remove the folder ``estimated`` after a change of the package."""
    place = pools / "estimated"
    place.mkdir(exist_ok=True)
    for n, (kind, metric) in product(COVERAGE_SIZES, COVERED):
        for source in sorted(pools.glob(f"{kind} * {n}.npz")):
            path = place / f"{metric} {source.stem}.npz"
            if not path.exists():
                held = dict(np.load(source))
                found = [estimated(kind, metric, held, i) for i in range(len(held["y"]))]
                np.savez_compressed(path, **{method: np.array([own[method] for own in found]) for method in found[0]})
                print(path.stem, flush=True)


def table(pools: Path, _: Path) -> None:
    rows = []
    for kind, metric in COVERED:
        for n in COVERAGE_SIZES:
            found: dict[str, dict[str, NDArray[Any]]] = {}
            for path in sorted((pools / "estimated").glob(f"{metric} {kind} * {n}.npz")):
                for method, own in np.load(path).items():
                    found.setdefault(method, {})[path.stem.split(" ")[2]] = own
            rows += rows_of(metric, n, found)
    for kind, metric in COVERED:
        sets: dict[str, dict[str, list[list[float]]]] = {}
        for path in sorted((pools / "nested").glob(f"{kind} *.npz")):
            for method, own in of_nested(kind, metric, path).items():
                sets.setdefault(method, {}).setdefault(path.stem.split(" ")[1], []).append(own)
        found = {method: {name: np.array(own) for name, own in each.items()} for method, each in sets.items()}
        rows += rows_of(metric, NESTED_SIZE, found)
    lines = ",\n".join(json.dumps(row) for row in rows)
    RESULTS.write_text(f'{{"levels": {list(LEVELS)}, "draws": {DRAWS}, "rows": [\n{lines}\n]}}\n')
    print(*page_rows(rows), sep="\n")


METHODS = {
    "mover": "`bbc`", "percentile": "percentiles, as published", "order": "order statistics, as published", "bbc_f": "BBC-F",
    "1.0 times": "`bbc`, the variance of the draws alone", "1.6 times": "1.6 instead of 1.3 times", "2.0 times": "2 times",
    "tt": "TT", "winner": "winner's score", "nested": "nested CV, 12 configurations",
    "mover, as nested": "`bbc`, 12 configurations",
}  # fmt: skip


def page_rows(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The table of the page: bias, coverage at 80, 95 and 99 percent, and width at 95."""
    for row in rows:
        covered = ", ".join(f"{own:.3f}" for own in row.get("coverage", []))
        width = f"{row['width'][1]:.3f}" if covered else ""
        first = [row["metric"], str(row["n"]), METHODS[row["method"]], str(row.get("intervals", row["pools"]))]
        error = [f"{row['bias']:+.3f}", f"{row['rmse']:.3f}"]
        yield f"| {' | '.join([*first, *error, covered, width])} |"


def overall(rows: list[dict[str, Any]], metric: str, method: str = "mover") -> float:
    """Coverage at 95 percent over all sizes."""
    own = [row for row in rows if row["metric"] == metric and row["method"] == method]
    return float(np.average([row["coverage"][1] for row in own], weights=[row["intervals"] for row in own]))


def words(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What the page says of the table."""
    named = [("mover", "the intervals of `bbc`"), ("percentile", "the percentiles of its draws")]
    named += [("1.0 times", "intervals of `bbc` without the 1.3 times for training sets")]
    named += [(f"{times} times", f"those with {times:g} times instead") for times in TIMES[1:]]
    for method, what in named:
        held = [f"{overall(rows, metric, method):.3f}" for metric in ("accuracy", "roc_auc", "r2")]
        yield f"Over all sizes, {what} hold the truth in {held[0]} (accuracy), {held[1]} (AUC) and {held[2]} (R²) of the pools."


def rows_of(metric: str, n: int, found: dict[str, dict[str, NDArray[Any]]]) -> list[dict[str, Any]]:
    """A row for every method, over all data sets, with coverage at 95 percent and bias of each of them."""
    out = []
    for method, sets in found.items():
        row = {"metric": metric, "n": n, "method": method} | summary(
            np.array([own for of in sets.values() for own in of])
        )
        each = {name: summary(own) for name, own in sets.items()}
        row["sets"] = {name: [own["bias"], own.get("coverage", [None] * 2)[1]] for name, own in each.items()}
        out.append(row)
    return out


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    _, what, place, *more = sys.argv
    default = Path(__file__).parents[2] / "shared" / "data"
    {"collect": collect, "nested": nested, "evaluate": evaluate, "table": table}[what](
        Path(place), Path(more[0]) if more else default
    )
