"""
Algorithms over many data sets
==============================

Friedman's test with Nemenyi's comparisons, and the critical difference diagram. A bar joins algorithms that cannot be told apart.
"""

import numpy as np

import outfold as of

rng = np.random.default_rng(0)
easy = rng.uniform(-0.1, 0.1, (20, 1))  # some data sets are easy for all
scores = easy + rng.normal([0.80, 0.81, 0.84, 0.78, 0.83], 0.02, (20, 5))
ranking = of.rank.nemenyi(scores, algorithms=["bayes", "tree", "forest", "knn", "boosting"], greater_is_better=True)
print(ranking)
ax = of.plot.critical_difference(ranking)
