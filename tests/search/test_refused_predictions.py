"""Scores that refuse some predictions: as in GridSearchCV, such a configuration gets NaN and cannot be selected."""

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from outfold import SelectCV

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = np.exp(1.5 * X[:, 0])
GRID = {"alpha": [0.1, 1e5]}


@pytest.mark.parametrize(
    "scoring", ["neg_mean_squared_log_error", "neg_mean_poisson_deviance", "neg_mean_gamma_deviance"]
)
def test_one_configuration_is_refused(scoring):
    with pytest.warns(UserWarning, match="Scoring failed"):
        theirs = GridSearchCV(Ridge(), GRID, scoring=scoring).fit(X, y)
    with pytest.warns(FitFailedWarning, match="needs predictions above"):
        ours = SelectCV(Ridge(), GRID, scoring=scoring).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-10)
    assert np.isnan(ours.cv_results_["mean_test_score"][0])
    assert ours.best_params_ == theirs.best_params_ == {"alpha": 1e5}
    assert np.isfinite(ours.estimate_.value)


def test_a_second_score_is_refused_alone():
    scoring = {"r2": "r2", "log": "neg_mean_squared_log_error"}
    with pytest.warns(UserWarning, match="Scoring failed"):
        theirs = GridSearchCV(Ridge(), GRID, scoring=scoring, refit="r2").fit(X, y)
    with pytest.warns(UserWarning, match="scores are non-finite"):
        ours = SelectCV(Ridge(), GRID, scoring=scoring, refit="r2", drop=None).fit(X, y)
    for name in ("mean_test_r2", "mean_test_log"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-10)
    assert ours.best_params_ == theirs.best_params_
    assert np.isnan(ours.cv_results_["mean_test_log"]).tolist() == [True, False]
