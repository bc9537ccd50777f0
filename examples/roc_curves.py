"""
ROC curves with bands
=====================

The curves use out-of-fold predictions, so they show what new samples would give. The bands are bootstrap intervals.
"""

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
oof = of.collect(configs, X, y, of.Plan(folds=5, repeats=3), rng=0)
ax = of.plot.roc(oof, ["logit(C=0.1)", "knn(n_neighbors=5)"])
