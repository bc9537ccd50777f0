"""
Choose a threshold, and pay for the choice
==========================================

A tuned threshold looks too good on the samples that tuned it. The corrected shares account for that.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import outfold as of

X, progression = load_diabetes(return_X_y=True)
y = progression > np.median(progression)

logit = make_pipeline(StandardScaler(), LogisticRegression())
knn = make_pipeline(StandardScaler(), KNeighborsClassifier())
configs = of.grid("logit", logit, C=[0.01, 0.1, 1]) | of.grid("knn", knn, n_neighbors=[5, 15, 45])
oof = of.collect(configs, X[:120], y[:120], of.Plan(folds=10), rng=0)
print(of.estimate.at_threshold(oof, threshold="youden"))

# %%
# Sensitivity and specificity for several rules.
fig, ax = plt.subplots(layout="constrained")
rules = ["youden", "f1", "sensitivity=0.9", "specificity=0.9", "cost=5:1"]
for rule in rules:
    found = of.estimate.at_threshold(oof, threshold=rule, n_resamples=300)
    shares = {share.name: share.value for share in found.shares}
    point = (1 - shares["specificity"], shares["sensitivity"])
    ax.plot(*point, "o")
    ax.annotate(rule, point, xytext=(6, -3), textcoords="offset points")
ax.set(xlabel="1 - specificity", ylabel="sensitivity", xlim=(0, 1), ylim=(0, 1))
