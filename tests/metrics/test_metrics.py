"""Metrics by name, function and scorer: what is found, what it computes, what errors say."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import sklearn.metrics as skm
from sklearn.base import BaseEstimator

from internals import Target, midranks
from outfold import from_arrays, metrics
from outfold.exceptions import InputError, NeedError

RNG = np.random.default_rng(0)
N = 40
YES_NO = Target("binary", np.array([0, 1] * 20), np.array(["no", "yes"]))
THREE = Target("multiclass", np.arange(N) % 3, np.array(["a", "b", "c"]))
VALUES = Target("regression", RNG.normal(size=N) + 3)
TIMES = Target("survival", RNG.exponential(size=N), event=RNG.random(N) < 0.7)
GIVEN = Target("pointwise", np.zeros(N))
COUNTS = RNG.integers(0, 3, (5, N)).astype(np.uint8)
CODES = RNG.integers(0, 2, (3, N))
CODES3 = RNG.integers(0, 3, (3, N))
PROBA = RNG.random((3, N))
PROBA3 = RNG.dirichlet(np.ones(3), (3, N))
REAL = RNG.normal(size=(3, N)) + 3


def scores(metric, target, predictions, weights=COUNTS):
    return metric.kernel(target, predictions).scores(weights)


@pytest.mark.parametrize("name", metrics.names())
def test_only_the_order_counts_for_some_metrics(name):
    metric = metrics.get(name)
    targets = {"binary": YES_NO, "multiclass": THREE, "survival": TIMES}
    known = [(targets[task], PROBA3 if task == "multiclass" else PROBA) for task in metric.tasks if task in targets]
    assert metric.ranks_only == (metric.needs in ("score", "risk") and not metric.pointwise)
    for target, predictions in known if metric.ranks_only else ():
        np.testing.assert_array_equal(
            scores(metric, target, midranks(predictions)), scores(metric, target, predictions)
        )


# ------------------------------------------------------------------------------- reference paths

DIRECT = [
    ("accuracy", YES_NO, CODES[0], skm.accuracy_score(YES_NO.y, CODES[0])),
    ("balanced_accuracy", THREE, CODES3[0], skm.balanced_accuracy_score(THREE.y, CODES3[0])),
    ("error", THREE, CODES3[0], 1 - skm.accuracy_score(THREE.y, CODES3[0])),
    ("f1", YES_NO, CODES[0], skm.f1_score(YES_NO.labels, YES_NO.classes[CODES[0]], pos_label="yes")),
    ("f1_macro", THREE, CODES3[0], skm.f1_score(THREE.y, CODES3[0], average="macro")),
    ("precision", YES_NO, CODES[0], skm.precision_score(YES_NO.y, CODES[0])),
    ("recall", YES_NO, CODES[0], skm.recall_score(YES_NO.y, CODES[0])),
    ("specificity", YES_NO, CODES[0], skm.confusion_matrix(YES_NO.y, CODES[0], normalize="true")[0, 0]),
    ("f0.5", YES_NO, CODES[0], skm.fbeta_score(YES_NO.y, CODES[0], beta=0.5)),
    ("f2", YES_NO, CODES[0], skm.fbeta_score(YES_NO.y, CODES[0], beta=2)),
    ("f1.7", YES_NO, CODES[0], skm.fbeta_score(YES_NO.y, CODES[0], beta=1.7)),
    ("f3_weighted", THREE, CODES3[0], skm.fbeta_score(THREE.y, CODES3[0], beta=3, average="weighted")),
    ("jaccard", YES_NO, CODES[0], skm.jaccard_score(YES_NO.y, CODES[0])),
    ("jaccard_micro", THREE, CODES3[0], skm.jaccard_score(THREE.y, CODES3[0], average="micro")),
    ("precision_weighted", THREE, CODES3[0], skm.precision_score(THREE.y, CODES3[0], average="weighted")),
    ("recall_macro", THREE, CODES3[0], skm.recall_score(THREE.y, CODES3[0], average="macro")),
    ("mcc", THREE, CODES3[0], skm.matthews_corrcoef(THREE.y, CODES3[0])),
    ("cohen_kappa", THREE, CODES3[0], skm.cohen_kappa_score(THREE.y, CODES3[0])),
    ("top_k_accuracy", THREE, PROBA3[0], skm.top_k_accuracy_score(THREE.y, PROBA3[0], k=2)),
    ("d2_log_loss_score", YES_NO, PROBA[0], skm.d2_log_loss_score(YES_NO.y, PROBA[0])),
    ("mape", VALUES, REAL[0], skm.mean_absolute_percentage_error(VALUES.y, REAL[0])),
    ("median_absolute_error", VALUES, REAL[0], np.median(np.abs(VALUES.y - REAL[0]))),
    ("max_error", VALUES, REAL[0], np.abs(VALUES.y - REAL[0]).max()),
    ("explained_variance", VALUES, REAL[0], 1 - np.var(VALUES.y - REAL[0]) / np.var(VALUES.y)),
    ("roc_auc", YES_NO, PROBA[0], skm.roc_auc_score(YES_NO.labels, PROBA[0])),
    ("roc_auc_ovr", THREE, PROBA3[0], skm.roc_auc_score(THREE.y, PROBA3[0], multi_class="ovr")),
    ("roc_auc_ovo", THREE, PROBA3[0], skm.roc_auc_score(THREE.y, PROBA3[0], multi_class="ovo")),
    ("average_precision", YES_NO, PROBA[0], skm.average_precision_score(YES_NO.y, PROBA[0])),
    ("log_loss", YES_NO, PROBA[0], skm.log_loss(YES_NO.labels, PROBA[0])),
    ("log_loss", THREE, PROBA3[0], skm.log_loss(THREE.y, PROBA3[0])),
    ("brier", YES_NO, PROBA[0], skm.brier_score_loss(YES_NO.y, PROBA[0])),
    ("brier", THREE, PROBA3[0], skm.brier_score_loss(THREE.y, PROBA3[0])),
    ("mse", VALUES, REAL[0], skm.mean_squared_error(VALUES.y, REAL[0])),
    ("rmse", VALUES, REAL[0], skm.mean_squared_error(VALUES.y, REAL[0]) ** 0.5),
    ("mae", VALUES, REAL[0], skm.mean_absolute_error(VALUES.y, REAL[0])),
    ("r2", VALUES, REAL[0], skm.r2_score(VALUES.y, REAL[0])),
    ("mean", GIVEN, REAL[0], REAL[0].mean()),
]


@pytest.mark.parametrize(("name", "target", "prediction", "expected"), DIRECT)
def test_reference_and_kernel_are_scikit_learn(name, target, prediction, expected):
    metric = metrics.get(name, target.task)
    assert metric.reference(target, prediction) == pytest.approx(expected, rel=1e-13)
    ones = np.ones((1, N), dtype=np.uint8)
    assert scores(metric, target, prediction[None], ones)[0, 0] == pytest.approx(expected, rel=1e-12)


def test_log_loss_clips_certainty_as_scikit_learn_does():
    proba = np.where(np.arange(N) % 4 == 0, 1.0, 0.0)
    expected = skm.log_loss(YES_NO.y, proba)
    assert np.isfinite(expected)
    value = scores(metrics.get("log_loss"), YES_NO, proba[None], np.ones((1, N), int))
    assert value[0, 0] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("name", metrics.names())
def test_pointwise_values_average_to_the_metric(name):
    metric = metrics.get(name)
    multiclass = metric.tasks == {"multiclass"}
    target, predictions = {
        "label": (YES_NO, CODES),
        "score": (THREE, PROBA3) if multiclass else (YES_NO, PROBA),
        "proba": (YES_NO, PROBA),
        "value": (VALUES, REAL),
        "risk": (TIMES, REAL),
        "losses": (TIMES, REAL),  # what curves lose, one number for each sample
        "pointwise": (GIVEN, REAL),
    }[metric.needs]
    assert metric.pointwise == (metric.values is not None)
    if metric.values is not None:
        values = metric.values(target, predictions)
        mean = (COUNTS.astype(int) @ values.T) / COUNTS.sum(axis=1, dtype=int)[:, None]
        np.testing.assert_allclose(scores(metric, target, predictions), mean, rtol=1e-12)
    if name in ("accuracy", "error"):
        assert values.dtype.kind == "i"


# ------------------------------------------------------------------------------- names


def test_names():
    assert metrics.names() == [
        "accuracy", "balanced_accuracy", "error", "precision", "recall", "specificity", "f1", "f0.5", "f2", "jaccard",
        "precision_macro", "recall_macro", "f1_macro", "jaccard_macro", "precision_weighted", "f1_weighted",
        "jaccard_weighted", "jaccard_micro", "mcc", "cohen_kappa", "roc_auc", "roc_auc_ovr", "roc_auc_ovr_weighted",
        "roc_auc_ovo", "roc_auc_ovo_weighted", "average_precision", "top_k_accuracy", "log_loss", "brier",
        "d2_log_loss_score", "d2_brier_score", "mse", "rmse", "mae", "mape", "median_absolute_error", "max_error",
        "msle", "rmsle", "poisson_deviance", "gamma_deviance", "r2", "explained_variance", "d2_absolute_error_score",
        "concordance", "integrated_brier", "mean",
    ]  # fmt: skip
    for name in metrics.names():
        metric = metrics.get(name)
        assert metric.name == name
        assert metric.description
        assert metric.sign == (1 if metric.greater_is_better else -1)
        assert metrics.get(metric) is metric


def test_lower_is_better_for_losses():
    losses = [name for name in metrics.names() if not metrics.get(name).greater_is_better]
    assert losses == [
        "error", "log_loss", "brier", "mse", "rmse", "mae", "mape", "median_absolute_error", "max_error", "msle", "rmsle",
        "poisson_deviance", "gamma_deviance", "integrated_brier",
    ]  # fmt: skip


def test_roc_auc_follows_the_task():
    assert metrics.get("roc_auc", "multiclass").name == "roc_auc_ovr"
    assert metrics.get("roc_auc", "binary").name == "roc_auc"
    assert metrics.get("roc_auc_ovo", "binary").name == "roc_auc"


def test_unknown_name():
    with pytest.raises(InputError, match=r"did you mean 'accuracy'\?"):
        metrics.get("acc")
    with pytest.raises(
        InputError, match=r"unknown metric 'rocauc'; did you mean 'roc_auc' or .*\? Use one of accuracy, "
    ):
        metrics.get("rocauc")
    with pytest.raises(InputError, match=r"unknown metric 'xyzzy'\. Use one of accuracy, .*, mean, or a name"):
        metrics.get("xyzzy")


def test_wrong_task():
    with pytest.raises(InputError, match=r"f1 is of one positive class; this task is multiclass. Use f1_macro"):
        metrics.get("f1", "multiclass")
    with pytest.raises(
        InputError, match=r"accuracy is for binary or multiclass tasks; this task is regression. Use one of mse"
    ):
        metrics.get("accuracy", "regression")
    with pytest.raises(InputError, match=r"f2 is of one positive class; .* Use f2_macro"):
        metrics.get("f2", "multiclass")
    with pytest.raises(
        InputError, match=r"specificity is for binary tasks; this task is multiclass. Use one of accuracy"
    ):
        metrics.get("specificity", "multiclass")
    with pytest.raises(InputError, match="is for regression"):
        metrics.get("neg_max_error", "binary")


@pytest.mark.parametrize("metric", [3, None])
def test_not_a_metric(metric):
    with pytest.raises(InputError, match="metric must be a name, a function"):
        metrics.get(metric)


# ------------------------------------------------------------------------------- scikit-learn scorers

SCORED = [
    (Target("binary", YES_NO.y, np.array([0, 1])), CODES, PROBA),
    (THREE, CODES3, PROBA3),
    (VALUES, REAL, None),
    (Target("regression", np.exp(VALUES.y)), np.exp(REAL), None),
]


class Fixed(BaseEstimator):
    """A fitted estimator that predicts what it is told, for scikit-learn's own scorers."""

    def __init__(self, target, labels, proba):
        self.kind = "regressor" if target.classes is None else "classifier"
        if target.classes is not None:
            self.classes_ = target.classes
        self._answers = {"predict": labels, "predict_proba": proba}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = self.kind
        return tags

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self._answers["predict"]

    def predict_proba(self, X):
        return self._answers["predict_proba"]


