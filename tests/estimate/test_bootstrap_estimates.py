"""Estimates by bootstrap rounds and single splits, against the plain way of computing them."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import outfold as of
from internals import NOT_HELD_OUT, Scoring, State, drawn_by, encode, main, no_information, point632plus
from outfold import estimate, metrics, select
from outfold.exceptions import InputError, NeedError

ROUNDS = 30


@pytest.fixture(scope="module")
def classes():
    X, y = make_classification(70, 6, n_informative=3, flip_y=0.2, random_state=2)
    configs = {
        "logit": LogisticRegression(),
        "1-nn": KNeighborsClassifier(1),
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    }
    return of.collect(configs, X, y, of.Plan.bootstrap(ROUNDS), rng=5)


@pytest.fixture(scope="module")
def values():
    X, y = make_regression(60, 4, noise=30.0, random_state=3)
    configs = {"ridge": Ridge(), "tree": DecisionTreeRegressor(random_state=0)}
    return of.collect(configs, X, y, of.Plan.bootstrap(ROUNDS), rng=5)


def on_all(oof, config):
    """(rounds, N) what every round's model predicts for all samples."""
    return np.where(oof.folds.T >= 0, oof.data[:, config], oof.blocks["inbag"].data[:, config])


# -- no information ---------------------------------------------------------------------------------------


def brute(metric, target, predictions):
    """The metric over all N x N pairs of a label and a prediction, one after the other."""
    total = np.zeros(len(predictions))
    n = len(target)
    for i in range(n):
        shifted = np.roll(predictions, i, axis=1)
        total += metric.values(target, shifted).mean(axis=1)
    return total / n


POINTWISE = (
    "accuracy",
    "error",
    "log_loss",
    "brier",
    "neg_brier_score",
    "mse",
    "mae",
    "neg_mean_absolute_error",
    "mape",
)


@pytest.mark.parametrize("name", POINTWISE)
@given(n=st.integers(2, 40), c=st.integers(1, 3), seed=st.integers(0, 10**6))
def test_no_information_is_the_mean_over_all_pairs(name, n, c, seed):
    metric, rng = metrics.get(name), np.random.default_rng(seed)
    if "regression" in metric.tasks:
        y = np.round(rng.normal(1e3, 2, n), rng.integers(0, 3))
        predictions = np.round(rng.normal(1e3, 3, (c, n)), rng.integers(0, 3))
    else:
        y = np.arange(n) % 2
        predictions = rng.integers(0, 2, (c, n)) if metric.needs == "label" else rng.random((c, n))
    target = encode(y, task="regression" if "regression" in metric.tasks else "classification")
    want = brute(metric, target, predictions)
    assert no_information(metric, target, predictions) == pytest.approx(want, rel=1e-10, abs=1e-10)


def test_no_information_of_several_classes():
    rng = np.random.default_rng(0)
    target = encode(rng.integers(0, 4, 60))
    proba = rng.dirichlet(np.ones(4), (2, 60))
    for name in ("log_loss", "brier", "top_k_accuracy"):
        metric = metrics.get(name, "multiclass")
        assert no_information(metric, target, proba) == pytest.approx(brute(metric, target, proba), rel=1e-12)
    labels = rng.integers(0, 4, (2, 60))
    p = np.bincount(target.y, minlength=4) / 60
    want = [sum(p[k] * (1 - np.mean(row == k)) for k in range(4)) for row in labels]
    assert no_information(metrics.get("error"), target, labels) == pytest.approx(want, rel=1e-12)


# -- .632 and .632+ -----------------------------------------------------------------------------------------


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_632plus_lies_where_it_should(err0, err1, gamma):
    loss, rate = point632plus(np.array(err0), np.array(err1), np.array(gamma))
    assert 0 <= rate <= 1
    assert min(err0, err1) - 1e-12 <= loss <= max(err0, err1) + 1e-12
    weight = 0.632 / (1 - 0.368 * rate)
    if err1 <= gamma:
        assert (1 - weight) * err0 + weight * err1 == pytest.approx(float(loss), abs=1e-12)
    if err1 <= err0:
        assert loss == pytest.approx(0.368 * err0 + 0.632 * err1, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "losses"),
    [
        ("brier", lambda y, p: (p - y) ** 2),
        ("log_loss", lambda y, p: -np.log(np.clip(np.where(y == 1, p, 1 - p), 2.220446049250313e-16, 1))),
        ("error", lambda y, p: (p > 0.5) != y),
    ],
)
@pytest.mark.parametrize("config", [0, 1])
def test_632_of_classes_the_plain_way(classes, name, losses, config):
    y, rounds = classes.target.y, on_all(classes, config)
    held = classes.folds.T >= 0
    per_round = losses(y, rounds)
    by_sample = np.array([per_round[held[:, i], i].mean() for i in range(len(y)) if held[:, i].any()])
    full = classes.blocks["resub"].data[0, config]
    err0, err1 = losses(y, full).mean(), by_sample.mean()
    gamma = np.mean([losses(y, np.full(len(y), p)) for p in full])
    assert estimate.point632(classes, name, config).value == pytest.approx(0.368 * err0 + 0.632 * err1, rel=1e-12)
    want = float(point632plus(np.array(err0), np.array(err1), np.array(gamma)).loss)
    assert estimate.point632plus(classes, name, config).value == pytest.approx(want, rel=1e-10)


