"""
Several estimates of the same winner
====================================

BBC-CV, nested cross-validation and the correction of Tibshirani and Tibshirani, side by side.
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import outfold as of

X, progression = load_diabetes(return_X_y=True)
y = progression > np.median(progression)

knn = make_pipeline(StandardScaler(), KNeighborsClassifier())
configs = of.grid("knn", knn, n_neighbors=range(1, 41, 2))
oof = of.collect(configs, X[:80], y[:80], of.Plan(folds=10), metric="accuracy", rng=0, inner=True)
ax = of.plot.optimism([of.estimate.bbc(oof), of.estimate.nested(oof), of.estimate.tt(oof)])
