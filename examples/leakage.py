"""
What leakage does to a score
============================

The features are noise. A selection of features before cross-validation makes them look useful; the same selection inside the
pipeline does not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import outfold as of

rng = np.random.default_rng(0)
before, inside = [], []
for _ in range(20):
    X, y = rng.normal(size=(60, 500)), np.arange(60) % 2
    chosen = SelectKBest(k=10).fit_transform(X, y)
    pipeline = make_pipeline(SelectKBest(k=10), LogisticRegression())
    for scores, model, data in ((before, LogisticRegression(), chosen), (inside, pipeline, X)):
        oof = of.collect({"logit": model}, data, y, of.Plan(folds=5), rng=0)
        scores.append(of.estimate.cv(oof, "accuracy").value)

fig, ax = plt.subplots(layout="constrained")
ax.boxplot([before, inside], orientation="horizontal", tick_labels=["selected before", "selected inside"])
ax.axvline(0.5, linestyle="--", color="grey")
ax.set_xlabel("accuracy; the truth is 0.5")