def test_632_of_values_and_of_both_signs(values):
    for config in (0, 1):
        mse = estimate.point632plus(values, "mse", config)
        minus = estimate.point632plus(values, "neg_mean_squared_error", config)
        assert minus.value == pytest.approx(-mse.value, rel=1e-12)
        y, full = values.target.y, values.blocks["resub"].data[0, config]
        gamma = np.mean((y[:, None] - full[None]) ** 2)
        assert mse.details["no_information"] == pytest.approx(gamma, rel=1e-12)
    assert estimate.point632plus(values, "mae", "tree").details["resubstitution"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("config", [0, 2])
def test_632_of_areas_is_made_of_the_mean_over_rounds(classes, config):
    y, rounds, held = classes.target.y, on_all(classes, config), classes.folds.T >= 0
    areas = [roc_auc_score(y[h], p[h]) for p, h in zip(rounds, held, strict=True)]
    full = roc_auc_score(y, classes.blocks["resub"].data[0, config])
    result = estimate.point632(classes, "roc_auc", config)
    assert result.value == pytest.approx(0.368 * full + 0.632 * np.mean(areas), abs=1e-12)
    plus = estimate.point632plus(classes, "roc_auc", config)
    want = point632plus(np.array(-full), np.array(-np.mean(areas)), np.array(-0.5)).loss
    assert plus.value == pytest.approx(-float(want), abs=1e-12)
    assert plus.details["no_information"] == 0.5
    by_round = [0.368 * roc_auc_score(y, p) + 0.632 * a for p, a in zip(rounds, areas, strict=True)]
    assert estimate.point632(classes, "roc_auc", config, per_round=True).value == pytest.approx(np.mean(by_round))


def test_a_metric_without_a_known_chance_level_is_refused(classes, values):
    for oof, name in ((classes, "f1"), (values, "r2")):
        with pytest.raises(NeedError, match=f"point632plus needs .* without information is known.*; got {name}"):
            estimate.point632plus(oof, name)
        assert np.isfinite(estimate.point632(oof, name, config=0).value)
        assert np.isfinite(estimate.optimism(oof, name, config=0).value)


# -- out of the bag, and optimism -----------------------------------------------------------------------------


def test_oob_intervals(classes):
    from scipy.stats import t

    rounds = classes.scores("accuracy")[0, :, 0]
    result = estimate.oob(classes, "accuracy", "logit")
    reach = t.ppf(0.975, ROUNDS - 1) * rounds.std(ddof=1)
    assert result.interval == pytest.approx((rounds.mean() - reach, rounds.mean() + reach), abs=1e-12)
    percentile = estimate.oob(classes, "accuracy", "logit", interval="percentile", confidence_level=0.9)
    assert percentile.interval == pytest.approx(np.quantile(rounds, [0.05, 0.95]), abs=1e-12)
    assert result.named
    assert "accuracy of logit" in str(result)
    with pytest.raises(InputError, match="interval must be 't' or 'percentile'"):
        estimate.oob(classes, "accuracy", interval="normal")


@pytest.mark.parametrize("config", [0, 1])
def test_optimism_the_plain_way(classes, config):
    y, rounds = classes.target.y, on_all(classes, config)
    flattery = []
    for r, p in enumerate(rounds):
        drawn = classes.splits.train_rows(r, 0)
        flattery.append(roc_auc_score(y[drawn], p[drawn]) - roc_auc_score(y, p))
    apparent = roc_auc_score(y, classes.blocks["resub"].data[0, config])
    result = estimate.optimism(classes, "roc_auc", config)
    assert result.value == pytest.approx(apparent - np.mean(flattery), abs=1e-12)
    assert np.mean(flattery) > 0


@pytest.mark.parametrize("config", [0, 1])
def test_the_in_bag_score_the_plain_way(classes, config):
    y, rounds = classes.target.y, on_all(classes, config)
    drawn = [classes.splits.train_rows(r, 0) for r in range(len(rounds))]
    scores = [np.mean((p[rows] > 0.5) == y[rows]) for p, rows in zip(rounds, drawn, strict=True)]  # eq. 23
    found = estimate.inbag(classes, "accuracy", config)
    assert found.value == pytest.approx(np.mean(scores), abs=1e-12)
    assert found.value > estimate.oob(classes, "accuracy", config).value
    assert (found.interval, [note.code for note in found.notes][-1]) == (None, "OF214")
    areas = [roc_auc_score(y[rows], p[rows]) for p, rows in zip(rounds, drawn, strict=True)]
    assert estimate.inbag(classes, "roc_auc", config).value == pytest.approx(np.mean(areas), abs=1e-12)
    assert estimate.inbag(classes, "accuracy").selected == estimate.oob(classes, "accuracy").selected


def test_a_sample_never_held_out_counts_in_the_resubstitution_only(classes):
    few = classes.sel(repeat=[0, 1])
    never = np.all(few.folds < 0, axis=1)
    assert never.any()
    result = estimate.point632(few, "error", "logit")
    wrong = (few.blocks["resub"].data[0, 0] > 0.5) != few.target.y
    assert result.details["resubstitution"] == pytest.approx(wrong.mean(), abs=1e-12)
    assert np.isfinite(estimate.point632(few, "error", n_resamples=50).value)
    assert np.isfinite(estimate.optimism(few, "error", n_resamples=50).value)


# -- the selected one of many -----------------------------------------------------------------------------


def drawn_counts(n, b=64, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(b)])


