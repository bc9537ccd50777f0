"""What the variance of blocked 3x2 cross-validation is made of: Tables 2 to 4 and Figures 2 to 5 of Wang et al. (2014).

The error of one algorithm in the six halves of a blocked 3x2 plan has one variance, a correlation rho_1 within a repeat
and another, rho_2, between repeats. Many data sets are drawn from a known population, and the six errors of each are kept
as sums and products, from which both follow. `overlap` asks how the covariance of two two-fold estimates depends on what
their training halves share (Figure 2), `blocks` compares blocked with random repeats (Figure 3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from harness import Headline, Record, Size, Study, Unit, Verdict, concluded, generator, printed
from harness.data import load
from harness.networks import Network
from harness.pages import table
from harness.pictures import Panel, figure

import outfold as of

BLOCKED = of.Plan.blocked(3)
# Data sets of a unit; and units of each experiment, where the paper has 100,000 data sets.
CHUNK = 50
CHUNKS = {"logistic": 200, "NB": 200, "CR": 60, "SVM": 20, "NN": 10}
SIZES = {
    "simulated": (150, 300, 400, 500, 1000),
    "letters": (20, 40, 80, 160, 400, 800, 2000),
    "classifiers": (40, 80, 160, 200, 400, 800, 1200, 1600, 2000),
    "overlap": (0, 64, 96, 128, 160, 192, 256),
    "blocks": (40,),
}
# Tables 2 and 3 print 1 - 2 rho_1 and 2 rho_2; Table 4 prints rho_1 and rho_2.
PAPER = {
    "simulated": {
        "logistic": printed.rows("""
first  0.752 0.790 0.834 0.872 0.900
second 0.832 0.858 0.870 0.888 0.908
"""),
    },
    "letters": {
        "CR": printed.rows("""
first  0.414 0.448 0.604 0.676 0.810 0.880 0.946
second 0.562 0.522 0.390 0.378 0.330 0.310 0.288
"""),
    },
    "classifiers": {
        "NB": printed.rows("""
first  0.305 0.203 0.113 0.092 0.050 0.029 0.013 0.013 0.009
second 0.334 0.371 0.400 0.408 0.434 0.453 0.457 0.465 0.468
"""),
        "CR": printed.rows("""
first  0.233 0.153 0.121 0.113 0.099 0.112 0.108 0.107 0.092
second 0.267 0.198 0.205 0.206 0.218 0.245 0.251 0.250 0.242
"""),
        "SVM": printed.rows("""
first  0.433 0.366 0.298 0.284 0.233 0.182 0.154 0.138 0.127
second 0.425 0.435 0.436 0.441 0.445 0.449 0.450 0.453 0.454
"""),
        "NN": printed.rows("""
first  0.328 0.288 0.248 0.237 0.199 0.158 0.135 0.120 0.103
second 0.332 0.310 0.283 0.276 0.254 0.251 0.261 0.271 0.276
"""),
    },
}
# Experiments that Tables 2 to 4 are made of, and the two behind figures.
PARTS = (
    ("simulated", "logistic"),
    ("classifiers", "NB"),
    ("letters", "CR"),
    ("blocks", "CR"),
    ("classifiers", "CR"),
    ("overlap", "SVM"),
    ("classifiers", "SVM"),
    ("classifiers", "NN"),
)

Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def units(size: Size) -> Iterable[Unit]:
    if size == "tiny":
        return [{"experiment": "simulated", "learner": "logistic", "n": 150, "chunk": chunk} for chunk in range(2)]
    most = 1 if size == "quick" else max(CHUNKS.values())
    parts = PARTS[:4] if size == "quick" else PARTS
    return [
        {"experiment": experiment, "learner": learner, "n": n, "chunk": chunk}
        for chunk in range(most)
        for experiment, learner in parts
        if chunk < CHUNKS[learner]
        for n in SIZES[experiment]
    ]


def cost(unit: Unit) -> float:
    base, slope = {"logistic": (1, 1e-3), "NB": (0.5, 1e-3), "CR": (2, 6e-3), "SVM": (2, 1e-2), "NN": (30, 2e-2)}[
        unit["learner"]
    ]
    return base + slope * (512 if unit["experiment"] == "overlap" else unit["n"])


# -- populations ----------------------------------------------------------------------------------------------------


def two_normal(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two classes in five dimensions: N(0, I) and N(1, 2 I)."""
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 5))
    X[y == 1] = 1 + np.sqrt(2) * X[y == 1]
    return X, y


