"""
Replace GridSearchCV
====================

`SelectCV` takes the arguments of `GridSearchCV`, and adds a corrected estimate.
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import outfold as of

X, progression = load_diabetes(return_X_y=True)
y = progression > np.median(progression)

search = of.SelectCV(
    make_pipeline(StandardScaler(), KNeighborsClassifier()),
    {"kneighborsclassifier__n_neighbors": range(1, 41, 2)},
    scoring="roc_auc",
    cv=10,
)
search.fit(X[:150], y[:150])
print(search.best_params_, round(search.best_score_, 3))
print(search.estimate_)

# %%
# The predictions are kept, so pictures need no further fits.
ax = of.plot.roc(search.oof_)