@pytest.mark.parametrize("name", ["accuracy", "roc_auc"])
def test_bbc_on_rounds_the_plain_way(classes, name):
    y = classes.target.y

    def score(config, weights):
        """Mean over rounds of the score of the samples that the round held out, as often as they weigh."""
        out = []
        for r in range(ROUNDS):
            rows = np.flatnonzero((classes.folds[:, r] >= 0) & (weights > 0))
            rows = np.repeat(rows, weights[rows])
            p = classes.data[r, config, rows]
            if name == "accuracy" and len(rows):
                out.append(np.mean((p > 0.5) == y[rows]))
            elif name == "roc_auc" and len(set(y[rows])) == 2:
                out.append(roc_auc_score(y[rows], p))
        return np.mean(out)

    counts = drawn_counts(len(y), 8)
    want = []
    for weights in counts:
        scores = [score(j, weights) for j in range(classes.n_configs)]
        want.append(score(int(np.argmax(scores)), (weights == 0).astype(int)))
    result = estimate.bbc(classes, name, draws=counts, draws_are="counts")
    assert "winner's out-of-bag score" in str(result)
    assert result.draws == pytest.approx(want, abs=1e-12)


def noise_rounds(n=40, c=60, rounds=40, seed=0):
    """Rounds of configurations that know nothing: every prediction is a coin toss, better on what was trained on."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    splits = of.Plan.bootstrap(rounds).split(y, rng=seed)
    target = encode(y)
    luck = rng.random((1, c, n)) < 0.5  # a sample that is hard for a configuration is so in every round
    labels = np.where(luck, y, 1 - y).astype(np.intp)
    memory = np.where(rng.random((1, c, n)) < 0.8, y, 1 - y).astype(np.intp)
    names = tuple(f"c{j}" for j in range(c))

    def block(data, folds, train):
        state = np.full((c, folds.shape[1], 1), State.DONE, dtype=np.uint8)
        shown = np.where(folds.T[:, None] == 0, data, -1).astype(np.intp)
        return of.Predictions(target, shown, folds, state, names, "label", splits.plan, train=train)

    drawn = np.where(splits.folds == NOT_HELD_OUT, 0, NOT_HELD_OUT).astype(np.int32)
    whole = np.zeros((n, 1), dtype=np.int32)
    blocks = {"inbag": block(memory, drawn, splits.train), "resub": block(memory, whole, {(0, 0): np.arange(n)})}
    return replace(block(labels, splits.folds, splits.train), blocks=blocks)


def test_selection_is_corrected_on_noise():
    """The best of 60 coin tosses is not better than a coin; its own score says so only after the correction."""
    for seed in range(3):
        oof = noise_rounds(seed=seed)
        own = estimate.oob(oof, "accuracy")
        assert own.naive > 0.62
        assert own.value == pytest.approx(0.5, abs=0.06)
        assert own.value == pytest.approx(estimate.bbc(oof, "accuracy").value, abs=1e-12)
        for method in (estimate.point632, estimate.point632plus, estimate.optimism):
            result = method(oof, "accuracy", n_resamples=200)
            named = method(oof, "accuracy", result.selected)
            assert result.naive == pytest.approx(named.value, abs=1e-12)
            assert result.value < result.naive - 0.02
            assert result.optimism > 0
            assert result.interval is None


def test_632plus_of_a_selection_the_plain_way(classes):
    """Every draw selects by the .632+ of the drawn samples and takes that of the others."""
    scoring = estimate._bootstrap.Point632Plus(classes, "error")
    y, n = classes.target.y, classes.n_samples
    held = classes.folds.T >= 0
    assert held.any(axis=0).all()
    wrong = np.stack([(on_all(classes, j) > 0.5) != y for j in range(classes.n_configs)])
    err1 = np.array([[w[held[:, i], i].mean() for i in range(n)] for w in wrong])
    err0 = (classes.blocks["resub"].data[0] > 0.5) != y
    counts = drawn_counts(n, 20)
    for weights in (counts, (counts == 0).astype(np.uint8)):
        size = weights.sum(axis=1, keepdims=True)
        want = point632plus(weights @ err0.T / size, weights @ err1.T / size, scoring.gamma).loss
        assert scoring.scores(weights) == pytest.approx(want, abs=1e-12)
        chosen = np.arange(20) % classes.n_configs
        assert scoring.paired(weights, chosen) == pytest.approx(want[np.arange(20), chosen], abs=1e-12)


def test_who_is_selected_is_the_best_by_the_estimate_itself(classes):
    for method in (estimate.oob, estimate.point632, estimate.point632plus, estimate.optimism):
        each = [method(classes, "log_loss", config=j).value for j in range(3)]
        result = method(classes, "log_loss", n_resamples=50)
        assert result.selected == classes.configs[int(np.argmin(each))]
        assert result.naive == pytest.approx(min(each), abs=1e-12)
        assert len(result.chosen) == 50
    rule = select.within(50, complexity={"logit": 2, "1-nn": 3, "tree": 1})
    assert estimate.oob(classes, "accuracy", rule=rule, n_resamples=20).selected == "tree"
    with pytest.raises(InputError, match="config= for a configuration named beforehand, or rule="):
        estimate.oob(classes, "accuracy", "logit", rule=rule)


def test_rounds_and_results_are_deterministic(classes):
    one, two = (estimate.point632plus(classes, "accuracy", rng=3) for _ in range(2))
    assert one.value == two.value
    assert one.value != estimate.point632plus(classes, "accuracy", rng=4).value


# -- other designs ------------------------------------------------------------------------------------------


def test_each_design_has_its_estimate():
    X, y = make_classification(60, 5, flip_y=0.2, random_state=4)
    configs = {"logit": LogisticRegression(), "1-nn": KNeighborsClassifier(1)}
    plans = {
        "holdout": of.Plan.holdout(0.4),
        "repeated_holdout": of.Plan.repeated_holdout(8, 0.4),
        "loo": of.Plan.leave_one_out(),
        "oob": of.Plan.bootstrap(8),
    }
    made = {name: of.collect(configs, X, y, plan) for name, plan in plans.items()}
    for name, oof in made.items():
        method = getattr(estimate, name)
        one = method(oof, "accuracy", config="logit")
        assert one.value == pytest.approx(oof.scores("accuracy")[0].mean(), abs=1e-12)
        many = method(oof, "accuracy")
        assert many.value == estimate.bbc(oof, "accuracy").value
        assert many.naive == pytest.approx(np.nanmax(oof.scores("accuracy").mean(axis=(1, 2))), abs=1e-12)
        for other, wrong in made.items():
            if other != name:
                with pytest.raises(NeedError, match=rf"^{name} needs .*; these predictions are .*Plan\.\w+\("):
                    method(wrong, "accuracy")
    elsewhere = of.from_arrays(
        y[:30], (y[:30, None] ^ (np.arange(30)[:, None] % 4 == 0)).astype(float), response="proba"
    )
    assert estimate.holdout(elsewhere, "accuracy").value == pytest.approx(22 / 30)
    # The splits count, not the name of what made them.
    for name, splitter in (("repeated_holdout", ShuffleSplit(5, random_state=0)), ("loo", LeaveOneOut())):
        oof = of.collect(configs, X, y, splitter)
        value = getattr(estimate, name)(oof, "accuracy", config="1-nn").value
        assert value == pytest.approx(np.nanmean(oof.scores("accuracy")[1]), abs=1e-12)


@pytest.mark.parametrize("name", ["point632", "point632plus", "optimism"])
def test_what_the_bootstrap_estimates_need(classes, name):
    with pytest.raises(NeedError, match=rf"{name} needs the block resub.*resub=True"):
        getattr(estimate, name)(replace(classes, blocks={"inbag": classes.blocks["inbag"]}), "accuracy")
    with pytest.raises(NeedError, match="resubstitution needs the block resub"):
        estimate.resubstitution(replace(classes, blocks={}), "accuracy")


def test_resubstitution_says_that_it_flatters(classes):
    result = estimate.resubstitution(classes, "accuracy", "1-nn")
    assert result.value == 1.0
    assert [note.code for note in result.notes] == ["OF214"]
    assert "no sample held out" in str(result)
    assert result.fingerprint == classes.fingerprint
    # Samples that were held out select; the perfect memory of 1-nn does not.
    selected = estimate.resubstitution(classes, "accuracy")
    assert selected.selected == classes.selection("accuracy").name != "1-nn"


# -- size ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["error", "log_loss"])
def test_memory_of_632plus(name):
    """20,000 samples would make 400 million pairs; the largest arrays here are those of the predictions."""
    n, rounds, rng = 20_000, 200, np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    splits = of.Plan.bootstrap(rounds).split(y)
    target, p = encode(y), np.clip(y * 0.4 + rng.random(n) * 0.6, 0.01, 0.99)

    def block(folds, train):
        state = np.full((1, folds.shape[1], 1), State.DONE, dtype=np.uint8)
        shown = np.where(folds.T[:, None] == 0, p, np.nan)
        return of.Predictions(target, shown, folds, state, ("a",), "proba", splits.plan, train=train)

    drawn = np.where(splits.folds == NOT_HELD_OUT, 0, NOT_HELD_OUT).astype(np.int32)
    resub = block(np.zeros((n, 1), dtype=np.int32), {(0, 0): np.arange(n)})
    oof = replace(block(splits.folds, splits.train), blocks={"inbag": block(drawn, splits.train), "resub": resub})
    for per_round in (False, True):
        tracemalloc.start()
        estimate.point632plus(oof, name, per_round=per_round)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 200e6


# -- command line -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["oob", "point632", "point632plus", "optimism", "resubstitution"])
def test_command_line(classes, tmp_path, capsys, method):
    path = str(classes.save(tmp_path / "run.oof"))
    main(["estimate", path, "--metric", "accuracy", "--method", method, "--config", "logit"])
    printed = capsys.readouterr().out
    assert "accuracy of logit" in printed
    main(["estimate", path, "--metric", "accuracy", "--method", method])
    assert "the selected configuration" in capsys.readouterr().out


# -- intervals of the estimates that hold out --------------------------------------------------------------


@pytest.fixture(scope="module")
def held_out():
    X, y = make_classification(120, 6, n_informative=3, flip_y=0.2, random_state=2)
    configs = {"logit": LogisticRegression(), "1-nn": KNeighborsClassifier(1)}
    plans = {
        "holdout": of.Plan.holdout(0.4),
        "repeated_holdout": of.Plan.repeated_holdout(6, 0.4),
        "loo": of.Plan.leave_one_out(),
        "three_way": of.Plan.three_way(0.3, 0.3),
    }
    more = {"three_way": {"fresh": "accuracy"}}
    return {name: of.collect(configs, X, y, plan, rng=1, **more.get(name, {})) for name, plan in plans.items()}


@pytest.mark.parametrize(
    ("name", "aggregate", "way"),
    [("holdout", "pooled", "wilson"), ("repeated_holdout", "fold", "training"), ("loo", "fold", "wilson")],
)
@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_a_named_configuration_has_the_interval_of_its_plan(held_out, name, aggregate, way, metric):
    oof, method = held_out[name], getattr(estimate, name)
    result = method(oof, metric, "logit", confidence_level=0.9)
    other = estimate.cv(oof, metric, "logit", aggregate=aggregate, confidence_level=0.9)
    assert result.value == pytest.approx(other.value, abs=1e-12)
    assert result.interval == pytest.approx(other.interval, abs=1e-12)
    assert result.interval_method == ("samples" if metric == "log_loss" and way == "wilson" else way)
    assert result.confidence_level == 0.9
    assert result.confidence_interval(0.5) == pytest.approx(other.confidence_interval(0.5), abs=1e-12)
    assert result.named
    assert "Raschka 2018" in str(result)


@pytest.mark.parametrize("name", ["holdout", "repeated_holdout", "loo"])
def test_the_selected_of_a_holdout_has_the_interval_of_bbc(held_out, name):
    result = getattr(estimate, name)(held_out[name], "accuracy", n_resamples=200, confidence_level=0.8)
    other = estimate.bbc(held_out[name], "accuracy", n_resamples=200, confidence_level=0.8)
    assert (result.value, result.interval) == (other.value, other.interval)
    assert result.confidence_interval(0.9) == other.confidence_interval(0.9)
    with pytest.raises(InputError, match="confidence_level must lie between 0 and 1"):
        getattr(estimate, name)(held_out[name], "accuracy", confidence_level=95)


def test_the_test_part_of_three_gives_the_interval_of_one_test_set(held_out):
    oof = held_out["three_way"]
    result = estimate.three_way(oof, "accuracy", confidence_level=0.9)
    test = oof.blocks["fresh"]
    rows = np.flatnonzero(test.folds[:, 0] == 0)
    right = test.respond("label")[0, test.config_index(result.selected), rows] == oof.target.y[rows]
    assert result.interval == of.intervals.wilson(int(right.sum()), len(rows), confidence_level=0.9)
    assert result.interval_method == "wilson"
    assert not result.named  # the validation part selected it, and its score there stands beside
    assert "winner's score on the validation part" in str(result)
    area = estimate.three_way(oof.sel(config=result.selected), "roc_auc")
    assert area.interval_method == "samples"
    assert area.confidence_interval(0.5).low > area.interval.low


def test_one_round_has_no_interval(classes):
    result = estimate.oob(classes.sel(repeat=0), "accuracy", "tree")
    assert result.interval is None
    assert "OF218" in [n.code for n in result.notes]
    with pytest.raises(NeedError, match="oob gives no interval"):
        result.confidence_interval()


def test_rounds_that_do_not_vary_have_no_interval():
    y = np.arange(40) % 2
    perfect = of.collect(DecisionTreeClassifier(), y[:, None], y, of.Plan.bootstrap(5))
    for interval in ("t", "percentile"):
        result = estimate.oob(perfect, "accuracy", interval=interval)
        assert (result.value, result.interval, result.draws) == (1.0, None, None)
        assert "OF218" in [n.code for n in result.notes]


def test_t_is_for_rounds_of_a_named_configuration_only(classes):
    named, chosen = estimate.oob(classes, "accuracy", "tree"), estimate.oob(classes, "accuracy", n_resamples=100)
    assert named.confidence_interval(method="t") == named.interval
    assert "rounds, t interval of the rounds [" in str(named)
    with pytest.raises(InputError, match="the interval of oob is by 't', 'percentile' or 'order'; got 'bca'"):
        named.confidence_interval(method="bca")
    with pytest.raises(NeedError, match="t is for a configuration named beforehand"):
        chosen.confidence_interval(method="t")


# -- what cannot be done ------------------------------------------------------------------------------------


class OnlyDuplicates(KNeighborsClassifier):
    """Cannot be fitted on samples that all differ, and so not on all samples."""

    def fit(self, X, y):
        if len(np.unique(X, axis=0)) == len(X):
            raise ValueError("no sample twice")
        return super().fit(X, y)


def test_a_configuration_that_fails_on_all_samples_is_counted_among_those_left_out():
    X, y = make_classification(50, 4, random_state=0)
    configs = {"a": KNeighborsClassifier(3), "b": KNeighborsClassifier(5), "c": OnlyDuplicates(1)}
    oof = of.collect(configs, X, y, of.Plan.bootstrap(5))
    for method in (estimate.point632, estimate.point632plus, estimate.optimism):
        result = method(oof, "accuracy", n_resamples=20)
        assert result.n_configs == 2
        assert next(n.text for n in result.notes if n.code == "OF205").startswith("1 more of 3 configurations have no")
    assert estimate.oob(oof, "accuracy", n_resamples=20).n_configs == 3


def test_too_few_samples_say_what_to_do():
    y, X = np.arange(3) % 2, np.arange(3.0)[:, None]
    pair = {"a": KNeighborsClassifier(1), "b": DecisionTreeClassifier(max_depth=1)}
    one_held_out = of.collect(pair, X, y, of.Plan.holdout(0.3))
    with pytest.raises(InputError, match=r"leave none of 1 samples out\. Hold out more samples, or name the conf"):
        estimate.holdout(one_held_out, "accuracy")
    with pytest.raises(InputError, match=r"left no sample out .* there are 2 samples\. Use more samples, or Plan"):
        of.Plan.bootstrap(5).split(y[:2])
    with pytest.raises(InputError, match=r"drew one class only .* Use more samples, stratify=True, or Plan"):
        of.Plan.bootstrap(5, stratify=False).split(y[:2])
    with pytest.raises(InputError, match=r"there is 1 group\. Use more groups, or Plan"):
        of.Plan.bootstrap(5).split(y, groups=np.zeros(3))
    with pytest.raises(InputError, match="resub must be True, False or None"):
        of.collect(pair, X, y, of.Plan.holdout(0.3), resub="yes")
    with pytest.raises(InputError, match=r"rng must be None, a whole number from 0, .* got 'x'"):
        estimate.holdout(one_held_out, "accuracy", "a", rng="x")


def test_rounds_left_out_and_ends_out_of_range_are_said():
    """Of three positives some rounds leave none out; t goes beyond an area of 1."""
    X, y = make_classification(43, 4, weights=[0.93], flip_y=0, random_state=1)
    configs = {"tree": DecisionTreeClassifier(max_depth=2, random_state=0), "1-nn": KNeighborsClassifier(1)}
    oof = of.collect(configs, X, y, of.Plan.bootstrap(20, stratify=False), rng=0)
    lacking = sum(len(np.unique(y[oof.folds[:, r] == 0])) < 2 for r in range(20))
    assert lacking > 0
    said = f"roc_auc is undefined in {lacking} of 20 rounds, which were left out."
    named = estimate.oob(oof, "roc_auc", "tree")
    assert named.interval.high > 1
    assert {"OF204", "OF219"} <= {n.code for n in named.notes}
    for result in (
        named,
        estimate.oob(oof, "roc_auc", n_resamples=20),
        estimate.bbc(oof, "roc_auc", n_resamples=20),
        estimate.point632(oof, "roc_auc", "tree"),
        estimate.point632plus(oof, "roc_auc", "tree", per_round=True),
    ):
        assert said in [n.text for n in result.notes]
    # What was left out does not enter the optimism, and a mean over samples is defined in every round.
    for result in (estimate.optimism(oof, "roc_auc", "tree"), estimate.oob(oof, "accuracy", "tree")):
        assert "OF204" not in [n.code for n in result.notes]


def test_tests_of_random_splits_refuse_bootstrap_rounds(classes):
    """Rounds train on samples more than once; the correction of Nadeau and Bengio is not made for that."""
    for test in (of.compare.t_corrected, of.compare.t_bayes, of.compare.t_resampled):
        with pytest.raises(
            NeedError, match=f"{test.__name__} needs .*; these predictions are {ROUNDS} bootstrap rounds"
        ):
            test(classes, "accuracy", "logit", "tree")
    with pytest.raises(NeedError, match=r"corrected_t needs .* Valid here: percentile"):
        estimate.cv(classes, "accuracy", "logit").confidence_interval(method="corrected_t")


def test_cv_of_several_would_be_the_score_of_their_winner(classes):
    with pytest.raises(
        InputError, match=r"cv is the score of one configuration; got 2\. Name one of the \d+, or use bbc"
    ):
        estimate.cv(classes, "accuracy", ["logit", "tree"])
    assert estimate.cv(classes, "accuracy", ["tree"]).value == estimate.cv(classes, "accuracy", "tree").value


def test_632plus_by_round_of_pure_noise_is_the_loss_without_information():
    values = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 5)), rng.permutation(np.arange(300) % 2)
        oof = of.collect(KNeighborsClassifier(1), X, y, of.Plan.bootstrap(20), rng=seed)
        values.append(estimate.point632plus(oof, "error", per_round=True).value)
    # The standard error is 0.006. Capped on one side only, as a weighted mean is, it would be 0.46.
    assert np.mean(values) == pytest.approx(0.5, abs=0.02)


# -- metrics of sets on few samples ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def few_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    y = X[:, 0] + X[:, 1] + rng.normal(size=40)
    configs = {"ridge": Ridge(), "more": Ridge(100), "tree": DecisionTreeRegressor(random_state=0)}
    plans = {
        "repeated_holdout": (of.Plan.repeated_holdout(10, 0.2), {}),
        "oob": (of.Plan.bootstrap(20), {"resub": True}),
        "loo": (of.Plan.leave_one_out(), {}),
    }
    return {name: of.collect(configs, X, y, plan, rng=1, **more) for name, (plan, more) in plans.items()}


@pytest.mark.parametrize("name", ["repeated_holdout", "oob"])
def test_draws_of_small_parts_are_scored_at_once(few_values, name):
    oof = few_values[name]
    result = getattr(estimate, name)(oof, "r2", n_resamples=200)
    j = oof.config_index(result.selected)
    held = [(r, rows) for r in range(oof.n_repeats) for rows in [oof.splits.test_rows(r, 0)]]
    y = np.concatenate([oof.target.y[rows] for _, rows in held])
    p = np.concatenate([oof.data[r, j, rows] for r, rows in held])
    assert result.naive == pytest.approx(1 - np.sum((y - p) ** 2) / np.sum((y - y.mean()) ** 2), abs=1e-12)
    assert "all at once" in result.own_name
    assert abs(result.optimism) < 0.5  # the mean over rounds was below -10
    assert result.interval.low < result.value < result.interval.high
    same = estimate.bbc(oof, "r2", n_resamples=200)
    assert (same.value, same.interval) == (result.value, result.interval)
    assert same.naive == pytest.approx(result.naive, rel=1e-12)
    assert "OF221" in [note.code for note in result.notes]
    # That of a configuration named beforehand stays the mean over rounds, as published.
    named = getattr(estimate, name)(oof, "r2", result.selected)
    rounds = [
        1 - np.sum((oof.target.y[i] - oof.data[r, j, i]) ** 2) / np.var(oof.target.y[i]) / len(i) for r, i in held
    ]
    assert named.value == pytest.approx(np.mean(rounds), abs=1e-12)


def test_632_of_the_selected_by_a_metric_of_sets_is_near_that_of_a_named_one(few_values):
    oof = few_values["oob"]
    result = estimate.point632(oof, "r2", n_resamples=200)
    named = estimate.point632(oof, "r2", result.selected)
    assert abs(result.value - named.value) < 0.3
    for one in (result, named):
        assert one.interval is None
        assert "OF218" in [note.code for note in one.notes]


def test_a_draw_at_once_weighs_the_samples_of_all_repeats(few_values):
    oof = few_values["repeated_holdout"]
    scoring = drawn_by(Scoring(oof, "r2"))
    weights = np.random.default_rng(1).integers(0, 3, (4, len(scoring.rows)))
    position = np.full(oof.n_samples, -1)
    position[scoring.rows] = np.arange(len(scoring.rows))
    for w, scores in zip(weights, scoring.scores(weights), strict=True):
        held = [(r, i) for r in range(oof.n_repeats) for i in oof.splits.test_rows(r, 0) for _ in range(w[position[i]])]
        y = np.array([oof.target.y[i] for _, i in held])
        for j, score in enumerate(scores):
            p = np.array([oof.data[r, j, i] for r, i in held])
            assert score == pytest.approx(1 - np.sum((y - p) ** 2) / np.sum((y - y.mean()) ** 2), abs=1e-10)


def test_means_and_shares_of_pairs_are_means_over_repeats(few_values, classes):
    for oof, metric in ((few_values["oob"], "mse"), (classes, "roc_auc"), (classes, "accuracy")):
        assert type(drawn_by(Scoring(oof, metric))) is Scoring


@pytest.mark.parametrize(
    ("name", "metric", "marked"), [("oob", "mse", True), ("loo", "r2", True), ("repeated_holdout", "mse", False)]
)
def test_approximate_intervals_are_marked(few_values, name, metric, marked):
    result = getattr(estimate, name)(few_values[name], metric, n_resamples=100)
    assert ("OF221" in [note.code for note in result.notes]) == marked
    assert ("approximate" in str(result)) == marked


def test_intervals_of_named_configurations_are_marked_where_they_fall_short(few_values, classes):
    by_fold = estimate.repeated_holdout(few_values["repeated_holdout"], "r2", "ridge")
    assert by_fold.interval_method == "corrected_t"
    assert "OF221" in [note.code for note in by_fold.notes]
    for n, marked in ((49, True), (50, False)):
        y = np.arange(n, dtype=float)
        one = of.from_arrays(y, (y + np.sin(y))[:, None], response="value")
        found = estimate.cv(one, "r2")
        assert found.interval_method == "bca"
        assert ("OF221" in [note.code for note in found.notes]) == marked


@pytest.mark.parametrize(("n_test", "marked"), [(49, True), (50, False)])
@pytest.mark.parametrize("config", [None, "a"])
def test_losses_on_a_small_test_set_are_marked(n_test, marked, config):
    rng = np.random.default_rng(0)
    y = rng.normal(size=n_test)
    values = np.stack([y + rng.normal(size=n_test), y + rng.normal(size=n_test)], axis=1)
    oof = of.from_arrays(y, values, response="value", configs=["a", "b"])
    for metric, by_it in (("mse", marked), ("mae", marked)):
        result = estimate.holdout(oof, metric, **({} if config is None else {"config": config}))
        assert result.interval is not None
        assert ("OF221" in [note.code for note in result.notes]) == by_it
        assert (f"{n_test} test samples are few" in str(result)) == by_it


def test_the_loss_of_a_three_way_split_is_marked():
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = X[:, 0] + np.random.default_rng(1).normal(size=80)
    oof = of.collect({"a": Ridge(1), "b": Ridge(100)}, X, y, of.Plan.three_way(), fresh=True)
    assert "OF221" in [note.code for note in estimate.three_way(oof, "mse").notes]
    assert "OF221" not in [note.code for note in estimate.cv(of.collect({"a": Ridge()}, X, y), "mse").notes]
