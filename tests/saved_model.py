"""A small table, a search on it, and the model saved in a folder, as ``outfold run`` leaves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from extras import pd
from outfold.models import EstimateAbout, ModelAbout, ranges_of, save_model
from outfold.tables import Column, Columns, features

COLUMNS = Columns(
    (
        Column("id", "sample"),
        Column("age", "feature", "number"),
        Column("pressure", "feature", "number", missing=0.1),
        Column("site", "feature", "category"),
        Column("same", "constant", reason="the same value in every row"),
        Column("ill", "target"),
    )
)


def table(n: int, seed: int = 0, shift: float = 0.0) -> pd.DataFrame:
    """Rows of patients; illness depends on age and pressure."""
    rng = np.random.default_rng(seed)
    age, pressure = rng.integers(20, 80, n) + shift, rng.normal(120, 15, n)
    odds = (age - shift - 50) / 8 + (pressure - 120) / 15
    ill = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    pressure[rng.random(n) < 0.1] = np.nan
    site = rng.choice(["A", "B", "C"], n)
    return pd.DataFrame(
        {
            "id": [f"p{seed}-{i}" for i in range(n)],
            "age": age,
            "pressure": pressure,
            "site": site,
            "same": 1,
            "ill": ill,
        }
    )


def space() -> of.Configs:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())

    def piped(model: Any) -> Any:
        columns = make_column_transformer(
            (numbers, ["age", "pressure"]), (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["site"])
        )
        return make_pipeline(columns, model)

    logit = of.grid("logit", piped(LogisticRegression()), logisticregression__C=[0.1, 1])
    return logit | of.grid("tree", piped(DecisionTreeClassifier()), decisiontreeclassifier__max_depth=[2])


class Saved(NamedTuple):
    folder: Path
    oof: of.Predictions
    estimator: Any
    about: ModelAbout
    frame: pd.DataFrame


def saved_in(folder: Path, n: int = 120, **about: Any) -> Saved:
    frame = table(n)
    X, y = features(frame, COLUMNS), frame["ill"].to_numpy(dtype=str)
    oof = of.collect(space(), X, y, of.Plan(folds=5), metric="roc_auc", store=folder / "run.oof", progress=False)
    estimator = of.refit(oof, space(), X, y)
    facts: dict[str, Any] = {"estimate": EstimateAbout.of(of.estimate.bbc(oof))}
    made = ModelAbout.of(oof, target="ill", columns=COLUMNS, ranges=ranges_of(X, COLUMNS), **(facts | about))
    save_model(folder, estimator, made)
    return Saved(folder, oof, estimator, made, frame)