def scorer_value(name, target, predictions, proba, w):
    """The scorer called as scikit-learn calls it, on repeated rows."""
    rows = np.repeat(np.arange(N), w)
    labels = predictions if target.classes is None else target.classes[predictions]
    if proba is not None and proba.ndim == 1:
        proba = np.column_stack([1 - proba, proba])
    model = Fixed(target, labels[rows], None if proba is None else proba[rows])
    # scikit-learn has this scorer since 1.8, its function longer.
    d2 = name == "d2_log_loss_score" and name not in skm.get_scorer_names()
    scorer = skm.make_scorer(skm.d2_log_loss_score, response_method="predict_proba") if d2 else skm.get_scorer(name)
    return scorer(model, np.zeros((len(rows), 1)), target.labels[rows])


SCORERS = [
    ("neg_log_loss", 0), ("neg_log_loss", 1), ("neg_brier_score", 0), ("neg_brier_score", 1), ("matthews_corrcoef", 1),
    ("neg_mean_squared_error", 2), ("neg_root_mean_squared_error", 2), ("neg_mean_absolute_error", 2), ("r2", 2),
    ("roc_auc", 0), ("roc_auc_ovr", 1), ("roc_auc_ovo", 1), ("average_precision", 0), ("f1_macro", 1),
    ("f1_weighted", 1), ("precision_macro", 1), ("top_k_accuracy", 1), ("d2_log_loss_score", 1),
    ("roc_auc_ovr_weighted", 1), ("roc_auc_ovo_weighted", 1), ("roc_auc_ovr_weighted", 0), ("adjusted_rand_score", 1),
    ("neg_max_error", 2), ("neg_median_absolute_error", 2), ("explained_variance", 2), ("d2_absolute_error_score", 2),
    ("precision", 0), ("recall", 0), ("f1", 0), ("jaccard", 0), ("precision_micro", 1), ("recall_micro", 1),
    ("recall_weighted", 1), ("f1_micro", 0), ("f1_micro", 1), ("jaccard_micro", 1), ("jaccard_weighted", 1),
    ("recall_macro", 1), ("d2_log_loss_score", 0), ("positive_likelihood_ratio", 0),
    ("neg_mean_absolute_percentage_error", 2), ("neg_mean_squared_log_error", 3),
    ("neg_root_mean_squared_log_error", 3), ("neg_mean_poisson_deviance", 3), ("neg_mean_gamma_deviance", 3),
]  # fmt: skip


