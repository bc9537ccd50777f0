"""
Drop hopeless configurations early
==================================

One row for each configuration, one column for each fold. Dark cells were not fitted.
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
configs = of.grid("knn", knn, n_neighbors=range(1, 41), weights=["uniform", "distance"])
oof = of.collect(configs, X, y, of.Plan(folds=10), metric="accuracy", rng=0, drop=True)
ax = of.plot.cells(oof)
