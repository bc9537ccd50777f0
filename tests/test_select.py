"""Rules and the confidence set of the best."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import outfold as of
from conftest import make_predictions
from internals import Scoring, kernels_kept
from outfold import compare, select
from outfold.exceptions import InputError


def ladder(scores, n=400, params=None):
    """Configurations with exactly these shares of right answers, spread evenly over the samples."""
    rng = np.random.default_rng(0)
    columns = [rng.permutation(np.arange(n) < round(share * n)) for share in scores]
    P = np.stack(columns, axis=1).astype(float)
    return of.from_arrays(None, P, folds=np.arange(n) % 10, response="pointwise", params=params)


def depths(*values):
    return [{"tree__max_depth": v} for v in values]


def test_within_takes_the_simplest_that_loses_little():
    oof = ladder([0.70, 0.79, 0.80, 0.75], params=depths(1, 3, None, 2))
    assert select.within(0, complexity="max_depth")(oof, "mean").name == "config 2"
    assert select.within(2, complexity="max_depth")(oof, "mean").name == "config 1"
    assert select.within(8, complexity="depth")(oof, "mean").name == "config 3"
    assert select.within(50, complexity="depth")(oof, "mean").name == "config 0"


def test_within_works_for_losses():
    y = np.zeros(40)
    P = np.repeat([[1.0, 1.05, 1.3]], 40, axis=0)
    oof = of.from_arrays(y + 0.0, P, response="value", params=[{"C": 3}, {"C": 2}, {"C": 1}])
    assert select.within(10, complexity="C")(oof, "mae").name == "config 1"
    assert select.within(1, complexity="C")(oof, "mae").name == "config 0"


def test_equally_simple_ones_go_by_score_then_by_order():
    oof = ladder([0.76, 0.78, 0.78, 0.80], params=depths(2, 2, 2, 5))
    assert select.within(10, complexity="max_depth")(oof, "mean").name == "config 1"


def test_complexity_by_mapping_callable_and_alias():
    oof = ladder([0.79, 0.80], params=[{"select__k": 10}, {"select__k": 20}])
    for key in ("n_features", {"config 0": 1, "config 1": 2}, lambda name, params: params["select__k"]):
        assert select.within(5, complexity=key)(oof, "mean").name == "config 0"
    with pytest.raises(InputError, match="there is none for 'config 1'"):
        select.within(5, complexity={"config 0": 1})(oof, "mean")


def test_rules_serve_inside_the_bootstrap():
    oof = ladder([0.70, 0.79, 0.80], params=depths(1, 3, 9))
    result = of.estimate.bbc(oof, "mean", rule=select.within(3, complexity="max_depth"), n_resamples=200)
    assert result.selected == "config 1"
    assert result.rule == "simplest by max_depth within 3 percent of the best pooled mean, of 3 configurations"


def test_tied_set_holds_the_best_and_leaves_out_the_hopeless():
    oof = ladder([0.50, 0.78, 0.80, 0.79, 0.60])
    found = compare.tied_set(oof, "mean")
    assert found.configs[0] == "config 2"
    assert set(found.configs) == {"config 1", "config 2", "config 3"}
    assert found.pvalues[0] > 0.5
    assert np.all(found.pvalues > 0.05)
    wider = compare.tied_set(oof, "mean", confidence_level=0.999999)
    assert set(found.configs) <= set(wider.configs)
    assert "3 of 5 configurations cannot be told from the best" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["configurations"][0]["config"] == "config 2"
    pytest.importorskip("pandas", reason="a frame needs pandas")
    assert found.to_frame()["config"][0] == "config 2"


def test_tied_set_of_equal_columns_and_of_constant_gaps():
    column = np.random.default_rng(0).integers(0, 2, 50).astype(float)
    same = of.from_arrays(None, np.stack([column] * 4, axis=1), response="pointwise")
    assert len(compare.tied_set(same, "mean")) == 4
    # Always exactly 0.1 apart: no resampling can turn the order round.
    apart = of.from_arrays(None, np.stack([column, column + 0.1], axis=1), response="pointwise")
    assert compare.tied_set(apart, "mean").configs == ("config 1",)


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss", "f1"])
def test_tied_set_works_for_any_metric(metric):
    oof = make_predictions(metric, n=80)
    found = compare.tied_set(oof, metric, n_resamples=300)
    assert found.configs[0] == select.best(oof, metric).name
    assert found.n_candidates == 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda o: select.within(5, complexity="typo")(o, "accuracy"), "some configuration has a number; got 'typo'"),
        (lambda o: select.within(-1, complexity="C"), "loss_percent must be 0 or more"),
        (lambda o: select.within("x", complexity="C"), "loss_percent must be 0 or more; got 'x'"),
        (lambda o: select.within(np.nan, complexity="C"), "loss_percent must be 0 or more; got nan"),
        (lambda o: select.within(5, complexity=3), "complexity must be a parameter name, .* got 3"),
        (lambda o: select.one_standard_error(None), "complexity must be a parameter name, .* got None"),
        (
            lambda o: select.one_standard_error(lambda name: 1),
            r"complexity is called with \(name, parameters\); <lambda> takes \(name\)",
        ),
        (
            lambda o: select.one_standard_error(lambda name, params: "low")(o, "accuracy"),
            "a number for each configuration; for 'config 0' it gave 'low'",
        ),
        (
            lambda o: select.within(5, dict.fromkeys(o.configs, "low"))(o, "accuracy"),
            "a number for each configuration; for 'config 0' it gave 'low'",
        ),
        (lambda o: select.as_rule(lambda: 0), r"a selection rule is called with \(candidates\); <lambda> takes \(\)"),
        (lambda o: select.best("x", "accuracy"), "a rule needs Predictions, .* got str"),
        (lambda o: compare.tied_set(o, "accuracy", confidence_level=2), "level must lie between 0 and 1"),
        (
            lambda o: compare.tied_set(o, "accuracy", confidence_level="x"),
            "level must lie between 0 and 1, such as 0.95; got 'x'",
        ),
        (lambda o: compare.tied_set(o, "accuracy", n_resamples=5), "n_resamples"),
        (lambda o: compare.tied_set("x", "accuracy"), "tied_set needs Predictions"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call(make_predictions("accuracy"))


@pytest.mark.parametrize("metric", ["r2", "accuracy", "roc_auc", "mae", "concordance"])
@pytest.mark.parametrize("repeats", [1, 2])
def test_scores_that_are_kept_are_the_same(metric, repeats):
    """Whoever scores while kernels are kept gets the numbers of a scoring of its own, and may change them."""
    oof = make_predictions(metric, n=60, r=repeats)
    cells, pooled, fold = oof.scores(metric), Scoring(oof, metric).scores(), Scoring(oof, metric, "fold").scores()
    with kernels_kept():
        for _ in range(2):
            np.testing.assert_array_equal(oof.scores(metric), cells)
            for aggregate, expected in (("pooled", pooled), ("fold", fold)):
                scoring = Scoring(oof, metric, aggregate)
                found = scoring.scores()
                np.testing.assert_array_equal(found, expected)
                # Kernels add in another order than the sums of folds.
                np.testing.assert_allclose(scoring.scores(scoring.equal_weights()), expected, rtol=1e-14)
                found[:] = 0
                scoring.fold_scores()[:] = 0


def test_ties_are_said_of_the_best_score_where_another_configuration_is_picked():
    right = np.zeros((40, 3))
    right[:30, 0], right[:34, 1], right[:34, 2] = 1, 1, 1
    oof = of.from_arrays(None, right, response="pointwise", params=[{"depth": 1}, {"depth": 2}, {"depth": 3}])
    best, simple = select.best(oof, "mean"), select.within(50, "depth")(oof, "mean")
    assert (best.name, best.has_best, simple.name, simple.has_best) == ("config 1", True, "config 0", False)
    assert str(best).endswith(", 2 tied for first")
    assert str(simple).endswith("; the best score is shared by 2")
    assert "shared" not in str(select.within(50, "depth")(oof.sel(config=[0, 1]), "mean"))


def collected(estimator, **grid):
    X, y = load_iris(return_X_y=True)
    return of.collect(of.grid("m", estimator, grid), X, y, of.Plan(folds=3), rng=0)


def test_a_parameter_of_another_step_is_refused():
    oof = collected(make_pipeline(PCA(), SVC()), svc__C=[0.1, 1, 10])
    names = {select.one_standard_error(name)(oof, "accuracy").name for name in ("svc__C", "C")}
    assert len(names) == 1
    message = "got 'pca__C', and C is a parameter of another step. Give 'svc__C' or 'C'"
    for rule in (select.one_standard_error("pca__C"), select.within(2, "pca__C")):
        with pytest.raises(InputError, match=message):
            rule(oof, "accuracy")


def test_steps_inside_of_others_are_known():
    inner = Pipeline([("scale (a=1, 'b')", StandardScaler()), ("svm", SVC())])
    oof = collected(BaggingClassifier(inner, n_estimators=2), estimator__svm__C=[0.1, 10])
    for name in ("estimator__svm__C", "svm__C", "C"):
        assert select.within(50, name)(oof, "accuracy").name == "m(C=0.1)"
    with pytest.raises(InputError, match="Give 'estimator__svm__C' or 'C'"):
        select.within(50, "estimator__C")(oof, "accuracy")


def test_without_the_text_of_estimators_the_step_is_not_checked():
    oof = of.from_arrays(None, np.eye(4)[:, :2], response="pointwise", params=[{"C": 1}, {"C": 2}])
    assert select.within(50, "svc__C")(oof, "mean").name == "config 0"


def test_a_complexity_that_no_float_can_hold_is_beyond_all_others():
    oof = of.simulate.correctness(40, 3, accuracy=0.7).oof
    for sign, name in ((1, "config 1"), (-1, "config 0")):
        complexity = {"config 0": sign * 10**400, "config 1": 5, "config 2": 6}
        assert select.within(100, complexity=complexity)(oof, "mean").name == name
