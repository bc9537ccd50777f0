"""A model in words: what it is, what it sees, and what comes before it."""

import numpy as np
import pytest

from outfold.learners import describe, spaces
from table_frames import KINDS, everything, mixed


def test_the_columns_are_counted_with_their_treatment():
    X = everything()
    model = spaces.make_space("small", X, None, "classification", KINDS)["logit(C=0.1)"]
    assert describe(model, KINDS) == (
        "Logistic regression with an L2 penalty (C = 0.1) on 2 numbers and 1 yes-or-no column (missing ones replaced by the "
        "median, with an indicator), 1 category (one column for each level, levels in fewer than 2 rows together), 1 date "
        "(parts of each date, and days since the first one) and 1 text (tf-idf of up to 5,000 words). "
        "Numbers are scaled to mean 0 and standard deviation 1."
    )
    assert describe(model).startswith("Logistic regression with an L2 penalty (C = 0.1) on 3 numbers (missing")


@pytest.mark.parametrize(
    ("name", "begins", "ends"),
    [
        (
            "svm(C=1, gamma='scale')",
            "Support vector machine (Gaussian kernel, C = 1, gamma = scale) on 4",
            "probabilities.",
        ),
        (
            "knn(p=1, n_neighbors=5, weights='distance')",
            "Vote of the nearest neighbours (5 of them, inverse",
            "deviation 1.",
        ),
        (
            "net(l1_ratio=0.5, C=0.1)",
            "Logistic regression with an elastic net of L1 share 0.5 (C = 0.1) on",
            "deviation 1.",
        ),
        ("net(l1_ratio=1, C=0.1)", "Logistic regression with an L1 penalty (C = 0.1) on 4 numbers.", "deviation 1."),
        ("tree(max_depth=None, min_samples_leaf=5)", "Decision tree (at least 5 in a leaf) on 4 numbers.", "numbers."),
        (
            "forest(class_weight='balanced_subsample', min_samples_leaf=1)",
            "Random forest (100 trees, as many columns as the square root of their number at each split, at least 1 in a "
            "leaf), with classes of equal weight on 4 numbers.",
            "numbers.",
        ),
        (
            "boost(max_features=0.3, learning_rate=0.1, max_leaf_nodes=4, max_iter=30)",
            "Gradient boosting of histograms (30 rounds, learning rate 0.1, trees of at most 4 leaves, max_features = 0.3) on",
            "numbers.",
        ),
        (
            "pca(share=0.9) logit(C=0.3)",
            "Logistic regression",
            "components that have 90% of the variance replace the columns.",
        ),
        ("univariate(alpha=0.01) logit(C=0.1)", "Logistic", "a test of each column at level 0.01 selects the columns."),
        (
            "ses(alpha=0.05, k=2) logit(C=0.1)",
            "Logistic",
            "SES at level 0.05 with sets of at most 2 selects the columns.",
        ),
        ("ranks logit(C=0.1)", "Logistic", "ranks between 0 and 1 replace the values."),
    ],
)
def test_models_and_what_comes_before_them(name, begins, ends):
    text = describe(spaces.make_space("thorough", np.zeros((100, 4)), np.arange(100) % 2, "classification")[name])
    assert text.startswith(begins)
    assert text.endswith(ends)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_configuration_has_words(task):
    X = everything()
    texts = {n: describe(c, KINDS) for n, c in spaces.make_space("thorough", X, None, task, KINDS).items()}
    assert not [n for n, text in texts.items() if "Classifier" in text or "Regressor" in text or "()" in text]
    # Two configurations are never described by the same words.
    assert len(set(texts.values())) == len(texts)


def test_the_papers_spaces_have_words_too():
    configs = spaces.tsamardinos2015(mixed())
    assert describe(configs["logit"]).startswith("Logistic regression without a penalty on 3 numbers")
    text = describe(configs["svm(kernel='poly', degree=2, gamma=1, C=1)"])
    assert text.startswith("Support vector machine (polynomial kernel, C = 1, gamma = 1, degree = 2) on")


def test_another_estimator_is_named_with_its_parameters():
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    assert describe(MLPClassifier(alpha=0.5)) == "MLPClassifier(alpha=0.5)."
    assert describe(make_pipeline(StandardScaler(), MLPClassifier(alpha=0.5))).startswith("MLPClassifier(alpha=0.5).")


def test_a_fitted_model_is_described_as_before():
    X = mixed()
    model = spaces.classification(X)["tree(max_depth=2, min_samples_leaf=1)"]
    before = describe(model)
    assert describe(model.fit(X, np.arange(len(X)) % 2)) == before
