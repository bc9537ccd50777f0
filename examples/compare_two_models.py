"""
Is A better than B?
===================

The difference with its interval comes first, then the test. The dots are folds.
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
oof = of.collect(models, X, y, of.Plan(folds=10, repeats=3), rng=0)
found = of.compare.auto(oof, "accuracy", "logit", "knn")
print(found)
ax = of.plot.difference(oof, "accuracy", "logit", "knn")