@pytest.mark.parametrize(("name", "which"), SCORERS)
def test_scorer_names(name, which):
    target, predictions, proba = SCORED[which]
    metric = metrics.get(name, target.task)
    assert metric.greater_is_better
    given = proba if metric.needs in ("score", "proba") else predictions
    expected = [
        [scorer_value(name, target, predictions[j], None if proba is None else proba[j], w) for j in range(3)]
        for w in COUNTS
    ]
    kernel = metric.kernel(target, given)
    np.testing.assert_allclose(kernel.scores(COUNTS), expected, rtol=1e-9, atol=1e-12)
    chosen = np.array([0, 1, 2, 1, 0])
    np.testing.assert_allclose(kernel.paired(COUNTS, chosen), np.array(expected)[np.arange(5), chosen], rtol=1e-9)
    assert metric.reference(target, given[1], COUNTS[2]) == pytest.approx(expected[2][1], rel=1e-9)


def test_negated_metric_is_whole():
    metric = metrics.get("neg_mean_squared_error", "regression")
    loss = metrics.get("mse")
    assert (metric.name, metric.greater_is_better, metric.bounds) == ("neg_mean_squared_error", True, (-np.inf, 0))
    np.testing.assert_array_equal(metric.values(VALUES, REAL), -loss.values(VALUES, REAL))
    np.testing.assert_array_equal(scores(metric, VALUES, REAL), -scores(loss, VALUES, REAL))


