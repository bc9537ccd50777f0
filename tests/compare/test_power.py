"""Power by simulation: right where it is known, monotone, and honest about what it cannot reach."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import outfold as of
from conftest import make_predictions
from outfold import compare
from outfold.exceptions import InputError, NeedError

ONLY_A, ONLY_B, REST = 30, 15, 155


@pytest.fixture(scope="module")
def answers():
    rows = [[1, 0]] * ONLY_A + [[0, 1]] * ONLY_B + [[1, 1]] * REST
    return of.from_arrays(None, np.array(rows, dtype=float), response="pointwise", configs=["a", "b"])


def exact_power(n, discordant, difference, alpha=0.05):
    """Power of the exact McNemar test: the discordant samples are binomial, and so are those for `a` among them."""
    m = np.arange(n + 1)
    share = (1 + difference / discordant) / 2
    out = 0.0
    for k, weight in zip(m, stats.binom.pmf(m, n, discordant), strict=True):
        wins = np.arange(k + 1)
        p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(wins, k - wins), k, 0.5))
        out += weight * stats.binom.pmf(wins, k, share)[p <= alpha].sum()
    return out


@pytest.mark.parametrize("n", [None, 80])
def test_mcnemar_has_its_exact_power(answers, n):
    differences = [0.0, 0.05, 0.1, -0.1]
    found = compare.power(answers, None, "a", "b", differences, test="mcnemar", n=n, n_simulations=2000, method="exact")
    for d, power in zip(differences, found.power, strict=True):
        exact = exact_power(n or 200, (ONLY_A + ONLY_B) / 200, d)
        assert abs(power - exact) < 4 * np.sqrt(exact * (1 - exact) / 2000), d
    assert found.reach == pytest.approx((ONLY_A + ONLY_B) / 200)


@pytest.mark.parametrize("test", ["delong", "permutation", "bootstrap", "t_corrected"])
def test_the_scale_of_scores_does_not_matter_where_only_their_order_counts(test):
    rng, n = np.random.default_rng(0), 60
    y = np.arange(n) % 2
    a, b = 1.5 * y + rng.normal(size=n), 0.8 * y + rng.normal(size=n)
    options = {"n_simulations": 20, "test": test} | (
        {"n_resamples": 100} if test in ("permutation", "bootstrap") else {}
    )
    found = []
    for other in (b, b + 50, np.exp(b / 100)):
        oof = of.from_arrays(y, np.stack([a, other], axis=1), folds=np.arange(n) // 12, response="score")
        power = compare.power(oof, "roc_auc", 0, 1, 0.1, **options)
        found.append((power.power, power.reach))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("metric", ["roc_auc_ovo", "average_precision", "concordance", "roc_auc_ovr_weighted"])
def test_power_of_every_metric_of_an_order(metric):
    oof = make_predictions(metric, n=60, c=2)
    found = compare.power(oof, metric, 0, 1, 0.0, test="bootstrap", n_simulations=20, n_resamples=100)
    assert 0 <= found.power < 0.4


def test_power_grows_with_the_difference_and_with_samples(answers):
    curve = compare.power(answers, None, 0, 1, np.linspace(0, 0.2, 6), test="mcnemar", n_simulations=300)
    assert np.all(np.diff(curve.power) >= 0)
    by_n = [
        compare.power(answers, None, 0, 1, 0.08, test="mcnemar", n=n, n_simulations=300).power for n in (50, 200, 800)
    ]
    assert by_n == sorted(by_n)


def test_direction_counts(answers):
    losses = make_predictions("accuracy", n=200, c=2)
    one = of.from_arrays(losses.y, losses.P, response="proba")
    options = {"test": "mcnemar", "n_simulations": 200, "alternative": "better"}
    gain = compare.power(one, "accuracy", 0, 1, 0.1, **options)
    loss = compare.power(one, "error", 0, 1, -0.1, **options)
    assert gain.power == loss.power > 0.3
    assert compare.power(one, "error", 0, 1, 0.1, **options).power < 0.05
    lesser = compare.power(one, "error", 0, 1, -0.1, **{**options, "alternative": "less"})
    assert (lesser.power, lesser.alternative) == (loss.power, "better")


@pytest.mark.parametrize(
    ("test", "metric", "options"),
    [
        ("t_corrected", "accuracy", {}),
        (compare.t_kfold, "roc_auc", {}),
        ("delong", "roc_auc", {}),
        ("permutation", "brier", {"n_resamples": 199}),
    ],
)
def test_no_difference_is_found_about_as_often_as_alpha(test, metric, options):
    oof = make_predictions("roc_auc", n=150, c=2)
    found = compare.power(oof, metric, 0, 1, [0.0, 0.15], test=test, n_simulations=200, **options)
    assert found.power[0] < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 200)
    assert found.power[1] > found.power[0]


def test_groups_are_drawn_and_swapped_whole():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    shared = rng.choice([0.0, 1.0], size=(40, 2))[groups]
    oof = of.from_arrays(None, shared, response="pointwise", groups=groups)
    found = compare.power(oof, None, 0, 1, [0.0, 0.3], test="permutation", n_simulations=100, n_resamples=199)
    assert found.power[0] < 0.15
    assert found.power[1] > found.power[0]


def test_detectable_is_the_difference_with_that_power(answers):
    found = compare.detectable(answers, None, "a", "b", test="mcnemar", power=0.8, n_simulations=400)
    assert found.power >= 0.8
    again = compare.power(answers, None, "a", "b", found.difference, test="mcnemar", n_simulations=400)
    assert again.power == found.power
    below = compare.power(answers, None, "a", "b", 0.9 * found.difference, test="mcnemar", n_simulations=400)
    assert below.power < 0.8


@pytest.mark.parametrize(
    ("metric", "test", "groups"),
    [
        ("accuracy", "t_corrected", None),
        ("roc_auc", "t_kfold", None),
        ("roc_auc", "delong", None),
        ("roc_auc", "delong", 3),
    ],
)
def test_simulations_known_from_a_near_step_are_those_of_a_new_start(metric, test, groups):
    oof = make_predictions("roc_auc", n=90, c=2)
    if groups is not None:
        oof = of.from_arrays(oof.y, oof.data[0].T, folds=oof.folds, response="proba", groups=np.arange(90) // groups)
    options = {"test": test, "n_simulations": 40}
    differences = [0.05, 0.051, 0.08, 0.05, -0.02]
    together = compare.power(oof, metric, 0, 1, differences, **options).power
    assert together.tolist() == [compare.power(oof, metric, 0, 1, d, **options).power for d in differences]


def test_progress_is_shown_as_collect_shows_it(answers, capsys):
    seen = []
    options = {"test": "mcnemar", "n_simulations": 50}
    compare.detectable(answers, None, 0, 1, **options, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (750, 750)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    compare.power(answers, None, 0, 1, [0.0, 0.1], **options)
    assert capsys.readouterr().err == ""  # there is no terminal
    compare.power(answers, None, 0, 1, [0.0, 0.1], **options, progress="always")
    assert "power 100/100 simulations  100%" in capsys.readouterr().err
    compare.power(answers, None, 0, 1, [0.0, 0.1], **options, progress=False)
    assert capsys.readouterr().err == ""


def test_the_seed_decides(answers):
    one, same, other = (
        compare.power(answers, None, 0, 1, 0.07, test="mcnemar", n_simulations=200, rng=rng) for rng in (1, 1, 2)
    )
    assert one.power == same.power != other.power


def test_results_can_be_read(answers):
    one = compare.power(answers, None, 0, 1, 0.1, test="auto", n_simulations=50)
    assert one.test == "mcnemar"
    assert isinstance(one.power, float)
    assert "power of mcnemar at alpha 0.05, 200 samples: a against b" in str(one)
    curve = compare.power(answers, None, 0, 1, [0.0, 0.1], test="mcnemar", n_simulations=50)
    assert json.loads(json.dumps(curve.to_dict()))["power"] == curve.power.tolist()
    pytest.importorskip("pandas", reason="a frame needs pandas")
    assert curve.to_frame("pandas").shape == (2, 3)
    assert "at 2 differences" in repr(curve)
    assert "<table" in curve._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("mcnemar", 0.5), r"differences up to 0\.225 can be simulated"),
        (("t_bayes", 0.1), "t_bayes has none"),
        (("nonsense", 0.1), "test must be 'auto' or a test of a pair; got 'nonsense'"),
        (("mcnemar", np.nan), "difference must be a number"),
        (("t_corrected", 0.1), "needs K-fold cross-validation"),
    ],
)
def test_what_is_refused(answers, arguments, says):
    with pytest.raises(InputError, match=says):
        compare.power(answers, None, 0, 1, arguments[1], test=arguments[0], n_simulations=20)


def test_too_few_samples_for_the_power(answers):
    with pytest.raises(NeedError, match="Ask for more samples"):
        compare.detectable(answers, None, 0, 1, test="mcnemar", power=0.9, n=12, n_simulations=50)
    with pytest.raises(InputError, match="between alpha and 1"):
        compare.detectable(answers, None, 0, 1, test="mcnemar", power=1.5)


def test_a_group_drawn_twice_is_two_groups():
    values = np.repeat([[1.0, 0.0]], 40, axis=0)
    source = of.from_arrays(None, values, response="pointwise", groups=np.repeat(np.arange(8), 5))
    found = compare.power(source, None, 0, 1, 0.95, test="permutation", n_simulations=400).power
    # Of 8 groups all must agree (p = 2/256; with one against them it is 18/256): each does with probability 0.975.
    exact = 0.975**8
    assert abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / 400)


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_draws_without_a_class_count_as_nothing_found(test):
    rng = np.random.default_rng(0)
    y = np.arange(60) < 3
    source = of.from_arrays(y, rng.random((60, 2)) + y[:, None], response="score")
    found = compare.power(source, "roc_auc", 0, 1, 0.0, test=test, n_simulations=60, n_resamples=300)
    assert 0 <= found.power <= 0.2
    assert [n.code for n in found.notes] == ["OF316"]
    assert "of 60 simulations" in found.notes[0].text


def test_what_power_cannot_simulate_is_said(answers):
    with pytest.raises(InputError, match="difference must be a number, or several in a row; got 'x'"):
        compare.power(answers, None, 0, 1, "x", test="mcnemar")
    scores = of.from_scores({"a": [0.8, 0.7, 0.9], "b": [0.7, 0.6, 0.9]}, n_train=60, n_test=30)
    with pytest.raises(NeedError, match="power simulates from predictions; from_scores has none"):
        compare.power(scores, None, "a", "b", 0.1, test="t_corrected")
