"""What rules that drop configurations early save and lose: BBCD, Hoeffding, Friedman, sequential analysis and halving.

Sixty configurations are cross-validated in ten folds on samples of real data sets, and fitted once more on all samples;
the rows that were not drawn give their true accuracy. Then every rule is asked after every fold. `dropping.py` has more
grids, with five folds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from harness import Headline, Record, Size, Study, Unit, Verdict, generator
from harness.bias import summary
from harness.data import load
from harness.pages import fixed, table
from harness.pictures import Panel, figure
from harness.protocols import collect, race, saved, without

import outfold as of
from outfold.metrics._scoring import Scoring

SETS = (
    "magic_gamma",
    "bank",
    "sylvine",
    "jasmine",
    "ada",
    "kr_vs_kp",
    "twonorm_delve",
    "ringnorm_delve",
    "seismic_bumps",
    "biodeg",
)
SIZES, SUBSAMPLES = (100, 300, 600), 3
METRIC, MOST_HELD_OUT = "accuracy", 3000


@dataclass(frozen=True, repr=False)
class Halving(of.drop.DropRule):
    """Drops the worse half after the first, the second and the fourth fold: successive halving, with folds as the budget."""

    metric: Any = None

    def _losers(self, scoring: Scoring, cell: tuple[int, int], seed: int) -> Iterator[of.drop.Drop]:
        if cell[1] + 1 not in (1, 2, 4):
            return
        scores = scoring.metric.sign * scoring.scores()[0]
        order = np.argsort(-scores, kind="stable")
        for j in order[(len(order) + 1) // 2 :]:
            yield of.drop.Drop(scoring.names[j], None, scoring.names[order[0]])


RULES = {
    "Bootstrap": of.drop.Bootstrap(metric=METRIC),
    "Bootstrap from the first fold on": of.drop.Bootstrap(metric=METRIC, min_predictions=0),
    "Hoeffding": of.drop.Hoeffding(metric=METRIC),
    "Friedman": of.drop.Friedman(metric=METRIC),
    "Sequential": of.drop.Sequential(metric=METRIC),
    "halving": Halving(metric=METRIC),
}


def units(size: Size) -> Iterable[Unit]:
    if size != "full":
        sets = SETS[:3] if size == "quick" else ("biodeg",)
        return [{"data": data, "n": 100, "subsample": 0} for data in sets]
    return [{"data": data, "n": n, "subsample": k} for k in range(SUBSAMPLES) for n in SIZES for data in SETS]


def cost(unit: Unit) -> float:
    return 1 + unit["n"] / 300


def configurations() -> of.Configs:
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    near, logit = (
        make_pipeline(StandardScaler(), model) for model in (KNeighborsClassifier(), LogisticRegression(max_iter=500))
    )
    out = of.grid("knn", near, n_neighbors=[1, 3, 5, 7, 9, 11, 15, 19, 25, 31], weights=["uniform", "distance"])
    out |= of.grid(
        "tree",
        DecisionTreeClassifier(random_state=0),
        max_depth=[1, 2, 3, 5, None],
        min_samples_leaf=[1, 2, 5, 10, 20, 40],
    )
    return out | of.grid("logit", logit, C=[1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0])


def run(unit: Unit) -> dict[str, Any]:
    data, rng = load(unit["data"]), generator(unit)
    order = rng.permutation(len(data.y))
    rows, rest = order[: unit["n"]], order[unit["n"] : unit["n"] + MOST_HELD_OUT]
    y, configs = data.y[rows], configurations()
    if np.bincount(y, minlength=2).min() < 10:
        return {}
    seed = int(rng.integers(1 << 31))
    oof = collect(configs, data.numbers[rows], y, of.Plan(folds=10), rng=seed, metric=METRIC, response="label")
    held_out = collect(configs, data.numbers, data.y, [(rows, rest)], rng=0, metric=METRIC, response="label")  # type: ignore[arg-type]
    truth = dict(zip(held_out.configs, np.ravel(held_out.scores(METRIC)).tolist(), strict=True))
    whole = of.estimate.bbc(oof, METRIC, n_resamples=200)
    found = {"truth": truth[whole.selected], "bias": whole.value - truth[whole.selected]}
    for name, rule in RULES.items():
        dropped = race(oof, rule, seed)
        own = of.estimate.bbc(without(oof, dropped), METRIC, n_resamples=200)
        found[name] = {
            "saved": saved(oof, dropped),
            "loss": truth[whole.selected] - truth[own.selected],
            "other": int(own.selected != whole.selected),
            "bias": own.value - truth[own.selected],
        }
    return json_ready(found)


def json_ready(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: json_ready(part) for key, part in value.items()}
    return value if isinstance(value, int) else round(float(value), 5)


def summarize(records: Sequence[Record]) -> dict[str, Any]:
    rows = []
    for n in (*SIZES, "all"):
        own = [row for unit, row, _ in records if row and n in ("all", unit["n"])]
        if not own:
            continue
        for name in RULES:
            loss = summary([row[name]["loss"] for row in own])
            rows.append(
                {
                    "n": n,
                    "rule": name,
                    "searches": len(own),
                    "saved": round(float(np.mean([row[name]["saved"] for row in own])), 4),
                    "loss": loss["mean"],
                    "se": loss["se"],
                    "worst": max(row[name]["loss"] for row in own),
                    "other": round(float(np.mean([row[name]["other"] for row in own])), 4),
                    "bias": summary([row[name]["bias"] for row in own])["mean"],
                    "bias_of_all": summary([row["bias"] for row in own])["mean"],
                }
            )
    return {"rows": rows}


def verdict(result: dict[str, Any]) -> Verdict:
    every = {row["rule"]: row for row in result["rows"] if row["n"] == "all"}
    headlines = tuple(
        Headline(f"{name}: fits saved, accuracy lost", "-", f"{row['saved']:.0%}, {fixed(row['loss'], 4, sign=True)}")
        for name, row in every.items()
    )
    searches = next(iter(every.values()))["searches"]
    return Verdict("ours", f"{searches} searches of {len(configurations())} configurations on real data.", headlines)


def page(result: dict[str, Any]) -> Iterator[str]:
    yield (
        "Fits that a rule saves; the true accuracy of the winner without dropping minus that with it, mean ± "
        "standard error and worst; how often another configuration wins; and the bias of `bbc` after dropping and "
        "without it."
    )
    yield ""
    rows = []
    for row in result["rows"]:
        loss = fixed(row["loss"], 4, sign=True) + ("" if row["se"] is None else f" ± {row['se']:.4f}")
        shares = (f"{row['saved']:.0%}", loss, f"{row['worst']:.3f}", f"{row['other']:.0%}")
        rows.append(
            (
                row["n"],
                row["rule"],
                row["searches"],
                *shares,
                fixed(row["bias"], 3, sign=True),
                fixed(row["bias_of_all"], 3, sign=True),
            )
        )
    header = (
        "samples",
        "rule",
        "searches",
        "fits saved",
        "accuracy lost",
        "worst",
        "another winner",
        "bias after",
        "bias without",
    )
    yield from table(header, rows)
    yield ""
    yield (
        "Fits are counted, not seconds: the configurations here take about as long as each other. Halving keeps an "
        "eighth, whatever the data say. Hoeffding's bounds hold for any distribution, and are too wide to drop much. "
        "[Dropping](../dropping.md) has larger grids with five folds, and simulations."
    )


def draw(result: dict[str, Any]) -> Any:
    sizes = [str(n) for n in SIZES if any(row["n"] == n for row in result["rows"])]
    panels = []
    for key, title in (("saved", "fits saved"), ("loss", "accuracy lost")):
        lines = {
            name: (sizes, [row[key] for row in result["rows"] if row["rule"] == name and row["n"] != "all"])
            for name in RULES
        }
        panels.append(Panel(title, lines, "samples", title))
    return figure(panels)


STUDY = Study(
    name="racing",
    title="What do rules that drop early save and lose?",
    source="our own comparison of drop rules",
    units=units,
    run=run,
    summarize=summarize,
    page=page,
    verdict=verdict,
    draw=draw,
    cost=cost,
)