def test_scorer_object_keeps_its_options():
    scorer = skm.make_scorer(skm.fbeta_score, beta=2)
    metric = metrics.get(scorer, "binary")
    assert (metric.name, metric.needs, metric.greater_is_better) == ("f2", "label", True)
    expected = skm.fbeta_score(YES_NO.y, CODES[1], beta=2, sample_weight=COUNTS[3])
    assert scores(metric, YES_NO, CODES)[3, 1] == pytest.approx(expected, rel=1e-12)


def test_scorer_object_keeps_its_sign_and_response():
    metric = metrics.get(skm.make_scorer(skm.log_loss, greater_is_better=False, response_method="predict_proba"))
    assert (metric.needs, metric.greater_is_better) == ("proba", True)
    np.testing.assert_allclose(scores(metric, YES_NO, PROBA), -scores(metrics.get("log_loss"), YES_NO, PROBA))
    margin = skm.make_scorer(skm.roc_auc_score, response_method=("decision_function", "predict_proba"))
    assert metrics.get(margin).needs == "score"


FAST_SCORERS = [
    name for name in skm.get_scorer_names() if not metrics.get(name).looped and not name.endswith("_samples")
]
LOOPED_SCORERS = {
    "adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score",
    "homogeneity_score", "mutual_info_score", "normalized_mutual_info_score", "rand_score", "v_measure_score",
    "neg_negative_likelihood_ratio", "positive_likelihood_ratio",
}  # fmt: skip


