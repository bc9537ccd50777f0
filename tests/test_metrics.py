"""Metrics by name, function and scorer: what is found, what it computes, what errors say."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics as skm
from sklearn.base import BaseEstimator

from outfold import metrics
from outfold._target import Target
from outfold.exceptions import InputError

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


# ------------------------------------------------------------------------------- reference paths

DIRECT = [
    ("accuracy", YES_NO, CODES[0], skm.accuracy_score(YES_NO.y, CODES[0])),
    ("balanced_accuracy", THREE, CODES3[0], skm.balanced_accuracy_score(THREE.y, CODES3[0])),
    ("error", THREE, CODES3[0], 1 - skm.accuracy_score(THREE.y, CODES3[0])),
    ("f1", YES_NO, CODES[0], skm.f1_score(YES_NO.labels, YES_NO.classes[CODES[0]], pos_label="yes")),
    ("f1_macro", THREE, CODES3[0], skm.f1_score(THREE.y, CODES3[0], average="macro")),
    ("mcc", THREE, CODES3[0], skm.matthews_corrcoef(THREE.y, CODES3[0])),
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
    target, predictions = {
        "label": (YES_NO, CODES),
        "score": (YES_NO, PROBA),
        "proba": (YES_NO, PROBA),
        "value": (VALUES, REAL),
        "risk": (TIMES, REAL),
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
        "accuracy", "balanced_accuracy", "error", "f1", "f1_macro", "mcc", "roc_auc", "roc_auc_ovr", "roc_auc_ovo",
        "average_precision", "log_loss", "brier", "mse", "rmse", "mae", "r2", "concordance", "mean",
    ]  # fmt: skip
    for name in metrics.names():
        metric = metrics.get(name)
        assert metric.name == name
        assert metric.description
        assert metric.sign == (1 if metric.greater_is_better else -1)
        assert metrics.get(metric) is metric


def test_lower_is_better_for_losses():
    losses = [name for name in metrics.names() if not metrics.get(name).greater_is_better]
    assert losses == ["error", "log_loss", "brier", "mse", "rmse", "mae"]


def test_roc_auc_follows_the_task():
    assert metrics.get("roc_auc", "multiclass").name == "roc_auc_ovr"
    assert metrics.get("roc_auc", "binary").name == "roc_auc"
    assert metrics.get("roc_auc_ovo", "binary").name == "roc_auc"


def test_unknown_name():
    with pytest.raises(InputError, match=r"unknown metric 'rocauc'; did you mean 'roc_auc'\? Known: accuracy, .*mean"):
        metrics.get("rocauc")
    with pytest.raises(InputError, match="unknown metric 'xyzzy'; Known: accuracy"):
        metrics.get("xyzzy")


def test_wrong_task():
    with pytest.raises(InputError, match=r"f1 is of one positive class; this task is multiclass. Use f1_macro"):
        metrics.get("f1", "multiclass")
    with pytest.raises(
        InputError, match=r"accuracy is for binary or multiclass; this task is regression. Use one of: mse"
    ):
        metrics.get("accuracy", "regression")
    with pytest.raises(InputError, match="is for regression"):
        metrics.get("neg_max_error", "binary")


@pytest.mark.parametrize("metric", [3, None])
def test_not_a_metric(metric):
    with pytest.raises(InputError, match="a metric is a name, a function"):
        metrics.get(metric)


# ------------------------------------------------------------------------------- scikit-learn scorers

SCORED = [
    (Target("binary", YES_NO.y, np.array([0, 1])), CODES, PROBA),
    (THREE, CODES3, PROBA3),
    (VALUES, REAL, None),
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
    return skm.get_scorer(name)(model, np.zeros((len(rows), 1)), target.labels[rows])


SCORERS = [
    ("neg_log_loss", 0), ("neg_log_loss", 1), ("neg_brier_score", 0), ("neg_brier_score", 1), ("matthews_corrcoef", 1),
    ("neg_mean_squared_error", 2), ("neg_root_mean_squared_error", 2), ("neg_mean_absolute_error", 2), ("r2", 2),
    ("roc_auc", 0), ("roc_auc_ovr", 1), ("roc_auc_ovo", 1), ("average_precision", 0), ("f1_macro", 1),
    ("f1_weighted", 1), ("precision_macro", 1), ("top_k_accuracy", 1), ("d2_log_loss_score", 1),
    ("roc_auc_ovr_weighted", 1), ("adjusted_rand_score", 1), ("neg_max_error", 2), ("neg_median_absolute_error", 2),
    ("explained_variance", 2), ("d2_absolute_error_score", 2),
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
    assert (metric.name, metric.needs, metric.greater_is_better) == ("fbeta_score", "label", True)
    expected = skm.fbeta_score(YES_NO.y, CODES[1], beta=2, sample_weight=COUNTS[3])
    assert scores(metric, YES_NO, CODES)[3, 1] == pytest.approx(expected, rel=1e-12)


def test_scorer_object_keeps_its_sign_and_response():
    metric = metrics.get(skm.make_scorer(skm.log_loss, greater_is_better=False, response_method="predict_proba"))
    assert (metric.needs, metric.greater_is_better) == ("proba", True)
    np.testing.assert_allclose(scores(metric, YES_NO, PROBA), -scores(metrics.get("log_loss"), YES_NO, PROBA))
    margin = skm.make_scorer(skm.roc_auc_score, response_method=("decision_function", "predict_proba"))
    assert metrics.get(margin).needs == "score"


def test_scorer_response_follows_the_task():
    scorer = skm.make_scorer(lambda y, prediction: 0.0)
    assert metrics.get(scorer).needs == "any"
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
    assert (metric.name, metric.needs, metric.greater_is_better) == ("share_yes", "any", True)
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
    [(("roc_auc",), "must be callable; got str"), ((len,), "needs must be one of label, score")],
)
def test_make_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        metrics.make(*arguments, needs="margin")
