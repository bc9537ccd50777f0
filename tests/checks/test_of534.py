"""A number of passes chosen on fewer samples."""

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import outfold as of


def collected(name, estimator, **params):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(int)
    return of.collect(of.grid(name, estimator, **params), X, y, 5, progress=False)


def test_fires_on_boosting_rounds(says):
    oof = collected("boost", GradientBoostingClassifier(), n_estimators=[5, 10, 20])
    n = of.select.best(oof, "roc_auc").params["n_estimators"]
    assert says("OF534", oof) == (
        f"n_estimators = {n} was chosen on 64 samples; fitted on all 80, the model may need more."
    )


def test_knows_a_step_s_parameter_by_its_last_part(says, classes):
    params = [{"net__max_epochs": e} for e in (10, 20, 40, 80)]
    oof = classes(params=params, configs=[f"net(max_epochs={e})" for e in (10, 20, 40, 80)])
    assert "net__max_epochs = " in says("OF534", oof)
    assert "was chosen on 80 samples; fitted on all 100" in says("OF534", oof)


def test_silent_on_forests_other_parameters_and_what_was_not_chosen(says, classes):
    assert says("OF534", collected("forest", RandomForestClassifier(), n_estimators=[5, 10])) is None
    assert says("OF534", collected("boost", GradientBoostingClassifier(n_estimators=5), max_depth=[1, 2])) is None
    assert says("OF534", classes(c=2, params=[{"epochs": 10, "lr": 1}, {"epochs": 10, "lr": 2}])) is None
    # What the models of one test set were trained on is not known.
    assert says("OF534", classes(c=2, folds=None, params=[{"epochs": 10}, {"epochs": 20}])) is None