def test_scorers_are_fast_but_for_the_documented_ones():
    several = {name for name in skm.get_scorer_names() if name.endswith("_samples")}
    assert set(skm.get_scorer_names()) - set(FAST_SCORERS) - several == LOOPED_SCORERS


@pytest.mark.parametrize("name", FAST_SCORERS)
def test_scorer_object_is_the_metric_of_its_name(name):
    by_name, by_object = metrics.get(name), metrics.get(skm.get_scorer(name))
    assert (by_object.name, by_object.greater_is_better) == (by_name.name, True)
    assert not by_object.looped


@pytest.mark.parametrize(
    ("function", "options", "name"),
    [
        (skm.f1_score, {}, "f1"),
        (skm.precision_score, {"zero_division": 0}, "precision"),
        (skm.precision_score, {"average": "macro", "zero_division": 0.0}, "precision_macro"),
        (skm.recall_score, {"average": "micro"}, "accuracy"),
        (skm.fbeta_score, {"beta": 0.5}, "f0.5"),
        (skm.fbeta_score, {"beta": 1}, "f1"),
        (skm.fbeta_score, {"beta": 3, "average": "weighted"}, "f3_weighted"),
        (skm.roc_auc_score, {"multi_class": "ovo"}, "roc_auc_ovo"),
        (skm.cohen_kappa_score, {}, "cohen_kappa"),
        (skm.mean_absolute_percentage_error, {}, "mape"),
        (skm.hamming_loss, {}, "error"),
        (skm.log_loss, {}, "log_loss"),
    ],
)
def test_functions_of_scikit_learn_are_built_in(function, options, name):
    found = metrics.get(partial(function, **options))
    assert (found.name, found.looped) == (name, False)
    assert found.greater_is_better == metrics.get(name).greater_is_better


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (skm.precision_score, {"zero_division": 1}),
        (skm.precision_score, {"zero_division": np.nan}),
        (skm.f1_score, {"labels": [0, 1], "average": "macro"}),
        (skm.fbeta_score, {"beta": 0}),
        (skm.fbeta_score, {"beta": 2, "average": "micro"}),
        (skm.balanced_accuracy_score, {"adjusted": True}),
        (skm.accuracy_score, {"normalize": False}),
        (skm.cohen_kappa_score, {"weights": "linear"}),
        (skm.top_k_accuracy_score, {"k": 3}),
        (skm.average_precision_score, {"pos_label": 0}),
        (skm.mean_pinball_loss, {}),
    ],
)
def test_other_options_are_no_built_in_metric(function, options):
    assert metrics.get(partial(function, **options)).looped
    assert metrics.get(skm.make_scorer(function, **options)).looped


