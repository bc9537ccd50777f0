"""
Which value of a parameter?
===========================

Scores on training and held-out samples by the number of neighbours, with the one-standard-error choice.
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.neighbors import KNeighborsClassifier

import outfold as of

X, progression = load_diabetes(return_X_y=True)
y = progression > np.median(progression)

curve = of.curves.validation(
    KNeighborsClassifier(),
    X,
    y,
    "n_neighbors",
    [1, 2, 4, 8, 16, 32, 64, 128],
    simpler="larger",
    plan=of.Plan(folds=5),
    metric="accuracy",
    rng=0,
)
print(curve)
ax = of.plot.validation_curve(curve)
