"""
Compare many pairs
==================

All pairs of five models on one data set, with p values adjusted for the number of pairs.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import outfold as of

X, y = load_breast_cancer(return_X_y=True)
models = {
    "logit": make_pipeline(StandardScaler(), LogisticRegression()),
    "knn": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(),
    "stump": DecisionTreeClassifier(max_depth=1),
}
oof = of.collect(models, X, y, of.Plan(folds=10, repeats=2), rng=0)
pairs = of.compare.pairs(oof, "accuracy")
print(pairs)
ax = of.plot.pairwise(pairs)