def test_a_function_of_the_same_name_is_no_built_in_metric():
    def f1_score(y, prediction):
        return 0.25

    assert metrics.get(f1_score).looped
    assert scores(metrics.get(f1_score, "binary"), YES_NO, CODES)[0, 0] == 0.25


def test_wrong_sign_or_response_is_no_built_in_metric():
    assert metrics.get(skm.make_scorer(skm.mean_squared_error)).looped  # maximises the error, as asked
    assert metrics.get(skm.make_scorer(skm.f1_score, greater_is_better=False)).looped
    of_labels = metrics.get(skm.make_scorer(skm.roc_auc_score), "binary")
    assert (of_labels.needs, of_labels.looped) == ("label", True)


def test_area_of_a_scorer_of_probabilities_needs_probabilities():
    scorer = skm.make_scorer(skm.roc_auc_score, response_method="predict_proba")
    metric = metrics.get(scorer, "binary")
    assert (metric.name, metric.needs, metric.looped) == ("roc_auc", "proba", False)
    np.testing.assert_array_equal(scores(metric, YES_NO, PROBA), scores(metrics.get("roc_auc"), YES_NO, PROBA))


def test_a_regression_function_on_classes_is_called_as_it_is():
    metric = metrics.get(skm.mean_squared_error, "binary")
    assert metric.looped
    np.testing.assert_allclose(
        scores(metric, Target("binary", YES_NO.y, np.array([0, 1])), PROBA),
        scores(metrics.get("brier"), YES_NO, PROBA), rtol=1e-12,
    )  # fmt: skip


