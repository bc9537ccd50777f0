"""
A confusion matrix of out-of-fold predictions
=============================================

Handwritten digits: which are mistaken for which?
"""

from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import outfold as of

X, y = load_digits(return_X_y=True)
oof = of.collect({"knn": KNeighborsClassifier(30)}, X, y, of.Plan(folds=5), rng=0)
ax = of.plot.confusion(oof)