def letters(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The letters A to M against N to Z, drawn with replacement."""
    X, y = _letters()
    rows = rng.integers(0, len(y), n)
    return X[rows], y[rows]


@lru_cache(maxsize=1)
def _letters() -> tuple[np.ndarray, np.ndarray]:
    data = load("letter")
    return data.numbers, (data.labels > "M").astype(int)


def logistic_population(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Five standard normal inputs, all with the coefficient 1.5, and an intercept of 1 (example 2)."""
    X = rng.normal(size=(n, 5))
    return X, (rng.random(n) < 1 / (1 + np.exp(-1 - 1.5 * X.sum(axis=1)))).astype(int)


def weak_classes(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three inputs, of which two differ a little between the classes (simulated experiment 1)."""
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + np.outer(1 - y, (0.4, 0.3, 0.0)), y


# -- algorithms: labels of test rows -----------------------------------------------------------------------------------


def logistic(X: np.ndarray, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Logistic regression by Newton's method, with a ridge that only keeps it finite."""
    A = np.c_[np.ones(len(X)), X]
    weights, ridge = np.zeros(A.shape[1]), 1e-4 * np.eye(A.shape[1])
    for _ in range(12):
        p = 1 / (1 + np.exp(-np.clip(A @ weights, -30, 30)))
        step = np.linalg.solve((A.T * (p * (1 - p))) @ A + ridge, A.T @ (y - p) - ridge @ weights)
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            break
    return weights[0] + Z @ weights[1:] > 0


def bayes(X: np.ndarray, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    odds = np.zeros(len(Z))
    for label, sign in ((1, 1), (0, -1)):
        own = X[y == label]
        mean, variance = own.mean(axis=0), own.var(axis=0) + 1e-9
        odds += sign * (np.log(len(own)) - 0.5 * (((Z - mean) ** 2 / variance).sum(axis=1) + np.log(variance).sum()))
    return odds > 0


def tree(X: np.ndarray, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X.astype(np.float32), y, check_input=False)
    return model.predict(Z.astype(np.float32), check_input=False)


def machine(X: np.ndarray, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    from sklearn.svm import SVC

    return SVC().fit(X, y).predict(Z)


def network(X: np.ndarray, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return Network(5, penalty=1e-2).fit(X, y).predict(Z)


LEARNERS: dict[str, Fit] = {"logistic": logistic, "NB": bayes, "CR": tree, "SVM": machine, "NN": network}


# -- estimates of one data set -------------------------------------------------------------------------------------------


def halves(X: np.ndarray, y: np.ndarray, plan: of.Plan, fit: Fit, seed: int) -> list[float]:
    """The error in every half of every repeat."""
    splits = plan.split(y, rng=seed)
    out = []
    for r, k in splits.cells:
        train, test = splits.train_rows(r, k), splits.test_rows(r, k)
        out.append(float(np.mean(fit(X[train], y[train], X[test]) != y[test])))
    return out


def two_fold(X: np.ndarray, y: np.ndarray, train: np.ndarray, fit: Fit) -> float:
    """The two-fold estimate of one half and its complement."""
    rest = np.setdiff1d(np.arange(len(y)), train)
    parts = [np.mean(fit(X[a], y[a], X[b]) != y[b]) for a, b in ((train, rest), (rest, train))]
    return float(np.mean(parts))


def one(unit: Unit, rng: np.random.Generator) -> list[float]:
    """What is kept of one data set."""
    fit, seed = LEARNERS[unit["learner"]], int(rng.integers(1 << 31))
    if unit["experiment"] == "overlap":
        X, y = logistic_population(512, rng)
        order, shared = rng.permutation(512), unit["n"]
        first, second = order[:256], np.r_[order[:shared], order[256 : 512 - shared]]
        return [two_fold(X, y, half, fit) for half in (first, second)]
    if unit["experiment"] == "blocks":
        X, y = weak_classes(unit["n"], rng)
        random = of.Plan(folds=2, repeats=3)
        return [float(np.mean(halves(X, y, plan, fit, seed))) for plan in (BLOCKED, random)]
    X, y = (letters if unit["experiment"] == "letters" else two_normal)(unit["n"], rng)
    while min(y.sum(), len(y) - y.sum()) < 4:  # one of each class in every block, or nothing can be fitted
        X, y = (letters if unit["experiment"] == "letters" else two_normal)(unit["n"], rng)
    return halves(X, y, BLOCKED, fit, seed)


def run(unit: Unit) -> dict[str, Any]:
    rng = generator(unit)
    values = np.array([one(unit, rng) for _ in range(CHUNK)])
    return {
        "sets": CHUNK,
        "sums": values.sum(axis=0).round(8).tolist(),
        "products": (values.T @ values).round(8).tolist(),
    }


# -- what follows --------------------------------------------------------------------------------------------------------


def summarize(records: Sequence[Record]) -> dict[str, Any]:
    added: dict[tuple[str, str, int], dict[str, Any]] = defaultdict(lambda: {"sets": 0, "sums": 0.0, "products": 0.0})
    for unit, row, _ in records:
        own = added[unit["experiment"], unit["learner"], unit["n"]]
        own["sets"] += row["sets"]
        own["sums"] = own["sums"] + np.array(row["sums"])
        own["products"] = own["products"] + np.array(row["products"])
    rows = []
    for (experiment, learner, n), own in added.items():
        mean = own["sums"] / own["sets"]
        covariance = (own["products"] - own["sets"] * np.outer(mean, mean)) / (own["sets"] - 1)
        head = {
            "experiment": experiment,
            "learner": learner,
            "n": n,
            "sets": own["sets"],
            "error": round(float(mean.mean()), 4),
        }
        rows.append(head | (six(covariance) if len(mean) == 6 else two(covariance)))
    return {"rows": rows}


def six(covariance: np.ndarray) -> dict[str, float]:
    """Correlations and the shares of the variance of the mean, from the covariances of six halves."""
    group = np.kron(np.eye(3), np.ones((2, 2))) > 0
    within = covariance[group & ~np.eye(6, dtype=bool)].mean()
    variance, between = covariance.diagonal().mean(), covariance[~group].mean()
    parts = np.array([variance / 6, within / 6, 2 * between / 3])
    shares = parts / parts.sum()
    return {
        "rho1": round(float(within / variance), 4),
        "rho2": round(float(between / variance), 4),
        "shares": shares.round(4).tolist(),
    }


def two(covariance: np.ndarray) -> dict[str, float]:
    """Standard deviations of two estimates, and their covariance."""
    first, second = np.sqrt(covariance.diagonal())
    return {"sds": [round(float(first), 5), round(float(second), 5)], "covariance": float(f"{covariance[0, 1]:.4g}")}


def rows_of(result: dict[str, Any], experiment: str, learner: str | None = None) -> list[dict[str, Any]]:
    chosen = [row for row in result["rows"] if row["experiment"] == experiment and learner in (None, row["learner"])]
    return sorted(chosen, key=lambda row: row["n"])


def printed_rho(experiment: str, learner: str, n: int) -> tuple[float, float]:
    """rho_1 and rho_2 as the tables have them."""
    first, second = (column[SIZES[experiment].index(n)] for column in PAPER[experiment][learner].values())
    return (first, second) if experiment == "classifiers" else ((1 - first) / 2, second / 2)


def compared(result: dict[str, Any]) -> list[tuple[dict[str, Any], tuple[float, float]]]:
    """Rows with correlations, and the printed ones."""
    return [(row, printed_rho(row["experiment"], row["learner"], row["n"])) for row in result["rows"] if "rho1" in row]


def covariance_error(row: dict[str, Any]) -> float:
    """Standard error of the covariance of two estimates that are about normal."""
    first, second = row["sds"]
    return float(np.sqrt((first**2 * second**2 + row["covariance"] ** 2) / (row["sets"] - 1)))


def lowest(rows: Sequence[dict[str, Any]]) -> set[int]:
    """The numbers of shared samples whose covariance is within two standard errors of the lowest one."""
    least = min(rows, key=lambda row: row["covariance"])
    return {
        row["n"]
        for row in rows
        if row["covariance"] - least["covariance"] <= 2 * np.hypot(covariance_error(row), covariance_error(least))
    }


def verdict(result: dict[str, Any]) -> Verdict:
    pairs = compared(result)
    headlines = []
    for experiment, learner, n in (
        ("simulated", "logistic", 1000),
        ("letters", "CR", 2000),
        ("classifiers", "NB", 2000),
    ):
        for row, (rho1, rho2) in pairs:
            if (row["experiment"], row["learner"], row["n"]) == (experiment, learner, n):
                what = f"rho_1, rho_2: {experiment}, {learner}, n = {n:,}"
                headlines.append(Headline(what, f"{rho1:.2f}, {rho2:.2f}", f"{row['rho1']:.2f}, {row['rho2']:.2f}"))
    fewest = min((row["sets"] for row, _ in pairs), default=0)
    if fewest < 400 or len(pairs) < 40:
        return Verdict("too few repetitions", f"{fewest} data sets of some settings.", tuple(headlines))
    ordered = sum(0 < row["rho1"] < row["rho2"] for row, _ in pairs)
    near = sum(abs(row["rho1"] - rho1) < 0.06 and abs(row["rho2"] - rho2) < 0.06 for row, (rho1, rho2) in pairs)
    least_sure = sum(row["rho1"] < 2 / np.sqrt(row["sets"]) for row, _ in pairs)
    claims = {
        f"rho_1 and rho_2 are above zero (rho_1 by less than two standard errors in {least_sure} settings)": all(
            min(row["rho1"], row["rho2"]) > 0 for row, _ in pairs
        ),
        f"rho_1 is below rho_2 (in {ordered} of {len(pairs)} settings)": ordered > 0.8 * len(pairs),
        f"both are within 0.06 of the printed ones (in {near})": near > 0.6 * len(pairs),
    }
    for row in rows_of(result, "blocks"):
        blocked, random = row["sds"]
        chance = 2 * random / np.sqrt(row["sets"])  # two standard errors of a difference of standard deviations
        claims["three repeats vary less with blocks than with random halves"] = blocked < random - chance
    if overlap := rows_of(result, "overlap"):
        claims["two-fold estimates covary least where their halves share about a quarter of the samples"] = (
            128 in lowest(overlap) and not {0, 256} & lowest(overlap)
        )
    return concluded(
        claims, "The paper does not say how its trees, networks and support vector machines are set.", headlines
    )


def page(result: dict[str, Any]) -> Iterator[str]:
    yield (
        "Errors of one algorithm in the six halves of a blocked 3x2 plan: correlation rho_1 of the halves of a "
        "repeat, rho_2 of halves of different repeats; in brackets as printed, or as they follow from what is "
        "printed. The standard error of a correlation is at most one over the root of the number of data sets (the "
        "paper has 100,000). The last three columns are shares of the variance of the mean of all six errors."
    )
    titles = {
        "simulated": "Two normal classes, logistic regression (Table 2, Figure 4)",
        "letters": "Letters, a tree (Table 3, Figure 5)",
        "classifiers": "Two normal classes, four algorithms (Table 4)",
    }
    for experiment, title in titles.items():
        rows = [(row, printed) for row, printed in compared(result) if row["experiment"] == experiment]
        if not rows:
            continue
        yield from ("", f"## {title}", "")
        cells = [
            (
                row["learner"],
                f"{row['n']:,}",
                f"{row['sets']:,}",
                f"{row['error']:.3f}",
                f"{row['rho1']:.3f} ({one_:.3f})",
                f"{row['rho2']:.3f} ({two_:.3f})",
                *(f"{share:.0%}" for share in row["shares"]),
            )
            for row, (one_, two_) in sorted(rows, key=lambda pair: (pair[0]["learner"], pair[0]["n"]))
        ]
        yield from table(
            (
                "algorithm",
                "n",
                "data sets",
                "error",
                "rho_1",
                "rho_2",
                "variance from the halves",
                "within repeats",
                "between repeats",
            ),
            cells,
        )
    if overlap := rows_of(result, "overlap"):
        yield from ("", "## What training halves share (Figure 2)", "")
        yield (
            "A support vector machine on 512 samples; covariance of two two-fold estimates by the number of samples that "
            "their first halves share, ± its standard error. The paper finds the least at a quarter of the samples, 128. "
            f"Chance can explain the differences between {', '.join(map(str, sorted(lowest(overlap))))}."
        )
        yield ""
        yield from table(
            ("shared", "data sets", "covariance × 10,000"),
            [
                (row["n"], f"{row['sets']:,}", f"{1e4 * row['covariance']:.2f} ± {1e4 * covariance_error(row):.2f}")
                for row in overlap
            ],
        )
    for row in rows_of(result, "blocks"):
        yield from ("", "## Blocked and random repeats (Figure 3)", "")
        blocked, random = row["sds"]
        yield (
            f"A tree on {row['n']} samples of two weakly different classes, {row['sets']:,} data sets: the standard "
            f"deviation of the mean of three repeats is {blocked:.4f} with blocks and {random:.4f} with random halves. "
            "The paper shows box plots, narrower with blocks."
        )
    yield from ("", "## Differences", "")
    yield (
        "- The paper does not give the settings of its algorithms. Ours: trees with leaves of five or more, support "
        "vector machines with scikit-learn's defaults, networks with five hidden units."
    )


def draw(result: dict[str, Any]) -> Any:
    panels = []
    for experiment, learner, title in (("simulated", "logistic", "Figure 4"), ("letters", "CR", "Figure 5")):
        rows = rows_of(result, experiment, learner)
        if rows:
            names = ("halves", "within repeats", "between repeats")
            lines = {
                name: ([row["n"] for row in rows], [row["shares"][i] for row in rows]) for i, name in enumerate(names)
            }
            panels.append(Panel(f"{title}: {experiment}", lines, "n", "share of the variance", bars=True))
    for learner in PAPER["classifiers"]:
        rows = rows_of(result, "classifiers", learner)
        if rows:
            x = [row["n"] for row in rows]
            lines = {"rho_1": (x, [row["rho1"] for row in rows]), "rho_2": (x, [row["rho2"] for row in rows])}
            for i, name in enumerate(("rho_1, paper", "rho_2, paper")):
                lines[name] = (x, [printed_rho("classifiers", learner, n)[i] for n in x])
            panels.append(Panel(f"Table 4: {learner}", lines, "n", "correlation", options={"xscale": "log"}))
    return figure(panels)


STUDY = Study(
    name="variance-parts",
    title="What is the variance of blocked cross-validation made of?",
    source="Wang, Wang, Jia and Li (2014), Tables 2-4, Figures 2-5",
    units=units,
    run=run,
    summarize=summarize,
    page=page,
    verdict=verdict,
    draw=draw,
    cost=cost,
)
