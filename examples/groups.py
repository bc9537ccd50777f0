"""
What happens if you ignore groups
=================================

Each patient has four nearly equal samples. If they may be on both sides of a split, k-NN recognises the patient.
"""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import outfold as of

rng = np.random.default_rng(0)
patients = np.repeat(np.arange(60), 4)
X = rng.normal(size=(60, 5))[patients] + 0.1 * rng.normal(size=(240, 5))
y = (rng.random(60) < 0.5)[patients]  # nothing to learn
knn = of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 3, 5, 9])
found = {
    "without groups": of.estimate.bbc(of.collect(knn, X, y, of.Plan(folds=5), metric="accuracy", rng=0)),
    "with groups": of.estimate.bbc(of.collect(knn, X, y, of.Plan(folds=5), groups=patients, metric="accuracy", rng=0)),
}
ax = of.plot.optimism(found)