ONE_CLASS = [
    (skm.f1_score, {}), (skm.precision_score, {}), (skm.recall_score, {}), (skm.jaccard_score, {}),
    (skm.fbeta_score, {"beta": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("function", "options"), ONE_CLASS)
@pytest.mark.parametrize("label", ["no", "yes"])
def test_scorer_names_its_positive_class(function, options, label):
    metric = metrics.get(skm.make_scorer(function, pos_label=label, **options), "binary")
    assert not metric.looped
    assert metric.name.endswith(f"(pos_label={label!r})")
    expected = [
        [
            function(YES_NO.labels, YES_NO.classes[p], pos_label=label, sample_weight=w, zero_division=0, **options)
            for p in CODES
        ]
        for w in COUNTS
    ]
    np.testing.assert_allclose(scores(metric, YES_NO, CODES), expected, rtol=1e-12)
    assert metric.reference(YES_NO, CODES[2], COUNTS[1]) == pytest.approx(expected[1][2], rel=1e-12)
    only_other = (YES_NO.labels != label).astype(np.uint8)[None]
    assert np.isnan(scores(metric, YES_NO, CODES, only_other)).all()


def test_positive_class_of_a_scorer_must_be_one():
    metric = metrics.get(skm.make_scorer(skm.f1_score, pos_label="maybe"), "binary")
    with pytest.raises(InputError, match=r"pos_label of f1 must be one of the classes 'no' and 'yes'; got 'maybe'"):
        scores(metric, YES_NO, CODES)


@pytest.mark.parametrize(
    ("name", "y", "p", "message"),
    [
        ("msle", [-1.0, 2.0], [0.0, 0.0], r"needs labels above -1; the smallest is -1"),
        ("rmsle", [1.0, 2.0], [0.0, -3.0], r"needs predictions above -1; the smallest is -3"),
        ("poisson_deviance", [-1.0, 2.0], [1.0, 1.0], r"needs labels of at least 0; the smallest is -1"),
        ("poisson_deviance", [0.0, 2.0], [0.0, 1.0], r"needs predictions above 0; the smallest is 0"),
        ("neg_mean_gamma_deviance", [0.0, 2.0], [1.0, 1.0], r"needs labels above 0; the smallest is 0"),
    ],
)
def test_values_outside_the_range_of_a_loss(name, y, p, message):
    with pytest.raises(InputError, match=message):
        metrics.get(name).kernel(Target("regression", np.array(y)), np.array([p]))


def test_poisson_deviance_of_no_events():
    target, p = Target("regression", np.array([0.0, 3.0, 0.0])), np.array([0.5, 2.0, 1.0])
    value = scores(metrics.get("poisson_deviance"), target, p[None], np.ones((1, 3), int))[0, 0]
    assert value == pytest.approx(skm.mean_poisson_deviance(target.y, p), rel=1e-14)


def test_scorer_response_follows_the_task():
    scorer = skm.make_scorer(lambda y, prediction: 0.0)
    assert metrics.get(scorer).needs == "predict"
    assert metrics.get(scorer, "multiclass").needs == "label"
    assert metrics.get(scorer, "regression").needs == "value"
    assert metrics.get("neg_max_error").needs == "value"
    assert metrics.get("precision").needs == "label"


def test_positive_class_of_a_scorer_is_the_second():
    """scikit-learn's own precision scorer fails on labels that are not 0 and 1."""
    metric = metrics.get("precision", "binary")
    expected = skm.precision_score(YES_NO.y, CODES[0], sample_weight=COUNTS[1])
    assert scores(metric, YES_NO, CODES)[1, 0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["roc_auc_ovr_weighted", "roc_auc_ovo_weighted"])
def test_one_class_in_a_scorer_is_nan(name):
    weights = np.array([THREE.y == 2, np.ones(N)], dtype=np.uint8)
    undefined, defined = scores(metrics.get(name, "multiclass"), THREE, PROBA3, weights)
    assert np.isnan(undefined).all()
    assert np.isfinite(defined).all()


# ------------------------------------------------------------------------------- functions


def test_function_sees_labels_and_repeated_rows():
    def share_yes(y, prediction):
        assert set(y) <= {"no", "yes"}
        assert set(prediction) <= {"no", "yes"}
        return np.mean((y == "yes") & (prediction == "yes"))

    metric = metrics.get(share_yes, "binary")
    assert (metric.name, metric.needs, metric.greater_is_better) == ("share_yes", "predict", True)
    both = (CODES == 1) & (YES_NO.y == 1)
    expected = (COUNTS.astype(int) @ both.T) / COUNTS.sum(axis=1, dtype=int)[:, None]
    np.testing.assert_allclose(scores(metric, YES_NO, CODES), expected, rtol=1e-12)


def test_function_with_sample_weight_gets_counts():
    seen = []

    def weighted(y, prediction, sample_weight=None):
        seen.append(sample_weight)
        return np.average(np.abs(y - prediction), weights=sample_weight)

    metric = metrics.make(weighted, name="gap", greater_is_better=False, needs="value")
    assert (metric.name, metric.sign, metric.needs) == ("gap", -1, "value")
    np.testing.assert_allclose(scores(metric, VALUES, REAL), scores(metrics.get("mae"), VALUES, REAL))
    assert seen[0].dtype == np.float64
    assert all((w > 0).all() for w in seen)


def test_function_of_probabilities_and_survival():
    def top(y, prediction):
        return prediction.sum() + len(y)

    metric = metrics.make(top)
    one = np.ones((1, N), dtype=np.uint8)
    assert scores(metric, THREE, PROBA3, one)[0, 0] == pytest.approx(2 * N)
    assert scores(metric, TIMES, REAL, one)[0, 1] == pytest.approx(REAL[1].sum() + N)


def test_plain_function_of_a_classification_gets_labels():
    y = ["no", "no", "yes", "yes"]
    proba = from_arrays(y, [0.1, 0.6, 0.7, 0.2], response="proba")

    def hits(y, predicted):
        return np.mean(y == predicted)

    for metric in (hits, metrics.get(hits), metrics.make(hits), skm.make_scorer(hits)):
        assert proba.scores(metric)[0, 0, 0] == 0.5
    assert from_arrays([1.0, 2.5], [1.0, 2.0]).scores(hits)[0, 0, 0] == 0.5
    scored = from_arrays(y, [-1, 1, 2, 3], response="score")
    problem = r"hits needs class labels; these predictions are scores\. Use .* or metrics\.make\(f, needs='score'\)"
    with pytest.raises(NeedError, match=problem):
        scored.scores(hits)
    assert scored.scores(metrics.make(lambda y, p: p.mean(), needs="score"))[0, 0, 0] == 1.25


@pytest.mark.parametrize(
    ("function", "needs"),
    [
        (lambda y, p: 0.0, "predict"),
        (lambda y, y_proba: 0.0, "proba"),
        (lambda y_true, probabilities, sample_weight=None: 0.0, "proba"),
        (lambda y, y_score: 0.0, "score"),
        (lambda *both: 0.0, "predict"),
        (skm.hinge_loss, "score"),
        (partial(skm.log_loss, normalize=False), "proba"),
        (partial(skm.roc_auc_score, max_fpr=0.1), "score"),
        (partial(skm.fbeta_score, beta=np.array(2)), "label"),
    ],
)
def test_function_says_by_its_parameter_what_it_needs(function, needs):
    assert metrics.get(function, "binary").needs == needs


def test_scikit_learn_functions_know_their_direction():
    assert not metrics.get(skm.hamming_loss).greater_is_better
    assert metrics.get(skm.f1_score).greater_is_better
    value = scores(metrics.get(skm.f1_score, "binary"), YES_NO, CODES)
    np.testing.assert_allclose(value, scores(metrics.get("f1"), YES_NO, CODES), rtol=1e-12)


def test_equal_columns_are_called_once():
    calls = []
    metric = metrics.make(lambda y, prediction: calls.append(1) or 0.5, name="half")
    scores(metric, YES_NO, CODES[[0, 0, 1, 0]], COUNTS[:2])
    assert len(calls) == 4


def test_failing_function_is_named():
    def broken(y, prediction):
        raise KeyError("age")

    with pytest.raises(InputError, match="metric 'broken' failed: KeyError: 'age'") as caught:
        scores(metrics.get(broken), YES_NO, CODES)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("value", [None, "high", np.ones(2)])
def test_function_must_return_a_number(value):
    metric = metrics.make(lambda y, prediction: value, name="odd")
    with pytest.raises(InputError, match="metric 'odd' failed"):
        scores(metric, YES_NO, CODES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("roc_auc",), "must be callable; got 'roc_auc'"), ((len,), "needs must be one of label, score")],
)
def test_make_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        metrics.make(*arguments, needs="margin")


@pytest.mark.parametrize("name", ["positive_likelihood_ratio", "neg_negative_likelihood_ratio"])
def test_likelihood_ratios_of_a_fold_of_one_class_are_undefined(name):
    oof = from_arrays([1, 1, 0, 1, 0, 1], [1, 1, 0, 1, 1, 0], folds=[0, 0, 1, 1, 1, 1], response="label")
    scores = oof.scores(name)[0, 0]
    assert np.isnan(scores[0])
    assert np.isfinite(scores[1])


def test_the_only_metric_of_a_task_is_named_as_such():
    with pytest.raises(InputError, match=r"Use mean\.(?m:$)"):
        metrics.get("accuracy", "pointwise")
