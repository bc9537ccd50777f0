"""Figures and tables of Raschka's article (2018), one after the other: 1, 4, 5, 6, 8, 9, 18, 21 and Tables 1 and 2.

Most are illustrations with printed numbers. MNIST is not at hand: scikit-learn's digits (1,797 images of 8 x 8) stand in
for it, with the same shares of classes. The 469 compounds of Table 1 (Hawkins et al. 2003) are not public: the diabetes
data of scikit-learn (442 samples) stand in for them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from harness import Headline, Record, Size, Study, Unit, Verdict, concluded, generator
from harness.pages import table
from harness.pictures import Panel, figure
from scipy import stats

import outfold as of

PARTS = (
    "figure 1",
    "figure 4",
    "figure 5",
    "figure 6",
    "figure 8",
    "figure 9",
    "figure 18",
    "figure 21",
    "table 1",
    "table 2",
)
SIZES = (100, 200, 300, 500, 700, 900, 1100, 1200)
GAMMAS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
HAWKINS = {"q2": (0.010, 0.149), "hold 50": (0.028, 0.184), "hold 20": (0.055, 0.305), "hold 10": (0.123, 0.504)}
# Right (1) or wrong (0) of three classifiers, and how often.
TABLE_2 = (
    (1, 1, 1, 80),
    (1, 1, 0, 2),
    (1, 0, 1, 0),
    (1, 0, 0, 2),
    (0, 1, 1, 9),
    (0, 1, 0, 1),
    (0, 0, 1, 3),
    (0, 0, 0, 3),
)


def units(size: Size) -> Iterable[Unit]:
    quick = {"tiny": 2, "quick": 10, "full": 50}[size]
    parts = PARTS if size != "tiny" else ("figure 1", "figure 9", "figure 18", "figure 21", "table 2")
    return [{"part": part, "times": quick} for part in parts]


def cost(unit: Unit) -> float:
    return {"figure 4": 40.0, "table 1": 10.0, "figure 8": 5.0}.get(unit["part"], 1.0)


# -- the parts -----------------------------------------------------------------------------------------------------------


def class_counts(times: int, rng: np.random.Generator) -> dict[str, Any]:
    """Figure 1: classes of Iris in a random third; by chance, and how uneven such a third is on average."""
    y = np.repeat([0, 1, 2], 50)
    counts = np.array([np.bincount(rng.permutation(y)[:50], minlength=3) for _ in range(200 * times)])
    gaps = counts.max(axis=1) - counts.min(axis=1)
    return {
        "example": counts[0].tolist(),
        "mean_gap": round(float(gaps.mean()), 2),
        "as_uneven_as_printed": round(float(np.mean(gaps >= 10)), 3),
    }


def learning_curve(times: int, rng: np.random.Generator) -> dict[str, Any]:
    """Figure 4: accuracy of softmax regression on training and test samples, as the training part grows."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.3, stratify=y, random_state=0)
    rows = []
    for n in SIZES:
        scores = []
        for seed in range(max(1, times // 10)):
            part, _ = train_test_split(np.arange(len(y_train)), train_size=n, stratify=y_train, random_state=seed)
            model = LogisticRegression(C=10.0, max_iter=500).fit(X_train[part], y_train[part])
            scores.append([model.score(X_train[part], y_train[part]), model.score(X_test, y_test)])
        rows.append([n, *np.mean(scores, axis=0).round(4).tolist()])
    return {"rows": rows, "draws": max(1, times // 10)}


def gaussian_subsamples(times: int, rng: np.random.Generator) -> dict[str, Any]:
    """Figure 5: how far the mean of a subsample strays from that of 1,000 points in the plane."""
    points = rng.normal(size=(1000, 2))
    found = {}
    for n in (500, 100, 10):
        means = [points[rng.permutation(1000)[:n]].mean(axis=0) for _ in range(20 * times)]
        found[str(n)] = round(float(np.std(means, axis=0).mean()), 4)
    return {"sd_of_mean": found}


def repeated_holdout(times: int, rng: np.random.Generator) -> dict[str, Any]:
    """Figure 6: 3-NN on Iris, half or a tenth held out, 50 times."""
    from sklearn.datasets import load_iris
    from sklearn.neighbors import KNeighborsClassifier

    X, y = load_iris(return_X_y=True)
    found = {}
    for title, share in (("50/50", 0.5), ("90/10", 0.1)):
        plan = of.Plan.repeated_holdout(10 * times, share)
        oof = of.collect({"3-NN": KNeighborsClassifier(3)}, X, y, plan, rng=0, progress=False)
        scores = of.stability.trace(oof, "accuracy").scores[:, 0]
        found[title] = {
            "splits": len(scores),
            "mean": round(float(scores.mean()), 4),
            "sd": round(float(scores.std(ddof=1)), 4),
        }
    return found


def bootstrap_intervals(times: int, rng: np.random.Generator) -> dict[str, Any]:
    """Figure 8: standard and percentile intervals of the out-of-bag accuracy: 3-NN on Iris, softmax on digits."""
    from sklearn.datasets import load_digits, load_iris
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    found = {}
    digits = load_digits(return_X_y=True)
    some = np.random.default_rng(0).permutation(len(digits[1]))[:500]
    cases = {
        "3-NN, Iris": (KNeighborsClassifier(3), *load_iris(return_X_y=True), 4 * times),
        "softmax, digits": (LogisticRegression(max_iter=200), digits[0][some] / 16, digits[1][some], times),
    }
    for title, (model, X, y, rounds) in cases.items():
        oof = of.collect({"model": model}, X, y, of.Plan.bootstrap(rounds), rng=0, progress=False, resub=False)
        scores = of.stability.trace(oof, "accuracy").scores[:, 0]
        t = stats.t.ppf(0.975, rounds - 1) * scores.std(ddof=1)
        found[title] = {
            "rounds": rounds,
            "mean": round(float(scores.mean()), 4),
            "standard": [round(float(scores.mean() + sign * t), 4) for sign in (-1, 1)],
            "percentile": np.quantile(scores, [0.025, 0.975]).round(4).tolist(),
        }
    return found


def chosen_share(times: int, rng: np.random.Generator) -> dict[str, Any]:
    """Figure 9: the probability that a bootstrap sample includes a sample, 1 - (1 - 1/n)^n."""
    sizes = (2, 5, 10, 20, 50, 100, 200)
    return {"rows": [[n, round(1 - (1 - 1 / n) ** n, 5)] for n in sizes]}


def circles(times: int, rng: np.random.Generator) -> dict[str, Any]:
    """Figure 18: gamma of a support vector machine on concentric circles, and what one standard error selects."""
    from sklearn.datasets import make_circles
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC

    X, y = make_circles(300, noise=0.3, factor=0.3, random_state=12345)
    X, _, y, _ = train_test_split(X, y, test_size=0.3, stratify=y, random_state=12345)
    configs = of.grid("svm", SVC(), gamma=list(GAMMAS))
    oof = of.collect(configs, X, y, of.Plan(folds=10), rng=0, progress=False)
    rows = []
    for name in oof.configs:
        scores = fold_accuracies(oof, name)
        rows.append([name, round(float(scores.mean()), 4), round(float(scores.std(ddof=1) / np.sqrt(10)), 4)])
    complexity = dict(zip(oof.configs, GAMMAS, strict=True))
    best = of.estimate.cvt(oof, "accuracy", aggregate="fold").selected
    simple = of.estimate.cvt(oof, "accuracy", aggregate="fold", rule=of.select.one_standard_error(complexity)).selected
    return {"rows": rows, "best": best, "simplest": simple}


def fold_accuracies(oof: of.Predictions, name: str) -> np.ndarray:
    """Accuracy of a configuration in every fold."""
    right = (oof.data[0, oof.config_index(name)] > 0) == (oof.y == 1)
    return np.array([right[oof.folds[:, 0] == k].mean() for k in range(oof.n_folds)])


def mcnemar_gaps(times: int, rng: np.random.Generator) -> dict[str, Any]:
    """Figure 21: largest difference of McNemar's p values and the exact ones, by the least of B and C."""
    rows = []
    for least in (1, 5, 10, 25, 50, 100):
        span = np.arange(least, 201)
        b, c = np.meshgrid(span, span)
        exact = np.minimum(1.0, 2 * stats.binom.sf(np.maximum(b, c) - 1, b + c, 0.5))
        plain, edwards = (stats.chi2.sf((np.abs(b - c) - shift).clip(0) ** 2 / (b + c), 1) for shift in (0, 1))
        rows.append([least, *(round(float(np.abs(values - exact).max()), 4) for values in (plain, edwards))])
    return {"rows": rows}


def hold_or_cross(times: int, rng: np.random.Generator) -> dict[str, Any]:
    """Table 1: error of R squared by leave-one-out and by hold-outs of three sizes, ridge regression on 100 samples."""
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import StandardScaler

    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    gaps: dict[str, list[float]] = {name: [] for name in HAWKINS}
    for _ in range(round(1.5 * times)):
        order = rng.permutation(len(y))
        train, rest = order[:100], order[100:]
        true = r2(y[rest], Ridge(10.0).fit(X[train], y[train]).predict(X[rest]))
        oof = of.collect({"ridge": Ridge(10.0)}, X[train], y[train], of.Plan.leave_one_out(), rng=0, progress=False)
        gaps["q2"].append(true - r2(y[train], oof.data[0, 0]))
        for held in (50, 20, 10):
            # The model of 100 samples is judged on a hold-out of other samples, as in the paper.
            test = rest[:held]
            gaps[f"hold {held}"].append(true - r2(y[test], Ridge(10.0).fit(X[train], y[train]).predict(X[test])))
    return {
        "times": len(gaps["q2"]),
        "rows": {
            name: [round(float(np.mean(own)), 4), round(float(np.std(own, ddof=1)), 4)] for name, own in gaps.items()
        },
    }


def r2(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(1 - np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2))


def cochran(times: int, rng: np.random.Generator) -> dict[str, Any]:
    """Table 2: Cochran's Q of three classifiers."""
    right = np.array([row[:3] for row in TABLE_2 for _ in range(row[3])])
    oof = of.from_arrays(None, right, response="pointwise", configs=["C1", "C2", "C3"])
    found = of.compare.cochran_q(oof, "mean")
    return {
        "right": right.sum(axis=0).tolist(),
        "q": round(float(found.statistic), 4),
        "pvalue": round(float(found.pvalue), 4),
    }


MAKE = dict(
    zip(
        PARTS,
        (
            class_counts,
            learning_curve,
            gaussian_subsamples,
            repeated_holdout,
            bootstrap_intervals,
            chosen_share,
            circles,
            mcnemar_gaps,
            hold_or_cross,
            cochran,
        ),
        strict=True,
    )
)


def run(unit: Unit) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKE[unit["part"]](unit["times"], generator(unit))


def summarize(records: Sequence[Record]) -> dict[str, Any]:
    return {"parts": {unit["part"]: row for unit, row, _ in records}, "times": records[0].unit["times"]}


def verdict(result: dict[str, Any]) -> Verdict:
    parts, headlines = result["parts"], []
    if "figure 6" in parts:
        own = parts["figure 6"]
        headlines.append(
            Headline(
                "Figure 6: mean accuracy of 50/50 and 90/10 splits, 3-NN on Iris",
                "95%, 96%",
                f"{own['50/50']['mean']:.1%}, {own['90/10']['mean']:.1%}",
            )
        )
    if "table 2" in parts:
        headlines.append(
            Headline(
                "Table 2: Cochran's Q, p",
                "7.5294, 0.023",
                f"{parts['table 2']['q']:.4f}, {parts['table 2']['pvalue']:.3f}",
            )
        )
    if "figure 18" in parts:
        headlines.append(
            Headline("Figure 18: simplest within one standard error", "gamma = 0.1", parts["figure 18"]["simplest"])
        )
    if "table 1" in parts:
        rows = parts["table 1"]["rows"]
        headlines.append(
            Headline(
                "Table 1: sd of the error of R², leave-one-out and 10 held out",
                "0.149, 0.504",
                f"{rows['q2'][1]:.3f}, {rows['hold 10'][1]:.3f}",
            )
        )
    if len(parts) < len(PARTS):
        return Verdict("too few repetitions", f"{len(parts)} of {len(PARTS)} parts.", tuple(headlines))
    rows = parts["table 1"]["rows"]
    claims = {
        "Cochran's Q to the digit": parts["table 2"]["q"] == 7.5294,
        "a small test part varies more": parts["figure 6"]["90/10"]["sd"] > parts["figure 6"]["50/50"]["sd"],
        "leave-one-out varies less than any hold-out": rows["q2"][1]
        < min(rows[name][1] for name in HAWKINS if name != "q2"),
        "one standard error selects gamma = 0.1": parts["figure 18"]["simplest"].endswith("gamma=0.1)"),
    }
    return concluded(
        claims,
        "Digits and diabetes data stand in for MNIST and 469 compounds; the circles are other points.",
        headlines,
    )


# -- the page ------------------------------------------------------------------------------------------------------------


def page(result: dict[str, Any]) -> Iterator[str]:
    parts = result["parts"]
    writers = (
        ("figure 1", "Figure 1: classes after a random split", _figure_1),
        ("figure 4", "Figure 4: learning curve", _figure_4),
        ("figure 5", "Figure 5: subsamples of a Gaussian", _figure_5),
        ("figure 6", "Figure 6: repeated hold-out", _figure_6),
        ("figure 8", "Figure 8: two bootstrap intervals", _figure_8),
        ("figure 9", "Figure 9: samples in a bootstrap sample", _figure_9),
        ("figure 18", "Figure 18: one standard error", _figure_18),
        ("figure 21", "Figure 21: McNemar's test and the exact one", _figure_21),
        ("table 1", "Table 1: leave-one-out or hold-out", _table_1),
        ("table 2", "Table 2: Cochran's Q", _table_2),
    )
    for part, title, write in writers:
        if part in parts:
            yield from (f"## {title}", "")
            yield from write(parts[part])
            yield ""


def _figure_1(own: dict[str, Any]) -> Iterator[str]:
    yield (
        "The paper's random third of Iris has 12, 22 and 16 flowers of the three classes. Ours: "
        f"{', '.join(map(str, own['example']))}. The largest minus the smallest count is {own['mean_gap']:.1f} on "
        f"average; in {own['as_uneven_as_printed']:.0%} of splits it is at least the 10 of the paper's example. A "
        "stratified split has 16 or 17 of each."
    )


def _figure_4(own: dict[str, Any]) -> Iterator[str]:
    yield (
        f"Softmax regression on scikit-learn's digits instead of MNIST, mean of {own['draws']} draws. As in the "
        "paper, the training accuracy falls and the test accuracy rises with the number of training samples."
    )
    yield ""
    yield from table(
        ("training samples", "training accuracy", "test accuracy"),
        [(n, f"{a:.3f}", f"{b:.3f}") for n, a, b in own["rows"]],
    )


def _figure_5(own: dict[str, Any]) -> Iterator[str]:
    yield (
        "Standard deviation of a subsample's mean, of 1,000 points from a standard normal in the plane: the fewer, "
        "the further it strays."
    )
    yield ""
    yield from table(("points", "standard deviation"), [(n, f"{value:.3f}") for n, value in own["sd_of_mean"].items()])


def _figure_6(own: dict[str, Any]) -> Iterator[str]:
    half, tenth = own["50/50"], own["90/10"]
    yield (
        f"3-NN on Iris, stratified, {half['splits']} splits instead of 50 (paper: 95%, 96%). The small test part has "
        f"the larger spread, as in the paper; the difference of the means, {tenth['mean'] - half['mean']:+.3f}, is "
        "small beside it."
    )
    yield ""
    rows = [(name, f"{row['mean']:.3f}", f"{row['sd']:.3f}") for name, row in own.items()]
    yield from table(("split", "mean accuracy", "standard deviation"), rows)


def _figure_8(own: dict[str, Any]) -> Iterator[str]:
    yield (
        "Out-of-bag accuracy with its 95 percent interval by t (the standard deviation of rounds is the standard "
        "error) and by percentiles. They nearly agree, as in the paper."
    )
    yield ""
    rows = [
        (
            name,
            row["rounds"],
            f"{row['mean']:.3f}",
            *("{:.3f} to {:.3f}".format(*row[kind]) for kind in ("standard", "percentile")),
        )
        for name, row in own.items()
    ]
    yield from table(("model", "rounds", "mean", "standard", "percentile"), rows)


def _figure_9(own: dict[str, Any]) -> Iterator[str]:
    yield "1 - (1 - 1/n)^n, which tends to 0.632:"
    yield ""
    yield from table(
        ("n", *(str(n) for n, _ in own["rows"])), [("probability", *(f"{value:.3f}" for _, value in own["rows"]))]
    )


def _figure_18(own: dict[str, Any]) -> Iterator[str]:
    yield (
        f"The best is `{own['best']}`; the smallest gamma within one standard error of it is `{own['simplest']}` "
        "(paper: 0.1). The paper's circles are not given, so ours are other points. The paper's text names the "
        "models of its decision regions in two ways; Figure 18 has gamma = 0.1 as the choice."
    )
    yield ""
    yield from table(
        ("configuration", "mean accuracy", "standard error"),
        [(f"`{name}`", f"{a:.3f}", f"{b:.3f}") for name, a, b in own["rows"]],
    )


def _figure_21(own: dict[str, Any]) -> Iterator[str]:
    yield (
        "Largest absolute difference from the exact p value over all tables whose B and C are at least this and at "
        "most 200. As the paper says, with the continuity correction they are almost the same from 50 on."
    )
    yield ""
    yield from table(
        ("least of B and C", "without correction", "Edwards"), [(n, f"{a:.3f}", f"{b:.3f}") for n, a, b in own["rows"]]
    )


def _table_1(own: dict[str, Any]) -> Iterator[str]:
    yield (
        f"True R² minus its estimate, mean and standard deviation over {own['times']} training sets of 100; in "
        "brackets as printed (75 sets of another data set). Leave-one-out has the smallest spread, and small "
        "hold-outs a large one, as in the paper."
    )
    yield ""
    rows = [
        (name, f"{mean:+.3f} ({HAWKINS[name][0]:+.3f})", f"{sd:.3f} ({HAWKINS[name][1]:.3f})")
        for name, (mean, sd) in own["rows"].items()
    ]
    yield from table(("estimate", "mean", "standard deviation"), rows)


def _table_2(own: dict[str, Any]) -> Iterator[str]:
    yield (
        f"Right answers {', '.join(map(str, own['right']))} (paper: 84, 92, 92), Q = {own['q']:.4f} (7.5294), p = "
        f"{own['pvalue']:.3f} (0.023). The vectors that the paper prints beside the table are shorter than it says; "
        "the table is right."
    )


def draw(result: dict[str, Any]) -> Any:
    parts, panels = result["parts"], []
    if "figure 4" in parts:
        n, train, test = zip(*parts["figure 4"]["rows"], strict=True)
        panels.append(Panel("Figure 4", {"training": (n, train), "test": (n, test)}, "training samples", "accuracy"))
    if "figure 9" in parts:
        n, share = zip(*parts["figure 9"]["rows"], strict=True)
        panels.append(Panel("Figure 9", {"in the bootstrap sample": (n, share)}, "n", "probability", 0.632))
    if "figure 18" in parts:
        _, mean, _ = zip(*parts["figure 18"]["rows"], strict=True)
        panels.append(Panel("Figure 18", {"10-fold accuracy": ([f"{g:g}" for g in GAMMAS], mean)}, "gamma", "accuracy"))
    if "figure 21" in parts:
        n, plain, edwards = zip(*parts["figure 21"]["rows"], strict=True)
        panels.append(
            Panel("Figure 21", {"chi²": (n, plain), "Edwards": (n, edwards)}, "least of B and C", "difference of p")
        )
    return figure(panels)


STUDY = Study(
    name="small-tour",
    title="Illustrations of model evaluation",
    source="Raschka (2018), Figures 1, 4-6, 8, 9, 18, 21, Tables 1-2",
    units=units,
    run=run,
    summarize=summarize,
    page=page,
    verdict=verdict,
    draw=draw,
    cost=cost,
)
