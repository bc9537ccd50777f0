"""
How sure is the choice?
=======================

In each bootstrap draw another configuration may win. If many do, the samples cannot tell them apart.
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
oof = of.collect(configs, X[:80], y[:80], of.Plan(folds=10), metric="accuracy", rng=0)
found = of.estimate.bbc(oof)
ax = of.plot.selection(found, top=12)

# %%
# The tied set holds the truly best configuration with 95% confidence.
tied = of.compare.tied_set(oof)
print(f"{len(tied.configs)} of {len(oof.configs)} configurations cannot be told from the best")
