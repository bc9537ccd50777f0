"""
Which difference would the test find?
=====================================

A test that finds nothing may have had no chance. The curve shows how often it finds a difference of each size.
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

models = {
    "logit": make_pipeline(StandardScaler(), LogisticRegression()),
    "knn": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
}
oof = of.collect(models, X, y, of.Plan(folds=10), rng=0)
sizes = np.linspace(0, 0.1, 6)
powers = [of.compare.power(oof, "accuracy", "logit", "knn", sizes, n=n, n_simulations=200) for n in (200, 442, 1000)]
ax = of.plot.power(powers)
