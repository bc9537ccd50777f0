"""
Would more data help?
=====================

Scores on training and held-out samples by the number of training samples.
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
curve = of.curves.learning(models, X, y, plan=of.Plan(folds=5, repeats=2), metric="accuracy", rng=0)
ax = of.plot.learning_curve(curve)
